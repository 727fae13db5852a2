"""Articles whose surroundings changed, under hashes of several seeds: how much of what one seed finds is chance.

    python -m benchmarks.quality.seeds [--recipes content,terms] [--seeds 8] [--packages DIRECTORY] [--every 2]

Every store has a random seed, and the gate of `tests/test_quality_churn.py` has seed 0 alone: pages near the limit of distance fall on one
side or the other. The cases are those of `benchmarks.quality.churn`; `--every 2` takes the pages of the gate. Columns: the share of cases
called copies, as the mean over the seeds; the last one: with how many of the seeds every floor of the gate holds.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import simcrawl
from benchmarks.quality.churn import KINDS, Case, cases, package_pages
from benchmarks.quality.search import printer
from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule
from tests import test_quality_churn as gate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simcrawl.page.recipes import Recipe

    Found = dict[tuple[str, str], float]


def found(made: Iterable[Case], recipe: Recipe, seed: int) -> Found:
    """Return the share of cases called copies, by language and kind."""
    rule = Rule.of(recipe)
    said: dict[tuple[str, str], list[bool]] = {}
    for case in made:
        pages = (
            simcrawl.fingerprint_page(html.encode(), url="http://a.example/", encoding="utf-8", recipe=recipe, seed=seed)
            for html in (case.html_a, case.html_b)
        )
        a, b = pages
        whole = isinstance(a, simcrawl.PageFingerprint) and isinstance(b, simcrawl.PageFingerprint)
        said.setdefault((case.lang, case.kind), []).append(whole and simcrawl.compare(a, b, rule=rule).is_near_duplicate)  # type: ignore[arg-type]
    return {key: mean(copies) for key, copies in said.items()}


def keeps_floors(shares: Mapping[tuple[str, str], float]) -> bool:
    """Return whether no share is below the gate's floor."""
    return all(shares[key] >= floor for key, floor in gate.COPIES_FOUND.items())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipes", type=lambda text: text.split(","), default=["content", "terms"])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        pages = package_pages(arguments.packages or Path(stack.enter_context(tempfile.TemporaryDirectory())))
    made = cases(pages[:: arguments.every])
    keys = sorted({(case.lang, case.kind) for case in made}, key=lambda key: (key[0], KINDS.index(key[1])))
    rows = []
    for name in arguments.recipes:
        by_seed = [found(made, resolve(name), seed) for seed in range(arguments.seeds)]
        shares = (f"{mean(of[key] for of in by_seed):.3f}" for key in keys)
        rows.append([name, *shares, f"{sum(map(keeps_floors, by_seed))} of {arguments.seeds}"])
    printer(markdown=True)(f"{len(made)} cases", ("recipe", *(f"{lang} {kind}" for lang, kind in keys), "floors hold"), rows)


if __name__ == "__main__":
    main()
