"""The gate of the cases: no more of them may go wrong than are known to, and what has become right leaves the list.

`python -m tests.quality.cases` shortens the lists when a change made it better.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.quality import cases
from tests.quality.cases import Case

if TYPE_CHECKING:
    from pathlib import Path

    from tests.quality.cases import Said

SETS = cases.sets()


@pytest.mark.parametrize(
    ("case", "known"),
    [
        pytest.param(case, case.name in cases.known_wrong(directory), id=f"{directory.name}-{case.name}")
        for directory in SETS
        for case in cases.read(directory)
    ],
)
def test_a_case_is_right_or_known_to_be_wrong(case: Case, known: bool) -> None:
    verdict = case.judge()
    said = "drop" if verdict.drop_page else "keep"
    assert case.is_wrong(verdict) == known, (
        f"{case.why}: expected {case.expect}, said {said}{' and its links' if verdict.drop_outlinks else ''}"
        f"{'; it has become right: run python -m tests.quality.cases' if known else ''}"
    )


@pytest.mark.parametrize("directory", SETS, ids=lambda directory: directory.name)
def test_a_set_is_whole(directory: Path) -> None:
    index = json.loads((directory / "cases.json").read_text("utf-8"))
    assert index.keys() == {page.stem for page in (directory / "pages").glob("*.html")}
    assert cases.known_wrong(directory) <= index.keys()
    assert {entry["expect"].removesuffix("?") for entry in index.values()} == {"keep", "keep-outlinks", "drop"}


def test_there_are_cases() -> None:
    assert SETS


def test_a_file_holds_both_pages() -> None:
    assert cases.split("<p>⟪one‖two⟫ and ⟪‖three\n⟫</p>") == ("<p>one and </p>", "<p>two and three\n</p>")


@pytest.mark.parametrize("text", ["<p>⟪one‖two</p>", "<p>⟪one‖⟪two‖three⟫⟫</p>", "<p>one</p>", "⟪one‖one⟫"])
def test_a_file_that_does_not_hold_two_pages_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="differ"):
        cases.split(text)


def test_the_list_shrinks_unless_told() -> None:
    assert cases.remaining({"a", "b"}, ["b", "c"]) == ["b"]
    assert cases.remaining({"a", "b"}, ["b", "c"], add=True) == ["b", "c"]


@pytest.mark.parametrize(("expect", "wrong"), [("keep", True), ("keep-outlinks", False), ("drop", False)])
def test_what_one_can_argue_about_is_never_wrong(expect: Said, wrong: bool) -> None:
    ferry = " ".join(f"On day {day} the ferry crossed the river {day + 3} times and carried {day * 7} cattle." for day in range(1, 12))
    text, urls = f"<html><body><p>{ferry}</p></body></html>", ("http://www.example.com/a", "http://www.example.com/b")
    case = Case("ferry", "short", expect, False, "", urls, (text, text + "<!-- -->"))
    assert case.is_wrong(case.judge()) == wrong
    assert not replace(case, open=True).is_wrong(case.judge())
