"""Files of a store that change places: at every step a process may be killed, while another one reads."""

from __future__ import annotations

from subprocess import PIPE, Popen
from sys import executable
from typing import TYPE_CHECKING

import pytest

from simcrawl.errors import StoreError
from simcrawl.store import open_store
from simcrawl.store.files import hold, logger
from tests.samples import python

if TYPE_CHECKING:
    from logging import LogRecord
    from pathlib import Path

HELD = 200
# Compacts a store, and ends as a kill would before the step that is named by its number; prints the steps' names.
DIES = """
import os, sys
from simcrawl.store import compact
steps = iter(range(int(sys.argv[2])))
def watch(event, arguments):
    if event in ("os.rename", "os.remove", "os.rmdir", "shutil.rmtree"):
        if next(steps, None) is None:
            os._exit(9)
        print(event, flush=True)
sys.addaudithook(watch)
compact(sys.argv[1])
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


def steps(path: Path, most: int) -> list[str]:
    with child(DIES, path, most) as process:
        return process.communicate()[0].split()


@pytest.mark.parametrize("most", range(9))
def test_a_compaction_that_is_killed_leaves_the_old_data_or_the_new(path: Path, most: int):
    with child(READS, path) as reader:
        assert ask(reader) == f"{HELD} []\n"
        assert len(steps(path, most)) <= most
        assert ask(reader) == f"{HELD} []\n"
        python(WRITES, path)
        assert ask(reader) == f"{HELD + 1} []\n"
    with open_store(path) as store:
        assert store.verify() == []
        assert store.counts()["fingerprints"] == HELD + 1
    # What was left of it is no obstacle to the next one.
    assert "os.remove" in steps(path, 1000)
    assert [file.name for file in path.iterdir()] == ["data.mdb"]


def test_the_steps_at_which_it_is_killed_are_all_there_are(path: Path):
    assert len(steps(path, 1000)) < len(range(9))


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
