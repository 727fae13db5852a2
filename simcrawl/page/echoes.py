"""Lines of a page that say nothing but its address, such as "man7:start" on the log-in page /doku.php?id=man7:start&do=login.

An application tells on each of its own pages where the reader came from: a log-in form, a media manager or an editor names the page
behind it, and says when that was changed. Of a page of a few lines that is a good part, and all that tells it from the next one.

Whatever a page is *called* by its address is left alone: it stands in a heading. Pure text, nothing of HTML.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")
_MOST_VALUES, _LONGEST_VALUE, _LEAST_LETTERS = 16, 200, 3


class Echoes:
    """What a URL says in its path and its query, and which lines repeat it.

    Values of fewer than three letters do not count: numbers come back in any text. `names`: what the page is called; a value that
    stands there is no echo.
    """

    def __init__(self, url: str, names: Iterable[str]) -> None:
        values = {_words(value) for value in _values(url)}
        spoken = {value for value in values if sum(map(str.isalpha, value)) >= _LEAST_LETTERS}
        if spoken:
            called = [_words(name) for name in names]
            spoken = {value for value in spoken if not any(value in name for name in called)}
        # With the first word of each: to look for that costs a tenth of cutting a line into words.
        self._values = [(value.split(maxsplit=1)[0], value) for value in sorted(spoken)]

    def __bool__(self) -> bool:
        """Whether there is anything that a line could repeat."""
        return bool(self._values)

    def are(self, line: str) -> bool:
        """Return whether a line is one of the values, and nothing else."""
        return any(value == words for value, words in self._met(line))

    def are_in(self, line: str) -> bool:
        """Return whether one of the values stands in a line."""
        return any(value in words for value, words in self._met(line))

    def _met(self, line: str) -> Iterable[tuple[str, str]]:
        lower = line.lower()
        values = [value for first, value in self._values if first in lower]
        words = _words(line) if values else ""
        return ((value, words) for value in values)


def _values(url: str) -> list[str]:
    """Return the values of a URL's query, its path, and the segments of that."""
    try:
        parts = urlsplit(url)
        values = [value for _, value in parse_qsl(parts.query, max_num_fields=_MOST_VALUES)]
    except ValueError:
        return []
    path = unquote(parts.path)
    return [value for value in [*values, path, *path.split("/", _MOST_VALUES)] if len(value) <= _LONGEST_VALUE]


def _words(text: str) -> str:
    """Return the words of a text in lower case, a space around each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
