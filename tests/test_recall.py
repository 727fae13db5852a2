"""What the pages and the register of a store teach."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

import pytest

import simcrawl
from simcrawl import RewriteRules
from simcrawl.rule import Kind
from simcrawl.store import PREDICTED, Duplicate, join_crawl, open_store
from simcrawl.urls.recall import Recalled, learned, lessons
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simcrawl.store import Crawl, Store

SITE = "http://example.org"


@pytest.fixture(params=["memory", "lmdb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with open_store("memory:" if request.param == "memory" else tmp_path / "store") as opened:
        yield opened


def crawl(store: Store, names: range, *folders: str, differ: int = 1_000_000) -> None:
    """Let a crawl fetch pages in folders, all of which are the same up to a number."""
    with_crawl(store, join_crawl(store), names, *folders, differ=differ).leave(finished=True)


def with_crawl(store: Store, joined: Crawl, names: range, *folders: str, differ: int = 1_000_000, callback: str = "") -> Crawl:
    detector = simcrawl.Detector(store, crawl=joined)
    for name in names:
        for folder in folders:
            text = f"<p>{english(12, seed=name if name < differ else name * 10_000 + sum(map(ord, folder)))}</p>"
            admission = detector.claim(detector.page(text, url=f"{SITE}/{folder}/{name}"), callback=callback)
            if admission.claim:
                admission.claim.confirm(callback)
    joined.own.sync()
    store.sync()
    return joined


def test_each_original_comes_before_its_copies_in_the_order_of_time(store: Store):
    crawl(store, range(3), "manual", "mirror")
    taught = lessons(store)
    assert [(lesson.url, lesson.original) for lesson in taught] == [
        (url, original)
        for name in range(3)
        for url, original in ((f"{SITE}/manual/{name}", ""), (f"{SITE}/mirror/{name}", f"{SITE}/manual/{name}"))
    ]
    # A page that was seen again since has a later time than its copies.
    store.note(Duplicate(f"{SITE}/early", f"{SITE}/manual/2", "near_duplicate", 1, 0.99, "near-duplicate", True, False, 1.0))
    store.sync()
    assert [lesson.url for lesson in lessons(store)][:2] == [f"{SITE}/manual/2", f"{SITE}/early"]


def test_pages_that_differ_teach_as_well(store: Store):
    crawl(store, range(40), "manual", "mirror")
    (sure,) = learned(store)
    assert (sure.saves, sure.support) == (39, 39)
    crawl(store, range(40, 60), "manual", "mirror", differ=0)
    (rule,) = learned(store)
    assert (rule.saves, rule.support) == (39, 59)
    assert rule.confidence < sure.confidence


def test_pages_of_a_few_words_teach_nothing(store: Store):
    crawl(store, range(30), "manual", "mirror")
    (sure,) = learned(store)
    detector = simcrawl.Detector(store, crawl=join_crawl(store))
    for name in range(30):
        for folder in ("manual", "mirror"):
            admission = detector.claim(detector.page(f"<p>page {name} of {folder}</p>", url=f"{SITE}/{folder}/short-{name}"))
            assert admission.claim
            admission.claim.confirm("")
    store.sync()
    assert learned(store) == [sure]


def test_what_was_skipped_or_taken_back_teaches_nothing(store: Store):
    crawl(store, range(20), "manual", "mirror")
    for name in range(20, 90):
        url, original = f"{SITE}/mirror/{name}", f"{SITE}/manual/{name}"
        store.note(Duplicate(url, original, PREDICTED, None, None, PREDICTED, True, True, time(), rule="as ever"))
    for name in range(10):
        store.reject(f"{SITE}/mirror/{name}")
    (rule,) = learned(store)
    assert (rule.saves, rule.support) == (9, 9)


def test_the_latest_of_many_teach(store: Store):
    crawl(store, range(20), "old", "gone")
    crawl(store, range(20, 40), "manual", "mirror")
    assert len(lessons(store)) == 80
    assert [rule.rule for rule in learned(store, most=20)] == ["'mirror' stands for 'manual'"]


def test_an_empty_store_teaches_nothing(store: Store):
    assert lessons(store) == []
    assert learned(store) == []


def test_pages_of_an_earlier_crawl_are_known_to_no_later_one(store: Store):
    crawl(store, range(60), "manual", "mirror")
    recalled = Recalled.of(join_crawl(store), RewriteRules())
    assert recalled.rules == 1
    rules = recalled.for_callback("any")
    assert rules.predict(f"{SITE}/mirror/5") is None
    rules.observe(f"{SITE}/manual/5", simcrawl.Verdict(kind=Kind.ADMITTED))
    assert rules.priority(f"{SITE}/mirror/5") < 0


def test_pages_of_a_crawl_that_goes_on_are_known_to_it(store: Store):
    crawl(store, range(60), "manual", "mirror")
    first = with_crawl(store, join_crawl(store, "nightly"), range(30), "manual", "mirror")
    with_crawl(store, first, range(30, 40), "manual")
    second = join_crawl(store, "nightly")
    rules = Recalled.of(second, RewriteRules()).for_callback("any")
    made = rules.predict(f"{SITE}/mirror/35")
    assert made is not None
    assert made.original == f"{SITE}/manual/35"
    # The copies of that crawl have confirmed the rule in it.
    assert any(rules.would_skip(f"{SITE}/mirror/{name}") for name in range(30, 40))
    assert rules.predict(f"{SITE}/mirror/50") is None


def test_pages_without_items_are_originals_for_their_own_callback_alone(store: Store):
    crawl(store, range(60), "manual", "mirror")
    running = with_crawl(store, join_crawl(store, "nightly"), range(5), "manual", callback="spider.parse_list")
    recalled = Recalled.of(running, RewriteRules())
    assert recalled.for_callback("spider.parse_list").predict(f"{SITE}/mirror/3") is not None
    assert recalled.for_callback("spider.parse_item").predict(f"{SITE}/mirror/3") is None
