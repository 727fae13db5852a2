"""Are the thresholds fitted to the sources that they were chosen on? Choose them without a source, and look at that source.

Chosen are the distance and the page threshold, by precision, grey share and recall on the pairs of all the other sources, and by what
crawls of the site lose, unless the site's own manual is the one left out. The last row has the pairs of all sources, each judged by what
the others chose; "lost" is the site's, and held out in the row of its manual only.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.quality.tables import PAGE_THRESHOLDS
from benchmarks.quality.variants import Variant
from simcrawl.page.recipes import resolve
from tests.quality.score import COLUMNS, Judged, Score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.quality.measure import Bench

LEAST_PRECISION, MOST_GREY, MOST_LOST = 0.997, 0.10, 0.003
DISTANCES = (3, 5, 7, 9, 11)
HEADER = ("source left out", "k chosen", "threshold chosen", *COLUMNS, "lost")
SITE = "installation-guide"
_CROSSED = "two manuals"


class Setting(NamedTuple):
    """What is chosen."""

    distance: int
    similarity: float


def rows(bench: Bench) -> list[list[str]]:
    """Return a row for each source, the settings that the others choose and the score on it; and a row for all of them."""
    variants = {
        Setting(k, s): Variant("", replace(resolve(), max_distance=k, min_similarity=s)) for k in DISTANCES for s in PAGE_THRESHOLDS
    }
    pairs = [*bench.corpus.pairs, *bench.corpus.languages]
    judged = {setting: bench.judge(variant, pairs) for setting, variant in variants.items()}
    lost = {setting: mean(crawl.lost for crawl in bench.measure(variant).crawls) for setting, variant in variants.items()}
    made, every = [], []
    for source, (chosen, held_out) in hold_out(judged, lost).items():
        made.append([source, str(chosen.distance), f"{chosen.similarity:.2f}", *Score.of(held_out).cells(), f"{lost[chosen]:.2%}"])
        every += held_out
    return [*made, ["all, each by the others' choice", "-", "-", *Score.of(every).cells(), "-"]]


def hold_out(judged: Mapping[Setting, list[Judged]], lost: Mapping[Setting, float]) -> dict[str, tuple[Setting, list[Judged]]]:
    """Return for each source the settings that the others choose, and what these say of its pairs."""
    found = {}
    for source in sorted({_source(one) for said in judged.values() for one in said}):
        known = dict.fromkeys(lost, 0.0) if source == SITE else lost
        chosen = choose({setting: Score.of(one for one in said if _source(one) != source) for setting, said in judged.items()}, known)
        found[source] = chosen, [one for one in judged[chosen] if _source(one) == source]
    return found


def choose(scores: Mapping[Setting, Score], lost: Mapping[Setting, float]) -> Setting:
    """Return the settings of the greatest recall whose precision, grey share and losses are good enough; the strictest where none is.

    Of equal ones that of the greatest similarity, then that of the least distance, which costs least.
    """
    good = [
        setting
        for setting, score in scores.items()
        if score.precision >= LEAST_PRECISION and score.grey <= MOST_GREY and lost[setting] <= MOST_LOST
    ]
    strictest = max(scores, key=lambda setting: (setting.similarity, -setting.distance))
    return max(good, key=lambda setting: (scores[setting].recall, setting.similarity, -setting.distance), default=strictest)


def _source(judged: Judged) -> str:
    return _CROSSED if " x " in judged.pair.source else judged.pair.source
