"""The floors of the quality gate: what the default recipe reaches on the pairs, and must go on reaching.

    python -m tests.quality.floors [--pages DIRECTORY]

measures the default on both sets of pairs and raises the floors that it exceeds; it never lowers one. Floors are rounded down to
hundredths (the grey share, where less is better, up): packages leave the mirrors, and with fewer pairs the same recipe measures a little
else. Those of recall are a hundredth lower: it moves by as much between trafilatura 2.0 and 2.3. The directory keeps the pages for the
next time.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.quality.pairs import INDEX, LANGUAGES, build
from tests.quality.score import Score, by_language, judge

if TYPE_CHECKING:
    from collections.abc import Mapping

FLOORS = {INDEX: Path(__file__).with_name("floors.json"), LANGUAGES: Path(__file__).with_name("languages.floors.json")}
CEILINGS = {"grey"}
MARGINS = {"recall": 0.01, "recall_close": 0.01}

Floors = dict[str, dict[str, float]]


def stored(index: Path = INDEX) -> Floors:
    """Return the floors of a set of pairs: {language: {measure: least value}}, of the grey share the greatest; {} where it has none."""
    floors: Floors = json.loads(FLOORS[index].read_text()) if FLOORS[index].exists() else {}
    return floors


def below(scores: Mapping[str, Score], floors: Floors) -> list[str]:
    """Return a line for each measure that does not reach its floor."""
    return [
        f"{language}: {measure} is {value:.4f}, the floor {floor}"
        for language, least in floors.items()
        for measure, floor in least.items()
        if (value := asdict(scores[language])[measure]) != floor and (value > floor) == (measure in CEILINGS)
    ]


def raised(scores: Mapping[str, Score], floors: Floors) -> Floors:
    """Return the floors raised to what was measured; where that is less, they stay."""
    return {language: _raised(score, floors.get(language, {})) for language, score in scores.items()}


def _raised(score: Score, floors: dict[str, float]) -> dict[str, float]:
    measured = {name: value for name, value in asdict(score).items() if name != "pairs"}
    return {name: _raised_floor(name, value, floors.get(name)) for name, value in measured.items()}


def _raised_floor(name: str, value: float, floor: float | None) -> float:
    if name in CEILINGS:
        return min(math.ceil(value * 100) / 100, 1.0 if floor is None else floor)
    return max(round(math.floor(value * 100) / 100 - MARGINS.get(name, 0.0), 2), floor or 0.0)


def main() -> None:
    """Raise the floors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        root = arguments.pages or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        root.mkdir(parents=True, exist_ok=True)
        for index, file in FLOORS.items():
            scores = by_language(judge(build(root, index), root))
            file.write_text(json.dumps(raised(scores, stored(index)), indent=1) + "\n")


if __name__ == "__main__":
    main()
