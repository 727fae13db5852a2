"""What a crawl has found when its budget ends: distinct contents against pages fetched, by Scrapy with and without simcrawl.

    python -m benchmarks.crawl.budget [--sites guide,releases,forum,wiki] [--breadth] [--results FILE] [--figure FILE.svg]
        [--guide DIRECTORY] [--releases DIRECTORY] [--forum DIRECTORY] [--wiki DIRECTORY]

The server is a process of its own on this machine; every crawl is one, with a store of its own. Contestants: Scrapy alone; simcrawl with
the paper's rule, which drops the links of copies and knows no order; simcrawl as it is. Each crawls a site to its end, and then with
CLOSESPIDER_PAGECOUNT at half of the responses that Scrapy alone got. A content is found with the first item of a page that has it, at the
number of responses that the crawl has had then. Ideal: a new content with each page. Links are followed as Scrapy does by default, the last
one found first; `--breadth`: the first one found first, as its documentation says how. Sites:

    guide     the Debian installation guide, with labels of its own: see tests/sites/installguide.py
    releases  see benchmarks/crawl/releases.py: labelled by `benchmarks.crawl.labels`
    forum     see benchmarks/crawl/forum.py
    wiki      see benchmarks/crawl/wiki.py, which needs packages that are installed: labelled likewise, by a crawl of all of it

A directory that does not exist is built there. Prints Markdown. `--results` keeps what was measured as JSON: sites that are in it are not
crawled again. `--figure` needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from scrapy import signals

from benchmarks.crawl import forum, releases, server, wiki
from benchmarks.crawl.labels import labelled
from benchmarks.crawl.runner import SETTINGS, crawl
from benchmarks.figures import pyplot, save
from benchmarks.quality.oracle import texts
from tests.sites import installguide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import TextResponse

    Labels = dict[str, int | None]

SCRAPY, PAPER, SIMCRAWL = "Scrapy alone", "the paper's rule", "simcrawl"
_ADDON = {"ADDONS": {"simcrawl.Addon": 500}}
CONTESTANTS: dict[str, dict[str, Any]] = {
    SCRAPY: {},
    PAPER: _ADDON | {"SIMCRAWL_OUTLINKS": "drop", "SIMCRAWL_ORDER": False},
    SIMCRAWL: _ADDON,
}
_STYLES: dict[str, dict[str, Any]] = {
    SCRAPY: {"color": "0.5"},
    PAPER: {"color": "tab:orange"},
    SIMCRAWL: {"color": "tab:blue", "linewidth": 2},
}
_BREADTH: dict[str, Any] = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
_SITES = ("guide", "releases", "forum", "wiki")


@dataclass
class Run:
    """A crawl: how many responses it had, of which pages items came out, and at which response; what of it simcrawl predicted."""

    fetched: int
    finds: list[tuple[int, str]]
    predicted: dict[str, int] = field(default_factory=dict)

    def curve(self, labels: Labels) -> list[int]:
        """Return how many contents were found after 0, 1, 2 ... responses."""
        counts, seen = [0] * (self.fetched + 1), set()
        for response, url in self.finds:
            content = labels.get(_key(url))
            if content is not None and content not in seen:
                seen.add(content)
                counts[min(response, self.fetched)] += 1
        return list(accumulate(counts))


@dataclass
class Measured:
    """A site: how many contents links lead to, and how many were found after so many responses, to the end and to a half."""

    contents: int = 0
    whole: dict[str, list[int]] = field(default_factory=dict)
    half: dict[str, list[int]] = field(default_factory=dict)
    predicted: dict[str, int] = field(default_factory=dict)


class Finds:
    """An extension that notes the pages of which items come out, and at which response."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self._finds, self._bodies = crawler, list[tuple[int, str]](), dict[str, str]()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Finds:
        finds = cls(crawler)
        crawler.signals.connect(finds.note, signal=signals.item_scraped)
        crawler.signals.connect(finds.write, signal=signals.engine_stopped)
        return finds

    def note(self, item: dict[str, Any], response: TextResponse) -> None:
        stats: Any = self._crawler.stats
        self._finds.append((stats.get_value("response_received_count", 0), item["url"]))
        if self._crawler.settings.getbool("BUDGET_BODIES"):
            self._bodies[item["url"]] = response.text

    def write(self) -> None:
        path = self._crawler.settings["BUDGET_FINDS"]
        Path(path).write_text(json.dumps({"finds": self._finds, "bodies": self._bodies}))


def main() -> None:
    """Measure, print the tables, and draw the figure."""
    options = _options()
    results = _read(options.results)
    with tempfile.TemporaryDirectory() as work:
        for name in options.sites.split(","):
            if name not in results:
                results[name] = _measure(name, getattr(options, name) or Path(work, name), options.breadth)
                if options.results:
                    options.results.write_text(json.dumps({site: asdict(measured) for site, measured in results.items()}))
            _report(name, results[name])
    if options.figure:
        draw({name: results[name] for name in options.sites.split(",")}, options.figure)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", default=",".join(_SITES))
    parser.add_argument("--breadth", action="store_true")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--figure", type=Path)
    for name in _SITES:
        parser.add_argument(f"--{name}", type=Path)
    return parser.parse_args()


def _read(path: Path | None) -> dict[str, Measured]:
    known = json.loads(path.read_text()) if path and path.exists() else {}
    return {name: Measured(**fields) for name, fields in known.items()}


