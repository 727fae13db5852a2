"""Threads of our own, some of which may hang, and the way back to the event loop, under every reactor mode of Scrapy."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Pages wait their turn for so many times the seconds that one may take.
_QUEUE_PATIENCE = 10
# Threads that hang in a page and were replaced. Each takes its share of the interpreter for ever, so there is an end to it.
_MOST_STUCK = 8


class Threads:
    """A pool of threads of our own: Scrapy's is shared with DNS look-ups, which must not wait for pages."""

    def __init__(self, count: int, *, expendable: bool = False) -> None:
        self._pool = _Expendable(count) if expendable else ThreadPoolExecutor(count, thread_name_prefix="simcrawl")

    async def run(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Return what the function returns, or raise what it raises."""
        done = Wake()
        future = self._pool.submit(function, *args, **kwargs)
        future.add_done_callback(done)
        await done.wait()
        return future.result()

    async def run_within(
        self, patience: float, late: Callable[[_T], object], function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Return what the function returns, or raise what it raises.

        Raises:
            TimeoutError: it took longer than `patience` seconds, or no thread was free in ten times that. It may go on in its thread;
                nobody waits for it any more. `late` is called there with what it returns.
        """
        job, done = _Job(partial(function, *args, **kwargs)), Wake()
        future = self._pool.submit(job)
        future.add_done_callback(done)
        # One timer a page, and one wake: each is a turn of the event loop, which has all pages to serve. Another timer only for a page that
        # has not come in its time: it may have begun just after this looked, and then it does not get the time of those in the queue.
        while not future.done() and (left := job.left(patience)) > 0:
            await done.wait(min(left, patience))
        if not future.done():
            if not future.cancel() and isinstance(self._pool, _Expendable):
                self._pool.give_up(future)
            future.add_done_callback(partial(_tell_late, late))
            raise TimeoutError(f"no result after {patience} seconds")
        return future.result()

    def close(self) -> None:
        """Let the threads end when their work is done; does not wait for them."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _tell_late(late: Callable[[_T], object], future: Future[_T]) -> None:
    if not future.cancelled() and not future.exception():
        late(future.result())


class _Job(Generic[_T]):
    """A function that notes when it is called."""

    def __init__(self, function: Callable[[], _T]) -> None:
        self._function = function
        self._submitted = monotonic()
        self._started = 0.0

    def __call__(self) -> _T:
        self._started = monotonic()
        return self._function()

    def left(self, patience: float) -> float:
        """Return the seconds that are left of its time, or of that in which it must be its turn."""
        return (self._started + patience if self._started else self._submitted + _QUEUE_PATIENCE * patience) - monotonic()


class _Expendable(Executor):
    """Threads that may hang: one can be given up for another, and the end of the process does not wait for them as for other pools'."""

    def __init__(self, count: int) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._lock = Lock()
        # Threads that take jobs, how many there may be, and how many more may take the place of others.
        self._working, self._most, self._spare = 0, count, _MOST_STUCK
        self._closed = False
        # Given up, and whether another thread took the place.
        self._given_up: dict[Future[Any], bool] = {}

    def submit(self, function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        future: Future[_T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("these threads take no more work: they are closed")
            if self._working < self._most:
                self._start()
            if not self._working:
                raise TimeoutError("every thread hangs in a page")
        self._jobs.put((future, partial(function, *args, **kwargs)))
        return future

    def _start(self) -> None:
        # First: where the system has no more threads this fails, and nobody is to wait for one that never began.
        Thread(target=self._work, name="simcrawl-page", daemon=True).start()
        self._working += 1

    def give_up(self, future: Future[Any]) -> None:
        """Let another thread take the place of the one that runs this."""
        with self._lock:
            if future.done():
                return
            self._working -= 1
            self._given_up[future] = self._spare > 0
            if self._spare:
                self._spare -= 1
                self._start()
            else:
                self._most -= 1

    def _work(self) -> None:
        while job := self._jobs.get():
            future, function = job
            if future.set_running_or_notify_cancel():
                _settle(future, function)
            if not self._takes_more(future):
                return
            # They may hold a page for as long as the thread waits.
            del job, future, function

    def _takes_more(self, future: Future[Any]) -> bool:
        with self._lock:
            replaced = self._given_up.pop(future, None)
            if replaced:
                self._spare += 1
            elif replaced is False:
                self._working += 1
                self._most += 1
            return not replaced

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - as every executor
        """Let the threads end; those that are waiting end at once."""
        with self._lock:
            self._closed = True
        for _ in range(self._most + len(self._given_up)):
            self._jobs.put(None)


def _settle(future: Future[_T], function: Callable[[], _T]) -> None:
    try:
        future.set_result(function())
    except BaseException as exc:  # noqa: BLE001 - whoever asked gets it
        future.set_exception(exc)


class Wake:
    """A flag that any thread may raise and the event loop can wait for. Make it on the event loop."""

    def __init__(self) -> None:
        self.raised = False
        self._waiting: Deferred[None] | None = None
        self._schedule = _scheduler()

    def __call__(self, *_: object) -> None:
        """Raise the flag; later calls have no effect."""
        self._schedule(self._raise)

    async def wait(self, patience: float | None = None) -> None:
        """Return when the flag is raised, or `patience` seconds have passed. For one at a time; again and again."""
        if self.raised:
            return
        self._waiting = Deferred()
        timer = call_later(patience, self._go_on) if patience is not None else None
        await maybe_deferred_to_future(self._waiting)
        if timer:
            timer.cancel()

    def _raise(self) -> None:
        self.raised = True
        self._go_on()

    def _go_on(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting:
            waiting.callback(None)


def _scheduler() -> Callable[[Callable[[], Any]], Any]:
    if is_asyncio_available():
        return asyncio.get_running_loop().call_soon_threadsafe
    # At module level this would install a reactor, or break reactorless crawls.
    from twisted.internet import reactor

    schedule: Callable[[Callable[[], Any]], Any] = reactor.callFromThread
    return schedule
