"""A fleet: stores that share nothing but a log, on a real server. Each store stands for a process."""

from __future__ import annotations

import math
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import count
from random import Random
from threading import Barrier, Event
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.errors import SettingError, StoreError, StoreFormatError, StoreMismatchError
from simcrawl.page.kept import compressed
from simcrawl.rule import Kind, Rule
from simcrawl.store import Duplicate, Store, fleet_events as fleet_event, join_crawl, join_loaded, open_store
from simcrawl.store.fleet import Fleet, Times
from simcrawl.store.fleet_link import Link
from tests.redis_server import Proxy, Server, shared_server
from tests.strategies import abstention, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simcrawl.store import Admission, Claim
    from simcrawl.store.fleet_wire import Wire

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
TIMES = Times(beat=0.05, dead=0.5, grace=0.5)
QUICK: dict[str, Any] = {"sync_seconds": math.inf, "times": TIMES}


@pytest.fixture
def two(url: str) -> Iterator[tuple[Store, Store]]:
    with open_store(url, sync_seconds=math.inf) as one, open_store(url, sync_seconds=math.inf) as other:
        yield one, other


def until(true: Callable[[], object]) -> None:
    """Wait for something that comes from another process: for a minute, so that what never comes is told."""
    end = monotonic() + 60
    while not true():
        assert monotonic() < end
        sleep(0.001)


def claimed(store: Store, url: str, fingerprint: int = 0, *, text: str = "") -> Claim:
    claim = store.claim(page(url, fingerprint, text=text), NEAR).claim
    assert claim
    return claim


def fleet_of(store: Store) -> Fleet:
    hearer = wire_of(store)._hearer
    assert isinstance(hearer, Fleet)
    return hearer


def wire_of(store: Store) -> Wire:
    link = store._link
    assert isinstance(link, Link)
    return link._wire


def open_claims(store: Store) -> list[bytes]:
    """Return the tokens of the open claims that a store knows of."""
    return [token for link in fleet_of(store).links.values() for token in link.claimed.open]


def caught_up(*stores: Store) -> None:
    """Let every store know what the others have told."""
    for store in (*stores, *stores):
        # A round trip tells what has come meanwhile.
        store.note(Duplicate(f"http://{id(store)}.test/", A, "near_duplicate", 1, 0.9, "near-duplicate", True, False, time()))
        store.sync()


def urls(store: Store) -> set[str]:
    store.sync()
    return {stored.page.url for stored in store.pages()}


# ---- claims


def test_a_copy_of_another_process_s_open_claim_waits_for_it(two: tuple[Store, Store]):
    check_copy_waits(*two)


def check_copy_waits(one: Store, other: Store) -> None:
    claim, woken = claimed(one, A, 1), Event()
    admission = other.claim(page(B, 3), NEAR)
    assert (admission.claim, admission.verdict.original) == (None, A)
    assert admission.waits_for
    admission.waits_for.when_settled(woken.set)
    claim.confirm()
    assert woken.wait(30)
    again = other.claim(page(B, 3), NEAR)
    assert (again.verdict.kind, again.verdict.original, again.claim, again.waits_for) == (Kind.NEAR_DUPLICATE, A, None, None)


def test_a_page_that_another_process_withdraws_is_kept_by_who_waits(two: tuple[Store, Store]):
    one, other = two
    claim, woken = claimed(one, A, 1), Event()
    waits_for = other.claim(page(B, 1), NEAR).waits_for
    assert waits_for
    waits_for.when_settled(woken.set)
    claim.withdraw()
    assert woken.wait(30)
    claimed(other, B, 1).confirm()
    caught_up(one, other)
    assert urls(one) == urls(other) == {B}


def test_what_is_known_costs_no_round_trip(two: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch):
    one, other = two
    claimed(one, A, 1).confirm()
    caught_up(one, other)
    with monkeypatch.context() as patched:
        patched.setattr(Link, "order", None)
        assert other.claim(page(B, 1), NEAR).verdict.original == A
        assert other.claim(page(A, 1), NEAR).verdict.kind is Kind.REVISITED
        with pytest.raises(TypeError):
            other.claim(page(C, 0xFF << 40), NEAR)


