"""One page -> `PageFingerprint`, or `Abstention` with a reason. Never an exception for what a page contains.

Everything here can run in another thread or process: values in, picklable values out. The decision about a page is not made
here.
"""

from __future__ import annotations

import hashlib
import math
import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus, urldefrag

import numpy as np

from simcrawl.bits import to_hex
from simcrawl.page import names, names_compared
from simcrawl.page.blocks import NO_PARTS, Block, join
from simcrawl.page.cut import Cut, Lines, cut_lines, units
from simcrawl.page.features import NOTHING, fingerprint_both, fingerprint_cut
from simcrawl.page.hashing import among, firsts, hash_units
from simcrawl.page.kept import compressed
from simcrawl.page.recipes import Recipe, resolve
from simcrawl.page.sketch import NO_PART, Part, shingles, size_of, sketch, sketch_with_places, weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from simcrawl.page.extraction import Extract
    from simcrawl.page.hints import Hints

MAX_PAGE_BYTES = 4_000_000
MAX_PAGE_SECONDS = 10.0
MAX_WORKER_BYTES = 1_000_000_000
# Extraction takes 18 s for 500,000 <p> and 9 s for 50,000 <article>: a page with more tags than this is left alone.
_MAX_TAGS = 100_000
# lxml's parser is quadratic in the distinct attributes of one tag (seconds for 30,000): look at the bytes before parsing them, as HTML's
# own tokenizer does. A > ends a tag but for one in a quoted value, and a quote begins a value after a name and = only. Possessive, and each
# byte is looked at in one tag only: linear, whatever the page. Few tags have a > in a quoted value, or are long; only there one is told
# from the next by its quotes. A plain tag's end is beyond doubt.
_QUOTED_END = re.compile(rb"=\s*+(?:\"[^\">]*+>|'[^'>]*+>)")
_PLAIN_TAG = rb"<[A-Za-z](?>(?:[^>=\"']{1,64}+|=(?!\s*+[\"'])|=\"[^\">]*+(?<![=\s])\"|='[^'>]*+(?<![=\s])'){0,60})>"
_PLAIN = re.compile(rb"(?>(?:[^<]++|<(?![A-Za-z])|" + _PLAIN_TAG + rb")*)")
_ATTRIBUTE = rb"([^\s/>][^\s/>=]*+)(?>(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?)"
_TAG = re.compile(rb"(?P<name><[A-Za-z][^\s/>]*+)(?>(?:[\s/]++|" + _ATTRIBUTE + rb")*)")
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_MAX_ATTRIBUTES = 1_000
_LONG_TAG = 4_000
_LONG = re.compile(rb"<[A-Za-z][^>]{%d,}+>?" % (_LONG_TAG - 1))
# libxml2 leaves out, without a word, all that comes after an element in which it is nested as deep as this.
_MAX_DEPTH = 255
_OTHER_FORMATS = (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"{", b"[")


UNKNOWN = bytes(8)
"""The digest of links that nobody looked at. It equals none, not even itself."""


