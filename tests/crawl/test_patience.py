"""A copy waits for its original, less and less where that takes long and nothing else is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, strategies as st

from simcrawl.crawl.patience import LONGEST, SHORTEST, Patience

if TYPE_CHECKING:
    from simcrawl.crawl.threads import Wake


def new() -> Patience:
    return Patience(clock=lambda: 0.0)


class Original:
    """Comes out after so many seconds, of which the process works for a share; stands in the place of a call that is woken."""

    def __init__(self, seconds: float, share: float = 0.0) -> None:
        self.now, self._seconds, self._share = 0.0, seconds, share

    @property
    def raised(self) -> bool:
        return self.now >= self._seconds

    async def wait(self, seconds: float) -> None:
        self.now = min(self.now + seconds, max(self.now, self._seconds))

    def waited_for(self, patience: Patience, most: float = 10) -> float:
        """Return how long a copy waits."""
        start = patience._clock()
        patience._clock, patience._used = lambda: start + self.now, lambda: self._share * self.now
        asyncio.run(patience.wait(cast("Wake", self), start + most))
        return self.now


@pytest.mark.parametrize(
    ("seconds", "share", "waited"),
    [
        (0.5, 0.0, 0.5),
        (8, 0.0, LONGEST),
        # While the process is busy it costs nothing, up to the most.
        (8, 0.9, 8),
        (60, 0.9, 10),
        # Of a machine that others use, too, half is much.
        (8, 0.5, 8),
        (8, 0.1, LONGEST),
    ],
)
def test_a_copy_waits_while_the_process_is_busy_or_for_five_seconds(seconds: float, share: float, waited: float):
    assert Original(seconds, share).waited_for(new()) == waited


def test_who_waits_in_vain_lets_the_next_ones_wait_less_and_others_more():
    patience = new()
    waited = [Original(8).waited_for(patience) for _ in range(4)]
    assert waited == [LONGEST, LONGEST / 2, LONGEST / 4, LONGEST / 8]
    assert Original(0.01).waited_for(patience) == 0.01
    assert patience.seconds == LONGEST / 8


def test_those_that_wait_are_not_what_keeps_the_process_busy():
    # Of a thousand pages that look each hundredth of a second the looks alone are half a core.
    looks = list[float]()

    class Never:
        now, raised = 0.0, False

        async def wait(self, seconds: float) -> None:
            looks.append(seconds)
            self.now += seconds

    wake = Never()
    patience = Patience(clock=lambda: wake.now, used=lambda: wake.now)
    patience.seconds = SHORTEST
    asyncio.run(patience.wait(cast("Wake", wake), 10))
    assert looks[0] == SHORTEST
    assert min(looks[1:-1]) > 0.49


@pytest.mark.parametrize(
    ("comes_out", "closes", "work_ends", "waited"),
    [
        # The crawl can end no sooner than its pages at work: of such an original a copy costs nothing.
        (7, 0, 7, 7),
        (7, 4.7, 7, 7),
        # What nobody works at will not come out.
        (60, 2, 0, 2),
        (60, 2, 4, 4),
        # Never longer than any page may wait.
        (60, 0, 60, 10),
        (8, 6, 8, LONGEST),
    ],
)
def test_while_a_crawl_closes_a_copy_waits_as_long_as_there_is_a_page_at_work(
    comes_out: float, closes: float, work_ends: float, waited: float
):
    original = Original(comes_out)
    patience = Patience(lambda: original.now >= closes, lambda: original.now < work_ends, clock=lambda: 0.0)
    assert original.waited_for(patience) == pytest.approx(waited, abs=0.5)


def test_a_wait_that_held_up_the_crawl_counts_as_one_in_vain():
    patience = new()
    waited = list[float]()
    for _ in range(4):
        waited.append(Original(1.5).waited_for(patience))
        patience.was_costly()
    # The first one was not in vain: what it doubled is taken back.
    assert waited == [1.5, LONGEST / 4, LONGEST / 32, LONGEST / 256]
    assert patience.seconds == SHORTEST


@given(st.lists(st.floats(0, 20), max_size=60))
def test_it_is_bounded_and_comes_back(originals: list[float]):
    patience = new()
    for seconds in originals:
        assert Original(seconds).waited_for(patience) <= LONGEST
        assert SHORTEST <= patience.seconds <= LONGEST
    for _ in range(9):
        Original(0).waited_for(patience)
    assert patience.seconds == LONGEST


def test_of_waits_in_vain_at_the_same_time_one_counts():
    now = 0.0

    class Never:
        raised = False

        async def wait(self, seconds: float) -> None:
            nonlocal now
            until = now + seconds
            # All of them begin before the first one ends.
            await asyncio.sleep(0)
            now = max(now, until)

    patience = Patience(clock=lambda: now, used=lambda: 0.0)

    async def together() -> None:
        await asyncio.gather(*(patience.wait(cast("Wake", Never()), now + 60) for _ in range(20)))

    for times in range(1, 4):
        asyncio.run(together())
        assert patience.seconds == LONGEST / 2**times
