"""Regular expressions that are compiled when they are first used.

A crawl's own process loads what makes pages, and leaves the making to workers: those patterns that speak of whole scripts take 30 ms to
compile there, for nothing.

Patterns say `(?>(?:...)*)` where `(?:...)*+` would mean the same: Python before 3.11.5, such as that of Debian 12, takes for a match what
is none if a possessive repetition is one of a group. https://github.com/python/cpython/issues/106052
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable


class _Pattern:
    """In the place of a `re.Pattern`. What was asked for once is an attribute like any other from then on: it costs no more."""

    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # Only where there is no such attribute yet. In two threads at a time the same is made twice.
        pattern, flags = self._source
        found = getattr(re.compile(pattern if isinstance(pattern, str) else pattern(), flags), name)
        setattr(self, name, found)
        return found


def late(pattern: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` does, as far as attributes and methods go. A function is asked for the pattern when that is first used."""
    return cast("re.Pattern[str]", _Pattern(pattern, flags))
