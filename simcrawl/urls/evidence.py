"""What speaks for a URL's being a copy: twins, and what became of the pages that rules were tried on.

    URL, rule ──► Twin: the fetched page that it would be a copy of, and the contexts in which that was so, or was not
    page      ──► Counters.add, for each context of each of its twins: rule, rule behind a prefix, rule in a directory; name, name by rule,
                  name in its directory by rule
    page      ──► Weights.learn, for each of its twins
    twin      ──► Weights.likelihood ──► how likely, the lower bound of that, how many pages it rests on, and how likely for the order

Each context is a rate with a prior, the wider one being the prior of the narrower; what they say is added up in log-odds. Past a number of
pages the older half is forgotten, for sites change, and so are contexts and pages that were long not used.

What each kind of evidence weighs is fixed where requests may be skipped. For their order alone it is learned, for each rule: between two
machines it is the name that tells which pages differ, between two releases the directory and what became of the other languages.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from heapq import nlargest
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

# Scheme and host; and the first directory, where nothing is replaced before its end.
_PART = re.compile(r"([^/]*//[^/?]*)(?:/(?:[^/?*]*/)?)?")
_MOST_KNOWN, _MOST_COUNTERS = 1_000_000, 200_000
PRIORS = (2.0, 2.0, 4.0)
"""As if so many pages had been seen that the wider rate says."""
# Past so many, half of what is known is forgotten: sites change.
_LONGEST_MEMORY = 300
# What each kind of evidence weighs: none; the rule here, in this directory; this page's twins; its name, that by this rule, and that in a
# directory of this name by this rule. Where requests may be skipped, and what is begun with for their order.
_FIXED = (0.3, 0.3, 0.5, 0.5, 0.5, 0.3, 0.0)
_FIRST = (0.3, 0.3, 0.5, 0.5, 0.5, 0.3, 0.5)
# How much a page changes of what its evidence weighs; and of so many rules.
_STEP, _MOST_WEIGHTS = 0.03, 2000
# One-sided, 95 %.
_Z = 1.64
# What an earlier crawl saw weighs as so many pages at most.
_REMEMBERED, _MOST_REMEMBERED = 20, 40_000
_EXAMPLES, _MOST_PLACES = 3, 20
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

    `contexts`: of what there is evidence, the widest first. `name`: what the page is called, for replacements.
    """

    url: str
    status: int
    contexts: tuple[Hashable, ...]
    rule: str
    name: str = ""

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
    def names(self) -> tuple[Hashable, Hashable, Hashable]:
        """The contexts of pages of the same name elsewhere: in all, by this rule, and by it in directories of the same name."""
        contexts: Any = self.contexts
        directory = contexts[2][2][:-1].rpartition("/")[2]
        return ("name", self.name), ("name", self.name, contexts[0]), ("name", self.name, contexts[0], directory)


def replaced(url: str, place: int, runs: tuple[str, str], twin: str, status: int) -> Twin:
    """Return the twin of a URL by a replacement: the runs of the URL and of the twin, at that place."""
    run, other = runs
    suffix = url[place + len(run) :]
    directory, slash, name = suffix.rpartition("/")
    pair = pair_of(run, other)
    prefix = url[:place]
    contexts = (pair, (pair, prefix), (pair, prefix, directory + slash))
    return Twin(twin, status, contexts, says(run, other), name or "/")


def pair_of(run: str, other: str) -> tuple[str, str]:
    """Return the context of a replacement: the same in both directions."""
    return (run, other) if run < other else (other, run)


def says(run: str, other: str) -> str:
    """Return a replacement in words."""
    return f"{run!r} stands for {other!r}" if run and other else f"{run or other!r} may be left out"


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
        return self.narrowing(contexts)[1]

    def narrowing(self, contexts: Iterable[Hashable]) -> tuple[float, float, float, float]:
        """Return the share of copies in the second narrowest context and in the narrowest one, and how many pages were seen in each."""
        wider = rate = 0.5
        before = trials = 0.0
        for context, prior in zip(contexts, PRIORS, strict=False):
            wider, before, trials = rate, trials, 0.0
            if count := self.get(context):
                trials = count[1]
                rate = (count[0] + prior * rate) / (trials + prior)
        return wider, rate, before, trials

    def odds(self, context: Hashable) -> float:
        """Return the log-odds of copies in one context."""
        count = self.get(context)
        return _log_odds(count[0], count[1] - count[0]) if count else 0.0

    def trials(self, context: Hashable) -> float:
        """Return how many pages were seen in one context."""
        seen = self.get(context)
        return seen[1] if seen else 0.0


class Estimate(NamedTuple):
    """How likely a URL is a copy for its twin, the lower bound of that, how many pages it rests on, and the lower bound for the order."""

    likely: float
    bound: float
    support: float
    order: float


