"""What befalls a store in use: `python -m benchmarks.store.accidents [--rounds 20] [--seed 1]`.

Every command runs on one store that two others write to (`together`); every command that writes runs where files may grow by a little only,
as on a full disk (`full`); and the files of a store are copied one after the other while it is written to (`copied`): such a copy must be
whole, or refused, or named by `verify`, and hold no line that was never written. Prints Markdown; `problems` is what must not be.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from simcrawl.errors import StoreError
from simcrawl.rule import Rule
from simcrawl.store import open_store, verify
from tests.forked import python
from tests.samples import english, page as html
from tests.strategies import page

if TYPE_CHECKING:
    from collections.abc import Iterator

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
# Of commands: fine, a negative answer, wrong use, the store cannot be used.
_CODES = {0, 1, 2, 3, 4}
_SECONDS = 120
_STEP = 20
_ROOT = Path(__file__).parents[2]


@dataclass
class Result:
    """What the rounds of one kind came to."""

    tries: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)


def commands(store: Path, directory: Path, *, writing_only: bool = False) -> list[list[str]]:
    """Return every command that takes a store, ready to be run."""
    where, lines = str(store), directory / "more.jsonl"
    lines.write_text("\n".join(json.dumps({"url": f"http://more.test/{n}", "html": html(english(60, n))}) for n in range(40)))
    (directory / "page.html").write_text(html(english(60, 1)))
    (directory / "hex").write_text("\n".join(f"{number:016x}" for number in range(20_000)))
    url = "http://a.test/1"
    writing = [
        ["load", where, str(lines), "--workers", "0"],
        ["import", where, str(directory / "hex")],
        ["reject", where, "http://b.test/1"],
        ["forget", where, url],
        ["forget", where, "--older-than", "0", "--force"],
        ["rebuild", where, "--design", "10"],
        ["compact", where],
        ["export", where, str(directory / "tables")],
        ["export", where, str(directory / "lines"), "--format", "jsonl"],
        ["report", where, "-o", str(directory / "report.html")],
    ]
    reading = [["verify", where], ["query", where, str(directory / "page.html")], ["compare", "--store", where, url, "http://b.test/1"]]
    reading += [[name, where] for name in ("stats", "duplicates", "hosts", "clusters", "rules", "reject")]
    reading += [["duplicates", where, "--urls"], ["batch", where, where]]
    return writing if writing_only else [*reading, *writing, ["forget", where, "--all"]]


def run(arguments: list[str], most: int | None = None) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it said. `most`: bytes that a file may have, as if the disk were full then."""

    def bound() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    command = [*python(), "-c", "from simcrawl.cli import main; main()", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS, preexec_fn=bound, cwd=_ROOT)
    return done.returncode, done.stdout, done.stderr


def problem(arguments: list[str], code: int, said: str) -> Iterator[str]:
    """Yield what is wrong with the end of a command: another code than commands have, or more than a line."""
    told = [line for line in said.splitlines() if not line.startswith(("Usage:", "Try ")) and line.strip()]
    errors = [line for line in told if line.startswith("Error")]
    if code not in _CODES or "Traceback" in said or len(errors) > 1 or (code in {2, 3, 4} and not errors):
        yield f"{' '.join(arguments[:2])}: ended with {code}: {said[-300:]}"


def fill(path: Path, pages: int, first: int = 0) -> None:
    """Put pages, and a copy of each, into a store."""
    with open_store(path, recipe="manku2007", sync_seconds=1e9) as store:
        for number in range(first, first + pages):
            _admit(store, number)


def _admit(store: object, number: int) -> None:
    fingerprint = Random(number).getrandbits(64)
    for host in "ab":
        store.admit(page(f"http://{host}.test/{number}", fingerprint, text=f"{number}"), NEAR)  # type: ignore[attr-defined]


# ---- every command, while others write


class Writer:
    """A process that writes to a store, a commit after every few pages, until it is left."""

    def __init__(self, path: Path, first: int) -> None:
        self._pid = os.fork()
        if not self._pid:
            code = 1
            try:
                number = first
                while os.getppid() != 1:
                    fill(path, _STEP, number)
                    number += _STEP
                code = 0
            except StoreError as exc:
                print(exc, file=sys.stderr)
            finally:
                os._exit(code)

    def __enter__(self) -> None:
        """Let it write."""

    def __exit__(self, *_: object) -> None:
        """End it."""
        os.kill(self._pid, signal.SIGKILL)
        if not os.WIFSIGNALED(os.waitpid(self._pid, 0)[1]):
            raise RuntimeError("a writer ended before it was killed")


