"""The figure: precision and recall against k."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.figures import pyplot, save
from benchmarks.quality.tables import BASELINE, DISTANCES, plain
from benchmarks.quality.variants import Variant
from simcrawl.page.recipes import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.quality.measure import Bench
    from simcrawl.page.recipes import Recipe


def draw(bench: Bench, path: Path) -> None:
    """Write the figure as SVG; needs matplotlib."""
    figure, (precision, recall) = pyplot().subplots(1, 2, figsize=(8, 3.2), sharex=True)
    for name, recipe in _curves().items():
        scores = [bench.measure(Variant("", replace(recipe, max_distance=k)), crawl=False).score for k in DISTANCES]
        precision.plot(DISTANCES, [score.precision for score in scores], marker=".", label=name)
        recall.plot(DISTANCES, [score.recall for score in scores], marker=".", label=name)
    for axes, title in ((precision, "precision"), (recall, "recall")):
        axes.set(title=title, xlabel="k, differing bits", xticks=DISTANCES)
        axes.grid(alpha=0.3)
    recall.legend(loc="lower right")
    figure.tight_layout()
    save(figure, path)


def _curves() -> dict[str, Recipe]:
    default = resolve()
    return {
        f"{default.name} (the default)": default,
        f"{default.name}, not verified": plain(default),
        f"{BASELINE}: words by tf": resolve(BASELINE),
    }
