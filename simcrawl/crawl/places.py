"""A page that waits for another one keeps no other from being downloaded.

Scrapy counts a page as being downloaded until the last downloader middleware has let it go, and allows CONCURRENT_REQUESTS of these: where
originals take a second in the item pipelines, their copies would fill all places, and nothing be fetched for as long. So a page that waits
lends its place. It counts as one that is at work instead, as it would if simcrawl was not there: of these Scrapy allows as many as fit into
SCRAPER_SLOT_MAX_ACTIVE_SIZE. What is under way to one site at a time is counted elsewhere, and remains what it is.

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

    @contextmanager
    def lent(self, response: Response) -> Iterator[None]:
        """Let something else be downloaded while a page waits. Where the downloader is not Scrapy's, the page keeps its place."""
        began, loan = self._clock(), _Loan(self._crawler.engine, max(len(response.body), _LEAST))
        timer = None if self._waits_are_long else call_later(SHORT, self._begin_late, loan)
        if not timer:
            loan.begin()
        try:
            yield
        finally:
            if timer:
                timer.cancel()
            loan.end()
            self._waits_are_long = self._clock() - began > SHORT

    def _begin_late(self, loan: _Loan) -> None:
        self._waits_are_long = True
        loan.begin()


class _Loan:
    """The place of one page of so many bytes."""

    def __init__(self, engine: Any, size: int) -> None:
        self._engine, self._size, self._has_begun = engine, size, False

    def begin(self) -> None:
        downloader = self._engine and self._engine.downloader
        if not (downloader and getattr(downloader, "total_concurrency", 0) > 0 and self._engine.scraper.slot):
            return
        self._has_begun = True
        downloader.total_concurrency += 1
        self._engine.scraper.slot.active_size += self._size
        # Scrapy looks for a free place when a request ends, or every five seconds.
        if slot := self._engine._slot:  # noqa: SLF001 - nothing public makes it look
            slot.nextcall.schedule()

    def end(self) -> None:
        if self._has_begun:
            # None would be no limit, where somebody else has lowered it meanwhile.
            self._engine.downloader.total_concurrency = max(1, self._engine.downloader.total_concurrency - 1)
            if at_work := self._engine.scraper.slot:
                at_work.active_size -= self._size
