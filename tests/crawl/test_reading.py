from __future__ import annotations

from decimal import Decimal

import pytest

from simcrawl.crawl.reading import as_written, digits_of, is_date, numbers_in, readable, readings, words_in


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Caf\\u00e9 &amp; Bar", "café & bar"),
        ("100%25 &eacute;t&eacute;", "100% été"),
        (r"a\/b \"c\" \x41", 'a/b "c" a'),
        (r"\ud83d\ude00", "\U0001f600"),
        ("Two\n  lines", "two lines"),
        ("&amp;#228;", "ä"),
        ("", ""),
    ],
)
def test_what_is_written_in_whatever_way_is_read_as_readers_see_it(text: str, read: str) -> None:
    assert readable(text) == read


@pytest.mark.parametrize(
    ("written", "numbers"),
    [("1.234,50", {"1234.5"}), ("1,234", {"1234", "1.234"}), ("30,50", {"30.5"}), ("0042", {"42"}), ("1 250", {"1250"}), ("12", {"12"})],
)
def test_the_numbers_that_one_may_be(written: str, numbers: set[str]) -> None:
    assert readings(written) == numbers


def test_the_numbers_in_a_text() -> None:
    assert {"1234.5", "30.5", "7"} <= numbers_in("It costs 1.234,50, or 30.50; 7 are left.")


@pytest.mark.parametrize(
    ("number", "written"), [(30.50, "30.5"), (1e3, "1000"), (Decimal("1.10"), "1.1"), (0.0, "0"), (float("nan"), ""), (1e300, "")]
)
def test_a_number_as_pages_have_it(number: float | Decimal, written: str) -> None:
    assert as_written(number) == written


@pytest.mark.parametrize(("text", "digits"), [("1 250,00", "125000"), ("+49-40/12", "494012"), ("12 kg", ""), ("", "")])
def test_the_digits_of_a_number(text: str, digits: str) -> None:
    assert digits_of(text) == digits


@pytest.mark.parametrize(
    ("text", "is_one"), [("12 May 2026", True), ("2026-05-12T09:30:00Z", True), ("12 May 2026 in Leeds", False), ("12", False)]
)
def test_a_date_says_when_and_no_more(text: str, is_one: bool) -> None:
    assert is_date(text) == is_one


def test_the_words_of_a_text_without_its_signs() -> None:
    assert words_in("red, blue_green (x-ray)") == {"red", "blue", "green", "x", "ray"}
    assert words_in("rot, grün") == {"rot", "grün"}
