"""How a process of a fleet talks to the log, and what it does while that is away.

                 an append fails
        up ◄───────────────────────► down
        │     one that succeeds       │
        │                             │ the header is another, or the log lacks what was last read of it
        ▼                             ▼
       lost ◄─────────────────────────┘
        ├─ the header is set anew, and what is known is told again ──► up
        └─ the header is that of another store ──► stopped, for good

**Up**: what is told waits in the outbox until a flush appends it, in its order; the same step gives what has come meanwhile, so that all of
it is done before whatever was told takes effect.

**Down**: what is told goes on waiting, up to a bound. A flush fails at once until its next try is due, which is later each time.

**Lost**: the server was flushed, or has gone back to an older state. That its log ends early says nothing, for others may have appended to
it since: each append looks whether the last entry that was read is still there. The header gets another epoch, by which every process
notices: each reads the log from its beginning, and tells its last events again, by their old numbers, so that who has read them knows.
The one whose epoch it is tells all that it knows.

**Stopped**: the name belongs to another store now. This process goes on by itself.

Locks, always taken in this order: `_asking` (held while the server is asked), `applying` (held while events are done), those of the
stores, and the one within the outbox. Who waits for a claim is called without any.
"""

from __future__ import annotations

import json
import logging
import random
import secrets
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from threading import Condition, Event as Flag, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from simcrawl.errors import StoreError, StoreMismatchError
from simcrawl.store.fleet_events import LASTING, TOKEN_BYTES, Event, What, as_json
from simcrawl.store.fleet_log import START, LogCutError, LogLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.store.fleet_log import Entry, RedisLog

    Wakes = list[Callable[[], object]]
    Telling = tuple[What, bytes, bytes]

logger = logging.getLogger(__name__)

# Events that wait while the log cannot be written, some kilobyte each; further ones are lost to other machines.
_MOST_WAITING = 20_000
RECENT = 4_096
"""Events that are told again to a server that has lost its log."""
_AT_ONCE = 500
# Seconds for which what is told waits for more.
_GATHER = 0.01
# Seconds for which what an append has told is news enough.
_FRESH = 0.02
_FIRST_PAUSE, _SHORT_PAUSE, _LONGEST_PAUSE = 0.1, 0.4, 5.0
GRACE = 5.0
"""For how many seconds of an outage claims wait for its end: a server that starts again may be back by then."""


class Hearer(Protocol):
    """Who does what the log says."""

    def do(self, entry: Entry, wakes: Wakes) -> None:
        """Do what an entry says; add whom to wake when no lock is held. Never raises for what another machine wrote."""

    def done(self) -> None:
        """Look after what many entries have led to."""

    def sweep(self) -> None:
        """Look after those who say nothing any more."""

    def back(self) -> None:
        """Note that an outage has ended: who said nothing meanwhile could not."""

    def everything(self) -> Iterator[Telling]:
        """Yield all that is known, for a log that has nothing."""

    def joined_again(self, joins: Iterable[Event]) -> Iterator[Event]:
        """Yield what is to be told of the runs that were told of so."""

    def doubt(self, tokens: set[bytes]) -> None:
        """Look at claims of this process when they come again: others may have decided without them."""


class Outbox:
    """What one process has to tell, in its order. Thread-safe, and never blocks on I/O."""

    def __init__(self, process: bytes) -> None:
        self.process = process
        self.lost = 0
        """How many events found no place while the log could not be written."""
        self._changed = Condition(Lock())
        self._queue: deque[Event] = deque()
        self._recent: deque[Event] = deque(maxlen=RECENT)
        self._joins: list[Event] = []
        self._retold: Iterator[Telling] = iter(())
        self._number = self._token = 0

    def __bool__(self) -> bool:
        """Return whether something waits."""
        return bool(self._queue)

    def token(self) -> bytes:
        """Return a new name for a claim."""
        with self._changed:
            self._token += 1
            return self.process + self._token.to_bytes(TOKEN_BYTES - 8, "big")

    def put(self, what: What, space: bytes, value: bytes) -> None:
        """Let an event wait."""
        with self._changed:
            if len(self._queue) >= _MOST_WAITING:
                self.lost += 1
                return
            self._number_and_add(what, space, value)
            self._changed.notify_all()

    def _number_and_add(self, what: What, space: bytes, value: bytes) -> None:
        self._number += 1
        self._queue.append(Event(self.process, self._number, what, space, value))

    def batch(self) -> list[Event]:
        """Return the next events; what is told again comes when nothing else waits. To be called by one thread at a time."""
        # Read without the lock: it looks into stores, which may be telling something.
        retold = [] if self._queue else list(islice(self._retold, _AT_ONCE))
        with self._changed:
            for telling in retold:
                self._number_and_add(*telling)
            return list(islice(self._queue, _AT_ONCE))

    def told(self, batch: list[Event]) -> None:
        """Note that the first events have been appended."""
        with self._changed:
            for event in batch:
                self._queue.popleft()
                (self._joins if event.what is What.JOIN else self._recent).append(event)

    def tell_again(self, joined_again: Callable[[Iterable[Event]], Iterable[Event]]) -> set[bytes]:
        """Let the last events wait once more, by their old numbers; return the tokens of all claims that wait."""
        with self._changed:
            self._queue.extendleft(reversed([*joined_again(self._joins), *self._recent]))
            self._recent.clear()
            self._joins.clear()
            return {event.value[:TOKEN_BYTES] for event in self._queue if event.what is What.CLAIM}

    def tell_all(self, everything: Iterator[Telling]) -> None:
        """Let this be told, too, as slowly as it is read."""
        self._retold = everything

    def wait(self, seconds: float) -> None:
        """Wait until something is put, or somebody wakes those who wait."""
        with self._changed:
            if not self._queue:
                self._changed.wait(seconds)

    def wake(self) -> None:
        """Wake those who wait."""
        with self._changed:
            self._changed.notify_all()


