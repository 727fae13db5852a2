"""Variants of a recipe, and pages made by them: everything that two variants share is computed once.

A variant also says what a `Recipe` cannot: which other text the features come from, and which is sketched. For the variants that a
recipe can say, the pages are those of `simcrawl.fingerprint_page`, which a test proves.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import trafilatura

from benchmarks.quality.sketches import REGISTERS, SKETCHERS, joined, resembling
from simcrawl.page.blocks import join
from simcrawl.page.cut import Cut
from simcrawl.page.extraction import decode, extract
from simcrawl.page.features import fingerprint_both, fingerprint_features
from simcrawl.page.fingerprint import (
    Abstention,
    Page,
    PageFingerprint,
    Reason,
    beside,
    content_share,
    fingerprint_page,
    named,
    weighted_lines,
    with_head,
)
from simcrawl.page.recipes import EXTRACTOR, Recipe, resolve
from simcrawl.page.sketch import Part, shingles
from simcrawl.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from simcrawl.rule import Candidate, Comparison

FAST = "trafilatura fast"
CONTENT, PROSE, WHOLE, AROUND = "content by blocks", "prose by blocks", "whole visible text", "what stands around"
CONTENT_OR_ARTICLE = "content, or the article"
NONE = "nothing"

LESS, MORE = "the less alike of main and whole text", "the more alike of main and whole text"
_COMBINED: dict[str, Callable[..., float]] = {LESS: min, MORE: max}

# Registers of a part's sketch: one for so many of the content's.
_SHARES = {"prose": 2, "links": 8, "around": 8, "beside": 8}
_EXTRACTORS: dict[str, Callable[[str], str | None]] = {
    "trafilatura default": lambda html: trafilatura.extract(html, include_comments=False),
    "trafilatura, favour recall": lambda html: trafilatura.extract(html, include_comments=False, favor_recall=True),
    "trafilatura html2txt": trafilatura.html2txt,
    "trafilatura baseline": lambda html: trafilatura.baseline(html)[1],
}
SOURCES = (FAST, *_EXTRACTORS, CONTENT, PROSE, WHOLE)


class Shingling(NamedTuple):
    """How shingles are made: of `size` successive units, or of letters where much of the text is unspaced."""

    size: int
    letters: bool


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe under a name. `source`: where its features come from, "" for the recipe's own; `judged`: the text that verifies a
    candidate, by `sketcher`; `letters`: whether shingles of unspaced text are of letters, not units.

    `across`: the page threshold between pages of two hosts, where it is not that of the recipe. `every`: only every so many of the
    pairs are judged, and nothing is crawled, because it is slow.
    """

    name: str
    recipe: Recipe
    source: str = ""
    judged: str = CONTENT_OR_ARTICLE
    sketcher: str = REGISTERS
    letters: bool = True
    across: float | None = None
    every: int = 1

    @property
    def text(self) -> str:
        """The text that its features come from."""
        return self.source or (FAST if self.recipe.source == "main" else PROSE)

    @property
    def shingling(self) -> Shingling:
        """How its shingles are made."""
        return Shingling(self.recipe.shingle, self.letters)

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

    def _alike(self, _: PageFingerprint, candidates: Sequence[Candidate]) -> tuple[Iterable[Candidate], Iterable[Candidate]]:
        return candidates, ()


