"""Runs one hostile page under the system's limits. Processes fork from one that has imported this, so that none loads dictionaries."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

from simcrawl.page.fingerprint import fingerprint_page
from tests.hostile_pages import PAGES
from tests.samples import chinese, page

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

# Hard stops, far above what any of the pages takes: 3 s and .6 GB.
CPU_SECONDS, BYTES = 30, 4_000_000_000

for _recipe in ("auto", "resiliparse"):
    fingerprint_page(page(chinese(60)), recipe=_recipe)


def answer(name: str, recipe: str, channel: Connection) -> None:
    """Send what becomes of a page."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    hostile = PAGES[name]
    channel.send(fingerprint_page(hostile.make(), encoding=hostile.encoding, recipe=recipe, max_seconds=1000))
