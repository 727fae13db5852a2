"""Where worker processes come from: a template that they are forked from, and what is done without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from socket import socketpair
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from simcrawl.page.fingerprint import PageFingerprint, fingerprint_page
from simcrawl.page.recipes import resolve
from simcrawl.workers import starting
from simcrawl.workers.process import Asker, PageProcess
from simcrawl.workers.starting import Starter
from tests.crawl.runner import ROOT
from tests.processes import offspring, runs
from tests.samples import english, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcrawl.page.fingerprint import Abstention

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="workers are forked on Linux only")

BODY = page(english()).encode()
OPTIONS = {"recipe": resolve("terms"), "seed": 7, "max_bytes": 4_000_000, "max_seconds": 20.0}


@pytest.fixture
def starter() -> Iterator[Starter]:
    starting._can_fork.cache_clear()
    with closing(Starter()) as made:
        yield made
    starting._can_fork.cache_clear()


class Worker(PageProcess):
    """One whose socket stays open, as it ends with that."""

    def made(self) -> PageFingerprint | Abstention:
        asker = Asker(OPTIONS)
        self.line = self.start(asker)
        return self.again()

    def again(self) -> PageFingerprint | Abstention:
        return self.make(self.line, Asker(OPTIONS).question(BODY, "http://x/", None))[0]

    def close(self) -> None:
        self.line.close()
        super().close()


def _template(starter: Starter) -> int:
    assert starter._template
    return starter._template.pid


def _parent(pid: int | None) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_workers_are_forked_from_one_template_and_make_what_is_made_here(starter: Starter):
    with ExitStack() as stack:
        processes = [stack.enter_context(closing(Worker(starter))) for _ in range(3)]
        assert {process.made() for process in processes} == {fingerprint_page(BODY, url="http://x/", seed=7)}
        pids = [process.pid for process in processes]
        assert len({*pids}) == 3
        assert {*map(_parent, pids)} == {_template(starter)}


def test_a_template_that_was_begun_is_the_one_that_workers_are_forked_from(starter: Starter):
    starter.begin()
    template = _template(starter)
    starter.begin()
    with closing(Worker(starter)) as process:
        assert isinstance(process.made(), PageFingerprint)
        assert _parent(process.pid) == template == _template(starter)


def test_one_that_dies_while_nobody_waits_for_it_is_replaced(starter: Starter):
    starter.begin()
    os.kill(_template(starter), signal.SIGKILL)
    with closing(Worker(starter)) as process:
        assert isinstance(process.made(), PageFingerprint)


def test_nothing_is_begun_where_nothing_can_be_started_or_is_wanted_any_more(starter: Starter, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nowhere/python")
        starter.begin()
    starter.close()
    starter.begin()
    assert starter._template is None


def test_a_template_that_is_killed_is_replaced_and_takes_no_worker_along(starter: Starter):
    with closing(Worker(starter)) as first, closing(Worker(starter)) as second:
        first.made()
        template = _template(starter)
        os.kill(template, signal.SIGKILL)
        assert isinstance(second.made(), PageFingerprint)
        assert template != _template(starter) == _parent(second.pid)
        assert isinstance(first.again(), PageFingerprint)


def test_a_worker_that_ended_is_ended_again_without_harm(starter: Starter):
    with closing(Worker(starter)) as process:
        process.made()
        running = process._process
        assert running
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        # Its number may be another process's from here on.
        running.kill()
        running.wait()
        assert not runs(running.pid)


@pytest.mark.parametrize("what", ["environment", "folder"])
def test_what_a_process_takes_over_from_its_parent_is_as_it_is_now(
    starter: Starter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
):
    with closing(Worker(starter)) as first, closing(Worker(starter)) as second:
        first.made()
        before = _template(starter)
        if what == "environment":
            monkeypatch.setenv("SIMCRAWL_OWN", "now")
        else:
            monkeypatch.chdir(tmp_path)
        second.made()
        assert _template(starter) != before
        assert b"SIMCRAWL_OWN=now" in Path(f"/proc/{second.pid}/environ").read_bytes() or what == "folder"
        assert Path(f"/proc/{second.pid}/cwd").readlink() == (tmp_path if what == "folder" else Path.cwd())


def test_where_a_container_forbids_descriptors_of_processes_each_is_started_alone(starter: Starter, monkeypatch: pytest.MonkeyPatch):
    def forbidden(_: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "pidfd_open", forbidden)
    with closing(Worker(starter)) as process:
        assert isinstance(process.made(), PageFingerprint)
        assert _parent(process.pid) == os.getpid()
    assert starter._template is None


def test_where_a_template_can_fork_no_more_a_worker_is_started_alone(starter: Starter, monkeypatch: pytest.MonkeyPatch):
    # It loads everything, and then finds that it may not.
    boot = starting._TEMPLATE.replace("serve_forks(line", "import os; del os.fork; os.fork = lambda: os.pidfd_open(-1); serve_forks(line")
    monkeypatch.setattr(starting, "_TEMPLATE", boot)
    with closing(Worker(starter)) as process:
        assert isinstance(process.made(), PageFingerprint)
        assert _parent(process.pid) == os.getpid()


@pytest.mark.parametrize("forks", [True, False])
def test_a_worker_whose_parent_is_gone_before_it_says_anything_ends_in_silence(
    starter: Starter, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], forks: bool
):
    monkeypatch.setattr(starting, "_can_fork", lambda: forks)
    ours, theirs = socketpair()
    ours.close()
    with theirs:
        worker = starter.start(theirs.fileno())
    worker.wait()
    assert capfd.readouterr().err == ""


def test_to_close_does_not_wait_for_a_start_and_leaves_nothing():
    others = offspring()
    starter = Starter()
    failed: list[BaseException] = []

    def start() -> None:
        here, there = socketpair()
        with here, there:
            try:
                while True:
                    running = starter.start(there.fileno())
                    running.kill()
                    running.wait()
            except OSError as exc:
                failed.append(exc)

    threads = [Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    starter.close()
    for thread in threads:
        thread.join()
    assert list(map(str, failed)) == ["it is closed"] * 3
    assert offspring() == others


_ALONE = """
from contextlib import closing
from tests.workers.test_starting import *
from tests.workers.test_starting import _template
starter = Starter()
process = Worker(starter)
process.made()
print(process.pid, _template(starter), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_template_does_not_outlive_its_parent():
    done = subprocess.run([sys.executable, "-c", _ALONE], cwd=ROOT, stdout=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    from tests.workers.test_process import ends

    assert all(map(partial(ends, within=20), map(int, done.stdout.split())))


def test_a_template_makes_what_every_page_needs_and_loads_no_more():
    code = """
import sys
from simcrawl.page import chinese, cut
from simcrawl.workers.process import warm_up
warm_up()
print(cut._simple_spaced.cache_info().currsize, "w3lib.url" in sys.modules)
print(chinese._segmenter.cache_info().currsize, "trafilatura" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True", "0", "False"]
