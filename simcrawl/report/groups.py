"""Groups of copies by where they and their originals are: "/print/ copies of /article/", and the rule that was learned of each."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.urls.learned import Explaining

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.store import Duplicate
    from simcrawl.urls.learned import LearnedRule

# So many kinds of groups are counted; what comes first is common.
_MOST = 50_000
# In a name such as "amd64" they tell what it is.
_NUMBERS = re.compile("(?<![0-9A-Za-z])[0-9]+(?![0-9A-Za-z])|[0-9]{4,}")
_PARTS = re.compile("[/?&]")
_LONGEST = 120
# Of so many lines of a group it is asked which rule explains them, and of those it has to explain half.
_ASKED = 100


class Group(NamedTuple):
    """Copies whose URLs differ from those of their originals in one way: `copy` stands where `original` does.

    `rule`: the learned one that leads from most of them to their originals, None where there is none.
    """

    copy: str
    original: str
    exact: int
    near: int
    not_fetched: int
    rule: LearnedRule | None = None

    @property
    def pages(self) -> int:
        """All of them."""
        return self.exact + self.near + self.not_fetched


class Groups:
    """Counts lines of a register by what tells their URLs apart. `rules`: those that may explain them."""

    def __init__(self, rules: Iterable[LearnedRule] = ()) -> None:
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self._explaining = Explaining(rules)
        self._explained: dict[tuple[str, str], Counter[LearnedRule]] = {}

    def add(self, line: Duplicate) -> None:
        """Count a line; one whose verdict was taken back is none."""
        if line.standing == "rejected":
            return
        kind = difference(line.url, line.original)
        if kind in self._counts or len(self._counts) < _MOST:
            counts = self._counts.setdefault(kind, Counter())
            counts[line.standing] += 1
            if counts.total() <= _ASKED and (rule := self._explaining.rule_of(line.url, line.original)):
                self._explained.setdefault(kind, Counter())[rule] += 1

    def _rule_of(self, kind: tuple[str, str]) -> LearnedRule | None:
        if kind not in self._explained:
            return None
        ((rule, lines),) = self._explained[kind].most_common(1)
        return rule if 2 * lines >= min(_ASKED, self._counts[kind].total()) else None

    def largest(self, most: int) -> list[Group]:
        """Return the largest groups of two or more pages."""
        found = (
            Group(*kind, counts["exact"], counts["near"], counts["not_fetched"], self._rule_of(kind))
            for kind, counts in self._counts.items()
        )
        return sorted((one for one in found if one.pages > 1), key=lambda one: (-one.pages, one.copy, one.original))[:most]


def difference(url: str, original: str) -> tuple[str, str]:
    """Return what stands in one URL and not in the other, by whole segments and parameters; numbers in them as #.

    What both have in front is "…", but for a scheme and host that differ. Values of parameters count as *.
    """
    a, b = _pieces(url), _pieces(original)
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return _told(a, start, end), _told(b, start, end)


def _pieces(url: str) -> list[str]:
    origin, sign, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    pieces, last = [f"{origin}{sign}{host}"], 0
    behind = slash + path
    for found in [*_PARTS.finditer(behind, 1), None]:
        at = found.start() if found else len(behind)
        pieces.append(behind[last:at])
        last = at
    return pieces


def _told(pieces: list[str], start: int, end: int) -> str:
    middle = [re.sub("=.*", "=*", piece) if piece[:1] in "?&" else piece for piece in pieces[start : len(pieces) - end]]
    text = "".join(middle) if not start else _NUMBERS.sub("#", "".join(middle))
    shown = f"{'…' if start else ''}{text}{'…' if end and text else ''}"
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
