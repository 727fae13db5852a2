"""What a page is called: the words of its first heading and of its title, in a few bytes, and whether two pages are called differently.

With them stand what its pictures are called and its short lines, the values of a record: two pages may say nothing else of their own.

A word counts where it comes back in the page's own prose: a site's name, a version or a machine often stands in title and heading
alone. So does what heading, title and the end of the page's address have, and a whole number that heading and title have: an advisory,
a room or a lot has no other name. And two headings with at most half of their words in common tell pages apart as a whole, on two sites
where the titles have them as well.
Numbers in front ("4.2", "Chapter 3") number a page and do not name it.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from functools import lru_cache, partial, reduce
from itertools import accumulate, chain, compress, pairwise
from operator import xor
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from simcrawl.addresses import is_release
from simcrawl.bits import mix
from simcrawl.page import numerals, visits
from simcrawl.page.alphabets import marks
from simcrawl.page.characters import composed, normalize
from simcrawl.page.datelines import LABELLED, full_dates, has_a_state, is_counter, is_of_an_event, is_of_the_page, undated
from simcrawl.page.hashing import hash_units
from simcrawl.page.names_record import (
    BITS_BELOW,
    COUNTED_HEADED,
    COUNTED_IN_TITLE,
    END,
    HEADED,
    IN_TITLE,
    LATIN,
    LEFT_ALONE,
    MIXED,
    MOST_PICTURES,
    MOST_WORDS,
    OF_NOTHING,
    POWERS,
    PRIME,
    SECOND_BITS_BELOW,
    SIXTEENTHS,
    SPEAKS,
    WORD,
)
from simcrawl.page.numerals import IN_A_LIST, OF_A_DAY, OF_A_READER, YEAR
from simcrawl.page.patterns import late
from simcrawl.page.runs import has_digit, has_run, runs
from simcrawl.page.uncounted import words as uncounted_words
from simcrawl.page.vocabulary import alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set as AbstractSet

    from numpy.typing import NDArray

    from simcrawl.page.blocks import Parts
    from simcrawl.page.cut import Cut, Lines

# Of a page with few short lines all are kept: it may be a record.
_FEW_VALUES, _SAMPLE_OF_VALUES = 24, 12
# What a record is called stands first, or behind a label.
_FIRST_VALUES, _LONGEST_NAME, _ENDS = 2, 40, (".", "!", "?", "\u3002", "\uff01", "\uff1f")
_SPACES_OF_A_SENTENCE = 3
# Words of a page whose sentences may be those of a record: no longer one is.
_MOST_OF_A_TEMPLATE = 1_500
_LONGEST = 400
_FIRST = "x"
# (Han: numerals, what chapters and sections are called, and the ordinal. A department may be called as a part is.)
_HAN_NUMERALS = "\u3007\u96f6\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u4e24"
_HAN_SECTIONS = "\u7ae0\u8282\u7bc0\u90e8\u7bc7"
_NUMBERING = late(
    # A section sign makes a number a name: that of a law's paragraph. A letter before a word in lower case is an initial: "P. vulgaris".
    lambda: (
        rf"^[^\w\xa7]*(?!(?-i:[A-Z]\.\s+[a-z]))(?:{alternatives('chapters')}\s+)?"
        # Without a point behind it, more than two digits number no chapter: a house, a year.
        r"(?:\d++(?>(?:[.-]\d++)*)(?=[.:)])|\d\d?+(?>(?:[.-]\d++)*)(?=\s)|[A-Z](?:\.\d+)+|[IVXLC]+(?=[.:)])|[A-Z](?=[.:)]))"
        r"(?:[.:)]|\s)\s*(?=\S)"
        rf"|^\s*(?:(?:\u7b2c\s*[\d.{_HAN_NUMERALS}]++|[\d.]++)\s*[{_HAN_SECTIONS}]|[{_HAN_NUMERALS}]++[\u3001.\uff0e)\uff09])\s*(?=\S)"
    ),
    re.IGNORECASE,
)
_INITIAL = late(r"\s*([A-Z])\.\s+([^\W\d_]+(?:[-'\u2019][^\W\d_]+)*)\s*(?:$|\s[-|\u2013\u2014\xb7\u2022\xab\xbb])")
_VERSION = late(r"(?<![\w.])v?\d[\d.]*+(?!\w)")
_NUMBERED = late(r"(?<![\w.])\d+\.[\d.]*+(?!\w)")
# Han letters may touch it. What is measured is no name: "64-bit".
_NUMBER = late(r"(?<![a-z\d.])\d+(?![a-z\d]|\.\d|-[a-z])", re.IGNORECASE)
_DIGITS = late(r"\d+")
# Of an address: /archive/20260312.html.
_DAY_IN_ONE = late(r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
# A number by itself, or an ordinal; not "3gp".
_COUNTED = late(r"(?<![^\W_])\d+(?:st|nd|rd|th|er?|[ao])?(?![^\W_])", re.IGNORECASE)
# One of fewer digits is a release's, as in "Installing Debian 12", unless next to nothing stands beside it: "Lot 12". Or it is called a
# number, or is a part of a code: "Bye-law no. 12", "HN-2025-12".
_DIGITS_OF_A_NAME, _DIGITS_OF_A_DAY = 3, 2
_CALLED_A_NUMBER = late(
    lambda: (
        rf"(?:\b{alternatives('numbers')}\b\.?|\u2116|\bn[\xb0\xba]\.?|(?<!\w)#|\u7b2c)\s*+"
        r"(\d++)(?!\s*[\u7ae0\u8282\u7bc0\u90e8\u7bc7\u7248])"
    ),
    re.IGNORECASE,
)
_CODE = late(r"(?<![\w-])[A-Z]{2,}(?:-\d+){2,}(?![\w-])")
# What tells one thing from the next of its kind, also with one digit: a size ("Hex bolt 6 mm", "12 V"), an address of the Internet, a code
# of a classification ("E11.9", "8471.30"). Not temperatures, shares and prices, which change, nor bits, which are a machine's.
_UNITS = (
    r"(?-i:[mcdk]?m)[\xb2\xb3]?|ft|yd|k?g|mg|lbs?|oz|[mcd]?l|gal|k?w|k?v|m?ah?|[\u2126\u03a9]|[\xb5unp]f|[mgt]b|[mgk]?hz|psi|rpm"
    r"|hp|ps|mpx?|awg|ct|pcs|[\xb5m]cg|\xb5g|i\.?[ue]\.?|ppm|dpi|kwh|px"
    r"|(?-i:[\u043c\u0441\u043a]?\u043c)|\u043a?\u0433|\u043c?\u043b|\u043a?\u0432\u0442|\u0448\u0442"
)
_MEASURED = late(
    lambda: (
        rf"(?<![\w.,-])\d+(?:[.,/x\xd7]\d+)*[ \xa0-]?"
        rf"(?:(?:{_UNITS}|{alternatives('units')})(?![^\W\d_]|\s+(?:ago|free)\b)|[\"\u2033\u201d])"
        r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<![\w.])(?:[A-UW-Z]\d\d|(?!19|20)\d{4})\.\d{1,2}(?![\w.])"
    ),
    re.IGNORECASE,
)
_NUMBER_AMONG_WORDS = late(r"[^\W\d_]\s+\d\d?\s+(?!\w{1,4}\s+\d)[^\W\d_]")
_EXTENSION = late(r"\.(?!\d{3})\w{1,5}$")
# Parameters that say who came, and from where, and never to which page.
_OF_A_VISITOR = late(
    r"(?<=[?&;])(?:phpsessid|aspsessionid\w*|oscsid|zenid|jsessionid|cfid|cftoken|utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|replytocom"
    r"|sectok)=[^&;?]*[&;]?",
    re.IGNORECASE,
)
# Of a file's name: "page.de.html", "page.html.en". A longer number is the page's own: "story.4711.html".
_FURTHER_ENDINGS = late(
    r"(?:\.(?:[a-z]{2}(?:[-_][a-z]{2,4})?|[psx]?html?|php|txt|utf-?8|amp|print|mob(?:ile)?|old|min|raw|text|plain|full|lite|wap|html5"
    r"|alt|new|bak|src|\d{1,2}))+$",
    re.IGNORECASE,
)
_OWN_PAGE = late(r"(?:index|default|home|main)(?:\.\w{1,5})*$", re.IGNORECASE)
# In the directory of a number: /objects/126/view.html. Smaller numbers are those of releases.
_VIEW_OF_A_NUMBER = late(r"\d{3,}/(?:view|show|details?|item|entry|record)(?:\.\w{1,5})*$", re.IGNORECASE)
# As texinfo writes what is no letter.
_HEXADECIMAL = late(r"_00([2-7][0-9a-f])")
_NO_LETTER = late(lambda: rf"[^\w{marks()}]+|_+")
_LEAST_TOGETHER = 4
# What words in two forms have in common, and what an ending may have. Pieces of words where no spaces part them: see `_template`.
_LEAST_OF_A_STEM, _LEAST_OF_HANGUL, _MOST_OF_AN_ENDING, _LETTERS_OF_HAN, _LETTERS_OF_A_PIECE = 3, 2, 2, 2, 4
_HANGUL = late("[\uac00-\ud7a3]")
_HAN = late("[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# Thai, Lao, Tibetan, Burmese, Khmer, Chinese and Japanese.
_UNSPACED = late("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORDS = late(lambda: f"(?>(?:[^\\W\\d\u2e80-\uffdc][{marks()}]*+)+)|[\u2e80-\uffdc]{{1,3}}")
# What stands before and behind a line in one release and not in the other: a link to it, a colon, a point, a star. Not ".5", "C#", "A*".
_SIGNS, _ANCHOR = "#\xb6:.*", "\xb6"
_BEFORE = late(r"(?:[#\xb6]+\s*|[:.*]+\s+)+")
_ANCHOR_BEHIND = late(r"\s*(?:\xb6|(?<!\b\w)(?<!\b\w\w)#)+$")
_SIGN_BEHIND = late(r"(?<![:.*\s])\s*(?:[:.]|(?<!\b\w)(?<!\b\w\w)\*)$")
# Signs that belong to a word: "C++", "C#", "AA-", "-5".
_SIGNED = late(r"(?<![\w+#-])(?:\w[\w.]*+(?:\++|#)(?![\w+#])|[A-Z][A-Za-z]{0,2}-(?![\w-])|-\d[\d.,]*)")
# A month in numbers, and a place among as many: "05/2026", "2026-05", "Part 3 of 40", "3/40". Not "Act 3 of 1990".
_MONTH_OR_PLACE = late(
    r"^\W*(?:(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])[-/.](?:19|20)\d\d)\W*$"
    r"|(?<![\d/])\d{1,3}(?:\s?/\s?|\s+(?:of|von|de|di|sur|z|av|van)\s+)\d{1,3}\W*$",
    re.IGNORECASE,
)
_TAIL = 16
# Two letters, with a region or a script, or a name: of a host, a directory, a file or a value of a query.
_LANGUAGE = late(lambda: rf"[a-z]{{2}}(?:[-_](?:[a-z]{{2}}|[a-z]{{4}}))?|{alternatives('languages')}")
_QUERIED = late(r"=([^&;=]*)")
# For digests of texts in order.
_ODD, _WHOLE = 0x9E3779B97F4A7C15, 1 << 64


def lines(headings: tuple[str, str], facts: str, title: str, url: str = "") -> str:
    """Return what `of` looks at in eight lines: one cut is for all of a page.

    `headings`: that of the prose, and one that stands outside. `url`: the page's address, if its site may have named it after the page.
    """
    raw = [*(numerals.apart(composed(text[:_LONGEST])) for text in headings), composed(title[:_LONGEST])]
    measures = _measures(" | ".join(raw[:2]), raw[2])
    # Before numbers are taken for those of chapters: "6 mm hex bolt".
    slug = _slug(url)
    spelled = [_MEASURED.sub(partial(_as_word, measures), text) for text in raw] if measures else raw
    inner, outer, full = (_without_number(text, slug) for text in spelled)
    signs = {heading.strip() for heading in (inner, outer) if heading and not has_run(heading) and heading.strip() in full}
    signs.update(measures)
    if signed := {*_SIGNED.findall(f"{inner} {outer}")}:
        signs.update(signed.intersection(_SIGNED.findall(full)))
    if signs:
        inner, outer, full = (_spelled(text, signs) for text in (inner, outer, full))
    numbers = {number for text in (inner, outer) for number in _numbers(text)}
    # A bus line, a question: one that the address has as well.
    if has_digit(inner + outer) and (short := {*_NUMBER.findall(f"{inner} {outer}")} - numbers):
        of_address = _plain_numbers(slug)
        numbers |= {number for number in short.intersection(_NUMBER.findall(full)) if number.lstrip("0") in of_address}
    # A manual's version stands in the title alone; that of release notes, in their heading too, is what they are about. Not "64-bit".
    named = numbers | {version for text in headings for version in _VERSION.findall(text[:_LONGEST]) if "." in version.strip(".")}
    full, told = _spelled_as_addressed(full, f"{inner} {outer}", numerals.in_address(url, slug))
    called = _VERSION.sub(lambda found: found[0] if {found[0], found[0].strip(".")} & named else " ", full)
    addressed = _addressed(url, full, f"{inner} {outer}")
    if unsaid := addressed - _words_of(f"{inner} {outer}"):
        # The headings are those of every page: "Methods", "Description".
        outer = " ".join([outer, *sorted(unsaid)])
    outer = " ".join([outer, *told])
    names = numbers.intersection(_NUMBER.findall(full)) | addressed | {*told} | set(map(_word_for, signs))
    standing, uncounted = _standing(inner, outer, full)
    titled = " ".join(uncounted_words(_unnumbered(raw[2])))
    texts = [inner, outer, composed(facts[:_LONGEST]), called, " ".join(sorted(names)), standing, uncounted, titled]
    # A word in front of each, for a line without one is none.
    return "\n".join([f"{_FIRST} {' '.join(text.split())}" for text in texts])


def _measures(headings: str, title: str) -> set[str]:
    """Return the measures that headings and title have."""
    # Each has a number.
    if not has_digit(title) or not has_digit(headings):
        return set()
    return {*_MEASURED.findall(headings)}.intersection(_MEASURED.findall(title))


def _standing(inner: str, outer: str, title: str) -> tuple[str, str]:
    """Return a word for a heading that may be a page's name, a second one where all its words stand in the title as well.

    One with a number, or an ordinal, is one by its other words, and these come second: there is no end of pages, and of days. And one
    outside the contents is one only where the title has it, for it may be the site's.
    """
    words, told = _words_of(inner or outer), list[str]()
    if _COUNTED.search(inner or outer):
        told = uncounted_words(inner or outer)
        words = {*told}
    if not words:
        return "", ""
    standing = [_FIRST, _FIRST] if words <= _words_of(title) else [_FIRST] * bool(inner)
    return " ".join(standing), " ".join(told if standing else ())


def _spelled(text: str, names: set[str]) -> str:
    """Return a text with a word in the place of each of some names that are none, such as "+:" and "C++"."""
    # "C+" begins as "C++" does.
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, f" {_word_for(name)} ")
    return text


def _as_word(names: set[str], found: re.Match[str]) -> str:
    return f" {_word_for(found[0])} " if found[0] in names else found[0]


def _word_for(signs: str) -> str:
    return "".join([_FIRST, *(f"{ord(sign):x}" for sign in signs)])


def _spelled_as_addressed(title: str, headings: str, of_address: AbstractSet[str]) -> tuple[str, list[str]]:
    """Return a title with words in the place of the numbers that the end of its address has as well, and no heading, and these words."""
    said = numerals.said_in(headings, of_address)
    told = [one for one in numerals.in_title(title) if one not in said and numerals.plain([one]) <= of_address] if of_address else []
    words = {one: _word_for(one) for one in told}
    return (numerals.replaced(title, words), [*words.values()]) if words else (title, [])


def _numbers(heading: str) -> list[str]:
    """Return the numbers that may name a page."""
    found = _NUMBER.findall(heading) if has_digit(heading) else []
    if not found or len(_WORDS.findall(_NUMBER.sub("", heading))) <= 1:
        return found
    called = {*_CALLED_A_NUMBER.findall(heading), *_DIGITS.findall(" ".join(_CODE.findall(heading)))}
    return [number for number in found if len(number) >= _DIGITS_OF_A_NAME or number in called]


def _addressed(url: str, title: str, headings: str) -> set[str]:
    """Return the words of a title by which its page's address may call it, see `_slug`: as such, or run together, in whatever writing.

    Generators write `gr::video_sdl` as `gr_1_1video__sdl`, `map_entry` as `map-entry`, and `Grob_pq` as `Grob_005fpq`. A name of several
    parts that both have as it is counts as one: of `it_IT`, `hu_HU` and `es_419` no part tells them from `it`, `hu` and `es`. And the
    directory counts that the title has: `linked_list` and `binary_heap`, of two structs that are called `IntoIter`.
    """
    slug = _slug(url)
    words, together = _words_of(f"{slug} {slug.replace('_', ' ')}"), _squeezed(slug)
    # A heading may have its parts as words: "get all".
    if "_" in slug and slug.casefold() in runs(title.casefold()) and not _words_of(slug) & _words_of(headings):
        title = re.sub(rf"(?<!\w){re.escape(slug)}(?!\w)", together, title, flags=re.IGNORECASE)
    found = {word for word in _words_of(title) if word in words or (len(one := _squeezed(word)) >= _LEAST_TOGETHER and one in together)}
    directory = _directory(url)
    if len(directory) >= _LEAST_OF_A_STEM and directory in runs(title.casefold()) and not is_release(directory):
        found.add(_squeezed(directory))
    return found


def _directory(url: str) -> str:
    """Return the directory that a page is in, in lower case; of a directory's own page, the one around that."""
    *directories, name = url.partition("://")[2].partition("#")[0].partition("?")[0].rstrip("/").split("/")
    if _OWN_PAGE.match(name):
        directories = directories[:-1]
    return composed(unquote(directories[-1][:_LONGEST])).casefold() if len(directories) > 1 else ""


