"""What binds one store to a fleet: it tells of what happens here, and does here what others tell."""

from __future__ import annotations

import json
from collections import deque
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.errors import StoreError
from simcrawl.store.fleet_events import LASTING, TOKEN_BYTES, What, as_json, join, parted
from simcrawl.store.fleet_order import Order
from simcrawl.store.records import decode, encode
from simcrawl.store.register import Duplicate, format_line, parse_line
from simcrawl.store.rejections import Rejection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from threading import Lock

    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage
    from simcrawl.store.claims import Claim, Claims
    from simcrawl.store.committed import CommittedPages
    from simcrawl.store.fleet_events import Event
    from simcrawl.store.fleet_log import Place
    from simcrawl.store.fleet_order import Finding
    from simcrawl.store.fleet_wire import Telling, Wakes, Wire
    from simcrawl.store.store import Store

_ROWS_AT_ONCE = 10_000


class Link:
    """One store's part in a fleet: see `simcrawl.store.store.Link` for what the store asks. `links`: of all stores, by their spaces."""

    def __init__(self, wire: Wire, links: dict[bytes, Link], space: bytes) -> None:
        self.space = space
        self.store: Store
        self.claims: Claims
        self.committed: CommittedPages
        self.writing: Lock
        self.claimed: Order
        self._wire, self._links = wire, links

    def attach(self, store: Store, claims: Claims, committed: CommittedPages, writing: Lock) -> None:
        """Take the store, its parts, and what it holds while it writes."""
        self.store, self.claims, self.committed, self.writing = store, claims, committed, writing
        self.claimed = Order(
            store,
            claims,
            self._wire.process,
            self._wire.applying,
            known=self.known,
            withdraw=lambda token: self.tell(What.WITHDRAW, token),
        )
        claims.others = self
        self._links[self.space] = self

    # ---- decisions

    @property
    def moment(self) -> int:
        """How many claims and pages of others have been taken over: a decision knows those until now."""
        return self.claimed.moment

    @property
    def untold(self) -> Collection[str]:
        """URLs of pages that were confirmed here and are not yet in the log, where the store is on a disk: see `fleet_local`."""
        return set(self._wire.unconfirmed.copy().values()) if self._wire.durable else ()

    def order(self, claim: Claim, since: int, find: Finding) -> list[StoredPage]:
        """Put a claim into the order of all; return the pages that others claimed before it and after the moment `since`.

        Where the log cannot be written there are none, and the claim waits for its place. Then it is looked at by `find`, which returns a
        page that a claimed one is a copy of, and the line to record.
        """
        claim.token = self._wire.outbox.token()
        self.claimed.begin(claim, find)
        unique = b"\1" if claim.stored.unique else b"\0"
        self.tell(What.CLAIM, claim.token + unique + encode(claim.stored))
        try:
            self._wire.flush(patient=True)
        except StoreError:
            if self.claimed.doubt(claim):
                return []
        return self.claimed.earlier(claim, since)

    def lose(self, claim: Claim) -> None:
        """Withdraw a claim that came after another one."""
        if claim.settled:
            # By whose place it has taken; that is not yet told.
            self.claimed.open.pop(claim.token, None)
            self.tell(What.WITHDRAW, claim.token)
        else:
            claim.withdraw()

    # ---- what is told

    def flush(self) -> None:
        """Tell what waits to be told: see `Wire.flush`."""
        self._wire.flush()

    def tell(self, what: What, value: bytes) -> None:
        """Let the fleet know. Never blocks on I/O."""
        self._wire.tell(what, self.space, value)

    def settled(self, claim: Claim, *, confirmed: bool, callback: str) -> None:
        """Tell that a claim was confirmed or withdrawn here, whoever's it is."""
        if not claim.token:
            return
        self.claimed.open.pop(claim.token, None)
        if confirmed:
            if self._wire.durable:
                self._wire.unconfirmed[claim.token] = claim.stored.page.url
            self.tell(What.CONFIRM, join(claim.token, callback.encode("utf-8", "replace"), claim.text or b""))
        else:
            self.claimed.give_up(claim)
            self.tell(What.WITHDRAW, claim.token)

    def withdraw_own(self) -> None:
        """Tell that the open claims of this process are withdrawn."""
        for token in list(self.claimed.open):
            if token[:8] == self._wire.process:
                self.tell(What.WITHDRAW, token)

    def line(self, line: Duplicate) -> None:
        """Tell of a line of the register."""
        self.tell(What.LINE, format_line(line))

    def page(self, stored: StoredPage) -> None:
        """Tell of a page that was seen again."""
        self.tell(What.PAGE, encode(stored))

    def visit(self, key: bytes, value: bytes) -> None:
        """Tell of a visit."""
        self.tell(What.VISIT, join(key, value))

    def text(self, url: str, packed: bytes) -> None:
        """Tell of a text."""
        self.tell(What.TEXT, join(url.encode("utf-8", "surrogatepass"), packed))

    def tell_fingerprints(self, rows: NDArray[np.uint64]) -> None:
        """Tell of fingerprints without pages."""
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            self.tell(What.BARE, rows[start : start + _ROWS_AT_ONCE].astype("<u8").tobytes())

    def tell_rejection(self, rejection: Rejection, lines: Iterable[Duplicate], *, rejected: bool) -> None:
        """Tell that a verdict was taken back, or that it was not, and which lines that marks."""
        self.tell(What.REJECT if rejected else What.UNREJECT, _rejection(rejection, lines))

    def tell_forgotten(self, url: str) -> None:
        """Tell that a page was forgotten."""
        self.tell(What.FORGET, url.encode("utf-8", "surrogatepass"))

    def tell_expired(self, before: float) -> None:
        """Tell that pages from before a moment are being removed."""
        self.tell(What.EXPIRE, repr(before).encode())

    def tell_record(self, record: Mapping[str, Any]) -> None:
        """Tell what became of a crawl."""
        self.tell(What.NOTE, as_json(record))

    def bind(self, recipe: str) -> None:
        """Bind the fleet to a recipe, unless another one did: then the store's header says which.

        Raises:
            StoreError: the log cannot be written.
        """
        if self.space == LASTING:
            self.tell(What.BIND, recipe.encode())
            self.flush()
        else:
            self.committed.bind(recipe)

    def everything(self) -> Iterator[Telling]:
        """Yield all that the store knows, to be told again."""
        # What came from others may not be written yet.
        self.store.commit()
        for stored in self.store.pages():
            yield What.PAGE, self.space, encode(stored)
        for line in self.store.duplicates():
            yield What.LINE, self.space, format_line(line)
        for rejection in self.store.rejections():
            yield What.REJECT, self.space, _rejection(rejection, ())

    # ---- a checkpoint

    def state(self) -> list[list[Any]]:
        """Return the claims that are open by what has been done of the log, as JSON."""
        return [[token.hex(), place, stored.unique, encode(stored).hex()] for token, place, stored in self.claimed.unsettled()]

    def restore(self, state: list[list[Any]]) -> None:
        """Take over the claims of a checkpoint."""
        for token, place, unique, record in state:
            stored = replace(self._page_of(bytes.fromhex(record)), confirmed=False, unique=unique)
            self.claimed.restore(bytes.fromhex(token), stored, None if place is None else (place[0], place[1]))

    # ---- what others told

    def known(self, url: str) -> StoredPage | None:
        """Return what the lasting store knows under a URL, where this is another one."""
        return None if self.space == LASTING else self._links[LASTING].store.known(url)

    def do(self, place: Place, event: Event, wakes: Wakes) -> None:
        """Do what another process has done.

        Raises:
            StoreError, ValueError, KeyError, TypeError: what it told is damaged.
        """
        _IN_STORE[event.what](self, place, event, wakes)

    def _page_of(self, record: bytes) -> StoredPage:
        header = self._links[LASTING].committed.header
        return decode(record, recipes=(header.recipe or "",), seed=header.seed, bits=header.bits)

    def claim(self, place: Place, event: Event, wakes: Wakes) -> None:
        """Take over a claim, unless it is known."""
        token, unique = event.value[:TOKEN_BYTES], event.value[TOKEN_BYTES : TOKEN_BYTES + 1] == b"\1"
        if token not in self.claimed.open:
            stored = replace(self._page_of(event.value[TOKEN_BYTES + 1 :]), confirmed=False, unique=unique)
            self.claimed.claimed(token, stored, place, wakes)

    def put(self, place: Place, event: Event, _: Wakes) -> None:
        """Take over a page that came out elsewhere, unless it is known as it is."""
        stored = self._page_of(event.value)
        known = self.store.known(stored.page.url)
        if known and known.confirmed and known.page == stored.page and known.last_seen >= stored.last_seen:
            return
        self.claims.record(stored, self.known(stored.page.url), None)
        self.claimed.note_window(place, stored)

    def forget(self, _: Place, event: Event, wakes: Wakes) -> None:
        """Forget a page."""
        url = event.value.decode("utf-8", "surrogatepass")
        with self.writing, self.committed.deciding:
            self.committed.erase(url)
            ended = self.claims.forget(url)[1]
        if ended:
            wakes.append(ended.wake)

    def load(self, rows: bytes) -> None:
        """Insert fingerprints without pages."""
        words = (self.committed.header.bits + 63) // 64
        loaded = np.frombuffer(rows, "<u8").astype(np.uint64).reshape(-1, words)
        with self.writing, self.committed.deciding:
            self.committed.load(loaded)

    def record(self, told: dict[str, Any]) -> None:
        """Take over the record of a crawl, unless it is known."""
        with self.committed.reading() as reader:
            known = reader.crawls()
        if told not in known:
            self.committed.note_crawl(told)

    def expire(self, before: float) -> None:
        """Remove what was last seen before a moment."""
        # What waits to be written would stay.
        self.store.commit()
        deque(self.store.expiring_here(before), maxlen=0)

    def reject(self, told: dict[str, Any], *, rejected: bool) -> None:
        """Hold two pages apart, or do so no longer. A line that has left the register meanwhile does not come back with its mark."""
        rejection, told_lines = Rejection(**told["rejection"]), [Duplicate(**line) for line in told["lines"]]
        self.store.commit()
        with self.writing, self.committed.deciding:
            with self.committed.reading() as reader:
                lines = [line for line in told_lines if reader.duplicate(line.url)]
            if rejected:
                self.committed.write_rejection(rejection, lines)
            else:
                with suppress(KeyError):
                    self.committed.erase_rejection(rejection, lines)


