"""Rewrite rules: which URLs lead to copies of pages that were fetched before, learned while a crawl runs.

A site's URLs tell where its copies are: `/i386/en/ch01.html` has been a copy of `/amd64/en/ch01.html` forty times running. The idea is that
of Bar-Yossef, Keidar and Schonfeld, *Do not crawl in the DUST* (WWW 2007), and of Dasgupta, Kumar and Sasturkar, *De-duping URLs via
rewrite rules* (KDD 2008). They learn from a log, afterwards; here every page that is fetched teaches, at once.

    a copy and its original            rule                                  what it says of a URL
    /i386/en/a.html, /amd64/en/a.html  "i386" stands for "amd64"             its twin is the same URL with the other run of tokens
    /a?id=1&print=1, /a?id=1           "&print=1" may be left out            its twin is the URL without it
    /w?do=login&id=7, /w?do=login&id=2 with do=login, `id` does not matter   its twin is the first such page, whatever its id

A rule alone says nothing: the twin has to be a page that was fetched. Whether the URL is then a copy, too, is told by what became of
others, for and against: of the rule everywhere; after this prefix; in this directory; of the other twins of this very page; and of pages
of the same name elsewhere (chapter 4 of the second machine differs, so that of the third one will). Each of them is a rate with a prior,
the wider one being the prior of the narrower; what they say is added up in log-odds.

    fetched page -> does it have a twin? -- yes --> evidence for, or against, the rules that lead there
                 -> is it a copy?        -- yes --> rules that lead from it to its original
    link         -> best twin            ---------> Prediction: how likely a copy, of which page, by which rule

Memory is bounded whatever a site does: of pages 8 bytes each are known and the older half is forgotten past a million of them; rules, runs,
classes and counters have bounds as well. No rule looks at more than a few dozen twins.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from xxhash import xxh3_64_intdigest

from simcrawl.rule import Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from simcrawl.rule import Verdict

_TOKEN = re.compile(r"[^/._?=&-]+|[/._?=&-]")
_SEPARATORS = frozenset("/._?=&-")
_LONGEST_URL, _LONGEST_RUN = 2000, 6
_MOST_TWINS, _MOST_PARTNERS, _MOST_RUNS, _MOST_PREFIXES, _MOST_RUNS_OF_A_TOKEN = 48, 20, 400, 64, 8
_MOST_SHAPES, _MOST_POSITIONS, _MOST_INDIFFERENT, _MOST_DIFFERENCES = 2000, 24, 16, 3
# A parameter of no more values than that says what kind of page it is; one of more names a page.
_MOST_KINDS = 12
_MOST_KNOWN, _MOST_COUNTERS, _MOST_FIRSTS, _MOST_RECENT, _MOST_HELD = 1_000_000, 200_000, 100_000, 4096, 20_000
# As if so many pages had been seen that the wider rate says.
_PRIORS = (2.0, 2.0, 4.0)
# Past so many, half of what is known is forgotten: sites change.
_LONGEST_MEMORY = 300
# What each kind of evidence counts for: none; the rule here, in this directory; this page's twins; its name, and that by this rule.
_BIAS, _OF_RULE, _OF_DIRECTORY, _OF_TWINS, _OF_NAME, _OF_NAME_BY_RULE = 0.3, 0.3, 0.5, 0.5, 0.5, 0.3
# One-sided, 95 %.
_Z = 1.64
_LEVELS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
_LEVEL = 10
# Of what may be skipped one in so many is fetched all the same.
_SAMPLED = 10
# What is left of a rule's evidence after a miss: pages.
_AFTER_A_MISS = 20
_KEPT, _COPY = 1, 2


class Prediction(NamedTuple):
    """What a URL leads to, probably.

    `probability`: that its page is a copy, the estimate less 1.64 of its standard errors. `original`: the fetched page that it would be
    a copy of. `rule`: in words. `support`: how many fetched pages the rule was tried on, here.
    """

    probability: float
    original: str
    rule: str
    support: float


class _Address:
    """A URL in its parts. `shape`: what URLs have in common that differ in values alone; `values`: path segments, then parameters."""

    __slots__ = ("key", "shape", "url", "values")

    def __init__(self, url: str, seed: int) -> None:
        self.url = url
        before, _, query = url.partition("?")
        host, _, path = before.partition("://")[2].partition("/")
        segments = path.split("/")
        pairs = sorted(pair.partition("=")[::2] for pair in query.split("&")) if query else []
        self.values = (*segments, *(value for _, value in pairs))
        self.shape = (host, len(segments), tuple(name for name, _ in pairs))
        # Parameters in any order are one page.
        self.key = _key(f"{before}?{'&'.join(map('='.join, pairs))}" if query else url, seed)


def _key(url: str, seed: int) -> int:
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"), seed)


class _Twin(NamedTuple):
    """A fetched page that a URL may be a copy of.

    `contexts`: of what there is evidence, the widest first. `name`: what the page is called, for replacements.
    """

    url: str
    status: int
    contexts: tuple[Hashable, ...]
    rule: str
    name: str = ""


class _Counters:
    """How often something was so: a context's copies and trials, forgetting what is old, and contexts that were long not used."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, list[float]] = {}
        self._older: dict[Hashable, list[float]] = {}

    def get(self, context: Hashable) -> list[float] | None:
        found = self._counts.get(context)
        if found is None and (found := self._older.pop(context, None)):
            self._counts[context] = found
        return found

    def add(self, context: Hashable, *, copy: bool) -> None:
        count = self.get(context)
        if count is None:
            if len(self._counts) >= _MOST_COUNTERS // 2:
                self._older, self._counts = self._counts, {}
            count = self._counts[context] = [0.0, 0.0]
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
        for context, prior in zip(contexts, _PRIORS, strict=False):
            if count := self.get(context):
                rate = (count[0] + prior * rate) / (count[1] + prior)
        return rate

    def odds(self, context: Hashable) -> float:
        """Return the log-odds of copies in one context."""
        copies, trials = self.get(context) or (0.0, 0.0)
        return _log_odds(copies, trials - copies)


