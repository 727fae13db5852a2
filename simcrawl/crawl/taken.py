"""Whether a feed takes an item: one that no feed takes has not come out.

A feed may have a filter, or classes of items that it takes. Where every feed of a crawl has, the page for printing may give an item that
none of them wants, and its article one that is wanted. So a page whose items no feed has taken counts as one that gave none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.extensions.feedexport import FeedExporter, ItemFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler


class Taken:
    """The filters of one crawler's feeds."""

    def __init__(self, failed: Callable[[Exception], object]) -> None:
        """`failed(exception)` is told where a filter of the user's own fails."""
        self._failed = failed
        self._filters: list[_AskedOnce] = []

    def watch(self, crawler: Crawler) -> None:
        """Ask the feeds' filters from now on, if every feed has one; before the first item."""
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


def _refuses(feed_filter: ItemFilter) -> bool:
    """Return whether a filter may refuse an item."""
    return type(feed_filter) is not ItemFilter or bool(feed_filter.item_classes)
