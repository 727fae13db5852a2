"""Spiders that tell what each of their requests was when its callback is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from simcrawl.crawl.frontier import AGAIN, ORDER, RETURNED
from tests.crawl.spiders import Base, item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class Telling(Base):
    """Takes the page of number 0 first. Notes each request, with the colour that it was given."""

    name = "telling"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            first = href.endswith("?id=0")
            yield response.follow(href, self.parse_lot, meta={"colour": "blue"}, priority=5 if first else 3)
        yield item(response)

    def parse_lot(self, response: Response) -> Iterator[Any]:
        request = response.request
        assert request is not None
        known = {"url": request.url, "dont_filter": request.dont_filter, "priority": request.priority}
        marks = [key for key in response.meta if key.startswith("_simcrawl")]
        self.note("told", known | {"colour": response.meta["colour"], "depth": response.meta.get("depth"), "marks": marks})
        yield item(response)


class Resumed(Telling):
    """Finds in its queue a request for page 7 that another process makes once more."""

    name = "resumed"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        meta = {"colour": "blue", ORDER: RETURNED, AGAIN: True}
        engine = self.crawler.engine
        assert engine is not None
        engine.crawl(Request(response.urljoin("/print?id=7"), self.parse_lot, meta=meta, dont_filter=True))
        return super().parse(response)
