"""Crawls while Redis is stopped (SIGSTOP) for ten seconds: `python -m benchmarks.fleet.stopped [--rounds 30] [--pages 300]`.

Two processes crawl a site of half copies, from two entry pages, over one Redis. Every other round Redis is not stopped, to compare with.
Prints of the rounds of each kind: how late the event loop was (of the 99th percentiles of the rounds their median, and the largest),
contents that came out of no process, contents that came out twice, how many of them are counted and recorded as late, and errors.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

from benchmarks.fleet.crawl import crawls
from benchmarks.fleet.failures import stopped
from simcrawl.store import open_store
from tests.crawl.server import DirectorySite
from tests.redis_server import Server
from tests.samples import english, page

_SIDES = ("a", "b")


def make_site(directory: Path, pages: int) -> None:
    """Write contents, each under one path a side, and an entry page a side."""
    for side in _SIDES:
        (directory / side).mkdir()
        links = "".join(f'<li><a href="{number}.html">{number}</a>' for number in range(pages))
        (directory / side / "index.html").write_text(f"<html><body><ul>{links}</ul></body></html>")
        for number in range(pages):
            (directory / side / f"{number}.html").write_text(page(english(150, number), wrap="main" if side == "a" else "div"))


def one_round(site: DirectorySite, server: Server, name: str, *, stop: bool, pages: int) -> dict[str, float]:
    """Crawl once; return what came of it."""
    store = server.url(name)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(crawls, store, [site.url(f"/{side}/index.html") for side in _SIDES])
        while server.client().xlen(f"{{{name}}}:log") < pages / 3 and not running.done():
            sleep(0.02)
        if stop:
            stopped(server)
        stats: list[dict[str, Any]] = running.result()
    with open_store(store, create=False, readonly=True) as opened:
        urls = {stored.page.url for stored in opened.pages()}
        recorded = sum(line.url in urls and line.original in urls for line in opened.duplicates())
    kept = [url.rpartition("/")[2] for url in urls if not url.endswith("index.html")]
    return {
        "lag": max(one["simcrawl/loop/lag_p99"] for one in stats),
        "lost": pages - len(set(kept)),
        "twice": len(kept) - len(set(kept)),
        "late": sum(one.get("simcrawl/store/late_duplicates", 0) for one in stats),
        "recorded": recorded,
        "errors": sum(one.get("log_count/ERROR", 0) for one in stats),
        "seconds": max(one["elapsed_time_seconds"] for one in stats),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--pages", type=int, default=300)
    chosen = parser.parse_args()
    server, found = Server(), {False: list[dict[str, float]](), True: list[dict[str, float]]()}
    try:
        with TemporaryDirectory() as directory:
            make_site(Path(directory), chosen.pages)
            with DirectorySite(Path(directory)) as site:
                for number in range(chosen.rounds):
                    for stop, rounds in found.items():
                        rounds.append(one_round(site, server, f"crawl-{number}-{stop}", stop=stop, pages=chosen.pages))
                        print(stop, rounds[-1], flush=True)
    finally:
        server.close()
    for stop, rounds in found.items():
        lags = [one["lag"] for one in rounds]
        sums = {name: round(sum(one[name] for one in rounds)) for name in ("lost", "twice", "late", "recorded", "errors")}
        kind = "stopped for ten seconds" if stop else "not stopped"
        print(f"{kind}, {len(rounds)} rounds: lag p99 {median(lags):.3f} s, at most {max(lags):.3f} s; {sums}")


if __name__ == "__main__":
    main()
