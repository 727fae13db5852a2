"""What speaks for a URL's being a copy: twins, and what became of the pages that rules were tried on.

    URL, rule ──► Twin: the fetched page that it would be a copy of, and the contexts in which that was so, or was not
    page      ──► Counters.add, for each context of each of its twins: rule, rule behind a prefix, rule in a directory; name, name by rule
    twin      ──► Counters.likelihood ──► how likely, the lower bound of that, and how many pages it rests on: for what is skipped
              ──► `Order.bound`       ──► the same for the order of requests, with what the name adds to the rule

Each context is a rate with a prior, the wider one being the prior of the narrower; what they say is added up in log-odds. Past a number of
pages the older half is forgotten, for sites change, and so are contexts and pages that were long not used.
"""

from __future__ import annotations

import math
import re
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.urls.replacements import name_before
from simcrawl.urls.spellings import differ_in_values

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from simcrawl.urls.parameters import Spare
    from simcrawl.urls.spellings import AnyCase

# Scheme and host; and the first directory, where nothing is replaced before its end.
_PART = re.compile(r"([^/]*//[^/?]*)(?:/(?:[^/?*]*/)?)?")
_MOST_KNOWN, _MOST_COUNTERS = 1_000_000, 200_000
PRIORS = (2.0, 2.0, 4.0)
"""As if so many pages had been seen that the wider rate says."""
# Past so many, half of what is known is forgotten: sites change.
_LONGEST_MEMORY = 300
# What each kind of evidence counts for: none; the rule here, in this directory; this page's twins; its name, and that by this rule.
_BIAS, _OF_RULE, _OF_DIRECTORY, _OF_TWINS, _OF_NAME, _OF_NAME_BY_RULE = 0.3, 0.3, 0.5, 0.5, 0.5, 0.3
# One-sided, 95 %.
_Z = 1.64
# What an earlier crawl saw weighs as so many pages at most.
_REMEMBERED, _MOST_REMEMBERED = 20, 40_000
_EXAMPLES, _MOST_PLACES = 3, 20
_ANY = "*"
KEPT, COPY = 1, 2
"""What became of a page. Of a copy some bits of its original's key are kept beside: up to 255, for Python has one object of each."""


# ---- pages that were fetched


class Known:
    """What became of the pages that were fetched: a digest and a byte each; the older half is forgotten."""

    def __init__(self) -> None:
        self._pages: dict[int, int] = {}
        self._older: dict[int, int] = {}

    def get(self, key: int) -> int:
        """Return what became of a page, 0 where that is not known."""
        return self._pages.get(key) or self._older.get(key, 0)

    def add(self, key: int, status: int) -> None:
        """Note what became of a page: `KEPT`, or `COPY` and more."""
        if len(self._pages) >= _MOST_KNOWN // 2:
            self._older, self._pages = self._pages, {}
        self._pages[key] = status


class Twin(NamedTuple):
    """A fetched page that a URL may be a copy of.

    `contexts`: of what there is evidence, the widest first. For replacements `name` says what the page is called, `place` what stands
    before the run in the URL, and `ends` whether the name stands there as well: "/a/NAME/print/". By parameters that may be left out
    twins have all of these, too.
    """

    url: str
    status: int
    contexts: tuple[Hashable, ...]
    rule: str
    name: str = ""
    place: str = ""
    ends: bool = False

    @property
    def part(self) -> Hashable:
        """The rule, and the part of a site in which it is tried."""
        contexts: Any = self.contexts
        if not self.name:
            return self.contexts[1]
        pair, prefix, directory = contexts[2]
        found = _PART.match(f"{prefix}*{directory}")
        part = "" if found is None else f"{found[1]}/" if "*" in found[1] else found[0]
        return pair, part

    @property
    def names(self) -> tuple[Hashable, Hashable]:
        """The contexts of pages of the same name elsewhere: in all, and by this rule."""
        return ("name", self.name), ("name", self.name, self.contexts[0])


def replaced(url: str, place: int, runs: tuple[str, str], twin: str, status: int) -> Twin:
    """Return the twin of a URL by a replacement: the runs of the URL and of the twin, at that place."""
    run, other = runs
    prefix, suffix = url[:place], url[place + len(run) :]
    pair = pair_of(run, other)
    where, name = name_before(prefix, suffix, runs)
    if ends := bool(name):
        directory, name = "", name + suffix
    else:
        directory, slash, name = suffix.rpartition("/")
        directory += slash
    contexts = (pair, (pair, where), (pair, where, directory))
    return Twin(twin, status, contexts, says(run, other), name or "/", prefix, ends)


