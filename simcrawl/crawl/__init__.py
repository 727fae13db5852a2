"""The Scrapy shell: everything that knows Scrapy, and nothing that decides. Only modules in here import scrapy."""

from __future__ import annotations

from simcrawl.crawl import signals
from simcrawl.crawl.addon import Addon
from simcrawl.crawl.downloader import NearDuplicateDownloaderMiddleware
from simcrawl.crawl.extension import SimcrawlExtension
from simcrawl.crawl.items import NearDuplicateItemPipeline
from simcrawl.crawl.session import NearDuplicate, verdict
from simcrawl.crawl.spider import NearDuplicateSpiderMiddleware

__all__ = [
    "Addon",
    "NearDuplicate",
    "NearDuplicateDownloaderMiddleware",
    "NearDuplicateItemPipeline",
    "NearDuplicateSpiderMiddleware",
    "SimcrawlExtension",
    "signals",
    "verdict",
]
