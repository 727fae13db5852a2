"""A feed and a hard kill: what the store knows is in the feed's file, and a resumed crawl lacks nothing."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.store import open_store
from tests.crawl.content import hub, page
from tests.crawl.runner import MODES, crawl, crawls, start
from tests.crawl.test_crawl import IN_ORDER, copies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import Site

TOPICS = ("protection", "autotext", "openpgp", "toolbars", "find-replace", "goal-seek")
CONTENTS = {f"<{topic}>" for topic in TOPICS}
NOT_FLUSHED = "Not every feed can be flushed"


def mirror(site: Site) -> None:
    for half in "ab":
        site.add(f"/{half}", hub(*(f"/{half}/{topic}" for topic in TOPICS)))
        for topic in TOPICS:
            site.add(f"/{half}/{topic}", page(f"7.4/en/{topic}"))


def with_feed(directory: Path, *, format_: str = "jsonlines", **options: Any) -> dict[str, Any]:
    return {
        "CONCURRENT_REQUESTS": 1,
        "SIMCRAWL_STORE": str(directory / "store"),
        "SIMCRAWL_SYNC_SECONDS": 0.1,
        "FEEDS": {str(directory / "feed"): {"format": format_, "overwrite": False} | options},
        "LOG_LEVEL": "INFO",
    }


def with_job(directory: Path, **options: Any) -> dict[str, Any]:
    # With Scrapy's default queues: the disk queue of IN_ORDER hands old requests out again after a kill, and new ones never.
    return with_feed(directory, **options) | {"JOBDIR": str(directory / "job")}


def kill(site: Site, settings: dict[str, Any], **arguments: str) -> None:
    """Run a crawl of the originals that is killed when the store has them all."""
    arguments |= {"url": site.url(), "fatal": str(len(TOPICS)), "halves": "a"}
    assert start([{"spider": "Resumed", "arguments": arguments}], settings=settings).returncode == -signal.SIGKILL


def contents(feed: Path) -> set[str]:
    """Return the contents of the items that can be read."""
    found = set()
    for line in feed.read_text().splitlines():
        try:
            found.add(json.loads(line)["content"])
        except ValueError:
            continue
    return found


@pytest.mark.parametrize("durable", [True, False])
def test_a_resumed_crawl_lacks_nothing_after_a_hard_kill_with_a_durable_feed(site: Site, tmp_path: Path, *, durable: bool) -> None:
    mirror(site)
    settings = with_job(tmp_path) | {"SIMCRAWL_DURABLE_FEED": durable}
    kill(site, settings)
    # Only what is new: Scrapy would ask for the originals again, since it forgets the last few hundred requests in a kill.
    resumed = crawl("Resumed", site.url(), settings=settings, halves="b")
    assert resumed.pages()["exact_duplicate"] == len(TOPICS)
    # Without the setting the items of the originals, fewer than fill a buffer, are gone, and so are their copies.
    assert contents(tmp_path / "feed") == (CONTENTS if durable else set())


@pytest.mark.parametrize("format_", ["jsonlines", "csv", "json", "xml", "marshal", "pickle", "derived"])
def test_what_the_store_knows_is_in_the_file_of_every_format(site: Site, tmp_path: Path, format_: str) -> None:
    mirror(site)
    kill(site, with_feed(tmp_path, format_=format_) | {"FEED_EXPORTERS": {"derived": "tests.crawl.spiders.DerivedExporter"}})
    with open_store(tmp_path / "store", create=False) as store:
        known = {stored.page.url.rpartition("/")[2] for stored in store.pages()}
    assert known == set(TOPICS)
    written = (tmp_path / "feed").read_bytes()
    assert all(f"/a/{topic}".encode() in written for topic in known)


@pytest.mark.parametrize("mode", MODES)
def test_a_copy_does_not_wait_for_the_next_commit(site: Site, tmp_path: Path, mode: str) -> None:
    copies(site)
    # A copy that waited in vain would be kept.
    patience = {"SIMCRAWL_SYNC_SECONDS": 600, "SIMCRAWL_MAX_PAGE_SECONDS": 20}
    outcome = crawl("Plain", site.url(), mode=mode, settings=IN_ORDER | with_feed(tmp_path) | patience)
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    assert outcome.stats["simcrawl/feed/flushes"] >= 2
    assert not any(word in outcome.log for word in ("Traceback", "ERROR", NOT_FLUSHED))
    # All of them, the hub that was too short to be compared among them.
    assert outcome.stats["simcrawl/store/pages"] == outcome.pages()["admitted"] + 1


def test_two_crawlers_that_share_a_store_do_not_wait_for_each_other_s_commit(site: Site, tmp_path: Path) -> None:
    mirror(site)
    patience = {"SIMCRAWL_CRAWL": "both", "SIMCRAWL_SYNC_SECONDS": 600, "SIMCRAWL_MAX_PAGE_SECONDS": 20}
    settings = with_feed(tmp_path) | patience | {"FEEDS": {str(tmp_path / "%(half)s"): {"format": "jsonlines"}}}
    jobs = [{"spider": "Plain", "arguments": {"url": site.url(f"/{half}"), "half": half}} for half in "ab"]
    outcomes = crawls(jobs, settings=settings)
    kept = [path.rpartition("/")[2] for outcome in outcomes for path in outcome.paths("kept")]
    assert all(kept.count(topic) == 1 for topic in TOPICS)


def test_a_line_that_a_kill_has_torn_does_not_take_the_next_item_along(site: Site, tmp_path: Path) -> None:
    mirror(site)
    torn = '{"url": "x", "content": "<lost>", "text": "half of '
    (tmp_path / "feed").write_text(torn)
    outcome = crawl("Resumed", site.url(), settings=with_feed(tmp_path))
    assert contents(tmp_path / "feed") == CONTENTS
    assert (tmp_path / "feed").read_text().startswith(torn + "\n")
    assert outcome.log.count("ended in the middle of a line") == 1


@pytest.mark.parametrize("before", ["", '{"content": "<before>"}\n'])
def test_a_feed_that_ends_as_it_should_is_left_alone(site: Site, tmp_path: Path, before: str) -> None:
    mirror(site)
    (tmp_path / "feed").write_text(before)
    outcome = crawl("Resumed", site.url(), settings=with_feed(tmp_path))
    assert (tmp_path / "feed").read_text().startswith(before + '{"url"')
    assert "middle of a line" not in outcome.log


def test_items_larger_than_the_buffer_are_not_lost_in_a_kill(site: Site, tmp_path: Path) -> None:
    mirror(site)
    settings = with_job(tmp_path)
    kill(site, settings, text="long " * 5_000)
    assert contents(tmp_path / "feed") == CONTENTS
    crawl("Resumed", site.url(), settings=settings, halves="b")
    assert contents(tmp_path / "feed") == CONTENTS


# What is told, the feed's URI below the test's directory, and its options.
OBSTACLES: list[tuple[str, str, dict[str, Any]]] = [
    ("its post-processing plugins hold items back", "{}/feed", {"postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"]}),
    ("its post-processing plugins hold items back", "{}/none", {"postprocessing": []}),
    ("it is cut into batches", "{}/feed%(batch_id)d", {"batch_item_count": 2}),
    ("HoardingExporter may hold items back", "{}/feed", {"format": "hoarding"}),
    ("OwnStorage is not Scrapy's storage of local files", "own://{}/feed", {}),
    ("StdoutFeedStorage is not Scrapy's storage of local files", "stdout:", {}),
    ("it is no regular file", "/dev/null", {}),
]


@pytest.mark.parametrize(
    ("told", "uri", "options", "explicit"),
    [*((*obstacle, False) for obstacle in OBSTACLES), (*OBSTACLES[0], True)],
    ids=[*(told.split()[0] + uri[-4:] for told, uri, _ in OBSTACLES), "explicit"],
)
def test_a_feed_that_cannot_be_flushed_is_told_once_and_the_crawl_goes_on(
    site: Site, tmp_path: Path, told: str, uri: str, options: dict[str, Any], *, explicit: bool
) -> None:
    copies(site)
    settings = {
        "FEEDS": {uri.format(tmp_path): {"format": "jsonlines"} | options},
        "FEED_EXPORTERS": {"hoarding": "tests.crawl.spiders.HoardingExporter"},
        "FEED_STORAGES": {"own": "tests.crawl.spiders.OwnStorage"},
        "SIMCRAWL_DURABLE_FEED": explicit or "auto",
    }
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | with_feed(tmp_path) | settings)
    lines = [line for line in outcome.log.splitlines() if NOT_FLUSHED in line]
    assert len(lines) == 1
    assert lines[0].endswith(told)
    assert ("WARNING" if explicit else "INFO") in lines[0]
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    assert "simcrawl/errors" not in outcome.stats
    assert "simcrawl/feed/flushes" not in outcome.stats


def test_one_feed_that_cannot_be_flushed_does_not_hinder_another(site: Site, tmp_path: Path) -> None:
    mirror(site)
    settings = with_feed(tmp_path)
    settings["FEEDS"]["stdout:"] = {"format": "jsonlines"}
    kill(site, settings)
    assert contents(tmp_path / "feed") == CONTENTS


def test_with_a_store_in_memory_the_items_are_in_the_file_before_their_copies_are_dropped_for_good(site: Site, tmp_path: Path) -> None:
    # Scrapy never asks again for the copies: JOBDIR has them as seen.
    mirror(site)
    settings = with_job(tmp_path) | {"SIMCRAWL_STORE": "memory:"}
    arguments = {"url": site.url(), "fatal": str(len(TOPICS)), "halves": "ab"}
    assert start([{"spider": "Resumed", "arguments": arguments}], settings=settings).returncode == -signal.SIGKILL
    assert contents(tmp_path / "feed") == CONTENTS


@pytest.mark.parametrize("settings", [{"FEEDS": {}}, {"SIMCRAWL_DURABLE_FEED": False}, {"SIMCRAWL_STORE": "memory:"}])
def test_without_a_feed_or_a_store_that_lasts_there_is_nothing_to_flush(site: Site, tmp_path: Path, settings: dict[str, Any]) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | with_feed(tmp_path) | settings)
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    assert "simcrawl/feed/flushes" not in outcome.stats
    assert NOT_FLUSHED not in outcome.log


def test_a_feed_that_breaks_is_told_once_and_the_crawl_goes_on_without(site: Site, tmp_path: Path) -> None:
    copies(site)
    outcome = crawl("FeedBreaker", site.url(), settings=IN_ORDER | with_feed(tmp_path))
    assert outcome.stats["finish_reason"] == "finished"
    assert outcome.log.count("simcrawl cannot flush the feed") == 1
    assert outcome.stats["simcrawl/errors"] == 1
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]


def test_pages_whose_items_find_no_space_are_no_originals(site: Site, tmp_path: Path) -> None:
    copies(site)
    outcome = crawl("DiskFiller", site.url(), settings=IN_ORDER | with_feed(tmp_path) | {"SIMCRAWL_SYNC_SECONDS": 600})
    assert outcome.stats["finish_reason"] == "finished"
    assert outcome.stats["simcrawl/errors"] >= 1
    assert outcome.log.count("simcrawl cannot flush a feed") == 1
    assert {"/first", "/second", "/near"} <= set(outcome.paths("kept"))
