"""What only a store on disk can do: persist, be shared, be killed, be full, be damaged, be something else."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import lmdb
import pytest
from hypothesis import given, strategies as st

from simcrawl.bits import to_rows
from simcrawl.cli import run
from simcrawl.errors import SettingError, StoreCorruptError, StoreError, StoreFormatError, StoreFullError, StoreMismatchError
from simcrawl.index.packed import in_parts
from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.page.kept import compressed
from simcrawl.rule import Kind, Match, Rule
from simcrawl.sealed import seal
from simcrawl.store import Header, Store, compact, open_store, verify
from simcrawl.store.header_bytes import FORMAT, MAGIC
from simcrawl.store.maintenance import rebuild
from simcrawl.store.rejections import url_key
from tests.forked import python
from tests.strategies import RECIPE, page

if TYPE_CHECKING:
    from collections.abc import Callable

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
ROOT = Path(__file__).parents[2]
A, B = "http://a.test/", "http://b.test/"
far_apart = Random(5).getrandbits


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def made(path: Path) -> Path:
    """The directory of a closed store with a page, a bare fingerprint and a line in the register."""
    with open_store(path, recipe="manku2007") as store:
        store.admit(page(A, 1, text="same"), NEAR)
        store.admit(page(B, 1, text="same"), NEAR)
        store.load_fingerprints([2**63])
    return path


def change(path: Path, database: str, edit: Callable[[bytes], bytes]) -> None:
    """Edit every value in a database of a closed store."""
    with lmdb.open(str(path), max_dbs=20) as env, env.begin(write=True, db=env.open_db(database.encode())) as txn:
        for key, value in list(txn.cursor()):
            txn.put(key, edit(value))


def drop(path: Path, database: str) -> None:
    """Remove a database from a closed store."""
    with lmdb.open(str(path), max_dbs=20) as env, env.begin(write=True) as txn:
        txn.drop(env.open_db(database.encode(), txn), delete=True)


def child(script: str, *arguments: object, new: bool = False) -> subprocess.Popen[str]:
    """Start a process. `new`: with no more in its memory than it loads itself."""
    command = [*([sys.executable] if new else python()), "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, cwd=ROOT)


# Persistence


def test_everything_committed_is_there_after_opening_again(made: Path):
    with open_store(made) as store:
        assert store.page(A) is not None
        assert [match.fingerprint for match in store.query_fingerprint(2**63, 0)] == [2**63]
        assert [(line.url, line.original) for line in store.duplicates()] == [(B, A)]
        assert store.admit(page("http://c.test/", text="same")).original == A


def test_the_recipe_persists(made: Path):
    with open_store(made) as store:
        assert store.header.recipe == RECIPE
    with pytest.raises(StoreMismatchError, match=r"manku2007/4, not content/4"):
        open_store(made, recipe="content")


def test_a_random_seed_is_stored_and_used_again(path: Path):
    seeds = set()
    for _ in range(2):
        with open_store(path, seed="random") as store:
            seeds.add(store.header.seed)
    assert len(seeds) == 1
    assert seeds != {0}


@pytest.mark.parametrize(
    ("name", "other", "told"), [("bits", 128, "bits 64, not 128"), ("design", "20", "design 4, not 20"), ("seed", 7, "another seed")]
)
def test_other_values_are_refused_with_both_named(made: Path, name: str, other: Any, told: str):
    with pytest.raises(StoreMismatchError, match=f"made with {told}: leave {name} out") as caught:
        open_store(made, **{name: other})
    # The refusal, still held, must not keep the file open: LMDB allows one environment a process.
    with open_store(made) as store:
        assert store.counts()["pages"] == 1
        with pytest.raises(StoreMismatchError):
            open_store(made, **{name: other})
    assert str(made) in str(caught.value)


def test_a_url_and_a_path_open_one_store(made: Path):
    with open_store(f"lmdb://{made}") as one, open_store(made) as other:
        assert one is other


def test_claims_are_lost_and_confirmed_pages_kept_when_a_store_closes(path: Path):
    with open_store(path, sync_seconds=math.inf) as store:
        for url, confirmed in ((A, True), (B, False)):
            claim = store.claim(page(url, far_apart(64)), NEAR).claim
            assert claim
            if confirmed:
                claim.confirm()
    with open_store(path) as store:
        assert (store.page(A) is None, store.page(B) is None) == (False, True)


# One process


def test_users_of_a_path_share_one_store_and_the_last_one_closes_it(path: Path):
    one, other = open_store(path, sync_seconds=math.inf), open_store(path)
    assert one is other
    one.admit(page(A), NEAR)
    one.close()
    assert other.page(A)
    other.close()
    other.close()
    with pytest.raises(StoreError):
        other.counts()
    with open_store(path) as again:
        assert again is not one
        assert again.page(A)


def test_closing_once_more_does_not_close_the_store_that_was_opened_since(path: Path):
    old = open_store(path)
    old.close()
    with open_store(path) as new:
        old.close()
        assert new.counts()["pages"] == 0


# What is no store


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(StoreError) as caught:
        open_store(path, **options)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, StoreFormatError)
    return str(caught.value)


def test_a_newer_format_is_refused(made: Path):
    change(made, "meta", lambda header: MAGIC + (FORMAT + 1).to_bytes(2, "big") + header[10:])
    message = refusal(made)
    assert f"has format {FORMAT + 1}, this simcrawl reads up to {FORMAT}" in message
    assert "upgrade simcrawl" in message


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "without what was added last"])
def test_an_older_format_is_refused_by_whatever_opens_it(made: Path, whole: bool):
    change(made, "meta", lambda header: MAGIC + (FORMAT - 1).to_bytes(2, "big") + header[10:])
    if not whole:
        drop(made, "crawls")
    data = (made / "data.mdb").read_bytes()
    for use in (open_store, partial(open_store, readonly=True), compact, partial(rebuild, design="10")):
        with pytest.raises(StoreFormatError, match=f"has format {FORMAT - 1}, .* run `simcrawl upgrade {made}`"):
            use(made)
    assert (made / "data.mdb").read_bytes() == data


def test_a_store_whose_making_was_cut_short_is_no_store_but_for_who_writes(made: Path):
    drop(made, "crawls")
    for use in (partial(open_store, readonly=True), compact, partial(rebuild, design="10")):
        with pytest.raises(StoreFormatError, match="its making was cut short: run a crawl with it first"):
            use(made)
    with open_store(made) as store:
        assert store.verify() == []


def test_a_header_of_something_else_is_refused(made: Path):
    change(made, "meta", lambda header: b"elsewise" + header[8:])
    assert "expected its header to start with b'simcrawl', found b'elsewise" in refusal(made)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", json.dumps({"bits": 63, "design": "4", "seed": 0, "recipe": None}).encode()])
def test_a_damaged_header_is_refused(made: Path, text: bytes):
    change(made, "meta", lambda header: header[:10] + text)
    with pytest.raises(StoreCorruptError, match=r"damaged header .* restore it from a backup"):
        open_store(made)


def test_an_lmdb_environment_of_something_else_is_refused_and_left_alone(path: Path):
    with lmdb.open(str(path)) as env, env.begin(write=True) as txn:
        txn.put(b"somebody's", b"data")
    assert "is an LMDB environment of something else: point SIMCRAWL_STORE elsewhere" in refusal(path)
    with lmdb.open(str(path)) as env, env.begin() as txn:
        assert list(txn.cursor()) == [(b"somebody's", b"data")]


@pytest.mark.parametrize("size", [1, 100, 5_000, 100_000])
def test_a_file_of_garbage_is_refused(path: Path, size: int):
    path.mkdir()
    (path / "data.mdb").write_bytes(Random(size).randbytes(size))
    assert "is no LMDB store" in refusal(path)


@pytest.mark.parametrize("size", [100, 4_096])
def test_a_store_of_which_a_page_or_less_is_left_is_said_to_be_cut_short(made: Path, size: int):
    os.truncate(made / "data.mdb", size)
    with pytest.raises(StoreCorruptError, match=r"data.mdb is cut short, or its first pages are damaged \(.*\): restore the store"):
        open_store(made)


def test_a_directory_whose_name_is_no_text_is_one_like_others(tmp_path: Path):
    path = tmp_path / os.fsdecode(b"sh\xffp")
    with open_store(path, recipe="manku2007") as store:
        store.admit_fingerprint(1)
    assert compact(path) >= 0
    assert verify(path) == []
    with open_store(path, readonly=True) as store:
        assert store.counts()["fingerprints"] == 1


def test_a_directory_of_other_files_is_refused(path: Path):
    path.mkdir()
    (path / "notes.txt").touch()
    assert "holds no simcrawl store: give the path of a store, or of a directory that is empty" in refusal(path)


def test_a_file_is_refused(path: Path):
    path.touch()
    assert "holds no simcrawl store" in refusal(path)


def test_a_missing_store_is_not_made_without_leave(path: Path):
    assert "there is no simcrawl store" in refusal(path, create=False)
    assert not path.exists()


@pytest.mark.parametrize("name", ["file/store", "n" * 300])
def test_a_path_that_cannot_exist_is_a_store_error(tmp_path: Path, name: str):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=name):
        open_store(tmp_path / name)


@pytest.mark.parametrize("left", [[], ["lock.mdb"], ["lock.mdb", "data.mdb"]])
def test_a_store_whose_making_was_cut_short_is_made(path: Path, left: list[str]):
    path.mkdir()
    for name in left:
        (path / name).touch()
    with open_store(path) as store:
        assert store.header == Header()


def test_a_value_that_cannot_work_makes_no_store(path: Path):
    with pytest.raises(SettingError):
        open_store(path, seed=-1)
    assert not path.exists()


# Several processes

WRITE_PAGES = """
import sys
from random import Random
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR
path, own = sys.argv[1:]
with open_store(path, sync_seconds=0, memory=0 if own == "one" else None) as store:
    print("open", flush=True)
    sys.stdin.readline()
    for i in range(100):
        store.admit(page(f"http://{own}.test/{i}", Random(f"{own} {i}").getrandbits(64)), NEAR)
        store.admit(page(f"http://shared.test/{i}", Random(i).getrandbits(64)), NEAR)
        if not i % 10:
            store.forget(f"http://{own}.test/{i}")
