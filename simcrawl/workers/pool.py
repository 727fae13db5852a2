"""Pages of many processes, in order, for a caller that waits: what commands make pages with; and main texts.

A thread a process: it asks, waits, and starts another process where that one died, hangs or has grown too large. So a page costs what it
costs in a crawl, itself at most.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import LifoQueue, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

from simcrawl.page.fingerprint import MAX_WORKER_BYTES, Reason
from simcrawl.page.recipes import resolve
from simcrawl.workers.process import MOST_DEATHS, Asker, PageProcess
from simcrawl.workers.starting import Starter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from socket import socket
    from types import TracebackType

    from simcrawl.page.fingerprint import Abstention, PageFingerprint

    Page = PageFingerprint | Abstention

_T = TypeVar("_T")

# A digest that nobody asks for.
_NOBODYS = bytes(1)


class RawPage(NamedTuple):
    """A page as it was fetched; `encoding`: what its server declared."""

    url: str
    body: bytes
    encoding: str | None = None


class SupervisedProcess:
    """A process that makes pages, and is replaced where that is called for. For one thread at a time, but for `close`."""

    def __init__(self, options: Mapping[str, Any], starter: Starter | None = None, *, max_bytes: int = MAX_WORKER_BYTES) -> None:
        self._process, self._asker = PageProcess(starter), Asker(options, max_bytes=max_bytes)
        self._line: socket | None = None

    def page(self, raw: RawPage) -> Page:
        """Return a page. One that takes too long, or its process along `MOST_DEATHS` times, abstains as such.

        Raises:
            WorkerError: no process can be started.
        """
        question = self._asker.question(raw.body, raw.url, raw.encoding)
        return self._asked(lambda line: self._process.make(line, question)) or question.abstain(Reason.CRASHED)

    def text(self, body: bytes, encoding: str | None) -> str | None:
        """Return a page's main text; None if that takes too long, or too much memory, or if its process dies of it `MOST_DEATHS` times.

        Raises:
            WorkerError: no process can be started.
        """
        question = self._asker.question(body, "", encoding, _NOBODYS)
        return self._asked(lambda line: self._process.text(line, question))

    def _asked(self, ask: Callable[[socket], tuple[_T, str | None]]) -> _T | None:
        """Return what a process answers; None where it dies of it, again and again."""
        for _ in range(MOST_DEATHS):
            line = self._line = self._line or self._process.start(self._asker)
            try:
                answer, why = ask(line)
            except EOFError:
                self._stop("died")
            else:
                if why:
                    self._stop(why)
                return answer
        return None

    @property
    def restarts(self) -> Counter[str]:
        """Why the process was ended, and how often."""
        return self._asker.restarts

    def _stop(self, why: str) -> None:
        line, self._line = self._line, None
        if line:
            line.close()
        self._asker.restarts[why] += 1
        self._process.stop()

    def close(self) -> None:
        """End the process, and start no more; from any thread. Whoever waits for a page of it gets a `WorkerError`."""
        self._process.close()
        line, self._line = self._line, None
        if line:
            line.close()


class TextPool:
    """Some processes for main texts, each started when all others have something to do. For threads, which wait for one.

    `max_seconds`, `max_bytes`: what a text may take.
    """

    def __init__(self, processes: int, starter: Starter, *, max_seconds: float, max_bytes: int = MAX_WORKER_BYTES) -> None:
        # They are told no more than they need: not where a page was, nor the seed.
        options = {"recipe": resolve("terms"), "seed": 0, "max_seconds": max_seconds, "texts": True}
        self._all = [SupervisedProcess(options, starter, max_bytes=max_bytes) for _ in range(processes)]
        self._free: LifoQueue[SupervisedProcess] = LifoQueue()
        for one in self._all:
            self._free.put(one)

    def text(self, body: bytes, encoding: str | None) -> str | None:
        """Return a page's main text; None if that takes too long, or too much memory, or if its process dies of it `MOST_DEATHS` times.

        Raises:
            WorkerError: no process can be started.
        """
        process = self._free.get()
        try:
            return process.text(body, encoding)
        finally:
            self._free.put(process)

    @property
    def restarts(self) -> Counter[str]:
        """Why processes were ended, and how often."""
        return sum((one.restarts for one in self._all), Counter[str]())

    def close(self) -> None:
        """End the processes, and start no more."""
        for one in self._all:
            with suppress(OSError):
                one.close()


class PagePool(Generic[_T]):
    """Some processes for batches of work; leaving the block ends them, whatever they are at.

    `work`: what becomes of a batch, given what makes a page of a `RawPage`. `options`: the keyword arguments of `fingerprint_page`.
    """

    def __init__(self, options: Mapping[str, Any], processes: int, work: Callable[[_T, Callable[[RawPage], Page]], list[Page]]) -> None:
        self._starter = Starter()
        self._all = [SupervisedProcess(options, self._starter) for _ in range(processes)]
        self._free: SimpleQueue[SupervisedProcess] = SimpleQueue()
        for one in self._all:
            self._free.put(one)
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="simcrawl-pages")
        self._work = work

    def made(self, batches: Iterable[_T], *, ahead: int) -> Iterator[Page]:
        """Yield the pages of all batches in their order; so many batches are read ahead.

        Raises:
            WorkerError: no process can be started.
        """
        waiting: deque[Future[list[Page]]] = deque()
        for batch in batches:
            waiting.append(self._threads.submit(self._do, batch))
            while len(waiting) > ahead:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()

    def _do(self, batch: _T) -> list[Page]:
        # As many threads as processes: there is always one that is free.
        process = self._free.get()
        try:
            return self._work(batch, process.page)
        finally:
            self._free.put(process)

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        """End the processes."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._starter.close()
        for one in self._all:
            with suppress(OSError):
                one.close()
        self._threads.shutdown()
