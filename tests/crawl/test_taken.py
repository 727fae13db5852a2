"""What no feed takes has not come out."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy import signals
from scrapy.extension import ExtensionManager
from scrapy.extensions.feedexport import FeedExporter, ItemFilter
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from simcrawl.crawl.taken import Taken
from tests.crawl.content import hub
from tests.crawl.given_spiders import Offer, Past
from tests.crawl.runner import crawl
from tests.samples import english, page

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler

    from tests.crawl.server import Site

SPIDERS = "tests.crawl.given_spiders"


class Once(ItemFilter):
    """Takes each item once."""

    def __init__(self, feed_options: dict[str, Any] | None) -> None:
        super().__init__(feed_options)
        self.asked: list[Any] = []

    def accepts(self, item: Any) -> bool:
        self.asked.append(item)
        return self.asked.count(item) == 1


class Failing(ItemFilter):
    """Fails."""

    def accepts(self, item: Any) -> bool:
        raise ZeroDivisionError


def _watched(*feeds: dict[str, Any]) -> tuple[Taken, list[ItemFilter], list[Exception]]:
    """Return what is asked, the filters as the feeds have them, and what has failed."""
    failed = list[Exception]()
    made = Taken(failed.append)
    crawler = get_crawler(settings_dict={"FEEDS": {f"{number}.json": {"format": "json"} | feed for number, feed in enumerate(feeds)}})
    exporter = FeedExporter.from_crawler(crawler)
    exporter.slots = [cast("Any", SimpleNamespace(uri_template=uri, filter=one)) for uri, one in exporter.filters.items()]
    made.watch(cast("Crawler", SimpleNamespace(get_extension=lambda _: exporter)))
    return made, [slot.filter for slot in exporter.slots], failed


class Saving:
    """A pipeline, and a handler of signals."""

    def process_item(self, item: Any) -> Any:
        return item


def _is_taken(**settings: Any) -> tuple[Taken, Crawler]:
    crawler = get_crawler(settings_dict={"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_STORE": "memory:"} | settings)
    crawler.extensions = build_from_crawler(ExtensionManager, crawler)
    engine = SimpleNamespace(scraper=SimpleNamespace(itemproc=build_from_crawler(ItemPipelineManager, crawler)))
    crawler.engine = cast("Any", engine)
    made = Taken(lambda _: None)
    made.watch(crawler)
    return made, crawler


@pytest.mark.parametrize(
    ("settings", "is_taken"),
    [
        ({}, False),
        ({"FEEDS": {"items.json": {"format": "json"}}}, True),
        ({"ITEM_PIPELINES": {Saving: 1}}, True),
        ({"CLOSESPIDER_ITEMCOUNT": 5, "PERIODIC_LOG_STATS": True}, False),
    ],
)
def test_items_are_taken_by_feeds_and_pipelines(settings: dict[str, Any], is_taken: bool):
    assert _is_taken(**settings)[0].saves() is is_taken


def test_what_a_feed_refuses_is_saved_nowhere():
    made, _ = _is_taken(FEEDS={"items.json": {"format": "json"}})
    assert not made.saves(taken=False)


def test_items_are_taken_by_handlers_of_the_signal():
    made, crawler = _is_taken()
    saving = Saving()
    crawler.signals.connect(saving.process_item, signal=signals.item_scraped)
    assert made.saves(taken=False)


@pytest.mark.parametrize("feeds", [[{}], [{"item_classes": [Past]}, {}]])
def test_where_a_feed_takes_all_every_item_is_taken(feeds: list[dict[str, Any]]):
    made, filters, _ = _watched(*feeds)
    assert made.takes({"a": 1})
    assert all(type(one) is ItemFilter for one in filters)


def test_without_feeds_every_item_is_taken():
    made = Taken(print)
    made.watch(get_crawler())
    assert made.takes({"a": 1})


def test_an_item_is_taken_by_a_feed_of_its_class():
    made, _, _ = _watched({"item_classes": [Past]}, {"item_classes": [Offer]})
    assert made.takes(Past("n"))
    assert not made.takes({"a": 1})
    assert made.takes(Offer("n"))


@pytest.mark.parametrize("feed_first", [True, False])
def test_a_filter_is_asked_once_about_each_item(*, feed_first: bool):
    made, filters, _ = _watched({"item_filter": Once})
    (one,) = filters
    items: list[Any] = [{"a": 1}, {"b": 1}, {"a": 1}]
    told = list[tuple[bool, bool]]()
    for item in items:
        if feed_first:
            told.append((one.accepts(item), made.takes(item)))
        else:
            told.append((made.takes(item), one.accepts(item)))
    assert told == [(True, True), (True, True), (False, False)]
    # As its own attribute.
    assert cast("Once", one).asked == items


def test_a_filter_that_fails_takes_everything():
    made, _, failed = _watched({"item_filter": Failing})
    assert made.takes({"a": 1})
    assert [type(exc) for exc in failed] == [ZeroDivisionError]


@pytest.mark.parametrize(
    ("spider", "feeds"),
    [
        ("OfAll", [{"item_filter": f"{SPIDERS}.Articles"}]),
        ("OfClasses", [{"item_classes": [f"{SPIDERS}.Offer"]}]),
        ("OfClasses", [{"item_classes": [f"{SPIDERS}.Offer"]}, {"item_classes": [f"{SPIDERS}.Past"]}]),
    ],
)
def test_what_a_feed_takes_of_a_copy_alone_comes_out(site: Site, tmp_path: Path, spider: str, feeds: list[dict[str, Any]]):
    paths = [f"/{kind}/{number}" for number in range(20) for kind in ("article", "print")]
    for path in paths:
        site.add(path, page(english(150, seed=int(path.rpartition("/")[2]))))
    site.add("/", hub(*paths))
    files = [tmp_path / f"{number}.jsonl" for number in range(len(feeds))]
    settings = {"FEEDS": {str(file): {"format": "jsonlines"} | feed for file, feed in zip(files, feeds, strict=True)}}
    outcome = crawl(f"{SPIDERS}.{spider}", site.url("/"), settings=settings)
    for file, kind in zip(files, ("article", "print"), strict=False):
        urls = [json.loads(line)["url"] for line in file.read_text().splitlines()]
        assert sorted(urls) == sorted(site.url(path) for path in paths if f"/{kind}/" in path)
    assert outcome.stats["simcrawl/pages/dropped"] == 20
