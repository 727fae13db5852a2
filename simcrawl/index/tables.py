"""Permuted tables on disk: packed under their prefix, behind a log.

A commit appends its new fingerprints to the log, one record, and moves one slice or none of a table's share of the log into that
table: random single inserts would write a page of the file per fingerprint and table. What the log has and a table has not yet stands in
memory, in the *delta*; a mark per slice says up to which record it was folded. All of it changes in the transaction of its commit, so
that every process finds out, from the log's tail and the marks, what the others did. What it did itself it knows.

Works on the transactions that it is given. Bytes: `docs/store-format.md`.
"""

from __future__ import annotations

import zlib
from dataclasses import astuple, dataclass, replace
from itertools import chain, repeat, takewhile
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simcrawl.bits import words
from simcrawl.errors import StoreCorruptError
from simcrawl.index.packed import DENSE_BITS, SLICES, Delta, Packer, first_key, slice_of, slices_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lmdb import Transaction
    from numpy.typing import NDArray

    from simcrawl.index.permutations import Design

ADDED, REMOVED = 0, 1
_CRC = Struct(">I")
_KIND = Struct(">I")
_SEQUENCE = Struct(">Q")
_COUNTERS = Struct(">QQQQQ")
_COUNTERS_KEY = b"counters"
# Entries of the log that are in no table, at most; opening a store reads them, at .2 us each.
_MOST_UNFOLDED = 1 << 20
_LEAST_UNFOLDED = 64
# What a fingerprint costs in memory, a table: its words, and where nearly every one has a key of its own, that.
_KEY_COST = 200
_PLACE_COST = 50
MEMORY = 3 << 26
"""Bytes of memory that a store may use for fingerprints, by default."""
# Below so many, fingerprints that are loaded go through the log; above, a table is read and written anyway.
_FEW = 4096
# To walk through a table that is in memory costs as much as so many look-ups.
_MANY_PROBES = 4096
_NOTHING = repeat(b"")
# Fingerprints that are summed up at a time, that a record of the log holds when many are loaded, and that are read of the log at a time.
_CHUNK = 1 << 18
_RECORD = 1 << 18
_BATCH = 1 << 19
# Up to so many in a store fingerprints are loaded in one transaction, which keeps in memory what it writes.
_MOST_DIRECT = 1 << 21
# What a fingerprint costs in memory, about, while many are loaded: sorted, in the log, and waiting to be folded; and what is enough for it.
_LOADING_COST = 40
_LOADING_MEMORY = 1 << 27
_LEAST_LOADED = 1 << 16
# A transaction that folds what was loaded writes so many bytes of the tables anew, or this part of them where that is more.
_FOLDED_BYTES = 1 << 24
_FOLDED_PART = 64


class TableDatabases(NamedTuple):
    """The named databases that tables need."""

    log: Any
    state: Any
    tables: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Counters:
    """What a store counts.

    `sequence`: the last record of the log. `logged`: fingerprints that ever went through it. `loads`: how often some were loaded past it.
    `distinct`, `checksum`: how many there are, and the sum over them.
    """

    sequence: int = 0
    logged: int = 0
    loads: int = 0
    distinct: int = 0
    checksum: int = 0


class _Record(NamedTuple):
    sequence: int
    kind: int
    rows: NDArray[np.uint64]


def _room(packer: Packer, memory: int) -> int:
    """Return for how many fingerprints the memory suffices."""
    tables = packer.design.tables
    if is_dense(packer.design):
        return max(0, memory - sum(_PLACE_COST << table.prefix_bits for table in tables)) // (packer.word * len(tables))
    return memory // (_KEY_COST * len(tables))


def is_dense(design: Design) -> bool:
    """Return whether a table has so few prefixes that any few thousand fingerprints are under most of them."""
    return all(table.prefix_bits <= DENSE_BITS for table in design.tables)


