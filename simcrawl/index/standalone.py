"""An index of its own: no pages, no crawl. The door is `simcrawl.index.open_index`."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self

from simcrawl.bits import fitting_rows
from simcrawl.errors import StoreFormatError, StoreMismatchError
from simcrawl.index.durable import DurableIndex
from simcrawl.index.environment import ERRORS, MAP_SIZE, index_databases, mapped_errors, open_environment, own_error
from simcrawl.index.memory import MemoryIndex
from simcrawl.index.packed import Packer
from simcrawl.index.permutations import design as design_by_name
from simcrawl.index.verification import problems
from simcrawl.sealed import seal, unseal

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    import numpy as np
    from lmdb import Environment, Transaction
    from numpy.typing import NDArray

    from simcrawl.index.permutations import Design

_MAGIC = b"simindex1"
_HEADER = b"header"
# Held in memory at most, until they are written: 200 bytes each.
_MOST_WAITING = 1 << 16


class HammingIndex(Protocol):
    """A set of fingerprints that finds all within a Hamming distance. Thread-safe.

    Exact: every fingerprint within the radius is found, whatever the radius, and none beyond it. Fingerprints are ints below
    2 ** `design.bits`; a method that gets another one raises ValueError. A method that cannot read or write the files raises StoreError.
    """

    design: Design

    def __len__(self) -> int:
        """Return how many fingerprints there are."""

    def __contains__(self, fingerprint: int) -> bool:
        """Return whether a fingerprint is there."""

    def within(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all that lie within the radius."""

    def insert(self, fingerprint: int) -> bool:
        """Insert a fingerprint; return whether it is new. Found from now on, here; see `sync`."""

    def remove(self, fingerprint: int) -> bool:
        """Remove a fingerprint; return whether it was there. Durable when it returns."""

    def load(self, fingerprints: Iterable[int] | NDArray[np.uint64]) -> None:
        """Insert many at once, several times as fast; those that are there have no effect. Durable when it returns."""

    def chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every fingerprint once, in no order, as rows of words of shape (about `size`, words): see `simcrawl.bits.to_rows`."""

    def verify(self) -> list[str]:
        """Return what is wrong with what is stored, a line each. Reads everything."""

    def sync(self) -> None:
        """Let all that was inserted be on disk when this returns, and be found by other processes."""

    def close(self) -> None:
        """Sync, and release the files."""

    def __enter__(self) -> Self:
        """Return the index; leaving the block closes it."""

    def __exit__(self, *_: object) -> None:
        """Close the index."""


def open_index(
    path: str | os.PathLike[str] | None = None,
    *,
    bits: int | None = None,
    design: str | None = None,
    sync_seconds: float = 1.0,
    memory: int | None = None,
    map_size: int = MAP_SIZE,
) -> HammingIndex:
    """Return an index in a directory, made where there is none; without a path one in memory.

    `bits`, 64 by default, and `design`, "4" by default, are for a new index and checked against an old one: see
    `simcrawl.index.permutations.choose_design`. `sync_seconds`: how long what is inserted may wait to be written. `memory`: the bytes that
    fingerprints on disk may take in memory besides, by default 192 MB.

    Several processes may have one index open, each once; the index must be closed before the process forks.

    Raises:
        ValueError: there are no fingerprints of that width, or no such design.
        StoreFormatError: something else is there.
        StoreMismatchError: the index was made with other values.
        StoreError: the directory cannot be read or written.
    """
    if path is None:
        return _InMemory(design_by_name(design or "4", bits or 64))
    return _OnDisk(Path(path).expanduser().resolve(), bits, design, sync_seconds=sync_seconds, memory=memory, map_size=map_size)


class _Shared:
    """What both kinds share."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._lock = Lock()
        self._beyond = 1 << design.bits

    def _checked(self, fingerprint: int) -> int:
        if not 0 <= fingerprint < self._beyond:
            raise ValueError(f"{fingerprint} is no {self.design.bits}-bit fingerprint, which is what the index holds")
        return fingerprint

    def sync(self) -> None:
        """Let all be on disk: see `HammingIndex`."""

    def close(self) -> None:
        """Sync, and release the files."""
        self.sync()

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the index."""
        self.close()


class _InMemory(_Shared):
    """An index that lives and dies with its process."""

    def __init__(self, design: Design) -> None:
        super().__init__(design)
        self._index = MemoryIndex(Packer(design))

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, fingerprint: int) -> bool:
        return fingerprint in self._index

    def within(self, fingerprint: int, distance: int) -> dict[int, int]:
        with self._lock:
            return self._index.within(self._checked(fingerprint), distance)

    def insert(self, fingerprint: int) -> bool:
        with self._lock:
            return self._index.insert(self._checked(fingerprint))

    def remove(self, fingerprint: int) -> bool:
        with self._lock:
            return self._index.remove(self._checked(fingerprint))

    def load(self, fingerprints: Iterable[int] | NDArray[np.uint64]) -> None:
        with self._lock:
            self._index.load(fitting_rows(fingerprints, bits=self.design.bits))

    def chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        with self._lock:
            return self._index.chunks(size)

    def verify(self) -> list[str]:
        return []


class _OnDisk(_Shared):
    """An index in an LMDB environment of its own. What was inserted waits in memory, where it is found, for the next group commit."""

    def __init__(self, path: Path, bits: int | None, design: str | None, *, sync_seconds: float, memory: int | None, map_size: int) -> None:
        self.path = path
        self._sync_seconds = sync_seconds
        with mapped_errors(path), ExitStack() as opened:
            path.mkdir(parents=True, exist_ok=True)
            self._env: Environment = opened.enter_context(open_environment(path, map_size))
            super().__init__(_design(path, self._env, bits, design))
            self._index = DurableIndex(self.design, index_databases(self._env, self.design), memory=memory)
            self._close = opened.pop_all().close
        self._waiting: set[int] = set()
        self._last_sync = monotonic()

    def _reading(self) -> Transaction[Any]:
        return self._env.begin(buffers=True)

    def _writing(self) -> Transaction[Any]:
        return self._env.begin(write=True, buffers=True)

    def __len__(self) -> int:
        self.sync()
        with mapped_errors(self.path), self._reading() as txn:
            return self._index.count(txn)

    def __contains__(self, fingerprint: int) -> bool:
        with mapped_errors(self.path), self._lock, self._reading() as txn:
            return fingerprint in self._waiting or self._index.contains(txn, self._checked(fingerprint))

    def within(self, fingerprint: int, distance: int) -> dict[int, int]:
        self._checked(fingerprint)
        # No context managers of our own here and below: they would cost a quarter of the look-up.
        try:
            with self._lock, self._env.begin(buffers=True) as txn:
                return self._index.within(txn, fingerprint, distance)
        except ERRORS as exc:
            raise own_error(self.path, exc) from exc

    def insert(self, fingerprint: int) -> bool:
        self._checked(fingerprint)
        try:
            with self._lock:
                if fingerprint in self._waiting:
                    return False
                with self._env.begin(buffers=True) as txn:
                    if self._index.contains(txn, fingerprint):
                        return False
                self._waiting.add(fingerprint)
                self._index.hold(fingerprint)
                if len(self._waiting) >= _MOST_WAITING or monotonic() - self._last_sync >= self._sync_seconds:
                    self._write()
        except ERRORS as exc:
            raise own_error(self.path, exc) from exc
        return True

    def remove(self, fingerprint: int) -> bool:
        with mapped_errors(self.path), self._lock:
            self._write()
            with self._writing() as txn:
                changes = self._index.writing(txn)
                known = self._checked(fingerprint) in changes
                if known:
                    changes.remove(fingerprint)
                changes.finish()
            changes.committed()
        return known

    def load(self, fingerprints: Iterable[int] | NDArray[np.uint64]) -> None:
        rows = fitting_rows(fingerprints, bits=self.design.bits)
        with mapped_errors(self.path), self._lock:
            self._write()
            self._index.load(rows, self._writing)

    def chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        self.sync()
        with mapped_errors(self.path), self._reading() as txn:
            yield from self._index.chunks(txn, size)

    def verify(self) -> list[str]:
        with mapped_errors(self.path), self._reading() as txn:
            return list(problems(self._index, txn))

    def sync(self) -> None:
        with mapped_errors(self.path), self._lock:
            self._write()

    def _write(self) -> None:
        self._last_sync = monotonic()
        if not self._waiting:
            return
        with self._writing() as txn:
            changes = self._index.writing(txn)
            # Looked at again: another process may have inserted some meanwhile.
            for fingerprint in self._waiting:
                changes.insert(fingerprint)
            changes.finish()
        changes.committed(self._waiting)
        self._waiting = set()

    def close(self) -> None:
        try:
            self.sync()
        finally:
            self._close()


def _design(path: Path, env: Environment, bits: int | None, design: str | None) -> Design:
    """Return the design that an index was made with; that of a new one is written."""
    with env.begin() as txn:
        names = set(txn.cursor().iternext(keys=True, values=False))
    if names and b"meta" not in names:
        raise StoreFormatError(f"{path} is an LMDB environment of something else: give the path of an index, or of a new directory")
    meta = env.open_db(b"meta")
    with env.begin(write=True) as txn:
        found = txn.get(_HEADER, db=meta)
        if found is None:
            made = design_by_name(design or "4", bits or 64)
            txn.put(_HEADER, _MAGIC + seal(json.dumps({"bits": made.bits, "design": made.name}).encode()), db=meta)
            return made
    if not bytes(found).startswith(_MAGIC):
        raise StoreFormatError(
            f"{path} holds no index of its own (found {bytes(found)!r:.40}): for a store of pages use simcrawl.open_store"
        )
    values = json.loads(unseal(bytes(found)[len(_MAGIC) :], f"the header of {path}"))
    for name, wanted in (("bits", bits), ("design", design)):
        if wanted not in (None, values[name]):
            raise StoreMismatchError(f"{path} was made with {name} {values[name]}, not {wanted}: leave {name} out, or use another path")
    return design_by_name(values["design"], values["bits"])
