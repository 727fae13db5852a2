"""The table of common words that ships with simcrawl: made here, from manuals in Debian packages and jieba's document frequencies.

    python -m benchmarks.quality.common_words [--packages DIRECTORY] [--write]

Prints for each group of texts how many words were counted and how many are common. `--write` replaces `simcrawl/page/common_words.z`; the
recipes that use the table then mean something else, so do that with a new number of the table only. Packages are downloaded by name, into
a directory that keeps them for the next run.

A *document* is a page, or each `_PIECE` units of a longer one. A word's document frequency is averaged over the sources of its group, so
that a large manual counts as much as a small one; what only one of three or more sources says is left out. Groups are languages, and
kinds of pages with phrases of their own (references of programs); the table has the greatest frequency of any group.

The manuals that measure how well fingerprints spread (Python's, PostgreSQL's, LibreOffice's in English, Chinese and Japanese, the
installation guide) are none of the sources.
"""

from __future__ import annotations

import argparse
import gettext
import math
import random
import re
import subprocess
import tempfile
import zlib
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

import simcrawl.page.common_words as table
from simcrawl.page.cut import terms, units
from simcrawl.page.fingerprint import page_texts
from tests.quality import pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

RELEASE = "bookworm"
LARGEST = 4000
"""Words of a group, at most."""
EDGE = 0.03
"""The document frequency from which on a word is common."""

_PIECE = 500
# jieba counted short documents: not half of them have the commonest word. So many of them are taken for one here.
_OF_JIEBA = 4
_FEWEST = 50
_MOST = 300
_NATIVE = {
    "ar": "\u0600-\u06ff",
    "fa": "\u0600-\u06ff",
    "ja": "\u3040-\u30ff\u4e00-\u9fff",
    "km": "\u1780-\u17ff",
    "ko": "\uac00-\ud7af",
    "ru": "\u0400-\u04ff",
    "th": "\u0e00-\u0e7f",
    "zh": "\u4e00-\u9fff",
}


class Source(NamedTuple):
    """Files of a package."""

    package: str
    folder: str = ""


def _gnome(language: str) -> Source:
    return Source("gnome-user-docs", f"usr/share/help/{language}/")


def _handbook(language: str) -> Source:
    return Source("debian-handbook", f"usr/share/doc/debian-handbook/html/{language}/")


def _european(language: str, country: str) -> list[Source]:
    help_pages = [Source(f"libreoffice-help-{'pt-br' if language == 'pt' else language}")]
    return [*help_pages, Source(f"libreoffice-l10n-{language}"), _gnome(language), _handbook(f"{language}-{country}")]


GROUPS: dict[str, list[Source]] = {
    "ar": [Source("libreoffice-l10n-ar"), _handbook("ar-MA")],
    "de": _european("de", "DE"),
    "en": [
        Source("apache2-doc", "usr/share/doc/apache2-doc/manual/en/"),
        Source("aptitude-doc-en"),
        Source("bind9-doc"),
        Source("cmake-doc"),
        Source("debian-faq"),
        Source("debian-history"),
        Source("debian-policy"),
        Source("debian-reference-en"),
        Source("developers-reference"),
        Source("erlang-doc"),
        Source("exim4-doc-html"),
        Source("gimp-help-en"),
        Source("git-doc"),
        Source("octave-doc"),
        Source("postfix-doc"),
        Source("python-django-doc"),
        Source("r-doc-html"),
        Source("sqlite3-doc"),
        _gnome("C"),
        _handbook("en-US"),
    ],
    "es": _european("es", "ES"),
    "fa": [Source("libreoffice-l10n-fa"), Source("gimp-help-fa"), _gnome("fa"), _handbook("fa-IR")],
    "fr": _european("fr", "FR"),
    "it": _european("it", "IT"),
    "ja": [
        Source("apache2-doc", "usr/share/doc/apache2-doc/manual/ja/"),
        Source("aptitude-doc-ja"),
        Source("debian-edu-doc-ja"),
        Source("debian-faq-ja"),
        Source("debian-policy-ja"),
        Source("kicad-doc-ja"),
        Source("maint-guide-ja"),
        _gnome("ja"),
    ],
    "java": [
        Source("libbcel-java-doc"),
        Source("libcommons-httpclient-java-doc"),
        Source("libcommons-io-java-doc"),
        Source("libcommons-math3-java-doc"),
        Source("liblog4j1.2-java-doc"),
    ],
    "km": [Source("libreoffice-l10n-km"), Source("libreoffice-help-km")],
    "ko": [Source("libreoffice-help-ko"), Source("gimp-help-ko"), Source("debian-faq-ko"), _gnome("ko")],
    "nl": _european("nl", "NL"),
    "pl": _european("pl", "PL"),
    "pt": _european("pt", "BR"),
    "ru": _european("ru", "RU"),
    "th": [Source("libreoffice-l10n-th"), Source("squid-langpack", "usr/share/squid-langpack/th/")],
    "zh": [
        Source("debian-edu-doc-zh-cn"),
        Source("gimp-help-zh-cn"),
        Source("kicad-doc-zh"),
        Source("linuxcnc-doc-zh-cn"),
        Source("maint-guide-zh-cn"),
        _gnome("zh_CN"),
    ],
}


def frequencies(root: Path) -> dict[str, dict[str, float]]:
    """Return {group: {word: document frequency}} of the packages that are unpacked in a directory, and of jieba's dictionary."""
    found = {group: _of_group(group, sources, root) for group, sources in GROUPS.items()}
    return found | {"zh, jieba": _of_jieba()}


