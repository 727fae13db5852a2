"""What else is at work while requests stand at the end of the queue."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy import Request

from simcrawl.crawl import at_work
from simcrawl.crawl.at_work import AtWork
from simcrawl.crawl.marks import HELD, LAST, ORDER, SKIPPED

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Crawl:
    """What is seen of Scrapy's: requests in the downloader, pages in the scraper."""

    def __init__(self, under_way: list[Request] | None = None, pages: list[Request] | None = None) -> None:
        self.under_way, self.pages = under_way or [], pages or []
        slot = SimpleNamespace(active=self.pages, is_idle=lambda: not self.pages)
        self.engine = SimpleNamespace(downloader=SimpleNamespace(active=self.under_way), scraper=SimpleNamespace(slot=slot))
        self.at_work = AtWork(cast("Crawler", self))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(at_work, "monotonic", lambda: clock.now)
    return clock


def _request(level: int | None = None) -> Request:
    return Request("http://a.test/", meta={} if level is None else {ORDER: level})


@pytest.mark.parametrize("level", [HELD, LAST, SKIPPED])
def test_what_stands_at_the_end_of_the_queue_itself_is_no_other(level: int) -> None:
    crawl = Crawl([_request(level)])
    assert not crawl.at_work.has_others()
    crawl.under_way.append(_request(-10))
    assert crawl.at_work.has_others()


def test_a_page_in_the_scraper_is_another() -> None:
    assert Crawl(pages=[_request()]).at_work.has_others()
    assert not Crawl().at_work.has_others()


def test_who_waits_looks_again_when_a_callback_has_ended() -> None:
    crawl = Crawl(pages=[_request()])

    async def run() -> bool:
        waiting = asyncio.ensure_future(crawl.at_work.wait())
        await asyncio.sleep(0)
        was_waiting = not waiting.done()
        crawl.at_work.ended(crawl.pages[0])
        await asyncio.wait_for(waiting, 60)
        return was_waiting

    assert asyncio.run(run())


def test_who_waits_looks_again_when_nobody_is_at_work_any_more() -> None:
    crawl = Crawl(pages=[_request()])

    async def run() -> None:
        waiting = asyncio.ensure_future(crawl.at_work.wait())
        await asyncio.sleep(0)
        crawl.pages.clear()
        await asyncio.wait_for(waiting, 60)

    asyncio.run(run())


def test_callbacks_that_are_alone_at_work_for_long_are_stuck(clock: Any) -> None:
    crawl = Crawl(pages=[_request()])
    assert not crawl.at_work.is_stuck()
    clock.now += 4
    assert not crawl.at_work.is_stuck()
    clock.now += 2
    assert crawl.at_work.is_stuck()


@pytest.mark.parametrize("what", ["a request is under way", "a callback has ended", "the page is in the pipelines"])
def test_callbacks_are_not_stuck_where_something_goes_on(clock: Any, what: str) -> None:
    crawl = Crawl(pages=[_request()])
    assert not crawl.at_work.is_stuck()
    clock.now += 6
    if what == "a request is under way":
        crawl.under_way.append(_request())
    else:
        crawl.at_work.ended(crawl.pages[0] if what == "the page is in the pipelines" else None)
    assert not crawl.at_work.is_stuck()
    clock.now += 4
    assert not crawl.at_work.is_stuck()


def test_pages_whose_callbacks_are_at_work_are_told_once() -> None:
    called, gone, ended = _request(), _request(), _request()
    crawl = Crawl(pages=[called, ended])
    for request in (called, gone, ended):
        crawl.at_work.called(request)
    crawl.at_work.ended(ended)
    assert list(crawl.at_work.take_called()) == [called]
    assert list(crawl.at_work.take_called()) == []
