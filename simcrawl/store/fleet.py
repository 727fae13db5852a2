"""A fleet: processes on many machines that are one crawl. A log orders their claims; each of them decides by itself.

      machine A                        Redis                        machine B
    ┌─────────────────────┐    ┌──────────────────────┐    ┌─────────────────────┐
    │ Store: all pages,   │    │ one stream, the log  │    │ Store: all pages,   │
    │ tables, the rule    │    │  1 A claims p        │    │ tables, the rule    │
    │   │            ▲    │    │  2 B claims q        │    │   │            ▲    │
    │ decide      apply   │    │  3 A confirms p      │    │ decide      apply   │
    │   ▼            │    │    │  4 B withdraws q     │    │   ▼            │    │
    │ Fleet ── append, ───┼───►│                      │◄───┼── read ───── Fleet  │
    └─────────────────────┘    └──────────────────────┘    └─────────────────────┘

The log is the truth, and every store is what its entries add up to. A server that compared fingerprints would have to hold tables and know
the rule; a log needs neither, so it is exact for every rule and every radius, and costs the server as much as writing the page down.

A decision:

1. It is made by what is known here. A copy of a page that came out, or a URL of this crawl, costs no round trip.
2. Otherwise the page is claimed here, and the claim appended. The same step of the server tells what has come meanwhile.
3. Was one of those claims, earlier in the log, of this page's URL or of a page that the rule calls its original? Then this claim is
   withdrawn, and the page decided about again: as the copy of one that came out, or it waits for one that is open. The earlier one always
   wins, so somebody always does. Otherwise the claim stands, for everybody after it has been told of it.

A claim:

    open ──confirm──► kept
      ├─────withdraw, by its own process──► gone
      └─────withdraw, by another one──────► given up ──confirm──► kept
            (it waited too long, or the process seemed dead)

A process that says nothing for `dead` seconds is dead: whoever notices withdraws its claims and leaves its crawls for it. A busy process
says enough, an idle one says that it lives.

An outage: claims stand without an order, and what there is to tell waits, up to a bound. When the log is back it is told, in its order; a
page that turns out to be a copy of one that was claimed before it in the log, and that came out, too, is recorded as late, and both are
kept. An event that was sent twice, because an answer was lost, is known by its number. A server that has lost its log gets it back: each
process tells its last events again, and who sees the loss first tells all that it knows.

Locks, always taken in this order: `_asking` (held while the server is asked), `_applying`, those of the stores, `_queueing`. Who waits for
a claim is called without any.
"""

from __future__ import annotations

import json
import logging
import random
import secrets
from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from threading import Condition, Event as Flag, Lock, Thread
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simcrawl.errors import StoreError, StoreMismatchError
from simcrawl.store.crawl_note import Note
from simcrawl.store.fleet_events import LASTING, LOADED, TOKEN_BYTES, Event, What, as_json, join, parted, unpack
from simcrawl.store.fleet_log import START, Entry, LogLostError, Place, RedisLog
from simcrawl.store.records import decode, encode
from simcrawl.store.register import Duplicate, format_line, parse_line
from simcrawl.store.rejections import Rejection
from simcrawl.store.visits import spider_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage
    from simcrawl.store.claims import Claim, Claims
    from simcrawl.store.committed import CommittedPages
    from simcrawl.store.store import Store

    Finding = Callable[[StoredPage], tuple[StoredPage, Duplicate] | None]

logger = logging.getLogger(__name__)

BEAT, DEAD = 3.0, 10.0
"""Seconds after which a process says that it lives, and after which one that says nothing is dead."""
# Events that wait while the log cannot be written, some kilobyte each; further ones are lost to other machines.
_MOST_WAITING = 20_000
# Events that are told again to a server that has lost its log.
_RECENT = 4_096
_AT_ONCE = 500
# Of claims that came while one was on its way: more than any tail holds.
_WINDOW = 4_096
_MOST_GIVEN_UP = 1_000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
# How long a claim waits for a log that has just gone: a server that starts again may be back by then.
_GRACE = 1.0
_ROWS_AT_ONCE = 10_000


class Run(NamedTuple):
    """One run's part in a crawl."""

    process: bytes
    spider: str
    job: str | None


