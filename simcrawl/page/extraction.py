"""HTML -> main text, blocks by what they are, whole visible text, outlinks, tag paths. The only module that imports trafilatura.

Nothing here decides anything: guards and abstentions are in `pages`.
"""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml import etree
from w3lib.encoding import html_to_unicode

from simcrawl.page.blocks import Block, Parts, join
from simcrawl.page.furniture import is_furniture, kinds
from simcrawl.page.hints import NO_HINTS, Hints, of_tree, says_nofollow, unfollowed
from simcrawl.page.pictures import attributes, has_styles
from simcrawl.page.scripts import in_attributes
from simcrawl.page.walk import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.html import HtmlElement

# It reports every page without an article as an error of its own ("discarding data"); simcrawl counts those pages by reason.
# A level that the user set stays.
_logger = logging.getLogger("trafilatura")
if _logger.level == logging.NOTSET:
    _logger.setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Extract:
    """What was taken from one page. `main`: trafilatura's text or a user's extractor's, "" where nobody asked for it.

    `parts` are those of `simcrawl.page.blocks`; of a user's extractor, all of its text is prose. `links`: the distinct addresses that its
    links lead to, sorted, without fragments. `outlinks`: how many distinct http(s) pages these are. `tags`: the space-separated
    tag path of every element, in document order. `depth`: how many elements stand in one another at most. `unseen`: all
    text that is not shown at once, a block a line; `title`, `meta`, `is_drawn`, `is_shell`: see `simcrawl.page.blocks.Layout`. `hints`: see
    `simcrawl.page.hints`; `language`: the one that the page says it is in.
    """

    main: str
    parts: Parts
    whole: str
    links: tuple[str, ...] = ()
    outlinks: int = 0
    tags: str = ""
    depth: int = 0
    unseen: str = ""
    title: str = ""
    meta: tuple[str, ...] = ()
    is_drawn: bool = False
    is_shell: bool = False
    hints: Hints = NO_HINTS
    language: str = ""


def main_text(html: bytes | str, encoding: str | None = None) -> str:
    """Return the main text of a page by trafilatura's fast mode, without comments; "" where it has none or cannot be parsed.

    `encoding`: what the HTTP client found; None to look at the page's own declaration. Takes 5 to 10 ms a page, and seconds for pages that
    simcrawl refuses to compare.
    """
    try:
        return main_text_within_memory(html, encoding)
    except MemoryError:
        return ""


def main_text_within_memory(html: bytes | str, encoding: str | None = None) -> str:
    """Return what `main_text` does.

    Raises:
        MemoryError: there is not enough memory for it.
    """
    try:
        return _main(parse(html if isinstance(html, str) else decode(html, encoding)[1]))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - parsers raise anything at all on broken pages
        return ""


def extract(
    body: bytes,
    encoding: str | None,
    url: str,
    *,
    extractor: Callable[[bytes, str, str], str] | None = None,
    main: bool = True,
    tags: bool = False,
    max_depth: float = inf,
) -> Extract:
    """Return the texts of a page, in one parse.

    `encoding`: what the HTTP client found; None to look at the page's own declaration. `extractor`: called instead of
    trafilatura for the main text, with (body, encoding, url), unless elements are nested `max_depth` deep. `main`, `tags`: whether the
    main text and the tag paths are wanted; they cost several times the rest.

    Raises:
        Exception: whatever the parser or the extractor raises on a broken page.
    """
    used, html = decode(body, encoding)
    tree = parse(html, plain=not main)
    if tree is None:
        text = extractor(body, used, url) if extractor else ""
        return Extract(text, all_prose(text), "")
    text = _main(tree) if main and not extractor else ""
    page = layout(tree, has_styles=has_styles(body), attributes=attributes(body), has_data=in_attributes(body))
    if extractor and page.depth < max_depth:
        text = extractor(body, used, url)
    base = _base(tree, url)
    followed, asked = _targets(tree, base)
    links = tuple(sorted(followed | asked))
    hints = of_tree(tree, base)
    if asked:
        hints = hints._replace(unfollowed=unfollowed(asked - followed))
    return Extract(
        text,
        all_prose(text) if extractor else page.parts(url, noindex=hints.noindex),
        join(page.blocks),
        links,
        _count_outlinks(links, url),
        _tag_paths(tree) if tags else "",
        page.depth,
        "" if extractor else join(page.unseen + page.shown),
        page.title,
        tuple(page.meta),
        page.is_drawn,
        page.is_shell,
        hints,
        tree.get("lang") or tree.get("xml:lang") or "",
    )


