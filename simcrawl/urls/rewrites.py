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

What was learned in one crawl serves the next (`next_crawl`): rules and what speaks for and against them stay, fetched pages do not. So no
page is a copy of one that only an earlier crawl has fetched, and rules that are remembered order at once, but have to be right again
some times before anything is skipped by them.

Memory is bounded whatever a site does: of pages 8 bytes each are known and the older half is forgotten past a million of them; rules, runs,
classes and counters have bounds as well. No rule looks at more than a few dozen twins.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import OrderedDict
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from xxhash import xxh3_64_intdigest

from simcrawl.rule import Kind, host_of, of_one_host

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from simcrawl.rule import Verdict

_TOKEN = re.compile(r"[^/._?=&-]+|[/._?=&-]")
# Scheme and host; and the first directory, where nothing is replaced before its end.
_PART = re.compile(r"([^/]*//[^/?]*)(?:/(?:[^/?*]*/)?)?")
_SEPARATORS = frozenset("/._?=&-")
_LONGEST_URL, _LONGEST_RUN = 2000, 6
_MOST_TWINS, _MOST_PARTNERS, _MOST_RUNS, _MOST_PREFIXES, _MOST_RUNS_OF_A_TOKEN = 48, 20, 400, 64, 8
_MOST_SHAPES, _MOST_POSITIONS, _MOST_INDIFFERENT, _MOST_DIFFERENCES = 2000, 24, 16, 3
# A parameter of no more values than that says what kind of page it is; one of more names a page.
_MOST_KINDS = 12
# Rules that pages suggested, by what they say of themselves.
_MOST_SUGGESTED = 50
# What hosts say of their parameters: of so many hosts, so much of each.
_MOST_HOSTS, _MOST_SAID = 200, 20
_MOST_KNOWN, _MOST_COUNTERS, _MOST_FIRSTS, _MOST_RECENT, _MOST_HELD = 1_000_000, 200_000, 100_000, 4096, 20_000
# As if so many pages had been seen that the wider rate says.
_PRIORS = (2.0, 2.0, 4.0)
# Past so many, half of what is known is forgotten: sites change.
_LONGEST_MEMORY = 300
# What each kind of evidence counts for: none; the rule here, in this directory; this page's twins; its name, and that by this rule.
_BIAS, _OF_RULE, _OF_DIRECTORY, _OF_TWINS, _OF_NAME, _OF_NAME_BY_RULE = 0.3, 0.3, 0.5, 0.5, 0.5, 0.3
# One-sided, 95 %.
_Z = 1.64
# A replacement says something where it is hardly ever right, too; a class of URLs does not: it may have been tried on other pages alone.
_LEVELS = (0.05, 0.12, 0.2, 0.35, 0.5, 0.7, 0.9, 0.98)
_CLASS_LEVELS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
_LEVEL = 10
# Of what may be skipped one in so many is fetched all the same.
_SAMPLED = 16
# What is left of a rule's evidence after a miss: pages.
_AFTER_A_MISS = 20
# What an earlier crawl saw weighs as so many pages at most, and so many copies have to be seen in this one before a rule skips.
_REMEMBERED, _CONFIRMED = 20, 20
_MOST_REMEMBERED, _MOST_TRIED, _EXAMPLES, _MOST_PLACES = 40_000, 2000, 3, 20
# What became of a page. Of a copy some bits of its original's key are kept beside: numbers up to 255, of which Python has one object each.
_KEPT, _COPY = 1, 2
# What a copy of another page than the one that is named counts for its class.
_OTHER = 0.8
# A rule skips nothing if more of its copies than that lead to new pages. Some do by chance: of a page and its copy either comes first.
_MOST_LEADING = 0.3
# Nor if it was wrong in so many directories when it was sure. In one alone a book may have been rewritten.
_MOST_MISSED = 2
# Nothing is skipped by a rule that was tried on fewer pages: the links on its copies have hardly been seen.
_LEAST = 24
# Nor in a directory of which fewer pages were fetched: a title page may be the same and the chapters others. A page whose own URL goes on
# (`?id=7&print=1`) has no directory; there it is a matter of earlier crawls.
_ENTERED, _ENTERED_BEFORE = 4, 2
# From which lower bound on so many redirects lead where a rule does that others of the kind come later.
_LEADS = 0.5
# How many levels a page is lowered at most that is the first of its directory: with it waits what only it leads to.
_UNENTERED_LEVELS = 2
# From which lower bounds on the share of copies in a class of URLs one of which nothing else is known comes later.
_POOR = (0.4, 0.7)


