"""What has changed since the last finished crawl of the same spider: told to callbacks, in the stats, and in the store's history."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from simcrawl.errors import StoreError
from simcrawl.rule import Kind
from simcrawl.store.crawls import Since, content_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.http import Response

    from simcrawl.rule import Rule, Verdict
    from simcrawl.store import Crawl

CHANGE = "simcrawl_change"
"""Key of `Request.meta` and `Response.meta`: "new", "unchanged" or "changed"."""
OWED = "_simcrawl_owed"
"""Key of `Request.meta`: [URL, what the page said] of pages of which nothing has come yet, and whose data the request carries on."""
# Of them the last ones: an item is made of so many pages at most.
_MOST_OWED = 8
# Answers that say that there is no such page. Others (a server that fails, a page that wants a login) say nothing of it.
_NO_SUCH_PAGE = (404, 410)
# URLs that a record of a crawl names, of each kind.
_MOST_NAMED = 200


class Changes:
    """Notes every URL that a crawl comes across, and what has become of its page."""

    def __init__(self, crawl: Crawl, stats: Any, known_as: Callable[[str], str], rule: Rule) -> None:
        self._crawl, self._stats, self._known_as, self._rule = crawl, stats, known_as, rule
        self._named: dict[str, list[str]] = {"new": [], "changed": [], "gone": [], "not met again": []}
        self._turned: dict[str, list[str]] = {"copies now": [], "kept now": []}
        self._turns = dict.fromkeys(self._turned, 0)
        self._owed: WeakKeyDictionary[Request, list[list[str]]] = WeakKeyDictionary()

    def arrived(self, request: Request) -> None:
        """Note of which pages a request carries data."""
        if owed := request.meta.pop(OWED, None):
            self._owed[request] = owed

    def owed_by(self, request: Request) -> list[list[str]]:
        """Return the pages of which something comes with an item of this one's, for `came`."""
        return self._owed.get(request, [])

    def hand_on(self, request: Request, carries: Request) -> None:
        """Note that a callback has yielded a request with data of its page: what comes of that one has come of its own page, too."""
        if owed := self._owed.get(request):
            carries.meta[OWED] = owed[-_MOST_OWED:]

    def judged(self, request: Request, url: str, verdict: Verdict) -> None:
        """Note a page that was judged, and tell its callback what has become of it."""
        if request.method != "GET":
            return
        self._seen(request.meta.get("redirect_urls", ()))
        page, url = verdict.page, self._known_as(url)
        if page is None:
            self._crawl.visit(url)
            return
        content = content_of(page)
        since = self._crawl.since(url, content)
        was_kept = self._crawl.was_kept(url)
        if was_kept is not None and was_kept is verdict.drop_page:
            self._turn("copies now" if was_kept else "kept now", url)
        change, told = self._as_a_copy(since, verdict, was_kept=was_kept)
        request.meta[CHANGE] = told
        # Of what is dropped unseen nothing can come.
        is_owed = told != "unchanged" and not (verdict.drop_page and verdict.drop_outlinks)
        self._crawl.visit(url, content, kept=not verdict.drop_page, owed=is_owed, again=verdict.kind is not Kind.ADMITTED)
        if is_owed:
            self._owed[request] = [*self.owed_by(request), [url, content.hex()]]
        self._stats.inc_value(f"simcrawl/changes/{change}")
        # Where every page is new there is nothing to name.
        if change in self._named and self._crawl.knows_a_last_crawl and len(self._named[change]) < _MOST_NAMED:
            self._named[change].append(url)

    def _as_a_copy(self, since: Since, verdict: Verdict, *, was_kept: bool | None) -> Since:
        """Return what has become of a page, also of one that is or was a copy.

        What was a copy and is kept now is new: a spider that wants nothing but changes has never had it. Unless the page that it was a
        copy of says the same: of two such pages the one that happens to come first is kept, now this one and now that one. And what was not
        fetched the last time is not new if it is a copy of what came out then: of the pages that may be skipped each crawl fetches others.
        """
        page, drop = verdict.page, verdict.drop_page
        was_copy = since.change == "unchanged" and was_kept is False and not drop
        if page is None or not (was_copy or (since.change == "new" and was_kept is None)):
            return since
        kept_as = self._crawl.kept_as(page, self._rule, verdict.original if drop else None)
        if not kept_as:
            return Since("new", "new" if since.told == since.change else since.told)
        is_owed = since.told == "changed" or self._crawl.is_owed(kept_as)
        return Since("unchanged", "changed" if is_owed else "unchanged")

    def came(self, owed: list[list[str]]) -> None:
        """Note that something has come of pages: of what nothing has come a callback is told the next time that it has changed."""
        # Where that cannot be noted they come once more.
        with suppress(StoreError, ValueError):
            for url, content in owed:
                self._crawl.came(url, bytes.fromhex(content))

    def lost(self, url: str) -> None:
        """Note that a page was to be kept and its content did not come out: its callback failed, or a pipeline refused its items."""
        self._crawl.lost(url)

    def _turn(self, kind: str, url: str) -> None:
        self._turns[kind] += 1
        if len(self._turned[kind]) < _MOST_NAMED:
            self._turned[kind].append(url)

    def fetched(self, request: Request, response: Response) -> None:
        """Note a response that is not judged."""
        self._seen(request.meta.get("redirect_urls", ()))
        if response.status in _NO_SUCH_PAGE:
            self._crawl.no_such_page(self._known_as(response.url))
        else:
            self._seen((response.url,))

    def failed(self, request: Request) -> None:
        """Note a page that could not be had."""
        self._seen((*request.meta.get("redirect_urls", ()), request.url))

    def _seen(self, urls: Iterable[str]) -> None:
        for url in urls:
            self._crawl.visit(self._known_as(url))

    def end(self) -> None:
        """Note, after the crawl was left, what is gone, and what was not met again."""
        if self._crawl.gone is not None:
            self._stats.set_value("simcrawl/changes/gone", self._crawl.gone)
            self._stats.set_value("simcrawl/changes/not_met", self._crawl.not_met)
            self._named |= {"gone": self._crawl.gone_urls, "not met again": self._crawl.not_met_urls}

    def record(self) -> dict[str, Any]:
        """Return what a record of the crawl says of it: of each kind how many pages, None where that is unknown, and some URLs."""
        counts = {kind: self._stats.get_value(f"simcrawl/changes/{kind}") for kind in ("new", "unchanged", "changed")}
        counted = {kind: count or 0 for kind, count in counts.items()} | self._turns
        missing = {"gone": self._crawl.gone, "not met again": self._crawl.not_met}
        return counted | missing | {"urls": self._named | self._turned}
