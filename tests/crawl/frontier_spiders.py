"""Spiders and components that watch in which order requests are made, and have wishes of their own for some."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy import Request, signals as scrapy_signals
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import DontCloseSpider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.request import request_from_dict
from twisted.internet.defer import Deferred

import simcrawl
from simcrawl.crawl import frontier
from simcrawl.urls.rewrites import Outlook, RewriteRules
from tests.crawl.spiders import Base, item

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Watched(Base):
    """Notes what is scheduled and what is skipped; every request has an errback."""

    name = "watched"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_scheduled, signal=scrapy_signals.request_scheduled)
        crawler.signals.connect(spider.on_skip, signal=simcrawl.signals.request_skipped)
        return spider

    def on_scheduled(self, request: Request) -> None:
        self.note("scheduled", request.url)

    def on_skip(self, request: Request, prediction: simcrawl.Prediction, spider: Any) -> None:
        assert spider is self
        assert prediction.probability >= 0.9
        self.note("skipped", [request.url, prediction.original])

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response, errback=self.on_error)


class Sections(Watched):
    """Notes in itself in which directories a heading stands, and gives all of it by one item at the end."""

    name = "sections"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_idle, signal=scrapy_signals.spider_idle)
        return spider

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.found: dict[str, list[str]] = {}
        self.asked = False

    def on_idle(self) -> None:
        if not self.asked:
            self.asked = True
            self.crawler.engine.crawl(Request(self.url, self.parse_end, dont_filter=True))
            raise DontCloseSpider

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse if href.endswith("/") else self.parse_page)

    def parse_page(self, response: Response) -> None:
        self.found.setdefault(str(response.css("h1::text").get()), []).append(response.url.split("/")[3])

    def parse_end(self, response: Response) -> Iterator[Any]:
        self.note("found", self.found)
        yield item(response)


class Reviews(Watched):
    """Asks a program for the reviews of each page, by the number that the page has of its own, in the way that `kind` names."""

    name = "reviews"
    kind = ""

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield item(response)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)
        if self.kind == "engine":
            for request in self.ask(response):
                self.crawler.engine.crawl(request)
        elif self.kind != "middleware":
            yield from self.ask(response)

    def ask(self, response: Response) -> Iterator[Request]:
        for pid in response.css("::attr(data-pid)").getall():
            if self.kind == "POST":
                yield response.follow("/graphql", self.parse_reviews, method="POST", body=pid)
            else:
                yield response.follow(f"/reviews?pid={pid}", self.parse_reviews)

    def parse_reviews(self, response: Response) -> None:
        self.note("reviews", response.text)


class Sessions(Watched):
    """Chooses a branch by a page, and then asks at one address for what the branch has: in its session, or as `kind` says."""

    name = "sessions"
    kind = ""

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for number, href in enumerate(response.css("a::attr(href)").getall()):
            yield response.follow(href, self.parse_branch, meta={"cookiejar": number} if self.kind == "cookiejar" else {})

    def parse_branch(self, response: Response) -> Iterator[Request]:
        branch = response.url.partition("/branch/")[0].rpartition("/")[2] + response.url.rpartition("/")[2]
        ways: dict[str, dict[str, Any]] = {
            "cookiejar": {"meta": {"cookiejar": response.meta.get("cookiejar")}},
            "cookies": {"cookies": {"branch": branch}},
            "header": {"headers": {"X-Branch": branch}},
            "user agent": {"headers": {"User-Agent": f"browser {branch}", "Referer": response.url}},
        }
        yield response.follow("/offers", self.parse_offers, dont_filter=True, **ways[self.kind])

    def parse_offers(self, response: Response) -> None:
        self.note("offers", response.url)


class Asking:
    """A spider middleware of a user's own, that asks for the reviews of each page in place of the callback."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for entry in result:
            yield entry
        spider = self._crawler.spider
        assert isinstance(spider, Reviews)
        if hasattr(response, "css") and "reviews" not in response.url:
            for request in spider.ask(response):
                yield request


