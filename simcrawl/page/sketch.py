"""Sketches: a few hundred bytes from which the resemblance of two texts can be estimated.

A fingerprint finds candidates; a sketch tells how alike they are. One-permutation MinHash (Li, Owen, Zhang, *One Permutation
Hashing*, NIPS 2012) of the text's shingles, two bits a register (Li and König, *b-Bit Minwise Hashing*, WWW 2010): 0 where no hash fell
into it, else one of three values. Pure arithmetic over hashes; the estimator is proven, its use for crawl decisions is measured.

    low bits of the registers      one bit a register, the first one highest, filled up with zeros to whole bytes
    high bits of the registers     likewise

So two sketches, or one and many, are compared by a few operations on whole words.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.page.hashing import firsts, hash_numbered, hash_successive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_S32 = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_VALUES = 3
# What a register says for a passage that the other text has not, where it is another one there, and against it, where it is the same: as
# logarithms of how much likelier that is in such a passage, where one in three agrees by chance, than elsewhere, where nine in ten do.
_ANOTHER, _THE_SAME = log(2 / 3 / 0.1), -log(0.9 / (1 / 3))
# So much in all is no chance: of 816 registers of a text of which one in ten differs, once in some hundred texts.
_NO_CHANCE = 8.0
_OF_A_PLACE = np.dtype("<u4")
# One in three registers of different elements agrees by chance: each that does not stands for so many.
_FOR_ONE_SEEN = _VALUES / (_VALUES - 1)


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
    """Return a sketch of so many registers for hashes, in any order and repeated or not.

    Per range of the hash space, a value of 1 to 3 from its smallest one's low half. A register that no hash fell into is 0, so that a set
    much smaller than the registers is told exactly, but for its values.
    """
    ascending = hashes.copy()
    ascending.sort()
    return _of_ascending(ascending, registers)[0]


def sketch_with_places(hashes: NDArray[np.uint64], registers: int) -> tuple[bytes, bytes]:
    """Return the same, and of each register that any hash fell into, in order, the place of the one that it tells of: of equal ones any.

    (To ask for the first of these takes four times as long.)
    """
    order = hashes.argsort()
    made, first = _of_ascending(hashes[order], registers)
    return made, order[first].astype(_OF_A_PLACE).tobytes()


def _of_ascending(ascending: NDArray[np.uint64], registers: int) -> tuple[bytes, NDArray[np.intp]]:
    """Return a sketch, and where the first hash of each register that is filled stands."""
    if not len(ascending) or not registers:
        return bytes(size_of(registers)), np.empty(0, np.intp)
    out = np.zeros(registers, np.uint8)
    # Ranges by multiplication of the top 32 bits: any number of registers, not only powers of two.
    ranges = ascending >> _S32
    ranges *= np.uint64(registers)
    ranges >>= _S32
    # Of the first of each range only.
    own = ranges.astype(np.intp)
    first = np.ones(len(own), np.bool_)
    np.not_equal(own[1:], own[:-1], out=first[1:])
    out[own[first]] = (((ascending[first] & _LOW_HALF) * np.uint64(_VALUES)) >> _S32).astype(np.uint8) + np.uint8(1)
    return pack(out), first.nonzero()[0]


def pack(values: NDArray[np.uint8]) -> bytes:
    """Return the sketch whose registers have these values, 0 to 3."""
    return np.packbits(values & 1).tobytes() + np.packbits(values >> 1).tobytes()


def unpack(made: bytes) -> NDArray[np.uint8]:
    """Return the values of a sketch's registers, and of those that fill up its last byte: 0."""
    low, high = np.unpackbits(np.frombuffer(made, np.uint8)).reshape(2, -1)
    values: NDArray[np.uint8] = (low | high << 1).astype(np.uint8)
    return values


