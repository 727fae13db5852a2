"""What runs of crawls tell of themselves while they last: a small file each, for whoever watches from another process.

    STORE/running/TOKEN.json    what a run tells, written anew every few seconds, in one step
    STORE/running/TOKEN.live    held (flock) by the run for as long as it lives

A run takes both along when it ends. A killed one gives up what it held, and what it told last stays: the next run removes it. Not in LMDB:
a reader there needs the store's lock file and its tables, and a writer would wait for whoever commits.
"""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.store.files import hold_directory, is_held, look_for_store, make_directory, make_file, mode_of, write_whole
from simcrawl.system import lock

if TYPE_CHECKING:
    from pathlib import Path

RUNNING = "running"
_TOLD, _LIVE = ".json", ".live"


class Run(NamedTuple):
    """What a run has told last, a JSON object, and whether it still lives."""

    told: dict[str, Any]
    lives: bool


class Telling:
    """A run's own file in the store at a path. Not thread-safe."""

    def __init__(self, store: Path) -> None:
        """Begin, and remove what killed runs have left.

        Raises:
            OSError: the directory cannot be written.
        """
        directory, self._mode = store / RUNNING, mode_of(store)
        make_directory(directory, self._mode)
        token = secrets.token_hex(8)
        self._told, self._live = directory / f"{token}{_TOLD}", directory / f"{token}{_LIVE}"
        # Or another one that begins would take this one for dead before it holds anything.
        with hold_directory(directory, alone=True):
            for live in directory.glob(f"*{_LIVE}"):
                if not is_held(live, by_one=True):
                    for left in directory.glob(f"{live.stem}.*"):
                        left.unlink(missing_ok=True)
            self._held = os.fdopen(make_file(self._live, self._mode), "ab")
            lock(self._held, alone=True)

    def tell(self, state: dict[str, Any]) -> None:
        """Put a state in place of the last one.

        Raises:
            OSError: it cannot be written.
        """
        write_whole(self._told, json.dumps(state), self._mode)

    def end(self) -> None:
        """Take everything along."""
        for file in (self._told, self._live):
            file.unlink(missing_ok=True)
        self._held.close()


def runs_on(store: Path) -> list[Run]:
    """Return the runs on a store, by when they began; the last words of killed ones among them.

    Raises:
        StoreFormatError: there is no store.
    """
    look_for_store(store, create=False)
    found = []
    for file in (store / RUNNING).glob(f"*{_TOLD}"):
        try:
            told = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # it has ended meanwhile
            continue
        found.append(Run(told, lives=is_held(file.with_suffix(_LIVE), by_one=True)))
    return sorted(found, key=lambda run: run.told["started"])
