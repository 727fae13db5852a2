"""Records below one long text, as catalogues and code lists show them: how many are called copies of other records.

    python -m benchmarks.quality.records [--words 200] [--empty-first | --one-value]

The records are those that Python and the zone database bring with them: characters, time zones, HTML's named characters, encodings,
languages' locales, media types, statuses and system errors. A page shows one of them, in a table or in lines, and `--words` words that all
pages of its site have in common. Of every fifth page there is a print view below another address, without menus: a true copy. Columns are
templates: with `<h1>`, table and title named after the record; with heading and title of the site alone; without any heading, of boxes;
with nothing of the record but its name, in heading and title; with all that is the record's own above the page's main part, in a line; and
with its values in an aside, below a heading that all pages have, and its name in the title alone.
`--empty-first`: the first page that is met is that of a record of which nothing is known yet. The first one that is dropped for it counts
here; a crawl fetches it again.
`--one-value`: a record is one value, of which heading and title say nothing, behind two that all have. Here, too, the first one counts.
Printed: records that are called copies of another one, and after the slash true copies that were found, of how many.
"""

from __future__ import annotations

import argparse
import errno
import os
import unicodedata
from encodings.aliases import aliases
from html import entities, escape
from http import HTTPStatus
from itertools import islice
from locale import locale_alias
from mimetypes import MimeTypes
from random import Random
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from rich.console import Console
from rich.table import Table

from simcrawl import Detector, open_store
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Record = dict[str, str]

_MOST, _PRINTED, _WORDS = 200, 5, 200
_YEAR = 2024


def _characters() -> Iterator[Record]:
    for code in range(0xC0, 0x700):
        if name := unicodedata.name(character := chr(code), ""):
            yield {"Name": name, "Code": f"U+{code:04X}", "Category": unicodedata.category(character), "Shown": character}


def _zones() -> Iterator[Record]:
    from datetime import datetime  # noqa: PLC0415 - of no use elsewhere here

    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        months = {f"Offset in month {month}": str(datetime(_YEAR, month, 1, tzinfo=zone).utcoffset()) for month in (1, 4, 7, 10)}
        yield {"Zone": name, **months}


def _locales() -> Iterator[Record]:
    for alias, name in sorted(locale_alias.items()):
        language, _, encoding = name.partition(".")
        yield {"Alias": alias, "Language": language, "Encoding": encoding}


KINDS: dict[str, Callable[[], Iterator[Record]]] = {
    "characters": _characters,
    "time zones": _zones,
    "named characters": lambda: ({"Entity": f"&{name}", "Means": value} for name, value in sorted(entities.html5.items())),
    "encodings": lambda: ({"Alias": alias, "Codec": codec} for alias, codec in sorted(aliases.items())),
    "locales": _locales,
    # Those of Python: what the system adds is another list on each machine.
    "media types": lambda: ({"Extension": extension, "Type": kind} for extension, kind in sorted(MimeTypes().types_map[True].items())),
    "statuses": lambda: ({"Status": str(int(status)), "Phrase": status.phrase, "Meaning": status.description} for status in HTTPStatus),
    "errors": lambda: (
        {"Symbol": name, "Number": str(code), "Message": os.strerror(code)} for code, name in sorted(errno.errorcode.items())
    ),
}

# What all records say that are of one value.
_SHARED = {"Collection": "Lists of names", "Place": "Reading room"}
_MENU = "".join(f"<a href=/{name}>{name}</a> " for name in ("home", "browse", "search", "downloads", "help", "about"))


def _named(record: Record, name: str, text: list[str], *, menu: str) -> str:
    rows = "".join(f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>" for label, value in record.items())
    head = f"<title>{escape(name)} - Lists</title><header>{menu}</header>"
    return f"{head}<main><h1>{escape(name)}</h1><table>{rows}</table>{_paragraphs(text)}</main>"


def _of_the_site(record: Record, name: str, text: list[str], *, menu: str) -> str:  # noqa: ARG001 - as the others are called
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in record.items())
    return f"<title>Lists</title><header>{menu}</header><main><h1>Lists</h1>{text[0]}<dl>{rows}</dl>{_paragraphs(text[1:])}</main>"


