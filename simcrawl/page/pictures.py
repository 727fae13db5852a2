"""What pictures a page shows: their names, for no picture is fetched.

On pages of one site with the same text, as galleries, vouchers and charts have them, another picture is another content. Not so on two
sites: one article may stand there with two photographs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Where scripts that load pictures late find them; the source is another picture until then.
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|jxl|heic|mp[34]|webm|og[gv]|wav|pdf)$", re.IGNORECASE)
# What stands for no picture of the page's own.
_OF_NO_CONTENT = re.compile(
    r"captcha|spacer|blank|pixel|placeholder|loading|spinner|avatar|gravatar|sprite|/ads?[/.?_-]|^about:", re.IGNORECASE
)
_SIGN = re.compile(r"icon|logo|avatar|emoji|smil(?:ey|ie)", re.IGNORECASE)
_PIXELS = re.compile(r"\b(?:width|height)\s*:\s*(\d+)px", re.IGNORECASE)
# Another size, or another version, of the same picture.
_VARIANT = re.compile(
    r"(?:[-_]\d{2,4}x\d{2,4}|@[1-4]x|[-_.](?:thumb(?:nail)?|small|medium|large|full|orig(?:inal)?|scaled)|(?<=\w{3})[-_.~][0-9a-f]{8,})+$",
    re.IGNORECASE,
)
_SIZE = re.compile(r"[wh]\d+$|\d+x\d*$", re.IGNORECASE)
# Names that every directory has.
_OF_ANY = re.compile(
    r"(?:thumb(?:nail)?|small|medium|large|full|orig(?:inal)?|image|img|photo|picture|cover|main|default|index|preview|file|media|\w{1,2})$",
    re.IGNORECASE,
)
# Attributes that draw, and as many characters as an icon has at most. Elements of one drawing that are looked at.
_DRAWING = ("d", "points", "cx", "cy", "r", "x", "y", "height", "width")
_ICON, _MOST_ELEMENTS, _LONGEST = 400, 400, 2_000
_LONGEST_CACHED = 256
_SMALL = 48


def of(element: HtmlElement, tag: str, *, in_link: bool) -> str:
    """Return the name of what an element shows, equal for equal pictures; "" where it is none of the page's content.

    A picture in a link belongs to the page that this leads to, but where that is a picture itself.
    """
    if tag in ("meter", "progress"):
        return f"{tag} {element.get('value') or ''}"
    if in_link and not _leads_to_file(element):
        return ""
    if tag == "svg":
        return _drawing(element)
    source = next(filter(None, map(element.get, _SOURCES)), "") if tag == "img" else element.get("src") or element.get("data") or ""
    return "" if tag == "img" and _is_sign(element) else name_of(source)


def name_of(address: str) -> str:
    """Return what a picture is called by its address: not where it is, for a mirror has the same, nor in what size."""
    # The cache is not to keep what a page made up.
    return _name_of(address) if len(address) <= _LONGEST_CACHED else _name_of.__wrapped__(address)


# The pages of a site share most of their pictures.
@lru_cache(maxsize=4096)
def _name_of(address: str) -> str:
    if address.startswith("data:"):
        return address[-_LONGEST:] if len(address) > _ICON else ""
    if not address or _OF_NO_CONTENT.search(address[:_LONGEST]):
        return ""
    try:
        path = urlsplit(address[:_LONGEST]).path.partition(";")[0]
    except ValueError:
        return ""
    *directories, name = path.split("/")
    stem = _VARIANT.sub("", _FILE.sub("", name))
    if not _OF_ANY.match(stem):
        return stem
    above = next((directory for directory in reversed(directories) if not _SIZE.match(directory)), "")
    return f"{above}/{stem}"


def _leads_to_file(element: HtmlElement) -> bool:
    # A third of what it takes to ask for the ancestor of that name: most often it is the next one.
    link = element.getparent()
    while link is not None and link.tag != "a":
        link = link.getparent()
    return link is not None and bool(_FILE.search((link.get("href") or "").partition("?")[0]))


def _is_sign(element: HtmlElement) -> bool:
    """Return whether a picture stands for a word, or a person: by its class, or its size."""
    sizes = [element.get("width") or "", element.get("height") or "", *_PIXELS.findall(element.get("style") or "")]
    small = (size.removesuffix("px")[:9] for size in sizes)
    return bool(_SIGN.search(element.get("class") or "")) or any(size.isdecimal() and int(size) <= _SMALL for size in small)


def _drawing(element: HtmlElement) -> str:
    """Return what draws a drawing, "" for an icon."""
    drawn: list[str] = []
    for part in islice(element.iter(), _MOST_ELEMENTS):
        drawn += filter(None, map(part.get, _DRAWING))
    text = " ".join(drawn)
    return text[-_LONGEST:] if len(text) > _ICON else ""
