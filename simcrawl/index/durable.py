"""An index on disk, in databases of LMDB: what `simcrawl.index` describes, on the transactions that it is given.

Bytes: `docs/store-format.md`, and `simcrawl.index.log`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.bits import distinct, to_rows
from simcrawl.index.delta import Delta, Loading
from simcrawl.index.disk_tables import DiskTables
from simcrawl.index.log import ADDED, REMOVED, Log
from simcrawl.index.packed import DENSE_BITS, SLICES, Packer, among, in_parts, slices_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from lmdb import Transaction
    from numpy.typing import NDArray

    from simcrawl.index.disk_tables import Item
    from simcrawl.index.log import Batch, Counters, IndexDatabases
    from simcrawl.index.permutations import Design

    Begin = Callable[[], AbstractContextManager[Transaction[Any]]]
    Known = Callable[[Transaction[Any], NDArray[np.uint64]], object]

# Entries of the log that are in no table, at most; opening an index reads them, at .2 us each.
_MOST_UNFOLDED = 1 << 20
_LEAST_UNFOLDED = 64
# What a fingerprint costs in memory, a table: its words, and where nearly every one has a key of its own, that.
_KEY_COST = 200
_PLACE_COST = 50
MEMORY = 3 << 26
"""Bytes of memory that an index may use for fingerprints, by default."""
# Below so many, fingerprints that are loaded go through the log; above, a table is read and written anyway.
_FEW = 4096
# To walk through a table that is in memory costs as much as so many look-ups.
_MANY_PROBES = 4096
_NOTHING = repeat(b"")
# Up to so many in an index fingerprints are loaded in one transaction, which keeps in memory what it writes.
_MOST_DIRECT = 1 << 21
# What a fingerprint costs in memory, about, while many are loaded: sorted, in the log, and waiting to be folded; and what is enough for it.
_LOADING_COST = 40
_LOADING_MEMORY = 1 << 27
_LEAST_LOADED = 1 << 16
# A transaction that folds what was loaded writes so many bytes of the tables anew, or this part of them where that is more.
_FOLDED_BYTES = 1 << 24
_FOLDED_PART = 64
# Fingerprints that are taken from another index at a time where each part does not cost a table.
_MOST_COPIED = 1 << 24


def _ignore(_: Transaction[Any], __: NDArray[np.uint64]) -> None:
    pass


def _room(packer: Packer, memory: int) -> int:
    """Return for how many fingerprints the memory suffices."""
    tables = packer.design.tables
    if _is_dense(packer.design):
        return max(0, memory - sum(_PLACE_COST << table.prefix_bits for table in tables)) // (packer.word * len(tables))
    return memory // (_KEY_COST * len(tables))


def _is_dense(design: Design) -> bool:
    """Return whether a table has so few prefixes that any few thousand fingerprints are under most of them."""
    return all(table.prefix_bits <= DENSE_BITS for table in design.tables)


def _most_loaded(design: Design, memory: int) -> int | None:
    """Return how many fingerprints `DurableIndex.load` should take at a time; None for all.

    Tables that are not dense would be written anew, page by page, each time.
    """
    return max(_LEAST_LOADED, min(memory, _LOADING_MEMORY) // _LOADING_COST) if _is_dense(design) else None


@dataclass(frozen=True, slots=True)
class _Change:
    """What a transaction writes: fingerprints, and the marks and counters after it."""

    added: Sequence[int]
    removed: Sequence[int]
    marks: NDArray[np.int64]
    counters: Counters


class DurableIndex:
    """An index in databases of an LMDB environment, as one process sees it: see `simcrawl.index`.

    `memory`: the bytes that fingerprints may take in memory, by default `MEMORY`. Look-ups, `hold`, and the beginning and the end of a
    change are for one thread at a time; what a change does in between may run beside them, `chunks` always.
    """

    def __init__(
        self, design: Design, databases: IndexDatabases, *, memory: int | None = None, delta: Callable[[Packer], Delta] = Delta
    ) -> None:
        self.design = design
        self.packer = packer = Packer(design)
        self.databases = databases
        self.log, self.tables = Log(packer, databases), DiskTables(packer, databases.tables)
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

    def within(self, txn: Transaction[Any], fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all within the radius, as a read transaction sees them, or held. Exact for every radius."""
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
            yield from self.tables.packed(txn)
        yield from self._delta.tables[0].values()

    def contains(self, txn: Transaction[Any], fingerprint: int) -> bool:
        """Return whether a fingerprint is stored, as a read transaction sees it; what is held is not."""
        if txn.id() != self._moment:
            self.catch_up(txn, txn.id())
        return self._contains(txn, fingerprint)

    def _contains(self, txn: Transaction[Any], fingerprint: int) -> bool:
        ahead = fingerprint in self._held and fingerprint not in self._covered
        if not ahead and self._delta.contains(fingerprint):
            return True
        if self._resident:
            return False
        key = self.packer.keys(fingerprint)[0]
        return self.packer.holds(bytes(txn.get(key, b"", self.databases.tables[0])), fingerprint)

    def count(self, txn: Transaction[Any]) -> int:
        """Return how many fingerprints there are."""
        return self.log.counters(txn).distinct

    def version(self, txn: Transaction[Any]) -> tuple[int, int]:
        """Return what every change of the index changes."""
        # Not the number of the transaction: one that changes nothing leaves its number to the next.
        counters = self.log.counters(txn)
        return counters.sequence, counters.loads

    def chunks(self, txn: Transaction[Any], size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every fingerprint once, as words, in chunks of about `size`, as a transaction sees them. Memory: two chunks."""
        packed = bytearray()
        for held in self.tables.packed(txn):
            packed += held
            if len(packed) >= size * self.packer.word:
                yield self.packer.rows(bytes(packed))
                packed.clear()
        rows = np.concatenate((self.packer.rows(bytes(packed)), self.unfolded_rows(txn, 0)))
        yield from (rows[start : start + size] for start in range(0, len(rows), size))

    def unfolded_rows(self, txn: Transaction[Any], number: int) -> NDArray[np.uint64]:
        """Return what the log holds for a table that is not in it: like the delta's, but of any transaction."""
        marks, table, found = self.log.marks(txn)[number], self.design.tables[number], self.packer.rows(b"")
        for batch in self.log.after(txn, int(marks.min())):
            if batch.kind == ADDED:
                waiting = marks[slices_of(table, table.prefixes(batch.rows))] < batch.sequences
                found = np.concatenate((found, batch.rows[waiting]))
            else:
                found = found[~among(found, batch.rows)]
        return found

    # ---- the delta

    def catch_up(self, txn: Transaction[Any], moment: int) -> None:
        """Bring the delta to what a transaction sees; `moment` is the last commit that it sees.

        Raises:
            StoreCorruptError: the log or the marks fail their checksum.
        """
        if moment == self._moment:
            return
        try:
            self._read_on(txn, self.log.counters(txn))
        except BaseException:
            # Half of a tail must not be applied twice.
            self._forget()
            raise
        self._moment = moment

    def hold(self, fingerprint: int) -> None:
        """Let `within` find a fingerprint that it has just not found; the end of a change that it was taken for ends that."""
        # In this order: see `_fold`.
        self._held.add(fingerprint)
        self._delta.add_one(fingerprint)

    @property
    def _ahead(self) -> set[int]:
        """What the delta has and the store has not, a copy."""
        return self._held - self._covered

    def _adopt_commit(self, change: _Change | None, taken: Iterable[int], before: int, after: int) -> None:
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

    def _adopt(self, change: _Change, ahead: set[int], moment: int) -> None:
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
            rows = to_rows(fingerprints, bits=self.design.bits)
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
        if not _is_dense(self.design):
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
        fits, marks = self._most_resident(counters.distinct), self.log.marks(txn)
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
        for batch in self.log.after(txn, int(marks.min()) if first else self._sequence):
            doubtful |= self._held_of(batch.rows)
            self._cover(self._ahead & doubtful)
            self._apply(batch, waiting)
        if first and fits:
            # Last: what the log says was removed is cut out of the tables, and may have been loaded into them since.
            self._read_tables(txn, fits)
        self._marks, self._sequence, self._loads, self._distinct = marks, counters.sequence, counters.loads, counters.distinct
        self._uncover(fingerprint for fingerprint in doubtful if not self._contains(txn, fingerprint))

    def _held_of(self, rows: NDArray[np.uint64]) -> set[int]:
        """Return what is held of fingerprints that another process added or removed."""
        return self._held.intersection(int.from_bytes(packed, "little") for packed in self.packer.pieces(rows)) if self._held else set()

    def _read_tables(self, txn: Transaction[Any], count: int) -> None:
        self._resident = count
        self._delta.make_room(self.count(txn))
        for held, table in zip(self._delta.tables[:count], self.databases.tables[:count], strict=True):
            with txn.cursor(table) as cursor:
                for key, packed in cursor:
                    held.add(bytes(key), bytes(packed))

    def _apply(self, batch: Batch, marks: NDArray[np.int64]) -> None:
        if batch.kind == REMOVED:
            for row in batch.rows:
                self._delta.discard(int.from_bytes(row.tobytes(), "little"))
            return
        prefixes = [table.prefixes(batch.rows) for table in self.design.tables]
        parts = map(slices_of, self.design.tables, prefixes)
        self._delta.add(batch.rows, prefixes, [own[part] < batch.sequences for own, part in zip(marks, parts, strict=True)])

    # ---- writing

    def writing(self, txn: Transaction[Any]) -> Changes:
        """Return the changes of a transaction for writing, with the delta caught up to its beginning."""
        self.catch_up(txn, txn.id() - 1)
        return Changes(self, txn)

    def _write(self, txn: Transaction[Any], added: Sequence[int], removed: Sequence[int]) -> _Change | None:
        """Add fingerprints that are not there and remove ones that are."""
        if not added and not removed:
            return None
        gone, fresh = (to_rows(some, bits=self.design.bits) for some in (removed, added))
        # First: what is folded is what the log held before.
        marks = self._fold(txn, self._due(self.log.counters(txn).logged, len(added)))
        for fingerprint in removed:
            # The log's record removes it from deltas.
            self.tables.remove(txn, fingerprint)
        return _Change(added, removed, marks, self.log.append(txn, fresh, gone))

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
        ahead = to_rows(list(self._ahead), bits=self.design.bits)
        for table, part, items in found:
            groups = self._without(items, table, part, ahead) if len(ahead) else items
            (self.tables.put if table < self._resident else self.tables.merge)(txn, table, groups)
            marks[table, part] = self._sequence
        self.log.put_marks(txn, marks, self._marks)
        self.log.trim(txn, int(marks.min()))
        return marks

    def _without(self, items: Iterable[Item], index: int, part: int, rows: NDArray[np.uint64]) -> Iterator[Item]:
        """Yield the items of a slice without some fingerprints."""
        table = self.design.tables[index]
        dropped = dict(self.packer.groups(table, rows[slices_of(table, table.prefixes(rows)) == part]))
        for key, packed in items:
            rest = packed
            for one in self.packer.pieces(self.packer.rows(dropped.get(key, b""))):
                rest = self.packer.without(rest, one)
            if rest:
                yield key, rest

    def load(self, rows: NDArray[np.uint64], begin: Begin, known: Known = _ignore) -> None:
        """Insert many fingerprints, given as words, in as many transactions as it takes; those that are there have no effect.

        `begin` gives a transaction for writing; `known` is told in it which fingerprints were there. This process must not look anything up
        meanwhile, others may. A crash leaves a part of them inserted, and a whole index.
        """
        if len(rows) < _FEW:
            with begin() as txn:
                self._load_part(txn, distinct(rows), known)
            return
        # Not this index itself: the delta of that one takes less memory, and answers no probes.
        loader = self.loader()
        for part in in_parts(rows, self.design.bits, _most_loaded(self.design, self.memory)):
            with begin() as txn:
                loader._load_part(txn, part, known)  # noqa: SLF001 - an index, too
            loader._fold_loaded(begin, self.unfolded)  # noqa: SLF001 - an index, too

    def loader(self) -> DurableIndex:
        """Return the same index for loading only."""
        return DurableIndex(self.design, self.databases, memory=0, delta=Loading)

    def copy(self, txn: Transaction[Any], other: DurableIndex, begin: Begin) -> None:
        """Load all that this index holds, as a read transaction sees it, into another one, which is empty, and fold it all."""
        loader = other.loader()
        for rows in self.chunks(txn, _most_loaded(other.design, MEMORY) or _MOST_COPIED):
            with begin() as writing:
                loader.writing(writing).load(rows)
            loader._fold_loaded(begin, 0)  # noqa: SLF001 - an index, too

    def _load_part(self, txn: Transaction[Any], rows: NDArray[np.uint64], known: Known) -> None:
        were_there = self.writing(txn).load(rows)
        known(txn, rows[were_there])

    def _fold_loaded(self, begin: Begin, unfolded: int) -> None:
        more = True
        while more:
            with begin() as txn:
                more = self.fold_loaded(txn, unfolded)

    def fold_loaded(self, txn: Transaction[Any], unfolded: int) -> bool:
        """Fold some slices if the log holds more than so many fingerprints; return whether it did: a step of `load`."""
        self.catch_up(txn, txn.id() - 1)
        if sum(len(batch.rows) for batch in self.log.after(txn, int(self._marks.min()))) <= unfolded:
            return False
        size = self.count(txn) * self.packer.word * len(self._marks)
        most = max(_FOLDED_BYTES, size // _FOLDED_PART)
        self._fold(txn, min(int(np.count_nonzero(self._marks < self._sequence)), max(1, most * self._marks.size // max(1, size))))
        return True

    def _load(self, txn: Transaction[Any], rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add distinct fingerprints, those that are there left out; return which of them were there.

        Many go to the tables directly, a table after the other, unless these would have to be written anew.
        """
        known = self._known(txn, rows)
        fresh = rows[~known] if known.any() else rows
        if len(fresh) < _FEW:
            self._write(txn, [int.from_bytes(row.tobytes(), "little") for row in fresh], [])
        elif _is_dense(self.design) and self.count(txn) + len(fresh) > _MOST_DIRECT:
            self.log.append(txn, fresh, fresh[:0])
        else:
            for number, table in enumerate(self.design.tables):
                self.tables.merge(txn, number, self.packer.groups(table, fresh))
            self.log.count_load(txn, fresh)
        return known

    def _known(self, txn: Transaction[Any], rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which fingerprints are stored."""
        known = np.zeros(len(rows), bool)
        if not self.count(txn):
            return known
        table = self.design.tables[0]
        parts = slices_of(table, table.prefixes(rows))
        ahead = to_rows(list(self._ahead), bits=self.design.bits)
        for part in np.unique(parts).tolist():
            stored = () if self._resident else self.tables.items(txn, 0, part)
            unfolded = self._without(self._delta.tables[0].items(part), 0, part, ahead)
            held = self.packer.rows(b"".join(packed for _, packed in chain(stored, unfolded)))
            if len(held):
                here = np.flatnonzero(parts == part)
                known[here] = among(rows[here], held)
        return known


class Changes:
    """What one transaction for writing does to an index. From `DurableIndex.writing`.

    Inserts and removes are collected; `finish` writes them, once, before the commit. `committed` tells the delta, after it: without that
    a change costs the next look-up a read of what it wrote. `load` writes at once, and wants no `finish`.
    """

    def __init__(self, index: DurableIndex, txn: Transaction[Any]) -> None:
        self._index, self._txn = index, txn
        self._added: dict[int, None] = {}
        self._removed: dict[int, None] = {}
        self._written: _Change | None = None
        self._moment = txn.id()

    def __contains__(self, fingerprint: int) -> bool:
        """Return whether a fingerprint is there by now."""
        return self._is_stored(fingerprint) and fingerprint not in self._removed

    def _is_stored(self, fingerprint: int) -> bool:
        return fingerprint in self._added or self._index._contains(self._txn, fingerprint)  # noqa: SLF001 - its other half

    def insert(self, fingerprint: int) -> bool:
        """Insert a fingerprint; return False where it is there."""
        if fingerprint in self._removed:
            del self._removed[fingerprint]
            return True
        if self._is_stored(fingerprint):
            return False
        self._added[fingerprint] = None
        return True

    def insert_new(self, fingerprints: Iterable[int]) -> bool:
        """Insert fingerprints that are known not to be there; return False, without effect, where something was changed before."""
        if self._added or self._removed:
            return False
        self._added = dict.fromkeys(fingerprints)
        return True

    def remove(self, fingerprint: int) -> None:
        """Remove a fingerprint that is there."""
        if fingerprint in self._added:
            del self._added[fingerprint]
        else:
            self._removed[fingerprint] = None

    def load(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Insert many distinct fingerprints, given as words; return which of them were there. See `DurableIndex.load`."""
        return self._index._load(self._txn, rows)  # noqa: SLF001 - its other half

    def finish(self) -> None:
        """Write what was inserted and removed. May run beside look-ups."""
        self._written = self._index._write(self._txn, list(self._added), list(self._removed))  # noqa: SLF001 - its other half

    def committed(self, taken: Iterable[int] = ()) -> None:
        """Bring the index to this change, which is committed. `taken`: what was held before and is now stored."""
        self._index._adopt_commit(self._written, taken, self._moment - 1, self._moment)  # noqa: SLF001 - its other half