@dataclass(slots=True)
class LiveCrawl:
    """A crawl under way: its note, its own pages, and its runs by their names."""

    note: Note
    own: Store
    runs: dict[str, Run] = field(default_factory=dict)


class Ordering(NamedTuple):
    """A claim of this process, and how to find what it is a copy of."""

    link: Link
    claim: Claim
    find: Finding


class Link:
    """What binds one store to a fleet: tells of what happens here, and does here what others tell."""

    def __init__(self, fleet: Fleet, space: bytes) -> None:
        self.fleet, self.space = fleet, space
        self.moment = 0
        """How many claims and pages of others have been taken over: a decision knows those until now."""
        self._window: deque[tuple[int, Place, StoredPage]] = deque(maxlen=_WINDOW)
        self.store: Store
        self.claims: Claims
        self.committed: CommittedPages
        self.writing: Lock

    def attach(self, store: Store, claims: Claims, committed: CommittedPages, writing: Lock) -> None:
        """Take the store, its parts, and what it holds while it writes."""
        self.store, self.claims, self.committed, self.writing = store, claims, committed, writing
        claims.others = self
        self.fleet.links[self.space] = self

    # ---- decisions

    def order(self, claim: Claim, since: int, find: Finding) -> list[StoredPage]:
        """Put a claim into the order of all; return the pages that others claimed before it and after the moment `since`.

        Where the log cannot be written there are none, and the claim waits for its place. Then it is looked at by `find`, which returns a
        page that a claimed one is a copy of, and the line to record.
        """
        claim.token = self.fleet.token()
        self.fleet.open[claim.token] = self, claim
        self.fleet.remember(Ordering(self, claim, find))
        unique = b"\1" if claim.stored.unique else b"\0"
        self.tell(What.CLAIM, claim.token + unique + encode(claim.stored))
        try:
            self.fleet.flush(patience=_GRACE)
        except StoreError:
            if self.fleet.doubt(claim):
                return []
        place = claim.place or START
        return [stored for number, at, stored in self._window.copy() if number > since and at < place]

    def lose(self, claim: Claim) -> None:
        """Withdraw a claim that came after another one."""
        if claim.settled:
            # By whose place it has taken; that is not yet told.
            self.fleet.open.pop(claim.token, None)
            self.tell(What.WITHDRAW, claim.token)
        else:
            claim.withdraw()

    def note_window(self, place: Place, stored: StoredPage) -> None:
        """Let claims that are on their way be compared with a page of another process."""
        # In this order: who reads the number first finds the page in the claims already.
        self._window.append((self.moment + 1, place, stored))
        self.moment += 1

    # ---- what is told

    def flush(self) -> None:
        """Tell what waits to be told: see `Fleet.flush`."""
        self.fleet.flush()

    def tell(self, what: What, value: bytes) -> None:
        """Let the fleet know. Never blocks on I/O."""
        self.fleet.tell(what, self.space, value)

    def settled(self, claim: Claim, *, confirmed: bool, callback: str) -> None:
        """Tell that a claim was confirmed or withdrawn here, whoever's it is."""
        if not claim.token:
            return
        self.fleet.open.pop(claim.token, None)
        if confirmed:
            self.tell(What.CONFIRM, join(claim.token, callback.encode("utf-8", "replace"), claim.text or b""))
        else:
            self.fleet.give_up(self, claim)
            self.tell(What.WITHDRAW, claim.token)

    def line(self, line: Duplicate) -> None:
        """Tell of a line of the register."""
        self.tell(What.LINE, format_line(line))

    def page(self, stored: StoredPage) -> None:
        """Tell of a page that was seen again."""
        self.tell(What.PAGE, encode(stored))

    def visit(self, key: bytes, value: bytes) -> None:
        """Tell of a visit."""
        self.tell(What.VISIT, join(key, value))

    def text(self, url: str, packed: bytes) -> None:
        """Tell of a text."""
        self.tell(What.TEXT, join(url.encode("utf-8", "surrogatepass"), packed))

    def tell_fingerprints(self, rows: NDArray[np.uint64]) -> None:
        """Tell of fingerprints without pages."""
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            self.tell(What.BARE, rows[start : start + _ROWS_AT_ONCE].astype("<u8").tobytes())

    def tell_rejection(self, rejection: Rejection, lines: Iterable[Duplicate], *, rejected: bool) -> None:
        """Tell that a verdict was taken back, or that it was not, and which lines that marks."""
        told = {"rejection": asdict(rejection), "lines": [asdict(line) for line in lines]}
        self.tell(What.REJECT if rejected else What.UNREJECT, as_json(told))

    def tell_forgotten(self, url: str) -> None:
        """Tell that a page was forgotten."""
        self.tell(What.FORGET, url.encode("utf-8", "surrogatepass"))

    def tell_expired(self, before: float) -> None:
        """Tell that pages from before a moment are being removed."""
        self.tell(What.EXPIRE, repr(before).encode())

    def tell_record(self, record: Mapping[str, Any]) -> None:
        """Tell what became of a crawl."""
        self.tell(What.NOTE, as_json(record))

    def bind(self, recipe: str) -> None:
        """Bind the fleet to a recipe, unless another one did: then the store's header says which.

        Raises:
            StoreError: the log cannot be written.
        """
        if self.space == LASTING:
            self.tell(What.BIND, recipe.encode())
            self.fleet.flush()
        else:
            self.committed.bind(recipe)

    # ---- what others told

    def page_of(self, record: bytes) -> StoredPage:
        """Return the page of a record.

        Raises:
            StoreCorruptError: it is damaged.
        """
        header = self.fleet.links[LASTING].committed.header
        return decode(record, recipes=(header.recipe or "",), seed=header.seed, bits=header.bits)

    def known(self, url: str) -> StoredPage | None:
        """Return what the lasting store knows under a URL, where this is another one."""
        return None if self.space == LASTING else self.fleet.links[LASTING].store.known(url)

    def put(self, place: Place, stored: StoredPage) -> None:
        """Take over a page that came out elsewhere, unless it is known as it is."""
        known = self.store.known(stored.page.url)
        if known and known.confirmed and known.page == stored.page and known.last_seen >= stored.last_seen:
            return
        self.claims.record(stored, self.known(stored.page.url), None)
        self.note_window(place, stored)

    def forget(self, url: str) -> Claim | None:
        """Forget a page; return the claim that this ends."""
        with self.writing, self.committed.deciding:
            self.committed.erase(url)
            return self.claims.forget(url)[1]

    def load(self, rows: bytes) -> None:
        """Insert fingerprints without pages."""
        words = (self.committed.header.bits + 63) // 64
        loaded = np.frombuffer(rows, "<u8").astype(np.uint64).reshape(-1, words)
        with self.writing, self.committed.deciding:
            self.committed.load(loaded)

    def expire(self, before: float) -> None:
        """Remove what was last seen before a moment."""
        # What waits to be written would stay.
        self.store.commit()
        deque(self.store.expiring_here(before), maxlen=0)

    def reject(self, told: dict[str, Any], *, rejected: bool) -> None:
        """Hold two pages apart, or do so no longer."""
        rejection, lines = Rejection(**told["rejection"]), [Duplicate(**line) for line in told["lines"]]
        self.store.commit()
        with self.writing, self.committed.deciding:
            if rejected:
                self.committed.write_rejection(rejection, lines)
            else:
                with suppress(KeyError):
                    self.committed.erase_rejection(rejection, lines)


