"""What else is at work in a crawl, so that requests at the end of the queue wait for it: it may bring others, which come first."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from simcrawl.crawl.marks import HELD, LAST, ORDER, SKIPPED
from simcrawl.crawl.threads import Wake

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

# Seconds after which a request at the end of the queue makes room for others, if nothing has told of them before.
_PATIENCE = 0.5
_SHORTEST_PAUSE = 0.005
# Seconds after which callbacks that are at work while nothing else is are taken for such as wait for held requests.
_STUCK = 5.0


class AtWork:
    """The requests and callbacks of one crawler that are at work. A callback is from `called` to `ended`. On the event loop."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._waiting: set[Wake] = set()
        self._called: WeakSet[Request] = WeakSet()
        self._ended: WeakSet[Request] = WeakSet()
        # Since when nothing but callbacks is at work.
        self._still_since = 0.0

    def called(self, request: Request) -> None:
        """Note that the callback of a request comes next."""
        self._called.add(request)

    def ended(self, request: Request | None) -> None:
        """Let those who wait look again: the callback of a request has ended, and may have brought others; None: something has changed."""
        self._still_since = 0.0
        if request is not None:
            self._ended.add(request)
            self._called.discard(request)
        for wake in self._waiting:
            wake()

    def take_called(self) -> Iterator[Request]:
        """Give the pages whose callbacks are at work, each once: they are forgotten."""
        called, self._called = self._called, WeakSet()
        in_scraper = self.pages()
        return (page for page in called if page in in_scraper)

    def pages(self) -> Collection[Request]:
        """Return the requests of all pages that a callback or a pipeline has, or will have next."""
        engine: Any = self._crawler.engine
        active: Collection[Request] = engine.scraper.slot.active
        return active

    async def wait(self) -> None:
        """Return when a callback has ended, when nobody else is at work any more, or when others should have the place."""
        wake, waited, pause = Wake(), 0.0, _SHORTEST_PAUSE
        self._waiting.add(wake)
        # Nothing tells when Scrapy's slot is idle, which it is not yet when the last callback ends.
        while not wake.raised and waited < _PATIENCE and self.has_others():
            await wake.wait(pause)
            waited += pause
            pause *= 2
        self._waiting.discard(wake)

    def has_others(self) -> bool:
        """Return whether any request is under way, or any callback, that is not itself at the end of the queue."""
        engine: Any = self._crawler.engine
        return self._are_under_way() or not engine.scraper.slot.is_idle()

    def is_stuck(self) -> bool:
        """Return whether callbacks, and nothing else, have been at work for long.

        One may wait for the very requests that are held, or ask itself again and again whether they have been answered.
        """
        running = any(request not in self._ended for request in self.pages())
        if not running or self._are_under_way():
            self._still_since = 0.0
        elif not self._still_since:
            self._still_since = monotonic()
        return bool(self._still_since) and monotonic() - self._still_since > _STUCK

    def _are_under_way(self) -> bool:
        engine: Any = self._crawler.engine
        # Those that are skipped have an end before them as well, and bring nothing.
        under_way = (request.meta.get(ORDER) for request in engine.downloader.active)
        return any(level not in (HELD, LAST, SKIPPED) for level in under_way)