"""


def test_two_processes_write_one_store_at_the_same_time(path: Path):
    children = {own: child(WRITE_PAGES, path, own) for own in ("one", "two")}
    for started in children.values():
        assert started.stdout
        assert started.stdout.readline() == "open\n"
    for started in children.values():
        assert started.stdin
        started.stdin.write("go\n")
        started.stdin.flush()
    for started in children.values():
        started.communicate()
        assert started.returncode == 0
    with open_store(path) as store:
        assert store.verify() == []
        wanted = {f"http://{own}.test/{i}": Random(f"{own} {i}").getrandbits(64) for own in children for i in range(100) if i % 10}
        wanted |= {f"http://shared.test/{i}": Random(i).getrandbits(64) for i in range(100)}
        assert {stored.page.url for stored in store.pages()} == set(wanted)
        for url, fingerprint in wanted.items():
            assert [match.url for match in store.query(fingerprint, 0)] == [url]


COMMIT_COPY = """
import math, sys
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR
with open_store(sys.argv[1], sync_seconds=math.inf) as store:
    store.admit(page("http://b.test/", 1, text="same"), NEAR)
"""


def test_a_copy_that_another_process_wrote_meanwhile_is_kept_and_counted(path: Path):
    with open_store(path, sync_seconds=math.inf) as store:
        assert store.admit(page(A, 1, text="same"), NEAR).kind is Kind.ADMITTED
        with child(COMMIT_COPY, path) as other:
            other.communicate()
        store.sync()
        assert store.late_duplicates == 1
        assert {match.url for match in store.query(1, 0)} == {A, B}
        line = store.duplicate(A)
        assert line
        assert (line.original, line.reason, line.dropped_page, line.dropped_outlinks) == (B, "identical body", False, False)
        assert store.verify() == []


def test_a_near_duplicate_is_found_late_too(path: Path):
    with open_store(path, sync_seconds=math.inf) as store:
        store.admit(page(A, 3, text="another"), NEAR)
        with child(COMMIT_COPY, path) as other:
            other.communicate()
        store.sync()
        assert [(line.url, line.original, line.reason, line.distance) for line in store.duplicates()] == [(A, B, "near-duplicate", 1)]
        assert (store.late_duplicates, store.verify()) == (1, [])


def test_what_is_no_copy_by_the_rule_is_none_when_it_is_written(path: Path):
    elsewhere, rule = "http://c.test/", replace(NEAR, scope="site")
    with open_store(path, sync_seconds=math.inf) as store:
        store.admit(page(elsewhere, 1, text="same"), rule)
        store.sync()
        store.admit(page(A, 1, text="same"), rule)
        # Something else, but the store has changed.
        with child(COMMIT_COPY.replace('1, text="same"', '2**64 - 1, text="another"'), path) as other:
            other.communicate()
        store.sync()
        assert (store.late_duplicates, list(store.duplicates()), store.counts()["pages"]) == (0, [], 3)


BIND = """
import sys
from simcrawl.store import open_store
open_store(sys.argv[1], recipe="content").close()
"""


def test_a_store_that_another_process_bound_meanwhile_keeps_its_recipe(path: Path):
    with open_store(path) as store:
        with child(BIND, path) as other:
            other.communicate()
        with pytest.raises(StoreMismatchError, match=r"content/4 meanwhile, not manku2007/4"):
            store.bind("manku2007")


# Read while others write

WRITE_TEN_A_COMMIT = """
import math, sys
from itertools import count
from random import Random
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR
with open_store(sys.argv[1], sync_seconds=math.inf, memory=0) as store:
    for batch in count():
        for i in range(10):
            fingerprint = Random(f"{batch} {i}").getrandbits(64)
            store.admit(page(f"http://a.test/{batch}/{i}", fingerprint), NEAR)
            store.admit(page(f"http://copy.test/{batch}/{i}", fingerprint), NEAR)
        store.sync()
        print(batch, flush=True)
