"""What the items of which content said, as digests: their values, which fields they fill, and what stands in these together.

    values   of all items of a content in one, whichever item has them      ──► a copy's value is another one
    fields   that any item has filled                                       ──► a copy's is one that was left empty
    rows     how much they have listed                                      ──► a copy lists more
    states   item by item, field by field, with the page that it came of    ──► a copy's item is like none

In memory, and bounded: of a content that gave very much it is not known what. The contents that nobody asked for longest are forgotten.
For a crawl that may be resumed: `simcrawl.crawl.said_file`.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from functools import lru_cache
from itertools import chain, starmap
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from simcrawl.crawl.field_names import field_name, is_technical
from simcrawl.crawl.item_values import FILLED, LONGEST_VALUE
from simcrawl.crawl.reading import LONGEST_HIDDEN, OF_MARKUP, TOKEN, URL_IN_TEXT, as_written, digits_of, is_date, numbers_beside, readable
from simcrawl.crawl.written import one_form
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.crawl.item_values import ItemRead

_MOST_CONTENTS, _MOST_FIELDS = 100_000, 64
# Of one content, and of all: four bytes each. A list may give a hundred items of twenty values.
_MOST_VALUES, _MOST_KNOWN = 4_000, 5_000_000
# Of the items of one content: what stands in their fields, field by field.
_MOST_STATES = 20_000
# Past so many of these, numbers in long texts are left out: they must not take the room of what stands in fields.
_MOST_WITH_NUMBERS = 5_000
# Contents whose values are at hand as a set: those of the pages that are being parsed. Some 300 kB each at most.
_MOST_SETS = 16
# The number of the original itself among the pages of its content.
_ORIGINAL = 1
_SHORTEST_TOKEN = 16
_LEAST_OF_A_SET = 3
NUMBERS_LEFT_OUT = 1
"""Stands for the numbers in long texts of an item, where these are too many."""
LONGEST_SHORT = 100
"""Characters of a value that is short."""
_DIGIT = late(r"\d")


class Said:
    """What is known of a content's items: digests of their values and of the fields that have any; None: too many, or not sure.

    `rows`: how much they have listed, see `ItemRead.rows`. `states`: of each item the number of its page, a digest of what stands in each
    of its fields, those of the numbers in long texts or `NUMBERS_LEFT_OUT`, and a 0; None: too many. `content`: its number.
    """

    __slots__ = ("content", "fields", "rows", "states", "values")

    def __init__(self, content: int) -> None:
        self.content, self.rows = content, 0
        # Of four bytes each, since there may be many. Most contents share their fields.
        self.values: array[int] | None = array("I")
        self.fields: bytes | None = b""
        self.states: array[int] | None = array("I")

    def size(self) -> int:
        """Return how many digests it holds."""
        return len(self.values or ()) + len(self.states or ())

    def filled(self) -> set[int]:
        """Return digests of the fields that are known to have values, see `field_digest`."""
        return {*array("I", self.fields or b"")}


class Together:
    """Which fields of a content's items are filled with what in one item, and which items came of one page; see `Said.states`."""

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