class Prediction(NamedTuple):
    """What a URL leads to, probably.

    `probability`: that its page is a copy, the estimate less 1.64 of its standard errors. `original`: the fetched page that it would be
    a copy of. `rule`: in words. `support`: how many fetched pages the rule was tried on, here.
    """

    probability: float
    original: str
    rule: str
    support: float


class Outlook(NamedTuple):
    """What is known of a URL before it is fetched.

    `prediction`: what it leads to; None where no rule leads from it to a fetched page. `skip`: what speaks for leaving the request out,
    None where it has to be made. Its original was kept; its rule leads there, or to another copy of that page. `priority`: what to add to
    the request's, 0, or less the likelier its page is a copy. `part`: equal for all that one rule says of one part of a site.
    """

    prediction: Prediction | None
    skip: Prediction | None
    priority: int
    part: Hashable = None


_NOTHING = Outlook(None, None, 0)


class Replaced(NamedTuple):
    """Right behind one of `prefixes`, `other` instead of `run` leads to the same content; either may be empty.

    `prefixes`: what URLs begin with; empty where the run stands in too many places to name them. All of them are in `part` of a site:
    scheme, host and perhaps a directory, with "*" for the run where that stands in the host or before it.
    """

    part: str
    prefixes: tuple[str, ...]
    run: str
    other: str


class Indifferent(NamedTuple):
    """URLs of one host, of so many path segments and these parameters: the values at `places` do not matter.

    `values`: of the segments, then of the parameters; None where they differ from page to page.
    """

    host: str
    parameters: tuple[str, ...]
    values: tuple[str | None, ...]
    places: tuple[int, ...]

    @property
    def segments(self) -> int:
        """How many of the values are segments of the path."""
        return len(self.values) - len(self.parameters)


class LearnedRule(NamedTuple):
    """A rule that a crawl has learned.

    `rule`: in words. `where`: what URLs begin with, or look like ("*": the value does not matter, "{}": it names the page).
    `confidence`: the share of copies, less 1.64 of its standard errors. `support`: pages that it was tried on; `saves`: copies among
    these, which need not have been fetched. `examples`: copies and their originals. `means`: the rule for programs.
    """

    rule: str
    where: str
    confidence: float
    support: int
    saves: int
    examples: tuple[tuple[str, str], ...]
    means: Replaced | Indifferent


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


class _Likely(NamedTuple):
    """A twin, the lower bound of the likelihood that the URL is a copy for it, and how many pages that rests on."""

    twin: _Twin
    bound: float
    support: float


def _prediction(twin: _Twin, bound: float, support: float) -> Prediction:
    return Prediction(max(0.0, bound), twin.url, twin.rule, support)


class _Counters:
    """How often something was so: a context's copies and trials, forgetting what is old, and contexts that were long not used.

    `remembered`: what earlier crawls saw, shared by all who remember it.
    """

    def __init__(self, remembered: dict[Hashable, list[float]] | None = None) -> None:
        self._counts: dict[Hashable, list[float]] = {}
        self._older: dict[Hashable, list[float]] = {}
        self._remembered = remembered or {}

    def get(self, context: Hashable) -> list[float] | None:
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
        found = _difference(url, original)
        if found is None:
            return None
        prefix, a, b = found
        added = [self._add(a, b), self._add(b, a)] if a and b else [self._add(a or b, ""), self._insert(prefix, a or b)]
        return found if any(added) else None

    def copy(self) -> _Replacements:
        """Return rules of their own that are the same."""
        made = _Replacements()
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
                    if url.startswith(run, place) and _ends_here(url, place + len(run)):
                        for other in self._partners[run]:
                            yield url[:place] + other + url[place + len(run) :], place, run, other
        for prefix, runs in self._inserted.items():
            if url.startswith(prefix):
                place = len(prefix)
                for other in runs:
                    yield url[:place] + other + url[place:], place, "", other


