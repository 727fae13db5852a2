"""The quality gate: the default recipe on labelled pairs of real pages must not get worse.

Raise the floors with `python -m tests.quality.floors` when a change made it better; nothing lowers them but an editor, in the open.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import simcrawl
from benchmarks.quality.crossvalidation import Setting, choose, hold_out
from benchmarks.quality.tables import comparisons
from benchmarks.quality.variants import CONTENT_OR_ARTICLE, NONE, PROSE, Pages, Variant
from simcrawl.page.fingerprint import fingerprint_page
from simcrawl.page.recipes import Recipe, resolve
from tests.quality import floors, pairs
from tests.quality.pairs import Pair, Source
from tests.quality.score import ALL, Judged, Score, by_language, judge, table

BASELINE = "manku2007"
DEMONSTRATION = Path(simcrawl.__file__).parent / "crawl/demo_site"


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Judged]]:
    """What the default and the paper's plain rule say of each pair."""
    root: Path = tmp_path_factory.mktemp("pairs")
    try:
        whole = pairs.build(root)
    except pairs.UnavailableError as exc:
        pytest.skip(f"the labelled pairs cannot be rebuilt: {exc}")
    print(f"{len(whole)} of {len(pairs.index())} pairs can be had")
    return {recipe: judge(whole, root, recipe) for recipe in ("auto", BASELINE)}


def test_the_default_stays_above_its_floors(judged: dict[str, list[Judged]]) -> None:
    scores = {recipe: by_language(said) for recipe, said in judged.items()}
    Console(width=120).print(table(scores))
    print(*(one for one in judged["auto"] if one.is_wrong), sep="\n")
    assert floors.below(scores["auto"], floors.stored()) == []


def test_the_default_is_more_precise_than_the_papers_plain_rule(judged: dict[str, list[Judged]]) -> None:
    default, plain = (Score.of(judged[recipe]) for recipe in ("auto", BASELINE))
    assert default.precision > plain.precision
    assert default.grey < plain.grey


def test_every_language_has_pairs_of_every_label_and_a_floor() -> None:
    languages = {pair.lang for pair in pairs.index()}
    assert {(pair.lang, pair.label) for pair in pairs.index()} == {
        (lang, label) for lang in languages for label in ("near", "grey", "diff")
    }
    assert floors.stored().keys() == {*languages, ALL}


def test_labels_follow_from_the_oracles_resemblance() -> None:
    for pair in pairs.index():
        assert pair.label == ("near" if pair.jaccard5 >= 0.9 else "diff" if pair.jaccard5 < 0.5 else "grey")


def test_floors_rise_and_never_fall() -> None:
    scores = {ALL: Score(precision=0.999, recall=0.876, recall_close=0.9, grey=0.052, pairs=3)}
    made = floors.raised(scores, {ALL: {"precision": 1.0, "recall": 0.5, "recall_close": 0.95, "grey": 0.01}})
    assert made == {ALL: {"precision": 1.0, "recall": 0.86, "recall_close": 0.95, "grey": 0.01}}
    assert floors.raised(scores, {}) == {ALL: {"precision": 0.99, "recall": 0.86, "recall_close": 0.89, "grey": 0.06}}


def test_what_lies_below_a_floor_is_named() -> None:
    floor = {ALL: {"precision": 0.99, "recall": 0.87, "grey": 0.05}}
    assert floors.below({ALL: Score(0.99, 0.87, 0, 0.05, 3)}, floor) == []
    assert floors.below({ALL: Score(0.98, 0.9, 0, 0.06, 3)}, floor) == [
        "all: precision is 0.9800, the floor 0.99",
        "all: grey is 0.0600, the floor 0.05",
    ]


def test_a_score_counts_grey_pairs_neither_for_nor_against() -> None:
    source = Source("package", "1", "page.html", "0" * 40)

    def said(label: pairs.Label, jaccard5: float, *, is_copy: bool) -> Judged:
        return Judged(Pair("x", "en", "manual", "same-site", label, jaccard5, source, source), is_copy)

    score = Score.of(
        [
            said("near", 0.96, is_copy=True),
            said("near", 0.91, is_copy=False),
            said("grey", 0.7, is_copy=True),
            said("diff", 0.1, is_copy=True),
            said("diff", 0.1, is_copy=False),
        ]
    )
    assert score == Score(precision=0.5, recall=0.5, recall_close=1.0, grey=1.0, pairs=5)
    assert Score.of([]) == Score(precision=1.0, recall=1.0, recall_close=1.0, grey=0.0, pairs=0)


