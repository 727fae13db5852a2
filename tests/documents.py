"""Runs what stands in the documentation, and compares what comes out with what the documentation says.

Of a Markdown page, blocks of `console` are run in order: lines after `$ ` are commands, the others what they print on a terminal; a line
`...` stands for any lines. A block of `python` whose first line is a comment with a path is a file: it is written, or appended to one
that is there. What differs from run to run (times, sizes on disk) is compared by its form only.

    python -m tests.documents docs/tutorial.md

runs a page and writes what was really printed into it; into docs/reference.md and settings_example.py, the settings as they are.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from shutil import copytree, ignore_patterns
from struct import pack
from tempfile import TemporaryDirectory
from termios import TIOCSWINSZ
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from simcrawl.config import SETTINGS
from simcrawl.store import open_store
from tests.crawl.server import DirectorySite
from tests.forked import commands
from tests.settings_pages import SETTINGS_PAGES, renewed_settings
from tests.sites import installguide

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
COLUMNS = 130
SERVERS = ("python -m simcrawl.crawl.demo_server", "python site.py")
SHOWN_PORT = ":18000"
WALK = "walk"
_TOKENS = re.compile(r"\x1b\[(?P<count>[0-9;?]*)(?P<what>[A-Za-z])|\x1b\][^\x07]*\x07|\r|\n|[^\x1b\r\n]+")
_VARIES = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\+00:00)?"), "TIME"),
    (re.compile(r"datetime\.datetime\([^)]*\)+"), "TIME"),
    (re.compile(r"(seconds\S* )\d+\.\d+"), r"\1SECONDS"),
    (re.compile(r"at \d+ pages/min"), "at N pages/min"),
    (re.compile(r"Scrapy [\d.]+|python3\.\d+"), "VERSION"),
    (re.compile(r"[\d.,]+ ?[kMG]B"), "SIZE"),
    (re.compile(r"(bytes\W+)[\d,]+"), r"\1SIZE"),
    (re.compile(r"([─━═ -])\1+"), r"\1"),
)


@dataclass
class Block:
    """A fenced block: its language, its lines, and the number of its first line in the page."""

    language: str
    lines: list[str]
    start: int

    @property
    def path(self) -> str | None:
        """Where a block that is a file goes."""
        named = re.fullmatch(r"# ([\w/.-]+\.(?:py|cfg))", self.lines[0]) if self.lines else None
        return named[1] if named and self.language == "python" else None

    def commands(self) -> Iterator[tuple[str, list[str], int]]:
        """Yield each command of a console, what it prints, and the number of the first line of that."""
        starts = [number for number, line in enumerate(self.lines) if line.startswith("$ ")]
        for number, after in zip(starts, [*starts[1:], len(self.lines)], strict=True):
            yield self.lines[number][2:], self.lines[number + 1 : after], self.start + number + 1


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    found: list[Block] = []
    inside = False
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.startswith("```"):
            inside = not inside
            if inside:
                found.append(Block(line[3:], [], number + 1))
        elif inside:
            found[-1].lines.append(line)
    return found


class Shell:
    """A terminal in a directory, and the site beside it that a page asks for; or another one, given by its address."""

    def __init__(self, directory: Path, site: str = "") -> None:
        self._root = self.directory = directory
        self._given = bool(site)
        self._port = f":{urlsplit(site).port}" if site else SHOWN_PORT
        self._server: subprocess.Popen[str] | None = None
        self._commands = TemporaryDirectory()
        path = os.pathsep.join((str(commands(Path(self._commands.name))), str(Path(sys.executable).parent), os.environ["PATH"]))
        self._env = os.environ | {"PATH": path, "TERM": "xterm", "COLUMNS": str(COLUMNS)}
        self._names = {str(directory.resolve()): "/home/me", sys.prefix: "/home/me/venv"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._commands.cleanup()

    def run(self, command: str) -> list[str]:
        """Run a command and return the lines that it shows."""
        if command.startswith("cd "):
            self._enter(command[3:])
            return []
        if command.startswith(SERVERS):
            return self._serve(command)
        self._make_stores(*re.findall(r"SIMCRAWL_STORE=(\w+)", command))
        ours, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, pack("HHHH", 50, COLUMNS, 0, 0))
        real = command.replace(SHOWN_PORT, self._port)
        process = subprocess.Popen(
            ["bash", "-c", real], cwd=self.directory, env=self._env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        shown = b""
        with process, suppress(OSError):  # how Linux says that the other end is closed
            while chunk := os.read(ours, 65536):
                shown += chunk
        os.close(ours)
        text = "\n".join(screen(shown.decode()))
        for name, shown_name in (self._names | {self._port: SHOWN_PORT}).items():
            text = text.replace(name, shown_name)
        return text.splitlines()

    def _enter(self, directory: str) -> None:
        self.directory = (self.directory / directory).resolve()
        self._make_stores("simcrawl", "recrawl")

    def _make_stores(self, *names: str) -> None:
        """Make stores of one seed, so that estimates come out the same."""
        if (self.directory / "scrapy.cfg").exists():
            for name in names:
                open_store(self.directory / ".scrapy" / name, seed=1).close()

    def _serve(self, command: str) -> list[str]:
        """Serve a site in a terminal of its own, in the place of the last one; first on a free port, whatever port the page shows."""
        if self._given:
            return []
        self._stop()
        port = self._port[1:] if self._port != SHOWN_PORT else "0"
        self._server = subprocess.Popen(
            ["bash", "-c", f"exec {command} {port}"], cwd=self._root, env=self._env, stdout=subprocess.PIPE, text=True
        )
        assert self._server.stdout
        line = self._server.stdout.readline().rstrip()
        found = re.search(r":\d+", line)
        assert found, line
        self._port = found[0]
        return [line.replace(self._port, SHOWN_PORT)]

    def _stop(self) -> None:
        if self._server:
            self._server.terminate()
            self._server.communicate()

    def write(self, path: str, lines: list[str]) -> None:
        """Write a file, or append to it."""
        with (self.directory / path).open("a") as file:
            file.write("\n".join(lines).replace(SHOWN_PORT, self._port) + "\n")


def screen(shown: str) -> list[str]:
    """Return the lines that stay on a terminal: progress bars move the cursor up and wipe what they wrote."""
    lines, row, column = [""], 0, 0
    for token in _TOKENS.finditer(shown):
        text = token[0]
        if text == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif text == "\r":
            column = 0
        elif token["what"] == "A":
            row = max(0, row - int(token["count"] or 1))
        elif token["what"] == "K":
            lines[row] = "" if token["count"] == "2" else lines[row][:column]
        elif not text.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]


def play(page: Path, shell: Shell) -> Iterator[tuple[list[str], list[str], int]]:
    """Run a page, and yield what each command should print, what it printed, and the line of the page."""
    for block in blocks(page):
        if block.path:
            shell.write(block.path, block.lines[1:])
        elif block.language == "console":
            for command, expected, number in block.commands():
                yield expected, shell.run(command), number


def same(line: str) -> str:
    """Return a line without what differs from run to run."""
    for pattern, replacement in _VARIES:
        line = pattern.sub(replacement, line)
    return line.strip()


def segments(lines: list[str]) -> list[list[str]]:
    """Return the runs of lines between the lines `...`."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == "...":
            found.append([])
        else:
            found[-1].append(line)
    return found


