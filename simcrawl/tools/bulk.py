"""Bulk load of pages: an existing corpus into a store, extracted on all cores, so that a crawl can be deduplicated against it.

Reads WARC files (with fastwarc, the extra `warc`), JSON lines and folders of HTML. Extraction runs in processes such as a crawl has,
admission in the caller's, in the order of the corpus: the outcome does not depend on the number of processes.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import MAX_PAGE_BYTES, Abstention, PageFingerprint, Reason, digest, fingerprint_page
from simcrawl.store import join_loaded
from simcrawl.system import cores
from simcrawl.workers.pool import PagePool, RawPage
from simcrawl.workers.starting import can_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from simcrawl.detector import Detector
    from simcrawl.rule import Verdict
    from simcrawl.store import Crawl

    Made = PageFingerprint | Abstention

_HTML_FILES = {".html", ".htm", ".xhtml"}
_HTML_TYPES = {"text/html", "application/xhtml+xml"}
# Pages that travel to a process at once: many small ones cost little each, a large one holds up few others.
_BATCH_PAGES = 32
_BATCH_BYTES = 1_000_000
_MOST_BYTES = 64_000_000
"""Of a page unpacked, and of a record; a longer page is cut, and too large anyway."""
_MOST_LINE = 4 * MAX_PAGE_BYTES
"""Bytes of a line of JSON: a page that is not too large, in the longest way to write it, takes three times its own."""
_READERS = {".zst": "ZstdReader", ".lz4": "Lz4Reader"}
# Bytes that are read at once of what may be long.
_PIECE = 1 << 18
# What would end a line of a list of URLs, or what a terminal obeys: no URL has it.
_NO_URL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_GZIP = b"\x1f\x8b\x08"
_LENGTH = re.compile(rb"\r\nContent-Length:[ \t]*(\d{1,15})[ \t]*\r\n", re.IGNORECASE)
_RECORD = b"WARC/"
_NEXT = re.compile(rb"\r\nWARC/\d")
# Bytes of the head of a record.
_MOST_HEAD = 1 << 20
_BATCHES_WAITING = 3
"""Batches for each process that are read ahead of admission: with `_BATCH_BYTES` and the largest page what bounds the memory."""


@dataclass(slots=True)
class Loaded:
    """What became of the pages of a corpus. `known`: in the store already, under the same URL with the same body.

    `abstained` counts pages without a fingerprint; each of them was admitted, or was a copy, as well. Of these `crashed` took their process
    along, and `too_slow` took too long.
    """

    read: int = 0
    known: int = 0
    admitted: int = 0
    copies: int = 0
    abstained: int = 0
    crashed: int = 0
    too_slow: int = 0

    def as_object(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)

    def count(self, page: Made, verdict: Verdict) -> None:
        """Count an admission."""
        self.copies += verdict.is_duplicate
        self.admitted += not verdict.is_duplicate
        reason = page.reason if isinstance(page, Abstention) else None
        self.abstained += reason is not None
        self.crashed += reason is Reason.CRASHED
        self.too_slow += reason is Reason.TOO_SLOW


# ---- reading


class Broken:
    """What is done about records that cannot be read: the first one is an error, or where they are to be skipped, they are counted.

    `first`: what was the matter with the first one.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self.count, self.first = 0, ""
        self._skip = skip

    def __call__(self, what: str, exc: Exception | None = None) -> None:
        """Take note of one.

        Raises:
            SettingError: it is not to be skipped.
        """
        self.count += 1
        self.first = self.first or what
        if not self._skip:
            raise SettingError(what) from exc


def read_pages(path: Path, *, base_url: str | None = None, broken: Broken | None = None) -> Iterator[RawPage]:
    """Yield the pages of a WARC file, a file of JSON lines, or a folder of HTML files.

    WARC (.warc, also .gz, .zst, .lz4): the successful responses with HTML. JSON lines (.jsonl, .json, .ndjson, also .gz): objects with
    `url` and `html` or `body`. Folder: its .html, .htm and .xhtml files, those of its folders too, in the order of their names; their URLs
    are file: URLs, or `base_url` and the path below the folder.

    `broken`: what is done about lines and records that are damaged, cut off or too long, and about URLs with control characters.

    Raises:
        SettingError: the path is none of these, or cannot be read; something in it is broken, and not to be skipped; or fastwarc is
            missing.
    """
    broken = broken or Broken()
    kinds = {suffix.lower() for suffix in path.suffixes[-2:]}
    if path.is_dir():
        return _read_folder(path, base_url, broken)
    if base_url is not None:
        raise SettingError(f"{path} is no folder: its pages have URLs of their own, leave the base URL out")
    if ".warc" in kinds:
        return _read_warc(path, broken)
    if kinds & {".jsonl", ".json", ".ndjson"}:
        return _read_lines(path, broken)
    raise SettingError(f"{path} is no corpus: use a .warc or .warc.gz file, JSON lines in a .jsonl or .jsonl.gz file, or a folder of HTML")


