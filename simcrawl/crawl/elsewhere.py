"""Which items of a copy say what its original's items do not, so that they are not lost with it.

    page that is kept ──► its items' values and fields are remembered, as digests
    copy of it        ──► a field of its item is one that the original's items left empty
                            ──► what stands there is in its address  ──► the item is dropped, but for what follows
                            ──► else the copy is fuller              ──► all of its items come out
                      ──► its item is of a class that none of the original's is of: as above
                      ──► its item asks for a file that no item of the original does  ──► the item comes out
                      ──► a value of its item is another one than the original's
                            ──► readers of the copy's page see it,
                                or it is in its address              ──► the item is dropped
                            ──► its mark-up alone has it             ──► the item comes out
                            ──► neither: it is from elsewhere        ──► the item comes out
                        ──► the pages have the same bytes, and its values, or all of them together, are others than
                            those of the original's items, but stand on the page  ──► the callback has chosen them: the item comes out
                        ──► the pages have one text, marked up in two ways, and no item of the original has all that
                            it has in its fields: yes or no, numbers, words       ──► the item comes out, see `_of_markup`
                        ──► it says yes for no, a small number or a day for another one, the pages have one text,
                            and the callback downloads more itself   ──► the item comes out
                        ──► the pages have other texts, and a short value of its item is shown by the copy alone
                                                                     ──► the item comes out, see `simcrawl.crawl.otherwise`

A callback may ask an API for the product whose page it was given, or join what stands on several pages. Then the pages are equal and the
items are not. And it may find no price on a page for printing or for telephones, whose mark-up is another one: if that comes first, the
page that it is a view of is the copy. And it may take what no reader sees, from an attribute or a script, while two pages are copies by
what they show.

What is too short to be told from what a page says ("in stock", 3) counts only where the callback has downloaded something more itself, or
where the mark-up is another one: it is likely to be from there, for of pages with one text a spider makes one value.

Much that is on no page says nothing all the same: when and under which number a page was fetched, how long it took, long random
numbers and tokens. Such values do not count. Nor does what the request brought along, for that tells pages apart already.

In memory, and in JOBDIR, if there is one (`simcrawl.crawl.said_file`): of an original that another process has seen come out nothing is
known. Then the item is dropped, unless copies of other
originals have come out for one of its fields before: a callback that asks an API does so for each page. Of an original that gave very many
values it is not known which: then any value counts that is not on the copy's page.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from itertools import chain
from typing import TYPE_CHECKING, Any

from simcrawl.crawl.counters import Counters
from simcrawl.crawl.field_names import field_name, is_technical
from simcrawl.crawl.item_values import FILLED, LONGEST_VALUE
from simcrawl.crawl.otherwise import Otherwise
from simcrawl.crawl.reading import (
    LONGEST_HIDDEN,
    OF_MARKUP,
    TOKEN,
    URL_IN_TEXT,
    WORD,
    as_written,
    digits_of,
    is_date,
    is_long_enough,
    is_unspaced,
    readable,
    readings,
)
from simcrawl.crawl.said import Memory, Said, field_digest, file_digest, state_digest, tells_apart, value_digest
from simcrawl.page.characters import unified
from simcrawl.rule import without_data

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable

    from simcrawl.crawl.copied import Copy
    from simcrawl.crawl.item_values import ItemRead
    from simcrawl.crawl.page_text import PageText

_MOST_USES, _MOST_KEYS = 1_000, 16
# Characters of a state, and where no spaces part words.
_LONGEST_STATE, _UNSPACED_STATE = 30, 8
_ENOUGH_SHOWN = 3


class _Told:
    """The fields for which items of a callback's copies have come out."""

    def __init__(self) -> None:
        self.elsewhere, self.fuller = set[str](), set[str]()


_NOTHING_TOLD = _Told()

Known = tuple[dict[str, list[list[str]]], list[Said]]
"""By use, the fields for which items of copies have come out, from elsewhere and as fuller ones; and what is known of contents."""