@pytest.mark.parametrize(
    "recipe",
    [
        resolve(),
        resolve("main"),
        resolve(BASELINE),
        resolve("resiliparse"),
        replace(resolve(), min_features=300, sketch_registers=32, shingle=3),
    ],
    ids=["default", "main", BASELINE, "resiliparse", "changed"],
)
def test_the_search_makes_the_pages_that_a_crawl_would(recipe: Recipe) -> None:
    bodies = {str(path): path.read_bytes() for path in sorted(DEMONSTRATION.rglob("*.html"))}
    bodies |= {"empty": b"<html><body></body></html>", "not html": b"%PDF", "short": b"<html><body><p>Two words</p></body></html>"}
    made = Pages(bodies)
    for key, body in bodies.items():
        assert made.make(key, Variant("", recipe)) == fingerprint_page(body, recipe=recipe)


def test_every_table_of_the_search_has_the_default_in_it() -> None:
    # One factor at a time: a variant of each factor is the default again. Without verification none can be.
    for comparison in comparisons():
        same = [v for v in comparison.variants if (v.recipe, v.text, v.judged, v.letters) == (resolve(), PROSE, CONTENT_OR_ARTICLE, True)]
        others = [v for v in comparison.variants if v.judged != NONE and v.recipe.min_similarity and v.text == PROSE]
        assert same or not others, comparison.title


def test_the_settings_of_the_greatest_recall_are_chosen_among_the_precise_ones() -> None:
    lax, right, strict, wide = Setting(7, 0.8), Setting(7, 0.9), Setting(7, 0.95), Setting(9, 0.9)
    precise = Score(1.0, 0.8, 1.0, 0.0, 9)
    scores = {lax: Score(0.9, 1.0, 1.0, 0.0, 9), wide: precise, right: precise, strict: replace(precise, recall=0.7)}
    harmless = dict.fromkeys(scores, 0.0)
    assert choose(scores, harmless) == right
    assert choose(scores, harmless | {right: 0.01}) == wide
    assert choose({setting: replace(score, grey=0.5) for setting, score in scores.items()}, harmless) == strict


def test_a_source_is_judged_by_what_the_others_choose() -> None:
    source = Source("package", "1", "page.html", "0" * 40)

    def said(manual: str, label: pairs.Label, *, is_copy: bool) -> Judged:
        return Judged(Pair("x", "en", manual, "same-site", label, 0.95 if label == "near" else 0.1, source, source), is_copy)

    lax, strict = Setting(7, 0.8), Setting(7, 0.9)
    judged = {
        lax: [said("one", "near", is_copy=True), said("two", "near", is_copy=True), said("two", "diff", is_copy=True)],
        strict: [said("one", "near", is_copy=False), said("two", "near", is_copy=True), said("two", "diff", is_copy=False)],
    }
    assert hold_out(judged, {lax: 0.0, strict: 0.0}) == {"one": (strict, judged[strict][:1]), "two": (lax, judged[lax][1:])}


def test_what_a_crawl_of_the_site_loses_does_not_choose_for_the_sites_own_manual() -> None:
    source = Source("package", "1", "page.html", "0" * 40)
    lax, strict = Setting(7, 0.8), Setting(7, 0.9)
    judged = {
        setting: [
            Judged(Pair("x", "en", manual, "same-site", "near", 0.95, source, source), is_copy)
            for manual in ("another", "a third", "installation-guide")
        ]
        for setting, is_copy in ((lax, True), (strict, False))
    }
    chosen = {manual: setting for manual, (setting, _) in hold_out(judged, {lax: 0.5, strict: 0.0}).items()}
    assert chosen == {"another": strict, "a third": strict, "installation-guide": lax}
