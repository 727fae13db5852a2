from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice, permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

import simcrawl
from benchmarks.quality import records
from simcrawl.page.fingerprint import UNKNOWN, Abstention, PageFingerprint, Reason, fingerprint_page
from simcrawl.page.recipes import DROP_OUTLINKS, FOLLOW_OUTLINKS, RECIPES
from simcrawl.page.sketch import NO_PART, Part, differing, resemblance
from simcrawl.rule import Kind, Rule, StoredPage, with_data
from simcrawl.store import open_store
from tests.samples import chinese, edited, english, link_list, page, site_page, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcrawl.store import Admission
from tests.judged import (
    BASE,
    NAMES,
    ORIGINAL,
    RULE,
    SHARED,
    TEXT,
    Detector,
    commit_page,
    full_sketch,
    in_paragraphs,
    judge,
    like,
    noted,
    page_of,
    store_of,
    told,
    with_more,
)

# ---- the stages


def test_a_page_unlike_all_others_is_admitted():
    verdict = judge(BASE, page_of(page(chinese()), "http://example.org/b"))
    assert verdict.kind is Kind.ADMITTED
    assert not verdict.is_duplicate
    assert (verdict.original, verdict.drop_page, verdict.drop_outlinks) == (None, False, False)


def test_the_same_url_is_a_revisit_whatever_it_has_become():
    for changed in (page(TEXT), page(TEXT + " more"), page(chinese(60))):
        assert judge(BASE, page_of(changed)).kind is Kind.REVISITED


def test_a_revisit_that_became_a_copy_of_another_page_is_kept():
    store = store_of(BASE, page_of(page(chinese()), "http://example.org/b"))
    assert Detector(store).admit(page_of(page(TEXT), "http://example.org/b")).kind is Kind.REVISITED


