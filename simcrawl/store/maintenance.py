"""Work on a store as a whole, while nobody else writes to it: other tables, less space.

A new file is written beside the old one and put in its place in one step, so that a crash at any moment leaves one of the two. Who reads
the store meanwhile sees what it held, and from then on the new file.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lmdb

from simcrawl.errors import StoreCorruptError
from simcrawl.index.packed import Loading, Packer
from simcrawl.index.tables import MEMORY, PackedTables, most_loaded
from simcrawl.store import lmdb_store
from simcrawl.store.crawl_files import CRAWLS, LOADED_PAGES, SPIDERS
from simcrawl.store.files import DATA, put_in_place, remove

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from simcrawl.store.base import Header

_BESIDE = "rewriting"
# Fingerprints that are loaded at a time into tables that would otherwise be written anew again and again.
_MOST_LOADED = 1 << 24


def rebuild(path: str | os.PathLike[str], design: str) -> None:
    """Give a store the tables of another design; pages, register and recipe stay.

    Needs as much free space as the store takes, and that nobody else writes to it: who wants to meanwhile waits; who reads does not.

    Raises:
        ValueError: there is no such design for fingerprints of that width.
        StoreFormatError: there is no store.
        StoreError: somebody writes to the store, this process has it open, or it cannot be read or written.
    """
    with _rewritten(path) as (old, header, new_path):
        _fill(old, header, new_path, replace(header, design=design))


def compact(path: str | os.PathLike[str]) -> int:
    """Give back the space that removed pages and old commits took; return how many bytes. Needs what `rebuild` needs.

    Raises:
        StoreFormatError: there is no store.
        StoreError: somebody writes to the store, this process has it open, or it cannot be read or written.
    """
    data = Path(path, DATA).expanduser()
    before = data.stat().st_size if data.exists() else 0
    with _rewritten(path) as (old, _, new_path):
        old.copy(str(new_path), compact=True)
    return before - data.stat().st_size


def reset(path: str | os.PathLike[str]) -> None:
    """Remove all that a store holds, so that the next crawl begins a new one: pages, register, rejections, history, and what was loaded.

    Crawls that were interrupted can no longer be resumed with what they knew.

    Raises:
        StoreFormatError: there is no store, or something else.
        StoreError: somebody writes to the store, this process has it open, or it cannot be written.
    """
    where = Path(path).expanduser().resolve()
    with lmdb_store.mapped_errors(where), lmdb_store.alone(where):
        _check_is_store(where)
        remove(where, CRAWLS, LOADED_PAGES, SPIDERS)


def _check_is_store(where: Path) -> None:
    with lmdb.open(str(where), readonly=True, lock=False, max_dbs=lmdb_store.MOST_DATABASES) as env:
        lmdb_store.check_is_ours(where, env)


@contextmanager
def _rewritten(path: str | os.PathLike[str]) -> Iterator[tuple[lmdb.Environment, Header, Path]]:
    """Yield a store's environment, its header, and an empty directory for the new one, which takes its place at the end."""
    where = Path(path).expanduser().resolve()
    with lmdb_store.mapped_errors(where), lmdb_store.alone(where):
        beside = where / _BESIDE
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        try:
            # Without LMDB's locks, as nobody writes: these readers need no place among the others'.
            with lmdb.open(str(where), readonly=True, lock=False, max_dbs=lmdb_store.MOST_DATABASES) as old:
                yield old, lmdb_store.read_header(where, old), beside
            put_in_place(beside)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _fill(old: lmdb.Environment, header: Header, path: Path, wanted: Header) -> None:
    with lmdb.open(str(path), map_size=lmdb_store.MAP_SIZE, max_dbs=lmdb_store.MOST_DATABASES) as new:
        lmdb_store.write_header(new, wanted)
        # Before a transaction begins: a handle is of no use to an older one.
        sources, targets = lmdb_store.databases(old, create=False), lmdb_store.databases(new)
        for name in sources._fields:
            if name != "meta":
                _copy(old, getattr(sources, name), new, getattr(targets, name))
        _load(old, header, new, wanted)


def _copy(old: lmdb.Environment, source: Any, new: lmdb.Environment, target: Any) -> None:
    # Older releases of lmdb ask the transaction's database, not the cursor's, whether there may be several values under a key.
    with old.begin(db=source) as reading, reading.cursor() as held, new.begin(write=True, db=target) as writing, writing.cursor() as cursor:
        read, written = cursor.putmulti(held, append=True)
    if written != read:
        raise StoreCorruptError(f"{written} of {read} entries could be copied: run simcrawl verify, restore the store from a backup")


def _load(old: lmdb.Environment, header: Header, new: lmdb.Environment, wanted: Header) -> None:
    tables = [
        PackedTables(Packer(made.design_of_tables), lmdb_store.table_databases(env, made, create=env is new), memory=0, delta=Loading)
        for env, made in ((old, header), (new, wanted))
    ]
    with old.begin() as reading:
        for rows in tables[0].chunks(reading, most_loaded(wanted.design_of_tables, MEMORY) or _MOST_LOADED):
            with new.begin(write=True) as writing:
                tables[1].catch_up(writing, writing.id() - 1)
                tables[1].load(writing, rows)
            lmdb_store.fold_loaded(new, tables[1], 0)
        held, written = tables[0].counters(reading), _counters(new, tables[1])
    if (held.distinct, held.checksum) != written:
        raise StoreCorruptError(
            f"{written[0]} of {held.distinct} fingerprints could be read: run simcrawl verify, restore the store from a backup"
        )


def _counters(env: lmdb.Environment, tables: PackedTables) -> tuple[int, int]:
    with env.begin() as txn:
        counters = tables.counters(txn)
    return counters.distinct, counters.checksum
