"""Kill two writers of one store at random moments, again and again, and look for what is lost or wrong.

    python -m benchmarks.store.kills [--rounds 300] [--seed 1]

In a round two processes admit pages and fingerprints to one store and commit after every few of them, one of them with next to no memory,
so that slices are folded all the time; after a random time both are killed (SIGKILL). Then `verify` must find nothing, everything that a
writer had reported as written must be there, a commit must be there as a whole or not at all, and probes must find what was written. Thirty
rounds go on with one store.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import traceback
from math import inf
from operator import add
from pathlib import Path
from random import Random
from signal import SIGKILL
from threading import Timer
from typing import NamedTuple, TextIO

from simcrawl.rule import Rule
from simcrawl.store import open_store
from tests.strategies import page

BATCH = 8
# Then a new one: to read everything after each round takes longer, the more there is.
ROUNDS_A_STORE = 30
KEEP = Rule(max_distance=0, min_similarity=0, outlinks=0, copies_kept=1_000_000)


class Result(NamedTuple):
    """What the rounds came to."""

    kills: int
    commits: int
    lost: int
    torn: int
    missed: int
    problems: list[str]

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.torn or self.missed or self.problems)


def fingerprint_of(writer: str, batch: int, i: int) -> int:
    """Return the i-th fingerprint of a writer's batch; those from BATCH on have no page."""
    return Random(f"{writer} {batch} {i}").getrandbits(64)


def write(path: Path, writer: str, first: int, said: int) -> None:
    """Write batches until killed, saying which are written."""
    with open_store(path, sync_seconds=inf, memory=0 if writer == "a" else None) as store:
        batch = first
        while True:
            for i in range(BATCH):
                store.admit(page(f"http://{writer}.test/{batch}/{i}", fingerprint_of(writer, batch, i)), KEEP)
                store.admit_fingerprint(fingerprint_of(writer, batch, BATCH + i), 0)
            store.sync()
            os.write(said, b"%d\n" % batch)
            if batch % 5 == 0:
                store.forget(f"http://{writer}.test/{batch}/0")
            batch += 1


def run(directory: Path, rounds: int, seed: int) -> Result:
    """Kill two writers in every round and check the store after it."""
    noise = Random(seed)
    result = Result(0, 0, 0, 0, 0, [])
    for first in range(0, rounds, ROUNDS_A_STORE):
        begun = {"a": 0, "b": 0}
        for _ in range(min(ROUNDS_A_STORE, rounds - first)):
            written, problems = _killed(directory / f"store{first}", begun, noise.uniform(0.15, 0.9))
            found = _check(directory / f"store{first}", begun, written)
            result = Result(*map(add, result, found._replace(problems=problems + found.problems)))
        shutil.rmtree(directory / f"store{first}")
    return result


def _check(path: Path, begun: dict[str, int], written: dict[str, int]) -> Result:
    """Compare what is there with what the writers said, of the batches that they began with in this round, and move these on."""
    lost = torn = missed = commits = 0
    with open_store(path, sync_seconds=inf) as store:
        problems = store.verify()
        held = {stored.page.url for stored in store.pages()}
        for writer, last in written.items():
            there = [batch for batch in range(begun[writer], last + 40) if f"http://{writer}.test/{batch}/1" in held]
            lost += sum(batch not in there for batch in range(begun[writer], last + 1))
            for batch in there:
                torn += any(f"http://{writer}.test/{batch}/{i}" not in held for i in range(1, BATCH))
                torn += not all(store.query_fingerprint(fingerprint_of(writer, batch, BATCH + i), 0) for i in range(BATCH))
                missed += not all(store.query(fingerprint_of(writer, batch, i) ^ 0b10011, 3) for i in range(1, BATCH))
            commits += len(there)
            begun[writer] = max([begun[writer] - 1, last, *there]) + 1
    return Result(2, commits, lost, torn, missed, problems)


def _killed(path: Path, begun: dict[str, int], seconds: float) -> tuple[dict[str, int], list[str]]:
    """Run the writers for some time and kill them; return the last batch that each said was written, and how one ended too early."""
    writers = {name: _start(path, name, first) for name, first in begun.items()}
    # Counted from when both have the store open: they say so with their first batch.
    last = {name: _number(said.readline()) for name, (_, said) in writers.items()}
    kills = [Timer(seconds * share, os.kill, (pid, SIGKILL)) for (pid, _), share in zip(writers.values(), (1, 0.9), strict=True)]
    for timer in kills:
        timer.start()
    problems = []
    for name, (pid, said) in writers.items():
        with said:
            last[name] = max([last[name], *map(_number, said)])
        if not os.WIFSIGNALED(status := os.waitpid(pid, 0)[1]):
            problems.append(f"writer {name} ended by itself: {status}")
    for timer in kills:
        timer.join()
    return last, problems


def _number(line: str) -> int:
    return int(line) if line.endswith("\n") else -1


def _start(path: Path, writer: str, first: int) -> tuple[int, TextIO]:
    """Start a writer; return its number, and what it says."""
    reading, writing = os.pipe()
    # A fork, not a new interpreter: that would take most of a round. Nothing is open here that it could share.
    pid = os.fork()
    if not pid:
        try:
            write(path, writer, first, writing)
        finally:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    return pid, os.fdopen(reading)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        result = run(Path(directory), options.rounds, options.seed)
    print(
        f"{result.kills} kills, {result.commits} commits: {result.lost} commits lost, {result.torn} torn, {result.missed} answers missing"
    )
    print("\n".join(result.problems) or "verify found nothing.")
    sys.exit(not result.clean)


if __name__ == "__main__":
    main()