def _log_odds(copies: float, others: float) -> float:
    return math.log((copies + 0.5) / (others + 0.5))


class _Known:
    """What became of the pages that were fetched: a digest and a byte each; the older half is forgotten."""

    def __init__(self) -> None:
        self._pages: dict[int, int] = {}
        self._older: dict[int, int] = {}

    def get(self, key: int) -> int:
        return self._pages.get(key) or self._older.get(key, 0)

    def add(self, key: int, status: int) -> None:
        if len(self._pages) >= _MOST_KNOWN // 2:
            self._older, self._pages = self._pages, {}
        self._pages[key] = status


class _Replacements:
    """Runs of tokens that stood for one another in a copy's URL and its original's."""

    def __init__(self) -> None:
        self._partners: dict[str, list[str]] = {}
        # Runs by their first token, and what may come after a prefix.
        self._runs: dict[str, list[str]] = {}
        self._inserted: dict[str, list[str]] = {}

    def learn(self, url: str, original: str) -> tuple[str, str, str] | None:
        """Take a rule from a pair; return its prefix and both runs where it is new."""
        tokens, others = _TOKEN.findall(url), _TOKEN.findall(original)
        before, after = _common(tokens, others)
        run, other = tokens[before : len(tokens) - after], others[before : len(others) - after]
        if max(len(run), len(other)) > _LONGEST_RUN:
            return None
        prefix, a, b = "".join(tokens[:before]), "".join(run), "".join(other)
        added = [self._add(a, b), self._add(b, a)] if a and b else [self._add(a or b, ""), self._insert(prefix, a or b)]
        return (prefix, a, b) if any(added) else None

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
                    if url.startswith(run, place) and _ends_here(url, place + len(run)):
                        for other in self._partners[run]:
                            yield url[:place] + other + url[place + len(run) :], place, run, other
        for prefix, runs in self._inserted.items():
            if url.startswith(prefix):
                place = len(prefix)
                for other in runs:
                    yield url[:place] + other + url[place:], place, "", other


