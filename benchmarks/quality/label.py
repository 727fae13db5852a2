"""How the pairs of further languages were found and labelled: `tests/quality/languages.json.gz`.

    python -m benchmarks.quality.label [--packages DIRECTORY] [--output FILE.json.gz]

The pages are manuals and error pages of `PACKAGES`, which are downloaded (the directory keeps them). Labels are by an oracle that shares
no code with simcrawl and knows no trafilatura: the text of the container that the manual's template gives its content, cut into words
where the script has spaces and otherwise into characters, and the Jaccard resemblance of the sets of 5-shingles. A page of which from a
tenth to half of the letters are of its language, and the others Latin, is mixed: most translations have paragraphs that nobody has
translated yet, next to code and names. Pairs: a page and itself in another version, a page and the page of its manual that is most like
it, and pages by chance, so many of each label and language.

No Thai manual in HTML exists in Debian: Thai has the error pages of Squid, of about 200 characters. Khmer, the other unspaced script of
its family, has long pages.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import subprocess
import tarfile
import tempfile
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from lxml import html

from tests.quality.pairs import LANGUAGES, Source, download

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from tests.quality.pairs import Label

PACKAGES = {
    "apache2-doc": ("2.4.62-1~deb11u1", "2.4.68-1~deb13u1"),
    "debian-faq-ko": ("11.1", "12.2"),
    "debian-handbook": ("10.20200619", "11.20220922"),
    "debian-history": ("2.25", "2.28", "13.7"),
    "installation-guide-amd64": ("20230508+deb12u1", "20250803+deb13u1"),
    "libreoffice-help-km": ("1:7.0.4-4+deb11u10", "4:7.4.7-1+deb12u14", "4:25.2.3-2+deb13u6"),
    "libreoffice-help-ko": ("1:7.0.4-4+deb11u10", "4:7.4.7-1+deb12u14", "4:25.2.3-2+deb13u6"),
    "squid-langpack": ("20200403-1", "20220130-1"),
}
PATHS = {
    "apache2-doc": r"usr/share/doc/apache2-doc/manual/(?P<lang>ko)/(?P<page>.+)\.html",
    "debian-faq": r"usr/share/doc/debian/FAQ/(?P<lang>ko)/(?P<page>.+)\.html",
    "debian-handbook": r"usr/share/doc/debian-handbook/html/(?P<lang>ar|fa|ko)-[A-Z]{2}/(?P<page>.+)\.html",
    "debian-history": r"usr/share/doc/debian-history/docs/(?P<page>.+)\.(?P<lang>ko|th)\.html",
    "installation-guide": r"usr/share/doc/installation-guide-amd64/(?P<lang>ko)/(?P<page>.+)\.html",
    "libreoffice-help": r"usr/share/libreoffice/help/(?P<lang>km|ko)/text/(?P<page>.+)\.html",
    "squid-langpack": r"usr/share/squid-langpack/(?P<lang>th)/(?P<page>ERR_\w+)",
}
CONTAINERS = ('//div[@id="DisplayArea"]', '//div[@id="page-content"]', '//div[@class="body"]', '//div[@id="content"]', "//body")
FURNITURE = (
    '//div[@class="navheader"]',
    '//div[@class="navfooter"]',
    '//ul[contains(@class,"docnav")]',
    '//p[@id="title"]',
    '//div[@id="comments_thread"]',
    "//head | //script | //style | //noscript | //template",
)
BREAKS = ("p", "div", "li", "td", "th", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "br", "dt", "dd", "table", "ul", "ol", "dl", "hr")
SCRIPTS = {
    "ar": re.compile("[\u0600-\u06ff\ufb50-\ufdff\ufe70-\ufeff]"),
    "fa": re.compile("[\u0600-\u06ff\ufb50-\ufdff\ufe70-\ufeff]"),
    "km": re.compile("[\u1780-\u17ff]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7af]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
SPACED = {"ar", "fa"}
MIXED = "mixed"
LEAST_SHARE, WHOLE_SHARE = 0.1, 0.5
NEAR, DIFFERENT = 0.9, 0.5
SHINGLE = 5
FEWEST_SHINGLES = 20
MOST: dict[Label, int] = {"near": 30, "grey": 20, "diff": 25}
MOST_IDENTICAL = 8
"""Of the near pairs: those whose texts are the same are easy."""
_PAGES = 200


class Taken(NamedTuple):
    """A page, its shingles, and the share of its letters that are of its language's script."""

    source: Source
    manual: str
    lang: str
    page: str
    shingles: frozenset[int]
    share: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """Two pages and their resemblance."""

    a: Taken
    b: Taken
    kind: str
    jaccard: float

    @property
    def label(self) -> Label:
        """What the resemblance says that they are to each other."""
        return "near" if self.jaccard >= NEAR else "diff" if self.jaccard < DIFFERENT else "grey"

    @property
    def lang(self) -> str:
        """The language of both; mixed where one of them is."""
        return MIXED if min(self.a.share, self.b.share) < WHOLE_SHARE else self.a.lang

    def row(self, number: int) -> dict[str, object]:
        """Return what the index says of the pair."""
        source = self.a.manual if self.a.manual == self.b.manual else f"{self.a.manual} x {self.b.manual}"
        shared = {"lang": self.lang, "source": source, "kind": self.kind, "label": self.label, "jaccard5": round(self.jaccard, 4)}
        return {"id": f"{self.lang}-{number:03}", **shared, "a": self.a.source, "b": self.b.source}