class Pages:
    """Makes the pages of variants from bodies."""

    def __init__(self, bodies: dict[str, bytes]) -> None:
        self._bodies = bodies
        self._extract = cache(lambda key: with_head(extract(bodies[key], None, "", main=False)))
        self._beside = cache(lambda key: beside(self._extract(key), self._cut(key, CONTENT), self._cut(key, AROUND)))
        self._named = cache(lambda key: named(self._extract(key), self._cut(key, PROSE), self._cut(key, CONTENT)))
        self.text = cache(self._text_of)
        self.shingles = cache(self._shingles_of)
        self.fingerprint = cache(self._fingerprint_of)
        self.sketch = cache(self._sketch_of)
        self._blocks = cache(self._blocks_of)
        self._part = cache(self._part_of)
        self._plain = cache(self._plain_page)
        self._extracted = cache(lambda key, recipe: fingerprint_page(bodies[key], recipe=recipe, max_seconds=inf))
        # Its digest is of all the weights that a recipe may have.
        self._identity = cache(lambda recipe: recipe.identity)
        self._cut = cache(lambda key, text: Cut(self.text(key, text), seed=0))

    def make(self, key: str, variant: Variant) -> PageFingerprint | Abstention:
        """Return a page as a variant sees it."""
        plain, recipe = self._plain(key), variant.recipe
        if recipe.extractor != EXTRACTOR:
            return self._extracted(key, recipe)
        if isinstance(plain, Abstention) and plain.reason not in (Reason.EMPTY, Reason.SHORT):
            return replace(plain, recipe=self._identity(recipe))
        source = variant.text if len(self._cut(key, variant.text).hashes) >= recipe.min_features else CONTENT
        known: dict[str, Any] = {"recipe": self._identity(recipe), "text_length": len(self.text(key, source))}
        if isinstance(plain, Abstention):
            return replace(plain, **known)
        content, fingerprint = len(self._cut(key, CONTENT).hashes), self.fingerprint(key, source, recipe)
        if content < recipe.min_features or fingerprint is None:
            return Abstention(reason=Reason.SHORT, **{field.name: getattr(plain, field.name) for field in fields(Page)} | known)
        return replace(plain, fingerprint=fingerprint, bits=recipe.bits, units=content, **known, **self._sketches(key, variant))

    def _sketches(self, key: str, variant: Variant) -> dict[str, Any]:
        size, kind = variant.recipe.sketch_registers, (variant.shingling, variant.sketcher)
        if variant.judged == NONE or not size:
            return {"content_sketch": b""}
        if variant.judged in _COMBINED:
            return {"content_sketch": joined(self.sketch(key, FAST, size, *kind), self.sketch(key, WHOLE, size, *kind))}
        if variant.judged != CONTENT_OR_ARTICLE:
            return {"content_sketch": self.sketch(key, variant.judged, size, *kind)}
        parts = {name: self._part(key, name, -(-size // share), variant.sketcher) for name, share in _SHARES.items()}
        return {"content_sketch": self.sketch(key, CONTENT, size, *kind), "names": self._named(key)} | parts

    def _plain_page(self, key: str) -> PageFingerprint | Abstention:
        # Of one word or more, without sketches: what is left is a page that every recipe refuses.
        recipe = replace(resolve(), min_features=1, sketch_registers=0, min_similarity=0)
        return fingerprint_page(self._bodies[key], recipe=recipe, max_seconds=inf)

    def _text_of(self, key: str, text: str) -> str:
        if text in _EXTRACTORS:
            return _EXTRACTORS[text](decode(self._bodies[key], None)[1]) or ""
        if text == FAST:
            return extract(self._bodies[key], None, "").main
        page = self._extract(key)
        return page.whole if text == WHOLE else join({CONTENT: page.parts.content, AROUND: page.parts.around}.get(text, page.parts.prose))

    def _fingerprint_of(self, key: str, text: str, recipe: Recipe) -> int | None:
        if text == PROSE and (share := content_share(len(self._cut(key, PROSE).hashes), recipe)):
            cuts = (self._cut(key, PROSE), self._cut(key, CONTENT))
            return fingerprint_both(*cuts, recipe.features, share=share, bits=recipe.bits)
        weighed = recipe.features.weigh(self.text(key, text))
        return fingerprint_features(weighed, bits=recipe.bits) if any(weighed.values()) else None

    def _sketch_of(self, key: str, text: str, size: int, shingling: Shingling, sketcher: str) -> bytes:
        return SKETCHERS[sketcher].make(self.shingles(key, text, shingling), size)

    def _shingles_of(self, key: str, text: str, shingling: Shingling) -> NDArray[np.uint64]:
        cut = self._cut(key, text)
        return np.unique(shingles(cut.shingled() if shingling.letters else cut.hashes, shingling.size))

    def _part_of(self, key: str, part: str, size: int, sketcher: str) -> Part:
        hashes = self._blocks(key, part)
        return Part(len(hashes), SKETCHERS[sketcher].make(hashes, size))

    def _blocks_of(self, key: str, part: str) -> NDArray[np.uint64]:
        if part == "beside":
            return self._beside(key)
        return np.sort(weighted_lines(Cut(join(getattr(self._extract(key).parts, part)), seed=0)))
