"""A page's visible text in blocks, and which of them are its content: one walk over the tree, no state of a site.

Content is all text inside the smallest element that holds nearly all of the page's running text and a heading: tables, code and
lists of links stay in, what stands around that element (navigation, sidebars, footers) does not. A page without running text
keeps all its text. Content falls into prose, blocks of links, and what calls itself furniture or is a dateline; the last counts
as surroundings, with all that stands outside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
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
_LONGEST_NAMES = 256
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
        return bool(self.link_characters) and 2 * self.link_characters >= len(self.text.replace(" ", ""))

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
        sizes = self._sums((block.element, len(block.text)) for block in self.blocks)
        boxed = self._furniture(self.named_around, sizes)
        furniture = self._furniture(self.named_around | self.sidebars, sizes) if self.sidebars else boxed
        widths, links = [block.width for block in self.blocks], [block.is_links for block in self.blocks]
        inside = self._below({self._container(furniture, widths, links)})
        parts = Parts([], [], [], [])
        for block, width, is_links in zip(self.blocks, widths, links, strict=True):
            own = inside[block.element]
            if own:
                parts.content.append(block)
            named = boxed if width >= _PARAGRAPH else furniture
            if not own or named[block.element] or (width < _DATELINE_WIDTH and not is_links and self._is_dateline(block)):
                parts.around.append(block)
            else:
                (parts.links if is_links else parts.prose).append(block)
        return parts

    def _is_dateline(self, short: Block) -> bool:
        # Not in tables, code and headings: there a year or a number is content.
        named = short.element in self.data or short.element in self.headings
        return not named and bool(_DATELINE.search(short.text))

    def _furniture(self, named: set[int], sizes: list[float]) -> list[bool]:
        """Return for each element whether it is, or stands in, one that is named and is not half of the page."""
        return self._below({element for element in named if 2 * sizes[element] < sizes[0]})

    def _container(self, furniture: list[bool], widths: list[int], links: list[bool]) -> int:
        found = zip(self.blocks, widths, links, strict=True)
        weights = self._sums(
            (block.element, _weight(width, is_links=is_links, furniture=furniture[block.element])) for block, width, is_links in found
        )
        headings = self._sums((element, 1) for element in self.headings if not furniture[element])
        # Elements that hold more than half of the weight contain one another: the last one is the innermost.
        enough = _CONTAINER_SHARE * weights[0]
        innermost = next(element for element in range(len(weights) - 1, -1, -1) if weights[element] >= enough)
        container = innermost
        while container and not headings[container]:
            container = self.parents[container]
        return container if headings[container] else innermost

    def _sums(self, values: Iterable[tuple[int, float]]) -> list[float]:
        """Return for each element the sum of the values in it and below it."""
        parents, sums = self.parents, [0.0] * len(self.parents)
        for element, value in values:
            sums[element] += value
        for element in range(len(sums) - 1, 0, -1):
            sums[parents[element]] += sums[element]
        return sums

    def _below(self, roots: set[int]) -> list[bool]:
        """Return for each element whether it is one of `roots` or below one."""
        below = [0 in roots]
        for element in range(1, len(self.parents)):
            below.append(below[self.parents[element]] or element in roots)
        return below


def _weight(width: int, *, is_links: bool, furniture: bool) -> float:
    kind = _LINK_WEIGHT if is_links else 1 if width >= _PARAGRAPH else _SHORT_WEIGHT
    return width * kind * (_FURNITURE_WEIGHT if furniture else 1)


def join(blocks: Iterable[Block]) -> str:
    """Return the blocks' text, one block a line."""
    return "\n".join(block.text for block in blocks)


def layout(tree: HtmlElement) -> Layout:
    """Return the layout of a parsed page. Text hidden by attribute or style counts as visible: a script may show it."""
    # Loaded on first use: whoever compares pages or opens a store parses none.
    from lxml import etree  # noqa: PLC0415

    walk = _Walk()
    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            walk.enter(element)
        elif event == "end":
            walk.leave(element)
        else:
            walk.read(element.tail)
    return walk.end()


class _Walk:
    """Collects a layout while the tree is walked."""

    def __init__(self) -> None:
        self._layout = Layout()
        # (number, in a link, breaks lines) of the open elements.
        self._open = [(0, False, False)]
        self._unseen = self._depth = 0
        self._pieces: list[str] = []
        self._link_characters = 0

    def enter(self, element: HtmlElement) -> None:
        tag, (parent, in_link, _) = element.tag, self._open[-1]
        if self._unseen or tag in _UNSEEN:
            self._unseen += 1
            self._deepen()
            return
        breaks = tag in _BREAKS
        if breaks:
            self._end_block()
        number = len(self._layout.parents)
        self._layout.parents.append(parent)
        self._classify(element, tag, number)
        self._open.append((number, in_link or (tag == "a" and element.get("href") is not None), breaks))
        self._deepen()
        self.read(element.text)

    def leave(self, element: HtmlElement) -> None:
        if self._unseen:
            self._unseen -= 1
        else:
            if self._open[-1][2]:
                self._end_block()
            self._open.pop()
        self.read(element.tail)

    def read(self, text: str | None) -> None:
        if text and not self._unseen:
            self._pieces.append(text)
            if self._open[-1][1]:
                self._link_characters += len("".join(text.split()))

    def end(self) -> Layout:
        self._end_block()
        return replace(self._layout, depth=self._depth)

    def _deepen(self) -> None:
        self._depth = max(self._depth, len(self._open) - 1 + self._unseen)

    def _classify(self, element: HtmlElement, tag: object, number: int) -> None:
        if tag in ("html", "body"):
            return
        names = f"{element.get('class') or ''} {element.get('id') or ''}"
        # The cache is not to keep what a page made up.
        around, sidebar = _kinds(names) if len(names) <= _LONGEST_NAMES else _kinds.__wrapped__(names)
        if around or tag in _AROUND or element.get("role") in _AROUND_ROLES:
            self._layout.named_around.add(number)
        if sidebar:
            self._layout.sidebars.add(number)
        if tag in _HEADINGS:
            self._layout.headings.add(number)
        if tag in _DATA:
            self._layout.data.add(number)

    def _end_block(self) -> None:
        if self._pieces:
            if text := " ".join("".join(self._pieces).split()):
                self._layout.blocks.append(Block(text, self._open[-1][0], self._link_characters))
            self._pieces, self._link_characters = [], 0


# The pages of a site share their names.
@lru_cache(maxsize=4096)
def _kinds(names: str) -> tuple[bool, bool]:
    """Return whether an element with this class and id calls itself surroundings, and whether a sidebar."""
    words = _CAMEL.sub("-", names.strip())
    return bool(_AROUND_NAMES.search(words)), bool(_SIDEBAR.search(words))
