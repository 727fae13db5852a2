"""Values that say when: of what the page tells, or of the page itself, as when it was fetched.

    a day that is today, yesterday or tomorrow          ──► is now
    a time of day whose minutes are those of now, and
    which is as far from now as its field's first one   ──► is now
    now          ──► says nothing, as long as no value of its field was another moment
    else         ──► says when something takes place

Only the present moment is another one at each visit. Names such as "last_modified" are `simcrawl.crawl.field_names`'s.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.crawl.reading import is_date, readable
from simcrawl.page.datelines import is_counter, is_dateline, is_of_the_page
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.crawl.page_text import PageText

_LONGEST = 64
_MOST_FIELDS = 1_000
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
    """Knows which fields of a callback's items say when something takes place. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self) -> None:
        self._fields = set[tuple[str, str]]()
        # By how much the first time of day of a field differs from now, in minutes.
        self._behind: dict[tuple[str, str], int] = {}

    def note(self, use: str, values: Iterable[tuple[str, Any]]) -> None:
        """Note the first times of day in each field of items that come out."""
        for key, value in values:
            if isinstance(value, str) and ":" in value and (use, key) not in self._behind and len(self._behind) < _MOST_FIELDS:
                when = _read(value)
                if when and not when.day and when.times:
                    self._behind[use, key] = _since(when.times[0])

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
        if not (_is_today(when.day) if when.day else self._is_now(use, key, when)):
            if len(self._fields) < _MOST_FIELDS:
                self._fields.add((use, key))
            return True
        return (use, key) in self._fields

    def _is_now(self, use: str, key: str, when: _When) -> bool:
        behind = [_since(time) for time in when.times]
        if not all(minutes % _AN_HOUR <= _BEFORE or -minutes % _AN_HOUR <= _AFTER for minutes in behind):
            return False
        apart = behind[0] - self._behind.get((use, key), behind[0])
        return min(apart % _HALF_A_DAY, -apart % _HALF_A_DAY) <= _BEFORE + _AFTER


def _is_today(day: frozenset[int]) -> bool:
    """Return whether numbers are those of a day that is today somewhere. What a month is called is not read."""
    now = datetime.now(UTC)
    return any(day <= {near.year, near.year % 100, near.month, near.day} for near in (now - _A_DAY, now, now + _A_DAY))


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
    times = tuple(60 * int(found[1]) + int(found[2]) for found in _CLOCK.finditer(value))
    rest = _COMPACT.sub(r" \1 \2 \3 ", _CLOCK.sub(" ", value))
    return _When(frozenset(map(int, _NUMBER.findall(rest))), times)