class Fleet:
    """One process's part in a fleet. Thread-safe.

    `make`: makes the store of a crawl's own pages, by its id, or of the loaded ones. `readonly`: nothing is told, and no thread runs.
    """

    def __init__(self, log: RedisLog, header: bytes, *, readonly: bool = False, beat: float = BEAT, dead: float = DEAD) -> None:
        self.process = secrets.token_bytes(8)
        self.log, self.readonly = log, readonly
        self.links: dict[bytes, Link] = {}
        self.open: dict[bytes, tuple[Link, Claim]] = {}
        """Open claims of everybody, by their tokens."""
        self.crawls: dict[str, LiveCrawl] = {}
        self.make: Callable[[bytes], Store]
        self.lost = 0
        """How many events found no place while the log could not be written."""
        self._header = header
        self._beat, self._dead = beat, dead
        self._given_up: OrderedDict[bytes, tuple[Link, StoredPage]] = OrderedDict()
        self._orderings: OrderedDict[bytes, Ordering] = OrderedDict()
        self._doubted: set[bytes] = set()
        self._place = START
        self._heard: dict[bytes, float] = {}
        self._spoke: dict[bytes, int] = {}
        self._numbers: dict[bytes, int] = {}
        self._asking, self._applying = Lock(), Lock()
        self._queueing = Condition(Lock())
        self._queue: deque[Event] = deque()
        self._recent: deque[Event] = deque(maxlen=_RECENT)
        self._joins: list[Event] = []
        self._retold: Iterator[tuple[What, bytes, bytes]] = iter(())
        self._number = self._token = 0
        self._sent = monotonic()
        # Why the log cannot be written now, and why it never will be again.
        self._down = self._stopped = ""
        self._pause, self._try_at, self._down_since = _FIRST_PAUSE, 0.0, 0.0
        self._closing = Flag()
        self._threads = [] if readonly else [Thread(target=work, name="simcrawl-fleet", daemon=True) for work in (self._read, self._send)]

    # ---- begin and end

    def begin(self) -> None:
        """Take over all that the log holds, and from then on what comes.

        Raises:
            StoreError: it cannot be read.
        """
        for entries in self.log.replay(self._place):
            self._take(entries)
        now = monotonic()
        # Whoever has said nothing for long may be dead, or the server was away: they have their time from now on.
        self._heard = dict.fromkeys(self._heard, now)
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Tell what there is to tell, and end. No effect the second time. Never raises for the log."""
        if self._closing.is_set():
            return
        if not self.readonly:
            for token, (link, _) in list(self.open.items()):
                if token[:8] == self.process:
                    link.tell(What.WITHDRAW, token)
            self.tell(What.BYE, LASTING, b"")
        self._closing.set()
        # It wakes the reader, too.
        with suppress(StoreError):
            self.flush()
        with self._queueing:
            self._queueing.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(2)
        self.log.close()

    # ---- telling

    def token(self) -> bytes:
        """Return a new name for a claim."""
        with self._queueing:
            self._token += 1
            return self.process + self._token.to_bytes(TOKEN_BYTES - 8, "big")

    def tell(self, what: What, space: bytes, value: bytes) -> None:
        """Let an event be appended. Never blocks on I/O."""
        if self.readonly or self._stopped or self._closing.is_set():
            return
        with self._queueing:
            if len(self._queue) >= _MOST_WAITING:
                self.lost += 1
                return
            self._number += 1
            self._queue.append(Event(self.process, self._number, what, space, value))
            self._queueing.notify_all()

    def flush(self, *, patience: float = 0.0) -> None:
        """Append what waits, and take over what has come before it. `patience`: for how long to try while the log is just gone.

        Raises:
            StoreError: the log cannot be written; what waits goes on waiting. At once while that is known.
        """
        while True:
            wakes: list[Callable[[], object]] = []
            try:
                with self._asking:
                    self._flush(wakes)
            except StoreError:
                if self._stopped or self._closing.is_set() or monotonic() - self._down_since >= patience:
                    raise
            else:
                return
            finally:
                _call(wakes)
            self._closing.wait(_FIRST_PAUSE / 2)

    def _flush(self, wakes: list[Callable[[], object]]) -> None:
        if self._stopped:
            raise StoreMismatchError(self._stopped)
        if self._down and monotonic() < self._try_at:
            raise StoreError(self._down)
        try:
            if self._down and self._ends_early():
                self._restore(anew=True)
            self._append(wakes)
        except LogLostError:
            self._restore()
            self._append(wakes)

    def _append(self, wakes: list[Callable[[], object]]) -> None:
        try:
            while batch := self._next():
                tail, own = self.log.append(self._header, self._place, [event.pack() for event in batch])
                self._sent, self._down, self._pause = monotonic(), "", _FIRST_PAUSE
                with self._queueing:
                    for event in batch:
                        self._queue.popleft()
                        (self._joins if event.what is What.JOIN else self._recent).append(event)
                self._apply([*tail, *own], wakes)
        except LogLostError:
            raise
        except StoreError as exc:
            self._fail(exc)
            raise

    def _next(self) -> list[Event]:
        with self._queueing:
            if not self._queue:
                for what, space, value in islice(self._retold, _AT_ONCE):
                    self._number += 1
                    self._queue.append(Event(self.process, self._number, what, space, value))
            return list(islice(self._queue, _AT_ONCE))

    def _fail(self, exc: StoreError) -> None:
        if not self._down:
            self._down_since = monotonic()
            logger.warning("%s", exc)
        self._down = str(exc)
        self._try_at = monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311 - so that not all come at once
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _ends_early(self) -> bool:
        """Return whether a log that was away ends before what was read of it: its server has gone back to an older state."""
        try:
            return self.log.last() < self._place
        except StoreError as exc:
            self._fail(exc)
            raise

    def _restore(self, *, anew: bool = False) -> None:
        """Give a server that has lost its log the header and what is known; `anew`: also where it still has the header.

        Each time the header gets another epoch, by which all notice. Who gives it tells everything.

        Raises:
            StoreMismatchError: another fleet has begun there.
        """
        fresh = as_json(_but_epoch(self._header) | {"epoch": secrets.token_hex(8)})
        try:
            stored = self.log.header(fresh, anew=anew) or b""
        except StoreError as exc:
            self._fail(exc)
            raise
        if _but_epoch(stored) != _but_epoch(self._header):
            self._stopped = f"another store has begun at {self.log.shown}: this crawl goes on by itself"
            raise StoreMismatchError(self._stopped)
        logger.warning("%s has lost its log, and is told again", self.log.shown)
        with self._queueing:
            # By their old numbers: who has read them knows.
            self._queue.extendleft(reversed([*self._joined_again(), *self._recent]))
            self._recent.clear()
            self._joins.clear()
            # Others may have decided without them.
            told = {event.value[:TOKEN_BYTES] for event in self._queue if event.what is What.CLAIM}
            self._doubted |= told & set(self._orderings)
        self._header = stored
        if stored == fresh:
            self._retold = self._everything()

    def _joined_again(self) -> Iterator[Event]:
        """Yield that this process's runs have begun, with the crawls that they have got: who joins by name comes in any order now."""
        for event in self._joins:
            name = json.loads(event.value)["run"]
            if crawl := next((crawl for crawl in self.crawls.values() if name in crawl.runs), None):
                note = crawl.note
                yield event._replace(value=_join(note.id, note.name, name, crawl.runs[name], started=note.started))

    def _everything(self) -> Iterator[tuple[What, bytes, bytes]]:
        lasting = self.links[LASTING]
        if recipe := lasting.committed.header.recipe:
            yield What.BIND, LASTING, recipe.encode()
        for crawl in list(self.crawls.values()):
            for name, run in list(crawl.runs.items()):
                yield What.JOIN, LASTING, _join(crawl.note.id, crawl.note.name, name, run, started=crawl.note.started)
        for link in [lasting, *(link for space, link in list(self.links.items()) if space != LASTING)]:
            # What came from others may not be written yet.
            link.store.commit()
            for stored in link.store.pages():
                yield What.PAGE, link.space, encode(stored)
        for line in lasting.store.duplicates():
            yield What.LINE, LASTING, format_line(line)
        for rejection in lasting.store.rejections():
            yield What.REJECT, LASTING, as_json({"rejection": asdict(rejection), "lines": []})

    # ---- threads

    def _read(self) -> None:
        while not self._closing.is_set():
            if self._down:
                self._closing.wait(_FIRST_PAUSE)
                continue
            try:
                entries = self.log.news(self._place)
            except StoreError as exc:
                if not self._closing.is_set():
                    self._fail(exc)
                continue
            self._take(entries)

    def _send(self) -> None:
        while not self._closing.is_set():
            with self._queueing:
                self._queueing.wait_for(lambda: self._queue or self._closing.is_set(), self._beat / 3)
            if self._closing.is_set():
                return
            if self._down and (left := self._try_at - monotonic()) > 0:
                self._closing.wait(left)
                continue
            if not self._queue and (self._down or monotonic() - self._sent >= self._beat):
                self.tell(What.BEAT, LASTING, b"")
            with suppress(StoreError):
                self.flush()
                self.sweep()

    def sweep(self) -> None:
        """Withdraw the claims of processes that seem dead, and leave their crawls."""
        if self._down:
            # They may be trying to say that they live.
            now = monotonic()
            self._heard = dict.fromkeys(self._heard, now)
            return
        for token, (_, claim) in list(self.open.items()):
            if claim.settled:
                self.open.pop(token, None)
            elif self._is_dead(token[:8]):
                claim.withdraw()
        for crawl in list(self.crawls.values()):
            for name, run in list(crawl.runs.items()):
                if self._is_dead(run.process):
                    self.tell(What.LEAVE, LASTING, as_json({"crawl": crawl.note.id, "run": name, "finished": False}))

    def _is_dead(self, process: bytes) -> bool:
        return process != self.process and monotonic() - self._heard.setdefault(process, monotonic()) > self._dead

    # ---- applying

    def _take(self, entries: list[Entry]) -> None:
        wakes: list[Callable[[], object]] = []
        try:
            self._apply(entries, wakes)
        finally:
            _call(wakes)
        for link in list(self.links.values()):
            if link.claims.falls_behind:
                with suppress(StoreError):
                    link.store.commit()

    def _apply(self, entries: list[Entry], wakes: list[Callable[[], object]]) -> None:
        with self._applying:
            for entry in entries:
                if entry.place <= self._place:
                    continue
                self._place = entry.place
                try:
                    event = unpack(entry.data)
                    if self._is_new(entry.place, event):
                        self._do(entry.place, event, wakes)
                except (StoreError, ValueError, KeyError, TypeError) as exc:
                    # Whatever another machine wrote, this crawl goes on.
                    logger.warning("An event of another machine cannot be used: %s", exc)

    def _is_new(self, place: Place, event: Event) -> bool:
        """Return whether an event is not known yet; note that its sender lives."""
        self._heard[event.sender], self._spoke[event.sender] = monotonic(), place[0]
        new = event.number > self._numbers.get(event.sender, 0)
        if new:
            self._numbers[event.sender] = event.number
        if event.sender == self.process and event.what is What.CLAIM:
            # Also one that is told again.
            self._ordered(event.value[:TOKEN_BYTES], place)
        return new

    def _do(self, place: Place, event: Event, wakes: list[Callable[[], object]]) -> None:
        if act := _SHARED.get(event.what):
            act(self, event)
        elif event.sender != self.process and (link := self._link(event.space)):
            if act_on := _OF_CLAIMS.get(event.what):
                act_on(self, link, place, event, wakes)
            else:
                _do_in(link, place, event, wakes)

    def _link(self, space: bytes) -> Link | None:
        if space == LOADED and space not in self.links:
            self.make(LOADED)
        return self.links.get(space)

    # ---- claims of others

    def _claimed(self, link: Link, place: Place, event: Event, wakes: list[Callable[[], object]]) -> None:
        token, unique = event.value[:TOKEN_BYTES], event.value[TOKEN_BYTES : TOKEN_BYTES + 1] == b"\1"
        if token in self.open:
            return
        stored = replace(link.page_of(event.value[TOKEN_BYTES + 1 :]), confirmed=False, unique=unique)
        claim, displaced = link.claims.adopt(stored, token, place)
        self.open[token] = link, claim
        link.note_window(place, stored)
        if displaced:
            wakes.append(displaced.wake)
            if displaced.token in self._doubted:
                # Nobody else tells of its end.
                self.open.pop(displaced.token, None)
                link.tell(What.WITHDRAW, displaced.token)

    def _confirmed(self, link: Link, place: Place, event: Event, wakes: list[Callable[[], object]]) -> None:
        token, callback, text = parted(event.value)
        where = callback.decode("utf-8", "replace")
        if found := self.open.pop(token, None):
            claim = found[1]
            claim.text, claim.known = text or None, link.known(claim.stored.page.url)
            if link.claims.settle_quietly(claim, confirmed=True, callback=where):
                wakes.append(claim.wake)
        elif given_up := self._given_up.pop(token, None):
            stored = replace(given_up[1], confirmed=True, callback=where)
            link.claims.record(stored, link.known(stored.page.url), text or None)
            link.note_window(place, stored)

    def _withdrawn(self, link: Link, _: Place, event: Event, wakes: list[Callable[[], object]]) -> None:
        token = event.value
        if not (found := self.open.pop(token, None)):
            return
        claim = found[1]
        if token[:8] != event.sender:
            self.give_up(link, claim)
        if link.claims.settle_quietly(claim, confirmed=False):
            wakes.append(claim.wake)

    def give_up(self, link: Link, claim: Claim) -> None:
        """Remember a claim of another process that is withdrawn by somebody else: its page may come out yet."""
        if claim.token[:8] != self.process:
            self._given_up[claim.token] = link, claim.stored
            if len(self._given_up) > _MOST_GIVEN_UP:
                self._given_up.popitem(last=False)

    # ---- what was claimed without an order

    def remember(self, ordering: Ordering) -> None:
        """Be able to look at a claim again."""
        self._orderings[ordering.claim.token] = ordering
        if len(self._orderings) > _RECENT:
            self._doubted.discard(self._orderings.popitem(last=False)[0])

    def doubt(self, claim: Claim) -> bool:
        """Have a claim looked at when it gets its place; return False where it has got it."""
        with self._applying:
            if claim.place is None:
                self._doubted.add(claim.token)
            return claim.place is None

    def _ordered(self, token: bytes, place: Place) -> None:
        """Give a claim of this process its place, and look at it where it should have had one before."""
        if not (found := self._orderings.get(token)):
            return
        claim = found.claim
        claim.place = claim.place or place
        if token not in self._doubted:
            return
        self._doubted.remove(token)
        if not (claim.stored.unique and (copied := found.find(claim.stored))):
            return
        original, line = copied
        of = None if original.confirmed else found.link.claims.open_claim(original)

        def record() -> None:
            if claim.kept and (of is None or of.kept):
                found.link.store.late_duplicates += 1
                found.link.store.note(line)

        claim.when_settled(record if of is None else lambda: of.when_settled(record))

    # ---- crawls

    def join(self, proposed: str, name: str | None, run: Run, resume: str | None) -> tuple[LiveCrawl, str, bool]:
        """Return the crawl that a run belongs to, the run's name, and whether it goes on with one that was interrupted.

        Raises:
            StoreError: the log cannot be written.
        """
        self._wait_for_life(name)
        run_name = secrets.token_hex(8)
        resumed = resume if resume in self.crawls else None
        self.tell(What.JOIN, LASTING, _join(resumed or proposed, name, run_name, run, resumed=resumed is not None))
        self.flush()
        crawl = next(crawl for crawl in self.crawls.values() if run_name in crawl.runs)
        return crawl, run_name, resumed is not None

    def _wait_for_life(self, name: str | None) -> None:
        """Leave a crawl of that name for runs none of which gives a sign of life: it is not to be gone on with."""
        runs = [run for crawl in self.crawls.values() if name and crawl.note.name == name for run in crawl.runs.values()]
        others = {run.process for run in runs} - {self.process}
        now = self.log.now() if others else 0
        if not others or any(now - self._spoke.get(process, 0) < 1000 * self._dead for process in others):
            return
        # The server may have been away: whoever lives says so.
        quiet, until = {process: self._spoke.get(process, 0) for process in others}, monotonic() + 2 * self._beat
        while monotonic() < until:
            if any(self._spoke.get(process, 0) > quiet[process] for process in others):
                return
            self._closing.wait(self._beat / 20)
        for process in others:
            self._heard[process] = -self._dead
        self.sweep()

    def leave(self, crawl: LiveCrawl, run: str, *, finished: bool) -> bool:
        """Leave a crawl; return whether that ends it.

        Raises:
            StoreError: the log cannot be written; whoever notices that this process is gone does it.
        """
        self.tell(What.LEAVE, LASTING, as_json({"crawl": crawl.note.id, "run": run, "finished": finished}))
        self.flush()
        return crawl.note.id not in self.crawls

    def _joined(self, event: Event) -> None:
        told = json.loads(event.value)
        run = Run(bytes.fromhex(told["process"]), told["spider"], told["job"])
        crawl = self.crawls.get(told["crawl"]) or next(
            (crawl for crawl in self.crawls.values() if told["name"] and crawl.note.name == told["name"] and crawl.runs), None
        )
        if crawl is None:
            note = Note(told["crawl"], told["name"], told["started"])
            crawl = self.crawls[note.id] = LiveCrawl(note, self.make(bytes.fromhex(note.id)))
        if told["run"] not in crawl.runs:
            crawl.runs[told["run"]] = run
            crawl.note.begin(run.spider, run.job, resumed=told["resumed"])

    def _left(self, event: Event) -> None:
        told = json.loads(event.value)
        crawl = self.crawls.get(told["crawl"])
        run = crawl.runs.pop(told["run"], None) if crawl else None
        if not crawl or not run:
            return
        if told["finished"]:
            crawl.note.finish(run.spider, run.job)
        if not crawl.runs and not crawl.note.jobs:
            self._end(crawl)

    def _end(self, crawl: LiveCrawl) -> None:
        """End a crawl: what its spiders saw stays, its own pages go."""
        del self.crawls[crawl.note.id]
        self.links.pop(bytes.fromhex(crawl.note.id), None)
        lasting = self.links[LASTING].store
        crawl.own.commit()
        for spider in crawl.note.runs:
            if crawl.note.finished(spider) and not crawl.own.visits_lost:
                prefix = spider_key(spider, lasting.header.seed)
                lasting.keep_visits(spider, ((key[len(prefix) :], value) for key, value in crawl.own.visits(prefix)))

    def _bound(self, event: Event) -> None:
        recipe = event.value.decode()
        for link in self.links.values():
            if link.committed.header.recipe is None:
                link.committed.bind(recipe)

    def _nothing(self, event: Event) -> None:
        """Note that a process lives, which is done, or that it has ended."""
        if event.what is What.BYE:
            self._heard[event.sender] = -self._dead


