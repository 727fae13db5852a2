"""Sites that nothing was tuned on: manuals in two releases of Debian, some in several languages, one with a mirror.

    python -m benchmarks.crawl.manuals DIRECTORY [--sites handbooks,python,widgets] [--orders 2]

Builds each site in a directory of its name, unless it is there, and prints what the default loses of it, as `benchmarks.quality.kinds`
does. Packages are downloaded by name and unpacked; nothing is installed. Pages stand below the name of the release as they stand below
/usr/share in their package, so that their links lead to each other; `/index.html` links to the first page of each manual. `VERSIONS.txt`
says what was got.

    handbooks  the Debian handbook, reference, FAQ, aptitude's manual and others, in English, German, French and Italian
    python     the manuals of Python, Django and Sphinx, and a mirror of one release of the first
    widgets    the interfaces of GLib, Pango and GTK 3: one page a class, or thousands of short pages, by release
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from benchmarks.quality.kinds import Site as KindOfSite, judge, table
from tests.quality.pairs import download_releases

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
"""The releases, and the version of Python that each has."""


CONTAINER = '(//div[@itemprop="articleBody"] | //section[@id="main"] | //div[@id="main"] | //div[@class="body"] | //div[@id="content"])[1]'


class Site(NamedTuple):
    """The packages of a site; which of their pages are copied; by which names manuals begin; and which release has a mirror."""

    packages: tuple[str, ...]
    pages: str = ""
    starts: str = r"index\.html"
    mirror: str = ""


_LANGUAGES = ("de", "fr", "it")
SITES = {
    "handbooks": Site(
        (
            "debian-handbook",
            "developers-reference",
            "maint-guide",
            "debmake-doc",
            "debian-faq",
            "debian-reference-en",
            "aptitude-doc-en",
            *(f"{name}-{language}" for name in ("debian-reference", "developers-reference", "debian-faq") for language in _LANGUAGES),
            *(f"aptitude-doc-{language}" for language in ("fr", "it")),
        ),
        pages=r"(?!.*debian-handbook/html/(?!(?:en-US|de-DE|fr-FR|it-IT)/))",
        starts=r"index(?:\.\w\w)?(?:\.\w\w)?\.html",
    ),
    "python": Site(("pythonVERSION-doc", "python-django-doc", "sphinx-doc"), mirror="bookworm/doc/python3.11"),
    "widgets": Site(("libglib2.0-doc", "libpango1.0-doc", "libgtk-3-doc")),
}


def build(name: str, root: Path) -> None:
    """Build a site in a directory.

    Raises:
        UnavailableError: one of its packages is not to be had here.
    """
    site, versions = SITES[name], []
    with tempfile.TemporaryDirectory() as work:
        wanted = {release: [name.replace("VERSION", version) for name in site.packages] for release, version in PYTHONS.items()}
        for release, packages in download_releases(wanted, Path(work)).items():
            for package in packages:
                subprocess.run(["dpkg-deb", "-x", package, unpacked := package.with_suffix("")], check=True)
                _copy(unpacked / "usr/share", root / release, re.compile(site.pages))
                shutil.rmtree(unpacked)
                versions.append(f"{release} {package.stem}\n")
    if site.mirror:
        shutil.copytree(root / site.mirror, root / "mirror" / Path(site.mirror).name)
    starts = [page.relative_to(root).as_posix() for page in root.rglob("*.html") if re.fullmatch(site.starts, page.name)]
    links = "\n".join(f'<li><a href="/{start}">{start}</a></li>' for start in sorted(starts))
    (root / "index.html").write_text(f"<!DOCTYPE html><html><head><title>start</title></head><body><ul>{links}</ul></body></html>")
    (root / "VERSIONS.txt").write_text("".join(versions))


def _copy(source: Path, target: Path, pages: re.Pattern[str]) -> None:
    for page in source.rglob("*.html"):
        path = page.relative_to(source)
        if page.is_file() and not page.is_symlink() and pages.match(path.as_posix()):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target / path)


def main() -> None:
    """Build the sites and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--sites", default=",".join(SITES))
    parser.add_argument("--orders", type=int, default=2)
    options = parser.parse_args()
    results = {}
    for name in options.sites.split(","):
        root = options.directory / name
        if not root.exists():
            root.mkdir(parents=True)
            build(name, root)
        results[name] = judge(KindOfSite.read(root, CONTAINER), orders=options.orders)
    Console(width=140).print(table(results))


if __name__ == "__main__":
    main()
