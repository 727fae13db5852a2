"""Lines that say when, or how often: dates, times, ages and counters, and whether they speak of the page or of what it is about.

    a short line ─► has a date, a time, an age, a counter? ─► no: content, whatever year it names ("[2020] EWCA Civ 11")
                                                          └► yes: a dateline, other from day to day, and no content by itself
    three pages that differ only in their datelines ─► of the page ("last changed", "77 views")? ─► says nothing
                                                    └► of an event ("Public hearing: 11 May", "born 1951")   ─► tells the pages apart

A year alone makes no dateline of a line that says anything else: courts, standards, wines and courses are numbered by years. The words are
those of `simcrawl.page.vocabulary`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simcrawl.page.characters import composed
from simcrawl.page.patterns import late
from simcrawl.page.runs import has_digit
from simcrawl.page.vocabulary import alternatives, pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

LABELLED = late(r"[^\d:\uff1a]{1,40}[:\uff1a]\s*\S")
"""A label, and what stands behind it. No number before: that is a time's."""

_YEAR = r"(?:\b(?:19|20)\d\d\b|(?<!\d)(?:19|20)\d\d(?=\s*\u5e74))"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_IN_NUMBERS = (
    rf"\b\d\d?\s?(?:\.\s?\d\d?\s?\.|/\s?\d\d?\s?/|-\s?\d\d?\s?-)\s?(?:19|20)\d\d\b"
    rf"|\b(?:19|20)\d\d(?:\.\s?{_MONTH}\s?\.|/{_MONTH}/|-{_MONTH}-)\s?{_DAY}(?!\d)"
)


# A day, a month and a year in any language, by their shape: "5. toukokuuta 2026", "2026. m\xe1jus 5.". A capital letter makes no month of a
# Latin word that no vocabulary has: "12 Vase 1920". Other calendars have other years, and letters of their own.
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0dff\u0e31-\u0e4e"
_NAME = rf"(?-i:(?![A-Z\xc0-\xde]))(?:[^\W\d_]|[{_MARKS}]){{2,}}"
_FOREIGN = r"[\u0590-\u0fff]{2,}"
_SHAPE = (
    # No day stands behind a letter: "Q2 report 2026". Behind a hyphen it does: "Vineri-3 ianuarie 2026".
    rf"(?<![\d.a-z]){_DAY}(?:\.|\xba|er)?[\s\u200e\u200f-]+(?:de\s+)?(?:(?:{_NAME}|th\xe1ng\s\d\d?)\.?,?[\s\u200e\u200f-]+(?:(?:del?|n\u0103m)\s+)?(?:19|20)\d\d"
    rf"|{_FOREIGN}\s+(?:24|25|13|14)\d\d)(?!\d)|(?<![\d.])(?:19|20)\d\d\.?\s+(?:m\.\s+|gada\s+)?(?:{_NAME}\s+\d\d?(?!\d)|\d\d?\.\s+{_NAME})"
    r"|(?<!\d)(?:19|20)\d\d\s*\ub144\s*\d"
)


def _calendar() -> str:
    """Return the pattern of a date that is more than a year."""
    month = pattern("months", "seasons")
    return (
        rf"{_IN_NUMBERS}|{_SHAPE}|(?:{month})\W{{0,4}}(?:\d\d?(?:st|nd|rd|th)?\W{{1,4}})?(?:(?:de|del|of|do)\s)?(?:19|20)\d\d\b"
        rf"|\b(?:19|20)\d\d\W{{1,4}}(?:m\.\s)?(?:{month})|(?:19|20)\d\d\s*\u5e74\s*\d|\d\s*\u6708\s*\d"
    )


def _of_a_day() -> str:
    """Return the pattern of a date with its day and its year."""
    month, day = pattern("months"), r"\b\d\d?(?:st|nd|rd|th|[.\xba])?[\s-]+(?:(?:de|of)\s+)?"
    return (
        rf"{_IN_NUMBERS}|{day}(?:{month})\W{{0,3}}(?:(?:del?|of)\s+)?(?:19|20)\d\d\b"
        rf"|(?:{month})\W{{1,3}}\d\d?(?:st|nd|rd|th)?\W{{1,4}}(?:19|20)\d\d\b"
        rf"|(?:19|20)\d\d\s*\u5e74\s*\d\d?\s*\u6708\s*\d\d?\s*\u65e5|{_SHAPE}"
    )