def _rejection(rejection: Rejection, lines: Iterable[Duplicate]) -> bytes:
    return as_json({"rejection": asdict(rejection), "lines": [asdict(line) for line in lines]})


def _keep_text(link: Link, value: bytes) -> None:
    url, packed = parted(value)
    link.claims.keep_text(url.decode("utf-8", "surrogatepass"), packed, told=False)


def _visit(link: Link, value: bytes) -> None:
    key, what = parted(value)
    link.claims.visit(key, what, told=False)


def _of_value(act: Callable[[Link, bytes], object]) -> Callable[[Link, Place, Event, Wakes], object]:
    def do(link: Link, _: Place, event: Event, __: Wakes) -> object:
        return act(link, event.value)

    return do


_IN_STORE: dict[What, Callable[[Link, Place, Event, Wakes], object]] = {
    What.CLAIM: Link.claim,
    What.CONFIRM: lambda link, place, event, wakes: link.claimed.confirmed(place, event, wakes),
    What.WITHDRAW: lambda link, place, event, wakes: link.claimed.withdrawn(place, event, wakes),
    What.PAGE: Link.put,
    What.FORGET: Link.forget,
    What.LINE: _of_value(lambda link, value: link.claims.note(parse_line(value), told=False)),
    What.VISIT: _of_value(_visit),
    What.TEXT: _of_value(_keep_text),
    What.EXPIRE: _of_value(lambda link, value: link.expire(float(value))),
    What.BARE: _of_value(Link.load),
    What.REJECT: _of_value(lambda link, value: link.reject(json.loads(value), rejected=True)),
    What.UNREJECT: _of_value(lambda link, value: link.reject(json.loads(value), rejected=False)),
    What.NOTE: _of_value(lambda link, value: link.record(json.loads(value))),
}
