"""One spider, one lasting store, night after night, on a site that changes as sites do: no content may be missing from any night's feed."""

from __future__ import annotations

import json
import re
from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.store import open_store, upgrade
from tests.crawl.content import DEMO, hub, page
from tests.crawl.runner import MODES, crawl, crawls
from tests.crawl.server import Site
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english, page as sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.crawl.runner import Outcome

TOPICS = [f"7.4/en/{file.stem}" for file in sorted((DEMO / "7.4/en").glob("*.html")) if file.stem != "index"]
FOLDERS = ("main", "mirror", "print")
NIGHTS: dict[str, Any] = {"LOG_LEVEL": "INFO", "DEPTH_PRIORITY": 1, "SIMCRAWL_MAX_PAGE_SECONDS": 60}


def build(site: Site, folders: tuple[str, ...] = FOLDERS, order: int = 1) -> None:
    """Let every topic stand in three folders, in the last one with a word more."""
    site.answers.clear()
    site.add("/", hub(*(f"/{folder}/" for folder in folders[::order])))
    for number, folder in enumerate(folders):
        site.add(f"/{folder}/", hub(*(f"/{folder}/{place}" for place in range(len(TOPICS)))))
        for place, topic in enumerate(TOPICS):
            site.add(f"/{folder}/{place}", page(topic, more="Print." if number == len(folders) - 1 else ""))


def contents(site: Site, outcome: Outcome) -> set[str]:
    """Return the topics that came out."""
    titles = [re.findall(r"<title>(.*?)</title>", site.answers[path].body.decode()) for path in outcome.paths("kept")]
    return {title for found in titles for title in found}


def night(site: Site, store: Path | str, **options: Any) -> Outcome:
    spider = options.pop("spider", "Plain")
    url = options.pop("url", site.url())
    return crawl(spider, url, settings=NIGHTS | {"SIMCRAWL_STORE": str(store)} | options)


def gone(site: Site) -> dict[str, Any]:
    for place in range(0, len(TOPICS), 2):
        del site.answers[f"/main/{place}"]
    return {}


def moved(site: Site) -> dict[str, Any]:
    build(site, ("main-2", "mirror", "print"))
    return {}


def ordered(site: Site) -> dict[str, Any]:
    build(site, order=-1)
    return {}


def host(site: Site) -> dict[str, Any]:
    return {"url": site.url().replace("127.0.0.1", "localhost")}


def rewritten(site: Site) -> dict[str, Any]:
    for place in range(0, len(TOPICS), 2):
        site.add(f"/main/{place}", page(TOPICS[place], note=" rewritten", more=english(150, seed=place)))
    return {}


def same(_: Site) -> dict[str, Any]:
    return {}


def build_with_sitemap(site: Site) -> None:
    build(site)
    sitemap = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in site.answers)
    site.add("/robots.txt", f"Sitemap: {site.url('/sitemap.xml')}", Content_Type="text/plain")
    site.add("/sitemap.xml", f'<?xml version="1.0"?><urlset>{sitemap}</urlset>', Content_Type="application/xml")


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path, Outcome]]:
    """A site, and the store and the outcome of a first crawl of it."""
    store = tmp_path_factory.mktemp("first") / "store"
    with Site() as site:
        build_with_sitemap(site)
        outcome = night(site, store)
        assert outcome.stats["item_scraped_count"] >= len(TOPICS)
        yield site, store, outcome


@pytest.mark.parametrize(
    ("first", "change"),
    [
        ({}, same),
        ({}, ordered),
        ({}, gone),
        ({}, moved),
        ({}, host),
        ({}, rewritten),
        ({"SIMCRAWL_ACTION": "observe"}, same),
        ({"spider": "Sitemaps"}, same),
    ],
    ids=["same", "order", "gone", "moved", "host", "rewritten", "observe", "spiders"],
)
def test_the_second_night_brings_out_what_it_would_without_the_first(
    first_night: tuple[Site, Path, Outcome], tmp_path: Path, first: dict[str, Any], change: Callable[[Site], dict[str, Any]]
) -> None:
    site, store, alone = first_night
    build_with_sitemap(site)
    if first:
        assert night(site, tmp_path / "store", **first).stats["item_scraped_count"] >= len(TOPICS)
    else:
        copytree(store, tmp_path / "store")
    options = change(site)
    if change is not same:
        alone = night(site, "memory:", **options)
    second = night(site, tmp_path / "store", **options)
    assert contents(site, second) >= contents(site, alone)
    assert "WARNING" not in second.log
    assert second.pages()["dropped"] >= len(TOPICS)
    with open_store(tmp_path / "store", create=False) as opened:
        assert opened.verify() == []


