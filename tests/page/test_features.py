from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

import jieba
import numpy as np
import pytest
from hypothesis import given, strategies as st

import simcrawl
from simcrawl.bits import hamming_distance
from simcrawl.errors import SettingError
from simcrawl.page import features
from simcrawl.page.characters import normalize
from simcrawl.page.features import (
    Cut,
    Features,
    cut_lines,
    fingerprint_both,
    fingerprint_cut,
    fingerprint_features,
    hash_rows,
    runs,
    terms,
    units,
    words,
)
from simcrawl.page.hashing import hash_units
from simcrawl.page.simhash import round_weights
from tests.samples import FOREIGN, JAPANESE, KOREAN, THAI, chinese, english, python, shingle_units

if TYPE_CHECKING:
    from pathlib import Path

# jieba does not close its idf.txt.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*jieba:ResourceWarning")

TEXT = "自然语言处理是计算机科学领域与人工智能领域中的一个重要方向。它研究人与计算机之间用自然语言进行通信的各种方法。"
KHMER = "ព្រះរាជាណាចក្រ"


@pytest.fixture
def original() -> Any:
    """jieba's own keywords by its own global segmenter: what ours are compared with."""
    from jieba import analyse

    jieba.setLogLevel("ERROR")
    jieba.initialize()
    return analyse


# ---- which units


def test_words_are_lower_case_without_punctuation():
    assert words("Hello, World! It's 2024 — naïve café") == ["hello", "world", "it", "s", "2024", "naïve", "café"]


def test_compatibility_forms_are_one():
    assert words("Ｈｅｌｌｏ ﬁne ①") == words("hello fine 1")  # full width, a ligature, a circled digit
    assert normalize("İ") == normalize("i̇")


def test_chinese_is_cut_into_words():
    assert words("我来到北京清华大学") == ["我", "来到", "北京", "清华大学"]


def test_words_that_no_dictionary_knows_are_cut_into_characters():
    assert words("他来到了网易杭研大厦") == ["他", "来到", "了", "网易", "杭", "研", "大厦"]


@pytest.mark.parametrize("text", [JAPANESE, KOREAN, THAI, KHMER, "東京大学の図書館"])
def test_other_unspaced_scripts_are_cut_into_characters(text: str):
    assert "".join(words(text)) == re.sub("[ 。、.]", "", normalize(text))
    assert words(text) == units(text)
    assert set(map(len, words(text))) == {1}


def test_a_line_with_kana_is_japanese_and_one_without_is_chinese():
    assert words("清华大学の学生") == list("清华大学の学生")
    assert words("清华大学の\n清华大学") == [*"清华大学の", "清华大学"]


def test_mixed_scripts_are_each_cut_their_own_way():
    assert words("iPhone手机很好用2024年 서울") == ["iphone", "手机", "很", "好", "用", "2024", "年", "서", "울"]


def test_arabic_keeps_its_words():
    assert words(FOREIGN["ar"])[:3] == ["افتتحت", "المكتبة", "الجديدة"]


@pytest.mark.parametrize(
    "text",
    [
        "\u0930\u093e\u092e \u0930\u0940\u092e\u093e \u0928\u092e\u0938\u094d\u0924\u0947",  # Hindi: Ram, Rima, a greeting
        "\u0a2c\u0a3f\u0a71\u0a32\u0a40 \u0a2c\u0a4b\u0a32\u0a40",  # Punjabi
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05e9\u05dc\u05d5\u05dd",  # Hebrew, with points and without
        "\u0643\u064e\u062a\u064e\u0628\u064e \u0643\u064f\u062a\u0650\u0628\u064e",  # Arabic: he wrote, it was written
        "\u1ecd\u0300r\u1ecd\u0300 \u1ecd\u0300r\u1ecd\u0301",  # Yoruba, with tones that have no letters of their own
    ],
)
def test_marks_belong_to_the_word_that_they_stand_in(text: str):
    assert words(text) == units(text) == terms(text) == unicodedata.normalize("NFKC", text).split()
    assert len({*units(text)}) == len(text.split())


