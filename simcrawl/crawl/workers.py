"""Makes and claims pages for a crawl, off the event loop."""

from __future__ import annotations

import logging
from collections import Counter
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from simcrawl.addresses import host_of
from simcrawl.crawl.processes import Crawling, PassedError, abandon, leave, shared
from simcrawl.crawl.threads import Threads
from simcrawl.detector import knows_too_little
from simcrawl.errors import WorkerError
from simcrawl.page.fingerprint import Reason, abstain, digest
from simcrawl.system import cores
from simcrawl.workers.starting import can_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcrawl.config import Config
    from simcrawl.detector import Detector
    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from simcrawl.store import Admission

    Page = PageFingerprint | Abstention

logger = logging.getLogger(__name__)

_T = TypeVar("_T")

# A few keep one slow page from holding up the others.
_THREADS = 4
# Each takes 75 MB or more, and all of them are fed by one core.
_MOST_PROCESSES = 4
# Seconds that a page waits for a process before one is started that has no core of its own: starting one takes as long.
_HELD_UP = 1.0
# Seconds that a look into the store may take on the event loop, bytes of a body that are digested there, and how many looks are taken
# elsewhere after one that took longer, and at first, when tables are read.
_QUICK, _LARGE, _VISITS_ELSEWHERE = 0.02, 1 << 18, 32


def _nothing(_: str) -> None:
    """Let a text go that came too late."""


def _withdraw(judged: tuple[Page, Admission | None]) -> None:
    admission = judged[1]
    if admission and admission.claim:
        admission.claim.withdraw()


