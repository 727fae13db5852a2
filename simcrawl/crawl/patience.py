"""How long a copy waits for its original to come out: less where others have waited in vain.

A copy is dropped only when its original has come out, which takes the callback and the item pipelines some milliseconds, and some seconds
where callbacks keep the machine busy, or a pipeline waits itself (for a model, or a slow database). To wait costs next to nothing, for a
page that waits lends its place (`simcrawl.crawl.places`). But what comes out so late, or never, need not be waited for again and again,
since links of the copy may be all that is left to follow. So after some seconds in which the process did little a copy is kept, as it would
be without simcrawl; after each wait in vain the next ones are half as long, and after any other twice as long. Of waits at the same time
one counts. A wait that was not in vain, and yet held up the crawl, for there was nothing else to do and the copy's links were what came
next, counts as one in vain.

A crawl that closes is another matter: it ends no sooner than the pages that are at work, so to wait for one of these takes no time, and a
copy that is kept takes its own way through the pipelines first. So then a copy waits on, as long as there is a page at work.
"""

from __future__ import annotations

from time import monotonic, process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcrawl.crawl.threads import Wake

LONGEST, SHORTEST = 5.0, 0.01
"""Seconds that a copy waits at first, and at most, if little is done; and however often others have waited in vain."""
# What share of a core the process has where it is busy. On a full machine that is not all of one.
_BUSY = 0.3
# Seconds after which a wait looks whether the crawl closes, and whether the process is still busy.
_LOOK = 0.5


class Patience:
    """Seconds that copies wait, by what became of those before. For the event loop.

    `closes`, `has_work`: whether the crawl closes, and whether a callback or a pipeline has a page. `clock`, `used`: seconds, and those
    of a core.
    """

    def __init__(
        self,
        closes: Callable[[], bool] = lambda: False,
        has_work: Callable[[], bool] = lambda: False,
        *,
        clock: Callable[[], float] = monotonic,
        used: Callable[[], float] = process_time,
    ) -> None:
        self.seconds = LONGEST
        self._closes, self._has_work, self._clock, self._used = closes, has_work, clock, used
        self._halved = -float("inf")

    async def wait(self, wake: Wake, until: float) -> None:
        """Return when a call was woken, at a moment at the latest, or when to wait longer would cost too much."""
        at_first, seconds = self._clock(), self.seconds
        while not wake.raised and self._clock() < until and await self._is_worth_it(wake, min(until, self._clock() + seconds)):
            # To look again costs little then, even if a thousand do: else they would be what keeps the process busy.
            seconds = max(self.seconds, _LOOK)
        if wake.raised:
            self.seconds = min(LONGEST, 2 * self.seconds)
        elif at_first >= self._halved:
            self.seconds, self._halved = max(SHORTEST, self.seconds / 2), self._clock()

    def was_costly(self) -> None:
        """Note that the last wait, which was not in vain, has held up the whole crawl."""
        # It has made the next ones twice as long.
        self.seconds = max(SHORTEST, self.seconds / 4)

    async def _is_worth_it(self, wake: Wake, until: float) -> bool:
        """Wait until a moment; return whether to wait longer would cost little."""
        began, used = self._clock(), self._used()
        while not wake.raised and (left := until - self._clock()) > 0:
            await wake.wait(min(left, _LOOK))
            if self._closes():
                return self._has_work()
        return self._used() - used >= _BUSY * (self._clock() - began)
