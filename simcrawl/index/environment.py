"""LMDB environments: the only module that imports lmdb. Its errors become `StoreError`s here, each with its cure."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

import lmdb

from simcrawl.errors import StoreCorruptError, StoreError, StoreFormatError, StoreFullError
from simcrawl.index.log import IndexDatabases
from simcrawl.system import address_space

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simcrawl.index.permutations import Design

# Sparse: what is reserved here is address space, not disk. LMDB cannot grow a map while other processes have it open.
MAP_SIZE = 1 << 40
"""Bytes that a map reserves."""
_SMALLEST_MAP = 1 << 26
# Where address space is limited: what is left is for the process, and for other stores of its.
_SHARE_OF_LIMIT = 16
MOST_DATABASES = 128
"""How many named databases an environment may have."""
# A full disk, a quota, a limit on the size of files.
_NO_SPACE = tuple(map(os.strerror, (ENOSPC, EDQUOT, EFBIG)))
# A commit may fail with a little space left.
_FULL = 1 << 24
# Where the first page has it, in the machine's own byte order.
_MAGIC, _MAGIC_AT = (0xBEEFC0DE).to_bytes(4, sys.byteorder), 16
ERRORS = (lmdb.Error, OSError)
"""What LMDB raises: for the few places where `mapped_errors` would cost too much. See `own_error`."""


@contextmanager
def mapped_errors(path: Path) -> Iterator[None]:
    """Turn LMDB's errors into our own."""
    try:
        yield
    except ERRORS as exc:
        raise own_error(path, exc) from exc


def own_error(path: Path, exc: Exception) -> StoreError:
    """Return our own error for one of LMDB's."""
    if isinstance(exc, (lmdb.MapFullError, lmdb.DiskError)) or any(why in str(exc) for why in _NO_SPACE) or _is_cut_off(path, exc):
        return StoreFullError(f"no space left in {path} ({exc}): free disk space, or open the store with a larger map_size")
    if isinstance(exc, (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.PanicError)):
        return StoreCorruptError(f"{path} is damaged ({exc}): restore it from a backup, or start a new store")
    if isinstance(exc, (lmdb.InvalidError, lmdb.VersionMismatchError)):
        return _no_store(path, exc)
    if isinstance(exc, (lmdb.LockError, lmdb.ReadonlyError)):
        return StoreError(
            f"cannot write to {path} ({exc}): check the permissions of the directory and its files, or point SIMCRAWL_STORE elsewhere"
        )
    if isinstance(exc, OSError):
        return StoreError(f"cannot use {path} ({exc}): check that it may be written, or point SIMCRAWL_STORE to a directory that may")
    return StoreError(f"{path}: {exc}")


def _no_store(path: Path, exc: Exception) -> StoreError:
    """Return what to say of a file that LMDB does not open: the rest of a store, where it begins as LMDB's files do."""
    if isinstance(exc, lmdb.InvalidError) and _begins_as_ours(path / "data.mdb"):
        return StoreCorruptError(f"{path}/data.mdb is cut short, or its first pages are damaged ({exc}): restore the store from a backup")
    return StoreFormatError(f"{path} is no LMDB store ({exc}): point SIMCRAWL_STORE elsewhere")


def _is_cut_off(path: Path, exc: Exception) -> bool:
    # What fits of a write is written, and LMDB then speaks of an input/output error.
    return "Input/output error" in str(exc) and path.exists() and disk_usage(path).free < _FULL


def _begins_as_ours(file: Path) -> bool:
    """Return whether a file begins as LMDB's do on this machine."""
    try:
        with file.open("rb") as opened:
            return opened.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC
    except OSError:
        return False


def open_environment(path: Path, map_size: int = MAP_SIZE, *, readonly: bool = False) -> lmdb.Environment:
    """Open an environment in a directory, with a smaller map where there is not so much address space.

    A map is never smaller than what is in it already, and a full one is a full disk to whoever writes.

    Raises:
        StoreError: not even a small map fits.
    """
    map_size = min(map_size, max(_SMALLEST_MAP, address_space() // _SHARE_OF_LIMIT))
    while True:
        try:
            return lmdb.open(os.fsencode(path), map_size=map_size, max_dbs=MOST_DATABASES, max_spare_txns=2, readonly=readonly)
        except (lmdb.MemoryError, MemoryError) as exc:
            # Less address space than asked for (a container's limit, a 32-bit system): smaller stores still fit.
            if map_size <= _SMALLEST_MAP:
                raise StoreError(f"cannot map {map_size} bytes for {path}: raise the address space limit (ulimit -v)") from exc
            map_size //= 4


def open_alone(path: Path) -> lmdb.Environment:
    """Open an environment to read it, without LMDB's locks, where nobody writes: its readers need no place among the others'."""
    return lmdb.open(os.fsencode(path), readonly=True, lock=False, max_dbs=MOST_DATABASES)


def open_new(path: Path) -> lmdb.Environment:
    """Open an environment that nobody else knows of yet."""
    return lmdb.open(os.fsencode(path), map_size=MAP_SIZE, max_dbs=MOST_DATABASES)


@contextmanager
def opened_at_once(env: lmdb.Environment, *, create: bool) -> Iterator[Any]:
    """Give a transaction in which databases are made: to sync each of them alone takes a new store a tenth of a second.

    None where they are only opened: what is opened in a transaction for reading may end with it.
    """
    if create:
        with env.begin(write=True) as txn:
            yield txn
    else:
        yield None


def index_databases(env: lmdb.Environment, design: Design, *, create: bool = True) -> IndexDatabases:
    """Return the databases of an index, made where there are none."""
    with opened_at_once(env, create=create) as txn:
        names = [f"table{number}".encode() for number in range(len(design.tables))]
        tables = tuple(env.open_db(name, txn=txn, create=create) for name in names)
        log, state = (env.open_db(name, txn=txn, create=create) for name in (b"log", b"state"))
        return IndexDatabases(log, state, tables)
