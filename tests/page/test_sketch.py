from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simcrawl.page.hashing import hash_units
from simcrawl.page.sketch import (
    NO_PART,
    Part,
    differing,
    new_passage,
    own_units,
    pack,
    resemblance,
    resemblances,
    sequences,
    shingles,
    size_of,
    sketch,
    sketch_with_places,
    unpack,
    weighted,
)

if TYPE_CHECKING:
    from random import Random

    from numpy.typing import NDArray

REGISTERS = 256


def _error(exact: float, filled: int) -> float:
    """Return the standard error of an estimate from so many registers."""
    return math.sqrt((1 - exact) * (1 + 2 * exact) / 2 / filled)


def _random_sets(shared: int, own: int, seed: int) -> tuple[bytes, bytes]:
    values = np.random.default_rng(seed).integers(0, 2**64, shared + 2 * own, dtype=np.uint64)
    a, b = values[: shared + own], np.concatenate([values[:shared], values[shared + own :]])
    return sketch(np.unique(a), REGISTERS), sketch(np.unique(b), REGISTERS)


def _cut(text: str, size: int = 3) -> np.ndarray:
    return shingles(hash_units(text.split(), seed=0), size)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("shared", "own"), [(2000, 10), (2000, 100), (1000, 500), (500, 500), (300, 1500), (150, 20)])
def test_the_estimate_lies_within_four_standard_errors(shared: int, own: int, seed: int):
    a, b = _random_sets(shared, own, seed)
    exact = shared / (shared + 2 * own)
    filled = int(np.count_nonzero(unpack(a) | unpack(b)))
    assert resemblance(a, b) == pytest.approx(exact, abs=4 * _error(exact, filled) + 1e-9)


@pytest.mark.parametrize(("shared", "own", "exact"), [(900, 50, 0.9), (100, 450, 0.1)])
def test_the_estimate_is_not_biased(shared: int, own: int, exact: float):
    # Registers that agree by chance would add 0.3 at 0.1.
    estimates = [resemblance(*_random_sets(shared, own, seed)) for seed in range(2000)]
    assert np.mean(estimates) == pytest.approx(exact, abs=4 * _error(exact, 256 * 2000))


@given(st.sets(st.integers(0, 2**64 - 1), min_size=1))
def test_identical_sets_resemble_each_other_fully(values: set[int]):
    made = sketch(np.array(sorted(values), np.uint64), REGISTERS)
    assert resemblance(made, made) == 1


@pytest.mark.parametrize("seed", range(10))
def test_disjoint_sets_hardly_resemble_each_other(seed: int):
    assert resemblance(*_random_sets(0, 1000, seed)) < 4 * _error(0, REGISTERS)


@pytest.mark.parametrize("seed", range(10))
def test_small_sets_are_nearly_exact(seed: int):
    assert resemblance(*_random_sets(3, 1, seed)) == pytest.approx(3 / 5, abs=0.15)


def test_empty_sets_share_nothing():
    empty = sketch(np.empty(0, np.uint64), REGISTERS)
    full, _ = _random_sets(100, 0, 1)
    assert empty == bytes(REGISTERS // 4)
    assert resemblance(empty, empty) == resemblance(empty, full) == resemblance(b"", b"") == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60))
def test_registers_are_compared_one_by_one(pairs: list[tuple[int, int]]):
    a, b = (pack(np.array(values, np.uint8)) for values in (zip(*pairs, strict=True) if pairs else ((), ())))
    filled, both = sum(1 for x, y in pairs if x or y), [(x, y) for x, y in pairs if x and y]
    # A third of those that differ are told to be equal.
    equal = len(both) - 1.5 * sum(1 for x, y in both if x != y)
    assert resemblance(a, b) == (max(0, equal / filled) if filled else 0)
    assert unpack(a).tolist()[: len(pairs)] == [x for x, _ in pairs]


@given(st.integers(0, 40), st.integers(0, 6), st.randoms(use_true_random=False))
def test_one_sketch_is_compared_with_many_as_with_each(registers: int, others: int, random: Random):
    one, *rest = (pack(np.array([random.randrange(4) for _ in range(registers)], np.uint8)) for _ in range(others + 1))
    if registers and rest:
        assert resemblances(one, rest).tolist() == [resemblance(one, other) for other in rest]


@pytest.mark.parametrize(("registers", "bytes_before", "exact"), [(816, 512, 0.93), (408, 256, 0.86), (102, 64, 0.9)])
def test_the_error_is_no_larger_than_that_of_a_byte_a_register(registers: int, bytes_before: int, exact: float):
    # Li and König: the share of equal registers is c + (1 - c) J, c being the chance of two different elements.
    chance = 1 / 255
    before = math.sqrt((chance + (1 - chance) * exact) * (1 - exact) / (1 - chance) / bytes_before)
    assert 0.95 * before < _error(exact, registers) < 1.001 * before


