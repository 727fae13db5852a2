"""What differs from one system to another: how many cores there are, how much memory is in use, how a file gets its space on the disk.

Linux has all of it. Where a call is missing, as some are on macOS, the next best is done, and said here.
"""

from __future__ import annotations

import os
from fcntl import F_GETFL, F_SETFL, fcntl

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
    end, flags = start + length, fcntl(descriptor, F_GETFL)
    fcntl(descriptor, F_SETFL, flags | os.O_APPEND)
    try:
        while (missing := end - os.fstat(descriptor).st_size) > 0:
            os.write(descriptor, _ZEROS[:missing])
    finally:
        fcntl(descriptor, F_SETFL, flags)
