"""A crawl that cannot begin says why in one line, not in a traceback through Scrapy."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from twisted.internet import defer

from simcrawl.errors import SimcrawlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twisted.logger import ILogObserver, LogEvent

_HEADING = "Unhandled error in Deferred:"

logger = logging.getLogger(__name__)


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Log an error of simcrawl's own that stops the crawl, and let it pass: whoever awaits the crawl gets it, and the exit code is 1."""
    try:
        yield
    except SimcrawlError as exc:
        # Nobody asks Scrapy's commands what became of the task, and then asyncio logs all frames between there and here.
        if task := _task_of_scrapy():
            logger.error("%s", exc)  # noqa: TRY400 - the frames would say nothing
            task.add_done_callback(partial(_ask, exc))
        else:
            _listen()
        raise


def _task_of_scrapy() -> asyncio.Task[Any] | None:
    """Return the task that Scrapy made for this crawl; None where it made none, since tasks of others are theirs to ask."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop: the crawl is a Deferred
        return None
    frame = getattr(task.get_coro(), "cr_frame", None) if task else None
    return task if frame and frame.f_globals["__name__"] == "scrapy.crawler" else None


def _ask(told: SimcrawlError, task: asyncio.Task[Any]) -> None:
    """Ask a task for its exception, and report it as asyncio would if it is another one than was told."""
    if not task.cancelled() and (exception := task.exception()) not in (None, told):
        task.get_loop().call_exception_handler({"message": "the crawl failed", "exception": exception, "task": task})


# ---- where the crawl is a Deferred: with another reactor, and in scripts


class _Listener(threading.local):
    """Stands before the observer of what Twisted logs of failures that nobody asked for: of ours it says one line, others go on to it."""

    def __init__(self, behind: Any) -> None:
        self._behind = behind
        self._heading: LogEvent | None = None

    def __call__(self, event: LogEvent) -> None:
        """Take a heading, which comes first and alone, or the failure."""
        heading, self._heading = self._heading, None
        failure = event.get("log_failure")
        if failure and isinstance(failure.value, SimcrawlError):
            logger.error("%s", failure.value)
        elif event.get("log_format") == _HEADING:
            self._heading = event
        else:
            if heading:
                self._behind(heading)
            self._behind(event)


def _listen() -> None:
    """Have a refusal told in one line, but only where its Deferred is dropped unasked: a script that asks for it gets it, and no line.

    That is known when the Deferred is collected, no sooner. What it is logged with then is all that can be reached: Twisted's own logger.
    """
    if not isinstance(defer.log.observer, _Listener):
        defer.log.observer = cast("ILogObserver", _Listener(defer.log.observer))
