"""What differs from one system to another: cores, memory and bounds on it, locks of files, how a file gets its space on the disk.

Linux has all of it. Where a call is missing, as some are on macOS, the next best is done, and said here.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from simcrawl.errors import SettingError, StoreError

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:
    fcntl: ModuleType | None = None  # type: ignore[no-redef]

_ZEROS = bytes(1 << 16)
_STATM = "/proc/self/statm"


def cores() -> int:
    """Return how many cores this process may use; where the system does not say, how many there are; 1 at least."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int:
    """Return the bytes of memory in use; 0 where the system does not say.

    Not the peak, which `getrusage` knows everywhere: that of a new process begins with its parent's.
    """
    try:
        with open(_STATM, "rb") as numbers:  # noqa: PTH123 - once a page
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def seconds_of(pid: int) -> float | None:
    """Return the CPU seconds that a process has taken; None where there is no such process, or the system does not say."""
    try:
        # What clock_getcpuclockid(3) returns on Linux, and Python has for threads only.
        return time.clock_gettime(~pid << 3 | 2)
    except (AttributeError, OSError, OverflowError):
        return None


def bound_memory(most: int) -> bool:
    """Have this process refuse itself more than so many bytes of data; False where the system knows no such bound."""
    try:
        import resource  # noqa: PLC0415 - not every system has it

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (ImportError, AttributeError, OSError, ValueError):
        return False
    return True


def address_space() -> int:
    """Return how many bytes of addresses this process may reserve (`ulimit -v`): `sys.maxsize` where that is not limited."""
    try:
        import resource  # noqa: PLC0415 - as above

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, AttributeError, OSError, ValueError):
        return sys.maxsize
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit


def no_dumps() -> bool:
    """Have no image of this process's memory written to the disk when it crashes; False where the system knows no such bound."""
    try:
        import resource  # noqa: PLC0415 - as above

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, AttributeError, OSError, ValueError):
        return False
    return True


def checked_mode(mode: Any) -> int:
    """Return a mode for files: their owner may read and write them, and nobody can run them.

    Raises:
        SettingError: it is another one.
    """
    if not isinstance(mode, int) or mode & 0o600 != 0o600 or mode & ~0o666:
        given = oct(mode) if isinstance(mode, int) else repr(mode)
        raise SettingError(f"the mode of a store's files is {given}: use one from 0o600, the owner's alone, to 0o666, such as 0o660")
    return int(mode)


def lock(file: BinaryIO | int, *, alone: bool, wait: bool = True) -> None:
    """Hold a whole file or directory, with others or alone, as long as what was opened is open; a lock that is held becomes the other kind.

    A copy of this process holds no file object that this one does: it finds them closed.

    Raises:
        BlockingIOError: somebody holds it, and `wait` is False.
        StoreError: the system has no such locks. To go on without would let two crawls write over each other's pages.
    """
    if fcntl is None:
        raise StoreError("this system cannot lock files, which a store on disk needs: set SIMCRAWL_STORE to memory:")
    fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB))
    if not isinstance(file, int):
        _locked.add(file)


# What this process holds. A copy of it (`fork`, as a pool of processes makes them) has the same files open, and would hold them when this
# process is long dead: a crawl that was killed would count as alive as long as an orphan of its does.
_locked: WeakSet[BinaryIO] = WeakSet()


def _let_go() -> None:
    for file in list(_locked):
        with suppress(OSError):
            file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def reserve(descriptor: int, start: int, length: int) -> None:
    """Make a file end at `start + length` at least, with space on the disk for all of that part. It is never made shorter.

    Without `posix_fallocate` zeros are appended, so that nothing is written over that another process has written meanwhile; holes before
    the file's end stay holes, for others may have it mapped.

    Raises:
        OSError: the disk is full.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, start, length)
        return
    # Whoever comes here has locked the store: there is such a module.
    end, flags = start + length, fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
    try:
        while (missing := end - os.fstat(descriptor).st_size) > 0:
            os.write(descriptor, _ZEROS[:missing])
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