def all_prose(text: str) -> Parts:
    """Return the parts of a text that has no page around it: every line is prose."""
    blocks = [Block(line, 0, 0) for line in text.splitlines()]
    return Parts(blocks, blocks, [], [], [], [])


# libxml2 ends there, without a word; browsers show what follows, such as the rest of a page whose header's template ends one too early.
_EARLY_END = re.compile(r"</html\s*>(?=\s*+\S)", re.IGNORECASE)


# Not by `iter`: of a broken page the parser may make several trees, and it walks over one.
_LINKS = etree.XPath("//a | //area")
_BASES = etree.XPath("//base/@href", smart_strings=False)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_DOCTYPE_WITH_SLASH = re.compile("^< ?! ?DOCTYPE[^>]*/[^<>]*>", re.IGNORECASE)
_ENDED_ROOT = re.compile(r"(<html.*?)\s*/>", re.IGNORECASE)
_LINE_END = "\n"
_WITHIN_A_LINE = frozenset(
    ("a", "abbr", "b", "bdi", "big", "cite", "code", "data", "em", "font", "i", "kbd", "label", "mark", "output", "q", "s", "small")
) | {"span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
_WHOLE = re.compile(r"\s*<(?:html|!doctype)", re.IGNORECASE)
# What begins a body that no tag does, and that libxml2, which does not know these, takes for a part of the head.
_IN_THE_HEAD = re.compile(
    r"<(?:main|article|section|header|nav|aside|figure|details|dialog|search|hgroup|[a-z]\w*-[\w-]*)[\s>]", re.IGNORECASE
)
_HAS_BODY = re.compile(r"<body[\s>]", re.IGNORECASE)
# As trafilatura's parser, but for the class of elements, which lxml.html looks up in Python whenever one is touched.
_WIDE = re.compile(r"utf[-_]?(?:16|32)", re.IGNORECASE)
# Bytes. A tag at the least, and so much that a letter of ASCII is among it.
_LEAST_OF_A_PAGE, _LOOKED_AT = 64, 1024
_PARSER = etree.HTMLParser(collect_ids=False, default_doctype=False, encoding="utf-8", remove_comments=True, remove_pis=True)


def parse(html: str, *, plain: bool = False) -> HtmlElement | None:
    """Return the tree of a page, without comments; None where there is nothing to parse.

    `plain`: trafilatura need not take it. The elements may be lxml's own then: the walk over these is faster, and finds the same.
    """
    html = _with_body(_EARLY_END.sub("", html))
    if plain and (tree := _plain(html)) is not None:
        return tree
    # Loaded on use: it takes as long as some fifty pages, and a sixth of a worker's memory.
    from trafilatura import load_html  # noqa: PLC0415

    tree = load_html(html)
    # It takes fragments, and pages without a head that do not say "html" at once, for something else and gives nothing.
    return load_html(f"<html><head></head>{html}") if tree is None else tree


def shown_texts(html: str) -> list[str]:
    """Return the texts of a page that readers see, and its title; none where it cannot be parsed.

    One for each place between two tags, and a line's end between blocks.
    """
    try:
        tree: Any = etree.fromstring(_with_body(html).encode("utf-8", "surrogatepass"), etree.HTMLParser(encoding="utf-8"))
    except (etree.LxmlError, ValueError):
        return []
    pieces = list[str]()
    walk: Any = () if tree is None else etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if pieces and event in ("start", "end") and element.tag not in _ENDS_NO_LINE:
            pieces.append(_LINE_END)
        text = element.tail if event != "start" else "" if element.tag in _UNSHOWN else element.text
        if text:
            pieces.append(text.replace(_LINE_END, " "))
    return pieces


def said_texts(html: str, *, headings: bool) -> list[str]:
    """Return the texts that a page shows of itself: no links, no menus, no buttons, nothing that calls itself furniture.

    One for each place between two tags, and a line's end between blocks; none where it cannot be parsed. `headings`: whether those of
    headings are among them, and the last part of the way to the page, which names it.
    """
    try:
        tree: Any = etree.fromstring(_with_body(html).encode("utf-8", "surrogatepass"), etree.HTMLParser(encoding="utf-8"))
    except (etree.LxmlError, ValueError):
        return []
    pieces = list[str]()
    furniture = _Furniture(tree)
    unsaid = _SAYS_NOTHING if headings else _SAYS_NOTHING | _HEADINGS
    walk: Any = () if tree is None else etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        text = element.tail
        if pieces and event in ("start", "end") and element.tag not in _WITHIN_A_LINE:
            pieces.append(_LINE_END)
        if event == "start":
            text = element.text
            if element.tag in unsaid or furniture.has(element):
                pieces += _end_of_trail(element) if headings else ()
                walk.skip_subtree()
                continue
        if text:
            pieces.append(text.replace(_LINE_END, " "))
    return pieces


def _end_of_trail(element: Any) -> list[str]:
    """Return the last text of what calls itself the way to the page, as a line of its own, if that is in no link and behind one."""
    names = " ".join(filter(None, (part.get(name) for part in (element, *element[:1]) for name in ("class", "id"))))
    found = kinds(names) if names else None
    if not (found and found.trail):
        return []
    last, is_linked = "", False
    walk: Any = etree.iterwalk(element, events=("start", "end"))
    for event, part in walk:
        if event == "start" and part.tag == "a":
            walk.skip_subtree()
            last, is_linked = "", True
            continue
        text = part.text if event == "start" else part.tail if part is not element else ""
        last = text if text and any(map(str.isalnum, text)) else last
    return [_LINE_END, last.replace(_LINE_END, " "), _LINE_END] if last and is_linked else []


class _Furniture:
    """Tells which elements of a page call themselves furniture."""

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._shares: dict[Any, float] | None = None

    def has(self, element: Any) -> bool:
        names, identity = element.get("class", "").strip(), element.get("id", "").strip()
        return bool(names or identity) and is_furniture(element.tag, names, identity, partial(self._share_of_links, element))

    def _share_of_links(self, element: Any) -> float:
        if self._shares is None:
            self._shares = _shares_of_links(self._tree)
        return self._shares.get(element, 0.0)


def _shares_of_links(tree: Any) -> dict[Any, float]:
    """Return how much of the text of each element with a name is links. In one walk: boxes may stand in one another by the thousand."""
    shares, begun = dict[Any, float](), list[tuple[int, int]]()
    shown = linked = depth = 0
    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        is_link = element.tag == "a" and element.get("href") is not None
        text = element.tail
        if event == "start":
            depth += is_link
            begun.append((shown, linked))
            text = None if element.tag in ("script", "style") else element.text
        elif event == "end":
            depth -= is_link
            shown_before, linked_before = begun.pop()
            if element.get("class") or element.get("id"):
                shares[element] = (linked - linked_before) / max(1, shown - shown_before)
        if text and (length := len("".join(text.split()))):
            shown += length
            linked += length if depth else 0
    return shares


def _with_body(html: str) -> str:
    """Return a page whose body begins where it does in a browser, although its tag is left out, as HTML allows."""
    # Nearly all pages have one.
    if "<body" in html or _HAS_BODY.search(html) or not (found := _IN_THE_HEAD.search(html)):
        return html
    return f"{html[: found.start()]}<body>{html[found.start() :]}"


def _plain(html: str) -> HtmlElement | None:
    """Return what trafilatura's `load_html` does, of lxml's own elements; None for pages of which that makes something else."""
    mended = _mended(html)
    tree = _parsed(mended)
    if tree is None or not len(tree):
        return None
    is_told = "html" in html[:50].lower() and _WHOLE.match(mended)
    # Otherwise something stands in front, such as the declaration of XML, or the page may be a fragment.
    return tree if is_told or [element.tag for element in tree] == ["head", "body"] else None


def _parsed(html: str) -> Any:
    try:
        try:
            return etree.fromstring(html, _PARSER)
        except ValueError:
            # It names an encoding.
            return etree.fromstring(html.encode("utf-8", "surrogatepass"), _PARSER)
    except (ValueError, etree.LxmlError):
        return None


def _mended(html: str) -> str:
    """Return a page as trafilatura's `repair_faulty_html` mends it: what libxml2 stumbles over is left out."""
    beginning, encoded = html[:50].lower(), html.encode("utf-8", "surrogatepass")
    # To find by a pattern that there are none takes ten times as long.
    if len(encoded.translate(None, _CONTROLS)) < len(encoded) or "\ufffe" in html or "\uffff" in html:
        html = _NOT_XML.sub("", html)
    if "doctype" in beginning:
        first, _, rest = html.partition("\n")
        html = f"{_DOCTYPE_WITH_SLASH.sub('', first, count=1)}\n{rest}"
    if any("<html" in line and line.endswith("/>") for line in html[:4096].splitlines()[:4]):
        html = _ENDED_ROOT.sub(r"\1>", html, count=1)
    return html


def _main(tree: HtmlElement | None) -> str:
    import trafilatura  # noqa: PLC0415 - as in parse

    return "" if tree is None else trafilatura.extract(tree, fast=True, include_comments=False) or ""


def decode(body: bytes, encoding: str | None) -> tuple[str, str]:
    """Return (encoding, text) of a page, each byte that cannot be decoded as a character of its own: a browser shows such pages too.

    U+FFFD for all of them would make one of two pages in Cyrillic letters that call themselves UTF-8.
    """
    try:
        if encoding is not None:
            encoding = "utf-8" if _WIDE.match(encoding) and _is_no_utf_16(body) else encoding
            return encoding, _decoded(body, encoding)
    # An encoding that does not exist, or that no name can be.
    except (LookupError, ValueError):
        pass
    declared, text = html_to_unicode(None, body)
    if _WIDE.match(declared) and _is_no_utf_16(body):
        return "utf-8", _decoded(body, "utf-8")
    if "\ufffd" not in text:
        return declared, text
    try:
        return declared, _decoded(body, declared).removeprefix("\ufeff")
    except (LookupError, ValueError):
        return declared, text


def _is_no_utf_16(body: bytes) -> bool:
    """Return whether a page is in no encoding of two or four bytes a letter, whatever it says: .NET writes "utf-16" on top of UTF-8.

    https://html.spec.whatwg.org/multipage/parsing.html#prescan-a-byte-stream-to-determine-its-encoding: such a page is read as UTF-8.
    """
    return len(body) > _LEAST_OF_A_PAGE and body.lstrip()[:1] == b"<" and b"\0" not in body[:_LOOKED_AT]


def _decoded(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError:
        pass
    try:
        text = body.decode(encoding, "surrogateescape")
    except UnicodeDecodeError:
        # It takes no ASCII for what cannot be decoded.
        return body.decode(encoding, _KEEP_BYTES)
    # Both in C: a page of a megabyte may have a million such bytes.
    return text.translate(_OF_ESCAPED)


def _keep_bytes(error: UnicodeError) -> tuple[str, int]:
    """Return private characters, one for each byte that cannot be decoded. ASCII is what it says: it may begin a tag."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, end = error.object, error.end
    return "".join([chr(byte if byte < _ASCII else _FIRST_KEPT + byte) for byte in data[error.start : end]]), end


_KEEP_BYTES, _FIRST_KEPT, _FIRST_ESCAPED, _ASCII = "simcrawl.bytes", 0xF700, 0xDC00, 0x80
_OF_ESCAPED = {_FIRST_ESCAPED + byte: _FIRST_KEPT + byte for byte in range(_ASCII, 0x100)}
codecs.register_error(_KEEP_BYTES, _keep_bytes)


def _base(tree: HtmlElement, url: str) -> str:
    """Return the address that a page's links are relative to."""
    try:
        return next((urljoin(url, href.strip()) for href in _BASES(tree)[:1]), url)
    except ValueError:
        return url


# What to resolve changes nothing of but a fragment, and is most links: an address, or a path from the root, and a query.
_UNSHOWN = frozenset({"script", "style"})
_ENDS_NO_LINE = _WITHIN_A_LINE | _UNSHOWN
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SAYS_NOTHING = _UNSHOWN | {"a", "button", "footer", "head", "nav", "noscript", "option", "template", "textarea"}
_PLAIN = re.compile(
    r"(?P<host>https?://[^\s\x00-\x1f#?;/\\\[\]]+)?(?(host)(?=[/?#]|$)|(?=/[^/]))(?P<path>[^\s\x00-\x1f#?;]*+)(?:\?[^\s\x00-\x1f#]++)?(?=$|#)"
)
# Likewise a file in the page's own directory or below. What has a colon may have a scheme.
_BELOW = re.compile(r"[A-Za-z0-9_~][^\s\x00-\x1f#?;:]*+(?:\?[^\s\x00-\x1f#]++)?(?=$|#)")
# To the page itself, wherever in it; and to the directory above.
_WITHIN, _UP = "#", "../"
_ROOT = re.compile(r"(https?://[^\s\x00-\x1f#?;/\\\[\]@]+)(?=/|$)(?:/(?>(?:[^\s\x00-\x1f#?;/.][^\s\x00-\x1f#?;/]*+/)*)(?=[^/]*+$))?")


def _targets(tree: HtmlElement, base: str) -> tuple[set[str], set[str]]:
    """Return where links lead that robots may follow, and those that they are asked not to follow."""
    # Once each: menus come again and again, and to resolve a link costs as much as to find a dozen.
    hrefs, unfollowed_hrefs = set[str](), set[str]()
    for element in _LINKS(tree):
        href = element.get("href")
        if href is not None:
            (unfollowed_hrefs if says_nofollow(element.get("rel")) else hrefs).add(_WITHIN if href.startswith(_WITHIN) else href.strip())
    # Queries count: often they alone tell one page from another.
    found = _ROOT.match(base)
    root, directory = (found[1], found[0]) if found else ("", "")
    followed, asked = ({_plain_target(root, directory, href) or _target(base, href) for href in kind} for kind in (hrefs, unfollowed_hrefs))
    return followed, asked


def _plain_target(root: str, directory: str, href: str) -> str:
    """Return the target of a link in which nothing is to be resolved; "" where there is. To resolve one costs ten times as much.

    `directory`: the address of the page's own one, `root` where it is not as plain.
    """
    if not href.isascii():
        return ""
    is_above = href.startswith(_UP)
    while href.startswith(_UP) and len(directory) > len(root) + 1:
        directory, href = f"{directory[:-1].rpartition('/')[0]}/", href.removeprefix(_UP)
    if len(directory) > len(root) and (below := _BELOW.match(href)):
        return "" if "/." in below[0] or "//" in below[0] else directory + below[0]
    found = None if is_above else _PLAIN.match(href)
    if not found:
        return ""
    host, path = found.groups()
    if not (host or root) or "/." in path:
        return ""
    return found[0] if host else root + found[0]


def _target(base: str, href: str) -> str:
    try:
        return urldefrag(urljoin(base, href)).url
    except ValueError:
        return href


def _count_outlinks(links: tuple[str, ...], url: str) -> int:
    """Return the number of http(s) targets of links, the page itself not counted."""
    return sum(map(_leads_to_a_page, {*links} - {urldefrag(url).url}))


def _leads_to_a_page(target: str) -> bool:
    if target.startswith(("http://", "https://")) and target.isascii() and "[" not in target:
        return True
    try:
        # A page without a URL has relative links only: they count as they stand.
        return urlsplit(target).scheme in ("http", "https", "")
    except ValueError:
        return False


def _tag_paths(tree: HtmlElement) -> str:
    paths: dict[HtmlElement, str] = {}
    for element in tree.iter():
        if isinstance(element.tag, str):
            parent = element.getparent()
            paths[element] = f"{paths[parent]}/{element.tag}" if parent in paths else element.tag
    return " ".join(paths.values())