"""


def test_a_reader_sees_whole_commits_while_another_process_writes(path: Path):
    with child(WRITE_TEN_A_COMMIT, path) as writer:
        assert writer.stdout
        writer.stdout.readline()
        seen = [0]
        while seen[-1] < 400:
            with open_store(path, create=False, readonly=True) as store:
                counts = store.counts()
                assert counts["pages"] == counts["duplicates"] == counts["fingerprints"]
                assert counts["pages"] % 10 == 0
                assert sum(1 for _ in store.duplicates()) % 10 == 0
                assert {store.cluster(line.url) == line.original for line in store.duplicates()} == {True}
                assert store.verify() == []
                assert store.query_fingerprint(Random("0 3").getrandbits(64) ^ 1, 3)
                seen.append(counts["pages"])
        assert seen == sorted(seen)
        writer.kill()


STATS = """
import sys
from simcrawl.cli import run
sys.exit(run(["stats", sys.argv[1], "--json"]) or run(["verify", sys.argv[1]]) or run(["duplicates", sys.argv[1]]))
"""
HOLD_THE_WRITE_LOCK = """
import lmdb, sys
with lmdb.open(sys.argv[1], max_dbs=20) as env, env.begin(write=True) as txn:
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_looking_into_a_store_does_not_wait_for_one_who_writes(made: Path):
    with child(HOLD_THE_WRITE_LOCK, made) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == "held\n"
        with child(STATS, made) as reader:
            try:
                out = reader.communicate(timeout=60)[0]
            finally:
                reader.kill()
        assert reader.returncode == 0
        assert '"pages": 1' in out
        writer.communicate("go\n")


READ_AND_HOLD = """
import sys
from simcrawl.store import open_store
with open_store(sys.argv[1], readonly=True) as store:
    pages = store.pages()
    next(pages)
    print("reading", flush=True)
    sys.stdin.readline()
"""


