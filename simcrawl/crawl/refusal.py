"""A crawl that cannot begin says why in one line, not in a traceback through Scrapy."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from simcrawl.errors import SimcrawlError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        raise


def _task_of_scrapy() -> asyncio.Task[Any] | None:
    """Return the task that Scrapy made for this crawl; None where it made none, since tasks of others are theirs to ask."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop: the errors of a Deferred are logged by Twisted
        return None
    frame = getattr(task.get_coro(), "cr_frame", None) if task else None
    return task if frame and frame.f_globals["__name__"] == "scrapy.crawler" else None


def _ask(told: SimcrawlError, task: asyncio.Task[Any]) -> None:
    """Ask a task for its exception, and report it as asyncio would if it is another one than was told."""
    if not task.cancelled() and (exception := task.exception()) not in (None, told):
        task.get_loop().call_exception_handler({"message": "the crawl failed", "exception": exception, "task": task})
