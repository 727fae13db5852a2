"""The report in a browser: real copies of a real site, and pages that want to take it over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.crawl.spiders.demo import SITE
from simcrawl.report import gather, render
from simcrawl.store import open_store
from tests.browser import Browser, UnavailableError, open_browser
from tests.crawl.runner import crawl
from tests.crawl.server import DirectorySite
from tests.test_report import MADE, hostile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = "#duplicates tbody tr"
COPIES = f"{ROWS} td:nth-child(1)"
FOUND = "#duplicates .found"
REACHABLE = "[...document.querySelectorAll('a[href], button:enabled, select, input, summary')].filter(at => at.checkVisibility())"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        with open_browser() as running:
            yield running
    except UnavailableError as exc:
        pytest.skip(f"the report is looked at in a browser: this {exc}")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a crawl of the demonstration's real pages, with their texts."""
    store: Path = tmp_path_factory.mktemp("crawled") / "store"
    with DirectorySite(SITE) as site:
        settings = {"SIMCRAWL_STORE": str(store), "SIMCRAWL_KEEP_TEXT": True, "CONCURRENT_REQUESTS": 1}
        outcome = crawl("SiteSpider", site.url("/index.html"), settings=settings)
    assert outcome.stats["simcrawl/pages/near_duplicate"] > 3
    return store


def _written(store: Path, target: Path) -> Path:
    with open_store(store, create=False) as opened:
        html = render(gather(opened), name="demo", text_of=opened.text, made=MADE)
    target.write_bytes(html.encode("utf-8", "replace"))
    return target


@pytest.fixture(scope="module")
def report(crawled: Path) -> Path:
    return _written(crawled, crawled.with_name("report.html"))


@pytest.fixture
def page(browser: Browser, report: Path) -> Browser:
    browser.open(report)
    return browser


def test_a_crawl_leaves_its_record_and_the_texts_of_near_duplicates(crawled: Path):
    with open_store(crawled, create=False) as store:
        (record,) = store.crawls()
        near = [line for line in store.duplicates() if line.kind == "near_duplicate"]
        assert all(store.text(line.url) and store.text(line.original) for line in near)
        assert store.verify() == []
    assert (record["spider"], record["reason"], record["recipe"]) == ("site", "finished", "content/1")
    assert record["settings"]["SIMCRAWL_KEEP_TEXT"] == 100_000_000
    assert record["rule"]["max_distance"] == 7
    assert record["stats"]["simcrawl/pages/near_duplicate"] == len(near)
    assert record["started"] < record["finished"]
    assert 0 < len(record["slowest"]) <= 20
    assert record["slowest"] == sorted(record["slowest"], reverse=True)


def test_every_duplicate_is_in_the_table_and_leads_to_its_pages(page: Browser, crawled: Path):
    with open_store(crawled, create=False) as store:
        lines = {line.url: line.original for line in store.duplicates()}
    assert page.texts(FOUND) == [str(len(lines))]
    script = "return [...document.querySelectorAll(arguments[0])].map(link => link.href)"
    copies, originals = (page.run(script, f"{ROWS} td:nth-child({column}) a") for column in (1, 2))
    shown = dict(zip(copies, originals, strict=True))
    assert shown.items() <= lines.items()
    assert len(shown) == min(25, len(lines))


def test_searching_leaves_what_has_every_word(page: Browser):
    everything = int(page.texts(FOUND)[0])
    page.press("/")
    page.press("zh/ openpgp")
    found = page.texts(COPIES)
    assert found
    assert all("zh/" in text and "openpgp" in text for text in found)
    assert page.texts(FOUND) == [f"{len(found)} of {everything}"]
    page.press("\ue009a\ue000", "nothing has this")
    assert page.texts(ROWS) == ["Nothing found."]


def test_a_heading_sorts_and_sorts_the_other_way_round_by_keyboard_alone(page: Browser):
    page.run("document.querySelector('#duplicates th:nth-child(4) button').focus()")
    orders = []
    for _ in range(2):
        page.press("\ue007")
        bits = [int(text) for text in page.texts(f"{ROWS} td:nth-child(4)")]
        orders.append((page.run("return document.querySelector('#duplicates th[aria-sort]').getAttribute('aria-sort')"), bits))
    (up, ascending), (down, descending) = orders
    assert (up, down) == ("ascending", "descending")
    assert ascending == sorted(ascending)
    assert descending == sorted(descending, reverse=True)
    assert ascending[0] < descending[0]


