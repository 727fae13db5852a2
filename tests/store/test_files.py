"""Files of a store that change places: at every step a process may be killed, while another one reads."""

from __future__ import annotations

from subprocess import PIPE, Popen
from sys import executable
from typing import TYPE_CHECKING

import pytest

from simcrawl.errors import StoreError
from simcrawl.store import compact, open_store
from simcrawl.store.files import hold, logger
from tests.samples import python

if TYPE_CHECKING:
    from logging import LogRecord
    from pathlib import Path

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with open_store(tmp_path / "store") as store:
        for fingerprint in range(HELD):
            store.admit_fingerprint(fingerprint << 16, 0)
            if fingerprint % 3 == 0:
                store.sync()
    return tmp_path / "store"


def child(script: str, *arguments: object) -> Popen[str]:
    return Popen([executable, "-c", script, *map(str, arguments)], stdin=PIPE, stdout=PIPE, text=True)


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
        python(WRITES, path)
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
