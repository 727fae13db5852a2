"""Pages that a crawl dropped, fetched again and kept: from a list such as `simcrawl duplicates STORE --urls` prints."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import NotConfigured

from simcrawl.config import Config
from simcrawl.crawl.occasion import is_crawl
from simcrawl.crawl.refusal import told_in_one_line
from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import is_whole, without_user

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_MOST_NAMED = 20


def recrawl_requests(path: str | os.PathLike[str], **options: Any) -> Iterator[Request]:
    """Yield a request for every URL in a file, for a spider's `start()`; simcrawl keeps their pages and follows their links.

    The file has one URL a line; empty lines, and lines that start with #, are left out. `options` go to each request, such as
    `callback=self.parse_product`. The pages are recorded, and so kept in later crawls, too. Their outlinks are judged as all pages are.

    A URL of which a store keeps a part only (its user, or the value of a parameter in SIMCRAWL_REDACT, is secret) cannot be fetched: a
    warning names it, the first twenty and how many there are.

    Raises:
        SettingError: the file cannot be read, or a line is no http(s) URL. Before the first request.
    """
    # All lines are looked at first: a list that is wrong must not be crawled by half.
    missing = [url for url in _urls(path) if not is_whole(url)]
    for url in missing[:_MOST_NAMED]:
        logger.warning("%s cannot be crawled again: a part of it is secret, and in no store", url)
    if len(missing) > _MOST_NAMED:
        logger.warning("%d URLs in %s cannot be crawled again, for the same reason", len(missing), path)
    # With dont_filter Scrapy lets through what it may have seen, and simcrawl never drops such a page.
    return (Request(url, **{"dont_filter": True} | options) for url in _urls(path) if is_whole(url))


def _urls(path: str | os.PathLike[str]) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8") as lines:  # noqa: PTH123 - a path of any kind
            for number, line in enumerate(lines, 1):
                if (url := line.strip()) and not url.startswith("#"):
                    yield _checked(url, f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingError(f"cannot read the list of URLs {path}: {exc}") from exc


def _checked(url: str, where: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    if known:
        return url
    raise SettingError(f"{where}: {without_user(url)!r} is no http(s) URL: give one a line, as simcrawl duplicates --urls prints them")


class RecrawlMiddleware:
    """Starts any spider from the list that SIMCRAWL_RECRAWL names, in place of the spider's own start requests."""

    def __init__(self, requests: Iterator[Request]) -> None:
        self._requests = requests

    @classmethod
    @told_in_one_line()
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of a crawler.

        Raises:
            NotConfigured: SIMCRAWL_RECRAWL is not set, or the crawler does not crawl (see `simcrawl.crawl.occasion`).
            SettingError: the list cannot be read, or holds something else than http(s) URLs.
        """
        path = Config.from_settings(crawler.settings.get).recrawl
        if path is None or not is_crawl(crawler):
            raise NotConfigured
        try:
            return cls(recrawl_requests(path))
        except SettingError as exc:
            raise SettingError(f"SIMCRAWL_RECRAWL is {path!r}: {exc}") from exc

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:  # noqa: ARG002 - it is replaced
        """Yield the requests of the list; the spider's `parse` gets the pages."""
        for request in self._requests:
            yield request
