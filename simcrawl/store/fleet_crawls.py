"""Who takes part in a fleet: processes that live, and the crawls that their runs have joined.

    begun ──join──► shared ──the last run of it leaves──► ended: its own pages are removed
                     │  ▲                                   ▲
                     ▼  │ resumed                           │
                   interrupted ──for `ABANDONED` seconds────┘
                   (a job may resume it)

A process that says nothing for `dead` seconds is dead: whoever notices withdraws its claims and leaves its crawls for it. A busy process
says enough, an idle one says that it lives.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.store.crawl_note import Note
from simcrawl.store.fleet_events import LASTING, Event, What, as_json
from simcrawl.store.visits import spider_key, to_keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.store.fleet_link import Link
    from simcrawl.store.fleet_log import Place
    from simcrawl.store.fleet_wire import Telling, Wire
    from simcrawl.store.store import Store


ABANDONED = 7 * 86_400.0
"""Seconds after which an interrupted crawl ends that no job has resumed. Its job is a file on another machine, which may be gone."""


class Run(NamedTuple):
    """One run's part in a crawl."""

    process: bytes
    spider: str
    job: str | None


@dataclass(slots=True)
class LiveCrawl:
    """A crawl under way: its note, its own pages, its runs by their names, and when the last one left, in the server's milliseconds."""

    note: Note
    own: Store
    runs: dict[str, Run] = field(default_factory=dict)
    left: int = 0


class Lives:
    """When each process was last heard of. `dead`: seconds of silence after which one is."""

    def __init__(self, process: bytes, dead: float) -> None:
        self.dead = dead
        self._process = process
        self.now = 0
        """The server's time, in milliseconds, of the last thing that was said."""
        self._heard: dict[bytes, float] = {}
        self._spoke: dict[bytes, int] = {}

    def hear(self, process: bytes, place: Place) -> None:
        """Note that a process has said something."""
        self._heard[process], self._spoke[process], self.now = monotonic(), place[0], place[0]

    def bury(self, process: bytes) -> None:
        """Note that a process has ended."""
        self._heard[process] = -self.dead

    def give_time(self) -> None:
        """Give all of them their time from now on: they may have tried to say that they live."""
        now = monotonic()
        self._heard = dict.fromkeys(self._heard, now)

    def is_dead(self, process: bytes) -> bool:
        """Return whether a process has been silent for too long."""
        return process != self._process and monotonic() - self._heard.setdefault(process, monotonic()) > self.dead

    def spoke(self, process: bytes) -> int:
        """Return the server's time, in milliseconds, of what a process last said."""
        return self._spoke.get(process, 0)


