from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations, islice, permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import simcrawl
from benchmarks.quality import records
from simcrawl.bits import hamming_distance
from simcrawl.page.fingerprint import UNKNOWN, Abstention, PageFingerprint, Reason, fingerprint_page
from simcrawl.page.recipes import DROP_OUTLINKS, FOLLOW_OUTLINKS, RECIPES
from simcrawl.page.sketch import NO_PART, Part, differing, pack, resemblance, sketch
from simcrawl.rule import Kind, Rule, StoredPage, Verdict, _is_view, host_of, of_one_host, site, with_data
from simcrawl.store import Store, open_store
from tests.samples import chinese, edited, english, foreign, link_list, page, site_page, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULE = Rule.of(RECIPES["content"])
TEXT = english(400)
ORIGINAL = "http://example.org/original"


def _page(html: str, url: str = ORIGINAL) -> PageFingerprint:
    made = fingerprint_page(html, url=url)
    assert isinstance(made, PageFingerprint)
    return made


def _full(registers: int, *, empty: int = 0, size: int = 0) -> bytes:
    """Return a sketch with so many registers that are filled, the first of them emptied."""
    return pack(np.array([0] * empty + [1] * (registers - empty) + [0] * (max(size, registers) - registers), np.uint8))


BASE = replace(_page(page(TEXT)), content_sketch=_full(512))


def _like(number: int, *, bits: int = 0, registers: int = 0, url: str = "") -> PageFingerprint:
    """Return another page that differs from `BASE` in so many bits of the fingerprint and of 512 registers of the content's sketch.

    Its prose is the base's, but neither has anything around it: content alone decides.
    """
    unlike = number.to_bytes(16, "big")
    return replace(
        BASE,
        url=url or f"http://example.org/{number}",
        fingerprint=BASE.fingerprint ^ (1 << bits) - 1,
        content_sketch=_full(512, empty=registers),
        body_digest=unlike,
        text_digest=unlike,
    )


def _store(*pages: PageFingerprint | Abstention) -> Store:
    """Return a store that has the pages, whether they are copies or not."""
    store = open_store("memory:")
    for stored in pages:
        claim = store.claim(stored, RULE, never_drop=True).claim
        assert claim
        claim.confirm()
    return store


def Detector(store: Store, **options: Any) -> simcrawl.Detector:  # noqa: N802 - as the one that it makes
    """Return a detector for which every page of the store can be an original: which of them are in its crawl is no rule's concern."""
    return simcrawl.Detector(store, originals="store", **options)


def _judge(stored: PageFingerprint | Abstention, asked: PageFingerprint | Abstention, **options: Any) -> Verdict:
    return Detector(_store(stored), **options).admit(asked)


# ---- the stages


def test_a_page_unlike_all_others_is_admitted():
    verdict = _judge(BASE, _page(page(chinese()), "http://example.org/b"))
    assert verdict.kind is Kind.ADMITTED
    assert not verdict.is_duplicate
    assert (verdict.original, verdict.drop_page, verdict.drop_outlinks) == (None, False, False)


def test_the_same_url_is_a_revisit_whatever_it_has_become():
    for changed in (page(TEXT), page(TEXT + " more"), page(chinese(60))):
        assert _judge(BASE, _page(changed)).kind is Kind.REVISITED


def test_a_revisit_that_became_a_copy_of_another_page_is_kept():
    store = _store(BASE, _page(page(chinese()), "http://example.org/b"))
    assert Detector(store).admit(_page(page(TEXT), "http://example.org/b")).kind is Kind.REVISITED


