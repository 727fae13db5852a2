"""The report in a browser: real copies of a real site, and pages that want to take it over."""

from __future__ import annotations

import csv
import io
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from benchmarks.report import fill
from simcrawl.crawl.demo_server import SITE
from simcrawl.report import gather, render
from simcrawl.store import PREDICTED, Duplicate, open_store
from simcrawl.tools.rethinking import Rethinking, rule_of
from simcrawl.urls.learned import mirrors
from simcrawl.urls.recall import learned
from tests.browser import Browser, Tab, UnavailableError, open_browser
from tests.crawl.runner import crawl
from tests.crawl.server import DirectorySite
from tests.test_report import CHANGES, MADE, RECORD, hostile

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


def _by_numbers(url: str) -> list[str | int]:
    """Return what URLs are put in order by; at the same places of these there are numbers."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", url)]


def _written(store: Path, target: Path) -> Path:
    with open_store(store, create=False) as opened:
        html = render(gather(opened), name="demo", text_of=opened.text, made=MADE)
    target.write_bytes(html.encode("utf-8", "replace"))
    return target


@pytest.fixture(scope="module")
def report(crawled: Path) -> Path:
    return _written(crawled, crawled.with_name("report.html"))


@pytest.fixture
def tab(browser: Browser, report: Path) -> Iterator[Tab]:
    with browser.open(report) as opened:
        yield opened


def test_a_crawl_leaves_its_record_and_the_texts_of_near_duplicates(crawled: Path):
    with open_store(crawled, create=False) as store:
        (record,) = store.crawls()
        near = [line for line in store.duplicates() if line.kind == "near_duplicate"]
        assert all(store.text(line.url) and store.text(line.original) for line in near)
        assert store.verify() == []
    assert (record["spider"], record["reason"], record["recipe"]) == ("site", "finished", "terms/3")
    assert record["settings"]["SIMCRAWL_KEEP_TEXT"] == 100_000_000
    assert record["rule"]["max_distance"] == 7
    assert record["stats"]["simcrawl/pages/near_duplicate"] == len(near)
    assert record["started"] < record["finished"]
    assert 0 < len(record["slowest"]) <= 20
    assert record["slowest"] == sorted(record["slowest"], reverse=True)


def test_every_duplicate_is_in_the_table_and_leads_to_its_pages(tab: Tab, crawled: Path):
    with open_store(crawled, create=False) as store:
        lines = {line.url: line.original for line in store.duplicates()}
    assert tab.texts(FOUND) == [str(len(lines))]
    script = "selector => [...document.querySelectorAll(selector)].map(link => link.href)"
    copies, originals = (tab.run(script, f"{ROWS} td:nth-child({column}) a") for column in (1, 2))
    shown = dict(zip(copies, originals, strict=True))
    assert shown.items() <= lines.items()
    assert len(shown) == min(25, len(lines))


def test_searching_leaves_what_has_every_word(tab: Tab):
    everything = int(tab.texts(FOUND)[0])
    tab.press("/")
    tab.type("zh/ openpgp")
    found = tab.texts(COPIES)
    assert found
    assert all("zh/" in text and "openpgp" in text for text in found)
    assert tab.texts(FOUND) == [f"{len(found)} of {everything}"]
    tab.press("Control+a")
    tab.type("nothing has this")
    assert tab.texts(ROWS) == ["Nothing found."]


def test_a_heading_sorts_and_sorts_the_other_way_round_by_keyboard_alone(tab: Tab):
    tab.page.focus("#duplicates th:nth-child(4) button")
    orders = []
    for _ in range(2):
        tab.press("Enter")
        bits = [int(text) for text in tab.texts(f"{ROWS} td:nth-child(4)")]
        orders.append((tab.page.get_attribute("#duplicates th[aria-sort]", "aria-sort"), bits))
    (up, ascending), (down, descending) = orders
    assert (up, down) == ("ascending", "descending")
    assert ascending == sorted(ascending)
    assert descending == sorted(descending, reverse=True)
    assert ascending[0] < descending[0]


def test_kinds_are_chosen(tab: Tab):
    tab.page.select_option("#duplicates select", "near")
    assert {text.strip() for text in tab.texts(f"{ROWS} td:nth-child(3)")} == {"near"}
    tab.page.select_option("#duplicates select", "exact")
    exact = tab.texts(f"{ROWS} td:nth-child(3)")
    assert exact
    assert all(text.startswith("identical") for text in exact)


def test_a_pair_is_compared_and_the_dialog_closes_by_keyboard(tab: Tab):
    tab.page.focus("#duplicates .open")
    tab.press("Enter")
    assert tab.run("document.querySelector('dialog').open")
    assert tab.texts("dialog h2") == ["What differs"]
    assert tab.texts("dialog del, dialog ins")
    tab.press("Escape")
    assert not tab.run("document.querySelector('dialog').open")
    # Back where one was.
    assert tab.run("document.activeElement.className") == "open"


def test_everything_is_reached_with_the_tab_key(tab: Tab):
    wanted = tab.run(f"{REACHABLE}.length")
    reached = set()
    for _ in range(wanted + 1):
        tab.press("Tab")
        reached.add(tab.run(f"{REACHABLE}.indexOf(document.activeElement)"))
    assert reached >= set(range(wanted))


def test_nothing_leaves_the_file_and_the_console_is_silent(tab: Tab, report: Path):
    tab.page.click("#duplicates .open")
    assert set(tab.requests) <= {report.as_uri(), "data:,"}
    assert report.as_uri() in tab.requests
    assert tab.complaints == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_width_needs_scrolling_sideways(browser: Browser, report: Path, width: int):
    with browser.open(report, width=width) as tab:
        assert tab.run("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_rows_as_cards_that_can_be_sorted(browser: Browser, report: Path):
    with browser.open(report, width=390, height=844) as tab:
        assert tab.run("selector => getComputedStyle(document.querySelector(selector)).display", ROWS) == "block"
        assert len(tab.texts(ROWS)) == 10
        tab.page.select_option("#duplicates .phone select", label="Copy")
        urls = tab.texts(COPIES)
        # Release 7.4 goes before 25.2: numbers in URLs are compared as numbers.
        assert urls == sorted(urls, key=_by_numbers)
        tab.page.select_option("#duplicates .phone select", label="Similarity")
        assert tab.texts(COPIES) != urls


def test_urls_of_pages_that_have_changed_break_on_a_phone(browser: Browser, tmp_path: Path):
    with open_store(tmp_path / "store", recipe="manku2007") as store:
        store.note_crawl(RECORD | {"changes": CHANGES})
        store.sync()
    with browser.open(_written(tmp_path / "store", tmp_path / "report.html"), width=390, height=844) as tab:
        assert tab.texts("#changes dd") == ["3", "1", "7", "2", "5"]
        tab.run("document.querySelectorAll('#changes details').forEach(at => at.open = true)")
        assert tab.run("document.documentElement.scrollWidth") <= 390
        assert tab.texts("#changes li")
        assert not tab.texts("#changes img, #changes script, #changes b, #changes a")
        assert tab.complaints == []
        assert "taken" not in tab.page.title()


INK = """
selector => {
  const style = getComputedStyle(document.querySelector(selector));
  return selector.endsWith("text") ? style.fill : style.color;
}
"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_the_light_and_in_the_dark(browser: Browser, report: Path, dark: bool):
    with browser.open(report, dark=dark) as tab:
        paper = _luminance(tab.run("getComputedStyle(document.body).backgroundColor"))
        assert paper < 0.05 if dark else paper > 0.9
        for selector in ("h1", ".note", "nav a", "figcaption p", "#duplicates td", ".chart text", "#duplicates .open"):
            low, high = sorted((_luminance(tab.run(INK, selector)), paper))
            # WCAG 2, level AA.
            assert (high + 0.05) / (low + 0.05) >= 4.5, selector


