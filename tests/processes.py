"""The processes that come of one, as Linux shows them: workers are children of the process that they are forked from."""

from __future__ import annotations

from pathlib import Path


def runs(pid: int) -> bool:
    """Return whether a process still does: what waits for its parent to take note of its end does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def offspring(of: int | str = "self") -> set[int]:
    """Return the children of a process that run, and theirs."""
    found = set[int]()
    # Each thread has its own.
    for file in Path(f"/proc/{of}/task").glob("*/children"):
        try:
            found.update(map(int, file.read_text().split()))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return set(filter(runs, found)).union(*map(offspring, found))
