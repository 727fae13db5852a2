"""Surgery on article pages: what is the article, what is furniture, and exchanging the one without the other.

Shares no code with simcrawl, and none with trafilatura: the article's text is what resiliparse takes for a page's main content. The
container is the innermost element that holds nearly all of the article's running text. A block is the text whose nearest block element
is the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lxml import etree, html as lxml_html
from resiliparse.extract.html2text import extract_plain_text

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

# fmt: off
_SILENT = frozenset({
    "script", "style", "noscript", "template", "head", "svg", "iframe", "object", "select", "button", "textarea", "canvas"
})
INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "label",
    "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "br", "wbr"
})
_FURNITURE_TAGS = frozenset({"nav", "aside", "footer", "form", "time", "button"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_PARTS = frozenset({"p", "td", "tr", "tbody", *_HEADINGS})
# fmt: on
_FURNITURE_NAMES = re.compile(
    r"share|social|relat|recommend|newsletter|subscri|promo|advert|sponsor|\bads?\b|[-_]ads?\b|\bads?[-_]|widget|toolbar|tags?\b|comment|sidebar|"
    r"nav|menu|crumb|most-|popular|trending|more-|readmore|outbrain|taboola|follow|pager|pagin|prev|next|copyright|footer|author-bio|cookie",
    re.IGNORECASE,
)
_META_NAMES = re.compile(r"date|time|publish|updat|byline|view|count|meta|stat|posted|author", re.IGNORECASE)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATE = re.compile(
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH},?\s+\d{{4}}|\d{{4}}[-/.年]\s?\d{{1,2}}[-/.月]\s?\d{{1,2}}日?"
    r"|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|\d+\s+(?:minute|hour|day|week|month|year)s?\s+ago|\d+\s?(?:分钟|小时|天)前",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3]|[^\W\u2e80-\u9fff\uac00-\ud7a3]+")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#0?[0-8];|&#x0?[0-8];")
# Of hours and months, of days, of minutes: a number becomes another one of the least of these that holds it.
_RANGES = ((1, 12), (13, 28), (29, 59))
_COUNTER = re.compile(
    r"[\s(+]*[\d.,]+\s*[km]?[\s)]*(?:comments?|repl(?:y|ies)|shares?|views?|likes?|votes?|tweets?|reads?|跟贴|评论|阅读|人参与|浏览|次|分享|条)?[\s\w)]{0,12}"
    r"|[^\d\s]{2,12}[\s:：(（]*[\d.,]+[\s)）]*",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"comment|repl|share|view|like|vote|tweet|read|follow|跟贴|评论|阅读|参与|浏览|次|分享|条", re.IGNORECASE)
_BY_THE_SITE = re.compile(
    r"©|copyright|all rights|cookie|subscri|sign up|password|e-?mail|版权|备案|ICP|登录|二维码|客户端|声明|http", re.IGNORECASE
)
_SHINGLE = 5
_RUNNING, _SHORT_LINE = 12, 30
_MOST_GROWTH = 1.4
_CONTAINER_SHARES = (0.97, 0.9, 0.8)


def tokens(text: str) -> list[str]:
    """Return lower-case words; Han, kana and hangul one character each."""
    return _WORD.findall(text.lower())


def shingles(words: list[str]) -> set[tuple[str, ...]]:
    """Return the distinct runs of five words; one shorter run where there are fewer."""
    return {tuple(words[i : i + _SHINGLE]) for i in range(max(1, len(words) - _SHINGLE + 1))} if words else set()


@dataclass(slots=True)
class Block:
    """Text of one block element, without that of block elements in it."""

    element: HtmlElement
    pieces: list[str] = field(default_factory=list)
    link_letters: int = 0

    @property
    def text(self) -> str:
        """The text on one line."""
        return " ".join(_NOT_XML.sub(" ", "".join(self.pieces)).split())

    @property
    def is_links(self) -> bool:
        """Whether most of the text is links."""
        return 5 * self.link_letters >= 3 * len("".join(self.text.split())) > 0


def blocks(root: HtmlElement) -> list[Block]:
    """Return the blocks with text below an element, in document order."""
    found: dict[HtmlElement, Block] = {}
    _collect(root, Block(root), found, in_link=False)
    return [block for block in found.values() if block.text]


def _collect(element: HtmlElement, owner: Block, found: dict[HtmlElement, Block], *, in_link: bool) -> None:
    if not isinstance(element.tag, str) or element.tag in _SILENT:
        return
    if element.tag not in INLINE:
        owner = Block(element)
    if element.tag == "br":
        owner.pieces.append(" ")
    in_link = in_link or element.tag == "a"
    _read(element.text, owner, found, in_link=in_link)
    for child in element:
        _collect(child, owner, found, in_link=in_link)
        _read(child.tail, owner, found, in_link=in_link)


def _read(text: str | None, owner: Block, found: dict[HtmlElement, Block], *, in_link: bool) -> None:
    if text and (text.strip() or owner.pieces):
        found.setdefault(owner.element, owner)
        owner.pieces.append(text)
        owner.link_letters += in_link * len("".join(text.split()))


@dataclass(slots=True)
class Anatomy:
    """A page taken apart. `article`: the blocks of the container that are the article's; `furniture`: all other blocks of the page.

    `headline`: the article's, where it stands outside the container.
    """

    tree: HtmlElement
    container: HtmlElement
    article: list[Block]
    furniture: list[Block]
    headline: HtmlElement | None

    @property
    def words(self) -> list[str]:
        """The article's words."""
        return [word for block in self.article for word in tokens(block.text)]

    def path(self) -> list[HtmlElement]:
        """Return the elements from below the body down to the container."""
        above = [element for element in self.container.iterancestors() if element.tag not in ("html", "body")]
        return [*reversed(above), self.container]

    def inner_furniture(self) -> list[HtmlElement]:
        """Return the outermost elements inside the container that hold furniture and none of the article."""
        kept = {above for block in self.article for above in (block.element, *block.element.iterancestors())}
        return list(dict.fromkeys(self._outermost(block.element, kept) for block in self.furniture if self._inside(block, kept)))

    def _inside(self, block: Block, kept: set[HtmlElement]) -> bool:
        return block.element not in kept and self.container in block.element.iterancestors()

    def _outermost(self, element: HtmlElement, kept: set[HtmlElement]) -> HtmlElement:
        while (parent := element.getparent()) is not None and parent not in kept and parent is not self.container:
            element = parent
        return element


