"""Which fields of a callback's items hold a counter: numbers that go up by a little from item to item say nothing of a page."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

# So many numbers in a row that are each a little larger than the one before are a counter's.
_STEPS, _LONGEST_STEP = 5, 64
_MOST_COUNTERS = 1_000


class Counters:
    """The last number of each field, and how often in a row it went up. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self) -> None:
        self._counters: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()

    def note(self, use: str, values: Iterable[tuple[str, Any]]) -> None:
        """Note the whole numbers among an item's values, each with its name."""
        for key, value in values:
            if isinstance(value, int):
                self.goes_on(use, key, value)

    def goes_on(self, use: str, key: str, number: int) -> bool:
        """Note a number, and return whether it is a counter's, by those that came before it."""
        last, steps = self._counters.pop((use, key), (number, 0))
        steps = steps + 1 if 0 < number - last <= _LONGEST_STEP else 0
        self._counters[use, key] = number, steps
        if len(self._counters) > _MOST_COUNTERS:
            self._counters.popitem(last=False)
        return steps >= _STEPS

    def has(self, use: str, key: str) -> bool:
        """Return whether the last number of a field was a counter's."""
        return self._counters.get((use, key), (0, 0))[1] >= _STEPS
