"""What can be asked of a store's register: which lines, clusters of pages, hosts, mirrors.

Pure: lines of the register and URLs in, values out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.store.base import Duplicate

SORT_KEYS: dict[str, Callable[[Duplicate], Any]] = {
    "url": attrgetter("url"),
    "original": lambda line: (line.original, line.url),
    "distance": lambda line: (-1 if line.distance is None else line.distance, line.url),
    "similarity": lambda line: (-1 if line.similarity is None else line.similarity, line.url),
    "when": lambda line: (line.when, line.url),
    "host": lambda line: (host_of(line.url), line.url),
}
"""By what lines of the register can be sorted."""
DROPPED = ("page", "outlinks", "anything", "nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which lines of the register are wanted; None where any will do.

    `host`: of the page, subdomains too. `url`, `original`: a part of the page's or the original's URL. `dropped`: one of `DROPPED`.
    Distances and similarities are inclusive, `since` and `until` seconds since 1970. Exact copies have distance 0 and similarity 1.
    """

    host: str | None = None
    url: str | None = None
    original: str | None = None
    kind: str | None = None
    dropped: str | None = None
    rejected: bool | None = None
    min_distance: int | None = None
    max_distance: int | None = None
    min_similarity: float | None = None
    max_similarity: float | None = None
    since: float | None = None
    until: float | None = None

    def matches(self, line: Duplicate) -> bool:
        """Return whether a line is wanted."""
        return (
            (self.host is None or _is_of(host_of(line.url), self.host.lower()))
            and _has(line.url, self.url)
            and _has(line.original, self.original)
            and (self.kind is None or line.kind.startswith(self.kind))
            and (self.dropped is None or _dropped(line, self.dropped))
            and (self.rejected is None or line.rejected is self.rejected)
            and _between(line.distance, self.min_distance, self.max_distance)
            and _between(line.similarity, self.min_similarity, self.max_similarity)
            and _between(line.when, self.since, self.until)
        )


def _is_of(host: str, wanted: str) -> bool:
    return host == wanted or host.partition(":")[0] == wanted or host.partition(":")[0].endswith(f".{wanted}")


def _has(url: str, part: str | None) -> bool:
    return part is None or part in url


def _dropped(line: Duplicate, wanted: str) -> bool:
    anything = line.dropped_page or line.dropped_outlinks
    return {"page": line.dropped_page, "outlinks": line.dropped_outlinks, "anything": anything, "nothing": not anything}[wanted]


def _between(value: float | None, low: float | None, high: float | None) -> bool:
    if low is None and high is None:
        return True
    return value is not None and (low is None or low <= value) and (high is None or value <= high)


def host_of(url: str, depth: int = 0) -> str:
    """Return the host of a URL, with its port where it names one, and the first `depth` directories of its path."""
    # Pages of other methods than GET are known as "POST http://...".
    try:
        parts = urlsplit(url.rpartition(" ")[2])
    except ValueError:
        return ""
    directories = parts.path.split("/")[1:-1][:depth]
    return "/".join((parts.netloc.rpartition("@")[2].lower(), *directories))


# ---- clusters


@dataclass(frozen=True, slots=True)
class Cluster:
    """A page that was kept, and the lines of all that were copies of it, or copies of its copies."""

    representative: str
    members: list[Duplicate]

    @property
    def size(self) -> int:
        """The number of pages, the one that was kept among them."""
        return 1 + len(self.members)


def clusters(lines: Iterable[Duplicate], *, min_size: int = 2) -> list[Cluster]:
    """Return the clusters that the register speaks of, largest first; equal sizes by their representative.

    Verdicts that a user took back join nothing.
    """
    by_url = {line.url: line for line in lines if not line.rejected}
    grouped: defaultdict[str, list[Duplicate]] = defaultdict(list)
    for line in by_url.values():
        grouped[_root(line, by_url)].append(line)
    found = [
        Cluster(root, sorted((line for line in members if line.url != root), key=attrgetter("url"))) for root, members in grouped.items()
    ]
    return sorted((one for one in found if one.size >= min_size), key=lambda one: (-one.size, one.representative))


def _root(line: Duplicate, by_url: dict[str, Duplicate]) -> str:
    """Return the page at the end of the originals' originals; of a circle (two crawls can make one), its first URL."""
    passed = [line.url]
    while line.original in by_url:
        if line.original in passed:
            return min(passed[passed.index(line.original) :])
        passed.append(line.original)
        line = by_url[line.original]
    return line.original


# ---- hosts


class Host(NamedTuple):
    """`pages`: kept; `duplicates`: recognised as copies, whatever was done about them."""

    host: str
    pages: int
    duplicates: int

    @property
    def share(self) -> float:
        """The share of copies among all of them."""
        return self.duplicates / (self.pages + self.duplicates)


class Mirror(NamedTuple):
    """Two hosts with copies of each other: `copies_a` pages of a are copies of pages of b, `copies_b` the other way round.

    `share`: of the pages of the smaller one, kept or not.
    """

    a: str
    b: str
    copies_a: int
    copies_b: int
    share: float

    @property
    def copies(self) -> int:
        """The copies in both directions: which of two mirrors is the original, the order of the crawl decides page by page."""
        return self.copies_a + self.copies_b


def hosts(urls: Iterable[str], lines: Iterable[Duplicate], *, depth: int = 0) -> tuple[list[Host], list[Mirror]]:
    """Return the hosts with most copies first, and all pairs of hosts with copies of each other.

    `urls`: of the pages that were kept; `depth`: directories of the path that count as part of a host. A page that was a copy and is kept
    counts as kept.
    """
    kept_urls, copied = set[str](), Counter[str]()
    pairs: Counter[tuple[str, str]] = Counter()
    kept = Counter[str]()
    for url in urls:
        kept[host_of(url, depth)] += 1
        kept_urls.add(url)
    for line in lines:
        if not line.rejected:
            host, other = host_of(line.url, depth), host_of(line.original, depth)
            copied[host] += line.url not in kept_urls
            pairs[host, other] += host != other
    found = [Host(host, kept[host], copied[host]) for host in kept.keys() | copied.keys() if kept[host] or copied[host]]
    sizes = {host.host: host.pages + host.duplicates for host in found}
    return sorted(found, key=lambda one: (-one.duplicates, one.host)), list(_mirrors(pairs, sizes))


def _mirrors(pairs: Counter[tuple[str, str]], sizes: dict[str, int]) -> Iterator[Mirror]:
    both = {(min(pair), max(pair)): pairs[pair] + pairs[pair[::-1]] for pair in list(pairs) if pairs[pair]}
    for (a, b), copies in sorted(both.items(), key=lambda item: (-item[1], item[0])):
        yield Mirror(a, b, pairs[a, b], pairs[b, a], copies / max(copies, min(sizes.get(a, 0), sizes.get(b, 0))))