@dataclass(slots=True)
class _Outage:
    """Why the log cannot be written now, since when, and when it is tried again. No reason: there is no outage."""

    grace: float
    reason: str = ""
    since: float = 0.0
    try_at: float = 0.0
    pause: float = _FIRST_PAUSE

    def note(self, exc: StoreError) -> None:
        if not self.reason:
            self.since = monotonic()
            logger.warning("%s", exc)
        self.reason = str(exc)
        self.try_at = monotonic() + self.pause * random.uniform(0.5, 1)  # noqa: S311 - so that not all come at once
        self.pause = min(2 * self.pause, _SHORT_PAUSE if self.is_young else _LONGEST_PAUSE)

    @property
    def is_young(self) -> bool:
        """Whether claims wait for the end of it."""
        return bool(self.reason) and monotonic() - self.since < self.grace

    def end(self) -> None:
        self.reason, self.pause = "", _FIRST_PAUSE


class Wire:
    """One process's line to the log: see the module. Thread-safe. `readonly`: nothing is told, and no thread runs."""

    def __init__(self, log: RedisLog, header: bytes, hearer: Hearer, *, readonly: bool, durable: bool, beat: float, grace: float) -> None:
        self.log, self.readonly, self.durable = log, readonly, durable
        self.unconfirmed: dict[bytes, str] = {}
        """Where stores are `durable`: of claims that were confirmed here, as the log does not say yet, the URLs, by their tokens."""
        self.process = secrets.token_bytes(8)
        self.outbox = Outbox(self.process)
        self.place = START
        """Of the last entry that has been done."""
        self.applying = Lock()
        self.closing = Flag()
        self._hearer, self._header, self._beat = hearer, header, beat
        # How often the log has begun anew, and whether it is yet to be read from its beginning.
        self._era, self._behind = 0, False
        self._asking = Lock()
        self._outage = _Outage(grace)
        self._stopped = ""
        self._sent = monotonic()
        self._threads = [] if readonly else [Thread(target=work, name="simcrawl-fleet", daemon=True) for work in (self._read, self._send)]

    @property
    def down(self) -> bool:
        """Whether the log cannot be written."""
        return bool(self._outage.reason)

    @property
    def epoch(self) -> bytes:
        """The header as it stands: another one for each log."""
        return self._header

    # ---- begin and end

    def replay(self) -> None:
        """Do all that the log holds.

        Raises:
            StoreError: it cannot be read.
        """
        for entries in self.log.replay(self.place):
            self._take(entries, self._era)

    def begin(self) -> None:
        """From now on do what comes, and tell what waits."""
        for thread in self._threads:
            thread.start()

    def close(self, last: What) -> None:
        """Tell a last event, behind what waits, and end. Never raises for the log."""
        # By itself, and after it is known that this is the end: it wakes the reader, which would else wait for half a second more.
        self.tell(last, LASTING, b"")
        self.closing.set()
        with suppress(StoreError):
            self.flush()
        self.outbox.wake()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(2)
        self.log.close()

    def tell_last(self) -> None:
        """Tell what waits, at the end; a log that is away has as long for it as a claim waits. Never raises for the log."""
        until, self._outage.pause, self._outage.try_at = monotonic() + self._outage.grace, _FIRST_PAUSE, 0.0
        while self.outbox and not self._stopped:
            with suppress(StoreError):
                self.flush()
                return
            if monotonic() >= until:
                logger.warning("%s is still away: what this process knows since then is not told to the others", self.log.shown)
                return
            self.closing.wait(_FIRST_PAUSE / 2)

    # ---- telling

    def tell(self, what: What, space: bytes, value: bytes) -> None:
        """Let an event be appended. Never blocks on I/O."""
        if not (self.readonly or self._stopped or self.closing.is_set()):
            self.outbox.put(what, space, value)

    def flush(self, *, patient: bool = False) -> None:
        """Append what waits, and do what has come before it. `patient`: go on trying while an outage is young.

        Raises:
            StoreError: the log cannot be written; what waits goes on waiting. At once while that is known.
        """
        while True:
            wakes: Wakes = []
            try:
                with self._asking:
                    self._flush(wakes)
            except StoreError:
                if not patient or self._stopped or self.closing.is_set() or not self._outage.is_young:
                    raise
            else:
                return
            finally:
                _call(wakes)
            self.closing.wait(_FIRST_PAUSE / 2)

    def _flush(self, wakes: Wakes) -> None:
        if self._stopped:
            raise StoreMismatchError(self._stopped)
        if self.down and monotonic() < self._outage.try_at:
            raise StoreError(self._outage.reason)
        try:
            self._catch_up(wakes)
            self._append(wakes)
        except LogLostError as exc:
            self._restore(anew=isinstance(exc, LogCutError))
            self._catch_up(wakes)
            self._append(wakes)

    def _append(self, wakes: Wakes) -> None:
        try:
            while batch := self.outbox.batch():
                tail, own = self.log.append(self._header, self.place, [event.pack() for event in batch])
                self._sent = monotonic()
                if self.down:
                    self._hearer.back()
                self._outage.end()
                self.outbox.told(batch)
                self._apply([*tail, *own], wakes, self._era)
        except LogLostError:
            raise
        except StoreError as exc:
            self._outage.note(exc)
            raise

    # ---- a log that is lost

    def _restore(self, *, anew: bool = False) -> None:
        """Give a server that has lost its log the header and what is known; `anew`: also where it still has the header.

        Raises:
            StoreMismatchError: another store has begun there.
        """
        fresh = as_json(_but_epoch(self._header) | {"epoch": secrets.token_hex(8)})
        try:
            stored = self.log.header(fresh, anew=anew) or b""
        except StoreError as exc:
            self._outage.note(exc)
            raise
        if _but_epoch(stored) != _but_epoch(self._header):
            self._stopped = f"another store has begun at {self.log.shown}: this crawl goes on by itself"
            raise StoreMismatchError(self._stopped)
        logger.warning("%s has lost its log: this crawl writes it again", self.log.shown)
        self._hearer.doubt(self.outbox.tell_again(self._hearer.joined_again))
        with self.applying:
            # Its ids need not be later than those that were read. What is known is told by its number.
            self.place, self._era, self._behind = START, self._era + 1, True
        self._header = stored
        if stored == fresh:
            self.outbox.tell_all(self._hearer.everything())

    def _catch_up(self, wakes: Wakes) -> None:
        """Read a log that has begun anew, some of it at a time."""
        if not self._behind:
            return
        try:
            for entries in self.log.replay(self.place):
                self._apply(entries, wakes, self._era)
        except StoreError as exc:
            self._outage.note(exc)
            raise
        self._behind = False

    # ---- threads

    def _read(self) -> None:
        while not self.closing.is_set():
            if self.down:
                self.closing.wait(_FIRST_PAUSE)
                continue
            if monotonic() - self._sent < _FRESH:
                # Whoever appends is told what is new. To be woken for each of its own events would cost the server as much again.
                self.closing.wait(_FRESH)
                continue
            with self.applying:
                place, era = self.place, self._era
            try:
                entries = self.log.news(place)
            except StoreError as exc:
                if not self.closing.is_set():
                    self._outage.note(exc)
                continue
            self._take(entries, era)

    def _send(self) -> None:
        while True:
            self.outbox.wait(self._beat / 3)
            if self.outbox:
                # A claim may come by, and take along what waits.
                self.closing.wait(_GATHER)
            if self.closing.is_set():
                return
            if self.down and (left := self._outage.try_at - monotonic()) > 0:
                self.closing.wait(left)
                continue
            if not self.outbox and (self.down or monotonic() - self._sent >= self._beat):
                self.tell(What.BEAT, LASTING, b"")
            with suppress(StoreError):
                self.flush()
                self._hearer.sweep()

    def _take(self, entries: list[Entry], era: int) -> None:
        wakes: Wakes = []
        try:
            self._apply(entries, wakes, era)
        finally:
            _call(wakes)
        self._hearer.done()

    def _apply(self, entries: list[Entry], wakes: Wakes, era: int) -> None:
        """Do what is later than all that has been done; nothing of a log that is no more, which is told again."""
        with self.applying:
            for entry in entries:
                if era == self._era and entry.place > self.place:
                    self.place = entry.place
                    self._hearer.do(entry, wakes)


def _but_epoch(header: bytes) -> dict[str, Any]:
    """Return what a header says of the store, all but how often its log was lost."""
    try:
        told = json.loads(header)
        return {name: value for name, value in told.items() if name != "epoch"}
    except (ValueError, AttributeError):
        return {"other": header}


def _call(wakes: Iterable[Callable[[], object]]) -> None:
    for wake in wakes:
        wake()
