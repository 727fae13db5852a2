"""Whose page is next: hosts take turns by the time that their pages take, and none goes far beyond its budget.

Start-time fair queuing (Goyal, Vin, Cheng, *Start-time Fair Queuing*, SIGCOMM 1996), with what a page has cost instead of what it will: no
length of a page says that. A host that comes when others have waited begins where they are, so that it neither jumps the queue nor pays
for what was before it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

_K = TypeVar("_K", bound="Hashable")
_T = TypeVar("_T")

# Worker seconds that each host has before it is asked how many a page: a worker loads a dictionary for its first Chinese page.
_TO_BEGIN_WITH = 5.0
# Worker seconds a page, on average, that make a host a slow one; pages of so many seconds each that one is believed to have had before it;
# and bytes of a page that take a second, as it is guessed before that is known: most pages are five times as fast.
_SLOW, _HEAD_START, _BYTES_A_SECOND = 0.25, 3, 3e6
# Of its size alone a page is taken for a slow one a little sooner: if it is none it has lost next to nothing.
_HEAD_START_OF_A_GUESS = 2
# What a page is expected to take: by what its host's pages took, once there are so many, each with so large a share in the average; no less
# than one of its size takes; and so many seconds where nothing is known.
_KNOWN_BY, _LATEST, _FASTEST, _UNKNOWN = 3, 1 / 8, 1.5e7, 1.0
# Hosts that are remembered.
_MOST_HOSTS = 10_000


class Spent(NamedTuple):
    """What work has taken: `seconds`, for which a process could do nothing else, and how many of them it had a core (`of_core`).

    Where the system does not tell the one from the other they are the same.
    """

    seconds: float = 0.0
    of_core: float = 0.0


_NOTHING = Spent()


class _Host(Generic[_T]):
    __slots__ = ("lately", "made", "of_core", "pages", "seconds", "tag", "under_way", "waiting")

    def __init__(self) -> None:
        self.pages = self.made = self.under_way = 0
        self.seconds = self.of_core = self.tag = self.lately = 0.0
        self.waiting: deque[_T] = deque()


class Turns(Generic[_K, _T]):
    """What waits, by host. A host is what its caller takes for one: any key. `busy`, everywhere: what is under way, by host."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[_K, _Host[_T]] = OrderedDict()
        self._waiting: set[_K] = set()
        self._now = 0.0

    def __len__(self) -> int:
        """Return how many hosts wait."""
        return len(self._waiting)

    def __iter__(self) -> Iterator[tuple[_K, _T]]:
        """Yield all that waits, with its host."""
        return iter([(key, one) for key in self._waiting for one in self._hosts[key].waiting])

    @property
    def are_several(self) -> bool:
        """Whether there is another host that one could hold up."""
        return len(self._hosts) > 1

    def arrived(self, key: _K, size: int = 0) -> None:
        """Count a page of a host, of so many bytes; it is under way until it is `settled`."""
        host = self._host(key)
        self._hosts.move_to_end(key)
        host.pages += 1
        host.under_way += size

    def settled(self, key: _K, size: int) -> None:
        """Note that a page is under way no longer: what it took is known, if it was made."""
        if host := self._hosts.get(key):
            host.under_way = max(0, host.under_way - size)

    def _host(self, key: _K) -> _Host[_T]:
        host = self._hosts.get(key)
        if host is None:
            if len(self._hosts) >= _MOST_HOSTS:
                del self._hosts[next(key for key, one in self._hosts.items() if not one.waiting)]
            host = self._hosts[key] = _Host()
        return host

    def add(self, key: _K, one: _T) -> None:
        """Let something wait, last of its host."""
        host = self._host(key)
        if not host.waiting:
            host.tag = max(host.tag, self._now)
            self._waiting.add(key)
        host.waiting.append(one)

    def remove(self, key: _K, one: _T) -> None:
        """Let something wait no longer."""
        self._hosts[key].waiting.remove(one)
        self._note_end(key)

    def waiting(self, key: _K) -> int:
        """Return how much of a host waits."""
        return len(self._hosts[key].waiting) if key in self._hosts else 0

    def next(self, busy: Mapping[_K, Spent], may: Callable[[_K], bool]) -> _T | None:
        """Return what waits no longer, since it is its turn; None where nothing waits of a host that `may`."""
        key = min(filter(may, self._waiting), key=lambda key: self._hosts[key].tag + busy.get(key, _NOTHING).seconds, default=None)
        if key is None:
            return None
        host = self._hosts[key]
        self._now = max(self._now, host.tag)
        one = host.waiting.popleft()
        self._note_end(key)
        return one

    def _note_end(self, key: _K) -> None:
        if not self._hosts[key].waiting:
            self._waiting.remove(key)

    def charge(self, key: _K, spent: Spent) -> None:
        """Note what a page of a host has taken."""
        if host := self._hosts.get(key):
            host.made += 1
            host.seconds += spent.seconds
            host.of_core += spent.of_core
            host.tag += spent.seconds
            host.lately += (spent.seconds - host.lately) * (_LATEST if host.made > 1 else 1)

    def expected(self, key: _K, size: int) -> float:
        """Return how many seconds a page of so many bytes will take; a long time where nobody knows."""
        host = self._host(key)
        return max(host.lately, size / _FASTEST) if host.made >= _KNOWN_BY else _UNKNOWN

    def is_over_budget(self, key: _K, busy: Mapping[_K, Spent], per_page: float) -> bool:
        """Return whether a host has taken more than so many seconds a page, where others are there that it takes them from."""
        host = self._host(key)
        return self.are_several and host.seconds + busy.get(key, _NOTHING).seconds > _TO_BEGIN_WITH + per_page * host.pages

    def is_slow(self, key: _K, busy: Mapping[_K, Spent]) -> bool:
        """Return whether pages of a host take long, on average, where others are there that they could hold up.

        By what they have had of a core: on a busy machine the pages of every host keep a process for long.
        """
        host = self._host(key)
        known = host.of_core + busy.get(key, _NOTHING).of_core > _SLOW * (_HEAD_START + host.made)
        guessed = host.of_core + host.under_way / _BYTES_A_SECOND > _SLOW * (_HEAD_START_OF_A_GUESS + host.pages)
        return self.are_several and (known or guessed)

    def forget(self, keys: Callable[[_K], bool]) -> None:
        """Forget hosts of which nothing waits."""
        for key in [key for key, host in self._hosts.items() if keys(key) and not host.waiting]:
            del self._hosts[key]
