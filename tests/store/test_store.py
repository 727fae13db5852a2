"""What every store promises: one suite for all of them, against brute force and a dictionary."""

from __future__ import annotations

import math
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from random import Random
from tempfile import TemporaryDirectory
from threading import Barrier
from time import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from simcrawl.bits import hamming_distance
from simcrawl.detector import Detector
from simcrawl.errors import SettingError, StoreFullError, StoreMismatchError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason
from simcrawl.page.kept import LONGEST, compressed
from simcrawl.page.recipes import Recipe
from simcrawl.rule import Decision, Kind, Match, Rule, StoredPage, View
from simcrawl.store import Claim, Duplicate, Header, Store, open_store
from simcrawl.store.committed import MOST_CRAWLS, Batch
from simcrawl.store.memory import memory_store
from simcrawl.store.rejections import content_of
from tests.redis_server import shared_server
from tests.strategies import RECIPE, abstention, crowded, designs, fingerprints, near, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# "folding": on disk, with next to no memory, so that nothing stays there and slices are folded all the time. "fleet": alone in it;
# "local": with a directory.
KINDS = ("memory", "lmdb", "folding", "fleet", "local")
NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
EVERYTHING = replace(NEAR, copies_kept=1_000_000)
A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


@pytest.fixture(params=KINDS)
def where(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "folding":
        monkeypatch.setattr("simcrawl.index.durable.MEMORY", 0)
    return place(request.param, str(tmp_path / "store"))


def place(kind: str, directory: str) -> str:
    if kind == "fleet":
        return shared_server().url(directory)
    if kind == "local":
        return f"{shared_server().url(directory)}&local={directory}"
    return "memory:" if kind == "memory" else directory


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with open_store(where, sync_seconds=math.inf) as opened:
        yield opened
        opened.sync()
        assert opened.verify() == []


def open_kind(kind: str, directory: str, **options: Any) -> Store:
    if kind == "folding":
        options["memory"] = 0
    return open_store(place(kind, directory), sync_seconds=math.inf, **options)


@contextmanager
def fresh_store(kind: str, **options: Any) -> Iterator[Store]:
    with (
        TemporaryDirectory() as directory,
        open_kind(kind, directory, **options) as made,
    ):
        yield made
        made.sync()
        assert made.verify() == []


def claimed(store: Store, made: PageFingerprint | Abstention, by: Rule = NEAR, *, never_drop: bool = False) -> Claim:
    claim = store.claim(made, by, never_drop=never_drop).claim
    assert claim
    return claim


def stored_urls(store: Store) -> set[str]:
    store.sync()
    return {stored.page.url for stored in store.pages()}


# Searching


@pytest.mark.parametrize("kind", KINDS)
@given(st.data(), designs())
def test_every_fingerprint_within_the_radius_is_found_and_none_beyond(kind: str, data: st.DataObject, tables):
    bits, distance = tables.bits, data.draw(st.integers(0, min(tables.bits, 12)), "distance")
    crowd = data.draw(crowded(bits, distance), "fingerprints")
    # More fingerprints than probes, or a store would read them all.
    noise = Random(data.draw(st.integers(0, 9), "noise"))
    loaded = [noise.getrandbits(bits) for _ in range(data.draw(st.sampled_from([0, 50, 500])))]
    owned = {f"http://a.test/{i}": fingerprint for i, fingerprint in enumerate(crowd)}
    with fresh_store(kind, bits=bits, design=tables.name) as store:
        store.load_fingerprints(loaded)
        for url, fingerprint in owned.items():
            store.admit(page(url, fingerprint, bits=bits), EVERYTHING)
            if data.draw(st.booleans(), "sync"):
                store.sync()
        for url in data.draw(st.sets(st.sampled_from(sorted(owned))), "forgotten"):
            assert store.forget(url)
            del owned[url]
        query = data.draw(near(data.draw(st.sampled_from(crowd)), distance + 1, bits) | fingerprints(bits), "query")
        wanted = {other: apart for other in {*loaded, *owned.values()} if (apart := hamming_distance(query, other)) <= distance}
        assert {match.fingerprint: match.distance for match in store.query_fingerprint(query, distance)} == wanted
        pages = {(match.fingerprint, match.distance, match.url) for match in store.query(query, distance)}
        owners = {(fingerprint, wanted[fingerprint], url) for url, fingerprint in owned.items() if fingerprint in wanted}
        assert pages == owners | {(other, apart, None) for other, apart in wanted.items() if other not in owned.values()}


@pytest.mark.parametrize("kind", KINDS)
@given(st.data(), designs())
def test_admit_fingerprint_inserts_exactly_what_has_no_neighbour(kind: str, data: st.DataObject, tables):
    distance = data.draw(st.integers(0, min(tables.bits, 12)))
    held: set[int] = set()
    with fresh_store(kind, bits=tables.bits, design=tables.name) as store:
        for fingerprint in data.draw(crowded(tables.bits, distance)):
            nearest = min((hamming_distance(fingerprint, other) for other in held), default=math.inf)
            match = store.admit_fingerprint(fingerprint, distance)
            assert (match.distance if match else math.inf) == (nearest if nearest <= distance else math.inf)
            held |= set() if match else {fingerprint}
            if data.draw(st.booleans()):
                store.sync()
        assert {match.fingerprint for match in store.query_fingerprint(0, tables.bits)} == held


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distance", [3, 7, 11])
def test_probing_finds_the_worst_spread_of_differing_bits_among_many(kind: str, distance: int):
    noise = Random(distance)
    target = noise.getrandbits(64)
    spread = [sum(1 << (i % 4 * 16 + i // 4) for i in range(apart)) for apart in (distance, distance + 1)]
    with fresh_store(kind) as store:
        store.load_fingerprints([noise.getrandbits(64) for _ in range(2_000)] + [target ^ flipped for flipped in spread])
        assert store.query_fingerprint(target, distance) == [Match(target ^ spread[0], distance)]


def test_matches_come_nearest_first(store: Store):
    for apart in (3, 0, 2, 1):
        store.admit(page(f"http://a.test/{apart}", (1 << apart) - 1), EVERYTHING)
    store.sync()
    assert [match.distance for match in store.query(0, 3)] == [0, 1, 2, 3]
    assert [match.distance for match in store.query_fingerprint(0, 3)] == [0, 1, 2, 3]
    assert store.query(page(A, 0), 1) == store.query(0, 1)


def test_a_query_searches_the_radius_of_the_bound_recipe_by_default(store: Store):
    store.bind("manku2007")
    store.load_fingerprints([0b111, 0b11110000])
    assert [match.fingerprint for match in store.query(0)] == [0b111]


def test_pages_of_one_fingerprint_are_one_match_each(store: Store):
    for url in (A, B):
        store.admit(page(url, 5), EVERYTHING)
    store.sync()
    assert {match.url for match in store.query(5, 0)} == {A, B}


def test_batch_query_answers_in_the_order_of_the_questions(store: Store):
    store.load_fingerprints([0, 2**40 - 1])
    assert [[match.fingerprint for match in found] for found in store.batch_query([2**40 - 1, page(A, 1), 2**20 - 1], 1)] == [
        [2**40 - 1],
        [0],
        [],
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [8, 64, 72, 128])
def test_an_array_loads_as_the_list_of_its_fingerprints_does(kind: str, bits: int):
    values = [(1 << bits) - 1, 1, 1]
    words = [[value >> shift & (2**64 - 1) for shift in range(0, bits, 64)] for value in values]
    with fresh_store(kind, bits=bits) as store:
        store.load_fingerprints(np.array(words, np.uint64))
        store.load_fingerprints(values)
        assert [match.fingerprint for match in store.query_fingerprint(0, bits)] == [1, (1 << bits) - 1]
        assert store.counts()["fingerprints"] == 2


@pytest.mark.parametrize("kind", KINDS)
@given(st.data(), designs(), st.integers(1, 9))
def test_chunks_hold_every_committed_fingerprint_once(kind: str, data: st.DataObject, tables, size: int):
    crowd = data.draw(crowded(tables.bits, 3))
    with fresh_store(kind, bits=tables.bits, design=tables.name) as store:
        store.load_fingerprints(crowd[::2])
        for i, fingerprint in enumerate(crowd):
            store.admit(page(f"http://a.test/{i}", fingerprint, bits=tables.bits), EVERYTHING)
            if i % 3 == 0:
                store.sync()
        store.sync()
        chunks = list(store.fingerprint_chunks(size))
        store.admit(page(A, 5, bits=tables.bits), EVERYTHING)
        assert sorted(int.from_bytes(row.tobytes(), "little") for chunk in chunks for row in chunk) == sorted(set(crowd))
        assert {(chunk.dtype, chunk.shape[1]) for chunk in chunks} == {(np.dtype(np.uint64), (tables.bits + 63) // 64)}


def test_loading_nothing_changes_nothing(store: Store):
    store.load_fingerprints([])
    assert store.counts()["fingerprints"] == 0


def test_a_loaded_fingerprint_outlives_a_page_that_has_it_too(store: Store):
    store.admit(page(A, 7), NEAR)
    store.sync()
    store.load_fingerprints([7])
    assert store.counts()["fingerprints"] == 1
    store.forget(A)
    assert store.query(7, 0) == [Match(7, 0)]


@pytest.mark.parametrize("wide", [-1, 2**64, 2**200])
def test_a_fingerprint_that_does_not_fit_is_refused(store: Store, wide: int):
    calls: list[Callable[[], object]] = [
        lambda: store.query(wide, 1),
        lambda: store.query_fingerprint(wide),
        lambda: store.admit_fingerprint(wide),
        lambda: store.load_fingerprints([wide]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="fingerprint"):
            call()


def test_a_negative_radius_inserts_nothing_twice(store: Store):
    store.admit_fingerprint(5)
    store.sync()
    with pytest.raises(ValueError, match="max_distance must be 0 or more, got -1"):
        store.admit_fingerprint(5, -1)
    store.sync()
    assert store.counts()["fingerprints"] == 1
    assert store.verify() == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_array_that_does_not_fit_is_refused(kind: str):
    with fresh_store(kind, bits=32) as store, pytest.raises(ValueError, match="does not fit into 32 bits"):
        store.load_fingerprints(np.array([2**32], np.uint64))


# A page's life


def test_an_admitted_page_is_known_at_once_and_after_a_sync(store: Store):
    assert store.admit(page(A, 1), NEAR).kind is Kind.ADMITTED
    for _ in range(2):
        assert store.page(A) == StoredPage(page(A, 1), *_times(store, A))
        assert store.admit(page(B, 1), NEAR).original == A
        store.sync()
    assert store.counts()["pages"] == 1


def _times(store: Store, url: str) -> tuple[float, float]:
    stored = store.page(url)
    assert stored
    return stored.first_seen, stored.last_seen


def test_a_claim_is_seen_before_it_is_confirmed(store: Store):
    claim = claimed(store, page(A, 1))
    copy = store.claim(page(B, 1), NEAR)
    assert copy.verdict.original == A
    assert (copy.claim, copy.waits_for) == (None, claim)
    assert store.query(1, 0)[0].url == A


def test_a_claim_is_not_written_before_it_is_confirmed(store: Store):
    claim = claimed(store, page(A, 1))
    assert stored_urls(store) == set()
    claim.confirm()
    assert stored_urls(store) == {A}


def test_the_latest_pages_and_lines_come_first(store: Store, monkeypatch: pytest.MonkeyPatch):
    # What a URL says of a time is a text.
    urls = [f'http://a.test/"when": {number}9.0, "when": 1' for number in range(4)]
    for number, (url, moment) in enumerate(zip(urls, (5.0, 3.0, 1e-7, 7.5), strict=True)):
        monkeypatch.setattr("simcrawl.store.store.time", lambda now=moment: now)
        claimed(store, page(url, 0xFFFF << 16 * number, text=url)).confirm()
        store.note(Duplicate(url, A, "near_duplicate", 1, 0.9, "near-duplicate", True, False, moment))
    store.sync()
    wanted = [urls[number] for number in (3, 0, 1, 2)]
    for most in (0, 1, 3, 9):
        assert [stored.page.url for stored in store.pages(latest=most)] == wanted[:most]
        assert [line.url for line in store.duplicates(latest=most)] == wanted[:most]


def test_a_copy_of_an_open_claim_leaves_no_line_in_the_register(store: Store):
    claimed(store, page(A, 1))
    store.claim(page(B, 1), NEAR)
    store.sync()
    assert list(store.duplicates()) == []


def test_a_page_whose_verdict_is_taken_back_is_no_copy(store: Store):
    store.admit(page(A, 1), NEAR)
    assert store.claim(page(B, 1), NEAR).verdict.drop_page
    store.sync()
    assert [line.url for line in store.duplicates()] == [B]
    again = store.claim(page(B, 1), NEAR, never_drop=True, taken_back=True)
    assert again.verdict.kind is Kind.ADMITTED
    assert again.claim
    again.claim.confirm()
    assert stored_urls(store) == {A, B}
    assert list(store.duplicates()) == []


def test_a_withdrawn_claim_leaves_nothing(store: Store):
    claimed(store, page(A, 1, text="text")).withdraw()
    assert store.page(A) is None
    assert store.query(1, 3) == []
    assert store.admit(page(B, 1, text="text"), NEAR).kind is Kind.ADMITTED
    assert stored_urls(store) == {B}


def test_a_settled_claim_cannot_be_settled_again(store: Store):
    confirmed, withdrawn = claimed(store, page(A, 0)), claimed(store, page(B, 2**20 - 1))
    confirmed.confirm()
    confirmed.withdraw()
    withdrawn.withdraw()
    withdrawn.confirm()
    assert stored_urls(store) == {A}


def test_when_settled_is_called_exactly_once_and_at_once_when_too_late(store: Store):
    claim, calls = claimed(store, page(A)), []
    claim.when_settled(lambda: calls.append("waiting"))
    assert calls == []
    claim.confirm()
    claim.confirm()
    claim.withdraw()
    assert calls == ["waiting"]
    claim.when_settled(lambda: calls.append("late"))
    assert calls == ["waiting", "late"]


def test_who_waited_for_a_claim_asks_again_and_gets_the_final_answer(store: Store):
    verdicts = []
    for end in (Claim.withdraw, Claim.confirm):
        claim = claimed(store, page(A, 1))
        waiting = store.claim(page(B, 1), NEAR).waits_for
        assert waiting
        waiting.when_settled(lambda: verdicts.append(store.claim(page(B, 1), NEAR)))
        end(claim)
        if again := verdicts[-1].claim:
            again.withdraw()
    assert [admission.verdict.kind for admission in verdicts] == [Kind.ADMITTED, Kind.NEAR_DUPLICATE]


def test_an_original_that_settles_during_a_decision_makes_the_caller_ask_again(store: Store):
    class Settling(Rule):
        def decide(self, page: PageFingerprint | Abstention, view: View, **options: Any) -> Decision:
            decision = super().decide(page, view, **options)
            original.withdraw()
            return decision

    original, calls = claimed(store, page(A, 1)), []
    waits_for = store.claim(page(B, 1), Settling(max_distance=3, min_similarity=0, outlinks=0)).waits_for
    assert waits_for
    waits_for.when_settled(lambda: calls.append("again"))
    assert calls == ["again"]


def test_a_page_claimed_twice_under_one_url_has_one_claim(store: Store):
    claimed(store, page(A, 1))
    again = store.claim(page(A, 2), NEAR)
    assert again.verdict.kind is Kind.REVISITED
    assert (again.claim, again.waits_for) == (None, None)


# Revisits


@pytest.mark.parametrize("synced", [True, False])
def test_a_revisit_is_no_copy_of_itself_and_is_not_written_again(store: Store, synced: bool):
    store.admit(page(A, 1, text="same"), NEAR)
    if synced:
        store.sync()
    again = store.claim(page(A, 1, text="same"), NEAR)
    assert (again.verdict.kind, again.claim) == (Kind.REVISITED, None)


@pytest.mark.parametrize("synced", [True, False])
def test_a_revisit_with_other_content_replaces_the_page(store: Store, synced: bool):
    store.admit(page(A, 0, text="old"), NEAR)
    if synced:
        store.sync()
    first_seen = _times(store, A)[0]
    assert store.admit(page(A, 2**20 - 1, text="new"), NEAR).kind is Kind.REVISITED
    for _ in range(2):
        assert store.query(0, 0) == []
        assert [match.url for match in store.query(2**20 - 1, 0)] == [A]
        assert store.admit(page(B, 0, text="old"), replace(NEAR, action="observe")).kind is Kind.ADMITTED
        store.forget(B)
        store.sync()
    assert _times(store, A)[0] == first_seen
    assert store.counts()["fingerprints"] == 1


@pytest.mark.parametrize("synced", [True, False])
def test_a_withdrawn_revisit_brings_the_confirmed_page_back(store: Store, synced: bool):
    store.admit(page(A, 0, text="old"), NEAR)
    if synced:
        store.sync()
    claimed(store, page(A, 1, text="new")).withdraw()
    stored = store.page(A)
    assert stored
    assert (stored.page, stored.confirmed) == (page(A, 0, text="old"), True)
    assert stored_urls(store) == {A}


def test_a_sync_writes_the_confirmed_page_that_is_being_crawled_again(store: Store):
    store.admit(page(A, 0, text="old"), NEAR)
    claimed(store, page(A, 1, text="new"))
    store.sync()
    assert [stored.page for stored in store.pages()] == [page(A, 0, text="old")]


def test_a_page_that_became_an_abstention_is_no_match_any_more(store: Store):
    store.admit(page(A, 5), NEAR)
    store.sync()
    assert store.admit(abstention(A), NEAR).kind is Kind.SKIPPED
    assert store.query(5, 3) == []
    store.sync()
    assert store.counts()["fingerprints"] == 0


def write_long_ago(store: Store, made: PageFingerprint | Abstention, *, days: float) -> float:
    then = time() - days * 86_400
    store._committed.write(Batch([StoredPage(made, then, then)]))
    return then


def test_a_revisit_after_long_moves_the_last_visit_only(store: Store):
    store.bind("manku2007")
    then = write_long_ago(store, page(A, text="same"), days=2)
    before = time()
    assert store.claim(page(A, text="same"), NEAR).claim is None
    store.sync()
    first_seen, last_seen = _times(store, A)
    assert first_seen == then
    assert last_seen >= before


# Policies


@pytest.mark.parametrize(("days", "kind"), [(1, Kind.ADMITTED), (3, Kind.EXACT_DUPLICATE), (0, Kind.EXACT_DUPLICATE)])
def test_expired_pages_are_no_originals(store: Store, days: float, kind: Kind):
    store.bind("manku2007")
    write_long_ago(store, page(A, text="same"), days=2)
    assert store.admit(page(B, text="same"), replace(NEAR, expire_days=days)).kind is kind


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_the_first_copies_are_kept(store: Store, kept: int):
    by = replace(NEAR, copies_kept=kept)
    verdicts = [store.admit(page(f"http://{i}.test/", text="same"), by) for i in range(7)]
    assert [verdict.drop_page for verdict in verdicts] == [False] * kept + [True] * (7 - kept)
    assert len(stored_urls(store)) == kept


def test_scope_site_takes_originals_of_the_same_registrable_domain_only(store: Store):
    by = replace(NEAR, scope="site")
    urls = ["http://www.a.co.uk/1", "http://b.co.uk/", "http://news.a.co.uk/2"]
    assert [store.admit(page(url, text="same"), by).original for url in urls] == [None, None, urls[0]]


def test_observing_records_the_copy_but_neither_drops_nor_keeps_it(store: Store):
    store.admit(page(A, text="same"), NEAR)
    verdict = store.admit(page(B, text="same"), replace(NEAR, action="observe"))
    assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.EXACT_DUPLICATE, False, False)
    assert stored_urls(store) == {A}
    assert [(line.url, line.original, line.dropped_page) for line in store.duplicates()] == [(B, A, False)]


def test_never_drop_keeps_and_records_a_copy(store: Store):
    store.admit(page(A, text="same"), NEAR)
    admission = store.claim(page(B, text="same"), NEAR, never_drop=True)
    assert (admission.verdict.kind, admission.verdict.drop_page) == (Kind.EXACT_DUPLICATE, False)
    assert admission.claim
    admission.claim.confirm()
    assert stored_urls(store) == {A, B}


def test_abstentions_are_copies_by_their_body_alone_and_not_when_empty(store: Store):
    for reason, original in ((Reason.SHORT, "http://0.test/"), (Reason.EMPTY, None)):
        verdicts = [
            store.admit(abstention(f"http://{i}.test/{reason}"[: 14 if reason is Reason.SHORT else None], reason, reason=reason), NEAR)
            for i in range(2)
        ]
        assert [verdict.original for verdict in verdicts] == [None, original]


def test_the_register_says_what_was_dropped_and_why(store: Store):
    store.admit(page(A, 0), NEAR)
    before = time()
    store.admit(page(B, 0b11), NEAR)
    store.sync()
    (line,) = store.duplicates()
    assert (line.url, line.original, line.kind, line.distance, line.similarity) == (B, A, "near_duplicate", 2, None)
    assert (line.reason, line.dropped_page, line.dropped_outlinks) == ("near-duplicate", True, True)
    assert line.when >= before


def test_what_a_page_was_before_it_is_crawled_anew_is_no_late_original(tmp_path: Path):
    with open_store(tmp_path / "store", recipe="manku2007") as store:
        store.admit(page(A, 1, text="before"), NEAR)
    with open_store(tmp_path / "store") as store:
        claim = store.claim(page(A, 0xFFFF0000, text="now"), NEAR).claim
        assert claim
        assert store.admit(page(B, 1, text="before"), NEAR).kind is Kind.ADMITTED
        store.sync()
        claim.confirm()
        store.sync()
        assert store.late_duplicates == 0
        assert list(store.duplicates()) == []


def test_what_a_page_was_before_it_was_claimed_anew_is_no_late_original(tmp_path: Path):
    with open_kind("lmdb", str(tmp_path)) as store:
        store.admit(page(B, 2**40 - 1), NEAR)
        store.admit(abstention(C, "shell"), NEAR)
        store.sync()
        # Written beside the commits, as another process would.
        assert store.forget(B)
        claimed(store, page(C, 1))
        assert not store.admit(abstention(A, "shell"), NEAR).is_duplicate
        store.sync()
        assert (list(store.duplicates()), store.late_duplicates) == ([], 0)


def test_the_register_keeps_the_latest_line_of_a_url(store: Store):
    for original in (A, C):
        store.admit(page(original, 1), NEAR)
        store.admit(page(B, 1), NEAR)
        store.sync()
        store.forget(original)
    assert [(line.url, line.original) for line in store.duplicates()] == [(B, C)]


# Forgetting


@pytest.mark.parametrize("synced", [True, False])
def test_a_forgotten_page_is_gone(store: Store, synced: bool):
    store.admit(page(A, 1, text="same"), NEAR)
    if synced:
        store.sync()
    assert store.forget(A + "#fragment")
    assert not store.forget(A)
    assert store.page(A) is None
    assert store.query(1, 3) == []
    assert store.admit(page(B, 1, text="same"), NEAR).kind is Kind.ADMITTED


def test_forgetting_ends_an_open_claim(store: Store):
    store.admit(page(A, 0, text="old"), NEAR)
    claim, calls = claimed(store, page(A, 1, text="new")), []
    claim.when_settled(lambda: calls.append("settled"))
    assert store.forget(A)
    claim.confirm()
    assert calls == ["settled"]
    assert stored_urls(store) == set()


def test_forgetting_one_of_two_copies_leaves_the_other(store: Store):
    for url in (A, B):
        store.admit(page(url, 1, text="same"), EVERYTHING)
    store.sync()
    store.forget(A)
    assert store.admit(page(C, 1, text="same"), NEAR).original == B


@pytest.mark.parametrize("synced", [True, False])
def test_forgetting_a_copy_strikes_its_line_only(store: Store, synced: bool):
    store.admit(page(A, 1, text="same"), NEAR)
    for url in (B, C):
        store.admit(page(url, 1, text="same"), NEAR)
    if synced:
        store.sync()
    assert store.forget(B)
    assert not store.forget(B)
    assert store.forget(A)
    store.sync()
    assert [(line.url, line.original) for line in store.duplicates()] == [(C, A)]


# Clusters


@pytest.mark.parametrize("synced", [True, False])
def test_the_cluster_of_a_page_is_its_first_original(store: Store, synced: bool):
    by = replace(NEAR, copies_kept=2)
    store.admit(page(A, 0b0, text="one"), by)
    store.admit(page(B, 0b111, text="two"), by)
    store.admit(page(C, 0b111111, text="three"), by)
    store.admit(page("http://d.test/", 0b111111, text="three"), NEAR)
    store.admit(page("http://alone.test/", 0xFFFF << 40), by)
    if synced:
        store.sync()
    # Each is a copy of the one before, and only that one lies within three bits.
    assert [line.original for url in (B, C, "http://d.test/#here") if (line := store.duplicate(url))] == [A, B, C]
    assert {store.cluster(url) for url in (A, B, C, "http://d.test/#here")} == {A}
    assert store.cluster("http://alone.test/") == "http://alone.test/"
    assert store.cluster("http://unknown.test/") is None
    assert store.duplicate(A) is None
    store.forget(A)
    assert store.cluster(C) == A


def test_pages_that_are_copies_of_each_other_are_one_cluster(store: Store):
    for url in (A, B):
        store.admit(page(url, 1, text="same"), replace(NEAR, copies_kept=2))
    store.forget(A)
    assert store.admit(page(A, 1, text="same"), NEAR).original == B
    assert (store.cluster(A), store.cluster(B)) == (A, A)


# Expiring


def test_what_is_expired_is_gone_and_what_is_younger_stays(store: Store):
    store.bind("manku2007")
    write_long_ago(store, page(A, 0xFF, text="same"), days=3)
    write_long_ago(store, abstention(B, "shell"), days=3)
    write_long_ago(store, page(C, 1 << 40, text="other"), days=1)
    store.load_fingerprints([1 << 50])
    before = time() - 2 * 86_400
    assert sum(store.counting_old(before)) == 2
    assert store.expire(before) == 2
    assert store.expire(before) == sum(store.counting_old(before)) == 0
    assert stored_urls(store) == {C}
    assert store.query(0xFF, 3) == []
    assert store.query_fingerprint(0xFF, 3) == []
    assert store.with_body(abstention(B, "shell").body_digest) is None
    assert store.with_body(page(A, text="same").body_digest) is None
    assert {store.query_fingerprint(kept, 0)[0].fingerprint for kept in (1 << 40, 1 << 50)} == {1 << 40, 1 << 50}
    assert store.counts()["fingerprints"] == 2
    assert store.admit(page(B, 0xFF, text="same"), NEAR).kind is Kind.ADMITTED
    assert store.verify() == []


def test_a_loaded_fingerprint_outlives_an_expired_page_that_has_it_too(store: Store):
    store.bind("manku2007")
    store.load_fingerprints([1])
    write_long_ago(store, page(A, 1), days=2)
    assert store.expire(time() - 86_400) == 1
    assert store.query_fingerprint(1, 0) == [Match(1, 0)]


@pytest.mark.parametrize("synced", [True, False])
def test_a_page_that_was_seen_again_does_not_expire(store: Store, synced: bool):
    store.bind("manku2007")
    write_long_ago(store, page(A, 1, text="same"), days=2)
    store.admit(page(A, 1, text="same"), NEAR)
    if synced:
        store.sync()
    assert store.expire(time() - 86_400) == 0
    assert stored_urls(store) == {A}
    assert store.admit(page(B, 1, text="same"), NEAR).original == A


def test_a_page_that_is_being_crawled_again_does_not_expire(store: Store):
    store.bind("manku2007")
    write_long_ago(store, page(A, 1, text="old"), days=2)
    claim = claimed(store, page(A, 1, text="new"))
    assert store.expire(time() - 86_400) == 0
    claim.withdraw()
    assert stored_urls(store) == {A}


def test_lines_of_the_register_expire_by_their_own_age(store: Store, monkeypatch: pytest.MonkeyPatch):
    store.bind("manku2007")
    write_long_ago(store, page(A, 1, text="same"), days=3)
    for url, days in ((B, 3), (C, 1)):
        monkeypatch.setattr("simcrawl.store.store.time", lambda days=days: time() - days * 86_400)
        store.admit(page(url, 1, text="same"), NEAR)
    store.sync()
    store.expire(time() - 2 * 86_400)
    # Its original is gone; that it was dropped in favour of that one is true all the same.
    assert [(line.url, line.original) for line in store.duplicates()] == [(C, A)]


def test_expiry_goes_in_short_steps_between_which_others_read_and_write(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.store.snapshot._MOST_READ", 7)
    monkeypatch.setattr("simcrawl.store.snapshot._MOST_REMOVED", 3)
    noise = Random(9)
    urls = {f"http://a.test/{i}": noise.getrandbits(64) for i in range(60)}
    for url, fingerprint in urls.items():
        store.admit(page(url, fingerprint), NEAR)
        store.admit(page(f"{url}/copy", fingerprint), NEAR)
    store.sync()
    assert sum(store.counting_old(time() + 60)) == len(urls)
    left, removed = set(urls), 0
    for number, step in enumerate(store.expiring(time() + 60)):
        removed += step
        assert store.path is None or step <= 3
        assert store.verify() == []
        held = {stored.page.url for stored in store.pages() if stored.page.url in urls}
        assert held <= left
        left = held
        assert len(left) == len(urls) - removed
        store.admit(page(f"http://new.test/{number}", noise.getrandbits(64)), NEAR)
    assert removed == len(urls)
    assert list(store.duplicates()) == []
    assert {url for url in stored_urls(store) if "new" in url} == {f"http://new.test/{i}" for i in range(number + 1)}


# Verdicts taken back


ALIKE: dict[str, tuple[PageFingerprint | Abstention, PageFingerprint | Abstention]] = {
    "same bytes": (page(A, 1, text="same"), page(B, 1, text="same")),
    "same text": (page(A, 1, text="same"), replace(page(B, 1, text="same"), body_digest=bytes(16))),
    "near": (page(A, 1), page(B, 3)),
    "no fingerprint": (abstention(A, "same"), abstention(B, "same")),
}


@pytest.mark.parametrize("alike", ALIKE)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_rejected_pair_is_kept_whichever_page_comes_first(where: str, alike: str, *, swapped: bool):
    original, copy = ALIKE[alike]
    with open_store(where, sync_seconds=math.inf) as store:
        store.admit(original, NEAR)
        assert store.admit(copy, NEAR).is_duplicate
        rejection = store.reject(copy.url)
        assert rejection
        assert (rejection.url, rejection.original) == (copy.url, original.url)
        assert [(line.url, line.rejected) for line in store.duplicates()] == [(copy.url, True)]
        store.forget(original.url)
        for made in (copy, original) if swapped else (original, copy):
            assert not store.admit(made, NEAR).is_duplicate
        assert stored_urls(store) == {A, B}
        assert not list(store.duplicates())
        assert list(store.rejections()) == [rejection]


@pytest.mark.parametrize("alike", ["near", "same text"])
def test_an_article_and_a_claim_are_held_apart_as_well(store: Store, alike: str):
    original, copy = ALIKE[alike]
    store.reject(copy.url, original.url)
    claimed(store, original)
    admission = store.claim(copy, NEAR)
    assert admission.claim
    assert not admission.waits_for


def test_copies_of_a_rejected_pair_under_other_urls_are_held_apart(store: Store):
    store.admit(page(A, 1, text="one"), NEAR)
    assert store.admit(page(B, 3, text="two"), NEAR).original == A
    store.reject(B)
    store.forget(A)
    # A mirror comes first, in either role.
    store.admit(page(C, 1, text="one"), NEAR)
    assert not store.admit(page(B, 3, text="two"), NEAR).is_duplicate
    assert store.admit(page(A, 1, text="one"), NEAR).original == C
    assert store.admit(page("http://d.test/", 3, text="two"), NEAR).original == B


def test_pages_of_one_content_are_told_apart_by_their_urls_alone(store: Store):
    for url in (A, B):
        store.admit(page(url, 1, text="same"), NEAR)
    store.reject(B)
    assert store.admit(page(C, 1, text="same"), NEAR).original == A


def test_another_original_is_found_where_one_is_rejected(store: Store):
    store.reject(B, A)
    store.admit(page(A, 0), NEAR)
    store.admit(page(C, 4 + 8 + 16 + 32), NEAR)
    assert store.admit(page(B, 4 + 8), NEAR).original == C


def test_a_verdict_that_nobody_gave_cannot_be_rejected(store: Store):
    assert store.reject(A) is None
    with pytest.raises(ValueError, match="no copy of itself"):
        store.reject(A, A + "#part")
    assert not list(store.rejections())


def test_a_rejection_is_withdrawn_and_those_that_share_its_names_stay(store: Store):
    made = [page(A, 1, text="one"), page(B, 3, text="two"), page(C, 3, text="two")]
    assert [store.admit(one, NEAR).original for one in made] == [None, A, A]
    for url, original in ((B, A), (C, A), (A, B)):
        store.reject(url, original)
    assert store.unreject(A, C) == 1
    assert not store.admit(made[2], NEAR).is_duplicate  # what it holds is what B held
    assert store.forget(C)
    assert store.unreject(B) == 2
    assert store.admit(made[2], NEAR).original == A


@pytest.mark.parametrize("kind", ["lmdb", "folding", "fleet"])
def test_what_came_out_before_a_rejection_was_withdrawn_is_no_copy_again(kind: str, tmp_path: Path):
    with open_kind(kind, str(tmp_path)) as store:
        store.admit(page(A, 1, text="same"), NEAR)
        store.admit(page(B, 1, text="same"), NEAR)
        store.reject(B)
        # The line goes with the next commit: nobody may tell of it after that.
        claimed(store, page(B, 1 << 60, text="its own")).confirm()
        assert store.unreject(B) == 1
    with open_kind(kind, str(tmp_path)) as again:
        assert (stored_urls(again), list(again.duplicates()), list(again.rejections())) == ({A, B}, [], [])


# Threads


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Let threads take turns so often that they meet within a decision."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("alike", ["exact", "near"])
def test_threads_admit_exactly_one_page_of_each_cluster(where: str, alike: str):
    threads, clusters = 8, 25
    start, noise = Barrier(threads), Random(1)
    centres = [noise.getrandbits(64) for _ in range(clusters)]

    def crawl(store: Store, thread: int) -> list[tuple[int, Kind]]:
        start.wait()
        verdicts = []
        for cluster in Random(thread).sample(range(clusters), clusters):
            url = f"http://{thread}.test/{cluster}"
            made = page(url, centres[cluster] ^ 1 << thread, text=f"cluster {cluster}" if alike == "exact" else "")
            verdicts.append((cluster, store.admit(made, NEAR).kind))
        return verdicts

    # Every admission commits, so that decisions and group commits overlap.
    with open_store(where, sync_seconds=0) as store, ThreadPoolExecutor(threads) as pool:
        verdicts = Counter(verdict for found in pool.map(partial(crawl, store), range(threads)) for verdict in found)
        store.sync()
        assert {cluster: verdicts[cluster, Kind.ADMITTED] for cluster in range(clusters)} == dict.fromkeys(range(clusters), 1)
        assert (store.counts()["pages"], store.counts()["duplicates"]) == (clusters, clusters * (threads - 1))
        assert store.verify() == []


def test_threads_that_settle_one_claim_call_back_once(store: Store):
    threads = 4
    for i in range(25):
        claim, start = claimed(store, page(f"http://a.test/{i}"), EVERYTHING), Barrier(threads)
        calls: list[str] = []

        def settle(thread: int, claim: Claim = claim, start: Barrier = start) -> None:
            start.wait()
            (claim.confirm if thread % 2 else claim.withdraw)()

        claim.when_settled(partial(calls.append, "settled"))
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(settle, range(threads)))
        assert calls == ["settled"]


# Identity


@pytest.mark.parametrize(
    ("made", "both"),
    [
        (page(A, recipe="content/4"), ["manku2007/4", "content/4"]),
        (page(A, seed=1), ["another seed", "store.header.seed"]),
        (page(A, bits=32), ["32-bit", "64-bit"]),
    ],
)
def test_a_page_of_another_make_is_refused_with_both_values_named(store: Store, made: PageFingerprint, both: list[str]):
    store.bind("manku2007")
    with pytest.raises(StoreMismatchError) as caught:
        store.admit(made)
    assert all(value in str(caught.value) for value in both)
    assert stored_urls(store) == set()


def test_a_page_of_another_width_does_not_bind_a_new_store(store: Store):
    with pytest.raises(StoreMismatchError):
        store.admit(page(A, bits=32))
    assert store.header.recipe is None


def test_a_store_is_bound_once(store: Store):
    for _ in range(2):
        store.bind("manku2007")
    with pytest.raises(StoreMismatchError, match=r"manku2007/4, not content/4"):
        store.bind("content")
    with pytest.raises(StoreMismatchError, match="32-bit fingerprints, the store holds 64-bit"):
        store.bind(Recipe("own", 1, bits=32))


def test_the_first_page_binds_a_store_and_chooses_the_default_rule(store: Store):
    store.admit(page(A, 0))
    assert store.header.recipe == RECIPE
    assert store.admit(page(B, 0b111)).kind is Kind.NEAR_DUPLICATE
    assert store.admit(page(C, 0b1111 << 8)).kind is Kind.ADMITTED


def test_a_recipe_that_cannot_be_bound_closes_the_store_again(where: str):
    for _ in range(2):
        with pytest.raises(StoreMismatchError, match="holds 64-bit"):
            open_store(where, bits=64, recipe=Recipe("own", 1, bits=32))


@pytest.mark.parametrize(
    "options",
    [{"bits": 63}, {"bits": 0}, {"bits": 136}, {"design": "no"}, {"design": ""}, {"seed": -1}, {"seed": 2**64}, {"seed": "42"}],
)
def test_values_that_cannot_work_are_refused_before_anything_is_made(where: str, options: dict[str, Any]):
    with pytest.raises(ValueError, match=str(next(iter(options.values()))) or "is no design"):
        open_store(where, **options)
    with open_store(where) as store:
        assert store.header == Header()


def test_random_seeds_differ():
    seeds = {Header.new(bits=None, design=None, seed="random").seed for _ in range(4)}
    assert len(seeds) == 4


def test_a_detector_makes_pages_with_the_seed_of_the_store(where: str):
    with open_store(where, seed="random") as store:
        detector = Detector(store)
        html = f"<p>{' '.join(map(str, range(200)))}</p>"
        assert detector.admit(detector.page(html, url=A)).kind is Kind.ADMITTED
        assert detector.admit(detector.page(html, url=B)).original == A


@pytest.mark.parametrize("url", ["lmdb:relative", "lmdb://host", "sqlite:x"])
def test_a_url_of_no_store_is_refused_with_those_that_exist(url: str):
    with pytest.raises(SettingError, match="use a directory, lmdb:///absolute/path, redis://host/0 or memory:") as caught:
        open_store(url)
    assert repr(url) in str(caught.value)


def test_memory_stores_share_nothing():
    with open_store("memory:") as one, open_store("memory:") as other:
        assert one is not other
        one.load_fingerprints([1])
        assert other.query_fingerprint(1) == []


# Writing


def test_leaving_the_block_commits(where: str):
    with open_store(where, sync_seconds=math.inf) as store:
        store.admit(page(A), NEAR)
        assert store.counts()["pages"] == 0
        on_disk = store.path is not None or "local=" in where
        if not on_disk:
            store.close()
            assert store.counts()["pages"] == 1
    if on_disk:
        with open_store(where) as again:
            assert again.counts()["pages"] == 1


@pytest.mark.parametrize(("seconds", "pages"), [(0, 1), (math.inf, 0)])
def test_an_admission_commits_when_the_last_commit_is_long_enough_ago(where: str, seconds: float, pages: int):
    with open_store(where, sync_seconds=seconds) as store:
        store.admit(page(A), NEAR)
        assert store.counts()["pages"] == pages


def test_an_admission_commits_before_too_much_waits(where: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.store.claims._MOST_UNWRITTEN", 8)
    with open_store(where, sync_seconds=math.inf) as store:
        for number in range(20):
            store.admit(page(f"http://a.test/{number}", 1 << number, text=str(number)), Rule(max_distance=0, min_similarity=0, outlinks=1))
        assert 12 <= store.counts()["pages"] <= 20


def test_counts_are_of_what_is_committed(store: Store):
    store.admit(page(A, 1), NEAR)
    store.admit(page(B, 1), NEAR)
    store.admit(abstention(C), NEAR)
    store.load_fingerprints([1, 2**63])
    store.sync()
    counts = store.counts()
    assert (counts["pages"], counts["fingerprints"], counts["duplicates"]) == (2, 2, 1)
    assert counts["bytes"] >= 0


def test_with_body_gives_confirmed_pages_only(store: Store):
    claim = claimed(store, page(A))
    assert store.with_body(page(A).body_digest) is None
    claim.confirm()
    found = store.with_body(page(A).body_digest)
    assert found
    assert found.page.url == A


def test_too_many_pages_that_wait_are_refused_and_those_that_wait_are_kept(monkeypatch: pytest.MonkeyPatch):
    # Of 20,000. Past the half of them each looks for what can be written, among all.
    monkeypatch.setattr("simcrawl.store.claims._MOST_UNWRITTEN", 2_000)
    store = memory_store(sync_seconds=math.inf)
    claims = [claimed(store, abstention(f"http://a.test/{i}")) for i in range(2_000)]
    with pytest.raises(StoreFullError, match="2000 pages wait"):
        store.claim(abstention(B), NEAR)
    for claim in claims:
        claim.confirm()
    store.sync()
    assert store.counts()["pages"] == len(claims)
    assert store.claim(abstention(B), NEAR).claim


def test_fingerprints_that_cannot_be_written_stay_up_to_a_bound_and_are_told_of_now_and_then(monkeypatch: pytest.MonkeyPatch):
    tried, full, now = 0, True, 1000.0
    store = memory_store(sync_seconds=1)
    written = store._committed.write

    def write(batch: Batch) -> None:
        nonlocal tried
        tried += 1
        if full:
            raise StoreFullError("no space")
        written(batch)

    monkeypatch.setattr(store._committed, "write", write)
    monkeypatch.setattr("simcrawl.store.store._MOST_BARE", 100)
    monkeypatch.setattr("simcrawl.store.store._MOST_BARE_UNWRITTEN", 400)
    monkeypatch.setattr("simcrawl.store.store.monotonic", lambda: now)
    noise = Random(4)
    held: list[int] = []
    for i in range(3_000):
        now += 0.01
        fingerprint, failed = noise.getrandbits(64), tried
        try:
            assert store.admit_fingerprint(fingerprint) is None
        except StoreFullError:
            assert tried == failed + 1
        if i < 400:
            held.append(fingerprint)
    # Thirty seconds: a commit is tried every five.
    assert 4 <= tried <= 7
    assert len(store._claims.pages.all_fingerprints()) == 400
    assert all(store.admit_fingerprint(fingerprint ^ 1) == Match(fingerprint, 1) for fingerprint in held)
    full, now = False, now + 10
    late = noise.getrandbits(64)
    store.admit_fingerprint(late)
    assert store.admit_fingerprint(late) is None
    store.sync()
    assert store.counts()["fingerprints"] == len(held) + 1


def test_a_crawl_does_not_write_everything_anew_at_each_page_while_the_disk_is_full(monkeypatch: pytest.MonkeyPatch):
    tried, now = 0, 1000.0
    store = memory_store(sync_seconds=math.inf)

    def write(_: Batch) -> None:
        nonlocal tried
        tried += 1
        raise StoreFullError("no space")

    monkeypatch.setattr(store._committed, "write", write)
    monkeypatch.setattr("simcrawl.store.claims._MOST_UNWRITTEN", 40)
    monkeypatch.setattr("simcrawl.store.store.monotonic", lambda: now)
    for i in range(39):
        claimed(store, abstention(f"http://a.test/{i}")).confirm()
        now += 0.1
    assert tried == 1
    now += 10
    claimed(store, abstention(B))
    assert tried == 2


# Everything in any order


class StoreMachine(RuleBasedStateMachine):
    """A store against dictionaries: of what is committed, of what is claimed or waits for the next commit, and of open claims."""

    kind: ClassVar[str]
    urls = st.sampled_from([f"http://{name}.test/" for name in "abcdef"])
    contents = st.integers(0, 5)

    def __init__(self) -> None:
        super().__init__()
        self.directory = TemporaryDirectory()
        self.store = self.open()
        self.committed: dict[str, PageFingerprint | Abstention] = {}
        self.fresh: dict[str, PageFingerprint | Abstention] = {}
        self.claims: dict[str, Claim] = {}
        self.superseded: dict[str, PageFingerprint | Abstention] = {}
        self.unique: set[str] = set()
        self.bare: set[int] = set()
        self.fresh_bare: set[int] = set()
        self.register: dict[str, str | None] = {}
        self.noted: dict[str, str] = {}
        self.rejected: dict[tuple[str, str], set[frozenset[str]]] = {}

    def open(self) -> Store:
        return open_kind(self.kind, self.directory.name)

    @initialize(crowd=crowded(64, 3, size=8))
    def choose_contents(self, crowd: list[int]) -> None:
        self.crowd = crowd

    @property
    def current(self) -> dict[str, PageFingerprint | Abstention]:
        return self.committed | self.fresh

    @property
    def held(self) -> set[int]:
        owned = [*self.committed.values(), *self.fresh.values()]
        return self.bare | self.fresh_bare | {made.fingerprint for made in owned if isinstance(made, PageFingerprint)}

    def make(self, url: str, content: int) -> PageFingerprint | Abstention:
        if not content:
            return abstention(url, "shell")
        return page(url, self.crowd[content % len(self.crowd)], text=f"content {content}")

    def copies(self, made: PageFingerprint | Abstention) -> dict[str, int]:
        """Return the best originals of a page, with their distance."""
        others = {url: other for url, other in self.current.items() if url != made.url and not self.are_apart(made, other)}
        if exact := {url: 0 for url, other in others.items() if other.body_digest == made.body_digest}:
            return exact
        apart = {
            url: hamming_distance(made.fingerprint, other.fingerprint)
            for url, other in others.items()
            if isinstance(made, PageFingerprint) and isinstance(other, PageFingerprint)
        }
        nearest = min(apart.values(), default=math.inf)
        return {url: distance for url, distance in apart.items() if distance == nearest <= NEAR.max_distance}

    def are_apart(self, a: PageFingerprint | Abstention, b: PageFingerprint | Abstention) -> bool:
        names = {frozenset((one, other)) for one in (a.url, content_of(a)) for other in (b.url, content_of(b))}
        return any(names & pairs for pairs in self.rejected.values())

    @rule(url=urls, content=contents, confirmed=st.booleans(), never_drop=st.booleans())
    def crawl(self, url: str, content: int, *, confirmed: bool, never_drop: bool) -> None:
        made = self.make(url, content)
        if confirmed:
            verdict, claim, waits_for, never_drop = self.store.admit(made, NEAR), None, None, False
        else:
            verdict, claim, waits_for, *_ = self.store.claim(made, NEAR, never_drop=never_drop)
        known, copies = self.current.get(url), self.copies(made)
        if known or not copies:
            assert not verdict.is_duplicate
            recorded = url not in self.claims and (not known or known.body_digest != made.body_digest)
        else:
            assert verdict.is_duplicate
            assert verdict.original in copies
            assert verdict.distance == copies[verdict.original]
            waited = None if never_drop else self.claims.get(verdict.original)
            assert confirmed or waits_for is waited
            recorded = never_drop
            if not waited:
                self.register[url], self.noted[url] = verdict.original, content_of(made)
        assert confirmed or bool(claim) == recorded
        if recorded:
            if claim:
                self.claims[url] = claim
                if url in self.fresh:
                    self.superseded[url] = self.fresh[url]
            self.fresh[url] = made
            if not known and not copies:
                self.unique.add(url)
                if confirmed:
                    self.register.pop(url, None)
            else:
                self.unique.discard(url)

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), confirmed=st.booleans())
    def settle(self, data: st.DataObject, *, confirmed: bool) -> None:
        url = data.draw(st.sampled_from(sorted(self.claims)))
        claim, superseded = self.claims.pop(url), self.superseded.pop(url, None)
        if confirmed:
            claim.confirm()
            if url in self.unique:
                self.register.pop(url, None)
            return
        claim.withdraw()
        del self.fresh[url]
        if superseded:
            self.fresh[url] = superseded

    @rule(url=urls)
    def forget(self, url: str) -> None:
        assert self.store.forget(url) == (url in self.current or url in self.register)
        for held in (self.committed, self.fresh, self.claims, self.superseded, self.register):
            held.pop(url, None)

    @rule()
    def expire(self) -> None:
        self.store.sync()
        self.commit()
        # What waits to be written, here what is claimed, was seen just now.
        gone = set(self.committed) - set(self.fresh)
        assert self.store.expire(time() + 60) == len(gone)
        for url in gone:
            del self.committed[url]
        self.register.clear()
        self.check_committed()

    @rule(url=urls, original=st.none() | urls)
    def reject(self, url: str, original: str | None) -> None:
        other = original or self.register.get(url)
        if other == url:
            with pytest.raises(ValueError, match="no copy of itself"):
                self.store.reject(url, original)
            self.commit()
            return
        rejection = self.store.reject(url, original)
        self.commit()
        assert bool(rejection) == bool(other)
        if other:
            (a, b), (c, d) = (((name, ""), (self.content(name), "content")) for name in (url, other))
            pairs = {(a, c), (a, d), (b, c), (b, d)} if b != d else {(a, c)}
            self.rejected[url, other] = {frozenset((one[0], two[0])) for one, two in pairs if one[0] and two[0]}

    def content(self, url: str) -> str:
        return content_of(self.committed[url]) if url in self.committed else self.noted[url] if url in self.register else ""

    @rule(url=urls, original=st.none() | urls)
    def unreject(self, url: str, original: str | None) -> None:
        found = [pair for pair in self.rejected if {url, original or url} <= set(pair)]
        assert self.store.unreject(url, original) == len(found)
        self.commit()
        for pair in found:
            del self.rejected[pair]

    @rule(content=contents)
    def load(self, content: int) -> None:
        self.store.load_fingerprints([self.crowd[content % len(self.crowd)]])
        self.bare.add(self.crowd[content % len(self.crowd)])

    @rule(content=contents, distance=st.integers(0, 8))
    def admit_fingerprint(self, content: int, distance: int) -> None:
        fingerprint = self.crowd[content % len(self.crowd)]
        nearest = min((hamming_distance(fingerprint, other) for other in self.held), default=math.inf)
        match = self.store.admit_fingerprint(fingerprint, distance)
        assert (match.distance if match else None) == (nearest if nearest <= distance else None)
        if not match:
            self.fresh_bare.add(fingerprint)

    @rule(content=contents, distance=st.integers(0, 8))
    def query(self, content: int, distance: int) -> None:
        asked = self.crowd[content % len(self.crowd)]
        owned = {url: made.fingerprint for url, made in self.current.items() if isinstance(made, PageFingerprint)}
        wanted: set[tuple[int, str | None]] = {(fingerprint, url) for url, fingerprint in owned.items()}
        wanted |= {(fingerprint, None) for fingerprint in (self.bare | self.fresh_bare) - set(owned.values())}
        found = self.store.query(asked, distance)
        assert {(match.fingerprint, match.url) for match in found} == {one for one in wanted if hamming_distance(asked, one[0]) <= distance}
        assert [match.distance for match in found] == sorted(hamming_distance(asked, match.fingerprint) for match in found)
        near = {match.fingerprint for match in self.store.query_fingerprint(asked, distance)}
        assert near == {other for other in self.held if hamming_distance(asked, other) <= distance}

    @rule()
    def sync(self) -> None:
        self.store.sync()
        self.commit()
        self.check_committed()

    def commit(self) -> None:
        self.committed |= self.superseded
        for url in set(self.fresh) - set(self.claims):
            self.committed[url] = self.fresh.pop(url)
        self.bare |= self.fresh_bare
        self.fresh_bare.clear()

    def check_committed(self) -> None:
        assert {stored.page.url: stored.page for stored in self.store.pages()} == self.committed
        assert {line.url: line.original for line in self.store.duplicates()} == self.register
        apart = set(map(frozenset, self.rejected))
        assert {line.url for line in self.store.duplicates() if line.rejected} == {
            url for url, original in self.register.items() if frozenset((url, original)) in apart
        }
        assert {(one.url, one.original) for one in self.store.rejections()} == set(self.rejected)
        assert self.store.counts()["pages"] == len(self.committed)
        assert self.store.verify() == []

    @precondition(lambda self: self.kind != "memory")
    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.commit()
        for lost in (self.fresh, self.claims, self.superseded):
            lost.clear()
        self.store = self.open()
        self.check_committed()

    @invariant()
    def pages_are_those_of_the_model(self) -> None:
        known = {stored.page.url: stored for name in "abcdef" if (stored := self.store.page(f"http://{name}.test/"))}
        assert {url: stored.page for url, stored in known.items()} == self.current
        assert {url for url, stored in known.items() if not stored.confirmed} == set(self.claims)

    def teardown(self) -> None:
        self.store.sync()
        self.commit()
        self.check_committed()
        self.store.close()
        self.directory.cleanup()


class MemoryMachine(StoreMachine):
    kind = "memory"


class LmdbMachine(StoreMachine):
    kind = "lmdb"


class FoldingMachine(StoreMachine):
    kind = "folding"


class FleetMachine(StoreMachine):
    kind = "fleet"


TestMemoryMachine = MemoryMachine.TestCase
TestLmdbMachine = LmdbMachine.TestCase
TestFoldingMachine = FoldingMachine.TestCase
TestFleetMachine = FleetMachine.TestCase
TestFleetMachine.settings = TestMemoryMachine.settings = TestLmdbMachine.settings = TestFoldingMachine.settings = settings(
    stateful_step_count=30
)


# ---- texts and records of crawls


def with_text(made: PageFingerprint, content: str) -> PageFingerprint:
    return replace(made, content=compressed(content))


def test_texts_of_pages_and_near_duplicates_are_kept_where_that_is_asked_for(store: Store):
    claimed(store, with_text(page(A, 1), "not asked for")).confirm()
    store.keep_texts(10**6)
    claimed(store, with_text(page(B, 2**40 - 1), "content of b\n内容")).confirm()
    copy = store.claim(with_text(page(C, 2**40 - 2), "content of the copy"), NEAR)
    assert copy.verdict.kind is Kind.NEAR_DUPLICATE
    claimed(store, with_text(page(f"{A}withdrawn", (2**24 - 1) << 40), "withdrawn")).withdraw()
    store.sync()
    assert [store.text(url) for url in (A, B, C, f"{A}withdrawn")] == [None, "content of b\n内容", "content of the copy", None]
    assert store.verify() == []
    stored = store.page(B)
    assert stored
    assert stored.page.content is None


def test_a_text_goes_with_its_page_and_with_its_content(store: Store):
    store.keep_texts(10**6)
    for url, fingerprint in ((A, 1), (B, 2**40 - 1)):
        claimed(store, with_text(page(url, fingerprint), f"text of {url}")).confirm()
    store.sync()
    assert store.forget(A)
    assert store.text(A) is None
    claimed(store, page(B, 2**40 - 1, text="other")).confirm()
    store.sync()
    assert store.text(B) is None
    assert store.verify() == []


def test_a_text_expires_with_its_page_and_with_its_line(store: Store):
    store.keep_texts(10**6)
    claimed(store, with_text(page(A, 1), "page")).confirm()
    assert store.claim(with_text(page(B, 3), "copy"), NEAR).verdict.kind is Kind.NEAR_DUPLICATE
    store.sync()
    assert (store.text(A), store.text(B)) == ("page", "copy")
    assert store.expire(time() + 1) == 1
    assert (store.text(A), store.text(B)) == (None, None)
    assert store.verify() == []


def test_texts_take_no_more_space_than_they_may(store: Store):
    store.keep_texts(100_000)
    noise = Random(7)
    for index in range(40):
        made = with_text(page(f"{A}{index}", noise.getrandbits(64)), "".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(2_000)))
        claimed(store, made).confirm()
    store.sync()
    kept = sum(store.text(f"{A}{index}") is not None for index in range(40))
    assert 0 < kept < 40
    assert store.texts_refused == 40 - kept
    # Some of them did find space.
    assert store.wants_texts
    claimed(
        store, with_text(page(f"{A}large", noise.getrandbits(64)), "".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(50_000)))
    ).confirm()
    store.sync()
    assert store.text(f"{A}large") is None
    assert not store.wants_texts
    claimed(store, with_text(page(f"{A}small", noise.getrandbits(64)), "a word")).confirm()
    store.sync()
    assert store.text(f"{A}small") is None
    assert store.texts_refused == 41 - kept
    assert kept * 3_600 <= 100_000
    assert store.verify() == []


def test_a_text_is_kept_up_to_its_longest(store: Store):
    store.keep_texts(10**6)
    claimed(store, with_text(page(A, 1), "x" * (LONGEST + 1))).confirm()
    store.sync()
    assert store.text(A) == "x" * LONGEST


def test_the_records_of_the_last_crawls_are_kept(store: Store):
    assert store.crawls() == []
    for number in range(MOST_CRAWLS + 3):
        store.note_crawl({"number": number, "spider": "蜘蛛"})
    assert [record["number"] for record in store.crawls()] == list(range(3, MOST_CRAWLS + 3))
    assert store.crawls()[0]["spider"] == "蜘蛛"
    assert store.verify() == []