class Elsewhere:
    """Compares the items of copies with what those of their originals said.

    An original is known by the URL of the page that was kept. `use`: see `simcrawl.crawl.common.Common.use_of`.
    """

    def __init__(self) -> None:
        self._memory, self._counters = Memory(), Counters()
        # How many items of a callback's copies have come out for what their pages show.
        self._otherwise, self._shown = Otherwise(self._counters), Counter[str]()
        self._told: OrderedDict[str, _Told] = OrderedDict()
        # Of which uses something was noted since somebody asked, if anybody does.
        self._told_now: set[str] | None = None
        self._download = set[str]()

    def downloads(self, callback: str) -> None:
        """Note that a callback, by its name alone, downloads more itself than the page that it is given."""
        if len(self._download) < _MOST_USES:
            self._download.add(callback)

    def note(self, url: str, use: str, item: ItemRead) -> None:
        """Remember the values of an item that has come of a content.

        Raises:
            Exception: whatever an item of the user's own raises. Then nothing is known of this content.
        """
        if not item.is_item:
            return
        self._memory.note(url, use, item)
        self._counters.note(use, item.values)
        self._otherwise.note(use, item.values)

    def find(
        self, original: str, use: str, item: ItemRead, copy: Copy, *, identical: bool, marked_up: bool = False, of_bytes: bool = False
    ) -> str | None:
        """Return the name of what an item of a copy says and no item of its original does, so that it comes out; None if there is none.

        `identical`: the copy's text is its original's. Only then do numbers from elsewhere count: two pages that differ a little may also
        count, or add up, to another one. `marked_up`: so it is, and the copy's body is another one than the original's. `of_bytes`: the
        bodies are the same.

        Raises:
            Exception: whatever an item of the user's own raises.
        """
        said, told = self._memory.of(original, use), self._told.get(use, _NOTHING_TOLD)
        if (said is None and told is _NOTHING_TOLD) or not item.is_item:
            return None
        item.read()
        values = item.values
        # Both, whatever the first one says: each learns from what it sees.
        # Of an original that gave too many to know any may be new.
        known = None if said is None else copy.knows(said.values)
        from_elsewhere = self._from_elsewhere(known, use, values, copy.page, identical=identical)
        files = item.files if known is not None else []
        from_elsewhere = from_elsewhere or next((key for key, name in files if file_digest(key, name) not in (known or ())), None)
        if identical and known and not from_elsewhere and without_data(use) in self._download:
            from_elsewhere = self._downloaded(known, use, [*values, *item.facts], copy.page)
        if said and marked_up:
            copy.is_named = copy.is_named or any(copy.page.is_named_by(value) for _, value in chain(values, item.beside))
            from_elsewhere = self._of_markup(said, use, item.by_field(), copy) or from_elsewhere
        if said and of_bytes:
            from_elsewhere = from_elsewhere or self._chosen(said, use, item, copy)
        in_sight = None if identical or from_elsewhere or said is None else self._in_sight(original, said, use, item, copy)
        # What is False fills a field of an original: a page for printing that says True there says no more.
        filled = [*values, *((key, value) for key, value in item.beside if value is not False)]
        fuller = self._fuller(said, filled, copy) if said and said.fields is not None else _fuller_as_others(told, filled, copy)
        copy.rows += item.rows if identical else 0
        longer = self._longer(said, use, values, copy, all_seen=item.all_seen) if identical and said else None
        if from_elsewhere or fuller or longer:
            self._tell(use, from_elsewhere, fuller)
        if said and (fuller or longer):
            self._memory.note_states(said, copy.number, [item.by_field()])
        return fuller or longer or from_elsewhere or in_sight

    def _tell(self, use: str, from_elsewhere: str | None, fuller: str | None) -> None:
        """Note for which fields of a callback's items a copy's have come out."""
        told = self._told.setdefault(use, _Told())
        if len(self._told) > _MOST_USES:
            self._told.popitem(last=False)
        if self._told_now is not None:
            self._told_now.add(use)
        for key, keys in ((from_elsewhere, told.elsewhere), (fuller, told.fuller)):
            if key and len(keys) < _MOST_KEYS:
                keys.add(key)

    def _from_elsewhere(
        self, known: frozenset[int] | None, use: str, values: list[tuple[str, Any]], page: PageText, *, identical: bool
    ) -> str | None:
        """Return the first field whose value is from elsewhere. `known`: None where only those of which others were may be."""
        told, found = self._told.get(use, _NOTHING_TOLD).elsewhere, None
        for key, value in values:
            # Also behind what was found: a counter is known by all of its steps.
            counts = isinstance(value, int) and self._counters.goes_on(use, key, value)
            if found or counts or not (key in told if known is None else value_digest(key, value) not in known):
                continue
            if _is_elsewhere(key, value, page, identical=identical):
                found = key
        return found

    def _downloaded(self, known: frozenset[int], use: str, values: list[tuple[str, Any]], page: PageText) -> str | None:
        """Return the first field with a short value that is another one than the original's: what the callback downloaded may say it."""
        return next((key for key, value in values if value_digest(key, value) not in known and self._is_short(use, key, value, page)), None)

    def _chosen(self, said: Said, use: str, item: ItemRead, copy: Copy) -> str | None:
        """Return a field in which an item says what none of its original's does, though it stands on both pages, whose bytes are the same.

        So the callback has chosen it by the address, such as the row of a table that the address names. Or it says in no item of the
        original all that it says *together*. From then on what the item says counts as the original's: what is chosen once more says
        nothing more.
        """
        if said.states is None:
            return None
        copy.together.read(said.states)
        found, items, fields = None, -1, item.by_field()
        for key, parts in fields.items():
            known = copy.together.items_with(state_digest(key, parts))
            if not known and not all(self._is_chosen(use, key, part, copy.page) for part in parts):
                continue
            items &= known
            if not items and found is None:
                found = key
        if found is None:
            return None
        self._memory.note_states(said, copy.number, [fields])
        self._memory.note_values(said, item.values, 0)
        return found

    def _is_chosen(self, use: str, key: str, value: Any, page: PageText) -> bool:
        """Return whether a value stands on a page, or in its mark-up, and neither in its address nor as a number of how it was fetched."""
        if value is False or value is FILLED or not _is_content(key, value, page):
            return False
        if not isinstance(value, str):
            written = as_written(value)
            digits = digits_of(written)
            is_of_fetch = is_technical(key, digits) or (isinstance(value, int) and self._counters.has(use, key))
            return not is_of_fetch and is_long_enough(digits) and page.shows_number(readings(written))
        plain = readable(value[:LONGEST_VALUE].strip())
        digits = digits_of(plain)
        says = any(map(str.isalpha, plain)) or is_long_enough(digits)
        # A day or a time that stands on the page is not when that was fetched.
        return says and not (plain.isdigit() and is_technical(key, digits)) and page.has(plain)

    def _in_sight(self, original: str, said: Said, use: str, item: ItemRead, copy: Copy) -> str | None:
        """Return a field by which an item says in sight what none of its original's does, see `simcrawl.crawl.otherwise`.

        From then on this item counts as the original's. One page of a mirror says nothing of the others: from the third item on no request
        for the callback is skipped any more.
        """
        if said.states is None:
            return None
        fields = item.by_field()
        found = self._otherwise.find(original, said.states, use, fields, copy)
        if found is not None:
            self._memory.note_states(said, copy.number, [fields])
            self._shown[without_data(use)] += 1
            if self._shown[without_data(use)] >= _ENOUGH_SHOWN:
                self._tell(use, found, None)
        return found

    def _of_markup(self, said: Said, use: str, fields: dict[str, list[Any]], copy: Copy) -> str | None:
        """Return a field by which an item of a page with its original's text says what none of the original's items does.

        What is said of the same text in another way is said by the mark-up: a place is free by its class, a box is ticked. One of the
        fields has a truth value, a number, a single word or a list of such that it has in no item of the original; or no item has all of
        them together. From then on this one counts as the original's: a copy of this page says nothing more.

        Where the items name their page, by its URL or what is in it, what they say is said of this page: then all of its items come out, if
        they are not all among those of one page.
        """
        if said.states is None:
            return None
        if copy.differs:
            self._memory.note_states(said, copy.number, [fields])
            return copy.differs
        found, items = self._unlike(use, fields, copy, said.states)
        # Also what says nothing itself: where the page differs all of its items come out.
        copy.before.append(fields)
        if items is None:
            return None
        if items != copy.items:
            copy.like, copy.items = copy.together.pages_with(items, copy.like), items
        if not (found and (not items or (copy.is_named and not copy.like))):
            return None
        if copy.is_named:
            copy.differs = found
        self._memory.note_states(said, copy.number, copy.before if copy.is_named else [fields])
        copy.before.clear()
        return found

    def _unlike(self, use: str, fields: dict[str, list[Any]], copy: Copy, states: array[int]) -> tuple[str | None, int | None]:
        """Return a field that tells an item from others, and a bit for each item of its original that has all that it has.

        There is no field where it has but texts. There are no bits either where it says nothing, or where its texts stand in none together.
        """
        copy.together.read(states)
        found, items, is_told = None, -1, False
        for key, parts in fields.items():
            says = [part for part in parts if tells_apart(key, part)]
            if not says or (len(parts) == 1 and isinstance(says[0], int) and self._counters.has(use, key)):
                continue
            is_short, known = all(map(_is_state, says)), copy.together.items_with(state_digest(key, parts))
            # A small number of the address may be one of the page, too.
            if not known and (not is_short or copy.page.is_named_by(" ".join(map(str, says)))):
                continue
            if is_short and not is_told:
                found, is_told = key, not (items & known)
            items &= known
        return found, None if items == -1 or not (items or found) else items

    def _is_of_page(self, use: str, key: str, value: Any, page: PageText) -> bool:
        """Return whether a value is one that a page may say, and no other one at each visit."""
        if not _is_content(key, value, page):
            return False
        if isinstance(value, str):
            return not (TOKEN.fullmatch(value) or is_date(value))
        return not (is_technical(key, re.sub(r"\D", "", as_written(value))) or (isinstance(value, int) and self._counters.has(use, key)))

    def _is_short(self, use: str, key: str, value: Any, page: PageText) -> bool:
        """Return whether a value is a yes or no, a day, or a number too small to be looked for on a page, that speaks of no fetch."""
        name = field_name(key)
        is_truth = value is False or value is FILLED
        if not name.of_page or (name.places if is_truth else name.counts):
            return False
        if is_truth:
            return True
        if isinstance(value, str):
            # With the time of day it says when the page was fetched.
            return is_date(value) and ":" not in value and unified(value) not in (page.text or "") and not page.is_addressed(value)
        digits = re.sub(r"\D", "", as_written(value))
        is_counter = isinstance(value, int) and self._counters.has(use, key)
        return bool(digits) and not (is_long_enough(digits) or is_counter or page.is_addressed(value))

    def _fuller(self, said: Said, values: list[tuple[str, Any]], copy: Copy) -> str | None:
        """Return a field that no item of the original has filled, and an item of this page has.

        What this page fills counts as filled from then on: a copy of it says nothing more. But all items of this one come out.
        """
        filled = said.filled()
        empty = [key for key, value in values if field_digest(key) not in filled and _is_content(key, value, copy.page)]
        if empty:
            copy.fuller = copy.fuller or empty[0]
            self._memory.note_fields(said, empty)
        return copy.fuller

    def _longer(self, said: Said, use: str, values: list[tuple[str, Any]], copy: Copy, *, all_seen: bool) -> str | None:
        """Return a field with another value, where a page of the same text lists more than its original: that was read in part.

        What the item says counts as the original's from then on. `copy.has_new` says whether it has another value, if the page should prove
        to list more only later.
        """
        known = None if said.values is None else copy.knows(said.values)
        others = ((key, value) for key, value in values if known is None or value_digest(key, value) not in known)
        key = next((key for key, value in others if self._is_of_page(use, key, value, copy.page)), None)
        # There may be others where nobody looks.
        key = key or next((key for key, _ in values if not all_seen), None)
        copy.has_new = key is not None
        if copy.rows > said.rows:
            copy.longer = copy.longer or key
        if not (copy.longer and copy.has_new):
            return None
        self._memory.note_values(said, values, copy.rows)
        return copy.longer

    def known(self) -> Known:
        """Return all that is known, for `restore`."""
        return self._told_of(self._told), self._memory.all()

    def changes(self) -> Known:
        """Return what has changed since the last call; at the first one nothing, and from then on it is noted."""
        changed, self._told_now = self._told_now, set()
        return self._told_of((changed or set()).intersection(self._told)), self._memory.changes()

    def _told_of(self, uses: Iterable[str]) -> dict[str, list[list[str]]]:
        return {use: [sorted(self._told[use].elsewhere), sorted(self._told[use].fuller)] for use in uses}

    def restore(self, told: dict[str, list[list[str]]], contents: list[Said]) -> None:
        """Know what was known in another run."""
        for use, (elsewhere, fuller) in told.items():
            self._told[use] = known = _Told()
            known.elsewhere, known.fuller = {*elsewhere}, {*fuller}
        for said in contents:
            self._memory.put(said)

    def may_lose(self, use: str) -> bool:
        """Return whether a page may give items from elsewhere if it is left out unseen: a copy has, for the same callback."""
        return use in self._told


