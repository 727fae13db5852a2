"""What a decision costs whose page has many others within the radius, none of which it is a copy of.

    python -m benchmarks.store.candidates [--candidates 1,16,256]

A store on disk with so many pages of other contents, whose fingerprints differ in three bits from the one asked for. CPU microseconds of a
decision and the claim that it ends with, the best of five runs. Prints Markdown.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from dataclasses import replace
from math import inf
from pathlib import Path
from time import process_time

from benchmarks.store.compare import row, sizes
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_text
from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule
from simcrawl.store import Store, open_store

_RULE = Rule.of(resolve())
_ASKED, _LEAST_DECISIONS, _RUNS = 20, 400, 5
_FINGERPRINT = 0x0123456789ABCDEF


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=sizes, default=sizes("1,16,256"))
    options = parser.parse_args()
    row("candidates", "us a decision")
    row("---:", "---:")
    for count in options.candidates:
        row(count, f"{measure(count) * 1e6:.0f}")


def measure(count: int) -> float:
    """Return the CPU seconds of a decision with so many candidates."""
    with tempfile.TemporaryDirectory() as name, open_store(Path(name) / "store", sync_seconds=inf) as store:
        chance = random.Random(count)
        for number in range(count):
            bits = sum(1 << bit for bit in chance.sample(range(64), 3))
            _decide(store, _page(number, _FINGERPRINT ^ bits), keep=True)
        store.sync()
        asked = [_page(10**9 + number, _FINGERPRINT) for number in range(_ASKED)]
        return min(_seconds(store, asked, max(2, _LEAST_DECISIONS // count)) for _ in range(_RUNS))


def _seconds(store: Store, asked: list[PageFingerprint], rounds: int) -> float:
    started = process_time()
    for _ in range(rounds):
        for page in asked:
            _decide(store, page, keep=False)
    return (process_time() - started) / rounds / len(asked)


def _decide(store: Store, page: PageFingerprint, *, keep: bool) -> None:
    if claim := store.claim(page, _RULE, never_drop=True).claim:
        claim.confirm() if keep else claim.withdraw()


def _page(number: int, fingerprint: int) -> PageFingerprint:
    chance = random.Random(number)
    made = fingerprint_text(" ".join(f"{chance.getrandbits(40):x}" for _ in range(400)), url=f"http://example.org/{number}")
    if not isinstance(made, PageFingerprint):
        raise TypeError(f"a text of 400 words is {made}")
    return replace(made, fingerprint=fingerprint)


if __name__ == "__main__":
    main()
