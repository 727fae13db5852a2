"""What boxes call themselves, by class, id or their first line: navigation, advertisements, trails, quotations, titles."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.page.patterns import late
from simcrawl.page.vocabulary import alternatives, pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_START, _END = r"(?:^|[\s_-])", r"(?:$|[\s_-])"
# Names of surroundings, whatever is in them (but that of Bootstrap's cards, which are parts of a page) ...
_AROUND_NAMES = late(
    rf"{_START}(?:nav(?:bar|header|footer|igation)|bread-?crumbs?|mw-revision|print-?footer|(?<!card[_-])(?<!card__)(?<!panel-)foot(?:er)?|masthead|advert(?:s|isements?|ising|orial)?|ads|sponsor(?:s|ed|ship)?"
    rf"|relbar|sharing|share-?(?:bar|box|buttons?|links?|icons?|tools?|this)|social(?:-?(?:media|bar|buttons?|links?|icons?|share|sharing))?|disqus\w*"
    rf"|cookies?|consent|newsletters?|subscri(?:be|bers?|ptions?)|pagination|pager|copyright|trending|sphinxsidebar){_END}",
    re.IGNORECASE,
)
# ... and names that boxes of content have as well: such a box is furniture where most of it is links. Of those that lead on to something
# else one link is enough where a page is asked what it says itself: a price may stand beside it.
_OFFERS = (
    r"ad|promo\w*|related\w*|recommend\w*|popular|most-\w+|(?:up|cross)-?sells?|(?:similar|viewed|featured)[_-](?:products|items|posts|articles)"
    r"|also-(?:bought|viewed|like)|recently-viewed|more-(?:stories|posts|products)"
)
_OFFERS_NAMES = late(rf"{_START}(?:{_OFFERS}){_END}", re.IGNORECASE)
_LINKS_NAMES = late(rf"{_START}(?:navs?|menu|banner|share\w*|comments?|widgets?|popup|{_OFFERS}){_END}", re.IGNORECASE)
# What such boxes count, or offer at each visit: "Tweet 1043", the weather ...
_COUNTING_NAMES = late(rf"{_START}(?:share\w*|widgets?|banner|popup|ad){_END}", re.IGNORECASE)
# ... but not where a word more says that it is a value: the price of a share, a promotion's price.
_OF_A_VALUE = late(r"[a-z][_-](?:price|amount|value|total|rate|date|number|code|size|class)s?(?:$|\s)", re.IGNORECASE)
# A name says something of these; a paragraph, a cell or a word in a line has a name for its looks.
# fmt: off
BOXES = frozenset({
    "div", "section", "header", "footer", "nav", "aside", "ul", "ol", "dl", "menu", "dir", "table", "form", "center", "details", "figure",
    "fieldset", "dialog"
})
# fmt: on
_WORDS = late(r"[\W_]+")
_WORDS_OF_A_TITLE = 3
# How a box begins that leads to other pages: in shops, blogs and forums.
_LEADS_ON = late(lambda: rf"{pattern('leads on')}|\d+\s+{alternatives('other products')}\b", re.IGNORECASE)
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
# Where a page stands, which pages a reader saw before, or which of its versions this is, as MediaWiki calls that: never of it.
_TRAIL = late(rf"{_START}(?:bread-?crumbs?|mw-revision|print-?footer){_END}", re.IGNORECASE)
# What the programs for letters call what they repeat.
_LETTER = late(rf"{_START}(?:(?:gmail|yahoo|protonmail|zmail)_?quoted?|moz-cite\w*|quoted-?text){_END}", re.IGNORECASE)
# A site's, or, in books, a box of text that belongs to the chapter.
_SIDEBAR = late(r"(?:^|[\s_-])side-?bar(?:$|[\s_-])", re.IGNORECASE)
# What a page without an h1 calls the box with its name, if there is one such box alone. Not the name of its site.
_TITLED = late(r"(?:^|\s)(?!\S*(?:site|blog|brand|logo))\S*(?:title|heading|headline)(?:$|\s)", re.IGNORECASE)
_CAMEL = late("(?<=[a-z])(?=[A-Z])")
_LONGEST_NAMES = 256
_MOSTLY_LINKS = 0.5


class Kinds(NamedTuple):
    """What a box calls itself.

    `around`: furniture, whatever is in it; `links`: furniture if most of it is links; `sidebar`; `trail`: where a page stands, see
    `_TRAIL`; `letter`: what a letter repeats of an earlier one; `title`: of the page, or of a part of it.
    """

    around: bool
    links: bool
    sidebar: bool
    trail: bool
    letter: bool
    title: bool


def kinds(names: str) -> Kinds | None:
    """Return what a box of this class, or id, calls itself; None: nothing of all that, as most boxes do."""
    # The cache is not to keep what a page made up.
    return _kinds(names) if len(names) <= _LONGEST_NAMES else _kinds.__wrapped__(names)


def kinds_of_id(identity: str) -> Kinds | None:
    """Return what a box of this id calls itself; None as of `kinds`."""
    # Where its words are parted by points it is that of a name in a program.
    found = kinds(identity) if identity and "." not in identity else None
    # Of several words it says what this one box is about.
    is_short = bool(found and found.links) and len(_WORDS.split(identity)) < _WORDS_OF_A_TITLE
    return found._replace(links=is_short) if found else None


def is_furniture(tag: str, names: str, identity: str, share_of_links: Callable[[], float]) -> bool:
    """Return whether an element calls itself furniture, by its class and its id, where a page is asked what it says.

    `share_of_links`: how much of its text is links, asked where it may be content as well. Of what is no box a name is never enough.
    """
    found = [(one, name) for one, name in ((kinds(names), names), (kinds_of_id(identity), identity)) if one]
    is_around = any(one.around for one, _ in found)
    if any(one.trail for one, _ in found) or not (is_around or any(one.links for one, _ in found)):
        return bool(found) and any(one.trail for one, _ in found)
    called = _hyphened(f"{names} {identity}"[:_LONGEST_NAMES])
    if _OF_A_VALUE.search(called):
        return False
    is_box = tag in BOXES or "-" in tag
    if _COUNTING_NAMES.search(called) or (is_box and any(one.around and not may_be_subject(name) for one, name in found)):
        return True
    share = share_of_links()
    return share >= _MOSTLY_LINKS or (share > 0 and ((is_around and not is_box) or bool(_OFFERS_NAMES.search(called))))


# The pages of a site share their names.
@lru_cache(maxsize=4096)
def _kinds(names: str) -> Kinds | None:
    words = _hyphened((_SUBJECT.sub("", names) if _OWN_BOX.search(names) else names).strip())
    found = Kinds(*(bool(kind.search(words)) for kind in (_AROUND_NAMES, _LINKS_NAMES, _SIDEBAR, _TRAIL, _LETTER, _TITLED)))
    return found if any(found) else None


def may_be_subject(names: str) -> bool:
    """Return whether the class of a box of furniture may as well say what the page is about: "cookie-recipe"."""
    return bool(_MAY_BE_ABOUT.search(_hyphened(names[:_LONGEST_NAMES])))


def leads_on(line: str) -> bool:
    """Return whether a box that begins with this line leads to other pages."""
    return bool(_LEADS_ON.match(line))


def _hyphened(names: str) -> str:
    return _CAMEL.sub("-", names)