def test_kinds_are_chosen(page: Browser):
    page.choose("#duplicates select", "near")
    assert {text.strip() for text in page.texts(f"{ROWS} td:nth-child(3)")} == {"near"}
    page.choose("#duplicates select", "exact")
    assert all(text.startswith("identical") for text in page.texts(f"{ROWS} td:nth-child(3)"))


def test_a_pair_is_compared_and_the_dialog_closes_by_keyboard(page: Browser):
    page.run("document.querySelector('#duplicates .open').focus()")
    page.press("\ue007")
    assert page.run("return document.querySelector('dialog').open")
    assert page.texts("dialog h2") == ["What differs"]
    assert page.texts("dialog del, dialog ins")
    page.press("\ue00c")
    assert not page.run("return document.querySelector('dialog').open")
    # Back where one was.
    assert page.run("return document.activeElement.className") == "open"


def test_everything_is_reached_with_the_tab_key(page: Browser):
    wanted = page.run(f"return {REACHABLE}.length")
    reached = set()
    for _ in range(wanted + 5):
        page.press("\ue004")
        reached.add(page.run(f"return {REACHABLE}.indexOf(document.activeElement)"))
    assert reached >= set(range(wanted))


def test_nothing_leaves_the_file_and_the_console_is_silent(browser: Browser, report: Path):
    browser.driver.get("about:blank")
    browser.complaints(), browser.driver.get_log("performance")
    browser.open(report)
    browser.run("document.querySelector('#duplicates .open').click()")
    sent = [json.loads(entry["message"])["message"] for entry in browser.driver.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in sent if event["method"] == "Network.requestWillBeSent"}
    assert asked <= {report.as_uri(), "data:,"}
    assert report.as_uri() in asked
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_width_needs_scrolling_sideways(browser: Browser, report: Path, width: int):
    browser.open(report, width=width)
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_a_phone_shows_rows_as_cards_that_can_be_sorted(browser: Browser, report: Path):
    browser.open(report, width=390, height=844)
    assert browser.run("return getComputedStyle(document.querySelector(arguments[0])).display", ROWS) == "block"
    assert len(browser.texts(ROWS)) == 10
    browser.choose("#duplicates .phone select", "0")
    urls = browser.texts(COPIES)
    assert urls == sorted(urls)


def test_text_stands_out_in_the_light_and_in_the_dark(browser: Browser, report: Path):
    papers = []
    for dark in (False, True):
        browser.open(report, dark=dark)
        papers.append(_luminance(browser.run("return getComputedStyle(document.body).backgroundColor")))
        for selector in ("h1", ".note", "nav a", "figcaption p", "#duplicates td", ".chart text", "#duplicates .open"):
            property_ = "fill" if selector == ".chart text" else "color"
            script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
            ink = _luminance(browser.run(script, selector, property_))
            low, high = sorted((ink, papers[-1]))
            # WCAG 2, level AA.
            assert (high + 0.05) / (low + 0.05) >= 4.5, (selector, dark)
    assert papers[0] > 0.9
    assert papers[1] < 0.05


def _luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_hostile_pages_are_shown_and_do_nothing(browser: Browser, tmp_path: Path):
    with open_store(tmp_path / "store", recipe="manku2007") as store:
        hostile(store)
    browser.driver.get("about:blank")
    browser.complaints()
    browser.open(_written(tmp_path / "store", tmp_path / "report.html"))
    for number in range(len(browser.texts(ROWS))):
        browser.run("document.querySelectorAll('#duplicates .open')[arguments[0]].click()", number)
        browser.run("document.querySelector('dialog').close()")
    assert browser.complaints() == []
    assert "taken" not in browser.driver.title
    links: list[Any] = browser.run("return [...document.querySelectorAll('main a')].map(link => link.protocol)")
    assert set(links) <= {"http:", "https:", "file:"}
    assert browser.run("return document.querySelectorAll('main img, main script, td b, td i').length") == 0
    assert any("<script>" in text for text in browser.texts(COPIES))


def test_many_duplicates_are_paged_and_found(browser: Browser, tmp_path: Path):
    from benchmarks.report import fill

    with open_store(tmp_path / "store") as store:
        fill(store, 300, 6_000)
    browser.open(_written(tmp_path / "store", tmp_path / "report.html"))
    assert browser.texts("#sampled")[0].startswith("The 5,000 least certain of 6,000")
    assert browser.texts("#duplicates .pager span") == ["Page 1 of 200"]
    first = browser.texts(COPIES)
    browser.run("document.querySelectorAll('#duplicates .pager button')[1].click()")
    assert browser.texts("#duplicates .pager span") == ["Page 2 of 200"]
    assert not set(first) & set(browser.texts(COPIES))
    browser.press("/", "length-77.html")
    assert browser.texts(COPIES)
