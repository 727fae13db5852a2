"""The words of a text, and its digits: bytes tell what the patterns would, whatever the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from simcrawl.page.alphabets import marks
from simcrawl.page.runs import has_digit, has_run, runs

OF_PROSE = "\u2019\u2018\u201c\u201d\u2013\u2014\xa0\u2026\xab\xbb\xa9\xae\u2122\u2022\xb7"
TEXTS = st.text(st.characters(max_codepoint=0x7F) | st.sampled_from(f"{OF_PROSE}é\u0301\u093f१²北か゛ʼ\ud800") | st.characters())


@given(TEXTS)
def test_runs_are_those_of_the_pattern(text: str):
    assert runs(text) == re.findall(rf"\w[\w{marks()}]*", text)
    assert has_run(text) == bool(runs(text))


@given(TEXTS)
def test_a_digit_is_one_of_any_script(text: str):
    assert has_digit(text) == bool(re.search(r"\d", text))


@pytest.mark.parametrize("sign", OF_PROSE)
def test_quotes_and_dashes_part_words_as_any_sign_does(sign: str):
    assert runs(f"a_1{sign}b") == ["a_1", "b"] == re.findall(rf"\w[\w{marks()}]*", f"a_1{sign}b")


def test_every_ascii_character_is_in_a_run_or_parts_two():
    for code in range(128):
        assert runs(f"a{chr(code)}b") == re.findall(r"\w+", f"a{chr(code)}b")


def test_a_mark_belongs_to_the_letter_before_it():
    assert runs("हिंदी भाषा") == ["हिंदी", "भाषा"]
    assert runs("cafe\u0301s, \u0301alone") == ["cafe\u0301s", "alone"]