def spared(twin: str, rule: Spare, status: int) -> Twin:
    """Return the twin that a URL has without some of its parameters: see `parameters`.

    Evidence is that of all pages of a directory together, as for what follows a name.
    """
    parameters = frozenset(rule)
    where, name = name_before(twin, "", ("", ""))
    contexts = (parameters, (parameters, where), (parameters, where, ""))
    return Twin(twin, status, contexts, says_spare(rule), name or "/", twin, ends=True)


def in_other_case(url: str, twin: str, rule: AnyCase, status: int) -> Twin:
    """Return the twin that differs from a URL in case alone: see `spellings`.

    Evidence is that of all pages of a directory, or a script, together, as for what follows a name. Where values of parameters differ,
    it is apart: a server that reads paths in any case may well tell `?id=aB3` from `?id=ab3`.
    """
    name = twin.lower()
    where, _ = name_before(name, "", ("", ""))
    found = _PART.match(name)
    part = found[0] if found else ""
    contexts = (rule, (rule, part), (rule, part, f"{where} {differ_in_values(url, twin)}"))
    return Twin(twin, status, contexts, "upper and lower case are one", name, part)


def pair_of(run: str, other: str) -> tuple[str, str]:
    """Return the context of a replacement: the same in both directions."""
    return (run, other) if run < other else (other, run)


def says(run: str, other: str) -> str:
    """Return a replacement in words."""
    if run and other:
        return f"{run!r} stands for {other!r}"
    return f"{run!r} may be left out" if run else f"{other!r} may be put in"


def says_spare(rule: Spare) -> str:
    """Return in words that parameters may be left out, with "*" for any value."""
    return f"{', '.join(repr(f'{name}={value if value is not None else _ANY}') for name, value in rule)} may be left out"


# ---- how often


class Counters:
    """How often something was so: a context's copies and trials, forgetting what is old, and contexts that were long not used.

    `remembered`: what earlier crawls saw, shared by all who remember it.
    """

    def __init__(self, remembered: dict[Hashable, list[float]] | None = None) -> None:
        self._counts: dict[Hashable, list[float]] = {}
        self._older: dict[Hashable, list[float]] = {}
        self._remembered = remembered or {}

    def get(self, context: Hashable) -> list[float] | None:
        """Return the copies and the trials of a context, None where there are none."""
        found = self._counts.get(context)
        if found is None:
            found = self._older.pop(context, None)
            if found is None and self._remembered:
                found = self._recalled(context)
            if found:
                self._put(context, found)
        return found

    def _put(self, context: Hashable, count: list[float]) -> None:
        if len(self._counts) >= _MOST_COUNTERS // 2:
            self._older, self._counts = self._counts, {}
        self._counts[context] = count

    def _recalled(self, context: Hashable) -> list[float] | None:
        found = self._remembered.get(context)
        if found is None:
            return None
        weight = min(1.0, _REMEMBERED / found[1])
        return [found[0] * weight, found[1] * weight]

    def lasting(self) -> dict[Hashable, list[float]]:
        """Return what later crawls should know: what was tried most, and more than once."""
        counts = self._remembered | self._older | self._counts
        often = ((context, count) for context, count in counts.items() if count[1] > 1)
        return dict(nlargest(_MOST_REMEMBERED, often, key=lambda item: item[1][1]))

    def add(self, context: Hashable, copy: float) -> None:
        """Count a trial, and how much of a copy the page was."""
        count = self.get(context)
        if count is None:
            count = [0.0, 0.0]
            self._put(context, count)
        count[0] += copy
        count[1] += 1
        if count[1] > _LONGEST_MEMORY:
            self.shorten(context, _LONGEST_MEMORY / 2)

    def shorten(self, context: Hashable, trials: float) -> None:
        """Let a context weigh no more than so many trials."""
        count = self.get(context)
        if count and count[1] > trials:
            count[0], count[1] = count[0] * trials / count[1], trials

    def rate(self, contexts: Iterable[Hashable]) -> float:
        """Return the share of copies in the narrowest context, that in the wider one being its prior."""
        rate = 0.5
        for context, prior in zip(contexts, PRIORS, strict=False):
            if count := self.get(context):
                rate = (count[0] + prior * rate) / (count[1] + prior)
        return rate

    def odds(self, context: Hashable) -> float:
        """Return the log-odds of copies in one context."""
        copies, trials = self.get(context) or (0.0, 0.0)
        return _log_odds(copies, trials - copies)

    def trials(self, context: Hashable) -> float:
        """Return how many pages were seen in one context."""
        seen = self.get(context)
        return seen[1] if seen else 0.0

    def support(self, twin: Twin) -> float:
        """Return how many pages were seen behind this prefix: what a replacement says rests on them."""
        return max(self.trials(twin.contexts[1]), self.trials(twin.contexts[-1]))

    def likelihood(self, twin: Twin, others: tuple[int, int]) -> tuple[float, float, tuple[float, float]]:
        """Return the lower bound of how likely a URL is a copy for its twin, and how many pages it rests on.

        Third is what `Order.bound` starts from: the odds by the rule, and by other twins. `others`: what `statuses` says of all twins.
        """
        # A URL has a dozen twins, and every link is asked about: each context is looked up once.
        counts = [self.get(context) for context in twin.contexts]
        narrow = counts[-1]
        support = narrow[1] if narrow else 0.0
        wide = likely = 0.5
        for place, (count, prior) in enumerate(zip(counts, PRIORS, strict=False)):
            if count:
                likely = (count[0] + prior * likely) / (count[1] + prior)
            if place == 1:
                wide = likely
        said = (0.0, 0.0)
        if twin.name:
            said = here, by_twins = logit(likely), log_odds_of_others(twin, others)
            by_name, by_rule = (self.odds(context) for context in twin.names)
            odds = (
                _BIAS
                + _OF_RULE * logit(wide)
                + _OF_DIRECTORY * here
                + _OF_TWINS * by_twins
                + _OF_NAME * by_name
                + _OF_NAME_BY_RULE * by_rule
            )
            likely = likely_of(odds)
            behind = counts[1]
            support = max(behind[1] if behind else 0.0, support)
        return lower_bound(likely, support + PRIORS[len(counts) - 1]), support, said


