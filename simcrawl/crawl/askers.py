"""Which callbacks may be waiting for what they have asked for, so that this must not wait for them.

An asynchronous callback may yield a request, and then wait until that one's callback has been called, or that of a request that comes of
it. While it waits its page keeps a place in Scrapy's scraper, and with many such pages Scrapy makes no requests. So each callback that can
wait has a number, which its requests carry (`simcrawl.crawl.marks.ASKER`), and what these ask for carries it on.
"""

from __future__ import annotations

from inspect import isasyncgenfunction, isgeneratorfunction
from time import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from simcrawl.crawl.marks import ASKER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Askers:
    """The callbacks of one crawler that may be waiting now, by their numbers. On the event loop."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._at_work = set[int]()
        self._asked_for: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        # Those of a crawl that was stopped are others.
        self._last = int(time() * 1000)

    def called(self, request: Request) -> None:
        """Note that the callback of a request comes next: what it asks for another one may wait for."""
        asker = request.meta.pop(ASKER, 0)
        if asker in self._at_work:
            self._asked_for[request] = asker

    def are_waiting_for(self, request: Request) -> bool:
        """Return whether a callback that has not ended may be waiting for a request."""
        return request.meta.get(ASKER) in self._at_work

    def watched(self, response: Response, result: AsyncIterator[Any], *, may_begin: bool) -> tuple[int, AsyncIterator[Any]]:
        """Return a number for the callback of a response, if it can wait for an answer, else 0; and what it gives, watched for that.

        It is the number of the callback that waits for this one, if there is such. `may_begin`: whether it gets one of its own otherwise.
        """
        request = response.request
        if asker := self._asked_for.pop(request, 0) if request else 0:
            return asker, result
        callback = (request.callback if request else None) or getattr(self._crawler.spider, "parse", None)
        if not may_begin or isgeneratorfunction(callback):
            return 0, result
        self._last += 1
        watch = _while_it_runs if isasyncgenfunction(callback) else _while_it_waits
        return self._last, watch(result, self._at_work, self._last)


async def _while_it_runs(result: AsyncIterator[Any], at_work: set[int], number: int) -> AsyncIterator[Any]:
    """Yield what a callback gives. Its number is among those at work until it has ended."""
    at_work.add(number)
    try:
        async for entry in result:
            yield entry
    finally:
        at_work.discard(number)


async def _while_it_waits(result: AsyncIterator[Any], at_work: set[int], number: int) -> AsyncIterator[Any]:
    """Yield what a callback gives of which nobody knows what it is. Its number is among those at work while it gives nothing.

    What can be given at once is, before anybody else is asked: so that is while it waits.
    """
    entries = aiter(result)
    while True:
        at_work.add(number)
        try:
            entry = await anext(entries)
        except StopAsyncIteration:
            return
        finally:
            at_work.discard(number)
        yield entry