class Seeded(Watched):
    """Asks for one more start request while a callback is at work, which goes on when that is scheduled, and downloads a page before."""

    name = "seeded"
    awaited = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.at_work: Deferred[None] = Deferred()
        self.scheduled: Deferred[None] = Deferred()

    async def start(self) -> AsyncIterator[Any]:
        await self.crawler.engine.download_async(Request(self.url + "first"))
        yield Request(self.url)
        await maybe_deferred_to_future(self.at_work)
        yield Request(self.url + "seed")

    def on_scheduled(self, request: Request) -> None:
        super().on_scheduled(request)
        if request.url == self.url + self.awaited:
            self.scheduled.callback(None)

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        if response.url.endswith("/main/50.html"):
            self.at_work.callback(None)
            await maybe_deferred_to_future(self.scheduled)
        if not response.url.endswith("/seed"):
            for entry in self.follow(response, errback=self.on_error):
                yield entry


class Swapping:
    """A downloader middleware that makes a new request in the place of one."""

    def process_request(self, request: Request) -> Request | None:
        return Request(f"{request.url}?new", dont_filter=True) if request.url.endswith("/seed") else None


class Adding:
    """A spider middleware that asks for one more page where an answer is no page."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for entry in result:
            yield entry
        if response.url.endswith("/seed"):
            yield Request(f"{response.url}?new")


class Leaving(Watched):
    """Asks to be logged out when all else is done: by a low priority, at the time that `kind` names."""

    name = "leaving"
    kind = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known: Deferred[None] = Deferred()

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url, dont_filter=True)
        if self.kind == "start":
            await maybe_deferred_to_future(self.known)
            yield self.leave()

    def leave(self) -> Request:
        return Request(self.url + "logout", self.parse_end, priority=-5, dont_filter=self.kind == "unfiltered")

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from self.follow(response)
        if response.url == self.url and self.kind in ("first", "unfiltered"):
            yield self.leave()
        if response.url.endswith("/main/119.html"):
            self.known.callback(None)
            if self.kind == "later":
                yield self.leave()

    def parse_end(self, response: Response) -> None:
        assert response.request
        self.note("end", [response.request.priority, response.request.dont_filter])


class Mild(Watched):
    """Yields requests that others have lowered: it tries a page again, and makes more of the request that it has."""

    name = "mild"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield from self.follow(response)
        request = response.request
        assert request
        if not request.meta.get("retry_times") and response.url.endswith("/main/3.html"):
            yield get_retry_request(request, spider=self, reason="once more")
            yield request.replace(url=self.url + "more")
            yield Request(self.url + "handed-on", priority=request.priority)


class OneMenu(Watched):
    """Makes the requests of a site's menu once, and yields them, or copies of them, of every page. Notes their priorities."""

    name = "one-menu"
    copies = ""
    menu: ClassVar[list[Request]] = []

    def parse(self, response: Response, **_: Any) -> Any:
        self.menu.extend(Request(response.urljoin(href), self.parse_page) for href in response.css("a::attr(href)").getall())
        yield item(response)
        yield from self.menu

    def parse_page(self, response: Response) -> Any:
        assert response.request
        self.note("priorities", response.request.priority)
        yield item(response)
        yield from (request.copy() if self.copies else request for request in self.menu)


