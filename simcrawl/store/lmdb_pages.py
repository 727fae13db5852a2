"""Committed pages on disk: page records, their owners and the register in one LMDB environment, over a durable index.

Bytes: `docs/store-format.md`. Who opens and shares the files: `simcrawl.store.opening`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf
from threading import Lock, RLock
from time import monotonic
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreMismatchError
from simcrawl.index.environment import ERRORS, mapped_errors, own_error
from simcrawl.sealed import seal, unseal
from simcrawl.store.crawl_files import SPIDERS
from simcrawl.store.files import is_current, is_gone, mode_of
from simcrawl.store.header_bytes import HEADER, format_header, parse_header
from simcrawl.store.snapshot import Files, Place, Snapshot, Writer, put_crawl, put_no_pages, put_texts
from simcrawl.store.verification import problems
from simcrawl.store.visits import read_visits, spider_key, write_visits

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy as np
    from lmdb import Transaction
    from numpy.typing import NDArray

    from simcrawl.store.committed import Batch, Step
    from simcrawl.store.header import Header
    from simcrawl.store.register import Duplicate
    from simcrawl.store.rejections import Rejection
    from simcrawl.store.visits import Visits

_READERS_SECONDS = 60.0
_FIRST = Place("pages", b"")
_NOTED = b"noted"


class _Reading:
    """A view of one moment, within its transaction. Each decision opens three: as a generator it would take twice as long."""

    def __init__(self, path: Path, begin: Callable[[], Snapshot]) -> None:
        self._path, self._begin = path, begin
        self._snapshot: Snapshot | None = None

    def __enter__(self) -> Snapshot:
        try:
            self._snapshot = self._begin()
        except ERRORS as exc:
            raise own_error(self._path, exc) from exc
        return self._snapshot

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._snapshot:
            self._snapshot.txn.abort()
        if isinstance(error, ERRORS):
            raise own_error(self._path, error) from error


class LmdbPages:
    """Pages in an environment: a `CommittedPages`.

    A group commit is one synced transaction, so a crash at any moment leaves pages that open and pass `Reader.problems`.
    `open_again`: opens the files that `compact` or `rebuild` have put in place.
    """

    searches_bare = False

    def __init__(self, path: Path, files: Files, open_again: Callable[[], Files]) -> None:
        self.path = path
        self.readonly = bool(files.env.flags()["readonly"])
        self.deciding = Lock()
        self._files = files
        self._open_again = open_again
        self._opening = RLock()
        self._readers_checked = -inf
        # Of the index after this process's last group commit, at first as it was opened: where it still stands, decisions knew all that the
        # next one finds.
        with files.env.begin(buffers=True) as txn:
            self._own_version = files.index.version(txn)

    @property
    def header(self) -> Header:
        """What the store was made with."""
        return self._files.header

    @property
    def is_gone(self) -> bool:
        """Whether somebody has removed or replaced the files."""
        return is_gone(self.path, self._files.data)

    def close(self) -> None:
        """Release the files."""
        self._files.close()

    # ---- reading

    def _current(self) -> Files:
        """Return the files; those of other data where `compact` or `rebuild` put them in place, which waits for no reader."""
        if self.readonly and not is_current(self.path, self._files.data):
            with self._opening:
                if not is_current(self.path, self._files.data):
                    # The old ones are closed by the last transaction that reads them.
                    self._files = self._open_again()
        return self._files

    def reading(self) -> AbstractContextManager[Snapshot]:
        """Return a view of one moment: see `CommittedPages`."""
        return _Reading(self.path, self._begun)

    def _begun(self) -> Snapshot:
        files = self._current()
        return Snapshot(files.env.begin(buffers=True), files, own_version=self._own_version)

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all within the radius: see `CommittedPages`."""
        # No context managers of our own here: they would cost a third of the look-up.
        try:
            files = self._current()
            with files.env.begin(buffers=True) as txn:
                return files.index.within(txn, fingerprint, distance)
        except ERRORS as exc:
            raise own_error(self.path, exc) from exc

    def hold(self, fingerprint: int) -> None:
        """Let `near` find a fingerprint that is yet to be written."""
        self._files.index.hold(fingerprint)

    def size(self) -> dict[str, int]:
        """Return the numbers of pages and bytes."""
        with self.reading() as snapshot:
            return snapshot.size()

    def last_visits(self, spider: str) -> Visits | None:
        """Return what the last finished crawl of a spider saw; None where there was none, or it is damaged."""
        return read_visits(self._visits_file(spider))

    def problems(self) -> list[str]:
        """Return what is wrong, a line each."""
        with self.reading() as snapshot:
            return list(problems(snapshot))

    def _visits_file(self, spider: str) -> Path:
        return self.path / SPIDERS / f"{spider_key(spider, self.header.seed).hex()}.visits"

    # ---- writing

    @contextmanager
    def _begin(self) -> Iterator[Transaction[Any]]:
        with mapped_errors(self.path), self._files.env.begin(write=True, buffers=True) as txn:
            yield txn

    @contextmanager
    def _writer(self) -> Iterator[Writer]:
        """Return a transaction for writing. Whoever enters holds `deciding`, for decisions use the index that is caught up here."""
        with self._begin() as txn:
            writer = Writer(txn, self._files)
            yield writer
            writer.changes.finish()

    @contextmanager
    def _writer_beside_decisions(self) -> Iterator[Writer]:
        """Return a transaction for writing, while decisions go on. Finish its changes at its end."""
        with self._begin() as txn:
            self._drop_dead_readers()
            # From here to the commit nobody else commits, so that decisions find nothing to catch up with: to the delta they only add.
            with self.deciding:
                writer = Writer(txn, self._files)
            yield writer

    def _drop_dead_readers(self) -> None:
        # A killed process leaves its last view behind, and no space that was in use then would ever be used again.
        if monotonic() - self._readers_checked >= _READERS_SECONDS:
            self._files.env.reader_check()
            self._readers_checked = monotonic()

    def write(self, batch: Batch) -> None:
        """Commit a batch in one synced transaction, beside decisions."""
        index = self._files.index
        with self._writer_beside_decisions() as writer:
            for stored in batch.pages:
                writer.put_page(stored)
            writer.put_bare(batch.bare, known_new=index.version(writer.txn) == self._own_version)
            for url, line in batch.register.items():
                writer.put_duplicate(url, line)
            for key, value in batch.visits.items():
                writer.txn.put(key, value, db=writer.databases.visits)
            writer.changes.finish()
            version = index.version(writer.txn)
        self._own_version = version
        with self.deciding:
            writer.changes.committed(batch.bare)

    def bind(self, recipe: str) -> None:
        """Remember the recipe for good, unless the store is open to be read only."""
        if not self.readonly:
            with self._begin() as txn:
                # Another process may have bound the store since this one opened it.
                current = parse_header(self.path, txn.get(HEADER, db=self._files.databases.meta))
                if current.recipe not in (None, recipe):
                    raise StoreMismatchError(
                        f"{self.path} was bound to recipe {current.recipe} meanwhile, not {recipe}: use that recipe or another store"
                    )
                txn.put(HEADER, format_header(replace(current, recipe=recipe)), db=self._files.databases.meta)
        self._files = replace(self._files, header=replace(self.header, recipe=recipe))

    def erase(self, url: str) -> bool:
        """Remove a page and the line of its URL."""
        with self._writer() as writer:
            return any([writer.remove_page(url), writer.remove_duplicate(url)])

    def expire(self, before: float, spared: Container[str], step: Step | None) -> tuple[int, Step | None]:
        """Remove what is older among the next few pages, or lines: see `CommittedPages`."""
        place = step if isinstance(step, Place) else _FIRST
        with self.reading() as snapshot:
            old, following = snapshot.expired(before, place)
        if not old:
            return 0, following
        with self._writer_beside_decisions() as writer:
            # Looked at again: another process may have seen a page meanwhile.
            removed = writer.expire(place.name, old, before, spared)
            writer.changes.finish()
        return removed, following

    def count_old(self, before: float, step: Step | None) -> tuple[int, Step | None]:
        """Count what is older among the next few pages: see `CommittedPages`."""
        with self.reading() as snapshot:
            old, following = snapshot.expired(before, step if isinstance(step, Place) else _FIRST)
        return len(old), following if following and following.name == _FIRST.name else None

    def load(self, fingerprints: NDArray[np.uint64]) -> None:
        """Insert fingerprints without pages, in as many transactions as it takes."""
        self._files.index.load(fingerprints, self._begin, partial(put_no_pages, self._files))

    def write_texts(self, texts: Mapping[str, bytes], most: int) -> int:
        """Write packed texts; return how many found no space."""
        with self._begin() as txn:
            return put_texts(Snapshot(txn, self._files), texts, most)

    def write_rejection(self, rejection: Rejection, lines: Sequence[Duplicate]) -> None:
        """Write a rejection, and the lines that it marks."""
        with self._writer() as writer:
            writer.put_rejection(rejection)
            for line in lines:
                writer.put_duplicate(line.url, line)

    def erase_rejection(self, rejection: Rejection, lines: Sequence[Duplicate]) -> None:
        """Remove a rejection, and write the lines that it had marked."""
        with self._writer() as writer:
            writer.remove_rejection(rejection)
            for line in lines:
                writer.put_duplicate(line.url, line)

    def note_crawl(self, record: Mapping[str, Any]) -> None:
        """Record what became of a crawl."""
        with self._begin() as txn:
            put_crawl(txn, self._files.databases, record)

    def note(self, value: bytes) -> None:
        """Note a value of whoever uses the pages: there is one."""
        with self._begin() as txn:
            txn.put(_NOTED, seal(value), db=self._files.databases.meta)

    def noted(self) -> bytes | None:
        """Return the value that was noted last."""
        with self.reading() as snapshot:
            value = snapshot.txn.get(_NOTED, db=self._files.databases.meta)
            return None if value is None else unseal(value, "what is noted")

    def keep_visits(self, spider: str, visits: Iterable[tuple[bytes, bytes]]) -> None:
        """Let these be what the last finished crawl of a spider saw."""
        with mapped_errors(self.path):
            write_visits(self._visits_file(spider), visits, mode_of(self.path))
