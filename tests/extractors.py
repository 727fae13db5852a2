"""Extractors that misbehave on pages that say so. Their names are given to worker processes, which import them."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

leaked: list[bytearray] = []


def misbehaving(body: bytes, encoding: str, url: str) -> str:
    """Return a page's text, unless its URL asks for something else."""
    name = url.rpartition("/")[2].partition("?")[0].rstrip("0123456789")
    if name in _MISBEHAVIOUR:
        _MISBEHAVIOUR[name]()
    return re.sub("<[^>]*>", " ", body.decode(encoding))


def _loop() -> NoReturn:
    while True:
        pass


def _slow() -> None:
    # Of a core's time: on a busy machine two seconds may be next to none of it.
    started = time.process_time()
    while time.process_time() - started < 2:
        pass


def _hold() -> None:
    # Inside one call of C that never gives back the interpreter's lock.
    re.match("(a+)+$", "a" * 60 + "b")


def _orphaned(hang: Callable[[], object]) -> Callable[[], object]:
    def kill_who_asked_and_hang() -> None:
        os.kill(_who_asked(), signal.SIGKILL)
        hang()

    return kill_who_asked_and_hang


def _who_asked() -> int:
    # A worker is forked from a process that who asks has started; and the one is the other where it cannot be.
    parent = Path(f"/proc/{os.getppid()}")
    is_template = b"serve_forks" in parent.joinpath("cmdline").read_bytes()
    return int(parent.joinpath("stat").read_text().rpartition(")")[2].split()[1]) if is_template else os.getppid()


_MISBEHAVIOUR: dict[str, Callable[[], object]] = {
    "orphan-loop": _orphaned(_loop),
    "orphan-hold": _orphaned(_hold),
    "loop": _loop,
    "slow": _slow,
    "wait": lambda: time.sleep(2),
    "hold": _hold,
    "die": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "leak": lambda: leaked.append(bytearray(40_000_000)),
    "eat": lambda: leaked.append(bytearray(2_000_000_000)),
    "print": lambda: print("from an extractor"),
    "exit": lambda: os._exit(3),
}