class Filtering(Scheduler):
    """Takes each URL once, whatever `dont_filter` says."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._taken = set[str]()

    def enqueue_request(self, request: Request) -> bool:
        if request.url in self._taken:
            return False
        self._taken.add(request.url)
        return super().enqueue_request(request)


class FewHeld(Watched):
    """Lets no more than a few requests wait at the end of the queue, and notes how many do at most."""

    name = "few"
    most = 7

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        frontier._MOST_HELD = cls.most
        return super().from_crawler(crawler, *args, **kwargs)

    def on_scheduled(self, request: Request) -> None:
        super().on_scheduled(request)
        held, *others = (
            self.crawler.stats.get_value(f"simcrawl/predicted/{name}", 0) for name in ("held", "checked", "skipped", "released")
        )
        self.crawler.stats.max_value("test/waiting", held - sum(others))


class Sinking(Watched):
    """Finds each page of a mirror likelier a copy with each look at its URL: by one level, from .5 on."""

    name = "sinking"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        looks = Counter[str]()

        def look(_rules: RewriteRules, url: str) -> Outlook:
            looks[url] += 1
            return Outlook(None, None, -10 * (4 + looks[url]) if "/mirror/" in url else 0)

        RewriteRules.look = look  # type: ignore[assignment, method-assign]
        return super().from_crawler(crawler, *args, **kwargs)


class Partner(Watched):
    """Asks for the links of its first page. That one it takes by itself, or another crawler with the same queue might."""

    name = "partner"

    async def start(self) -> AsyncIterator[Any]:
        first = await self.crawler.engine.download_async(Request(self.url))
        for href in first.css("a::attr(href)").getall():
            yield Request(first.urljoin(href))


class Wishful(Watched):
    """Asks for the links of `/late/`, when everything else is done, in ways that `kind` names, separated by commas: for as many in each.

    Start requests are asked for when enough is known: a spider is not idle as long as there are more of them.
    """

    name = "wishful"
    kind = ""
    allowed_domains = ("127.0.0.1",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.enough: Deferred[None] = Deferred()
        self.asked = False
        self.drops = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_idle, signal=scrapy_signals.spider_idle)
        return spider

    def on_idle(self) -> None:
        if not self.asked and self.kind != "start":
            self.asked = True
            self.crawler.engine.crawl(Request(self.url + "late/", self.parse_late))
            raise DontCloseSpider

    def on_drop(self, request: Request, response: Response, verdict: simcrawl.Verdict, spider: Any) -> None:
        super().on_drop(request, response, verdict, spider)
        self.drops += 1
        if self.drops > 75:
            self.is_enough()

    def on_skip(self, request: Request, prediction: simcrawl.Prediction, spider: Any) -> None:
        super().on_skip(request, prediction, spider)
        self.is_enough()

    def is_enough(self) -> None:
        if not self.enough.called:
            self.enough.callback(None)

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url, dont_filter=True)
        if self.kind == "start":
            await maybe_deferred_to_future(self.enough)
            late = await self.crawler.engine.download_async(Request(self.url + "late/"))
            for href in late.css("a::attr(href)").getall():
                yield Request(late.urljoin(href))

    async def parse_late(self, response: Response) -> AsyncIterator[Any]:
        urls = [response.urljoin(href) for href in response.css("a::attr(href)").getall()]
        kinds = self.kind.split(",")
        for number, url in enumerate(urls):
            kind = kinds[number * len(kinds) // len(urls)]
            if kind in ("inline", "inline callback"):
                options: dict[str, Any] = {"callback": self.parse, "meta": response.meta} if kind == "inline callback" else {}
                page = await self.crawler.engine.download_async(Request(url, **options))
                self.note("inline", page.url)
            elif kind == "engine":
                self.crawler.engine.crawl(Request(url, self.parse))
            else:
                yield Request(url, errback=self.on_error, **self.wishes(kind, response))

    def wishes(self, kind: str, response: Response) -> dict[str, Any]:
        wishes: dict[str, dict[str, Any]] = {
            "plain": {},
            "priority": {"priority": 3},
            "low priority": {"priority": -3},
            "dont_filter": {"dont_filter": True},
            "post": {"method": "POST"},
            "opted out": {"meta": {"simcrawl": False}},
            "cb_kwargs": {"cb_kwargs": {"number": 1}},
            "meta": {"meta": response.meta},
            "callback": {"callback": self.parse_other},
        }
        return wishes[kind]

    def parse_other(self, response: Response) -> Iterator[Any]:
        yield item(response)


class Chapters(CrawlSpider):
    """Has one callback for the pages of two directories, by two rules, and follows other links without one."""

    name = "chapters"
    url = ""
    rules = (
        Rule(LinkExtractor(allow=r"/\w+/$")),
        Rule(LinkExtractor(allow="/main/"), callback="parse_item", follow=True),
        Rule(LinkExtractor(allow="/mirror/"), callback="parse_item"),
    )

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url)

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield item(response)


class Seen:
    """A downloader middleware behind simcrawl's: notes what it sees of each request."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        spider: Any = self._crawler.spider
        spider.note("seen", [request.url, request.dont_filter, "_simcrawl_order" in request.meta])


class Remote(BaseScheduler):
    """A scheduler that hands requests on as data, as those do that keep them in a database for many processes."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._queue: list[tuple[int, int, dict[str, Any]]] = []
        self._seen: set[str] = set()
        self._number = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def has_pending_requests(self) -> bool:
        return bool(self._queue)

    def enqueue_request(self, request: Request) -> bool:
        if not request.dont_filter and request.url in self._seen:
            return False
        self._seen.add(request.url)
        data = request.to_dict(spider=self._crawler.spider)
        data["meta"] = json.loads(json.dumps(data["meta"]))
        self._number += 1
        heapq.heappush(self._queue, (-request.priority, self._number, data))
        return True

    def next_request(self) -> Request | None:
        if not self._queue:
            return None
        return request_from_dict(heapq.heappop(self._queue)[2], spider=self._crawler.spider)
