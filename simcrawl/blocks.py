"""A page's visible text in blocks, and which of them are its content: one walk over the tree, no state of a site.

Content is all text inside the smallest element that holds nearly all of the page's running text and a heading: tables, code and
lists of links stay in, what stands around that element (navigation, sidebars, footers) does not. A page without running text
keeps all its text. Content falls into prose, blocks of links, and what calls itself furniture or is a dateline; the last counts
as surroundings, with all that stands outside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.html import HtmlElement

# fmt: off
_UNSEEN = frozenset({
    "script", "style", "noscript", "template", "head", "svg", "iframe", "object", "canvas", "select", "option", "button",
    "textarea", "audio", "video"
})
_BREAKS = frozenset({
    "p", "div", "li", "td", "th", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "br", "dt", "dd", "section", "article", "table",
    "ul", "ol", "dl", "blockquote", "hr", "main", "header", "footer", "nav", "aside", "form", "figure", "figcaption", "address",
    "body", "html", "caption", "thead", "tbody", "tfoot", "fieldset", "legend", "center", "details", "summary", "dir", "menu",
    "label"
})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_DATA = frozenset({"td", "th", "pre"})
_AROUND = frozenset({"nav", "footer", "aside", "form", "label"})
_AROUND_ROLES = frozenset({
    "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "toolbar", "dialog", "alert"
})
# fmt: on
_AROUND_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|header|footer|igation|s)?|menu|bread-?crumbs?|foot(?:er)?|masthead|banner|ad(?:vert\w*|s)?|sponsor\w*|promo\w*"
    r"|related\w*|relbar|share\w*|sharing|social\w*|comments?|disqus\w*|widgets?|cookies?|popup|newsletter|subscri\w*|pagination|pager|copyright"
    r"|recommend\w*|trending|popular|sphinxsidebar)(?:$|[\s_-])",
    re.IGNORECASE,
)
# Dates, times, ages and counters change from day to day. (Han: year, month; the counters are those that pages show.)
_DATELINE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d|\b\d+\s*(?:min(?:ute)?s?|hours?|days?|weeks?|months?|years?) ago\b"
    r"|\b\d+\s*(?:comments?|views?|shares?|likes?|replies)\b|(?:19|20)\d\d\s*\u5e74|\d\s*\u6708\s*\d",
    re.IGNORECASE,
)
_DATELINE_WIDTH = 60
# A site's, or, in books, a box of text that belongs to the chapter.
_SIDEBAR = re.compile(r"(?:^|[\s_-])side-?bar(?:$|[\s_-])", re.IGNORECASE)
_CAMEL = re.compile("(?<=[a-z])(?=[A-Z])")
_WIDE = re.compile("[\u2e80-\uffdc\U00020000-\U0003ffff]")

# A wide character says about as much as three letters.
_WIDE_AS_LETTERS = 3
_PARAGRAPH = 80
_CONTAINER_SHARE = 0.9
# What a character of a short block, of a block of links, and of a block in furniture weighs when the container is looked for.
_SHORT_WEIGHT, _LINK_WEIGHT, _FURNITURE_WEIGHT = 0.3, 0.05, 0.1


@dataclass(frozen=True, slots=True)
class Block:
    """Text without a break in it, and what it is. `element`: number, in document order, of the element it stands in."""

    text: str
    element: int
    link_characters: int

    @property
    def is_links(self) -> bool:
        """Whether at least half of the text is links."""
        return 2 * self.link_characters >= len(self.text.replace(" ", ""))

    @property
    def width(self) -> int:
        """Length in letters; a wide character counts as three."""
        return len(self.text) if self.text.isascii() else len(self.text) + (_WIDE_AS_LETTERS - 1) * len(_WIDE.findall(self.text))


class Parts(NamedTuple):
    """The blocks of a page by what they are. `content` holds the prose, the links, and the furniture among them."""

    content: list[Block]
    prose: list[Block]
    links: list[Block]
    around: list[Block]


NO_PARTS = Parts([], [], [], [])


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a page and the tree they stand in. Elements have numbers in document order; 0 is above all.

    `depth`: how many elements stand in one another at most, unseen ones too.
    """

    blocks: list[Block] = field(default_factory=list)
    parents: list[int] = field(default_factory=lambda: [0])
    named_around: set[int] = field(default_factory=set)
    headings: set[int] = field(default_factory=set)
    data: set[int] = field(default_factory=set)
    sidebars: set[int] = field(default_factory=set)
    depth: int = 0

    def parts(self) -> Parts:
        """Return the blocks inside the page's container, what each of them is, and what stands around them."""
        furniture, boxed = self._furniture(self.named_around | self.sidebars), self._furniture(self.named_around)
        inside = self._below({self._container(furniture)})
        parts = Parts([], [], [], [])
        for block in self.blocks:
            own = inside[block.element]
            if own:
                parts.content.append(block)
            named = boxed if block.width >= _PARAGRAPH else furniture
            if not own or named[block.element] or self._is_dateline(block):
                parts.around.append(block)
            else:
                (parts.links if block.is_links else parts.prose).append(block)
        return parts

    def _is_dateline(self, block: Block) -> bool:
        # Not in tables, code and headings: there a year or a number is content.
        named = block.element in self.data or block.element in self.headings or block.is_links
        return not named and block.width < _DATELINE_WIDTH and bool(_DATELINE.search(block.text))

    def _furniture(self, named: set[int]) -> list[bool]:
        """Return for each element whether it is, or stands in, one that is named and is not half of the page."""
        sizes = self._sums((block.element, len(block.text)) for block in self.blocks)
        return self._below({element for element in named if 2 * sizes[element] < sizes[0]})

    def _container(self, furniture: list[bool]) -> int:
        weights = self._sums((block.element, _weight(block, furniture=furniture[block.element])) for block in self.blocks)
        headings = self._sums((element, 1) for element in self.headings if not furniture[element])
        # Elements that hold more than half of the weight contain one another: the last one is the innermost.
        innermost = max(element for element, weight in enumerate(weights) if weight >= _CONTAINER_SHARE * weights[0])
        container = innermost
        while container and not headings[container]:
            container = self.parents[container]
        return container if headings[container] else innermost

    def _sums(self, values: Iterable[tuple[int, float]]) -> list[float]:
        """Return for each element the sum of the values in it and below it."""
        sums = [0.0] * len(self.parents)
        for element, value in values:
            sums[element] += value
        for element in range(len(sums) - 1, 0, -1):
            sums[self.parents[element]] += sums[element]
        return sums

    def _below(self, roots: set[int]) -> list[bool]:
        """Return for each element whether it is one of `roots` or below one."""
        below = [0 in roots] * len(self.parents)
        for element in range(1, len(below)):
            below[element] = below[self.parents[element]] or element in roots
        return below