def parse(html: str) -> HtmlElement:
    """Return a page's tree, without comments and scripts: they play no part, and have to survive no move."""
    tree: HtmlElement = lxml_html.document_fromstring(_NOT_XML.sub(" ", _DECLARATION.sub("", html)))
    etree.strip_elements(tree, etree.Comment, etree.ProcessingInstruction, "script", "noscript", with_tail=False)
    return tree


def body(tree: HtmlElement) -> HtmlElement:
    """Return the body of a page; the page itself where it has none."""
    found: HtmlElement | None = tree.find("body")
    return tree if found is None else found


def serialise(tree: HtmlElement) -> str:
    """Return the page's HTML."""
    return str(lxml_html.tostring(tree, encoding="unicode", doctype="<!DOCTYPE html>"))


def dissect(html: str) -> Anatomy | None:
    """Return the anatomy of a page; None where no article stands out from the rest of the page."""
    try:
        tree = parse(html)
    except (etree.ParserError, ValueError):
        return None
    main = extract_plain_text(serialise(tree), main_content=True, comments=False, alt_texts=False, list_bullets=False, post_meta=False)
    page, known = blocks(body(tree)), _Known(main)
    running = [block for block in page if _is_running(block) and known.has(block)]
    container = _container(running, tree)
    if container is None:
        return None
    container = _with_headline(container, _headline(tree, page, container), page)
    article = [block for block in page if _below(block.element, container) and not _is_furniture(block, container, known)]
    chosen = {id(block) for block in article}
    headline = _headline(tree, page, container)
    around = [block for block in page if id(block) not in chosen and block.element is not headline]
    return Anatomy(tree, container, article, around, headline)


