"""The delta: fingerprints under every permutation of a design in memory, by slice and key. What a table on disk does not have yet.

Pure: numpy and dictionaries. See `simcrawl.index` for what it is for.
"""

from __future__ import annotations

from itertools import compress
from operator import getitem
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.index.packed import DENSE_BITS, SHIFT, SLICE_BITS, SLICES, slices_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simcrawl.index.packed import Packer
    from simcrawl.index.permutations import Table

# Where so many prefixes have fingerprints, a list of all prefixes takes no more memory than a dictionary of those.
_MOST_FEW = 1 << 12


class Delta:
    """Fingerprints under every permutation of a design, by slice and key; a slice can be taken out as a whole."""

    def __init__(self, packer: Packer) -> None:
        self.packer = packer
        self.tables = [_Dense(table) if table.prefix_bits <= DENSE_BITS else _Sparse() for table in packer.design.tables]
        # The usual look-up reads these directly.
        blocks = [position for table in packer.design.tables for position in table.order[: table.prefix_bits]]
        aligned = all(table.prefix_bits == DENSE_BITS for table in packer.design.tables) and blocks == list(range(packer.design.bits))
        self._dense = [table for table in self.tables if isinstance(table, _Dense)]
        self._few, self._aligned = bool(self._dense), aligned
        self._lists = self._directly()
        self._numbers, self._size = Struct(f">{len(self.tables)}H"), packer.design.bits // 8
        # The prefixes that were looked up last: what is not found is added next.
        self._last: tuple[int, tuple[int, ...]] = (-1, ())

    def add(self, rows: NDArray[np.uint64], prefixes: list[NDArray[Any]], masks: list[NDArray[np.bool_]]) -> None:
        """Add fingerprints that are not there: to each table those that its mask names, under its prefixes."""
        self.make_room(len(rows))
        # Sorting pays only where several fingerprints share a place.
        pieces = self.packer.pieces(rows) if len(rows) < 1 << DENSE_BITS else None
        for held, table, numbers, mask in zip(self.tables, self.packer.design.tables, prefixes, masks, strict=True):
            if pieces and isinstance(held, _Dense):
                held.add_each(numbers[mask].tolist(), pieces if mask.all() else list(compress(pieces, mask.tolist())))
            else:
                for key, packed in self.packer.groups(table, rows[mask]):
                    held.add(key, packed)

    def add_one(self, fingerprint: int) -> None:
        """Add a fingerprint that is not there to every table."""
        packed = self.packer.pack(fingerprint)
        if self._few:
            self.make_room(1)
        if self._lists:
            last, numbers = self._last
            if last != fingerprint:
                numbers = self._numbers.unpack(fingerprint.to_bytes(self._size, "big"))
            for held, number in zip(self._lists, numbers, strict=True):
                held[number] += packed
        else:
            for table, key in zip(self.tables, self.packer.keys(fingerprint), strict=True):
                table.add(key, packed)

    def make_room(self, more: int) -> None:
        """Give every prefix a place before so many more fingerprints come that dictionaries would be the larger."""
        if self._few and max(len(table.held) for table in self._dense) + more > _MOST_FEW:
            self._few = False
            for table in self._dense:
                table.spread()
            self._lists = self._directly()

    def _directly(self) -> list[list[bytes] | _Few] | None:
        return [table.held for table in self._dense] if self._aligned else None

    def discard(self, fingerprint: int) -> None:
        """Remove a fingerprint from every table that has it."""
        packed = self.packer.pack(fingerprint)
        for table, key in zip(self.tables, self.packer.keys(fingerprint), strict=True):
            table.replace(key, self.packer.without(table.get(key), packed))

    def contains(self, fingerprint: int) -> bool:
        """Return whether the first table has a fingerprint."""
        return self.packer.holds(self.tables[0].get(self.packer.keys(fingerprint)[0]), fingerprint)

    def own(self, fingerprint: int) -> list[bytes]:
        """Return the packed fingerprints that share a prefix with one, in every table."""
        if self._lists:
            numbers = self._numbers.unpack(fingerprint.to_bytes(self._size, "big"))
            self._last = fingerprint, numbers
            return list(map(getitem, self._lists, numbers))
        return [table.get(key) for table, key in zip(self.tables, self.packer.keys(fingerprint), strict=True)]

    def candidates(self, fingerprint: int, distance: int) -> list[bytes]:
        """Return the packed fingerprints under the keys of `Packer.probes`."""
        if self._lists:
            numbers = self._numbers.unpack(fingerprint.to_bytes(self._size, "big"))
            flipped = zip(self._lists, numbers, self.packer.masks(distance), strict=True)
            return [held[number ^ mask] for held, number, masks in flipped for mask in masks]
        probes = self.packer.probes(fingerprint, distance)
        return [found for table, keys in zip(self.tables, probes, strict=True) for key in keys if (found := table.get(key))]


