"""Python processes that are forked from one that has loaded what they need: to load it takes longer than most of them run.

`python()` begins a command that does as one that begins with `sys.executable`, `commands()` are such for a shell, and `run` does the same
without a process between. None of them takes over anything but loaded modules. So is the process forked that a crawl's first workers come
from, which would load almost the same once more. Where what Python itself reads of the environment is another, a process is new.

As a script it is the process that the others are forked from.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import re
import resource
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from tests import launcher

ROOT = Path(__file__).parents[1]
# What commands and crawls load in any case, and those who write to a store. Nothing of it may install a reactor.
_LOADED = (
    "pytest",
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.scheduler",
    "scrapy.crawler",
    "scrapy.extensions.feedexport",
    "simcrawl.cli",
    "simcrawl.crawl.addon",
    "simcrawl.crawl.command",
    "simcrawl.crawl.session",
    "simcrawl.crawl.spiders.site",
    "simcrawl.page.extraction",
    "simcrawl.store",
    "simcrawl.store.opening",
    "simcrawl.tools.bulk",
    "simcrawl.workers.process",
    "tests.crawl.spiders",
    "tests.strategies",
)
# What is read once, when Python or a library is loaded.
_AT_START = re.compile(
    r"PYTHON\w+|LC_\w+|LANG|LANGUAGE|TZ|LD_\w+|MALLOC_\w+|COVERAGE_\w+|HOME|XDG_\w+|TMPDIR|TLDEXTRACT_\w+|\w+_NUM_THREADS"
)


def python() -> list[str]:
    """Return how a command begins that is run with a forked process: arguments as of `python` follow, the first `-c`, `-m` or a file."""
    return [sys.executable, "-I", "-S", launcher.__file__, str(_template().place)]


def commands(directory: Path) -> Path:
    """Make `python`, and the scripts `scrapy` and `simcrawl`, that are run so, in a directory that a shell's PATH may begin with."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("python", "scrapy", "simcrawl"):
        script = [] if name == "python" else [str(Path(sys.executable).with_name(name))]
        made = directory / name
        made.write_text(f'#!/bin/sh\nexec {shlex.join([*python(), *script])} "$@"\n')
        made.chmod(0o755)
    return directory


