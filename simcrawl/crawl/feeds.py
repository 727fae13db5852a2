"""The feed and a hard kill: a page is confirmed only when its items have left the buffer of Scrapy's feed exporter.

A feed's file is buffered, in blocks of some kilobytes. What the system has of it survives the end of the process, kill -9 included;
what the buffer holds does not. A page that the store knew by then would have its copies dropped when the crawl is resumed, and its items
would be in no feed. So confirmations wait here for a flush: before every group commit, and as soon as a copy waits for its original.

    items out ──► waiting ──flush──► confirmed: the content has come out
                     │  └──no space──► withdrawn: it has not, and the next crawl is to find of it what this one found
                     └──withdrawn meanwhile: told by whoever does that

What a page says is lost when that is settled, not when it begins to wait. What the exporter itself could not write is another
matter: see `simcrawl.crawl.exported`.
"""

from __future__ import annotations

import logging
import stat
from os import SEEK_END
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage
from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot

    from simcrawl.store import Claim

logger = logging.getLogger(__name__)

# Scrapy's exporters that hand every item on to their file at once; others may keep all items until the end. By name: what they need for
# XML and for all kinds of items need not be loaded by crawls without a feed.
_PROMPT = {f"{format_}ItemExporter" for format_ in ("JsonLines", "Json", "Xml", "Csv", "Pickle", "Marshal", "Pprint")}
# Where nothing flushes periodically (the extension is off), pages are flushed in so many.
_MOST_WAITING = 1_000


class Told(Protocol):
    """What is called when a claim that was to be confirmed is settled."""

    def __call__(self, *, is_out: bool) -> None:
        """Note whether the page's content has come out."""


class HeldClaim:
    """A claim whose confirmation waits for a flush: what a case settles in place of the claim itself."""

    __slots__ = ("_claim", "_feeds")

    def __init__(self, claim: Claim, feeds: Feeds) -> None:
        self._claim = claim
        self._feeds = feeds

    def confirm(self, callback: str = "", *, then: Told) -> None:
        """Confirm the claim after the next flush; at once where no items came out (`callback`: what took none).

        `then(is_out=...)` is told whether it was.
        """
        if callback:
            self._claim.confirm(callback)
            then(is_out=True)
        else:
            self._feeds.confirm(self._claim, then)

    def withdraw(self) -> None:
        """Withdraw the claim. One that only waits for the flush is withdrawn, too."""
        self._claim.withdraw()


# Of all crawlers in the process: they may share a store, and then wait for each other's pages.
_owners: WeakKeyDictionary[Claim, Feeds] = WeakKeyDictionary()


def hurry(claim: Claim) -> None:
    """Let a claim that only waits for a flush wait no longer: a copy waits for it."""
    if feeds := _owners.get(claim):
        feeds.flush_soon()


