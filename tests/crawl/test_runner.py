"""What runs the crawls of the other tests: a process that is forked is as good as one that is new."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.crawl import runner
from tests.crawl.runner import crawl, start
from tests.crawl.test_crawl import IN_ORDER, copies

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crawl.server import Site


def _nothing() -> None:
    pass


PLACES = pytest.mark.parametrize("preexec", [None, _nothing], ids=["forked", "new"])


def test_both_give_the_same_verdicts(site: Site) -> None:
    copies(site)
    verdicts = [crawl("Front", site.url(), settings=IN_ORDER, preexec=preexec).paths("verdicts") for preexec in (None, _nothing)]
    assert verdicts[0]
    assert verdicts[0] == verdicts[1]


@PLACES
def test_what_fails_is_said(preexec: Callable[[], None] | None) -> None:
    done = start([{"spider": "Absent", "arguments": {}}], preexec=preexec)
    assert (done.returncode, done.stdout) == (1, "")
    assert "has no attribute 'Absent'" in done.stderr


@PLACES
def test_a_crawl_that_is_killed_says_so(site: Site, tmp_path: Path, preexec: Callable[[], None] | None) -> None:
    copies(site)
    arguments = {"url": site.url(), "path": str(tmp_path / "items"), "after": "2"}
    assert start([{"spider": "Suicidal", "arguments": arguments}], preexec=preexec).returncode == -signal.SIGKILL


def test_in_another_environment_a_process_is_new(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    copies(site)
    monkeypatch.setenv("ANOTHER", "environment")
    monkeypatch.setattr(runner, "forked", None)
    assert crawl("Front", site.url(), settings=IN_ORDER).stats["finish_reason"] == "finished"
