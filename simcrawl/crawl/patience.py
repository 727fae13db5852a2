"""How long copies wait for their originals to come out, all together: never more than a share of the crawl's time.

A copy is dropped only when its original has come out, which takes the callback and the item pipelines some milliseconds. Where a pipeline
takes seconds (it asks a model, or a slow database), each copy would hold a place of the downloader as long. Copies that have no time left
are kept: the crawl does what it would do without simcrawl.
"""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Seconds that may be spent at first, and the share of the time of all places of the downloader.
_TO_BEGIN_WITH, _SHARE = 5.0, 0.1


class Patience:
    """Seconds that copies may still wait. `places`: how many requests are under way at a time. `clock`: seconds from any beginning."""

    def __init__(self, places: int, clock: Callable[[], float] = monotonic) -> None:
        self._places, self._clock = places, clock
        self._began, self._spent, self._waiting = clock(), 0.0, 0

    @contextmanager
    def wait(self, most: float) -> Iterator[float]:
        """Return how long a copy may wait, `most` at most: others wait at the same time. How long it does is counted."""
        self._waiting += 1
        began = self._clock()
        earned = _TO_BEGIN_WITH + _SHARE * self._places * (began - self._began)
        try:
            yield max(0.0, min(most, (earned - self._spent) / self._waiting))
        finally:
            self._waiting -= 1
            self._spent += self._clock() - began
