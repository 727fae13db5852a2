"""Pairs of made pages, each of another kind of difference: what must become of the second page once the first is kept.

    python -m tests.quality.cases [--add]

judges all cases by the default recipe, prints those that are wrong and takes out of the lists of what is known to be wrong
(`known_wrong.json`) what has become right; with `--add` what is wrong now goes in. A set without a list gets one.

A set is a directory of `tests/cases` with `cases.json` ({name: {expect, class, why, url_a, url_b}}) and `pages/NAME.html`, which holds both
pages: where they differ it says ⟪what the first has‖what the second has⟫.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import simcrawl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl import Verdict

    Said = Literal["keep", "keep-outlinks", "drop"]

ROOT = Path(__file__).parents[1] / "cases"
_DIFFERENCE = re.compile("⟪(.*?)‖(.*?)⟫", re.DOTALL)
_KNOWN = "known_wrong.json"


@dataclass(frozen=True, slots=True)
class Case:
    """Two pages. `expect`: keep the second, drop it, or drop it at most but not its links (keep-outlinks); `open`: one can argue."""

    name: str
    kind: str
    expect: Said
    open: bool
    why: str
    urls: tuple[str, str]
    pages: tuple[str, str]

    def judge(self) -> Verdict:
        """Return what the default says of the second page after it kept the first."""
        with simcrawl.open_store("memory:") as store:
            detector = simcrawl.Detector(store)
            first, second = (
                detector.admit(simcrawl.fingerprint_page(page.encode(), url=url)) for page, url in zip(self.pages, self.urls, strict=True)
            )
        if first.drop_page:
            raise ValueError(f"{self.name}: the first page was dropped from an empty store")
        return second

    def is_wrong(self, verdict: Verdict) -> bool:
        """Whether the verdict is not what is expected. A page may be kept for the sake of its links."""
        if self.open:
            return False
        if self.expect == "keep-outlinks":
            return verdict.drop_outlinks
        return verdict.drop_page != (self.expect == "drop")


def split(text: str) -> tuple[str, str]:
    """Return the two pages that a file holds.

    Raises:
        ValueError: a mark is left over, or the pages are the same.
    """
    first, second = (_DIFFERENCE.sub(rf"\{side}", text) for side in (1, 2))
    if re.search("[⟪‖⟫]", first + second):
        raise ValueError("a difference is not closed or stands in another one")
    if first == second:
        raise ValueError("the pages do not differ")
    return first, second


def sets() -> list[Path]:
    """Return the directories of the sets."""
    return sorted(file.parent for file in ROOT.glob("*/cases.json"))


def read(directory: Path) -> list[Case]:
    """Return the cases of a set, in the order of its index."""
    index: dict[str, dict[str, str]] = json.loads((directory / "cases.json").read_text("utf-8"))
    return [
        Case(
            name,
            entry["class"],
            cast("Said", entry["expect"].removesuffix("?")),
            entry["expect"].endswith("?"),
            entry["why"],
            (entry["url_a"], entry["url_b"]),
            split((directory / "pages" / f"{name}.html").read_text("utf-8")),
        )
        for name, entry in index.items()
    ]


def known_wrong(directory: Path) -> set[str]:
    """Return the names of the cases of a set that are known to be wrong."""
    file = directory / _KNOWN
    return set(json.loads(file.read_text("utf-8"))) if file.exists() else set()


def remaining(known: Iterable[str], wrong: Iterable[str], *, add: bool = False) -> list[str]:
    """Return the new list: what was known and is still wrong; with `add` all that is wrong."""
    return sorted(set(wrong) if add else set(known) & set(wrong))


def main() -> None:
    """Judge all cases and rewrite the lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", action="store_true", help="list what has become wrong, too")
    add = parser.parse_args().add
    for directory in sets():
        cases = read(directory)
        wrong = [case for case in cases if case.is_wrong(case.judge())]
        for case in wrong:
            print(f"{directory.name}/{case.name} ({case.kind}): not {case.expect}. {case.why}")
        print(f"{directory.name}: {len(wrong)} of {len(cases)} wrong")
        file = directory / _KNOWN
        left = remaining(known_wrong(directory), (case.name for case in wrong), add=add or not file.exists())
        file.write_text(json.dumps(left, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
