"""What pages are called: end to end, by the verdict on two pages of one text."""

from __future__ import annotations

import pytest

import simcrawl
from simcrawl.pages import PageFingerprint
from tests.samples import english

TEXT = english(60)


def _page(heading: str, text: str, number: int) -> PageFingerprint:
    paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
    made = simcrawl.fingerprint_page(
        f"<html><head><title>Manual {heading}</title></head><body><div><h1>{heading}</h1>{paragraphs}</div></body></html>",
        url=f"http://example.org/{number}",
    )
    assert isinstance(made, PageFingerprint)
    return made


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Copying slides", "Copying slides", True),
        # Both pages speak of both.
        ("Copying slides", "Moving boats", False),
        ("Copying slides", "스라이드 복사", True),
        ("스라이드 복사", "Copying slides", True),
        # What is in two scripts may share one of them and name another thing in the other one.
        ("Copying slides", "스라이드 slides", False),
        ("스라이드 복사", "보트 이동", False),
        ("Copying slides", "2024", False),
    ],
)
def test_one_text_below_headings_in_two_scripts_is_a_translated_heading(one: str, other: str, same: bool) -> None:
    text = f"{TEXT}\nCopying slides and moving boats since 2024: 스라이드 복사, 보트 이동"
    assert simcrawl.compare(_page(one, text, 1), _page(other, text, 2)).is_near_duplicate == same


def test_another_text_below_headings_in_two_scripts_is_another_page() -> None:
    text = f"{TEXT}\nCopying slides and moving boats: 스라이드 복사, 보트 이동"
    one, other = _page("Copying slides", text, 1), _page("스라이드 복사", f"{text}, today", 2)
    assert not simcrawl.compare(one, other).is_near_duplicate
