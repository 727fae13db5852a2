"""Crawls of several processes that share nothing but a log in Redis."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from simcrawl.cli import run
from simcrawl.store import open_store
from tests.crawl.content import hub
from tests.crawl.runner import crawl
from tests.redis_server import Server, shared_server
from tests.samples import english, page

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_crawl_refuses_to_forget_what_a_fleet_knows(site: Site) -> None:
    build(site)
    settings = {"SIMCRAWL_STORE": shared_server().url(), "SIMCRAWL_RESET": True}
    outcome = crawl("Plain", site.url("/a/"), settings=settings)
    assert "SIMCRAWL_RESET cannot forget" in outcome.log
    assert site.requests["/a/0"] == 0