def test_with_originals_of_the_store_only_what_is_new_comes_out_and_that_is_said(site: Site, tmp_path: Path) -> None:
    build(site)
    night(site, tmp_path / "store", SIMCRAWL_ORIGINALS="store")
    options = host(site)
    second = night(site, tmp_path / "store", SIMCRAWL_ORIGINALS="store", **options)
    # The start page is asked for, and pages of links are too short to be near-copies.
    assert contents(site, second) == set()
    (warning,) = [line for line in second.log.splitlines() if " WARNING: " in line]
    assert "have an original that this crawl has not fetched" in warning
    assert 'SIMCRAWL_ORIGINALS = "crawl"' in warning


@pytest.mark.parametrize("turned", [False, True], ids=["originals-first", "half-of-the-copies-first"])
def test_with_originals_of_the_store_copies_are_skipped_the_next_night_as_well(site: Site, tmp_path: Path, turned: bool) -> None:
    def show(*, turned: bool) -> Outcome:
        links = list[str]()
        for start in range(0, 400, 50):
            here, there = (FOLDERS[1], FOLDERS[0]) if turned and start % 100 else FOLDERS[:2]
            links += [f"/{folder}/{number}" for folder in (here, there) for number in range(start, start + 50)]
        site.add("/", hub(*links))
        return night(site, tmp_path / "store", SIMCRAWL_ORIGINALS="store")

    for number in range(400):
        body = f"<h1>Number {number}</h1><p>{english(12, seed=number)}</p>"
        for folder in FOLDERS[:2]:
            site.add(f"/{folder}/{number}", f"<html><head><title>{number}</title></head><body><main>{body}</main></body></html>")
    everything = contents(site, show(turned=False))
    assert len(everything) == 400
    again = show(turned=turned)
    assert contents(site, again) == everything
    assert again.stats["simcrawl/predicted/skipped"] > 50
    # No original has waited behind its copy as a likely copy itself.
    assert "simcrawl/predicted/wrong" not in again.stats


@pytest.mark.parametrize("status", [200, 503, None], ids=["met", "failing", "not-linked"])
def test_with_originals_of_the_store_what_was_corrected_after_it_moved_comes_out(site: Site, tmp_path: Path, status: int | None) -> None:
    def show(folder: str, more: str, status: int | None = 200) -> set[str]:
        site.answers.clear()
        site.add("/", hub(*(f"/{folder}/{place}" for place in range(len(TOPICS)) if status)))
        for place, topic in enumerate(TOPICS):
            site.add(
                f"/{folder}/{place}",
                page(topic, more=more and f"<p>{more} It was found by reader {english(2, seed=place)}.</p>"),
                status=status or 200,
            )
        return contents(site, night(site, tmp_path / "store", SIMCRAWL_ORIGINALS="store", RETRY_ENABLED=False))

    everything = show("articles", "")
    assert len(everything) == len(TOPICS)
    assert show("archive", "") == set()
    # A bad night takes nothing from what the one before knew.
    assert show("archive", "", status) == set()
    assert show("archive", "Correction: an earlier version of this page gave a wrong name.") == everything