class _Known:
    """What belongs to the main content of a page."""

    def __init__(self, text: str) -> None:
        self._shingles = shingles(tokens(text))
        self._lines = {" ".join(tokens(line)) for line in text.splitlines()}

    def has(self, block: Block) -> bool:
        words = tokens(block.text)
        if len(words) < 2 * _SHINGLE:
            return " ".join(words) in self._lines
        own = shingles(words)
        return 5 * len(own & self._shingles) >= 4 * len(own)


def _is_running(block: Block) -> bool:
    return len(tokens(block.text)) >= _RUNNING and not block.is_links


def _below(element: HtmlElement, root: HtmlElement) -> bool:
    return element is root or root in element.iterancestors()


def _container(running: list[Block], tree: HtmlElement) -> HtmlElement | None:
    weights: dict[HtmlElement, int] = defaultdict(int)
    for block in running:
        for element in (block.element, *block.element.iterancestors()):
            weights[element] += len(tokens(block.text))
    if not weights:
        return None
    for share in _CONTAINER_SHARES:
        # The least heavy that is heavy enough; of equals the innermost, which was met first.
        found = min((e for e, w in weights.items() if w >= share * weights[tree]), key=lambda e: (weights[e], -_depth(e)))
        if found.tag in _PARTS:
            found = next(above for above in found.iterancestors() if above.tag not in _PARTS)
        if found.tag not in ("html", "body"):
            return found
    return None


def _with_headline(container: HtmlElement, headline: HtmlElement | None, page: list[Block]) -> HtmlElement:
    """Return the innermost element with the headline too, unless that is much more than the article."""
    if headline is None:
        return container
    above = set(headline.iterancestors())
    both = next(element for element in container.iterancestors() if element in above)
    grown, words = (sum(len(tokens(block.text)) for block in page if _below(block.element, root)) for root in (both, container))
    has_more = any(next(both.iter(tag), None) is not None for tag in ("nav", "footer"))
    return both if both.tag not in ("html", "body") and not has_more and grown <= _MOST_GROWTH * words else container


def _depth(element: HtmlElement) -> int:
    return sum(1 for _ in element.iterancestors())


def _is_furniture(block: Block, container: HtmlElement, known: _Known) -> bool:
    if is_meta(block):
        return True
    called_so = _called(block.element, container, _FURNITURE_NAMES) or _in_tags(block.element, container)
    if known.has(block) and _is_running(block):
        return False
    return called_so or (block.is_links and (_in_list(block.element, container) or not known.has(block)))


def _called(element: HtmlElement, container: HtmlElement, names: re.Pattern[str]) -> bool:
    return any(names.search(f"{above.get('class') or ''} {above.get('id') or ''}") for above in _up_to(element, container))


def _in_tags(element: HtmlElement, container: HtmlElement) -> bool:
    return any(above.tag in _FURNITURE_TAGS for above in _up_to(element, container))


def _in_list(element: HtmlElement, container: HtmlElement) -> bool:
    return any(above.tag in ("li", "ul", "ol", "dl", *_HEADINGS) for above in _up_to(element, container))


def _up_to(element: HtmlElement, container: HtmlElement) -> Iterator[HtmlElement]:
    if element is container:
        return
    yield element
    for above in element.iterancestors():
        if above is container:
            return
        yield above


def is_meta(block: Block) -> bool:
    """Whether a block is a line of dates and counters."""
    if len(tokens(block.text)) > _SHORT_LINE:
        return False
    name = f"{block.element.get('class') or ''} {block.element.get('id') or ''}"
    dated = _DATE.search(block.text)
    return bool(dated and (len(dated[0]) * 3 >= len(block.text) or _META_NAMES.search(name))) or block.element.tag == "time"


