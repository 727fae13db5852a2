"""What systems lack is hidden here, one thing at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from simcrawl import open_store, system
from simcrawl.errors import StoreError
from simcrawl.store import truncation
from tests.crawl.runner import ROOT
from tests.samples import english, python

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["posix_fallocate", "without"])
def reserving(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.delattr(os, "posix_fallocate")


@pytest.mark.usefixtures("reserving")
@pytest.mark.parametrize(("size", "start", "length"), [(0, 0, 8192), (100, 100, 200_000), (5000, 0, 8192), (9000, 0, 8192), (10, 10, 1)])
def test_a_file_gets_its_space_and_keeps_what_it_has(tmp_path: Path, size: int, start: int, length: int) -> None:
    path = tmp_path / "file"
    before = os.urandom(size)
    path.write_bytes(before)
    with path.open("r+b") as file:
        system.reserve(file.fileno(), start, length)
    after = path.read_bytes()
    assert after == before + bytes(max(0, start + length - size))
    assert path.stat().st_blocks * 512 >= len(after)


@pytest.mark.usefixtures("reserving")
def test_a_store_that_was_cut_short_is_filled_up(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        store.sync()
    data = tmp_path / "store" / "data.mdb"
    whole = data.read_bytes()
    with data.open("r+b") as file:
        file.truncate(len(whole) - 4096)
    missing = truncation.missing_bytes(data)
    assert missing > 0
    cut = len(whole) - 4096
    truncation.fill_up(data, missing)
    assert data.read_bytes() == whole[:cut] + bytes(missing)
    with pytest.raises(OSError, match="No space left"):
        truncation.fill_up(data, 1 << 60)
    assert data.stat().st_size == cut + missing


def test_cores_are_counted_where_nobody_says_which_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.cores() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert system.cores() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert system.cores() == 1


def test_memory_is_known_or_nought(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = system.memory()
    held = english(200_000)
    # Of a system without such a file nothing is known.
    monkeypatch.setattr(system, "_STATM", str(tmp_path / "statm"))
    assert before > len(held) > system.memory() == 0


def test_a_lock_is_of_one_kind_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (tmp_path / "file").open("rb") as one, (tmp_path / "file").open("rb") as other:
        for held in (one, other):
            system.lock(held, alone=False)
        with pytest.raises(BlockingIOError):
            system.lock(one, alone=True, wait=False)
        other.close()
        system.lock(one, alone=True)
        with (tmp_path / "file").open("rb") as third, pytest.raises(BlockingIOError):
            system.lock(third.fileno(), alone=False, wait=False)


LOCK_AND_FORK = """
import os, sys
from simcrawl import system
held = open(sys.argv[1], "wb")
system.lock(held, alone=True)
if os.fork():
    os._exit(0)
print("copied", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_copy_of_a_process_that_is_dead_holds_nothing(tmp_path: Path):
    command = [sys.executable, "-c", LOCK_AND_FORK, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "copied\n"
        process.wait()
        with (tmp_path / "file").open("rb") as file:
            system.lock(file, alone=True, wait=False)
        assert process.stdin is not None
        process.stdin.close()
        assert process.stdout.read() == ""


def test_without_locks_a_store_on_disk_is_refused_and_one_in_memory_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(tmp_path / "made").close()
    monkeypatch.setattr(system, "fcntl", None)
    for path in (tmp_path / "made", tmp_path / "new"):
        with pytest.raises(StoreError, match="cannot lock files, which a store on disk needs: set SIMCRAWL_STORE to memory:"):
            open_store(path)
    with open_store("memory:") as store:
        store.admit_fingerprint(1)
        assert store.query_fingerprint(3)


@pytest.mark.parametrize("hidden", ["", "raise ImportError", "def getrlimit(_): raise OSError\nRLIMIT_DATA = 0"])
def test_memory_is_bounded_where_it_can_be(tmp_path: Path, hidden: str) -> None:
    if hidden:
        (tmp_path / "resource.py").write_text(hidden)
    code = "from simcrawl import system; print(system.bound_memory(1 << 40))"
    assert python(code, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") == str(not hidden)


@pytest.mark.parametrize(
    ("hidden", "told"), [("", str(2 << 30)), ("raise ImportError", str(sys.maxsize)), ("RLIMIT_DATA = 0", str(sys.maxsize))]
)
def test_what_addresses_a_process_may_reserve(tmp_path: Path, hidden: str, told: str) -> None:
    if hidden:
        (tmp_path / "resource.py").write_text(hidden)
    code = "from simcrawl import system; print(system.address_space())"
    limited = "" if hidden else "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.RLIM_INFINITY)); "
    assert python(limited + code, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") == str(told)
    assert system.address_space() == sys.maxsize


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="what a process has taken of a core is told on Linux only")
def test_the_seconds_of_a_process_are_those_that_it_had_a_core():
    programs = "import time; time.sleep(600)", "while True: pass"
    sleeping, busy = (subprocess.Popen([sys.executable, "-c", program]) for program in programs)
    try:
        assert sleeping.pid != busy.pid
        while (system.seconds_of(busy.pid) or 0) < 1:
            assert busy.poll() is None
        assert (system.seconds_of(sleeping.pid) or 9) < 0.5
    finally:
        for process in (sleeping, busy):
            process.kill()
            process.wait()
    assert system.seconds_of(busy.pid) is None


def test_where_the_system_does_not_tell_what_a_process_has_taken_none_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(time, "clock_gettime")
    assert system.seconds_of(os.getpid()) is None
