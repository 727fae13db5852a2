"""The store on disk: permuted tables, page records and the register in one LMDB environment.

The only module that imports lmdb; its errors become `StoreError`s here. Bytes: `docs/store-format.md`.

Layout: as in the paper a permuted table is a sorted set of fingerprints and nothing else. A table's key is a prefix, its value
all fingerprints with that prefix, packed as little-endian 64-bit words (two above 64 bits), so that a probe is one get and the
distances of all candidates are one numpy pass. Who owns a fingerprint stands in `fingerprints`; a page has one record.
"""

from __future__ import annotations

import json
import logging
import zlib
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import lmdb
import numpy as np

from simcrawl.errors import StoreCorruptError, StoreError, StoreFormatError, StoreFullError, StoreMismatchError
from simcrawl.pages import PageFingerprint, digest
from simcrawl.permutations import flips
from simcrawl.simhash import words, words_per_fingerprint
from simcrawl.store.base import BaseStore, Duplicate, Header
from simcrawl.store.records import decode, encode

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage

MAGIC = b"simcrawl"
FORMAT = 1
"""Version of the layout. Readers refuse a higher one."""

# Sparse: what is reserved here is address space, not disk. LMDB cannot grow a map while other processes have it open.
MAP_SIZE = 1 << 40
_SMALLEST_MAP = 1 << 30
_HEADER = b"header"
_NO_PAGE = bytes(16)
_MOST_DATABASES = 128

logger = logging.getLogger(__name__)


@contextmanager
def _mapped_errors(path: Path) -> Iterator[None]:
    """Turn lmdb's errors into the store's own, each with its cure."""
    try:
        yield
    except (lmdb.MapFullError, lmdb.DiskError) as exc:
        raise StoreFullError(f"no space left in {path} ({exc}): free disk space, or open the store with a larger map_size") from exc
    except (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.PanicError) as exc:
        raise StoreCorruptError(f"{path} is damaged ({exc}): restore it from a backup, or start a new store") from exc
    except (lmdb.InvalidError, lmdb.VersionMismatchError) as exc:
        raise StoreFormatError(f"{path} is no LMDB store ({exc}): point SIMCRAWL_STORE elsewhere") from exc
    except (lmdb.LockError, lmdb.ReadonlyError) as exc:
        raise StoreError(f"cannot write to {path} ({exc}): check the permissions of the directory and its files") from exc
    except lmdb.Error as exc:
        raise (StoreFullError if "No space left" in str(exc) else StoreError)(f"{path}: {exc}") from exc
    except OSError as exc:
        raise StoreError(f"cannot use {path} ({exc}): check that the directory exists and may be written") from exc


@dataclass(frozen=True, slots=True)
class _Databases:
    """The named databases of an environment."""

    meta: Any
    pages: Any
    fingerprints: Any
    bodies: Any
    texts: Any
    duplicates: Any
    tables: tuple[Any, ...]


