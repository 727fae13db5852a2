from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

import simcrawl
from benchmarks.quality import records
from simcrawl.bits import hamming_distance
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_page
from simcrawl.page.sketch import Part, differing, sketch
from simcrawl.store import open_store
from tests.samples import chinese, edited, english, foreign, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
from tests.judged import (
    BASE,
    NAMES,
    RULE,
    SHARED,
    TEXT,
    Detector,
    commit_page,
    in_paragraphs,
    judge,
    like,
    noted,
    page_of,
    store_of,
    told,
    with_more,
)


def test_a_copy_is_not_recorded_and_an_admitted_page_is():
    store = store_of(BASE)
    Detector(store).admit(like(1))
    assert store.page("http://example.org/1") is None
    Detector(store).admit(like(2, bits=30))
    assert store.page("http://example.org/2")


def _with_beside(url: str, units: int, *, content: int = 100, own: int = 0, seed: int = 0) -> PageFingerprint:
    """Return a page with so many units beside its content, `own` more of which no other page has."""
    hashes = np.random.default_rng(0).integers(0, 2**64, units, dtype=np.uint64)
    others = np.random.default_rng(1 + seed).integers(0, 2**64, own, dtype=np.uint64)
    part = Part(units + own, sketch(np.concatenate((hashes, others)), 4096))
    return replace(page_of(page(TEXT), url), units=content, beside=part, text_digest=url.encode()[-16:].rjust(16))


def _are_one(a: PageFingerprint, b: PageFingerprint) -> bool:
    assert RULE.compare(a, b).is_near_duplicate == RULE.compare(b, a).is_near_duplicate
    return RULE.compare(a, b).is_near_duplicate


@pytest.mark.parametrize(
    ("own", "other", "content", "same"),
    [
        (6, 6, 100, True),
        (12, 12, 100, False),
        (20, 20, 1000, True),
        (50, 0, 100, True),
        (80, 0, 100, False),
        (150, 0, 1000, True),
        (50, 5, 100, True),
        (50, 20, 100, False),
        (480, 0, 9000, False),
        (150, 150, 9000, False),
    ],
)
def test_little_may_be_exchanged_and_more_added_beside_equal_contents(own: int, other: int, content: int, same: bool):
    a = _with_beside("http://x/a", 100, own=own, content=content, seed=1)
    b = _with_beside("http://x/b", 100, own=other, content=content, seed=2)
    assert _are_one(a, b) == same


@pytest.mark.parametrize(
    ("path", "own", "same"),
    [("a?cpage=2", 18, False), ("a/comment-page-2", 18, False), ("a?cpage=2", 12, True), ("a?print=2", 18, True), ("b?cpage=2", 18, True)],
)
def test_the_next_page_of_a_thread_has_other_comments_below_a_long_article(path: str, own: int, *, same: bool):
    a, b = (_with_beside(f"http://x/{at}", 20, own=own, content=1000, seed=seed) for seed, at in enumerate(("a", path)))
    assert _are_one(a, b) == same


@pytest.mark.parametrize("article", [100, 300])
@pytest.mark.parametrize("kind", ["comment", "review"])
def test_the_second_page_of_a_thread_is_no_copy_whatever_comments_are_called(kind: str, article: int):
    pages = list[PageFingerprint]()
    for number, url in enumerate(("http://a.test/a/7", "http://a.test/a/7?cpage=2")):
        comments = "".join(f"<div class={kind}><b>Ann</b><p>{english(1, seed=3 * number + place)}</p></div>" for place in range(3))
        pages.append(page_of(page(f"<article><h1>Salt</h1><p>{english(article)}</p></article><section>{comments}</section>"), url))
    assert not RULE.compare(*pages).is_near_duplicate


@pytest.mark.parametrize("first", ["diff", "commit"])
def test_what_a_page_says_beside_its_contents_is_not_lost_with_it(first: str):
    pages = {"diff": commit_page("", "diff"), "commit": commit_page("<p>A message</p>", "commit")}
    assert isinstance(pages["diff"], PageFingerprint)
    assert isinstance(pages["commit"], PageFingerprint)
    assert simcrawl.compare(pages["diff"], pages["commit"]).is_near_duplicate
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(pages.pop(first))
        # The difference alone is a copy of the commit with its message, and not the other way round.
        assert detector.admit(*pages.values()).is_duplicate == (first == "commit")


@pytest.mark.parametrize(
    ("sentences", "url", "kept"),
    [
        (6, "http://a.test/2", True),
        # A sentence is no paragraph, and other sites have paragraphs of their own under an article.
        (2, "http://a.test/2", False),
        (6, "http://b.test/1", False),
    ],
)
def test_a_page_that_says_a_paragraph_more_is_kept(sentences: int, url: str, kept: bool):
    short, long = with_more("http://a.test/1"), with_more(url, english(sentences, seed=7))
    assert simcrawl.compare(short, long).is_near_duplicate
    assert judge(short, long).is_duplicate == (not kept)
    # Nothing is lost the other way round.
    assert judge(long, short).is_duplicate


def test_a_paragraph_in_which_a_word_differs_is_none_that_one_page_has_more():
    assert judge(with_more("http://a.test/1"), with_more("http://a.test/2", edited_words=1)).is_duplicate


def _in_one_block(tag: str, url: str, more: str = "", *, edits: int = 0) -> PageFingerprint:
    lines = (edited(english(150), edits) if edits else english(150)).splitlines()
    text = "\n".join([*lines[:10], *more.splitlines(), *lines[10:]])
    return page_of(f"<html><head><title>Terms</title></head><body><h1>Terms</h1><{tag}>{text}</{tag}></body></html>", url)