def test_all_of_a_page_is_known_everywhere(two: tuple[Store, Store]):
    one, other = two
    one.keep_texts(10**6)
    other.keep_texts(10**6)
    claim = one.claim(replace(page(A, 1), content=compressed("what it says")), NEAR, callback="spider.parse").claim
    assert claim
    claim.confirm("spider.parse")
    one.admit(abstention(B, "shell"), NEAR)
    assert one.claim(replace(page(C, 3), content=compressed("of the copy")), NEAR, callback="spider.parse").verdict.original == A
    caught_up(one, other)
    for url in (A, B):
        assert one.page(url) == other.page(url)
    assert other.duplicate(C) == one.duplicate(C)
    assert (other.text(A), other.text(C)) == ("what it says", "of the copy")
    assert other.claim(page("http://d.test/", 1), NEAR, callback="spider.other").claim


def test_what_users_say_is_known_everywhere(two: tuple[Store, Store]):
    one, other = two
    for url in (A, B, C):
        one.admit(page(url, 1, text="same"), NEAR)
    one.reject(B)
    one.forget(C)
    one.load_fingerprints([0xF << 50, 0xF << 51])
    one.note_crawl({"spider": "蜘蛛"})
    caught_up(one, other)
    assert list(other.rejections()) == list(one.rejections())
    assert other.duplicate(B) == one.duplicate(B)
    assert (other.duplicate(C), other.crawls()) == (None, [{"spider": "蜘蛛"}])
    assert {match.fingerprint for match in other.query_fingerprint(0xF << 50, 2)} == {0xF << 50, 0xF << 51}
    assert not other.admit(page(B, 1, text="same"), NEAR).is_duplicate
    caught_up(other, one)
    assert one.unreject(B) == 1
    assert one.expire(time() + 60) == 2
    caught_up(one, other)
    assert (list(other.rejections()), urls(other)) == ([], set())


@pytest.mark.parametrize("rejected", [True, False])
def test_a_line_that_left_the_register_does_not_come_back_with_its_mark(two: tuple[Store, Store], *, rejected: bool):
    one, other = two
    one.admit(page(A, 1, text="same"), NEAR)
    one.admit(page(B, 1, text="same"), NEAR)
    line, rejection = one.duplicate(B), one.reject(B)
    assert line
    assert rejection
    caught_up(one, other)
    claimed(other, B, 1 << 60, text="its own").confirm()
    caught_up(other, one)
    # Told by who had not yet heard that the page came out.
    link = one._link
    assert isinstance(link, Link)
    link.reject({"rejection": asdict(rejection), "lines": [asdict(line)]}, rejected=rejected)
    assert one.duplicate(B) is None
    assert bool(list(one.rejections())) == rejected


def test_who_comes_later_knows_all(two: tuple[Store, Store], url: str):
    one, other = two
    for index in range(50):
        (one, other)[index % 2].admit(page(f"{A}{index}", 1 << index), replace(NEAR, max_distance=0))
    caught_up(one, other)
    open_claim = claimed(one, B, 0xFF00FF00FF)
    with open_store(url, create=False) as late, open_store(url, create=False, readonly=True) as reading:
        assert urls(late) == {f"{A}{index}" for index in range(50)}
        assert reading.counts()["pages"] == 50
        waits_for = late.claim(page(C, 0xFF00FF00FF), NEAR).waits_for
        assert waits_for
        open_claim.confirm()
        woken = Event()
        waits_for.when_settled(woken.set)
        assert woken.wait(30)


