"""What is wrong with an index on disk: contradictions among its tables, its log and its counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.bits import distinct
from simcrawl.errors import StoreCorruptError
from simcrawl.index.log import checksum
from simcrawl.index.packed import SLICES, among, slices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmdb import Transaction
    from numpy.typing import NDArray

    from simcrawl.index.durable import DurableIndex
    from simcrawl.index.log import Counters


def problems(index: DurableIndex, txn: Transaction[Any], owned: Iterable[NDArray[np.uint64]] = ()) -> Iterator[str]:
    """Yield every contradiction, a line each, and with `owned`: chunks of fingerprints that must be there. Reads everything."""
    try:
        counters = index.log.counters(txn)
        for table in range(len(index.design.tables)):
            yield from _problems_of_table(index, txn, table, counters)
        yield from _missing(index, txn, owned)
    except StoreCorruptError as exc:
        yield f"log: {exc}"


def _problems_of_table(index: DurableIndex, txn: Transaction[Any], number: int, counters: Counters) -> Iterator[str]:
    table, packer = index.design.tables[number], index.packer
    unfolded = index.unfolded_rows(txn, number)
    parts = slices_of(table, table.prefixes(unfolded))
    held, total = 0, 0
    for part in range(SLICES):
        rows = [unfolded[parts == part]]
        for key, packed in index.tables.items(txn, number, part):
            rows.append(packer.rows(packed[: len(packed) // packer.word * packer.word]))
            if any(other != key for other, _ in packer.groups(table, rows[-1])) or len(packed) % packer.word or not packed:
                yield f"table {number}: not everything under the prefix {key.hex()} belongs there"
        joined = np.concatenate(rows)
        if not len(joined):
            continue
        each = distinct(joined)
        if len(each) != len(joined):
            yield f"table {number}: slice {part} holds a fingerprint twice"
        held, total = held + len(each), (total + checksum(each)) % (1 << 64)
    if (held, total) != (counters.distinct, counters.checksum):
        yield f"table {number}: {held} fingerprints, not exactly the {counters.distinct} that were written"


def _missing(index: DurableIndex, txn: Transaction[Any], owned: Iterable[NDArray[np.uint64]]) -> Iterator[str]:
    table, unfolded = index.design.tables[0], index.unfolded_rows(txn, 0)
    for rows in owned:
        held = [unfolded]
        for part in np.unique(slices_of(table, table.prefixes(rows))).tolist():
            held += (index.packer.rows(packed) for _, packed in index.tables.items(txn, 0, part))
        for row in rows[~among(rows, np.concatenate(held))]:
            yield f"fingerprints: {int.from_bytes(row.tobytes(), 'little'):#x} has an owner and is in no table"
