"""Clusters: what the register binds together, and that all who tell of it say the same."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from simcrawl.cli import run
from simcrawl.report import gather
from simcrawl.rule import Rule
from simcrawl.store import PREDICTED, Duplicate, Store, join_crawl, open_store
from simcrawl.store.clusters import Sizes, clusters
from tests.strategies import page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=1)
A, B, C, D, E = (f"http://{name}.test/" for name in "abcde")
Groups = dict[str, set[str]]
"""The pages of each cluster by its representative."""


@dataclass
class Lines:
    """A register in memory. `asked`: whose lines were asked for."""

    lines: dict[str, Duplicate]
    asked: list[str]

    def duplicate(self, url: str) -> Duplicate | None:
        self.asked.append(url)
        return self.lines.get(url)

    def duplicates(self) -> Iterator[Duplicate]:
        yield from self.lines.values()


def line(url: str, original: str, kind: str = "near_duplicate", **values: Any) -> Duplicate:
    reason = PREDICTED if kind == PREDICTED else "near-duplicate"
    return replace(Duplicate(url, original, kind, None, None, reason, dropped_page=True, dropped_outlinks=True, when=100.0), **values)


def register(*lines: Duplicate) -> Lines:
    return Lines({one.url: one for one in lines}, [])


def groups_of(found: Any) -> Groups:
    groups = {one.representative: {one.representative, *(member.url for member in one.members)} for one in found}
    assert [one.size for one in found] == sorted((len(group) for group in groups.values()), reverse=True)
    return groups


# ---- the homes of what is told


def groups_of_command(store: str, capsys: pytest.CaptureFixture[str]) -> Groups:
    capsys.readouterr()
    assert run(["clusters", store, "--by", "verdicts", "--json"]) == 0
    rows = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    groups = {row["representative"]: {row["representative"], *(member["url"] for member in row["members"])} for row in rows}
    assert [row["size"] for row in rows] == [len(group) for group in groups.values()]
    return groups


def groups_of_export(store: str, capsys: pytest.CaptureFixture[str]) -> Groups:
    """The pages that the store holds; a page that stands for itself alone is no cluster."""
    capsys.readouterr()
    assert run(["export", store, "-", "--format", "jsonl"]) == 0
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for row in capsys.readouterr().out.splitlines():
        groups[json.loads(row)["cluster"]].add(json.loads(row)["url"])
    return groups


def groups_of_report(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[int, set[str]]]:
    """Sizes, and copies: up to five are named."""
    capsys.readouterr()
    written = tmp_path / "report.json"
    assert run(["report", store, "-o", str(written), "--json"]) == 0
    found = json.loads(written.read_text())["clusters"]
    return {one["original"]: (one["copies"] + 1, set(one["examples"])) for one in found}


def agreed(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Groups:
    """Return the clusters, of which all tell the same."""
    groups = groups_of_command(store, capsys)
    assert groups_of_report(store, tmp_path, capsys) == {name: (len(group), group - {name}) for name, group in groups.items()}
    exported = groups_of_export(store, capsys)
    held = set().union(*exported.values())
    in_some = set().union(*groups.values())
    told = {name: group & held for name, group in groups.items() if group & held} | {url: {url} for url in held - in_some}
    assert exported == told
    with open_store(store, readonly=True) as opened:
        assert {
            name: {url for url in group if opened.duplicate(url) or opened.page(url)}
            == {url for url in group if opened.cluster(url) == name}
            for name, group in groups.items()
        } == dict.fromkeys(groups, True)
    return groups


@pytest.fixture
def store(tmp_path: Path) -> str:
    """An original with three copies, of which the last one was kept as well."""
    with open_store(tmp_path / "store", recipe="manku2007") as opened:
        for number, url in enumerate((A, B, C)):
            opened.admit(page(url, number, text=f"text {number}"), NEAR)
        opened.admit(page(D, 4, text="text 4"), replace(NEAR, copies_kept=2))
    return str(tmp_path / "store")


def test_all_tell_of_the_same_clusters_before_and_after_a_verdict_is_taken_back(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C, D}}
    for url, left in ((D, {A, B, C}), (B, {A, C})):
        assert run(["reject", store, url]) == 0
        assert agreed(store, tmp_path, capsys) == {A: left}
    with open_store(store) as opened:
        assert [opened.cluster(url) for url in (A, B, C, D)] == [A, B, A, D]
    assert run(["reject", store, C]) == 0
    # A page alone is no cluster.
    assert agreed(store, tmp_path, capsys) == {}
    assert run(["reject", store, "--undo", B, D]) == 0
    assert agreed(store, tmp_path, capsys) == {A: {A, B, D}}


def test_a_verdict_may_be_taken_back_by_the_name_of_the_original(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["reject", store, A, "--original", B]) == 0
    assert agreed(store, tmp_path, capsys) == {A: {A, C, D}}
    with open_store(store) as opened:
        assert [one.url for one in opened.duplicates() if one.rejected] == [B]


def test_a_pair_that_no_line_names_binds_and_parts_nothing(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["reject", store, B, "--original", C]) == 0
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C, D}}


def test_a_copy_of_a_copy_goes_with_it(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with open_store(store) as opened:
        # Only D is that near.
        assert opened.admit(page(E, 0b111100, text="text 5"), NEAR).original == D
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C, D, E}}
    assert run(["reject", store, D]) == 0
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C}, D: {D, E}}


def test_a_copy_that_a_later_crawl_keeps_is_in_the_cluster_no_more(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with open_store(store) as opened:
        assert opened.admit(page(E, 0b111100, text="text 5"), NEAR).original == D
        crawl = join_crawl(opened)
        assert not crawl.admit(page(D, 0xFF << 40, text="another text"), NEAR).is_duplicate
        crawl.leave(finished=True)
        assert opened.duplicate(D) is None
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C}, D: {D, E}}


def test_the_latest_line_of_a_page_counts_alone(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with open_store(store) as opened:
        opened.admit(page(E, 0xFF << 40, text="far away"), NEAR)
        for spider in ("one", "two"):
            crawl = join_crawl(opened, spider=spider)
            for url, number in ((A, 0), (E, 0xFF << 40), (B, 0 if spider == "one" else 0xFF << 40)):
                crawl.admit(page(url, number, text=f"{url} {number}"), NEAR)
            crawl.leave(finished=True)
        assert [one.original for one in opened.duplicates() if one.url == B] == [E]
        assert [(one.url, one.original) for one in opened.duplicates(latest=1)] == [(B, E)]
    assert agreed(store, tmp_path, capsys) == {A: {A, C, D}, E: {B, E}}


@pytest.mark.parametrize("expired", [False, True])
def test_copies_of_a_forgotten_page_stay_together(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, expired: bool):
    with open_store(store) as opened:
        if expired:
            # Its lines stay, for they are younger.
            opened.sync()
            found = list(opened.duplicates())
            opened.expire(math.inf)
            opened._claims._register.update({one.url: one for one in found})
        else:
            opened.forget(A)
        opened.sync()
        assert opened.page(A) is None
        assert opened.cluster(A) is None
        assert {opened.cluster(url) for url in (B, C, D)} == {A}
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C, D}}


def test_a_page_that_was_not_fetched_is_in_the_cluster_and_told_apart(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with open_store(store) as opened:
        opened.note(line(E, A, PREDICTED))
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C, D, E}}
    with open_store(store) as opened:
        (told,) = gather(opened).clusters
    assert (told.copies, told.exact, told.near, told.not_fetched) == (4, 0, 3, 1)
    assert run(["reject", store, E]) == 0
    assert agreed(store, tmp_path, capsys) == {A: {A, B, C, D}}


# ---- any register


NAMES = st.sampled_from([f"http://{name}.test/" for name in "abcdefgh"])


@st.composite
def registers(draw: st.DrawFn) -> tuple[dict[str, Duplicate], list[tuple[str, str]]]:
    """Lines, of which one may be in place of another, and pairs that a user holds apart, lines' own or any."""
    pairs = draw(st.lists(st.tuples(NAMES, NAMES, st.sampled_from(["exact_duplicate", "near_duplicate", PREDICTED])), max_size=12))
    lines = {url: line(url, original, kind) for url, original, kind in pairs if url != original}
    chosen = st.sampled_from(sorted((one.url, one.original) for one in lines.values())) if lines else st.nothing()
    apart = draw(st.lists(chosen | chosen.map(lambda pair: pair[::-1]) | st.tuples(NAMES, NAMES), max_size=4))
    return lines, [(a, b) for a, b in apart if a != b]


