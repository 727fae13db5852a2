"""Work off the event loop, and the way back to it, under every reactor mode of Scrapy."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Extraction holds the GIL: more threads give no more pages a second. A few keep one slow page from holding up the others.
_THREADS = 4
# Pages wait their turn for so many times the seconds that one may take.
_QUEUE_PATIENCE = 10


class Workers:
    """A pool of threads of our own: Scrapy's is shared with DNS look-ups, which must not wait for pages."""

    def __init__(self, count: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(count or _THREADS, thread_name_prefix="simcrawl")

    async def run(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Return what the function returns, or raise what it raises."""
        return await self.run_within(None, function, *args, **kwargs)

    async def run_within(self, patience: float | None, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Return what the function returns, or raise what it raises.

        Raises:
            TimeoutError: it took longer than `patience` seconds, or no thread was free in ten times that. It may go on in its thread;
                nobody waits for it any more.
        """
        started, done = Wake(), Wake()

        def job() -> _T:
            started()
            return function(*args, **kwargs)

        future = self._pool.submit(job)
        future.add_done_callback(done)
        await started.wait(None if patience is None else _QUEUE_PATIENCE * patience)
        await done.wait(patience)
        if not future.done():
            future.cancel()
            raise TimeoutError(f"no result after {patience} seconds")
        return future.result()

    def close(self) -> None:
        """Let the threads end when their work is done; does not wait for them."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Wake:
    """A flag that any thread may raise and the event loop can wait for. Make it on the event loop."""

    def __init__(self) -> None:
        self._deferred: Deferred[None] = Deferred()
        self._schedule = _scheduler()

    def __call__(self, *_: object) -> None:
        """Raise the flag; later calls have no effect."""
        self._schedule(self._fire)

    async def wait(self, patience: float | None = None) -> None:
        """Return when the flag is raised, or `patience` seconds have passed."""
        timer = call_later(patience, self._fire) if patience is not None else None
        await maybe_deferred_to_future(self._deferred)
        if timer:
            timer.cancel()

    def _fire(self) -> None:
        if not self._deferred.called:
            self._deferred.callback(None)


def _scheduler() -> Callable[[Callable[[], Any]], Any]:
    if is_asyncio_available():
        return asyncio.get_running_loop().call_soon_threadsafe
    # At module level this would install a reactor, or break reactorless crawls.
    from twisted.internet import reactor

    schedule: Callable[[Callable[[], Any]], Any] = reactor.callFromThread
    return schedule