def test_what_has_changed_is_told_to_callbacks_and_in_the_stats_and_in_the_history(site: Site, tmp_path: Path) -> None:
    site.add("/", hub("/same", "/other", "/gone", "/moved", "/broken", "/unlinked"))
    site.add("/unlinked", page("7.4/en/find-replace"))
    site.add("/same", page("7.4/en/protection"))
    site.add("/other", page("7.4/en/autotext"))
    site.add("/gone", page("7.4/en/toolbars"))
    site.add("/moved", page("7.4/en/goal-seek"))
    site.add("/broken", page("7.4/en/openpgp"))
    first = night(site, tmp_path / "store", spider="Changing")
    assert {change for _, change in first.paths("changes")} == {"new"}
    site.add("/", hub("/same", "/other", "/gone", "/moved", "/broken", "/new"))
    site.add("/other", page("7.4/en/remote-files"))
    site.add("/moved", "", status=301, Location="/moved-to")
    site.add("/moved-to", page("7.4/en/goal-seek"))
    site.add("/broken", "", status=503)
    site.add("/new", page("7.4/en/autoformat"))
    del site.answers["/gone"]
    second = night(site, tmp_path / "store", spider="Changing", RETRY_ENABLED=False)
    assert dict(second.paths("changes")) == {"/": "changed", "/same": "unchanged", "/other": "changed", "/moved-to": "new", "/new": "new"}
    told = {name: second.stats[f"simcrawl/changes/{name}"] for name in ("new", "unchanged", "changed", "gone", "not_met")}
    assert told == {"new": 2, "unchanged": 1, "changed": 2, "gone": 1, "not_met": 1}
    with open_store(tmp_path / "store", create=False) as store:
        record = store.crawls()[-1]["changes"]
    assert record["gone"] == 1
    assert record["urls"]["gone"] == [site.url("/gone")]
    assert record["urls"]["not met again"] == [site.url("/unlinked")]
    assert "2 new, 2 changed, 1 unchanged, 1 gone and 1 not met again" in second.log


@pytest.mark.parametrize("trouble", ["fails", "refuses", "misses"])
def test_what_did_not_come_out_is_not_unchanged_the_next_night(site: Site, tmp_path: Path, trouble: str) -> None:
    site.add("/", hub("/same", "/other"))
    site.add("/same", page("7.4/en/protection"))
    site.add("/other", page("7.4/en/autotext"))
    options = {"ITEM_PIPELINES": {"tests.crawl.spiders.Refusing": 1}}

    def come(url: str = "") -> list[str]:
        settings = NIGHTS | {"SIMCRAWL_STORE": str(tmp_path / "store")} | options
        job = {"spider": "Changed", "arguments": {"url": site.url(), trouble: url}}
        return crawls([job], settings=settings)[0].paths("kept")

    assert come("/same") == ["/", "/other"]
    assert come() == ["/same"]
    # What has come out once has not to come again.
    assert come("/same") == come() == []
    site.add("/same", page("7.4/en/goal-seek"))
    assert come("/same") == []
    assert come() == ["/same"]
    assert come() == []


@pytest.mark.parametrize("workers", [0, 1])
def test_a_new_passage_counts_on_a_night_on_which_its_page_is_recalled(site: Site, tmp_path: Path, workers: int) -> None:
    """The store has no places: see `simcrawl.detector.knows_too_little`."""
    lines = english(300).splitlines()
    said = {word: [f"{line} See {word}." if number % 12 == 0 else line for number, line in enumerate(lines)] for word in ("old", "new")}
    passage = " ".join(f"parameter{number}" for number in range(60))
    site.add("/1.4/x.html", sample("\n".join(said["old"])))
    site.add("/2.0/x.html", sample("\n".join([*said["new"][:40], passage, *said["new"][40:]])))
    kept = []
    for paths in (("/2.0/x.html", "/1.4/x.html"), ("/1.4/x.html", "/2.0/x.html"), ("/2.0/x.html", "/1.4/x.html")):
        site.add("/", hub(*paths))
        kept.append(night(site, tmp_path / "store", SIMCRAWL_WORKERS=workers, **IN_ORDER).paths("kept"))
    assert kept == [["/", "/2.0/x.html"], ["/", "/1.4/x.html", "/2.0/x.html"], ["/", "/2.0/x.html"]]


def test_what_a_callback_has_saved_itself_has_come_out(site: Site, tmp_path: Path) -> None:
    site.add("/", hub("/same"))
    site.add("/same", page("7.4/en/protection"))
    arguments = {"url": site.url(), "saves": "/same"}
    settings = NIGHTS | {"SIMCRAWL_STORE": str(tmp_path / "store")}
    kept = [crawls([{"spider": "Changed", "arguments": arguments}], settings=settings)[0].paths("kept") for _ in range(2)]
    assert kept == [["/", "/same"], []]


