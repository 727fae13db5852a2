"""Pages made in a process of its own, which can be killed: one that hangs, crashes or takes too much memory takes nothing along.

Not by `multiprocessing`, nor by pools built on it: its children import the parent's main module again, so a script that starts a crawl
without asking for its `__name__` would start it again in each of them. Bodies go in and `PageFingerprint`s come out, over a private socket.

No worker outlives its parent: an idle one sees the end of the socket, a busy one has a timer of the kernel's that ends it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.spawn import get_executable
from typing import TYPE_CHECKING, Any

from simcrawl.errors import WorkerError
from simcrawl.pages import MAX_WORKER_BYTES, Abstention, Reason, abstain, fingerprint_page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection

    from simcrawl.pages import PageFingerprint

# What leaks in parsers or in a user's extractor is given back.
MAX_PAGES = 10_000
_START_SECONDS = 60.0
# As many seconds as select and setitimer take anywhere.
_LONGEST = 1e6
# The path comes first: simcrawl itself may be found by it alone.
_BOOT = """
import sys
from multiprocessing.connection import Connection
channel = Connection(int(sys.argv[1]))
sys.path[:] = channel.recv()
from simcrawl.worker import serve
serve(channel)
"""


def can_start() -> bool:
    """Return whether this Python can start workers: it has sockets to pass on, and is an interpreter rather than a frozen program."""
    return os.name == "posix" and bool(get_executable()) and not getattr(sys, "frozen", False)


class Worker:
    """A process that makes pages as `fingerprint_page` does, started when the first one comes. For one thread at a time.

    It is replaced when it dies, when a page takes longer than the options' `max_seconds`, when it has grown to half of `max_bytes` (all of
    them are a hard limit on its memory), and after `max_pages` pages. `restarts` counts why, `seconds` the CPU seconds by stage.
    """

    def __init__(self, options: Mapping[str, Any], *, max_bytes: int = MAX_WORKER_BYTES, max_pages: int = MAX_PAGES) -> None:
        self.restarts: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self._options, self._max_bytes, self._max_pages = options, max_bytes, max_pages
        self._patience = min(options["max_seconds"], _LONGEST)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Connection[Any, Any] | None = None
        self._pages = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's number; None where none runs."""
        return self._process.pid if self._process else None

    def page(self, body: bytes, *, url: str = "", encoding: str | None = None) -> PageFingerprint | Abstention:
        """Return the page. One that kills the process twice abstains as `crashed`: the first time it may have been somebody else's kill.

        Raises:
            WorkerError: no process can be started.
        """
        for _ in range(2):
            channel = self._channel or self._start()
            try:
                return self._ask(channel, body, url, encoding)
            except (EOFError, OSError):
                self._stop("died")
        return self._abstain(body, url, Reason.CRASHED)

    def _ask(self, channel: Connection[Any, Any], body: bytes, url: str, encoding: str | None) -> PageFingerprint | Abstention:
        channel.send((body, url, encoding))
        if not channel.poll(self._patience):
            self._stop("too_slow")
            return self._abstain(body, url, Reason.TOO_SLOW)
        made: PageFingerprint | Abstention
        made, seconds, memory = channel.recv()
        self.seconds.update(seconds)
        self._pages += 1
        if 2 * memory > self._max_bytes or getattr(made, "reason", None) is Reason.OUT_OF_MEMORY:
            self._stop("memory")
        elif self._pages >= self._max_pages:
            self._stop("recycled")
        return made

    def _abstain(self, body: bytes, url: str, reason: Reason) -> Abstention:
        return abstain(body, url=url, recipe=self._options["recipe"], seed=self._options["seed"], reason=reason)

    def _start(self) -> Connection[Any, Any]:
        refusal: str | None = "it is closed"
        for _ in range(0 if self._closed else 2):
            channel, theirs = Pipe()
            try:
                with theirs:
                    self._spawn(theirs.fileno())
                refusal = self._greet(channel)
            except Exception as exc:  # noqa: BLE001 - no such program, no more processes, a recipe that cannot be sent, somebody's kill
                refusal = repr(exc)
            self._channel = channel
            if refusal is None:
                return channel
            self._end()
        raise WorkerError(f"no worker process can be started: {refusal}")

    def _spawn(self, handle: int) -> None:
        self._pages = 0
        command = [os.fsdecode(get_executable()), "-P", "-c", _BOOT, str(handle)]
        # A group of its own: the terminal's Ctrl-C does not reach it, not even while it starts.
        self._process = subprocess.Popen(command, pass_fds=[handle], stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603 - ours

    def _greet(self, channel: Connection[Any, Any]) -> str | None:
        """Tell a new process what it is to do; return why it cannot, None where it is ready."""
        channel.send(sys.path)
        channel.send((self._options, self._max_bytes, 2 * self._patience + 1))
        refusal: str | None = f"not ready after {_START_SECONDS:g} seconds"
        if channel.poll(_START_SECONDS):
            refusal = channel.recv()
        return refusal

    def _stop(self, why: str) -> None:
        self.restarts[why] += 1
        self._end()

    def _end(self) -> None:
        process, channel = self._process, self._channel
        self._process = self._channel = None
        if channel:
            channel.close()
        if process:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the process, which holds nothing that is worth keeping, and start no more. From any thread."""
        self._closed = True
        # The channel stays: another thread may be waiting at it, and its number would soon be another's.
        if process := self._process:
            process.kill()
            process.wait()


def serve(channel: Connection[Any, Any]) -> None:
    """Make pages for the process at the other end of the channel, until that is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with suppress(EOFError, OSError):
        try:
            options, max_bytes, patience = channel.recv()
            _prepare(options, max_bytes)
        except Exception as exc:  # noqa: BLE001 - of a recipe or an extractor anything can be the matter
            channel.send(repr(exc))
            return
        channel.send(None)
        while True:
            body, url, encoding = channel.recv()
            # Kills, and needs no Python to run: whoever asked may be gone.
            signal.setitimer(signal.ITIMER_REAL, patience)
            seconds: dict[str, float] = {}
            made = fingerprint_page(body, url=url, encoding=encoding, seconds=seconds, **options)
            signal.setitimer(signal.ITIMER_REAL, 0)
            channel.send((made, seconds, _memory()))


def _prepare(options: Mapping[str, Any], max_bytes: int) -> None:
    """Load what pages need before the first one's time runs, and bound the memory."""
    import resource  # noqa: PLC0415 - where there are no workers there is no such module

    import simcrawl.extraction  # noqa: F401, PLC0415 - loaded here for its side effect: it costs half a second

    options["recipe"].load_extractor()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (max_bytes if hard == resource.RLIM_INFINITY else min(max_bytes, hard), hard))


def _memory() -> int:
    """Return the bytes in use. Not the peak that `getrusage` knows: that begins with the parent's."""
    try:
        with open("/proc/self/statm", "rb") as numbers:  # noqa: PTH123 - once a page
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
