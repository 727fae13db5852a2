"""Stores that an older version made, or pages of another recipe, turned into a store that this version goes on with.

What a user said and what was dropped stays: rejections, the register, kept texts, the records of crawls, what the last crawl of each spider
saw, and fingerprints that were stored without pages. So do pages of format 6 and of the same recipe. Others stay known by their URL and
their bytes alone (`Reason.OUTDATED`): their sketches, and with another recipe their fingerprints, mean nothing any more. The next crawl
that fetches them makes them again.

A new store is written beside the old one and put in its place in one step: see `simcrawl.store.maintenance`.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.errors import StoreCorruptError, StoreFormatError, StoreFullError
from simcrawl.index.durable import DurableIndex
from simcrawl.index.environment import index_databases, open_new
from simcrawl.page.fingerprint import Abstention, Reason, page_key
from simcrawl.page.recipes import RECIPES, Recipe, resolve
from simcrawl.rule import StoredPage
from simcrawl.sealed import unseal
from simcrawl.store.crawl_files import own_stores
from simcrawl.store.files import DATA
from simcrawl.store.header import other_recipe
from simcrawl.store.header_bytes import FORMAT, OLDEST, databases, read_format, write_header
from simcrawl.store.maintenance import rewritten
from simcrawl.store.records import decode
from simcrawl.store.register import Duplicate
from simcrawl.store.rejections import Rejection, url_key
from simcrawl.store.snapshot import NO_PAGE, Files, Writer, has_owner, put_no_pages

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from lmdb import Environment, Transaction

    from simcrawl.store.header import Header

_STEP = 2000
_SEALED_LINES, _THIS_RECORD = 5, 6
# Numbers of pages had eight bytes before format 7.
_OLD_NO_PAGE, _SHORT_NUMBERS = bytes(8), 7
# Of records before format 6: reason, first seen, last seen, fingerprint, digests of body, text and links, text length, outlinks. Then units
# and bytes of so many sketches, bytes of the names where these were kept, and of the callback: format 4 had all three.
_OLD = struct.Struct(">B dd 16x 16s 32x II")
_OLD_TAILS = tuple(struct.Struct(form) for form in (">20x 5H 2B", ">20x 5H B", ">16x 4H B"))


@dataclass(slots=True)
class Upgraded:
    """What an upgrade kept, by what it is, and what it left out: `damaged` entries, and `fingerprints_dropped` of another recipe.

    `format`: the one that the store had. `outdated`: of the `pages`, those that are known by their URLs and bytes alone. All 0 where there
    was nothing to do.
    """

    format: int
    pages: int = 0
    outdated: int = 0
    lines: int = 0
    rejections: int = 0
    texts: int = 0
    crawls: int = 0
    fingerprints: int = 0
    fingerprints_dropped: int = 0
    damaged: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the numbers by their names."""
        return asdict(self)


def upgrade(path: str | os.PathLike[str], recipe: str | Recipe | None = None) -> Upgraded:
    """Let this version go on with a store that an older one made. What fits already stays as it is.

    `recipe`: the one that the store goes on with; "auto" for whichever its next crawl has. None for its own, as this version has it, or
    where it is not built in "auto".

    Needs as much free space as the store takes, and that nobody else writes to it. A crash at any moment leaves the old store or the new.

    Raises:
        StoreFormatError: there is no store, or one that is newer (its recipe may be), or too old to be read.
        StoreFullError: there is not enough space.
        StoreError: somebody writes to the store, this process has it open, or it cannot be read or written.
        SettingError: there is no such recipe.
    """
    wanted = None if recipe in (None, "auto") else resolve(recipe).identity
    where = Path(path).expanduser().resolve()
    with rewritten(where, oldest=OLDEST) as (old, header, new_path):
        # First: where this is cut short, the store itself is still the old one, and it is done again.
        for own in own_stores(where):
            upgrade(own, recipe)
        version = read_format(old)
        of_today = recipe_of_today(header.recipe)
        kept = of_today if recipe is None else wanted
        if version == FORMAT and header.recipe in (None, kept):
            new_path.rmdir()
            return Upgraded(version)
        size = (where / DATA).stat().st_size
        if disk_usage(where).free < size:
            raise StoreFullError(f"an upgrade of {where} needs {size} bytes beside it: free space on its disk, and run it again")
        return _Upgrade(old, version, header, new_path, replace(header, recipe=kept)).run()


