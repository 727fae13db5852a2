"""Ways to keep permuted tables in LMDB, and what a page's record adds: query and insert, a page at a time.

    python -m benchmarks.store.layouts [--sizes 1e5,1e6] [--rounds 20]

Random 64-bit fingerprints, k = 3, four tables, a durable commit after every 1000. Contestants take turns, after each was loaded with as
many fingerprints as its row says:

    store       simcrawl's: packed under their prefix, through a log, a slice of the tables folded at a commit
    packed      packed under their prefix, and every place that a commit touches written anew
    duplicates  an entry a fingerprint under its prefix, LMDB's DUPSORT and DUPFIXED
    sorted      the paper's: permuted fingerprints as sorted keys, a range of them read

"with records": `Store.admit` of whole pages, which decides by the recipe's rule (radius 7, bodies, texts) and writes their records and
digests. Microseconds a page are medians over the batches, in brackets CPU time. "bytes each": of the files after loading, in the order of
the columns; "bytes a record": by how much the pages' store is larger than the other one at the end, both compacted. Prints Markdown.
"""

from __future__ import annotations

import argparse
import tempfile
from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import lmdb
import numpy as np

from benchmarks.store.compare import race, row, sizes
from simcrawl.index.packed import Packer
from simcrawl.index.permutations import design
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_text
from simcrawl.store import open_store
from simcrawl.store.maintenance import compact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.store import Store

_RADIUS = 3
_WORDS = 400


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=sizes, default=sizes("1e5,1e6"))
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    row("stored", "store", *(layout.__name__.lower() for layout in LAYOUTS), "with records", "bytes each", "bytes a record")
    row(*["---:"] * (5 + len(LAYOUTS)))
    for size in options.sizes:
        row(f"{size:.0e}", *_compare(size, options.rounds))


class _Layout(ABC):
    """Four tables in LMDB, and what the next commit writes."""

    duplicates = False

    def __init__(self, path: Path, fingerprints: Iterable[int]) -> None:
        self.env = lmdb.open(str(path), map_size=1 << 36, max_dbs=4)
        self.packer = Packer(design("4"))
        self.tables = [self.env.open_db(str(number).encode(), dupsort=self.duplicates, dupfixed=self.duplicates) for number in range(4)]
        self.waiting: list[defaultdict[bytes, bytes]] = [defaultdict(bytes) for _ in self.tables]
        for fingerprint in fingerprints:
            self.add(fingerprint)
        self.commit()
        self.size = _size(path)

    def add(self, fingerprint: int) -> None:
        for waiting, key in zip(self.waiting, self.packer.keys(fingerprint), strict=True):
            waiting[key] += self.packer.pack(fingerprint)

    def batch(self, some: list[int]) -> None:
        for fingerprint in some:
            keys = self.packer.keys(fingerprint)
            with self.env.begin(buffers=True) as txn:
                found = b"".join([*self.candidates(txn, keys), *(held.get(key, b"") for held, key in zip(self.waiting, keys, strict=True))])
            if not self.packer.within(found, fingerprint, _RADIUS):
                self.add(fingerprint)
        self.commit()

    def commit(self) -> None:
        with self.env.begin(write=True, buffers=True) as txn:
            for table, waiting in zip(self.tables, self.waiting, strict=True):
                for key in sorted(waiting):
                    self.write(txn, table, key, waiting[key])
                waiting.clear()

    @abstractmethod
    def candidates(self, txn: Any, keys: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the packed fingerprints under one key a table."""

    @abstractmethod
    def write(self, txn: Any, table: Any, key: bytes, packed: bytes) -> None:
        """Add packed fingerprints under a key."""


class Packed(_Layout):
    """One value a prefix."""

    def candidates(self, txn: Any, keys: Iterable[bytes]) -> Iterator[bytes]:
        return (txn.get(key, b"", table) for table, key in zip(self.tables, keys, strict=True))

    def write(self, txn: Any, table: Any, key: bytes, packed: bytes) -> None:
        txn.put(key, b"".join((txn.get(key, b"", table), packed)), db=table)


class Duplicates(_Layout):
    """One entry a fingerprint, those of a prefix under one key."""

    duplicates = True

    def candidates(self, txn: Any, keys: Iterable[bytes]) -> Iterator[bytes]:
        for table, key in zip(self.tables, keys, strict=True):
            with txn.cursor(table) as cursor:
                yield b"".join(value for _, value in cursor.getmulti([key], dupdata=True, dupfixed_bytes=self.packer.word))

    def write(self, txn: Any, table: Any, key: bytes, packed: bytes) -> None:
        word = self.packer.word
        with txn.cursor(table) as cursor:
            cursor.putmulti([(key, packed[start : start + word]) for start in range(0, len(packed), word)])


class Sorted(_Layout):
    """Keys that begin with the prefix, and end with the whole fingerprint."""

    def candidates(self, txn: Any, keys: Iterable[bytes]) -> Iterator[bytes]:
        for table, key in zip(self.tables, keys, strict=True):
            with txn.cursor(table) as cursor:
                if not cursor.set_range(key):
                    continue
                for found in cursor.iternext(values=False):
                    if found[: len(key)] != key:
                        break
                    yield bytes(found[len(key) :])

    def write(self, txn: Any, table: Any, key: bytes, packed: bytes) -> None:
        word = self.packer.word
        for start in range(0, len(packed), word):
            txn.put(key + packed[start : start + word], b"", db=table)


LAYOUTS: tuple[type[_Layout], ...] = (Packed, Duplicates, Sorted)


def _compare(size: int, rounds: int) -> Iterator[object]:
    noise = np.random.default_rng(size)
    stored = noise.integers(0, 2**64, size, dtype=np.uint64)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        paths = [directory / "bare", directory / "pages"]
        with open_store(paths[0], sync_seconds=inf) as bare, open_store(paths[1], sync_seconds=inf) as pages:
            for store in (bare, pages):
                store.load_fingerprints(stored)
            made = [layout(directory / layout.__name__, stored.tolist()) for layout in LAYOUTS]
            loaded = [_size(paths[0]), *(layout.size for layout in made)]
            contestants: dict[str, Callable[[list[int]], None]] = {"store": partial(_admit, bare)}
            contestants |= {type(layout).__name__: layout.batch for layout in made}
            yield from race(contestants | {"with records": _pages(pages)}, noise, rounds).values()
            admitted = pages.counts()["pages"]
        for path in paths:
            compact(path)
        yield ", ".join(f"{held / size:.0f}" for held in loaded)
        yield f"{(_size(paths[1]) - _size(paths[0])) / admitted:.0f}"


def _size(path: Path) -> int:
    return (path / "data.mdb").stat().st_size


def _admit(store: Store, some: list[int]) -> None:
    for fingerprint in some:
        store.admit_fingerprint(fingerprint, _RADIUS)
    store.sync()


def _pages(store: Store) -> Callable[[list[int]], None]:
    """Return what admits pages with these fingerprints and digests of their own."""
    random = Random(1)
    page = fingerprint_text(" ".join(f"{random.getrandbits(40):x}" for _ in range(_WORDS)))
    if not isinstance(page, PageFingerprint):
        raise TypeError(f"a text of {_WORDS} words is {page}")

    def batch(some: list[int]) -> None:
        for fingerprint in some:
            mark = fingerprint.to_bytes(8, "big") * 2
            url = f"https://www.example.org/articles/{fingerprint}.html"
            store.admit(replace(page, url=url, fingerprint=fingerprint, body_digest=mark, text_digest=mark))
        store.sync()

    return batch


if __name__ == "__main__":
    main()
