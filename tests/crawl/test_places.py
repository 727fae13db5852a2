"""A page that waits for its original lends its place to others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy.http import Response

from simcrawl.crawl.places import SHORT, Places
from tests.crawl.content import hub, page
from tests.crawl.runner import MODES, crawl
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english, page as text_page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from tests.crawl.server import Site

PIPELINES, SIZE = "tests.crawl.spiders", 20_000


class Engine:
    """What is seen of Scrapy's."""

    def __init__(self, places: int | None = 8) -> None:
        self.looks = 0
        self.downloader = SimpleNamespace() if places is None else SimpleNamespace(total_concurrency=places)
        self.scraper = SimpleNamespace(slot=SimpleNamespace(active_size=0, max_active_size=SIZE))
        self._slot = SimpleNamespace(nextcall=SimpleNamespace(schedule=self.look))

    def look(self) -> None:
        self.looks += 1

    @property
    def counts(self) -> tuple[Any, int, int]:
        return getattr(self.downloader, "total_concurrency", None), self.scraper.slot.active_size, self.looks


class Timer:
    """Nothing is called before a test says that it is time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.due: list[Any] = []
        monkeypatch.setattr("simcrawl.crawl.places.call_later", self.later)
        self.now = 0.0

    def later(self, seconds: float, function: Any, *arguments: Any) -> Any:
        assert seconds == SHORT
        entry = (function, arguments)
        self.due.append(entry)
        return SimpleNamespace(cancel=lambda: self.due.remove(entry) if entry in self.due else None)

    def ring(self) -> None:
        self.now += 2 * SHORT
        due, self.due = self.due, []
        for function, arguments in due:
            function(*arguments)


def answer(size: int = 5_000) -> Response:
    return Response("http://a.test/", body=b"x" * size)


def places(engine: Engine | None, timer: Timer) -> Places:
    return Places(cast("Crawler", SimpleNamespace(engine=engine)), clock=lambda: timer.now)


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> Timer:
    return Timer(monkeypatch)


def test_a_short_wait_lends_nothing(timer: Timer):
    engine = Engine()
    with places(engine, timer).lent(answer()):
        assert engine.counts == (8, 0, 0)
    assert engine.counts == (8, 0, 0)
    assert not timer.due


def test_a_page_that_waits_long_counts_as_one_at_work_and_not_as_a_download(timer: Timer):
    engine = Engine()
    lender = places(engine, timer)
    with lender.lent(answer()):
        timer.ring()
        assert engine.counts == (9, 5_000, 1)
        # From now on at once.
        with lender.lent(answer(1)):
            assert engine.counts == (10, 6_024, 2)
    assert engine.counts == (8, 0, 2)


def test_after_a_long_wait_the_next_one_lends_at_once_and_after_a_short_one_not(timer: Timer):
    engine = Engine()
    lender = places(engine, timer)
    with lender.lent(answer()):
        timer.ring()
    with lender.lent(answer()):
        assert engine.counts == (9, 5_000, 2)
    with lender.lent(answer()):
        assert engine.counts == (8, 0, 2)


def fail_late(timer: Timer) -> None:
    timer.ring()
    raise KeyError


def test_the_place_is_given_back_where_the_wait_fails(timer: Timer):
    engine = Engine()
    with pytest.raises(KeyError), places(engine, timer).lent(answer()):
        fail_late(timer)
    assert engine.counts == (8, 0, 1)


def test_a_page_for_which_there_is_no_room_among_those_at_work_lends_nothing(timer: Timer):
    # Scrapy would start no request at all then.
    engine = Engine()
    lender = places(engine, timer)
    with lender.lent(answer(SIZE // 2)), lender.lent(answer(SIZE // 2 + 1)):
        timer.ring()
        assert engine.counts == (9, SIZE // 2, 1)
    with lender.lent(answer(SIZE + 1)):
        assert engine.counts == (8, 0, 1)


def test_what_was_lent_is_given_back_where_the_engine_is_none_that_is_known(timer: Timer):
    engine = Engine()
    del engine._slot
    lender = places(engine, timer)
    with pytest.raises(AttributeError), lender.lent(answer()):
        timer.ring()
    assert engine.counts == (8, 0, 0)


# No limit, none that is known.
@pytest.mark.parametrize("limit", [0, None])
def test_where_there_are_no_places_none_is_lent(limit: int | None, timer: Timer):
    engine = Engine(limit)
    with places(engine, timer).lent(answer()):
        timer.ring()
        assert engine.counts == (limit, 0, 0)
    assert engine.counts == (limit, 0, 0)


def test_without_an_engine_none_is_lent(timer: Timer):
    with places(None, timer).lent(answer()):
        timer.ring()


@pytest.mark.parametrize("limit", [0, 1, 4, 20])
def test_a_limit_that_somebody_sets_meanwhile_stays(limit: int, timer: Timer):
    engine = Engine()
    lender = places(engine, timer)
    with lender.lent(answer()), lender.lent(answer()):
        timer.ring()
        assert engine.downloader.total_concurrency == 10
        engine.downloader.total_concurrency = limit
        # Until all that are lent have come back.
        with lender.lent(answer()):
            assert engine.downloader.total_concurrency == limit
    assert (engine.downloader.total_concurrency, engine.scraper.slot.active_size) == (limit, 0)
    with lender.lent(answer()):
        assert engine.downloader.total_concurrency == (limit + 1 if limit else 0)
    assert engine.downloader.total_concurrency == limit


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("others", [1, 30])
def test_others_are_fetched_while_copies_wait_for_a_slow_pipeline(site: Site, mode: str, others: int) -> None:
    # The item comes out when the last page is fetched: with a copy in the only place that would be never.
    copies = [f"/copy{number}" for number in range(others)]
    site.add("/", hub("/first", *copies, "/last"))
    for path in ("/first", *copies):
        site.add(path, page("7.4/en/protection"))
    site.add("/last", page("7.4/en/autotext"))
    outcome = crawl("Plain", site.url(), mode=mode, settings=IN_ORDER | {"ITEM_PIPELINES": {f"{PIPELINES}.FirstAfterLast": 300}})
    assert outcome.stats["finish_reason"] == "finished"
    assert outcome.paths("kept") == ["/", "/first", "/last"]
    assert outcome.paths("dropped") == sorted((copy, "/first") for copy in copies)
    assert "simcrawl/pages/waited_in_vain" not in outcome.stats


@pytest.mark.parametrize("mode", MODES)
def test_while_a_crawl_closes_a_copy_waits_for_an_original_that_is_at_work(site: Site, mode: str) -> None:
    # The crawl ends no sooner than that page, and later if the copy has to take its own way through a slow pipeline.
    site.add("/", hub("/first", "/copy"))
    for path in ("/first", "/copy"):
        site.add(path, page("7.4/en/protection"))
    outcome = crawl("Plain", site.url(), mode=mode, settings=IN_ORDER | {"ITEM_PIPELINES": {f"{PIPELINES}.ClosesTheCrawl": 300}})
    assert outcome.stats["finish_reason"] == "enough"
    assert outcome.paths("kept") == ["/", "/first"]
    assert outcome.paths("dropped") == [("/copy", "/first")]
    assert "simcrawl/pages/waited_in_vain" not in outcome.stats


@pytest.mark.parametrize(("limit", "is_kept"), [(0, False), (1, False), (2, True)])
def test_a_copy_does_not_wait_long_where_what_it_links_to_may_be_too_deep_meanwhile(site: Site, limit: int, is_kept: bool) -> None:
    """Its links lead to the limit of the depth, or not that far."""
    site.add("/", hub("/first", "/copy"))
    for path in ("/first", "/copy"):
        site.add(path, page("7.4/en/protection"))
    settings = {"ITEM_PIPELINES": {f"{PIPELINES}.TakesItsTime": 300}, "DEPTH_LIMIT": limit + (limit > 1)}
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | settings)
    assert outcome.paths("kept") == (["/", "/copy", "/first"] if is_kept else ["/", "/first"])


@pytest.mark.parametrize("is_chain", [True, False])
def test_copies_whose_links_are_all_that_is_left_do_not_wait_again_and_again(site: Site, is_chain: bool) -> None:
    """Each takes half a second: with twenty of them a crawl would take ten."""
    paths = [f"/{part}{number}" for number in range(8) for part in ("page", "copy")]
    site.add("/", hub(*([paths[0]] if is_chain else paths)))
    for number, path in enumerate(paths):
        links = paths[number + 1 : number + 2] if is_chain else ()
        site.add(path, text_page(english(150, seed=number // 2), links=tuple(links)))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"ITEM_PIPELINES": {f"{PIPELINES}.TakesItsTime": 300}})
    assert outcome.stats["finish_reason"] == "finished"
    dropped = outcome.stats["simcrawl/pages/dropped"]
    assert 0 < dropped < 6 if is_chain else dropped == 8
    assert bool(outcome.stats.get("simcrawl/pages/waited_in_vain")) == is_chain


def test_as_many_wait_as_scrapy_allows_at_work(site: Site) -> None:
    # It allows one such page, and takes the next when there are not more. So the last one comes when the copy has given up.
    text = page("7.4/en/protection")
    site.add("/", hub("/first", "/copy", "/last"))
    site.add("/first", text)
    site.add("/copy", text)
    site.add("/last", page("7.4/en/autotext"))
    limits = {"SCRAPER_SLOT_MAX_ACTIVE_SIZE": len(text.encode()) + 500, "ITEM_PIPELINES": {f"{PIPELINES}.FirstAfterLast": 300}}
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | limits)
    assert outcome.stats["finish_reason"] == "finished"
    assert outcome.paths("kept") == ["/", "/copy", "/first", "/last"]
    assert outcome.stats["simcrawl/pages/waited_in_vain"] == 1