class Crawls:
    """The crawls of a fleet that are under way. `make`: makes the store of a crawl's own pages, by its id."""

    def __init__(self, wire: Wire, lives: Lives, links: dict[bytes, Link], *, beat: float, abandoned: float) -> None:
        self.live: dict[str, LiveCrawl] = {}
        self.make: Callable[[bytes], Store]
        self._wire, self._lives, self._links, self._beat = wire, lives, links, beat
        self._abandoned = abandoned

    # ---- runs of this process

    def join(self, proposed: str, name: str | None, run: Run, resume: str | None) -> tuple[LiveCrawl, str, bool]:
        """Return the crawl that a run belongs to, the run's name, and whether it goes on with one that was interrupted.

        Raises:
            StoreError: the log cannot be written.
        """
        self._wait_for_life(name)
        run_name = secrets.token_hex(8)
        resumed = resume if resume in self.live else None
        self._wire.tell(What.JOIN, LASTING, _join(resumed or proposed, name, run_name, run, resumed=resumed is not None))
        self._wire.flush()
        crawl = next(crawl for crawl in self.live.values() if run_name in crawl.runs)
        return crawl, run_name, resumed is not None

    def _wait_for_life(self, name: str | None) -> None:
        """Leave a crawl of that name for runs none of which gives a sign of life: it is not to be gone on with."""
        runs = [run for crawl in self.live.values() if name and crawl.note.name == name for run in crawl.runs.values()]
        others = {run.process for run in runs} - {self._wire.process}
        now = self._wire.log.now() if others else 0
        if not others or any(now - self._lives.spoke(process) < 1000 * self._lives.dead for process in others):
            return
        # The server may have been away: whoever lives says so.
        quiet, until = {process: self._lives.spoke(process) for process in others}, monotonic() + 2 * self._beat
        while monotonic() < until:
            if any(self._lives.spoke(process) > quiet[process] for process in others):
                return
            self._wire.closing.wait(self._beat / 20)
        for process in others:
            self._lives.bury(process)
        self.sweep()

    def leave(self, crawl: LiveCrawl, run: str, *, finished: bool) -> bool:
        """Leave a crawl; return whether that ends it.

        Raises:
            StoreError: the log cannot be written; whoever notices that this process is gone does it.
        """
        self._tell_left(crawl, run, finished=finished)
        self._wire.flush()
        return crawl.note.id not in self.live

    def _tell_left(self, crawl: LiveCrawl, run: str, *, finished: bool) -> None:
        self._wire.tell(What.LEAVE, LASTING, as_json({"crawl": crawl.note.id, "run": run, "finished": finished}))

    def sweep(self) -> None:
        """Leave the crawls of processes that seem dead, and end those that no job has resumed."""
        for crawl in list(self.live.values()):
            if not crawl.runs and self._lives.now - crawl.left > 1000 * self._abandoned:
                self._wire.tell(What.END, LASTING, crawl.note.id.encode())
            for name, run in list(crawl.runs.items()):
                if self._lives.is_dead(run.process):
                    self._tell_left(crawl, name, finished=False)

    # ---- a checkpoint

    def state(self) -> list[dict[str, Any]]:
        """Return the crawls that are under way, as JSON."""
        return [
            {
                "note": asdict(crawl.note),
                "runs": {name: [run.process.hex(), run.spider, run.job] for name, run in crawl.runs.items()},
                "left": crawl.left,
            }
            for crawl in list(self.live.values())
        ]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Take over the crawls of a checkpoint."""
        for told in state:
            note = Note(**told["note"])
            runs = {name: Run(bytes.fromhex(process), spider, job) for name, (process, spider, job) in told["runs"].items()}
            self.live[note.id] = LiveCrawl(note, self.make(bytes.fromhex(note.id)), runs, told["left"])

    # ---- what is told again

    def joined_again(self, joins: Iterable[Event]) -> Iterator[Event]:
        """Yield that this process's runs have begun, with the crawls that they have got: who joins by name comes in any order now."""
        for event in joins:
            name = json.loads(event.value)["run"]
            if crawl := next((crawl for crawl in self.live.values() if name in crawl.runs), None):
                note = crawl.note
                yield event._replace(value=_join(note.id, note.name, name, crawl.runs[name], started=note.started))

    def everything(self) -> Iterator[Telling]:
        """Yield all runs."""
        for crawl in list(self.live.values()):
            for name, run in list(crawl.runs.items()):
                yield What.JOIN, LASTING, _join(crawl.note.id, crawl.note.name, name, run, started=crawl.note.started)

    # ---- what the log says

    def joined(self, event: Event) -> None:
        """Let a run begin, in the crawl of its name where that is under way."""
        told = json.loads(event.value)
        run = Run(bytes.fromhex(told["process"]), told["spider"], told["job"])
        crawl = self.live.get(told["crawl"]) or next(
            (crawl for crawl in self.live.values() if told["name"] and crawl.note.name == told["name"] and crawl.runs), None
        )
        if crawl is None:
            note = Note(told["crawl"], told["name"], told["started"])
            crawl = self.live[note.id] = LiveCrawl(note, self.make(bytes.fromhex(note.id)))
        if told["run"] not in crawl.runs:
            crawl.runs[told["run"]] = run
            crawl.note.begin(run.spider, run.job, resumed=told["resumed"])

    def left(self, event: Event) -> None:
        """Let a run end, and with the last one its crawl, unless a job may resume that."""
        told = json.loads(event.value)
        crawl = self.live.get(told["crawl"])
        run = crawl.runs.pop(told["run"], None) if crawl else None
        if not crawl or not run:
            return
        crawl.left = self._lives.now
        if told["finished"]:
            crawl.note.finish(run.spider, run.job)
        if not crawl.runs and not crawl.note.jobs:
            self._end(crawl)

    def ended(self, event: Event) -> None:
        """Let a crawl end that nobody has resumed."""
        if (crawl := self.live.get(event.value.decode())) and not crawl.runs:
            self._end(crawl)

    def _end(self, crawl: LiveCrawl) -> None:
        """End a crawl: what its spiders saw stays, its own pages go."""
        del self.live[crawl.note.id]
        self._links.pop(bytes.fromhex(crawl.note.id), None)
        lasting = self._links[LASTING].store
        crawl.own.commit()
        for spider in crawl.note.runs:
            if crawl.note.finished(spider) and not crawl.own.visits_lost:
                prefix = spider_key(spider, lasting.header.seed)
                rows = ((key[len(prefix) :], value) for key, value in crawl.own.visits(prefix))
                lasting.keep_visits(spider, to_keep(rows, lasting.last_visits(spider)))


def _join(crawl: str, name: str | None, run_name: str, run: Run, *, started: float | None = None, resumed: bool = False) -> bytes:
    of = {"crawl": crawl, "name": name, "started": started or time(), "resumed": resumed}
    return as_json(of | {"run": run_name, "process": run.process.hex(), "spider": run.spider, "job": run.job})
