"""The Debian installation guide as a web site: real pages in English, Chinese and Japanese with real copies and near-copies.

`build` downloads four Debian packages by name and unpacks them; nothing is installed. `python -m tests.sites.installguide PORT` serves
what it built. `/mirror/` is a byte-for-byte copy of `/amd64/`, and `/en.html` leads to the pages in English only. `Labels` says which
pages have the same content, by an oracle that shares no code with simcrawl: 5-shingles of the pages' content containers, connected at a
Jaccard resemblance of 0.9 or more. Labels and packages are of one version, that of Debian 12.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from urllib.parse import unquote, urlsplit

from tests.crawl.server import DirectorySite
from tests.quality import pairs

ARCHITECTURES = ("amd64", "i386", "arm64", "armhf")
VERSION = "20230508+deb12u1"
LANGUAGES = ("en", "zh_CN", "ja")
UnavailableError = pairs.UnavailableError
LABELS = Path(__file__).with_name("installguide.labels.json.gz")


def build(root: Path) -> None:
    """Build the site in a directory.

    Raises:
        UnavailableError: the packages of that version are not to be had here.
    """
    with tempfile.TemporaryDirectory() as work:
        _download(Path(work))
        for architecture in ARCHITECTURES:
            unpacked = Path(work, architecture)
            _run("dpkg-deb", "-x", str(next(Path(work).glob(f"*-{architecture}_*.deb"))), str(unpacked))
            for language in LANGUAGES:
                shutil.copytree(unpacked / f"usr/share/doc/installation-guide-{architecture}" / language, root / architecture / language)
    shutil.copytree(root / "amd64", root / "mirror")
    for name, languages in (("index", LANGUAGES), *((language, (language,)) for language in LANGUAGES)):
        links = (
            f'<li><a href="/{part}/{language}/index.html">{part} {language}</a></li>'
            for part in (*ARCHITECTURES, "mirror")
            for language in languages
        )
        head = '<!DOCTYPE html><html><head><meta charset="utf-8"><title>start</title></head><body>'
        (root / f"{name}.html").write_text(head + "<ul>" + "\n".join(links) + "</ul></body></html>")


def _download(work: Path) -> None:
    found = pairs.download({(f"installation-guide-{architecture}", VERSION) for architecture in ARCHITECTURES}, work)
    if len(found) < len(ARCHITECTURES):
        raise UnavailableError(f"of version {VERSION} only {', '.join(package.name for package in found)}")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError(f"{' '.join(command[-5:])}: {done.stdout}{done.stderr}")


@dataclass(frozen=True)
class Judgement:
    """What a crawl kept: shares of the site's distinct contents."""

    lost: float
    kept_per_content: float
    wrong: int


class Labels:
    """Which content each page has, of one language if one is given; pages of a few words have none."""

    def __init__(self, language: str = "") -> None:
        with gzip.open(LABELS, "rt") as file:
            content: dict[str, int | None] = json.load(file)
        self.content = {path: number for path, number in content.items() if not language or f"/{language}/" in path}

    def judge(self, kept: list[str], dropped: dict[str, str]) -> Judgement:
        """Judge a crawl by the URLs that it kept, and {dropped URL: original}."""
        everything = {content for content in self.content.values() if content is not None}
        contents = [content for url in kept if (content := self._content(url)) is not None]
        wrong = sum(self._content(url) is not None and self._content(url) != self._content(original) for url, original in dropped.items())
        return Judgement(1 - len(set(contents)) / len(everything), len(contents) / max(1, len(set(contents))), wrong)

    def _content(self, url: str) -> int | None:
        return self.content.get(unquote(urlsplit(url).path))


def main() -> None:
    """Build the site, and serve it until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tests.sites.installguide", description=__doc__)
    parser.add_argument("port", type=int, help="0: any that is free")
    port = parser.parse_args().port
    with tempfile.TemporaryDirectory() as root, suppress(KeyboardInterrupt):
        try:
            build(Path(root))
        except UnavailableError as exc:
            parser.exit(1, f"the installation guide of Debian 12 cannot be downloaded: {exc}\n")
        with DirectorySite(Path(root), port) as site:
            sys.stdout.write(f"The installation guide is at {site.url()} until you press Ctrl-C\n")
            sys.stdout.flush()
            Event().wait()


if __name__ == "__main__":
    main()
