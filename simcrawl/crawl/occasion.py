"""What a crawler is there for: to crawl, or to look at pages for one of Scrapy's own commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_COMMANDS = "scrapy.commands."


def is_crawl(crawler: Crawler) -> bool:
    """Return whether a crawler crawls: False for `scrapy fetch`, `view`, `parse`, `check`, `bench` and `shell`.

    What they look at must not be remembered as crawled, nor be taken away because it was.
    """
    # Scrapy tells no component which command runs: it takes the name out of sys.argv, and these commands have hardly a setting of their
    # own. But each gives its spider a `start` of its own; only the shell does not, which never starts its crawler and calls the engine.
    start = getattr(crawler.spidercls, "start", None)
    return crawler.crawling and not str(getattr(start, "__module__", "")).startswith(_COMMANDS)