def recipe_of_today(identity: str | None) -> str | None:
    """Return what a recipe is in this version; None where it is not built in.

    Raises:
        StoreFormatError: it is of a newer version.
    """
    name, _, version = (identity or "").partition("/")
    built_in = RECIPES.get(name)
    if built_in is None or not version.isdecimal():
        return None
    if int(version) > built_in.version:
        raise StoreFormatError(other_recipe(f"{name}/{version}", built_in.identity, None))
    return built_in.identity


class _Upgrade:
    """One upgrade: from an environment to a new directory."""

    def __init__(self, old: Environment, version: int, header: Header, path: Path, wanted: Header) -> None:
        self._old, self._version, self._header, self._path, self._wanted = old, version, header, path, wanted
        self._done = Upgraded(version)
        with old.begin() as txn:
            self._names = {bytes(name) for name in txn.cursor().iternext(keys=True, values=False)}

    def run(self) -> Upgraded:
        with open_new(self._path) as new:
            write_header(new, self._wanted)
            design = self._wanted.design_of_tables
            index = DurableIndex(design, index_databases(new, design))
            files = Files(new, databases(new), index, self._wanted, (self._path / DATA).stat(), lambda: None)
            done = self._done
            done.pages = self._in_steps(files, self._pages(), Writer.put_page)
            done.lines = self._in_steps(files, self._lines(), lambda writer, line: writer.put_duplicate(line.url, line))
            done.rejections = self._in_steps(files, self._rejections(), Writer.put_rejection)
            done.texts = self._in_steps(files, self._entries("contents"), _put_text)
            done.crawls = self._in_steps(files, self._entries("crawls"), _putter("crawls"))
            self._in_steps(files, self._entries("visits"), _putter("visits"))
            self._load_bare(files)
        return self._done

    def _in_steps(self, files: Files, values: Iterable[Any], put: Callable[[Writer, Any], object]) -> int:
        """Write all values, so many in a transaction; return how many were written."""
        remaining, count = iter(values), 0
        while step := list(islice(remaining, _STEP)):
            with files.env.begin(write=True, buffers=True) as txn:
                writer = Writer(txn, files)
                count += sum(put(writer, value) is not False for value in step)
                writer.changes.finish()
        return count

    def _database(self, name: str) -> Any:
        several = name in ("fingerprints", "bodies", "texts")
        return self._old.open_db(name.encode(), create=False, dupsort=several, dupfixed=several)

    def _entries(self, name: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield what a database holds; nothing where the format had none."""
        if name.encode() in self._names:
            database = self._database(name)
            with self._old.begin(db=database) as txn, txn.cursor() as cursor:
                yield from cursor

    def _parsed(self, name: str, parse: Callable[[bytes, bytes], Any]) -> Iterator[Any]:
        for key, value in self._entries(name):
            try:
                found = parse(key, value)
            except (StoreCorruptError, struct.error, ValueError, TypeError):
                self._done.damaged += 1
            else:
                if found is not None:
                    yield found

    # ---- pages

    def _pages(self) -> Iterator[StoredPage]:
        numbers = self._database("numbers")
        with self._old.begin(db=numbers) as txn:
            parse = self._page if self._version >= _THIS_RECORD else self._old_page
            yield from self._parsed("pages", lambda number, record: parse(txn, number, record))

    def _page(self, _: Transaction[Any], __: bytes, record: bytes) -> StoredPage:
        header = self._header
        stored = decode(record, recipes=(header.recipe or "",), seed=header.seed, bits=header.bits)
        page = stored.page
        if header.recipe == self._wanted.recipe:
            return stored
        outdated = self._outdated(page.url, body_digest=page.body_digest, text_length=page.text_length, outlinks=page.outlinks)
        return replace(stored, page=outdated)

    def _old_page(self, txn: Transaction[Any], number: bytes, record: bytes) -> StoredPage:
        data = unseal(record, "a page record")
        reason, first, last, body, length, outlinks = _OLD.unpack_from(data)
        for tail in _OLD_TAILS:
            if len(data) < _OLD.size + tail.size:
                continue
            sizes = tail.unpack_from(data, _OLD.size)
            start = _OLD.size + tail.size + sum(sizes)
            try:
                url = data[start:].decode("utf-8", "surrogatepass")
            except ValueError:
                continue
            # Formats had records of several kinds: the right one gives the URL that the page is known under.
            if txn.get(url_key(url, self._header.seed)) == number:
                callback = data[start - sizes[-1] : start].decode("utf-8", "replace")
                page = self._outdated(url, body_digest=body, text_length=length, outlinks=outlinks)
                return StoredPage(page, first, last, callback=callback)
        raise ValueError(f"a page record of {len(data)} bytes and reason {reason} has no URL that its page is known under")

    def _outdated(self, url: str, **known: Any) -> Abstention:
        seed = self._header.seed
        self._done.outdated += 1
        return Abstention(url=page_key(url, seed), recipe=self._wanted.recipe or "", seed=seed, reason=Reason.OUTDATED, **known)

    # ---- what a user said, and what was dropped

    def _unsealed(self, value: bytes) -> dict[str, Any]:
        plain = unseal(value, "a line") if self._version >= _SEALED_LINES else value
        found = json.loads(plain)
        if not isinstance(found, dict):
            raise TypeError(f"{found!r:.40} is no line")
        # Older versions kept users and passwords in them.
        return found | {name: page_key(found[name], self._header.seed) for name in ("url", "original") if found.get(name)}

    def _lines(self) -> Iterator[Duplicate]:
        return self._parsed("duplicates", lambda _, value: Duplicate(**_known(Duplicate, self._unsealed(value))))

    def _rejections(self) -> Iterator[Rejection]:
        # Nothing stands under the other names of a rejection.
        return self._parsed("rejections", lambda _, value: Rejection(**_known(Rejection, self._unsealed(value))) if value else None)

    # ---- fingerprints without pages

    def _load_bare(self, files: Files) -> None:
        header, design = self._header, self._header.design_of_tables
        index = DurableIndex(design, index_databases(self._old, design, create=False))
        owners = self._database("fingerprints")
        no_page = NO_PAGE if self._version >= _SHORT_NUMBERS else _OLD_NO_PAGE
        with self._old.begin(db=owners) as txn, txn.cursor() as cursor:
            for rows in index.chunks(txn):
                # Of big-endian keys, least significant word last.
                keys = [row.tobytes() for row in rows[:, ::-1].astype(">u8")] if txn.stat(owners)["entries"] else []
                bare = rows[[not cursor.set_key(key) or cursor.set_key_dup(key, no_page) for key in keys]] if keys else rows
                if header.recipe in (None, self._wanted.recipe):
                    known = partial(put_no_pages, files)
                    files.index.load(np.ascontiguousarray(bare), lambda: files.env.begin(write=True, buffers=True), known)
                    self._done.fingerprints += len(bare)
                else:
                    self._done.fingerprints_dropped += len(bare)


def _known(made: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    return {field.name: values[field.name] for field in fields(made) if field.name in values}


def _put_text(writer: Writer, entry: tuple[bytes, bytes]) -> bool:
    return has_owner(writer, entry[0]) and bool(writer.txn.put(*entry, db=writer.databases.contents))


def _putter(name: str) -> Callable[[Writer, tuple[bytes, bytes]], object]:
    return lambda writer, entry: writer.txn.put(*entry, db=getattr(writer.databases, name))
