"""Series of records in many layouts, each below the same text: how many come out nowhere, and how many are fetched twice.

    python -m benchmarks.quality.series [--sites 300] [--named]

Sites of 12 to 40 pages are made by chance, one a seed: objects of a museum that differ in their number, persons of one name, roll
calls of one assembly, checklists by county, price lists by branch, words of a lexicon, reports of bugs in one source. Each site has one way
to show them (a table, a list of terms, lines, one line, words in a row, links), one layout, a text of 60 to 1,200 words that all of its
pages have, and now and then teasers that change from page to page. Heading and title are those of the site; with `--named` the heading is
the record's, which several may have in common.

    lost            records that are called copies of others, and that no later page shows to be none
    fetched twice   records that were dropped, and that a crawl asks for again since a later page shows that they are none
"""

from __future__ import annotations

import argparse
from collections import deque
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from simcrawl import Detector, open_store
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = list[tuple[str, str]]

_SITES = 300
_PEOPLE = [
    f"{name} {family}" for family in ("Hay", "Lund", "Moss", "Quay") for name in ("Ann", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal")
]
_WORDS = sorted({word.strip(".,").lower() for word in english(400, seed=9).split()} - {""})


class Record(NamedTuple):
    """What a page of a series is about: its name, and what it says of that."""

    name: str
    fields: Fields


def _objects(chance: Random, count: int) -> list[Record]:
    # As museums number what they have: year, lot, piece.
    year, lot = chance.randint(1900, 1999), chance.randint(1, 90)
    return [Record("Button", [("Inventory", f"{year}.{lot}.{piece}"), ("Material", "horn"), ("Found", "Hill 7")]) for piece in range(count)]


def _persons(chance: Random, count: int) -> list[Record]:
    people = []
    for _ in range(count):
        year, name = chance.randint(1700, 1900), f"{chance.choice(['Jean', 'Marie', 'Anne'])} Martin"
        day = f"{chance.randint(1, 28)} {chance.choice(['May', 'June'])} {year}"
        spouse = f"{chance.choice(['Anne', 'Lise', 'Paul'])} Dupont"
        people.append(Record(name, [("Born", day), ("Died", str(year + chance.randint(1, 80))), ("Spouse", spouse)]))
    return people


def _votes(chance: Random, count: int) -> list[Record]:
    calls = []
    for number in range(count):
        share = chance.choice([0.5, 0.9, 0.97])
        votes = [(name, "yes" if chance.random() < share else chance.choice(["no", "absent"])) for name in _PEOPLE]
        calls.append(Record(f"Roll call {number}", votes))
    return calls


def _checklists(chance: Random, count: int) -> list[Record]:
    kinds = chance.sample(_WORDS, 40)
    usual = [chance.choice("CUR") for _ in kinds]
    rate = chance.choice([0.05, 0.15])
    return [
        Record(
            f"County {number}",
            [(kind, one if chance.random() > rate else chance.choice("CURV")) for kind, one in zip(kinds, usual, strict=True)],
        )
        for number in range(count)
    ]


def _prices(chance: Random, count: int) -> list[Record]:
    things = chance.sample(_WORDS, 40)
    usual = [chance.randint(100, 9900) for _ in things]
    rate = chance.choice([0.05, 0.15])
    lists = []
    for number in range(count):
        prices = [cents if chance.random() > rate else cents + chance.choice([10, 20, 50]) for cents in usual]
        lists.append(Record(f"Branch {number}", [(thing, f"{cents / 100:.2f}") for thing, cents in zip(things, prices, strict=True)]))
    return lists


def _lexicon(chance: Random, count: int) -> list[Record]:
    return [
        Record(word, [(word, f"{chance.choice(['noun', 'verb'])}. {' '.join(chance.sample(_WORDS, chance.randint(3, 25))).capitalize()}.")])
        for word in chance.sample(_WORDS, count)
    ]


def _reports(chance: Random, count: int) -> list[Record]:
    return [
        Record("harbour.c", [("Warning", f"line {line}, column {chance.randint(1, 40)}"), ("Kind", "Memory leak")])
        for line in chance.sample(range(1, 900), count)
    ]


KINDS: dict[str, Callable[[Random, int], list[Record]]] = {
    "objects": _objects,
    "persons": _persons,
    "roll calls": _votes,
    "checklists": _checklists,
    "prices": _prices,
    "lexicon": _lexicon,
    "reports": _reports,
}
FORMS: dict[str, Callable[[Fields], str]] = {
    "table": lambda fields: f"<table>{''.join(f'<tr><th>{label}</th><td>{value}</td></tr>' for label, value in fields)}</table>",
    "terms": lambda fields: f"<dl>{''.join(f'<dt>{label}</dt><dd>{value}</dd>' for label, value in fields)}</dl>",
    "lines": lambda fields: "".join(f"<p>{label}: {value}</p>" for label, value in fields),
    "breaks": lambda fields: f"<p>{'<br>'.join(f'<b>{label}</b> {value}' for label, value in fields)}</p>",
    "one line": lambda fields: f"<p>{'; '.join(f'{label} {value}' for label, value in fields)}</p>",
    "in a row": lambda fields: f"<div>{' '.join(f'<span>{label}</span> <span>{value}</span>' for label, value in fields)}</div>",
    "links": lambda fields: f"<ul>{''.join(f'<li>{label}: <a href=/f/{value[:9]}>{value}</a></li>' for label, value in fields)}</ul>",
}
LAYOUTS = (
    "<header><a href=/>Home</a></header><nav>{menu}</nav><main>{main}</main><footer>Harbour Road 1</footer>",
    "<div id=head><a href=/>Home</a></div><div class=menu>{menu}</div><div id=content>{main}</div><div id=foot>Harbour Road 1</div>",
    "<table><tr><td>{menu}</td><td>{main}</td></tr></table><p>Harbour Road 1</p>",
    "{main}<hr>{menu}",
)
ADDRESSES = ("/item/{number}", "/item.php?id={number}", "/items/{number}/view.html")


def pages(kind: str, form: str, chance: Random, *, named: bool) -> dict[str, str]:
    """Return the pages of a site, by their addresses, in the order in which they are met."""
    # Two that say the same are one.
    records = {repr(record if named else record.fields): record for record in KINDS[kind](chance, chance.choice([12, 40]))}
    text = "".join(f"<p>{line}</p>" for line in english(chance.choice([6, 15, 30, 50, 80, 120]), seed=chance.randint(1, 99)).splitlines())
    layout, address, above, teased = chance.choice(LAYOUTS), chance.choice(ADDRESSES), chance.random() < 0.6, chance.random() < 0.3
    menu = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in chance.sample(_WORDS, chance.choice([5, 15, 60])))
    out = {}
    for number, record in enumerate(records.values(), 100):
        shown = FORMS[form](record.fields)
        teasers = "".join(f"<p><a href=/t/{at}>{' '.join(chance.sample(_WORDS, 9))}</a></p>" for at in range(3)) if teased else ""
        heading = record.name if named else "Collection"
        main = f"<h1>{heading}</h1>{shown}{text}" if above else f"<h1>{heading}</h1>{text}{shown}"
        body = layout.format(menu=f"<ul>{menu}</ul>{teasers}", main=main)
        out[f"http://example.org{address.format(number=number)}"] = f"<html><head><title>Our site</title></head><body>{body}</body></html>"
    met = [*out]
    chance.shuffle(met)
    return {url: out[url] for url in met}


