"""Pages in memory, findable in every way that a rule asks for. Exact for every design; no locks, no I/O.

Stores keep here what is claimed or not yet written; the memory store keeps everything here.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING, TypeVar

from simcrawl.index.memory import MemoryIndex
from simcrawl.page.fingerprint import PageFingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcrawl.index.packed import Packer
    from simcrawl.rule import StoredPage

_Key = TypeVar("_Key", bytes, int)


class _UnsearchedSet:
    """A set of fingerprints that somebody else finds."""

    def __init__(self) -> None:
        self.all: set[int] = set()
        self.insert = self.all.add


class PageIndex:
    """Stored pages by URL, body, text and fingerprint: a `View` over a dictionary.

    `searches_bare`: whether `near` finds fingerprints without pages, too.
    """

    def __init__(self, packer: Packer, *, searches_bare: bool = True) -> None:
        self._packer = packer
        self._searches_bare = searches_bare
        self._pages: dict[str, StoredPage] = {}
        self._bodies: defaultdict[bytes, dict[str, None]] = defaultdict(dict)
        self._text_digests: defaultdict[bytes, dict[str, None]] = defaultdict(dict)
        self._fingerprints: defaultdict[int, dict[str, None]] = defaultdict(dict)
        self._tables = MemoryIndex(packer)
        self._bare = self._new_bare()
        # Those that a commit under way is writing: it drops them at once, not one by one.
        self._taken = self._new_bare()

    def _new_bare(self) -> MemoryIndex | _UnsearchedSet:
        return MemoryIndex(self._packer) if self._searches_bare else _UnsearchedSet()

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self._pages)

    def __iter__(self) -> Iterator[StoredPage]:
        """Yield the pages in the order in which they came."""
        return iter(self._pages.values())

    def __contains__(self, url: object) -> bool:
        """Return whether a page is known under a URL."""
        return url in self._pages

    @property
    def fingerprints(self) -> int:
        """The number of distinct fingerprints."""
        return len(self.all_fingerprints())

    def all_fingerprints(self) -> set[int]:
        """Return the distinct fingerprints."""
        return self._tables.all | self._bare.all | self._taken.all

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""
        return fingerprint in self._bare.all or fingerprint in self._taken.all

    def add(self, stored: StoredPage) -> None:
        """Add a page, in place of the one under the same URL."""
        page = stored.page
        self.remove(page.url)
        self._pages[page.url] = stored
        self._bodies[page.body_digest][page.url] = None
        if isinstance(page, PageFingerprint):
            self._text_digests[page.text_digest][page.url] = None
            self._fingerprints[page.fingerprint][page.url] = None
            self._tables.insert(page.fingerprint)

    def replace(self, stored: StoredPage) -> None:
        """Put a page with the same content in place of the one under the same URL."""
        self._pages[stored.page.url] = stored

    def remove(self, url: str) -> StoredPage | None:
        """Remove and return the page under a URL; None where there is none."""
        stored = self._pages.pop(url, None)
        if stored is None:
            return None
        page = stored.page
        _unlink(self._bodies, page.body_digest, url)
        if isinstance(page, PageFingerprint):
            _unlink(self._text_digests, page.text_digest, url)
            _unlink(self._fingerprints, page.fingerprint, url)
            if page.fingerprint not in self._fingerprints:
                self._tables.remove(page.fingerprint)
        return stored

    @property
    def bare(self) -> int:
        """The number of fingerprints without pages that are not taken."""
        return len(self._bare.all)

    def add_bare(self, fingerprint: int, most: float = inf) -> bool:
        """Add a fingerprint without a page, unless there are so many already; return whether it was added."""
        fits = len(self._bare.all) + len(self._taken.all) < most
        if fits:
            self._bare.insert(fingerprint)
        return fits

    def take_bare(self) -> list[int]:
        """Return the fingerprints without pages, to be written; they stay until `drop_taken`, and are taken again without it."""
        if self._taken.all:
            for fingerprint in self._bare.all:
                self._taken.insert(fingerprint)
        else:
            self._taken = self._bare
        self._bare = self._new_bare()
        return list(self._taken.all)

    def drop_taken(self) -> None:
        """Remove the fingerprints that were taken."""
        self._taken = self._new_bare()

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""
        return self._pages.get(url)

    def with_body(self, digest: bytes) -> list[StoredPage]:
        """Return the pages with this body digest."""
        return [self._pages[url] for url in self._bodies.get(digest, ())]

    def with_text(self, digest: bytes) -> list[StoredPage]:
        """Return the pages with this digest of the whole visible text."""
        return [self._pages[url] for url in self._text_digests.get(digest, ())]

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all fingerprints within the radius."""
        found = self._tables.within(fingerprint, distance) if self._tables.all else {}
        if self._searches_bare:
            for tables in (self._bare, self._taken):
                if tables.all and isinstance(tables, MemoryIndex):
                    found |= tables.within(fingerprint, distance)
        return found

    def with_fingerprint(self, fingerprint: int) -> list[StoredPage]:
        """Return the pages that have exactly this fingerprint."""
        return [self._pages[url] for url in self._fingerprints.get(fingerprint, ())]


def _unlink(links: dict[_Key, dict[str, None]], key: _Key, url: str) -> None:
    held = links[key]
    del held[url]
    if not held:
        del links[key]
