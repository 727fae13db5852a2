"""How worker processes come to be: forked from one that has everything loaded, where the system can; else each on its own.

To start Python and to load what makes pages takes a third of a second of a core, and a worker is wanted in a hurry: when another one has
just hung or died over a hostile page, with honest pages behind it. So one process is started that makes no page, the *template*, and
workers are forked from it, in some milliseconds:

    crawl ----- asks for workers, passes sockets on ----> template      loads what makes pages, then forks; takes no page, no answer
      |                                                     |  |
      |                                                 forks  forks
      |                                                     v  v
      +---- pages, over a socket each -----------------> workers        each may be killed; the next one is as clean as the first

A worker is no child of the crawl's then. What is known of it is a descriptor (pidfd_open(2)): a number could mean another process by now.
Not the fork server of `multiprocessing`: its children import the parent's main module again, and would start the crawl again with it.

A worker's memory is the template's until one of both writes to it, so several take less than as many processes would.
"""

from __future__ import annotations

import gc
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from simcrawl.system import no_dumps

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO, NoReturn

    _Serve = Callable[[socket.socket, BinaryIO], None]

# How programs are found, speak, and use memory and cores; and what a user names so for an extractor.
_NEEDED = re.compile(
    r"PATH|HOME|TZ|TMPDIR|LANG|LANGUAGE|VIRTUAL_ENV|XDG_CACHE_HOME|LC_\w+|LD_\w+|DYLD_\w+|PYTHON\w+|MALLOC_\w+|COVERAGE_\w+"
    r"|(OMP|OPENBLAS|MKL|NUMEXPR)_NUM_THREADS|SIMCRAWL_\w+"
)
# Seconds that a template may take until it can fork, and then to fork; digits of a process's number.
_START_SECONDS, _FORK_SECONDS, _LONGEST_NUMBER = 60.0, 10.0, 20
# The path comes first: simcrawl itself may be found by it alone.
_BOOT = """
import json, sys
from socket import socket
line = socket(fileno=int(sys.argv[1]))
messages = line.makefile("rb")
# Nothing comes from a parent that was killed just now.
sys.path[:] = json.loads(messages.readline() or sys.exit())
from simcrawl.workers.process import serve
"""
_WORKER = _BOOT + "serve(line, messages)"
# Extraction is what takes longest to load, but for a user's own.
_TEMPLATE = (
    _BOOT
    + """
from simcrawl.workers.process import warm_up
from simcrawl.workers.starting import serve_forks
warm_up()
serve_forks(line, messages, serve)
"""
)


def can_start() -> bool:
    """Return whether this Python can start workers: it has sockets to pass on, and is an interpreter rather than a frozen program."""
    return os.name == "posix" and bool(sys.executable) and not getattr(sys, "frozen", False)


class Running(Protocol):
    """A worker that was started. Its methods may be called from any thread, and after its end."""

    @property
    def pid(self) -> int:
        """Its number, which is another process's when it has ended."""

    def kill(self) -> None:
        """End it, if it has not ended."""

    def wait(self) -> object:
        """Return when it has ended."""


class _Forked:
    """A worker that was forked from a template, by a descriptor that means it for ever."""

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid, self._descriptor = pid, descriptor

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def wait(self) -> None:
        # It can be read when the process has ended. Whether the template has taken note of that matters to nobody here.
        waiting = select.poll()
        waiting.register(self._descriptor, select.POLLIN)
        waiting.poll()

    def __del__(self) -> None:
        os.close(self._descriptor)


