"""What a character is to a text: a part of a word, a word by itself, a mark of the letter before it, or what stands between words.

Scripts that put spaces between words have words of letters and digits. Of the others each character is a unit by itself, and so are signs
that a text may consist of. All of it is Unicode's, as this Python knows it: tables are made of it when they are first used.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.page.characters import code_points
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from numpy.typing import NDArray

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3040-\u30ff\u31f0-\u31ff"
# Hangul, Thai, Lao, Tibetan, Myanmar and Khmer: written without spaces, or with spaces between phrases only, or (Korean) with
# particles glued to the words.
_OTHER_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\uac00-\ud7af"
# Arrows, mathematics, boxes, chess pieces, dingbats, braille, hexagrams, notes, tiles, cards and emoji: a text may consist of them.
_SYMBOLS = "\u2190-\u2bff\u4dc0-\u4dff\U0001d100-\U0001d1ff\U0001f000-\U0001faff"
UNSPACED = HAN + KANA + _OTHER_UNSPACED + _SYMBOLS
HAS_KANA = late(f"[{KANA}]")
HAS_HAN = late(f"[{HAN}]")
# Where marks of words and unknown characters may stand, and where none: what encloses signs, as in a keycap, postal marks and the like of
# pages in Japanese and Korean, noncharacters, selectors of variants, which follow emoji and ideographs.
_LOOKED_THROUGH = ((0x0300, 0x3400), (0xA000, 0xAC00), (0xD7B0, 0xD800), (0xFB00, 0xFFF0), (0x10000, 0x1FFFE))
_LEFT_OUT = ((0x20D0, 0x2100), (0x3000, 0x3040), (0x3200, 0x3400), (0xFDD0, 0xFDF0), (0xFE00, 0xFE10))
_IS_MARK, _IS_UNKNOWN = 1, 2
_KINDS_OF_CATEGORIES = {"Mn": _IS_MARK, "Mc": _IS_MARK, "Me": _IS_MARK, "So": _IS_UNKNOWN, "Cn": _IS_UNKNOWN}
# Below stand the signs that pages have around their contents.
_FIRST_UNKNOWN = 0x2C00
_PRIVATE = (0xE000, 0xF8FF)
# No letters are known there; between the two stand tags, and more selectors. The table ends where these do.
_BEYOND, _TABLED = ((0x40000, 0xDFFFF), (0xE1000, 0x10FFFF)), 0xE1000
# Beyond stand no letters.
_LETTERED = 0x40000
# A character separates units, ends a line, is part of a unit, or is a unit by itself. Their order counts: letters are above BREAK,
# units by themselves above PART.
SEPARATOR, BREAK, PART, SINGLE, SINGLE_KANA, SINGLE_HAN = range(6)
_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@cache
def _categories() -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the first and the last of each range of marks that belong to a word, and of what is no letter and yet content.

    Marks: vowels, tones and points. Without them Ram and Rima are one in Hindi. Content: symbols, private use, and what this Python does
    not know.
    """
    codes = np.concatenate([np.arange(*bounds) for bounds in _LOOKED_THROUGH])
    # By numbers: one by one it would take a fifth of a worker's start.
    found = np.fromiter(map(_KINDS_OF_CATEGORIES.get, map(unicodedata.category, map(chr, codes.tolist())), repeat(0)), np.uint8, len(codes))
    for first, end in _LEFT_OUT:
        found[(codes >= first) & (codes < end)] = 0
    found[(found == _IS_UNKNOWN) & (codes < _FIRST_UNKNOWN)] = 0
    return _ranges(codes[found == _IS_MARK]), [*_ranges(codes[found == _IS_UNKNOWN]), _PRIVATE, *_BEYOND]


def _ranges(codes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of ascending numbers."""
    breaks = np.flatnonzero(np.diff(codes) != 1)
    return list(zip(codes[[0, *(breaks + 1)]].tolist(), codes[[*breaks, -1]].tolist(), strict=True))


def _class_of(ranges: list[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def marks() -> str:
    """Return the marks that belong to the letter before them, for a character class."""
    return _class_of(_categories()[0])


def singles() -> str:
    """Return the characters that are units by themselves, for a character class."""
    return UNSPACED + _class_of(_categories()[1])


def spaced_run() -> str:
    """Return a pattern of letters and digits of spaced scripts, with their marks."""
    return rf"(?>(?:(?![{UNSPACED}])\w(?>(?:(?![{UNSPACED}])[{marks()}])*))+)"


def kinds_of(characters: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return for each character which of the six kinds above it is, from `SEPARATOR` to `SINGLE_HAN`."""
    return _character_kinds().take(characters, mode="clip")


@cache
def marks_table() -> NDArray[np.bool_]:
    """Return for each character whether it is a mark that belongs to the letter before it; the last one is for all beyond."""
    ranges = _categories()[0]
    table = np.zeros(ranges[-1][1] + 2, np.bool_)
    for first, last in ranges:
        table[first : last + 1] = True
    table &= _character_kinds()[: len(table)] == PART
    return table


@cache
def _character_kinds() -> NDArray[np.uint8]:
    """Return the kind of each character below `_TABLED`; last, that of all others.

    A mark is part of a unit here, whatever it follows: see `_leave_out_stray` in `simcrawl.page.cut`.
    """
    kinds = np.full(_TABLED + 1, SEPARATOR, np.uint8)
    for ranges, kind in zip(_categories(), (PART, SINGLE), strict=True):
        for first, last in ranges:
            kinds[first : last + 1] = kind
    patterns = {PART: r"\w", SINGLE: f"[{UNSPACED}]", SINGLE_KANA: f"[{KANA}]", SINGLE_HAN: f"[{HAN}]", BREAK: f"[{_BREAKS}]"}
    characters = "".join(map(chr, range(_LETTERED)))
    for kind, pattern in patterns.items():
        # In runs: there are a thousandth of them.
        kinds[code_points("".join(re.findall(f"(?:{pattern})+", characters)))] = kind
    return kinds
