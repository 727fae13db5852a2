"""Pages that hurt: made to be slow, large, broken or misleading, each by a function of its own."""

from __future__ import annotations

import gzip
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simcrawl.page.cut import units
from simcrawl.page.extraction import main_text
from simcrawl.page.hashing import hash_units
from simcrawl.page.recipes import fingerprint
from simcrawl.page.sketch import shingles, sketch, unpack
from tests.samples import chinese, english, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MEGABYTE = 1_000_000
START, END = "<!DOCTYPE html><html><head><title>t</title></head><body>", "</body></html>"
ARTICLE = "".join(f"<p>{line}</p>" for line in english(60).splitlines())
# Bidirectional overrides and isolates, zero-width characters, a soft hyphen, variation selectors, a byte order mark, interlinear marks.
INVISIBLE = "\u202e\u202d\u2066\u2069\u200b\u200c\u200d\u2060\u00ad\ufe0f\U000e0100\ufeff\ufff9\ufffb"


def body(inside: str) -> bytes:
    """Return a page with this in its body."""
    return f"{START}{inside}{END}".encode("utf-8", "surrogatepass")


def nested(tag: str, depth: int) -> bytes:
    return body(f"<{tag}>" * depth + english(60) + f"</{tag}>" * depth)


def attributes(value: str, number: int = 30_000) -> bytes:
    """Return a page with so many attributes on one tag. lxml's parser is quadratic in them."""
    return body(f"<p {' '.join(f'a{n}{value}' for n in range(number))}>{ARTICLE}")


def paragraphs(number: int, text: str = "") -> bytes:
    return body(f"<p>{text}" * number)


def sentences(megabytes: float) -> bytes:
    """Return a page of so many megabytes of paragraphs, all different."""
    lines = english(20_000).splitlines()
    text = "".join(f"<p>{number} {lines[number % len(lines)]}</p>" for number in range(int(megabytes * MEGABYTE / 270)))
    return body(f"<h1>All of it</h1>{text}")


def table(cells: int, *, columns: int = 10) -> bytes:
    row = "<tr>" + "<td>cell 7" * columns
    return body(f"<table>{row * (cells // columns)}</table>")


def links(number: int) -> bytes:
    return body("".join(f'<a href="/link/{n}">link {n}</a> ' for n in range(number)))


def broken_encoding() -> bytes:
    """Return a page that claims UTF-8 and is a mixture of GB 18030, Latin 1, Shift JIS and noise."""
    parts = [
        chinese(20).encode("gb18030"),
        "déjà vu ".encode("latin-1") * 50,
        "日本語の文章".encode("shift_jis") * 20,
        bytes(range(128, 256)) * 20,
    ]
    return f'{START}<meta charset="utf-8">'.encode() + b"".join(b"<p>" + part + b"</p>" for part in parts) + ARTICLE.encode()