class Weights:
    """What each kind of evidence weighs, and how likely a URL is a copy by that."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        # By rule, for the order of requests alone.
        self._of_rules: OrderedDict[Hashable, list[float]] = OrderedDict()

    def next_crawl(self, counters: Counters) -> Weights:
        """Return the same weights, of other counters."""
        made = Weights(counters)
        made._of_rules.update((rule, weights.copy()) for rule, weights in self._of_rules.items())
        return made

    def likelihood(self, twin: Twin, twins: list[Twin]) -> Estimate:
        """Return how likely a URL is a copy for its twin. `twins`: all of the URL."""
        if not twin.name:
            _, likely, _, support = self._counters.narrowing(twin.contexts)
            bound = lower_bound(likely, support + PRIORS[len(twin.contexts) - 1])
            return Estimate(likely, bound, support, bound)
        evidence, support = self._evidence(twin, twins)
        trials = support + PRIORS[2]
        likely = _added_up(_FIXED, evidence)
        ordered = _added_up(self._of_rules.get(twin.contexts[0], _FIRST), evidence)
        return Estimate(likely, lower_bound(likely, trials), support, lower_bound(ordered, trials))

    def learn(self, twins: list[Twin], *, copy: bool) -> None:
        """Learn from a page what the evidence of its twins should have weighed: logistic regression, a step a page."""
        named = list({twin.contexts[2]: twin for twin in twins if twin.name}.values())
        for twin in named:
            evidence, _ = self._evidence(twin, twins)
            weights = self._of_rules.setdefault(twin.contexts[0], list(_FIRST))
            step = _STEP * (copy - _added_up(weights, evidence)) / len(named)
            weights[:] = [weight + step * said for weight, said in zip(weights, evidence, strict=True)]
            self._of_rules.move_to_end(twin.contexts[0])
        while len(self._of_rules) > _MOST_WEIGHTS:
            self._of_rules.popitem(last=False)

    def _evidence(self, twin: Twin, twins: list[Twin]) -> tuple[tuple[float, ...], float]:
        """Return what each kind of evidence says, as log-odds; and how many pages it rests on."""
        odds, (of_rule, likely, before, support) = self._counters.odds, self._counters.narrowing(twin.contexts)
        name, by_rule, by_directory = twin.names
        others = _of_others(twin, twins) if len(twins) > 1 else 0.0
        return (1.0, _logit(of_rule), _logit(likely), others, odds(name), odds(by_rule), odds(by_directory)), max(before, support)


def _added_up(weights: Sequence[float], evidence: tuple[float, ...]) -> float:
    odds = sum(map(mul, weights, evidence))
    return 1 / (1 + math.exp(-max(-8.0, min(8.0, odds))))


def lower_bound(likely: float, trials: float) -> float:
    """Return a rate less 1.64 of its standard errors."""
    return likely - _Z * math.sqrt(max(likely * (1 - likely), 1e-4) / (trials + 1))


def _log_odds(copies: float, others: float) -> float:
    return math.log((copies + 0.5) / (others + 0.5))


def _logit(rate: float) -> float:
    rate = min(0.995, max(0.005, rate))
    return math.log(rate / (1 - rate))


def _of_others(twin: Twin, twins: list[Twin]) -> float:
    """Return the log-odds that this page's other twins speak of: that two of them were kept says that they differ."""
    others = {other.url: other.status for other in twins if other.name}
    copies = sum(status >= COPY for status in others.values())
    kept = len(others) - copies
    return _log_odds(copies - (kept == 0 and twin.status >= COPY), max(0, kept - 1))


class Tried:
    """What became, in this crawl, of the pages that a rule was tried on in one part of a site.

    `prefixes`: where it was right, None where these are too many. `told`: by what it stands for, how often it led from a copy to its very
    original, and the first of these pairs. `leading`: copies whose links were the first to lead to a page that was kept. `missed`: the
    directories (or the class) of which a page was kept that would have been skipped.
    """

    __slots__ = ("copies", "leading", "missed", "prefixes", "told", "trials")

    def __init__(self) -> None:
        self.copies = self.leading = self.trials = 0
        self.missed: set[Hashable] = set()
        self.prefixes: dict[str, None] | None = {}
        self.told: dict[str, tuple[list[int], list[tuple[str, str]]]] = {}

    def example(self, twin: Twin, url: str) -> None:
        """Note that the rule led from a copy to its very original."""
        number, pairs = self.told.setdefault(twin.rule, ([0], []))
        number[0] += 1
        if len(pairs) < _EXAMPLES:
            pairs.append((url, twin.url))
        if twin.name and self.prefixes is not None:
            self.prefixes[twin.contexts[1][1]] = None  # type: ignore[index]
            if len(self.prefixes) > _MOST_PLACES:
                self.prefixes = None
