"""Opens the store of a fleet: `redis://`, `rediss://`, `unix://`. The door is `simcrawl.store.open_store`."""

from __future__ import annotations

import json
import logging
import secrets
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreCorruptError, StoreError, StoreFormatError, StoreMismatchError
from simcrawl.index.environment import MAP_SIZE
from simcrawl.store.crawl_note import LOADED as LOADED_ID, Joined, Note, checked_name
from simcrawl.store.files import PRIVATE
from simcrawl.store.fleet import Fleet, Times
from simcrawl.store.fleet_crawls import Run
from simcrawl.store.fleet_events import LASTING, LOADED, as_json
from simcrawl.store.fleet_local import Local, LocalPages
from simcrawl.store.fleet_log import RedisLog
from simcrawl.store.header import Header
from simcrawl.store.memory import MemoryPages
from simcrawl.store.store import Store
from simcrawl.system import checked_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simcrawl.store.crawl_note import Home
    from simcrawl.store.fleet_crawls import LiveCrawl

logger = logging.getLogger(__name__)

_FORMAT = 1


def open_fleet(
    url: str,
    *,
    bits: int | None = None,
    design: str | None = None,
    preferred_design: str | None = None,
    seed: int | str | None = None,
    sync_seconds: float = 1.0,
    create: bool = True,
    readonly: bool = False,
    memory: int | None = None,
    map_size: int = MAP_SIZE,
    mode: int = PRIVATE,
    times: Times | None = None,
) -> Store:
    """Return this process's store of a fleet, with all that the fleet's log holds; see `simcrawl.open_store`."""
    fresh = Header.new(bits=bits, design=preferred_design if design is None else design, seed=seed)
    log, local = RedisLog(url), None
    try:
        if log.local and not readonly:
            local = Local(log.local, mode=checked_mode(mode), memory=memory, map_size=map_size)
        if local and local.exists:
            # Of a log that was lost: its header is to be what it was.
            fresh = local.pages(LASTING, fresh).header
        stored = _made(log, fresh if create and not readonly else None)
        header = _parse(stored, log.shown)
        _check(header, {"bits": bits, "design": design, "seed": seed}, log.shown)
        if policy := log.forgets():
            logger.warning(
                "%s evicts what is old when its memory is full (%s), the log as well: set maxmemory-policy noeviction", log.shown, policy
            )
        fleet = Fleet(log, stored, times or Times(), local=local, readonly=readonly)
        homes = _FleetHomes(fleet, local)
        pages = _local_pages(local, header, log.shown) if local else _Pages(header, readonly=readonly)
        store = Store(pages, homes, sync_seconds=sync_seconds, release=homes.release, link=fleet.link(LASTING))
        homes.lasting = store
        fleet.begin()
        store.commit()
        fleet.checkpoint()
        fleet.tidy()
    except BaseException:
        log.close()
        if local:
            local.close()
        raise
    return store


def _local_pages(local: Local, header: Header, shown: str) -> LocalPages:
    pages = local.pages(LASTING, header)
    if (pages.header.bits, pages.header.seed) != (header.bits, header.seed):
        raise StoreMismatchError(f"{local.path} is of another fleet than {shown}: give another directory (local=), or remove it")
    return pages


class _Pages(MemoryPages):
    """Pages in memory, of a store that may be open to be read only."""

    def __init__(self, header: Header, *, readonly: bool = False) -> None:
        super().__init__(header)
        self.readonly = readonly


def _made(log: RedisLog, fresh: Header | None) -> bytes:
    if stored := log.header(_format(fresh) if fresh else None):
        return stored
    raise StoreFormatError(f"there is no store at {log.shown}: run a crawl with it first")


def _format(header: Header) -> bytes:
    made = {"bits": header.bits, "design": header.design, "seed": header.seed}
    return as_json({"simcrawl": _FORMAT, **made, "epoch": secrets.token_hex(8)})