def _luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_hostile_pages_are_shown_and_do_nothing(browser: Browser, tmp_path: Path):
    with open_store(tmp_path / "store", recipe="manku2007") as store:
        hostile(store)
    target = _written(tmp_path / "store", tmp_path / "report.html")
    with browser.open(target) as tab:
        for number in range(len(tab.texts(ROWS))):
            tab.run("number => document.querySelectorAll('#duplicates .open')[number].click()", number)
            assert tab.texts("dialog ins")
            assert not tab.texts("dialog img, dialog script, dialog b")
            tab.run("document.querySelector('dialog').close()")
        assert tab.complaints == []
        assert set(tab.requests) <= {target.as_uri(), "data:,"}
        assert "taken" not in tab.page.title()
        assert set(tab.run("[...document.querySelectorAll('main a')].map(link => link.protocol)")) <= {"http:", "https:", "file:"}
        assert not tab.texts("main img, main script, td b, td i")
        assert any("<script>" in text for text in tab.texts(COPIES))


def test_rules_and_mirrors_are_shown(tab: Tab, crawled: Path):
    with open_store(crawled, create=False) as store:
        rules = learned(store)
    groups, others = tab.texts("#groups tbody tr"), tab.texts("#rules .table[data-table=rules] tbody tr")
    told = [f"{rule.rule}in {rule.where}" for rule in rules]
    assert all(any(words in row for row in groups + others) for words in told)
    assert f"{rules[0].saves} of {rules[0].support} pages, confidence {rules[0].confidence:.3f}" in next(
        row for row in groups if told[0] in row
    )
    assert not any(words in row for row in others for words in told if any(words in group for group in groups))
    found = mirrors(rules)
    assert {mirror.a.rpartition("/")[2] for mirror in found} | {mirror.b.rpartition("/")[2] for mirror in found} == {"7.4", "25.2"}
    shown = tab.texts("#rules .table[data-table=mirrors] tbody tr")
    assert all(f"{mirror.a}{mirror.b}" in row and "%" in row for mirror, row in zip(found, shown, strict=True))
    assert tab.complaints == []


