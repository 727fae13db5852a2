"""Sites of kinds that the default recipe was not made with, each a document root built from Debian packages by name.

    php             PHP's manual: some ten thousand pages of one template, next to no copies
    javadoc         the API reference of two releases of Java, modules java.base and java.sql: nearly every page twice, often changed
    javadoc-all     all of its modules
    cppreference    a wiki: a reference of short pages that differ in a name, in the heading, and in boxes of links
    octave          a manual in two releases, a page for each section, many of a few sentences
    ikiwiki         a wiki with tips, plugins and news, in two releases
    kernel          the Linux kernel's documentation, by Sphinx with the theme of Read the Docs: many short pages, lists of cards
    crystal         an API reference: classes that inherit nearly all of what their pages list
    scala           another one, with longer lists
    doxygen         wxWidgets': each class once more as a list of all its members, all of these pages with one title

`build` downloads the packages and unpacks their pages; nothing is installed. A page stands below the name of its release, as it stands in
its package, so that two releases stand side by side as on a web server.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.quality.pairs import download_releases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Kind:
    """A site. `package`: its name in each release; `root`: where the pages stand in it; `pages`: what their paths below that match.

    `container`: XPath of the element that holds what a page says, by its template: the oracle's, never simcrawl's.
    """

    package: Mapping[str, str]
    root: str
    container: str
    pages: str = ".*"


_JAVA = {"bookworm": "openjdk-17-doc", "trixie": "openjdk-21-doc"}

KINDS = {
    "php": Kind({"trixie": "php-doc"}, "usr/share/doc/php-doc/html/", "//body"),
    "javadoc": Kind(_JAVA, "usr/share/doc/", "//main", r"openjdk-\d+-jre-headless/api/java\.(?:base|sql)/.*"),
    "javadoc-all": Kind(_JAVA, "usr/share/doc/", "//main", r"openjdk-\d+-jre-headless/api/.*"),
    "cppreference": Kind({"bookworm": "cppreference-doc-en-html"}, "usr/share/cppreference/doc/html/", '//div[@id="content"]'),
    "octave": Kind({"bookworm": "octave-doc", "trixie": "octave-doc"}, "usr/share/doc/octave/octave.html/", "//body"),
    "kernel": Kind({"bookworm": "linux-doc-6.1"}, "usr/share/doc/linux-doc-6.1/html/", '//div[@itemprop="articleBody"]'),
    "crystal": Kind({"bookworm": "crystal-doc"}, "usr/share/doc/crystal/api-docs/", '//div[@class="main-content"]'),
    "scala": Kind({"bookworm": "scala-doc"}, "usr/share/doc/scala-2.11/api/", "//body"),
    "doxygen": Kind({"bookworm": "wx3.2-doc"}, "usr/share/doc/wx3.2-doc/html/", "//body"),
    "ikiwiki": Kind({"bookworm": "ikiwiki", "trixie": "ikiwiki"}, "usr/share/doc/ikiwiki/html/", '//div[@id="content"]'),
}


def build(kinds: Mapping[str, Kind], roots: Path) -> None:
    """Build sites, each in a directory of its name.

    Raises:
        UnavailableError: a package is not to be had here.
    """
    if not kinds:
        return
    wanted: dict[str, set[str]] = defaultdict(set)
    for kind in kinds.values():
        for release, package in kind.package.items():
            wanted[release].add(package)
    with tempfile.TemporaryDirectory() as work:
        downloaded = download_releases(wanted, Path(work))
        archives = {(release, archive.name.split("_")[0]): archive for release, found in downloaded.items() for archive in found}
        for name, kind in kinds.items():
            for release, package in kind.package.items():
                _unpack(archives[release, package], kind, roots / name / release)


def _unpack(archive: Path, kind: Kind, root: Path) -> None:
    for path, body in _pages(archive, kind):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(body)


def _pages(archive: Path, kind: Kind) -> Iterator[tuple[str, bytes]]:
    chosen = re.compile(rf"{re.escape(kind.root)}(?P<path>{kind.pages})\.html")
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacking:
        assert unpacking.stdout
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as members:
            for member in members:
                match = chosen.fullmatch(member.name.removeprefix("./"))
                if match and member.isfile() and (file := members.extractfile(member)):
                    yield f"{match['path']}.html", file.read()
