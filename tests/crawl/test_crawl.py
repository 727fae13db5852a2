"""Crawls of small real sites: what is dropped, what is not, and what is counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.crawl.carried import CARRIED
from simcrawl.crawl.changes import CHANGE
from simcrawl.crawl.marks import ASKER, UNYIELDED, YIELDED
from simcrawl.store import open_store
from tests.crawl.content import hub, page
from tests.crawl.runner import MODES, crawl, crawls

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

KINDS = ("admitted", "revisited", "exact_duplicate", "near_duplicate", "skipped")


def copies(site: Site) -> None:
    """Fill a site: `/first` and `/second` have one text, `/near` almost the same, `/other` another; each has a page behind it.

    The links of the first two are the same but for a query, as where a site numbers its sessions.
    """
    site.add("/", hub("/first", "/second", "/near", "/other"))
    site.add("/first", page("7.4/en/protection", "/behind?page=first"))
    site.add("/second", page("7.4/en/protection", "/behind?page=second"))
    site.add("/near", page("7.4/en/protection", "/behind-near", more="Updated."))
    site.add("/other", page("7.4/en/autotext", "/behind-other"))
    for name, topic in (("?page=first", "find-replace"), ("?page=second", "goal-seek"), ("-near", "toolbars"), ("-other", "openpgp")):
        site.add(f"/behind{name}", page(f"7.4/en/{topic}"))


# In the order of the site's links, one at a time: which of two copies is the original is then known.
IN_ORDER = {
    "CONCURRENT_REQUESTS": 1,
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


def check_sums(outcome: Outcome) -> None:
    pages = outcome.pages()
    assert pages["checked"] == sum(pages.get(kind, 0) for kind in KINDS)
    assert pages.get("skipped", 0) == sum(count for name, count in pages.items() if name.startswith("skipped/"))


@pytest.mark.parametrize(
    ("mode", "spider"), [*((mode, spider) for mode in MODES for spider in ("Plain", "Async")), ("asyncio", "Returning")]
)
def test_a_copy_is_dropped_and_so_are_its_outlinks(site: Site, mode: str, spider: str) -> None:
    copies(site)
    outcome = crawl(spider, site.url(), mode=mode, settings=IN_ORDER | {"SIMCRAWL_OUTLINKS": "drop"})
    assert outcome.paths("kept") == ["/", "/behind-other", "/behind?page=first", "/first", "/other"]
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    assert not site.requests["/behind?page=second"]
    assert not site.requests["/behind-near"]
    assert outcome.pages() | {"admitted": 4, "exact_duplicate": 1, "near_duplicate": 1, "dropped": 2} == outcome.pages()
    assert outcome.stats["simcrawl/outlinks/dropped"] == 2
    assert outcome.stats["simcrawl/bytes/duplicate"] > 10_000
    assert "ERROR" not in outcome.log
    check_sums(outcome)


def test_the_outlinks_of_a_copy_are_followed_unless_something_else_is_said(site: Site) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER)
    assert outcome.paths("dropped") == [("/near", "/first"), ("/second", "/first")]
    assert "/near" not in outcome.paths("kept")
    assert {"/behind-near", "/behind?page=second"} <= set(outcome.paths("kept"))
    assert outcome.stats["simcrawl/outlinks/followed"] == outcome.stats["simcrawl/items/dropped"] == 2
    assert "simcrawl/outlinks/dropped" not in outcome.stats


def test_the_outlinks_of_a_page_with_the_text_of_another_but_its_own_links_are_followed(site: Site) -> None:
    copies(site)
    site.add("/second", page("7.4/en/protection", "/behind-second"))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER)
    assert ("/second", "/first") in outcome.paths("dropped")
    assert site.requests["/behind-second"] == 1
    assert outcome.stats["simcrawl/outlinks/followed"] == 2
    assert "simcrawl/outlinks/dropped" not in outcome.stats


@pytest.mark.parametrize(
    ("action", "kept", "fetched"),
    [("drop-items", False, True), ("drop-links", True, False), ("observe", True, True)],
)
def test_actions_drop_only_what_they_say(site: Site, action: str, kept: bool, fetched: bool) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_ACTION": action, "SIMCRAWL_OUTLINKS": "drop"})
    assert ("/second" in outcome.paths("kept")) is kept
    assert bool(site.requests["/behind?page=second"]) is fetched
    assert (outcome.pages()["exact_duplicate"], outcome.pages()["near_duplicate"]) == (1, 1)
    check_sums(outcome)


@pytest.mark.parametrize("spider", ["MetaOptOut", "DontFilter", "Posting"])
def test_what_the_user_asks_for_is_never_dropped(site: Site, spider: str) -> None:
    copies(site)
    outcome = crawl(spider, site.url(), settings=IN_ORDER)
    assert {"/first", "/second", "/near", "/other"} <= set(outcome.paths("kept"))
    assert not outcome.paths("dropped")
    check_sums(outcome)


def test_start_requests_are_never_dropped_but_recorded(site: Site) -> None:
    copies(site)
    site.add("/third", page("7.4/en/protection", note=" third"))
    site.add("/other", page("7.4/en/autotext", "/third"))
    outcome = crawl("Starts", site.url(), settings=IN_ORDER, paths="/first,/second,/other")
    assert {"/first", "/second", "/other"} <= set(outcome.paths("kept"))
    assert [url for url, _ in outcome.paths("dropped")] == ["/third"]
    assert outcome.stats["simcrawl/store/pages"] >= 3


def test_meta_that_is_handed_on_makes_no_start_requests(site: Site) -> None:
    copies(site)
    assert crawl("MetaCopier", site.url(), settings=IN_ORDER).pages()["dropped"] == 2


def test_a_start_request_that_is_a_copy_of_another_one_waits_for_nothing_and_is_recorded(site: Site) -> None:
    copies(site)
    outcome = crawl("Starts", site.url(), paths="/first,/second,/near,/other")
    assert {"/first", "/second", "/near", "/other"} <= set(outcome.paths("kept"))
    assert outcome.stats["simcrawl/store/pages"] == outcome.pages()["checked"]


def test_an_errback_is_told_and_its_output_kept(site: Site) -> None:
    copies(site)
    outcome = crawl("Errback", site.url(), settings=IN_ORDER | {"SIMCRAWL_OUTLINKS": "drop"})
    assert ("/second", "NearDuplicate") in outcome.paths("failed")
    assert f"errback:{site.url('/second')}" in outcome.stats["test/kept"]
    assert "ERROR" not in outcome.log


def test_robots_txt_files_and_other_formats_are_not_judged(site: Site) -> None:
    copies(site)
    # The same body as a page: were it judged, it would be a copy of one, and everything would be allowed.
    site.add("/robots.txt", "User-agent: *\nDisallow: /other\n")
    site.add("/data.json", '{"a": 1}', Content_Type="application/json")
    site.add("/data2.json", '{"a": 1}', Content_Type="application/json")
    site.add("/", hub("/first", "/second", "/other", "/data.json", "/data2.json", "/missing"))
    outcome = crawl("DontFilter", site.url(), settings=IN_ORDER | {"ROBOTSTXT_OBEY": True})
    assert not site.requests["/other"]
    assert outcome.pages()["skipped/not_html"] == 2
    assert outcome.pages()["skipped/status"] == 1
    check_sums(outcome)


@pytest.mark.parametrize("part", [{"Content_Length": "9000000"}, {"status": 206}])
def test_nothing_is_dropped_as_a_copy_of_a_part_of_a_page(site: Site, part: dict[str, Any]) -> None:
    whole = page("7.4/en/protection", more="What the end says.")
    for number in range(3):
        site.add(f"/part{number}", whole.replace("What the end says.", ""), **part)
    site.add("/whole", whole)
    site.add("/copy", whole)
    site.add("/", hub("/part0", "/part1", "/part2", "/whole", "/copy"))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"DOWNLOAD_FAIL_ON_DATALOSS": False})
    assert outcome.pages()["skipped/cut_off"] == 3
    assert outcome.paths("dropped") == [("/copy", "/whole")]
    assert {"/part0", "/part1", "/part2", "/whole"} < set(outcome.paths("kept"))
    check_sums(outcome)


def test_files_of_a_media_pipeline_are_not_judged(site: Site, tmp_path: Path) -> None:
    site.add("/", page("7.4/en/autotext"))
    for name in ("/file-a.html", "/file-b.html"):
        site.add(name, page("7.4/en/protection"))
    settings = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": str(tmp_path)}
    outcome = crawl("Files", site.url(), settings=settings)
    assert outcome.paths("files") == [("/file-a.html", "/file-b.html")]
    assert outcome.pages()["checked"] == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_download_inside_a_callback_always_arrives(site: Site, mode: str) -> None:
    site.add("/", hub("/page"))
    site.add("/page", page("7.4/en/protection"))
    site.add("/copy", page("7.4/en/protection"))
    outcome = crawl("Inline", site.url(), mode=mode)
    ((url, status, size),) = outcome.paths("inline")
    assert (url, status) == ("/copy", 200)
    assert size > 1000
    assert outcome.paths("kept") == ["/", "/page"]
    assert outcome.pages()["checked"] == 2


def test_a_request_that_a_spider_yields_is_told_from_one_that_a_callback_downloads(site: Site) -> None:
    # The former may wait for the page that it is a copy of; the latter would wait for the callback that waits for it.
    site.add("/", hub("/page"))
    site.add("/page", page("7.4/en/protection"))
    site.add("/copy", page("7.4/en/protection"))
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.spiders.BeforeJudgement": 20}}
    outcome = crawl("Marks", site.url(), settings=settings)
    assert outcome.paths("before") == [("/", CARRIED, UNYIELDED), ("/copy", CARRIED, UNYIELDED), ("/page", ASKER, YIELDED, CARRIED)]
    # What only simcrawl reads is gone by then.
    assert outcome.paths("after") == [("/", CHANGE), ("/page", CHANGE)]


def test_verdicts_can_be_read_in_a_callback(site: Site) -> None:
    copies(site)
    outcome = crawl("Verdicts", site.url(), settings=IN_ORDER | {"SIMCRAWL_ACTION": "observe"})
    verdicts = {url: (kind, original) for url, kind, original in outcome.paths("verdicts")}
    assert verdicts["/first"] == ("admitted", None)
    assert verdicts["/second"] == ("exact_duplicate", "/first")
    assert verdicts["/near"] == ("near_duplicate", "/first")
    assert verdicts["/"] == ("skipped", None)


def test_crawl_spiders_and_sitemap_spiders_work(site: Site) -> None:
    copies(site)
    outcome = crawl("Rules", site.url(), settings=IN_ORDER)
    assert outcome.pages()["dropped"] == 2
    site.add("/robots.txt", f"Sitemap: {site.url('/sitemap.xml')}\n")
    locations = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in ("/first", "/second", "/other"))
    xml = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'
    site.add("/sitemap.xml", xml, Content_Type="application/xml")
    outcome = crawl("Sitemaps", site.url(), settings=IN_ORDER)
    assert outcome.pages() | {"admitted": 2, "exact_duplicate": 1, "skipped/not_html": 2} == outcome.pages()


def test_two_urls_that_redirect_to_one_page_are_one_page(site: Site) -> None:
    site.add("/", hub("/a", "/b"))
    for name in ("/a", "/b"):
        site.add(name, "", status=302, Location="/page")
    site.add("/page", page("7.4/en/protection"))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER)
    assert not outcome.paths("dropped")
    assert outcome.pages().get("revisited", 0) <= 1


def test_a_cached_page_is_judged_like_a_fresh_one(site: Site, tmp_path: Path) -> None:
    copies(site)
    settings = IN_ORDER | {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache"), "SIMCRAWL_STORE": str(tmp_path / "store")}
    first = crawl("Plain", site.url(), settings=settings)
    second = crawl("Plain", site.url(), settings=settings)
    assert second.stats["httpcache/hit"] == second.stats["response_received_count"]
    assert second.paths("kept") == first.paths("kept")
    assert "admitted" not in second.pages()


@pytest.mark.parametrize("late", ["", "yes"])
def test_a_page_whose_callback_fails_is_no_original(site: Site, late: str) -> None:
    copies(site)
    outcome = crawl("Broken", site.url(), settings=IN_ORDER, late=late)
    assert "/second" in outcome.paths("kept")
    assert ("/near", "/second") in outcome.paths("dropped")


def test_a_page_whose_item_fails_is_no_original(site: Site) -> None:
    copies(site)
    settings = IN_ORDER | {"ITEM_PIPELINES": {"tests.crawl.spiders.FailingPipeline": 300}}
    outcome = crawl("Plain", site.url(), settings=settings)
    assert "/second" in outcome.paths("kept")
    assert ("/near", "/second") in outcome.paths("dropped")


def test_a_page_whose_items_another_component_takes_out_is_an_original_all_the_same(site: Site, tmp_path: Path) -> None:
    copies(site)
    settings = {"SPIDER_MIDDLEWARES": {"tests.crawl.spiders.Picky": 10}, "SIMCRAWL_STORE": str(tmp_path / "store")}
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | settings)
    assert outcome.pages()["dropped"] == 2
    with open_store(tmp_path / "store", create=False) as store:
        assert store.page(site.url("/first"))


def test_a_page_that_takes_too_long_passes(site: Site) -> None:
    copies(site)
    settings = {"SIMCRAWL_EXTRACTOR": "tests.crawl.spiders.slow_text", "SIMCRAWL_MAX_PAGE_SECONDS": 2}
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | settings)
    assert outcome.pages()["skipped/too_slow"] == 1
    assert {"/first", "/second", "/other"} <= set(outcome.paths("kept"))
    check_sums(outcome)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fail", ["", "yes"])
def test_a_copy_waits_for_its_original(site: Site, mode: str, fail: str) -> None:
    site.add("/", hub("/first"))
    for name in ("/first", "/second"):
        site.add(name, page("7.4/en/protection"))
    outcome = crawl("Waiting", site.url(), mode=mode, fail=fail)
    assert outcome.paths("kept") == (["/", "/second"] if fail else ["/", "/first"])
    assert outcome.paths("dropped") == ([] if fail else [("/second", "/first")])


def test_a_copy_does_not_wait_for_ever(site: Site) -> None:
    site.add("/", hub("/first"))
    for name in ("/first", "/second"):
        site.add(name, page("7.4/en/protection"))
    site.add("/tick19", "", hold=_never())
    outcome = crawl("Waiting", site.url(), settings={"SIMCRAWL_MAX_PAGE_SECONDS": 0.5, "DOWNLOAD_TIMEOUT": 5, "RETRY_ENABLED": False})
    assert "/second" in outcome.paths("kept")


def _never() -> Any:
    from threading import Event

    return Event()


def test_two_crawlers_in_one_process_share_a_store(site: Site, tmp_path: Path) -> None:
    copies(site)
    jobs = [{"spider": name, "arguments": {"url": site.url()}} for name in ("Plain", "Async")]
    one, two = crawls(jobs, settings={"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_CRAWL": "both"})
    admitted = one.pages().get("admitted", 0) + two.pages().get("admitted", 0)
    assert admitted == one.stats["simcrawl/store/pages"] - 1
    for outcome in (one, two):
        check_sums(outcome)
        assert "ERROR" not in outcome.log


def test_near_duplicate_items_are_dropped_by_a_field(site: Site) -> None:
    from tests.crawl.content import topic

    texts = [topic("7.4/en/protection"), topic("7.4/en/protection") + "<p>One more sentence.</p>", topic("7.4/en/autotext")]
    site.add("/", "<html><body>" + "".join(f"<section>{text}</section>" for text in texts) + "</body></html>")
    outcome = crawl("Sections", site.url(), settings={"SIMCRAWL_ITEM_FIELD": "text"})
    assert [url.partition("#")[2] for url in outcome.paths("kept")] == ["0", "2"]
    assert outcome.stats["simcrawl/items/dropped"] == outcome.stats["item_dropped_count"] == 1


def test_items_too_have_the_same_result_every_time_with_a_seed(site: Site) -> None:
    from tests.crawl.content import topic

    # Which distance two texts have is the seed's doing.
    texts = [
        topic(f"7.4/en/{name}") + more for name in ("protection", "find-replace", "openpgp") for more in ("", "<p>One more sentence.</p>")
    ]
    site.add("/", "<html><body>" + "".join(f"<section>{text}</section>" for text in texts) + "</body></html>")
    told = []
    for seed in (1, 1, 2):
        settings = {"SIMCRAWL_ITEM_FIELD": "text", "SIMCRAWL_STORE": f"memory:?seed={seed}"}
        # In any order: which of them waits for its original is chance.
        told.append(sorted(re.findall(r"\(distance [^)]+\)", crawl("Sections", site.url(), settings=settings).log)))
    assert len(told[0]) == 3
    assert told[0] == told[1] != told[2]


def test_the_first_drop_is_told_and_with_debug_every_one(site: Site) -> None:
    copies(site)
    quiet = crawl("Plain", site.url(), settings=IN_ORDER | {"LOG_LEVEL": "INFO"})
    loud = crawl("Plain", site.url(), settings=IN_ORDER | {"LOG_LEVEL": "INFO", "SIMCRAWL_DEBUG": True})
    assert (quiet.log.count("INFO: Dropped "), loud.log.count("INFO: Dropped ")) == (1, 2)
    assert "identical text of" in quiet.log or "identical body of" in quiet.log
    assert "SIMCRAWL_DEBUG" in quiet.log