def _parse(stored: bytes, shown: str) -> Header:
    try:
        told = json.loads(stored)
        made_by = told["simcrawl"]
    except (ValueError, KeyError, TypeError) as exc:
        raise StoreFormatError(f"{shown} holds something else than a fleet's store: use another name, as {shown}?name=other") from exc
    if made_by != _FORMAT:
        raise StoreFormatError(f"{shown} has format {made_by}, this simcrawl reads {_FORMAT}: upgrade simcrawl, or use another name")
    try:
        return Header(told["bits"], told["design"], told["seed"])
    except (ValueError, KeyError, TypeError) as exc:
        raise StoreCorruptError(f"{shown} has a damaged header ({exc!r}): use another name") from exc


def _check(header: Header, wanted: dict[str, Any], shown: str) -> None:
    for name, value in wanted.items():
        if value not in (None, "random", getattr(header, name)):
            # Who reads logs is not to know a seed.
            made = "another seed" if name == "seed" else f"{name} {getattr(header, name)}, not {value}"
            raise StoreMismatchError(f"{shown} was made with {made}: leave {name} out, or use another name")


class _FleetHomes:
    """The crawls of a fleet: see `simcrawl.store.store.Homes`. Where they begin and end is in the log."""

    lasting: Store

    def __init__(self, fleet: Fleet, local: Local | None) -> None:
        self._fleet, self._local = fleet, local
        fleet.crawls.make = self._make
        self._loaded: Store | None = None

    def release(self, _: Store, shut: Callable[[], None]) -> None:
        """Shut the store, and the fleet's part in this process."""
        try:
            shut()
        finally:
            self._fleet.close()

    def _make(self, space: bytes) -> Store:
        header, lasting = self.lasting.header, self.lasting
        pages = self._local.pages(space, header) if self._local else _Pages(replace(header), readonly=lasting.readonly)
        own = Store(pages, self, sync_seconds=lasting.sync_seconds, link=self._fleet.link(space))
        own.belong_to(lasting)
        if space == LOADED:
            self._loaded = own
            for crawl in self._fleet.crawls.live.values():
                crawl.own.see_loaded(lambda: own)
        else:
            own.see_loaded(lambda: self._loaded)
        return own

    def join(self, store: Store, name: str | None, *, spider: str, resume: str | None, job: str | None) -> tuple[Store, Home, Joined]:  # noqa: ARG002 - there is one
        """Return where a crawl of the fleet meets."""
        checked_name(name)
        if self._fleet.wire.readonly:
            raise StoreError(f"{self._fleet.wire.log.shown} is open to be read only: open it to write before a crawl begins on it")
        crawl, run, resumed = self._fleet.crawls.join(secrets.token_hex(8), name, Run(self._fleet.wire.process, spider, job), resume)
        others = len(crawl.runs) > 1
        return crawl.own, _FleetHome(self._fleet, crawl, run), Joined(crawl.note, others=others, resumed=resumed)

    def join_loaded(self, store: Store) -> tuple[Store, Home, Joined]:  # noqa: ARG002 - as above
        """Return where the crawl of the loaded pages meets."""
        loaded = self._loaded or self._make(LOADED)
        return loaded, _LoadedHome(), Joined(Note(LOADED_ID))

    @contextmanager
    def spaces(self, store: Store, *, crawls: bool) -> Iterator[list[Store]]:
        """Give the stores of the loaded pages, and of each crawl."""
        if store is not self.lasting:
            yield []
            return
        loaded = [self._loaded] if self._loaded else []
        yield [*loaded, *(crawl.own for crawl in list(self._fleet.crawls.live.values()))] if crawls else loaded


class _FleetHome:
    """Where the runs of a crawl of a fleet meet: see `simcrawl.store.crawl_note.Home`."""

    def __init__(self, fleet: Fleet, crawl: LiveCrawl, run: str) -> None:
        self._fleet, self._crawl, self._run = fleet, crawl, run

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:  # noqa: ARG002 - the fleet closes it
        """Leave the crawl."""
        run = self._crawl.runs.get(self._run)
        # What it does to a note says how the run ended.
        told = Note("", runs={run.spider: [1, 0]}) if run else Note("")
        update(told)
        ended = self._fleet.crawls.leave(self._crawl, self._run, finished=any(finished for _, finished in told.runs.values()))
        if ended:
            end(self._crawl.note)
        return ended


class _LoadedHome:
    """Of the crawl that never ends: see `simcrawl.store.crawl_note.Home`."""

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:  # noqa: ARG002 - it does not end
        """Leave the crawl."""
        return False
