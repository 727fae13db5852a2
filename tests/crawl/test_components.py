"""Side by side with other components: nothing is lost because of what they do."""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.store import open_store
from tests.crawl.content import hub, page, topic
from tests.crawl.runner import MODES, crawl, start
from tests.crawl.test_crawl import IN_ORDER, check_sums, copies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import Site

COMPONENTS = "simcrawl.crawl"
MIDDLEWARES = {
    "DOWNLOADER_MIDDLEWARES": {f"{COMPONENTS}.NearDuplicateDownloaderMiddleware": 10},
    "SPIDER_MIDDLEWARES": {f"{COMPONENTS}.NearDuplicateSpiderMiddleware": 0, f"{COMPONENTS}.CallbackWatchMiddleware": 10_000},
    "EXTENSIONS": {f"{COMPONENTS}.SimcrawlExtension": 0},
}


def test_a_page_that_gave_no_items_is_no_original_for_a_callback_that_gives_some(site: Site) -> None:
    site.add("/", hub("/list", "/page"))
    site.add("/list", page("7.4/en/protection"))
    site.add("/page", page("7.4/en/protection"))
    assert crawl("TwoCallbacks", site.url(), settings=IN_ORDER).paths("kept") == ["/", "/page"]


def test_a_page_that_gave_no_items_is_an_original_for_its_own_callback(site: Site) -> None:
    site.add("/", hub("/list1", "/list2"))
    site.add("/list1", page("7.4/en/protection"))
    site.add("/list2", page("7.4/en/protection", "/behind"))
    outcome = crawl("TwoCallbacks", site.url(), settings=IN_ORDER)
    assert outcome.paths("dropped") == [("/list2", "/list1")]


@pytest.mark.parametrize(
    "settings",
    [
        {"ITEM_PIPELINES": {"tests.crawl.spiders.RefusingPipeline": 300}},
        {"SPIDER_MIDDLEWARES": {"tests.crawl.spiders.Gate": 500}},
        {"SPIDER_MIDDLEWARES": {"tests.crawl.spiders.Gate": 500, "tests.crawl.spiders.Quiet": 600}},
        {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.spiders.Refuser": 400}},
        {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.spiders.Refuser": 5}, "SIMCRAWL_MAX_PAGE_SECONDS": 1},
    ],
)
def test_a_page_that_another_component_refuses_is_no_original(site: Site, settings: dict[str, Any]) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | settings)
    assert "/second" in outcome.paths("kept")
    assert "/first" not in outcome.paths("kept")


def test_a_failure_that_another_component_swallows_still_counts(site: Site) -> None:
    copies(site)
    settings = {"SPIDER_MIDDLEWARES": {"tests.crawl.spiders.Quiet": 500}}
    outcome = crawl("Broken", site.url(), settings=IN_ORDER | settings, late="yes")
    assert "/second" in outcome.paths("kept")


@pytest.mark.parametrize("position", [543, 5])
def test_what_is_judged_is_what_the_callback_gets(site: Site, position: int) -> None:
    copies(site)
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.spiders.Renderer": position}}
    site.add("/second", page("7.4/en/protection"))
    outcome = crawl("Starts", site.url(), settings=IN_ORDER | settings, paths="/first,/second,/near,/other")
    assert not outcome.paths("dropped")
    assert outcome.log.count("was changed after simcrawl judged it") == (position == 5)
    check_sums(outcome)


@pytest.mark.parametrize("wished", ["", "yes"])
def test_a_copy_that_a_middleware_leads_elsewhere_is_a_copy_unless_the_spider_asked_for_it(site: Site, wished: str) -> None:
    """That the middleware leaves no filter between says nothing of what the spider wants."""
    copies(site)
    site.answers |= {f"{path}{'&' if '?' in path else '?'}by=other": answer for path, answer in site.answers.items()}
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.spiders.Detour": 543}}
    outcome = crawl("DontFilter" if wished else "Plain", site.url(), settings=IN_ORDER | settings)
    assert ("/second" in outcome.paths("kept")) == bool(wished)


def test_equal_shells_still_lead_to_what_their_scripts_would_ask_for(site: Site) -> None:
    site.add("/", hub("/shell1", "/shell2"))
    for number in (1, 2):
        site.add(f"/shell{number}", "<html><body><div>Loading...</div></body></html>")
        site.add(f"/api{number}", f'{{"name": "product {number}"}}', Content_Type="application/json")
    assert {"/api1", "/api2"} <= set(crawl("Shells", site.url(), settings=IN_ORDER).paths("kept"))


def test_items_too_short_to_compare_pass_and_refused_ones_are_no_originals(site: Site) -> None:
    texts = [topic(), topic() + "<p>Updated.</p>", "No description available.", "No description available."]
    site.add("/", "<html><body>" + "".join(f"<section>{text}</section>" for text in texts) + "</body></html>")
    settings = {"SIMCRAWL_ITEM_FIELD": "text", "ITEM_PIPELINES": {"tests.crawl.spiders.RefusingPipeline": 300}}
    outcome = crawl("Sections", site.url(), settings=settings)
    assert [url.partition("#")[2] for url in outcome.paths("kept")] == ["1", "2", "3"]


def test_items_that_a_later_pipeline_replaces_are_originals(site: Site) -> None:
    texts = [topic(), topic() + "<p>Updated.</p>", topic()]
    site.add("/", "<html><body>" + "".join(f"<section>{text}</section>" for text in texts) + "</body></html>")
    settings = {"SIMCRAWL_ITEM_FIELD": "text", "ITEM_PIPELINES": {"tests.crawl.spiders.CopyingPipeline": 300}}
    outcome = crawl("Sections", site.url(), settings=settings)
    assert [url.partition("#")[2] for url in outcome.paths("kept")] == ["0"]


def test_a_kill_leaves_nothing_of_the_store_of_items(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    site.add("/", f"<html><body><section>{topic()}</section></body></html>")
    settings = {"SIMCRAWL_ITEM_FIELD": "text", "ITEM_PIPELINES": {"tests.crawl.spiders.KillingPipeline": 300}}
    done = start([{"spider": "Sections", "arguments": {"url": site.url()}}], settings=settings)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_components_set_by_hand_work_and_can_be_switched_off(site: Site) -> None:
    copies(site)
    by_hand = IN_ORDER | MIDDLEWARES | {"ADDONS": {}}
    assert crawl("Plain", site.url(), settings=by_hand).pages()["dropped"] == 2
    assert not crawl("Plain", site.url(), settings=by_hand | {"SIMCRAWL_ENABLED": False}).pages()
    assert not crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_ENABLED": False}).pages()


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("DOWNLOADER_MIDDLEWARES", "NearDuplicateDownloaderMiddleware"),
        ("SPIDER_MIDDLEWARES", "NearDuplicateSpiderMiddleware"),
        ("SPIDER_MIDDLEWARES", "CallbackWatchMiddleware"),
    ],
)
def test_a_component_without_its_partner_drops_nothing_and_says_so(site: Site, setting: str, name: str) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {setting: {f"{COMPONENTS}.{name}": None}, "SIMCRAWL_MAX_PAGE_SECONDS": 1})
    assert {"/first", "/second", "/near"} <= set(outcome.paths("kept"))
    assert f"simcrawl needs {name} too" in outcome.log