@contextmanager
def _readable(path: Path, broken: Broken, where: Callable[[], str] = str) -> Iterator[None]:
    """Tell what keeps a file from being read; `where`: up to where it was."""
    try:
        yield
    except FileNotFoundError as exc:
        raise SettingError(f"cannot read {path}: {exc}") from exc
    except (OSError, EOFError, zlib.error) as exc:
        broken(f"cannot read {path}{where()}: {exc}", exc)


def _read_folder(folder: Path, base_url: str | None, broken: Broken) -> Iterator[RawPage]:
    base = None if base_url is None else base_url.rstrip("/") + "/"
    for file in sorted(file for file in folder.rglob("*") if file.suffix.lower() in _HTML_FILES and file.is_file()):
        below = quote(file.relative_to(folder).as_posix())
        with _readable(file, broken):
            yield RawPage(file.absolute().as_uri() if base is None else urljoin(base, below), file.read_bytes())


def _read_lines(path: Path, broken: Broken) -> Iterator[RawPage]:
    number = 0
    with _readable(path, broken, lambda: f" after line {number}"), (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        while line := file.readline(_MOST_LINE):
            number += 1
            where = f"{path}, line {number}"
            if len(line) == _MOST_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(_PIECE)) and not rest.endswith(b"\n"):
                    pass
                broken(f"{where}: it has more than {_MOST_LINE:,} bytes")
            elif line.strip() and (page := _parsed(line, where, broken)):
                yield page


def _parsed(line: bytes, where: str, broken: Broken) -> RawPage | None:
    try:
        found = json.loads(line)
        url, text = found["url"], found["html"] if "html" in found else found["body"]
        return _checked(RawPage(str(url), text.encode("utf-8", "surrogatepass"), "utf-8"), where, broken)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError) as exc:
        if isinstance(exc, SettingError):
            raise
        broken(f"{where}: not an object with url and html, or url and body ({exc!r})", exc)
        return None


def _checked(page: RawPage, where: str, broken: Broken) -> RawPage | None:
    """Return a page, None where its URL is none."""
    if not _NO_URL.search(page.url):
        return page
    broken(f"{where}: {page.url[:200]!r} is no URL: it has control characters")
    return None


def _read_warc(path: Path, broken: Broken) -> Iterator[RawPage]:
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType  # noqa: PLC0415 - an extra
    except ImportError as exc:
        raise SettingError(f"{path} needs fastwarc: pip install simcrawl[warc]") from exc

    def pages(source: Any, where: str) -> list[RawPage]:
        # Decoded here: with `auto_decode`, fastwarc 2.0.1 loses every record after one that is both chunked and compressed.
        made = map(_of_record, ArchiveIterator(source, record_types=WarcRecordType.response, parse_http=True))
        return [page for page in made if page and _checked(page, where, broken)]

    with _readable(path, broken), path.open("rb") as file:
        for number, one in enumerate(_records(_pieces(file, path, broken), path, broken), 1):
            found = list[RawPage]()
            with _readable(path, broken, f", record {number}".__str__):
                found = pages(BytesIO(one), f"{path}, record {number}")
            yield from found


def _pieces(file: BinaryIO, path: Path, broken: Broken) -> Iterator[bytes | None]:
    """Yield what a file of WARC records holds, unpacked, in pieces; None where something is missing."""
    if reader := _READERS.get(path.suffix.lower()):
        yield from _streamed(reader, file, path, broken)
        return
    head = file.read(_PIECE)
    if head.startswith(_GZIP[:2]):
        yield from _unpacked(head, file, path, broken)
    elif path.suffix.lower() == ".gz":
        broken(f"cannot read {path}: it is not packed with gzip")
    else:
        while head:
            yield head
            head = file.read(_PIECE)


