"""Two copies of one page have to be copies of each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import simcrawl
from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.store.dropped import DroppedCopies
from tests.samples import english
from tests.strategies import page

if TYPE_CHECKING:
    import pytest

ORIGINAL = "http://a.test/"


def _url(number: int) -> str:
    return f"http://a.test/{number}"


def test_the_first_few_of_a_page_are_held():
    dropped = DroppedCopies()
    pages = [page(_url(number), number) for number in range(5)]
    assert [dropped.hold(one, ORIGINAL) for one in pages] == [True, True, True, False, False]
    assert dropped.of(ORIGINAL) == tuple(pages[:3])
    assert dropped.of(_url(0)) == ()


def test_what_a_page_says_is_not_held():
    dropped = DroppedCopies()
    dropped.hold(replace(page(_url(1), 1), text="long", content=b"long"), ORIGINAL)
    dropped.contradict(_url(2), replace(page(_url(3), 3), text="long", content=b"long"))
    assert [(one.text, one.content) for one in (*dropped.of(ORIGINAL), *dropped.of(_url(2)))] == [(None, None)] * 2


def test_one_text_is_held_once():
    dropped = DroppedCopies()
    assert dropped.hold(page(_url(1), 1, text="one"), ORIGINAL)
    assert not dropped.hold(page(_url(2), 1, text="one"), ORIGINAL)


def test_one_text_is_held_again_under_another_title():
    dropped = DroppedCopies()
    pages = [_titled(title, number) for number, title in enumerate(("Harbour", "Lighthouse", "Harbour, page 2"))]
    assert len({one.text_digest for one in pages}) == 1
    assert [dropped.hold(one, ORIGINAL) for one in pages] == [True, True, False]


def _titled(title: str, number: int) -> PageFingerprint:
    text = "".join(f"<p>{line}</p>" for line in english(20).splitlines())
    made = simcrawl.fingerprint_page(f"<html><head><title>{title}</title></head><body>{text}</body></html>", url=_url(number))
    assert isinstance(made, PageFingerprint)
    return made


def test_what_shows_the_mistake_is_held_beside_what_was_dropped():
    dropped = DroppedCopies()
    pages = [page(_url(number), number) for number in range(3)]
    for one in pages:
        dropped.hold(one, ORIGINAL)
    another = page(_url(7), 7)
    # As often as it is asked: the one who asks may have to ask again.
    assert [dropped.contradict(ORIGINAL, another) for _ in range(2)] == [[_url(0), _url(1), _url(2)]] * 2
    assert dropped.of(ORIGINAL) == (*pages, another)
    dropped.contradict(ORIGINAL, page(_url(8), 8))
    assert len(dropped.of(ORIGINAL)) == 4


def test_a_bounded_number_of_pages_have_copies(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.store.dropped._MOST_PAGES", 2)
    dropped = DroppedCopies()
    for number in range(3):
        dropped.hold(page(_url(number), number), f"http://b.test/{number}")
    assert [len(dropped.of(f"http://b.test/{number}")) for number in range(3)] == [0, 1, 1]
