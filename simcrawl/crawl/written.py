"""One form of a value that a page, its print view and its AMP view write in several ways, so that it counts as one value.

    12 March 2026, Thu 12 Mar 2026, 12.03.2026, 13/03/2026    ──► 2026-03-12; with 2:30 pm: 2026-03-12 14:30
    1,299.00 (EUR or its sign before or behind), EUR 1299     ──► EUR 1299; without a currency: 1299.00
    WALNUT DESK, Walnut desk.                                 ──► walnut desk
    signs: quotes, dashes, ligatures, spaces, soft hyphens    ──► those of ASCII
    Price: 12, in a field `price`                             ──► 12

Two values must never become one, for then a content is lost. What may be read in two ways stays as it is written:

    03/04/2026         a day of March or of April             ──► stays; so does 12.03.26
    1.299 EUR          one and a bit, or more than a thousand ──► stays
    $ 12, CAD 12       whose dollars?                         ──► two values
    1.10, 1.1          may be versions                        ──► two values
    10 mW, US, m       case may tell, beside numbers and of short words  ──► stays
    14:30+01:00        a moment with its zone                 ──► stays
    Children: 2        the field is not called so             ──► stays
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from simcrawl.page.characters import composed
from simcrawl.page.patterns import late
from simcrawl.page.vocabulary import words

if TYPE_CHECKING:
    from collections.abc import Iterator

# Characters of a value, and of a day or a price with what stands beside it.
_LONGEST, _LONGEST_DAY = 100, 64
_MONTHS, _DAYS, _HALF_A_DAY = 12, 7, 12
# Letters: of a shorter word the case or the stop behind it may tell what it means, and fewer name no month.
_LONG_WORD, _SHORTEST_NAME = 4, 3
_LONG_WORDS = 2


# ---- signs


def _signs() -> dict[int, str]:
    signs = {
        "'": "\u2018\u2019\u201a\u201b\u2032",
        '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
        "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
        "...": "\u2026",
        **dict(zip(("ff", "fi", "fl", "ffi", "ffl", "st", "st"), "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06", strict=True)),
    }
    # Not by NFKC, to which 10\u00b2 is 102.
    wide = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    return wide | {ord(sign): plain for plain, written in signs.items() for sign in written}


_SIGNS = _signs()

# ---- days

_TIME = r"(?:(?:[\sT,]|\s[-|])\s*(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?:\s?(?P<half>[ap])\.?m\.?)?)?"
_WEEKDAY = r"(?:(?P<weekday>[^\W\d_]+(?:-[^\W\d_]+)?)\.?,?\s+)?"
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>[12]\d{3})"
# Between a day and a month: "12th of March", "12. de marzo de", "12-Mar-".
_OF, _NAME = r"(?:st|nd|rd|th|er|\.|\u00ba)?(?:\s+(?:(?:of|de)\s+)?|-)", r"(?P<name>[^\W\d_]+)\.?"
_DATES = tuple(
    late(f"{_WEEKDAY}{day}{_TIME}", re.IGNORECASE)
    for day in (
        rf"{_YEAR}(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign){_DAY}",
        rf"{_YEAR}\s?\u5e74\s?(?P<month>\d{{1,2}})\s?\u6708\s?{_DAY}\s?\u65e5",
        # No language puts the month first where points are between them.
        rf"{_DAY}\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}",
        rf"(?P<one>\d{{1,2}})(?P<sign>[-/])(?P<two>\d{{1,2}})(?P=sign){_YEAR}",
        rf"{_DAY}{_OF}{_NAME}(?:,?\s+(?:del?\s+)?|-){_YEAR}",
        rf"{_NAME}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}",
    )
)
_DIGIT, _FOUR_DIGITS = late(r"\d"), late(r"[12]\d{3}")

# ---- prices

_CODES = frozenset(
    re.findall("...", "AUDBGNBRLCADCHFCNYCZKDKKEURGBPHKDHUFIDRILSINRISKJPYKRWMXNMYRNOKNZDPHPPLNRONRUBSEKSGDTHBTRYTWDUAHUSDZAR")
)
# Signs of one currency. Several have dollars, crowns, and \u00a5.
_CODE_OF = {"\u20ac": "EUR", "\u00a3": "GBP", "\u20b9": "INR", "\u20bd": "RUB", "\u20ba": "TRY", "\u20a9": "KRW", "US$": "USD"}
_CURRENCY = r"(?:[A-Z]{3}|[A-Z]{0,2}\$|[\u00a3\u00a5\u20a0-\u20bf])"
_PRICE = late(rf"(?P<before>{_CURRENCY})?\s?(?P<amount>\d[\d.,' ]*(?<=\d))\s?(?P<behind>{_CURRENCY})?")
_AMOUNT = late(r"(?P<whole>0|[1-9]\d*|[1-9]\d{0,2}(?P<sign>[.,' ])\d{3}(?:(?P=sign)\d{3})*)(?:(?P<point>[.,])(?P<part>\d\d?))?")

# ---- words

_LABEL = late(r"([^\W\d_](?:[\s_-]?[^\W\d_]){0,40})\s?:\s?(?=\S)")
_LETTERS = late(r"[^\W\d_]+")
_STOP = late(rf"(?<=[^\W\d_]{{{_LONG_WORD}}})\s?[.,:;]\Z")


def one_form(key: str, text: str) -> str:
    """Return the form of a value that all ways to write it have in common, as far as that is sure. `key`: its field's name."""
    return text if len(text) > _LONGEST else _one_form(key.rpartition(".")[2], text)