STAGES = ("extract", "fingerprint")
"""What the CPU seconds of a page are counted by."""


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
    OUTDATED = "outdated"
    """Of stored pages only: an older version or another recipe made it, and its bytes alone are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is known of every page. Digests are 16 bytes, keyed with the seed.

    `text_length`: characters of the text that the fingerprint is of. `text`: the main text, and `content`: the content that is compared, a
    block a line; both on request only. `hints`: what it says of itself, see `simcrawl.page.hints`; None where nobody looked. `places`:
    where in the content that stands which its sketch tells of, see `simcrawl.page.sketch.new_passage`. No store keeps it: it is known of a
    page that is judged, and not of its original.
    """

    url: str
    recipe: str
    seed: int = field(repr=False)
    body_digest: bytes
    text_length: int = 0
    outlinks: int = 0
    text: str | None = field(default=None, compare=False, repr=False)
    content: bytes | None = field(default=None, compare=False, repr=False)
    hints: Hints | None = field(default=None, compare=False, repr=False)
    places: bytes = field(default=b"", compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFingerprint(Page):
    """A page that can be compared: its fingerprint, and what verifies a candidate.

    `url`, `recipe`, `seed`: what it was made of and with; only pages of one recipe and one seed can be compared. `body_digest`: 16 bytes,
    of the bytes that came. `text_length`: characters of the text that the fingerprint is of; `outlinks`: how many links it has. `text`
    (the main text) and `content` (what is compared, a block a line) are None unless asked for. `hints`: what it says of itself, such as its
    canonical URL.

    `fingerprint`: an int below 2 ** `bits`. `text_digest`, 16 bytes, is of the whole visible text and of what is not shown at once;
    `links_digest`, 8 bytes, of the addresses that its links lead to (zeros: nobody looked). `units`: the number of words, or of
    characters of unspaced scripts, of the content. `content_sketch` is of the content's shingles, four registers a byte; `prose`, `links`,
    `around` and `beside` are of blocks, see `simcrawl.page.blocks`. `names`: the words of its heading and its title,
    and what its pictures are called, see `simcrawl.page.names`.
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
    beside: Part = NO_PART
    names: bytes = b""

    @property
    def says(self) -> bytes:
        """16 bytes that stand for what it says and shows: its text, its pictures, and the files that it offers.

        Lines that are other ones at each visit say nothing.
        """
        shown, text = names_compared.pictures(self.names), names_compared.lasting(self.names) or self.text_digest
        return digest(text + shown, self.seed) if shown else text

    @property
    def hex(self) -> str:
        """The fingerprint in hexadecimal, zero-padded."""
        return to_hex(self.fingerprint, bits=self.bits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention(Page):
    """A page that is not compared with others, and why. Its body can still be an exact copy of another one's.

    `reason`: "empty", "short", "too_large", "too_deep", "too_slow", "out_of_memory", "crashed", "not_html", "extraction_failed"; of stored
    pages also "outdated". The other fields are those of a `PageFingerprint`.
    """

    reason: Reason


_USER = re.compile(r"(?P<before>(?:[A-Z]+ )?[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^/?#]*)@")
_KNOWN_USER = re.compile("user-[0-9a-f]{16}")
_KNOWN_VALUE = re.compile("redacted-[0-9a-f]{16}")
_NAME = re.compile(r"(?:^|[;?])([^=;?]*)=")
_PUT_IN = re.compile(r"[?&;][^=&;?]*=redacted-[0-9a-f]{16}(?=&|$)")


def without_user(url: str) -> str:
    """Return a URL of any kind for a message: without user and password."""
    return _USER.sub(r"\g<before>***@", url)


def page_key(url: str, seed: int, redact: Collection[str] = ()) -> str:
    """Return the URL under which a page is known: without its fragment, which no server sees, and without what is secret.

    That is user and password, and the values of the query's parameters that `redact` names, in lower case. Two users may get two pages
    under one URL. So in the place of a secret stands a digest of it, `user-` or `redacted-` and 16 digits, keyed with the seed. What this
    returns it returns again for itself.
    """
    # Most have none of what is looked for, and every request asks.
    key = urldefrag(url).url if "#" in url else url
    if "@" in key and (found := _USER.match(key)) and not _KNOWN_USER.fullmatch(found["user"]):
        key = f"{found['before']}user-{_stand_in(found['user'], seed)}@{key[found.end() :]}"
    if redact and "?" in key:
        path, _, query = key.partition("?")
        key = f"{path}?{'&'.join(_redacted(part, seed, redact) for part in query.split('&'))}"
    return key


def _redacted(part: str, seed: int, redact: Collection[str]) -> str:
    # To some servers a semicolon parts parameters, to others it is in the value: what follows it goes with that.
    for name in _NAME.finditer(part):
        value = part[name.end() :]
        if unquote_plus(name[1]).strip().lower() in redact and not _KNOWN_VALUE.fullmatch(value):
            return f"{part[: name.end()]}redacted-{_stand_in(value, seed)}"
    return part


def _stand_in(secret: str, seed: int) -> str:
    return digest(secret.encode("utf-8", "surrogatepass"), seed)[:8].hex()


def is_whole(url: str) -> bool:
    """Return whether a URL under which a page is known can be fetched: whether nothing in it stands in the place of a secret."""
    user = _USER.match(url)
    return not (user and _KNOWN_USER.fullmatch(user["user"])) and not _PUT_IN.search(url)


def digest(data: bytes, seed: int) -> bytes:
    """Return 16 bytes that stand for `data`.

    A keyed cryptographic hash: a page that someone crafted to share another page's digest would make that page vanish.
    """
    return hashlib.blake2b(data, digest_size=16, key=seed.to_bytes(8, "big")).digest()


def hash_of_seed(seed: int) -> str:
    """Return what two holders of fingerprints compare to know whether these have one seed; the seed cannot be read from it."""
    return digest(b"simcrawl seed", seed).hex()


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
    """Return the page's fingerprint, or an abstention that says why it has none. Never an exception for what a page contains.

    `encoding`: what the HTTP client found; None to look at the page's own declaration (`str` needs neither). `seed` (below
    2**64) makes fingerprints comparable with those of the same seed only. A page that took longer than `max_seconds` is not
    interrupted; it abstains afterwards. `keep_text` keeps the main text in the result, `keep_content` the content,
    as stores keep it.
    `seconds`: CPU seconds are added to its "extract" and "fingerprint".

    Raises:
        SettingError: there is no such recipe, or its extractor does not exist.
    """
    body = encode(html)
    work = _Work(resolve(recipe), seed, monotonic() + max_seconds, keep_text, keep_content)
    # From here on: what a page's links lead to, and what it says of itself, is told of, too.
    url = page_key(url, seed)
    known: dict[str, Any] = {"url": url, "recipe": work.recipe.identity, "seed": seed, "body_digest": digest(body, seed)}
    if refusal := _refusal(body, max_bytes):
        return Abstention(reason=refusal, **known)
    extractor = work.recipe.load_extractor()
    try:
        with _timed(seconds, "extract"):
            extract = _extract(body, "utf-8" if isinstance(html, str) else encoding, url, extractor, work)
        known["hints"] = extract.hints
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
    return Abstention(url=page_key(url, seed), recipe=recipe.identity, seed=seed, body_digest=digest(encode(html), seed), reason=reason)


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
    from simcrawl.page.extraction import Extract, all_prose  # noqa: PLC0415 - as in _extract

    work = _Work(resolve(recipe), seed, math.inf, keep_text=False)
    known: dict[str, Any] = {"url": url, "recipe": work.recipe.identity, "seed": seed, "body_digest": digest(encode(text), seed)}
    return work.finish(Extract(text, all_prose(text), text), known)


def fingerprint_and_sketch(text: str, *, recipe: str | Recipe = "auto", seed: int = 0) -> tuple[int, bytes]:
    """Return the fingerprint and the content sketch of a text, those of `fingerprint_text`, however short it is.

    Raises:
        SettingError: there is no such recipe.
        ValueError: the text has no features.
    """
    work = _Work(resolve(recipe), seed, math.inf, keep_text=False)
    cut = work.cut(text)
    fingerprint = fingerprint_cut(cut, work.recipe.features, bits=work.recipe.bits)
    if fingerprint is None:
        raise ValueError(NOTHING)
    return fingerprint, work.sketch(cut.shingled())


def page_texts(html: bytes | str, *, url: str = "", encoding: str | None = None, recipe: str | Recipe = "auto") -> tuple[str, str]:
    """Return the text whose features make a page's fingerprint, and its whole visible text, both one block a line.

    For who looks at a page: crawls take both apart in one go. Empty where the page is not parsed.

    Raises:
        SettingError: there is no such recipe, or its extractor does not exist.
    """
    work, body = _Work(resolve(recipe), 0, math.inf, keep_text=False), encode(html)
    extractor = work.recipe.load_extractor()
    try:
        if _refusal(body, MAX_PAGE_BYTES):
            return "", ""
        extract = _extract(body, "utf-8" if isinstance(html, str) else encoding, url, extractor, work)
        return work.cuts(extract)[2].text, extract.whole
    except Exception:  # noqa: BLE001 - as in fingerprint_page
        return "", ""


# A few words for a program to put into a page, such as a price: which thing they are about is in their address alone, and to fetch them
# again costs next to nothing. What has zero bytes is UTF-16, perhaps, and is looked at.
_LONGEST_FRAGMENT = 500
_OF_A_DOCUMENT = re.compile(
    rb"<(?:!doctype|html|head|body|title|h[1-6]|p|main|article|section|header|table|[uod]l|form|meta|frameset)\b|\0", re.IGNORECASE
)


def _refusal(body: bytes, max_bytes: int) -> Reason | None:
    """Return why a body is not even parsed; costs one pass over its bytes."""
    tags = body.count(b"<")
    if not tags or body.lstrip()[:8].startswith(_OTHER_FORMATS):
        return Reason.NOT_HTML if body.strip() else Reason.EMPTY
    if len(body) <= _LONGEST_FRAGMENT and not _OF_A_DOCUMENT.search(body):
        return Reason.EMPTY
    if len(body) > max_bytes or tags > 2 * _MAX_TAGS or _has_too_many_attributes(body):
        return Reason.TOO_LARGE
    return None


def _has_too_many_attributes(body: bytes) -> bool:
    # The zero bytes of UTF-16 and UTF-32.
    body = body.replace(b"\0", b"")
    end = 0
    for first, last in sorted(found.span() for doubt in (_QUOTED_END, _LONG) for found in doubt.finditer(body)):
        # What comes before is beyond doubt: no tag goes on behind its first >.
        end = max(end, body.rfind(b">", end, first) + 1)
        # It matches nothing at all, too.
        while (start := _PLAIN.match(body, end, last).end()) < last - 1 and (tag := _TAG.match(body, start)):  # type: ignore[union-attr]
            end = tag.end()
            if end - start > _LONG_TAG and len(set(_ATTRIBUTES.findall(body, tag.end("name"), end))) > _MAX_ATTRIBUTES:
                return True
    return False


def _extract(body: bytes, encoding: str | None, url: str, extractor: Callable[[bytes, str, str], str] | None, work: _Work) -> Extract:
    # Loaded on first use: `import simcrawl` must not cost trafilatura's half second.
    from simcrawl.page.extraction import extract  # noqa: PLC0415

    wanted = work.recipe.source == "main" or work.keep_text
    tags = work.recipe.features.kind == "tags"
    return extract(body, encoding, url, extractor=extractor, main=wanted, tags=tags, max_depth=_MAX_DEPTH)


@dataclass(frozen=True, slots=True)
class _Work:
    """The second half of the pipeline: from texts to a fingerprint."""

    recipe: Recipe
    seed: int
    deadline: float
    keep_text: bool
    keep_content: bool = False

    def finish(self, extract: Extract, known: dict[str, Any]) -> PageFingerprint | Abstention:
        tags = extract.tags.split()
        extract = with_head(extract)
        prose, content, source = self.cuts(extract)
        number = len(tags) or len(content.hashes)
        known |= {"text_length": len(source.text), "outlinks": extract.outlinks, "text": extract.main if self.keep_text else None}
        if self.keep_content:
            known["content"] = compressed(join(extract.parts.content) if tags else content.text)
        share = content_share(len(prose.hashes), self.recipe) if source is prose else 0.0
        fingerprint = fingerprint_both(source, content, self.recipe.features, share=share, bits=self.recipe.bits)
        if fingerprint is None or number < self.recipe.min_features:
            # Equal shells say nothing of what they will show.
            has_text = not extract.is_shell and (len(tags) or units(extract.whole))
            return Abstention(reason=Reason.SHORT if has_text else Reason.EMPTY, **known)
        if monotonic() > self.deadline:
            return Abstention(reason=Reason.TOO_SLOW, **known)
        return PageFingerprint(
            fingerprint=fingerprint,
            bits=self.recipe.bits,
            units=number,
            text_digest=digest(encode(_all_text(extract)), self.seed),
            # It finds nothing: it is compared with those of pages that are copies already.
            links_digest=digest(encode("\n".join(extract.links)), self.seed)[: len(UNKNOWN)],
            **self._of_content(hash_units(tags, seed=self.seed) if tags else content.shingled()),
            **known,
            **self._verifying(extract, prose, content, known["url"]),
        )

    def cuts(self, extract: Extract) -> tuple[Cut, Cut, Cut]:
        """Return a page's prose, its content, and the text whose features make the fingerprint."""
        parts = NO_PARTS if extract.tags else extract.parts
        prose = self.cut(join(parts.prose))
        content = prose if parts.content == parts.prose else self.cut(join(parts.content))
        return prose, content, self.cut(extract.tags) if extract.tags else self._source(extract, prose, content)

    def cut(self, text: str) -> Cut:
        return Cut(text, seed=self.seed)

    def _source(self, extract: Extract, prose: Cut, content: Cut) -> Cut:
        """Return the text that the features are taken from: where there is next to nothing of it, all of the content."""
        if self.recipe.source == "prose" and len(prose.hashes) >= self.recipe.min_features:
            return prose
        if self.recipe.source == "main" and len((main := self.cut(extract.main)).hashes) >= self.recipe.min_features:
            return main
        return content

    def _of_content(self, shingled: NDArray[np.uint64]) -> dict[str, Any]:
        """Return the sketch of a page's content, and where in it the shingles stand that the sketch tells of."""
        made, places = sketch_with_places(shingles(shingled, self.recipe.shingle), self.recipe.sketch_registers)
        return {"content_sketch": made, "places": places}

    def sketch(self, shingled: NDArray[np.uint64]) -> bytes:
        return sketch(shingles(shingled, self.recipe.shingle), self.recipe.sketch_registers)

    def _verifying(self, extract: Extract, prose: Cut, content: Cut, url: str) -> dict[str, Any]:
        """Return what else verifies a candidate."""
        registers, parts = self.recipe.sketch_registers, NO_PARTS if extract.tags else extract.parts
        if not registers:
            return {}
        texts = map(join, (parts.links, parts.around, parts.beside, parts.unseen))
        links, around, visible, unseen, called = cut_lines([*texts, _called(extract, url)], seed=self.seed)
        cuts: dict[str, Cut | Lines] = {"prose": prose, "links": links, "around": around}
        made = {name: _part(weighted_lines(cut), _of_registers(registers, _SHARES[name])) for name, cut in cuts.items()}
        size = _of_registers(registers, _BESIDE)
        if extract.tags:
            return made | {"beside": _part(NO_HASHES, size)}
        stands = _beside(extract, visible, unseen, (content.hashes, around.hashes))
        called_so = _names(extract, called, (prose, content), visible, url)
        return made | {"beside": _part(stands, size), "names": called_so}