def difference(expected: list[str], printed: list[str]) -> str:
    """Return what is not as expected; empty where all is."""
    wanted, real = [list(map(same, part)) for part in segments(expected)], list(map(same, printed))
    place = 0
    for number, part in enumerate(wanted):
        found = _find(part, real, place, at_start=not number, at_end=number == len(wanted) - 1)
        if found is None:
            return "\n".join(["expected:", *part, "", "printed:", *real[place:]])
        place = found + len(part)
    return ""


def _find(part: list[str], lines: list[str], place: int, *, at_start: bool, at_end: bool) -> int | None:
    last = len(lines) - len(part)
    tried = range(last, last + 1) if at_end else range(place, (place if at_start else last) + 1)
    if at_start and at_end and last:
        return None
    return next((start for start in tried if start >= place and lines[start : start + len(part)] == part), None)


def renewed(expected: list[str], printed: list[str]) -> list[str]:
    """Return what was printed, left out where the page leaves out: a part is found by how its first line begins, numbers aside.

    A line that differs in a time or a size only stays as it is. A part is as long as it was, but for the last one, which goes to the end.
    """
    known = {_form(line): line for line in expected}
    printed = [known.get(_form(line), line) for line in printed]
    parts = segments(expected)
    new: list[str] = []
    place = 0
    for number, part in enumerate(parts):
        start = _begin(part, printed, place) if number else 0
        place = start + len(part) if number < len(parts) - 1 else len(printed)
        new += [*(["  ..."] if number else []), *printed[start:place]]
    return new


def _begin(part: list[str], printed: list[str], place: int) -> int:
    """Return where a part begins: at the line that begins like its first one for longest. An empty one that ends a page is at the end."""
    if not part:
        return len(printed)
    first = _shape(part[0])
    return max(range(place, len(printed)), key=lambda at: _shared(first, _shape(printed[at])), default=place)


def _shared(a: str, b: str) -> int:
    """Return how many characters two lines begin with in common."""
    return next((at for at, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))


def _form(line: str) -> tuple[str, str]:
    return same(line), re.sub(r"\d", "0", line)


def _shape(line: str) -> str:
    return re.sub(r"\d+", "0", same(line))


def main() -> None:
    """Renew the pages that the arguments name."""
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        if page in [ROOT / document for document in SETTINGS_PAGES]:
            page.write_text("\n".join(renewed_settings(page)) + "\n")
            sys.stdout.write(f"{name}: {len(SETTINGS)} settings\n")
            continue
        lines = page.read_text().splitlines()
        with TemporaryDirectory() as directory, _site_of(page) as site, Shell(Path(directory), site) as shell:
            prepare(page, shell)
            changes = [(number, expected, renewed(expected, printed)) for expected, printed, number in play(page, shell)]
        for number, expected, new in reversed(changes):
            lines[number - 1 : number - 1 + len(expected)] = new
        page.write_text("\n".join(lines) + "\n")
        sys.stdout.write(f"{name}: {len(changes)} commands\n")


@contextmanager
def _site_of(page: Path) -> Iterator[str]:
    """Yield the address of the site that a page's own commands do not serve; empty where there is none."""
    if page.stem != WALK:
        yield ""
        return
    with TemporaryDirectory() as root:
        installguide.build(Path(root))
        with DirectorySite(Path(root)) as site:
            yield site.url()


def prepare(page: Path, shell: Shell) -> None:
    """Make what a page takes for granted: the tutorial's project and its site being served, or the files beside the page."""
    if page.stem == "README":
        copytree(page.parent, shell.directory, dirs_exist_ok=True, ignore=ignore_patterns(".scrapy", "*.jsonl", "__pycache__"))
    elif page.stem not in {"tutorial", WALK}:
        for block in blocks(page.with_name("tutorial.md")):
            if block.path:
                shell.write(block.path, block.lines[1:])
            elif block.language == "console":
                for command, _, _ in block.commands():
                    if command.startswith(("scrapy startproject", "cd ", *SERVERS)):
                        shell.run(command)


if __name__ == "__main__":
    main()