# It is asked several times for the page that is being made.
@lru_cache(maxsize=8)
def _slug(url: str) -> str:
    """Return the end of an address, as far as it may be made of a page's name: "boat-xl" of /boats/boat-xl.html, nothing of a query.

    Of a directory's own page, the directory, and of what the page of a number may be called, that as well: "126 view".
    """
    path = url.partition("://")[2].partition("#")[0].partition("/")[2]
    if "?" in path or ";" in path:
        path = _OF_A_VISITOR.sub("", path).rstrip("?&;")
    directories, _, segment = ("" if "?" in path else path.rstrip("/")).rpartition("/")
    directory = directories.rpartition("/")[2]
    if _OWN_PAGE.match(segment):
        segment = directory
    elif _VIEW_OF_A_NUMBER.match(f"{directory}/{segment}"):
        segment = f"{directory} {segment}"
    named = _EXTENSION.sub("", composed(unquote(segment[:_LONGEST])))
    return _HEXADECIMAL.sub(lambda found: chr(int(found[1], 16)), named)


def language(url: str, said: str = "") -> str:
    """Return what a page's address calls its language, in whatever way, or else what the page says (`said`); "" for neither."""
    address, _, query = url.partition("://")[2].partition("#")[0].casefold().partition("?")
    host, *path = address.split("/")
    # Of a file "page.de.html", or "page.html.de", but its first part; of a host, what stands before the site's name.
    parts = [*host.split(".")[:-2], *path[:-1], *(path[-1].split(".")[1:] if path else ()), *_QUERIED.findall(query)]
    return " ".join(part for part in parts if _LANGUAGE.fullmatch(part)) or said.strip().casefold()