def _common(a: list[str], b: list[str]) -> tuple[int, int]:
    """Return how many tokens two lists begin with, and how many of the others they end with."""
    least = min(len(a), len(b))
    before = next((place for place in range(least) if a[place] != b[place]), least)
    after = next((place for place in range(least - before) if a[-1 - place] != b[-1 - place]), least - before)
    return before, after


def _ends_here(url: str, place: int) -> bool:
    return place >= len(url) or url[place] in _SEPARATORS or url[place - 1] in _SEPARATORS


def _append(values: list[str], value: str, most: int) -> bool:
    if value in values or len(values) >= most:
        return False
    values.append(value)
    return True


class _Indifferent:
    """Positions of a URL whose value does not matter, in a class of URLs that the values of few choices tell apart."""

    def __init__(self) -> None:
        # Of each position the values seen, None where they are too many to be kinds.
        self._kinds: dict[Hashable, list[set[str] | None]] = {}
        self._rules: dict[Hashable, list[tuple[int, ...]]] = {}
        self._firsts: OrderedDict[Hashable, str] = OrderedDict()

    def note(self, address: _Address) -> None:
        """Look at the values of a URL, fetched or not."""
        if not address.shape[2] or len(address.values) > _MOST_POSITIONS:
            return
        kinds = self._kinds.get(address.shape)
        if kinds is None:
            if len(self._kinds) >= _MOST_SHAPES:
                return
            kinds = self._kinds[address.shape] = [set() for _ in address.values]
        for place, value in enumerate(address.values):
            known = kinds[place]
            if known is not None and value not in known:
                known.add(value)
                if len(known) > _MOST_KINDS:
                    kinds[place] = None

    def learn(self, address: _Address, original: _Address) -> None:
        """Take a rule from a pair of one shape whose differences name pages."""
        kinds = self._kinds.get(address.shape)
        if kinds is None or address.shape != original.shape:
            return
        differing = tuple(place for place, pair in enumerate(zip(address.values, original.values, strict=True)) if pair[0] != pair[1])
        rules = self._rules.setdefault(address.shape, [])
        name_pages = 0 < len(differing) <= _MOST_DIFFERENCES and all(kinds[place] is None for place in differing)
        if name_pages and differing not in rules and len(rules) < _MOST_INDIFFERENT:
            rules.append(differing)

    def classes(self, address: _Address) -> Iterator[tuple[tuple[Hashable, ...], Hashable]]:
        """Yield, for each rule, the contexts of a URL, and what all URLs have in common that it takes for one page."""
        for rule in self._rules.get(address.shape, ()):
            kinds = self._kinds[address.shape]
            kind: list[tuple[int, str]] = []
            rest: list[tuple[int, str]] = []
            for place, value in enumerate(address.values):
                if place not in rule:
                    (rest if kinds[place] is None else kind).append((place, value))
            wide = (address.shape, rule)
            narrow = (*wide, tuple(kind))
            yield (wide, narrow), (*narrow, tuple(rest))

    def first(self, page: Hashable) -> str:
        return self._firsts.get(page, "")

    def add(self, page: Hashable, url: str) -> None:
        if page not in self._firsts:
            self._firsts[page] = url
            if len(self._firsts) > _MOST_FIRSTS:
                self._firsts.popitem(last=False)


