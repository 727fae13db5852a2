"""Spiders of the tests of hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals as scrapy_signals

from simcrawl.crawl.marks import ORDER
from tests.crawl.spiders import Base, Sitemaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.http import Response


class MarkedSitemaps(Sitemaps):
    """Notes which of its requests may be put back. Its pages have links."""

    name = "marked-sitemaps"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_request, signal=scrapy_signals.request_scheduled)
        return spider

    def on_request(self, request: Request) -> None:
        stats: Any = self.crawler.stats
        stats.set_value("test/marked", [*stats.get_value("test/marked", []), [request.url, ORDER in request.meta]])

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from super().parse(response)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


class Prioritized(Base):
    """Gives its links a priority of its own."""

    name = "prioritized"

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response, priority=1)
