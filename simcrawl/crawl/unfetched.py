"""The answer to a request that is made again is the page that was dropped, which need not be fetched a second time.

    request made again ──► what all middlewares do to a request ──► here ── page held ────► the same way back, in place of an answer
                                                                     └───── none, or ──► fetched: what is held takes its place later
                                                                            not sure

The middlewares see the page on its way back as one from a cache: they have made it what it is already, so what they make of it now is not
what comes out. The page that is held takes its place once they are done, as it does where it is fetched (`simcrawl.crawl.downloader`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object
from scrapy.utils.response import get_meta_refresh

from simcrawl.crawl.marks import AGAIN, ANSWERED
from simcrawl.crawl.session import OfSession

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from simcrawl.crawl.session import Session

# Scrapy's cache, in `Request.meta`: it has a page that is too old, and compares what comes with it.
_COMPARED = "cached_response"
# Scrapy's cache stores no page with this flag. What is held is no longer what the server has sent.
_FROM_CACHE = "cached"
# They speak of the body as it was sent.
_OF_THE_WAY = ("Content-Encoding", "Transfer-Encoding")


class HeldPageMiddleware(OfSession):
    """Answers requests that are made again from what is held. Nearest the downloader: the other middlewares see them as ever."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        settings = session.crawler.settings
        self._downloads_plainly = cache(lambda scheme: _is_scrapys(settings, scheme))

    def process_request(self, request: Request) -> Response | None:
        """Return the page that was dropped; None for any request that is to be fetched. Never raises."""
        if AGAIN not in request.meta:
            return None
        try:
            answer = self._answer(request)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the page is fetched
            self._session.failed(exc)
            return None
        if answer is not None:
            request.meta[ANSWERED] = True
            self._session.stats.inc_value("simcrawl/pages/asked_again/not_fetched")
        return answer

    def _answer(self, request: Request) -> Response | None:
        # Somebody who has seen the page wants another one: to tell him the same forever would never end.
        if ANSWERED in request.meta or _COMPARED in request.meta or not self._downloads_plainly(urlparse_cached(request).scheme):
            return None
        page = self._session.again.page(request, of_this_run=True)
        # A response of another class is some component's own. What would be followed now was not when the page came.
        if type(page) is not HtmlResponse or get_meta_refresh(page) != (None, None):
            return None
        for name in _OF_THE_WAY:
            page.headers.pop(name, None)
        return page.replace(flags=[*page.flags, _FROM_CACHE])


def _is_scrapys(settings: BaseSettings, scheme: str) -> bool:
    """Return whether Scrapy itself downloads: another one may leave things in `meta`, such as the page of a browser."""
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    return all(load_object(used).__module__.startswith("scrapy.core.") for used in (settings["DOWNLOADER"], handlers[scheme]))