@pytest.mark.parametrize(
    ("more", "edits", "url", "kept"),
    [
        (6, 0, "http://a.test/2", True),
        (6, 1, "http://a.test/2", True),
        (2, 0, "http://a.test/2", False),
        (6, 0, "http://b.test/1", False),
        # As much is other words: it is another version, not the same and more.
        (6, 5, "http://a.test/2", False),
    ],
)
@pytest.mark.parametrize("tag", ["pre", "p", "div"])
def test_what_is_added_within_one_long_block_is_not_lost(tag: str, more: int, edits: int, url: str, kept: bool):
    short, long = _in_one_block(tag, "http://a.test/1"), _in_one_block(tag, url, english(more, seed=7), edits=edits)
    assert simcrawl.compare(short, long).is_near_duplicate
    assert judge(short, long).is_duplicate == (not kept)
    assert judge(long, short).is_duplicate


def _members(own: int, url: str) -> PageFingerprint:
    inherited = [f"{verb}{noun}" for verb in ("Get", "Set", "Is", "Has", "Add", "Del", "Map", "Put") for noun in english(10).split()[:26]]
    rows = "".join(f"<tr><td></td><td><a href={number}.html>{name} {number}</a></td></tr>" for number, name in enumerate(inherited))
    new = "".join(f"<tr><td></td><td><a href=n{number}.html>Own {number}</a></td></tr>" for number in range(own))
    return page_of(f"<html><head><title></title></head><body><table>{new}{rows}</table></body></html>", url)


@pytest.mark.parametrize(("own", "kept"), [(1, False), (8, True)])
def test_a_list_that_has_all_of_another_one_and_more_is_kept(own: int, kept: bool):
    inherited, more = _members(0, "http://a.test/base"), _members(own, "http://a.test/derived")
    assert simcrawl.compare(inherited, more).is_near_duplicate
    assert judge(inherited, more).is_duplicate == (not kept)
    assert judge(more, inherited).is_duplicate


def _viewed(line: str, path: str) -> PageFingerprint:
    return page_of(page(f"{line}\n{english(12)}"), f"http://a.test/{path}")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Viewed 1033 times", "Viewed 1034 times", True),
        ("17 people are looking at this now", "9 people are looking at this now", True),
        ("Berth 1033", "Berth 1034", False),
        ("Room for 17 people", "Room for 9 people", False),
    ],
)
def test_a_counter_of_visits_makes_no_other_record_of_a_short_page_and_a_value_does(one: str, other: str, same: bool):
    first, second = _viewed(one, "boat"), _viewed(other, "print/boat")
    assert first.units < 300
    assert RULE.compare(first, second).is_near_duplicate == same


# An aside of few words may be anything.
WITH_VALUES = [template for template in records.TEMPLATES if template not in ("by name alone", "aside")]


@pytest.mark.parametrize(
    ("kind", "template"),
    # Beside the contents "&Eacute;" and "&eacute;" are one word.
    [(kind, template) for kind in records.KINDS for template in WITH_VALUES if (kind, template) != ("named characters", "above")],
)
def test_records_below_one_text_are_told_apart_and_their_print_views_are_not(kind: str, template: str):
    wrong, found, copies = records.lost(kind, template, most=60)
    assert (wrong, found) == (0, copies)


@pytest.mark.parametrize("kind", ["media types", "errors"])
def test_records_of_which_the_name_alone_is_their_own_are_told_apart(kind: str):
    wrong, found, copies = records.lost(kind, "by name alone", most=60)
    assert (wrong, found) == (0, copies)


@pytest.mark.parametrize("words", [200, 1200])
@pytest.mark.parametrize("kind", ["characters", "media types", "errors"])
def test_records_whose_facts_stand_in_an_aside_are_told_apart(kind: str, words: int):
    wrong, found, copies = records.lost(kind, "aside", words, most=60)
    # The first one that was dropped is fetched again: see `Decision.others`.
    assert wrong <= 2
    assert found >= copies - 1


@pytest.mark.parametrize("template", WITH_VALUES)
@pytest.mark.parametrize("kind", ["encodings", "media types"])
def test_a_record_without_values_is_taken_for_the_original_of_one_record_at_most(kind: str, template: str):
    wrong, found, copies = records.lost(kind, template, most=60, empty_first=True)
    # With its print view.
    assert wrong <= 2
    assert found >= copies - 1


# Above the contents, where the title does not name it, the line may be one of the site's that changes at each visit.
@pytest.mark.parametrize("template", [template for template in WITH_VALUES if template != "above"])
def test_of_records_of_one_value_below_a_longer_text_one_at_most_is_taken_for_another(template: str):
    wrong, found, copies = records.lost("media types", template, 400, most=30, one_value=True)
    # With its print view.
    assert wrong <= 2
    assert found >= copies - 1


@pytest.mark.parametrize(
    ("first", "second", "third", "is_another"),
    [
        ("", "Clinker dinghy, oars", "Lugger, two sails, tarred", True),
        ("Sold in March", "Clinker dinghy, oars", "Lugger, two sails, tarred", True),
        # Where both say the same more, or the last one nothing more.
        ("", "Clinker dinghy, oars", "Clinker dinghy, oars", False),
        ("Clinker dinghy, oars", "Clinker dinghy, oars", "", False),
    ],
)
@pytest.mark.parametrize("of_one_title", [False, True])
def test_three_pages_with_other_lines_beside_one_text_are_three_pages(
    first: str, second: str, third: str, is_another: bool, of_one_title: bool
):
    detector = Detector(open_store("memory:"))

    def made(name: str, line: str) -> PageFingerprint:
        title = "Boats" if of_one_title else f"{name} - Boats"
        html = (
            f"<title>{title}</title><body><section><p>{line}</p></section><main><h2>Buying from us</h2><p>{english(60)}</p></main></body>"
        )
        return page_of(html, f"http://a.test/boats?{name}")

    pages = [made(name, line) for name, line in (("Heron", first), ("Plover", second), ("Dunlin", third))]
    assert [detector.admit(one).is_duplicate for one in pages[:2]] == [False, True]
    admission = detector.claim(pages[2])
    assert admission.verdict.is_duplicate != is_another
    assert admission.mistaken == (("http://a.test/boats?Plover",) if is_another else ())


