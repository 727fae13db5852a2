"""Processes that crawl one site from different entry pages, over one Redis: `python -m benchmarks.fleet.crawl DIRECTORY [PROCESSES]`.

Prints what one process keeps, and what the fleet keeps: contents (as a reader sees them), kept pages that are copies of each other by the
rule, late duplicates, and round trips a page.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule
from simcrawl.store import open_store
from simcrawl.store.views import Only
from tests.crawl.server import DirectorySite
from tests.redis_server import Server

_SETTINGS: dict[str, Any] = {
    "ADDONS": {"simcrawl.Addon": 500},
    "SIMCRAWL_SKIP": False,
    "SIMCRAWL_CRAWL": "fleet",
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
}
_CRAWL = """
import json, sys
from scrapy.crawler import AsyncCrawlerProcess
from simcrawl.crawl.spiders.site import SiteSpider
settings, url = json.loads(sys.stdin.read())
class Kept(SiteSpider):
    async def parse(self, response):
        async for found in super().parse(response):
            if isinstance(found, dict):
                self.crawler.stats.set_value("kept", (self.crawler.stats.get_value("kept") or []) + [found["url"]])
            yield found
process = AsyncCrawlerProcess(settings)
crawler = process.create_crawler(Kept)
process.crawl(crawler, url=url)
process.start()
print(json.dumps(crawler.stats.get_stats(), default=str))
"""


def crawls(store: str, urls: list[str]) -> list[dict[str, Any]]:
    """Crawl from each URL in a process of its own, at the same time; return their stats."""
    with ExitStack() as opened:
        started = []
        for url in urls:
            process = opened.enter_context(
                subprocess.Popen([sys.executable, "-c", _CRAWL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            assert process.stdin
            process.stdin.write(json.dumps([_SETTINGS | {"SIMCRAWL_STORE": store}, url]))
            process.stdin.close()
            started.append(process)
        return [json.loads((process.stdout.read() if process.stdout else "").splitlines()[-1]) for process in started]


def kept_copies(store: str) -> tuple[int, list[tuple[str, str]]]:
    """Return how many pages a store has, and the pairs of them that the rule of its recipe calls copies."""
    with open_store(store, create=False, readonly=True) as opened:
        rule, pages = Rule.of(resolve((opened.header.recipe or "auto").partition("/")[0])), list(opened.pages())
        pairs = []
        for place, stored in enumerate(pages):
            for other in pages[:place]:
                decision = rule.decide(stored.page, Only(other), now=stored.last_seen, callback=stored.callback)
                if decision.original and other.callback in ("", stored.callback):
                    pairs.append((stored.page.url, other.page.url))
    return len(pages), pairs


def show(name: str, store: str, stats: list[dict[str, Any]]) -> None:
    """Print what came of a crawl."""
    pages, pairs = kept_copies(store)
    kept = [url for one in stats for url in one.get("kept", [])]
    counts = {
        "processes": len(stats),
        "fetched": sum(one.get("simcrawl/pages/checked", 0) for one in stats),
        "kept": len(kept),
        "URLs": len(set(kept)),
        "in store": pages,
        "copies among them": len(pairs),
        "late": sum(one.get("simcrawl/store/late_duplicates", 0) for one in stats),
        "errors": sum(one.get("simcrawl/store/errors", 0) + one.get("simcrawl/errors", 0) for one in stats),
        "lag p99": max(one.get("simcrawl/loop/lag_p99", 0) for one in stats),
        "seconds": max(round(one.get("elapsed_time_seconds", 0)) for one in stats),
    }
    print(name, json.dumps(counts), flush=True)
    for pair in pairs[:5]:
        print("   ", *pair)


def main() -> None:
    """Print the comparison."""
    directory, processes = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4
    server = Server()
    try:
        with DirectorySite(directory) as site:
            entries = sorted(path.relative_to(directory).as_posix() for path in directory.glob("*/*/index.html"))
            step = max(1, len(entries) // processes)
            for name, urls in (
                ("one", [site.url("/")]),
                ("fleet", [site.url("/"), *(site.url(f"/{entry}") for entry in entries[::step])][:processes]),
            ):
                store = server.url(name)
                show(name, store, crawls(store, urls))
    finally:
        server.close()


if __name__ == "__main__":
    main()
