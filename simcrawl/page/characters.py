"""The characters of a text, in one form whichever way they were written, in time that grows with their number alone.

Unicode has several ways of writing one letter: e with an accent is one character or two, and a full-width A is an A. Which form a text has
says nothing of it, see https://www.unicode.org/reports/tr15/.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIMPLE = 0x10000
_SIMPLE_RANGES = (
    range(0x01, 0x180),
    range(0x2010, 0x2060),
    range(0x2190, 0x2C00),
    range(0x3000, 0x3100),
    range(0x4E00, 0xA000),
    range(0xFF01, 0xFF61),
)
# Hyphens and breaks that are not there but at the end of a line, joiners, marks of direction and of byte order.
_INVISIBLE = "\xad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_NOTHING_OF_THEM = dict.fromkeys(map(ord, _INVISIBLE))
# Characters: of a shorter text NFKC takes less time.
_WORTH_A_TABLE = 100
# Marks in a row, as in the Stream-Safe Text Format (section 13 of the report above), and what parts longer runs, unseen.
_MOST_MARKS, _JOINER = 30, 0x34F
# There are no marks outside.
_MARKED = range(0x300, 0x20000)


def normalize(text: str) -> str:
    """Return the text as features see it: without what nobody sees, compatibility forms unified (NFKC), lower case."""
    if text.isascii():
        return text.lower()
    if len(text) >= _WORTH_A_TABLE:
        characters = code_points(text)
        if characters.max() < SIMPLE:
            normal = simple_characters().take(characters)
            if normal.all():
                return normal.tobytes().decode("utf-32-le")
    return unified(visible(text))


def unified(text: str) -> str:
    """Return a text in lower case with compatibility forms unified (NFKC), what nobody sees included."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _stream_safe(text)).lower()


def composed(text: str) -> str:
    """Return a text with its accents on their letters (NFC), and without what nobody sees."""
    return text if text.isascii() else unicodedata.normalize("NFC", _stream_safe(visible(text)))


def visible(text: str) -> str:
    """Return a text without the characters that nobody sees: in a copy they may stand elsewhere, or not at all."""
    # Each is looked for at the speed of memory; most texts have none.
    return text.translate(_NOTHING_OF_THEM) if any(sign in text for sign in _INVISIBLE) else text


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the numbers of a text's characters."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _stream_safe(text: str) -> str:
    """Return a text with no more than 30 marks in a row, for to put n of them in order takes n squared steps: of 80,000, 20 seconds.

    Where there are more, a character that nobody sees stands after each thirty.
    """
    if len(text) <= _MOST_MARKS or _marks().isdisjoint(text[::_MOST_MARKS]):
        return text
    characters = code_points(text)
    places = np.arange(len(characters))
    starts = np.where(_is_mark().take(characters, mode="clip"), -1, places)
    in_a_row = places - np.maximum.accumulate(starts)
    ends = np.flatnonzero((in_a_row > 0) & (in_a_row % _MOST_MARKS == 0)) + 1
    return np.insert(characters, ends, _JOINER).tobytes().decode("utf-32-le", "surrogatepass") if len(ends) else text


@cache
def _marks() -> frozenset[str]:
    """Return the characters whose order beside each other is not theirs to choose: those of a combining class."""
    return frozenset(filter(unicodedata.combining, map(chr, _MARKED)))


@cache
def _is_mark() -> NDArray[np.bool_]:
    marks = np.fromiter(map(ord, _marks()), np.int64)
    # One more: what lies beyond is looked up there.
    is_mark = np.zeros(marks.max() + 2, np.bool_)
    is_mark[marks] = True
    return is_mark


@cache
def simple_characters() -> NDArray[np.uint32]:
    """Return what each character becomes by `normalize` whatever stands beside it, 0 where its neighbours may matter.

    NFKC is slow where the text has one full-width comma. Latin, kana, ideographs and their punctuation neither combine with what stands
    before them nor change with it.
    """
    normal = np.zeros(SIMPLE, np.uint32)
    codes = list(chain(*_SIMPLE_RANGES))
    # Apart: they must not combine with each other.
    became = unicodedata.normalize("NFKC", "\0".join(map(chr, codes))).lower().split("\0")
    single = [(code, after) for code, after in zip(codes, became, strict=True) if len(after) == 1 and not unicodedata.combining(after)]
    normal[[code for code, _ in single]] = [ord(after) for _, after in single]
    normal[[ord(sign) for sign in _INVISIBLE]] = 0
    return normal
