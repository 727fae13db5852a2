"""An index of its own: exact, durable, shared by processes, and refusing what is not one."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import lmdb
import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from simcrawl.bits import hamming_distance
from simcrawl.errors import StoreCorruptError, StoreFormatError, StoreMismatchError
from simcrawl.index import open_index
from simcrawl.store import open_store

if TYPE_CHECKING:
    from simcrawl.index import HammingIndex

CENTRES = [0, (1 << 128) - 1, Random(3).getrandbits(128)]


class AnyOrder(RuleBasedStateMachine):
    """An index against a set and brute force."""

    index: HammingIndex

    @initialize(where=st.sampled_from(["memory", "disk"]), bits=st.sampled_from([16, 64, 128]), design=st.sampled_from(["4", "10"]))
    def open(self, where: str, bits: int, design: str) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name, "index") if where == "disk" else None
        self.bits, self.design = bits, design
        self.index = open_index(self.path, bits=bits, design=design, sync_seconds=1e9, map_size=1 << 30)
        self.held = set[int]()

    def one(self, centre: int, spread: int) -> int:
        return (CENTRES[centre] ^ spread ^ spread << 40) % (1 << self.bits)

    @rule(centre=st.integers(0, 2), spread=st.integers(0, 255))
    def insert(self, centre: int, spread: int) -> None:
        fingerprint = self.one(centre, spread)
        assert self.index.insert(fingerprint) == (fingerprint not in self.held)
        self.held.add(fingerprint)

    @rule(centre=st.integers(0, 2), spread=st.integers(0, 255))
    def remove(self, centre: int, spread: int) -> None:
        fingerprint = self.one(centre, spread)
        assert self.index.remove(fingerprint) == (fingerprint in self.held)
        self.held.discard(fingerprint)

    @rule(spreads=st.lists(st.integers(0, 255), max_size=20))
    def load(self, spreads: list[int]) -> None:
        some = [self.one(centre, spread) for centre in range(3) for spread in spreads]
        self.index.load(some)
        self.held.update(some)

    @rule(centre=st.integers(0, 2), spread=st.integers(0, 255), distance=st.integers(0, 10))
    def within(self, centre: int, spread: int, distance: int) -> None:
        asked = self.one(centre, spread)
        wanted = {other: apart for other in self.held if (apart := hamming_distance(asked, other)) <= distance}
        assert self.index.within(asked, distance) == wanted
        assert (asked in self.index) == (asked in self.held)

    @rule()
    def open_again(self) -> None:
        if self.path:
            self.index.close()
            self.index = open_index(self.path, sync_seconds=0, map_size=1 << 30)
            assert (self.index.design.bits, self.index.design.name) == (self.bits, self.design)

    @rule(size=st.integers(1, 50))
    def everything(self, size: int) -> None:
        chunks = list(self.index.chunks(size))
        found = [int.from_bytes(row.tobytes(), "little") for chunk in chunks for row in chunk]
        assert len(found) == len(self.index) == len(self.held)
        assert set(found) == self.held
        assert self.index.verify() == []

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
            self.directory.cleanup()


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(stateful_step_count=30, max_examples=30, deadline=None)

INSERT = """
import sys
from simcrawl.index import open_index
index = open_index(sys.argv[1], sync_seconds=1e9)
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    index.insert(number << 8)
print("inserted", flush=True)
if sys.stdin.readline() == "sync\\n":
    index.sync()
print("done", flush=True)
sys.stdin.readline()
"""


def _process(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", INSERT, str(path), str(first), str(last)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "inserted\n"
    return process


def _sync(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    assert process.stdout
    process.stdin.write("sync\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"


def test_what_was_synced_outlives_a_killed_process_and_what_was_not_is_gone(tmp_path: Path):
    for synced in (True, False):
        path = tmp_path / str(synced)
        process = _process(path, 0, 500)
        if synced:
            _sync(process)
        with process:
            process.kill()
        with open_index(path) as index:
            assert index.verify() == []
            assert len(index) == (500 if synced else 0)


def test_two_processes_insert_into_one_index_and_each_fingerprint_is_there_once(tmp_path: Path):
    one, other = _process(tmp_path, 0, 300), _process(tmp_path, 200, 500)
    with open_index(tmp_path) as index:
        assert len(index) == 0
        _sync(one)
        assert index.within(250 << 8, 0) == {250 << 8: 0}
        assert not index.insert(250 << 8)
        _sync(other)
        assert len(index) == 500
        assert index.verify() == []
        assert index.within(450 << 8, 1).keys() == {450 << 8, *((450 ^ 1 << bit) << 8 for bit in range(9) if 450 ^ 1 << bit < 500)}
    for process in (one, other):
        process.communicate("\n")
        assert process.returncode == 0


def test_an_index_finds_what_brute_force_finds_among_many(tmp_path: Path):
    held = np.random.default_rng(5).integers(0, 2**64, 60_000, dtype=np.uint64)
    with open_index(tmp_path) as index:
        index.load(held)
        for query in held[:20].tolist():
            apart = np.bitwise_count(held ^ np.uint64(query ^ 0b101))
            near = np.flatnonzero(apart <= 12)
            assert index.within(query ^ 0b101, 12) == dict(zip(held[near].tolist(), apart[near].tolist(), strict=True))


@pytest.mark.parametrize("wrong", [-1, 1 << 16])
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_fingerprint_of_another_width_is_refused(tmp_path: Path, where: str, wrong: int):
    with open_index(tmp_path if where == "disk" else None, bits=16) as index:
        for call in (index.insert, index.remove, lambda asked: index.within(asked, 3), lambda asked: index.load([asked])):
            with pytest.raises((ValueError, OverflowError), match=r"16|negative|out of bounds"):
                call(wrong)
        assert len(index) == 0


def test_an_index_says_with_what_it_was_made(tmp_path: Path):
    open_index(tmp_path, bits=32, design="10").close()
    for wanted in ({"bits": 64}, {"design": "4"}):
        with pytest.raises(StoreMismatchError, match=r"was made with (bits 32|design 10), not (64|4)"):
            open_index(tmp_path, **wanted)
    with open_index(tmp_path, bits=32) as index:
        assert len(index.design.tables) == 10


def test_what_is_no_index_is_refused_and_left_as_it_was(tmp_path: Path):
    open_store(tmp_path / "store", recipe="auto").close()
    with pytest.raises(StoreFormatError, match=r"simcrawl\.open_store"):
        open_index(tmp_path / "store")
    open_store(tmp_path / "store").close()
    with lmdb.open(str(tmp_path / "other"), max_dbs=2) as env:
        env.open_db(b"something else")
    with pytest.raises(StoreFormatError, match="something else"):
        open_index(tmp_path / "other")
    with lmdb.open(str(tmp_path / "other"), max_dbs=2) as env, env.begin() as txn:
        assert list(txn.cursor().iternext(values=False)) == [b"something else"]


def test_a_damaged_header_is_told(tmp_path: Path):
    open_index(tmp_path).close()
    with lmdb.open(str(tmp_path), max_dbs=128) as env:
        meta = env.open_db(b"meta")
        with env.begin(write=True) as txn:
            header = txn.get(b"header", b"", meta)
            txn.put(b"header", header[:-1] + bytes([header[-1] ^ 1]), db=meta)
    with pytest.raises(StoreCorruptError, match="fails its checksum"):
        open_index(tmp_path)
