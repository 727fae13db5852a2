from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

import simcrawl
from simcrawl.errors import SettingError, WorkerError
from simcrawl.page.fingerprint import Reason
from simcrawl.page.recipes import resolve
from simcrawl.tools import bulk
from simcrawl.tools.bulk import Loaded, load_pages, read_pages
from simcrawl.workers.pool import RawPage
from tests.samples import chinese, edited, english, page

ORIGIN = "http://example.org"


def _corpus() -> list[RawPage]:
    """Return six pages: two originals, an exact copy, a copy of the text, a near-copy, and one without a fingerprint."""
    long = english(150)
    bodies = [page(long), page(chinese()), page(long), page(long, wrap="main"), page(edited(long, 2)), page("short")]
    return [RawPage(f"{ORIGIN}/{number}", body.encode(), "utf-8") for number, body in enumerate(bodies)]


def _detector(where: str | Path = "memory:") -> simcrawl.Detector:
    return simcrawl.Detector(simcrawl.open_store(where))


def _one_by_one(corpus: list[RawPage]) -> simcrawl.Detector:
    detector = _detector()
    for raw in corpus:
        detector.admit(detector.page(raw.body, url=raw.url, encoding=raw.encoding))
    detector.store.sync()
    return detector


def _state(detector: simcrawl.Detector) -> tuple[Any, ...]:
    duplicates = [(line.url, line.original, line.reason, line.distance) for line in detector.store.duplicates()]
    return sorted((stored.page.url, stored.page.body_digest) for stored in detector.store.pages()), sorted(duplicates)


# ---- loading


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_loading_is_admitting_one_by_one(workers: int):
    detector = _detector()
    loaded = load_pages(detector, _corpus(), workers=workers)
    assert _state(detector) == _state(_one_by_one(_corpus()))
    assert loaded == Loaded(read=6, known=0, admitted=3, copies=3, abstained=1)
    assert [stored.confirmed for stored in detector.store.pages()] == [True] * 3


def test_pages_are_admitted_in_their_order_however_slow_the_first_is(tmp_path: Path):
    corpus = [
        RawPage(f"{ORIGIN}/long", page(english(3_000)).encode()),
        *(RawPage(f"{ORIGIN}/{i}", page(english(30, i)).encode()) for i in range(9)),
    ]
    with patch.object(bulk, "_BATCH_PAGES", 1):
        detector = _detector()
        load_pages(detector, corpus, workers=2)
    assert [stored.page.url for stored in detector.store.pages()] == [raw.url for raw in corpus]


def test_what_is_loaded_is_on_disk_and_known_the_next_time(tmp_path: Path):
    detector = _detector(tmp_path / "store")
    load_pages(detector, _corpus(), workers=0)
    detector.store.close()
    again = _detector(tmp_path / "store")
    with again.store, patch.object(bulk, "fingerprint_page", side_effect=AssertionError):
        # The near-copies are in no store: left out.
        assert load_pages(again, [raw for raw in _corpus() if raw.url[-1] not in "34"], workers=0) == Loaded(4, 3, 0, 1, 0)


def test_what_was_interrupted_goes_on_where_it_stopped(tmp_path: Path):
    def torn() -> Any:
        yield from _corpus()[:2]
        raise KeyboardInterrupt

    detector = _detector(tmp_path / "store")
    with patch.object(bulk, "_BATCH_PAGES", 1), pytest.raises(KeyboardInterrupt):
        load_pages(detector, torn(), workers=0)
    detector.store.close()
    again = _detector(tmp_path / "store")
    with again.store:
        assert load_pages(again, _corpus(), workers=0) == Loaded(6, 2, 1, 3, 1)
        assert _state(again) == _state(_one_by_one(_corpus()))


def test_a_page_whose_body_changed_is_loaded_again():
    detector = _detector()
    load_pages(detector, [RawPage(ORIGIN, page(english()).encode())], workers=0)
    assert load_pages(detector, [RawPage(ORIGIN, page(chinese()).encode())], workers=0) == Loaded(1, 0, 1, 0, 0)
    (stored,) = detector.store.pages()
    assert stored.page == detector.page(page(chinese()), url=ORIGIN)