def _difference(url: str, other: str) -> tuple[str, str, str] | None:
    """Return what two URLs begin with, and the runs of tokens in which they differ; None where these are long."""
    tokens, others = _TOKEN.findall(url), _TOKEN.findall(other)
    before, after = _common(tokens, others)
    run, instead = tokens[before : len(tokens) - after], others[before : len(others) - after]
    if max(len(run), len(instead)) > _LONGEST_RUN:
        return None
    return "".join(tokens[:before]), "".join(run), "".join(instead)


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
        # By host: parameters, and the beginning of the paths in which they do not matter, as the host itself says.
        self._said: OrderedDict[str, list[tuple[frozenset[str], str]]] = OrderedDict()

    def next_crawl(self) -> _Indifferent:
        """Return the same rules without a page."""
        made = _Indifferent()
        made._kinds = {shape: [values and values.copy() for values in kinds] for shape, kinds in self._kinds.items()}
        made._rules = {shape: rules.copy() for shape, rules in self._rules.items()}
        return made

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

    def say(self, host: str, names: frozenset[str], path: str) -> None:
        """Note what a host says of its parameters, which suggests rules: see `suggested`."""
        said = self._said.setdefault(host, [])
        if len(said) < _MOST_SAID and (names, path) not in said:
            said.append((names, path))
        if len(self._said) > _MOST_HOSTS:
            self._said.popitem(last=False)

    def suggested(self, address: _Address) -> Hashable | None:
        """Take the rule that a URL's host suggests; return the context of it where it is new."""
        host, segments, parameters = address.shape
        said, rules = self._said.get(host), self._rules.get(address.shape, [])
        if said is None or address.shape not in self._kinds or len(rules) >= _MOST_INDIFFERENT:
            return None
        path = "/" + "/".join(address.values[:segments])
        names = frozenset[str]().union(*(named for named, start in said if path.startswith(start)))
        places = tuple(place for place, name in enumerate(parameters, segments) if name in names)
        if not places or places in rules:
            return None
        self._rules.setdefault(address.shape, []).append(places)
        return address.shape, places

    def learn(self, address: _Address, original: _Address) -> None:
        """Take a rule from a pair of one shape whose differences name pages."""
        kinds = self._kinds.get(address.shape)
        if kinds is None:
            return
        if address.shape == original.shape:
            differing = tuple(place for place, pair in enumerate(zip(address.values, original.values, strict=True)) if pair[0] != pair[1])
        else:
            # All of a class may be copies of one page elsewhere: forms that are behind a log-in.
            differing = tuple(place for place, known in enumerate(kinds) if known is None)
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
            # Of a suggested rule: values of few choices, each of which has to prove on its own that it does not matter.
            own: list[tuple[int, str]] = []
            for place, value in enumerate(address.values):
                few = kinds[place] is not None
                if place not in rule:
                    (kind if few else rest).append((place, value))
                elif few:
                    own.append((place, value))
            wide = (address.shape, rule)
            yield (wide, (*wide, (*kind, *own))), (*wide, tuple(kind), tuple(rest))

    def kind(self, address: _Address) -> tuple[Hashable, ...]:
        """Return the contexts of a URL that no rule is needed for: its shape, and with it the values of few choices."""
        kinds = self._kinds.get(address.shape)
        if kinds is None:
            return ()
        few = ((place, value) for place, value in enumerate(address.values) if kinds[place] is not None)
        return address.shape, (address.shape, tuple(few))

    def first(self, page: Hashable) -> str:
        return self._firsts.get(page, "")

    def add(self, page: Hashable, url: str, *, copy: bool) -> None:
        if copy or page not in self._firsts:
            self._firsts[page] = url
            if len(self._firsts) > _MOST_FIRSTS:
                self._firsts.popitem(last=False)


class _Tried:
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

    def example(self, twin: _Twin, url: str) -> None:
        number, pairs = self.told.setdefault(twin.rule, ([0], []))
        number[0] += 1
        if len(pairs) < _EXAMPLES:
            pairs.append((url, twin.url))
        if twin.name and self.prefixes is not None:
            self.prefixes[twin.contexts[1][1]] = None  # type: ignore[index]
            if len(self.prefixes) > _MOST_PLACES:
                self.prefixes = None


