"""Pages that were dropped by mistake are asked for again.

A copy may say a line more than its original: the address of a print view, or a price that the original has not. Which of both it is shows
when another copy says something else there (`simcrawl.store.dropped`). The page that was dropped before is gone by then, so its request is
made once more, and kept then, whoever gets it: another process with the same queue knows nothing of the first time.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

from simcrawl.crawl.frontier import AGAIN, ORDER, RETURNED, YIELDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request

    from simcrawl.crawl.common import Common

logger = logging.getLogger(__name__)

# What their meta holds is the spider's own, of any size.
_MOST = 1_000


class Again:
    """The requests of such pages, for one crawler. On the event loop."""

    def __init__(self, common: Common) -> None:
        self._common = common
        self._held: OrderedDict[str, Request] = OrderedDict()
        self._told = False

    def hold(self, url: str, request: Request) -> None:
        """Hold the request of a page that is dropped and may be none to drop; of a thousand pages."""
        # Now, as long as it has what simcrawl noted on it. A class of the spider's own may not let itself be copied.
        with suppress(Exception):
            self._held[url] = request.replace(dont_filter=True)
        if len(self._held) > _MOST:
            self._held.popitem(last=False)

    def ask(self, urls: Iterable[str], shown_by: str) -> None:
        """Make the requests of some pages once more, as another page shows that they were no copies. Never raises."""
        for url in urls:
            if request := self._held.pop(url, None):
                try:
                    self._ask(url, request, shown_by)
                except Exception as exc:  # noqa: BLE001 - whatever it is, what has shown it is kept
                    self._common.failed(exc)

    def _ask(self, url: str, request: Request, shown_by: str) -> None:
        engine = self._common.crawler.engine
        if engine is None:
            return
        # The mark tells whose `dont_filter` it is: a redirect must not leave the site for it.
        request.meta.update({ORDER: RETURNED, YIELDED: True, AGAIN: True})
        engine.crawl(request)
        self._common.stats.inc_value("simcrawl/pages/asked_again")
        level = logging.DEBUG if self._told else logging.INFO
        logger.log(level, _TOLD, url, shown_by, extra={"spider": self._common.crawler.spider})
        self._told = True


_TOLD = "%s was dropped as a copy, and %s shows that it is none: it is fetched again"
