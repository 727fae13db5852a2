"""The downloader middleware: finds out what a response is. It never drops one.

Dropping here would also hit downloads inside callbacks, hide pages from `response_received`, and let the output of errbacks
bypass spider middlewares; that is the spider middleware's part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from simcrawl.crawl.changes import CHANGE
from simcrawl.crawl.session import YIELDED, Session

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

META_KEY = "simcrawl"
_SUCCESS = range(200, 300)


class NearDuplicateDownloaderMiddleware:
    """Binds a verdict to the request of every page that may be judged."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of a crawler.

        Raises:
            SettingError: a setting has a wrong value.
            StoreError: the store cannot be used.
        """
        return cls(Session.of(crawler))

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, unchanged, once its verdict is known."""
        yielded = bool(request.meta.pop(YIELDED, False))
        # Of a page whose meta a callback handed on.
        request.meta.pop(CHANGE, None)
        # NO_CALLBACK: robots.txt and media. A robots.txt that vanished would read as "everything is allowed".
        if request.callback is NO_CALLBACK:
            return response
        if skip_reason(request, response) is None:
            await self._session.judge(request, response, never_drop=_never_dropped(request), yielded=yielded)
        else:
            self._session.changes.fetched(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002 - Scrapy passes it
        """Note that a page was asked for in vain: whether it is gone nobody knows."""
        if request.callback is not NO_CALLBACK:
            self._session.changes.failed(request)


def skip_reason(request: Request, response: Response) -> str | None:
    """Return why a response is not looked at; None where it is."""
    if request.meta.get(META_KEY) is False:
        return "opted_out"
    if response.status not in _SUCCESS:
        return "status"
    return None if isinstance(response, HtmlResponse) else "not_html"


def _never_dropped(request: Request) -> bool:
    """Return whether the user has asked for this very page."""
    meta = request.meta
    # Only its callback or errback closes a Playwright page; dropped without either it would stay open until the crawl freezes.
    leaks = "playwright_page" in meta and request.errback is None
    # The mark of a start request travels with meta=response.meta; the depth tells who really is one.
    starts = bool(meta.get("is_start_request")) and not meta.get("depth")
    return request.dont_filter or starts or request.method != "GET" or leaks