def run(
    arguments: list[str], given: str = "", *, timeout: float, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Do as `subprocess.run` does that is given text and captures what comes out."""
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile("w+"))
        file.write(given)
        file.seek(0)
        # Not to files: a test may let all of them be too large.
        (out, to_out), (said, to_said) = os.pipe(), os.pipe()
        pool = stack.enter_context(ThreadPoolExecutor(2))
        reading = [pool.submit(_read, descriptor) for descriptor in (out, said)]
        try:
            line = launcher.ask(
                str(_template().place), arguments, [file.fileno(), to_out, to_said], dict(os.environ if env is None else env), str(cwd)
            )
        finally:
            os.close(to_out)
            os.close(to_said)
        command = [sys.executable, *arguments]
        if line is None:
            return subprocess.run(command, input=given, capture_output=True, text=True, check=False, cwd=cwd, env=env, timeout=timeout)
        line.settimeout(timeout)
        # A process that nobody waits for any more is killed.
        code = launcher.end(line)
        return subprocess.CompletedProcess(command, code, *(one.result() for one in reading))


def _read(descriptor: int) -> str:
    with open(descriptor) as file:
        return file.read()


class _Template:
    """The process that has loaded everything."""

    def __init__(self) -> None:
        self._directory = tempfile.mkdtemp()
        self.place = Path(self._directory, "place")
        self._line, theirs = socket.socketpair()
        with socket.socket(socket.AF_UNIX) as listening, theirs:
            listening.bind(str(self.place))
            listening.listen(100)
            handles = [theirs.fileno(), listening.fileno()]
            command = [sys.executable, "-m", "tests.forked", *map(str, handles)]
            self._process = subprocess.Popen(command, pass_fds=handles, stdin=subprocess.DEVNULL, cwd=ROOT)

    def close(self) -> None:
        """End it."""
        self._line.close()
        self._process.wait()
        shutil.rmtree(self._directory)


@cache
def _template() -> _Template:
    made = _Template()
    atexit.register(made.close)
    return made


# ---- the process that the others are forked from


def _modules_of_settings() -> set[str]:
    """Return the modules of the components that Scrapy has of its own accord: to load them takes as long as to load Scrapy."""
    from scrapy.settings import default_settings

    values = [value for name, value in vars(default_settings).items() if name.isupper()]
    tables = [value for value in values if isinstance(value, dict)]
    named = chain(values, *tables, *(table.values() for table in tables))
    return {one.rpartition(".")[0] for one in named if isinstance(one, str) and one.startswith("scrapy.")}


def _serve(line: socket.socket, listening: socket.socket) -> socket.socket:
    """Fork a process for whoever asks, in which this returns with the line to that one. Ends when the test run does."""
    for module in (*_LOADED, *_modules_of_settings()):
        import_module(module)
    if "twisted.internet.reactor" in sys.modules:
        raise RuntimeError("a module installs a reactor")
    from simcrawl.workers.process import warm_up

    # Templates of workers are forked from what is forked here. They do so, too, and find it done.
    warm_up()
    # A collection in a process that is forked would go through all of this, and copy it.
    gc.collect()
    gc.freeze()
    # Nobody waits for the processes that wait for another one.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([line, listening], [], [])
        if line in ready:
            sys.exit()
        asked, _ = listening.accept()
        if not os.fork():
            line.close()
            listening.close()
            return asked
        asked.close()


def _be_asked(line: socket.socket) -> dict[str, Any]:
    """Fork the process that is asked for, in which this returns with what is asked, and wait for its end or for that of whoever asked."""
    _, descriptors, _, _ = socket.recv_fds(line, 1, 3)
    with line.makefile() as file:
        asked: dict[str, Any] = json.loads(file.readline())
    is_option = asked["arguments"][0].startswith("-") and asked["arguments"][0] not in ("-c", "-m")
    if is_option or _at_start(asked["environment"]) != _at_start():
        line.sendall(b"n")
        os._exit(0)
    ended, says_so = os.pipe()
    os.set_blocking(says_so, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken = signal.set_wakeup_fd(says_so)
    line.sendall(b"y")
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        _wait(pid, ended, line)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor in (ended, says_so):
        os.close(descriptor)
    line.close()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    return asked


def _at_start(environment: dict[str, str] | None = None) -> dict[str, str]:
    return {name: value for name, value in (environment or os.environ).items() if _AT_START.fullmatch(name)}


def _wait(pid: int, ended: int, line: socket.socket) -> NoReturn:
    ready, _, _ = select.select([ended, line.fileno()], [], [])
    if ended not in ready:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        line.sendall(b"%d\n" % code)
    os._exit(0)


def _become(asked: dict[str, Any]) -> None:
    """Be the process that is asked for."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["directory"])
    for name, limit in asked["limits"].items():
        if resource.getrlimit(getattr(resource, name)) != tuple(limit):
            resource.setrlimit(getattr(resource, name), tuple(limit))
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    what, *rest = asked["arguments"]
    if what == "-m":
        _fork_template()
        sys.argv[:], sys.path[0] = rest, os.getcwd()  # noqa: PTH109 - as Python has it
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        sys.argv[:], sys.path[0] = ["-c", *rest[1:]], ""
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    else:
        sys.argv[:], sys.path[0] = [what, *rest], str(Path(what).resolve().parent)
        runpy.run_path(what, run_name="__main__")


def _end(code: int) -> NoReturn:
    """End as Python does, but for taking apart what was loaded, which takes as long as to load it."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if "twisted.internet.reactor" in sys.modules:
        # What a crawl has left may have something to say: a task that nobody waited for, a coroutine that never ran.
        gc.collect()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _main() -> None:
    lines = [socket.socket(fileno=int(argument)) for argument in sys.argv[1:3]]
    asked = _be_asked(_serve(*lines))
    code: Any = 0
    try:
        _become(asked)
    except SystemExit as exc:
        code = exc.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # noqa: BLE001 - said as Python says it
        traceback.print_exc()
        code = 1
    _end(code & 0xFF)


# ---- the process that workers come from


class _Child:
    """A process that was forked here; has what `simcrawl.workers.starting` calls of a `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._lock, self._has_ended = threading.Lock(), False

    def kill(self) -> None:
        with self._lock:
            if not self._has_ended:
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        with self._lock:
            if not self._has_ended:
                os.waitpid(self.pid, 0)
                self._has_ended = True


def _fork_template() -> None:
    """Fork the process that will be the first template of workers here, as soon as one is asked for. It ends with this one if none is."""
    from simcrawl.workers import starting

    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _be_template(theirs)
    theirs.close()
    started = starting._popen

    def popen(code: str, handle: int) -> Any:
        if code != starting._TEMPLATE:
            return started(code, handle)
        starting._popen = started
        with ours:
            socket.send_fds(ours, [json.dumps([starting._environment(), str(Path.cwd())]).encode()], [handle])
        return _Child(pid)

    starting._popen = popen


def _be_template(line: socket.socket) -> NoReturn:
    """Do as a process that `simcrawl.workers.starting` starts."""
    from simcrawl.workers import starting

    try:
        os.setpgid(0, 0)
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        told, handles, _, _ = socket.recv_fds(line, 1 << 20, 1)
        line.close()
        if handles:
            environment, directory = json.loads(told)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(directory)
            sys.argv[:] = ["-c", str(handles[0])]
            exec(starting._TEMPLATE, {"__name__": "__main__"})
    except BaseException:  # noqa: BLE001 - said where an interpreter that ends says it
        traceback.print_exc()
    finally:
        os._exit(0)


if __name__ == "__main__":
    _main()
