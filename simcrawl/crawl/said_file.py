"""What items have said, in JOBDIR, from when a crawl is stopped until it ends: else copies of pages from before lose what they say.

    a line of JSON          the version, the order of bytes, and for which fields items of copies have come out
    for each content        its number, its rows, and how many bytes and digests follow
                            its fields, its values, its states: see `simcrawl.crawl.said.Said`

With a checksum, and put in its place when it is whole: what is damaged is not believed. A killed crawl leaves what the last stop has left.
"""

from __future__ import annotations

import json
import sys
from array import array
from struct import Struct
from typing import TYPE_CHECKING, Any

from simcrawl.crawl.said import Said
from simcrawl.sealed import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

NAME = "simcrawl.said"
"""In JOBDIR, beside what Scrapy has there."""
# To be raised whenever a digest is made in another way.
_VERSION = 1
_HEAD = Struct("<QIIII")
_UNKNOWN = 0xFFFFFFFF

Told = dict[str, list[list[str]]]
"""By what is done with a page, the fields for which items of copies have come out: from elsewhere, and as fuller ones."""


def write(file: Path, told: Told, contents: Iterable[tuple[int, Said]]) -> None:
    """Write what is known of the items of contents, atomically.

    Raises:
        OSError: it cannot be written. What was there before stays.
    """
    head = json.dumps({"version": _VERSION, "order": sys.byteorder, "told": told}).encode()
    data = seal(b"".join([head, b"\n", *(_packed(content, said) for content, said in contents)]))
    new = file.with_name(f"{file.name}.new")
    new.write_bytes(data)
    new.replace(file)


def read(file: Path) -> tuple[Told, list[tuple[int, Said]]]:
    """Return what was written; nothing where nothing was, or by another version, or on another kind of machine.

    Raises:
        OSError: it cannot be read.
        StoreCorruptError: it is damaged.
    """
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return {}, []
    head, _, rest = unseal(data, str(file), "the crawl goes on without it").partition(b"\n")
    told: dict[str, Any] = json.loads(head)
    if (told["version"], told["order"]) != (_VERSION, sys.byteorder):
        return {}, []
    return told["told"], list(_unpacked(rest))


def _packed(content: int, said: Said) -> bytes:
    parts = [said.fields, *(None if digests is None else digests.tobytes() for digests in (said.values, said.states))]
    return b"".join([_HEAD.pack(content, said.rows, *(_UNKNOWN if part is None else len(part) for part in parts)), *filter(None, parts)])


def _unpacked(data: bytes) -> Iterator[tuple[int, Said]]:
    at = 0
    while at < len(data):
        content, rows, *sizes = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        parts: list[bytes | None] = []
        for size in sizes:
            known = size != _UNKNOWN
            parts.append(data[at : at + size] if known else None)
            at += size * known
        said = Said()
        said.rows = rows
        said.fields, said.values, said.states = parts[0], *(None if part is None else array("I", part) for part in parts[1:])
        yield content, said
