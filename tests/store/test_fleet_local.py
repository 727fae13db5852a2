"""A fleet's process with a directory of its own: what it knows when it starts again is what the log says."""

from __future__ import annotations

import math
import shutil
import signal
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.errors import SettingError, StoreError, StoreMismatchError
from simcrawl.rule import Rule
from simcrawl.store import Store, join_crawl, open_store
from simcrawl.store.fleet import Fleet, Times
from simcrawl.store.fleet_link import Link
from simcrawl.store.fleet_local import Local
from tests.redis_server import Server, shared_server
from tests.strategies import page

if TYPE_CHECKING:
    from pathlib import Path

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
# Nobody is taken for dead here: whoever looks sees the claims of those who were killed.
TIMES = Times(beat=0.05, dead=600, grace=0.5)
QUICK: dict[str, Any] = {"sync_seconds": math.inf, "times": TIMES, "recipe": "manku2007"}
_WORKER = """
import sys
from random import Random
from simcrawl.store import join_crawl, open_store
from tests.strategies import page
from tests.store.test_fleet_local import NEAR, QUICK
url, start = sys.argv[1], int(sys.argv[2])
with open_store(url, **(QUICK | {"sync_seconds": 0.01})) as store:
    crawl = join_crawl(store, spider="s", job="/jobs/1")
    for number in range(start, start + 10_000):
        made = page(f"http://{number}.test/", Random(number % 997).getrandbits(64))
        claim = crawl.claim(made, NEAR).claim
        if claim and number % 7:
            claim.confirm()
        elif claim and number % 2:
            claim.withdraw()
        crawl.try_sync()
        if number % 50 == 0:
            store._link._wire._hearer.checkpoint()
            print(number, flush=True)
"""


def at(url: str, directory: Path) -> str:
    return f"{url}&local={directory}"


def fleet_of(store: Store) -> Fleet:
    link = store._link
    assert isinstance(link, Link)
    assert isinstance(link._wire._hearer, Fleet)
    return link._wire._hearer


def known(store: Store) -> dict[str, Any]:
    """Return all that a store knows, and its crawls."""
    store.commit()
    spaces = [store, *(crawl.own for crawl in fleet_of(store).crawls.live.values())]
    for space in spaces:
        space.commit()
    return {
        "pages": [sorted((stored.page.url, stored.page.body_digest, stored.callback) for stored in space.pages()) for space in spaces],
        "lines": sorted((line.url, line.original) for line in store.duplicates()),
        "crawls": sorted(fleet_of(store).crawls.live),
        "open": sorted(token.hex() for link in fleet_of(store).links.values() for token in link.claimed.open),
    }


def check_like_a_replay(url: str, directory: Path) -> dict[str, Any]:
    """Check that a start from a directory knows what a full replay tells; return it."""
    with open_store(url, create=False, readonly=True) as replayed:
        expected = known(replayed)
    with open_store(at(url, directory), **QUICK) as store:
        assert known(store) == expected
    return expected


def die(store: Store) -> None:
    """End a process's part as a kill does: nothing is told, and nothing is written."""
    fleet = fleet_of(store)
    fleet.wire.closing.set()
    fleet.wire.outbox.wake()
    for thread in fleet.wire._threads:
        thread.join()
    fleet.wire.log.close()
    assert fleet._local
    fleet._local.close()


def test_a_start_reads_only_what_came_later(url: str, tmp_path: Path):
    with open_store(at(url, tmp_path / "own"), **QUICK) as store:
        for number in range(20):
            store.admit(page(f"{A}{number}", 0xFF << number), Rule(max_distance=0, min_similarity=0, outlinks=0))
    log, client = f"{{{url.rpartition('=')[2]}}}:log", shared_server().client()
    assert len(check_like_a_replay(url, tmp_path / "own")["pages"][0]) == 20
    client.xtrim(log, maxlen=1, approximate=False)
    with open_store(at(url, tmp_path / "own"), **QUICK) as store:
        assert store.counts()["pages"] == 20
    shutil.copytree(tmp_path / "own", tmp_path / "copied")
    with open_store(at(url, tmp_path / "copied"), **QUICK) as store:
        assert store.counts()["pages"] == 20


def test_a_log_that_was_trimmed_is_no_beginning(url: str, tmp_path: Path):
    with open_store(at(url, tmp_path / "own"), **QUICK) as store:
        store.admit(page(A, 1), NEAR)
    shutil.copytree(tmp_path / "own", tmp_path / "old")
    with open_store(at(url, tmp_path / "own"), **QUICK) as store:
        store.admit(page(B, 0xFF << 40), NEAR)
    shared_server().client().xtrim(f"{{{url.rpartition('=')[2]}}}:log", maxlen=1, approximate=False)
    for where in (url, at(url, tmp_path / "new"), at(url, tmp_path / "old")):
        with pytest.raises(StoreError, match=r"was trimmed: begin with a copy of the directory \(local=\)"):
            open_store(where, **QUICK)
    with open_store(at(url, tmp_path / "own"), **QUICK) as store:
        assert {stored.page.url for stored in store.pages()} == {A, B}


