"""Scrapy with and without simcrawl, in turns, on sites of this machine.

    python -m benchmarks.crawl [--sites guide,releases,manual,news] [--latencies 0,0.05] [--delay 0] [--workers auto] [--rounds 3]
        [--count 1000] [--site DIRECTORY] [--releases DIRECTORY] [--packages DIRECTORY] [--against NAME=VALUE] [--scrapy NAME=VALUE]
        [--frozen]

The server is a process of its own; every crawl is one, with a store of its own. Sites:

    guide     the Debian installation guide as tests/sites/installguide.py builds it (downloaded unless --site names a copy): 1,245
              pages, of which two thirds are copies
    releases  Chinese and Japanese manuals of two releases of Debian as benchmarks/crawl/releases.py builds them (downloaded unless
              --releases names a copy)
    manual    `--count` pages with the mark-up of that guide and every word replaced by another one, in each page another: no copies
    news      the same with the news pages of `benchmarks.quality.packages` (downloaded unless --packages names a copy)

`--latencies`: seconds that the server waits before it answers. `--delay`: DOWNLOAD_DELAY, without which Scrapy asks for pages as fast as
it can take them apart, however long the server waits: a crawl that waits for the network needs one. `--workers`: values of
SIMCRAWL_WORKERS, each a contestant. `--against`: a setting, with which simcrawl is a contestant, too; what the settings without it cost
more is told below the table, as the median of the rounds' ratios. `SIMCRAWL_ORDER=False`: what predictions cost. `--scrapy`: a setting
of all crawls. `--frozen`: one contestant more, Scrapy alone that keeps Python's collector of garbage away from what was there before the
crawl, as simcrawl does. 16 requests at a time.
Prints Markdown: medians of the rounds, and behind each figure of simcrawl's its ratio to that without. CPU seconds are those of all
processes of the crawl, and of its own process alone. Lag: how late a timer of 10 ms comes. Memory: peaks of resident memory, of the
crawl's own process, of that without what the system maps of the store's file, and of the largest of the processes that it started.
"""

from __future__ import annotations

import argparse
import compileall
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.crawl import releases
from benchmarks.crawl.runner import FREEZE, ROOT, crawl
from benchmarks.crawl.server import serving
from tests.sites import installguide

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.crawl.runner import Result

FIGURES: dict[str, Callable[[Result], float]] = {
    "pages fetched": lambda result: result.pages,
    "wall s": lambda result: result.wall,
    "pages a second": lambda result: result.pages / result.wall,
    "CPU s": lambda result: result.cpu_of_all,
    "own CPU s": lambda result: result.cpu,
    "lag p50 ms": lambda result: result.lag["p50"],
    "lag p99 ms": lambda result: result.lag["p99"],
    "memory MB": lambda result: result.peak,
    "not mapped": lambda result: result.held,
    "of a worker": lambda result: result.peak_of_others,
    "copies": lambda result: result.stats.get("simcrawl/pages/dropped", 0),
}
WITHOUT = "without simcrawl"
FROZEN = f"{WITHOUT}, frozen"


def main() -> None:
    """Print a table for each site and latency."""
    options = _options()
    # As an installer does; a checkout need not be compiled, as everything else is that these crawls load.
    compileall.compile_dir(ROOT / "simcrawl", quiet=1)
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for kind in options.sites.split(","):
            for latency in options.latencies.split(","):
                with serving(kind, _root(kind, options, work), options.count, float(latency)) as url:
                    print(f"\n{kind}, {1000 * float(latency):.0f} ms, delay {1000 * options.delay:.0f} ms\n")
                    results = _race(url, _of_all(options), _contestants(options), options.rounds)
                    _print(results)
                    if options.against:
                        _compare(results, *list(results)[-2:])


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", default="guide,releases,manual,news")
    parser.add_argument("--latencies", default="0,0.05")
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--workers", default="auto")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--releases", type=Path)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--against", metavar="NAME=VALUE")
    parser.add_argument("--scrapy", metavar="NAME=VALUE")
    parser.add_argument("--frozen", action="store_true")
    return parser.parse_args()


def _root(kind: str, options: Any, work: Path) -> Path:
    if kind == "news":
        return options.packages or work / "packages"
    given, build = (options.releases, releases.build) if kind == "releases" else (options.site, installguide.build)
    site: Path = given or work / build.__module__
    if not site.exists():
        build(site)
    return site


def _of_all(options: Any) -> dict[str, Any]:
    """Return the settings of all crawls."""
    name, _, value = (options.scrapy or "").partition("=")
    return {"DOWNLOAD_DELAY": options.delay} | ({name: value} if name else {})


def _contestants(options: Any) -> dict[str, dict[str, Any]]:
    """Return settings by the name of the contestant, Scrapy alone first.

    The last one is that of `--against`, if there is one, and before it stands what it is compared with.
    """
    contestants: dict[str, dict[str, Any]] = {WITHOUT: {}} | ({FROZEN: {FREEZE: True}} if options.frozen else {})
    addon = {"ADDONS": {"simcrawl.Addon": 500}}
    contestants |= {f"workers {number}": addon | {"SIMCRAWL_WORKERS": number} for number in options.workers.split(",")}
    if options.against:
        name, _, value = options.against.partition("=")
        contestants[options.against] = addon | {"SIMCRAWL_WORKERS": options.workers.split(",")[-1], name: value}
    return contestants


def _race(url: str, of_all: dict[str, Any], contestants: dict[str, dict[str, Any]], rounds: int) -> dict[str, list[Result]]:
    """Return the results of contestants that take turns: in each second round in the opposite order."""
    results: dict[str, list[Result]] = {name: [] for name in contestants}
    for number in range(rounds):
        for name in [*contestants][::-1] if number % 2 else contestants:
            with tempfile.TemporaryDirectory() as store:
                own = {"SIMCRAWL_STORE": f"lmdb://{store}"} | contestants[name]
                results[name].append(crawl("Everything", url, of_all | own))
    return results


def _compare(results: dict[str, list[Result]], name: str, other: str) -> None:
    ratios = {
        figure: median(take(one) / take(two) for one, two in zip(results[name], results[other], strict=True))
        for figure, take in FIGURES.items()
        if figure in ("wall s", "CPU s", "own CPU s")
    }
    told = ", ".join(f"{figure.removesuffix(' s')} {ratio:.3f}" for figure, ratio in ratios.items())
    print(f"\n{name} / {other}, medians of the rounds: {told}")


def _print(results: dict[str, list[Result]]) -> None:
    medians = {name: {figure: median(map(take, runs)) for figure, take in FIGURES.items()} for name, runs in results.items()}
    _row("", *FIGURES)
    _row("---", *["---:"] * len(FIGURES))
    for name, figures in medians.items():
        _row(name, *(_cell(value, medians[WITHOUT][figure] if name != WITHOUT else 0) for figure, value in figures.items()))


def _cell(value: float, usual: float) -> str:
    return f"{value:.1f} ({value / usual:.2f})" if usual else f"{value:.1f}"


def _row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