_EVENING = "<title>Quiz night</title><body><p>Home</p><div><h2>Quiz night</h2>{}<div><h3>What it is</h3><p>{}</p></div></div></body>"


@pytest.mark.parametrize(
    ("line", "values", "kept"),
    [
        ("<p>{}, 19:45, {} Hall</p>", [("12 May 2025", "Mill"), ("14 May 2025", "Town"), ("9 May 2025", "Guild")], [1, 0, 1]),
        ("<p>Price: £{}{}</p>", [("20", ""), ("35", ""), ("50", "")], [1, 0, 1]),
        ("<p>By {} {}</p>", [("Ann", "Hay"), ("Bo", "Lund"), ("Cyril", "Ash")], [1, 0, 1]),
        (
            # The same cells in other rows.
            "<table><tr><td>Start</td><td>{}</td></tr><tr><td>End</td><td>{}</td></tr><tr><td>Stop</td><td>{}</td></tr></table>",
            [("Hull", "Leith", "Whitby"), ("Leith", "Whitby", "Hull"), ("Whitby", "Hull", "Leith")],
            [1, 0, 1],
        ),
        # Counters, and when the page was made.
        ("<p>You are visitor {}{}</p>", [("123", ""), ("456", ""), ("789", "")], [1, 0, 0]),
        ("<p>Made at 2025-05-12 {}:{}</p>", [("12", "04"), ("13", "05"), ("14", "06")], [1, 0, 0]),
        ("<p>Page views: {}{}</p>", [("123", ""), ("456", ""), ("789", "")], [1, 0, 0]),
        ("<footer><p>Served by {}{}</p></footer>", [("heron", ""), ("plover", ""), ("dunlin", "")], [1, 0, 0]),
        ("<p>By {} {}</p>", [("Ann", "Hay"), ("Bo", "Lund"), ("Bo", "Lund")], [1, 0, 0]),
    ],
)
def test_a_line_above_a_box_that_is_the_contents_tells_three_pages_apart(line: str, values: list[tuple[str, ...]], kept: list[int]):
    detector = Detector(open_store("memory:"))
    pages = [page_of(_EVENING.format(line.format(*two), english(60)), f"http://a.test/{number}") for number, two in enumerate(values)]
    assert [int(not detector.admit(one).is_duplicate) for one in pages] == kept


_TIMES = [("12 May 2026", "6:12", "2026-05-12"), ("14 May 2026", "7:05", "2026-05-14"), ("9 June 2026", "8:40", "2026-06-09")]