@pytest.mark.parametrize("alike", ["exact", "near", "one URL"])
def test_of_copies_that_come_at_the_same_moment_one_is_kept(url: str, alike: str):
    machines, clusters = 4, 60
    start, noise = Barrier(machines), Random(1)
    centres = [noise.getrandbits(64) for _ in range(clusters)]

    def crawl(store: Store, machine: int) -> None:
        start.wait()
        for cluster in Random(machine).sample(range(clusters), clusters):
            where = f"http://{cluster}.test/" if alike == "one URL" else f"http://{machine}.test/{cluster}"
            made = page(where, centres[cluster] ^ (1 << machine if alike == "near" else 0), text="" if alike == "near" else f"{cluster}")
            settle(store, made, Random(where + str(machine)))

    def settle(store: Store, made: Any, chance: Random) -> None:
        admission = admitted(store, made)
        while admission.claim and chance.random() < 0.3:
            # Its callback failed, and it is fetched again.
            admission.claim.withdraw()
            admission = admitted(store, made)
        if admission.claim:
            admission.claim.confirm()

    with ExitStack() as opened, ThreadPoolExecutor(machines) as pool:
        stores = [opened.enter_context(open_store(url, sync_seconds=math.inf)) for _ in range(machines)]
        list(pool.map(crawl, stores, range(machines)))
        caught_up(*stores)
        kept = [urls(store) for store in stores]
        assert all(one == kept[0] for one in kept)
        # Who meets a URL that is claimed keeps its page, too, and leaves the record to the other one, whose callback may fail.
        assert len(kept[0]) <= clusters if alike == "one URL" else len(kept[0]) == clusters
        assert len({one.rpartition("/")[2] for one in kept[0]}) == (1 if alike == "one URL" else clusters)
        assert sum(store.late_duplicates for store in stores) == 0
        assert not any(open_claims(store) for store in stores)


def admitted(store: Store, made: Any) -> Admission:
    """Claim a page, and wait as long as that depends on another one."""
    while waits_for := (admission := store.claim(made, NEAR)).waits_for:
        woken = Event()
        waits_for.when_settled(woken.set)
        assert woken.wait(30)
    return admission


# ---- processes that end


def test_the_claims_of_a_dead_process_are_withdrawn(url: str):
    dead = open_store(url, **QUICK)
    claimed(dead, A, 1)
    with open_store(url, **QUICK) as living:
        waits_for = living.claim(page(B, 1), NEAR).waits_for
        assert waits_for
        die(dead)
        woken = Event()
        waits_for.when_settled(woken.set)
        assert woken.wait(30)
        assert living.claim(page(B, 1), NEAR).claim


def die(store: Store) -> None:
    """End a process's part as a kill does: nothing is told."""
    wire = wire_of(store)
    wire.closing.set()
    wire.outbox.wake()
    for thread in wire._threads:
        thread.join()
    wire.log.close()


def test_a_process_that_is_idle_lives(url: str):
    with open_store(url, **QUICK) as idle, open_store(url, **QUICK) as other:
        claim = claimed(idle, A, 1)
        beats = wire_of(idle).outbox._number
        until(lambda: wire_of(idle).outbox._number > beats + 20)
        assert other.claim(page(B, 1), NEAR).waits_for
        claim.confirm()


def test_a_page_that_was_given_up_and_came_out_all_the_same_is_known(two: tuple[Store, Store]):
    one, other = two
    claim = claimed(one, A, 1)
    foreign = other.claim(page(B, 1), NEAR).waits_for
    assert foreign
    # At the same moment: neither knows of the other's word.
    for store in two:
        wire_of(store)._asking.acquire()
    claim.confirm()
    foreign.withdraw()
    for store in two:
        wire_of(store)._asking.release()
    caught_up(one, other)
    assert urls(one) == urls(other) == {A}


def test_a_copy_of_a_page_that_was_given_up_and_came_out_all_the_same_is_late(two: tuple[Store, Store]):
    one, other = two
    claim = claimed(one, A, 1)
    foreign = other.claim(page(B, 1), NEAR).waits_for
    assert foreign
    with wire_of(one)._asking:
        # What one says comes after all that the other one does.
        claim.confirm()
        foreign.withdraw()
        claimed(other, B, 1).confirm()
        other.sync()
    caught_up(one, other)
    assert urls(one) == urls(other) == {A, B}
    assert (one.late_duplicates, other.late_duplicates) == (1, 0)
    line = other.duplicate(A)
    assert line
    assert (line.original, line.dropped_page) == (B, False)


