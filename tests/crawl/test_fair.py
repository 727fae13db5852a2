"""Pages that take long beside others: hosts take turns, crawlers share processes, and nobody waits for ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.content import hub, page
from tests.crawl.runner import _SETTINGS, MODES, ROOT, crawl, crawls
from tests.crawl.server import Site
from tests.crawl.test_crawl import check_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW = {
    "SIMCRAWL_EXTRACTOR": "tests.extractors.misbehaving",
    "SIMCRAWL_ORDER": False,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
}
HONEST, HOSTILE = 60, 24


@pytest.fixture
def hostile() -> Iterator[Site]:
    """A host whose pages take two seconds of a worker each."""
    with Site("127.0.0.2") as running:
        for number in range(HOSTILE):
            running.add(f"/slow{number}", page("7.4/en/toolbars", more=f"Hostile page {number}."))
        yield running


def _beside(site: Site, hostile: Site) -> None:
    fine = [f"/fine{number}" for number in range(HONEST)]
    for number, path in enumerate(fine):
        site.add(path, page("7.4/en/protection", more=f"Page {number}."))
    # Scrapy takes the last one first.
    site.add("/", hub(*fine, *map(hostile.url, hostile.answers)))


def test_a_host_of_slow_pages_holds_up_no_other(site: Site, hostile: Site) -> None:
    _beside(site, hostile)
    outcome = crawl("Plain", site.url(), settings=SLOW | {"SIMCRAWL_WORKERS": 1, "SIMCRAWL_ACTION": "observe"})
    skipped = outcome.pages()["skipped/host_over_budget"]
    # Those that were made before the last honest page came out: it would have been all of them.
    kept = outcome.stats["test/kept"]
    last = max(place for place, url in enumerate(kept) if "127.0.0.1" in url)
    assert len(kept) == HONEST + HOSTILE + 1
    assert 8 <= skipped < HOSTILE
    assert sum("127.0.0.2" in url for url in kept[last:]) + skipped >= HOSTILE - 8
    # Nobody else pays.
    assert outcome.pages()["checked"] - outcome.pages().get("skipped", 0) >= HONEST
    assert outcome.log.count("Pages of 127.0.0.2 take so long") == 1
    assert "Pages of 127.0.0.1" not in outcome.log
    check_sums(outcome)


def build(site: Site, *names: str) -> None:
    site.add("/", hub(*names))
    for number, name in enumerate(names):
        site.add(name, page("7.4/en/toolbars", more=f"Page {number}."))


def test_a_host_alone_may_take_all_the_time_there_is(site: Site) -> None:
    build(site, *(f"/slow{number}" for number in range(4)))
    outcome = crawl("Plain", site.url(), settings=SLOW | {"SIMCRAWL_WORKERS": 1, "SIMCRAWL_MAX_HOST_SECONDS": 0.001})
    assert "skipped/host_over_budget" not in outcome.pages()
    check_sums(outcome)


def test_a_page_that_waits_for_long_passes(site: Site) -> None:
    build(site, *(f"/loop{number}" for number in range(3)))
    settings = SLOW | {"SIMCRAWL_WORKERS": 1, "SIMCRAWL_MAX_PAGE_SECONDS": 4, "SIMCRAWL_MAX_WAIT_SECONDS": 0.5}
    outcome = crawl("Plain", site.url(), settings=settings)
    # One at work, one in line with it, and the third one that waits.
    assert outcome.pages()["skipped/waited_too_long"] >= 1
    assert outcome.pages()["skipped/too_slow"] >= 1
    assert outcome.log.count("waited too long for a worker process") == 1
    assert set(outcome.paths("kept")) == set(site.answers)
    check_sums(outcome)


@pytest.mark.parametrize("store", ["memory:", "one"])
def test_many_crawlers_share_the_processes_of_one(site: Site, store: str, tmp_path: Any) -> None:
    names = [f"/fine{number}" for number in range(6)]
    site.add("/", hub(*names))
    for number, name in enumerate(names):
        site.add(name, page("7.4/en/toolbars", more=f"Page {number}."))
    jobs = [{"spider": "Plain", "arguments": {"url": site.url()}} for _ in range(12)]
    # In memory each has a seed of its own, which a worker has to be told.
    where = store if store == "memory:" else str(tmp_path / store)
    outcomes = crawls(jobs, settings={"SIMCRAWL_STORE": where, "SIMCRAWL_WORKERS": 2, "DOWNLOAD_DELAY": 0})
    for outcome in outcomes:
        assert set(outcome.paths("kept")) | {path for path, _ in outcome.paths("dropped")} == set(site.answers)
        assert outcome.stats["simcrawl/workers/processes"] <= 3
        assert "ERROR" not in outcome.log
        check_sums(outcome)
    assert sum(outcome.stats.get("simcrawl/cascade/extracted", 0) for outcome in outcomes) >= 7


@pytest.mark.parametrize(("mode", "workers"), [*((mode, 1) for mode in MODES), ("asyncio", 0)])
def test_a_crawl_that_is_told_to_stop_waits_for_no_page(site: Site, mode: str, workers: int) -> None:
    # They would take for ever, one after the other.
    name = "loop" if workers else "slow"
    names = [f"/{name}{number}" for number in range(12)]
    site.add("/", hub(*names))
    for number, path in enumerate(names):
        site.add(path, page("7.4/en/toolbars", more=f"Page {number}."))
    settings = _SETTINGS | SLOW | {"SIMCRAWL_WORKERS": workers, "SIMCRAWL_MAX_PAGE_SECONDS": 600, "SIMCRAWL_MAX_WAIT_SECONDS": 600}
    outcome = _terminated(site, {"jobs": [{"spider": "Plain", "arguments": {"url": site.url()}}], "mode": mode, "settings": settings})
    assert outcome["finish_reason"] == "shutdown"
    assert outcome["simcrawl/pages/skipped/stopping"] >= 1
    # Their content comes out all the same.
    assert len(outcome["test/kept"]) + len(outcome.get("test/dropped", [])) == outcome["response_received_count"]


def _terminated(site: Site, job: dict[str, Any]) -> dict[str, Any]:
    """Return the stats of a crawl that gets SIGTERM when it has asked for all pages of a site."""
    command = [sys.executable, "-m", "tests.crawl.runner"]
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    assert running.stdin
    assert running.stderr
    running.stdin.write(json.dumps(job))
    running.stdin.close()
    running.stdin = None
    for line in running.stderr:
        if "Scraped from" in line:
            break
    # Its front page links to the others.
    deadline = monotonic() + 60
    while len(site.requests) < len(site.answers) and monotonic() < deadline:
        Event().wait(0.02)
    os.kill(running.pid, signal.SIGTERM)
    output, log = running.communicate(timeout=100)
    assert running.returncode == 0, log
    stats: dict[str, Any] = json.loads(output.splitlines()[-1])[0]
    return stats
