"""The permuted tables of an index on disk: under each prefix the packed fingerprints that have it, in a database a table.

Works on the transactions that it is given, and remembers nothing.
"""

from __future__ import annotations

from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

from simcrawl.index.packed import first_key, slice_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmdb import Transaction

    from simcrawl.index.packed import Packer

Item = tuple[bytes, bytes]
"""A key of a table, and the packed fingerprints under it."""


class DiskTables:
    """Reads and writes the tables of one index."""

    def __init__(self, packer: Packer, databases: tuple[Any, ...]) -> None:
        self._packer = packer
        self.databases = databases

    def items(self, txn: Transaction[Any], table: int, part: int) -> Iterator[Item]:
        """Yield what a slice of a table holds, in the order of the keys."""
        with txn.cursor(self.databases[table]) as cursor:
            if cursor.set_range(first_key(part)):
                for key, packed in takewhile(lambda item: slice_of(item[0]) == part, cursor):
                    yield bytes(key), bytes(packed)

    def packed(self, txn: Transaction[Any]) -> Iterator[bytes]:
        """Yield all that the first table holds."""
        with txn.cursor(self.databases[0]) as cursor:
            yield from map(bytes, cursor.iternext(keys=False, values=True))

    def merge(self, txn: Transaction[Any], table: int, groups: Iterable[Item]) -> None:
        """Append groups, in the order of their keys, to what a table has under these keys."""
        database, groups = self.databases[table], iter(groups)
        if (first := next(groups, None)) is None:
            return
        with txn.cursor(database) as cursor:
            beyond = not cursor.last() or first[0] > bytes(cursor.key())
        groups = chain((first,), groups)
        if beyond:
            # LMDB fills its pages to the last, where it would leave a third of them empty.
            self.put(txn, table, groups, append=True)
        else:
            self.put(txn, table, ((key, b"".join((txn.get(key, b"", database), packed))) for key, packed in groups))

    def put(self, txn: Transaction[Any], table: int, groups: Iterable[Item], *, append: bool = False) -> None:
        """Write groups in place of what a table has under their keys. `append`: their keys are beyond all that it has."""
        with txn.cursor(self.databases[table]) as cursor:
            cursor.putmulti(groups, append=append)

    def remove(self, txn: Transaction[Any], fingerprint: int) -> None:
        """Remove a fingerprint from the tables that have it."""
        one = self._packer.pack(fingerprint)
        for database, key in zip(self.databases, self._packer.keys(fingerprint), strict=True):
            held = bytes(txn.get(key, b"", database))
            if rest := self._packer.without(held, one):
                if rest != held:
                    txn.put(key, rest, db=database)
            elif held:
                txn.delete(key, db=database)
