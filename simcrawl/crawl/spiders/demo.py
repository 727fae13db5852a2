"""A demonstration that needs no network: `scrapy crawl demo` serves a small real site on loopback, crawls it, and tells."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table
from scrapy import signals as scrapy_signals

from simcrawl.crawl import signals
from simcrawl.crawl.demo_server import demo_server
from simcrawl.crawl.spiders.site import SiteSpider
from simcrawl.rule import Kind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from simcrawl.rule import Verdict

# So many dropped pages are shown, of all that there are.
_SHOWN = 12
_WIDTH = 122


class DemoSpider(SiteSpider):
    """Crawls two releases of a manual in English and Chinese, and a mirror of the older one."""

    name = "demo"
    custom_settings: dict[str, Any] | None = {  # noqa: RUF012 - Scrapy reads it from the class
        # The same result every time: a store that lasts would know all pages from the first run, and seeds move estimates.
        "SIMCRAWL_STORE": "memory:?seed=1",
        "LOG_LEVEL": "INFO",
        # It lasts some seconds, and nobody knows that yet.
        "LOGSTATS_INTERVAL": 2.0,
        # One after the other and breadth first, so that the mirror, linked last, is the copy.
        "CONCURRENT_REQUESTS": 1,
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._drops: list[tuple[str, Verdict]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Return the spider, listening for drops."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.note, signal=signals.page_dropped)
        crawler.signals.connect(spider.tell, signal=scrapy_signals.engine_stopped)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Serve the site on a free port of the loopback interface and start there."""
        server = demo_server()
        Thread(target=server.serve_forever, daemon=True, name="demo-site").start()
        self.crawler.signals.connect(server.shutdown, signal=scrapy_signals.engine_stopped, weak=False)
        self.url = f"http://127.0.0.1:{server.server_port}/index.html"
        Console().print(f"Crawling {self.url}, which this machine serves itself. What is dropped is told at the end.", soft_wrap=True)
        async for request in super().start():
            yield request

    def note(self, request: Request, verdict: Verdict) -> None:
        """Remember a dropped page."""
        self._drops.append((request.url, verdict))

    def tell(self) -> None:
        """Say what was dropped, and as a copy of what."""
        stats: Any = self.crawler.stats
        console = Console()
        console.width = max(console.width, _WIDTH)
        # Of those that differ first: a mirror's pages say little.
        console.print(_table(sorted(self._drops, key=_likeness)[:_SHOWN]))
        checked, dropped = (stats.get_value(f"simcrawl/pages/{name}", 0) for name in ("checked", "dropped"))
        links = stats.get_value("simcrawl/outlinks/followed", 0)
        console.print(f"{checked} pages checked, {dropped} dropped as copies, of which {min(_SHOWN, len(self._drops))} are shown; ", end="")
        console.print(f"{links} links on them were followed.")


def _table(drops: list[tuple[str, Verdict]]) -> Table:
    table = Table(title="Dropped pages", title_justify="left")
    for heading in ("page", "why", "is a copy of", "bits", "similarity"):
        table.add_column(heading, overflow="fold")
    for url, verdict in drops:
        similarity = "" if verdict.similarity is None else f"{verdict.similarity:.3f}"
        table.add_row(_path(url), verdict.reason, _path(verdict.original or ""), str(verdict.distance), similarity)
    return table


def _likeness(drop: tuple[str, Verdict]) -> tuple[bool, float, str]:
    url, verdict = drop
    return verdict.kind is Kind.EXACT_DUPLICATE, verdict.similarity or 0.0, url


def _path(url: str) -> str:
    return urlsplit(url).path
