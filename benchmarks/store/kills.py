"""Kill two writers of one store at random moments, again and again, and look for what is lost or wrong.

    python -m benchmarks.store.kills [--rounds 300] [--seed 1]

In a round two processes admit pages and fingerprints to one store and commit after every few of them, one of them with next to no memory,
so that slices are folded all the time; after a random time both are killed (SIGKILL). Then `verify` must find nothing, everything that a
writer had reported as written must be there, a commit must be there as a whole or not at all, and probes must find what was written.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from math import inf
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any, NamedTuple

from simcrawl.rule import Rule
from simcrawl.store import open_store
from tests.strategies import page

BATCH = 8
ROOT = Path(__file__).parents[2]
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


def write(path: str, writer: str, first: int) -> None:
    """Write batches until killed, saying which are written."""
    with open_store(path, sync_seconds=inf, memory=0 if writer == "a" else None) as store:
        batch = first
        while True:
            for i in range(BATCH):
                store.admit(page(f"http://{writer}.test/{batch}/{i}", fingerprint_of(writer, batch, i)), KEEP)
                store.admit_fingerprint(fingerprint_of(writer, batch, BATCH + i), 0)
            store.sync()
            print(batch, flush=True)
            if batch % 5 == 0:
                store.forget(f"http://{writer}.test/{batch}/0")
            batch += 1


def run(path: Path, rounds: int, seed: int) -> Result:
    """Kill two writers in every round and check the store after it."""
    noise = Random(seed)
    written: dict[str, int] = {"a": -1, "b": -1}
    begun = {"a": 0, "b": 0}
    lost = torn = missed = 0
    problems: list[str] = []
    for _ in range(rounds):
        for writer, last in _killed(path, begun, noise.uniform(0.15, 0.9)).items():
            written[writer] = max(written[writer], last)
        with open_store(path, sync_seconds=inf) as store:
            problems += store.verify()
            held = {stored.page.url for stored in store.pages()}
            for writer, last in written.items():
                there = [batch for batch in range(begun[writer], last + 40) if f"http://{writer}.test/{batch}/1" in held]
                lost += sum(batch not in there for batch in range(begun[writer], last + 1))
                for batch in there:
                    torn += any(f"http://{writer}.test/{batch}/{i}" not in held for i in range(1, BATCH))
                    torn += not all(store.query_fingerprint(fingerprint_of(writer, batch, BATCH + i), 0) for i in range(BATCH))
                    missed += not all(store.query(fingerprint_of(writer, batch, i) ^ 0b10011, 3) for i in range(1, BATCH))
                begun[writer] = max([begun[writer] - 1, last, *there]) + 1
    return Result(2 * rounds, sum(begun.values()), lost, torn, missed, problems)


def _killed(path: Path, begun: dict[str, int], seconds: float) -> dict[str, int]:
    """Run the writers for some time and kill them; return the last batch that each said was written."""
    writers = {name: _start(path, name, first) for name, first in begun.items()}
    # Counted from when both have the store open: they say so with their first batch.
    last = {name: _number(process.stdout.readline()) for name, process in writers.items()}
    timers = [Timer(seconds * share, process.kill) for process, share in zip(writers.values(), (1, 0.9), strict=True)]
    for timer in timers:
        timer.start()
    for name, process in writers.items():
        lines = process.communicate()[0].splitlines()
        last[name] = max([last[name], *map(_number, lines)])
    return last


def _number(line: str) -> int:
    return int(line) if line.strip().isdigit() else -1


def _start(path: Path, writer: str, first: int) -> Any:
    command = [sys.executable, "-m", "benchmarks.store.kills", "--write", str(path), writer, str(first)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        path, writer, first = options.write
        write(path, writer, int(first))
        return
    with tempfile.TemporaryDirectory() as directory:
        result = run(Path(directory, "store"), options.rounds, options.seed)
    print(
        f"{result.kills} kills, {result.commits} commits: {result.lost} commits lost, {result.torn} torn, {result.missed} answers missing"
    )
    print("\n".join(result.problems) or "verify found nothing.")
    sys.exit(not result.clean)


if __name__ == "__main__":
    main()