def test_a_copied_directory_starts_another_machine(url: str, tmp_path: Path):
    with open_store(at(url, tmp_path / "own"), **QUICK) as store:
        store.admit(page(A, 1), NEAR)
        store.reject(A, B)
    shutil.copytree(tmp_path / "own", tmp_path / "copied")
    with open_store(at(url, tmp_path / "own"), **QUICK) as one, open_store(at(url, tmp_path / "copied"), **QUICK) as other:
        claim = one.claim(page(C, 0xFF << 40), NEAR).claim
        assert claim
        assert other.claim(page(B, 0xFF << 40), NEAR).waits_for
        claim.confirm()
        for each in (one, other, one):
            each.sync()
        assert {stored.page.url for stored in one.pages()} == {A, C}
    check_like_a_replay(url, tmp_path / "copied")


@pytest.mark.parametrize("cut", ["before", "between"])
def test_a_kill_in_the_middle_of_a_checkpoint_loses_nothing(url: str, tmp_path: Path, cut: str, monkeypatch: pytest.MonkeyPatch):
    store = open_store(at(url, tmp_path), **QUICK)
    crawl = join_crawl(store, spider="s", job="/jobs/1")
    crawl.admit(page(A, 1), NEAR)
    claims = [crawl.claim(page(f"{B}{number}", 0xFF << 10 * number), NEAR).claim for number in range(2, 5)]
    store.sync()
    fleet_of(store).checkpoint()
    for claim, confirmed in zip(claims, (True, False, None), strict=True):
        assert claim
        if confirmed is not None:
            (claim.confirm if confirmed else claim.withdraw)()
    crawl.claim(page(C, 2), NEAR)
    store.note_crawl({"spider": "s"})
    store.sync()
    crawl.own.sync()
    if cut == "between":
        with monkeypatch.context() as patched:
            patched.setattr(Local, "write", None)
            with pytest.raises(TypeError):
                fleet_of(store).checkpoint()
    die(store)
    expected = check_like_a_replay(url, tmp_path)
    assert [len(pages) for pages in expected["pages"]] == [2, 2]
    with open_store(at(url, tmp_path), **QUICK) as again:
        assert again.crawls() == [{"spider": "s"}]


def test_what_the_log_does_not_have_is_not_written(server: Server, tmp_path: Path):
    url = server.url()
    store = open_store(at(url, tmp_path), **QUICK)
    store.admit(page(A, 1), NEAR)
    store.sync()
    server.process.send_signal(signal.SIGSTOP)
    store.admit(page(B, 0xFF << 40), NEAR)
    with pytest.raises(StoreError, match="does not answer"):
        store.sync()
    assert [stored.page.url for stored in store.pages()] == [A]
    die(store)
    server.process.send_signal(signal.SIGCONT)
    assert [url for url, *_ in check_like_a_replay(url, tmp_path)["pages"][0]] == [A]


def test_processes_that_are_killed_know_what_the_log_says(url: str, tmp_path: Path):
    chance = Random(19)
    for number in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", _WORKER, at(url, tmp_path), str(1000 * number)], stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdout
            for _ in range(chance.randrange(2, 6)):
                assert worker.stdout.readline()
            worker.kill()
        expected = check_like_a_replay(url, tmp_path)
        assert len(expected["pages"]) == number + 2
        assert all(expected["pages"])


def test_a_log_that_is_lost_while_nobody_lives_is_told_again(server: Server, tmp_path: Path):
    url = server.url()
    with open_store(at(url, tmp_path), seed="random", **QUICK) as store:
        store.admit(page(A, 1, seed=store.header.seed), NEAR)
        seed = store.header.seed
    server.client().flushall()
    with open_store(at(url, tmp_path), seed="random", **QUICK) as store:
        assert store.header.seed == seed
        store.sync()
        with open_store(url, create=False, readonly=True) as late:
            assert [stored.page.url for stored in late.pages()] == [A]


def test_a_directory_has_one_process_and_one_fleet(url: str, tmp_path: Path):
    with open_store(at(url, tmp_path / "own"), seed=1, **QUICK):
        command = [sys.executable, "-c", _WORKER, at(url, tmp_path / "own"), "0"]
        other = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "give each process of a fleet a directory of its own" in other.stderr
    open_store(shared_server().url("elsewhere"), seed=2).close()
    with pytest.raises(StoreMismatchError, match="is of another fleet"):
        open_store(at(shared_server().url("elsewhere"), tmp_path / "own"), **QUICK)
    with pytest.raises(SettingError, match=r"'here': give an absolute path"):
        open_store(f"{url}&local=here")
