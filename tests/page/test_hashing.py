from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simcrawl.bits import mix
from simcrawl.page import hashing
from simcrawl.page.features import hash_rows
from simcrawl.page.hashing import MARGIN, hash_numbered, hash_runs, hash_short, hash_successive, hash_units

GOLDEN = 0x9E3779B97F4A7C15
MODULUS = 2**64

seeds = st.integers(0, MODULUS - 1)
# Around eight bytes, and long enough for more keys than are kept.
any_units = st.lists(st.text(max_size=20) | st.text(st.sampled_from("aé北\0\ud800\U0001f600"), min_size=6, max_size=9), max_size=30)


def _finalised(x: int) -> int:
    """SplitMix64's finaliser, as it is published."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % MODULUS
    x = (x ^ x >> 27) * 0x94D049BB133111EB % MODULUS
    return x ^ x >> 31


def _hashed(unit: str, seed: int) -> int:
    """The definition, in integers, chunk by chunk."""
    data = unit.encode("utf-8", "surrogatepass")
    chunks = [data[start : start + 8].ljust(8, b"\xff") for start in range(0, len(data) + 1, 8)]
    keys = [_finalised((seed + (number + 1) * GOLDEN) % MODULUS) for number in range(len(chunks))]
    return sum(_finalised(int.from_bytes(chunk, "little") ^ key) for chunk, key in zip(chunks, keys, strict=True)) % MODULUS


def test_the_mix_is_that_of_splitmix64():
    # The first numbers that its authors' program gives for the seed 1234567.
    state = np.uint64(1234567) + np.arange(1, 4, dtype=np.uint64) * np.uint64(GOLDEN)
    mix(state)
    assert state.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(any_units, seeds)
def test_units_have_the_hashes_of_their_definition(units: list[str], seed: int):
    expected = [_hashed(unit, seed) for unit in units]
    assert hash_units(units, seed=seed).tolist() == expected
    assert [int.from_bytes(row.tobytes(), "big") for row in hash_rows(units, seed=seed, bits=64)] == expected


@given(st.lists(st.binary(min_size=3, max_size=3)), seeds)
def test_short_runs_given_as_numbers_have_them(runs: list[bytes], seed: int):
    numbers = np.array([int.from_bytes(run, "little") for run in runs], np.uint64)
    data = np.frombuffer(b"".join(runs) + bytes(MARGIN), np.uint8)
    lengths = np.full(len(runs), 3)
    assert hash_short(numbers, 3, seed=seed).tolist() == hash_runs(data, np.arange(len(runs)) * 3, lengths, seed=seed).tolist()


@pytest.mark.parametrize("length", [7, 8, 9, 8191, 8192, 8193, 20_000])
def test_units_of_any_length_have_them(length: int):
    units = ["x" * length, "short", "y" * length]
    assert hash_units(units, seed=9).tolist() == [_hashed(unit, 9) for unit in units]


@given(any_units, st.binary(max_size=20), seeds)
def test_what_stands_between_runs_does_not_matter(units: list[str], between: bytes, seed: int):
    encoded = [unit.encode("utf-8", "surrogatepass") for unit in units]
    starts = [between + unit for unit in encoded]
    places = [end - len(unit) for end, unit in zip(accumulate(map(len, starts)), encoded, strict=True)]
    data = np.frombuffer(b"".join(starts) + (between * MARGIN or b"x" * MARGIN)[:MARGIN].ljust(MARGIN), np.uint8)
    found = hash_runs(data, np.array(places, np.intp), np.array(list(map(len, encoded)), np.intp), seed=seed)
    assert found.tolist() == hash_units(units, seed=seed).tolist()


def test_units_that_differ_have_different_hashes():
    units = [
        "",
        "\0",
        "\0\0",
        "a",
        "a\0",
        "a\0\0",
        *("b" * number for number in range(1, 100)),
        *("b" * number + "\0" for number in range(1, 100)),
    ]
    # Eight bytes here and there, in another order, and under another number.
    units += ["12345678abcdefgh", "abcdefgh12345678", "12345678", "abcdefgh", "12345678" * 2, "abcdefgh" * 2, "12345678abcdefgh" * 2]
    units += ["k" * 600 + "12345678abcdefgh", "12345678" + "k" * 600 + "abcdefgh", "abcdefgh" + "k" * 600 + "12345678"]
    assert len(set(hash_units(units, seed=0).tolist())) == len(set(units)) == len(units)


def test_every_bit_of_a_unit_and_of_the_seed_moves_half_of_the_bits():
    unit, size = "abcdefghijkl", 12
    start = _bits(hash_units([unit], seed=5))
    changed = [unit[:at] + chr(ord(unit[at]) ^ 1 << bit) + unit[at + 1 :] for at in range(size) for bit in range(7)]
    moved = np.array([_bits(hash_units([other], seed=5)) != start for other in changed])
    by_seed = np.array([_bits(hash_units([unit], seed=5 ^ 1 << bit)) != start for bit in range(64)])
    for flips in (moved, by_seed):
        # Four standard errors of the mean, and for each bit of the hash; five for the one of 64 that strays most.
        assert abs(flips.mean() - 0.5) < 4 * 0.5 / flips.size**0.5
        assert abs(flips.mean(axis=0) - 0.5).max() < 5 * 0.5 / len(flips) ** 0.5


def _bits(hashes: np.ndarray) -> np.ndarray:
    return np.unpackbits(hashes.view(np.uint8))


def test_few_keys_are_kept():
    hash_units(["x" * 200_000], seed=1)
    for seed in range(20):
        hash_units(["x"], seed=seed)
    assert hashing._keys.cache_info().currsize <= 4


_lists = st.lists(st.lists(st.integers(0, MODULUS - 1), max_size=6), max_size=10)


@given(_lists)
def test_numbered_hashes_are_those_of_their_definition(runs: list[list[int]]):
    flat = np.array([value for run in runs for value in run], np.uint64)
    expected = [_finalised((value + number * GOLDEN) % MODULUS) for run in runs for number, value in enumerate(run, 1)]
    assert hash_numbered(flat, np.array(list(map(len, runs)), np.intp)).tolist() == expected


@given(st.lists(st.integers(0, MODULUS - 1), max_size=12), st.integers(1, 9))
def test_successive_hashes_are_those_of_their_definition(values: list[int], size: int):
    runs = [values[start : start + size] for start in range(len(values) - size + 1)]
    expected = [sum(value * GOLDEN ** (size - 1 - at) for at, value in enumerate(run)) % MODULUS for run in runs]
    assert hash_successive(np.array(values, np.uint64), size).tolist() == expected
