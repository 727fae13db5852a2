"""How late the event loop is: a sampled timer, in bounded memory."""

from __future__ import annotations

from math import log2
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from scrapy.utils.asyncio import CallLaterResult

_INTERVAL = 0.05
# Lags are counted in classes, each a fifth wider than the one before, from a tenth of a millisecond on.
_SMALLEST = 1e-4
_CLASSES_PER_DOUBLING = 4
_CLASSES = 100


class LoopLag:
    """Asks the event loop for a call every 50 ms and counts by how many seconds it comes late."""

    def __init__(self) -> None:
        self._counts = [0] * _CLASSES
        self._timer: CallLaterResult | None = None

    def start(self) -> None:
        """Begin. On the event loop."""
        due = monotonic() + _INTERVAL
        self._timer = call_later(_INTERVAL, self._tick, due)

    def _tick(self, due: float) -> None:
        self.add(monotonic() - due)
        self.start()

    def add(self, lag: float) -> None:
        """Count a lag."""
        place = _CLASSES_PER_DOUBLING * log2(max(lag, _SMALLEST) / _SMALLEST)
        self._counts[min(int(place), _CLASSES - 1)] += 1

    def percentile(self, share: float) -> float:
        """Return the seconds that so large a share of the calls are late at most, a fifth too much at worst; 0 without calls."""
        wanted, seen = share * sum(self._counts), 0
        for place, count in enumerate(self._counts):
            seen += count
            if seen >= wanted > 0:
                return float(_SMALLEST * 2 ** ((place + 1) / _CLASSES_PER_DOUBLING))
        return 0.0

    def stop(self) -> None:
        """End."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
