"""Rewrite rules: which URLs lead to copies of pages that were fetched before, learned while a crawl runs.

A site's URLs tell where its copies are: `/i386/en/ch01.html` has been a copy of `/amd64/en/ch01.html` forty times running. The idea is that
of Bar-Yossef, Keidar and Schonfeld, *Do not crawl in the DUST* (WWW 2007), and of Dasgupta, Kumar and Sasturkar, *De-duping URLs via
rewrite rules* (KDD 2008). They learn from a log, afterwards; here every page that is fetched teaches, at once.

    a copy and its original            rule                                  what it says of a URL
    /i386/en/a.html, /amd64/en/a.html  "i386" stands for "amd64"             its twin is the same URL with the other run of tokens
    /a?id=1&print=1, /a?id=1           "&print=1" may be left out            its twin is the URL without it
    /a?reply=7, /a; /b?reply=9, /b     `reply` may be left out                the same, whatever its value
    /Boats/7.aspx, /boats/7.aspx       upper and lower case are one          its twin is the first such page, in whatever case
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

Memory is bounded whatever a site does: of pages 8 bytes each are known (of hosts where case does not matter some URLs, too) and the older
half is forgotten past a million of them; rules, runs, classes and counters have bounds as well. No rule looks at more than a few dozen
twins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.addresses import host_of, of_one_host
from simcrawl.rule import Kind
from simcrawl.urls.classes import Address, Classes, host_and_port, key_of
from simcrawl.urls.evidence import (
    COPY,
    KEPT,
    PRIORS,
    Counters,
    Known,
    Tried,
    Twin,
    in_other_case,
    lower_bound,
    pair_of,
    replaced,
    spared,
    statuses,
)
from simcrawl.urls.learned import learned_rules
from simcrawl.urls.names import Order
from simcrawl.urls.parameters import SpareParameters, left_out, without
from simcrawl.urls.redirects import Redirects
from simcrawl.urls.replacements import Replacements
from simcrawl.urls.spellings import AnyCase, Spellings, differ_in_case

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from simcrawl.rule import Verdict
    from simcrawl.urls.learned import LearnedRule
    from simcrawl.urls.parameters import Spare

_LONGEST_URL, _MOST_TWINS, _MOST_RECENT, _MOST_HELD, _MOST_TRIED, _MOST_HOSTS = 2000, 48, 4096, 20_000, 2000, 10_000
# Rules that pages suggested, by what they say of themselves.
_MOST_SUGGESTED = 50
# A replacement says something where it is hardly ever right, too; a class of URLs does not: it may have been tried on other pages alone.
_LEVELS = (0.05, 0.12, 0.2, 0.35, 0.5, 0.7, 0.9, 0.98)
_CLASS_LEVELS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
_LEVEL = 10
# Of what may be skipped one in so many is fetched all the same.
_SAMPLED = 16
# What is left of a rule's evidence after a miss: pages.
_AFTER_A_MISS = 20
# A rule that is remembered has to see so many copies in this crawl before it skips.
_CONFIRMED = 20
# What a copy of another page than the one that is named counts for its class.
_OTHER = 0.8
# A rule skips nothing if more of its copies than that lead to new pages. Some do by chance: of a page and its copy either comes first.
_MOST_LEADING = 0.3
# Chance has no part in it where the links of the original did not foretell the address: each copy asks for one of its own then, and some
# get an answer. Where nothing at all foretells it (`/reviews?pid=5007`), what the others got says nothing of the next one.
_MOST_LEADING_APART, _MOST_APART = 0.01, 0.1
# Nor if less than this share of the copies that it was right about were copies of the page that it leads to. Of several mirrors any may be
# the original, so even the best rules do not always name it.
_LEAST_LED = 0.2
# Nor if it was wrong in so many directories when it was sure. In one alone a book may have been rewritten.
_MOST_MISSED = 2
# Nor as long as its copies were copies of fewer pages, and its host has shown fewer new ones since the first of them: where every page
# says "down for maintenance", the real ones are still to come.
_VARIED, _BETWEEN = 4, 24
# Nothing is skipped by a rule that was tried on fewer pages: the links on its copies have hardly been seen.
_LEAST = 24
# Nor in a directory of which fewer pages were fetched: a title page may be the same and the chapters others.
_ENTERED = 4
# What follows a name (`/boats/7/print/`) is a view of that page, or a part of it, which only some pages have: `/boats/7/reviews/`. So it
# has to be right more often, and may hardly ever have been wrong, or have led to new pages: links of views are not those of their pages.
# The same holds for the rule that case does not matter, for it speaks of every page in a directory.
_OF_ENDS, _WRONG_OF_ENDS = 60, 0.01
# Nor where rules lead from the page to so many different ones, and of so many of its name more were kept than not: it may be yet another.
_VARIANTS, _NAMED = 3, 8
# A mirror's pages are fetched when they are likely copies, so what differs was fetched before, and its rules look better than they are. If
# the twin is such a copy, the rule that leads to its original, which was tried on all of them, has to be nearly as good.
_LEAST_OF_ORIGINAL = 0.85
# How many levels a page is lowered at most that is the first of its directory: with it waits what only it leads to.
_UNENTERED_LEVELS = 2
# From which lower bounds on the share of copies in a class of URLs one of which nothing else is known comes later.
_POOR = (0.4, 0.7)
_OF_OTHERS = "other URLs of its kind were copies or redirects"


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
    the request's, 0, or less the likelier its page is a copy; `why`, in words. `part`: equal for all that one rule says of one part of a
    site.
    """

    prediction: Prediction | None
    skip: Prediction | None
    priority: int
    part: Hashable = None
    why: str = ""