class RewriteRules:
    """Learns from the pages of a crawl which URLs lead to copies. Not thread-safe; exact in nothing: all of it is likelihood.

    `skip`: from which lower bound on a request may be left out. `mirrors`: hosts with equal pages. Rules that lead to another host only
    order requests, but for these, and for "www." and the scheme of one host: a site must not make pages of another one vanish. `seed`:
    which pages are fetched as a sample follows from it; a site that does not know it cannot make pages look like others by their digests.
    """

    def __init__(self, *, skip: float = 0.95, mirrors: Iterable[str] = (), seed: int = 0) -> None:
        self._skip = skip
        self._seed = seed
        self._mirrors = frozenset(mirrors)
        self._known = _Known()
        self._counters = _Counters()
        self._replacements = _Replacements()
        self._indifferent = _Indifferent()
        # The last pages: a new rule is tried on them at once.
        self._recent: OrderedDict[str, tuple[int, bool]] = OrderedDict()
        self._number = 0
        self._held: dict[Hashable, list[str]] = {}
        self._number_held = 0
        self._released: list[str] = []

    # ---- learning

    def observe(self, url: str, verdict: Verdict) -> None:
        """Learn from the verdict on a fetched page."""
        if len(url) > _LONGEST_URL or verdict.kind is Kind.SKIPPED:
            return
        address = _Address(url, self._seed)
        self._indifferent.note(address)
        copy = verdict.is_duplicate
        twins = self._twins(address)
        self._check(twins, copy=copy)
        self._count(twins, copy=copy)
        self._known.add(address.key, _COPY if copy else _KEPT)
        self._remember(url, copy=copy)
        original = verdict.original if copy and verdict.original and verdict.original != url else ""
        if original and len(original) <= _LONGEST_URL:
            self._indifferent.learn(address, _Address(original, self._seed))
            if rule := self._replacements.learn(url, original):
                self._try(*rule)
        if original or not copy:
            for _, page in self._indifferent.classes(address):
                self._indifferent.add(page, original or url)

    def _count(self, twins: list[_Twin], *, copy: bool) -> None:
        contexts: set[Hashable] = set()
        for twin in twins:
            contexts.update(twin.contexts)
            if twin.name:
                contexts.update(_names(twin))
        for context in contexts:
            self._counters.add(context, copy=copy)

    def _check(self, twins: list[_Twin], *, copy: bool) -> None:
        """Compare what was predicted by rules that skip with what came: a miss sends all back that was skipped since the last hit."""
        for twin in twins:
            rule = twin.contexts[-1]
            held = rule in self._held
            if held:
                urls = self._held.pop(rule)
                self._number_held -= len(urls)
                if not copy:
                    self._released += urls
            if not copy and (held or self._likelihood(twin, twins)[1] >= self._skip):
                for context in twin.contexts[1:]:
                    self._counters.shorten(context, _AFTER_A_MISS)

    def _remember(self, url: str, *, copy: bool) -> None:
        self._number += 1
        self._recent[url] = self._number, copy
        if len(self._recent) > _MOST_RECENT:
            self._recent.popitem(last=False)

    def _try(self, prefix: str, run: str, other: str) -> None:
        """Try a new rule on the pages that were fetched lately: each pair once, by what became of the later one."""
        for url, (number, copy) in self._recent.items():
            for a, b in ((run, other), (other, run)):
                if not a or not url.startswith(prefix + a):
                    continue
                twin = prefix + b + url[len(prefix) + len(a) :]
                if self._recent.get(twin, (number,))[0] < number:
                    made = _replaced(url, len(prefix), (a, b), twin, _KEPT)
                    for context in (*made.contexts, *_names(made)):
                        self._counters.add(context, copy=copy)

    # ---- predicting

    def predict(self, url: str) -> Prediction | None:
        """Return what a URL leads to; None where no rule leads from it to a fetched page."""
        if len(url) > _LONGEST_URL:
            return None
        address = _Address(url, self._seed)
        self._indifferent.note(address)
        best = self._best(self._twins(address))
        if best is None:
            return None
        twin, bound, support = best
        return Prediction(max(0.0, bound), twin.url, twin.rule, support)

    def priority(self, url: str, found_on: Verdict | None = None) -> int:
        """Return what to add to a request's priority: 0, or less the likelier its page is a copy.

        `found_on`: the verdict on the page that the link stands on. Links on copies come after others.
        """
        made = self.predict(url)
        level = sum(made.probability >= level for level in _LEVELS) if made else 0
        return -_LEVEL * level - (found_on is not None and found_on.is_duplicate)

    def skips(self, url: str) -> bool:
        """Return whether a request is left out; then it is held, and comes back in `released` should the rule prove wrong."""
        if len(url) > _LONGEST_URL or self._number_held >= _MOST_HELD:
            return False
        address = _Address(url, self._seed)
        # Equal for equal URLs: whoever asks twice gets one answer.
        if address.key % _SAMPLED == 0:
            return False
        twins = [twin for twin in self._twins(address) if twin.status == _KEPT and self._may_skip(url, twin.url)]
        best = self._best(twins)
        if best is None or best[1] < self._skip:
            return False
        self._held.setdefault(best[0].contexts[-1], []).append(url)
        self._number_held += 1
        return True

    def released(self) -> list[str]:
        """Return the URLs that were skipped by rules which have proved wrong since; each once."""
        released, self._released = self._released, []
        return released

    def _twins(self, address: _Address) -> list[_Twin]:
        """Return the fetched pages that rules lead to."""
        twins = []
        for url, place, run, other in islice(self._replacements.twins(address.url), _MOST_TWINS):
            key = _Address(url, self._seed).key if "?" in url else _key(url, self._seed)
            if url != address.url and (status := self._known.get(key)):
                twins.append(_replaced(address.url, place, (run, other), url, status))
        for contexts, page in self._indifferent.classes(address):
            first = self._indifferent.first(page)
            if first and first != address.url:
                names = ", ".join(_name_of(address, place) for place in contexts[0][1])  # type: ignore[index]
                twins.append(_Twin(first, _KEPT, contexts, f"{names} does not matter"))
        return twins

    def _best(self, twins: list[_Twin]) -> tuple[_Twin, float, float] | None:
        """Return the likeliest of twins, the lower bound of its likelihood, and how many pages it rests on."""
        made = ((twin, *self._likelihood(twin, twins)[1:]) for twin in twins)
        # A page that was kept is the better name for an original.
        return max(made, key=lambda one: (one[1], one[0].status == _KEPT), default=None)

    def _likelihood(self, twin: _Twin, twins: list[_Twin]) -> tuple[float, float, float]:
        """Return how likely a URL is a copy for its twin, the lower bound of that, and how many pages it rests on."""
        counters = self._counters
        likely = counters.rate(twin.contexts)
        support = (counters.get(twin.contexts[-1]) or (0.0, 0.0))[1]
        if twin.name:
            by_name, by_rule = (counters.odds(context) for context in _names(twin))
            odds = (
                _BIAS
                + _OF_RULE * _logit(counters.rate(twin.contexts[:2]))
                + _OF_DIRECTORY * _logit(likely)
                + _OF_TWINS * _of_others(twin, twins)
                + _OF_NAME * by_name
                + _OF_NAME_BY_RULE * by_rule
            )
            likely = 1 / (1 + math.exp(-max(-8.0, min(8.0, odds))))
            support = max(support, (counters.get(twin.contexts[1]) or (0.0, 0.0))[1])
        trials = support + _PRIORS[len(twin.contexts) - 1]
        return likely, likely - _Z * math.sqrt(max(likely * (1 - likely), 1e-4) / (trials + 1)), support

    def _may_skip(self, url: str, original: str) -> bool:
        here, there = _host(url), _host(original)
        return here.removeprefix("www.") == there.removeprefix("www.") or {here, there} <= self._mirrors


