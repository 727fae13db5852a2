"""Numbers and signs that may name a page, and those that are another one at each visit: counters, rates, pages of a list.

A number by itself says nothing of whose it is. It is a name where the title and the end of the address have it ("Port 8080", /port-8080),
and beside the contents in a heading, in a code that has letters as well ("A320", "U+0600"), or as it is written: an address of the
Internet, a number of three parts, a place on earth.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from simcrawl.page.datelines import full_dates, is_counter, is_of_the_page
from simcrawl.page.patterns import late
from simcrawl.page.visits import counts_readers, is_of_a_visit
from simcrawl.page.vocabulary import alternatives, pattern, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet

IN_A_LIST = late(
    lambda: (
        rf"{pattern('of a list')}|(?<!\w){alternatives('sheets')}[\s:\uff1a]*\d"
        rf"|(?=\d)(?:\d\s*{alternatives('sheets')}|(?<!\u7b2c)(?<!\u7b2c\s)(?<!\d)(?<!\d[.,])\d[\d,.]*\s*{alternatives('pieces')})"
        rf"(?!{alternatives('goes on')})"
    ),
    re.IGNORECASE,
)
"""What is counted: of its pages, and of its numbers, there is no end."""
OF_A_READER = late(lambda: pattern("of a reader"), re.IGNORECASE)
YEAR = late(r"(?:19|20)\d\d")
OF_A_DAY = late(lambda: pattern("months", "days"), re.IGNORECASE)

# A number with its sign, as it is written. Not "64-bit", "5G"; a hyphen between digits is none.
_NUMERAL = late(r"(?:(?<!\d)[-+\u2212]|(?<![\w.,:]))(\d++(?>(?:[.,:]\d++)*))(?![^\W\d_]|-[a-z])", re.IGNORECASE)
_JOINTS = str.maketrans("_-", "  ")
# Not "Product 4711": that one is called so.
_PLACE_IN_A_LIST = late(
    lambda: (
        rf"(?:{pattern('many of a list')}|{alternatives('sheets')})\W{{0,3}}\d++(?:\W{{1,3}}(?:(?:of|von|de|di|sur|z|/)\s)?\s?\d++)?"
        rf"|\d++\s?(?:{pattern('of a list')}|{alternatives('sheets', 'pieces')})|\(\d{{1,3}}(?:/\d+)?\)"
    ),
    re.IGNORECASE,
)
# Of a query: which part of a list, and which release.
_OF_A_LIST = late(
    r"(?:p|pg|page|paged|pageno|page_?num(?:ber)?|seite|start|offset|from|skip|limit|count|per_?page|size|sort|order|v|ver|version|rev(?:ision)?|oldid|year"
    r"|month|week|day|date)$",
    re.IGNORECASE,
)
# A heading that says no more, or behind a sign. The number stands before the word as well: "7. oldal", "\u7b2c7\u9875".
_PAGE_OF_A_LIST = late(
    lambda: (
        rf"(?:^|[^\w\s])\W*(?:{alternatives('page of a list')}\W{{0,4}}\d++(?:\W{{1,3}}(?:[^\W\d]{{1,6}}\W{{1,3}})?\d++)?"
        rf"|\u7b2c?\s?\d++\W{{0,3}}{alternatives('page of a list')})\W*$"
    ),
    re.IGNORECASE,
)
# Where it begins or ends so: "How to log in to room 7" is about something.
_NOT_THERE = late(lambda: rf"^\W*(?:(?:{pattern('sorry')})\W*)?(?:{pattern('not there')})|(?:{pattern('not there')})\W*$", re.IGNORECASE)
# A number that letters of writing without spaces touch, with the particle behind it. Other syllables are what it is of.
_TOUCHED = late(
    lambda: (
        "(?:(?<=[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff])|(?=\\d+[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff]))"
        f"(\\d++)(?:{'|'.join(words('particles'))})?"
    )
)
# What follows is what the number is of: "Theorem 7: such a group does not exist".
_LABELLED_BY_A_NUMBER = late(r"\d\s?[.:)](?:\s|$)")
_DIGITS_OF_A_DAY = 2
_DIGIT, _RUN, _LONG_WORD = late(r"\d"), late(r"\w+"), late(r"[^\W\d_]{4}")
_NUMBER, _THOUSANDS = late(r"\d+"), late(r"(?<=\d)[.,'\u2019\xa0](?=\d{3}(?!\d))")
# Counters, measures and ordinals have some letters behind a number: "12k", "10pm", "3rd", "5min"; releases one in front.
_COUNTED = late(r"(?:v?\d++(?:t\d++z?|[^\W\d_]{0,4})|(?:19|20)\d\d[01]\d.*)$")
_WRITTEN_AS_A_CODE = late(
    r"(?<![\w.,+-])(?:\+\d[\d ()/.-]{6,30}\d|\d{1,3}(?:\.\d{1,3}){3}|(?!\d+-\d\d?-(?:19|20)\d\d(?!\d)|(?:19|20)\d\d-\d\d?-)\d+(?:-\d+){2,}"
    r"|\d++[.,]\d{5,}|\d{1,3}\s?\xb0\s?\d[\d.]*|#[\da-f]{6}|[a-z]\+[\da-f]{4,6}|[\da-f]{2}(?::[\da-f]{2}){3,7}"
    # A lap, a zone of time.
    r"|\d\d?:\d\d\.\d+|(?:utc|gmt)[+\u2212-]\d\d?(?::\d\d)?)(?![\w-])",
    re.IGNORECASE,
)
# A fraction of a few digits, no thousands and no third part, or a sign behind it.
_SHARE_OR_DEGREES = r"\d\s*(?:%|\xb0(?!\s?\d))"
_RATE = late(
    r"(?<![\d.,])(?!\d{1,3}(?:,\d{3})+(?![\d.]))(?:\d{1,3}(?:,\d{3})+\.\d{1,4}|\d{1,3}(?:\.\d{3})+,\d{1,4}|\d++[.,]\d{1,4})(?![.,]?\d)"
    rf"|{_SHARE_OR_DEGREES}"
)
_SHARE = late(_SHARE_OR_DEGREES)
# Another one at each visit, unless the page is called by it: a number of the request, or of whoever asks.
_TOKEN = late(r"(?<![\w-])(?=[\w-]*\d)(?:[\da-f]{7,}(?:-[\da-f]{2,})*|\w{16,})(?![\w-])")
# A day has a point behind its month, or two digits for it: "17.3" is a measure.
_TIME_OR_DAY = late(r"(?<![+\u2212:\d-])\d\d?:[0-5]\d(?!\d)|(?<![\d.])[0-3]?\d(?:/(?:1[0-2]|0?[1-9])\.?|\.(?:1[0-2]|0[1-9])\.?|\.[1-9]\.)$")
_COUNTER_OF_A_BOX = late(lambda: pattern("counters of boxes", "remarks", "visitors"), re.IGNORECASE)
_LEAST_BELOW_A_HEAD = 3


def in_title(title: str) -> list[str]:
    """Return the numbers in a title, but for the place in a list, and beside a month or a weekday those of a day and a year."""
    if not _DIGIT.search(title):
        return []
    return [found[0] for found in _told(title)]


# It is asked several times for the page that is being made.
@lru_cache(maxsize=8)
def in_address(url: str, slug: str) -> frozenset[str]:
    """Return the numbers at the end of an address, and in its query, without zeros in front. `slug`: what names the page there."""
    if not _DIGIT.search(url):
        return frozenset()
    path, _, query = url.partition("://")[2].partition("#")[0].partition("?")
    values = (value for key, _, value in (one.partition("=") for one in re.split("[&;]", query)) if not _OF_A_LIST.match(key))
    end = path.partition("/")[2].rstrip("/").rpartition("/")[2]
    text = unquote_plus(" ".join((end, slug, *values))).translate(_JOINTS)
    return frozenset(_plain(found[1]) for found in _NUMERAL.finditer(text))


def said_in(line: str, numbers: AbstractSet[str]) -> list[str]:
    """Return which of some plain numbers a line has, with their signs."""
    return [found[0] for found in _NUMERAL.finditer(line) if _plain(found[1]) in numbers] if numbers else []


def replaced(title: str, words: dict[str, str]) -> str:
    """Return a title with words in the place of some of its numbers."""
    return _NUMERAL.sub(lambda found: f" {words[found[0]]} " if found[0] in words else found[0], title)


def plain(numerals: Iterable[str]) -> set[str]:
    """Return numbers without their signs, and without zeros in front."""
    return {_plain(numeral.lstrip("-+\u2212")) for numeral in numerals}


def codes(line: str, called: str = "") -> list[str]:
    """Return what of a line in lower case has digits and is no counter: words with letters, and what is written as codes are.

    `called`: what the page is called, in title and address: only what stands there counts of what looks like a number of the request.
    """
    if not _DIGIT.search(line) or OF_A_READER.search(line) or is_of_the_page(line):
        return []
    line = _TOKEN.sub(lambda found: found[0] if found[0] in called else " ", line)
    words = [word for word in _RUN.findall(line) if _DIGIT.search(word) and not word.isdigit() and not _COUNTED.match(word)]
    return words + _WRITTEN_AS_A_CODE.findall(line)


def is_a_symbol(line: str) -> bool:
    """Return whether a line is nothing but signs, one of them more than punctuation: an emoji, a letter of Braille, stars."""
    return not _RUN.search(line) and any(sign > "\x7f" and unicodedata.category(sign)[0] == "S" for sign in line)


def may_be_a_name(heading: str) -> bool:
    """Return whether a heading beside the contents is nothing but a number, with its signs and its unit: "8080/tcp", "UTC+05:30"."""
    return bool(_DIGIT.search(heading)) and not (_LONG_WORD.search(heading) or YEAR.search(heading) or changes(heading))


def changes(heading: str) -> bool:
    """Return whether a heading tells a time or a day, a share, a temperature, or how many there are of something."""
    return bool(OF_A_DAY.search(heading) or _SHARE.search(heading) or _TIME_OR_DAY.search(heading)) or counts(heading)


def is_of_no_page(heading: str, url: str) -> bool:
    """Return whether a heading numbers a page of a list, or says that what was asked for is not there: of such numbers there is no end.

    The latter repeats a number of its address. One that has it from nowhere is a record: "House 4041 does not exist" of /houses/aldby.
    `url`: "" where that plays no part.
    """
    if not _DIGIT.search(heading):
        return False
    if _PAGE_OF_A_LIST.search(heading):
        return True
    if not _NOT_THERE.search(heading) or _LABELLED_BY_A_NUMBER.search(heading):
        return False
    if not url:
        return True
    asked = map(_plain, _NUMBER.findall(url.partition("://")[2].partition("/")[2]))
    return not {*map(_plain, _NUMBER.findall(_THOUSANDS.sub("", heading)))}.isdisjoint(asked)


def apart(heading: str, url: str) -> str:
    """Return a heading with spaces around its numbers, if what was asked for is not there, see `is_of_no_page`.

    In Chinese, Japanese and Korean they touch words, and each heading would have a word of its own.
    """
    if not (_TOUCHED.search(heading) and is_of_no_page(heading, url)):
        return heading
    return _TOUCHED.sub(r" \1 ", heading)


def are_label_and_number(one: str, other: str) -> bool:
    """Return whether one of two lines is a number, with signs and a unit, and the other one its label, of no counter."""
    label, number = (other, one) if _DIGIT.search(one) else (one, other)
    if _DIGIT.search(label) or not _DIGIT.search(number) or _LONG_WORD.search(number):
        return False
    return not (_COUNTER_OF_A_BOX.search(label) or OF_A_DAY.search(label) or counts(f"{label}: {number}"))


def counts(line: str) -> bool:
    """Return whether a line tells how many there are of something, or what a reader has."""
    return bool(IN_A_LIST.search(line) or OF_A_READER.search(line)) or is_counter(line) or counts_readers(line) or is_of_a_visit(line)


def but_for_rates(table: Sequence[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    """Return the rows of a table beside the contents without rates and temperatures, which are others at each visit.

    Only a table of nothing else, but for its head, is one of these: a place on earth and a price stand among other facts.
    """
    are = [any(map(_RATE.search, row)) for row in table]
    if not all(are[1:] if len(are) >= _LEAST_BELOW_A_HEAD else are):
        return table
    return [row for row, is_one in zip(table, are, strict=True) if not is_one]


def _told(title: str) -> Iterator[re.Match[str]]:
    dates, places = full_dates(title), [found.span() for found in _PLACE_IN_A_LIST.finditer(title)]
    is_of_a_day = bool(dates or OF_A_DAY.search(title))
    for found in _NUMERAL.finditer(title):
        number = found[1]
        if is_of_a_day and (len(number) <= _DIGITS_OF_A_DAY or YEAR.fullmatch(number)):
            continue
        if not any(start <= found.start() < end for start, end in places):
            yield found


def _plain(number: str) -> str:
    return number.lstrip("0") or "0"
