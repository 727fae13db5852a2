"""One crawl in a process of its own, and what it cost.

As a script it reads a job from standard input, runs it, and writes its result as the last line of standard output.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from array import array
from compileall import compile_dir
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.asyncio import call_later

from benchmarks.crawl import spiders

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

ROOT = Path(__file__).parents[2]
# Requests in flight are bounded by CONCURRENT_REQUESTS: without a delay Scrapy lets more than the limit of a domain pass.
SETTINGS: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "LOG_LEVEL": "WARNING",
    "EXTENSIONS": {"benchmarks.crawl.runner.Meter": 0},
}
FREEZE = "METER_FREEZE"
"""Setting: keep Python's collector of garbage away from what is there when the crawl begins."""
_TICK = 0.01
_POLL = 0.1


@dataclass(slots=True)
class Usage:
    """CPU seconds and peak of resident memory (MB) of a process."""

    cpu: float
    peak: float


@dataclass(slots=True)
class Result:
    """What a crawl cost.

    `lag`: quantiles of the event loop's delay in milliseconds. `others`: the processes that it started. `peak`: of all resident memory of
    its own process, MB; `held`: of that without the store's file, which the system maps as long as nobody else wants the memory.
    """

    pages: int
    wall: float
    cpu: float
    peak: float
    lag: dict[str, float]
    stats: dict[str, Any]
    left: dict[str, Any]
    others: list[Usage] = field(default_factory=list)
    held: float = 0.0

    @property
    def cpu_of_all(self) -> float:
        return self.cpu + sum(usage.cpu for usage in self.others)

    @property
    def peak_of_others(self) -> float:
        return max((usage.peak for usage in self.others), default=0.0)


def crawl(spider: str, url: str, settings: dict[str, Any], watch: Callable[[list[int]], None] | None = None) -> Result:
    """Run a crawl in a session of its own, watch the processes in it, and return what it cost.

    `watch` gets the numbers of the processes ten times a second, the crawl's own first.
    """
    _compile()
    job = json.dumps({"spider": spider, "url": url, "settings": SETTINGS | settings})
    command = [sys.executable, "-m", "benchmarks.crawl.runner"]
    others: dict[int, Usage] = {}
    held = _Held()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True) as process:
        output: list[str] = []
        reader = threading.Thread(target=lambda: output.append(process.communicate(job)[0]))
        reader.start()
        while reader.is_alive():
            found = session(process.pid)
            held.look(process.pid)
            for pid, usage in found.items():
                if pid != process.pid:
                    # Of one that ends the system still tells the time, and no more the memory.
                    others[pid] = Usage(usage.cpu, max(usage.peak, others[pid].peak if pid in others else 0.0))
            if watch:
                watch([process.pid, *others.keys() & found.keys()])
            sleep(_POLL)
    if process.returncode:
        raise RuntimeError(f"the crawl of {url} ended with {process.returncode}")
    left = session(process.pid)
    result = Result(**json.loads(output[0].splitlines()[-1]), others=list(others.values()), held=held.peak)
    result.left["processes"] = len(left)
    return result


@cache
def _compile() -> None:
    """Compile simcrawl's modules, as pip does with what it installs: from a checkout, each crawl might compile them anew."""
    compile_dir(ROOT / "simcrawl", quiet=2)


def session(leader: int) -> dict[int, Usage]:
    """Return the processes of a session that exist, by their number, and what they have used."""
    found = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            values = (directory / "stat").read_text().rpartition(")")[2].split()
            if int(values[3]) == leader and values[0] != "Z":
                cpu = (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")
                found[int(directory.name)] = Usage(cpu, memory(int(directory.name), "VmHWM"))
        except OSError:  # it has ended meanwhile
            continue
    return found


def memory(pid: int | str, line: str) -> float:
    """Return a line of a process's status in MB; 0 where it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next((int(text.split()[1]) / 1024 for text in status.splitlines() if text.startswith(line + ":")), 0.0)


class _Held:
    """The peak of resident memory without the store's file."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._mapped = self._looked = 0.0

    def look(self, pid: int) -> None:
        # To read all maps takes a millisecond or two. What is mapped only grows: too little is subtracted, never too much.
        if perf_counter() - self._looked >= 1:
            self._mapped, self._looked = mapped(pid), perf_counter()
        self.peak = max(self.peak, memory(pid, "VmRSS") - self._mapped)


def mapped(pid: int) -> float:
    """Return how much resident memory of a process is pages of a store's file, in MB."""
    try:
        lines = Path(f"/proc/{pid}/smaps").read_text().splitlines()
    except OSError:
        return 0.0
    starts = [number for number, line in enumerate(lines) if line.endswith("/data.mdb")]
    return sum(int(line.split()[1]) / 1024 for start in starts for line in lines[start : start + 6] if line.startswith("Rss:"))


class Meter:
    """An extension that measures a crawl from its start to its end, and how late a timer of its event loop comes."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._lags = array("d")
        self.result: dict[str, Any] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Meter:
        meter = cls(crawler)
        crawler.signals.connect(meter.start, signal=signals.engine_started)
        crawler.signals.connect(meter.stop, signal=signals.engine_stopped)
        return meter

    def start(self) -> None:
        self._wall, self._cpu = perf_counter(), process_time()
        if self._crawler.settings.getbool(FREEZE):
            gc.collect()
            gc.freeze()
        self._schedule()
        if path := self._crawler.settings.get("METER_PROGRESS"):
            self._tell(Path(path))

    def _schedule(self) -> None:
        self._due = perf_counter() + _TICK
        self._timer = call_later(_TICK, self._tick)

    def _tell(self, progress: Path) -> None:
        """Write the number of pages to a file, twice a second."""
        number = self._crawler.stats.get_value("response_received_count", 0)
        progress.write_text(str(number))
        self._told = call_later(0.5, self._tell, progress)

    def _tick(self) -> None:
        self._lags.append(perf_counter() - self._due)
        self._schedule()

    def stop(self) -> None:
        self._timer.cancel()
        stats: Any = self._crawler.stats
        lags = sorted(self._lags) or [0.0]
        self.result = {
            "pages": stats.get_value("response_received_count", 0),
            "wall": perf_counter() - self._wall,
            "cpu": process_time() - self._cpu,
            "peak": memory("self", "VmHWM"),
            "lag": {name: 1000 * lags[int(share * (len(lags) - 1))] for name, share in (("p50", 0.5), ("p99", 0.99), ("most", 1.0))},
            "stats": json.loads(json.dumps(stats.get_stats(), default=str)),
        }


def main() -> None:
    """Run the job on standard input."""
    job = json.load(sys.stdin)
    process = AsyncCrawlerProcess(job["settings"])
    crawler = process.create_crawler(getattr(spiders, job["spider"]))
    process.crawl(crawler, url=job["url"])
    process.start()
    meter = crawler.get_extension(Meter)
    if meter is None:
        raise RuntimeError("the meter did not run")
    left = {"threads": sorted(thread.name for thread in threading.enumerate()), "files": len(list(Path("/proc/self/fd").iterdir()))}
    print("\n" + json.dumps(meter.result | {"left": left}))


if __name__ == "__main__":
    # By its own name, not as __main__: the extension is looked up by its class.
    import_module("benchmarks.crawl.runner").main()
