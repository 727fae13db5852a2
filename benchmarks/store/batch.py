"""Batch queries and clusters: seconds and memory, beside faiss, answers checked by brute force.

    python -m benchmarks.store.batch [--queries 1e6] [--stored 1e7] [--distance 3] [--peer-queries 1e4] [--clusters]

Stored fingerprints are random, but for one in a thousand queries, which has a neighbour at a random distance. Peer: faiss
IndexBinaryMultiHash(64, 2, 32) with nflip = 1 (exact up to 3), one thread, asked in one call; its time a query is from a part of the
queries. Memory is the highest resident size of a process that does nothing but the batch.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.index.batch import batch_query, clusters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_CHUNK = 1 << 20
_SAMPLE = 200


def main() -> None:
    """Print one line a measurement."""
    arguments = _arguments()
    if arguments.alone:
        _alone(arguments)
        return
    subprocess.run([sys.executable, "-m", "benchmarks.store.batch", *sys.argv[1:], "--alone"], check=True)
    if not arguments.clusters:
        _peer(arguments)


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("queries", 1e6), ("stored", 1e7), ("peer-queries", 1e4)):
        parser.add_argument(f"--{name}", type=lambda text: int(float(text)), default=int(value))
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--clusters", action="store_true", help="all pairs of the stored ones instead of queries")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _queries(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(0, 1 << 64, count, dtype=np.uint64)


def _stored(count: int, queries: NDArray[np.uint64], distance: int) -> Iterator[NDArray[np.uint64]]:
    random = np.random.default_rng(1)
    near = queries[::1000].copy()
    for _ in range(distance + 1):
        near ^= (np.uint64(1) << random.integers(0, 64, len(near), dtype=np.uint64)) * random.integers(0, 2, len(near), dtype=np.uint64)
    yield near[:count]
    for start in range(len(near), count, _CHUNK):
        yield random.integers(0, 1 << 64, min(_CHUNK, count - start), dtype=np.uint64)


def _alone(arguments: Any) -> None:
    queries = _queries(arguments.queries)
    stored = _stored(arguments.stored, queries, arguments.distance)
    started, busy = perf_counter(), process_time()
    if arguments.clusters:
        found = sum(1 for _ in clusters(stored, arguments.distance))
        print(f"clusters of {arguments.stored:,} within {arguments.distance}: {found:,} in {perf_counter() - started:.2f} s, {_used(busy)}")
        return
    hits = list(batch_query(queries, stored, arguments.distance))
    seconds = perf_counter() - started
    size = f"{arguments.queries:,} queries against {arguments.stored:,} within {arguments.distance}"
    print(f"{size}: {sum(len(hit.queries) for hit in hits):,} hits in {seconds:.2f} s, {_used(busy)}")
    print(f"simcrawl: {seconds / len(queries) * 1e6:.2f} us a query")
    sample = np.unique(np.linspace(0, len(queries) - 1, _SAMPLE // 2, dtype=int) // 1000 * 1000)
    sample = np.union1d(sample, np.linspace(1, len(queries) - 1, _SAMPLE // 2, dtype=int))
    wanted = {
        pair
        for chunk in _stored(arguments.stored, queries, arguments.distance)
        for pair in _brute(queries, sample, chunk, arguments.distance)
    }
    told = {pair for hit in hits for pair in zip(hit.queries.tolist(), hit.fingerprints.tolist(), strict=True)}
    asked = set(sample.tolist())
    answered = {pair for pair in told if pair[0] in asked}
    print(f"brute force, {len(sample)} of the queries: {len(wanted)} hits, {'the same' if answered == wanted else 'OTHERS'}")


def _brute(queries: NDArray[np.uint64], sample: NDArray[Any], chunk: NDArray[np.uint64], distance: int) -> Iterator[tuple[int, int]]:
    for query in sample.tolist():
        for hit in np.flatnonzero(np.bitwise_count(chunk ^ queries[query]) <= distance):
            yield query, int(chunk[hit])


def _used(busy: float) -> str:
    return f"{process_time() - busy:.2f} s of processor, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def _peer(arguments: Any) -> None:
    try:
        import faiss  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: PLC0415 - a peer, not a dependency
    except ImportError:
        print("faiss is not installed: pip install faiss-cpu")
        return
    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, 2, 32)
    index.nflip = 1
    queries = _queries(arguments.queries)
    started = perf_counter()
    for chunk in _stored(arguments.stored, queries, arguments.distance):
        index.add(chunk.view(np.uint8).reshape(-1, 8))
    built, started = perf_counter() - started, perf_counter()
    asked = queries[: arguments.peer_queries]
    index.range_search(asked.view(np.uint8).reshape(-1, 8), arguments.distance + 1)
    print(f"faiss MultiHash 2x32: {(perf_counter() - started) / len(asked) * 1e6:.2f} us a query, {built:.1f} s to add")


if __name__ == "__main__":
    main()
