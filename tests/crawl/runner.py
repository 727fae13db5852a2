"""Runs crawls in a process of their own (a process has one reactor) and returns what came of them.

As a script it reads a job from standard input, runs it, and writes the stats of its crawlers as the last line of standard output.

To load Scrapy and simcrawl takes longer than most of the crawls. So one process loads them, and those of crawls are forked from it: none of
them takes over anything but loaded modules. So is the process that a crawl's first workers come from, which would load almost the same once
more. With a function to call first, or in another environment, a crawl gets a process that is new, and starts that one itself.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
MODES = ("asyncio", "epoll", "reactorless")
_SETTINGS: dict[str, Any] = {
    "ADDONS": {"simcrawl.Addon": 500},
    "SIMCRAWL_STORE": "memory:?seed=1",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
}


@dataclass
class Outcome:
    """What a crawl left behind."""

    stats: dict[str, Any]
    log: str

    def paths(self, name: str) -> list[Any]:
        """Return the URLs that the spider noted, without scheme and host; pairs of URLs as pairs."""
        return sorted(_path(value) for value in self.stats.get(f"test/{name}", []))

    def pages(self) -> dict[str, int]:
        """Return the counts of verdicts."""
        prefix = "simcrawl/pages/"
        return {name.removeprefix(prefix): value for name, value in self.stats.items() if name.startswith(prefix)}


def _path(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_path, value))
    return "/" + value.split("/", 3)[3] if isinstance(value, str) and value.startswith("http") else value


def crawl(
    spider: str,
    url: str,
    *,
    mode: str = "asyncio",
    settings: dict[str, Any] | None = None,
    preexec: Callable[[], None] | None = None,
    **arguments: str,
) -> Outcome:
    """Run one spider and return its outcome."""
    return crawls([{"spider": spider, "arguments": {"url": url} | arguments}], mode=mode, settings=settings, preexec=preexec)[0]


def crawls(
    jobs: list[dict[str, Any]], *, mode: str = "asyncio", settings: dict[str, Any] | None = None, preexec: Callable[[], None] | None = None
) -> list[Outcome]:
    """Run several spiders at the same time in one process."""
    done = start(jobs, mode=mode, settings=settings, preexec=preexec)
    assert done.returncode == 0, done.stderr
    return [Outcome(stats, done.stderr) for stats in json.loads(done.stdout.splitlines()[-1])]


def start(
    jobs: list[dict[str, Any]], *, mode: str = "asyncio", settings: dict[str, Any] | None = None, preexec: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a process to its end, whatever end that is."""
    job = json.dumps({"jobs": jobs, "mode": mode, "settings": _SETTINGS | (settings or {})})
    command = [sys.executable, "-m", "tests.crawl.runner"]
    if not preexec and _environment() == _AT_FIRST:
        return _template().run(command, job)
    return subprocess.run(command, input=job, capture_output=True, text=True, check=False, cwd=ROOT, timeout=_LONGEST, preexec_fn=preexec)


# ---- processes that are forked


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


_AT_FIRST = _environment()
_LONGEST = 600
_FORKED = "--forked"
# What a crawl loads in any case. Nothing of it may install a reactor.
_LOADED = (
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.scheduler",
    "scrapy.crawler",
    "scrapy.extensions.feedexport",
    "simcrawl.crawl.addon",
    "simcrawl.crawl.session",
    "simcrawl.crawl.spiders.site",
    "simcrawl.page.extraction",
    "simcrawl.workers.process",
    "tests.crawl.spiders",
)


