"""Pages, owners and the register within one transaction of a store on disk. Bytes: `docs/store-format.md`.

Every page has a number, which stands under a digest of its URL, and one record under that number. Under the beginnings of a page's digests
and under its fingerprint stand the numbers of the pages that have them. A fingerprint that is in the tables and has no owner was stored
without a page; one that has owners as well was so only where `NO_PAGE` is among these.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import nlargest
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.errors import StoreCorruptError
from simcrawl.page.fingerprint import Abstention, PageFingerprint
from simcrawl.sealed import seal, unseal
from simcrawl.store.committed import MOST_CRAWLS
from simcrawl.store.records import PackedPage, decode, decode_again, encode_again, last_seen
from simcrawl.store.register import format_line, parse_line, quick_when
from simcrawl.store.rejections import format_rejection, parse_rejection, url_key

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping

    import numpy as np
    from lmdb import Environment, Transaction
    from numpy.typing import NDArray

    from simcrawl.index.durable import DurableIndex
    from simcrawl.rule import StoredPage
    from simcrawl.store.header import Header
    from simcrawl.store.register import Duplicate
    from simcrawl.store.rejections import Rejection

logger = logging.getLogger(__name__)

_NUMBER = 6
NO_PAGE = bytes(_NUMBER)
# Of a digest: each byte of a key takes one and a half in the file. Records have the whole digest, which whoever reads compares.
_DIGEST_KEY = 8
# What a step of an expiry reads and removes, at most: some hundredths of a second.
_MOST_READ, _MOST_REMOVED = 4096, 256


class Databases(NamedTuple):
    """The named databases of pages, owners and the register."""

    meta: Any
    numbers: Any
    pages: Any
    fingerprints: Any
    bodies: Any
    texts: Any
    duplicates: Any
    rejections: Any
    contents: Any
    visits: Any
    crawls: Any


@dataclass(frozen=True)
class Files:
    """A store's files as LMDB has them open, and the header that was in them then."""

    env: Environment
    databases: Databases
    index: DurableIndex
    header: Header
    data: os.stat_result
    close: Callable[[], None]
    damaged: set[bytes] = field(default_factory=set)
    """What was found to be damaged, and told: names of databases, and keys."""


class Place(NamedTuple):
    """Where an expiry goes on: a database, and a key in it."""

    name: str
    key: bytes


