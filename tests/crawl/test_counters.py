"""Which fields hold a counter."""

from __future__ import annotations

from typing import Any

import pytest

from simcrawl.crawl import counters
from simcrawl.crawl.counters import Counters

USE, LATER = "spider.parse", "spider.parse_more"


def _noted(numbers: list[Any]) -> Counters:
    counters = Counters()
    for number in numbers:
        counters.note(USE, [("name", "Ann"), ("n", number)])
    return counters


@pytest.mark.parametrize("numbers", [[1, 2, 3, 4, 5, 6], [10, 20, 84, 85, 90, 154], [900, 1, 2, 3, 4, 5, 6]])
def test_what_goes_up_by_a_little_five_times_counts(numbers: list[Any]):
    counters = _noted(numbers)
    assert counters.has(USE, "n")
    assert not counters.has(USE, "name")
    assert not counters.has(LATER, "n")
    assert counters.goes_on(USE, "n", numbers[-1] + 1)
    assert not counters.goes_on(USE, "n", 1)
    assert not counters.has(USE, "n")


@pytest.mark.parametrize(
    "numbers", [[], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 5, 70], [6, 5, 4, 3, 2, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
)
def test_what_does_not_is_no_counter(numbers: list[Any]):
    assert not _noted(numbers).has(USE, "n")


def test_it_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counters, "_MOST_COUNTERS", 2)
    known = Counters()
    for number in range(5):
        known.note(USE, [(f"{number}", number)])
    assert len(known._counters) == 2
