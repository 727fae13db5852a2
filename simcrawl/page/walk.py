"""From a parsed page to its layout: one walk over the tree, which keeps what is shown, and by its tags and attributes what it is.

Nothing is decided here that depends on the page as a whole: that is for `simcrawl.page.blocks`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from simcrawl.page import pictures
from simcrawl.page.blocks import Block, Layout, holds
from simcrawl.page.furniture import BOXES, kinds, kinds_of_id, may_be_subject
from simcrawl.page.patterns import late
from simcrawl.page.scripts import given, is_data, json_in, texts
from simcrawl.page.told import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from simcrawl.page.furniture import Kinds

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
_LEAVES_OUT = frozenset({"footer"})
_LEAVES_OUT_ROLES = frozenset({"contentinfo", "banner"})
# A header that stands in one of these is that of a part of the page, and not of the site.
_SECTIONING = frozenset({"article", "aside", "main", "nav", "section"})
# The number of the outermost element. What stands nowhere may be said to stand there, unlike the data of a page that shows nothing yet.
_ROOT = 1
# So many elements with JSON in an attribute are read, and so many of them looked through for text.
_MOST_WITH_DATA, _MOST_LOOKED_THROUGH = 1000, 50
# Of all other elements only attributes say something, see `_Walk._classify`.
_TELLING = _AROUND | _ASKING | BOXES | _LEAVES_OUT | _HEADINGS | _DATA | {"button", "textarea", "header", "main", "blockquote"}
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
_ADVERTISING = late(
    r"captcha|doubleclick|googlesyndication|googletagmanager|google\.com/recaptcha|adserv|/ads?[/.?_-]|\bads?\.|amazon-adsystem|outbrain|taboola|criteo"
    r"|facebook\.com/(?:plugins|tr)|platform\.twitter|disqus|hotjar|/pixel|about:|^(?:data|blob|javascript):|^#?$",
    re.IGNORECASE,
)
_PICTURES = frozenset({"img", "svg", "canvas", "meter", "progress", *_TARGETS})
_NOTED = frozenset({"script", "title", "meta", "link", *_SHOWN, *_PICTURES})
_UNSEEN = _SKIPPED | _HIDDEN
_INVISIBLE = frozenset({"0", "1", "0px", "1px"})
# Nothing but their names says what they are.
_BOXES_ALONE = BOXES - _AROUND - _ASKING - _LEAVES_OUT - {"header"}

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


class _Tags(dict[str, tuple[bool, bool, bool, bool]]):
    """What is to be done with the elements of a tag: whether it is noted, is unseen, breaks lines, and tells what it is."""

    def __missing__(self, tag: str) -> tuple[bool, bool, bool, bool]:
        # Not kept: a page may make up as many as it likes.
        return tag in _NOTED, tag in _UNSEEN, tag in _BREAKS, tag in _TELLING or "-" in tag


_PHRASES = frozenset({"a", "span", "b", "i", "u", "em", "strong", "small", "font", "code", "tt", "sup", "sub", "time", "abbr", "link"})
_TAGS = _Tags()
_TAGS.update((tag, _TAGS[tag]) for tag in _NOTED | _UNSEEN | _BREAKS | _TELLING | _PHRASES)


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
        self._may_be_subject = set[int]()
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
        if self._may_be_subject:
            whole.named_around.difference_update(whole.with_the_name(self._may_be_subject))
        return whole

    def _clear_of_mains(self, named: set[int]) -> None:
        """Let nothing be furniture by a doubtful name that holds the page's main part: themes call that "nav-content" as well."""
        mains = sorted(self._layout.mains)
        named.difference_update([element for element in named if holds(element, mains, self._ends)])

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
        if tag in BOXES:
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
        self._may_be_subject.discard(number)
        self._layout.named_around.add(number)

    def _enter_heading(self, tag: str, number: int) -> None:
        self._layout.headings[number] = tag
        if tag == "h1":
            # What is the head of an article is not the site's.
            above = {element for element, *_ in self._open}
            self._layout.headers.difference_update(above)
            self._layout.named_around.difference_update(above & self._mastheads)

    def _classify_by_name(self, number: int, names: str | None, identity: str | None) -> None:
        if names and (found := kinds(names)):
            self._call(number, found)
            if found.around and may_be_subject(names):
                self._may_be_subject.add(number)
            if "masthead" in names:
                self._mastheads.add(number)
            if found.title:
                self._layout.titled[number] = names
        if identity and (found := kinds_of_id(identity)):
            self._call(number, found)

    def _call(self, number: int, found: Kinds) -> None:
        layout = self._layout
        named = layout.named_around, layout.named_links, layout.sidebars, layout.left_out, layout.quoted
        for is_so, elements in zip(found[:-1], named, strict=True):
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
