"""The Debian installation guide as a web site: real pages in English, Chinese and Japanese with real copies and near-copies.

`build` downloads four Debian packages by name and unpacks them; nothing is installed. `/mirror/` is a byte-for-byte copy of
`/amd64/`. `Labels` says which pages have the same content, by an oracle that shares no code with simcrawl: 5-shingles of the pages'
content containers, connected at a Jaccard resemblance of 0.9 or more. It was made from version 20230508+deb12u1 of the packages.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

ARCHITECTURES = ("amd64", "i386", "arm64", "armhf")
LANGUAGES = ("en", "zh_CN", "ja")
LABELS = Path(__file__).with_name("installguide.labels.json.gz")


def build(root: Path) -> None:
    """Build the site in a directory."""
    with tempfile.TemporaryDirectory() as work:
        for architecture in ARCHITECTURES:
            package = f"installation-guide-{architecture}"
            unpacked = Path(work, architecture)
            _run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package, cwd=work)
            _run("dpkg-deb", "-x", str(next(Path(work).glob(f"{package}_*.deb"))), str(unpacked))
            for language in LANGUAGES:
                shutil.copytree(unpacked / "usr/share/doc" / package / language, root / architecture / language)
    shutil.copytree(root / "amd64", root / "mirror")
    links = (
        f'<li><a href="/{part}/{language}/index.html">{part} {language}</a></li>'
        for part in (*ARCHITECTURES, "mirror")
        for language in LANGUAGES
    )
    head = '<!DOCTYPE html><html><head><meta charset="utf-8"><title>start</title></head><body>'
    (root / "index.html").write_text(head + "<ul>" + "\n".join(links) + "</ul></body></html>")


def _run(*command: str, cwd: str | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed; is `apt-get update` needed?\n{done.stdout}{done.stderr}")


@dataclass(frozen=True)
class Judgement:
    """What a crawl kept: shares of the site's distinct contents."""

    lost: float
    kept_per_content: float
    wrong: int


class Labels:
    """Which content each page has; pages of a few words have none."""

    def __init__(self) -> None:
        with gzip.open(LABELS, "rt") as file:
            self.content: dict[str, int | None] = json.load(file)

    def judge(self, kept: list[str], dropped: dict[str, str]) -> Judgement:
        """Judge a crawl by the URLs that it kept, and {dropped URL: original}."""
        everything = {content for content in self.content.values() if content is not None}
        contents = [content for url in kept if (content := self._content(url)) is not None]
        wrong = sum(self._content(url) is not None and self._content(url) != self._content(original) for url, original in dropped.items())
        return Judgement(1 - len(set(contents)) / len(everything), len(contents) / max(1, len(set(contents))), wrong)

    def _content(self, url: str) -> int | None:
        return self.content.get(unquote(urlsplit(url).path))
