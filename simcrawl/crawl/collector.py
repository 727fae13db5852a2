"""Keeps Python's collector of cyclic garbage away from what was there before a crawl.

A process that runs Scrapy holds 90,000 objects before its first request, and with simcrawl 20,000 more: modules, classes, functions. None
of them is ever garbage, and yet the collector looks at all of them whenever a few thousand new objects have outlived their first two
collections: a tenth of the time of a crawl of small pages. `gc.freeze` sets them aside until the crawl is over. What the crawl itself makes
is collected as ever.
"""

from __future__ import annotations

import gc

# Python 3.12 begins with a few hundred. Whoever sets objects aside has more.
_OF_PYTHON_ITSELF = 2_000
# There is one collector for all crawls of a process.
_crawls = 0


def set_aside() -> bool:
    """Set aside all objects that there are, and return whether `take_back` is to be called; not where somebody else has done so."""
    global _crawls  # noqa: PLW0603 - as above
    if not _crawls:
        if not gc.isenabled() or gc.get_freeze_count() > _OF_PYTHON_ITSELF:
            return False
        # Garbage of an earlier crawl would stay for as long as this one.
        gc.collect()
        gc.freeze()
    _crawls += 1
    return True


def take_back() -> None:
    """Let the collector look at all objects again, once no crawl goes on that has set some aside."""
    global _crawls  # noqa: PLW0603 - as above
    _crawls -= 1
    if not _crawls:
        gc.unfreeze()