@pytest.mark.parametrize(
    "line",
    [
        "High water: {1} and 19:40",
        "Winning time: 1:{1}",
        "Deadline for applications: {0}",
        "The hearing takes place on {0} at {1}.",
        "Applications have to reach us by {0}.",
        "The certificate expires on {2}.",
        "Sunrise {1}, sunset 19:40",
        "Sun, {1}, room 2",
        "Born {0}",
        "Der Markt findet am {0} ab {1} statt",
        "{1} Case 12/25, courtroom 3",
        "High water {1}, 4.5 m",
        "{1} magnitude 3.4",
        "Lap 3: {1}",
        "{1}-12:00",
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_when_something_takes_place_tells_three_pages_apart(line: str, above: bool):
    detector = Detector(open_store("memory:"))
    lines = [f"<p>{line.format(*times)}</p>" for times in _TIMES]
    texts = [f"<p>{english(30)}</p><p>{english(20, 1)}</p>"] * 3
    made = [one + text if above else text + one for one, text in zip(lines, texts, strict=True)]
    pages = [
        page_of(f"<title>Notice</title><main><h1>Notice</h1>{one}</main>", f"http://a.test/{number}") for number, one in enumerate(made)
    ]
    first, _, third = (detector.admit(one).is_duplicate for one in pages)
    # Of the second one nobody can tell. A crawl asks for it again, see below.
    assert (first, third) == (False, False)


@pytest.mark.parametrize(
    ("title", "heading", "line", "path", "kept"),
    [
        ("Yoga", "Yoga, {} May 2026", "", "{}", [1, 0, 1]),
        ("Yoga", "Yoga", "<p>{} May 2026</p>", "2026/05/{}/yoga", [1, 0, 1]),
        ("Yoga", "Yoga", "<p>{} May 2026</p>", "yoga-2026-05-{}", [1, 0, 1]),
        ("Yoga, {} May 2026", "Yoga", "<p>{} May 2026</p>", "a{}", [1, 0, 1]),
        # When a page was changed, or asked for, stands in neither.
        ("Yoga", "Yoga", "<p>{} May 2026</p>", "a{}", [1, 0, 0]),
        ("Yoga", "Yoga", "<p>Last updated on {} May 2026</p>", "2026/a{}", [1, 0, 0]),
    ],
)
def test_the_day_that_a_page_is_called_by_tells_three_pages_apart(title: str, heading: str, line: str, path: str, kept: list[int]):
    detector = Detector(open_store("memory:"))
    html = "<title>{}</title><main><h1>{}</h1>{}<p>{}</p><p>{}</p></main>"
    dates = [("5", "05"), ("12", "12"), ("19", "19")]
    pages = [
        page_of(
            html.format(title.format(day), heading.format(day), line.format(day), english(30), english(20, 1)),
            f"http://a.test/{path.format(in_address)}",
        )
        for day, in_address in dates
    ]
    assert [int(not detector.admit(one).is_duplicate) for one in pages] == kept


@pytest.mark.parametrize(
    ("heading", "kept"),
    [
        ("Case C-{}/25", [1, 0, 1]),
        ("CVE-2025-61{}", [1, 0, 1]),
        ("Meeting room B-{}", [1, 0, 1]),
        ("Lot {}", [1, 0, 1]),
        # There is no end of pages, and of what is counted. Years, and numbers of two digits, are those of releases, too.
        ("Page {}", [1, 0, 0]),
        ("Boats, Seite {} von 900", [1, 0, 0]),
        ("{} results for boats", [1, 0, 0]),
        ("Viewed {} times", [1, 0, 0]),
        ("Manual of the windlass 2{}", [1, 0, 0]),
    ],
)
def test_a_long_number_in_a_heading_tells_three_pages_of_one_title_apart(heading: str, kept: list[int]):
    detector = Detector(open_store("memory:"))
    numbers = ("012", "013", "024") if heading.endswith("2{}") else ("512", "180", "391")
    headings = [heading.format(number) for number in numbers]
    texts = (f"<title>Notice</title><main><h1>{one}</h1><p>{english(30)}</p><p>{english(20, 1)}</p></main>" for one in headings)
    pages = [page_of(html, f"http://a.test/{number}") for number, html in enumerate(texts)]
    assert [int(not detector.admit(one).is_duplicate) for one in pages] == kept


@pytest.mark.parametrize(
    "line",
    [
        "{0}, {1}",
        "Friday, the 27th of November 2026, {1}",
        "{2} {1} Friday",
        "Last updated on {0} at {1} by the harbour office",
        "Date: {0}",
        "The time is {1}",
        # Neither a birth nor a room.
        "NATO {1}",
        "El Nacional {1}",
        "Bornholm, {1}",
        "Jim Hall {0}",
        "Hall {1}",
        "Court of Appeal, {1}",
        "It is currently {0} {1}",
        "Users browsing this forum since {1}: 17",
        "This page was generated at {1} on {0}",
        "Stand: {2}",
        "Dernière modification de la page : {2}",
        "更新时间：{2} {1}",
        "最后编辑：{2} {1}",
        "Page mise à jour le {0}",
        "Letzte Änderung: {0}",
        "Senast uppdaterad: {2}",
        "Отредактировано: {2}",
        "Ostatnia zmiana: {2}",
        "최종 수정일: {2}",
        "Rendered: {2} {1}",
        "Thursday, {0} {1} Eastern Standard Time",
    ],
)
def test_when_a_page_was_made_or_asked_for_tells_none_apart(line: str):
    detector = Detector(open_store("memory:"))
    text = f"<p>{english(30)}</p><p>{english(20, 1)}</p>"
    texts = [f"<title>Notice</title><main><h1>Notice</h1>{text}<p>{line.format(*times)}</p></main>" for times in _TIMES]
    pages = [page_of(html, f"http://a.test/{number}") for number, html in enumerate(texts)]
    assert [detector.admit(one).is_duplicate for one in pages] == [False, True, True]


@pytest.mark.parametrize(
    ("urls", "kept"),
    [
        (["quiz/7", "quiz/8", "quiz/9"], 2),
        (["quiz?id=7", "quiz?id=8", "quiz?id=9"], 2),
        (["quiz", "quiz-2", "quiz-3"], 2),
        (["quiz/", "quiz/2025-05-12/", "quiz/2025-05-19/"], 2),
        (["quiz", "quiz/mill-hall", "quiz/town-hall"], 2),
        # Views of one page, and mirrors.
        (["quiz/", "quiz/print/", "quiz/amp/"], 1),
        (["quiz", "quiz?print=1", "quiz?view=text"], 1),
        (["show?id=7", "show?id=7&print=1", "show?id=7;amp"], 1),
        (["quiz.html", "quiz.print.html", "quiz.txt"], 1),
        (["a/quiz.html", "b/quiz.html", "c/quiz.html"], 1),
    ],
)
def test_lines_beside_tell_no_views_of_one_page_apart(urls: list[str], kept: int):
    detector = Detector(open_store("memory:"))
    lines = ("<p>By Ann Hay, of the harbour office</p>", "<p>Printed for you</p>", "<p>Text only</p>")
    pages = [page_of(_EVENING.format(line, english(60)), f"http://a.test/{url}") for url, line in zip(urls, lines, strict=True)]
    assert sum(not detector.admit(one).is_duplicate for one in pages) == kept


def test_the_records_most_like_a_page_tell_that_it_is_another_one(tmp_path: Path):
    """Below one long text pages of another series are as near, and there are more of them than are asked."""
    text = english(100, seed=3)
    words, paragraphs = sorted(set(text.split())), [f"<p>{line}</p>" for line in text.splitlines()]
    template = "<title>Museum</title><h1>Museum</h1><div>{}</div>{}"
    votes = [[(word, "no" if place in (number, number + 2) else "yes") for place, word in enumerate(words[:26])] for number in range(20)]
    tables = ["<table>" + "".join(f"<tr><td>{word}<td>{vote}" for word, vote in call) + "</table>" for call in votes]
    lines = [f"Material: {words[3]}<br>Found: {words[5]}<br>Inventory: 1920.44.{number}" for number in range(12)]
    objects = [page_of(template.format(line, "".join(paragraphs)), f"http://a.test/objects/{number}") for number, line in enumerate(lines)]
    shorter = "".join(paragraphs[:-2])
    calls = [page_of(template.format(table, shorter), f"http://a.test/calls/{number}") for number, table in enumerate(tables)]
    assert hamming_distance(calls[0].fingerprint, objects[0].fingerprint) <= 2
    # Which pages are how near is chance.
    others = [replace(call, fingerprint=objects[0].fingerprint) for call in calls]
    assert _kept_by_another_process(tmp_path, [*others, *objects[:6]], objects[6:]) == 6


def test_stored_pages_tell_that_a_paragraph_is_one_of_many(tmp_path: Path):
    """Long entries are told apart by their sentences. A short one is near some of them, and none was dropped before it."""
    text = "".join(f"<p>{line}</p>" for line in english(40, seed=3).splitlines())
    entries = [f"<p>{english(2, seed)}</p>" for seed in range(10, 16)] + ["<p>Noun. Of the old harbour.</p>", "<p>Verb. To sail past.</p>"]
    pages = [
        page_of(f"<title>Lexicon</title><h1>Lexicon</h1>{entry}{text}", f"http://a.test/word/{number}")
        for number, entry in enumerate(entries)
    ]
    assert _kept_by_another_process(tmp_path, pages[:6], pages[6:]) == 2


def test_two_series_below_one_text_do_not_take_each_other_with_them(tmp_path: Path):
    """A word is near the room of its number each time: no two were dropped as copies of one page, and the addresses end alike."""
    text = "".join(f"<p>{line}</p>" for line in english(60, seed=3).splitlines())
    page = f"<title>House</title><main><h1>House</h1>{{}}{text}</main>"
    facts = "<dl><dt>Beds<dd>2<dt>View<dd>sea<dt>Number<dd>{}</dl>"
    rooms = [page_of(page.format(facts.format(100 + number)), f"http://a.test/room/{number}") for number in range(10)]
    words = [page_of(page.format(f"<p>{english(2, number)}</p>"), f"http://a.test/word/{number}") for number in range(10)]
    assert _kept_by_another_process(tmp_path, [*rooms, *words[:3]], words[3:]) == 7


def _kept_by_another_process(directory: Path, stored: list[PageFingerprint], asked: list[PageFingerprint]) -> int:
    """Return how many of some pages are kept by a process that has not seen what was near those that are stored."""
    with open_store(str(directory)) as store:
        detector = Detector(store)
        for page in stored:
            if claim := detector.claim(page, never_drop=True).claim:
                claim.confirm()
    with open_store(str(directory)) as store:
        detector = Detector(store)
        return sum(not detector.admit(page).is_duplicate for page in asked)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Advisory HN-2025-{}", 3),
        ("Bye-law no. {} of the harbour", 3),
        ("Transactions of the Harbour Society, vol. {}", 3),
        ("Avis n° {} de la mairie", 3),
        ("Mitteilungen des Hafenvereins, Heft {}", 3),
        ("Boletín de la ciudad, número {}", 3),
        ("Mooring place # {}", 3),
        ("Installing the Debian {}", 1),
        ("What is new in C# {}", 1),
        ("Manual of the windlass {}", 1),
    ],
)
def test_a_short_number_that_is_called_one_names_a_page(name: str, kept: int):
    detector = Detector(open_store("memory:"))
    named = [name.format(number) for number in (11, 12, 14)]
    texts = (f"<title>{one} - Harbour</title><body><main><h1>{one}</h1><p>{english(60)}</p></main></body>" for one in named)
    pages = [page_of(html, f"http://a.test/{number}") for number, html in enumerate(texts)]
    assert sum(not detector.admit(one).is_duplicate for one in pages) == kept


