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

    from simcrawl.index.disk_tables import Item
    from simcrawl.index.durable import DurableIndex
    from simcrawl.index.log import Counters
    from simcrawl.index.packed import Packer
    from simcrawl.index.permutations import Table


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
        items = list(index.tables.items(txn, number, part))
        folded = packer.rows(b"".join([packed[: len(packed) // packer.word * packer.word] for _, packed in items]))
        for key in _wrong_keys(packer, table, items, folded):
            yield f"table {number}: not everything under the prefix {key.hex()} belongs there"
        joined = np.concatenate((unfolded[parts == part], folded))
        if not len(joined):
            continue
        each = distinct(joined)
        if len(each) != len(joined):
            yield f"table {number}: slice {part} holds a fingerprint twice"
        held, total = held + len(each), (total + checksum(each)) % (1 << 64)
    if (held, total) != (counters.distinct, counters.checksum):
        yield f"table {number}: {held} fingerprints, not exactly the {counters.distinct} that were written"


def _wrong_keys(packer: Packer, table: Table, items: list[Item], rows: NDArray[np.uint64]) -> list[bytes]:
    """Return the keys under which not everything belongs. `rows`: all that stands under all of them, but for parts of fingerprints."""
    surplus = -table.prefix_bits % 8
    numbers = [int.from_bytes(key) for key, _ in items]
    wrong = np.array(
        [
            len(key) != table.key_bytes or number % (1 << surplus) != 0 or not packed or len(packed) % packer.word != 0
            for (key, packed), number in zip(items, numbers, strict=True)
        ],
        np.bool_,
    )
    # Of a key of another length the number may be too large for an array.
    wanted = [0 if is_wrong else number >> surplus for number, is_wrong in zip(numbers, wrong.tolist(), strict=True)]
    owners = np.repeat(np.arange(len(items)), [len(packed) // packer.word for _, packed in items])
    prefixes = table.prefixes(rows)
    wrong[owners[prefixes != np.array(wanted, prefixes.dtype)[owners]]] = True
    return [key for (key, _), is_wrong in zip(items, wrong.tolist(), strict=True) if is_wrong]


def _missing(index: DurableIndex, txn: Transaction[Any], owned: Iterable[NDArray[np.uint64]]) -> Iterator[str]:
    table, unfolded = index.design.tables[0], index.unfolded_rows(txn, 0)
    for rows in owned:
        held = [unfolded]
        for part in np.unique(slices_of(table, table.prefixes(rows))).tolist():
            held += (index.packer.rows(packed) for _, packed in index.tables.items(txn, 0, part))
        for row in rows[~among(rows, np.concatenate(held))]:
            yield f"fingerprints: {int.from_bytes(row.tobytes(), 'little'):#x} has an owner and is in no table"
