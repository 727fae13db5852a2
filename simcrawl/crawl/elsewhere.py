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
                        ──► the pages have one text, marked up in two ways, and no item of the original has all that
                            it has in its fields: yes or no, numbers, words       ──► the item comes out, see `_of_markup`
                        ──► it says yes for no, a small number or a day for another one, the pages have one text,
                            and the callback downloads more itself   ──► the item comes out

A callback may ask an API for the product whose page it was given, or join what stands on several pages. Then the pages are equal and the
items are not. And it may find no price on a page for printing or for telephones, whose mark-up is another one: if that comes first, the
page that it is a view of is the copy. And it may take what no reader sees, from an attribute or a script, while two pages are copies by
what they show.

What is too short to be told from what a page says ("in stock", 3) counts only where the callback has downloaded something more itself, or
where the mark-up is another one: it is likely to be from there, for of pages with one text a spider makes one value.

Much that is on no page says nothing all the same: when and under which number a page was fetched, how long it took, long random
numbers and tokens. Such values do not count. Nor does what the request brought along, for that tells pages apart already.

In memory: of an original that this process has not seen come out nothing is known. Then the item is dropped, unless copies of other
originals have come out for one of its fields before: a callback that asks an API does so for each page. Of an original that gave very many
values it is not known which: then any value counts that is not on the copy's page.
"""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict, deque
from functools import lru_cache
from itertools import chain, starmap
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from simcrawl.crawl.field_names import field_name, is_technical
from simcrawl.crawl.item_values import FILLED, LONGEST_VALUE
from simcrawl.crawl.reading import (
    TOKEN,
    WORD,
    are_few,
    as_written,
    digits_of,
    is_date,
    is_long_enough,
    is_of_word,
    is_unspaced,
    missing_of,
    numbers_in,
    readable,
    readings,
    words_in,
)
from simcrawl.page.characters import unified
from simcrawl.page.patterns import late
from simcrawl.rule import without_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.crawl.item_values import ItemRead

_MOST_CONTENTS, _MOST_FIELDS, _MOST_USES, _MOST_KEYS, _MOST_COUNTERS = 100_000, 64, 1_000, 16, 1_000
# Of one content, and of all: four bytes each. A list may give a hundred items of twenty values.
_MOST_VALUES, _MOST_KNOWN = 4_000, 5_000_000
# Of the items of one content: what stands in their fields, field by field.
_MOST_STATES = 20_000
# The number of the original itself among the pages of its content.
_ORIGINAL = 1
# Of one copy: items that are to be remembered if a later one says something new.
_MOST_BEFORE = 1_000
_SHORTEST_TOKEN = 16
_LEAST_OF_A_SET = 3
# Characters of a state, and where no spaces part words.
_LONGEST_STATE, _UNSPACED_STATE = 30, 8
# Of what stands in mark-up alone: what is longer is a page's text, or data of a program.
_LONGEST_HIDDEN = 300
_NOT_BEHIND = "(?![a-z0-9])"
# Of one page. It is looked at on the event loop: a million characters take some 0.1 s, and most pages are a tenth of that.
_LONGEST_PAGE = 1_000_000
_TAG_IN_WORD = late(r"(?<=\w)<[^<>]*>(?=\w)")
# Bounded: a text may be one long word.
_URL_IN_TEXT = late(r"\w{1,20}://\S+")
# What mark-up has in attributes of its own, and is another one where the page has another address; and mark-up itself.
_OF_MARKUP = late(r"\S*[/?=&#\\]\S*|\S+\.[a-z][a-z\d]{1,4}|[^<>{}]*+[<>{}].*", re.DOTALL)
# So many numbers in a row that are each a little larger than the one before are a counter's.
_STEPS, _LONGEST_STEP = 5, 64


class Page:
    """What a copy says, read once, and only if somebody asks.

    `tell` returns its text, and then what else belongs to it (its URLs, what its request brought along); None where it has no text. `url`:
    its address. `fuller`: the field that its items have and its original's have not, once there was one; `longer`: that of which they have
    more. `together`: what is known of its original's items. `is_named`: whether an item said which page it is of; `before`: those that
    said nothing new yet, field by field, and `like`: the pages (by `number`) that gave all of these; `differs`: the field by which there
    is no such page. `rows`: how much its items have listed, see `ItemRead.rows`; `has_new`: whether the last one had a value of its own;
    `waiting`: what was dropped although it had; `alike`: what was dropped else of a page that may yet differ.
    """

    def __init__(self, tell: Callable[[], Iterable[str] | None], url: str = "") -> None:
        self._tell, self._url = tell, url
        self.fuller: str | None = None
        self.longer: str | None = None
        self.together, self.number = _Together(), _field(url) or 1
        self.is_named = False
        self.before = deque[dict[str, list[Any]]](maxlen=_MOST_BEFORE)
        self.like: set[int] | None = None
        # Those of its original that are like its last one, see `_Together`.
        self.items = 0
        self.differs: str | None = None
        self.rows = 0
        self.has_new = False
        self.waiting, self.alike = list[Any](), list[Any]()
        self._text: str | None = None
        # The page itself, and what else belongs to it.
        self._source = self._beside = ""
        self._pieces: list[str] | None = None
        self._shown = list[str]()
        self._known = frozenset[int]()
        self._known_values: array[int] | None = None
        self._of_url: set[str] | None = None
        self._is_read = False
        self._words: set[str] | None = None
        self._joined: set[str] | None = None
        self._joined_text = ""
        # Of what readers see, part by part.
        self._seen_words, self._numbers = list[set[str]](), list[set[str]]()

    @property
    def text(self) -> str | None:
        """All of it as it is read, mark-up included, see `readable`; None where nothing can be said of it."""
        if not self._is_read:
            self._is_read = True
            told = list(self._tell() or ())
            if told and sum(map(len, told)) <= _LONGEST_PAGE:
                self._source, self._beside = told[0], "\n".join(map(readable, [*told[1:], self._url]))
                self._text = f"{readable(told[0])}\n{self._beside}"
        return self._text

    def is_addressed(self, value: Any) -> bool:
        """Return whether all of a value is in its address: the session, or the number of the page."""
        if self._of_url is None:
            self._of_url = set(WORD.findall(unified(unquote(self._url))))
        return self._of_url.issuperset(WORD.findall(unified(str(value))))

    def is_named_by(self, value: Any) -> bool:
        """Return whether a value tells by its address which page it is: its URL, or a part of that."""
        if value is False or value is FILLED or len(written := str(value)) > _LONGEST_HIDDEN:
            return False
        written = unquote(written)
        return bool(WORD.search(written)) and self.is_addressed(written)

    def take_left(self) -> list[Any]:
        """Return what was dropped before the page proved to list more than its original, or to say something else: then it is all."""
        items = list[Any]()
        if self.longer or self.differs:
            items, self.waiting = self.waiting, items
        if self.differs:
            items, self.alike = [*self.alike, *items], []
        return items

    def has_most(self, words: set[str]) -> bool:
        """Return whether half of some words, in lower case, or more are on it; of few words all, but for those with digits.

        Of a name of two words one may stand on any page. What has digits may be a counter's.
        """
        text = self.text or ""
        if self._words is None:
            self._words = words_in(text)
        missing = missing_of(words, self._words, text)
        if not are_few(missing, words):
            missing = missing_of(missing, self._of_joined(), self._joined_text)
        return are_few(missing, words)

    def _of_joined(self) -> set[str]:
        """Return its words where those count as one that a tag divides."""
        if self._joined is None:
            self._joined_text = _TAG_IN_WORD.sub("", self.text or "")
            self._joined = words_in(self._joined_text)
        return self._joined

    def shows_most(self, words: set[str]) -> bool:
        """Return what `has_most` does, of what readers see."""
        missing = words
        for place, text in enumerate(self._seen()):
            if place == len(self._seen_words):
                self._seen_words.append(words_in(text))
            missing = missing_of(missing, self._seen_words[place], text)
            if are_few(missing, words):
                return True
        return False

    def hides(self, value: str) -> bool:
        """Return whether a text, as `readable` has it, is on it, and only where no reader sees it: in attributes, comments, scripts."""
        written = re.escape(value)
        # What stands before it is looked at from its end: only a pattern that begins with letters is found at the speed of memory.
        before = rf"(?<![a-z0-9]{written})" if is_of_word(value[:1]) else ""
        whole = re.compile(f"{written}{_NOT_BEHIND * is_of_word(value[-1:])}{before}")
        if not whole.search(self.text or "") or any(map(whole.search, self._seen())):
            return False
        return not (is_long_enough(digits_of(value)) and self.shows_number(readings(value)))

    def shows_number(self, readings: set[str]) -> bool:
        """Return whether a number is among those that readers see, however these are written. `readings`: see `readings`."""
        for place, text in enumerate(self._seen()):
            if place == len(self._numbers):
                self._numbers.append(numbers_in(text))
            if not readings.isdisjoint(self._numbers[place]):
                return True
        return False

    def _seen(self) -> Iterator[str]:
        """Give what readers see of it: what else belongs to it, then its own text with a space for each tag, and without one."""
        if self._pieces is None:
            text = self.text
            # Loaded on first use: few copies have items with a value of their own.
            from simcrawl.page.extraction import shown_texts  # noqa: PLC0415

            self._pieces = [] if text is None else shown_texts(self._source)
            self._shown = [self._beside, readable(" ".join(self._pieces))]
        yield from self._shown[:2]
        if len(self._shown) == 2:
            self._shown.append(readable("".join(self._pieces)))
        yield self._shown[2]

    def knows(self, values: array[int] | None) -> frozenset[int]:
        """Return digests of an original's values as a set: it is made anew only where there are more of them."""
        if values is not self._known_values or len(values or ()) > len(self._known):
            self._known, self._known_values = frozenset(values or ()), values
        return self._known


