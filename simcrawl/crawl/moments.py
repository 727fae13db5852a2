"""Values that say when: of what the page tells, or of the page itself, as when it was fetched.

    is now, or close to it   ──► says nothing, as long as no value of its field was another moment
    else                     ──► says when something takes place

Only the present moment is another one at each visit. Names such as "last_modified" are `simcrawl.crawl.field_names`'s.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.crawl.reading import is_date, readable
from simcrawl.page.datelines import is_counter, is_dateline, is_of_the_page
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from simcrawl.crawl.page_text import PageText

_LONGEST = 64
_MOST_FIELDS = 1_000
# Minutes. A page may have waited to be looked at, and clocks differ.
_BEFORE, _AFTER = 10, 2
_A_DAY = timedelta(days=1)
_CLOCK = late(r"(?<!\d)\d{1,2}:(\d{2})(?!\d)(?::\d{2}(?:[.,]\d+)?)?")
# As in 20261129T015022.
_COMPACT = late(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?:[t_-]?\d{4}(?:\d\d)?)?(?!\d)", re.IGNORECASE)
_NUMBER = late(r"\d+")


class _When(NamedTuple):
    """The numbers of a day, and the minutes of the times of day, that are in a text."""

    day: frozenset[int]
    minutes: tuple[int, ...]


class Moments:
    """Knows which fields of a callback's items say when something takes place. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self) -> None:
        self._fields = set[tuple[str, str]]()

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
        if not _is_now(when):
            if len(self._fields) < _MOST_FIELDS:
                self._fields.add((use, key))
            return True
        return (use, key) in self._fields


# The items of a page and of its copies have the same days.
@lru_cache(maxsize=4096)
def _read(value: str) -> _When | None:
    """Return what a text says of when; None where it says nothing of it, or how long ago."""
    if len(value) > _LONGEST or not _NUMBER.search(value):
        return None
    if not is_date(value) and (not is_dateline(value) or is_counter(value) or is_of_the_page(value)):
        return None
    minutes = tuple(int(found[1]) for found in _CLOCK.finditer(value))
    rest = _COMPACT.sub(r" \1 \2 \3 ", _CLOCK.sub(" ", value))
    return _When(frozenset(map(int, _NUMBER.findall(rest))), minutes)


def _is_now(when: _When) -> bool:
    """Return whether a moment may be the present one, in any zone of time. Names of months are not read: their numbers are enough."""
    now = datetime.now(UTC)
    if when.day:
        return any(when.day <= {day.year, day.year % 100, day.month, day.day} for day in (now - _A_DAY, now, now + _A_DAY))
    # Most zones differ by whole hours.
    return all((now.minute - minute) % 60 <= _BEFORE or (minute - now.minute) % 60 <= _AFTER for minute in when.minutes)
