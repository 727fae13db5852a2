"""Spiders for whose items the page alone is not enough."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Self

from itemloaders import ItemLoader
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider, DropItem
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.crawl.spiders import Base, item

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Named:
    """Holds a product's name, and is what a page on delivery is given to. Does not show it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        """Return what it is."""
        return "<Named>"

    def __call__(self, response: Response) -> Iterator[Any]:
        """Yield an item."""
        yield {"url": response.url, "name": self.text}

    def parse(self, response: Response) -> Iterator[Any]:
        yield from self(response)


def _decorated(callback: Any, name: str) -> Any:
    @wraps(callback)
    def called(response: Response) -> Any:
        return callback(response, {"name": name})

    return called


class Shop(Base):
    """Hands a product's name to the page on its delivery, in the way that `way` says."""

    name = "shop"
    way = ""

    def on_item(self, item: Any) -> None:
        super().on_item(item)
        self.note("products", item["name"])

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a:not(.delivery)::attr(href)").getall():
            yield response.follow(href)
        if (name := response.css("h1::text").get("")).startswith("Product"):
            href = response.css(".delivery::attr(href)").get("")
            yield response.follow(href.replace("delivery", "go") if self.way == "redirected" else href, **self.handed(response, name))

    def handed(self, response: Response, name: str) -> dict[str, Any]:
        if self.way == "loader":
            loader = ItemLoader(item={})
            loader.add_value("name", name)
            return {"callback": self.parse_delivery, "cb_kwargs": {"loader": loader}}
        if self.way in ("method", "object"):
            named = Named(name)
            return {"callback": named.parse if self.way == "method" else named}
        if self.way == "decorated":
            return {"callback": _decorated(self.parse_delivery, name)}
        ways: dict[str, dict[str, Any]] = {
            "nothing": {},
            "settings": {"meta": {"cookiejar": name, "handle_httpstatus_list": [404]}},
            "found on": {"cb_kwargs": {"found_on": response.url}},
            "cb_kwargs": {"cb_kwargs": {"given": {"name": name}}},
            "redirected": {"cb_kwargs": {"given": {"name": name}}},
            "values": {"meta": {"name": name, "place": 1}},
            "item": {"meta": {"given": {"name": name}}},
            "handed on": {"meta": response.meta | {"given": {"name": name}}},
            "shown by its name": {"cb_kwargs": {"given": Named(name)}},
        }
        return {"callback": self.parse_delivery} | ways[self.way]

    def parse_delivery(self, response: Response, given: Any = None, loader: Any = None, **_: Any) -> Iterator[Any]:
        if loader:
            given = {"name": loader.get_collected_values("name")[0]}
        if isinstance(given, Named):
            given = {"name": given.text}
        yield {"url": response.url} | (given or response.meta.get("given") or {"name": response.meta.get("name", "")})


class AskingShop(Base):
    """Downloads the pages on delivery inside the callback of the product."""

    name = "asking"

    def on_item(self, item: Any) -> None:
        super().on_item(item)
        self.note("products", item["name"])

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        name = response.css("h1::text").get("")
        if name.startswith("Product"):
            engine: Any = self.crawler.engine
            delivery = await engine.download_async(Request(response.urljoin(response.css(".delivery::attr(href)").get(""))))
            yield {"url": delivery.url, "name": name}
        for href in response.css("a:not(.delivery)::attr(href)").getall():
            yield response.follow(href)


class LaterShop(Shop):
    """Has its pages on delivery asked for by others: when it is idle, by a pipeline or middleware, or where another page failed."""

    name = "later"
    asked: list[Request]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **arguments)
        spider.asked = []
        crawler.signals.connect(spider.ask, signals.spider_idle)
        return spider

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        name = response.css("h1::text").get("")
        if not name.startswith("Product"):
            yield from map(response.follow, response.css("a:not(.delivery)::attr(href)").getall())
            return
        delivery = Request(response.urljoin(response.css(".delivery::attr(href)").get("")), self.parse_delivery, meta={"name": name})
        if self.way == "idle":
            self.asked.append(delivery)
        elif self.way == "errback":
            # Nobody listens there.
            yield Request("http://127.0.0.1:9/" + name.split()[-1], errback=lambda _: [delivery])
        else:
            yield {"delivery": delivery}

    def on_item(self, item: Any) -> None:
        if "delivery" not in item:
            super().on_item(item)

    def ask(self) -> None:
        asked, self.asked = self.asked, []
        for request in asked:
            self.crawler.engine.crawl(request)
        if asked:
            raise DontCloseSpider


class Asking:
    """A pipeline, and a spider middleware, that makes requests of items."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        if "delivery" in item:
            self._crawler.engine.crawl(item["delivery"])
            raise DropItem("later")
        return item

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for entry in result:
            yield entry["delivery"] if isinstance(entry, dict) and "delivery" in entry else entry


class Printed(Base, CrawlSpider):
    """Follows chapters, and takes items from what they link to for printing."""

    name = "printed"
    rules = (Rule(LinkExtractor(allow="/chapter/")), Rule(LinkExtractor(allow="/print/"), callback="parse_item"))
    parse = CrawlSpider.parse

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield item(response)
