"""Runs of bytes -> seeded 64-bit hashes, all runs of a text at once: no object a run, some twenty passes of numpy.

A run falls into chunks of eight bytes. Each chunk, with the key of its place, goes through the finaliser of SplitMix64 (Steele, Lea,
Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014); the sum is the run's hash. The keys are what SplitMix64 gives
from the seed on: equal runs have equal hashes for one seed only. Not a cryptographic hash.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.bits import GOLDEN, mix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

MARGIN = 8
"""Bytes of any value that must stand behind the last run."""

_GOLDEN = np.uint64(GOLDEN)
_CHUNK = 8
# What fills a chunk of 0 to 8 bytes up: bytes that no UTF-8 has, so that no two runs have the same chunks.
_FILLING = np.array([(2**64 - 1) >> 8 * size << 8 * size for size in range(_CHUNK)] + [0], np.uint64)
_USUAL_KEYS = 10


def hash_numbered(hashes: NDArray[np.uint64], lengths: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return the hashes of runs of these lengths, each mixed with its number in its run."""
    numbered = _numbers(lengths, firsts(lengths)).astype(np.uint64) * _GOLDEN
    numbered += hashes
    mix(numbered)
    return numbered


def among(values: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which values are among others, which ascend: what `np.isin` does, without sorting the values."""
    if not len(known):
        return np.zeros(len(values), np.bool_)
    found: NDArray[np.bool_] = known.take(known.searchsorted(values), mode="clip") == values
    return found


def firsts(lengths: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where runs of these lengths start, one after the other."""
    return lengths.cumsum() - lengths


def _numbers(lengths: NDArray[np.intp], starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each element of such runs its number in its run, from 1 on."""
    before = starts.repeat(lengths)
    return np.arange(1, len(before) + 1) - before


def hash_successive(hashes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Return the hashes of all runs of `size` successive hashes: of these and their order.

    A polynomial of them, not mixed again: they are as random as hashes get. Runs of twice the length are made of two, as in powers.
    """
    rolling, length = hashes, 1
    for bit in f"{size:b}"[1:]:
        rolling = _followed(rolling[:-length], rolling[length:], length)
        length *= 2
        if bit == "1":
            rolling = _followed(rolling[:-1], hashes[length:], 1)
            length += 1
    return rolling


def _followed(first: NDArray[np.uint64], second: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Return the hashes of runs followed by runs of this length."""
    both = first * np.uint64(pow(GOLDEN, length, 2**64))
    both += second
    return both


def hash_units(units: Iterable[str], *, seed: int) -> NDArray[np.uint64]:
    """Return the hashes of the units' UTF-8, in order. Lone surrogates, which come from broken pages, hash like any other character."""
    encoded = [unit.encode("utf-8", "surrogatepass") for unit in units]
    lengths = np.fromiter(map(len, encoded), np.intp, len(encoded))
    data = np.frombuffer(b"".join(encoded) + bytes(MARGIN), np.uint8)
    return hash_runs(data, firsts(lengths), lengths, seed=seed)


def hash_short(runs: NDArray[np.uint64], size: int, *, seed: int) -> NDArray[np.uint64]:
    """Return the hashes of runs of `size` bytes, fewer than eight, which are the lowest ones of each number; its others are 0."""
    hashes: NDArray[np.uint64] = runs | _FILLING[size]
    hashes ^= _keys(seed)[0]
    mix(hashes)
    return hashes


def hash_runs(data: NDArray[np.uint8], starts: NDArray[np.intp], lengths: NDArray[np.intp], *, seed: int) -> NDArray[np.uint64]:
    """Return the hashes of runs of UTF-8; `MARGIN` bytes must follow the last one."""
    longer = (lengths >= _CHUNK).nonzero()[0]
    sizes = lengths.take(longer)
    further = sizes >> 3
    further_firsts = firsts(further)
    number = _numbers(further, further_firsts)
    offsets = _CHUNK * number
    chunks = _chunks(
        data,
        np.concatenate((starts, starts.take(longer).repeat(further) + offsets)),
        np.concatenate((lengths, sizes.repeat(further) - offsets)),
    )
    hashes, rest = chunks[: len(starts)], chunks[len(starts) :]
    keys = _keys(seed, max(_USUAL_KEYS, len(number).bit_length()))
    hashes ^= keys[0]
    rest ^= keys.take(number)
    mix(chunks)
    if len(longer):
        hashes[longer] += np.add.reduceat(rest, further_firsts)
    return hashes


def _chunks(data: NDArray[np.uint8], places: NDArray[np.intp], left: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return the eight bytes at some places, of which `left` count where that is less."""
    eights = np.ndarray((len(data) - _CHUNK + 1,), "<u8", data, strides=(1,))
    chunks = eights.take(places).astype(np.uint64, copy=False)
    chunks |= _FILLING.take(left, mode="clip")
    return chunks


@lru_cache(maxsize=4)
def _keys(seed: int, exponent: int = _USUAL_KEYS) -> NDArray[np.uint64]:
    """Return the first 2**exponent numbers of SplitMix64 from this seed on."""
    keys = np.arange(1, 2**exponent + 1, dtype=np.uint64) * _GOLDEN + np.uint64(seed)
    mix(keys)
    return keys