class _Redirects:
    """Where URLs lead by redirects: for the order of requests alone.

    A redirect says nothing of contents. Before a log-in all pages lead to one form, or each to a form of its own, and pages that are gone
    lead to the home page. So these rules, and what speaks for them, are apart from those that let requests be skipped.
    """

    def __init__(self) -> None:
        self.replacements = _Replacements()
        # What stands for what, and where that has led first; nothing once it has led elsewhere, too.
        self._kinds: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        self._led = _Counters()
        self._rules = 0

    def __bool__(self) -> bool:
        return self._rules > 0

    def learn(self, url: str, target: str) -> None:
        """Take a rule from a redirect, the second time that it leads to another page: what leads to one page alone is no rule."""
        found = _difference(url, target)
        if found is None or self._rules >= _MOST_SUGGESTED:
            return
        prefix, run, other = found
        # A path that becomes part of a query is the way back from a log-in form.
        if "?" in other and "?" not in run and len(prefix) + len(run) < len(url):
            return
        kind = "" if run else prefix, run, other
        first = self._kinds.setdefault(kind, target)
        if len(self._kinds) > _MOST_RECENT:
            self._kinds.popitem(last=False)
        if first not in ("", target):
            self._kinds[kind] = ""
            self._rules += self.replacements.learn(url, target) is not None

    def led(self, twins: list[_Twin], target: str) -> None:
        """Count for the rules that lead where a redirect does whether it leads there, if that page was kept."""
        kept = [twin for twin in twins if twin.status == _KEPT]
        right = {_part_of(twin) for twin in kept if twin.url == target}
        for part in {_part_of(twin) for twin in kept}:
            self._led.add(part, float(part in right))

    def fetched(self, twins: list[_Twin], *, copy: bool) -> None:
        """Count a page that was fetched under its own URL."""
        for part in {_part_of(twin) for twin in twins}:
            self._led.add(part, float(copy))

    def levels(self, twins: list[_Twin]) -> int:
        """Return by how many levels a URL comes later, since it probably leads to a page that was kept."""
        counts = (self._led.get(_part_of(twin)) for twin in twins if twin.status == _KEPT)
        bounds = (_lower_bound((led + 1) / (tried + 2), tried) for led, tried in filter(None, counts))
        return _UNENTERED_LEVELS if max(bounds, default=0.0) >= _LEADS else 0


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
        # By rule and part of a site, those last used last.
        self._tried: OrderedDict[Hashable, _Tried] = OrderedDict()
        # What the next crawl is to know of the counters, until more is learned.
        self._lasting: dict[Hashable, list[float]] | None = None
        # Rules that pages suggested and that no page has been tried on.
        self._suggested: set[Hashable] = set()
        self._suggestions = 0
        # How often a rule has to be right in this crawl before it skips.
        self._needed = 0
        self._held: dict[Hashable, list[str]] = {}
        self._number_held = 0
        self._released: list[str] = []
        self._leading: OrderedDict[int, None] = OrderedDict()
        self._redirects = _Redirects()
        # By class of URLs how many pages gave nothing new: for the order of requests alone.
        self._poor = _Counters()

    def next_crawl(self) -> RewriteRules:
        """Return rules for another crawl: with all that was learned, and none of the pages.

        They order requests from the first fetched page on. A rule skips once 20 copies have confirmed it in that crawl, in the same part of
        the site (host and first directory) or class of URLs. The rule alone would be too wide, since "1" for "2" may hold in one part and
        not in another; one directory is too narrow, many have fewer pages, and so is what stands before "?print=1".
        """
        made = RewriteRules(skip=self._skip, mirrors=self._mirrors, seed=self._seed)
        if self._lasting is None:
            self._lasting = self._counters.lasting()
        made._counters = _Counters(self._lasting)
        made._replacements, made._indifferent = self._replacements.copy(), self._indifferent.next_crawl()
        made._suggested = self._suggested.copy()
        made._needed = _CONFIRMED
        return made

    # ---- learning

    def observe(self, url: str, verdict: Verdict, canonical: str = "") -> None:
        """Learn from the verdict on a fetched page. `canonical`: the URL by which it wants to be known, which suggests a rule."""
        if len(url) > _LONGEST_URL:
            return
        address = _Address(url, self._seed)
        # A page of a few words is no copy, but says as little.
        for context in self._indifferent.kind(address):
            self._poor.add(context, verdict.is_duplicate or verdict.kind is Kind.SKIPPED)
        if verdict.kind is Kind.SKIPPED:
            return
        self._lasting = None
        self._note(address)
        copy = verdict.is_duplicate
        twins = self._twins(address)
        self._check(twins, copy=copy)
        self._count(twins, verdict.original or "", copy=copy)
        if self._redirects:
            self._redirects.fetched(self._by_replacements(address, self._redirects.replacements), copy=copy)
        original = verdict.original if copy and verdict.original and verdict.original != url else ""
        self._known.add(address.key, self._copy_of(original) if copy else _KEPT)
        self._remember(url, copy=copy)
        if original and len(original) <= _LONGEST_URL:
            self._indifferent.learn(address, _Address(original, self._seed))
            if rule := self._replacements.learn(url, original):
                self._try(*rule)
            self._tell(url, original, twins)
        elif canonical not in ("", url) and len(canonical) <= _LONGEST_URL:
            self._suggest(address, canonical)
        # An original that only another crawl has fetched is none here.
        if not copy or (original and self._is_kept(original)):
            for _, page in self._indifferent.classes(address):
                self._indifferent.add(page, original or url, copy=copy)

    def _note(self, address: _Address) -> None:
        """Look at the values of a URL, fetched or not, and at what its host says of them."""
        self._indifferent.note(address)
        if (rule := self._indifferent.suggested(address)) is not None:
            self._suggested.add(rule)

    def suggest_parameters(self, host: str, names: Iterable[str], path: str = "") -> None:
        """Take from a host that parameters do not matter where a path begins with `path`. It says nothing until it was tried.

        `host`: as it stands in URLs, with its port. There it has to prove right as any other rule, of a parameter with few values for each
        of these.
        """
        self._indifferent.say(host, frozenset(names), path)

    def _suggest(self, address: _Address, canonical: str) -> None:
        """Take a rule from what a page says of itself, which says nothing until it is tried. There are few of them, for pages lie."""
        if self._suggestions >= _MOST_SUGGESTED or not self._may_skip(address.url, canonical):
            return
        self._indifferent.learn(address, _Address(canonical, self._seed))
        if rule := self._replacements.learn(address.url, canonical):
            self._suggestions += 1
            self._suggested.add(_pair(*rule[1:]))
            self._try(*rule)

    def redirected(self, url: str, target: str) -> None:
        """Learn that a URL of a site leads to another one of it by a redirect.

        Two that lead to two pages by one replacement make a rule. Where most redirects lead where it does, and to pages that were kept,
        further URLs of the kind come later. That is all: nothing is ever skipped for a redirect, or told as a copy.
        """
        if max(len(url), len(target)) > _LONGEST_URL or url == target or not self._may_skip(url, target):
            return
        self._redirects.learn(url, target)
        if self._redirects:
            self._redirects.led(self._by_replacements(_Address(url, self._seed), self._redirects.replacements), target)

    def _levels(self, address: _Address) -> int:
        """Return by how many levels a URL comes later for redirects alone, or for its class."""
        led = self._redirects.levels(self._by_replacements(address, self._redirects.replacements)) if self._redirects else 0
        contexts = self._indifferent.kind(address)
        tried = self._poor.get(contexts[-1]) if contexts else None
        if not tried:
            return led
        bound = _lower_bound(self._poor.rate(contexts), tried[1] + _PRIORS[1])
        return max(led, bisect_right(_POOR, bound))

    def led_on(self, url: str) -> None:
        """Learn that a link on a copy has led to a page that was kept, and that no other page had shown the way to before.

        Where that is so of many copies, as in a gallery of equal captions, to skip such pages would lose what is behind them.
        """
        if len(url) > _LONGEST_URL:
            return
        address = _Address(url, self._seed)
        if address.key in self._leading:
            return
        self._leading[address.key] = None
        if len(self._leading) > _MOST_RECENT:
            self._leading.popitem(last=False)
        for part in {_part_of(twin) for twin in self._twins(address)}:
            if tried := self._tried.get(part):
                tried.leading += 1

    def _copy_of(self, original: str) -> int:
        known = 0 < len(original) <= _LONGEST_URL
        return _COPY + 1 + _Address(original, self._seed).key % 253 if known else _COPY

    def _is_kept(self, url: str) -> bool:
        return self._known.get(_Address(url, self._seed).key) == _KEPT

    def _tell(self, url: str, original: str, twins: list[_Twin]) -> None:
        for twin in twins:
            if twin.url == original and (tried := self._tried.get(_part_of(twin))):
                tried.example(twin, url)

    def _count(self, twins: list[_Twin], original: str, *, copy: bool) -> None:
        contexts: dict[Hashable, float] = {}
        for twin in twins:
            if twin.name:
                contexts.update(dict.fromkeys((*twin.contexts, *_names(twin)), float(copy)))
            else:
                # In a class that leads to many pages no one of them is the original.
                right = float(copy) if twin.url == original else _OTHER * copy
                for context in twin.contexts:
                    contexts[context] = max(right, contexts.get(context, 0.0))
        self._suggested -= contexts.keys()
        for context, right in contexts.items():
            self._counters.add(context, right)
        for part in {_part_of(twin) for twin in twins}:
            tried = self._tried.setdefault(part, _Tried())
            tried.copies += copy
            tried.trials += 1
            self._tried.move_to_end(part)
        while len(self._tried) > _MOST_TRIED:
            self._tried.popitem(last=False)

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
                if tried := self._tried.get(_part_of(twin)):
                    tried.missed.add(rule)
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
                    self._suggested.discard(made.contexts[0])
                    for context in (*made.contexts, *_names(made)):
                        self._counters.add(context, copy)

    # ---- predicting

    def look(self, url: str) -> Outlook:
        """Return all that is known of a URL in one look: it costs what `predict` costs."""
        if len(url) > _LONGEST_URL:
            return _NOTHING
        address = _Address(url, self._seed)
        self._note(address)
        likely, later = self._likely(self._twins(address)), self._levels(address)
        if not likely:
            return _NOTHING._replace(priority=-_LEVEL * later) if later else _NOTHING
        best = likely[0]
        level = bisect_right(_LEVELS if best.twin.name else _CLASS_LEVELS, best.bound)
        if level > _UNENTERED_LEVELS and not any(self._trials(one.twin.contexts[-1]) for one in likely):
            level = _UNENTERED_LEVELS
        found = self._skipping(address, self._near(address, likely))
        skip = _prediction(*found[0])._replace(original=found[1]) if found else None
        return Outlook(_prediction(*best), skip, -_LEVEL * max(level, later), _part_of(found[0].twin if found else best.twin))

    def predict(self, url: str) -> Prediction | None:
        """Return what a URL leads to; None where no rule leads from it to a fetched page."""
        return self.look(url).prediction

    def priority(self, url: str, found_on: Verdict | None = None) -> int:
        """Return what to add to a request's priority: 0, or less the likelier its page is a copy.

        `found_on`: the verdict on the page that the link stands on. Links on copies come after others.
        """
        return self.look(url).priority - (found_on is not None and found_on.is_duplicate)

    def would_skip(self, url: str) -> Prediction | None:
        """Return what speaks for leaving a request out; None where it has to be made. Nothing is held: see `skips`."""
        return self.look(url).skip

    def skips(self, url: str) -> bool:
        """Return whether a request is left out; then it is held, and comes back in `released` should the rule prove wrong."""
        if len(url) > _LONGEST_URL or self._number_held >= _MOST_HELD:
            return False
        address = _Address(url, self._seed)
        found = self._skipping(address, self._near(address, self._likely(self._twins(address))))
        if found is None:
            return False
        self._held.setdefault(found[0].twin.contexts[-1], []).append(url)
        self._number_held += 1
        return True

    def _near(self, address: _Address, likely: list[_Likely]) -> list[_Likely]:
        """Return what is likely without the twins on hosts that must not speak for this one."""
        near = [one.twin for one in likely if self._may_skip(address.url, one.twin.url)]
        return likely if len(near) == len(likely) else self._likely(near)

    def _skipping(self, address: _Address, likely: list[_Likely]) -> tuple[_Likely, str] | None:
        """Return why a request is left out, and the page that was kept; None where it is made."""
        # Equal for equal URLs: whoever asks twice gets one answer.
        if address.key % _SAMPLED == 0:
            return None
        for one in likely:
            if one.bound < self._skip:
                return None
            original = self._original(one.twin, likely)
            if original and self._is_proven(one.twin):
                return one, original
        return None

    def _original(self, twin: _Twin, likely: list[_Likely]) -> str:
        """Return the page that a twin is a copy of, or itself, if it was kept and rules lead to it; otherwise nothing."""
        if twin.status == _KEPT:
            return twin.url
        # These rules have to be proven as well: on a wiki, to skip pages whose own way to the original was hardly tried lost some contents.
        kept = (one.twin.url for one in likely if one.twin.status == _KEPT and self._is_proven(one.twin))
        return next((url for url in kept if self._copy_of(url) == twin.status), "")

    def _is_proven(self, twin: _Twin) -> bool:
        tried = self._tried.get(_part_of(twin))
        # Where it was wrong once when it was sure it is not believed again: a few pages may differ that no sample meets.
        if tried is None or twin.contexts[-1] in tried.missed or not self._is_safe(tried):
            return False
        if not twin.name:
            return self._trials(twin.contexts[-1]) >= _LEAST
        # In this part of this host: elsewhere a rule may hold, and another host may have pages made to confirm it. And of this directory
        # some pages, for the first of a directory may be the only one with links to the others.
        narrow: Any = twin.contexts[-1]
        _, prefix, directory = narrow
        entered = _ENTERED if directory or prefix.endswith("/") else _ENTERED_BEFORE
        least = self._needed or _LEAST
        return tried.trials >= least and self._trials(twin.contexts[-1]) >= entered

    def _trials(self, context: Hashable) -> float:
        seen = self._counters.get(context)
        return seen[1] if seen else 0.0

    def _is_safe(self, tried: _Tried) -> bool:
        """Return whether a rule was confirmed in this crawl, if it is remembered, and the links of its copies lead to nothing new."""
        return len(tried.missed) < _MOST_MISSED and tried.copies >= self._needed and tried.leading <= _MOST_LEADING * tried.copies

    # ---- telling

    def rules(self) -> list[LearnedRule]:
        """Return the rules that order requests, those that save most fetches first.

        Each is told in the direction in which it led from copies to their originals, more often than in the other one.
        """
        told = (_told(part, tried) for part, tried in self._tried.items() if tried.told and not _is_of_values(part))
        return sorted((rule for rule in told if rule.confidence >= _CLASS_LEVELS[0]), key=lambda rule: (-rule.saves, rule.where, rule.rule))

    def released(self) -> list[str]:
        """Return the URLs that were skipped by rules which have proved wrong since; each once."""
        released, self._released = self._released, []
        return released

    def _by_replacements(self, address: _Address, replacements: _Replacements) -> list[_Twin]:
        """Return the fetched pages to which replacements lead."""
        twins = []
        for url, place, run, other in islice(replacements.twins(address.url), _MOST_TWINS):
            key = _Address(url, self._seed).key if "?" in url else _key(url, self._seed)
            if url != address.url and (status := self._known.get(key)):
                twins.append(_replaced(address.url, place, (run, other), url, status))
        return twins

    def _twins(self, address: _Address) -> list[_Twin]:
        """Return the fetched pages that rules lead to."""
        twins = self._by_replacements(address, self._replacements)
        for contexts, page in self._indifferent.classes(address):
            first = self._indifferent.first(page)
            if first and first != address.url:
                names = ", ".join(_name_of(address, place) for place in contexts[0][1])  # type: ignore[index]
                twins.append(_Twin(first, _KEPT, contexts, f"{names} does not matter"))
        return twins

    def _likely(self, twins: list[_Twin]) -> list[_Likely]:
        """Return twins that may be named, the likeliest first."""
        tried = [twin for twin in twins if twin.contexts[0] not in self._suggested] if self._suggested else twins
        made = [_Likely(twin, *self._likelihood(twin, tried)[1:]) for twin in tried]
        # A page that was kept is the better name for an original.
        return sorted(made, key=lambda one: (one.bound, one.twin.status == _KEPT), reverse=True)

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
        return likely, _lower_bound(likely, trials), support

    def _may_skip(self, url: str, original: str) -> bool:
        return of_one_host(url, original) or {host_of(url), host_of(original)} <= self._mirrors


def _replaced(url: str, place: int, runs: tuple[str, str], twin: str, status: int) -> _Twin:
    run, other = runs
    suffix = url[place + len(run) :]
    directory, slash, name = suffix.rpartition("/")
    pair = _pair(run, other)
    prefix = url[:place]
    contexts = (pair, (pair, prefix), (pair, prefix, directory + slash))
    return _Twin(twin, status, contexts, _says(run, other), name or "/")


def _pair(run: str, other: str) -> tuple[str, str]:
    return (run, other) if run < other else (other, run)


def _says(run: str, other: str) -> str:
    return f"{run!r} stands for {other!r}" if run and other else f"{run or other!r} may be left out"


def _lower_bound(likely: float, trials: float) -> float:
    return likely - _Z * math.sqrt(max(likely * (1 - likely), 1e-4) / (trials + 1))


def _part_of(twin: _Twin) -> Hashable:
    """Return a rule and the part of a site in which it is tried."""
    contexts: Any = twin.contexts
    if not twin.name:
        return twin.contexts[1]
    pair, prefix, directory = contexts[2]
    found = _PART.match(f"{prefix}*{directory}")
    part = "" if found is None else f"{found[1]}/" if "*" in found[1] else found[0]
    return pair, part


def _told(part: Any, tried: _Tried) -> LearnedRule:
    text, (_, pairs) = max(tried.told.items(), key=lambda item: item[1][0])
    rate = (tried.copies + 1) / (tried.trials + 2)
    confidence = max(0.0, _lower_bound(rate, tried.trials + 2))
    means: Replaced | Indifferent
    if len(part) == 2:
        means = _replacement(part, tuple(tried.prefixes or ()), text)
        where = means.prefixes[0] if len(means.prefixes) == 1 else means.part
    else:
        means = _indifference(part)
        where = _where(means)
    return LearnedRule(text, where, confidence, tried.trials, tried.copies, tuple(pairs), means)


