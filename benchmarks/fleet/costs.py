"""What a claim over Redis costs beside an empty script and a local claim: `python -m benchmarks.fleet.costs [PAGES]`.

Server CPU is that of the server's process, user and system, a claim with its confirmation, in empty scripts of the same run.
"""

from __future__ import annotations

import math
import sys
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from simcrawl.rule import Rule
from simcrawl.store import Store, open_store
from tests.redis_server import Server
from tests.strategies import page

if TYPE_CHECKING:
    from collections.abc import Callable

_TIMES = 5_000


def cpu(server: Server) -> float:
    """Return the seconds that a server has worked."""
    told: dict[str, Any] = dict(server.client().info("cpu"))
    return float(told["used_cpu_user"] + told["used_cpu_sys"])


def measured(server: Server, work: Callable[[int], object], times: int = _TIMES) -> tuple[float, float]:
    """Return the microseconds of a call, of the clock and of the server's CPU."""
    busy, start = cpu(server), perf_counter()
    for number in range(times):
        work(number)
    return (perf_counter() - start) / times * 1e6, (cpu(server) - busy) / times * 1e6


def claims(store: Store, name: str, distance: int) -> Callable[[int], object]:
    """Return what claims and confirms a page that is like none known."""
    rule, noise = Rule(max_distance=distance, min_similarity=0, outlinks=0), Random(name)

    def claim(number: int) -> None:
        admission = store.claim(page(f"http://{name}.test/{number}", noise.getrandbits(64)), rule)
        if admission.claim:
            admission.claim.confirm()

    return claim


def main() -> None:
    """Print the figures."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    server = Server()
    try:
        empty = server.client().register_script("return 1")
        alone, alone_cpu = measured(server, lambda _: empty())
        print(f"empty script: {alone:.0f} us, server {alone_cpu:.1f} us")
        with open_store(server.url("costs"), sync_seconds=math.inf) as store, TemporaryDirectory() as directory:
            with open_store(directory, sync_seconds=math.inf) as local:
                for distance in (3, 7):
                    own, _ = measured(server, claims(local, f"local{distance}", distance))
                    took, busy = measured(server, claims(store, f"fleet{distance}", distance))
                    own_and_trips = own + 2 * alone
                    print(f"k = {distance}: claim {took:.0f} us ({took / own_and_trips:.1f} of a local one and two empty trips), ", end="")
                    print(f"server {busy:.1f} us ({busy / alone_cpu:.1f} empty scripts)")
                    local.sync()
                    store.sync()
            measured(server, claims(store, "more", 3), max(0, pages - 2 * _TIMES))
            store.sync()
            took, busy = measured(server, claims(store, "last", 3))
            print(f"at {pages} pages: claim {took:.0f} us, server {busy:.1f} us ({busy / alone_cpu:.1f} empty scripts)")
        held: Any = server.client().memory_usage("{costs}:log", samples=0)
        print(f"bytes a page in Redis: {held / (pages + _TIMES):.0f}")
        start = perf_counter()
        with open_store(server.url("costs"), create=False, readonly=True) as joined:
            known = joined.counts()["pages"]
        print(f"joining by replay: {known} pages in {perf_counter() - start:.1f} s")
    finally:
        server.close()


if __name__ == "__main__":
    main()