_SHARED: dict[What, Callable[[Fleet, Event], None]] = {
    What.JOIN: Fleet._joined,  # noqa: SLF001 - its own
    What.LEAVE: Fleet._left,  # noqa: SLF001
    What.BIND: Fleet._bound,  # noqa: SLF001
    What.BEAT: Fleet._nothing,  # noqa: SLF001
    What.BYE: Fleet._nothing,  # noqa: SLF001
}
_OF_CLAIMS: dict[What, Callable[[Fleet, Link, Place, Event, list[Callable[[], object]]], None]] = {
    What.CLAIM: Fleet._claimed,  # noqa: SLF001
    What.CONFIRM: Fleet._confirmed,  # noqa: SLF001
    What.WITHDRAW: Fleet._withdrawn,  # noqa: SLF001
}


def _do_in(link: Link, place: Place, event: Event, wakes: list[Callable[[], object]]) -> None:
    """Do in one store what another process has done in its own."""
    if event.what is What.PAGE:
        link.put(place, link.page_of(event.value))
    elif event.what is What.FORGET:
        if claim := link.forget(event.value.decode("utf-8", "surrogatepass")):
            wakes.append(claim.wake)
    else:
        _IN_STORE[event.what](link, event.value)


def _keep_text(link: Link, value: bytes) -> None:
    url, packed = parted(value)
    link.claims.keep_text(url.decode("utf-8", "surrogatepass"), packed, told=False)


