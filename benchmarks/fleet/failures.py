"""Rounds of failures: `python -m benchmarks.fleet.failures [KIND ...] [--rounds 30] [--pages 150] [--workers 4]`.

Workers are processes that share nothing but a log in Redis. A queue of this script's own gives them pages, each content under three URLs
and with three fingerprints, in any order, and takes a page back whose worker ended before it said that the page is done: which it does
when `Store.sync` has returned. One page in eight is withdrawn first, as if its callback had failed. In the middle of a round something
fails:

worker       one of the workers is killed (SIGKILL) and another one begins
aof          Redis is killed and started again, with appendonly, appendfsync everysec
memory       Redis is killed and started again, and has nothing
stopped      Redis is stopped (SIGSTOP) for ten seconds
replies      from then on one answer of Redis in fifty is lost, with its connection
scripts      SCRIPT FLUSH
flushed      FLUSHDB
full         Redis is full for a second (maxmemory, noeviction)

Then all contents are looked for in the store. Prints, of all rounds: contents, how many are lost, how many were kept twice, how many of
those were counted as late, rounds in which processes know different pages, which must not be, and the longest round.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from random import Random
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING

from benchmarks.fleet.worker import AT_ONCE, OPTIONS, URLS, work
from simcrawl.store import open_store
from tests.redis_server import Proxy, Server

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import ForkServerProcess

_AOF = ("--save", "", "--appendonly", "yes", "--appendfsync", "everysec")


@dataclass
class Outcome:
    """What came of a round, or of many."""

    contents: int = 0
    lost: int = 0
    twice: int = 0
    late: int = 0
    differ: int = 0
    slowest: float = 0.0

    def add(self, other: Outcome) -> None:
        """Add a round."""
        for name in ("contents", "lost", "twice", "late", "differ"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)

    def __str__(self) -> str:
        """Return it as a line."""
        counts = f"{self.contents} contents, {self.lost} lost, {self.twice} kept twice, {self.late} of them counted as late"
        return f"{counts}, {self.differ} rounds differ, longest round {self.slowest:.0f} s"


# ---- a round


@dataclass
class Round:
    """One round: a queue of pages, and the workers that have some of them. `look_at`: the store's URL without failures."""

    url: str
    look_at: str
    pages: int
    workers: int
    opened: int = 0
    queue: list[int] = field(default_factory=list)
    busy: dict[Connection, tuple[ForkServerProcess, set[int]]] = field(default_factory=dict)

    def run(self, fail: Callable[[Round], object]) -> Outcome:
        """Let the workers decide about all pages; in the middle of it, something fails."""
        begun, jobs = monotonic(), self.pages * URLS
        self.queue = Random(self.url).sample(range(jobs), jobs)
        for _ in range(self.workers):
            self.begin()
        failing: Thread | None = None
        while self.queue or any(has for _, has in self.busy.values()):
            self._give()
            for pages in wait(list(self.busy)):
                self._hear(pages)  # type: ignore[arg-type]
            if not failing and self.opened == self.workers and len(self.queue) < jobs / 2:
                failing = Thread(target=fail, args=(self,))
                failing.start()
        if failing:
            failing.join()
        outcome = self._end()
        outcome.slowest = monotonic() - begun
        return outcome

    def begin(self) -> None:
        """Begin one more worker."""
        context = get_context("forkserver")
        own, other = context.Pipe()
        process = context.Process(target=work, args=(other, self.url))
        process.start()
        other.close()
        self.busy[own] = process, set()

    def kill(self) -> None:
        """Kill a worker that has pages."""
        victim = max(self.busy.values(), key=lambda worker: len(worker[1]))
        victim[0].kill()

    def _give(self) -> None:
        for pages, (_, has) in self.busy.items():
            while self.queue and len(has) < AT_ONCE:
                job = self.queue.pop()
                has.add(job)
                with suppress(OSError):
                    pages.send(job)

    def _hear(self, pages: Connection) -> None:
        process, has = self.busy[pages]
        try:
            said, done, _ = pages.recv()
            self.opened += said == "open"
            has.difference_update(done)
        except (EOFError, OSError):
            # Its pages come again, to somebody else.
            self.queue += has
            del self.busy[pages]
            process.join()
            self.begin()

    def _end(self) -> Outcome:
        known, late = [], 0
        self._ask_all("ended")
        self._ask_all("told")
        for _, urls, counted in self._ask_all("known"):
            known.append(urls)
            late += counted
        self._ask_all("")
        for process, _ in self.busy.values():
            process.join()
        with open_store(self.look_at, create=False, readonly=True) as store:
            urls = [stored.page.url for stored in store.pages()]
            lines = sum(1 for line in store.duplicates() if line.url in set(urls) and line.original in set(urls))
        kept = Counter(url.rpartition("/")[2] for url in urls)
        differ = not all(one == sorted(urls) for one in known)
        for one in known if differ else ():
            print("a worker knows", set(one) - set(urls), "and lacks", set(urls) - set(one), file=sys.stderr)
        lost = self.pages - len(kept)
        return Outcome(self.pages, lost, sum(kept.values()) - len(kept), min(late, lines), int(differ))

    def _ask_all(self, awaited: str) -> list[tuple[str, list[str], int]]:
        for pages in self.busy:
            pages.send(None)
        return [self._awaited(pages, awaited) for pages in self.busy if awaited]

    def _awaited(self, pages: Connection, awaited: str) -> tuple[str, list[str], int]:
        while (said := pages.recv())[0] != awaited:
            pass
        return said  # type: ignore[no-any-return]


