"""How many worker processes there are, who gets them, and where the crawl looks into its store."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.config import Config
from simcrawl.crawl import workers
from simcrawl.crawl.workers import PageWorkers
from simcrawl.detector import Detector
from simcrawl.errors import StoreError
from simcrawl.store import open_store
from tests.samples import english, page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

BODY = page(english()).encode()


async def take(made: PageWorkers, host: str = "a.test") -> Any:
    """Return a process for a page of a host when it is its turn."""
    assert made._pool
    return await made._pool._take((made._crawling, host), monotonic())


def give_back(made: PageWorkers, process: Any) -> None:
    assert made._pool
    made._pool._give_back(process)


@asynccontextmanager
async def page_workers(**settings: Any) -> AsyncIterator[PageWorkers]:
    with open_store("memory:") as store:
        made = PageWorkers(Detector(store), Config.from_settings(settings.get))
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
        await made._visit(size, note)
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


def test_texts_are_packed_and_pages_that_wait_written_in_a_thread(monkeypatch: pytest.MonkeyPatch):
    async def visit() -> None:
        async with page_workers(SIMCRAWL_WORKERS=1, SIMCRAWL_KEEP_TEXT=10**6) as made:
            made._visits_elsewhere = 0
            assert await _places(made, bool) == [False]
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
                await made._visit(0, fail)

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
