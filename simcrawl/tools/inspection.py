"""What can be asked of a store's register: which lines, which hosts. Clusters: see `simcrawl.store.clusters`.

Pure: lines of the register and URLs in, values out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.store.register import COPIES, Share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simcrawl.store.register import Duplicate

SORT_KEYS: dict[str, Callable[[Duplicate], Any]] = {
    "url": attrgetter("url"),
    "original": lambda line: (line.original, line.url),
    "distance": lambda line: (-1 if line.distance is None else line.distance, line.url),
    "similarity": lambda line: (-1 if line.similarity is None else line.similarity, line.url),
    "when": lambda line: (line.when, line.url),
    "host": lambda line: (place_of(line.url), line.url),
}
"""By what lines of the register can be sorted."""
DROPPED = ("page", "outlinks", "anything", "nothing")
# Host with port, and path. Pages of other methods than GET are known as "POST http://...".
_PLACE = re.compile(r"[^/]*//(?:[^/?#]*@)?([^/?#]*)([^?#]*)")


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
            (self.host is None or _is_of(place_of(line.url), self.host.lower()))
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


def place_of(url: str, depth: int = 0) -> str:
    """Return the host of a URL, with its port where it names one, and the first `depth` directories of its path."""
    found = _PLACE.match(url)
    if found is None:
        return ""
    directories = found[2].split("/")[1:-1][:depth] if depth else ()
    return "/".join((found[1].lower(), *directories))


# ---- hosts


class Host(NamedTuple):
    """`pages`: kept; `duplicates`: recognised as copies, whatever was done about them; `not_fetched`: taken for copies by their URLs."""

    host: str
    pages: int
    duplicates: int
    not_fetched: int = 0

    @property
    def share(self) -> Share:
        """The share of copies."""
        return Share.of(self.duplicates, self.pages)


def hosts(urls: Iterable[str], lines: Iterable[Duplicate], *, depth: int = 0) -> list[Host]:
    """Return the hosts with most copies first.

    `urls`: of the pages that were kept; `depth`: directories of the path that count as part of a host. A page that was a copy and is kept
    counts as both, as it does in the store's own counts.
    """
    kept = Counter(place_of(url, depth) for url in urls)
    counted = Counter((place_of(line.url, depth), line.standing) for line in lines)
    names = kept.keys() | {host for host, _ in counted}
    found = (Host(name, kept[name], sum(counted[name, one] for one in COPIES), counted[name, "not_fetched"]) for name in names)
    return sorted((one for one in found if any(one[1:])), key=lambda one: (-one.duplicates, one.host))
