"""Which items of a copy say by short values what its readers see, and no item of its original says.

Two pages are copies though they differ in lines that are not compared, because most of these are other ones at each visit: the day of a
seminar, the number that a calculator gives, a line in a box beside the text. What a spider takes from there it wants.

    the value of a field ──► long; a URL, a token; in the page's address; of a fetch, a counter, readers   ──► says nothing
                         ──► says as of when the page or its mirror is ("Last updated: 3 October 2026")    ──► says nothing
                         ──► says when (`simcrawl.crawl.moments`): of its page                             ──► says nothing
                                                                   of what the page is about               ──► counts
                         ──► the page shows it, and not as a link, a menu, a button or furniture           ──► counts
                                      as a heading: only if both pages are in one directory
                         ──► is one of a list of texts                                                     ──► says nothing
    pages side by side (`simcrawl.crawl.side_by_side`)   ──► so do lists of texts, sentences, what has a number of the address,
                                                             and one of a long text that is in a short line of the page
    a value that counts, in no item of the original, or not beside the other ones                          ──► the item comes out

A shop's product stands in two categories, and the way to it, what is like it and who looks at it differ: these are links, furniture and
counters. In another release of a manual a section has another number, while rooms 7 and 8 stand side by side. From then on the item's
values count as the original's: a copy of the copy says nothing more.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial, reduce
from operator import and_
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from simcrawl.crawl.field_names import field_name, is_technical
from simcrawl.crawl.item_values import FILLED
from simcrawl.crawl.moments import Moments
from simcrawl.crawl.reading import OF_MARKUP, TOKEN, as_written, digits_of, is_long_enough, numbers_beside, readable, readings
from simcrawl.crawl.said import LONGEST_SHORT, NUMBERS_LEFT_OUT, Together, long_numbers, number_digest, state_digest
from simcrawl.crawl.side_by_side import are_side_by_side
from simcrawl.page.datelines import has_a_state, is_counter, is_dateline, is_of_the_page
from simcrawl.page.patterns import late
from simcrawl.rule import without_data

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable

    from simcrawl.crawl.copied import Copy
    from simcrawl.crawl.counters import Counters
    from simcrawl.crawl.page_text import PageText

# Characters of a value of pages side by side, and values of a list.
_LONGEST_BESIDE, _MOST_LISTED = 300, 32
# How long it took to make a page, and how long something goes on: "generated in 0.12 s", "ends in 03:21:07".
_OF_A_VISIT = late(r"[^\W\d_]\D*(?:\d+[.,]\d+\s?(?:m?s|sec)\b|\b\d{1,2}:\d\d:\d\d\s*$)")
_NUMBER = late(r"\d+")
# Contents whose items are at hand.
_MOST_TOGETHER = 16


class Otherwise:
    """Compares what items say in sight. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self, counters: Counters) -> None:
        self._counters, self._moments = counters, Moments()
        # By the identities of the arrays: held, so that these stay unique.
        self._together: OrderedDict[int, tuple[array[int], Together]] = OrderedDict()

    def note(self, use: str, values: Iterable[tuple[str, Any]]) -> None:
        """Note the values of an item that has come of a content."""
        self._moments.note(without_data(use), values)

    def find(self, original: str, states: array[int], use: str, fields: dict[str, list[Any]], copy: Copy) -> str | None:
        """Return the field by which an item of a copy says what no item of its original does; None if there is none.

        `original`: the URL of that page; `states`: what is known of the original's items, see `simcrawl.crawl.said.Said`; `fields`: see
        `ItemRead.by_field`.
        """
        together = self._read(states)
        own = _own_numbers(copy.url, original) if (beside := are_side_by_side(original, copy.url)) else frozenset[str]()
        sight = _Sight(use, copy.page, headings=_directory(original) == _directory(copy.url), beside=beside, own=own)
        says = partial(self._says, sight)
        items, told = -1, dict[str, int]()
        for key, parts in fields.items():
            if sight.beside and self._says_number(sight, together, key, parts):
                return key
            if not self._may_all_say(sight, key, parts):
                continue
            known = together.items_with(state_digest(key, parts))
            if not known and says(key, parts):
                return key
            if known:
                items &= known
                told[key] = known
        if items:
            return None
        # All of it is known, but in no item of the original together. Now it matters what of it the page says.
        said = {key: known for key, known in told.items() if says(key, fields[key])}
        return None if not said or reduce(and_, said.values()) else next(iter(said))

    def _read(self, states: array[int]) -> Together:
        """Return what is known of the items of a content, which may have thousands of copies."""
        _, together = self._together.pop(id(states), (states, Together()))
        self._together[id(states)] = states, together
        if len(self._together) > _MOST_TOGETHER:
            self._together.popitem(last=False)
        together.read(states)
        return together

    def _may_all_say(self, sight: _Sight, key: str, parts: list[Any]) -> bool:
        """Return whether what stands in a field may say something: no list of texts, for each page may have one of its own.

        But for pages side by side, which are no views of one.
        """
        if len(parts) > 1 and (len(parts) > _MOST_LISTED or (not sight.beside and any(self._is_text(part) for part in parts))):
            return False
        longest = _LONGEST_BESIDE if sight.beside and len(parts) == 1 else LONGEST_SHORT
        return all(self._may_say(sight.use, key, part, longest) for part in parts)

    def _says_number(self, sight: _Sight, together: Together, key: str, parts: list[Any]) -> bool:
        """Return whether a long text has a number that the original's has not, in a short line of the page."""
        if not field_name(key).of_page or together.items_with(NUMBERS_LEFT_OUT):
            return False
        new = {number for part in parts for number in long_numbers(part) if not together.items_with(number_digest(key, number))}
        return bool(new) and any(self._is_said_in(sight, key, line, new) for line in sight.page.said_lines(headings=sight.headings))

    def _is_said_in(self, sight: _Sight, key: str, line: str, numbers: set[str]) -> bool:
        """Return whether a line has one of some numbers, and says neither how often nor when the page was made."""
        if numbers.isdisjoint(numbers_beside(line)) or _OF_A_VISIT.search(line) or is_counter(line) or is_of_the_page(line):
            return False
        # A day may stand behind a label, which makes it none of a field.
        return self._moments.is_content(without_data(sight.use), key, line, sight.page) is not False

    def _is_text(self, value: Any) -> bool:
        return isinstance(value, str) and any(map(str.isalpha, value)) and not self._moments.may_say(value)

    def _may_say(self, use: str, key: str, value: Any, longest: int) -> bool:
        """Return whether a value may say something of a page, whatever that shows."""
        name = field_name(key)
        if value is False or value is FILLED or not name.of_page or name.of_making or name.of_readers:
            return False
        if isinstance(value, str):
            return self._may_be_said(key, value, longest)
        digits = digits_of(as_written(value))
        is_of_counter = isinstance(value, int) and self._counters.has(use, key)
        return is_long_enough(digits) and not is_technical(key, digits) and not is_of_counter

    def _may_be_said(self, key: str, text: str, longest: int) -> bool:
        # First: not every pattern is looked for in one pass.
        if len(text) > longest or _OF_A_VISIT.search(text):
            return False
        if self._moments.may_say(text):
            return True
        if any(map(str.isalpha, text)) and (TOKEN.fullmatch(text) or OF_MARKUP.fullmatch(text)):
            return False
        if is_technical(key, digits_of(text)) or is_counter(text):
            return False
        return not (has_a_state(text) and is_dateline(text))

    def _says(self, sight: _Sight, key: str, parts: list[Any]) -> bool:
        said = [not sight.is_echo(part) and self._is_said(sight, key, part) for part in parts]
        # In a list of texts a link may be what is new: a way to the page, or what is like it.
        return all(said) if len(parts) > 1 and any(map(self._is_text, parts)) else any(said)

    def _is_said(self, sight: _Sight, key: str, value: Any) -> bool:
        """Return whether a page says a value, and not when it was made."""
        if not isinstance(value, str):
            return sight.page.says_number(readings(as_written(value)), headings=sight.headings)
        if (says_when := self._moments.is_content(without_data(sight.use), key, value, sight.page)) is not None:
            return says_when
        return sight.page.says(readable(value), headings=sight.headings)


class _Sight(NamedTuple):
    """A copy's page, beside its original. `headings`: theirs count; `beside`: see `are_side_by_side`; `own`: numbers of its address."""

    use: str
    page: PageText
    headings: bool
    beside: bool
    own: frozenset[str]

    def is_echo(self, value: Any) -> bool:
        """Return whether a value only repeats the address.

        A number or a day by which two addresses differ is what these pages are about: "7", "Week 7", "12.03.2026". A word may be a way.
        """
        return self.page.is_addressed(value) and self.own.isdisjoint(_NUMBER.findall(str(value)))


def _own_numbers(url: str, other: str) -> frozenset[str]:
    """Return the numbers in an address that another one has not; all of them where both have the same in another order."""
    numbers, others = (_NUMBER.findall(unquote(urlsplit(one)._replace(netloc="").geturl())) for one in (url, other))
    return frozenset({*numbers} - {*others} or (numbers if numbers != others else ()))


def _directory(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[0]
