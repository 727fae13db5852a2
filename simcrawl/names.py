"""What a page is called: the words of its first heading and of its title, in a few bytes, and whether two pages are called differently.

A word counts where it comes back in the page's own prose: a site's name, a version or a machine often stands in title and heading
alone.
Numbers in front ("4.2", "Chapter 3") number a page and do not name it.
"""

from __future__ import annotations

import re
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
_SPEAKS = 1
_TELLS = np.uint64(_SPEAKS)


def of(heading: str, facts: str, title: str, prose: Cut) -> bytes:
    """Return what a page is called: two bytes for its title, two for the facts under its heading, then two for each word of the heading.

    The lowest bit says that the page speaks of it.
    """
    # One cut for all three; a word in front of each, for a line without one is none.
    texts = [_NUMBERING.sub("", heading[:_LONGEST]), facts[:_LONGEST], _NUMBERING.sub("", title[:_LONGEST])]
    cut = Cut("\n".join(f"{_FIRST} {' '.join(text.split())}" for text in texts), seed=prose.seed)
    ends = cut.lengths().cumsum()
    own, below, called = (cut.hashes[start + 1 : end][:_MOST_WORDS] for start, end in pairwise([0, *ends]))
    whole = (_all(_words(called, prose, own=False)), _all(_words(below, prose, own=True)))
    return np.concatenate((np.array(whole, np.uint64), _words(own, prose, own=True))).astype(">u2").tobytes()


def _all(words: NDArray[np.uint64]) -> int:
    """Return two bytes for all words together; the lowest bit: whether the page speaks of one of them."""
    return int(np.bitwise_xor.reduce(words & ~_TELLS, initial=0) | np.bitwise_or.reduce(words & _TELLS, initial=0))


def _words(hashes: NDArray[np.uint64], prose: Cut, *, own: bool) -> NDArray[np.uint64]:
    """Return two bytes for each distinct word of a text; `own`: the text is of the prose."""
    if not len(hashes):
        return hashes
    words, counts = np.unique(hashes, return_counts=True)
    speaks = (prose.hashes == words[:, None]).sum(axis=1) > own * counts
    values: NDArray[np.uint64] = (words >> np.uint64(48)) & ~_TELLS | speaks.astype(np.uint64)
    return values


def differ(a: bytes, b: bytes) -> bool:
    """Return whether two pages are called differently, and it matters.

    It does where one of them speaks of what it is called, or says other things under its heading. Pages of one title are called the same,
    where the title is not only the site's.
    """
    if not a or not b:
        return False
    (title_a, facts_a, *own_a), (title_b, facts_b, *own_b) = (np.frombuffer(words, ">u2").tolist() for words in (a, b))
    if (title_a == title_b and title_a & _SPEAKS) or not own_a or not own_b:
        return False
    only = [
        word for words, others in ((own_a, own_b), (own_b, own_a)) for word in words if word | _SPEAKS not in {o | _SPEAKS for o in others}
    ]
    return any(word & _SPEAKS for word in only) or bool(only and (facts_a ^ facts_b) & ~_SPEAKS)
