"""Numpy's threads: as many as without simcrawl, and told to sleep while a crawl goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

NAME = "OPENBLAS_THREAD_TIMEOUT"
LOADED = """
import json, os, sys
told = []
class Finder:
    def find_spec(name, path=None, target=None):
        if name == "numpy":
            told.append(os.environ.get("OPENBLAS_THREAD_TIMEOUT"))
sys.meta_path.insert(0, Finder)
{first}
import simcrawl.crawl
threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else None
print(json.dumps([threads, told, os.environ.get("OPENBLAS_THREAD_TIMEOUT")]))
"""


def loaded(first: str = "", **environment: str) -> tuple[int | None, list[str | None], str | None]:
    """Return how many threads there are, what numpy was told when it was loaded, and what the environment says afterwards."""
    own = {name: value for name, value in os.environ.items() if name not in {NAME, "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}}
    command = [sys.executable, "-c", LOADED.format(first=first)]
    done = subprocess.run(command, env=own | environment, capture_output=True, text=True, check=True, timeout=60)
    threads, told, afterwards = json.loads(done.stdout)
    return threads, told, afterwards


def test_numpy_is_told_when_it_is_loaded_and_nobody_else_is() -> None:
    assert loaded()[1:] == (["20"], None)


def test_its_threads_are_as_many_as_without() -> None:
    assert loaded()[0] == loaded("import numpy")[0]


def test_what_a_user_has_set_stands() -> None:
    assert loaded(**{NAME: "4"})[1:] == (["4"], "4")


def test_nothing_is_told_where_numpy_is_there() -> None:
    assert loaded("import numpy")[1:] == ([None], None)
