"""URLs in which upper and lower case are one: another kind of rewrite rule, for `/Boats/List.aspx?ID=7` and `/boats/list.aspx?id=7`.

    a copy and its original that differ in case alone ──► a rule of their host
    fetched page of such a host ──► Spellings.add
    URL ──► Spellings.twin ──► the first fetched page that differs from it in case alone

As a run of tokens, "Boats" for "boats" would have to be learned of each word for itself. The twin need not be in lower case: nobody knows
how a URL is written that came first, so those of such hosts are kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.urls.classes import Address, host_and_port

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_HOSTS, _MOST_PAGES, _LONGEST = 200, 40_000, 300
# The same in upper and in lower case everywhere (RFC 3986, 2.1).
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")


class AnyCase(NamedTuple):
    """On a host upper and lower case are one: what this rule is called among others."""

    host: str


class Spellings:
    """Hosts where copies differed from their originals in case alone, and the pages fetched from them."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._hosts: set[str] = set()
        # By digests of URLs in lower case. When they are too many, the older half is forgotten.
        self._pages: dict[int, str] = {}
        self._older: dict[int, str] = {}

    def copy(self) -> Spellings:
        """Return the same hosts, without the pages."""
        made = Spellings(self._seed)
        made._hosts.update(self._hosts)
        return made

    def learn(self, host: str, fetched: Iterable[str]) -> bool:
        """Take a host, and those of it among the pages that were fetched lately, the oldest first; return whether it is new.

        Past 200 hosts none is taken. To let go of another one would have its pages tried again, and again.
        """
        if host in self._hosts or len(self._hosts) >= _MOST_HOSTS:
            return False
        self._hosts.add(host)
        for url in fetched:
            self.add(url)
        return True

    def add(self, url: str) -> None:
        """Note a page that was fetched, unless its URL is very long."""
        if not self._hosts or len(url) > _LONGEST or host_and_port(url) not in self._hosts:
            return
        key = self._key(url)
        if key in self._pages or key in self._older:
            return
        if len(self._pages) >= _MOST_PAGES // 2:
            self._older, self._pages = self._pages, {}
        self._pages[key] = url

    def twin(self, url: str) -> str | None:
        """Return the first page that was fetched of those that differ in case alone, None where that is the URL itself, or none was."""
        if not self._hosts or host_and_port(url) not in self._hosts:
            return None
        key = self._key(url)
        found = self._pages.get(key) or self._older.get(key)
        # Parameters in another order are one page, as elsewhere.
        return found if found and Address(_escaped(found), self._seed).key != Address(_escaped(url), self._seed).key else None

    def _key(self, url: str) -> int:
        return Address(url.lower(), self._seed).key


def differ_in_case(url: str, other: str) -> bool:
    """Return whether two URLs are the same but for upper and lower case, and not in escapes alone."""
    return url.lower() == other.lower() and _escaped(url) != _escaped(other)


def differ_in_values(url: str, other: str) -> bool:
    """Return whether two URLs that are the same but for case have parameters with other values."""
    return _values(url) != _values(other)


def _escaped(url: str) -> str:
    return _ESCAPE.sub(lambda found: found[0].upper(), url)


def _values(url: str) -> list[str]:
    return sorted(pair.partition("=")[2] for pair in _escaped(url).partition("?")[2].split("&"))