# What share of a sketch's registers each of them has.
_SHARES = {"prose": 2, "links": 8, "around": 8}
_BESIDE = 8
# A line of fewer units counts as so many: a price is one.
_LEAST_OF_A_FACT = 5
# With fewer units than that in its scripts a shell says nothing of what it will show.
_LEAST_OF_A_SHELL = 40
# So many successive units of a line are looked for in the visible text, and so much of it has to be there.
_RUN, _SHOWN_SHARE = 3, 0.75
# With so many times the least units of prose the fingerprint is of prose alone.
_ENOUGH_PROSE = 4
NO_HASHES = np.empty(0, np.uint64)


def content_share(units: int, recipe: Recipe) -> float:
    """Return by what share the features are those of all of the content, where the prose has so many units: less, the more it has."""
    if recipe.source != "prose":
        return 0.0
    most = _ENOUGH_PROSE * recipe.min_features
    return min(1.0, max(0.0, (most - units) / (most - recipe.min_features))) if most else 0.0


def with_head(extract: Extract) -> Extract:
    """Return a page that a program draws with what its head says of it, and, where nothing is drawn yet, with that as its content."""
    if not extract.is_drawn:
        return extract
    # With words before it, so that two titles of two words differ by more than a fact.
    titles = [f"the title is {extract.title}"] if extract.title else []
    head = [*titles, *(f"this page is about {text}" for text in extract.meta if text)]
    parts = extract.parts
    unseen = parts.unseen + [Block(line, 0, 0) for line in head]
    content, prose = parts.content, parts.prose
    if extract.is_shell:
        # Of a page that says nothing yet the rest is what all pages of its site show, and its head may be, too.
        data = join(block for block in parts.unseen if not block.element)
        content, prose = ([], []) if len(units(data)) < _LEAST_OF_A_SHELL else (content + unseen, prose + unseen)
    lines = "\n".join((extract.unseen, *head))
    return replace(extract, unseen=lines, parts=parts._replace(content=content, prose=prose, unseen=unseen))


