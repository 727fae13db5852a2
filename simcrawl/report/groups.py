"""Groups of copies by where they and their originals are: "/print/ copies of /article/"."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from simcrawl.store import Duplicate

# So many kinds of groups are counted; what comes first is common.
_MOST = 50_000
# In a name such as "amd64" they tell what it is.
_NUMBERS = re.compile("(?<![0-9A-Za-z])[0-9]+(?![0-9A-Za-z])|[0-9]{4,}")
_PARTS = re.compile("[/?&]")
_LONGEST = 120


class Group(NamedTuple):
    """Copies whose URLs differ from those of their originals in one way: `copy` stands where `original` does."""

    copy: str
    original: str
    exact: int
    near: int
    not_fetched: int

    @property
    def pages(self) -> int:
        """All of them."""
        return self.exact + self.near + self.not_fetched


class Groups:
    """Counts lines of a register by what tells their URLs apart."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], Counter[str]] = {}

    def add(self, line: Duplicate) -> None:
        """Count a line; one whose verdict was taken back is none."""
        if line.standing == "rejected":
            return
        kind = difference(line.url, line.original)
        if kind in self._counts or len(self._counts) < _MOST:
            self._counts.setdefault(kind, Counter())[line.standing] += 1

    def largest(self, most: int) -> list[Group]:
        """Return the largest groups of two or more pages."""
        found = (Group(*kind, counts["exact"], counts["near"], counts["not_fetched"]) for kind, counts in self._counts.items())
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