class Memory:
    """What is known of which content, by the URL of the page that was kept. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self) -> None:
        # What has changed since somebody asked, if anybody does.
        self._changed: dict[int, Said] | None = None
        # The older half is forgotten when the other one is full.
        self._said, self._older = dict[int, Said](), dict[int, Said]()
        self._kinds: dict[bytes, bytes] = {}
        # Values of the younger half.
        self._held = 0
        # By the identities of the arrays: held, so that these stay unique.
        self._sets: OrderedDict[int, tuple[array[int], set[int]]] = OrderedDict()

    def of(self, url: str, use: str) -> Said | None:
        """Return what is known of the items of a content; None where none has come."""
        content = _content(use, url)
        return self._said.get(content) or self._older.get(content)

    def note(self, url: str, use: str, item: ItemRead) -> None:
        """Remember what an item says that has come of a content.

        Raises:
            Exception: whatever an item of the user's own raises. Then nothing is known of this content.
        """
        said = self._open(_content(use, url))
        self._note_change(said)
        known, fields = said.values, said.fields
        states, before = said.states, said.size()
        # Until all of it is seen.
        said.values = said.fields = said.states = None
        item.read()
        # Of an item that is too large the same places are looked at each time.
        self._fill(said, fields if item.all_seen else None, dict(chain(item.values, item.beside)))
        # Whether the callback downloads more may be known only later.
        said.values = self._with(known, chain(starmap(value_digest, chain(item.values, item.facts)), starmap(file_digest, item.files)))
        said.rows += item.rows
        said.states = _with_item(states, _ORIGINAL, item.by_field())
        self._held += said.size() - before

    def note_fields(self, said: Said, keys: Iterable[str]) -> None:
        """Remember that a copy has filled fields, as if its original had."""
        self._fill(said, said.fields, keys)
        self._note_change(said)

    def note_values(self, said: Said, values: Iterable[tuple[str, Any]], rows: int) -> None:
        """Remember what an item of a copy says as its original's, and how much the copy has listed, if that is more."""
        before = said.size()
        said.values, said.rows = self._with(said.values, starmap(value_digest, values)), max(said.rows, rows)
        self._held += said.size() - before
        self._note_change(said)

    def note_states(self, said: Said, page: int, items: Iterable[dict[str, list[Any]]]) -> None:
        """Remember items of a copy, field by field, as its original's, if there is room. `page`: the number of the copy.

        Without it those of another copy of it come out.
        """
        before = said.size()
        for fields in items:
            if said.states is None:
                break
            digests = _digests(page, fields, len(said.states))
            if len(said.states) + len(digests) <= _MOST_STATES:
                said.states.extend(digests)
        self._held += said.size() - before
        self._note_change(said)

    def all(self) -> list[Said]:
        """Return all contents that are known, in the order in which they are forgotten."""
        return [*(said for content, said in self._older.items() if content not in self._said), *self._said.values()]

    def changes(self) -> list[Said]:
        """Return the contents that have changed since the last call; at the first one none, and from then on they are noted."""
        changed, self._changed = self._changed, {}
        return [*(changed or {}).values()]

    def put(self, said: Said) -> None:
        """Remember what is known of a content."""
        if len(self._said) >= _MOST_CONTENTS // 2 or self._held >= _MOST_KNOWN // 2:
            self._older, self._said, self._kinds, self._held = self._said, {}, {}, 0
        if said.fields is not None:
            said.fields = self._kinds.setdefault(said.fields, said.fields)
        self._said[said.content] = said
        self._held += said.size()

    def _open(self, content: int) -> Said:
        if (said := self._said.get(content)) is None:
            said = self._older.get(content) or Said(content)
            self.put(said)
        return said

    def _note_change(self, said: Said) -> None:
        if self._changed is not None:
            self._changed[said.content] = said

    def _fill(self, said: Said, known: bytes | None, keys: Iterable[str]) -> None:
        """Note that fields are filled, beside those that are known to be."""
        if known is not None:
            packed = _filled(known, tuple(keys))
            said.fields = None if packed is None else self._kinds.setdefault(packed, packed)

    def _with(self, known: array[int] | None, digests: Iterable[int]) -> array[int] | None:
        """Return known digests and others; None where these are too many."""
        if known is None:
            return None
        # The items of a page come together: its set is not made anew for each of them.
        distinct = self._sets.pop(id(known))[1] if id(known) in self._sets else {*known}
        new = {*digests} - distinct
        known.extend(new)
        if len(known) > _MOST_VALUES:
            return None
        distinct |= new
        self._sets[id(known)] = known, distinct
        if len(self._sets) > _MOST_SETS:
            self._sets.popitem(last=False)
        return known


def page_number(url: str) -> int:
    """Return the number of a copy among the pages of its content, never 0."""
    return field_digest(url) or 1


