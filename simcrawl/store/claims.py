"""What is not yet written: claimed pages, confirmed ones, and the lines, texts and visits that wait with them.

    decision ──► claimed ──confirm──► confirmed ──group commit──► committed
                    │                     ▲
                    └──withdraw──► gone   └── a page that is claimed again, and withdrawn then, is what it was before

A claim is visible to every later decision, so that of two equal pages in flight one is the original. It is written only once its own
content came out. All of it lies over what is committed: `Overlay` is the view of both that a decision has.

One lock guards it all. It is never held during I/O, for `Claim.confirm` is called on event loops.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from simcrawl.errors import StoreFullError
from simcrawl.rule import StoredPage
from simcrawl.store.committed import Batch
from simcrawl.store.page_index import PageIndex
from simcrawl.store.rejections import pairs_of
from simcrawl.store.texts import TextsWaiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from simcrawl.index.packed import Packer
    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from simcrawl.rule import Candidate, Verdict
    from simcrawl.store.committed import Reader
    from simcrawl.store.register import Duplicate

# Pages that a full disk keeps from being written stay in memory, up to here; then further pages pass unrecorded.
_MOST_UNWRITTEN = 20_000
# A revisit changes nothing but the time of the last visit: within this many seconds it is not worth a write.
_TOUCH_SECONDS = 3_600
NOT_WAITING = object()
"""What `Claims.line` returns for a URL of which no line waits; None says that its line is to be struck out."""


class Claim:
    """A page that is being crawled. Confirm it when its content came out; withdraw it when that failed. Thread-safe."""

    token = b""
    """In a fleet: by what all know it."""
    place: tuple[int, int] | None = None
    """Where it stands in the order of a fleet; None as long as it has no place there."""
    brief = False
    """Whether it is settled without waiting for a page's content."""

    def __init__(self, claims: Claims, stored: StoredPage, *, previous: StoredPage | None = None, settled: bool = False) -> None:
        self._claims = claims
        self.stored = stored
        # The confirmed page of the same URL that is not yet written: a withdrawal brings it back.
        self.previous = previous
        self.settled = settled
        self.kept = False
        """Whether it was confirmed."""
        self.waiting: list[Callable[[], object]] = []
        self.text: bytes | None = None
        # Of a crawl's claim: what the lasting store knew under the URL.
        self.known: StoredPage | None = None

    def confirm(self, callback: str = "") -> None:
        """Let the page be written by the next group commit. Never blocks on I/O; no effect once settled.

        `callback`: what took no items from it, where none came out.
        """
        self._claims.settle(self, confirmed=True, callback=callback)

    def withdraw(self) -> None:
        """Forget that the page was seen. Never blocks on I/O; no effect once settled."""
        self._claims.settle(self, confirmed=False)

    def when_settled(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the claim is confirmed or withdrawn, in that thread; at once where it already is."""
        if not self._claims.await_claim(self, callback):
            callback()

    def wake(self) -> None:
        """Call those who wait for the claim, which is settled: without any lock, for they may ask the store again."""
        for callback in self.waiting:
            callback()


class Admission(NamedTuple):
    """A verdict; the claim to settle where the page was claimed; the claim that the verdict depends on, where one is open.

    `mistaken`: URLs of pages that were dropped before and are no copies, as this page shows: ask for them again. `may_be_mistaken`: whether
    a later page may show that of this one. See `simcrawl.store.dropped`.
    """

    verdict: Verdict
    claim: Claim | None = None
    waits_for: Claim | None = None
    mistaken: tuple[str, ...] = ()
    may_be_mistaken: bool = False


class Others(Protocol):
    """Who is told of what happens in one process: the others of a fleet. Never blocks on I/O."""

    def settled(self, claim: Claim, *, confirmed: bool, callback: str) -> None:
        """Tell that a claim was settled."""

    def page(self, stored: StoredPage) -> None:
        """Tell of a page that was seen again."""

    def line(self, line: Duplicate) -> None:
        """Tell of a line of the register."""

    def text(self, url: str, packed: bytes) -> None:
        """Tell of a packed text."""

    def visit(self, key: bytes, value: bytes) -> None:
        """Tell of a visit."""


class Claims:
    """The claims of one store, and all that waits for its next group commit. Thread-safe."""

    def __init__(self, packer: Packer, *, searches_bare: bool) -> None:
        self.lock = Lock()
        self.pages = PageIndex(packer, searches_bare=searches_bare)
        self.texts = TextsWaiting()
        self.visits_lost = False
        """Whether visits found no space, so that some are missing."""
        self.came_out: Callable[[Claim, StoredPage], object] | None = None
        """Of a crawl's own store: told of each confirmed claim and its page, which another store is to record. Called without the lock."""
        self.others: Others | None = None
        self._claims: dict[str, Claim] = {}
        self._register: dict[str, Duplicate | None] = {}
        self._visits: dict[bytes, bytes] = {}

    def __len__(self) -> int:
        """Return how many pages are claimed or wait to be written."""
        return len(self.pages)

    @property
    def falls_behind(self) -> bool:
        """Whether so much waits that it should be written before more comes."""
        return len(self.pages) >= _MOST_UNWRITTEN // 2

    # ---- the life of a claim

    def claim(self, page: PageFingerprint | Abstention, known: StoredPage | None, now: float, *, unique: bool) -> Claim:
        """Return a claim on a page, `known` being what was known under its URL.

        Raises:
            StoreFullError: too many pages wait to be written.
        """
        with self.lock:
            if len(self.pages) >= _MOST_UNWRITTEN:
                raise StoreFullError(
                    f"{len(self.pages)} pages wait to be written: free space on the store's disk, the crawl goes on meanwhile"
                )
            bare = replace(page, text=None, content=None, hints=None, places=b"")
            stored = StoredPage(bare, known.first_seen if known else now, now, confirmed=False, unique=unique and not known)
            claim = self._claims[page.url] = Claim(self, stored, previous=self.pages.page(page.url))
            self.pages.add(stored)
        return claim

    def open_claim(self, stored: StoredPage) -> Claim:
        """Return the claim on a page; where that is settled by now, one that says so at once and makes the caller ask again."""
        with self.lock:
            return self._claims.get(stored.page.url) or Claim(self, stored, settled=True)

    def await_claim(self, claim: Claim, callback: Callable[[], object]) -> bool:
        """Let `callback` be called when a claim is settled; return False where it is."""
        with self.lock:
            if not claim.settled:
                claim.waiting.append(callback)
            return not claim.settled

    def settle(self, claim: Claim, *, confirmed: bool, callback: str = "") -> None:
        """Confirm or withdraw a claim, and wake who waits for it; no effect once settled."""
        if self.settle_quietly(claim, confirmed=confirmed, callback=callback, others=self.others):
            claim.wake()

    def settle_quietly(self, claim: Claim, *, confirmed: bool, callback: str = "", others: Others | None = None) -> bool:
        """Confirm or withdraw a claim, and tell nobody but these; return whether it was open."""
        url, kept = claim.stored.page.url, replace(claim.stored, confirmed=True, callback=callback)
        with self.lock:
            if claim.settled:
                return False
            claim.settled, claim.kept = True, confirmed
            if others:
                # Before anybody can write it.
                others.settled(claim, confirmed=confirmed, callback=callback)
            current = self._claims.get(url)
            if current is claim:
                del self._claims[url]
                self._replace(claim, kept if confirmed else claim.previous)
            elif confirmed and current:
                # In a fleet a later claim on the URL may be open: where its page does not come out, this one stands.
                current.previous = kept
            elif confirmed:
                self.pages.add(kept)
            if confirmed and not self.came_out:
                self._record(kept, claim.text)
        if confirmed and self.came_out:
            self.came_out(claim, kept)
        return True

    def _replace(self, claim: Claim, stored: StoredPage | None) -> None:
        """Put what follows in the place of a claimed page."""
        if stored is None:
            self.pages.remove(claim.stored.page.url)
        elif stored is claim.previous:
            self.pages.add(stored)
        else:
            self.pages.replace(stored)

    def adopt(self, stored: StoredPage, token: bytes, place: tuple[int, int]) -> tuple[Claim, Claim | None]:
        """Take over a claim of another process; return it, and the one whose place it takes, which is settled: wake it.

        Under one URL the earlier claim stands: one that has no place yet in the order of the fleet comes later. The claim of a URL that is
        claimed earlier is kept apart until it is settled.
        """
        claim, url = Claim(self, stored), stored.page.url
        claim.token, claim.place = token, place
        with self.lock:
            current = self._claims.get(url)
            if current and current.place is not None:
                return claim, None
            if current:
                current.settled = True
            claim.previous = current.previous if current else self.pages.page(url)
            self._claims[url] = claim
            self.pages.add(stored)
        return claim, current

    def record(self, stored: StoredPage, known: StoredPage | None, text: bytes | None) -> None:
        """Record a page that came out in another process; `known` stood for it so far in the lasting store."""
        claim = Claim(self, stored)
        claim.known, claim.text = known, text
        self.settle_quietly(claim, confirmed=True, callback=stored.callback)

    def _record(self, stored: StoredPage, text: bytes | None) -> None:
        if text:
            self.texts.add(stored.page.url, text)
        if stored.unique:
            # It is nobody's copy any more.
            self._register[stored.page.url] = None

    def keep(self, stored: StoredPage, known: StoredPage | None, text: bytes | None) -> None:
        """Let a page be written that a crawl has kept by its own claims; `known` stood for it so far."""
        url = stored.page.url
        fresh = replace(stored, first_seen=known.first_seen) if known else stored
        same = known is not None and same_content(known.page, stored.page) and known.serves(stored.callback)
        with self.lock:
            self._record(fresh, text)
            if same and known and stored.last_seen - known.last_seen <= _TOUCH_SECONDS:
                return
            if claim := self._claims.get(url):
                # Of a crawl that decides by this store itself: where that page does not come out, this one stands.
                claim.previous = fresh
            elif len(self.pages) < _MOST_UNWRITTEN:
                self.pages.add(fresh)

    def touch(self, known: StoredPage, now: float) -> None:
        """Let the time be written at which a page was seen again."""
        if known.confirmed and now - known.last_seen > _TOUCH_SECONDS:
            seen = replace(known, last_seen=now)
            if self.others:
                self.others.page(seen)
            with self.lock:
                self.pages.add(seen)

    def forget(self, url: str) -> tuple[bool, Claim | None]:
        """Forget all that waits under a URL; return whether a page or a line waited, and the claim on it, which is settled: wake it."""
        with self.lock:
            known = self.pages.remove(url) is not None
            known = self._register.pop(url, None) is not None or known
            self.texts.remove(url)
            if claim := self._claims.pop(url, None):
                claim.settled = True
        return known, claim

    # ---- what waits beside pages

    def page(self, url: str) -> StoredPage | None:
        """Return the page under a URL."""
        with self.lock:
            return self.pages.page(url)

    def note(self, line: Duplicate, *, told: bool = True) -> None:
        """Let a line of the register be written, and the others know."""
        if told and self.others:
            self.others.line(line)
        with self.lock:
            # While nothing can be written the crawl goes on; its log still names every drop.
            if len(self._register) < _MOST_UNWRITTEN:
                self._register[line.url] = line

    def line(self, url: str) -> object:
        """Return the line of a URL, None where it is to be struck out, `NOT_WAITING` where nothing waits."""
        with self.lock:
            return self._register.get(url, NOT_WAITING)

    def keep_text(self, url: str, packed: bytes, *, told: bool = True) -> None:
        """Let a packed text be written, and the others know."""
        if told and self.others:
            self.others.text(url, packed)
        with self.lock:
            self.texts.add(url, packed)

    def visit(self, key: bytes, value: bytes, *, told: bool = True) -> None:
        """Let a visit be written, and the others know."""
        if told and self.others:
            self.others.visit(key, value)
        with self.lock:
            if len(self._visits) < _MOST_UNWRITTEN:
                self._visits[key] = value
            else:
                self.visits_lost = True

    def visited(self, key: bytes) -> bytes | None:
        """Return what was noted under the key of a visit."""
        with self.lock:
            return self._visits.get(key)

    def near_or_insert(self, fingerprint: int, distance: int, near: dict[int, int], most: int) -> bool:
        """Add to `near` what lies within the radius here; where all of it is empty insert the fingerprint, unless `most` wait.

        Returns whether it was inserted.
        """
        with self.lock:
            if fresh := self.pages.near(fingerprint, distance):
                near |= fresh
            return not near and self.pages.add_bare(fingerprint, most)

    # ---- group commits

    def take(self) -> tuple[Batch, dict[str, bytes]]:
        """Return what waits, and packed texts by URL. It goes on waiting until `written` and `texts_written`."""
        with self.lock:
            pages = [claim.previous for claim in self._claims.values() if claim.previous]
            pages += [stored for stored in self.pages if stored.confirmed]
            return Batch(pages, self.pages.take_bare(), dict(self._register), dict(self._visits)), self.texts.take()

    def written(self, batch: Batch) -> None:
        """Forget what was written, unless it has changed meanwhile."""
        with self.lock:
            for stored in batch.pages:
                if self.pages.page(stored.page.url) is stored:
                    self.pages.remove(stored.page.url)
            self.pages.drop_taken()
            for url, line in batch.register.items():
                if self._register.get(url, NOT_WAITING) is line:
                    del self._register[url]
            for key, value in batch.visits.items():
                if self._visits.get(key) is value:
                    del self._visits[key]

    def texts_written(self, texts: Mapping[str, bytes], *, refused: int) -> None:
        """Forget texts that were written, or found no space."""
        with self.lock:
            self.texts.written(texts, refused=refused)


@dataclass(frozen=True, slots=True)
class Overlay:
    """Claimed and confirmed pages laid over committed ones: a `View`."""

    pages: PageIndex
    lock: Lock
    committed: Reader

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""
        with self.lock:
            fresh = self.pages.page(url)
        return fresh or self.committed.page(url)

    def with_body(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this body digest."""
        with self.lock:
            fresh = self.pages.with_body(digest)
        return chain(fresh, self._not_overlaid(self.committed.with_body(digest)))

    def with_text(self, digest: bytes) -> Iterator[StoredPage]:
        """Yield the pages with this digest of the whole visible text."""
        with self.lock:
            fresh = self.pages.with_text(digest)
        return chain(fresh, self._not_overlaid(self.committed.with_text(digest)))

    def with_fingerprint(self, fingerprint: int) -> Iterator[StoredPage]:
        """Yield the pages that have exactly this fingerprint."""
        with self.lock:
            fresh = self.pages.with_fingerprint(fingerprint)
        # In the order in which they came, whatever of them is written by now: a rule looks at so many candidates only.
        return chain(self._not_overlaid(self.committed.with_fingerprint(fingerprint)), fresh)

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""
        with self.lock:
            fresh = self.pages.is_bare(fingerprint)
        return fresh or self.committed.is_bare(fingerprint)

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        """Return whether a user said that two pages are no copies of each other."""
        return self.committed.holds_apart(pairs_of(page, other))

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all within the radius."""
        with self.lock:
            fresh = self.pages.near(fingerprint, distance)
        return self.committed.near(fingerprint, distance) | fresh

    def within(self, fingerprint: int, distance: int) -> Iterator[tuple[int, Candidate]]:
        """Yield (distance, candidate) of every page within the radius, nearest first."""
        near = self.near(fingerprint, distance)
        for other in nearest_first(near):
            # In the order of `with_fingerprint`, and before anything committed meanwhile is no longer here.
            with self.lock:
                fresh = self.pages.with_fingerprint(other)
            for candidate in self.committed.candidates(other):
                yield near[other], _Beneath(candidate, self.pages)
            for stored in fresh:
                yield near[other], stored

    def earlier(self, url: str) -> StoredPage | None:  # noqa: ARG002 - as every view
        """Return nothing: only crawls know of earlier ones."""
        return None

    def _not_overlaid(self, pages: Iterable[StoredPage]) -> Iterator[StoredPage]:
        return (stored for stored in pages if stored.page.url not in self.pages)


@dataclass(frozen=True, slots=True)
class _Beneath:
    """A committed candidate, which is none where a page lies over it."""

    candidate: Candidate
    over: PageIndex

    def sketches(self) -> tuple[bytes, bytes]:
        return self.candidate.sketches()

    def stored(self) -> StoredPage | None:
        stored = self.candidate.stored()
        return None if stored is None or stored.page.url in self.over else stored


def nearest_first(near: Mapping[int, int]) -> list[int]:
    """Return the fingerprints of {fingerprint: distance}, the nearest first and those at one distance by their numbers."""
    # Sorted twice: a key that is a pair takes more than twice as long, and there may be thousands.
    return sorted(sorted(near), key=near.__getitem__)


def same_content(known: PageFingerprint | Abstention, page: PageFingerprint | Abstention) -> bool:
    """Return whether two pages of one URL hold the same, byte for byte, and are of one kind."""
    return known.body_digest == page.body_digest and type(known) is type(page)
