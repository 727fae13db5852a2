"""A directory beside a fleet's log: what the log says, on disk, so that a process that starts reads only what came later.

    log              1 ── 2 ── 3 ── 4 ── 5 ── 6 ── 7 ──►
                               ▲              ▲
    noted in the directory ────┘              └──── what its stores hold at most
    (place, who has told what, open claims,
    crawls; all pages until there are written)

A checkpoint notes the place first, with all that has no place in a store: open claims, crawls under way, the numbers of the last events.
Then it commits the stores, and writes down last what it has noted, in one transaction. So the stores are at that place or later, whenever
the process is killed, and those of a crawl may be later than those of the fleet. A start reads the log from the place on: what the stores
have already they are told once more. That does no harm, for every event says what is to be, not what is to be changed, and all later ones
come again, too, in their order. The one exception, records of crawls, is looked for before it is written.

For that, a store must not be ahead of the log itself: pages that this process has confirmed are written once the log says so (`told`).
Nor may the pages of a crawl go before its end is behind a place that was noted: they are removed when the directory is opened or closed.

Since a start needs nothing of the log before its place, the log may be trimmed there. A start that does need it is refused: `is_trimmed`.

One process has a directory; others on the machine have their own. A copy of it, made while no process has it, starts another machine.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreCorruptError, StoreError
from simcrawl.index.environment import MAP_SIZE
from simcrawl.store.files import DATA, PRIVATE, make_directory, make_file
from simcrawl.store.fleet_events import LASTING
from simcrawl.store.lmdb_pages import LmdbPages
from simcrawl.store.opening import open_pages
from simcrawl.system import lock

if TYPE_CHECKING:
    from pathlib import Path

    from simcrawl.store.header import Header

_OWN, _LOCK = "fleet", "lock"


class LocalPages(LmdbPages):
    """Pages of a fleet's store in a directory. Stores close them before the fleet has ended, which may write to them until then."""

    def close(self) -> None:
        """Do nothing: see `Local.close`."""

    def release(self) -> None:
        """Release the files."""
        super().close()


class Local:
    """The directory of one process of a fleet. `memory`, `map_size`, `mode`: as of every store in a directory."""

    def __init__(self, path: Path, *, mode: int = PRIVATE, memory: int | None = None, map_size: int = MAP_SIZE) -> None:
        self.path = path
        self._options: dict[str, Any] = {"mode": mode, "memory": memory, "map_size": map_size}
        self._opened: dict[bytes, LocalPages] = {}
        self._held: int | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a store."""
        return (self.path / DATA).exists()

    def pages(self, space: bytes, header: Header) -> LocalPages:
        """Return the pages of a store, made where there are none.

        Raises:
            StoreError: another process has the directory, or it cannot be read or written.
        """
        if space not in self._opened:
            own = self.path if space == LASTING else self.path / _OWN / space.hex()
            like: dict[str, Any] = {"fresh": header, "readonly": False}
            pages = self._opened[space] = open_pages(own, {}, of=LocalPages, **like, **self._options)
            if space == LASTING:
                self._hold()
            elif header.recipe and pages.header.recipe is None:
                pages.bind(header.recipe)
        return self._opened[space]

    def _hold(self) -> None:
        make_directory(self.path / _OWN, self._options["mode"])
        self._held = make_file(self.path / _OWN / _LOCK, self._options["mode"])
        try:
            lock(self._held, alone=True, wait=False)
        except BlockingIOError as exc:
            self.close()
            raise StoreError(f"another process has {self.path}: give each process of a fleet a directory of its own (local=)") from exc

    def read(self) -> dict[str, Any] | None:
        """Return what the last checkpoint has noted; None where there was none, or it is damaged."""
        try:
            noted = self._opened[LASTING].noted()
            return None if noted is None else dict(json.loads(noted))
        except (StoreCorruptError, ValueError):
            # The log has it all.
            return None

    def write(self, state: dict[str, Any]) -> None:
        """Note a checkpoint.

        Raises:
            StoreError: it cannot be written.
        """
        self._opened[LASTING].note(json.dumps(state, separators=(",", ":")).encode())

    def tidy(self, spaces: set[bytes]) -> None:
        """Remove the pages of all crawls but these."""
        for directory in (self.path / _OWN).iterdir():
            if directory.is_dir() and directory.name not in {space.hex() for space in spaces}:
                if pages := self._opened.pop(bytes.fromhex(directory.name), None):
                    pages.release()
                shutil.rmtree(directory, ignore_errors=True)

    def close(self) -> None:
        """Release all files."""
        while self._opened:
            self._opened.popitem()[1].release()
        if self._held is not None:
            os.close(self._held)
            self._held = None
