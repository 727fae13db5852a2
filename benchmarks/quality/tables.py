"""The tables of the search: around the default recipe, one factor at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.quality.sketches import BOTTOM, EXACT, SIMHASH
from benchmarks.quality.variants import CONTENT, CONTENT_OR_PROSE, EXTRACTORS, FAST, LESS, MORE, NONE, PROSE, WHOLE, Variant
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
        Variant("the default, features of the content", resolve(), main=CONTENT),
        Variant("the same, k = 11", replace(resolve(), max_distance=11), main=CONTENT),
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
            [Variant(f"k = {k}", replace(resolve(), max_distance=k), main=CONTENT) for k in DISTANCES],
        ),
        Comparison("Distance k, without verification", [Variant(f"k = {k}", plain(replace(resolve(), max_distance=k))) for k in DISTANCES]),
        Comparison("Text that verifies a candidate", list(_judged())),
        Comparison(
            "Registers of the content's sketch", [_with(f"{size}", sketch_registers=size) for size in (32, 64, 128, 256, 512, 1024)]
        ),
        Comparison("Bottom-k sketches, and exact Jaccard", list(_bottom())),
        Comparison("A second simhash that verifies", list(_second_simhashes())),
        Comparison("Width of the fingerprint", list(_widths())),
        Comparison("Page threshold", [_with(f"content {s:.2f}", min_similarity=s) for s in PAGE_THRESHOLDS]),
        Comparison("Page threshold within a host and across hosts", list(_hosts())),
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
        "content": CONTENT,
        "prose": PROSE,
        "main text (trafilatura fast)": FAST,
        "whole": WHOLE,
        "both main and whole": LESS,
        "main or whole": MORE,
    }
    for name, text in texts.items():
        for similarity in (0.9, 0.94):
            yield Variant(f"{name}, {similarity:.2f}", replace(resolve(), min_similarity=similarity), judged=text)


def _bottom() -> Iterable[Variant]:
    yield Variant(f"{resolve().sketch_registers} registers (the default)", resolve())
    for size in (64, 128, 256, 512, 1024):
        yield Variant(f"smallest {size} hashes", replace(resolve(), sketch_registers=size), sketcher=BOTTOM)
    yield Variant("all shingles: exact Jaccard", resolve(), sketcher=EXACT)


def _second_simhashes() -> Iterable[Variant]:
    yield Variant("the default's sketches", resolve())
    for name, shingle in (("words", 1), ("5-shingles", 5)):
        for bits in (1, 2, 3, 4, 6):
            # Half a bit apart from any similarity that there can be.
            changes: dict[str, Any] = {
                "min_similarity": 1 - (bits + 0.5) / 64,
                "prose_similarity": _NEVER,
                "shingle": shingle,
                "sketch_registers": 64,
            }
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
    thresholds = sorted({0.9, 0.92, chosen, 0.97})
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