def main() -> None:
    """Write the index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--output", type=Path, default=LANGUAGES)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        pages = [page for package in _packages(arguments.packages or Path(work)) for page in taken(package)]
    rows = [pair.row(number) for number, pair in enumerate(chosen(pairs_of(pages)), 1)]
    arguments.output.write_bytes(gzip.compress(json.dumps(rows, indent=0).encode(), mtime=0))
    for (lang, label), count in sorted(Counter((str(row["lang"]), str(row["label"])) for row in rows).items()):
        print(f"{lang:6} {label:5} {count}")


def _packages(work: Path) -> list[Path]:
    wanted = {(name, version) for name, versions in PACKAGES.items() for version in versions}
    if not list(work.glob("*.deb")):
        work.mkdir(parents=True, exist_ok=True)
        download(wanted, work)
    return [package for package in sorted(work.glob("*.deb")) if _name_and_version(package) in wanted]


def _name_and_version(package: Path) -> tuple[str, str]:
    name, version, _ = package.name.split("_")
    return name, unquote(version)


def taken(package: Path) -> Iterator[Taken]:
    """Yield the pages of a package that have text of their language, at most so many of each manual and language."""
    found = defaultdict(list)
    for path, body in _files(package):
        for manual, pattern in PATHS.items():
            if match := re.fullmatch(pattern, path):
                found[manual, match["lang"]].append((path, match["page"], body))
    for (manual, lang), pages in found.items():
        # By the hash of its name, so that a page is chosen in every version or in none.
        for path, page, body in sorted(pages, key=lambda entry: hashlib.sha1(entry[1].encode()).digest())[:_PAGES]:
            source = Source(*_name_and_version(package), path, hashlib.sha1(body).hexdigest())
            text = container_text(body)
            made = Taken(source, manual, lang, page, shingles(tokens(text, spaced=lang in SPACED)), native_share(text, lang))
            if len(made.shingles) >= FEWEST_SHINGLES and made.share >= LEAST_SHARE:
                yield made


def _files(package: Path) -> Iterator[tuple[str, bytes]]:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpacking:
        assert unpacking.stdout
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
            for member in archive:
                if member.isfile() and (file := archive.extractfile(member)):
                    yield member.name.removeprefix("./"), file.read()


def container_text(body: bytes) -> str:
    """Return the text of a page's content container, a break around every block."""
    tree: HtmlElement = html.document_fromstring(body, parser=html.HTMLParser(encoding=_encoding(body), remove_comments=True))
    for element in [found for path in FURNITURE for found in tree.xpath(path)]:
        element.drop_tree()
    container: HtmlElement = next(found[0] for path in CONTAINERS if (found := tree.xpath(path)))
    for element in container.iter(*BREAKS):
        element.text = f"\n{element.text or ''}"
        element.tail = f"\n{element.tail or ''}"
    return str(container.text_content())


def _encoding(body: bytes) -> str:
    declared = re.search(rb"charset=[\"']?([\w-]+)", body[:3000])
    return declared[1].decode() if declared else "utf-8"


