"""Pages, owners and the register within one transaction of a store on disk. Bytes: `docs/store-format.md`.

Every page has a number, which stands under a digest of its URL, and one record under that number. By a page's digests and its
fingerprint stand the numbers of the pages that have them. A fingerprint that is in the tables and has no owner was stored without a page;
one that has owners as well was so only where `NO_PAGE` is among these.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import asdict
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.errors import StoreCorruptError
from simcrawl.page.fingerprint import Abstention, PageFingerprint
from simcrawl.store.base import Duplicate
from simcrawl.store.records import decode, encode, last_seen
from simcrawl.store.rejections import format_rejection, parse_rejection, url_key
from simcrawl.store.texts import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from lmdb import Transaction
    from numpy.typing import NDArray

    from simcrawl.index.tables import Change, PackedTables
    from simcrawl.rule import StoredPage
    from simcrawl.store.base import Header
    from simcrawl.store.rejections import Rejection

_WHEN = re.compile(rb'[,{] ?"when": ?([0-9.]+)[,}]')
_NUMBER = 8
NO_PAGE = bytes(_NUMBER)
_CHUNK = 1 << 16
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


Place = tuple[str, bytes]
"""Where an expiry goes on: a database, and a key in it."""


class Snapshot:
    """Reads within one transaction."""

    def __init__(self, txn: Transaction[memoryview], databases: Databases, tables: PackedTables, header: Header) -> None:
        self.txn = txn
        self.databases = databases
        self.tables = tables
        self.header = header

    def key(self, url: str) -> bytes:
        """Return the key of a URL."""
        return url_key(url, self.header.seed)

    def fingerprint_key(self, fingerprint: int) -> bytes:
        """Return the key of a fingerprint: big-endian, so that the order of bytes is the order of numbers."""
        return fingerprint.to_bytes(self.tables.packer.word, "big")

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
        header = self.header
        return None if record is None else decode(record, recipe=header.recipe or "", seed=header.seed, bits=header.bits)

    def with_body(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this body digest."""
        return self._owners(self.databases.bodies, digest)

    def with_text(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this digest of the whole visible text."""
        return self._owners(self.databases.texts, digest)

    def with_fingerprint(self, fingerprint: int) -> Iterator[StoredPage]:
        """Yield the pages that have exactly this fingerprint."""
        return self._owners(self.databases.fingerprints, self.fingerprint_key(fingerprint))

    def _owners(self, database: Any, key: bytes) -> Iterator[StoredPage]:
        with self.txn.cursor(database) as cursor:
            if cursor.set_key(key):
                for owner in cursor.iternext_dup():
                    if owner != NO_PAGE and (stored := self.numbered_page(owner)):
                        yield stored

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""
        with self.txn.cursor(self.databases.fingerprints) as cursor:
            key = self.fingerprint_key(fingerprint)
            return cursor.set_key_dup(key, NO_PAGE) or (not cursor.set_key(key) and self.tables.is_held(self.txn, fingerprint))

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all fingerprints within the radius."""
        return self.tables.near(self.txn, fingerprint, distance)

    def pages(self) -> Iterator[StoredPage]:
        """Yield all pages, in the order in which they were stored first."""
        with self.txn.cursor(self.databases.pages) as cursor:
            for number in cursor.iternext(keys=True, values=False):
                if stored := self.numbered_page(number):
                    yield stored

    def duplicate(self, url: str) -> Duplicate | None:
        """Return the line of the register for a URL."""
        line = self.txn.get(self.key(url), db=self.databases.duplicates)
        return None if line is None else _parse_duplicate(bytes(line))

    def duplicates(self) -> Iterator[Duplicate]:
        """Yield the register."""
        with self.txn.cursor(self.databases.duplicates) as cursor:
            for value in cursor.iternext(keys=False, values=True):
                yield _parse_duplicate(bytes(value))

    def latest_pages(self, most: int) -> Iterator[StoredPage]:
        """Yield so many pages, those last seen last: the others are not decoded."""
        for number in self._latest(self.databases.pages, most, last_seen):
            if stored := self.numbered_page(number):
                yield stored

    def latest_duplicates(self, most: int) -> Iterator[Duplicate]:
        """Yield so many lines of the register, the latest ones: the others are not parsed."""
        for key in self._latest(self.databases.duplicates, most, _quick_when):
            line = self.txn.get(key, db=self.databases.duplicates)
            if line is not None:
                yield _parse_duplicate(bytes(line))

    def _latest(self, database: Any, most: int, when: Callable[[memoryview], float]) -> Iterator[bytes]:
        with self.txn.cursor(database) as cursor:
            # Buffers of a transaction hold as long as it does.
            found = nlargest(most, ((when(value), bytes(key)) for key, value in cursor))
        return (key for _, key in found)

    def expired(self, before: float, place: Place) -> tuple[list[bytes], Place | None]:
        """Return the keys of what is older than a moment, of the next few from a place on, and the place after these; None at the end."""
        name, start = place
        age = last_seen if name == "pages" else _when
        old: list[bytes] = []
        with self.txn.cursor(getattr(self.databases, name)) as cursor:
            entries = cursor.iternext() if cursor.set_range(start) else ()
            for read, (key, value) in enumerate(entries):
                if read == _MOST_READ or len(old) == _MOST_REMOVED:
                    return old, (name, bytes(key))
                if age(value) < before:
                    old.append(bytes(key))
        return old, ("duplicates", b"") if name == "pages" else None

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

    def crawls(self) -> Iterator[dict[str, Any]]:
        """Yield the records of crawls, the latest last."""
        with self.txn.cursor(self.databases.crawls) as cursor:
            for value in cursor.iternext(keys=False, values=True):
                yield _parse_crawl(bytes(value))

    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back."""
        with self.txn.cursor(self.databases.rejections) as cursor:
            for value in cursor.iternext(keys=False, values=True):
                if value:
                    yield parse_rejection(bytes(value))

    def holds_apart(self, pairs: Iterable[bytes]) -> bool:
        """Return whether one of these pairs of names is among the rejections."""
        return any(self.txn.get(pair, db=self.databases.rejections) is not None for pair in pairs)

    def rejection_key(self, rejection: Rejection) -> bytes:
        """Return the pair of names under which a rejection itself stands; under its others stands nothing."""
        return self.key(rejection.url) + self.key(rejection.original)

    def counts(self) -> dict[str, int]:
        """Return the numbers of pages, fingerprints and lines of the register."""
        pages, lines = (self.txn.stat(database)["entries"] for database in (self.databases.pages, self.databases.duplicates))
        return {"pages": pages, "fingerprints": self.tables.counters(self.txn).distinct, "duplicates": lines}


class Writer(Snapshot):
    """Writes within one transaction, to whose beginning the tables are caught up. Tables change when `finish` is called."""

    def __init__(self, txn: Transaction[memoryview], databases: Databases, tables: PackedTables, header: Header) -> None:
        super().__init__(txn, databases, tables, header)
        self._added: dict[int, None] = {}
        self._removed: dict[int, None] = {}

    def put_page(self, stored: StoredPage) -> None:
        """Write a page in place of the one under the same URL."""
        page, key = stored.page, self.key(stored.page.url)
        if number := self.number(key):
            if known := self.numbered_page(number):
                self._unlink(known.page, number)
                if known.page.body_digest != page.body_digest:
                    self.txn.delete(key, db=self.databases.contents)
            self.txn.put(number, encode(stored), db=self.databases.pages)
        else:
            number = self._append(encode(stored))
            self.txn.put(key, number, db=self.databases.numbers)
        self.txn.put(page.body_digest, number, db=self.databases.bodies, dupdata=True)
        if isinstance(page, PageFingerprint):
            self.txn.put(page.text_digest, number, db=self.databases.texts, dupdata=True)
            self._own(page.fingerprint, number)

    def _append(self, record: bytes) -> bytes:
        """Write a record behind all others; return its number."""
        # Under digests of URLs each would go to a page of the file of its own, which is written anew, and half of which stays empty.
        with self.txn.cursor(self.databases.pages) as cursor:
            last = int.from_bytes(cursor.key(), "big") if cursor.last() else 0
            number = (last + 1).to_bytes(_NUMBER, "big")
            cursor.put(number, record, append=True)
        return number

    def put_bare(self, fingerprints: Sequence[int], *, known_new: bool = False) -> None:
        """Write fingerprints without pages. `known_new`: nobody wrote anything since they were found to be in no table."""
        if known_new and not self._added and not self._removed:
            self._added = dict.fromkeys(fingerprints)
            return
        for fingerprint in fingerprints:
            if fingerprint in self._added or fingerprint in self._removed or (not known_new and self._is_stored(fingerprint)):
                self._bare_too(fingerprint)
            else:
                self._added[fingerprint] = None

    def _bare_too(self, fingerprint: int) -> None:
        key = self.fingerprint_key(fingerprint)
        if fingerprint in self._removed:
            del self._removed[fingerprint]
        elif self.txn.get(key, db=self.databases.fingerprints) is not None:
            # So that it outlives the pages that have it.
            self.txn.put(key, NO_PAGE, db=self.databases.fingerprints, dupdata=True)

    def put_duplicate(self, url: str, line: Duplicate | None) -> None:
        """Write a URL's line of the register in place of an older one, or strike that out."""
        if line is None:
            self.remove_duplicate(url)
        else:
            self.txn.put(self.key(url), json.dumps(asdict(line)).encode(), db=self.databases.duplicates)

    def put_rejection(self, rejection: Rejection) -> None:
        """Write a rejection in place of an older one of the same two pages."""
        own = self.rejection_key(rejection)
        if known := self.txn.get(own, db=self.databases.rejections):
            self.remove_rejection(parse_rejection(bytes(known)))
        for pair in rejection.names(self.header.seed) - {own}:
            # What another rejection says under this pair stays.
            self.txn.put(pair, b"", db=self.databases.rejections, overwrite=False)
        self.txn.put(own, format_rejection(rejection), db=self.databases.rejections)

    def remove_rejection(self, rejection: Rejection) -> None:
        """Remove a rejection, and what no other one needs of it."""
        own = self.rejection_key(rejection)
        self.txn.delete(own, db=self.databases.rejections)
        kept = set[bytes]().union(*(one.names(self.header.seed) for one in self.rejections()))
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
        known = self.txn.delete(self.key(url), db=self.databases.duplicates)
        self._drop_text(self.key(url))
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
        if not _has_owner(self, key):
            self.txn.delete(key, db=self.databases.contents)

    def _unlink(self, page: PageFingerprint | Abstention, number: bytes) -> None:
        self.txn.delete(page.body_digest, number, db=self.databases.bodies)
        if isinstance(page, PageFingerprint):
            self.txn.delete(page.text_digest, number, db=self.databases.texts)
            self._disown(page.fingerprint, number)

    def _own(self, fingerprint: int, owner: bytes) -> None:
        key = self.fingerprint_key(fingerprint)
        if self.txn.get(key, db=self.databases.fingerprints) is None:
            if fingerprint in self._removed:
                del self._removed[fingerprint]
            elif self._is_stored(fingerprint):
                self.txn.put(key, NO_PAGE, db=self.databases.fingerprints, dupdata=True)
            else:
                self._added[fingerprint] = None
        self.txn.put(key, owner, db=self.databases.fingerprints, dupdata=True)

    def _is_stored(self, fingerprint: int) -> bool:
        return fingerprint in self._added or self.tables.contains(self.txn, fingerprint)

    def _disown(self, fingerprint: int, owner: bytes) -> None:
        key = self.fingerprint_key(fingerprint)
        self.txn.delete(key, owner, db=self.databases.fingerprints)
        if self.txn.get(key, db=self.databases.fingerprints) is not None:
            return
        if fingerprint in self._added:
            del self._added[fingerprint]
        else:
            self._removed[fingerprint] = None

    def load(self, fingerprints: NDArray[np.uint64]) -> None:
        """Write distinct fingerprints without pages, in bulk."""
        known = self.tables.load(self.txn, fingerprints)
        if self.txn.stat(self.databases.fingerprints)["entries"]:
            for row in fingerprints[known]:
                self._bare_too(int.from_bytes(row.tobytes(), "little"))

    def finish(self) -> Change | None:
        """Write the tables; return what `PackedTables.settle` is to be told after the commit."""
        return self.tables.write(self.txn, list(self._added), list(self._removed))


def put_texts(snapshot: Snapshot, texts: Mapping[str, bytes], most: int) -> int:
    """Write packed texts whose page or line is written, as long as all take less than `most` bytes; return how many found no space."""
    txn, databases, refused = snapshot.txn, snapshot.databases, 0
    for url, packed in texts.items():
        key = snapshot.key(url)
        if _has_owner(snapshot, key):
            fits = _size(txn, databases.contents) + len(packed) <= most
            refused += not fits
            if fits:
                txn.put(key, packed, db=databases.contents)
    return refused


def _has_owner(snapshot: Snapshot, key: bytes | memoryview) -> bool:
    return any(snapshot.txn.get(key, db=database) is not None for database in (snapshot.databases.numbers, snapshot.databases.duplicates))


def _size(txn: Transaction[memoryview], database: Any) -> int:
    """Return the bytes that a database takes in the file."""
    stat = txn.stat(database)
    return int((stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]) * stat["psize"])


