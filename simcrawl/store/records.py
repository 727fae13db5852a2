"""Bytes of a stored page. The layout is a contract: `docs/store-format.md` draws it, and the format version covers it.

    crc32 of all that follows      4 bytes, big-endian
    of every page                  see _EVERY
    of one with a fingerprint      it, then see _OWN, then two numbers: halves of the bytes of the sketches of content and prose; these
    numbers                        each in groups of 7 bits, the lowest first, the highest bit set on all but the last
    the rest                       other sketches, names, callback and URL, each as long as its number says, the URL to the end

What candidates are compared by comes first, at places that depend on the recipe alone. The seed is the store's and stands in its header
once, and so do the recipes, of which a record has a number.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreCorruptError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason
from simcrawl.page.sketch import Part
from simcrawl.rule import StoredPage
from simcrawl.sealed import CRC_BYTES, seal, unseal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Reason (0: a fingerprint), number of the recipe, last seen, digest of the body.
_EVERY = struct.Struct(">B B d 16s")
# Digests of text and links.
_OWN = struct.Struct(">16s 8s")
# Records of some 700 bytes that are kept with their pages, where so many are compared: eight megabytes.
_LATELY = 2048
# Pages that a crawl may write at a time, twice each. They are there in any case until they are written.
_AT_ONCE, _LONGEST_CACHED = 2048, 500
_SMALL_PARTS = ("links", "around", "beside")
_LAST_SEEN = struct.Struct(f">{CRC_BYTES + 2}x d")
# Their numbers stand in records: new ones come last.
_FIRST_REASONS = (None, Reason.EMPTY, Reason.SHORT, Reason.TOO_LARGE, Reason.TOO_SLOW, Reason.NOT_HTML, Reason.EXTRACTION_FAILED)
_REASONS = (*_FIRST_REASONS, Reason.TOO_DEEP, Reason.OUT_OF_MEMORY, Reason.CRASHED, Reason.OUTDATED)
_TIME = struct.Struct(">d")
# How URLs begin, most of them with one of these; likewise.
_BEGINNINGS = ("", "http://", "https://", "http://www.", "https://www.")


def encode(stored: StoredPage, *, recipe: int = 0) -> bytes:
    """Return the record of a page. `recipe`: the number of its recipe."""
    page, callback = stored.page, _callback(stored.callback)
    beginning = max((at for at, text in enumerate(_BEGINNINGS) if page.url.startswith(text)), key=lambda at: len(_BEGINNINGS[at]))
    reason = 0 if isinstance(page, PageFingerprint) else _REASONS.index(page.reason)
    every = _EVERY.pack(reason, recipe, stored.last_seen, page.body_digest)
    since = _bits_of(stored.first_seen) ^ _bits_of(stored.last_seen)
    numbers, rest = [since, page.text_length, page.outlinks, len(callback), beginning], [callback]
    if isinstance(page, PageFingerprint):
        own, numbers_of_own, rest_of_own = _own(page)
        every, numbers, rest = every + own, numbers + numbers_of_own, rest_of_own + rest
    url = page.url[len(_BEGINNINGS[beginning]) :].encode("utf-8", "surrogatepass")
    return seal(b"".join((every, _numbers(numbers), *rest, url)))


_encode_lately = lru_cache(maxsize=_AT_ONCE)(encode)


def encode_again(stored: StoredPage) -> bytes:
    """As `encode`, and at a tenth of its time where it was asked lately: a crawl writes each page into the store, and into its own."""
    # The cache is not to keep what a page made up.
    return _encode_lately(stored) if len(stored.page.url) <= _LONGEST_CACHED else encode(stored)


def _own(page: PageFingerprint) -> tuple[bytes, list[int], list[bytes]]:
    """Return what a page with a fingerprint has: at the front, numbers, and the rest."""
    content, prose = page.content_sketch, page.prose.sketch
    front = _OWN.pack(page.text_digest, page.links_digest) + _numbers((len(content) // 2, len(prose) // 2))
    parts = [getattr(page, name) for name in _SMALL_PARTS]
    # Most pages have nothing there, and a sketch of nothing is all zeros.
    held = [part.sketch if any(part.sketch) else b"" for part in parts]
    sizes = [len(part.sketch) // 2 << 1 | bool(kept) for part, kept in zip(parts, held, strict=True)]
    numbers = [len(page.names), page.units, page.prose.units, *(part.units for part in parts), *sizes]
    return page.fingerprint.to_bytes(page.bits // 8, "big") + front + content + prose, numbers, [*held, page.names]


def _numbers(values: Iterable[int]) -> bytes:
    out = bytearray()
    for value in values:
        while value > 0x7F:
            out.append(value & 0x7F | 0x80)
            value >>= 7  # noqa: PLW2901 - it is eaten up
        out.append(value)
    return bytes(out)


def _bits_of(time: float) -> int:
    return int.from_bytes(_TIME.pack(time), "big")


def _callback(name: str) -> bytes:
    # Cut where it is absurdly long; such a page is then nobody's original.
    return name.encode("utf-8", "replace")[:255]


def decode(record: bytes | memoryview, *, recipes: Sequence[str], seed: int, bits: int) -> StoredPage:
    """Return the page of a record. `recipes`: by their numbers.

    Raises:
        StoreCorruptError: the record fails its checksum or does not parse.
    """
    data = unseal(record, "a page record")
    try:
        return _parse(_Reader(data), recipes, seed, bits)
    except (struct.error, ValueError, IndexError, OverflowError) as exc:
        raise StoreCorruptError(f"a page record does not parse ({exc}): it was not written by this version of simcrawl") from exc


decode_again = lru_cache(maxsize=_LATELY)(decode)
"""As `decode`, of bytes, and at a tenth of its time where it was asked lately: a crawl compares an original with each of its copies."""


@dataclass(frozen=True, slots=True)
class PackedPage:
    """A record whose page is not decoded before its sketches were looked at: a `simcrawl.rule.Candidate`. Valid as long as its buffer."""

    record: bytes | memoryview
    bits: int
    decode: Callable[[bytes | memoryview], StoredPage]

    def sketches(self) -> tuple[bytes, bytes]:
        """Return the sketches of content and prose, unchecked; empty where there are none."""
        if len(self.record) <= CRC_BYTES or self.record[CRC_BYTES]:
            return b"", b""
        reader = _Reader(bytes(self.record), CRC_BYTES + _EVERY.size + self.bits // 8 + _OWN.size)
        try:
            content, prose = reader.number(), reader.number()
            return reader.take(2 * content), reader.take(2 * prose)
        except (ValueError, IndexError):
            # Of a damaged record, which `stored` refuses.
            return b"", b""

    def stored(self) -> StoredPage:
        """Return the page.

        Raises:
            StoreCorruptError: the record fails its checksum or does not parse.
        """
        return self.decode(self.record)


def last_seen(record: bytes | memoryview) -> float:
    """Return when the page of a record was last seen, without a look at the rest: a hundred times as fast as `decode`, and unchecked."""
    return float(_LAST_SEEN.unpack_from(record)[0]) if len(record) >= _LAST_SEEN.size else 0.0


class _Reader:
    """Bytes, read from their beginning on."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self._at = data, at

    def fixed(self, form: struct.Struct) -> tuple[Any, ...]:
        self._at += form.size
        return form.unpack_from(self._data, self._at - form.size)

    def take(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._data):
            raise ValueError(f"it ends {self._at - len(self._data)} bytes too early")
        return self._data[self._at - size : self._at]

    def number(self) -> int:
        value = shift = 0
        while (byte := self._data[self._at]) > 0x7F:
            value, shift, self._at = value | (byte & 0x7F) << shift, shift + 7, self._at + 1
        self._at += 1
        return value | byte << shift

    def numbers(self, count: int) -> list[int]:
        return [self.number() for _ in range(count)]

    def rest(self) -> bytes:
        return self._data[self._at :]


