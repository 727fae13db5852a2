from __future__ import annotations

import re

import pytest

from simcrawl.page.common_words import factors
from simcrawl.page.vocabulary import PATH, alternatives, pattern, words

KINDS = re.findall(r"^\[(.*)\]$", PATH.read_text("utf-8"), re.MULTILINE)


def test_there_are_kinds():
    assert {"months", "days", "renewed", "made if alone", "views", "of a list", "rooms", "leads on", "languages"} < {*KINDS}
    assert len({*KINDS}) == len(KINDS)
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


@pytest.mark.parametrize("kind", KINDS)
def test_alternatives_are_the_words_and_nothing_else(kind: str):
    found = re.compile(alternatives(kind), re.IGNORECASE)
    assert all(found.fullmatch(word) for word in words(kind))
    assert [word for word in factors() if found.fullmatch(word) and word not in words(kind)] == []


# Han words that stand within longer ones: those of these kinds only count beside a number, or a date.
BESIDE_NUMBERS = {"goes on", "sheets", "pieces", "units", "times", "until", "reads", "reading", "page of a list", "particles"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_common_word_counts_but_those_in_the_list(kind: str):
    """A stem would count in other words as well: "print" in "printmaking"."""
    found = re.compile(pattern(kind), re.IGNORECASE)
    others = [word for word in factors() if found.search(word) and word not in words(kind)]
    unspaced = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
    assert [word for word in others if not unspaced.search(word)] == []
    assert bool(others) == (kind in BESIDE_NUMBERS)


def test_spaces_within_words_may_be_any():
    assert re.fullmatch(pattern("lives"), "n\xe9e \n le")


def test_kinds_that_have_no_spaced_words_match_nothing_else():
    assert re.findall(pattern("sheets"), "12 \u9875, boats") == ["\u9875"]


def test_no_common_word_is_a_month_or_a_day_but_these():
    found = re.compile(pattern("months", "days"), re.IGNORECASE)
    assert sorted(word for word in factors() if found.search(word)) == ["marca", "may", "nov"]
