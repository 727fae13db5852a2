from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simcrawl.bits import WIDTHS, from_hex, hamming_distance, to_hex, to_rows, words_per_fingerprint
from simcrawl.page.features import hash_rows
from simcrawl.page.simhash import pack, project, projection, simhash

FEATURES = [f"feature {number}" for number in range(50)]
weights = st.floats(0, 1e6)


def _oracle(hashes: list[int], given_weights: list[float], bits: int) -> int:
    """The definition, in integers: no numpy, no floating sums."""
    scaled = [round(Fraction(weight) * 2**16) for weight in given_weights]
    sums = (sum(w if value >> bit & 1 else -w for value, w in zip(hashes, scaled, strict=True)) for bit in range(bits))
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0)


def test_five_features_of_three_bits():
    assert simhash([0b101, 0b011, 0b100, 0b001, 0b110], [1, 2, 0, 3, 0], bits=8) == 0b001


def test_three_features_of_two_bits():
    sums = projection([0b10, 0b01, 0b11], [3, 2, 4], bits=8)
    assert sums[-2:].tolist() == [5, 3]
    assert simhash([0b10, 0b01, 0b11], [3, 2, 4], bits=8) == 0b11


def test_two_features_of_eight_bits():
    sums = projection([0b01011001, 0b11001011], [45.11, 32.09], bits=8)
    assert sums == pytest.approx([-13.02, 77.20, -77.20, 13.02, 77.20, -77.20, -13.02, 77.20], abs=2**-15)
    assert pack(sums) == 0b01011001


def test_a_tie_gives_a_zero():
    assert simhash([0b11110000, 0b00001111], [1, 1], bits=8) == 0
    assert simhash([0b11110000, 0b00011111], [2, 2], bits=8) == 0b00010000


def test_one_feature_is_its_own_fingerprint():
    assert simhash([0xDEADBEEF], [0.5]) == 0xDEADBEEF


@pytest.mark.parametrize("bits", WIDTHS)
@given(data=st.data())
def test_every_width_agrees_with_the_definition(bits: int, data: st.DataObject):
    features = data.draw(st.lists(st.tuples(st.integers(0, 2**bits - 1), weights), min_size=1, max_size=12))
    hashes, given_weights = [value for value, _ in features], [weight for _, weight in features]
    if not any(round(weight * 2**16) for weight in given_weights):
        given_weights[0] = 1.0
    assert simhash(hashes, given_weights, bits=bits) == _oracle(hashes, given_weights, bits)


@given(st.permutations(range(40)), st.lists(weights.filter(lambda weight: weight > 1), min_size=40, max_size=40))
def test_the_order_of_features_never_changes_a_bit(order: list[int], given_weights: list[float]):
    rows = hash_rows(map(str, range(40)), seed=0, bits=64)
    shuffled = [given_weights[number] for number in order]
    assert project(rows[order], shuffled).tolist() == project(rows, given_weights).tolist()


def test_sums_that_floating_point_would_get_wrong_are_exact():
    # (0.1 + 0.2) - 0.3 is not 0 in floating point, and depends on the order.
    assert simhash([0xFF, 0xFF, 0x00], [0.125, 0.25, 0.375], bits=8) == 0
    assert simhash([0xFF] * 10 + [0x00], [2**-16] * 10 + [9 * 2**-16], bits=8) == 0xFF
    assert simhash([0xFF, 0x00, 0xFF], [2.0**35, 2.0**35, 2**-16], bits=8) == 0xFF


@pytest.mark.parametrize("bits", [8, 64, 128])
def test_hashing_features_is_multiplying_with_random_vectors_of_ones_and_minus_ones(bits: int):
    rows = hash_rows(FEATURES, seed=3, bits=bits)
    vectors = np.unpackbits(rows, axis=1).astype(int) * 2 - 1
    tf = np.arange(1, len(FEATURES) + 1)
    assert vectors.shape == (len(FEATURES), bits)
    assert project(rows, tf).tolist() == (tf @ vectors).tolist()


