"""What a running crawl tells those who watch it: gathered on the event loop, written by a thread, a few kilobytes however long it lasts."""

from __future__ import annotations

import os
import socket
from collections import Counter, deque
from heapq import nlargest
from time import monotonic, time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import signals as scrapy_signals
from scrapy.core.scheduler import Scheduler
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from simcrawl.crawl import signals
from simcrawl.crawl.threads import Threads
from simcrawl.store.running import Telling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from simcrawl.crawl.session import Session
    from simcrawl.rule import Verdict
    from simcrawl.urls.rewrites import Prediction

PACE = 2.0
"""Seconds from one state to the next."""

# A rate is that of the last so many states.
_RECENT = 6
_MOST_HOSTS, _MOST_RULES = 1_000, 1_000
_HOSTS_TOLD, _RULES_TOLD, _DROPS_TOLD = 10, 10, 5
_LONGEST = 300
# Of Scrapy's own stats.
_SCRAPY = ("downloader/request_count", "downloader/response_bytes", "item_scraped_count", "response_received_count", "log_count/ERROR")


class Watched:
    """Counts what the stats do not have, and writes all of it beside the store, if that is a directory."""

    def __init__(self, session: Session, crawler: Crawler) -> None:
        self._session, self._crawler = session, crawler
        self._threads = Threads(1)
        self._beginning: Deferred[None] | None = None
        self._telling: Telling | None = None
        self._writing = False
        self._started = time()
        self._samples: deque[tuple[float, int, int]] = deque(maxlen=_RECENT)
        self._reasons, self._rules = Counter[str](), Counter[str]()
        # Of each host how many answers came, and after how many seconds in all.
        self._hosts: dict[str, tuple[int, float]] = {}
        self._drops: deque[tuple[str, str, str]] = deque(maxlen=_DROPS_TOLD)

    def begin(self) -> None:
        """Begin to listen, and start writing, if anybody can watch. Never raises for a store."""
        path = self._session.store.path
        if path is None:
            return
        listeners: list[tuple[Callable[..., None], object]] = [
            (self._answered, scrapy_signals.response_downloaded),
            (self._dropped, signals.page_dropped),
            (self._skipped, signals.request_skipped),
        ]
        for listener, signal in listeners:
            self._crawler.signals.connect(listener, signal=signal)
        self._beginning = deferred_from_coro(self._begin(path))

    async def _begin(self, path: Path) -> None:
        try:
            self._telling = await self._threads.run(Telling, path)
        except OSError as exc:
            self._warn(exc)
        else:
            self.tell_soon()

    def _warn(self, exc: OSError) -> None:
        self._session.warn("watched", "Nobody can watch this crawl, for its state cannot be written: %s", exc)

    # ---- what is counted

    def _answered(self, request: Request, response: Response) -> None:
        host = urlsplit(response.url).netloc.rpartition("@")[2][:_LONGEST]
        count, seconds = self._hosts.get(host, (0, 0.0))
        if count or len(self._hosts) < _MOST_HOSTS:
            self._hosts[host] = count + 1, seconds + request.meta.get("download_latency", 0.0)

    def _dropped(self, response: Response, verdict: Verdict) -> None:
        self._reasons[str(verdict.reason)] += 1
        known_as = self._session.known_as
        self._drops.append((known_as(response.url)[:_LONGEST], str(verdict.original)[:_LONGEST], str(verdict.reason)))

    def _skipped(self, prediction: Prediction) -> None:
        if prediction.rule in self._rules or len(self._rules) < _MOST_RULES:
            self._rules[prediction.rule] += 1

    # ---- what is told

    def tell_soon(self) -> None:
        """Start writing how far the crawl is, unless that is still going on."""
        if self._telling and not self._writing:
            self._writing = True
            deferred_from_coro(self._tell(self._telling, self._state()))

    async def _tell(self, telling: Telling, state: dict[str, Any]) -> None:
        try:
            await self._threads.run(telling.tell, state)
        except OSError as exc:
            self._warn(exc)
        finally:
            self._writing = False

    def _state(self) -> dict[str, Any]:
        stats, spider = self._session.stats.get_stats(), self._crawler.spider
        engine: Any = self._crawler.engine
        checked, received = stats.get("simcrawl/pages/checked", 0), stats.get("response_received_count", 0)
        self._samples.append((monotonic(), checked, received))
        (then, checked_then, received_then), (now, *_) = self._samples[0], self._samples[-1]
        seconds = max(now - then, 1e-9)
        slot = engine and getattr(engine, "_slot", None)
        # To ask another scheduler may mean to wait for another machine.
        waiting = len(slot.scheduler) if slot and type(slot.scheduler) is Scheduler else None
        means = ((total / count, count, host) for host, (count, total) in self._hosts.items())
        return {
            "spider": spider.name if spider else "",
            "pid": os.getpid(),
            "machine": socket.gethostname(),
            "started": self._started,
            "told": time(),
            "pages_per_second": round((checked - checked_then) / seconds, 2),
            "responses_per_second": round((received - received_then) / seconds, 2),
            "queue": {
                "requests": waiting,
                "under_way": len(engine.downloader.active) if engine else 0,
                "pages": self._session.workers.waiting,
            },
            "workers": self._session.workers.processes_alive,
            "dropped_as": dict(self._reasons),
            "put_back_by": _most_used(self._session.frontier.put_back_by),
            "skipped_by": _most_used(self._rules),
            "slowest_hosts": [[host, count, round(mean, 3)] for mean, count, host in nlargest(_HOSTS_TOLD, means)],
            "last_dropped": list(self._drops),
            "stats": {
                name: value
                for name, value in stats.items()
                if (name.startswith("simcrawl/") or name in _SCRAPY) and isinstance(value, int | float)
            },
        }

    async def end(self) -> None:
        """Take the state along: the crawl has ended."""
        if self._beginning:
            await maybe_deferred_to_future(self._beginning)
        telling, self._telling = self._telling, None
        if telling:
            try:
                await self._threads.run(telling.end)
            except OSError as exc:
                self._warn(exc)
        self._threads.close()


def _most_used(rules: Counter[str]) -> dict[str, int]:
    return {rule[:_LONGEST]: count for rule, count in rules.most_common(_RULES_TOLD)}