def put_crawl(txn: Transaction[memoryview], databases: Databases, record: Mapping[str, Any], most: int) -> None:
    """Write the record of a crawl behind the others, of which the last `most` stay."""
    value = json.dumps(record).encode()
    with txn.cursor(databases.crawls) as cursor:
        number = int.from_bytes(cursor.key(), "big") + 1 if cursor.last() else 1
        cursor.put(number.to_bytes(8, "big"), zlib.crc32(value).to_bytes(4, "big") + value)
        while txn.stat(databases.crawls)["entries"] > most and cursor.first():
            cursor.delete()


def problems(snapshot: Snapshot) -> Iterator[str]:
    """Yield every way in which the databases of one moment contradict each other."""
    wanted = {"numbers": 0, "fingerprints": 0, "bodies": 0, "texts": 0}
    with snapshot.txn.cursor(snapshot.databases.pages) as cursor:
        for number in cursor.iternext(keys=True, values=False):
            yield from _problems_of_page(snapshot, bytes(number), wanted)
    wanted["fingerprints"] += sum(1 for owner in _owners(snapshot) if owner == NO_PAGE)
    for name, count in wanted.items():
        entries = snapshot.txn.stat(getattr(snapshot.databases, name))["entries"]
        if entries != count:
            yield f"{name}: {entries} entries where the pages account for {count}"
    yield from snapshot.tables.problems(snapshot.txn, _owned(snapshot))
    yield from _problems_of_register(snapshot)
    yield from _problems_of_rejections(snapshot)
    yield from _problems_of_texts(snapshot)
    yield from _problems_of_crawls(snapshot)


