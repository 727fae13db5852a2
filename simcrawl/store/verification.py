"""What is wrong with a store on disk: databases of one moment that contradict each other, and bytes that fail their checksums."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreCorruptError
from simcrawl.index.environment import ERRORS
from simcrawl.index.verification import problems as index_problems
from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.store.register import parse_line
from simcrawl.store.rejections import parse_rejection
from simcrawl.store.snapshot import NO_PAGE, digest_key, has_owner
from simcrawl.store.texts import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.store.snapshot import Snapshot

_CHUNK = 1 << 16
# Databases with any number of values under a key.
_SEVERAL = ("fingerprints", "bodies", "texts")


def problems(snapshot: Snapshot, reading: Callable[[str], object] = lambda _: None) -> Iterator[str]:
    """Yield every way in which the databases of one moment contradict each other. `reading`: called with what is read next."""
    parts: dict[str, Callable[[Snapshot], Iterator[str]]] = {
        **{f"keys of {name}": partial(_problems_of_keys, name) for name in _databases(snapshot)},
        "pages": _problems_of_pages,
        "tables": lambda snapshot: index_problems(snapshot.index, snapshot.txn, _owned(snapshot)),
        "duplicates": _problems_of_register,
        "rejections": _problems_of_rejections,
        "contents": _problems_of_texts,
        "crawls": _problems_of_crawls,
    }
    for name, part in parts.items():
        reading(name)
        try:
            yield from part(snapshot)
        except ERRORS as exc:
            # Of LMDB: what else there is can still be read.
            yield f"{name}: cannot be read to its end ({exc}): restore the store from a backup, or start a new one"


def _problems_of_keys(name: str, snapshot: Snapshot) -> Iterator[str]:
    """Yield whether a database lost entries, or holds some in a place where nothing finds them: LMDB itself has no checksums."""
    database = _databases(snapshot)[name]
    stat, count, last, wrong = snapshot.txn.stat(database), 0, (b"", b""), 0
    with snapshot.txn.cursor(database) as cursor, snapshot.txn.cursor(database) as other:
        # Values that may be long are not even looked at.
        entries = cursor if name in _SEVERAL else ((key, b"") for key in cursor.iternext(keys=True, values=False))
        for key, value in entries:
            entry = bytes(key), bytes(value)
            found = other.set_key_dup(*entry) if name in _SEVERAL else other.set_key(entry[0])
            wrong += not found or bool(count and entry <= last)
            count, last = count + 1, entry
    if wrong or count != stat["entries"]:
        yield f"{name}: {count} entries where {stat['entries']} were written, {wrong} of them where they are not looked for"


def _databases(snapshot: Snapshot) -> dict[str, Any]:
    """Return all databases by their names: those of the index, too."""
    log, state, tables = snapshot.index.databases
    return {**snapshot.databases._asdict(), "log": log, "state": state, **{f"table{i}": table for i, table in enumerate(tables)}}


def _problems_of_pages(snapshot: Snapshot) -> Iterator[str]:
    wanted = {"numbers": 0, "fingerprints": 0, "bodies": 0, "texts": 0}
    with snapshot.txn.cursor(snapshot.databases.pages) as cursor:
        for number in cursor.iternext(keys=True, values=False):
            yield from _problems_of_page(snapshot, bytes(number), wanted)
    wanted["fingerprints"] += sum(1 for owner in _owners(snapshot) if owner == NO_PAGE)
    for name, count in wanted.items():
        entries = snapshot.txn.stat(getattr(snapshot.databases, name))["entries"]
        if entries != count:
            yield f"{name}: {entries} entries where the pages account for {count}"


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
                yield snapshot.index.packer.rows(b"".join(waiting))
                waiting.clear()
    if waiting:
        yield snapshot.index.packer.rows(b"".join(waiting))


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
    links = [("bodies", digest_key(page.body_digest))]
    if isinstance(page, PageFingerprint):
        links += [("texts", digest_key(page.text_digest)), ("fingerprints", snapshot.fingerprint_key(page.fingerprint))]
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
                line = parse_line(value)
            except StoreCorruptError as exc:
                yield f"duplicates: {bytes(key).hex()}: {exc}"
            else:
                if snapshot.key(line.url) != key:
                    yield f"duplicates: {bytes(key).hex()}: the line of {line.url}, which has another key"


def _problems_of_texts(snapshot: Snapshot) -> Iterator[str]:
    with snapshot.txn.cursor(snapshot.databases.contents) as cursor:
        for key, packed in cursor:
            if not has_owner(snapshot, key):
                yield f"contents: {bytes(key).hex()}: a text of no page and no duplicate"
            try:
                text_of(bytes(packed))
            except StoreCorruptError as exc:
                yield f"contents: {bytes(key).hex()}: {exc}"


def _problems_of_crawls(snapshot: Snapshot) -> Iterator[str]:
    try:
        snapshot.crawls()
    except StoreCorruptError as exc:
        yield f"crawls: {exc}"


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