_NOTHING = Outlook(None, None, 0)


class Likely(NamedTuple):
    """A twin, the lower bound of the likelihood that a URL is a copy for it, how many pages that rests on, and what the order asks."""

    twin: Twin
    bound: float
    support: float
    said: tuple[float, float]


def _prediction(likely: Likely) -> Prediction:
    return Prediction(max(0.0, likely.bound), likely.twin.url, likely.twin.rule, likely.support)


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
        self._known = Known()
        self._counters = Counters()
        # What names add, for the order of this crawl's requests.
        self._order = Order()
        self._replacements = Replacements()
        self._spare = SpareParameters()
        self._spellings = Spellings(seed)
        self._classes = Classes()
        # The last pages: a new rule is tried on them at once.
        self._recent: OrderedDict[str, tuple[int, bool]] = OrderedDict()
        self._number = 0
        # By host how many pages were kept, those of which one came last at the end.
        self._kept_on: OrderedDict[str, int] = OrderedDict()
        # By rule and part of a site, those last used last.
        self._tried: OrderedDict[Hashable, Tried] = OrderedDict()
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
        # What was noted of which copies, once of each.
        self._noted: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._redirects = Redirects()
        # Whether there are copies of pages that only other crawls have fetched, or that come later in this one.
        self._has_foreign = False
        # By class of URLs how many pages gave nothing new: for the order of requests alone.
        self._poor = Counters()

    def next_crawl(self) -> RewriteRules:
        """Return rules for another crawl: with all that was learned, and none of the pages.

        They order requests from the first fetched page on. A rule skips once 20 copies have confirmed it in that crawl, in the same part of
        the site (host and first directory) or class of URLs. The rule alone would be too wide, since "1" for "2" may hold in one part and
        not in another; one directory is too narrow, since many have fewer pages.
        """
        made = RewriteRules(skip=self._skip, mirrors=self._mirrors, seed=self._seed)
        if self._lasting is None:
            self._lasting = self._counters.lasting()
        made._counters = Counters(self._lasting)
        made._replacements, made._spare, made._classes = self._replacements.copy(), self._spare.copy(), self._classes.next_crawl()
        made._spellings = self._spellings.copy()
        made._suggested, made._order = self._suggested.copy(), self._order.copy()
        made._needed = _CONFIRMED
        return made

    # ---- learning

    def observe(self, url: str, verdict: Verdict, canonical: str = "") -> None:
        """Learn from the verdict on a fetched page. `canonical`: the URL by which it wants to be known, which suggests a rule."""
        if len(url) > _LONGEST_URL:
            return
        address = Address(url, self._seed)
        # A page of a few words is no copy, but says as little.
        for context in self._classes.kind(address):
            self._poor.add(context, verdict.is_duplicate or verdict.kind is Kind.SKIPPED)
        if verdict.kind is Kind.SKIPPED:
            return
        self._lasting = None
        self._note(address)
        copy = verdict.is_duplicate
        twins = self._twins(address)
        copies = self._weigh(address, twins, verdict)
        if self._redirects:
            self._redirects.fetched(self._by_replacements(address, self._redirects.replacements), copy=copy)
        original = verdict.original if copy and verdict.original and verdict.original != url else ""
        self._known.add(address.key, self._copy_of(original) if copy else KEPT)
        self._has_foreign = self._has_foreign or bool(original and not self._is_kept(original))
        for twin in copies:
            self._tell(twin.url, url, self._twins(Address(twin.url, self._seed)))
        self._remember(url, copy=copy)
        self._spellings.add(url)
        if original and len(original) <= _LONGEST_URL:
            self._classes.learn(address, Address(original, self._seed))
            self._learn(url, original)
            self._tell(url, original, twins)
        elif canonical not in ("", url) and len(canonical) <= _LONGEST_URL:
            self._suggest(address, canonical)
        # An original that only another crawl has fetched is none here.
        if not copy or (original and self._is_kept(original)):
            for _, page in self._classes.classes(address):
                self._classes.add(page, original or url, copy=copy)

    def _weigh(self, address: Address, twins: list[Twin], verdict: Verdict) -> list[Twin]:
        """Take a page as evidence for, or against, the rules that lead from it to its twins; return those that were copies of it."""
        copy = verdict.is_duplicate
        copies = [] if copy else [twin for twin in twins if self._is_copy_of(twin, address)]
        others = [twin for twin in twins if twin not in copies] if copies else twins
        self._check(others, copy=copy)
        self._count(others, verdict.original or "", copy=copy)
        if copies:
            # The rules were right about the two, which came the other way round.
            self._check(copies, copy=True)
            self._count(copies, address.url, copy=True)
        return copies

    def _is_copy_of(self, twin: Twin, address: Address) -> bool:
        """Return whether a twin was a copy of the very page that a URL leads to, which another crawl had kept."""
        # Of the original a byte is known: where all of them came before their copies it would only err.
        return self._has_foreign and twin.status > COPY and twin.status == self._copy_of(address.url)

    def _twins_before(self, address: Address) -> list[Twin]:
        """Return the twins that a URL may be a copy of: its own copies say that it is the original."""
        twins = self._twins(address)
        return [twin for twin in twins if not self._is_copy_of(twin, address)] if self._has_foreign else twins

    def _note(self, address: Address) -> None:
        """Look at the values of a URL, fetched or not, and at what its host says of them."""
        self._classes.note(address)
        if (rule := self._classes.suggested(address)) is not None:
            self._suggested.add(rule)

    def suggest_parameters(self, host: str, names: Iterable[str], path: str = "") -> None:
        """Take from a host that parameters do not matter where a path begins with `path`. It says nothing until it was tried.

        `host`: as it stands in URLs, with its port. There it has to prove right as any other rule, of a parameter with few values for each
        of these.
        """
        self._classes.say(host, frozenset(names), path)

    def _suggest(self, address: Address, canonical: str) -> None:
        """Take a rule from what a page says of itself, which says nothing until it is tried. There are few of them, for pages lie."""
        if self._suggestions >= _MOST_SUGGESTED or not self._may_skip(address.url, canonical):
            return
        self._classes.learn(address, Address(canonical, self._seed))
        self._suggestions += self._learn(address.url, canonical, suggested=True)

    def redirected(self, url: str, target: str) -> None:
        """Learn that a URL of a site leads to another one of it by a redirect.

        Two that lead to two pages by one replacement make a rule. Where most redirects lead where it does, and to pages that were kept,
        further URLs of the kind come later. That is all: nothing is ever skipped for a redirect, or told as a copy.
        """
        if max(len(url), len(target)) > _LONGEST_URL or url == target or not self._may_skip(url, target):
            return
        self._redirects.learn(url, target)
        if self._redirects:
            self._redirects.led(self._by_replacements(Address(url, self._seed), self._redirects.replacements), target)

    def _levels(self, address: Address) -> int:
        """Return by how many levels a URL comes later for redirects alone, or for its class."""
        leads = self._redirects and self._redirects.lead(self._by_replacements(address, self._redirects.replacements))
        led = _UNENTERED_LEVELS if leads else 0
        contexts = self._classes.kind(address)
        tried = self._poor.get(contexts[-1]) if contexts else None
        if not tried:
            return led
        bound = lower_bound(self._poor.rate(contexts), tried[1] + PRIORS[1])
        return max(led, bisect_right(_POOR, bound))

    def led_on(self, url: str, *, apart: bool = False) -> None:
        """Learn that a link on a copy has led to a page that was kept, and that no other page had shown the way to before.

        Where that is so of many copies, as in a gallery of equal captions, to skip such pages would lose what is behind them. `apart`: the
        links of its original did not foretell that link. Then a few copies are enough.
        """
        for tried in self._tried_on(url, "leading"):
            tried.leading += 1
        if apart:
            for tried in self._tried_on(url, "leading apart"):
                tried.leading_apart += 1

    def asked_apart(self, url: str) -> None:
        """Learn that a copy has asked for something of which the links of its original say nothing, and no other page.

        Where copies do, nobody knows what is behind those that are not fetched.
        """
        for tried in self._tried_on(url, "asking apart"):
            tried.apart += 1

    def _tried_on(self, url: str, what: str) -> list[Tried]:
        """Return what became of the rules that lead from a copy to its twins; nothing where `what` was noted of that copy before."""
        # Each of very many links of a copy may ask.
        if len(url) > _LONGEST_URL or (what, url) in self._noted:
            return []
        self._noted[what, url] = None
        if len(self._noted) > _MOST_RECENT:
            self._noted.popitem(last=False)
        parts = {twin.part for twin in self._twins(Address(url, self._seed))}
        return [tried for part in parts if (tried := self._tried.get(part))]

    def _copy_of(self, original: str) -> int:
        known = 0 < len(original) <= _LONGEST_URL
        return COPY + 1 + Address(original, self._seed).key % 253 if known else COPY

    def _is_kept(self, url: str) -> bool:
        return self._known.get(Address(url, self._seed).key) == KEPT

    def _tell(self, url: str, original: str, twins: list[Twin]) -> None:
        for twin in twins:
            if twin.url == original and (tried := self._tried.get(twin.part)):
                tried.example(twin, url)

    def _count(self, twins: list[Twin], original: str, *, copy: bool) -> None:
        contexts: dict[Hashable, float] = {}
        for twin in twins:
            if twin.name:
                contexts.update(dict.fromkeys((*twin.contexts, *twin.names), float(copy)))
            else:
                # In a class that leads to many pages no one of them is the original.
                right = float(copy) if twin.url == original else _OTHER * copy
                for context in twin.contexts:
                    contexts[context] = max(right, contexts.get(context, 0.0))
        self._order.learn(twins, self._counters, copy=copy)
        self._suggested -= contexts.keys()
        for context, right in contexts.items():
            self._counters.add(context, right)
        for part, host in {twin.part: host_of(twin.url) for twin in twins}.items():
            tried = self._tried.setdefault(part, Tried())
            tried.trials += 1
            if copy:
                tried.copies += 1
                tried.begun = tried.begun or (host, self._kept_on.get(host, 0))
                if len(tried.originals) < _VARIED:
                    tried.originals.add(original)
            self._tried.move_to_end(part)
        while len(self._tried) > _MOST_TRIED:
            self._tried.popitem(last=False)

    def _check(self, twins: list[Twin], *, copy: bool) -> None:
        """Compare what was predicted by rules that skip with what came: a miss sends all back that was skipped since the last hit."""
        others = statuses(twins)
        for twin in twins:
            rule = twin.contexts[-1]
            held = rule in self._held
            if held:
                urls = self._let_go(rule)
                if not copy:
                    self._released += urls
            if not copy and (held or self._counters.likelihood(twin, others)[0] >= self._skip):
                if tried := self._tried.get(twin.part):
                    tried.missed.add(rule)
                for context in twin.contexts[1:]:
                    self._counters.shorten(context, _AFTER_A_MISS)

    def _let_go(self, rule: Hashable) -> list[str]:
        urls = self._held.pop(rule)
        self._number_held -= len(urls)
        return urls

    def _remember(self, url: str, *, copy: bool) -> None:
        self._number += 1
        self._recent[url] = self._number, copy
        if len(self._recent) > _MOST_RECENT:
            self._recent.popitem(last=False)
        if not copy:
            host = host_of(url)
            self._kept_on[host] = self._kept_on.pop(host, 0) + 1
            if len(self._kept_on) > _MOST_HOSTS:
                self._kept_on.popitem(last=False)

    def _learn(self, url: str, original: str, *, suggested: bool = False) -> bool:
        """Take a rule from a pair, and try it on the pages that were fetched lately; return whether it is new.

        `suggested`: by a page alone, so that it says nothing unless it was tried.
        """
        if differ_in_case(url, original):
            is_new = self._learn_case(AnyCase(host_and_port(url)), suggested=suggested)
            # Words of names would take the places that there are for runs. Directories are few: "EN" for "en".
            if is_new or url.rpartition("/")[2] != original.rpartition("/")[2]:
                return is_new
        more = left_out(url, original) or left_out(original, url)
        spare, is_new = self._spare.learn(url, more) if more else (None, False)
        rule = None if spare else self._replacements.learn(url, original)
        if suggested and (rule or is_new):
            self._suggested.add(pair_of(*rule[1:]) if rule else frozenset(spare or ()))
        if rule:
            self._try(*rule)
        elif spare and is_new:
            self._try_spare(spare)
        return is_new or rule is not None

    def _learn_case(self, rule: AnyCase, *, suggested: bool) -> bool:
        if not self._spellings.learn(rule.host, self._recent):
            return False
        if suggested:
            self._suggested.add(rule)
        for url in self._recent:
            if host_and_port(url) == rule.host and (twin := self._spellings.twin(url)) is not None:
                self._try_on(url, in_other_case(url, twin, rule, KEPT))
        return True

    def _try(self, prefix: str, run: str, other: str) -> None:
        for url in self._recent:
            for a, b in ((run, other), (other, run)):
                if a and url.startswith(prefix + a):
                    twin = prefix + b + url[len(prefix) + len(a) :]
                    self._try_on(url, replaced(url, len(prefix), (a, b), twin, KEPT))

    def _try_spare(self, spare: Spare) -> None:
        forgotten = {pair_of(run, "") for run in self._replacements.forget(spare)}
        # What they had skipped no miss would send back any more.
        for rule in [rule for rule in self._held if rule[0] in forgotten]:  # type: ignore[index]
            self._released += self._let_go(rule)
        for url in self._recent:
            if (twin := without(url, spare)) is not None:
                self._try_on(url, spared(twin, spare, KEPT))

    def _try_on(self, url: str, twin: Twin) -> None:
        """Count a pair of pages that were fetched before their rule was known: by what became of the later one."""
        number, copy = self._recent[url]
        if self._recent.get(twin.url, (number,))[0] >= number:
            return
        self._suggested.discard(twin.contexts[0])
        self._order.tried(twin, self._counters, copy=copy)
        for context in (*twin.contexts, *twin.names):
            self._counters.add(context, copy)

    # ---- predicting

    def look(self, url: str) -> Outlook:
        """Return all that is known of a URL in one look: it costs what `predict` costs."""
        if len(url) > _LONGEST_URL:
            return _NOTHING
        address = Address(url, self._seed)
        self._note(address)
        likely, later = self._likely(self._twins_before(address)), self._levels(address)
        if not likely:
            return _NOTHING._replace(priority=-_LEVEL * later, why=_OF_OTHERS) if later else _NOTHING
        first, bound = self._first(likely)
        best = likely[0]
        level = bisect_right(_LEVELS if first.name else _CLASS_LEVELS, bound)
        if level > _UNENTERED_LEVELS and not any(self._counters.trials(one.twin.contexts[-1]) for one in likely):
            level = _UNENTERED_LEVELS
        found = self._skipping(address, self._near(address, likely))
        skip = _prediction(found[0])._replace(original=found[1]) if found else None
        why = first.rule if level >= later else _OF_OTHERS
        return Outlook(_prediction(best), skip, -_LEVEL * max(level, later), (found[0] if found else best).twin.part, why)

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
        address = Address(url, self._seed)
        found = self._skipping(address, self._near(address, self._likely(self._twins_before(address))))
        if found is None:
            return False
        self._held.setdefault(found[0].twin.contexts[-1], []).append(url)
        self._number_held += 1
        return True

    def _near(self, address: Address, likely: list[Likely]) -> list[Likely]:
        """Return what is likely without the twins on hosts that must not speak for this one."""
        # Most twins begin as the URL does, up to the path.
        start = "/".join(address.url.split("/", 3)[:3]) + "/"
        near = [one.twin for one in likely if one.twin.url.startswith(start) or self._may_skip(address.url, one.twin.url)]
        return likely if len(near) == len(likely) else self._likely(near)

    def _skipping(self, address: Address, likely: list[Likely]) -> tuple[Likely, str] | None:
        """Return why a request is left out, and the page that was kept; None where it is made."""
        # Equal for equal URLs: whoever asks twice gets one answer.
        if address.key % _SAMPLED == 0:
            return None
        for one in likely:
            if one.bound < self._skip:
                return None
            original = self._original(one.twin, likely)
            if original and self._is_proven(one.twin):
                return None if self._is_in_doubt(one.twin, original, likely) else (one, original)
        return None

    def _is_in_doubt(self, twin: Twin, original: str, likely: list[Likely]) -> bool:
        """Return whether other pages of this name say that this one may well be a page of its own, whatever its rule says."""
        if not twin.name:
            return False
        twins = [one.twin for one in likely if one.twin.name]
        kept = {other.url for other in twins if other.status == KEPT}
        if len(kept) >= _VARIANTS and self._counters.trials(twin.names[0]) >= _NAMED and self._counters.odds(twin.names[0]) < 0:
            return True
        # Of the pages that were kept in this place the likeliest is another one: this page is rather a copy of that, or of none.
        beside = [other.url for other in twins if other.status == KEPT and other.place == twin.place]
        if beside and beside[0] != original:
            return True
        # Chapter 5 of another machine is a copy of chapter 7 of the first one: they are numbered in another way.
        copies = {other.status for other in twins if other.status >= COPY and other.place == twin.place}
        return bool(copies) and not copies <= {self._copy_of(url) for url in kept}

    def _original(self, twin: Twin, likely: list[Likely]) -> str:
        """Return the page that a twin is a copy of, or itself, if it was kept and rules lead to it; otherwise nothing."""
        if twin.status == KEPT:
            return twin.url if self._leads_to_originals(twin) else ""
        # These rules have to be proven as well: on a wiki, to skip pages whose own way to the original was hardly tried lost some contents.
        kept = (one for one in likely if one.twin.status == KEPT and one.bound >= _LEAST_OF_ORIGINAL and self._is_proven(one.twin))
        return next((one.twin.url for one in kept if self._copy_of(one.twin.url) == twin.status), "")

    def _leads_to_originals(self, twin: Twin) -> bool:
        """Return whether the copies that a rule was right about were copies of what it leads to, often enough.

        Where all pages of a language are copies of another mirror's, "they have a twin in another language" is right about each of them,
        and that twin says something else.
        """
        tried = self._tried.get(twin.part)
        return not twin.name or (tried is not None and tried.led >= _LEAST_LED * tried.copies)

    def _is_proven(self, twin: Twin) -> bool:
        tried = self._tried.get(twin.part)
        # Where it was wrong once when it was sure it is not believed again: a few pages may differ that no sample meets.
        if tried is None or twin.contexts[-1] in tried.missed or not self._is_safe(tried) or not self._is_lasting(tried):
            return False
        if not twin.name:
            return self._counters.trials(twin.contexts[-1]) >= _LEAST
        # In this part of this host: elsewhere a rule may hold, and another host may have pages made to confirm it. And of this directory
        # some pages, for the first of a directory may be the only one with links to the others.
        copies, trials = self._counters.get(twin.contexts[-1]) or (0.0, 0.0)
        if twin.ends or isinstance(twin.contexts[0], AnyCase):
            wrong = max(trials - copies, tried.leading if twin.ends else 0)
            if trials < _OF_ENDS or wrong > _WRONG_OF_ENDS * trials:
                return False
        return tried.trials >= (self._needed or _LEAST) and trials >= _ENTERED

    def _is_safe(self, tried: Tried) -> bool:
        """Return whether a rule was confirmed in this crawl, if it is remembered, and the links of its copies lead to nothing new."""
        if len(tried.missed) >= _MOST_MISSED or tried.copies < self._needed or tried.leading > _MOST_LEADING * tried.copies:
            return False
        return tried.leading_apart <= _MOST_LEADING_APART * tried.copies and tried.apart <= _MOST_APART * tried.copies

    def _is_lasting(self, tried: Tried) -> bool:
        """Return whether a rule's copies are more than one page that a site shows for a while, whatever it is asked for."""
        host, kept = tried.begun or ("", 0)
        return len(tried.originals) >= _VARIED or self._kept_on.get(host, 0) - kept >= _BETWEEN

    # ---- telling

    def rules(self) -> list[LearnedRule]:
        """Return the rules that order requests, those that save most fetches first.

        Each is told in the direction in which it led from copies to their originals, more often than in the other one.
        """
        return learned_rules(self._tried, min_confidence=_CLASS_LEVELS[0])

    def released(self) -> list[str]:
        """Return the URLs that were skipped by rules which have proved wrong since; each once."""
        released, self._released = self._released, []
        return released

    def _by_replacements(self, address: Address, replacements: Replacements) -> list[Twin]:
        """Return the fetched pages to which replacements lead."""
        twins = []
        for url, place, run, other in islice(replacements.twins(address.url), _MOST_TWINS):
            if url != address.url and (status := self._status(url)):
                twins.append(replaced(address.url, place, (run, other), url, status))
        return twins

    def _status(self, url: str) -> int:
        return self._known.get(Address(url, self._seed).key if "?" in url or ";" in url else key_of(url, self._seed))

    def _twins(self, address: Address) -> list[Twin]:
        """Return the fetched pages that rules lead to."""
        twins = self._by_replacements(address, self._replacements)
        for url, spare in self._spare.twins(address.url):
            if status := self._status(url):
                twins.append(spared(url, spare, status))
        if (first := self._spellings.twin(address.url)) and (status := self._status(first)):
            twins.append(in_other_case(address.url, first, AnyCase(address.shape[0]), status))
        for contexts, page in self._classes.classes(address):
            first = self._classes.first(page)
            if first and first != address.url:
                names = ", ".join(_name_of(address, place) for place in contexts[0][1])  # type: ignore[index]
                twins.append(Twin(first, KEPT, contexts, f"{names} does not matter"))
        return twins

    def _likely(self, twins: list[Twin]) -> list[Likely]:
        """Return twins that may be named, the likeliest first."""
        tried = [twin for twin in twins if twin.contexts[0] not in self._suggested] if self._suggested else twins
        others = statuses(tried)
        made = [Likely(twin, *self._counters.likelihood(twin, others)) for twin in tried]
        # A page that was kept is the better name for an original.
        return sorted(made, key=lambda one: (one.bound, one.twin.status == KEPT), reverse=True)

    def _first(self, likely: list[Likely]) -> tuple[Twin, float]:
        """Return the twin that says most for a later request, and how likely a copy the page is for it: the lower bound."""
        bounds = [self._order.bound(one.twin, one.said, one.support) if one.twin.name else one.bound for one in likely]
        bound = max(bounds)
        return likely[bounds.index(bound)].twin, bound

    def _may_skip(self, url: str, original: str) -> bool:
        return of_one_host(url, original) or {host_of(url), host_of(original)} <= self._mirrors


def _name_of(address: Address, place: int) -> str:
    segments = address.shape[1]
    return f"segment {place + 1}" if place < segments else repr(address.shape[2][place - segments])