def _weight(block: Block, *, furniture: bool) -> float:
    kind = _LINK_WEIGHT if block.is_links else 1 if block.width >= _PARAGRAPH else _SHORT_WEIGHT
    return block.width * kind * (_FURNITURE_WEIGHT if furniture else 1)


def join(blocks: Iterable[Block]) -> str:
    """Return the blocks' text, one block a line."""
    return "\n".join(block.text for block in blocks)


def layout(tree: HtmlElement) -> Layout:
    """Return the layout of a parsed page. Text hidden by attribute or style counts as visible: a script may show it."""
    # Loaded on first use: whoever compares pages or opens a store parses none.
    from lxml import etree  # noqa: PLC0415

    walk = _Walk()
    unseen = depth = deepest = 0
    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        depth += (event == "start") - (event == "end")
        deepest = max(deepest, depth)
        if event == "start":
            if unseen or element.tag in _UNSEEN:
                unseen += 1
            else:
                walk.enter(element)
        elif event == "end" and not unseen:
            walk.leave(element)
        else:
            unseen -= event == "end"
            if not unseen:
                walk.read(element.tail)
    walk.end_block()
    return replace(walk.layout, depth=deepest)


class _Walk:
    """Collects a layout while the tree is walked."""

    def __init__(self) -> None:
        self.layout = Layout()
        # (number, in a link) of the open elements.
        self._open = [(0, False)]
        self._pieces: list[str] = []
        self._link_characters = 0

    def enter(self, element: HtmlElement) -> None:
        tag, (parent, in_link) = element.tag, self._open[-1]
        if tag in _BREAKS:
            self.end_block()
        number = len(self.layout.parents)
        self.layout.parents.append(parent)
        name = _name(element)
        if _is_around(element, name):
            self.layout.named_around.add(number)
        if _SIDEBAR.search(name):
            self.layout.sidebars.add(number)
        if tag in _HEADINGS:
            self.layout.headings.add(number)
        if tag in _DATA:
            self.layout.data.add(number)
        self._open.append((number, in_link or (tag == "a" and element.get("href") is not None)))
        self.read(element.text)

    def leave(self, element: HtmlElement) -> None:
        if element.tag in _BREAKS:
            self.end_block()
        self._open.pop()
        self.read(element.tail)

    def read(self, text: str | None) -> None:
        if text:
            self._pieces.append(text)
            if self._open[-1][1]:
                self._link_characters += len("".join(text.split()))

    def end_block(self) -> None:
        if text := " ".join("".join(self._pieces).split()):
            self.layout.blocks.append(Block(text, self._open[-1][0], self._link_characters))
        self._pieces, self._link_characters = [], 0


def _name(element: HtmlElement) -> str:
    if element.tag in ("html", "body"):
        return ""
    return _CAMEL.sub("-", f"{element.get('class') or ''} {element.get('id') or ''}".strip())


def _is_around(element: HtmlElement, name: str) -> bool:
    if element.tag in ("html", "body"):
        return False
    return element.tag in _AROUND or element.get("role") in _AROUND_ROLES or bool(name and _AROUND_NAMES.search(name))
