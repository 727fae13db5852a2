from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

import simcrawl
from simcrawl.detector import Detector, compare
from simcrawl.errors import SettingError, StoreMismatchError
from simcrawl.page.features import Features
from simcrawl.page.fingerprint import UNKNOWN, Abstention, PageFingerprint, fingerprint_page
from simcrawl.page.hints import Hints
from simcrawl.page.recipes import RECIPES, Recipe
from simcrawl.rule import Kind, Rule
from simcrawl.store import open_store
from tests.samples import chinese, edited, english, extracted, page

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [english(40), english(150, seed=1), chinese(30), chinese(120, seed=1), f"{english(20)}\n{chinese(20)}"]


def _page(html: str, url: str = "http://x/", **options: Any) -> PageFingerprint:
    made = fingerprint_page(html, url=url, **options)
    assert isinstance(made, PageFingerprint)
    return made


def test_the_way_of_a_page_as_the_documentation_shows_it():
    detector = simcrawl.Detector(simcrawl.open_store("memory:"))
    first = detector.page(page(english()), url="http://x/a")
    assert detector.admit(first).kind is Kind.ADMITTED
    assert detector.admit(first).kind is Kind.REVISITED
    copy = detector.admit(detector.page(page(english(), wrap="main"), url="http://x/b"))
    assert (copy.kind, copy.original, copy.drop_page) == (Kind.EXACT_DUPLICATE, "http://x/a", True)
    assert detector.admit(detector.page(page(chinese()), url="http://x/c")).kind is Kind.ADMITTED


def test_a_store_of_another_extractor_goes_on_with_it_and_not_without(tmp_path: Path):
    options = {"extractor": "tests.samples.counting_extractor", "min_features": 10}
    for url, kind in (("http://x/a", Kind.ADMITTED), ("http://x/b", Kind.EXACT_DUPLICATE)):
        with open_store(tmp_path / "store") as store:
            detector = Detector(store, originals="store", **options)  # type: ignore[arg-type]
            assert detector.admit(detector.page(page(english()), url=url)).kind is kind
    with open_store(tmp_path / "store") as store, pytest.raises(SettingError, match="name that recipe"):
        Detector(store)


def test_a_body_that_is_known_is_not_extracted_again():
    detector = Detector(open_store("memory:", seed=5), extractor="tests.samples.counting_extractor")
    extracted.clear()
    first = detector.page(page(english()), url="http://x/a")
    detector.admit(first)
    again = detector.page(page(english()).encode(), url="http://x/b#part")
    assert extracted == ["http://x/a"]
    # Its links may lead elsewhere from there.
    assert isinstance(first, PageFingerprint)
    assert again == replace(first, url="http://x/b", links_digest=UNKNOWN)
    assert detector.admit(again).reason == "identical body"
    detector.page(page(english(), links=("/x",)), url="http://x/c")
    assert extracted == ["http://x/a", "http://x/c"]


def test_a_body_of_a_page_on_its_way_is_not_extracted_again_whatever_becomes_of_it():
    detector = Detector(open_store("memory:"), extractor="tests.samples.counting_extractor")
    extracted.clear()
    claim = detector.claim(detector.page(page(english()), url="http://x/a")).claim
    again = detector.page(page(english()), url="http://x/b")
    assert claim
    claim.withdraw()
    detector.page(page(english()), url="http://x/c")
    assert extracted == ["http://x/a"]
    assert detector.cascade == {"extracted": 1, "body_recent": 2}
    assert detector.claim(again).verdict.kind is Kind.ADMITTED


def test_a_body_that_comes_again_is_recent_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.detector._MOST_RECENT", 2)
    detector = Detector(open_store("memory:"))
    for seed in (0, 1, 0, 2, 0, 1):
        detector.page(page(english(20, seed=seed)))
    # 1 went when 2 came, for 0 had come again.
    assert detector.cascade == {"extracted": 4, "body_recent": 2}


def test_recent_bodies_are_forgotten_in_their_order_and_stored_ones_are_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.detector._MOST_RECENT", 2)
    detector = Detector(open_store("memory:"))
    for number in range(3):
        detector.page(page(english(20, seed=number)))
    detector.admit(detector.page(page(english(20, seed=3))))
    detector.page(page(english(20, seed=4)))
    detector.page(page(english(20, seed=5)))
    assert detector.cascade == {"extracted": 6}
    for seed in (5, 3, 0):
        detector.page(page(english(20, seed=seed)))
    assert detector.cascade == {"extracted": 7, "body_recent": 1, "body_stored": 1}


