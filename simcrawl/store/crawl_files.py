"""Crawls of a store on disk: the directories in which their runs, of one process or of many, meet.

    STORE/crawls/               held alone (flock) while a crawl begins, is joined, or is left
    STORE/crawls/ID/pages/      the crawl's own pages: a store
    STORE/crawls/ID/note.json   its name, when it began, its runs, and the jobs that may resume it
    STORE/crawls/ID/live        held with others (flock) by every run of it, for as long as it lives
    STORE/loaded/               the pages that were loaded: a store
    STORE/spiders/KEY.visits    what the last finished crawl of a spider saw

A killed process gives up what it held. So a crawl that nobody holds has ended, unless the job of an interrupted run may resume it: a job is
a file that holds the crawl's id, and is removed when its run has finished. Whoever begins a crawl removes those that have ended.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.errors import StoreError, StoreFullError
from simcrawl.index.environment import own_error
from simcrawl.store.crawl_note import Joined, Note
from simcrawl.store.files import DATA, hold_directory, is_held, make_directory, make_file, mode_of, write_whole
from simcrawl.store.truncation import is_unmade
from simcrawl.system import lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

CRAWLS, PAGES, LOADED_PAGES, SPIDERS = "crawls", "pages", "loaded", "spiders"
_NOTE, _LIVE = "note.json", "live"
_ID = re.compile("[0-9a-f]{16}")


class _Held(NamedTuple):
    """A crawl's directory, and what its run holds."""

    directory: Path
    live: BinaryIO


class DirectoryHome:
    """Where the runs of a crawl on disk meet: see `simcrawl.store.crawl_note.Home`."""

    def __init__(self, held: _Held, joined: Joined) -> None:
        self._held, self.joined = held, joined

    @property
    def pages(self) -> Path:
        """Where the crawl's own pages are."""
        return self._held.directory / PAGES

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:
        """Leave the crawl: see `simcrawl.store.crawl_note.Home`."""
        directory, live = self._held
        ended = False
        try:
            with hold_directory(directory.parent, alone=True):
                note = _read(directory) or self.joined.note
                jobs = list(note.jobs)
                update(note)
                _write(directory, note)
                for job in set(jobs) - set(note.jobs):
                    Path(job).unlink(missing_ok=True)
                live.close()
                ended = not _is_live(directory) and not _may_be_resumed(note)
                if ended:
                    end(note)
                close()
                if ended:
                    shutil.rmtree(directory, ignore_errors=True)
        except OSError as exc:
            raise StoreError(f"cannot leave the crawl in {directory} ({exc}): the next crawl removes it") from exc
        finally:
            live.close()
            close()
        return ended


def join(store: Path, name: str | None, *, spider: str, resume: str | None, job: str | None) -> DirectoryHome:
    """Return the home of a crawl: of the one to resume, or of the live one of that name, or of a new one.

    Raises:
        StoreFullError: the disk is full.
        StoreError: the directories cannot be read or written.
    """
    crawls = store / CRAWLS
    try:
        make_directory(crawls, mode := mode_of(store))
        with hold_directory(crawls, alone=True):
            _remove_ended(crawls)
            resumed = _find(crawls, lambda note: note.id == resume) if resume and _ID.fullmatch(resume) else None
            found = resumed or (_find(crawls, lambda note: note.name == name, live=True) if name is not None else None)
            directory, note = found or _begin(crawls, name, mode)
            others = _is_live(directory)
            note.begin(spider, job, resumed=resumed is not None)
            _write(directory, note)
            if job:
                write_whole(Path(job), note.id, mode)
            live = os.fdopen(make_file(directory / _LIVE, mode), "ab")
            lock(live, alone=False)
    except OSError as exc:
        if isinstance(full := own_error(crawls, exc), StoreFullError):
            raise full from exc
        raise StoreError(
            f"cannot begin a crawl in {crawls} ({exc}): check that it may be written, or point SIMCRAWL_STORE to a directory that may"
        ) from exc
    return DirectoryHome(_Held(directory, live), Joined(note, others=others, resumed=resumed is not None))


@contextmanager
def held_crawls(store: Path) -> Iterator[list[Path]]:
    """Give where the pages of each crawl are, while none begins or ends."""
    crawls = store / CRAWLS
    if not crawls.exists():
        yield []
        return
    with hold_directory(crawls, alone=True):
        yield [directory / PAGES for directory in crawls.iterdir()]


def own_stores(store: Path) -> list[Path]:
    """Return where the stores of the loaded pages and of crawls are; not those that a full disk kept from being made."""
    found = (store / LOADED_PAGES, *sorted(store.glob(f"{CRAWLS}/*/{PAGES}")))
    return [own for own in found if (own / DATA).exists() and (own / DATA).stat().st_size and not is_unmade(own / DATA)]


def read_job(job: Path) -> str | None:
    """Return the id of the crawl that an interrupted run belonged to; None where no run was interrupted."""
    try:
        return job.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _begin(crawls: Path, name: str | None, mode: int) -> tuple[Path, Note]:
    note = Note(secrets.token_hex(8), name)
    directory = crawls / note.id
    make_directory(directory, mode)
    return directory, note


def _find(crawls: Path, wanted: Callable[[Note], bool], *, live: bool = False) -> tuple[Path, Note] | None:
    for directory in sorted(crawls.iterdir()):
        note = _read(directory)
        if note and wanted(note) and (not live or _is_live(directory)):
            return directory, note
    return None


def _remove_ended(crawls: Path) -> None:
    for directory in crawls.iterdir():
        note = _read(directory)
        if not _is_live(directory) and not (note and _may_be_resumed(note)):
            shutil.rmtree(directory, ignore_errors=True)


def _may_be_resumed(note: Note) -> bool:
    return any(read_job(Path(job)) == note.id for job in note.jobs)


def _is_live(directory: Path) -> bool:
    return is_held(directory / _LIVE)


def _read(directory: Path) -> Note | None:
    """Return what is noted of a crawl; None where it was cut short."""
    try:
        return Note(**json.loads((directory / _NOTE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _write(directory: Path, note: Note) -> None:
    write_whole(directory / _NOTE, json.dumps(asdict(note)), mode_of(directory.parents[1]))