# 31:28 is no time. A scale is none, and neither is the number of a court's case ("2:24-cv-01017"), a place behind another one, in hours
# ("UTC+05:30"), a lap ("1:23.456") and a part of an address ("3f:12:30:9a").
_TIME = (
    r"(?<!scale\s)(?<!scale:\s)(?<!stab\s)(?<!stab:\s)(?<![+\u2212])(?<!(?:utc|gmt)-)(?<!\b[\da-f]{2}:)\b(?:[01]?\d|2[0-4]):[0-5]\d"
    r"(?!\d|\.\d|:[\da-f]{2}:[\da-f]{2}:|-[a-z]{2}-\d|\s+(?:scale|model)\b)"
)


def _counted() -> str:
    """Return the pattern of ages and counters: readers, people who look on, things in a basket."""
    others, look_on = alternatives("visitors", "others"), alternatives("read on", "look on")
    return (
        r"\b(?:\d+\s*(?:min(?:ute)?s?|hours?|days?|weeks?|months?)|\d\d?\s*years?) ago\b"
        rf"|\b\d+\s*{alternatives('views', 'remarks')}\b|\b\d+\s*{alternatives('one view')}\b(?!\s+[^\W\d])"
        rf"|\b{alternatives('seen')}\s+[\d,.]*\d\s+times?\b|\b(?:page\s?)?(?:views?|visits?|hits)\s*:\s*\d"
        rf"|\d\s+items?\s+in\s+(?:\w+\s+){{0,2}}{alternatives('baskets')}\b"
        rf"|\d\s+{others}\s+(?:(?:are|is|currently|now)\s+){{0,2}}{look_on}\b"
        rf"|\b{alternatives('with an account')}\b.{{0,20}}\b{alternatives('read on')}\s+this\s+(?:forum|topic|thread|board|page|section)\b"
        rf"|{alternatives('reading', 'reading, or a way')}\s*[:\uff1a]?\s*\d"
    )


_OF_A_DAY = late(_of_a_day, re.IGNORECASE)
_CALENDAR = late(_calendar, re.IGNORECASE)
_SAYS_WHEN = late(lambda: f"{_calendar()}|{_TIME}", re.IGNORECASE)
# What all of these have; most lines have none.
_MAY_SAY_WHEN = late(r"(?:19|20|13|14|24|25)\d\d|\d:[0-5]\d|\u6708|\ub144")
_COUNTS = late(_counted, re.IGNORECASE)
# With years alone.
_SAYS_ANY = late(lambda: rf"{_YEAR}|{_TIME}|\d\s*\u6708\s*\d|{_counted()}", re.IGNORECASE)
_YEARS = late(rf"{_YEAR}\s*\u5e74?")
_LETTER = late(r"[^\W\d_]")
_PRICE = late("[$\\u20a0-\\u20bf\\xa2-\\xa5]\\s?\\d|\\d\\s?[$\\u20a0-\\u20bf\\xa2-\\xa5]")
# As a museum numbers what it has: 1920.4.4.
_INVENTORY = late(lambda: rf"\W*{alternatives('inventory')}\b", re.IGNORECASE)
# None is without: most lines end here.
_DIGIT = late(r"\d")
_HAS_WORD = late(r"\w\w\w")

# ---- whom a dateline speaks of

_ALONE = r"(?=\s*:|\s+(?:date|time|on|at|is)\b|\W*\d|\W*$)"


def _renewed() -> str:
    return rf"\xa9|\(c\)|{pattern('renewed')}|^\W*stand\s*:?\s*(?=\d)"


