"""A long crawl, and whether anything grows in it.

    python -m benchmarks.crawl.soak [--pages 200000] [--warm-up 0.5] [--workers auto] [--without]

The pages are made by the server as they are asked for: of ten, six are like no other, two are copies of an earlier page, one is a
near-copy, one has few words (`benchmarks.crawl.sites.endless`). `--without`: the same crawl without simcrawl. Every ten seconds it prints
the pages, and the memory of the crawl's process and of its largest worker that is no file's (RssAnon); at the end the slope of both in
10,000 pages after the warm-up (a share of all pages), and what is left: threads and files of the crawl's process before it ends, and
processes after it.

Scrapy's set of seen requests is off: it grows by over a megabyte in 10,000 pages. What simcrawl's store keeps in memory grows too: some 36
bytes a page, up to 192 MB (see `memory=` of `open_store`); it is part of the slope.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from benchmarks.crawl.runner import crawl, memory
from benchmarks.crawl.server import serving

PROGRESS_SECONDS = 10


def main() -> None:
    """Print the progress, and the slopes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--warm-up", type=float, default=0.5)
    parser.add_argument("--workers", default="auto")
    parser.add_argument("--without", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work, serving("endless", Path(work), options.pages, 0) as url:
        progress = Path(work, "progress")
        settings: dict[str, Any] = {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter", "METER_PROGRESS": str(progress)}
        if not options.without:
            settings |= {"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_STORE": f"lmdb://{work}/store", "SIMCRAWL_WORKERS": options.workers}
        watch = _Watch(progress)
        result = crawl("Indexed", url, settings, watch)
    _report(watch, result.wall, options)
    print({name: value for name, value in result.stats.items() if name.startswith(("simcrawl/", "finish_reason", "log_count"))})
    print(f"left: {result.left}; CPU {result.cpu:.0f} s, with {len(result.others)} others {result.cpu_of_all:.0f} s")


class _Watch:
    """Keeps the memory of the processes of a crawl, and prints it."""

    def __init__(self, progress: Path) -> None:
        self.samples: list[tuple[float, float, float]] = []
        self._progress, self._started, self._next = progress, monotonic(), 0.0

    def __call__(self, pids: list[int]) -> None:
        if monotonic() < self._next or not self._progress.exists():
            return
        self._next = monotonic() + PROGRESS_SECONDS
        own, *others = (memory(pid, "RssAnon") for pid in pids)
        pages = int(self._progress.read_text() or 0)
        if own:
            self.samples.append((pages, own, max(others, default=0.0)))
            print(f"{monotonic() - self._started:6.0f} s {pages:8} pages {own:7.1f} MB, worker {self.samples[-1][2]:7.1f} MB", flush=True)


def _report(watch: _Watch, wall: float, options: Any) -> None:
    samples = np.array([sample for sample in watch.samples if sample[0] >= options.warm_up * options.pages])
    print(f"{options.pages} pages in {wall:.0f} s, {options.pages / wall:.0f} a second")
    for name, column in (("the crawl's process", 1), ("its largest worker", 2)):
        slope = np.polyfit(samples[:, 0], samples[:, column], 1)[0] * 10_000 if len(samples) > 1 else float("nan")
        print(f"{name}: {slope:+.2f} MB in 10,000 pages, at most {max(sample[column] for sample in watch.samples):.0f} MB")


if __name__ == "__main__":
    main()
