"""Whether two addresses are those of two pages of one kind, side by side: rooms 7 and 8, and no view or mirror of each other.

Side by side, by what differs:

    /room/7          /room/8           the last part
    /calc?kg=60&m=2  /calc?kg=80&m=2   the value of one parameter
    /in/1984/all     /in/1985/all      a number before the last part
    /2026/03/31/     /2026/04/05/      a day, which is one value in however many parts (`?y=2026&m=3&d=31`), also before the last part
    /print/room/7    /room/8           a number in the last part, behind directories of one name
    /topic/7         /topic/7?page=2   one has the number of a page more: the next part of a list or a thread

And not:

    /thread/7        /post/8           another last directory
    /men/pen         /sale/pen         a word before the last part: a way to one page, or a mirror
    /room/7          /room/7?print=1   one has more: a view
    /room?ref=4f...  /room?ref=a0...   a long token: a session
    /room?sid=7      /room?sid=8       a parameter of visits or of views, see `simcrawl.addresses`
"""

from __future__ import annotations

from itertools import starmap
from operator import ne
from urllib.parse import SplitResult, parse_qsl, urlsplit

from simcrawl.addresses import are_pages_of_list, is_arrangement, is_release, is_view
from simcrawl.crawl.reading import TOKEN
from simcrawl.page.patterns import late

_NUMBER = late(r"\d+")
_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
# In three directories, or as the values of three parameters; and in one part, as which it is written here.
_IN_DIRECTORIES = late(rf"(?<![^/])({_YEAR})/({_MONTH})/({_DAY})(?![^/])")
_OF_PARAMETERS = late(rf"{_YEAR}/{_MONTH}/{_DAY}|{_DAY}/{_MONTH}/{_YEAR}|{_MONTH}/{_DAY}/{_YEAR}")
_IN_ONE_PART = late(rf"{_YEAR}-{_MONTH}-{_DAY}")
_PARTS_OF_A_DAY = 3


def are_side_by_side(url: str, other: str) -> bool:
    """Return whether two addresses are those of two pages of one kind, as above."""
    if are_pages_of_list(url, other):
        return True
    one, two = urlsplit(url), urlsplit(other)
    before, last = _parts(one)
    other_before, other_last = _parts(two)
    if [name for name, _ in last] != [name for name, _ in other_last]:
        return False
    unlike = [(value, of_other) for (_, value), (_, of_other) in zip(last, other_last, strict=True) if value != of_other]
    if len(unlike) > 1 or (unlike and all(map(TOKEN.fullmatch, unlike[0]))) or is_view(url, other) or is_arrangement(url, other):
        return False
    if one.netloc == two.netloc and before == other_before:
        return bool(unlike)
    if unlike:
        return before[-1] == other_before[-1] and _differ_in_a_number(*unlike[0])
    *way, number = before
    *other_way, other_number = other_before
    return one.netloc == two.netloc and way == other_way and _are_of_one_kind(number, other_number, way)


def _are_of_one_kind(part: str, other: str, way: list[str]) -> bool:
    """Return whether two directories are two numbers, or two days. Of builds and snapshots each day has one."""
    if part.isdigit() and other.isdigit():
        return True
    return bool(_IN_ONE_PART.fullmatch(part) and _IN_ONE_PART.fullmatch(other)) and not any(is_release(name.casefold()) for name in way)


def _parts(url: SplitResult) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the directories of an address, and its last part and its parameters, each with a name."""
    path = _IN_DIRECTORIES.sub(r"\1-\2-\3", url.path.rstrip("/"))
    before, _, last = path.rpartition("/")
    return before.split("/"), [("", last), *_with_a_day(parse_qsl(url.query, keep_blank_values=True))]


def _with_a_day(parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return parameters with a year, a month and a day behind each other as one."""
    for start in range(len(parameters) - _PARTS_OF_A_DAY + 1):
        of_day = parameters[start : start + _PARTS_OF_A_DAY]
        if _OF_PARAMETERS.fullmatch("/".join(value for _, value in of_day)):
            name, value = ("/".join(parts) for parts in zip(*of_day, strict=True))
            return [*parameters[:start], (name, value), *parameters[start + _PARTS_OF_A_DAY :]]
    return parameters


def _differ_in_a_number(value: str, other: str) -> bool:
    numbers, others = _NUMBER.findall(value), _NUMBER.findall(other)
    return _NUMBER.split(value) == _NUMBER.split(other) and sum(starmap(ne, zip(numbers, others, strict=True))) == 1
