"""A store that does not fit into memory: load fingerprints in bulk, then query and insert, a page at a time.

    python -m benchmarks.store.large [--stored 1e8] [--admits 1e5] [--directory DIRECTORY]
    python -m benchmarks.store.large --records 1e6 [--packages DIRECTORY] [--directory DIRECTORY]

Needs 65 bytes of disk a fingerprint, 8 of memory to draw them, and 300 MB for the load. Fingerprints are random, k = 3, with a durable
commit every 1000 of them. The load and the admits run in a process each; "memory" is what is not the file's, beyond what the process had
before. Microseconds a page are means over all, then medians and 99th percentiles of single calls, commits left out. The process of the
admits is killed at its end, without closing the store, and a third one opens it: the log then holds what no table does.

`--records`: whole pages instead, decided by the default recipe's rule, with a durable commit every 1000 of them. Their fingerprints are
those of composed pages (`benchmarks.store.composed`); all else is a real page's of the same manuals, but for the digests, and for the
bytes of the sketches of content and prose, which are in an order of their own on each page: otherwise a page of which there are hundreds
would be a copy. The URL is the page's file below a number. Then the store is opened, verified, compacted and rebuilt with the same tables,
in a process each. Bytes are a page's, of the file, then of each of its databases. Needs 2 kB of disk a page.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from signal import SIGKILL
from threading import Event, Thread
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.store.composed import MANUALS, fingerprints
from simcrawl.index.environment import open_alone
from simcrawl.page.fingerprint import PageFingerprint, digest, fingerprint_page
from simcrawl.page.recipes import resolve
from simcrawl.store import open_store
from simcrawl.store.maintenance import compact as compact_store, rebuild as rebuild_store
from simcrawl.store.records import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH = 1000
_OF_A_MANUAL = 100
_COMPOSED = "fingerprints.npy"


def main() -> None:
    """Run each step in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--admits", type=lambda text: int(float(text)), default=10**5)
    parser.add_argument("--records", type=lambda text: int(float(text)), default=0)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        STEPS[options.step](options.directory, options)
        return
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        for step in ("compose", "keep", "reopen", "verify", "compact", "rebuild") if options.records else ("load", "admit", "reopen"):
            numbers = ["--stored", str(options.stored), "--admits", str(options.admits), "--records", str(options.records)]
            packages = ["--packages", str(options.packages or Path(directory, "packages"))]
            command = [
                sys.executable,
                "-m",
                "benchmarks.store.large",
                "--step",
                step,
                "--directory",
                f"{directory}/store",
                *numbers,
                *packages,
            ]
            expected = -SIGKILL if step in {"admit", "keep"} else 0
            if (status := subprocess.run(command, check=False).returncode) != expected:
                raise RuntimeError(f"{step} ended with {status}")


def load(path: Path, options: argparse.Namespace) -> None:
    """Load random fingerprints into a new store."""
    count = options.stored
    fingerprints = np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)
    before, wall, cpu = _anonymous(), perf_counter(), process_time()
    with open_store(path) as store, _watched() as most:
        store.load_fingerprints(fingerprints)
    size = (path / "data.mdb").stat().st_size
    print(
        f"load of {count:.1e}: {perf_counter() - wall:.1f} s ({process_time() - cpu:.1f} s of CPU), {size / count:.1f} bytes each on disk, "
        f"at most {max(most) - before} MB of memory",
        flush=True,
    )


def admit(path: Path, options: argparse.Namespace) -> None:
    """Admit random fingerprints, a durable commit every thousand."""
    count = options.admits
    some = np.random.default_rng(2).integers(0, 2**64, count, dtype=np.uint64).tolist()
    before = _anonymous()
    with open_store(path, sync_seconds=inf) as store:
        store.query_fingerprint(0)
        single, wall, cpu = [], perf_counter(), process_time()
        for start in range(0, count, _BATCH):
            for fingerprint in some[start : start + _BATCH]:
                began = perf_counter()
                store.admit_fingerprint(fingerprint)
                single.append(perf_counter() - began)
            store.sync()
        wall, cpu = (perf_counter() - wall) / count * 1e6, (process_time() - cpu) / count * 1e6
        median, late = np.percentile(single, [50, 99]) * 1e6
        print(
            f"{count:.1e} admits: {wall:.1f} us each ({cpu:.1f} us of CPU), commits included; "
            f"a call: median {median:.1f}, 99 %: {late:.1f}; {_anonymous() - before} MB of memory",
            flush=True,
        )
        os.kill(os.getpid(), SIGKILL)


def reopen(path: Path, _: argparse.Namespace) -> None:
    """Open a store whose last process was killed."""
    before, began = _anonymous(), perf_counter()
    with open_store(path) as store:
        opened = perf_counter() - began
        store.query_fingerprint(0)
        probed = perf_counter() - began
        print(f"opened in {opened:.2f} s, first probe after {probed:.2f} s; {_anonymous() - before} MB of memory", flush=True)


def compose(path: Path, options: argparse.Namespace) -> None:
    """Write the fingerprints of composed pages beside the store."""
    options.packages.mkdir(exist_ok=True)
    made, _, _ = fingerprints(options.packages, resolve().name, options.records, 0)
    np.save(path.with_name(_COMPOSED), np.random.default_rng(1).permutation(made)[: options.records])


