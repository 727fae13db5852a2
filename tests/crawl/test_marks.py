"""What is written on a request while it waits, and that nothing of it stays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st
from scrapy import FormRequest, Request
from scrapy.http.request import NO_CALLBACK

from simcrawl.crawl import marks
from simcrawl.crawl.carried import CARRIED


@given(
    priority=st.integers(-50, 50),
    levels=st.lists(st.sampled_from([-10, -60, marks.HELD, marks.LAST, marks.SKIPPED]), max_size=4),
    moved=st.integers(-1, 1),
)
def test_however_often_a_request_is_put_back_it_is_made_as_it_was_yielded(priority: int, levels: list[int], moved: int) -> None:
    request = Request("http://a.test/1", priority=priority, meta={marks.ORDER: 0, "own": 1})
    marks.move(request, moved)
    for level in levels:
        assert marks.put_back(request, level) is request
        assert (request.priority, request.dont_filter) == (priority + moved + level, True)
    marks.release(request)
    assert (request.priority, request.dont_filter, request.meta) == (priority, False, {"own": 1})


@pytest.mark.parametrize("own", [True, False])
def test_what_is_wanted_after_others_has_its_own_filter_and_priority_when_it_is_made(own: bool) -> None:
    request = Request("http://a.test/logout", priority=-5, dont_filter=own)
    marks.mark_late(request)
    assert marks.put_after_all(request) is request
    assert (request.priority, request.dont_filter) == (-5 + marks.AFTER_ALL, True)
    marks.restore(request)
    assert (request.priority, request.dont_filter, request.meta) == (-5, own, {})


def test_a_request_with_the_meta_of_one_that_waits_is_as_it_was_made() -> None:
    waiting = Request("http://a.test/1", meta={marks.ORDER: 0, CARRIED: "", "own": 1})
    marks.put_back(waiting, -60)
    for made in (waiting, waiting.copy(), waiting.replace(url="http://a.test/2")):
        again = marks.unshared(made)
        assert again is not made
        assert (again.priority, again.dont_filter, again.meta) == (0, False, {"own": 1})
        assert (waiting.priority, waiting.dont_filter, waiting.meta[marks.ORDER]) == (-60, True, -60)
    borrowed = marks.unshared(Request("http://a.test/3", meta=waiting.meta, dont_filter=True, priority=5))
    assert (borrowed.priority, borrowed.dont_filter) == (5, True)


def test_a_request_that_does_not_wait_is_not_copied() -> None:
    request = Request("http://a.test/1", meta={"own": 1})
    assert marks.unshared(request) is request


class Numbered(Request):
    """Has a constructor of its own."""

    def __init__(self, number: int) -> None:
        super().__init__(f"http://a.test/{number}", meta={"own": number})


def test_a_class_with_a_constructor_of_its_own_is_copied_with_a_meta_of_its_own() -> None:
    request = Numbered(7)
    made = marks.copied(request)
    assert (type(made), made.url, made.meta) == (Numbered, request.url, {"own": 7})
    made.meta["own"] = 8
    assert request.meta == {"own": 7}


def test_what_was_handed_on_with_a_meta_is_forgotten_and_the_user_s_own_is_not() -> None:
    of_one = {marks.ORDER: -10, marks.PUT: -10, marks.LATE: [0, False], marks.BEHIND: ["parse", "http://a.test/", False], marks.ASKER: 3}
    meta = of_one | {"own": 1, "depth": 2}
    marks.forget_marks(meta)
    assert meta == {"own": 1, "depth": 2}


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://a.test/", method="HEAD"),
        Request("http://a.test/", priority=1),
        Request("http://a.test/", callback=NO_CALLBACK),
        Request("http://a.test/", meta={marks.META_KEY: False}),
        FormRequest("http://a.test/", formdata={"q": "x"}),
    ],
    ids=["HEAD", "priority", "no callback", "opted out", "form"],
)
def test_a_request_for_which_the_spider_has_wishes_is_not_plain(request_: Request) -> None:
    assert not marks.is_plain(request_, request_.meta)
    assert marks.is_plain(Request("http://a.test/", meta={marks.META_KEY: True}), {})


def test_requests_to_one_address_that_ask_for_other_things_are_told_apart() -> None:
    asked = {
        marks.asked_for(request)
        for request in (
            Request("http://a.test/search"),
            Request("http://a.test/search", method="POST", body=b"q=1"),
            Request("http://a.test/search", method="POST", body=b"q=2"),
            Request("http://a.test/search", body=b"q=2"),
        )
    }
    assert len(asked) == 4
    told_apart = [
        Request("http://a.test/search"),
        Request("http://a.test/search", cookies={"branch": "1"}),
        Request("http://a.test/search", cookies={"branch": "2"}),
        Request("http://a.test/search", meta={"cookiejar": 1}),
        Request("http://a.test/search", meta={"cookiejar": 2}),
        Request("http://a.test/search", headers={"X-Branch": "1"}),
        Request("http://a.test/search", headers={"x-branch": "2"}),
    ]
    assert len({marks.asked_for(request) for request in told_apart}) == len(told_apart)
    # Who asks, and from where, is nothing that is asked for.
    of_a_browser = {"Accept-Language": "de", "Sec-CH-UA": "one", "X-Forwarded-For": "10.0.0.1", "X-Request-ID": "7"}
    for headers in ({}, {"Referer": "http://a.test/"}, {"User-Agent": "one", "Referer": "http://a.test/"} | of_a_browser):
        assert marks.asked_for(Request("http://a.test/search", headers=headers)) == "http://a.test/search"


class Secret:
    """Does not let itself be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("nobody is to see this")


def test_a_request_that_cannot_be_told_is_like_no_other() -> None:
    requests = [Request("http://a.test/search", meta={"cookiejar": Secret()}) for _ in range(2)]
    requests += [Request("http://a.test/search", cookies={"branch": Secret()})]  # type: ignore[dict-item]  # as a spider may
    assert len({marks.asked_for(request) for request in requests}) == 3
    # So where Scrapy keeps such things elsewhere.
    without: Any = SimpleNamespace(url="http://a.test/search", method="GET", body=b"")
    assert marks.asked_for(without) not in ("http://a.test/search", marks.asked_for(without))


def test_a_start_request_is_one_only_at_depth_zero() -> None:
    meta = {"is_start_request": True}
    assert marks.is_start(Request("http://a.test/", meta=meta))
    assert not marks.is_start(Request("http://a.test/", meta=meta | {"depth": 1}))
    assert not marks.is_start(Request("http://a.test/"))
