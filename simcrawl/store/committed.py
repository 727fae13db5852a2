"""What a place for committed pages must be able to do: the two protocols by which memory, LMDB, and whatever comes next differ.

A `Store` decides, claims, and collects; a `CommittedPages` keeps what came out, in transactions. Nothing of claims, rules or clusters is
here, so a new kind of store is this one class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from threading import Lock

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.rule import Candidate, StoredPage
    from simcrawl.store.header import Header
    from simcrawl.store.register import Duplicate
    from simcrawl.store.rejections import Rejection
    from simcrawl.store.visits import Visits

MOST_CRAWLS = 20
"""How many records of crawls a store keeps."""
Step = object
"""Where an expiry goes on; None at its end. Only who gave it knows what it means."""


@dataclass(slots=True)
class Batch:
    """What one group commit writes. `register`: the line of a URL, None to strike it out. `bare`: fingerprints without pages."""

    pages: list[StoredPage]
    bare: Collection[int] = ()
    register: dict[str, Duplicate | None] = field(default_factory=dict)
    visits: dict[bytes, bytes] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether there is anything to write."""
        return bool(self.pages or self.bare or self.register or self.visits)


class Reader(Protocol):
    """A consistent view of what is committed: every answer belongs to one moment."""

    @property
    def others_wrote(self) -> bool:
        """Whether another process may have written pages since the last commit of this one."""

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""

    def with_body(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this body digest."""

    def with_text(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this digest of the whole visible text."""

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all fingerprints within the radius, with pages or without."""

    def with_fingerprint(self, fingerprint: int) -> Iterable[StoredPage]:
        """Return the pages that have exactly this fingerprint."""

    def candidates(self, fingerprint: int) -> Iterable[Candidate]:
        """Return what `with_fingerprint` does, to be looked at whole later, while the view lasts."""

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""

    def holds_any_apart(self) -> bool:
        """Return whether there are rejections at all."""

    def holds_apart(self, pairs: Iterable[bytes]) -> bool:
        """Return whether one of these pairs of names is among the rejections: see `simcrawl.store.rejections`."""

    def pages(self, latest: int | None = None) -> Iterator[StoredPage]:
        """Yield all pages. `latest`: only so many, those last seen last."""

    def duplicate(self, url: str) -> Duplicate | None:
        """Return the line of the register for a URL."""

    def duplicates(self, latest: int | None = None) -> Iterator[Duplicate]:
        """Yield the register, the latest line of each URL. `latest`: only so many, the latest of all."""

    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back."""

    def text(self, url: str) -> bytes | None:
        """Return the packed text of a URL."""

    def visit(self, key: bytes) -> bytes | None:
        """Return what was noted under the key of a visit."""

    def visits(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the visits whose keys begin so, in the order of their keys."""

    def urls_of(self, keys: Collection[bytes]) -> list[str]:
        """Return the URLs of pages whose keys these are: see `simcrawl.store.rejections.url_key`."""

    def crawls(self) -> list[dict[str, Any]]:
        """Return the records of crawls, the latest last."""

    def chunks(self, size: int) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct fingerprint once, as rows of words of shape (up to about `size`, words), in no order."""

    def counts(self) -> dict[str, int]:
        """Return the numbers of pages, fingerprints and lines of the register ("duplicates"), and the bytes in use."""


class CommittedPages(Protocol):
    """Pages that came out, the register, and what goes with them. Every write is atomic, and durable where there is a disk.

    Raises, from whatever reads or writes:
        StoreError: it cannot be done; nothing has changed.
    """

    deciding: Lock
    """Held by whoever decides: see `Store`. A write takes it for the moments in which a decision must not look."""
    readonly: bool
    """Whether nothing can be written."""
    searches_bare: bool
    """Whether `near` leaves fingerprints that are held to be found by whoever holds them."""

    @property
    def header(self) -> Header:
        """What the store was made with."""

    @property
    def is_gone(self) -> bool:
        """Whether somebody has removed or replaced the files, so that what is written is lost at the end. Never raises."""

    def reading(self) -> AbstractContextManager[Reader]:
        """Return a view of what is committed."""

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all committed fingerprints within the radius, and of those held: the fast way."""

    def hold(self, fingerprint: int) -> None:
        """Let `near` find a fingerprint without a page that is yet to be written, unless `searches_bare`."""

    def bind(self, recipe: str) -> None:
        """Remember the recipe for good.

        Raises:
            StoreMismatchError: another process has bound the store to another one meanwhile.
        """

    def write(self, batch: Batch) -> None:
        """Commit a batch. Decisions go on meanwhile."""

    def erase(self, url: str) -> bool:
        """Remove a page and the line of its URL; return whether there was either. The caller holds `deciding`."""

    def expire(self, before: float, spared: Container[str], step: Step | None) -> tuple[int, Step | None]:
        """Remove some pages and lines of the register from before a moment, but spare some URLs; return how many pages, and the next step.

        The first step is None, and after the last one it is None again. A step is short.
        """

    def count_old(self, before: float, step: Step | None) -> tuple[int, Step | None]:
        """Return how many of some pages are from before a moment, and the next step, as `expire` does. Removes nothing."""

    def load(self, fingerprints: NDArray[np.uint64]) -> None:
        """Insert fingerprints without pages, given as words. The caller holds `deciding`."""

    def write_texts(self, texts: Mapping[str, bytes], most: int) -> int:
        """Write packed texts whose page or line is written, `most` bytes in all; return how many found no space."""

    def write_rejection(self, rejection: Rejection, lines: Sequence[Duplicate]) -> None:
        """Write a rejection, and the lines of the register that it marks. The caller holds `deciding`."""

    def erase_rejection(self, rejection: Rejection, lines: Sequence[Duplicate]) -> None:
        """Remove a rejection, and write the lines of the register that it had marked. The caller holds `deciding`."""

    def note_crawl(self, record: Mapping[str, Any]) -> None:
        """Write what became of a crawl, as a JSON object; the last `MOST_CRAWLS` stay."""

    def last_visits(self, spider: str) -> Visits | None:
        """Return what the last finished crawl of a spider saw; None where there was none, or it is damaged."""

    def keep_visits(self, spider: str, visits: Iterable[tuple[bytes, bytes]]) -> None:
        """Let these, in the order of their keys, be what the last finished crawl of a spider saw, in one step."""

    def size(self) -> dict[str, int]:
        """Return the numbers of pages and bytes: the part of `Reader.counts` that costs nothing."""

    def problems(self) -> list[str]:
        """Return what is wrong, a line each. Reads everything."""

    def close(self) -> None:
        """Release the files."""