def test_nobody_is_taken_for_dead_who_could_not_speak(server: Server):
    url = server.url()
    silent = QUICK | {"times": TIMES._replace(beat=60, dead=60)}
    with open_store(url, **silent) as one, open_store(url, **(QUICK | {"times": TIMES._replace(dead=60)})) as other:
        claim = claimed(one, A, 1)
        waits_for = other.claim(page(B, 1), NEAR).waits_for
        assert waits_for
        server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreError, match="does not answer"):
            caught_up(other)
        # As if the outage had been long.
        fleet_of(other).lives.bury(wire_of(one).process)
        server.process.send_signal(signal.SIGCONT)
        until(lambda: told(other))
        fleet_of(other).sweep()
        assert not waits_for.settled
        claim.confirm()


# ---- crawls


def test_a_crawl_is_shared_by_name_and_ends_with_its_last_run(two: tuple[Store, Store]):
    one, other = two
    first, second = join_crawl(one, "tonight", spider="s"), join_crawl(other, "tonight", spider="s")
    assert first.id == second.id
    assert (first.joined_others, second.joined_others) == (False, True)
    claim = first.claim(page(A, 1), NEAR).claim
    assert claim
    claim.confirm()
    first.visit(A, bytes(16), kept=True)
    assert second.claim(page(B, 1), NEAR).verdict.original == A
    first.leave(finished=True)
    third = join_crawl(one, "tonight", spider="s")
    assert third.id == first.id
    assert third.claim(page(C, 1), NEAR).verdict.original == A
    for crawl in (second, third):
        crawl.leave(finished=True)
    caught_up(one, other)
    assert not fleet_of(one).crawls.live
    # Only what came out in this crawl makes a page a copy.
    again = join_crawl(other, "tonight", spider="s")
    assert again.id != first.id
    admission = again.claim(page(B, 1), NEAR)
    assert admission.claim
    assert again.since(A, bytes(16)) == ("unchanged", "unchanged")
    assert other.page(A)


def test_a_crawl_of_the_dead_is_not_gone_on_with(url: str):
    dead = open_store(url, **QUICK)
    first = join_crawl(dead, "tonight")
    first.admit(page(A, 1), NEAR)
    dead.sync()
    die(dead)
    sleep(0.6)  # longer than a process may be silent
    with open_store(url, **QUICK) as living:
        again = join_crawl(living, "tonight")
        assert (again.id != first.id, again.joined_others) == (True, False)
        assert again.admit(page(B, 1), NEAR).kind is Kind.ADMITTED


def test_a_crawl_that_was_interrupted_is_resumed_on_another_machine(two: tuple[Store, Store]):
    one, other = two
    first = join_crawl(one, spider="s", job="/jobs/1")
    first.admit(page(A, 1), NEAR)
    first.leave()
    caught_up(one, other)
    resumed = join_crawl(other, spider="s", resume=first.id, job="/jobs/1")
    assert (resumed.id, resumed.resumed, resumed.joined_others) == (first.id, True, False)
    assert resumed.admit(page(B, 1), NEAR).original == A
    resumed.leave(finished=True)
    assert not fleet_of(other).crawls.live


def test_a_crawl_that_nobody_resumes_ends(url: str):
    with open_store(url, **QUICK) as one, open_store(url, **(QUICK | {"times": TIMES._replace(abandoned=0.5)})) as other:
        first = join_crawl(one, spider="s", job="/jobs/1")
        first.admit(page(A, 1), NEAR)
        first.leave()
        caught_up(other)
        assert first.id in fleet_of(other).crawls.live
        until(lambda: not fleet_of(other).crawls.live)
        caught_up(one)
        assert not fleet_of(one).crawls.live
        again = join_crawl(one, spider="s", resume=first.id, job="/jobs/1")
        assert (again.id != first.id, again.resumed) == (True, False)
        assert urls(one) == {A}
        again.leave(finished=True)