# ---- failures


def killed(server: Server) -> None:
    """Kill a server and start it again."""
    server.kill()
    server.start()


def stopped(server: Server, seconds: float = 10.0) -> None:
    """Stop a server for some seconds."""
    server.process.send_signal(signal.SIGSTOP)
    sleep(seconds)
    server.process.send_signal(signal.SIGCONT)


def full(server: Server) -> None:
    """Let a server be full for a second."""
    server.client().config_set("maxmemory", 1)
    sleep(1)
    server.client().config_set("maxmemory", 0)


_FAILURES: dict[str, Callable[[Server, Round], object]] = {
    "worker": lambda _, one: one.kill(),
    "aof": lambda server, _: killed(server),
    "memory": lambda server, _: killed(server),
    "stopped": lambda server, _: stopped(server),
    "scripts": lambda server, _: server.client().script_flush(),
    "flushed": lambda server, _: server.client().flushdb(),
    "full": lambda server, _: full(server),
}


KINDS = [*_FAILURES, "replies"]


def rounds(kind: str, count: int, pages: int, workers: int, tell: Callable[[str], object] = lambda _: None) -> Outcome:
    """Return what came of so many rounds of a kind."""
    total, server, chance, lossy = Outcome(), Server(*(_AOF if kind == "aof" else ())), Random(kind), Event()
    proxy = Proxy(server, lambda: lossy.is_set() and chance.random() < 0.02) if kind == "replies" else None
    try:
        for number in range(count):
            name = f"{kind}-{number}"
            url = f"redis://127.0.0.1:{proxy.port}/0?name={name}" if proxy else server.url(name)
            open_store(url, **OPTIONS).close()
            fail = partial(_FAILURES[kind], server) if kind != "replies" else lambda _: lossy.set()
            outcome = Round(url, server.url(name), pages, workers).run(fail)
            lossy.clear()
            tell(f"{kind} {number}: {outcome}")
            total.add(outcome)
    finally:
        if proxy:
            proxy.close()
        server.close()
    return total


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="KIND")
    for name, default in (("rounds", 30), ("pages", 150), ("workers", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args()
    for kind in chosen.kinds:
        outcome = rounds(kind, chosen.rounds, chosen.pages, chosen.workers, lambda line: print(line, file=sys.stderr, flush=True))
        print(f"{kind}, {chosen.rounds} rounds: {outcome}", flush=True)


if __name__ == "__main__":
    get_context("forkserver").set_forkserver_preload(["benchmarks.fleet.worker"])
    main()
