"""Packed fingerprints: little-endian words one after the other, by the prefix that a permuted table has them under.

Pure: numpy and dictionaries, no I/O. Stores keep here what is not in their tables yet; distances are computed here for all of them.
"""

from __future__ import annotations

from itertools import compress, pairwise
from operator import getitem
from struct import Struct, unpack
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.bits import words_per_fingerprint
from simcrawl.index.permutations import flips

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from simcrawl.index.permutations import Design, Table

SLICES = 64
"""A table's key space is cut into so many slices, by the first six bits of the key: what a store moves in one go."""
_SLICE_BITS = 6
_SHIFT = 8 - _SLICE_BITS
DENSE_BITS = 16
"""Tables of at most so many prefix bits have a place in memory for every prefix."""
_WORD = np.dtype("<u8")
# Below so many candidates a loop over ints is faster than numpy, which costs some 2 us to call.
_FEW = 24
# Where so many prefixes have fingerprints, a list of all prefixes takes no more memory than a dictionary of those.
_MOST_FEW = 1 << 12
# Fingerprints that are sorted at a time.
_PART = 1 << 21
# Fingerprints that are looked at at a time, and bits that tell ranges apart, when they are parted.
_BLOCK = 1 << 18
_RANGE_BITS = 12
# Candidates for which there are buffers.
_ROOM = 4096
_View = tuple["NDArray[np.uint64]", "NDArray[np.uint8]"]