def named(extract: Extract, prose: Cut, content: Cut, url: str = "") -> bytes:
    """Return what a page is called, see `simcrawl.page.names`."""
    called, beside = (Cut(text, seed=prose.seed) for text in (_called(extract, url), join(extract.parts.beside)))
    return _names(extract, called, (prose, content), beside, url)


def _names(extract: Extract, called: Cut | Lines, texts: tuple[Cut, Cut], beside: Cut | Lines, url: str) -> bytes:
    prose, content = texts
    noindex, letters = extract.hints.noindex, content.units_of_a_word()
    own = extract.hints.own_address(url)
    elsewhere = bool(extract.hints.canonical) and not own
    return names.of(
        called,
        prose,
        beside.hashes,
        extract.parts,
        noindex=noindex,
        url=url,
        said=extract.language,
        title=extract.title,
        known_as=own,
        is_known_elsewhere=elsewhere,
        units_of_a_word=letters,
        lasting=_lasting(extract, prose.seed),
    )


def _lasting(extract: Extract, seed: int) -> bytes:
    """Return a digest of a page's text without the lines that are other ones at each visit; b"" where there are none."""
    if not extract.parts.of_visits:
        return b""
    lines = [line for line in _all_text(extract).splitlines() if line not in extract.parts.of_visits]
    # As the text's own digest is made: where such a line comes or goes the page says the same.
    return digest(encode("\n".join(lines)), seed)


