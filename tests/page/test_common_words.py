from __future__ import annotations

import math
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.quality import common_words as made
from simcrawl.page.common_words import LEVELS, PATH, factors, factors_of
from simcrawl.page.cut import terms
from simcrawl.page.features import Features
from simcrawl.page.hashing import hash_units
from tests.samples import FOREIGN, JAPANESE, KOREAN, THAI, chinese, english

if TYPE_CHECKING:
    from pathlib import Path


def test_the_table_of_a_version_never_changes():
    # Stores hold fingerprints for years. Another table needs another number, and the recipes another version.
    assert sha256(PATH.read_bytes()).hexdigest() == "00b8fa7e4684f7cbb9fd62ed1bbd0230b0bc9dd5df5ab313ca08943abf0fa452"


def test_a_common_word_weighs_less_than_others_and_more_than_nothing():
    assert all(0 < factor < 1 and factor * LEVELS == int(factor * LEVELS) for factor in factors().values())
    assert factors()["the"] < factors()["because"] < 1


@pytest.mark.parametrize("text", [english(20), chinese(5), JAPANESE, KOREAN, THAI, FOREIGN["ar"]], ids=["en", "zh", "ja", "ko", "th", "ar"])
def test_every_language_of_the_gate_has_common_words(text: str):
    found = set(terms(text))
    assert len(found & factors().keys()) > len(found) / 5


def test_words_are_written_as_features_are():
    # A pair of kanji is Japanese beside kana only.
    wrong = [word for word in factors() if terms(word) != [word] and word not in terms(f"の{word}")]
    assert not wrong


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_factors_are_found_by_the_hashes_of_any_seed(seed: int):
    words = ["the", "zyzzyva", "的", "of", "です", "xylographer"]
    hashes = hash_units(words, seed=seed)
    order = np.argsort(hashes)
    found = factors_of(hashes[order], seed=seed)
    assert found.tolist() == [factors().get(words[place], 1.0) for place in order]
    assert factors_of(np.empty(0, np.uint64), seed=seed).tolist() == []


def test_user_weights_multiply_those_of_common_words():
    weighed = Features(kind="terms", common=1, weights=(("the", 2.0),)).weigh("the zyzzyva")
    assert weighed == {"the": 2 * factors()["the"], "zyzzyva": 1}


# ---- how it was made


def test_words_weigh_by_their_greatest_frequency_of_any_group():
    levels = made.levels([{"a": 0.9, "b": made.EDGE * 1.01, "c": 0.2}, {"c": 0.5}])
    assert levels == {"a": 1, "c": round(LEVELS * math.log(2) / math.log(1 / made.EDGE))}


def test_no_group_has_more_words_than_it_may():
    frequency = {str(number): 0.5 for number in range(made.LARGEST + 1)} | {"rare": made.EDGE, "commonest": 0.9}
    chosen = made.common(frequency)
    assert len(chosen) == made.LARGEST
    assert "commonest" in chosen
    assert "rare" not in chosen


def test_what_is_packed_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    path = tmp_path / "words.z"
    path.write_bytes(made.packed({"b": 1, "a": 1, "の中": 15}))
    monkeypatch.setattr("simcrawl.page.common_words.PATH", path)
    assert factors.__wrapped__() == {"a": 1 / LEVELS, "b": 1 / LEVELS, "の中": 15 / LEVELS}
