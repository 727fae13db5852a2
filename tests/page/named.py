"""What pages are called, made of the texts that say it."""

from __future__ import annotations

import numpy as np

import simcrawl
from simcrawl.page import names, names_compared
from simcrawl.page.blocks import NO_PARTS
from simcrawl.page.cut import Cut
from simcrawl.page.fingerprint import NO_HASHES, PageFingerprint
from simcrawl.page.names_compared import Naming
from tests.samples import english

PROSE = "cedar maple willow cedar maple willow birch grow in the north"


def cut(text: str) -> Cut:
    return Cut(text, seed=1)


def names_of(heading: str = "", *, outer: str = "", facts: str = "", title: str = "", prose: str = PROSE, beside: str = "") -> bytes:
    # A heading of the content stands in its prose, and an outer one beside it.
    around = cut(f"{outer}\n{beside}").hashes
    parts = NO_PARTS._replace(heading=heading)
    return names.of(cut(names.lines((heading, outer), facts, title)), cut(f"{heading}\n{prose}"), around, parts)


def differ(a: bytes, b: bytes) -> bool:
    assert names_compared.compare(a, b) is names_compared.compare(b, a)
    return names_compared.compare(a, b) is not Naming.SAME


def differ_outside(a: bytes, b: bytes) -> bool:
    assert names_compared.compare_outside(a, b) is names_compared.compare_outside(b, a)
    return names_compared.compare_outside(a, b) is not Naming.SAME


def with_values(values: list[str], pictures: tuple[str, ...] = ()) -> bytes:
    parts = NO_PARTS._replace(values=tuple(values), pictures=pictures)
    return names.of(cut(names.lines(("", ""), "", "")), cut(PROSE), NO_HASHES, parts)


def with_paragraphs(paragraphs: list[str], *values: str) -> bytes:
    parts = NO_PARTS._replace(paragraphs=tuple(paragraphs), values=values)
    return names.of(cut(names.lines(("", ""), "", "")), cut(PROSE), NO_HASHES, parts)


def with_rows(*rows: tuple[str, ...], values: tuple[str, ...] = (), paragraph: str = PROSE) -> bytes:
    parts = NO_PARTS._replace(rows=rows, paragraphs=(paragraph,), values=values)
    return names.of(cut(names.lines(("", ""), "", "")), cut(PROSE), NO_HASHES, parts)


def with_parts(made: bytes, parts: int) -> bytes:
    """Return as many of the parts of what names wrote, behind the three values in front."""
    ends = np.flatnonzero(np.frombuffer(made, ">u2")[3:] == 0) + 3
    return made[: 2 * int(ends[parts - 1])] if len(ends) >= parts else made


TEXT = english(60)


def page_of(heading: str, text: str, number: int, *, url: str = "", language: str = "") -> PageFingerprint:
    paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
    made = simcrawl.fingerprint_page(
        f"<html lang='{language}'><head><title>Manual {heading}</title></head>"
        f"<body><div><h1>{heading}</h1>{paragraphs}</div></body></html>",
        url=url or f"http://example.org/{number}",
    )
    assert isinstance(made, PageFingerprint)
    return made


def called(heading: str, url: str, *, title: str = "", more: str = "", last: str = "So it is.") -> PageFingerprint:
    paragraphs = "".join(f"<p>{line}</p>" for line in (*TEXT.splitlines(), last))
    head = f"<head><title>{title or heading} | Arbonet</title>{more}</head>"
    made = simcrawl.fingerprint_page(
        f"<html>{head}<body><div><h1>{heading}</h1>{paragraphs}</div></body></html>", url=f"http://example.org/{url}"
    )
    assert isinstance(made, PageFingerprint)
    return made


def are_copies(one: PageFingerprint, other: PageFingerprint) -> bool:
    return simcrawl.compare(one, other).is_near_duplicate