def _boxes(record: Record, name: str, text: list[str], *, menu: str) -> str:
    rows = "".join(f"<div class=r><div>{escape(label)}</div><div>{escape(value)}</div></div>" for label, value in record.items())
    return f"<title>Lists</title><div class=t>{menu}</div><div class=m><div class=x1>{escape(name)}</div>{rows}{_paragraphs(text)}</div>"


def _by_name_alone(record: Record, name: str, text: list[str], *, menu: str) -> str:  # noqa: ARG001 - as the others are called
    head = f"<title>{escape(name)} - Lists</title><header>{menu}</header>"
    return f"{head}<main><h1>{escape(name)}</h1>{_paragraphs(text)}</main>"


def _above(record: Record, name: str, text: list[str], *, menu: str) -> str:
    facts = ", ".join(f"{escape(label)} {escape(value)}" for label, value in record.items())
    head = f"<title>{escape(name)} - Lists</title><header>{menu}</header><section><h1>{escape(name)}</h1><p>{facts}</p></section>"
    return f"{head}<main><h2>About these lists</h2>{_paragraphs(text)}</main>"


def _aside(record: Record, name: str, text: list[str], *, menu: str) -> str:
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in record.items())
    head = f"<title>{escape(name)} - Lists</title><header>{menu}</header>"
    return f"{head}<main><h1>About these lists</h1>{_paragraphs(text)}</main><aside><h2>At a glance</h2><dl>{rows}</dl></aside>"


def _paragraphs(text: list[str]) -> str:
    return "".join(f"<p>{line}</p>" for line in text)


TEMPLATES: dict[str, Callable[..., str]] = {
    "named": _named,
    "of the site": _of_the_site,
    "boxes": _boxes,
    "by name alone": _by_name_alone,
    "above": _above,
    "aside": _aside,
}


def lost(
    kind: str, template: str, words: int = _WORDS, most: int = _MOST, *, empty_first: bool = False, one_value: bool = False
) -> tuple[int, int, int]:
    """Return how many records are called copies of others, and how many print views of how many were found."""
    records = list(islice(KINDS[kind](), most))
    if one_value:
        records = [_SHARED | dict([next(iter(record.items()))]) for record in records]
    text = _text(words)
    pages = [(number, f"/id/{number}", _MENU) for number in range(len(records))]
    pages += [(number, f"/print/{number}", "") for number in range(0, len(records), _PRINTED)]
    Random(1).shuffle(pages)
    if empty_first:
        records.append({})
        pages.insert(0, (len(records) - 1, "/id/none", _MENU))
    known, wrong, found = dict[str, int](), 0, 0
    with open_store("memory:") as store:
        detector = Detector(store)
        for number, address, menu in pages:
            record, url = records[number], f"http://example.org{address}"
            known[url] = number
            page = TEMPLATES[template](record, next(iter(record.values()), ""), text, menu=menu)
            verdict = detector.admit(detector.extract(f"<html>{page}</html>", url=url))
            if verdict.is_duplicate:
                same = known[verdict.original or url] == number
                found, wrong = found + same, wrong + (not same)
    return wrong, found, sum(address.startswith("/print/") for _, address, _ in pages)


def _text(words: int) -> list[str]:
    """Return paragraphs of so many words, about."""
    lines, taken = english(words).splitlines(), list[str]()
    while lines and sum(len(line.split()) for line in taken) < words:
        taken.append(lines.pop(0))
    return [" ".join(taken[start : start + 3]) for start in range(0, len(taken), 3)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=_WORDS)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--empty-first", action="store_true")
    which.add_argument("--one-value", action="store_true")
    arguments = parser.parse_args()
    table = Table("records", *TEMPLATES)
    for kind in KINDS:
        options = {"empty_first": arguments.empty_first, "one_value": arguments.one_value}
        cells = (lost(kind, template, arguments.words, **options) for template in TEMPLATES)
        table.add_row(kind, *(f"{wrong} / {found} of {copies}" for wrong, found, copies in cells))
    Console().print(table)


if __name__ == "__main__":
    main()
