"""What learning from URLs costs: a prediction and an observation, beside what plain Scrapy pays for a request.

    python -m benchmarks.crawl.rewrites [--urls 1000000] [--rounds 3] [--remembered 100000]

A site of a quarter of the URLs in three releases that are mostly copies, and a wiki of the rest, where three kinds of pages are copies
whatever their page. Every URL is observed, once, in random order; before that, with --remembered, so many of them in an earlier crawl.
Then, of 20,000 that were fetched and 20,000 that were not: microseconds of a prediction, of an observation, and of Scrapy's `Request` with
its fingerprint, the median of the rounds; and the memory that is held.
"""

from __future__ import annotations

import argparse
import random
from itertools import product
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.utils.request import fingerprint

import simcrawl
from simcrawl.rule import Kind, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SAMPLE = 20_000
_SITE = "https://www.example.org"
_RELEASES, _KINDS = ("stable", "testing", "unstable"), ("show", "history", "edit", "login", "index", "search")
_COPIES = ("login", "index", "search")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--remembered", type=int, default=0)
    options = parser.parse_args()
    pages = list(_pages(options.urls + _SAMPLE))
    random.Random(7).shuffle(pages)
    fetched, others = pages[:-_SAMPLE], pages[-_SAMPLE:]
    before, rules = getrusage(RUSAGE_SELF).ru_maxrss, simcrawl.RewriteRules()
    if options.remembered:
        _observe(rules, fetched[: options.remembered])
        rules = rules.next_crawl()
    whole = _microseconds(lambda: _observe(rules, fetched), len(fetched))
    held = (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1000
    asked = [url for url, _ in fetched[-_SAMPLE:] + others]
    works: dict[str, Callable[[], object]] = {
        "a prediction": lambda: [rules.predict(url) for url in asked],
        "an observation": lambda: _observe(rules, others + fetched[-_SAMPLE:]),
        "Scrapy's request and fingerprint": lambda: [fingerprint(Request(url)) for url in asked],
    }
    times = {name: median(_microseconds(work, 2 * _SAMPLE) for _ in range(options.rounds)) for name, work in works.items()}
    print(f"| at {len(fetched):,} URLs | us |\n| --- | ---: |\n| an observation, on the way there | {whole:.1f} |")
    for name, time in times.items():
        print(f"| {name} | {time:.1f} |")
    print(f"\n{held:.0f} MB held")


def _observe(rules: simcrawl.RewriteRules, pages: list[tuple[str, Verdict]]) -> None:
    for url, verdict in pages:
        rules.observe(url, verdict)


def _microseconds(work: Callable[[], object], number: int) -> float:
    started = process_time()
    work()
    return 1e6 * (process_time() - started) / number


def _pages(number: int) -> Iterator[tuple[str, Verdict]]:
    for page, release in product(range(number // 4 // len(_RELEASES)), _RELEASES):
        path = f"library/part-{page % 97}/page-{page}.html"
        # A tenth of the pages differ from release to release.
        is_copy = release != _RELEASES[0] and page % 10 > 0
        yield f"{_SITE}/{release}/{path}", _verdict(f"{_SITE}/{_RELEASES[0]}/{path}" if is_copy else "")
    for page, kind in product(range((number - number // 4) // len(_KINDS)), _KINDS):
        first = f"{_SITE}/wiki?id=0&do={kind}"
        yield f"{_SITE}/wiki?id={page}&do={kind}", _verdict(first if kind in _COPIES and page else "")


def _verdict(original: str) -> Verdict:
    return Verdict(kind=Kind.NEAR_DUPLICATE, original=original, drop_page=True) if original else Verdict(kind=Kind.ADMITTED)


if __name__ == "__main__":
    main()
