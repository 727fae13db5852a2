"""Bytes of a header, and the databases of a store: what tells a store from anything else. Layout: `docs/store-format.md`."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from simcrawl.errors import StoreCorruptError, StoreFormatError
from simcrawl.index.environment import opened_at_once
from simcrawl.sealed import seal, unseal
from simcrawl.store.header import Header
from simcrawl.store.snapshot import Databases

if TYPE_CHECKING:
    from pathlib import Path

    from lmdb import Environment

MAGIC = b"simcrawl"
FORMAT = 7
"""Version of the layout: readers refuse every other."""
OLDEST = 3
"""The oldest format that `simcrawl.store.upgrading` reads."""
HEADER = b"header"
"""The key of the header, in the database "meta"."""
_VALUES = len(MAGIC) + 2


def format_header(header: Header) -> bytes:
    """Return the bytes of a header."""
    return MAGIC + FORMAT.to_bytes(2, "big") + seal(json.dumps(asdict(header), sort_keys=True).encode())


def parse_header(path: Path, header: bytes | None, *, oldest: int = FORMAT) -> Header:
    """Return the header of its bytes, of a format from `oldest` on. `path`: for errors.

    Raises:
        StoreFormatError: they are none, or of another format.
        StoreCorruptError: they are damaged.
    """
    if header is None or not bytes(header).startswith(MAGIC):
        raise StoreFormatError(f"{path} is no simcrawl store: expected its header to start with {MAGIC!r}, found {header!r:.40}")
    version = int.from_bytes(header[len(MAGIC) : _VALUES], "big")
    if version > FORMAT:
        raise StoreFormatError(f"{path} has format {version}, this simcrawl reads up to {FORMAT}: upgrade simcrawl, or use another store")
    if version < OLDEST:
        raise StoreFormatError(f"{path} has format {version}, this simcrawl reads {OLDEST} to {FORMAT}: start a new store")
    if version < oldest:
        raise StoreFormatError(
            f"{path} has format {version}, this simcrawl writes {FORMAT}: run `simcrawl upgrade {path}`, which keeps the register, "
            "rejections and history"
        )
    try:
        values = json.loads(unseal(header[_VALUES:], "it"))
        return Header(**{field.name: values[field.name] for field in fields(Header)})
    except (StoreCorruptError, ValueError, KeyError, TypeError) as exc:
        raise StoreCorruptError(f"{path} has a damaged header ({exc!r}): restore it from a backup, or start a new store") from exc


def read_header(path: Path, env: Environment, *, oldest: int = FORMAT) -> Header:
    """Return the header of a store that is whole.

    Raises:
        StoreFormatError: it is none, or of another format, or its making was cut short.
        StoreCorruptError: the header is damaged.
    """
    names, found = _names(path, env), None
    if names:
        with env.begin(db=env.open_db(b"meta", create=False)) as txn:
            found = txn.get(HEADER)
    # The last of the databases that are made.
    made = b"crawls" in names
    header = parse_header(path, found, oldest=oldest) if made or found else None
    if header is None or not made:
        raise StoreFormatError(f"{path} is just being made, or its making was cut short: run a crawl with it first")
    return header


def read_format(env: Environment) -> int:
    """Return the format of a store that has a header."""
    with env.begin(db=env.open_db(b"meta", create=False)) as txn:
        return int.from_bytes((txn.get(HEADER) or b"")[len(MAGIC) : _VALUES], "big")


def read_or_write_header(path: Path, env: Environment, wanted: Header) -> Header:
    """Return the header of a store, which is this one where there was none.

    Raises:
        StoreFormatError: something else is there, or a store of another format.
        StoreCorruptError: the header is damaged.
    """
    _names(path, env)
    meta = env.open_db(b"meta")
    with env.begin(db=meta) as txn:
        found = txn.get(HEADER)
    if found is None:
        with env.begin(db=meta, write=True) as txn:
            # Another process may have made the store meanwhile: the first header stands.
            txn.put(HEADER, format_header(wanted), overwrite=False)
            found = txn.get(HEADER)
    return parse_header(path, found)


def write_header(env: Environment, header: Header) -> None:
    """Write the header of a new store."""
    with env.begin(write=True, db=env.open_db(b"meta")) as txn:
        txn.put(HEADER, format_header(header))


def check_is_ours(path: Path, env: Environment) -> None:
    """Refuse what no simcrawl has written, of whatever format.

    Raises:
        StoreFormatError: it is something else's.
    """
    if b"meta" in _names(path, env):
        with env.begin(db=env.open_db(b"meta", create=False)) as txn:
            if not (txn.get(HEADER) or MAGIC).startswith(MAGIC):
                raise StoreFormatError(f"{path} is an LMDB environment of something else: point SIMCRAWL_STORE elsewhere")


def _names(path: Path, env: Environment) -> set[bytes]:
    with env.begin() as txn:
        names = set(txn.cursor().iternext(keys=True, values=False))
    if names and b"meta" not in names:
        raise StoreFormatError(f"{path} is an LMDB environment of something else: point SIMCRAWL_STORE elsewhere")
    return names


def databases(env: Environment, *, create: bool = True) -> Databases:
    """Return the databases of pages, owners and the register, made where there are none."""
    links, plain = (
        ("fingerprints", "bodies", "texts"),
        ("meta", "numbers", "pages", "duplicates", "rejections", "contents", "visits", "crawls"),
    )
    with opened_at_once(env, create=create) as txn:
        found = {name: env.open_db(name.encode(), txn=txn, dupsort=True, dupfixed=True, create=create) for name in links}
        return Databases(**found, **{name: env.open_db(name.encode(), txn=txn, create=create) for name in plain})
