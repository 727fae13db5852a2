"""Crawls on systems that lack what Linux has: it is hidden from all of a crawl's processes before anything else runs in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.crawl.runner import ROOT, crawl, start
from tests.crawl.test_crawl import IN_ORDER, check_sums, copies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import Site

# The script waits for what is hidden, so that a wrong name here is an error.
AS_MACOS = """
import os, resource
del os.posix_fallocate, os.sched_getaffinity, os.pidfd_open
del resource.RLIMIT_DATA
import simcrawl.system
assert os.path.exists(simcrawl.system._STATM)
simcrawl.system._STATM = "/no/such/file"
"""
WITHOUT_LOCKS = """
import simcrawl.system
assert simcrawl.system.fcntl
simcrawl.system.fcntl = None
"""


@pytest.fixture
def hide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def hidden(code: str) -> None:
        place = tmp_path / "hidden"
        place.mkdir()
        (place / "sitecustomize.py").write_text(f"{code}open({str(place / 'ran')!r}, 'a').write('x')")
        monkeypatch.setenv("PYTHONPATH", f"{place}{os.pathsep}{ROOT}")

    yield hidden
    assert (tmp_path / "hidden" / "ran").read_text()


def test_a_crawl_with_processes_and_a_store_on_disk_needs_nothing_that_macos_lacks(site: Site, tmp_path: Path, hide) -> None:
    copies(site)
    hide(AS_MACOS)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_WORKERS": 2, "SIMCRAWL_STORE": str(tmp_path / "store")})
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    assert outcome.stats["simcrawl/workers/processes"] >= 1
    assert not any(word in outcome.log for word in ("Traceback", "[simcrawl] WARNING", "ERROR"))
    # A second time on the same files.
    again = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_ORIGINALS": "store"})
    assert again.paths("dropped") == outcome.paths("dropped")
    check_sums(again)


def test_a_crawl_with_threads_and_a_store_in_memory_needs_no_locks(site: Site, hide) -> None:
    copies(site)
    hide(WITHOUT_LOCKS)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_WORKERS": 0})
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]


def test_a_crawl_with_a_store_on_disk_does_not_begin_without_locks(site: Site, tmp_path: Path, hide) -> None:
    hide(WITHOUT_LOCKS)
    done = start([{"spider": "Plain", "arguments": {"url": site.url()}}], settings={"SIMCRAWL_STORE": str(tmp_path / "store")})
    assert "ERROR: this system cannot lock files, which a store on disk needs: set SIMCRAWL_STORE to memory:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not site.requests