def _is_state(value: Any) -> bool:
    """Return whether a value is a truth value, a number or a single word. Of two words it may be one of a table's rows."""
    if not isinstance(value, str) or value is FILLED:
        return True
    return len(value) <= _LONGEST_STATE and " " not in value.strip() and not is_unspaced(value[_UNSPACED_STATE:])


def _is_content(key: str, value: Any, page: PageText) -> bool:
    """Return whether what stands in a field is of the page, and not of its address or of how it was fetched."""
    return field_name(key).of_page and not page.is_addressed(value)


def _fuller_as_others(told: _Told, values: list[tuple[str, Any]], copy: Copy) -> str | None:
    """Return a field for which other copies were fuller than their originals, if an item of this page has filled it."""
    if not copy.fuller:
        copy.fuller = next((key for key, value in values if key in told.fuller and _is_content(key, value, copy.page)), None)
    return copy.fuller


def _is_elsewhere(key: str, value: Any, page: PageText, *, identical: bool) -> bool:
    """Return whether a value says what readers of a page do not see: it is in its mark-up alone, or not on it at all."""
    if not isinstance(value, str):
        return identical and _is_number_elsewhere(key, as_written(value), page)
    text = value[:LONGEST_VALUE].strip()
    is_number = not any(map(str.isalpha, text))
    if (is_number and not identical) or TOKEN.fullmatch(text) or is_date(text):
        return False
    plain = readable(URL_IN_TEXT.sub(" ", text))
    if page.text is None:
        return False
    may_be_hidden = len(plain) <= LONGEST_HIDDEN and not OF_MARKUP.fullmatch(plain)
    if plain in page.text:
        # What is but a part of a word there says nothing.
        return may_be_hidden and any(map(str.isalnum, plain)) and not is_technical(key, digits_of(plain)) and page.hides(plain)
    if is_number:
        return _is_number_elsewhere(key, plain, page)
    # A short number among words may be a counter's.
    words = {word for word in WORD.findall(plain) if not (word.isdigit() and len(word) < 3)}
    return not (page.shows_most(words) if may_be_hidden else page.has_most(words))


def _is_number_elsewhere(key: str, written: str, page: PageText) -> bool:
    digits = digits_of(written)
    if not is_long_enough(digits) or is_technical(key, digits) or page.text is None:
        return False
    return not page.shows_number(readings(written))