def test_marks_that_follow_no_letter_are_nothing():
    # An accent in the place of an apostrophe, a keycap, an emoji in colour, a variant of an ideograph.
    assert units("it\xb4s 1\ufe0f\u20e3 \u2764\ufe0f \u8fbb\U000e0100 \u0301\u0301a \u0e01\u0300") == [
        *("it", "s", "1", "\u2764", "\u8fbb", "a", "\u0e01")
    ]


@pytest.mark.parametrize(
    "text", ["\U0001d800\U0001d836", "\U0001d000\U0001d001", "\ue000\uf8ff", "\U000f0000\U0010fffd", "\U00040000", "\u31c0\u2e80"]
)
def test_symbols_private_and_unknown_characters_are_units_alone(text: str):
    assert units(f"a{text}b") == words(f"a{text}b") == ["a", *text, "b"]
    assert len({*terms(text)}) == 1


def test_signs_around_contents_are_none():
    signs = "\xa9\xae\u2122\xb0\u20ac\u20c1\u3012\u3013\u3020\ufffc\ufffd\ufdd0\uffff\U000e0041"
    assert units(" ".join(f"a{sign}b" for sign in signs if sign != "\u2122")) == ["a", "b"] * (len(signs) - 1)


@pytest.mark.parametrize("text", ["Donaudampfschiff und Kapit\xe4n", "caf\xe9 1", "\u1797\u17b6\u179f\u17b6", KOREAN, "a" * 200 + "\xe9"])
@pytest.mark.parametrize("sign", ["\xad", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff"])
def test_what_nobody_sees_changes_nothing(sign: str, text: str):
    seen = re.sub(r"(?<=\S)(?=\S)", sign, text)
    assert sign in seen
    assert normalize(seen) == normalize(text)
    assert Cut(seen, seed=1).features("terms").tolist() == Cut(text, seed=1).features("terms").tolist()


@given(st.integers(0, 1000))
def test_english_is_what_a_split_at_spaces_gives(seed: int):
    text = english(10, seed)
    assert words(text) == units(text) == text.lower().replace(".", "").split()


@given(st.integers(0, 5), st.text(max_size=40).filter(lambda text: len(text.splitlines()) < 2))
def test_a_change_in_one_line_does_not_change_how_another_is_cut(at: int, replacement: str):
    lines = chinese(30).splitlines()
    changed = [*lines[:at], replacement, *lines[at + 1 :]]
    kept = Counter(word for number, line in enumerate(lines) if number != at for word in words(line))
    assert Counter(words("\n".join(changed))) - Counter(words(replacement)) == kept


@pytest.mark.parametrize("character", "的中龘")
def test_a_run_of_a_hundred_thousand_characters_keeps_each_of_them(character: str):
    # 24 s in jieba when given in one piece.
    assert "".join(words(character * 100_000)) == character * 100_000


@pytest.mark.parametrize("kind", ["tfidf", "textrank"])
def test_keywords_of_an_endless_run_end(kind: str):
    assert len(Features(kind=kind, size=5).weigh("学习" * 10_000)) <= 5  # type: ignore[arg-type]  # one of the two


def test_words_our_user_teaches_jieba_change_nothing(original: Any):
    text = "清华大学的船长测量了北方的桥梁"
    before = words(text), simcrawl.fingerprint(text)
    jieba.add_word("船长测量了", 1_000_000)
    try:
        assert "船长测量了" in jieba.lcut(text)
        assert (words(text), simcrawl.fingerprint(text)) == before
    finally:
        jieba.del_word("船长测量了")


def test_no_cache_file_is_read_or_written(tmp_path: Path):
    code = """
import tempfile
tempfile.tempdir = {path!r}
import simcrawl
for kind in ("words", "tfidf", "textrank"):
    assert simcrawl.Features(kind=kind, size=3).weigh("清华大学的学生研究自然语言处理")
"""
    (tmp_path / "jieba.cache").write_bytes(b"not a dictionary")
    python(code.format(path=str(tmp_path)))
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.cache"]
    assert (tmp_path / "jieba.cache").read_bytes() == b"not a dictionary"


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


def test_keywords_are_those_of_jieba_with_its_weights(original: Any):
    for text in (TEXT, chinese(20)):
        assert list(Features(kind="tfidf", size=7).weigh(text).items()) == original.extract_tags(text, topK=7, withWeight=True)


def test_textrank_is_that_of_jieba_with_its_weights(original: Any):
    assert list(Features(kind="textrank", size=5).weigh(TEXT).items()) == original.textrank(TEXT, topK=5, withWeight=True)


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


_any_text = st.text(
    st.characters()
    | st.characters(categories=["Cs"])
    | st.sampled_from(f"aé_7 \n\r\u2028.’北京大々かナ한글ไท{KHMER}\uffff\u0338ΑΣ\U0001f600\U00020000")
    | st.sampled_from("\u0930\u093e\u0301\xad\u200b\ue000\U0001d800\U000e0100\U000f0000")
)


@given(_any_text)
def test_units_are_what_the_expression_finds(text: str):
    assert units(text) == features._UNIT.findall(normalize(text))


@given(st.text(st.sampled_from("aé_7 \n.’大学々\U00020000한ไ")))
def test_a_text_is_cut_line_by_line_whether_it_has_han_or_not(text: str):
    assert words(text) == [word for line in normalize(text).splitlines() for word in words(line)]


_lines = _any_text | st.lists(_any_text, max_size=4).map("\n".join)


@given(_lines, st.integers(0, 2))
def test_a_cut_text_has_the_hashes_of_its_units(text: str, seed: int):
    assert Cut(text, seed=seed).hashes.tolist() == hash_units(units(text), seed=seed).tolist()


@given(_lines)
def test_a_cut_text_knows_the_units_of_its_lines(text: str):
    lines = map(units, normalize(text).splitlines())
    assert Cut(text, seed=0).lengths().tolist() == [len(found) for found in lines if found]


@given(_lines | st.sampled_from(["北" * 257, "京" * 256 + "。" + "大学" * 400, f"{chinese(3)}\n{JAPANESE}\n{KOREAN} {chinese(1)}"]))
def test_a_cut_text_has_the_hashes_of_its_words(text: str):
    found = Cut(text, seed=1).features("words")
    assert sorted(found.tolist()) == sorted(hash_units(words(text), seed=1).tolist())


@given(_lines | st.sampled_from(["北" * 257, "京" * 256 + "。" + "大学" * 400, f"{chinese(3)}\n{JAPANESE}\n{KOREAN} {chinese(1)}"]))
def test_a_cut_text_has_the_hashes_of_its_terms(text: str):
    found = Cut(text, seed=1).features("terms")
    assert sorted(found.tolist()) == sorted(hash_units(terms(text), seed=1).tolist())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Words stay, 1 by 1", ["words", "stay", "1", "by", "1"]),
        ("かな漢 字", ["かな", "な漢", "字"]),
        ("한국어 수 있다", ["한국", "국어", "수", "있다"]),
        ("北京大学 한국 北", ["北京大学", "한국", "北"]),
        ("北京한국어大学", ["北京", "大学", "한국", "국어"]),
        ("か\nな北京", ["か", "な北", "北京"]),
        ("aไทb", ["a", "ไท", "b"]),
    ],
)
def test_terms_are_words_and_pairs_of_neighbours(text: str, found: list[str]):
    assert sorted(terms(text)) == sorted(found)


