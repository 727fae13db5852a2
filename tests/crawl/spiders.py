"""Spiders of the crawl tests. Each takes the site's address as `url` and visits what it links to."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import signal
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy import FormRequest, Request, Spider, signals as scrapy_signals
from scrapy.exceptions import DontCloseSpider, DropItem, IgnoreRequest
from scrapy.exporters import BaseItemExporter, JsonLinesItemExporter
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage, ItemFilter
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

import simcrawl
from simcrawl.crawl.session import Session
from simcrawl.crawl.spiders.site import SiteSpider
from simcrawl.workers.pool import TextPool
from tests.processes import offspring

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure


def item(response: Response, **more: Any) -> dict[str, Any]:
    return {"url": response.url} | more


class Base(Spider):
    """Starts at `url`; `kept`, `dropped` and `failed` go into the stats for the test to read."""

    name = "base"
    url = ""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_drop, signal=simcrawl.signals.page_dropped)
        crawler.signals.connect(spider.on_item, signal=scrapy_signals.item_scraped)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url, dont_filter=True)

    def note(self, name: str, value: Any) -> None:
        stats: Any = self.crawler.stats
        stats.set_value(f"test/{name}", [*stats.get_value(f"test/{name}", []), value])

    def on_drop(self, request: Request, response: Response, verdict: simcrawl.Verdict, spider: Spider) -> None:
        assert spider is self
        assert response.request is request
        self.note("dropped", [response.url, verdict.original])

    def on_item(self, item: Any) -> None:
        self.note("kept", item["url"])

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response)

    def follow(self, response: Response, **options: Any) -> Iterator[Any]:
        yield item(response)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, **options)

    def on_error(self, failure: Failure) -> Iterator[Any]:
        self.note("failed", [failure.request.url, type(failure.value).__name__])  # type: ignore[attr-defined]
        yield from ()


class Plain(Base):
    """Follows every link with the default callback."""

    name = "plain"


class Changing(Base):
    """Notes what has become of each page since the last crawl."""

    name = "changing"

    def parse(self, response: Response, **_: Any) -> Any:
        self.note("changes", [response.url, response.meta["simcrawl_change"]])
        return self.follow(response)


class Changed(Changing):
    """Takes only what has changed.

    Its callback fails on the pages that `fails` names, its pipeline refuses those of `refuses`, it finds nothing on those of `misses`, and
    says itself that it has saved those of `saves`. `is_trial`: nobody takes its items.
    """

    name = "changed"
    fails = refuses = misses = saves = is_trial = ""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        if spider.is_trial:
            crawler.signals.disconnect(spider.on_item, signal=scrapy_signals.item_scraped)
        return spider

    def parse(self, response: Response, **_: Any) -> Any:
        for entry in super().parse(response):
            if isinstance(entry, Request):
                yield entry
            elif response.meta["simcrawl_change"] != "unchanged":
                if self.fails and self.fails in response.url:
                    raise RuntimeError("this page has no price")
                if self.saves and self.saves in response.url:
                    simcrawl.saved(response)
                    self.note("kept", response.url)
                elif not self.misses or self.misses not in response.url:
                    yield entry


class ChangedHalls(Changed):
    """Takes of what has changed where it is, which near-copies have of their own; nothing if it `misses`."""

    name = "changed-halls"

    def parse(self, response: Response, **_: Any) -> Any:
        yield from map(response.follow, response.css("a::attr(href)").getall())
        if not self.misses and response.meta["simcrawl_change"] != "unchanged":
            yield from ({"url": response.url, "hall": hall} for hall in response.css("aside b::text").getall())


class ChangedInParts(Changed):
    """Has one part of an item from the page, and the other one from a page that is no HTML."""

    name = "changed-in-parts"

    def parse(self, response: Response, **_: Any) -> Any:
        if response.url.count("/") == 3 and response.url.endswith("/"):
            yield from map(response.follow, response.css("a::attr(href)").getall())
        elif response.meta["simcrawl_change"] != "unchanged":
            yield response.follow(f"{response.url}.json", self.parse_more, cb_kwargs={"part": item(response)})

    def parse_more(self, response: Response, part: dict[str, Any]) -> Any:
        if not self.misses:
            yield part | json.loads(response.body)


class OfAnotherKind:
    """No spider gives such an item."""


class ChangedOnFullDisk(Changed):
    """Its feed cannot be flushed any more from the second page on, if it is `full`."""

    name = "changed-on-full-disk"
    full = ""

    def parse(self, response: Response, **_: Any) -> Any:
        exporter = self.crawler.get_extension(FeedExporter)
        assert exporter
        for slot in exporter.slots:
            if self.full and slot.file is not None:
                slot.file = cast("Any", FullFile(slot.file))
        yield from super().parse(response)


class Refusing:
    """A pipeline that refuses the items of some pages."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        refused = self.crawler.spider.refuses
        if refused and refused in item["url"]:
            raise DropItem("no price")
        return item