def test_what_stopped_a_page_in_another_crawl_is_not_recalled():
    store = open_store("memory:")
    strict = Detector(store, max_page_bytes=100)
    strict.admit(strict.page(page(english())))
    assert isinstance(Detector(store).page(page(english())), PageFingerprint)
    assert strict.page(page(english())).body_digest
    assert strict.cascade == {"extracted": 1, "body_recent": 1}


def test_pages_are_made_with_the_seed_and_limits_that_hold():
    detector = Detector(open_store("memory:", seed=9), max_page_bytes=200)
    large = detector.page(page(english()))
    assert isinstance(large, Abstention)
    assert (large.reason, large.seed) == ("too_large", 9)
    slow = Detector(open_store("memory:"), max_page_seconds=0.001).page(page(english(2000)))
    assert isinstance(slow, Abstention)
    assert slow.reason == "too_slow"


def test_a_page_of_another_seed_or_recipe_is_refused():
    detector = Detector(open_store("memory:", seed=1))
    with pytest.raises(StoreMismatchError, match=r"another seed than the store's: make it with detector\.page"):
        detector.admit(_page(page(english()), seed=2))
    with pytest.raises(StoreMismatchError, match="terms/3, not manku2007/4"):
        detector.admit(_page(page(english()), seed=1, recipe="manku2007"))


def test_a_detector_takes_the_recipe_that_its_store_was_made_with():
    assert Detector(open_store("memory:", recipe="manku2007")).recipe == RECIPES["manku2007"]
    assert Detector(open_store("memory:")).recipe == RECIPES["terms"]
    with pytest.raises(StoreMismatchError, match="manku2007"):
        Detector(open_store("memory:", recipe="manku2007"), recipe="content")


def test_a_crawl_that_names_its_store_s_recipe_goes_on_with_it(tmp_path: Path):
    found = []
    for number in (1, 2):
        with open_store(tmp_path / "store") as store:
            detector = Detector(store, recipe="content", originals="store")
            found.append(detector.admit(detector.page(page(english()), url=f"http://a.test/{number}")).is_duplicate)
            assert store.header.recipe == "content/4"
    assert found == [False, True]


def test_options_override_the_recipe_s_thresholds_without_changing_what_pages_mean():
    options: dict[str, Any] = {"max_distance": 3, "min_similarity": 0.5, "min_features": 5, "min_around": 9, "outlinks": 0.7}
    detector = Detector(open_store("memory:"), **options)
    assert detector.recipe == replace(RECIPES["terms"], **options)
    assert detector.recipe.identity == "terms/3"
    assert (detector.rule.max_distance, detector.rule.min_similarity, detector.rule.outlinks) == (3, 0.5, 0.7)
    assert (detector.rule.min_around, detector.rule.min_prose) == (9, 100)
    assert isinstance(detector.page(page(english(2))), PageFingerprint)


def test_an_option_of_zero_is_an_option():
    detector = Detector(open_store("memory:"), max_distance=0, min_similarity=0, min_features=0, min_around=0, outlinks=0)
    assert (detector.rule.max_distance, detector.rule.min_similarity, detector.rule.outlinks) == (0, 0, 0)
    assert (detector.recipe.min_features, detector.rule.min_around) == (0, 0)


@pytest.mark.parametrize(("outlinks", "value"), [("drop", 0), ("follow", 2), (0.98, 0.98), ("0.98", 0.98), (1, 1)])
def test_outlinks_by_name_or_by_similarity(outlinks: float | str, value: float):
    assert Detector(open_store("memory:"), outlinks=outlinks).rule.outlinks == value


@pytest.mark.parametrize(
    "wrong",
    [
        {"outlinks": "dropp"},
        {"outlinks": 1.5},
        {"action": "dorp"},
        {"scope": "host"},
        {"copies_kept": 0},
        {"expire_days": -1},
        {"max_distance": -1},
        {"max_distance": 65},
        {"min_similarity": 92},
        {"min_around": -1},
        {"max_page_bytes": 0},
        {"recipe": "nonsense"},
        {"extractor": "tests.samples.absent"},
    ],
)
def test_an_option_that_cannot_work_is_refused_by_its_value(wrong: dict[str, Any]):
    with pytest.raises(SettingError, match=str(*wrong.values())):
        Detector(open_store("memory:"), **wrong)


