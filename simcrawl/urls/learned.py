"""What rules that were learned say to others: in words, as mirrors, and as files for other programs.

    evidence ──► learned_rules ──► mirrors       two places with copies of each other
                               ──► Explaining    the rule by which one URL is a copy of another
                               ──► url_discarder       JSON of the library duplicate-url-discarder: parameters and directories that may go
                               ──► process_links       a Python function for a CrawlSpider's rules: what is replaced

Unlike a crawl, neither of these looks whether the original was fetched, fetches a sample, or forgets. So only rules of one host, with much
evidence, should be written; and what a rule does not say of all its URLs is left out.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from simcrawl.addresses import of_one_host
from simcrawl.urls.classes import Address, host_and_port
from simcrawl.urls.evidence import KEPT, in_other_case, lower_bound, pair_of, replaced, says, spared
from simcrawl.urls.parameters import without
from simcrawl.urls.replacements import difference
from simcrawl.urls.spellings import AnyCase, differ_in_case

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from simcrawl.urls.evidence import Tried
    from simcrawl.urls.parameters import Spare

MIRROR_COPIES, MIRROR_SHARE = 3, 0.5
"""Of a mirror: so many copies, and such a share of the pages that were found in both places."""
_SEPARATORS = "/._?=&;-"
# Of the library's patterns: any text, and the end of a path.
_WILD = "*|"


# ---- rules


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


class LeftOut(NamedTuple):
    """In `part` of a site `parameters` may be left out, where they have these values, None for any."""

    part: str
    parameters: Spare


class Respelled(NamedTuple):
    """In `part` of a site upper and lower case are one."""

    part: str


Means = Replaced | Indifferent | LeftOut | Respelled


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
    means: Means


def learned_rules(tried: Mapping[Hashable, Tried], *, min_confidence: float) -> list[LearnedRule]:
    """Return the rules that were tried, by rule and part of a site, with the confidence of that: those that save most fetches first.

    Each is told in the direction in which it led from copies to their originals, more often than in the other one.
    """
    found = (_learned_rule(part, one) for part, one in tried.items() if one.told and not _is_of_values(part))
    return sorted((rule for rule in found if rule.confidence >= min_confidence), key=lambda rule: (-rule.saves, rule.where, rule.rule))


def _learned_rule(part: Any, tried: Tried) -> LearnedRule:
    text, (_, pairs) = max(tried.told.items(), key=lambda item: item[1][0])
    rate = (tried.copies + 1) / (tried.trials + 2)
    confidence = max(0.0, lower_bound(rate, tried.trials + 2))
    means: Means
    if isinstance(part[0], frozenset):
        means = LeftOut(part[1], tuple(sorted(part[0], key=itemgetter(0))))
        where = means.part
    elif isinstance(part[0], AnyCase):
        means = Respelled(part[1])
        where = means.part
    elif len(part) == 2:
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
    if says(run, other) != text:
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


class Explaining:
    """Finds the rule that leads from a copy to its original."""

    def __init__(self, rules: Iterable[LearnedRule]) -> None:
        self._replaced: dict[Hashable, LearnedRule] = {}
        self._left_out: list[tuple[LeftOut, LearnedRule]] = []
        self._respelled: dict[str, LearnedRule] = {}
        self._indifferent: dict[Hashable, list[tuple[Indifferent, LearnedRule]]] = {}
        for rule in rules:
            means = rule.means
            if isinstance(means, Replaced):
                self._replaced[pair_of(means.run, means.other), means.part] = rule
            elif isinstance(means, LeftOut):
                self._left_out.append((means, rule))
            elif isinstance(means, Respelled):
                self._respelled[means.part] = rule
            else:
                self._indifferent.setdefault((means.host, means.segments, means.parameters), []).append((means, rule))

    def rule_of(self, url: str, original: str) -> LearnedRule | None:
        """Return the rule, whichever of the two it takes for the copy; None where none of them leads from one to the other."""
        return (
            self._by_case(url, original)
            or self._by_replacement(url, original)
            or self._by_parameters(url, original)
            or self._by_values(url, original)
        )

    def _by_case(self, url: str, original: str) -> LearnedRule | None:
        if not self._respelled or not differ_in_case(url, original):
            return None
        return self._respelled.get(in_other_case(url, original, AnyCase(host_and_port(original)), KEPT).place)

    def _by_parameters(self, url: str, original: str) -> LearnedRule | None:
        for means, rule in self._left_out:
            for a, b in ((url, original), (original, url)):
                if without(a, means.parameters) == b and spared(b, means.parameters, KEPT).part == (
                    frozenset(means.parameters),
                    means.part,
                ):
                    return rule
        return None

    def _by_replacement(self, url: str, original: str) -> LearnedRule | None:
        found = difference(url, original) if self._replaced else None
        if found is None:
            return None
        prefix, run, other = found
        return self._replaced.get(replaced(url, len(prefix), (run, other), original, KEPT).part)

    def _by_values(self, url: str, original: str) -> LearnedRule | None:
        if not self._indifferent:
            return None
        one, other = Address(url, 0), Address(original, 0)
        for means, rule in self._indifferent.get(one.shape, ()):
            fits = all(value in (None, own) for value, own in zip(means.values, one.values, strict=True))
            # All of a class may be copies of one page elsewhere.
            alike = one.shape != other.shape or all(
                place in means.places or a == b for place, (a, b) in enumerate(zip(one.values, other.values, strict=True))
            )
            if fits and alike:
                return rule
        return None


# ---- mirrors


class Mirror(NamedTuple):
    """Two hosts or directories with copies of each other. `a`: where most originals are; which page is one, the crawl's order decides.

    `pages`: those of one whose counterpart in the other one was fetched before; `copies`: of that or another page, among these.
    """

    a: str
    b: str
    copies: int
    pages: int

    @property
    def share(self) -> float:
        """The share of copies."""
        return self.copies / self.pages


def mirrors(rules: Iterable[LearnedRule], *, min_copies: int = MIRROR_COPIES, min_share: float = MIRROR_SHARE) -> list[Mirror]:
    """Return the mirrors among rules: those by which one host or directory stands for another one. In the order of the rules."""
    found = [Mirror(*places, rule.saves, rule.support) for rule in rules if (places := _places(rule))]
    return [mirror for mirror in found if mirror.copies >= min_copies and mirror.share >= min_share]


def _places(rule: LearnedRule) -> tuple[str, str] | None:
    """Return the place of the originals and that of the copies."""
    means = rule.means
    if not isinstance(means, Replaced) or len(means.prefixes) != 1:
        return None
    copy, original = rule.examples[0]
    (prefix,) = means.prefixes
    a, b = _place(original, prefix, means.other), _place(copy, prefix, means.run)
    if not a or not b or a == b:
        return None
    scheme, _, rest = a.partition("://")
    other_scheme, _, other = b.partition("://")
    return (rest, other) if scheme == other_scheme else (a, b)


def _place(url: str, prefix: str, run: str) -> str | None:
    """Return the host, or the directory, that a run ends in."""
    start, end = url.find("://") + 3, len(prefix) + len(run)
    host = url.find("/", start) if "/" in url[start:] else len(url)
    if end <= host:
        return url[:host]
    whole = url[end - 1] == "/" or url[end : end + 1] == "/"
    return url[:end].rstrip("/") if whole and "?" not in url[:end] else None


# ---- files for others


def url_discarder(rules: Iterable[LearnedRule]) -> str:
    """Return the rules that the library duplicate-url-discarder understands, as its JSON."""
    made = [one for rule in rules if (one := _discarded(rule))]
    return json.dumps(made, sort_keys=True, indent=2)


def process_links(rules: Iterable[LearnedRule]) -> str:
    """Return Python with a function `process_links`, for a `Rule` of a CrawlSpider, of the rules that the library does not understand."""
    swaps, ends, left = list[str](), list[str](), 0
    for rule in rules:
        if _discarded(rule):
            continue
        means = rule.means
        told = f"    # {rule.rule}: {rule.saves} of {rule.support} pages, at least {rule.confidence:.3f}"
        if not isinstance(means, Replaced) or not _of_one_host(rule):
            left += 1
        elif means.run and len(means.prefixes) != 1 and "*" not in means.part and _at_the_end(rule, means):
            ends += [told, f"    ({means.part!r}, {means.run!r}, {means.other!r}),"]
        elif pairs := _swaps(means):
            swaps += [told, *(f"    ({copy!r}, {original!r})," for copy, original in pairs)]
        else:
            left += 1
    return _PROGRAM.format(separators=_SEPARATORS, swaps="\n".join(["", *swaps, ""]), ends="\n".join(["", *ends, ""]), left=left)


_PROGRAM = '''"""Links to copies, rewritten to their originals, by rules that simcrawl has learned.

    from scrapy.spiders import CrawlSpider, Rule

    rules = [Rule(LinkExtractor(), callback="parse_page", process_links=process_links)]