def test_loaded_pages_are_originals_on_every_machine(two: tuple[Store, Store]):
    one, other = two
    crawl = join_crawl(other, "tonight")
    join_loaded(one).admit(page(A, 1), NEAR)
    one.sync()
    caught_up(one, other)
    assert crawl.admit(page(B, 1), NEAR).original == A


# ---- what a store was made with


def test_a_fleet_has_one_seed_and_one_recipe(url: str):
    with open_store(url, seed="random") as one, open_store(url, seed="random") as other:
        assert one.header.seed == other.header.seed
        one.bind("manku2007")
        with pytest.raises(StoreMismatchError, match=r"manku2007/4, not content/4"):
            other.bind("content")
        with pytest.raises(StoreMismatchError, match="made with another seed"):
            open_store(url, seed=1)
        with pytest.raises(StoreMismatchError, match="made with bits 64, not 32"):
            open_store(url, bits=32)


def test_nothing_is_made_where_a_store_is_only_read(url: str):
    with pytest.raises(StoreFormatError, match="there is no store"):
        open_store(url, create=False)
    shared_server().client().set("{other}:header", b"[1, 2]")
    with pytest.raises(StoreFormatError, match="something else"):
        open_store(shared_server().url("other"))
    with pytest.raises(SettingError, match="the name of a fleet is ''"):
        open_store(f"redis://127.0.0.1:{shared_server().port}/0?name=")


def test_who_only_reads_tells_nothing(url: str):
    with open_store(url) as store:
        store.admit(page(A, 1), NEAR)
    length = shared_server().client().xlen(f"{{{url.rpartition('=')[2]}}}:log")
    with open_store(url, create=False, readonly=True) as reading:
        assert reading.readonly
        with pytest.raises(StoreError, match="read only"):
            join_crawl(reading)
    assert shared_server().client().xlen(f"{{{url.rpartition('=')[2]}}}:log") == length


def test_an_entry_that_cannot_be_read_does_no_harm(two: tuple[Store, Store], url: str):
    one, other = two
    for entry in (b"", b"?" * 40, b"12345678\0\0\0\0\0\0\0\1c\0\0\0\0\0\0\0\0broken"):
        shared_server().client().xadd(f"{{{url.rpartition('=')[2]}}}:log", {"e": entry})
    one.admit(page(A, 1), NEAR)
    caught_up(one, other)
    assert urls(other) == {A}


def test_a_server_that_would_drop_the_log_is_warned_of(server: Server, caplog: pytest.LogCaptureFixture):
    server.client().config_set("maxmemory-policy", "allkeys-lru")
    with open_store(server.url()):
        assert "set maxmemory-policy noeviction" in caplog.text


# ---- other servers, other ways to them


def check_shared(url: str) -> None:
    """Check that two stores on a server are one crawl."""
    with open_store(url, **QUICK) as one, open_store(url, **QUICK) as other:
        check_copy_waits(one, other)
        caught_up(one, other)
    with open_store(url, create=False, readonly=True) as late:
        assert urls(late) == {A}


def test_valkey_is_a_server_as_redis_is(tmp_path: Path):
    valkey_server = Server(directory=str(tmp_path), binary="valkey-server")
    try:
        check_shared(valkey_server.url())
        valkey_server.client().script_flush()
        check_shared(valkey_server.url())
        valkey_server.client().config_set("maxmemory-policy", "allkeys-lfu")
        with open_store(valkey_server.url()) as store:
            assert wire_of(store).log.forgets() == "allkeys-lfu"
    finally:
        valkey_server.close()


def test_a_socket_leads_to_a_server(tmp_path: Path):
    made = Server("--save", "", "--unixsocket", str(tmp_path / "redis.sock"), directory=str(tmp_path))
    try:
        check_shared(f"unix://{tmp_path}/redis.sock?name=here")
    finally:
        made.close()


