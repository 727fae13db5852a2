"""What a rule sees where it is not to see all of a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
