"""A look into a store by a process of its own, for damage may end it: LMDB maps its file, and believes what stands there.

The process prints a line of JSON for each thing that it has to tell, as a list: what it reads next, a problem, why the store cannot be
opened, and last that it is through. Where it ends without that, what it read last is what ended it.
"""

from __future__ import annotations

import json
import signal
import sys
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

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
