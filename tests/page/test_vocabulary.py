from __future__ import annotations

import re

import pytest

from simcrawl.page.common_words import factors
from simcrawl.page.vocabulary import PATH, pattern, words

KINDS = re.findall(r"^\[(.*)\]$", PATH.read_text("utf-8"), re.MULTILINE)


def test_there_are_kinds():
    assert {"months", "days", "seasons", "renewed", "last", "made", "made if alone"} == {*KINDS}
    with pytest.raises(KeyError, match="weeks"):
        words("weeks")


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_in_lower_case_and_say_nothing_twice(kind: str):
    found = words(kind)
    assert found
    assert all(word == word.lower().strip() and word for word in found)
    lines = [line for line in PATH.read_text("utf-8").splitlines() if line and line[0] not in "#["]
    assert all(re.fullmatch(r"[a-z]{2}  [^,]+(?:, [^,]+)*", line) for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_each_word_is_found_as_a_whole_and_in_no_other_word(kind: str):
    found = re.compile(pattern(kind), re.IGNORECASE)
    for word in words(kind):
        assert found.fullmatch(word)
        assert found.search(f"- {word.upper()} -")
        if word.isascii():
            assert not found.fullmatch(f"{word}x")


def test_no_common_word_is_a_month_or_a_day_but_these():
    found = re.compile(pattern("months", "days"), re.IGNORECASE)
    assert sorted(word for word in factors() if found.search(word)) == ["marca", "may", "nov"]