class Loading(Delta):
    """A delta for many fingerprints at a time: a slice of it is found by looking at all. Answers no look-ups."""

    _few = False

    def __init__(self, packer: Packer) -> None:
        self.packer = packer
        self.tables: list[Any] = [_LoadingTable(packer, table) for table in packer.design.tables]

    def add(self, rows: NDArray[np.uint64], prefixes: list[NDArray[Any]], masks: list[NDArray[np.bool_]]) -> None:
        """Add fingerprints that are not there: to each table those that its mask names, under its prefixes."""
        for held, numbers, mask in zip(self.tables, prefixes, masks, strict=True):
            held.add(rows, np.where(mask, slices_of(held.table, numbers), SLICES).astype(np.uint8))

    def discard(self, fingerprint: int) -> None:
        """Remove a fingerprint from every table that has it."""
        row = self.packer.rows(self.packer.pack(fingerprint))[0]
        for held in self.tables:
            held.discard(row)


class _LoadingTable:
    """Fingerprints and their slices; `SLICES` for those that are gone."""

    def __init__(self, packer: Packer, table: Table) -> None:
        self._packer = packer
        self.table = table
        self._rows: list[NDArray[np.uint64]] = []
        self._parts: list[NDArray[np.uint8]] = []
        self._cleared: set[int] = set()
        # Of the only rows, sorted by slice: where a slice begins. None while they are not sorted.
        self._edges: list[int] | None = None

    def add(self, rows: NDArray[np.uint64], parts: NDArray[np.uint8]) -> None:
        self._unsort()
        self._rows.append(rows)
        self._parts.append(parts)

    def discard(self, row: NDArray[np.uint64]) -> None:
        self._unsort()
        for rows, parts in zip(self._rows, self._parts, strict=True):
            parts[(rows == row).all(axis=1)] = SLICES

    def clear(self, part: int) -> None:
        self._cleared.add(part)
        if len(self._cleared) == SLICES:
            self._unsort()
            self._rows, self._parts = [], []

    def items(self, part: int) -> list[tuple[bytes, bytes]]:
        if not self._rows or part in self._cleared:
            return []
        edges = self._edges or self._sort()
        return list(self._packer.groups(self.table, self._rows[0][edges[part] : edges[part + 1]]))

    def _sort(self) -> list[int]:
        parts = np.concatenate(self._parts)
        # A stable sort of small integers is a radix sort.
        order = np.argsort(parts, kind="stable")
        self._rows, self._parts = [np.concatenate(self._rows)[order]], [parts[order]]
        self._edges = np.searchsorted(self._parts[0], np.arange(SLICES + 1)).tolist()
        return self._edges

    def _unsort(self) -> None:
        self._edges = None
        for parts in self._parts if self._cleared else ():
            parts[np.isin(parts, list(self._cleared))] = SLICES
        self._cleared.clear()


class _Few(dict[int, bytes]):
    """Like a list of places, of which few are taken; to be read by index only."""

    def __missing__(self, place: int) -> bytes:
        return b""


