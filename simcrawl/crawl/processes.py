"""Worker processes that the event loop speaks to itself.

Not through threads that wait for them: a thread and the event loop hand the interpreter to each other a dozen times a page, which cost a
crawl more than all that it does for a page now (`docs/decisions.md`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred, DeferredLock
from twisted.internet.protocol import Factory
from twisted.protocols.basic import Int32StringReceiver

from simcrawl.errors import WorkerError
from simcrawl.page.fingerprint import Reason
from simcrawl.workers.process import MOST_DEATHS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from socket import socket

    from simcrawl.crawl.threads import Threads
    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from simcrawl.workers.process import PageProcess

    Page = PageFingerprint | Abstention
    _Answer = tuple[Page, str | None]


_T = TypeVar("_T")

# Seconds by which a timer comes late on a loop that something holds up.
_LATE = 0.1


class _UnansweredError(Exception):
    """A question to a worker that was stopped for an earlier one."""


class _Line(Int32StringReceiver):
    """The event loop's end of the socket to a worker, which answers one question after the other."""

    # A page's text and some kilobytes.
    MAX_LENGTH = 1 << 28

    def __init__(self, worker: PageProcess) -> None:
        self.lost = False
        self._worker = worker
        self._due = 0.0
        self._asked: deque[tuple[str, Deferred[_Answer | None]]] = deque()
        self._timer: Any = None

    async def ask(self, body: bytes, url: str, encoding: str | None) -> _Answer | None:
        """Return the page, and why the worker is to be stopped now; None where no page came in time after it was its turn.

        The line is closed where the worker is to be stopped: what stands in line must not come from one that is too large, or hangs.

        Raises:
            EOFError: the worker is gone, and it was this page's turn.
            _UnansweredError: it was another one's.
        """
        if self.lost:
            raise EOFError("the worker is gone")
        question = self._worker.question(body, url, encoding)
        answer: Deferred[_Answer | None] = Deferred()
        self._asked.append((url, answer))
        self.sendString(question)  # type: ignore[no-untyped-call]  # Twisted has no types for it
        if len(self._asked) == 1:
            self._time()
        return await maybe_deferred_to_future(answer)

    def _time(self, seconds: float | None = None) -> None:
        if self._timer:
            self._timer.cancel()
        seconds = self._worker.patience if seconds is None else seconds
        self._due = monotonic() + seconds
        self._timer = call_later(seconds, self._give_up) if self._asked else None

    def _give_up(self) -> None:
        late = monotonic() - self._due
        if late > _LATE:
            # A callback has held up the event loop: the worker may have answered, or not have the whole question yet.
            self._time(late)
            return
        # First: it stops the worker, and who comes after it starts the next one.
        self._asked.popleft()[1].callback(None)
        self.close()

    def stringReceived(self, string: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take an answer."""
        # What comes too late must not pass for the answer to the next question.
        if self.lost or not self._asked:
            return
        url, answer = self._asked.popleft()
        try:
            made, why = self._worker.answered(string, url)
        except EOFError as exc:
            answer.errback(exc)
            self.close()
            return
        self._time()
        answer.callback((made, why))
        if why:
            self.close()

    def connectionLost(self, reason: object = None) -> None:  # noqa: N802, ARG002 - Twisted's name
        """Take note of the worker's end."""
        self._end(EOFError("the worker is gone"))

    def close(self) -> None:
        """Close the socket without waiting for what is still to be sent."""
        if self.lost:
            return
        self._end(_UnansweredError())
        transport: Any = self.transport
        # asyncio's name, and Twisted's.
        (getattr(transport, "abort", None) or transport.abortConnection)()

    def _end(self, first: Exception) -> None:
        self.lost = True
        asked, self._asked = self._asked, deque()
        self._time()
        for number, (_, answer) in enumerate(asked):
            answer.errback(_UnansweredError() if number else first)


class _AsyncioSide(asyncio.Protocol):
    """Gives Twisted's protocol what asyncio's transport has for it."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    def connection_made(self, transport: Any) -> None:
        self._line.makeConnection(transport)  # type: ignore[no-untyped-call]  # as below

    def data_received(self, data: bytes) -> None:
        self._line.dataReceived(data)  # type: ignore[no-untyped-call]  # Twisted has no types for it

    def connection_lost(self, exc: Exception | None) -> None:
        self._line.connectionLost(exc)


class _ReactorSide(Factory):
    noisy = False

    def __init__(self, line: _Line) -> None:
        self._line = line

    def buildProtocol(self, addr: object) -> _Line:  # noqa: N802, ARG002 - Twisted's name
        return self._line


async def _line_over(ours: socket, worker: PageProcess) -> _Line:
    line = _Line(worker)
    ours.setblocking(False)
    if is_asyncio_available():
        await asyncio.get_running_loop().create_unix_connection(lambda: _AsyncioSide(line), sock=ours)
        return line
    # At module level this would install a reactor.
    from twisted.internet import reactor

    adopting: Any = reactor
    # It takes a copy of the socket.
    with ours:
        adopting.adoptStreamConnection(ours.fileno(), ours.family, _ReactorSide(line))
    return line


async def _to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what a coroutine returns, which goes on to its end even where nobody waits for it any more."""
    done: Deferred[_T] = Deferred()
    deferred_from_coro(work).chainDeferred(done)
    return await maybe_deferred_to_future(done)


class _Process:
    """A worker and the line to it."""

    def __init__(self, worker: PageProcess, threads: Threads) -> None:
        self.worker = worker
        self.pages = 0
        """Pages that are asked of it at this moment."""
        self._threads = threads
        self._line: _Line | None = None
        # One starts or stops it at a time.
        self._changing = DeferredLock()

    async def page(self, body: bytes, url: str, encoding: str | None) -> Page:
        """Return the page. One that kills the process twice abstains as `crashed`: the first time it may have been somebody else's kill.

        Raises:
            WorkerError: no process can be started.
        """
        worker, deaths = self.worker, 0
        while deaths < MOST_DEATHS:
            line = await self._connected()
            try:
                made, why = await line.ask(body, url, encoding) or (worker.abstain(body, url, Reason.TOO_SLOW), "too_slow")
            except _UnansweredError:
                continue
            except EOFError:
                deaths += 1
                await self._stop(line, "died")
            else:
                if why:
                    await self._stop(line, why)
                return made
        return worker.abstain(body, url, Reason.CRASHED)

    async def _connected(self) -> _Line:
        line = self._line
        return line if line and not line.lost else await _to_the_end(self._connect())

    async def _connect(self) -> _Line:
        await maybe_deferred_to_future(self._changing.acquire())
        try:
            if self._line and self._line.lost:
                await self._end("died")
            if not self._line:
                self._line = await _line_over(await self._threads.run(self.worker.start), self.worker)
            return self._line
        finally:
            self._changing.release()

    async def _stop(self, line: _Line, why: str) -> None:
        """Stop the process at the other end of a line, unless somebody did."""
        await _to_the_end(self._stop_once(line, why))

    async def _stop_once(self, line: _Line, why: str) -> None:
        await maybe_deferred_to_future(self._changing.acquire())
        try:
            if self._line is line:
                await self._end(why)
        finally:
            self._changing.release()

    async def _end(self, why: str) -> None:
        line, self._line = self._line, None
        if line:
            line.close()
        await self._threads.run(self.worker.stop, why)

    def close(self) -> None:
        """End the process, and start no more."""
        self.worker.close()
        if self._line:
            self._line.close()

    async def ended(self) -> None:
        """Return when nobody is starting or stopping it."""
        await maybe_deferred_to_future(self._changing.acquire())
        self._changing.release()


class _Turn:
    """What a page waits for that no process is free for."""

    def __init__(self) -> None:
        self.process: _Process | None = None
        self._given: Deferred[_Process] = Deferred()

    def give(self, process: _Process) -> None:
        self.process = process
        self._given.callback(process)

    async def wait(self) -> _Process:
        return await maybe_deferred_to_future(self._given)


class Processes:
    """Worker processes, each started when a page comes and no other is free. For the event loop only."""

    def __init__(self, make: Callable[[], PageProcess], most: int, threads: Threads, *, at_once: int, held_up: float) -> None:
        """Take what makes a worker, how many there may be, and threads to start them from.

        `at_once`: how many are started at once; further ones when a page has waited for `held_up` seconds. One alone is asked for its next
        page before it has answered, as it would otherwise wait whenever the event loop is busy.
        """
        self._make, self._most, self._threads = make, most, threads
        self._at_once, self._held_up = min(at_once, most), held_up
        self._deep = 2 if at_once == 1 else 1
        self._all: list[_Process] = []
        self._waiting: deque[_Turn] = deque()
        self._refusal = ""
        self.seconds_in_queue = 0.0

    @property
    def workers(self) -> list[PageProcess]:
        """All of them, whether they run or not."""
        return [process.worker for process in self._all]

    async def page(self, body: bytes, url: str, encoding: str | None) -> Page:
        """Return a page made by the next worker that is free.

        Raises:
            WorkerError: no process can be started.
        """
        started = monotonic()
        process = await self._take()
        self.seconds_in_queue += monotonic() - started
        try:
            return await self._page_of(process, body, url, encoding)
        finally:
            self._give_back(process)

    async def _page_of(self, process: _Process, body: bytes, url: str, encoding: str | None) -> Page:
        # Those that waited need not try it again, one after the other.
        if self._refusal:
            raise WorkerError(self._refusal)
        try:
            return await process.page(body, url, encoding)
        except WorkerError as exc:
            self._refusal = str(exc)
            raise

    async def _take(self) -> _Process:
        if process := self._free():
            return process
        turn = _Turn()
        self._waiting.append(turn)
        timer = call_later(self._held_up, self._hurry, turn)
        try:
            return await turn.wait()
        except BaseException:
            # Nobody waits for it any more.
            if turn.process:
                self._give_back(turn.process)
            else:
                self._waiting.remove(turn)
            raise
        finally:
            timer.cancel()

    def _free(self) -> _Process | None:
        """Return a process with one page more to make; None where all have enough."""
        # The first that has nothing to do: no more are started than pages are in work at a time.
        least = min(self._all, key=lambda process: process.pages, default=None)
        if (least is None or least.pages) and len(self._all) < self._at_once:
            return self._new()
        if least is None or least.pages >= self._deep:
            return None
        least.pages += 1
        return least

    def _new(self) -> _Process:
        process = _Process(self._make(), self._threads)
        process.pages = 1
        self._all.append(process)
        return process

    def _hurry(self, turn: _Turn) -> None:
        if len(self._all) < self._most and turn in self._waiting:
            self._waiting.remove(turn)
            turn.give(self._new())

    def _give_back(self, process: _Process) -> None:
        if self._waiting:
            self._waiting.popleft().give(process)
        else:
            process.pages -= 1

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.close()

    async def ended(self) -> None:
        """Return when nobody is starting or stopping a process any more; to be called after `close`, which makes that short."""
        for process in self._all:
            await process.ended()
