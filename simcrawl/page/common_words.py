"""The words that are common in some language, and how much less than others they weigh: one table for every store.

Most pages of a language share its common words, which pull all their fingerprints to the same side: unrelated pages come out too near to
each other. A table that is counted from a store's own pages would move fingerprints while the store grows; this one is fixed. A word weighs
log(1 / f), f being the share of documents that have it, relative to a word of the share from which on words are in the table.

Made by `benchmarks/quality/common_words.py`, which names the texts: document frequencies counted in manuals of Debian, and those of
jieba (MIT, (c) 2013 Sun Junyi) for Chinese. It has facts about texts and nothing of the texts themselves; like the rest of simcrawl it is
under the BSD-3-Clause licence.
"""

from __future__ import annotations

import zlib
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcrawl.page.hashing import hash_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATH = Path(__file__).with_suffix(".z")
LEVELS = 16
"""A word's factor is a whole number of parts of this: sums of weights stay exact."""
_FIRST_BITS = 15
_OTHER_BITS = np.uint64(64 - _FIRST_BITS)


@cache
def factors() -> dict[str, float]:
    """Return the factor of each common word, above 0 and below 1."""
    lines = zlib.decompress(PATH.read_bytes()).decode().split("\n")
    return {word: level / LEVELS for level, line in enumerate(lines, 1) for word in line.split()}


class _Hashed(NamedTuple):
    """The ascending hashes of the common words, their factors and a last one of 1, and where those begin whose first bits are 0, 1, ...

    `most`: as many words as begin with the same bits.
    """

    hashes: NDArray[np.uint64]
    values: NDArray[np.float32]
    starts: NDArray[np.uint16]
    most: int


@lru_cache(maxsize=4)
def _hashed(seed: int) -> _Hashed:
    hashes = hash_units(factors(), seed=seed)
    order = hashes.argsort()
    hashes = hashes[order]
    values = np.append(np.fromiter(factors().values(), np.float32, len(hashes))[order], np.float32(1))
    starts = hashes.searchsorted(np.arange(2**_FIRST_BITS, dtype=np.uint64) << _OTHER_BITS)
    # As small as may be: between two pages all this has left the processor's caches.
    return _Hashed(hashes, values, starts.astype(np.uint16), int(np.diff(starts, append=len(hashes)).max()))


def factors_of(hashes: NDArray[np.uint64], *, seed: int) -> NDArray[np.float32]:
    """Return the factors of words given by their hashes, 1 for those that are not common."""
    known = _hashed(seed)
    places = known.starts.take((hashes >> _OTHER_BITS).astype(np.intp)).astype(np.intp)
    # What searchsorted does, at a fifth of its time: most hashes are where they begin.
    for _ in range(known.most):
        places += known.hashes.take(places, mode="clip") < hashes
    places[known.hashes.take(places, mode="clip") != hashes] = len(known.hashes)
    return known.values.take(places)