def test_sketches_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="sketches of 16 and 32 bytes"):
        resemblance(bytes(16), bytes(32))


@pytest.mark.parametrize("registers", [1, 7, 100, 256])
def test_any_number_of_registers_is_filled(registers: int):
    values = np.unique(np.random.default_rng(0).integers(0, 2**64, 5000, dtype=np.uint64))
    made = sketch(values, registers)
    assert len(made) == size_of(registers) == 2 * -(-registers // 8)
    assert [bool(value) for value in unpack(made)] == [True] * registers + [False] * (-registers % 8)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 2**32 - 1).map(lambda value: value << 32), max_size=60), st.integers(0, 40))
def test_a_register_has_a_third_of_the_low_half_of_the_smallest_hash_of_its_range(values: list[int], registers: int):
    ranges = {number: [value for value in values if (value >> 32) * registers >> 32 == number] for number in range(registers)}
    expected = pack(np.array([1 + (min(found) % 2**32 * 3 >> 32) if found else 0 for found in ranges.values()], np.uint8))
    # In any order, and repeated or not.
    assert sketch(np.array(values, np.uint64), registers) == expected
    assert sketch(np.array([*values[::-1], *values], np.uint64), registers) == expected


def test_runs_of_units_that_are_equal_have_one_shingle():
    made = _cut("a b c a b c a b c").tolist()
    assert made == [*made[:3], *made[:3], made[0]]
    assert len(set(made)) == 3


def test_the_order_of_words_counts_within_a_shingle_and_not_between_shingles():
    assert not set(_cut("one two three").tolist()) & set(_cut("three two one").tolist())
    assert set(_cut("x a b c y").tolist()) & set(_cut("z z a b c").tolist())


def test_a_text_shorter_than_a_shingle_has_none():
    assert len(_cut("one two")) == 0
    assert len(_cut("one two three")) == 1


def test_one_changed_word_changes_the_shingles_around_it_only():
    before, after = (set(_cut(f"a b c d {word} f g h i").tolist()) for word in ("e", "x"))
    assert len(before - after) == len(after - before) == 3


# ---- weighted sets

_weights = st.dictionaries(st.integers(0, 2**64 - 1), st.integers(0, 60), max_size=40)


def _weighted(weights: dict[int, int]) -> np.ndarray:
    return _of_items(list(weights.items()))


def _of_items(items: list[tuple[int, int]]) -> np.ndarray:
    # Elements are hashes: numbers that differ by the constant which tells an element's copies apart could meet.
    return weighted(hash_units((str(key) for key, _ in items), seed=0), np.array([weight for _, weight in items], np.intp))


def _part(weights: dict[int, int], registers: int = REGISTERS) -> Part:
    made = _weighted(weights)
    return Part(len(made), sketch(made, registers))


def _resemblance(a: dict[int, int], b: dict[int, int]) -> float:
    """Return the weighted Jaccard resemblance, exactly."""
    keys = a.keys() | b.keys()
    return sum(min(a.get(key, 0), b.get(key, 0)) for key in keys) / sum(max(a.get(key, 0), b.get(key, 0)) for key in keys)


@given(_weights, _weights, st.data())
def test_the_resemblance_of_weighted_sets_is_the_weighted_one(own: dict[int, int], others: dict[int, int], data: st.DataObject):
    # Some elements in both, with any weight: an element that weighs 3 here and 5 there shares 3 of 5.
    shared = {key: data.draw(st.integers(0, 60)) for key in own if data.draw(st.booleans())}
    other = others | shared
    a, b = (set(_weighted(weights).tolist()) for weights in (own, other))
    assert (len(a), len(b)) == (sum(own.values()), sum(other.values()))
    if a or b:
        assert len(a & b) / len(a | b) == _resemblance(own, other)


@given(_weights, st.randoms(use_true_random=False))
def test_weighted_hashes_are_distinct_and_the_same_in_any_order(weights: dict[int, int], random: Random):
    made = _weighted(weights)
    assert len(set(made.tolist())) == len(made)
    items = [*weights.items(), *weights.items()]
    random.shuffle(items)
    assert _of_items(items).tolist() == made.tolist()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("shared", "own"), [(60, 2), (60, 20), (20, 60)])
