"""Packed fingerprints: little-endian words one after the other, by the prefix that a permuted table has them under.

Pure: numpy and dictionaries, no I/O. Stores keep here what is not in their tables yet; distances are computed here for all of them.
"""

from __future__ import annotations

from itertools import pairwise
from struct import unpack
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.permutations import flips
from simcrawl.simhash import words_per_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from simcrawl.permutations import Design, Table

SLICES = 64
"""A table's key space is cut into so many slices, by the first six bits of the key: what a store moves in one go."""
_SLICE_BITS = 6
_SHIFT = 8 - _SLICE_BITS
# Below so many candidates a loop over ints is faster than numpy, which costs some 2 us to call.
_FEW = 24


class Packer:
    """The bytes of fingerprints of one design: packed words, keys of prefixes. Not thread-safe: it has buffers."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.word = words_per_fingerprint(design.bits) * 8
        self.keys = design.prefix_keys()
        self._masks: dict[tuple[int, int], list[int]] = {}
        self._radii: dict[int, tuple[int, ...]] = {}
        self._differing = np.empty(1024, np.uint64)
        self._apart = np.empty(1024, np.uint8)

    def pack(self, fingerprint: int) -> bytes:
        """Return the words of a fingerprint."""
        return fingerprint.to_bytes(self.word, "little")

    def probes(self, fingerprint: int, distance: int) -> list[Sequence[bytes]]:
        """Return for each table the keys under which everything within the radius stands in one of them."""
        keys = self.keys(fingerprint)
        radii = self._radii.get(distance) or self._radii.setdefault(distance, self.design.radii(distance))
        return [
            (key,) if radius == 0 else self._flipped(index, key, radius)
            for index, (key, radius) in enumerate(zip(keys, radii, strict=True))
        ]

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
        if count > len(self._apart):
            self._differing, self._apart = np.empty(2 * count, np.uint64), np.empty(2 * count, np.uint8)
        differing, apart = self._differing[:count], self._apart[:count]
        candidates = np.frombuffer(packed, "<u8")
        np.bitwise_xor(candidates, np.uint64(fingerprint), out=differing)
        np.bitwise_count(differing, out=apart)
        # One pass for the usual answer, that there is nothing; `min` would take twice as long.
        if apart[apart.argmin()] > distance:
            return {}
        hits = np.flatnonzero(apart <= distance)
        return dict(zip(candidates[hits].tolist(), apart[hits].tolist(), strict=True))

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

    def groups(self, table: Table, rows: NDArray[np.uint64]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key, packed fingerprints) for every prefix among fingerprints, in the order of the keys."""
        if not len(rows):
            return
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


class Delta:
    """Fingerprints under every permutation of a design, by slice and key; a slice can be taken out as a whole."""

    def __init__(self, packer: Packer) -> None:
        self.packer = packer
        self.tables: list[list[dict[bytes, bytes]]] = [[{} for _ in range(SLICES)] for _ in packer.design.tables]

    def add(self, fingerprint: int) -> None:
        """Add a fingerprint that is not there."""
        packed = self.packer.pack(fingerprint)
        for slices, key in zip(self.tables, self.packer.keys(fingerprint), strict=True):
            held = slices[key[0] >> _SHIFT]
            held[key] = held.get(key, b"") + packed

    def add_groups(self, table: int, groups: Iterable[tuple[bytes, bytes]]) -> None:
        """Add fingerprints that are not there to one table."""
        slices = self.tables[table]
        for key, packed in groups:
            held = slices[key[0] >> _SHIFT]
            held[key] = held.get(key, b"") + packed

    def discard(self, fingerprint: int) -> None:
        """Remove a fingerprint from every table that has it."""
        packed = self.packer.pack(fingerprint)
        for slices, key in zip(self.tables, self.packer.keys(fingerprint), strict=True):
            held = slices[key[0] >> _SHIFT]
            if rest := self.packer.without(held.get(key, b""), packed):
                held[key] = rest
            else:
                held.pop(key, None)

    def held(self, fingerprint: int) -> bool:
        """Return whether the first table has a fingerprint."""
        key = self.packer.keys(fingerprint)[0]
        return self.packer.holds(self.tables[0][slice_of(key)].get(key, b""), fingerprint)

    def candidates(self, probes: list[Sequence[bytes]]) -> Iterator[bytes]:
        """Yield the packed fingerprints under the keys of `Packer.probes`."""
        for slices, keys in zip(self.tables, probes, strict=True):
            for key in keys:
                if found := slices[key[0] >> _SHIFT].get(key):
                    yield found
