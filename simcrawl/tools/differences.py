"""How two pages differ: in which bits, by which features, in which blocks of their texts.

Pure: weights and texts in, values out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from simcrawl.page.features import hash_rows
from simcrawl.page.simhash import pack, project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

MOST_BLOCKS = 5_000
"""Blocks of a text that are looked at: finding the differences of two texts can take the product of their lengths."""
# Tokens of a block between what both begin and end with: comparing these takes up to their product, here a twentieth of a second.
_MOST_TOKENS = 1_500
# Unspaced letters one by one, as features are.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]|\w+|\s+|[^\w\s]")
Operation = Literal["equal", "replace", "delete", "insert"]


# ---- bits and features


class Feature(NamedTuple):
    """A feature and its weight on each page. `pulls`: how many of the differing bits the change of its weight pulls to page b's side."""

    name: str
    weight_a: float
    weight_b: float
    pulls: int


class Bit(NamedTuple):
    """A bit in which two fingerprints differ; 0 is the first of the hexadecimal digits. `sum_a`, `sum_b`: the sums whose signs it has.

    `features`: those that pull it from the one side to the other, strongest first.
    """

    position: int
    sum_a: float
    sum_b: float
    features: list[str]


@dataclass(frozen=True, slots=True)
class Pull:
    """What pulls two fingerprints apart: the differing bits, and all features of different weight, the most different first."""

    fingerprint_a: int
    fingerprint_b: int
    bits: list[Bit]
    features: list[Feature]


def differing_bits(a: int, b: int, bits: int) -> list[int]:
    """Return the positions in which two fingerprints differ, 0 the most significant."""
    return [position for position in range(bits) if (a ^ b) >> (bits - 1 - position) & 1]


def pull_apart(a: Mapping[str, float], b: Mapping[str, float], *, seed: int = 0, bits: int = 64, strongest: int = 5) -> Pull:
    """Return what pulls apart the fingerprints of two pages, given by the weights of their features. `strongest`: features named a bit.

    Raises:
        ValueError: a page has no feature.
    """
    names = sorted(a.keys() | b.keys())
    rows = hash_rows(names, seed=seed, bits=bits)
    weights = [np.array([side.get(name, 0.0) for name in names]) for side in (a, b)]
    sums = [project(rows, weight) for weight in weights]
    flipped = np.flatnonzero((sums[0] > 0) != (sums[1] > 0))
    change = weights[1] - weights[0]
    pulls = _pulls(rows, change, sums[1] - sums[0])[:, flipped]
    order = np.lexsort((np.arange(len(names)), -np.abs(change)))
    order = order[change[order] != 0]
    return Pull(
        pack(sums[0]),
        pack(sums[1]),
        [
            Bit(bit, float(sums[0][bit]), float(sums[1][bit]), [names[at] for at in order[pulls[order, column]][:strongest]])
            for column, bit in enumerate(flipped.tolist())
        ],
        [Feature(names[at], float(weights[0][at]), float(weights[1][at]), int(pulls[at].sum())) for at in order],
    )


def _pulls(rows: NDArray[np.uint8], change: NDArray[np.float64], moved: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether the change of each feature's weight moves each sum in the direction in which it moved as a whole."""
    up = np.unpackbits(rows, axis=1).astype(np.bool_) == (change > 0)[:, None]
    pulls: NDArray[np.bool_] = (up == (moved > 0)) & (change != 0)[:, None]
    return pulls


# ---- texts


class Change(NamedTuple):
    """Blocks of two texts that stand opposite each other."""

    operation: Operation
    a: list[str]
    b: list[str]


def changes(a: Sequence[str], b: Sequence[str]) -> list[Change]:
    """Return two texts, given by their blocks, as what is equal and what is not, in their order. Of each the first `MOST_BLOCKS` count."""
    a, b = list(a[:MOST_BLOCKS]), list(b[:MOST_BLOCKS])
    return [Change(what, a[i:j], b[k:m]) for what, i, j, k, m in SequenceMatcher(None, a, b).get_opcodes()]


def count_changed(found: Sequence[Change]) -> int:
    """Return how many lines of the side-by-side view have blocks that differ, without a look at their words."""
    return sum(a != b for change in found if change.operation != "equal" for a, b in zip_longest(change.a, change.b))


class Row(NamedTuple):
    """A line of the side-by-side view: the pieces of a block of each text, each piece with whether it is changed. None: no block.

    `skipped`: a line that stands for so many equal blocks.
    """

    a: list[tuple[str, bool]] | None
    b: list[tuple[str, bool]] | None
    skipped: int = 0

    @property
    def is_changed(self) -> bool:
        """Whether the blocks differ."""
        return not self.skipped and self.a != self.b


def side_by_side(found: Sequence[Change], *, context: int = 1) -> Iterator[Row]:
    """Yield the lines of the side-by-side view, with so many equal blocks around each difference."""
    for number, change in enumerate(found):
        if change.operation != "equal":
            yield from (_row(a, b) for a, b in zip_longest(change.a, change.b))
            continue
        before = context if number else 0
        after = context if number + 1 < len(found) else 0
        if len(change.a) <= before + after + 1:
            yield from (_equal(block) for block in change.a)
        else:
            yield from (_equal(block) for block in change.a[:before])
            yield Row(None, None, len(change.a) - before - after)
            yield from (_equal(block) for block in change.a[len(change.a) - after :])


def _equal(block: str) -> Row:
    return Row([(block, False)], [(block, False)])


def _row(a: str | None, b: str | None) -> Row:
    if a is None or b is None:
        return Row(None if a is None else [(a, True)], None if b is None else [(b, True)])
    tokens_a, tokens_b = _TOKEN.findall(a), _TOKEN.findall(b)
    matches = _matches(tokens_a, tokens_b)
    return Row(
        _pieces(tokens_a, [(at, at + size) for at, _, size in matches]),
        _pieces(tokens_b, [(at, at + size) for _, at, size in matches]),
    )


def _matches(a: list[str], b: list[str]) -> list[tuple[int, int, int]]:
    """Return where two lists of tokens are equal, as (place in a, place in b, how many)."""
    least = min(len(a), len(b))
    before = next((at for at in range(least) if a[at] != b[at]), least)
    after = next((at for at in range(least - before) if a[-1 - at] != b[-1 - at]), least - before)
    middle_a, middle_b = a[before : len(a) - after], b[before : len(b) - after]
    found = [(0, 0, before)]
    if max(len(middle_a), len(middle_b)) <= _MOST_TOKENS:
        matcher = SequenceMatcher(None, middle_a, middle_b, autojunk=False)
        found += [(before + match.a, before + match.b, match.size) for match in matcher.get_matching_blocks()]
    return [*found, (len(a) - after, len(b) - after, after)]


def _pieces(tokens: list[str], equal: list[tuple[int, int]]) -> list[tuple[str, bool]]:
    changed = [True] * len(tokens)
    for start, stop in equal:
        changed[start:stop] = [False] * (stop - start)
    # Two changed words in a row are one change, with the space between them.
    for at in range(1, len(tokens) - 1):
        changed[at] |= changed[at - 1] and changed[at + 1] and tokens[at].isspace()
    return [
        ("".join(token for token, _ in group), is_changed)
        for is_changed, group in groupby(zip(tokens, changed, strict=True), key=itemgetter(1))
    ]
