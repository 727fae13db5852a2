"""Damaged and hostile input, within bounds of time and memory. More: `python -m benchmarks.fuzz`."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import fuzz

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_mutated_pages_corpora_and_tables_end_as_they_should():
    results = fuzz.fuzz(6, seed=11)
    assert len(results) == 7
    assert [failure for result in results.values() for failure in result.failures] == []
    assert {result.ends.total() for result in results.values()} == {6}


def _raise(*_: object) -> str:
    raise ValueError("no error of ours")


def _say(*_: object) -> str:
    print("Error: one\nError: two", file=sys.stderr)
    return "said"


def _grow(*_: object) -> str:
    return str(len(b"x" * (fuzz.MOST_BYTES + 100_000_000)))


def _work(*_: object) -> str:
    return str(sum(number * number for number in range(300_000)))


def _end(*_: object) -> str:
    os.kill(os.getpid(), signal.SIGSEGV)
    return ""


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (_raise, "ValueError: no error of ours"),
        (_say, "it said"),
        (_grow, r"it took .* MB"),
        (_work, r"it took .* s and"),
        (_end, "ended with -11"),
        (lambda *_: "fine", None),
    ],
)
def test_each_bound_can_fail(read: Callable[[bytes, Path], str], why: str | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.0 if read is _work else fuzz.MOST_SECONDS)
    failure = fuzz.fed(b"", read, fuzz.Result())
    assert (failure is None) if why is None else re.search(why, failure or "")