def lower_bound(likely: float, trials: float) -> float:
    """Return a rate less 1.64 of its standard errors."""
    return likely - _Z * math.sqrt(max(likely * (1 - likely), 1e-4) / (trials + 1))


def likely_of(odds: float) -> float:
    """Return the likelihood of log-odds."""
    return 1 / (1 + math.exp(-max(-8.0, min(8.0, odds))))


def _log_odds(copies: float, others: float) -> float:
    return math.log((copies + 0.5) / (others + 0.5))


def logit(rate: float) -> float:
    """Return the log-odds of a rate, which is never quite sure."""
    rate = min(0.995, max(0.005, rate))
    return math.log(rate / (1 - rate))


def statuses(twins: Iterable[Twin]) -> tuple[int, int]:
    """Return how many of a page's twins by replacements were copies, and how many were kept."""
    found = {twin.url: twin.status for twin in twins if twin.name}
    copies = sum(status >= COPY for status in found.values())
    return copies, len(found) - copies


def log_odds_of_others(twin: Twin, others: tuple[int, int]) -> float:
    """Return the log-odds that a page's other twins speak of: that two of them were kept says that they differ. See `statuses`."""
    copies, kept = others
    return _log_odds(copies - (kept == 0 and twin.status >= COPY), max(0, kept - 1))


class Tried:
    """What became, in this crawl, of the pages that a rule was tried on in one part of a site.

    `prefixes`: where it was right, None where these are too many. `told`: by what it stands for, how often it led from a copy to its very
    original, and the first of these pairs. `leading`: copies whose links were the first to lead to a page that was kept, `leading_apart`:
    by addresses that the originals' links did not foretell. `apart`: copies that asked for an address that nothing foretold. `missed`: the
    directories (or the class) of which a page was kept that would have been skipped. `originals`: some of what its copies were copies of.
    `begun`: the host of the first copy's twin, and how many pages of it had been kept by then.
    """

    __slots__ = ("apart", "begun", "copies", "leading", "leading_apart", "missed", "originals", "prefixes", "told", "trials")

    def __init__(self) -> None:
        self.copies = self.leading = self.leading_apart = self.apart = self.trials = 0
        self.missed: set[Hashable] = set()
        self.originals: set[str] = set()
        self.begun: tuple[str, int] | None = None
        self.prefixes: dict[str, None] | None = {}
        self.told: dict[str, tuple[list[int], list[tuple[str, str]]]] = {}

    @property
    def led(self) -> int:
        """How often the rule led from a copy to its very original, in either direction."""
        return sum(number for (number,), _ in self.told.values())

    def example(self, twin: Twin, url: str) -> None:
        """Note that the rule led from a copy to its very original."""
        number, pairs = self.told.setdefault(twin.rule, ([0], []))
        number[0] += 1
        if len(pairs) < _EXAMPLES:
            pairs.append((url, twin.url))
        if twin.name and self.prefixes is not None:
            self.prefixes[twin.place] = None
            if len(self.prefixes) > _MOST_PLACES:
                self.prefixes = None
