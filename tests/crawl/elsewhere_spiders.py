"""Spiders whose items say what does not stand on the page that they come with, and one whose items only seem to."""

from __future__ import annotations

import time
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.crawl.spiders import Base

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.http import Response


class OfApi(Base):
    """Asks an API for the product inside the callback of its page."""

    name = "of-api"

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)
        if "/p/" in response.url:
            path = response.url.partition("/p/")
            branch = path[0].rpartition("/")[2]
            number = f"{branch}/p/{path[2]}" if branch in ("north", "south") else path[2]
            engine: Any = self.crawler.engine
            answer = await engine.download_async(self._asking(response, response.urljoin(f"/api/{number}")))
            yield {"url": response.url, "product": answer.json()}

    def _asking(self, response: Response, url: str) -> Request:
        """Return a request for the API, made in one of the ways that spiders have."""
        page: Any = response.request
        ways: dict[str, Callable[[], Request]] = {
            "with meta": lambda: Request(url, meta=response.meta),
            "by replacing": lambda: page.replace(url=url, dont_filter=True),
            "without callback": lambda: Request(url, callback=NO_CALLBACK),
        }
        made = ways.get(self.settings["ASKS"])
        return made() if made else Request(url)


class OfPrices(OfApi):
    """Takes the price alone."""

    name = "of-prices"

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        async for entry in super().parse(response):
            yield entry if isinstance(entry, Request) else {"url": entry["url"], "price": entry["product"]["price"]}


class OfShop(Base):
    """Looks for the price where the shop's own pages have it."""

    name = "of-shop"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if title := response.css("h1::text").get():
            yield {"url": response.url, "title": title, "price": response.css(".price::text").get()}
        yield from map(response.follow, response.css("a::attr(href)").getall())


class OfAttributes(Base):
    """Takes what a page has in its mark-up, where no reader sees it."""

    name = "of-attributes"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from map(response.follow, response.css("a::attr(href)").getall())
        if number := response.css("p::attr(data-number)").get():
            yield {"url": response.url, "sku": number, "stars": response.css("p::attr(class)").re_first(r"stars (\w+)")}


class OfLinks(Base, CrawlSpider):
    """Takes what the link to a page said, or whose cookies it was fetched with."""

    name = "of-links"
    rules = (Rule(LinkExtractor("/p/"), callback="parse_item", process_request="with_account"),)
    parse = CrawlSpider.parse

    def with_account(self, request: Request, _: Response) -> Request:
        request.meta["cookiejar"] = f"{request.meta['link_text']} and sons"
        return request

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, **{name: response.meta[name] for name in self.takes}}

    @property
    def takes(self) -> list[str]:
        """The names in `meta` of what it takes."""
        return self.settings.getlist("OF_LINKS_TAKES")


class OfMirrorsWithData(Base):
    """Gives each request for a product the same data."""

    name = "of-mirrors-with-data"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, meta={"shop": 17})
        if "/p/" in response.url:
            yield {"url": response.url}


class OfVariants(Base):
    """Keeps each product until the last page of its variants has come, which yields the item of all."""

    name = "of-variants"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.open: dict[str, dict[str, Any]] = {}

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_product)

    def parse_product(self, response: Response) -> Iterator[Any]:
        links = response.css("a::attr(href)").getall()
        self.open[response.url.rpartition("/")[2]] = {"title": response.css("h1::text").get(), "sizes": [], "left": len(links)}
        for href in links:
            yield response.follow(href, self.parse_variant)

    def parse_variant(self, response: Response) -> Iterator[Any]:
        product = self.open[response.url.split("/")[-2]]
        product["sizes"].append(response.css("h2::text").get())
        product["left"] -= 1
        if not product["left"]:
            yield {"url": f"product:{product['title']}", "title": product["title"], "sizes": product["sizes"]}