def test_an_identical_body_is_an_exact_copy():
    verdict = judge(BASE, replace(BASE, url="http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.EXACT_DUPLICATE, "identical body", ORIGINAL)
    assert (verdict.distance, verdict.similarity, verdict.drop_page, verdict.drop_outlinks) == (0, 1, True, False)


def test_no_more_than_some_of_the_equal_pages_are_looked_at_with_which_other_data_were_given():
    detector = Detector(store_of())
    for number in range(80):
        callback = with_data("spider.parse", str(number))
        claim = detector.claim(page_of(page(english(300)), url=f"{ORIGINAL}?{number}"), callback=callback).claim
        assert claim
        claim.confirm(callback)
    # Those that were compared with what is near, too: as long as no more than 64 were there before.
    assert detector.store.candidates["decisions"] == 65
    known = page_of(page(english(300)), url=f"{ORIGINAL}?again")
    assert detector.claim(known, callback=with_data("spider.parse", "5")).verdict.original == f"{ORIGINAL}?5"


def test_an_identical_text_in_other_mark_up_is_an_exact_copy():
    verdict = judge(BASE, page_of(page(TEXT, wrap="main", links=("/x",)), "http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.EXACT_DUPLICATE, "identical text", ORIGINAL)


@pytest.mark.parametrize("text", [english(80), chinese(80)])
def test_a_small_edit_is_a_near_copy(text: str):
    verdict = judge(page_of(page(text)), page_of(page(edited(text, 1)), "http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.NEAR_DUPLICATE, "near-duplicate", ORIGINAL)
    assert verdict.similarity is not None
    assert 0.93 <= verdict.similarity < 1


@pytest.mark.parametrize(("bits", "found"), [(0, True), (7, True), (8, False)])
def test_the_radius_is_the_recipe_s(bits: int, found: bool):
    assert judge(BASE, like(1, bits=bits)).is_duplicate == found


@pytest.mark.parametrize(("registers", "found"), [(0, True), (35, True), (36, False), (512, False)])
def test_verification_refuses_a_candidate_within_the_radius(registers: int, found: bool):
    asked = like(1, registers=registers)
    assert judge(BASE, asked).is_duplicate == found
    assert judge(BASE, asked, min_similarity=0).is_duplicate


# ---- articles in other surroundings


def _sketched(units: int, registers: int, *, changed: int = 0, size: int = 64) -> Part:
    """Return a part of so many units, of whose registers so many differ from those of the same part of another page."""
    return Part(units, full_sketch(registers, empty=changed, size=size))


def _surrounded(number: int, **parts: Part) -> PageFingerprint:
    """Return a page of 200 units of prose in which 150 around it differ altogether; its content is unlike that of the others."""
    own: dict[str, Any] = {
        "prose": _sketched(200, 256, size=256),
        "links": _sketched(0, 0),
        "around": _sketched(150, 64, changed=64 * number),
    } | parts
    return replace(like(number, registers=512 * number), **own)


OTHER = _surrounded(1)


FIRST = _surrounded(0)


# Each changes one of the two pages, so that one condition fails or just holds.
PROSE = 256


CONDITIONS: list[tuple[str, dict[str, Part], dict[str, Part], bool]] = [
    ("as they are", {}, {}, True),
    # Prose may differ by 2 * (1 - 0.93) = 14 %.
    ("35 of 256 registers of prose differ", {}, {"prose": _sketched(200, PROSE, changed=35, size=PROSE)}, True),
    ("36 of 256 registers of prose differ", {}, {"prose": _sketched(200, PROSE, changed=36, size=PROSE)}, False),
    # And by a quarter of what differs outside it: 19.8 units where 80.6 or 76.9 units around it differ.
    (
        "27 registers around prose differ",
        {"around": _sketched(150, 64)},
        {"around": _sketched(150, 64, changed=27), "prose": _sketched(200, PROSE, changed=24, size=PROSE)},
        True,
    ),
    (
        "26 registers around prose differ",
        {"around": _sketched(150, 64)},
        {"around": _sketched(150, 64, changed=26), "prose": _sketched(200, PROSE, changed=24, size=PROSE)},
        False,
    ),
    (
        "nothing but prose differs",
        {"around": _sketched(150, 64)},
        {"around": _sketched(150, 64), "prose": _sketched(200, PROSE, changed=1, size=PROSE)},
        False,
    ),
    ("other prose", {}, {"prose": _sketched(200, PROSE, changed=PROSE, size=PROSE)}, False),
    # There must be 100 units of it in both.
    ("100 units of prose", {"prose": _sketched(100, PROSE, size=PROSE)}, {"prose": _sketched(100, PROSE, size=PROSE)}, True),
    ("99 units of prose in one", {}, {"prose": _sketched(99, PROSE, size=PROSE)}, False),
    # And 120 around one of them.
    ("120 units around one", {"around": _sketched(0, 0)}, {"around": _sketched(120, 64)}, True),
    ("119 units around both", {"around": _sketched(119, 64)}, {"around": _sketched(119, 64, changed=64)}, False),
    # Links may be three times the prose in each, if they are the same in both.
    ("600 equal links", {"links": _sketched(600, 64)}, {"links": _sketched(600, 64)}, True),
    ("601 equal links", {"links": _sketched(600, 64)}, {"links": _sketched(601, 64)}, False),
    # They may differ by what differs around (300 units: both sides' 150) and a tenth of the prose (20 units).
    ("320 links come", {}, {"links": _sketched(320, 64)}, True),
    ("321 links come", {}, {"links": _sketched(321, 64)}, False),
    ("160 links are others", {"links": _sketched(160, 64)}, {"links": _sketched(160, 64, changed=64)}, True),
    ("161 links are others", {"links": _sketched(161, 64)}, {"links": _sketched(161, 64, changed=64)}, False),
    (
        "20 links come, around which nothing changes",
        {"around": _sketched(150, 64)},
        {"around": _sketched(150, 64), "links": _sketched(20, 64)},
        True,
    ),
    (
        "21 links come, around which nothing changes",
        {"around": _sketched(150, 64)},
        {"around": _sketched(150, 64), "links": _sketched(21, 64)},
        False,
    ),
    # The tenth is of the shorter prose.
    (
        "16 links come to 160 units of prose",
        {"around": _sketched(150, 64), "prose": _sketched(160, PROSE, size=PROSE)},
        {"around": _sketched(150, 64), "links": _sketched(16, 64)},
        True,
    ),
    (
        "17 links come to 160 units of prose",
        {"around": _sketched(150, 64), "prose": _sketched(160, PROSE, size=PROSE)},
        {"around": _sketched(150, 64), "links": _sketched(17, 64)},
        False,
    ),
]


@pytest.mark.parametrize(("one", "other", "same"), [pytest.param(*case[1:], id=case[0]) for case in CONDITIONS])
def test_each_condition_of_the_article_rule_decides(one: dict[str, Part], other: dict[str, Part], same: bool):
    first, second = _surrounded(0, **one), _surrounded(1, **other)
    comparison = RULE.compare(first, second)
    assert comparison == RULE.compare(second, first)
    assert (comparison.is_near_duplicate, comparison.same_article) == (same, same)
    assert comparison.similarity == (resemblance(first.prose.sketch, second.prose.sketch) if same else 0)
    for stored, asked in ((first, second), (second, first)):
        verdict = judge(stored, asked)
        assert (verdict.kind, verdict.reason) == ((Kind.NEAR_DUPLICATE, "same article") if same else (Kind.ADMITTED, None))


def test_what_differs_around_both_pages_is_what_the_conditions_say():
    assert differing(FIRST.around, OTHER.around) == 300
    assert differing(_sketched(155, 64), _sketched(155, 64, changed=64)) == 310


@pytest.mark.parametrize(
    ("lines", "words", "same"),
    [
        # What is written in a form, below an introduction that all forms have.
        (("Measures memory and time.", "Mounts and watches disks."), 150, False),
        (("Measures memory and time.", "Measures memory and time."), 150, True),
        # Beside an article, teasers.
        (("Measures memory and time.", "Mounts and watches disks."), 600, True),
    ],
)
def test_other_lines_beside_one_short_text_are_no_surroundings(lines: tuple[str, str], words: int, same: bool):
    """As an editor's forms: some 150 units differ around, of which 64 are what is written in them."""
    pages = []
    for number, line in enumerate(lines):
        form = f"<body><section><p>{line}</p></section><main><h2>Edit this page</h2><p>{english(20)}</p></main></body>"
        names = page_of(form, f"http://a.test/edit?{number}").names
        around, beside = _sketched(150, 64, changed=43 * number), _sketched(126, 64, changed=26 * number)
        made = _surrounded(number, prose=_sketched(words, 256, size=256), around=around, beside=beside)
        pages.append(replace(made, names=names, url=f"http://a.test/edit?{number}"))
    assert RULE.compare(*pages).same_article == same


@pytest.mark.parametrize(("bits", "found"), [(7, True), (8, False)])
def test_one_article_outside_the_radius_is_no_near_copy(bits: int, found: bool):
    asked = replace(OTHER, fingerprint=FIRST.fingerprint ^ (1 << bits) - 1)
    comparison = RULE.compare(FIRST, asked)
    assert (comparison.is_near_duplicate, comparison.same_article) == (found, found)


@pytest.mark.parametrize(
    ("url", "units", "lost"),
    [
        ("http://example.org/1", 40, False),
        ("http://example.org/1", 41, True),
        ("http://www.example.org/1", 41, True),
        # Another site's teasers.
        ("http://example.com/1", 400, False),
    ],
)
def test_what_only_an_article_of_the_same_site_has_beside_is_not_lost(url: str, units: int, lost: bool):
    asked = replace(OTHER, beside=_sketched(units, 104, size=104), url=url)
    assert RULE.compare(FIRST, asked).same_article
    assert (judge(FIRST, asked).kind is Kind.ADMITTED) == lost
    # The other way round nothing is lost.
    assert judge(asked, FIRST).kind is Kind.NEAR_DUPLICATE


@pytest.mark.parametrize("prose", [0, 256])
def test_equal_content_suffices_whatever_the_prose(prose: int):
    asked = replace(OTHER, content_sketch=FIRST.content_sketch, prose=_sketched(200, 256, changed=prose, size=256))
    for other in (asked, replace(asked, prose=NO_PART)):
        comparison = RULE.compare(FIRST, other)
        assert (comparison.similarity, comparison.is_near_duplicate, comparison.same_article) == (1, True, False)
        assert RULE.compare(other, FIRST) == comparison
        assert judge(FIRST, other).reason == "near-duplicate"


@pytest.mark.parametrize(
    ("prose", "min_similarity", "found"), [(35, 0.93, True), (35, 0.94, False), (3, 0.99, True), (1, 1.0, False), (0, 1.0, True)]
)
def test_who_asks_for_more_similarity_asks_for_it_of_prose_too(prose: int, min_similarity: float, found: bool):
    asked = replace(OTHER, prose=_sketched(200, 256, changed=prose, size=256))
    verdict = judge(FIRST, asked, min_similarity=min_similarity)
    assert verdict.is_duplicate == found
    assert verdict.similarity == (resemblance(FIRST.prose.sketch, asked.prose.sketch) if found else None)


@pytest.mark.parametrize(("name", "value"), [("min_around", 150), ("min_prose", 200)])
def test_the_article_rule_s_thresholds_are_the_recipe_s(name: str, value: int):
    for threshold, found in ((value, True), (value + 1, False)):
        changed: dict[str, Any] = {name: threshold}
        recipe = replace(RECIPES["content"], **changed)
        assert Rule.of(recipe).compare(FIRST, OTHER).same_article == found


@pytest.mark.parametrize(("min_around", "found"), [(150, True), ("150", True), (151, False), (10**9, False)])
def test_the_setting_for_surroundings_is_obeyed(min_around: Any, found: bool):
    assert judge(FIRST, OTHER, min_around=min_around).is_duplicate == found


def test_without_verification_there_is_no_article_rule():
    comparison = RULE.compare(FIRST, OTHER)
    assert comparison.same_article
    loose = replace(RULE, min_similarity=0).compare(FIRST, OTHER)
    assert (loose.is_near_duplicate, loose.same_article, loose.similarity) == (True, False, 0)


def test_the_more_similar_of_an_article_and_a_content_is_the_original():
    content = replace(OTHER, url="http://example.org/content", content_sketch=full_sketch(512, empty=15), text_digest=b"c" * 16)
    article = replace(OTHER, prose=_sketched(200, 256, changed=3, size=256))
    verdict = Detector(store_of(content, article)).admit(FIRST)
    assert (verdict.original, verdict.reason) == (article.url, "same article")
    verdict = Detector(store_of(content, replace(article, prose=_sketched(200, 256, changed=20, size=256)))).admit(FIRST)
    assert (verdict.original, verdict.reason) == (content.url, "near-duplicate")


# ---- what that means for pages


def _news(sentences: int, *, box: int, seed: int, day: int = 12) -> PageFingerprint:
    """Return a page of prose and, within the same element, a date and a box of links; menu and sidebar by the seed."""
    article = f"<h1>The harbour</h1><p>{day} May 2024, {day}:30</p>{in_paragraphs(english(sentences))}"
    return page_of(site_page(f"{article}<h3>More</h3>{link_list(12, seed=box)}<aside><p>{english(12, 50 + seed)}</p></aside>", seed=seed))


ROWS = ("eth0 wlan0 10.0.2.15 netmask", "sda1 sdb2 ext4 /var/lib mount")


def _manual(text: str, row: str) -> str:
    """Return a topic of a manual, one row of whose table says something else than that of the next topic."""
    return f"<h1>北方 North</h1>{in_paragraphs(text)}{table(8, changed=row)}"


@pytest.mark.parametrize(("sentences", "found"), [(30, True), (60, True), (8, False)])
def test_a_news_page_in_other_surroundings_is_a_copy_if_it_has_enough_prose(sentences: int, found: bool):
    before, after = _news(sentences, box=1, seed=1), _news(sentences, box=2, seed=2, day=13)
    comparison = RULE.compare(before, after)
    assert resemblance(before.content_sketch, after.content_sketch) < 0.8
    assert (before.prose.units >= 100) == found
    assert (comparison.is_near_duplicate, comparison.same_article) == (found, found)
    assert comparison.distance == 0 or before.prose.units < 200


def test_a_box_of_links_that_alone_differs_is_content():
    before, after = _news(30, box=1, seed=1), _news(30, box=2, seed=1)
    assert before.around == after.around
    assert before.prose == after.prose
    assert not RULE.compare(before, after).is_near_duplicate


def _beside_contents(lines: str, *, heading: str = "Contents", entries: int = 200) -> PageFingerprint:
    """Return a page of a few lines beside the contents of a whole manual, which are far longer."""
    return page_of(f"<html><body><div>{in_paragraphs(lines)}</div><div><h4>{heading}</h4>{link_list(entries)}</div></body></html>")


def test_a_few_lines_beside_long_contents_tell_pages_apart():
    pages = [_beside_contents(english(3, seed)) for seed in (1, 2, 3)]
    for one, other in combinations(pages, 2):
        assert resemblance(one.content_sketch, other.content_sketch) > 0.9
        assert not RULE.compare(one, other).is_near_duplicate


def test_the_same_lines_beside_long_contents_are_a_copy():
    """Even where contents differ a bit, and a word more stands beside."""
    one, other = _beside_contents(english(3, 1)), _beside_contents(f"{english(3, 1)}\nNext", entries=201)
    assert RULE.compare(one, other).is_near_duplicate


def test_another_article_in_the_same_frame_is_no_copy():
    rule = replace(RULE, max_distance=64)
    pages = [page_of(site_page(f"<h1>The harbour</h1>{in_paragraphs(english(40, seed))}", seed=4)) for seed in (1, 2)]
    assert pages[0].around == pages[1].around
    assert not rule.compare(*pages).is_near_duplicate


@pytest.mark.parametrize("make", [english, chinese])
def test_one_row_of_a_table_tells_two_pages_of_a_manual_apart(make: Callable[[int], str]):
    rule = replace(RULE, max_distance=64)
    pages = [page_of(f"<html><body>{_manual(make(12), row)}</body></html>") for row in ROWS]
    assert not rule.compare(*pages).is_near_duplicate
    assert rule.compare(pages[0], replace(pages[0], text_digest=bytes(16))).is_near_duplicate


@pytest.mark.parametrize("make", [english, chinese])
def test_one_row_of_a_table_tells_two_pages_apart_whose_equal_surroundings_are_many(make: Callable[[int], str]):
    before, after = (page_of(site_page(_manual(make(12), row))) for row in ROWS)
    assert before.around == after.around
    assert before.links == after.links
    assert not RULE.compare(before, after).is_near_duplicate


@pytest.mark.parametrize("make", [english, chinese])
def test_two_tables_tell_two_pages_apart_whose_equal_surroundings_are_many(make: Callable[[int], str]):
    rule = replace(RULE, max_distance=64)
    before, after = (page_of(site_page(_manual(make(12), row) + table(2, changed=f"{row} {row} ro"))) for row in ROWS)
    assert before.around == after.around
    assert before.around.units >= RULE.min_around
    assert not rule.compare(before, after).is_near_duplicate


def test_what_stands_around_the_content_makes_no_difference():
    article = f"<h1>The harbour</h1>{in_paragraphs(english(20))}"
    a, b = (page_of(site_page(article, seed=seed)) for seed in (1, 2))
    assert a.text_digest != b.text_digest
    comparison = RULE.compare(a, b)
    assert (comparison.similarity, comparison.is_near_duplicate) == (1, True)


def test_layouts_are_compared_by_their_tags_and_never_by_their_prose():
    rule = replace(Rule.of(RECIPES["layout"]), max_distance=64)
    plain, other, boxed = (
        fingerprint_page(html, recipe="layout")
        for html in (
            page(english(300)),
            page(english(300, seed=1)),
            page(english(300)).replace("<p>", "<div><b><p>").replace("</p>", "</p></b> x</div>"),
        )
    )
    assert isinstance(plain, PageFingerprint)
    assert isinstance(other, PageFingerprint)
    assert isinstance(boxed, PageFingerprint)
    for made in (plain, other, boxed):
        assert made.prose.units == made.links.units == made.around.units == 0
    assert rule.compare(plain, other).is_near_duplicate
    assert not rule.compare(plain, boxed).is_near_duplicate


def test_the_paper_s_rule_looks_at_the_distance_only():
    stored, asked = (fingerprint_page(page(edited(english(80), edits)), url=f"http://x/{edits}", recipe="manku2007") for edits in (0, 1))
    verdict = judge(stored, asked, recipe="manku2007")
    assert (verdict.kind, verdict.similarity) == (Kind.NEAR_DUPLICATE, None)
    assert verdict.distance is not None
    assert verdict.distance <= 3


# ---- which original


def test_the_most_similar_original_is_named():
    store = store_of(like(1, bits=0, registers=15), like(2, bits=5, registers=5), like(3, bits=2, registers=10))
    assert Detector(store).admit(BASE).original == "http://example.org/2"


def test_among_equally_similar_originals_the_nearest_is_named():
    store = store_of(like(1, bits=5, registers=5), like(2, bits=1, registers=5), like(3, bits=3, registers=5))
    assert Detector(store).admit(BASE).original == "http://example.org/2"


def test_among_equal_originals_the_first_seen_is_named():
    store = store_of(*(like(number, bits=1, registers=5) for number in (3, 1, 2)))
    assert Detector(store).admit(BASE).original == "http://example.org/3"


def test_an_exact_copy_is_named_before_a_nearer_fingerprint():
    store = store_of(like(1, registers=1), replace(like(2, bits=40), text_digest=BASE.text_digest))
    verdict = Detector(store).admit(BASE)
    assert (verdict.original, verdict.kind) == ("http://example.org/2", Kind.EXACT_DUPLICATE)


@pytest.mark.parametrize(("decoys", "kind"), [(255, Kind.NEAR_DUPLICATE), (256, Kind.ADMITTED)])
def test_at_most_256_candidates_are_verified(decoys: int, kind: Kind):
    store = store_of(*(like(number, registers=400) for number in range(1, decoys + 1)), like(1000, bits=1))
    assert Detector(store).admit(BASE).kind is kind


# ---- actions and outlinks


IDENTICAL, ALIKE, LESS_ALIKE = like(1, bits=64), like(1, registers=8), like(1, registers=20)


IDENTICAL = replace(IDENTICAL, text_digest=BASE.text_digest)


@pytest.mark.parametrize(
    ("action", "outlinks", "dropped"),
    [
        # outlinks of: a copy of identical text, one of similarity .984, one of .96
        ("drop", "drop", (True, True, True)),
        ("drop", 0.98, (True, True, False)),
        ("drop", 1.0, (True, False, False)),
        ("drop", "follow", (False, False, False)),
        ("drop-links", "drop", (True, True, True)),
        ("drop-links", 0.98, (True, True, False)),
        ("drop-items", "drop", (False, False, False)),
        ("drop-items", 0.98, (False, False, False)),
        ("observe", "drop", (False, False, False)),
        ("observe", "follow", (False, False, False)),
    ],
)
def test_outlinks_by_action_and_threshold(action: str, outlinks: float | str, dropped: tuple[bool, bool, bool]):
    verdicts = [judge(BASE, asked, action=action, outlinks=outlinks) for asked in (IDENTICAL, ALIKE, LESS_ALIKE)]
    assert [verdict.is_duplicate for verdict in verdicts] == [True, True, True]
    assert tuple(verdict.drop_outlinks for verdict in verdicts) == dropped
    assert {verdict.drop_page for verdict in verdicts} == {action in ("drop", "drop-items")}


def test_a_similarity_that_reaches_a_threshold_passes_it():
    similarity = RULE.compare(BASE, LESS_ALIKE).similarity
    assert similarity is not None
    verdict = judge(BASE, LESS_ALIKE, min_similarity=similarity, outlinks=similarity)
    assert (verdict.kind, verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, True)
    above = similarity + 1e-9
    assert judge(BASE, LESS_ALIKE, min_similarity=above).kind is Kind.ADMITTED
    assert not judge(BASE, LESS_ALIKE, outlinks=above).drop_outlinks


@pytest.mark.parametrize(("outlinks", "dropped"), [("drop", True), (0.5, False), (0.98, False), (1.0, False), ("follow", False)])
def test_prose_that_agrees_does_not_drop_outlinks(outlinks: float | str, dropped: bool):
    # What makes two pages one article is that the rest differs, links among it.
    verdict = judge(FIRST, OTHER, outlinks=outlinks)
    assert (verdict.kind, verdict.similarity, verdict.drop_page, verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, 1, True, dropped)


@pytest.mark.parametrize(
    ("outlinks", "same", "other"), [("drop", True, True), (0.98, True, False), (1.0, True, False), ("follow", False, False)]
)
def test_identical_text_with_other_links_keeps_its_outlinks(outlinks: float | str, same: bool, other: bool):
    for links, dropped in ((BASE.links_digest, same), (b"x" * 8, other)):
        asked = replace(IDENTICAL, links_digest=links)
        comparison = RULE.compare(BASE, asked)
        assert (comparison.identical_text, comparison.identical_links) == (True, links == BASE.links_digest)
        verdict = judge(BASE, asked, outlinks=outlinks)
        assert (verdict.kind, verdict.reason, verdict.drop_page) == (Kind.EXACT_DUPLICATE, "identical text", True)
        assert verdict.drop_outlinks == dropped


@pytest.mark.parametrize(("links", "dropped"), [(BASE.links_digest, True), (b"x" * 8, False), (UNKNOWN, False)])
def test_an_identical_body_drops_its_outlinks_where_they_lead_to_the_same_pages(links: bytes, dropped: bool):
    verdict = judge(BASE, replace(BASE, url="http://mirror.example/b", links_digest=links), outlinks=1.0)
    assert (verdict.reason, verdict.drop_outlinks) == ("identical body", dropped)


def test_links_that_nobody_looked_at_are_not_the_same():
    a, b = (replace(made, links_digest=UNKNOWN) for made in (BASE, IDENTICAL))
    assert not RULE.compare(a, b).identical_links
    assert not judge(a, b, outlinks=1.0).drop_outlinks
    assert judge(a, b, outlinks="drop").drop_outlinks


def test_outlinks_follow_the_recipe_where_nothing_is_said():
    assert [judge(BASE, asked).drop_outlinks for asked in (IDENTICAL, like(1), ALIKE, LESS_ALIKE)] == [False] * 4


@pytest.mark.parametrize(("outlinks", "dropped"), [(DROP_OUTLINKS, True), (0.5, False), (1.0, False), (FOLLOW_OUTLINKS, False)])
def test_without_sketches_only_a_threshold_of_zero_drops_the_outlinks_of_a_near_copy(outlinks: float, dropped: bool):
    rule = replace(RULE, min_similarity=0, outlinks=outlinks)
    parts: dict[str, Any] = {"content_sketch": b"", "prose": NO_PART, "links": NO_PART, "around": NO_PART}
    verdict = store_of(replace(BASE, **parts)).admit(replace(like(1), **parts), rule)
    assert (verdict.similarity, verdict.drop_outlinks) == (None, dropped)


def test_a_page_that_must_not_be_dropped_is_judged_and_kept():
    store = store_of(BASE)
    admission = Detector(store).claim(like(1), never_drop=True)
    assert admission.claim
    assert (admission.verdict.kind, admission.verdict.drop_page, admission.verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, False, False)


@pytest.mark.parametrize("make", [lambda number: like(number, registers=number), lambda number: replace(BASE, url=f"http://x/{number}")])
def test_the_first_copies_of_a_cluster_are_kept(make: Any):
    detector = Detector(store_of(BASE), copies_kept=3)
    verdicts = [detector.admit(make(number)) for number in range(1, 5)]
    assert [verdict.drop_page for verdict in verdicts] == [False, False, True, True]
    assert all(verdict.is_duplicate for verdict in verdicts)


@pytest.mark.parametrize(("days", "found"), [(0, True), (1, False), (2, True), (20_000, True)])
def test_pages_not_seen_for_long_are_no_originals_any_more(days: float, found: bool):
    rule = replace(RULE, expire_days=days)
    store = store_of(BASE)
    with store._view() as view:
        decision = rule.decide(like(1), view, now=view.page(ORIGINAL).last_seen + 2 * 86_400)  # type: ignore[union-attr]  # it is there
    assert decision.verdict.is_duplicate == found


@pytest.mark.parametrize(("days", "kind"), [(0, Kind.REVISITED), (1, Kind.NEAR_DUPLICATE), (3, Kind.REVISITED)])
def test_a_page_not_seen_for_long_is_judged_as_if_it_were_new(days: float, kind: Kind):
    store = store_of(BASE)
    other = like(1)
    store.admit(other, replace(RULE, copies_kept=2))
    with store._view() as view:
        # Its copy was seen again meanwhile.
        young = view.page(other.url)
        assert young
        now = young.last_seen + 2 * 86_400
        store._claims.pages.add(replace(young, last_seen=now))
        assert replace(RULE, expire_days=days).decide(BASE, view, now=now).verdict.kind is kind


# ---- pages without a fingerprint


def test_short_pages_are_exact_copies_or_none():
    stored = fingerprint_page(page("five words of main text"), url=ORIGINAL)
    assert isinstance(stored, Abstention)
    same = judge(stored, replace(stored, url="http://x/b"))
    assert (same.kind, same.original, same.drop_page) == (Kind.EXACT_DUPLICATE, ORIGINAL, True)
    other = judge(stored, fingerprint_page(page("five words of main text") + "\n", url="http://x/b"))
    assert (other.kind, other.reason) == (Kind.SKIPPED, "short")


def test_empty_pages_are_never_copies():
    stored = fingerprint_page("<html><body><div id='app'></div><script src='/app.js'></script></body></html>", url=ORIGINAL)
    verdict = judge(stored, replace(stored, url="http://x/b"))
    assert (verdict.kind, verdict.reason, verdict.drop_page) == (Kind.SKIPPED, "empty", False)


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason is not Reason.EMPTY])
def test_any_other_page_without_a_fingerprint_can_be_an_exact_copy(reason: Reason):
    stored = Abstention(url=ORIGINAL, recipe=BASE.recipe, seed=0, body_digest=bytes(16), reason=reason)
    assert judge(stored, replace(stored, url="http://x/b")).reason == "identical body"
    assert judge(stored, replace(stored, url="http://x/b", body_digest=b"x" * 16)).reason == reason.value


# ---- scope


@pytest.mark.parametrize(
    ("original", "asked", "found"),
    [
        ("http://www.example.co.uk/a", "https://shop.example.co.uk/b", True),
        ("http://one.co.uk/a", "http://two.co.uk/a", False),
        ("http://10.0.0.1/a", "http://10.0.0.1/b", True),
        ("http://10.0.0.1/a", "http://10.0.0.2/a", False),
    ],
)
def test_scope_site_knows_originals_of_the_same_site_only(original: str, asked: str, found: bool):
    for copy in (like(1, url=asked), replace(BASE, url=asked)):
        stored = replace(BASE, url=original)
        assert judge(stored, copy, scope="site").is_duplicate == found
        assert judge(stored, copy, scope="all").is_duplicate


def test_scope_site_finds_the_original_behind_those_of_other_sites():
    store = store_of(*(like(number, url=f"http://other{number}.example/") for number in range(1, 10)), BASE)
    assert Detector(store, scope="site").admit(like(100, bits=3)).original == ORIGINAL


# ---- trusted hosts


ABSTAINING = Abstention(url=ORIGINAL, recipe=BASE.recipe, seed=0, body_digest=bytes(16), reason=Reason.TOO_LARGE)


@pytest.mark.parametrize(
    ("original", "asked", "found"),
    [
        ("http://copies.example/a", "http://www.trusted.example/a", False),
        ("http://copies.example/a", "POST https://WWW.trusted.example:8443/a", False),
        ("http://copies.example/a", "http://user-0123456789abcdef@www.trusted.example/a", False),
        ("http://www.trusted.example/a", "http://copies.example/a", True),
        ("http://www.trusted.example/a", "http://www.trusted.example/b", True),
        ("http://also.example/a", "http://www.trusted.example/a", True),
        ("http://copies.example/a", "http://trusted.example/a", True),
        ("http://copies.example/a", "http://www.trusted.example.copies.example/a", True),
        ("http://copies.example/a", "http://www.trusted.example@others.example/a", True),
    ],
)
def test_a_page_of_a_trusted_host_is_dropped_in_favour_of_such_pages_only(original: str, asked: str, found: bool):
    for copy in (like(1, url=asked), replace(BASE, url=asked), replace(ABSTAINING, url=asked)):
        stored = replace(ABSTAINING if copy.body_digest == ABSTAINING.body_digest else BASE, url=original)
        assert judge(stored, copy, trusted_hosts=["www.trusted.example", "also.example"]).is_duplicate == found
        assert judge(stored, copy).is_duplicate


def test_the_original_on_a_trusted_host_is_found_behind_nearer_ones():
    store = store_of(*(like(number, url=f"http://other{number}.example/") for number in range(1, 10)), BASE)
    assert Detector(store, trusted_hosts=["example.org"]).admit(like(100, bits=3, url="http://example.org/b")).original == ORIGINAL


# ---- what stands beside equal contents


# ---- many candidates


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.booleans(), st.sampled_from([0, 99, 200])), min_size=1, max_size=12))
def test_no_copy_is_passed_over_where_candidates_are_many(changes: list[tuple[int, int, bool, int]]):
    others = []
    # Pages of one text have been found before, whatever their sketches are.
    for number, (content, prose, surrounded, units) in enumerate(changes, 100):
        own: dict[str, Any] = {
            "content_sketch": full_sketch(512, empty=content),
            "prose": _sketched(units, PROSE, changed=prose, size=PROSE),
        }
        others.append(replace(OTHER if surrounded else FIRST, url=f"http://x/{number}", text_digest=number.to_bytes(16, "big"), **own))
    candidates = [StoredPage(other, 0, 0) for other in others]
    for asked in (FIRST, replace(FIRST, prose=replace(FIRST.prose, units=99))):
        alike = list(RULE._alike(asked, candidates)[0])
        assert [
            other.url for other in others if RULE.compare(asked, other).is_near_duplicate and StoredPage(other, 0, 0) not in alike
        ] == []


def test_of_many_that_are_alike_those_are_compared_that_may_be_originals(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.rule._MOST_ALIKE", 4)
    # On other hosts, and more like the page than its original is.
    others = [like(number, url=f"http://other{number}.example/") for number in range(1, 10)]
    store = store_of(*others, like(50, registers=8, url=ORIGINAL))
    store.candidates.clear()
    assert Detector(store, scope="site").admit(like(100, url="http://example.org/b")).original == ORIGINAL
    assert store.candidates["at_cap"] == 0
    assert Detector(store).admit(like(101, url="http://example.org/c")).is_duplicate
    assert store.candidates["at_cap"] == 1


def test_where_several_copies_are_kept_so_many_are_compared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.rule._MOST_ALIKE", 4)
    store = store_of(*(like(number) for number in range(1, 10)))
    assert Detector(store, copies_kept=6).admit(like(100)).drop_page
    assert not Detector(store, copies_kept=12).admit(like(101)).drop_page


def test_candidates_are_counted_and_so_are_decisions_that_stop_at_the_most():
    store = store_of(*(like(number, registers=400) for number in range(1, 301)))
    store.candidates.clear()
    assert Detector(store).admit(like(1000, bits=1)).kind is Kind.ADMITTED
    assert Detector(store).admit(like(1001, bits=40)).kind is Kind.ADMITTED
    assert store.candidates == {"decisions": 2, "compared": 256, "at_cap": 1}


# ---- what stands beside


def test_where_fingerprints_alone_decide_what_stands_beside_keeps_no_page():
    diff, commit = commit_page("", "diff"), commit_page("<p>A message</p>", "commit")
    with open_store("memory:") as store:
        detector = Detector(store, min_similarity=0)
        detector.admit(diff)
        assert detector.admit(commit).is_duplicate


def test_a_page_of_another_recipe_has_no_prose_to_lose():
    short, more = with_more("http://a.test/1"), with_more("http://a.test/2", english(4, seed=7))
    assert more.units - short.units < 40
    assert judge(replace(short, prose=NO_PART), more).is_duplicate
    # Its content tells, where it has more of that.
    assert not judge(replace(short, prose=NO_PART), with_more("http://a.test/2", english(6, seed=7))).is_duplicate


# ---- what search engines are to leave alone


def _version(text: str, path: str, *, noindex: bool) -> PageFingerprint:
    robots = "<meta name=robots content=noindex>" if noindex else ""
    html = f"<html><head><title>Harbours</title>{robots}</head><body><h1>Harbours</h1>{page(text)}</body></html>"
    return page_of(html, f"http://wiki.test/{path}")


_SECTION = "Since May a ferry leaves the northern pier twice a day for the islands."


@pytest.mark.parametrize(
    ("before", "after", "texts", "is_copy"),
    [
        # The current page says a sentence more than an old version, which a crawl may meet first.
        (True, False, (TEXT, f"{TEXT}\n{_SECTION}"), False),
        (False, True, (f"{TEXT}\n{_SECTION}", TEXT), True),
        # Of pages of one kind nothing is known of which is which, and of equal ones nothing is lost.
        (True, True, (TEXT, f"{TEXT}\n{_SECTION}"), True),
        (False, False, (TEXT, f"{TEXT}\n{_SECTION}"), True),
        (True, False, (TEXT, TEXT), True),
    ],
)
def test_no_page_is_dropped_for_one_that_search_engines_are_to_leave_alone(
    before: bool, after: bool, texts: tuple[str, str], is_copy: bool
):
    first, second = _version(texts[0], "w?oldid=7", noindex=before), _version(texts[1], "Harbours", noindex=after)
    assert simcrawl.compare(first, second).is_near_duplicate
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(first)
        assert detector.admit(second).is_duplicate == is_copy


# ---- what names its own address


def _named(text: str, address: str, canonical: str = "", title: str = "Harbours") -> PageFingerprint:
    head = f"<link rel=canonical href='{canonical}'>" if canonical else ""
    html = f"<html><head><title>{title}</title>{head}</head><body><h1>Harbours</h1>{page(text)}</body></html>"
    return page_of(html, f"http://wiki.test/{address}")


_LONGER = f"{TEXT}\n{_SECTION}"


@pytest.mark.parametrize(
    ("first", "second", "is_copy"),
    [
        (("7", "/7"), ("8", "/8"), False),
        # Only what both say of themselves counts, and not in different ways.
        (("7", "/7"), ("8", ""), True),
        (("7", ""), ("8", "/8"), True),
        (("7", "/7"), ("8", "/7"), True),
        (("7", "/7"), ("8", "http://other.test/8"), True),
        # A session, a campaign; and what chooses a page.
        (("7?sid=1", "/7"), ("7?sid=2", "/7"), True),
        (("7/?utm_source=a", "/7"), ("7?utm_source=b", "/7/"), True),
        (("w?id=7&sid=1", "/w?id=7"), ("w?sid=2&id=8", "/w?id=8"), False),
        (("k%C3%B6ln", "/köln"), ("bonn", "/bonn"), False),
        # Of another encoding.
        (("k%F6ln", "/k%F6ln"), ("k%FCln", "/k%FCln"), False),
    ],
)
def test_what_says_a_line_more_and_names_its_own_address_is_kept(first: tuple[str, str], second: tuple[str, str], is_copy: bool) -> None:
    pages = _named(TEXT, *first), _named(_LONGER, *second)
    assert simcrawl.compare(*pages).is_near_duplicate
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(pages[0])
        assert detector.admit(pages[1]).is_duplicate == is_copy


@pytest.mark.parametrize(
    ("texts", "titles", "is_copy"),
    [
        # A program may name whatever address was asked for: nothing is kept for that alone, nor for less.
        ((TEXT, TEXT), ("Harbours", "Harbours"), True),
        ((_LONGER, TEXT), ("Harbours", "Harbours"), True),
        ((f"{TEXT}\n7 May 2024, 10:23", f"{TEXT}\n8 May 2024, 11:46"), ("Harbours", "Harbours"), True),
        ((TEXT, TEXT), ("Harbours of Derry", "Harbours of Larne"), False),
        # Whatever counters stand on the pages; and who has no title has no other one.
        ((f"{TEXT}\n7 May 2024, 10:23", f"{TEXT}\n8 May 2024, 11:46"), ("Harbours of Derry", "Harbours of Larne"), False),
        ((TEXT, TEXT), ("Harbours of Derry", ""), True),
        ((TEXT, TEXT), ("", "Harbours of Derry"), True),
    ],
)
def test_of_two_addresses_a_title_tells_apart_and_nothing_at_all_does_not(
    texts: tuple[str, str], titles: tuple[str, str], is_copy: bool
) -> None:
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(_named(texts[0], "7", "/7", titles[0]))
        assert detector.admit(_named(texts[1], "8", "/8", titles[1])).is_duplicate == is_copy
        assert detector.admit(_named(texts[1], "9", "", titles[1])).is_duplicate


@pytest.mark.parametrize(("path", "is_copy"), [("w?title=Harbours&action=edit", False), ("w?title=Harbours&action=edit&oldid=8", True)])
def test_what_a_wiki_says_now_is_not_dropped_for_what_it_said_before(path: str, *, is_copy: bool):
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(_version(TEXT, "w?title=Harbours&action=edit&oldid=7", noindex=True))
        words = TEXT.split(" ")
        words[len(words) // 2] = "otherwise"
        assert detector.admit(_version(" ".join(words), path, noindex=True)).is_duplicate == is_copy


def test_where_fingerprints_alone_decide_it_does_not_matter_who_is_to_be_left_alone():
    with open_store("memory:") as store:
        detector = Detector(store, min_similarity=0)
        detector.admit(_version(TEXT, "w?oldid=7", noindex=True))
        assert detector.admit(_version(f"{TEXT}\n{_SECTION}", "Harbours", noindex=False)).is_duplicate


# ---- records


@pytest.mark.parametrize("template", records.TEMPLATES)
def test_whether_a_page_is_a_copy_is_what_the_comparison_says(template: str):
    made = [record for kind in ("media types", "named characters") for record in islice(records.KINDS[kind](), 8)]
    text = records._text(200)
    views = [("id", "<nav>Home</nav>"), ("print", "")]
    pages = [
        page_of(records.TEMPLATES[template](record, next(iter(record.values())), text, menu=menu), f"http://{host}.org/{view}/{number}")
        for host in ("example", "other")
        for view, menu in views
        for number, record in enumerate(made)
    ]
    said = set()
    for one, other in permutations(pages, 2):
        comparison = RULE.compare(one, other)
        is_copy = comparison.is_near_duplicate and not RULE.loses(one, other, comparison)
        assert RULE.copy_of(one, other) == (comparison if is_copy else None)
        said.add(is_copy)
    assert said == {True, False}


@pytest.mark.parametrize(
    ("first", "second", "is_another"),
    [
        (["Red"], ["Blue"], True),
        # Not where both say the same more, or the second one nothing more, though the first does.
        (["Red"], ["Red"], False),
        (["Red"], [], False),
    ],
)
def test_a_copy_of_a_page_is_a_copy_of_its_other_copies(first: list[str], second: list[str], is_another: bool):
    store = open_store("memory:")
    detector = Detector(store)
    assert not detector.admit(noted("none", "A lot")).is_duplicate
    assert detector.admit(noted("first", "A lot", *first)).is_duplicate
    admission = detector.claim(noted("second", "A lot", *second))
    assert admission.verdict.is_duplicate != is_another
    assert admission.mistaken == (("http://a.test/lots?first",) if is_another else ())


def test_the_same_cells_in_other_rows_are_no_article_in_other_surroundings():
    text, menu = f"<p>{english(40)}</p>", f"<nav>{link_list(60)}</nav>"
    everybody = [f"{name} {surname}" for surname in ("Miller", "Hay", "Lund") for name in NAMES]
    calls = [
        "".join(f"<tr><td>{name}</td><td>{'no' if name[0] in against else 'yes'}</td></tr>" for name in everybody)
        for against in ("ABCDE", "FGHIJ")
    ]
    one, other = (page_of(f"<title>Call</title>{menu}<main><h1>Call</h1><table>{call}</table>{text}</main>") for call in calls)
    result = RULE.compare(one, other)
    assert (result.is_near_duplicate, result.same_article) == (False, False)
    # Sorted by another column it is the same list.
    rows = [row + "</tr>" for row in calls[0].split("</tr>") if row]
    again = page_of(f"<title>Call</title>{menu}<main><h1>Call</h1><table>{''.join(rows[::-1])}</table>{text}</main>")
    assert RULE.compare(one, again).is_near_duplicate


def test_what_has_shown_it_and_does_not_come_out_takes_nothing_along():
    detector = Detector(open_store("memory:"))
    assert not detector.admit(noted("none", "A lot")).is_duplicate
    assert detector.admit(noted("red", "A lot", "Red")).is_duplicate
    claim = detector.claim(noted("blue", "A lot", "Blue")).claim
    assert claim
    claim.withdraw()
    assert not detector.admit(noted("blue-2", "A lot", "Blue")).is_duplicate
    assert detector.admit(noted("blue-3", "A lot", "Blue")).original == "http://a.test/lots?blue-2"


@pytest.mark.parametrize("action", ["observe", "drop-items", "drop-links"])
def test_who_only_observes_sees_what_a_crawl_would_do(action: str):
    detector = Detector(open_store("memory:"), action=action)
    pages = [noted("none", "A lot"), *(noted(line, "A lot", line) for line in ("Red", "Blue", "Green"))]
    assert [detector.admit(one).is_duplicate for one in pages] == [False, True, False, False]


def test_where_fingerprints_alone_decide_copies_need_not_be_copies_of_each_other():
    detector = Detector(open_store("memory:"), min_similarity=0)
    assert not detector.admit(noted("none", "A lot")).is_duplicate
    assert all(detector.admit(noted(line, "A lot", line)).is_duplicate for line in ("Red", "Blue"))


@pytest.mark.parametrize(("address", "same"), [("/line-{}.html", False), ("/{}/line.html", True)])
def test_a_number_of_two_digits_is_a_name_where_heading_title_and_address_have_it(address: str, same: bool) -> None:
    made = [told(f"<h1>Bus line {line}</h1>{SHARED}", f"http://x{address.format(line)}", title=f"Bus line {line}") for line in (10, 30)]
    assert simcrawl.compare(*made).is_near_duplicate == same


def test_a_third_title_above_one_text_makes_three_pages_of_it() -> None:
    with open_store("memory:?seed=1") as store:
        detector = simcrawl.Detector(store)

        def claim(city: str, number: int) -> tuple[Admission, str]:
            url = f"http://example.org/job/{number}"
            html = page(TEXT).replace("<title>t", f"<title>Sales assistant in {city}")
            admission = detector.claim(detector.page(html, url=url))
            if admission.claim:
                admission.claim.confirm()
            return admission, url

        (first, original), (second, dropped) = claim("Leeds", 1204), claim("York", 1311)
        assert [one.verdict.kind for one in (first, second)] == [Kind.ADMITTED, Kind.EXACT_DUPLICATE]
        assert [one.may_be_mistaken for one in (first, second)] == [False, True]
        third, _ = claim("Hull", 1412)
        assert third.verdict.kind is Kind.ADMITTED
        assert third.mistaken == (dropped,)
        assert claim("York", 1311)[0].verdict.kind is Kind.ADMITTED
        assert claim("Leeds", 1513)[0].verdict.original == original
