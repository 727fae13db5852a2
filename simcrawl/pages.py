"""One page -> `PageFingerprint`, or `Abstention` with a reason. Never an exception for what a page contains.

Everything here can run in another thread or process: values in, picklable values out. The decision about a page is not made
here.
"""

from __future__ import annotations

import hashlib
import math
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate, chain, pairwise
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

import numpy as np

from simcrawl.blocks import join
from simcrawl.features import cut_lines, fingerprint_features, fingerprint_hashes, hash_letters, hash_units, shingle_units, units
from simcrawl.recipes import EXTRACTOR, Recipe, load, resolve
from simcrawl.simhash import to_hex
from simcrawl.sketch import NO_PART, Part, sequences, shingles, sketch, weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from simcrawl.blocks import Block, Parts
    from simcrawl.extraction import Extract

MAX_PAGE_BYTES = 4_000_000
MAX_PAGE_SECONDS = 10.0
MAX_WORKER_BYTES = 1_000_000_000
# Extraction takes 18 s for 500,000 <p> and 9 s for 50,000 <article>: a page with more tags than this is left alone.
_MAX_TAGS = 100_000
# lxml's parser is quadratic in the distinct attributes of one tag (4 s for 30,000): look at the bytes before parsing them, as HTML's own
# tokenizer does. A > ends a tag but for one in a quoted value, and a quote begins a value after a name and = only. Possessive, and each
# byte is looked at in one tag only: linear, whatever the page. Most pages have no > in a quoted value; a plain tag's end is beyond doubt.
_QUOTED_END = re.compile(rb"=\s*+(?:\"[^\">]*+>|'[^'>]*+>)")
_PLAIN_TAG = rb"<[A-Za-z](?:[^>=\"']{1,64}+|=(?!\s*+[\"'])|=\"[^\">]*+(?<![=\s])\"|='[^'>]*+(?<![=\s])'){0,60}+>"
_PLAIN = re.compile(rb"(?:[^<]++|<(?![A-Za-z])|" + _PLAIN_TAG + rb")*+")
_ATTRIBUTE = rb"([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
_TAG = re.compile(rb"(?P<name><[A-Za-z][^\s/>]*+)(?:[\s/]++|" + _ATTRIBUTE + rb")*+")
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_MAX_ATTRIBUTES = 1_000
_LONG_TAG = 4_000
# libxml2 leaves out, without a word, all that comes after an element in which it is nested as deep as this.
_MAX_DEPTH = 255
_OTHER_FORMATS = (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"{", b"[")


class Reason(StrEnum):
    """Why a page takes no part in near-duplicate matching."""

    EMPTY = "empty"
    SHORT = "short"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    TOO_SLOW = "too_slow"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    NOT_HTML = "not_html"
    EXTRACTION_FAILED = "extraction_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is known of every page. Digests are 16 bytes, keyed with the seed.

    `text_length`: characters of the text that the fingerprint is of. `text`: the main text, and `content`: the content that is compared, a
    block a line; both on request only.
    """

    url: str
    recipe: str
    seed: int
    body_digest: bytes
    text_length: int = 0
    outlinks: int = 0
    text: str | None = field(default=None, compare=False, repr=False)
    content: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFingerprint(Page):
    """A page that can be compared: its fingerprint, and what verifies a candidate.

    `text_digest` is of the whole visible text, `links_digest` of the targets of the links as they stand in the page, `units` the number of
    words or unspaced characters of the content. `content_sketch` is of the content's shingles; `prose`, `links` and `around` are of
    blocks, see `simcrawl.blocks`.
    """

    fingerprint: int
    bits: int
    units: int
    text_digest: bytes
    links_digest: bytes
    content_sketch: bytes
    prose: Part = NO_PART
    links: Part = NO_PART
    around: Part = NO_PART

    @property
    def hex(self) -> str:
        """The fingerprint in hexadecimal, zero-padded."""
        return to_hex(self.fingerprint, bits=self.bits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention(Page):
    """A page that is not compared with others, and why. Its body can still be an exact copy of another one's."""

    reason: Reason


