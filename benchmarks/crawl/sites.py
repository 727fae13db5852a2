"""Sites to crawl: a site is a function from a path with its query to a page, None where there is none."""

from __future__ import annotations

import re
from functools import partial
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lxml import etree, html as lxml_html

from benchmarks.crawl.forum import Forum
from benchmarks.quality.churn import package_pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lxml.html import HtmlElement

    Site = Callable[[str], bytes | None]

_WORD = re.compile(r"[^\W\d_\u2e80-\U0003ffff]{2,}|[\u4e00-\u9fff]")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
_UNSEEN = ("script", "style")
LINKS = 100
"""Pages that an index page of `endless` links to."""
_SENTENCES, _WORDS = 25, 16


def files(root: Path) -> Site:
    """Return the site of a directory's HTML files, all in memory."""
    bodies = {"/" + file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*.html")}

    def page(path: str) -> bytes | None:
        path = unquote(path.partition("?")[0])
        return bodies.get(path + "index.html" * path.endswith("/"))

    return page


def manual(root: Path) -> list[bytes]:
    """Return the English pages of an installation guide."""
    return [file.read_bytes() for file in sorted((root / "amd64" / "en").rglob("*.html"))]


def news(packages: Path) -> list[bytes]:
    """Return the pages of `benchmarks.quality.packages`, English and Chinese."""
    return [page.html.encode("utf-8", "surrogatepass") for page in package_pages(packages)]


def unique(bodies: list[bytes], count: int) -> Site:
    """Return a site of `count` pages with the mark-up of real ones and no word in its place, so that no page is a copy of another.

    Every word of a page became another one of all pages' words, the same one throughout the page. Links lead to pages of the site.
    """
    words = sorted({word for body in bodies for word in _WORD.findall(_text(_parse(body)))})
    spaced, han = [word for word in words if word.isascii()], [word for word in words if not word.isascii() and len(word) == 1]
    made = [_reword(_parse(bodies[number % len(bodies)]), number, count, spaced, han) for number in range(count)]

    def page(path: str) -> bytes | None:
        number = path.removeprefix("/") or "0"
        return made[int(number)] if number.isdecimal() and int(number) < count else None

    return page


def _parse(body: bytes) -> HtmlElement:
    return lxml_html.document_fromstring(_DECLARATION.sub("", body.decode("utf-8", "replace")))


def _text(tree: HtmlElement) -> str:
    return " ".join(str(text) for text in tree.xpath("//text()[not(parent::script or parent::style)]"))


def _reword(tree: HtmlElement, number: int, count: int, spaced: list[str], han: list[str]) -> bytes:
    def other(word: re.Match[str]) -> str:
        drawn = int.from_bytes(blake2b(f"{number} {word[0]}".encode(), digest_size=8).digest(), "big")
        among = han if len(word[0]) == 1 and han else spaced
        return among[drawn % len(among)]

    for element in tree.iter(etree.Element):
        if element.text and element.tag not in _UNSEEN:
            element.text = _WORD.sub(other, element.text)
        if element.tail:
            element.tail = _WORD.sub(other, element.tail)
    random = Random(number)
    for anchor in tree.iter("a"):
        if anchor.get("href"):
            anchor.set("href", f"/{random.randrange(count)}")
    inside = tree if tree.body is None else tree.body
    for target in (2 * number + 1, 2 * number + 2):
        if target < count:
            etree.SubElement(inside, "a", href=f"/{target}").text = "more"
    return etree.tostring(tree, encoding="utf-8", method="html", doctype="<!DOCTYPE html>")


def endless(pages: int) -> Site:
    """Return a site of so many pages, each made when it is asked for: `/N`, and `/index/N` with links to a hundred of them.

    Of ten pages six are like no other, two are copies of an earlier page, one is a near-copy of one, and one has few words.
    """

    def page(path: str) -> bytes | None:
        if path.startswith("/index/"):
            first = LINKS * int(path.removeprefix("/index/"))
            links = "".join(f'<a href="/{number}">{number}</a>\n' for number in range(first, min(first + LINKS, pages)))
            more = f'<a id="next" href="/index/{first // LINKS + 1}">more</a>' if first + LINKS < pages else ""
            return f"<!DOCTYPE html><html><body>{links}{more}</body></html>".encode()
        return endless_page(int(path.removeprefix("/")))

    return page


def endless_page(number: int) -> bytes:
    """Return page `number` of `endless`; what it is depends on its last digit."""
    kind = number % 10
    source = Random(number).randrange(number // 10 + 1) * 10 if kind in (7, 8, 9) else number
    random = Random(source)
    lines = [_sentence(random) for _ in range(1 if kind == 6 else _SENTENCES)]
    lines += [f"Seen {number} times."] if kind == 9 else []
    inside = "".join(f"<p>{line}</p>" for line in lines)
    menu = "".join(f'<li><a href="/{source + step}">{word}</a></li>' for step, word in enumerate(("home", "news", "sport", "weather")))
    return f"<!DOCTYPE html><html><head><title>{source}</title></head><body><ul>{menu}</ul><h1>{source}</h1>{inside}</body></html>".encode()


def halves(pages: int) -> Site:
    """Return a site of two hubs, `/a` and `/b`, and so many pages no two of which are alike under `/a/N`, and the same under `/b/N`."""

    def page(path: str) -> bytes | None:
        number = path.rpartition("/")[2]
        return endless_page(10 * int(number)) if number.isdecimal() and int(number) < pages else b"<!DOCTYPE html><title>A hub</title>"

    return page


def _sentence(random: Random) -> str:
    # Words of syllables: as many as a language has, none of them in a list.
    return " ".join("".join(random.choices(_SYLLABLES, k=random.choice((1, 2, 2, 3)))) for _ in range(_WORDS)) + "."


_SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvwz" for vowel in ("a", "e", "i", "o", "u", "an", "er", "is")]

KINDS: dict[str, Callable[[Path, int], Site]] = {
    "guide": lambda root, _: files(root),
    "releases": lambda root, _: files(root),
    "forum": Forum,
    "manual": lambda root, count: unique(manual(root), count),
    "news": lambda root, count: unique(news(root), count),
    "endless": lambda _, count: endless(count),
    "halves": lambda _, count: halves(count),
}
"""Sites by name, each made from a directory (of files, or of packages) and a number of pages."""


def make(kind: str, root: Path, count: int) -> Site:
    """Return a site by its name."""
    return partial(KINDS[kind](root, count))
