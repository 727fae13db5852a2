"""The parts of the search that a mistake could hide in: sketches in the recipe's place, the front, weights, thresholds by host."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import simcrawl
from benchmarks.contents_lost import Crawl
from benchmarks.quality import seeds, sketches
from benchmarks.quality.churn import Case
from benchmarks.quality.front import Estimate, Point, error
from benchmarks.quality.idf import inverse_frequencies
from benchmarks.quality.measure import Result, url_of
from benchmarks.quality.sketches import BOTTOM, EXACT, REGISTERS, SIMHASH, SKETCHERS, estimating, joined, resembling
from benchmarks.quality.variants import LESS, MORE, Pages, Variant
from simcrawl.page.features import Features
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_text
from simcrawl.page.recipes import resolve
from simcrawl.page.sketch import resemblance
from tests.quality.score import Score
from tests.test_quality_churn import COPIES_FOUND

DEMONSTRATION = Path(simcrawl.__file__).parent / "crawl/demo_site"


def _sets(shared: int, alone: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(0).integers(0, 2**64, shared + 2 * alone, np.uint64)
    return np.unique(numbers[: shared + alone]), np.unique(np.concatenate([numbers[:shared], numbers[shared + alone :]]))


def test_exact_jaccard_is_that_of_the_sets() -> None:
    a, b = _sets(shared=90, alone=5)
    make, resemble = SKETCHERS[EXACT]
    assert resemble(make(a, 1), make(b, 1)) == 0.9
    assert resemble(b"", b"") == 0


def test_bottom_k_is_exact_where_it_holds_everything_and_near_it_where_not() -> None:
    a, b = _sets(shared=9000, alone=500)
    make, resemble = SKETCHERS[BOTTOM]
    assert resemble(make(a, 20_000), make(b, 20_000)) == pytest.approx(0.9)
    assert resemble(make(a, 1024), make(b, 1024)) == pytest.approx(0.9, abs=0.04)
    assert len(make(a, 64)) == 8 * 65
    assert resemble(make(a[:0], 64), make(a[:0], 64)) == 0


def test_a_bottom_k_sketch_of_a_small_set_is_compared_with_a_full_one() -> None:
    a = np.arange(1, 101, dtype=np.uint64)
    make, resemble = SKETCHERS[BOTTOM]
    assert resemble(make(a, 64), make(a[:10], 64)) == pytest.approx(10 / 64)


def test_a_second_simhash_agrees_in_more_bits_the_more_is_shared() -> None:
    make, resemble = SKETCHERS[SIMHASH]
    agreement = {alone: resemble(*(make(one, 64) for one in _sets(500, alone))) for alone in (0, 25, 2500)}
    assert agreement[0] == 1 > agreement[25] > agreement[2500] > 0.4


def test_two_texts_agree_as_much_as_the_one_that_was_chosen() -> None:
    (a, b), (c, d) = _sets(90, 5), _sets(50, 25)
    make = SKETCHERS[EXACT].make
    both = joined(make(a, 1), make(c, 1)), joined(make(b, 1), make(d, 1))
    assert resembling(EXACT, min)(*both) == 0.5
    assert resembling(EXACT, max)(*both) == 0.9
    assert resembling(REGISTERS, None) is SKETCHERS[REGISTERS].resemble


def test_the_rule_estimates_by_what_it_is_given() -> None:
    texts = [" ".join(f"word{number}" for number in range(start, start + 300)) for start in (0, 1)]
    a, b = (fingerprint_text(text) for text in texts)
    assert isinstance(a, PageFingerprint)
    assert isinstance(b, PageFingerprint)
    with estimating(lambda _a, _b: 0.123):
        assert simcrawl.compare(a, b).similarity == 0.123
    assert simcrawl.compare(a, b).similarity == resemblance(a.content_sketch, b.content_sketch)


@pytest.fixture(scope="module")
def pages() -> Pages:
    return Pages({str(path): path.read_bytes() for path in sorted(DEMONSTRATION.rglob("*.html"))})


@pytest.mark.parametrize("sketcher", SKETCHERS)
def test_a_page_is_identical_to_itself_and_the_less_alike_text_never_the_more_alike(pages: Pages, sketcher: str) -> None:
    keys = sorted(str(path) for path in DEMONSTRATION.rglob("*.html"))
    less, more = (Variant("", replace(resolve(), sketch_registers=64), judged=judged, sketcher=sketcher) for judged in (LESS, MORE))
    chance = random.Random(0)
    for a, b in [(keys[0], keys[0]), *(chance.sample(keys, 2) for _ in range(20))]:
        alike = []
        for variant in (less, more):
            first, second = pages.make(a, variant), pages.make(b, variant)
            if isinstance(first, PageFingerprint) and isinstance(second, PageFingerprint):
                alike.append(variant.resemble(first.content_sketch, second.content_sketch))
        assert alike == sorted(alike)
        assert alike == [1, 1] or a != b or not alike


def test_two_hosts_have_a_page_threshold_of_their_own() -> None:
    texts = [" ".join(f"word{number}" for number in range(start, start + 300)) for start in (0, 10)]
    here, there = "http://one.example/", "http://two.example/"
    a, same, other = (
        fingerprint_text(text, url=url) for text, url in zip([texts[0], texts[1], texts[1]], [here, here, there], strict=True)
    )
    assert isinstance(a, PageFingerprint)
    assert isinstance(same, PageFingerprint)
    assert isinstance(other, PageFingerprint)
    lax = replace(resolve(), max_distance=64, min_similarity=0.85)
    rule = Variant("", lax, across=0.99).rule
    assert rule.compare(a, same).is_near_duplicate
    assert not rule.compare(a, other).is_near_duplicate
    assert Variant("", lax).rule.compare(a, other).is_near_duplicate
    assert url_of("/amd64/en/index.html") == "http://amd64.example/amd64/en/index.html"


def test_a_point_is_the_mean_of_the_crawls_and_their_worst() -> None:
    crawls = [Crawl(0.5, 0.0, 1.0, 0), Crawl(1.0, 0.25, 1.5, 2)]
    point = Point.of(0.9, Result(Score(1, 1, 1, 0, 1), crawls))
    assert point == Point(0.9, 0.75, 0.125, 0.25, 1.25)
    assert str(Point(0.9, 0.85, 0.021, 0.03, 1.15)) == "85% / 2.10% / 1.15"


def test_an_error_is_the_root_of_the_mean_square() -> None:
    assert error([Estimate(0.9, 0.93), Estimate(0.9, 0.86)]) == pytest.approx(np.sqrt((0.03**2 + 0.04**2) / 2))
    assert error([]) == 0


def test_a_word_weighs_less_the_more_pages_have_it() -> None:
    weights = dict(inverse_frequencies([{"all", "two", "once"}, {"all", "two"}, {"all", "more"}]))
    assert weights.keys() == {"all", "two"}
    assert 0 < weights["all"] < weights["two"] < 1
    assert Features(weights=tuple(weights.items())).weigh("once two")["once"] == 1


def test_every_sketcher_is_measured_by_its_name() -> None:
    assert {REGISTERS, BOTTOM, EXACT, SIMHASH} == sketches.SKETCHERS.keys()


def test_articles_are_looked_for_with_the_hashes_of_a_seed() -> None:
    texts = [" ".join(f"{topic}{number}" for number in range(300)) for topic in ("harbour", "library")]
    first, other = (f"<html><body><h1>About it</h1><p>{text}</p></body></html>" for text in texts)
    made = [
        Case("1", "en", "made", "full", first, first),
        Case("2", "en", "made", "swap", first, other),
        Case("3", "en", "made", "full", first, ""),
    ]
    assert seeds.found(made, resolve(), seed=7) == {("en", "full"): 0.5, ("en", "swap"): 0.0}


def test_a_share_below_a_floor_of_the_gate_is_told() -> None:
    assert seeds.keeps_floors(COPIES_FOUND)
    assert not seeds.keeps_floors(COPIES_FOUND | {("zh", "full"): 0.1})
