"""Copies wait for their originals no longer than a share of the crawl's time, all together."""

from __future__ import annotations

from contextlib import ExitStack

from hypothesis import given, strategies as st

from simcrawl.crawl.patience import Patience


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_who_waits_alone_waits_as_long_as_there_is_time():
    clock = Clock()
    patience = Patience(16, clock)
    with patience.wait(10) as seconds:
        assert seconds == 5
        clock.now += 4
    with patience.wait(10) as seconds:
        # 5 and a tenth of 4 * 16, less the 4 of before.
        assert abs(seconds - 7.4) < 1e-9
    with patience.wait(2) as seconds:
        assert seconds == 2


def test_who_wait_at_once_share_it():
    with ExitStack() as waiting:
        patience = Patience(16, Clock())
        assert [waiting.enter_context(patience.wait(10)) for _ in range(4)] == [5, 2.5, 5 / 3, 1.25]


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 20)), max_size=40), st.integers(1, 64))
def test_all_together_they_wait_for_a_share_of_the_time(waits: list[tuple[float, float]], places: int):
    clock = Clock()
    patience, waited = Patience(places, clock), 0.0
    for most, pause in waits:
        with patience.wait(most) as seconds:
            assert 0 <= seconds <= most
            clock.now += seconds
            waited += seconds
        clock.now += pause
    assert waited <= 5 + 0.1 * places * (clock.now - 100) + 1e-6