# Each value of an item is asked for twice, and once more for each copy.
@lru_cache(maxsize=4096)
def _one_form(name: str, text: str) -> str:
    # Most values are of ASCII.
    signs = text if text.isascii() else composed(text).translate(_SIGNS)
    plain = _without_label(name, " ".join(signs.split()))
    if not _DIGIT.search(plain):
        return _in_one_case(_STOP.sub("", plain))
    return (len(plain) <= _LONGEST_DAY and (_day(plain) or _price(plain))) or _STOP.sub("", plain)


def _without_label(name: str, text: str) -> str:
    """Return what stands behind a label that is what the field is called."""
    found = _LABEL.match(text) if ":" in text else None
    return text[found.end() :] if found and _letters(found[1]) == _letters(name) else text


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(text)).lower()


def _in_one_case(text: str) -> str:
    """Return a text of several long words in lower case; words of capitals within a text say something by them, if they are short.

    Words with capitals within, such as names in a program, are left, and so is what stands beside them.
    """
    if text == (lower := text.lower()):
        return text
    is_long = [word for word in _LETTERS.findall(text) if len(word) >= _LONG_WORD]
    # Behind its first letter each is of one case, where its script has any.
    if len(is_long) < _LONG_WORDS or any((rest := word[1:]) != rest.lower() and not word.isupper() for word in is_long):
        return text
    return lower if text.isupper() else _LETTERS.sub(_in_lower_case, text)


def _in_lower_case(word: re.Match[str]) -> str:
    return word[0] if len(word[0]) < _LONG_WORD and word[0].isupper() else word[0].lower()


# ---- what a day and a price are


def _day(text: str) -> str | None:
    """Return a day as ISO 8601 has it, and the time behind it; None where it is none, or may be two."""
    if not _FOUR_DIGITS.search(text):
        return None
    for found in filter(None, (pattern.fullmatch(text) for pattern in _DATES)):
        parts = found.groupdict()
        if (day := _date_of(parts)) and _is_on(day, parts["weekday"]) and (time := _time_of(parts)) is not None:
            return f"{day}{time}"
    return None


def _date_of(parts: dict[str, str | None]) -> date | None:
    year, (month, day) = int(parts["year"] or 0), _month_and_day(parts)
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month_and_day(parts: dict[str, str | None]) -> tuple[int, int]:
    """Return the two, or zeros."""
    if one := parts.get("one"):
        low, high = sorted((int(one), int(parts.get("two") or 0)))
        # A day up to the twelfth may be a month.
        return (low, high) if high > _MONTHS or low == high else (0, 0)
    name = parts.get("name")
    month = _numbers("months in order", _MONTHS).get(name.lower(), 0) if name else int(parts.get("month") or 0)
    return month, int(parts.get("day") or 0)


def _is_on(day: date, weekday: str | None) -> bool:
    return weekday is None or _numbers("weekdays in order", _DAYS).get(weekday.lower()) == day.isoweekday()


def _time_of(parts: dict[str, str | None]) -> str | None:
    """Return the time of day behind a day, "" for none; None where there is no such time."""
    if not (written := parts["hour"]):
        return ""
    hour, half, second = int(written), (parts["half"] or "").lower(), parts["second"] or "00"
    if half:
        if not 1 <= hour <= _HALF_A_DAY:
            return None
        hour = hour % _HALF_A_DAY + _HALF_A_DAY * (half == "p")
    return f" {hour:02d}:{parts['minute']}{'' if second == '00' else f':{second}'}" if hour < 2 * _HALF_A_DAY else None


@cache
def _numbers(kind: str, in_a_row: int) -> dict[str, int]:
    """Return which month, or day of a week, is called what, from 1, in any language; also by its first letters, if none else has these."""
    numbers = dict[str, set[int]]()
    for place, word in enumerate(words(kind)):
        for name in _beginnings(word):
            numbers.setdefault(name, set()).add(place % in_a_row + 1)
    return {name: min(found) for name, found in numbers.items() if len(found) == 1}


def _beginnings(word: str) -> Iterator[str]:
    yield word
    yield from (word[:length] for length in range(_SHORTEST_NAME, len(word)))


def _price(text: str) -> str | None:
    """Return a currency's code, or its sign, and an amount; an amount alone only with signs of thousands; None where it may be two."""
    if not ((found := _PRICE.fullmatch(text)) and (parts := _AMOUNT.fullmatch(found["amount"]))):
        return None
    whole, sign, point, part = parts.group("whole", "sign", "point", "part")
    if sign and (sign == point or not (part or sign == "'" or whole.count(sign) > 1)):
        return None
    currency, digits = _currency(found["before"], found["behind"]), "".join(filter(str.isdigit, whole))
    if currency is None:
        # Of a version "1.10" is another one than "1.1", and "1 299.50" may be two numbers.
        return f"{digits}.{part}" if part and sign and sign != " " and not (found["before"] or found["behind"]) else None
    part = (part or "").rstrip("0")
    return f"{currency} {digits}{'.' if part else ''}{part}"


def _currency(before: str | None, behind: str | None) -> str | None:
    """Return the code or the sign of a currency; None for none, and for two."""
    if not (written := before or behind) or (before and behind):
        return None
    code = _CODE_OF.get(written, written)
    return code if code in _CODES or not code.isalpha() else None
