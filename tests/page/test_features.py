from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import simcrawl
from simcrawl.bits import hamming_distance
from simcrawl.errors import SettingError
from simcrawl.page.cut import Cut
from simcrawl.page.features import Features, fingerprint_both, fingerprint_cut, fingerprint_features, hash_rows, runs
from simcrawl.page.hashing import hash_units
from simcrawl.page.simhash import round_weights
from tests.page.texts import lines
from tests.samples import FOREIGN, JAPANESE, KOREAN, chinese, english, python

# jieba does not close its idf.txt.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*jieba:ResourceWarning")

TEXT = "自然语言处理是计算机科学领域与人工智能领域中的一个重要方向。它研究人与计算机之间用自然语言进行通信的各种方法。"


# ---- which features, and their weights
def test_words_are_the_default():
    assert Features().weigh("a b a") == {"a": 1 + math.log(2), "b": 1}


@pytest.mark.parametrize(("weighting", "weight"), [("unit", 1), ("tf", 3), ("log-tf", 1 + math.log(3))])
def test_weightings_of_a_word_that_occurs_three_times(weighting: str, weight: float):
    assert Features(weighting=weighting).weigh("x y x x") == {"x": weight, "y": 1}  # type: ignore[arg-type]  # one of the three


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_ngrams_are_the_runs_of_words_in_order(size: int):
    text = "a b c d e f"
    made = Features(kind="ngrams", size=size, weighting="tf").weigh(text)
    assert list(made) == runs(text.split(), size)
    assert len(made) == 6 - size + 1


def test_ngrams_tell_the_order_of_words_and_words_do_not():
    before, after = "the dog bit the man", "the man bit the dog"
    bigrams = Features(kind="ngrams", size=2)
    assert Features().weigh(before) == Features().weigh(after)
    assert bigrams.weigh(before) != bigrams.weigh(after)
    assert fingerprint_features(bigrams.weigh(before)) != fingerprint_features(bigrams.weigh(after))


def test_ngrams_do_not_confuse_where_one_word_ends():
    pairs = Features(kind="ngrams", size=2)
    assert set(pairs.weigh("ab c")).isdisjoint(pairs.weigh("a bc"))


def test_characters_are_runs_of_letters_across_spaces():
    assert Features(kind="characters", size=3, weighting="tf").weigh("Ab, cab c") == {"abc": 2, "bca": 1, "cab": 1}
    assert Features(kind="characters", size=2, weighting="tf").weigh("清华大学") == {"清华": 1, "华大": 1, "大学": 1}


@pytest.mark.parametrize("kind", ["tfidf", "textrank"])
def test_a_stop_word_gives_its_place_to_the_next_keyword(kind: str):
    plain = Features(kind=kind, size=5)  # type: ignore[arg-type]  # one of the two
    best = list(plain.weigh(TEXT))
    kept = Features(kind=kind, size=4, stop_words=frozenset(best[:1])).weigh(TEXT)  # type: ignore[arg-type]  # as above
    assert list(kept) == best[1:]


def test_stop_words_are_left_out_before_ngrams_are_made():
    spec = Features(kind="ngrams", size=2, stop_words=frozenset({"the"}))
    assert list(spec.weigh("the cat the sat")) == runs(["cat", "sat"], 2)


def test_weights_of_the_user_multiply():
    spec = Features(weighting="tf", weights=(("a", 10), ("b", 0), ("absent", 5)))
    assert spec.weigh("a a b c") == {"a": 20, "b": 0, "c": 1}


def test_a_weight_of_the_user_moves_the_fingerprint_towards_the_feature():
    heavy = Features(weights=(("harbour", 1000.0),))
    assert fingerprint_features(heavy.weigh(english())) == fingerprint_features({"harbour": 1})
    assert fingerprint_features(Features().weigh(english())) != fingerprint_features({"harbour": 1})


