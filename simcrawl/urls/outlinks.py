"""What the links of fetched pages make expect of a page that is not fetched: whether anything is behind it that nobody else shows.

A page is left out as a copy of another one, and its links with it. What they lead to was shown by others, mostly: by the contents of its
directory, by the pages beside it. But a site has holes: the contents were not to be had that night, or the callback failed in the middle of
them. Then the way from page to page may be the only one, and it must not be cut. The original was fetched, so its links are known, and a
mirror's links are a mirror of them:

    /main/1.html    links to    /main/2.html, /about.html           fetched
    /mirror/1.html  would to    /mirror/2.html, /about.html         may it be left out?

Yes, if each of these was shown by another page. Otherwise it is fetched, and shows them. Not even where they are almost certainly copies,
too: of what nobody has shown no sample can be fetched, and nothing can be told. Books of which only the first chapters were linked to, and
whose later ones were others than the originals', were left out as a whole with one of their chapters.
"""

from __future__ import annotations

import re
from array import array
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import unquote

from simcrawl.urls.replacements import difference, ends_at_token, name_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Bytes of what is known, about; what a URL takes besides its letters, and what a page takes besides its links.
_MOST_BYTES, _URL_BYTES, _PAGE_BYTES = 128_000_000, 190, 170
MOST_LINKS = 10_000
"""Of a page of more links none are known."""
# For the sake of one URL so many pages are fetched that ought to link to it. Then they do not.
_MOST_SOUGHT, _MOST_TRIES = 10_000, 3

EXPECTED, SIMILAR, APART = range(3)
"""How far a copy's link is foretold. `EXPECTED`: a page has shown it, or its original links to it, or to what stands there in its place.
`SIMILAR`: the original has such a link but for the words of the two pages' addresses. `APART`: neither.
"""
# Letters of an original's links, and of its copy's, that are compared in that way, on the event loop: some 10 ms, or 40 by a hostile site.
_MOST_LETTERS = 100_000
_WORD = re.compile(r"([^\W_]+)")


class _Half:
    """URLs, whether they were shown, and the links of some of them; each URL once."""

    def __init__(self) -> None:
        self.size = 0
        self._numbers: dict[str, int] = {}
        self._urls: list[str] = []
        # By number.
        self._shown = bytearray()
        self._links: dict[int, array[int] | None] = {}

    def show(self, urls: Iterable[str]) -> None:
        # Of each link of each page. Most of them were shown before, so no call is made for these.
        numbers, shown = self._numbers, self._shown
        for url in urls:
            number = numbers.get(url)
            shown[self._add(url) if number is None else number] = True

    def is_shown(self, url: str) -> bool:
        number = self._numbers.get(url)
        return number is not None and bool(self._shown[number])

    def note(self, page: str, links: Sequence[str]) -> None:
        noted = array("I", self._numbered(links)) if len(links) <= MOST_LINKS else None
        self._links[self._numbered([page])[0]] = noted
        self.size += _PAGE_BYTES + (noted.itemsize * len(noted) if noted else 0)

    def has(self, page: str) -> bool:
        return self._numbers.get(page) in self._links

    def of(self, page: str) -> list[str] | None:
        links = self._links[self._numbers[page]]
        return None if links is None else [self._urls[number] for number in links]

    def _numbered(self, urls: Iterable[str]) -> list[int]:
        numbers = self._numbers
        return [self._add(url) if (number := numbers.get(url)) is None else number for url in urls]

    def _add(self, url: str) -> int:
        number = self._numbers[url] = len(self._urls)
        self._urls.append(url)
        self._shown.append(False)
        self.size += _URL_BYTES + len(url)
        return number


