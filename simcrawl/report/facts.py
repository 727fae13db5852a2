"""What a report tells, gathered in one pass over a store's pages and one over its register.

Memory is that of counters, of the fingerprints of a sample, and of as many lines of the register as a report shows.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from simcrawl.page.fingerprint import Abstention
from simcrawl.report.groups import Group, Groups
from simcrawl.report.thresholds import Thresholds, thresholds
from simcrawl.store.clusters import Sizes
from simcrawl.store.register import Share
from simcrawl.tools.inspection import place_of
from simcrawl.urls.learned import mirrors
from simcrawl.urls.recall import learned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage
    from simcrawl.store import Duplicate, Header, Store
    from simcrawl.store.register import Standing
    from simcrawl.urls.learned import LearnedRule, Mirror

_T = TypeVar("_T")
MOST_LINES = 5_000
MOST_CLUSTERS = 100
MOST_PLACES = 200
_EXAMPLES = 5
# Of all clusters together: beyond that each names its first few.
_MOST_MEMBERS, _MOST_HELD = 1_000, 200_000
_RECORDED = {"spider", "reason", "started", "finished", "settings", "rule", "stats", "slowest"}
# Beyond so many directories only hosts are told apart.
_MOST_DIRECTORIES = 100_000
# Comparisons of fingerprints with each other: half a second.
_MOST_COMPARISONS = 1 << 27
_MOST_COMPARED = 1 << 20
_AT_ONCE = 1 << 22


class Place(NamedTuple):
    """Where a page is: its host, and the first directory of its path, "" where it is in none."""

    host: str
    directory: str

    @classmethod
    def of(cls, url: str) -> Place:
        """Return the place of a URL."""
        host, _, directory = place_of(url, 1).partition("/")
        return cls(host or url, directory and f"/{directory}")


class Cluster(NamedTuple):
    """A page and what was recognised as its copies: how many of them exact, how many not fetched, and their URLs.

    Of a cluster of more than a thousand, or where a store has very many copies, `examples` are the first few.
    """

    original: str
    copies: int
    exact: int
    not_fetched: int
    examples: list[str]

    @property
    def near(self) -> int:
        """How many are near-duplicates."""
        return self.copies - self.exact - self.not_fetched


class Tally(NamedTuple):
    """What became of the pages of one place."""

    place: str
    kept: int
    exact: int
    near: int

    @property
    def total(self) -> int:
        """All pages that were seen there."""
        return self.kept + self.exact + self.near

    @property
    def share(self) -> Share:
        """The share of copies."""
        return Share.of(self.exact + self.near, self.kept)


@dataclass(slots=True)
class Facts:
    """Everything that a report tells. Times are seconds since 1970.

    `lines`: the least certain lines of the register, near-duplicates of little similarity first, at most `MOST_LINES`. `hosts`: those with
    most pages first. `by_directory`: places are directories, for all pages are of one host. `nearest`: {distance: fingerprints} to the
    nearest other fingerprint, of `compared` of those that are held. `canonical`: copies by which of them and their originals is the
    canonical page. `ones`: the share of fingerprints with each bit, the lowest first.
    `not_fetched`: lines of pages that a rule took for copies; they count in clusters and nowhere else. `rejected`: lines that a user took
    back; they count nowhere else. `groups`: copies by what tells their URLs from those of their originals, with the rule that explains it.
    `thresholds`: what other thresholds would have done, None where contents are not compared. `rules`, `mirrors`: see
    `simcrawl.urls.learned`.
    """

    header: Header
    counts: dict[str, int]
    crawls: list[dict[str, Any]]
    abstentions: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    actions: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    canonical: Counter[str] = field(default_factory=Counter)
    times: dict[str, array[float]] = field(default_factory=lambda: {kind: array("d") for kind in ("kept", "exact", "near")})
    distances: Counter[int] = field(default_factory=Counter)
    similarities: Counter[int] = field(default_factory=Counter)
    cluster_sizes: Counter[int] = field(default_factory=Counter)
    clusters: list[Cluster] = field(default_factory=list)
    lines: list[Duplicate] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    by_directory: bool = False
    tallies: list[Tally] = field(default_factory=list)
    rules: list[LearnedRule] = field(default_factory=list)
    mirrors: list[Mirror] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    thresholds: Thresholds | None = None
    not_fetched: int = 0
    rejected: int = 0
    nearest: Counter[int] = field(default_factory=Counter)
    compared: int = 0
    ones: list[float] = field(default_factory=list)

    @property
    def kept(self) -> int:
        """Pages that the store holds."""
        return self.counts["pages"]

    @property
    def copies(self) -> int:
        """Pages that were recognised as copies."""
        return self.kinds.total()

    @property
    def share(self) -> Share:
        """The share of copies."""
        return Share.of(self.copies, self.kept)

    def as_object(self) -> dict[str, Any]:
        """Return what a program would ask for, as JSON has it: all but single lines, times and bins of charts."""
        return {
            "recipe": self.header.recipe,
            "pages": self.kept,
            "exact": self.kinds["exact"],
            "near": self.kinds["near"],
            "share": self.share,
            "abstentions": dict(self.abstentions),
            "canonical": {"agrees": self.canonical["original"], "disagrees": self.canonical["copy"]},
            "distances": dict(sorted(self.distances.items())),
            "clusters": [cluster._asdict() for cluster in self.clusters],
            "places": [place._asdict() for place in self.tallies],
            "not_fetched": self.not_fetched,
            "rejected": self.rejected,
            "groups": [group._asdict() | {"rule": group.rule and _of_rule(group.rule)} for group in self.groups],
            "rules": [_of_rule(rule) for rule in self.rules],
            "mirrors": [mirror._asdict() | {"share": round(mirror.share, 3)} for mirror in self.mirrors],
            "crawls": self.crawls,
        }


def _of_rule(rule: LearnedRule) -> dict[str, Any]:
    return rule._asdict() | {"means": type(rule.means).__name__.lower()}


def gather(store: Store, *, most_lines: int = MOST_LINES, move: Callable[[float, str], object] = lambda _done, _what: None) -> Facts:
    """Return what a report tells of a store. `move` is called with the number of pages and lines that are read, and what comes next.

    Raises:
        StoreError: the store cannot be read.
    """
    # Records of other tools may be of another make.
    crawls = [record for record in store.crawls() if record.keys() >= _RECORDED]
    facts, places, clusters = Facts(store.header, store.counts(), crawls), _Places(), _Clusters(store.duplicate)
    _read_pages(facts, places, _watched(store.pages(), move, 0, "pages"))
    move(facts.kept, "rules")
    rules = learned(store)
    facts.rules, facts.mirrors = rules[:MOST_PLACES], mirrors(rules)[:MOST_PLACES]
    groups = Groups(facts.rules)
    lines = _noted(facts, places, clusters, groups, _watched(store.duplicates(), move, facts.kept, "duplicates"))
    facts.lines = nsmallest(most_lines, lines, key=_certainty)
    clusters.tell(facts)
    places.tell(facts)
    facts.groups = groups.largest(MOST_PLACES)
    facts.thresholds = thresholds(store, move)
    move(facts.kept + facts.copies, "fingerprints")
    _read_fingerprints(facts, store)
    return facts


def _watched(things: Iterable[_T], move: Callable[[float, str], object], done: int, what: str) -> Iterator[_T]:
    for number, thing in enumerate(things, done):
        if not number % 1_000:
            move(number, what)
        yield thing


def _read_pages(facts: Facts, places: _Places, pages: Iterable[StoredPage]) -> None:
    times = facts.times["kept"]
    for stored in pages:
        page = stored.page
        times.append(stored.first_seen)
        places.add(page.url, "kept")
        if isinstance(page, Abstention):
            facts.abstentions[page.reason.value] += 1


def _noted(facts: Facts, places: _Places, clusters: _Clusters, groups: Groups, lines: Iterable[Duplicate]) -> Iterator[Duplicate]:
    for line in lines:
        counted = line.standing
        groups.add(line)
        clusters.add(line, counted)
        if counted == "rejected":
            facts.rejected += 1
        elif counted == "not_fetched":
            facts.not_fetched += 1
        else:
            _note_copy(facts, line, counted)
            places.add(line.url, counted)
        yield line


def _note_copy(facts: Facts, line: Duplicate, kind: Literal["exact", "near"]) -> None:
    facts.kinds[kind] += 1
    facts.actions[line.dropped_page, line.dropped_outlinks] += 1
    if line.canonical:
        facts.canonical[line.canonical] += 1
    facts.times[kind].append(line.when)
    if kind == "near":
        facts.distances[line.distance or 0] += 1
        if line.similarity is not None:
            facts.similarities[int(line.similarity * 200 + 1e-9)] += 1


# What nobody has decided yet comes first.
_RANKS = {"near": 0, "not_fetched": 1, "exact": 2, "rejected": 3}


def _certainty(line: Duplicate) -> tuple[int, float, int, float]:
    # Where nothing but the distance decided, that is what there is.
    similarity = 1.0 if line.similarity is None else line.similarity
    return _RANKS[line.standing], similarity, -(line.distance or 0), -line.when


class _Clusters:
    """Clusters with what a report says of their copies."""

    def __init__(self, line_of: Callable[[str], Duplicate | None]) -> None:
        self._sizes = Sizes(line_of)
        self._counts: Counter[tuple[str, Standing]] = Counter()
        self._examples: defaultdict[str, list[str]] = defaultdict(list)
        self._held = 0

    def add(self, line: Duplicate, counted: Standing) -> None:
        representative = self._sizes.add(line)
        if representative is None:
            return
        self._counts[representative, counted] += 1
        number = self._sizes.copies[representative]
        if number <= _EXAMPLES or (number <= _MOST_MEMBERS and self._held < _MOST_HELD):
            self._examples[representative].append(line.url)
            self._held += 1

    def tell(self, facts: Facts) -> None:
        facts.cluster_sizes = Counter(copies + 1 for copies in self._sizes.copies.values())
        facts.clusters = [
            Cluster(url, copies, self._counts[url, "exact"], self._counts[url, "not_fetched"], self._examples[url])
            for url, copies in self._sizes.largest(MOST_CLUSTERS)
        ]


class _Places:
    """Pages and copies by place: by host, or where there is but one host by directory."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Place, str]] = Counter()
        self._hosts: Counter[str] = Counter()
        self._by_directory = True

    def add(self, url: str, kind: str) -> None:
        place = Place.of(url)
        self._counts[place if self._by_directory else Place(place.host, ""), kind] += 1
        self._hosts[place.host] += 1
        if self._by_directory and len(self._counts) > _MOST_DIRECTORIES:
            self._forget_directories()

    def _forget_directories(self) -> None:
        self._by_directory = False
        counts, self._counts = self._counts, Counter()
        for (place, kind), count in counts.items():
            self._counts[Place(place.host, ""), kind] += count

    def tell(self, facts: Facts) -> None:
        if len(self._hosts) > 1 and self._by_directory:
            self._forget_directories()
        facts.hosts, facts.by_directory = [host for host, _ in self._hosts.most_common()], self._by_directory
        places = {place for place, _ in self._counts}
        tallies = [Tally(self._name(place), *(self._counts[place, kind] for kind in facts.times)) for place in places]
        facts.tallies = nsmallest(MOST_PLACES, tallies, key=lambda tally: (-tally.total, tally.place))

    def _name(self, place: Place) -> str:
        return (place.directory or "/") if self._by_directory else place.host


