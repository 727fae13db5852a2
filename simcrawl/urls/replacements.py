"""Runs of tokens that stand for one another in URLs: one kind of rewrite rule, "i386" for "amd64", or "&print=1" for nothing.

    copy and original ──► difference ──► prefix, run, the other run ──► Replacements.learn
    URL ──► Replacements.twins ──► the same URL with other runs, at each place where one stands

A run is looked for everywhere in a URL, whatever stood before it where it was learned. What stands in the place of nothing could stand
anywhere: it is put in behind the prefixes where that was so, and nowhere else. Whether a twin means anything is a matter of evidence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simcrawl.urls.parameters import without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcrawl.urls.parameters import Spare

_TOKEN = re.compile(r"[^/._?=&;-]+|[/._?=&;-]")
# Parts of an address are no words: of "10.0.0.2" for "10.0.0.1", "2" for "1" would be learned, and tried on every chapter.
_NUMERIC_HOST = re.compile(r"[^/]*//(\d+(?:\.\d+){3}(?::\d+)?)(?=[/?]|$)")
_SIGNS = "/._?=&;-"
_SEPARATORS = frozenset(_SIGNS)
# What ends a URL and names no page; the values of a query; and the last segment of a path, behind scheme, host and directories.
_ENDING = re.compile(r"/?|\.?(?:x?html?|php|aspx?|jsp|txt|md)")
_VALUE = re.compile(r"(?<==)[^&;=]+")
_DIGIT = re.compile(r"\d")
_SEGMENT = re.compile(r"([^/]*//[^/]+/(?:.*/)?)([^/]*[^/._-])([/._-]*)")
# Directories of digits; a host may be a number, too.
_NUMBERS = re.compile(r"(?<=[^/]/)\d+(?=/)")
_LONGEST_RUN = 8
_MOST_PARTNERS, _MOST_RUNS, _MOST_PREFIXES, _MOST_RUNS_OF_A_TOKEN = 20, 400, 64, 8


class Replacements:
    """Runs of tokens that stood for one another in a copy's URL and its original's."""

    def __init__(self) -> None:
        self._partners: dict[str, list[str]] = {}
        # Runs by their first token, and what may come after a prefix.
        self._runs: dict[str, list[str]] = {}
        self._inserted: dict[str, list[str]] = {}

    def learn(self, url: str, original: str) -> tuple[str, str, str] | None:
        """Take a rule from a pair; return its prefix and both runs where it is new."""
        found = difference(url, original)
        if found is None:
            return None
        prefix, a, b = found
        if a and b:
            added = [self._add(a, b), self._add(b, a)]
        else:
            added = [self._add(a or b, "")]
            # Behind the name of a page it could be put in for that page alone.
            if not name_before(prefix, url[len(prefix) + len(a) :], (a, b))[1]:
                added.append(self._insert(prefix, a or b))
        return found if any(added) else None

    def forget(self, rule: Spare) -> list[str]:
        """Let go of the runs that left the same parameters out, and return them: they would take the place of others."""
        runs = (run for run, others in self._partners.items() if "" in others)
        forgotten = [run for run in runs if without(f"?{run.strip('?&')}", rule) == ""]
        for run in forgotten:
            others = self._partners[run]
            others.remove("")
            if not others:
                del self._partners[run]
                self._runs[_TOKEN.findall(run)[0]].remove(run)
        return forgotten

    def copy(self) -> Replacements:
        """Return rules of their own that are the same."""
        made = Replacements()
        for mine, other in ((self._partners, made._partners), (self._runs, made._runs), (self._inserted, made._inserted)):
            other.update((key, values.copy()) for key, values in mine.items())
        return made

    def _add(self, run: str, other: str) -> bool:
        if run not in self._partners:
            runs = self._runs.setdefault(_TOKEN.findall(run)[0], [])
            if len(self._partners) >= _MOST_RUNS or len(runs) >= _MOST_RUNS_OF_A_TOKEN:
                return False
            runs.append(run)
        partners = self._partners.setdefault(run, [])
        return _append(partners, other, _MOST_PARTNERS)

    def _insert(self, prefix: str, run: str) -> bool:
        if prefix not in self._inserted and len(self._inserted) >= _MOST_PREFIXES:
            return False
        return _append(self._inserted.setdefault(prefix, []), run, _MOST_PARTNERS)

    def twins(self, url: str) -> Iterator[tuple[str, int, str, str]]:
        """Yield (URL, place, run, the other run)."""
        if self._runs:
            for found in _TOKEN.finditer(url):
                for run in self._runs.get(found[0], ()):
                    place = found.start()
                    if url.startswith(run, place) and ends_at_token(url, place + len(run)):
                        for other in self._partners[run]:
                            yield url[:place] + other + url[place + len(run) :], place, run, other
        for prefix, runs in self._inserted.items():
            if url.startswith(prefix):
                place = len(prefix)
                for other in runs:
                    yield url[:place] + other + url[place:], place, "", other


def difference(url: str, other: str) -> tuple[str, str, str] | None:
    """Return what two URLs begin with, and the runs of tokens in which they differ; None where these are long.

    Of hosts they may be of any length: four labels, or an address, are no less a name than two.
    """
    tokens, others = _tokens(url), _tokens(other)
    before, after = _common(tokens, others)
    run, instead = tokens[before : len(tokens) - after], others[before : len(others) - after]
    in_host = tokens[:before].count("/") == 2 and "/" not in run and "/" not in instead
    if max(len(run), len(instead)) > _LONGEST_RUN and not in_host:
        return None
    return "".join(tokens[:before]), "".join(run), "".join(instead)


def _tokens(url: str) -> list[str]:
    found = _NUMERIC_HOST.match(url)
    if found is None:
        return _TOKEN.findall(url)
    start, end = found.span(1)
    return [*_TOKEN.findall(url[:start]), found[1], *_TOKEN.findall(url[end:])]


def _common(a: list[str], b: list[str]) -> tuple[int, int]:
    """Return how many tokens two lists begin with, and how many of the others they end with."""
    least = min(len(a), len(b))
    before = next((place for place in range(least) if a[place] != b[place]), least)
    after = next((place for place in range(least - before) if a[-1 - place] != b[-1 - place]), least - before)
    return before, after


def ends_at_token(url: str, place: int) -> bool:
    """Return whether a token of a URL ends at a place."""
    return place >= len(url) or url[place] in _SEPARATORS or url[place - 1] in _SEPARATORS


def name_before(prefix: str, suffix: str, runs: tuple[str, str]) -> tuple[str, str]:
    """Return the name of a page that stands before a run in its URL, as in `/boats/NAME/print/`, and the prefix with "*" for it.

    The prefix as it is and "" where the name stands behind the run, or there is none. The name is the last value or segment; other values
    with digits may be a part of it, as in `?h=5f2c&hb=81d0`, and so may directories of digits, as in `/2024/01/31/NAME/`. They are left out
    of the prefix as well.
    """
    # Many a page 2 is page 1 once more, until there is more to show.
    if not _ENDING.fullmatch(suffix) or any(run.strip(_SIGNS).isdigit() for run in runs):
        return prefix, ""
    before, sign, query = prefix.partition("?")
    values = _VALUE.findall(query)
    if not values:
        found = _SEGMENT.fullmatch(before)
        return (f"{_NUMBERS.sub('*', found[1])}*{found[3]}{sign}{query}", found[2]) if found else (prefix, "")

    def masked(found: re.Match[str]) -> str:
        value = found[0]
        return "*" if value == values[-1] or (not value.isalpha() and _DIGIT.search(value)) else value

    return before + sign + _VALUE.sub(masked, query), values[-1]


def _append(values: list[str], value: str, most: int) -> bool:
    if value in values or len(values) >= most:
        return False
    values.append(value)
    return True
