"""Permuted tables as two processes see them that use one file: each with a delta of its own, and fingerprints that it is yet to write."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from itertools import chain
from random import Random
from typing import TYPE_CHECKING

import lmdb
import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from simcrawl.bits import hamming_distance, to_rows
from simcrawl.index.delta import Delta, _Dense
from simcrawl.index.durable import DurableIndex
from simcrawl.index.environment import index_databases
from simcrawl.index.packed import SLICES, Packer
from simcrawl.index.permutations import design as design_by_name
from simcrawl.index.verification import problems

if TYPE_CHECKING:
    from simcrawl.index.permutations import Design

# Few places in few slices, so that neighbours meet there; and as many bits that differ in between.
CROWD = [
    centre ^ spread for centre in (0, 2**63 | 0xFFFF << 16, Random(3).getrandbits(64)) for spread in (0, 1, 0b110, 1 << 40, 0b1111 << 20)
]
fingerprints = st.sampled_from(CROWD)
processes = st.integers(0, 1)


class Process:
    """What a store does with its tables, without pages."""

    def __init__(self, env: lmdb.Environment, design: Design, memory: int | None, unfolded: int) -> None:
        self.env = env
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("simcrawl.index.durable._MOST_UNFOLDED", unfolded)
            self.index = DurableIndex(design, index_databases(env, design), memory=memory)
        self.waiting: set[int] = set()

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        with self.env.begin(buffers=True) as txn:
            return self.index.within(txn, fingerprint, distance)

    def admit(self, fingerprint: int, distance: int) -> dict[int, int]:
        near = self.near(fingerprint, distance)
        if not near:
            self.waiting.add(fingerprint)
            self.index.hold(fingerprint)
        return near


class TwoProcesses(RuleBasedStateMachine):
    memory: tuple[int | None, int | None] = (0, None)
    design, bits, unfolded, few = "4", 64, 1 << 20, 1 << 12

    def __init__(self) -> None:
        super().__init__()
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr("simcrawl.index.delta._MOST_FEW", self.few)
        self.directory = tempfile.TemporaryDirectory()
        self.env = lmdb.open(self.directory.name, map_size=1 << 30, max_dbs=20, sync=False)
        design = design_by_name(self.design, self.bits)
        self.processes = [Process(self.env, design, memory, self.unfolded) for memory in self.memory]
        self.stored: set[int] = set()
        self.noise = Random(1)

    def known_to(self, process: Process) -> set[int]:
        return self.stored | process.waiting

    @rule(number=processes, fingerprint=fingerprints, distance=st.integers(0, 8))
    def admit(self, number: int, fingerprint: int, distance: int) -> None:
        process = self.processes[number]
        wanted = {other: apart for other in self.known_to(process) if (apart := hamming_distance(fingerprint, other)) <= distance}
        assert process.admit(fingerprint, distance) == wanted

    def admit_many(self, number: int, count: int) -> None:
        for _ in range(count):
            self.processes[number].admit(self.noise.getrandbits(64), 0)

    @rule(number=processes, meanwhile=st.none() | fingerprints, looked=st.booleans(), removed=st.none() | fingerprints, gone=st.booleans())
    def commit(self, number: int, meanwhile: int | None, looked: bool, removed: int | None, gone: bool) -> None:
        process = self.processes[number]
        taken, late = set(process.waiting), set[int]()
        with suppress(KeyError), self.env.begin(write=True, buffers=True) as txn:
            changes = process.index.writing(txn)
            for fingerprint in taken:
                assert changes.insert(fingerprint) == (fingerprint not in self.stored)
            cut = set[int]()
            if removed is not None and removed in self.stored - taken:
                cut = {removed}
                changes.remove(removed)
                assert removed not in changes
            if meanwhile is not None and meanwhile not in self.known_to(process):
                # A decision in another thread, before the folded slices are read.
                assert process.admit(meanwhile, 0) == {}
                late.add(meanwhile)
            changes.finish()
            if gone:
                # A disk that is full, as an instance.
                raise KeyError
        if gone:
            return
        self.stored = (self.stored | taken) - cut
        if looked:
            # A decision in another thread between the commit and what is made of it.
            assert process.near(CROWD[0], 64).keys() == self.known_to(process)
        changes.committed(taken)
        process.waiting = late

    @rule(number=processes, fingerprint=fingerprints)
    def add_a_page(self, number: int, fingerprint: int) -> None:
        process = self.processes[number]
        with self.env.begin(write=True, buffers=True) as txn:
            changes = process.index.writing(txn)
            assert (fingerprint in changes) == (fingerprint in self.stored)
            assert changes.insert(fingerprint) == (fingerprint not in self.stored)
            changes.finish()
        changes.committed()
        self.stored.add(fingerprint)

    @rule(number=processes, some=st.lists(fingerprints, min_size=1, max_size=5, unique=True), direct=st.booleans())
    def load(self, number: int, some: list[int], direct: bool) -> None:
        process = self.processes[number]
        with pytest.MonkeyPatch.context() as patched, self.env.begin(write=True, buffers=True) as txn:
            if direct:
                patched.setattr("simcrawl.index.durable._FEW", 0)
            known = process.index.writing(txn).load(to_rows(sorted(some), bits=self.bits))
        assert known.tolist() == [fingerprint in self.stored for fingerprint in sorted(some)]
        self.stored.update(some)

    @rule(number=processes)
    def fold_everything(self, number: int) -> None:
        # With next to no memory; the log forgets what the tables have.
        for _ in range(2):
            self.admit_many(number, 70)
            self.commit(number, None, False, None, False)

    @rule(
        number=processes,
        some=st.lists(fingerprints, max_size=5, unique=True),
        between=st.none() | fingerprints,
        unfolded=st.sampled_from([0, 200]),
    )
    def load_past_the_delta(self, number: int, some: list[int], between: int | None, unfolded: int) -> None:
        """As a large load: in transactions between which others write, with a delta of its own."""
        loaded = to_rows(sorted({*some, *(self.noise.getrandbits(64) for _ in range(100))}), bits=self.bits)
        process = self.processes[number]
        loader = process.index.loader()
        with pytest.MonkeyPatch.context() as patched:
            for name, value in {"durable._FEW": 0, "durable._MOST_DIRECT": 0, "durable._FOLDED_BYTES": 1 << 12, "log._RECORD": 30}.items():
                patched.setattr(f"simcrawl.index.{name}", value)
            with self.env.begin(write=True, buffers=True) as txn:
                known = loader.writing(txn).load(loaded)
            assert known.tolist() == [fingerprint in self.stored for fingerprint in loaded[:, 0].tolist()]
            self.stored.update(loaded[:, 0].tolist())
            more = True
            while more:
                if between is not None:
                    # Another one adds it, or removes it, or finds that it waits.
                    self.commit(1 - number, None, False, between if between in self.stored else None, False)
                    if between not in self.stored:
                        self.add_a_page(1 - number, between)
                    between = None
                with self.env.begin(write=True, buffers=True) as txn:
                    more = loader.fold_loaded(txn, unfolded)
                assert process.near(CROWD[0], 64).keys() == self.known_to(process)

    @rule()
    def write_something_else(self) -> None:
        with self.env.begin(write=True) as txn:
            txn.put(b"other", self.noise.randbytes(8), db=self.processes[0].index.databases.state)

    @rule()
    def what_is_written_is_whole(self) -> None:
        index = self.processes[0].index
        with self.env.begin(buffers=True) as txn:
            assert list(problems(index, txn)) == []
            held = list(chain.from_iterable(rows[:, 0].tolist() for rows in index.chunks(txn, 1000)))
        assert len(held) == len(set(held))
        assert set(held) == self.stored

    def teardown(self) -> None:
        try:
            self.what_is_written_is_whole()
            for process in self.processes:
                assert process.near(CROWD[0], 64).keys() == self.known_to(process)
                for fingerprint in self.known_to(process):
                    assert process.near(fingerprint ^ 0b11, 3)[fingerprint] == 2
        finally:
            self.patched.undo()
            self.env.close()
            self.directory.cleanup()


class BothSmall(TwoProcesses):
    memory = (0, 0)


class BothResident(TwoProcesses):
    memory = (None, None)


class OutgrowsItsMemory(TwoProcesses):
    # A place for every prefix of the four tables, and a hundred fingerprints.
    memory = ((50 * 4 << 16) + 32 * 100, None)


class HasMemoryForSomeTables(TwoProcesses):
    # For all of them up to 250 fingerprints, and for three, two and one up to 800, when 64 may be in no table.
    memory = ((50 * 4 << 16) + 32 * 250, (50 * 4 << 16) + 32 * 150)
    unfolded = 64


@pytest.mark.parametrize(
    ("distinct", "tables"), [(0, 4), (250, 4), (251, 3), (312, 3), (313, 2), (436, 2), (437, 1), (808, 1), (809, 0), (10**9, 0)]
)
def test_as_many_tables_are_kept_in_memory_as_fit(distinct: int, tables: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.index.durable._MOST_UNFOLDED", 64)
    with tempfile.TemporaryDirectory() as directory, lmdb.open(directory, max_dbs=20) as env:
        made = DurableIndex(design_by_name(), index_databases(env, design_by_name()), memory=(50 * 4 << 16) + 32 * 250)
        assert made._most_resident(distinct) == tables


class OutgrowsItsDictionaries(TwoProcesses):
    # Of the places of a table.
    few = 5


@pytest.mark.parametrize("at_once", [1, 100, 5000])
def test_a_delta_answers_the_same_whatever_it_keeps_its_places_in(at_once: int):
    delta, noise = Delta(Packer(design_by_name())), Random(5)
    design = delta.packer.design
    fingerprints = [noise.getrandbits(64) for _ in range(5000)]
    kinds = set[type]()
    for start in range(0, len(fingerprints), at_once):
        some = fingerprints[start : start + at_once]
        if at_once == 1:
            delta.add_one(some[0])
        else:
            rows = to_rows(some, bits=64)
            delta.add(rows, [table.prefixes(rows) for table in design.tables], [np.ones(len(rows), bool)] * len(design.tables))
        kinds |= {type(table.held) for table in delta.tables if isinstance(table, _Dense)}
        if start % 100:
            continue
        asked = noise.choice(fingerprints)
        known = {other for other in fingerprints[: start + len(some)] if hamming_distance(asked, other) <= 3}
        assert delta.packer.within(b"".join(delta.own(asked)), asked, 3).keys() == known
        assert delta.packer.within(b"".join(delta.candidates(asked, 7)), asked, 3).keys() == known
    assert list in kinds
    for table in delta.tables:
        assert len(b"".join(table.values())) == len(b"".join(packed for part in range(SLICES) for _, packed in table.items(part))) == 40_000


class OtherDesign(TwoProcesses):
    design = "10"


TestTwoProcesses = TwoProcesses.TestCase
TestBothSmall = BothSmall.TestCase
TestBothResident = BothResident.TestCase
TestOutgrowsItsMemory = OutgrowsItsMemory.TestCase
TestHasMemoryForSomeTables = HasMemoryForSomeTables.TestCase
TestOutgrowsItsDictionaries = OutgrowsItsDictionaries.TestCase
TestOtherDesign = OtherDesign.TestCase
TestTwoProcesses.settings = TestBothSmall.settings = TestBothResident.settings = settings(stateful_step_count=20, max_examples=25)
TestOutgrowsItsMemory.settings = TestHasMemoryForSomeTables.settings = TestOtherDesign.settings = TestTwoProcesses.settings
TestOutgrowsItsDictionaries.settings = TestTwoProcesses.settings
