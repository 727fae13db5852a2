"""Pages that were dropped by mistake are asked for again.

A copy may say a line more than its original: the address of a print view, or a price that the original has not. Which of the two it is
becomes clear when another copy says something else there (`simcrawl.store.dropped`). The page that was dropped before is gone by then. So
its request is made once more, and its page is kept then, whichever process gets it: another one with the same queue knows nothing of the
first time.

    dropped, and may be none to drop ──► its request is held ──► another page shows it ──► asked for again, and kept
                                                  │
                                                  └──► the crawl is stopped, and resumed from JOBDIR ──► asked for again, and judged anew

A callback may remember which pages it has seen, and give nothing of one that comes twice. So the items are held that were dropped with the
page, and come out in place of none. And a link may serve once, or a session have ended: as long as the first page is held, that is what
comes the second time, in most cases without a download (`simcrawl.crawl.unfetched`).

What the verdict was compared with is gone after a stop, so a later page could no longer prove that an earlier one was dropped by mistake.
The earlier ones are fetched once more, a thousand at most, when nothing else is left to fetch: they can only help one another then. That is
done once: a crawl in short runs would else do nothing else. What was held with them is in JOBDIR, too, as far as it can be written.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import closing, suppress
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import http
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object

from simcrawl.crawl.marks import AGAIN, JUDGED_AGAIN, MOVED, ORDER, RETURNED, YIELDED, copied

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request

    from simcrawl.crawl.common import Common

logger = logging.getLogger(__name__)

# What their meta and their items hold is the spider's own, of any size.
_MOST, _MOST_ITEMS = 1_000, 32
# Of all pages that are held.
_MOST_BYTES = 32_000_000
# What a header takes beside its name and value: three objects, and a place in a dict. A server may send any number of them.
_OF_A_HEADER = 300
# Of how often the first time was tried nothing follows for the second.
_OF_THE_FIRST_TIME = ("retry_times",)
# In JOBDIR, beside what Scrapy has there.
_FILE = "simcrawl.again"
# Key of `Request.meta`, there only: what was dropped with a page, and the page. In requests that are never made, for what a spider's items
# are may not let itself be read.
_WITH = "_simcrawl_with"
# How often that is written.
_MOST_STOPS = 3
# Behind all that a spider asks for, and behind what waits as a likely copy.
_LAST = -10_000_000
_NOT_KEPT = "simcrawl cannot keep which dropped pages may be no copies: %d are not judged once more when the crawl is resumed (%r)"
_NOT_WHOLE = "simcrawl cannot keep all that was dropped with pages that may be no copies: some are fetched once more without it (%r)"
_NOT_READ = "simcrawl cannot read which dropped pages may be no copies: some are not judged once more (%r)"
_TOLD = "%s was dropped as a copy, and %s shows that it is none: it is asked for again"


class DroppedItems:
    """What was dropped with a page, of which its callback may give nothing when the page comes once more.

    As long as the first callback runs items may be added, also when the second one has ended.
    """

    __slots__ = ("_before", "_items", "_pass")

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items: list[Any] = [*items]
        self._before: list[Any] = []
        self._pass = False

    def follow(self, before: DroppedItems) -> None:
        """Take what was dropped when the page came before, if nothing is dropped with it now."""
        self._before = before.all

    @property
    def all(self) -> list[Any]:
        """What was dropped, the last time that there was something."""
        return self._items or self._before

    def lets_pass(self, item: Any) -> bool:
        """Return whether an item of the first callback comes out, since the second one has ended without any; else hold it."""
        if not self._pass and len(self._items) < _MOST_ITEMS:
            self._items.append(item)
        return self._pass

    def instead(self, *, given: int) -> list[Any]:
        """Return what comes out at the end of the second callback, which has given so many items itself."""
        self._pass = not given
        items, self._items, self._before = self.all, [], []
        return [] if given else items


class _Dropped(NamedTuple):
    """The request of a page that was dropped, what was dropped with it, and the page, if it is held. `stops`: how often it was written."""

    request: Request
    items: DroppedItems
    response: http.Response | None
    stops: int = 0


class Again:
    """The requests of such pages, for one crawler. On the event loop."""

    def __init__(self, common: Common) -> None:
        self._common = common
        self._held: OrderedDict[str, _Dropped] = OrderedDict()
        # Those that were asked for again.
        self._left: OrderedDict[str, _Dropped] = OrderedDict()
        self._bytes = 0
        # By which page they were asked for before they were dropped: between the verdict and its consequences others are judged.
        self._awaited: OrderedDict[str, str] = OrderedDict()
        self._told = False

    def copied(self, request: Request) -> Request | None:
        """Return a request that can be made once more; to be called as long as it has what simcrawl noted on it. Never raises."""
        try:
            made = copied(request)
        except Exception as exc:  # noqa: BLE001 - a class of the spider's own may not let itself be copied
            self._common.failed(exc)
            return None
        made.dont_filter = True
        for key in _OF_THE_FIRST_TIME:
            made.meta.pop(key, None)
        return made

    def hold(self, url: str, request: Request, response: http.Response, items: DroppedItems) -> None:
        """Hold the request of a page that is dropped and may be none to drop, and the page; of a thousand pages. Never raises."""
        if before := self.left(url):
            items.follow(before)
        dropped = _Dropped(request, items, self._copy_of(response))
        self._bytes += _size(dropped.response)
        if shown_by := self._awaited.pop(url, None):
            self._ask(url, dropped, shown_by)
            return
        self._put(self._held, url, dropped)

    def came_out(self, url: str) -> None:
        """Hold a page no longer that is dropped, and of which all came out all the same: asked for again it would come out twice."""
        if dropped := self._held.pop(url, None):
            self._bytes -= _size(dropped.response)

    def _copy_of(self, response: http.Response) -> http.Response | None:
        """Return a copy of a page, if there is space: what its callback makes of it, such as a tree, takes many times as much."""
        if self._bytes + _size(response) > _MOST_BYTES:
            return None
        try:
            return response.replace(request=None)
        except Exception as exc:  # noqa: BLE001 - a class of the user's own may not let itself be copied
            self._common.failed(exc)
            return None

    def left(self, url: str) -> DroppedItems | None:
        """Return, once, what was dropped with a page that was asked for again."""
        if not self._left or (dropped := self._left.pop(url, None)) is None:
            return None
        self._bytes -= _size(dropped.response)
        return dropped.items

    def page(self, request: Request, *, of_this_run: bool = False) -> http.Response | None:
        """Return the page that was dropped, for a request that was made again; None where it is not held, or it is another request.

        Without its cookies: the jar has newer ones by now. `of_this_run`: None, too, where it was held when the crawl was stopped that this
        one resumes: of such a page less is known.

        Raises:
            Exception: whatever a class of the user's own raises when it is copied.
        """
        dropped = self._left.get(request.meta.get(AGAIN) or request.meta.get(JUDGED_AGAIN, ""))
        if dropped is None or dropped.response is None or (of_this_run and dropped.stops):
            return None
        headers = dropped.response.headers.copy()
        headers.pop("Set-Cookie", None)
        return dropped.response.replace(request=request, headers=headers)

    def _put(self, held: OrderedDict[str, _Dropped], url: str, dropped: _Dropped) -> None:
        """Hold one more, in place of the one before it under this URL, or of the oldest one."""
        gone = [held.pop(url)] if url in held else []
        held[url] = dropped
        if len(held) > _MOST:
            gone.append(held.popitem(last=False)[1])
        self._bytes -= sum(_size(dropped.response) for dropped in gone)

    def ask(self, urls: Iterable[str], shown_by: str) -> None:
        """Make the requests of some pages once more, as another page shows that they were no copies. Never raises.

        Of pages that were asked for before, or not here, nothing becomes.
        """
        for url in urls:
            if dropped := self._held.pop(url, None):
                self._ask(url, dropped, shown_by)
            else:
                self._awaited.setdefault(url, shown_by)
                if len(self._awaited) > _MOST:
                    self._awaited.popitem(last=False)

    def save(self) -> None:
        """Write in JOBDIR, if there is one, what is held when a crawl is stopped. Never raises.

        By the class that holds Scrapy's own requests there: what a request carries is written as the user has chosen, and read by nothing
        else. Not into the scheduler's queue, which is closed before anybody is told that the spider is.
        """
        held = {url: dropped.request for url, dropped in self._held.items() if JUDGED_AGAIN not in dropped.request.meta}
        file = self._file() if held or self._left else None
        if not file:
            return
        lost, why = len(held), None
        try:
            _remove(file)
            with closing(self._queue(file)) as queue:
                for url, request in held.items():
                    request.meta[JUDGED_AGAIN] = url
                    failed = _push_one(queue, [request])
                    lost, why = lost - (not failed), failed or why
                # Those that were made once more wait in Scrapy's own queue, but without what was dropped with them.
                for url, dropped in [*self._left.items(), *((url, self._held[url]) for url in held)]:
                    why = _push_one(queue, _extra(url, dropped)) or why
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl is over
            why = exc
        if lost:
            self._tell(_NOT_KEPT, lost, why)
        elif why:
            self._tell(_NOT_WHOLE, why)

    def restore(self) -> None:
        """Ask for the pages once more that were held when the crawl was stopped that this one resumes. Never raises."""
        file = self._file()
        if not file or not file.exists():
            return
        why = None
        try:
            with closing(self._queue(file)) as queue:
                # One that cannot be read, as that of a callback that is gone, is passed over. Of each page there are two.
                for _ in range(min(len(queue), 4 * _MOST)):
                    try:
                        self._judge_again(queue.pop())
                    except Exception as exc:  # noqa: BLE001 - as above
                        why = exc
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            why = exc
        with suppress(OSError):
            _remove(file)
        if why:
            self._tell(_NOT_READ, why)

    def _judge_again(self, request: Request | None) -> None:
        if not request:
            return
        if told := request.meta.get(_WITH):
            self._hold_again(request, *told)
            return
        url = request.meta.get(JUDGED_AGAIN) or self._common.known_as(request.url)
        request.meta[MOVED] = request.meta.get(MOVED, 0) + _LAST - request.priority
        request.priority = _LAST
        if self._make(request, {JUDGED_AGAIN: url}):
            self._common.stats.inc_value("simcrawl/pages/judged_again")

    def _hold_again(self, request: Request, url: str, stops: int, items: list[Any], page: Any) -> None:
        """Hold what was held when the crawl was stopped; of pages half as much, for those of this run are held as well."""
        response = _unpacked(*page) if page else None
        if self._bytes + _size(response) > _MOST_BYTES // 2:
            response = None
        self._bytes += _size(response)
        self._put(self._left, url, _Dropped(request, DroppedItems(items), response, stops))

    def _tell(self, message: str, *values: object) -> None:
        self._common.stats.inc_value("simcrawl/errors")
        logger.warning(message, *values, extra={"spider": self._common.crawler.spider})

    def _file(self) -> Path | None:
        directory = None
        with suppress(OSError):
            directory = job_dir(self._common.crawler.settings)
        return Path(directory, _FILE) if directory else None

    def _queue(self, file: Path) -> Any:
        crawler = self._common.crawler
        return build_from_crawler(load_object(crawler.settings["SCHEDULER_DISK_QUEUE"]), crawler, str(file))

    def _make(self, request: Request, marks: dict[str, Any]) -> bool:
        """Return whether a request was made once more."""
        engine = self._common.crawler.engine
        if engine is None:
            return False
        # The mark tells whose `dont_filter` it is: a redirect must not leave the site for it.
        request.meta.update({ORDER: RETURNED, YIELDED: True} | marks)
        try:
            engine.crawl(request)
        except Exception as exc:  # noqa: BLE001 - whatever it is, what has shown it is kept
            self._common.failed(exc)
            return False
        return True

    def _ask(self, url: str, dropped: _Dropped, shown_by: str) -> None:
        if not self._make(dropped.request, {AGAIN: url}):
            self._bytes -= _size(dropped.response)
            return
        self._put(self._left, url, dropped)
        self._common.stats.inc_value("simcrawl/pages/asked_again")
        level = logging.DEBUG if self._told else logging.INFO
        logger.log(level, _TOLD, url, shown_by, extra={"spider": self._common.crawler.spider})
        self._told = True


def _extra(url: str, dropped: _Dropped) -> list[Request]:
    """Return what is to be written of a page besides its request: all of it, or else the page alone. Empty where there is nothing."""
    items, page = dropped.items.all, _packed(dropped.response)
    if dropped.stops >= _MOST_STOPS or not (items or page):
        return []
    told = [(items, page), ([], page)] if items else [([], page)]
    return [http.Request("data:,", meta={_WITH: (url, dropped.stops + 1, *what)}) for what in told]


def _push_one(queue: Any, variants: Iterable[Request]) -> Exception | None:
    """Write the first request that can be written in a queue of Scrapy's; return why it was not the first one of all."""
    why = None
    for request in variants:
        try:
            queue.push(request)
        except Exception as exc:  # noqa: BLE001 - what a spider gives a request, and its items, may do anything when they are written
            why = why or exc
        else:
            break
    return why


def _packed(page: http.Response | None) -> tuple[str, dict[str, Any]] | None:
    """Return a page as what all of Scrapy's queues can write; None where it is of a class of the user's own."""
    if page is None or getattr(http, type(page).__name__, None) is not type(page):
        return None
    headers = {name: page.headers.getlist(name) for name in page.headers}
    told = {"url": page.url, "status": page.status, "headers": headers, "body": page.body, "flags": list(page.flags)}
    return type(page).__name__, told | ({"encoding": page.encoding} if isinstance(page, http.TextResponse) else {})


def _unpacked(kind: str, told: dict[str, Any]) -> http.Response:
    made: http.Response = getattr(http, kind)(**told)
    return made


def _size(response: http.Response | None) -> int:
    """Return about how many bytes a page takes, its headers included."""
    if response is None:
        return 0
    headers = sum(_OF_A_HEADER + len(name) + len(value) for name, values in response.headers.items() for value in values)
    return len(response.body) + headers


def _remove(file: Path) -> None:
    """Remove what a queue has written, which may be a directory, if anything."""
    if file.is_dir():
        rmtree(file)
    else:
        file.unlink(missing_ok=True)