class _Said:
    """What is known of a content's items: digests of their values and of the fields that have any; None: too many, or not sure.

    `rows`: how much they have listed, see `ItemRead.rows`. `states`: of each item the number of its page, a digest of what stands in each
    of its fields, and a 0; None: too many.
    """

    __slots__ = ("fields", "rows", "states", "values")

    def __init__(self) -> None:
        self.rows = 0
        # Of four bytes each, since there may be many. Most contents share their fields.
        self.values: array[int] | None = array("I")
        self.fields: bytes | None = b""
        self.states: array[int] | None = array("I")

    def size(self) -> int:
        """Return how many digests it holds."""
        return len(self.values or ()) + len(self.states or ())


class _Together:
    """Which fields of a content's items are filled with what in one item, and which items came of one page; see `_Said.states`."""

    def __init__(self) -> None:
        # A bit for each item.
        self._bits, self._pages = dict[int, int](), dict[int, int]()
        self._item, self._read = 1, 0
        self._of: array[int] | None = None

    def read(self, states: array[int]) -> None:
        """Read on where the last call has ended: the states of a content only grow, unless it was forgotten meanwhile."""
        if states is not self._of:
            self._bits, self._pages, self._item, self._read, self._of = {}, {}, 1, 0, states
        bits, item, begins = self._bits, self._item, True
        for digest in states[self._read :]:
            if digest:
                of = self._pages if begins else bits
                of[digest] = of.get(digest, 0) | item
            else:
                item <<= 1
            begins = not digest
        self._item, self._read = item, len(states)

    def items_with(self, digest: int) -> int:
        """Return a bit for each item that has a field so filled."""
        return self._bits.get(digest, 0)

    def pages_with(self, items: int, among: set[int] | None) -> set[int]:
        """Return the pages of some of which one of these items came, among some pages; None: among all."""
        return {page for page in (self._pages if among is None else among) if self._pages.get(page, 0) & items}