class LmdbStore(BaseStore):
    """A store in a directory. Use `simcrawl.open_store`, which shares one instance among all users of a path in a process.

    Guarantees beyond `BaseStore`'s: a group commit is one synced transaction, so a crash at any moment leaves a store that opens
    and passes `verify`, with everything that `sync` returned for.
    """

    def __init__(self, path: Path, env: lmdb.Environment, databases: _Databases, header: Header, *, sync_seconds: float) -> None:
        super().__init__(header, sync_seconds=sync_seconds)
        self.path = path
        self._env = env
        self._databases = databases
        self._word = words_per_fingerprint(header.bits) * 8

    @contextmanager
    def _reader(self) -> Iterator[_Snapshot]:
        with _mapped_errors(self.path), self._env.begin(buffers=True) as txn:
            yield _Snapshot(self, txn)

    @contextmanager
    def _writer(self) -> Iterator[_Writer]:
        with _mapped_errors(self.path), self._env.begin(write=True, buffers=True) as txn:
            yield _Writer(self, txn)

    def _write(self, pages: Sequence[StoredPage], bare: Sequence[int], register: Mapping[str, Duplicate | None]) -> None:
        with self._writer() as writer:
            late = sum(writer.put_page(stored) for stored in pages)
            writer.put_bare(bare)
            for url, line in register.items():
                writer.put_duplicate(url, line)
        self.late_duplicates += late

    def _erase(self, url: str) -> bool:
        with self._writer() as writer:
            return writer.remove_page(url)

    def _load(self, fingerprints: NDArray[np.uint64]) -> None:
        with self._writer() as writer:
            writer.load(np.unique(fingerprints, axis=0))

    def _bind(self, recipe: str) -> None:
        with _mapped_errors(self.path), self._env.begin(write=True) as txn:
            # Another process may have bound the store since this one opened it.
            current = _parse_header(self.path, txn.get(_HEADER, db=self._databases.meta))
            if current.recipe not in (None, recipe):
                raise StoreMismatchError(
                    f"{self.path} was bound to recipe {current.recipe} meanwhile, not {recipe}: use that recipe or another store"
                )
            txn.put(_HEADER, _format_header(Header(**(asdict(current) | {"recipe": recipe}))), db=self._databases.meta)

    def counts(self) -> dict[str, int]:
        """Return the committed numbers: pages, fingerprints, duplicates, and bytes in use by the file."""
        with self._reader() as snapshot:
            return snapshot.counts()

    def size(self) -> dict[str, int]:
        """Return the committed pages, and bytes in use by the file."""
        with self._reader() as snapshot:
            return snapshot.size()

    def duplicates(self) -> Iterator[Duplicate]:
        """Yield the committed register of duplicates, the latest line of each URL."""
        with self._reader() as snapshot:
            yield from snapshot.duplicates()

    def pages(self) -> Iterator[StoredPage]:
        """Yield the committed pages. The view is of one moment; take it in one go, a long read keeps the file from reusing space."""
        with self._reader() as snapshot:
            yield from snapshot.pages()

    def fingerprint_chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct committed fingerprint once, in chunks of words: see `BaseStore.fingerprint_chunks`."""
        with self._reader() as snapshot:
            yield from snapshot.fingerprint_chunks(size)

    def verify(self) -> list[str]:
        """Return what is wrong with the committed pages: one line a problem, none where all is well. Reads everything."""
        with self._reader() as snapshot:
            return list(_problems(snapshot))

    def close(self) -> None:
        """Give back one use of the store; the last one commits what is confirmed and closes the file."""
        _release(self)

    def _shut(self) -> None:
        try:
            self.sync()
        finally:
            self._env.close()


class _Snapshot:
    """Reads within one transaction."""

    def __init__(self, store: LmdbStore, txn: lmdb.Transaction[memoryview]) -> None:
        self.store = store
        self.design = store.design
        self.databases = store._databases  # noqa: SLF001 - the store's own other half
        self.word = store._word  # noqa: SLF001
        self.txn = txn

    def key(self, url: str) -> bytes:
        """Return the key of a URL."""
        return digest(url.encode("utf-8", "surrogatepass"), self.store.header.seed)

    def fingerprint_key(self, fingerprint: int) -> bytes:
        """Return the key of a fingerprint: big-endian, so that the order of bytes is the order of numbers."""
        return fingerprint.to_bytes(self.word, "big")

    def prefix_key(self, table: int, prefix: int) -> bytes:
        """Return the key of a prefix in a table."""
        return prefix.to_bytes((self.design.tables[table].prefix_bits + 7) // 8, "big")

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""
        return self.page_by_key(self.key(url))

    def page_by_key(self, key: bytes | memoryview) -> StoredPage | None:
        """Return the page of a key."""
        record = self.txn.get(key, db=self.databases.pages)
        header = self.store.header
        return None if record is None else decode(record, recipe=header.recipe or "", seed=header.seed, bits=header.bits)

    def with_body(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this body digest."""
        return self._owners(self.databases.bodies, digest)

    def with_text(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this digest of the whole visible text."""
        return self._owners(self.databases.texts, digest)

    def with_fingerprint(self, fingerprint: int) -> Iterator[StoredPage]:
        """Yield the pages that have exactly this fingerprint."""
        return self._owners(self.databases.fingerprints, self.fingerprint_key(fingerprint))

    def _owners(self, database: Any, key: bytes) -> Iterator[StoredPage]:
        with self.txn.cursor(database) as cursor:
            if cursor.set_key(key):
                for owner in cursor.iternext_dup():
                    if owner != _NO_PAGE and (stored := self.page_by_key(owner)):
                        yield stored

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""
        with self.txn.cursor(self.databases.fingerprints) as cursor:
            return cursor.set_key_dup(self.fingerprint_key(fingerprint), _NO_PAGE)

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all fingerprints within the radius."""
        packed = b"".join(self._candidates(fingerprint, distance))
        candidates = np.frombuffer(packed, "<u8").reshape(-1, self.word // 8)
        query = words([fingerprint], bits=self.store.header.bits)
        apart = np.bitwise_count(candidates ^ query).sum(axis=1)
        hits = np.flatnonzero(apart <= distance)
        return {int.from_bytes(candidates[hit].tobytes(), "little"): int(apart[hit]) for hit in hits}

    def _candidates(self, fingerprint: int, distance: int) -> Iterator[memoryview]:
        """Yield the packed fingerprints that share a prefix, or nearly so, with the query in some table."""
        if self.design.probes(distance) >= self.txn.stat(self.databases.tables[0])["entries"] * len(self.design.tables):
            # More look-ups than there are prefixes: one table read from end to end holds everything.
            with self.txn.cursor(self.databases.tables[0]) as cursor:
                yield from cursor.iternext(keys=False, values=True)
            return
        radius = self.design.radius(distance)
        for index, table in enumerate(self.design.tables):
            prefix = table.prefix(fingerprint)
            for flip in flips(table.prefix_bits, radius):
                if held := self.txn.get(self.prefix_key(index, prefix ^ flip), db=self.databases.tables[index]):
                    yield held

    def pages(self) -> Iterator[StoredPage]:
        """Yield all pages."""
        with self.txn.cursor(self.databases.pages) as cursor:
            for key in cursor.iternext(keys=True, values=False):
                if stored := self.page_by_key(key):
                    yield stored

    def duplicates(self) -> Iterator[Duplicate]:
        """Yield the register."""
        with self.txn.cursor(self.databases.duplicates) as cursor:
            for value in cursor.iternext(keys=False, values=True):
                yield _parse_duplicate(bytes(value))

    def fingerprint_chunks(self, size: int) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct fingerprint once."""
        packed = bytearray()
        with self.txn.cursor(self.databases.tables[0]) as cursor:
            for held in cursor.iternext(keys=False, values=True):
                packed += held
                if len(packed) >= size * self.word:
                    yield np.frombuffer(bytes(packed), "<u8").reshape(-1, self.word // 8)
                    packed.clear()
        if packed:
            yield np.frombuffer(bytes(packed), "<u8").reshape(-1, self.word // 8)

    def size(self) -> dict[str, int]:
        """Return the numbers of `BaseStore.size`."""
        info, page_size = self.store._env.info(), self.store._env.stat()["psize"]  # noqa: SLF001 - the store's own other half
        return {"pages": self.txn.stat(self.databases.pages)["entries"], "bytes": (info["last_pgno"] + 1) * page_size}

    def counts(self) -> dict[str, int]:
        """Return the numbers of `BaseStore.counts`. Reads every fingerprint's key."""
        size = self.size()
        fingerprints = sum(1 for _ in self.distinct_fingerprints())
        duplicates = self.txn.stat(self.databases.duplicates)["entries"]
        return {"pages": size["pages"], "fingerprints": fingerprints, "duplicates": duplicates, "bytes": size["bytes"]}

    def distinct_fingerprints(self) -> Iterator[int]:
        """Yield every fingerprint once, in order."""
        with self.txn.cursor(self.databases.fingerprints) as cursor:
            for key in cursor.iternext_nodup(keys=True, values=False):
                yield int.from_bytes(key, "big")


class _Writer(_Snapshot):
    """Writes within one transaction."""

    def put_page(self, stored: StoredPage) -> bool:
        """Write a page in place of the one under the same URL; return whether another process wrote a copy of it meanwhile."""
        page = stored.page
        known = self.page(page.url)
        late = stored.unique and isinstance(page, PageFingerprint) and self._has_copy(page)
        if known:
            self.remove_page(page.url)
        key = self.key(page.url)
        self.txn.put(key, encode(stored), db=self.databases.pages)
        self.txn.put(page.body_digest, key, db=self.databases.bodies, dupdata=True)
        if isinstance(page, PageFingerprint):
            self.txn.put(page.text_digest, key, db=self.databases.texts, dupdata=True)
            self._own(page.fingerprint, key)
        return late

    def _has_copy(self, page: PageFingerprint) -> bool:
        return self.txn.get(page.text_digest, db=self.databases.texts) is not None

    def put_bare(self, fingerprints: Sequence[int]) -> None:
        """Write fingerprints without pages."""
        for fingerprint in fingerprints:
            self._own(fingerprint, _NO_PAGE)

    def put_duplicate(self, url: str, line: Duplicate | None) -> None:
        """Write a URL's line of the register in place of an older one, or strike that out."""
        if line is None:
            self.txn.delete(self.key(url), db=self.databases.duplicates)
        else:
            self.txn.put(self.key(url), json.dumps(asdict(line)).encode(), db=self.databases.duplicates)

    def remove_page(self, url: str) -> bool:
        """Remove a page; return whether there was one."""
        key, stored = self.key(url), self.page(url)
        if stored is None:
            return False
        page = stored.page
        self.txn.delete(key, db=self.databases.pages)
        self.txn.delete(page.body_digest, key, db=self.databases.bodies)
        if isinstance(page, PageFingerprint):
            self.txn.delete(page.text_digest, key, db=self.databases.texts)
            self._disown(page.fingerprint, key)
        return True

    def _own(self, fingerprint: int, owner: bytes) -> None:
        fresh = self.txn.get(self.fingerprint_key(fingerprint), db=self.databases.fingerprints) is None
        self.txn.put(self.fingerprint_key(fingerprint), owner, db=self.databases.fingerprints, dupdata=True)
        if fresh:
            self._edit_tables(fingerprint, lambda held, packed: held + packed)

    def _disown(self, fingerprint: int, owner: bytes) -> None:
        self.txn.delete(self.fingerprint_key(fingerprint), owner, db=self.databases.fingerprints)
        if self.txn.get(self.fingerprint_key(fingerprint), db=self.databases.fingerprints) is None:
            self._edit_tables(fingerprint, self._without)

    def _edit_tables(self, fingerprint: int, edit: Any) -> None:
        packed = fingerprint.to_bytes(self.word, "little")
        for index, table in enumerate(self.design.tables):
            key = self.prefix_key(index, table.prefix(fingerprint))
            held = edit(bytes(self.txn.get(key, b"", db=self.databases.tables[index])), packed)
            if held:
                self.txn.put(key, held, db=self.databases.tables[index])
            else:
                self.txn.delete(key, db=self.databases.tables[index])

    def _without(self, held: bytes, packed: bytes) -> bytes:
        return b"".join(one for one in (held[i : i + self.word] for i in range(0, len(held), self.word)) if one != packed)

    def load(self, fingerprints: NDArray[np.uint64]) -> None:
        """Write distinct fingerprints without pages: one read and one write a prefix, not one a fingerprint."""
        values = [int.from_bytes(row.tobytes(), "little") for row in fingerprints]
        fresh = [value for value in values if self.txn.get(self.fingerprint_key(value), db=self.databases.fingerprints) is None]
        with self.txn.cursor(self.databases.fingerprints) as cursor:
            # All of them, so that one which a page has too outlives that page.
            cursor.putmulti((self.fingerprint_key(value), _NO_PAGE) for value in sorted(values))
        for index, table in enumerate(self.design.tables):
            groups: dict[int, list[int]] = {}
            for value in fresh:
                groups.setdefault(table.prefix(value), []).append(value)
            self._append_groups(index, groups)

    def _append_groups(self, index: int, groups: dict[int, list[int]]) -> None:
        database = self.databases.tables[index]
        for prefix in sorted(groups):
            key = self.prefix_key(index, prefix)
            packed = b"".join(value.to_bytes(self.word, "little") for value in groups[prefix])
            self.txn.put(key, bytes(self.txn.get(key, b"", db=database)) + packed, db=database)


def _problems(snapshot: _Snapshot) -> Iterator[str]:
    """Yield every way in which the databases of one moment contradict each other."""
    wanted = {"fingerprints": 0, "bodies": 0, "texts": 0}
    with snapshot.txn.cursor(snapshot.databases.pages) as cursor:
        for key in cursor.iternext(keys=True, values=False):
            yield from _problems_of_page(snapshot, bytes(key), wanted)
    wanted["fingerprints"] += sum(1 for owner in _owners(snapshot) if owner == _NO_PAGE)
    for name, count in wanted.items():
        entries = snapshot.txn.stat(getattr(snapshot.databases, name))["entries"]
        if entries != count:
            yield f"{name}: {entries} entries where the pages account for {count}"
    yield from _problems_of_tables(snapshot)
    yield from _problems_of_register(snapshot)


def _owners(snapshot: _Snapshot) -> Iterator[memoryview]:
    with snapshot.txn.cursor(snapshot.databases.fingerprints) as cursor:
        yield from cursor.iternext(keys=False, values=True)


def _problems_of_page(snapshot: _Snapshot, key: bytes, wanted: dict[str, int]) -> Iterator[str]:
    try:
        stored = snapshot.page_by_key(key)
    except StoreCorruptError as exc:
        yield f"pages: {key.hex()}: {exc}"
        return
    if stored is None:
        return
    page = stored.page
    links = [("bodies", page.body_digest)]
    if isinstance(page, PageFingerprint):
        links += [("texts", page.text_digest), ("fingerprints", snapshot.fingerprint_key(page.fingerprint))]
    if snapshot.key(page.url) != key:
        yield f"pages: the record of {page.url} stands under another URL's key"
    for name, value in links:
        wanted[name] += 1
        with snapshot.txn.cursor(getattr(snapshot.databases, name)) as cursor:
            if not cursor.set_key_dup(value, key):
                yield f"{name}: {page.url} is missing"


def _problems_of_tables(snapshot: _Snapshot) -> Iterator[str]:
    distinct = sum(1 for _ in snapshot.distinct_fingerprints())
    for index in range(len(snapshot.design.tables)):
        held = 0
        with snapshot.txn.cursor(snapshot.databases.tables[index]) as cursor:
            for key, packed in cursor:
                group = _cut(bytes(packed), snapshot.word)
                held += len(set(group))
                yield from _problems_of_group(snapshot, index, bytes(key), group)
        # All of them distinct, known and in their place: then equal numbers mean that none is missing.
        if held != distinct:
            yield f"table {index}: {held} fingerprints where there should be {distinct}"


def _problems_of_group(snapshot: _Snapshot, index: int, key: bytes, group: list[bytes]) -> Iterator[str]:
    if len(set(group)) != len(group):
        yield f"table {index}: prefix {key.hex()} holds a fingerprint twice"
    for packed in group:
        fingerprint = int.from_bytes(packed, "little")
        if snapshot.prefix_key(index, snapshot.design.tables[index].prefix(fingerprint)) != key:
            yield f"table {index}: fingerprint {fingerprint:#x} stands under another one's prefix"
        elif snapshot.txn.get(snapshot.fingerprint_key(fingerprint), db=snapshot.databases.fingerprints) is None:
            yield f"table {index}: fingerprint {fingerprint:#x} has no owner"


def _problems_of_register(snapshot: _Snapshot) -> Iterator[str]:
    with snapshot.txn.cursor(snapshot.databases.duplicates) as cursor:
        for key, value in cursor:
            try:
                _parse_duplicate(bytes(value))
            except StoreCorruptError as exc:
                yield f"duplicates: {bytes(key).hex()}: {exc}"


def _parse_duplicate(value: bytes) -> Duplicate:
    try:
        return Duplicate(**json.loads(value))
    except (ValueError, TypeError) as exc:
        raise StoreCorruptError(f"a line of the register does not parse ({exc}): restore the store from a backup") from exc


def _cut(packed: bytes, size: int) -> list[bytes]:
    return [packed[i : i + size] for i in range(0, len(packed), size)]


# ---- opening

# One environment a path and process: LMDB refuses a second one, and two crawlers in one process are a normal thing. The claims
# that make admission atomic must be shared among them too, so what is shared is the whole store.
_open: dict[Path, tuple[LmdbStore, int]] = {}
_opening = Lock()


def open_lmdb(
    path: str | os.PathLike[str],
    *,
    bits: int | None = None,
    design: str | None = None,
    seed: int | str | None = None,
    sync_seconds: float = 1.0,
    map_size: int = MAP_SIZE,
    create: bool = True,
) -> LmdbStore:
    """Return the store in a directory, made where there is none; see `simcrawl.open_store`."""
    where = Path(path).expanduser().resolve()
    wanted: dict[str, Any] = {"bits": bits, "design": design, "seed": seed}
    with _opening:
        store, uses = _open.get(where, (None, 0))
        if store:
            _check_header(where, store.header, wanted)
        else:
            store = _open_new(where, wanted, sync_seconds=sync_seconds, map_size=map_size, create=create)
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


def _open_new(path: Path, wanted: dict[str, Any], *, sync_seconds: float, map_size: int, create: bool) -> LmdbStore:
    fresh = Header.new(**wanted)
    with _mapped_errors(path):
        exists = _look_for_store(path, create=create)
        if not exists:
            path.mkdir(parents=True, exist_ok=True)
        env = _environment(path, map_size)
        try:
            header = _read_or_write_header(path, env, fresh, exists=exists)
            _check_header(path, header, wanted)
            return LmdbStore(path, env, _databases(env, header), header, sync_seconds=sync_seconds)
        except BaseException:
            env.close()
            raise


def _look_for_store(path: Path, *, create: bool) -> bool:
    """Return whether there is a store; raise where there is something else, or nothing and none may be made."""
    exists = (path / "data.mdb").exists()
    if not exists and not create:
        raise StoreFormatError(
            f"there is no simcrawl store at {path}: a crawl with simcrawl makes one, at the path that SIMCRAWL_STORE names"
        )
    # A lock file alone: another process is about to make a store here, or was killed at that moment.
    if not exists and path.exists() and (not path.is_dir() or any(entry.name != "lock.mdb" for entry in path.iterdir())):
        raise StoreFormatError(
            f"{path} holds no simcrawl store: give the path of a store, or of a directory that is empty or does not exist"
        )
    return exists


def _environment(path: Path, map_size: int) -> lmdb.Environment:
    while True:
        try:
            return lmdb.open(str(path), map_size=map_size, max_dbs=_MOST_DATABASES)
        except (lmdb.MemoryError, MemoryError) as exc:
            # Less address space than asked for (a container's limit, a 32-bit system): smaller stores still fit.
            if map_size <= _SMALLEST_MAP:
                raise StoreError(f"cannot map {map_size} bytes for {path}: raise the address space limit (ulimit -v)") from exc
            map_size //= 4


def _databases(env: lmdb.Environment, header: Header) -> _Databases:
    from simcrawl.permutations import design  # noqa: PLC0415 - the name is a parameter elsewhere in this module

    links = {name: env.open_db(name.encode(), dupsort=True, dupfixed=True) for name in ("fingerprints", "bodies", "texts")}
    plain = {name: env.open_db(name.encode()) for name in ("meta", "pages", "duplicates")}
    count = len(design(header.design, header.bits).tables)
    return _Databases(**links, **plain, tables=tuple(env.open_db(f"table{index}".encode()) for index in range(count)))


def _read_or_write_header(path: Path, env: lmdb.Environment, wanted: Header, *, exists: bool) -> Header:
    if exists:
        with env.begin() as txn:
            names = list(txn.cursor().iternext(keys=True, values=False))
        if names and b"meta" not in names:
            raise StoreFormatError(f"{path} is an LMDB environment of something else: point SIMCRAWL_STORE elsewhere")
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
    try:
        values = json.loads(header[14:]) if int.from_bytes(header[10:14], "big") == zlib.crc32(header[14:]) else {}
        return Header(**{field.name: values[field.name] for field in fields(Header)})
    except (ValueError, KeyError, TypeError) as exc:
        raise StoreCorruptError(f"{path} has a damaged header ({exc!r}): restore it from a backup, or start a new store") from exc