def _streamed(reader: str, file: BinaryIO, path: Path, broken: Broken) -> Iterator[bytes | None]:
    """Yield what a file holds that fastwarc unpacks. Behind something damaged nothing can be read."""
    from fastwarc import stream_io  # noqa: PLC0415 - an extra

    stream, read = getattr(stream_io, reader)(file), 0
    try:
        while made := stream.read(_PIECE):
            read += len(made)
            yield made
    except (OSError, ValueError) as exc:
        # A piece that cannot be read to its end is not given at all: so once more, and byte by byte from there on.
        file.seek(0)
        stream = getattr(stream_io, reader)(file)
        with suppress(OSError, ValueError):
            while read and (passed := stream.read(min(read, _PIECE))):
                read -= len(passed)
            while made := stream.read(1):
                yield made
        broken(f"cannot read {path}: it is damaged, or cut off ({exc})", exc)
        yield None


def _unpacked(data: bytes, file: BinaryIO, path: Path, broken: Broken) -> Iterator[bytes | None]:
    """Yield what the members of a gzip file hold. Each is for itself: where one is damaged, those behind it are read."""
    member, damaged = None, False
    while data or (data := file.read(_PIECE)):
        member = member or zlib.decompressobj(31)
        try:
            made = member.decompress(data, _PIECE)
        except zlib.error as exc:
            if not damaged:
                broken(f"cannot read {path} near byte {file.tell() - len(data)}: {exc}", exc)
            yield None
            member, damaged = None, True
            data = _next_member(data[1:], file)
            continue
        if made:
            yield made
        data = member.unused_data if member.eof else member.unconsumed_tail
        if member.eof:
            # Some pad their members.
            member, damaged, data = None, False, data.lstrip(b"\0")
    if member:
        yield member.flush()
    if member and not member.eof:
        if not damaged:
            broken(f"cannot read {path}: it is cut off")
        yield None


def _next_member(data: bytes, file: BinaryIO) -> bytes:
    """Return what follows from the next place on at which a member may begin."""
    while (at := data.find(_GZIP)) < 0:
        if not (more := file.read(_PIECE)):
            return b""
        data = data[1 - len(_GZIP) :] + more
    return data[at:]


def _records(pieces: Iterator[bytes | None], path: Path, broken: Broken) -> Iterator[bytes]:
    """Yield the records of a WARC file, which come in pieces. After one that is damaged, the next one is looked for."""
    buffer, number, passing, lost = bytearray(), 0, 0, False
    for piece in pieces:
        if piece is None:
            # It is known to be broken.
            buffer.clear()
            passing, lost = 0, True
            continue
        buffer += piece[passing:]
        passing = max(0, passing - len(piece))
        while (size := _size(buffer)) is not None:
            if size == 0:
                if not lost:
                    broken(f"{path}, record {number + 1}: it is damaged")
                lost = True
                del buffer[: found.start() if (found := _NEXT.search(buffer)) else max(1, len(buffer) - 10)]
                if not found:
                    break
                continue
            if size > _MOST_BYTES:
                number += 1
                broken(f"{path}, record {number}: it has {size:,} bytes, more than {_MOST_BYTES:,}")
                passing = max(0, size - len(buffer))
                del buffer[:size]
                continue
            if len(buffer) < size:
                break
            number, lost = number + 1, False
            yield bytes(buffer[:size]) + b"\r\n\r\n"
            del buffer[:size]
    if buffer.strip() and not lost:
        broken(f"{path}, record {number + 1}: it is cut off")


def _size(buffer: bytearray) -> int | None:
    """Return how many bytes the record has with which a buffer begins, 0 where it is none, None as long as that is not known.

    Line ends before it are taken away.
    """
    del buffer[: len(buffer) - len(buffer.lstrip(b"\r\n"))]
    if len(buffer) < len(_RECORD):
        return None
    end = buffer.find(b"\r\n\r\n", 0, _MOST_HEAD)
    if not buffer.startswith(_RECORD) or (end < 0 and len(buffer) > _MOST_HEAD):
        return 0
    if end < 0:
        return None
    length = _LENGTH.search(buffer, 0, end + 2)
    return end + 4 + int(length[1]) if length else 0


def _of_record(record: Any) -> RawPage | None:
    url, headers = record.headers.get("WARC-Target-URI"), record.http_headers
    # Only what a crawl would have parsed: no errors, no redirects, no images.
    if not url or headers is None or headers.status_code != 200 or record.http_content_type not in _HTML_TYPES:
        return None
    body = record.reader.read()
    for name in ("Transfer-Encoding", "Content-Encoding"):
        for coding in reversed((headers.get(name) or "").lower().split(",")):
            body = _decoded(body, coding.strip())
    return RawPage(url.strip("<>"), body, record.http_charset)


