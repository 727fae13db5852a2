"""Lines that repeat a page's address."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcrawl.page.echoes import Echoes

WIKI = "http://w.example/doku.php?id=tools:claw_hammer&do=login&sectok="


@pytest.mark.parametrize("line", ["tools:claw_hammer", "Tools / claw-hammer", "login", "doku.php"])
def test_a_line_that_is_a_value_of_the_address_repeats_it(line: str) -> None:
    assert Echoes(WIKI, []).are(line)


@pytest.mark.parametrize("line", ["", "tools", "claw hammer", "tools:claw_hammers", "the tools:claw_hammer"])
def test_another_line_does_not(line: str) -> None:
    assert not Echoes(WIKI, []).are(line)


def test_a_value_within_a_line_is_found_word_by_word() -> None:
    echoes = Echoes(WIKI, [])
    assert echoes.are_in("tools/claw_hammer.txt · Last modified: 2026/01/14 by keeper")
    assert not echoes.are_in("logins")


def test_a_path_counts_as_a_whole_and_by_its_segments() -> None:
    echoes = Echoes("http://w.example/tools/claw%20hammer", [])
    assert echoes.are("tools:claw hammer")
    assert echoes.are("Claw hammer")


def test_what_the_page_is_called_is_no_echo() -> None:
    echoes = Echoes(WIKI, ["Login", "Handbook"])
    assert not echoes.are("login")
    assert echoes.are("tools:claw_hammer")
    assert not Echoes("http://shop.example/item?name=Claw+hammer", ["The claw hammer, 600 g", "item"])


@pytest.mark.parametrize("url", ["", "http://w.example/", "http://w.example/?p=12&q=ab", "http://[", "http://w.example/?x=" + "long" * 100])
def test_numbers_short_values_and_long_ones_do_not_count(url: str) -> None:
    assert not Echoes(url, [])


@given(st.text(), st.text())
def test_any_url_and_any_line_will_do(url: str, line: str) -> None:
    echoes = Echoes(f"http://w.example/{url}", [])
    assert echoes.are_in(line) or not echoes.are(line)
