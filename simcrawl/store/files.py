"""Who may use a store's files, and how other data take their place while they are read.

Beside LMDB's own locks there are two, each of a whole file and of whoever opened it (`flock`: closing another descriptor gives nothing up):

- Who writes to a store holds its data with others as long as it is open. Who writes the data anew holds them alone.
- Who opens a store holds its directory with others until LMDB has both of its files. Who puts other data in place holds it alone.

A store's mode is that of its data: files that are made in it later get the same, and so do directories, with leave to enter them where it
is one to read. So who lets a group use a store changes modes once. The umask takes nothing away: who asked for a mode means it.

Other data get a lock file of their own, for LMDB notes the last commit there. Who reads the old data keeps both files as they were.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from typing import TYPE_CHECKING

from simcrawl.errors import StoreError, StoreFormatError
from simcrawl.system import lock, reserve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

logger = logging.getLogger(__name__)

DATA, LOCK = "data.mdb", "lock.mdb"
# What the directory of new data is called while they are put in place, and where that was cut short.
_PLACING, _DISCARDED = "placing", "discarded"
# With room for LMDB's 126 readers.
_LOCK_BYTES = 8192


PRIVATE = 0o600
"""The mode of files that only their owner may use: they hold the seed, which nobody who publishes pages may know."""


def mode_of(path: Path) -> int:
    """Return the mode for further files of a store."""
    try:
        return (path / DATA).stat().st_mode & 0o666 | PRIVATE
    except OSError:
        return PRIVATE


def make_file(file: Path, mode: int, flags: int = os.O_WRONLY | os.O_APPEND) -> int:
    """Return a descriptor of a file, made with this mode where there is none."""
    try:
        descriptor = os.open(file, flags | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        return os.open(file, flags | os.O_CREAT, mode)
    # Some file systems have no modes.
    with suppress(OSError):
        os.fchmod(descriptor, mode)
    return descriptor


def make_directory(directory: Path, mode: int) -> None:
    """Make a directory for files of this mode where there is none. It keeps a group's mark, by which its files are that group's."""
    wanted = mode | (mode & 0o444) >> 2
    try:
        directory.mkdir(mode=wanted)
    except FileExistsError:
        return
    with suppress(OSError):
        directory.chmod(directory.stat().st_mode & stat.S_ISGID | wanted)


def write_whole(file: Path, text: str, mode: int) -> None:
    """Write a small file in one step: whoever reads it sees all of it, or what was there before."""
    beside = file.with_name(file.name + ".new")
    with os.fdopen(make_file(beside, mode, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as opened:
        opened.write(text)
    beside.replace(file)


def is_held(file: Path, *, by_one: bool = False) -> bool:
    """Return whether anybody holds a file, as a run holds what says that it lives. `by_one`: whoever holds it holds it alone."""
    with suppress(FileNotFoundError), file.open("rb") as opened:
        try:
            # With others where that is enough: two who ask must not take each other for a holder.
            lock(opened, alone=not by_one, wait=False)
        except BlockingIOError:
            return True
    return False


def look_for_store(path: Path, *, create: bool) -> bool:
    """Return whether there is a store; raise where there is something else, or nothing and none may be made."""
    data = path / DATA
    exists = data.exists()
    # An empty file: its making was cut short.
    if not create and not (exists and data.stat().st_size):
        raise StoreFormatError(
            f"there is no simcrawl store at {path}: a crawl with simcrawl makes one, at the path that SIMCRAWL_STORE names"
        )
    # A store's own files: another process is making one here at this moment, or was killed when it did.
    if not exists and path.exists() and (not path.is_dir() or any(entry.name not in (DATA, LOCK) for entry in path.iterdir())):
        raise StoreFormatError(
            f"{path} holds no simcrawl store: give the path of a store, or of a directory that is empty or does not exist"
        )
    return exists


def hold(path: Path, *, alone: bool = False, mode: int = PRIVATE) -> BinaryIO:
    """Return a store's data, made where there are none, held until they are closed: with others that write, or alone.

    Waits for who holds them alone; to hold them alone does not wait. `mode`: of data that are made.

    Raises:
        StoreError: somebody holds them, and they were wanted alone.
    """
    while True:
        data = os.fdopen(make_file(path / DATA, mode), "ab")
        try:
            _lock_data(path, data, alone=alone)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(data.fileno()), (path / DATA).stat()):
                    return data
        except BaseException:
            data.close()
            raise
        # Others were put in place meanwhile, or the store was reset.
        data.close()


def _lock_data(path: Path, data: BinaryIO, *, alone: bool) -> None:
    try:
        lock(data, alone=alone, wait=False)
    except BlockingIOError as exc:
        if alone:
            raise StoreError(f"another process writes to {path}: stop the crawl that uses it first") from exc
        logger.warning("%s is being compacted or rebuilt: waiting for the end of that", path)
        lock(data, alone=False)


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Keep the files of a store what they are while LMDB opens one after the other; finish first what a killed process began."""
    while True:
        with hold_directory(path, alone=False):
            if not (path / _PLACING).exists():
                _reserve(path / LOCK, mode_of(path))
                yield
                return
        with hold_directory(path, alone=True):
            _finish(path)


