"""Texts that a store keeps beside its pages, so that the difference of two of them can be shown: `SIMCRAWL_KEEP_TEXT`.

Nothing is decided by them. So they are written after their pages, may be missing, and are the first thing to go without where space is
scarce.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcrawl.errors import StoreCorruptError
from simcrawl.page.kept import expanded
from simcrawl.sealed import unseal

if TYPE_CHECKING:
    from collections.abc import Mapping

# Compressed texts that wait for the next commit, in bytes.
_MOST_WAITING = 1 << 24


class TextsWaiting:
    """Texts on their way into a store, compressed. Off until `most`, the bytes that all texts of the store may take, is set."""

    def __init__(self) -> None:
        self.most = 0
        self.refused = 0
        """Texts that were not kept because there was no space for them."""
        self.full = False
        """Whether none of a commit's texts found space."""
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
        # Until the store is opened again. Of a commit of one large text: then some small ones that would fit are not kept.
        self.full = self.full or 0 < len(texts) <= refused
        for url, packed in texts.items():
            if self._waiting.get(url) is packed:
                self.remove(url)


def text_of(sealed: bytes) -> str:
    """Return the text of what is kept of it.

    Raises:
        StoreCorruptError: they fail their checksum, or are no text.
    """
    try:
        return expanded(unseal(sealed, "a kept text", "forget its page"))
    except ValueError as exc:
        raise StoreCorruptError(f"a kept text cannot be read: {exc}; forget its page") from exc
