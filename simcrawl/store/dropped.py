"""Pages that were dropped lately, by the page that each was called a copy of: two copies of one page must be copies of each other, too.

    record without a value ──► kept
    the same with one      ──► copy of it, and held here
    the same with another  ──► near it, but not the same as what is held: kept, and held as well
                                  └──► what was dropped is no copy either: it is asked for again, and kept

In memory only, and of this process. Another one may drop the first few once more, until two records of that kind are stored: then these
tell as much (`simcrawl.rule`). A crawl that goes on after a stop fetches such pages again (`simcrawl.crawl.again`).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from simcrawl.differences import is_titled_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcrawl.page.fingerprint import PageFingerprint

# What is dropped says nothing else than those that are held, so a few tell nearly as much as all would.
_MOST_OF_A_PAGE = 3
# Of two kilobytes each: a dozen megabytes at most.
_MOST_PAGES = 2_000


class DroppedCopies:
    """Pages that say more than their originals, by the URLs of these: the first few of each. For one thread at a time."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[PageFingerprint, ...]] = OrderedDict()

    def of(self, original: str) -> tuple[PageFingerprint, ...]:
        """Return pages of which a copy of this one has to be a copy as well."""
        return self._held.get(original, ())

    def hold(self, page: PageFingerprint, original: str) -> bool:
        """Return whether a page that is dropped as a copy of another one is held."""
        held = self.of(original)
        if len(held) >= _MOST_OF_A_PAGE or _is_among(page, held):
            return False
        self._set(original, (*held, _bare(page)))
        return True

    def contradict(self, original: str, page: PageFingerprint) -> list[str]:
        """Hold a page that is near an original and no copy of it, and return the URLs of those that were held before.

        These stay, too. The page may yet fail to come out, and what says the same must not be taken for a copy of the original then.
        """
        held = self.of(original)
        urls = [other.url for other in held if other.url != page.url]
        if len(held) <= _MOST_OF_A_PAGE and not _is_among(page, held):
            self._set(original, (*held, _bare(page)))
        return urls

    def _set(self, original: str, pages: tuple[PageFingerprint, ...]) -> None:
        self._held[original] = pages
        self._held.move_to_end(original)
        if len(self._held) > _MOST_PAGES:
            self._held.popitem(last=False)


def _is_among(page: PageFingerprint, held: Iterable[PageFingerprint]) -> bool:
    """Return whether one of some pages says the same as another one, in text and title."""
    return any(page.text_digest == other.text_digest and not is_titled_apart(page, other) for other in held)


def _bare(page: PageFingerprint) -> PageFingerprint:
    """Return a page without its text, which may be of any length, and without what only a page that is judged needs."""
    return replace(page, text=None, content=None, hints=None, places=b"")
