"""A spider that crawls one web site and yields what a reader would read: `scrapy crawl site -a url=https://...`.

`scrapy crawl site -a urls=FILE` starts from the URLs of a list instead (or as well), and keeps their pages whatever they are copies of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from simcrawl.addresses import host_of
from simcrawl.config import Config
from simcrawl.crawl.case import verdict
from simcrawl.crawl.occasion import is_crawl
from simcrawl.crawl.recrawl import recrawl_requests
from simcrawl.crawl.refusal import told_in_one_line
from simcrawl.crawl.session import Session
from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import PageFingerprint, Reason, without_user

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

_UNTOUCHED = {
    reason.value
    for reason in (Reason.TOO_LARGE, Reason.TOO_DEEP, Reason.TOO_SLOW, Reason.OUT_OF_MEMORY, Reason.CRASHED, Reason.EXTRACTION_FAILED)
}


class SiteSpider(Spider):
    """Follows the links of a site, staying on its host; one item a page: url, title, text, language, fingerprint.

    `text` is the main text, and `fingerprint` is empty where simcrawl did not compare the page (`skipped` says why).
    """

    name = "site"
    url: str = ""
    urls: str = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.url and urlsplit(self.url).scheme not in ("http", "https"):
            raise SettingError(f"url is {without_user(self.url)!r}: give an address with its scheme, as in -a url=https://example.org/")
        self._links = LinkExtractor()

    @classmethod
    @told_in_one_line()
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Return the spider of a crawler.

        Raises:
            SettingError: there is nothing to start from, or a list cannot be read.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        # Its requests take the place of `start`, which would say where to stay.
        if listed := Config.from_settings(crawler.settings.get).recrawl:
            spider.allowed_domains = _hosts_of(recrawl_requests(listed))
        # Not left to `start`, whose errors Scrapy logs with all their frames. One of a spider derived from this may give it a URL first.
        elif is_crawl(crawler) and cls.start is SiteSpider.start:
            spider.first_requests()
        return spider

    def first_requests(self) -> list[Request]:
        """Return requests for the site's first page, and for those of the list.

        Raises:
            SettingError: there is neither, or the list cannot be read.
        """
        listed = list(recrawl_requests(self.urls)) if self.urls else []
        if not self.url and not listed:
            raise SettingError("the site spider needs a url: scrapy crawl site -a url=https://example.org/, or urls=FILE with one a line")
        return [*([Request(self.url, dont_filter=True)] if self.url else []), *listed]

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first requests, and stay on their hosts."""
        requests = self.first_requests()
        self.allowed_domains = _hosts_of(requests)
        for request in requests:
            yield request

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        """Yield the page, then its links."""
        # A link may lead to a file that is no page; those of other hosts are the off-site middleware's business.
        if not isinstance(response, HtmlResponse):
            return
        yield page_item(response, await self._text(response))
        for link in self._links.extract_links(response):
            yield response.follow(link)

    async def _text(self, response: HtmlResponse) -> str | None:
        """Return the main text; None for a page that simcrawl would not touch, or that takes too long."""
        found = verdict(response)
        if found is None or found.page is None or found.reason in _UNTOUCHED:
            return None
        return await Session.of(self.crawler).text_of(response)


def _hosts_of(requests: Iterable[Request]) -> list[str]:
    return sorted({host_of(request.url) for request in requests})


def page_item(response: Response, text: str | None) -> dict[str, Any]:
    """Return the item of a page."""
    found = verdict(response)
    page = found.page if found else None
    return {
        "url": response.url,
        "title": " ".join(response.xpath("//title//text()").getall()).strip(),
        "language": response.xpath("/html/@lang").get(""),
        "text": text,
        "fingerprint": page.hex if isinstance(page, PageFingerprint) else None,
        "skipped": found.reason if found and not found.is_duplicate and not isinstance(page, PageFingerprint) else None,
    }
