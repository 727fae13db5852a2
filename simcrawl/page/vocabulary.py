"""What words say, in many languages: months and days, and the words of lines that speak of the page itself. The words are in a file.

    [renewed]
    en  updated, modified, changed
    zh  更新, 修改

A word counts as a whole. A stem would count in other words as well, "print" in "printmaking", and hide what a page is about.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from simcrawl.page.features import marks
from simcrawl.page.patterns import late

PATH = Path(__file__).with_suffix(".txt")
_UNSPACED = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


@cache
def words(kind: str) -> tuple[str, ...]:
    """Return the words of a kind in all languages, in lower case.

    Raises:
        KeyError: there is no such kind.
    """
    return _kinds()[kind]


def pattern(*kinds: str) -> str:
    """Return a pattern, to be used without regard to case, of whole words; Chinese, Japanese and Korean ones are found within others."""
    found = sorted({word for kind in kinds for word in words(kind)}, key=lambda word: (-len(word), word))
    spaced, unspaced = ([re.escape(word) for word in found if bool(_UNSPACED.search(word)) == is_one] for is_one in (False, True))
    # A word goes on with what is no letter by itself: a vowel's sign, an accent.
    return "|".join([rf"(?<!\w)(?:{'|'.join(spaced)})(?![\w{marks()}])", *unspaced])


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