def _visit(link: Link, value: bytes) -> None:
    key, what = parted(value)
    link.claims.visit(key, what, told=False)


_IN_STORE: dict[What, Callable[[Link, bytes], object]] = {
    What.LINE: lambda link, value: link.claims.note(parse_line(value), told=False),
    What.VISIT: _visit,
    What.TEXT: _keep_text,
    What.EXPIRE: lambda link, value: link.expire(float(value)),
    What.BARE: Link.load,
    What.REJECT: lambda link, value: link.reject(json.loads(value), rejected=True),
    What.UNREJECT: lambda link, value: link.reject(json.loads(value), rejected=False),
    What.NOTE: lambda link, value: link.committed.note_crawl(json.loads(value)),
}


def _but_epoch(header: bytes) -> dict[str, Any]:
    """Return what a header says of the store, all but how often its log was lost."""
    try:
        told = json.loads(header)
        return {name: value for name, value in told.items() if name != "epoch"}
    except (ValueError, AttributeError):
        return {"other": header}


def _join(crawl: str, name: str | None, run_name: str, run: Run, *, started: float | None = None, resumed: bool = False) -> bytes:
    of = {"crawl": crawl, "name": name, "started": started or time(), "resumed": resumed}
    return as_json(of | {"run": run_name, "process": run.process.hex(), "spider": run.spider, "job": run.job})


def _call(wakes: Iterable[Callable[[], object]]) -> None:
    for wake in wakes:
        wake()
