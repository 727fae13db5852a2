"""The text of a page as stores keep it."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, strategies as st

from simcrawl.page.kept import LONGEST, compressed, expanded


@given(st.text(st.characters()))
def test_a_text_comes_back_as_it_was(text: str):
    assert expanded(compressed(text)) == text


def test_no_more_is_kept_than_the_bound():
    assert expanded(compressed("\U00020000" * (LONGEST + 1))) == "\U00020000" * LONGEST


@pytest.mark.parametrize("data", [b"no text", zlib.compress(b"\xff\xfe")], ids=["something else", "other bytes"])
def test_what_is_no_kept_text_is_told(data: bytes):
    with pytest.raises(ValueError, match=r"no compressed text|can't decode"):
        expanded(data)


def test_what_would_become_larger_than_any_kept_text_does_not():
    assert len(expanded(zlib.compress(b"x" * 10_000_000))) == 4 * LONGEST
