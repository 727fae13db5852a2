"""Stores as a whole: rebuilt for other tables, compacted, killed again and again."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen

import pytest

from benchmarks.store import kills
from simcrawl.errors import StoreError, StoreFormatError, StoreMismatchError
from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.page.kept import compressed
from simcrawl.rule import Rule
from simcrawl.store import compact, open_store, rebuild
from tests import forked
from tests.samples import python
from tests.store.test_lmdb_pages import load_in_parts
from tests.strategies import page

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
URLS = [f"http://a.test/{i}" for i in range(60)]
KEPT = "http://kept.test/"
BARE = [Random(i).getrandbits(64) for i in range(5_000)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The directory of a store with pages, some of them forgotten, a register, and fingerprints in tables and log."""
    path = tmp_path / "store"
    with open_store(path, recipe="manku2007", sync_seconds=math.inf, memory=0) as store:
        store.load_fingerprints(BARE)
        for i, url in enumerate(URLS):
            store.admit(page(url, Random(-i - 1).getrandbits(64)), NEAR)
            if not i % 7:
                store.sync()
        store.admit(page("http://b.test/", Random(-1).getrandbits(64)), NEAR)
        store.sync()
        for url in URLS[::5]:
            store.forget(url)
        store.keep_texts(10**6)
        claim = store.claim(replace(page(KEPT, 2**64 - 1), content=compressed("the text")), NEAR).claim
        assert claim
        claim.confirm()
        store.note_crawl({"spider": "site"})
    return path


def contents(path: Path) -> tuple[object, ...]:
    with open_store(path, create=False) as store:
        assert store.verify() == []
        pages = {stored.page.url: stored for stored in store.pages()}
        for stored in pages.values():
            assert isinstance(stored.page, PageFingerprint)
            assert [match.url for match in store.query(stored.page.fingerprint ^ 7, 3)] == [stored.page.url]
        held = {int(row[0]) for chunk in store.fingerprint_chunks() for row in chunk}
        for fingerprint in BARE[::50]:
            assert [match.fingerprint for match in store.query_fingerprint(fingerprint, 7)] == [fingerprint]
        assert store.text(KEPT) == "the text"
        assert store.crawls() == [{"spider": "site"}]
        counts = store.counts()
        return pages, held, list(store.duplicates()), counts["pages"], counts["fingerprints"], store.header.recipe, store.header.seed


@pytest.mark.parametrize("design", ["10", "16", "2:1", "3:1", "5:3"])
def test_a_rebuilt_store_holds_the_same_and_answers_the_same(path: Path, design: str):
    before = contents(path)
    rebuild(path, design)
    assert contents(path) == before
    with open_store(path) as store:
        assert store.header.design == design
        store.admit_fingerprint(1)
        store.sync()
        assert store.verify() == []
    assert sorted(file.name for file in path.iterdir()) == ["data.mdb", "lock.mdb"]


def test_all_pages_with_one_body_are_in_a_rebuilt_store(path: Path):
    with open_store(path) as store:
        for number in range(300):
            claim = store.claim(page(f"http://same.test/{number}", number % 2, text=f"text {number % 3}"), NEAR, never_drop=True).claim
            assert claim
            claim.confirm()
    rebuild(path, "10")
    with open_store(path) as store:
        assert store.verify() == []
        with store._committed.reading() as snapshot:
            found = snapshot.with_body(page("http://same.test/0", text="text 0").body_digest)
            assert [stored.page.url for stored in found] == [f"http://same.test/{number}" for number in range(0, 300, 3)]


def test_a_large_store_is_rebuilt_in_parts(path: Path, monkeypatch: pytest.MonkeyPatch):
    before = contents(path)
    load_in_parts(monkeypatch, 700)
    monkeypatch.setattr("simcrawl.index.durable.MEMORY", 0)
    rebuild(path, "4")
    assert contents(path) == before


def test_a_store_is_compacted_by_a_path_below_home(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(path.parent))
    assert compact("~/store") > 0


def test_a_store_is_rebuilt_by_its_url(path: Path):
    rebuild(f"lmdb://{path}", "10")
    with open_store(path) as store:
        assert len(store.design.tables) == 10


def test_compaction_gives_space_back_and_changes_nothing(path: Path):
    before, size = contents(path), (path / "data.mdb").stat().st_size
    (path / "data.mdb").chmod(0o660)
    given = compact(path)
    assert (path / "data.mdb").stat().st_mode & 0o777 == 0o660
    assert given > 0
    assert (path / "data.mdb").stat().st_size == size - given
    assert contents(path) == before


WORK = {"rebuild": "rebuild(sys.argv[1], '10')", "compact": "compact(sys.argv[1])"}
# Does so, and stops when the new data are made: "end" may then end the process as a kill would.
STOP_BEFORE_THE_END = """
import os, sys
from simcrawl.store import compact, maintenance, rebuild
put_in_place = maintenance.put_in_place
def stop(new):
    print("made", flush=True)
    if sys.stdin.readline() == "end\\n":
        os._exit(1)
    put_in_place(new)
maintenance.put_in_place = stop
"""
OPEN = """
import sys
from simcrawl.store import open_store
with open_store(sys.argv[1], readonly=len(sys.argv) > 2) as store:
    print(store.counts()["fingerprints"], store.verify(), flush=True)
    if not store.readonly:
        store.admit_fingerprint(99, 0)
"""


