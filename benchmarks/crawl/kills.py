"""Kill crawls, their workers, or both at random moments, and look for what is lost: `python -m benchmarks.crawl.kills [--kills 200]`.

The site has two halves: `--pages` pages, and a copy of each under another address. A crawl of it is killed (SIGKILL) three times, or its
workers are, or both at once, some milliseconds after a random page; then it runs to its end. Half of the rounds resume it (JOBDIR, one
feed), the others begin anew on the same store, with a feed of their own. In some rounds a worker is only stopped (SIGSTOP), and never
answers.

Prints Markdown. `lost`: contents of which no item can be read in the feed, though simcrawl dropped a page that has them, or the crawl was
not resumed; `lost to Scrapy`: those that went with its queue, of crawls that were resumed. `problems`: what `verify` found after any kill,
crawls whose own end was not theirs, and what they said of errors.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, fields
from importlib import import_module
from itertools import cycle
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from scrapy.crawler import AsyncCrawlerProcess

from benchmarks.crawl.feedkills import Halves, contents
from benchmarks.crawl.runner import ROOT, SETTINGS
from benchmarks.crawl.server import serving
from simcrawl.crawl.signals import page_dropped
from simcrawl.store import verify
from tests.forked import python
from tests.processes import offspring

if TYPE_CHECKING:
    from scrapy.http import Response

_CHILD = "--job"
# Who is killed, and whether the crawl is resumed then.
ROUNDS = (("crawl", True), ("workers", True), ("both", True), ("crawl", False), ("workers", False), ("both", False), ("stopped", False))
_KILLS_A_ROUND = 3
_COMPLAINT = re.compile(r"\[simcrawl[^\]]*\] (ERROR|CRITICAL)|simcrawl (failed|cannot|could not)")


@dataclass
class Result:
    """What the rounds of one kind came to."""

    rounds: int = 0
    kills: int = 0
    contents: int = 0
    lost: int = 0
    lost_to_scrapy: int = 0
    problems: list[str] = field(default_factory=list)

    def __add__(self, other: Result) -> Result:
        """Return the sum."""
        return Result(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Result)))


class Killed(Halves):
    """Takes the pages of one half of the site, then the copies; notes what is dropped; kills after so many items and drops."""

    def __init__(self, *, whom: str, dropped: str, **options: Any) -> None:
        super().__init__(**options)
        self.whom, self.dropped = whom, os.open(dropped, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def hub(self) -> Any:
        # Here, for the crawler is there now; a crawl that begins has one hub at a time.
        self.crawler.signals.connect(self.drop, signal=page_dropped)
        return super().hub()

    def drop(self, response: Response) -> None:
        os.write(self.dropped, f"{response.url.rpartition('/')[2]}\n".encode())
        self.count()

    def count(self) -> None:
        self.after -= 1
        if self.after == 0:
            Timer(self.delay, self.kill).start()

    def kill(self) -> None:
        # What workers are forked from is the first of them. They are started when there is a page, and end when there is none for long.
        workers = sorted(offspring())
        for worker in workers[-1:] if self.whom == "stopped" else workers if self.whom != "crawl" else ():
            os.write(sys.stderr.fileno(), b"killed a worker\n")
            os.kill(worker, signal.SIGSTOP if self.whom == "stopped" else signal.SIGKILL)
        if self.whom in ("crawl", "both"):
            os.write(sys.stderr.fileno(), b"killed a crawl\n")
            os.kill(os.getpid(), signal.SIGKILL)


def run(work: Path, url: str, *, pages: int, seed: int, kills: int = 0, rounds: int = 0) -> dict[tuple[str, bool], Result]:
    """Kill so often, or go through so many rounds, kind by kind in turn; return what each kind came to."""
    chance, results = random.Random(seed), {kind: Result() for kind in ROUNDS}
    for number, kind in enumerate(cycle(ROUNDS)):
        if (kills and sum(result.kills for result in results.values()) >= kills) or number == rounds > 0:
            return results
        results[kind] += _round(work / str(number), url, kind, chance, pages)
    raise AssertionError("a cycle has no end")


def _round(directory: Path, url: str, kind: tuple[str, bool], chance: random.Random, pages: int) -> Result:
    directory.mkdir()
    (whom, resumed), found, result = kind, set[int](), Result(rounds=1)
    dies = whom in ("crawl", "both")
    for attempt in range(_KILLS_A_ROUND + 1):
        last = attempt == _KILLS_A_ROUND
        # Of a crawl that is resumed not all may be left, so that it may end before it is killed.
        after = 0 if last else chance.randrange(1, 2 * pages)
        spider = {"url": url, "pages": pages, "text": 0, "after": after, "delay": chance.random() / 50, "whom": whom}
        feed = directory / ("feed" if resumed else f"feed{attempt}")
        code, said = _crawl_in_a_process(directory, feed, spider, resumed=resumed)
        result.kills += said.count("killed a ")
        result.problems += [f"{directory.name} {kind}: {problem}" for problem in _problems(directory, code, said, dies=dies and not last)]
        found = contents(feed)
        if not resumed and (last or not dies):
            result.lost += pages - len(found)
            result.contents += pages
    if resumed:
        dropped = {int(line) for line in (directory / "dropped").read_text().split()}
        missing = set(range(pages)) - found
        result.contents += pages
        result.lost += len(missing & dropped)
        result.lost_to_scrapy += len(missing - dropped)
    return result


def _problems(directory: Path, code: int, said: str, *, dies: bool) -> list[str]:
    found = list(verify(directory / "store"))
    if code not in ((0, -signal.SIGKILL) if dies else (0,)):
        found.append(f"ended with {code}")
    # Scrapy's own: what a kill has left of its queue may fail when it is read again.
    blocks = [block for block in said.split("Traceback (most recent call last):")[1:] if f"{os.sep}simcrawl{os.sep}" in block]
    return found + [block.strip().rpartition("\n")[2] for block in blocks] + [line for line in said.splitlines() if _COMPLAINT.search(line)]


def _crawl_in_a_process(directory: Path, feed: Path, spider: dict[str, Any], *, resumed: bool) -> tuple[int, str]:
    settings = {
        "ADDONS": {"simcrawl.Addon": 500},
        "EXTENSIONS": {},
        "SIMCRAWL_STORE": str(directory / "store"),
        "SIMCRAWL_DURABLE_FEED": True,
        "SIMCRAWL_SYNC_SECONDS": 0.2,
        "SIMCRAWL_MAX_PAGE_SECONDS": 3,
        "FEEDS": {str(feed): {"format": "jsonlines", "overwrite": False}},
    } | ({"JOBDIR": str(directory / "job")} if resumed else {})
    job = json.dumps({"settings": settings, "spider": spider | {"dropped": str(directory / "dropped")}})
    command = [*python(), "-m", "benchmarks.crawl.kills", _CHILD]
    # To files: a worker that outlives its crawl for a moment would keep a pipe open.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, input=job.encode(), stderr=said, cwd=ROOT, check=False)
        said.seek(0)
        return done.returncode, said.read().decode()


def _crawl(settings: dict[str, Any], spider: dict[str, Any]) -> None:
    process = AsyncCrawlerProcess(SETTINGS | settings)
    process.crawl(Killed, **spider)
    process.start()


def main() -> int:
    """Print a table; or, as a child, run one crawl."""
    if sys.argv[1:] == [_CHILD]:
        _crawl(**json.load(sys.stdin))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work, serving("halves", Path(work), options.pages, 0) as url:
        results = run(Path(work), url, kills=options.kills, pages=options.pages, seed=options.seed)
    print("| killed | then | rounds | kills | contents | lost | lost to Scrapy | problems |\n| --- | --- |" + " ---: |" * 6)
    total = Counter[str]()
    for (whom, resumed), one in results.items():
        numbers = {name: getattr(one, name) for name in ("rounds", "kills", "contents", "lost", "lost_to_scrapy")}
        numbers["problems"] = len(one.problems)
        total.update(numbers)
        told = {"crawl": "the crawl", "workers": "its workers", "stopped": "a worker, stopped"}.get(whom, whom)
        print(f"| {told} | {'resumed' if resumed else 'anew'} | {' | '.join(map(str, numbers.values()))} |")
    print(f"| all | | {' | '.join(map(str, total.values()))} |")
    problems = [problem for one in results.values() for problem in one.problems]
    print(*problems, sep="\n")
    return int(bool(total["lost"] or problems))


if __name__ == "__main__":
    # By its own name, not as __main__.
    sys.exit(import_module("benchmarks.crawl.kills").main())
