"""What an item holds: its values, each with the names under which it stands, its lists, and the files that it asks for."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from simcrawl.crawl.reading import as_written
from simcrawl.page.pictures import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from itemadapter import ItemAdapter

# Of one item: places that are looked at, and characters of one value.
_MOST_LOOKED_AT, LONGEST_VALUE = 200, 20_000
_NUMBERS, _BYTES, _LISTS = (int, float, Decimal), (bytes, bytearray), (list, tuple, set, frozenset)
# What is no item, whatever libraries there are: not each of these is to be shown to all of them.
_NO_ITEMS = frozenset((str, bool, type(None), *_NUMBERS, *_BYTES, *_LISTS))
# What stands for values that are looked at no further. No address has these words: "/offers/1" may have an `Offer`.
FILLED = "this field is filled"


class ItemRead:
    """What an item says, read once for all that ask.

    All of it is read at the first call of `read`. From then on it is what the item said then, whatever a pipeline does with the item. That
    is not held any longer, but its texts are.

    `values`: its texts and numbers, and `beside` what else fills its
    fields, see `values_in`, after its class; `all_seen`: whether these are all. `facts`: of `beside` what is true or false, days, and of
    whatever else there is that it is there, but no URLs. `files`: what the files are called that it asks for, each with its field. `rows`:
    how much it lists.
    """

    __slots__ = ("_fields_of_files", "_is_item", "_item", "all_seen", "beside", "facts", "files", "rows", "values")

    def __init__(self, item: Any, fields_of_files: Iterable[str] = ()) -> None:
        """Take an item, and the names of fields that hold addresses of files to be downloaded."""
        self._fields_of_files = fields_of_files
        self._item = item
        self._is_item: bool | None = None

    @property
    def is_item(self) -> bool:
        """Whether it is one: of what is none nothing can be read.

        Raises:
            Exception: whatever an object of the user's own raises that is asked.
        """
        if self._is_item is None:
            self._is_item = is_item(self._item)
        return self._is_item

    def read(self) -> None:
        """Read it, unless that is done, or there is no item.

        Raises:
            Exception: whatever an item of the user's own raises. Then it is read anew for the next one that asks.
        """
        item = self._item
        if item is None or not self.is_item:
            return
        named = item if isinstance(item, dict) else _adapter()(item)
        self.beside = _class_of(item)
        self.values, self.all_seen = values_in(item, self.beside)
        self.facts = [(key, value) for key, value in self.beside if value is False or value is FILLED or not _is_url(value)]
        self.files = _files_in(named, self._fields_of_files)
        self.rows = _rows_of(named.values())
        self._item = None

    def by_field(self) -> dict[str, list[Any]]:
        """Return what stands under each name, but for URLs; more than one value is a list's.

        With one space for many: how far mark-up is indented nobody sees.
        """
        fields = dict[str, list[Any]]()
        for key, value in chain(self.values, self.facts):
            fields.setdefault(key, []).append(" ".join(value.split()) if isinstance(value, str) and value is not FILLED else value)
        return fields


def texts_in(value: Any) -> list[str]:
    """Return the texts, numbers and URLs that are in a value, as far as it is looked at."""
    beside = list[tuple[str, Any]]()
    texts = [part if isinstance(part, str) else as_written(part) for _, part in values_in(value, beside)[0]]
    return texts + [part for _, part in beside if part is not FILLED and part is not False]


def values_in(item: Any, beside: list[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], bool]:
    """Return the texts and numbers in an item, each with the names under which it stands, and whether these are all.

    `beside`: where all else is put that fills a field: URLs, dates, what is true, bytes, and whatever a spider has made.
    """
    found, left = list[tuple[str, Any]](), _MOST_LOOKED_AT
    # Of each container that is being looked at what is left of it: an item may hold itself, so nothing calls itself here.
    waiting = [iter((("", item),))]
    while waiting:
        for key, value in waiting[-1]:
            if not left:
                return found, False
            left -= 1
            if isinstance(value, str):
                if value:
                    (beside if _is_url(value) else found).append((key, value))
            elif isinstance(value, _NUMBERS) and not isinstance(value, bool):
                found.append((key, value))
            elif (inner := _inner(key, value)) is not None:
                waiting.append(inner)
                break
            elif not (value is None or (isinstance(value, _BYTES) and not value)):
                beside.append((key, False if value is False else str(value) if isinstance(value, date) else FILLED))
        else:
            waiting.pop()
    return found, True


def _rows_of(fields: Iterable[Any]) -> int:
    """Return how much an item lists: each entry of a list of dictionaries, or of items, and each other field as one.

    A list of texts is one: the way to a page has more steps on a longer way.
    """
    return sum(len(field) if isinstance(field, list | tuple) and field and is_item(field[0]) else _is_filled(field) for field in fields)


def _is_filled(field: Any) -> bool:
    return not (field is None or (isinstance(field, str) and not field))


def _files_in(item: Mapping[str, Any], fields: Iterable[str]) -> list[tuple[str, str]]:
    """Return what the files are called that an item asks for, each with its field. Where they are does not matter, as for mirrors."""
    found = []
    for field in fields:
        addresses = item.get(field)
        # What can be read once only is the pipeline's.
        listed = addresses if isinstance(addresses, list | tuple | set | frozenset) else [addresses] if isinstance(addresses, str) else ()
        for address in islice(listed, _MOST_LOOKED_AT):
            path, _, query = str(address)[:LONGEST_VALUE].partition("#")[0].partition("?")
            # Where all have one name, such as "default.jpg", that of the directory counts as well.
            found.append((field, f"file {path.rpartition('/')[2]}?{query} {'' if query else name_of(path)}"))
    return found


def _class_of(item: Any) -> list[tuple[str, Any]]:
    """Return the class of an item as a field that is filled; none for a plain dictionary. A feed may take items of some classes only."""
    kind = type(item)
    # A dot would make it a name within another one.
    return [] if kind is dict else [(f"class {kind.__module__}:{kind.__qualname__}".replace(".", ":"), FILLED)]


def _inner(key: str, value: Any) -> Iterator[tuple[str, Any]] | None:
    """Return what is in a container, each part with its name; None where it is none."""
    if isinstance(value, _LISTS):
        # Two sets of the same may be in another order.
        return ((key, part) for part in (value if isinstance(value, list | tuple) else sorted(value, key=hash)))
    if not is_item(value):
        return None
    named: Mapping[Any, Any] = value if isinstance(value, dict) else _adapter()(value)
    return ((f"{key}.{name}" if key else str(name), part) for name, part in named.items())


def is_item(value: Any) -> bool:
    """Return whether a value is a dictionary, or an item of any kind that Scrapy knows."""
    return isinstance(value, dict) or (type(value) not in _NO_ITEMS and _adapter().is_item(value))


def _adapter() -> type[ItemAdapter]:
    from itemadapter import ItemAdapter  # noqa: PLC0415 - brings all libraries of item types; many spiders yield dictionaries

    return ItemAdapter


def _is_url(value: str) -> bool:
    return (value[0] == "/" or "://" in value) and " " not in value and "\n" not in value
