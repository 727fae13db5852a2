"""Crawls that are watched from another process: while they run, when they are killed, and when nobody can watch them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.errors import StoreFormatError
from simcrawl.store import open_store, runs
from simcrawl.store.files import hold_directory
from simcrawl.store.running import RUNNING
from tests.crawl.content import hub, page
from tests.crawl.runner import ROOT, crawl
from tests.crawl.test_crawl import IN_ORDER, copies
from tests.crawl.test_frontier import text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simcrawl.store.running import Run
    from tests.crawl.server import Site

WATCH = [sys.executable, "-c", "from simcrawl.cli import main; main()", "watch"]


@contextmanager
def crawling(site: Site, store: Path, spider: str = "Plain") -> Iterator[subprocess.Popen[str]]:
    """Crawl a site in a process of its own."""
    settings = IN_ORDER | {"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_STORE": str(store), "SIMCRAWL_OUTLINKS": "drop"}
    job = {"jobs": [{"spider": spider, "arguments": {"url": site.url()}}], "mode": "asyncio", "settings": settings}
    command = [sys.executable, "-m", "tests.crawl.runner"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT) as process:
        assert process.stdin
        process.stdin.write(json.dumps(job))
        process.stdin.close()
        try:
            yield process
        finally:
            process.kill()


def held(site: Site) -> Event:
    """Fill a site whose last page waits for the event that this returns."""
    copies(site)
    end = Event()
    site.add("/", hub("/first", "/second", "/near", "/other", "/last"))
    site.add("/last", page("7.4/en/toolbars"), hold=end)
    return end


def told(process: subprocess.Popen[str], store: Path, checked: int) -> Run:
    """Return what a crawl tells once it has checked so many pages."""
    while process.poll() is None:
        with suppress(StoreFormatError):  # it is yet to be made
            for run in runs(store):
                if run.told["stats"].get("simcrawl/pages/checked", 0) >= checked:
                    return run
        Event().wait(0.05)
    raise AssertionError(process.stdout and process.stdout.read())


def watch(store: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WATCH, str(store), *options], capture_output=True, text=True, check=False, timeout=60)


def test_a_crawl_is_watched_killed_and_its_last_word_goes_with_the_next(site: Site, tmp_path: Path) -> None:
    end, store = held(site), tmp_path / "store"
    with crawling(site, store) as process:
        run = told(process, store, 5)
        assert run.lives
        assert (run.told["spider"], run.told["pid"]) == ("plain", process.pid)
        assert run.told["dropped_as"] == {"identical text": 1, "near-duplicate": 1}
        assert [drop[2] for drop in run.told["last_dropped"]] == ["identical text", "near-duplicate"]
        assert run.told["queue"] == {"requests": 2, "under_way": 1, "pages": 0}
        assert [(host, count) for host, count, _ in run.told["slowest_hosts"]] == [(site.url().split("/")[2], 5)]
        done = watch(store)
        assert done.returncode == 0, done.stderr
        lines = dict(line.split("\t") for line in done.stdout.splitlines())
        assert lines["state"].startswith("running for 0:0")
        assert (lines["pages checked"], lines["pages dropped"], lines["dropped: near-duplicate"]) == ("5", "2", "1")
        process.kill()
        process.wait()
        end.set()
        # What waited for the answer is gone.
        (run,) = runs(store)
        assert not run.lives
        killed = watch(store, "--json")
        assert killed.returncode == 1
        assert json.loads(killed.stdout)["state"] == "killed"
        assert "killed, after 0:0" in watch(store, "--once").stdout
    assert len(list((store / "running").iterdir())) == 2
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_STORE": str(store)})
    assert outcome.stats["finish_reason"] == "finished"
    assert list((store / "running").iterdir()) == []
    ended = watch(store)
    assert (ended.returncode, ended.stdout) == (1, "")


def test_a_terminal_is_renewed_until_the_crawl_ends(site: Site, tmp_path: Path) -> None:
    end, store = held(site), tmp_path / "store"
    with crawling(site, store) as process:
        told(process, store, 5)
        ours, theirs = pty.openpty()
        watching = subprocess.Popen([*WATCH, str(store), "--interval", "0.1"], stdout=theirs, env=os.environ | {"COLUMNS": "100"})
        os.close(theirs)
        shown = b""
        with os.fdopen(ours, "rb", buffering=0) as terminal, watching, suppress(OSError):  # how Linux says that the other end is closed
            while part := terminal.read(1000):
                shown += part
                if b"near-duplicate of" in shown:
                    end.set()
        assert watching.returncode in (0, 1)
        process.wait()
    text = shown.decode()
    for wanted in ("plain: running for", "dropped: identical text", "requests that wait", "worker processes"):
        assert wanted in text


def test_what_is_told_has_an_end_however_many_hosts_and_rules_there_are(site: Site, tmp_path: Path) -> None:
    end, store = Event(), tmp_path / "store"
    site.add("/", hub("/last"))
    site.add("/last", page(), hold=end)
    with crawling(site, store, "tests.crawl.watch_spiders.Everywhere") as process:
        while not (run := told(process, store, 1)).told["skipped_by"]:
            Event().wait(0.05)
        end.set()
        process.wait()
    assert len(run.told["slowest_hosts"]) == 10
    assert [seconds for _, _, seconds in run.told["slowest_hosts"]] == [float(998 - number) for number in range(10)]
    # Of a thousand that are counted, as hosts are, the site itself among them.
    assert len(run.told["skipped_by"]) == 10
    assert next(iter(run.told["skipped_by"].items())) == ("rule 0", 2)
    assert len(json.dumps(run.told)) < 12_000


def test_rules_that_put_requests_back_are_told(site: Site, tmp_path: Path) -> None:
    end, store = Event(), tmp_path / "store"
    # Of ten pages Scrapy 2.16 puts none back.
    names = [f"{number}.html" for number in range(40)]
    for number, name in enumerate(names):
        site.add(f"/main/{name}", text(number))
        site.add(f"/mirror/{name}", text(number))
    site.add("/", hub(*(f"/main/{name}" for name in names), *(f"/mirror/{name}" for name in names), "/last"))
    site.add("/last", page(), hold=end)
    with crawling(site, store) as process:
        while not (run := told(process, store, 12)).told["queue"]["under_way"] or not run.told["put_back_by"]:
            Event().wait(0.05)
        lines = dict(line.split("\t") for line in watch(store).stdout.splitlines())
        end.set()
        process.wait()
    assert int(lines["put back: 'mirror' stands for 'main'"]) == int(lines["requests put back"]) > 0


def test_openmetrics(site: Site, tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client", reason="needs what pip install -e '.[dev]' installs")
    from prometheus_client.openmetrics import parser

    end, store = held(site), tmp_path / "store"
    with crawling(site, store) as process:
        told(process, store, 5)
        written = watch(store, "--openmetrics").stdout
        end.set()
        process.wait()
    values: dict[Any, float] = {}
    parse: Any = parser.text_string_to_metric_families
    for family in parse(written):
        for sample in family.samples:
            assert sample.labels.pop("spider") == "plain"
            sample.labels.pop("process")
            values[sample.name, *sample.labels.values()] = sample.value
    assert values["simcrawl_up",] == 1
    assert values["simcrawl_pages_total", "admitted"] == 2
    assert values["simcrawl_pages_dropped_total", "near-duplicate"] == 1
    assert values["simcrawl_queue", "under_way"] == 1


def test_where_nothing_can_be_told_the_crawl_goes_on(site: Site, tmp_path: Path) -> None:
    site.add("/", page())
    open_store(tmp_path / "store").close()
    (tmp_path / "store" / "running").write_text("")
    outcome = crawl("Plain", site.url(), settings={"SIMCRAWL_STORE": str(tmp_path / "store")})
    assert outcome.paths("kept") == ["/"]
    assert outcome.log.count("Nobody can watch this crawl, for its state cannot be written") == 1
    assert "Traceback" not in outcome.log


def test_a_crawl_begins_while_others_keep_it_from_telling_of_itself(site: Site, tmp_path: Path) -> None:
    store, asked = tmp_path / "store", Event()
    site.add("/", page("7.4/en/protection"))
    crawl("Plain", site.url(), settings={"SIMCRAWL_STORE": str(store)})
    home = site.answers.pop("/").body.decode()

    def answer(_: str) -> str:
        asked.set()
        return home

    site.trap = answer
    with ExitStack() as others:
        others.enter_context(hold_directory(store / RUNNING, alone=True))
        with crawling(site, store) as process:
            assert asked.wait(60)
            others.close()
            assert process.stdout
            output = process.stdout.read()
            assert process.wait() == 0
    assert "Nobody can watch" not in output
    assert "Spider closed (finished)" in output
    assert list((store / RUNNING).iterdir()) == []


@pytest.mark.parametrize(
    ("store", "code", "message"),
    [
        ("absent", 3, "there is no simcrawl store at absent: a crawl with simcrawl makes one"),
        *(
            (where, 2, f"crawls with {shown} cannot be watched, for that is no directory: read their logs and stats, or set SIMCRAWL_STORE")
            for where, shown in (("memory:", "memory:"), ("redis://:secret@127.0.0.1:1/0", "redis://***@127.0.0.1:1/0"))
        ),
    ],
)
def test_what_is_no_store_on_disk_is_refused(tmp_path: Path, store: str, code: int, message: str) -> None:
    done = subprocess.run([*WATCH, store], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr
