"""What the name of an item's field says of its value: it is of the page, or of the fetch, or it counts.

`download_latency`, `depth` and `retry_times` are other ones on every page, and say nothing of it. Whole words count: a stem would count in
others as well, "size" in `sizes` (which are left), "count" in `discount`.
"""

from __future__ import annotations

from functools import lru_cache
from time import time
from typing import NamedTuple

from simcrawl.page.patterns import late

_WORDS = late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# What Scrapy fills for some pages and not for others; also with what is told of it, in one word.
_OF_A_FETCH = late(
    "(?:is|from)?(?:(?:link|crawl)?depth|(?:attempts?|cached?|flags?|proxy|redirect(?:ed|s)?|referr?ers?|retr(?:y|ies|ied|ying))"
    "(?:count|hit|ip|no|times?|urls?)?)"
)
# What a number may be of, in one word with it: `rownum`, `bodylen`.
_OF = (
    "(?:body|cell|content|crawl|data|date|download|fetch|file|hit|html|image|item|line|link|list|load|page|parse|proc|request|response|row"
    "|run|scrape|scraping|unix|view|word)?"
)
_OF_PLACES = late(f"{_OF}(?:depth|idx|index(?:es)?|page(?:num(?:ber)?|no|s)?|num|pos(?:itions?)?|rank|seq(?:uence|no)?)")
_COUNTS = late(
    f"{_OF}(?:bytes|counts?|counter|time|times|(?:time)?stamp|duration|elapsed|latency|len(?:gth)?|num|ranking|size)(?:kb|ms)?"
    "|order(?:ing)?|sortorder|retr(?:y|ies)"
)
# Of a whole name: when a page was made, or looked at. Other names may have these words: `year_built`.
_OF_MAKING = late(
    "(?:page|date|last|time|is|was)?(?:accessed|cached|changed|checked|crawled|downloaded|edited|fetched|generated|indexed|lastmod|modified"
    "|modification|now|refreshed|rendered|retrieved|scraped|synced|touched|updates?|updated)(?:at|by|date|on|time)?"
)
# And who looks at it, and how many like it: another number at each visit.
_OF_READERS = late(
    "(?:page|total|num|number|nr|no)?(?:of)?(?:views?|viewers?|visits?|visitors?|hits|likes?|dislikes?|shares?|followers?|readers?|online"
    "|watching|watchers?|popularity|clicks?|impressions?)(?:count)?"
)
# Names that a spider made of what a page says, or of when it came, are no fields.
_MADE_UP = late(r"\.[^.]*(?:\d|/|\s|.{40})")


_DAY = late(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{6})?")
_NEAR_NOW = 2 * 86_400


class FieldName(NamedTuple):
    """What a name says. `of_fetch`: how the page was fetched; `made_up`: it was made of a value; `counts`: its numbers are a program's.

    `places`: they say where among others a thing stands, as a truth value does, too: `last_page`. `of_making`: when its page was made, or
    looked at: `updated_at`. `of_readers`: who looks at it.
    """

    of_fetch: bool
    made_up: bool
    counts: bool
    places: bool
    of_making: bool
    of_readers: bool

    @property
    def of_page(self) -> bool:
        """Whether a field of this name may say something of a page."""
        return not (self.of_fetch or self.made_up)


# Items of a callback have the same fields, mostly.
@lru_cache(maxsize=1024)
def field_name(key: str) -> FieldName:
    """Return what a name says; within another one, "price.currency", the last part tells whether it counts."""
    words, last = ([word.lower() for word in _WORDS.findall(name)] for name in (key, key.rpartition(".")[2]))
    places = any(map(_OF_PLACES.fullmatch, last))
    counts = places or any(map(_COUNTS.fullmatch, last))
    of_making, of_readers = (bool(names.fullmatch("".join(last))) for names in (_OF_MAKING, _OF_READERS))
    return FieldName(any(map(_OF_A_FETCH.fullmatch, words)), bool(_MADE_UP.search(key)), counts, places, of_making, of_readers)


def is_technical(key: str, digits: str) -> bool:
    """Return whether a number says when or how a page was fetched, by its digits or its name. No digits: it is a text."""
    if not digits:
        return False
    significant = digits.lstrip("0")
    if field_name(key).counts or _DAY.fullmatch(significant):
        return True
    # The first ten digits are seconds, whatever part of a second the last one stands for.
    return len(significant) >= 10 and abs(int(significant[:10]) - time()) < _NEAR_NOW