def _owners(snapshot: Snapshot) -> Iterator[memoryview]:
    with snapshot.txn.cursor(snapshot.databases.fingerprints) as cursor:
        yield from cursor.iternext(keys=False, values=True)


def _owned(snapshot: Snapshot) -> Iterator[NDArray[np.uint64]]:
    """Yield the fingerprints that have owners, as words, in chunks."""
    waiting: list[bytes] = []
    with snapshot.txn.cursor(snapshot.databases.fingerprints) as cursor:
        for key in cursor.iternext_nodup(keys=True, values=False):
            waiting.append(bytes(key)[::-1])
            if len(waiting) == _CHUNK:
                yield snapshot.tables.packer.rows(b"".join(waiting))
                waiting.clear()
    if waiting:
        yield snapshot.tables.packer.rows(b"".join(waiting))


def _problems_of_page(snapshot: Snapshot, number: bytes, wanted: dict[str, int]) -> Iterator[str]:
    try:
        stored = snapshot.numbered_page(number)
    except StoreCorruptError as exc:
        yield f"pages: {number.hex()}: {exc}"
        return
    if stored is None:
        return
    page = stored.page
    wanted["numbers"] += 1
    links = [("bodies", page.body_digest)]
    if isinstance(page, PageFingerprint):
        links += [("texts", page.text_digest), ("fingerprints", snapshot.fingerprint_key(page.fingerprint))]
    if snapshot.number(snapshot.key(page.url)) != number:
        yield f"numbers: {page.url} is missing, or has another page's number"
    for name, value in links:
        wanted[name] += 1
        with snapshot.txn.cursor(getattr(snapshot.databases, name)) as cursor:
            if not cursor.set_key_dup(value, number):
                yield f"{name}: {page.url} is missing"


