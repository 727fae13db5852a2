"""The tables of the search: around the default recipe, one factor at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.quality.sketches import SIMHASH
from benchmarks.quality.variants import CONTENT, CONTENT_OR_ARTICLE, FAST, LESS, MORE, NONE, PROSE, SOURCES, WHOLE, Variant
from simcrawl.page.features import Features
from simcrawl.page.recipes import DROP_OUTLINKS, FOLLOW_OUTLINKS, IDENTICAL_TEXT, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.page.features import Weighting
    from simcrawl.page.recipes import Recipe

BASELINE = "manku2007"
DISTANCES = range(13)
SHOWN = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11)
PAGE_THRESHOLDS = (0.8, 0.85, 0.88, 0.9, 0.92, 0.93, 0.94, 0.95, 0.96, 0.98, 1.0)
NEVER = 10**9
"""More units than any page has around it: the article rule does not apply."""


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
        Variant("main: features of trafilatura's text", resolve("main")),
        Variant("resiliparse: its text alone", resolve("resiliparse")),
        Variant("the default, not verified", plain(resolve())),
        Variant("the default, shingles of units", resolve(), letters=False),
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
        Comparison(
            "Text from which the features come",
            [Variant(name, resolve(), source=name) for name in SOURCES] + [Variant("resiliparse: its text alone", resolve("resiliparse"))],
        ),
        Comparison("Features", verified + slow),
        Comparison("Features, at k = 3 without verification", unverified, crawl=False),
        Comparison("Weights", list(_weights())),
        Comparison("Distance k, candidates verified", [_with(f"k = {k}", max_distance=k) for k in SHOWN]),
        Comparison(
            "Distance k, candidates verified, features of trafilatura's main text",
            [Variant(f"k = {k}", replace(resolve("main"), max_distance=k)) for k in (3, 5, 7, 9, 11)],
        ),
        Comparison("Distance k, without verification", [Variant(f"k = {k}", plain(replace(resolve(), max_distance=k))) for k in SHOWN]),
        Comparison("Text that verifies a candidate", list(_judged())),
        Comparison("What shingles of unspaced text are made of", list(_shingles())),
        Comparison("A second simhash that verifies", list(_second_simhashes())),
        Comparison("Width of the fingerprint", list(_widths())),
        Comparison("Page threshold", [_with(f"{s:.2f}", min_similarity=s) for s in PAGE_THRESHOLDS]),
        Comparison("Page threshold within a host and across hosts", list(_hosts())),
        Comparison("The article rule", list(_articles())),
        Comparison("Outlink threshold", [_with(name, outlinks=value) for name, value in _outlinks()]),
        Comparison("Minimum length, units of content", [_with(f"{units}", min_features=units) for units in (1, 20, 50, 100, 200)]),
    ]


def _with(name: str, **changes: Any) -> Variant:
    return Variant(name, replace(resolve(), **changes))


def _features() -> Iterable[tuple[str, Features]]:
    yield "terms, common ones weigh less, and those outside sentences (the default)", resolve().features
    yield "terms, common ones weigh less", Features("terms", common=1)
    yield "words (jieba's for Chinese)", Features()
    for size in (2, 3, 4, 5):
        yield f"{size}-grams of words", Features("ngrams", size)
    yield "4-grams of characters", Features("characters", 4)
    for size in (20, 50, 200):
        yield f"jieba TF-IDF, best {size}", Features("tfidf", size)


def _judged() -> Iterable[Variant]:
    yield Variant("none", plain(resolve()), judged=NONE)
    yield Variant(CONTENT_OR_ARTICLE, resolve())
    texts = {
        "content": CONTENT,
        "prose": PROSE,
        "main text (trafilatura fast)": FAST,
        "whole": WHOLE,
        "both main and whole": LESS,
        "main or whole": MORE,
    }
    for name, text in texts.items():
        for similarity in (0.9, resolve().min_similarity):
            yield Variant(f"{name}, {similarity:.2f}", replace(resolve(), min_similarity=similarity), judged=text)


def _weights() -> Iterable[Variant]:
    names: tuple[Weighting, ...] = ("unit", "tf", "log-tf", "prose-tf")
    features = {name: replace(resolve().features, weighting=name) for name in names}
    for name in names:
        yield _with(name, features=features[name])
    for name in names:
        yield Variant(f"{name}, k = 3, not verified", plain(replace(resolve(), features=features[name], max_distance=3)))


def _shingles() -> Iterable[Variant]:
    yield Variant("letters", resolve())
    for similarity in (resolve().min_similarity, 0.94, 0.95):
        recipe = replace(resolve(), min_similarity=similarity)
        yield Variant(f"units, {similarity:.2f}", recipe, letters=False)


def _articles() -> Iterable[Variant]:
    for units in (0, 60, 120, 200):
        yield _with(f"from {units} units around it", min_around=units)
    for units in (50, 200, 400):
        yield _with(f"from {units} units of prose", min_prose=units)
    yield _with("never", min_around=NEVER)


def _second_simhashes() -> Iterable[Variant]:
    yield Variant("the default's sketches", resolve())
    for name, shingle in (("words", 1), ("5-shingles", 5)):
        for bits in (1, 2, 3, 4, 6):
            # Half a bit apart from any similarity that there can be.
            changes: dict[str, Any] = {"min_similarity": 1 - (bits + 0.5) / 64, "shingle": shingle, "sketch_registers": 64}
            named = f"64 bits of the content's {name}, at most {bits} differ"
            yield Variant(named, replace(resolve(), **changes), judged=CONTENT, sketcher=SIMHASH)


def _widths() -> Iterable[Variant]:
    for bits, distances in ((64, (3, 5, 7)), (128, (6, 10, 14))):
        for k in distances:
            yield _with(f"{bits} bits, k = {k}", bits=bits, max_distance=k)
    for bits, k in ((64, 3), (128, 6)):
        yield Variant(f"{bits} bits, k = {k}, not verified", plain(replace(resolve(), bits=bits, max_distance=k)))


def _hosts() -> Iterable[Variant]:
    chosen = resolve().min_similarity
    thresholds = sorted({0.9, chosen, 0.97})
    for within in thresholds:
        for across in thresholds:
            name = f"{within:.2f} within, {across:.2f} across"
            yield Variant(name, replace(resolve(), min_similarity=within), across=None if across == within else across)


def _outlinks() -> Iterable[tuple[str, float]]:
    yield "always dropped (the paper)", DROP_OUTLINKS
    for similarity in (0.9, 0.95, 0.98, 0.99):
        yield f"from {similarity:.2f}", similarity
    yield "identical text only", IDENTICAL_TEXT
    yield "never dropped", FOLLOW_OUTLINKS
