from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.detector import Detector
from simcrawl.pages import Abstention, PageFingerprint, Reason, fingerprint_page
from simcrawl.recipes import DROP_OUTLINKS, FOLLOW_OUTLINKS, RECIPES
from simcrawl.rule import Kind, Rule, Verdict, site
from simcrawl.sketch import resemblance
from simcrawl.store import MemoryStore, open_store
from tests.samples import chinese, edited, english, link_list, page, site_page, table

if TYPE_CHECKING:
    from collections.abc import Callable

RULE = Rule.of(RECIPES["content"])
TEXT = english(400)
ORIGINAL = "http://example.org/original"


def _page(html: str, url: str = ORIGINAL) -> PageFingerprint:
    made = fingerprint_page(html, url=url)
    assert isinstance(made, PageFingerprint)
    return made


BASE = _page(page(TEXT))


def _like(number: int, *, bits: int = 0, registers: int = 0, prose: int = 256, url: str = "") -> PageFingerprint:
    """Return another page that differs from `BASE` in so many bits of the fingerprint and registers of the sketches.

    Unless told otherwise its prose is not the base's at all: content alone decides.
    """
    unlike = number.to_bytes(16, "big")
    return replace(
        BASE,
        url=url or f"http://example.org/{number}",
        fingerprint=BASE.fingerprint ^ (1 << bits) - 1,
        content_sketch=_changed(BASE.content_sketch, registers),
        prose_sketch=_changed(BASE.prose_sketch, prose),
        body_digest=unlike,
        text_digest=unlike,
    )


def _changed(sketch: bytes, registers: int) -> bytes:
    return bytes(255 - byte or 1 for byte in sketch[:registers]) + sketch[registers:]


def _store(*pages: PageFingerprint | Abstention) -> MemoryStore:
    """Return a store that has the pages, whether they are copies or not."""
    store = open_store("memory:")
    for stored in pages:
        claim = store.claim(stored, RULE, never_drop=True).claim
        assert claim
        claim.confirm()
    assert isinstance(store, MemoryStore)
    return store


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
    assert (verdict.distance, verdict.similarity, verdict.drop_page, verdict.drop_outlinks) == (0, 1, True, True)