class _Told:
    """The fields for which items of a callback's copies have come out."""

    def __init__(self) -> None:
        self.elsewhere, self.fuller = set[str](), set[str]()


_NOTHING_TOLD = _Told()


class Elsewhere:
    """What the items of which content said, by the URL of the page that was kept. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self) -> None:
        # The older half is forgotten when the other one is full.
        self._said, self._older = dict[int, _Said](), dict[int, _Said]()
        self._kinds: dict[bytes, bytes] = {}
        # Values of the younger half.
        self._held = 0
        self._told: OrderedDict[str, _Told] = OrderedDict()
        self._counters: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()
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
        said = self._open(_content(use, url))
        known, fields = said.values, said.fields
        states, before = said.states, said.size()
        # Until all of it is seen.
        said.values = said.fields = said.states = None
        item.read()
        # Of an item that is too large the same places are looked at each time.
        self._fill(said, fields if item.all_seen else None, dict(chain(item.values, item.beside)))
        for key, value in item.values:
            if isinstance(value, int):
                self._is_counter(use, key, value)
        # Whether the callback downloads more may be known only later.
        said.values = _with(known, starmap(_digest, chain(item.values, item.files, item.facts)))
        said.rows += item.rows
        said.states = _with_item(states, _ORIGINAL, item.by_field())
        self._held += said.size() - before

    def _of(self, content: int) -> _Said | None:
        return self._said.get(content) or self._older.get(content)

    def _open(self, content: int) -> _Said:
        if (said := self._said.get(content)) is None:
            said = self._older.get(content) or _Said()
            if len(self._said) >= _MOST_CONTENTS // 2 or self._held >= _MOST_KNOWN // 2:
                self._older, self._said, self._kinds, self._held = self._said, {}, {}, 0
            self._said[content] = said
            self._held += said.size()
        return said

    def _fill(self, said: _Said, known: bytes | None, keys: Iterable[str]) -> None:
        """Note that fields are filled, beside those that are known to be."""
        if known is not None:
            packed = _filled(known, tuple(keys))
            said.fields = None if packed is None else self._kinds.setdefault(packed, packed)

    def find(self, original: str, use: str, item: ItemRead, page: Page, *, identical: bool, marked_up: bool = False) -> str | None:
        """Return the name of what an item of a copy says and no item of its original does, so that it comes out; None if there is none.

        `identical`: the copy's text is its original's. Only then do numbers from elsewhere count: two pages that differ a little may also
        count, or add up, to another one. `marked_up`: so it is, and the copy's body is another one than the original's.

        Raises:
            Exception: whatever an item of the user's own raises.
        """
        said, told = self._of(_content(use, original)), self._told.get(use, _NOTHING_TOLD)
        if (said is None and told is _NOTHING_TOLD) or not item.is_item:
            return None
        item.read()
        values = item.values
        # Both, whatever the first one says: each learns from what it sees.
        # Of an original that gave too many to know any may be new.
        known = None if said is None else page.knows(said.values)
        from_elsewhere = self._from_elsewhere(known, use, values, page, identical=identical)
        files = item.files if known is not None else []
        from_elsewhere = from_elsewhere or next((key for key, name in files if _digest(key, name) not in (known or ())), None)
        if identical and known and not from_elsewhere and without_data(use) in self._download:
            from_elsewhere = self._downloaded(known, use, [*values, *item.facts], page)
        if marked_up and said:
            page.is_named = page.is_named or any(page.is_named_by(value) for _, value in chain(values, item.beside))
            from_elsewhere = self._of_markup(said, use, item.by_field(), page) or from_elsewhere
        # What is False fills a field of an original: a page for printing that says True there says no more.
        filled = [*values, *((key, value) for key, value in item.beside if value is not False)]
        fuller = self._fuller(said, filled, page) if said and said.fields is not None else _fuller_as_others(told, filled, page)
        page.rows += item.rows if identical else 0
        longer = self._longer(said, use, values, page, all_seen=item.all_seen) if identical and said else None
        if from_elsewhere or fuller or longer:
            self._tell(use, from_elsewhere, fuller)
        if said and (fuller or longer):
            self._note_states(said, page, [item.by_field()])
        return fuller or longer or from_elsewhere

    def _tell(self, use: str, from_elsewhere: str | None, fuller: str | None) -> None:
        """Note for which fields of a callback's items a copy's have come out."""
        told = self._told.setdefault(use, _Told())
        if len(self._told) > _MOST_USES:
            self._told.popitem(last=False)
        for key, keys in ((from_elsewhere, told.elsewhere), (fuller, told.fuller)):
            if key and len(keys) < _MOST_KEYS:
                keys.add(key)

    def _from_elsewhere(
        self, known: frozenset[int] | None, use: str, values: list[tuple[str, Any]], page: Page, *, identical: bool
    ) -> str | None:
        """Return the first field whose value is from elsewhere. `known`: None where only those of which others were may be."""
        told, found = self._told.get(use, _NOTHING_TOLD).elsewhere, None
        for key, value in values:
            # Also behind what was found: a counter is known by all of its steps.
            counts = isinstance(value, int) and self._is_counter(use, key, value)
            if found or counts or not (key in told if known is None else _digest(key, value) not in known):
                continue
            if _is_elsewhere(key, value, page, identical=identical):
                found = key
        return found

    def _downloaded(self, known: frozenset[int], use: str, values: list[tuple[str, Any]], page: Page) -> str | None:
        """Return the first field with a short value that is another one than the original's: what the callback downloaded may say it."""
        return next((key for key, value in values if _digest(key, value) not in known and self._is_short(use, key, value, page)), None)

    def _of_markup(self, said: _Said, use: str, fields: dict[str, list[Any]], page: Page) -> str | None:
        """Return a field by which an item of a page with its original's text says what none of the original's items does.

        What is said of the same text in another way is said by the mark-up: a place is free by its class, a box is ticked. One of the
        fields has a truth value, a number, a single word or a list of such that it has in no item of the original; or no item has all of
        them together. From then on this one counts as the original's: a copy of this page says nothing more.

        Where the items name their page, by its URL or what is in it, what they say is said of this page: then all of its items come out, if
        they are not all among those of one page.
        """
        if said.states is None:
            return None
        if page.differs:
            self._note_states(said, page, [fields])
            return page.differs
        found, items = self._unlike(use, fields, page, said.states)
        # Also what says nothing itself: where the page differs all of its items come out.
        page.before.append(fields)
        if items is None:
            return None
        if items != page.items:
            page.like, page.items = page.together.pages_with(items, page.like), items
        if not (found and (not items or (page.is_named and not page.like))):
            return None
        if page.is_named:
            page.differs = found
        self._note_states(said, page, page.before if page.is_named else [fields])
        page.before.clear()
        return found

    def _unlike(self, use: str, fields: dict[str, list[Any]], page: Page, states: array[int]) -> tuple[str | None, int | None]:
        """Return a field that tells an item from others, and a bit for each item of its original that has all that it has.

        There is no field where it has but texts. There are no bits either where it says nothing, or where its texts stand in none together.
        """
        page.together.read(states)
        found, items, is_told = None, -1, False
        for key, parts in fields.items():
            says = [part for part in parts if _says(key, part)]
            if not says or (len(parts) == 1 and isinstance(says[0], int) and self._is_counted(use, key)):
                continue
            is_short, known = all(map(_is_state, says)), page.together.items_with(_state(key, parts))
            # A small number of the address may be one of the page, too.
            if not known and (not is_short or page.is_named_by(" ".join(map(str, says)))):
                continue
            if is_short and not is_told:
                found, is_told = key, not (items & known)
            items &= known
        return found, None if items == -1 or not (items or found) else items

    def _note_states(self, said: _Said, page: Page, items: Iterable[dict[str, list[Any]]]) -> None:
        """Remember items of a copy as its original's, if there is room: without it those of another copy of it come out."""
        before = said.size()
        for fields in items:
            if said.states is not None and len(said.states) + len(fields) < _MOST_STATES - 1:
                said.states = _with_item(said.states, page.number, fields)
        self._held += said.size() - before

    def _is_of_page(self, use: str, key: str, value: Any, page: Page) -> bool:
        """Return whether a value is one that a page may say, and no other one at each visit."""
        if not _is_content(key, value, page):
            return False
        if isinstance(value, str):
            return not (TOKEN.fullmatch(value) or is_date(value))
        return not (is_technical(key, re.sub(r"\D", "", as_written(value))) or (isinstance(value, int) and self._is_counted(use, key)))

    def _is_counted(self, use: str, key: str) -> bool:
        return self._counters.get((use, key), (0, 0))[1] >= _STEPS

    def _is_short(self, use: str, key: str, value: Any, page: Page) -> bool:
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
        is_counter = isinstance(value, int) and self._is_counted(use, key)
        return bool(digits) and not (is_long_enough(digits) or is_counter or page.is_addressed(value))

    def _fuller(self, said: _Said, values: list[tuple[str, Any]], page: Page) -> str | None:
        """Return a field that no item of the original has filled, and an item of this page has.

        What this page fills counts as filled from then on: a copy of it says nothing more. But all items of this one come out.
        """
        known = said.fields or b""
        filled = {*array("I", known)}
        empty = [key for key, value in values if _field(key) not in filled and _is_content(key, value, page)]
        if empty:
            page.fuller = page.fuller or empty[0]
            self._fill(said, known, empty)
        return page.fuller

    def _longer(self, said: _Said, use: str, values: list[tuple[str, Any]], page: Page, *, all_seen: bool) -> str | None:
        """Return a field with another value, where a page of the same text lists more than its original: that was read in part.

        What the item says counts as the original's from then on. `page.has_new` says whether it has another value, if the page should prove
        to list more only later.
        """
        known = None if said.values is None else page.knows(said.values)
        others = ((key, value) for key, value in values if known is None or _digest(key, value) not in known)
        key = next((key for key, value in others if self._is_of_page(use, key, value, page)), None)
        # There may be others where nobody looks.
        key = key or next((key for key, _ in values if not all_seen), None)
        page.has_new = key is not None
        if page.rows > said.rows:
            page.longer = page.longer or key
        if not (page.longer and page.has_new):
            return None
        before = said.size()
        said.values, said.rows = _with(said.values, starmap(_digest, values)), max(said.rows, page.rows)
        self._held += said.size() - before
        return page.longer

    def may_lose(self, use: str) -> bool:
        """Return whether a page may give items from elsewhere if it is left out unseen: a copy has, for the same callback."""
        return use in self._told

    def _is_counter(self, use: str, key: str, number: int) -> bool:
        """Return whether a number is a counter's, by those that came before it."""
        last, steps = self._counters.pop((use, key), (number, 0))
        steps = steps + 1 if 0 < number - last <= _LONGEST_STEP else 0
        self._counters[use, key] = number, steps
        if len(self._counters) > _MOST_COUNTERS:
            self._counters.popitem(last=False)
        return steps >= _STEPS


