"""Work off the event loop, and the way back to it, under every reactor mode of Scrapy."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from simcrawl.crawl.processes import Processes
from simcrawl.errors import WorkerError
from simcrawl.page.fingerprint import Reason, abstain
from simcrawl.system import cores
from simcrawl.worker import Worker, can_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcrawl.config import Config
    from simcrawl.detector import Detector
    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from simcrawl.store import Admission

    Page = PageFingerprint | Abstention

logger = logging.getLogger(__name__)

_P = ParamSpec("_P")
_T = TypeVar("_T")

# A few keep one slow page from holding up the others.
_THREADS = 4
# Each takes 75 MB or more, and all of them are fed by one core.
_MOST_PROCESSES = 4
# Seconds that a page waits for a process before one is started that has no core of its own: starting one takes as long.
_HELD_UP = 1.0
# Pages wait their turn for so many times the seconds that one may take.
_QUEUE_PATIENCE = 10
# Threads that hang in a page and were replaced. Each takes its share of the interpreter for ever, so there is an end to it.
_MOST_STUCK = 8
# Seconds that a look into the store may take on the event loop, bytes of a body that are digested there, and how many looks are taken
# elsewhere after one that took longer, and at first, when tables are read.
_QUICK, _LARGE, _VISITS_ELSEWHERE = 0.02, 1 << 18, 32


class Workers:
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
        # One timer a page, and one wake: each is a turn of the event loop, which has all pages to serve.
        while not future.done() and (left := job.left(patience)) > 0:
            await done.wait(left)
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
        self._working += 1
        Thread(target=self._work, name="simcrawl-page", daemon=True).start()

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


def _withdraw(judged: tuple[Page, Admission | None]) -> None:
    admission = judged[1]
    if admission and admission.claim:
        admission.claim.withdraw()


class PageWorkers:
    """Makes and claims pages: makes them in worker processes, or in threads where there are none."""

    def __init__(self, detector: Detector, config: Config) -> None:
        self._detector, self._config = detector, config
        self.processes = processes_for(config.workers)
        self._threads = Workers(_THREADS, expendable=True)
        # The crawl's own process keeps a core busy.
        at_once = max(1, cores() - 1) if config.workers is None else self.processes
        self._pool = Processes(self._worker, self.processes, self._threads, at_once=at_once, held_up=_HELD_UP)
        self._queue = self.queue_max = 0
        self._seconds_in_queue = 0.0
        self._visits_elsewhere = _VISITS_ELSEWHERE
        self._closed = False

    def _worker(self) -> Worker:
        return Worker(self._detector.page_options, max_bytes=self._config.max_worker_bytes)

    async def judge(
        self, body: bytes, *, url: str, encoding: str | None, claim: Callable[[Page], Admission | None]
    ) -> tuple[Page, Admission | None]:
        """Return a page made as the detector makes it, and what `claim` says of it.

        A page that takes its worker along, or too long, is an abstention. In threads, the latter is not claimed, nor is a page for which
        the store takes too long: that is left to the caller, as is a page that `claim` leaves to it.

        Raises:
            StoreError: the store cannot be read.
        """
        self._queue += 1
        self.queue_max = max(self.queue_max, self._queue)
        source = (body, url, encoding)
        try:
            if not self.processes:
                return await self._judge_in_thread(source, claim)
            known = await self._visit(len(body), partial(self._detector.recall, body, url=url, encoding=encoding))
            try:
                page = known or self._detector.remember(await self._made(source))
            except WorkerError as exc:
                self._without_processes(exc)
                return await self._judge_in_thread(source, claim, recall=False)
            return page, await self._visit(0, partial(claim, page))
        finally:
            self._queue -= 1

    async def _made(self, source: tuple[bytes, str, str | None]) -> Page:
        body, url, encoding = source
        # A body that is too large is refused at a glance: it need not go through a socket first.
        if len(body) > self._config.max_page_bytes:
            return await self._threads.run(self._detector.extract, body, url=url, encoding=encoding)
        return await self._pool.page(body, url, encoding)

    async def _visit(self, size: int, function: Callable[[], _T]) -> _T:
        """Return what the function finds in the store: here, as long as that is quick, for a hop to a thread costs several times as much.

        In a thread where it has been slow (a large store that is not in memory, another process that commits), or must be: to digest a body
        of that size, to pack a text that is kept, to write what waits.
        """
        if self._visits_elsewhere or size > _LARGE or self._config.keep_text or self._detector.falls_behind:
            self._visits_elsewhere = max(0, self._visits_elsewhere - 1)
            return await self._threads.run(function)
        started = monotonic()
        try:
            return function()
        finally:
            if monotonic() - started > _QUICK:
                self._visits_elsewhere = _VISITS_ELSEWHERE

    async def _judge_in_thread(
        self, source: tuple[bytes, str, str | None], claim: Callable[[Page], Admission | None], *, recall: bool = True
    ) -> tuple[Page, Admission | None]:
        made: list[Page] = []
        judge = partial(self._judge, monotonic(), made, source, claim, recall=recall)
        try:
            return await self._threads.run_within(self._config.max_page_seconds, _withdraw, judge)
        except TimeoutError:
            if made:
                # It was the store that took too long.
                return made[0], None
            detector, (body, url, _) = self._detector, source
            too_slow = abstain(body, url=url, recipe=detector.recipe, seed=detector.store.header.seed, reason=Reason.TOO_SLOW)
            return detector.remember(too_slow), None

    def _judge(
        self,
        queued: float,
        made: list[Page],
        source: tuple[bytes, str, str | None],
        claim: Callable[[Page], Admission | None],
        *,
        recall: bool,
    ) -> tuple[Page, Admission | None]:
        self._seconds_in_queue += monotonic() - queued
        detector, (body, url, encoding) = self._detector, source
        known = detector.recall(body, url=url, encoding=encoding) if recall else None
        made.append(known or detector.remember(detector.extract(body, url=url, encoding=encoding)))
        return made[0], claim(made[0])

    def _without_processes(self, exc: WorkerError) -> None:
        if self.processes and not self._closed:
            self.processes = 0
            logger.warning("Pages are processed in threads, where a page that hangs cannot be stopped: %s", exc)

    def stats(self) -> dict[str, float]:
        """Return what there is to tell: names below `simcrawl/`, and numbers."""
        workers, restarts = self._pool.workers, Counter[str]()
        seconds = dict(self._detector.seconds) | {"queue": self._seconds_in_queue + self._pool.seconds_in_queue}
        for worker in workers:
            # A copy: a thread may be changing it.
            restarts.update(dict(worker.restarts))
            for stage, more in worker.seconds.items():
                seconds[stage] += more
        told: dict[str, float] = {f"seconds/{stage}": round(number, 3) for stage, number in seconds.items()}
        told |= {f"workers/restarts/{why}": count for why, count in restarts.items()}
        return told | {"workers/processes": len(workers), "workers/queue_max": self.queue_max}

    async def close(self) -> None:
        """End the processes, and the threads when their work is done; waits only for processes that are starting, which end at once."""
        self._closed = True
        self._threads.close()
        self._pool.close()
        # Where pages are made in threads, one that hangs may stand in the way of those that start processes.
        if self.processes:
            await self._pool.ended()


def processes_for(count: int | None) -> int:
    """Return how many worker processes a value of SIMCRAWL_WORKERS asks for; 0: threads."""
    if not can_start():
        return 0
    return min(cores(), _MOST_PROCESSES) if count is None else count


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
