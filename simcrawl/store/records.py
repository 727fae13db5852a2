"""Bytes of a stored page. The layout is a contract: `docs/store-format.md` draws it, and the format version covers it.

    crc32 of all that follows      4 bytes, big-endian
    fixed part                     see _FIXED
    sketches                       of content, prose, links, surroundings and what stands beside; lengths in the fixed part
    names                          two bytes a word, length in the fixed part
    callback                       UTF-8, length in the fixed part
    URL                            UTF-8, the rest

The recipe and the seed are the store's and stand in its header once.
"""

from __future__ import annotations

import struct
from itertools import accumulate, pairwise
from typing import Any

from simcrawl.errors import StoreCorruptError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason
from simcrawl.page.sketch import Part
from simcrawl.rule import StoredPage
from simcrawl.sealed import CRC_BYTES, seal, unseal

# reason (0: a fingerprint), first seen, last seen, fingerprint, digests of body, text and links, text length, outlinks, units of content,
# prose, links, surroundings and what stands beside, bytes of their sketches, of the names, and of the callback
_FIXED = struct.Struct(">B dd 16s 16s 16s 16s II IIIII HHHHH B B")
_PARTS = ("prose", "links", "around", "beside")
_SKETCHES = 1 + len(_PARTS)
_LAST_SEEN = struct.Struct(f">{CRC_BYTES + 9}x d")
# Their numbers stand in records: new ones come last.
_FIRST_REASONS = (None, Reason.EMPTY, Reason.SHORT, Reason.TOO_LARGE, Reason.TOO_SLOW, Reason.NOT_HTML, Reason.EXTRACTION_FAILED)
_REASONS = (*_FIRST_REASONS, Reason.TOO_DEEP, Reason.OUT_OF_MEMORY, Reason.CRASHED)
_NO_DIGEST = bytes(16)
_MOST = 0xFFFFFFFF


def encode(stored: StoredPage) -> bytes:
    """Return the record of a page."""
    page = stored.page
    if isinstance(page, PageFingerprint):
        parts = [getattr(page, name) for name in _PARTS]
        own = (0, page.fingerprint.to_bytes(16, "big"), page.body_digest, page.text_digest, page.links_digest)
        sizes, sketches = [page.units, *(part.units for part in parts)], [page.content_sketch, *(part.sketch for part in parts)]
    else:
        own = (_REASONS.index(page.reason), _NO_DIGEST, page.body_digest, _NO_DIGEST, _NO_DIGEST)
        sizes, sketches = [0] * _SKETCHES, [b""] * _SKETCHES
    names = page.names if isinstance(page, PageFingerprint) else b""
    counts = (min(page.text_length, _MOST), min(page.outlinks, _MOST))
    callback = _callback(stored.callback)
    fixed = _FIXED.pack(own[0], stored.first_seen, stored.last_seen, *own[1:], *counts, *sizes, *map(len, (*sketches, names, callback)))
    rest = fixed + b"".join(sketches) + names + callback + page.url.encode("utf-8", "surrogatepass")
    return seal(rest)


def _callback(name: str) -> bytes:
    # Cut where it is absurdly long; such a page is then nobody's original.
    return name.encode("utf-8", "replace")[:255]


def decode(record: bytes | memoryview, *, recipe: str, seed: int, bits: int) -> StoredPage:
    """Return the page of a record.

    Raises:
        StoreCorruptError: the record fails its checksum or does not parse.
    """
    data = unseal(record, "a page record")
    if len(data) < _FIXED.size:
        raise StoreCorruptError(f"a page record of {len(data)} bytes is too short: it was not written by this version of simcrawl")
    try:
        return _parse(data, {"recipe": recipe, "seed": seed}, bits)
    except (ValueError, IndexError) as exc:
        raise StoreCorruptError(f"a page record does not parse ({exc}): it was not written by this version of simcrawl") from exc


def last_seen(record: bytes | memoryview) -> float:
    """Return when the page of a record was last seen, without a look at the rest: a hundred times as fast as `decode`, and unchecked."""
    return float(_LAST_SEEN.unpack_from(record)[0]) if len(record) >= _LAST_SEEN.size else 0.0


def _parse(data: bytes, common: dict[str, Any], bits: int) -> StoredPage:
    reason, first, last, fingerprint, body, text, links, length, outlinks, *counts = _FIXED.unpack_from(data)
    sizes, lengths = counts[:_SKETCHES], counts[_SKETCHES:]
    start = _FIXED.size
    *sketches, names, callback, url = (data[a:b] for a, b in pairwise([*accumulate([start, *lengths]), len(data)]))
    common |= {"body_digest": body, "text_length": length, "outlinks": outlinks, "url": url.decode("utf-8", "surrogatepass")}
    where = callback.decode("utf-8", "replace")
    if why := _REASONS[reason]:
        return StoredPage(Abstention(reason=why, **common), first, last, callback=where)
    prose, linked, around, beside = (Part(*part) for part in zip(sizes[1:], sketches[1:], strict=True))
    page = PageFingerprint(
        fingerprint=int.from_bytes(fingerprint, "big"),
        bits=bits,
        units=sizes[0],
        text_digest=text,
        links_digest=links,
        content_sketch=sketches[0],
        prose=prose,
        links=linked,
        around=around,
        beside=beside,
        names=names,
        **common,
    )
    return StoredPage(page, first, last, callback=where)
