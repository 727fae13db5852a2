"""Query and insert, a page at a time: the store, its index alone, the fastest exact index in memory, and bare LMDB, in one run.

    pip install faiss-cpu
    python -m benchmarks.store.compare [--sizes 1e5,1e6,1e7] [--designs 4,10,16,20,3:1,2:1] [--design-sizes 1e5,1e6] [--rounds 20]

Fingerprints are random. Every contestant is loaded with as many as its row says, then takes turns with the others at batches of 1000
new ones each: the store commits, durably, after every batch, and so does LMDB; faiss (IndexBinaryMultiHash) keeps everything in memory.
Microseconds a page are medians over the batches, by the wall clock; in brackets by the process's CPU time, which other processes on the
machine disturb less and which leaves out waiting for the disk. Prints Markdown.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from math import inf
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import lmdb
import numpy as np

from simcrawl.index import open_index
from simcrawl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from simcrawl.index import HammingIndex
    from simcrawl.store import Store

BATCH = 1000
# More than these take seconds a batch.
_MOST_PROBES = 1000
Fingerprints = list[int]
Contestant = Callable[[Fingerprints], None]
FAISS = {"faiss 2x32, nflip 1": (2, 32, 1), "faiss 4x16": (4, 16, 0)}
# Peak of what a process needs that is not the file itself: pages of the mapped file are the system's cache.
MEMORY = """
import sys
from simcrawl.store import open_store
def anonymous():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))
before = anonymous()
with open_store(sys.argv[1]) as store:
    store.query_fingerprint(0)
    print(anonymous() - before)
"""


class Cost(NamedTuple):
    """Microseconds a page."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} ({self.cpu:.1f})"


def main() -> None:
    options = _options()
    print(f"Page at a time, k = 3, microseconds a page by the wall clock (CPU time), {options.rounds} rounds of {BATCH}\n")
    names = ["store", "index alone", *FAISS, "LMDB put", "LMDB get and put"]
    others = [
        "store / better faiss",
        "store / LMDB put",
        "store, k = 7",
        "bytes a fingerprint",
        "load s",
        "open ms",
        "first probe ms",
        "memory MB",
    ]
    row("stored", *names, *others)
    row(*["---:"] * (1 + len(names) + len(others)))
    for size in options.sizes:
        row(f"{size:.0e}", *_compare(size, options.rounds))
    print("\nDesigns of tables, the store alone\n")
    row("design", "stored", "k = 3", "k = 7", "bytes a fingerprint", "load s")
    row("---", *["---:"] * 5)
    for name in options.designs:
        for size in options.design_sizes:
            row(name, f"{size:.0e}", *_measure_design(name, size, options.rounds))


def _options() -> Any:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=sizes, default=sizes("1e5,1e6,1e7"))
    parser.add_argument("--designs", type=lambda text: text.split(",") if text else [], default=["4", "10", "16", "20", "3:1", "2:1"])
    parser.add_argument("--design-sizes", type=sizes, default=sizes("1e5,1e6"))
    parser.add_argument("--rounds", type=int, default=20)
    return parser.parse_args()


def sizes(text: str) -> list[int]:
    return [int(float(size)) for size in text.split(",") if size]


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def _compare(size: int, rounds: int) -> Iterable[object]:
    noise = np.random.default_rng(size)
    stored = _draw(noise, size)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "store")
        loading = _load(path, stored)
        bytes_each = _file_size(path) / size
        opening = _opening(path)
        memory = int(subprocess.run([sys.executable, "-c", MEMORY, path], check=True, capture_output=True, text=True).stdout)
        with (
            open_store(path, sync_seconds=inf) as store,
            open_index(Path(directory, "index"), sync_seconds=inf) as index,
            _bare_lmdb(Path(directory, "bare"), stored) as bare,
        ):
            contestants: dict[str, Contestant] = {"store": lambda some: _admit(store, some), "index alone": _index(index, stored)}
            contestants |= {name: _faiss(stored, *shape) for name, shape in FAISS.items()}
            contestants |= {"LMDB put": lambda some: _put(bare, some), "LMDB get and put": lambda some: _put(bare, some, get=True)}
            costs = race(contestants, noise, rounds)
            seven = race({"": lambda some: _admit(store, some, 7)}, noise, 3)[""]
    better = min((costs[name] for name in FAISS), key=lambda cost: cost.wall)
    yield from costs.values()
    yield _ratio(costs["store"], better)
    yield _ratio(costs["store"], costs["LMDB put"])
    yield from (seven, f"{bytes_each:.1f}", f"{loading:.1f}", *(f"{1000 * seconds:.0f}" for seconds in opening), memory)


