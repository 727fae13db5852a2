"""Whether the feeds could write what they were given: an item, and in the end the file.

    item is scraped ──► Scrapy's feed exporter ──► a filter, an exporter or a storage raises ──► the item has not come out
                    ──► the session, after it, asks whether that was so
    spider is closed ──► Scrapy stores the files ──► one cannot be stored ──► the crawl is none that the next one is compared with
                     ──► the session waits for that, then it leaves the crawl

Scrapy logs what is raised there, and goes on with the next item: nobody else is told. A page whose item is in no feed must be no original,
or the item of its copy, which could be written, is dropped for one that nobody has. Of several feeds the ones that come after the one that
failed are not even asked, so an item has come out only if no feed has failed on it: better twice in one feed than in none of the other.

Each feed has its exporter from its first item on, and another one with each batch. So what is called for each item is watched: on the
objects themselves, which may be of the user's own classes.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getAllReceivers, liveReceivers
from scrapy import signals
from scrapy.extensions.feedexport import FeedExporter
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot

_FAILED = "feedexport/failed_count/"


class Exported:
    """The feeds of one crawler, and whether they could write what they were given. All of it on the event loop."""

    def __init__(self, failed: Callable[[Exception], object]) -> None:
        """`failed(exception)` is told where something of the user's own cannot be watched."""
        self._failed = failed
        self._crawler: Crawler | None = None
        self._exporter: FeedExporter | None = None
        self._watched: list[FeedSlot] = []
        self._has_lost_item = self._has_lost_feed = False
        self._closed = Deferred[None]()

    def watch(self, crawler: Crawler) -> None:
        """Watch the feeds from now on; before the first item, and after the feeds' filters were exchanged."""
        self._exporter = crawler.get_extension(FeedExporter)
        if self._exporter is None:
            return
        self._crawler = crawler
        crawler.signals.connect(self._feeds_closed, signal=signals.feed_exporter_closed)
        for feed_filter in self._exporter.filters.values():
            self._guard(feed_filter, "accepts", self._lose_item)
        self._watch_new_feeds()
        # Where Scrapy's exporter stands behind us it opens them only now.
        crawler.signals.connect(self._watch_new_feeds, signal=signals.engine_started)

    def has_lost_item(self) -> bool:
        """Return whether a feed has failed on the item that is scraped. To be asked once an item, after Scrapy's own handler."""
        has_lost, self._has_lost_item = self._has_lost_item, False
        self._watch_new_feeds()
        return has_lost

    @property
    def is_closing(self) -> bool:
        """Whether feeds are yet to be stored."""
        if self._exporter is None or self._crawler is None or self._closed.called:
            return False
        # One of the user's own may tell nobody, or not be called: the crawl would never end.
        is_scrapys = type(self._exporter).close_spider is FeedExporter.close_spider
        handlers = liveReceivers(getAllReceivers(self._crawler, signals.spider_closed))
        return is_scrapys and self._exporter.close_spider in handlers

    async def are_stored(self) -> bool:
        """Return whether every feed could be stored, once that is known."""
        if self.is_closing:
            await maybe_deferred_to_future(self._closed)
        stats: Any = self._crawler.stats if self._crawler else None
        counts = stats.get_stats() if stats else {}
        return not self._has_lost_feed and not any(count for name, count in counts.items() if name.startswith(_FAILED))

    # ---- what happens to an item

    def _watch_new_feeds(self) -> None:
        """Watch the feeds that were opened since the last item: batches."""
        slots = self._exporter.slots if self._exporter else []
        for slot in slots:
            if slot not in self._watched:
                self._watch(slot)
        self._watched = list(slots)

    def _watch(self, slot: FeedSlot) -> None:
        watched: list[object] = []

        def watch_exporter() -> None:
            # Made with the first item.
            if slot.exporter is not None and slot.exporter not in watched:
                watched[:] = [slot.exporter]
                self._guard(slot.exporter, "export_item", self._lose_item)

        self._guard(slot, "start_exporting", self._lose_item, then=watch_exporter)
        # What writes all items at the end may fail at the end. Scrapy counts only what fails after that.
        self._guard(slot, "finish_exporting", self._lose_feed)

    def _guard(self, owner: Any, name: str, lose: Callable[[], None], *, then: Callable[[], None] | None = None) -> None:
        """Let `lose` be called when a method of an object raises, and `then` when it has returned. Never raises."""
        try:
            method = getattr(owner, name)

            @wraps(method)
            def guarded(*args: Any, **kwargs: Any) -> Any:
                try:
                    returned = method(*args, **kwargs)
                except Exception:
                    lose()
                    raise
                if then:
                    then()
                return returned

            setattr(owner, name, guarded)
        except Exception as exc:  # noqa: BLE001 - objects of the user's own may allow nothing
            self._failed(exc)

    def _lose_item(self) -> None:
        self._has_lost_item = True

    def _lose_feed(self) -> None:
        self._has_lost_feed = True

    def _feeds_closed(self) -> None:
        if not self._closed.called:
            self._closed.callback(None)
