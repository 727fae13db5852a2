"""Packed fingerprints: little-endian words one after the other, by the prefix that a permuted table has them under.

Pure: numpy and dictionaries, no I/O. Stores keep here what is not in their tables yet; distances are computed here for all of them.
"""

from __future__ import annotations

from itertools import pairwise
from struct import unpack
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.bits import distinct, words_per_fingerprint
from simcrawl.index.permutations import flips

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from simcrawl.index.permutations import Design, Table

SLICES = 64
"""A table's key space is cut into so many slices, by the first six bits of the key: what a store moves in one go."""
SLICE_BITS = 6
SHIFT = 8 - SLICE_BITS
DENSE_BITS = 16
"""Tables of at most so many prefix bits have a place in memory for every prefix."""
_WORD = np.dtype("<u8")
# Below so many candidates a loop over ints is faster than numpy, which costs some 2 us to call.
_FEW = 24
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
        """Return packed fingerprints as rows of words of shape (n, words)."""
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
    return key[0] >> SHIFT


def first_key(part: int) -> bytes:
    """Return the least key of a slice."""
    return bytes([part << SHIFT])


def slices_of(table: Table, prefixes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the slices of prefixes."""
    surplus = table.prefix_bits - SLICE_BITS
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


def among(rows: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which fingerprints are among others."""
    if rows.shape[1] == 1:
        return np.isin(rows[:, 0], others[:, 0])
    known = {other.tobytes() for other in others}
    return np.array([row.tobytes() in known for row in rows], bool)