class _Template:
    """The process that has loaded what crawls need."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._line, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.crawl.runner", _FORKED, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=ROOT)

    def run(self, command: list[str], job: str) -> subprocess.CompletedProcess[str]:
        """Do as `subprocess.run` does."""
        with ExitStack() as stack:
            given = stack.enter_context(TemporaryFile("w+"))
            given.write(job)
            given.seek(0)
            # Not to files: a test may let all of them be too large.
            (out, to_out), (said, to_said), (ours, theirs) = os.pipe(), os.pipe(), socket.socketpair()
            pool = stack.enter_context(ThreadPoolExecutor(2))
            reading = [pool.submit(_read, descriptor) for descriptor in (out, said)]
            stack.enter_context(ours)
            with theirs, self._lock:
                socket.send_fds(self._line, [b"f"], [theirs.fileno(), given.fileno(), to_out, to_said])
            os.close(to_out)
            os.close(to_said)
            ours.settimeout(_LONGEST)
            answers = stack.enter_context(ours.makefile("r"))
            pid = int(answers.readline())
            try:
                code = int(answers.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            return subprocess.CompletedProcess(command, code, *(one.result() for one in reading))

    def close(self) -> None:
        """End it."""
        self._line.close()
        self._process.wait()


def _read(descriptor: int) -> str:
    with open(descriptor) as file:
        return file.read()


@cache
def _template() -> _Template:
    made = _Template()
    atexit.register(made.close)
    return made


def _modules_of_settings() -> set[str]:
    """Return the modules of the components that Scrapy has of its own accord: to load them takes as long as to load Scrapy."""
    from scrapy.settings import default_settings

    values = [value for name, value in vars(default_settings).items() if name.isupper()]
    tables = [value for value in values if isinstance(value, dict)]
    named = chain(values, *tables, *(table.values() for table in tables))
    return {one.rpartition(".")[0] for one in named if isinstance(one, str) and one.startswith("scrapy.")}


def _fork(line: socket.socket) -> None:
    """Fork a process for each crawl that is asked for, in which this returns. Ends when nobody asks any more."""
    for module in (*_LOADED, *_modules_of_settings()):
        import_module(module)
    if "twisted.internet.reactor" in sys.modules:
        raise RuntimeError("a module installs a reactor")
    # Nobody waits for the processes that wait for a crawl.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        _, descriptors, _, _ = socket.recv_fds(line, 1, 4)
        if not descriptors:
            sys.exit()
        if not os.fork():
            break
        for descriptor in descriptors:
            os.close(descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    line.close()
    told, *standard = descriptors
    pid = os.fork()
    if pid:
        for descriptor in standard:
            os.close(descriptor)
        os.write(told, b"%d\n" % pid)
        os.write(told, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    os.close(told)
    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
        os.close(descriptor)
    _fork_template()


# ---- the process that workers come from


class _Child:
    """A process that was forked here; has what `simcrawl.workers.starting` calls of a `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._lock, self._has_ended = Lock(), False

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


# ---- the process of a crawl


def main() -> None:
    """Run the job on standard input."""
    if sys.argv[1:2] == [_FORKED]:
        _fork(socket.socket(fileno=int(sys.argv.pop())))
        sys.argv.pop()
    job = json.load(sys.stdin)
    settings = job["settings"]
    if job["mode"] == "reactorless":
        settings["TWISTED_REACTOR_ENABLED"] = False
    if job["mode"] == "epoll":
        settings["TWISTED_REACTOR"] = "twisted.internet.epollreactor.EPollReactor"
    from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
    from scrapy.exceptions import ScrapyDeprecationWarning

    warnings.simplefilter("error", ScrapyDeprecationWarning)
    # Its scheduler names the spider to the stats.
    warnings.filterwarnings("ignore", category=ScrapyDeprecationWarning, module="scrapy_redis")
    # It logs by a method of the spider.
    warnings.filterwarnings("ignore", category=ScrapyDeprecationWarning, module="spidermon")

    if size := settings.pop("TEST_MAP_SIZE", None):
        # Users of a path share one store in a process: the crawl gets this one.
        from simcrawl.store import open_store

        open_store(settings["SIMCRAWL_STORE"], map_size=size)
    process: Any = (CrawlerProcess if job["mode"] == "epoll" else AsyncCrawlerProcess)(settings)
    crawlers = [process.create_crawler(_spider(one["spider"])) for one in job["jobs"]]
    for crawler, one in zip(crawlers, job["jobs"], strict=True):
        process.crawl(crawler, **one["arguments"])
    process.start()
    sys.stdout.write("\n" + json.dumps([crawler.stats.get_stats() for crawler in crawlers], default=str) + "\n")


def _spider(name: str) -> Any:
    from scrapy.utils.misc import load_object

    from simcrawl.crawl.spiders.site import SiteSpider
    from tests.crawl import spiders

    if "." in name:
        return load_object(name)
    return SiteSpider if name == "SiteSpider" else getattr(spiders, name)


if __name__ == "__main__":
    main()
