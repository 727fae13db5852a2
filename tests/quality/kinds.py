"""The bounds of the gate for kinds of sites that the recipe was not made with: four sites of `tests.sites.kinds`, or parts of them.

    python -m tests.quality.kinds [--roots DIRECTORY]

measures the default and tightens `kinds.json` where it became better: recall is a floor, the others are ceilings. Nothing is ever loosened
but by an editor, in the open. The directory keeps the sites for the next time.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.quality.kinds import Site, judge
from tests.sites import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.quality.kinds import Result

BOUNDS = Path(__file__).with_name("kinds.json")
CEILINGS = ("wrong", "wrong_main", "lost")
FLOORS = ("recall", "recall_near")
ORDERS = 3
# Packages change a little with every update of a release.
_MARGIN = 0.01
_SITES = kinds.KINDS
GATE = {
    "php": replace(_SITES["php"], pages=r"function\.[cv].*|(?:class|mysqli|gearmanclient|ref|book)\..*|.*\.installation"),
    "javadoc": replace(_SITES["javadoc"], pages=r"openjdk-\d+-jre-headless/api/java\.base/java/util/(?:class-use/[A-M].*|[^/]*)"),
    "crystal": replace(_SITES["crystal"], pages=r"[^/]*|Crystal/Macros/.*|Log/.*"),
    "cppreference": replace(_SITES["cppreference"], pages=r"en/cpp/(?:container/(?:deque|map|unordered_map|vector)|keyword|thread)/.*"),
}
"""Of large sites a part, since all of them take minutes."""

Bounds = dict[str, dict[str, float]]


def results(roots: Path) -> dict[str, Result]:
    """Return what the default does on each site of the gate; sites that are not in the directory are built.

    Raises:
        UnavailableError: a package is not to be had here.
    """
    kinds.build({name: kind for name, kind in GATE.items() if not (roots / name).exists()}, roots)
    return {name: judge(Site.read(roots / name, kind.container), ORDERS) for name, kind in GATE.items()}


def stored() -> Bounds:
    """Return the bounds: {site: {measure: value}}."""
    bounds: Bounds = json.loads(BOUNDS.read_text()) if BOUNDS.exists() else {}
    return bounds


def broken(measured: Mapping[str, Mapping[str, float]], bounds: Bounds) -> list[str]:
    """Return a line for each measure that does not keep its bound."""
    return [
        f"{site}: {measure} is {value:.4f}, the {'ceiling' if measure in CEILINGS else 'floor'} {bound}"
        for site, of in bounds.items()
        for measure, bound in of.items()
        if (value := measured[site][measure]) != bound and (value > bound) == (measure in CEILINGS)
    ]


def tightened(measured: Mapping[str, Mapping[str, float]], bounds: Bounds) -> Bounds:
    """Return the bounds, with what was measured where that is better."""
    return {
        site: {measure: _ceiling(of[measure], bounds.get(site, {}).get(measure)) for measure in CEILINGS}
        | {measure: _floor(of[measure], bounds.get(site, {}).get(measure)) for measure in FLOORS}
        for site, of in measured.items()
    }


def _ceiling(value: float, bound: float | None) -> float:
    rounded = math.ceil(value * 1000) / 1000
    return rounded if bound is None else min(rounded, bound)


def _floor(value: float, bound: float | None) -> float:
    return max(round(math.floor(value * 1000) / 1000 - _MARGIN, 3), bound or 0.0)


def measures(results: Mapping[str, Result]) -> dict[str, dict[str, float]]:
    """Return the bounded measures of each site."""
    return {site: {measure: getattr(result, measure) for measure in (*CEILINGS, *FLOORS)} for site, result in results.items()}


def main() -> None:
    """Tighten the bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--roots", type=Path)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        roots = arguments.roots or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made = tightened(measures(results(roots)), stored())
    BOUNDS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
