"""Texts in one form, whichever way they were written, and however many marks their letters have."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from simcrawl.page import characters
from simcrawl.page.characters import composed, normalize, unified, visible

if TYPE_CHECKING:
    from collections.abc import Callable

MANY = 200_000


@given(
    st.text(
        st.characters(max_codepoint=0x2FF)
        | st.sampled_from("北，（Ａ：か゛ｶﾞ\u3099\u0301\u0338ΣςΑ…’“İﬁ①\ud800\U00020000한ᄀ")
        | st.characters()
    )
)
def test_texts_are_normalized_by_compatibility_and_case(text: str):
    assert normalize(text) == unicodedata.normalize("NFKC", visible(text)).lower()


def test_every_character_is_normalized_as_unicode_says():
    # By twos: a table of characters could miss what one does to the other.
    for first in range(0x10000):
        text = f"{chr(first)}北{chr(first)}a"
        assert normalize(text) == unicodedata.normalize("NFKC", visible(text)).lower()


@given(st.text())
def test_accents_are_put_on_their_letters(text: str):
    assert composed(text) == unicodedata.normalize("NFC", visible(text))


@pytest.mark.parametrize("make", [normalize, unified, composed])
# To put so many marks in order one by one would take minutes, and a crawl's event loop would stand still.
@pytest.mark.parametrize("marks", ["\u0301\u0323" * MANY, "\u0301" * MANY + "\u0323" * MANY, "\U0001d165\u0301" * MANY])
def test_however_many_marks_a_letter_has_that_takes_no_longer_than_other_text(make: Callable[[str], str], marks: str):
    made = make(f"a{marks}b")
    assert (made[0], made[-1]) in {("a", "b"), ("\xe1", "b"), ("\u1ea1", "b")}
    assert len(made) >= len(marks)


@given(st.lists(st.sampled_from(["a", "\u0301", "\u0323", "\u3099", "か", "\u0301\u0323" * 20]), max_size=40).map("".join))
def test_a_joiner_stands_after_each_thirty_marks_in_a_row(text: str):
    parted, marks = "", 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        parted += character + "\u034f" * (marks > 0 and marks % 30 == 0)
    assert characters._stream_safe(text) == parted
    assert unified(text) == unicodedata.normalize("NFKC", parted).lower()


def test_no_mark_is_missed():
    assert {sign for sign in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(sign)} == characters._marks()