class _Dense:
    """One table with a place for every prefix, once it has some thousand: few enough places, and several fingerprints to each."""

    def __init__(self, table: Table) -> None:
        self._shift = -table.prefix_bits % 8
        self._slice = max(1, (1 << table.prefix_bits) // SLICES)
        self._surplus = max(0, SLICE_BITS - table.prefix_bits)
        self._size = table.key_bytes
        self._places = 1 << table.prefix_bits
        # The lists of a small crawl would be a large part of the memory that it costs.
        self.held: list[bytes] | _Few = _Few()

    def get(self, key: bytes) -> bytes:
        return self.held[int.from_bytes(key, "big") >> self._shift]

    def spread(self) -> None:
        """Have a place for every prefix from now on."""
        spread = [b""] * self._places
        # Not through what a dictionary says of every place: this happens once a crawl, on its event loop.
        if isinstance(self.held, _Few):
            for place, packed in self.held.items():
                spread[place] = packed
            self.held = spread

    def add(self, key: bytes, packed: bytes) -> None:
        self.held[int.from_bytes(key, "big") >> self._shift] += packed

    def add_each(self, prefixes: list[int], pieces: list[bytes]) -> None:
        held = self.held
        for prefix, packed in zip(prefixes, pieces, strict=True):
            held[prefix] += packed

    def replace(self, key: bytes, packed: bytes) -> None:
        number = int.from_bytes(key, "big") >> self._shift
        if packed or self.held[number]:
            self.held[number] = packed

    def items(self, part: int) -> list[tuple[bytes, bytes]]:
        """Return (key, packed fingerprints) of a slice, in the order of the keys."""
        return [((number << self._shift).to_bytes(self._size, "big"), self.held[number]) for number in self._taken(part)]

    def clear(self, part: int) -> None:
        # Places that are not taken are not to be taken.
        for number in self._taken(part):
            self.held[number] = b""

    def _taken(self, part: int) -> list[int]:
        """Return the places of a slice that have fingerprints, in order."""
        held, places = self.held, self._range(part)
        if isinstance(held, _Few):
            # Not through what a dictionary says of every place: of a hundred and more, few are taken. A copy of its keys, for threads.
            few = sorted(filter(places.__contains__, list(held))) if len(held) < len(places) else filter(held.__contains__, places)
            return [number for number in few if held[number]]
        return [number for number in places if held[number]]

    def _range(self, part: int) -> range:
        # Fewer prefixes than slices: a prefix is the slice that its key falls into, the slices between are empty.
        if part & ((1 << self._surplus) - 1):
            return range(0)
        first = (part >> self._surplus) * self._slice
        return range(first, first + self._slice)

    def values(self) -> Iterator[bytes]:
        return filter(None, self.held.values() if isinstance(self.held, _Few) else self.held)


class _Sparse:
    """One table with more prefixes than fingerprints: a dictionary a slice."""

    def __init__(self) -> None:
        self._slices: list[dict[bytes, bytes]] = [{} for _ in range(SLICES)]

    def get(self, key: bytes) -> bytes:
        return self._slices[key[0] >> SHIFT].get(key, b"")

    def add(self, key: bytes, packed: bytes) -> None:
        held = self._slices[key[0] >> SHIFT]
        held[key] = held.get(key, b"") + packed

    def replace(self, key: bytes, packed: bytes) -> None:
        held = self._slices[key[0] >> SHIFT]
        if packed:
            held[key] = packed
        else:
            held.pop(key, None)

    def items(self, part: int) -> list[tuple[bytes, bytes]]:
        """Return (key, packed fingerprints) of a slice, in the order of the keys."""
        return sorted(self._slices[part].items())

    def clear(self, part: int) -> None:
        self._slices[part].clear()

    def values(self) -> Iterator[bytes]:
        return (packed for held in self._slices for packed in held.values())
