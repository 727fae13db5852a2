"""Work on a store as a whole, while nobody else writes to it: other tables, less space.

A new file is written beside the old one and put in its place in one step, so that a crash at any moment leaves one of the two. Who reads
the store meanwhile sees what it held, and from then on the new file.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreCorruptError
from simcrawl.index.durable import DurableIndex
from simcrawl.index.environment import index_databases, mapped_errors, open_alone, open_new
from simcrawl.store.crawl_files import CRAWLS, LOADED_PAGES, SPIDERS, own_stores
from simcrawl.store.files import DATA, make_directory, mode_of, put_in_place, remove
from simcrawl.store.header_bytes import FORMAT, check_is_ours, databases, read_header, write_header
from simcrawl.store.opening import alone, check_size
from simcrawl.store.running import RUNNING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmdb import Environment

    from simcrawl.store.header import Header

_BESIDE = "rewriting"


def rebuild(path: str | os.PathLike[str], design: str) -> None:
    """Give a store the tables of another design, and with it the loaded pages and those of stopped crawls; pages, register and recipe stay.

    Needs as much free space as the store takes, and that nobody else writes to it: who wants to meanwhile waits; who reads does not.

    Raises:
        ValueError: there is no such design for fingerprints of that width.
        StoreFormatError: there is no store.
        StoreError: somebody writes to the store, this process has it open, or it cannot be read or written.
    """
    with rewritten(path) as (old, header, new_path):
        wanted = replace(header, design=design)
        for own in own_stores(Path(path).expanduser().resolve()):
            rebuild(own, design)
        _fill(old, header, new_path, wanted)


def compact(path: str | os.PathLike[str]) -> int:
    """Give back the space that removed pages and old commits took; return how many bytes. Needs what `rebuild` needs.

    Raises:
        StoreFormatError: there is no store.
        StoreError: somebody writes to the store, this process has it open, or it cannot be read or written.
    """
    data = Path(path, DATA).expanduser()
    before = data.stat().st_size if data.exists() else 0
    with rewritten(path) as (old, _, new_path):
        # As bytes, for a name may be no text: its types know texts only.
        old.copy(os.fsencode(new_path), compact=True)  # type: ignore[arg-type]
    return before - data.stat().st_size


def reset(path: str | os.PathLike[str]) -> None:
    """Remove all that a store holds, so that the next crawl begins a new one: pages, register, rejections, history, and what was loaded.

    Crawls that were interrupted can no longer be resumed with what they knew.

    Raises:
        StoreFormatError: there is no store, or something else.
        StoreError: somebody writes to the store, this process has it open, or it cannot be written.
    """
    where = Path(path).expanduser().resolve()
    with mapped_errors(where), alone(where):
        _check_is_store(where)
        remove(where, CRAWLS, LOADED_PAGES, SPIDERS, RUNNING)


def _check_is_store(where: Path) -> None:
    with open_alone(where) as env:
        check_is_ours(where, env)


@contextmanager
def rewritten(path: str | os.PathLike[str], *, oldest: int = FORMAT) -> Iterator[tuple[Environment, Header, Path]]:
    """Yield a store's environment, its header, and an empty directory for the new one, which takes its place at the end.

    Nothing does where that directory was removed. `oldest`: the format that the store has to have at least.
    """
    where = Path(path).expanduser().resolve()
    with mapped_errors(where), alone(where):
        check_size(where)
        beside = where / _BESIDE
        shutil.rmtree(beside, ignore_errors=True)
        make_directory(beside, mode_of(where))
        try:
            # Without LMDB's locks, as nobody writes: these readers need no place among the others'.
            with open_alone(where) as old:
                yield old, read_header(where, old, oldest=oldest), beside
            if beside.exists():
                put_in_place(beside)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _fill(old: Environment, header: Header, path: Path, wanted: Header) -> None:
    with open_new(path) as new:
        write_header(new, wanted)
        # Before a transaction begins: a handle is of no use to an older one.
        sources, targets = databases(old, create=False), databases(new)
        for name in sources._fields:
            if name != "meta":
                _copy(old, getattr(sources, name), new, getattr(targets, name))
        _load(old, header, new, wanted)


def _copy(old: Environment, source: Any, new: Environment, target: Any) -> None:
    # Older releases of lmdb ask the transaction's database, not the cursor's, whether there may be several values under a key.
    with old.begin(db=source) as reading, reading.cursor() as held, new.begin(write=True, db=target) as writing, writing.cursor() as cursor:
        read, written = cursor.putmulti(held, append=True)
    if written != read:
        raise StoreCorruptError(f"{written} of {read} entries could be copied: run simcrawl verify, restore the store from a backup")


def _load(old: Environment, header: Header, new: Environment, wanted: Header) -> None:
    held, made = (
        DurableIndex(one.design_of_tables, index_databases(env, one.design_of_tables, create=env is new))
        for env, one in ((old, header), (new, wanted))
    )
    with old.begin() as reading:
        held.copy(reading, made, partial(new.begin, write=True))
        before = held.log.counters(reading)
    with new.begin() as reading:
        after = made.log.counters(reading)
    if (before.distinct, before.checksum) != (after.distinct, after.checksum):
        raise StoreCorruptError(
            f"{after.distinct} of {before.distinct} fingerprints could be read: run simcrawl verify, restore the store from a backup"
        )
