"""The event loop's end of the socket to a worker process."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory, Protocol

from simcrawl.errors import WorkerError
from simcrawl.workers.process import LENGTH, START_SECONDS, preparation
from simcrawl.workers.turns import Spent

if TYPE_CHECKING:
    from socket import socket

    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from simcrawl.workers.process import Asker, PageProcess, Question

    Answer = tuple[PageFingerprint | Abstention | None, str | None]

# Seconds by which a timer comes late on a loop that something holds up.
_LATE = 0.1
# Bytes of what a worker says of a recipe that it cannot load.
_LONGEST_REFUSAL = 1 << 16


class UnansweredError(Exception):
    """A question to a worker that was stopped for an earlier one, or is busy with it for long."""


class _Asked:
    """What stands in line at a worker: a question, or where there is none what its asker's pages are like."""

    def __init__(self, asker: Asker, question: Question | None, worker: PageProcess) -> None:
        self.question = question
        self.patience = asker.patience if question else START_SECONDS
        self.longest_answer = question.longest_answer() if question else _LONGEST_REFUSAL
        self.answer: Deferred[Any] = Deferred()
        self.is_wanted = True
        """Whether somebody still waits for the answer."""
        self.since = 0.0
        """Since when it is its turn."""
        self.spent = Spent()
        """What it took, when it is settled."""
        self._asker, self._worker = asker, worker
        self._seconds_before: float | None = None

    def begin(self) -> None:
        """Note that it is its turn, unless it was."""
        if not self.since:
            self.since, self._seconds_before = monotonic(), self._worker.seconds()

    def spent_so_far(self) -> Spent:
        """Return what it has taken."""
        if not self.since:
            return Spent()
        seconds = monotonic() - self.since
        before, now = self._seconds_before, self._worker.seconds()
        return Spent(seconds, seconds if before is None or now is None else now - before)

    def parse(self, message: bytes) -> Answer:
        """Return what the answer says, and why the worker is to be stopped now.

        Raises:
            EOFError: it is none.
            WorkerError: the worker cannot make such pages.
        """
        if self.question:
            return self._worker.answered(message, self.question)
        self._worker.prepared(self._asker, message)
        return None, None

    def settle(self, result: object) -> None:
        """Give whoever waits what came of it."""
        if self.is_wanted:
            self.is_wanted = False
            # Before the next one's turn.
            self.spent = self.spent_so_far()
            if isinstance(result, Exception):
                self.answer.errback(result)
            else:
                self.answer.callback(result)


