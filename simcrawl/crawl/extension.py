"""The extension: opens the store before the crawl begins, and writes it at its pace."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from simcrawl.crawl.downloader import NearDuplicateDownloaderMiddleware
from simcrawl.crawl.session import Session
from simcrawl.crawl.spider import CallbackWatchMiddleware, NearDuplicateSpiderMiddleware

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

_SHORTEST_INTERVAL = 0.1

logger = logging.getLogger(__name__)


class SimcrawlExtension:
    """Opens the store, which stops a crawl with a wrong setting or a foreign store at its start, and commits periodically."""

    def __init__(self, session: Session, crawler: Crawler) -> None:
        self._session = session
        self._crawler = crawler
        self._timer: AsyncioLoopingCall | LoopingCall | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension of a crawler.

        Raises:
            SettingError: a setting has a wrong value.
            StoreError: the store cannot be used.
        """
        extension = cls(Session.of(crawler), crawler)
        crawler.signals.connect(extension.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signal=signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Start the timer: a crawl that admits nothing for a while still has confirmed pages to write."""
        self._check_partners()
        self._session.expire_soon()
        self._timer = create_looping_call(self._session.sync_soon)
        self._timer.start(max(self._session.config.sync_seconds, _SHORTEST_INTERVAL), now=False)
        self._session.lag.start()

    def _check_partners(self) -> None:
        crawler = self._crawler
        missing = [
            component.__name__
            for find, component in (
                (crawler.get_downloader_middleware, NearDuplicateDownloaderMiddleware),
                (crawler.get_spider_middleware, NearDuplicateSpiderMiddleware),
                (crawler.get_spider_middleware, CallbackWatchMiddleware),
            )
            if find(component) is None
        ]
        if missing:
            logger.warning("Nothing will be dropped: simcrawl needs %s too", " and ".join(missing), extra={"spider": crawler.spider})

    def spider_closed(self) -> None:
        """Stop the timer; the session writes the rest."""
        if self._timer and self._timer.running:
            self._timer.stop()