def oracle(pairs: list[tuple[str, str]], apart: list[tuple[str, str]]) -> Groups:
    """Pages that pairs connect, where nobody holds these apart; by the one that is no copy, or the first of those that go in a circle."""
    bound = {copy: original for copy, original in pairs if (copy, original) not in apart and (original, copy) not in apart}
    groups = [{url} for url in {*bound, *bound.values()}]
    for pair in bound.items():
        joined = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if not group & set(pair)] + [set().union(*joined)]
    return {_end(group, bound): group for group in groups}


def _end(group: set[str], bound: dict[str, str]) -> str:
    roots = group - set(bound)
    if roots:
        (root,) = roots
        return root
    here = min(group)
    for _ in group:
        here = bound[here]
    circle = {here}
    while (here := bound[here]) not in circle:
        circle.add(here)
    return min(circle)


@settings(deadline=None)
@given(registers(), st.sets(NAMES))
def test_any_register_has_the_clusters_that_its_pairs_connect(made: tuple[dict[str, Duplicate], list[tuple[str, str]]], held: set[str]):
    lines, apart = made
    with open_store("memory:", recipe="manku2007") as store:
        for number, url in enumerate(sorted(held)):
            store.admit(page(url, 0xFF << 8 * number % 64, text=url), NEAR)
        store.sync()
        store._claims._register.update(lines)
        store.sync()
        for pair in apart:
            store.reject(*pair)
        _check(store, oracle([(one.url, one.original) for one in lines.values()], apart), held)
        for url in {url for pair in apart for url in pair}:
            store.unreject(url)
        assert not any(one.rejected for one in store.duplicates())
        _check(store, oracle([(one.url, one.original) for one in lines.values()], []), held)


