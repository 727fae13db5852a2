"""Weights by how rare a word is among the store's own pages: whether they help, and what they do to fingerprints while a store grows.

As a stand-in for a store, the pages of the whole corpus are counted: what a crawl would know at its very end. The features of a page must
not depend on when it was fetched, so the second table says by how much fingerprints move between a smaller store and the whole one.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.quality.tables import Comparison, plain, references
from benchmarks.quality.variants import PROSE, Variant
from simcrawl.bits import hamming_distance
from simcrawl.page.cut import words
from simcrawl.page.features import Features
from simcrawl.page.recipes import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.quality.measure import Bench
    from simcrawl.page.features import Weighting

SHARES = (0.01, 0.1, 0.5)
DRIFT = ("pages that idf was counted over", "bits that differ, mean", "unchanged", "more than k bits")


def comparison(bench: Bench) -> Comparison:
    """Return the table of the weights, over all pages of the corpus."""
    weights = inverse_frequencies(_vocabularies(bench, sorted(bench.corpus.bodies)))
    verified = [Variant(f"{name} x idf, verified", replace(resolve(), features=_features(name, weights))) for name in ("log-tf", "tf")]
    unverified = [
        Variant(f"{variant.name.split(',')[0]}, k = 3, not verified", plain(replace(variant.recipe, max_distance=3)))
        for variant in verified
    ]
    without = Variant("log-tf, k = 3, not verified", plain(replace(resolve(), max_distance=3)))
    return Comparison(
        "Weights by idf of the corpus", [Variant("log-tf, verified", references()[0].recipe), *verified, without, *unverified]
    )


def drift(bench: Bench) -> Iterator[list[str]]:
    """Yield a row for each share of the site's pages: what the other pages do to the fingerprint of a page."""
    keys = sorted(set(bench.corpus.site.values()))
    whole = _fingerprints(bench, keys, keys)
    for share in SHARES:
        known = random.Random(0).sample(keys, round(share * len(keys)))
        fingerprints = _fingerprints(bench, keys, known)
        distances = [hamming_distance(a, b) for a, b in zip(whole, fingerprints, strict=True) if a is not None and b is not None]
        moved = (f"{mean(d == 0 for d in distances):.0%}", f"{mean(d > resolve().max_distance for d in distances):.0%}")
        yield [f"{len(known)} of {len(keys)}", f"{mean(distances):.1f}", *moved]


def inverse_frequencies(vocabularies: Iterable[set[str]]) -> tuple[tuple[str, float], ...]:
    """Return log((1 + pages) / pages with the word) of the words of two pages or more, as a share of that of a word of one page or none.

    A recipe gives 1 to the words that it has no weight for.
    """
    pages = list(vocabularies)
    frequencies = Counter(word for vocabulary in pages for word in vocabulary)
    rarest = math.log(1 + len(pages))
    return tuple((word, math.log((1 + len(pages)) / count) / rarest) for word, count in sorted(frequencies.items()) if count > 1)


def _vocabularies(bench: Bench, keys: Sequence[str]) -> Iterator[set[str]]:
    return (set(words(bench.pages.text(key, PROSE))) for key in keys)


def _features(weighting: Weighting, weights: tuple[tuple[str, float], ...]) -> Features:
    return Features(weighting=weighting, weights=weights)


def _fingerprints(bench: Bench, keys: Sequence[str], known: Sequence[str]) -> list[int | None]:
    features = _features("log-tf", inverse_frequencies(_vocabularies(bench, known)))
    return [bench.pages.fingerprint(key, PROSE, features, resolve().bits) for key in keys]
