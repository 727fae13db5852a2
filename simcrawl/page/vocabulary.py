"""What words say, in many languages: months and days, and the words of lines that speak of the page itself. The words are in a file.

    [renewed]
    en  updated, modified, changed
    zh  更新, 修改

A word counts as a whole. A stem would count in other words as well, "print" in "printmaking", and hide what a page is about.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from simcrawl.page.alphabets import marks
from simcrawl.page.patterns import late

PATH = Path(__file__).with_suffix(".txt")
_UNSPACED = late("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


@cache
def words(kind: str) -> tuple[str, ...]:
    """Return the words of a kind in all languages, in lower case.

    Raises:
        KeyError: there is no such kind.
    """
    return _kinds()[kind]


def pattern(*kinds: str, before: str = "") -> str:
    """Return a pattern, to be used without regard to case, of whole words; Chinese, Japanese, Korean and Thai ones are found within others.

    `before`: a pattern of what has to follow on whole words.
    """
    found = {word for kind in kinds for word in words(kind)}
    unspaced = {word for word in found if _UNSPACED.search(word)}
    # A word goes on with what is no letter by itself: a vowel's sign, an accent.
    whole = rf"(?<!\w){_any_of(found - unspaced)}(?![\w{marks()}]){before}"
    return "|".join(([whole] if found - unspaced else []) + ([_any_of(unspaced)] if unspaced else []))


def alternatives(*kinds: str) -> str:
    """Return a pattern of the words alone. What it is a part of has to say what may stand beside them: a number may touch them, say."""
    return _any_of({word for kind in kinds for word in words(kind)})


def _any_of(found: set[str]) -> str:
    """Return a pattern of one of these words. `re` tries one after the other, so those of a letter stand together: it tries a tenth."""
    branches = list[str]()
    for letter, same in groupby(sorted(found, key=lambda word: (word[0], -len(word), word)), key=itemgetter(0)):
        ends = "|".join(re.escape(word[1:]).replace(r"\ ", r"\s+") for word in same)
        branches.append(f"{re.escape(letter)}(?:{ends})")
    return f"(?:{'|'.join(branches)})"


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    kinds, kind = dict[str, list[str]](), ""
    for line in PATH.read_text("utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
            kinds[kind] = []
        elif line and not line.startswith("#"):
            kinds[kind] += [word.strip() for word in line.partition(" ")[2].split(",")]
    return {kind: tuple(found) for kind, found in kinds.items()}