class Line(Protocol):
    """The event loop's end of the socket to a worker, which answers one question after the other."""

    def __init__(self, worker: PageProcess) -> None:
        self.lost = False
        self.why = "died"
        """Why it is lost: whoever comes first takes note of it, which need not be who waits for the page."""
        self._worker = worker
        self._due = 0.0
        self._asked: deque[_Asked] = deque()
        self._received = bytearray()
        self._timer: Any = None

    async def ask(self, question: Question) -> tuple[Answer | None, Spent]:
        """Return the page, and why the worker is to be stopped now; None where none came in time after it was its turn. And what it took.

        The line is closed where the worker is to be stopped: what stands in line must not come from one that is too large, or hangs.

        Raises:
            EOFError: the worker is gone, and it was this page's turn.
            WorkerError: it cannot make such pages.
            UnansweredError: it was another one's.
        """
        if not self._worker.is_ready(question.asker):
            preparing = _Asked(question.asker, None, self._worker)
            if await self._send(preparing, preparation(question.asker)) is None:
                raise WorkerError(f"no worker process can make such pages: not ready after {START_SECONDS:g} seconds")
        asked = _Asked(question.asker, question, self._worker)
        answer = await self._send(asked, question.message())
        return answer, asked.spent

    async def _send(self, asked: _Asked, message: bytes) -> Answer | None:
        if self.lost:
            raise EOFError("the worker is gone")
        self._asked.append(asked)
        transport: Any = self.transport
        transport.write(LENGTH.pack(len(message)) + message)
        if len(self._asked) == 1:
            self._time()
        found: Answer | None = await maybe_deferred_to_future(asked.answer)
        return found

    @property
    def at_work(self) -> tuple[Question, float] | None:
        """What is being made, if somebody waits for it, and for how many seconds."""
        first = self._asked[0] if self._asked else None
        return (first.question, monotonic() - first.since) if first and first.question and first.is_wanted else None

    @property
    def spent(self) -> Spent:
        """What that which is being made has taken so far."""
        return self._asked[0].spent_so_far() if self._asked else Spent()

    def let_go(self) -> None:
        """Let those in line behind the first one go elsewhere."""
        for asked in list(self._asked)[1:]:
            asked.settle(UnansweredError())

    def is_wasted(self, seconds: float) -> bool:
        """Return whether the worker has been at something for so long that nobody waits for any more."""
        return bool(self._asked) and not self._asked[0].is_wanted and monotonic() - self._asked[0].since > seconds

    def hurry(self, seconds: float) -> None:
        """Give what is being made so many seconds more at most."""
        if self._asked and self._due > monotonic() + seconds:
            self._time(seconds)

    def _time(self, seconds: float | None = None) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if not self._asked:
            return
        first = self._asked[0]
        first.begin()
        seconds = first.patience if seconds is None else seconds
        self._due = monotonic() + seconds
        self._timer = call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        late = monotonic() - self._due
        if late > _LATE:
            # A callback has held up the event loop: the worker may have answered, or not have the whole question yet.
            self._time(late)
            return
        # First: it stops the worker, and who comes after it starts the next one.
        self.why = "too_slow"
        self._asked.popleft().settle(None)
        self.close()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take a part of an answer, however small: in all that is one pass over its bytes."""
        if self.lost:
            return
        self._received += data
        while len(self._received) >= LENGTH.size:
            (size,) = LENGTH.unpack_from(self._received)
            # Nor does an honest worker say anything that it was not asked for.
            if not self._asked or size > self._asked[0].longest_answer:
                self._end(EOFError(f"a worker answers {size} bytes, which are too many"))
                self._abort()
                self._received.clear()
                return
            end = LENGTH.size + size
            if len(self._received) < end:
                return
            message = bytes(self._received[LENGTH.size : end])
            del self._received[:end]
            if not self._take(message):
                return

    def _take(self, message: bytes) -> bool:
        """Take an answer, and return whether the worker goes on."""
        asked = self._asked.popleft()
        try:
            result = asked.parse(message)
        except EOFError as exc:
            asked.settle(exc)
            self.close()
            return False
        except WorkerError as exc:
            asked.settle(exc)
            self._time()
            return True
        why = result[1]
        if why:
            self.why = why
        asked.settle(result)
        self._time()
        if why:
            self.close()
            return False
        return True

    def connectionLost(self, reason: object = None) -> None:  # noqa: N802, ARG002 - Twisted's name
        """Take note of the worker's end."""
        self._end(EOFError("the worker is gone"))

    def close(self, why: str | None = None) -> None:
        """Close the socket without waiting for what is still to be sent; `why`: where the worker is to be stopped and none was known."""
        if not self.lost:
            self.why = why or self.why
            self._end(UnansweredError())
            self._abort()

    def _abort(self) -> None:
        transport: Any = self.transport
        # asyncio's name, and Twisted's.
        (getattr(transport, "abort", None) or transport.abortConnection)()

    def _end(self, first: Exception) -> None:
        self.lost = True
        asked, self._asked = self._asked, deque()
        self._time()
        for number, one in enumerate(asked):
            one.settle(UnansweredError() if number else first)


class _AsyncioSide(asyncio.Protocol):
    """Gives Twisted's protocol what asyncio's transport has for it."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def connection_made(self, transport: Any) -> None:
        self._line.makeConnection(transport)  # type: ignore[no-untyped-call]  # Twisted has no types for it

    def data_received(self, data: bytes) -> None:
        self._line.dataReceived(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._line.connectionLost(exc)


class _ReactorSide(Factory):
    noisy = False

    def __init__(self, line: Line) -> None:
        self._line = line

    def buildProtocol(self, addr: object) -> Line:  # noqa: N802, ARG002 - Twisted's name
        return self._line


async def line_over(ours: socket, worker: PageProcess) -> Line:
    """Return the line over a connected socket, which it takes."""
    line = Line(worker)
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
