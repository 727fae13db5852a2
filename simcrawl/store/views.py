"""What a rule sees where it is not to see all of a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import merge
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from simcrawl.bits import hamming_distance
from simcrawl.page.fingerprint import PageFingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.page.fingerprint import Abstention
    from simcrawl.rule import Candidate, StoredPage, View


@dataclass(frozen=True, slots=True)
class Only:
    """A view of a single page, to see whether that is an original."""

    stored: StoredPage

    def page(self, url: str) -> StoredPage | None:  # noqa: ARG002 - as every view
        """Return nothing: also the page of a URL that is known can have an original."""
        return None

    def with_body(self, digest: bytes) -> list[StoredPage]:
        """Return the page, where it has this body."""
        return [self.stored] if self.stored.page.body_digest == digest else []

    def with_text(self, digest: bytes) -> list[StoredPage]:
        """Return the page, where it has this text."""
        page = self.stored.page
        return [self.stored] if isinstance(page, PageFingerprint) and page.text_digest == digest else []

    def within(self, fingerprint: int, distance: int) -> list[tuple[int, StoredPage]]:
        """Return the page, where it lies within the radius."""
        page = self.stored.page
        apart = hamming_distance(page.fingerprint, fingerprint) if isinstance(page, PageFingerprint) else distance + 1
        return [(apart, self.stored)] if apart <= distance else []

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:  # noqa: ARG002 - as above
        """Return False: who asks here asks again."""
        return False

    def earlier(self, url: str) -> StoredPage | None:  # noqa: ARG002 - as above
        """Return nothing."""
        return None


@dataclass(frozen=True, slots=True)
class Beside:
    """A view of all but what is known under one URL, to see whether the page that was kept there is a copy of another one."""

    view: View
    url: str

    def page(self, url: str) -> StoredPage | None:
        """Return the page of another URL."""
        return None if url == self.url else self.view.page(url)

    def with_body(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this body."""
        return self.view.with_body(digest)

    def with_text(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this text."""
        return self.view.with_text(digest)

    def within(self, fingerprint: int, distance: int) -> Iterable[tuple[int, Candidate]]:
        """Return the pages within the radius."""
        return self.view.within(fingerprint, distance)

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        """Return whether a user said that two pages are no copies of each other."""
        return self.view.is_rejected(page, other)

    def earlier(self, url: str) -> StoredPage | None:
        """Return what an earlier crawl had under a URL."""
        return self.view.earlier(url)


class Lasting(Protocol):
    """What a crawl asks the store that outlives it: a `simcrawl.store.store.Store`."""

    def known(self, url: str) -> StoredPage | None:
        """Return the page known under the key of a URL."""

    def has_rejections(self) -> bool:
        """Return whether a user said of any pages that they are no copies of each other."""

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        """Return whether a user said so of these two."""


@dataclass(slots=True)
class InCrawl:
    """What a decision of a crawl sees: the crawl's own pages, those that were loaded, and of the lasting store what a user said.

    Nothing else of the lasting store: a page that only an earlier crawl had is no original.
    """

    own: View
    loaded: View | None
    lasting: Lasting
    _earlier: dict[str, StoredPage | None] = field(default_factory=dict)
    _has_rejections: bool | None = None

    def page(self, url: str) -> StoredPage | None:
        """Return the crawl's own page of a URL."""
        return self.own.page(url)

    def with_body(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this body, the crawl's own first."""
        own = self.own.with_body(digest)
        return chain(own, self.loaded.with_body(digest)) if self.loaded else own

    def with_text(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this text, the crawl's own first."""
        own = self.own.with_text(digest)
        return chain(own, self.loaded.with_text(digest)) if self.loaded else own

    def within(self, fingerprint: int, distance: int) -> Iterable[tuple[int, Candidate]]:
        """Return the pages within the radius, nearest first."""
        own = self.own.within(fingerprint, distance)
        return merge(own, self.loaded.within(fingerprint, distance), key=itemgetter(0)) if self.loaded else own

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        """Return whether a user said that two pages are no copies of each other."""
        if self._has_rejections is None:
            self._has_rejections = self.lasting.has_rejections()
        return self._has_rejections and self.lasting.is_rejected(page, other)

    def earlier(self, url: str) -> StoredPage | None:
        """Return what an earlier crawl had under a URL."""
        # The rule asks, and then the claim.
        if url not in self._earlier:
            self._earlier[url] = self.lasting.known(url)
        return self._earlier[url]
