"""The Scrapy shell: everything that knows Scrapy, and nothing that decides. Only modules in here import scrapy."""

from __future__ import annotations

from simcrawl.crawl import signals
from simcrawl.crawl.addon import Addon
from simcrawl.crawl.downloader import NearDuplicateDownloaderMiddleware
from simcrawl.crawl.extension import SimcrawlExtension
from simcrawl.crawl.items import NearDuplicateItemPipeline
from simcrawl.crawl.recrawl import RecrawlMiddleware, recrawl_requests
from simcrawl.crawl.session import NearDuplicate, NearDuplicateItem, verdict
from simcrawl.crawl.spider import CallbackWatchMiddleware, NearDuplicateSpiderMiddleware

__all__ = [
    "Addon",
    "CallbackWatchMiddleware",
    "NearDuplicate",
    "NearDuplicateDownloaderMiddleware",
    "NearDuplicateItem",
    "NearDuplicateItemPipeline",
    "NearDuplicateSpiderMiddleware",
    "RecrawlMiddleware",
    "SimcrawlExtension",
    "recrawl_requests",
    "signals",
    "verdict",
]
