"""What only a copy's callback takes is not lost with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from simcrawl.crawl.given import Given
from simcrawl.rule import with_data
from tests.crawl.content import hub
from tests.crawl.runner import MODES, crawl
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

SPIDERS = "tests.crawl.given_spiders"
URL, OTHER, USE, LATER = "http://a.test/1", "http://a.test/2", "spider.parse", "spider.parse_more"


def _articles(site: Site, number: int, *, copies: int = 1) -> list[str]:
    """Add articles, each with a page for printing of the same bytes, and all of it once more under other addresses; return the paths."""
    paths = []
    for mirror in [""] + [f"/mirror{copy}" for copy in range(1, copies)]:
        for article in range(number):
            text = page(english(150, seed=article))
            for kind in ("print", "article"):
                paths.append(f"{mirror}/{kind}/{article}")
                site.add(paths[-1], text)
    site.add("/", hub(*paths))
    return paths


# ---- what is known of a content


def test_items_of_a_copy_come_out_once_where_none_have_come_for_its_callback():
    known = Given()
    # Of a page that nobody knows it is as if items had come.
    assert not known.take(URL, USE)
    known.kept(URL, USE, items=False)
    assert known.take(URL, USE)
    assert not known.take(URL, USE)
    assert known.take(URL, LATER)
    known.kept(OTHER, USE, items=True)
    assert not known.take(OTHER, USE)
    assert known.take(OTHER, LATER)


def test_of_an_original_that_nobody_knows_items_come_out_for_a_callback_that_has_taken_others_of_copies():
    known = Given()
    known.kept(OTHER, USE, items=True)
    assert not known.take(URL, LATER)
    assert known.take(OTHER, LATER)
    assert [known.take(URL, LATER) for _ in range(2)] == [True, False]
    # Not for one whose copies gave items where their originals gave none: what the store tells decides.
    known.kept("http://a.test/none", USE, items=False)
    assert known.take("http://a.test/none", USE)
    assert not known.take("http://a.test/unknown", USE)


def test_what_has_not_come_out_is_given_back():
    known = Given()
    known.give_back(URL, USE)
    known.kept(URL, USE, items=False)
    assert known.take(URL, USE)
    known.give_back(URL, USE)
    assert known.take(URL, USE)


def test_what_is_left_out_unseen_may_lose_items():
    known = Given()
    for callback in (USE, LATER):
        known.has_given(callback)
    assert not known.may_lose(URL, USE)
    known.kept(URL, USE, items=True)
    assert not known.may_lose(URL, USE)
    assert known.may_lose(URL, LATER)
    # A list gives none, and nor do its copies, until one does.
    known.kept(OTHER, LATER, items=False)
    known.kept("http://a.test/3", LATER, items=False)
    assert not known.may_lose(OTHER, LATER)
    assert known.take(OTHER, LATER)
    assert known.may_lose("http://a.test/3", LATER)
    assert not known.may_lose(OTHER, LATER)


def test_of_a_callback_that_has_given_nothing_yet_nobody_knows_what_is_lost():
    known = Given()
    for use in (USE, with_data(USE, "data")):
        known.kept(URL, use, items=False)
        assert known.may_lose(URL, use)
    known.has_given(USE)
    assert [known.may_lose(URL, use) for use in (USE, with_data(USE, "data"), LATER)] == [False, False, True]


@given(st.lists(st.tuples(st.sampled_from([URL, OTHER]), st.sampled_from([USE, LATER]), st.booleans()), max_size=30))
def test_items_come_once_for_each_callback_and_content(pages: list[tuple[str, str, bool]]):
    known, come = Given(), set[tuple[str, str]]()
    seen = set[str]()
    for url, use, items in pages:
        if url not in seen:
            known.kept(url, use, items=items)
            seen.add(url)
            come |= {(url, use)} if items else set()
        else:
            assert known.take(url, use) == ((url, use) not in come)
            come.add((url, use))


def test_it_remembers_a_bounded_number_of_pages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.given._MOST_PAGES", 3)
    monkeypatch.setattr("simcrawl.crawl.given._MOST_USES", 2)
    monkeypatch.setattr("simcrawl.crawl.given._MOST_UNLIKE", 1)
    known = Given()
    for number in range(5):
        known.kept(str(number), USE, items=False)
    assert [known.take(str(number), USE) for number in range(5)] == [False, False, True, True, True]
    assert [known.take("4", f"other {number}") for number in range(3)] == [True, False, False]


# ---- crawls


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("spider", ["OfArticles", "OfTabs", "OfRules"])
def test_items_that_only_some_addresses_of_a_content_give_come_out(site: Site, spider: str, mode: str) -> None:
    paths = _articles(site, 20)
    outcome = crawl(f"{SPIDERS}.{spider}", site.url("/"), mode=mode)
    articles = [path for path in paths if "/article/" in path]
    assert outcome.paths("kept") == sorted(articles if spider == "OfArticles" else paths)
    assert outcome.stats["simcrawl/pages/dropped"] == 20
    assert outcome.stats["finish_reason"] == "finished"


def test_they_come_out_once_for_each_content(site: Site) -> None:
    # By rules the last three quarters would not be fetched.
    _articles(site, 60, copies=4)
    outcome = crawl(f"{SPIDERS}.OfArticles", site.url("/"))
    kept = outcome.paths("kept")
    assert sorted(path.rpartition("/")[2] for path in kept) == sorted(map(str, range(60)))
    assert outcome.log.count("of which none have come for its callback") == 1


def test_a_crawl_that_goes_on_knows_which_contents_gave_nothing(site: Site, tmp_path: Path) -> None:
    paths = _articles(site, 20)
    # All pages for printing, then a stop, then the articles.
    site.add("/", hub(*sorted(paths, key=lambda path: "/print/" not in path)))
    settings = {
        "SIMCRAWL_STORE": str(tmp_path / "store"),
        "JOBDIR": str(tmp_path / "job"),
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }
    assert crawl(f"{SPIDERS}.OfArticles", site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 21}).paths("kept") == []
    outcome = crawl(f"{SPIDERS}.OfArticles", site.url("/"), settings=settings)
    assert outcome.paths("kept") == sorted(path for path in paths if "/article/" in path)


def test_where_the_callback_fails_the_items_of_the_next_copy_come_out(site: Site) -> None:
    _articles(site, 1, copies=3)
    outcome = crawl(f"{SPIDERS}.Failing", site.url("/"), settings={"CONCURRENT_REQUESTS": 1})
    assert len(outcome.paths("kept")) == 2


# ---- callbacks and pipelines that take their time


def _waited_for(site: Site, *, by_list: str) -> Outcome:
    texts = [page(english(150, seed=number)) for number in range(60)]
    for folder in ("a", "b"):
        for number, text in enumerate(texts):
            site.add(f"/{folder}/{number}", text)
    for path in ("/", "/list"):
        site.add(path, hub(*[f"/{folder}/{number}" for folder in ("a", "b") for number in range(60)]))
    outcome = crawl(f"{SPIDERS}.Waiting", site.url("/"), by_list=by_list)
    assert {path.rpartition("/")[2] for path in outcome.paths("kept")} == set(map(str, range(60)))
    assert outcome.stats["finish_reason"] == "finished"
    return outcome


def test_what_a_callback_waits_for_itself_does_not_wait(site: Site) -> None:
    outcome = _waited_for(site, by_list="")
    assert "A callback takes long" not in outcome.log
    assert "simcrawl/predicted/held" not in outcome.stats


def test_a_callback_that_waits_for_what_another_one_has_asked_for_ends(site: Site) -> None:
    outcome = _waited_for(site, by_list="yes")
    assert "A callback takes long, or waits for requests" in outcome.log
    assert "simcrawl/predicted/skipped" not in outcome.stats


@pytest.mark.parametrize("by_way", ["", "yes"])
def test_pages_that_wait_for_a_part_of_their_own_do_not_fill_the_memory_that_scrapy_allows(site: Site, by_way: str) -> None:
    # With a number of large responses at work Scrapy makes no requests.
    number = 60
    for seed, language in ((1_000, "en"), (2_000, "fr")):
        for index in range(number):
            site.add(f"/{language}/{index}", page(english(150, seed=seed + index)) + f"<!--{'x' * 200_000}-->")
            site.add(f"/{language}/{index}/part", page(english(150, seed=index)))
            site.add(f"/{language}/{index}/way", page(english(150, seed=3_000 + index)))
    site.add("/", hub(*[f"/{language}/{index}" for language in ("en", "fr") for index in range(number)]))
    outcome = crawl(f"{SPIDERS}.InParts", site.url("/"), settings={"CONCURRENT_REQUESTS": 4}, by_way=by_way)
    assert outcome.stats["finish_reason"] == "finished"
    assert len(outcome.paths("kept")) == 2 * number


def test_copies_do_not_wait_for_ever_for_pipelines(site: Site) -> None:
    # Originals come out when their copies are there as well.
    paths = _articles(site, 30)
    settings = {"ITEM_PIPELINES": {f"{SPIDERS}.Together": 300}, "TEST_ITEMS": len(paths)}
    outcome = crawl(f"{SPIDERS}.OfTabs", site.url("/"), settings=settings)
    assert outcome.paths("kept") == sorted(paths)
    assert outcome.stats["simcrawl/pages/waited_in_vain"] == 30
    assert outcome.log.count("copies stop waiting before") == 1


def test_a_scheduler_that_does_not_take_back_what_is_to_wait_loses_one_request(site: Site) -> None:
    paths = _articles(site, 60, copies=3)
    settings = {"SCHEDULER": "tests.crawl.frontier_spiders.Filtering", "CONCURRENT_REQUESTS": 1}
    outcome = crawl(f"{SPIDERS}.OfTabs", site.url("/"), settings=settings)
    assert outcome.log.count("The scheduler has not taken back") == 1
    assert outcome.stats["downloader/request_count"] == len(paths)
    assert len(outcome.paths("kept")) >= 2 * 60 - 1


@pytest.mark.parametrize("asks", ["", "yes"])
def test_what_a_spider_tries_again_is_a_copy_unless_it_has_asked_for_the_page_itself(site: Site, asks: str):
    site.add("/", hub("/first", "/copy"))
    for path in ("/first", "/copy"):
        site.add(path, page(english(150, seed=1)))
    outcome = crawl(f"{SPIDERS}.TriesAgain", site.url(), settings=IN_ORDER, asks=asks)
    assert site.requests["/first"] == site.requests["/copy"] == 2
    assert outcome.paths("kept") == ["/", *(["/copy"] if asks else []), "/first"]
