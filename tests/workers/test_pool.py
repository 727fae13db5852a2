from __future__ import annotations

import os
import signal
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any

import simcrawl
from simcrawl.errors import WorkerError
from simcrawl.page.fingerprint import Reason
from simcrawl.page.recipes import resolve
from simcrawl.workers.pool import PagePool, RawPage, SupervisedProcess, TextPool
from simcrawl.workers.starting import Starter
from tests.processes import runs
from tests.samples import english, page

if TYPE_CHECKING:
    from collections.abc import Callable

    Made = simcrawl.PageFingerprint | simcrawl.Abstention


def options(**others: Any) -> dict[str, Any]:
    recipe = replace(resolve("main"), extractor="tests.hostile_pages.extractor")
    return simcrawl.Detector(simcrawl.open_store("memory:?seed=3"), recipe=recipe, **others).page_options


def raw(name: str, number: int = 0) -> RawPage:
    return RawPage(f"http://example.org/{name}", page(english(60, number)).encode(), "utf-8")


def all_of(batch: list[RawPage], made: Callable[[RawPage], Made]) -> list[Made]:
    return [made(one) for one in batch]


def test_pages_come_in_the_order_of_their_batches_and_are_those_made_here():
    batches = [[raw(f"{first + number}", first + number) for number in range(3)] for first in range(0, 24, 3)]
    with PagePool(options(), 2, all_of) as pool:
        found = list(pool.made(batches, ahead=4))
    assert found == [simcrawl.fingerprint_page(one.body, url=one.url, encoding="utf-8", **options()) for batch in batches for one in batch]


def test_a_process_that_ends_is_replaced():
    process, hurried = SupervisedProcess(options()), SupervisedProcess(options(max_page_seconds=2))
    try:
        for name, reason in (("dies", Reason.CRASHED), ("raises", Reason.EXTRACTION_FAILED)):
            made = process.page(raw(name))
            assert isinstance(made, simcrawl.Abstention)
            assert made.reason is reason
        assert process._asker.restarts == {"died": 2}
        number = process._process.pid
        assert number
        # One death is not the page's fault: somebody may have killed the process.
        os.kill(number, signal.SIGKILL)
        assert isinstance(process.page(raw("1")), simcrawl.PageFingerprint)
        assert process._process.pid not in (number, None)
        made = hurried.page(raw("hangs"))
        assert isinstance(made, simcrawl.Abstention)
        assert made.reason is Reason.TOO_SLOW
        assert hurried._asker.restarts == {"too_slow": 1}
    finally:
        process.close()
        hurried.close()


def test_who_leaves_waits_for_no_page():
    with PagePool(options(), 1, all_of) as pool:
        found = pool.made([[raw("1")], [raw("hangs")]], ahead=1)
        assert isinstance(next(found), simcrawl.PageFingerprint)
        number = pool._all[0]._process.pid
        assert number
    # Nobody has waited for the time of a page to be up: then it would be another process that was ended.
    assert pool._all[0]._asker.restarts["too_slow"] == 0
    assert not any(thread.is_alive() for thread in pool._threads._threads)
    assert not runs(number)


def test_a_process_that_is_closed_makes_no_more_pages():
    process = SupervisedProcess(options())
    told: list[BaseException] = []

    def ask() -> None:
        try:
            process.page(raw("hangs"))
        except WorkerError as exc:
            told.append(exc)

    process.page(raw("1"))
    asking = Thread(target=ask)
    asking.start()
    process.close()
    asking.join()
    assert len(told) == 1


def test_main_texts_are_those_made_here():
    pages = [(page(english(60, number)).encode(), "utf-8") for number in range(8)]
    pages += [(body, "latin-1") for body in ("<p>Café ".encode("latin-1") * 30, b"\0<", b"")]
    pool = TextPool(2, starter := Starter(), max_seconds=60)
    found: dict[int, str | None] = {}

    def ask(numbers: range) -> None:
        found.update({number: pool.text(*pages[number]) for number in numbers})

    try:
        asking = [Thread(target=ask, args=(range(first, len(pages), 3),)) for first in range(3)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
    finally:
        pool.close()
        starter.close()
    assert found == {number: simcrawl.main_text(*one) for number, one in enumerate(pages)}


# Takes trafilatura seconds.
LONG = b"<p>One of many paragraphs, with <a href=/>a link</a> and <b>bold</b> words.</p>" * 20_000


def test_a_text_comes_although_its_process_was_killed_and_none_comes_that_takes_too_long():
    process = SupervisedProcess(options())
    hurried = TextPool(1, starter := Starter(), max_seconds=0.01)
    try:
        first = process.text(raw("1").body, "utf-8")
        number = process._process.pid
        assert first
        assert number
        os.kill(number, signal.SIGKILL)
        assert process.text(raw("1").body, "utf-8") == first
        assert process._process.pid not in (number, None)
        assert hurried.text(LONG, "utf-8") is None
        assert hurried.restarts == {"too_slow": 1}
    finally:
        process.close()
        hurried.close()
        starter.close()
