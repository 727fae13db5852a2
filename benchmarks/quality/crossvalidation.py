"""Is the page threshold fitted to the sources it was chosen on? Choose it without a source, and look at that source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.quality.tables import PAGE_THRESHOLDS
from benchmarks.quality.variants import Variant
from simcrawl.recipes import resolve
from tests.quality.score import COLUMNS, Judged, Score

if TYPE_CHECKING:
    from benchmarks.quality.measure import Bench

LEAST_PRECISION, MOST_GREY = 0.997, 0.10
HEADER = ("source left out", "threshold chosen", *COLUMNS)
_CROSSED = "two manuals"


def rows(bench: Bench) -> list[list[str]]:
    """Return a row for each source: the threshold that the others choose, and the score on it."""
    judged = {s: bench.judge(Variant("", replace(resolve(), min_similarity=s))) for s in PAGE_THRESHOLDS}
    sources = sorted({_source(one) for one in judged[PAGE_THRESHOLDS[0]]})
    made = []
    for source in sources:
        chosen = choose({s: Score.of(one for one in said if _source(one) != source) for s, said in judged.items()})
        held_out = [one for one in judged[chosen] if _source(one) == source]
        made.append([source, f"{chosen:.2f}", *Score.of(held_out).cells()])
    return made


def choose(scores: dict[float, Score]) -> float:
    """Return the threshold of the greatest recall whose precision and grey share are good enough; the strictest where none is."""
    good = [s for s, score in scores.items() if score.precision >= LEAST_PRECISION and score.grey <= MOST_GREY]
    return max(good, key=lambda s: (scores[s].recall, s), default=max(scores))


def _source(judged: Judged) -> str:
    return _CROSSED if " x " in judged.pair.source else judged.pair.source
