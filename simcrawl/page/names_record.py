"""What is kept of a page's names: two bytes for each of them, and for each kind together. `names` writes it, `names_compared` reads it."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

# Of two bytes a word, or a picture.
MOST_WORDS = MOST_PICTURES = 16
SPEAKS = 1
# Between the words of the inner and the outer heading, pictures, what stands for all of these, short lines, second digests, those that are
# mixed, paragraphs, and what lasts.
END, PARTS = 0, 8
LATIN, MIXED = 1, 0
OF_NOTHING, LEFT_ALONE, IN_TITLE, HEADED = 1, 2, 3, 4
# The same two of a heading with a number: it is a name by its other words, for three pages alone.
COUNTED_IN_TITLE, COUNTED_HEADED = 5, 6
# As `units_of_a_word` is written.
SIXTEENTHS = 16
# For power sums: the largest prime that leaves room for one more in two bytes.
PRIME, POWERS = 65_521, (1, 2, 3)
WORD, BITS_BELOW, SECOND_BITS_BELOW = 0xFFFF ^ SPEAKS, 48, 32


class Second(NamedTuple):
    """Two more bytes for each of what `names.of` wrote; 0: there is nothing of the kind, or an older version wrote it."""

    title: int = 0
    facts: int = 0
    own: int = 0
    outer: int = 0
    paragraphs: int = 0
    first: int = 0
    pictures: int = 0
    values: int = 0
    standing: int = 0
    language: int = OF_NOTHING
    end: int = OF_NOTHING
    units_of_a_word: int = OF_NOTHING
    headings: int = OF_NOTHING
    template: int = OF_NOTHING
    subheadings: int = OF_NOTHING
    beside: int = OF_NOTHING
    known_as: int = OF_NOTHING
    uncounted: int = OF_NOTHING
    """The words of a heading with a number that are no numbers: see `uncounted`."""
    uncounted_title: int = OF_NOTHING
    """The same of the title, with a number or without."""


class Mixed(NamedTuple):
    """Two bytes each, see `names._mixed`; 1: there is nothing of the kind, or an older version wrote it."""

    lines: int = OF_NOTHING
    rows: int = OF_NOTHING
    rows_beside: int = OF_NOTHING


class Heading(NamedTuple):
    """Words of headings."""

    words: list[int]
    """With the mark of those that the page speaks of."""
    set: frozenset[int]
    """As if it spoke of all of them."""
    second: int
    """Their second digest."""


class Read(NamedTuple):
    """What `names.of` wrote."""

    title: int
    facts: int
    below: int
    own: Heading
    outer: Heading
    pictures: list[int]
    all: list[int]
    values: tuple[int, list[int]]
    """How many short lines there are, and a sample of them, in ascending order."""
    sampled: frozenset[int]
    """That sample."""
    second: Second
    mixed: Mixed
    paragraphs: list[int]
    """How many there are, and their power sums; empty for fewer than two."""
    lasting: list[int]
    """What stands for the text without the lines that are other ones at each visit; empty where there are no such lines."""


# A page is compared with hundreds, in half a dozen ways each: of a site of one template with any of it.
@lru_cache(maxsize=2048)
def read(names: bytes) -> Read:
    """Return what the bytes of a page's names say; cheap, as the latest ones are remembered."""
    title, facts, below, *rest = np.frombuffer(names, ">u2").tolist()
    # Older versions wrote no pictures, no lines, no second digests, no paragraphs, or nothing of what lasts.
    ends = [place for place, value in enumerate(rest) if value == END][:PARTS]
    own, outer, shown, together, lines, second, mixed, paragraphs, lasting = (
        rest[start + 1 : end] for start, end in pairwise([-1, *ends, *[len(rest)] * (PARTS + 1 - len(ends))])
    )
    digests = Second(*second[: len(Second._fields)])
    headings = (_heading(own, digests.own), _heading(outer, digests.outer))
    values = (lines[0], lines[1:]) if lines else (0, [])
    # What is compared with hundreds is made once: sets, and numbers.
    sampled, sums = frozenset(values[1]), [*paragraphs[:1], *(total - 1 for total in paragraphs[1:])]
    return Read(title, facts, below, *headings, shown, together, values, sampled, digests, Mixed(*mixed), sums, lasting)


def _heading(words: list[int], second: int) -> Heading:
    return Heading(words, frozenset(word | SPEAKS for word in words), second)


def same(a: int, b: int) -> bool:
    """Return whether two second digests are of the same texts, and of any."""
    return a == b > OF_NOTHING


def differ(a: int, b: int) -> bool:
    """Return whether two second digests are known, and of different texts."""
    return a != b and a != 0 != b


def are_others(a: int, b: int) -> bool:
    """Return whether two second digests are of any texts, and of different ones. Older versions may not have written them."""
    return min(a, b) > OF_NOTHING and a != b


def has_other(a: int, b: int) -> bool:
    """Return whether the first of two second digests is of any texts, and the second one known, and of others."""
    return a > OF_NOTHING and differ(a, b)