@given(_lines)
def test_terms_of_a_text_without_other_unspaced_scripts_are_its_words(text: str):
    others = re.sub(f"[{features._HAN}]+", "", "".join({*features._ONE_UNSPACED.findall(normalize(text))}))
    text = normalize(text).translate(dict.fromkeys(map(ord, others), " "))
    assert sorted(terms(text)) == sorted(words(text))


@given(_lines)
def test_a_cut_text_is_shingled_by_its_units_or_letters(text: str):
    assert Cut(text, seed=2).shingled().tolist() == hash_units(shingle_units(units(text)), seed=2).tolist()


@given(st.lists(_lines, min_size=1, max_size=5), st.integers(0, 2))
def test_texts_that_are_cut_in_one_go_have_their_own_lines(texts: list[str], seed: int):
    found = [(cut.hashes.tolist(), cut.lengths().tolist(), cut.lines().tolist()) for cut in cut_lines(texts, seed=seed)]
    assert found == [
        (cut.hashes.tolist(), cut.lengths().tolist(), cut.lines().tolist()) for cut in (Cut(text, seed=seed) for text in texts)
    ]


def test_symbols_are_units_of_their_own():
    assert units("♔♕ e4→e5 😀😀 ⠓⠑") == ["♔", "♕", "e4", "→", "e5", "😀", "😀", "⠓", "⠑"]
    assert simcrawl.fingerprint("♔ to move") != simcrawl.fingerprint("♕ to move") != simcrawl.fingerprint("to move")


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