def test_no_more_is_read_ahead_than_is_said():
    read: list[int] = []
    most = []

    def pages() -> Any:
        for number in range(300):
            read.append(number)
            yield RawPage(f"{ORIGIN}/{number}", b"%d" % number * 100_000)

    load_pages(_detector(), pages(), workers=1, progress=lambda loaded: most.append(len(read) - loaded.admitted - loaded.copies))
    assert max(most) <= 5 * (bulk._BATCHES_WAITING + 2)


def test_progress_ends_with_the_result():
    told: list[int] = []
    loaded = load_pages(_detector(), _corpus(), workers=0, progress=lambda loaded: told.append(loaded.read))
    assert told[-1] == loaded.read == 6


@pytest.mark.parametrize(("name", "reason"), [("dies", Reason.CRASHED), ("hangs", Reason.TOO_SLOW), ("grows", Reason.OUT_OF_MEMORY)])
def test_a_page_that_takes_its_process_along_costs_that_page_alone(name: str, reason: Reason):
    recipe = replace(resolve("main"), extractor="tests.hostile_pages.extractor")
    detector = simcrawl.Detector(simcrawl.open_store("memory:"), recipe=recipe, max_page_seconds=3)
    hostile = RawPage(f"{ORIGIN}/hostile/{name}", page(english(200, 7)).encode())
    others = [RawPage(f"{ORIGIN}/{number}", page(english(200, number)).encode()) for number in range(6)]
    loaded = load_pages(detector, [*others[:3], hostile, *others[3:]], workers=2)
    assert loaded == Loaded(7, 0, 7, 0, 1, crashed=int(name == "dies"), too_slow=int(name == "hangs"))
    pages = {stored.page.url: stored.page for stored in detector.store.pages()}
    assert {url: found.reason for url, found in pages.items() if isinstance(found, simcrawl.Abstention)} == {hostile.url: reason}


def test_where_no_process_can_be_started_it_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(WorkerError, match="no worker process can be started"):
        load_pages(_detector(), _corpus(), workers=1)


def test_where_there_are_no_processes_pages_are_made_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bulk, "can_start", lambda: False)
    assert load_pages(_detector(), _corpus(), workers=2) == Loaded(6, 0, 3, 3, 1)


def test_the_detector_s_settings_reach_the_processes():
    detector = simcrawl.Detector(simcrawl.open_store("memory:?seed=9"), recipe="manku2007", max_page_bytes=2_000)
    loaded = load_pages(detector, _corpus(), workers=1)
    kept = [stored.page for stored in detector.store.pages() if isinstance(stored.page, simcrawl.PageFingerprint)]
    # Long pages are too large, and for this recipe no page is too short.
    assert [(page.url, page.seed, page.recipe) for page in kept] == [(f"{ORIGIN}/{number}", 9, "manku2007/4") for number in (1, 5)]
    assert loaded.abstained == 4


# ---- reading


def test_a_folder(tmp_path: Path):
    for name in ("b.html", "a/ü.HTM", "a/notes.txt", "c.xhtml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    found = list(read_pages(tmp_path))
    assert [raw.body.decode() for raw in found] == ["a/ü.HTM", "b.html", "c.xhtml"]
    assert found[1].url == (tmp_path / "b.html").as_uri()
    for base in ("http://example.org/docs", "http://example.org/docs/"):
        assert [raw.url for raw in read_pages(tmp_path, base_url=base)][:2] == [f"{ORIGIN}/docs/a/%C3%BC.HTM", f"{ORIGIN}/docs/b.html"]


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.json", "x.jsonl.gz"])
def test_json_lines(name: str, tmp_path: Path):
    lines = [{"url": "http://a/", "html": "<p>ü\ud800"}, {"url": "http://b/", "body": "<p>b", "status": 200}]
    content = "\n\n".join(map(json.dumps, lines)).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert list(read_pages(tmp_path / name)) == [
        RawPage("http://a/", "<p>ü\ud800".encode("utf-8", "surrogatepass"), "utf-8"),
        RawPage("http://b/", b"<p>b", "utf-8"),
    ]


def _record(url: str, status: str, headers: dict[str, str], body: bytes, kind: str = "response") -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    content = f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body
    warc = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-0000-0000-{abs(hash(url)) % 10**12:012}>",
        "WARC-Date": "2024-01-01T00:00:00Z",
        "WARC-Target-URI": url,
        "Content-Type": f"application/http; msgtype={kind}",
        "Content-Length": str(len(content)),
    }
    return b"WARC/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in warc.items()).encode() + b"\r\n" + content + b"\r\n\r\n"