def bomb(megabytes: int, inside: str = " ") -> bytes:
    """Return a page of some kilobytes that a client unpacks to so many megabytes."""
    return gzip.compress(body(inside * (megabytes * MEGABYTE // len(inside))), 9)


def nested_entities() -> bytes:
    """Return a page with an entity of ten thousand million letters."""
    entities = "".join(f"<!ENTITY a{n + 1} '{f'&a{n};' * 10}'>" for n in range(9))
    return f"<!DOCTYPE html [<!ENTITY a0 'aaaaaaaaaa'>{entities}]><html><body>&a9;{ARTICLE}".encode()


@dataclass(frozen=True)
class Hostile:
    """A page, and what is to become of it: "page" (it is compared), or the reason for which it is not."""

    make: Callable[[], bytes]
    ends: str
    encoding: str | None = "utf-8"


PAGES: dict[str, Hostile] = {
    # ---- trees
    "nested 100,000 div": Hostile(lambda: nested("div", 100_000), "too_large"),
    "nested 100,000 b": Hostile(lambda: nested("b", 100_000), "too_large"),
    "nested 100,000 lists": Hostile(lambda: body("<ul><li>" * 50_000 + english(60)), "too_deep"),
    "nested 5,000 tables": Hostile(lambda: body("<table><tr><td>" * 5_000 + english(60)), "too_deep"),
    "nested 20,000 links": Hostile(lambda: body("<a href='x'>" * 20_000 + english(60)), "page"),
    "nested 250 div": Hostile(lambda: nested("div", 250), "page"),
    "misnested 50,000": Hostile(lambda: body("<b><p></b>" * 25_000 + ARTICLE), "page"),
    "misnested 50,000 of many kinds": Hostile(lambda: body("<b><i><u></b><a href=x><p></i></u></a>" * 5_500 + ARTICLE), "page"),
    "never closed, of 10,000 kinds": Hostile(lambda: body("".join(f"<p><b id={n}>word</p>" for n in range(10_000)) + ARTICLE), "page"),
    "closed 100,000 times": Hostile(lambda: body("</p></div></b>" * 33_000 + ARTICLE), "page"),
    "never closed": Hostile(lambda: body("<div><p><b>word " * 30_000), "too_deep"),
    "500,000 p": Hostile(lambda: paragraphs(500_000), "too_large"),
    "190,000 p": Hostile(lambda: paragraphs(190_000, "word "), "page"),
    "95,000 p": Hostile(lambda: paragraphs(95_000, "word "), "page"),
    "500,000 br": Hostile(lambda: body("word<br>" * 500_000), "too_large"),
    "95,000 br": Hostile(lambda: body("word<br>" * 95_000), "page"),
    "50,000 article": Hostile(lambda: body("<article>word " * 50_000), "too_deep"),
    "table of 200,000 cells": Hostile(lambda: table(200_000), "too_large"),
    "table of 90,000 cells": Hostile(lambda: table(90_000), "page"),
    "table of one row": Hostile(lambda: table(90_000, columns=90_000), "page"),
    "100,000 links": Hostile(lambda: links(100_000), "too_large"),
    "45,000 links": Hostile(lambda: links(45_000), "page"),
    "50,000 headings": Hostile(lambda: body("<h1>head</h1>" * 45_000), "page"),
    "50,000 comments": Hostile(lambda: body("<!-- x -->word " * 50_000), "page"),
    "open comment": Hostile(lambda: body("<!--" * 50_000 + ARTICLE), "empty"),
    "scripts within scripts": Hostile(lambda: body("<script>" * 50_000 + ARTICLE), "empty"),
    "half tags": Hostile(lambda: b"<" * 150_000, "empty"),
    "half tags with names": Hostile(lambda: b"<a" * 95_000, "empty"),
    "processing instructions": Hostile(lambda: body("<?php echo ?>word " * 50_000), "page"),
    # ---- attributes
    "30,000 attributes": Hostile(lambda: attributes("=1"), "too_large"),
    "30,000 attributes without value": Hostile(lambda: attributes(""), "too_large"),
    "30,000 attributes with > in quotes": Hostile(lambda: attributes('=">"'), "too_large"),
    "30,000 attributes with < in quotes": Hostile(lambda: attributes("='<'"), "too_large"),
    "30,000 attributes with > in single quotes": Hostile(lambda: attributes("='>'"), "too_large"),
    "30,000 attributes apart from slashes": Hostile(lambda: body(f"<p/{'/'.join(f'a{n}' for n in range(30_000))}>{ARTICLE}"), "too_large"),
    "30,000 attributes after quotes": Hostile(
        lambda: body("<p " + "".join(f'a{n}=""' for n in range(30_000)) + f">{ARTICLE}"), "too_large"
    ),
    "20 tags of 900 attributes": Hostile(
        lambda: body("".join(f"<p {' '.join(f'a{n}=1' for n in range(900))}>x</p>" for _ in range(20)) + ARTICLE), "page"
    ),
    "3 MB attribute": Hostile(lambda: body(f"<p title='{'x ' * 1_500_000}'>{ARTICLE}"), "page"),
    "class of 100,000 names": Hostile(lambda: body(f"<div class='{'nav ' * 100_000}'>{ARTICLE}</div>"), "page"),
    "class of one long camel": Hostile(lambda: body(f"<div class='{'aB' * 500_000}'>{ARTICLE}</div>"), "page"),
    "styles of open addresses": Hostile(lambda: body(f"<div style='{'url(' * 490}'></div>" * 900 + ARTICLE), "page"),
    "styles of spaces": Hostile(lambda: body(f"<div style='url({' ' * 1_900}'></div>" * 900 + ARTICLE), "page"),
    "scripts of open lists": Hostile(lambda: body(f"<script>lat:{'[1,2,3,' * 9_000}{' ' * 90_000}</script>" * 5 + ARTICLE), "page"),
    "links to files": Hostile(lambda: body("".join(f"<a href=a{n}.zip?a=b.zip&b=c>word</a>" for n in range(20_000)) + ARTICLE), "page"),
    "components that show": Hostile(lambda: body("".join(f"<a-b src=a{n}.png></a-b>" for n in range(20_000)) + ARTICLE), "page"),
    "style of many rules": Hostile(lambda: body(f"<div style='{'display:none;' * 100_000}'>{ARTICLE}</div>"), "page"),
    # ---- text
    "10 MB word": Hostile(lambda: body("a" * 10 * MEGABYTE), "too_large"),
    "3 MB word": Hostile(lambda: body("a" * 3 * MEGABYTE), "short"),
    "10 MB page": Hostile(lambda: sentences(10), "too_large"),
    "3.9 MB page": Hostile(lambda: sentences(3.9), "too_large"),
    "1,000,000 different words": Hostile(lambda: body("<p>" + " ".join(map(str, range(500_000)))), "page"),
    "one run of Chinese": Hostile(lambda: body("<p>" + "的" * 1_000_000), "page"),
    "one run of rare Han": Hostile(lambda: body("<p>" + "\U00020000" * 900_000), "page"),
    "combining marks": Hostile(lambda: body("<p>a" + "\u0301" * 1_000_000), "short"),
    "combining marks out of order": Hostile(lambda: body("<p>a" + "\u0301\u0323" * 500_000), "short"),
    "ligatures that grow": Hostile(lambda: body("<p>" + "\ufdfa " * 300_000), "page"),
    "lines": Hostile(lambda: body("<pre>" + "word\n" * 700_000), "page"),
    "spaces": Hostile(lambda: body("<p>" + " " * 3_900_000 + ARTICLE), "page"),
    "dates": Hostile(lambda: body("<p>" + "12 minutes ago 3 comments 2024 " * 100_000), "page"),
    "digits and spaces": Hostile(lambda: body("<p>1" + " " * 50 + ("1" * 3000 + " " * 3000) * 300), "page"),
    "invisible characters": Hostile(lambda: body("<p>" + f"{INVISIBLE}word{INVISIBLE} " * 20_000), "page"),
    "an article in invisible characters": Hostile(lambda: body(ARTICLE.replace(" ", f" {INVISIBLE}")), "page"),
    "NULs in text": Hostile(lambda: body(ARTICLE.replace(" ", " \0")), "page"),
    "NULs between tags": Hostile(lambda: body(ARTICLE.replace("<p>", "\0" * 10_000 + "<p>")), "page"),
    "nothing but NULs": Hostile(lambda: b"\0" * MEGABYTE, "not_html"),
    "NUL in tags": Hostile(lambda: body(ARTICLE.replace("<p>", "<p\0 \0class\0='x\0'>")), "page"),
    "lone surrogates": Hostile(lambda: body(ARTICLE.replace(" ", " \ud800 \udfff")), "page"),
    "surrogate references": Hostile(lambda: body(ARTICLE.replace(" ", " &#xD800;&#xDFFF; ")), "page"),
    "entities": Hostile(lambda: body("<p>" + "&amp;&#x4e00;&#1114112;&#xD800;&nosuch;&lt;b&gt; " * 50_000), "page"),
    "entities that nest": Hostile(nested_entities, "page"),
    "an entity of a file": Hostile(
        lambda: b"<?xml version='1.0'?><!DOCTYPE html [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><html><body>&f;" + ARTICLE.encode(), "page"
    ),
    "controls": Hostile(lambda: body("<p>" + "\x1b[31m\x08\x7f\u0085\u2028\ufffe\U0010ffff " * 20_000), "page"),
    # ---- encodings
    "broken encodings": Hostile(broken_encoding, "page"),
    "broken encodings, undeclared": Hostile(broken_encoding, "page", None),
    "UTF-16 that says UTF-8": Hostile(lambda: body(ARTICLE).decode().encode("utf-16"), "page"),
    "UTF-7": Hostile(lambda: body(ARTICLE).replace(b"<head>", b"<head><meta charset=utf-7>"), "page", "utf-7"),
    "an encoding that is none": Hostile(lambda: body(ARTICLE), "page", "hex"),
    "an XML declaration of another encoding": Hostile(lambda: b"<?xml version='1.0' encoding='utf-16'?>" + body(ARTICLE), "page"),
    # ---- pages without content
    "script only": Hostile(lambda: body("<div id=app></div><script>" + "document.write('hello');" * 50_000 + "</script>"), "empty"),
    "noscript only": Hostile(lambda: body("<noscript>Please switch on JavaScript.</noscript><script src=/app.js></script>"), "empty"),
    "frames": Hostile(lambda: b"<html><frameset cols='1,2'><frame src='/a'><frame src='/b'></frameset></html>", "empty"),
    "10,000 frames": Hostile(lambda: body("<iframe src='/x'></iframe>" * 10_000), "empty"),
    "a redirect in meta": Hostile(lambda: b"<html><head><meta http-equiv=refresh content='999;url=/'></head><body></body></html>", "empty"),
    "a PDF": Hostile(lambda: b"%PDF-1.7 <</Type /Catalog>>" * 1000, "not_html"),
    "a broken gzip": Hostile(lambda: gzip.compress(body(ARTICLE))[:-20], "not_html"),
    "an article after the end": Hostile(lambda: body("") + ARTICLE.encode(), "page"),
    "a page after a page": Hostile(lambda: body("<p>Error 17.</p>") + body(ARTICLE), "page"),
    "a base that leads nowhere": Hostile(
        lambda: page(english(60), links=("http://[", "//", "page" * 5000), head="<base href='http://[::1'>").encode(), "page"
    ),
}


# ---- a page crafted to pass for another one


def forge(text: str, seed: int, *, shingle: int = 5, registers: int = 816, words: int = 2**18) -> str:
    """Return a text with none of another's words that has nearly its fingerprint and its sketch, for whoever knows the seed.

    Word by word: of all words that complete a shingle which falls into one of the other's registers with the register's value, the one that
    does most for the fingerprint.
    """
    vocabulary = [f"w{number}" for number in range(words)]
    hashes = hash_units(vocabulary, seed=seed)
    wanted = np.array([int(bit) * 2 - 1 for bit in f"{fingerprint(text, seed=seed):064b}"])
    signs = np.unpackbits(hashes.astype(">u8").view(np.uint8).reshape(-1, 8), axis=1).astype(np.int8) * 2 - 1
    values = unpack(sketch(shingles(hash_units(units(text), seed=seed), shingle), registers))
    needed, sums, chosen = int(0.96 * np.count_nonzero(values)), np.zeros(64), list[int]()
    while len(chosen) < needed + shingle - 1:
        rolling = np.zeros(1, np.uint64)
        for number in chosen[max(0, len(chosen) - shingle + 1) :]:
            rolling = followed(rolling, hashes[number])
        rolling = followed(rolling, hashes)
        places = ((rolling >> np.uint64(32)) * np.uint64(registers)) >> np.uint64(32)
        fits = ((rolling & np.uint64(0xFFFFFFFF)) * np.uint64(3) >> np.uint64(32)) + np.uint64(1) == values[places.astype(np.intp)]
        candidates = np.flatnonzero(fits) if len(chosen) >= shingle - 1 else np.arange(words)
        best = int(candidates[np.argmax(signs[candidates] @ (wanted * np.exp(-sums * wanted / 4)))])
        if len(chosen) >= shingle - 1:
            values[int(places[best])] = 0
        sums += signs[best]
        chosen.append(best)
    return " ".join(vocabulary[number] for number in chosen)


def followed(rolling: NDArray[np.uint64], more: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the hashes of runs that are longer by one unit: see `simcrawl.page.hashing.hash_successive`."""
    return rolling * np.uint64(0x9E3779B97F4A7C15) + more


# ---- extractors


def extractor(body: bytes, encoding: str, url: str) -> str:
    """Do to a page what its address says."""
    if url.endswith("/raises"):
        raise RecursionError(url)
    if url.endswith("/hangs"):
        while True:
            pass
    if url.endswith("/dies"):
        os.kill(os.getpid(), signal.SIGKILL)
    if url.endswith("/grows"):
        return "word " * 2**40
    return main_text(body, encoding)