def _state(key: str, parts: list[Any]) -> int:
    """Return a digest, never 0, of what a field is filled with: of a list of all that says something, in its order.

    Of words of which each is another one, such as tags, the order says nothing.
    """
    if len(parts) == 1:
        return _digest(key, parts[0]) or 1
    says = [part for part in parts if _says(key, part)]
    if len(says) >= _LEAST_OF_A_SET and len(says) == len({*says}) and all(isinstance(part, str) and part is not FILLED for part in says):
        says.sort()
    return _digest(key, "\0".join(map(str, says))) or 1


def _says(key: str, value: Any) -> bool:
    """Return whether what a field is filled with says something of a page, and is short enough to be told apart by."""
    name = field_name(key)
    if not name.of_page:
        return False
    if value is False or value is FILLED:
        return not name.places
    if not isinstance(value, str):
        digits = digits_of(as_written(value))
        return bool(digits) and not is_technical(key, digits)
    if len(value) > _LONGEST_HIDDEN or (value.isascii() and value.isalpha() and len(value) < _SHORTEST_TOKEN):
        return len(value) <= _LONGEST_HIDDEN
    if is_technical(key, digits_of(value)) or TOKEN.fullmatch(value) or _OF_MARKUP.fullmatch(value) or _URL_IN_TEXT.search(value):
        return False
    return not (":" in value and is_date(value))


