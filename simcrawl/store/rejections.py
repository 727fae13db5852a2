"""Verdicts that a user took back: pairs of pages that are never copies of each other again.

A page has up to two names here, 16 bytes each: the key of its URL, and the digest of its content. Every name of the one page is paired with
every name of the other, in both orders. So two pages stay apart whichever of them comes first, and so do copies of them under other URLs.
Where both have the same content it cannot tell them apart: then their URLs alone are paired.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from simcrawl.errors import StoreCorruptError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, digest
from simcrawl.sealed import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_CACHED = 500


@dataclass(frozen=True, slots=True)
class Rejection:
    """A user's word that `url` is no copy of `original`, nor the other way round. `when`: seconds since 1970.

    `content`, `original_content`: digests of what the two held, in hexadecimal; empty where that is not known.
    """

    url: str
    original: str
    when: float
    content: str = ""
    original_content: str = ""

    def names(self, seed: int) -> set[bytes]:
        """Return the pairs of names, 32 bytes each, under which the two are held apart."""
        a, b = (_names(url_key(url, seed), content) for url, content in self._sides())
        return set(_pairs(a, b)) | set(_pairs(b, a))

    def _sides(self) -> tuple[tuple[str, str], tuple[str, str]]:
        told_apart = self.content != self.original_content
        return (self.url, self.content if told_apart else ""), (self.original, self.original_content if told_apart else "")


def url_key(url: str, seed: int) -> bytes:
    """Return the 16 bytes under which a URL stands in a store."""
    # The cache is not to keep what a page made up.
    return _url_key(url, seed) if len(url) <= _LONGEST_CACHED else _url_key.__wrapped__(url, seed)


# A page is looked up, claimed, noted as seen and written, in two stores.
@lru_cache(maxsize=4096)
def _url_key(url: str, seed: int) -> bytes:
    return digest(url.encode("utf-8", "surrogatepass"), seed)


def content_of(page: PageFingerprint | Abstention) -> str:
    """Return the digest of what a page holds, in hexadecimal: of its visible text, of its bytes where it abstains."""
    return (page.text_digest if isinstance(page, PageFingerprint) else page.body_digest).hex()


def pairs_of(a: PageFingerprint | Abstention, b: PageFingerprint | Abstention) -> list[bytes]:
    """Return the pairs of names, any of which among a store's says that two pages are held apart."""
    return _pairs(*(_names(url_key(page.url, page.seed), content_of(page)) for page in (a, b)))


def _names(key: bytes, content: str) -> list[bytes]:
    return [key, bytes.fromhex(content)] if content else [key]


def _pairs(a: Iterable[bytes], b: Iterable[bytes]) -> list[bytes]:
    return [one + other for one, other in product(a, b)]


def format_rejection(rejection: Rejection) -> bytes:
    """Return the bytes of a rejection, sealed."""
    return seal(json.dumps(asdict(rejection)).encode())


def parse_rejection(value: bytes | memoryview) -> Rejection:
    """Return the rejection that `format_rejection` wrote.

    Raises:
        StoreCorruptError: it fails its checksum, or does not parse.
    """
    whole = unseal(value, "a rejection", "restore the store from a backup")
    try:
        rejection = Rejection(**json.loads(whole))
        bytes.fromhex(rejection.content + rejection.original_content)
    except (ValueError, TypeError) as exc:
        raise StoreCorruptError(f"a rejection does not parse ({exc}): it was not written by this version of simcrawl") from exc
    return rejection