class Starter:
    """Starts workers: for all that one `close` ends."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._template: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._made_in: object = None
        self._is_ready = self._closed = False

    def begin(self) -> None:
        """Let the template load what it needs from now on, so that the first worker need not wait. Returns at once, never raises."""
        # Whoever has the lock is starting one.
        if _can_fork() and self._lock.acquire(blocking=False):
            try:
                if not self._closed:
                    self._begun()
            except OSError:
                # Told by whoever starts a worker.
                self._end()
            finally:
                self._lock.release()

    def start(self, handle: int) -> Running:
        """Start a worker at the other end of a socket, to which `path_line()` has to be sent first; may take half a second.

        Raises:
            OSError: it cannot be started.
        """
        if not _can_fork():
            return _popen(_WORKER, handle)
        with self._lock:
            # The second time because somebody may have killed the template; where there is no new one, a process by itself may do.
            for _ in range(2):
                with suppress(OSError, EOFError):
                    return self._forked(handle)
                self._end()
        if self._closed:
            raise OSError("it is closed")
        return _popen(_WORKER, handle)

    def _forked(self, handle: int) -> _Forked:
        line = self._begun()
        if not self._is_ready:
            # `close` may have come before there was something to end.
            if self._closed or not line.recv(1):
                raise EOFError("the template has ended")
            self._is_ready = True
            line.settimeout(_FORK_SECONDS)
        socket.send_fds(line, [b"f"], [handle])
        pid, descriptors, _, _ = socket.recv_fds(line, _LONGEST_NUMBER, 1)
        if not descriptors:
            raise EOFError("the template has ended")
        return _Forked(int(pid), descriptors[0])

    def _begun(self) -> socket.socket:
        """Return the line to the template, which may not be ready yet."""
        # What a process takes over from its parent, and the template would hand on as it was.
        made_in = _environment(), os.getcwd(), _prints_to(), sys.executable  # noqa: PTH109 - compared only
        if self._made_in != made_in:
            self._end()
        if self._line is None:
            self._made_in = made_in
            # Kept before it is of use: `_end` closes it.
            self._line, theirs = socket.socketpair()
            self._is_ready = False
            with theirs:
                self._template = _popen(_TEMPLATE, theirs.fileno())
            self._line.settimeout(_START_SECONDS)
            self._line.sendall(path_line())
        return self._line

    def _end(self) -> None:
        line, self._line = self._line, None
        if line:
            line.close()
        self._kill()

    def _kill(self) -> None:
        if process := self._template:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the template; workers that run go on. From any thread, also while one is being started, which fails."""
        self._closed = True
        # First of all: whoever has the lock may wait for it.
        self._kill()
        with self._lock:
            self._end()


def path_line() -> bytes:
    """Return the line that tells a new process where modules are found."""
    # Whatever else stands there is nothing to an import.
    entries: list[object] = [*sys.path]
    return json.dumps([entry for entry in entries if isinstance(entry, str)]).encode() + b"\n"


@lru_cache(maxsize=1)
def _can_fork() -> bool:
    """Return whether a worker that was forked by another process could be ended: on Linux, where no container forbids it."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return hasattr(signal, "pidfd_send_signal")


def _popen(code: str, handle: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-c", code, str(handle)]
    # A group of its own: the terminal's Ctrl-C does not reach it, not even while it starts. What it prints is no output of the crawl's.
    return subprocess.Popen(  # noqa: S603 - ours
        command, pass_fds=[handle], stdin=subprocess.DEVNULL, stdout=_prints_to(), env=_environment(), process_group=0
    )


def _environment() -> dict[str, str]:
    """Return what a worker needs of the environment. The rest may hold secrets, and the worker takes hostile pages apart."""
    found = {name: value for name, value in os.environ.items() if _NEEDED.fullmatch(name)}
    # Each worker has a core at most, and a process with threads should not be forked.
    return {"OPENBLAS_NUM_THREADS": "1"} | found


def _prints_to() -> int:
    """Return where a worker's standard output goes: to standard error, where there is one."""
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2


# ---- the template


def serve_forks(line: socket.socket, messages: BinaryIO, serve: _Serve) -> None:
    """Fork workers, which `serve`, for the process at the other end of a socket, until that is gone."""
    # Else a worker could not close the socket.
    messages.close()
    no_dumps()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # A collection would write to what is shared, all of it.
    gc.freeze()
    with suppress(OSError):
        line.sendall(b"r")
        while handles := socket.recv_fds(line, 1, 1)[1]:
            _fork(line, handles[0], serve)


def _fork(line: socket.socket, handle: int, serve: _Serve) -> None:
    """Fork a worker for the process at the other end of a socket, and answer with its number and a descriptor; without one if it fails."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    descriptors: list[int] = []
    with suppress(OSError):
        pid = os.fork()
        if pid == 0:
            line.close()
            _be_worker(handle, serve)
        # Nobody else can have its number before it is buried.
        descriptors.append(os.pidfd_open(pid))
    socket.send_fds(line, [str(pid).encode() if descriptors else b"0"], descriptors)
    for descriptor in (handle, *descriptors):
        os.close(descriptor)


def _be_worker(handle: int, serve: _Serve) -> NoReturn:
    # Whatever happens, it must not go on as a second template.
    try:
        questions = socket.socket(fileno=handle)
        messages = questions.makefile("rb")
        # Nothing comes from a parent that was killed just now.
        if told := messages.readline():
            sys.path[:] = json.loads(told)
            serve(questions, messages)
    except BaseException:  # noqa: BLE001 - said where an interpreter that ends says it
        traceback.print_exc()
    finally:
        os._exit(0)
