"""A fleet: processes on many machines that are one crawl. A log orders their claims; each of them decides by itself.

      machine A                        Redis                        machine B
    ┌─────────────────────┐    ┌──────────────────────┐    ┌─────────────────────┐
    │ Store: all pages,   │    │ one stream, the log  │    │ Store: all pages,   │
    │ tables, the rule    │    │  1 A claims p        │    │ tables, the rule    │
    │   │            ▲    │    │  2 B claims q        │    │   │            ▲    │
    │ decide         do   │    │  3 A confirms p      │    │ decide         do   │
    │   ▼            │    │    │  4 B withdraws q     │    │   ▼            │    │
    │ Link, Order    │    │    │                      │    │ Link, Order    │    │
    │   ▼            │    │    │                      │    │   ▼            │    │
    │ Wire ── append, ────┼───►│                      │◄───┼── read ───── Wire   │
    └─────────────────────┘    └──────────────────────┘    └─────────────────────┘

The log is the truth, and every store is what its entries add up to. A server that compared fingerprints would have to hold tables and know
the rule; a log needs neither, so it is exact for every rule and every radius, and costs the server as much as writing the page down.

A decision:

1. It is made by what is known here. A copy of a page that came out, or a URL of this crawl, costs no round trip.
2. Otherwise the page is claimed here, and the claim appended. The same step of the server tells what has come meanwhile.
3. Was one of those claims, earlier in the log, of this page's URL or of a page that the rule calls its original? Then this claim is
   withdrawn, and the page decided about again: as the copy of one that came out, or it waits for one that is open. The earlier one always
   wins, so somebody always does. Otherwise the claim stands, for everybody after it has been told of it.

Where the hard state is: of a claim in `fleet_order`, of the line to the server in `fleet_wire`, of processes and crawls in `fleet_crawls`.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.errors import StoreError
from simcrawl.store.fleet_crawls import ABANDONED, Crawls, Lives
from simcrawl.store.fleet_events import LASTING, LOADED, TOKEN_BYTES, Event, What, parted, unpack
from simcrawl.store.fleet_link import Link
from simcrawl.store.fleet_log import START
from simcrawl.store.fleet_wire import GRACE, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.store.fleet_local import Local
    from simcrawl.store.fleet_log import Entry, Place, RedisLog
    from simcrawl.store.fleet_wire import Telling, Wakes

logger = logging.getLogger(__name__)

# Seconds between two checkpoints.
_CHECKPOINT = 5.0


class Times(NamedTuple):
    """Seconds after which something is done.

    `beat`: a process says that it lives. `dead`: one that says nothing is dead. `grace`: claims wait no longer for the end of an outage.
    `abandoned`: an interrupted crawl ends that no job has resumed.
    """

    beat: float = 3.0
    dead: float = 10.0
    grace: float = GRACE
    abandoned: float = ABANDONED


class Fleet:
    """One process's part in a fleet: does what the log says. Thread-safe.

    `local`: the directory where its stores are; without one they are in memory. `readonly`: nothing is told, and no thread runs.
    """

    def __init__(self, log: RedisLog, header: bytes, times: Times, *, local: Local | None = None, readonly: bool = False) -> None:
        self.wire = Wire(log, header, self, readonly=readonly, durable=local is not None, beat=times.beat, grace=times.grace)
        self.links: dict[bytes, Link] = {}
        self.lives = Lives(self.wire.process, times.dead)
        self.crawls = Crawls(self.wire, self.lives, self.links, beat=times.beat, abandoned=times.abandoned)
        self._local = local
        self._noted, self._noted_at = START, monotonic()
        self._numbers: dict[bytes, int] = {}
        self._shared: dict[What, Callable[[Event], object]] = {
            What.JOIN: self.crawls.joined,
            What.LEAVE: self.crawls.left,
            What.END: self.crawls.ended,
            What.BIND: self._bound,
            What.BEAT: lambda _: None,
            What.BYE: lambda event: self.lives.bury(event.sender),
        }

    def link(self, space: bytes) -> Link:
        """Return what binds a store to the fleet."""
        return Link(self.wire, self.links, space)

    def begin(self) -> None:
        """Take over all that the log holds, and from then on what comes.

        Raises:
            StoreError: it cannot be read.
        """
        again = self._restore()
        self.wire.replay()
        if again:
            self.wire.outbox.tell_all(self.everything())
        # Whoever has said nothing for long may be dead, or the server was away.
        self.lives.give_time()
        self.wire.begin()

    def close(self) -> None:
        """Tell what there is to tell, and end. No effect the second time. Never raises for the log."""
        if self.wire.closing.is_set():
            return
        links = list(self.links.values())
        for link in links:
            link.withdraw_own()
        # Only then do claims that were made in an outage have their places.
        self.wire.tell_last()
        for link in links:
            link.claimed.end()
        self.wire.close(What.BYE)
        if self._local:
            try:
                self.checkpoint()
            except StoreError as exc:
                logger.warning("The end of this crawl is not in the local directory, which its next start reads from the log: %s", exc)
            finally:
                self._local.close()

    # ---- the local directory

    def _restore(self) -> bool:
        """Go on from the last checkpoint, if it was of this log; return whether it was of another one, which is lost."""
        state = self._local.read() if self._local else None
        if not self._local or not state:
            self._check_whole()
            return False
        place = (state["place"][0], state["place"][1])
        if bytes.fromhex(state["epoch"]) != self.wire.epoch or not self.wire.log.has(place):
            self._check_whole()
            logger.warning("%s has lost the log that %s belongs to: its pages are told again", self.wire.log.shown, self._local.path)
            return True
        self._numbers = {bytes.fromhex(sender): number for sender, number in state["numbers"].items()}
        if LOADED.hex() in state["claims"]:
            self.crawls.make(LOADED)
        self.crawls.restore(state["crawls"])
        for space, claims in state["claims"].items():
            self.links[bytes.fromhex(space)].restore(claims)
        self.wire.place = self._noted = place
        return False

    def _check_whole(self) -> None:
        """Refuse to begin with a log that does not begin with its beginning.

        Raises:
            StoreError: it was trimmed.
        """
        if self.wire.log.is_trimmed():
            raise StoreError(
                f"the beginning of the log of {self.wire.log.shown} was trimmed: begin with a copy of the directory (local=) that another "
                "process of this fleet has, of a time after what was trimmed"
            )

    def checkpoint(self) -> None:
        """Write what has been done of the log into the local directory, so that a start goes on from here.

        Raises:
            StoreError: it cannot be written.
        """
        if not self._local:
            return
        with self.wire.applying:
            links, place = dict(self.links), self.wire.place
            state = {
                "epoch": self.wire.epoch.hex(),
                "place": place,
                "numbers": {sender.hex(): number for sender, number in self._numbers.items()},
                "crawls": self.crawls.state(),
                "claims": {space.hex(): link.state() for space, link in links.items()},
            }
        for link in links.values():
            link.store.commit()
        self._local.write(state)
        self._noted, self._noted_at = place, monotonic()

    def tidy(self) -> None:
        """Remove what is left in the local directory of crawls that have ended before the last checkpoint."""
        if self._local:
            self._local.tidy({space for space in self.links if space != LASTING})

    # ---- what the log says

    def do(self, entry: Entry, wakes: Wakes) -> None:
        """Do what an entry says. Whatever another machine wrote, this crawl goes on."""
        try:
            event = unpack(entry.data)
            if self._is_new(entry.place, event):
                self._do(entry.place, event, wakes)
        except (StoreError, ValueError, KeyError, TypeError) as exc:
            logger.warning("An event of another machine cannot be used: %s", exc)

    def _is_new(self, place: Place, event: Event) -> bool:
        """Return whether an event is not known yet; note that its sender lives."""
        self.lives.hear(event.sender, place)
        new = event.number > self._numbers.get(event.sender, 0)
        if new:
            self._numbers[event.sender] = event.number
        if event.sender == self.wire.process and (link := self.links.get(event.space)):
            # Also what is told again.
            if event.what is What.CLAIM:
                link.claimed.placed(event.value[:TOKEN_BYTES], place)
            elif event.what is What.CONFIRM:
                token = parted(event.value)[0]
                link.claimed.came_out(token)
                self.wire.unconfirmed.pop(token, None)
        return new

    def _do(self, place: Place, event: Event, wakes: Wakes) -> None:
        if act := self._shared.get(event.what):
            act(event)
        elif event.sender != self.wire.process:
            if event.space == LOADED and LOADED not in self.links:
                self.crawls.make(LOADED)
            if link := self.links.get(event.space):
                link.do(place, event, wakes)

    def _bound(self, event: Event) -> None:
        recipe = event.value.decode()
        for link in self.links.values():
            if link.committed.header.recipe is None:
                link.committed.bind(recipe)

    def done(self) -> None:
        """Write, where so much has come that it would outgrow the memory."""
        for link in list(self.links.values()):
            if link.claims.falls_behind:
                with suppress(StoreError):
                    link.store.commit()

    def sweep(self) -> None:
        """Withdraw the claims of processes that seem dead, and leave their crawls."""
        if self.wire.down:
            return
        for link in list(self.links.values()):
            link.claimed.sweep(self.lives.is_dead)
        self.crawls.sweep()
        if self.wire.place != self._noted and monotonic() - self._noted_at >= _CHECKPOINT:
            self.checkpoint()

    # ---- after an outage

    def back(self) -> None:
        """Take nobody for dead who could not say anything."""
        self.lives.give_time()

    def doubt(self, tokens: set[bytes]) -> None:
        """Look at claims of this process when they come again: others may have decided without them."""
        for link in list(self.links.values()):
            link.claimed.doubt_again(tokens)

    def joined_again(self, joins: Iterable[Event]) -> Iterator[Event]:
        """Yield what is to be told of the runs that were told of so."""
        return self.crawls.joined_again(joins)

    def everything(self) -> Iterator[Telling]:
        """Yield all that is known."""
        lasting = self.links[LASTING]
        if recipe := lasting.committed.header.recipe:
            yield What.BIND, LASTING, recipe.encode()
        yield from self.crawls.everything()
        for link in [lasting, *(link for space, link in list(self.links.items()) if space != LASTING)]:
            yield from link.everything()