def _problems_of_register(snapshot: Snapshot) -> Iterator[str]:
    with snapshot.txn.cursor(snapshot.databases.duplicates) as cursor:
        for key, value in cursor:
            try:
                _parse_duplicate(bytes(value))
            except StoreCorruptError as exc:
                yield f"duplicates: {bytes(key).hex()}: {exc}"


def _quick_when(line: bytes | memoryview) -> float:
    # Within a text of JSON quotes are escaped.
    found = _WHEN.search(line)
    return float(found[1]) if found else _when(line)


def _when(line: bytes | memoryview) -> float:
    return _parse_duplicate(bytes(line)).when


def _problems_of_texts(snapshot: Snapshot) -> Iterator[str]:
    with snapshot.txn.cursor(snapshot.databases.contents) as cursor:
        for key, packed in cursor:
            if not _has_owner(snapshot, key):
                yield f"contents: {bytes(key).hex()}: a text of no page and no duplicate"
            try:
                unpack(bytes(packed))
            except StoreCorruptError as exc:
                yield f"contents: {bytes(key).hex()}: {exc}"


def _problems_of_crawls(snapshot: Snapshot) -> Iterator[str]:
    try:
        list(snapshot.crawls())
    except StoreCorruptError as exc:
        yield f"crawls: {exc}"


def _parse_crawl(value: bytes) -> dict[str, Any]:
    if int.from_bytes(value[:4], "big") != zlib.crc32(value[4:]):
        raise StoreCorruptError("the record of a crawl fails its checksum: restore the store from a backup, or start a new one")
    record: dict[str, Any] = json.loads(value[4:])
    return record


def _problems_of_rejections(snapshot: Snapshot) -> Iterator[str]:
    wanted = set[bytes]()
    with snapshot.txn.cursor(snapshot.databases.rejections) as cursor:
        held = {bytes(key): bytes(value) for key, value in cursor}
    for key, value in held.items():
        try:
            if value:
                rejection = parse_rejection(value)
                wanted |= rejection.names(snapshot.header.seed) | {snapshot.rejection_key(rejection)}
        except StoreCorruptError as exc:
            yield f"rejections: {key.hex()}: {exc}"
    if wanted != set(held):
        yield f"rejections: {len(wanted ^ set(held))} pairs of names are missing, or belong to no rejection"


def _parse_duplicate(value: bytes) -> Duplicate:
    try:
        return Duplicate(**json.loads(value))
    except (ValueError, TypeError) as exc:
        raise StoreCorruptError(f"a line of the register does not parse ({exc}): restore the store from a backup") from exc
