"""A copy waits for its original, less and less where that takes long and nothing else is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, strategies as st

from simcrawl.crawl.patience import LONGEST, SHORTEST, Patience

if TYPE_CHECKING:
    from simcrawl.crawl.threads import Wake


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
        patience._clock, patience._used = lambda: self.now, lambda: self._share * self.now
        asyncio.run(patience.wait(cast("Wake", self), most))
        return self.now


@pytest.mark.parametrize(
    ("seconds", "share", "waited"),
    [
        (0.5, 0.0, 0.5),
        (4, 0.0, LONGEST),
        # While the process is busy it costs nothing, up to the most.
        (4, 0.9, 4),
        (60, 0.9, 10),
        # Of a machine that others use, too, half is much.
        (4, 0.5, 4),
        (4, 0.1, LONGEST),
    ],
)
def test_a_copy_waits_while_the_process_is_busy_or_for_two_seconds(seconds: float, share: float, waited: float):
    assert Original(seconds, share).waited_for(Patience()) == waited


def test_who_waits_in_vain_lets_the_next_ones_wait_less_and_others_more():
    patience = Patience()
    waited = [Original(4).waited_for(patience) for _ in range(4)]
    assert waited == [LONGEST, LONGEST / 2, LONGEST / 4, LONGEST / 8]
    assert Original(0.01).waited_for(patience) == 0.01
    assert patience.seconds == LONGEST / 8


@given(st.lists(st.floats(0, 20), max_size=60))
def test_it_is_bounded_and_comes_back(originals: list[float]):
    patience = Patience()
    for seconds in originals:
        assert Original(seconds).waited_for(patience) <= LONGEST
        assert SHORTEST <= patience.seconds <= LONGEST
    for _ in range(8):
        Original(0).waited_for(patience)
    assert patience.seconds == LONGEST