@pytest.mark.parametrize("astral", ["", "\U00020000", "\U0001f600", "\U000e0100"])
def test_a_line_without_units_has_none_and_a_break_is_none(astral: str):
    text = f"\none two\n\n.\uffff!\n北京\ud800x{astral}\n"
    assert Cut(text, seed=0).lengths().tolist() == [2, len(units(f"北京x{astral}"))]
    assert len(Cut("", seed=0).lengths()) == len(Cut("", seed=0).hashes) == len(Cut("", seed=0).features("words")) == 0
    assert units("a\uffffb") == ["a", "b"]


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


@given(_lines, st.integers(0, 3))
def test_common_words_weigh_as_much_by_their_hashes_as_by_their_names(text: str, seed: int):
    spec = Features(kind="terms", common=1)
    text += " the oracle of the java ไทย かなかな of a"
    assert fingerprint_cut(Cut(text, seed=seed), spec) == fingerprint_features(spec.weigh(text), seed=seed)


@given(_lines, st.integers(0, 3), st.sampled_from(["words", "terms"]), st.sampled_from([0, 1]))
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


@given(_lines)
def test_a_cut_text_knows_which_of_its_lines_end_as_sentences(text: str):
    # Of a line that has no units nobody asks.
    for kind, cut in (("words", words), ("terms", terms)):
        expected = [word for line in normalize(text).splitlines() if not features._is_sentence(line) for word in cut(line)]
        _, loose = Cut(text, seed=0).standing(kind)  # type: ignore[arg-type]
        assert sorted(loose.tolist()) == sorted(hash_units(expected, seed=0).tolist())


@pytest.mark.parametrize("changes", [{"kind": "ngrams"}, {"stop_words": frozenset("a")}, {"weights": (("a", 2.0),)}])
def test_weights_by_prose_are_of_plain_words(changes: dict[str, Any]):
    with pytest.raises(SettingError, match="weighting 'prose-tf' is for words and terms without stop words or weights: use log-tf"):
        Features(weighting="prose-tf", **changes)


def _letters(text: str) -> list[int]:
    return list(hash_units(text, seed=0).tolist())


def test_shingles_are_of_letters_where_a_tenth_is_unspaced():
    # One character of ten letters, and one of eleven.
    assert Cut("北 abcdefghi", seed=0).shingled().tolist() == _letters("北abcdefghi")
    assert Cut("北 abcdefghij", seed=0).shingled().tolist() == hash_units(["北", "abcdefghij"], seed=0).tolist()


@pytest.mark.parametrize("character", ["北", "々", "か", "ナ", "한", "ไ", "ព", "\U00020000"])
def test_every_unspaced_script_has_shingles_of_letters(character: str):
    assert Cut(f"{character} foreign", seed=0).shingled().tolist() == _letters(f"{character}foreign")


@pytest.mark.parametrize("text", [english(5), FOREIGN["ar"], "naïve café Москва"])
def test_scripts_with_spaces_have_shingles_of_words(text: str):
    assert Cut(text, seed=0).shingled().tolist() == hash_units(units(text), seed=0).tolist() != []


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", 1),
        ("One word at a time.", 1),
        ("Ordinateurs \u00e9lectroniques", 1),
        (chinese(3), 1.5),
        (JAPANESE, 2),
        (KOREAN, 2),
        (THAI, 6),
        # Four words, and four letters that are two more.
        ("one two three four\n\uc11c\uc6b8\uc758\ub3c4", 8 / 6),
    ],
)
def test_a_text_knows_how_many_of_its_units_make_a_word(text: str, units: float):
    assert Cut(text, seed=0).units_of_a_word() == pytest.approx(units, rel=0.02)


def test_units_and_words_belong_to_the_caller():
    for cut in (units, words):
        cut("one two").append("three")
        assert cut("one two") == ["one", "two"]


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
