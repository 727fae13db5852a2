"""What main texts cost a crawl, by where they are made: the spider `site` on the Debian installation guide.

    python -m benchmarks.crawl.texts [--site DIRECTORY] [--rounds 3]

The guide is built as tests/sites/installguide.py says (downloaded unless --site names a copy), and served by a process of its own. Every
crawl is a process, with a new store in memory. Contestants, in turns:

    processes   as the spider does it: processes of their own
    callback    in the callback, on the event loop, which waits for them
    threads     `run_in_thread`, as an asynchronous callback may do it
    none        no main text

Prints Markdown: medians of the rounds, in seconds, and each round's ratio to `processes`, smallest and largest; copies that came out
as their original did not in time; and items.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.crawler import CrawlerProcess
from scrapy.utils.asyncio import run_in_thread

from benchmarks.crawl.runner import ROOT
from benchmarks.crawl.server import serving
from simcrawl.crawl.spiders.site import SiteSpider
from simcrawl.page.extraction import main_text
from tests.sites import installguide

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse

CONTESTANTS = ("processes", "callback", "threads", "none")


class Contestant(SiteSpider):
    """The spider, with texts made where `place` says."""

    place = "processes"

    async def _text(self, response: HtmlResponse) -> str | None:
        if self.place == "processes":
            return await super()._text(response)
        if self.place == "threads":
            return await run_in_thread(main_text, response.body, response.encoding)
        return main_text(response.body, response.encoding) if self.place == "callback" else None


def crawl(place: str, url: str) -> None:
    """Crawl, and print seconds, what waited in vain, and how many items came out."""
    settings = {"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_STORE": "memory:?seed=1", "LOG_LEVEL": "ERROR"}
    process = CrawlerProcess(settings)
    started, crawler = monotonic(), process.create_crawler(Contestant)
    process.crawl(crawler, url=url, place=place)
    process.start()
    stats: Any = crawler.stats
    counts = [stats.get_value(name, 0) for name in ("simcrawl/pages/waited_in_vain", "item_scraped_count")]
    print(json.dumps([monotonic() - started, *counts]))


def contest(url: str, rounds: int) -> dict[str, list[tuple[float, int, int]]]:
    """Return seconds, vain waits and items of every round of each contestant."""
    found: dict[str, list[tuple[float, int, int]]] = {place: [] for place in CONTESTANTS}
    for _ in range(rounds):
        for place in CONTESTANTS:
            command = [sys.executable, "-m", "benchmarks.crawl.texts", "--place", place, "--url", url]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
            seconds, in_vain, items = json.loads(done.stdout)
            found[place].append((seconds, in_vain, items))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--place", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.place:
        crawl(options.place, options.url)
        return
    with ExitStack() as stack:
        root = options.site or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.site is None:
            installguide.build(root)
        found = contest(stack.enter_context(serving("guide", root, 0, 0.0)), options.rounds)
    peer = [seconds for seconds, _, _ in found["processes"]]
    print("| main texts | s | times `processes` | waited in vain | items |\n| --- | --- | --- | --- | --- |")
    for place, rounds in found.items():
        seconds, in_vain, items = zip(*rounds, strict=True)
        ratios = [one / other for one, other in zip(seconds, peer, strict=True)]
        told = [", ".join(map(str, counts)) for counts in (in_vain, items)]
        print(f"| {place} | {median(seconds):.1f} | {min(ratios):.2f} to {max(ratios):.2f} | {told[0]} | {told[1]} |")


if __name__ == "__main__":
    main()
