"""How alike pages are, by three texts of each: an oracle that shares no code with simcrawl.

Texts are cut into words, Han characters and kana; their resemblance is the exact Jaccard of the sets of runs of five. All pairs of a site
from a resemblance on are found with MinHash in bands, and then verified exactly.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from lxml import etree, html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.html import HtmlElement
    from numpy.typing import NDArray

RUN = 5
# 16 bands of 8: of pairs at .9 one in ten thousand is missed, at .95 none; of those at .5 one in seventeen is looked at.
BANDS, ROWS = 16, 8
# What estimates of 128 values may fall short by: four standard deviations at .9.
_SLACK = 0.11
_TOKEN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_SPOKEN = ("alt", "placeholder", "value", "label", "aria-label", "srcdoc")
_UNSEEN = frozenset({"head", "script", "style", "noscript", "template"})
_AROUND = '//nav | //header | //footer | //div[(contains(@class, "nav") and not(.//*[@role="main"])) or @class="header"]'
_DATA = re.compile("json", re.IGNORECASE)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15))
_NUMBERS = np.random.default_rng(20240601)
_FACTORS = _NUMBERS.integers(0, 2**63, BANDS * ROWS, np.uint64) * np.uint64(2) + np.uint64(1)
_OFFSETS = _NUMBERS.integers(0, 2**63, BANDS * ROWS, np.uint64)


class Texts(NamedTuple):
    """A page's texts: all that a browser shows, navigation too; all there is; and that of the container of what the page says.

    `everything` has the title, attributes that are read or filled in, what stands in `noscript` and templates, and data in scripts, too.
    """

    visible: str
    everything: str
    main: str


def texts(body: bytes, container: str) -> Texts:
    """Return a page's texts. `container`: an XPath; a page without such an element is its own container. Navigation in it is left out."""
    tree = _parse(body)
    if tree is None:
        return Texts("", "", "")
    found = tree.xpath(container)
    main = found[0] if found else tree
    made = _Texts(main, frozenset(main.xpath(_AROUND)))
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        (made.open if event == "start" else made.close)(element)
    return Texts(*(" ".join(pieces) for pieces in made.texts))


class _Texts:
    """The pieces of a page's texts, collected in one walk. Most of its elements change nothing of where a text belongs."""

    def __init__(self, main: HtmlElement, around: frozenset[HtmlElement]) -> None:
        self.main, self.around = main, around
        # How many open elements say that a piece is no part of the visible text, of everything, and of the main text.
        self.hidden, self.code, self.outside = 0, 0, 1
        self.texts: list[list[str]] = [[], [], []]
        self._taking = self.texts[:2]

    def open(self, element: HtmlElement) -> None:
        self._count(element, 1)
        if not self.code and (names := element.keys()):
            self.texts[1].extend([element.get(name, "") for name in _SPOKEN if name in names])
        self._add(element.text)

    def close(self, element: HtmlElement) -> None:
        self._count(element, -1)
        self._add(element.tail)

    def _count(self, element: HtmlElement, by: int) -> None:
        is_main, is_around, is_unseen = element is self.main, element in self.around, element.tag in _UNSEEN
        if not (is_main or is_around or is_unseen):
            return
        if is_unseen:
            self.hidden += by
            self.code += by * (element.tag == "style" or (element.tag == "script" and not _DATA.search(element.get("type", ""))))
        self.outside += by * (is_around - is_main)
        left_out = self.hidden, self.code, self.hidden or self.outside
        self._taking = [pieces for pieces, out in zip(self.texts, left_out, strict=True) if not out]

    def _add(self, text: str | None) -> None:
        if text:
            for pieces in self._taking:
                pieces.append(text)


def _parse(body: bytes) -> HtmlElement | None:
    declared = re.search(rb"charset=[\"']?([\w-]+)", body[:3000])
    parser = html.HTMLParser(encoding=declared[1].decode() if declared else "utf-8", remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(body, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, LookupError):
        return None


@lru_cache(maxsize=500_000)
def _hash(token: str) -> int:
    return int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest())


def shingles(text: str) -> NDArray[np.uint64]:
    """Return the hashes of the text's runs of tokens, each once; a text of fewer tokens than that is one run."""
    tokens = _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())
    hashes = np.fromiter(map(_hash, tokens), np.uint64, len(tokens))
    length = min(RUN, len(hashes))
    made = np.zeros(max(0, len(hashes) - length + 1) if length else 0, np.uint64)
    for start in range(length):
        made = _mixed(made * _MIX[2] + hashes[start : start + len(made)] + np.uint64(start + 1))
    return np.unique(made)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * _MIX[0]
    x = (x ^ (x >> np.uint64(27))) * _MIX[1]
    return x ^ (x >> np.uint64(31))


def jaccard(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> float:
    """Return the share of two sets' union that is in both; 0 of two empty ones."""
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / max(1, len(a) + len(b) - shared)


def minhash(made: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the least of each of the hash functions."""
    least = np.full(BANDS * ROWS, np.iinfo(np.uint64).max, np.uint64)
    for start in range(0, len(made), 4096):
        part = made[start : start + 4096]
        least = np.minimum(least, _mixed(part[None, :] * _FACTORS[:, None] + _OFFSETS[:, None]).min(axis=1))
    return least


def alike(sets: Sequence[NDArray[np.uint64]], least: float) -> dict[tuple[int, int], float]:
    """Return the pairs (i, j), i < j, of sets whose resemblance is at least that much, and their resemblance."""
    hashes = np.stack([minhash(one) for one in sets]) if sets else np.empty((0, BANDS * ROWS), np.uint64)
    candidates: set[tuple[int, int]] = set()
    for start in range(0, BANDS * ROWS, ROWS):
        same: dict[bytes, list[int]] = defaultdict(list)
        for number, row in enumerate(hashes):
            if len(sets[number]):
                same[row[start : start + ROWS].tobytes()].append(number)
        candidates.update(pair for members in same.values() for pair in combinations(members, 2))
    close = (pair for pair in candidates if np.mean(hashes[pair[0]] == hashes[pair[1]]) >= least - _SLACK)
    return {pair: value for pair in sorted(close) if (value := jaccard(sets[pair[0]], sets[pair[1]])) >= least}