def new_passage(made: bytes, places: bytes, other: bytes) -> int:
    """Return how many hashes stand in the passage of a text that another text most clearly has not; 0 where chance may have made it.

    `made`, `places`: as `sketch_with_places` made them; `other`: a sketch of the other text, of as many registers. In what both texts have
    nearly all registers agree, wherever it stands, and in what only this one has one in three. So that is a run of places, in the order of
    the text, in which few do. How much the two differ elsewhere does not matter, as long as it is a word here and there. The longer the
    text, the fewer of its hashes a register tells of: of 816 registers it takes an eightieth of the text to be seen.
    """
    values = unpack(made)
    filled = values.nonzero()[0]
    if len(made) != len(other) or not len(filled) or len(places) != len(filled) * _OF_A_PLACE.itemsize:
        return 0
    standing = np.frombuffer(places, _OF_A_PLACE)
    order = standing.argsort()
    is_another = (values != unpack(other))[filled[order]]
    said = np.concatenate(([0.0], np.where(is_another, _ANOTHER, _THE_SAME).cumsum()))
    gained = said - np.minimum.accumulate(said)
    last = int(gained.argmax())
    if gained[last] < _NO_CHANCE:
        return 0
    first = int(said[: last + 1].argmin())
    return int(standing[order[last - 1]]) - int(standing[order[first]]) + 1


def size_of(registers: int) -> int:
    """Return how many bytes a sketch of so many registers has."""
    return 2 * -(-registers // 8)


def resemblance(a: bytes, b: bytes) -> float:
    """Return the estimated Jaccard resemblance, 0 to 1, of the sets behind two sketches of one length.

    The standard error for m filled registers is sqrt((1 - J) (1 + 2 J) / (2 m)); sets much smaller than the registers are nearly exact.
    Two empty sets resemble each other by 0: there is nothing that they share.

    Raises:
        ValueError: the sketches have different lengths.
    """
    if len(a) != len(b):
        raise ValueError(f"sketches of {len(a)} and {len(b)} bytes cannot be compared: use one recipe for both")
    # Numbers, not arrays: of so few bytes that takes a tenth of the time. The half with the low bits stands above the other one.
    half = 4 * len(a)
    below, one, other = (1 << half) - 1, int.from_bytes(a), int.from_bytes(b)
    either, unlike = one | other, one ^ other
    if not (filled := ((either | either >> half) & below).bit_count()):
        return 0.0
    both = (one | one >> half) & (other | other >> half) & below
    return max(0.0, (both.bit_count() - _FOR_ONE_SEEN * (both & (unlike | unlike >> half)).bit_count()) / filled)


def resemblances(one: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
    """Return what `resemblance` does, of one sketch with each of others of its length, in one pass over all of them."""
    own = np.frombuffer(one, np.uint8).reshape(2, -1)
    rows = np.frombuffer(b"".join(others), np.uint8).reshape(-1, *own.shape)
    low, high = rows[:, 0], rows[:, 1]
    filled_own, filled_others = own[0] | own[1], low | high
    both = filled_others & filled_own
    unlike = both & ((low ^ own[0]) | (high ^ own[1]))
    filled, alike, different = (np.bitwise_count(bits).sum(axis=1, dtype=np.intp) for bits in (filled_others | filled_own, both, unlike))
    estimates: NDArray[np.float64] = np.maximum(0.0, (alike - _FOR_ONE_SEEN * different) / np.maximum(filled, 1))
    return estimates


def differing(a: Part, b: Part) -> float:
    """Return the estimated units in blocks that only one of two pages has: (1 - J) / (1 + J) of both sums."""
    j = resemblance(a.sketch, b.sketch)
    return (1 - j) / (1 + j) * (a.units + b.units)


def own_units(a: Part, b: Part) -> tuple[float, float]:
    """Return the estimated units in blocks that only the first, and only the second of two pages has."""
    j = resemblance(a.sketch, b.sketch)
    common = j / (1 + j) * (a.units + b.units)
    return max(0.0, a.units - common), max(0.0, b.units - common)
