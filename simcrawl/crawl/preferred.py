"""Pages that wait for the one by which their site wants to be known: SIMCRAWL_PREFER.

Of copies the first that comes is kept. A page that names another as its canonical one, with a request for that under way or in the queue,
waits for it here, as it would wait for an original that is being crawled:

    page ──made──► names another page, which has been asked for and has not come? ── no ──► judged as ever
                     │ yes                                                                     ▲
                     └── waits: until that page is judged, or failed; for some seconds ────────┘

Before they are made, requests wait as well: where pages in `/i386/` have named those of the same name in `/amd64/`, a request for another
page in `/i386/` is put back once, behind the others, if the one in `/amd64/` is in the queue.

Nothing is decided here, and nothing is lost: who has waited is judged as ever, and kept if the other one never came. No page waits for one
that waits, and never do so many wait that nothing could be downloaded.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy import signals as scrapy_signals
from xxhash import xxh3_64_intdigest

from simcrawl.addresses import host_of
from simcrawl.crawl.threads import Wake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from simcrawl.config import Config
    from simcrawl.page.fingerprint import Abstention, PageFingerprint

    Page = PageFingerprint | Abstention

# Seconds that a page waits at most.
_PATIENCE = 5.0
# Requests of which it is remembered that they wait, and hosts of which it is that they have answered.
_MOST_EXPECTED, _MOST_HOSTS = 100_000, 10_000
# So many more waits in vain than others, and no page waits any more: the queue is too long.
_MOST_IN_VAIN = 30
# Ways that are remembered, and how often one was named before it counts.
_MOST_WAYS, _OFTEN = 30, 2
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class _Waiting:
    """A page that waits. `came`: the other one did."""

    wake: Wake
    came: bool = False


class Preferred:
    """Which pages wait, for which others. All of it on the event loop, but for `waits`, which only looks."""

    def __init__(self, crawler: Crawler, config: Config, known_as: Callable[[str], str]) -> None:
        most = crawler.settings.getint("CONCURRENT_REQUESTS") // 2
        # Of pages that are kept whatever they are copies of, none has to be preferred. A page that waits counts as one that is being
        # downloaded: half of them have to stay free.
        drops = config.action in ("drop", "drop-items") and config.copies_kept == 1
        self._most = most if config.prefer and drops else 0
        self._patience = min(_PATIENCE, config.max_page_seconds)
        # How many requests for a page wait in the queue or are under way.
        self._expected: OrderedDict[int, int] = OrderedDict()
        # Hosts that have answered: what a spider may not visit never comes.
        self._hosts: set[str] = set()
        self._waiting: dict[int, list[_Waiting]] = {}
        self._ways = _Ways()
        self._known_as = known_as
        self._number = self._vain = 0
        self.stats: dict[str, float] = {}
        if self._most:
            crawler.signals.connect(self._scheduled, signal=scrapy_signals.request_scheduled)
            crawler.signals.connect(self._dropped, signal=scrapy_signals.request_dropped)

    def _scheduled(self, request: Request) -> None:
        if request.method == "GET":
            key = self._key(request.url)
            self._expected[key] = self._expected.get(key, 0) + 1
            if len(self._expected) > _MOST_EXPECTED:
                self._expected.popitem(last=False)

    def _dropped(self, request: Request) -> None:
        # The signal before was of a request that Scrapy's filter knows.
        key = self._key(request.url)
        left = self._expected.pop(key, 0) - 1
        if left > 0:
            self._expected[key] = left

    def _key(self, url: str) -> int:
        return xxh3_64_intdigest(self._known_as(url).encode("utf-8", "surrogatepass"))

    def note(self, page: Page) -> None:
        """Learn from a page how the URLs of others lead to those of their canonical pages."""
        if self._most and page.hints and page.hints.canonical not in ("", page.url):
            self._ways.note(page.url, page.hints.canonical)

    def comes_first(self, url: str) -> bool:
        """Return whether the page by which this one would better be known is in the queue, or under way."""
        return self._most > 0 and any(self._key(other) in self._expected for other in self._ways.better(url))

    def waits(self, page: Page) -> bool:
        """Return whether a page should wait for another one."""
        return self._most > 0 and self._for_which(page) is not None

    def _for_which(self, page: Page) -> int | None:
        # No page waits for one that waits.
        if self._number >= self._most or self._vain >= _MOST_IN_VAIN or self._key(page.url) in self._waiting:
            return None
        return next((key for url in _better(page) if (key := self._key(url)) in self._expected and host_of(url) in self._hosts), None)

    async def wait(self, page: Page) -> None:
        """Return when the page that this one should wait for was judged, or has failed, or is too late."""
        key = self._for_which(page)
        if key is None:
            return
        waiting = _Waiting(Wake())
        self._waiting.setdefault(key, []).append(waiting)
        self._number += 1
        try:
            await waiting.wake.wait(self._patience)
        finally:
            self._number -= 1
            if not waiting.came:
                self._give_up(waiting)
            self._vain = max(0, self._vain + (-1 if waiting.came else 1))
            name = f"canonical/{'waited' if waiting.came else 'waited_in_vain'}"
            self.stats[name] = self.stats.get(name, 0) + 1

    def _give_up(self, waiting: _Waiting) -> None:
        # A redirect may have put it elsewhere.
        for key, pages in list(self._waiting.items()):
            if waiting in pages:
                pages.remove(waiting)
                if not pages:
                    del self._waiting[key]

    def redirected(self, urls: Iterable[str], url: str) -> None:
        """Let those who wait for one of these URLs wait for the page to which they have led."""
        for key in map(self._key, urls if self._most else ()):
            self._expected.pop(key, None)
            if key != self._key(url) and (pages := self._waiting.pop(key, None)):
                self._waiting.setdefault(self._key(url), []).extend(pages)

    def arrived(self, url: str, *, answered: bool = True) -> None:
        """Let those go on who wait for a page: it was judged, or there is none."""
        if not self._most:
            return
        if answered and len(self._hosts) < _MOST_HOSTS:
            self._hosts.add(host_of(url))
        key = self._key(url)
        self._expected.pop(key, None)
        for waiting in self._waiting.pop(key, ()):
            waiting.came = True
            waiting.wake()


class _Ways:
    """How URLs lead to the canonical ones that their pages name: without the query, or with another directory. The last few of these."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()

    def note(self, url: str, canonical: str) -> None:
        way = ("?", "") if url.partition("?")[0] == canonical else _directories(url, canonical)
        if way:
            self._counts[way] = self._counts.get(way, 0) + 1
            self._counts.move_to_end(way)
            if len(self._counts) > _MOST_WAYS:
                self._counts.popitem(last=False)

    def better(self, url: str) -> Iterator[str]:
        for (start, other), count in self._counts.items():
            if count < _OFTEN:
                continue
            if start == "?":
                plain, query, _ = url.partition("?")
                if query:
                    yield plain
            elif url.startswith(start):
                yield other + url[len(start) :]


def _directories(url: str, canonical: str) -> tuple[str, str] | None:
    """Return what two URLs of one host begin with that end in the same name; None where they do not."""
    a, b = url.split("/"), canonical.split("/")
    after = next((place for place, pair in enumerate(zip(reversed(a), reversed(b), strict=False)) if pair[0] != pair[1]), 0)
    if not after or a[:3] != b[:3]:
        return None
    start, other = ("/".join((*parts[:-after], "")) for parts in (a, b))
    return (start, other) if start != other else None


def _better(page: Page) -> Iterator[str]:
    """Yield the URLs by which a page would better be known: the canonical one, where it names one; otherwise https, and shorter ones."""
    canonical, url = page.hints.canonical if page.hints else "", page.url
    if canonical:
        if canonical != url:
            yield canonical
        return
    secure = "https" + url.removeprefix("http") if url.startswith("http:") else ""
    plain, _, query = url.partition("?")
    short = _INDEX.sub("/", plain) if not query else plain
    yield from (one for one in (secure, short) if one not in ("", url))
