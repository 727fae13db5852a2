"""Flip random bits of a small store's file, one at a time, and look at what readers print then, and whether `verify` names it.

    python -m benchmarks.store.flips [--flips 500] [--seed 1]

For each flip a process of its own reads the store in every way that prints lines, and another one verifies it. No line may be printed that
the store did not hold (`wrong`), none may be missing without a word (`silent`), and where `verify` finds nothing, every answer must be that
of the whole store (`unnamed`). Most bits of a file are of free pages, of free space within pages, or of the older of two roots: to flip
them harms nothing.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from simcrawl.errors import StoreError
from simcrawl.page.kept import compressed
from simcrawl.rule import Rule
from simcrawl.store import open_store
from tests.strategies import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcrawl.store import Store

Lines = dict[str, tuple[list[str], str]]
NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
# A reader that goes round in circles is ended.
_SECONDS = 60
_ANSWERS = "answers"


@dataclass
class Result:
    """What the flips came to: `named` by `verify`, one way or another, and how readers and `verify` ended."""

    flips: int = 0
    named: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)


def make(path: Path, pages: int = 60) -> None:
    """Make a store that holds something of each kind."""
    noise = Random(7)
    with open_store(path, recipe="manku2007", sync_seconds=1e9) as store:
        store.keep_texts(10**6)
        for number in range(pages):
            kept = replace(page(f"http://a.test/{number}", noise.getrandbits(64), text=f"{number}"), content=compressed(f"text {number}"))
            store.admit(kept, NEAR)
            store.admit(page(f"http://b.test/{number}", noise.getrandbits(64), text=f"{number}"), NEAR)
            if number % 10 == 9:
                store.sync()
        for number in range(5):
            store.reject(f"http://b.test/{number}")
            store.note_crawl({"spider": f"s{number}"})
        store.load_fingerprints(noise.getrandbits(64) for _ in range(200))
        store.forget("http://a.test/59")
        store.sync()


def _pages(store: Store) -> list[str]:
    return [f"{one.page.url} {one.page.body_digest.hex()} {one.last_seen}" for one in store.pages()]


def _answers(store: Store) -> list[str]:
    """Return what look-ups say: no lines of the store, but what follows from them."""
    found = [f"{store.cluster(f'http://b.test/{number}')} {store.page(f'http://a.test/{number}')!r:.80}" for number in range(0, 60, 7)]
    noise = Random(7)
    return [*found, *(f"{store.query_fingerprint(noise.getrandbits(64) ^ 0b101, 3)!r:.200}" for _ in range(120))]


READERS: dict[str, Callable[[Store], list[str]]] = {
    "duplicates": lambda store: [repr(line) for line in store.duplicates()],
    "latest": lambda store: [repr(line) for line in store.duplicates(latest=20)],
    "rejections": lambda store: [repr(one) for one in store.rejections()],
    "pages": _pages,
    "texts": lambda store: [text for n in range(60) if (text := store.text(f"http://a.test/{n}")) is not None],
    "crawls": lambda store: [json.dumps(record) for record in store.crawls()],
    _ANSWERS: _answers,
}


def read_all(path: Path) -> Lines:
    """Return the lines of every reader, and what it said besides."""
    found: Lines = {}
    for name, reader in READERS.items():
        said, lines = StringIO(), list[str]()
        handler = logging.StreamHandler(said)
        logging.getLogger("simcrawl").addHandler(handler)
        try:
            with redirect_stderr(said), open_store(path, create=False, readonly=True) as store:
                lines = reader(store)
        except StoreError as exc:
            said.write(str(exc))
        finally:
            logging.getLogger("simcrawl").removeHandler(handler)
        found[name] = lines, said.getvalue()
    return found


def verify_all(path: Path) -> list[str]:
    """Return what is wrong, as the process that `simcrawl verify` starts finds it."""
    try:
        with open_store(path, create=False, readonly=True) as store:
            return store.verify()
    except StoreError as exc:
        return [str(exc)]


def in_a_child(work: Callable[[Path], object], path: Path) -> tuple[object, str]:
    """Return what a process of its own makes of a store, and how that ended: "" where it did as it should."""
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if not child:
            code = 1
            try:
                signal.alarm(_SECONDS)
                told.write(json.dumps(work(path)).encode())
                told.flush()
                code = 0
            except Exception as exc:  # noqa: BLE001 - told by its name
                told.write(type(exc).__name__.encode())
                told.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        told.seek(0)
        said = told.read()
    return (json.loads(said), "") if not code else (None, signal.Signals(-code).name if code < 0 else said.decode())


def flip(path: Path, flips: int, seed: int, within: Callable[[int], bool] = lambda _: True) -> Result:
    """Flip bits of a store that `make` made, one at a time. `within`: which places of the file are chosen."""
    data, noise, result = path / "data.mdb", Random(seed), Result()
    whole, right = data.read_bytes(), read_all(path)
    places = [place for place in range(len(whole)) if within(place)]
    for _ in range(flips):
        place, bit = noise.choice(places), noise.randrange(8)
        data.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        _judge(result, f"byte {place}, bit {bit}", right, in_a_child(read_all, path), in_a_child(verify_all, path))
    data.write_bytes(whole)
    return result


def _judge(result: Result, where: str, right: Lines, read: tuple[Any, str], verified: tuple[Any, str]) -> None:
    result.flips += 1
    (found, ended), (problems, verify_ended) = read, verified
    named = bool(problems or verify_ended)
    result.named += named
    result.ends.update(f"{who} ended by {how}" for who, how in (("readers", ended), ("verify", verify_ended)) if how)
    same = not ended
    for name, (lines, said) in (found or {}).items():
        before = right[name][0]
        same &= lines == before and not said
        if name != _ANSWERS and (extra := Counter(lines) - Counter(before)):
            result.wrong.append(f"{where}: {name}: {next(iter(extra))}")
        if name != _ANSWERS and Counter(before) - Counter(lines) and not said:
            result.silent.append(f"{where}: {name}: {len(before) - len(lines)} of {len(before)} lines")
    if not named and not same:
        result.unnamed.append(where)


def main() -> int:
    """Print what the flips came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "store")
        make(path)
        result = flip(path, options.flips, options.seed)
    print(f"{result.flips} flips; verify names {result.named}; {dict(result.ends) or 'nobody died'}")
    for title in ("wrong", "silent", "unnamed"):
        lines = getattr(result, title)
        print(f"{title}: {len(lines)}", *lines, sep="\n  ")
    return int(bool(result.wrong or result.silent or result.unnamed))


if __name__ == "__main__":
    sys.exit(main())
