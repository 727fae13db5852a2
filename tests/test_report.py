"""The report: what it tells of a store, and that nothing which a page says becomes more than text in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st
from lxml import html as lxml_html
from rich.filesize import decimal

from simcrawl.bits import hamming_distance
from simcrawl.cli import run
from simcrawl.config import SETTINGS, Config
from simcrawl.crawl.history import History
from simcrawl.errors import StoreCorruptError
from simcrawl.page.hints import Hints
from simcrawl.page.kept import compressed
from simcrawl.page.recipes import resolve
from simcrawl.report import Facts, charts, gather, page as report_page, render
from simcrawl.report.facts import Place
from simcrawl.report.page import difference
from simcrawl.rule import Rule
from simcrawl.store import PREDICTED, Duplicate, Store, open_store
from tests.documents import ROOT
from tests.strategies import abstention, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=1)
MADE = 1_800_000_000.0
HOSTILE = [
    "<script>document.title='taken'</script>",
    "</script><script>document.title='taken'</script>",
    '"><img src=x onerror="document.title=\'taken\'">',
    "'+alert(1)+'",
    "javascript:document.title='taken'",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "http://a.test/<b>bold</b>?q=\"'&amp;",
    "http://a.test/\u2028\u2029line",
    "http://a.test/<!--<script>",
    "http://a.test/{{ 7 * 7 }}{% raw %}",
    "http://a.test/\ud800surrogate",
    "http://a.test/中文?é=ü",
    "http://" + "a" * 5_000 + "/",
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store", recipe="manku2007") as opened:
        yield opened


def fill(store: Store) -> None:
    """Two hosts: a page with an exact and a near copy on the other one, a page with a copy beside it, two that stand alone."""
    for url, fingerprint, text in (
        ("http://a.test/1", 0, "one"),
        ("http://b.test/1", 0, "one"),
        ("http://b.test/near", 0b11, "nearly one"),
        ("http://a.test/2", 0xFFFF, "two"),
        ("http://a.test/2?copy", 0xFFFF, "two"),
        ("http://b.test/3", 0xFFFFFFFF, "three"),
    ):
        store.admit(page(url, fingerprint, text=text), NEAR)
    store.admit(abstention("http://b.test/short"), NEAR)
    store.sync()


def written(facts: Facts, store: Store) -> Any:
    return lxml_html.fromstring(render(facts, name="store", text_of=store.text, made=MADE).encode("utf-8", "replace"))


def data_of(document: Any) -> dict[str, Any]:
    (held,) = document.xpath("//script[@type='application/json']")
    found: dict[str, Any] = json.loads(held.text)
    return found


def text_of(document: Any, path: str) -> str:
    return " ".join(" ".join(document.xpath(f"{path}//text()")).split())


# ---- facts


def test_what_a_store_holds_is_counted(store: Store):
    fill(store)
    facts = gather(store)
    assert (facts.kept, facts.copies) == (4, 3)
    assert facts.share == pytest.approx(3 / 7, abs=5e-4)
    assert facts.kinds == {"exact": 2, "near": 1}
    assert facts.abstentions == {"short": 1}
    assert facts.distances == {2: 1}
    assert {kind: len(times) for kind, times in facts.times.items()} == {"kept": 4, "exact": 2, "near": 1}
    assert facts.cluster_sizes == {3: 1, 2: 1}
    assert [(cluster.original, cluster.copies, cluster.exact) for cluster in facts.clusters] == [
        ("http://a.test/1", 2, 1),
        ("http://a.test/2", 1, 1),
    ]
    assert sorted(facts.clusters[0].examples) == ["http://b.test/1", "http://b.test/near"]
    assert facts.actions.total() == 3


def test_hosts_are_told_apart(store: Store):
    fill(store)
    facts = gather(store)
    assert not facts.by_directory
    assert [tuple(tally) for tally in facts.tallies] == [("b.test", 2, 1, 1), ("a.test", 2, 1, 0)]
    assert (facts.mirrors, facts.rules) == ([], [])


def test_directories_are_told_apart_where_there_is_one_host_and_rules_and_mirrors_named(store: Store):
    noise = Random(3)
    for number in range(4):
        for directory in ("x", "mirror"):
            store.admit(page(f"http://a.test/{directory}/{number}", noise.getrandbits(64), text=f"{number}"), NEAR)
    store.admit(page("http://a.test/", noise.getrandbits(64)), NEAR)
    store.sync()
    facts = gather(store)
    assert facts.by_directory
    assert [tuple(tally) for tally in facts.tallies] == [("/mirror", 0, 4, 0), ("/x", 4, 0, 0), ("/", 1, 0, 0)]
    (rule,) = facts.rules
    assert (rule.rule, rule.where, rule.saves) == ("'mirror' stands for 'x'", "http://a.test/", 3)
    assert [tuple(mirror) for mirror in facts.mirrors] == [("a.test/x", "a.test/mirror", 3, 3)]
    tables = data_of(written(facts, store))["tables"]
    assert tables["mirrors"] == [["a.test/x", "a.test/mirror", 3, 3, 1.0]]
    assert tables["groups"] == [["…/mirror…", "…/x…", 4, 4, 0, 0, 0, ["'mirror' stands for 'x'", "http://a.test/", 3, 3, rule.confidence]]]
    assert tables["rules"] == []
    assert facts.as_object()["groups"][0]["rule"] == facts.as_object()["rules"][0]
    assert facts.as_object()["rules"][0]["means"] == "replaced"
    assert facts.as_object()["mirrors"] == [{"a": "a.test/x", "b": "a.test/mirror", "copies": 3, "pages": 3, "share": 1.0}]


def test_pages_that_were_not_fetched_are_told_apart_from_copies(store: Store):
    fill(store)
    store.note(
        Duplicate("http://b.test/2", "http://a.test/2", PREDICTED, None, None, PREDICTED, True, True, MADE, rule="'b' stands for 'a'")
    )
    store.sync()
    facts = gather(store)
    assert (facts.copies, facts.not_fetched, facts.as_object()["not_fetched"]) == (3, 1, 1)
    assert [line.kind for line in facts.lines] == ["near_duplicate", PREDICTED, "exact_duplicate", "exact_duplicate"]
    document = written(facts, store)
    assert "not fetched: copies by a rule 1" in text_of(document, "//dl[@class='figures'][1]")
    row = data_of(document)["tables"]["duplicates"][1]
    assert (row[2], *row[7:10]) == ("predicted", None, "'b' stands for 'a'", "not_fetched")


def test_verdicts_that_were_taken_back_are_no_copies_and_are_marked(store: Store):
    fill(store)
    store.reject("http://b.test/near")
    facts = gather(store)
    assert (facts.copies, facts.rejected, facts.as_object()["rejected"], facts.as_object()["near"]) == (2, 1, 1, 0)
    assert facts.share == pytest.approx(2 / 6, abs=5e-4)
    assert (facts.actions.total(), facts.distances, facts.times["near"].tolist()) == (2, {}, [])
    assert [tuple(tally) for tally in facts.tallies] == [("a.test", 2, 1, 0), ("b.test", 2, 1, 0)]
    document = written(facts, store)
    assert "verdicts taken back: no copies 1" in text_of(document, "//dl[@class='figures'][1]")
    data = data_of(document)
    assert data["lines"] == 3
    marks = {data["urls"][row[0]]: row[9] for row in data["tables"]["duplicates"]}
    assert marks == {"http://b.test/1": "exact", "http://a.test/2?copy": "exact", "http://b.test/near": "rejected"}


@pytest.mark.parametrize(
    ("url", "host", "directory"),
    [
        ("http://a.test/d/e.html", "a.test", "/d"),
        ("https://user:pass@a.test:8080/d/", "a.test:8080", "/d"),
        ("http://a.test/page.html", "a.test", ""),
        ("http://a.test?x=/y/z", "a.test", ""),
        ("POST http://a.test/d/e", "a.test", "/d"),
        ("no url", "no url", ""),
    ],
)
def test_a_place_is_host_and_first_directory(url: str, host: str, directory: str):
    assert Place.of(url) == (host, directory)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30, unique=True))
def test_ones_and_nearest_fingerprints_are_those_of_brute_force(fingerprints: list[int]):
    with open_store("memory:") as store:
        store.load_fingerprints(fingerprints)
        facts = gather(store)
    assert facts.ones == pytest.approx([sum(value >> bit & 1 for value in fingerprints) / len(fingerprints) for bit in range(64)])
    nearest = [min(hamming_distance(a, b) for b in fingerprints if b != a) for a in fingerprints if len(fingerprints) > 1]
    assert facts.nearest == Counter(nearest)
    assert facts.compared == len(nearest)


def test_wide_fingerprints_are_compared_by_all_their_bits():
    with open_store("memory:", bits=128) as store:
        store.load_fingerprints([0, 1 << 100, (1 << 100) + 0b111])
        facts = gather(store)
    assert facts.nearest == {1: 2, 3: 1}
    assert len(facts.ones) == 128
    assert facts.ones[100] == pytest.approx(2 / 3)


def test_of_many_lines_the_least_certain_are_shown_and_it_says_so(store: Store):
    for number in range(40):
        fingerprint = Random(number).getrandbits(64)
        store.admit(page(f"http://a.test/{number}", fingerprint, text=f"{number}"), NEAR)
        near = number % 4 == 0
        store.admit(page(f"http://b.test/{number}", fingerprint ^ near, text=f"copy {number}" if near else f"{number}"), NEAR)
    store.sync()
    facts = gather(store, most_lines=12)
    assert facts.copies == 40
    assert [line.kind for line in facts.lines] == ["near_duplicate"] * 10 + ["exact_duplicate"] * 2
    data = data_of(written(facts, store))
    assert (len(data["tables"]["duplicates"]), data["lines"]) == (12, 40)


def test_reading_is_told_as_it_goes_on(store: Store):
    fill(store)
    told: list[tuple[float, str]] = []
    gather(store, move=lambda done, what: told.append((done, what)))
    assert told == [(0, "pages"), (4, "rules"), (7, "fingerprints")]


# ---- the page


def test_the_page_says_what_was_found(store: Store):
    fill(store)
    document = written(gather(store), store)
    assert text_of(document, "//h1") == "b.test and a.test"
    assert "42.9% of 7 pages were copies of others." in text_of(document, "//main")
    shown = dict(zip(document.xpath("//dl[@class='figures']//dt/text()"), document.xpath("//dl[@class='figures']//dd"), strict=True))
    assert {name: text_of(value, ".") for name, value in shown.items()} == {
        "pages kept": "4",
        "exact copies": "2",
        "near-duplicates": "1",
        "bytes of copies": "not recorded",
        "links on them not followed": "not recorded",
    }
    assert "has no record of a crawl" in text_of(document, "//section[@id='settings']")
    data = data_of(document)
    names = [(data["urls"][row[0]], data["urls"][row[1]]) for row in data["tables"]["duplicates"]]
    assert names[0] == ("http://b.test/near", "http://a.test/1")
    assert sorted(names[1:]) == [("http://a.test/2?copy", "http://a.test/2"), ("http://b.test/1", "http://a.test/1")]


@pytest.mark.parametrize("bits", [64, 128])
def test_an_empty_store_and_one_of_bare_fingerprints_have_reports(bits: int):
    with open_store("memory:", bits=bits) as store:
        assert "holds no pages yet" in text_of(written(gather(store), store), "//main")
        store.load_fingerprints([1, 2, 4])
        assert written(gather(store), store).xpath("count(//figure)") >= 1


def test_every_chart_has_a_name_and_no_script_or_style_of_its_own(store: Store):
    fill(store)
    document = written(gather(store), store)
    assert document.xpath("//figure//h3/text()") == [
        "Pages over time",
        "Cluster sizes",
        "Share by host",
        "Differing bits",
        "Ones at each bit of the fingerprints",
    ]
    assert not document.xpath("//svg//script | //svg//style | //svg//@style | //svg//image | //svg//a")
    assert document.xpath("count(//svg)") == document.xpath("count(//*[@role='img'][@aria-label])") == 5
    assert len(document.xpath("//figure[contains(@class, 'ones')]//rect")) == sum(share > 0 for share in gather(store).ones) >= 32


def test_the_threshold_is_drawn_between_the_last_candidate_and_the_next_distance():
    drawn = charts.beside(charts.Bars({"a": [5] * 11, "b": [4] * 11}, [str(bits) for bits in range(11)], 8))
    bars = sorted((bar.x, bar.x + bar.width) for bar in drawn.bars)
    assert len(bars) == 22
    before, after = bars[15][1], bars[16][0]
    assert drawn.limit is not None
    assert before <= drawn.limit <= after


ROWS = st.lists(st.lists(st.integers(0, 10**9), min_size=3, max_size=3), min_size=1, max_size=50)


@given(ROWS, st.sampled_from(["stacked", "beside", "across"]))
def test_bars_are_as_long_as_their_values_and_within_their_axes(rows: list[list[int]], kind: str):
    series = {name: [row[number] for row in rows] for number, name in enumerate("abc")}
    drawn = getattr(charts, kind)(charts.Bars(series, [f"<{at}>" for at in range(len(rows))]))
    values = [value for row in rows for value in row if value]
    long = [bar.width if drawn.across else bar.height for bar in drawn.bars]
    assert len(long) == len(values)
    pixel = sum(values) / sum(long) if values else 1
    assert sorted(length * pixel for length in long) == pytest.approx(sorted(values), rel=1e-6, abs=pixel * 1e-6)
    for bar in drawn.bars:
        assert drawn.left <= bar.x + 1e-6
        assert bar.x + bar.width <= drawn.right + 1e-6
        assert drawn.top <= bar.y + 1e-6
        assert bar.y + bar.height <= drawn.bottom + 1e-6
    assert 2 <= len(drawn.values) <= 5
    assert drawn.values[0].text == "0"
    assert len({tick.text for tick in drawn.values}) == len(drawn.values)


DRAWN = '{% from "bars.svg" import bars %}{{ bars(drawn) }}'


def test_names_of_bars_are_text_and_nothing_else():
    name = "<script>alert(1)</script>&'\""
    for drawn in (charts.across(charts.Bars({name: [1], "b": [2]}, [name])), charts.stacked(charts.Bars({"a": [1]}, [name]))):
        svg = lxml_html.fromstring(report_page._templates().from_string(DRAWN).render(drawn=drawn))
        assert not svg.xpath("//script")
        assert svg.xpath("//rect/title/text()")[0].startswith(name)
        assert svg.xpath("//g[@class='names']/text/text()") == [name if len(name) <= 26 else name[:25] + "…"] or not drawn.across


def test_times_fall_into_equal_stretches():
    counts, labels, seconds = charts.over_time({"kept": [0, 1, 59], "near": [3_600], "exact": []})
    assert (seconds, len(labels)) == (120, 31)
    assert counts == {"kept": [3] + [0] * 30, "near": [0] * 30 + [1], "exact": [0] * 31}
    assert labels[:2] == ["00:00", "00:02"]
    years = charts.over_time({"kept": [0, 10 * 365 * 86_400]})
    assert len(years[1]) <= 48
    assert sum(years[0]["kept"]) == 2
    assert charts.over_time({"kept": []})[0] == {"kept": [0]}


RECORD: dict[str, Any] = {
    "spider": "<b>spider</b>",
    "reason": "finished",
    "started": MADE - 90,
    "finished": MADE,
    "recipe": "content/4",
    "settings": {"SIMCRAWL_ACTION": "observe", "SIMCRAWL_MAX_DISTANCE": None, "SIMCRAWL_SCOPE": "all"},
    "rule": {"max_distance": 7, "min_similarity": 0.93},
    "stats": {
        "simcrawl/pages/checked": 1019,
        "simcrawl/pages/skipped/status": 22,
        "simcrawl/pages/skipped/short": 8,
        "simcrawl/bytes/duplicate": 5_413_100,
        "simcrawl/outlinks/dropped": 2740,
    },
    "slowest": [[5.894, "http://a.test/slow"]],
}


def test_a_recorded_crawl_gives_settings_sums_reasons_and_slow_pages(store: Store):
    fill(store)
    store.note_crawl(RECORD)
    document = written(gather(store), store)
    shown = text_of(document, "//dl[@class='figures']")
    assert "5.4 MB bytes of copies" in shown or "bytes of copies 5.4 MB" in shown
    assert [text_of(row, ".") for row in document.xpath("//section[@id='skipped']//tbody/tr")] == [
        "status the response was no success 22",
        "short too short: compared as exact copies only 8",
    ]
    assert [text_of(row, ".") for row in document.xpath("//section[@id='settings']//details//tbody/tr")] == [
        "SIMCRAWL_ACTION observe not the default",
        "SIMCRAWL_MAX_DISTANCE 7",
        "SIMCRAWL_SCOPE all",
    ]
    assert text_of(document, "//section[@id='settings']//table[1]//tbody/tr[1]").startswith(
        "<b>spider</b> finished 2027-01-15 08:00 UTC 1 min 30 s 1,019"
    )
    data = data_of(document)
    assert [[data["urls"][at], seconds] for at, seconds in data["tables"]["slowest"]] == [["http://a.test/slow", 5.894]]


# Another value of each setting as `-s` takes it, and how the report says it.
OTHER = {
    "ENABLED": ("false", "False"),
    "STORE": ("/a/b", "/a/b"),
    "STORE_MODE": ("660", "0660"),
    "ACTION": ("observe", "observe"),
    "MAX_DISTANCE": ("5", "5"),
    "MIN_SIMILARITY": ("0.5", "0.5"),
    "SCOPE": ("site", "site"),
    "TRUSTED_HOSTS": ("b.test,a.test", "a.test, b.test"),
    "ORIGINALS": ("store", "store"),
    "CRAWL": ("nightly", "nightly"),
    "RESET": ("1", "True"),
    "COPIES_KEPT": ("2", "2"),
    "PREFER": ("canonical", "canonical"),
    "OUTLINKS": ("drop", "drop"),
    "ORDER": ("0", "False"),
    "SKIP": ("False", "False"),
    "CARRIED_DATA": ("False", "False"),
    "MIRRORS": ("a.test", "a.test"),
    "REDACT": ("token", "token"),
    "RECIPE": ("main", "main"),
    "EXTRACTOR": ("tests.samples.counting_extractor", "tests.samples.counting_extractor"),
    "MIN_FEATURES": ("9", "9"),
    "MIN_AROUND": ("0", "0"),
    "MAX_PAGE_BYTES": ("1000", "1000"),
    "MAX_PAGE_SECONDS": ("3", "3.0"),
    "MAX_HOST_SECONDS": ("1", "1.0"),
    "MAX_WAIT_SECONDS": ("1", "1.0"),
    "EXPIRE_DAYS": ("2", "2.0"),
    "WORKERS": ("0", "0"),
    "MAX_WORKER_BYTES": ("1000", "1000"),
    "SYNC_SECONDS": ("2", "2.0"),
    "DURABLE_FEED": ("0", "False"),
    "ITEM_FIELD": ("text", "text"),
    "KEEP_TEXT": ("False", "False"),
    "RECRAWL": ("dropped.txt", "dropped.txt"),
    "DEBUG": ("True", "True"),
}


def settings_told(store: Store, **settings: str) -> dict[str, str]:
    """Return what the report says of each setting after a crawl with these."""
    config = Config.from_settings({f"SIMCRAWL_{name}": value for name, value in settings.items()}.get)
    store.note_crawl(json.loads(json.dumps(History().record({"spider": "a", "reason": "finished"}, {}, config, Rule.of(resolve("terms"))))))
    rows = [text_of(row, ".") for row in written(gather(store), store).xpath("//section[@id='settings']//details//tbody/tr")]
    return {name.removeprefix("SIMCRAWL_"): value for name, _, value in (row.partition(" ") for row in rows)}


def test_settings_that_are_the_default_are_told_as_they_are(store: Store):
    told = settings_told(store)
    assert told.keys() == OTHER.keys() == {name.removeprefix("SIMCRAWL_") for name in SETTINGS}
    assert [name for name, value in told.items() if "not the default" in value] == []
    names = ("STORE_MODE", "OUTLINKS", "TRUSTED_HOSTS", "MIRRORS", "REDACT", "KEEP_TEXT", "DURABLE_FEED", "WORKERS", "PREFER", "SKIP")
    assert [told[name] for name in names] == ["0600", "follow", "none", "none", "none", "auto", "auto", "auto", "off", "0.95"]
    assert (told["MIN_FEATURES"], told["EXTRACTOR"], told["MAX_DISTANCE"]) == ("the recipe's", "the recipe's", "7")


def test_settings_that_are_not_the_default_are_told_as_they_were_written(store: Store):
    assert settings_told(store, **{name: given for name, (given, _) in OTHER.items()}) == {
        name: f"{shown} not the default" for name, (_, shown) in OTHER.items()
    }


def test_answers_of_the_last_crawl_are_told_by_status(store: Store):
    fill(store)
    store.note_crawl(RECORD)
    assert not written(gather(store), store).xpath("//section[@id='answers']")
    counts = {
        f"downloader/response_status_count/{status}": count for status, count in {404: 3, 200: 1_500, 301: 20, 799: 1, 503: 2}.items()
    }
    store.note_crawl(RECORD | {"stats": RECORD["stats"] | counts | {"downloader/response_count": 1_530}})
    document = written(gather(store), store)
    assert [text_of(row, ".") for row in document.xpath("//section[@id='answers']//tbody/tr")] == [
        "200 OK compared, if it is HTML 1,500",
        "301 Moved Permanently Scrapy follows it; the page behind it is compared, under its own URL 20",
        "404 Not Found not compared; a page that the crawl before kept counts as gone 3",
        "503 Service Unavailable not compared; says nothing of whether the page is gone 2",
        "799 not compared; says nothing of whether the page is gone 1",
        "others not compared 4",
    ]


CHANGES: dict[str, Any] = {
    "new": 3,
    "changed": 1,
    "unchanged": 7,
    "gone": 2,
    "not met again": 5,
    "urls": {"new": HOSTILE[:2], "changed": [HOSTILE[2]], "gone": HOSTILE[-2:]},
}


def changes_of(store: Store, *records: dict[str, Any]) -> list[Any]:
    """Return the sections on changes in the report of a store with these records."""
    for record in records:
        store.note_crawl(record)
    found: list[Any] = written(gather(store), store).xpath("//section[@id='changes']")
    return found


def test_what_has_changed_is_counted_and_named_as_text(store: Store):
    fill(store)
    (section,) = changes_of(store, RECORD, RECORD | {"changes": CHANGES})
    assert text_of(section, ".//h2") == "Since the last finished crawl of this spider"
    assert [text_of(figure, ".") for figure in section.xpath(".//dl/div")] == [
        "new 3",
        "changed 1",
        "unchanged 7",
        "gone 2",
        "not met again 5",
    ]
    assert [text_of(kind, ".") for kind in section.xpath(".//summary")] == ["New: the first 2", "Changed", "Gone"]
    assert [item.text for item in section.xpath(".//li")] == [*HOSTILE[:3], *HOSTILE[-2:]]
    assert not section.xpath(".//li/*")


def test_other_verdicts_are_told_where_a_crawl_knows_them(store: Store):
    fill(store)
    turned = CHANGES | {"copies now": 1, "kept now": 0, "urls": CHANGES["urls"] | {"copies now": HOSTILE[:1], "kept now": []}}
    (section,) = changes_of(store, RECORD, RECORD | {"changes": turned})
    assert [text_of(figure, ".") for figure in section.xpath(".//dl/div")][3:5] == ["copies now 1", "kept now 0"]
    assert [text_of(kind, ".") for kind in section.xpath(".//summary")][-1] == "Copies now"


def test_what_is_gone_is_unknown_where_a_crawl_cannot_know_it(store: Store):
    fill(store)
    nothing: dict[str, Any] = {"new": 4, "changed": 0, "unchanged": 0, "gone": None, "urls": {"new": [], "changed": [], "gone": []}}
    (section,) = changes_of(store, RECORD | {"changes": nothing})
    assert text_of(section, ".//dl/div[last()]") == "gone unknown: the crawl did not finish, or is the first one"
    assert not section.xpath(".//details")


def test_a_crawl_that_recorded_no_changes_has_no_section_on_them(store: Store):
    fill(store)
    assert changes_of(store, RECORD | {"changes": CHANGES}, RECORD) == []
    assert not written(gather(store), store).xpath("//a[@href='#changes']")


def test_sums_over_several_crawls_say_so(store: Store):
    fill(store)
    store.note_crawl(RECORD)
    assert "bytes of copies, in" not in text_of(written(gather(store), store), "//dl[@class='figures']")
    store.note_crawl(RECORD)
    assert "10.8 MB bytes of copies, in 2 crawls" in _figures(written(gather(store), store))


def _figures(document: Any) -> str:
    return " ".join(f"{text_of(figure, './dd')} {text_of(figure, './dt')}" for figure in document.xpath("//dl[@class='figures']/div"))


def test_every_reason_to_skip_a_page_has_a_meaning(store: Store):
    fill(store)
    reference = (ROOT / "docs" / "reference.md").read_text()
    row = next(line for line in reference.splitlines() if line.startswith("| `simcrawl/pages/skipped`"))
    reasons = re.findall(r"`(\w+)`", row.partition("skipped/<reason>`")[2])
    store.note_crawl(RECORD | {"stats": {f"simcrawl/pages/skipped/{reason}": 1 for reason in reasons}})
    document = written(gather(store), store)
    rows = [[text_of(cell, ".") for cell in row.xpath("*")] for row in document.xpath("//section[@id='skipped']//tbody/tr")]
    assert sorted(reason for reason, _, _ in rows) == sorted(reasons)
    assert [reason for reason, meaning, _ in rows if not meaning] == []


def test_a_record_of_another_make_and_a_damaged_text_are_left_out(store: Store):
    fill(store)
    store.note_crawl({"tool": "another"})

    def damaged(url: str) -> str:
        raise StoreCorruptError(url)

    facts = gather(store)
    assert facts.crawls == []
    assert '"differences":[]' in render(facts, name="store", text_of=damaged, made=MADE)


# ---- what comes from pages


def hostile(store: Store) -> None:
    store.keep_texts(10**6)
    noise = Random(11)
    for number, text in enumerate(HOSTILE):
        fingerprint = noise.getrandbits(64)
        for made in (page(text, fingerprint), page(f"{text}#{number}copy".replace("#", "?"), fingerprint ^ 1)):
            own = text if made.url == text else f"only the copy: {text}\n{text}"
            claim = store.claim(
                replace(made, content=compressed(f"{text}\n{own}\nsame"), hints=Hints(title=text, canonical=text, noindex=True)), NEAR
            ).claim
            if claim:
                claim.confirm()
    store.note_crawl(RECORD | {"spider": HOSTILE[1], "settings": {"SIMCRAWL_STORE": HOSTILE[0]}, "slowest": [[1.0, HOSTILE[1]]]})
    store.sync()


def test_nothing_that_a_page_says_becomes_markup_or_a_link(store: Store):
    hostile(store)
    facts = gather(store)
    assert facts.copies == len(HOSTILE)
    document = written(facts, store)
    assert len(document.xpath("//script")) == 2
    assert not document.xpath("//img | //b[text()='bold'] | //@onerror | //*[contains(@href, 'script')]")
    assert {link for link in document.xpath("//@href") if not link.startswith("#")} == {"data:,"}
    data = data_of(document)
    assert set(HOSTILE[:-1]) <= {url.replace("?", "\ud800") if "surrogate" in url else url for url in data["urls"]} | {HOSTILE[11]}
    linked = [url for url, link in zip(data["urls"], data["links"], strict=True) if link]
    assert all(re.match(r"https?://\S+\Z", url) and len(url) <= 2_000 for url in linked)
    assert not any(url.lower().startswith(("javascript", "data")) for url in linked)
    assert data["differences"]


def test_what_is_embedded_holds_nothing_that_ends_a_script(store: Store):
    hostile(store)
    html = render(gather(store), name=HOSTILE[0], text_of=store.text, made=MADE)
    embedded = html.partition('<script type="application/json" id="data">')[2].partition("</script>")[0]
    assert not re.search("[<>&'\u2028\u2029\ud800]", embedded)
    assert html.count("<script") == html.count("</script>") == 2


def test_the_policy_allows_this_script_and_these_styles_and_nothing_else(store: Store):
    document = written(gather(store), store)
    (policy,) = document.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.keys() == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    for name, path in (("script-src", "//script[not(@type)]"), ("style-src", "//style")):
        (element,) = document.xpath(path)
        assert rules.pop(name) == f"'sha256-{base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()}'"
    assert set(rules.values()) == {"'none'", "data:"}
    assert not document.xpath("//*[@src or @srcset or @action or @style or @onclick]")


def test_a_report_stays_small_however_long_urls_are(store: Store):
    for number in range(3_000):
        fingerprint = Random(number % 50).getrandbits(64)
        store.admit(page(f"http://a.test/{number}/{'x' * 3_000}", fingerprint, text=f"{number % 50}"), NEAR)
    store.sync()
    html = render(gather(store), name="store", text_of=store.text, made=MADE)
    assert len(html) < 5_000_000


# ---- differences


def test_only_what_differs_is_marked():
    assert difference("same\nthe old word stays\nend", "same\nthe new word stays\nend") == [
        {"a": [("same", False)]},
        {
            "a": [("the ", False), ("old", True), (" word stays", False)],
            "b": [("the ", False), ("new", True), (" word stays", False)],
        },
        {"a": [("end", False)]},
    ]


def test_blocks_that_only_one_text_has_stand_alone_and_equal_ones_are_left_out():
    same = "\n".join(f"block {number}" for number in range(9))
    assert difference(f"gone\n{same}", f"{same}\ncame") == [
        {"a": [("gone", True)], "b": None},
        {"a": [("block 0", False)]},
        {"skipped": 7},
        {"a": [("block 8", False)]},
        {"a": None, "b": [("came", True)]},
    ]
    assert difference(same, same) == [{"skipped": 9}]


def test_a_difference_is_bounded():
    rows = difference("\n".join(f"a{n}" for n in range(500)), "\n".join(f"b{n}" for n in range(500)))
    assert len(rows) == 41
    assert rows[-1] == {"more": True}
    assert len(difference("\n".join(f"a{n}" for n in range(40)), "")) == 40
    (row,) = difference("x" * 10_000, "y")
    assert len(row["a"][0][0]) < 300


# ---- the command


def test_the_command_writes_the_report_and_says_so(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    fill(store)
    target = tmp_path / "out.html"
    assert run(["report", str(tmp_path / "store"), "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: 3 copies of 4 pages, {decimal(target.stat().st_size)}.\n"
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_tables_as_json(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    fill(store)
    target = tmp_path / "out.html"
    assert run(["report", str(tmp_path / "store"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert run(["report", str(tmp_path / "store"), "-o", str(target), "--json"]) == 0
    assert json.loads(target.read_text()) == told
    assert capsys.readouterr().out == ""
    assert (told["pages"], told["exact"] + told["near"]) == (4, 3)
    assert sum(cluster["copies"] for cluster in told["clusters"]) == 3


def test_a_report_that_cannot_be_written_or_read_is_an_error(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["report", str(tmp_path / "store"), "-o", str(tmp_path / "absent" / "out.html")]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert run(["report", str(tmp_path / "nothing"), "-o", str(tmp_path / "out.html")]) == 3
    assert not (tmp_path / "out.html").exists()
