"""The store on disk: permuted tables, page records and the register in one LMDB environment.

The only module that imports lmdb; its errors become `StoreError`s here. Bytes: `docs/store-format.md`.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields
from errno import EDQUOT, EFBIG, ENOSPC
from functools import partial
from math import inf
from pathlib import Path
from shutil import disk_usage
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import lmdb

from simcrawl.errors import StoreCorruptError, StoreError, StoreFormatError, StoreFullError, StoreMismatchError
from simcrawl.index.packed import Loading, Packer, distinct, in_parts
from simcrawl.index.tables import PackedTables, TableDatabases, most_loaded
from simcrawl.store.base import MOST_CRAWLS, NOTHING, BaseStore, Duplicate, Header
from simcrawl.store.crawl_files import LOADED_PAGES, SPIDERS, held_crawls, join
from simcrawl.store.crawls import LOADED, Crawl, Joined, Note, checked_name
from simcrawl.store.files import DATA, hold, is_current, look_for_store, opening
from simcrawl.store.snapshot import Databases, Place, Snapshot, Writer, problems, put_crawl, put_texts
from simcrawl.store.truncation import filled_up, missing_bytes
from simcrawl.store.visits import read_visits, spider_key, write_visits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage
    from simcrawl.store.rejections import Rejection
    from simcrawl.store.visits import Visits

MAGIC = b"simcrawl"
FORMAT = 4
"""Version of the layout: readers refuse every other. Older formats were never released."""

# Sparse: what is reserved here is address space, not disk. LMDB cannot grow a map while other processes have it open.
MAP_SIZE = 1 << 40
"""Bytes that a store's map reserves."""
_SMALLEST_MAP = 1 << 30
_HEADER = b"header"
_READERS_SECONDS = 60.0
# A full disk, a quota, a limit on the size of files.
_NO_SPACE = tuple(map(os.strerror, (ENOSPC, EDQUOT, EFBIG)))
# A commit may fail with a little space left.
_FULL = 1 << 24
MOST_DATABASES = 128
"""How many named databases an environment may have."""


@contextmanager
def mapped_errors(path: Path) -> Iterator[None]:
    """Turn lmdb's errors into the store's own, each with its cure."""
    try:
        yield
    except (lmdb.Error, OSError) as exc:
        raise _own_error(path, exc) from exc


def _own_error(path: Path, exc: Exception) -> StoreError:
    if isinstance(exc, (lmdb.MapFullError, lmdb.DiskError)) or any(why in str(exc) for why in _NO_SPACE) or _is_cut_off(path, exc):
        return StoreFullError(f"no space left in {path} ({exc}): free disk space, or open the store with a larger map_size")
    if isinstance(exc, (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.PanicError)):
        return StoreCorruptError(f"{path} is damaged ({exc}): restore it from a backup, or start a new store")
    if isinstance(exc, (lmdb.InvalidError, lmdb.VersionMismatchError)):
        return StoreFormatError(f"{path} is no LMDB store ({exc}): point SIMCRAWL_STORE elsewhere")
    if isinstance(exc, (lmdb.LockError, lmdb.ReadonlyError)):
        return StoreError(f"cannot write to {path} ({exc}): check the permissions of the directory and its files")
    if isinstance(exc, OSError):
        return StoreError(f"cannot use {path} ({exc}): check that the directory exists and may be written")
    return StoreError(f"{path}: {exc}")


def _is_cut_off(path: Path, exc: Exception) -> bool:
    # What fits of a write is written, and LMDB then speaks of an input/output error.
    return "Input/output error" in str(exc) and path.exists() and disk_usage(path).free < _FULL


class _Files(NamedTuple):
    """A store's files as LMDB has them open, and the header that was in them then."""

    env: lmdb.Environment
    databases: Databases
    tables: PackedTables
    header: Header
    data: os.stat_result
    close: Callable[[], None]


