"""What an item holds: its values, each with the names under which it stands, its lists, and the files that it asks for."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from simcrawl.crawl.reading import as_written
from simcrawl.page.pictures import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from itemadapter import ItemAdapter

# Of one item: places that are looked at, and characters of one value.
_MOST_LOOKED_AT, LONGEST_VALUE = 200, 20_000
# What stands for values that are looked at no further. No address has these words: "/offers/1" may have an `Offer`.
FILLED = "this field is filled"


def texts_in(value: Any) -> list[str]:
    """Return the texts, numbers and URLs that are in a value, as far as it is looked at."""
    beside = list[tuple[str, Any]]()
    texts = [part if isinstance(part, str) else as_written(part) for _, part in values_in(value, beside)[0]]
    return texts + [part for _, part in beside if part is not FILLED and part is not False]


def values_in(item: Any, beside: list[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], bool]:
    """Return the texts and numbers in an item, each with the names under which it stands, and whether these are all.

    `beside`: where all else is put that fills a field: URLs, dates, what is true, bytes, and whatever a spider has made.
    """
    found, waiting, left = list[tuple[str, Any]](), [("", item)], _MOST_LOOKED_AT
    all_seen = True
    while waiting:
        if not left:
            return found, False
        left -= 1
        key, value = waiting.pop()
        if isinstance(value, str):
            if value:
                (beside if _is_url(value) else found).append((key, value))
        elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            found.append((key, value))
        elif (inner := _inner(key, value)) is not None:
            more = list(islice(inner, _MOST_LOOKED_AT + 1))
            all_seen = all_seen and len(more) <= _MOST_LOOKED_AT
            waiting += reversed(more)
        elif not (value is None or (isinstance(value, bytes | bytearray) and not value)):
            beside.append((key, False if value is False else str(value) if isinstance(value, date) else FILLED))
    return found, all_seen


def by_field(values: list[tuple[str, Any]], beside: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Return what stands under each name in an item, but for URLs; more than one value is a list's.

    With one space for many: how far mark-up is indented nobody sees.
    """
    fields = dict[str, list[Any]]()
    for key, value in [*values, *without_urls(beside)]:
        fields.setdefault(key, []).append(" ".join(value.split()) if isinstance(value, str) and value is not FILLED else value)
    return fields


def rows_of(item: Any) -> int:
    """Return how much an item lists: each entry of a list of dictionaries, or of items, and each other field as one.

    A list of texts is one: the way to a page has more steps on a longer way.
    """
    fields = (item if isinstance(item, dict) else _adapter()(item)).values()
    return sum(len(field) if isinstance(field, list | tuple) and field and is_item(field[0]) else _is_filled(field) for field in fields)


def _is_filled(field: Any) -> bool:
    return not (field is None or (isinstance(field, str) and not field))


def without_urls(beside: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return what fills fields but for URLs: what is true or false, days, and of whatever else there is that it is there."""
    return [(key, value) for key, value in beside if value is False or value is FILLED or not _is_url(value)]


def files_in(item: Any, fields: Iterable[str]) -> list[tuple[str, str]]:
    """Return what the files are called that an item asks for, each with its field. Where they are does not matter, as for mirrors."""
    found = []
    for field in fields:
        addresses = (item if isinstance(item, dict) else _adapter()(item)).get(field)
        # What can be read once only is the pipeline's.
        listed = addresses if isinstance(addresses, list | tuple | set | frozenset) else [addresses] if isinstance(addresses, str) else ()
        for address in islice(listed, _MOST_LOOKED_AT):
            path, _, query = str(address)[:LONGEST_VALUE].partition("#")[0].partition("?")
            # Where all have one name, such as "default.jpg", that of the directory counts as well.
            found.append((field, f"file {path.rpartition('/')[2]}?{query} {'' if query else name_of(path)}"))
    return found


def class_of(item: Any) -> list[tuple[str, Any]]:
    """Return the class of an item as a field that is filled; none for a plain dictionary. A feed may take items of some classes only."""
    kind = type(item)
    # A dot would make it a name within another one.
    return [] if kind is dict else [(f"class {kind.__module__}:{kind.__qualname__}".replace(".", ":"), FILLED)]


def _inner(key: str, value: Any) -> Iterable[tuple[str, Any]] | None:
    """Return what is in a container, each part with its name; None where it is none."""
    if isinstance(value, list | tuple | set | frozenset):
        # Two sets of the same may be in another order.
        return ((key, part) for part in (value if isinstance(value, list | tuple) else sorted(value, key=hash)))
    if not isinstance(value, dict):
        if value is None or isinstance(value, bytes | bytearray):
            return None
        if not is_item(value):
            return None
        value = _adapter()(value)
    mapping: Mapping[Any, Any] = value
    return ((f"{key}.{name}" if key else str(name), part) for name, part in mapping.items())


def is_item(value: Any) -> bool:
    """Return whether a value is a dictionary, or an item of any kind that Scrapy knows."""
    return isinstance(value, dict) or _adapter().is_item(value)


def _adapter() -> type[ItemAdapter]:
    from itemadapter import ItemAdapter  # noqa: PLC0415 - brings all libraries of item types; many spiders yield dictionaries

    return ItemAdapter


def _is_url(value: str) -> bool:
    return (value[0] == "/" or "://" in value) and " " not in value and "\n" not in value
