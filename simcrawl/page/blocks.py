"""A page's visible text in blocks, and which of them are its content, whatever its site is. `simcrawl.page.walk` makes a layout.

Content is all text inside the smallest element that holds nearly all of the page's running text and a heading: tables, code and
lists of links stay in, what stands around that element (navigation, sidebars, footers) does not. A page without running text
keeps all its text. Content falls into prose, blocks of links, and what calls itself furniture or is a dateline; the last counts
as surroundings, with all that stands outside.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate, chain, groupby, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.page import pictures
from simcrawl.page.datelines import has_other_words, is_counter, is_dateline
from simcrawl.page.echoes import Echoes
from simcrawl.page.furniture import leads_on
from simcrawl.page.numerals import are_label_and_number
from simcrawl.page.patterns import late
from simcrawl.page.runs import has_digit
from simcrawl.page.signatures import signature
from simcrawl.page.visits import counts_readers, is_of_a_visit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LEAST_BESIDE_OTHERS, _PROSE_TO_OTHERS = 300, 3
_DATELINE_WIDTH, _LEAST_OF_A_LIST = 60, 3
# So many links in the contents are no list of others: each may be what the page is about, or who made it. Not the numbers of sections,
# which are others in each release of a book.
_FEW_LINKS, _NUMBERED = 3, late(r"\W*\d")
_LONGEST_ECHO = 120
# What a text area offers to show this page elsewhere.
_TO_EMBED = late(r"\s*<(?:iframe|object|embed)\b", re.IGNORECASE)
# In runs: there are a tenth of them.
_WIDE = late("[\u2e80-\uffdc\U00020000-\U0003ffff]+")

# A wide character says about as much as three letters.
_WIDE_AS_LETTERS = 3
_PARAGRAPH = 80
_CONTAINER_SHARE = 0.9
# What a character of a short block, of a block of links, and of a block in furniture weighs when the container is looked for.
_SHORT_WEIGHT, _LINK_WEIGHT, _FURNITURE_WEIGHT = 0.3, 0.05, 0.1
_LONGEST_LABEL = 40
_LONGEST_LABEL_OF_LINKS = 20
_DIGIT = late(r"\d")
_TITLE_ENDS = late(r"\s+[-|\u2013\u2014\xb7\u2022\xab\xbb:]+\s+")
# Behind a label a longer one is another page's headline.
_LONGEST_VALUE_OF_LINKS = 40
_REMARKS = 0.1
_MOST_FACTS, _MOST_OF_A_CELL, _OF_A_PAIR = 6, 4, 2


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
    the content's tables: the cells of each row, a term and its definitions; `tables_beside`: likewise beside it, table by table, and in the
    end what boxes have as a label and a value. `headings_beside`: the headings in `beside`. `aside`: the paragraphs of the page's only
    aside, which `beside` has not, if nothing in it is a link. `of_visits`: lines that are other ones at each visit, see
    `simcrawl.page.visits`.
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
    tables_beside: tuple[tuple[tuple[str, ...], ...], ...] = ()
    headings_beside: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    of_visits: tuple[str, ...] = ()


NO_PARTS = Parts([], [], [], [], [], [])


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a page and the tree they stand in. Elements have numbers in document order; 0 is above all.

    `parents`, `ends`: of each element the one that it stands in, and the number after that of the last one in it.
    `unseen`: text that a browser does not show at once, or only in a drawing. `shown`: what stands for pictures, what is embedded.
    `pictures`: what they are called, and where they stand; `linked`: those in links, with the hosts that these name. `headers`: of the
    site, without the page's own heading. `mains`: what is marked as the page's main part. `quoted`: those in which a letter repeats
    another one. `passing`: those that call themselves what is another one at each visit. `asides`: those of no class that calls
    them furniture. `titled`: boxes that call themselves a title, with all that they are called. `title`, `meta`: from the page's head.
    `mounts`: the elements that a client-side program draws in. `depth`: how many elements stand in one another at most, unseen ones too.
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
    passing: set[int] = field(default_factory=set)
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
        holding = {box for box in boxes if holds(box, names, self.ends)}
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
        for place, (block, width, is_links, says_when) in enumerate(zip(self.blocks, widths, links, datelines, strict=True)):
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
            if own and not is_furniture and not says_when:
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
                (dated if says_when else parts.beside).append(block)
        # What scripts bring with them stands nowhere.
        parts.unseen.extend(block for block in self.unseen if inside[block.element] or not block.element)
        parts.unseen.extend(block for block in self.shown if not boxed[block.element])
        outer = self._name_outside(parts)
        heading, facts = self._called(parts.prose, is_named=bool(outer))
        heading = self._linked_name(parts) or heading
        shown = self._shown(url, inside, furniture)
        if said := signature(heading or outer, self._lines_of(parts.prose)):
            shown += (said,)
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
            rows=(*chain.from_iterable(self._tables(values, parts.links, paragraphs)), *self._pairs(parts.prose)),
            tables_beside=(*self._tables(parts.beside, (), ()), *filter(None, [self._labelled(parts.beside)])),
            headings_beside=_texts(block for block in parts.beside if block.element in self.headings),
            of_visits=_texts(self.blocks[place] for place in sorted(of_visits)),
            aside=_texts(self._told_aside(sizes)) if self.asides else (),
        )

    def _shown(self, url: str, inside: bytearray, furniture: bytearray) -> tuple[str, ...]:
        """Return the names of what is shown outside the furniture."""
        # What scripts show may be anywhere, and without a heading nothing says to which paragraph a picture belongs.
        of_all = not self.headings
        pictured = [(name, at) for name, at in self.pictures if (of_all or inside[at] or not at) and not furniture[at]]
        shown = tuple(name for name, _ in pictured) or self._only_linked(url, inside, furniture)
        if arranged := pictures.arranged([name for name, element in pictured if element in self.data]):
            shown += (arranged,)
        return shown

    def _lines_of(self, prose: Iterable[Block]) -> Iterator[str]:
        return (block.text for block in prose if block.element not in self.headings)

    def _tables(self, lines: Iterable[Block], links: Iterable[Block], paragraphs: Iterable[Block]) -> list[tuple[tuple[str, ...], ...]]:
        """Return the texts of lines that stand in cells, together by table and row; links where other cells are in their row.

        Not of a layout, of which a cell holds `paragraphs`, or many lines.
        """
        if not self.data:
            return []
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
        tables = defaultdict[int, list[tuple[str, ...]]](list)
        for row, texts in rows.items():
            if row in told and row not in laid_out:
                tables[self.parents[row]].append(tuple(texts))
        return [*map(tuple, tables.values())]

    def _pairs(self, prose: list[Block]) -> tuple[tuple[str, ...], ...]:
        """Return what boxes hold of which each has two short lines in elements of their own, three or more in a row: facts in a grid."""
        pairs = self._boxes_of_two(prose)
        often = Counter(self.parents[box] for box in pairs)
        return tuple([_texts(held) for box, held in pairs.items() if often[self.parents[box]] >= _LEAST_OF_A_LIST])

    def _labelled(self, beside: Iterable[Block]) -> tuple[tuple[str, ...], ...]:
        """Return what boxes beside the contents hold of which each has a label and a number: one of them is enough."""
        pairs = map(_texts, self._boxes_of_two(block for block in beside if not self._cell(block)).values())
        return tuple([pair for pair in pairs if are_label_and_number(*pair)])

    def _boxes_of_two(self, blocks: Iterable[Block]) -> dict[int, list[Block]]:
        boxes = defaultdict[int, list[Block]](list)
        for block in blocks:
            boxes[self.parents[block.element]].append(block)
        return {
            box: held
            for box, held in boxes.items()
            if len(held) == _OF_A_PAIR and held[0].element != held[1].element and all(block.width < _PARAGRAPH for block in held)
        }

    def _cell(self, block: Block) -> int:
        """Return the cell that a block stands in, also in a paragraph there; 0 for none."""
        element = block.element if block.element in self.data else self.parents[block.element]
        return element if element in self.data else 0

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
        return echoes.are(short.text) or (echoes.are_in(short.text) and is_dateline(short.text))

    def _without_others(self, parts: Parts, sizes: list[int]) -> list[Block]:
        """Return the content without the furniture that says that it leads to other pages, where the prose is much longer.

        Lists are pages, too, and may consist of such boxes alone.
        """
        heads = {id(block) for block in parts.around if block.width < _PARAGRAPH and leads_on(block.text)}
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
            # All of these have a number, and most blocks have none.
            if not has_digit(block.text) or block.element in self.headings:
                continue
            if is_of_a_visit(block.text):
                made.append(place)
            elif block.element not in self.data and counts_readers(block.text):
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

        Its paragraphs are teasers, or say something of the author: see `_told_aside`.
        """
        return self._furniture(self.named_around - self.asides | self._mostly_links(self.named_links | self.asides, sizes), sizes)

    def _told_aside(self, sizes: list[int]) -> list[Block]:
        """Return the paragraphs of the only aside that is not mostly links, if nothing in it is a link: a result, a sequence, a quotation.

        Teasers are linked, or stand in several. A box that says by its name that it is an advertisement is none of the page.
        """
        alone = [*self._outermost(self.asides - self._mostly_links(self.asides, sizes))]
        if len(alone) != 1:
            return []
        ((start, end),) = alone
        blocks = [block for block in self.blocks if start <= block.element < end]
        if any(block.link_characters for block in blocks):
            return []
        passing = self._below(self.passing) if self.passing else None
        return [block for block in blocks if block.width >= _PARAGRAPH and not (passing and passing[block.element])]

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
        # Not in tables, code and headings: there a year or a number is content.
        data, headings = self.data, self.headings
        are = [
            width < _DATELINE_WIDTH
            and not is_links
            and block.element not in data
            and block.element not in headings
            and is_dateline(block.text)
            for block, width, is_links in found
        ]
        start = 0
        for is_one, run in groupby(are):
            end = start + len(list(run))
            if is_one and end - start >= _LEAST_OF_A_LIST and all(has_other_words(block.text) for block in self.blocks[start:end]):
                are[start:end] = [False] * (end - start)
            start = end
        return [is_one and not self._is_of_a_record(place) for place, is_one in enumerate(are)]

    def _is_of_a_record(self, place: int) -> bool:
        """Return whether a block says when, in one of several rows, each a label and what it says, as in a table: a departure, a birth.

        How often it was read says no row.
        """
        group = None if is_counter(self.blocks[place].text) else self._row_of(place)
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
        while container and not holds(container, headings, self.ends):
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
        and len(label) < _LONGEST_LABEL_OF_LINKS
        and len(links.text.replace(" ", "")) - links.link_characters == len(label.replace(" ", "")) + 1
    )


def _texts(blocks: Iterable[Block]) -> tuple[str, ...]:
    return tuple([block.text for block in blocks])


def holds(element: int, ascending: list[int], ends: list[int]) -> bool:
    """Return whether one of some elements is `element` or stands in it."""
    first = bisect_left(ascending, element)
    return first < len(ascending) and ascending[first] < ends[element]


def join(blocks: Iterable[Block]) -> str:
    """Return the blocks' text, one block a line."""
    return "\n".join([block.text for block in blocks])
