"""Processes that crawl one site from different entry pages, over one Redis: `python -m benchmarks.fleet.crawl DIRECTORY [PROCESSES]`.

Prints what one process keeps, and what the fleet keeps: pages, those of them that are copies of each other by the rule, late duplicates,
and the contents that only one of the two has.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule
from simcrawl.store import open_store
from simcrawl.store.views import Only
from tests.crawl.server import DirectorySite
from tests.redis_server import Server

if TYPE_CHECKING:
    from simcrawl.rule import StoredPage

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
process = AsyncCrawlerProcess(settings)
crawler = process.create_crawler(SiteSpider)
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


def kept(store: str) -> tuple[Rule, list[StoredPage]]:
    """Return the rule of a store's recipe, and its pages."""
    with open_store(store, create=False, readonly=True) as opened:
        return Rule.of(resolve((opened.header.recipe or "auto").partition("/")[0])), list(opened.pages())


def is_copy(rule: Rule, stored: StoredPage, other: StoredPage) -> bool:
    """Return whether a rule calls a page a copy of another one."""
    return rule.decide(stored.page, Only(other), now=stored.last_seen, callback=stored.callback).original is not None


def copies(rule: Rule, pages: list[StoredPage]) -> list[tuple[str, str]]:
    """Return the pairs of pages that are copies of each other."""
    return [
        (stored.page.url, other.page.url) for place, stored in enumerate(pages) for other in pages[:place] if is_copy(rule, stored, other)
    ]


def missing(rule: Rule, pages: list[StoredPage], among: list[StoredPage]) -> list[str]:
    """Return the URLs of pages whose content is not among others."""
    urls = {stored.page.url for stored in among}
    return [stored.page.url for stored in pages if stored.page.url not in urls and not any(is_copy(rule, stored, other) for other in among)]


def show(name: str, store: str, stats: list[dict[str, Any]]) -> tuple[Rule, list[StoredPage]]:
    """Print what came of a crawl, and return what it kept."""
    rule, pages = kept(store)
    counts = {
        "processes": len(stats),
        "checked": sum(one.get("simcrawl/pages/checked", 0) for one in stats),
        "items": sum(one.get("item_scraped_count", 0) for one in stats),
        "pages": len(pages),
        "copies among them": len(copies(rule, pages)),
        "late": sum(one.get("simcrawl/store/late_duplicates", 0) for one in stats),
        "errors": sum(one.get("simcrawl/store/errors", 0) + one.get("simcrawl/errors", 0) for one in stats),
        "lag p99": max(one.get("simcrawl/loop/lag_p99", 0) for one in stats),
        "seconds": max(round(one.get("elapsed_time_seconds", 0)) for one in stats),
    }
    print(name, json.dumps(counts), flush=True)
    return rule, pages


def main() -> None:
    """Print the comparison."""
    directory, processes = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4
    server = Server()
    try:
        with DirectorySite(directory) as site:
            entries = sorted(path.relative_to(directory).as_posix() for path in directory.glob("*/*/index.html"))
            step = max(1, len(entries) // processes)
            starts = [site.url("/"), *(site.url(f"/{entry}") for entry in entries[::step])][:processes]
            found = []
            for name, urls in (("one", starts[:1]), ("fleet", starts)):
                store = server.url(name)
                # One seed, or their pages could not be compared.
                open_store(store, seed=1).close()
                found.append(show(name, store, crawls(store, urls)))
            (rule, one), (_, fleet) = found
            print("contents of one that the fleet lacks:", len(missing(rule, one, fleet)))
            print("contents of the fleet that one lacks:", len(missing(rule, fleet, one)))
    finally:
        server.close()


if __name__ == "__main__":
    main()