def page_key(url: str) -> str:
    """Return the URL under which a page is known: without its fragment, which no server sees."""
    return urldefrag(url).url


def digest(data: bytes, seed: int) -> bytes:
    """Return 16 bytes that stand for `data`.

    A keyed cryptographic hash: a page that someone crafted to share another page's digest would make that page vanish.
    """
    return hashlib.blake2b(data, digest_size=16, key=seed.to_bytes(8, "big")).digest()


def encode(html: bytes | str) -> bytes:
    """Return a page's bytes; text becomes UTF-8, and lone surrogates pass."""
    return html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html


def fingerprint_page(
    html: bytes | str,
    *,
    url: str = "",
    encoding: str | None = None,
    recipe: str | Recipe = "auto",
    seed: int = 0,
    max_bytes: int = MAX_PAGE_BYTES,
    max_seconds: float = MAX_PAGE_SECONDS,
    keep_text: bool = False,
    keep_content: bool = False,
    seconds: dict[str, float] | None = None,
) -> PageFingerprint | Abstention:
    """Return the page's fingerprint, or an abstention that says why it has none.

    `encoding`: what the HTTP client found; None to look at the page's own declaration (`str` needs neither). `seed` (below
    2**64) makes fingerprints comparable with those of the same seed only. A page that took longer than `max_seconds` is not
    interrupted; it abstains afterwards. `keep_text` keeps the main text in the result, `keep_content` the content.
    `seconds`: CPU seconds are added to its "extract" and "fingerprint".

    Raises:
        SettingError: there is no such recipe, or its extractor does not exist.
    """
    body = encode(html)
    work = _Work(resolve(recipe), seed, monotonic() + max_seconds, keep_text, keep_content)
    known: dict[str, Any] = {"url": page_key(url), "recipe": work.recipe.identity, "seed": seed, "body_digest": digest(body, seed)}
    if refusal := _refusal(body, max_bytes):
        return Abstention(reason=refusal, **known)
    extractor = None if work.recipe.extractor == EXTRACTOR else load(work.recipe.extractor)
    try:
        with _timed(seconds, "extract"):
            extract = _extract(body, "utf-8" if isinstance(html, str) else encoding, url, extractor, work)
        if extract.depth >= _MAX_DEPTH:
            return Abstention(reason=Reason.TOO_DEEP, **known)
        with _timed(seconds, "fingerprint"):
            return work.finish(extract, known)
    # Parsers and extractors raise anything at all on broken pages, RecursionError and MemoryError among them.
    except MemoryError:
        return Abstention(reason=Reason.OUT_OF_MEMORY, **known)
    except Exception:  # noqa: BLE001
        return Abstention(reason=Reason.EXTRACTION_FAILED, **known)


def abstain(html: bytes | str, *, url: str, recipe: Recipe, seed: int, reason: Reason) -> Abstention:
    """Return an abstention about a page that was not looked at, or not to the end."""
    return Abstention(url=page_key(url), recipe=recipe.identity, seed=seed, body_digest=digest(encode(html), seed), reason=reason)


@contextmanager
def _timed(seconds: dict[str, float] | None, stage: str) -> Iterator[None]:
    started = thread_time()
    yield
    if seconds is not None:
        seconds[stage] = seconds.get(stage, 0.0) + thread_time() - started


def fingerprint_text(text: str, *, url: str = "", recipe: str | Recipe = "auto", seed: int = 0) -> PageFingerprint | Abstention:
    """Return the fingerprint of a text that has no page around it, such as an item's field, by the same rules.

    Raises:
        SettingError: there is no such recipe.
    """
    from simcrawl.extraction import Extract, all_prose  # noqa: PLC0415 - as in _extract

    work = _Work(resolve(recipe), seed, math.inf, keep_text=False)
    known: dict[str, Any] = {"url": url, "recipe": work.recipe.identity, "seed": seed, "body_digest": digest(encode(text), seed)}
    return work.finish(Extract(text, all_prose(text), text), known)


