"""Parameters that may be left out of URLs whatever their values: another kind of rewrite rule, for `?replytocom=7` or `?utm_campaign=...`.

    copy and original ──► the same URL but for parameters that the copy alone has ──► their names, once they had many values
    URL ──► SpareParameters.twins ──► the same URL without them

A parameter of few values is a run of tokens like others (`replacements`), for what it says may be kept apart: `?view=print` may be left
out, and `?view=map` may not. One of many values has another one on each page, so no run would ever be met again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY_VALUES = 12
"""A parameter of more values than that names something: of no more, it says of what kind a page is."""
_MOST_NAMES, _MOST_SEEN, _MOST_RULES = 5, 200, 20


class SpareParameters:
    """Names of parameters without which copies had the URLs of their originals."""

    def __init__(self) -> None:
        # By names the values that were left out, until there are many; those seen last stand last.
        self._seen: OrderedDict[tuple[str, ...], set[tuple[str, ...]]] = OrderedDict()
        # In the order in which they were learned.
        self._rules: dict[tuple[str, ...], None] = {}

    def copy(self) -> SpareParameters:
        """Return rules of their own that are the same."""
        made = SpareParameters()
        made._rules = self._rules.copy()
        return made

    def __contains__(self, names: tuple[str, ...]) -> bool:
        return names in self._rules

    def learn(self, names: tuple[str, ...], values: tuple[str, ...]) -> bool:
        """Take a rule from what a pair differs in, see `left_out`; return whether it is new."""
        if names in self._rules or len(self._rules) >= _MOST_RULES:
            return False
        seen = self._seen.setdefault(names, set())
        self._seen.move_to_end(names)
        seen.add(values)
        if len(seen) > MANY_VALUES:
            del self._seen[names]
            self._rules[names] = None
            return True
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        return False

    def twins(self, url: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the URL without some of its parameters, and their names."""
        if self._rules and "?" in url:
            for names in self._rules:
                if (twin := without(url, names)) is not None:
                    yield twin, names


def without(url: str, names: tuple[str, ...]) -> str | None:
    """Return a URL without parameters, None where it has not all of them."""
    before, _, query = url.partition("?")
    pairs = query.split("&")
    left = [pair for pair in pairs if pair.partition("=")[0] not in names]
    if len(pairs) - len(left) < len(names):
        return None
    return f"{before}?{'&'.join(left)}" if left else before


def left_out(url: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the names, sorted, and the values of the parameters that a URL has beyond those of another one; None where more differs."""
    before, _, query = url.partition("?")
    path, _, rest = other.partition("?")
    if not query or before != path:
        return None
    pairs = query.split("&")
    found = sorted(pair.partition("=")[::2] for pair in pairs if pair not in rest.split("&"))
    names = tuple(name for name, _ in found)
    if not 0 < len(names) <= _MOST_NAMES or not all(names) or without(url, names) != other:
        return None
    return names, tuple(value for _, value in found)
