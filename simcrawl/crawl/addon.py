"""The add-on: one line in a project's settings puts every component in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from simcrawl.config import Config
from simcrawl.crawl.downloader import NearDuplicateDownloaderMiddleware
from simcrawl.crawl.extension import SimcrawlExtension
from simcrawl.crawl.items import NearDuplicateItemPipeline
from simcrawl.crawl.occasion import is_crawl
from simcrawl.crawl.recrawl import RecrawlMiddleware
from simcrawl.crawl.refusal import told_in_one_line
from simcrawl.crawl.spider import CallbackWatchMiddleware, NearDuplicateSpiderMiddleware
from simcrawl.crawl.unfetched import HeldPageMiddleware

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

# Nearest the engine: what is judged is then what the callback gets, after retries, redirects, decompression, and whatever components of
# the user's make of it. Nothing is dropped here, so nothing would be gained above them.
DOWNLOADER_POSITION = 10
# Nearest the downloader: other middlewares, a cache among them, come first.
HELD_POSITION = 10_000
# Nearest the engine: first to see a response, so that nothing works on a dropped page; last to see a callback's output, so that
# its end really is the end.
SPIDER_POSITION = 0
# Nearest the spider.
WATCH_POSITION = 10_000
# As if the spider had made the requests itself: every other middleware sees them.
RECRAWL_POSITION = 10_001
PIPELINE_POSITION = 100
EXTENSION_POSITION = 0


class Addon:
    """`ADDONS = {"simcrawl.Addon": 500}`: adds the middlewares, the item pipeline and the extension.

    A component that the project's settings mention stays where they put it, or off where they say None. For commands that only look at
    pages, such as `scrapy fetch` and `scrapy shell`, it adds nothing.
    """

    def __init__(self, crawler: Crawler | None = None) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the add-on of a crawler."""
        return cls(crawler)

    @told_in_one_line()
    def update_settings(self, settings: BaseSettings) -> None:
        """Insert the components.

        Raises:
            NotConfigured: SIMCRAWL_ENABLED is False, or the crawler does not crawl (see `simcrawl.crawl.occasion`).
            SettingError: a setting has a wrong value.
        """
        if self._crawler is not None and not is_crawl(self._crawler):
            raise NotConfigured  # without a reason, which Scrapy would log as a warning
        if not Config.from_settings(settings.get).enabled:
            raise NotConfigured("SIMCRAWL_ENABLED is False")
        for name, component, position in (
            ("DOWNLOADER_MIDDLEWARES", NearDuplicateDownloaderMiddleware, DOWNLOADER_POSITION),
            ("DOWNLOADER_MIDDLEWARES", HeldPageMiddleware, HELD_POSITION),
            ("SPIDER_MIDDLEWARES", NearDuplicateSpiderMiddleware, SPIDER_POSITION),
            ("SPIDER_MIDDLEWARES", CallbackWatchMiddleware, WATCH_POSITION),
            ("SPIDER_MIDDLEWARES", RecrawlMiddleware, RECRAWL_POSITION),
            ("ITEM_PIPELINES", NearDuplicateItemPipeline, PIPELINE_POSITION),
            ("EXTENSIONS", SimcrawlExtension, EXTENSION_POSITION),
        ):
            settings.setdefault_in_component_priority_dict(name, component, position)
