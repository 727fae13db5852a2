"""Runs crawls in a process of their own (a process has one reactor) and returns what came of them.

As a script it reads a job from standard input, runs it, and writes the stats of its crawlers as the last line of standard output.

To load Scrapy and simcrawl takes longer than most of the crawls: their processes are forked, see `tests.forked`. With a function to call
first, or in another environment, a crawl gets a process that is new.
"""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests import forked

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
MODES = ("asyncio", "epoll", "reactorless")
_SETTINGS: dict[str, Any] = {
    "ADDONS": {"simcrawl.Addon": 500},
    "SIMCRAWL_STORE": "memory:?seed=1",
    # Of some 700 pages with one word more than another one, one is further from it than k, with one seed or another: that no test's result
    # may change from run to run, new stores in directories have this seed, too. None for a random one.
    "TEST_SEED": 1,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    # As many tasks Scrapy starts for each response, by default a hundred, however few items there are: up to a quarter of a crawl.
    "CONCURRENT_ITEMS": 16,
}


@dataclass
class Outcome:
    """What a crawl left behind."""

    stats: dict[str, Any]
    log: str

    def paths(self, name: str) -> list[Any]:
        """Return the URLs that the spider noted, without scheme and host; pairs of URLs as pairs."""
        return sorted(_path(value) for value in self.stats.get(f"test/{name}", []))

    def pages(self) -> dict[str, int]:
        """Return the counts of verdicts."""
        prefix = "simcrawl/pages/"
        return {name.removeprefix(prefix): value for name, value in self.stats.items() if name.startswith(prefix)}


def _path(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_path, value))
    return "/" + value.split("/", 3)[3] if isinstance(value, str) and value.startswith("http") else value


def crawl(
    spider: str,
    url: str,
    *,
    mode: str = "asyncio",
    settings: dict[str, Any] | None = None,
    preexec: Callable[[], None] | None = None,
    **arguments: str,
) -> Outcome:
    """Run one spider and return its outcome."""
    return crawls([{"spider": spider, "arguments": {"url": url} | arguments}], mode=mode, settings=settings, preexec=preexec)[0]


def crawls(
    jobs: list[dict[str, Any]], *, mode: str = "asyncio", settings: dict[str, Any] | None = None, preexec: Callable[[], None] | None = None
) -> list[Outcome]:
    """Run several spiders at the same time in one process."""
    done = start(jobs, mode=mode, settings=settings, preexec=preexec)
    assert done.returncode == 0, done.stderr
    return [Outcome(stats, done.stderr) for stats in json.loads(done.stdout.splitlines()[-1])]


def start(
    jobs: list[dict[str, Any]], *, mode: str = "asyncio", settings: dict[str, Any] | None = None, preexec: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a process to its end, whatever end that is."""
    job = json.dumps({"jobs": jobs, "mode": mode, "settings": _SETTINGS | (settings or {})})
    arguments = ["-m", "tests.crawl.runner"]
    if not preexec and _environment() == _AT_FIRST:
        return forked.run(arguments, job, timeout=_LONGEST)
    command = [sys.executable, *arguments]
    return subprocess.run(command, input=job, capture_output=True, text=True, check=False, cwd=ROOT, timeout=_LONGEST, preexec_fn=preexec)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


_AT_FIRST = _environment()
_LONGEST = 600


# ---- the process of a crawl


def main() -> None:
    """Run the job on standard input."""
    # Where a library breaks the process off, the log of a test that fails is all there is to see where.
    faulthandler.enable()
    job = json.load(sys.stdin)
    settings = job["settings"]
    if job["mode"] == "reactorless":
        settings["TWISTED_REACTOR_ENABLED"] = False
    if job["mode"] == "epoll":
        settings["TWISTED_REACTOR"] = "twisted.internet.epollreactor.EPollReactor"
    from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
    from scrapy.exceptions import ScrapyDeprecationWarning

    warnings.simplefilter("error", ScrapyDeprecationWarning)
    # Its scheduler names the spider to the stats.
    warnings.filterwarnings("ignore", category=ScrapyDeprecationWarning, module="scrapy_redis")
    # It logs by a method of the spider.
    warnings.filterwarnings("ignore", category=ScrapyDeprecationWarning, module="spidermon")

    if seed := settings.pop("TEST_SEED", 1):
        from simcrawl.store import header

        vars(header)["secrets"] = SimpleNamespace(randbits=lambda _: seed)
    if size := settings.pop("TEST_MAP_SIZE", None):
        # Users of a path share one store in a process: the crawl gets this one.
        from simcrawl.store import open_store

        open_store(settings["SIMCRAWL_STORE"], map_size=size)
    process: Any = (CrawlerProcess if job["mode"] == "epoll" else AsyncCrawlerProcess)(settings)
    crawlers = [process.create_crawler(_spider(one["spider"])) for one in job["jobs"]]
    for crawler, one in zip(crawlers, job["jobs"], strict=True):
        process.crawl(crawler, **one["arguments"])
    process.start()
    sys.stdout.write("\n" + json.dumps([crawler.stats.get_stats() for crawler in crawlers], default=str) + "\n")


def _spider(name: str) -> Any:
    from scrapy.utils.misc import load_object

    from simcrawl.crawl.spiders.site import SiteSpider
    from tests.crawl import spiders

    if "." in name:
        return load_object(name)
    return SiteSpider if name == "SiteSpider" else getattr(spiders, name)


if __name__ == "__main__":
    main()