class Packer:
    """The bytes of fingerprints of one design: packed words, keys of prefixes. One user at a time: it has buffers."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.word = words_per_fingerprint(design.bits) * 8
        self._keys_of = design.prefix_keys()
        self._last: tuple[int, Sequence[bytes]] = (-1, [])
        self._masks: dict[tuple[int, int], list[int]] = {}
        self._plans: dict[int, tuple[tuple[int, ...], int]] = {}
        self._exact: dict[int, bool] = {}
        self._query = np.array(0, np.uint64)
        self._differing, self._apart = np.empty(_ROOM, np.uint64), np.empty(_ROOM, np.uint8)
        self._views: dict[int, _View] = {}

    def pack(self, fingerprint: int) -> bytes:
        """Return the words of a fingerprint."""
        return fingerprint.to_bytes(self.word, "little")

    def keys(self, fingerprint: int) -> Sequence[bytes]:
        """Return the key of a fingerprint in every table."""
        # A fingerprint is looked up in several places, then added.
        last, keys = self._last
        if last != fingerprint:
            keys = self._keys_of(fingerprint)
            self._last = fingerprint, keys
        return keys

    def is_exact(self, distance: int) -> bool:
        """Return whether a probe of this radius is one look-up in every table, of the fingerprint's own keys."""
        found = self._exact.get(distance)
        if found is None:
            radii, count = self._plan(distance)
            found = self._exact[distance] = count == len(radii) and not any(radii)
        return found

    def probes(self, fingerprint: int, distance: int) -> list[Sequence[bytes]]:
        """Return for each table the keys under which everything within the radius stands in one of them."""
        radii, _ = self._plan(distance)
        return [
            (key,) if radius == 0 else self._flipped(index, key, radius)
            for index, (key, radius) in enumerate(zip(self.keys(fingerprint), radii, strict=True))
        ]

    def masks(self, distance: int) -> list[tuple[int, ...]]:
        """Return for each table what to XOR a fingerprint's prefix with to get the prefixes of `probes`."""
        radii, _ = self._plan(distance)
        return [flips(table.prefix_bits, radius) for table, radius in zip(self.design.tables, radii, strict=True)]

    def probe_count(self, distance: int) -> int:
        """Return how many keys `probes` gives."""
        return self._plan(distance)[1]

    def _plan(self, distance: int) -> tuple[tuple[int, ...], int]:
        return self._plans.get(distance) or self._plans.setdefault(distance, (self.design.radii(distance), self.design.probes(distance)))

    def _flipped(self, table: int, key: bytes, radius: int) -> list[bytes]:
        masks = self._masks.get((table, radius))
        if masks is None:
            width = self.design.tables[table].prefix_bits
            masks = self._masks[table, radius] = [mask << -width % 8 for mask in flips(width, radius)]
        value, size = int.from_bytes(key, "big"), len(key)
        return [(value ^ mask).to_bytes(size, "big") for mask in masks]

    def within(self, packed: bytes, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of the packed fingerprints that lie within the radius."""
        count = len(packed) // self.word
        if self.word > 8:
            return self._within_wide(packed, fingerprint, distance)
        if count <= _FEW:
            others = unpack(f"<{count}Q", packed)
            return {other: apart for other in others if (apart := (other ^ fingerprint).bit_count()) <= distance}
        candidates, (differing, apart) = np.frombuffer(packed, _WORD), self._views.get(count) or self._view(count)
        # An array without dimensions: a scalar costs a conversion at every call.
        self._query[()] = fingerprint
        np.bitwise_count(np.bitwise_xor(candidates, self._query, differing), apart)
        # One pass for the usual answer, that there is nothing; `min` would take twice as long.
        if apart[apart.argmin()] > distance:
            return {}
        hits = np.flatnonzero(apart <= distance)
        return dict(zip(candidates[hits].tolist(), apart[hits].tolist(), strict=True))

    def _view(self, count: int) -> _View:
        """Return the buffers, cut to a length. Cuts are kept: to make one costs as much as to count bits."""
        if count > _ROOM:
            return np.empty(count, np.uint64), np.empty(count, np.uint8)
        return self._views.setdefault(count, (self._differing[:count], self._apart[:count]))

    def _within_wide(self, packed: bytes, fingerprint: int, distance: int) -> dict[int, int]:
        candidates = np.frombuffer(packed, "<u8").reshape(-1, 2)
        query = np.frombuffer(self.pack(fingerprint), "<u8")
        apart = np.bitwise_count(candidates ^ query).sum(axis=1)
        return {int.from_bytes(candidates[hit].tobytes(), "little"): int(apart[hit]) for hit in np.flatnonzero(apart <= distance)}

    def holds(self, packed: bytes, fingerprint: int) -> bool:
        """Return whether a fingerprint is among packed ones."""
        return self.find(packed, self.pack(fingerprint)) >= 0

    def find(self, packed: bytes, one: bytes) -> int:
        """Return where a packed fingerprint stands among others; -1 where it does not."""
        at = packed.find(one)
        while at > 0 and at % self.word:
            at = packed.find(one, at + 1)
        return at

    def without(self, packed: bytes, one: bytes) -> bytes:
        """Return packed fingerprints without one of them."""
        at = self.find(packed, one)
        return packed if at < 0 else packed[:at] + packed[at + self.word :]

    def rows(self, packed: bytes | bytearray | memoryview) -> NDArray[np.uint64]:
        """Return packed fingerprints as words of shape (n, words)."""
        return np.frombuffer(packed, "<u8").reshape(-1, self.word // 8)

    def pieces(self, rows: NDArray[np.uint64]) -> list[bytes]:
        """Return every fingerprint packed."""
        packed, word = rows.astype("<u8", copy=False).tobytes(), self.word
        return [packed[start : start + word] for start in range(0, len(packed), word)]

    def groups(self, table: Table, rows: NDArray[np.uint64]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key, packed fingerprints) for every prefix among fingerprints, in the order of the keys."""
        for part in [rows] if len(rows) <= _PART else self._in_parts(table, rows):
            if len(part):
                yield from self._sorted_groups(table, part)

    def _in_parts(self, table: Table, rows: NDArray[np.uint64]) -> Iterator[NDArray[np.uint64]]:
        """Yield fingerprints in parts, by ranges of their prefixes: sorting takes several times the memory of what is sorted."""
        chunks = (rows[start : start + _PART] for start in range(0, len(rows), _PART))
        slices = np.concatenate([slices_of(table, table.prefixes(chunk)).astype(np.uint8) for chunk in chunks])
        step = max(1, SLICES * _PART // len(rows))
        for first in range(0, SLICES, step):
            yield rows[(slices >= first) & (slices < first + step)]

    def _sorted_groups(self, table: Table, rows: NDArray[np.uint64]) -> Iterator[tuple[bytes, bytes]]:
        prefixes = table.prefixes(rows)
        # A stable sort of 16-bit integers is a radix sort.
        order = np.argsort(prefixes.astype(np.uint16) if table.prefix_bits <= 16 else prefixes, kind="stable")
        prefixes, packed = prefixes[order], rows[order].astype("<u8", copy=False).tobytes()
        starts = np.concatenate(([0], np.flatnonzero(prefixes[1:] != prefixes[:-1]) + 1))
        size, shift, word = table.key_bytes, -table.prefix_bits % 8, self.word
        edges = [*(starts * word).tolist(), len(packed)]
        for prefix, (start, end) in zip(prefixes[starts].tolist(), pairwise(edges), strict=True):
            yield (prefix << shift).to_bytes(size, "big"), packed[start:end]


def slice_of(key: bytes | memoryview) -> int:
    """Return the slice of a key."""
    return key[0] >> _SHIFT


def first_key(part: int) -> bytes:
    """Return the least key of a slice."""
    return bytes([part << _SHIFT])


def slices_of(table: Table, prefixes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the slices of prefixes."""
    surplus = table.prefix_bits - _SLICE_BITS
    return np.asarray(prefixes >> surplus if surplus >= 0 else prefixes << -surplus, np.int64)


def in_parts(rows: NDArray[np.uint64], bits: int, most: int | None) -> Iterator[NDArray[np.uint64]]:
    """Yield fingerprints in parts of about so many at most, sorted and distinct, each of a range of numbers of its own where possible.

    Memory is that of two parts, whatever is given: to sort it all would take as much again.
    """
    if most is None or len(rows) <= most:
        if len(rows):
            yield distinct(rows)
        return
    # Parts of nearly one size, with no small one left over: a little more than there was makes LMDB split every page of a table.
    most = -(-len(rows) // -(-len(rows) // most))
    most += most >> 5
    shift = max(0, bits - 64 * (rows.shape[1] - 1) - _RANGE_BITS)
    blocks = [rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK)]
    counts = sum((np.bincount(_top(block, shift), minlength=1 << _RANGE_BITS) for block in blocks), np.zeros(1 << _RANGE_BITS, np.int64))
    for first, last in _ranges(counts.tolist(), most):
        found: list[NDArray[np.uint64]] = []
        for block in blocks:
            top = _top(block, shift)
            some = block[(first <= top) & (top < last)]
            if found and sum(map(len, found)) + len(some) > most:
                yield distinct(np.concatenate(found))
                found.clear()
            if len(some):
                found.append(some)
        if found:
            yield distinct(np.concatenate(found))


def _top(rows: NDArray[np.uint64], shift: int) -> NDArray[np.int64]:
    return (rows[:, -1] >> np.uint64(shift)).astype(np.int64)


def _ranges(counts: list[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of places that count at most so much together, or are one place."""
    first = held = 0
    for place, count in enumerate(counts):
        if held and held + count > most:
            yield first, place
            first, held = place, 0
        held += count
    if held:
        yield first, len(counts)


def distinct(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return fingerprints sorted, each once."""
    if rows.shape[1] > 1:
        return np.unique(rows, axis=0)
    # Several times as fast as np.unique.
    ordered = np.sort(rows[:, 0])
    fresh = ordered[1:] != ordered[:-1]
    return (ordered if fresh.all() else ordered[np.concatenate(([True], fresh))]).reshape(-1, 1)


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
        self._surplus = max(0, _SLICE_BITS - table.prefix_bits)
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
        return [
            ((number << self._shift).to_bytes(self._size, "big"), self.held[number]) for number in self._range(part) if self.held[number]
        ]

    def clear(self, part: int) -> None:
        for number in self._range(part):
            # Places that are not taken are not to be taken.
            if self.held[number]:
                self.held[number] = b""

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
        return self._slices[key[0] >> _SHIFT].get(key, b"")

    def add(self, key: bytes, packed: bytes) -> None:
        held = self._slices[key[0] >> _SHIFT]
        held[key] = held.get(key, b"") + packed

    def replace(self, key: bytes, packed: bytes) -> None:
        held = self._slices[key[0] >> _SHIFT]
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
