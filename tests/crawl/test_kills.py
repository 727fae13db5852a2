"""Crawls, workers, or both killed at random moments. Two hundred of them: `python -m benchmarks.crawl.kills`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.crawl import kills
from benchmarks.crawl.server import serving

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_killed_costs_no_content_and_leaves_a_whole_store(tmp_path: Path):
    with serving("halves", tmp_path, 25, 0) as url:
        results = kills.run(tmp_path, url, rounds=len(kills.ROUNDS), pages=25, seed=5)
    assert [problem for one in results.values() for problem in one.problems] == []
    assert sum(one.lost for one in results.values()) == 0
    assert sum(one.kills for one in results.values()) >= 8
    assert {one.rounds for one in results.values()} == {1}
