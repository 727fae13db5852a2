"""Every exception that simcrawl raises on purpose, as one small tree.

    SimcrawlError
    ├── SettingError            a setting or argument has a value that cannot work
    ├── WorkerError             no worker process can be started
    └── StoreError              the store cannot do what was asked
        ├── StoreFormatError    not a simcrawl store, or one written by a newer simcrawl
        ├── StoreMismatchError  a simcrawl store, made with another recipe, seed or design
        ├── StoreCorruptError   bytes that fail their checksum or do not parse
        └── StoreFullError      no space is left for a write

Each message names the value received and the cure. Errors of lmdb never leave the store: they are mapped to this tree in
one place.
"""

from __future__ import annotations


class SimcrawlError(Exception):
    """Base of everything that simcrawl raises on purpose."""


class SettingError(SimcrawlError, ValueError):
    """A setting or argument has a value that cannot work."""


class WorkerError(SimcrawlError):
    """No worker process can be started, or it cannot load the recipe or the extractor."""


class StoreError(SimcrawlError):
    """The store cannot do what was asked."""


class StoreFormatError(StoreError):
    """The path holds something else than a store that this version can read."""


class StoreMismatchError(StoreError, ValueError):
    """The store was made with another recipe, seed or design than the page or the caller."""


class StoreCorruptError(StoreError):
    """Stored bytes fail their checksum or do not parse."""


class StoreFullError(StoreError):
    """The disk or the store's memory map has no space left for a write."""
