"""What a page says of itself to those who crawl it: by which URL it wants to be known, and what robots are asked to leave.

Its author may be wrong, or lie. So hints order requests and let pages wait for one another; nothing is dropped, or kept, for a hint alone.
But of two pages that want to be known by two addresses less has to differ than of others: see `simcrawl.rule.Rule.loses`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from hashlib import blake2b
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urldefrag, urljoin, urlsplit

from xxhash import xxh3_64_intdigest

from simcrawl.addresses import of_one_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lxml.html import HtmlElement

Canonical = Literal["", "original", "copy", "translation"]
LONGEST_URL = 2_000
LONGEST_TITLE = 120
# Control characters, and what turns the direction of a text about, so that it seems to be another one.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
MOST_ALTERNATES = 20
MOST_UNFOLLOWED = 200
# In these an address is written as a request for it would have it.
_AS_REQUESTED = re.compile(r"https?://[a-z0-9.:-]+/[A-Za-z0-9/?&=._~+:@,;!$()*'-]*")
# Of pages that name another one.
_MOST_NAMED, _MOST_NAMING = 50_000, 8
# Of a head's elements; more than that say nothing to people either.
_MOST_ELEMENTS, _MOST_CANONICALS = 500, 3
_LONGEST_HEAD = 1 << 17
_END_OF_HEAD = re.compile(rb"</head|<body", re.IGNORECASE)
_LONGEST_HEADER = 8_000
_LINK = re.compile(r"<([^<>]*)>([^<>]*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]+))", re.IGNORECASE)
_HREFLANG = re.compile(r";\s*hreflang\s*=", re.IGNORECASE)
# A header may be for one robot: its name and a colon come first. These have a colon of their own.
_WITH_VALUES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


class Hints(NamedTuple):
    """`canonical`: the URL that the page names as its canonical one, maybe its own, "" where it names none, or several.

    `alternates`: those of its translations. `noindex`, `nofollow`: what it asks of robots. URLs are absolute and without fragments.
    `named_by`: keys of pages that name this one, see `Named`. `unfollowed`: keys of single links that robots are not to follow
    (`rel="nofollow"`), see `asks_not_to_follow`. `title`: of its head, of 120 characters at most, without what turns a text about.
    """

    canonical: str = ""
    alternates: tuple[str, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    named_by: tuple[bytes, ...] = ()
    unfollowed: frozenset[int] = frozenset()
    title: str = ""

    def also(self, other: Hints) -> Hints:
        """Return these hints, and where they say nothing those of another place, such as the response's headers."""
        return Hints(
            self.canonical or other.canonical,
            (*self.alternates, *other.alternates)[:MOST_ALTERNATES],
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            self.named_by,
            self.unfollowed,
            self.title or other.title,
        )

    def asks_not_to_follow(self, url: str) -> bool:
        """Return whether robots are not to follow the page's link to a URL: none of its links, or none of those that lead there."""
        return self.nofollow or (bool(self.unfollowed) and _link_key(urldefrag(url).url) in self.unfollowed)

    def own_address(self, url: str) -> str:
        """Return the path and the query of the canonical URL, if that is the page's own, "" if it is another page's, or none is named.

        `url`: the page's. What the canonical URL lacks of its parameters, such as a session, says nothing of the page.
        """
        if not self.canonical:
            return ""
        (path, asked), (named, kept) = map(_path_and_parameters, (url, self.canonical))
        is_own = path == named and kept <= asked and of_one_site(url, self.canonical)
        return f"{named}?{sorted(kept)}" if is_own else ""

    def known_as(self, name: Callable[[str], str]) -> Hints:
        """Return these hints with the URLs of pages as `name` has them."""
        return self._replace(canonical=self.canonical and name(self.canonical), alternates=tuple(map(name, self.alternates)))

    def speak_of(self, original: str) -> Canonical:
        """Return which of a copy and its original is the canonical page, by what they say themselves; "" where they say nothing of it.

        "translation": the copy calls its original a translation of itself.
        """
        if self.canonical == original:
            return "original"
        if self.named_by and _key(original) in self.named_by:
            return "copy"
        return "translation" if original in self.alternates else ""


NO_HINTS = Hints()


def _path_and_parameters(url: str) -> tuple[str, set[tuple[str, str]]]:
    """Return the path of a URL without a slash at its end, and its parameters, in any order; byte by byte, whatever their encoding."""
    parts = urlsplit(url)
    return unquote(parts.path, "latin-1").rstrip("/"), {*parse_qsl(parts.query, keep_blank_values=True, encoding="latin-1")}


class Named:
    """Which pages name another one as their canonical page: of the last `_MOST_NAMED` that are named a few each. Thread-safe."""

    def __init__(self) -> None:
        self._naming: OrderedDict[bytes, tuple[bytes, ...]] = OrderedDict()
        self._lock = Lock()

    def note(self, url: str, hints: Hints | None) -> None:
        """Note what a page that was kept says."""
        if hints is None or hints.canonical in ("", url):
            return
        key = _key(hints.canonical)
        with self._lock:
            self._naming[key] = (_key(url), *self._naming.get(key, ()))[:_MOST_NAMING]
            self._naming.move_to_end(key)
            if len(self._naming) > _MOST_NAMED:
                self._naming.popitem(last=False)

    def by(self, url: str) -> tuple[bytes, ...]:
        """Return the keys of pages that name a URL, the latest first."""
        # Most sites name none.
        return self._naming.get(_key(url), ()) if self._naming else ()