def test_an_identical_body_is_an_exact_copy():
    verdict = _judge(BASE, replace(BASE, url="http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.EXACT_DUPLICATE, "identical body", ORIGINAL)
    assert (verdict.distance, verdict.similarity, verdict.drop_page, verdict.drop_outlinks) == (0, 1, True, False)


def test_no_more_than_some_of_the_equal_pages_are_looked_at_with_which_other_data_were_given():
    detector = Detector(_store())
    for number in range(80):
        callback = with_data("spider.parse", str(number))
        claim = detector.claim(_page(page(english(300)), url=f"{ORIGINAL}?{number}"), callback=callback).claim
        assert claim
        claim.confirm(callback)
    # Those that were compared with what is near, too: as long as no more than 64 were there before.
    assert detector.store.candidates["decisions"] == 65
    known = _page(page(english(300)), url=f"{ORIGINAL}?again")
    assert detector.claim(known, callback=with_data("spider.parse", "5")).verdict.original == f"{ORIGINAL}?5"


def test_an_identical_text_in_other_mark_up_is_an_exact_copy():
    verdict = _judge(BASE, _page(page(TEXT, wrap="main", links=("/x",)), "http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.EXACT_DUPLICATE, "identical text", ORIGINAL)


@pytest.mark.parametrize("text", [english(80), chinese(80)])
def test_a_small_edit_is_a_near_copy(text: str):
    verdict = _judge(_page(page(text)), _page(page(edited(text, 1)), "http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.NEAR_DUPLICATE, "near-duplicate", ORIGINAL)
    assert verdict.similarity is not None
    assert 0.93 <= verdict.similarity < 1


@pytest.mark.parametrize(("bits", "found"), [(0, True), (7, True), (8, False)])
def test_the_radius_is_the_recipe_s(bits: int, found: bool):
    assert _judge(BASE, _like(1, bits=bits)).is_duplicate == found


@pytest.mark.parametrize(("registers", "found"), [(0, True), (35, True), (36, False), (512, False)])
def test_verification_refuses_a_candidate_within_the_radius(registers: int, found: bool):
    asked = _like(1, registers=registers)
    assert _judge(BASE, asked).is_duplicate == found
    assert _judge(BASE, asked, min_similarity=0).is_duplicate


# ---- articles in other surroundings


def _sketched(units: int, registers: int, *, changed: int = 0, size: int = 64) -> Part:
    """Return a part of so many units, of whose registers so many differ from those of the same part of another page."""
    return Part(units, _full(registers, empty=changed, size=size))


def _surrounded(number: int, **parts: Part) -> PageFingerprint:
    """Return a page of 200 units of prose in which 150 around it differ altogether; its content is unlike that of the others."""
    own: dict[str, Any] = {
        "prose": _sketched(200, 256, size=256),
        "links": _sketched(0, 0),
        "around": _sketched(150, 64, changed=64 * number),
    } | parts
    return replace(_like(number, registers=512 * number), **own)


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
        verdict = _judge(stored, asked)
        assert (verdict.kind, verdict.reason) == ((Kind.NEAR_DUPLICATE, "same article") if same else (Kind.ADMITTED, None))


def test_what_differs_around_both_pages_is_what_the_conditions_say():
    assert differing(FIRST.around, OTHER.around) == 300
    assert differing(_sketched(155, 64), _sketched(155, 64, changed=64)) == 310


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
    assert (_judge(FIRST, asked).kind is Kind.ADMITTED) == lost
    # The other way round nothing is lost.
    assert _judge(asked, FIRST).kind is Kind.NEAR_DUPLICATE


@pytest.mark.parametrize("prose", [0, 256])
def test_equal_content_suffices_whatever_the_prose(prose: int):
    asked = replace(OTHER, content_sketch=FIRST.content_sketch, prose=_sketched(200, 256, changed=prose, size=256))
    for other in (asked, replace(asked, prose=NO_PART)):
        comparison = RULE.compare(FIRST, other)
        assert (comparison.similarity, comparison.is_near_duplicate, comparison.same_article) == (1, True, False)
        assert RULE.compare(other, FIRST) == comparison
        assert _judge(FIRST, other).reason == "near-duplicate"


@pytest.mark.parametrize(
    ("prose", "min_similarity", "found"), [(35, 0.93, True), (35, 0.94, False), (3, 0.99, True), (1, 1.0, False), (0, 1.0, True)]
)
def test_who_asks_for_more_similarity_asks_for_it_of_prose_too(prose: int, min_similarity: float, found: bool):
    asked = replace(OTHER, prose=_sketched(200, 256, changed=prose, size=256))
    verdict = _judge(FIRST, asked, min_similarity=min_similarity)
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
    assert _judge(FIRST, OTHER, min_around=min_around).is_duplicate == found


def test_without_verification_there_is_no_article_rule():
    comparison = RULE.compare(FIRST, OTHER)
    assert comparison.same_article
    loose = replace(RULE, min_similarity=0).compare(FIRST, OTHER)
    assert (loose.is_near_duplicate, loose.same_article, loose.similarity) == (True, False, 0)


def test_the_more_similar_of_an_article_and_a_content_is_the_original():
    content = replace(OTHER, url="http://example.org/content", content_sketch=_full(512, empty=15), text_digest=b"c" * 16)
    article = replace(OTHER, prose=_sketched(200, 256, changed=3, size=256))
    verdict = Detector(_store(content, article)).admit(FIRST)
    assert (verdict.original, verdict.reason) == (article.url, "same article")
    verdict = Detector(_store(content, replace(article, prose=_sketched(200, 256, changed=20, size=256)))).admit(FIRST)
    assert (verdict.original, verdict.reason) == (content.url, "near-duplicate")


# ---- what that means for pages


def _news(sentences: int, *, box: int, seed: int, day: int = 12) -> PageFingerprint:
    """Return a page of prose and, within the same element, a date and a box of links; menu and sidebar by the seed."""
    article = f"<h1>The harbour</h1><p>{day} May 2024, {day}:30</p>{_paragraphs(english(sentences))}"
    return _page(site_page(f"{article}<h3>More</h3>{link_list(12, seed=box)}<aside><p>{english(12, 50 + seed)}</p></aside>", seed=seed))


ROWS = ("eth0 wlan0 10.0.2.15 netmask", "sda1 sdb2 ext4 /var/lib mount")


def _manual(text: str, row: str) -> str:
    """Return a topic of a manual, one row of whose table says something else than that of the next topic."""
    return f"<h1>北方 North</h1>{_paragraphs(text)}{table(8, changed=row)}"


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{line}</p>" for line in text.splitlines())


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
    return _page(f"<html><body><div>{_paragraphs(lines)}</div><div><h4>{heading}</h4>{link_list(entries)}</div></body></html>")


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
    pages = [_page(site_page(f"<h1>The harbour</h1>{_paragraphs(english(40, seed))}", seed=4)) for seed in (1, 2)]
    assert pages[0].around == pages[1].around
    assert not rule.compare(*pages).is_near_duplicate


@pytest.mark.parametrize("make", [english, chinese])
def test_one_row_of_a_table_tells_two_pages_of_a_manual_apart(make: Callable[[int], str]):
    rule = replace(RULE, max_distance=64)
    pages = [_page(f"<html><body>{_manual(make(12), row)}</body></html>") for row in ROWS]
    assert not rule.compare(*pages).is_near_duplicate
    assert rule.compare(pages[0], replace(pages[0], text_digest=bytes(16))).is_near_duplicate


@pytest.mark.parametrize("make", [english, chinese])
def test_one_row_of_a_table_tells_two_pages_apart_whose_equal_surroundings_are_many(make: Callable[[int], str]):
    before, after = (_page(site_page(_manual(make(12), row))) for row in ROWS)
    assert before.around == after.around
    assert before.links == after.links
    assert not RULE.compare(before, after).is_near_duplicate


@pytest.mark.parametrize("make", [english, chinese])
def test_two_tables_tell_two_pages_apart_whose_equal_surroundings_are_many(make: Callable[[int], str]):
    rule = replace(RULE, max_distance=64)
    before, after = (_page(site_page(_manual(make(12), row) + table(2, changed=f"{row} {row} ro"))) for row in ROWS)
    assert before.around == after.around
    assert before.around.units >= RULE.min_around
    assert not rule.compare(before, after).is_near_duplicate


def test_what_stands_around_the_content_makes_no_difference():
    article = f"<h1>The harbour</h1>{_paragraphs(english(20))}"
    a, b = (_page(site_page(article, seed=seed)) for seed in (1, 2))
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
    verdict = _judge(stored, asked, recipe="manku2007")
    assert (verdict.kind, verdict.similarity) == (Kind.NEAR_DUPLICATE, None)
    assert verdict.distance is not None
    assert verdict.distance <= 3


# ---- which original


def test_the_most_similar_original_is_named():
    store = _store(_like(1, bits=0, registers=15), _like(2, bits=5, registers=5), _like(3, bits=2, registers=10))
    assert Detector(store).admit(BASE).original == "http://example.org/2"


def test_among_equally_similar_originals_the_nearest_is_named():
    store = _store(_like(1, bits=5, registers=5), _like(2, bits=1, registers=5), _like(3, bits=3, registers=5))
    assert Detector(store).admit(BASE).original == "http://example.org/2"


def test_among_equal_originals_the_first_seen_is_named():
    store = _store(*(_like(number, bits=1, registers=5) for number in (3, 1, 2)))
    assert Detector(store).admit(BASE).original == "http://example.org/3"


def test_an_exact_copy_is_named_before_a_nearer_fingerprint():
    store = _store(_like(1, registers=1), replace(_like(2, bits=40), text_digest=BASE.text_digest))
    verdict = Detector(store).admit(BASE)
    assert (verdict.original, verdict.kind) == ("http://example.org/2", Kind.EXACT_DUPLICATE)


@pytest.mark.parametrize(("decoys", "kind"), [(255, Kind.NEAR_DUPLICATE), (256, Kind.ADMITTED)])
def test_at_most_256_candidates_are_verified(decoys: int, kind: Kind):
    store = _store(*(_like(number, registers=400) for number in range(1, decoys + 1)), _like(1000, bits=1))
    assert Detector(store).admit(BASE).kind is kind


# ---- actions and outlinks

IDENTICAL, ALIKE, LESS_ALIKE = _like(1, bits=64), _like(1, registers=8), _like(1, registers=20)
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
    verdicts = [_judge(BASE, asked, action=action, outlinks=outlinks) for asked in (IDENTICAL, ALIKE, LESS_ALIKE)]
    assert [verdict.is_duplicate for verdict in verdicts] == [True, True, True]
    assert tuple(verdict.drop_outlinks for verdict in verdicts) == dropped
    assert {verdict.drop_page for verdict in verdicts} == {action in ("drop", "drop-items")}


def test_a_similarity_that_reaches_a_threshold_passes_it():
    similarity = RULE.compare(BASE, LESS_ALIKE).similarity
    assert similarity is not None
    verdict = _judge(BASE, LESS_ALIKE, min_similarity=similarity, outlinks=similarity)
    assert (verdict.kind, verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, True)
    above = similarity + 1e-9
    assert _judge(BASE, LESS_ALIKE, min_similarity=above).kind is Kind.ADMITTED
    assert not _judge(BASE, LESS_ALIKE, outlinks=above).drop_outlinks


@pytest.mark.parametrize(("outlinks", "dropped"), [("drop", True), (0.5, False), (0.98, False), (1.0, False), ("follow", False)])
def test_prose_that_agrees_does_not_drop_outlinks(outlinks: float | str, dropped: bool):
    # What makes two pages one article is that the rest differs, links among it.
    verdict = _judge(FIRST, OTHER, outlinks=outlinks)
    assert (verdict.kind, verdict.similarity, verdict.drop_page, verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, 1, True, dropped)


@pytest.mark.parametrize(
    ("outlinks", "same", "other"), [("drop", True, True), (0.98, True, False), (1.0, True, False), ("follow", False, False)]
)
def test_identical_text_with_other_links_keeps_its_outlinks(outlinks: float | str, same: bool, other: bool):
    for links, dropped in ((BASE.links_digest, same), (b"x" * 8, other)):
        asked = replace(IDENTICAL, links_digest=links)
        comparison = RULE.compare(BASE, asked)
        assert (comparison.identical_text, comparison.identical_links) == (True, links == BASE.links_digest)
        verdict = _judge(BASE, asked, outlinks=outlinks)
        assert (verdict.kind, verdict.reason, verdict.drop_page) == (Kind.EXACT_DUPLICATE, "identical text", True)
        assert verdict.drop_outlinks == dropped


@pytest.mark.parametrize(("links", "dropped"), [(BASE.links_digest, True), (b"x" * 8, False), (UNKNOWN, False)])
def test_an_identical_body_drops_its_outlinks_where_they_lead_to_the_same_pages(links: bytes, dropped: bool):
    verdict = _judge(BASE, replace(BASE, url="http://mirror.example/b", links_digest=links), outlinks=1.0)
    assert (verdict.reason, verdict.drop_outlinks) == ("identical body", dropped)


def test_links_that_nobody_looked_at_are_not_the_same():
    a, b = (replace(made, links_digest=UNKNOWN) for made in (BASE, IDENTICAL))
    assert not RULE.compare(a, b).identical_links
    assert not _judge(a, b, outlinks=1.0).drop_outlinks
    assert _judge(a, b, outlinks="drop").drop_outlinks


def test_outlinks_follow_the_recipe_where_nothing_is_said():
    assert [_judge(BASE, asked).drop_outlinks for asked in (IDENTICAL, _like(1), ALIKE, LESS_ALIKE)] == [False] * 4


@pytest.mark.parametrize(("outlinks", "dropped"), [(DROP_OUTLINKS, True), (0.5, False), (1.0, False), (FOLLOW_OUTLINKS, False)])
def test_without_sketches_only_a_threshold_of_zero_drops_the_outlinks_of_a_near_copy(outlinks: float, dropped: bool):
    rule = replace(RULE, min_similarity=0, outlinks=outlinks)
    parts: dict[str, Any] = {"content_sketch": b"", "prose": NO_PART, "links": NO_PART, "around": NO_PART}
    verdict = _store(replace(BASE, **parts)).admit(replace(_like(1), **parts), rule)
    assert (verdict.similarity, verdict.drop_outlinks) == (None, dropped)


def test_a_page_that_must_not_be_dropped_is_judged_and_kept():
    store = _store(BASE)
    admission = Detector(store).claim(_like(1), never_drop=True)
    assert admission.claim
    assert (admission.verdict.kind, admission.verdict.drop_page, admission.verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, False, False)


def test_a_copy_is_not_recorded_and_an_admitted_page_is():
    store = _store(BASE)
    Detector(store).admit(_like(1))
    assert store.page("http://example.org/1") is None
    Detector(store).admit(_like(2, bits=30))
    assert store.page("http://example.org/2")


@pytest.mark.parametrize("make", [lambda number: _like(number, registers=number), lambda number: replace(BASE, url=f"http://x/{number}")])
def test_the_first_copies_of_a_cluster_are_kept(make: Any):
    detector = Detector(_store(BASE), copies_kept=3)
    verdicts = [detector.admit(make(number)) for number in range(1, 5)]
    assert [verdict.drop_page for verdict in verdicts] == [False, False, True, True]
    assert all(verdict.is_duplicate for verdict in verdicts)


@pytest.mark.parametrize(("days", "found"), [(0, True), (1, False), (2, True), (20_000, True)])
def test_pages_not_seen_for_long_are_no_originals_any_more(days: float, found: bool):
    rule = replace(RULE, expire_days=days)
    store = _store(BASE)
    with store._view() as view:
        decision = rule.decide(_like(1), view, now=view.page(ORIGINAL).last_seen + 2 * 86_400)  # type: ignore[union-attr]  # it is there
    assert decision.verdict.is_duplicate == found


@pytest.mark.parametrize(("days", "kind"), [(0, Kind.REVISITED), (1, Kind.NEAR_DUPLICATE), (3, Kind.REVISITED)])
def test_a_page_not_seen_for_long_is_judged_as_if_it_were_new(days: float, kind: Kind):
    store = _store(BASE)
    other = _like(1)
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
    same = _judge(stored, replace(stored, url="http://x/b"))
    assert (same.kind, same.original, same.drop_page) == (Kind.EXACT_DUPLICATE, ORIGINAL, True)
    other = _judge(stored, fingerprint_page(page("five words of main text") + "\n", url="http://x/b"))
    assert (other.kind, other.reason) == (Kind.SKIPPED, "short")


def test_empty_pages_are_never_copies():
    stored = fingerprint_page("<html><body><div id='app'></div><script src='/app.js'></script></body></html>", url=ORIGINAL)
    verdict = _judge(stored, replace(stored, url="http://x/b"))
    assert (verdict.kind, verdict.reason, verdict.drop_page) == (Kind.SKIPPED, "empty", False)


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason is not Reason.EMPTY])
def test_any_other_page_without_a_fingerprint_can_be_an_exact_copy(reason: Reason):
    stored = Abstention(url=ORIGINAL, recipe=BASE.recipe, seed=0, body_digest=bytes(16), reason=reason)
    assert _judge(stored, replace(stored, url="http://x/b")).reason == "identical body"
    assert _judge(stored, replace(stored, url="http://x/b", body_digest=b"x" * 16)).reason == reason.value


# ---- scope


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org/a", "example.org"),
        ("https://www.shop.example.org:8443/a?b", "example.org"),
        ("http://news.example.co.uk/", "example.co.uk"),
        ("http://WWW.Example.ORG/", "example.org"),
        ("http://a.example.github.io/", "example.github.io"),
        ("http://example.blogspot.com/", "example.blogspot.com"),
        ("http://github.io/", "github.io"),
        ("http://192.168.1.10/x", "192.168.1.10"),
        ("http://localhost/x", "localhost"),
        ("http://例え.テスト.jp/", "テスト.jp"),
        ("no url", ""),
        ("", ""),
    ],
)
def test_the_site_of_a_url(url: str, expected: str):
    assert site(url) == expected


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
    for copy in (_like(1, url=asked), replace(BASE, url=asked)):
        stored = replace(BASE, url=original)
        assert _judge(stored, copy, scope="site").is_duplicate == found
        assert _judge(stored, copy, scope="all").is_duplicate


def test_scope_site_finds_the_original_behind_those_of_other_sites():
    store = _store(*(_like(number, url=f"http://other{number}.example/") for number in range(1, 10)), BASE)
    assert Detector(store, scope="site").admit(_like(100, bits=3)).original == ORIGINAL


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
    for copy in (_like(1, url=asked), replace(BASE, url=asked), replace(ABSTAINING, url=asked)):
        stored = replace(ABSTAINING if copy.body_digest == ABSTAINING.body_digest else BASE, url=original)
        assert _judge(stored, copy, trusted_hosts=["www.trusted.example", "also.example"]).is_duplicate == found
        assert _judge(stored, copy).is_duplicate


def test_the_original_on_a_trusted_host_is_found_behind_nearer_ones():
    store = _store(*(_like(number, url=f"http://other{number}.example/") for number in range(1, 10)), BASE)
    assert Detector(store, trusted_hosts=["example.org"]).admit(_like(100, bits=3, url="http://example.org/b")).original == ORIGINAL


# ---- what stands beside equal contents


def _with_beside(url: str, units: int, *, content: int = 100, own: int = 0, seed: int = 0) -> PageFingerprint:
    """Return a page with so many units beside its content, `own` more of which no other page has."""
    hashes = np.random.default_rng(0).integers(0, 2**64, units, dtype=np.uint64)
    others = np.random.default_rng(1 + seed).integers(0, 2**64, own, dtype=np.uint64)
    part = Part(units + own, sketch(np.concatenate((hashes, others)), 4096))
    return replace(_page(page(TEXT), url), units=content, beside=part, text_digest=url.encode()[-16:].rjust(16))


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
    ("url", "host"),
    [
        ("http://Example.ORG:8080/a", "example.org"),
        ("https://user:secret@www.example.org?q=http://elsewhere/", "www.example.org"),
        ("http://[::1]:80#fragment", "::1"),
        ("//example.org", "example.org"),
        ("POST http://example.org:80/a b", "example.org"),
        ("http://[broken/a", ""),
        ("/a//b", ""),
        ("mailto:somebody", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_url(url: str, host: str):
    assert host_of(url) == host


def test_www_and_the_scheme_make_no_other_host():
    assert of_one_host("http://www.example.org/", "https://example.org/a")
    assert not of_one_host("http://example.org/", "http://mirror.example.org/")
    assert not of_one_host("POST http://example.org/", "POST http://example.net/")
    assert site("POST http://a.example.org/") == site("http://example.org/") != site("POST http://example.net/")


# ---- many candidates


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.booleans(), st.sampled_from([0, 99, 200])), min_size=1, max_size=12))
def test_no_copy_is_passed_over_where_candidates_are_many(changes: list[tuple[int, int, bool, int]]):
    others = []
    # Pages of one text have been found before, whatever their sketches are.
    for number, (content, prose, surrounded, units) in enumerate(changes, 100):
        own: dict[str, Any] = {"content_sketch": _full(512, empty=content), "prose": _sketched(units, PROSE, changed=prose, size=PROSE)}
        others.append(replace(OTHER if surrounded else FIRST, url=f"http://x/{number}", text_digest=number.to_bytes(16, "big"), **own))
    candidates = [StoredPage(other, 0, 0) for other in others]
    for asked in (FIRST, replace(FIRST, prose=replace(FIRST.prose, units=99))):
        alike = list(RULE._alike(asked, candidates)[0])
        assert [
            other.url for other in others if RULE.compare(asked, other).is_near_duplicate and StoredPage(other, 0, 0) not in alike
        ] == []


def test_candidates_are_counted_and_so_are_decisions_that_stop_at_the_most():
    store = _store(*(_like(number, registers=400) for number in range(1, 301)))
    store.candidates.clear()
    assert Detector(store).admit(_like(1000, bits=1)).kind is Kind.ADMITTED
    assert Detector(store).admit(_like(1001, bits=40)).kind is Kind.ADMITTED
    assert store.candidates == {"decisions": 2, "compared": 256, "at_cap": 1}


# ---- what stands beside


def _commit(message: str, path: str) -> PageFingerprint | Abstention:
    lines = english(200).splitlines()
    about = "".join(f"<p>{line}</p>" for line in english(12, seed=9).splitlines()) if message else ""
    body = f"<div>{message}{about}</div><div>{''.join(f'<p>{line}</p>' for line in lines)}</div>"
    return fingerprint_page(f"<html><head><title>A project</title></head><body>{body}</body></html>", url=f"http://a.test/{path}")


@pytest.mark.parametrize("first", ["diff", "commit"])
def test_what_a_page_says_beside_its_contents_is_not_lost_with_it(first: str):
    pages = {"diff": _commit("", "diff"), "commit": _commit("<p>A message</p>", "commit")}
    assert isinstance(pages["diff"], PageFingerprint)
    assert isinstance(pages["commit"], PageFingerprint)
    assert simcrawl.compare(pages["diff"], pages["commit"]).is_near_duplicate
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(pages.pop(first))
        # The difference alone is a copy of the commit with its message, and not the other way round.
        assert detector.admit(*pages.values()).is_duplicate == (first == "commit")


def test_where_fingerprints_alone_decide_what_stands_beside_keeps_no_page():
    diff, commit = _commit("", "diff"), _commit("<p>A message</p>", "commit")
    with open_store("memory:") as store:
        detector = Detector(store, min_similarity=0)
        detector.admit(diff)
        assert detector.admit(commit).is_duplicate


def _adding(path: str, more: str = "", *, edited_words: int = 0) -> PageFingerprint:
    text = edited(english(150), edited_words) if edited_words else english(150)
    return _page(page(f"{text}\n{more}" if more else text), path)


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
    short, long = _adding("http://a.test/1"), _adding(url, english(sentences, seed=7))
    assert simcrawl.compare(short, long).is_near_duplicate
    assert _judge(short, long).is_duplicate == (not kept)
    # Nothing is lost the other way round.
    assert _judge(long, short).is_duplicate


def test_a_paragraph_in_which_a_word_differs_is_none_that_one_page_has_more():
    assert _judge(_adding("http://a.test/1"), _adding("http://a.test/2", edited_words=1)).is_duplicate


def test_a_page_of_another_recipe_has_no_prose_to_lose():
    short, more = _adding("http://a.test/1"), _adding("http://a.test/2", english(4, seed=7))
    assert more.units - short.units < 40
    assert _judge(replace(short, prose=NO_PART), more).is_duplicate
    # Its content tells, where it has more of that.
    assert not _judge(replace(short, prose=NO_PART), _adding("http://a.test/2", english(6, seed=7))).is_duplicate


def _in_one_block(tag: str, url: str, more: str = "", *, edits: int = 0) -> PageFingerprint:
    lines = (edited(english(150), edits) if edits else english(150)).splitlines()
    text = "\n".join([*lines[:10], *more.splitlines(), *lines[10:]])
    return _page(f"<html><head><title>Terms</title></head><body><h1>Terms</h1><{tag}>{text}</{tag}></body></html>", url)


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
    assert _judge(short, long).is_duplicate == (not kept)
    assert _judge(long, short).is_duplicate


def _members(own: int, url: str) -> PageFingerprint:
    inherited = [f"{verb}{noun}" for verb in ("Get", "Set", "Is", "Has", "Add", "Del", "Map", "Put") for noun in english(10).split()[:26]]
    rows = "".join(f"<tr><td></td><td><a href={number}.html>{name} {number}</a></td></tr>" for number, name in enumerate(inherited))
    new = "".join(f"<tr><td></td><td><a href=n{number}.html>Own {number}</a></td></tr>" for number in range(own))
    return _page(f"<html><head><title></title></head><body><table>{new}{rows}</table></body></html>", url)


@pytest.mark.parametrize(("own", "kept"), [(1, False), (8, True)])
def test_a_list_that_has_all_of_another_one_and_more_is_kept(own: int, kept: bool):
    inherited, more = _members(0, "http://a.test/base"), _members(own, "http://a.test/derived")
    assert simcrawl.compare(inherited, more).is_near_duplicate
    assert _judge(inherited, more).is_duplicate == (not kept)
    assert _judge(more, inherited).is_duplicate


# ---- what search engines are to leave alone


def _version(text: str, path: str, *, noindex: bool) -> PageFingerprint:
    robots = "<meta name=robots content=noindex>" if noindex else ""
    html = f"<html><head><title>Harbours</title>{robots}</head><body><h1>Harbours</h1>{page(text)}</body></html>"
    return _page(html, f"http://wiki.test/{path}")


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


def test_where_fingerprints_alone_decide_it_does_not_matter_who_is_to_be_left_alone():
    with open_store("memory:") as store:
        detector = Detector(store, min_similarity=0)
        detector.admit(_version(TEXT, "w?oldid=7", noindex=True))
        assert detector.admit(_version(f"{TEXT}\n{_SECTION}", "Harbours", noindex=False)).is_duplicate


# ---- records


def _viewed(line: str, path: str) -> PageFingerprint:
    return _page(page(f"{line}\n{english(12)}"), f"http://a.test/{path}")


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


@pytest.mark.parametrize("template", records.TEMPLATES)
def test_whether_a_page_is_a_copy_is_what_the_comparison_says(template: str):
    made = [record for kind in ("media types", "named characters") for record in islice(records.KINDS[kind](), 8)]
    text = records._text(200)
    views = [("id", "<nav>Home</nav>"), ("print", "")]
    pages = [
        _page(records.TEMPLATES[template](record, next(iter(record.values())), text, menu=menu), f"http://{host}.org/{view}/{number}")
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


# Above the contents, where the title does not name it, the line may be one of the site's that changes at each visit.
@pytest.mark.parametrize("template", [template for template in WITH_VALUES if template != "above"])
def test_of_records_of_one_value_below_a_longer_text_one_at_most_is_taken_for_another(template: str):
    wrong, found, copies = records.lost("media types", template, 400, most=30, one_value=True)
    # With its print view.
    assert wrong <= 2
    assert found >= copies - 1


def _noted(path: str, *lines: str, text: str = english(20)) -> PageFingerprint:
    rows = "".join(f"<tr><td>{line}</td></tr>" for line in lines)
    paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
    html = f"<html><head><title>Lots</title></head><body><h1>Lots</h1><table>{rows}</table>{paragraphs}</body></html>"
    return _page(html, f"http://a.test/lots?{path}")


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
    assert not detector.admit(_noted("none", "A lot")).is_duplicate
    assert detector.admit(_noted("first", "A lot", *first)).is_duplicate
    admission = detector.claim(_noted("second", "A lot", *second))
    assert admission.verdict.is_duplicate != is_another
    assert admission.mistaken == (("http://a.test/lots?first",) if is_another else ())


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
        return _page(html, f"http://a.test/boats?{name}")

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
    pages = [_page(_EVENING.format(line.format(*two), english(60)), f"http://a.test/{number}") for number, two in enumerate(values)]
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
    pages = [_page(f"<title>Notice</title><main><h1>Notice</h1>{one}</main>", f"http://a.test/{number}") for number, one in enumerate(made)]
    first, _, third = (detector.admit(one).is_duplicate for one in pages)
    # Of the second one nobody can tell. A crawl asks for it again, see below.
    assert (first, third) == (False, False)


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
    pages = [_page(html, f"http://a.test/{number}") for number, html in enumerate(texts)]
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
    pages = [_page(html, f"http://a.test/{number}") for number, html in enumerate(texts)]
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
    pages = [_page(_EVENING.format(line, english(60)), f"http://a.test/{url}") for url, line in zip(urls, lines, strict=True)]
    assert sum(not detector.admit(one).is_duplicate for one in pages) == kept


def test_the_records_most_like_a_page_tell_that_it_is_another_one(tmp_path: Path):
    """Below one long text pages of another series are as near, and there are more of them than are asked."""
    text = english(100, seed=3)
    words, paragraphs = sorted(set(text.split())), [f"<p>{line}</p>" for line in text.splitlines()]
    template = "<title>Museum</title><h1>Museum</h1><div>{}</div>{}"
    votes = [[(word, "no" if place in (number, number + 2) else "yes") for place, word in enumerate(words[:26])] for number in range(20)]
    tables = ["<table>" + "".join(f"<tr><td>{word}<td>{vote}" for word, vote in call) + "</table>" for call in votes]
    lines = [f"Material: {words[3]}<br>Found: {words[5]}<br>Inventory: 1920.44.{number}" for number in range(12)]
    objects = [_page(template.format(line, "".join(paragraphs)), f"http://a.test/objects/{number}") for number, line in enumerate(lines)]
    shorter = "".join(paragraphs[:-2])
    calls = [_page(template.format(table, shorter), f"http://a.test/calls/{number}") for number, table in enumerate(tables)]
    assert hamming_distance(calls[0].fingerprint, objects[0].fingerprint) <= 2
    # Which pages are how near is chance.
    others = [replace(call, fingerprint=objects[0].fingerprint) for call in calls]
    assert _kept_by_another_process(tmp_path, [*others, *objects[:6]], objects[6:]) == 6


def test_stored_pages_tell_that_a_paragraph_is_one_of_many(tmp_path: Path):
    """Long entries are told apart by their sentences. A short one is near some of them, and none was dropped before it."""
    text = "".join(f"<p>{line}</p>" for line in english(40, seed=3).splitlines())
    entries = [f"<p>{english(2, seed)}</p>" for seed in range(10, 16)] + ["<p>Noun. Of the old harbour.</p>", "<p>Verb. To sail past.</p>"]
    pages = [
        _page(f"<title>Lexicon</title><h1>Lexicon</h1>{entry}{text}", f"http://a.test/word/{number}")
        for number, entry in enumerate(entries)
    ]
    assert _kept_by_another_process(tmp_path, pages[:6], pages[6:]) == 2


def test_two_series_below_one_text_do_not_take_each_other_with_them(tmp_path: Path):
    """A word is near the room of its number each time: no two were dropped as copies of one page, and the addresses end alike."""
    text = "".join(f"<p>{line}</p>" for line in english(60, seed=3).splitlines())
    page = f"<title>House</title><main><h1>House</h1>{{}}{text}</main>"
    facts = "<dl><dt>Beds<dd>2<dt>View<dd>sea<dt>Number<dd>{}</dl>"
    rooms = [_page(page.format(facts.format(100 + number)), f"http://a.test/room/{number}") for number in range(10)]
    words = [_page(page.format(f"<p>{english(2, number)}</p>"), f"http://a.test/word/{number}") for number in range(10)]
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


def test_addresses_of_any_length_are_compared_in_no_time():
    url = "http://a.test/quiz"
    assert not _is_view(url, f"{url}?{'a1' * 50_000}333")
    assert _is_view(f"{url}?{'a1' * 50_000}", url)


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
    pages = [_page(html, f"http://a.test/{number}") for number, html in enumerate(texts)]
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
    verdicts = [detector.admit(_page(html, f"http://a.test/jobs?{number}")) for number, html in enumerate(pages)]
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
    pages = [_noted(str(number), "Chair", "Oak", *lines, text=english(40)) for number, lines in enumerate((["Green"], second, third))]
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
        verdicts.append(detector.admit(_page(html, f"http://a.test/{number}/features.html")))
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
    verdicts = [detector.admit(_page(html, f"http://a.test/notices?{number}")) for number, html in enumerate(htmls)]
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept


_NAMES = (
    "Ann",
    "Bo",
    "Cy",
    "Dee",
    "Eli",
    "Fay",
    "Gus",
    "Hal",
    "Ivy",
    "Jo",
    "Kim",
    "Lou",
    "Mo",
    "Nan",
    "Ona",
    "Pat",
    "Ray",
    "Sue",
    "Tom",
    "Una",
)


def _votes(against: int, order: int = 1) -> str:
    """Return a roll call of twenty names, in which the names at three places from `against` on said no."""
    said = {name: "no" if against <= place < against + 3 else "yes" for place, name in enumerate(_NAMES)}
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
        verdicts.append(detector.admit(_page(html, f"http://a.test/calls?{number}")))
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept


def test_the_same_cells_in_other_rows_are_no_article_in_other_surroundings():
    text, menu = f"<p>{english(40)}</p>", f"<nav>{link_list(60)}</nav>"
    everybody = [f"{name} {surname}" for surname in ("Miller", "Hay", "Lund") for name in _NAMES]
    calls = [
        "".join(f"<tr><td>{name}</td><td>{'no' if name[0] in against else 'yes'}</td></tr>" for name in everybody)
        for against in ("ABCDE", "FGHIJ")
    ]
    one, other = (_page(f"<title>Call</title>{menu}<main><h1>Call</h1><table>{call}</table>{text}</main>") for call in calls)
    result = RULE.compare(one, other)
    assert (result.is_near_duplicate, result.same_article) == (False, False)
    # Sorted by another column it is the same list.
    rows = [row + "</tr>" for row in calls[0].split("</tr>") if row]
    again = _page(f"<title>Call</title>{menu}<main><h1>Call</h1><table>{''.join(rows[::-1])}</table>{text}</main>")
    assert RULE.compare(one, again).is_near_duplicate


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
    verdicts = [detector.admit(_page(html, f"http://a.test/words?{number}")) for number, html in enumerate(htmls)]
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
    verdicts = [detector.admit(_page(html, f"http://a.test/?id={number}")) for number, html in enumerate(htmls)]
    assert [number for number, verdict in enumerate(verdicts) if not verdict.is_duplicate] == kept
    assert detector.admit(_page(htmls[0], "http://a.test/print?id=0")).original == "http://a.test/?id=0"


def test_what_has_shown_it_and_does_not_come_out_takes_nothing_along():
    detector = Detector(open_store("memory:"))
    assert not detector.admit(_noted("none", "A lot")).is_duplicate
    assert detector.admit(_noted("red", "A lot", "Red")).is_duplicate
    claim = detector.claim(_noted("blue", "A lot", "Blue")).claim
    assert claim
    claim.withdraw()
    assert not detector.admit(_noted("blue-2", "A lot", "Blue")).is_duplicate
    assert detector.admit(_noted("blue-3", "A lot", "Blue")).original == "http://a.test/lots?blue-2"


def test_records_that_are_stored_tell_as_much_as_those_that_were_dropped():
    none, blue, green = (_noted(name, "A lot", *values) for name, values in (("none", ()), ("blue", ("Blue",)), ("green", ("Green",))))
    assert _judge(none, green).is_duplicate
    assert not Detector(_store(none, blue)).admit(green).is_duplicate
    # Not of a page that stands there for another reason: it has a paragraph of its own.
    long = _noted("long", "A lot", "Blue", text=f"{english(20)}\n{english(8, seed=3)}")
    assert Detector(_store(none, long)).admit(green).is_duplicate


@pytest.mark.parametrize("action", ["observe", "drop-items", "drop-links"])
def test_who_only_observes_sees_what_a_crawl_would_do(action: str):
    detector = Detector(open_store("memory:"), action=action)
    pages = [_noted("none", "A lot"), *(_noted(line, "A lot", line) for line in ("Red", "Blue", "Green"))]
    assert [detector.admit(one).is_duplicate for one in pages] == [False, True, False, False]


def test_what_a_page_lacks_is_no_value_of_its_own():
    detector = Detector(open_store("memory:"))
    assert not detector.admit(_noted("all", "A lot", "Red", "Blue")).is_duplicate
    # Each of them says what the other one does not, and the first page says both.
    assert [detector.admit(_noted(line, "A lot", line)).is_duplicate for line in ("Red", "Blue")] == [True, True]


def test_a_sentence_more_is_a_value_too():
    detector = Detector(open_store("memory:"))
    assert not detector.admit(_noted("none", text=english(40))).is_duplicate
    notes = (
        "Cracked near its left handle, with repairs by an unknown hand from about 1890.",
        "Bought in Lyon as part of some larger estate, papers come along with this lot.",
        "Nobody has tried whether such clockwork still runs after sixty years of storage.",
    )
    pages = [_noted(note[:6], text=f"{english(40)}\n{note}") for note in notes]
    assert [detector.admit(one).is_duplicate for one in pages] == [True, False, False]


def test_where_fingerprints_alone_decide_copies_need_not_be_copies_of_each_other():
    detector = Detector(open_store("memory:"), min_similarity=0)
    assert not detector.admit(_noted("none", "A lot")).is_duplicate
    assert all(detector.admit(_noted(line, "A lot", line)).is_duplicate for line in ("Red", "Blue"))


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
    body = f"<main><table>{lines}</table>{_paragraphs(english(sentences))}</main><aside>{teasers}</aside>"
    return _page(f"<html><body><div><h1>The site</h1></div>{body}</body></html>", url=f"http://x.test/{seed}?id={seed}")


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


def _told(body: str, url: str, *, title: str = "Records", head: str = "") -> PageFingerprint:
    made = fingerprint_page(f"<html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>", url=url)
    assert isinstance(made, PageFingerprint)
    return made


_SHARED = "".join(f"<p>{line}, and so on and so forth until the line is as long as one</p>" for line in english(45).splitlines())
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
    made = [_told(body.format(value) + _SHARED, f"http://x/{value[:3]}") for value in (one, other)]
    assert not simcrawl.compare(*made).is_near_duplicate
    assert simcrawl.compare(made[0], replace(made[0], url="http://x/9")).is_near_duplicate


@pytest.mark.parametrize(("address", "same"), [("/line-{}.html", False), ("/{}/line.html", True)])
def test_a_number_of_two_digits_is_a_name_where_heading_title_and_address_have_it(address: str, same: bool) -> None:
    made = [_told(f"<h1>Bus line {line}</h1>{_SHARED}", f"http://x{address.format(line)}", title=f"Bus line {line}") for line in (10, 30)]
    assert simcrawl.compare(*made).is_near_duplicate == same
