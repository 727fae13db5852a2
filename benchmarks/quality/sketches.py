"""What could stand where the recipe's sketch stands: other sketches, the exact sets, and two texts' sketches put together.

A variant's pages carry the bytes that `make` gives; while its rule decides, `estimating` puts `resemble` in the place of
`simcrawl.page.sketch.resemblance`, so that the rule itself is the one of a crawl.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import numpy as np

from simcrawl.bits import hamming_distance
from simcrawl.page.simhash import pack, project
from simcrawl.page.sketch import resemblance, sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

REGISTERS, BOTTOM, EXACT, SIMHASH = "one-permutation", "bottom-k", "exact Jaccard", "second simhash"
_LENGTH = 4


class Sketcher(NamedTuple):
    """`make`: (sorted distinct shingle hashes, size) -> bytes; `resemble`: the resemblance of the sets behind two of them."""

    make: Callable[[NDArray[np.uint64], int], bytes]
    resemble: Callable[[bytes, bytes], float]


def bottom(hashes: NDArray[np.uint64], size: int) -> bytes:
    """Return the smallest `size` hashes, and `size` before them: two such sketches also say what their union's would be."""
    return np.concatenate([np.array([size], np.uint64), hashes[:size]]).tobytes()


def bottom_resemblance(a: bytes, b: bytes) -> float:
    """Return the share of the smallest hashes of the union that are in both; exact where the union has no more than that."""
    left, right = np.frombuffer(a, np.uint64), np.frombuffer(b, np.uint64)
    smallest = np.union1d(left[1:], right[1:])[: int(left[0])]
    if not len(smallest):
        return 0.0
    return float(np.mean(np.isin(smallest, left[1:]) & np.isin(smallest, right[1:])))


def jaccard(a: bytes, b: bytes) -> float:
    """Return the Jaccard resemblance of two sets of hashes, as `exact` gives them."""
    left, right = np.frombuffer(a, np.uint64), np.frombuffer(b, np.uint64)
    common = len(np.intersect1d(left, right, assume_unique=True))
    return common / max(1, len(left) + len(right) - common)


def second_simhash(hashes: NDArray[np.uint64], size: int) -> bytes:
    """Return a simhash of `size` bits (64 at most) of the set; its hashes have nothing to do with those of the fingerprint."""
    rows = hashes.astype(">u8").view(np.uint8).reshape(-1, 8)[:, : size // 8]
    return pack(project(rows, np.ones(len(rows)))).to_bytes(size // 8, "big") if len(rows) else b""


def agreement(a: bytes, b: bytes) -> float:
    """Return the share of equal bits."""
    return 1 - hamming_distance(int.from_bytes(a, "big"), int.from_bytes(b, "big")) / (8 * len(a)) if a and b else 0.0


SKETCHERS = {
    REGISTERS: Sketcher(sketch, cache(resemblance)),
    BOTTOM: Sketcher(bottom, cache(bottom_resemblance)),
    EXACT: Sketcher(lambda hashes, _: hashes.tobytes(), cache(jaccard)),
    SIMHASH: Sketcher(second_simhash, agreement),
}


def joined(first: bytes, second: bytes) -> bytes:
    """Return two sketches as one."""
    return len(first).to_bytes(_LENGTH, "big") + first + second


def _parts(sketches: bytes) -> tuple[bytes, bytes]:
    end = _LENGTH + int.from_bytes(sketches[:_LENGTH], "big")
    return sketches[_LENGTH:end], sketches[end:]


@cache
def resembling(sketcher: str, choose: Callable[[float, float], float] | None) -> Callable[[bytes, bytes], float]:
    """Return what compares the bytes of a sketcher; of two sketches put together: the resemblances, and one chosen of them."""
    resemble = SKETCHERS[sketcher].resemble
    if choose is None:
        return resemble
    return cache(lambda a, b: choose(*(resemble(x, y) for x, y in zip(_parts(a), _parts(b), strict=True))))


@contextmanager
def estimating(resemble: Callable[[bytes, bytes], float]) -> Iterator[None]:
    """Let the rule estimate resemblances in another way."""

    def each(one: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        return np.array([resemble(one, other) for other in others])

    patched = {"simcrawl.rule.resemblance": resemble, "simcrawl.page.sketch.resemblance": resemble, "simcrawl.rule.resemblances": each}
    with ExitStack() as stack:
        for name, made in patched.items():
            stack.enter_context(patch(name, made))
        yield
