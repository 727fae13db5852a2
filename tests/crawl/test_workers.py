"""Where pages are processed: the verdicts are the same, and whatever a page or a user does, the crawl ends and nothing stays behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.content import hub, page
from tests.crawl.runner import _SETTINGS, MODES, ROOT, crawl, crawls
from tests.crawl.test_crawl import IN_ORDER, check_sums, copies

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

PLACES = pytest.mark.parametrize("workers", [2, 0], ids=["processes", "threads"])
MISBEHAVING = {"SIMCRAWL_EXTRACTOR": "tests.extractors.misbehaving", "SIMCRAWL_MAX_PAGE_SECONDS": 2}
TOPICS = ("autofilter", "autotext", "find-replace", "goal-seek", "toolbars", "openpgp")


def restarts(outcome: Outcome) -> dict[str, int]:
    prefix = "simcrawl/workers/restarts/"
    return {name.removeprefix(prefix): count for name, count in outcome.stats.items() if name.startswith(prefix)}


@pytest.mark.parametrize("mode", MODES)
def test_processes_give_the_same_verdicts_as_threads(site: Site, mode: str) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), mode=mode, settings=IN_ORDER | {"SIMCRAWL_WORKERS": 2})
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    # One page at a time: no second process is started.
    assert outcome.stats["simcrawl/workers/processes"] == outcome.stats["simcrawl/workers/queue_max"] == 1
    assert not re.search(r"Traceback|\[simcrawl[.\w]*\] WARNING|ERROR", outcome.log)
    check_sums(outcome)
    check_costs(outcome)


def check_costs(outcome: Outcome) -> None:
    stats = outcome.stats
    assert all(0 < stats[f"simcrawl/seconds/{stage}"] < 60 for stage in ("extract", "fingerprint"))
    assert all(0 <= stats[f"simcrawl/seconds/{stage}"] < 60 for stage in ("recall", "store", "queue"))
    assert 0 < stats["simcrawl/loop/lag_p50"] <= stats["simcrawl/loop/lag_p99"] < 60


def cascade(outcome: Outcome) -> dict[str, int]:
    prefix = "simcrawl/cascade/"
    return {name.removeprefix(prefix): count for name, count in outcome.stats.items() if name.startswith(prefix)}


def test_the_cascade_is_counted(site: Site, tmp_path: Path) -> None:
    copies(site)
    site.add("/third", page("7.4/en/protection", "/behind?page=first"))
    site.add("/", hub("/first", "/second", "/near", "/other", "/third"))
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_OUTLINKS": "drop", "SIMCRAWL_WORKERS": 0}
    first = cascade(crawl("Plain", site.url(), settings=settings))
    # The hub is short; /third has the body of /first, /second its text, /near nearly that.
    assert first == {"extracted": 7, "body_recent": 1, "decided_by_body": 2, "decided_by_text": 1, "decided_by_tables": 5}
    second = cascade(crawl("Plain", site.url(), settings=settings))
    kept = {"extracted": 2, "body_stored": 6, "decided_by_url": 4}
    assert second == kept | {"decided_by_body": 2, "decided_by_text": 1, "decided_by_tables": 1}


@PLACES
def test_two_crawlers_in_one_process(site: Site, tmp_path: Path, workers: int) -> None:
    copies(site)
    jobs = [{"spider": name, "arguments": {"url": site.url()}} for name in ("Plain", "Async")]
    for outcome in crawls(jobs, settings={"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_WORKERS": workers}):
        check_sums(outcome)
        assert "ERROR" not in outcome.log


def test_a_worker_that_is_killed_takes_no_page_along(site: Site) -> None:
    copies(site)
    outcome = crawl("WorkerKiller", site.url(), settings=IN_ORDER | {"SIMCRAWL_WORKERS": 1})
    # The other one is what workers are forked from.
    assert len(outcome.stats["test/killed"]) == 2
    assert restarts(outcome)["died"] == 1
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    check_sums(outcome)


def misbehaving(site: Site, *names: str) -> None:
    """Fill a site with pages that misbehave, and some that do not."""
    fine = [f"/{topic}" for topic in TOPICS]
    site.add("/", hub(*names, *fine))
    for number, name in enumerate(names):
        site.add(name, page("7.4/en/protection", more=f"Page {number}."))
    for path in fine:
        site.add(path, page(f"7.4/en{path}"))


@pytest.mark.parametrize(("mode", "workers"), [("asyncio", 0), *((mode, 2) for mode in MODES)])
def test_pages_that_hang_pass_and_hold_up_no_other(site: Site, mode: str, workers: int) -> None:
    # As many as there are processes; more than there are threads.
    hanging = [f"/loop{number}" for number in range(5 if not workers else 2)]
    misbehaving(site, *hanging)
    outcome = crawl("Plain", site.url(), mode=mode, settings=MISBEHAVING | {"SIMCRAWL_WORKERS": workers})
    assert outcome.pages()["skipped/too_slow"] == len(hanging)
    assert outcome.pages()["admitted"] == len(TOPICS)
    assert set(outcome.paths("kept")) == set(site.answers)
    assert restarts(outcome) == ({"too_slow": len(hanging)} if workers else {})
    check_sums(outcome)


@pytest.mark.parametrize(("name", "reason", "why"), [("die", "crashed", "died"), ("hold", "too_slow", "too_slow")])
@pytest.mark.parametrize("place", [("asyncio", 2), ("asyncio", 1), ("epoll", 1)])
def test_pages_that_take_their_worker_along_pass(site: Site, place: tuple[str, int], name: str, reason: str, why: str) -> None:
    misbehaving(site, f"/{name}1", f"/{name}2")
    mode, workers = place
    outcome = crawl("Plain", site.url(), mode=mode, settings=MISBEHAVING | {"SIMCRAWL_WORKERS": workers})
    assert outcome.pages()[f"skipped/{reason}"] == 2
    assert outcome.pages()["admitted"] == len(TOPICS)
    assert set(outcome.paths("kept")) == set(site.answers)
    assert restarts(outcome)[why] >= 2
    check_sums(outcome)


def test_pages_that_need_too_much_memory_pass(site: Site) -> None:
    misbehaving(site, "/eat1", "/eat2")
    outcome = crawl("Plain", site.url(), settings=MISBEHAVING | {"SIMCRAWL_WORKERS": 1, "SIMCRAWL_MAX_WORKER_BYTES": 500_000_000})
    assert outcome.pages()["skipped/out_of_memory"] == 2
    assert outcome.pages()["admitted"] == len(TOPICS)
    assert restarts(outcome) == {"memory": 2}


@PLACES
def test_no_more_pages_are_in_work_than_requests_may_be(site: Site, workers: int) -> None:
    names = [f"/page?{number}" for number in range(20)]
    site.add("/", hub(*names))
    for name in names:
        site.add(name, page("7.4/en/protection"))
    outcome = crawl("Plain", site.url(), settings={"CONCURRENT_REQUESTS": 3, "DOWNLOAD_DELAY": 0, "SIMCRAWL_WORKERS": workers})
    assert outcome.pages()["checked"] == 21
    assert 1 < outcome.stats["simcrawl/workers/queue_max"] <= 3


def test_a_body_that_hung_once_is_not_tried_again(site: Site) -> None:
    names = [f"/loop?{number}" for number in range(5)]
    site.add("/", hub(*names))
    for name in names:
        site.add(name, page("7.4/en/protection"))
    outcome = crawl("Broken", site.url(), settings=IN_ORDER | MISBEHAVING | {"SIMCRAWL_WORKERS": 1})
    assert restarts(outcome) == {"too_slow": 1}
    assert outcome.stats["simcrawl/cascade/body_recent"] == 4


# ---- how it ends


@pytest.fixture
def endless(site: Site) -> Iterator[Site]:
    """A site whose last page never comes."""
    never = Event()
    copies(site)
    site.add("/", hub("/first", "/other", "/never"))
    site.add("/never", page("7.4/en/goal-seek"), hold=never)
    yield site
    never.set()


def _running(site: Site, mode: str, workers: int) -> subprocess.Popen[str]:
    """Return a crawl in a session of its own that has processed some pages and waits for one that never comes."""
    settings = _SETTINGS | {"SIMCRAWL_WORKERS": workers, "DOWNLOAD_TIMEOUT": 1, "RETRY_ENABLED": False}
    job = json.dumps({"jobs": [{"spider": "Plain", "arguments": {"url": site.url()}}], "mode": mode, "settings": settings})
    command = [sys.executable, "-m", "tests.crawl.runner"]
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    assert running.stdin
    assert running.stderr
    running.stdin.write(job)
    running.stdin.close()
    running.stdin = None
    # Its callback has run.
    for line in running.stderr:
        if "Scraped from" in line and "/other" in line:
            break
    return running


def _left(session: int) -> list[str]:
    """Return the processes of a session, waiting for their end for a while."""
    deadline = monotonic() + 20
    while (found := _processes(session)) and monotonic() < deadline:
        Event().wait(0.02)
    return found


def _processes(session: int) -> list[str]:
    done = subprocess.run(["ps", "-o", "pid=,stat=,args=", "-s", str(session)], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if line.split()[1][0] != "Z"]


ONCE, TERM, TWICE = [signal.SIGINT], [signal.SIGTERM], [signal.SIGINT] * 2


@pytest.mark.parametrize(
    ("mode", "workers", "signals"),
    [("asyncio", 2, ONCE), ("asyncio", 2, TERM), ("asyncio", 2, TWICE), ("asyncio", 0, TWICE)]
    + [(mode, 2, signals) for mode in ("epoll", "reactorless") for signals in (ONCE, TWICE)],
)
def test_a_crawl_that_is_interrupted_ends_and_leaves_no_process(endless: Site, mode: str, workers: int, signals: list[int]) -> None:
    running = _running(endless, mode, workers)
    assert (len(_processes(running.pid)) > 1) == bool(workers)
    for number in signals:
        os.killpg(running.pid, number)
        if len(signals) > 1:
            _until(running, "Received SIG")
    output, log = running.communicate(timeout=60)
    assert not _left(running.pid)
    assert "KeyboardInterrupt" not in log
    if len(signals) == 1:
        assert json.loads(output.splitlines()[-1])[0]["finish_reason"] == "shutdown"


def _until(running: subprocess.Popen[str], words: str) -> None:
    assert running.stderr
    for line in running.stderr:
        if words in line:
            return


def test_a_crawl_that_is_killed_leaves_no_process(endless: Site) -> None:
    running = _running(endless, "asyncio", 2)
    assert len(_processes(running.pid)) > 1
    running.kill()
    running.communicate(timeout=60)
    assert not _left(running.pid)


SCRIPT = """
import re
from pathlib import Path
from scrapy.crawler import AsyncCrawlerProcess
from tests.crawl.spiders import Plain

print("started", flush=True)


def own_text(body, encoding, url):
    return re.sub("<[^>]*>", " ", body.decode(encoding))


process = AsyncCrawlerProcess({settings!r})
process.crawl(Plain, url={url!r})
process.start()
print("left:", *(pid for thread in Path("/proc/self/task").glob("*/children") for pid in thread.read_text().split()))
"""


@pytest.mark.parametrize("extractor", [None, "__main__.own_text"])
def test_a_script_that_does_not_ask_for_its_name_is_run_once(site: Site, tmp_path: Path, extractor: str | None) -> None:
    copies(site)
    settings: dict[str, Any] = _SETTINGS | IN_ORDER | {"SIMCRAWL_WORKERS": 2, "SIMCRAWL_EXTRACTOR": extractor}
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(settings=settings, url=site.url()))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["started", "left:"]
    assert "'simcrawl/pages/dropped': 2" in done.stderr
    # What only the script knows no other process can load: such pages are made in threads.
    assert done.stderr.count("Pages are processed in threads") == (extractor is not None)
