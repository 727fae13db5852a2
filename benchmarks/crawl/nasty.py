"""What servers do that mean harm, over HTTP, beside honest pages: `python -m benchmarks.crawl.nasty`.

One host has honest pages, another answers with each of: a body that comes a byte at a time, one that has no end, gzip that unpacks to
gigabytes, a hundred thousand headers, three times as many and then no end, a header without an end, a body that is shorter than it says,
one that is no gzip, and nothing at all. Each kind is crawled beside the honest pages, with simcrawl and without. Scrapy's own bounds are
set low (DOWNLOAD_TIMEOUT, DOWNLOAD_MAXSIZE): they are what ends such answers. Prints Markdown: how many of the honest pages came out,
seconds, and megabytes at most; with simcrawl as a ratio to those without.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from tests.crawl.runner import _SETTINGS, ROOT
from tests.crawl.server import Site
from tests.samples import english, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HONEST = 40
_LINKS = 3
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_BOUNDS = {"DOWNLOAD_TIMEOUT": 10, "DOWNLOAD_MAXSIZE": 20_000_000, "DOWNLOAD_WARNSIZE": 0, "RETRY_ENABLED": False}


def _drip(stop: Event) -> Iterator[bytes]:
    yield _OK + b"Content-Length: 100000\r\n\r\n<p>"
    while not stop.wait(0.05):
        yield b"x"


def _endless(stop: Event) -> Iterator[bytes]:
    yield _OK + b"\r\n<p>"
    while not stop.is_set():
        yield b"a word " * 10_000


def _bomb(_: Event) -> Iterator[bytes]:
    # A member of ten megabytes of spaces, two hundred times: two gigabytes.
    member = gzip.compress(b" " * 10_000_000)
    yield _OK + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(b"<p>")
    yield member * 200


def _headers(count: int) -> Iterator[bytes]:
    yield _OK
    for first in range(0, count, 1_000):
        yield b"".join(b"X-%d: y\r\n" % number for number in range(first, first + 1_000))


def _many_headers(_: Event) -> Iterator[bytes]:
    yield from _headers(100_000)
    yield b"Content-Length: 3\r\n\r\n<p>"


def _headers_without_an_end(stop: Event) -> Iterator[bytes]:
    # Scrapy holds all of them until the timeout. Were there ever more, their number would be the machine's.
    yield from _headers(300_000)
    stop.wait()


def _header(stop: Event) -> Iterator[bytes]:
    yield _OK + b"X: "
    while not stop.is_set():
        yield b"y" * 65_536


def _once(*parts: bytes) -> Callable[[Event], Iterator[bytes]]:
    return lambda _: iter(parts)


ANSWERS: dict[str, Callable[[Event], Iterator[bytes]]] = {
    "a body that drips": _drip,
    "a body without an end": _endless,
    "a bomb of gzip": _bomb,
    "100,000 headers": _many_headers,
    "300,000 headers, and no end": _headers_without_an_end,
    "a header without an end": _header,
    "a body that is cut": _once(_OK + b"Content-Length: 5000\r\n\r\n<p>half"),
    "no gzip": _once(_OK + b"Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\nno gzip"),
    "nothing": _once(),
}


class Nasty(ThreadingTCPServer):
    """A server that answers everything in one way, in a thread of its own for the length of a `with` block."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, answer: Callable[[Event], Iterator[bytes]]) -> None:
        stop = self.stop = Event()

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                with suppress(OSError):
                    while self.rfile.readline().strip():
                        pass
                    for part in answer(stop):
                        self.wfile.write(part)

        super().__init__(("127.0.0.2", 0), Handler)

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: Any) -> None:
        """Say nothing: whoever hangs up is right."""


# Not what `wait4` tells of a process: that begins with the memory of the one that started it.
_RUNNER = """
from pathlib import Path
from tests.crawl.runner import main
main()
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@dataclass
class Outcome:
    """What a crawl of honest pages and one kind of answers came to. `megabytes`: of its own process, at most."""

    honest: int
    requests: int
    seconds: float
    megabytes: float
    code: int
    said: str


def crawl(name: str, *, simcrawl: bool = True) -> Outcome:
    """Crawl honest pages, and a host that answers in one way."""
    with Site() as site, Nasty(ANSWERS[name]) as nasty:
        for number in range(HONEST):
            site.add(f"/{number}", page(english(80, number)))
        bad = [f"http://127.0.0.2:{nasty.server_address[1]}/{number}" for number in range(_LINKS)]
        good = [f"/{number}" for number in range(HONEST)]
        site.add("/", page(english(80, HONEST), links=(*good[: HONEST // 2], *bad, *good[HONEST // 2 :])))
        started = monotonic()
        settings = _SETTINGS | _BOUNDS | ({} if simcrawl else {"ADDONS": {}})
        job = json.dumps({"jobs": [{"spider": "Plain", "arguments": {"url": site.url()}}], "mode": "asyncio", "settings": settings})
        command = [sys.executable, "-c", _RUNNER]
        with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(command, stdin=-1, stdout=-1, stderr=errors, cwd=ROOT) as process:
            assert process.stdin
            assert process.stdout
            process.stdin.write(job.encode())
            process.stdin.close()
            told = process.stdout.read().decode()
            process.wait()
            errors.seek(0)
            said = errors.read()
        seconds = monotonic() - started
    *_, made, kilobytes = told.splitlines() if told.strip() else ("[{}]", "0")
    stats = json.loads(made)[0]
    kept = {url for url in stats.get("test/kept", []) if "127.0.0.1" in url and not url.endswith("/")}
    return Outcome(len(kept), stats.get("downloader/request_count", 0), seconds, int(kilobytes) / 1024, process.returncode, said)


def main() -> int:
    """Print what each kind came to."""
    print("| | honest pages | seconds | without simcrawl | ratio | MB at most | without |\n| --- " + "| ---: " * 6 + "|")
    lost = 0
    for name in ANSWERS:
        ours, plain = crawl(name), crawl(name, simcrawl=False)
        lost += HONEST - ours.honest + abs(ours.code)
        print(
            f"| {name} | {ours.honest} of {HONEST} | {ours.seconds:.1f} | {plain.seconds:.1f} | {ours.seconds / plain.seconds:.2f} | "
            f"{ours.megabytes:.0f} | {plain.megabytes:.0f} |",
            flush=True,
        )
    return int(bool(lost))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
