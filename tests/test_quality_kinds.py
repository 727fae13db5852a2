"""The quality gate for kinds of sites that the recipe was not made with: what it drops must be copies, and copies must go on being found.

Tighten the bounds with `python -m tests.quality.kinds` when a change made it better; nothing loosens them but an editor, in the open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from benchmarks.quality.kinds import Result, Site, compared, judge, table
from benchmarks.quality.oracle import alike, jaccard, shingles, texts
from tests.quality import kinds
from tests.quality.pairs import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """<html><head><title>Fish</title><script>hidden()</script><script type="application/json">{"price": 12}</script></head><body>
<nav>Home Shop</nav><main>Fresh <b>fish</b><p>daily</p><textarea>Say it</textarea><img alt="A cod"><noscript>No scripts</noscript></main>
after</body></html>"""


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """What the default does on the sites of the gate."""
    try:
        return kinds.results(tmp_path_factory.mktemp("kinds"))
    except UnavailableError as exc:
        pytest.skip(f"the sites cannot be rebuilt: {exc}")


def test_the_default_keeps_its_bounds_on_sites_of_other_kinds(results: dict[str, Result]) -> None:
    Console(width=140).print(table(results))
    for result in results.values():
        print(*result.wrong_drops, sep="\n")
    assert kinds.broken(kinds.measures(results), kinds.stored()) == []


def test_every_site_of_the_gate_has_bounds() -> None:
    assert kinds.stored().keys() == kinds.GATE.keys()


def test_bounds_become_tighter_and_never_looser() -> None:
    measured = {"shop": {"wrong": 2.0, "wrong_main": 0.5, "lost": 0.0101, "recall": 0.98, "recall_near": 0.5}}
    first = kinds.tightened(measured, {})
    assert first == {"shop": {"wrong": 2.0, "wrong_main": 0.5, "lost": 0.011, "recall": 0.97, "recall_near": 0.49}}
    second = kinds.tightened(measured, {"shop": {"wrong": 0.0, "wrong_main": 1.0, "lost": 0.5, "recall": 0.9, "recall_near": 0.9}})
    assert second == {"shop": {"wrong": 0.0, "wrong_main": 0.5, "lost": 0.011, "recall": 0.97, "recall_near": 0.9}}
    assert kinds.broken(measured, first) == []
    assert kinds.broken(measured, second) == ["shop: wrong is 2.0000, the ceiling 0.0", "shop: recall_near is 0.5000, the floor 0.9"]


def test_the_oracle_sees_three_texts_of_a_page() -> None:
    made = texts(PAGE.encode(), "//main")
    assert made.visible.split() == ["Home", "Shop", "Fresh", "fish", "daily", "Say", "it", "after"]
    assert made.main.split() == ["Fresh", "fish", "daily", "Say", "it"]
    assert set(made.everything.split()) - set(made.visible.split()) == {"Fish", '{"price":', "12}", "A", "cod", "No", "scripts"}
    assert texts(b"", "//main") == ("", "", "")
    assert texts(b"<p>Only this", "//main").main.split() == ["Only", "this"]


def test_shingles_are_runs_of_five_words_or_characters() -> None:
    assert len(shingles("one two three four five six")) == 2
    assert len(shingles("一二三四五六")) == 2
    assert len(shingles("three words only")) == 1
    assert len(shingles("")) == 0
    assert jaccard(shingles("One, two three four FIVE"), shingles("one two three four five")) == 1
    assert jaccard(shingles(""), shingles("")) == 0


@given(st.integers(0, 30), st.integers(0, 2**32))
def test_pairs_that_are_alike_are_found_with_their_resemblance(alone: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, 2**64, 600 + 2 * alone, np.uint64)
    a, b, other = np.unique(numbers[: 300 + alone]), np.unique(numbers[alone : 300 + 2 * alone]), np.unique(numbers[-300:])
    assert alike([a, b, other], 0.9) == ({(0, 1): jaccard(a, b)} if jaccard(a, b) >= 0.9 else {})


def _site(root: Path, memo: Path | None = None) -> Site:
    words = [f"word{number}" for number in range(400)]
    bodies = {"a": words, "b": words, "c": [*words[:-1], "changed"], "d": words[::-1]}
    for name, body in bodies.items():
        title = "first" if name == "a" else "second"
        (root / f"{name}.html").write_text(f"<html><head><title>{title}</title></head><body><p>{' '.join(body)}</p></body></html>")
    (root / "short.html").write_text("<html><body><p>Two words</p></body></html>")
    return Site.read(root, "//body", processes=1, memo=memo)


def test_a_site_is_judged_by_what_is_dropped_and_what_is_not(tmp_path: Path) -> None:
    result = judge(_site(tmp_path), orders=2)
    assert (result.pages, result.abstained, result.dropped) == (5, 1, 2)
    assert (result.wrong, result.copies, result.recall, result.lost, result.kept_per_content) == (0, 2, 1, 0, 1)
    assert {drop.url for drop in result.drops} | {drop.original for drop in result.drops} == {"a.html", "b.html", "c.html"}
    assert result.missed == []


def test_what_the_oracle_needs_is_kept_for_the_same_pages_alone(tmp_path: Path) -> None:
    memo = tmp_path / "site.npz"
    made = _site(tmp_path, memo)
    written = memo.stat().st_mtime_ns
    assert judge(_site(tmp_path, memo), orders=1) == judge(made, orders=1)
    assert memo.stat().st_mtime_ns == written
    (tmp_path / "e.html").write_text("<html><body><p>Another page</p></body></html>")
    assert "e.html" in _site(tmp_path, memo).pages
    assert memo.stat().st_mtime_ns != written


def test_two_runs_are_compared_page_by_page() -> None:
    before = {"site": {"drops": [("a", "b", 0.5, 0.5, 0.5)], "orders": [{"a": "b"}, {}], "dropped": 1.0, "wrong": 1.0}}
    after = {"site": {"drops": [("c", "b", 0.9, 0.9, 0.9)], "orders": [{"c": "b"}, {"c": "b"}], "dropped": 2.0, "wrong": 0.0}}
    rest = dict.fromkeys(("wrong_everything", "wrong_main", "recall", "recall_near", "lost", "kept_per_content"), 1.0)
    lines = compared(*({"site": one["site"] | rest} for one in (before, after)))
    assert lines[:2] == ["site: dropped 1.0000 -> 2.0000", "site: wrong 1.0000 -> 0.0000"]
    assert lines[-2:] == ["  newly dropped 0.900 2x c b", "  newly kept 0.500 1x a b"]
