"""What was tried to find the default recipe, and what each choice does.

    python -m benchmarks.quality.search [--quick] [--markdown] [--orders 6] [--pages DIRECTORY] [--site DIRECTORY] [--figure FILE.svg]

One factor at a time around the default recipe, on real pages that are downloaded from Debian packages (the two directories keep them for
the next run): the labelled pairs of `tests.quality.pairs`, in English, Chinese and Japanese, those of further languages by language only,
and the site of `tests.sites.installguide`, crawled over its files in random orders of the links. Columns:

    precision, recall     of the pairs called copies; near pairs are to be called so, different ones not
    recall of J >= .95    of the near pairs whose main texts are 95 % the same
    grey share            of the pairs with J from .5 to .9 that are called copies
    fetched, lost, kept per content, wrong      as in `benchmarks.contents_lost`

"-": not crawled. `--quick`: every fourth pair, one order. Left out: other sites; pages whose surroundings change are in `churn`.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.quality import crossvalidation, idf, plot, tables
from benchmarks.quality.corpus import load
from benchmarks.quality.measure import COLUMNS, Bench
from tests.quality.score import ALL, COLUMNS as PAIR_COLUMNS, by_language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Print = Callable[[str, Sequence[str], Iterable[Sequence[str]]], None]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--orders", type=int, default=6)
    for option in ("--pages", "--site", "--figure"):
        parser.add_argument(option, type=Path)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        pages, site = (given or Path(stack.enter_context(tempfile.TemporaryDirectory())) for given in (arguments.pages, arguments.site))
        corpus = load(pages, site)
    bench = Bench(corpus, orders=1, every=4) if arguments.quick else Bench(corpus, orders=arguments.orders)
    _print_all(bench, printer(markdown=arguments.markdown))
    if arguments.figure:
        plot.draw(bench, arguments.figure)


def _print_all(bench: Bench, print_table: Print) -> None:
    print_table("By language", ("recipe", "language", *PAIR_COLUMNS), _by_language(bench))
    for comparison in tables.comparisons():
        print_table(comparison.title, ("variant", *COLUMNS), _rows(bench, comparison))
    weighed = idf.comparison(bench)
    print_table(weighed.title, ("variant", *COLUMNS), _rows(bench, weighed))
    print_table("What a growing store does to fingerprints by idf", idf.DRIFT, idf.drift(bench))
    print_table("Distance and page threshold, chosen without a source", crossvalidation.HEADER, crossvalidation.rows(bench))


def _by_language(bench: Bench) -> Iterable[list[str]]:
    for variant in tables.by_language():
        for pairs, every in ((bench.corpus.pairs, ALL), (bench.corpus.languages, "all further ones")):
            for language, score in by_language(bench.judge(variant, pairs)).items():
                yield [variant.name, every if language == ALL else language, *score.cells()]


def _rows(bench: Bench, comparison: tables.Comparison) -> Iterable[list[str]]:
    for variant in (*tables.references(), *comparison.variants):
        yield [variant.name, *bench.measure(variant, crawl=comparison.crawl).cells()]


def printer(*, markdown: bool) -> Print:
    """Return what prints a table: (title, columns, rows)."""
    return _print_markdown if markdown else _print_rich


def _print_rich(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    Console(width=160).print(table)


def _print_markdown(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = (columns, ["---"] * len(columns), *rows)
    print(f"## {title}\n", *("| " + " | ".join(line) + " |" for line in lines), "", sep="\n")


if __name__ == "__main__":
    main()
