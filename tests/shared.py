"""What the processes of a test run make once for all of them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest


def directory_of_all(factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the run: that of pytest-xdist's workers is one in it."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@contextmanager
def once(directory: Path) -> Iterator[bool]:
    """Yield whether this is the first process that comes to its end with a directory. The others wait meanwhile."""
    directory.mkdir(parents=True, exist_ok=True)
    with directory.with_name(f"{directory.name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        made = directory.with_name(f"{directory.name}.made")
        yield not made.exists()
        made.touch()
