from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from simcrawl.index import batch
from simcrawl.index.permutations import design, gather
from tests.strategies import crowded, designs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn
    from numpy.typing import NDArray

WORD_WIDTHS = st.integers(1, 8).map(lambda octets: 8 * octets)


@st.composite
def problems(draw: DrawFn) -> tuple[int, int, list[int], list[list[int]]]:
    """Return (bits, distance, queries, chunks of stored fingerprints), queries among the stored ones and not."""
    bits = draw(WORD_WIDTHS)
    distance = draw(st.integers(0, 8) | st.integers(0, bits + 1))
    values = draw(crowded(bits, distance, size=40))
    stored = draw(st.lists(st.sampled_from(values), max_size=40))
    cuts = sorted(draw(st.lists(st.integers(0, len(stored)), max_size=3)))
    chunks = [stored[low:high] for low, high in zip([0, *cuts], [*cuts, len(stored)], strict=True)]
    return bits, distance, draw(st.lists(st.sampled_from(values), max_size=40)), chunks


def _arrays(chunks: list[list[int]]) -> Iterator[NDArray[np.uint64]]:
    return (np.array(chunk, np.uint64) for chunk in chunks)


def _answers(
    queries: list[int], chunks: list[list[int]], distance: int, bits: int = 64, *, design_name: str | None = None
) -> Counter[tuple[int, int, int]]:
    forced = {"return_value": design(design_name, bits)} if design_name else {"wraps": batch._cheapest}
    with patch.object(batch, "_cheapest", **forced):
        hits = list(batch.batch_query(queries, _arrays(chunks), distance, bits=bits))
    return Counter((q, f, d) for hit in hits for q, f, d in zip(*(column.tolist() for column in hit), strict=True))


def _truth(queries: list[int], chunks: list[list[int]], distance: int) -> Counter[tuple[int, int, int]]:
    pairs = ((q, f, (query ^ f).bit_count()) for q, query in enumerate(queries) for chunk in chunks for f in chunk)
    return Counter(pair for pair in pairs if pair[2] <= distance)


# ---- batch queries


@given(problems(), st.integers(1, 50), st.integers(1, 50))
def test_every_pair_within_the_distance_is_found_once_and_no_other(
    problem: tuple[int, int, list[int], list[list[int]]], piece: int, size: int
):
    bits, distance, queries, chunks = problem
    with patch.object(batch, "_PIECE", piece), patch.object(batch, "_SLICE", size):
        assert _answers(queries, chunks, distance, bits) == _truth(queries, chunks, distance)


@pytest.mark.parametrize("name", ["2:1", "4:1", "5:2", "6:3", "4:1,4:1"])
@given(problem=problems(), most=st.integers(0, 3))
def test_whatever_the_design(name: str, problem: tuple[int, int, list[int], list[list[int]]], most: int):
    bits, distance, queries, chunks = problem
    distance = min(distance, most + 3)
    assert _answers(queries, chunks, distance, bits, design_name=name) == _truth(queries, chunks, distance)


@pytest.mark.parametrize("distance", range(9))
def test_real_sizes(distance: int):
    generator = np.random.default_rng(distance)
    stored = generator.integers(0, 1 << 64, 20_000, dtype=np.uint64)
    asked = stored[:2_000].copy()
    for _ in range(distance):
        asked ^= np.uint64(1) << generator.integers(0, 64, len(asked), dtype=np.uint64)
    asked[::2] ^= np.uint64(1) << np.uint64(17)
    apart = np.bitwise_count(asked[:, None] ^ stored)
    truth = {(int(q), int(f)) for q, f in np.argwhere(apart <= distance)}
    found = list(batch.batch_query(asked, np.array_split(stored, 7), distance))
    numbers = {int(value): number for number, value in enumerate(stored)}
    told = [(q, numbers[f]) for hit in found for q, f in zip(hit.queries.tolist(), hit.fingerprints.tolist(), strict=True)]
    assert 1_000 <= len(truth) < len(asked)
    assert len(told) == len(set(told))
    assert set(told) == truth


@pytest.mark.parametrize(("count", "distance"), [(1, 3), (1_000, 3), (1_000_000, 0), (1_000_000, 3), (1_000_000, 7), (30, 40)])
def test_the_design_that_is_chosen_answers_the_distance(count: int, distance: int):
    chosen = batch._cheapest(64, distance, lambda found: batch._query_cost(found, distance, count))
    assert len(chosen.tables) <= batch._MOST_TABLES
    assert batch._query_cost(chosen, distance, count) <= 10 * count


