"""A worker of `benchmarks.fleet.failures`: decides about pages that it is given, and says which are done."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from random import Random
from threading import Event, Thread
from time import sleep, time
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreError
from simcrawl.rule import Rule
from simcrawl.store import Duplicate, Store, open_store
from simcrawl.store.fleet import Times
from tests.strategies import page

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

URLS = 3
"""Under how many URLs each content comes."""
AT_ONCE = 8
"""How many pages a worker has."""
OPTIONS: dict[str, Any] = {"recipe": "manku2007", "sync_seconds": 0.2, "times": Times(beat=0.3, dead=2.0)}
"""A process is dead sooner than it usually is, or a round would take as long as that."""
_RULE = Rule(max_distance=3, min_similarity=0, outlinks=0)


def work(pages: Connection, url: str) -> None:
    """Be a worker: decide about pages, and say which are done."""
    decided: SimpleQueue[int | None] = SimpleQueue()
    # At its end Redis may be away.
    with suppress(StoreError), open_store(url, **OPTIONS) as store:
        pages.send(("open", [], 0))
        telling = Thread(target=_tell, args=(store, decided, pages))
        telling.start()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while (job := pages.recv()) is not None:
                pool.submit(_decide, store, job, decided)
        decided.put(None)
        telling.join()
        pages.send(("ended", [], 0))
        # The others may have more to say until all have ended.
        pages.recv()
        _hear(store, "ended")
        pages.send(("told", [], 0))
        # And until all have noticed that a log was lost, and written again what was in it.
        pages.recv()
        _hear(store, "told")
        store.commit()
        pages.send(("known", sorted(stored.page.url for stored in store.pages()), store.late_duplicates))
        pages.recv()


def _decide(store: Store, job: int, decided: SimpleQueue[int | None]) -> None:
    content, place = divmod(job, URLS)
    made, chance = page(f"http://{place}.test/{content}", Random(content).getrandbits(64) ^ (1 << place)), Random(job + os.getpid())
    while True:
        admission = store.claim(made, _RULE)
        if admission.waits_for:
            settled = Event()
            admission.waits_for.when_settled(settled.set)
            settled.wait()
        elif admission.claim and chance.random() < 1 / AT_ONCE:
            admission.claim.withdraw()
        else:
            break
    if admission.claim:
        # What comes of it takes a moment, in which it is open.
        sleep(chance.random() / 200)
        admission.claim.confirm()
    decided.put(job)


def _tell(store: Store, decided: SimpleQueue[int | None], pages: Connection) -> None:
    ends = False
    while not ends:
        done = [decided.get()]
        while not decided.empty():
            done.append(decided.get())
        ends = None in done
        _sync(store)
        pages.send(("done", [job for job in done if job is not None], 0))


def _hear(store: Store, when: str) -> None:
    """Take over all that others have told: who tells something gets it in answer. To sync alone asks nothing where nothing waits."""
    line = Duplicate(f"http://{os.getpid()}.test/{when}", "http://a.test/", "near_duplicate", 1, 0.9, "near-duplicate", True, False, time())
    store.note(line)
    _sync(store)


def _sync(store: Store) -> None:
    while True:
        with suppress(StoreError):
            store.sync()
            return
        sleep(0.02)