Nothing looks whether an original exists. Rules that cannot be written like this: {left}.
"""

# What URLs of copies begin with, and those of their originals.
SWAPS = [{swaps}]
# What they begin with, what those of copies end with, and those of their originals.
ENDS = [{ends}]


def process_links(links):
    for link in links:
        link.url = original(link.url)
    return links


def original(url):
    for copy, other in SWAPS:
        if url.startswith(copy) and parts(url, len(copy)):
            url = other + url[len(copy) :]
    for start, copy, other in ENDS:
        place = len(url) - len(copy)
        if url.startswith(start) and url.endswith(copy) and place > len(start) and parts(url, place):
            url = url[:place] + other
    return url


def parts(url, place):
    return place == len(url) or url[place] in {separators!r} or url[place - 1] in {separators!r}
'''


def _swaps(means: Replaced) -> list[tuple[str, str]]:
    """Return what URLs of copies begin with, and those of their originals."""
    if "*" in means.part:
        return [(means.part.replace("*", means.run, 1), means.part.replace("*", means.other, 1))]
    # What has nothing in the place of the run may be anything.
    return [(prefix + means.run, prefix + means.other) for prefix in means.prefixes] if means.run else []


def _at_the_end(rule: LearnedRule, means: Replaced) -> bool:
    return all(copy.endswith(means.run) and original == copy.removesuffix(means.run) + means.other for copy, original in rule.examples)


def _of_one_host(rule: LearnedRule) -> bool:
    # A site must not make pages of another one vanish.
    return all(of_one_host(*pair) for pair in rule.examples)


def _discarded(rule: LearnedRule) -> dict[str, Any] | None:
    """Return a rule as the library has it; None where it has no such rules. It knows no parameters that are parted by ";"."""
    if not _of_one_host(rule) or any(";" in url for pair in rule.examples for url in pair):
        return None
    means = rule.means
    if isinstance(means, Indifferent):
        return _without_values(means)
    if isinstance(means, LeftOut):
        return _without_any_values(means)
    if isinstance(means, Respelled):
        return None
    return (_without_parameters(means) or _without_directory(means)) if means.run and not means.other else None


def _made(processor: str, args: list[Any], pattern: str) -> dict[str, Any]:
    return {"args": args, "order": 100, "processor": processor, "urlPattern": {"include": [pattern]}}


def _without_values(means: Indifferent) -> dict[str, Any] | None:
    fixed = [value for value in (*means.values, *means.parameters) if value]
    if min(means.places) < means.segments or any(sign in value for value in fixed for sign in _WILD):
        return None
    path = "/".join("*" if value is None else value for value in means.values[: means.segments])
    pairs = zip(means.parameters, means.values[means.segments :], strict=True)
    query = "&".join(f"{name}={'*' if value is None else value}" for name, value in pairs)
    args = [means.parameters[place - means.segments] for place in means.places]
    return _made("queryRemoval", args, f"{means.host}/{path}|?{query}") if all(args) else None


def _without_any_values(means: LeftOut) -> dict[str, Any] | None:
    texts = [means.part, *(text for pair in means.parameters for text in pair if text)]
    if any(sign in text for text in texts for sign in _WILD):
        return None
    query = "&".join(f"{name}={'*' if value is None else value}" for name, value in means.parameters)
    return _made("queryRemoval", [name for name, _ in means.parameters], f"{means.part}?{query}")


def _without_parameters(means: Replaced) -> dict[str, Any] | None:
    if not means.run.startswith(("?", "&")) and not means.run.endswith("&"):
        return None
    pairs = [pair.partition("=") for pair in means.run.strip("?&").split("&")]
    if not all(name and sign for name, sign, _ in pairs) or any(sign in means.part + means.run for sign in _WILD):
        return None
    where = f"{means.prefixes[0].partition('?')[0]}|" if len(means.prefixes) == 1 else means.part
    return _made("queryRemoval", [name for name, _, _ in pairs], f"{where}?{'&'.join(map(''.join, pairs))}")


def _without_directory(means: Replaced) -> dict[str, Any] | None:
    directory, slash, rest = means.run.partition("/")
    if len(means.prefixes) != 1 or not directory or not slash or rest:
        return None
    (prefix,) = means.prefixes
    path = _path(prefix)
    if not path.endswith("/") or any(sign in prefix + means.run for sign in (*_WILD, "?")):
        return None
    return _made("subpathRemoval", [path.count("/") - 1], f"{prefix}{means.run}")


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""
