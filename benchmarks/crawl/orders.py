"""What skipping loses, in as many orders of one crawl as you have time for: which content, and which pages of it were not fetched.

    python -m benchmarks.crawl.orders [--site guide|releases] [--orders 100] [--first 0] [--jumble N] [--depth] [--root DIRECTORY]

A real crawl is one order, and one crawl in forty that loses a page looks like none. So crawls are simulated on the files of a site:
`fingerprint_page`, `Detector.admit` and `RewriteRules` decide, and a queue takes what has the highest priority, as Scrapy's scheduler does.
A link is asked about when it is found, and once more when it leaves the queue. Left out: requests at the same time.

The links of a page are followed in random order. `--jumble 10`: as they stand on the page, but for ten places, which is nearly what HTTP
makes of it. `--depth`: of equal priority the one found last goes first, as Scrapy does by default. Sites as for `benchmarks.crawl.budget`;
`--root` names one that is built, or is to be built there. Of `releases` four contents are lost in each order: chapters that nobody has
translated, which the labels tell apart by the navigation in them. An order is its number: `--first 17 --orders 1` repeats the eighteenth.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
from itertools import count
from pathlib import Path
from random import Random
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import simcrawl
from benchmarks.contents_lost import ORIGIN, START, links_of
from benchmarks.crawl import releases
from benchmarks.crawl.labels import labelled
from benchmarks.quality.oracle import texts
from tests.sites import installguide

if TYPE_CHECKING:
    from simcrawl.rule import Verdict

_BUILD = {"guide": installguide.build, "releases": releases.build}


class Site(NamedTuple):
    """Pages by their URLs, the links on each, and what content each has."""

    start: str
    pages: dict[str, Any]
    links: dict[str, list[str]]
    contents: dict[str, int | None]

    def reached(self) -> dict[str, None]:
        """Return the URLs that links lead to from the start, the start among them."""
        found, waiting = {self.start: None}, [self.start]
        while waiting:
            new = [target for target in self.links[waiting.pop()] if target not in found]
            found.update(dict.fromkeys(new))
            waiting.extend(new)
        return found


class Pace(NamedTuple):
    """How the links of a page are followed: see above."""

    jumble: int | None
    depth: bool


class Simulated:
    """One crawl of a site."""

    def __init__(self, site: Site, pace: Pace, order: int) -> None:
        self.fetched: dict[str, Verdict | None] = {}
        self.skipped: set[str] = set()
        self._site, self._pace, self._random = site, pace, Random(order)
        self._rules, self._detector = simcrawl.RewriteRules(), simcrawl.Detector(simcrawl.open_store("memory:"))
        self._ages = count()
        self._queue: list[tuple[int, int, str]] = []
        self._lowered: dict[str, int] = {}

    def run(self) -> None:
        """Crawl until nothing waits."""
        self._put(self._site.start, 0)
        while self._queue:
            lowered, _, url = heapq.heappop(self._queue)
            if self._lowered.get(url) != lowered or url in self.fetched:
                continue
            now = -self._rules.priority(url)
            if now > lowered:
                self._put(url, now)
            elif self._rules.skips(url):
                self.skipped.add(url)
            else:
                self._fetch(url)

    def kept(self) -> set[int]:
        """Return the contents of the pages that came out."""
        came_out = (url for url, verdict in self.fetched.items() if not (verdict and verdict.drop_page))
        return {content for url in came_out if (content := self._site.contents.get(url)) is not None}

    def _put(self, url: str, lowered: int) -> None:
        self._lowered[url] = lowered
        age = next(self._ages)
        heapq.heappush(self._queue, (lowered, -age if self._pace.depth else age, url))

    def _fetch(self, url: str) -> None:
        verdict = self._detector.admit(self._site.pages[url]) if url != self._site.start else None
        self.fetched[url] = verdict
        if verdict:
            self._rules.observe(url, verdict)
        for released in set(self._rules.released()) & self.skipped:
            self.skipped.remove(released)
            self._put(released, 0)
        for target in self._in_order(self._site.links[url]):
            lowered = -self._rules.priority(target, found_on=verdict)
            if target not in self.fetched and target not in self.skipped and lowered < self._lowered.get(target, lowered + 1):
                self._put(target, lowered)

    def _in_order(self, links: list[str]) -> list[str]:
        if self._pace.jumble is None:
            return self._random.sample(links, len(links))
        places = {link: place + self._random.uniform(0, self._pace.jumble) for place, link in enumerate(links)}
        return sorted(links, key=places.__getitem__)


def main() -> None:
    """Crawl, print what each order loses, and the sum."""
    options = _options()
    with tempfile.TemporaryDirectory() as work:
        site = _read(options.site, options.root or Path(work, "site"))
    reached = site.reached()
    contents = {content for url in reached if (content := site.contents.get(url)) is not None}
    fetched, lost_by_skipping, lost = [], 0, 0
    for order in range(options.first, options.first + options.orders):
        crawl = Simulated(site, Pace(options.jumble, options.depth), order)
        crawl.run()
        fetched.append(len(crawl.fetched) / len(reached))
        for content in sorted(contents - crawl.kept()):
            pages = [url for url in reached if site.contents.get(url) == content]
            skipped = [url for url in pages if url in crawl.skipped]
            lost, lost_by_skipping = lost + 1, lost_by_skipping + bool(skipped)
            print(f"order {order} lost {', '.join(pages)}; not fetched: {', '.join(skipped) or 'none'}", flush=True)
    print(f"{options.orders} crawls of {len(reached)} pages, {len(contents)} contents: {mean(fetched):.1%} of the pages fetched")
    print(f"{lost} contents lost, {lost_by_skipping} of them with a page that was skipped")


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", choices=sorted(_BUILD), default="guide")
    parser.add_argument("--orders", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jumble", type=int)
    parser.add_argument("--depth", action="store_true")
    parser.add_argument("--root", type=Path)
    return parser.parse_args()


def _read(name: str, root: Path) -> Site:
    if not root.exists():
        _BUILD[name](root)
    files = {"/" + path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.html"))}
    contents = _contents(name, files)
    urls = {path: ORIGIN + quote(path) for path in files}
    return Site(
        urls[START],
        {urls[path]: simcrawl.fingerprint_page(body, url=urls[path]) for path, body in files.items()},
        {urls[path]: [urls[target] for target in links_of(path, body, files)] for path, body in files.items()},
        {urls[path]: content for path, content in contents.items() if path in urls},
    )


def _contents(name: str, files: dict[str, bytes]) -> dict[str, int | None]:
    if name == "guide":
        return dict(installguide.Labels().content)
    pages = {path: body for path, body in files.items() if path != START}
    return dict(zip(pages, labelled([texts(body, releases.CONTAINER).main for body in pages.values()]), strict=True))


if __name__ == "__main__":
    main()
