"""The extension: opens the store before the crawl begins, writes it at its pace, and tells how far the crawl is."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro

from simcrawl.crawl.collector import set_aside, take_back
from simcrawl.crawl.downloader import NearDuplicateDownloaderMiddleware
from simcrawl.crawl.progress import Progress
from simcrawl.crawl.session import Session
from simcrawl.crawl.spider import CallbackWatchMiddleware, NearDuplicateSpiderMiddleware
from simcrawl.crawl.watched import PACE, Watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

_SHORTEST_INTERVAL = 0.1
# How often it is looked whether the engine runs.
_MOMENT = 0.001

logger = logging.getLogger(__name__)


class SimcrawlExtension:
    """Opens the store, which stops a crawl with a wrong setting or a foreign store at its start; commits, and logs, periodically."""

    def __init__(self, session: Session, crawler: Crawler) -> None:
        self._session = session
        self._crawler = crawler
        # As Scrapy's own line about pages and items: one setting for both, and 0 silences both.
        self._interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self._progress = Progress(session, crawler, self._interval)
        self._watched = Watched(session, crawler)
        self._timers: list[AsyncioLoopingCall | LoopingCall] = []
        self._has_set_aside = self._has_ended = False

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
        crawler.signals.connect(extension.engine_stopped, signal=signals.engine_stopped)
        return extension

    async def spider_opened(self) -> None:
        """Recall what earlier crawls learned, and start the timers: a crawl that admits nothing for a while has pages to write, too.

        Nothing that takes long: Scrapy passes over a stop before the engine runs.
        """
        self._check_partners()
        await self._session.recall()
        if self._has_ended:
            return
        self._session.again.restore()
        self._session.expire_soon()
        self._session.lag.start()
        self._start(self._session.sync_soon, max(self._session.config.sync_seconds, _SHORTEST_INTERVAL))
        if self._interval:
            self._start(self._tell, self._interval)
        self._watched.begin()
        self._start(self._watched.tell_soon, PACE)
        self._start(self._set_aside_once_it_runs, _MOMENT)

    def _start(self, function: Callable[[], None], interval: float) -> None:
        self._timers.append(create_looping_call(function))
        self._timers[-1].start(interval, now=False)

    def _set_aside_once_it_runs(self) -> None:
        """Set aside what has been loaded until now, which takes a fifth of a second. Called by the last of the timers, until it is done."""
        if self._crawler.engine.running:
            self._timers.pop().stop()
            self._has_set_aside = set_aside()

    def _tell(self) -> None:
        deferred_from_coro(self._progress.tell())

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

    async def spider_closed(self) -> None:
        """Stop the timers; the session writes the rest."""
        self._has_ended = True
        for timer in self._timers:
            if timer.running:
                timer.stop()
        if self._has_set_aside:
            self._has_set_aside = False
            take_back()
        await self._watched.end()

    def engine_stopped(self) -> None:
        """Tell what the crawl came to, after Scrapy's own stats."""
        self._progress.conclude()