def test_a_killed_reader_does_not_keep_space_from_being_used_again(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.store.lmdb_pages._READERS_SECONDS", 0)
    with open_store(made, sync_seconds=math.inf) as store, child(READ_AND_HOLD, made) as reader:
        assert reader.stdout
        assert reader.stdout.readline() == "reading\n"

        def growth() -> int:
            before = store.size()["bytes"]
            for _ in range(100):
                store.admit(page(A, far_apart(64)), NEAR)
                store.sync()
            return store.size()["bytes"] - before

        held = growth()
        reader.kill()
        # It ends a little after the one that was killed, which has asked for it.
        assert reader.stdout.read() == ""
        growth()
        assert growth() < held / 10
        assert store.verify() == []


def test_a_store_that_is_opened_to_be_read_refuses_to_write(made: Path):
    with open_store(made, readonly=True) as store:
        assert store.page(A)
        store.admit_fingerprint(2**40 - 1)
        with pytest.raises(StoreError, match="cannot write to"):
            store.sync()
        store._claims.pages.take_bare()
        store._claims.pages.drop_taken()
        with pytest.raises(StoreError, match="to be read only: close it first"):
            open_store(made)
    with open_store(made) as store, open_store(made, readonly=True) as same:
        assert same is store


@pytest.mark.parametrize("left", [[], ["lock.mdb", "data.mdb"]])
def test_reading_makes_no_store(path: Path, left: list[str]):
    path.mkdir()
    for name in left:
        (path / name).touch()
    assert "store" in refusal(path, readonly=True)
    assert sorted(file.name for file in path.iterdir() if file.stat().st_size) == []


# Killed

WRITE_UNTIL_KILLED = """
import math, sys
from itertools import count
from random import Random
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR, BATCH
with open_store(sys.argv[1], sync_seconds=math.inf) as store:
    for batch in count(int(sys.argv[2])):
        for i in range(BATCH):
            store.admit(page(f"http://a.test/{batch}/{i}", Random(f"{batch} {i}").getrandbits(64)), NEAR)
        store.admit(page("http://a.test/again", batch), NEAR)
        print("writing", batch, flush=True)
        store.sync()
        print("written", batch, flush=True)
        if batch % 3 == 0:
            store.forget(f"http://a.test/{batch}/0")
            print("forgotten", batch, flush=True)
"""
BATCH = 5


def killed_at(line: int, path: Path, first_batch: int) -> list[list[str]]:
    """Run the writer, kill it when it has printed so many lines, and return all that it printed."""
    with child(WRITE_UNTIL_KILLED, path, first_batch) as writer:
        assert writer.stdout
        lines = [writer.stdout.readline() for _ in range(line)]
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
    assert writer.returncode == -signal.SIGKILL
    return [line.split() for line in lines if line.endswith("\n")]


def test_a_killed_writer_leaves_everything_that_it_was_told_is_written(path: Path):
    moments = Random(11)
    written: set[int] = set()
    forgotten: set[int] = set()
    begun = 0
    for _ in range(15):
        for what, batch in killed_at(moments.randint(1, 40), path, begun):
            begun = max(begun, int(batch) + 1)
            if what != "writing":
                (written if what == "written" else forgotten).add(int(batch))
        with open_store(path, create=False) as store:
            assert store.verify() == []
            urls = {stored.page.url for stored in store.pages()}
            promised = {f"http://a.test/{batch}/{i}" for batch in written for i in range(BATCH)}
            promised -= {f"http://a.test/{batch}/0" for batch in range(0, begun, 3)}
            assert promised <= urls
            assert urls.isdisjoint(f"http://a.test/{batch}/0" for batch in forgotten)
            assert all(store.page(url) for url in promised)
            again = store.page("http://a.test/again")
            if written:
                assert again
                assert isinstance(again.page, PageFingerprint)
                assert again.page.fingerprint >= max(written)
            # A batch is there as a whole or not at all.
            held = {batch: sum(f"http://a.test/{batch}/{i}" in urls for i in range(1, BATCH)) for batch in range(begun + 1)}
            assert set(held.values()) <= {0, BATCH - 1}
    assert written


# Full


def fill(store: Store) -> tuple[dict[str, int], dict[str, int]]:
    """Admit pages until the store is full; return those that were synced and those that could not be."""
    synced: dict[str, int] = {}
    while True:
        batch = {f"http://a.test/{len(synced) + i}": far_apart(64) for i in range(20)}
        for url, fingerprint in batch.items():
            assert store.admit(page(url, fingerprint), NEAR).kind is Kind.ADMITTED
        try:
            store.sync()
        except StoreFullError:
            return synced, batch
        synced |= batch


def test_a_full_store_goes_on_in_memory_and_works_again_with_more_space(path: Path):
    store = open_store(path, map_size=1 << 20, sync_seconds=math.inf)
    synced, waiting = fill(store)
    assert synced
    for _ in range(2):
        for url, fingerprint in (synced | waiting).items():
            assert [match.url for match in store.query(fingerprint, 0)] == [url]
            assert store.admit(page(B, fingerprint), NEAR).original == url
        with pytest.raises(StoreFullError, match="free disk space, or open the store with a larger map_size"):
            store.sync()
    assert store.claim(page(A, far_apart(64)), NEAR).claim
    with pytest.raises(StoreFullError):
        store.close()
    with open_store(path, map_size=1 << 24) as store:
        assert store.verify() == []
        assert {stored.page.url for stored in store.pages()} == set(synced)
        for url, fingerprint in waiting.items():
            assert store.admit(page(url, fingerprint), NEAR).kind is Kind.ADMITTED
        store.sync()
        assert store.counts()["pages"] == len(synced | waiting)


# As `ulimit -v` and batch systems do.
FEW_ADDRESSES = """
import resource, sys
from random import Random
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
noise = Random(1)
with open_store(sys.argv[1]) as store, open_store(sys.argv[1] + "2") as other:
    for opened in (store, other):
        for number in range(200):
            opened.admit(page(f"http://a.test/{number}", noise.getrandbits(64)), NEAR)
    store.sync()
    other.sync()
    print(store.counts()["pages"], other.counts()["pages"])
"""


def test_stores_open_where_addresses_are_few(path: Path):
    with child(FEW_ADDRESSES, path, new=True) as writer:
        assert writer.communicate()[0] == "200 200\n"


# A limit on the size of files is as near to a full disk as a test comes that may not mount one.
WRITE_BEYOND_A_LIMIT = """
import math, resource, sys
from random import Random
from simcrawl.errors import StoreError
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR
noise, pages = Random(1), {}
with open_store(sys.argv[1], sync_seconds=math.inf) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    try:
        while True:
            url = f"http://a.test/{len(pages)}"
            pages[url] = noise.getrandbits(64)
            store.admit(page(url, pages[url]), NEAR)
            store.admit_fingerprint(noise.getrandbits(64))
            if len(pages) % 50 == 0:
                store.sync()
    except StoreError as exc:
        print("cannot write:", exc)
    print(all(store.query(fingerprint, 0) for fingerprint in pages.values()), store.verify())
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.sync()
    print(store.counts()["pages"] == len(pages), store.counts()["fingerprints"] == 2 * len(pages), store.verify())
"""


def test_a_store_whose_disk_takes_no_more_goes_on_and_recovers(path: Path):
    with child(WRITE_BEYOND_A_LIMIT, path) as writer:
        failed, full, recovered = writer.communicate()[0].splitlines()
    assert failed.startswith("cannot write: ")
    assert full == "True []"
    assert recovered == "True True []"


FILL_A_DISK = """
import math, os, subprocess, sys
from pathlib import Path
from random import Random
from simcrawl.errors import StoreFullError
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR
where, noise, pages = Path(sys.argv[1]), Random(1), {}
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", where], check=True)

def fill():
    with (where / "filler").open("wb", 0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass

fill()
try:
    open_store(where / "store").close()
except StoreFullError as exc:
    print("new:", exc)
os.remove(where / "filler")
with open_store(where / "store", recipe="manku2007", sync_seconds=math.inf) as store:
    fill()
    for i in range(100):
        pages[f"http://a.test/{i}"] = noise.getrandbits(64)
        store.admit(page(f"http://a.test/{i}", pages[f"http://a.test/{i}"]), NEAR)
        store.admit_fingerprint(noise.getrandbits(64))
    for _ in range(2):
        try:
            store.sync()
        except StoreFullError as exc:
            print("full:", all(store.query(fingerprint, 0) for fingerprint in pages.values()), store.verify())
    os.remove(where / "filler")
    store.sync()
    print("recovered:", store.counts()["pages"], store.counts()["fingerprints"], store.verify())
    fill()
with open_store(where / "store") as store:
    print("opened:", store.counts()["pages"])
"""


def test_a_full_disk_costs_nothing_but_time(tmp_path: Path):
    alone = ["unshare", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a file system of one's own takes user namespaces")
    done = subprocess.run([*alone, sys.executable, "-c", FILL_A_DISK, str(tmp_path)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    new, *rest = done.stdout.splitlines()
    assert "free disk space" in new
    assert rest == ["full: True []"] * 2 + ["recovered: 100 200 []", "opened: 100"]


# Damaged


@pytest.mark.parametrize("where", [0, 5, 40, -1])
def test_a_flipped_byte_in_a_record_is_never_read_as_a_page(made: Path, where: int):
    def flip(record: bytes) -> bytes:
        damaged = bytearray(record)
        damaged[where] ^= 0x10
        return bytes(damaged)

    change(made, "pages", flip)
    with open_store(made) as store:
        for read in (
            lambda: store.page(A),
            lambda: store.query(1, 0),
            lambda: list(store.pages()),
            lambda: store.admit(page(B, text="same")),
        ):
            with pytest.raises(StoreCorruptError, match="fails its checksum: restore the store from a backup"):
                read()
        assert any("fails its checksum" in line for line in store.verify())
        assert store.query(2**63, 0) == [Match(2**63, 0)]


def test_a_store_from_before_texts_and_records_opens_and_takes_them(made: Path):
    with lmdb.open(str(made), max_dbs=20) as env, env.begin(write=True) as txn:
        for name in (b"contents", b"crawls"):
            txn.drop(env.open_db(name, txn=txn))
    with open_store(made) as store:
        assert (store.verify(), store.crawls(), store.text(A)) == ([], [], None)
        store.keep_texts(10**6)
        claim = store.claim(replace(page("http://c.test/", 2**40 - 1), content=compressed("kept")), NEAR).claim
        assert claim
        claim.confirm()
        store.note_crawl({"spider": "s"})
    with open_store(made) as store:
        assert (store.verify(), store.crawls(), store.text("http://c.test/")) == ([], [{"spider": "s"}], "kept")


@pytest.mark.parametrize("database", ["contents", "crawls"])
def test_a_damaged_text_or_record_is_reported_and_refused(made: Path, database: str):
    with open_store(made) as store:
        store.keep_texts(10**6)
        claim = store.claim(replace(page("http://c.test/", 2**40 - 1), content=compressed("kept")), NEAR).claim
        assert claim
        claim.confirm()
        store.note_crawl({"spider": "s"})
    change(made, database, lambda value: value[:-1] + b"?")
    with open_store(made) as store:
        (problem,) = store.verify()
        assert problem.startswith(f"{database}: ")
        with pytest.raises(StoreCorruptError, match="checksum"):
            store.text("http://c.test/") if database == "contents" else store.crawls()


def test_a_text_without_a_page_is_reported(made: Path):
    with lmdb.open(str(made), max_dbs=20) as env, env.begin(write=True, db=env.open_db(b"contents")) as txn:
        txn.put(bytes(16), seal(compressed("whose?")))
    with open_store(made) as store:
        assert store.verify() == [f"contents: {bytes(16).hex()}: a text of no page and no duplicate"]


def flipped_in_one(value: bytes, what: bytes) -> bytes:
    """Return a value with a bit flipped behind what it holds; as it is where it does not hold that."""
    place = value.find(what) + len(what) - 1
    return value if what not in value else value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]


@pytest.mark.parametrize("what", [b"c.test", b'"when": 1', b'"kind": "exact', b"{"])
def test_a_damaged_line_of_the_register_is_named_and_passed_over(made: Path, what: bytes, caplog: pytest.LogCaptureFixture):
    with open_store(made) as store:
        store.admit(page("http://c.test/", 1, text="same"), NEAR)
    other = what if what == b"c.test" else b"c.test/"
    change(made, "duplicates", lambda line: flipped_in_one(line, what) if other in line else line)
    with open_store(made) as store:
        whole = store.duplicate(B)
        assert whole
        (problem,) = store.verify()
        assert problem.startswith(f"duplicates: {url_key('http://c.test/', 0).hex()}: a line of the register of ")
        assert "fails its checksum: crawl its page again, or restore the store from a backup" in problem
        for _ in range(2):
            assert list(store.duplicates()) == [whole]
            assert list(store.duplicates(latest=2)) == [whole]
            # Damaged lines are looked at first, also where by its time, "1..." become "0...", one would be old.
            assert list(store.duplicates(latest=1)) == []
            assert store.duplicate("http://c.test/") is None
        # Nobody knows how old it is.
        store.expire(math.inf)
        assert len(store.verify()) == 1
        assert list(store.duplicates()) == []
        store.admit(page(A, 1, text="same"), NEAR)
        store.admit(page("http://c.test/", 1, text="same"), NEAR)
        store.sync()
        assert store.verify() == []
    (told,) = caplog.messages
    assert told.startswith(f"{made}: damaged entries of duplicates are passed over, 1 so far: `simcrawl verify` names them")


def test_a_line_under_the_key_of_another_url_is_reported(made: Path):
    with lmdb.open(str(made), max_dbs=20) as env, env.begin(write=True, db=env.open_db(b"duplicates")) as txn:
        txn.put(bytes(16), txn.get(url_key(B, 0), b""))
    with open_store(made) as store:
        assert store.verify() == [f"duplicates: {bytes(16).hex()}: the line of {B}, which has another key"]


def test_a_damaged_rejection_holds_its_pages_apart_all_the_same(made: Path, caplog: pytest.LogCaptureFixture):
    with open_store(made) as store:
        store.reject(B)
        store.reject("http://c.test/", "http://d.test/")
    change(made, "rejections", lambda value: flipped_in_one(value, b"b.test"))
    with open_store(made) as store:
        assert [one.url for one in store.rejections()] == ["http://c.test/"]
        assert any(line.startswith("rejections: ") and "fails its checksum" in line for line in store.verify())
        assert store.are_rejected(A, B)
        assert store.admit(page(B, 1, text="same"), NEAR).drop_page is False
        # What the damaged one needs of its names nobody can tell.
        with pytest.raises(StoreCorruptError, match=r"a rejection of .* fails its checksum: restore the store from a backup"):
            store.unreject("http://c.test/")
        store.reject(B, A)
        assert store.unreject("http://c.test/") == 1
        assert store.verify() == []
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("database", ["numbers", "fingerprints", "bodies", "texts", "table0", "table3", "pages", "log", "state"])
def test_verify_finds_what_is_missing(made: Path, database: str):
    # Without memory every commit moves what the one before had logged to the tables.
    with open_store(made, memory=0) as store:
        store.load_fingerprints(range(2**40, 2**40 + 64))
    with lmdb.open(str(made), max_dbs=20) as env, env.begin(write=True) as txn:
        txn.drop(env.open_db(database.encode(), txn=txn), delete=False)
    with open_store(made) as store:
        assert store.verify()


def test_verify_finds_a_record_under_the_number_of_another_page(made: Path):
    with open_store(made) as store:
        store.admit(page("http://c.test/", 2**30 - 1), NEAR)
    with lmdb.open(str(made), max_dbs=20) as env, env.begin(write=True, db=env.open_db(b"pages")) as txn:
        (first, one), (second, other) = list(txn.cursor())
        txn.put(first, other)
        txn.put(second, one)
    with open_store(made) as store:
        assert sum("has another page's number" in line for line in store.verify()) == 2


def test_pages_stand_in_the_order_in_which_they_came(path: Path):
    with open_store(path) as store:
        for number in range(20):
            store.admit(page(f"http://x/{number}", far_apart(64)), NEAR)
            store.sync()
        # What is forgotten, or seen again, moves nothing.
        store.forget("http://x/19")
        store.forget("http://x/7")
        store.admit(page("http://x/3", far_apart(64), text="another"), NEAR)
        store.admit(page("http://x/new", far_apart(64)), NEAR)
        store.sync()
        assert [stored.page.url for stored in store.pages()] == [f"http://x/{n}" for n in range(19) if n != 7] + ["http://x/new"]
        assert store.verify() == []


def test_digests_that_begin_alike_are_told_apart(path: Path):
    one, other = (replace(page(f"http://{name}/", far_apart(64)), body_digest=bytes(8) + name.encode() * 8) for name in "ab")
    one, other = (replace(made, text_digest=made.body_digest) for made in (one, other))
    with open_store(path) as store:
        assert not store.admit(one, NEAR).is_duplicate
        store.sync()
        assert not store.admit(other, NEAR).is_duplicate
        store.sync()
        assert store.verify() == []
        for original in (one, other):
            # By its bytes, and by its text.
            assert store.admit(replace(original, url="http://copy/", fingerprint=far_apart(64)), NEAR).original == original.url
            assert store.admit(replace(original, url="http://copy/", body_digest=bytes(16)), NEAR).original == original.url
        store.forget(one.url)
        assert store.admit(replace(other, url="http://copy/", fingerprint=far_apart(64)), NEAR).original == other.url
        assert store.verify() == []


def test_records_fill_the_pages_of_the_file(path: Path):
    with open_store(path) as store:
        for number in range(2_000):
            store.admit(replace(page(f"http://x/{number}", far_apart(64), text=f"{number}"), content_sketch=bytes(198)), NEAR)
            if not number % 100:
                store.sync()
        assert store.verify() == []
    with lmdb.open(str(path), max_dbs=20, readonly=True) as env:
        records = env.open_db(b"pages", create=False)
        with env.begin(db=records) as txn, txn.cursor() as cursor:
            size, stat = sum(len(key) + len(value) for key, value in cursor), txn.stat(records)
    assert stat["entries"] == 2_000
    assert stat["leaf_pages"] * stat["psize"] < 1.25 * size


# What a process finds in a damaged copy of a store: "refused", "problems", "right", or "wrong".
READ_DAMAGED = """
import os, sys
from pathlib import Path
from simcrawl.errors import StoreError
from simcrawl.store import open_store
from tests.store.test_lmdb_pages import PAGES, right_answers
path, data = Path(sys.argv[1]), Path(sys.argv[1], "data.mdb")
whole = data.read_bytes()

def find():
    try:
        with open_store(path) as store:
            return "problems" if store.verify() else "right" if right_answers(store) else "wrong"
    except StoreError:
        return "refused"

for place in range(0, len(whole), 4096 * 5):
    if sys.argv[2] == "truncate":
        data.write_bytes(whole[: place or 1000])
    else:
        data.write_bytes(whole[:place] + bytes([int(sys.argv[2])]) * 4096 + whole[place + 4096 :])
    child = os.fork()
    if not child:
        print(find(), flush=True)
        os._exit(0)
    if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
        print("killed", flush=True)
"""
PAGES = {f"http://a.test/{i}": Random(i).getrandbits(64) for i in range(100)}


def right_answers(store: Store) -> bool:
    return all([match.url for match in store.query(fingerprint, 3)] == [url] for url, fingerprint in PAGES.items())


def found_in_damaged_copies(path: Path, damage: str) -> list[str]:
    with open_store(path, recipe="manku2007", sync_seconds=math.inf) as store:
        for url, fingerprint in PAGES.items():
            store.admit(page(url, fingerprint), NEAR)
        # Values of a table that are too long for a page of the file: LMDB does not look at those.
        store.load_fingerprints([0xFFFF << 48 | i for i in range(400)])
        store.sync()
        assert right_answers(store)
    reader = child(READ_DAMAGED, path, damage)
    lines = reader.communicate()[0].splitlines()
    assert reader.returncode == 0
    return lines


# LMDB keeps no checksums of its pages and maps the file: reading a damaged place may end the process, loudly, but never misleads.
@pytest.mark.parametrize("damage", ["truncate", "0", "255"])
def test_a_damaged_file_never_gives_a_wrong_answer(path: Path, damage: str):
    found = found_in_damaged_copies(path, damage)
    assert "wrong" not in found
    assert {"refused", "problems"} & set(found)
    if damage == "truncate":
        # "right" where nothing but free pages is missing.
        assert set(found) <= {"refused", "right"}


def test_a_file_that_lacks_free_pages_only_is_whole(path: Path):
    with open_store(path, sync_seconds=math.inf) as store:
        store.load_fingerprints(range(5_000))
    data = path / "data.mdb"
    with lmdb.open(str(path), max_dbs=20) as env:
        big = env.open_db(b"big")
        with env.begin(write=True) as txn:
            txn.put(b"big", bytes(1 << 20), db=big)
        with env.begin(write=True) as txn:
            txn.drop(big)
    whole = data.stat().st_size
    os.truncate(data, whole - (1 << 19))
    for readonly, size in ((True, whole - (1 << 19)), (False, whole)):
        assert verify(path) == []
        with open_store(path, readonly=readonly) as store:
            assert store.counts()["fingerprints"] == 5_000
            assert data.stat().st_size == size


def flip(data: Path, place: int, bit: int) -> None:
    """Flip a bit of a file."""
    with data.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))


@pytest.mark.parametrize("bit", [20, 40, 60])
@pytest.mark.parametrize("readonly", [True, False])
def test_a_last_page_that_is_far_behind_the_end_is_refused_and_nothing_is_written(made: Path, readonly: bool, bit: int):
    data = made / "data.mdb"
    before = data.stat()
    # Where LMDB's two first pages have the number of the last one: behind a header of 16 bytes, 24 of their own and two of 48.
    for meta in (0, 4096):
        flip(data, meta + 136 + bit // 8, bit % 8)
    whole = data.read_bytes()
    message = rf"data.mdb is cut short, or its first pages are damaged \(of \d+ bytes that it says it has {len(whole)} are there\): restore"
    with pytest.raises(StoreCorruptError, match=message):
        open_store(made, readonly=readonly)
    for work in (compact, partial(rebuild, design="10")):
        with pytest.raises(StoreCorruptError, match=message):
            work(made)
    assert re.search(message, verify(made)[0])
    assert (data.read_bytes(), data.stat().st_blocks) == (whole, before.st_blocks)


def long_text(path: Path) -> int:
    """Keep a text in a store that takes more than a page of the file; return where in the file it stands."""
    with open_store(path, recipe="manku2007") as store:
        store.keep_texts(10**6)
        claim = store.claim(replace(page(A), content=compressed("".join(map(chr, range(40_000))))), NEAR).claim
        assert claim
        claim.confirm()
        store.sync()
        packed = seal(compressed("".join(map(chr, range(40_000)))))
    return (path / "data.mdb").read_bytes().index(packed[:1000])


def test_damage_that_ends_who_reads_it_is_told_with_what_was_read(path: Path):
    long_text(path)
    data = path / "data.mdb"
    with lmdb.open(str(path), max_dbs=20, readonly=True) as env, env.begin(db=env.open_db(b"contents", create=False)) as txn:
        (size,) = (len(value) for _, value in txn.cursor())
    # The length of the text, in front of its key. Of what is behind the file's end LMDB believes that it is there.
    place = data.read_bytes().rindex(size.to_bytes(4, "little"), 0, data.read_bytes().rindex(url_key(A, 0)))
    flip(data, place + 3, 4)
    (problem,) = verify(path)
    assert problem.startswith("contents: reading it ended the process that did so (Bus error): data.mdb is damaged, or was cut short: ")
    assert run(["verify", str(path)]) == 1


def test_verify_finds_nothing_wrong_in_a_store_that_is_whole(made: Path):
    assert verify(made) == verify(f"lmdb://{made}") == []
    with open_store(made) as store:
        store.admit(page("http://c.test/", 2**30), NEAR)
        store.sync()
        assert verify(made) == []


def test_verify_says_why_it_cannot_open_a_store(made: Path, tmp_path: Path):
    change(made, "meta", lambda header: header[:-1])
    with pytest.raises(StoreCorruptError, match="damaged header"):
        verify(made)
    with pytest.raises(StoreFormatError, match="there is no simcrawl store"):
        verify(tmp_path / "none")


def test_verify_reads_on_where_lmdb_cannot(made: Path):
    change(made, "duplicates", lambda line: line[:-1])
    with lmdb.open(str(made), max_dbs=20) as env, env.begin(write=True) as txn:
        # The record of a database, in which its root is the last number: a page that does not exist.
        record = bytearray(txn.get(b"pages", b""))
        sound, record[40:48] = bytes(record[40:48]), (1 << 30).to_bytes(8, "little")
    data = made / "data.mdb"
    whole = data.read_bytes()
    data.write_bytes(whole.replace(b"pages" + bytes(record[:40]) + sound, b"pages" + bytes(record)))
    names = [line.partition(":")[0] for line in verify(made)]
    assert {"pages", "duplicates"} <= set(names)


def test_a_process_that_fails_is_told_with_what_it_said(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", ["/nowhere"])
    (problem,) = verify(made)
    assert problem.startswith("header: reading it failed (ModuleNotFoundError: No module named")


def test_without_another_process_a_store_is_verified_in_this_one(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    change(made, "duplicates", lambda line: line[:-1])
    (problem,) = verify(made)
    assert problem.startswith("duplicates: ")
    os.truncate(made / "data.mdb", (made / "data.mdb").stat().st_size - 4096)
    with pytest.raises(StoreCorruptError, match=r"is cut short, .*cannot start another one"):
        open_store(made)


def test_a_file_that_is_cut_short_is_refused_and_left_as_it_was(made: Path):
    data = made / "data.mdb"
    whole = data.read_bytes()
    refused: list[tuple[int, int, bool]] = []
    for size in range(8192, len(whole), 4096):
        os.truncate(data, size)
        try:
            with open_store(made) as store:
                # Nothing but free pages was missing.
                assert store.verify() == []
        except StoreCorruptError as exc:
            refused.append((size, data.stat().st_size, "is cut short" in str(exc)))
        data.write_bytes(whole)
    assert len(refused) > 5
    assert all(left == size and named for size, left, named in refused)
    with open_store(made) as store:
        assert store.verify() == []


# Larger than the memory it may use


@pytest.mark.parametrize(("room", "unfolded"), [(0, 1 << 20), (64, 1 << 20), (150, 1 << 20), (10_000, 1 << 20), (1_500, 64)])
def test_a_store_that_outgrows_its_memory_answers_as_before(path: Path, room: int, unfolded: int, monkeypatch: pytest.MonkeyPatch):
    # With few that wait for their tables, some of the tables stay in memory when the others do not.
    monkeypatch.setattr("simcrawl.index.durable._MOST_UNFOLDED", unfolded)
    noise = Random(room)
    # A place for every prefix of the four tables, then 32 bytes a fingerprint.
    memory = (50 * 4 << 16) + 32 * room
    held = {noise.getrandbits(64) for _ in range(6_000)}
    loaded, single = sorted(held)[:5_000], sorted(held)[5_000:]
    for _ in range(2):
        with open_store(path, sync_seconds=math.inf, memory=memory) as store:
            for i, fingerprint in enumerate(single):
                store.admit_fingerprint(fingerprint, 0)
                if i % 50 == 0:
                    store.sync()
                if i == 500:
                    store.load_fingerprints(loaded)
            assert all(store.query_fingerprint(fingerprint ^ 1 << 63, 1) for fingerprint in held)
            assert store.query_fingerprint(noise.getrandbits(64), 3) == []
            store.sync()
            assert store.counts()["fingerprints"] == len(held)
            assert store.verify() == []


WRITE_AND_FORGET = """
import math, sys
from random import Random
from simcrawl.store import open_store
from tests.strategies import page
from tests.store.test_lmdb_pages import NEAR
with open_store(sys.argv[1], sync_seconds=math.inf, memory=0) as store:
    for round in range(4):
        # So many commits that every slice is folded, and its records deleted, more than once.
        for i in range(200):
            store.admit(page(f"http://a.test/{round}/{i}", Random(f"{round} {i}").getrandbits(64)), NEAR)
            if i % 10 == 9:
                store.sync()
        for i in range(0, 200, 10):
            store.forget(f"http://a.test/{round}/{i}")
        print(round, flush=True)
        sys.stdin.readline()
"""


@pytest.mark.parametrize("memory", [0, None])
def test_an_open_store_follows_what_another_process_adds_folds_and_removes(path: Path, memory: int | None):
    with open_store(path, sync_seconds=math.inf, memory=memory) as store, child(WRITE_AND_FORGET, path) as other:
        assert other.stdin
        assert other.stdout
        for _ in range(4):
            done = int(other.stdout.readline())
            for number in range(done + 1):
                for i in range(200):
                    found = store.query_fingerprint(Random(f"{number} {i}").getrandbits(64) ^ 0b101, 3)
                    assert len(found) == (i % 10 > 0)
            store.admit_fingerprint(done << 40, 0)
            store.sync()
            other.stdin.write("on\n")
            other.stdin.flush()
        other.communicate()
        assert store.verify() == []
        assert store.counts()["fingerprints"] == 4 * 180 + 4


@pytest.mark.parametrize("spread", [64, 40])
@pytest.mark.parametrize("bits", [64, 128])
def test_a_large_load_is_sorted_part_by_part(path: Path, bits: int, spread: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.index.packed._PART", 100)
    monkeypatch.setattr("simcrawl.index.log._CHUNK", 70)
    # With few bits all stand under a few prefixes of the first tables.
    held = [far_apart(spread) for _ in range(6_000)]
    with open_store(path, bits=bits, sync_seconds=math.inf, memory=0) as store:
        for start in (0, 5_000):
            store.load_fingerprints(held[start : start + 5_000] + held[:10])
        assert all(store.query_fingerprint(fingerprint ^ 0b101, 2) for fingerprint in held)
        assert store.counts()["fingerprints"] == len(set(held))
        assert store.verify() == []


def load_in_parts(patched: pytest.MonkeyPatch, most: int, memory: int = 0) -> None:
    """Let a load of a few thousand go as one of millions does."""
    for name, value in {"_LEAST_LOADED": most, "_MOST_DIRECT": 0, "_FEW": 0, "_FOLDED_BYTES": 1 << 14, "MEMORY": memory}.items():
        patched.setattr(f"simcrawl.index.durable.{name}", value)
    patched.setattr("simcrawl.index.packed._BLOCK", 70)


@given(st.data(), st.sampled_from([32, 40, 64, 96, 128]))
def test_fingerprints_are_parted_into_distinct_ones_of_bounded_number(data: st.DataObject, bits: int):
    # Most under few of the leading bits, and many of them equal.
    spread = data.draw(st.sampled_from([8, bits - 3, bits]))
    values = data.draw(st.lists(st.integers(0, 2**spread - 1), max_size=60).map(lambda some: some * 2))
    most = data.draw(st.integers(1, 40))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("simcrawl.index.packed._BLOCK", data.draw(st.integers(1, 7)))
        parts = [[int.from_bytes(row.tobytes(), "little") for row in part] for part in in_parts(to_rows(values, bits=bits), bits, most)]
    assert {one for part in parts for one in part} == set(values)
    assert all(len(set(part)) == len(part) for part in parts)
    assert all(0 < len(part) <= max(most + most // 32, 7) for part in parts)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("spread", [20, 32])
def test_a_load_in_parts_gives_what_one_gives(path: Path, bits: int, spread: int, monkeypatch: pytest.MonkeyPatch):
    load_in_parts(monkeypatch, 600)
    noise = Random(bits + spread)
    held = [noise.getrandbits(spread) << noise.choice([0, bits - spread]) for _ in range(3_000)]
    with open_store(path, bits=bits, sync_seconds=math.inf) as store:
        for fingerprint in held[:50]:
            store.admit_fingerprint(fingerprint, 0)
        store.sync()
        for fingerprint in held[50:100]:
            store.admit_fingerprint(fingerprint, 0)
        for start in (0, 1_000):
            store.load_fingerprints(held[start : start + 2_000] + held[:10])
            assert store.verify() == []
        assert store.counts()["fingerprints"] == len(set(held))
        assert all(fingerprint in {match.fingerprint for match in store.query_fingerprint(fingerprint ^ 0b101, 2)} for fingerprint in held)
        store.sync()
        assert store.verify() == []
        assert store.counts()["fingerprints"] == len(set(held))


LOAD_AND_DIE = """
import os, signal, sys
import pytest
from simcrawl.store import open_store
from simcrawl.index.delta import Loading
from simcrawl.index.durable import DurableIndex
from simcrawl.index.log import Log
from tests.store.test_lmdb_pages import load_in_parts, to_load
path, steps, within = sys.argv[1:]
steps, catch_up = int(steps), DurableIndex.catch_up
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def counted(self, txn, moment):
    # A transaction of the load begins.
    global steps
    steps -= isinstance(self._delta, Loading)
    if steps < 0 and within == "between":
        die()
    if steps < 0:
        log, fold = Log.append, DurableIndex._fold
        Log.append = lambda *some: (log(*some), die())
        DurableIndex._fold = lambda *some: (fold(*some), die())
    catch_up(self, txn, moment)
DurableIndex.catch_up = counted
load_in_parts(pytest.MonkeyPatch(), 2_000)
with open_store(path) as store:
    store.load_fingerprints(to_load())
print("done")
"""


def to_load() -> list[int]:
    return [Random(9).getrandbits(64) ^ i * 0x9E3779B97F4A7C15 % 2**64 for i in range(5_000)]


@pytest.mark.parametrize("within", ["within", "between"])
@pytest.mark.parametrize("steps", [0, 1, 5, 12])
def test_a_killed_load_leaves_a_whole_store_and_may_be_run_again(path: Path, steps: int, within: str):
    held, died = set(to_load()), child(LOAD_AND_DIE, path, steps, within)
    assert died.communicate(timeout=60)[0] == ""
    assert died.returncode == -signal.SIGKILL
    with open_store(path) as store:
        assert store.verify() == []
        found = {int(one) for chunk in store.fingerprint_chunks() for one in chunk[:, 0]}
        assert found <= held
        assert len(found) >= (1_000 if steps else 0)
        store.load_fingerprints(to_load())
        assert store.verify() == []
        assert store.counts()["fingerprints"] == len(held)


LOAD_WITHIN_MEMORY = """
import resource, sys
import numpy as np
from pathlib import Path
from simcrawl.store import open_store
given = np.random.default_rng(1).integers(0, 2**64, 3_000_000, dtype=np.uint64)
with open_store(sys.argv[1], memory=1 << 25) as store:
    used = next(int(line.split()[1]) << 10 for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used + (int(sys.argv[2]) << 20),) * 2)
    store.load_fingerprints(given)
    print(store.counts()["fingerprints"])
"""


def test_a_load_stays_within_its_memory(path: Path):
    # In one transaction it takes more than 220 MB.
    assert child(LOAD_WITHIN_MEMORY, path, 190, new=True).communicate(timeout=120)[0] == "3000000\n"


def test_a_fingerprint_that_is_loaded_while_it_waits_is_written_once(path: Path):
    with open_store(path, sync_seconds=math.inf) as store:
        store.admit(page(A, 5), NEAR)
        store.forget(A)
        store.sync()
        store.admit_fingerprint(7)
        store.load_fingerprints([7])
        store.sync()
        assert store.verify() == []
        assert store.counts()["fingerprints"] == 1


def test_a_fingerprint_that_is_loaded_after_it_was_removed_is_found(made: Path, monkeypatch: pytest.MonkeyPatch):
    # However few are loaded go past the log, in which the removal still stands.
    monkeypatch.setattr("simcrawl.index.durable._FEW", 0)
    rebuild(made, "4")
    with open_store(made) as store:
        store.forget(A)
        store.load_fingerprints([1])
        assert store.query(1, 0) == [Match(1, 0)]
        assert store.admit_fingerprint(1, 0) == Match(1, 0)
        assert store.verify() == []


# Verdicts taken back


def test_a_rejection_is_durable_and_seen_by_a_crawl_in_another_process(made: Path):
    with open_store(made) as store:
        store.reject("http://b.test/", "http://a.test/")
        script = "import sys; from simcrawl.store import open_store; print(*(one.url for one in open_store(sys.argv[1]).rejections()))"
        assert child(script, made).communicate(timeout=60)[0].split() == ["http://b.test/"]
    with open_store(made) as store:
        assert [(one.url, one.original) for one in store.rejections()] == [("http://b.test/", "http://a.test/")]


@pytest.mark.parametrize(
    "edit", [lambda value: b"{", lambda value: value.replace(b'"content": "', b'"content": "no hex'), lambda value: b""]
)
def test_a_damaged_rejection_is_reported(made: Path, edit: Callable[[bytes], bytes]):
    with open_store(made) as store:
        store.reject("http://b.test/", "http://a.test/")
    change(made, "rejections", lambda value: edit(value) if value else value)
    with open_store(made) as store:
        assert any(problem.startswith("rejections: ") for problem in store.verify())
