"""Hypothesis strategies, and the plain pages, that several tests share."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from simcrawl.bits import WIDTHS
from simcrawl.index.permutations import PAPER, Design, design
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason, digest, encode
from simcrawl.page.sketch import Part

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

RECIPE = "manku2007/4"
widths = st.sampled_from(WIDTHS)


def page(url: str, fingerprint: int = 0, *, text: str = "", bits: int = 64, seed: int = 0, recipe: str = RECIPE) -> PageFingerprint:
    """Return a page with this fingerprint. Pages of one `text` are exact copies; without it a page shares its text with none."""
    content = digest(encode(text or f"the text of {url} is {fingerprint}"), seed)
    return PageFingerprint(
        url=url,
        recipe=recipe,
        seed=seed,
        body_digest=content,
        text_digest=content,
        links_digest=bytes(8),
        fingerprint=fingerprint,
        bits=bits,
        units=100,
        content_sketch=b"",
    )


def abstention(url: str, body: str = "", *, reason: Reason = Reason.SHORT) -> Abstention:
    """Return a page without a fingerprint."""
    return Abstention(url=url, recipe=RECIPE, seed=0, body_digest=digest(encode(body or url), 0), reason=reason)


def fingerprints(bits: int = 64) -> SearchStrategy[int]:
    """All fingerprints of a width."""
    return st.integers(0, (1 << bits) - 1)


def near(fingerprint: int, distance: int, bits: int = 64) -> SearchStrategy[int]:
    """Fingerprints that differ from this one in at most `distance` bits."""
    flipped = st.sets(st.integers(0, bits - 1), max_size=min(distance, bits))
    return flipped.map(lambda positions: fingerprint ^ sum(1 << position for position in positions))


@st.composite
def crowded(draw: DrawFn, bits: int, distance: int, size: int = 12) -> list[int]:
    """Fingerprints many of which lie within, at, and just beyond a distance of each other; some twice."""
    found = [draw(fingerprints(bits))]
    for _ in range(draw(st.integers(0, size))):
        found.append(draw(near(draw(st.sampled_from(found)), distance + 2, bits) | fingerprints(bits)))
    return found


def _one_level(most_blocks: int) -> list[tuple[str, int, int]]:
    """Return (name, number of tables, bits left of 8 at least) of levels."""
    levels = [(blocks, chosen) for blocks in range(2, most_blocks + 1) for chosen in range(1, blocks)]
    return [(f"{blocks}:{chosen}", comb(blocks, chosen), 8 - chosen * -(-8 // blocks)) for blocks, chosen in levels]


def _names() -> list[str]:
    second = _one_level(3)
    two = [f"{a},{b}" for (a, tables, left), (b, more, _) in product(_one_level(6), second) if left >= int(b[0]) and tables * more <= 60]
    return [*PAPER, *(name for name, _, _ in _one_level(8)), *two]


design_names = st.sampled_from(_names())
"""Names of designs that any width can have."""


def designs(bits: SearchStrategy[int] = widths) -> SearchStrategy[Design]:
    """Designs of one and two levels over fingerprints of any width."""
    return st.builds(design, design_names, bits)


urls = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=40).map("https://example.org/{}".format)
"""URLs, those with lone surrogates among them: Scrapy can make them of broken links."""


@st.composite
def pages(draw: DrawFn, bits: int = 64) -> PageFingerprint | Abstention:
    """Pages of any content, abstentions among them, made with the recipe `RECIPE` and seed 0."""
    sixteen = st.binary(min_size=16, max_size=16)
    small = st.integers(0, 2**40)
    sketch = st.binary(max_size=150).map(lambda half: half * 2) | st.integers(0, 50).map(lambda half: bytes(2 * half))
    known = st.fixed_dictionaries(
        {"url": urls, "recipe": st.just(RECIPE), "seed": st.just(0), "body_digest": sixteen, "text_length": small, "outlinks": small}
    )
    part = st.builds(Part, small, sketch)
    own = {
        "fingerprint": fingerprints(bits),
        "units": small,
        "text_digest": sixteen,
        "links_digest": st.binary(min_size=8, max_size=8),
        "content_sketch": sketch,
    }
    own |= {"prose": part, "links": part, "around": part, "beside": part}
    common: dict[str, Any] = draw(known)
    content: dict[str, Any] = {name: draw(values) for name, values in own.items()}
    if draw(st.booleans()):
        return Abstention(reason=draw(st.sampled_from(Reason)), **common)
    return PageFingerprint(bits=bits, **common, **content)
