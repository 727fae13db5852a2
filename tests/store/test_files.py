"""Files of a store that change places: at every step a process may be killed, while another one reads."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copytree, rmtree
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.errors import SettingError, StoreError
from simcrawl.store import compact, join_crawl, join_loaded, open_store
from simcrawl.store.files import hold, logger
from tests.forked import python

if TYPE_CHECKING:
    from logging import LogRecord

HELD = 200
# How often a file or directory is renamed or removed, or nearly so; and more.
STEPS, ALL = 11, 1000
WORK = {"compact": "compact(path)", "rebuild": "rebuild(path, '10')", "open": "open_store(path, readonly=True).close()"}
# Works on a store, and ends as a kill would before the step that is named by its number; prints the steps' names.
DIES = """
import os, sys
from simcrawl.store import compact, open_store, rebuild
path, most = sys.argv[1], int(sys.argv[2])
def watch(event, arguments):
    global most
    if event in ("os.rename", "os.remove", "os.rmdir", "shutil.rmtree"):
        if not most:
            os._exit(9)
        most -= 1
        print(event, flush=True)
sys.addaudithook(watch)
"""
WRITES = """
import sys
from simcrawl.store import open_store
with open_store(sys.argv[1]) as store:
    store.admit_fingerprint(1 << 40, 0)
"""
READS = """
import sys
from simcrawl.store import open_store
with open_store(sys.argv[1], readonly=True) as store:
    for line in sys.stdin:
        print(store.counts()["fingerprints"], store.verify(), flush=True)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that is written to in many commits, which tests take copies of."""
    path = tmp_path_factory.mktemp("made") / "store"
    with open_store(path) as store:
        for fingerprint in range(HELD):
            store.admit_fingerprint(fingerprint << 16, 0)
            if fingerprint % 3 == 0:
                store.sync()
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(copytree(made, tmp_path / "store"))


def child(script: str, *arguments: object) -> Popen[str]:
    return Popen([*python(), "-c", script, *map(str, arguments)], stdin=PIPE, stdout=PIPE, text=True)


def ask(reader: Popen[str]) -> str:
    assert reader.stdin
    assert reader.stdout
    reader.stdin.write("\n")
    reader.stdin.flush()
    return reader.stdout.readline()


def steps(path: Path, most: int, work: str) -> int:
    with child(DIES + WORK[work], path, most) as process:
        return len(process.communicate()[0].split())


@pytest.mark.parametrize(("work", "finisher"), [("rebuild", ALL), *(("compact", steps) for steps in (ALL, 0, 1, 2, 3))])
@pytest.mark.parametrize("most", range(STEPS))
def test_work_that_is_killed_leaves_the_old_data_or_the_new(path: Path, work: str, most: int, finisher: int):
    with child(READS, path) as reader:
        assert ask(reader) == f"{HELD} []\n"
        assert steps(path, most, work) == most
        # Who opens it next may be killed, too.
        assert steps(path, finisher, "open") <= finisher
        assert ask(reader) == f"{HELD} []\n"
        with child(WRITES, path) as writer:
            assert writer.wait() == 0
        assert ask(reader) == f"{HELD + 1} []\n"
    with open_store(path) as store:
        assert store.verify() == []
        assert store.counts()["fingerprints"] == HELD + 1
    # What was left of it is no obstacle to the next one, which may have to remove it.
    assert steps(path, ALL, work) >= STEPS
    assert sorted(file.name for file in path.iterdir()) == ["data.mdb", "lock.mdb"]


@pytest.mark.parametrize("work", ["compact", "rebuild"])
def test_the_steps_at_which_it_is_killed_are_all_there_are(path: Path, work: str):
    assert steps(path, ALL, work) == STEPS


def test_who_may_use_the_old_files_may_use_the_new_ones(path: Path):
    (path / "data.mdb").chmod(0o664)
    (path / "lock.mdb").chmod(0o666)
    old = (path / "lock.mdb").stat().st_ino
    compact(path)
    assert (path / "lock.mdb").stat().st_ino != old
    assert [(path / name).stat().st_mode & 0o777 for name in ("data.mdb", "lock.mdb")] == [0o664, 0o666]


def modes(path: Path) -> dict[str, int]:
    """Return the modes of a store's files and directories, each of them once, by their names."""
    found = (path, *path.rglob("*"))
    # A crawl's directory is called by its number.
    return {"crawl" if one.parent.name == "crawls" else one.suffix or one.name: one.stat().st_mode & 0o7777 for one in found}


