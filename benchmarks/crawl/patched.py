"""A mirror some of whose pages say something else: how much of it is fetched, and how many of these pages are lost.

    python -m benchmarks.crawl.patched [--pages 1000] [--shares 0,0.005,0.01,0.02,0.05] [--rounds 3]

A site of this machine with its pages in two directories, of which a share is other text in the second one, chosen anew in each round.
Crawled by Scrapy with simcrawl as it is by default, the first link found first. Prints Markdown.
"""

from __future__ import annotations

import argparse
import random

from tests.crawl.content import hub
from tests.crawl.runner import crawl
from tests.crawl.server import Site
from tests.crawl.test_frontier import FIRST_FIRST, WATCHED, text


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--shares", default="0,0.005,0.01,0.02,0.05")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| other pages | round | of the mirror fetched | of them lost |\n| ---: | ---: | ---: | ---: |")
    for share in map(float, options.shares.split(",")):
        for number in range(options.rounds):
            changed = set(random.Random(f"{share} {number}").sample(range(options.pages), int(share * options.pages)))
            fetched = _fetched(options.pages, changed)
            print(f"| {len(changed)} | {number + 1} | {len(fetched)} | {len(changed - fetched)} |", flush=True)


def _fetched(pages: int, changed: set[int]) -> set[int]:
    """Return which pages of the mirror a crawl fetches."""
    with Site() as site:
        site.add("/", hub("/main/", "/mirror/"))
        for directory in ("main", "mirror"):
            site.add(f"/{directory}/", hub(*(f"/{directory}/{number}" for number in range(pages))))
        for number in range(pages):
            site.add(f"/main/{number}", text(number))
            site.add(f"/mirror/{number}", text(number + pages * (number in changed)))
        crawl(WATCHED, site.url(), settings=FIRST_FIRST)
        return {number for number in range(pages) if site.requests[f"/mirror/{number}"]}


if __name__ == "__main__":
    main()
