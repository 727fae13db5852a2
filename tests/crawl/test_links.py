"""Dropped links are told: how many, and behind which page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from simcrawl.crawl.links import DroppedLinks
from tests.crawl.content import hub, page
from tests.crawl.runner import crawl
from tests.crawl.test_crawl import IN_ORDER, copies

if TYPE_CHECKING:
    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

DROPS = {"SIMCRAWL_OUTLINKS": "drop", "LOG_LEVEL": "DEBUG"}


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 100))))
def test_the_numbers_are_those_of_all_pages(drops: list[tuple[str, int]]) -> None:
    told = DroppedLinks()
    firsts = [told.add(url, links) for url, links in drops]
    some = [links for _, links in drops if links]
    assert (told.links, told.pages, told.most) == (sum(some), len(some), max(some, default=0))
    assert sum(firsts) == bool(some)
    assert bool(str(told)) == bool(told.where) == bool(some)
    assert (told.url, told.most) in drops or not some


def test_one_is_not_many() -> None:
    told = DroppedLinks()
    told.add("http://a.test/", 1)
    assert str(told) == "1 link behind 1 page was dropped, most behind http://a.test/ (1). "
    told.add("http://b.test/", 2)
    assert str(told) == "3 links behind 2 pages were dropped, most behind http://b.test/ (2). "


def leaves(site: Site) -> None:
    """Fill a site: copies of `/first`, of which the first has no links, the next three, the last one."""
    site.add("/", hub("/first", "/bare", "/three", "/one"))
    site.add("/first", page("7.4/en/protection"))
    site.add("/bare", page("7.4/en/protection", note=" "))
    site.add("/three", page("7.4/en/protection", "/x", "/y", "/z"))
    site.add("/one", page("7.4/en/protection", "/x?"))


def drops(outcome: Outcome) -> list[tuple[str, ...]]:
    return re.findall(r"(INFO|DEBUG): Dropped (page.*) of http://[^/]+(/\S+): ", outcome.log)


def test_the_first_dropped_links_are_told_even_after_drops_without_any(site: Site) -> None:
    leaves(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | DROPS)
    assert drops(outcome) == [
        ("INFO", "page and outlinks", "/bare"),
        ("INFO", "page and outlinks (3)", "/three"),
        ("DEBUG", "page and outlinks (1)", "/one"),
    ]
    assert outcome.stats["simcrawl/outlinks/dropped"] == 4
    assert f"3 were dropped. 4 links behind 2 pages were dropped, most behind {site.url('/three')} (3). " in outcome.log


def test_the_links_of_pages_whose_callbacks_ran_are_told_as_well(site: Site) -> None:
    leaves(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | DROPS | {"SIMCRAWL_ACTION": "drop-links"})
    told = re.findall(r"(INFO|DEBUG): Dropped the links behind http://[^/]+(/\S+): (\d+)", outcome.log)
    assert told == [("INFO", "/three", "3"), ("DEBUG", "/one", "1")]
    assert outcome.stats["simcrawl/outlinks/dropped"] == 4
    assert f"0 were dropped. 4 links behind 2 pages were dropped, most behind {site.url('/three')} (3). " in outcome.log


def test_with_debug_all_of_them_are_told(site: Site) -> None:
    leaves(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | DROPS | {"SIMCRAWL_DEBUG": True, "LOG_LEVEL": "INFO"})
    assert [what for _, what, _ in drops(outcome)] == ["page and outlinks", "page and outlinks (3)", "page and outlinks (1)"]


@pytest.mark.parametrize("settings", [{"SIMCRAWL_OUTLINKS": "follow"}, {"SIMCRAWL_ACTION": "observe"}])
def test_links_that_are_followed_are_not_told_as_dropped(site: Site, settings: dict[str, str]) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | DROPS | settings)
    assert "pages are copies" in outcome.log
    assert "links behind" not in outcome.log
