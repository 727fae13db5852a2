"""Spiders that tell what each of their requests was when its callback is called."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urljoin

from scrapy import Request, signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DontCloseSpider

from simcrawl.crawl.marks import AGAIN, ORDER, RETURNED
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


class Remembering(Telling):
    """Gives nothing of a page that it has seen, or fails there. It has two items of each."""

    name = "remembering"
    fails = ""
    seen: ClassVar[set[str]] = set()

    def parse_lot(self, response: Response) -> Iterator[Any]:
        if response.url in self.seen:
            if self.fails:
                raise KeyError(response.url)
            return
        self.seen.add(response.url)
        yield item(response)
        yield item(response)


class RememberingForLong(Telling):
    """Gives nothing of a page that it has seen, in this run or in those before."""

    name = "remembering-for-long"
    state: dict[str, list[str]]

    def parse_lot(self, response: Response) -> Iterator[Any]:
        seen = self.state.setdefault("seen", [])
        if response.url not in seen:
            seen.append(response.url)
            yield item(response)


class Unreadable:
    """What can be written in a queue, and not be read again."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


class OfUnreadableItems(Telling):
    """Has something in its items that cannot be read again."""

    name = "of-unreadable-items"

    def parse_lot(self, response: Response) -> Iterator[Any]:
        yield item(response) | {"other": Unreadable()}


class OfOwnRequests(Telling):
    """Makes requests of a class that takes other arguments than Scrapy's own."""

    name = "of-own-requests"

    class Lot(Request):
        """The request of a lot."""

        def __init__(self, response: Response, href: str, **more: Any) -> None:
            super().__init__(response.urljoin(href), priority=5 if href.endswith("?id=0") else 3, **more)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield self.Lot(response, href, callback=self.parse_lot, meta={"colour": "blue"})
        yield item(response)


class OfPrices(Telling):
    """Takes the price."""

    name = "of-prices"

    def parse_lot(self, response: Response) -> Iterator[Any]:
        yield item(response) | {"price": response.css("td + td::text").get()}


class Resumed(Telling):
    """Finds in its queue a request for page 7 that another process makes once more."""

    name = "resumed"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        meta = {"colour": "blue", ORDER: RETURNED, AGAIN: True}
        engine = self.crawler.engine
        assert engine is not None
        engine.crawl(Request(response.urljoin("/print?id=7"), self.parse_lot, meta=meta, dont_filter=True))
        return super().parse(response)


class Idle(Telling):
    """Asks for a page whenever there is nothing else to do, as spiders do that get their addresses from a queue."""

    name = "idle"
    paths = ""
    _asked = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_idle, signal=signals.spider_idle)
        return spider

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield item(response)

    def on_idle(self) -> None:
        paths, engine = self.paths.split(), self.crawler.engine
        assert engine is not None
        if self._asked < len(paths):
            self._asked += 1
            engine.crawl(Request(urljoin(self.url, paths[self._asked - 1]), self.parse))
            raise DontCloseSpider


class Unwritable(Telling):
    """Gives each request something that no queue can write."""

    name = "unwritable"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for made in super().parse(response):
            if isinstance(made, Request):
                made.meta["lock"] = Lock()
            yield made


class Handler(HTTP11DownloadHandler):
    """Brings an object with each page, as that of a browser."""

    async def download_request(self, request: Request) -> Response:
        request.meta["object"] = object()
        return await super().download_request(request)


class Signing:
    """Changes a line of each page, and says wrongly how the body is encoded: for what comes before it, it is not fit a second time."""

    def process_response(self, request: Request, response: Response) -> Response:
        body = response.body.replace(b"Hammer", b"Final")
        return response.replace(body=body, headers=response.headers | {"Content-Encoding": "gzip"})


class Wanting:
    """Asks once more for each page that has not come as a server sends it, and for ever."""

    def process_response(self, request: Request, response: Response) -> Request | Response:
        return response if b"<h1>Auction" not in response.body or response.headers.get("Set-Cookie") else request.replace(dont_filter=True)


class Refreshing:
    """Adds to each page a line that leads to another one, as a program that renders pages may."""

    def process_response(self, request: Request, response: Response) -> Response:
        lead = f'<head><meta http-equiv="refresh" content="0; url={request.url[: request.url.rindex("/")]}/lot?id=1">'
        return response.replace(body=response.body.replace(b"<head>", lead.encode()))
