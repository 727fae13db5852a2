"""Stores: where fingerprints and pages are kept between decisions. `open_store` is the door to all of them.

    store              Store: decisions, queries, the register, commits; the one class that others know
    ├ header           what a store was made with
    ├ claims           what is claimed or confirmed, and not yet written
    │ └ page_index     pages in memory, findable in every way that a rule asks for
    ├ titles           titles of pages that were kept lately
    ├ dropped          copies of which other copies have to be copies, too
    ├ views            what a rule sees where it is not to see all
    ├ committed        what is written, as two protocols: a new kind of store is one class
    │ ├ memory         in dictionaries
    │ └ lmdb_pages     in LMDB
    │   ├ snapshot     reads and writes within one transaction
    │   └ records, header_bytes, texts      bytes
    ├ register         lines of the register
    │ ├ clusters       what lines bind together
    │ └ rejections     verdicts that a user took back
    └ crawls           a crawl on a store, and its own pages
      ├ crawl_note     what its runs share
      └ crawl_files, visits                 on disk
    running            what runs tell of themselves while they last
    fleet              many machines, one crawl: a log orders their claims
    ├ fleet_opening    stores of a fleet
    │ └ fleet_local    those that are in a directory
    ├ fleet_link       what binds a store to it
    │ └ fleet_order    claims of everybody, in the order of the log
    ├ fleet_crawls     who lives, and which crawls are under way
    └ fleet_wire       the line to the log, and what happens while that is away
      ├ fleet_events   what the log says
      └ fleet_log      the log, in Redis
    opening            stores in directories, shared within a process
    ├ files            who may use a store's files, and how others take their place
    ├ truncation       files that were cut short
    └ apart            a look by a process of its own, which damage may end
    maintenance        rebuild, compact, reset
    └ upgrading        stores of older versions, and pages of another recipe
    verification       what is wrong with a store

Indented is what serves the one above.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from simcrawl.errors import SettingError
from simcrawl.index.permutations import choose_design
from simcrawl.page.fingerprint import without_user
from simcrawl.page.recipes import resolve
from simcrawl.store.claims import Admission, Claim
from simcrawl.store.crawls import Crawl, join_crawl, join_loaded
from simcrawl.store.header import Header
from simcrawl.store.memory import memory_store
from simcrawl.store.register import PREDICTED, Duplicate
from simcrawl.store.store import Store

if TYPE_CHECKING:
    from simcrawl.page.recipes import Recipe
    from simcrawl.store.running import Run

_BITS, _DISTANCE = 64, 3
_FLEETS = ("redis", "rediss", "unix")

__all__ = [
    "PREDICTED",
    "Admission",
    "Claim",
    "Crawl",
    "Duplicate",
    "Header",
    "Store",
    "compact",
    "is_fleet",
    "join_crawl",
    "join_loaded",
    "open_store",
    "read_job",
    "rebuild",
    "reset",
    "runs",
    "upgrade",
    "verify",
]


def open_store(
    where: str | os.PathLike[str],
    *,
    recipe: str | Recipe | None = None,
    bits: int | None = None,
    design: str | None = None,
    seed: int | str | None = None,
    sync_seconds: float = 1.0,
    expected_pages: int | None = None,
    **options: Any,
) -> Store:
    """Return a store, made where there is none: a directory, `lmdb:///absolute/path`, `memory:` (`memory:?seed=1`), or a fleet's, `redis://`.

    `recipe`: binds a new store, is checked against an old one; without it the first page binds the store. `bits`, `design`,
    `seed` likewise are for a new store and checked against an old one; `seed="random"` lets a new store choose its own.
    `expected_pages` chooses a new store's design where `design` does not, by cost: `simcrawl.index.permutations.choose_design`. Options of
    a directory: `map_size` in bytes; `create=False`; `readonly=True`, which takes no lock that a writer waits for, and refuses to write;
    `memory`, the bytes that its fingerprints may take in memory, by default 192 MB; `mode`, of the files of a new store: 0o600, the user's
    alone, or such as 0o660.

    Within a process all users of one directory share one store; each closes it once.

    Raises:
        SettingError: no store has such a URL.
        StoreFormatError: something else is there, or a store of a newer simcrawl.
        StoreMismatchError: the store was made with other values.
        StoreError: the directory cannot be read or written.
    """
    chosen = None if recipe is None else resolve(recipe)
    if chosen and bits is None:
        bits = chosen.bits
    common = {"bits": bits, "design": design, "seed": seed, "sync_seconds": sync_seconds}
    if expected_pages is not None:
        distance = chosen.max_distance if chosen else _DISTANCE
        common["preferred_design"] = choose_design(bits or _BITS, distance, expected_pages)
    store = _open(os.fspath(where), common | options)
    if recipe is not None:
        try:
            store.bind(recipe)
        except BaseException:
            store.close()
            raise
    return store


def is_fleet(where: str) -> bool:
    """Return whether a URL is that of a fleet's store."""
    return where.partition("://")[0] in _FLEETS and "://" in where


