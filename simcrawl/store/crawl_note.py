"""What the runs of a crawl share, wherever they meet: a note of the crawl, and the end of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Protocol

from simcrawl.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable

LOADED = "loaded"
"""The id of the crawl that never ends."""


@dataclass(slots=True)
class Note:
    """What is known of a crawl as a whole. `started`: seconds since 1970.

    `runs`: of each spider, how many runs began, and how many finished. `jobs`: the files whose runs may be resumed.
    """

    id: str
    name: str | None = None
    started: float = field(default_factory=time)
    runs: dict[str, list[int]] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)

    def begin(self, spider: str, job: str | None, *, resumed: bool) -> None:
        """Count a run that begins; one that is resumed began long ago."""
        if not resumed:
            self.runs.setdefault(spider, [0, 0])[0] += 1
        if job and job not in self.jobs:
            self.jobs.append(job)

    def finish(self, spider: str, job: str | None, *, stored: bool = True) -> None:
        """Count a run that came to its end, if what came out of it was `stored`."""
        self.runs.setdefault(spider, [1, 0])[1] += stored
        if job in self.jobs:
            self.jobs.remove(job)

    def finished(self, spider: str) -> bool:
        """Return whether every run of a spider came to its end."""
        begun, ended = self.runs.get(spider, (0, 0))
        return 0 < begun <= ended


def checked_name(name: str | None) -> None:
    """Refuse what is no name of a crawl.

    Raises:
        SettingError: it is empty.
    """
    if name is not None and not name.strip():
        raise SettingError(f"the name of a crawl is {name!r}: use a non-empty string, or none for a crawl of its own")


class Home(Protocol):
    """Where the runs of a crawl meet. What is asked of it is one step among all processes."""

    def leave(self, update: Callable[[Note], None], end: Callable[[Note], None], close: Callable[[], None]) -> bool:
        """Leave the crawl; return whether this was its last run and nothing may resume it.

        `update` notes what became of this run, `end` is called where the crawl ends, `close` before the crawl's own pages are removed.

        Raises:
            StoreError: something cannot be read or written. The crawl is left all the same.
        """


@dataclass(frozen=True, slots=True)
class Joined:
    """What a run finds when it joins a crawl. `others`: whether it was under way; `resumed`: whether this run was, too."""

    note: Note
    others: bool = False
    resumed: bool = False
