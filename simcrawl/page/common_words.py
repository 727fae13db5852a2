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
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.page.hashing import hash_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATH = Path(__file__).with_suffix(".z")
LEVELS = 16
"""A word's factor is a whole number of parts of this: sums of weights stay exact."""


@cache
def factors() -> dict[str, float]:
    """Return the factor of each common word, above 0 and below 1."""
    lines = zlib.decompress(PATH.read_bytes()).decode().split("\n")
    return {word: level / LEVELS for level, line in enumerate(lines, 1) for word in line.split()}


@lru_cache(maxsize=4)
def _hashed(seed: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the ascending hashes of the common words, and their factors."""
    hashes = hash_units(factors(), seed=seed)
    order = hashes.argsort()
    return hashes[order], np.fromiter(factors().values(), np.float64, len(hashes))[order]


def factors_of(ascending: NDArray[np.uint64], *, seed: int) -> NDArray[np.float64]:
    """Return the factors of words given by their hashes, 1 for those that are not common."""
    hashes, values = _hashed(seed)
    places = hashes.searchsorted(ascending)
    found = hashes.take(places, mode="clip") == ascending
    return np.where(found, values.take(places, mode="clip"), 1.0)