def rebuild(where: str | os.PathLike[str], design: str) -> None:
    """Give a store in a directory the tables of another design: see `simcrawl.store.maintenance.rebuild`."""
    from simcrawl.store.maintenance import rebuild as rebuild_directory  # noqa: PLC0415 - memory stores work without lmdb

    rebuild_directory(_directory(where), design)


def compact(where: str | os.PathLike[str]) -> int:
    """Give back the space that a store in a directory does not need: see `simcrawl.store.maintenance.compact`."""
    from simcrawl.store.maintenance import compact as compact_directory  # noqa: PLC0415 - as above

    return compact_directory(_directory(where))


def upgrade(where: str | os.PathLike[str], recipe: str | Recipe | None = None) -> dict[str, int]:
    """Let this version go on with a store in a directory that an older one made; with `recipe`, with one of another recipe.

    Returns what was kept, and what was left out, by their names: see `simcrawl.store.upgrading`.
    """
    from simcrawl.store.upgrading import upgrade as upgrade_directory  # noqa: PLC0415 - as above

    return upgrade_directory(_directory(where), recipe).as_dict()


def verify(where: str | os.PathLike[str]) -> list[str]:
    """Return what is wrong with a store in a directory, a line each, none where all is well. Reads everything, writes nothing.

    Unlike `Store.verify` a process of its own reads, so that damage which would end that is a line, too, with what was being read.

    Raises:
        StoreFormatError: there is no store.
        StoreError: it cannot be opened.
    """
    if is_fleet(os.fspath(where)):
        with open_store(where, create=False, readonly=True) as store:
            return store.verify()
    from simcrawl.store.opening import problems_of  # noqa: PLC0415 - as above

    return problems_of(_directory(where))


def reset(where: str | os.PathLike[str]) -> None:
    """Remove all that a store in a directory holds: see `simcrawl.store.maintenance.reset`."""
    from simcrawl.store.maintenance import reset as reset_directory  # noqa: PLC0415 - as above

    reset_directory(_directory(where))


def read_job(job: Path) -> str | None:
    """Return the id of the crawl that an interrupted run belonged to, from the file that `join_crawl` was given; None without one."""
    from simcrawl.store.crawl_files import read_job as read  # noqa: PLC0415 - as above

    return read(job)


def runs(where: str | os.PathLike[str]) -> list[Run]:
    """Return what the runs of crawls on a store tell of themselves, by when they began; the last words of killed ones among them.

    Without opening the store: it costs the crawls nothing.

    Raises:
        SettingError: it is a fleet's, or memory, whose crawls cannot be watched.
        StoreFormatError: there is no store.
    """
    from simcrawl.store.running import runs_on  # noqa: PLC0415 - as above

    path = os.fspath(where)
    if is_fleet(path) or path.startswith("memory:"):
        raise SettingError(
            f"crawls with {without_user(path)} cannot be watched, for that is no directory: read their logs and stats, "
            "or set SIMCRAWL_STORE to a directory"
        )
    return runs_on(Path(_directory(where)).expanduser())


def _directory(where: str | os.PathLike[str]) -> str:
    path = os.fspath(where)
    if is_fleet(path):
        raise SettingError(f"{without_user(path)} is a fleet's store, which has no directory: give a store in a directory")
    return unquote(urlsplit(path).path) if path.startswith("lmdb:///") else path


def _open(where: str, options: dict[str, Any]) -> Store:
    scheme, colon, _ = where.partition(":")
    if not colon or os.sep in scheme:
        return _open_lmdb(where, options)
    if scheme == "memory":
        return _open_memory(options | _seed_of(where))
    if is_fleet(where):
        return _open_fleet(where, options)
    parts = urlsplit(where)
    if scheme == "lmdb" and parts.path.startswith("/") and not parts.netloc:
        return _open_lmdb(unquote(parts.path), options)
    raise SettingError(f"no store has the URL {without_user(where)!r}: use a directory, lmdb:///absolute/path, redis://host/0 or memory:")


def _open_lmdb(path: str, options: dict[str, Any]) -> Store:
    from simcrawl.store.opening import open_lmdb  # noqa: PLC0415 - memory stores work without lmdb

    return open_lmdb(path, **options)


def _open_fleet(url: str, options: dict[str, Any]) -> Store:
    from simcrawl.store.fleet_opening import open_fleet  # noqa: PLC0415 - as above

    return open_fleet(url, **options)


def _seed_of(url: str) -> dict[str, int]:
    """Return the seed that a URL asks for, as in `memory:?seed=1`: a crawl that is to give the same result every time."""
    found = parse_qs(urlsplit(url).query, keep_blank_values=True)
    if set(found) - {"seed"} or not all(value.isdecimal() for values in found.values() for value in values):
        raise SettingError(f"no store has the URL {url!r}: memory: takes a seed, as memory:?seed=1, and nothing else")
    return {name: int(values[-1]) for name, values in found.items()}


def _open_memory(options: dict[str, Any]) -> Store:
    design = options.get("preferred_design") if options["design"] is None else options["design"]
    header = Header.new(bits=options["bits"], design=design, seed=options["seed"])
    return memory_store(header, sync_seconds=options["sync_seconds"])
