"""A page in flight, and what is held of its items while they are in the pipelines."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.http import Response

from simcrawl.crawl.case import Case, bind
from simcrawl.crawl.refused import Refused
from simcrawl.crawl.session import Session
from simcrawl.rule import Kind, Verdict
from tests.crawl.test_refused import ITEM, OTHER, URL, _read


def _case() -> Case:
    return Case(Verdict(kind=Kind.ADMITTED, reason=""), kept_as=URL)


def _held_of(most: int) -> list[Any]:
    """Let items pass that nobody sees leave the pipelines, and return the numbers of those that are held."""
    case = _case()
    for number in range(most):
        case.hold({"n": number}, number)
    return [said for _, said in case.said.values()]


def test_items_that_nobody_sees_leave_the_pipelines_are_held_up_to_a_bound(monkeypatch: pytest.MonkeyPatch):
    """Those that are still there may be the first ones."""
    assert _held_of(1_000) == list(range(1_000))
    monkeypatch.setattr("simcrawl.crawl.case._MOST_HELD", 200)
    assert _held_of(1_000) == list(range(800, 1_000))


@pytest.mark.parametrize("way", ["_item_scraped", "_item_dropped", "_item_failed"])
def test_what_an_item_says_is_held_until_it_has_left_the_pipelines(way: str):
    case, item, other, known = _case(), dict(ITEM), dict(ITEM), Refused()
    request = Request(URL)
    response = Response(URL, request=request)
    bind(request, case)
    case.items_open = 2
    for one in (item, other):
        case.hold(one, known.held(_read(one), URL))
        one["price"] = "changed"
    session: Any = SimpleNamespace(
        refused=known, taken=SimpleNamespace(takes=bool, saves=lambda taken: taken), exported=SimpleNamespace(has_lost_item=bool)
    )
    session._note_left = partial(Session._note_left, session)
    arguments = {"exception": DropItem("not wanted")} if way == "_item_dropped" else {}
    getattr(Session, way)(session, item, response=response, **arguments)
    assert [held for held, _ in case.said.values()] == [other]
    # What it said before it was changed.
    assert known.take(URL, "", _read(ITEM), OTHER) == (way == "_item_dropped")
