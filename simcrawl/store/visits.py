"""What the last finished crawl of a spider saw: a file of sorted rows, so that a URL is found in it without reading it.

    magic, then rows of 33 bytes in ascending order, then crc32 of all before it, big-endian
    row: 16 bytes that stand for a URL, a letter, 16 bytes that stand for what the page said

    letter  k  kept, and its content has come out: in this crawl, or in one before, since which it is the same
            n  kept, but nothing has come of what it says
            c  a copy, whose content has come out as another page's
            d  a copy, but nothing has come of what it says
            o  a copy that came out before
            s  only seen

Not a database: it is written once, in one step, and read by any number of crawls at once.
"""

from __future__ import annotations

import mmap
import os
import zlib
from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from simcrawl.page.fingerprint import digest
from simcrawl.store.files import PRIVATE, make_directory, make_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

KEPT, COPY, SEEN = b"k", b"c", b"s"
NOTHING, NOTHING_OF_COPY = b"n", b"d"
"""Kept, or a copy, and so far its callback has given nothing of it that was taken."""
CAME = b"o"
"""A copy that was kept before, and said the same then."""
GONE = b"g"
"""There is no such page any more. In no file: the next crawl knows as much where there is no row."""
_MAGIC = b"simcrawl visits1"
_KEY, _ROW, _CRC = 16, 33, 4
_SPIDER = 8
_STEP = 1 << 16


def to_keep(rows: Iterable[tuple[bytes, bytes]], last: Visits | None) -> Iterator[tuple[bytes, bytes]]:
    """Yield what the next crawl is to know of the visits of one that has finished. `last`: what that one knew itself.

    What was only seen (a server failed, or nothing came of the page) is to the next crawl what it was to this one: what came out before
    has come out, and what has changed since then has changed. What is gone is known no more.
    """
    for key, value in rows:
        if value[:1] != GONE:
            yield key, (last and value[:1] == SEEN and last.get(key)) or value


class Visits(Protocol):
    """What a crawl saw: a letter and 16 bytes by the 16 bytes of a URL."""

    def get(self, key: bytes) -> bytes | None:
        """Return what was seen under a URL; None where it was not fetched."""

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all of it in the order of the keys."""


def spider_key(spider: str, seed: int) -> bytes:
    """Return the 8 bytes that stand for a spider."""
    return digest(spider.encode("utf-8", "surrogatepass"), seed)[:_SPIDER]


class VisitsInMemory:
    """Visits of a store in memory."""

    def __init__(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        self._rows = dict(rows)
        self.get = self._rows.get

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all of it in the order of the keys."""
        return iter(self._rows.items())


class VisitsInFile:
    """Visits in a file, mapped: a look-up costs some twenty comparisons per million rows."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._rows = range(len(_MAGIC), len(data) - _CRC, _ROW)

    def get(self, key: bytes) -> bytes | None:
        """Return what was seen under a URL; None where it was not fetched."""
        place = bisect_left(self._rows, key, key=self._key)
        if place == len(self._rows) or self._key(self._rows[place]) != key:
            return None
        return self._data[self._rows[place] + _KEY : self._rows[place] + _ROW]

    def _key(self, start: int) -> bytes:
        return self._data[start : start + _KEY]

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all of it in the order of the keys."""
        for start in self._rows:
            yield self._key(start), self._data[start + _KEY : start + _ROW]


def read_visits(path: Path) -> VisitsInFile | None:
    """Return the visits of a file; None where there is none, or it is damaged: then nothing is known, which is safe.

    Reads all of it once, 33 MB a million URLs, for the checksum.
    """
    with suppress(OSError, ValueError), path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if _is_whole(data):
            return VisitsInFile(data)
    return None


def _is_whole(data: mmap.mmap) -> bool:
    size = len(data)
    if data[: len(_MAGIC)] != _MAGIC or size < len(_MAGIC) + _CRC or (size - len(_MAGIC) - _CRC) % _ROW:
        return False
    checksum = 0
    for start in range(0, size - _CRC, _STEP):
        checksum = zlib.crc32(data[start : min(start + _STEP, size - _CRC)], checksum)
    return data[-_CRC:] == checksum.to_bytes(_CRC, "big")


def write_visits(path: Path, rows: Iterable[tuple[bytes, bytes]], mode: int = PRIVATE) -> None:
    """Write visits, in the order of their keys, in place of the older ones, in one step: a crash leaves these or those.

    Raises:
        OSError: they cannot be written.
    """
    make_directory(path.parent, mode)
    beside = path.with_suffix(".new")
    checksum = zlib.crc32(_MAGIC)
    with os.fdopen(make_file(beside, mode, os.O_WRONLY | os.O_TRUNC), "wb") as file:
        file.write(_MAGIC)
        for key, value in rows:
            row = key + value
            checksum = zlib.crc32(row, checksum)
            file.write(row)
        file.write(checksum.to_bytes(_CRC, "big"))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
