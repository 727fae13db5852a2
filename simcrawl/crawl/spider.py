"""The spider middleware: drops pages and outlinks according to their verdicts, and confirms what came out."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import TextResponse

from simcrawl.crawl.carried import CARRIED, mark_carried
from simcrawl.crawl.case import case_of
from simcrawl.crawl.copied import Copy
from simcrawl.crawl.downloader import skip_reason
from simcrawl.crawl.exceptions import NearDuplicate
from simcrawl.crawl.item_values import texts_in
from simcrawl.crawl.marks import YIELDED, asked_for, unshared
from simcrawl.crawl.session import OfSession
from simcrawl.rule import Kind, Verdict
from simcrawl.urls.outlinks import MOST_LINKS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.http import Response

    from simcrawl.crawl.again import DroppedItems
    from simcrawl.crawl.case import Case
    from simcrawl.crawl.frontier import Links


_SHOWN_AT_ONCE = 1000
# Of one page, until its callback has ended.
_MOST_WAITING = 1_000


class NearDuplicateSpiderMiddleware(OfSession):
    """Acts on the verdict that the downloader middleware has bound to a response's request."""

    def process_spider_input(self, response: Response) -> None:
        """Count the verdict on a page; raise where page and outlinks are dropped, so that the callback never runs.

        Raises:
            NearDuplicate: the page and its outlinks are dropped.
        """
        try:
            self._act(response)
        except NearDuplicate:
            raise
        except Exception as exc:  # noqa: BLE001 - whatever it is, the page passes
            self._session.failed(exc)

    def _act(self, response: Response) -> None:
        case = case_of(response)
        if case and case.body != response.body:
            case = self._session.replaced(case, response)
        verdict = case.verdict if case else _unseen(response)
        self._session.count(verdict, size=len(response.body), taken_back=case is not None and case.taken_back)
        if verdict.is_duplicate:
            self._session.learn(response, verdict)
        if not (verdict.drop_page or verdict.drop_outlinks):
            return
        unparsed = verdict.drop_page and verdict.drop_outlinks
        links = verdict.page.outlinks if unparsed and verdict.page else 0
        self._session.tell(response, verdict, links=links)
        if case and unparsed:
            case.dropped_unparsed = True
            self._inc("outlinks/dropped", links)
            self._session.note_dropped()
            raise NearDuplicate(verdict, response)

    def process_spider_exception(self, response: Response, exception: Exception) -> Iterable[Any] | None:  # noqa: ARG002 - Scrapy passes it
        """Swallow our own exception."""
        return () if isinstance(exception, NearDuplicate) else None

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass on what the verdict allows, and confirm the page when all of it came out."""
        case, frontier = case_of(response), self._session.frontier
        shown = list[str]()
        if case is None or case.dropped_unparsed:  # the output of an errback is the user's own
            try:
                async for entry in result:
                    if isinstance(entry, Request):
                        self._show(entry, shown)
                    yield entry
            finally:
                frontier.show(shown)
                frontier.ended(response.request)
            return
        counts, links = Counter[str](), frontier.links(case.verdict, response.request)
        copy = Copy(partial(_said_by, response), response.url)
        try:
            async for entry in self._with_left(result, case):
                if isinstance(entry, Request):
                    passes = self._link_passes(entry, case, links, counts, shown)
                else:
                    passes = self._item_passes(entry, case, copy, counts)
                if not passes:
                    continue
                if copy.longer or copy.differs:
                    for item in self._left_before(copy, case, counts):
                        yield item
                yield entry
            case.exhausted = True
        finally:
            if not case.exhausted:
                case.fail()
            frontier.show(shown)
            self._tell_end(response, case, counts)
            frontier.ended(response.request)
        case.settle()

    def _tell_end(self, response: Response, case: Case, counts: Counter[str]) -> None:
        try:
            # Once a page: Scrapy's stats take as long for a link as all that is decided about it.
            for name, count in (+counts).items():
                self._inc(name, count)
            self._session.tell_links(response, case.links_dropped)
            if case.exhausted and case.items and case.verdict.page and not (counts["items/dropped"] or case.links_dropped):
                self._session.again.came_out(case.verdict.page.url)
        except Exception as exc:  # noqa: BLE001 - what is told of a page is no reason to lose it
            self._session.failed(exc)

    def _link_passes(self, entry: Request, case: Case, links: Links, counts: Counter[str], shown: list[str]) -> bool:
        verdict = case.verdict
        if entry.callback is None:
            entry.meta[YIELDED] = True
        if verdict.drop_page or verdict.drop_outlinks:
            counts["outlinks/dropped" if verdict.drop_outlinks else "outlinks/followed"] += 1
        self._session.frontier.found(entry, links)
        if verdict.drop_outlinks:
            case.links_dropped += 1
        else:
            self._session.has_asked_for(case, entry)
            self._show(entry, shown)
        return not verdict.drop_outlinks

    def _with_left(self, result: AsyncIterator[Any], case: Case) -> AsyncIterator[Any]:
        """Return what a callback gives; of a page that was asked for again, where it gives no items, those that were dropped before."""
        page = case.verdict.page
        dropped = self._session.again.left(page.url) if page and not case.verdict.drop_page else None
        return _or_else(result, dropped, case) if dropped else result

    def _item_passes(self, item: Any, case: Case, copy: Copy, counts: Counter[str]) -> bool:
        if case.verdict.drop_page and not self._session.gives(case):
            read = self._session.read(item)
            if self._session.is_from_elsewhere(case, read, copy):
                counts["items/fuller" if copy.is_fuller else "items/from_elsewhere"] += 1
            elif self._session.was_refused(case, item, read):
                counts["items/refused_before"] += 1
            elif not (case.again and case.dropped.lets_pass(item)):
                counts["items/dropped"] += 1
                self._session.note_dropped()
                # It has come out as that of the original.
                case.is_taken |= self._session.taken.saves()
                if (copy.has_new or copy.before) and not case.again and len(copy.waiting) + len(copy.alike) < _MOST_WAITING:
                    (copy.waiting if copy.has_new else copy.alike).append(item)
                return False
        else:
            if case.verdict.drop_page:
                counts["items/given"] += 1
            self._session.note_item(case, item)
        case.items += 1
        case.items_open += 1
        return True

    def _left_before(self, copy: Copy, case: Case, counts: Counter[str]) -> list[Any]:
        """Return what was dropped of a page before it proved to be no copy."""
        items = copy.take_left()
        counts["items/fuller" if copy.is_fuller else "items/from_elsewhere"] += len(items)
        counts["items/dropped"] -= len(items)
        case.items += len(items)
        case.items_open += len(items)
        return items

    def _show(self, request: Request, shown: list[str]) -> None:
        self._session.frontier.passes_on(request)
        # Many at a time: each link of each page comes here.
        shown.append(asked_for(request))
        if len(shown) >= _SHOWN_AT_ONCE:
            self._session.frontier.show(shown)

    def _inc(self, name: str, count: int = 1) -> None:
        self._session.stats.inc_value(f"simcrawl/{name}", count)


class CallbackWatchMiddleware(OfSession):
    """Stands next to the spider and notes whether its callback was called, and failed, and what it says of its requests.

    From where `NearDuplicateSpiderMiddleware` stands a failure that another component has swallowed looks like a page without items, and
    a priority may be that of a request's depth.
    """

    def process_spider_input(self, response: Response) -> None:
        """Note that the callback comes next."""
        if case := case_of(response):
            case.called = True
        if response.request:
            self._session.frontier.called(response.request)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Withdraw the claim of a page whose callback failed."""
        case = case_of(response)
        if case and not isinstance(exception, NearDuplicate):
            case.fail()

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Mark the requests that may wait, and those that carry data to their callback."""
        frontier = self._session.frontier
        may_wait, links = frontier.lets_wait(response), list[str]()
        asker, entries = frontier.watched(response, result)
        has_given = False
        async for entry in entries:
            if not has_given and entry is not None:
                has_given = True
                frontier.has_given(response)
            if isinstance(entry, Request):
                passed = self._marked(entry, response, may_wait=may_wait, asker=asker)
                # A callback may yield any number of requests.
                if len(links) <= MOST_LINKS:
                    links.append(asked_for(entry))
                yield passed
            else:
                yield entry
        frontier.note(response.url, links)

    def _marked(self, request: Request, response: Response, *, may_wait: bool, asker: int) -> Request:
        try:
            request = unshared(request)
            # First: before there are marks in its meta.
            mark_carried(request, response.url)
            if response.request and request.meta.get(CARRIED):
                self._session.changes.hand_on(response.request, request)
            self._session.frontier.mark(request, response.request, may_wait=may_wait, asker=asker)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the link is followed
            self._session.failed(exc)
        return request


async def _or_else(result: AsyncIterator[Any], dropped: DroppedItems, case: Case) -> AsyncIterator[Any]:
    """Yield what a callback gives, and what was dropped if it gives none, or fails: it may have thrown away what it had of the page."""
    try:
        async for entry in result:
            yield entry
    except Exception:
        for item in dropped.instead(given=case.items):
            yield item
        raise
    for item in dropped.instead(given=case.items):
        yield item


def _said_by(response: Response) -> Iterable[str] | None:
    """Return what a page says, and what its callback may know from its request; None where it is no text."""
    return _texts(response) if isinstance(response, TextResponse) else None


def _texts(response: TextResponse) -> Iterator[str]:
    yield response.text
    yield response.url
    yield response.headers.to_string().decode("latin-1")
    yield str(response.ip_address or "")
    if request := response.request:
        yield request.url
        yield request.headers.to_string().decode("latin-1")
        # Neither tells pages apart, and both may be what an item has of its own: what a link says, and whose account it is.
        yield from texts_in({name: value for name, value in request.meta.items() if name not in ("link_text", "cookiejar")})
        yield from texts_in(request.cb_kwargs)


def _unseen(response: Response) -> Verdict:
    """Return the verdict on a response that the downloader middleware did not look at."""
    reason = skip_reason(response.request, response) if response.request else None
    return Verdict(kind=Kind.SKIPPED, reason=reason or "not_judged")