def together(directory: Path, rounds: int) -> Result:
    """Run every command on a store that two processes write to."""
    result, path = Result(), directory / "store"
    for _ in range(rounds):
        shutil.rmtree(path, ignore_errors=True)
        fill(path, 40)
        with Writer(path, 1_000), Writer(path, 1_000_000):
            for arguments in commands(path, directory):
                code, _, said = run(arguments)
                result.tries += 1
                result.refused += code == 3
                result.problems += problem(arguments, code, said)
                if arguments[0] == "verify" and code:
                    result.problems.append(f"verify while others write: {code}")
        result.problems += verify(path)
    return result


# ---- every command that writes, on a full disk


def full(directory: Path, rounds: int, seed: int) -> Result:
    """Run commands that write where files may not grow, or by a little only."""
    result, path, noise = Result(), directory / "store", Random(seed)
    for _ in range(rounds):
        for number in range(len(commands(path, directory, writing_only=True))):
            shutil.rmtree(path, ignore_errors=True)
            fill(path, 40)
            with open_store(path) as store:
                before = {stored.page.url for stored in store.pages()}
            arguments = commands(path, directory, writing_only=True)[number]
            code, _, said = run(arguments, (path / "data.mdb").stat().st_size + noise.choice((0, 4096, 30_000, 100_000)))
            result.tries += 1
            result.refused += code == 3
            result.problems += [*problem(arguments, code, said), *verify(path)]
            with open_store(path, readonly=True) as store:
                after = {stored.page.url for stored in store.pages()}
            if arguments[0] != "forget" and not before <= after:
                result.problems.append(f"{' '.join(arguments[:2])}: {len(before - after)} pages are gone")
            # With space again all is as ever.
            fill(path, 5, 500)
    return result


# ---- a copy that is made file by file


def copied(directory: Path, rounds: int, seed: int) -> Result:
    """Copy a store while it is written to, as `cp -r` does, and look into the copy."""
    result, path, noise = Result(), directory / "store", Random(seed)
    shutil.rmtree(path, ignore_errors=True)
    fill(path, 200)
    with Writer(path, 1_000):
        for number in range(rounds):
            copy = directory / f"copy{number}"
            _copy(path, copy, noise.choice((4096, 65_536, 1 << 20)))
            problems = _found(copy)
            code, told, said = run(["duplicates", str(copy)])
            result.tries += 1
            result.refused += bool(problems or code == 3)
            result.problems += problem(["duplicates"], code, said)
            result.problems += [f"a line that was never written: {line}" for line in told.splitlines() if not _LINE.match(line)]
            if not problems and code:
                result.problems.append(f"verify finds nothing, and duplicates ends with {code}: {said}")
            shutil.rmtree(copy)
    return result


_LINE = re.compile(r"http://b\.test/(\d+)\thttp://a\.test/\1\t")


def _copy(path: Path, copy: Path, step: int) -> None:
    copy.mkdir()
    for file in path.iterdir():
        if file.is_file():
            with file.open("rb") as old, (copy / file.name).open("wb") as new:
                while part := old.read(step):
                    new.write(part)


def _found(copy: Path) -> list[str]:
    try:
        return verify(copy)
    except StoreError as exc:
        return [str(exc)]


def main() -> int:
    """Print what the rounds came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        directory = Path(work)
        results = {
            "every command while two write": together(directory, max(1, options.rounds // 5)),
            "every writing command on a full disk": full(directory, max(1, options.rounds // 5), options.seed),
            "copied while written to": copied(directory, options.rounds, options.seed),
        }
    print("| | tries | refused in a line | problems |\n| --- | ---: | ---: | ---: |")
    for name, one in results.items():
        print(f"| {name} | {one.tries} | {one.refused} | {len(one.problems)} |")
    problems = [problem for one in results.values() for problem in one.problems]
    print(*problems, sep="\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
