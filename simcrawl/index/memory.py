"""An index in memory: permuted tables in dictionaries. Exact for every design; no locks, no I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcrawl.bits import to_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.index.packed import Packer


class MemoryIndex:
    """A set of fingerprints under every permutation of a design, searchable by Hamming distance.

    Not thread-safe: who shares it holds a lock.
    """

    def __init__(self, packer: Packer) -> None:
        self._packer = packer
        self.all: set[int] = set()
        """The fingerprints; read-only."""
        self._tables: list[dict[bytes, bytes]] = [{} for _ in packer.design.tables]

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return len(self.all)

    def __contains__(self, fingerprint: object) -> bool:
        """Return whether a fingerprint is there."""
        return fingerprint in self.all

    def insert(self, fingerprint: int) -> bool:
        """Insert a fingerprint; return whether it is new."""
        if fingerprint in self.all:
            return False
        self.all.add(fingerprint)
        packer = self._packer
        packed = packer.pack(fingerprint)
        for held, key in zip(self._tables, packer.keys(fingerprint), strict=False):
            if held.setdefault(key, packed) is not packed:
                held[key] += packed
        return True

    def remove(self, fingerprint: int) -> bool:
        """Remove a fingerprint; return whether it was there."""
        if fingerprint not in self.all:
            return False
        self.all.remove(fingerprint)
        packed = self._packer.pack(fingerprint)
        for held, key in zip(self._tables, self._packer.keys(fingerprint), strict=True):
            if rest := self._packer.without(held.pop(key), packed):
                held[key] = rest
        return True

    def within(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all that lie within the radius."""
        if self._packer.probe_count(distance) >= len(self.all):
            return {other: apart for other in self.all if (apart := (fingerprint ^ other).bit_count()) <= distance}
        packed = b"".join(self._candidates(fingerprint, distance))
        return self._packer.within(packed, fingerprint, distance) if packed else {}

    def _candidates(self, fingerprint: int, distance: int) -> list[bytes]:
        if self._packer.is_exact(distance):
            keys = self._packer.keys(fingerprint)
            return [held[key] for held, key in zip(self._tables, keys, strict=True) if key in held]
        probes = self._packer.probes(fingerprint, distance)
        return [held[key] for held, keys in zip(self._tables, probes, strict=True) for key in keys if key in held]

    def load(self, fingerprints: Iterable[int] | NDArray[np.uint64]) -> None:
        """Insert many fingerprints."""
        for row in to_rows(fingerprints, bits=self._packer.design.bits):
            self.insert(int.from_bytes(row.tobytes(), "little"))

    def chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every fingerprint once, as rows of words: see `simcrawl.bits.to_rows`."""
        held = to_rows(self.all, bits=self._packer.design.bits)
        return (held[start : start + size] for start in range(0, len(held), size))
