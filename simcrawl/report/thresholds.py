"""What every threshold that a reader may try would have done: numbers for a slider, and the pages that change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simcrawl.store.register import Share
from simcrawl.tools.rethinking import Rethinking, rule_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcrawl.store import Store
    from simcrawl.tools.rethinking import Change

LOOSEST = 50
"""Per cent from which on similarities are tried."""
MOST_CHANGES = 1_000


@dataclass(frozen=True, slots=True)
class Thresholds:
    """`now`: the number of the one that was in force. `kept`, `copies`, `shares`, `moved`: by threshold, see `Rethought`.

    `excepted`: see there, too. `changes`: (change, number of the first threshold and of the last one where it holds), `MOST_CHANGES` at
    most, nearest to `now` first.
    """

    now: int
    values: list[float]
    kept: list[int] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    changes: list[tuple[Change, int, int]] = field(default_factory=list)
    complete: bool = True
    excepted: int = 0

    def as_object(self) -> dict[str, Any]:
        """Return the numbers for the script."""
        names = ("now", "values", "kept", "copies", "shares", "moved", "complete")
        return {name: getattr(self, name) for name in names}


def thresholds(store: Store, move: Callable[[float, str], object]) -> Thresholds | None:
    """Return what thresholds would have done; None where contents are not compared.

    Raises:
        StoreError: the store cannot be read.
    """
    rule = rule_of(store)
    if rule.min_similarity <= 0:
        return None
    values = sorted({percent / 100 for percent in range(LOOSEST, 101)} | {rule.min_similarity})
    rethinking = Rethinking(store, rule, values, move)
    now = values.index(rule.min_similarity)
    found = Thresholds(now, values, complete=rethinking.complete, excepted=rethinking.excepted)
    held: dict[Change, list[int]] = {}
    for number, value in enumerate(values):
        then = rethinking.at(value)
        found.kept.append(then.kept_then)
        found.copies.append(then.copies_then)
        found.shares.append(Share.of(then.copies_then, then.kept_then))
        found.moved.append(then.moved)
        for change in (*then.fallen, *then.joined):
            held.setdefault(change, [number, number])[1] = number
    # A page that is another one's copy in between has two stretches, which are told as one: hardly anybody meets it.
    nearest = sorted(held.items(), key=lambda item: (min(abs(end - now) for end in item[1]), item[0].url))
    found.changes.extend((change, *ends) for change, ends in nearest[:MOST_CHANGES])  # type: ignore[misc]  # two ends
    return found