@pytest.mark.parametrize("originals", ["crawl", "store"])
def test_what_nobody_has_taken_has_not_come_out(site: Site, tmp_path: Path, originals: str) -> None:
    """A trial run: it has no feed, and no pipeline."""
    site.add("/", hub("/same", "/other"))
    for path, topic in (("/same", "7.4/en/protection"), ("/other", "7.4/en/autotext")):
        site.add(path, page(topic))

    def come(**arguments: str) -> list[str]:
        settings = NIGHTS | {"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_ORIGINALS": originals}
        outcome = crawls([{"spider": "Changed", "arguments": {"url": site.url()} | arguments}], settings=settings)[0]
        assert not arguments or outcome.stats["item_scraped_count"] == 3
        return outcome.paths("kept")

    assert come(is_trial="yes") == []
    # One of the pages has moved since.
    site.add("/", hub("/moved", "/other"))
    site.add("/moved", page("7.4/en/protection"))
    del site.answers["/same"]
    assert come() == ["/", "/moved", "/other"]
    assert come() == []


def _three_nights(tmp_path: Path, spider: str, url: str, *first: dict[str, str], **settings: Any) -> list[list[str]]:
    """Return what comes out each night; the first one with arguments of its own, or, with `settings`, of Scrapy alone."""
    came = []
    for number in range(3):
        arguments = {"url": url} | (first[0] if first and not number else {})
        own = settings if not number else {}
        night_settings = NIGHTS | {"SIMCRAWL_STORE": str(tmp_path / "store")} | own
        came.append(crawls([{"spider": spider, "arguments": arguments}], settings=night_settings)[0].paths("kept"))
    return came


@pytest.mark.parametrize("first", [{"misses": "yes"}, {"is_trial": "yes"}])
def test_a_near_copy_that_gave_nothing_has_not_come_out_either(site: Site, tmp_path: Path, first: dict[str, str]) -> None:
    paths = []
    for town in ("Berlin", "Hamburg", "Bonn"):
        for number in range(2):
            paths.append(f"/{town.lower()}/{number}.html")
            said = f"<main><h1>Seminar {number}</h1><p>{english(40, seed=number)}</main><aside><p>Where: <b>{town}, hall 3</b></aside>"
            site.add(paths[-1], f"<title>Seminar {number}</title>{said}")
    site.add("/", hub(*paths))
    assert _three_nights(tmp_path, "ChangedHalls", site.url(), first) == [[], sorted(paths), []]


@pytest.mark.parametrize("first", [{}, {"misses": "yes"}])
def test_what_comes_of_a_page_with_another_one_has_come_of_both(site: Site, tmp_path: Path, first: dict[str, str]) -> None:
    for path, topic in (("/same", "7.4/en/protection"), ("/other", "7.4/en/autotext")):
        site.add(path, page(topic))
        site.add(f"{path}.json", "{}", type_="application/json")
    site.add("/", hub("/same", "/other"))
    both = ["/other", "/same"]
    assert _three_nights(tmp_path, "ChangedInParts", site.url(), first) == [[] if first else both, both if first else [], []]


def test_what_no_feed_takes_has_not_come_out(site: Site, tmp_path: Path) -> None:
    site.add("/same", page("7.4/en/protection"))
    site.add("/", hub("/same"))
    feeds = {str(tmp_path / "%(time)s.jsonl"): {"format": "jsonlines", "item_classes": ["tests.crawl.spiders.OfAnotherKind"]}}
    first = {"is_trial": "yes"}
    # On the first night nobody listens, and the feed takes none.
    came = _three_nights(tmp_path, "Changed", site.url(), first, FEEDS=feeds)
    assert came == [[], ["/", "/same"], []]


def test_what_has_come_out_is_unchanged_after_a_night_on_which_its_server_failed(site: Site, tmp_path: Path) -> None:
    pages = {"/same": "protection", "/other": "autotext"}

    def come(status: int = 200) -> list[tuple[str, str]]:
        site.add("/", hub(*pages))
        for path, topic in pages.items():
            site.add(path, page(f"7.4/en/{topic}"), status=status)
        return night(site, tmp_path / "store", spider="Changing", RETRY_ENABLED=False).paths("changes")

    assert come() == [("/", "new"), ("/other", "new"), ("/same", "new")]
    assert come(503) == [("/", "unchanged")]
    pages["/other"] = "goal-seek"
    assert come() == [("/", "unchanged"), ("/other", "changed"), ("/same", "unchanged")]