def test_tags_are_taken_as_they_stand():
    assert Features(kind="tags", weighting="tf").weigh("html html/body html/body/p html/body/p") == {
        "html": 1,
        "html/body": 1,
        "html/body/p": 2,
    }


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"kind": "letters"}, "'letters'"),
        ({"weighting": "idf"}, "'idf'"),
        ({"common": 2}, "table 2"),
        ({"size": 0}, "got 0"),
        ({"weights": (("a", -1.5),)}, r"'a'.*-1\.5"),
        ({"weights": (("a", math.nan),)}, "'a'.*nan"),
        ({"weights": (("a", math.inf),)}, "'a'.*inf"),
    ],
)
def test_features_that_cannot_work_are_refused_by_their_value(wrong: dict[str, Any], named: str):
    with pytest.raises(SettingError, match=named):
        Features(**wrong)


# ---- hashes and fingerprints
def test_a_text_without_features_has_no_fingerprint():
    for text in ("", " \n\t", "...!?", "\x00"):
        with pytest.raises(ValueError, match="nothing to fingerprint"):
            simcrawl.fingerprint(text)


def test_features_that_all_weigh_nothing_have_no_fingerprint():
    with pytest.raises(ValueError, match="no feature has a positive weight"):
        fingerprint_features({"a": 0, "b": 0})


@pytest.mark.parametrize("kind", ["words", "ngrams", "characters", "tfidf", "textrank", "tags"])
def test_lone_surrogates_hash_like_any_other_character(kind: str):
    spec = Features(kind=kind, size=1)  # type: ignore[arg-type]  # one of them
    weighed = spec.weigh("broken \ud800 half\udfff word 北京\ud800大学")
    assert 0 <= fingerprint_features(weighed | {"\ud800": 1.0}) < 2**64


def test_seeds_change_hashes_and_fingerprints():
    assert hash_rows(["a"], seed=0, bits=64).tolist() != hash_rows(["a"], seed=1, bits=64).tolist()
    assert hash_units(["a"], seed=0) != hash_units(["a"], seed=1)
    apart = [hamming_distance(simcrawl.fingerprint(english(), seed=0), simcrawl.fingerprint(english(), seed=seed)) for seed in range(1, 9)]
    assert all(15 < distance < 50 for distance in apart)


