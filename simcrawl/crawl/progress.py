"""What a crawl tells of itself: a line every minute, and at its end a summary and what to do next. Reads the stats and decides nothing."""

from __future__ import annotations

import logging
from dataclasses import dataclass, fields
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

from rich.filesize import decimal
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.project import inside_project

from simcrawl.crawl.common import store_path
from simcrawl.page.fingerprint import Reason
from simcrawl.store.register import Share

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from rich.table import Table
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from simcrawl.crawl.links import DroppedLinks
    from simcrawl.crawl.session import Session

logger = logging.getLogger(__name__)

_SKIPPED = "simcrawl/pages/skipped/"
# What is no HTML is hardly ever a page that was announced as one, which alone would be kept.
_KEPT = set(Reason) - {Reason.NOT_HTML}


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of pages: the stats under simcrawl/pages/, where a page that is `taken_back` is no copy, and was not dropped."""

    checked: int
    admitted: int
    revisited: int
    exact_duplicate: int
    near_duplicate: int
    skipped: int
    dropped: int
    taken_back: int = 0
    """Pages that were dropped by mistake, and are kept. Stats only grow, so these have them as dropped copies, too."""
    kept_unseen: int = 0
    """Of the skipped ones those that the store keeps by their bytes, not answers that are no pages."""

    @classmethod
    def of(cls, stats: Any) -> Self:
        """Return the counts of a stats collector."""
        counts = {field.name: stats.get_value(f"simcrawl/pages/{field.name}", 0) for field in fields(cls)}
        counts["kept_unseen"] = sum(stats.get_value(f"{_SKIPPED}{reason}", 0) for reason in _KEPT)
        # With one queue for several processes another one may have counted them.
        counts["taken_back"] = left = min(counts["taken_back"], counts["dropped"])
        counts["dropped"] -= left
        for kind in ("near_duplicate", "exact_duplicate"):
            taken = min(left, counts[kind])
            counts[kind], left = counts[kind] - taken, left - taken
        return cls(**counts)

    @property
    def copies(self) -> int:
        """Pages that are copies, whatever was done about them."""
        return self.exact_duplicate + self.near_duplicate

    @property
    def compared(self) -> int:
        """Pages that were kept or are copies."""
        return self.admitted + self.revisited + self.taken_back + self.kept_unseen + self.copies

    def share(self, count: int) -> str:
        """Return a number of copies as their share, as all other places tell it."""
        return str(Share.of(count, self.compared - count))


class Progress:
    """Tells how far a crawl is."""

    def __init__(self, session: Session, crawler: Crawler, interval: float) -> None:
        self._session = session
        self._crawler = crawler
        self._per_minute = 60 / interval if interval else 0
        self._before = 0

    async def tell(self) -> None:
        """Log the line of this minute."""
        await self._session.measure()
        stats = self._session.stats
        counts = Counts.of(stats)
        rate = (counts.checked - self._before) * self._per_minute
        self._before = counts.checked
        self._log(
            "Checked %(checked)d pages (at %(rate)d pages/min): %(exact)d exact and %(near)d near-duplicates, "
            "%(dropped)d dropped (%(share)s); the store holds %(store)s",
            {
                "checked": counts.checked,
                "rate": rate,
                "exact": counts.exact_duplicate,
                "near": counts.near_duplicate,
                "dropped": counts.dropped,
                "share": counts.share(counts.dropped),
                "store": _held(stats),
            },
        )

    def conclude(self) -> None:
        """Print the summary where the log goes to a terminal, and log what the crawl came to and what to do next."""
        counts = Counts.of(self._session.stats)
        self._tell_changes()
        if terminal := _log_terminal():
            _print(terminal, _table(self._session.stats, counts, self._session.links))
        if not counts.copies:
            self._log("None of %(checked)d pages is a copy of another", {"checked": counts.checked})
            return
        self._log(
            "%(copies)d of %(compared)d pages are copies (%(share)s), %(dropped)d were dropped. %(skipped)s%(links)s%(next)s",
            {
                "copies": counts.copies,
                "compared": counts.compared,
                "share": counts.share(counts.copies),
                "dropped": counts.dropped,
                "skipped": _skipped(self._session.stats),
                "links": self._session.links,
                "next": _next(self._crawler.settings, self._session.config.store, self._session.stats),
            },
        )

    def _tell_changes(self) -> None:
        if not self._session.crawl.knows_a_last_crawl:
            return
        record = self._session.changes.record()
        known = "%(gone)d gone and %(not met again)d not met again"
        self._log(
            "Since this spider's last finished crawl: %(new)d new, %(changed)d changed, %(unchanged)d unchanged, "
            + ("what is gone is unknown" if record["gone"] is None else known),
            record,
        )

    def _log(self, message: str, values: dict[str, Any]) -> None:
        logger.info(message, values, extra={"spider": self._crawler.spider})


def _next(settings: BaseSettings, store: str, stats: Any) -> str:
    """Return how to see what was dropped, and whether all of it can be seen."""
    if store.startswith("memory:"):
        return "To see them afterwards, set SIMCRAWL_STORE to a directory"
    # `scrapy simcrawl` knows what the project's settings say, and neither a spider's own nor -s.
    known = (settings.getpriority("SIMCRAWL_STORE") or 0) <= SETTINGS_PRIORITIES["project"]
    command = "scrapy simcrawl duplicates" if known and inside_project() else f"simcrawl duplicates {quote(store_path(store))}"
    # As on a full disk: a warning has said what failed.
    failed = "The store has failed, so it does not list all of them. " if stats.get_value("simcrawl/store/errors", 0) else ""
    return f"{failed}Which, why, and as copies of what: {command}"


def _skipped(stats: Any) -> str:
    """Return a sentence with a space after it; nothing where no request was left out."""
    skipped = stats.get_value("simcrawl/predicted/skipped", 0)
    return f"{skipped} more were not fetched: by their URLs they are almost certainly copies. " if skipped else ""


def _held(stats: Any) -> str:
    """Return what a store holds; one in memory has no bytes."""
    pages, size = (stats.get_value(f"simcrawl/store/{name}", 0) for name in ("pages", "bytes"))
    return f"{pages} pages in {decimal(size)}" if size else f"{pages} pages"


def _log_terminal() -> TextIO | None:
    """Return the terminal that log lines at INFO go to.

    None where they go to a file, a pipe or a notebook, or nowhere: who turned the log down or away wants no table instead of it.
    """
    for handler in logging.root.handlers:
        stream = getattr(handler, "stream", None)
        if stream is not None and handler.level <= logging.INFO and stream.isatty():
            terminal: TextIO = stream
            return terminal
    return None


def _print(terminal: TextIO, table: Table) -> None:
    from rich.console import Console  # noqa: PLC0415 - as below

    Console(file=terminal).print(table)


def _table(stats: Any, counts: Counts, links: DroppedLinks) -> Table:
    from rich.table import Table  # noqa: PLC0415 - few crawls have a terminal, and all have to hold what they load

    table = Table(title="simcrawl", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for label, count, remark in _rows(stats, counts, links):
        if count:
            table.add_row(label, str(count), remark)
    return table


def _rows(stats: Any, counts: Counts, links: DroppedLinks) -> Iterator[tuple[str, int, str]]:
    reasons = {name.removeprefix(_SKIPPED): count for name, count in stats.get_stats().items() if name.startswith(_SKIPPED)}
    yield "pages checked", counts.checked, ""
    yield "new", counts.admitted, ""
    yield "known by their URL", counts.revisited, ""
    yield "dropped, and kept after all", counts.taken_back, ""
    yield "exact duplicates", counts.exact_duplicate, counts.share(counts.exact_duplicate)
    yield "near-duplicates", counts.near_duplicate, counts.share(counts.near_duplicate)
    yield "not compared", counts.skipped, ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
    yield "pages dropped", counts.dropped, counts.share(counts.dropped)
    yield "not fetched", stats.get_value("simcrawl/predicted/skipped", 0), "copies by their URLs"
    yield "links dropped", links.links, links.where
    yield "items dropped by their field", stats.get_value("simcrawl/items/near_duplicate", 0), ""
    yield "failures", sum(stats.get_value(f"simcrawl/{name}", 0) for name in ("errors", "store/errors")), "see the warnings above"
    yield "pages in the store", stats.get_value("simcrawl/store/pages", 0), _held(stats).partition(" in ")[2]
