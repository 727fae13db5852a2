"""Values that say when: of what the page tells, or of the page itself, as when it was fetched.

    a day that is today, yesterday or tomorrow          ──► is now (a month or a year alone is not)
    a time of day whose minutes are those of now, and
    which is as far from now as its field's first one   ──► is now
    now          ──► says nothing, as long as no value of its field was another moment
    else         ──► says when something takes place
    as of when   ──► likewise, where it is asked for: of pages side by side, "Last updated 12 May 2019" is of what the page is about

Only the present moment is another one at each visit. Names such as "last_modified" are `simcrawl.crawl.field_names`'s.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.crawl.reading import is_date, readable
from simcrawl.page.datelines import has_a_state, is_counter, is_dateline, is_of_the_page, places_of_days
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.crawl.page_text import PageText

_LONGEST = 64
_MOST_FIELDS, _MOST_NOTED = 1_000, 8
_A_DAY = timedelta(days=1)
# Minutes. A page may have waited to be looked at, and clocks differ. Most zones differ by whole hours, and some clocks have twelve.
_BEFORE, _AFTER, _AN_HOUR, _HALF_A_DAY = 10, 2, 60, 720
_CLOCK = late(r"(?<!\d)(\d{1,2}):(\d{2})(?!\d)(?::\d{2}(?:[.,]\d+)?)?")
# As in 20261129T015022.
_COMPACT = late(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?:[t_-]?\d{4}(?:\d\d)?)?(?!\d)", re.IGNORECASE)
_NUMBER = late(r"\d+")


class _When(NamedTuple):
    """The numbers of a day, and the times of day in minutes, that are in a text."""

    day: frozenset[int]
    times: tuple[int, ...]


class Moments:
    """Knows which fields of a callback's items say when something takes place. `use`: the callback's name."""

    def __init__(self) -> None:
        # Those that have named another moment than now, and how many values of a field were looked at for that.
        self._fields, self._noted = set[tuple[str, str]](), Counter[tuple[str, str]]()
        # By how much the first time of day of a field differs from now, in minutes.
        self._behind: dict[tuple[str, str], int] = {}

    def note(self, use: str, values: Iterable[tuple[str, Any]]) -> None:
        """Note when the first items that come out say that something is, field by field."""
        for key, value in values:
            field = use, key
            if not isinstance(value, str) or len(value) > _LONGEST or field in self._fields or self._noted[field] >= _MOST_NOTED:
                continue
            if len(self._noted) >= _MOST_FIELDS and field not in self._noted:
                return
            self._noted[field] += 1
            if when := _read(value):
                self._is_other(field, when)
            elif when := _read_state(value):
                self._is_other((use, _of_states(key)), when)

    def may_say(self, value: str) -> bool:
        """Return whether a value says when."""
        return _read(value) is not None

    def is_content(self, use: str, key: str, value: str, page: PageText) -> bool | None:
        """Return whether a value says when, and not of its page when that was made or fetched; None where it does not say when."""
        if (when := _read(value)) is None:
            return None
        # A spider may write a day in its own way. How long it has taken so far looks like a time of day.
        if not when.day and not page.has(readable(value)):
            return False
        return self._is_other((use, key), when) or (use, key) in self._fields

    def is_another_state(self, use: str, key: str, value: str) -> bool:
        """Return whether a value says as of when its page is, and that is not now; see `simcrawl.page.datelines.has_a_state`."""
        when, field = _read_state(value), (use, _of_states(key))
        return when is not None and (self._is_other(field, when) or field in self._fields)

    def _is_other(self, field: tuple[str, str], when: _When) -> bool:
        """Return whether a moment is not now, and note that of its field."""
        if _is_today(when.day) if when.day else self._is_now(field, when.times):
            return False
        if len(self._fields) < _MOST_FIELDS:
            self._fields.add(field)
        return True

    def _is_now(self, field: tuple[str, str], times: tuple[int, ...]) -> bool:
        behind = [_since(time) for time in times]
        if len(self._behind) < _MOST_FIELDS:
            self._behind.setdefault(field, behind[0])
        if not all(map(_is_near, behind)):
            return False
        apart = behind[0] - self._behind.get(field, behind[0])
        return min(apart % _HALF_A_DAY, -apart % _HALF_A_DAY) <= _BEFORE + _AFTER


def _is_today(day: frozenset[int]) -> bool:
    """Return whether numbers are those of a day that is today somewhere. What a month is called is not read."""
    now = datetime.now(UTC)
    near = (now - _A_DAY, now, now + _A_DAY)
    return any(one.day in day and day <= {one.year, one.year % 100, one.month, one.day} for one in near)


def places_of_now(line: str) -> list[tuple[int, int]]:
    """Return where a line says the present day and time begin and end, as a clock does: of a day alone it is not known.

    A spider that takes a whole page takes many lines, and that one of them says another moment says nothing of the next.
    """
    clocks = [found.span() for found in _CLOCK.finditer(line) if _is_near(_since(_minutes(found)))]
    days = places_of_days(line) if clocks else []
    today = [(start, end) for start, end in days if _is_today(frozenset(map(int, _NUMBER.findall(line[start:end]))))]
    return [*today, *clocks] if today else []


def _is_near(minutes: int) -> bool:
    """Return whether a time of day so many minutes ago is now in some zone."""
    return minutes % _AN_HOUR <= _BEFORE or -minutes % _AN_HOUR <= _AFTER


def _minutes(clock: re.Match[str]) -> int:
    return 60 * int(clock[1]) + int(clock[2])


def _since(time: int) -> int:
    """Return how many minutes ago a time of day was in Greenwich."""
    now = datetime.now(UTC)
    return 60 * now.hour + now.minute - time


# The items of a page and of its copies have the same days.
@lru_cache(maxsize=4096)
def _read(value: str) -> _When | None:
    """Return what a text says of when; None where it says nothing of it, or how long ago."""
    if len(value) > _LONGEST or not _NUMBER.search(value):
        return None
    if not is_date(value) and (not is_dateline(value) or is_counter(value) or is_of_the_page(value)):
        return None
    return _numbers_of(value)


def _read_state(value: str) -> _When | None:
    """Return what a text says of when, if it says as of when its page is, and not how long ago."""
    if len(value) > _LONGEST or not _NUMBER.search(value):
        return None
    return _numbers_of(value) if has_a_state(value) and is_dateline(value) and not is_counter(value) else None


def _of_states(key: str) -> str:
    """Return another name for a field: what else it says is judged by itself."""
    return f"{key}\0state"


def _numbers_of(value: str) -> _When:
    times = tuple(map(_minutes, _CLOCK.finditer(value)))
    rest = _COMPACT.sub(r" \1 \2 \3 ", _CLOCK.sub(" ", value))
    return _When(frozenset(map(int, _NUMBER.findall(rest))), times)
