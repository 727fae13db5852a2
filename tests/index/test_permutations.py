"""The permuted tables: every one a bijection, and together unable to miss a fingerprint within the radius."""

from __future__ import annotations

from collections import Counter
from math import comb

import pytest
from hypothesis import given, strategies as st

from simcrawl.bits import hamming_distance, to_rows
from simcrawl.index.permutations import PAPER, Design, cheapest_levels, choose_design, design, flip_count, flips, page_cost
from tests.strategies import design_names, designs, fingerprints, near, widths


@given(st.data(), designs())
def test_every_table_is_a_bijection(data: st.DataObject, tables: Design):
    fingerprint = data.draw(fingerprints(tables.bits))
    for table in tables.tables:
        assert sorted(table.order) == list(range(tables.bits))
        assert table.restore(table.permute(fingerprint)) == fingerprint


@given(st.data(), designs())
def test_a_prefix_is_the_front_of_the_permuted_fingerprint(data: st.DataObject, tables: Design):
    fingerprint = data.draw(fingerprints(tables.bits))
    for table in tables.tables:
        assert table.prefix(fingerprint) == table.permute(fingerprint) >> (tables.bits - table.prefix_bits)


@given(st.data(), designs())
def test_permuting_puts_the_bit_at_each_place_of_the_order(data: st.DataObject, tables: Design):
    fingerprint = data.draw(fingerprints(tables.bits))
    for table in tables.tables:
        bits = f"{fingerprint:0{tables.bits}b}"
        assert f"{table.permute(fingerprint):0{tables.bits}b}" == "".join(bits[position] for position in table.order)


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [("4", {16: 4}), ("10", {25: 4, 26: 6}), ("16", {28: 16}), ("20", {31: 4, 32: 12, 33: 4})],
)
def test_the_papers_tables_have_its_counts_and_prefix_lengths(name: str, prefixes: dict[int, int]):
    assert Counter(table.prefix_bits for table in design(name).tables) == prefixes
    assert len(set(design(name).tables)) == int(name)


@given(st.data(), designs())
def test_some_table_has_few_differing_prefix_bits(data: st.DataObject, tables: Design):
    distance = data.draw(st.integers(0, tables.bits))
    a = data.draw(fingerprints(tables.bits))
    b = data.draw(near(a, distance, tables.bits))
    fewest = min(hamming_distance(table.prefix(a), table.prefix(b)) for table in tables.tables)
    assert fewest <= tables.radius(distance)


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_tables_need_exact_prefixes_only_for_3_bits(name: str):
    assert design(name).radius(3) == 0