def _copies(site: Site, tmp_path: Path, *paths: str) -> dict[str, str]:
    """Crawl a start page with these links, in their order; return what is said of each page that was kept."""
    site.add("/", hub(*paths))
    outcome = night(site, tmp_path / "store", spider="Changed", **IN_ORDER)
    changes = dict(outcome.paths("changes"))
    dropped = {copy for copy, _ in outcome.paths("dropped")}
    return {path: change for path, change in changes.items() if path in paths and path not in dropped}


def test_a_copy_that_is_kept_now_is_new_unless_its_original_says_the_same(site: Site, tmp_path: Path) -> None:
    for path, more in (("/a", ""), ("/b", "Print."), ("/c", ""), ("/d", "")):
        site.add(path, page("7.4/en/protection", more=more))
    assert _copies(site, tmp_path, "/a", "/b", "/c", "/d") == {"/a": "new"}
    # The other ones come first, and one of them says more than what came out last night.
    assert _copies(site, tmp_path, "/b", "/a", "/c", "/d") == {"/b": "new"}
    assert _copies(site, tmp_path, "/c", "/a", "/b", "/d") == {"/c": "unchanged"}
    # It has come out once.
    assert _copies(site, tmp_path, "/b", "/a", "/c", "/d") == {"/b": "unchanged"}
    assert _copies(site, tmp_path, "/c", "/a", "/b", "/d") == {"/c": "unchanged"}
    with open_store(tmp_path / "store") as store:
        assert store.reject(site.url("/d"))
    assert _copies(site, tmp_path, "/c", "/a", "/b", "/d") == {"/c": "unchanged", "/d": "new"}
    assert _copies(site, tmp_path, "/c", "/a", "/b", "/d") == {"/c": "unchanged", "/d": "unchanged"}


def test_a_page_that_no_night_fetched_is_unchanged_as_a_copy_of_what_came_out(site: Site, tmp_path: Path) -> None:
    for path, more in (("/a", ""), ("/b", ""), ("/c", ""), ("/more", "Not for children below the age of twelve, says the maker.")):
        site.add(path, page("7.4/en/protection", more=more))
    site.add("/", hub("/a"))
    settings: dict[str, Any] = {"spider": "Changed", **IN_ORDER}
    assert night(site, tmp_path / "store", **settings).paths("kept") == ["/", "/a"]
    site.add("/", hub("/a", "/b", "/more"))
    second = night(site, tmp_path / "store", **settings)
    assert dict(second.paths("changes")) == {"/": "changed", "/a": "unchanged", "/b": "unchanged", "/more": "new"}
    # Known as a copy from a night that was cut off, as one that was skipped is, and met before its original now.
    site.add("/", hub("/a", "/c", "/b", "/more"))
    assert night(site, tmp_path / "store", CLOSESPIDER_PAGECOUNT=3, **settings).stats["finish_reason"] == "closespider_pagecount"
    site.add("/", hub("/c", "/a"))
    third = night(site, tmp_path / "store", **settings)
    assert dict(third.paths("changes")) == {"/": "changed", "/c": "unchanged", "/a": "unchanged"}
    assert third.paths("dropped") == [("/a", "/c")]
    # What its original says is new as well: it comes out once.
    site.add("/a", page("7.4/en/goal-seek"))
    site.add("/d", page("7.4/en/goal-seek"))
    site.add("/", hub("/a", "/d"))
    fourth = night(site, tmp_path / "store", **settings)
    assert dict(fourth.paths("changes")) == {"/": "changed", "/a": "changed", "/d": "new"}
    assert fourth.paths("kept") == ["/", "/a"]