def page_texts(html: bytes | str, *, url: str = "", encoding: str | None = None, recipe: str | Recipe = "auto") -> tuple[str, str]:
    """Return the text whose features make a page's fingerprint, and its whole visible text, both one block a line.

    For who looks at a page: crawls take both apart in one go. Empty where the page is not parsed.

    Raises:
        SettingError: there is no such recipe, or its extractor does not exist.
    """
    work, body = _Work(resolve(recipe), 0, math.inf, keep_text=False), encode(html)
    extractor = None if work.recipe.extractor == EXTRACTOR else load(work.recipe.extractor)
    try:
        if _refusal(body, MAX_PAGE_BYTES):
            return "", ""
        extract = _extract(body, "utf-8" if isinstance(html, str) else encoding, url, extractor, work)
        return work._source(extract, _Cut(extract.parts, 0))[0], extract.whole  # noqa: SLF001 - of this module
    except Exception:  # noqa: BLE001 - as in fingerprint_page
        return "", ""


def _refusal(body: bytes, max_bytes: int) -> Reason | None:
    """Return why a body is not even parsed; costs one pass over its bytes."""
    tags = body.count(b"<")
    if not tags or body.lstrip()[:8].startswith(_OTHER_FORMATS):
        return Reason.NOT_HTML if body.strip() else Reason.EMPTY
    if len(body) > max_bytes or tags > 2 * _MAX_TAGS or _has_too_many_attributes(body):
        return Reason.TOO_LARGE
    return None


def _has_too_many_attributes(body: bytes) -> bool:
    # The zero bytes of UTF-16 and UTF-32.
    body = body.replace(b"\0", b"")
    if max(map(len, body.split(b">"))) <= _LONG_TAG and not _QUOTED_END.search(body):
        return False
    end = 0
    while tag := _TAG.match(body, _PLAIN.match(body, end).end()):  # type: ignore[union-attr]  # it matches nothing at all, too
        start, end = tag.span()
        if end - start > _LONG_TAG and len(set(_ATTRIBUTES.findall(body, tag.end("name"), end))) > _MAX_ATTRIBUTES:
            return True
    return False


def _extract(body: bytes, encoding: str | None, url: str, extractor: Callable[[bytes, str, str], str] | None, work: _Work) -> Extract:
    # Loaded on first use: `import simcrawl` must not cost trafilatura's half second.
    from simcrawl.extraction import extract  # noqa: PLC0415

    wanted = work.recipe.source == "main" or work.keep_text
    return extract(body, encoding, url, extractor=extractor, main=wanted, tags=work.recipe.features.kind == "tags")


