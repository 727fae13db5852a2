"""Crawls of several processes that share nothing but a log in Redis."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

from simcrawl.cli import run
from simcrawl.store import open_store
from tests.crawl.content import hub
from tests.crawl.runner import crawl
from tests.redis_server import Server, shared_server
from tests.samples import english, page

if TYPE_CHECKING:
    import pytest

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

CONTENTS, SIDES = 60, ("a", "b", "c")


def build(site: Site) -> None:
    """Serve contents, each under one path a side."""
    for side in SIDES:
        site.add(f"/{side}/", hub(*(f"/{side}/{number}" for number in range(CONTENTS))))
        for number in range(CONTENTS):
            site.add(f"/{side}/{number}", page(english(150, number), wrap="main" if side == "b" else "div"))


def crawl_sides(site: Site, store: str) -> list[Outcome]:
    """Crawl each side in a process of its own, at the same time."""
    settings: dict[str, Any] = {"SIMCRAWL_STORE": store, "SIMCRAWL_CRAWL": "together", "SIMCRAWL_SKIP": False, "LOG_LEVEL": "INFO"}
    with ThreadPoolExecutor(len(SIDES)) as threads:
        return list(threads.map(lambda side: crawl("Plain", site.url(f"/{side}/"), settings=settings), SIDES))


def test_processes_that_share_a_log_keep_each_content_once(site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    build(site)
    store = shared_server().url()
    outcomes = crawl_sides(site, store)
    kept = [path for outcome in outcomes for path in outcome.paths("kept") if not path.endswith("/")]
    assert sorted(int(path.rpartition("/")[2]) for path in kept) == list(range(CONTENTS))
    for outcome in outcomes:
        assert outcome.stats["finish_reason"] == "finished"
        assert outcome.stats["simcrawl/store/late_duplicates"] == 0
        assert " ERROR: " not in outcome.log
        assert " WARNING: " not in outcome.log
    assert run(["stats", store, "--json"]) == 0
    stats = json.loads(capfd.readouterr().out)
    assert stats["duplicates"] == len(SIDES) * CONTENTS - CONTENTS
    assert run(["duplicates", store, "--urls"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == stats["duplicates"]
    assert run(["report", store, "-o", str(tmp_path / "report.html")]) == 0
    assert run(["rules", store]) == 0
    assert run(["verify", store]) == 0
    with open_store(store, create=False, readonly=True) as opened:
        copy = next(opened.duplicates())
        assert len(opened.crawls()) == len(SIDES)
    assert run(["reject", store, copy.url]) == 0
    with open_store(store, create=False, readonly=True) as opened:
        assert [rejection.url for rejection in opened.rejections()] == [copy.url]


def test_a_password_of_the_server_is_in_no_log_no_record_and_no_page(site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = Server("--save", "", "--appendonly", "no", "--requirepass", "hunter2")
    try:
        build(site)
        store = server.url().replace("://", "://:hunter2@")
        outcome = crawl("Plain", site.url("/a/"), settings={"SIMCRAWL_STORE": store, "LOG_LEVEL": "DEBUG"})
        assert outcome.stats["simcrawl/pages/admitted"] > CONTENTS
        with open_store(store, create=False, readonly=True) as opened:
            (record,) = opened.crawls()
        assert record["settings"]["SIMCRAWL_STORE"].startswith("redis://***@127.0.0.1:")
        assert run(["report", store, "-o", str(tmp_path / "report.html")]) == 0
        assert run(["stats", store]) == 0
        told = outcome.log + json.dumps(record) + "".join(capfd.readouterr()) + (tmp_path / "report.html").read_text()
        assert "hunter2" not in told
    finally:
        server.close()


EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "fleet"


def begin_example(server: Server, items: Path, *, idle: int) -> subprocess.Popen[str]:
    """Begin a process of the example project, which ends after so many idle seconds."""
    command = [sys.executable, "-m", "scrapy", "crawl", "manual", "-o", str(items), "-s", "LOG_LEVEL=INFO", "-s", "SIMCRAWL_SKIP=False"]
    environment = os.environ | {"REDIS_URL": f"redis://127.0.0.1:{server.port}/0", "IDLE": str(idle)}
    return subprocess.Popen(command, cwd=EXAMPLE, env=environment, stderr=subprocess.PIPE, text=True)


def logs_of(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Return what processes log until they end."""
    with ThreadPoolExecutor(len(processes)) as threads:
        return list(threads.map(lambda process: process.communicate()[1], processes))


def contents_in(store: str) -> list[int]:
    """Return the contents of the pages that came out."""
    with open_store(store, create=False, readonly=True) as opened:
        paths = [stored.page.url.rpartition("/")[2] for stored in opened.pages()]
    return sorted(int(path) for path in paths if path)


def test_the_example_beside_scrapy_redis_keeps_each_content_once(site: Site, tmp_path: Path) -> None:
    server = Server()
    try:
        build(site)
        server.client().lpush("manual:start_urls", *(site.url(f"/{side}/") for side in SIDES))
        processes = [begin_example(server, tmp_path / f"{number}.jsonl", idle=10) for number in range(2)]
        for log in logs_of(processes):
            assert " ERROR: " not in log
        items = [json.loads(line)["url"] for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
        assert sorted(int(url.rpartition("/")[2]) for url in items if not url.endswith("/")) == list(range(CONTENTS))
        assert contents_in(server.url("manual")) == list(range(CONTENTS))
    finally:
        server.close()


def contents_that_wait(server: Server) -> set[int]:
    """Return the contents for which a request is in scrapy-redis's queue."""
    client: Any = server.client()
    return {int(number) for request in client.zrange("manual:requests", 0, -1) for number in re.findall(rb"/[abc]/(\d+)", request)}


def test_what_a_killed_process_of_the_example_had_claimed_comes_out_of_another_one(site: Site, tmp_path: Path) -> None:
    server = Server()
    try:
        build(site)
        log: Any = server.client()
        log.lpush("manual:start_urls", *(site.url(f"/{side}/") for side in SIDES))
        # scrapy-redis counts idle seconds from the moment it makes the spider, so a slow start is among them.
        killed, other = (begin_example(server, tmp_path / f"{idle}.jsonl", idle=idle) for idle in (60, 20))
        while log.xlen("{manual}:log") < CONTENTS and killed.poll() is None:
            sleep(0.01)
        # It takes no more requests from now on. Those that it has taken are lost by scrapy-redis, and with them contents all of whose
        # addresses are among these. Under load that is most of them, so how many come out says nothing.
        killed.send_signal(signal.SIGSTOP)
        os.waitpid(killed.pid, os.WUNTRACED)
        known, waiting = set(contents_in(server.url("manual"))), contents_that_wait(server)
        killed.kill()
        ended, went_on = killed.communicate()[1], logs_of([other])[0]
        kept = contents_in(server.url("manual"))
        assert " ERROR: " not in went_on
        said = f"killed:\n{ended}\nthe other:\n{went_on}"
        assert known | waiting <= set(kept), f"{known | waiting} came to {kept}, {contents_that_wait(server)} wait\n{said}"
        assert len(kept) == len(set(kept)), f"{kept}\n{said}"
    finally:
        server.close()


def test_a_crawl_refuses_to_forget_what_a_fleet_knows(site: Site) -> None:
    build(site)
    settings = {"SIMCRAWL_STORE": shared_server().url(), "SIMCRAWL_RESET": True}
    outcome = crawl("Plain", site.url("/a/"), settings=settings)
    assert "SIMCRAWL_RESET cannot forget" in outcome.log
    assert site.requests["/a/0"] == 0