def test_sketches_of_weighted_sets_estimate_within_four_standard_errors(seed: int, shared: int, own: int):
    random, number = np.random.default_rng(seed), shared + 2 * own
    weights = random.integers(5, 90, number).tolist()
    elements = list(zip(random.integers(0, 2**64, number, dtype=np.uint64).tolist(), weights, strict=True))
    a, b = dict(elements[: shared + own]), dict(elements[:shared] + elements[shared + own :])
    exact = _resemblance(a, b)
    error = 4 * _error(exact, REGISTERS)
    assert resemblance(_part(a).sketch, _part(b).sketch) == pytest.approx(exact, abs=error)
    only_one = sum(weights[shared:])
    # The slope of (1 - J) / (1 + J) is below 2, and 2 / (1 + J)^2 in between.
    total = _part(a).units + _part(b).units
    assert differing(_part(a), _part(b)) == pytest.approx(only_one, abs=total * error * 2 / (1 + exact - error) ** 2)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), max_size=12))
def test_equal_sequences_have_equal_hashes_wherever_they_stand(made: list[list[int]]):
    flat = np.array([element for elements in made for element in elements], np.uint64)
    hashes = sequences(flat, np.array(list(map(len, made)), np.intp)).tolist()
    assert len(hashes) == len(made)
    assert len(set(hashes)) == len(set(map(tuple, made)))
    assert len(set(zip(hashes, map(tuple, made), strict=True))) == len(set(hashes))


def test_a_heavy_element_counts_for_what_it_weighs():
    a, b = {1: 90, **dict.fromkeys(range(2, 12), 1)}, {1: 90, **dict.fromkeys(range(12, 22), 1)}
    assert resemblance(_part(a).sketch, _part(b).sketch) == pytest.approx(90 / 110, abs=0.1)
    del a[1], b[1]
    assert resemblance(_part(a).sketch, _part(b).sketch) < 0.2


def test_parts_that_are_equal_or_empty_do_not_differ():
    a = _part({1: 30, 2: 70})
    assert a.units == 100
    assert differing(a, a) == differing(NO_PART, NO_PART) == differing(_part({}), _part({})) == 0


def test_parts_without_anything_in_common_differ_by_all_that_both_have():
    a, b = _part(dict.fromkeys(range(500), 10)), _part(dict.fromkeys(range(1000, 1300), 10))
    assert differing(a, b) == differing(b, a) == pytest.approx(8000, rel=8 * _error(0, REGISTERS))
    assert differing(a, _part({})) == 5000


def test_parts_that_differ_by_one_block_differ_by_its_units():
    rest = dict.fromkeys(range(10), 3)
    assert differing(_part(rest | {99: 12}), _part(rest)) == pytest.approx(12, abs=4)


def test_each_of_two_parts_has_its_own_units():
    rest = dict.fromkeys(range(10), 3)
    more, less = own_units(_part(rest | {99: 12}), _part(rest))
    assert more == pytest.approx(12, abs=2)
    assert less == pytest.approx(0, abs=2)
    assert own_units(_part(rest), _part({})) == (30, 0)
    assert own_units(_part({}), _part({})) == (0, 0)


@given(_weights, _weights)
def test_own_units_are_what_differs_and_never_negative(a: dict[int, int], b: dict[int, int]):
    left, right = _part(a), _part(b)
    own = own_units(left, right)
    assert min(own) >= 0
    assert own == own_units(right, left)[::-1]
    assert sum(own) >= differing(left, right) - 1e-6


def _text(units: int, seed: int) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, units, dtype=np.uint64)


def _passage(text: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    made, places = sketch_with_places(shingles(text, 5), 816)
    assert made == sketch(shingles(text, 5), 816)
    return new_passage(made, places, sketch(shingles(other, 5), 816))


@pytest.mark.parametrize("units", [200, 1_000, 4_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_new_passage_is_found_wherever_a_word_was_exchanged_in_many_others(units: int, seed: int):
    text, passage = _text(units, seed), _text(100, seed + 100)
    exchanged = text.copy()
    exchanged[:: units // 8] += np.uint64(1)
    assert _passage(exchanged, text) < 40
    assert 40 <= _passage(np.concatenate((exchanged[: units // 2], passage, exchanged[units // 2 :])), text) <= 140


def test_what_a_text_lacks_or_has_elsewhere_is_no_new_passage():
    text, passage = _text(1_000, 0), _text(100, 1)
    assert _passage(text, np.concatenate((text[:500], passage, text[500:]))) == 0
    assert _passage(np.concatenate((text[500:], text[:500])), text) < 10


def test_a_passage_needs_places_and_sketches_of_one_length():
    text, other = _text(1_000, 0), _text(1_000, 1)
    made, places = sketch_with_places(text, 816)
    assert new_passage(made, places, sketch(other, 816)) > 900
    assert [new_passage(made, cut, sketch(other, 816)) for cut in (b"", places[:-4], places[:-1])] == [0, 0, 0]
    assert new_passage(made, places, sketch(other, 400)) == 0
    assert new_passage(*sketch_with_places(text[:0], 816), sketch(other, 816)) == 0