def _warc() -> list[bytes]:
    html, body = "text/html; charset=gb18030", chinese().encode("gb18030")
    packed = gzip.compress(body)
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (packed[:50], packed[50:], b""))
    return [
        _record("http://a/", "200 OK", {"Content-Type": html, "Content-Length": str(len(body))}, body),
        _record("http://b/", "200 OK", {"Content-Type": html, "Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}, chunked),
        _record("http://c/", "404 Not Found", {"Content-Type": html}, body),
        _record("http://d/", "200 OK", {"Content-Type": "image/png"}, b"\x89PNG"),
        _record("http://e/", "200 OK", {"Content-Type": html}, body, kind="revisit"),
        _record("http://f/", "200 OK", {"Content-Type": "application/xhtml+xml"}, b"<p>f"),
    ]


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz"])
def test_warc(name: str, tmp_path: Path):
    records = [gzip.compress(record) if name.endswith(".gz") else record for record in _warc()]
    (tmp_path / name).write_bytes(b"".join(records))
    body = chinese().encode("gb18030")
    found = list(read_pages(tmp_path / name))
    assert [(raw.url, raw.body) for raw in found] == [("http://a/", body), ("http://b/", body), ("http://f/", b"<p>f")]
    assert found[0].encoding == "gb18030"


def _zlib(body: bytes) -> bytes:
    return zlib.compress(body)


def _by(writer: str) -> Any:
    def pack(body: bytes) -> bytes:
        from fastwarc import stream_io

        with TemporaryDirectory() as directory:
            path = Path(directory) / "packed"
            with getattr(stream_io, writer)(str(path)) as stream:
                stream.write(body)
            return path.read_bytes()

    return pack


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", _zlib),
        ("br", _by("BrotliWriter")),
        ("zstd", _by("ZstdWriter")),
        ("identity", bytes),
        ("gzip", bytes),
        ("nonsense", bytes),
    ],
)
def test_bodies_are_unpacked_where_they_are_packed(coding: str, packed: Any, tmp_path: Path):
    body = page(english()).encode()
    headers = {"Content-Type": "text/html", "Content-Encoding": coding}
    (tmp_path / "x.warc").write_bytes(_record("http://a/", "200 OK", headers, packed(body)) + _warc()[0])
    assert packed is bytes or 0 < len(packed(body)) < len(body)
    assert [raw.body for raw in read_pages(tmp_path / "x.warc")] == [body, chinese().encode("gb18030")]


def test_without_fastwarc_the_extra_is_named(tmp_path: Path):
    (tmp_path / "x.warc").write_bytes(_warc()[0])
    with patch.dict("sys.modules", {"fastwarc.warc": None}), pytest.raises(SettingError, match=r"pip install simcrawl\[warc\]"):
        list(read_pages(tmp_path / "x.warc"))


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("x.txt", b"", "no corpus"),
        ("x.jsonl", b'{"url": "http://a/"}', "line 1: not an object with url and html"),
        ("x.jsonl", b'\n["http://a/"]', "line 2"),
        ("x.jsonl", b"{", "line 1"),
        ("x.jsonl", b'{"url": "http://a/", "html": 5}', "line 1"),
        ("x.jsonl.gz", b"no gzip", "cannot read"),
        ("x.jsonl.gz", gzip.compress(b"{}" * 1000, mtime=0)[:-12], "cannot read"),
        ("x.warc.gz", b"\x1f\x8b\x08" + bytes(100), "cannot read"),
    ],
)
def test_what_is_no_corpus(name: str, content: bytes, named: str, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SettingError, match=named):
        list(read_pages(tmp_path / name))


