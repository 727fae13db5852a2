"""How long a process takes to join a fleet: `python -m benchmarks.fleet.joining [PAGES]`.

The log gets a claim and a confirmation of each page, as processes write them. Prints the seconds of a process that replays it all into
memory, of one that replays it all into a directory of its own (`local`), and of one that starts again with that directory; with the first
claim, which looks at the tables. And bytes.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, time
from typing import Any

from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule, StoredPage
from simcrawl.store import open_store
from simcrawl.store.fleet_events import LASTING, Event, What, join
from simcrawl.store.records import encode
from tests.redis_server import Server
from tests.strategies import page

_AT_ONCE = 1_000


def fill(server: Server, name: str, pages: int) -> None:
    """Let a log have claims and confirmations of pages."""
    noise, sender = Random(1), b"filling\0"
    recipe = resolve("manku2007").identity
    events = [Event(sender, 1, What.BIND, LASTING, recipe.encode())]
    for place in range(pages):
        made = page(f"http://filled.test/{place}", noise.getrandbits(64), text=f"{place}", recipe=recipe)
        token, stored = sender + place.to_bytes(8, "big"), StoredPage(made, time(), time(), confirmed=False, unique=True)
        events.append(Event(sender, 2 * place + 2, What.CLAIM, LASTING, token + b"\1" + encode(stored)))
        events.append(Event(sender, 2 * place + 3, What.CONFIRM, LASTING, join(token, b"", b"")))
        if len(events) >= _AT_ONCE or place == pages - 1:
            with server.client().pipeline(transaction=False) as pipe:
                for event in events:
                    pipe.xadd(f"{{{name}}}:log", {"e": event.pack()})
                pipe.execute()
            events.clear()


def joined(url: str, kind: str, pages: int, **options: Any) -> None:
    """Print how long it takes to join."""
    start, busy = perf_counter(), process_time()
    with open_store(url, sync_seconds=math.inf, **options) as store:
        took, busy = perf_counter() - start, process_time() - busy
        if not store.readonly:
            store.claim(page("http://first.test/", 0xFF), Rule(max_distance=3, min_similarity=0, outlinks=0))
        first = perf_counter() - start - took
        known = store.counts()["pages"]
        assert known == pages
    print(f"{kind}: {known} pages in {took:.2f} s ({busy:.2f} s of CPU), then the first claim in {first:.2f} s", flush=True)


def main() -> None:
    """Print the figures."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    server = Server()
    try:
        with TemporaryDirectory() as directory:
            local = Path(directory, "own")
            open_store(server.url("joining"), seed=0).close()
            fill(server, "joining", pages)
            held: Any = server.client().memory_usage("{joining}:log", samples=0)
            print(f"bytes a page in Redis: {held / pages:.0f}", flush=True)
            joined(f"{server.url('joining')}&local={local}", "full replay into a directory", pages)
            size = sum(file.stat().st_blocks * 512 for file in local.rglob("*") if file.is_file())
            print(f"bytes a page in the directory: {size / pages:.0f}", flush=True)
            joined(f"{server.url('joining')}&local={local}", "start with the directory", pages)
            joined(server.url("joining"), "full replay into memory", pages, create=False, readonly=True)
    finally:
        server.close()


if __name__ == "__main__":
    main()