@pytest.mark.parametrize("shared", [0, 100, 200, 300, 380])
def test_the_share_of_differing_bits_tends_to_the_angle_over_pi(shared: int):
    random = np.random.default_rng(shared)
    size, draws = 400, 40
    a, b = np.zeros(2 * size), np.zeros(2 * size)
    a[:size] = random.exponential(size=size)
    b[size - shared : 2 * size - shared] = random.exponential(size=size)
    b[size - shared : size] = a[size - shared : size]
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    differing = 0
    for _ in range(draws):
        rows = random.integers(0, 256, (2 * size, 16), dtype=np.uint8)
        differing += hamming_distance(pack(project(rows, a)), pack(project(rows, b)))
    expected, bits = math.acos(cosine) / math.pi, draws * 128
    assert differing / bits == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / bits) + 0.005)


@pytest.mark.parametrize(
    ("hashes", "given_weights", "bits", "named"),
    [
        ([], [], 64, "nothing to fingerprint"),
        ([1, 2], [0, 0], 64, "no feature has a positive weight"),
        ([1, 2], [1], 64, "2 hashes but weights of shape"),
        ([1], [-2.5], 64, r"-2\.5"),
        ([1], [math.nan], 64, "nan"),
        ([1], [math.inf], 64, "inf"),
        ([1, 1], [1e308, 1e308], 64, "inf"),
        ([1], [2.0**40], 64, r"1\.09951e\+12"),
        ([256], [1], 8, "hash 256"),
        ([-1], [1], 8, "hash -1"),
        ([1], [1], 7, "7 bits"),
        ([1], [1], 136, "136 bits"),
        ([1], [1], 0, "0 bits"),
    ],
)
def test_what_cannot_be_fingerprinted_is_refused_by_its_value(hashes: list[int], given_weights: list[float], bits: int, named: str):
    with pytest.raises(ValueError, match=named):
        simhash(hashes, given_weights, bits=bits)


@pytest.mark.parametrize(("a", "b", "distance"), [(0, 0, 0), (0b1010, 0b0110, 2), (0, 2**128 - 1, 128)])
def test_hamming_distance_counts_differing_bits(a: int, b: int, distance: int):
    assert hamming_distance(a, b) == hamming_distance(b, a) == distance


@given(st.integers(0, 2**64 - 1))
def test_hexadecimal_comes_back(fingerprint: int):
    assert len(to_hex(fingerprint)) == 16
    assert from_hex(to_hex(fingerprint)) == fingerprint


@given(st.lists(st.integers(0, 2**128 - 1)))
def test_hexadecimal_sorts_as_numbers_do(fingerprints: list[int]):
    assert sorted(to_hex(value, bits=128) for value in fingerprints) == [to_hex(value, bits=128) for value in sorted(fingerprints)]


@pytest.mark.parametrize("text", ["", "xyz", "-1", "0x1f", "1_0", " 1", "１"])
def test_text_that_is_no_hexadecimal_is_refused(text: str):
    with pytest.raises(ValueError, match=repr(text)):
        from_hex(text)


@pytest.mark.parametrize(("bits", "number"), [(8, 1), (64, 1), (72, 2), (128, 2)])
@given(data=st.data())
def test_words_hold_whole_fingerprints(bits: int, number: int, data: st.DataObject):
    fingerprints = data.draw(st.lists(st.integers(0, 2**bits - 1)))
    made = to_rows(fingerprints, bits=bits)
    assert made.shape == (len(fingerprints), number) == (len(fingerprints), words_per_fingerprint(bits))
    assert [sum(int(word) << 64 * at for at, word in enumerate(row)) for row in made] == fingerprints


def test_an_array_of_words_is_not_copied():
    array = np.arange(5, dtype=np.uint64)
    assert np.shares_memory(to_rows(array), array)
