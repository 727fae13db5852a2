"""A process that is forked does as one that is new."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import forked

if TYPE_CHECKING:
    from collections.abc import Callable

SAYS = """
import atexit, os, sys
from threading import Thread
from time import sleep
atexit.register(print, "at the end")
Thread(target=lambda: (sleep(0.1), print("a thread", flush=True))).start()
print(sys.argv[1:], sys.path[0], __name__, os.getcwd(), os.environ.get("GIVEN"), sys.stdin.read(), sys.stdout.line_buffering)
print("said", file=sys.stderr)
"""
LIMITED = "import resource; print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])"
LOADED = "import sys; print('scrapy' in sys.modules)"
NEW, FORKED = pytest.param(lambda: [sys.executable], id="new"), pytest.param(forked.python, id="forked")
BOTH = pytest.mark.parametrize("begin", [NEW, FORKED])


def run(begin: list[str], *arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {name: value for name, value in options.items() if name.isupper()}
    return subprocess.run([*begin, *arguments], input="given", capture_output=True, text=True, check=False, env=env, timeout=60)


def test_it_is_given_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "says.py").write_text(SAYS)
    for arguments in (("-c", SAYS, "a", "-b"), ("-m", "says", "a", "-b"), ("says.py", "a", "-b")):
        new, other = (run(begin, *arguments, GIVEN="so") for begin in ([sys.executable], forked.python()))
        assert new.stdout.endswith("a thread\nat the end\n")
        assert (other.returncode, other.stdout, other.stderr) == (new.returncode, new.stdout, new.stderr)


@BOTH
@pytest.mark.parametrize(
    ("code", "end", "said"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('why')", 1, "why"),
        ("import sys; sys.exit()", 0, ""),
        ("import os; os._exit(9)", 9, ""),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
        ("import os; os.kill(os.getpid(), 15)", -15, ""),
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
    ],
)
def test_its_end_is_told(begin: Callable[[], list[str]], code: str, end: int, said: str) -> None:
    done = run(begin(), "-c", code)
    assert (done.returncode, done.stdout) == (end, "")
    assert done.stderr.strip().endswith(said)


def test_what_is_run_without_a_process_between_is_the_same(tmp_path: Path) -> None:
    done = forked.run(["-c", SAYS, "a"], "given", timeout=60, cwd=tmp_path, env=os.environ | {"GIVEN": "so"})
    assert done.returncode == 0
    assert f"['a']  __main__ {tmp_path} so given" in done.stdout
    assert done.stderr == "said\n"
    assert forked.run(["-c", "import os; os.kill(os.getpid(), 9)"], timeout=60).returncode == -signal.SIGKILL


def test_modules_are_there_already_but_not_where_python_reads_another_environment() -> None:
    assert run(forked.python(), "-c", LOADED).stdout == "True\n"
    assert run(forked.python(), "-c", LOADED, PYTHONHASHSEED="5").stdout == "False\n"
    assert run(forked.python(), "-W", "error", "-c", LOADED).stdout == "False\n"
    assert forked.run(["-c", LOADED], timeout=60, env=os.environ | {"TZ": "Asia/Tokyo"}).stdout == "False\n"


@BOTH
def test_limits_hold(begin: Callable[[], list[str]]) -> None:
    done = subprocess.run(
        [*begin(), "-c", LIMITED],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12345, 12345)),
    )
    assert done.stdout == "12345\n"


def test_a_process_ends_with_the_one_that_asked_for_it() -> None:
    code = "import time; print('runs', flush=True); time.sleep(600)"
    with subprocess.Popen([*forked.python(), "-c", code], stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout
        assert asking.stdout.readline() == "runs\n"
        asking.kill()
        # It ends when nobody has its other end open any more.
        assert asking.stdout.read() == ""


def test_commands_of_a_shell(tmp_path: Path) -> None:
    path = f"{forked.commands(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path}
    for command, said in (("simcrawl --help", "Usage: simcrawl"), ("scrapy version", "Scrapy "), (f'python -c "{LOADED}"', "True")):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, env=env, cwd=tmp_path)
        assert done.stdout.strip().startswith(said)
    assert Path(path.partition(os.pathsep)[0], "simcrawl").read_text().startswith("#!/bin/sh\n")
