"""The log of an index on disk, and what is counted beside it: bytes in two databases. What they are for: see `simcrawl.index`.

    log      record number (8)   sealed: kind (4), packed fingerprints
    state    "marks" + table     sealed: for each slice the last record that is folded into it (8)
    state    "counters"          sealed: see `Counters`

Works on the transactions that it is given, and remembers nothing.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simcrawl.bits import GOLDEN, mix
from simcrawl.errors import StoreCorruptError
from simcrawl.index.packed import SLICES
from simcrawl.sealed import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmdb import Transaction
    from numpy.typing import NDArray

    from simcrawl.index.packed import Packer

ADDED, REMOVED = 0, 1
_KIND = Struct(">I")
_SEQUENCE = Struct(">Q")
_COUNTERS = Struct(">QQQQQ")
_COUNTERS_KEY = b"counters"
# Fingerprints that are summed up at a time, that a record holds when many are loaded, and that are read of the log at a time.
_CHUNK = 1 << 18
_RECORD = 1 << 18
_BATCH = 1 << 19


class IndexDatabases(NamedTuple):
    """The named databases of an index."""

    log: Any
    state: Any
    tables: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Counters:
    """What an index counts.

    `sequence`: the last record of the log. `logged`: fingerprints that ever went through it. `loads`: how often some were loaded past it.
    `distinct`, `checksum`: how many there are, and the sum over them.
    """

    sequence: int = 0
    logged: int = 0
    loads: int = 0
    distinct: int = 0
    checksum: int = 0


class Batch(NamedTuple):
    """Records of one kind that follow each other: of each fingerprint the number of its record, and its words."""

    kind: int
    sequences: NDArray[np.int64]
    rows: NDArray[np.uint64]


class _Record(NamedTuple):
    sequence: int
    kind: int
    rows: NDArray[np.uint64]


class Log:
    """Reads and writes the log, the marks and the counters of one index."""

    def __init__(self, packer: Packer, databases: IndexDatabases) -> None:
        self._packer = packer
        self._databases = databases

    def after(self, txn: Transaction[Any], sequence: int) -> Iterator[Batch]:
        """Yield what stands behind a record, joined: opening an index costs one sort a table, not one a commit.

        Raises:
            StoreCorruptError: a record fails its checksum, or does not parse.
        """
        waiting: list[_Record] = []
        for record in self._records(txn, sequence):
            if waiting and (waiting[-1].kind != record.kind or sum(len(one.rows) for one in waiting) >= _BATCH):
                yield _joined(waiting)
                waiting = []
            waiting.append(record)
        if waiting:
            yield _joined(waiting)

    def _records(self, txn: Transaction[Any], after: int) -> Iterator[_Record]:
        with txn.cursor(self._databases.log) as cursor:
            if cursor.set_range(_SEQUENCE.pack(after + 1)):
                for key, value in cursor:
                    record = unseal(value, "a record of the log")
                    kind = _KIND.unpack_from(record)[0]
                    if kind not in (ADDED, REMOVED) or (len(record) - _KIND.size) % self._packer.word:
                        raise StoreCorruptError(f"a record of the log does not parse (kind {kind}): restore the store from a backup")
                    yield _Record(_SEQUENCE.unpack(key)[0], kind, self._packer.rows(record[_KIND.size :]))

    def append(self, txn: Transaction[Any], fresh: NDArray[np.uint64], gone: NDArray[np.uint64]) -> Counters:
        """Append records of what is added and removed, the removed first; count them, and return the counters."""
        old = self.counters(txn)
        pieces = [fresh[start : start + _RECORD] for start in range(0, len(fresh), _RECORD)]
        records = [(kind, rows) for kind, rows in ((REMOVED, gone), *((ADDED, piece) for piece in pieces)) if len(rows)]
        for sequence, (kind, rows) in enumerate(records, old.sequence + 1):
            value = seal(_KIND.pack(kind) + rows.tobytes())
            txn.put(_SEQUENCE.pack(sequence), value, append=True, db=self._databases.log)
        return self._count(txn, replace(old, sequence=old.sequence + len(records), logged=old.logged + len(fresh)), fresh, gone)

    def count_load(self, txn: Transaction[Any], fresh: NDArray[np.uint64]) -> None:
        """Count fingerprints that went to the tables directly."""
        old = self.counters(txn)
        self._count(txn, replace(old, loads=old.loads + 1), fresh, fresh[:0])

    def trim(self, txn: Transaction[Any], needless: int) -> None:
        """Delete the records up to this one."""
        with txn.cursor(self._databases.log) as cursor:
            while cursor.first() and _SEQUENCE.unpack(cursor.key())[0] <= needless:
                cursor.delete()

    def marks(self, txn: Transaction[Any]) -> NDArray[np.int64]:
        """Return the marks, shape (tables, slices)."""
        rows = [txn.get(_mark_key(table), db=self._databases.state) for table in range(len(self._packer.design.tables))]
        read = [np.zeros(SLICES, ">i8") if row is None else np.frombuffer(unseal(row, "the marks"), ">i8") for row in rows]
        return np.array(read, np.int64)

    def put_marks(self, txn: Transaction[Any], marks: NDArray[np.int64], old: NDArray[np.int64]) -> None:
        """Write the marks of the tables of which one differs from what it was."""
        for table in np.flatnonzero((marks != old).any(axis=1)).tolist():
            txn.put(_mark_key(table), seal(marks[table].astype(">i8").tobytes()), db=self._databases.state)

    def counters(self, txn: Transaction[Any]) -> Counters:
        """Return the counters, as a transaction sees them.

        Raises:
            StoreCorruptError: they fail their checksum.
        """
        found = txn.get(_COUNTERS_KEY, db=self._databases.state)
        return Counters() if found is None else Counters(*_COUNTERS.unpack(unseal(found, "the counters")))

    def _count(self, txn: Transaction[Any], old: Counters, added: NDArray[np.uint64], removed: NDArray[np.uint64]) -> Counters:
        distinct = old.distinct + len(added) - len(removed)
        total = (old.checksum + checksum(added) - checksum(removed)) % (1 << 64)
        new = replace(old, distinct=distinct, checksum=total)
        txn.put(_COUNTERS_KEY, seal(_COUNTERS.pack(*astuple(new))), db=self._databases.state)
        return new


def checksum(rows: NDArray[np.uint64]) -> int:
    """Return a sum over fingerprints that does not depend on their order, modulo 2**64: of each one's words, mixed."""
    return sum(_checksum(rows[start : start + _CHUNK]) for start in range(0, len(rows), _CHUNK)) % (1 << 64)


def _checksum(rows: NDArray[np.uint64]) -> int:
    mixed = rows[:, 0] + (rows[:, 1] * np.uint64(GOLDEN) if rows.shape[1] > 1 else np.uint64(0))
    mix(mixed)
    return int(np.sum(mixed, dtype=np.uint64))


def _joined(records: Iterable[_Record]) -> Batch:
    held = list(records)
    sequences = np.repeat([record.sequence for record in held], [len(record.rows) for record in held])
    return Batch(held[0].kind, sequences.astype(np.int64), np.concatenate([record.rows for record in held]))


def _mark_key(table: int) -> bytes:
    return b"marks" + bytes([table])
