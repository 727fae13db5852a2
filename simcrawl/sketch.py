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
_ODD = np.uint64(0x9E3779B97F4A7C15)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


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
        rolling *= _ODD
        rolling += hashes[offset : offset + count]
        _mix(rolling)
    rolling.sort()
    return rolling[_firsts(rolling)]


def weighted(hashes: NDArray[np.uint64], weights: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return sorted distinct hashes of a weighted set: as many for each element as it weighs, equal for equal elements.

    The resemblance of two such sets is the weighted one of the elements; an element that weighs 30 counts 30 times.
    Equal elements must weigh the same.
    """
    out = _numbered(np.repeat(hashes, weights), weights)
    out.sort()
    return out[_firsts(out)]


def sequences(hashes: NDArray[np.uint64], lengths: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return a hash for each of the sequences that `hashes` is cut into, all of them of one or more: of its elements and their order."""
    return np.add.reduceat(_numbered(hashes.copy(), lengths), np.cumsum(lengths) - lengths)


def _numbered(hashes: NDArray[np.uint64], lengths: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Mix into each hash its number in its run, from 1 on, in place."""
    number = np.arange(1, len(hashes) + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    hashes += number.view(np.uint64) * _ODD
    _mix(hashes)
    return hashes


def _mix(x: NDArray[np.uint64]) -> None:
    # The finaliser of SplitMix64: every input bit reaches every output bit, which registers chosen by the top bits and
    # values taken from the low bits both rely on.
    x ^= x >> _S30
    x *= _M1
    x ^= x >> _S27
    x *= _M2
    x ^= x >> _S31


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
    if not len(shingle_hashes):
        return out.tobytes()
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
