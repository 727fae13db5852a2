"""A run of a spider as part of a crawl: where it begins, and whether what it drops has come out in it."""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from scrapy.utils.job import job_dir

from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import without_user
from simcrawl.store import is_fleet, join_crawl, read_job, reset

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from simcrawl.rule import Originals, Verdict
    from simcrawl.store import Crawl, Store

logger = logging.getLogger(__name__)

_JOB = "simcrawl.crawl"
# Those of start requests end in "s".
_OF_A_PRIORITY = re.compile(r"-?\d+s?")
# From so many copies on it is worth a warning where most originals are from other crawls.
_ENOUGH = 10
MOST_ARE_FOREIGN = (
    "Of %d copies so far %d have an original that this crawl has not fetched: their content is in no feed of this crawl. "
    'If it should be, set SIMCRAWL_ORIGINALS = "crawl"'
)


def start_anew(where: str) -> None:
    """Forget what a store holds; no effect on one that is yet to be made, or in memory.

    Raises:
        SettingError: it is a fleet's.
        StoreError: another crawl uses it, or it cannot be written.
    """
    if is_fleet(where):
        raise SettingError(
            f"SIMCRAWL_RESET cannot forget {without_user(where)}, which other machines use: give it another name, as ?name=other"
        )
    directory = None if where.startswith("memory:") else Path(unquote(urlsplit(where).path) if "://" in where else where)
    if directory and (directory / "data.mdb").exists():
        reset(where)
        logger.info("SIMCRAWL_RESET: forgot all that %s held", directory)


def mend_queue(settings: BaseSettings) -> None:
    """Make way for requests in JOBDIR where a run was killed, as a system without memory kills.

    Scrapy's queues on the disk are a file for each priority. One that is killed before what it wrote got there leaves an empty file, at
    which each later request of that priority is lost (queuelib finds no size in it). A spider that gives no priorities has one such file;
    requests that wait have more.
    """
    directory = job_dir(settings)
    for file in Path(directory, "requests.queue").rglob("*") if directory else ():
        # Not the parts of queues that are directories: these are made where there is none yet.
        if _OF_A_PRIORITY.fullmatch(file.name) and file.is_file() and not file.stat().st_size:
            with suppress(OSError):
                file.unlink()


def begin_crawl(store: Store, name: str | None, crawler: Crawler, *, in_part: bool = False) -> Crawl:
    """Return the crawl that a run belongs to: the one that it goes on with, the one of that name, or a new one. Say which.

    `in_part`: the run looks at a list of pages only.

    Raises:
        StoreError: the store cannot be written.
    """
    spider: Any = crawler.spider
    directory = job_dir(crawler.settings)
    job = Path(directory, _JOB).absolute() if directory else None
    interrupted = read_job(job) if job else None
    crawl = join_crawl(store, name, spider=spider.name, in_part=in_part, resume=interrupted, job=str(job) if job else None)
    values = {"name": name, "since": moment(crawl.started), "pages": crawl.pages, "job": directory}
    if crawl.resumed:
        message = "Resumed the crawl that began at %(since)s: %(pages)d of its pages have come out"
    elif crawl.joined_others:
        message = "Joined the crawl %(name)s, which began at %(since)s: %(pages)d of its pages have come out"
    elif interrupted:
        message = "What the interrupted crawl of %(job)s knew is no longer in the store: pages that came out before may come out again"
    else:
        return crawl
    logger.info(message, values, extra={"spider": spider})
    return crawl


def moment(when: float) -> str:
    """Return a moment, in seconds since 1970, as people here write it."""
    return datetime.fromtimestamp(when).astimezone().isoformat(" ", "seconds")


class ForeignOriginals:
    """Counts copies, and those whose original this crawl has not fetched: only where originals may be those of other crawls."""

    def __init__(self, crawl: Crawl, originals: Originals) -> None:
        self._crawl, self._counts = crawl, originals == "store"
        self.copies = self.count = 0

    def note(self, verdict: Verdict) -> bool:
        """Count a verdict; return whether it is time to say that most originals are from other crawls.

        Raises:
            StoreError: the store cannot be read.
        """
        if not self._counts or not verdict.is_duplicate or not verdict.original:
            return False
        self.copies += 1
        self.count += not self._crawl.has_seen(verdict.original)
        return self.copies >= _ENOUGH and self.are_most

    @property
    def are_most(self) -> bool:
        """Whether most copies have an original that only other crawls have fetched."""
        return 2 * self.count > self.copies