def test_an_identical_text_in_other_mark_up_is_an_exact_copy():
    verdict = _judge(BASE, _page(page(TEXT, wrap="main", links=("/x",)), "http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.EXACT_DUPLICATE, "identical text", ORIGINAL)


@pytest.mark.parametrize("text", [english(80), chinese(80)])
def test_a_small_edit_is_a_near_copy(text: str):
    verdict = _judge(_page(page(text)), _page(page(edited(text, 1)), "http://example.org/b"))
    assert (verdict.kind, verdict.reason, verdict.original) == (Kind.NEAR_DUPLICATE, "near-duplicate", ORIGINAL)
    assert verdict.similarity is not None
    assert 0.94 <= verdict.similarity < 1


@pytest.mark.parametrize(("bits", "found"), [(0, True), (7, True), (8, False)])
def test_the_radius_is_the_recipe_s(bits: int, found: bool):
    assert _judge(BASE, _like(1, bits=bits)).is_duplicate == found


@pytest.mark.parametrize(("registers", "found"), [(0, True), (30, True), (31, False), (512, False)])
def test_verification_refuses_a_candidate_within_the_radius(registers: int, found: bool):
    asked = _like(1, registers=registers)
    assert _judge(BASE, asked).is_duplicate == found
    assert _judge(BASE, asked, min_similarity=0).is_duplicate


@pytest.mark.parametrize(("prose", "found"), [(0, True), (7, True), (8, False), (256, False)])
def test_nearly_equal_prose_suffices_whatever_stands_around_it(prose: int, found: bool):
    asked = _like(1, registers=512, prose=prose)
    comparison = RULE.compare(BASE, asked)
    assert (comparison.similarity, comparison.is_near_duplicate) == (0, found)
    assert _judge(BASE, asked).is_duplicate == found


@pytest.mark.parametrize("bits", [7, 8])
def test_equal_prose_outside_the_radius_is_no_near_copy(bits: int):
    assert RULE.compare(BASE, _like(1, bits=bits, registers=512, prose=0)).is_near_duplicate == (bits == 7)


@pytest.mark.parametrize("prose", [0, 256])
def test_equal_content_suffices_whatever_the_prose(prose: int):
    asked = _like(1, prose=prose)
    for other in (asked, replace(asked, prose_sketch=b"")):
        assert _judge(BASE, other).kind is Kind.NEAR_DUPLICATE
        assert RULE.compare(other, BASE) == RULE.compare(BASE, other)


def test_a_page_of_too_little_prose_is_judged_by_its_content_alone():
    asked = _like(1, registers=31, prose=0)
    without = replace(BASE, prose_sketch=b""), replace(asked, prose_sketch=b"")
    assert RULE.compare(BASE, asked).is_near_duplicate
    for a, b in ((without[0], asked), (BASE, without[1]), without):
        assert not RULE.compare(a, b).is_near_duplicate
        assert _judge(a, b).kind is Kind.ADMITTED


@pytest.mark.parametrize(
    ("prose", "min_similarity", "found"), [(7, 0.94, True), (7, 0.98, False), (3, 0.98, True), (1, 1.0, False), (0, 1.0, True)]
)
def test_who_asks_for_more_similarity_asks_for_it_of_prose_too(prose: int, min_similarity: float, found: bool):
    assert _judge(BASE, _like(1, registers=512, prose=prose), min_similarity=min_similarity).is_duplicate == found


def test_less_similarity_of_content_asks_for_no_less_of_prose():
    assert not _judge(BASE, _like(1, registers=512, prose=8), min_similarity=0.1).is_duplicate


def test_the_prose_threshold_is_the_recipe_s():
    asked = _like(1, registers=512, prose=100)
    for threshold, found in ((0.65, False), (0.55, True)):
        recipe = replace(RECIPES["content"], prose_similarity=threshold, min_similarity=0.5)
        assert Rule.of(recipe).compare(BASE, asked).is_near_duplicate == found


# ---- what that means for pages


def _news(sentences: int, box: int) -> PageFingerprint:
    """Return a page of prose and, within the same element, a box of links."""
    return _page(site_page(f"<h1>The harbour</h1>{_paragraphs(english(sentences))}<h3>More</h3>{link_list(12, seed=box)}"))


def _manual(text: str, row: str) -> PageFingerprint:
    """Return a page of a manual, one row of whose table says something else than that of the next page."""
    return _page(site_page(f"<h1>北方 North</h1>{_paragraphs(text)}{table(8, changed=row)}"))


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{line}</p>" for line in text.splitlines())


def test_a_news_page_whose_box_of_links_changed_is_a_copy_if_it_has_much_prose():
    much, little = (RULE.compare(_news(sentences, 1), _news(sentences, 2)) for sentences in (60, 30))
    assert much.similarity is not None
    assert much.similarity < 0.8
    assert much.distance == little.distance == 0
    assert (much.is_near_duplicate, little.is_near_duplicate) == (True, False)


@pytest.mark.parametrize("make", [english, chinese])
def test_one_row_of_a_table_tells_two_pages_of_a_manual_apart(make: Callable[[int], str]):
    rule = replace(RULE, max_distance=64)
    pages = [_manual(make(12), row) for row in ("eth0 wlan0 10.0.2.15 netmask", "sda1 sdb2 ext4 /var/lib mount")]
    assert not rule.compare(*pages).is_near_duplicate
    assert rule.compare(pages[0], replace(pages[0], text_digest=bytes(16))).is_near_duplicate


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
    assert plain.prose_sketch == other.prose_sketch == boxed.prose_sketch == b""
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


def test_prose_that_reaches_its_threshold_passes_it():
    asked = _like(1, registers=512, prose=5)
    similarity = resemblance(asked.prose_sketch, BASE.prose_sketch)
    for threshold, found in ((similarity, True), (similarity + 1e-9, False)):
        assert replace(RULE, prose_similarity=threshold).compare(BASE, asked).is_near_duplicate == found
        assert replace(RULE, min_similarity=threshold, prose_similarity=0.5).compare(BASE, asked).is_near_duplicate == found


@pytest.mark.parametrize("outlinks", [0.98, 1.0])
def test_prose_that_agrees_does_not_drop_outlinks(outlinks: float):
    verdict = _judge(BASE, _like(1, registers=512, prose=0), outlinks=outlinks)
    assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, True, False)


def test_outlinks_follow_the_recipe_where_nothing_is_said():
    assert [_judge(BASE, asked).drop_outlinks for asked in (IDENTICAL, _like(1), ALIKE, LESS_ALIKE)] == [True, False, False, False]


@pytest.mark.parametrize(("outlinks", "dropped"), [(DROP_OUTLINKS, True), (0.5, False), (1.0, False), (FOLLOW_OUTLINKS, False)])
def test_without_sketches_only_a_threshold_of_zero_drops_the_outlinks_of_a_near_copy(outlinks: float, dropped: bool):
    rule = replace(RULE, min_similarity=0, outlinks=outlinks)
    store = _store(replace(BASE, content_sketch=b"", prose_sketch=b""))
    verdict = store.admit(replace(_like(1), content_sketch=b"", prose_sketch=b""), rule)
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
        ("http://a.example.github.io/", "github.io"),
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
