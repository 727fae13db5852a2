"""Sketches: a few hundred bytes from which the resemblance of two texts can be estimated.

A fingerprint finds candidates; a sketch tells how alike they are. One-permutation MinHash (Li, Owen, Zhang, *One Permutation
Hashing*, NIPS 2012) of the text's shingles, one byte a register (Li and König, *b-Bit Minwise Hashing*, WWW 2010). Pure
arithmetic over hashes; the estimator is proven, its use for crawl decisions is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EMPTY = 0
_VALUES = 255
_CHANCE = 1 / _VALUES


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a page: how many units its distinct blocks have, and a sketch of those blocks in which each weighs its units."""

    units: int = 0
    sketch: bytes = b""


NO_PART = Part()


def shingles(hashes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Return the sorted distinct hashes of all runs of `size` successive units, in order of the units within a run."""
    count = len(hashes) - size + 1
    if count < 1:
        return np.empty(0, np.uint64)
    rolling = np.zeros(count, np.uint64)
    for offset in range(size):
        rolling *= np.uint64(0x9E3779B97F4A7C15)
        rolling += hashes[offset : offset + count]
        _mix(rolling)
    rolling.sort()
    return rolling[_firsts(rolling)]


def weighted(hashes: NDArray[np.uint64], weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return sorted distinct hashes of a weighted set: as many for each element as it weighs, equal for equal elements.

    The resemblance of two such sets is the weighted one of the elements; an element that weighs 30 counts 30 times.
    """
    hashes, first = np.unique(hashes, return_index=True)
    counts = weights[first].astype(np.intp)
    number = np.arange(1, counts.sum() + 1, dtype=np.uint64) - np.repeat(np.cumsum(counts) - counts, counts).astype(np.uint64)
    out: NDArray[np.uint64] = np.repeat(hashes, counts)
    out += number * np.uint64(0x9E3779B97F4A7C15)
    _mix(out)
    out.sort()
    return out[_firsts(out)]


def _mix(x: NDArray[np.uint64]) -> None:
    # The finaliser of SplitMix64: every input bit reaches every output bit, which registers chosen by the top bits and
    # values taken from the low bits both rely on.
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)


def _firsts(ascending: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return where a value is not that before it."""
    firsts = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=firsts[1:])
    return firsts


def sketch(shingle_hashes: NDArray[np.uint64], registers: int) -> bytes:
    """Return `registers` bytes for a set of sorted distinct hashes: per range of the hash space, its smallest hash's low bits.

    A register that no hash fell into is 0.
    """
    out = np.full(registers, _EMPTY, np.uint8)
    # Ranges by multiplication of the top 32 bits: any number of registers, not only powers of two.
    ranges = ((shingle_hashes >> np.uint64(32)) * np.uint64(registers)) >> np.uint64(32)
    first = _firsts(ranges)
    out[ranges[first].astype(np.intp)] = (shingle_hashes[first] & np.uint64(0xFFFFFFFF)) % np.uint64(_VALUES) + np.uint64(1)
    return out.tobytes()


def resemblance(a: bytes, b: bytes) -> float:
    """Return the estimated Jaccard resemblance, 0 to 1, of the sets behind two sketches of one length.

    The standard error for m filled registers is sqrt(J (1 - J) / m); sets much smaller than the registers are nearly exact.
    Two empty sets resemble each other by 0: there is nothing that they share.

    Raises:
        ValueError: the sketches have different lengths.
    """
    if len(a) != len(b):
        raise ValueError(f"sketches of {len(a)} and {len(b)} registers cannot be compared: use one recipe for both")
    left, right = np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8)
    filled = np.count_nonzero((left != _EMPTY) | (right != _EMPTY))
    if not filled:
        return 0.0
    equal = np.count_nonzero((left == right) & (left != _EMPTY)) / filled
    return max(0.0, float(equal - _CHANCE) / (1 - _CHANCE))


def differing(a: Part, b: Part) -> float:
    """Return the estimated units in blocks that only one of two pages has: (1 - J) / (1 + J) of both sums."""
    j = resemblance(a.sketch, b.sketch)
    return (1 - j) / (1 + j) * (a.units + b.units)
