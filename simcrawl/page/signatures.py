"""How a reference says that a function is called: the line with its name and its parameters.

In the next release it may have a parameter more, and nothing else may be other. Of a thousand words that is less than any threshold sees,
and it is what readers come for. So it tells pages of one site apart as another picture does.

    def f(a, b, c=None)      array_map(?callable $callback, array $array): array      int f(const char *a);
    not: ls(1)      Call f(a, b) first, and then look at what it returns.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from simcrawl.page.patterns import late

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

# Of a heading, and of a line: a function may have fifty parameters.
_LONGEST, _LONGEST_LINE = 400, 4000
# Below its heading: further down a class has its constructors, among all else, and in the next release others come first.
_MOST_LINES = 12
# The last name of "std::vector::push_back", "Array.prototype.map()", "class datetime.timedelta".
_NAME = late(r"([^\W\d]\w*)\W*$")
_PARAMETERS = late(r"\(.*")
# Qualifiers and types in front, and behind it what is given back, or a link to the source.
_FRONT, _BEHIND = r"(?:[^\s().!?]+\s+){0,5}[^\s()]*?", r"(?:\s*(?:->|:|=>)\s*[^\s.()]{1,60}){0,2}"
_LINK_BEHIND = r"\s*(?:\[?\w+\]?)?[\s;:{#\xb6]*"
# One pattern for all names: to make one takes as long as a sixth of a page. Nothing in front has a bracket, so no line has two such names.
_CALLED = late(rf"\W{{0,3}}(?P<whole>{_FRONT}(?<!\w)(?P<name>[^\W\d]\w*)\s?\((?P<given>[^\n]*)\){_BEHIND}){_LINK_BEHIND}")


def signature(heading: str, lines: Iterable[str]) -> str:
    """Return the first of a page's first lines that says how what the heading names is called, as it is compared; "" for none."""
    if not (name := _name_in(heading)):
        return ""
    for line in islice(lines, _MOST_LINES):
        if len(line) <= _LONGEST_LINE and name in line and (found := _calls(name, line)) and _is_of_parameters(found["given"]):
            # Where lines are broken is another thing in each release.
            return "".join(found["whole"].split())
    return ""


def _name_in(heading: str) -> str:
    found = _NAME.search(_PARAMETERS.sub("", heading[:_LONGEST]))
    return found[1] if found else ""


def _calls(name: str, line: str) -> re.Match[str] | None:
    found = _CALLED.fullmatch(line)
    return found if found and found["name"] == name else None


def _is_of_parameters(given: str) -> bool:
    """Return whether what stands in brackets are parameters: a manual's section is a number."""
    return not given.strip() or any(map(str.isalpha, given))
