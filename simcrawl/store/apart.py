"""A look into a store by a process of its own, or a copy of this one, for damage may end it: LMDB maps its file, and believes what it says.

The process prints a line of JSON for each thing that it has to tell, as a list: what it reads next, a problem, why the store cannot be
opened, and last that it is through. Where it ends without that, what it read last is what ended it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO

from simcrawl import errors
from simcrawl.system import no_dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from simcrawl.store.opening import tell_problems
tell_problems(sys.argv[2])
"""
_OPENING = "header"
_CURE = "data.mdb is damaged, or was cut short: restore the store from a backup, or start a new one"
# A process that dies has more to say than fits a line.
_MOST_SAID = 200
# How shells tell that a signal has ended a process.
_SHELL_SIGNAL = 128


def can_look_apart() -> bool:
    """Return whether this Python can start another one: it is an interpreter rather than a frozen program."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def problems_apart(path: Path) -> list[str]:
    """Return what is wrong with a store on disk, a line each, also where that ends the process that looks. Nothing is written.

    Raises:
        StoreError: it cannot be opened.
    """
    command = [sys.executable, "-P", "-c", _BOOT, json.dumps(sys.path), str(path)]
    reading, found, through = _OPENING, list[str](), False
    with TemporaryFile() as said, Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=said) as process:  # noqa: S603 - ours
        for line in process.stdout or ():
            kind, *told = json.loads(line)
            if kind == "refused" and reading == _OPENING and not found:
                raise getattr(errors, told[0])(told[1])
            reading = told[0] if kind == "reading" else reading
            through = through or kind == "through"
            found += {"problem": told, "refused": [f"{reading}: {told[-1]}"]}.get(kind, []) if told else []
        if process.wait() or not through:
            found.append(f"{reading}: reading it {_end(process.returncode, said)}: {_CURE}")
    return found


def _end(code: int, said: BinaryIO) -> str:
    if code < 0:
        return f"ended the process that did so ({signal.strsignal(-code)})"
    said.seek(0)
    last = said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"failed ({last[:_MOST_SAID] or code})"


def go_on_apart(path: Path | str) -> int | None:
    """Let a child of this process do the rest; return None in the child, and in this process, once that has ended, its exit code.

    For what ends by itself and only reads. Where a process cannot be copied safely there is no child, and None is returned.

    Raises:
        StoreCorruptError: what is at the path ended the child.
    """
    # Elsewhere libraries of the system do not outlive a fork.
    if sys.platform != "linux":
        return None
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    child = 0

    def pass_on(number: int, _: object) -> None:
        if not child:
            sys.exit(_SHELL_SIGNAL + number)
        os.kill(child, number)

    # What a terminal sends the child gets, too, and ends by it; what is sent to this process alone is passed on.
    wanted: dict[int, Any] = {signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: pass_on, signal.SIGHUP: pass_on}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    with warnings.catch_warnings():
        # Of threads: nothing that they may hold is used in the child.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        for number, handler in before.items():
            signal.signal(number, handler)
        no_dumps()
        return None
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (-signal.SIGBUS, -signal.SIGSEGV):
        raise errors.StoreCorruptError(f"reading {path} ended the process that did so ({signal.strsignal(-code)}): {_CURE}")
    return code if code >= 0 else _SHELL_SIGNAL - code


def tell(kind: str, *what: str) -> None:
    """Print what there is to tell, as whoever reads `problems_apart` expects it."""
    print(json.dumps([kind, *what]), flush=True)  # noqa: T201 - to the parent


def tell_all(problems: Callable[[Callable[[str], None]], Iterator[str]]) -> None:
    """Tell what is wrong. `problems`: yields it, and calls what it is given with the name of each thing before it reads that."""
    no_dumps()
    try:
        for problem in problems(lambda name: tell("reading", name)):
            tell("problem", problem)
    except errors.StoreError as exc:
        tell("refused", type(exc).__name__, str(exc))
    tell("through")
