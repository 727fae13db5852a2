"""Titles of pages that were kept lately, so that a line of the register can name those of a copy and its original.

In memory only: a record of a page has no space for one, and nothing is decided by it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simcrawl.page.fingerprint import Page

# Of 120 characters each at most: two megabytes as a rule. The original of a copy is most often one of the last pages.
_MOST = 10_000


class Titles:
    """Titles by URL, of the last pages. For one thread at a time."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, str] = OrderedDict()

    def note(self, page: Page) -> None:
        """Note the title of a page, where it is known to have one."""
        if page.hints and page.hints.title:
            self._held[page.url] = page.hints.title
            self._held.move_to_end(page.url)
            if len(self._held) > _MOST:
                self._held.popitem(last=False)

    def of(self, url: str) -> str:
        """Return the title of a page; "" where it is not known."""
        return self._held.get(url, "")