def test_seconds_are_counted_by_stage():
    detector = Detector(open_store("memory:"))
    detector.claim(detector.page(page(english(200))))
    assert all(seconds > 0 for seconds in detector.seconds.values())
    assert detector.seconds.keys() == {"recall", "extract", "fingerprint", "store"}


# ---- compare


@given(
    st.sampled_from(TEXTS),
    st.integers(0, 40),
    st.integers(0, 40),
    st.integers(0, 10**6),
    st.sampled_from(["terms", "content", "main", "manku2007"]),
)
def test_two_pages_compare_as_a_crawl_decides(text: str, edits_a: int, edits_b: int, seed: int, recipe: str):
    a = _page(page(edited(text, edits_a, seed)), "http://x/a", recipe=recipe)
    b = _page(page(edited(text, edits_b, seed + 1)), "http://x/b", recipe=recipe)
    store = open_store("memory:")
    store.admit(a)
    verdict, result = store.admit(b), compare(a, b)
    assert compare(b, a) == result
    assert verdict.is_duplicate == result.is_near_duplicate
    assert (verdict.kind is Kind.EXACT_DUPLICATE) == (result.identical_text or a.body_digest == b.body_digest)
    if verdict.is_duplicate:
        assert (verdict.distance, verdict.similarity) == (result.distance, result.similarity)


def test_edits_of_a_text_pass_from_copies_to_pages_of_their_own():
    start = _page(page(TEXTS[1]))
    said = [compare(start, _page(page(edited(TEXTS[1], edits)))).is_near_duplicate for edits in (0, 1, 3, 300, 1000)]
    assert said == [True, True, True, False, False]


def test_a_page_resembles_itself_fully():
    made = _page(page(english()))
    assert compare(made, made) == simcrawl.Comparison(0, 1.0, is_near_duplicate=True, identical_text=True, identical_links=True)


def test_a_rule_of_the_caller_is_the_rule():
    a, b = _page(page(english(150))), _page(page(edited(english(150), 3)))
    assert compare(a, b).is_near_duplicate
    strict = Rule(max_distance=0, min_similarity=1, outlinks=0)
    assert not compare(a, b, rule=strict).is_near_duplicate


@pytest.mark.parametrize("other", [{"seed": 1}, {"recipe": "manku2007"}])
def test_pages_made_in_different_ways_are_not_compared(other: dict[str, Any]):
    with pytest.raises(ValueError, match="make both with the same recipe and seed") as refused:
        compare(_page(page(english())), _page(page(english()), **other))
    told = str(refused.value)
    assert "two seeds" in told if "seed" in other else "terms/3 and manku2007" in told


def test_pages_of_a_recipe_of_one_s_own_compare_by_its_rule():
    own = Recipe("own", 1, Features(kind="ngrams", size=2), max_distance=5)
    a, b = (_page(page(edited(english(150), edits)), recipe=own) for edits in (0, 1))
    assert compare(a, b, rule=Rule.of(own)).distance > 0


def test_a_page_whose_body_is_known_has_the_hints_of_its_own_url():
    store, body = open_store("memory:"), page(english(), head='<link rel="canonical" href="https://example.org/boat">')
    with store:
        first = Detector(store)
        made = first.page(body, url="https://example.org/boat?ref=7")
        first.admit(made)
        store.sync()
        for detector, stage in ((first, "body_recent"), (Detector(store), "body_stored")):
            again = detector.page(body, url="https://example.org/boat?ref=8")
            assert again.hints == made.hints == Hints("https://example.org/boat", title="t")
            assert detector.cascade[stage] == 1


def test_the_canonical_url_of_a_copy_is_stored_without_secrets():
    head = '<title>A boat</title><link rel="canonical" href="https://me:hunter2@x.test/b?token=s3cret&amp;page=1">'
    text = english(300)
    with simcrawl.open_store("memory:") as store:
        detector = simcrawl.Detector(store, redact=["token"])
        detector.admit(detector.page(page(text), url="https://x.test/a"))
        copy = page(text + " One word more.", head=head)
        assert detector.admit(detector.page(copy, url="https://x.test/c")).is_duplicate
        store.sync()
        line = store.duplicate("https://x.test/c")
    assert line
    assert line.title == "A boat"
    assert line.names.startswith("https://user-")
    assert line.names.endswith("&page=1")
    assert "token=redacted-" in line.names
    assert not any(secret in line.names for secret in ("hunter2", "s3cret"))
