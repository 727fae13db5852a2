"""Which pages of a site have one content, by an oracle that shares no code with simcrawl.

Pages are compared by what they say, without what stands around it: of pages whose runs of five words are the same to nine tenths, and of
those that are the same as one of them, the content is one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.quality.oracle import alike, shingles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

SAME = 0.9
FEWEST = 20
"""Runs of words that a page must have to have a content."""


def labelled(pages: Iterable[Sequence[str]]) -> list[int | None]:
    """Return the content of each page, given by the pieces of its text, in whatever order they stand; None of those of a few words."""
    numbers: dict[bytes, int] = {}
    sets: list[NDArray[np.uint64]] = []
    which: list[int] = []
    for pieces in pages:
        made = np.unique(np.concatenate([shingles(piece) for piece in pieces])) if pieces else np.zeros(0, np.uint64)
        which.append(numbers.setdefault(made.tobytes(), len(numbers)))
        if which[-1] == len(sets):
            sets.append(made)
    of_set = _components(len(sets), alike(sets, SAME))
    return [of_set[number] if len(sets[number]) >= FEWEST else None for number in which]


def _components(count: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return for each of `count` things the least of those that pairs connect it with."""
    others: dict[int, list[int]] = defaultdict(list)
    for a, b in pairs:
        others[a].append(b)
        others[b].append(a)
    found = [-1] * count
    for start in range(count):
        waiting = [start] if found[start] < 0 else []
        while waiting:
            one = waiting.pop()
            if found[one] < 0:
                found[one] = start
                waiting.extend(others[one])
    return found
