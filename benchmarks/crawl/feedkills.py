"""What a hard kill costs: crawls with a feed are killed at random moments and resumed, and the contents of their feeds counted.

    python -m benchmarks.crawl.feedkills [--rounds 20] [--pages 1000] [--text 0] [--seed 0]

The site has two halves: `--pages` pages, and a copy of each under another address. A crawl (JOBDIR, a lasting store, JSON lines that are
appended to, all with Scrapy's defaults) takes one after the other, and is killed (SIGKILL) at a random moment: some milliseconds after a
random page, the same for each contestant of a round. Then it is resumed and runs to its end. `--text`: characters that each item has beside
its address.

Lost is a content of which no item can be read in the feed. Without simcrawl, too, some are: what Scrapy had buffered, and its queue. Prints
Markdown; lost to simcrawl: contents missing from its feed and not from the feed without simcrawl of the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess

from benchmarks.crawl.runner import ROOT, SETTINGS
from benchmarks.crawl.server import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

_CHILD = "--job"
CONTESTANTS: dict[str, dict[str, Any]] = {
    "without simcrawl": {},
    "SIMCRAWL_DURABLE_FEED = False": {"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_DURABLE_FEED": False},
    "SIMCRAWL_DURABLE_FEED = True": {"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_DURABLE_FEED": True},
}


class Halves(Spider):
    """Takes the pages of one half of the site, then the copies of them; dies some milliseconds after so many items."""

    name = "halves"

    def __init__(self, *, url: str, pages: int, text: int, after: int, delay: float, **options: Any) -> None:
        super().__init__(**options)
        self.url, self.pages, self.text = url, pages, "x" * text
        self.after, self.delay = after, delay

    async def start(self) -> AsyncIterator[Request]:
        self.crawler.signals.connect(self.count, signal=signals.item_scraped)
        self.crawler.signals.connect(self.go_on, signal=signals.spider_idle)
        self.left = ["a", "b"]
        yield self.hub()

    def hub(self) -> Request:
        return Request(f"{self.url}{self.left.pop(0)}", self.parse_hub, dont_filter=True, meta={"simcrawl": False})

    def go_on(self) -> None:
        if self.left:
            self.crawler.engine.crawl(self.hub())

    def count(self) -> None:
        self.after -= 1
        if self.after == 0:
            Timer(self.delay, os.kill, (os.getpid(), signal.SIGKILL)).start()

    def parse_hub(self, response: Response) -> Iterator[Request]:
        yield from (Request(f"{response.url}/{number}") for number in range(self.pages))

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield {"content": int(response.url.rpartition("/")[2]), "url": response.url, "text": self.text}


def main() -> None:
    """Print a table; or, as a child, run one crawl."""
    if sys.argv[1:] == [_CHILD]:
        _crawl(**json.load(sys.stdin))
        return
    options = _options()
    chance = random.Random(options.seed)
    lost: dict[str, list[set[int]]] = {name: [] for name in CONTESTANTS}
    killed = dict.fromkeys(CONTESTANTS, 0)
    with tempfile.TemporaryDirectory() as work, serving("halves", Path(work), options.pages, 0) as url:
        for number in range(options.rounds):
            kill = {"after": chance.randrange(1, options.pages), "delay": chance.random() / 50}
            for name, settings in CONTESTANTS.items():
                directory = Path(work) / f"{number} {name}"
                spider = {"url": url, "pages": options.pages, "text": options.text}
                killed[name] += _start(directory, settings, spider | kill) == -signal.SIGKILL
                if _start(directory, settings, spider | {"after": 0, "delay": 0}):
                    raise RuntimeError(f"the resumed crawl of {directory} failed")
                lost[name].append(set(range(options.pages)) - contents(directory / "feed"))
    usual = lost["without simcrawl"]
    print("| | crawls killed | contents | lost | lost to simcrawl |\n| --- | ---: | ---: | ---: | ---: |")
    for name, missing in lost.items():
        more = sum(len(mine - theirs) for mine, theirs in zip(missing, usual, strict=True))
        print(f"| {name} | {killed[name]} | {options.rounds * options.pages} | {sum(map(len, missing))} | {more} |")


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--text", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _start(directory: Path, settings: dict[str, Any], spider: dict[str, Any]) -> int:
    settings = settings | {
        "JOBDIR": str(directory / "job"),
        "SIMCRAWL_STORE": str(directory / "store"),
        "FEEDS": {str(directory / "feed"): {"format": "jsonlines", "overwrite": False}},
    }
    job = json.dumps({"settings": settings, "spider": spider})
    command = [sys.executable, "-m", "benchmarks.crawl.feedkills", _CHILD]
    return subprocess.run(command, input=job, text=True, cwd=ROOT, check=False).returncode


def _crawl(settings: dict[str, Any], spider: dict[str, Any]) -> None:
    process = AsyncCrawlerProcess(SETTINGS | {"EXTENSIONS": {}} | settings)
    process.crawl(Halves, **spider)
    process.start()


def contents(feed: Path) -> set[int]:
    found = set()
    for line in feed.read_bytes().splitlines():
        try:
            found.add(json.loads(line)["content"])
        except ValueError:  # torn, or two in one
            continue
    return found


if __name__ == "__main__":
    # By its own name, not as __main__.
    import_module("benchmarks.crawl.feedkills").main()
