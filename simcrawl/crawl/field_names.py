"""What the name of an item's field says of its value: it is of the page, or of the fetch, or it counts.

`download_latency`, `depth` and `retry_times` are other ones on every page, and say nothing of it. Whole words count: a stem would count in
others as well, "size" in `sizes` (which are left), "count" in `discount`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from simcrawl.page.patterns import late

_WORDS = late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# What Scrapy fills for some pages and not for others.
_OF_A_FETCH = late("attempts?|cached?|depth|flags?|proxy|redirect(?:ed|s)?|referr?ers?|retr(?:y|ies|ied|ying)")
_OF_PLACES = late("depth|idx|index(?:es)?|page(?:num|no|s)?|pos(?:itions?)?|rank|seq(?:uence)?")
_COUNTS = late(
    "bytes|(?:item|link|page|word)?counts?|counter|(?:crawl|date|fetch|load|request|response|run)?time|times|(?:time)?stamp|duration|elapsed|"
    "latency|len(?:gth)?|num|order(?:ing)?|ranking|retr(?:y|ies)|(?:file|page)?size"
)
# Names that a spider made of what a page says, or of when it came, are no fields.
_MADE_UP = late(r"\.[^.]*(?:\d|/|\s|.{40})")


class FieldName(NamedTuple):
    """What a name says. `of_fetch`: how the page was fetched; `made_up`: it was made of a value; `counts`: its numbers are a program's.

    `places`: they say where among others a thing stands, as a truth value does, too: `last_page`.
    """

    of_fetch: bool
    made_up: bool
    counts: bool
    places: bool

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
    return FieldName(any(map(_OF_A_FETCH.fullmatch, words)), bool(_MADE_UP.search(key)), counts, places)