def test_a_corpus_that_is_not_there(tmp_path: Path):
    with pytest.raises(SettingError, match=r"x\.jsonl"):
        list(read_pages(tmp_path / "x.jsonl"))


def test_a_base_url_is_for_folders(tmp_path: Path):
    (tmp_path / "x.jsonl").touch()
    with pytest.raises(SettingError, match="no folder"):
        read_pages(tmp_path / "x.jsonl", base_url=ORIGIN)


def test_the_sample_is_what_fastwarc_calls_a_response():
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    kinds = [record.record_type for record in ArchiveIterator(io.BytesIO(b"".join(_warc())))]
    assert kinds.count(WarcRecordType.response) == 5


# ---- what is broken


def _pages_of(path: Path, *, skip: bool = True) -> tuple[list[str], bulk.Broken]:
    broken = bulk.Broken(skip=skip)
    return [raw.url.removeprefix("http://a/") for raw in read_pages(path, broken=broken)], broken


def _lines(*broken: str, count: int = 4) -> bytes:
    """Return lines of JSON, with these after the second."""
    lines = [json.dumps({"url": f"http://a/{number}", "html": f"<p>{number}"}) for number in range(count)]
    return "\n".join([*lines[:2], *broken, *lines[2:]]).encode()


NESTED = '{"url": "http://a/n", "html": ' + "[" * 200_000


@pytest.mark.parametrize("line", [NESTED, "{", "[]", '{"url": "http://a/n", "html": 5}', '{"url": "http://a/\\nhttp://b/", "html": ""}'])
@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_a_broken_line_is_named_or_passed_over(name: str, line: str, tmp_path: Path):
    content = _lines(line, line)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    found, broken = _pages_of(tmp_path / name)
    assert (found, broken.count) == (["0", "1", "2", "3"], 2)
    assert broken.first.startswith(f"{tmp_path / name}, line 3: ")
    assert len(broken.first) < 1000
    with pytest.raises(SettingError, match="line 3: "):
        _pages_of(tmp_path / name, skip=False)


def test_a_line_is_bounded_and_what_is_behind_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bulk, "_MOST_LINE", 1000)
    monkeypatch.setattr(bulk, "_PIECE", 100)
    longest = json.dumps({"url": "http://a/long", "html": "x" * 5_000})
    (tmp_path / "x.jsonl").write_bytes(_lines(longest))
    found, broken = _pages_of(tmp_path / "x.jsonl")
    assert (found, broken.count) == (["0", "1", "2", "3"], 1)
    assert broken.first.endswith("line 3: it has more than 1,000 bytes")


