"""Chinese and Japanese manuals as two releases of Debian have them, side by side: some ten thousand pages, of which a fifth are copies.

`build` downloads nine packages of each release by name and unpacks them; nothing is installed. Pages stand below the name of the release
as they stand below /usr/share in their package, so that their links lead to each other.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.quality.pairs import download_release

RELEASES = ("bookworm", "trixie")
PACKAGES = (
    "libreoffice-help-zh-cn",
    "libreoffice-help-ja",
    "debian-reference-zh-cn",
    "debian-reference-ja",
    "debian-faq-zh-cn",
    "debian-handbook",
    "developers-reference-ja",
    "installation-guide-amd64",
    "gimp-help-ja",
)
CONTAINER = '//div[@id="DisplayArea"] | //div[@id="page-content"] | //div[@class="body"] | //div[@class="content"] | //div[@id="content"]'
"""Where the text of a page stands."""
_LANGUAGE = re.compile(r"[./](?:zh[-_]cn|ja|ja-jp)[./]", re.IGNORECASE)
_START = re.compile(r"index\b.*|main0\d+\.html")


def build(root: Path) -> None:
    """Build the site in a directory.

    Raises:
        UnavailableError: the packages are not to be had here.
    """
    for release in RELEASES:
        with tempfile.TemporaryDirectory() as work:
            for package in download_release(PACKAGES, release, Path(work)):
                unpacked = Path(work, package.stem)
                subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
                _copy(unpacked / "usr/share", root / release)
    starts = sorted(page.relative_to(root).as_posix() for page in root.rglob("*.html") if _START.fullmatch(page.name))
    links = "\n".join(f'<li><a href="/{start}">{start}</a></li>' for start in starts)
    (root / "index.html").write_text(f"<!DOCTYPE html><html><head><title>start</title></head><body><ul>{links}</ul></body></html>")


def _copy(source: Path, target: Path) -> None:
    """Copy the pages in these languages."""
    for page in source.rglob("*.html"):
        path = page.relative_to(source)
        if page.is_file() and _LANGUAGE.search(path.as_posix()):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target / path)