def native_share(text: str, lang: str) -> float:
    """Return the share of the letters that are of a language's script."""
    letters = sum(character.isalpha() for character in text)
    return len([found for found in SCRIPTS[lang].findall(text) if found.isalpha()]) / max(1, letters)


def tokens(text: str, *, spaced: bool) -> list[str]:
    """Return words, or their characters; marks (vowels, in Thai and Khmer) belong to the word they stand in."""
    normal = unicodedata.normalize("NFKC", text).lower()
    words = "".join(character if unicodedata.category(character)[0] in "LMN" else " " for character in normal).split()
    return words if spaced else list("".join(words))


def shingles(tokens: list[str]) -> frozenset[int]:
    """Return the hashes of all runs of five tokens."""
    runs = {"\0".join(tokens[i : i + SHINGLE]) for i in range(len(tokens) - SHINGLE + 1)}
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest()) for run in runs)


def jaccard(a: frozenset[int], b: frozenset[int]) -> float:
    """Return the share of the union of two sets that is in both."""
    return len(a & b) / len(a | b)


def pairs_of(pages: list[Taken]) -> Iterator[Labelled]:
    """Yield pairs of pages of one language: other versions of a page, the most similar ones of a manual, and some by chance."""
    manuals: dict[tuple[str, str], list[Taken]] = defaultdict(list)
    for page in pages:
        manuals[page.lang, page.manual].append(page)
    for members in manuals.values():
        yield from _versions(members)
        yield from _hardest(members)
    chance = random.Random(0)
    for lang in sorted({page.lang for page in pages}):
        alike = [page for page in pages if page.lang == lang]
        for a, b in (chance.sample(alike, 2) for _ in range(400)):
            if (a.manual, a.page) != (b.manual, b.page):
                kind = "same-site-random" if a.manual == b.manual else "cross-site-random"
                yield Labelled(a, b, kind, jaccard(a.shingles, b.shingles))


def _versions(members: list[Taken]) -> Iterator[Labelled]:
    pages: dict[str, list[Taken]] = defaultdict(list)
    for member in members:
        pages[member.page].append(member)
    for versions in pages.values():
        for a, b in combinations(versions, 2):
            found = jaccard(a.shingles, b.shingles)
            yield Labelled(a, b, "same-page-other-version" if found >= DIFFERENT else "same-page-rewritten", found)


def _hardest(members: list[Taken]) -> Iterator[Labelled]:
    """Yield each page with the one of another name that has most in common with it."""
    holders: dict[int, list[int]] = defaultdict(list)
    for number, member in enumerate(members):
        for shingle in member.shingles:
            holders[shingle].append(number)
    for member in members:
        shared = Counter(number for shingle in member.shingles for number in holders[shingle])
        others = [number for number, _ in shared.most_common(20) if members[number].page != member.page]
        if others:
            best = max((members[number] for number in others), key=lambda other: jaccard(member.shingles, other.shingles))
            yield Labelled(member, best, "same-site-hard", jaccard(member.shingles, best.shingles))


def chosen(pairs: Iterable[Labelled]) -> list[Labelled]:
    """Return so many pairs of each language and label, none twice, manuals and kinds taking turns."""
    groups: dict[tuple[str, Label], dict[tuple[str, str], list[Labelled]]] = defaultdict(lambda: defaultdict(list))
    seen = set()
    for pair in pairs:
        key = frozenset((pair.a.source.sha1, pair.b.source.sha1))
        if len(key) == 2 and key not in seen:
            seen.add(key)
            groups[pair.lang, pair.label][pair.a.manual, pair.kind].append(pair)
    return [pair for (_, label), kinds in sorted(groups.items()) for pair in _in_turn(kinds, MOST[label])]


def _in_turn(kinds: dict[tuple[str, str], list[Labelled]], most: int) -> list[Labelled]:
    chance, identical = random.Random(0), 0
    queues = [chance.sample(pairs, len(pairs)) for _, pairs in sorted(kinds.items())]
    made: list[Labelled] = []
    while any(queues) and len(made) < most:
        for queue in filter(None, queues):
            pair = queue.pop()
            identical += pair.jaccard == 1
            if pair.jaccard < 1 or identical <= MOST_IDENTICAL:
                made.append(pair)
    return made[:most]


if __name__ == "__main__":
    main()