MEMORY = """
import resource, sys
from pathlib import Path
from simcrawl.tools.bulk import Broken, read_pages
broken = Broken(skip=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = sum(1 for _ in read_pages(Path(sys.argv[1]), broken=broken))
print(count, broken.count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["one line", "lists"])
def test_what_a_small_file_unpacks_to_is_not_held(kind: str, tmp_path: Path):
    path = tmp_path / "x.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(b'{"url": "http://a/", "html": "')
        for _ in range(1_000):
            file.write(b" " * 1_000_000 if kind == "one line" else b"[],{}," * 170_000)
        file.write(b'"}\n' + _lines())
    assert path.stat().st_size < 5_000_000
    done = subprocess.run([sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True, timeout=300)
    count, broken, grown = map(int, done.stdout.split())
    assert (count, broken) == (4, 1)
    assert grown < 300_000


@pytest.mark.parametrize("at", range(20, 220, 20))
def test_a_damaged_file_of_lines_is_told_in_one_line(at: int, tmp_path: Path):
    packed = bytearray(gzip.compress(_lines(count=200), mtime=0))
    packed[at] ^= 0xFF
    (tmp_path / "x.jsonl.gz").write_bytes(packed)
    with pytest.raises(SettingError, match=r"x\.jsonl\.gz(, line| after line) \d+"):
        _pages_of(tmp_path / "x.jsonl.gz", skip=False)
    _, broken = _pages_of(tmp_path / "x.jsonl.gz")
    assert broken.count >= 1


def _many(count: int = 30) -> list[bytes]:
    return [
        _record(f"http://a/{number}", "200 OK", {"Content-Type": "text/html"}, f"<p>Page {number} {english(20, number)}".encode())
        for number in range(count)
    ]


def _packed(name: str, records: list[bytes]) -> list[bytes]:
    pack = {".gz": gzip.compress, ".zst": _by("ZstdWriter"), ".lz4": _by("Lz4Writer")}.get(name[-4:].lstrip("c"), bytes)
    return list(map(pack, records))


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz", "x.warc.zst", "x.warc.lz4"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_archive_is_an_error_or_counted_and_what_is_before_the_cut_is_read(name: str, share: float, tmp_path: Path):
    records = _packed(name, _many())
    sizes = [sum(map(len, records[:number])) for number in range(len(records) + 1)]
    number = int(len(records) * share)
    cut = (sizes[number] + sizes[number + 1]) // 2
    (tmp_path / name).write_bytes(b"".join(records)[:cut])
    whole = [number for number in range(30) if sizes[number + 1] <= cut]
    found, broken = _pages_of(tmp_path / name)
    assert found == list(map(str, whole))
    assert broken.count == 1
    assert "cut off" in broken.first
    with pytest.raises(SettingError, match="cut off"):
        _pages_of(tmp_path / name, skip=False)


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz"])
@pytest.mark.parametrize("at", range(10))
def test_behind_a_damaged_record_the_others_are_read(name: str, at: int, tmp_path: Path):
    records = _packed(name, _many())
    damaged = bytearray(records[7])
    if name.endswith(".gz"):
        damaged[20 + at * 20] ^= 0xFF
    else:
        # In its first bytes, or its length.
        place = at if at < 5 else damaged.index(b"Content-Length") + at
        damaged[place] ^= 0x80
    (tmp_path / name).write_bytes(b"".join([*records[:7], bytes(damaged), *records[8:]]))
    found, broken = _pages_of(tmp_path / name)
    assert found == [str(number) for number in range(30) if number != 7]
    assert broken.count == 1
    with pytest.raises(SettingError):
        _pages_of(tmp_path / name, skip=False)


def test_a_record_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bulk, "_MOST_BYTES", 10_000)
    monkeypatch.setattr(bulk, "_PIECE", 1_000)
    large = _record("http://a/large", "200 OK", {"Content-Type": "text/html"}, b"x" * 30_000)
    for name in ("x.warc", "x.warc.gz", "x.warc.zst"):
        records = [*_many()[:3], large, *_many()[3:6]]
        (tmp_path / name).write_bytes(b"".join(_packed(name, records)))
        found, broken = _pages_of(tmp_path / name)
        assert (found, broken.count) == (list(map(str, range(6))), 1)
        assert "more than 10,000" in broken.first


def test_an_archive_that_is_one_member_is_read(tmp_path: Path):
    (tmp_path / "x.warc.gz").write_bytes(gzip.compress(b"".join(_many())))
    assert _pages_of(tmp_path / "x.warc.gz")[0] == list(map(str, range(30)))


def test_a_url_of_an_archive_that_ends_a_line_is_refused(tmp_path: Path):
    (tmp_path / "x.warc").write_bytes(_record("http://a/\x85http://b/", "200 OK", {"Content-Type": "text/html"}, b"<p>"))
    found, broken = _pages_of(tmp_path / "x.warc")
    assert (found, broken.count) == ([], 1)
    assert "control characters" in broken.first


@pytest.mark.parametrize("workers", [0, 2])
def test_what_was_read_before_something_broken_is_loaded(workers: int):
    def corpus() -> Any:
        yield from _corpus()
        raise SettingError("line 7 is broken")

    detector = _detector()
    with pytest.raises(SettingError, match="line 7 is broken; the 6 pages before it are loaded"):
        load_pages(detector, corpus(), workers=workers)
    assert _state(detector) == _state(_one_by_one(_corpus()))
