"""What it takes to install simcrawl, beside Scrapy alone, and what its first command shows when.

    python -m benchmarks.install            packages, bytes and seconds of `pip install`, in fresh environments, without pip's cache
    python -m benchmarks.install --runs 3   that often, one after the other in turn

Packages come from wherever pip is set up to get them, so that seconds say more of that place than of the packages: hence beside a peer.
"""

from __future__ import annotations

import argparse
import os
import pty
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
WANTED = {"scrapy": ["scrapy"], "simcrawl": [str(ROOT)]}
_LARGEST = 12


def install(directory: Path, *packages: str) -> tuple[float, float]:
    """Make an environment; return seconds on the clock, and of a processor, that pip took."""
    subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [str(directory / "bin" / "pip"), "install", "-q", "--no-cache-dir", *packages]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    seconds, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sizes(directory: Path) -> dict[str, int]:
    """Return the bytes of each entry of site-packages, but for what the environment itself brought along."""
    (packages,) = (directory / "lib").glob("python*/site-packages")
    own = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")
    return {
        entry.name: sum(file.lstat().st_size for file in ([entry] if entry.is_file() else entry.rglob("*")) if not file.is_dir())
        for entry in packages.iterdir()
        if not entry.name.startswith(own)
    }


def count(directory: Path) -> int:
    """Return how many packages there are, but for what the environment itself brought along."""
    (packages,) = (directory / "lib").glob("python*/site-packages")
    return len([entry for entry in packages.glob("*.dist-info") if not entry.name.startswith(("pip-", "setuptools-"))])


def first_crawl(directory: Path) -> tuple[list[tuple[float, str]], float, int]:
    """Run the demonstration in a terminal; return when each line came, its seconds, and the KB that its largest process took."""
    ours, theirs = pty.openpty()
    started, lines = time.monotonic(), list[tuple[float, str]]()
    command = [str(directory / "bin" / "scrapy"), "crawl", "demo"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=theirs, stderr=theirs)
    os.close(theirs)
    with os.fdopen(ours, errors="replace") as terminal, suppress(OSError):  # how Linux says that the other end is closed
        for line in terminal:
            lines.append((time.monotonic() - started, line.rstrip()))
    # Of this child alone: pip took more.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return lines, time.monotonic() - started, usage.ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1)
    runs = parser.parse_args().runs
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in WANTED}
    with tempfile.TemporaryDirectory() as work:
        for number in range(runs):
            for name, packages in WANTED.items():
                seconds[name].append(install(Path(work, f"{name}{number}"), *packages))
        size = {name: sizes(Path(work, f"{name}0")) for name in WANTED}
        for name in WANTED:
            clock, processor = (median(column) for column in zip(*seconds[name], strict=True))
            told = f"{count(Path(work, f'{name}0'))} packages, {sum(size[name].values()) / 1e6:.0f} MB"
            print(f"{name}: {told}, {clock:.0f} s on the clock, {processor:.0f} s of a processor")
        more = {name: bytes_ for name, bytes_ in size["simcrawl"].items() if name not in size["scrapy"]}
        for name, bytes_ in sorted(more.items(), key=lambda item: -item[1])[:_LARGEST]:
            print(f"  {bytes_ / 1e6:5.1f} MB  {name}")
        for title in ("first", "second"):
            lines, took, memory = first_crawl(Path(work, "simcrawl0"))
            gap = max(after - before for (before, _), (after, _) in zip([(0.0, ""), *lines], lines, strict=False))
            print(f"{title} crawl: {took:.1f} s, first line after {lines[0][0]:.1f} s, longest silence {gap:.1f} s, {memory / 1024:.0f} MB")


if __name__ == "__main__":
    main()