def test_a_position_of_the_users_stays(site: Site) -> None:
    copies(site)
    settings = {"DOWNLOADER_MIDDLEWARES": {f"{COMPONENTS}.NearDuplicateDownloaderMiddleware": 545}}
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | settings)
    assert outcome.pages()["dropped"] == 2


def test_a_page_that_is_kept_after_all_leaves_the_register(site: Site, tmp_path: Path) -> None:
    copies(site)
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store")}
    crawl("Plain", site.url(), settings=settings)
    site.add("/second", page("25.2/en/content-controls"))
    crawl("Plain", site.url(), settings=settings)
    with open_store(tmp_path / "store", create=False) as store:
        assert [line.url for line in store.duplicates()] == [site.url("/near")]


def test_the_site_spider_yields_texts_of_kept_copies_and_none_of_huge_pages(site: Site, tmp_path: Path) -> None:
    copies(site)
    site.add("/other", page("7.4/en/autotext") + " " * 100_000)
    feed = tmp_path / "items.jsonl"
    settings = {"SIMCRAWL_ACTION": "observe", "SIMCRAWL_MAX_PAGE_BYTES": 50_000}
    crawl("SiteSpider", site.url(), settings=IN_ORDER | settings | _feed_to(feed))
    items = {item["url"]: item for item in _items(feed)}
    assert items[site.url("/first")]["text"] == items[site.url("/second")]["text"]
    assert len(items[site.url("/first")]["text"]) > 1000
    assert (items[site.url("/other")]["text"], items[site.url("/other")]["skipped"]) == (None, "too_large")


@pytest.mark.parametrize("mode", MODES)
def test_texts_of_processes_are_those_of_threads(site: Site, tmp_path: Path, mode: str) -> None:
    copies(site)
    fed = [_fed(site, tmp_path / f"{workers}.jsonl", mode=mode, SIMCRAWL_WORKERS=workers) for workers in (1, 0)]
    assert fed[0] == fed[1]
    assert len([text for text in fed[0].values() if len(text or "") > 1000]) >= 2


def test_a_text_that_takes_too_long_is_missing_and_told(site: Site, tmp_path: Path) -> None:
    copies(site)
    # Takes trafilatura a second, and simcrawl some tenths.
    long = "<p>One of many paragraphs, with <a href=/>a link</a> and <b>bold</b> words.</p>" * 3_000
    site.add("/other", f"<html><body>{long}</body></html>")
    outcome = crawl("Hurried", site.url(), settings=IN_ORDER | _feed_to(tmp_path / "items.jsonl"))
    missing = [item for item in _items(tmp_path / "items.jsonl") if item["text"] is None and item["fingerprint"]]
    assert site.url("/other") in {item["url"] for item in missing}
    assert outcome.stats["simcrawl/errors"] >= len(missing)
    assert outcome.stats["simcrawl/workers/restarts/too_slow"] >= 1
    assert outcome.log.count("cannot be made: it takes more than 10 seconds, or its process died of it. Its item has none") == 1
    assert outcome.pages()["dropped"] == 2


def test_where_no_process_starts_for_texts_they_are_made_in_threads_and_pages_as_before(site: Site, tmp_path: Path) -> None:
    copies(site)
    outcome = crawl("Textless", site.url(), settings=IN_ORDER | _feed_to(tmp_path / "items.jsonl"))
    assert len([item for item in _items(tmp_path / "items.jsonl") if len(item["text"] or "") > 1000]) >= 2
    assert outcome.log.count("Main texts are made in threads, where they hold up the crawl") == 1
    assert outcome.stats["simcrawl/workers/processes"] == 1
    assert "Pages are processed in threads" not in outcome.log


def _feed_to(path: Path) -> dict[str, Any]:
    return {"FEEDS": {str(path): {"format": "jsonlines"}}}


def _items(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _fed(site: Site, path: Path, *, mode: str, **settings: Any) -> dict[str, str | None]:
    outcome = crawl("SiteSpider", site.url(), mode=mode, settings=IN_ORDER | settings | _feed_to(path))
    assert not re.search(r"\[simcrawl[.\w]*\] WARNING", outcome.log)
    return {item["url"]: item["text"] for item in _items(path)}
