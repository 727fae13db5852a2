from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, strategies as st

import simcrawl
from simcrawl.page import cut as cut_module
from simcrawl.page.alphabets import HAN
from simcrawl.page.characters import normalize
from simcrawl.page.cut import Cut, cut_lines, is_sentence, terms, units, words
from simcrawl.page.hashing import hash_units
from tests.page.texts import KHMER, any_text, lines
from tests.samples import FOREIGN, JAPANESE, KOREAN, THAI, chinese, english, shingle_units


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


@given(any_text)
def test_units_are_what_the_expression_finds(text: str):
    assert units(text) == cut_module._UNIT.findall(normalize(text))


@given(st.text(st.sampled_from("aé_7 \n.’大学々\U00020000한ไ")))
def test_a_text_is_cut_line_by_line_whether_it_has_han_or_not(text: str):
    assert words(text) == [word for line in normalize(text).splitlines() for word in words(line)]


@given(lines, st.integers(0, 2))
def test_a_cut_text_has_the_hashes_of_its_units(text: str, seed: int):
    assert Cut(text, seed=seed).hashes.tolist() == hash_units(units(text), seed=seed).tolist()


@given(lines)
def test_a_cut_text_knows_the_units_of_its_lines(text: str):
    lines = map(units, normalize(text).splitlines())
    assert Cut(text, seed=0).lengths().tolist() == [len(found) for found in lines if found]


@given(lines | st.sampled_from(["北" * 257, "京" * 256 + "。" + "大学" * 400, f"{chinese(3)}\n{JAPANESE}\n{KOREAN} {chinese(1)}"]))
def test_a_cut_text_has_the_hashes_of_its_words(text: str):
    found = Cut(text, seed=1).features("words")
    assert sorted(found.tolist()) == sorted(hash_units(words(text), seed=1).tolist())


@given(lines | st.sampled_from(["北" * 257, "京" * 256 + "。" + "大学" * 400, f"{chinese(3)}\n{JAPANESE}\n{KOREAN} {chinese(1)}"]))
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


@given(lines)
def test_terms_of_a_text_without_other_unspaced_scripts_are_its_words(text: str):
    others = re.sub(f"[{HAN}]+", "", "".join({*cut_module._ONE_UNSPACED.findall(normalize(text))}))
    text = normalize(text).translate(dict.fromkeys(map(ord, others), " "))
    assert sorted(terms(text)) == sorted(words(text))


@given(lines)
def test_a_cut_text_is_shingled_by_its_units_or_letters(text: str):
    assert Cut(text, seed=2).shingled().tolist() == hash_units(shingle_units(units(text)), seed=2).tolist()


@given(st.lists(lines, min_size=1, max_size=5), st.integers(0, 2))
def test_texts_that_are_cut_in_one_go_have_their_own_lines(texts: list[str], seed: int):
    found = [(cut.hashes.tolist(), cut.lengths().tolist(), cut.lines().tolist()) for cut in cut_lines(texts, seed=seed)]
    assert found == [
        (cut.hashes.tolist(), cut.lengths().tolist(), cut.lines().tolist()) for cut in (Cut(text, seed=seed) for text in texts)
    ]


def test_symbols_are_units_of_their_own():
    assert units("♔♕ e4→e5 😀😀 ⠓⠑") == ["♔", "♕", "e4", "→", "e5", "😀", "😀", "⠓", "⠑"]
    assert simcrawl.fingerprint("♔ to move") != simcrawl.fingerprint("♕ to move") != simcrawl.fingerprint("to move")


@pytest.mark.parametrize("astral", ["", "\U00020000", "\U0001f600", "\U000e0100"])
def test_a_line_without_units_has_none_and_a_break_is_none(astral: str):
    text = f"\none two\n\n.\uffff!\n北京\ud800x{astral}\n"
    assert Cut(text, seed=0).lengths().tolist() == [2, len(units(f"北京x{astral}"))]
    assert len(Cut("", seed=0).lengths()) == len(Cut("", seed=0).hashes) == len(Cut("", seed=0).features("words")) == 0
    assert units("a\uffffb") == ["a", "b"]


@given(lines)
def test_a_cut_text_knows_which_of_its_lines_end_as_sentences(text: str):
    # Of a line that has no units nobody asks.
    for kind, cut in (("words", words), ("terms", terms)):
        expected = [word for line in normalize(text).splitlines() if not is_sentence(line) for word in cut(line)]
        _, loose = Cut(text, seed=0).standing(kind)
        assert sorted(loose.tolist()) == sorted(hash_units(expected, seed=0).tolist())


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