class Outlinks:
    """What pages link to that this process has fetched. Not thread-safe.

    The older half is forgotten past some 128 MB, which are the links of some 100,000 pages.

    URLs are those of the requests that a callback yields, without fragments; of others than plain ones with their method and a digest of
    their body behind.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most_bytes
        self._half, self._older = _Half(), _Half()
        self._sought: dict[str, int] = {}

    def show(self, urls: Iterable[str]) -> None:
        """Note that the crawl was shown URLs."""
        self._half.show(map(_without_fragment, urls))
        self._make_room()

    def note(self, page: str, links: Sequence[str]) -> None:
        """Note all links of a page, also those that the crawl is not shown: of another page it might be."""
        self._half.note(page, [*map(_without_fragment, links)])
        self._make_room()

    def _make_room(self) -> None:
        if self._half.size > self._most // 2:
            self._older, self._half = self._half, _Half()

    def hidden(self, url: str, original: str) -> str | None:
        """Return a URL that would not be seen if a page were left out; None where there seems to be none.

        `original`: the page that it is a copy of. The page itself is returned where that one's links are not known: its callback failed, it
        was fetched before a restart or by another process, or too long ago. Whoever fetches the page then says so by `seek`.
        """
        links = self._of(original)
        if links is None:
            return url
        for link in _mirrored(url, original, links):
            if link != url and not self.is_shown(link) and self._sought.get(link, 0) < _MOST_TRIES:
                return link
        return None

    def foretold(self, url: str, original: str) -> Foretold | None:
        """Return what a fetched copy can be expected to ask for; None where the links of its original are not known."""
        links = self._of(original)
        return None if links is None else Foretold(self, url, original, links)

    def is_shown(self, url: str) -> bool:
        """Return whether a page has shown a URL, as far as that is known."""
        return self._half.is_shown(url) or self._older.is_shown(url)

    def _of(self, page: str) -> list[str] | None:
        """Return the links of a page; None where they are not known, or are too many."""
        for half in (self._half, self._older):
            if half.has(page):
                return half.of(page)
        return None

    def is_sought(self, url: str) -> bool:
        """Return whether a page was fetched for the sake of a URL, which may be on its way."""
        return url in self._sought

    def seek(self, url: str) -> None:
        """Note that a page is fetched for the sake of a URL that `hidden` returned."""
        if len(self._sought) >= _MOST_SOUGHT:
            self._sought.clear()
        self._sought[url] = self._sought.get(url, 0) + 1


class Foretold:
    """What the links of an original, and of all pages before, foretell of those of its copy.

    It is asked on the event loop, of each link. So of very many links that are not expected the last ones count as `APART`, without a look.
    That is the safe side: it can only make a crawl skip less.
    """

    def __init__(self, outlinks: Outlinks, url: str, original: str, links: list[str]) -> None:
        self._outlinks, self._url, self._original, self._links = outlinks, url, original, links
        self._letters_left = _MOST_LETTERS

    def of(self, link: str) -> int:
        """Return how far a link of the copy is foretold: `EXPECTED`, `SIMILAR`, or `APART`."""
        link = _without_fragment(link)
        if link == self._url or self._outlinks.is_shown(link) or link in self._linked or self._is_mirrored(link):
            return EXPECTED
        self._letters_left -= len(link)
        if self._letters_left < 0:
            return APART
        return SIMILAR if _shape(link, self._words) in self._shapes else APART

    def _is_mirrored(self, link: str) -> bool:
        """Return whether the original links to what stands there in the place of a link of the copy; or, of a view, if that was shown."""
        if self._difference is None:
            return False
        prefix, run, instead, is_view = self._difference
        if is_view:
            there = link.replace(run, instead, 1) if run else link
            return there != link and (there in self._linked or self._outlinks.is_shown(there))
        there = prefix + instead + link[len(prefix + run) :]
        return link.startswith(prefix + run) and there in self._linked and ends_at_token(there, len(prefix + instead))

    @cached_property
    def _difference(self) -> tuple[str, str, str, bool] | None:
        return _differ(self._url, self._original)

    @cached_property
    def _linked(self) -> frozenset[str]:
        return frozenset(self._links)

    @cached_property
    def _words(self) -> frozenset[str]:
        return _words(self._url)

    @cached_property
    def _shapes(self) -> frozenset[str]:
        lengths = accumulate(map(len, self._links))
        words = _words(self._original)
        return frozenset(_shape(link, words) for link, end in zip(self._links, lengths, strict=True) if end <= _MOST_LETTERS)


def _words(page: str) -> frozenset[str]:
    return frozenset(_WORD.findall(unquote(page)))


def _shape(link: str, words: frozenset[str]) -> str:
    """Return a link without the words of a page's own address, which its copy has in another form."""
    return "".join(["*" if part in words else part for part in _WORD.split(unquote(link))])


def _without_fragment(url: str) -> str:
    return url.partition("#")[0] if "#" in url else url


def _mirrored(url: str, original: str, links: list[str]) -> Iterator[str]:
    """Yield what a copy would link to, where that is something else than what its original links to."""
    found = _differ(url, original)
    # A view of a page (`/a/print/`) leads to what the page itself does, or to views of that.
    if found is None or found[3]:
        return
    prefix, run, instead, _ = found
    start = prefix + instead
    for link in links:
        if link.startswith(start) and ends_at_token(link, len(start)):
            yield prefix + run + link[len(start) :]


def _differ(url: str, original: str) -> tuple[str, str, str, bool] | None:
    """Return what `difference` does, and whether the runs make one of the URLs a view of the other one."""
    found = difference(url, original)
    if found is None:
        return None
    prefix, run, instead = found
    return prefix, run, instead, bool(name_before(prefix, url[len(prefix) + len(run) :], (run, instead))[1])
