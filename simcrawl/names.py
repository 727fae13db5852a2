"""What a page is called: the words of its first heading and of its title, in a few bytes, and whether two pages are called differently.

A word counts where it comes back in the page's own prose: a site's name, a version or a machine often stands in the title and heading alone.
Numbers in front ("4.2", "Chapter 3") number a page and do not name it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.features import units
from simcrawl.hashing import hash_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simcrawl.features import Cut

# Of two bytes a word.
_MOST_WORDS = 16
_LONGEST = 400
# (Han: ordinal, and what chapters and sections are called.)
_NUMBERING = re.compile(
    r"^\W*(?:(?:chapter|section|part|appendix|kapitel|chapitre|cap\w*tulo|annex)\s+)?(?:\d+(?:[.-]\d+)*|[A-Z](?:\.\d+)+|[IVXLC]+(?=[.:)])|[A-Z](?=[.:)]))"
    r"(?:[.:)]|\s)\s*(?=\S)|^\s*\u7b2c?\s*[\d\u4e00-\u5341.]+\s*[\u7ae0\u8282\u7bc0\u90e8\u7bc7]\s*",
    re.IGNORECASE,
)
_TELLS = np.uint64(1)


def of(heading: str, title: str, prose: Cut) -> bytes:
    """Return what a page is called: two bytes for its title, then two for each word of the heading.

    The lowest bit says that the page speaks of it.
    """
    called = _words(_NUMBERING.sub("", title[:_LONGEST]), prose, own=False)
    words = _words(_NUMBERING.sub("", heading[:_LONGEST]), prose, own=True)
    whole = np.bitwise_xor.reduce(called & ~_TELLS, initial=0) | np.bitwise_or.reduce(called & _TELLS, initial=0)
    return np.concatenate(([whole], words)).astype(">u2").tobytes()


def _words(text: str, prose: Cut, *, own: bool) -> NDArray[np.uint64]:
    """Return the distinct words of a text; `own`: the text is of the prose."""
    found = units(text)
    words = list(dict.fromkeys(found))[:_MOST_WORDS]
    hashes = hash_units(words, seed=prose.seed)
    speaks = (prose.hashes == hashes[:, None]).sum(axis=1) > [own * found.count(word) for word in words]
    return (hashes >> np.uint64(48)) & ~_TELLS | speaks.astype(np.uint64)


def differ(a: bytes, b: bytes) -> bool:
    """Return whether one of two pages is called by a word, and speaks of it, that the other one is not called by."""
    if not a or not b:
        return False
    left, right = (np.frombuffer(words, ">u2") for words in (a, b))
    if left[0] == right[0] and left[0] & 1:
        return False
    return _has_own(left[1:], right[1:]) or _has_own(right[1:], left[1:])


def _has_own(words: NDArray[np.uint16], others: NDArray[np.uint16]) -> bool:
    return bool(np.any((words & 1 == 1) & ~np.isin(words | 1, others | 1)))
