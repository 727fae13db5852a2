"""Bulk load of pages beside extraction alone, on all cores, in turns.

    python -m benchmarks.store.bulk [--site DIRECTORY] [--rounds 3] [--workers N]

The corpus is the Debian installation guide (see tests/sites/installguide.py; downloaded unless --site names a copy). "Extraction alone"
is `fingerprint_page` of bodies that are in memory already, in as many processes, fed in the same batches; "load" reads the files,
extracts, decides and writes a durable store. Both start their processes anew. Every body gets a comment of its own: otherwise load
would not extract those that it has seen.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import simcrawl
from simcrawl.system import cores
from simcrawl.tools import bulk
from simcrawl.tools.bulk import load_pages, read_pages
from tests.sites import installguide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcrawl.workers.pool import RawPage


def main() -> None:
    """Print one line a round, and the ratio of the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=cores())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        site = arguments.site or Path(directory) / "site"
        if not arguments.site:
            installguide.build(site)
        alone, load = [], []
        for _ in range(arguments.rounds):
            alone.append(_extract(site, arguments.workers))
            load.append(_load(site, arguments.workers))
    print(f"load at {median(load) / median(alone):.2f} x the speed of extraction alone, {arguments.workers} processes")


def _pages(site: Path) -> Iterator[RawPage]:
    for number, page in enumerate(read_pages(site)):
        yield page._replace(body=page.body + b"<!-- %d -->" % number)


def _extract(site: Path, workers: int) -> float:
    detector = simcrawl.Detector(simcrawl.open_store("memory:"))
    batches = list(bulk._batches(list(_pages(site))))  # noqa: SLF001
    started = perf_counter()
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("forkserver")) as pool:
        made = list(pool.map(partial(_made, options=detector.page_options), batches))
    return _rate("extraction alone", sum(map(len, made)), started)


def _made(batch: list[RawPage], options: dict[str, Any]) -> list[object]:
    return [simcrawl.fingerprint_page(page.body, url=page.url, encoding=page.encoding, **options) for page in batch]


def _load(site: Path, workers: int) -> float:
    with tempfile.TemporaryDirectory() as directory, simcrawl.open_store(directory) as store:
        started = perf_counter()
        loaded = load_pages(simcrawl.Detector(store), _pages(site), workers=workers)
        return _rate(f"load ({loaded.admitted} admitted, {loaded.copies} copies)", loaded.read, started)


def _rate(name: str, pages: int, started: float) -> float:
    seconds = perf_counter() - started
    print(f"{name}: {pages} pages in {seconds:.1f} s, {pages / seconds:.0f} pages a second")
    return pages / seconds


if __name__ == "__main__":
    main()
