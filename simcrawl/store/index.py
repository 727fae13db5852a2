"""Pages in memory, findable in every way that a rule asks for. Exact for every design; no locks, no I/O.

Stores keep here what is claimed or not yet written; the memory store keeps everything here.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from simcrawl.pages import PageFingerprint
from simcrawl.store.packed import Delta, Packer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simcrawl.permutations import Design
    from simcrawl.rule import StoredPage

_Key = TypeVar("_Key", bytes, int)


class PermutedTables:
    """A set of fingerprints under every permutation of a design, searchable by Hamming distance."""

    def __init__(self, design: Design) -> None:
        self._packer = Packer(design)
        self._all: set[int] = set()
        self._delta = Delta(self._packer)

    def __len__(self) -> int:
        """Return the number of distinct fingerprints."""
        return len(self._all)

    def __iter__(self) -> Iterator[int]:
        """Yield the distinct fingerprints."""
        return iter(self._all)

    def __contains__(self, fingerprint: int) -> bool:
        """Return whether a fingerprint is in the set."""
        return fingerprint in self._all

    def add(self, fingerprint: int) -> None:
        """Add a fingerprint; no effect where it is there."""
        if fingerprint not in self._all:
            self._all.add(fingerprint)
            self._delta.add(fingerprint)

    def discard(self, fingerprint: int) -> None:
        """Remove a fingerprint; no effect where it is not there."""
        if fingerprint in self._all:
            self._all.remove(fingerprint)
            self._delta.discard(fingerprint)

    def within(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all that lie within the radius."""
        if not self._all:
            return {}
        if self._packer.design.probes(distance) >= len(self._all):
            return {other: apart for other in self._all if (apart := (fingerprint ^ other).bit_count()) <= distance}
        packed = b"".join(self._delta.candidates(self._packer.probes(fingerprint, distance)))
        return self._packer.within(packed, fingerprint, distance) if packed else {}


class PageIndex:
    """Stored pages by URL, body, text and fingerprint: a `View` over a dictionary."""

    def __init__(self, design: Design) -> None:
        self._pages: dict[str, StoredPage] = {}
        self._bodies: defaultdict[bytes, dict[str, None]] = defaultdict(dict)
        self._texts: defaultdict[bytes, dict[str, None]] = defaultdict(dict)
        self._fingerprints: defaultdict[int, dict[str, None]] = defaultdict(dict)
        self._bare: set[int] = set()
        self._tables = PermutedTables(design)

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self._pages)

    def __iter__(self) -> Iterator[StoredPage]:
        """Yield the pages in the order in which they came."""
        return iter(self._pages.values())

    def __contains__(self, url: str) -> bool:
        """Return whether a page is known under a URL."""
        return url in self._pages

    @property
    def fingerprints(self) -> int:
        """The number of distinct fingerprints."""
        return len(self._tables)

    def all_fingerprints(self) -> Iterator[int]:
        """Yield the distinct fingerprints."""
        return iter(self._tables)

    @property
    def bare(self) -> set[int]:
        """Fingerprints that have no page."""
        return self._bare

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""
        return fingerprint in self._bare

    def add(self, stored: StoredPage) -> None:
        """Add a page, in place of the one under the same URL."""
        page = stored.page
        self.remove(page.url)
        self._pages[page.url] = stored
        self._bodies[page.body_digest][page.url] = None
        if isinstance(page, PageFingerprint):
            self._texts[page.text_digest][page.url] = None
            self._fingerprints[page.fingerprint][page.url] = None
            self._tables.add(page.fingerprint)

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
            _unlink(self._texts, page.text_digest, url)
            _unlink(self._fingerprints, page.fingerprint, url)
            self._drop_unused(page.fingerprint)
        return stored

    def add_bare(self, fingerprints: Iterable[int]) -> None:
        """Add fingerprints without pages."""
        for fingerprint in fingerprints:
            self._bare.add(fingerprint)
            self._tables.add(fingerprint)

    def clear_bare(self, fingerprints: Iterable[int]) -> None:
        """Remove fingerprints without pages."""
        for fingerprint in fingerprints:
            self._bare.discard(fingerprint)
            self._drop_unused(fingerprint)

    def _drop_unused(self, fingerprint: int) -> None:
        if fingerprint not in self._fingerprints and fingerprint not in self._bare:
            self._tables.discard(fingerprint)

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""
        return self._pages.get(url)

    def with_body(self, digest: bytes) -> list[StoredPage]:
        """Return the pages with this body digest."""
        return [self._pages[url] for url in self._bodies.get(digest, ())]

    def with_text(self, digest: bytes) -> list[StoredPage]:
        """Return the pages with this digest of the whole visible text."""
        return [self._pages[url] for url in self._texts.get(digest, ())]

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all fingerprints within the radius, with pages or without."""
        return self._tables.within(fingerprint, distance)

    def with_fingerprint(self, fingerprint: int) -> list[StoredPage]:
        """Return the pages that have exactly this fingerprint."""
        return [self._pages[url] for url in self._fingerprints.get(fingerprint, ())]


def _unlink(links: dict[_Key, dict[str, None]], key: _Key, url: str) -> None:
    held = links[key]
    del held[url]
    if not held:
        del links[key]
