"""How many worker processes there are, who gets them, and where the crawl looks into its store."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.config import Config
from simcrawl.crawl import workers
from simcrawl.crawl.processes import Crawling, Processes
from simcrawl.crawl.workers import PageWorkers
from simcrawl.detector import Detector
from simcrawl.errors import StoreError
from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.page.recipes import resolve
from simcrawl.store import open_store
from tests.samples import english, page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

BODY = page(english()).encode()


async def take(made: PageWorkers, host: str = "a.test", *, expected: float = 1.0) -> Any:
    """Return a process for a page of a host that is expected to take so long when it is its turn."""
    assert made._pool
    return await made._pool._take((made._crawling, host), monotonic(), expected)


def give_back(made: PageWorkers, process: Any, *, expected: float = 1.0) -> None:
    assert made._pool
    made._pool._give_back(process, expected)


@asynccontextmanager
async def page_workers(*, keep_text: int = 0, **settings: Any) -> AsyncIterator[PageWorkers]:
    with open_store("memory:") as store:
        made = PageWorkers(Detector(store, keep_text=keep_text), Config.from_settings(settings.get))
        yield made
        await made.close()


@pytest.mark.parametrize(("cores", "at_once", "pages"), [(1, 1, 2), (2, 1, 2), (3, 2, 2), (4, 3, 3)])
def test_a_process_without_a_core_of_its_own_is_started_only_where_a_page_waits(
    cores: int, at_once: int, pages: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(workers, "cores", lambda: cores)

    async def look() -> None:
        async with page_workers() as made:
            # One alone has its next page in line.
            taken = [await take(made) for _ in range(pages)]
            assert len(set(map(id, taken))) == at_once
            waiting = asyncio.create_task(take(made))
            gone = asyncio.create_task(take(made))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(waiting), 0.05)
            # Nobody waits for it any more: it gets none.
            gone.cancel()
            give_back(made, taken[0])
            assert await waiting is taken[0]
            give_back(made, taken[0])
            assert taken[0].pages == pages - at_once
            assert await take(made) is taken[0]

    monkeypatch.setattr(workers, "_HELD_UP", 60)
    asyncio.run(look())


@pytest.mark.parametrize(("cores", "at_once"), [(2, 1), (4, 3)])
def test_quick_pages_stand_in_line_at_a_process_as_far_as_they_are_done_with_soon(
    cores: int, at_once: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(workers, "cores", lambda: cores)

    async def look() -> None:
        async with page_workers() as made:
            taken = [await take(made, expected=0.025) for _ in range(4 * at_once)]
            assert Counter(Counter(map(id, taken)).values()) == {4: at_once}
            waiting = asyncio.create_task(take(made))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(waiting), 0.05)
            give_back(made, taken[0], expected=0.025)
            assert await waiting is taken[0]
            # Whatever stands behind one that may take long would wait for it.
            assert [taken[0].pages, taken[0].ahead] == [4, pytest.approx(1.075)]
            give_back(made, taken[0], expected=0.025)
            assert not made._pool or not made._pool._takes_more(taken[0])

    monkeypatch.setattr(workers, "_HELD_UP", 60)
    asyncio.run(look())


def test_a_page_that_is_called_off_when_it_is_its_turn_gives_it_back():
    async def look() -> None:
        async with page_workers(SIMCRAWL_WORKERS=1) as made:
            first = [await take(made), await take(made)][0]
            waiting = asyncio.create_task(take(made))
            await asyncio.sleep(0)
            give_back(made, first)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert first.pages == 1

    asyncio.run(look())


@pytest.mark.parametrize(("cores", "most"), [(2, 2), (3, 3), (9, 4)])
def test_a_page_that_waits_long_gets_another_process_while_there_may_be_one(cores: int, most: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "cores", lambda: cores)
    monkeypatch.setattr(workers, "_HELD_UP", 0.01)

    async def look() -> None:
        async with page_workers() as made:
            pages = 2 * most if cores == 2 else most
            taken = [await take(made) for _ in range(pages)]
            assert len(set(map(id, taken))) == most
            waiting = asyncio.create_task(take(made))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(waiting), 0.1)
            give_back(made, taken[-1])
            assert await waiting is taken[-1]

    asyncio.run(look())


def misbehaving(most: int, held_up: float = 60.0) -> tuple[Processes, Crawling]:
    options = {"recipe": replace(resolve("content"), extractor="tests.extractors.misbehaving"), "seed": 7}
    return Processes(most, at_once=1, held_up=held_up), Crawling(options | {"max_bytes": 10**8, "max_seconds": 600.0}, max_bytes=10**9)


def nice(processes: Processes) -> list[int]:
    return [os.getpriority(os.PRIO_PROCESS, pid) for pid in processes.pids if pid]


@asynccontextmanager
async def ended(processes: Processes, *tasks: asyncio.Task[Any]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        processes.close()
        await processes.ended()


@pytest.mark.parametrize("first", ["a.test", "b.test"])
def test_a_page_that_takes_long_steps_aside_where_others_are_there(first: str):
    async def look() -> None:
        processes, crawling = misbehaving(1)
        # For ever.
        slow = asyncio.create_task(processes.page(crawling, BODY, "http://a.test/loop", "utf-8"))
        async with ended(processes, slow):
            # Also behind a page of its own host that was made before it: nobody knew.
            for number in range(3):
                url = f"http://{first if number == 0 else 'b.test'}/fine{number}"
                made = await processes.page(crawling, BODY, url, "utf-8")
                assert isinstance(made, PageFingerprint)
            assert not slow.done()
            assert sorted(nice(processes)) == [os.getpriority(os.PRIO_PROCESS, 0), 19]

    asyncio.run(asyncio.wait_for(look(), 600))


def test_pages_of_a_slow_host_wait_for_one_process_and_hold_up_no_other():
    async def look() -> None:
        processes, crawling = misbehaving(2)
        assert isinstance(await processes.page(crawling, BODY, "http://b.test/fine", "utf-8"), PageFingerprint)
        # What is so large is taken for slow before it is made.
        large = BODY + b" " * 5_000_000
        slow = [asyncio.create_task(processes.page(crawling, large, f"http://a.test/loop{number}", "utf-8")) for number in range(3)]
        async with ended(processes, *slow):
            while not (processes._aside and processes._aside.at_work):
                assert isinstance(await processes.page(crawling, BODY, "http://b.test/fine", "utf-8"), PageFingerprint)
            assert isinstance(await processes.page(crawling, BODY, "http://b.test/fine", "utf-8"), PageFingerprint)
            assert not any(task.done() for task in slow)
            assert sorted(nice(processes)) == [os.getpriority(os.PRIO_PROCESS, 0), 19]

    asyncio.run(asyncio.wait_for(look(), 600))


def test_a_page_that_takes_long_and_no_core_makes_no_host_a_slow_one():
    """As on a busy machine every page does."""

    async def look() -> None:
        processes, crawling = misbehaving(1)
        async with ended(processes):
            assert isinstance(await processes.page(crawling, BODY, "http://a.test/fine", "utf-8"), PageFingerprint)
            for name, is_slow in (("wait", False), ("slow", True)):
                assert isinstance(await processes.page(crawling, BODY, f"http://b.test/{name}", "utf-8"), PageFingerprint)
                assert processes._turns.is_slow((crawling, "b.test"), {}) == is_slow

    asyncio.run(asyncio.wait_for(look(), 600))


def test_slow_hosts_among_themselves_have_all_processes_but_one():
    async def look() -> None:
        processes, crawling = misbehaving(3, held_up=0.05)
        large = BODY + b" " * 5_000_000
        hosts = [asyncio.create_task(processes.page(crawling, large, f"http://{name}.test/loop", "utf-8")) for name in "abcd"]
        async with ended(processes, *hosts):
            while sum(bool(process.at_work) for process in processes._all) < 3:
                await asyncio.wait(hosts, timeout=0.01)
            assert isinstance(await processes.page(crawling, BODY, "http://quick.test/fine", "utf-8"), PageFingerprint)
            assert not any(task.done() for task in hosts)
            assert processes.count == 4

    asyncio.run(asyncio.wait_for(look(), 600))


def test_as_many_processes_as_a_user_asks_for_are_started_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "cores", lambda: 1)
    monkeypatch.setattr(workers, "_HELD_UP", 60)

    async def look() -> None:
        async with page_workers(SIMCRAWL_WORKERS=3) as made:
            assert len({id(await take(made)) for _ in range(3)}) == 3

    asyncio.run(look())


async def _places(made: PageWorkers, look: Callable[[], object], *, size: int = 0, times: int = 1) -> list[bool]:
    """Return for each look whether it was taken on the event loop."""
    here, found = get_ident(), []

    def note() -> None:
        found.append(get_ident() == here)
        look()

    for _ in range(times):
        await made._visit(note, size=size)
    return found


def test_a_store_is_looked_into_on_the_event_loop_unless_that_is_slow(monkeypatch: pytest.MonkeyPatch):
    elsewhere = workers._VISITS_ELSEWHERE
    clock = iter(range(1000))

    async def visit() -> None:
        async with page_workers(SIMCRAWL_WORKERS=1) as made:
            # At first it may have to be read.
            assert await _places(made, bool, times=elsewhere + 3) == [False] * elsewhere + [True] * 3
            assert await _places(made, bool, size=workers._LARGE + 1) == [False]
            with monkeypatch.context() as patch:
                patch.setattr(workers, "monotonic", partial(next, clock))
                assert await _places(made, bool) == [True]
            assert await _places(made, bool, times=elsewhere + 1) == [False] * elsewhere + [True]

    asyncio.run(visit())


def test_pages_that_wait_are_written_in_a_thread(monkeypatch: pytest.MonkeyPatch):
    async def visit() -> None:
        async with page_workers(SIMCRAWL_WORKERS=1) as made:
            made._visits_elsewhere = 0
            monkeypatch.setattr("simcrawl.store.claims._MOST_UNWRITTEN", 0)
            assert await _places(made, bool) == [False]

    asyncio.run(visit())


@pytest.mark.parametrize("elsewhere", [0, 1])
def test_a_store_that_cannot_be_read_is_the_callers_business(elsewhere: int):
    def fail() -> None:
        raise StoreError("no")

    async def visit() -> None:
        async with page_workers(SIMCRAWL_WORKERS=1) as made:
            made._visits_elsewhere = elsewhere
            with pytest.raises(StoreError, match="no"):
                await made._visit(fail)

    asyncio.run(visit())


def test_pages_in_flight_at_one_time_share_processes():
    async def judge() -> None:
        async with page_workers(SIMCRAWL_WORKERS=2) as made:
            claim = made._detector.claim
            urls = [f"http://a.test/{number}" for number in range(8)]
            bodies = [BODY.replace(b"<p>", b"<p>%d " % number) for number in range(8)]
            judged = await asyncio.gather(
                *(made.judge(body, url=url, encoding="utf-8", claim=claim) for url, body in zip(urls, bodies, strict=True))
            )
            assert [found.url for found, _ in judged] == urls
            stats = made.stats()
            assert (stats["workers/processes"], stats["workers/queue_max"]) == (2, 8)
            assert stats["seconds/queue"] > 0
            assert made._detector.cascade == {"extracted": 8}

    asyncio.run(judge())


@pytest.mark.parametrize("processes", [0, 1])
def test_a_store_that_is_full_of_texts_asks_for_no_more(processes: int):
    async def look() -> None:
        async with page_workers(keep_text=1, SIMCRAWL_WORKERS=processes) as made:
            detector, had = made._detector, []
            for number in range(2):
                body = page(english(seed=number)).encode()
                found, admission = await made.judge(body, url=f"http://a.test/{number}", encoding=None, claim=detector.claim)
                assert isinstance(found, PageFingerprint)
                assert admission
                assert admission.claim
                had.append(found.content is not None)
                admission.claim.confirm()
                detector.crawl.try_sync()
                detector.store.sync()
            assert had == [True, False]
            assert detector.store.texts_refused == 1

    asyncio.run(look())
