"""The tables of the search: around the default recipe, one factor at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.quality.variants import CONTENT_OR_PROSE, EXTRACTORS, FAST, NONE, Variant
from simcrawl.features import Features
from simcrawl.recipes import DROP_OUTLINKS, FOLLOW_OUTLINKS, IDENTICAL_TEXT, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.recipes import Recipe

BASELINE = "manku2007"
DISTANCES = range(13)
PAGE_THRESHOLDS = (0.8, 0.85, 0.88, 0.9, 0.92, 0.93, 0.94, 0.95, 0.96, 0.98, 1.0)
_NEVER = 2.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table: variants that differ in one factor. `crawl`: whether it says what a crawl loses."""

    title: str
    variants: list[Variant]
    crawl: bool = True


def references() -> list[Variant]:
    """Return what stands in every table: the default and the paper's plain rule."""
    return [Variant(f"{resolve().name} (the default)", resolve()), Variant(BASELINE, resolve(BASELINE))]


def by_language() -> list[Variant]:
    """Return what is shown for each language."""
    return [
        *references(),
        Variant("the default, k = 3, not verified", plain(replace(resolve(), max_distance=3))),
        Variant("the default, not verified", plain(resolve())),
        Variant("the default, features of the content", resolve(), main="content by blocks"),
        Variant("the same, k = 11", replace(resolve(), max_distance=11), main="content by blocks"),
    ]


def plain(recipe: Recipe) -> Recipe:
    """Return a recipe without verification."""
    return replace(recipe, min_similarity=0)


def comparisons() -> list[Comparison]:
    """Return all tables."""
    verified = [_with(f"{name}, verified", features=features) for name, features in _features()]
    unverified = [Variant(f"{name}, k = 3", plain(replace(resolve(), features=f, max_distance=3))) for name, f in _features()]
    slow = [Variant("TextRank, best 20, a tenth of the pairs", replace(resolve(), features=Features("textrank", 20)), every=10)]
    return [
        Comparison("Main text, from which the features come", [Variant(name, resolve(), main=name) for name in EXTRACTORS]),
        Comparison("Features", verified + slow),
        Comparison("Features, at k = 3 without verification", unverified, crawl=False),
        Comparison("Weights", [_with(name, features=Features(weighting=name)) for name in ("unit", "tf", "log-tf")]),
        Comparison(
            "Weights, at k = 3 without verification",
            [
                Variant(name, plain(replace(resolve(), features=Features(weighting=name), max_distance=3)))
                for name in ("unit", "tf", "log-tf")
            ],
            crawl=False,
        ),
        Comparison("Distance k, candidates verified", [_with(f"k = {k}", max_distance=k) for k in DISTANCES]),
        Comparison(
            "Distance k, candidates verified, features of the content by blocks",
            [Variant(f"k = {k}", replace(resolve(), max_distance=k), main="content by blocks") for k in DISTANCES],
        ),
        Comparison("Distance k, without verification", [Variant(f"k = {k}", plain(replace(resolve(), max_distance=k))) for k in DISTANCES]),
        Comparison("Text that verifies a candidate", list(_judged())),
        Comparison(
            "Registers of the content's sketch", [_with(f"{size}", sketch_registers=size) for size in (32, 64, 128, 256, 512, 1024)]
        ),
        Comparison("Page threshold", [_with(f"content {s:.2f}", min_similarity=s) for s in PAGE_THRESHOLDS]),
        Comparison(
            "Prose threshold",
            [_with(f"prose {s:.2f}", prose_similarity=s) for s in (0.9, 0.93, 0.95, 0.97, 0.99)]
            + [_with("never", prose_similarity=_NEVER)],
        ),
        Comparison("Units of prose to judge by it", [_with(f"{units}", min_prose=units) for units in (100, 200, 400, 800)]),
        Comparison("Outlink threshold", [_with(name, outlinks=value) for name, value in _outlinks()]),
        Comparison("Minimum length, units of content", [_with(f"{units}", min_features=units) for units in (1, 20, 50, 100, 200)]),
    ]


def _with(name: str, **changes: Any) -> Variant:
    return Variant(name, replace(resolve(), **changes))


def _features() -> Iterable[tuple[str, Features]]:
    yield "words (jieba's for Chinese)", Features()
    for size in (2, 3, 4, 5):
        yield f"{size}-grams of words", Features("ngrams", size)
    yield "4-grams of characters", Features("characters", 4)
    for size in (20, 50, 200):
        yield f"jieba TF-IDF, best {size}", Features("tfidf", size)


def _judged() -> Iterable[Variant]:
    yield Variant("none", plain(resolve()), judged=NONE)
    yield Variant(CONTENT_OR_PROSE, resolve())
    texts = {
        "content": "content by blocks",
        "prose": "prose by blocks",
        "main text (trafilatura fast)": FAST,
        "whole": "whole visible text",
    }
    for name, text in texts.items():
        for similarity in (0.9, 0.94):
            yield Variant(f"{name}, {similarity:.2f}", replace(resolve(), min_similarity=similarity), judged=text)


def _outlinks() -> Iterable[tuple[str, float]]:
    yield "always dropped (the paper)", DROP_OUTLINKS
    for similarity in (0.9, 0.95, 0.98, 0.99):
        yield f"from {similarity:.2f}", similarity
    yield "identical text only", IDENTICAL_TEXT
    yield "never dropped", FOLLOW_OUTLINKS