def test_rules_fit_a_phone(browser: Browser, report: Path):
    with browser.open(report, width=390, height=844) as tab:
        assert any(" stands for " in row for row in tab.texts("#groups tbody tr"))
        assert tab.run("document.documentElement.scrollWidth") <= 390


def test_a_page_that_was_not_fetched_is_told_with_its_rule(browser: Browser, tmp_path: Path):
    with open_store(tmp_path / "store") as store:
        fill(store, 5, 20)
        rule = "'<b>' stands for 'a'"
        store.note(Duplicate("http://b.test/2", "http://a.test/2", PREDICTED, None, None, PREDICTED, True, True, MADE, rule=rule))
    with browser.open(_written(tmp_path / "store", tmp_path / "report.html")) as tab:
        tab.page.select_option("#duplicates select", "not_fetched")
        assert tab.texts(COPIES) == ["http://b.test/2"]
        tab.page.click("#duplicates .open")
        (shown,) = tab.texts("dialog")
        assert "This page was not fetched" in shown
        assert "'<b>' stands for 'a'" in shown
        assert tab.complaints == []


def test_a_verdict_that_was_taken_back_is_marked(browser: Browser, tmp_path: Path):
    with open_store(tmp_path / "store") as store:
        fill(store, 5, 20)
        (taken, *_) = [line.url for line in store.duplicates() if line.kind == "near_duplicate"]
        store.reject(taken)
    with browser.open(_written(tmp_path / "store", tmp_path / "report.html")) as tab:
        tab.page.select_option("#duplicates select", "rejected")
        assert tab.texts(COPIES) == [taken]
        assert tab.texts("#duplicates .kind") == ["rejected"]
        tab.page.click("#duplicates .open")
        assert "A user took this verdict back" in tab.texts("dialog")[0]
        tab.press("Escape")
        tab.page.select_option("#duplicates select", "near")
        assert taken not in tab.texts(COPIES)
        assert tab.complaints == []


def test_many_duplicates_are_paged_and_found(browser: Browser, tmp_path: Path):
    with open_store(tmp_path / "store") as store:
        fill(store, 300, 6_000)
    with browser.open(_written(tmp_path / "store", tmp_path / "report.html")) as tab:
        assert tab.texts("#sampled")[0].startswith("The 5,000 least certain of 6,000")
        assert tab.texts("#duplicates .pager span") == ["Page 1 of 200"]
        first = tab.texts(COPIES)
        tab.page.click("#duplicates .pager button:last-child")
        assert tab.texts("#duplicates .pager span") == ["Page 2 of 200"]
        assert not set(first) & set(tab.texts(COPIES))
        tab.press("/")
        tab.type("section-77/")
        assert tab.texts(COPIES)