def _squeezed(text: str) -> str:
    return _NO_LETTER.sub("", text.casefold())


def _words_of(text: str) -> set[str]:
    return {word for word in runs(text.casefold().replace("_", " ")) if not word.isdigit()}


def _without_number(text: str, slug: str) -> str:
    """Return a heading without the number of its chapter. The letter before one word may be an initial: "A. Smith".

    It is one where the end of the address has both as well, or has no words. "A. Glossary" is called so in one release.
    """
    if found := _INITIAL.match(text):
        together, (letter, name) = _squeezed(slug), map(str.casefold, found.groups())
        if not together or together.isdigit() or f"{letter}{name}" in together or f"{name}{letter}" in together:
            return text
    return _unnumbered(text)


def _unnumbered(text: str) -> str:
    found = _NUMBERING.match(text)
    return text[found.end() :] if found else text


def of(
    called: Cut | Lines,
    prose: Cut,
    beside: NDArray[np.uint64],
    parts: Parts,
    *,
    noindex: bool = False,
    url: str = "",
    said: str = "",
    title: str = "",
    known_as: str = "",
    is_known_elsewhere: bool = False,
    units_of_a_word: float = 1.0,
    lasting: bytes = b"",
) -> bytes:
    """Return what a page is called, in two bytes each: its title, the facts under its heading, the text below, the words of its headings.

    `called`: what `lines` gives, cut; `beside`: the words of what stands beside the contents, the outer heading among them. The lowest bit
    says that the page speaks of it. Then what its pictures are called, of many those with the smallest values (of two pages with the same
    pictures these are the same), and one value for all of them; and likewise its short lines, and how many there are. In the end two more
    bytes for each of these together: a page is compared with hundreds, and two bytes agree by chance for one of 32,000. And whether it asks
    search engines to leave it alone (`noindex`), or else has a heading, and that in its title; its language and the end of its address
    (`url`; `said`: see `language`); how many units say what a word does; and by which address of its own it wants to be known
    (`known_as`: see `simcrawl.page.hints.Hints.own_address`). Where it names another one (`is_known_elsewhere`) its title is none by
    itself, nor is a heading with a number. `title`: the page's title, as it is. `lasting`: an even number of bytes that stand for its text
    without the lines of a visit, if it has any.
    """
    # Numbers, not arrays: of so few words that takes a third of the time.
    ends = called.lengths().cumsum().tolist()
    found = [called.hashes[start + 1 : end] for start, end in pairwise([0, *ends])]
    everything = [words.tolist() for words in found]
    own, above, _, titled, named, standing = map(_ends_of, everything[:6])
    all_own, all_above, facts, full_title, _, _, uncounted, uncounted_title = everything
    times, around = _times({*own, *above, *titled}, prose.hashes), _times({*above} if not own else set(), beside)
    words = [_word(value, speaks=times[word] > own.count(word) or word in named) for value, word in _each(own, {*named})]
    # Where a long table is the contents, and has no heading, the sentence that says what it is about stands beside it.
    spoken = {word for word in above if times[word] or around.get(word, 0) > above.count(word) or word in named}
    outer = [_word(value, speaks=word in spoken) for value, word in _each([word for word in above if word not in own], {*named})]
    whole = _all(_word(word, speaks=times.get(word, 0) > 0) for word in {*full_title})
    values = [whole, _all(facts), _below(_unnumbered(composed(parts.heading[:_LONGEST])), found[0], prose), *words, END, *outer]
    # As they are: to unify the characters of paragraphs takes as long as all else here.
    paragraphs = {text.casefold().strip(f" {_SIGNS}") for text in parts.paragraphs}
    # In the order of the set, as their hashes will be.
    are_lasting = [not visits.are_spoken_of(text) for text in paragraphs]
    first = {_name_in(text) for text in parts.values[:_FIRST_VALUES]}
    headings = {_bare(_unnumbered(text)) for text in parts.headings} - {""}
    where = ({text} - {""} for text in (language(url, said), _FURTHER_ENDINGS.sub("", _slug(url))))
    # Counters stand in them: "Comments (5)".
    subheadings = {" ".join(word for word in runs(text.casefold()) if not word.isdigit()) for text in parts.subheadings} - {""}
    template = _template(parts) if len(prose.hashes) <= _MOST_OF_A_TEMPLATE * max(1.0, units_of_a_word) else set[str]()
    rows = _rows(parts.rows) | {line.casefold() for line in parts.values if LABELLED.match(line) and not IN_A_LIST.search(line)}
    others_still = (
        headings,
        template,
        subheadings,
        _said_beside(parts, title, url),
        rows,
        _rows(chain.from_iterable(map(numerals.but_for_rates, parts.tables_beside))),
        {known_as} - {""},
    )
    hashed = _hashes([{*parts.pictures}, _values(parts.values), paragraphs, first, *where, *others_still], prose.seed)
    pictures, short, *others, spoken_in, end, leading, filled, following, beside_it, in_rows, rows_beside, address = hashed
    of_all_visits = [*compress(others[0], are_lasting)]
    shown, lines = _digests(pictures), _digests(short)
    values += [END, *shown[:MOST_PICTURES], END, *([reduce(xor, shown) or 1] if len(shown) > MOST_PICTURES else ())]
    values += [END, *([min(len(lines), WORD | SPEAKS)] if lines else ()), *(lines[: _kept(len(lines))])]
    # From Oslo to Bergen is not from Bergen to Oslo.
    ordered = _in_order(full_title), _second(facts), _in_order(all_own), _in_order([word for word in all_above if word not in all_own])
    second = [*ordered, *(_second(hashes) for hashes in (*others, pictures, short))]
    ways = (OF_NOTHING, COUNTED_HEADED, COUNTED_IN_TITLE) if uncounted else (OF_NOTHING, HEADED, IN_TITLE)
    second.append(LEFT_ALONE if noindex else ways[len(standing)])
    second += map(_second, (spoken_in, end))
    second.append(round(units_of_a_word * SIXTEENTHS) if units_of_a_word > 1 else OF_NOTHING)
    second += map(_second, (leading, filled, following, beside_it, address))
    second += map(_in_order, ([], []) if is_known_elsewhere else (uncounted, uncounted_title))
    values += [END, *_shortened(second)]
    mixed = _shortened([*map(_mixed, (short, in_rows, rows_beside))])
    sums = [min(len(of_all_visits), WORD | SPEAKS), *(total + 1 for total in _power_sums(of_all_visits))] if len(of_all_visits) > 1 else []
    if mixed or sums or lasting:
        values += [END, *mixed]
    if sums or lasting:
        values += [END, *sums]
    if lasting:
        values += [END, *(number or 1 for number in struct.unpack(f">{len(lasting) // 2}H", lasting))]
    return struct.pack(f">{len(values)}H", *values)