def test_connections_are_encrypted(tmp_path: Path):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names, *files], check=True, capture_output=True)
    made = Server("--save", "", "--requirepass", "hunter2", directory=str(tmp_path), certificate=tmp_path)
    try:
        where = f"rediss://:hunter2@127.0.0.1:{made.port}/0"
        check_shared(f"{where}?name=secret&ssl_ca_certs={tmp_path}/cert.pem")
        with pytest.raises(StoreError, match=r"nobody here trusts the certificate of rediss://\*\*\*@127") as refused:
            open_store(f"{where}?name=secret")
        assert "hunter2" not in str(refused.value)
        with pytest.raises(StoreError, match="does not answer"):
            open_store(f"redis://127.0.0.1:{made.port}/0")
    finally:
        made.close()


# ---- failures of the server


def crawl_and_settle(store: Store, clusters: int, machine: int) -> int:
    """Let one machine of several meet every cluster; return how many pages it kept."""
    kept = 0
    for cluster in Random(machine).sample(range(clusters), clusters):
        made = page(f"http://{machine}.test/{cluster}", Random(cluster).getrandbits(64), text=f"{cluster}")
        if claim := admitted(store, made).claim:
            claim.confirm()
            kept += 1
    return kept


def check_fleet(stores: list[Store], kept: int, clusters: int) -> int:
    """Check that all know the same, nothing is lost, and that what was kept twice is counted; return how often that was."""
    for store in (*stores, *stores):
        until(partial(told, store))
    caught_up(*stores)
    known = [urls(store) for store in stores]
    assert all(one == known[0] for one in known)
    assert {one.rpartition("/")[2] for one in known[0]} == set(map(str, range(clusters)))
    late = sum(store.late_duplicates for store in stores)
    assert (len(known[0]), kept - clusters) == (kept, late)
    assert sum(line.original in known[0] for line in stores[0].duplicates() if line.url in known[0]) == late
    return late


def told(store: Store) -> bool:
    try:
        caught_up(store)
    except StoreError:
        return False
    return True


@pytest.mark.parametrize("stopped", [signal.SIGSTOP, signal.SIGKILL])
def test_an_outage_stops_no_crawl_and_what_was_kept_twice_is_found(server: Server, stopped: signal.Signals):
    url = server.url()
    with open_store(url, **QUICK) as one, open_store(url, **QUICK) as other:
        one.admit(page("http://0.test/0", Random(0).getrandbits(64), text="0"), NEAR)
        caught_up(one, other)
        server.process.send_signal(stopped)
        claims = [claimed(store, f"http://{place}.test/1", 0xFF, text="1") for place, store in enumerate((one, other))]
        assert other.claim(page("http://1.test/0", 0, text="0"), NEAR).verdict.original == "http://0.test/0"
        with pytest.raises(StoreError, match="does not answer"):
            one.sync()
        if stopped == signal.SIGKILL:
            server.kill()
            server.start()
        else:
            server.process.send_signal(signal.SIGCONT)
        until(lambda: told(one) and told(other))
        for claim in claims:
            claim.confirm()
        assert check_fleet([one, other], 3, 2) == 1
        with open_store(url, create=False, readonly=True) as late:
            assert urls(late) == urls(one)


def test_who_ends_while_the_original_of_a_page_that_it_kept_is_still_open_records_that_one_as_late(server: Server):
    url = server.url()
    with open_store(url, **QUICK) as one:
        with open_store(url, **QUICK) as other:
            one.bind("manku2007")
            caught_up(one, other)
            server.process.send_signal(signal.SIGSTOP)
            original, copy = claimed(one, A, 1), claimed(other, B, 1)
            server.process.send_signal(signal.SIGCONT)
            # In this order: the later one is the copy.
            until(lambda: told(one) and original.place)
            until(lambda: told(other) and copy.place)
            copy.confirm()
            assert other.late_duplicates == 0
        assert other.late_duplicates == 1
        original.confirm()
        caught_up(one)
        line = one.duplicate(B)
        assert (line and line.original, urls(one)) == (A, {A, B})