def is_counter(block: Block) -> bool:
    """Whether a block is a number of comments, views and the like."""
    return bool(_COUNTER.fullmatch(block.text) and (_COUNTED.search(block.text) or _META_NAMES.search(block.element.get("class") or "")))


def _headline(tree: HtmlElement, page: list[Block], container: HtmlElement) -> HtmlElement | None:
    title = set(tokens(tree.findtext(".//title") or ""))
    headings = [block for block in page if block.element.tag in _HEADINGS[:3] and len(tokens(block.text)) > 1]
    alike = [block.element for block in headings if len(title & set(tokens(block.text))) >= 0.7 * len(set(tokens(block.text)))]
    return next((element for element in alike if not _below(element, container)), None)


# What a page's furniture is exchanged for.


@dataclass(slots=True)
class Pool:
    """Furniture of other pages of one language. `modules`: elements with a few words of text."""

    headlines: list[str]
    teasers: list[str]
    modules: list[HtmlElement]

    @classmethod
    def of(cls, pages: Iterable[Anatomy]) -> Pool:
        """Collect the furniture of pages."""
        found = cls([], [], [])
        for page in pages:
            found.headlines += [block.text for block in page.furniture if is_headline(block)]
            found.teasers += [block.text for block in page.furniture if is_teaser(block)]
            found.modules += [element for element in page.inner_furniture() if 4 <= len(tokens(text_of(element))) <= 60]
        return found


def is_headline(block: Block) -> bool:
    """Whether a block is a link to an article, by its length: menus have shorter ones."""
    return block.is_links and _is_line(block, 5, 25)


def is_teaser(block: Block) -> bool:
    """Whether a block is a sentence beside a link to an article; what a site says of itself on all its pages is none."""
    if block.is_links or not _is_line(block, 12, 60) or is_meta(block) or _BY_THE_SITE.search(block.text):
        return False
    around = block.element.getparent()
    return around is not None and around.tag not in ("body", "html") and any(is_headline(other) for other in blocks(around))


def text_of(element: HtmlElement) -> str:
    """Return the visible text below an element."""
    return " ".join(block.text for block in blocks(element))


def _is_line(block: Block, least: int, most: int) -> bool:
    words = tokens(block.text)
    # Two characters of Han make a word.
    return least <= len(words) - sum(word > "\u2e80" for word in words) // 2 <= most


def remove(element: HtmlElement) -> None:
    """Take an element out of its tree; the text after it stays."""
    element.drop_tree()


def copy(element: HtmlElement) -> HtmlElement:
    """Return a deep copy without the text after the element."""
    copied = deepcopy(element)
    copied.tail = None
    return copied


def write(element: HtmlElement, text: str) -> None:
    """Put a text in place of all text of a block, into its link where it has one; elements without text stay as they are."""
    target = next((link for link in element.iter("a") if (link.text_content() or "").strip()), element)
    for below in element.iter():
        if isinstance(below.tag, str) and below.tag not in _SILENT:
            below.text = None if below.tag in INLINE or below is element else below.text
            if below is not element:
                below.tail = None
    target.text = text


def at_another_time(text: str, rng: random.Random) -> str:
    """Return a line of dates or counters with other numbers: years stay years, months months, minutes minutes."""
    return re.sub(r"\d+", lambda found: _other_number(found[0], rng), text)


def _other_number(digits: str, rng: random.Random) -> str:
    value = int(digits)
    if len(digits) == 4 and 1900 <= value < 2100:
        return str(value - rng.randint(0, 1))
    least, most = next(((least, most) for least, most in _RANGES if value <= most), (10 ** (len(digits) - 1), 10 ** len(digits) - 1))
    return str(rng.randint(least, most)).zfill(len(digits) if digits.startswith("0") else 1)
