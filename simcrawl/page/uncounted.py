"""The words of a heading or a title without what has no end: numbers, what they count, and days.

    Public holidays in Hamburg 2025   ─► public holidays in hamburg
    3 comments on Boats               ─► on boats
    Page 2, 12 results, May 2026      ─► nothing: no name

What stands behind a number has other forms with other numbers ("1 comment", "2 comments"), so it counts as little as the number does.
"""

from __future__ import annotations

from functools import cache

from simcrawl.page import vocabulary
from simcrawl.page.datelines import undated
from simcrawl.page.numerals import OF_A_READER, YEAR
from simcrawl.page.patterns import late
from simcrawl.page.runs import has_digit, runs
from simcrawl.page.visits import counts_readers, is_of_a_visit

# With what touches it: a version, a measure. Behind an ordinal nothing is counted, and behind a year neither.
_NUMBER = late(r"v?\d++(?:t\d++z?|[^\W\d_]{0,4})$")
_ORDINAL = late(r"\d+(?:st|nd|rd|th|er?|[ao])$")


@cache
def _without_end() -> frozenset[str]:
    """Return the words of days, and those of lists."""
    return _words("months", "days", "further months", "further days", "nearby days", "of a list")


@cache
def _of_days() -> frozenset[str]:
    return _words("months", "days", "further months", "further days")


@cache
def _counted() -> frozenset[str]:
    """Return the words of what numbers count and measure."""
    readers = ("views", "remarks", "one view", "visits", "visitors", "readers", "others")
    return _words("spans", "counted", "units", "seconds", "times", *readers)


def _words(*kinds: str) -> frozenset[str]:
    # A word of a weekday in Portuguese has two parts.
    return frozenset(part for kind in kinds for word in vocabulary.words(kind) for part in word.casefold().split("-"))


def words(text: str) -> list[str]:
    """Return the words of a heading or a title that may be a name, in lower case, in order; none if it counts something for its reader."""
    if not has_digit(text):
        return [word for word in runs(text.casefold()) if word not in _of_days()]
    if OF_A_READER.search(text) or counts_readers(text) or is_of_a_visit(text):
        return []
    found, is_counted = list[str](), False
    # As it is written: a capital letter makes no month of a word.
    for word in runs(undated(text).casefold()):
        if _NUMBER.match(word):
            is_counted = not (YEAR.fullmatch(word) or _ORDINAL.match(word))
        elif (is_counted and word in _counted()) or word in _without_end():
            is_counted = False
        else:
            is_counted = False
            found.append(word)
    return found
