from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simcrawl.features import hash_units
from simcrawl.sketch import resemblance, shingles, sketch

REGISTERS = 256


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
    filled = sum(1 for left, right in zip(a, b, strict=True) if left or right)
    assert resemblance(a, b) == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / filled) + 1e-9)


@pytest.mark.parametrize(("shared", "own", "exact"), [(900, 50, 0.9), (100, 450, 0.1)])
def test_the_estimate_is_not_biased(shared: int, own: int, exact: float):
    # Registers that agree by chance would add 0.0035 at 0.1.
    estimates = [resemblance(*_random_sets(shared, own, seed)) for seed in range(2000)]
    assert np.mean(estimates) == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / (256 * 2000)))


@given(st.sets(st.integers(0, 2**64 - 1), min_size=1))
def test_identical_sets_resemble_each_other_fully(values: set[int]):
    made = sketch(np.array(sorted(values), np.uint64), REGISTERS)
    assert resemblance(made, made) == 1


@pytest.mark.parametrize("seed", range(10))
def test_disjoint_sets_hardly_resemble_each_other(seed: int):
    assert resemblance(*_random_sets(0, 1000, seed)) < 4 * math.sqrt(1 / 255 / 256)


@pytest.mark.parametrize("seed", range(10))
def test_small_sets_are_nearly_exact(seed: int):
    assert resemblance(*_random_sets(3, 1, seed)) == pytest.approx(3 / 5, abs=0.15)


def test_empty_sets_share_nothing():
    empty = sketch(np.empty(0, np.uint64), REGISTERS)
    full, _ = _random_sets(100, 0, 1)
    assert empty == bytes(REGISTERS)
    assert resemblance(empty, empty) == resemblance(empty, full) == resemblance(b"", b"") == 0


def test_sketches_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="sketches of 16 and 32 registers"):
        resemblance(bytes(16), bytes(32))


@pytest.mark.parametrize("registers", [1, 7, 100, 256])
def test_any_number_of_registers_is_filled(registers: int):
    values = np.unique(np.random.default_rng(0).integers(0, 2**64, 5000, dtype=np.uint64))
    made = sketch(values, registers)
    assert len(made) == registers
    assert 0 not in made


def test_shingles_are_distinct_and_sorted():
    made = _cut("a b c a b c a b c")
    assert made.tolist() == sorted(set(made.tolist()))
    assert len(made) == len({("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")})


def test_the_order_of_words_counts_within_a_shingle_and_not_between_shingles():
    assert not set(_cut("one two three").tolist()) & set(_cut("three two one").tolist())
    assert set(_cut("x a b c y").tolist()) & set(_cut("z z a b c").tolist())


def test_a_text_shorter_than_a_shingle_has_none():
    assert len(_cut("one two")) == 0
    assert len(_cut("one two three")) == 1


def test_one_changed_word_changes_the_shingles_around_it_only():
    before, after = (set(_cut(f"a b c d {word} f g h i").tolist()) for word in ("e", "x"))
    assert len(before - after) == len(after - before) == 3