def most_loaded(design: Design, memory: int) -> int | None:
    """Return how many fingerprints `PackedTables.load` should take at a time; None for all.

    Tables that are not dense would be written anew, page by page, each time.
    """
    return max(_LEAST_LOADED, min(memory, _LOADING_MEMORY) // _LOADING_COST) if is_dense(design) else None


def checksum(rows: NDArray[np.uint64]) -> int:
    """Return a sum over fingerprints that does not depend on their order, modulo 2**64: of SplitMix64 of each one's words."""
    return sum(_checksum(rows[start : start + _CHUNK]) for start in range(0, len(rows), _CHUNK)) % (1 << 64)


def _checksum(rows: NDArray[np.uint64]) -> int:
    mixed = rows[:, 0] + (rows[:, 1] * np.uint64(0x9E3779B97F4A7C15) if rows.shape[1] > 1 else np.uint64(0))
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return int(np.sum(mixed ^ mixed >> np.uint64(31), dtype=np.uint64))


_Item = tuple[bytes, bytes]
"""A key of a table, and the packed fingerprints under it."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a transaction writes: fingerprints, and the marks and counters after it."""

    added: Sequence[int]
    removed: Sequence[int]
    marks: NDArray[np.int64]
    counters: Counters


class PackedTables:
    """The permuted tables of a store.

    Look-ups, `hold` and `settle` are for one thread at a time; `write` may run beside them, `chunks` and `problems` always.
    """

    def __init__(
        self, packer: Packer, databases: TableDatabases, *, memory: int | None = None, delta: Callable[[Packer], Delta] = Delta
    ) -> None:
        self.design = packer.design
        self.packer = packer
        self.databases = databases
        self._new_delta = delta
        self.memory = MEMORY if memory is None else memory
        room = _room(packer, self.memory)
        self.unfolded = min(_MOST_UNFOLDED, max(_LEAST_UNFOLDED, room))
        """How many fingerprints the log may hold that are in no table."""
        # Fingerprints that this process has found to be new and not yet written. The delta has them, too, so that one look-up finds
        # everything: but for those that another process has stored since.
        self._held: set[int] = set()
        self._forget()

    def _forget(self) -> None:
        """Begin again with nothing read."""
        self._delta = self._new_delta(self.packer)
        self._covered = self._held.copy()
        # Of so many tables, the first ones, the delta holds everything, not only what the log has for them.
        self._resident = 0
        self._sequence = self._loads = self._distinct = 0
        self._marks = np.zeros((len(self.design.tables), SLICES), np.int64)
        # The last commit that the delta knows of.
        self._moment = -1

    # ---- reading

    def near(self, txn: Transaction[Any], fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all within the radius, as a read transaction sees them, or held."""
        if txn.id() != self._moment:
            self.catch_up(txn, txn.id())
        if self.packer.is_exact(distance):
            found = self._delta.own(fingerprint)
            if (first := self._resident) < len(self.databases.tables):
                found += map(txn.get, self.packer.keys(fingerprint)[first:], _NOTHING, self.databases.tables[first:])
        elif self.packer.probe_count(distance) >= max(_MANY_PROBES, self._distinct):
            # One table read from end to end holds everything.
            found = list(self._everything(txn))
        else:
            found = self._candidates(txn, fingerprint, distance)
        return self.packer.within(b"".join(found), fingerprint, distance)

    def _candidates(self, txn: Transaction[Any], fingerprint: int, distance: int) -> list[bytes]:
        found, first = self._delta.candidates(fingerprint, distance), self._resident
        if first == len(self.databases.tables):
            return found
        get, probes = txn.get, self.packer.probes(fingerprint, distance)[first:]
        return found + [get(key, b"", table) for table, keys in zip(self.databases.tables[first:], probes, strict=True) for key in keys]

    def _everything(self, txn: Transaction[Any]) -> Iterator[bytes]:
        if not self._resident:
            with txn.cursor(self.databases.tables[0]) as cursor:
                yield from map(bytes, cursor.iternext(keys=False, values=True))
        yield from self._delta.tables[0].values()

    def contains(self, txn: Transaction[Any], fingerprint: int) -> bool:
        """Return whether a fingerprint is stored, as a transaction sees it to whose beginning the delta is caught up."""
        ahead = fingerprint in self._held and fingerprint not in self._covered
        if not ahead and self._delta.contains(fingerprint):
            return True
        if self._resident:
            return False
        key = self.packer.keys(fingerprint)[0]
        return self.packer.holds(bytes(txn.get(key, b"", self.databases.tables[0])), fingerprint)

    def is_held(self, txn: Transaction[Any], fingerprint: int) -> bool:
        """Return whether a fingerprint is stored, as a read transaction sees it."""
        if txn.id() != self._moment:
            self.catch_up(txn, txn.id())
        return self.contains(txn, fingerprint)

    def catch_up(self, txn: Transaction[Any], moment: int) -> None:
        """Bring the delta to what a transaction sees; `moment` is the last commit that it sees.

        Raises:
            StoreCorruptError: the log or the marks fail their checksum.
        """
        if moment == self._moment:
            return
        try:
            self._read_on(txn, self.counters(txn))
        except BaseException:
            # Half of a tail must not be applied twice.
            self._forget()
            raise
        self._moment = moment

    def hold(self, fingerprint: int) -> None:
        """Let `near` find a fingerprint that it has just not found; `settle` ends that."""
        # In this order: see `_fold`.
        self._held.add(fingerprint)
        self._delta.add_one(fingerprint)

    @property
    def _ahead(self) -> set[int]:
        """What the delta has and the store has not, a copy."""
        return self._held - self._covered

    def settle(self, change: Change | None, taken: Iterable[int], before: int, after: int) -> None:
        """Bring the delta to a commit of this process: `before` is the one before it. `taken`: what was held and is now stored."""
        try:
            ahead = self._ahead
            if change and self._moment == before:
                self._adopt(change, ahead, after)
                ahead.difference_update(change.added)
            # Somebody else had stored these.
            self._cover(ahead.intersection(taken))
        except BaseException:
            self._forget()
            raise
        finally:
            self._held.difference_update(taken)
            self._covered.difference_update(taken)

    def _adopt(self, change: Change, ahead: set[int], moment: int) -> None:
        self._lift([fingerprint for fingerprint in change.added if fingerprint not in ahead], np.zeros(self._marks.shape, bool))
        for fingerprint in set(change.removed) - ahead:
            self._delta.discard(fingerprint)
        if (moved := self._moved(change.marks)).any():
            self._clear(moved)
            self._lift(list(ahead.union(change.added)), ~moved)
        self._covered.update(self._held.intersection(change.added))
        self._uncover(self._covered.intersection(change.removed))
        counters = change.counters
        self._marks, self._sequence, self._distinct, self._moment = change.marks, counters.sequence, counters.distinct, moment
        if self._resident > self._most_resident(counters.distinct):
            self._forget()

    def _cover(self, held: Iterable[int]) -> None:
        """Take what is held and stored out of the delta."""
        for fingerprint in held:
            self._covered.add(fingerprint)
            self._delta.discard(fingerprint)

    def _uncover(self, held: Iterable[int]) -> None:
        """Put what is held and stored no more into the delta."""
        for fingerprint in held:
            self._covered.discard(fingerprint)
            self._delta.add_one(fingerprint)

    def _lift(self, fingerprints: list[int], spared: NDArray[np.bool_]) -> None:
        """Add fingerprints to the delta, but for some slices."""
        if fingerprints:
            rows = words(fingerprints, bits=self.design.bits)
            prefixes = [table.prefixes(rows) for table in self.design.tables]
            parts = map(slices_of, self.design.tables, prefixes)
            self._delta.add(rows, prefixes, [~own[part] for own, part in zip(spared, parts, strict=True)])

    def _moved(self, marks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which slices went from the log into their tables, and so out of the delta, if these are the marks now."""
        moved: NDArray[np.bool_] = marks != self._marks
        moved[: self._resident] = False
        return moved

    def _most_resident(self, distinct: int) -> int:
        """Return how many tables there is memory for: each saves a look-up in LMDB, which takes a tenth of a probe.

        What the log has for the others takes its part.
        """
        if not is_dense(self.design):
            return 0
        count, word = len(self.design.tables), self.packer.word
        places = sum(_PLACE_COST << table.prefix_bits for table in self.design.tables)
        unfolded = word * min(distinct, self.unfolded)
        spare = self.memory - places - count * unfolded
        if spare < 0:
            return 0
        return min(count, spare // more) if (more := word * distinct - unfolded) else count

    def _clear(self, moved: NDArray[np.bool_]) -> None:
        for table, part in np.argwhere(moved).tolist():
            self._delta.tables[table].clear(part)

    def _read_on(self, txn: Transaction[Any], counters: Counters) -> None:
        fits, marks = self._most_resident(counters.distinct), self._read_marks(txn)
        # Records up to the least mark are deleted: who keeps everything and has not read them cannot read them any more.
        missed = self._resident > 0 and int(marks.min()) > self._sequence
        if counters.loads != self._loads or self._resident > fits or missed:
            self._forget()
        first = self._moment < 0
        waiting, moved, doubtful = marks.copy(), self._moved(marks), self._covered.copy() if first else set()
        waiting[: self._resident] = 0
        # A slice is folded as a whole, up to the log's end of that time: what is newer stands in the tail read below.
        self._clear(moved)
        self._lift(list(self._ahead), ~moved)
        for batch in _batches(self._tail(txn, int(marks.min()) if first else self._sequence)):
            doubtful |= self._held_of(batch.rows)
            self._cover(self._ahead & doubtful)
            self._apply(batch, waiting)
        if first and fits:
            # Last: what the log says was removed is cut out of the tables, and may have been loaded into them since.
            self._read_tables(txn, fits)
        self._marks, self._sequence, self._loads, self._distinct = marks, counters.sequence, counters.loads, counters.distinct
        self._uncover(fingerprint for fingerprint in doubtful if not self.contains(txn, fingerprint))

    def _held_of(self, rows: NDArray[np.uint64]) -> set[int]:
        """Return what is held of fingerprints that another process added or removed."""
        return self._held.intersection(int.from_bytes(packed, "little") for packed in self.packer.pieces(rows)) if self._held else set()

    def _read_tables(self, txn: Transaction[Any], count: int) -> None:
        self._resident = count
        self._delta.make_room(self.counters(txn).distinct)
        for held, table in zip(self._delta.tables[:count], self.databases.tables[:count], strict=True):
            with txn.cursor(table) as cursor:
                for key, packed in cursor:
                    held.add(bytes(key), bytes(packed))

    def _apply(self, batch: _Batch, marks: NDArray[np.int64]) -> None:
        if batch.kind == REMOVED:
            for row in batch.rows:
                self._delta.discard(int.from_bytes(row.tobytes(), "little"))
            return
        prefixes = [table.prefixes(batch.rows) for table in self.design.tables]
        parts = map(slices_of, self.design.tables, prefixes)
        self._delta.add(batch.rows, prefixes, [own[part] < batch.sequences for own, part in zip(marks, parts, strict=True)])

    def _tail(self, txn: Transaction[Any], after: int) -> Iterator[_Record]:
        """Yield the records of the log after one of them."""
        with txn.cursor(self.databases.log) as cursor:
            if cursor.set_range(_SEQUENCE.pack(after + 1)):
                for key, value in cursor:
                    sealed = _unseal(value, "a record of the log")
                    kind = _KIND.unpack_from(sealed)[0]
                    if kind not in (ADDED, REMOVED) or (len(sealed) - _KIND.size) % self.packer.word:
                        raise StoreCorruptError(f"a record of the log does not parse (kind {kind}): restore the store from a backup")
                    yield _Record(_SEQUENCE.unpack(key)[0], kind, self.packer.rows(sealed[_KIND.size :]))

    def _read_marks(self, txn: Transaction[Any]) -> NDArray[np.int64]:
        rows = [txn.get(_mark_key(table), db=self.databases.state) for table in range(len(self.design.tables))]
        read = [np.zeros(SLICES, ">i8") if row is None else np.frombuffer(_unseal(row, "the marks"), ">i8") for row in rows]
        return np.array(read, np.int64)

    def counters(self, txn: Transaction[Any]) -> Counters:
        """Return the counters, as a transaction sees them.

        Raises:
            StoreCorruptError: they fail their checksum.
        """
        found = txn.get(_COUNTERS_KEY, db=self.databases.state)
        return Counters() if found is None else Counters(*_COUNTERS.unpack(_unseal(found, "the counters")))

    def version(self, txn: Transaction[Any]) -> tuple[int, int]:
        """Return what every change of the fingerprints changes."""
        # Not the number of the transaction: one that changes nothing leaves its number to the next.
        counters = self.counters(txn)
        return counters.sequence, counters.loads

    def chunks(self, txn: Transaction[Any], size: int) -> Iterator[NDArray[np.uint64]]:
        """Yield every fingerprint once, in chunks of about `size`, as a transaction sees them."""
        packed = bytearray()
        with txn.cursor(self.databases.tables[0]) as cursor:
            for held in cursor.iternext(keys=False, values=True):
                packed += held
                if len(packed) >= size * self.packer.word:
                    yield self.packer.rows(bytes(packed))
                    packed.clear()
        rows = np.concatenate((self.packer.rows(bytes(packed)), self._unfolded_rows(txn, 0)))
        yield from (rows[start : start + size] for start in range(0, len(rows), size))

    def _unfolded_rows(self, txn: Transaction[Any], index: int) -> NDArray[np.uint64]:
        """Return what the log holds for a table that is not in it: like the delta's, but of any transaction."""
        marks, table, found = self._read_marks(txn)[index], self.design.tables[index], self.packer.rows(b"")
        for batch in _batches(self._tail(txn, int(marks.min()))):
            if batch.kind == ADDED:
                waiting = marks[slices_of(table, table.prefixes(batch.rows))] < batch.sequences
                found = np.concatenate((found, batch.rows[waiting]))
            else:
                found = found[~_among(found, batch.rows)]
        return found

    # ---- writing

    def write(self, txn: Transaction[Any], added: Sequence[int], removed: Sequence[int]) -> Change | None:
        """Add fingerprints that are not there and remove ones that are, in a transaction to whose beginning the delta is caught up.

        Returns what `settle` may be told once the transaction is committed; without it the delta catches up by reading.
        """
        if not added and not removed:
            return None
        gone, fresh = (words(some, bits=self.design.bits) for some in (removed, added))
        # First: what is folded is what the log held before.
        marks = self._fold(txn, self._due(self.counters(txn).logged, len(added)))
        for fingerprint in removed:
            self._remove(txn, fingerprint)
        return Change(added, removed, marks, self._log(txn, fresh, gone))

    def _log(self, txn: Transaction[Any], fresh: NDArray[np.uint64], gone: NDArray[np.uint64]) -> Counters:
        """Append records to the log, and count what they say."""
        old = self.counters(txn)
        pieces = [fresh[start : start + _RECORD] for start in range(0, len(fresh), _RECORD)]
        records = [(kind, rows) for kind, rows in ((REMOVED, gone), *((ADDED, piece) for piece in pieces)) if len(rows)]
        for sequence, (kind, rows) in enumerate(records, old.sequence + 1):
            value = _seal(_KIND.pack(kind) + rows.tobytes())
            txn.put(_SEQUENCE.pack(sequence), value, append=True, db=self.databases.log)
        return self._count(txn, replace(old, sequence=old.sequence + len(records), logged=old.logged + len(fresh)), fresh, gone)

    def _due(self, logged: int, more: int) -> int:
        """Return how many slices a commit folds, so that each has its turn once in so many fingerprints as may be unfolded."""
        slices = self._marks.size
        return min(slices, (logged + more) * slices // self.unfolded - logged * slices // self.unfolded)

    def _fold(self, txn: Transaction[Any], count: int) -> NDArray[np.int64]:
        """Move what the delta has of the slices that waited longest into their tables, and cut off the log what no slice needs.

        Returns the marks after it.
        """
        if not count:
            return self._marks
        marks = self._marks.copy()
        longest = np.transpose(np.unravel_index(np.argsort(marks, axis=None, kind="stable")[:count], marks.shape)).tolist()
        found = [(table, part, self._delta.tables[table].items(part)) for table, part in longest]
        # Read after the delta: what is held meanwhile is in both, or here alone.
        ahead = words(list(self._ahead), bits=self.design.bits)
        for table, part, items in found:
            groups = self._without(items, table, part, ahead) if len(ahead) else items
            self._put(txn, table, groups, append=False) if table < self._resident else self._merge(txn, table, groups)
            marks[table, part] = self._sequence
        for table in np.flatnonzero((marks != self._marks).any(axis=1)).tolist():
            txn.put(_mark_key(table), _seal(marks[table].astype(">i8").tobytes()), db=self.databases.state)
        self._trim(txn, int(marks.min()))
        return marks

    def _without(self, items: Iterable[_Item], index: int, part: int, rows: NDArray[np.uint64]) -> Iterator[_Item]:
        """Yield the items of a slice without some fingerprints."""
        table = self.design.tables[index]
        dropped = dict(self.packer.groups(table, rows[slices_of(table, table.prefixes(rows)) == part]))
        for key, packed in items:
            rest = packed
            for one in self.packer.pieces(self.packer.rows(dropped.get(key, b""))):
                rest = self.packer.without(rest, one)
            if rest:
                yield key, rest

    def _trim(self, txn: Transaction[Any], needless: int) -> None:
        with txn.cursor(self.databases.log) as cursor:
            while cursor.first() and _SEQUENCE.unpack(cursor.key())[0] <= needless:
                cursor.delete()

    def _merge(self, txn: Transaction[Any], index: int, groups: Iterable[tuple[bytes, bytes]]) -> None:
        """Append groups, in the order of their keys, to what a table has under these keys."""
        table, groups = self.databases.tables[index], iter(groups)
        if (first := next(groups, None)) is None:
            return
        with txn.cursor(table) as cursor:
            beyond = not cursor.last() or first[0] > bytes(cursor.key())
        groups = chain((first,), groups)
        if beyond:
            # LMDB fills its pages to the last, where it would leave a third of them empty.
            self._put(txn, index, groups, append=True)
        else:
            self._put(txn, index, ((key, b"".join((txn.get(key, b"", table), packed))) for key, packed in groups), append=False)

    def _put(self, txn: Transaction[Any], index: int, groups: Iterable[tuple[bytes, bytes]], *, append: bool) -> None:
        with txn.cursor(self.databases.tables[index]) as cursor:
            cursor.putmulti(groups, append=append)

    def _remove(self, txn: Transaction[Any], fingerprint: int) -> None:
        """Remove a fingerprint from the tables that have it; the log's record removes it from deltas."""
        one = self.packer.pack(fingerprint)
        for table, key in zip(self.databases.tables, self.packer.keys(fingerprint), strict=True):
            held = bytes(txn.get(key, b"", table))
            if rest := self.packer.without(held, one):
                if rest != held:
                    txn.put(key, rest, db=table)
            elif held:
                txn.delete(key, db=table)

    def _count(self, txn: Transaction[Any], old: Counters, added: NDArray[np.uint64], removed: NDArray[np.uint64]) -> Counters:
        distinct = old.distinct + len(added) - len(removed)
        total = (old.checksum + checksum(added) - checksum(removed)) % (1 << 64)
        new = replace(old, distinct=distinct, checksum=total)
        txn.put(_COUNTERS_KEY, _seal(_COUNTERS.pack(*astuple(new))), db=self.databases.state)
        return new

    def load(self, txn: Transaction[Any], rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add distinct fingerprints in bulk, those that are there left out; return which of them were there.

        In a transaction to whose beginning the delta is caught up. Many go to the tables directly, a table after the other, unless these
        would have to be written anew: then call `fold_loaded` until there is nothing to do.
        """
        known = self._known(txn, rows)
        fresh = rows[~known] if known.any() else rows
        if len(fresh) < _FEW:
            self.write(txn, [int.from_bytes(row.tobytes(), "little") for row in fresh], [])
            return known
        if is_dense(self.design) and self.counters(txn).distinct + len(fresh) > _MOST_DIRECT:
            self._log(txn, fresh, fresh[:0])
            return known
        for index, table in enumerate(self.design.tables):
            self._merge(txn, index, self.packer.groups(table, fresh))
        old = self.counters(txn)
        self._count(txn, replace(old, loads=old.loads + 1), fresh, fresh[:0])
        return known

    def is_few(self, count: int) -> bool:
        """Return whether so many are loaded as single ones are written."""
        return count < _FEW

    def fold_loaded(self, txn: Transaction[Any], unfolded: int) -> bool:
        """Fold some slices if the log holds more than so many fingerprints; return whether it did. In a transaction like that of `load`."""
        if sum(len(record.rows) for record in self._tail(txn, int(self._marks.min()))) <= unfolded:
            return False
        size = self.counters(txn).distinct * self.packer.word * len(self._marks)
        most = max(_FOLDED_BYTES, size // _FOLDED_PART)
        self._fold(txn, min(int(np.count_nonzero(self._marks < self._sequence)), max(1, most * self._marks.size // max(1, size))))
        return True

    def _known(self, txn: Transaction[Any], rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which fingerprints are stored."""
        known = np.zeros(len(rows), bool)
        if not self.counters(txn).distinct:
            return known
        table = self.design.tables[0]
        parts = slices_of(table, table.prefixes(rows))
        ahead = words(list(self._ahead), bits=self.design.bits)
        for part in np.unique(parts).tolist():
            tables = () if self._resident else self._slice(txn, 0, part)
            unfolded = self._without(self._delta.tables[0].items(part), 0, part, ahead)
            held = self.packer.rows(b"".join((*tables, *(packed for _, packed in unfolded))))
            if len(held):
                here = np.flatnonzero(parts == part)
                known[here] = _among(rows[here], held)
        return known

    def _slice(self, txn: Transaction[Any], index: int, part: int) -> Iterator[bytes]:
        """Yield the packed fingerprints of a slice in a table."""
        return (packed for _, packed in self._items(txn, index, part))

    def _items(self, txn: Transaction[Any], index: int, part: int) -> Iterator[tuple[bytes, bytes]]:
        with txn.cursor(self.databases.tables[index]) as cursor:
            if cursor.set_range(first_key(part)):
                for key, packed in takewhile(lambda item: slice_of(item[0]) == part, cursor):
                    yield bytes(key), bytes(packed)

    # ---- verification

    def problems(self, txn: Transaction[Any], owned: Iterable[NDArray[np.uint64]]) -> Iterator[str]:
        """Yield every contradiction among tables, log and counters, and with `owned`: chunks of fingerprints that must be there."""
        try:
            counters = self.counters(txn)
            for index in range(len(self.design.tables)):
                yield from self._problems_of_table(txn, index, counters)
            yield from self._missing(txn, owned)
        except StoreCorruptError as exc:
            yield f"log: {exc}"

    def _problems_of_table(self, txn: Transaction[Any], index: int, counters: Counters) -> Iterator[str]:
        table = self.design.tables[index]
        unfolded = self._unfolded_rows(txn, index)
        parts = slices_of(table, table.prefixes(unfolded))
        held, total = 0, 0
        for part in range(SLICES):
            rows = [unfolded[parts == part]]
            for key, packed in self._items(txn, index, part):
                rows.append(self.packer.rows(packed[: len(packed) // self.packer.word * self.packer.word]))
                if any(other != key for other, _ in self.packer.groups(table, rows[-1])) or len(packed) % self.packer.word or not packed:
                    yield f"table {index}: not everything under the prefix {key.hex()} belongs there"
            joined = np.concatenate(rows)
            if not len(joined):
                continue
            distinct = np.unique(joined, axis=0)
            if len(distinct) != len(joined):
                yield f"table {index}: slice {part} holds a fingerprint twice"
            held, total = held + len(distinct), (total + checksum(distinct)) % (1 << 64)
        if (held, total) != (counters.distinct, counters.checksum):
            yield f"table {index}: {held} fingerprints, not exactly the {counters.distinct} that were written"

    def _missing(self, txn: Transaction[Any], owned: Iterable[NDArray[np.uint64]]) -> Iterator[str]:
        table, unfolded = self.design.tables[0], self._unfolded_rows(txn, 0)
        for rows in owned:
            held = [unfolded]
            for part in np.unique(slices_of(table, table.prefixes(rows))).tolist():
                held += map(self.packer.rows, self._slice(txn, 0, part))
            for row in rows[~_among(rows, np.concatenate(held))]:
                yield f"fingerprints: {int.from_bytes(row.tobytes(), 'little'):#x} has an owner and is in no table"


class _Batch(NamedTuple):
    """Records of one kind that follow each other."""

    kind: int
    sequences: NDArray[np.int64]
    rows: NDArray[np.uint64]


def _batches(records: Iterable[_Record]) -> Iterator[_Batch]:
    """Join records of one kind that follow each other: opening a store costs one sort a table, not one a commit."""
    waiting: list[_Record] = []
    for record in records:
        if waiting and (waiting[-1].kind != record.kind or sum(len(one.rows) for one in waiting) >= _BATCH):
            yield _joined(waiting)
            waiting = []
        waiting.append(record)
    if waiting:
        yield _joined(waiting)


def _joined(records: list[_Record]) -> _Batch:
    sequences = np.repeat([record.sequence for record in records], [len(record.rows) for record in records])
    return _Batch(records[0].kind, sequences.astype(np.int64), np.concatenate([record.rows for record in records]))


def _among(rows: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which rows are among others."""
    if rows.shape[1] == 1:
        return np.isin(rows[:, 0], others[:, 0])
    known = {other.tobytes() for other in others}
    return np.array([row.tobytes() in known for row in rows], bool)


def _mark_key(table: int) -> bytes:
    return b"marks" + bytes([table])


def _seal(value: bytes) -> bytes:
    return _CRC.pack(zlib.crc32(value)) + value


def _unseal(sealed: bytes | memoryview, what: str) -> bytes:
    value = bytes(sealed[_CRC.size :])
    if len(sealed) < _CRC.size or _CRC.unpack_from(sealed)[0] != zlib.crc32(value):
        raise StoreCorruptError(f"{what} fails its checksum: restore the store from a backup, or start a new one")
    return value