def test_a_copy_whose_original_nobody_can_compare_is_new_where_it_is_kept(site: Site, tmp_path: Path) -> None:
    for path, more in (("/a", ""), ("/b", "Print.")):
        site.add(path, page("7.4/en/protection", more=more))
    assert _copies(site, tmp_path, "/a", "/b") == {"/a": "new"}
    # By another recipe it may be none.
    upgrade(tmp_path / "store", "content")
    assert _copies(site, tmp_path, "/b") == {"/b": "new"}


def test_a_page_that_shows_another_picture_or_offers_another_file_has_changed(site: Site, tmp_path: Path) -> None:
    shown = {
        "/same": ("<img src=one.jpg>", "<img src=one.jpg>"),
        "/moved": ("<img src=one.jpg>", "<img src=/media/one.jpg>"),
        "/picture": ("<img src=one.jpg>", "<img src=two.jpg>"),
        "/file": ("<a href=9.pdf>Get it</a>", "<a href=10.pdf>Get it</a>"),
        "/gallery": tuple("".join(f"<img src=photo{n}.jpg>" for n in range(first, first + 40)) for first in (0, 1)),
    }
    site.add("/", hub(*shown))
    texts = dict(zip(shown, map(page, TOPICS), strict=False))
    outcomes = []
    for turn in (0, 1):
        for path, pictures in shown.items():
            site.add(path, texts[path].replace("</h1>", f"</h1>{pictures[turn]}", 1))
        outcomes.append(night(site, tmp_path / "store", spider="Changing"))
    assert dict(outcomes[1].paths("changes")) == {
        "/": "unchanged",
        "/same": "unchanged",
        "/moved": "unchanged",
        "/picture": "changed",
        "/file": "changed",
        "/gallery": "changed",
    }


def test_a_crawl_that_is_resumed_goes_on_with_its_originals(site: Site, tmp_path: Path) -> None:
    build(site)
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store"), "JOBDIR": str(tmp_path / "job"), "LOG_LEVEL": "INFO"}
    first = crawl("Plain", site.url(), settings=settings | {"CLOSESPIDER_PAGECOUNT": 12})
    second = crawl("Plain", site.url(), settings=settings)
    assert "Resumed the crawl that began at" in second.log
    # Scrapy asks for the start page again.
    kept = [*first.paths("kept"), *(path for path in second.paths("kept") if path != "/")]
    assert len(kept) == len(set(kept)) == 1 + len(FOLDERS) + len(TOPICS)
    assert "simcrawl/changes/gone" not in second.stats
    third = crawl("Plain", site.url(), settings=settings | {"JOBDIR": str(tmp_path / "other")})
    assert third.paths("kept") == sorted(kept)
    assert third.stats["simcrawl/changes/gone"] == third.stats["simcrawl/changes/not_met"] == 0
    assert "Resumed" not in third.log


@pytest.mark.parametrize("mode", MODES)
def test_spiders_that_name_one_crawl_share_it_and_others_do_not(site: Site, tmp_path: Path, mode: str) -> None:
    build(site)
    jobs = [{"spider": "Plain", "arguments": {"url": site.url(f"/{folder}/")}} for folder in FOLDERS]
    settings = NIGHTS | {"SIMCRAWL_STORE": str(tmp_path / "store")}
    apart = crawls(jobs, mode=mode, settings=settings)
    assert [len(contents(site, outcome)) for outcome in apart] == [len(TOPICS)] * 3
    # A name that stands in settings.py does not make all nights one crawl.
    for _ in range(2):
        together = crawls(jobs, mode=mode, settings=settings | {"SIMCRAWL_CRAWL": "nightly"})
        kept = [path for outcome in together for path in outcome.paths("kept")]
        assert len(kept) == len(FOLDERS) + len(TOPICS)
        assert "Joined the crawl nightly, which began at" in together[0].log


def test_a_reset_begins_anew_and_is_refused_while_another_crawl_uses_the_store(site: Site, tmp_path: Path) -> None:
    build(site)
    store = tmp_path / "store"
    night(site, store)
    with open_store(store, create=False) as opened:
        seed = opened.header.seed
        refused = night_fails(site, store)
        assert "another process writes to" in refused
    second = night(site, store, SIMCRAWL_RESET=True, TEST_SEED=None)
    assert "revisited" not in second.pages()
    with open_store(store, create=False) as opened:
        assert opened.header.seed != seed
        assert len(opened.crawls()) == 1


