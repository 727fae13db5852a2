"""Texts that a store keeps beside its pages, so that the difference of two of them can be shown: `SIMCRAWL_KEEP_TEXT`.

Nothing is decided by them. So they are written after their pages, may be missing, and are the first thing to go without where space is
scarce.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from simcrawl.sealed import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 100_000
"""Characters of a text that are kept."""
# It takes .6 of the default's time, and 6 % more bytes.
_LEVEL = 3
# Compressed texts that wait for the next commit, in bytes.
_MOST_WAITING = 1 << 24


class TextsWaiting:
    """Texts on their way into a store, compressed. Off until `most`, the bytes that all texts of the store may take, is set."""

    def __init__(self) -> None:
        self.most = 0
        self.refused = 0
        """Texts that were not kept because there was no space for them."""
        self._waiting: dict[str, bytes] = {}
        self._bytes = 0

    def add(self, url: str, packed: bytes) -> None:
        """Let a text be written by the next commit."""
        self.remove(url)
        if self._bytes + len(packed) > _MOST_WAITING:
            self.refused += 1
            return
        self._waiting[url] = packed
        self._bytes += len(packed)

    def remove(self, url: str) -> None:
        """Let a text not be written."""
        self._bytes -= len(self._waiting.pop(url, b""))

    def take(self) -> dict[str, bytes]:
        """Return what waits; it goes on waiting until `written`."""
        return dict(self._waiting)

    def written(self, texts: Mapping[str, bytes], *, refused: int) -> None:
        """Forget texts that are written, or refused."""
        self.refused += refused
        for url, packed in texts.items():
            if self._waiting.get(url) is packed:
                self.remove(url)


def pack(text: str) -> bytes:
    """Return the bytes of a text, of its first `LONGEST` characters: sealed zlib of UTF-8."""
    return seal(zlib.compress(text[:LONGEST].encode("utf-8", "surrogatepass"), _LEVEL))


def unpack(packed: bytes) -> str:
    """Return the text of its bytes.

    Raises:
        StoreCorruptError: they fail their checksum.
    """
    return zlib.decompress(unseal(packed, "a kept text", "forget its page")).decode("utf-8", "surrogatepass")
