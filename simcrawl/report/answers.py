"""What a crawl was answered, by status, and what simcrawl does with such answers."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_COUNTED, _ALL = "downloader/response_status_count/", "downloader/response_count"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_SUCH_PAGE = frozenset({404, 410})


def answers(stats: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return (status, what simcrawl does with such an answer, answers) of a crawl's stats, by status; nothing where none were counted.

    Statuses that the record of a crawl leaves out, for there are too many of them, are told as one.
    """
    found = ((name.removeprefix(_COUNTED), count) for name, count in stats.items() if name.startswith(_COUNTED))
    counts = {int(status): count for status, count in found if status.isdecimal()}
    rows = [(_named(status), _done(status), count) for status, count in sorted(counts.items())]
    others = stats.get(_ALL, 0) - sum(counts.values())
    return [*rows, ("others", _done(None), others)] if rows and others > 0 else rows


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _done(status: int | None) -> str:
    if status is None:
        return "not compared"
    if 200 <= status < 300:
        return "compared, if it is HTML"
    if status in _REDIRECTS:
        return "Scrapy follows it; the page behind it is compared, under its own URL"
    if status in _NO_SUCH_PAGE:
        return "not compared; a page that the crawl before kept counts as gone"
    return "not compared; says nothing of whether the page is gone"