def night_fails(site: Site, store: Path) -> str:
    outcome = crawl("Plain", site.url(), settings=NIGHTS | {"SIMCRAWL_STORE": str(store), "SIMCRAWL_RESET": True})
    assert not outcome.stats.get("response_received_count")
    return outcome.log


# ---- links that lead elsewhere


@pytest.mark.parametrize("scope", ["all", "site"])
def test_two_equal_tables_of_contents_that_lead_to_other_chapters(site: Site, scope: str) -> None:
    chapters = 50
    table = hub(*(f"chapter{number}" for number in range(chapters)))
    site.add("/", hub("/v1/", "/v2/"))
    for release in (1, 2):
        site.add(f"/v{release}/", table)
        for number in range(chapters):
            site.add(
                f"/v{release}/chapter{number}",
                f"<html><body><h1>{release}.{number}</h1><p>Chapter {number} of {release}.</p></body></html>",
            )
    outcome = crawl("Plain", site.url(), settings={"SIMCRAWL_SCOPE": scope})
    assert all(site.requests[f"/v{release}/chapter{number}"] == 1 for release in (1, 2) for number in range(chapters))
    assert ("/v2/", "/v1/") in outcome.paths("dropped") or ("/v1/", "/v2/") in outcome.paths("dropped")


@pytest.mark.parametrize("scope", ["all", "site"])
@pytest.mark.parametrize("first", ["live", "dead"])
def test_a_hub_on_a_host_where_its_links_are_dead(site: Site, scope: str, first: str) -> None:
    chapters = 50
    table = hub(*(f"/chapter{number}" for number in range(chapters)))
    for number in range(chapters):
        site.add(f"/chapter{number}", f"<html><body><h1>{number}</h1><p>Chapter {number} of the living host.</p></body></html>")
    site.add("/hub", table)
    with Site("127.0.0.2") as dead:
        dead.add("/hub", table)
        hubs = [site.url("/hub"), dead.url("/hub")]
        site.add("/", hub(*(hubs if first == "live" else reversed(hubs))))
        crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_SCOPE": scope})
    assert all(site.requests[f"/chapter{number}"] == 1 for number in range(chapters))


def test_a_number_drops_links_only_where_they_lead_to_the_same_pages(site: Site) -> None:
    listing = page("7.4/en/protection", "photo?id=1", "photo?id=2")
    site.add("/", hub("/a/list", "/a/list?sort=1", "/b/list"))
    for path in ("/a/list", "/a/list?sort=1", "/b/list"):
        site.add(path, listing)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_OUTLINKS": 1.0})
    assert outcome.paths("dropped") == [("/a/list?sort=1", "/a/list"), ("/b/list", "/a/list")]
    assert outcome.stats["simcrawl/outlinks/dropped"] == 2
    assert site.requests["/b/photo?id=1"] == site.requests["/b/photo?id=2"] == 1


def test_the_history_is_an_object_of_json(site: Site, tmp_path: Path) -> None:
    build(site)
    night(site, tmp_path / "store")
    with open_store(tmp_path / "store", create=False) as store:
        assert json.loads(json.dumps(store.crawls())) == store.crawls()


def test_pages_with_another_verdict_than_in_the_last_crawl_are_told_in_the_history(site: Site, tmp_path: Path) -> None:
    site.add("/", hub("/one", "/two"))
    site.add("/one", page("7.4/en/protection"))
    told = []
    for name in ("autotext", "protection", "autotext"):
        site.add("/two", page(f"7.4/en/{name}"))
        night(site, tmp_path / "store", spider="Changing", SIMCRAWL_SKIP=False)
        with open_store(tmp_path / "store", create=False) as store:
            told.append(store.crawls()[-1]["changes"])
    assert [(one["copies now"], one["kept now"]) for one in told] == [(0, 0), (1, 0), (0, 1)]
    # Which of the two comes first is nobody's to say; it is the same page that is kept again.
    assert told[1]["urls"]["copies now"] == told[2]["urls"]["kept now"]
    assert set(told[1]["urls"]["copies now"]) <= {site.url("/one"), site.url("/two")}
