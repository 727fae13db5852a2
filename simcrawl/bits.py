"""Fingerprints as values: their widths, the bits in which two differ, as text, as the words that numpy takes, mixed."""

from __future__ import annotations

from string import hexdigits
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

GOLDEN = 0x9E3779B97F4A7C15
"""The odd number that SplitMix64 counts by: 2**64 divided by the golden ratio."""
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

WIDTHS = range(8, 129, 8)
"""Fingerprint widths in bits: crawls use 64, tests and teaching use the others."""


def check_width(bits: int) -> int:
    """Return `bits` where it is a width that fingerprints can have.

    Raises:
        ValueError: it is not a multiple of 8 from 8 to 128.
    """
    if bits not in WIDTHS:
        raise ValueError(f"fingerprints of {bits} bits do not exist: use a multiple of 8 from 8 to 128")
    return bits


def hamming_distance(a: int, b: int) -> int:
    """Return in how many bits two fingerprints differ. Both are ints >= 0, of any width."""
    return (a ^ b).bit_count()


def to_hex(fingerprint: int, *, bits: int = 64) -> str:
    """Return the fingerprint as bits / 4 hexadecimal digits, padded, so that text order is numeric order."""
    return f"{fingerprint:0{check_width(bits) // 4}x}"


def from_hex(text: str) -> int:
    """Return the fingerprint that `to_hex` wrote.

    Raises:
        ValueError: `text` is not hexadecimal.
    """
    # `int` would take a sign, a prefix, spaces and underscores too.
    if not text or not set(text) <= set(hexdigits):
        raise ValueError(f"{text!r} is no fingerprint: expected hexadecimal digits, as `simcrawl fingerprint` prints")
    return int(text, 16)


def to_rows(fingerprints: Iterable[int] | Any, *, bits: int = 64) -> NDArray[np.uint64]:
    """Return fingerprints as uint64 words, shape (n, 1), or (n, 2) above 64 bits, least significant word first.

    This is the shape in which stores keep them; an array of uint64 passes without a copy.
    """
    if isinstance(fingerprints, np.ndarray):
        return np.ascontiguousarray(fingerprints, np.uint64).reshape(-1, words_per_fingerprint(bits))
    size = 8 * words_per_fingerprint(bits)
    if size == 8 and isinstance(fingerprints, list):
        return np.array(fingerprints, np.uint64).reshape(-1, 1)
    joined = b"".join(int(value).to_bytes(size, "little") for value in fingerprints)
    return np.frombuffer(joined, "<u8").reshape(-1, size // 8)


def fitting_rows(fingerprints: Iterable[int] | Any, *, bits: int) -> NDArray[np.uint64]:
    """Return what `to_rows` does, of fingerprints that a user gave.

    Raises:
        ValueError: one of them does not fit into so many bits.
    """
    try:
        rows = to_rows(fingerprints, bits=bits)
    except OverflowError as exc:
        raise ValueError(f"a fingerprint does not fit into {bits} bits: {exc}") from exc
    if len(rows) and bits % 64 and (highest := int(rows[:, -1].max()) << bits // 64 * 64) >> bits:
        raise ValueError(f"a fingerprint does not fit into {bits} bits: {highest:#x} or more")
    return rows


def words_per_fingerprint(bits: int) -> int:
    """Return how many 64-bit words hold a fingerprint."""
    return (check_width(bits) + 63) // 64


def distinct(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return fingerprints, as words, sorted, each once."""
    if rows.shape[1] == 1:
        return distinct_values(rows[:, 0].copy()).reshape(-1, 1)
    # Numpy's own `unique` compares rows one by one.
    ordered = rows[np.lexsort(rows.T[::-1])]
    fresh = np.ones(len(ordered), np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[fresh]


def distinct_values(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sort values in place, and return them, each once."""
    # Numpy's own `unique` hashes: several times the time and the memory of a sort.
    values.sort()
    fresh = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return values if fresh.all() else values[fresh]


def mix(x: NDArray[np.uint64]) -> None:
    """Replace values by others, one for each, so that every bit depends on every bit that was there: the finaliser of SplitMix64.

    Steele, Lea, Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014.
    """
    shifted = x >> _S30
    x ^= shifted
    x *= _M1
    np.right_shift(x, _S27, shifted)
    x ^= shifted
    x *= _M2
    np.right_shift(x, _S31, shifted)
    x ^= shifted