class Noting(Base):
    """Says with each item when, how and as which it was fetched."""

    name = "noting"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.number = 0

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from map(response.follow, response.css("a::attr(href)").getall())
        self.number += 1
        if "/p/" in response.url:
            sent: Any = response.request
            received: Any = response.headers
            yield {
                "url": response.url,
                "name": response.url.rpartition("/")[2],
                "at": datetime.now().isoformat(),  # noqa: DTZ005 - as many spiders do
                "on": f"{datetime.now():%d %B %Y, %H:%M}",  # noqa: DTZ005
                "when": datetime.now(),  # noqa: DTZ005
                "uid": str(uuid4()),
                "n": self.number,
                "t": time.time(),
                "ms": round(time.time() * 1000),
                "latency": response.meta["download_latency"],
                "agent": sent.headers["User-Agent"].decode(),
                "date": received["Date"].decode(),
                "text": " ".join(response.css("p::text").getall()),
            }


class Unreadable(OfApi):
    """Yields items that raise when somebody looks into them."""

    name = "unreadable"

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        async for entry in super().parse(response):
            if isinstance(entry, Request):
                yield entry
            else:
                yield Raising(entry)


class Raising(dict[str, Any]):
    """A dictionary that cannot be read through."""

    def items(self) -> Any:
        raise RuntimeError("this item cannot be read")


class OfMirrors(OfApi):
    """Says of each product on which mirror it was seen, by a name that the mirror does not have."""

    name = "of-mirrors"
    names = ("Bouillabaisse", "Zwiebelsuppe")

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:  # type: ignore[override]
        yield from map(response.follow, response.css("a::attr(href)").getall())
        if "/p/" in response.url:
            yield {"url": response.url, "mirror": self.names["/b/" in response.url]}


class OfStock(OfApi):
    """Takes one value of what the API says, as `KIND` asks."""

    name = "of-stock"

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        async for entry in super().parse(response):
            yield entry if isinstance(entry, Request) else {"url": entry["url"], "value": self._value(entry["product"]["left"])}

    def _value(self, left: int) -> Any:
        kind = self.settings["KIND"]
        return {"bool": left > 0, "number": left + 30, "date": date(2024, 1, left + 2), "text": f"2024-01-{left + 2:02}"}[kind]


class OfTables(Base):
    """Takes the rows of a page's table in one item; pages for printing come first."""

    name = "of-tables"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, priority=int(href.startswith("/print")))
        yield from self.items(response)

    def items(self, response: Response) -> Iterator[dict[str, Any]]:
        rows = response.css(".row::text").getall()
        if rows:
            yield {"url": response.url, "rows": [{"row": row} for row in rows]}


class OfRows(OfTables):
    """Takes an item of each row."""

    name = "of-rows"

    def items(self, response: Response) -> Iterator[dict[str, Any]]:
        for row in response.css(".row::text").getall():
            yield {"url": response.url, "row": row}


class OfStates(Base):
    """Takes what the class of a place says: in one item of a page, or in one of each place."""

    name = "of-states"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from map(response.follow, response.css("a::attr(href)").getall())
        flat = response.url.partition("flat=")[2]
        if self.settings["KIND"] == "lists" and flat:
            yield {"url": response.url, "flat": flat, "free": [int(day) for day in response.css("i.free::text").getall()]}
        elif flat:
            for day in response.css("i"):
                yield {"url": response.url, "flat": flat, "day": day.css("::text").get(), "status": day.attrib["class"]}


class OfVariantsShown(Base):
    """Takes of a page's table the row that the address names, and not the address: of a shop's variants, say."""

    name = "of-variants-shown"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from map(response.follow, response.css("a::attr(href)").getall())
        if variant := response.url.partition("variant=")[2]:
            row = response.css(f"#v{variant}")
            texts = {name: row.css(f".{name}::text").get("") for name in self.settings["KIND"].split()}
            yield {"url": response.url, "n": len(variant)} | {name: int(text) if name == "stock" else text for name, text in texts.items()}


class OfWhatIsSaid(Base):
    """Takes the text of a page, and one short line of it."""

    name = "of-what-is-said"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if said := response.css(".said::text").get():
            yield {"url": response.url, "text": " ".join(response.css("p::text").getall()), "said": said}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)
