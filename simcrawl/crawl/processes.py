"""Worker processes that the event loop speaks to itself.

Not through threads that wait for them: a thread and the event loop hand the interpreter to each other a dozen times a page, which cost a
crawl more than all that it does for a page now (`docs/decisions.md`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory
from twisted.protocols.basic import Int32StringReceiver

from simcrawl.pages import Reason

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from simcrawl.crawl.workers import Workers
    from simcrawl.pages import Abstention, PageFingerprint
    from simcrawl.worker import Worker

    Page = PageFingerprint | Abstention


class _Line(Int32StringReceiver):
    """The event loop's end of the socket to a worker: one question at a time."""

    MAX_LENGTH = (1 << 32) - 1

    def __init__(self) -> None:
        self._lost = False
        self._answer: Deferred[bytes | None] | None = None

    async def ask(self, question: bytes, patience: float) -> bytes | None:
        """Return the answer; None where there was none in time.

        Raises:
            EOFError: the worker is gone.
        """
        answer: Deferred[bytes | None] = Deferred()
        self._answer = answer
        if self._lost:
            self._end()
        else:
            self.sendString(question)  # type: ignore[no-untyped-call]  # Twisted has no types for it
        timer = call_later(patience, self._settle, None)
        try:
            return await maybe_deferred_to_future(answer)
        finally:
            timer.cancel()

    def _settle(self, answer: bytes | None) -> None:
        waiting, self._answer = self._answer, None
        if waiting:
            waiting.callback(answer)

    def _end(self) -> None:
        self._lost = True
        waiting, self._answer = self._answer, None
        if waiting:
            waiting.errback(EOFError("the worker is gone"))

    def stringReceived(self, string: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take an answer."""
        self._settle(string)

    def connectionLost(self, reason: object = None) -> None:  # noqa: N802, ARG002 - Twisted's name
        """Take note of the end."""
        self._end()

    def close(self) -> None:
        """Close the socket without waiting for what is still to be sent."""
        transport: Any = self.transport
        # asyncio's name, and Twisted's.
        (getattr(transport, "abort", None) or transport.abortConnection)()


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


async def _line_over(ours: socket) -> _Line:
    line = _Line()
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


class _Process:
    """A worker and the line to it."""

    def __init__(self, worker: Worker, threads: Workers) -> None:
        self.worker = worker
        self._threads = threads
        self._line: _Line | None = None

    async def page(self, body: bytes, url: str, encoding: str | None) -> Page:
        """Return the page. One that kills the process twice abstains as `crashed`: the first time it may have been somebody else's kill.

        Raises:
            WorkerError: no process can be started.
        """
        for _ in range(2):
            try:
                return await self._ask(body, url, encoding)
            except EOFError:
                await self._stop("died")
        return self.worker.abstain(body, url, Reason.CRASHED)

    async def _ask(self, body: bytes, url: str, encoding: str | None) -> Page:
        worker = self.worker
        if self._line is None:
            self._line = await _line_over(await self._threads.run(worker.start))
        answer = await self._line.ask(worker.question(body, url, encoding), worker.patience)
        if answer is None:
            await self._stop("too_slow")
            return worker.abstain(body, url, Reason.TOO_SLOW)
        made, why = worker.answered(answer)
        if why:
            await self._stop(why)
        return made

    async def _stop(self, why: str) -> None:
        line, self._line = self._line, None
        if line:
            line.close()
        await self._threads.run(self.worker.stop, why)

    def close(self) -> None:
        """End the process, and start no more."""
        self.worker.close()
        if self._line:
            self._line.close()


class Processes:
    """Worker processes, each started when a page comes and no other is free. For the event loop only."""

    def __init__(self, make: Callable[[], Worker], most: int, threads: Workers, *, at_once: int, held_up: float) -> None:
        """Take what makes a worker, how many there may be, and threads to start them from.

        `at_once`: how many are started at once; further ones when a page has waited for `held_up` seconds.
        """
        self._make, self._most, self._threads = make, most, threads
        self._at_once, self._held_up = at_once, held_up
        self._all: list[_Process] = []
        self._idle: list[_Process] = []
        self._waiting: deque[Deferred[_Process]] = deque()
        self.seconds_in_queue = 0.0

    @property
    def workers(self) -> list[Worker]:
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
            return await process.page(body, url, encoding)
        finally:
            self._give_back(process)

    async def _take(self) -> _Process:
        if self._idle:
            # The one that was used last: no more are started than pages are in work at a time.
            return self._idle.pop()
        if len(self._all) < min(self._at_once, self._most):
            return self._new()
        waiting: Deferred[_Process] = Deferred()
        self._waiting.append(waiting)
        timer = call_later(self._held_up, self._hurry, waiting)
        try:
            return await maybe_deferred_to_future(waiting)
        except BaseException:
            # Nobody waits for it any more.
            with suppress(ValueError):
                self._waiting.remove(waiting)
            raise
        finally:
            timer.cancel()

    def _new(self) -> _Process:
        process = _Process(self._make(), self._threads)
        self._all.append(process)
        return process

    def _hurry(self, waiting: Deferred[_Process]) -> None:
        if len(self._all) < self._most and waiting in self._waiting:
            self._waiting.remove(waiting)
            waiting.callback(self._new())

    def _give_back(self, process: _Process) -> None:
        if self._waiting:
            self._waiting.popleft().callback(process)
        else:
            self._idle.append(process)

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.close()
