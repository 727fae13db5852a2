"""The quality gate for articles whose surroundings change: the default must go on finding them, and go on telling other articles apart.

The pages are every other one of `benchmarks.quality.packages`; the floors are what was measured on them, less one page (each row
has about thirty). `python -m benchmarks.quality.churn` measures all.
"""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

import pytest

from benchmarks.quality import packages
from benchmarks.quality.churn import RULES, Article, Case, Judged, cases, judge, package_pages, shares

if TYPE_CHECKING:
    from pathlib import Path

FEWEST = 120
COPIES_FOUND = {("en", "mild"): 0.64, ("en", "full"): 0.81, ("zh", "mild"): 0.75, ("zh", "full"): 0.59}
SWAPS_TAKEN = {"en": 0.0, "zh": 0.0}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    try:
        pages = package_pages(tmp_path_factory.mktemp("packages"))
    except packages.UnavailableError as exc:
        pytest.skip(str(exc))
    if len(pages) < FEWEST:
        pytest.skip(f"{len(pages)} of {len(packages.index())} pages can be had: the floors are those of all of them")
    # Every other page: all of them take a minute.
    return cases(pages[::2])


def test_the_default_stays_above_its_floors(made: list[Case]) -> None:
    said = {(case.id, case.lang, case.kind): RULES["the default"](case) for case in made}
    found = {(lang, kind): mean(copy for (_, *of), copy in said.items() if of == [lang, kind]) for _, lang, kind in said}
    print(found)
    assert {key: found[key] for key, floor in COPIES_FOUND.items() if found[key] < floor} == {}
    assert {lang: found[lang, "swap"] for lang, most in SWAPS_TAKEN.items() if found[lang, "swap"] > most} == {}


def _page(topic: str, number: int) -> str:
    prose = "".join(f"<p>{topic} {i} {' '.join(f'{topic}{i * 7 + word}' for word in range(30))}.</p>" for i in range(12))
    others = "".join(f"<li><a href='/{i}'>Other story {number} of {i}, which nobody who is here has read</a></li>" for i in range(40))
    return f"<html><body><ul>{others}</ul><div><h1>All about {topic}</h1>{prose}</div><p>{topic} {number}</p></body></html>"


def test_an_article_in_other_surroundings_is_a_copy_and_another_one_in_the_same_is_none() -> None:
    full = judge(Case("1", "en", "made", "full", _page("harbour", 1), _page("harbour", 2)))
    swap = judge(Case("2", "en", "made", "swap", _page("harbour", 1), _page("library", 1)))
    assert full.copies[0]
    assert full.comparison
    assert full.comparison.distance == 0
    assert not full.reason
    assert not any(swap.copies)
    assert swap.reason == "too far and not alike"
    assert not full.is_wrong
    assert not swap.is_wrong
    assert shares([full, swap])[0] == 0.5


def test_a_page_that_abstains_is_no_copy_and_says_why() -> None:
    said = judge(Case("1", "en", "made", "mild", _page("harbour", 1), "<html><body><p>Two words</p></body></html>"))
    assert not said.copies[0]
    assert (said.comparison, said.reason) == (None, "abstained: short")
    assert said.is_wrong


def test_where_no_package_is_to_be_had_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "which", lambda _: None)
    with pytest.raises(packages.UnavailableError, match="none of npm:"):
        packages.build(tmp_path)


def test_the_rules_stand_beside_each_other() -> None:
    assert next(iter(RULES)) == "the default"
    assert len(Judged(Case("1", "en", "made", "swap", "", ""), (False,) * 5).copies) == len(RULES)
    assert cases([Article("1", "en", "made", _page("harbour", 1))]) == []