@pytest.mark.parametrize(("title", "kept"), [("{} - Jobs", [0, 2]), ("Jobs", [0])])
def test_a_long_text_in_which_a_sentence_is_the_page_s_own_is_a_page_if_its_title_is(title: str, kept: list[int]):
    detector = Detector(open_store("memory:"))
    terms = "".join(f"<p>{line}</p>" for line in english(1200).splitlines())
    jobs = [
        ("Night nurse", "For our children's ward in Leeds we want somebody calm with two years behind them, to begin in March."),
        ("Ship's cook", "On a coaster with a crew of nine you feed them well between Hull and Bergen, six weeks on and three weeks off."),
        ("Gardener", "The walled garden grows old pears and beans for a small restaurant, and needs a person who knows how to prune."),
    ]
    pages = [f"<title>{title.format(job)}</title><h1>Vacancies</h1><p>{said}</p><h2>Terms</h2>{terms}" for job, said in jobs]
    verdicts = [detector.admit(page_of(html, f"http://a.test/jobs?{number}")) for number, html in enumerate(pages)]
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept


@pytest.mark.parametrize(
    ("second", "third", "is_another"),
    [
        (["Red"], ["Blue"], True),
        # A release says one thing in another way; a third page says it, too, or says something more.
        (["Red"], ["Red"], False),
        (["Red"], ["Green", "Print view"], False),
        # On a site the number of readers is another one each time.
        (["Green", "Views: 7"], ["Green", "Views: 8"], False),
    ],
)
def test_three_pages_with_another_value_each_are_three_records(second: list[str], third: list[str], is_another: bool):
    detector = Detector(open_store("memory:"))
    pages = [noted(str(number), "Chair", "Oak", *lines, text=english(40)) for number, lines in enumerate((["Green"], second, third))]
    assert [detector.admit(one).is_duplicate for one in pages[:2]] == [False, True]
    admission = detector.claim(pages[2])
    assert admission.verdict.is_duplicate != is_another
    assert admission.mistaken == (("http://a.test/lots?1",) if is_another else ())


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["mips", "riscv", "parisc"], [0, 2]),
        (["mips", "riscv", "riscv"], [0]),
        # One article in other surroundings, and what stands beside it.
        (["any", "any", "any"], [0]),
    ],
)
def test_three_headings_name_three_pages_in_other_surroundings(names: list[str], kept: list[int]):
    detector = Detector(open_store("memory:"))
    text = "".join(f"<p>{line}</p>" for line in english(60).splitlines())
    verdicts = []
    for number, name in enumerate(names):
        heading = f"Status of all the features that are known on the {name} architecture"
        links = "".join(f"<li><a href=/{number}>{line}</a>" for line in english(60, seed=number + 1).splitlines())
        html = f"<title>{heading}</title><div class=sphinxsidebar><ul>{links}</ul></div><h1>{heading}</h1>{text}"
        verdicts.append(detector.admit(page_of(html, f"http://a.test/{number}/features.html")))
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept
    assert verdicts[1].reason == "same article"