def _parse(reader: _Reader, recipes: Sequence[str], seed: int, bits: int) -> StoredPage:
    number, recipe, last, body = reader.fixed(_EVERY)
    reason, own, prose = _REASONS[number], dict[str, Any](), b""
    if reason is None:
        own["fingerprint"] = int.from_bytes(reader.take(bits // 8), "big")
        own["text_digest"], own["links_digest"] = reader.fixed(_OWN)
        own["content_sketch"], prose = (reader.take(2 * half) for half in reader.numbers(2))
    since, length, outlinks, callback_size, beginning = reader.numbers(5)
    if reason is None:
        own |= _rest_of_own(reader, prose)
    callback = reader.take(callback_size).decode("utf-8", "replace")
    url = _BEGINNINGS[beginning] + reader.rest().decode("utf-8", "surrogatepass")
    known: dict[str, Any] = {"recipe": recipes[recipe], "seed": seed, "body_digest": body, "text_length": length, "outlinks": outlinks}
    page = Abstention(url=url, reason=reason, **known) if reason else PageFingerprint(url=url, bits=bits, **own, **known)
    (first,) = _TIME.unpack((since ^ _bits_of(last)).to_bytes(_TIME.size, "big"))
    return StoredPage(page, first, last, callback=callback)


def _rest_of_own(reader: _Reader, prose: bytes) -> dict[str, Any]:
    names_size, units, prose_units, *others = reader.numbers(9)
    counts, sizes = others[: len(_SMALL_PARTS)], others[len(_SMALL_PARTS) :]
    sketches = [reader.take(size & ~1) if size & 1 else bytes(size) for size in sizes]
    parts = {name: Part(count, made) for name, count, made in zip(_SMALL_PARTS, counts, sketches, strict=True)}
    return {"units": units, "prose": Part(prose_units, prose), **parts, "names": reader.take(names_size)}
