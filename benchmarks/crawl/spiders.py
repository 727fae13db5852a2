"""The spiders that are measured. They know nothing of simcrawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class Everything(Spider):
    """Follows all links of a site, and takes a title from each page."""

    name = "everything"
    url = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._links = LinkExtractor()

    async def start(self) -> AsyncIterator[Request]:
        self.allowed_domains = ["127.0.0.1"]
        yield Request(self.url)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if isinstance(response, HtmlResponse):
            yield {"url": response.url, "title": response.css("title::text").get()}
            for link in self._links.extract_links(response):
                yield Request(link.url)


class Indexed(Everything):
    """Takes the pages from a site's index, whatever becomes of them; index pages are not compared."""

    name = "indexed"

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.url + "index/0", callback=self.parse_index, meta={"simcrawl": False})

    def parse_index(self, response: Response) -> Iterator[Request]:
        for href in response.css("a:not(#next)::attr(href)").getall():
            yield response.follow(href, callback=self.parse_page)
        for href in response.css("a#next::attr(href)").getall():
            # After the pages: all of the index at once would fill the memory.
            yield response.follow(href, callback=self.parse_index, meta={"simcrawl": False}, priority=-1)

    def parse_page(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "title": response.css("title::text").get()}