@pytest.mark.parametrize(
    ("line", "said", "kept"),
    [
        # Below the first paragraph: a branch, or what was read as well, which no paragraph of its own stands below.
        ("<h2>{}</h2>", ["Dover", "Ramsgate", "Whitby"], [0, 2]),
        ("<h2>{}</h2>", ["Dover", "Ramsgate", "Ramsgate"], [0]),
        ("<h2>Comments ({})</h2>", ["5", "7", "12"], [0]),
        ("", ["Dover", "Ramsgate", "Whitby"], [0]),
        ("<p>Branch: {}</p>", ["Dover", "Ramsgate", "Whitby"], [0, 2]),
        ("<p>Branch: {}</p>", ["Dover", "Ramsgate", "Ramsgate"], [0]),
    ],
)
def test_three_long_pages_of_which_a_section_or_a_line_is_another_one_are_three(line: str, said: list[str], kept: list[int]):
    detector = Detector(open_store("memory:"))
    terms = "".join(f"<p>{text}</p>" for text in english(150).splitlines())
    htmls = [f"<title>Notice</title><h1>Notice</h1>{terms}{line.format(one)}{terms}<h2>{one}</h2>" for one in said]
    verdicts = [detector.admit(page_of(html, f"http://a.test/notices?{number}")) for number, html in enumerate(htmls)]
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept


def _votes(against: int, order: int = 1) -> str:
    """Return a roll call of twenty names, in which the names at three places from `against` on said no."""
    said = {name: "no" if against <= place < against + 3 else "yes" for place, name in enumerate(NAMES)}
    return "".join(f"<tr><td>{name} Miller</td><td>{vote}</td></tr>" for name, vote in [*said.items()][::order])


@pytest.mark.parametrize(
    ("tables", "kept"),
    [
        ([_votes(1), _votes(6), _votes(12)], [0, 2]),
        ([_votes(1), _votes(6), _votes(6)], [0]),
        # Where the cells change as well: a branch's prices.
        ([f"<tr><td>Oak plank</td><td>{price}</td></tr>{_votes(1)}" for price in ("4.10", "4.20", "4.30")], [0, 2]),
        # A link is a value, beside its label.
        ([f"<tr><td>Warning</td><td><a href=#end>line {line}</a></td></tr>{_votes(1)}" for line in (80, 110, 170)], [0, 2]),
        # Not in a table of links.
        ([f"<tr><td><a href=/{name}>{name}</a></td></tr>{_votes(1)}" for name in ("Oak", "Ash", "Elm")], [0]),
    ],
)
@pytest.mark.parametrize("teasers", [False, True])
def test_three_tables_whose_rows_are_others_are_three_pages(tables: list[str], kept: list[int], teasers: bool):
    detector = Detector(open_store("memory:"))
    text = "".join(f"<p>{line}</p>" for line in english(120).splitlines())
    verdicts = []
    for number, rows in enumerate(tables):
        # Those of one article in other surroundings.
        beside = "".join(f"<li><a href=/t/{number}>{line}</a>" for line in english(60, seed=number + 1).splitlines()) if teasers else ""
        html = f"<title>Roll call</title><nav><ul>{beside}</ul></nav><main><h1>Roll call</h1>{text}<table>{rows}</table>{text}</main>"
        verdicts.append(detector.admit(page_of(html, f"http://a.test/calls?{number}")))
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept


_MEANINGS = [
    "Of a rope, to run through a block until the end is out and nobody on board can get at it any more, said of falls, too.",
    "The space below the heel of the mast, in which the cook of a small coaster keeps his coal, his onions and what he has to hide.",
    "To lie with the head to the wind and make no way, for want of a hand at the helm or of a wish to be anywhere else.",
    "A fid.",
    "A toggle.",
    *(english(2, seed) for seed in (51, 52, 53)),
]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ([[0], [1], [2]], [0, 2]),
        ([[0], [1], [1]], [0]),
        # A short one is a line.
        ([[0], [3], [1]], [0, 2]),
        ([[3], [0], [4]], [0, 2]),
        # What two of three have more no third one says otherwise.
        ([[0], [0, 3], [0, 3]], [0]),
        # Two of them are what releases of a manual differ in.
        ([[0, 5], [1, 6], [2, 7]], [0]),
    ],
)
def test_three_long_pages_of_which_one_paragraph_is_another_one_are_three(said: list[list[int]], kept: list[int]):
    detector = Detector(open_store("memory:"))
    text = "".join(f"<p>{line}</p>" for line in english(250).splitlines())
    shown = ["".join(f"<p>{_MEANINGS[number]}</p>" for number in one) for one in said]
    htmls = [f"<title>Lexicon</title><h1>Lexicon</h1>{text}{one}<p>{english(8, 3)}</p>" for one in shown]
    verdicts = [detector.admit(page_of(html, f"http://a.test/words?{number}")) for number, html in enumerate(htmls)]
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["Latin letter a with acute", "Latin letter a with grave", "Latin letter a with tilde"], [0, 2]),
        # A release, and the same page once more.
        (["Latin letter a with acute", "Latin letter a with grave", "Latin letter a with grave"], [0]),
        # Pages and days have no end.
        (["Latin letters on page 1", "Latin letters on page 2", "Latin letters on page 3"], [0]),
    ],
)
def test_three_headings_name_three_pages_whatever_they_have_in_common(names: list[str], kept: list[int]):
    detector = Detector(open_store("memory:"))
    text = "".join(f"<p>{line}</p>" for line in english(30).splitlines())
    htmls = [f"<html><title>{name} - Letters</title><h1>{name}</h1>{text}</html>" for name in names]
    verdicts = [detector.admit(page_of(html, f"http://a.test/?id={number}")) for number, html in enumerate(htmls)]
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept
    assert detector.admit(page_of(htmls[0], "http://a.test/print?id=0")).original == "http://a.test/?id=0"


