"""Pages made in a process of its own, which can be killed: one that hangs, crashes or takes too much memory takes nothing along.

Not by `multiprocessing`, nor by pools built on it: its children import the parent's main module again, so a script that starts a crawl
without asking for its `__name__` would start it again in each of them. Bodies go in and pages come out, over a private socket: messages are
4 bytes of length, big-endian, and parts that are made likewise. The first one in, after a line with the path, tells the recipe and the
limits; the first one out is empty, or says why no pages can be made. A page comes as the record that a store would have of it, for a
process that has taken hostile pages apart should not be believed more than that.

No worker outlives its parent: an idle one sees the end of the socket, a busy one has a timer of the kernel's that ends it.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from socket import socket, socketpair
from time import monotonic
from typing import TYPE_CHECKING, Any

from simcrawl.errors import WorkerError
from simcrawl.page.fingerprint import MAX_WORKER_BYTES, Abstention, Reason, abstain, fingerprint_page, page_key
from simcrawl.page.hints import MOST_ALTERNATES, MOST_UNFOLLOWED, Hints
from simcrawl.page.recipes import from_json, to_json
from simcrawl.rule import StoredPage
from simcrawl.store.records import decode, encode
from simcrawl.system import bound_memory, memory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from simcrawl.page.fingerprint import PageFingerprint

# What leaks in parsers or in a user's extractor is given back.
MAX_PAGES = 10_000
MOST_DEATHS = 2
"""A page during which so many processes died abstains as `crashed`: one death may have been somebody else's kill."""
_START_SECONDS = 60.0
# Time that is up is a short time-out: none at all would mean that nothing is waited for, ever.
_SHORTEST = 1e-3
# Bytes of an answer that are taken at once.
_RECEIVED = 1 << 20
# As many seconds as select and setitimer take anywhere.
_LONGEST = 1e6
_LENGTH = struct.Struct("!I")
# The path comes first: simcrawl itself may be found by it alone.
_BOOT = """
import json, sys
from socket import socket
line = socket(fileno=int(sys.argv[1]))
messages = line.makefile("rb")
sys.path[:] = json.loads(messages.readline())
from simcrawl.workers.process import serve
serve(line, messages)
"""


def can_start() -> bool:
    """Return whether this Python can start workers: it has sockets to pass on, and is an interpreter rather than a frozen program."""
    return os.name == "posix" and bool(sys.executable) and not getattr(sys, "frozen", False)