def _measure(name: str, root: Path, breadth: bool) -> Measured:
    pace = _BREADTH if breadth else {}
    with _serving(name, root) as url:
        labels = _labels(name, root, url)
        measured = Measured()
        for contestant, settings in CONTESTANTS.items():
            done = run(url, pace | settings)
            measured.whole[contestant] = done.curve(labels)
            if contestant == SIMCRAWL:
                measured.predicted = done.predicted
        measured.contents = measured.whole[SCRAPY][-1]
        half = (len(measured.whole[SCRAPY]) - 1) // 2
        for contestant, settings in CONTESTANTS.items():
            measured.half[contestant] = run(url, pace | settings | {"CLOSESPIDER_PAGECOUNT": half}).curve(labels)
    return measured


@contextmanager
def _serving(name: str, root: Path) -> Iterator[str]:
    builds = {"guide": installguide.build, "releases": releases.build, "forum": forum.build}
    with ExitStack() as stack:
        if name == "wiki":
            yield stack.enter_context(wiki.serving(root))
        else:
            if not root.exists():
                builds[name](root)
            yield stack.enter_context(server.serving(name, root, forum.THREADS, 0))


def run(url: str, settings: dict[str, Any]) -> Run:
    """Crawl a site, and return what was found and when."""
    with tempfile.TemporaryDirectory() as work:
        store = {"SIMCRAWL_STORE": f"lmdb://{work}/store"} if "ADDONS" in settings else {}
        result = crawl("Everything", url, settings | store | _noting(Path(work, "finds")))
        finds = json.loads(Path(work, "finds").read_text())["finds"]
    predicted = {name.rpartition("/")[2]: value for name, value in result.stats.items() if name.startswith("simcrawl/predicted/")}
    return Run(result.pages, finds, predicted)


def _noting(path: Path) -> dict[str, Any]:
    return {"EXTENSIONS": SETTINGS["EXTENSIONS"] | {"benchmarks.crawl.budget.Finds": 1}, "BUDGET_FINDS": str(path)}


def _labels(name: str, root: Path, url: str) -> Labels:
    """Return the content of each page by its path and query."""
    if name == "guide":
        return dict(installguide.Labels().content)
    if name == "forum":
        return {_key(path): content for path, content in forum.contents(forum.walk(forum.Forum(root, forum.THREADS))).items()}
    if name == "releases":
        start, container = root / "index.html", releases.CONTAINER
        pages = {"/" + file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(root.rglob("*.html")) if file != start}
    else:
        container = wiki.CONTAINER
        pages = {_key(page): body.encode() for page, body in _bodies(url).items()}
    return dict(zip(pages, labelled([texts(body, container).main] for body in pages.values()), strict=True))


def _bodies(url: str) -> dict[str, str]:
    """Return all pages of a site by their URLs."""
    with tempfile.TemporaryDirectory() as work:
        crawl("Everything", url, _noting(Path(work, "finds")) | {"BUDGET_BODIES": True})
        bodies: dict[str, str] = json.loads(Path(work, "finds").read_text())["bodies"]
    return bodies


def _key(url: str) -> str:
    split = urlsplit(url)
    return unquote(split.path) + f"?{split.query}" * bool(split.query)


def _report(name: str, measured: Measured) -> None:
    pages = len(measured.whole[SCRAPY]) - 1
    print(f"\n{name}: {pages} pages, {measured.contents} contents\n")
    _row("", "after a half", "found", "of the contents", "to the end", "found", "lost")
    _row("---", *["---:"] * 6)
    for contestant in CONTESTANTS:
        half, whole = measured.half[contestant], measured.whole[contestant]
        share, lost = half[-1] / measured.contents, 1 - whole[-1] / measured.contents
        _row(contestant, len(half) - 1, half[-1], f"{share:.1%}", len(whole) - 1, whole[-1], f"{lost:.2%}")
    ideal = min(pages // 2, measured.contents)
    _row("ideal", pages // 2, ideal, f"{ideal / measured.contents:.1%}", measured.contents, measured.contents, "0.00%")
    print("\nsimcrawl predicted:", ", ".join(f"{number} {name}" for name, number in sorted(measured.predicted.items())))


def _row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def draw(results: dict[str, Measured], path: Path) -> None:
    """Draw what was found against what was fetched, for each site."""
    figure, grid = pyplot().subplots(2, 2, figsize=(9, 6.6), squeeze=False, sharey=True)
    for axes, (name, measured) in zip(grid.flat, results.items(), strict=False):
        pages = len(measured.whole[SCRAPY]) - 1
        for contestant, style in _STYLES.items():
            curve = measured.whole[contestant]
            points = sorted({*range(0, len(curve), max(1, pages // 200)), len(curve) - 1})
            shares = [100 * curve[point] / measured.contents for point in points]
            axes.plot([100 * point / pages for point in points], shares, label=contestant, **style)
        ideal = 100 * measured.contents / pages
        axes.plot([0, ideal, 100], [0, 100, 100], label="ideal", color="0.5", linestyle=":")
        axes.set(
            title=f"{name}: {pages:,} pages, {measured.contents:,} contents",
            xlabel="fetched, % of the pages",
            ylabel="found, % of the contents",
        )
        axes.grid(alpha=0.3)
    grid[0][0].legend(loc="lower right")
    for axes in list(grid.flat)[len(results) :]:
        axes.remove()
    figure.tight_layout()
    save(figure, path)


if __name__ == "__main__":
    main()
