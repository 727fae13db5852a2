"""What the entries of a fleet's log say, as bytes.

sender         8 bytes: a process, for as long as it has the store open
number         8 bytes: of the sender's events, ascending; one that is sent again is told by it
kind           1 byte: a letter
space          8 bytes: the crawl whose pages it is about; `LASTING` of the store itself, `LOADED` of what was loaded
value          the rest
"""

from __future__ import annotations

import json
import struct
from enum import Enum
from typing import Any, NamedTuple

from simcrawl.errors import StoreCorruptError

LASTING, LOADED = bytes(8), b"loaded\0\0"
TOKEN_BYTES = 16
"""Of a claim: its sender and a number."""
_HEAD = struct.Struct(">8sQc8s")
_LENGTH = struct.Struct(">I")


class What(Enum):
    """What has happened."""

    CLAIM = b"c"
    """token, 1 where the page is like none known, record"""
    CONFIRM = b"k"
    """token, callback, text"""
    WITHDRAW = b"w"
    """token"""
    PAGE = b"p"
    """record of a page that was seen again, or is told of again"""
    LINE = b"l"
    """line of the register"""
    TEXT = b"x"
    """URL, packed text"""
    VISIT = b"v"
    """key, value"""
    FORGET = b"f"
    """URL"""
    EXPIRE = b"e"
    """seconds since 1970"""
    BARE = b"i"
    """fingerprints as words"""
    BIND = b"b"
    """recipe"""
    REJECT = b"r"
    UNREJECT = b"u"
    """JSON: rejection, lines"""
    JOIN = b"j"
    LEAVE = b"q"
    """JSON: a run of a crawl begins, ends"""
    END = b"d"
    """id of a crawl whose last run left long ago, and that no job has resumed"""
    NOTE = b"n"
    """JSON: record of a crawl"""
    BEAT = b"h"
    """nothing: the sender lives"""
    BYE = b"z"
    """nothing: the sender has closed the store"""


class Event(NamedTuple):
    """An event."""

    sender: bytes
    number: int
    what: What
    space: bytes
    value: bytes

    def pack(self) -> bytes:
        """Return its bytes."""
        return _HEAD.pack(self.sender, self.number, self.what.value, self.space) + self.value


def unpack(data: bytes) -> Event:
    """Return the event of its bytes.

    Raises:
        StoreCorruptError: they are none.
    """
    try:
        sender, number, what, space = _HEAD.unpack_from(data)
        return Event(sender, number, What(what), space, data[_HEAD.size :])
    except (struct.error, ValueError) as exc:
        raise StoreCorruptError(
            f"an entry of the fleet's log does not parse ({exc}): another program, or a newer simcrawl, wrote it"
        ) from exc


def join(*parts: bytes) -> bytes:
    """Return parts as one, which `parted` takes apart."""
    return b"".join(_LENGTH.pack(len(part)) + part for part in parts)


def parted(value: bytes) -> list[bytes]:
    """Return the parts of what `join` returned."""
    parts, start = [], 0
    while start < len(value):
        (length,) = _LENGTH.unpack_from(value, start)
        start += _LENGTH.size
        parts.append(value[start : start + length])
        start += length
    return parts


def as_json(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, separators=(",", ":")).encode()
