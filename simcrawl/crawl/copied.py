"""How far the items of one copy have been compared with those of its original.

An item alone does not tell: where one fills a field that the original left empty, all of the copy's items come out; where a later one lists
more, or is like none of the original's, so do some that were dropped before.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from simcrawl.crawl.page_text import PageText
from simcrawl.crawl.said import Together, page_number

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable

# Of one copy: items that are to be remembered if a later one says something new.
_MOST_BEFORE = 1_000


class Copy:
    """What its items have shown. `page`: what it says itself; `tell`, `url`: see `simcrawl.crawl.page_text.PageText`.

    `fuller`: the field that its items have and its original's have not, once there was one; `longer`: that of which they have more.
    `together`: what is known of its original's items. `is_named`: whether an item said which page it is of; `before`: those that
    said nothing new yet, field by field, and `like`: the pages (by `number`) that gave all of these; `differs`: the field by which there
    is no such page. `rows`: how much its items have listed, see `ItemRead.rows`; `has_new`: whether the last one had a value of its own;
    `waiting`: what was dropped although it had; `alike`: what was dropped else of a page that may yet differ.
    """

    def __init__(self, tell: Callable[[], Iterable[str] | None], url: str = "") -> None:
        self.page, self.url = PageText(tell, url), url
        self.fuller: str | None = None
        self.longer: str | None = None
        self.together, self.number = Together(), page_number(url)
        self.is_named = False
        self.before = deque[dict[str, list[Any]]](maxlen=_MOST_BEFORE)
        self.like: set[int] | None = None
        # Those of its original that are like its last one, see `Together`.
        self.items = 0
        self.differs: str | None = None
        self.rows = 0
        self.has_new = False
        self.waiting, self.alike = list[Any](), list[Any]()
        self._known = frozenset[int]()
        self._known_values: array[int] | None = None

    @property
    def is_fuller(self) -> bool:
        """Whether its items come out for what their fields hold more than those of its original."""
        return bool(self.fuller or self.longer)

    def take_left(self) -> list[Any]:
        """Return what was dropped before the page proved to list more than its original, or to say something else: then it is all."""
        items = list[Any]()
        if self.longer or self.differs:
            items, self.waiting = self.waiting, items
        if self.differs:
            items, self.alike = [*self.alike, *items], []
        return items

    def knows(self, values: array[int] | None) -> frozenset[int]:
        """Return digests of an original's values as a set: it is made anew only where there are more of them."""
        if values is not self._known_values or len(values or ()) > len(self._known):
            self._known, self._known_values = frozenset(values or ()), values
        return self._known
