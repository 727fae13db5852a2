"""What a host of slow pages, many crawlers in one process, and being told to stop cost: `python -m benchmarks.crawl.hostile`.

300 honest pages of one host are crawled alone, and beside 24 pages of another host that take two seconds of a worker each; 40 crawlers run
in one process; and a crawl of slow pages gets SIGTERM. Times are of the wall: compare those of one run.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

from tests.crawl.content import hub, page
from tests.crawl.runner import _SETTINGS, ROOT
from tests.crawl.server import Site
from tests.crawl.spiders import Base
from tests.processes import offspring
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

_HONEST, _HOSTILE, _CRAWLERS = 300, 24, 40
_FAST = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "SIMCRAWL_ACTION": "observe"}


class Timed(Base):
    """Notes the host of each page that comes out, and after how many seconds."""

    name = "timed"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """Follow the links of the front page: to look for links in slow ones takes the crawl's own time, whoever checks them."""
        self.started = getattr(self, "started", monotonic())
        self.note("times", [response.url.split("/")[2], monotonic() - self.started])
        if response.url.endswith("/"):
            yield from self.follow(response)


def main() -> None:
    """Print the figures."""
    with Site() as site, Site("127.0.0.2") as hostile:
        names = [f"/page{number}" for number in range(_HONEST)]
        for number, name in enumerate(names):
            site.add(name, page("7.4/en/protection", more=english(300, number)))
        for number in range(_HOSTILE):
            slow = gzip.compress(f"<html><body><p>{number} {chr(0xFDFA)} {(chr(0xFDFA) + ' ') * 600_000}".encode())
            hostile.add(f"/slow{number}", slow, Content_Encoding="gzip")
        site.add("/", hub(*names))
        print("| crawl | honest pages, s | half of them, s | all, s | passed unchecked |\n| --- | ---: | ---: | ---: | ---: |")
        _show("300 honest pages", site, _run(site))
        slow_ones = list(map(hostile.url, hostile.answers))
        # Among the others, and all of them before the others.
        for name, links in (("24 slow ones among them", _among(names, slow_ones)), ("24 slow ones first", [*names, *slow_ones])):
            site.add("/", hub(*links))
            _show(name, site, _run(site))
        site.add("/", hub(*names[:20]))
        _many(site)
        slow_paths = [*hostile.answers]
        hostile.add("/", hub(*slow_paths))
        hostile.requests.clear()
        _stopped(hostile)


def _among(names: list[str], others: list[str]) -> list[str]:
    every = len(names) // len(others)
    return [link for at, name in enumerate(names) for link in (*others[at // every : at // every + (at % every == 0)], name)]


def _start(site: Site, *, crawlers: int = 1, **settings: Any) -> subprocess.Popen[str]:
    jobs = [{"spider": "benchmarks.crawl.hostile.Timed", "arguments": {"url": site.url()}}] * crawlers
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "tests.crawl.runner"]
    running = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    if running.stdin:
        running.stdin.write(json.dumps({"jobs": jobs, "mode": "asyncio", "settings": _SETTINGS | _FAST | settings}))
        running.stdin.close()
        running.stdin = None
    return running


def _end(running: subprocess.Popen[str]) -> list[dict[str, Any]]:
    output, _ = running.communicate()
    stats: list[dict[str, Any]] = json.loads(output.splitlines()[-1])
    return stats


def _run(site: Site) -> dict[str, Any]:
    return _end(_start(site))[0]


def _show(name: str, site: Site, stats: dict[str, Any]) -> None:
    times = stats["test/times"]
    honest = sorted(seconds for host, seconds in times if host.startswith(f"{site.host}:"))
    passed = sum(count for key, count in stats.items() if key.startswith("simcrawl/pages/skipped/host_"))
    everything = max(seconds for _, seconds in times)
    print(f"| {name} | {honest[-1]:.1f} | {honest[len(honest) // 2]:.1f} | {everything:.1f} | {passed} |", flush=True)


def _many(site: Site) -> None:
    """Print how many processes so many crawlers have, and how much memory."""
    running, most, largest = _start(site, crawlers=_CRAWLERS, SIMCRAWL_STORE="memory:"), 0, 0
    while running.poll() is None and not _printed(running):
        pids = offspring(running.pid)
        most, largest = max(most, len(pids)), max(largest, sum(map(_proportional, [running.pid, *pids])))
        Event().wait(0.1)
    stats = _end(running)
    checked = sum(one["simcrawl/pages/checked"] for one in stats)
    beside = f"{most} processes beside them, one of which the workers are forked from"
    print(f"\n{_CRAWLERS} crawlers, {checked} pages: {beside}, {largest / 1e6:,.0f} MB in all (PSS).", flush=True)


def _printed(running: subprocess.Popen[str]) -> bool:
    # Its last line may be more than a pipe holds: then somebody has to read it.
    return bool(running.stdout and os.get_blocking(running.stdout.fileno()) and _waits(running.stdout.fileno()))


def _waits(descriptor: int) -> bool:
    from select import select  # noqa: PLC0415 - here only

    return bool(select([descriptor], [], [], 0)[0])


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _stopped(site: Site) -> None:
    """Print how long a crawl of slow pages goes on that is told to stop."""
    running = _start(site, CONCURRENT_REQUESTS=32, CONCURRENT_REQUESTS_PER_DOMAIN=32)
    while len(site.requests) < len(site.answers):
        Event().wait(0.02)
    started = monotonic()
    running.send_signal(signal.SIGTERM)
    stats = _end(running)[0]
    print(f"SIGTERM with {_HOSTILE} slow pages: ended after {monotonic() - started:.1f} s ({stats['finish_reason']}).")


if __name__ == "__main__":
    main()
