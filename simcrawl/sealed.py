"""Values that are told apart from damaged ones: crc32 (zlib), four bytes, big-endian, before all that it covers."""

from __future__ import annotations

import zlib

from simcrawl.errors import StoreCorruptError

CRC_BYTES = 4
"""Bytes that `seal` adds."""


def seal(value: bytes) -> bytes:
    """Return a value with its checksum."""
    return zlib.crc32(value).to_bytes(CRC_BYTES, "big") + value


def is_whole(sealed: bytes | bytearray | memoryview) -> bool:
    """Return whether a value passes its checksum."""
    return len(sealed) >= CRC_BYTES and int.from_bytes(sealed[:CRC_BYTES], "big") == zlib.crc32(sealed[CRC_BYTES:])


def unseal(sealed: bytes | memoryview, what: str, cure: str = "restore the store from a backup, or start a new one") -> bytes:
    """Return the value that was sealed. `what`: what it is, for the error.

    Raises:
        StoreCorruptError: the value fails its checksum.
    """
    if not is_whole(sealed):
        raise StoreCorruptError(f"{what} of {len(sealed)} bytes fails its checksum: {cure}")
    return bytes(sealed[CRC_BYTES:])