class PageProcess:
    """A process that makes pages as `fingerprint_page` does, one at a time, as `question` and `answered` have them.

    It is to be stopped, and started again for the next page, when it dies, when a page takes longer than `patience` seconds, when it has
    grown to half of `max_bytes` (all of them are a hard limit on its memory), and after `max_pages` pages. `restarts` counts why,
    `seconds` the CPU seconds by stage.
    """

    def __init__(self, options: Mapping[str, Any], *, max_bytes: int = MAX_WORKER_BYTES, max_pages: int = MAX_PAGES) -> None:
        self.restarts: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.patience = min(options["max_seconds"], _LONGEST)
        self._options, self._max_bytes, self._max_pages = options, max_bytes, max_pages
        self._process: subprocess.Popen[bytes] | None = None
        self._pages = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's number; None where none runs."""
        return self._process.pid if self._process else None

    def start(self) -> socket:
        """Start the process and return the socket to it; takes about half a second.

        Raises:
            WorkerError: no process can be started.
        """
        refusal: str | None = None
        for _ in range(2):
            if self._closed:
                break
            ours, theirs = socketpair()
            try:
                with theirs:
                    told = self._told()
                    self._spawn(theirs.fileno())
                refusal = self._greet(ours, told)
            except Exception as exc:  # noqa: BLE001 - no such program, no more processes, a recipe that cannot be sent, somebody's kill
                refusal = repr(exc)
            if refusal is None and not self._closed:
                return ours
            ours.close()
            self._end()
        raise WorkerError(f"no worker process can be started: {'it is closed' if self._closed else refusal}")

    def _spawn(self, handle: int) -> None:
        self._pages = 0
        command = [sys.executable, "-P", "-c", _BOOT, str(handle)]
        # A group of its own: the terminal's Ctrl-C does not reach it, not even while it starts.
        self._process = subprocess.Popen(command, pass_fds=[handle], stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603 - ours

    def _told(self) -> bytes:
        """Return what a new process has to know first."""
        # Whatever else stands there is nothing to an import.
        entries: list[object] = [*sys.path]
        path = json.dumps([entry for entry in entries if isinstance(entry, str)])
        options = {name: value for name, value in self._options.items() if name != "recipe"}
        told = to_json(self._options["recipe"]), json.dumps(options), json.dumps([self._max_bytes, 2 * self.patience + 1])
        return path.encode() + b"\n" + _pack(_pack(*map(str.encode, told)))

    def _greet(self, ours: socket, told: bytes) -> str | None:
        """Tell a new process what it is to do; return why it cannot, None where it is ready."""
        ours.settimeout(_START_SECONDS)
        try:
            ours.sendall(told)
            with ours.makefile("rb") as answers:
                refusal = _read(answers)
        except TimeoutError:
            return f"not ready after {_START_SECONDS:g} seconds"
        return "it ended before it was ready" if refusal is None else refusal.decode() or None

    def question(self, body: bytes, url: str, encoding: str | None) -> bytes:
        """Return the message that asks for a page, without its length."""
        return _pack(url.encode("utf-8", "surrogatepass"), (encoding or "").encode(), body)

    def make(self, line: socket, body: bytes, url: str, encoding: str | None) -> tuple[PageFingerprint | Abstention, str | None]:
        """Ask for a page and wait for it; return it, and why the process is to be stopped before the next one.

        A page that takes too long abstains as such. `line`: what `start` returned, with nothing else asked.

        Raises:
            EOFError: the process is gone.
        """
        line.settimeout(self.patience)
        try:
            line.sendall(_pack(self.question(body, url, encoding)))
            answer = self._answer(line)
        except TimeoutError:
            return self.abstain(body, url, Reason.TOO_SLOW), "too_slow"
        except OSError as exc:
            raise EOFError(f"the worker is gone: {exc!r}") from exc
        if answer is None:
            raise EOFError("the worker is gone")
        return self.answered(answer, url)

    def _answer(self, line: socket) -> bytes | None:
        """Return the next message, within the time of a page; None at the end."""
        due, received, wanted = monotonic() + self.patience, bytearray(), _LENGTH.size
        while len(received) < wanted:
            line.settimeout(max(_SHORTEST, due - monotonic()))
            if not (more := line.recv(min(_RECEIVED, wanted - len(received)))):
                return None
            received += more
            if len(received) == _LENGTH.size:
                wanted += _LENGTH.unpack(received)[0]
        return bytes(received[_LENGTH.size :])

    def answered(self, answer: bytes, url: str) -> tuple[PageFingerprint | Abstention, str | None]:
        """Return the page of an answer, and why the process is to be stopped before the next one.

        Raises:
            EOFError: it is no answer, or one about another URL.
        """
        try:
            made, cost = self._parse(answer)
            seconds = {stage: float(number) for stage, number in cost["seconds"].items()}
            too_large = 2 * cost["memory"] > self._max_bytes
        except Exception as exc:
            # Whatever a process sends that has taken hostile pages apart.
            raise EOFError(f"a worker's answer does not parse: {exc!r}") from exc
        if made.url != page_key(url):
            raise EOFError(f"a worker's answer is about {made.url}, not {url}")
        self._pages += 1
        self.seconds.update(seconds)
        if too_large or getattr(made, "reason", None) is Reason.OUT_OF_MEMORY:
            return made, "memory"
        return made, "recycled" if self._pages >= self._max_pages else None

    def _parse(self, answer: bytes) -> tuple[PageFingerprint | Abstention, dict[str, Any]]:
        record, cost, content = _unpack(answer)
        recipe = self._options["recipe"]
        made = decode(record, recipe=recipe.identity, seed=self._options["seed"], bits=recipe.bits).page
        told = json.loads(cost)
        return replace(made, content=content.decode("utf-8", "surrogatepass") or None, hints=_hints(told.get("hints"))), told

    def abstain(self, body: bytes, url: str, reason: Reason) -> Abstention:
        """Return the page that the process cannot make."""
        return abstain(body, url=url, recipe=self._options["recipe"], seed=self._options["seed"], reason=reason)

    def stop(self, why: str) -> None:
        """End the process, and count why."""
        self.restarts[why] += 1
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the process, which holds nothing that is worth keeping, and start no more. From any thread."""
        self._closed = True
        if process := self._process:
            process.kill()
            process.wait()


def _pack(*parts: bytes) -> bytes:
    return b"".join([piece for part in parts for piece in (_LENGTH.pack(len(part)), part)])


def _unpack(data: bytes) -> list[bytes]:
    parts, start = [], 0
    while start < len(data):
        end = start + _LENGTH.size + _LENGTH.unpack_from(data, start)[0]
        parts.append(data[start + _LENGTH.size : end])
        start = end
    return parts


def _hints(told: list[Any] | None) -> Hints | None:
    if told is None:
        return None
    canonical, alternates, noindex, nofollow, _, unfollowed = told
    return Hints(
        str(canonical),
        tuple(map(str, alternates[:MOST_ALTERNATES])),
        bool(noindex),
        bool(nofollow),
        unfollowed=frozenset(map(int, unfollowed[:MOST_UNFOLLOWED])),
    )


def _read(line: BinaryIO) -> bytes | None:
    """Return the next message; None at the end, whatever part of a message stands before it."""
    head = line.read(_LENGTH.size)
    size = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else 0
    message = line.read(size)
    return message if len(head) + len(message) == _LENGTH.size + size else None


# ---- the process


def serve(line: socket, questions: BinaryIO) -> None:
    """Make pages for the process at the other end of a socket, until that is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with suppress(OSError):
        try:
            options, patience = _prepare(_read(questions) or b"")
        except Exception as exc:  # noqa: BLE001 - of a recipe or an extractor anything can be the matter
            line.sendall(_pack(repr(exc).encode("utf-8", "backslashreplace")))
            return
        line.sendall(_pack(b""))
        while (question := _read(questions)) is not None:
            # Kills, and needs no Python to run: whoever asked may be gone.
            signal.setitimer(signal.ITIMER_REAL, patience)
            answer = _make(question, options)
            signal.setitimer(signal.ITIMER_REAL, 0)
            line.sendall(_pack(answer))


def _make(question: bytes, options: Mapping[str, Any]) -> bytes:
    address, encoding, body = _unpack(question)
    url, seconds = address.decode("utf-8", "surrogatepass"), dict[str, float]()
    made = fingerprint_page(body, url=url, encoding=encoding.decode() or None, seconds=seconds, **options)
    cost = json.dumps({"seconds": seconds, "memory": memory(), "hints": made.hints}, default=list).encode()
    return _pack(encode(StoredPage(made, 0, 0)), cost, (made.content or "").encode("utf-8", "surrogatepass"))


def _prepare(told: bytes) -> tuple[dict[str, Any], float]:
    """Load what pages need before the first one's time runs, and bound the memory; return the options of pages, and their time."""
    import simcrawl.page.extraction  # noqa: F401, PLC0415 - loaded here for its side effect: it costs half a second

    recipe, options, bounds = _unpack(told)
    made = from_json(recipe.decode())
    made.load_extractor()
    max_bytes, patience = json.loads(bounds)
    bound_memory(max_bytes)
    return json.loads(options) | {"recipe": made}, patience