def test_who_ends_in_an_outage_tells_what_it_knows_when_that_is_over_soon(server: Server, caplog: pytest.LogCaptureFixture):
    url = server.url()
    open_store(url, recipe="manku2007").close()
    with open_store(url, **(QUICK | {"times": TIMES._replace(grace=60)})) as one:
        server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreError, match="does not answer"):
            caught_up(one)
        one.note(Duplicate(B, A, "near_duplicate", 1, 0.9, "near-duplicate", True, False, time()))
        one.commit()
        server.process.send_signal(signal.SIGCONT)
        # Its next try may be seconds away.
        wire_of(one)._outage.try_at = math.inf
        fleet_of(one).close()
    with open_store(url, create=False, readonly=True) as late:
        assert late.duplicate(B)
    with suppress(StoreError), open_store(url, **QUICK) as other:
        server.process.send_signal(signal.SIGSTOP)
        other.note(Duplicate(C, A, "near_duplicate", 1, 0.9, "near-duplicate", True, False, time()))
        fleet_of(other).close()
        server.process.send_signal(signal.SIGCONT)
    assert "is still away: what this process knows since then is not told" in caplog.text


def test_a_server_that_forgets_all_is_told_again(server: Server):
    url = server.url()
    with open_store(url, seed="random", **QUICK) as one, open_store(url, **QUICK) as other:
        crawls = [join_crawl(store, "tonight", spider="s") for store in (one, other)]
        made = [page(f"{A}{index}", 0xFF << 10 * index, seed=one.header.seed) for index in range(5)]
        for index, each in enumerate(made):
            crawls[index % 2].admit(each, NEAR)
        one.reject(made[0].url, made[1].url)
        caught_up(one, other)
        claim = crawls[0].claim(page(B, 0, seed=one.header.seed), NEAR).claim
        assert claim
        until(lambda: claim.token in open_claims(other))
        server.client().flushall()
        waits_for = crawls[1].claim(page(C, 0, seed=one.header.seed), NEAR).waits_for
        assert waits_for
        until(lambda: told(one) and told(other) and not one.late_duplicates)
        claim.confirm()
        # Either may find only now that the other has begun the log anew: an outage of its own.
        until(lambda: told(one) and told(other))
        with open_store(url, create=False, **QUICK) as late:
            crawl = join_crawl(late, "tonight", spider="s")
            assert (crawl.id, late.header) == (crawls[0].id, one.header)
            until(lambda: urls(late) == {made.url for made in made} | {B} == urls(crawl.own))
            assert list(late.rejections()) == list(one.rejections())
            assert crawl.admit(page(C, 0, seed=one.header.seed), NEAR).original == B


def test_a_server_that_has_lost_the_end_of_its_log_is_told_again_also_where_others_went_on(server: Server):
    url = server.url("cut")
    with open_store(url, **QUICK) as one:
        one.admit(page(A, 1), NEAR)
        one.sync()
        place = "{}-{}".format(*wire_of(one).place)
        one.admit(page(B, 0xFF << 20), NEAR)
        one.sync()
        found: Any = server.client().xrange("{cut}:log", f"({place}", "+")
        lost = [at for at, _ in found]
        with server.client().pipeline() as back:
            back.xdel("{cut}:log", *lost)
            back.xadd("{cut}:log", {"e": fleet_event.Event(b"somebody", 1, fleet_event.What.BEAT, fleet_event.LASTING, b"").pack()})
            back.client_kill_filter(_type="normal")
            back.execute()
        until(lambda: told(one))
        with open_store(url, create=False, readonly=True) as late:
            assert urls(late) == {A, B}


