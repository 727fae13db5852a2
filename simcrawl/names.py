"""What a page is called: the words of its first heading and of its title, in a few bytes, and whether two pages are called differently.

A word counts where it comes back in the page's own prose: a site's name, a version or a machine often stands in title and heading
alone.
Numbers in front ("4.2", "Chapter 3") number a page and do not name it.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.features import Cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of two bytes a word.
_MOST_WORDS = 16
_LONGEST = 400
_FIRST = "x"
# (Han: ordinal, and what chapters and sections are called.)
_NUMBERING = re.compile(
    r"^\W*(?:(?:chapter|section|part|appendix|kapitel|chapitre|cap\w*tulo|annex)\s+)?(?:\d+(?:[.-]\d+)*|[A-Z](?:\.\d+)+|[IVXLC]+(?=[.:)])|[A-Z](?=[.:)]))"
    r"(?:[.:)]|\s)\s*(?=\S)|^\s*\u7b2c?\s*[\d\u4e00-\u5341.]+\s*[\u7ae0\u8282\u7bc0\u90e8\u7bc7]\s*",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![\w.])v?\d[\d.]*+(?!\w)")
_SPEAKS = 1
# Between the words of the inner and the outer heading.
_END = 0
_LATIN, _MIXED = 1, 0
_TELLS = np.uint64(_SPEAKS)


def of(headings: tuple[str, str], facts: str, title: str, prose: Cut) -> bytes:
    """Return what a page is called, in two bytes each: its title, the facts under its heading, the text below, the words of its headings.

    `headings`: that of the prose, and one that stands outside.

    The lowest bit says that the page speaks of it.
    """
    # One cut for all; a word in front of each, for a line without one is none.
    inner, outer, full = (_NUMBERING.sub("", text[:_LONGEST]) for text in (*headings, title))
    texts = [inner, outer, facts[:_LONGEST], _VERSION.sub(" ", full)]
    cut = Cut("\n".join(f"{_FIRST} {' '.join(text.split())}" for text in texts), seed=prose.seed)
    ends = cut.lengths().cumsum()
    lines = [cut.hashes[start + 1 : end] for start, end in pairwise([0, *ends])]
    own, above, below, called = (line[:_MOST_WORDS] for line in lines)
    whole = (_all(_words(called, prose)), _all(below), _below(texts[0], lines[0], prose))
    words = _words(own, prose, own=True), np.array([_END], np.uint64), _words(np.setdiff1d(above, own), prose)
    return np.concatenate((np.array(whole, np.uint64), *words)).astype(">u2").tobytes()


def _all(words: NDArray[np.uint64]) -> int:
    """Return two bytes for all words together; the lowest bit: whether the page speaks of one of them."""
    return int(np.bitwise_xor.reduce(words & ~_TELLS, initial=0) | np.bitwise_or.reduce(words & _TELLS, initial=0))


def _words(hashes: NDArray[np.uint64], prose: Cut, *, own: bool = False) -> NDArray[np.uint64]:
    """Return two bytes for each distinct word of a text; `own`: the text is of the prose."""
    if not len(hashes):
        return hashes
    words, counts = np.unique(hashes, return_counts=True)
    speaks = (prose.hashes == words[:, None]).sum(axis=1) > own * counts
    values = (words >> np.uint64(48)) & ~_TELLS
    values[values == _END] = ~_TELLS & np.uint64(0xFFFF)
    spoken: NDArray[np.uint64] = values | speaks.astype(np.uint64)
    return spoken


def _below(heading: str, words: NDArray[np.uint64], prose: Cut) -> int:
    """Return two bytes for all words of the prose but the heading's.

    The lowest bit: whether the heading is in Latin letters. 0: it is in several scripts, or in none.
    """
    latin = {letter.isascii() for letter in heading if letter.isalpha()}
    if len(latin) != 1:
        return _MIXED
    rest = ((int(prose.hashes.sum()) - int(words.sum())) >> 48) & 0xFFFF
    return (rest & ~_LATIN) | (_LATIN if latin == {True} else 0)


def _is_translated(a: int, b: int) -> bool:
    """Return whether the same text stands below headings in two scripts."""
    return a != _MIXED != b and a ^ b == _LATIN


class Naming(Enum):
    """What two pages are called, compared."""

    SAME = "same"
    """Or it does not matter."""
    LONGER = "longer"
    """The one as the other, with words more: the contents of a book, and of its reference."""
    OTHER = "other"


def compare(a: bytes, b: bytes) -> Naming:
    """Return whether two pages are called differently, and it matters.

    It does where one of them speaks of what its heading is called, or says other things under it. Pages of one title are called the same,
    where the title is not only the site's, and so are those of one text below headings in two scripts: one of them is a translation.
    """
    if not a or not b:
        return Naming.SAME
    (title_a, facts_a, below_a, *words_a), (title_b, facts_b, below_b, *words_b) = _read(a), _read(b)
    own_a, own_b = words_a[: words_a.index(_END)], words_b[: words_b.index(_END)]
    if (title_a == title_b and title_a & _SPEAKS) or not own_a or not own_b or _is_translated(below_a, below_b):
        return Naming.SAME
    only = _only(own_a, own_b)
    if only and facts_a and facts_b and (facts_a ^ facts_b) & ~_SPEAKS:
        return Naming.OTHER
    if not any(word & _SPEAKS for word in only):
        return Naming.LONGER if only and (facts_a ^ facts_b) & ~_SPEAKS else Naming.SAME
    return Naming.LONGER if len({*only} & {*own_a}) in (0, len(only)) else Naming.OTHER


def differ_outside(a: bytes, b: bytes) -> bool:
    """Return whether the headings that stand outside the contents of two pages name them differently."""
    if not a or not b:
        return False
    (title_a, _, _, *words_a), (title_b, _, _, *words_b) = _read(a), _read(b)
    if title_a == title_b and title_a & _SPEAKS:
        return False
    outer_a, outer_b = words_a[words_a.index(_END) + 1 :], words_b[words_b.index(_END) + 1 :]
    only = _only(outer_a, outer_b)
    exchanged = 0 < len({*only} & {*outer_a}) < len(only)
    return bool(outer_a and outer_b) and (exchanged or any(word & _SPEAKS for word in only))


def _read(names: bytes) -> list[int]:
    words: list[int] = np.frombuffer(names, ">u2").tolist()
    return words


def _only(a: list[int], b: list[int]) -> list[int]:
    """Return the words that only one of two pages has."""
    left, right = ({word | _SPEAKS for word in words} for words in (a, b))
    return [word for word in a + b if word | _SPEAKS not in left & right]