class Snapshot:
    """Reads within one transaction: a `simcrawl.store.committed.Reader`.

    `own_version`: of the index, after the last commit of this process.
    """

    def __init__(self, txn: Transaction[memoryview], files: Files, *, own_version: tuple[int, int] = (-1, -1)) -> None:
        self.txn = txn
        self.databases, self.index, self.header = files.databases, files.index, files.header
        self._env, self._damaged = files.env, files.damaged
        self._own_version = own_version

    @property
    def others_wrote(self) -> bool:
        """Whether another process may have written pages since the last commit of this one."""
        return self.index.version(self.txn) != self._own_version

    def key(self, url: str) -> bytes:
        """Return the key of a URL."""
        return url_key(url, self.header.seed)

    def fingerprint_key(self, fingerprint: int) -> bytes:
        """Return the key of a fingerprint: big-endian, so that the order of bytes is the order of numbers."""
        return fingerprint.to_bytes(self.index.packer.word, "big")

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""
        number = self.number(self.key(url))
        return self.numbered_page(number) if number else None

    def number(self, key: bytes | memoryview) -> bytes | None:
        """Return the number of the page whose URL has this key."""
        number = self.txn.get(key, db=self.databases.numbers)
        return None if number is None else bytes(number)

    def numbered_page(self, number: bytes | memoryview) -> StoredPage | None:
        """Return the page of a number."""
        record = self.txn.get(number, db=self.databases.pages)
        return None if record is None else self._decoded(record)

    def _decoded(self, record: bytes | memoryview, by: Callable[..., StoredPage] = decode_again) -> StoredPage:
        return by(bytes(record), recipes=(self.header.recipe or "",), seed=self.header.seed, bits=self.header.bits)

    def with_body(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this body digest."""
        return (stored for stored in self._owners(self.databases.bodies, digest_key(digest)) if stored.page.body_digest == digest)

    def with_text(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this digest of the whole visible text."""
        owners = self._owners(self.databases.texts, digest_key(digest))
        return (stored for stored in owners if isinstance(stored.page, PageFingerprint) and stored.page.text_digest == digest)

    def with_fingerprint(self, fingerprint: int) -> Iterator[StoredPage]:
        """Yield the pages that have exactly this fingerprint."""
        return self._owners(self.databases.fingerprints, self.fingerprint_key(fingerprint))

    def candidates(self, fingerprint: int) -> Iterator[PackedPage]:
        """Yield the pages that have exactly this fingerprint, to be decoded."""
        for record in self._records(self.databases.fingerprints, self.fingerprint_key(fingerprint)):
            yield PackedPage(record, self.header.bits, self._decoded)

    def _owners(self, database: Any, key: bytes) -> Iterator[StoredPage]:
        return map(self._decoded, self._records(database, key))

    def _records(self, database: Any, key: bytes) -> Iterator[memoryview]:
        with self.txn.cursor(database) as cursor:
            if cursor.set_key(key):
                for owner in cursor.iternext_dup():
                    if owner != NO_PAGE and (record := self.txn.get(owner, db=self.databases.pages)) is not None:
                        yield record

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""
        with self.txn.cursor(self.databases.fingerprints) as cursor:
            key = self.fingerprint_key(fingerprint)
            return cursor.set_key_dup(key, NO_PAGE) or (not cursor.set_key(key) and self.index.contains(self.txn, fingerprint))

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all fingerprints within the radius."""
        return self.index.within(self.txn, fingerprint, distance)

    def pages(self, latest: int | None = None) -> Iterator[StoredPage]:
        """Yield all pages, in the order in which they were stored first; or so many, those last seen last: the others are not decoded."""
        for _, record in self._entries("pages") if latest is None else self._latest("pages", latest, last_seen):
            # So many would take the place of all that are compared again and again.
            yield self._decoded(record, decode)

    def _entries(self, name: str) -> Iterator[tuple[bytes | memoryview, memoryview]]:
        """Yield what a database holds, and tell where that is less or more than was written: LMDB may have lost its way."""
        database, count = getattr(self.databases, name), 0
        with self.txn.cursor(database) as cursor:
            for entry in cursor:
                count += 1
                yield entry
        if count != (written := self.txn.stat(database)["entries"]):
            self._tell(name, {f"{count} of {written}".encode()})

    def duplicate(self, url: str) -> Duplicate | None:
        """Return the line of the register for a URL; none where it is damaged, which is told."""
        key = self.key(url)
        line = self.txn.get(key, db=self.databases.duplicates)
        try:
            return None if line is None else parse_line(line)
        except StoreCorruptError:
            self._tell("duplicates", {key})
            return None

    def duplicates(self, latest: int | None = None) -> Iterator[Duplicate]:
        """Yield the register; or so many of its lines, the latest: the others are not parsed. Damaged ones are told, and passed over."""
        return self._whole("duplicates", parse_line, None if latest is None else self._latest("duplicates", latest, quick_when))

    def _whole(
        self, name: str, parse: Callable[[memoryview], Any], entries: Iterable[tuple[Any, memoryview]] | None = None
    ) -> Iterator[Any]:
        """Yield all that a database holds, or what these entries of it do, parsed; pass over what is damaged, and tell it."""
        damaged = set[bytes]()
        try:
            for key, value in self._entries(name) if entries is None else entries:
                try:
                    parsed = parse(value)
                except StoreCorruptError:
                    damaged.add(bytes(key))
                else:
                    if parsed is not None:
                        yield parsed
        finally:
            # Also where whoever reads stops before the end.
            self._tell(name, damaged)

    def _tell(self, name: str, damaged: set[bytes]) -> None:
        """Say how many entries are damaged or lost, of each once, however often they are read."""
        if new := {f"{name} ".encode() + key for key in damaged} - self._damaged:
            self._damaged |= new
            path, cure = self._env.path(), "`simcrawl verify` names them; restore the store from a backup, or crawl their pages again"
            logger.warning("%s: damaged entries of %s are passed over, %d so far: %s", path, name, len(self._damaged), cure)

    def _latest(self, name: str, most: int, when: Callable[[memoryview], float]) -> Iterator[tuple[bytes, memoryview]]:
        # Buffers of a transaction hold as long as it does.
        found = nlargest(most, ((when(value), bytes(key), value) for key, value in self._entries(name)), key=itemgetter(0, 1))
        return ((key, value) for _, key, value in found)

    def expired(self, before: float, place: Place) -> tuple[list[bytes], Place | None]:
        """Return the keys of what is older than a moment, of the next few from a place on, and the place after these; None at the end."""
        name, start = place
        age = last_seen if name == "pages" else _when
        old: list[bytes] = []
        with self.txn.cursor(getattr(self.databases, name)) as cursor:
            entries = cursor.iternext() if cursor.set_range(start) else ()
            for read, (key, value) in enumerate(entries):
                if read == _MOST_READ or len(old) == _MOST_REMOVED:
                    return old, Place(name, bytes(key))
                if age(value) < before:
                    old.append(bytes(key))
        return old, Place("duplicates", b"") if name == "pages" else None

    def text(self, url: str) -> bytes | None:
        """Return the packed text of a URL."""
        packed = self.txn.get(self.key(url), db=self.databases.contents)
        return None if packed is None else bytes(packed)

    def visit(self, key: bytes) -> bytes | None:
        """Return what was noted under the key of a visit."""
        value = self.txn.get(key, db=self.databases.visits)
        return None if value is None else bytes(value)

    def visits(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the visits whose keys begin so, in the order of their keys."""
        with self.txn.cursor(self.databases.visits) as cursor:
            for key, value in cursor.iternext() if cursor.set_range(prefix) else ():
                if key[: len(prefix)] != prefix:
                    return
                yield bytes(key), bytes(value)

    def urls_of(self, keys: Iterable[bytes]) -> list[str]:
        """Return the URLs of pages whose keys these are."""
        found = (self.numbered_page(number) for key in keys if (number := self.number(key)))
        return [stored.page.url for stored in found if stored]

    def crawls(self) -> list[dict[str, Any]]:
        """Return the records of crawls, the latest last."""
        with self.txn.cursor(self.databases.crawls) as cursor:
            return [json.loads(unseal(value, "the record of a crawl")) for value in cursor.iternext(keys=False, values=True)]

    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back. Damaged ones are told, and passed over: their pages are held apart all the same."""
        # Nothing stands under the other names of a rejection.
        return self._whole("rejections", lambda value: parse_rejection(value) if value else None)

    def holds_any_apart(self) -> bool:
        """Return whether there are rejections at all: most stores have none, and a page may be compared with hundreds."""
        return bool(self.txn.stat(self.databases.rejections)["entries"])

    def holds_apart(self, pairs: Iterable[bytes]) -> bool:
        """Return whether one of these pairs of names is among the rejections."""
        return any(self.txn.get(pair, db=self.databases.rejections) is not None for pair in pairs)

    def rejection_key(self, rejection: Rejection) -> bytes:
        """Return the pair of names under which a rejection itself stands; under its others stands nothing."""
        return self.key(rejection.url) + self.key(rejection.original)

    def chunks(self, size: int) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct fingerprint once, as words."""
        return self.index.chunks(self.txn, size)

    def counts(self) -> dict[str, int]:
        """Return the numbers of pages, fingerprints and lines of the register, and the bytes in use by the file."""
        size, lines = self.size(), self.txn.stat(self.databases.duplicates)["entries"]
        return {"pages": size["pages"], "fingerprints": self.index.count(self.txn), "duplicates": lines, "bytes": size["bytes"]}

    def size(self) -> dict[str, int]:
        """Return the number of pages, and the bytes in use by the file."""
        stat = self.txn.stat(self.databases.pages)
        return {"pages": stat["entries"], "bytes": int((self._env.info()["last_pgno"] + 1) * stat["psize"])}


class Writer(Snapshot):
    """Writes within one transaction. `changes`, of the index, are to be finished before the commit."""

    def __init__(self, txn: Transaction[memoryview], files: Files) -> None:
        super().__init__(txn, files)
        self.changes = files.index.writing(txn)

    def put_page(self, stored: StoredPage) -> None:
        """Write a page in place of the one under the same URL."""
        page, key = stored.page, self.key(stored.page.url)
        if number := self.number(key):
            if known := self.numbered_page(number):
                self._unlink(known.page, number)
                if known.page.body_digest != page.body_digest:
                    self.txn.delete(key, db=self.databases.contents)
            self.txn.put(number, encode_again(stored), db=self.databases.pages)
        else:
            number = self._append(encode_again(stored))
            self.txn.put(key, number, db=self.databases.numbers)
        self.txn.put(digest_key(page.body_digest), number, db=self.databases.bodies, dupdata=True)
        if isinstance(page, PageFingerprint):
            self.txn.put(digest_key(page.text_digest), number, db=self.databases.texts, dupdata=True)
            self._own(page.fingerprint, number)

    def _append(self, record: bytes) -> bytes:
        """Write a record behind all others; return its number."""
        # Under digests of URLs each would go to a page of the file of its own, which is written anew, and half of which stays empty.
        with self.txn.cursor(self.databases.pages) as cursor:
            last = int.from_bytes(cursor.key(), "big") if cursor.last() else 0
            number = (last + 1).to_bytes(_NUMBER, "big")
            cursor.put(number, record, append=True)
        return number

    def put_bare(self, fingerprints: Collection[int], *, known_new: bool = False) -> None:
        """Write fingerprints without pages. `known_new`: nobody wrote anything since they were found to be in no table."""
        if known_new and self.changes.insert_new(fingerprints):
            return
        for fingerprint in fingerprints:
            if not self.changes.insert(fingerprint):
                put_no_page(self, fingerprint)

    def put_duplicate(self, url: str, line: Duplicate | None) -> None:
        """Write a URL's line of the register in place of an older one, or strike that out."""
        if line is None:
            self.remove_duplicate(url)
        else:
            self.txn.put(self.key(url), format_line(line), db=self.databases.duplicates)

    def put_rejection(self, rejection: Rejection) -> None:
        """Write a rejection in place of an older one of the same two pages."""
        own = self.rejection_key(rejection)
        if known := self.txn.get(own, db=self.databases.rejections):
            # Where that is damaged the new one takes its place, and its names stay.
            with suppress(StoreCorruptError):
                self.remove_rejection(parse_rejection(known))
        for pair in rejection.names(self.header.seed) - {own}:
            # What another rejection says under this pair stays.
            self.txn.put(pair, b"", db=self.databases.rejections, overwrite=False)
        self.txn.put(own, format_rejection(rejection), db=self.databases.rejections)

    def remove_rejection(self, rejection: Rejection) -> None:
        """Remove a rejection, and what no other one needs of it.

        Raises:
            StoreCorruptError: a rejection is damaged, so that it cannot be told what it needs.
        """
        own = self.rejection_key(rejection)
        self.txn.delete(own, db=self.databases.rejections)
        with self.txn.cursor(self.databases.rejections) as cursor:
            others = [parse_rejection(value) for value in cursor.iternext(keys=False, values=True) if value]
        kept = set[bytes]().union(*(one.names(self.header.seed) for one in others))
        for pair in rejection.names(self.header.seed) - kept:
            self.txn.delete(pair, db=self.databases.rejections)
        if own in kept:
            self.txn.put(own, b"", db=self.databases.rejections)

    def remove_page(self, url: str) -> bool:
        """Remove a page; return whether there was one. Its text goes with it, unless the URL has a line in the register."""
        key = self.key(url)
        number = self.number(key)
        stored = self.numbered_page(number) if number else None
        if number and stored:
            self._unlink(stored.page, number)
            self.txn.delete(number, db=self.databases.pages)
            self.txn.delete(key, db=self.databases.numbers)
            self._drop_text(key)
        return stored is not None

    def remove_duplicate(self, url: str) -> bool:
        """Strike a URL's line out of the register; return whether there was one. Its text goes with it, unless there is a page."""
        key = self.key(url)
        known = self.txn.delete(key, db=self.databases.duplicates)
        if known:
            self._drop_text(key)
        return known

    def expire(self, name: str, keys: Iterable[bytes], before: float, spared: Container[str]) -> int:
        """Remove pages, or lines of the register, that are still older than a moment; return how many pages."""
        if name == "pages":
            pages = [stored for number in keys if (stored := self.numbered_page(number)) and stored.last_seen < before]
            gone = [stored.page.url for stored in pages if stored.page.url not in spared]
            return sum(map(self.remove_page, gone))
        for key in keys:
            line = self.txn.get(key, db=self.databases.duplicates)
            if line is not None and _when(line) < before:
                self.txn.delete(key, db=self.databases.duplicates)
                self._drop_text(key)
        return 0

    def _drop_text(self, key: bytes) -> None:
        if not has_owner(self, key):
            self.txn.delete(key, db=self.databases.contents)

    def _unlink(self, page: PageFingerprint | Abstention, number: bytes) -> None:
        self.txn.delete(digest_key(page.body_digest), number, db=self.databases.bodies)
        if isinstance(page, PageFingerprint):
            self.txn.delete(digest_key(page.text_digest), number, db=self.databases.texts)
            self._disown(page.fingerprint, number)

    def _own(self, fingerprint: int, owner: bytes) -> None:
        key = self.fingerprint_key(fingerprint)
        if self.txn.get(key, db=self.databases.fingerprints) is None and not self.changes.insert(fingerprint):
            self.txn.put(key, NO_PAGE, db=self.databases.fingerprints, dupdata=True)
        self.txn.put(key, owner, db=self.databases.fingerprints, dupdata=True)

    def _disown(self, fingerprint: int, owner: bytes) -> None:
        key = self.fingerprint_key(fingerprint)
        self.txn.delete(key, owner, db=self.databases.fingerprints)
        if self.txn.get(key, db=self.databases.fingerprints) is None:
            self.changes.remove(fingerprint)


def digest_key(digest: bytes) -> bytes:
    """Return the key under which the pages with a digest of their bytes or text stand, and perhaps some with another one."""
    return digest[:_DIGEST_KEY]


def put_no_page(snapshot: Snapshot, fingerprint: int) -> None:
    """Note that a fingerprint that has owners was stored without a page, too, so that it outlives these."""
    key = snapshot.fingerprint_key(fingerprint)
    if snapshot.txn.get(key, db=snapshot.databases.fingerprints) is not None:
        snapshot.txn.put(key, NO_PAGE, db=snapshot.databases.fingerprints, dupdata=True)


def put_no_pages(files: Files, txn: Transaction[memoryview], rows: NDArray[np.uint64]) -> None:
    """Note that of fingerprints, given as words, which are stored without pages."""
    snapshot = Snapshot(txn, files)
    for row in rows if txn.stat(files.databases.fingerprints)["entries"] else ():
        put_no_page(snapshot, int.from_bytes(row.tobytes(), "little"))


def put_texts(snapshot: Snapshot, texts: Mapping[str, bytes], most: int) -> int:
    """Write packed texts whose page or line is written, as long as all take less than `most` bytes; return how many found no space."""
    txn, databases, refused = snapshot.txn, snapshot.databases, 0
    for url, packed in texts.items():
        key = snapshot.key(url)
        if has_owner(snapshot, key):
            fits = _size(txn, databases.contents) + len(packed) <= most
            refused += not fits
            if fits:
                txn.put(key, packed, db=databases.contents)
    return refused


def has_owner(snapshot: Snapshot, key: bytes | memoryview) -> bool:
    """Return whether there is a page, or a line of the register, under the key of a URL."""
    return any(snapshot.txn.get(key, db=database) is not None for database in (snapshot.databases.numbers, snapshot.databases.duplicates))


def _size(txn: Transaction[memoryview], database: Any) -> int:
    """Return the bytes that a database takes in the file."""
    stat = txn.stat(database)
    return int((stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]) * stat["psize"])


def put_crawl(txn: Transaction[memoryview], databases: Databases, record: Mapping[str, Any]) -> None:
    """Write the record of a crawl behind the others, of which the last `MOST_CRAWLS` stay."""
    with txn.cursor(databases.crawls) as cursor:
        number = int.from_bytes(cursor.key(), "big") + 1 if cursor.last() else 1
        cursor.put(number.to_bytes(8, "big"), seal(json.dumps(record).encode()))
        while txn.stat(databases.crawls)["entries"] > MOST_CRAWLS and cursor.first():
            cursor.delete()


def _when(line: bytes | memoryview) -> float:
    try:
        return parse_line(line).when
    except StoreCorruptError:
        # Of a damaged line nobody knows how old it is: it stays, for `verify` to name.
        return inf