def _ends_of(words: list[int]) -> list[int]:
    """Return the words of which there is one of its own for each: of a long name the first and the last ones.

    Where no spaces part words each letter is one, and a school or an office has more than sixteen; its town stands in front or behind.
    """
    return words if len(words) <= MOST_WORDS else words[: MOST_WORDS // 2] + words[-MOST_WORDS // 2 :]


def _each(words: Sequence[int], numbers: set[int]) -> list[tuple[int, int]]:
    """Return a value for each of some words, and the word, in order. A number that comes again has another value: "Level 3-3".

    Other words have not: what two headings have in common would be "of the" and "the".
    """
    values, times = dict[int, int](), Counter[int]()
    for word in words:
        values[(word + times[word] * _ODD) % _WHOLE] = word
        times[word] += word in numbers
    return sorted(values.items())


def _kept(lines: int) -> int:
    """Return of how many short lines a page's names tell."""
    return lines if lines <= _FEW_VALUES else _SAMPLE_OF_VALUES


def _hashes(kinds: Sequence[set[str]], seed: int) -> list[list[int]]:
    """Return the hashes of some sets of texts in one go: of so few texts a call costs more than what it hashes."""
    hashes = hash_units([text for texts in kinds for text in texts], seed=seed).tolist()
    ends = accumulate(map(len, kinds), initial=0)
    return [hashes[start:end] for start, end in pairwise(ends)]


def _digests(hashes: Iterable[int]) -> list[int]:
    """Return two bytes for each text, none of them 0, in order: the first ones are a sample of all."""
    return sorted({(value >> BITS_BELOW) or 1 for value in hashes})


def _second(hashes: Iterable[int]) -> int:
    """Return two bytes for all of some texts together, not 0, of other bits than those that stand for one."""
    return (reduce(xor, hashes, 0) >> SECOND_BITS_BELOW) & 0xFFFF or OF_NOTHING


def _shortened(digests: list[int]) -> list[int]:
    """Return digests without those at the end that are of nothing."""
    while digests and digests[-1] == OF_NOTHING:
        digests.pop()
    return digests


def _mixed(hashes: list[int]) -> int:
    """Return what `_second` does for texts of which many end alike.

    A hash is a sum over a text's pieces: "Ann, yes" and "Ann, no" differ by about as much as "Bo, yes" and "Bo, no", so what stands for all
    four may be what stands for none of them. Mixed once more it is not.
    """
    mixed = np.array(hashes, np.uint64)
    mix(mixed)
    return _second(mixed.tolist())


def _in_order(hashes: Iterable[int]) -> int:
    """Return what `_second` does, another value where the same texts first come in another order."""
    return _second([reduce(lambda together, value: (together * _ODD + value) % _WHOLE, dict.fromkeys(hashes), 0)])


def _power_sums(hashes: Iterable[int]) -> list[int]:
    """Return the sums of some values, of their squares and of their cubes, modulo a prime: see `_exchanged_paragraphs`."""
    values = [value % PRIME for value in hashes]
    return [sum(pow(value, power, PRIME) for value in values) % PRIME for power in POWERS]


def _template(parts: Parts) -> set[str]:
    """Return a page's paragraphs without the words of its short lines and headings: what two records have in common that say their values.

    In whatever form a language has them. Where no spaces part words, without what has pieces of these lines.
    """
    lines = [line.casefold() for line in parts.values if len(line) <= _LONGEST_NAME]
    headings = [text[:_LONGEST].casefold() for text in (parts.heading, parts.outer_heading, *parts.headings)]
    # Not the numbers of headings: those of releases.
    said = {word for line in lines for word in runs(line)} | {word for text in headings for word in _words_of(text)}
    if not said:
        return set()
    # To look for each stem takes as long as all else here, and few words begin as one.
    stems: dict[str, tuple[str, ...]] = {}
    for stem in {_stem(word) for word in said} - {""}:
        stems[stem[:_LEAST_OF_HANGUL]] = (stem, *stems.get(stem[:_LEAST_OF_HANGUL], ()))
    pieces = {piece for word in said if _UNSPACED.search(word) for piece in _pieces(word)}
    first_letters = frozenset(piece[0] for piece in pieces)
    texts = [runs(text.casefold()) for text in parts.paragraphs]
    # Each word once: a page has most of them several times.
    others = {*chain.from_iterable(texts)} - said
    own = {word: word for word in others if not word.startswith(stems.get(word[:_LEAST_OF_HANGUL], ()))}
    if pieces:
        own |= {word: _without_pieces(word, pieces, first_letters) for word in own if not first_letters.isdisjoint(word)}
    return {" ".join([own[word] for word in words if word in own]) for words in texts}


def _stem(word: str) -> str:
    """Return how a word begins in all its forms; "" for a short one. In Korean what a form has more stands behind the whole of it."""
    if _HANGUL.match(word):
        return word if len(word) >= _LEAST_OF_HANGUL else ""
    return word[: max(_LEAST_OF_A_STEM, len(word) - _MOST_OF_AN_ENDING)] if len(word) >= _LEAST_OF_A_STEM else ""


def _without_pieces(word: str, pieces: set[str], first_letters: frozenset[str]) -> str:
    """Return a word without pieces of those that no spaces part. `first_letters`: those of the pieces."""
    if not _UNSPACED.search(word):
        return word
    size = _size_of_a_piece(word)
    beginnings = word[: max(0, len(word) - size + 1)]
    places = [at for at, letter in enumerate(beginnings) if letter in first_letters and word[at : at + size] in pieces]
    if not places:
        return word
    left = list(word)
    for at in places:
        left[at : at + size] = [""] * size
    return "".join(left)


def _pieces(word: str) -> list[str]:
    """Return the pieces of a word without spaces, one for each letter but the last ones: of Han two letters, of an alphabet more."""
    size = _size_of_a_piece(word)
    return [word[at : at + size] for at in range(len(word) - size + 1)]


def _size_of_a_piece(word: str) -> int:
    return _LETTERS_OF_HAN if _HAN.search(word) else _LETTERS_OF_A_PIECE


def _said_beside(parts: Parts, title: str, url: str) -> set[str]:
    """Return what the lines beside the contents say, and datelines, without numbers: counters change from visit to visit.

    Those behind a label stay: a price, a room. So do those of a dateline that says when something takes place, of a heading: a case, or the
    day that a page is called by, and of an aside's paragraphs. And codes stay, signs alone, and the numbers that the title has as well, or
    the address.
    """
    lines = [block.text for block in parts.beside]
    labelled = {line for line in lines if LABELLED.match(line)}
    labelled.update(line for line in parts.dated if is_of_an_event(line, _without_numbers(line)))
    headings = (parts.heading, parts.outer_heading)
    of_address = numerals.in_address(url, _slug(url))
    labelled.update(heading for heading in headings if _has_its_own_number(heading) or full_dates(heading[:_LONGEST]))
    labelled.update(heading for heading in headings if _is_numbered_as_addressed(heading, of_address))
    labelled.update(line for line in parts.dated if _is_of_a_day(line, url, title) and not is_of_the_page(line))
    beside = (one for one in parts.headings_beside if not numerals.changes(one[:_LONGEST]) or full_dates(one[:_LONGEST]))
    labelled.update(one for one in beside if numerals.may_be_a_name(one) or _has_its_own_number(one))
    labelled.update(filter(numerals.is_a_symbol, lines))
    labelled.update(text for text in parts.aside if not (visits.are_spoken_of(text.casefold()) or is_of_the_page(text[:_LONGEST])))
    own = of_address | numerals.plain(numerals.in_title(title[:_LONGEST]))
    # Two texts that are alike, for one line, would nearly cancel each other out.
    called = f"{title[:_LONGEST]} {unquote(url)}".casefold()
    kept = ([] if line in labelled else [*numerals.codes(line.casefold(), called), *numerals.said_in(line, own)] for line in lines)
    words = {" ".join([*_without_numbers(line), *more]) for line, more in zip(lines, kept, strict=True)}
    # A month is a word.
    dated = (undated(line) if has_a_state(line) else line for line in parts.dated)
    words.update(" ".join(_without_numbers(line)) for line in (*dated, *({*parts.aside} - labelled)))
    return ({_bare(line) for line in labelled} | words) - {""}


def _without_numbers(line: str) -> list[str]:
    """Return the words of a line, in lower case, without those that have a digit; where no spaces part words, without the digits."""
    line = line.casefold()
    if _UNSPACED.search(line):
        line = _DIGITS.sub(" ", line)
    return [word for word in runs(line) if not has_digit(word)]


def _rows(rows: Iterable[tuple[str, ...]]) -> set[str]:
    """Return what the rows of tables say. Not counters, and not the weeks of a calendar: there is no end of them."""
    told = (row for row in rows if len(row) > 1 and not any(map(IN_A_LIST.search, row)) and not _is_of_a_calendar(row))
    return {"\n".join(row).casefold() for row in told}


def _is_of_a_calendar(row: tuple[str, ...]) -> bool:
    days = [int(cell) for cell in row if len(cell) <= _DIGITS_OF_A_DAY and cell.isdecimal()]
    return len(days) == len(row) and all(after == day + 1 for day, after in pairwise(days))


def _has_its_own_number(heading: str) -> bool:
    """Return whether a heading has a number that may be the page's own: "Lot 512", "CVE-2025-61784", "Coin of 1741".

    Or a shorter one between words: "iPhone 12 case". At the end stands that of a page of a list, and beside a year or a month a day's.
    """
    heading = heading[:_LONGEST]
    if not has_digit(heading) or IN_A_LIST.search(heading) or numerals.is_of_no_page(heading):
        return False
    if any(len(number) >= _DIGITS_OF_A_NAME and not YEAR.fullmatch(number) for number in _numbers(heading)):
        return True
    is_one = _NUMBER_AMONG_WORDS.search(_unnumbered(heading))
    return bool(is_one) and not any(pattern.search(heading) for pattern in (YEAR, OF_A_DAY, OF_A_READER))


def _is_numbered_as_addressed(heading: str, of_address: frozenset[str]) -> bool:
    """Return whether a heading has a number that the end of its page's address has as well: "Room 7" of /rooms/7, "Accidents in 1990".

    That of a page of a list, of a day or a week, of what is counted or of what is not there is no name: there is no end of them.
    """
    heading = heading[:_LONGEST]
    if is_counter(heading) or _MONTH_OR_PLACE.search(heading) or not of_address.intersection(numerals.plain(numerals.in_title(heading))):
        return False
    if numerals.is_of_no_page(heading):
        return False
    return bool(uncounted_words(heading)) or not _WORDS.search(heading)


def _is_of_a_day(line: str, url: str, title: str) -> bool:
    """Return whether a line has a date that the address has as well, or the title. When a page was changed stands in neither."""
    found = full_dates(line[:_LONGEST])
    if not found:
        return False
    address = _DAY_IN_ONE.sub(r"\1-\2-\3", url.partition("://")[2][:_LONGEST])
    numbers, of_title = _plain_numbers(address), full_dates(title[:_LONGEST])
    return any(day in of_title or _plain_numbers(day) <= numbers for day in found)


def _plain_numbers(text: str) -> set[str]:
    """Return the numbers in a text as they are counted: the 4 of "4 May" is 04 in an address."""
    return {number.lstrip("0") for number in _DIGITS.findall(text)}


def _bare(line: str) -> str:
    """Return a line without the signs around it, in which releases of one generator differ; where it is nothing but signs, these."""
    text = normalize(line).casefold().strip()
    if not text or (text[0] not in _SIGNS and text[-1] not in _SIGNS):
        return text
    if not has_run(text):
        return "" if text == _ANCHOR else text
    found = _BEFORE.match(text)
    text = text[found.end() :] if found else text
    # A paragraph may be long, and what is looked for stands at its end.
    return text[:-_TAIL] + _SIGN_BEHIND.sub("", _ANCHOR_BEHIND.sub("", text[-_TAIL:]))


def _name_in(line: str) -> str:
    """Return a line that may be what a record is called, "" for a sentence or a long one. Tables are numbered, releases too."""
    return _NUMBERED.sub(" ", _bare(line)) if len(line) <= _LONGEST_NAME and not line.endswith(_ENDS) else ""


def _values(lines: Sequence[str]) -> set[str]:
    """Return a page's short lines. Of few, those that stand there several times have a number: one value in two rows is two.

    A sentence is no value: what several steps of a manual say, the next release may say in another way, each time.
    """
    counts = Counter(map(_bare, lines))
    del counts[""]
    if counts.total() > _FEW_VALUES:
        return {*counts}
    once = {_bare(line) for line in lines if line.endswith(_ENDS) and line.count(" ") >= _SPACES_OF_A_SENTENCE}
    return {f"{line}\n{number}" if number else line for line, count in counts.items() for number in range(1 if line in once else count)}


def _times(words: set[int], text: NDArray[np.uint64]) -> dict[int, int]:
    """Return how often words stand in a text."""
    listed = list(words)
    places = (text == np.array(listed, np.uint64)[:, None]).ravel().nonzero()[0]
    counts = np.bincount(places // max(1, len(text)), minlength=len(listed))
    return dict(zip(listed, counts.tolist(), strict=True))


def _below(heading: str, words: NDArray[np.uint64], prose: Cut) -> int:
    """Return two bytes for all words of the prose but the heading's.

    The lowest bit: whether the heading is in Latin letters. 0: it is in several scripts, or in none.
    """
    latin = {letter.isascii() for letter in heading if letter.isalpha()}
    if len(latin) != 1:
        return MIXED
    rest = ((int(prose.hashes.sum()) - int(words.sum())) >> BITS_BELOW) & 0xFFFF
    return (rest & ~LATIN) | (LATIN if latin == {True} else 0)


def _all(words: Iterable[int]) -> int:
    """Return two bytes for all words together; the lowest bit: whether the page speaks of one of them."""
    together = speaks = 0
    for word in words:
        together ^= word
        speaks |= word
    return (together & WORD) | (speaks & SPEAKS)


def _word(word: int, *, speaks: bool) -> int:
    """Return two bytes for a word."""
    return ((word >> BITS_BELOW) & WORD or WORD) | (SPEAKS if speaks else 0)
