"""Likely copies are fetched late, and those that have proved to be copies not at all: what that saves, and that nothing is lost."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.cli import run
from simcrawl.store import open_store
from simcrawl.urls.classes import key_of
from tests.crawl.content import hub
from tests.crawl.frontier_spiders import FewHeld
from tests.crawl.runner import MODES, Outcome, crawl, crawls
from tests.crawl.server import Site
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english

if TYPE_CHECKING:
    from pathlib import Path

WATCHED, WISHFUL = "tests.crawl.frontier_spiders.Watched", "tests.crawl.frontier_spiders.Wishful"
UNSEEN = "so their pages are no longer skipped"
# First links first, so that a site's own directory is known before its mirror.
FIRST_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


@cache
def text(number: int) -> str:
    return f"<html><head><title>T</title></head><body><main><h1>Number {number}</h1><p>{english(12, seed=number)}</p></main></body></html>"


def pair(site: Site, pages: int, *, same: int | None = None, other: Site | None = None, hubs: bool = True) -> None:
    """Fill a site: a directory and its mirror, on `other` if given, of which the first `same` pages are equal.

    Without `hubs` all are on the start page, some of the one, some of the other: side by side nobody could tell them apart in time.
    """
    there = other or site
    names = [f"{number}.html" for number in range(pages)]
    for number, name in enumerate(names):
        site.add(f"/main/{name}", text(number))
        there.add(f"/mirror/{name}", text(number if same is None or number < same else 100_000 + number))
    if not hubs:
        folders = [f"{one.url()}{folder}/" for one, folder in ((site, "main"), (there, "mirror"))]
        site.add("/", hub(*(folder + name for start in range(0, pages, 40) for folder in folders for name in names[start : start + 40])))
        return
    site.add("/", hub("/main/"))
    site.add("/main/", hub(*names))
    there.add("/mirror/", hub(*names))
    # Behind the last page: two hosts would be crawled side by side.
    site.add(f"/main/{names[-1]}", text(pages - 1).replace("</main>", f"</main><a href='{there.url('/mirror/')}'></a>"))


def contents(site: Site, outcome: Outcome, other: Site | None = None) -> set[str]:
    """Return the headings of the pages that came out, hubs left out."""
    known = {one.url(path): answer.body.decode() for one in filter(None, (site, other)) for path, answer in one.answers.items()}
    return {heading for url in outcome.stats["test/kept"] for heading in re.findall(r"<h1>(Number \d+)", known[url])}


def fetched(site: Site, directory: str) -> int:
    return sum(count for path, count in site.requests.items() if path.startswith(directory) and path != directory)


def predicted(outcome: Outcome) -> dict[str, int]:
    prefix = "simcrawl/predicted/"
    told = {name.removeprefix(prefix): count for name, count in outcome.stats.items() if name.startswith(prefix)}
    # What earlier crawls taught; these have none.
    assert told.pop("remembered", 0) == 0
    return told


def check(outcome: Outcome, site: Site) -> None:
    """Check what holds for every crawl."""
    assert outcome.stats["finish_reason"] == "finished"
    assert "downloader/exception_count" not in outcome.stats
    assert "test/failed" not in outcome.stats
    # Without a reactor Scrapy warns of its own download handler.
    lines = [line for line in outcome.log.splitlines() if " WARNING: " in line or " ERROR: " in line]
    assert not [line for line in lines if "AiohttpDownloadHandler" not in line]
    told = predicted(outcome)
    assert told.get("held", 0) == sum(told.get(name, 0) for name in ("checked", "skipped", "released"))
    assert told.get("sampled", 0) == told.get("right", 0) + told.get("wrong", 0)
    assert len(outcome.paths("skipped")) == told.get("skipped", 0)
    assert max(site.requests.values()) == 1


# ---- order


@pytest.mark.parametrize("mode", MODES)
def test_likely_copies_are_fetched_after_everything_else_and_none_is_lost(site: Site, mode: str) -> None:
    pair(site, 120, hubs=False)
    # Few at a time: a page whose original is still under way is not put back.
    settings = FIRST_FIRST | {"SIMCRAWL_SKIP": False, "CONCURRENT_REQUESTS": 4}
    outcome = crawl(WATCHED, site.url(), mode=mode, settings=settings)
    order = [path for path in site.requests if "/main/" in path or "/mirror/" in path]
    assert len(order) == 240
    # Whichever of two pages came first, the last of the crawl are those whose contents were known.
    assert len({path.rpartition("/")[2] for path in order[:-70]}) == 120
    assert len(contents(site, outcome)) == 120
    assert predicted(outcome)["put_back"] > 95
    assert "skipped" not in predicted(outcome)
    check(outcome, site)


def test_a_request_sinks_until_its_page_is_far_likelier_a_copy_than_not(site: Site) -> None:
    pair(site, 20, hubs=False)
    outcome = crawl("tests.crawl.frontier_spiders.Sinking", site.url())
    # To .5 and to .7; at .9 it is made.
    assert predicted(outcome) == {"put_back": 40}
    assert len(site.requests) == 41
    check(outcome, site)


def test_a_crawl_with_a_limit_finds_more_contents(site: Site) -> None:
    pair(site, 120, hubs=False)
    settings = FIRST_FIRST | {"CLOSESPIDER_PAGECOUNT": 120, "SIMCRAWL_SKIP": False}
    without = crawl(WATCHED, site.url(), settings=settings | {"SIMCRAWL_ORDER": False})
    assert predicted(without) == {}
    assert len(contents(site, crawl(WATCHED, site.url(), settings=settings))) > 1.2 * len(contents(site, without))


def test_without_copies_nothing_is_put_back(site: Site) -> None:
    pair(site, 60, same=0, hubs=False)
    outcome = crawl(WATCHED, site.url())
    assert predicted(outcome) == {}
    assert len(outcome.paths("scheduled")) == len(site.requests) == 121
    check(outcome, site)


def test_order_works_where_copies_are_only_observed(site: Site) -> None:
    pair(site, 120, hubs=False)
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | {"SIMCRAWL_ACTION": "observe"})
    early = {path.rpartition("/")[2] for path in list(site.requests)[:-70] if path.endswith(".html")}
    assert len(early) == 120
    assert len(outcome.paths("kept")) == 241
    check(outcome, site)


def test_links_on_copies_come_after_others(site: Site) -> None:
    others = [f"/other/{number}" for number in range(20)]
    site.add("/", hub("/first", "/copy", *others))
    site.add("/first", text(0))
    for number, path in enumerate(("/copy", *others)):
        site.add(path, text(number).replace("</main>", f"</main><a href='/behind{path}'></a>"))
        site.add(f"/behind{path}", text(1000 + number))
    outcome = crawl(WATCHED, site.url(), settings=IN_ORDER | {"DEPTH_PRIORITY": 0})
    assert ("/copy", "/first") in outcome.paths("dropped")
    behind = [path for path in site.requests if path.startswith("/behind")]
    # The last ones may not be known yet when there is nothing else to fetch.
    assert len(behind) == 21
    assert behind.index("/behind/copy") > 15


# ---- redirects


@pytest.mark.parametrize(("settings", "later"), [({}, True), ({"SIMCRAWL_ORDER": False}, False)])
def test_urls_that_lead_to_pages_that_were_fetched_come_later(site: Site, settings: dict[str, Any], later: bool) -> None:
    statuses, numbers = (301, 302, 303, 307, 308), range(20)
    new, other = ([f"/{folder}/{number}" for number in numbers] for folder in ("new", "other"))
    old = {status: [f"/old-{status}/{number}" for number in numbers] for status in statuses}
    site.add("/", hub(*new, *(path for paths in old.values() for path in paths), *other))
    for number in numbers:
        site.add(new[number], text(number))
        site.add(other[number], text(1000 + number))
        for status, paths in old.items():
            site.add(paths[number], "", status=status, Location=new[number])
    outcome = crawl(WATCHED, site.url(), settings=IN_ORDER | settings)
    order = list(site.requests)
    for paths in old.values():
        assert (order.index(paths[19]) > order.index("/other/19")) is later
        assert order.index(paths[0]) < order.index("/other/0")
        # They are asked for all the same.
        assert all(site.requests[path] == 1 for path in paths)
    assert all(site.requests[path] == 1 for path in (*new, *other))
    assert len(contents(site, outcome)) == 40


WALLS = {
    "one form": "/login",
    "home": "/",
    "another page": "/page/199",
    "way back": "/login?next=/page/{}",
    "coded way back": "/login?next=%2Fpage%2F{}",
    "forms": "/login/page/{}",
    "teasers": "/teaser/{}",
}


@pytest.mark.parametrize("forms_first", [True, False])
@pytest.mark.parametrize("wall", WALLS)
def test_behind_a_wall_that_redirects_nothing_is_lost(site: Site, wall: str, forms_first: bool) -> None:
    """The first 50 of 200 pages lead to a log-in, and are there under another address once somebody has logged in."""
    pages, closed = 200, 50
    numbers = range(pages)
    forms = list(dict.fromkeys(WALLS[wall].format(number) for number in numbers))
    for number, form in enumerate(forms):
        if form not in ("/", "/page/199"):
            site.add(form, text(5000 + number if wall == "teasers" else 5000))
    for number in numbers:
        site.add(f"/page/{number}", text(number))
        if number < closed:
            site.add(f"/page/{number}", "", status=302, Location=WALLS[wall].format(number))
            site.add(f"/page/{number}?session=1", text(number))
    listed, inside = [f"/page/{number}" for number in numbers], [f"/page/{number}?session=1" for number in range(closed)]
    site.add("/", hub(*(forms if forms_first else ()), *listed, *inside))
    # From the even chance on: what may not be skipped even so is safe.
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | {"SIMCRAWL_SKIP": 0.5})
    assert {f"Number {number}" for number in numbers} <= contents(site, outcome)
    assert not {path for path, _ in outcome.paths("skipped") if path.startswith("/page/")}
    assert all(site.requests[path] == 1 for path in (*listed, *inside))
    assert outcome.stats["finish_reason"] == "finished"


# ---- what a put-back request is afterwards


def late(site: Site, learned: int = 110, more: int = 20) -> list[str]:
    """Fill a site: a directory and its mirror, of which the last pages are known by `/late/` only; return their paths."""
    pair(site, learned + more)
    site.add("/mirror/", hub(*(f"{number}.html" for number in range(learned))))
    paths = [f"/mirror/{number}.html" for number in range(learned, learned + more)]
    site.add("/late/", hub(*paths))
    return paths


def late_of_kinds(site: Site, kinds: list[str]) -> dict[str, list[str]]:
    """Fill a site as `late` does, with twenty late pages of each kind; return their paths."""
    paths = late(site, more=20 * len(kinds))
    return {kind: paths[20 * number : 20 * (number + 1)] for number, kind in enumerate(kinds)}


def wish(site: Site, kind: str, **settings: Any) -> Outcome:
    """Crawl a site with a spider that asks for late pages in ways that `kind` names, separated by commas: for as many in each."""
    settings = FIRST_FIRST | {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.frontier_spiders.Seen": 20}} | settings
    outcome = crawl(WISHFUL, site.url(), kind=kind, settings=settings)
    assert outcome.stats["finish_reason"] == "finished"
    # Nobody but simcrawl sees that a request was put back.
    assert not any(marked for _, _, marked in outcome.paths("seen"))
    return outcome


def test_a_request_that_was_put_back_has_its_own_flags_again(site: Site) -> None:
    paths = late(site)
    elsewhere = site.url("/elsewhere").replace("127.0.0.1", "localhost")
    site.add("/elsewhere", text(77_777))
    site.add(paths[0], "", status=302, Location=elsewhere)
    flaky, tries = paths[1], list[str]()
    copy = site.answers.pop(flaky).body.decode()

    def trap(path: str) -> str | None:
        # The first time there is no such page.
        tries.append(path)
        return copy if tries.count(flaky) > 1 and path == flaky else None

    site.trap = trap
    outcome = wish(site, "plain", SIMCRAWL_SKIP=False, RETRY_HTTP_CODES=[404])
    for path in paths:
        assert outcome.paths("scheduled").count(path) > 1, path
    # Put back, then redirected off the site.
    assert site.requests["/elsewhere"] == 0
    assert outcome.stats["offsite/filtered"] == 1
    # Put back, then retried, and a copy; put back, and a copy.
    assert site.requests[flaky] == 2
    assert {(path, path.replace("mirror", "main")) for path in paths[1:]} <= set(outcome.paths("dropped"))
    assert {(path, asked) for path, asked, _ in outcome.paths("seen") if path in paths} == {(path, False) for path in paths} | {
        (flaky, True)
    }


def test_a_retried_page_for_which_the_spider_asked_is_kept(site: Site) -> None:
    flaky = late(site)[0]
    copy, tries = site.answers.pop(flaky).body.decode(), list[str]()

    def trap(path: str) -> str | None:
        tries.append(path)
        return copy if tries.count(flaky) > 1 and path == flaky else None

    site.trap = trap
    outcome = wish(site, "dont_filter", RETRY_HTTP_CODES=[404])
    assert site.requests[flaky] == 2
    assert flaky in outcome.paths("kept")


@pytest.mark.parametrize("copies", ["", "yes"])
def test_a_request_that_is_yielded_while_it_waits_is_made_once_and_has_its_own_priority(site: Site, copies: str) -> None:
    pair(site, 60, hubs=False)
    settings = FIRST_FIRST | {"DEPTH_PRIORITY": 0, "CONCURRENT_REQUESTS": 4}
    outcome = crawl("tests.crawl.frontier_spiders.OneMenu", site.url(), settings=settings, copies=copies)
    assert predicted(outcome)["put_back"] > 20
    assert len(contents(site, outcome)) == 60
    # -1: yielded once more by a copy's callback, between its response and its own callback.
    assert set(outcome.stats["test/priorities"]) <= ({0} if copies else {0, -1})
    assert outcome.stats["finish_reason"] == "finished"
    assert " ERROR: " not in outcome.log
    assert max(site.requests.values()) == 1


# ---- what is left alone


WISHES = ["priority", "low priority", "dont_filter", "post", "opted out", "engine", "inline", "inline callback"]


@pytest.mark.parametrize("kinds", [WISHES, ["start"]], ids=["wishes", "start"])
def test_requests_for_which_the_spider_has_wishes_neither_wait_nor_are_skipped(site: Site, kinds: list[str]) -> None:
    asked = late_of_kinds(site, kinds)
    outcome = wish(site, ",".join(kinds))
    scheduled = Counter(outcome.paths("scheduled"))
    for kind, paths in asked.items():
        assert all(site.requests[path] == 1 for path in paths), kind
        times = 0 if kind.startswith("inline") else 1
        assert all(scheduled[path] == times for path in paths), kind
    assert outcome.paths("inline") == sorted(path for kind, paths in asked.items() if kind.startswith("inline") for path in paths)


@pytest.mark.parametrize("kind", ["first", "unfiltered", "later", "start"])
def test_what_a_spider_wants_after_all_others_comes_after_likely_copies_too(site: Site, kind: str) -> None:
    pair(site, 120, hubs=False)
    site.add("/logout", text(5000))
    outcome = crawl("tests.crawl.frontier_spiders.Leaving", site.url(), kind=kind, settings=FIRST_FIRST | {"CONCURRENT_REQUESTS": 1})
    order = list(site.requests)
    assert order[-1] == "/logout"
    assert len(order) == 242
    # What Scrapy makes of it: once more lower for its depth, but for a first one.
    ((priority, unfiltered),) = outcome.stats["test/end"]
    assert priority == -5 - {"start": 0, "later": 2}.get(kind, 1)
    assert unfiltered is (kind == "unfiltered")
    assert ("put_back" in predicted(outcome)) is (kind in ("later", "start"))
    assert "skipped" not in predicted(outcome)
    assert outcome.log.count("a low priority (-5), so that it comes after others") == 1
    check(outcome, site)


def test_a_priority_that_scrapy_has_lowered_is_no_wish_of_the_spider(site: Site) -> None:
    pair(site, 120, hubs=False)
    site.add("/more", text(5000))
    site.add("/handed-on", text(6000))
    outcome = crawl("tests.crawl.frontier_spiders.Mild", site.url(), settings=FIRST_FIRST)
    assert site.requests["/main/3.html"] == 2
    assert site.requests["/more"] == site.requests["/handed-on"] == 1
    assert "a low priority" not in outcome.log
    assert predicted(outcome)["skipped"] > 20


def test_requests_with_data_or_a_callback_of_their_own_are_not_skipped(site: Site) -> None:
    asked = late_of_kinds(site, ["cb_kwargs", "callback"])
    outcome = wish(site, "cb_kwargs,callback")
    assert all(site.requests[path] == 1 for paths in asked.values() for path in paths)
    # Another callback has rules of its own, which know nothing yet.
    waited = [kind for kind, paths in asked.items() if outcome.paths("scheduled").count(paths[0]) > 1]
    assert waited == ["cb_kwargs"]


def test_all_others_are_skipped_but_for_a_sample(site: Site) -> None:
    asked = late_of_kinds(site, ["plain", "meta"])
    outcome = wish(site, "plain,meta")
    skipped = {path for path, _ in outcome.paths("skipped")}
    for kind, paths in asked.items():
        assert len(skipped & set(paths)) >= 12, kind
        assert all((path in skipped) is (site.requests[path] == 0) for path in paths), kind


@pytest.mark.parametrize(
    "settings",
    [
        {"SIMCRAWL_SKIP": False},
        {"SIMCRAWL_ORDER": False},
        {"SIMCRAWL_ACTION": "observe"},
        {"SIMCRAWL_ACTION": "drop-items"},
        {"SIMCRAWL_ACTION": "drop-links"},
        {"SIMCRAWL_COPIES_KEPT": 2},
    ],
)
def test_what_would_not_be_dropped_is_not_skipped(site: Site, settings: dict[str, Any]) -> None:
    pair(site, 120, hubs=False)
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | settings)
    assert fetched(site, "/main/") == fetched(site, "/mirror/") == 120
    assert "skipped" not in predicted(outcome)
    check(outcome, site)


# ---- skipping


def test_pages_of_a_callback_that_fills_variables_of_the_spider_alone_are_not_skipped(site: Site) -> None:
    sections, pages = ["new", "sale", "shop"], 100
    site.add("/", hub(*(f"/{section}/" for section in sections)))
    for section in sections:
        site.add(f"/{section}/", hub(*(f"/{section}/{number}.html" for number in range(pages))))
        for number in range(pages):
            site.add(f"/{section}/{number}.html", text(number))
    outcome = crawl("tests.crawl.frontier_spiders.Sections", site.url(), settings=FIRST_FIRST)
    (found,) = outcome.stats["test/found"]
    assert {heading: sorted(within) for heading, within in found.items()} == {f"Number {number}": sections for number in range(pages)}
    assert "skipped" not in predicted(outcome)


def test_copies_that_alone_lead_to_contents_are_fetched(site: Site) -> None:
    pair(site, 200)
    for number in range(200):
        site.add(f"/mirror/{number}.html", text(number).replace("</main>", f"</main><a href='/behind/{number}'></a>"))
        site.add(f"/behind/{number}", text(1000 + number))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    assert len(contents(site, outcome)) == 400
    assert predicted(outcome)["put_back"] > 100
    check(outcome, site)


def test_the_only_way_into_a_directory_is_taken(site: Site) -> None:
    """Two releases of many books, of which one has been rewritten behind a title page that is the same."""
    books, rewritten, chapters = 30, 22, range(1, 26)
    for release in ("one", "two"):
        site.add(f"/{release}/", hub(*(f"{book}/" for book in range(books))))
        for book in range(books):
            links = "".join(f"<a href='{number}.html'></a>" for number in chapters)
            site.add(f"/{release}/{book}/", text(1000 * book).replace("</main>", f"</main>{links}"))
            is_new = release == "two" and book == rewritten
            for number in chapters:
                site.add(f"/{release}/{book}/{number}.html", text(1000 * book + number + 500 * is_new))
    site.add("/", hub("/one/"))
    # The second release is found when all of the first is known.
    book, chapter = books - 1, chapters[-1]
    site.add(f"/one/{book}/{chapter}.html", text(1000 * book + chapter).replace("</main>", "</main><a href='/two/'></a>"))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    assert len(contents(site, outcome)) == 26 * books + 25
    assert predicted(outcome)["skipped"] > 120
    check(outcome, site)


@pytest.mark.parametrize("fails", [False, True])
def test_a_copy_that_alone_shows_a_page_of_a_directory_is_fetched(site: Site, fails: bool) -> None:
    pages, store = 160, "memory:?seed=1"
    pair(site, pages)
    # What the sample meets, which follows from the addresses, shows what is behind it early, and then nothing may be skipped at all.
    with open_store(store) as opened:
        unmet = [number for number in range(73, 159) if key_of(site.url(f"/mirror/{number}.html"), opened.header.seed) % 16]
    noted = unmet[::11]
    notes = [f"notes/{number}.html" for number in noted]
    for folder, first in (("main", 1000), ("mirror", 2000)):
        for number, note in zip(noted, notes, strict=True):
            site.add(f"/{folder}/{number}.html", text(number).replace("</main>", f"</main><a href='{note}'>a note</a>"))
            site.add(f"/{folder}/{note}", text(first + number))
        # The contents name all of it, but that callback fails before it gets there.
        names = [f"{number}.html" for number in range(pages)]
        site.add(f"/{folder}/", hub(*names, *(["mailto:somebody@example.com", *notes] if fails else ())))
    site.add(f"/main/{pages - 1}.html", text(pages - 1).replace("</main>", "</main><a href='/mirror/'></a>"))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | {"SIMCRAWL_STORE": store})
    assert len(contents(site, outcome)) == pages + 2 * len(noted)
    assert 0 < predicted(outcome)["fetched_for_links"] <= len(noted)
    assert predicted(outcome)["skipped"] > 30


def test_chapters_that_only_the_one_before_them_links_to_are_found_where_a_mirror_has_others(site: Site) -> None:
    books, chapters, same = range(14), 30, 19
    for folder in ("main", "mirror"):
        site.add(f"/{folder}/", hub(*(f"{book}/1.html" for book in books)))
        for book in books:
            for number in range(1, chapters + 1):
                other = 2000 if folder == "mirror" and book % 2 and number > same else 0
                link = f"<a href='{number + 1}.html'></a>" if number < chapters else ""
                site.add(f"/{folder}/{book}/{number}.html", text(100 * book + number + other).replace("</main>", f"</main>{link}"))
    site.add("/", hub("/main/", "/mirror/"))
    outcome = crawl(WATCHED, site.url())
    assert len(contents(site, outcome)) == 14 * chapters + 7 * (chapters - same)


def test_what_is_behind_copies_is_found_before_it_is_too_deep(site: Site) -> None:
    pages, lists = range(60), range(30, 60)
    for number in pages:
        site.add(f"/main/{number}", text(number))
        site.add(
            f"/mirror/{number}", text(number).replace("</main>", f"</main><a href='/list/{number}'></a>" if number in lists else "</main>")
        )
    for number in lists:
        site.add(f"/list/{number}", text(100 + number).replace("</main>", f"</main><a href='/leaf/{number}'></a>"))
        site.add(f"/leaf/{number}", text(200 + number))
    # Another way to the lists, and a longer one.
    site.add("/way", hub("/way/on"))
    site.add("/way/on", hub(*(f"/list/{number}" for number in lists)))
    site.add("/", hub(*(f"/{folder}/{number}" for folder in ("main", "mirror") for number in pages), "/way"))
    settings = FIRST_FIRST | {"DEPTH_LIMIT": 3, "DEPTH_PRIORITY": 1, "CONCURRENT_REQUESTS": 1}
    assert len(contents(site, crawl(WATCHED, site.url(), settings=settings))) == len(pages) + 2 * len(lists)


def test_a_true_mirror_is_fetched_by_a_seventh_and_nothing_is_lost(site: Site) -> None:
    pair(site, 1000)
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    assert fetched(site, "/main/") == 1000
    assert fetched(site, "/mirror/") <= 150
    assert len(contents(site, outcome)) == 1000
    assert predicted(outcome)["skipped"] >= 850
    check(outcome, site)


@pytest.mark.parametrize("view", ["print/", "amp.html", "?print=1"])
def test_views_of_pages_are_fetched_by_half_and_nothing_is_lost(site: Site, view: str) -> None:
    pages = [f"/boats/{number * 7919}/" for number in range(300)]
    site.add("/", hub(*pages))
    for number, page in enumerate(pages):
        site.add(page, text(number).replace("</main>", f"</main><a href='{page}{view}'>View</a>"))
        site.add(f"{page}{view}", text(number).replace("</main>", f"</main><a href='{page}'>Back</a>"))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    views = sum(path.endswith(view) for path in site.requests)
    assert len(contents(site, outcome)) == 300
    assert predicted(outcome)["skipped"] == 300 - views > 150
    check(outcome, site)


def test_a_parameter_with_another_value_on_each_page_is_spare(site: Site) -> None:
    pages = [f"/2024/{number % 12}/boat-{number * 7919}/" for number in range(100)]
    site.add("/", hub(*pages))
    for number, page in enumerate(pages):
        replies = [f"{page}?replytocom={3 * number + reply}" for reply in range(3)]
        said = "".join(f"<a href='{url}'>Reply</a>" for url in replies)
        for url in (page, *replies):
            site.add(url, text(number).replace("</main>", f"</main>{said}<a href='{page}'>Cancel reply</a>"))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    replied = sum("?" in path for path in site.requests)
    assert len(contents(site, outcome)) == 100
    assert predicted(outcome)["skipped"] == 300 - replied > 150
    check(outcome, site)


def test_pages_in_upper_and_in_lower_case_are_fetched_by_three_quarters(site: Site) -> None:
    names = [f"/Boats/Boat-{number * 7919}.aspx" for number in range(200)]
    site.add("/", hub(*names))
    for number, name in enumerate(names):
        # Each page links to itself, to the next one, and to the list, in lower case.
        links = "".join(f"<a href='{url.lower()}'>More</a>" for url in (name, names[number - 1], "/Boats/"))
        for url in (name, name.lower()):
            site.add(url, text(number).replace("</main>", f"</main>{links}"))
    site.add("/boats/", hub(*map(str.lower, names)))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    assert len(contents(site, outcome)) == 200
    assert predicted(outcome)["skipped"] == sum(name.lower() not in site.requests for name in names) > 100
    check(outcome, site)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_skipped_is_told_and_recorded_and_can_be_fetched(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    pair(site, 200, hubs=False)
    store = tmp_path / "store"
    settings = FIRST_FIRST | {"SIMCRAWL_STORE": str(store), "LOG_LEVEL": "INFO"}
    outcome = crawl(WATCHED, site.url(), mode=mode, settings=settings)
    check(outcome, site)
    skipped = dict(outcome.paths("skipped"))
    assert len(skipped) > 60
    assert all(original == path.replace("mirror", "main") for path, original in skipped.items())
    assert outcome.log.count("INFO: Skipped ") == 1
    with open_store(store, create=False) as opened:
        assert opened.verify() == []
        lines = {line.url: line for line in opened.duplicates() if line.reason == "predicted"}
    assert set(lines) == {site.url(path) for path in skipped}
    assert {(line.dropped_page, line.dropped_outlinks) for line in lines.values()} == {(True, True)}
    assert all(line.rule == "'mirror' stands for 'main'" for line in lines.values())
    # Nobody has come across them in vain, and they are not gone.
    assert run(["duplicates", str(store), "--urls"]) == 0
    listed = tmp_path / "dropped.txt"
    listed.write_text(capsys.readouterr().out)
    site.requests.clear()
    again = crawl(WATCHED, site.url(), settings=settings | {"SIMCRAWL_RECRAWL": str(listed)})
    assert set(skipped) <= set(again.paths("kept"))
    with open_store(store, create=False) as opened:
        assert not [line for line in opened.duplicates() if line.reason == "predicted"]


def test_a_skip_that_is_rejected_is_fetched_and_kept_from_then_on(site: Site, tmp_path: Path) -> None:
    pair(site, 150, hubs=False)
    settings = FIRST_FIRST | {"SIMCRAWL_STORE": str(tmp_path / "store")}
    (path, original), *_ = crawl(WATCHED, site.url(), settings=settings).paths("skipped")
    assert run(["reject", str(tmp_path / "store"), site.url(path)]) == 0
    site.requests.clear()
    again = crawl(WATCHED, site.url(), settings=settings)
    assert site.requests[path] == 1
    assert {path, original} <= set(again.paths("kept"))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"SIMCRAWL_MIRRORS": True},
        {"SIMCRAWL_MIRRORS": True, "SIMCRAWL_SCOPE": "site"},
        {"SIMCRAWL_MIRRORS": True, "SIMCRAWL_TRUSTED_HOSTS": "127.0.0.2"},
    ],
)
def test_pages_of_another_host_are_skipped_only_where_the_user_says_that_it_is_a_mirror(site: Site, settings: dict[str, Any]) -> None:
    named = settings.get("SIMCRAWL_MIRRORS")
    with Site("127.0.0.2") as other:
        pair(site, 200, other=other)
        hosts = {"SIMCRAWL_MIRRORS": "127.0.0.1, 127.0.0.2"} if named else {}
        outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | settings | hosts)
        assert len(contents(site, outcome, other)) == 200
        if settings == {"SIMCRAWL_MIRRORS": True}:
            assert fetched(other, "/mirror/") < 130
        else:
            assert fetched(other, "/mirror/") == 200
        assert ("put_back" in predicted(outcome)) is (settings.keys() <= {"SIMCRAWL_MIRRORS"})
        check(outcome, site)


@pytest.mark.parametrize("hubs", [True, False])
def test_a_mirror_that_goes_its_own_way_from_the_middle_on_is_fetched(site: Site, hubs: bool) -> None:
    pages = 800 if hubs else 500
    pair(site, pages, same=pages // 2, hubs=hubs)
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    every = pages * 3 // 2
    found = len(contents(site, outcome))
    assert found >= every - 0.002 * every
    if hubs:
        # Where a rule proves wrong, all that waits for it is asked about anew. Without the first half beforehand it is never believed.
        assert predicted(outcome)["wrong"] > 0
        assert predicted(outcome)["released"] > 0
    check(outcome, site)


def test_what_a_site_says_during_maintenance_is_nothing_to_skip_by(site: Site) -> None:
    # Until a hundred pages were asked for: had the crawl skipped what was left, it would have ended before the site was back.
    asked = count()
    down = re.sub("<h1>.*</h1>", "<h1>Down for maintenance</h1>", text(1000))
    site.add("/", hub(*(f"/item?id={number}" for number in range(240))))
    site.trap = lambda path: down if 10 <= next(asked) < 100 else text(int(path.rpartition("=")[2]))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    assert sum(site.requests.values()) == 241
    # One page that says that it is down comes out.
    assert outcome.pages()["dropped"] == 89
    assert len(outcome.stats["test/kept"]) == 241 - 89
    check(outcome, site)


@pytest.mark.parametrize("same", [300, 250])
def test_past_the_most_that_may_wait_requests_are_made(site: Site, same: int) -> None:
    pair(site, 300, same=same)
    outcome = crawl("tests.crawl.frontier_spiders.FewHeld", site.url(), settings=FIRST_FIRST)
    assert len(contents(site, outcome)) == 600 - same
    told = predicted(outcome)
    assert outcome.stats["test/waiting"] == FewHeld.most
    # The others are made: they wait for likelier contents only.
    assert fetched(site, "/main/") == 300
    assert fetched(site, "/mirror/") == 300 - told.get("skipped", 0) >= 300 - FewHeld.most
    check(outcome, site)


def test_a_crawl_spider_has_rules_of_its_own_for_each_rule(site: Site) -> None:
    pair(site, 120)
    outcome = crawl("tests.crawl.frontier_spiders.Chapters", site.url(), settings=FIRST_FIRST)
    # Pages of the second rule are no copies of those of the first one as far as anybody can tell beforehand.
    assert fetched(site, "/mirror/") == 120
    assert outcome.stats["item_scraped_count"] == 120


@pytest.mark.parametrize("kind", ["GET", "POST", "middleware", "engine"])
def test_copies_of_which_some_lead_on_by_an_address_of_their_own_are_fetched(site: Site, kind: str) -> None:
    """Two branches of a shop have the same texts, and each page asks for its reviews by a number of its own; few have any."""
    pages = 150
    for branch, first in (("north", 1000), ("south", 5000)):
        site.add(f"/{branch}/", hub(*(f"/{branch}/{number}" for number in range(pages))))
        for number in range(pages):
            site.add(f"/{branch}/{number}", text(number).replace("</main>", f"<i data-pid='{first + number}'></i></main>"))
    site.add("/", hub("/north/", "/south/"))

    def reviewed(pid: int) -> str:
        return f'{{"reviews": "{pid}"}}' if key_of(str(pid), 0) % 5 == 0 else '{"reviews": ""}'

    for first in (1000, 5000):
        for pid in range(first, first + pages):
            site.add(f"/reviews?pid={pid}", reviewed(pid), Content_Type="application/json")
    site.reply = lambda posted: reviewed(int(posted))
    settings = FIRST_FIRST | ({"SPIDER_MIDDLEWARES": {"tests.crawl.frontier_spiders.Asking": 543}} if kind == "middleware" else {})
    outcome = crawl("tests.crawl.frontier_spiders.Reviews", site.url(), kind=kind, settings=settings)
    assert len(contents(site, outcome)) == pages
    expected = {reviewed(pid) for first in (1000, 5000) for pid in range(first, first + pages)}
    assert set(outcome.stats["test/reviews"]) == expected
    assert "skipped" not in predicted(outcome)
    # Once for the callbacks that are at work, and for others later.
    assert outcome.log.count(UNSEEN) in ({1, 2} if kind == "engine" else {0})


@pytest.mark.parametrize(("kind", "are_skipped"), [("cookiejar", False), ("cookies", False), ("header", False), ("user agent", True)])
def test_no_page_is_skipped_that_chooses_what_is_asked_for_at_one_address(site: Site, kind: str, are_skipped: bool) -> None:
    paths = [f"/{group}/branch/{number}" for group in ("retail", "trade") for number in range(100)]
    site.add("/", hub(*paths))
    for path in paths:
        site.add(path, text(int(path.rpartition("/")[2])))
    site.add("/offers", text(1000))
    outcome = crawl("tests.crawl.frontier_spiders.Sessions", site.url(), kind=kind, settings=FIRST_FIRST)
    asked = len(outcome.stats["test/offers"])
    assert (asked < 200, "skipped" in predicted(outcome)) == (are_skipped, are_skipped)


@pytest.mark.parametrize(
    ("middlewares", "awaited", "told"),
    [
        ({}, "seed", False),
        ({"SPIDER_MIDDLEWARES": {"tests.crawl.frontier_spiders.Adding": 543}}, "seed?new", False),
        ({"DOWNLOADER_MIDDLEWARES": {"tests.crawl.frontier_spiders.Swapping": 543}}, "seed?new", True),
    ],
    ids=["first", "added", "swapped"],
)
def test_a_request_of_which_nobody_knows_who_has_made_it_ends_skipping_for_callbacks_at_work(
    site: Site, middlewares: dict[str, Any], awaited: str, told: bool
) -> None:
    pair(site, 120)
    site.add("/seed", "{}", Content_Type="application/json")
    for path in ("/first", "/seed?new"):
        site.add(path, text(5000))
    outcome = crawl("tests.crawl.frontier_spiders.Seeded", site.url(), awaited=awaited, settings=FIRST_FIRST | middlewares)
    assert contents(site, outcome) >= {f"Number {number}" for number in range(120)}
    assert outcome.log.count(UNSEEN) == told
    assert (predicted(outcome).get("skipped", 0) > 20) is not told
    check(outcome, site)


# ---- beside other components


def test_what_waits_survives_a_stop(site: Site, tmp_path: Path) -> None:
    paths = late(site)
    others = [f"/other/{number}" for number in range(100)]
    site.add("/late/", hub(*paths, *others))
    for number, path in enumerate(others):
        site.add(path, text(50_000 + number))
    settings = FIRST_FIRST | {"SIMCRAWL_STORE": str(tmp_path / "store"), "JOBDIR": str(tmp_path / "job")}
    first = crawl(WISHFUL, site.url(), kind="plain", settings=settings | {"CLOSESPIDER_PAGECOUNT": 250})
    assert first.stats["finish_reason"] == "closespider_pagecount"
    assert predicted(first)["held"] > sum(predicted(first).get(name, 0) for name in ("checked", "skipped", "released"))
    waiting = [path for path in paths if not site.requests[path] and path not in dict(first.paths("skipped"))]
    assert waiting
    second = crawl(WISHFUL, site.url(), kind="plain", settings=settings)
    assert second.stats["finish_reason"] == "finished"
    skipped = {path for outcome in (first, second) for path, _ in outcome.paths("skipped")}
    # The start page is asked for again.
    assert all(site.requests[path] == 1 or path in skipped for path in site.answers if path not in ("/", "/late/"))
    # What was learned is gone, as far as it is not in the store.
    assert all(path in skipped or path in second.paths("scheduled") or site.requests[path] for path in waiting)
    assert len(contents(site, first) | contents(site, second)) == 230


def test_what_waits_is_not_lost_in_queues_that_a_kill_left_empty(site: Site, tmp_path: Path) -> None:
    pair(site, 100, hubs=False)
    queues = tmp_path / "job" / "requests.queue"
    queues.mkdir(parents=True)
    # Of each priority that a request may be lowered to.
    for level in range(2, 120):
        (queues / str(level)).touch()
    settings = FIRST_FIRST | {"JOBDIR": str(tmp_path / "job"), "SIMCRAWL_SKIP": False}
    settings |= {
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleLifoDiskQueue",
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
    }
    outcome = crawl(WATCHED, site.url(), settings=settings)
    assert outcome.stats["finish_reason"] == "finished"
    assert predicted(outcome)["put_back"]
    assert all(site.requests[path] for path in site.answers)


def test_two_crawlers_in_one_process_learn_each_for_itself(site: Site) -> None:
    pair(site, 150, hubs=False)
    jobs = [{"spider": WATCHED, "arguments": {"url": site.url()}}] * 2
    for outcome in crawls(jobs, settings=FIRST_FIRST):
        assert predicted(outcome)["skipped"] > 20
        assert predicted(outcome)["held"] == predicted(outcome)["skipped"] + predicted(outcome)["checked"]
        assert len(contents(site, outcome)) == 150


@pytest.mark.parametrize(
    "settings",
    [
        {"SCHEDULER": "tests.crawl.frontier_spiders.Remote"},
        {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.01, "AUTOTHROTTLE_TARGET_CONCURRENCY": 8.0},
        {"CONCURRENT_REQUESTS": 1},
    ],
    ids=["scheduler", "autothrottle", "one"],
)
def test_it_works_with_other_components(site: Site, settings: dict[str, Any]) -> None:
    pair(site, 150, hubs=False)
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | settings)
    assert len(contents(site, outcome)) == 150
    assert predicted(outcome)["skipped"] > 20
    check(outcome, site)


def test_it_works_with_a_cache(site: Site, tmp_path: Path) -> None:
    pair(site, 150, hubs=False)
    settings = FIRST_FIRST | {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    outcomes = [crawl(WATCHED, site.url(), settings=settings) for _ in range(2)]
    for outcome in outcomes:
        assert len(contents(site, outcome)) == 150
        assert predicted(outcome)["skipped"] > 20
    check(outcomes[1], site)


@pytest.mark.parametrize("own", [True, False])
def test_copies_of_which_each_leads_to_an_answer_of_its_own_are_fetched(site: Site, own: bool) -> None:
    """A shop in two countries has the same texts, and each page asks a program for its price, which may be the same, too."""
    pages = 150
    for country in ("en", "int"):
        for number in range(pages):
            ask = f"<a href='/offer?sku={number}&store={country}'></a>"
            site.add(f"/{country}/book/{number}", text(number).replace("</main>", f"</main>{ask}"))
            told = f'{{"price": "{country if own else ""} {number}"}}'
            site.add(f"/offer?sku={number}&store={country}", told, Content_Type="application/json")
        site.add(f"/{country}/", hub(*(f"book/{number}" for number in range(pages))))
    site.add("/", hub("/en/", "/int/"))
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST)
    asked = sum(path.startswith("/offer") for path in site.requests)
    assert (asked == 2 * pages) if own else (pages <= asked < 2 * pages - 30)
    assert outcome.stats["finish_reason"] == "finished"
