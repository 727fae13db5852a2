"""What a page's scripts bring with them as data: the text that a client-side program will show.

JSON in scripts of that type (JSON-LD, `__NEXT_DATA__` and the like), streamed parts (`self.__next_f.push`), state that a script assigns,
and JSON in attributes (`data-react-props`, `:product`, `wire:snapshot`), from which components are drawn.
Nothing is run or parsed as a language: string literals are found, in one pass, and of their values those are taken that people read. A
value of several words is; a short one only under a key that speaks of content. So tokens, digests, identifiers, dates, addresses and
class names, which change at every request or with every build, are left out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Possessively, so that no script takes more than one pass: a literal, or a key's name; then, of a key, its value where that is a number.
_STRING = r'"(?>(?:[^"\\\n]++|\\.)*)'
_NAME = r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*+)(?=\s*+:)"
_VALUE = r"(?>(?:(?P<colon>\s*+:)(?>(?:\s*+(?P<number>-?\d[\d.]*+)(?=\s*+[,}\]]))?))?)"
# What is neither, a word at a time: to look for the next one at each character takes half as long again.
_NEITHER = r'[^"\w$]*+(?>(?:(?:[\w$]++(?!\s*+:)|(?![A-Za-z_$])[\w$]++)[^"\w$]*+)*)'
# A string that does not end would be read again from each quote in it.
_LITERAL = late(rf'{_NEITHER}(?:(?:"(?P<literal>{_STRING[1:]})"|{_NAME}){_VALUE}|"(?={_STRING[1:]}(?P<unclosed>)))', re.DOTALL)
_NAMED = late(rf"(?P<literal>(?!))?{_NAME}{_VALUE}(?P<unclosed>(?!))?", re.DOTALL)
_KEY = late(
    r"(?:.*[a-z_:-])?(?:name|title|headline|heading|label|caption|text|body|content|description|summary|excerpt|price|amount|sku|isbn|gtin\d*"
    r"|quantity|question|answer|message|subject|value|brand|author|location|address|street\w*|city|phone|email)",
    re.IGNORECASE | re.DOTALL,
)
# Of looks, addresses and what is counted, hashed or drawn anew.
_NO_KEY = late(
    r"(?:.*(?:[_:-]|(?-i:[a-z](?=[A-Z]))))?(?:class(?:names?)?|style|css|d|src(?:set)?|sizes|href|url|uri|path(?:name)?|slug|id|rel|media|type|integrity|nonce|token|hash|digest"
    r"|build\w*|version|locale|timestamp|date\w*|time|(?:created|updated|modified|published)\w*|views?|session\w*|csrf\w*|useragent|query|variables)",
    re.IGNORECASE | re.DOTALL,
)
# Lists of other pages, which may be drawn anew, and dictionaries of a program's own words.
_OF_OTHERS = late(r".{0,40}(?:recommend|related|similar|suggest|trending|upsell|cross_?sell|translation|i18n|advert)", re.IGNORECASE)
_BRACKET = late(rf'{_STRING}"?+|[][{{}}]', re.DOTALL)
_OPENING = late(rf'\s*+(?:{_STRING}"|[][{{}}])', re.DOTALL)
_NESTED = late(r'[\[{:,]\s?"')
_PROPERTY = r"\s*(?:\.\s*\w+|\[[^\]\n]{1,60}\])"
# Each alternative begins with a letter of its own: `re` passes over what begins with none of them at a third of the time.
_STATE = late(
    rf"(?:__[A-Za-z]\w{{0,40}}__|__next_f\.push|JSON\.parse|window{_PROPERTY}|self{_PROPERTY}|globalThis{_PROPERTY}|var\s+\w+|let\s+\w+|const\s+\w+)"
    r"\s*(?:=|\()\s*[\[{(\"'J]"
)
# JSON that a program gives to a function, or to what it has not declared. Only as JSON writes keys: a program seldom does. What is pushed,
# or given behind a string, is most often for those who count readers, and so is what has one of the names below.
_GIVEN = late(
    r"(?:(?<![=!<>])=|(?<!push)\(|(?<=[\w\])]),)\s{0,9}(?=(?:[\[{]\s{0,9}){1,3}\"[^\"\n]{0,60}\"\s{0,9}[:,])",
)
# What all of these end with. Where there is none, that is found a hundred times faster.
_BEGINS = late(r"[\[{]\s{0,9}\"[^\"\n]{0,60}\"\s{0,9}[:,]")
_LONGEST_BEFORE, _MOST_TRIED, _BEFORE_JSON = 64, 2_000, " \t\n\r\f\v[{"
_FOR_OTHERS = late(r"(?:datalayer|digitaldata|utag_data|nreum\w*|_satellite|rlconf|_hsq|_paq)\s{0,9}$", re.IGNORECASE)
_LONGEST_TARGET = 40
_DATA_TYPE = late(r"\s*application/(?:[\w.-]+\+)?json", re.IGNORECASE)
# How JSON in an attribute is written, in the bytes of a page.
# One pattern for all would try all at each place, which takes ten times as long: so each begins with one character.
_IN_ATTRIBUTES = re.compile(rb"=\s{0,3}'\s{0,20}[\[{]")
_ESCAPED_IN_ATTRIBUTES = [re.compile(bracket + rb"\s{0,20}&(?:quot|#0{0,4}34|#[xX]0{0,4}22);") for bracket in (rb"\[", rb"\{")]
_JSON = late(r"\s*+[\[{]\s*+[\[{\"]")
# What measures readers is told there, too: which of a list a link is, and what stands in a basket.
_MEASURING = late(
    r"(?:^|[-_:])(?:gtm|ga4?|analytics|tracking|track[-_]\w+|telemetry|e?commerce|impressions?|datalayer)(?:$|[-_:])", re.IGNORECASE
)
_ESCAPE = late(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROL = {"n": "\n", "r": "\n", "t": " ", "b": " ", "f": " "}
_MARKUP = late(r"<[^<>]{0,2000}>")
# Text of a few words, or of a few wide characters.
_READ = late(
    r"(?<!\w)[^\W\d_]\w*+[^\w\s]{0,3}\s{1,3}[^\w\s]{0,3}\w++[^\w\s]{0,3}\s{1,3}[^\w\s]{0,3}\w|[\u2e80-\ud7ff\uf900-\uffdc]{2}.{0,40}[\u2e80-\ud7ff\uf900-\uffdc]{3}",
    re.DOTALL,
)
_SHORT = late(r"\w")
# Times as programs write them, addresses, code.
_MACHINE = late(
    r"\s*(?:[a-z][a-z0-9+.-]*:|//|/|\.|#)\S*\s*$|\d{4}-\d\d-\d\dT|[A-Z][a-z]{2},? \d{1,2} [A-Z][a-z]{2} \d{4}"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d? [\d:]{8}"
    r"|\s*(?:function\b|\(function|!function|var |const |let |import |@|[.#]?[\w-]+\s*\{)|Mozilla/"
)
# An identifier: digits among letters, or long.
_TOKEN = late(
    r"\s*(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_+/=.-]{16,}\s*|\s*[0-9a-fA-F-]{16,}\s*|\s*\S{60,}\s*|\s*(?:true|false|null|undefined)\s*",
    re.IGNORECASE,
)
_SENTENCE = late(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|[\n|]+")
_DEEPEST = 3
_LONGEST_KEY = 60
# Characters: of a value under a key that speaks of content, and of one that has to be some words.
_LEAST, _LEAST_READ = 2, 5
_LONGEST_SCRIPT = 2_000_000
_MOST_TEXTS = 5_000


def is_data(kind: str, identity: str) -> bool:
    """Return whether a script's type, or its id, says that it is JSON."""
    return bool(_DATA_TYPE.match(kind)) or identity == "__NEXT_DATA__"


