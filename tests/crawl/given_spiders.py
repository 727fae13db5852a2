"""Spiders that take items of some pages of a content alone, or wait for what they have asked for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.extensions.feedexport import ItemFilter
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.crawl.spiders import Base, item

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class OfArticles(Base):
    """One callback for all pages, which takes items of articles' addresses alone."""

    name = "of-articles"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from map(response.follow, response.css("a::attr(href)").getall())
        if "/article/" in response.url:
            yield item(response)


class OfAll(Base):
    """Takes an item of every page that is no list."""

    name = "of-all"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        links = response.css("a::attr(href)").getall()
        yield from map(response.follow, links)
        if not links:
            yield {"url": response.url, "text": response.css("p::text").get()}


class Articles(ItemFilter):
    """Takes no pages for printing."""

    def accepts(self, item: Any) -> bool:
        return "/print/" not in item["url"] and super().accepts(item)


@dataclass
class Offer:
    """An item of an article's address."""

    url: str


@dataclass
class Past:
    """An item of a page for printing."""

    url: str


class OfClasses(Base):
    """Takes items of two classes."""

    name = "of-classes"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        links = response.css("a::attr(href)").getall()
        yield from map(response.follow, links)
        if not links:
            yield (Offer if "/article/" in response.url else Past)(response.url)


class OfTabs(Base):
    """Two callbacks, each for one address of the same page."""

    name = "of-tabs"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_print if "/print/" in href else self.parse_article)

    def parse_article(self, response: Response) -> Iterator[Any]:
        yield item(response)

    def parse_print(self, response: Response) -> Iterator[Any]:
        yield item(response)


class OfRules(Base, CrawlSpider):
    """The same by rules."""

    name = "of-rules"
    rules = (Rule(LinkExtractor("/article/"), callback="parse_article"), Rule(LinkExtractor("/print/"), callback="parse_print"))

    parse = CrawlSpider.parse

    def parse_article(self, response: Response) -> Iterator[Any]:
        yield item(response)

    def parse_print(self, response: Response) -> Iterator[Any]:
        yield item(response)


class Failing(OfArticles):
    """Fails on the first article that it sees, behind its item."""

    name = "failing"
    has_failed = False

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from super().parse(response)
        if "/article/" in response.url and not self.has_failed:
            self.has_failed = True
            raise ValueError("this one fails")


class Waiting(Base):
    """Its first callback ends only when all pages have been parsed that it has asked for, or that another callback has (`by_list`)."""

    name = "waiting"
    by_list = ""
    left: int
    parsed: asyncio.Event

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        hrefs = response.css("a::attr(href)").getall()
        self.left, self.parsed = len(hrefs), asyncio.Event()
        if not self.by_list:
            for href in hrefs:
                yield response.follow(href, self.parse_page)
        await self.parsed.wait()

    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            yield request
            if self.by_list:
                yield request.replace(url=f"{request.url}list", callback=self.parse_list)

    def parse_list(self, response: Response) -> Iterator[Any]:
        yield from (response.follow(href, self.parse_page) for href in response.css("a::attr(href)").getall())

    def parse_page(self, response: Response) -> Iterator[Any]:
        self.left -= 1
        if not self.left:
            self.parsed.set()
        yield item(response)


class InParts(Base):
    """Joins each page with a part of its own, for whose callback it waits. With `by_way` that comes of another part."""

    name = "in-parts"
    by_way = ""
    parts: ClassVar[dict[str, asyncio.Future[str]]] = {}

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from (response.follow(href, self.parse_page) for href in response.css("a::attr(href)").getall())

    def parse_page(self, response: Response) -> AsyncIterator[Any]:
        return self._joined(response)

    async def _joined(self, response: Response) -> AsyncIterator[Any]:
        part = f"{response.url}/part"
        self.parts[part] = asyncio.get_running_loop().create_future()
        yield response.follow(f"{response.url}/way", self.parse_way) if self.by_way else response.follow(part, self.parse_part)
        yield item(response) | {"part": await self.parts[part]}

    def parse_way(self, response: Response) -> Iterator[Any]:
        yield response.follow(response.url.replace("/way", "/part"), self.parse_part)

    def parse_part(self, response: Response) -> None:
        self.parts[response.url].set_result(response.css("p::text").get(""))


class Together:
    """A pipeline in which each item waits until there are TEST_ITEMS of them."""

    def __init__(self, crawler: Any) -> None:
        self.missing = crawler.settings.getint("TEST_ITEMS")
        self.complete = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        self.missing -= 1
        if not self.missing:
            self.complete.set()
        await self.complete.wait()
        return item


class TriesAgain(Base):
    """Takes each page for an error the first time; `asks`: with `dont_filter` set for each link."""

    name = "tries_again"
    asks = ""

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        assert response.request
        if not response.url.endswith("/") and not response.meta.get("retry_times"):
            yield get_retry_request(response.request, spider=self, reason="an error")
            return
        yield item(response)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, dont_filter=bool(self.asks))
