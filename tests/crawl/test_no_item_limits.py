"""A row of copies is no site that gives nothing any more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.extensions.closespider import CloseSpider
from scrapy.utils.test import get_crawler

from simcrawl.crawl.no_item_limits import NoItemLimits
from tests.crawl.runner import crawl
from tests.samples import english, page

if TYPE_CHECKING:
    from tests.crawl.server import Site

LIMITS = {"CLOSESPIDER_PAGECOUNT_NO_ITEM": 3, "CLOSESPIDER_TIMEOUT_NO_ITEM": 60}


def _watched(settings: dict[str, int]) -> tuple[NoItemLimits, CloseSpider]:
    crawler: Any = get_crawler(settings_dict=settings)
    closer, limits = CloseSpider(crawler), NoItemLimits()
    limits.watch(SimpleNamespace(get_extension={CloseSpider: closer}.get))  # type: ignore[arg-type]  # what is asked of a crawler
    return limits, closer


@pytest.mark.parametrize("settings", [LIMITS, *({name: value} for name, value in LIMITS.items())])
def test_an_item_of_a_copy_is_one_for_the_limits_without_items_and_for_no_other(settings: dict[str, int]) -> None:
    limits, closer = _watched(settings | {"CLOSESPIDER_ITEMCOUNT": 1})
    closer.counter["pagecount_since_last_item"] = 2
    limits.dropped()
    assert closer.counter == {"pagecount_since_last_item": 0}
    assert getattr(closer, "items_in_period", None) == (1 if "CLOSESPIDER_TIMEOUT_NO_ITEM" in settings else None)


def test_without_limits_there_is_nothing_to_do() -> None:
    limits = NoItemLimits()
    limits.watch(get_crawler())
    limits.dropped()


def test_a_crawl_goes_on_through_a_row_of_copies_to_what_is_behind(site: Site) -> None:
    paths = [f"/{part}/{number}" for part in ("first", "mirror", "behind") for number in range(8)]
    for path, following in zip(paths, [*paths[1:], ""], strict=True):
        _, part, number = path.split("/")
        site.add(path, page(english(150, seed=int(number) + 100 * (part == "behind")), links=(following,)))
    settings: dict[str, Any] = {"CLOSESPIDER_PAGECOUNT_NO_ITEM": 6, "DEPTH_PRIORITY": 0}
    outcome = crawl("tests.crawl.spiders.Plain", site.url(paths[0]), settings=settings)
    assert outcome.stats["finish_reason"] == "finished"
    assert {path for path in outcome.paths("kept") if path.startswith("/behind")} == {path for path in paths if path.startswith("/behind")}
    assert outcome.stats["simcrawl/items/dropped"] == 8
