"""What items have said, in JOBDIR, as long as a crawl may be resumed: else copies of pages from before a stop lose what they say.

    batch    how many bytes follow, and these with their checksum:
      head     a line of JSON: the version, the order of bytes, and for which fields items of copies have come out
      content  its number, its rows, and how many bytes follow: its fields, its values, its states, see `simcrawl.crawl.said.Said`
      content  ...
    batch    what has changed since: later contents replace earlier ones
    ...

A batch is added before the pages are committed that it speaks of, so what a killed crawl leaves has what its store has. Its last batch may
be cut off. When the file has grown large it is written anew.
"""

from __future__ import annotations

import json
import sys
from array import array
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any

from simcrawl.crawl.said import Said
from simcrawl.sealed import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from simcrawl.crawl.elsewhere import Elsewhere, Known

NAME = "simcrawl.said"
"""In JOBDIR, beside what Scrapy has there."""
# To be raised whenever a digest is made in another way.
_VERSION = 3
_LENGTH, _HEAD = Struct("<I"), Struct("<QIIII")
_UNKNOWN = 0xFFFFFFFF
# Bytes of a file before it is written anew. All that is known at once takes some 30 MB.
_MOST_BYTES = 256_000_000


class SaidFile:
    """Keeps in a file what a crawl knows of its items."""

    def __init__(self, file: Path, elsewhere: Elsewhere) -> None:
        self._file, self._elsewhere = file, elsewhere
        self._size = 0

    def begin(self, *, resumed: bool) -> None:
        """Let the crawl know what the one has known that it resumes, if it does, and keep what it comes to know. In any thread.

        Raises:
            OSError: the file cannot be read or written.
            StoreCorruptError: it is damaged. The crawl goes on without it, and it is written anew.
        """
        self._elsewhere.changes()
        try:
            if resumed:
                self._elsewhere.restore(*read(self._file))
        finally:
            self._write(self._elsewhere.known())

    def due(self) -> Callable[[], None]:
        """Return what writes, in any thread, what is new. On the event loop, where nothing changes meanwhile.

        What is returned raises:
            OSError: the file cannot be written.
        """
        changes = self._elsewhere.changes()
        if self._size > _MOST_BYTES:
            return partial(self._write, self._elsewhere.known())
        return partial(self._add, packed(*changes) if any(changes) else b"")

    def remove(self) -> None:
        """Remove the file: the crawl has ended."""
        self._file.unlink(missing_ok=True)

    def _add(self, batch: bytes) -> None:
        if batch:
            with self._file.open("ab") as file:
                file.write(batch)
            self._size += len(batch)

    def _write(self, known: Known) -> None:
        new, batch = self._file.with_name(f"{self._file.name}.new"), packed(*known)
        new.write_bytes(batch)
        new.replace(self._file)
        self._size = len(batch)


def packed(told: dict[str, list[list[str]]], contents: Iterable[Said]) -> bytes:
    """Return a batch."""
    head = json.dumps({"version": _VERSION, "order": sys.byteorder, "told": told}).encode()
    batch = seal(b"".join([head, b"\n", *map(_packed, contents)]))
    return _LENGTH.pack(len(batch)) + batch


def read(file: Path) -> Known:
    """Return what was written; nothing where nothing was, or by another version, or on another kind of machine.

    Raises:
        OSError: it cannot be read.
        StoreCorruptError: it is damaged, elsewhere than at its end.
    """
    told, contents = dict[str, list[list[str]]](), dict[int, Said]()
    try:
        data = memoryview(file.read_bytes())
    except FileNotFoundError:
        return told, []
    at = 0
    while at + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        batch, at = data[at + _LENGTH.size : at + _LENGTH.size + length], at + _LENGTH.size + length
        if len(batch) < length:
            # The crawl was killed meanwhile.
            break
        head, _, rest = unseal(batch, str(file), "the crawl goes on without it").partition(b"\n")
        made: dict[str, Any] = json.loads(head)
        if (made["version"], made["order"]) != (_VERSION, sys.byteorder):
            return {}, []
        told |= made["told"]
        contents |= {said.content: said for said in _unpacked(rest)}
    return told, [*contents.values()]


def _packed(said: Said) -> bytes:
    parts = [said.fields, *(None if digests is None else digests.tobytes() for digests in (said.values, said.states))]
    sizes = (_UNKNOWN if part is None else len(part) for part in parts)
    return b"".join([_HEAD.pack(said.content, said.rows, *sizes), *filter(None, parts)])


def _unpacked(data: bytes) -> Iterator[Said]:
    at = 0
    while at < len(data):
        content, rows, *sizes = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        parts: list[bytes | None] = []
        for size in sizes:
            known = size != _UNKNOWN
            parts.append(data[at : at + size] if known else None)
            at += size * known
        said = Said(content)
        said.rows = rows
        said.fields, said.values, said.states = parts[0], *(None if part is None else array("I", part) for part in parts[1:])
        yield said
