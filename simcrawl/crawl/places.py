"""A page that waits for another one keeps no other from being downloaded.

Scrapy counts a page as being downloaded until the last downloader middleware has let it go, and allows CONCURRENT_REQUESTS of these: where
originals take a second in the item pipelines, their copies would fill all places, and nothing be fetched for as long. So a page that waits
lends its place. It counts as one that is at work instead, as it would if simcrawl were not there: of these Scrapy allows as many as fit
into SCRAPER_SLOT_MAX_ACTIVE_SIZE. Limits per site are counted elsewhere and still hold.

Most waits end in some milliseconds, when the original's items are in the feed. They lend nothing: with one request at a time a crawl then
takes the same way every time.
"""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

# What Scrapy takes a page at work for at least.
_LEAST = 1_024
# Seconds after which a page lends its place; at once, where another one waits for longer, or the last one did.
SHORT = 0.1


class Places:
    """Lends the places of the pages that wait in one crawler. `clock`: in seconds. On the event loop."""

    def __init__(self, crawler: Crawler, clock: Callable[[], float] = monotonic) -> None:
        self._crawler, self._clock, self._waits_are_long = crawler, clock, False
        # How many are lent, and what the downloader's limit was made by that. Somebody else may set it meanwhile.
        self._lent, self._limit = 0, 0

    @contextmanager
    def lent(self, response: Response) -> Iterator[None]:
        """Let something else be downloaded while a page waits. Where the downloader is not Scrapy's, the page keeps its place."""
        began, loans = self._clock(), list[int]()
        size = max(len(response.body), _LEAST)
        timer = None if self._waits_are_long else call_later(SHORT, self._lend, loans, size)
        try:
            if not timer:
                self._lend(loans, size)
            yield
        finally:
            if timer:
                timer.cancel()
            for loan in loans:
                self._take_back(loan)
            self._waits_are_long = self._clock() - began > SHORT

    def _lend(self, loans: list[int], size: int) -> None:
        """Lend a place, if there are any, and if there is room for a page of this size among those at work: add that to `loans`."""
        self._waits_are_long = True
        engine: Any = self._crawler.engine
        limit = getattr(engine.downloader, "total_concurrency", 0) if engine and engine.scraper.slot else 0
        if limit <= 0 or (self._lent and limit != self._limit):
            return
        at_work = engine.scraper.slot
        # Beyond that size Scrapy starts no request at all, and a place more would serve nobody.
        if at_work.active_size + size > at_work.max_active_size:
            return
        loans.append(size)
        at_work.active_size += size
        self._lent, self._limit = self._lent + 1, limit + 1
        engine.downloader.total_concurrency = self._limit
        # Scrapy looks for a free place when a request ends, or every five seconds.
        if slot := engine._slot:  # noqa: SLF001 - nothing public makes it look
            slot.nextcall.schedule()

    def _take_back(self, size: int) -> None:
        engine: Any = self._crawler.engine
        self._lent -= 1
        if engine.downloader.total_concurrency == self._limit:
            self._limit -= 1
            engine.downloader.total_concurrency = self._limit
        if at_work := engine.scraper.slot:
            at_work.active_size -= size
