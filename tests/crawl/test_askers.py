"""Which callbacks may be waiting for what they have asked for."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy import Request
from scrapy.http import Response

from simcrawl.crawl.askers import Askers
from simcrawl.crawl.marks import ASKER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.crawler import Crawler


async def _awaits(_: Response) -> AsyncIterator[str]:
    yield "one"
    yield "two"


def _yields(_: Response) -> Iterator[str]:
    yield "one"


async def _returns(_: Response) -> list[str]:
    return ["one"]


async def _given() -> AsyncIterator[str]:
    yield "one"
    yield "two"


def _askers(parse: Callable[..., Any] | None = None) -> Askers:
    return Askers(cast("Crawler", SimpleNamespace(spider=SimpleNamespace(parse=parse))))


def _response(callback: Callable[..., Any] | None, **meta: Any) -> Response:
    return Response("http://a.test/", request=Request("http://a.test/", callback=callback, meta=meta))


def _asked_by(number: int) -> Request:
    return Request("http://a.test/asked", meta={ASKER: number})


def test_what_an_asynchronous_generator_has_asked_for_is_waited_for_until_it_ends() -> None:
    askers = _askers()
    number, result = askers.watched(_response(_awaits), _given(), may_begin=True)

    async def run() -> list[tuple[str, bool]]:
        return [(entry, askers.are_waiting_for(_asked_by(number))) async for entry in result]

    assert not askers.are_waiting_for(_asked_by(number))
    assert asyncio.run(run()) == [("one", True), ("two", True)]
    assert not askers.are_waiting_for(_asked_by(number))


@pytest.mark.parametrize("callback", [_returns, None], ids=["coroutine", "the spider's own"])
def test_what_another_callback_has_asked_for_is_waited_for_while_it_gives_nothing(callback: Callable[..., Any] | None) -> None:
    askers = _askers(_returns)
    seen = []

    async def given() -> AsyncIterator[str]:
        seen.append(askers.are_waiting_for(_asked_by(number)))
        yield "one"
        seen.append(askers.are_waiting_for(_asked_by(number)))

    async def run() -> list[tuple[str, bool]]:
        return [(entry, askers.are_waiting_for(_asked_by(number))) async for entry in result]

    number, result = askers.watched(_response(callback), given(), may_begin=True)
    assert number
    assert asyncio.run(run()) == [("one", False)]
    assert seen == [True, True]
    assert not askers.are_waiting_for(_asked_by(number))


@pytest.mark.parametrize(("callback", "may_begin"), [(_yields, True), (_awaits, False)], ids=["generator", "where nothing waits"])
def test_who_cannot_wait_has_no_number(callback: Callable[..., Any], may_begin: bool) -> None:
    result = _given()
    assert _askers().watched(_response(callback), result, may_begin=may_begin) == (0, result)


def test_a_callback_has_its_own_number_and_a_callback_that_ended_with_a_fault_waits_no_more() -> None:
    askers = _askers()

    async def fails() -> AsyncIterator[str]:
        yield "one"
        raise ValueError("of the callback")

    async def run() -> None:
        async for _ in result:
            pass

    number, result = askers.watched(_response(_awaits), fails(), may_begin=True)
    other, _ = askers.watched(_response(_awaits), _given(), may_begin=True)
    assert number != other
    with pytest.raises(ValueError, match="of the callback"):
        asyncio.run(run())
    assert not askers.are_waiting_for(_asked_by(number))


def test_what_comes_of_a_request_that_is_waited_for_is_waited_for_as_well() -> None:
    askers = _askers()
    number, result = askers.watched(_response(_awaits), _given(), may_begin=True)
    asked, inner = _response(_yields, **{ASKER: number}), _given()

    async def run() -> tuple[int, AsyncIterator[Any]]:
        await anext(result)
        assert asked.request
        askers.called(asked.request)
        return askers.watched(asked, inner, may_begin=True)

    assert asyncio.run(run()) == (number, inner)
    assert asked.request
    assert ASKER not in asked.request.meta


def test_a_number_of_a_callback_that_has_ended_is_nobody_s() -> None:
    askers = _askers()
    asked, inner = _response(_yields, **{ASKER: 7}), _given()
    assert asked.request
    askers.called(asked.request)
    assert askers.watched(asked, inner, may_begin=True) == (0, inner)