class LmdbStore(BaseStore):
    """A store in a directory. Use `simcrawl.open_store`, which shares one instance among all users of a path in a process.

    Guarantees beyond `BaseStore`'s: a group commit is one synced transaction, so a crash at any moment leaves a store that opens
    and passes `verify`, with everything that `sync` returned for.
    """

    def __init__(self, path: Path, files: _Files, open_again: Callable[[], _Files], *, sync_seconds: float) -> None:
        super().__init__(files.header, sync_seconds=sync_seconds)
        self.path = path
        self.readonly = bool(files.env.flags()["readonly"])
        self._files = files
        self._open_again = open_again
        self._readers_checked = -inf
        # Of the tables after this process's last group commit: where it still stands, decisions knew all that the next one finds.
        self._own_version = (-1, -1)

    def _current(self) -> _Files:
        """Return the files; those of other data where `compact` or `rebuild` put them in place, which waits for no reader."""
        if self.readonly and not is_current(self.path, self._files.data):
            with _opening:
                if not is_current(self.path, self._files.data):
                    # The old ones are closed by the last transaction that reads them.
                    self._files = self._open_again()
                    self.header, self.design = self._files.header, self._files.header.design_of_tables
        return self._files

    @contextmanager
    def _reader(self) -> Iterator[Snapshot]:
        with mapped_errors(self.path):
            files = self._current()
            with files.env.begin(buffers=True) as txn:
                yield Snapshot(txn, files.databases, files.tables, self.header)

    _searches_bare = False

    def _near(self, fingerprint: int, distance: int) -> dict[int, int]:
        # No context managers of our own here: they would cost a third of the look-up.
        try:
            files = self._current()
            with files.env.begin(buffers=True) as txn:
                return files.tables.near(txn, fingerprint, distance)
        except (lmdb.Error, OSError) as exc:
            raise _own_error(self.path, exc) from exc

    def _hold(self, fingerprint: int) -> None:
        self._files.tables.hold(fingerprint)

    @contextmanager
    def _writer(self) -> Iterator[Writer]:
        """Return a transaction for writing. Whoever enters holds `_deciding`, for decisions use the delta that is caught up here."""
        with mapped_errors(self.path), self._files.env.begin(write=True, buffers=True) as txn:
            self._files.tables.catch_up(txn, txn.id() - 1)
            writer = Writer(txn, self._files.databases, self._files.tables, self.header)
            yield writer
            writer.finish()

    def _write(
        self,
        pages: Sequence[StoredPage],
        bare: Sequence[int],
        register: Mapping[str, Duplicate | None],
        visits: Mapping[bytes, bytes] = NOTHING,
    ) -> None:
        late = list(self._late(pages))
        if self._lasting:
            for line in late:
                self.note(line)
        with self._writer_beside_decisions() as writer:
            for stored in pages:
                writer.put_page(stored)
            writer.put_bare(bare, known_new=self._files.tables.version(writer.txn) == self._own_version)
            for url, line in (*register.items(), *(() if self._lasting else ((line.url, line) for line in late))):
                writer.put_duplicate(url, line)
            for key, value in visits.items():
                writer.txn.put(key, value, db=writer.databases.visits)
            change, moment = writer.finish(), writer.txn.id()
            version = self._files.tables.version(writer.txn)
        self._own_version = version
        self.late_duplicates += len(late)
        with self._deciding:
            self._files.tables.settle(change, bare, moment - 1, moment)

    def _late(self, pages: Sequence[StoredPage]) -> Iterator[Duplicate]:
        """Yield lines for pages of which others wrote the original since they were decided about; costs nothing where nobody wrote.

        A page at a time, for decisions wait meanwhile.
        """
        for stored in pages:
            with self._deciding, self._reader() as snapshot:
                if snapshot.tables.version(snapshot.txn) == self._own_version:
                    return
                if line := self._late_line(stored, snapshot):
                    yield line

    @contextmanager
    def _writer_beside_decisions(self) -> Iterator[Writer]:
        """Return a transaction for writing, while decisions go on. Call `finish` at its end."""
        with mapped_errors(self.path), self._files.env.begin(write=True, buffers=True) as txn:
            self._drop_dead_readers()
            before = txn.id() - 1
            # From here to the commit nobody else commits, so that decisions find nothing to catch up with: to the delta they only add.
            with self._deciding:
                self._files.tables.catch_up(txn, before)
            yield Writer(txn, self._files.databases, self._files.tables, self.header)

    def _drop_dead_readers(self) -> None:
        # A killed process leaves its last view behind, and no space that was in use then would ever be used again.
        if monotonic() - self._readers_checked >= _READERS_SECONDS:
            self._files.env.reader_check()
            self._readers_checked = monotonic()

    def _erase(self, url: str) -> bool:
        with self._writer() as writer:
            return any([writer.remove_page(url), writer.remove_duplicate(url)])

    def _expire(self, before: float, spared: Container[str]) -> Iterator[int]:
        place: Place | None = ("pages", b"")
        while place:
            with self._committing:
                name = place[0]
                with self._reader() as snapshot:
                    old, place = snapshot.expired(before, place)
                removed = self._remove_expired(name, old, before, spared) if old else 0
            yield removed

    def _remove_expired(self, name: str, keys: list[bytes], before: float, spared: Container[str]) -> int:
        with self._writer_beside_decisions() as writer:
            # Looked at again: another process may have seen a page meanwhile.
            removed = writer.expire(name, keys, before, spared)
            writer.finish()
        return removed

    def _load(self, fingerprints: NDArray[np.uint64]) -> None:
        if self._files.tables.is_few(len(fingerprints)):
            with self._writer() as writer:
                writer.load(distinct(fingerprints))
            return
        # Not the store's own: the delta of these takes less memory, and answers no probes.
        tables = PackedTables(self._packer, self._files.tables.databases, memory=0, delta=Loading)
        for part in in_parts(fingerprints, self.header.bits, most_loaded(self.design, self._files.tables.memory)):
            with mapped_errors(self.path), self._files.env.begin(write=True, buffers=True) as txn:
                tables.catch_up(txn, txn.id() - 1)
                writer = Writer(txn, self._files.databases, tables, self.header)
                writer.load(part)
                writer.finish()
            with mapped_errors(self.path):
                fold_loaded(self._files.env, tables, self._files.tables.unfolded)

    def _bind(self, recipe: str) -> None:
        if self.readonly:
            return
        with mapped_errors(self.path), self._files.env.begin(write=True) as txn:
            # Another process may have bound the store since this one opened it.
            current = _parse_header(self.path, txn.get(_HEADER, db=self._files.databases.meta))
            if current.recipe not in (None, recipe):
                raise StoreMismatchError(
                    f"{self.path} was bound to recipe {current.recipe} meanwhile, not {recipe}: use that recipe or another store"
                )
            txn.put(_HEADER, _format_header(Header(**(asdict(current) | {"recipe": recipe}))), db=self._files.databases.meta)

    def counts(self) -> dict[str, int]:
        """Return the committed numbers: pages, fingerprints, duplicates, and bytes in use by the file."""
        with self._reader() as snapshot:
            return snapshot.counts() | {"bytes": self._bytes()}

    def size(self) -> dict[str, int]:
        """Return the committed pages, and bytes in use by the file."""
        with self._reader() as snapshot:
            return {"pages": snapshot.counts()["pages"], "bytes": self._bytes()}

    def _bytes(self) -> int:
        return int((self._files.env.info()["last_pgno"] + 1) * self._files.env.stat()["psize"])

    def duplicates(self, *, latest: int | None = None) -> Iterator[Duplicate]:
        """Yield the committed register of duplicates: see `BaseStore.duplicates`."""
        with self._reader() as snapshot:
            yield from snapshot.duplicates() if latest is None else snapshot.latest_duplicates(latest)

    def _duplicate(self, url: str) -> Duplicate | None:
        with self._reader() as snapshot:
            return snapshot.duplicate(url)

    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back."""
        with self._reader() as snapshot:
            yield from snapshot.rejections()

    def _write_rejection(self, rejection: Rejection, marked: Sequence[Duplicate]) -> None:
        with self._writer() as writer:
            writer.put_rejection(rejection)
            for line in marked:
                writer.put_duplicate(line.url, line)

    def _erase_rejection(self, rejection: Rejection, unmarked: Sequence[Duplicate]) -> None:
        with self._writer() as writer:
            writer.remove_rejection(rejection)
            for line in unmarked:
                writer.put_duplicate(line.url, line)

    def pages(self, *, latest: int | None = None) -> Iterator[StoredPage]:
        """Yield the committed pages: see `BaseStore.pages`.

        The view is of one moment; take it in one go, a long read keeps the file from reusing space.
        """
        with self._reader() as snapshot:
            yield from snapshot.pages() if latest is None else snapshot.latest_pages(latest)

    def fingerprint_chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct committed fingerprint once, in chunks of words: see `BaseStore.fingerprint_chunks`."""
        with self._reader() as snapshot:
            yield from snapshot.tables.chunks(snapshot.txn, size)

    def _write_texts(self, texts: Mapping[str, bytes], most: int) -> int:
        with mapped_errors(self.path), self._files.env.begin(write=True, buffers=True) as txn:
            return put_texts(Snapshot(txn, self._files.databases, self._files.tables, self.header), texts, most)

    def _text(self, url: str) -> bytes | None:
        with self._reader() as snapshot:
            return snapshot.text(url)

    # ---- crawls

    def join(self, name: str | None = None, *, spider: str = "", resume: str | None = None, job: str | None = None) -> Crawl:
        """Return a crawl on this store: see `BaseStore.join`."""
        checked_name(name)
        self._check_writable()
        home = join(self.path, name, spider=spider, resume=resume, job=job)
        try:
            own = self._own_store(home.pages)
            own.see_loaded(self._open_loaded)
        except BaseException:
            home.leave(lambda _: None, lambda _: None, lambda: None)
            raise
        return Crawl(self, own, home, home.joined, spider=spider, job=job)

    def join_loaded(self) -> Crawl:
        """Return the crawl of the loaded pages: see `BaseStore.join_loaded`."""
        self._check_writable()
        loaded = self._own_store(self.path / LOADED_PAGES)
        for crawl in self.joined:
            # Crawls of this process that began before; those of others find what is loaded when they begin.
            if crawl.own is not loaded:
                crawl.own.see_loaded(self._open_loaded)
        return Crawl(self, loaded, _LoadedHome(), Joined(Note(LOADED)))

    def _check_writable(self) -> None:
        if self.readonly:
            raise StoreError(f"{self.path} is open to be read only: open it to write before a crawl begins on it")

    def _own_store(self, path: Path) -> LmdbStore:
        """Return a crawl's own store."""
        header = self.header
        own = open_lmdb(path, bits=header.bits, design=header.design, seed=header.seed, sync_seconds=self.sync_seconds)
        own.belong_to(self)
        return own

    def _open_loaded(self) -> LmdbStore | None:
        """Return the store of the loaded pages, for a crawl's own store, which closes it with itself."""
        path = self.path / LOADED_PAGES
        return self._own_store(path) if (path / DATA).exists() else None

    @contextmanager
    def _spaces(self, *, crawls: bool = True) -> Iterator[Sequence[BaseStore]]:
        with ExitStack() as opened:
            paths = opened.enter_context(held_crawls(self.path)) if crawls else []
            yield [opened.enter_context(self._own_store(path)) for path in (self.path / LOADED_PAGES, *paths) if (path / DATA).exists()]

    def last_visits(self, spider: str) -> Visits | None:
        """Return what the last finished crawl of a spider saw; None where there was none, or it is damaged."""
        return read_visits(self._visits_file(spider))

    def keep_visits(self, spider: str, visits: Iterable[tuple[bytes, bytes]]) -> None:
        """Let these be what the last finished crawl of a spider saw: see `BaseStore.keep_visits`."""
        with mapped_errors(self.path):
            write_visits(self._visits_file(spider), visits)

    def _visits_file(self, spider: str) -> Path:
        return self.path / SPIDERS / f"{spider_key(spider, self.header.seed).hex()}.visits"

    def _visited(self, key: bytes) -> bytes | None:
        with self._reader() as snapshot:
            return snapshot.visit(key)

    def visits(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the committed visits whose keys begin so, in the order of their keys."""
        with self._reader() as snapshot:
            yield from snapshot.visits(prefix)

    def urls_of(self, keys: Collection[bytes]) -> list[str]:
        """Return the URLs of committed pages whose keys these are."""
        with self._reader() as snapshot:
            found = (snapshot.numbered_page(number) for key in keys if (number := snapshot.number(key)))
            return [stored.page.url for stored in found if stored]

    # ---- history

    def note_crawl(self, record: Mapping[str, Any]) -> None:
        """Record what became of a crawl, durably."""
        with mapped_errors(self.path), self._files.env.begin(write=True, buffers=True) as txn:
            put_crawl(txn, self._files.databases, record, MOST_CRAWLS)

    def crawls(self) -> list[dict[str, Any]]:
        """Return the records of crawls, the latest last."""
        with self._reader() as snapshot:
            return list(snapshot.crawls())

    def verify(self) -> list[str]:
        """Return what is wrong with the committed pages: one line a problem, none where all is well. Reads everything."""
        with self._reader() as snapshot:
            return list(problems(snapshot))

    def close(self) -> None:
        """Give back one use of the store; the last one commits what is confirmed and closes the file."""
        _release(self)

    def _shut(self) -> None:
        try:
            self.leave_crawls()
            self.sync()
        finally:
            self._files.close()
            if self._loaded:
                self._loaded.close()


class _LoadedHome:
    """Of the crawl that never ends: see `simcrawl.store.crawls.Home`."""

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:  # noqa: ARG002 - it does not end
        """Leave the crawl."""
        close()
        return False


# ---- opening

# One environment a path and process: LMDB refuses a second one, and two crawlers in one process are a normal thing. The claims
# that make admission atomic must be shared among them too, so what is shared is the whole store.
_open: dict[Path, tuple[LmdbStore, int]] = {}
_opening = RLock()


def open_lmdb(
    path: str | os.PathLike[str],
    *,
    bits: int | None = None,
    design: str | None = None,
    preferred_design: str | None = None,
    seed: int | str | None = None,
    sync_seconds: float = 1.0,
    map_size: int = MAP_SIZE,
    create: bool = True,
    readonly: bool = False,
    memory: int | None = None,
) -> LmdbStore:
    """Return the store in a directory, made where there is none; see `simcrawl.open_store`."""
    where = Path(path).expanduser().resolve()
    wanted: dict[str, Any] = {"bits": bits, "design": design, "seed": seed}
    with _opening:
        store, uses = _open.get(where, (None, 0))
        if store:
            if store.readonly and not readonly:
                raise StoreError(f"{where} is open in this process to be read only: close it first")
            _check_header(where, store.header, wanted)
        else:
            fresh = Header.new(**wanted | {"design": preferred_design if design is None else design})
            options = {"sync_seconds": sync_seconds, "memory": memory}
            store = _open_new(where, wanted, fresh, map_size=map_size, create=create and not readonly, readonly=readonly, **options)
        _open[where] = store, uses + 1
    return store


def _release(store: LmdbStore) -> None:
    with _opening:
        held, uses = _open.get(store.path, (None, 0))
        if held is not store:
            return
        if uses > 1:
            _open[store.path] = store, uses - 1
            return
        del _open[store.path]
        store._shut()  # noqa: SLF001 - the store's own other half


def _check_header(path: Path, header: Header, wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        if value not in (None, "random", getattr(header, name)):
            raise StoreMismatchError(
                f"{path} was made with {name} {getattr(header, name)}, not {value}: leave {name} out, or use another path"
            )


def _open_new(path: Path, wanted: dict[str, Any], fresh: Header, **options: Any) -> LmdbStore:
    missing = missing_bytes(path / "data.mdb")
    if not missing:
        return _open_whole(path, wanted, fresh, **options)
    with mapped_errors(path), filled_up(path / "data.mdb", missing):
        try:
            store = _open_whole(path, wanted, fresh, **options)
        except StoreError as exc:
            raise _cut_short(path, missing, str(exc)) from exc
        try:
            found = store.verify()
        except StoreError as exc:
            found = [str(exc)]
        if found:
            store._files.close()  # noqa: SLF001 - it is nobody's yet
            raise _cut_short(path, missing, found[0])
        return store


def _cut_short(path: Path, missing: int, problem: str) -> StoreCorruptError:
    return StoreCorruptError(f"{path}/data.mdb is cut short, {missing} bytes are missing ({problem}): restore the store from a backup")


def _open_whole(
    path: Path,
    wanted: dict[str, Any],
    fresh: Header,
    *,
    map_size: int,
    create: bool,
    readonly: bool,
    sync_seconds: float,
    memory: int | None,
) -> LmdbStore:
    with mapped_errors(path):
        if not look_for_store(path, create=create):
            path.mkdir(parents=True, exist_ok=True)
        files = _open_files(path, wanted, None if readonly else fresh, map_size, memory)
        kept = {"bits": files.header.bits, "seed": files.header.seed}
        return LmdbStore(path, files, partial(_open_files, path, kept, None, map_size, memory), sync_seconds=sync_seconds)


def _open_files(path: Path, wanted: dict[str, Any], fresh: Header | None, map_size: int, memory: int | None) -> _Files:
    """Open a store's files: with the header of a new store to write to them, with None to read only."""
    with ExitStack() as opened:
        if fresh:
            opened.enter_context(hold(path))
        with opening(path):
            data = (path / DATA).stat()
            env = opened.enter_context(_environment(path, map_size, readonly=fresh is None))
        header = _read_or_write_header(path, env, fresh) if fresh else read_header(path, env)
        _check_header(path, header, wanted)
        create = fresh is not None
        tables = PackedTables(Packer(header.design_of_tables), table_databases(env, header, create=create), memory=memory)
        return _Files(env, databases(env, create=create), tables, header, data, opened.pop_all().close)


def _environment(path: Path, map_size: int, *, readonly: bool = False) -> lmdb.Environment:
    """Open an environment, with a smaller map where there is not so much address space."""
    while True:
        try:
            return lmdb.open(str(path), map_size=map_size, max_dbs=MOST_DATABASES, max_spare_txns=2, readonly=readonly)
        except (lmdb.MemoryError, MemoryError) as exc:
            # Less address space than asked for (a container's limit, a 32-bit system): smaller stores still fit.
            if map_size <= _SMALLEST_MAP:
                raise StoreError(f"cannot map {map_size} bytes for {path}: raise the address space limit (ulimit -v)") from exc
            map_size //= 4


@contextmanager
def _opened_at_once(env: lmdb.Environment, *, create: bool) -> Iterator[Any]:
    """Give a transaction in which databases are made: to sync each of them alone takes a new store a tenth of a second.

    None where they are only opened: what is opened in a transaction for reading may end with it.
    """
    if create:
        with env.begin(write=True) as txn:
            yield txn
    else:
        yield None


def databases(env: lmdb.Environment, *, create: bool = True) -> Databases:
    """Return the databases of pages, owners and the register, made where there are none."""
    links, plain = (
        ("fingerprints", "bodies", "texts"),
        ("meta", "numbers", "pages", "duplicates", "rejections", "contents", "visits", "crawls"),
    )
    with _opened_at_once(env, create=create) as txn:
        found = {name: env.open_db(name.encode(), txn=txn, dupsort=True, dupfixed=True, create=create) for name in links}
        return Databases(**found, **{name: env.open_db(name.encode(), txn=txn, create=create) for name in plain})


def table_databases(env: lmdb.Environment, header: Header, *, create: bool = True) -> TableDatabases:
    """Return the databases of tables and the log."""
    with _opened_at_once(env, create=create) as txn:
        names = [f"table{index}".encode() for index in range(len(header.design_of_tables.tables))]
        tables = tuple(env.open_db(name, txn=txn, create=create) for name in names)
        log, state = (env.open_db(name, txn=txn, create=create) for name in (b"log", b"state"))
        return TableDatabases(log, state, tables)


def fold_loaded(env: lmdb.Environment, tables: PackedTables, unfolded: int) -> None:
    """Fold what was loaded, in as many transactions as it takes, until the log holds at most so many fingerprints."""
    more = True
    while more:
        with env.begin(write=True, buffers=True) as txn:
            tables.catch_up(txn, txn.id() - 1)
            more = tables.fold_loaded(txn, unfolded)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep everybody else from writing to a store.

    Raises:
        StoreFormatError: there is no store.
        StoreError: somebody else writes to it, or it is open in this process.
    """
    look_for_store(path, create=False)
    with _opening:
        # LMDB wants an environment opened once by a process.
        if path in _open:
            raise StoreError(f"{path} is open in this process: close it first")
        with hold(path, alone=True):
            yield


def read_header(path: Path, env: lmdb.Environment) -> Header:
    """Return the header of a store that is whole.

    Raises:
        StoreFormatError: it is none, or of another format, or its making was cut short.
        StoreCorruptError: the header is damaged.
    """
    names, found = _names(path, env), None
    if names:
        with env.begin(db=env.open_db(b"meta", create=False)) as txn:
            found = txn.get(_HEADER)
    # The last of the databases that are made.
    made = b"crawls" in names
    header = _parse_header(path, found) if made or found else None
    if header is None or not made:
        raise StoreFormatError(f"{path} is just being made, or its making was cut short: run a crawl with it first")
    return header


def write_header(env: lmdb.Environment, header: Header) -> None:
    """Write the header of a new store."""
    with env.begin(write=True, db=env.open_db(b"meta")) as txn:
        txn.put(_HEADER, _format_header(header))


def check_is_ours(path: Path, env: lmdb.Environment) -> None:
    """Refuse what no simcrawl has written, of whatever format.

    Raises:
        StoreFormatError: it is something else's.
    """
    if b"meta" in _names(path, env):
        with env.begin(db=env.open_db(b"meta", create=False)) as txn:
            if not (txn.get(_HEADER) or MAGIC).startswith(MAGIC):
                raise StoreFormatError(f"{path} is an LMDB environment of something else: point SIMCRAWL_STORE elsewhere")


def _names(path: Path, env: lmdb.Environment) -> set[bytes]:
    with env.begin() as txn:
        names = set(txn.cursor().iternext(keys=True, values=False))
    if names and b"meta" not in names:
        raise StoreFormatError(f"{path} is an LMDB environment of something else: point SIMCRAWL_STORE elsewhere")
    return names


def _read_or_write_header(path: Path, env: lmdb.Environment, wanted: Header) -> Header:
    _names(path, env)
    meta = env.open_db(b"meta")
    with env.begin(db=meta) as txn:
        found = txn.get(_HEADER)
    if found is None:
        with env.begin(db=meta, write=True) as txn:
            # Another process may have made the store meanwhile: the first header stands.
            txn.put(_HEADER, _format_header(wanted), overwrite=False)
            found = txn.get(_HEADER)
    return _parse_header(path, found)


def _format_header(header: Header) -> bytes:
    values = json.dumps(asdict(header), sort_keys=True).encode()
    return MAGIC + FORMAT.to_bytes(2, "big") + zlib.crc32(values).to_bytes(4, "big") + values


def _parse_header(path: Path, header: bytes | None) -> Header:
    if header is None or not header.startswith(MAGIC):
        raise StoreFormatError(f"{path} is no simcrawl store: expected its header to start with {MAGIC!r}, found {header!r:.40}")
    version = int.from_bytes(header[8:10], "big")
    if version > FORMAT:
        raise StoreFormatError(f"{path} has format {version}, this simcrawl reads up to {FORMAT}: upgrade simcrawl, or use another store")
    if version < FORMAT:
        raise StoreFormatError(f"{path} has format {version}, which only development versions wrote, not {FORMAT}: start a new store")
    try:
        values = json.loads(header[14:]) if int.from_bytes(header[10:14], "big") == zlib.crc32(header[14:]) else {}
        return Header(**{field.name: values[field.name] for field in fields(Header)})
    except (ValueError, KeyError, TypeError) as exc:
        raise StoreCorruptError(f"{path} has a damaged header ({exc!r}): restore it from a backup, or start a new store") from exc