def texts(script: str, *, data: bool) -> list[str]:
    """Return what people would read of a script's data, a sentence each, in order.

    `data`: the script is JSON; otherwise it is a program, looked at only where it assigns data.
    """
    script = script[:_LONGEST_SCRIPT]
    if not data and not _STATE.search(script):
        return []
    return list(islice(_texts(script, _DEEPEST), _MOST_TEXTS))


def given(script: str) -> list[str]:
    """Return what people would read of the JSON that a program gives to a function, or to what it has not declared, as `texts` does.

    Of a page that shows nothing yet it is no content: what a program calls things may stand there, on each page the same.
    """
    script = script[:_LONGEST_SCRIPT]
    # Most scripts have none, and were searched for the other already.
    if not _BEGINS.search(script) or not _next_given(script, 0) or _STATE.search(script):
        return []
    return list(islice(_given(script), _MOST_TEXTS))


def _given(script: str) -> Iterator[str]:
    end = 0
    while found := _next_given(script, end):
        end = max(found.end(), _after(script, found.end()))
        if not _FOR_OTHERS.search(script[max(0, found.start() - _LONGEST_TARGET) : found.start()]):
            yield from _texts(script[found.end() : end], _DEEPEST)


def _next_given(script: str, start: int) -> re.Match[str] | None:
    """Return what stands before the next JSON that a program gives to a function, or to what it has not declared."""
    for number, begins in enumerate(_BEGINS.finditer(script, start)):
        if number >= _MOST_TRIED:
            # Much JSON within something else: then it takes less to look for what stands before.
            return _GIVEN.search(script, max(start, begins.start() - _LONGEST_BEFORE))
        first = max(start, begins.start() - _LONGEST_BEFORE)
        # Within JSON a comma, or nothing, stands before most lists and objects: not the end of what takes it.
        before = script[first : begins.start()].rstrip(_BEFORE_JSON)
        if before.endswith(("=", "(", ",")) and (found := _GIVEN.search(script, first, begins.end())):
            return found
    return None


