"""Hands its arguments, and all that a process takes over from its parent, to `tests.forked`, and ends as the process that is forked there.

It is run by its path, and loads next to nothing: it takes a hundredth of a second of a core.
"""

import json
import os
import resource
import signal
import socket
import sys

LIMITS = [name for name in dir(resource) if name.startswith("RLIMIT_")]


def ask(place: str, arguments: list[str], descriptors: list[int], environment: dict[str, str], directory: str) -> "socket.socket | None":
    """Ask for a process, and return the line on which its end is told; None where it has to be a new one."""
    limits = {name: resource.getrlimit(getattr(resource, name)) for name in LIMITS}
    told = {"arguments": arguments, "environment": environment, "directory": directory, "limits": limits}
    line = socket.socket(socket.AF_UNIX)
    line.connect(place)
    socket.send_fds(line, [b"f"], descriptors)
    line.sendall(json.dumps(told).encode() + b"\n")
    if line.recv(1) == b"y":
        return line
    line.close()
    return None


def end(line: socket.socket) -> int:
    """Return the exit code that is told, as `subprocess` has it."""
    with line, line.makefile() as told:
        return int(told.readline())


def main() -> None:
    """Be a process of these arguments."""
    place, *arguments = sys.argv[1:]
    line = ask(place, arguments, [0, 1, 2], dict(os.environ), os.getcwd())  # noqa: PTH109 - pathlib takes as long as all the rest
    if line is None:
        os.execv(sys.executable, [sys.executable, *arguments])
    code = end(line)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    # Nothing is left to be written, and to leave Python takes as long as to start it.
    os._exit(code)


if __name__ == "__main__":
    main()
