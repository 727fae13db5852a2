"""A store that does not fit into memory: load fingerprints in bulk, then query and insert, a page at a time.

    python -m benchmarks.store.large [--stored 1e8] [--admits 1e5] [--directory DIRECTORY]

Needs 65 bytes of disk a fingerprint, 8 of memory to draw them, and 300 MB for the load. Fingerprints are random, k = 3, with a durable
commit every 1000 of them. The load and the admits run in a process each; "memory" is what is not the file's, beyond what the process had
before. Microseconds a page are means over all, then medians and 99th percentiles of single calls, commits left out. The process of the
admits is killed at its end, without closing the store, and a third one opens it: the log then holds what no table does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from math import inf
from pathlib import Path
from signal import SIGKILL
from threading import Event, Thread
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH = 1000


def main() -> None:
    """Run the load and the admits, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--admits", type=lambda text: int(float(text)), default=10**5)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--step", choices=["load", "admit", "reopen"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        {"load": load, "admit": admit, "reopen": reopen}[options.step](
            options.directory, options.stored if options.step == "load" else options.admits
        )
        return
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        for step, expected in (("load", 0), ("admit", -SIGKILL), ("reopen", 0)):
            sizes = ["--stored", str(options.stored), "--admits", str(options.admits)]
            command = [sys.executable, "-m", "benchmarks.store.large", "--step", step, "--directory", directory, *sizes]
            if (status := subprocess.run(command, check=False).returncode) != expected:
                raise RuntimeError(f"{step} ended with {status}")


def load(path: Path, count: int) -> None:
    """Load random fingerprints into a new store."""
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


def admit(path: Path, count: int) -> None:
    """Admit random fingerprints, a durable commit every thousand."""
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


def reopen(path: Path, _: int) -> None:
    """Open a store whose last process was killed."""
    began = perf_counter()
    with open_store(path) as store:
        opened = perf_counter() - began
        store.query_fingerprint(0)
        print(f"opened in {opened:.2f} s, first probe after {perf_counter() - began:.2f} s", flush=True)


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


if __name__ == "__main__":
    main()