def _read_fingerprints(facts: Facts, store: Store) -> None:
    bits, total = store.header.bits, 0
    held: list[NDArray[np.uint64]] = []
    ones = np.zeros(bits, np.int64)
    for chunk in store.fingerprint_chunks():
        ones += _ones(chunk, bits)
        total += len(chunk)
        # Enough to see how far apart pages are; all of them would not fit into memory.
        if sum(map(len, held)) < _MOST_COMPARED:
            held.append(chunk)
    if total:
        facts.ones = (ones / total).tolist()
        fingerprints = np.concatenate(held)
        asked = fingerprints[:: max(1, len(fingerprints) ** 2 // _MOST_COMPARISONS + 1)] if len(fingerprints) > 1 else fingerprints[:0]
        facts.compared = len(asked)
        facts.nearest = Counter(_nearest(asked, fingerprints).tolist())


def _ones(chunk: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
    return np.array([np.count_nonzero(chunk[:, bit // 64] >> np.uint64(bit % 64) & np.uint64(1)) for bit in range(bits)], np.int64)


def _nearest(asked: NDArray[np.uint64], held: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the distance of each fingerprint to the nearest other one."""
    step = max(1, _AT_ONCE // len(held))
    found = [np.empty(0, np.int64)]
    for start in range(0, len(asked), step):
        some = asked[start : start + step]
        apart = sum(np.bitwise_count(some[:, None, word] ^ held[None, :, word]).astype(np.int64) for word in range(held.shape[1]))
        # All are distinct: a distance of 0 is the fingerprint itself.
        found.append(np.where(apart == 0, np.iinfo(np.int64).max, apart).min(axis=1))
    return np.concatenate(found)
