"""Parameters that may be left out of URLs whatever their values: another kind of rewrite rule, for `?replytocom=7` or `?utm_campaign=...`.

    copy and original ──► parameters that one URL has and the other one has not ──► a rule, once one of them had many values
    URL ──► SpareParameters.twins ──► the same URL without them

A parameter of few values is a run of tokens like others (`replacements`), for what it says may be kept apart: `?view=print` may be left
out, and `?view=map` may not. One of many values has another one on each page, so no run would ever be met again. Where both kinds are left
out together, the few values belong to the rule: of `?sid=81d0&view=print` it says nothing of `view=map`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from simcrawl.urls.classes import MOST_KINDS, host_and_port

if TYPE_CHECKING:
    from collections.abc import Iterator

Spare = tuple[tuple[str, str | None], ...]
"""Parameters that may be left out together: their names, sorted, and values, None for any."""
Pairs = tuple[tuple[str, str], ...]
_MOST_PAIRS, _MOST_SEEN, _MOST_HOSTS, _MOST_RULES, _MOST_VALUES = 5, 500, 200, 40, 100


class _Values:
    """The values of a parameter that were left out, and whether they are many: then they stay so."""

    __slots__ = ("are_many", "known", "number")

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.number = 0
        self.are_many = False

    def add(self, value: str) -> None:
        if self.are_many:
            return
        self.number += 1
        if len(self.known) < _MOST_VALUES:
            self.known.add(value)
        # The numbers of pages come back from list to list.
        self.are_many = len(self.known) > MOST_KINDS and 2 * len(self.known) > self.number


class SpareParameters:
    """Parameters by which the URLs of copies and of their originals differ, of each host for itself."""

    def __init__(self) -> None:
        # By host and names; those seen last stand last.
        self._seen: OrderedDict[tuple[str, ...], list[_Values]] = OrderedDict()
        # By host, in the order in which they were learned.
        self._rules: OrderedDict[str, dict[Spare, None]] = OrderedDict()

    def copy(self) -> SpareParameters:
        """Return rules of their own that are the same."""
        made = SpareParameters()
        made._rules.update((host, rules.copy()) for host, rules in self._rules.items())
        return made

    def learn(self, url: str, pairs: Pairs) -> tuple[Spare | None, bool]:
        """Take a rule from what a pair of pages differs in, see `left_out`; return it, and whether it is new. None: it is none yet."""
        host = host_and_port(url)
        key = (host, *(name for name, _ in pairs))
        seen = self._seen.setdefault(key, [_Values() for _ in pairs])
        self._seen.move_to_end(key)
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        for values, (_, value) in zip(seen, pairs, strict=True):
            values.add(value)
        rule = tuple((name, None if values.are_many else value) for values, (name, value) in zip(seen, pairs, strict=True))
        known = self._rules.get(host, {})
        if rule in known:
            return rule, False
        if len(known) >= _MOST_RULES or all(value is not None for _, value in rule):
            return None, False
        self._rules.setdefault(host, known)[rule] = None
        if len(self._rules) > _MOST_HOSTS:
            self._rules.popitem(last=False)
        return rule, True

    def twins(self, url: str) -> Iterator[tuple[str, Spare]]:
        """Yield the URL without some of its parameters, and the rule."""
        if self._rules and "?" in url:
            for rule in self._rules.get(host_and_port(url), ()):
                if (twin := without(url, rule)) is not None:
                    yield twin, rule


def without(url: str, rule: Spare) -> str | None:
    """Return a URL without parameters, None where it has not each of them once."""
    before, _, query = url.partition("?")
    wanted = dict(rule)
    pairs = query.split("&")
    taken = [(name, value) for name, _, value in (pair.partition("=") for pair in pairs) if name in wanted]
    if len(taken) != len(wanted) or any(wanted[name] not in (None, value) for name, value in taken) or len(dict(taken)) != len(taken):
        return None
    left = [pair for pair in pairs if pair.partition("=")[0] not in wanted]
    return f"{before}?{'&'.join(left)}" if left else before


def left_out(url: str, other: str) -> Pairs | None:
    """Return the parameters that a URL has beyond those of another one, sorted by name; None where more differs."""
    before, _, query = url.partition("?")
    path, _, rest = other.partition("?")
    if not query or before != path:
        return None
    others = {*rest.split("&")}
    more = [pair for pair in query.split("&") if pair not in others]
    if not 0 < len(more) <= _MOST_PAIRS:
        return None
    found: list[tuple[str, str]] = sorted((name, value) for name, _, value in (pair.partition("=") for pair in more))
    return tuple(found) if all(name for name, _ in found) and without(url, tuple(found)) == other else None
