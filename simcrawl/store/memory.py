"""A store that lives and dies with its process: for tests, small crawls, and `SIMCRAWL_STORE = "memory:"`."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from heapq import nlargest
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from simcrawl.bits import words
from simcrawl.store.base import MOST_CRAWLS, NOTHING, BaseStore, Duplicate, Header, Reader
from simcrawl.store.crawls import LOADED, Crawl, Joined, Note, checked_name
from simcrawl.store.index import PageIndex
from simcrawl.store.rejections import url_key
from simcrawl.store.visits import VisitsInMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage
    from simcrawl.store.rejections import Rejection
    from simcrawl.store.visits import Visits


class _Committed(PageIndex):
    """Pages, and the pairs of names that are held apart."""

    apart: frozenset[bytes] = frozenset()

    def holds_apart(self, pairs: Iterable[bytes]) -> bool:
        """Return whether one of these pairs of names is held apart."""
        return not self.apart.isdisjoint(pairs)


class _MemoryHome:
    """Where the runs of a crawl in memory meet."""

    def __init__(self, note: Note, own: MemoryStore, under_way: dict[str, _MemoryHome]) -> None:
        self.note, self.own, self.runs = note, own, 0
        self._under_way = under_way
        under_way[note.id] = self

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:  # noqa: ARG002 - there is nothing to close
        """Leave the crawl: see `simcrawl.store.crawls.Home`."""
        update(self.note)
        self.runs -= 1
        if self.runs:
            return False
        del self._under_way[self.note.id]
        end(self.note)
        return True


class MemoryStore(BaseStore):
    """Pages in dictionaries. Exact and atomic like every store; nothing survives."""

    def __init__(self, header: Header | None = None, *, sync_seconds: float = 1.0) -> None:
        super().__init__(header or Header(), sync_seconds=sync_seconds)
        self._committed = _Committed(self._packer)
        self._duplicates: dict[str, Duplicate] = {}
        self._contents: dict[str, bytes] = {}
        self._crawls: list[dict[str, Any]] = []
        self._rejections: dict[tuple[str, str], Rejection] = {}
        self._seen: dict[bytes, bytes] = {}
        self._last: dict[str, VisitsInMemory] = {}
        self._under_way: dict[str, _MemoryHome] = {}
        self._loaded_pages: MemoryStore | None = None

    # ---- crawls

    def join(self, name: str | None = None, *, spider: str = "", resume: str | None = None, job: str | None = None) -> Crawl:  # noqa: ARG002 - nothing survives the process, so no run is resumed
        """Return a crawl on this store: see `BaseStore.join`. None of them outlives the store."""
        checked_name(name)
        home = next((home for home in self._under_way.values() if name is not None and home.note.name == name), None)
        others = home is not None
        if home is None:
            home = _MemoryHome(Note(secrets.token_hex(8), name), self._own_store(), self._under_way)
        home.runs += 1
        home.note.begin(spider, None, resumed=False)
        return Crawl(self, home.own, home, Joined(home.note, others=others), spider=spider)

    def _own_store(self) -> MemoryStore:
        own = MemoryStore(self.header, sync_seconds=self.sync_seconds)
        own.belong_to(self)
        own.see_loaded(lambda: self._loaded_pages)
        return own

    def join_loaded(self) -> Crawl:
        """Return the crawl of the loaded pages: see `BaseStore.join_loaded`."""
        if self._loaded_pages is None:
            self._loaded_pages = self._own_store()
            for home in self._under_way.values():
                home.own.see_loaded(lambda: self._loaded_pages)
        home = _MemoryHome(Note(LOADED), self._loaded_pages, {})
        home.runs += 2
        return Crawl(self, home.own, home, Joined(home.note))

    @contextmanager
    def _spaces(self, *, crawls: bool = True) -> Iterator[Sequence[BaseStore]]:
        loaded = [self._loaded_pages] if self._loaded_pages else []
        yield [*loaded, *(home.own for home in self._under_way.values())] if crawls else loaded

    def last_visits(self, spider: str) -> Visits | None:
        """Return what the last finished crawl of a spider saw."""
        return self._last.get(spider)

    def keep_visits(self, spider: str, visits: Iterable[tuple[bytes, bytes]]) -> None:
        """Let these be what the last finished crawl of a spider saw."""
        self._last[spider] = VisitsInMemory(visits)

    def _visited(self, key: bytes) -> bytes | None:
        return self._seen.get(key)

    def visits(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the committed visits whose keys begin so, in the order of their keys."""
        return iter(sorted(row for row in self._seen.items() if row[0].startswith(prefix)))

    def urls_of(self, keys: Collection[bytes]) -> list[str]:
        """Return the URLs of committed pages whose keys these are."""
        wanted = set(keys)
        return [stored.page.url for stored in self._committed if url_key(stored.page.url, self.header.seed) in wanted]

    # ---- pages

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        yield self._committed

    def _near(self, fingerprint: int, distance: int) -> dict[int, int]:
        return self._committed.near(fingerprint, distance)

    def _hold(self, fingerprint: int) -> None:
        pass

    def _write(
        self,
        pages: Sequence[StoredPage],
        bare: Sequence[int],
        register: Mapping[str, Duplicate | None],
        visits: Mapping[bytes, bytes] = NOTHING,
    ) -> None:
        # Unlike a database this one has no snapshots: a decision under way must not see half of it.
        with self._deciding:
            for stored in pages:
                known = self._committed.page(stored.page.url)
                if known and known.page.body_digest != stored.page.body_digest:
                    self._contents.pop(stored.page.url, None)
                self._committed.add(stored)
            for fingerprint in bare:
                self._committed.add_bare(fingerprint)
            merged: dict[str, Duplicate | None] = {**self._duplicates, **register}
            self._duplicates = {url: line for url, line in merged.items() if line}
            self._seen.update(visits)

    def _erase(self, url: str) -> bool:
        known = self._duplicates.pop(url, None) is not None
        self._contents.pop(url, None)
        return self._committed.remove(url) is not None or known

    def _expire(self, before: float, spared: Container[str]) -> Iterator[int]:
        with self._committing, self._deciding:
            old = [stored.page.url for stored in self._committed if stored.last_seen < before and stored.page.url not in spared]
            for url in old:
                self._committed.remove(url)
            self._duplicates = {url: line for url, line in self._duplicates.items() if line.when >= before}
            # A text stays as long as its page or its line.
            self._contents = {url: text for url, text in self._contents.items() if url in self._committed or url in self._duplicates}
        yield len(old)

    def _load(self, fingerprints: NDArray[np.uint64]) -> None:
        for row in fingerprints:
            self._committed.add_bare(int.from_bytes(row.tobytes(), "little"))

    def _bind(self, recipe: str) -> None:
        pass

    def counts(self) -> dict[str, int]:
        """Return the committed numbers: pages, fingerprints, duplicates, bytes."""
        return {
            "pages": len(self._committed),
            "fingerprints": self._committed.fingerprints,
            "duplicates": len(self._duplicates),
            "bytes": 0,
        }

    def size(self) -> dict[str, int]:
        """Return the committed pages and bytes."""
        return {"pages": len(self._committed), "bytes": 0}

    def duplicates(self, *, latest: int | None = None) -> Iterator[Duplicate]:
        """Yield the committed register of duplicates: see `BaseStore.duplicates`."""
        lines = list(self._duplicates.values())
        yield from lines if latest is None else nlargest(latest, lines, key=attrgetter("when"))

    def _duplicate(self, url: str) -> Duplicate | None:
        return self._duplicates.get(url)

    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back."""
        yield from list(self._rejections.values())

    def _write_rejection(self, rejection: Rejection, marked: Sequence[Duplicate]) -> None:
        self._rejections[rejection.url, rejection.original] = rejection
        self._duplicates |= {line.url: line for line in marked}
        self._hold_apart()

    def _erase_rejection(self, rejection: Rejection, unmarked: Sequence[Duplicate]) -> None:
        del self._rejections[rejection.url, rejection.original]
        self._duplicates |= {line.url: line for line in unmarked}
        self._hold_apart()

    def _hold_apart(self) -> None:
        self._committed.apart = frozenset[bytes]().union(*(one.names(self.header.seed) for one in self._rejections.values()))

    def pages(self, *, latest: int | None = None) -> Iterator[StoredPage]:
        """Yield the committed pages: see `BaseStore.pages`."""
        pages = list(self._committed)
        yield from pages if latest is None else nlargest(latest, pages, key=attrgetter("last_seen"))

    def fingerprint_chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct committed fingerprint once, in chunks of words: see `BaseStore.fingerprint_chunks`."""
        with self._deciding:
            held = words(self._committed.all_fingerprints(), bits=self.header.bits)
        for start in range(0, len(held), size):
            yield held[start : start + size]

    def _write_texts(self, texts: Mapping[str, bytes], most: int) -> int:
        held, refused = sum(map(len, self._contents.values())), 0
        for url, packed in texts.items():
            grown = held + len(packed) - len(self._contents.get(url, b""))
            refused += grown > most
            if grown <= most:
                self._contents[url], held = packed, grown
        return refused

    def _text(self, url: str) -> bytes | None:
        return self._contents.get(url)

    def note_crawl(self, record: Mapping[str, Any]) -> None:
        """Record what became of a crawl."""
        self._crawls = [*self._crawls, dict(record)][-MOST_CRAWLS:]

    def crawls(self) -> list[dict[str, Any]]:
        """Return the records of crawls, the latest last."""
        return list(self._crawls)

    def verify(self) -> list[str]:
        """Return no problems: there are no bytes that could rot."""
        return []