def _is_state(value: Any) -> bool:
    """Return whether a value is a truth value, a number or a single word. Of two words it may be one of a table's rows."""
    if not isinstance(value, str) or value is FILLED:
        return True
    return len(value) <= _LONGEST_STATE and " " not in value.strip() and not is_unspaced(value[_UNSPACED_STATE:])


def _with_item(known: array[int] | None, page: int, fields: dict[str, list[Any]]) -> array[int] | None:
    """Return what is known of items, and what stands in the fields of another one; None where that is too much. `page`: its number."""
    if known is None:
        return None
    known.extend([page, *starmap(_state, fields.items()), 0])
    return known if len(known) <= _MOST_STATES else None


def _with(known: array[int] | None, digests: Iterable[int]) -> array[int] | None:
    """Return known digests and others; None where these are too many."""
    if known is None:
        return None
    known.extend({*digests}.difference(known))
    return known if len(known) <= _MOST_VALUES else None


def _is_content(key: str, value: Any, page: Page) -> bool:
    """Return whether what stands in a field is of the page, and not of its address or of how it was fetched."""
    return field_name(key).of_page and not page.is_addressed(value)


def _fuller_as_others(told: _Told, values: list[tuple[str, Any]], page: Page) -> str | None:
    """Return a field for which other copies were fuller than their originals, if an item of this page has filled it."""
    if not page.fuller:
        page.fuller = next((key for key, value in values if key in told.fuller and _is_content(key, value, page)), None)
    return page.fuller