# ---- what a reader does with it


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """The report of a store with copies of two kinds, one of whose URLs a terminal and a spreadsheet would obey."""
    names = [(f"/print/{number}", f"/article/{number}", 0.95 + number / 1_000) for number in range(12)]
    names += [("/print/'; reboot\u202e", "/article/x", 0.94), ("/old/1", "/new/1", 0.93), ("/old/2", "/new/2", 0.931)]
    with open_store(str(tmp_path / "a store"), recipe="content", seed=1) as store:
        for copy, original, similarity in names:
            store.note(
                Duplicate(
                    f"http://a.test{copy}", f"http://a.test{original}", "near_duplicate", 3, similarity, "near-duplicate", True, False, MADE
                )
            )
        store.note(Duplicate("=1+1", "http://a.test/article/y", "exact_duplicate", 0, 1.0, "identical text", True, True, MADE))
    return _written(tmp_path / "a store", tmp_path / "report.html")


def test_groups_of_copies_are_shown_and_taken_back(browser: Browser, pairs: Path) -> None:
    with browser.open(pairs) as tab:
        assert tab.texts("#groups tbody tr:first-child td:nth-child(-n+3)") == ["…/print…", "…/article…", "12"]
        tab.run("document.querySelector('#groups tbody tr .open').click()")
        assert tab.texts(FOUND) == ["12 of 16"]
        tab.run("[...document.querySelectorAll('#duplicates .tool')].find(at => at.textContent === 'All groups').click()")
        assert tab.texts(FOUND) == ["16"]


def test_the_command_to_reject_names_what_is_shown_and_nothing_that_a_terminal_obeys(browser: Browser, pairs: Path) -> None:
    with browser.open(pairs) as tab:
        tab.run("[...document.querySelectorAll('#duplicates .tool')].find(at => at.textContent === 'Reject these…').click()")
        command = tab.run("document.querySelector('dialog textarea').value")
        words = shlex.split(command.replace("\\\n", ""))
        assert words[:3] == ["simcrawl", "reject", "demo"]
        assert len(words) == 3 + 15
        assert "\u202e" not in command
        assert "1 of the rows shown are left out" in tab.texts("dialog .note")[0]


def test_a_table_is_saved_as_text_that_no_spreadsheet_obeys(browser: Browser, pairs: Path) -> None:
    saved = """() => new Promise((done) => {
      URL.createObjectURL = (blob) => { blob.text().then(done); return "#"; };
      [...document.querySelectorAll('#duplicates .tool')].find(at => at.textContent === 'CSV').click();
    })"""
    with browser.open(pairs) as tab:
        rows = list(csv.DictReader(io.StringIO(tab.run(saved).removeprefix("\ufeff"))))
    assert len(rows) == 16
    assert {row["Copy"] for row in rows} >= {"'=1+1", "http://a.test/print/'; reboot\\u202e", "http://a.test/old/1"}
    assert rows[0]["Similarity"] == "0.93"


def test_the_slider_says_what_the_command_says(browser: Browser, crawled: Path, report: Path) -> None:
    with open_store(str(crawled), create=False) as store:
        told = Rethinking(store, rule_of(store), [0.98]).at(0.98)
    assert told.fallen
    with browser.open(report) as tab:
        assert "(as it was)" in tab.texts("#threshold output")[0]
        assert tab.texts("#threshold tbody tr") == ["Nothing found."]
        at = tab.run("JSON.parse(document.getElementById('data').textContent).thresholds.values.indexOf(0.98)")
        tab.run(f"(() => {{ const s = document.getElementById('similarity'); s.value = {at}; s.dispatchEvent(new Event('input')); }})()")
        assert tab.texts("#then")[0].startswith(f"{told.kept_then} pages kept (+{told.kept_then - told.kept}), {told.copies_then} copies: ")
        assert len(tab.texts("#threshold tbody tr")) == min(25, len(told.fallen) + len(told.joined))
