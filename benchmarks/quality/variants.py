"""Variants of a recipe, and pages made by them: everything that two variants share is computed once.

A variant also says what a `Recipe` cannot: which extractor gives the main text, and which text is sketched. For the variants that a
recipe can say, the pages are those of `simcrawl.fingerprint_page`, which a test proves.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING

import trafilatura

from simcrawl.extraction import decode, extract
from simcrawl.features import Features, fingerprint_features, hash_units, units
from simcrawl.pages import Abstention, Page, PageFingerprint, Reason, fingerprint_page
from simcrawl.recipes import Recipe, resolve
from simcrawl.sketch import shingles, sketch

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

FAST = "trafilatura fast"
CONTENT_OR_PROSE = "content, or much prose"
NONE = "nothing"

# Of what `simcrawl.extraction.extract` gives; the others extract on their own.
_PARTS = {FAST: "main", "content by blocks": "content", "prose by blocks": "prose", "whole visible text": "whole"}
_EXTRACTORS: dict[str, Callable[[str], str | None]] = {
    "trafilatura default": lambda html: trafilatura.extract(html, include_comments=False),
    "trafilatura, favour recall": lambda html: trafilatura.extract(html, include_comments=False, favor_recall=True),
    "trafilatura html2txt": trafilatura.html2txt,
    "trafilatura baseline": lambda html: trafilatura.baseline(html)[1],
}
EXTRACTORS = (FAST, *_EXTRACTORS, *list(_PARTS)[1:])


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe under a name. `main`: where its features come from; `judged`: the text that verifies a candidate.

    `every`: only every so many of the pairs are judged, and nothing is crawled, because it is slow.
    """

    name: str
    recipe: Recipe
    main: str = FAST
    judged: str = CONTENT_OR_PROSE
    every: int = 1


class Pages:
    """Makes the pages of variants from bodies."""

    def __init__(self, bodies: dict[str, bytes]) -> None:
        self._bodies = bodies
        self._extract = cache(lambda key: extract(bodies[key], None, ""))
        self._text = cache(self._text_of)
        self._fingerprint = cache(self._fingerprint_of)
        self._shingles = cache(self._shingles_of)
        self._plain = cache(self._plain_page)
        self._units = cache(lambda key, text: units(self._text(key, text)))

    def make(self, key: str, variant: Variant) -> PageFingerprint | Abstention:
        """Return a page as a variant sees it."""
        plain, recipe = self._plain(key), variant.recipe
        if isinstance(plain, Abstention):
            return replace(plain, recipe=recipe.identity)
        content = len(self._units(key, "content by blocks"))
        enough = len(self._units(key, variant.main)) >= recipe.min_features
        fingerprint = self._fingerprint(key, variant.main if enough else "content by blocks", recipe.features)
        if content < recipe.min_features or fingerprint is None:
            shared = {field.name: getattr(plain, field.name) for field in fields(Page)}
            return Abstention(reason=Reason.SHORT, **shared | {"recipe": recipe.identity})
        content_sketch, prose_sketch = self._sketches(key, variant)
        return replace(
            plain, recipe=recipe.identity, fingerprint=fingerprint, content_sketch=content_sketch, prose_sketch=prose_sketch, units=content
        )

    def _sketches(self, key: str, variant: Variant) -> tuple[bytes, bytes]:
        recipe = variant.recipe
        if variant.judged == NONE or not recipe.sketch_registers:
            return b"", b""
        if variant.judged != CONTENT_OR_PROSE:
            return sketch(self._shingles(key, variant.judged, recipe.shingle), recipe.sketch_registers), b""
        content = sketch(self._shingles(key, "content by blocks", recipe.shingle), recipe.sketch_registers)
        if len(self._units(key, "prose by blocks")) < recipe.min_prose:
            return content, b""
        return content, sketch(self._shingles(key, "prose by blocks", recipe.shingle), recipe.sketch_registers // 2)

    def _plain_page(self, key: str) -> PageFingerprint | Abstention:
        # Of one word or more, without sketches: what is left is a page that every recipe refuses.
        return fingerprint_page(self._bodies[key], recipe=replace(resolve(), min_features=1, sketch_registers=0, min_similarity=0))

    def _text_of(self, key: str, text: str) -> str:
        if text in _EXTRACTORS:
            return _EXTRACTORS[text](decode(self._bodies[key], None)[1]) or ""
        part: str = getattr(self._extract(key), _PARTS[text])
        return part

    def _fingerprint_of(self, key: str, text: str, features: Features) -> int | None:
        weighed = features.weigh(self._text(key, text))
        return fingerprint_features(weighed) if any(weighed.values()) else None

    def _shingles_of(self, key: str, text: str, size: int) -> NDArray[np.uint64]:
        return shingles(hash_units(self._units(key, text), seed=0), size)
