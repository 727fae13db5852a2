"""What servers do that mean harm, over HTTP. More, beside crawls without simcrawl: `python -m benchmarks.crawl.nasty`."""

from __future__ import annotations

import pytest

from benchmarks.crawl import nasty


@pytest.mark.parametrize("name", nasty.ANSWERS)
def test_honest_pages_come_out_beside_answers_that_mean_harm(name: str):
    outcome = nasty.crawl(name)
    assert outcome.code == 0, outcome.said
    assert outcome.honest == nasty.HONEST
    # All of them were asked for.
    assert outcome.requests >= nasty.HONEST + 4
    assert "simcrawl failed" not in outcome.said
    assert outcome.megabytes < 400
