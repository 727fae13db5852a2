"""Files that were cut short. LMDB maps more than the file has, so that reading what is missing ends the process (SIGBUS).

What a file must have stands on its first two pages; no lmdb is needed to read it.
"""

from __future__ import annotations

import os
import sys
from errno import ENOSPC
from shutil import disk_usage
from struct import Struct, error
from typing import TYPE_CHECKING

from simcrawl.system import reserve

if TYPE_CHECKING:
    from pathlib import Path

# LMDB 0.9 on 64 bits, in the machine's own byte order: the header of a page (16), then magic, version, address, map size, and the
# descriptions of two databases of 48 bytes each, the first of which begins with the size of a page; then last page and transaction.
_META = Struct("=16x I I 16x I 92x Q Q")
_MAGIC = 0xBEEFC0DE


def missing_bytes(data: Path) -> int:
    """Return by how many bytes an LMDB file is shorter than its last commit; 0 where that cannot be said."""
    if sys.maxsize < 1 << 32:
        return 0
    try:
        with data.open("rb") as file:
            first = _META.unpack(file.read(_META.size))
            page_size = first[2]
            file.seek(page_size)
            second = _META.unpack(file.read(_META.size))
            size = os.fstat(file.fileno()).st_size
    except (error, OSError):
        return 0
    if first[0] != _MAGIC or second[0] != _MAGIC:
        return 0
    last_page = max((meta[4], meta[3]) for meta in (first, second))[1]
    return max(0, int((last_page + 1) * page_size) - size)


def is_unmade(data: Path) -> bool:
    """Return whether an LMDB file has less than its first two pages, as a full disk leaves one that is being made: nothing is in it."""
    if sys.maxsize < 1 << 32:
        return False
    try:
        with data.open("rb") as file:
            magic, _, page_size, last_page, transaction = _META.unpack(file.read(_META.size))
            size = os.fstat(file.fileno()).st_size
    except (error, OSError):
        return False
    return (magic, last_page, transaction) == (_MAGIC, 1, 0) and bool(size < 2 * page_size)


def fill_up(data: Path, missing: int) -> None:
    """Append zeros where bytes are missing, so that they can be read safely: free pages that never had to be written.

    Raises:
        OSError: the disk has not so much space.
    """
    if missing > disk_usage(data).free:
        raise OSError(ENOSPC, os.strerror(ENOSPC), str(data))
    with data.open("r+b") as file:
        # Unlike truncate it never shortens a file that another process has made longer meanwhile.
        reserve(file.fileno(), os.fstat(file.fileno()).st_size, missing)
