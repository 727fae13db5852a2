"""Python's collector of cyclic garbage, and what a crawl keeps it away from."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any
from weakref import ref

import pytest
from scrapy import Request, Spider, signals

from simcrawl.crawl.collector import set_aside, take_back
from tests.crawl.content import page
from tests.crawl.runner import MODES, crawl, crawls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

    from tests.crawl.server import Site

# Python itself may set aside some, which it never takes back.
FEW, MANY = 2_000, 20_000


def new() -> None:
    """Do nothing: a crawl with a function to call first gets a process that is new. Those that are forked begin with objects set aside."""


class Counting(Spider):
    """Notes how many objects the collector does not look at, before the engine runs, in its callback, and after the crawl."""

    name = "counting"
    url = ""
    is_off = ""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.starts, signal=signals.engine_started)
        crawler.signals.connect(spider.stopped, signal=signals.engine_stopped)
        if spider.is_off:
            gc.disable()
        return spider

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.url)

    def starts(self) -> None:
        self.note("before")

    def parse(self, response: Response) -> Any:
        self.note("during")
        yield {"url": response.url}

    def stopped(self) -> None:
        self.note("after")

    def note(self, when: str) -> None:
        stats: Any = self.crawler.stats
        stats.set_value(f"test/{when}", gc.get_freeze_count())


class Cycle:
    """Garbage that only the collector can tell from what is in use."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def before() -> Iterator[int]:
    """How many objects are set aside before a test, as after it."""
    # Python 3.12 sets some objects aside itself when it collects.
    gc.collect()
    count = gc.get_freeze_count()
    assert count < FEW
    yield count
    assert gc.get_freeze_count() <= count


@pytest.mark.parametrize("mode", MODES)
def test_what_was_there_before_a_crawl_is_set_aside_until_its_end(site: Site, mode: str) -> None:
    site.add("/", page("7.4/en/protection"))
    stats = crawl("tests.crawl.test_collector.Counting", site.url(), mode=mode, preexec=new).stats
    # It takes long, and until the engine runs Scrapy passes over a stop.
    assert stats["test/before"] < FEW
    assert stats["test/during"] > MANY
    assert stats["test/after"] < FEW


def test_a_collector_that_a_user_has_switched_off_is_left_alone(site: Site) -> None:
    site.add("/", page("7.4/en/protection"))
    assert crawl("tests.crawl.test_collector.Counting", site.url(), is_off="yes", preexec=new).stats["test/during"] < FEW


def test_of_two_crawls_the_last_one_takes_all_back(site: Site) -> None:
    site.add("/", page("7.4/en/protection"))
    site.add("/other", page("7.4/en/autotext"))
    jobs = [{"spider": "tests.crawl.test_collector.Counting", "arguments": {"url": site.url(path)}} for path in ("/", "/other")]
    stats = [outcome.stats for outcome in crawls(jobs, preexec=new)]
    assert all(one["test/during"] > MANY for one in stats)
    assert min(one["test/after"] for one in stats) < FEW


def test_objects_stay_aside_while_any_crawl_goes_on(before: int) -> None:
    assert set_aside()
    assert set_aside()
    take_back()
    assert gc.get_freeze_count() > MANY > before
    take_back()


def test_what_somebody_else_has_set_aside_is_not_taken_back(before: int) -> None:
    held = Cycle()
    gc.freeze()
    try:
        assert not set_aside()
        assert gc.get_freeze_count() > before
        # Not by the count alone: what nothing refers to any more leaves it.
        assert all(found is not held for found in gc.get_objects())
    finally:
        gc.unfreeze()


def test_garbage_of_before_is_collected_first(before: int) -> None:
    garbage = ref(Cycle())
    assert garbage() is not None
    assert set_aside()
    assert garbage() is None
    take_back()


def test_what_a_crawl_makes_is_collected(before: int) -> None:
    assert set_aside()
    garbage = ref(Cycle())
    gc.collect()
    assert garbage() is None
    take_back()


def test_what_was_set_aside_can_become_garbage_afterwards(before: int) -> None:
    held = Cycle()
    garbage = ref(held)
    assert set_aside()
    del held
    gc.collect()
    assert garbage() is not None
    take_back()
    gc.collect()
    assert garbage() is None
