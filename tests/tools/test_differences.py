from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simcrawl.page.features import hash_rows
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_page, page_texts
from simcrawl.page.recipes import resolve
from simcrawl.tools.differences import MOST_BLOCKS, Change, Row, changes, count_changed, differing_bits, pull_apart, side_by_side
from tests.crawl.content import page as real_page
from tests.samples import chinese, english, page

if TYPE_CHECKING:
    from collections.abc import Sequence

weights = st.dictionaries(st.sampled_from("abcdefghijkl"), st.sampled_from([0.5, 1.0, 1.5, 2.0]), min_size=1)
texts = st.lists(st.sampled_from(["one", "two words", "two other words", "三个字", "", "one"]), max_size=12)


# ---- bits and features


@pytest.mark.parametrize("recipe", ["content", "manku2007", "layout"])
@pytest.mark.parametrize("html", [page(english()), page(chinese()), real_page(), real_page("25.2/zh/openpgp"), page("two words")])
def test_the_text_of_a_page_s_features_gives_its_fingerprint(recipe: str, html: str):
    made = fingerprint_page(html, recipe=recipe)
    source, whole = page_texts(html, recipe=recipe)
    assert whole
    if isinstance(made, PageFingerprint):
        weighed = resolve(recipe).features.weigh(source)
        assert pull_apart(weighed, weighed | {"more": 0.5}).fingerprint_a == made.fingerprint


@pytest.mark.parametrize("html", ["", "%PDF-1.7", b"<html" + b" a=1" * 5000 + b">", "<p>" * 300_000])
def test_a_page_that_is_not_parsed_has_no_texts(html: str | bytes):
    assert page_texts(html) == ("", "")


@given(weights, weights, st.integers(0, 3), st.sampled_from([8, 64, 128]))
def test_what_pulls_two_fingerprints_apart(a: dict[str, float], b: dict[str, float], seed: int, bits: int):
    found = pull_apart(a, b, seed=seed, bits=bits, strongest=100)
    assert [bit.position for bit in found.bits] == differing_bits(found.fingerprint_a, found.fingerprint_b, bits)
    assert {one.name: (one.weight_a, one.weight_b) for one in found.features} == {
        name: (a.get(name, 0.0), b.get(name, 0.0)) for name in a | b if a.get(name) != b.get(name)
    }
    gaps = [abs(one.weight_a - one.weight_b) for one in found.features]
    assert gaps == sorted(gaps, reverse=True)
    signs = {name: np.unpackbits(row).astype(int) * 2 - 1 for name, row in zip(a | b, hash_rows(a | b, seed=seed, bits=bits), strict=True)}
    for bit in found.bits:
        moves = {one.name: (one.weight_b - one.weight_a) * signs[one.name][bit.position] for one in found.features}
        assert sum(moves.values()) == pytest.approx(bit.sum_b - bit.sum_a)
        assert bit.features == [name for name, move in moves.items() if move * (bit.sum_b - bit.sum_a) > 0]
    assert sum(one.pulls for one in found.features) == sum(len(bit.features) for bit in found.bits)


def test_the_first_bit_is_the_first_digit_s():
    assert differing_bits(0x80_00_00_00_00_00_00_00, 1, 64) == [0, 63]


# ---- texts


@given(texts, texts)
def test_changes_give_both_texts_back(a: list[str], b: list[str]):
    found = changes(a, b)
    assert [block for change in found for block in change.a] == a
    assert [block for change in found for block in change.b] == b
    assert all((change.operation == "equal") == (change.a == change.b) for change in found)


@given(texts, texts)
def test_side_by_side_shows_every_difference_and_counts_what_it_leaves_out(a: list[str], b: list[str]):
    rows = list(side_by_side(changes(a, b), context=1))
    assert _shown([row.a for row in rows]) + sum(row.skipped for row in rows) == len(a)
    assert _shown([row.b for row in rows]) + sum(row.skipped for row in rows) == len(b)
    assert sum(row.is_changed for row in rows) == count_changed(changes(a, b))
    assert any(row.is_changed for row in rows) == (a != b)
    if a == b:
        return
    every = list(side_by_side(changes(a, b), context=100))
    assert ["".join(piece for piece, _ in row.a) for row in every if row.a is not None] == a
    assert ["".join(piece for piece, _ in row.b) for row in every if row.b is not None] == b


def _shown(column: Sequence[object]) -> int:
    return sum(cell is not None for cell in column)


def test_changed_words_and_letters_are_marked():
    rows = list(side_by_side([Change("replace", ["the old bridge", "北京的桥"], ["the new bridge", "南京的桥", "more"])]))
    assert rows == [
        Row([("the ", False), ("old", True), (" bridge", False)], [("the ", False), ("new", True), (" bridge", False)]),
        Row([("北", True), ("京的桥", False)], [("南", True), ("京的桥", False)]),
        Row(None, [("more", True)]),
    ]


def test_changed_words_in_a_row_are_one_change():
    (row,) = side_by_side([Change("replace", ["an old bad bridge"], ["a new good bridge"])])
    assert row == Row([("an old bad", True), (" bridge", False)], [("a new good", True), (" bridge", False)])


@given(st.text("ab ,.中", max_size=30), st.text("ab ,.中", max_size=30))
def test_the_pieces_of_a_block_are_the_block_and_unchanged_ones_are_alike(a: str, b: str):
    (row,) = side_by_side([Change("replace", [a], [b])])
    assert row.a is not None
    assert row.b is not None
    assert ["".join(piece for piece, _ in pieces) for pieces in (row.a, row.b)] == [a, b]
    kept = ["".join(piece for piece, changed in pieces if not changed).replace(" ", "") for pieces in (row.a, row.b)]
    assert kept[0] == kept[1]
    assert row.is_changed == (a != b)


def test_long_blocks_are_compared_between_what_both_begin_and_end_with():
    words = " ".join(f"w{number}" for number in range(50_000))
    (row,) = side_by_side([Change("replace", [f"{words} old {words}"], [f"{words} new {words}"])])
    assert row == Row(
        [(f"{words} ", False), ("old", True), (f" {words}", False)], [(f"{words} ", False), ("new", True), (f" {words}", False)]
    )
    # Two changes with very much between them are one.
    (row,) = side_by_side([Change("replace", [f"old {words} old"], [f"new {words} new"])])
    assert row == Row([(f"old {words} old", True)], [(f"new {words} new", True)])


def test_equal_blocks_are_left_out_where_there_are_many():
    blocks = list("abcdefgh")
    rows = list(side_by_side(changes(["x", *blocks, "y"], ["z", *blocks, "y!"])))
    assert [row.skipped or "".join(piece for piece, _ in row.a or []) for row in rows] == ["x", "a", 6, "h", "y"]


def test_a_text_of_very_many_blocks_is_cut():
    (change,) = changes(["a"] * 2 * MOST_BLOCKS, ["a"] * 2 * MOST_BLOCKS)
    assert len(change.a) == MOST_BLOCKS