@dataclass(frozen=True, slots=True)
class _Work:
    """The second half of the pipeline: from texts to a fingerprint."""

    recipe: Recipe
    seed: int
    deadline: float
    keep_text: bool
    keep_content: bool = False

    def finish(self, extract: Extract, known: dict[str, Any]) -> PageFingerprint | Abstention:
        cut = _Cut(extract.parts, self.seed)
        content = extract.tags.split() or cut.units(extract.parts.content)
        source, lines = self._source(extract, cut)
        known |= {"text_length": len(source), "outlinks": extract.outlinks, "text": extract.main if self.keep_text else None}
        known["content"] = join(extract.parts.content) if self.keep_content else None
        fingerprint = self._fingerprint(source, lines, cut)
        if fingerprint is None or len(content) < self.recipe.min_features:
            return Abstention(reason=Reason.SHORT if content or units(extract.whole) else Reason.EMPTY, **known)
        if monotonic() > self.deadline:
            return Abstention(reason=Reason.TOO_SLOW, **known)
        return PageFingerprint(
            fingerprint=fingerprint,
            bits=self.recipe.bits,
            units=len(content),
            text_digest=digest(encode(extract.whole), self.seed),
            links_digest=digest(encode("\n".join(extract.links)), self.seed),
            **known,
            **self._sketches(content, extract, cut),
        )

    def _source(self, extract: Extract, cut: _Cut) -> tuple[str, int]:
        """Return the text that the features are taken from, and how many lines of the cut it is, 0 where it is another text.

        Where there is next to nothing of it, all of the content.
        """
        if extract.tags:
            return extract.tags, 0
        prose = extract.parts.prose
        if self.recipe.source == "prose" and cut.ends[len(prose)] >= self.recipe.min_features:
            return join(prose), len(prose)
        if self.recipe.source == "main" and len(units(extract.main)) >= self.recipe.min_features:
            return extract.main, 0
        return join(extract.parts.content), 0

    def _fingerprint(self, source: str, lines: int, cut: _Cut) -> int | None:
        """Return the fingerprint, None where there are no features."""
        spec, bits = self.recipe.features, self.recipe.bits
        if lines and bits <= 64 and spec.are_plain_words:
            hashes = cut.words(lines)
            return fingerprint_hashes(hashes, spec, bits=bits) if len(hashes) else None
        # Nothing but stop words, too few words for one n-gram, no keyword: units, but no features.
        weighed = spec.weigh(source)
        return fingerprint_features(weighed, seed=self.seed, bits=bits) if any(weighed.values()) else None

    def _sketches(self, content: list[str], extract: Extract, cut: _Cut) -> dict[str, Any]:
        registers = self.recipe.sketch_registers
        if not registers:
            return {"content_sketch": b""}
        sizes = [0, 0, 0] if extract.tags else map(len, extract.parts[1:])
        parts = zip(_PARTS.items(), pairwise(accumulate(sizes, initial=0)), strict=True)
        hashes = shingles(self._shingled(content, extract, cut), self.recipe.shingle)
        return {"content_sketch": sketch(hashes, registers)} | {
            name: _part(cut.blocks(*lines), max(1, registers // share)) for (name, share), lines in parts
        }

    def _shingled(self, content: list[str], extract: Extract, cut: _Cut) -> NDArray[np.uint64]:
        """Return the hashes that the content's shingles are made of."""
        shingled = shingle_units(content)
        if isinstance(shingled, str):
            return hash_letters(shingled, seed=self.seed)
        known = not extract.tags and extract.parts.content == extract.parts.prose
        return cut.hashes[: len(content)] if known else hash_units(shingled, seed=self.seed)


# What share of a sketch's registers each of them has.
_PARTS = {"prose": 2, "links": 8, "around": 8}


def _part(hashes: NDArray[np.uint64], registers: int) -> Part:
    return Part(len(hashes), sketch(hashes, registers))


class _Cut:
    """A page's blocks, prose first, then links, then what stands around: all cut at once, each unit hashed once.

    `ends[n]` is the number of units in the first n blocks.
    """

    def __init__(self, parts: Parts, seed: int) -> None:
        self._blocks, self._prose, self._seed = [*parts.prose, *parts.links, *parts.around], parts.prose, seed
        self._lines = cut_lines(join(self._blocks))
        self.hashes = hash_units(chain.from_iterable(self._lines.units), seed=seed)
        self._lengths = np.fromiter(map(len, self._lines.units), np.intp, len(self._lines.units))
        self.ends = [0, *np.cumsum(self._lengths).tolist()]

    def units(self, content: list[Block]) -> list[str]:
        """Return the units of some of the blocks, in the order given."""
        if content == self._prose:
            return list(chain.from_iterable(self._lines.units[: len(content)]))
        of_block = dict(zip(self._blocks, self._lines.units, strict=False))
        return list(chain.from_iterable(of_block[block] for block in content))

    def words(self, lines: int) -> NDArray[np.uint64]:
        """Return the hashes of the words of the first blocks, in any order."""
        return hash_units(self._lines.words(lines), seed=self._seed) if self._lines.has_han else self.hashes[: self.ends[lines]]

    def blocks(self, first: int, last: int) -> NDArray[np.uint64]:
        """Return hashes of the blocks of a part, as many for each as it has units."""
        if first == last:
            return np.empty(0, np.uint64)
        lengths = self._lengths[first:last]
        lengths = lengths[lengths > 0]
        return weighted(sequences(self.hashes[self.ends[first] : self.ends[last]], lengths), lengths)
