"""Stores in directories: who opens one, and who shares it. The door is `simcrawl.store.open_store`.

LMDB refuses to open an environment twice in a process, and two crawlers in one process are a normal thing. The claims that make admission
atomic must be shared among them, too: so what is shared is the whole store, and each of its users closes it once.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from simcrawl.errors import StoreCorruptError, StoreError, StoreMismatchError
from simcrawl.index.durable import DurableIndex
from simcrawl.index.environment import MAP_SIZE, index_databases, mapped_errors, open_environment
from simcrawl.store.apart import can_look_apart, problems_apart, tell_all
from simcrawl.store.crawl_files import LOADED_PAGES, held_crawls, join
from simcrawl.store.crawl_note import LOADED, Home, Joined, Note, checked_name
from simcrawl.store.files import DATA, PRIVATE, hold, hold_directory, look_for_store, make_directory, mode_of, opening
from simcrawl.store.header import Header
from simcrawl.store.header_bytes import databases, read_header, read_or_write_header
from simcrawl.store.lmdb_pages import LmdbPages
from simcrawl.store.snapshot import Files
from simcrawl.store.store import Store
from simcrawl.store.truncation import fill_up, is_unmade, missing_bytes
from simcrawl.store.verification import problems
from simcrawl.system import checked_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Pages = TypeVar("_Pages", bound=LmdbPages)
_open: dict[Path, tuple[Store, LmdbPages, int]] = {}
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
    mode: int = PRIVATE,
) -> Store:
    """Return the store in a directory, made where there is none; see `simcrawl.open_store`."""
    where = Path(path).expanduser().resolve()
    checked_mode(mode)
    wanted: dict[str, Any] = {"bits": bits, "design": design, "seed": seed}
    with _opening:
        if where in _open:
            store, pages, uses = _open[where]
            if pages.readonly and not readonly:
                raise StoreError(f"{where} is open in this process to be read only: close it first")
            _check_header(where, store.header, wanted)
        else:
            fresh = Header.new(**wanted | {"design": preferred_design if design is None else design})
            made = mode if create and not readonly else None
            pages = open_pages(where, wanted, fresh, map_size=map_size, mode=made, readonly=readonly, memory=memory)
            store, uses = Store(pages, _DirectoryHomes(where, pages), sync_seconds=sync_seconds, path=where, release=_release), 0
        _open[where] = store, pages, uses + 1
    return store


def _release(store: Store, shut: Callable[[], None]) -> None:
    """Give back one use of a store; the last one shuts it."""
    with _opening:
        held, pages, uses = _open.get(store.path or Path(), (None, None, 0))
        if held is not store or pages is None:
            return
        if uses > 1:
            _open[pages.path] = store, pages, uses - 1
            return
        del _open[pages.path]
        shut()


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


def _check_header(path: Path, header: Header, wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        if value not in (None, "random", getattr(header, name)):
            # Who reads logs is not to know a seed.
            made = "another seed" if name == "seed" else f"{name} {getattr(header, name)}, not {value}"
            raise StoreMismatchError(f"{path} was made with {made}: leave {name} out, or use another path")


def open_pages(path: Path, wanted: dict[str, Any], fresh: Header, *, of: type[_Pages] = LmdbPages, **options: Any) -> _Pages:  # type: ignore[assignment]
    """Return the pages in a directory, an object `of` this class, made where there are none, like `fresh`; see `open_lmdb`."""
    if missing := missing_bytes(path / DATA):
        with mapped_errors(path):
            check_size(path)
            if not options["readonly"]:
                fill_up(path / DATA, missing)
    return _open_whole(path, wanted, fresh, of, **options)


def check_size(path: Path) -> None:
    """Refuse a store whose file lacks more than free pages: reading what is missing would end the process.

    So a process of its own reads all that there is. Whoever opens a store to write fills the file up then, so that nobody has to ask again.

    Raises:
        StoreCorruptError: more is missing.
    """
    missing = missing_bytes(path / DATA)
    if not missing:
        return
    if lie := _false_size(path, missing):
        raise StoreCorruptError(lie)
    try:
        found = (
            problems_apart(path) if can_look_apart() else ["this Python cannot start another one, which would look whether it can be used"]
        )
    except StoreError as exc:
        raise _cut_short(path, missing, str(exc)) from exc
    if found:
        raise _cut_short(path, missing, found[0])


def _false_size(path: Path, missing: int) -> str | None:
    """Return what is wrong where a file lacks as much as it has: no crawl frees so many pages at once, but a flipped bit says so."""
    size = (path / DATA).stat().st_size
    if missing < size:
        return None
    told = f"of {size + missing} bytes that it says it has {size} are there"
    return f"{path}/data.mdb is cut short, or its first pages are damaged ({told}): restore the store from a backup"


def _cut_short(path: Path, missing: int, problem: str) -> StoreCorruptError:
    return StoreCorruptError(f"{path}/data.mdb is cut short, {missing} bytes are missing ({problem}): restore the store from a backup")


def problems_of(path: str | os.PathLike[str]) -> list[str]:
    """Return what is wrong with a store in a directory, a line each: see `simcrawl.store.verify`."""
    where = Path(path).expanduser().resolve()
    look_for_store(where, create=False)
    if can_look_apart():
        return problems_apart(where)
    with open_lmdb(where, create=False, readonly=True) as store:
        return store.verify()


def tell_problems(path: str) -> None:
    """Print what is wrong with a store, in the process that `simcrawl.store.apart` has started for it."""
    where = Path(path)

    def look(reading: Callable[[str], None]) -> Iterator[str]:
        if lie := _false_size(where, missing_bytes(where / DATA)):
            yield lie
        pages = _open_whole(where, {}, None, LmdbPages, map_size=MAP_SIZE, mode=None, readonly=True, memory=None)
        with pages.reading() as snapshot:
            yield from problems(snapshot, reading)

    tell_all(look)


def _open_whole(
    path: Path,
    wanted: dict[str, Any],
    fresh: Header | None,
    of: type[_Pages],
    *,
    map_size: int,
    mode: int | None,
    readonly: bool,
    memory: int | None,
) -> _Pages:
    with mapped_errors(path):
        if not look_for_store(path, create=mode is not None):
            path.parent.mkdir(parents=True, exist_ok=True)
            make_directory(path, mode or PRIVATE)
        files = _open_files(path, wanted, None if readonly else fresh, map_size=map_size, memory=memory, mode=mode or PRIVATE)
        kept = {"bits": files.header.bits, "seed": files.header.seed}
        return of(path, files, partial(_open_files, path, kept, None, map_size=map_size, memory=memory))


def _open_files(
    path: Path, wanted: dict[str, Any], fresh: Header | None, *, map_size: int, memory: int | None, mode: int = PRIVATE
) -> Files:
    """Open a store's files: with the header of a new store to write to them, with None to read only."""
    with ExitStack() as opened:
        if fresh:
            opened.enter_context(hold(path, mode=mode))
            _empty_unmade(path)
        with opening(path):
            data = (path / DATA).stat()
            env = opened.enter_context(open_environment(path, map_size, readonly=fresh is None))
        header = read_or_write_header(path, env, fresh) if fresh else read_header(path, env)
        _check_header(path, header, wanted)
        create = fresh is not None
        index = DurableIndex(header.design_of_tables, index_databases(env, header.design_of_tables, create=create), memory=memory)
        return Files(env, databases(env, create=create), index, header, data, opened.pop_all().close)


