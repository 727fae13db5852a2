"""Sketches: a few hundred bytes from which the resemblance of two texts can be estimated.

A fingerprint finds candidates; a sketch tells how alike they are. One-permutation MinHash (Li, Owen, Zhang, *One Permutation
Hashing*, NIPS 2012) of the text's shingles, one byte a register (Li and König, *b-Bit Minwise Hashing*, WWW 2010). Pure
arithmetic over hashes; the estimator is proven, its use for crawl decisions is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.page.hashing import firsts, hash_numbered, hash_successive

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EMPTY = 0
_S32 = np.uint64(32)
# A register holds a byte of 1 to 255, 1 twice as often as the others.
_CHANCE = (254 + 2 * 2) / 256**2


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a page: how many units its distinct blocks have, and a sketch of those blocks in which each weighs its units."""

    units: int = 0
    sketch: bytes = b""


NO_PART = Part()


def shingles(hashes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Return a hash for each run of `size` successive units, in order of the units within a run."""
    return hash_successive(hashes, size)


def weighted(hashes: NDArray[np.uint64], weights: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return distinct hashes of a weighted set: as many for each element as it weighs, equal for equal elements.

    The resemblance of two such sets is the weighted one of the elements; an element that weighs 30 counts 30 times.
    Equal elements must weigh the same.
    """
    order = hashes.argsort()
    ascending = hashes[order]
    distinct = np.ones(len(order), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=distinct[1:])
    own = weights[order[distinct]]
    return hash_numbered(ascending[distinct].repeat(own), own)


def sequences(hashes: NDArray[np.uint64], lengths: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return a hash for each of the sequences that `hashes` is cut into, all of them of one or more: of its elements and their order."""
    return np.add.reduceat(hash_numbered(hashes, lengths), firsts(lengths)) if len(lengths) else np.empty(0, np.uint64)


def sketch(hashes: NDArray[np.uint64], registers: int) -> bytes:
    """Return `registers` bytes for hashes, in any order and repeated or not: per range of the hash space, its smallest one's low byte.

    A register that no hash fell into is 0.
    """
    if not registers or not len(hashes):
        return bytes(registers)
    ascending = hashes.copy()
    ascending.sort()
    # Ranges by multiplication of the top 32 bits: any number of registers, not only powers of two.
    ranges = ascending >> _S32
    ranges *= np.uint64(registers)
    ranges >>= _S32
    values = np.maximum(ascending.astype(np.uint8), 1)
    out = np.zeros(registers, np.uint8)
    # The last one that is written to a register stays: here the smallest.
    out[ranges.astype(np.intp)[::-1]] = values[::-1]
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


def own_units(a: Part, b: Part) -> tuple[float, float]:
    """Return the estimated units in blocks that only the first, and only the second of two pages has."""
    j = resemblance(a.sketch, b.sketch)
    common = j / (1 + j) * (a.units + b.units)
    return max(0.0, a.units - common), max(0.0, b.units - common)
