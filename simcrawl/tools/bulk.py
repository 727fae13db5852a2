"""Bulk load of pages: an existing corpus into a store, extracted on all cores, so that a crawl can be deduplicated against it.

Reads WARC files (with fastwarc, the extra `warc`), JSON lines and folders of HTML. Extraction runs in processes such as a crawl has,
admission in the caller's, in the order of the corpus: the outcome does not depend on the number of processes.
"""

from __future__ import annotations

import gzip
import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason, digest, fingerprint_page
from simcrawl.system import cores
from simcrawl.workers.pool import PagePool, RawPage
from simcrawl.workers.process import can_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

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
"""Of a page unpacked; what is longer is cut, and too large anyway."""
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


def read_pages(path: Path, *, base_url: str | None = None) -> Iterator[RawPage]:
    """Yield the pages of a WARC file, a file of JSON lines, or a folder of HTML files.

    WARC (.warc, also .gz, .zst, .lz4): the successful responses with HTML; of a file cut short, those before the cut. JSON lines
    (.jsonl, .json, .ndjson, also .gz): objects with `url` and `html` or `body`. Folder: its .html, .htm and .xhtml files, those of its
    folders too, in the order of their names; their URLs are file: URLs, or `base_url` and the path below the folder.

    Raises:
        SettingError: the path is none of these, cannot be read, or is damaged; or fastwarc is missing.
    """
    kinds = {suffix.lower() for suffix in path.suffixes[-2:]}
    if path.is_dir():
        return _read_folder(path, base_url)
    if base_url is not None:
        raise SettingError(f"{path} is no folder: its pages have URLs of their own, leave the base URL out")
    if ".warc" in kinds:
        return _read_warc(path)
    if kinds & {".jsonl", ".json", ".ndjson"}:
        return _read_lines(path)
    raise SettingError(f"{path} is no corpus: use a .warc or .warc.gz file, JSON lines in a .jsonl or .jsonl.gz file, or a folder of HTML")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError) as exc:
        raise SettingError(f"cannot read {path}: {exc}") from exc


def _read_folder(folder: Path, base_url: str | None) -> Iterator[RawPage]:
    base = None if base_url is None else base_url.rstrip("/") + "/"
    for file in sorted(file for file in folder.rglob("*") if file.suffix.lower() in _HTML_FILES and file.is_file()):
        below = quote(file.relative_to(folder).as_posix())
        with _readable(file):
            yield RawPage(file.absolute().as_uri() if base is None else urljoin(base, below), file.read_bytes())


def _read_lines(path: Path) -> Iterator[RawPage]:
    with _readable(path), (gzip.open if path.suffix == ".gz" else open)(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _parsed(line, f"{path}, line {number}")


def _parsed(line: bytes, where: str) -> RawPage:
    try:
        found = json.loads(line)
        url, text = found["url"], found["html"] if "html" in found else found["body"]
        return RawPage(str(url), text.encode("utf-8", "surrogatepass"), "utf-8")
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise SettingError(f"{where}: not an object with url and html, or url and body ({exc!r})") from exc


def _read_warc(path: Path) -> Iterator[RawPage]:
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType  # noqa: PLC0415 - an extra
    except ImportError as exc:
        raise SettingError(f"{path} needs fastwarc: pip install simcrawl[warc]") from exc
    with _readable(path), path.open("rb") as file:
        # Decoded here: with `auto_decode`, fastwarc 2.0.1 loses every record after one that is both chunked and compressed.
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
            if page := _of_record(record):
                yield page


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
        WorkerError: no process can be started.
        StoreError: the store cannot be read or written.
    """
    loaded, crawl = Loaded(), detector.store.join_loaded()
    try:
        for page in make_pages(_unknown(detector, crawl, pages, loaded), detector.page_options, workers=workers):
            loaded.count(page, crawl.admit(page, detector.rule))
            if progress:
                progress(loaded)
    finally:
        crawl.leave()
    detector.store.sync()
    if progress:
        progress(loaded)
    return loaded


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
    for page in pages:
        loaded.read += 1
        known = crawl.own.page(page.url)
        if known and known.page.body_digest == digest(page.body, detector.store.header.seed):
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