def keep(path: Path, options: argparse.Namespace) -> None:
    """Admit whole pages, a durable commit every thousand."""
    pages, some = list(_real_pages(options.packages)), np.load(path.with_name(_COMPOSED)).tolist()
    kept, single, wall, cpu, before = 0, [], 0.0, 0.0, _anonymous()
    with open_store(path, sync_seconds=inf) as store:
        for start in range(0, len(some), _BATCH):
            fresh = enumerate(some[start : start + _BATCH], start)
            batch = [_page(pages[number % len(pages)], number, fingerprint) for number, fingerprint in fresh]
            started, started_cpu = perf_counter(), process_time()
            for page in batch:
                began = perf_counter()
                kept += not store.admit(page).is_duplicate
                single.append(perf_counter() - began)
            store.sync()
            wall, cpu = wall + perf_counter() - started, cpu + process_time() - started_cpu
        median, late = np.percentile(single, [50, 99]) * 1e6
        print(
            f"{len(some):.1e} pages, {kept} kept: {wall:.0f} s ({cpu:.0f} s of CPU), {cpu / len(some) * 1e6:.0f} us of CPU each, commits "
            f"included; a call: median {median:.0f}, 99 %: {late:.0f}; {_anonymous() - before} MB of memory; "
            f"{(path / 'data.mdb').stat().st_size / kept:.0f} bytes each",
            flush=True,
        )
        os.kill(os.getpid(), SIGKILL)


def _real_pages(packages: Path) -> Iterator[PageFingerprint]:
    for source in MANUALS:
        root = packages / source.package
        files = sorted((root / source.folder).rglob("*.html"))
        for file in np.random.default_rng(1).permutation(np.array(files))[:_OF_A_MANUAL].tolist():
            url = str(file.relative_to(root)).removeprefix("usr/share/doc/")
            page = fingerprint_page(file.read_bytes(), url=url)
            if isinstance(page, PageFingerprint):
                yield page


def _page(page: PageFingerprint, number: int, fingerprint: int) -> PageFingerprint:
    """Return a page of its own: with this fingerprint, and what else tells it from all others."""
    noise, own = np.random.default_rng(number), digest(str(number).encode(), 0)
    content, prose = (_shuffled(sketch, noise) for sketch in (page.content_sketch, page.prose.sketch))
    url = f"https://www.example.org/{number}/{page.url}"
    return replace(
        page,
        url=url,
        fingerprint=fingerprint,
        body_digest=own,
        text_digest=own,
        content_sketch=content,
        prose=replace(page.prose, sketch=prose),
    )


def _shuffled(sketch: bytes, noise: np.random.Generator) -> bytes:
    # Both halves alike: a register has a bit in each.
    halves = np.frombuffer(sketch, np.uint8).reshape(2, -1)
    return halves[:, noise.permutation(halves.shape[1])].tobytes()


def verify(path: Path, _: argparse.Namespace) -> None:
    """Verify the store."""
    before, wall, cpu = _anonymous(), perf_counter(), process_time()
    with open_store(path, readonly=True) as store, _watched() as most:
        problems = store.verify()
    taken = f"{perf_counter() - wall:.1f} s ({process_time() - cpu:.1f} s of CPU)"
    print(f"verified in {taken}, {len(problems)} problems; at most {max(most) - before} MB of memory", flush=True)


def compact(path: Path, _: argparse.Namespace) -> None:
    """Compact the store, and say what its parts take."""
    with _told("compacted", path):
        compact_store(path)
    with open_store(path, readonly=True) as store:
        urls, records = np.mean([(len(stored.page.url.encode()), len(encode(stored))) for stored in store.pages()], axis=0)
    print(f"URLs of {urls:.1f} bytes, records of {records:.1f}", flush=True)


def rebuild(path: Path, _: argparse.Namespace) -> None:
    """Give the store the tables that it has: unlike a compaction this fills every page of the file."""
    with _told("rebuilt", path):
        rebuild_store(path, "4")


@contextmanager
def _told(what: str, path: Path) -> Iterator[None]:
    before, wall, cpu = _anonymous(), perf_counter(), process_time()
    with _watched() as most:
        yield
    taken = f"{perf_counter() - wall:.1f} s ({process_time() - cpu:.1f} s of CPU)"
    with open_store(path, readonly=True) as store:
        pages = store.counts()["pages"]
    each = (path / "data.mdb").stat().st_size / pages
    print(f"{what} in {taken}, at most {max(most) - before} MB of memory: {each:.0f} bytes each; {_parts(path, pages)}", flush=True)


def _parts(path: Path, pages: int) -> str:
    with open_alone(path) as env:
        with env.begin() as txn, txn.cursor() as cursor:
            names = [bytes(name) for name in cursor.iternext(values=False)]
        parts = []
        for name in names:
            database = env.open_db(name, create=False)
            with env.begin() as txn:
                stat = txn.stat(database)
            held = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
            parts.append((held * stat["psize"] / pages, name.decode()))
    return ", ".join(f"{name} {size:.1f}" for size, name in sorted(parts, reverse=True) if size >= 0.1)


@contextmanager
def _watched() -> Iterator[list[int]]:
    """Give the megabytes of this process, looked at again and again, to a place."""
    seen, done = [_anonymous()], Event()

    def watch() -> None:
        while not done.wait(0.02):
            seen.append(_anonymous())

    thread = Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def _anonymous() -> int:
    """Return the megabytes of this process that are no file's."""
    with Path("/proc/self/status").open() as lines:
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))


STEPS = {
    "load": load,
    "admit": admit,
    "reopen": reopen,
    "compose": compose,
    "keep": keep,
    "verify": verify,
    "compact": compact,
    "rebuild": rebuild,
}


if __name__ == "__main__":
    main()