def started(script: str, path: Path, *more: str, new: bool = False) -> Popen[str]:
    """Start a process; a new one has the number that this returns."""
    begin = [sys.executable] if new else forked.python()
    return Popen([*begin, "-c", script, str(path), *more], stdin=PIPE, stdout=PIPE, text=True)


def wait_until_blocked(process: Popen[str]) -> None:
    """Return when a process waits for a lock on a file."""
    while not any("->" in line and f" {process.pid} " in line for line in Path("/proc/locks").read_text().splitlines()):
        assert process.poll() is None


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="who waits for a lock can be seen on Linux only")
@pytest.mark.parametrize("end", ["go on", "end"])
@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("commits", [1, 2])
def test_who_wants_to_write_meanwhile_waits_and_finds_everything(path: Path, commits: int, work: str, end: str):
    # LMDB has two roots and takes them in turns: whoever believes an old lock file takes the wrong one every other time.
    with open_store(path, sync_seconds=math.inf) as store:
        for fingerprint in range(commits):
            store.admit_fingerprint(fingerprint, 0)
            store.sync()
        held = store.counts()["fingerprints"]
    with started(STOP_BEFORE_THE_END + WORK[work], path) as worker:
        assert worker.stdout
        assert worker.stdout.readline() == "made\n"
        with started(OPEN, path, new=True) as opening, started(OPEN, path, "readonly") as reading:
            wait_until_blocked(opening)
            assert reading.communicate()[0] == f"{held} []\n"
            worker.communicate(f"{end}\n")
            assert opening.communicate()[0] == f"{held} []\n"
            assert opening.returncode == reading.returncode == 0
    with open_store(path) as store:
        assert store.counts()["fingerprints"] == held + 1
        assert store.verify() == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what a process has open can be seen on Linux only")
@pytest.mark.parametrize("work", WORK)
def test_who_reads_meanwhile_sees_what_was_and_then_what_is(path: Path, work: str):
    with open_store(path, readonly=True) as store:
        before = list(store.pages())
        pages = store.pages()
        seen = [next(pages)]
        python(f"import sys\nfrom simcrawl.store import compact, rebuild\n{WORK[work]}", path)
        python(OPEN, path)
        # One view is of one moment, whatever is put in place.
        seen.extend(pages)
        assert seen == before
        assert [match.fingerprint for match in store.query_fingerprint(99, 0)] == [99]
        assert store.verify() == []
        assert len(store.design.tables) == (10 if work == "rebuild" else 4)
        # What was is closed, and its space given back: nothing is open that has no name any more.
        held = [os.path.realpath(number) for number in Path("/proc/self/fd").iterdir()]
        assert sorted(file for file in held if file.startswith(f"{path}/")) == [f"{path}/data.mdb", f"{path}/lock.mdb"]


def test_who_reads_refuses_another_store_in_the_place_of_the_first(path: Path):
    with open_store(path, readonly=True) as store:
        before = store.counts()
        path.rename(path.with_name("moved"))
        assert store.counts() == before
        python("import sys\nfrom simcrawl.store import open_store\nopen_store(sys.argv[1], seed=7).close()", path)
        with pytest.raises(StoreMismatchError, match="was made with another seed: leave seed out"):
            store.counts()


def test_leftovers_of_an_interrupted_rebuild_are_no_obstacle(path: Path):
    before = contents(path)
    (path / "rewriting").mkdir()
    (path / "rewriting" / "data.mdb").write_bytes(b"half of it")
    assert contents(path) == before
    rebuild(path, "10")
    assert contents(path) == before


def test_a_design_that_does_not_exist_leaves_the_store_as_it_was(path: Path):
    before = contents(path)
    with pytest.raises(ValueError, match="is no design"):
        rebuild(path, "seven")
    assert contents(path) == before
    assert not (path / "rewriting").exists()


@pytest.mark.parametrize("work", ["rebuild(path, '10')", "compact(path)"])
def test_a_store_that_is_open_is_left_alone_wherever_it_is_open(path: Path, work: str):
    script = f"""
from simcrawl.errors import StoreError
from simcrawl.store import compact, rebuild
path = {str(path)!r}
try:
    {work}
except StoreError as exc:
    print(exc)
"""
    with open_store(path) as store:
        with pytest.raises(StoreError, match="is open in this process: close it first"):
            eval(work, {"rebuild": rebuild, "compact": compact, "path": path})
        # The refusal must not have given up this process's own lock.
        assert "another process writes to" in python(script)
        assert store.verify() == []
    assert python(script) == ""


@pytest.mark.parametrize("work", [lambda path: rebuild(path, "10"), compact])
def test_where_there_is_no_store_nothing_is_made(tmp_path: Path, work):
    with pytest.raises(StoreFormatError, match="there is no simcrawl store"):
        work(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_killed_writers_leave_a_store_without_loss_or_contradiction(tmp_path: Path):
    result = kills.run(tmp_path, rounds=10, seed=3)
    assert result.clean, result
    assert result.commits > 20
