"""Give damaged and hostile input to what reads pages, corpora and tables, with bounds: `python -m benchmarks.fuzz [--inputs 300]`.

Each input is made of whole ones by a few random changes (bits flipped, parts cut out, repeated, put elsewhere, pieces of other inputs and
of what parsers trip over put in), and read by a process of its own. It fails where that process is ended by a signal, raises what is no
error of ours, says more than a line, or takes more than so much processor time or memory. Prints Markdown: of each kind how the inputs
ended, and what the worst of them took. Inputs that fail are kept in `--keep`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from fastwarc import stream_io

import simcrawl
from simcrawl.cli import run
from simcrawl.page.fingerprint import fingerprint_page
from simcrawl.system import memory
from tests.hostile_pages import PAGES
from tests.samples import chinese, english, page

if TYPE_CHECKING:
    from collections.abc import Callable

# What one input may take: pages take at most three seconds on a slow machine, and corpora and tables of this size a fraction of one.
MOST_SECONDS, MOST_BYTES = 15.0, 700_000_000
# To end what is far beyond that before the machine does.
_HARD_SECONDS, _HARD_BYTES = 120, 4_000_000_000
_LARGEST = 300_000
_FEWEST, _MOST_CHANGES = 1, 6
_CODES = {0, 1, 2, 3}
_TOKENS = (
    *(b"<div>", b"</div>", b"<table><tr><td>", b"<svg>", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<script>", b"<plaintext>", b"<template>"),
    *(
        b"&#0;",
        b"&#x110000;",
        b"&amp",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b'<meta charset="utf-7">',
        b"<base href=//x>",
    ),
    *(
        b'<a href="',
        b'"',
        b"'",
        b">",
        b"<",
        b"/",
        b"%",
        b"\r\n\r\n",
        b"Content-Length: 99999999999",
        b"Content-Length: -1",
        b"WARC/1.0\r\n",
    ),
    *(b"{", b"[", b"}", b"]", b'"url": ', b"\\ud800", b"1e999", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xff" * 8, b"\x00" * 64, b"\n"),
)


@dataclass
class Result:
    """How the inputs of a kind ended, and what the worst took."""

    ends: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    bytes: int = 0
    failures: list[str] = field(default_factory=list)


def mutated(whole: list[bytes], noise: Random) -> bytes:
    """Return an input made of these."""
    made = bytearray(noise.choice(whole))
    for _ in range(noise.randint(_FEWEST, _MOST_CHANGES)):
        place = noise.randrange(len(made) + 1)
        end = min(len(made), place + int(10 ** noise.uniform(0, 4)))
        change = noise.randrange(7)
        if change == 0 and place < len(made):
            made[place] ^= 1 << noise.randrange(8)
        elif change == 1:
            del made[place:end]
        elif change == 2:
            made[place:place] = made[place:end] * noise.randrange(1, 200)
        elif change == 3:
            made[place:place] = noise.choice(_TOKENS) * int(10 ** noise.uniform(0, 3.5))
        elif change == 4:
            other = noise.choice(whole)
            made[place:end] = other[noise.randrange(len(other) + 1) :]
        elif change == 5:
            del made[place:]
        else:
            made[place:end] = noise.randbytes(end - place)
        del made[_LARGEST:]
    return bytes(made)


# ---- what is read


def _read_page(data: bytes, _: Path) -> str:
    made = fingerprint_page(data, url="http://a.test/", max_seconds=1000)
    return made.reason.value if isinstance(made, simcrawl.Abstention) else "page"


def _by_command(command: str, name: str, *options: str) -> Callable[[bytes, Path], str]:
    def read(data: bytes, directory: Path) -> str:
        file = directory / name
        file.write_bytes(data)
        code = run([command, str(directory / "store"), str(file), *options])
        if code not in _CODES:
            raise AssertionError(f"it ended with {code}")
        return f"ended with {code}"

    return read


def _pages() -> list[bytes]:
    hostile = [made for name, one in PAGES.items() if "ends the process" not in name and len(made := one.make()) < _LARGEST]
    return [page(english(60)).encode(), page(chinese(40)).encode("gb18030"), page(english(30), links=("/a", "b?c=d")).encode(), *hostile]


def _lines() -> bytes:
    return b"\n".join(json.dumps({"url": f"http://a.test/{n}", "html": page(english(20, n))}).encode() for n in range(8))


def _records() -> list[bytes]:
    made = []
    for number in range(8):
        body = page(english(20, number)).encode()
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        head = (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/%d\r\nContent-Type: application/http; msgtype=response\r\n"
        )
        made.append(head % number + b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(answer), answer))
    return made


def _with(writer: str, data: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "packed")
        with getattr(stream_io, writer)(str(file)) as stream:
            stream.write(data)
        return file.read_bytes()


def _tables() -> list[bytes]:
    with tempfile.TemporaryDirectory() as directory:
        store, file = Path(directory, "store"), Path(directory, "tables")
        with simcrawl.open_store(store, seed="random") as opened:
            detector, noise = simcrawl.Detector(opened), Random(3)
            detector.admit(detector.page(page(english(60)), url="http://a.test/"))
            opened.load_fingerprints(noise.getrandbits(64) for _ in range(2_000))
        for options in ([], ["--with-seed"]):
            assert run(["export", str(store), str(file), *options, "--json"]) == 0
        lines = b"\n".join(b"%016x" % noise.getrandbits(64) for _ in range(50))
        return [file.read_bytes(), lines]


def kinds() -> dict[str, tuple[list[bytes], Callable[[bytes, Path], str]]]:
    """Return, by the name of each kind, whole inputs and what reads one."""
    lines, records = _lines(), _records()
    packed = b"".join(map(gzip.compress, records))
    skip = ("--workers", "0", "--skip-broken")
    return {
        "a page": (_pages(), _read_page),
        "import": (_tables(), _by_command("import", "x.tables")),
        "load .jsonl": ([lines], _by_command("load", "x.jsonl", "--workers", "0")),
        "load .jsonl.gz": ([gzip.compress(lines), gzip.compress(b" " * 50_000_000)], _by_command("load", "x.jsonl.gz", *skip)),
        "load .warc": ([b"".join(records)], _by_command("load", "x.warc", *skip)),
        "load .warc.gz": ([packed, gzip.compress(b" " * 50_000_000)], _by_command("load", "x.warc.gz", *skip)),
        "load .warc.zst": ([b"".join(_with("ZstdWriter", one) for one in records)], _by_command("load", "x.warc.zst", *skip)),
    }


# ---- one input, in a process of its own


def fuzz(inputs: int, seed: int, keep: Path | None = None) -> dict[str, Result]:
    """Return what so many inputs of each kind came to."""
    results = {}
    # What the first page loads is no input's.
    fingerprint_page(page(chinese(60)))
    for name, (whole, read) in kinds().items():
        noise, results[name] = Random(f"{seed} {name}"), Result()
        for number in range(inputs):
            data = mutated(whole, noise)
            if failure := fed(data, read, results[name]):
                results[name].failures.append(f"{name}, input {number} of seed {seed}: {failure}")
                if keep:
                    (keep / f"{name.replace(' ', '-')}-{seed}-{number}").write_bytes(data)
    return results


def fed(data: bytes, read: Callable[[bytes, Path], str], result: Result) -> str | None:
    """Let a copy of this process read an input; return why that has failed, None where it has not."""
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as end:
        child = os.fork()
        if not child:
            _read_here(data, read, Path(directory), said.fileno(), end.fileno())
        _, status, cost = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        told, ended = (_content(file.fileno()) for file in (said, end))
    before, _, how = ended.partition(" ")
    seconds, grown = cost.ru_utime + cost.ru_stime, max(0, cost.ru_maxrss * 1024 - int(before))
    result.seconds, result.bytes = max(result.seconds, seconds), max(result.bytes, grown)
    result.ends[how or f"code {code}"] += 1
    if code:
        return f"its process ended with {code}: {told[-300:]!r}"
    if "Traceback" in told or len([line for line in told.splitlines() if line.startswith("Error")]) > 1:
        return f"it said {told[-300:]!r}"
    if seconds > MOST_SECONDS or grown > MOST_BYTES:
        return f"it took {seconds:.1f} s and {grown / 1e6:.0f} MB"
    return None


def _content(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 1 << 20).decode("utf-8", "replace")


def _read_here(data: bytes, read: Callable[[bytes, Path], str], directory: Path, said: int, end: int) -> None:
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (_HARD_SECONDS, _HARD_SECONDS))
        resource.setrlimit(resource.RLIMIT_DATA, (_HARD_BYTES, _HARD_BYTES))
        for standard in (1, 2):
            os.dup2(said, standard)
        sys.stdout, sys.stderr = (open(standard, "w", closefd=False, buffering=1) for standard in (1, 2))  # noqa: SIM115 - descriptors
        os.write(end, b"%d " % memory())
        os.write(end, read(data, directory).encode())
        code = 0
    except BaseException as exc:  # noqa: BLE001 - it is told
        os.write(said, f"{type(exc).__name__}: {exc}".encode("utf-8", "replace"))
    finally:
        sys.stdout.flush()
        os._exit(code)


def main() -> int:
    """Print what the inputs came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    results = fuzz(options.inputs, options.seed, options.keep)
    print("| | inputs | failed | seconds at most | MB at most | ends |\n| --- | ---: | ---: | ---: | ---: | --- |")
    for name, one in results.items():
        ends = ", ".join(f"{count} {end}" for end, count in one.ends.most_common())
        print(f"| {name} | {one.ends.total()} | {len(one.failures)} | {one.seconds:.1f} | {one.bytes / 1e6:.0f} | {ends} |")
    failures = [failure for one in results.values() for failure in one.failures]
    print(*failures, sep="\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
