"""What a page says, and what its readers see of it: whether a value of an item stands there, however it is written.

    its text      all of it, also mark-up, URLs and what its request brought along   ──► `has_most`
    what is seen  without tags, attributes, comments and scripts                     ──► `shows_most`, `shows_number`
    what is not   in its text, and not among what is seen                            ──► `hides`
    its address                                                                      ──► `is_addressed`, `is_named_by`

Each is made when it is first asked for: most items of copies say nothing that has to be looked for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from simcrawl.crawl.item_values import FILLED
from simcrawl.crawl.reading import (
    LONGEST_HIDDEN,
    WORD,
    are_few,
    digits_of,
    is_long_enough,
    is_of_word,
    missing_of,
    numbers_in,
    readable,
    readings,
    words_in,
)
from simcrawl.page.characters import unified
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Of one page. It is looked at on the event loop: a million characters take some 0.1 s, and most pages are a tenth of that.
_LONGEST_PAGE = 1_000_000
# Characters.
_LONGEST_LINE = 100
_NOT_BEHIND = "(?![a-z0-9])"
_TAG_IN_WORD = late(r"(?<=\w)<[^<>]*>(?=\w)")


class PageText:
    """What a page says, read once, and only if somebody asks.

    `tell` returns its text, and then what else belongs to it (its URLs, what its request brought along); None where it has no text. `url`:
    its address.
    """

    def __init__(self, tell: Callable[[], Iterable[str] | None], url: str = "") -> None:
        self._tell, self._url = tell, url
        self._text: str | None = None
        # The page itself, and what else belongs to it.
        self._source = self._own = self._beside = ""
        self._pieces: list[str] | None = None
        self._shown = list[str]()
        self._of_url: set[str] | None = None
        self._host: str | None = None
        self._is_read = False
        self._words: set[str] | None = None
        self._joined: set[str] | None = None
        self._joined_text = ""
        # Of what readers see, part by part.
        self._seen_words, self._numbers = list[set[str]](), list[set[str]]()
        # Without headings, and with them.
        self._said_of_itself: dict[bool, list[str]] = {}
        self._said_numbers: dict[bool, set[str]] = {}
        self._joined_pieces, self._lines = dict[bool, str](), dict[bool, list[str]]()

    @property
    def text(self) -> str | None:
        """All of it as it is read, mark-up included, see `readable`; None where nothing can be said of it."""
        if not self._is_read:
            self._is_read = True
            told = list(self._tell() or ())
            if told and sum(map(len, told)) <= _LONGEST_PAGE:
                self._source, self._beside = told[0], "\n".join(map(readable, [*told[1:], self._url]))
                self._own = readable(told[0])
                self._text = f"{self._own}\n{self._beside}"
        return self._text

    def has(self, plain: str) -> bool:
        """Return whether a text, as `readable` has it, stands on the page itself: in its text or its mark-up."""
        return self.text is not None and plain in self._own

    def is_addressed(self, value: Any) -> bool:
        """Return whether all of a value is in its address: the session, or the number of the page. The host counts only as a whole.

        Room 1 is not named by 127.0.0.1.
        """
        if self._of_url is None:
            address, host = unified(unquote(self._url)), unified(urlsplit(self._url).netloc)
            self._host = host or None
            self._of_url = set(WORD.findall(address.partition(host)[2] if host else address))
        written = unified(str(value))
        if self._host and self._host.partition(":")[0] in written:
            written = written.partition("://")[2] or written
            written = written.replace(self._host, " ").replace(self._host.partition(":")[0], " ")
        return self._of_url.issuperset(WORD.findall(written))

    def is_named_by(self, value: Any) -> bool:
        """Return whether a value tells by its address which page it is: its URL, or a part of that."""
        if value is False or value is FILLED or len(written := str(value)) > LONGEST_HIDDEN:
            return False
        written = unquote(written)
        return bool(WORD.search(written)) and self.is_addressed(written)

    def has_most(self, words: set[str]) -> bool:
        """Return whether half of some words, in lower case, or more are on it; of few words all, but for those with digits.

        Of a name of two words one may stand on any page. What has digits may be a counter's.
        """
        text = self.text or ""
        if self._words is None:
            self._words = words_in(text)
        missing = missing_of(words, self._words, text)
        if not are_few(missing, words):
            missing = missing_of(missing, self._of_joined(), self._joined_text)
        return are_few(missing, words)

    def _of_joined(self) -> set[str]:
        """Return its words where those count as one that a tag divides."""
        if self._joined is None:
            self._joined_text = _TAG_IN_WORD.sub("", self.text or "")
            self._joined = words_in(self._joined_text)
        return self._joined

    def shows_most(self, words: set[str]) -> bool:
        """Return what `has_most` does, of what readers see."""
        missing = words
        for place, text in enumerate(self._seen()):
            if place == len(self._seen_words):
                self._seen_words.append(words_in(text))
            missing = missing_of(missing, self._seen_words[place], text)
            if are_few(missing, words):
                return True
        return False

    def hides(self, value: str) -> bool:
        """Return whether a text, as `readable` has it, is on it, and only where no reader sees it: in attributes, comments, scripts."""
        written = re.escape(value)
        # What stands before it is looked at from its end: only a pattern that begins with letters is found at the speed of memory.
        before = rf"(?<![a-z0-9]{written})" if is_of_word(value[:1]) else ""
        whole = re.compile(f"{written}{_NOT_BEHIND * is_of_word(value[-1:])}{before}")
        if not whole.search(self.text or "") or any(map(whole.search, self._seen())):
            return False
        return not (is_long_enough(digits_of(value)) and self.shows_number(readings(value)))

    def shows_number(self, readings: set[str]) -> bool:
        """Return whether a number is among those that readers see, however these are written. `readings`: see `readings`."""
        for place, text in enumerate(self._seen()):
            if place == len(self._numbers):
                self._numbers.append(numbers_in(text))
            if not readings.isdisjoint(self._numbers[place]):
                return True
        return False

    def says(self, plain: str, *, headings: bool = True) -> bool:
        """Return whether the page shows a text, as `readable` has it, as a word or words of its own: see `said_texts`."""
        if not any(map(str.isalnum, plain)):
            return False
        return any(map(_as_words(plain).search, self._said(headings=headings)))

    def says_number(self, readings: set[str], *, headings: bool = True) -> bool:
        """Return whether the page shows a number as its own, however it is written there."""
        if headings not in self._said_numbers:
            self._said_numbers[headings] = numbers_in(self._said(headings=headings)[0])
        return not readings.isdisjoint(self._said_numbers[headings])

    def said_lines(self, *, headings: bool) -> list[str]:
        """Return the short lines in which the page says numbers of itself."""
        if headings not in self._lines:
            self._said(headings=headings)
            lines = map(readable, self._joined_pieces[headings].splitlines())
            self._lines[headings] = [line for line in lines if len(line) <= _LONGEST_LINE and any(map(str.isdigit, line))]
        return self._lines[headings]

    def _said(self, *, headings: bool) -> list[str]:
        """Return what it shows of itself, with a space for each tag, and without one."""
        if headings not in self._said_of_itself:
            from simcrawl.page.extraction import said_texts  # noqa: PLC0415 - as below

            pieces = said_texts(self._source, headings=headings) if self.text is not None else []
            self._joined_pieces[headings] = "".join(pieces)
            self._said_of_itself[headings] = [readable(" ".join(pieces)), readable(self._joined_pieces[headings])]
        return self._said_of_itself[headings]

    def _seen(self) -> Iterator[str]:
        """Give what readers see of it: what else belongs to it, then its own text with a space for each tag, and without one.

        Without one within a block alone: "A" and "12" in two cells are no "A12".
        """
        if self._pieces is None:
            text = self.text
            # Loaded on first use: few copies have items with a value of their own.
            from simcrawl.page.extraction import shown_texts  # noqa: PLC0415

            self._pieces = [] if text is None else shown_texts(self._source)
            self._shown = [self._beside, readable(" ".join(self._pieces))]
        yield from self._shown[:2]
        if len(self._shown) == 2:
            self._shown.append("\n".join(map(readable, "".join(self._pieces).split("\n"))))
        yield self._shown[2]


def _as_words(plain: str) -> re.Pattern[str]:
    """Return a pattern of a text that is no part of a longer word."""
    written = re.escape(plain)
    # What stands before it is looked at from its end, as in `hides`.
    before = rf"(?<!\w{written})" if plain[0].isalnum() else ""
    behind = r"(?!\w)" if plain[-1].isalnum() else ""
    return re.compile(f"{written}{behind}{before}")