def _check(store: Store, groups: Groups, held: set[str]) -> None:
    assert groups_of(clusters(store)) == groups
    facts = gather(store)
    assert {one.original: one.copies + 1 for one in facts.clusters} == {name: len(group) for name, group in groups.items()}
    assert all(set(one.examples) <= groups[one.original] - {one.original} for one in facts.clusters)
    assert sum(size * count for size, count in facts.cluster_sizes.items()) == sum(map(len, groups.values()))
    homes = {url: name for name, group in groups.items() for url in group}
    known = held | {one.url for one in store.duplicates()}
    for url in known | set(homes):
        assert store.cluster(url) == (homes.get(url, url) if url in known else None)


# ---- what it costs


def test_the_largest_come_first_and_only_so_many():
    lines = register(line(B, A), line(C, A), line(E, D), *(line(f"{E}{number}", E) for number in range(3)))
    assert [(one.representative, one.size) for one in clusters(lines)] == [(D, 5), (A, 3)]
    assert [one.representative for one in clusters(lines, most=1)] == [D]
    assert [one.representative for one in clusters(lines, min_size=4)] == [D]
    assert [member.url for member in clusters(lines, most=1)[0].members] == [E, f"{E}0", f"{E}1", f"{E}2"]
    assert not clusters(lines, min_size=6)


def test_each_original_is_looked_up_once_however_long_the_way_to_the_first():
    # Each a copy of the one before, and each of these with ten copies.
    steps = [line(f"{A}{number + 1}", f"{A}{number}") for number in range(500)]
    lines = register(*steps, *(line(f"{B}{number}-{copy}", f"{A}{number}") for number in range(500) for copy in range(10)))
    sizes = Sizes(lines.duplicate)
    for one in lines.duplicates():
        sizes.add(one)
    assert sizes.largest() == [(f"{A}0", 5_500)]
    assert len(lines.asked) == 500
