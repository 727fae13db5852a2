"""A page's visible text in blocks, and which of them are its content: one walk over the tree, no state of a site.

Content is all text inside the smallest element that holds nearly all of the page's running text and a heading: tables, code and
lists of links stay in, what stands around that element (navigation, sidebars, footers) does not. A page without running text
keeps all its text. Content falls into prose, blocks of links, and what calls itself furniture or is a dateline; the last counts
as surroundings, with all that stands outside.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, chain, groupby, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.page import pictures
from simcrawl.page.echoes import Echoes
from simcrawl.page.patterns import late
from simcrawl.page.scripts import given, is_data, json_in, texts
from simcrawl.page.told import Told
from simcrawl.page.visits import counts_readers, is_of_a_visit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

# fmt: off
# Nobody sees what is in these, or only instead of something else. What can be read in those of `_HIDDEN` counts as unseen text.
_SKIPPED = frozenset({"style", "canvas", "head", "script", "object", "iframe", "audio", "video"})
_HIDDEN = frozenset({"noscript", "template", "svg", "select", "datalist"})
_BREAKS = frozenset({
    "p", "div", "li", "td", "th", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "br", "dt", "dd", "section", "article", "table",
    "ul", "ol", "dl", "blockquote", "hr", "main", "header", "footer", "nav", "aside", "form", "figure", "figcaption", "address",
    "body", "html", "caption", "thead", "tbody", "tfoot", "fieldset", "legend", "center", "details", "summary", "dir", "menu",
    "label", "button", "textarea", "template"
})
_UNSEEN_BREAKS = _BREAKS | {"option", "optgroup", "text", "title", "desc", "noscript", "svg", "select"}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_DATA = frozenset({"td", "th", "pre", "dt", "dd"})
_AROUND = frozenset({"nav", "footer", "aside"})
# As a name that boxes of content have as well, see `_LINKS_NAMES`.
_ASKING = frozenset({"form", "label"})
_AROUND_ROLES = frozenset({
    "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "toolbar", "dialog", "alert"
})
# A name says something of these; a paragraph, a cell or a word in a line has a name for its looks.
_BOXES = frozenset({
    "div", "section", "header", "footer", "nav", "aside", "ul", "ol", "dl", "menu", "dir", "table", "form", "center", "details", "figure",
    "fieldset", "dialog"
})
_LEAVES_OUT = frozenset({"footer"})
_LEAVES_OUT_ROLES = frozenset({"contentinfo", "banner"})
# A header that stands in one of these is that of a part of the page, and not of the site.
_SECTIONING = frozenset({"article", "aside", "main", "nav", "section"})
# The number of the outermost element. What stands nowhere may be said to stand there, unlike the data of a page that shows nothing yet.
_ROOT = 1
# So many elements with JSON in an attribute are read, and so many of them looked through for text.
_MOST_WITH_DATA, _MOST_LOOKED_THROUGH = 1000, 50
# Of all other elements only attributes say something, see `_Walk._classify`.
_TELLING = _AROUND | _ASKING | _BOXES | _LEAVES_OUT | _HEADINGS | _DATA | {"button", "textarea", "header", "main", "blockquote"}
# The attributes that people read, and those that lead to what is shown in place.
_SHOWN = {"img": ("alt",), "area": ("alt",), "input": ("value", "placeholder", "alt"), "textarea": ("placeholder",), "optgroup": ("label",)}
_TARGETS = {
    "iframe": "src", "embed": "src", "object": "data", "video": "src", "audio": "src", "source": "src", "frame": "src",
    "turbo-frame": "src", "include-fragment": "src",
}
_TYPED = frozenset({"", "text", "button", "submit", "reset", "url", "number", "email", "tel", "search", "image"})
# Where client-side programs put what they draw.
_MOUNTS = frozenset({
    "root", "app", "__next", "__nuxt", "___gatsby", "react-root", "main-app", "app-root", "svelte", "ember-app", "q-app",
    "react-app", "vue-app", "blazor-app", "application", "app-mount", "app-container", "flutter-app"
})
# The tag of a component that is one.
_MOUNT_TAG = late(r"(?:^|-)(?:app|root|outlet)(?:-|$)")
_META = frozenset({"description", "og:title", "og:description", "twitter:title", "twitter:description"})
# fmt: on
_START, _END = r"(?:^|[\s_-])", r"(?:$|[\s_-])"
# Names of surroundings, whatever is in them (but that of Bootstrap's cards, which are parts of a page) ...
_AROUND_NAMES = late(
    rf"{_START}(?:nav(?:bar|header|footer|igation)|bread-?crumbs?|mw-revision|print-?footer|(?<!card[_-])(?<!card__)(?<!panel-)foot(?:er)?|masthead|advert(?:s|isements?|ising|orial)?|ads|sponsor(?:s|ed|ship)?"
    rf"|relbar|sharing|share-?(?:bar|box|buttons?|links?|icons?|tools?|this)|social(?:-?(?:media|bar|buttons?|links?|icons?|share|sharing))?|disqus\w*"
    rf"|cookies?|consent|newsletters?|subscri(?:be|bers?|ptions?)|pagination|pager|copyright|trending|sphinxsidebar){_END}",
    re.IGNORECASE,
)
# ... and names that boxes of content have as well: such a box is furniture where most of it is links.
_LINKS_NAMES = late(
    rf"{_START}(?:navs?|menu|banner|ad|promo\w*|related\w*|share\w*|comments?|widgets?|popup|recommend\w*|popular|most-\w+|(?:up|cross)-?sells?"
    rf"|(?:similar|viewed|featured)[_-](?:products|items|posts|articles)|also-(?:bought|viewed|like)|recently-viewed|more-(?:stories|posts|products)){_END}",
    re.IGNORECASE,
)
# How a box begins that leads to other pages: in shops, blogs and forums.
_LEADS_ON = late(
    r"(?:(?:related|similar|recommended|suggested) (?:products|items|posts|articles|stories|videos|reading)|recently viewed|viewed products"
    r"|read next|more (?:posts|stories|products)|you (?:may|might) (?:also )?(?:like|enjoy)|recommended for you|we found other products"
    r"|customers (?:who|also)|(?:others|people) also (?:bought|viewed|like)|\d+ other products|(?:\xe4hnliche|verwandte) (?:produkte"
    r"|artikel|beitr\xe4ge)"
    r"|das k\xf6nnte|auch interessant|zuletzt angesehen|kunden kauften|produits (?:similaires|associ\xe9s)|vous aimerez|articles similaires"
    r"|tambi\xe9n te puede|(?:productos|entradas|art\xedculos|produtos) relacionad|potrebbe(?:ro)? interessarti|podobne (?:produkty"
    r"|artyku\u0142y)"
    r"|\u043f\u043e\u0445\u043e\u0436\u0438\u0435 \u0442\u043e\u0432\u0430\u0440\u044b|\u0447\u0438\u0442\u0430\u0439\u0442\u0435"
    r"|[\u76f8\u95dc\u5173]{2}(?:\u6587\u7ae0|\u4ea7\u54c1|\u7522\u54c1|\u5546\u54c1|\u63a8\u8350|\u9605\u8bfb|\u65b0\u95fb)"
    r"|\u95a2\u9023(?:\u8a18\u4e8b|\u5546\u54c1|\u88fd\u54c1))",
    re.IGNORECASE,
)
_LEAST_BESIDE_OTHERS, _PROSE_TO_OTHERS = 300, 3
# What WordPress and Drupal say in a class of the page's own box: what it is about ("post-7 category-cookies", "node node-newsletter").
_SUBJECT = late(r"(?<!\S)(?:category|tag|product_(?:cat|tag)|node-{1,2}type|type|taxonomy)-\S+|(?<=(?<!\S)node )node-\S+", re.IGNORECASE)
_OWN_BOX = late(r"(?<!\S)(?:hentry|post-\d+|node|product)(?!\S)", re.IGNORECASE)
# What a page may be about as well, where more is said behind it: "sponsor-profile", "cookie-recipe".
_MAY_BE_ABOUT = late(
    r"(?:^|\s)(?:advert(?:s|isements?|isers?)?|ads|sponsors?|sharing|social(?:-?media)?|cookies?|newsletters?|subscri(?:bers?|ptions?)|copyright|foot|trending)"
    r"[_-](?!bar|box|banner|button|icon|link|logo|list|form|popup|modal|overlay|dialog|layer|wall|message|notice|alert|info|law|policy|consent|settings"
    r"|preferences|manager|control|opt|sign|subscri|regist|wrap|widget|area|container|inner|block|section|footer|header)\w",
    re.IGNORECASE,
)
# A price or a height is no date, whatever year it looks like. (Signs and codes; koruna, zloty, ruble, yuan, yen, won. "2019 m." and
# "2019 g." are years in Lithuanian and Croatian.)
_CURRENCY = "[$\\u20a0-\\u20bf\\xa2-\\xa5]"
_UNIT = (
    rf"(?:{_CURRENCY}|[%\u2030\xb0]|(?-i:EUR|USD|GBP|CHF|CZK|PLN|HUF|SEK|NOK|DKK|JPY|CNY|INR|K\u010d|Ft|kr|RM|[kcm]?m[\xb2\xb3]?(?!\.)|k?g(?!\.)|ml|k?W|kWh|V|[kMG]?Hz"
    r"|[kMGT]B|hp|PS|cc|rpm|kcal)(?!\w)|z\u0142|\u0440\u0443\u0431|\u5143|\u5186|\uc6d0)"
)
# "1920.44.4" and "2024/117", of a museum and a file: no month is called so. Where a day and a month stand before the year a time follows.
_OF_A_CODE = r"(?<!\d[./-]\d{4})[./](?:1[3-9]|[2-9]\d|\d{3})"
# Of a catalogue, a number that looks like a year: "NGC 2014", "Lot 2014". Not months, zones of time, whose rights they are, and when.
_CATALOGUED = late(
    r"(?<![\d.]\s)(?<!\(c\)\s)(?<!\xa9\s)\b(?:(?-i:(?!(?:JAN|ENE|GEN|FEB|FEV|MAR|MRT|APR|ABR|AVR|MAI|MAY|MEI|MAG|MAJ|JU[NLI]|GIU|LUG|AUG|AGO|AO[U\xdb]"
    r"|SE[PT]|SEPT|O[CKTU]T|NOV|DE[CZ]|DIC|UTC|GMT|[A-Z]E?[SD]T|CET|MON|TUE|WED|THU|FRI|SAT|SUN|AD|CE|BC|ON|IN|AT|BY|AM|UM|IM|FY|Q[1-4])\b)[A-Z]{2,4})"
    r"|lot|no|nr|item|object|asteroid|plot|room|bib)\.?\s(?:19|20)\d\d(?![\w/:]|[-.]\d)",
    re.IGNORECASE,
)
_INVENTORY = late(r"\W*(?:inv(?:ent\w*)?|acc(?:ession)?|cat(?:al\w*)?|signatur)\b", re.IGNORECASE)
_PRICE = late(rf"{_CURRENCY}\s?\d|\d\s?{_CURRENCY}")
# Dates, times, ages and counters change from day to day, or with each visit: readers, people who look on, things in a basket. (Not English:
# counters of readers, year, month.) The year in "CVE-2024-1234" does not, and 31:28 is no time.
_DATES = (
    rf"(?<!(?-i:[A-Z])-)(?<!{_CURRENCY})(?<!{_CURRENCY}\s)\b(?:19|20)\d\d\b(?!-\d{{3}}|{_OF_A_CODE}|(?:[.,]\d+)?\s?{_UNIT})"
    # A scale is no time, and neither is the number of a court's case ("2:24-cv-01017").
    r"|(?<!scale\s)(?<!scale:\s)(?<!stab\s)(?<!stab:\s)\b(?:[01]?\d|2[0-4]):[0-5]\d(?!\d|-[a-z]{2}-\d|\s+(?:scale|model)\b)"
    r"|(?:19|20)\d\d\s*\u5e74|\d\s*\u6708\s*\d"
)
_DATE = late(_DATES, re.IGNORECASE)
_DATELINE = late(
    rf"{_DATES}|"
    r"\b(?:\d+\s*(?:min(?:ute)?s?|hours?|days?|weeks?|months?)|\d\d?\s*years?) ago\b"
    r"|\b\d+\s*(?:comments|views|shares|likes|replies|aufrufe|vues|vistas|visitas|visualiza\w+|\u043f\u0440\u043e\u0441\u043c\u043e\u0442\u0440\w*)\b"
    r"|\b\d+\s*(?:comment|view|share|like|reply)\b(?!\s+[^\W\d])|\b(?:viewed|accessed|visited|read|seen|downloaded|played)\s+[\d,.]*\d\s+times?\b|\b(?:page\s?)?(?:views?|visits?|hits)\s*:\s*\d|\d\s+items?\s+in\s+(?:\w+\s+){0,2}(?:cart|basket|bag|trolley)\b"
    r"|\d\s+(?:users?|guests?|visitors?|people|others|members?|customers|shoppers)\s+(?:(?:are|is|currently|now)\s+){0,2}"
    r"(?:online|viewing|looking|watching|browsing|reading)\b"
    r"|\b(?:users?|members|guests)\b.{0,20}\b(?:browsing|viewing|reading)\s+this\s+(?:forum|topic|thread|board|page|section)\b"
    r"|(?:\u9605\u8bfb|\u6d4f\u89c8|\u70b9\u51fb|\u8bbf\u95ee|\u4eba\u6c14|\u95b2\u89a7|\u30a2\u30af\u30bb\u30b9)\w{0,2}\s*[:\uff1a]?\s*\d",
    re.IGNORECASE,
)
# None is without: most lines end here.
_DIGIT = late(r"\d")
_DATELINE_WIDTH, _LEAST_OF_A_LIST = 60, 3
# So many links in the contents are no list of others: each may be what the page is about, or who made it. Not the numbers of sections,
# which are others in each release of a book.
_FEW_LINKS, _NUMBERED = 3, late(r"\W*\d")
_LONGEST_ECHO = 120
# Where a page stands, which pages a reader saw before, or which of its versions this is, as MediaWiki calls that: never of it.
_TRAIL = late(rf"{_START}(?:bread-?crumbs?|mw-revision|print-?footer){_END}", re.IGNORECASE)
# What the programs for letters call what they repeat.
_LETTER = late(rf"{_START}(?:(?:gmail|yahoo|protonmail|zmail)_?quoted?|moz-cite\w*|quoted-?text){_END}", re.IGNORECASE)
# A site's, or, in books, a box of text that belongs to the chapter.
_SIDEBAR = late(r"(?:^|[\s_-])side-?bar(?:$|[\s_-])", re.IGNORECASE)
# What a page without an h1 calls the box with its name, if there is one such box alone. Not the name of its site.
_TITLED = late(r"(?:^|\s)(?!\S*(?:site|blog|brand|logo))\S*(?:title|heading|headline)(?:$|\s)", re.IGNORECASE)
_CAMEL = late("(?<=[a-z])(?=[A-Z])")
# In runs: there are a tenth of them.
_WIDE = late("[\u2e80-\uffdc\U00020000-\U0003ffff]+")

# A wide character says about as much as three letters.
_WIDE_AS_LETTERS = 3
_PARAGRAPH = 80
_LONGEST_NAMES = 256
_CONTAINER_SHARE = 0.9
# What a character of a short block, of a block of links, and of a block in furniture weighs when the container is looked for.
_SHORT_WEIGHT, _LINK_WEIGHT, _FURNITURE_WEIGHT = 0.3, 0.05, 0.1
# Text of which less than this is words says what it says in signs.
_SIGNS_SHARE = 0.4
_LEAST_SIGNS = 4
_HAS_WORD = late(r"\w\w\w")
_WORD = late(r"\w+")
_SIGN = late("[!-/:-@\\[-`{-~\\xa1-\\xbf\\u2010-\\u205f\\u3001-\\u303f]")
_LONGEST_VALUE = 2_000
# A line of a letter that repeats an earlier one. Not a prompt of Python's; of others a page seldom has so many words in one place.
_QUOTED_LINE = late(r"^[ \t]*>(?!>>).*$", re.MULTILINE)
_LEAST_QUOTED, _LEAST_OF_A_LINE, _FEWEST_LINES = 30, 5, 3
_CAPTION = 20
_LONGEST_LABEL = 40
# Behind a label a longer one is another page's headline.
_LONGEST_VALUE_OF_LINKS = 40
_REMARKS = 0.1
_MOST_FACTS, _MOST_OF_A_CELL, _OF_A_PAIR = 6, 4, 2
_ADVERTISING = late(
    r"captcha|doubleclick|googlesyndication|googletagmanager|google\.com/recaptcha|adserv|/ads?[/.?_-]|\bads?\.|amazon-adsystem|outbrain|taboola|criteo"
    r"|facebook\.com/(?:plugins|tr)|platform\.twitter|disqus|hotjar|/pixel|about:|^(?:data|blob|javascript):|^#?$",
    re.IGNORECASE,
)
# What a text area offers to show this page elsewhere.
_TO_EMBED = late(r"\s*<(?:iframe|object|embed)\b", re.IGNORECASE)
_PICTURES = frozenset({"img", "svg", "canvas", "meter", "progress", *_TARGETS})
_NOTED = frozenset({"script", "title", "meta", "link", *_SHOWN, *_PICTURES})
_UNSEEN = _SKIPPED | _HIDDEN
_WORDS = late(r"[\W_]+")
_WORDS_OF_A_TITLE, _TITLE_ENDS = 3, late(r"\s+[-|\u2013\u2014\xb7\u2022\xab\xbb:]+\s+")
_INVISIBLE = frozenset({"0", "1", "0px", "1px"})
# Nothing but their names says what they are.
_BOXES_ALONE = _BOXES - _AROUND - _ASKING - _LEAVES_OUT - {"header"}


class _Tags(dict[str, tuple[bool, bool, bool, bool]]):
    """What is to be done with the elements of a tag: whether it is noted, is unseen, breaks lines, and tells what it is."""

    def __missing__(self, tag: str) -> tuple[bool, bool, bool, bool]:
        # Not kept: a page may make up as many as it likes.
        return tag in _NOTED, tag in _UNSEEN, tag in _BREAKS, tag in _TELLING or "-" in tag


_PHRASES = frozenset({"a", "span", "b", "i", "u", "em", "strong", "small", "font", "code", "tt", "sup", "sub", "time", "abbr", "link"})
_TAGS = _Tags()
_TAGS.update((tag, _TAGS[tag]) for tag in _NOTED | _UNSEEN | _BREAKS | _TELLING | _PHRASES)


class Block(NamedTuple):
    """Text without a break in it, and what it is. `element`: number, in document order, of the element it stands in.

    `is_quoted`: it is what a letter repeats of an earlier one.
    """

    text: str
    element: int
    link_characters: int
    is_quoted: bool = False

    @property
    def is_links(self) -> bool:
        """Whether at least half of the text is links."""
        return bool(self.link_characters) and 2 * self.link_characters >= len(self.text.replace(" ", ""))

    @property
    def width(self) -> int:
        """Length in letters; a wide character counts as three."""
        text = self.text
        return len(text) if text.isascii() else len(text) + (_WIDE_AS_LETTERS - 1) * sum(map(len, _WIDE.findall(text)))


class Parts(NamedTuple):
    """The blocks of a page by what they are. `content` holds the prose, the links, and the furniture among them.

    `beside`: blocks around that may be content all the same: no furniture but by a doubtful name or as an aside, no links, no datelines.
    `unseen`: what the page holds besides its blocks.
    `heading`: the first of the content's highest headings; `facts`: the short lines that follow it; `outer_heading`: the first h1 beside,
    or what a page without one calls its title.
    `pictures`: names of what is shown outside the furniture, see `simcrawl.page.pictures`. `values`: the short lines of the prose but for
    headings; `paragraphs`: its other ones; `headings`: those above the first of these, but for `heading`;
    `subheadings`: those above others. `dated`: datelines, see `Layout.parts`, that stand in no furniture. `rows`: what stands together in
    the content's tables: the cells of each row, a term and its definitions; `rows_beside`: likewise beside it.
    """

    content: list[Block]
    prose: list[Block]
    links: list[Block]
    around: list[Block]
    beside: list[Block]
    unseen: list[Block]
    heading: str = ""
    facts: str = ""
    outer_heading: str = ""
    pictures: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    paragraphs: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    subheadings: tuple[str, ...] = ()
    dated: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    rows_beside: tuple[tuple[str, ...], ...] = ()


NO_PARTS = Parts([], [], [], [], [], [])


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a page and the tree they stand in. Elements have numbers in document order; 0 is above all.

    `parents`, `ends`: of each element the one that it stands in, and the number after that of the last one in it.
    `unseen`: text that a browser does not show at once, or only in a drawing. `shown`: what stands for pictures, what is embedded.
    `pictures`: what they are called, and where they stand; `linked`: those in links, with the hosts that these name. `headers`: of the
    site, without the page's own heading. `mains`: what is marked as the page's main part. `quoted`: those in which a letter repeats
    another one. `asides`: those of no class that calls them furniture. `titled`: boxes that call themselves a title, with all that they are
    called. `title`, `meta`: from the page's head. `mounts`: the elements that a client-side program draws in. `depth`: how many elements
    stand in one another at most, unseen ones too.
    """

    blocks: list[Block] = field(default_factory=list)
    unseen: list[Block] = field(default_factory=list)
    shown: list[Block] = field(default_factory=list)
    pictures: list[tuple[str, int]] = field(default_factory=list)
    linked: list[tuple[str, int, str]] = field(default_factory=list)
    parents: list[int] = field(default_factory=lambda: [0])
    ends: list[int] = field(default_factory=lambda: [1])
    named_around: set[int] = field(default_factory=set)
    named_links: set[int] = field(default_factory=set)
    asides: set[int] = field(default_factory=set)
    headings: dict[int, str] = field(default_factory=dict)
    titled: dict[int, str] = field(default_factory=dict)
    data: set[int] = field(default_factory=set)
    terms: set[int] = field(default_factory=set)
    sidebars: set[int] = field(default_factory=set)
    buttons: set[int] = field(default_factory=set)
    text_areas: set[int] = field(default_factory=set)
    headers: set[int] = field(default_factory=set)
    mains: set[int] = field(default_factory=set)
    left_out: set[int] = field(default_factory=set)
    quoted: set[int] = field(default_factory=set)
    title: str = ""
    meta: list[str] = field(default_factory=list)
    mounts: set[int] = field(default_factory=set)
    depth: int = 0

    @property
    def is_drawn(self) -> bool:
        """Whether a client-side program draws the page, or a part of it."""
        return bool(self.mounts)

    @property
    def is_shell(self) -> bool:
        """Whether it has drawn next to nothing yet: at most that it loads."""
        below = self._below(self.mounts) if self.mounts else b""
        return bool(below) and sum(block.width for block in self.blocks if below[block.element]) < _PARAGRAPH

    def with_the_name(self, boxes: set[int]) -> set[int]:
        """Return those of some boxes that hold all that names the page, and are not mostly links: "sponsor-profile", "cookie-recipe".

        That is an h1, or, on a page without any, a heading with which the title begins. One that is a link is the site's.
        """
        titles = [block for block in self.blocks if self.headings.get(block.element) == "h1" and not block.is_links]
        if "h1" not in self.headings.values():
            called = _TITLE_ENDS.split(self.title, maxsplit=1)[0].casefold()
            titles = [block for block in self.blocks if block.element in self.headings and block.text.casefold() == called]
        below, names = self._below(boxes), [block.element for block in titles]
        if not names or not all(below[name] for name in names):
            return set()
        holding = {box for box in boxes if _holds(box, names, self.ends)}
        return holding - self._mostly_links(holding, self._running((block.element, len(block.text)) for block in self.blocks))

    def parts(self, url: str = "", *, noindex: bool = False) -> Parts:
        """Return the blocks inside the page's container, what each of them is, and what stands around them.

        Of a page that asks search engines to leave it alone (`noindex`), what only repeats its `url` counts as surroundings.
        """
        sizes = self._running((block.element, len(block.text)) for block in self.blocks)
        boxed = self._furniture(self.named_around | self._mostly_links(self.named_links, sizes), sizes)
        to_lines = self._to_lines(sizes) if self.asides else boxed
        doubtful = self._furniture(self.named_around | self.named_links, sizes) if self.named_links else boxed
        furniture = self._furniture(self.named_around | self.named_links | self.sidebars, sizes) if self.sidebars else doubtful
        widths, links = [block.width for block in self.blocks], [block.is_links for block in self.blocks]
        inside = self._below({self._container(furniture, widths, links)})
        for element, end in self._outermost(self._small(self.left_out, sizes)):
            inside[element:end] = bytes(end - element)
        parts, values, paragraphs, dated = Parts([], [], [], [], [], []), list[Block](), list[Block](), list[Block]()
        remarks = self._are_remarks(boxed, doubtful, inside, widths, links)
        # A page that people are to find may have its name in any box, and nothing else of its own.
        echoes = self._echoes(url) if noindex else None
        quoted = self._below(self.quoted) if self.quoted else None
        datelines = self._datelines(widths, links)
        of_visits = self._of_visits()
        for place, (block, width, is_links, is_dateline) in enumerate(zip(self.blocks, widths, links, datelines, strict=True)):
            own = inside[block.element]
            if (echoes and width < _LONGEST_ECHO and self._is_echo(block, echoes)) or place in of_visits:
                parts.around.append(block)
                continue
            if block.is_quoted or (quoted and quoted[block.element]):
                # Short answers stand above long quotations, and all answers to a letter have the same one.
                parts.around.append(block)
                parts.beside.append(block)
                continue
            if own:
                parts.content.append(block)
            typed = block.element in self.text_areas
            is_furniture = (furniture if width < _PARAGRAPH or typed else doubtful if remarks else boxed)[block.element]
            is_furniture = is_furniture or (typed and bool(_TO_EMBED.match(block.text)))
            if own and not is_furniture and not is_dateline:
                (parts.links if is_links else parts.prose).append(block)
                # Of a record a value may be a link to all that have it.
                if (width < _LONGEST_VALUE_OF_LINKS and _is_labelled(block)) if is_links else block.element not in self.headings:
                    (values if width < _PARAGRAPH else paragraphs).append(block)
                continue
            parts.around.append(block)
            if not (
                (to_lines if width < _PARAGRAPH else boxed)[block.element]
                or block.element in self.buttons
                or is_links
                or (remarks and own and width >= _PARAGRAPH)
            ):
                (dated if is_dateline else parts.beside).append(block)
        # What scripts bring with them stands nowhere.
        parts.unseen.extend(block for block in self.unseen if inside[block.element] or not block.element)
        parts.unseen.extend(block for block in self.shown if not boxed[block.element])
        outer = self._name_outside(parts)
        heading, facts = self._called(parts.prose, is_named=bool(outer))
        heading = self._linked_name(parts) or heading
        # What scripts show may be anywhere, and without a heading nothing says to which paragraph a picture belongs.
        of_all = not self.headings
        pictured = [(name, at) for name, at in self.pictures if (of_all or inside[at] or not at) and not furniture[at]]
        shown = tuple(name for name, _ in pictured) or self._only_linked(url, inside, furniture)
        if arranged := pictures.arranged([name for name, element in pictured if element in self.data]):
            shown += (arranged,)
        above, *below = self._headings_by_section(parts.prose, heading)
        return parts._replace(
            content=self._without_others(parts, sizes),
            heading=heading,
            facts=facts,
            outer_heading=outer,
            pictures=shown,
            values=_texts([*values, *self._linked_above(paragraphs, parts.links)]),
            paragraphs=_texts(paragraphs),
            headings=tuple(above),
            subheadings=tuple(chain.from_iterable(below[:-1])),
            dated=_texts(dated),
            rows=self._rows(values, parts.links, paragraphs) + self._pairs(parts.prose),
            rows_beside=self._rows(parts.beside, (), ()),
        )

    def _rows(self, lines: Iterable[Block], links: Iterable[Block], paragraphs: Iterable[Block]) -> tuple[tuple[str, ...], ...]:
        """Return the texts of lines that stand in cells, together by the row of each; links where other cells are in their row.

        Not of a layout, of which a cell holds `paragraphs`, or many lines.
        """
        rows, begun, told = defaultdict[int, list[str]](list), dict[int, int](), set[int]()
        held, laid_out = Counter[int](), {self.parents[cell] for block in paragraphs if (cell := self._cell(block))}
        found = [
            (cell, block.text, not is_link)
            for of, is_link in ((lines, False), (links, True))
            for block in of
            if (cell := self._cell(block))
        ]
        for cell, text, tells in sorted(found, key=itemgetter(0)):
            parent = self.parents[cell]
            held[cell] += 1
            if held[cell] > _MOST_OF_A_CELL:
                laid_out.add(parent)
            if cell in self.terms:
                # Each term begins a row of its list.
                begun[parent] = cell
            row = begun.get(parent, parent)
            rows[row].append(text)
            if tells:
                told.add(row)
        return tuple([tuple(texts) for row, texts in rows.items() if row in told and row not in laid_out])

    def _pairs(self, prose: list[Block]) -> tuple[tuple[str, ...], ...]:
        """Return what boxes hold of which each has two short lines in elements of their own, three or more in a row: facts in a grid."""
        boxes = defaultdict[int, list[Block]](list)
        for block in prose:
            boxes[self.parents[block.element]].append(block)
        pairs = {
            box: held
            for box, held in boxes.items()
            if len(held) == _OF_A_PAIR and held[0].element != held[1].element and all(block.width < _PARAGRAPH for block in held)
        }
        often = Counter(self.parents[box] for box in pairs)
        return tuple([_texts(held) for box, held in pairs.items() if often[self.parents[box]] >= _LEAST_OF_A_LIST])

    def _cell(self, block: Block) -> int:
        """Return the cell that a block stands in, also in a paragraph there; 0 for none."""
        return next((element for element in (block.element, self.parents[block.element]) if element in self.data), 0)

    def _headings_by_section(self, prose: Iterable[Block], heading: str) -> list[list[str]]:
        """Return the headings but for the page's own, together by the paragraph that stands next below; in the end those that have none."""
        sections: list[list[str]] = [[]]
        for block in prose:
            if block.element in self.headings:
                sections[-1] += [block.text] if block.text != heading else []
            elif block.width >= _PARAGRAPH:
                sections.append([])
        return sections

    def _linked_above(self, paragraphs: list[Block], links: list[Block]) -> list[Block]:
        """Return links above the first paragraph that may say what the page is about, or who made it: of a list of them none does."""
        if not paragraphs or len(links) > _FEW_LINKS:
            return []
        # Not by the numbers of elements: what follows in an element has the number of that.
        above = list(takewhile(lambda block: block is not paragraphs[0], self.blocks)) if links else []
        found = (link for link in links if link.width < _PARAGRAPH and not (_NUMBERED.match(link.text) or _is_labelled(link)))
        return [link for link in found if link.element not in self.headings and any(link is one for one in above)]

    def _name_outside(self, parts: Parts) -> str:
        """Return the first h1 beside the contents; of a page without any, the text of the one box that calls itself a title."""
        if "h1" in self.headings.values():
            return next((block.text for block in parts.beside if self._is_name(block)), "")
        # Each row of a list may have one: of these none names the page.
        often = Counter(self.titled.values())
        # A name stands above the first paragraph: what comes later is called something else, "See also".
        above = takewhile(lambda block: block.width < _PARAGRAPH or block.is_links, self.blocks) if often else ()
        return next((block.text for block in above if often[self.titled.get(block.element, "")] == 1 and not block.is_links), "")

    def _only_linked(self, url: str, inside: bytearray, furniture: bytearray) -> tuple[str, ...]:
        """Return the picture in a link to the page's own host, where there is one alone: of several each may be another page's."""
        hosts = ("", pictures.host_of(url)) if self.linked else ()
        named = {name for name, element, host in self.linked if host in hosts and inside[element] and not furniture[element]}
        return tuple(named) if len(named) == 1 else ()

    def _echoes(self, url: str) -> Echoes | None:
        """Return what lines may repeat of the page's address; None where they may not: any line may name a page without a heading."""
        if not url or not self.headings:
            return None
        return Echoes(url, (block.text for block in self.blocks if block.element in self.headings)) or None

    def _is_echo(self, short: Block, echoes: Echoes) -> bool:
        """Return whether a block only says what the page's address says, or when that was changed. Lists of changes have links."""
        if short.link_characters or short.element in self.data or short.element in self.headings:
            return False
        return echoes.are(short.text) or (echoes.are_in(short.text) and bool(_DATELINE.search(short.text)))

    def _without_others(self, parts: Parts, sizes: list[int]) -> list[Block]:
        """Return the content without the furniture that says that it leads to other pages, where the prose is much longer.

        Lists are pages, too, and may consist of such boxes alone.
        """
        heads = {id(block) for block in parts.around if block.width < _PARAGRAPH and _LEADS_ON.match(block.text)}
        if not heads:
            return parts.content
        roots = list(self._outermost(self._small(self.named_around | self.named_links, sizes)))
        starts, first = [root for root, _ in roots], dict[int, Block]()
        for block in self.blocks:
            place = bisect_right(starts, block.element) - 1
            if place >= 0 and block.element < roots[place][1]:
                first.setdefault(starts[place], block)
        others = self._below(root for root, block in first.items() if id(block) in heads)
        prose = {id(block) for block in parts.prose}
        left_out = {id(block): block.width for block in parts.content if others[block.element] and id(block) not in prose}
        length = sum(block.width for block in parts.prose)
        if length < max(_LEAST_BESIDE_OTHERS, _PROSE_TO_OTHERS * sum(left_out.values())):
            return parts.content
        return [block for block in parts.content if id(block) not in left_out]

    def _of_visits(self) -> set[int]:
        """Return the places of the blocks that are other ones at each visit. In a table, and where there are several, counters are data."""
        counted, made = list[int](), list[int]()
        for place, block in enumerate(self.blocks):
            if block.element not in self.headings and is_of_a_visit(block.text):
                made.append(place)
            elif block.element not in self.data and block.element not in self.headings and counts_readers(block.text):
                counted.append(place)
        in_table = [place for place in made if self.blocks[place].element in self.data]
        found = {*made}.difference(in_table if len(in_table) > 1 else ())
        return found | {*counted} if len(counted) < _LEAST_OF_A_LIST else found

    def _are_remarks(self, boxed: bytearray, doubtful: bytearray, inside: bytearray, widths: list[int], links: list[bool]) -> bool:
        """Return whether next to no paragraph stands in a box with a doubtful name: then those that do are no content."""
        if not self.named_links:
            return False
        sums = [0, 0]
        for block, width, is_links in zip(self.blocks, widths, links, strict=True):
            if width >= _PARAGRAPH and inside[block.element] and not is_links and not boxed[block.element]:
                sums[doubtful[block.element]] += width
        return sums[True] < _REMARKS * sums[False]

    def _called(self, prose: list[Block], *, is_named: bool) -> tuple[str, str]:
        """Return the first of the highest headings, and the lines between it and the next paragraph.

        Of a page without any heading, and that nothing else names, its first line, if that is short.
        """
        places = [place for place, block in enumerate(prose) if block.element in self.headings]
        if not places and (is_named or self.headings or not prose or prose[0].width >= _PARAGRAPH):
            return "", ""
        first = min(places, key=lambda place: self.headings[prose[place].element], default=0)
        lines = prose[first + 1 : first + 1 + _MOST_FACTS]
        return prose[first].text, join(takewhile(lambda block: block.width < _DATELINE_WIDTH and block.element not in self.headings, lines))

    def _linked_name(self, parts: Parts) -> str:
        """Return the one heading in the contents that is a link, to the page itself, where no other one is as high.

        Of several, one is the site's. Without an h1 it may stand above others of the contents, such as "Leave a reply".
        """
        highest = min(self.headings.values(), default="")
        found = [block.text for block in parts.links if self.headings.get(block.element) == highest]
        of_prose = min((self.headings[block.element] for block in parts.prose if block.element in self.headings), default="")
        return found[0] if len(found) == 1 and (not of_prose or (highest != "h1" and highest < of_prose)) else ""

    def _to_lines(self, sizes: list[int]) -> bytearray:
        """Return which elements are furniture also for short lines: in an aside of few links these may say what a job pays.

        Its paragraphs are teasers, or say something of the author.
        """
        return self._furniture(self.named_around - self.asides | self._mostly_links(self.named_links | self.asides, sizes), sizes)

    def _mostly_links(self, named: set[int], sizes: list[int]) -> set[int]:
        """Return those of some elements of which at least half is links."""
        if not named:
            return set()
        links = self._running((block.element, block.link_characters) for block in self.blocks)
        found = ((element, self._size(element, links)) for element in named)
        # A fifth of a text is spaces.
        return {element for element, size in found if size and 5 * size >= 2 * self._size(element, sizes)}

    def _datelines(self, widths: list[int], links: list[bool]) -> list[bool]:
        """Return which blocks say when, or how often, and no more. Several in a row that say what was then are a list of films, say."""
        found = zip(self.blocks, widths, links, strict=True)
        are = [width < _DATELINE_WIDTH and not is_links and self._is_dateline(block) for block, width, is_links in found]
        start = 0
        for is_one, run in groupby(are):
            end = start + len(list(run))
            if is_one and end - start >= _LEAST_OF_A_LIST and all(map(_says_what, self.blocks[start:end])):
                are[start:end] = [False] * (end - start)
            start = end
        return [is_one and not self._is_of_a_record(place) for place, is_one in enumerate(are)]

    def _is_of_a_record(self, place: int) -> bool:
        """Return whether a block says when, in one of several rows, each a label and what it says, as in a table: a departure, a birth.

        How often it was read says no row.
        """
        group = None if _DATELINE.search(_DATE.sub(" ", self.blocks[place].text)) else self._row_of(place)
        if group is None:
            return False
        step = 1 if self._has_label(place) else 2
        around = (range(place + way, place + _LEAST_OF_A_LIST * way, way) for way in (-step, step))
        rows = (takewhile(lambda other: self._row_of(other) == group, places) for places in around)
        return 1 + sum(len(list(found)) for found in rows) >= _LEAST_OF_A_LIST

    def _row_of(self, place: int) -> tuple[int, bool] | None:
        """Return what a block stands in as one of its rows, with its label or behind it; None where it has none."""
        if not 0 <= place < len(self.blocks) or self.blocks[place].width >= _DATELINE_WIDTH:
            return None
        element = self.blocks[place].element
        if self._has_label(place):
            # Lines that are broken within one element have that in common.
            broken = any(self._element_of(other) == element for other in (place - 1, place + 1))
            return (element if broken else self.parents[element]), True
        row = self.parents[element]
        in_row = [self.parents[self._element_of(other)] == row for other in range(place - 2, place + 2)]
        label = self.blocks[place - 1] if place else None
        if label is None or in_row != [False, True, True, False] or label.width >= _LONGEST_LABEL or _DIGIT.search(label.text):
            return None
        return self.parents[row], False

    def _element_of(self, place: int) -> int:
        return self.blocks[place].element if 0 <= place < len(self.blocks) else 0

    def _has_label(self, place: int) -> bool:
        label, colon, _ = self.blocks[place].text.replace("\uff1a", ":").partition(":")
        return bool(colon) and 0 < len(label) < _LONGEST_LABEL and not _DIGIT.search(label)

    def _is_dateline(self, short: Block) -> bool:
        # Not in tables, code and headings: there a year or a number is content.
        named = short.element in self.data or short.element in self.headings
        if named or not (_DIGIT.search(short.text) and _DATELINE.search(short.text)):
            return False
        if _PRICE.search(short.text) or _INVENTORY.match(short.text):
            return False
        return bool(_DATELINE.search(_CATALOGUED.sub(" ", short.text)))

    def _furniture(self, named: set[int], sizes: list[int]) -> bytearray:
        """Return for each element whether it is, or stands in, one that is named and is not half of the page."""
        return self._below(self._small(named, sizes))

    def _small(self, named: set[int], sizes: list[int]) -> list[int]:
        return [element for element in named if 2 * self._size(element, sizes) < sizes[-1]]

    def _container(self, furniture: bytearray, widths: list[int], links: list[bool]) -> int:
        found = zip(self.blocks, widths, links, strict=True)
        weights = self._sums(
            (
                block.element,
                width
                * (_LINK_WEIGHT if is_links else 1 if width >= _PARAGRAPH else _SHORT_WEIGHT)
                * (_FURNITURE_WEIGHT if furniture[block.element] else 1),
            )
            for block, width, is_links in found
        )
        headings = [element for element in self.headings if not furniture[element]]
        # One that is a link calls another page by its name, as in the contents of a whole manual beside each of its pages.
        linked = {block.element for block, is_links in zip(self.blocks, links, strict=True) if is_links}
        headings = [element for element in headings if element not in linked] or headings
        # Elements that hold more than half of the weight contain one another: the last one is the innermost.
        enough = _CONTAINER_SHARE * weights[0]
        innermost = next(element for element in range(len(weights) - 1, -1, -1) if weights[element] >= enough)
        container = innermost
        while container and not _holds(container, headings, self.ends):
            container = self.parents[container]
        return self._with_its_name(container, furniture, widths) if headings else innermost

    def _with_its_name(self, container: int, furniture: bytearray, widths: list[int]) -> int:
        """Return the smallest element around a container that holds the page's name, too: an h1 above it in the page's main part.

        A long section of a page can hold nearly all of its running text in one release, and not quite in the next.
        """
        headings = {element for element, tag in self.headings.items() if tag == "h1" and not furniture[element]}
        # Nearly all pages end here: what follows is not cheap.
        if not self.mains or not headings:
            return container
        # One as long as a paragraph is no name.
        found = zip(self.blocks, widths, strict=True)
        names = {block.element for block, width in found if block.element in headings and width < _PARAGRAPH}
        around = [container]
        while around[-1]:
            around.append(self.parents[around[-1]])
        wanted = set(around)
        meeting = ((name, self._first_in(wanted, name)) for name in names)
        # Elements that stand around one another have the smaller numbers the further out they are.
        nearest = max((element for name, element in meeting if name < container or element == container), default=0)
        return nearest if any(element in self.mains for element in around if element <= nearest) else container

    def _is_name(self, block: Block) -> bool:
        return self.headings.get(block.element) == "h1"

    def _first_in(self, wanted: set[int], element: int) -> int:
        """Return the first of the wanted elements that is `element` or stands around it. 0 has to be wanted."""
        while element not in wanted:
            element = self.parents[element]
        return element

    def _running(self, values: Iterable[tuple[int, int]]) -> list[int]:
        """Return for each element, and the end, the sum of the values in those before it: what `_size` needs."""
        own = [0] * len(self.parents)
        for element, value in values:
            own[element] += value
        return [0, *accumulate(own)]

    def _size(self, element: int, running: list[int]) -> int:
        """Return the sum of the values in an element and below it."""
        return running[self.ends[element]] - running[element]

    def _sums(self, values: Iterable[tuple[int, float]]) -> list[float]:
        """Return for each element the sum of the values in it and below it, where that depends on their order."""
        parents, sums = self.parents, [0.0] * len(self.parents)
        for element, value in values:
            sums[element] += value
        for element in range(len(sums) - 1, 0, -1):
            # Half of them have none.
            if value := sums[element]:
                sums[parents[element]] += value
        return sums

    def _below(self, roots: Iterable[int]) -> bytearray:
        """Return for each element whether it is one of `roots` or below one, 1 or 0."""
        below = bytearray(len(self.parents))
        for root, end in self._outermost(roots):
            below[root:end] = b"\1" * (end - root)
        return below

    def _outermost(self, roots: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield those elements that stand in no other one of `roots`, and their ends: there may be thousands in one another."""
        end = 0
        for root in sorted(roots):
            if root >= end:
                end = self.ends[root]
                yield root, end


def _is_labelled(links: Block) -> bool:
    """Return whether a block is a label, which is no link, and behind it nothing but links: "Colour: Red"."""
    label, colon, _ = links.text.partition(":")
    return (
        bool(colon)
        and len(label) < _CAPTION
        and len(links.text.replace(" ", "")) - links.link_characters == len(label.replace(" ", "")) + 1
    )


def _texts(blocks: Iterable[Block]) -> tuple[str, ...]:
    return tuple([block.text for block in blocks])


def _says_what(dateline: Block) -> bool:
    """Return whether a dateline has words beside its dates and counts."""
    return bool(_HAS_WORD.search(_DATELINE.sub(" ", dateline.text)))


def _holds(element: int, ascending: list[int], ends: list[int]) -> bool:
    """Return whether one of some elements is `element` or stands in it."""
    first = bisect_left(ascending, element)
    return first < len(ascending) and ascending[first] < ends[element]


def join(blocks: Iterable[Block]) -> str:
    """Return the blocks' text, one block a line."""
    return "\n".join([block.text for block in blocks])


def layout(tree: HtmlElement, *, has_styles: bool = True, attributes: tuple[str, ...] = (), has_data: bool = True) -> Layout:
    """Return the layout of a parsed page. Text hidden by attribute or style counts as visible: a script may show it.

    `has_styles`: whether any element may have a picture behind it by a style of its own. `attributes`: names of those from
    which scripts may draw something. `has_data`: whether any attribute may hold JSON, of which they may.
    """
    # Loaded on first use: whoever compares pages or opens a store parses none.
    from lxml import etree  # noqa: PLC0415

    walk = _Walk(has_styles=has_styles, attributes=attributes, has_data=has_data)
    walk.take(etree.iterwalk(tree, events=("start", "end", "comment", "pi")))
    return walk.end()


class _Walk:
    """Collects a layout while the tree is walked."""

    def __init__(self, *, has_styles: bool, attributes: tuple[str, ...], has_data: bool) -> None:
        layout = self._layout = Layout()
        self._has_styles, self._attributes, self._has_data = has_styles, attributes, has_data
        self._parents, self._ends = layout.parents, layout.ends
        self._by_tag: dict[object, set[int]] = {
            "button": layout.buttons,
            "textarea": layout.text_areas,
            **dict.fromkeys(_DATA, layout.data),
        }
        self._preformatted = set[int]()
        self._marked: dict[object, set[int]] = {"pre": self._preformatted, "dt": layout.terms}
        # As some themes call the box with the picture and the name of the page. By id it is the site's, in themes for WordPress.
        self._mastheads = set[int]()
        self._may_be_about = set[int]()
        # Blocks that begin as quoted lines do: one or two may be a slip of the pen.
        self._quoted_lines: list[int] = []
        # Of the innermost open element its number, whether it is in a link, and whether it breaks lines; of those around it likewise.
        self._number, self._in_link, self._breaks = 0, False, False
        self._open: list[tuple[int, bool, bool]] = []
        # How deep in unseen elements, and at which of these depths one began that says nothing.
        self._unseen = self._silent = self._depth = 0
        self._pieces: list[str] = []
        self._unseen_pieces: list[str] = []
        self._link_characters = 0
        self._title = ""
        self._with_data = 0
        self._told = Told()

    def take(self, events: Iterable[tuple[str, HtmlElement]]) -> None:
        """Walk on. A quarter of a page's time is spent here and in the next two: what most elements do not need is done elsewhere."""
        pieces = self._pieces
        for event, element in events:
            if event == "start":
                self._enter(element, element.tag)  # type: ignore[arg-type]  # of comments there is no start
                text = element.text
            else:
                if event == "end":
                    self._leave(element)
                text = element.tail
            if not text:
                continue
            if self._unseen:
                if not self._silent:
                    self._unseen_pieces.append(text)
            # Half of what is read is what stands between tags. Before a block's first word it says nothing.
            elif pieces or not text.isspace():
                pieces.append(text)
                if self._in_link:
                    self._link_characters += len("".join(text.split()))

    def _enter(self, element: HtmlElement, tag: str) -> None:
        is_noted, is_unseen, breaks, is_telling = _TAGS[tag]
        if is_noted:
            self._note(element, tag)
        if self._unseen or (is_unseen and (tag in _SKIPPED or element.get("shadowrootmode") is None)):
            self._enter_unseen(tag)
            return
        if breaks and self._pieces:
            self._end_block()
        around, opened, ends = self._number, self._open, self._ends
        opened.append((around, self._in_link, self._breaks))
        self._parents.append(around)
        self._number, self._breaks = len(ends), breaks
        ends.append(0)
        role, identity = element.get("role"), element.get("id")
        if is_telling or role or identity in _MOUNTS:
            self._classify(element, tag, role, identity)
        if tag == "a" and (target := element.get("href")) is not None:
            self._in_link = True
            if name := pictures.offered(element, target):
                self._layout.pictures.append((name, self._number))
        elif self._attributes and (name := pictures.drawn(element, self._attributes)):
            self._keep_picture(element, name, self._number)
        if self._has_data and not self._in_link:
            self._keep_data(element)
        if len(opened) > self._depth:
            self._deepen()

    def _leave(self, element: HtmlElement) -> None:
        if self._unseen:
            self._leave_unseen(element.tag)
            return
        if self._breaks and self._pieces:
            self._end_block()
        ends = self._ends
        ends[self._number] = len(ends)
        self._number, self._in_link, self._breaks = self._open.pop()

    def _enter_unseen(self, tag: object) -> None:
        self._unseen += 1
        self._deepen()
        if not self._silent and tag in _SKIPPED:
            self._silent = self._unseen
        if not self._silent and tag in _UNSEEN_BREAKS:
            self._end_unseen()

    def _leave_unseen(self, tag: object) -> None:
        if self._silent == self._unseen:
            self._silent = 0
        self._unseen -= 1
        if not self._unseen or tag in _UNSEEN_BREAKS:
            self._end_unseen()

    def end(self) -> Layout:
        self._end_block()
        self._ends[0] = len(self._ends)
        layout = self._layout
        layout.pictures.extend((name, 0) for name in self._told.names())
        layout.named_links.update(layout.headers)
        if layout.mains:
            self._clear_of_mains(layout.named_links)
        if len(self._quoted_lines) < _FEWEST_LINES:
            for place in self._quoted_lines:
                layout.blocks[place] = layout.blocks[place]._replace(is_quoted=False)
        whole = replace(layout, depth=self._depth, title=self._title)
        if self._may_be_about:
            whole.named_around.difference_update(whole.with_the_name(self._may_be_about))
        return whole

    def _clear_of_mains(self, named: set[int]) -> None:
        """Let nothing be furniture by a doubtful name that holds the page's main part: themes call that "nav-content" as well."""
        mains = sorted(self._layout.mains)
        named.difference_update([element for element in named if _holds(element, mains, self._ends)])

    def _deepen(self) -> None:
        self._depth = max(self._depth, len(self._open) + self._unseen)

    def _note(self, element: HtmlElement, tag: str) -> None:
        """Keep what an element says by its attributes, or in what is no text."""
        if tag == "script":
            self._note_script(element.text or "", element.get("type") or "", element.get("id") or "")
        elif tag == "title":
            self._title = self._title or (" ".join((element.text or "").split()) if self._silent else "")
        elif tag in ("meta", "link"):
            if tag == "meta" and (element.get("name") or element.get("property") or "").lower() in _META:
                self._layout.meta.append(element.get("content") or "")
            self._told.read(element)
        else:
            self._note_shown(element, tag)

    def _note_script(self, script: str, kind: str, identity: str) -> None:
        is_json = is_data(kind, identity)
        for text in texts(script, data=is_json):
            self._add(self._layout.unseen, text, 0)
        if not is_json:
            for text in given(script):
                self._add(self._layout.shown, text, _ROOT)
        if name := pictures.of_script(script):
            self._layout.pictures.append((name, 0))
        self._told.read_script(script)
        # As formulas stand in pages that kramdown makes: a program draws them.
        if kind.startswith("math/"):
            self._layout.pictures.append((script[:_LONGEST_VALUE], self._number))

    def _note_shown(self, element: HtmlElement, tag: str) -> None:
        number, in_link = self._number, self._in_link
        if tag in _TARGETS:
            if text := _embedded(element, tag):
                self._add(self._layout.shown, text, number)
            elif element.get("srcset") is None and not _is_loaded_late(element, tag):
                return
        elif tag in _SHOWN:
            for text in _shown(element, tag, in_link=in_link):
                self._add(self._layout.shown, text, number)
            if tag == "input" and (text := _fixed(element)):
                self._layout.pictures.append((text, number))
        # A drawing in a drawing is a part of it: each is looked at as a whole, and they may stand in one another a thousand deep. In a
        # link most are arrows.
        is_part = tag == "svg" and (self._unseen or in_link)
        # What stands on a button says what the button does.
        is_part = is_part or (tag in ("img", "svg") and number in self._layout.buttons)
        if tag in _PICTURES and not is_part and (name := pictures.of(element, tag)):
            self._keep_picture(element, name, number)

    def _keep_data(self, element: HtmlElement) -> None:
        """Keep what a component is drawn from. In a link it belongs to the page that this leads to.

        Not as a script's data, which are the content of a page that shows nothing yet: settings and translations are in attributes, too,
        and would make one page of all that a client draws.
        """
        if self._with_data >= _MOST_WITH_DATA:
            return
        values = json_in(element.items())
        texts_in = [text for value in values for text in texts(value, data=True)]
        if not texts_in:
            return
        self._with_data += 1
        # What is drawn from it stands nowhere yet. Where text stands already, that says where.
        place = self._number if self._shows_text(element) else _ROOT
        for text in texts_in:
            self._add(self._layout.shown, text, place)
        if place == _ROOT:
            for value in values:
                self._told.read_script(value)

    def _shows_text(self, element: HtmlElement) -> bool:
        # Of a thousand boxes in one another each would be looked through.
        return self._with_data > _MOST_LOOKED_THROUGH or any(map(str.strip, element.itertext()))

    def _keep_picture(self, element: HtmlElement, name: str, number: int) -> None:
        """Keep what a picture is called. One in a link belongs to the page that this leads to, but where that is a picture itself."""
        if self._in_link and (host := pictures.leads_to(element)) is not None:
            self._layout.linked.append((name, number, host))
        else:
            self._layout.pictures.append((name, number))

    @staticmethod
    def _add(blocks: list[Block], text: str, element: int) -> None:
        if stripped := " ".join(text[:_LONGEST_VALUE].split()):
            blocks.append(Block(stripped, element, 0))

    def _classify(self, element: HtmlElement, tag: str, role: str | None, identity: str | None) -> None:
        if tag in ("html", "body"):
            return
        number = self._number
        if tag in _BOXES:
            names = element.get("class")
            self._classify_by_name(number, names, identity)
            # To ask every box what is behind it would take too long.
            is_asked = self._has_styles or (names and pictures.may_be_behind(names))
            if is_asked and (name := pictures.behind(element)):
                self._keep_picture(element, name, number)
        elif "-" in tag:
            # The tag of a component that the site made is a name as well.
            self._classify_by_name(number, f"{element.get('class') or ''} {tag}", identity)
            if name := pictures.of_component(element):
                self._keep_picture(element, name, number)
        if identity in _MOUNTS or ("-" in tag and _MOUNT_TAG.search(tag)):
            self._layout.mounts.add(number)
        if role == "img" and len(label := element.get("aria-label") or "") >= _CAPTION:
            self._keep_picture(element, label[:_LONGEST_VALUE], number)
        # Most elements that are looked at are none of these.
        if role or tag not in _BOXES_ALONE:
            self._classify_further(element, tag, role, number)

    def _classify_further(self, element: HtmlElement, tag: str, role: str | None, number: int) -> None:
        # Below an article its footer says something of it.
        is_of_a_part = tag == "footer" and not _is_of_the_site(element)
        if (tag in _AROUND and not is_of_a_part) or role in _AROUND_ROLES:
            self._enter_furniture(tag, number)
        elif tag in _ASKING:
            self._layout.named_links.add(number)
        if tag == "main" or role == "main":
            self._layout.mains.add(number)
        if (tag in _LEAVES_OUT and not is_of_a_part) or role in _LEAVES_OUT_ROLES:
            self._layout.left_out.add(number)
        if tag in _HEADINGS:
            self._enter_heading(tag, number)
        if tag in self._by_tag:
            self._by_tag[tag].add(number)
            if tag in self._marked:
                self._marked[tag].add(number)
        elif tag == "header" and _is_of_the_site(element):
            self._layout.headers.add(number)
        elif tag == "blockquote" and element.get("type") == "cite":
            self._layout.quoted.add(number)

    def _enter_furniture(self, tag: str, number: int) -> None:
        if tag == "aside" and number not in self._layout.named_around:
            # No class says what it is.
            self._layout.asides.add(number)
        self._may_be_about.discard(number)
        self._layout.named_around.add(number)

    def _enter_heading(self, tag: str, number: int) -> None:
        self._layout.headings[number] = tag
        if tag == "h1":
            # What is the head of an article is not the site's.
            above = {element for element, *_ in self._open}
            self._layout.headers.difference_update(above)
            self._layout.named_around.difference_update(above & self._mastheads)

    def _classify_by_name(self, number: int, names: str | None, identity: str | None) -> None:
        if names and (kinds := _kinds_of(names)):
            *others, is_title = kinds
            self._call(number, others)
            if others[0] and _MAY_BE_ABOUT.search(_CAMEL.sub("-", names[:_LONGEST_NAMES])):
                self._may_be_about.add(number)
            if "masthead" in names:
                self._mastheads.add(number)
            if is_title:
                self._layout.titled[number] = names
        # Of several words it says what this one box is about, and where they are parted by points it is that of a name in a program.
        if identity and "." not in identity and (kinds := _kinds_of(identity)):
            around, links, *others, _ = kinds
            self._call(number, (around, links and len(_WORDS.split(identity)) < _WORDS_OF_A_TITLE, *others))

    def _call(self, number: int, kinds: Iterable[bool]) -> None:
        layout = self._layout
        named = layout.named_around, layout.named_links, layout.sidebars, layout.left_out, layout.quoted
        for is_so, elements in zip(kinds, named, strict=True):
            if is_so:
                elements.add(number)

    def _end_block(self) -> None:
        text = "".join(self._pieces)
        # Few blocks have one.
        if ">" in text:
            text = self._without_quoted(text)
        if text := " ".join(text.split()):
            self._layout.blocks.append(Block(text, self._number, self._link_characters))
            if not _HAS_WORD.search(text) and (spelled := _spelled(text)):
                self._layout.unseen.append(Block(spelled, self._number, 0))
        self._pieces.clear()
        self._link_characters = 0

    def _without_quoted(self, text: str) -> str:
        """Return what a block says itself, and keep what it quotes from an earlier letter as a block of its own."""
        is_letter = self._number in self._preformatted
        if is_letter:
            found, least = _QUOTED_LINE.findall(text), _LEAST_QUOTED
        else:
            is_line = not self._link_characters and _QUOTED_LINE.match(text.lstrip())
            found, least = [text] if is_line else [], _LEAST_OF_A_LINE
        quoted = " ".join(" ".join(found).split())
        if len(_WORD.findall(quoted[:_LONGEST_VALUE])) < least:
            return text
        if not is_letter:
            self._quoted_lines.append(len(self._layout.blocks))
        self._layout.blocks.append(Block(quoted, self._number, 0, is_quoted=True))
        # Where the links stand is not known: addresses in a letter.
        self._link_characters = 0
        return _QUOTED_LINE.sub("", text) if is_letter else ""

    def _end_unseen(self) -> None:
        if self._unseen_pieces:
            self._add(self._layout.unseen, "".join(self._unseen_pieces), self._number)
            self._unseen_pieces = []


def _shown(element: HtmlElement, tag: str, *, in_link: bool) -> Iterator[str]:
    """Yield the attributes of a picture or a field that are shown. A picture in a link belongs to the page that this leads to."""
    if (tag == "img" and in_link) or (tag == "input" and (element.get("type") or "").lower() not in _TYPED):
        return
    for text in filter(None, map(element.get, _SHOWN[tag])):
        # Less than that is the name of an icon.
        if tag != "img" or Block(text, 0, 0).width >= _CAPTION:
            # As of what is embedded.
            yield f"a picture shows here: {text}" if tag == "img" else text


def _fixed(field: HtmlElement) -> str:
    """Return what stands in a field that a reader is to copy from; "" for an address, which is most often the page's own."""
    value = (field.get("value") or "") if field.get("readonly") is not None and field.get("type") != "hidden" else ""
    return "" if "://" in value else value[:_LONGEST_VALUE]


def _embedded(element: HtmlElement, tag: str) -> str:
    """Return what an element shows of another address; "" for advertisements, and for what nobody sees."""
    target = element.get(_TARGETS[tag]) or ""
    if not target or element.get("width") in _INVISIBLE or _ADVERTISING.search(target[:_LONGEST_VALUE]):
        return ""
    # With the words before it: what is embedded weighs more than one more word does.
    return f"embedded {tag} to show here, in the place of words of the page's own: {target}"


def _is_loaded_late(element: HtmlElement, tag: str) -> bool:
    address = pictures.loaded_late(element, tag)
    return bool(address) and element.get("width") not in _INVISIBLE and not _ADVERTISING.search(address)


def _spelled(text: str) -> str:
    """Return the names of the signs in a text that consists of them, such as Morse code: they are no units."""
    signs = _SIGN.findall(text)
    if len(signs) < max(_LEAST_SIGNS, _SIGNS_SHARE * len(text.replace(" ", ""))):
        return ""
    return " ".join(f"{ord(sign):x}x" if _SIGN.match(sign) else sign for sign in text[:_LONGEST_VALUE])


def _is_of_the_site(element: HtmlElement) -> bool:
    """Return whether a header or footer stands in no part of a page: its role by HTML's own rules ("banner", "contentinfo")."""
    return not any(above.tag in _SECTIONING for above in element.iterancestors())


_Kinds = tuple[bool, ...] | None


def _kinds_of(names: str) -> _Kinds:
    # The cache is not to keep what a page made up.
    return _kinds(names) if len(names) <= _LONGEST_NAMES else _kinds.__wrapped__(names)


# The pages of a site share their names.
@lru_cache(maxsize=4096)
def _kinds(names: str) -> _Kinds:
    """Return what a box of this class or id calls itself: surroundings, these if mostly links, a sidebar, a trail, a quotation, a title.

    None: it does none of these, as most do.
    """
    words = _CAMEL.sub("-", (_SUBJECT.sub("", names) if _OWN_BOX.search(names) else names).strip())
    found = tuple(bool(kind.search(words)) for kind in (_AROUND_NAMES, _LINKS_NAMES, _SIDEBAR, _TRAIL, _LETTER, _TITLED))
    return found if any(found) else None