def test_records_that_are_stored_tell_as_much_as_those_that_were_dropped():
    none, blue, green = (noted(name, "A lot", *values) for name, values in (("none", ()), ("blue", ("Blue",)), ("green", ("Green",))))
    assert judge(none, green).is_duplicate
    assert not Detector(store_of(none, blue)).admit(green).is_duplicate
    # Not of a page that stands there for another reason: it has a paragraph of its own.
    long = noted("long", "A lot", "Blue", text=f"{english(20)}\n{english(8, seed=3)}")
    assert Detector(store_of(none, long)).admit(green).is_duplicate


def test_what_a_page_lacks_is_no_value_of_its_own():
    detector = Detector(open_store("memory:"))
    assert not detector.admit(noted("all", "A lot", "Red", "Blue")).is_duplicate
    # Each of them says what the other one does not, and the first page says both.
    assert [detector.admit(noted(line, "A lot", line)).is_duplicate for line in ("Red", "Blue")] == [True, True]


def test_a_sentence_more_is_a_value_too():
    detector = Detector(open_store("memory:"))
    assert not detector.admit(noted("none", text=english(40))).is_duplicate
    notes = (
        "Cracked near its left handle, with repairs by an unknown hand from about 1890.",
        "Bought in Lyon as part of some larger estate, papers come along with this lot.",
        "Nobody has tried whether such clockwork still runs after sixty years of storage.",
    )
    pages = [noted(note[:6], text=f"{english(40)}\n{note}") for note in notes]
    assert [detector.admit(one).is_duplicate for one in pages] == [True, False, False]


@pytest.mark.parametrize(
    ("rows", "exchanged", "sentences", "same"),
    [
        # By the length of the page: up to 300 units, up to 450, and more.
        (10, 1, 10, False),
        (30, 1, 14, True),
        (10, 1, 40, True),
        (10, 2, 30, False),
        (10, 1, 30, True),
        (10, 2, 60, True),
        (10, 3, 60, False),
        (20, 2, 60, True),
        (20, 4, 60, False),
    ],
)
def test_how_many_short_lines_make_another_record_depends_on_the_page_s_length(rows: int, exchanged: int, sentences: int, same: bool):
    pages = []
    for number in (1, 2):
        values = [f"value {row}" if row >= exchanged else f"own {number} {row}" for row in range(rows)]
        pages.append(
            _record(
                values,
                sentences,
                last=f"A sentence of edition {'ab'[number - 1]} that is as long as what is a paragraph and no value, whatever there is",
            )
        )
    assert simcrawl.compare(*pages).is_near_duplicate == same, pages[0].units


def _record(
    values: list[str], sentences: int, *, last: str = "One sentence of both", make: Callable[[int], str] = english
) -> PageFingerprint:
    body = "".join(f"<p>{value}</p>" for value in values)
    lines = [*make(sentences).splitlines(), last]
    text = "".join(f"<p>{line}, and so on and so forth until the line is long</p>" for line in lines)
    made = fingerprint_page(f"<html><body><main><h1>Record</h1>{body}{text}</main></body></html>", url=f"http://x/{len(body)}/{body}")
    assert isinstance(made, PageFingerprint)
    return made


def test_on_a_long_page_two_short_lines_are_a_detail():
    one, other = (_record([f"in the county of {name}", "Boats", f"the court of {name}"], 130) for name in ("Norfolk", "Suffolk"))
    assert one.units > 1000
    assert simcrawl.compare(one, other).is_near_duplicate


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        # Two of them, or what may be the name: the first one, or that behind a label.
        (["Colour", "red", "Size", "large", "Weight", "low"], ["Colour", "red", "Size", "small", "Weight", "high"], False),
        (["Colour", "red", "Size", "large"], ["Colour", "red", "Size", "small"], True),
        (["CVE-2024-1", "Size", "large"], ["CVE-2024-2", "Size", "large"], False),
        (["Name", "Tolima", "Size", "large"], ["Name", "Antioquia", "Size", "large"], False),
        # The number of a table, a sentence, a line that one page has more, and another order name none.
        (["Table 35.43. Routines", "large"], ["Table 36.39. Routines", "large"], True),
        (["This is the first one.", "large"], ["This is the second one.", "large"], True),
        (["Size", "large"], ["Printed from a.test", "Size", "large"], True),
        (["Size", "large"], ["large", "Size"], True),
        # Of many lines a sample is known.
        ([f"row {number}" for number in range(40)], [f"row {number}" for number in range(39)] + ["other"], True),
        ([f"row {number}" for number in range(40)], [f"row {number}" for number in range(20)] + [f"other {n}" for n in range(20)], False),
    ],
)
def test_where_all_paragraphs_are_the_same_short_lines_say_more(one: list[str], other: list[str], same: bool):
    pages = [_record(values, 60) for values in (one, other)]
    assert simcrawl.compare(*pages).is_near_duplicate == simcrawl.compare(*pages[::-1]).is_near_duplicate == same, pages[0].units