def _state_of() -> str:
    """Return the pattern of how a line begins that says as of when a page or its mirror is."""
    last = f"(?:{pattern('last')})"
    return (
        rf"^\W*{last}\W*(?:{pattern('renewed')})|^\W*(?:{last}\W+)?(?:{pattern('synced')}){_ALONE}"
        rf"|^\W*(?:{pattern('state of')})\s*(?=\d|(?:{pattern('months')}))"
    )


def _of_making() -> str:
    """Return a pattern of what stands behind what was done with a page."""
    return rf"(?=\s*[:\uff1a]|\W*\d|\W*$|\W+(?:{pattern('behind what was done', 'months', 'days')}))"


def _of_the_page() -> str:
    alone, readers = pattern("made if alone"), alternatives("remarks", "visits", "visitors", "readers")
    return (
        rf"{_renewed()}|{pattern('made', before=_of_making())}|{pattern('of now')}"
        rf"|^\W*(?:(?:the|this|page|article|document|site|date)\s+)*(?:{alone}){_ALONE}"
        rf"|^\W*(?:{pattern('last')})(?=\W*\d|\s*:|\W+(?:{alone}))"
        # As in German, in one word.
        r"|\w(?:datum|stand|dato)\s*:"
        rf"|(?<!\d)(?!(?:19|20)\d\d\s)\d[\d.,]*\s+(?:[^\W\d]{{1,20}}\s+){{0,2}}{readers}\b"
        rf"|\b{alternatives('with an account')}\b.{{0,20}}\b{alternatives('read on')}\b"
        rf"|^\W*(?:(?:the|local|server|current)\s+)?(?:{pattern('when')})"
        rf"|^\W*(?:data|ora)\s*(?=:|d[aei]l?\b|\d|{pattern('of the making')})"
        rf"|{alternatives('reading', 'accessed')}(?=\W*\d)"
    )


_IS_RENEWED = late(_renewed, re.IGNORECASE)
_HAS_A_STATE = late(_state_of, re.IGNORECASE)
_SAYS_MORE = late(r"\d|\w\w\w")
_OF_THE_PAGE = late(_of_the_page, re.IGNORECASE)
# "Friday", "November"; only one of them beside 2026-11-27.
_WORDS_OF_A_DATE, _LEAST_OF_A_WORD = 2, 4
_DATE_IN_NUMBERS, _AT_A_TIME = late(r"\b\d{1,4}([-./])\d\d?\1\d{1,4}\b"), late(r"[^\W\d]{4}\s+\d\d?:\d\d\b")


_CLOCK = late(r"\d:[0-5]\d(?::[0-5]\d)?\s*(?:[ap]m\s*)?\(?(?:utc|gmt)\b", re.IGNORECASE)
# Says no more than a time of day does.
_ZONE = late(r"\b\w+\s+(?:standard|daylight|summer)\s+time\b", re.IGNORECASE)


def _of_an_event() -> str:
    """Return the pattern of a room, a birth or a death, what is measured at an hour, or from when to when.

    Such datelines speak of an event or a person, not of the page. A room has a number, or a letter.
    """
    return (
        rf"\b{alternatives('rooms')}\s+(?:\d{{1,4}}|[a-z])\b(?!\s*:|\s+[^\W\d])|\d\s*\u53f7\u5385|{pattern('rooms, anywhere', 'lives')}"
        rf"|\b{alternatives('runs')}\s+\d|\b{alternatives('measures')}\s+\d|\b{alternatives('scores')}\s+\d+:\d"
        r"|\d[.,]\d+\s?(?:m|ft|kn|mm|cm|hpa)\b|\d\s?km\b|\d\s?(?:\u7c73|\u516c\u91cc)|\u7b2c\s?\d+\s?\u53f7"
        rf"|\b\d\d?:\d\d\s?(?:[-\u2013\u2014~]|{alternatives('until')})\s?\d\d?:\d\d\b"
        # No page was written before there was a web. Other numbers count something.
        r"|(?<![\w.,:])(?<!of\s)(?:1[5-8]\d\d|19[0-8]\d)(?!\w|[.,]\d|\s+(?:times?|of|words|posts?|points?|votes?|reads?)\b)"
        # How long something takes, or when a day goes so far.
        rf"|\b{alternatives('at an hour')}\b[^\d\n]{{0,20}}\d{{1,3}}:\d\d"
        rf"|\b{alternatives('of a year')}\b[^\d\n]{{0,12}}\d"
        rf"|\b{alternatives('models')}\b\.?\s+(?:no\.?\s+)?\d"
    )


