"""What recipes are tried on: the labelled pairs of `tests.quality.pairs` and the site of `tests.sites.installguide`.

Both are downloaded from Debian packages; directories given by the user keep them for the next run.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.contents_lost import links_of
from tests.quality import pairs
from tests.sites import installguide

if TYPE_CHECKING:
    from pathlib import Path

    from tests.quality.pairs import Pair


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pairs, those of further languages, and a site with its links. `bodies`: every page under its SHA-1; `site`: {path: SHA-1}."""

    pairs: list[Pair]
    languages: list[Pair]
    site: dict[str, str]
    links: dict[str, list[str]]
    bodies: dict[str, bytes]


def load(pages: Path, site: Path) -> Corpus:
    """Return the corpus in two directories, which are filled where they are empty.

    Raises:
        UnavailableError: the packages are not to be had here.
    """
    pages.mkdir(parents=True, exist_ok=True)
    whole, languages = pairs.build(pages), pairs.build(pages, pairs.LANGUAGES)
    if not (site / "index.html").exists():
        installguide.build(site)
    files = {"/" + str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*.html"))}
    keys = {path: hashlib.sha1(body, usedforsecurity=False).hexdigest() for path, body in files.items()}
    bodies = {source.sha1: (pages / source.sha1).read_bytes() for pair in (*whole, *languages) for source in pair.sources}
    bodies |= {keys[path]: body for path, body in files.items()}
    return Corpus(whole, languages, keys, {path: sorted(links_of(path, body, files)) for path, body in files.items()}, bodies)
