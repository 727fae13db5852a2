"""What a store remembers of a crawl: its settings, its stats, and the pages that were held up longest."""

from __future__ import annotations

import re
from dataclasses import asdict, fields
from datetime import datetime
from heapq import heappush, heappushpop, nlargest
from operator import itemgetter
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from simcrawl.page.fingerprint import without_user
from simcrawl.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcrawl.config import Config

_SLOWEST = 20
_LONGEST = 1_000
# Of Scrapy's own stats those that say what the crawl fetched and what came out.
_SCRAPY = (
    "downloader/request_count",
    "downloader/response_bytes",
    "downloader/response_count",
    "elapsed_time_seconds",
    "item_scraped_count",
    "response_received_count",
)
_STATUS = "downloader/response_status_count/"
# A server may answer with any number.
_MOST_STATUSES = 30


class History:
    """Notes how long each page was held up, and makes the record of a crawl."""

    def __init__(self) -> None:
        self.started = time()
        self._slowest: list[tuple[float, str]] = []

    def held(self, url: str, since: float) -> None:
        """Note that a page was held up from the monotonic time `since` until now, waiting for other pages included."""
        entry = (round(monotonic() - since, 4), url[:_LONGEST])
        (heappush if len(self._slowest) < _SLOWEST else heappushpop)(self._slowest, entry)

    def record(self, crawl: Mapping[str, str], stats: Mapping[str, Any], config: Config, rule: Rule) -> dict[str, Any]:
        """Return the record, a JSON object: `crawl` and the rest. Times are seconds since 1970; `slowest` has [seconds, URL]."""
        # A copy: at the end of a crawl other components set stats of their own, while this runs in a thread.
        held = dict(stats)
        return {
            **crawl,
            "started": self.started,
            "finished": time(),
            "settings": {f"SIMCRAWL_{name.upper()}": _plain(value) for name, value in asdict(config).items()},
            "rule": {field.name: _plain(getattr(rule, field.name)) for field in fields(Rule)},
            "stats": {name: _plain(value) for name, value in held.items() if name.startswith("simcrawl/") or name in _SCRAPY}
            | _statuses(held),
            "slowest": sorted(self._slowest, reverse=True),
        }


def _statuses(stats: Mapping[str, Any]) -> dict[str, int]:
    """Return how many answers came with which status, the most frequent ones."""
    counts = ((name, count) for name, count in stats.items() if name.startswith(_STATUS) and re.fullmatch("[0-9]{3}", name[len(_STATUS) :]))
    return dict(nlargest(_MOST_STATUSES, counts, key=itemgetter(1)))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (frozenset, tuple)):
        value = ", ".join(sorted(value))
    # The URL of a store may hold a password.
    return value if value is None or isinstance(value, (bool, int, float)) else without_user(str(value))[:_LONGEST]
