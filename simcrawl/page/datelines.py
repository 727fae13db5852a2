"""Lines that say when, or how often, and no more: dates, times, ages and counters, which are other ones from day to day."""

from __future__ import annotations

import re

from simcrawl.page.patterns import late

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
_HAS_WORD = late(r"\w\w\w")


def is_dateline(line: str) -> bool:
    """Return whether a short line says when, or how often. A price and a catalogue's number are none, whatever year they look like."""
    if not (_DIGIT.search(line) and _DATELINE.search(line)) or _PRICE.search(line) or _INVENTORY.match(line):
        return False
    return bool(_DATELINE.search(_CATALOGUED.sub(" ", line)))


def has_date(line: str) -> bool:
    """Return whether a line has a date, a time, an age or a counter in it, whatever else it says."""
    return bool(_DATELINE.search(line))


def counts(dateline: str) -> bool:
    """Return whether a dateline says how often, or how long ago."""
    return bool(_DATELINE.search(_DATE.sub(" ", dateline)))


def says_what(dateline: str) -> bool:
    """Return whether a dateline has words beside its dates and counts."""
    return bool(_HAS_WORD.search(_DATELINE.sub(" ", dateline)))