class FirstAfterLast:
    """A pipeline in which the items of `/first` wait until the page `/last` is fetched."""

    def __init__(self, crawler: Any) -> None:
        self.fetched = False
        self.waiting: list[Deferred[None]] = []
        crawler.signals.connect(self.received, signal=scrapy_signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    def received(self, response: Response) -> None:
        self.fetched = self.fetched or response.url.endswith("/last")
        while self.fetched and self.waiting:
            self.waiting.pop().callback(None)

    async def process_item(self, item: Any) -> Any:
        if item["url"].endswith("/first") and not self.fetched:
            self.waiting.append(Deferred())
            await maybe_deferred_to_future(self.waiting[-1])
        return item


class TakesItsTime:
    """A pipeline that waits itself, as for a database or a model."""

    async def process_item(self, item: Any) -> Any:
        later = Deferred[None]()
        call_later(0.5, later.callback, None)
        await maybe_deferred_to_future(later)
        return item


class ClosesTheCrawl:
    """A pipeline in which the item of `/first` tells the crawl to close once `/copy` is fetched, and takes longer than copies wait."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        self.fetched = Deferred[None]()
        crawler.signals.connect(self.received, signal=scrapy_signals.response_downloaded)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    def received(self, response: Response) -> None:
        if response.url.endswith("/copy"):
            self.fetched.callback(None)

    async def process_item(self, item: Any) -> Any:
        if item["url"].endswith("/first"):
            patience = Session.of(self.crawler)._patience
            patience.seconds = 0.2
            await maybe_deferred_to_future(self.fetched)
            deferred_from_coro(self.crawler.engine.close_spider_async(reason="enough"))
            later = Deferred[None]()
            call_later(10 * patience.seconds, later.callback, None)
            await maybe_deferred_to_future(later)
        return item


class Returning(Base):
    """Returns a list instead of yielding."""

    name = "returning"

    def parse(self, response: Response, **_: Any) -> Any:
        return list(self.follow(response))


class Async(Base):
    """Callbacks are asynchronous generators."""

    name = "async"

    async def parse(self, response: Response, **_: Any) -> Any:
        for entry in self.follow(response):
            yield entry


class Errback(Base):
    """Every request has an errback, which yields an item of its own."""

    name = "errback"

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response, errback=self.on_error)

    def on_error(self, failure: Failure) -> Iterator[Any]:
        yield from super().on_error(failure)
        yield {"url": f"errback:{failure.request.url}"}  # type: ignore[attr-defined]


class MetaOptOut(Base):
    """Asks simcrawl to leave its pages alone."""

    name = "opt-out"

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response, meta={"simcrawl": False})


class MetaCopier(Base):
    """Hands the meta of a response on to its links, as many spiders do."""

    name = "meta-copier"

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response, meta=response.meta)


class DontFilter(Base):
    """Asks for pages whatever they are."""

    name = "dont-filter"

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response, dont_filter=True) if response.url == self.url else [item(response)]


class Posting(Base):
    """Posts a form to every link."""

    name = "posting"

    def parse(self, response: Response, **_: Any) -> Any:
        for href in response.css("a::attr(href)").getall():
            yield FormRequest(response.urljoin(href), formdata={"a": "b"}, callback=self.parse)
        yield item(response)


class Starts(Base):
    """All pages are start requests."""

    name = "starts"
    paths = ""

    async def start(self) -> AsyncIterator[Any]:
        for path in self.paths.split(","):
            yield Request(self.url.rstrip("/") + path, dont_filter=False)


class Inline(Base):
    """Downloads `/copy` inside the callback of `/page`, and tells whether it came."""

    name = "inline"

    async def parse(self, response: Response, **_: Any) -> Any:
        if response.url.endswith("/page"):
            copy = await self.crawler.engine.download_async(Request(response.urljoin("/copy")))
            self.note("inline", [copy.url, copy.status, len(copy.body)])
        for entry in self.follow(response):
            yield entry


class Marks(Inline):
    """Notes what `Request.meta` of each page has of simcrawl's, before and after the page was judged."""

    name = "marks"

    async def parse(self, response: Response, **_: Any) -> Any:
        self.note("after", [response.url, *_ours(response.meta)])
        async for entry in super().parse(response):
            yield entry


class BeforeJudgement:
    """A downloader middleware that is further from the engine than simcrawl's."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        spider: Any = self._crawler.spider
        spider.note("before", [response.url, *_ours(request.meta)])
        return response


def _ours(meta: dict[str, Any]) -> list[str]:
    return [key for key in meta if "simcrawl" in key]


class Verdicts(Base):
    """Reads its verdicts."""

    name = "verdicts"

    def parse(self, response: Response, **_: Any) -> Any:
        verdict = simcrawl.verdict(response)
        assert verdict is not None
        self.note("verdicts", [response.url, verdict.kind.value, verdict.original])
        return self.follow(response)


class Front(Base):
    """Notes what becomes of each page, and parses none below `/hostile/`: that would cost more than anything that simcrawl does."""

    name = "front"

    def parse(self, response: Response, **_: Any) -> Any:
        verdict = simcrawl.verdict(response)
        assert verdict is not None
        self.note("verdicts", [response.url, verdict.kind.value, verdict.reason, verdict.original])
        return [item(response)] if "/hostile/" in response.url else self.follow(response)


class Broken(Base):
    """Its callback fails on `/first`, before or after an item came out."""

    name = "broken"
    late = ""

    def parse(self, response: Response, **_: Any) -> Any:
        if response.url.endswith("/first"):
            if self.late:
                yield item(response)
            raise RuntimeError("this page cannot be parsed")
        yield from self.follow(response)


class Waiting(Base):
    """Asks for `/second`, a copy of `/first`, while the callback of `/first` goes on with other downloads; then fails, or not."""

    name = "waiting"
    fail = ""

    async def parse(self, response: Response, **_: Any) -> Any:
        if response.url.endswith("/first"):
            yield Request(response.urljoin("/second"), priority=1)
            for number in range(20):
                await self.crawler.engine.download_async(Request(response.urljoin(f"/tick{number}")))
            if self.fail:
                raise RuntimeError("this page cannot be parsed")
        for entry in self.follow(response):
            yield entry


class Rules(CrawlSpider):
    """A CrawlSpider, whose requests all have a callback of its own."""

    name = "rules"
    url = ""
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url)

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield item(response)


class Sitemaps(SitemapSpider):
    """Finds its pages in robots.txt and a sitemap."""

    name = "sitemaps"
    url = ""

    async def start(self) -> AsyncIterator[Any]:
        self.sitemap_urls = [self.url.rstrip("/") + "/robots.txt"]
        async for request in super().start():
            yield request

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield item(response)


class Files(Base):
    """Lets the files pipeline download two equal pages as files."""

    name = "files"

    def parse(self, response: Response, **_: Any) -> Any:
        yield item(response, file_urls=[response.urljoin("/file-a.html"), response.urljoin("/file-b.html")])

    def on_item(self, item: Any) -> None:
        self.note("files", [file["url"] for file in item["files"]])


class Sections(Base):
    """Yields several items a page: one for every <section>."""

    name = "sections"

    def parse(self, response: Response, **_: Any) -> Any:
        for number, section in enumerate(response.css("section")):
            yield {"url": f"{response.url}#{number}", "text": " ".join(section.css("::text").getall())}


class Hurried(SiteSpider):
    """Takes no main text that takes longer than a hundredth of a second."""

    name = "hurried"

    async def start(self) -> AsyncIterator[Any]:
        workers: Any = Session.of(self.crawler).workers
        workers._text_pool = TextPool(1, workers._pool._starter, max_seconds=0.01)
        async for request in super().start():
            yield request


class Textless(Hurried):
    """Has no process for texts."""

    name = "textless"

    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            workers: Any = Session.of(self.crawler).workers
            workers._text_pool.close()
            yield request


class Suicidal(Base):
    """Writes every item to a file at once, and kills its own process after so many."""

    name = "suicidal"
    path = ""
    after = "0"

    def on_item(self, item: Any) -> None:
        with Path(self.path).open("a") as file:
            file.write(item["url"] + "\n")
        self.scraped = getattr(self, "scraped", 0) + 1
        if self.scraped == int(self.after):
            os.kill(os.getpid(), signal.SIGKILL)

    def on_drop(self, request: Request, response: Response, verdict: simcrawl.Verdict, spider: Spider) -> None:
        with Path(self.path + ".dropped").open("a") as file:
            file.write(f"{response.url} {verdict.original}\n")


class TwoCallbacks(Base):
    """Follows `/list` with a callback that yields links only, and everything else with one that yields items."""

    name = "two-callbacks"

    def parse(self, response: Response, **_: Any) -> Any:
        yield item(response)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, callback=self.parse_links if "list" in href else self.parse)

    def parse_links(self, response: Response) -> Iterator[Any]:
        yield from (response.follow(href) for href in response.css("a::attr(href)").getall())


class Shells(Base):
    """Asks an interface for what a page's script would show."""

    name = "shells"

    def parse(self, response: Response, **_: Any) -> Any:
        yield item(response)
        if "/shell" in response.url:
            yield Request(response.url.replace("/shell", "/api"), self.parse_data)
        yield from (response.follow(href) for href in response.css("a::attr(href)").getall())

    def parse_data(self, response: Response) -> Iterator[Any]:
        yield item(response)


class Quiet:
    """A spider middleware that swallows every failure of a callback."""

    def process_spider_exception(self, response: Response, exception: Exception) -> Any:
        return []


class Gate:
    """A spider middleware that lets `/first` fail before its callback."""

    def process_spider_input(self, response: Response) -> None:
        if response.url.endswith("/first"):
            raise RuntimeError("this page must not be parsed")


class Renderer:
    """A downloader middleware that gives every page a body of its own, as a browser would."""

    def process_response(self, request: Request, response: Response) -> Response:
        rendered = f"<html><body>{page_of(request.url)}</body></html>"
        return response.replace(body=rendered.encode())


class Detour:
    """A downloader middleware that has another program fetch every page, as those do that have it rendered."""

    def process_request(self, request: Request) -> Request | None:
        if "by=other" in request.url:
            return None
        return request.replace(url=f"{request.url}{'&' if '?' in request.url else '?'}by=other", dont_filter=True)

    def process_response(self, request: Request, response: Response) -> Response:
        return response.replace(url=request.url.partition("by=other")[0][:-1])


def page_of(url: str) -> str:
    """Return another text for every page."""
    return "<p>" + " ".join(f"{url.rpartition('/')[2]}{number}" for number in range(100)) + "</p>"


class Refuser:
    """A downloader middleware that refuses `/first` when everybody has seen it."""

    def process_response(self, request: Request, response: Response) -> Response:
        if request.url.endswith("/first"):
            raise IgnoreRequest("not this page")
        return response


class RefusingPipeline:
    """Drops the item of `/first`, and sections that begin with another word than the first of the text."""

    def process_item(self, item: Any) -> Any:
        if item["url"].endswith(("/first", "#0")):
            raise DropItem("not wanted")
        return item


class KillingPipeline:
    """Kills the process with the first item."""

    def process_item(self, item: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class CopyingPipeline:
    """Returns other items than it gets."""

    def process_item(self, item: Any) -> Any:
        return dict(item)


class Picky:
    """A spider middleware that takes the item of `/first` out."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for entry in result:
            if isinstance(entry, Request) or not response.url.endswith("/first"):
                yield entry


def slow_text(body: bytes, encoding: str, url: str) -> str:
    """Return a page's text, of `/first` only after longer than the test allows."""
    if url.endswith("/first"):
        Event().wait(4)
    return re.sub("<[^>]*>", " ", body.decode(encoding))


class FailingPipeline:
    """Fails on the item of `/first`."""

    def process_item(self, item: Any) -> Any:
        if item["url"].endswith("/first"):
            raise RuntimeError("this item cannot be stored")
        return item


class Breaking:
    """A downloader middleware that breaks a method of simcrawl's own, as a mistake in it would: TEST_BROKEN names it."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        module, owner, name = crawler.settings["TEST_BROKEN"].rsplit(".", 2)

        def broken(*_: Any, **__: Any) -> None:
            raise RuntimeError("broken by the test")

        setattr(getattr(import_module(module), owner), name, broken)
        return cls()


class Sabotage:
    """A downloader middleware that damages the store under a running crawl, when `/sabotage` comes."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        return cls(crawler.settings["TEST_STORE_FILE"])

    def process_response(self, request: Request, response: Response) -> Response:
        if request.url.endswith("/sabotage"):
            size = self._path.stat().st_size
            with self._path.open("r+b") as file:
                # All but the two meta pages, which LMDB reads once.
                file.seek(8192)
                file.write(b"\xff" * (size - 8192))
        return response


class Reported(Base):
    """Goes on until the crawl has told once how far it is, or a thousand pages."""

    name = "reported"

    async def parse(self, response: Response, **_: Any) -> Any:
        stats: Any = self.crawler.stats
        for number in range(1000):
            if stats.get_value("simcrawl/store/pages") is not None:
                break
            await self.crawler.engine.download_async(Request(response.urljoin(f"/tick{number}")))
        for entry in self.follow(response):
            yield entry


class Unmeasurable(Reported):
    """Breaks what tells the size of its store, and goes on until that was noticed."""

    name = "unmeasurable"

    async def parse(self, response: Response, **_: Any) -> Any:
        from simcrawl.crawl.session import Session

        store: Any = Session.of(self.crawler).store
        store.size = None
        stats: Any = self.crawler.stats
        for number in range(1000):
            if stats.get_value("simcrawl/store/errors"):
                break
            await self.crawler.engine.download_async(Request(response.urljoin(f"/tick{number}")))
        for entry in self.follow(response):
            yield entry


class Labelled(Base):
    """Notes the content that a page of an example site says it has."""

    name = "labelled"

    def on_item(self, item: Any) -> None:
        self.note("content", item["content"])

    def parse(self, response: Response, **_: Any) -> Any:
        yield item(response, content=(response.headers.get("X-Content") or b"").decode())
        yield from (response.follow(href) for href in response.css("a::attr(href)").getall())


class WorkerKiller(Base):
    """Kills every process that comes of its own in the callback of `/first`."""

    name = "worker-killer"

    def parse(self, response: Response, **_: Any) -> Any:
        if response.url.endswith("/first"):
            for pid in offspring():
                os.kill(pid, signal.SIGKILL)
                self.note("killed", pid)
        return self.follow(response)


class Resumed(Base):
    """Takes pages from the hubs `/a`, `/b` that `halves` names, and says of each item what content it is of. `text` is part of every item.

    With `fatal` its process is killed when the store and the crawl have so many pages.
    """

    name = "resumed"
    halves = "ab"
    fatal = ""
    text = ""

    async def start(self) -> AsyncIterator[Any]:
        for half in self.halves:
            yield Request(self.url + half, self.parse_hub, dont_filter=True, meta={"simcrawl": False})
        if self.fatal:
            self.crawler.signals.connect(self.stay, signal=scrapy_signals.spider_idle)
            Thread(target=self.kill, daemon=True).start()

    def stay(self) -> None:
        raise DontCloseSpider

    def kill(self) -> None:
        from simcrawl.crawl.session import Session

        session = Session.of(self.crawler)
        # The crawl's own pages are written first, but what came out between the two commits is in the lasting store alone.
        while min(session.store.counts()["pages"], session.detector.crawl.pages) < int(self.fatal):
            Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGKILL)

    def parse_hub(self, response: Response) -> Any:
        yield from (response.follow(href) for href in response.css("a::attr(href)").getall())

    def parse(self, response: Response, **_: Any) -> Any:
        yield item(response, content=f"<{response.url.rpartition('/')[2]}>", text=self.text)


class DerivedExporter(JsonLinesItemExporter):
    """Writes as its base does."""


class PickyExporter(JsonLinesItemExporter):
    """Cannot write the items of `/first`."""

    def export_item(self, item: Any) -> None:
        if item["url"].endswith("/first"):
            raise UnicodeEncodeError("utf-8", item["url"], 0, 1, "surrogates not allowed")
        super().export_item(item)


class SilentFeeds(FeedExporter):
    """Tells nobody that its feeds are closed."""

    async def close_spider(self, spider: Spider) -> None:
        for slot in self.slots:
            await self._close_slot(slot, spider)


class PickyFilter(ItemFilter):
    """Fails on the items of `/first`."""

    def accepts(self, item: Any) -> bool:
        return bool(item["url"].partition("/first")[1] != "/first" or item["price"])


class FailingAtTheEnd(JsonLinesItemExporter):
    """Cannot write what belongs behind the last item."""

    def finish_exporting(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


class FullFile:
    """A file that takes nothing any more."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class HoardingExporter(BaseItemExporter):
    """Keeps all items until the end."""

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(**options)

    def export_item(self, item: Any) -> None:
        """Keep it."""


class OwnStorage(FileFeedStorage):
    """Opens files in a way of its own."""

    def __init__(self, uri: str, **options: Any) -> None:
        super().__init__(uri.removeprefix("own://"), **options)

    def open(self, spider: Spider) -> Any:
        return super().open(spider)


class FeedBreaker(Base):
    """Gives the feed something else than a file."""

    name = "feed-breaker"

    def parse(self, response: Response, **_: Any) -> Any:
        yield from self.follow(response)
        exporter = self.crawler.get_extension(FeedExporter)
        assert exporter
        for slot in exporter.slots:
            slot.file = cast("Any", object())


class DiskFiller(Base):
    """Lets no file grow any more from its first page on, as a full disk does."""

    name = "disk-filler"

    def parse(self, response: Response, **_: Any) -> Any:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
        yield from self.follow(response)
