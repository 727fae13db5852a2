"""Who takes the items: one that no feed takes has not come out, nor has one that nobody takes at all.

A feed may have a filter, or classes of items that it takes. Where every feed of a crawl has, the page for printing may give an item that
none of them wants, and its article one that is wanted. So a page whose items no feed has taken counts as one that gave none.

A run without a feed, a trial, shows its items in the log, and they are gone. So the next crawl tells its pages as changed.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getAllReceivers, liveReceivers
from scrapy import signals
from scrapy.extensions.feedexport import FeedExporter, ItemFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler


class Taken:
    """The filters of one crawler's feeds."""

    def __init__(self, failed: Callable[[Exception], object]) -> None:
        """`failed(exception)` is told where a filter of the user's own fails."""
        self._failed = failed
        self._crawler: Crawler | None = None
        self._filters: list[_AskedOnce] = []

    def saves(self, *, taken: bool = True) -> bool:
        """Return whether an item is saved anywhere. `taken`: what `takes` says of it. Not to be asked before the first item."""
        return (taken and self._has_feeds) or self._has_others

    @cached_property
    def _has_feeds(self) -> bool:
        return self._crawler is None or self._crawler.get_extension(FeedExporter) is not None

    @cached_property
    def _has_others(self) -> bool:
        """Whether there is a pipeline, or a handler of `item_scraped`, but for Scrapy's own and ours."""
        try:
            return self._crawler is not None and _has_takers(self._crawler)
        except Exception as exc:  # noqa: BLE001 - components of the user's own may be anything
            self._failed(exc)
            return True

    def watch(self, crawler: Crawler) -> None:
        """Ask the feeds' filters from now on, if every feed has one; before the first item."""
        self._crawler = crawler
        exporter = crawler.get_extension(FeedExporter)
        if exporter is None or not exporter.filters or not all(map(_refuses, exporter.filters.values())):
            return
        made = {uri: _AskedOnce(of_user) for uri, of_user in exporter.filters.items()}
        # Feeds that begin later, or in another batch, take theirs from there.
        exporter.filters.update(made)  # type: ignore[arg-type]  # as Scrapy uses them
        for slot in exporter.slots:
            slot.filter = made[slot.uri_template]  # type: ignore[assignment]  # as above
        self._filters = list(made.values())

    def takes(self, item: Any) -> bool:
        """Return whether a feed takes an item that is scraped, or no feed refuses any. To be asked once an item, for every item."""
        # All of them are asked: what one has answered waits for its feed.
        answers = [self._is_taken(one, item) for one in self._filters]
        return not answers or any(answers)

    def _is_taken(self, one: _AskedOnce, item: Any) -> bool:
        try:
            return one.accepts(item)
        except Exception as exc:  # noqa: BLE001 - a filter of the user's own may do anything
            self._failed(exc)
            return True


class _AskedOnce:
    """A filter for its feed and for us: it asks the user's own once about an item, for that may remember what it was asked."""

    def __init__(self, of_user: ItemFilter) -> None:
        self._of_user = of_user
        # Both ask while one signal is sent, so there is never more than one item.
        self._asked: list[tuple[Any, bool]] = []

    def accepts(self, item: Any) -> bool:
        """Return whether the feed takes an item."""
        if self._asked and self._asked[0][0] is item:
            return self._asked.pop()[1]
        accepted = self._of_user.accepts(item)
        self._asked = [(item, accepted)]
        return accepted

    def __getattr__(self, name: str) -> Any:
        # Not its own, as while it is copied.
        if name == "_of_user":
            raise AttributeError(name)
        return getattr(self._of_user, name)


def _has_takers(crawler: Crawler) -> bool:
    pipelines: Any = crawler.engine.scraper.itemproc.middlewares
    handlers = liveReceivers(getAllReceivers(crawler, signals.item_scraped))
    owners = [*pipelines, *(getattr(handler, "__self__", handler) for handler in handlers)]
    return not all(map(_only_looks, owners))


def _only_looks(owner: Any) -> bool:
    """Return whether something is Scrapy's, or ours: those count items, and save none."""
    module = getattr(owner, "__module__", None) or type(owner).__module__
    return module.startswith(("scrapy.extensions.", "simcrawl."))


def _refuses(feed_filter: ItemFilter) -> bool:
    """Return whether a filter may refuse an item."""
    return type(feed_filter) is not ItemFilter or bool(feed_filter.item_classes)