@pytest.mark.parametrize(
    ("make", "sentences", "units"),
    [
        (chinese, 60, 1000),
        (partial(foreign, "ja"), 24, 1500),
        (partial(foreign, "ko"), 24, 1100),
        (partial(foreign, "th"), 60, 3000),
        (english, 60, 600),
    ],
)
def test_a_page_is_as_long_in_every_language(make: Callable[[int], str], sentences: int, units: int):
    short, long = ([_record([f"CVE-{name}", "Size", "low"], many, make=make) for name in (1, 2)] for many in (sentences, 210))
    assert units <= short[0].units
    assert not simcrawl.compare(*short).is_near_duplicate
    assert simcrawl.compare(*long).is_near_duplicate


def _beside_teasers(values: list[str], seed: int, *, sentences: int = 20) -> PageFingerprint:
    """Return a page of short lines and of paragraphs that all of its site have, beside teasers that no other page has."""
    lines = "".join(f"<tr><th>Field {number}</th><td>{value}</td></tr>" for number, value in enumerate(values))
    teasers = "".join(f"<p>{english(2, seed=10 * seed + number)}</p>" for number in range(8))
    body = f"<main><table>{lines}</table>{in_paragraphs(english(sentences))}</main><aside>{teasers}</aside>"
    return page_of(f"<html><body><div><h1>The site</h1></div>{body}</body></html>", url=f"http://x.test/{seed}?id={seed}")


@pytest.mark.parametrize(
    ("values", "others", "sentences", "same"),
    [
        (["Oslo", "OSL", "208 m"], ["Bergen", "BGO", "50 m"], 20, False),
        (["Oslo", "OSL", "208 m"], ["Oslo", "OSL", "208 m"], 20, True),
        # A long article may have a teaser or two among its lines.
        (["Oslo", "OSL", "208 m"], ["Bergen", "BGO", "208 m"], 80, True),
        (["Oslo", "OSL", "208 m"], ["Bergen", "BGO", "50 m"], 80, False),
    ],
)
def test_records_beside_teasers_that_change_are_told_apart(values: list[str], others: list[str], sentences: int, same: bool):
    one, other = (_beside_teasers(lines, seed, sentences=sentences) for seed, lines in ((1, values), (2, others)))
    assert differing(one.around, other.around) > 200
    assert simcrawl.compare(one, other).is_near_duplicate == same


def test_on_another_site_an_article_may_have_other_lines_around_it():
    one, other = (_beside_teasers(lines, seed) for seed, lines in ((1, ["Oslo", "OSL", "208 m"]), (2, ["Bergen", "BGO", "50 m"])))
    assert simcrawl.compare(one, replace(other, url="http://y.example/1")).is_near_duplicate


_LINKED = "<h1>Jumper</h1><ul><li>Colour: <a href='/c'>{0}</a></li><li>Size: <a href='/s'>{0} large</a></li></ul>"


_LINES = "".join(f"<li>value {number}</li>" for number in range(10))


_SAID = (
    f"<h1>Joiner</h1><ul><li>{{0}}</li><li>Pay: {{0}} 1.50</li>{_LINES}</ul>"
    "<p>In {0} we are looking for somebody who has learned the trade and would like to work with us for many years</p>"
)


@pytest.mark.parametrize(
    ("body", "one", "other"),
    [
        # A heading above the text, values that are links, and a sentence that says what the lines do.
        ("<h1>Registry office</h1><h2>{0}</h2>", "Ampara", "Aurora"),
        (_LINKED, "Burgundy", "Turquoise"),
        (_SAID, "Westray", "Rouen"),
        # A sentence in the place of another one.
        (
            "<h1>Quotation</h1><p>{0}</p>",
            "When in doubt tell the truth and confound your enemies",
            "Fame is a vapor and popularity an accident of the day",
        ),
    ],
)
def test_records_whose_values_stand_in_other_places_are_told_apart(body: str, one: str, other: str) -> None:
    made = [told(body.format(value) + SHARED, f"http://x/{value[:3]}") for value in (one, other)]
    assert not simcrawl.compare(*made).is_near_duplicate
    assert simcrawl.compare(made[0], replace(made[0], url="http://x/9")).is_near_duplicate


def _release(place: str, *, word: str, extra: str = "") -> PageFingerprint:
    """Return a page of 60 paragraphs, in every twelfth of which is a word that other releases have another one for."""
    lines = [f"{line} See {word}." if number % 12 == 0 else line for number, line in enumerate(english(300).splitlines())]
    return page_of(page("\n".join([*lines[:40], extra, *lines[40:]])), f"http://a.test/{place}")


_NEW = " ".join(f"parameter{number}" for number in range(60))


@pytest.mark.parametrize("words", [0, 20, 60])
def test_a_release_with_a_new_passage_is_kept_whatever_else_was_exchanged(words: int):
    old = _release("1.4/orm/x.html", word="old")
    new = _release("2.0/orm/x.html", word="new", extra=" ".join(_NEW.split()[:words]))
    assert RULE.compare(new, old).is_near_duplicate
    assert judge(old, new).drop_page == (words < 40)
    # The other way round there is nothing that the new one has not.
    assert judge(new, old).drop_page


@pytest.mark.parametrize("path", ["2.0/orm/y.html", "2.0/orm/x.html?v=2", "1.4/orm/x.html?rev=5"])
def test_a_passage_counts_where_addresses_end_alike_and_ask_for_nothing(path: str):
    old, new = _release("1.4/orm/x.html", word="old"), _release(path, word="new", extra=_NEW)
    assert judge(old, new).drop_page


def test_a_new_passage_counts_against_pages_of_a_store_that_know_no_places():
    old, new = _release("1.4/orm/x.html", word="old"), _release("2.0/orm/x.html", word="new", extra=_NEW)
    store = store_of(old)
    stored = store.page(old.url)
    assert stored
    assert not stored.page.places
    assert not Detector(store).admit(new).drop_page
