"""Files of sorted tables: bits a fingerprint beside what theory asks, seconds to write, to read all, to decode a block, to search.

    python -m benchmarks.store.sorted_tables [1e5 1e6 1e7]

Random 64-bit fingerprints, one table of design "4" (all of them up to 1e6, for the search). The theoretical size is that of a set,
log2 C(2^64, n) / n. Each size is measured in a process of its own; memory is its highest resident size after writing, with the
fingerprints themselves (8 bytes each). Seconds are of processor time.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from math import lgamma, log
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from simcrawl.index.sorted_tables import SortedTables, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_T = TypeVar("_T")
_BLOCKS = 2_000
_QUERIES = 500


def main() -> None:
    """Print one line a size."""
    sizes = sys.argv[1:] or ["1e5", "1e6", "1e7"]
    if sizes[0] == "--alone":
        _measure(int(float(sizes[1])))
        return
    print("fingerprints  bits each  theory  code   write/table  memory   read all    one block  search (4 tables, k = 3)")
    for size in sizes:
        subprocess.run([sys.executable, "-m", "benchmarks.store.sorted_tables", "--alone", size], check=True)


def _chunks(count: int) -> Iterator[NDArray[np.uint64]]:
    random = np.random.default_rng(0)
    for start in range(0, count, 1 << 20):
        yield random.integers(0, 1 << 64, min(1 << 20, count - start), dtype=np.uint64)


def _measure(count: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x.tables"
        numbers = None if count <= 1_000_000 else [0]
        written, seconds = _timed(lambda: write_tables(path, _chunks(count), tables=numbers))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        tables = SortedTables(path)
        _, reading = _timed(lambda: sum(len(chunk) for chunk in tables.fingerprint_chunks()))
        blocks = len(tables.tables[0]._keys)  # noqa: SLF001
        tables.tables[0]._decoded(0, 1)  # noqa: SLF001
        _, decoding = _timed(lambda: [tables.tables[0]._decoded(i % blocks, i % blocks + 1) for i in range(_BLOCKS)])  # noqa: SLF001
        queries = next(_chunks(count))[:_QUERIES].tolist()
        _, searching = _timed(lambda: [tables.within(query, 3) for query in queries] if numbers is None else None)
    each = written.bytes * 8 / count / written.tables
    search = "-" if numbers else f"{searching / len(queries) * 1e6:.0f} us"
    print(
        f"{count:12,}  {each:9.2f}  {_theory(count):6.2f}  {each / 64:.3f}  {seconds / written.tables:9.2f} s  {memory:4.0f} MB  "
        f"{reading / count * 1e9:5.0f} ns each  {decoding / _BLOCKS * 1e6:6.0f} us  {search}"
    )


def _timed(work: Callable[[], _T]) -> tuple[_T, float]:
    started = process_time()
    result = work()
    return result, process_time() - started


def _theory(count: int) -> float:
    # C(2^64, n) is (2^64)^n / n! but for a part in 2^64 / n.
    return 64 - lgamma(count + 1) / log(2) / count


if __name__ == "__main__":
    main()
