"""A page that waits for another one keeps no other from being downloaded.

Scrapy counts a page as being downloaded until the last downloader middleware has let it go, and allows CONCURRENT_REQUESTS of these: where
originals take a second in the item pipelines, their copies would fill all places, and nothing be fetched for as long. So a page that waits
lends its place. It counts as one that is at work instead, as it would if simcrawl was not there: of these Scrapy allows as many as fit into
SCRAPER_SLOT_MAX_ACTIVE_SIZE. What is under way to one site at a time is counted elsewhere, and remains what it is.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

# What Scrapy takes a page at work for at least.
_LEAST = 1_024


@contextmanager
def lent(crawler: Crawler, response: Response) -> Iterator[None]:
    """Let something else be downloaded for as long as a page waits. Where the downloader is not Scrapy's, it keeps its place."""
    engine: Any = crawler.engine
    downloader, at_work = engine and engine.downloader, engine and engine.scraper.slot
    if not (at_work and getattr(downloader, "total_concurrency", 0) > 0):
        yield
        return
    size = max(len(response.body), _LEAST)
    downloader.total_concurrency += 1
    at_work.active_size += size
    # Scrapy looks for a free place when a request ends, or every five seconds.
    if slot := engine._slot:  # noqa: SLF001 - nothing public makes it look
        slot.nextcall.schedule()
    try:
        yield
    finally:
        # None would be no limit, where somebody else has lowered it meanwhile.
        downloader.total_concurrency = max(1, downloader.total_concurrency - 1)
        at_work.active_size -= size