def _called(extract: Extract, url: str) -> str:
    parts = extract.parts
    # An application calls its own pages by the page behind them.
    address = "" if extract.hints.noindex else url
    return names.lines((parts.heading, parts.outer_heading), parts.facts, extract.title, address)


def beside(extract: Extract, content: Cut, around: Cut) -> NDArray[np.uint64]:
    """Return the weighted lines of what stands beside the content and may be content all the same, text that is not shown among it."""
    visible, unseen = cut_lines([join(extract.parts.beside), join(extract.parts.unseen)], seed=content.seed)
    return _beside(extract, visible, unseen, (content.hashes, around.hashes))


def _beside(extract: Extract, visible: Lines, unseen: Lines, shown: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.concatenate((facts(visible), facts(unseen, () if extract.is_shell else shown)))


def has_form(page: PageFingerprint | Abstention, recipe: Recipe) -> bool:
    """Return whether a page has what pages of a recipe have: a fingerprint of so many bits, and sketches of such sizes.

    Another one would fail whenever a page is compared with it.
    """
    if isinstance(page, Abstention):
        return True
    registers = recipe.sketch_registers
    sizes = [(page.content_sketch, registers), (page.beside.sketch, _of_registers(registers, _BESIDE))]
    sizes += [(getattr(page, name).sketch, _of_registers(registers, share)) for name, share in _SHARES.items()]
    return not page.fingerprint >> recipe.bits and all(len(made) == size_of(size) for made, size in sizes)


def _of_registers(registers: int, share: int) -> int:
    return -(-registers // share)


def _all_text(extract: Extract) -> str:
    # In order: the order of alternatives may change, and their number.
    return "\n".join((extract.whole, *sorted(set(extract.unseen.splitlines()))))


def _part(hashes: NDArray[np.uint64], registers: int) -> Part:
    return Part(len(hashes), sketch(hashes, registers))


def weighted_lines(cut: Cut | Lines) -> NDArray[np.uint64]:
    """Return hashes of the lines of a text, as many for each distinct one as it has units."""
    return weighted(cut.lines(), cut.lengths())


def facts(cut: Cut | Lines, shown: Sequence[NDArray[np.uint64]] = ()) -> NDArray[np.uint64]:
    """Return what `weighted_lines` does, with short lines weighing more, of the lines that are not shown elsewhere.

    `shown`: the hashes of the parts of a text. Scripts repeat what the page shows.
    """
    lengths = cut.lengths()
    if not len(lengths):
        return NO_HASHES
    lines, weights = cut.lines(), np.maximum(lengths, _LEAST_OF_A_FACT)
    if shown:
        new = ~_are_shown(cut.hashes, lengths, shown)
        lines, weights = lines[new], weights[new]
    return weighted(lines, weights) if len(lines) else NO_HASHES


def _are_shown(hashes: NDArray[np.uint64], lengths: NDArray[np.intp], shown: Sequence[NDArray[np.uint64]]) -> NDArray[np.bool_]:
    """Return which lines stand in other texts, by runs of their units, or by all units of one that is no longer than a run."""
    starts = firsts(lengths)
    found = np.zeros(len(lengths), np.bool_)
    for size in range(1, _RUN + 1):
        some = (lengths >= size if size == _RUN else lengths == size).nonzero()[0]
        if not len(some):
            continue
        runs = lengths[some] - size + 1
        places = (starts[some] - firsts(runs)).repeat(runs) + np.arange(runs.sum())
        known = np.concatenate([shingles(text, size) for text in shown])
        known.sort()
        there = among(shingles(hashes, size)[places], known)
        found[some] = np.add.reduceat(there, firsts(runs), dtype=np.intp) >= _SHOWN_SHARE * runs
    return found