def state_digest(key: str, parts: list[Any]) -> int:
    """Return a digest, never 0, of what a field is filled with: of a list of all that says something, in its order.

    Of words of which each is another one, such as tags, the order says nothing.
    """
    if len(parts) == 1:
        return value_digest(key, parts[0]) or 1
    says = [_in_one_form(key, part) for part in parts if tells_apart(key, part) or _says_when(part)]
    if len(says) >= _LEAST_OF_A_SET and len(says) == len({*says}) and all(isinstance(part, str) and part is not FILLED for part in says):
        says.sort()
    return _digest(key, "\0".join(map(str, says))) or 1


def _says_when(value: Any) -> bool:
    """Return whether a value is a day or a time: a list may be of nothing else."""
    return isinstance(value, str) and value is not FILLED and is_date(value)


def tells_apart(key: str, value: Any) -> bool:
    """Return whether what a field is filled with says something of a page, and is short enough to be told apart by."""
    name = field_name(key)
    if not name.of_page:
        return False
    if value is False or value is FILLED:
        return not name.places
    if not isinstance(value, str):
        digits = digits_of(as_written(value))
        return bool(digits) and not is_technical(key, digits)
    if len(value) > LONGEST_HIDDEN or (value.isascii() and value.isalpha() and len(value) < _SHORTEST_TOKEN):
        return len(value) <= LONGEST_HIDDEN
    if is_technical(key, digits_of(value)) or TOKEN.fullmatch(value) or OF_MARKUP.fullmatch(value) or URL_IN_TEXT.search(value):
        return False
    return not (":" in value and is_date(value))


def field_digest(key: str) -> int:
    """Return a digest of a field's name."""
    return xxh32_intdigest(key.encode("utf-8", "surrogatepass"))


def value_digest(key: str, value: Any) -> int:
    """Return a digest of a value under its name, whichever way it is written there."""
    return _digest(key, _in_one_form(key, value))


def file_digest(key: str, name: str) -> int:
    """Return a digest of what a file is called that an item asks for in a field."""
    return _digest(key, name)


def _in_one_form(key: str, value: Any) -> Any:
    return one_form(key, value) if isinstance(value, str) and value is not FILLED else value


def _digest(key: str, value: Any) -> int:
    # Four bytes are enough: each is looked for among the few of one content.
    return xxh32_intdigest(f"{key}\0{value}".encode("utf-8", "surrogatepass"))


def long_numbers(value: Any) -> set[str]:
    """Return the numbers of a long text with the words beside them, see `numbers_beside`; none of anything else."""
    if not isinstance(value, str) or len(value) <= LONGEST_SHORT or not _DIGIT.search(value):
        return set()
    return numbers_beside(readable(value[:LONGEST_VALUE]))


def number_digest(key: str, number: str) -> int:
    """Return a digest, never 0, of a number in a long text."""
    return _digest(f"{key}\0number", number) or 1


def _content(use: str, url: str) -> int:
    return xxh3_64_intdigest(f"{use}\0{url}".encode("utf-8", "surrogatepass"))


def _digests(page: int, fields: dict[str, list[Any]], known: int) -> list[int]:
    """Return what is remembered of an item, see `Said.states`. `known`: how many of these there are already."""
    numbers = [number_digest(key, number) for key, parts in fields.items() for part in parts for number in long_numbers(part)]
    if numbers and known + len(numbers) > _MOST_WITH_NUMBERS:
        numbers = [NUMBERS_LEFT_OUT]
    return [page, *starmap(state_digest, fields.items()), *numbers, 0]


def _with_item(known: array[int] | None, page: int, fields: dict[str, list[Any]]) -> array[int] | None:
    """Return what is known of items, and what stands in the fields of another one; None where that is too much. `page`: its number."""
    if known is None:
        return None
    known.extend(_digests(page, fields, len(known)))
    return known if len(known) <= _MOST_STATES else None


# The items of a callback have the same fields, mostly.
@lru_cache(maxsize=256)
def _filled(known: bytes, keys: tuple[str, ...]) -> bytes | None:
    """Return known fields and others; None where these are too many."""
    fields = {*array("I", known), *(field_digest(key) for key in keys if not field_name(key).made_up)}
    return array("I", sorted(fields)).tobytes() if len(fields) <= _MOST_FIELDS else None