@pytest.mark.parametrize("distance", range(12))
def test_the_radius_of_equal_blocks_is_reached(distance: int):
    # Differing bits dealt out among the four blocks in turn: the worst case that the radius is computed for.
    worst = sum(1 << (i % 4 * 16 + i // 4) for i in range(distance))
    assert min(table.prefix(worst).bit_count() for table in design("4").tables) == design("4").radius(distance)


@pytest.mark.parametrize(("distance", "probes"), [(3, 4), (7, 68), (11, 548)])
def test_four_tables_cost_the_documented_probes(distance: int, probes: int):
    assert design("4").probes(distance) == probes


@given(st.integers(1, 12), st.integers(0, 14))
def test_flips_are_all_masks_within_the_radius_once(width: int, radius: int):
    masks = flips(width, radius)
    assert sorted(masks) == [mask for mask in range(1 << width) if mask.bit_count() <= radius]
    assert len(masks) == flip_count(width, radius)


@pytest.mark.parametrize(("tau", "tables"), [(2, "20"), (5, "20"), (6, "16"), (7, "16"), (10, "10")])
def test_the_recursion_gives_the_papers_tables_for_2_to_the_34_pages(tau: int, tables: str):
    assert cheapest_levels(64, 3, 34, tau) == (int(tables), PAPER[tables])


def test_few_pages_need_one_table_without_a_prefix():
    assert cheapest_levels(64, 3, 10, 10) == (1, ())


@given(st.integers(2, 40), st.integers(0, 12))
def test_more_tolerated_candidates_never_need_more_tables(log2_pages: int, tau: int):
    assert cheapest_levels(64, 3, log2_pages, tau + 1)[0] <= cheapest_levels(64, 3, log2_pages, tau)[0]


@given(design_names)
def test_a_design_has_as_many_tables_as_choices_of_blocks(name: str):
    made = design(name, 128)
    wanted = 1
    for blocks, chosen in made.levels:
        wanted *= comb(blocks, chosen)
    assert len(made.tables) == wanted


@pytest.mark.parametrize("name", ["", "5", "four", "4:", ":1", "4:0", "4:4", "1:2", "-4:1", "4:1,", "4-1"])
def test_an_unknown_design_is_refused_by_name(name: str):
    with pytest.raises(ValueError, match="is no design: use one of 4, 10, 16, 20, or levels") as caught:
        design(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(("name", "bits"), [("9:1", 8), ("4:3,4:1", 8)])
def test_a_design_that_does_not_fit_the_bits_is_refused(name: str, bits: int):
    with pytest.raises(ValueError, match="bits cannot be cut into"):
        design(name, bits)


@pytest.mark.parametrize("name", ["10:5", "6:3,6:3", "4:1,4:1,4:1,4:1"])
def test_a_design_of_too_many_tables_is_refused(name: str):
    with pytest.raises(ValueError, match="tables, more than 100"):
        design(name)


@pytest.mark.parametrize("bits", [0, 7, 63, 136])
def test_a_design_of_no_fingerprint_width_is_refused(bits: int):
    with pytest.raises(ValueError, match=f"fingerprints of {bits} bits do not exist"):
        design("4", bits)


# What a store relies on


@given(st.data(), designs())
def test_radii_that_differ_by_table_miss_nothing_either(data: st.DataObject, tables: Design):
    distance = data.draw(st.integers(0, tables.bits))
    a = data.draw(fingerprints(tables.bits))
    b = data.draw(near(a, distance, tables.bits))
    radii = tables.radii(distance)
    assert any(hamming_distance(table.prefix(a), table.prefix(b)) <= radius for table, radius in zip(tables.tables, radii, strict=True))


@pytest.mark.parametrize(("distance", "radii"), [(0, (0, -1, -1, -1)), (2, (0, 0, 0, -1)), (3, (0,) * 4), (4, (1, 0, 0, 0)), (7, (1,) * 4)])
def test_tables_of_one_block_share_the_differing_bits(distance: int, radii: tuple[int, ...]):
    assert design("4").radii(distance) == radii


@given(st.data(), designs())
def test_keys_are_the_prefixes_left_aligned(data: st.DataObject, tables: Design):
    some = data.draw(st.lists(fingerprints(tables.bits), max_size=5))
    keys = tables.prefix_keys()
    for fingerprint in some:
        wanted = [(table.prefix(fingerprint) << -table.prefix_bits % 8).to_bytes(table.key_bytes, "big") for table in tables.tables]
        assert list(keys(fingerprint)) == wanted
    for table in tables.tables:
        assert table.prefixes(to_rows(some, bits=tables.bits)).tolist() == [table.prefix(fingerprint) for fingerprint in some]


@pytest.mark.parametrize("pages", [0, 10**6, 10**7, 10**8])
def test_four_tables_are_chosen_for_three_bits_up_to_1e8_pages(pages: int):
    assert choose_design(64, 3, pages) == "4"


def test_more_pages_make_longer_prefixes_worth_their_cost():
    chosen = [min(table.prefix_bits for table in design(choose_design(64, 3, 10**exponent)).tables) for exponent in range(5, 12)]
    assert chosen == sorted(chosen)
    assert chosen[0] == 16 < chosen[-1]


# Microseconds of CPU, k = 3, with 1e5, 1e6 and 1e7 stored: docs/benchmarks.md.
MEASURED = {
    "4": (11.0, 10.8, 24.3),
    "10": (49.7, 43.2, 75.3),
    "16": (54.9, 89.6, 104.8),
    "20": (70.4, 109.1, 205.2),
    "3:1": (37.0, 42.4, 53.9),
    "2:1": (67.5, 90.2, 124.3),
}


@pytest.mark.parametrize(
    ("name", "pages", "measured"),
    [(name, pages, cost) for name, costs in MEASURED.items() for pages, cost in zip((10**5, 10**6, 10**7), costs, strict=True)],
)
def test_the_cost_model_is_near_what_was_measured(name: str, pages: int, measured: float):
    assert 0.7 < page_cost(design(name), 3, pages) / measured < 1.25


@given(widths, st.integers(0, 8), st.integers(0, 10**10))
def test_no_design_of_the_papers_costs_less_than_the_chosen_one(bits: int, distance: int, pages: int):
    chosen = page_cost(design(choose_design(bits, distance, pages), bits), distance, pages)
    assert all(chosen <= page_cost(design(name, bits), distance, pages) for name in PAPER)


def test_a_negative_number_of_pages_is_refused():
    with pytest.raises(ValueError, match="0 or more, got -1"):
        choose_design(64, 3, -1)