def _empty_unmade(path: Path) -> None:
    """Let LMDB begin a file anew that a full disk kept it from making: it takes half of one for another program's."""
    if is_unmade(path / DATA):
        # Nobody opens it meanwhile, nor has it open.
        with hold_directory(path, alone=True):
            if is_unmade(path / DATA):
                os.truncate(path / DATA, 0)


class _DirectoryHomes:
    """The crawls on a store in a directory, of all processes: see `simcrawl.store.store.Homes` and `simcrawl.store.crawl_files`."""

    def __init__(self, path: Path, pages: LmdbPages) -> None:
        self._path, self._pages = path, pages

    def join(self, store: Store, name: str | None, *, spider: str, resume: str | None, job: str | None) -> tuple[Store, Home, Joined]:
        """Return where a crawl on a store meets."""
        checked_name(name)
        self._check_writable()
        home = join(self._path, name, spider=spider, resume=resume, job=job)
        try:
            own = _own_store(store, home.pages)
            own.see_loaded(partial(self._open_loaded, store))
        except BaseException:
            # What went wrong first is to be told: on a full disk this fails, too, and the next crawl removes what is left.
            with suppress(StoreError):
                home.leave(lambda _: None, lambda _: None, lambda: None)
            raise
        return own, home, home.joined

    def join_loaded(self, store: Store) -> tuple[Store, Home, Joined]:
        """Return where the crawl of the loaded pages meets."""
        self._check_writable()
        loaded = _own_store(store, self._path / LOADED_PAGES)
        for crawl in store.joined:
            # Crawls of this process that began before; those of others find what is loaded when they begin.
            if crawl.own is not loaded:
                crawl.own.see_loaded(partial(self._open_loaded, store))
        return loaded, _LoadedHome(), Joined(Note(LOADED))

    def _check_writable(self) -> None:
        if self._pages.readonly:
            raise StoreError(f"{self._path} is open to be read only: open it to write before a crawl begins on it")

    def _open_loaded(self, store: Store) -> Store | None:
        """Return the store of the loaded pages, for a crawl's own store, which closes it with itself."""
        path = self._path / LOADED_PAGES
        return _own_store(store, path) if (path / DATA).exists() else None

    @contextmanager
    def spaces(self, store: Store, *, crawls: bool) -> Iterator[list[Store]]:
        """Give the stores of the loaded pages, and of each crawl."""
        with ExitStack() as opened:
            paths = opened.enter_context(held_crawls(self._path)) if crawls else []
            yield [opened.enter_context(_own_store(store, path)) for path in (self._path / LOADED_PAGES, *paths) if (path / DATA).exists()]


def _own_store(lasting: Store, path: Path) -> Store:
    """Return a crawl's own store: a new one has the lasting store's design, and one that was made before a rebuild may have another."""
    header = lasting.header
    like: dict[str, Any] = {"bits": header.bits, "seed": header.seed, "preferred_design": header.design}
    own = open_lmdb(path, **like, sync_seconds=lasting.sync_seconds, mode=mode_of(lasting.path or path))
    own.belong_to(lasting)
    return own


class _LoadedHome:
    """Of the crawl that never ends: see `simcrawl.store.crawl_note.Home`."""

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:  # noqa: ARG002 - it does not end
        """Leave the crawl."""
        close()
        return False