def _key(url: str) -> bytes:
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _link_key(url: str) -> int:
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def says_nofollow(rel: str | None) -> bool:
    """Return whether robots are not to follow a link, by its attribute `rel`."""
    return rel is not None and "nofollow" in rel.lower().split()


def unfollowed(targets: set[str]) -> frozenset[int]:
    """Return the keys of links that robots are not to follow, by where these lead; so many of them at most."""
    urls = islice(sorted(targets - {""}), MOST_UNFOLLOWED)
    return frozenset(_link_key(url if _AS_REQUESTED.fullmatch(url) else address(url, url)) for url in urls)


def of_tree(tree: HtmlElement, base: str) -> Hints:
    """Return the hints in a page's head, which alone counts: what stands in the body, a reader may have written.

    `base`: what the page's links are relative to.
    """
    head = tree.find("head")
    if head is None:
        return NO_HINTS
    found, asked = _Found(base), list[str]()
    for element in islice(head.iter("link", "meta"), _MOST_ELEMENTS):
        if element.tag == "link":
            found.link(element.get("rel") or "", element.get("href") or "", translated=element.get("hreflang") is not None)
            continue
        name = (element.get("name") or element.get("property") or "").lower()
        if name == "robots":
            asked.append(element.get("content") or "")
        elif name == "og:url":
            found.og_url = found.og_url or (element.get("content") or "")
    hints = found.hints(asked)
    title = _title(head)
    return hints._replace(title=title) if title else hints


def _title(head: HtmlElement) -> str:
    element = next(head.iter("title"), None)
    # As much as can become so many characters is looked at: a page may put a book there.
    text = (element.text or "")[: 10 * LONGEST_TITLE] if element is not None else ""
    return " ".join(_UNSEEN.sub(" ", text).split())[:LONGEST_TITLE]


def of_body(body: bytes, encoding: str | None, url: str) -> Hints:
    """Return what `of_tree` would of a page that is not parsed: of its head alone. Never raises for what a page contains."""
    # Loaded on use: whoever compares pages parses none.
    from lxml import html  # noqa: PLC0415
    from w3lib.encoding import html_to_unicode  # noqa: PLC0415 - as above

    end = _END_OF_HEAD.search(body, 0, _LONGEST_HEAD)
    try:
        _, text = html_to_unicode(f"text/html; charset={encoding}" if encoding else None, body[: end.start() if end else _LONGEST_HEAD])
        tree = html.document_fromstring(text)
        base = next((element.get("href") or "" for element in tree.iter("base")), "")
        return of_tree(tree, urljoin(url, base.strip()))
    # Parsers raise anything at all on broken pages.
    except Exception:  # noqa: BLE001
        return NO_HINTS


def of_headers(links: Iterable[str], robots: Iterable[str], base: str) -> Hints:
    """Return the hints in a response's headers, `Link` and `X-Robots-Tag`."""
    found = _Found(base)
    for header in links:
        for target, parameters in islice(_LINK.findall(header[:_LONGEST_HEADER]), _MOST_ELEMENTS):
            if rel := _REL.search(parameters):
                found.link(rel[1] or rel[2] or "", target, translated=bool(_HREFLANG.search(parameters)))
    return found.hints(header[:_LONGEST_HEADER] for header in robots if _is_for_all(header))


def _is_for_all(robots: str) -> bool:
    first, colon, _ = robots.partition(",")[0].partition(":")
    return not colon or first.strip().lower() in _WITH_VALUES


class _Found:
    """What is found in a page's head, or in headers."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._canonicals: dict[str, None] = {}
        # Each once, in order: to resolve one costs as much as to find ten.
        self._alternates: dict[str, None] = {}
        self.og_url = ""

    def link(self, rel: str, target: str, *, translated: bool) -> None:
        kinds = rel.lower().split()
        if "canonical" in kinds:
            self._canonicals[target] = None
        elif "alternate" in kinds and translated and len(self._alternates) < MOST_ALTERNATES:
            self._alternates[target] = None

    def hints(self, robots: Iterable[str]) -> Hints:
        asked = set(_directives(robots))
        named = {address(target, self._base) for target in islice(self._canonicals or (self.og_url,), _MOST_CANONICALS)}
        return Hints(
            # Who names several means none.
            min(named) if len(named) == 1 else "",
            tuple(filter(None, (address(target, self._base) for target in self._alternates))),
            not asked.isdisjoint(("noindex", "none")),
            not asked.isdisjoint(("nofollow", "none")),
        )


def _directives(robots: Iterable[str]) -> Iterator[str]:
    for text in robots:
        yield from (one.strip().lower() for one in text[:_LONGEST_HEADER].split(","))


def address(href: str, base: str) -> str:
    """Return the http(s) URL of a link as a request for it would have it, without a fragment; "" where it is none."""
    from w3lib.url import safe_url_string  # noqa: PLC0415 - most pages have nothing to resolve

    target = href.strip()
    if not target or len(target) > LONGEST_URL:
        return ""
    try:
        parts = urlsplit(urldefrag(urljoin(base, target)).url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return ""
        url = safe_url_string(parts._replace(path=parts.path or "/").geturl())
    except ValueError:
        return ""
    return url if len(url) <= LONGEST_URL else ""