def _replaced(url: str, place: int, runs: tuple[str, str], twin: str, status: int) -> _Twin:
    run, other = runs
    suffix = url[place + len(run) :]
    directory, slash, name = suffix.rpartition("/")
    pair = (run, other) if run < other else (other, run)
    prefix = url[:place]
    contexts = (pair, (pair, prefix), (pair, prefix, directory + slash))
    return _Twin(
        twin, status, contexts, f"{run!r} stands for {other!r}" if run and other else f"{run or other!r} may be left out", name or "/"
    )


def _names(twin: _Twin) -> tuple[Hashable, Hashable]:
    return ("name", twin.name), ("name", twin.name, twin.contexts[0])


def _of_others(twin: _Twin, twins: list[_Twin]) -> float:
    """Return the log-odds that this page's other twins speak of: that two of them were kept says that they differ."""
    others = {other.url: other.status for other in twins if other.name}
    copies = sum(status == _COPY for status in others.values())
    kept = len(others) - copies
    return _log_odds(copies - (kept == 0 and twin.status == _COPY), max(0, kept - 1))


def _logit(rate: float) -> float:
    rate = min(0.995, max(0.005, rate))
    return math.log(rate / (1 - rate))


def _name_of(address: _Address, place: int) -> str:
    segments = address.shape[1]
    return f"segment {place + 1}" if place < segments else repr(address.shape[2][place - segments])


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
