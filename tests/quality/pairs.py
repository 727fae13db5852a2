"""Labelled pairs of real pages, rebuilt by name from the documentation packages of three Debian releases.

`pairs.json.gz` (English, Chinese, Japanese) and `languages.json.gz` (Korean, Thai, Khmer, Arabic, Persian, and all of these mixed with
English; made by `benchmarks.quality.label`) have facts only: of each pair its label and where its two pages come from, with their SHA-1.
Labels are by an oracle that shares no code with simcrawl: the Jaccard resemblance of the 5-shingles of the pages' content containers,
near from 0.9, different below 0.5, grey between. `build` downloads the packages, checks every page, and leaves out the pairs whose pages
are no longer to be had in that version. Nothing is installed, and the machine's own package lists stay as they are.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote

from tests.shared import once

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

INDEX = Path(__file__).with_name("pairs.json.gz")
LANGUAGES = Path(__file__).with_name("languages.json.gz")
SUITES = ("bullseye", "bookworm", "trixie")
FEWEST = {INDEX: 400, LANGUAGES: 250}
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

Label = Literal["near", "grey", "diff"]


class UnavailableError(Exception):
    """The packages cannot be downloaded, or too few pairs remain of them."""


class Source(NamedTuple):
    """Where a page comes from, and its SHA-1, which is also the name of its file once it is built."""

    package: str
    version: str
    path: str
    sha1: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pages and what they are to each other. `source`: the manual, or "one x another" for two of different manuals."""

    id: str
    lang: str
    source: str
    kind: str
    label: Label
    jaccard5: float
    a: Source
    b: Source

    @property
    def sources(self) -> tuple[Source, Source]:
        """Both pages' sources."""
        return self.a, self.b


@cache
def index(path: Path = INDEX) -> tuple[Pair, ...]:
    """Return all pairs, whether their pages are to be had or not."""
    with gzip.open(path, "rt") as file:
        return tuple(Pair(**fields | {side: Source(*fields[side]) for side in "ab"}) for fields in json.load(file))


def build(root: Path, path: Path = INDEX) -> list[Pair]:
    """Put the pages into a directory, each under its SHA-1, and return the pairs of which both are there.

    Pages that are there already are not fetched again.

    Raises:
        UnavailableError: fewer pairs remain than `FEWEST` says.
    """
    every = index(path)
    missing = {source for pair in every for source in pair.sources if not (root / source.sha1).exists()}
    if missing:
        with tempfile.TemporaryDirectory() as work:
            _fetch(missing, Path(work), root)
    whole = [pair for pair in every if all((root / source.sha1).exists() for source in pair.sources)]
    if len(whole) < FEWEST[path]:
        raise UnavailableError(f"{len(whole)} of {len(every)} pairs have both their pages: the others' packages are no longer to be had")
    return whole


def _fetch(missing: set[Source], work: Path, root: Path) -> None:
    wanted: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for source in missing:
        wanted[source.package, source.version][source.path] = source.sha1
    for package in download(set(wanted), work):
        name, version, _ = package.name.split("_")
        _unpack(package, wanted[name, unquote(version)], root)


def download(wanted: set[tuple[str, str]], work: Path) -> list[Path]:
    """Download those of the packages that are to be had."""
    apt = _private_apt(work)
    rows = _run("apt-cache", *apt[1:], "madison", *sorted({name for name, _ in wanted}), check=False).splitlines()
    offered = {(name.strip(), version.strip()) for name, version, _ in (row.split("|") for row in rows)}
    if not offered & wanted:
        raise UnavailableError("none of the packages is offered by this machine's Debian mirror")
    # One that is gone since the lists were made fails alone: apt gets the others first.
    _run(*apt, "download", *(f"{name}={version}" for name, version in sorted(offered & wanted)), cwd=work, check=False)
    return sorted(work.glob("*.deb"))


def download_release(names: Iterable[str], release: str, work: Path) -> list[Path]:
    """Download packages as a release of Debian has them."""
    return download_releases({release: names}, work)[release]


def download_releases(wanted: Mapping[str, Iterable[str]], work: Path) -> dict[str, list[Path]]:
    """Download packages as each release of Debian has them: {release: names}."""
    apt = _private_apt(work)
    for release, names in wanted.items():
        (work / release).mkdir()
        _run(*apt, "download", *(f"{name}/{release}" for name in names), cwd=work / release)
    return {release: sorted((work / release).glob("*.deb")) for release in wanted}


_kept: list[Path] = []


def keep_lists(directory: Path) -> None:
    """Keep apt's lists in a directory from now on, which other processes may keep them in, too: they take ten seconds to fetch and read."""
    _kept[:] = [directory]


def _private_apt(work: Path) -> tuple[str, ...]:
    """Return the command of an apt with lists of its own, for all three releases at the mirror of the machine's apt."""
    work = _kept[0] if _kept else work / "apt"
    with once(work) as is_first:
        if is_first:
            for directory in ("state/lists/partial", "cache/archives/partial", "parts"):
                (work / directory).mkdir(parents=True, exist_ok=True)
            sources = (f"deb [signed-by={_KEYRING}] {uri} {suite} main\n" for uri, suite in _repositories())
            (work / "sources.list").write_text("".join(sources))
            # A suite that has left the mirror must not take the others along: what counts is which packages are found.
            _run(*_apt_of(work), "update", check=False)
    return _apt_of(work)


def _apt_of(work: Path) -> tuple[str, ...]:
    options = {
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Dir::State": work / "state",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": work / "cache",
        "Dir::Etc::sourcelist": work / "sources.list",
        "Dir::Etc::sourceparts": work / "parts",
    }
    return ("apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items()))


def _repositories() -> list[tuple[str, str]]:
    """Return (URI, suite) of the main archive, and of the security updates where the machine's apt knows them."""
    rows = _run("apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages").splitlines()
    known = dict(sorted(row.split(" ", 1) for row in rows))
    main = next((uri for release, uri in known.items() if release in SUITES), None)
    security = next((uri for release, uri in known.items() if release.endswith("-security")), None)
    if main is None:
        raise UnavailableError(f"this machine's apt has no mirror of Debian {', '.join(SUITES)}")
    return [(main, suite) for suite in SUITES] + [(security, f"{suite}-security") for suite in SUITES[1:] if security]


def _unpack(package: Path, wanted: dict[str, str], root: Path) -> None:
    """Write the wanted pages of a package whose SHA-1 is right, each under it."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpacking:
        assert unpacking.stdout
        for path, body in _members(unpacking.stdout, wanted):
            if hashlib.sha1(body, usedforsecurity=False).hexdigest() == wanted[path]:
                (root / wanted[path]).write_bytes(body)


def _members(stream: IO[bytes], wanted: Container[str]) -> list[tuple[str, bytes]]:
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        found = ((member.name.removeprefix("./"), member) for member in archive if member.isfile())
        return [(path, file.read()) for path, member in found if path in wanted and (file := archive.extractfile(member))]


def _run(*command: str, cwd: Path | None = None, check: bool = True) -> str:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError as exc:
        raise UnavailableError(f"the pairs come from Debian packages: this needs apt and dpkg-deb ({exc})") from exc
    if check and done.returncode:
        raise UnavailableError(f"{' '.join(command[-5:])}: {done.stdout}{done.stderr}")
    return done.stdout
