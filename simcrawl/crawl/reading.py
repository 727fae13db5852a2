"""How what stands on a page, and what an item holds, are read, so that the one can be looked for in the other: words, numbers, dates."""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from html import unescape
from itertools import islice
from string import punctuation
from typing import TYPE_CHECKING
from urllib.parse import unquote

from simcrawl.page.characters import unified
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_NUMBER = 30
# Of what stands in mark-up alone, in characters: what is longer is a page's text, or data of a program.
LONGEST_HIDDEN = 300
_FEW_WORDS = 6
WORD = late(r"[^\W_]+")
# Digests, UUIDs, base64: they have digits, and where they have none, capitals within.
TOKEN = late(r"(?=.*(?:\d|[a-z][A-Z]))[\w+/=.:~-]{16,}", re.ASCII)
# Bounded: a text may be one long word.
URL_IN_TEXT = late(r"\w{1,20}://\S+")
# What mark-up has in attributes of its own, and is another one where the page has another address; and mark-up itself.
OF_MARKUP = late(r"\S*[/?=&#\\]\S*|\S+\.[a-z][a-z\d]{1,4}|[^<>{}]*+[<>{}].*", re.DOTALL)
_SPACES = str.maketrans(dict.fromkeys(punctuation, " "))
# Thai, Lao, Burmese, Khmer, Chinese and Japanese put no spaces between words.
_UNSPACED = late("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# What is in a text of a script within another one has more backslashes: each run of them is one.
_ESCAPED = late(r"""\\(?<!\\\\)\\*+(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|[nrt]|(?=["'/]))""")
_SURROGATE = late("[\ud800-\udfff]")
_LAST_DIGITS = late(r"(.*)(\D)(\d+)", re.DOTALL)
_NUMBER = late(r"\d+(?:[.,'’ \u00a0\u202f]\d+)+|\d+")
# A number, and what stands on either side.
_BESIDE = late(r"\d+(?:[.,:/]\d+)*")
_REACH, _MOST_BESIDE = 24, 64
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DAYS = "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs?|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_DATE = late(
    rf"(?<![\d.])(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}})(?![.]?\d)"
    rf"|\d{{1,2}}:\d{{2}}|\d{{8}}t\d{{4}}|\d\W*(?:st|nd|rd|th)?\W*\b(?:{_MONTHS})\b|\b(?:{_MONTHS})\W*\d"
)
_DATE_WORD = late(rf"(?:{_MONTHS}|{_DAYS}|t|z|gmt|utc|[ecmp][ds]t|cest|bst|am|pm|st|nd|rd|th|of|at|\d+)")
_DATE_PART = late(r"[^\W\d_]+|\d+")


def words_in(text: str) -> set[str]:
    """Return what WORD finds: for most pages in a third of the time."""
    if not text.isascii():
        return set(WORD.findall(text))
    parts = set(text.translate(_SPACES).split())
    for part in [part for part in parts if not part.isalnum()]:
        parts.remove(part)
        parts.update(WORD.findall(part))
    return parts


def missing_of(words: set[str], of_page: set[str], text: str) -> set[str]:
    """Return the words that a page has not. `of_page`: its words; `text`: its text, where no spaces part them."""
    return {word for word in words - of_page if not (_UNSPACED.search(word) and word in text)}


def are_few(missing: set[str], words: set[str]) -> bool:
    """Return whether at most half of some words is missing, and of few words none that is made of letters."""
    return 2 * len(missing) <= len(words) and (len(words) > _FEW_WORDS or not any(map(str.isalpha, missing)))


def readable(text: str) -> str:
    """Return a text in lower case, with one space for many, as whoever reads it decodes it.

    That is the one place where entities, percent signs and the escapes of scripts are decoded, also where one is within another: JSON in
    an address, or HTML in JSON. What is looked for is to be made so, too.
    """
    text = unescape(text)
    if "%" in text:
        text = unquote(text)
    if "\\" in text:
        text = _ESCAPED.sub(_unescaped, text)
        # Scripts write characters beyond the first 65,536 as two.
        if _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return unified(" ".join(unescape(text).split()))


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= sys.maxunicode else ""
    # A backslash before a sign of its own says nothing; others stand for a line's end or a tab.
    return " " if found[0][-1] != "\\" else ""


def is_unspaced(text: str) -> bool:
    """Return whether a text has letters of a script that puts no spaces between words."""
    return bool(_UNSPACED.search(text))


def is_of_word(sign: str) -> bool:
    """Return whether a word of ASCII goes on with a sign."""
    return sign.isascii() and sign.isalnum()


def is_date(text: str) -> bool:
    """Return whether a text says when, and no more."""
    if len(text) > 64:
        return False
    plain = text.lower()
    return bool(_DATE.search(plain)) and all(_DATE_WORD.fullmatch(part) for part in _DATE_PART.findall(plain))


def digits_of(text: str) -> str:
    """Return the digits of a number, whatever divides them; nothing of a text."""
    return "" if any(map(str.isalpha, text)) else re.sub(r"\D", "", text)


def readings(written: str) -> set[str]:
    """Return the numbers that one may be, each as short as can be: "1.234,50" is 1234.5, and "1.234" may be 1234 as well."""
    digits, found = re.sub(r"\D", "", written), _LAST_DIGITS.fullmatch(written)
    readings = set[str]()
    if not found or found[2] not in ".," or len(found[3]) == 3:
        readings.add(digits.lstrip("0"))
    if found and found[2] in ".,":
        whole = re.sub(r"\D", "", found[1])
        readings.add(f"{whole}.{found[3]}".strip("0").rstrip("."))
    return readings


def numbers_beside(text: str, but_for: Sequence[tuple[int, int]] = ()) -> set[str]:
    """Return the numbers of a text, as `readable` has it: each alone, with the word before it and with the one behind it.

    `but_for`: where others begin and end.
    """
    numbers = set[str]()
    for found in islice(_BESIDE.finditer(text), _MOST_BESIDE):
        if any(start <= found.start() < end for start, end in but_for):
            continue
        before, behind = text[max(found.start() - _REACH, 0) : found.start()].split(), text[found.end() : found.end() + _REACH].split()
        numbers |= {found[0], f"{''.join(before[-1:])} {found[0]}", f"{found[0]} {''.join(behind[:1])}"}
    return numbers


def numbers_in(text: str) -> set[str]:
    """Return what the numbers in a text may be, see `readings`."""
    numbers = set[str]()
    # Most stand there more than once.
    for found in set(_NUMBER.findall(text)):
        # "1 250" may be one number or two, and "3,4" as well.
        for part in {found, *found.split(), *([] if found.isdigit() else re.findall(r"\d+", found))}:
            numbers |= readings(part)
    return numbers


def as_written(number: float | Decimal) -> str:
    """Return a number as pages have it; nothing where no page has it."""
    exact = Decimal(str(number))
    if not exact.is_finite() or abs(exact.adjusted()) > LONGEST_NUMBER:
        return ""
    written = f"{exact:f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def is_long_enough(digits: str) -> bool:
    """Return whether a number is hardly on a page by chance."""
    return len(digits.lstrip("0")) >= 3
