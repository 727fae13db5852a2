"""In which order requests go: what a page's name adds to the rules, and what each kind of evidence counts for in this crawl.

    fetched page ──► Order.learn: what its name, the beginning of it and the weights should have said
    twin         ──► Order.bound: the lower bound of how likely the URL is a copy, all evidence added up in log-odds

Nothing is skipped by what is learned here: for that see `Counters.likelihood`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simcrawl.urls.evidence import PRIORS, likely_of, log_odds_of_others, logit, lower_bound, statuses

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from simcrawl.urls.evidence import Counters, Twin

_MOST_NAMES = 80_000
# Names differ by some 1.4 in log-odds from what rules say of all names: the precision of that, as a prior; and by so much at most.
_NAME_PRECISION, _MOST_OF_A_NAME = 0.5, 4.0
# A rule that is sure leaves a name something to say.
_SUREST = 0.98
# What each kind of evidence counts for at first: none; the rule in this directory; this page's twins; its name, that by this rule, and
# how it begins.
_WEIGHTS = (0.3, 1.0, 0.25, 1.0, 1.0, 1.0)
# How sure that is at first. A page of which nothing was clear counts for a quarter, times the square of what the evidence said.
_SURE = 10.0
# What a rule says is a rate already, so it counts for about as much as that on every site. A few surprises after many hits, of five in
# log-odds each, must not make a liar of all rules.
_RULE, _LEAST_OF_RULE, _MOST_OF_RULE = 1, 0.6, 1.2


class Order:
    """What pages of a name were, beyond what the rules say of all names, and how much to make of each kind of evidence.

    Of each context, all pages of a name, those that one rule leads to, and those of a directory whose names begin alike, the sum of what
    was so less what the rule had said, and the variance of that. Their quotient, with a prior of 0, is what the name adds in log-odds.
    That most pages differ in another language, as the rule from one to the other says, is nothing new and speaks against no other rule.

    What that counts for is learned as well. On one site a chapter that has changed is another one for all machines, so that its name
    decides; on another one names say little. That two other twins of a page differ speaks against this one here, and means nothing there.
    """

    def __init__(self) -> None:
        # In one number, for a pair takes three times the memory: what was so less what was said, and the variance as its imaginary part.
        self._sums: dict[Hashable, complex] = {}
        self._older: dict[Hashable, complex] = {}
        self._weights = list(_WEIGHTS)
        self._sure = [_SURE] * len(_WEIGHTS)

    def copy(self) -> Order:
        """Return an order of its own of which the same is known. The weights may become others again: sites change."""
        made = Order()
        made._older = self._older | self._sums
        made._weights = self._weights.copy()
        return made

    def learn(self, twins: Sequence[Twin], counters: Counters, *, copy: bool) -> None:
        """Learn from a page: ask before `counters` know it.

        Weights are learned from the twin that the request had waited for: the one that says most for a copy.
        """
        named = [twin for twin in twins if twin.name]
        if not named:
            return
        rates = [counters.rate(twin.contexts) for twin in named]
        contexts, others = [_contexts(twin) for twin in named], statuses(named)
        said = [
            self._evidence(names, logit(rate), log_odds_of_others(twin, others))
            for names, rate, twin in zip(contexts, rates, named, strict=True)
        ]
        waited = 0
        if len(named) > 1:
            bounds = [self._lower(evidence, counters.support(twin)) for evidence, twin in zip(said, named, strict=True)]
            waited = bounds.index(max(bounds))
        self._weigh(said[waited], copy=copy)
        self._add(zip(rates, contexts, strict=True), copy=copy)

    def tried(self, twin: Twin, counters: Counters, *, copy: bool) -> None:
        """Learn of its name alone from a page that was fetched before its rule was known."""
        self._add([(counters.rate(twin.contexts), _contexts(twin))], copy=copy)

    def bound(self, twin: Twin, said: tuple[float, float], support: float) -> float:
        """Return the lower bound of how likely a URL is a copy for its twin, which is by a replacement.

        `said`: what the rule says and the page's other twins; `support`: how many pages that rests on. See `Counters.likelihood`.
        """
        return self._lower(self._evidence(_contexts(twin), *said), support)

    def _lower(self, evidence: list[float], support: float) -> float:
        return lower_bound(likely_of(self._odds(evidence)), support + PRIORS[-1])

    def _evidence(self, contexts: Iterable[Hashable], rule: float, others: float) -> list[float]:
        """Return what each kind of evidence says, in log-odds, in the order of their weights."""
        evidence = [1.0, rule, others]
        for context in contexts:
            sums = self._get(context)
            adds = sums.real / (sums.imag + _NAME_PRECISION)
            evidence.append(adds if -_MOST_OF_A_NAME < adds < _MOST_OF_A_NAME else math.copysign(_MOST_OF_A_NAME, adds))
        return evidence

    def _odds(self, evidence: list[float]) -> float:
        return sum(map(float.__mul__, evidence, self._weights))

    def _weigh(self, evidence: list[float], *, copy: bool) -> None:
        """Move the weights to where they would have said more of a page: one step of Newton's for each, by all that was seen so far."""
        likely = likely_of(self._odds(evidence))
        missed, variance = copy - likely, likely * (1 - likely)
        for place, said in enumerate(evidence):
            self._sure[place] += variance * said * said
            self._weights[place] += missed * said / self._sure[place]
        self._weights[_RULE] = min(_MOST_OF_RULE, max(_LEAST_OF_RULE, self._weights[_RULE]))

    def _add(self, rates: Iterable[tuple[float, Iterable[Hashable]]], *, copy: bool) -> None:
        """Count a page by what rules had said of it: by the surest of each context."""
        expected: dict[Hashable, float] = {}
        for rate, contexts in rates:
            said = min(_SUREST, max(1 - _SUREST, rate))
            for context in contexts:
                expected[context] = max(said, expected.get(context, 0.0))
        for context, said in expected.items():
            sums = self._get(context)
            if len(self._sums) >= _MOST_NAMES // 2 and context not in self._sums:
                self._older, self._sums = self._sums, {}
            self._sums[context] = sums + complex(copy - said, said * (1 - said))

    def _get(self, context: Hashable) -> complex:
        return self._sums.get(context) or self._older.get(context, 0j)


def _contexts(twin: Twin) -> tuple[Hashable, ...]:
    """Return in what names are counted: those of the name, and those that begin like it, where the rule is tried.

    Pages that were written together are called alike, and changed together, as `05020100.html` and `05020200.html`. Two
    thirds of a name, without what it ends in, tell them from others.
    """
    begins = twin.name.partition(".")[0]
    return (*twin.names, (twin.contexts[-1], begins[: 2 * len(begins) // 3]))