class PageWorkers:
    """Makes and claims pages: makes them in worker processes, or in threads where there are none."""

    def __init__(self, detector: Detector, config: Config, *, at_once: int = 16, is_ending: Callable[[], bool] = lambda: False) -> None:
        """Take how many pages there may be at a time, and what is asked before one is made: whether the crawl was told to stop."""
        self._detector, self._config, self._is_ending = detector, config, is_ending
        self.processes = processes_for(config.workers)
        self._threads = Threads(_THREADS, expendable=True)
        self._crawling = Crawling(
            detector.page_options,
            max_bytes=config.max_worker_bytes,
            per_host=config.max_host_seconds,
            # The other half of the requests is for other hosts.
            most_behind=max(1, at_once // 2),
            patience_in_line=config.max_wait_seconds,
            is_ending=is_ending,
        )
        # The crawl's own process keeps a core busy.
        started = max(1, cores() - 1) if config.workers is None else self.processes
        self._pool = shared(self._crawling, self.processes, at_once=started, held_up=_HELD_UP) if self.processes else None
        self._text_pool = self._pool.text_pool(self._crawling) if self._pool else None
        self._text_threads = Threads(_THREADS, expendable=True)
        self._queue = self.queue_max = 0
        self._seconds_in_queue = 0.0
        self._visits_elsewhere = _VISITS_ELSEWHERE
        self._closed = False

    async def judge(
        self, body: bytes, *, url: str, encoding: str | None, claim: Callable[[Page], Admission | None]
    ) -> tuple[Page, Admission | None]:
        """Return a page made as the detector makes it, and what `claim` says of it.

        A page that takes its worker along, or too long, is an abstention. In threads, the latter is not claimed, nor is a page for which
        the store takes too long: that is left to the caller, as is a page that `claim` leaves to it.

        Raises:
            PassedError: it is not made, so that others are.
            StoreError: the store cannot be read.
        """
        self._queue += 1
        self.queue_max = max(self.queue_max, self._queue)
        source = (body, url, encoding)
        try:
            if not self.processes:
                return await self._judge_in_thread(source, claim)
            known, body_digest = await self._visit(partial(self._known, *source), size=len(body))
            if known:
                admission = await self._visit(partial(claim, known), asks_others=self._detector.asks_others)
                if not knows_too_little(known, admission):
                    return known, admission
            try:
                page = self._detector.remember(await self._made(source, body_digest))
            except WorkerError as exc:
                self._without_processes(exc)
                return await self._judge_in_thread(source, claim, recall=False)
            return page, await self._visit(partial(claim, page), asks_others=self._detector.asks_others)
        finally:
            self._queue -= 1

    async def text(self, body: bytes, encoding: str | None) -> str | None:
        """Return a page's main text; None if that takes too long, or too much memory, or if its process dies of it twice.

        In processes of their own. In threads, trafilatura gives up the interpreter many hundred times a page, and waits for it as often; so
        does everything else then, and a crawl takes twice as long (`docs/decisions/workers.md`).
        """
        # Also when the crawl was told to stop: the page will not be fetched again.
        if self._text_pool:
            try:
                return await self._text_threads.run(self._text_pool.text, body, encoding)
            except WorkerError as exc:
                self._without_text_processes(exc)
        from simcrawl.page.extraction import main_text  # noqa: PLC0415 - brings lxml

        try:
            return await self._text_threads.run_within(self._config.max_page_seconds, _nothing, main_text, body, encoding)
        except TimeoutError:
            return None

    def _without_text_processes(self, exc: WorkerError) -> None:
        if self._text_pool and not self._closed:
            self._text_pool = None
            logger.warning("Main texts are made in threads, where they hold up the crawl: %s", exc)

    def _known(self, body: bytes, url: str, encoding: str | None) -> tuple[Page | None, bytes]:
        """Return a page that need not be made, and the body's digest, which no worker is asked for."""
        body_digest = digest(body, self._detector.store.header.seed)
        return self._detector.recall(body, url=url, encoding=encoding, body_digest=body_digest), body_digest

    async def _made(self, source: tuple[bytes, str, str | None], body_digest: bytes) -> Page:
        body, url, encoding = source
        # A body that is too large is refused at a glance: it need not go through a socket first.
        if len(body) > self._config.max_page_bytes:
            return await self._threads.run(self._detector.extract, body, url=url, encoding=encoding)
        if self._pool is None:
            raise WorkerError("there are no worker processes")
        self._crawling.wants_content = self._detector.keeps_content
        return await self._pool.page(self._crawling, body, url, encoding, body_digest)

    async def _visit(self, function: Callable[[], _T], *, size: int = 0, asks_others: bool = False) -> _T:
        """Return what the function finds in the store: here, as long as that is quick, for a hop to a thread costs several times as much.

        In a thread where it has been slow (a large store that is not in memory, another process that commits), or must be: to digest so
        many bytes, to write what waits, to ask other machines.
        """
        if asks_others or self._visits_elsewhere or size > _LARGE or self._detector.falls_behind:
            self._visits_elsewhere = max(0, self._visits_elsewhere - 1)
            return await self._threads.run(function)
        started = monotonic()
        try:
            return function()
        finally:
            if monotonic() - started > _QUICK:
                self._visits_elsewhere = _VISITS_ELSEWHERE

    async def _judge_in_thread(
        self, source: tuple[bytes, str, str | None], claim: Callable[[Page], Admission | None], *, recall: bool = True
    ) -> tuple[Page, Admission | None]:
        made: list[Page] = []
        judge = partial(self._judge, monotonic(), made, source, claim, recall=recall)
        try:
            return await self._threads.run_within(self._config.max_page_seconds, _withdraw, judge)
        except TimeoutError:
            if made:
                # It was the store that took too long.
                return made[0], None
            detector, (body, url, _) = self._detector, source
            too_slow = abstain(body, url=url, recipe=detector.recipe, seed=detector.store.header.seed, reason=Reason.TOO_SLOW)
            return detector.remember(too_slow), None

    def _judge(
        self,
        queued: float,
        made: list[Page],
        source: tuple[bytes, str, str | None],
        claim: Callable[[Page], Admission | None],
        *,
        recall: bool,
    ) -> tuple[Page, Admission | None]:
        self._seconds_in_queue += monotonic() - queued
        if self._is_ending():
            raise PassedError("stopping", host_of(source[1]))
        detector, (body, url, encoding) = self._detector, source
        known = detector.recall(body, url=url, encoding=encoding) if recall else None
        if known:
            made.append(known)
            admission = claim(known)
            if not knows_too_little(known, admission):
                return known, admission
            # If time is up meanwhile it is that of this page, and not the store's.
            made.clear()
        made[:] = [detector.remember(detector.extract(body, url=url, encoding=encoding))]
        return made[0], claim(made[0])

    def _without_processes(self, exc: WorkerError) -> None:
        if self.processes and not self._closed:
            self.processes = 0
            logger.warning("Pages are processed in threads, where a page that hangs cannot be stopped: %s", exc)

    @property
    def waiting(self) -> int:
        """How many pages are being made or wait for it."""
        return self._queue

    @property
    def processes_alive(self) -> int:
        """How many worker processes there are by now."""
        return self._pool.count if self._pool else 0

    def stats(self) -> dict[str, float]:
        """Return what there is to tell: names below `simcrawl/`, and numbers."""
        asker = self._crawling
        seconds = dict(self._detector.seconds) | {"queue": self._seconds_in_queue + asker.seconds_in_queue}
        for stage, more in asker.seconds.items():
            seconds[stage] += more
        told: dict[str, float] = {f"seconds/{stage}": round(number, 3) for stage, number in seconds.items()}
        restarts = asker.restarts + (self._text_pool.restarts if self._text_pool else Counter())
        told |= {f"workers/restarts/{why}": count for why, count in restarts.items()}
        return told | {"workers/processes": self.processes_alive, "workers/queue_max": self.queue_max, "workers/refused": asker.refused}

    async def close(self) -> None:
        """End the threads when their work is done, and the processes, unless other crawlers use them."""
        self._end_threads()
        if self._pool:
            await leave(self._pool, self._crawling)

    def abandon(self) -> None:
        """End threads and processes that have made no page yet."""
        self._end_threads()
        if self._pool:
            abandon(self._pool, self._crawling)

    def _end_threads(self) -> None:
        self._closed = True
        self._threads.close()
        self._text_threads.close()


def processes_for(count: int | None) -> int:
    """Return how many worker processes a value of SIMCRAWL_WORKERS asks for; 0: threads."""
    if not can_start():
        return 0
    return min(cores(), _MOST_PROCESSES) if count is None else count