def test_the_paper_s_ten_tables_are_chosen_for_the_paper_s_million_queries():
    assert batch._cheapest(64, 3, lambda found: batch._query_cost(found, 3, 1_000_000)).name == "5:2"


def test_chunks_may_have_the_shape_that_stores_give():
    assert [hit.queries.tolist() for hit in batch.batch_query([5], [np.array([[5], [4]], np.uint64)], 0)] == [[0]]


def test_the_columns_have_the_types_that_they_are_said_to_have():
    for queries in ([7, 7], [7]):
        (hit,) = batch.batch_query(queries, [np.array([6], np.uint64)], 3)
        assert [column.dtype for column in hit] == [np.int64, np.uint64, np.uint8]


def test_progress_counts_what_was_streamed():
    told: list[int] = []
    list(batch.batch_query([1], _arrays([[1, 2, 3], [], [4]]), 3, progress=told.append))
    assert told == [3, 3, 4]


@pytest.mark.parametrize(
    ("queries", "distance", "bits", "named"),
    [
        ([1], -1, 64, "-1"),
        ([256], 3, 8, "0x100"),
        ([-1], 3, 64, "-1"),
        ([1 << 64], 3, 64, "64 bits"),
        ([1], 3, 128, "128"),
        ([1], 3, 9, "9"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(queries: list[int], distance: int, bits: int, named: str):
    with pytest.raises(ValueError, match=named):
        batch.batch_query(queries, [], distance, bits=bits)


# ---- clusters


def _components(values: list[int], distance: int) -> list[list[int]]:
    groups = [{value} for value in set(values)]
    for a, b in combinations(sorted(set(values)), 2):
        if (a ^ b).bit_count() <= distance:
            one, other = (next(group for group in groups if value in group) for value in (a, b))
            if one is not other:
                groups.remove(other)
                one |= other
    return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group[0]))


@given(problems(), st.integers(1, 50))
@example((64, 2, [], [[0b0, 0b11, 0b1111, 0b111111, 1 << 63]]), 1)
def test_clusters_are_the_connected_components_largest_first(problem: tuple[int, int, list[int], list[list[int]]], piece: int):
    bits, distance, _, chunks = problem
    with patch.object(batch, "_PIECE", piece):
        found = [group.tolist() for group in batch.clusters(_arrays(chunks), distance, bits=bits)]
    assert found == _components([value for chunk in chunks for value in chunk], distance)


@pytest.mark.parametrize("name", ["4:1", "5:2", "6:3"])
@given(problem=problems())
def test_clusters_by_tables_with_prefixes(name: str, problem: tuple[int, int, list[int], list[list[int]]]):
    bits, distance, _, chunks = problem
    distance = min(distance, 3)
    with patch.object(batch, "_cheapest", return_value=design(name, bits)):
        found = [group.tolist() for group in batch.clusters(_arrays(chunks), distance, bits=bits)]
    assert found == _components([value for chunk in chunks for value in chunk], distance)


@pytest.mark.parametrize("distance", [3, 7])
def test_planted_chains_come_out_whole(distance: int):
    generator = np.random.default_rng(1)
    values = generator.integers(0, 1 << 64, 20_000, dtype=np.uint64)
    links = [int(values[0])]
    for step in range(1, 9):
        links.append(links[-1] ^ ((1 << distance) - 1) << 7 * (step % 8))
    told: list[float] = []
    found = list(batch.clusters([values, np.array(links, np.uint64)], distance, progress=told.append))
    assert [group.tolist() for group in found if len(group) > 3] == [sorted(set(links))]
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize(("distance", "bits"), [(-1, 64), (3, 72)])
def test_clusters_that_cannot_be_are_refused_at_once(distance: int, bits: int):
    with pytest.raises(ValueError, match=r"-1|72"):
        batch.clusters([], distance, bits=bits)


# ---- permuting arrays


@given(designs(WORD_WIDTHS), st.data())
def test_gather_is_what_a_table_does_one_by_one(chosen, data):
    values = data.draw(st.lists(st.integers(0, (1 << chosen.bits) - 1), max_size=5))
    for table in chosen.tables:
        permuted = gather(np.array(values, np.uint64), table.order, chosen.bits)
        assert permuted.tolist() == [table.permute(value) for value in values]
        front = gather(np.array(values, np.uint64), table.order[: table.prefix_bits], chosen.bits)
        assert front.tolist() == [table.prefix(value) for value in values]