def _ratio(one: Cost, other: Cost) -> str:
    return f"{one.wall / other.wall:.2f} ({one.cpu / other.cpu:.2f})"


def _measure_design(name: str, size: int, rounds: int) -> Iterable[object]:
    noise = np.random.default_rng(size)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "store")
        loading = _load(path, _draw(noise, size), design=name)
        bytes_each = _file_size(path) / size
        with open_store(path, sync_seconds=inf) as store:
            for distance in (3, 7):
                if store.design.probes(distance) > _MOST_PROBES:
                    yield f"{store.design.probes(distance)} probes"
                    continue
                yield race({"": partial(_admit, store, distance=distance)}, noise, min(rounds, 5))[""]
    yield from (f"{bytes_each:.1f}", f"{loading:.1f}")


def _draw(noise: np.random.Generator, count: int) -> NDArray[np.uint64]:
    return noise.integers(0, 2**64, count, dtype=np.uint64)


def _load(path: Path, fingerprints: NDArray[np.uint64], **options: Any) -> float:
    with open_store(path, **options) as store:
        started = perf_counter()
        store.load_fingerprints(fingerprints)
        return perf_counter() - started


def _file_size(path: Path) -> int:
    return (path / "data.mdb").stat().st_size


def _opening(path: Path) -> tuple[float, float]:
    """Return the seconds that opening takes, and the first probe, which reads what is to be in memory."""
    started = perf_counter()
    with open_store(path) as store:
        opened = perf_counter()
        store.query_fingerprint(0)
        return opened - started, perf_counter() - opened


def race(contestants: dict[Any, Contestant], noise: np.random.Generator, rounds: int) -> dict[Any, Cost]:
    """Return the medians of contestants that take turns."""
    taken: dict[Any, list[Cost]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            # The first batch of a turn finds the caches full of what the others did.
            for counted in (False, True, True):
                some = _draw(noise, BATCH).tolist()
                wall, cpu = perf_counter(), process_time()
                run(some)
                if counted:
                    taken[name].append(Cost((perf_counter() - wall) / BATCH * 1e6, (process_time() - cpu) / BATCH * 1e6))
    return {name: Cost(median(one.wall for one in costs), median(one.cpu for one in costs)) for name, costs in taken.items()}


def _admit(store: Store, some: Fingerprints, distance: int = 3) -> None:
    for fingerprint in some:
        store.admit_fingerprint(fingerprint, distance)
    store.sync()


def _index(index: HammingIndex, stored: NDArray[np.uint64]) -> Contestant:
    index.load(stored)

    def run(some: Fingerprints) -> None:
        for fingerprint in some:
            if not index.within(fingerprint, 3):
                index.insert(fingerprint)
        index.sync()

    return run


def _faiss(stored: NDArray[np.uint64], tables: int, bits: int, flips: int) -> Contestant:
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, tables, bits)
    index.nflip = flips
    index.add(stored.view(np.uint8).reshape(-1, 8))

    def run(some: Fingerprints) -> None:
        for fingerprint in some:
            one = np.array([fingerprint], np.uint64).view(np.uint8).reshape(1, 8)
            # A strict radius: below 4.
            if not index.range_search(one, 4)[0][1]:
                index.add(one)

    return run


def _bare_lmdb(path: Path, stored: NDArray[np.uint64]) -> lmdb.Environment:
    env = lmdb.open(str(path), map_size=1 << 36)
    with env.begin(write=True) as txn, txn.cursor() as cursor:
        cursor.putmulti(((key.to_bytes(8, "big"), b"") for key in np.sort(stored).tolist()), append=True)
    return env


def _put(env: lmdb.Environment, some: Fingerprints, *, get: bool = False) -> None:
    with env.begin(write=True) as txn:
        for fingerprint in some:
            key = fingerprint.to_bytes(8, "big")
            if not (get and txn.get(key)):
                txn.put(key, b"")


if __name__ == "__main__":
    main()