def crawled(path: Path, **options: Any) -> dict[str, int]:
    """Return the modes in a store while a crawl goes on there that came after another one, and loaded pages."""
    with open_store(path, **options) as store:
        first = join_crawl(store, spider="a")
        first.visit("https://example.org/")
        first.leave(finished=True)
        crawl = join_crawl(store, spider="a", job=str(path.parent / "job"))
        join_loaded(store)
        found = modes(path)
        crawl.leave()
    return found | {"job": (path.parent / "job").stat().st_mode & 0o7777}


DIRECTORIES, IN_ONE = {"crawls", "crawl", "pages", "loaded", "spiders"}, {".mdb", ".json", "live", ".visits", "job"}


@pytest.mark.parametrize(
    ("umask", "options", "mode", "enter"),
    [
        (0, {}, 0o600, 0o700),
        (0o22, {}, 0o600, 0o700),
        (0o77, {"mode": 0o660}, 0o660, 0o770),
        (0, {"mode": 0o620}, 0o620, 0o720),
        (0o77, {"mode": 0o664}, 0o664, 0o775),
    ],
)
def test_who_may_use_a_new_store_is_said_and_not_left_to_the_umask(
    tmp_path: Path, umask: int, options: dict[str, int], mode: int, enter: int
):
    before = os.umask(umask)
    try:
        found = crawled(tmp_path / "new", **options)
    finally:
        os.umask(before)
    assert found == dict.fromkeys(IN_ONE, mode) | dict.fromkeys({"new"} | DIRECTORIES, enter)


def test_what_is_made_in_a_store_later_is_as_its_data_are(path: Path):
    path.chmod(0o2770)
    (path / "data.mdb").chmod(0o664)
    (path / "lock.mdb").chmod(0o664)
    assert crawled(path) == dict.fromkeys(IN_ONE, 0o664) | {"store": 0o2770} | dict.fromkeys(DIRECTORIES, 0o2775)
    compact(path)
    assert crawled(path)[".mdb"] == 0o664


def test_a_directory_that_was_there_keeps_its_mode(tmp_path: Path):
    tmp_path.chmod(0o755)
    open_store(tmp_path).close()
    assert modes(tmp_path) == {tmp_path.name: 0o755, ".mdb": 0o600}


@pytest.mark.parametrize("mode", [0o400, 0o777, 0o1600, 660, -1, "0600"])
def test_a_mode_that_cannot_work_is_refused(tmp_path: Path, mode: Any):
    with pytest.raises(SettingError, match=r"the mode of a store's files is .*: use one from 0o600"):
        open_store(tmp_path / "new", mode=mode)
    assert not (tmp_path / "new").exists()


def test_who_holds_the_data_alone_is_alone(path: Path):
    with hold(path), hold(path), pytest.raises(StoreError, match=r"another process writes to .*: stop the crawl that uses it first"):
        hold(path, alone=True)
    with hold(path, alone=True), pytest.raises(StoreError, match="another process writes to"):
        hold(path, alone=True)
    hold(path).close()


def test_who_waits_says_so(path: Path):
    alone, told = hold(path, alone=True), []

    def tell(record: LogRecord) -> bool:
        told.append(record.getMessage())
        alone.close()
        return False

    logger.addFilter(tell)
    try:
        hold(path).close()
    finally:
        logger.removeFilter(tell)
    assert told == [f"{path} is being compacted or rebuilt: waiting for the end of that"]


def test_a_store_whose_files_are_taken_away_can_be_told(tmp_path: Path):
    path, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    with open_store(path) as store:
        assert not store.is_gone
        path.rename(elsewhere)
        assert store.is_gone
        path.write_text("a file")
        assert store.is_gone
        path.unlink()
        copytree(elsewhere, path)
        assert store.is_gone
        rmtree(path)
        elsewhere.rename(path)
        assert not store.is_gone
    with open_store("memory:") as store:
        assert not store.is_gone