def _decoded(body: bytes, coding: str) -> bytes:
    """Return a body without a coding; as it is where it does not have it: some archivers decode and keep the header."""
    from fastwarc import stream_io  # noqa: PLC0415 - an extra

    readers = {"chunked": "Chunked", "gzip": "Gzip", "x-gzip": "Gzip", "br": "Brotli", "zstd": "Zstd", "deflate": "Gzip"}
    if coding not in readers:
        return body
    options = {"zlib": True} if coding == "deflate" else {}
    try:
        return bytes(getattr(stream_io, f"{readers[coding]}Reader")(BytesIO(body), **options).read(_MOST_BYTES)) or body
    except (OSError, ValueError):
        return body


# ---- loading


def load_pages(
    detector: Detector,
    pages: Iterable[RawPage],
    *,
    workers: int | None = None,
    progress: Callable[[Loaded], object] | None = None,
) -> Loaded:
    """Admit pages to the detector's store as a crawl does; what is a copy goes into the register of duplicates.

    They are compared with what was loaded before, by the detector's rule, and are originals for every crawl on the store from then on.

    `workers`: processes that extract, None for one a core, 0 to extract in this process. `progress` is called now and then with the
    counts so far. Durable when it returns. What was interrupted goes on where it stopped when it is run again: pages that the store
    has under their URL with the same body are passed over. (Copies are not in the store, so they are extracted and found again.)

    Raises:
        SettingError: `pages` raises it. What came before it is loaded.
        WorkerError: no process can be started.
        StoreError: the store cannot be read or written.
    """
    loaded, crawl = Loaded(), join_loaded(detector.store)
    stopped: list[SettingError] = []
    try:
        for page in make_pages(_unknown(detector, crawl, _until(pages, stopped), loaded), detector.page_options, workers=workers):
            loaded.count(page, crawl.admit(page, detector.rule))
            if progress:
                progress(loaded)
    finally:
        crawl.leave()
    detector.store.sync()
    if progress:
        progress(loaded)
    for exc in stopped:
        before = {0: "", 1: "; the page before it is loaded"}.get(loaded.read, f"; the {loaded.read} pages before it are loaded")
        raise SettingError(f"{exc}{before}") from exc
    return loaded


def _until(pages: Iterable[RawPage], stopped: list[SettingError]) -> Iterator[RawPage]:
    """Yield pages until one cannot be read, and note why: what was read ahead is not to be lost."""
    try:
        yield from pages
    except SettingError as exc:
        stopped.append(exc)


def make_pages(pages: Iterable[RawPage | Made], options: dict[str, Any], *, workers: int | None = None) -> Iterator[Made]:
    """Yield the fingerprint or abstention of every page, in their order, extracted in processes; what is made already passes.

    `options`: the keyword arguments of `simcrawl.fingerprint_page`. `workers`: as in `load_pages`.

    Raises:
        WorkerError: no process can be started.
    """
    count = (cores() if workers is None else workers) if can_start() else 0
    if count == 0:
        yield from (page if not isinstance(page, RawPage) else _made_here(page, options) for page in pages)
        return
    with PagePool(options, count, _make) as pool:
        yield from pool.made(_batches(pages), ahead=count * _BATCHES_WAITING)


def _made_here(page: RawPage, options: dict[str, Any]) -> Made:
    return fingerprint_page(page.body, url=page.url, encoding=page.encoding, **options)


def _unknown(detector: Detector, crawl: Crawl, pages: Iterable[RawPage], loaded: Loaded) -> Iterator[RawPage | Made]:
    """Yield the pages that were not loaded before; as they were read, or made, where another page has the same body."""
    for raw in pages:
        page = raw._replace(url=detector.known_as(raw.url))
        loaded.read += 1
        known = crawl.own.page(page.url)
        # What an older version or another recipe made is made again.
        is_outdated = known is not None and isinstance(known.page, Abstention) and known.page.reason is Reason.OUTDATED
        if known and not is_outdated and known.page.body_digest == digest(page.body, detector.store.header.seed):
            loaded.known += 1
        else:
            yield detector.recall(page.body, url=page.url) or page


def _batches(pages: Iterable[RawPage | Made]) -> Iterator[list[RawPage | Made]]:
    batch, size = list[RawPage | PageFingerprint | Abstention](), 0
    for page in pages:
        batch.append(page)
        size += len(page.body) if isinstance(page, RawPage) else 0
        if len(batch) == _BATCH_PAGES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _make(batch: list[RawPage | Made], made: Callable[[RawPage], Made]) -> list[Made]:
    return [made(page) if isinstance(page, RawPage) else page for page in batch]