def _is_of_values(part: Any) -> bool:
    """Return whether a rule was tried on single values of a parameter that does not matter: of the others it says nothing."""
    return len(part) == 3 and any(place in part[1] for place, _ in part[2])


def _replacement(part: tuple[tuple[str, str], str], prefixes: tuple[str, ...], text: str) -> Replaced:
    (run, other), behind = part
    if not run or (other and _says(run, other) != text):
        run, other = other, run
    return Replaced(behind, prefixes, run, other)


def _indifference(context: tuple[tuple[str, int, tuple[str, ...]], tuple[int, ...], tuple[tuple[int, str], ...]]) -> Indifferent:
    (host, segments, parameters), places, kind = context
    fixed = dict(kind)
    return Indifferent(host, parameters, tuple(fixed.get(place) for place in range(segments + len(parameters))), places)


def _where(means: Indifferent) -> str:
    values = ["*" if place in means.places else "{}" if value is None else value for place, value in enumerate(means.values)]
    path, query = values[: means.segments], values[means.segments :]
    return f"{means.host}/{'/'.join(path)}?{'&'.join(map('='.join, zip(means.parameters, query, strict=True)))}".rstrip("?")


def _names(twin: _Twin) -> tuple[Hashable, Hashable]:
    return ("name", twin.name), ("name", twin.name, twin.contexts[0])


def _of_others(twin: _Twin, twins: list[_Twin]) -> float:
    """Return the log-odds that this page's other twins speak of: that two of them were kept says that they differ."""
    others = {other.url: other.status for other in twins if other.name}
    copies = sum(status >= _COPY for status in others.values())
    kept = len(others) - copies
    return _log_odds(copies - (kept == 0 and twin.status >= _COPY), max(0, kept - 1))


def _logit(rate: float) -> float:
    rate = min(0.995, max(0.005, rate))
    return math.log(rate / (1 - rate))


def _name_of(address: _Address, place: int) -> str:
    segments = address.shape[1]
    return f"segment {place + 1}" if place < segments else repr(address.shape[2][place - segments])
