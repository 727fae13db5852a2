"""Items of copies count for Scrapy's limits of pages and seconds without an item.

CLOSESPIDER_PAGECOUNT_NO_ITEM and CLOSESPIDER_TIMEOUT_NO_ITEM close a crawl that gives nothing any more: it has been locked out, or the site
has another mark-up. A row of copies is no such thing, for their callbacks give items. Without simcrawl these come out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.extensions.closespider import CloseSpider

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class NoItemLimits:
    """The limits of one crawler, and whether it has any."""

    def __init__(self) -> None:
        self._closer: CloseSpider | None = None

    def watch(self, crawler: Crawler) -> None:
        """Look for the limits, when the spider is opened."""
        self._closer = crawler.get_extension(CloseSpider)

    def dropped(self) -> None:
        """Note that an item of a copy was dropped: a callback gave it.

        No signal is sent for that, which others would take for an item. So it is written where the extension itself counts.
        """
        if self._closer is None:
            return
        self._closer.counter["pagecount_since_last_item"] = 0
        if self._closer.close_on["timeout_no_item"]:
            self._closer.items_in_period += 1
