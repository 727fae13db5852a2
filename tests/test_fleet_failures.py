"""The rounds of failures of a fleet: `benchmarks.fleet.failures`, one short round of each that takes no long outage."""

from __future__ import annotations

import pytest

from benchmarks.fleet.failures import KINDS, rounds

# Ten seconds are measured, not tested.
SHORT = [kind for kind in KINDS if kind != "stopped"]


@pytest.mark.parametrize("kind", SHORT)
def test_a_failure_loses_no_content_and_what_it_keeps_twice_is_counted(kind: str):
    outcome = rounds(kind, 1, 30, 2)
    assert (outcome.contents, outcome.lost, outcome.differ) == (30, 0, 0)
    assert outcome.late == outcome.twice
    if kind in ("worker", "scripts"):
        assert outcome.twice == 0