@pytest.mark.parametrize("bits", range(8, 129, 8))
def test_every_width_has_hashes_of_its_own_width(bits: int):
    rows = hash_rows(["a", "b", "c"], seed=2**64 - 1, bits=bits)
    assert rows.shape == (3, bits // 8)
    assert len(np.unique(rows, axis=0)) == 3


def test_hashes_of_units_keep_their_order_and_number():
    made = hash_units(["b", "a", "b"], seed=5)
    assert made[0] == made[2] != made[1]
    assert len(hash_units([], seed=5)) == 0


@given(st.floats(0, 1))
def test_a_fingerprint_of_two_texts_lies_between_those_of_each(share: float):
    own, whole = (Cut(english(30, seed), seed=0) for seed in (1, 2))
    ends = [fingerprint_cut(cut, Features()) for cut in (own, whole)]
    made = fingerprint_both(own, whole, Features(), share=share)
    assert isinstance(made, int)
    assert isinstance(ends[0], int)
    assert isinstance(ends[1], int)
    # Where both have one bit it stays.
    assert not (made ^ ends[0]) & ~(ends[0] ^ ends[1])
    assert fingerprint_both(own, whole, Features(), share=0.0) == fingerprint_both(own, own, Features(), share=share) == ends[0]
    assert fingerprint_both(own, whole, Features(), share=1.0) == ends[1] != ends[0]
    assert fingerprint_both(own, Cut("", seed=0), Features(), share=share) == ends[0]


@given(
    st.lists(st.sampled_from(["a", "b", "c", "北京"]), min_size=1), st.sampled_from(["unit", "tf", "log-tf"]), st.sampled_from([8, 40, 64])
)
def test_fingerprints_of_hashes_are_those_of_the_features(found: list[str], weighting: Any, bits: int):
    spec = Features(weighting=weighting)
    expected = fingerprint_features(spec.count(found), seed=3, bits=bits)
    assert fingerprint_cut(Cut(" ".join(found), seed=3), spec, bits=bits) == expected


def test_hashes_weigh_what_their_features_weigh():
    counts = [1, 2, 3, 7, 1000, 65537]
    weighed = Features().count(str(tf) for tf in counts for _ in range(tf))
    _, weights = Features().weigh_hashes(np.repeat(np.arange(len(counts), dtype=np.uint64), counts))
    assert weights.tolist() == round_weights(list(weighed.values())).tolist()


@given(lines, st.integers(0, 3))
def test_common_words_weigh_as_much_by_their_hashes_as_by_their_names(text: str, seed: int):
    spec = Features(kind="terms", common=1)
    text += " the oracle of the java ไทย かなかな of a"
    assert fingerprint_cut(Cut(text, seed=seed), spec) == fingerprint_features(spec.weigh(text), seed=seed)


@given(lines, st.integers(0, 3), st.sampled_from(["words", "terms"]), st.sampled_from([0, 1]))
def test_words_weigh_by_where_they_stand_as_much_by_their_hashes_as_by_their_names(text: str, seed: int, kind: Any, common: int):
    spec = Features(kind=kind, weighting="prose-tf", common=common)
    text += " the oracle of the java ไทย かなかな of a"
    assert fingerprint_cut(Cut(text, seed=seed), spec) == fingerprint_features(spec.weigh(text), seed=seed)


def test_what_stands_once_and_not_in_a_sentence_weighs_half():
    text = "About us\nThe tide told us (so).\nRead more about tides!?»\n目录\n潮汐来了。\nかな"
    weighed = Features(kind="terms", weighting="prose-tf").weigh(text)
    assert {term for term, weight in weighed.items() if weight == 0.5} == {"目录", "かな"}
    assert weighed["about"] == weighed["us"] == pytest.approx(1 + math.log(2))
    assert weighed["tide"] == weighed["tides"] == weighed["来"] == 1


@pytest.mark.parametrize("changes", [{"kind": "ngrams"}, {"stop_words": frozenset("a")}, {"weights": (("a", 2.0),)}])
def test_weights_by_prose_are_of_plain_words(changes: dict[str, Any]):
    with pytest.raises(SettingError, match="weighting 'prose-tf' is for words and terms without stop words or weights: use log-tf"):
        Features(weighting="prose-tf", **changes)


def test_like_texts_have_like_fingerprints():
    for text in (english(40), chinese(40)):
        start = simcrawl.fingerprint(text)
        assert hamming_distance(start, simcrawl.fingerprint(text + " a few words more")) < 8
        assert hamming_distance(start, simcrawl.fingerprint(text[::-1])) > 16


def test_fingerprints_and_identities_are_the_same_in_every_process():
    code = """
import simcrawl
from simcrawl.page.features import Features, fingerprint_features
recipe = simcrawl.Recipe("own", 2, Features(stop_words=frozenset("the a of and".split()), weights=(("a", 2.0), ("b", 3.0))))
kinds = [fingerprint_features(Features(kind=kind, size=3).weigh({text!r})) for kind in ("words", "ngrams", "tfidf")]
print(recipe.identity, kinds, simcrawl.fingerprint({text!r}, recipe=recipe, seed=7))
"""
    code = code.format(text=f"{TEXT} the cat and a dog of {KOREAN}")
    assert len({python(code, PYTHONHASHSEED=seed) for seed in ("1", "4711")}) == 1


def test_a_fingerprint_of_today_is_the_one_of_yesterday():
    # Stores hold fingerprints for years. Where these change, the recipe's version must.
    assert f"{simcrawl.fingerprint('the quick brown fox jumps over the lazy dog', recipe='content'):016x}" == "3b88d04c6bd1ca4a"
    assert f"{simcrawl.fingerprint(TEXT, recipe='content'):016x}" == "80306a4d281a3137"
    assert f"{simcrawl.fingerprint(TEXT, recipe='manku2007', seed=1):016x}" == "15e0240c0875fa5e"
    mixed = "\n".join((TEXT, JAPANESE, KOREAN, *FOREIGN.values()))
    assert f"{simcrawl.fingerprint(TEXT, recipe='terms'):016x}" == "253ae37d2c5b3317"
    assert f"{simcrawl.fingerprint(mixed, recipe='terms', seed=1):016x}" == "d902d5a740951555"
    assert f"{simcrawl.fingerprint(english(), recipe='terms'):016x}" == "a85a1f6024fde4ca"