# The items of a callback have the same fields, mostly.
@lru_cache(maxsize=256)
def _filled(known: bytes, keys: tuple[str, ...]) -> bytes | None:
    """Return known fields and others; None where these are too many."""
    fields = {*array("I", known), *(_field(key) for key in keys if not field_name(key).made_up)}
    return array("I", sorted(fields)).tobytes() if len(fields) <= _MOST_FIELDS else None


def _content(use: str, url: str) -> int:
    return xxh3_64_intdigest(f"{use}\0{url}".encode("utf-8", "surrogatepass"))


def _field(key: str) -> int:
    return xxh32_intdigest(key.encode("utf-8", "surrogatepass"))


def _digest(key: str, value: Any) -> int:
    # Four bytes are enough: each is looked for among the few of one content.
    return xxh32_intdigest(f"{key}\0{value}".encode("utf-8", "surrogatepass"))


def _is_elsewhere(key: str, value: Any, page: Page, *, identical: bool) -> bool:
    """Return whether a value says what readers of a page do not see: it is in its mark-up alone, or not on it at all."""
    if not isinstance(value, str):
        return identical and _is_number_elsewhere(key, as_written(value), page)
    text = value[:LONGEST_VALUE].strip()
    is_number = not any(map(str.isalpha, text))
    if (is_number and not identical) or TOKEN.fullmatch(text) or is_date(text):
        return False
    plain = readable(_URL_IN_TEXT.sub(" ", text))
    if page.text is None:
        return False
    may_be_hidden = len(plain) <= _LONGEST_HIDDEN and not _OF_MARKUP.fullmatch(plain)
    if plain in page.text:
        # What is but a part of a word there says nothing.
        return may_be_hidden and any(map(str.isalnum, plain)) and not is_technical(key, digits_of(plain)) and page.hides(plain)
    if is_number:
        return _is_number_elsewhere(key, plain, page)
    # A short number among words may be a counter's.
    words = {word for word in WORD.findall(plain) if not (word.isdigit() and len(word) < 3)}
    return not (page.shows_most(words) if may_be_hidden else page.has_most(words))


def _is_number_elsewhere(key: str, written: str, page: Page) -> bool:
    digits = digits_of(written)
    if not is_long_enough(digits) or is_technical(key, digits) or page.text is None:
        return False
    return not page.shows_number(readings(written))