def common(frequency: Mapping[str, float]) -> dict[str, float]:
    """Return the words of a group that are common, with their frequencies."""
    most = sorted(((share, word) for word, share in frequency.items() if share > EDGE), reverse=True)
    return {word: share for share, word in most[:LARGEST]}


def levels(groups: Iterable[Mapping[str, float]]) -> dict[str, int]:
    """Return how much each word weighs, in parts of `table.LEVELS`: by its information, of that of a word that is just not common."""
    greatest: dict[str, float] = defaultdict(float)
    for frequency in groups:
        for word, share in frequency.items():
            greatest[word] = max(greatest[word], share)
    weighed = {word: round(table.LEVELS * math.log(1 / min(1, share)) / math.log(1 / EDGE)) for word, share in greatest.items()}
    return {word: max(1, level) for word, level in weighed.items() if level < table.LEVELS}


def packed(weighed: Mapping[str, int]) -> bytes:
    """Return what `table` reads."""
    lines = [" ".join(sorted(word for word, level in weighed.items() if level == line)) for line in range(1, table.LEVELS)]
    return zlib.compress("\n".join(lines).encode(), 9)


def _of_group(group: str, sources: Iterable[Source], root: Path) -> dict[str, float]:
    counted = [made for source in sources if (made := _shares(_documents(root, source, group)))]
    several: Counter[str] = Counter(word for shares in counted for word in shares)
    least = 2 if len(counted) > 2 else 1
    return {word: sum(shares.get(word, 0) for shares in counted) / len(counted) for word, said in several.items() if said >= least}


def _shares(documents: Iterable[str]) -> dict[str, float]:
    counted: Counter[str] = Counter()
    number = 0
    for number, document in enumerate(documents, 1):  # noqa: B007 - the last one is the number of documents
        counted.update(set(terms(document)))
    return {word: times / number for word, times in counted.items()}


def _of_jieba() -> dict[str, float]:
    from jieba.analyse import TFIDF  # noqa: PLC0415 - loads a dictionary

    shares = {word: math.exp(-idf) for word, idf in TFIDF().idf_freq.items() if terms(word) == [word]}
    return {word: 1 - (1 - share) ** _OF_JIEBA for word, share in shares.items()}


def _documents(root: Path, source: Source, group: str) -> Iterator[str]:
    """Yield the texts of a source that are in its language, each once."""
    files = sorted(path for path in (root / source.package / source.folder).rglob("*") if path.is_file() and _reader(path))
    random.Random(0).shuffle(files)
    seen = set()
    for path in files[: _MOST if files and files[0].suffix != ".mo" else None]:
        read = _reader(path)
        for piece in _pieces(read(path) if read else ""):
            if piece not in seen and _is_native(piece, group):
                seen.add(piece)
                yield piece


def _pieces(text: str) -> Iterator[str]:
    lines: list[str] = []
    number = 0
    for line in text.splitlines():
        lines.append(line)
        number += len(units(line))
        if number >= _PIECE:
            yield "\n".join(lines)
            lines, number = [], 0
    if number >= _FEWEST:
        yield "\n".join(lines)


def _is_native(text: str, group: str) -> bool:
    letters = re.findall(r"[^\W\d_]", text)
    return group not in _NATIVE or len(re.findall(f"[{_NATIVE[group]}]", text)) > len(letters) / 2


def _reader(path: Path) -> Callable[[Path], str] | None:
    if path.name.startswith("ERR_"):
        return _html
    return {".html": _html, ".htm": _html, ".page": _mallard, ".mo": _catalogue}.get(path.suffix)


def _html(path: Path) -> str:
    return page_texts(path.read_bytes())[0]


def _mallard(path: Path) -> str:
    page = etree.parse(path, etree.XMLParser(resolve_entities=False, recover=True))
    blocks = page.xpath("//*[local-name() = 'title' or local-name() = 'p' or local-name() = 'desc']")
    return "\n".join(" ".join("".join(block.itertext()).split()) for block in blocks)


def _catalogue(path: Path) -> str:
    with path.open("rb") as file:
        catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]  # noqa: SLF001 - there is no other way to all texts
    return "\n".join(text for key, text in sorted(catalogue.items(), key=lambda item: str(item[0])) if key)


def unpack(root: Path, packages: Iterable[str]) -> None:
    """Unpack the newest packages of a release into a directory, each under its name; those that are there stay as they are."""
    if missing := sorted({package for package in packages if not (root / package).exists()}):
        with tempfile.TemporaryDirectory() as work:
            for package in pairs.download_release(missing, RELEASE, Path(work)):
                subprocess.run(["dpkg-deb", "-x", package, root / package.name.partition("_")[0]], check=True)


def main() -> None:
    """Count, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        root = options.packages or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        root.mkdir(parents=True, exist_ok=True)
        unpack(root, (source.package for group in GROUPS.values() for source in group))
        counted = frequencies(root)
    chosen = {group: common(frequency) for group, frequency in counted.items()}
    for group, words in chosen.items():
        print(f"{group:10} {len(counted[group]):7} words, {len(words):5} common")
    weighed = levels(chosen.values())
    made = packed(weighed)
    print(f"{len(weighed)} words in all, {len(made)} bytes")
    if options.write:
        table.PATH.write_bytes(made)


if __name__ == "__main__":
    main()
