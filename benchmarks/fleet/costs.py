"""What a claim over Redis costs beside an empty script and a local claim: `python -m benchmarks.fleet.costs [PAGES ...]`.

Server CPU is that of the server's process, user and system, a claim with its confirmation, in empty scripts of the same run. The local
claim is one on a copy of the process's directory, as a store of its own. What joining takes: `benchmarks.fleet.joining`.
"""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.fleet.joining import fill
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


def scripts(server: Server) -> int:
    """Return how many scripts a server has run."""
    told: dict[str, Any] = dict(server.client().info("commandstats"))
    return sum(int(told.get(f"cmdstat_{name}", {}).get("calls", 0)) for name in ("eval", "evalsha"))


def half_copies(store: Store) -> Callable[[int], object]:
    """Return what meets a page for the first time, and then a copy of it."""
    rule, noise = Rule(max_distance=3, min_similarity=0, outlinks=0), [0]

    def claim(number: int) -> None:
        noise[0] = noise[0] if number % 2 else Random(number).getrandbits(64)
        admission = store.claim(page(f"http://half.test/{number}", noise[0]), rule)
        if admission.claim:
            admission.claim.confirm()

    return claim


def at(server: Server, pages: int, directory: Path) -> None:
    """Print what a claim costs in a fleet that has so many pages."""
    name = f"costs{pages}"
    open_store(server.url(name), seed=0).close()
    fill(server, name, pages)
    url = f"{server.url(name)}&local={directory / 'fleet'}"
    open_store(url, sync_seconds=math.inf).close()
    shutil.copytree(directory / "fleet", directory / "alone")
    empty = server.client().register_script("return 1")
    with open_store(url, sync_seconds=math.inf) as store, open_store(directory / "alone", sync_seconds=math.inf) as local:
        for distance in (3, 7):
            own, _ = measured(server, claims(local, f"local{distance}", distance))
            alone, alone_cpu = measured(server, lambda _: empty())
            took, busy = measured(server, claims(store, f"fleet{distance}", distance))
            print(f"{pages} pages, k = {distance}: claim {took:.0f} us, a local one {own:.0f}, an empty trip {alone:.0f}: ", end="")
            print(f"{took / (own + 2 * alone):.1f} of the one and two of the other; ", end="")
            print(f"server {busy:.1f} us, {busy / alone_cpu:.1f} empty scripts")
            local.sync()
            store.sync()
        before = scripts(server)
        measured(server, half_copies(store))
        print(f"{pages} pages: {(scripts(server) - before) / _TIMES:.2f} round trips a page where half are copies", flush=True)


def main() -> None:
    """Print the figures."""
    server = Server()
    try:
        for pages in [int(number) for number in sys.argv[1:]] or [20_000]:
            with TemporaryDirectory() as directory:
                at(server, pages, Path(directory))
    finally:
        server.close()


if __name__ == "__main__":
    main()
