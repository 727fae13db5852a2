"""Clusters: the pages that a store's register binds together. The one place that says what they are; commands and reports ask here.

Each line of the register binds a page to the page that it was a copy of, but for a line whose verdict a user took back: such a pair is no
copy, so it binds nothing. A cluster is all pages that lines lead to the same page from. That page is its representative: the one at the end
of the originals' originals, where a copy that was kept is the original of others. So

    D ──► B ──► A ◄── C            is one cluster of four pages, named after A; where the verdict on B is taken back,
    D ──► B  ╱  A ◄── C            these are two, of two pages each; and a page that nothing binds is in none.

A page counts though it was forgotten, as long as lines name it: the copies of a forgotten page are copies of each other. So does a page
that a rule had the crawl leave out (`predicted`), with that as its reason. Two pages that a user holds apart are in one cluster only where
other lines lead both to the same page.

Pure: lines of the register in, values out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nsmallest
from itertools import dropwhile
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simcrawl.store.register import Duplicate


class Register(Protocol):
    """What has lines: a store."""

    def duplicate(self, url: str) -> Duplicate | None:
        """Return the line of a URL."""

    def duplicates(self) -> Iterator[Duplicate]:
        """Yield all lines."""


class Representatives:
    """The representatives of pages. `line_of`: returns the line of a URL; it is asked once for each page that lines lead to.

    What it has found it remembers: memory is that of the pages asked for and all that lines lead to from them, not of their copies.
    """

    def __init__(self, line_of: Callable[[str], Duplicate | None]) -> None:
        self._line_of = line_of
        self._known: dict[str, str] = {}

    def of(self, url: str) -> str:
        """Return the page that stands for the cluster of a page: itself, where it is nobody's copy."""
        followed: dict[str, None] = {}
        here = url
        while here not in followed and here not in self._known:
            followed[here] = None
            line = self._line_of(here)
            if line is None or line.standing == "rejected":
                break
            here = line.original
        else:
            # Two pages that were each found to be a copy of the other, in two crawls: either would do, always the same one has to.
            here = self._known[here] if here in self._known else min(dropwhile(here.__ne__, followed))
        self._known.update(dict.fromkeys(followed, here))
        return here


class Sizes:
    """How many copies each cluster has, counted line by line: what is held is the originals, not their copies."""

    def __init__(self, line_of: Callable[[str], Duplicate | None]) -> None:
        self._representatives = Representatives(line_of)
        self.copies: Counter[str] = Counter()
        """Copies by the representative of their cluster."""

    def add(self, line: Duplicate) -> str | None:
        """Count a line, once; return the representative of the cluster in which its page is a copy, None where it is a copy in none."""
        found = self.home(line)
        if found is not None:
            self.copies[found] += 1
        return found

    def home(self, line: Duplicate) -> str | None:
        """Return what `add` does, without counting."""
        if line.standing == "rejected":
            return None
        found = self._representatives.of(line.original)
        # In a circle one of the copies stands for all.
        return None if found == line.url else found

    def largest(self, most: int | None = None, *, min_size: int = 2) -> list[tuple[str, int]]:
        """Return so many representatives with their copies, those of the largest clusters first, equal ones by name."""
        found = [(url, copies) for url, copies in self.copies.items() if copies + 1 >= min_size]
        return nsmallest(len(found) if most is None else most, found, key=lambda one: (-one[1], one[0]))


@dataclass(frozen=True, slots=True)
class Cluster:
    """The page that stands for a cluster, and the lines of all that were copies of it, or copies of its copies, by their URLs."""

    representative: str
    members: list[Duplicate]

    @property
    def size(self) -> int:
        """The number of pages, the representative among them."""
        return 1 + len(self.members)


def clusters(register: Register, *, min_size: int = 2, most: int | None = None) -> list[Cluster]:
    """Return the clusters of a register, largest first, equal ones by their representative. `most`: only so many.

    The register is read twice, so that only the lines of clusters that are returned are held, and the URLs of originals: some 170 bytes
    for one of 50 characters.

    Raises:
        StoreError: the store cannot be read.
    """
    sizes = Sizes(register.duplicate)
    for line in register.duplicates():
        sizes.add(line)
    members: dict[str | None, list[Duplicate]] = {url: [] for url, _ in sizes.largest(most, min_size=min_size)}
    for line in register.duplicates() if members else ():
        found = sizes.home(line)
        if found in members:
            members[found].append(line)
    grouped = [Cluster(url, sorted(lines, key=attrgetter("url"))) for url, lines in members.items() if url is not None]
    # Between the two the register may have changed.
    return sorted((one for one in grouped if one.size >= min_size), key=lambda one: (-one.size, one.representative))
