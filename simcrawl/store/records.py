"""Bytes of a stored page. The layout is a contract: `docs/store-format.md` draws it, and the format version covers it.

    crc32 of all that follows      4 bytes, big-endian
    fixed part                     see _FIXED
    content sketch, prose sketch   lengths in the fixed part
    callback                       UTF-8, length in the fixed part
    URL                            UTF-8, the rest

The recipe and the seed are the store's and stand in its header once.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

from simcrawl.errors import StoreCorruptError
from simcrawl.pages import Abstention, PageFingerprint, Reason
from simcrawl.rule import StoredPage

# reason (0: a fingerprint), first seen, last seen, fingerprint, body digest, text digest, units, text length, outlinks,
# bytes of the content sketch, bytes of the prose sketch, bytes of the callback
_FIXED = struct.Struct(">B dd 16s 16s 16s III HHB")
_CRC = struct.Struct(">I")
_REASONS = (None, Reason.EMPTY, Reason.SHORT, Reason.TOO_LARGE, Reason.TOO_SLOW, Reason.NOT_HTML, Reason.EXTRACTION_FAILED)
_NO_DIGEST = bytes(16)
_MOST = 0xFFFFFFFF


def encode(stored: StoredPage) -> bytes:
    """Return the record of a page."""
    page = stored.page
    if isinstance(page, PageFingerprint):
        own = (page.fingerprint.to_bytes(16, "big"), page.body_digest, page.text_digest, page.units)
        sketches = (page.content_sketch, page.prose_sketch)
        reason = 0
    else:
        own, sketches, reason = (_NO_DIGEST, page.body_digest, _NO_DIGEST, 0), (b"", b""), _REASONS.index(page.reason)
    counts = (min(page.text_length, _MOST), min(page.outlinks, _MOST))
    callback = _callback(stored.callback)
    fixed = _FIXED.pack(reason, stored.first_seen, stored.last_seen, *own, *counts, *map(len, sketches), len(callback))
    rest = fixed + b"".join(sketches) + callback + page.url.encode("utf-8", "surrogatepass")
    return _CRC.pack(zlib.crc32(rest)) + rest


def _callback(name: str) -> bytes:
    # Cut where it is absurdly long; such a page is then nobody's original.
    return name.encode("utf-8", "replace")[:255]


def decode(record: bytes | memoryview, *, recipe: str, seed: int, bits: int) -> StoredPage:
    """Return the page of a record.

    Raises:
        StoreCorruptError: the record fails its checksum or does not parse.
    """
    data = bytes(record)
    if len(data) < _CRC.size + _FIXED.size or _CRC.unpack_from(data)[0] != zlib.crc32(data[_CRC.size :]):
        raise StoreCorruptError(
            f"a page record of {len(data)} bytes fails its checksum: restore the store from a backup, or start a new one"
        )
    try:
        return _parse(data, {"recipe": recipe, "seed": seed}, bits)
    except (ValueError, IndexError) as exc:
        raise StoreCorruptError(f"a page record does not parse ({exc}): it was not written by this version of simcrawl") from exc


def _parse(data: bytes, common: dict[str, Any], bits: int) -> StoredPage:
    reason, first, last, fingerprint, body, text, units, length, outlinks, main, whole, called = _FIXED.unpack_from(data, _CRC.size)
    start = _CRC.size + _FIXED.size
    common |= {
        "body_digest": body,
        "text_length": length,
        "outlinks": outlinks,
        "url": data[start + main + whole + called :].decode("utf-8", "surrogatepass"),
    }
    callback = data[start + main + whole : start + main + whole + called].decode("utf-8", "replace")
    if why := _REASONS[reason]:
        return StoredPage(Abstention(reason=why, **common), first, last, callback=callback)
    page = PageFingerprint(
        fingerprint=int.from_bytes(fingerprint, "big"),
        bits=bits,
        units=units,
        text_digest=text,
        content_sketch=data[start : start + main],
        prose_sketch=data[start + main : start + main + whole],
        **common,
    )
    return StoredPage(page, first, last, callback=callback)