def is_current(path: Path, data: os.stat_result) -> bool:
    """Return whether these data are still a store's; of a store that was removed, its last."""
    try:
        return os.path.samestat(data, (path / DATA).stat())
    except FileNotFoundError:
        return True


def is_gone(path: Path, data: os.stat_result) -> bool:
    """Return whether these data of a store were removed, or others put in their place."""
    try:
        return not os.path.samestat(data, (path / DATA).stat())
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # it cannot be told
        return False


def put_in_place(new: Path) -> None:
    """Let the data in a directory within a store take the place of the store's, all at once, also where the process is killed meanwhile.

    The caller holds the old data alone. Who has them open to read goes on with them; who opens the store waits a moment.
    """
    path = new.parent
    (new / LOCK).unlink(missing_ok=True)
    _reserve(new / LOCK, mode_of(path))
    for name in (DATA, LOCK):
        _make_like(path / name, new / name)
    _sync(new / DATA)
    with hold_directory(path, alone=True):
        _finish(path)
        new.replace(path / _PLACING)
        (path / _PLACING / DATA).replace(path / DATA)
        _finish(path)
    _sync(path)


def remove(path: Path, *others: str) -> None:
    """Remove a store's data, and other directories within it. The caller holds the data alone; who reads them goes on with them."""
    with hold_directory(path, alone=True):
        # Data first: without them the rest means nothing.
        for name in (DATA, LOCK):
            (path / name).unlink(missing_ok=True)
        for name in (_PLACING, _DISCARDED, *others):
            shutil.rmtree(path / name, ignore_errors=True)
    _sync(path)


def _make_like(old: Path, new: Path) -> None:
    """Let those use a new file who may use the old one."""
    if old.exists():
        owner = old.stat()
        shutil.copymode(old, new)
        with suppress(PermissionError):
            os.chown(new, owner.st_uid, owner.st_gid)


def _finish(path: Path) -> None:
    """Put the rest in place where the data are, and nothing where they are not."""
    placing, discarded = path / _PLACING, path / _DISCARDED
    if (placing / DATA).exists():
        # Not removed there: killed in the middle of that, it would look as if the data had been placed.
        shutil.rmtree(discarded, ignore_errors=True)
        placing.replace(discarded)
    elif (placing / LOCK).exists():
        # The one there speaks of the old data's commits: LMDB would take the wrong one of its two roots.
        (placing / LOCK).replace(path / LOCK)
    for rest in (placing, discarded):
        shutil.rmtree(rest, ignore_errors=True)


@contextmanager
def hold_directory(path: Path, *, alone: bool) -> Iterator[None]:
    """Hold a directory, with others or alone: who holds it otherwise is waited for."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        lock(descriptor, alone=alone)
        yield
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reserve(file: Path, mode: int) -> None:
    """Give the lock file its space: LMDB maps it, and who writes to a mapped page that a full disk has no space for is killed."""
    if file.exists() and file.stat().st_blocks * 512 >= _LOCK_BYTES:
        return
    try:
        descriptor = make_file(file, mode, os.O_RDWR)
        try:
            reserve(descriptor, 0, _LOCK_BYTES)
        finally:
            os.close(descriptor)
    except OSError as exc:
        # Whatever else it is, LMDB says it better.
        if exc.errno in (ENOSPC, EDQUOT):
            raise