_OF_AN_EVENT = late(_of_an_event, re.IGNORECASE)


def is_dateline(line: str) -> bool:
    """Return whether a short line says when, or how often. A price is none, and what is numbered by a year neither."""
    if not has_digit(line) or _PRICE.search(line) or _INVENTORY.match(line):
        return False
    line = composed(line)
    if _MAY_SAY_WHEN.search(line) and (_SAYS_WHEN.search(line) or _says_a_year_alone(line)):
        return True
    return bool(_COUNTS.search(line))


def _says_a_year_alone(line: str) -> bool:
    """Return whether a line says nothing but years, or a year beside a copyright sign or a word such as "updated"."""
    return bool(_YEARS.search(line)) and (bool(_IS_RENEWED.search(line)) or not _LETTER.search(_YEARS.sub(" ", line)))


def full_dates(line: str) -> list[str]:
    """Return the dates in a line that have a day and a year, as they are written, in lower case."""
    dates = _OF_A_DAY.finditer(composed(line)) if has_digit(line) else ()
    return [" ".join(found[0].casefold().split()) for found in dates]


def places_of_days(line: str) -> list[tuple[int, int]]:
    """Return where dates with a day and a year begin and end in a line, whose accents are on their letters."""
    return [found.span() for found in _OF_A_DAY.finditer(line)] if has_digit(line) else []


def undated(line: str) -> str:
    """Return a line without its dates, ages and counters."""
    line = composed(line)
    if _MAY_SAY_WHEN.search(line):
        line = _CALENDAR.sub(" ", _OF_A_DAY.sub(" ", line))
    return _COUNTS.sub(" ", line)


def is_of_the_page(dateline: str) -> bool:
    """Return whether a dateline says when the page was made, changed or asked for, or counts who did."""
    dateline = composed(dateline)
    if _OF_THE_PAGE.search(dateline) or has_a_state(dateline):
        return True
    # A clock has a zone and no day: "10:23 GMT". With a day it may be when something begins.
    return bool(_CLOCK.search(dateline)) and not _CALENDAR.search(dateline)


def has_a_state(dateline: str) -> bool:
    """Return whether a dateline says as of when the page, its site or its mirror is, and no more: "Mirror state of 3 October 2026".

    "Stand vom 31.12.2024: 1234 Einwohner" says how many there were.
    """
    line = composed(dateline)
    found = _HAS_A_STATE.search(line)
    return found is not None and not _SAYS_MORE.search(_SAYS_WHEN.sub(" ", undated(line[found.end() :])))


def is_counter(dateline: str) -> bool:
    """Return whether a dateline says how often, or how long ago."""
    return bool(_COUNTS.search(composed(dateline)))


def has_other_words(dateline: str) -> bool:
    """Return whether a dateline has words beside its years, times and counts."""
    return bool(_HAS_WORD.search(_SAYS_ANY.sub(" ", dateline)))


def is_of_an_event(dateline: str, words: Iterable[str]) -> bool:
    """Return whether a dateline says when something takes place: by a label, a sentence, or several times, and not of the page itself.

    `words`: those that it has, without numbers.
    """
    long = {word.lower() for word in words if len(word) >= _LEAST_OF_A_WORD}
    if zone := _ZONE.search(dateline):
        long.difference_update(zone[0].lower().split())
    # More than a date has: "Friday, the 27th of November".
    says_more = len(long) > _WORDS_OF_A_DATE - bool(_DATE_IN_NUMBERS.search(dateline))
    # "Sunrise 6:12, sunset 19:40".
    says_more = says_more or len(_AT_A_TIME.findall(dateline)) > 1 or bool(_OF_AN_EVENT.search(dateline))
    return (says_more or bool(LABELLED.match(dateline))) and not is_of_the_page(dateline)
