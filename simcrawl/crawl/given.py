"""For which callbacks a content has given items, so that nothing is lost with a copy that only its callback would have taken.

    page that is kept ──► its callback has ended ──► given for that callback, or for none yet
    copy of it        ──► its callback yields an item ──► given for it before: the item is dropped
                                                      ──► not given: the item comes out, and counts as given from then on

The text of a page for printing is its article's, and so are the bytes of one page at two addresses. But the callback may take items of one
template alone, or of URLs of one form, and each address may have a callback of its own.

A callback may also give nothing at all, and fill variables of the spider that come out at the end: in which sections a product stands, say.
Nobody sees what it takes of a page, so of the pages of a callback that has never given an item or a request none is left out unseen.

In memory: of an original that this process has not seen come out (one from before a stop, or one of very many) only the store tells
whether it gave items, and not to which callback. If it did, all are taken for given, but to a callback that has taken items of a copy in
this process whose original had given some to another one.
"""

from __future__ import annotations

from collections import OrderedDict

from simcrawl.rule import without_data

_MOST_PAGES, _MOST_USES, _MOST_UNLIKE, _MOST_CALLBACKS = 50_000, 16, 1_000, 1_000


class Given:
    """What came out of which content, by the URL of the page that was kept. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self) -> None:
        self._uses: OrderedDict[str, set[str]] = OrderedDict()
        # Whose copies gave items where their originals gave none.
        self._unlike: OrderedDict[str, None] = OrderedDict()
        # And where these gave them to another callback.
        self._beside: OrderedDict[str, None] = OrderedDict()
        # Callbacks that have given an item or a request, whatever became of it.
        self._giving = set[str]()

    def knows(self, url: str) -> bool:
        """Return whether a page has come out in this process."""
        return url in self._uses

    def has_given(self, callback: str) -> None:
        """Note that a callback has given an item or a request: what it does with pages can be seen."""
        if len(self._giving) < _MOST_CALLBACKS:
            self._giving.add(callback)

    def kept(self, url: str, use: str, *, items: bool) -> None:
        """Note that a page has come out, and whether with items."""
        self._uses.setdefault(url, set()).update([use] if items else [])
        if len(self._uses) > _MOST_PAGES:
            self._uses.popitem(last=False)

    def take(self, original: str, use: str) -> bool:
        """Return whether items of a copy are to come out, and note that they do: none have come of this content for its callback."""
        uses = self._uses.get(original)
        if uses is None and use in self._beside:
            self.kept(original, use, items=True)
            return True
        if uses is None or use in uses or len(uses) >= _MOST_USES:
            return False
        noted = self._beside if uses else self._unlike
        noted[use] = None
        if len(noted) > _MOST_UNLIKE:
            noted.popitem(last=False)
        uses.add(use)
        return True

    def give_back(self, original: str, use: str) -> None:
        """Note that nothing has come out all the same."""
        self._uses.get(original, set()).discard(use)

    def may_lose(self, original: str, use: str) -> bool:
        """Return whether a page may give items that its original did not, if it is left out unseen.

        Where the original gave none, lists do not either: until a copy of its kind has. What a callback does that has never given anything
        nobody sees.
        """
        if without_data(use) not in self._giving:
            return True
        uses = self._uses.get(original)
        return uses is not None and use not in uses and (bool(uses) or use in self._unlike)
