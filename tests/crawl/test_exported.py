"""What a feed cannot write has not come out: the copy's item comes out, and the next night knows nothing of what is in no feed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.content import hub, page
from tests.crawl.runner import MODES, crawl
from tests.crawl.test_crawl import IN_ORDER, copies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

EXPORTERS = {name: f"tests.crawl.spiders.{of}" for name, of in (("picky", "PickyExporter"), ("at-the-end", "FailingAtTheEnd"))}
GZIP = "scrapy.extensions.postprocessing.GzipPlugin"
OTHER = "tests.crawl.spiders.PickyFilter"


def settings(directory: Path, feeds: dict[str, dict[str, Any]]) -> dict[str, Any]:
    named = {uri if ":" in uri else str(directory / uri): options for uri, options in feeds.items()}
    return IN_ORDER | {"SIMCRAWL_STORE": str(directory / "store"), "FEEDS": named, "FEED_EXPORTERS": EXPORTERS, "LOG_LEVEL": "INFO"}


def written(feed: Path) -> set[str]:
    return {"/" + json.loads(line)["url"].split("/", 3)[3] for line in feed.read_text().splitlines()}


@pytest.mark.parametrize(
    ("feeds", "more"),
    [
        ({"feed": {"format": "picky"}}, {}),
        ({"feed": {"format": "picky"}}, {"SIMCRAWL_STORE": "memory:"}),
        ({"feed": {"format": "picky"}}, {"SIMCRAWL_DURABLE_FEED": False}),
        # Wherever Scrapy's exporter stands among the extensions.
        ({"feed": {"format": "picky"}}, {"SIMCRAWL_DURABLE_FEED": False, "EXTENSIONS": {"scrapy.extensions.feedexport.FeedExporter": 900}}),
        ({"feed%(batch_id)d": {"format": "picky", "batch_item_count": 1}}, {}),
        ({"feed": {"format": "picky", "postprocessing": [GZIP]}}, {}),
        ({"other": {"format": "csv"}, "feed": {"format": "picky"}}, {}),
        ({"feed": {"format": "picky"}, "other": {"format": "csv"}}, {}),
        ({"feed": {"format": "jsonlines", "item_filter": OTHER}}, {}),
        ({"feed": {"format": "jsonlines", "item_filter": OTHER}, "other": {"format": "csv"}}, {}),
    ],
)
def test_a_page_whose_item_a_feed_cannot_write_is_no_original(
    site: Site, tmp_path: Path, feeds: dict[str, dict[str, Any]], more: dict[str, Any]
) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=settings(tmp_path, feeds) | more)
    assert outcome.paths("dropped") == [("/near", "/second")]
    assert outcome.stats["simcrawl/items/not_exported"] == 1
    assert outcome.log.count("A feed could not take an item of") == 1
    if feeds.keys() == {"feed"} and "postprocessing" not in feeds["feed"]:
        assert {"/second", "/other"} <= written(tmp_path / "feed")


@pytest.mark.parametrize("mode", MODES)
def test_feeds_that_can_write_everything_are_left_alone(site: Site, tmp_path: Path, mode: str) -> None:
    copies(site)
    feeds: dict[str, dict[str, Any]] = {"feed": {"format": "jsonlines"}, "batch%(batch_id)d": {"format": "csv", "batch_item_count": 2}}
    outcome = crawl("Plain", site.url(), mode=mode, settings=settings(tmp_path, feeds))
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    assert written(tmp_path / "feed") == set(outcome.paths("kept"))
    assert not {"simcrawl/items/not_exported", "simcrawl/errors"} & outcome.stats.keys()
    assert not any(word in outcome.log for word in ("A feed could not", " ERROR: ", "Traceback"))


def night(site: Site, directory: Path, spider: str = "Changed", *, feeds: dict[str, dict[str, Any]] | None = None, **more: Any) -> Outcome:
    return crawl(spider, site.url(), settings=settings(directory, feeds or {"feed": {"format": "jsonlines", "overwrite": True}}), **more)


def build(site: Site) -> set[str]:
    site.add("/", hub("/first", "/other"))
    site.add("/first", page("7.4/en/protection"))
    site.add("/other", page("7.4/en/autotext"))
    return {"/", "/first", "/other"}


def test_an_item_that_no_feed_has_is_not_unchanged_the_next_night(site: Site, tmp_path: Path) -> None:
    everything = build(site)
    night(site, tmp_path, feeds={"feed": {"format": "picky"}})
    assert written(tmp_path / "feed") == everything - {"/first"}
    night(site, tmp_path)
    assert written(tmp_path / "feed") == {"/first"}
    assert night(site, tmp_path).paths("kept") == []


def test_what_a_feed_on_a_full_disk_may_have_lost_is_not_unchanged_the_next_night(site: Site, tmp_path: Path) -> None:
    everything = build(site)
    first = night(site, tmp_path, "ChangedOnFullDisk", full="1")
    assert first.log.count("simcrawl cannot flush a feed") == 1
    assert "A feed could not" not in first.log
    # The hub may have been flushed before.
    assert everything - set(night(site, tmp_path, "ChangedOnFullDisk").paths("kept")) <= {"/"}
    assert night(site, tmp_path, "ChangedOnFullDisk").paths("kept") == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "feeds",
    [
        {"ftp://user:password@127.0.0.1:1/feed": {"format": "jsonlines"}},
        {"other": {"format": "jsonlines"}, "ftp://user:password@127.0.0.1:1/%(batch_id)d": {"format": "csv", "batch_item_count": 1}},
        {"feed": {"format": "at-the-end"}},
    ],
)
def test_a_night_whose_feed_cannot_be_stored_is_none_to_compare_with(
    site: Site, tmp_path: Path, mode: str, feeds: dict[str, dict[str, Any]]
) -> None:
    everything = sorted(build(site))
    first = crawl("Changed", site.url(), mode=mode, settings=settings(tmp_path, feeds))
    assert first.stats["finish_reason"] == "finished"
    assert first.log.count("A feed could not be stored") == 1
    assert night(site, tmp_path).paths("kept") == everything
    site.add("/other", page("7.4/en/goal-seek"))
    crawl("Changed", site.url(), mode=mode, settings=settings(tmp_path, feeds))
    # Compared with the night before.
    assert night(site, tmp_path).paths("kept") == ["/other"]
    assert night(site, tmp_path).paths("kept") == []


@pytest.mark.parametrize("exporter", ["SilentFeeds", None])
def test_a_crawl_does_not_wait_for_feeds_that_do_not_tell_of_their_end(site: Site, tmp_path: Path, exporter: str | None) -> None:
    everything = build(site)
    feeds = {"ftp://user:password@127.0.0.1:1/feed": {"format": "jsonlines"}}
    extensions = {"scrapy.extensions.feedexport.FeedExporter": None} | ({f"tests.crawl.spiders.{exporter}": 0} if exporter else {})
    outcome = crawl("Changed", site.url(), settings=settings(tmp_path, feeds) | {"EXTENSIONS": extensions})
    assert outcome.stats["finish_reason"] == "finished"
    assert set(outcome.paths("kept")) == everything
    assert "simcrawl/errors" not in outcome.stats
