"""What a site's robots.txt says of its URLs: parameters that do not matter (`Clean-param`, which Yandex reads).

It is read where it passes through a crawl, and never fetched for this. What it says is a hint: it suggests rules, which have to prove
right.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

# Google reads as much of a robots.txt; of directives nobody needs more.
_LONGEST, _MOST_DIRECTIVES, _MOST_NAMES, _LONGEST_NAME = 500 * 1024, 20, 20, 100
_NAME = b"clean-param"
_DIRECTIVE = re.compile(rb"^[ \t]*+clean-param[ \t]*+:[ \t]*+([^\s#]++)(?:[ \t]++([^\s#]++))?", re.IGNORECASE | re.MULTILINE)


class Unimportant(NamedTuple):
    """Parameters that do not matter in URLs whose path begins with `path`."""

    names: frozenset[str]
    path: str


def unimportant(body: bytes) -> list[Unimportant]:
    """Return which parameters do not matter by a robots.txt; so many directives at most. Never raises for what it contains."""
    body = body[:_LONGEST].replace(b"\r", b"\n")
    if _NAME not in body.lower():
        return []
    return [made for found in islice(_DIRECTIVE.finditer(body), _MOST_DIRECTIVES) if (made := _directive(found[1], found[2] or b"")).names]


def _directive(names: bytes, path: bytes) -> Unimportant:
    given = names.decode("utf-8", "replace").split("&", _MOST_NAMES)[:_MOST_NAMES]
    # Of a pattern, what stands before the first wildcard: a suggestion may be too wide.
    start = path.decode("utf-8", "replace").partition("*")[0].rstrip("$")
    return Unimportant(frozenset(name for name in given if 0 < len(name) <= _LONGEST_NAME), start)
