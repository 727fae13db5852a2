"""A store that lives and dies with its process: for tests, small crawls, and `SIMCRAWL_STORE = "memory:"`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from simcrawl.simhash import words
from simcrawl.store.base import BaseStore, Duplicate, Header, Reader
from simcrawl.store.index import PageIndex

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage


class MemoryStore(BaseStore):
    """Pages in dictionaries. Exact and atomic like every store; nothing survives."""

    def __init__(self, header: Header | None = None, *, sync_seconds: float = 1.0) -> None:
        super().__init__(header or Header(), sync_seconds=sync_seconds)
        self._committed = PageIndex(self._packer)
        self._duplicates: dict[str, Duplicate] = {}

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        yield self._committed

    def _near(self, fingerprint: int, distance: int) -> dict[int, int]:
        return self._committed.near(fingerprint, distance)

    def _write(self, pages: Sequence[StoredPage], bare: Sequence[int], register: Mapping[str, Duplicate | None]) -> None:
        # Unlike a database this one has no snapshots: a decision under way must not see half of it.
        with self._deciding:
            for stored in pages:
                self._committed.add(stored)
            for fingerprint in bare:
                self._committed.add_bare(fingerprint)
            merged: dict[str, Duplicate | None] = {**self._duplicates, **register}
            self._duplicates = {url: line for url, line in merged.items() if line}

    def _erase(self, url: str) -> bool:
        known = self._duplicates.pop(url, None) is not None
        return self._committed.remove(url) is not None or known

    def _expire(self, before: float, spared: Container[str]) -> Iterator[int]:
        with self._committing, self._deciding:
            old = [stored.page.url for stored in self._committed if stored.last_seen < before and stored.page.url not in spared]
            for url in old:
                self._committed.remove(url)
            self._duplicates = {url: line for url, line in self._duplicates.items() if line.when >= before}
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

    def duplicates(self) -> Iterator[Duplicate]:
        """Yield the committed register of duplicates, the latest line of each URL."""
        yield from list(self._duplicates.values())

    def _duplicate(self, url: str) -> Duplicate | None:
        return self._duplicates.get(url)

    def pages(self) -> Iterator[StoredPage]:
        """Yield the committed pages."""
        yield from list(self._committed)

    def fingerprint_chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct committed fingerprint once, in chunks of words: see `BaseStore.fingerprint_chunks`."""
        with self._deciding:
            held = words(self._committed.all_fingerprints(), bits=self.header.bits)
        for start in range(0, len(held), size):
            yield held[start : start + size]

    def verify(self) -> list[str]:
        """Return no problems: there are no bytes that could rot."""
        return []
