"""The claims of everybody on the pages of one store, and their order: that of the log.

    open ──confirm──► kept
      ├─────withdraw, by its own process──► gone
      └─────withdraw, by another one──────► given up ──confirm──► kept
            (it waited too long, or the process seemed dead)

A claim of this process has no place until the log has taken it. While the log is away it stands without: it is doubted. When it gets its
place it is looked at again, and what turns out to be a copy of a page that was claimed before it, and that came out, too, is recorded as
late; both are kept.

A page that was given up by another process and came out here all the same has lost the place of its claim: copies of it may have been
claimed since. So its own process looks at it again at the place of its confirmation:

    A claims p,  B gives p up,  B claims q, a copy of p,  A confirms p: A finds q
    A claims p,  B gives p up,  A confirms p,  B claims q: B finds p, as for every claim

The window is what a claim on its way is compared with: pages of others that have come since its decision was made.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simcrawl.store.fleet_events import TOKEN_BYTES, parted
from simcrawl.store.fleet_log import START
from simcrawl.store.fleet_wire import RECENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Lock

    from simcrawl.rule import StoredPage
    from simcrawl.store.claims import Claim, Claims
    from simcrawl.store.fleet_events import Event
    from simcrawl.store.fleet_log import Place
    from simcrawl.store.fleet_wire import Wakes
    from simcrawl.store.register import Duplicate
    from simcrawl.store.store import Store

    Finding = Callable[[StoredPage], tuple[StoredPage, Duplicate] | None]

# Of claims that came while one was on its way: more than any tail holds.
_WINDOW = 4_096
_MOST_GIVEN_UP = 1_000


@dataclass(slots=True)
class _Ordering:
    """A claim of this process, and how to find what it is a copy of.

    `overruled`: another process has given it up. `confirmed`: the log has its confirmation. `late`: it is recorded as a copy that was kept.
    """

    claim: Claim
    find: Finding
    overruled: bool = False
    confirmed: bool = False
    late: bool = False


class Order:
    """The claims on one store's pages. Changed while `applying` is held, but for what is said of this process's own claims.

    `known`: what the lasting store knows under a URL, where that is another one. `withdraw`: tells that a claim is withdrawn.
    """

    def __init__(
        self,
        store: Store,
        claims: Claims,
        process: bytes,
        applying: Lock,
        *,
        known: Callable[[str], StoredPage | None],
        withdraw: Callable[[bytes], object],
    ) -> None:
        self.open: dict[bytes, Claim] = {}
        """Open claims of everybody, by their tokens."""
        self.moment = 0
        """How many claims and pages of others have been taken over: a decision knows those until now."""
        self._store, self._claims, self._process, self._applying = store, claims, process, applying
        self._known, self._withdraw = known, withdraw
        self._window: deque[tuple[int, Place, StoredPage]] = deque(maxlen=_WINDOW)
        self._given_up: OrderedDict[bytes, StoredPage] = OrderedDict()
        self._orderings: OrderedDict[bytes, _Ordering] = OrderedDict()
        self._doubted: set[bytes] = set()
        # What records them as late, once it is known that both pages came out.
        self._unsure: dict[bytes, Callable[..., None]] = {}

    # ---- claims of this process

    def begin(self, claim: Claim, find: Finding) -> None:
        """Note a claim that is about to be told, and how it can be looked at again."""
        self.open[claim.token] = claim
        self._orderings[claim.token] = _Ordering(claim, find)
        if len(self._orderings) > RECENT:
            self._doubted.discard(self._orderings.popitem(last=False)[0])

    def earlier(self, claim: Claim, since: int) -> list[StoredPage]:
        """Return the pages that others claimed before a claim that has its place, and after the moment `since`."""
        place = claim.place or START
        return [stored for number, at, stored in self._window.copy() if number > since and at < place]

    def doubt(self, claim: Claim) -> bool:
        """Have a claim looked at when it gets its place; return False where it has got it."""
        with self._applying:
            if claim.place is None:
                self._doubted.add(claim.token)
            return claim.place is None

    def doubt_again(self, tokens: set[bytes]) -> None:
        """Have claims looked at that are told again."""
        self._doubted |= tokens & set(self._orderings)

    def placed(self, token: bytes, place: Place) -> None:
        """Give a claim of this process its place, and look at it where it should have had one before."""
        if not (found := self._orderings.get(token)):
            return
        claim = found.claim
        claim.place = claim.place or place
        if token in self._doubted:
            self._doubted.remove(token)
            self._look(found)

    def unsettled(self) -> Iterator[tuple[bytes, Place | None, StoredPage]]:
        """Yield the claims that are open by what the log says, with their places, and those that were given up, without."""
        for token, found in self._orderings.copy().items():
            # It may be settled here by now, which the log is yet to say.
            if found.claim.place and not found.confirmed and (found.claim.kept or not found.claim.settled):
                yield token, found.claim.place, found.claim.stored
        for token, claim in self.open.copy().items():
            if claim.place and token not in self._orderings:
                yield token, claim.place, claim.stored
        for token, stored in self._given_up.copy().items():
            yield token, None, stored

    def restore(self, token: bytes, stored: StoredPage, place: Place | None) -> None:
        """Take over one of `unsettled`."""
        if place:
            self.open[token] = self._claims.adopt(stored, token, place)[0]
        else:
            self._given_up[token] = stored

    def came_out(self, token: bytes) -> None:
        """Look at a claim of this process that was given up by another one before the log had its confirmation, which it has now."""
        if (found := self._orderings.get(token)) and not found.confirmed:
            found.confirmed = True
            if found.overruled:
                self._look(found)

    def _look(self, found: _Ordering) -> None:
        claim = found.claim
        if found.late or not (claim.stored.unique and (copied := self._copied(found))):
            return
        of, line = copied

        def record(*, at_end: bool = False) -> None:
            if not self._unsure.pop(claim.token, None):
                return
            if claim.kept and (of is None or of.kept or (at_end and not of.settled)):
                found.late = True
                self._store.late_duplicates += 1
                self._store.note(line)

        self._unsure[claim.token] = record
        claim.when_settled(record if of is None else lambda: of.when_settled(record))

    def _copied(self, found: _Ordering) -> tuple[Claim | None, Duplicate] | None:
        """Return the open claim on what a page is a copy of, None where that came out, and the line that says so."""
        while copied := found.find(found.claim.stored):
            original, line = copied
            of = None if original.confirmed else self._claims.open_claim(original)
            # One that was settled since it was found tells nothing.
            if of is None or not of.settled:
                return of, line
        return None

    def end(self) -> None:
        """Record as late what is a copy of a page that is still open: when that comes out, nobody is here to say so."""
        for record in list(self._unsure.values()):
            record(at_end=True)

    def give_up(self, claim: Claim) -> None:
        """Remember a claim of another process that is withdrawn by somebody else: its page may come out yet."""
        if claim.token[:8] != self._process:
            self._given_up[claim.token] = claim.stored
            if len(self._given_up) > _MOST_GIVEN_UP:
                self._given_up.popitem(last=False)

    # ---- what others told

    def note_window(self, place: Place, stored: StoredPage) -> None:
        """Let claims that are on their way be compared with a page of another process."""
        # In this order: who reads the number first finds the page in the claims already.
        self._window.append((self.moment + 1, place, stored))
        self.moment += 1

    def claimed(self, token: bytes, stored: StoredPage, place: Place, wakes: Wakes) -> None:
        """Take over a claim."""
        claim, displaced = self._claims.adopt(stored, token, place)
        self.open[token] = claim
        self.note_window(place, stored)
        if displaced:
            wakes.append(displaced.wake)
            if displaced.token in self._doubted:
                # Nobody else tells of its end.
                self.open.pop(displaced.token, None)
                self._withdraw(displaced.token)

    def confirmed(self, place: Place, event: Event, wakes: Wakes) -> None:
        """Do what a confirmation says."""
        token, callback, text = parted(event.value)
        where = callback.decode("utf-8", "replace")
        if claim := self.open.pop(token, None):
            claim.text, claim.known = text or None, self._known(claim.stored.page.url)
            if self._claims.settle_quietly(claim, confirmed=True, callback=where):
                wakes.append(claim.wake)
        elif given_up := self._given_up.pop(token, None):
            stored = replace(given_up, confirmed=True, callback=where)
            self._claims.record(stored, self._known(stored.page.url), text or None)
            self.note_window(place, stored)

    def withdrawn(self, _: Place, event: Event, wakes: Wakes) -> None:
        """Do what a withdrawal says."""
        token = event.value[:TOKEN_BYTES]
        if not (claim := self.open.pop(token, None)):
            if token[:8] != event.sender and (own := self._orderings.get(token)) and own.claim.kept:
                own.overruled = True
            return
        if token[:8] != event.sender:
            self.give_up(claim)
        if self._claims.settle_quietly(claim, confirmed=False):
            wakes.append(claim.wake)

    def sweep(self, is_dead: Callable[[bytes], bool]) -> None:
        """Withdraw the claims of processes that seem dead."""
        for token, claim in list(self.open.items()):
            if claim.settled:
                self.open.pop(token, None)
            elif is_dead(token[:8]):
                claim.withdraw()