def lost(site: dict[str, str], seed: int) -> tuple[int, int]:
    """Return how many pages of a site are called copies of others for good, and how many until a later one shows that they are none."""
    dropped, again = set[str](), set[str]()
    with open_store(f"memory:?seed={seed}") as store:
        detector, waiting = Detector(store), deque(site)
        while waiting:
            url = waiting.popleft()
            admission = detector.claim(detector.page(site[url], url=url))
            if admission.claim:
                admission.claim.confirm()
            mistaken = dropped.intersection(admission.mistaken)
            # As a crawl does, if not quite at once.
            waiting.extendleft(sorted(mistaken - again))
            dropped -= mistaken - again
            again |= mistaken
            if admission.verdict.is_duplicate:
                dropped.add(url)
    return len(dropped), len(again)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=_SITES)
    parser.add_argument("--named", action="store_true")
    arguments = parser.parse_args()
    counts = {kind: [0, 0, 0] for kind in KINDS}
    for seed in range(arguments.sites):
        chance = Random(seed)
        kind, form = chance.choice([*KINDS]), chance.choice([*FORMS])
        site = pages(kind, form, chance, named=arguments.named)
        gone, twice = lost(site, seed)
        counts[kind] = [sum(pair) for pair in zip(counts[kind], (len(site), gone, twice), strict=True)]
    table = Table("series", "pages", "lost", "fetched twice")
    for kind, row in [*counts.items(), ("all", [sum(column) for column in zip(*counts.values(), strict=True)])]:
        table.add_row(kind, *map(str, row))
    Console().print(table)


if __name__ == "__main__":
    main()
