"""Precision, recall and grey share of a recipe on labelled pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

import simcrawl
from simcrawl.page.fingerprint import Abstention, PageFingerprint, fingerprint_page
from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tests.quality.pairs import Pair

ALL = "all"
CLOSE = 0.95
COLUMNS = ("precision", "recall", "recall of J >= .95", "grey share", "pairs")


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and what a recipe says of it. `distance` and `similarity`: None where a page abstained or has no sketch."""

    pair: Pair
    is_copy: bool
    distance: int | None = None
    similarity: float | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether the label says otherwise; a grey pair is never wrong."""
        return self.pair.label != "grey" and self.is_copy != (self.pair.label == "near")

    def __str__(self) -> str:
        pair = self.pair
        similarity = "none" if self.similarity is None else f"{self.similarity:.3f}"
        said = "a copy" if self.is_copy else "no copy"
        return (
            f"{pair.id} {pair.lang} {pair.label} (J {pair.jaccard5:.3f}) called {said}: distance {self.distance}, similarity {similarity}, "
            f"{pair.a.package} {pair.a.path} | {pair.b.package} {pair.b.path}"
        )


@dataclass(frozen=True, slots=True)
class Score:
    """How a recipe does on some pairs; 1 for a share of nothing, but no grey pair called a copy is 0."""

    precision: float
    recall: float
    recall_close: float
    grey: float
    pairs: int

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> Score:
        """Score what a recipe said."""
        every = list(judged)
        near = [one for one in every if one.pair.label == "near"]
        grey = [one.is_copy for one in every if one.pair.label == "grey"]
        copies = [one.pair.label == "near" for one in every if one.is_copy and one.pair.label != "grey"]
        return cls(
            precision=_share(copies),
            recall=_share([one.is_copy for one in near]),
            recall_close=_share([one.is_copy for one in near if one.pair.jaccard5 >= CLOSE]),
            grey=_share(grey) if grey else 0.0,
            pairs=len(every),
        )

    def cells(self) -> list[str]:
        """Return the values of `COLUMNS`."""
        return [*(f"{value:.3f}" for value in (self.precision, self.recall, self.recall_close)), f"{self.grey:.2f}", str(self.pairs)]


def _share(answers: list[bool]) -> float:
    return sum(answers) / len(answers) if answers else 1.0


def judge(pairs: Iterable[Pair], root: Path, recipe: str = "auto") -> list[Judged]:
    """Return what a recipe says of each pair, whose pages are in a directory under their SHA-1."""
    chosen = resolve(recipe)
    rule = Rule.of(chosen)
    pages: dict[str, PageFingerprint | Abstention] = {}
    judged = []
    for pair in pairs:
        for source in pair.sources:
            if source.sha1 not in pages:
                pages[source.sha1] = fingerprint_page((root / source.sha1).read_bytes(), recipe=chosen)
        judged.append(compared(pair, pages[pair.a.sha1], pages[pair.b.sha1], rule))
    return judged


def compared(pair: Pair, a: PageFingerprint | Abstention, b: PageFingerprint | Abstention, rule: Rule) -> Judged:
    """Return what a rule says of a pair; pages that abstain are copies where their bytes are the same."""
    if isinstance(a, Abstention) or isinstance(b, Abstention):
        return Judged(pair, a.body_digest == b.body_digest)
    comparison = simcrawl.compare(a, b, rule=rule)
    return Judged(pair, comparison.is_near_duplicate, comparison.distance, comparison.similarity)


def by_language(judged: Iterable[Judged]) -> dict[str, Score]:
    """Return the score of each language, and of "all"."""
    every = list(judged)
    languages = sorted({one.pair.lang for one in every})
    return {ALL: Score.of(every)} | {lang: Score.of(one for one in every if one.pair.lang == lang) for lang in languages}


def table(scores: Mapping[str, Mapping[str, Score]]) -> Table:
    """Return a table of {recipe: {language: score}}."""
    made = Table("recipe", "language", *COLUMNS)
    for recipe, languages in scores.items():
        for language, score in languages.items():
            made.add_row(recipe, language, *score.cells())
    return made
