"""URLs in their parts, and classes of URLs in which values do not matter: the other kind of rewrite rule.

    URL ──► Address: host, segments of the path, parameters with their values, sorted
    Address ──► Classes.classes ──► the same class, whatever the values that do not matter ──► the first page of it

A class is all URLs of one shape (host, number of segments, names of parameters) whose values of few choices are equal: `do=login` says what
kind of page it is, `id=7` names one. Rules are learned from pairs, where the values that differ are such as name pages, and held for each
class apart: `id` does not matter for `do=login`, and very much for `do=show`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

_MOST_SHAPES, _MOST_POSITIONS, _MOST_INDIFFERENT, _MOST_DIFFERENCES, _MOST_FIRSTS = 2000, 24, 16, 3, 100_000
# A parameter of no more values than that says what kind of page it is; one of more names a page.
MOST_KINDS = 12
_SLASHES_OF_A_HOST = 2
# What hosts say of their parameters: of so many hosts, so much of each.
_MOST_HOSTS, _MOST_SAID = 200, 20


class Address:
    """A URL in its parts. Parameters stand in its query, or behind a ";" at the end of its path.

    `shape`: what URLs have in common that differ in values alone; `values`: path segments, then parameters; `key`: see `key_of`.
    """

    __slots__ = ("key", "shape", "url", "values")

    def __init__(self, url: str, seed: int) -> None:
        self.url = url
        before, _, query = url.partition("?")
        given = query.split("&") if query else []
        if ";" in url:
            before, given = _with_semicolons(before, given)
        host, _, path = before.partition("://")[2].partition("/")
        segments = path.split("/")
        pairs = sorted(pair.partition("=")[::2] for pair in given)
        self.values = (*segments, *(value for _, value in pairs))
        self.shape = (host, len(segments), tuple(name for name, _ in pairs))
        # Parameters in any order are one page.
        self.key = key_of(f"{before}?{'&'.join(map('='.join, pairs))}" if given else url, seed)


def _with_semicolons(before: str, given: list[str]) -> tuple[str, list[str]]:
    """Return what stands before a query without the parameters that end it, and all parameters: some sites part them by ";"."""
    # At the end of a path (RFC 3986, 3.3): ";jsessionid=7F3A".
    _, sign, ending = before.rpartition("/")[2].partition(";")
    of_path = ending.split(";") if sign and before.count("/") > _SLASHES_OF_A_HOST else []
    if not _are_parameters(of_path):
        of_path = []
    parted = [pair for pairs in given for pair in pairs.split(";")]
    # Where a piece has no "=", it is rather a list that stands in a value.
    of_query = parted if _are_parameters(parted) else given
    return before.removesuffix(f";{ending}") if of_path else before, of_path + of_query


def _are_parameters(pairs: list[str]) -> bool:
    return all("=" in pair for pair in pairs)


def host_and_port(url: str) -> str:
    """Return the host of a URL as it stands there, with its port."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0]


def key_of(url: str, seed: int) -> int:
    """Return the digest by which a URL is known."""
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"), seed)


class Classes:
    """Positions of a URL whose value does not matter, in a class of URLs that the values of few choices tell apart."""

    def __init__(self) -> None:
        # Of each position the values seen, None where they are too many to be kinds.
        self._kinds: dict[Hashable, list[set[str] | None]] = {}
        self._rules: dict[Hashable, list[tuple[int, ...]]] = {}
        self._firsts: OrderedDict[Hashable, str] = OrderedDict()
        # By host: parameters, and the beginning of the paths in which they do not matter, as the host itself says.
        self._said: OrderedDict[str, list[tuple[frozenset[str], str]]] = OrderedDict()

    def next_crawl(self) -> Classes:
        """Return the same rules without a page."""
        made = Classes()
        made._kinds = {shape: [values and values.copy() for values in kinds] for shape, kinds in self._kinds.items()}
        made._rules = {shape: rules.copy() for shape, rules in self._rules.items()}
        return made

    def note(self, address: Address) -> None:
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
                if len(known) > MOST_KINDS:
                    kinds[place] = None

    def say(self, host: str, names: frozenset[str], path: str) -> None:
        """Note what a host says of its parameters, which suggests rules: see `suggested`."""
        said = self._said.setdefault(host, [])
        if len(said) < _MOST_SAID and (names, path) not in said:
            said.append((names, path))
        if len(self._said) > _MOST_HOSTS:
            self._said.popitem(last=False)

    def suggested(self, address: Address) -> Hashable | None:
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

    def learn(self, address: Address, original: Address) -> None:
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

    def classes(self, address: Address) -> Iterator[tuple[tuple[Hashable, ...], Hashable]]:
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

    def kind(self, address: Address) -> tuple[Hashable, ...]:
        """Return the contexts of a URL that no rule is needed for: its shape, and with it the values of few choices."""
        kinds = self._kinds.get(address.shape)
        if kinds is None:
            return ()
        few = ((place, value) for place, value in enumerate(address.values) if kinds[place] is not None)
        return address.shape, (address.shape, tuple(few))

    def first(self, page: Hashable) -> str:
        """Return the URL that stands for all that rules take for one page, "" where none was fetched."""
        return self._firsts.get(page, "")

    def add(self, page: Hashable, url: str, *, copy: bool) -> None:
        """Let a URL stand for a page: the first one that was kept, or the original that a copy named last."""
        if copy or page not in self._firsts:
            self._firsts[page] = url
            if len(self._firsts) > _MOST_FIRSTS:
                self._firsts.popitem(last=False)