def in_attributes(body: bytes) -> bool:
    """Return whether any attribute of a page may hold JSON. Most pages have none."""
    may_be_escaped = b"&quot;" in body or b"&#" in body
    return bool(_IN_ATTRIBUTES.search(body)) or (may_be_escaped and any(pattern.search(body) for pattern in _ESCAPED_IN_ATTRIBUTES))


def json_in(attributes: Iterable[tuple[str, str]]) -> list[str]:
    """Return the values of attributes that are JSON, but for what measures readers, and lists of other pages. Each is (name, value)."""
    return [
        value
        for name, value in attributes
        if _JSON.match(value) and not _MEASURING.search(name[:_LONGEST_KEY]) and not _OF_OTHERS.match(name[:_LONGEST_KEY])
    ]


def _texts(source: str, depth: int) -> Iterator[str]:
    kind, end, unclosed = _NO_KIND, 0, 0
    while found := (_NAMED.search(source, end, unclosed) if end < unclosed else None) or _LITERAL.match(source, max(end, unclosed)):
        end = found.end()
        literal, name, colon, number, opened = found.groups()
        if opened is not None:
            unclosed = found.end("unclosed")
            continue
        if colon:
            kind = _kind_of(name or literal)
            if kind.is_of_others:
                end = _after(source, end)
            elif number and kind.is_content:
                yield number
        elif literal and len(literal) >= (_LEAST if kind.is_content else _LEAST_READ) and not kind.is_machine:
            yield from _of_value(literal, depth, is_content=kind.is_content)


def _after(source: str, start: int) -> int:
    """Return where the list or object ends that begins here; the same place where none does."""
    # Not looked for any further: a program may have a thousand such keys and no list.
    if not _OPENING.match(source, start):
        return start
    depth = 0
    for found in _BRACKET.finditer(source, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth <= 0:
            return found.end()
    return len(source)


def _of_value(literal: str, depth: int, *, is_content: bool) -> Iterator[str]:
    text = _ESCAPE.sub(_unescaped, literal) if "\\" in literal else literal
    if depth and _NESTED.search(text):
        yield from _texts(text, depth - 1)
        return
    if "<" in text or "&" in text:
        text = unescape(_MARKUP.sub("\n", text))
    if not _READ.search(text) and not (is_content and _SHORT.search(text)):
        return
    if _MACHINE.match(text) or _TOKEN.fullmatch(text):
        return
    for sentence in _SENTENCE.split(text):
        if stripped := " ".join(sentence.split()):
            yield stripped


class _Kind(NamedTuple):
    """What a key says of its value: a list of other pages, something that people do not read, something that they do."""

    is_of_others: bool = False
    is_machine: bool = False
    is_content: bool = False


_NO_KIND = _Kind()


def _kind_of(key: str) -> _Kind:
    # The cache is not to keep what a page made up.
    return _kind(key) if len(key) <= _LONGEST_KEY else _Kind(bool(_OF_OTHERS.match(key)))


# The keys of a script come again and again.
@lru_cache(maxsize=4096)
def _kind(key: str) -> _Kind:
    return _Kind(bool(_OF_OTHERS.match(key)), bool(_NO_KEY.fullmatch(key)), bool(_KEY.fullmatch(key)))


def _unescaped(found: re.Match[str]) -> str:
    code, character = found.groups()
    return chr(int(code, 16)) if code else _CONTROL.get(character, character)
