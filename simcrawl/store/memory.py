"""Committed pages that live and die with their process: for tests, small crawls, and `SIMCRAWL_STORE = "memory:"`."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import replace
from heapq import nlargest
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Any

from simcrawl.bits import to_rows
from simcrawl.index.packed import Packer
from simcrawl.store.committed import MOST_CRAWLS
from simcrawl.store.crawl_note import LOADED, Joined, Note, checked_name
from simcrawl.store.header import Header
from simcrawl.store.page_index import PageIndex
from simcrawl.store.rejections import url_key
from simcrawl.store.store import Store
from simcrawl.store.visits import VisitsInMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage
    from simcrawl.store.committed import Batch, Step
    from simcrawl.store.crawl_note import Home
    from simcrawl.store.register import Duplicate
    from simcrawl.store.rejections import Rejection
    from simcrawl.store.visits import Visits


def memory_store(header: Header | None = None, *, sync_seconds: float = 1.0) -> Store:
    """Return a new store in memory."""
    return Store(MemoryPages(header or Header()), _MemoryHomes(), sync_seconds=sync_seconds)


class MemoryPages:
    """Pages in dictionaries: a `CommittedPages`, and its own `Reader`, which is always of this moment."""

    readonly = False
    searches_bare = True
    others_wrote = is_gone = False

    def __init__(self, header: Header) -> None:
        self.header = header
        self.deciding = Lock()
        self._index = PageIndex(Packer(header.design_of_tables))
        self._register: dict[str, Duplicate] = {}
        self._rejections: dict[tuple[str, str], Rejection] = {}
        self._apart: frozenset[bytes] = frozenset()
        self._texts: dict[str, bytes] = {}
        self._visits: dict[bytes, bytes] = {}
        self._last_visits: dict[str, VisitsInMemory] = {}
        self._crawls: list[dict[str, Any]] = []
        # The usual questions go straight there.
        index = self._index
        self.page, self.with_body, self.with_text = index.page, index.with_body, index.with_text
        self.near, self.with_fingerprint, self.is_bare = index.near, index.with_fingerprint, index.is_bare
        self.candidates = index.with_fingerprint

    @contextmanager
    def reading(self) -> Iterator[MemoryPages]:
        """Return this: see `CommittedPages`."""
        yield self

    # ---- a reader

    def holds_any_apart(self) -> bool:
        """Return whether there are rejections at all."""
        return bool(self._apart)

    def holds_apart(self, pairs: Iterable[bytes]) -> bool:
        """Return whether one of these pairs of names is among the rejections."""
        return not self._apart.isdisjoint(pairs)

    def pages(self, latest: int | None = None) -> Iterator[StoredPage]:
        """Yield the pages."""
        pages = list(self._index)
        yield from pages if latest is None else nlargest(latest, pages, key=attrgetter("last_seen"))

    def duplicate(self, url: str) -> Duplicate | None:
        """Return the line of the register for a URL."""
        return self._register.get(url)

    def duplicates(self, latest: int | None = None) -> Iterator[Duplicate]:
        """Yield the register."""
        lines = list(self._register.values())
        yield from lines if latest is None else nlargest(latest, lines, key=attrgetter("when"))

    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back."""
        yield from list(self._rejections.values())

    def text(self, url: str) -> bytes | None:
        """Return the packed text of a URL."""
        return self._texts.get(url)

    def visit(self, key: bytes) -> bytes | None:
        """Return what was noted under the key of a visit."""
        return self._visits.get(key)

    def visits(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the visits whose keys begin so, in the order of their keys."""
        return iter(sorted(row for row in self._visits.items() if row[0].startswith(prefix)))

    def urls_of(self, keys: Collection[bytes]) -> list[str]:
        """Return the URLs of pages whose keys these are."""
        wanted = set(keys)
        return [stored.page.url for stored in self._index if url_key(stored.page.url, self.header.seed) in wanted]

    def crawls(self) -> list[dict[str, Any]]:
        """Return the records of crawls, the latest last."""
        return list(self._crawls)

    def chunks(self, size: int) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct fingerprint once, as words."""
        with self.deciding:
            held = to_rows(self._index.all_fingerprints(), bits=self.header.bits)
        for start in range(0, len(held), size):
            yield held[start : start + size]

    def counts(self) -> dict[str, int]:
        """Return the numbers of pages, fingerprints and lines, and no bytes."""
        fingerprints = self._index.fingerprints
        return {"pages": len(self._index), "fingerprints": fingerprints, "duplicates": len(self._register), "bytes": 0}

    def problems(self) -> list[str]:
        """Return nothing: there are no bytes that could rot."""
        return []

    # ---- writes

    def hold(self, fingerprint: int) -> None:
        """Do nothing: the claims' index finds it."""

    def bind(self, recipe: str) -> None:
        """Remember the recipe."""
        self.header = replace(self.header, recipe=recipe)

    def write(self, batch: Batch) -> None:
        """Commit a batch: a decision under way must not see half of it."""
        with self.deciding:
            for stored in batch.pages:
                known = self._index.page(stored.page.url)
                if known and known.page.body_digest != stored.page.body_digest:
                    self._texts.pop(stored.page.url, None)
                self._index.add(stored)
            for fingerprint in batch.bare:
                self._index.add_bare(fingerprint)
            lines: dict[str, Duplicate | None] = {**self._register, **batch.register}
            self._register = {url: line for url, line in lines.items() if line}
            self._visits.update(batch.visits)

    def erase(self, url: str) -> bool:
        """Remove a page and the line of its URL."""
        known = self._register.pop(url, None) is not None
        self._texts.pop(url, None)
        return self._index.remove(url) is not None or known

    def expire(self, before: float, spared: Container[str], step: Step | None) -> tuple[int, Step | None]:  # noqa: ARG002 - one step does it
        """Remove pages and lines from before a moment."""
        with self.deciding:
            old = [stored.page.url for stored in self._index if stored.last_seen < before and stored.page.url not in spared]
            for url in old:
                self._index.remove(url)
            self._register = {url: line for url, line in self._register.items() if line.when >= before}
            # A text stays as long as its page or its line.
            self._texts = {url: text for url, text in self._texts.items() if url in self._index or url in self._register}
        return len(old), None

    def count_old(self, before: float, step: Step | None) -> tuple[int, Step | None]:  # noqa: ARG002 - as above
        """Count pages from before a moment."""
        with self.deciding:
            return sum(stored.last_seen < before for stored in self._index), None

    def load(self, fingerprints: NDArray[np.uint64]) -> None:
        """Insert fingerprints without pages."""
        for row in fingerprints:
            self._index.add_bare(int.from_bytes(row.tobytes(), "little"))

    def write_texts(self, texts: Mapping[str, bytes], most: int) -> int:
        """Write packed texts; return how many found no space."""
        held, refused = sum(map(len, self._texts.values())), 0
        for url, packed in texts.items():
            grown = held + len(packed) - len(self._texts.get(url, b""))
            refused += grown > most
            if grown <= most:
                self._texts[url], held = packed, grown
        return refused

    def write_rejection(self, rejection: Rejection, lines: Sequence[Duplicate]) -> None:
        """Write a rejection, and the lines that it marks."""
        self._rejections[rejection.url, rejection.original] = rejection
        self._hold_apart(lines)

    def erase_rejection(self, rejection: Rejection, lines: Sequence[Duplicate]) -> None:
        """Remove a rejection, and write the lines that it had marked."""
        del self._rejections[rejection.url, rejection.original]
        self._hold_apart(lines)

    def _hold_apart(self, lines: Sequence[Duplicate]) -> None:
        self._register |= {line.url: line for line in lines}
        self._apart = frozenset[bytes]().union(*(one.names(self.header.seed) for one in self._rejections.values()))

    def note_crawl(self, record: Mapping[str, Any]) -> None:
        """Record what became of a crawl."""
        self._crawls = [*self._crawls, dict(record)][-MOST_CRAWLS:]

    def last_visits(self, spider: str) -> Visits | None:
        """Return what the last finished crawl of a spider saw."""
        return self._last_visits.get(spider)

    def keep_visits(self, spider: str, visits: Iterable[tuple[bytes, bytes]]) -> None:
        """Let these be what the last finished crawl of a spider saw."""
        self._last_visits[spider] = VisitsInMemory(visits)

    def size(self) -> dict[str, int]:
        """Return the number of pages, and no bytes."""
        return {"pages": len(self._index), "bytes": 0}

    def close(self) -> None:
        """Do nothing: there are no files."""


class _MemoryHome:
    """Where the runs of a crawl in memory meet."""

    def __init__(self, note: Note, own: Store, under_way: dict[str, _MemoryHome]) -> None:
        self.note, self.own, self.runs = note, own, 0
        self._under_way = under_way
        under_way[note.id] = self

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:  # noqa: ARG002 - there is nothing to close
        """Leave the crawl: see `simcrawl.store.crawl_note.Home`."""
        update(self.note)
        self.runs -= 1
        if self.runs:
            return False
        del self._under_way[self.note.id]
        end(self.note)
        return True


class _MemoryHomes:
    """The crawls on a store in memory: see `simcrawl.store.store.Homes`. None of them outlives the store."""

    def __init__(self) -> None:
        self._under_way: dict[str, _MemoryHome] = {}
        self._loaded: Store | None = None

    def join(self, store: Store, name: str | None, *, spider: str, resume: str | None, job: str | None) -> tuple[Store, Home, Joined]:  # noqa: ARG002 - nothing survives the process, so no run is resumed
        """Return where a crawl on a store meets."""
        checked_name(name)
        home = next((home for home in self._under_way.values() if name is not None and home.note.name == name), None)
        others = home is not None
        if home is None:
            home = _MemoryHome(Note(secrets.token_hex(8), name), self._own_store(store), self._under_way)
        home.runs += 1
        home.note.begin(spider, None, resumed=False)
        return home.own, home, Joined(home.note, others=others)

    def _own_store(self, store: Store) -> Store:
        own = memory_store(store.header, sync_seconds=store.sync_seconds)
        own.belong_to(store)
        own.see_loaded(lambda: self._loaded)
        return own

    def join_loaded(self, store: Store) -> tuple[Store, Home, Joined]:
        """Return where the crawl of the loaded pages meets."""
        if self._loaded is None:
            self._loaded = self._own_store(store)
            for home in self._under_way.values():
                home.own.see_loaded(lambda: self._loaded)
        home = _MemoryHome(Note(LOADED), self._loaded, {})
        home.runs += 2
        return home.own, home, Joined(home.note)

    @contextmanager
    def spaces(self, store: Store, *, crawls: bool) -> Iterator[list[Store]]:  # noqa: ARG002 - there is one store
        """Give the stores of the loaded pages, and of each crawl."""
        loaded = [self._loaded] if self._loaded else []
        yield [*loaded, *(home.own for home in self._under_way.values())] if crawls else loaded
