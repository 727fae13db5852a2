"""Numpy's threads: as many as without simcrawl, and asleep while a crawl goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from simcrawl.system import cores

LOADED = """
import json, os, sys, time
{first}
import simcrawl.crawl
threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else None
print(json.dumps([threads, time.process_time() - time.thread_time(), os.environ.get("OPENBLAS_THREAD_TIMEOUT")]))
"""
NAME = "OPENBLAS_THREAD_TIMEOUT"


def loaded(first: str = "", **environment: str) -> tuple[int | None, float, str | None]:
    """Return how many threads there are once Scrapy is loaded too, the CPU seconds of all but the first, and what the environment says."""
    own = {name: value for name, value in os.environ.items() if name not in {NAME, "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}}
    command = [sys.executable, "-c", LOADED.format(first=first)]
    done = subprocess.run(command, env=own | environment, capture_output=True, text=True, check=True, timeout=60)
    threads, seconds, told = json.loads(done.stdout)
    return threads, seconds, told


@pytest.mark.skipif(cores() < 2, reason="with one core numpy starts no thread")
def test_its_threads_do_not_wait_awake_and_are_as_many() -> None:
    awake, asleep = loaded("import numpy"), loaded()
    assert asleep[0] == awake[0]
    # By the CPU clock of the process, so that what else the machine does has no part in it.
    assert asleep[1] < awake[1] / 2


def test_the_environment_is_left_as_it_was() -> None:
    assert loaded()[2] is None


def test_what_a_user_has_set_stands() -> None:
    assert loaded(**{NAME: "4"})[2] == "4"
