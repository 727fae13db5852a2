"""Whether two addresses are those of two pages of one kind, side by side: rooms 7 and 8, and no view or mirror of each other.

Side by side, by what differs:

    /room/7          /room/8           the last part
    /calc?kg=60&m=2  /calc?kg=80&m=2   the value of one parameter
    /in/1984/all     /in/1985/all      a number before the last part
    /print/room/7    /room/8           a number in the last part, behind directories of one name

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

from simcrawl.addresses import is_arrangement, is_view
from simcrawl.crawl.reading import TOKEN
from simcrawl.page.patterns import late

_NUMBER = late(r"\d+")


def are_side_by_side(url: str, other: str) -> bool:
    """Return whether two addresses are those of two pages of one kind, as above."""
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
    return one.netloc == two.netloc and way == other_way and number.isdigit() and other_number.isdigit()


def _parts(url: SplitResult) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the directories of an address, and its last part and its parameters, each with a name."""
    before, _, last = url.path.rstrip("/").rpartition("/")
    return before.split("/"), [("", last), *parse_qsl(url.query, keep_blank_values=True)]


def _differ_in_a_number(value: str, other: str) -> bool:
    numbers, others = _NUMBER.findall(value), _NUMBER.findall(other)
    return _NUMBER.split(value) == _NUMBER.split(other) and sum(starmap(ne, zip(numbers, others, strict=True))) == 1