def test_what_comes_first_in_a_log_that_began_anew_is_read_also_where_its_ids_are_not_later(server: Server):
    with open_store(server.url("anew"), **QUICK) as one, open_store(server.url("anew"), **QUICK) as other:
        one.admit(page(A, 1), NEAR)
        caught_up(one, other)
        # As if the clock of the new server were behind, or all of it happened within a millisecond.
        later = (wire_of(other).place[0] + 10**9, 0)
        for store in (one, other):
            with wire_of(store).applying:
                wire_of(store).place = later
        server.client().flushall()
        one.admit(page(B, 0xFF << 20), NEAR)
        until(lambda: told(one) and told(other))
        caught_up(one, other)
        assert urls(one) == urls(other) == {A, B}


def test_another_store_that_has_begun_in_its_place_is_left_alone(server: Server):
    url = server.url()
    with suppress(StoreMismatchError), open_store(url, seed=1, **QUICK) as one:
        server.client().flushall()
        with open_store(url, seed=2, **QUICK) as other:
            assert one.claim(page(A, 1, seed=1), NEAR).claim
            with pytest.raises(StoreMismatchError, match="goes on by itself"):
                one.sync()
            assert one.claim(page(B, 1, seed=1), NEAR).waits_for
            assert not open_claims(other)


def test_a_server_that_forgets_its_scripts_is_told_them_again(server: Server, caplog: pytest.LogCaptureFixture):
    with open_store(server.url(), **QUICK) as store:
        store.admit(page(A, 1), NEAR)
        server.client().script_flush()
        assert store.admit(page(B, 0xFF << 20), NEAR).kind is Kind.ADMITTED
        store.sync()
    assert not caplog.records


def test_a_server_that_is_full_stops_no_crawl(server: Server):
    url = server.url()
    with open_store(url, **QUICK) as one, open_store(url, **QUICK) as other:
        one.bind("manku2007")
        caught_up(one, other)
        server.client().config_set("maxmemory", 1)
        claims = [claimed(store, f"http://{place}.test/0", 0, text="0") for place, store in enumerate((one, other))]
        with pytest.raises(StoreError, match="refuses"):
            one.sync()
        server.client().config_set("maxmemory", 0)
        for claim in claims:
            claim.confirm()
        assert check_fleet([one, other], 2, 1) == 1


@pytest.mark.parametrize("persistent", [True, False])
def test_a_server_that_is_killed_among_claims_loses_nothing(persistent: bool):
    options = ("--save", "", "--appendonly", "yes", "--appendfsync", "everysec") if persistent else ()
    server, machines, clusters = Server(*options), 3, 150
    try:
        # Claims wait for the end of an outage here, so that all of them have an order.
        stores, log = machines_at(server.url(name="log"), machines, times=TIMES._replace(grace=60)), "{log}:log"
        length = server.client().xlen(log)
        with ThreadPoolExecutor(machines) as pool:
            running = [pool.submit(crawl_and_settle, store, clusters, machine) for machine, store in enumerate(stores)]
            until(lambda: server.client().xlen(log) > length + clusters)
            server.kill()
            assert server.start()
            kept = sum(future.result() for future in running)
        late = check_fleet(stores, kept, clusters)
        for store in stores:
            store.close()
        assert not (persistent and late)
    finally:
        server.close()


def test_answers_that_are_lost_lose_no_page():
    machines, clusters, answers, lossy = 3, 100, count(1), Event()
    proxy = Proxy(shared_server(), lambda: lossy.is_set() and next(answers) % 40 == 0)
    stores = machines_at(f"redis://127.0.0.1:{proxy.port}/0?name=lossy", machines)
    with ThreadPoolExecutor(machines) as pool:
        lossy.set()
        kept = sum(pool.map(crawl_and_settle, stores, [clusters] * machines, range(machines)))
        lossy.clear()
    check_fleet(stores, kept, clusters)
    assert proxy.dropped
    for store in stores:
        store.close()
    proxy.close()


def machines_at(url: str, machines: int, **options: Any) -> list[Store]:
    """Open stores. At its start a process says that its server does not answer, and ends."""
    return [open_store(url, recipe="manku2007", **(QUICK | options)) for _ in range(machines)]
