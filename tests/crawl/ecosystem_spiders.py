"""Spiders that use what stands beside simcrawl in real projects: page objects, browsers, items of every kind."""

from __future__ import annotations

# Scrapy-poet resolves all annotations of callbacks when the crawl runs.
from collections.abc import AsyncIterator, Iterator  # noqa: TC003
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import attrs
import pydantic
import scrapy
from itemadapter import ItemAdapter
from scrapy import Request, signals
from scrapy.http import Response  # noqa: TC002
from scrapy_playwright.page import PageMethod
from scrapy_poet.api import DummyResponse  # noqa: TC002
from web_poet import HttpClient, WebPage, field, handle_urls

from tests.crawl.spiders import Base

if TYPE_CHECKING:
    from twisted.python.failure import Failure


@handle_urls("")
class Article(WebPage[dict[str, Any]]):
    """A page object of a page's address and title."""

    @field
    def url(self) -> str:
        return str(self.response.url)

    @field
    def title(self) -> str:
        return self.css("title::text").get("")


@attrs.define
class WithCopy(WebPage[dict[str, Any]]):
    """A page object that downloads `/second`, a copy of `/first`, by itself."""

    client: HttpClient

    async def to_item(self) -> dict[str, Any]:
        second = await self.client.get(self.urljoin("/second"))
        return {"url": str(self.response.url), "size": len(second.body)}


class Poet(Base):
    """Its callback gets a page object beside the response."""

    name = "poet"

    async def parse(self, response: Response, page: Article) -> AsyncIterator[Any]:  # type: ignore[override]
        yield await page.to_item()
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


class PoetDownloads(Base):
    """Its page object of `/first` downloads a copy."""

    name = "poet-downloads"

    def parse(self, response: Response, **_: Any) -> Any:
        yield response.follow("/first", self.parse_first)

    async def parse_first(self, response: Response, page: WithCopy) -> AsyncIterator[Any]:
        found = await page.to_item()
        self.note("size", found["size"])
        yield found


class PoetDummy(Base):
    """Its callback wants no response, so that none is downloaded unless the page object needs it."""

    name = "poet-dummy"

    async def start(self) -> AsyncIterator[Any]:
        for path in ("first", "second"):
            yield Request(f"{self.url}{path}", self.parse_page)  # type: ignore[arg-type]  # scrapy-poet gives the page

    async def parse_page(self, response: DummyResponse, page: Article) -> AsyncIterator[Any]:
        yield await page.to_item()


class Browser(Base):
    """Has every page but the first opened in a browser, gets the browser's page, and closes it."""

    name = "browser"
    errbacks = "yes"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.count_open, signal=signals.spider_idle)
        return spider

    def count_open(self) -> None:
        """Note how many pages the browser still has open when nothing is left to do."""
        engine: Any = self.crawler.engine
        handler = engine.downloader.handlers._handlers["http"]
        self.note("open", handler._get_total_page_count())

    def parse(self, response: Response, **_: Any) -> Any:
        meta = {"playwright": True, "playwright_include_page": True}
        errback = self.on_error if self.errbacks else None
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_page, errback=errback, meta=meta)

    async def parse_page(self, response: Response) -> AsyncIterator[Any]:
        self.note("title", await response.meta["playwright_page"].title())
        await response.meta["playwright_page"].close()
        yield {"url": response.url}

    async def on_error(self, failure: Failure) -> None:  # type: ignore[override]
        self.note("failed", [failure.request.url, type(failure.value).__name__])  # type: ignore[attr-defined]
        await failure.request.meta["playwright_page"].close()  # type: ignore[attr-defined]


class Rendered(Base):
    """Has every page opened in a browser and takes what it shows."""

    name = "rendered"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url, meta={"playwright": True})

    def parse(self, response: Response, **_: Any) -> Any:
        shown = PageMethod("wait_for_selector", "main")
        return self.follow(response, meta={"playwright": True, "playwright_page_methods": [shown]})


@dataclass
class DataItem:
    url: str
    text: str


@attrs.define
class AttrsItem:
    url: str
    text: str


class PydanticItem(pydantic.BaseModel):
    url: str
    text: str


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()


KINDS = {kind.__name__: kind for kind in (dict, DataItem, AttrsItem, PydanticItem, ScrapyItem)}


class Items(Base):
    """Yields each <section> as an item: of the kind that the page's address names, or of every kind."""

    name = "items"

    def on_item(self, item: Any) -> None:
        super().on_item({"url": ItemAdapter(item)["url"]})

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        named = response.url.rpartition("/")[2]
        for number, section in enumerate(response.css("section")):
            text = " ".join(section.css("::text").getall())
            for kind in [KINDS[named]] if named in KINDS else KINDS.values():
                yield kind(url=f"{response.url}#{number}", text=text)
        yield from (response.follow(href) for href in response.css("a::attr(href)").getall())
