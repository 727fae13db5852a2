"""The downloader middleware: lets requests wait that are likely copies, and finds out what a response is. It never drops one.

Dropping here would also hit downloads inside callbacks, hide pages from `response_received`, and let the output of errbacks
bypass spider middlewares; that is the spider middleware's part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from simcrawl.crawl.carried import CARRIED
from simcrawl.crawl.changes import CHANGE
from simcrawl.crawl.marks import AGAIN, ANSWERED, ASKED, JUDGED_AGAIN, META_KEY, SAMPLED, UNYIELDED, YIELDED, is_start
from simcrawl.crawl.session import OfSession

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

_SUCCESS = range(200, 300)
_PARTIAL_CONTENT = 206
# Scrapy's flags of bodies that end too soon: DOWNLOAD_FAIL_ON_DATALOSS is off, or somebody has seen enough (StopDownload). Not its
# "partial": a server that tells no length, and is at its end when it hangs up.
_CUT_OFF = {"dataloss", "download_stopped"}


class NearDuplicateDownloaderMiddleware(OfSession):
    """Binds a verdict to the request of every page that may be judged."""

    async def process_request(self, request: Request) -> Request | None:
        """Return None for a request that is to be made now, otherwise one that the engine puts back in the queue, or drops."""
        return await self._session.frontier.ask(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, unchanged, once its verdict is known. Never raises: Scrapy would take that for a failed download.

        To a request that was made again the answer is the page that was dropped, if it is held: a link may have served once.
        """
        if AGAIN in request.meta or JUDGED_AGAIN in request.meta:
            response = self._first_page(request) or response
        try:
            await self._look(request, response)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self._session.failed(exc)
        return response

    async def _look(self, request: Request, response: Response) -> None:
        # A callback that downloads a page itself would wait for its own end. Such a request no spider yielded.
        unyielded = bool(request.meta.pop(UNYIELDED, False))
        yielded = bool(request.meta.pop(YIELDED, False)) or (request.callback is not None and not unyielded)
        # Of a page whose meta a callback handed on.
        request.meta.pop(CHANGE, None)
        request.meta.pop(ANSWERED, None)
        sampled = bool(request.meta.pop(SAMPLED, False))
        self._session.changes.arrived(request)
        taken_back = bool(request.meta.pop(AGAIN, False))
        never_drop = taken_back or _never_dropped(request, unyielded=unyielded)
        self._session.frontier.pass_by(response)
        # NO_CALLBACK: robots.txt and media. A robots.txt that vanished would read as "everything is allowed".
        if request.callback is NO_CALLBACK:
            request.meta.pop(CARRIED, None)
            return
        if (reason := skip_reason(request, response)) is None:
            verdict = await self._session.judge(request, response, never_drop=never_drop, yielded=yielded, taken_back=taken_back)
            if sampled:
                self._session.frontier.sampled(verdict)
        else:
            self._session.changes.fetched(request, response)
            if reason != "status":
                self._session.frontier.answered(request, response)
            self._session.preferred.redirected(request.meta.get("redirect_urls", ()), response.url)
            self._session.preferred.arrived(response.url)
        # Not sooner, for what follows depends on them; and no callback is to find what only simcrawl reads.
        request.meta.pop(CARRIED, None)
        request.meta.pop(JUDGED_AGAIN, None)

    def _first_page(self, request: Request) -> Response | None:
        try:
            return self._session.again.page(request)
        except Exception as exc:  # noqa: BLE001 - a response of the user's own may not let itself be copied
            self._session.failed(exc)
            return None

    def process_exception(self, request: Request, exception: Exception) -> Response | None:  # noqa: ARG002 - Scrapy passes it
        """Note that a page was asked for in vain: whether it is gone nobody knows. Never raises.

        For a request that was made again the page that was dropped is the answer.
        """
        if request.callback is NO_CALLBACK:
            return None
        if (AGAIN in request.meta or JUDGED_AGAIN in request.meta) and (page := self._first_page(request)):
            return page
        try:
            self._session.changes.failed(request)
            self._session.preferred.arrived(request.url, answered=False)
        except Exception as exc:  # noqa: BLE001 - as above
            self._session.failed(exc)
        return None


def skip_reason(request: Request, response: Response) -> str | None:
    """Return why a response is not looked at; None where it is."""
    if request.meta.get(META_KEY) is False:
        return "opted_out"
    if response.status not in _SUCCESS:
        return "status"
    # The rest would be lost with a whole page that is called its copy.
    if response.status == _PARTIAL_CONTENT or not _CUT_OFF.isdisjoint(response.flags):
        return "cut_off"
    return None if isinstance(response, HtmlResponse) else "not_html"


def _never_dropped(request: Request, *, unyielded: bool) -> bool:
    """Return whether the user has asked for this very page. `unyielded`: no spider has yielded the request."""
    meta = request.meta
    # Only its callback or errback closes a Playwright page; dropped without either it would stay open until the crawl freezes.
    leaks = "playwright_page" in meta and request.errback is None
    # Scrapy sets it, too, where it tries again, and so do middlewares that lead a request elsewhere: to a program that renders pages, say.
    is_set_later = meta.get("retry_times") or (CARRIED in meta and not unyielded)
    asked = request.dont_filter and (meta.get(ASKED) is True or not is_set_later)
    return asked or is_start(request) or request.method != "GET" or leaks
