"""Variants of a recipe, and pages made by them: everything that two variants share is computed once.

A variant also says what a `Recipe` cannot: which extractor gives the main text, and which text is sketched. For the variants that a
recipe can say, the pages are those of `simcrawl.fingerprint_page`, which a test proves.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import trafilatura

from benchmarks.quality.sketches import REGISTERS, SKETCHERS, joined, resembling
from simcrawl.extraction import decode, extract
from simcrawl.features import Features, fingerprint_features, hash_units, units
from simcrawl.pages import Abstention, Page, PageFingerprint, Reason, fingerprint_page
from simcrawl.recipes import Recipe, resolve
from simcrawl.rule import Rule
from simcrawl.sketch import shingles

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.rule import Comparison

FAST = "trafilatura fast"
CONTENT, PROSE, WHOLE = "content by blocks", "prose by blocks", "whole visible text"
CONTENT_OR_PROSE = "content, or much prose"
NONE = "nothing"

LESS, MORE = "the less alike of main and whole text", "the more alike of main and whole text"
_COMBINED: dict[str, Callable[..., float]] = {LESS: min, MORE: max}

# Of what `simcrawl.extraction.extract` gives; the others extract on their own.
_PARTS = {FAST: "main", CONTENT: "content", PROSE: "prose", WHOLE: "whole"}
_EXTRACTORS: dict[str, Callable[[str], str | None]] = {
    "trafilatura default": lambda html: trafilatura.extract(html, include_comments=False),
    "trafilatura, favour recall": lambda html: trafilatura.extract(html, include_comments=False, favor_recall=True),
    "trafilatura html2txt": trafilatura.html2txt,
    "trafilatura baseline": lambda html: trafilatura.baseline(html)[1],
}
EXTRACTORS = (FAST, *_EXTRACTORS, *list(_PARTS)[1:])


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe under a name. `main`: where its features come from; `judged`: the text that verifies a candidate, by `sketcher`.

    `across`: the page threshold between pages of two hosts, where it is not that of the recipe. `every`: only every so many of the
    pairs are judged, and nothing is crawled, because it is slow.
    """

    name: str
    recipe: Recipe
    main: str = FAST
    judged: str = CONTENT_OR_PROSE
    sketcher: str = REGISTERS
    across: float | None = None
    every: int = 1

    @property
    def rule(self) -> Rule:
        """The rule that it judges by, while `resemble` compares sketches."""
        rule = Rule.of(self.recipe)
        if self.across is None:
            return rule
        return TwoThresholds(across=self.across, **{field.name: getattr(rule, field.name) for field in fields(Rule)})

    @property
    def resemble(self) -> Callable[[bytes, bytes], float]:
        """What compares two of its sketches."""
        return resembling(self.sketcher, _COMBINED.get(self.judged))


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoThresholds(Rule):
    """A rule with a page threshold of its own between two hosts."""

    across: float

    def compare(self, a: PageFingerprint, b: PageFingerprint) -> Comparison:
        """Compare two pages."""
        one_host = urlsplit(a.url).netloc == urlsplit(b.url).netloc
        # By name: `super()` does not work in a dataclass with slots.
        return Rule.compare(self if one_host else replace(self, min_similarity=self.across), a, b)


class Pages:
    """Makes the pages of variants from bodies."""

    def __init__(self, bodies: dict[str, bytes]) -> None:
        self._bodies = bodies
        self._extract = cache(lambda key: extract(bodies[key], None, ""))
        self.text = cache(self._text_of)
        self.shingles = cache(self._shingles_of)
        self.fingerprint = cache(self._fingerprint_of)
        self.sketch = cache(self._sketch_of)
        self._plain = cache(self._plain_page)
        # Its digest is of all the weights that a recipe may have.
        self._identity = cache(lambda recipe: recipe.identity)
        self._units = cache(lambda key, text: units(self.text(key, text)))

    def make(self, key: str, variant: Variant) -> PageFingerprint | Abstention:
        """Return a page as a variant sees it."""
        plain, recipe = self._plain(key), variant.recipe
        if isinstance(plain, Abstention):
            return replace(plain, recipe=self._identity(recipe))
        content = len(self._units(key, CONTENT))
        enough = len(self._units(key, variant.main)) >= recipe.min_features
        fingerprint = self.fingerprint(key, variant.main if enough else CONTENT, recipe.features, recipe.bits)
        if content < recipe.min_features or fingerprint is None:
            shared = {field.name: getattr(plain, field.name) for field in fields(Page)}
            return Abstention(reason=Reason.SHORT, **shared | {"recipe": self._identity(recipe)})
        content_sketch, prose_sketch = self._sketches(key, variant)
        sketches: dict[str, Any] = {"content_sketch": content_sketch, "prose_sketch": prose_sketch}
        return replace(plain, recipe=self._identity(recipe), fingerprint=fingerprint, bits=recipe.bits, units=content, **sketches)

    def _sketches(self, key: str, variant: Variant) -> tuple[bytes, bytes]:
        size, kind = variant.recipe.sketch_registers, (variant.recipe.shingle, variant.sketcher)
        if variant.judged == NONE or not size:
            return b"", b""
        if variant.judged in _COMBINED:
            return joined(self.sketch(key, FAST, size, *kind), self.sketch(key, WHOLE, size, *kind)), b""
        if variant.judged != CONTENT_OR_PROSE:
            return self.sketch(key, variant.judged, size, *kind), b""
        enough = len(self._units(key, PROSE)) >= variant.recipe.min_prose
        return self.sketch(key, CONTENT, size, *kind), self.sketch(key, PROSE, size // 2, *kind) if enough else b""

    def _plain_page(self, key: str) -> PageFingerprint | Abstention:
        # Of one word or more, without sketches: what is left is a page that every recipe refuses.
        return fingerprint_page(self._bodies[key], recipe=replace(resolve(), min_features=1, sketch_registers=0, min_similarity=0))

    def _text_of(self, key: str, text: str) -> str:
        if text in _EXTRACTORS:
            return _EXTRACTORS[text](decode(self._bodies[key], None)[1]) or ""
        part: str = getattr(self._extract(key), _PARTS[text])
        return part

    def _fingerprint_of(self, key: str, text: str, features: Features, bits: int) -> int | None:
        weighed = features.weigh(self.text(key, text))
        return fingerprint_features(weighed, bits=bits) if any(weighed.values()) else None

    def _sketch_of(self, key: str, text: str, size: int, shingle: int, sketcher: str) -> bytes:
        return SKETCHERS[sketcher].make(self.shingles(key, text, shingle), size)

    def _shingles_of(self, key: str, text: str, size: int) -> NDArray[np.uint64]:
        return shingles(hash_units(self._units(key, text), seed=0), size)
