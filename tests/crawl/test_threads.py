"""Threads that may hang, and the clock of the event loop: what needs no crawl to be seen."""

from __future__ import annotations

import asyncio
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
from hypothesis import given, strategies as st

from simcrawl.crawl import threads
from simcrawl.crawl.lag import LoopLag
from simcrawl.crawl.threads import Threads, _Expendable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future


class _Hung:
    """Calls that hang until they are told to end."""

    def __init__(self, pool: _Expendable) -> None:
        self._pool, self.end = pool, Event()

    def hang(self) -> Future[bool]:
        started = Event()
        future = self._pool.submit(self._wait, started)
        assert started.wait(60)
        return future

    def _wait(self, started: Event) -> bool:
        started.set()
        return self.end.wait(60)


@pytest.fixture
def hung() -> Iterator[_Hung]:
    made = _Hung(_Expendable(2))
    yield made
    made.end.set()
    made._pool.shutdown()


def test_results_and_exceptions_come_back():
    pool = _Expendable(2)
    assert [pool.submit(pow, 2, power).result(60) for power in range(5)] == [1, 2, 4, 8, 16]
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result(60)
    pool.shutdown()


def test_nobody_waits_for_a_thread_that_the_system_did_not_start(monkeypatch: pytest.MonkeyPatch):
    pool = _Expendable(1)
    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError):
            pool.submit(abs, -1)
    assert pool.submit(abs, -1).result(timeout=60) == 1


def test_closed_threads_take_no_more_work():
    pool = _Expendable(2)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="they are closed"):
        pool.submit(pow, 2, 3)


def test_another_thread_takes_the_place_of_one_that_hangs_as_often_as_there_are_spare_ones(hung: _Hung, monkeypatch: pytest.MonkeyPatch):
    pool = hung._pool
    futures = []
    for _ in range(2 + threads._MOST_STUCK):
        futures.append(hung.hang())
        pool.give_up(futures[-1])
    with pytest.raises(TimeoutError, match="every thread hangs"):
        pool.submit(pow, 2, 3)
    hung.end.set()
    assert all(future.result(60) for future in futures)
    # They come back one after the other; those that were replaced are not needed.
    alive = Event()
    while not alive.is_set():
        try:
            pool.submit(alive.set).result(60)
        except TimeoutError:
            alive.wait(0.01)
    with pool._lock:
        assert pool._working + len(pool._given_up) <= 2 + threads._MOST_STUCK


def _unwanted(result: object) -> None:
    raise RuntimeError(f"nobody asked for {result}")


def test_what_comes_when_nobody_waits_for_it_any_more_is_told():
    async def hang() -> None:
        end, told = Event(), asyncio.Event()
        tell = partial(asyncio.get_running_loop().call_soon_threadsafe, told.set)
        pool = Threads(1, expendable=True)
        with pytest.raises(TimeoutError, match=r"0\.1 seconds"):
            await pool.run_within(0.1, lambda done: tell() if done == "at last" else None, lambda: end.wait(60) and "at last")
        assert await pool.run_within(60, _unwanted, pow, 2, 3) == 8
        assert not told.is_set()
        end.set()
        await asyncio.wait_for(told.wait(), 60)
        pool.close()

    asyncio.run(hang())


def test_the_time_of_a_call_begins_when_it_is_its_turn():
    async def queue() -> None:
        end = Event()
        pool = Threads(1)
        first = asyncio.create_task(pool.run_within(60, _unwanted, end.wait, 60))
        second = asyncio.create_task(pool.run_within(0.1, _unwanted, pow, 2, 3))
        # Longer than the second one may take, and shorter than it may wait.
        await asyncio.sleep(0.3)
        end.set()
        assert (await first, await second) == (True, 8)
        pool.close()

    asyncio.run(queue())


def test_a_call_that_hangs_does_not_get_the_time_of_those_in_the_queue():
    async def hang() -> None:
        end, started = Event(), monotonic()
        pool = Threads(1)
        # It is not yet its turn when it is first looked at.
        first = asyncio.create_task(pool.run_within(60, _unwanted, end.wait, 0.1))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await pool.run_within(0.5, bool, end.wait, 60)
        # And not ten times as long as it may take.
        assert monotonic() - started < 4
        end.set()
        assert not await first
        pool.close()

    asyncio.run(hang())


def test_a_call_whose_turn_never_comes_is_given_up():
    async def queue() -> None:
        end = Event()
        pool = Threads(1)
        first = asyncio.create_task(pool.run_within(60, _unwanted, end.wait, 60))
        # It is the first one in the queue.
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await pool.run_within(0.01, _unwanted, _unwanted, None)
        end.set()
        assert await first
        pool.close()

    asyncio.run(queue())


def test_a_call_that_is_over_is_not_given_up():
    pool = _Expendable(1)
    future = pool.submit(pow, 2, 3)
    assert future.result(60) == 8
    pool.give_up(future)
    assert pool.submit(pow, 2, 4).result(60) == 16
    pool.shutdown()


def test_calls_that_wait_can_be_called_off(hung: _Hung):
    first, second = hung.hang(), hung.hang()
    waiting = hung._pool.submit(pow, 2, 3)
    assert waiting.cancel()
    hung.end.set()
    assert first.result(60)
    assert second.result(60)
    assert hung._pool.submit(pow, 2, 4).result(60) == 16


def test_without_calls_there_is_no_lag():
    assert LoopLag().percentile(0.5) == 0


@given(st.lists(st.floats(1e-4, 1000), min_size=1, max_size=300), st.sampled_from([0.5, 0.99, 1.0]))
def test_percentiles_are_a_fifth_too_much_at_worst(lags: list[float], share: float):
    clock = LoopLag()
    for lag in lags:
        clock.add(lag)
    exact = sorted(lags)[-(-round(share * 100) * len(lags) // 100) - 1]
    assert exact <= clock.percentile(share) * 1.0001
    assert clock.percentile(share) <= 1.2 * exact


@pytest.mark.parametrize("lag", [-1.0, 0.0, 1e-9, 1e9])
def test_lags_beyond_all_measure_count_too(lag: float):
    clock = LoopLag()
    clock.add(lag)
    assert 0 < clock.percentile(0.5) < 10_000