class Feeds:
    """The feeds of one crawler that can be flushed, and the claims that wait for it. All of it on the event loop."""

    def __init__(self, crawler: Crawler, *, wanted: bool | None, fault: Callable[[str, str, Exception], object]) -> None:
        """`wanted`: the setting, None for "auto". `fault(kind, message, exception)` counts a failure and tells of the first one."""
        self._crawler = crawler
        self._wanted = wanted
        self._fault = fault
        self._looked = wanted is False
        self._slots: list[FeedSlot] = []
        self._waiting: list[tuple[Claim, Told]] = []
        self._soon = False
        self._flushes = 0
        self._seconds = self._longest = 0.0

    def hold(self, claim: Claim | None) -> HeldClaim | None:
        """Return what a case is to settle in place of a claim. Never raises."""
        if not self._looked:
            self._looked = True
            try:
                self._look()
            except Exception as exc:  # noqa: BLE001 - an exporter, a storage or a filter of the user's own may do anything
                self._give_up(exc)
        return HeldClaim(claim, self) if claim else None

    def confirm(self, claim: Claim, then: Told) -> None:
        """Confirm a claim after the next flush, at once where there is nothing to flush: see `HeldClaim.confirm`."""
        if not self._slots:
            claim.confirm()
            then(is_out=True)
            return
        # A case may end more than once: when its items are out, and when its request is gone.
        if claim.settled or claim in _owners:
            return
        self._waiting.append((claim, then))
        _owners[claim] = self
        if claim.waiting or len(self._waiting) >= _MOST_WAITING:
            self.flush_soon()

    def flush_soon(self) -> None:
        """Flush in the event loop's next round."""
        # Not here: handlers of `item_scraped` come in any order, and the feed exporter's may be yet to come.
        if not self._soon:
            self._soon = True
            call_later(0, self.flush)

    def flush(self) -> None:
        """Hand everything that the feeds' buffers hold to the system, then confirm what waited for it. Never raises.

        No fsync: a process that is killed does not take the system's memory along, and where the machine itself goes down Scrapy's JOBDIR
        is not safe either; it would hold up the event loop for as long as a disk takes.
        """
        self._soon = False
        if not self._slots:
            return
        started = perf_counter()
        try:
            for slot in self._slots:
                # None: nothing was exported yet. Closing flushes.
                if slot.file is not None and not slot.file.closed:
                    slot.file.flush()
        except OSError as exc:
            # As on a full disk. Nobody knows whose items are in the file: so these pages are nobody's originals.
            self._fault("feed", "simcrawl cannot flush a feed: pages of which items may be lost become no originals: %s", exc)
            self._settle(confirmed=False)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self._give_up(exc)
        else:
            self._settle(confirmed=True)
        self._note(perf_counter() - started)

    def _settle(self, *, confirmed: bool) -> None:
        waiting, self._waiting = self._waiting, []
        for claim, then in waiting:
            _owners.pop(claim, None)
            if confirmed:
                claim.confirm()
            else:
                claim.withdraw()
            # Only now is it known whether the page's content has come out: see `simcrawl.crawl.case.Case.end`.
            then(is_out=confirmed)

    def _give_up(self, exc: Exception) -> None:
        """Go on as without the setting."""
        self._fault("feed", "simcrawl cannot flush the feed, and confirms pages without that: %r", exc)
        self._slots = []
        self._settle(confirmed=True)

    def _note(self, seconds: float) -> None:
        self._flushes += 1
        self._seconds += seconds
        self._longest = max(self._longest, seconds)

    def stats(self) -> dict[str, float]:
        """Return the stats of the end of a crawl; none where nothing was flushed."""
        if not self._flushes:
            return {}
        times = {"feed/seconds": round(self._seconds, 6), "feed/longest": round(self._longest, 6)}
        return {"feed/flushes": self._flushes} | times

    # ---- which feeds

    def _look(self) -> None:
        exporter = self._crawler.get_extension(FeedExporter)
        obstacles = []
        for slot in exporter.slots if exporter else ():
            if obstacle := _obstacle(slot):
                obstacles.append(f"{_name(slot)}: {obstacle}")
            else:
                self._slots.append(slot)
                self._mend(slot)
        if obstacles:
            logger.log(
                logging.WARNING if self._wanted else logging.INFO,
                "Not every feed can be flushed while the crawl runs: a hard kill (kill -9) loses what such a feed still buffers, "
                "and simcrawl may drop copies of it. %s",
                "; ".join(obstacles),
                extra={"spider": self._crawler.spider},
            )

    def _mend(self, slot: FeedSlot) -> None:
        if _end_torn_line(slot):
            logger.info(
                "%s ended in the middle of a line, as a killed crawl leaves it: the line was ended, so that the next item begins a new one",
                _name(slot),
                extra={"spider": self._crawler.spider},
            )


def _name(slot: FeedSlot) -> str:
    # Without the password that a URI may hold.
    return slot.uri.rpartition("@")[2]


def _obstacle(slot: FeedSlot) -> str | None:
    """Return why a feed cannot be flushed; None where it can."""
    storage: Any = slot.storage
    if not isinstance(storage, FileFeedStorage) or type(storage).open is not FileFeedStorage.open:
        return f"{type(storage).__name__} is not Scrapy's storage of local files"
    if "postprocessing" in slot.feed_options:  # an empty list, too, puts something else in the file's place
        return "its post-processing plugins hold items back"
    if slot.feed_options.get("batch_item_count"):
        return "it is cut into batches"
    if not _bases(slot) & _PROMPT:
        return f"{slot.exporters[slot.format].__name__} may hold items back"
    return None if _is_plain(Path(storage.path)) else "it is no regular file"


def _bases(slot: FeedSlot) -> set[str]:
    """Return the names of Scrapy's exporters from which a feed's is made."""
    return {base.__name__ for base in slot.exporters[slot.format].__mro__ if base.__module__ == "scrapy.exporters"}


def _is_plain(path: Path) -> bool:
    """Return whether a path is that of a regular file, or of none yet: a flush into a pipe would wait for its reader."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _end_torn_line(slot: FeedSlot) -> bool:
    """End the last line of a file of JSON lines that is appended to, if a kill has left it in the middle; return whether.

    The exporter writes items that are larger than its buffer in parts. Without this the first item that is appended would stand on
    the line of the torn one, and be lost with it.
    """
    storage: Any = slot.storage
    appends = slot.file is None and storage.write_mode == "ab"
    if not appends or "JsonLinesItemExporter" not in _bases(slot):
        return False
    if "\n".encode(slot.feed_options.get("encoding") or "utf-8") != b"\n":
        return False
    try:
        with Path(storage.path).open("rb+") as file:
            if not file.seek(0, SEEK_END):
                return False
            file.seek(-1, SEEK_END)
            torn = file.read(1) != b"\n"
            if torn:
                file.write(b"\n")
            return torn
    except FileNotFoundError:
        return False
