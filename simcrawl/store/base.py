"""What every store promises, and the part of it that does not depend on where the bytes are.

Life of a page: a decision *claims* it (in memory, visible to every later decision), its callback's end *confirms* the claim,
a group commit writes it. A claim that is withdrawn leaves nothing behind. So a page can be dropped only in favour of one that
was claimed, and is written only once its own content came out.

Locks, always taken in this order: `_committing` (one group commit at a time, held during I/O), `_deciding` (one decision at a
time, held during look-ups), `_lock` (the index of claims, never held during I/O: `Claim.confirm` is called on event loops).
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import chain
from operator import attrgetter, itemgetter
from threading import Lock
from time import monotonic, time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, cast

from simcrawl.bits import words
from simcrawl.errors import SettingError, StoreError, StoreFullError, StoreMismatchError
from simcrawl.index.packed import Packer
from simcrawl.index.permutations import DEFAULT as DEFAULT_DESIGN, design as design_by_name
from simcrawl.page.fingerprint import Abstention, PageFingerprint, page_key
from simcrawl.page.recipes import Recipe, resolve
from simcrawl.rule import Kind, Match, Rule, StoredPage, Verdict, View
from simcrawl.store.clusters import Representatives
from simcrawl.store.index import PageIndex
from simcrawl.store.rejections import Rejection, content_of, pairs_of, url_key
from simcrawl.store.texts import TextsWaiting, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.index.permutations import Design
    from simcrawl.page.hints import Canonical
    from simcrawl.store.crawls import Crawl
    from simcrawl.store.visits import Visits

# Pages that a full disk keeps from being written stay in memory, up to here; then further pages pass unrecorded.
_MOST_UNWRITTEN = 20_000
# A revisit changes nothing but the time of the last visit: within this many seconds it is not worth a write.
_TOUCH_SECONDS = 3_600
# Fingerprints without pages are written at the latest when so many wait: 200 bytes of memory each. Those that cannot be written stay, up
# to four times as many; then further ones are answered and not inserted.
_MOST_BARE = 1 << 16
_MOST_BARE_UNWRITTEN = 4 * _MOST_BARE
# A commit that fails costs as much as one that does not, and may be large: the next is not tried at once.
_RETRY_SECONDS = 5.0
_MISSING = object()
NOTHING: Mapping[bytes, bytes] = MappingProxyType({})
"""No visits."""
MOST_CRAWLS = 20
"""How many records of crawls a store keeps."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a store was made with. `recipe` is None until the first page or detector binds it."""

    bits: int = 64
    design: str = DEFAULT_DESIGN
    seed: int = 0
    recipe: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot work, before anything is written."""
        design_by_name(self.design, self.bits)
        if not 0 <= self.seed < 1 << 64:
            raise SettingError(f"seed must be from 0 to 2**64 - 1, got {self.seed}")

    @property
    def design_of_tables(self) -> Design:
        """The design that the name means."""
        return design_by_name(self.design, self.bits)

    @classmethod
    def new(cls, *, bits: int | None, design: str | None, seed: int | str | None) -> Header:
        """Return the header of a store that is yet to be made; None for a default, seed "random" for one of its own."""
        if isinstance(seed, str):
            if seed != "random":
                raise SettingError(f"seed must be a number or 'random', got {seed!r}")
            seed = secrets.randbits(64)
        return cls(bits=64 if bits is None else bits, design=DEFAULT_DESIGN if design is None else design, seed=seed or 0)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """One line of the register: `url` was a copy of `original`, and what was done about it.

    `content`: digest of what the page held, in hexadecimal. `rejected`: a user took the verdict back. `rule`: of a page that was not
    fetched (its kind is `PREDICTED`), what spoke for it, in words. `canonical`: as a verdict has it.
    """

    url: str
    original: str
    kind: str
    distance: int | None
    similarity: float | None
    reason: str | None
    dropped_page: bool
    dropped_outlinks: bool
    when: float
    content: str = ""
    rejected: bool = False
    rule: str = ""
    canonical: Canonical = ""


PREDICTED = "predicted"
"""Kind and reason of a line of the register whose page was not fetched."""


class Reader(Protocol):
    """A consistent view of committed pages: what a `View` needs, fingerprints and pages apart."""

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""

    def with_body(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this body digest."""

    def with_text(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this digest of the whole visible text."""

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all fingerprints within the radius, with pages or without."""

    def with_fingerprint(self, fingerprint: int) -> Iterable[StoredPage]:
        """Return the pages that have exactly this fingerprint."""

    def is_bare(self, fingerprint: int) -> bool:
        """Return whether a fingerprint was stored without a page."""

    def holds_apart(self, pairs: Iterable[bytes]) -> bool:
        """Return whether one of these pairs of names is among the rejections: see `simcrawl.store.rejections`."""


class Claim:
    """A page that is being crawled. Confirm it when its content came out; withdraw it when that failed. Thread-safe."""

    def __init__(self, store: BaseStore, stored: StoredPage, *, previous: StoredPage | None = None, settled: bool = False) -> None:
        self._store = store
        self.stored = stored
        # The confirmed page of the same URL that is not yet written: a withdrawal brings it back.
        self.previous = previous
        self.settled = settled
        self.waiting: list[Callable[[], object]] = []
        self.text: bytes | None = None
        # Of a crawl's claim: what the lasting store knew under the URL.
        self.known: StoredPage | None = None

    def confirm(self, callback: str = "") -> None:
        """Let the page be written by the next group commit. Never blocks on I/O; no effect once settled.

        `callback`: what took no items from it, where none came out.
        """
        self._store._settle(self, confirmed=True, callback=callback)  # noqa: SLF001 - a claim is the store's own other half

    def withdraw(self) -> None:
        """Forget that the page was seen. Never blocks on I/O; no effect once settled."""
        self._store._settle(self, confirmed=False)  # noqa: SLF001 - as above

    def when_settled(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the claim is confirmed or withdrawn, in that thread; at once where it already is."""
        if not self._store._await_claim(self, callback):  # noqa: SLF001 - as above
            callback()


class Admission(NamedTuple):
    """A verdict; the claim to settle where the page was claimed; the claim that the verdict depends on, where one is open."""

    verdict: Verdict
    claim: Claim | None = None
    waits_for: Claim | None = None


@dataclass(frozen=True, slots=True)
class _Overlay:
    """Claimed and confirmed pages laid over committed ones: the view that a decision sees."""

    index: PageIndex
    lock: Lock
    committed: Reader

    def page(self, url: str) -> StoredPage | None:
        with self.lock:
            fresh = self.index.page(url)
        return fresh or self.committed.page(url)

    def with_body(self, digest: bytes) -> Iterator[StoredPage]:
        with self.lock:
            fresh = self.index.with_body(digest)
        return chain(fresh, self._not_overlaid(self.committed.with_body(digest)))

    def with_text(self, digest: bytes) -> Iterator[StoredPage]:
        with self.lock:
            fresh = self.index.with_text(digest)
        return chain(fresh, self._not_overlaid(self.committed.with_text(digest)))

    def with_fingerprint(self, fingerprint: int) -> Iterator[StoredPage]:
        with self.lock:
            fresh = self.index.with_fingerprint(fingerprint)
        # In the order in which they came, whatever of them is written by now: a rule looks at so many candidates only.
        return chain(self._not_overlaid(self.committed.with_fingerprint(fingerprint)), fresh)

    def is_bare(self, fingerprint: int) -> bool:
        with self.lock:
            fresh = self.index.is_bare(fingerprint)
        return fresh or self.committed.is_bare(fingerprint)

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        return self.committed.holds_apart(pairs_of(page, other))

    def near(self, fingerprint: int, distance: int) -> dict[int, int]:
        with self.lock:
            fresh = self.index.near(fingerprint, distance)
        return self.committed.near(fingerprint, distance) | fresh

    def within(self, fingerprint: int, distance: int) -> Iterator[tuple[int, StoredPage]]:
        for other, apart in sorted(self.near(fingerprint, distance).items(), key=lambda found: (found[1], found[0])):
            for stored in self.with_fingerprint(other):
                yield apart, stored

    def earlier(self, url: str) -> StoredPage | None:  # noqa: ARG002 - as every view
        return None

    def _not_overlaid(self, pages: Iterable[StoredPage]) -> Iterator[StoredPage]:
        return (stored for stored in pages if stored.page.url not in self.index)


@dataclass(slots=True)
class _InCrawl:
    """What a decision of a crawl sees: the crawl's own pages, those that were loaded, and of the lasting store what a user said.

    Nothing else of the lasting store: a page that only an earlier crawl had is no original.
    """

    own: _Overlay
    loaded: _Overlay | None
    lasting: BaseStore
    _earlier: dict[str, StoredPage | None] = field(default_factory=dict)

    def page(self, url: str) -> StoredPage | None:
        return self.own.page(url)

    def with_body(self, digest: bytes) -> Iterable[StoredPage]:
        own = self.own.with_body(digest)
        return chain(own, self.loaded.with_body(digest)) if self.loaded else own

    def with_text(self, digest: bytes) -> Iterable[StoredPage]:
        own = self.own.with_text(digest)
        return chain(own, self.loaded.with_text(digest)) if self.loaded else own

    def within(self, fingerprint: int, distance: int) -> Iterable[tuple[int, StoredPage]]:
        own = self.own.within(fingerprint, distance)
        return merge(own, self.loaded.within(fingerprint, distance), key=itemgetter(0)) if self.loaded else own

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        return self.lasting.is_rejected(page, other)

    def earlier(self, url: str) -> StoredPage | None:
        # The rule asks, and then the claim.
        if url not in self._earlier:
            self._earlier[url] = self.lasting.known(url)
        return self._earlier[url]


class BaseStore(ABC):
    """Claims, group commits and queries over committed pages that a subclass keeps.

    Guarantees: every stored fingerprint within the radius of a query is found and none beyond it; admission is atomic among
    the threads of a process; what `sync` returned for is on disk (where the store has one).
    """

    _searches_bare = True
    """Whether the claims' index finds fingerprints without pages that are not yet written: otherwise `_near` does."""

    def __init__(self, header: Header, *, sync_seconds: float = 1.0) -> None:
        self.header = header
        self.design = header.design_of_tables
        self.sync_seconds = sync_seconds
        self.late_duplicates = 0
        self._packer = Packer(self.design)
        self._index = PageIndex(self._packer, searches_bare=self._searches_bare)
        self._beyond = 1 << header.bits
        self._recipe: Recipe | None = None
        # The last decision's: what is found late is decided by it, too.
        self._rule: Rule | None = None
        self._claims: dict[str, Claim] = {}
        self._register: dict[str, Duplicate | None] = {}
        self._texts = TextsWaiting()
        # Of a crawl's store: the lasting one that all its pages are recorded in, and the pages that were loaded into that.
        self._lasting: BaseStore | None = None
        self._loaded: BaseStore | None = None
        self._visits: dict[bytes, bytes] = {}
        self.visits_lost = False
        """Whether visits found no space, so that some are missing."""
        self.joined: list[Crawl] = []
        """The crawls that were joined by way of this object and not yet left."""
        self._committing, self._deciding, self._lock = Lock(), Lock(), Lock()
        self._last_commit = monotonic()
        self._retry_at = 0.0

    # ---- what a subclass provides

    @abstractmethod
    def _reader(self) -> AbstractContextManager[Reader]:
        """Return a consistent view of the committed pages."""

    @abstractmethod
    def _near(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all committed fingerprints within the radius, and of those held: see `_hold`."""

    @abstractmethod
    def _hold(self, fingerprint: int) -> None:
        """Let `_near` find a fingerprint without a page that is yet to be written, unless the claims' index finds it."""

    @abstractmethod
    def _write(
        self,
        pages: Sequence[StoredPage],
        bare: Sequence[int],
        register: Mapping[str, Duplicate | None],
        visits: Mapping[bytes, bytes] = NOTHING,
    ) -> None:
        """Commit atomically, and durably where there is a disk. `register`: the line of a URL, None to strike it out."""

    @abstractmethod
    def _erase(self, url: str) -> bool:
        """Remove a committed page and the line of its URL in the register; return whether there was either."""

    @abstractmethod
    def _expire(self, before: float, spared: Container[str]) -> Iterator[int]:
        """Remove committed pages that were last seen before a moment, but spare some URLs, and lines of the register: see `expiring`."""

    @abstractmethod
    def _load(self, fingerprints: NDArray[np.uint64]) -> None:
        """Insert fingerprints without pages, given as words: see `simcrawl.bits.words`."""

    @abstractmethod
    def _bind(self, recipe: str) -> None:
        """Remember the recipe for good."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Return the committed numbers: pages, fingerprints, duplicates, bytes."""

    @abstractmethod
    def size(self) -> dict[str, int]:
        """Return the committed pages and bytes: the part of `counts` that costs nothing."""

    @abstractmethod
    def duplicates(self, *, latest: int | None = None) -> Iterator[Duplicate]:
        """Yield the committed register of duplicates, the latest line of each URL. `latest`: only so many, the latest of all."""

    @abstractmethod
    def _duplicate(self, url: str) -> Duplicate | None:
        """Return the committed line of the register for a URL."""

    @abstractmethod
    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back."""

    @abstractmethod
    def _write_rejection(self, rejection: Rejection, marked: Sequence[Duplicate]) -> None:
        """Commit a rejection, durably where there is a disk, and the lines of the register that it marks."""

    @abstractmethod
    def _erase_rejection(self, rejection: Rejection, unmarked: Sequence[Duplicate]) -> None:
        """Remove a rejection that was read, durably where there is a disk, and write the lines of the register that it had marked."""

    @abstractmethod
    def pages(self, *, latest: int | None = None) -> Iterator[StoredPage]:
        """Yield the committed pages. `latest`: only so many, those last seen last."""

    @abstractmethod
    def fingerprint_chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct committed fingerprint once, as words of shape (up to about `size`, words): see `simcrawl.bits.words`.

        All are of one moment, in no order; memory is that of two chunks. Take them in one go: a long read of a store on disk keeps
        the file from reusing space.

        Raises:
            StoreError: the store cannot be read.
        """

    @abstractmethod
    def _write_texts(self, texts: Mapping[str, bytes], most: int) -> int:
        """Write packed texts of pages and lines that are written, `most` bytes in all; return how many found no space."""

    @abstractmethod
    def _text(self, url: str) -> bytes | None:
        """Return the packed text of a URL."""

    @abstractmethod
    def note_crawl(self, record: Mapping[str, Any]) -> None:
        """Record what became of a crawl, durably, as a JSON object; of the records the last `MOST_CRAWLS` are kept.

        Raises:
            StoreError: the store cannot be written.
        """

    @abstractmethod
    def crawls(self) -> list[dict[str, Any]]:
        """Return the records of crawls, the latest last."""

    @abstractmethod
    def verify(self) -> list[str]:
        """Return what is wrong with the committed pages: one line a problem, none where all is well. Reads everything."""

    def close(self) -> None:
        """Leave the crawls that were joined, commit what is confirmed, and release the store.

        Open claims are lost, which is what a crash would do to them.
        """
        self.leave_crawls()
        self.sync()

    def leave_crawls(self) -> None:
        """Leave the crawls that were joined by way of this object."""
        while self.joined:
            self.joined[-1].leave()

    # ---- recipe

    def bind(self, recipe: Recipe | str) -> None:
        """Bind a new store to a recipe, or check that it is bound to this one.

        Raises:
            StoreMismatchError: the store was made with another recipe or another width.
        """
        chosen = resolve(recipe)
        if chosen.bits != self.header.bits:
            raise StoreMismatchError(
                f"recipe {chosen.identity} makes {chosen.bits}-bit fingerprints, the store holds {self.header.bits}-bit ones: "
                "use another recipe or a new store"
            )
        self._bind_identity(chosen.identity)
        self._recipe = chosen

    def _bind_identity(self, identity: str) -> None:
        if self.header.recipe is None:
            self._bind(identity)
            self.header = replace(self.header, recipe=identity)
        elif self.header.recipe != identity:
            raise StoreMismatchError(
                f"the store was made with recipe {self.header.recipe}, not {identity}: use that recipe "
                "(SIMCRAWL_RECIPE) or another store (SIMCRAWL_STORE)"
            )

    def _check(self, page: PageFingerprint | Abstention) -> None:
        if isinstance(page, PageFingerprint) and page.bits != self.header.bits:
            raise StoreMismatchError(
                f"the page has a {page.bits}-bit fingerprint, the store holds {self.header.bits}-bit ones: "
                "use a recipe of that width or another store"
            )
        self._bind_identity(page.recipe)
        if page.seed != self.header.seed:
            raise StoreMismatchError(
                f"the page was fingerprinted with seed {page.seed}, the store has seed {self.header.seed}: make it with "
                "detector.page(html, url=...), or pass seed= to fingerprint_page"
            )

    def _check_fingerprint(self, fingerprint: int) -> int:
        if not 0 <= fingerprint < self._beyond:
            raise ValueError(f"{fingerprint} is no {self.header.bits}-bit fingerprint, which is what the store holds")
        return fingerprint

    # ---- admission

    def admit(self, page: PageFingerprint | Abstention, rule: Rule | None = None) -> Verdict:
        """Decide about a page and, unless it is a copy, insert it: one atomic step. The page counts as confirmed.

        `rule`: by default the one of the recipe that the store is bound to.

        Raises:
            StoreMismatchError: the page was made with another recipe or seed.
            StoreError: the store cannot be read or written.
        """
        self._check(page)
        with self._decisions_view() as view:
            admission = self._decide(page, rule, view)
            # Within the decision: to the next one the page is not a claim that could yet be withdrawn.
            if admission.claim:
                admission.claim.confirm()
        self.commit_if_due()
        return admission.verdict

    def claim(
        self, page: PageFingerprint | Abstention, rule: Rule | None = None, *, never_drop: bool = False, callback: str = ""
    ) -> Admission:
        """Decide about a page and, unless it is a copy, claim it: one atomic step.

        Where the page would be dropped in favour of one that is itself still claimed, nothing is recorded: wait for `waits_for` to settle
        and ask again.

        Raises:
            StoreMismatchError: the page was made with another recipe or seed.
            StoreFullError: too many confirmed pages could not be written.
            StoreError: the store cannot be read.
        """
        self._check(page)
        self.write_ahead()
        with self._decisions_view() as view:
            admission = self._decide(page, rule, view, never_drop=never_drop, callback=callback)
        self._keep_text(page, admission)
        return admission

    @property
    def falls_behind(self) -> bool:
        """Whether so many pages wait to be written that a claim would try to write them first."""
        return len(self._index) >= _MOST_UNWRITTEN // 2

    def write_ahead(self) -> None:
        """Try to write, where so much waits to be written that it would outgrow the memory."""
        # Commits are somebody else's business, but what waits for them must not outgrow the memory.
        if self.falls_behind:
            with suppress(StoreError):
                self.try_sync()

    def _decide(
        self, page: PageFingerprint | Abstention, rule: Rule | None, view: View, *, never_drop: bool = False, callback: str = ""
    ) -> Admission:
        self._rule = rule or self._default_rule()
        decision = self._rule.decide(page, view, now=time(), never_drop=never_drop, callback=callback)
        # A page of which nothing is dropped has nothing to wait for.
        drops = decision.verdict.drop_page or decision.verdict.drop_outlinks
        if drops and decision.original and not decision.original.confirmed:
            return Admission(decision.verdict, waits_for=self._open_claim(decision.original))
        if decision.original:
            self.note(_line(page, decision.verdict))
        unique = decision.original is None
        return Admission(decision.verdict, self._claim(page, view, unique=unique, callback=callback) if decision.record else None)

    def _default_rule(self) -> Rule:
        return Rule.of(self._recipe or resolve((self.header.recipe or "auto").partition("/")[0]))

    def _open_claim(self, stored: StoredPage) -> Claim:
        # Settled between the look-up and now: a claim that reports so at once makes the caller ask again.
        with self._lock:
            return self._claims.get(stored.page.url) or Claim(self, stored, settled=True)

    def _late_line(self, stored: StoredPage, committed: Reader) -> Duplicate | None:
        """Return the register's line for a page that was admitted as unique, if by now it is a copy of a committed one.

        Both are kept. Whoever asks holds `_deciding`.
        """
        if not stored.unique or self._rule is None:
            return None
        view: View = _Overlay(PageIndex(self._packer, searches_bare=False), Lock(), committed)
        if self._lasting:
            view = _InCrawl(cast("_Overlay", view), None, self._lasting)
        decision = self._rule.decide(stored.page, view, now=time(), never_drop=True, callback=stored.callback)
        return replace(_line(stored.page, decision.verdict), dropped_outlinks=False) if decision.original else None

    def note(self, line: Duplicate) -> None:
        """Put a line into the register, to be written by the next group commit. Never blocks on I/O."""
        if self._lasting:
            self._lasting.note(line)
            return
        with self._lock:
            # While nothing can be written the crawl goes on; its log still names every drop.
            if len(self._register) < _MOST_UNWRITTEN:
                self._register[line.url] = line

    def _claim(self, page: PageFingerprint | Abstention, view: View, *, unique: bool, callback: str) -> Claim | None:
        known, now = view.page(page.url), time()
        if known and (not known.confirmed or (_same_content(known.page, page) and known.callback in ("", callback))):
            self._touch(known, now)
            return None
        # Now, for to confirm a claim must not wait for a look into a store; and first, for that may fail.
        earlier = view.earlier(page.url)
        with self._lock:
            if len(self._index) >= _MOST_UNWRITTEN:
                raise StoreFullError(
                    f"{len(self._index)} pages wait to be written: free space on the store's disk, the crawl goes on meanwhile"
                )
            first_seen = known.first_seen if known else now
            bare = replace(page, text=None, content=None, hints=None)
            stored = StoredPage(bare, first_seen, now, confirmed=False, unique=unique and not known)
            claim = self._claims[page.url] = Claim(self, stored, previous=self._index.page(page.url))
            claim.known = earlier
            self._index.add(stored)
        return claim

    def _touch(self, known: StoredPage, now: float) -> None:
        if known.confirmed and now - known.last_seen > _TOUCH_SECONDS:
            with self._lock:
                self._index.add(replace(known, last_seen=now))

    def _settle(self, claim: Claim, *, confirmed: bool, callback: str = "") -> None:
        url, kept = claim.stored.page.url, replace(claim.stored, confirmed=True, callback=callback)
        with self._lock:
            if claim.settled:
                return
            claim.settled = True
            del self._claims[url]
            if confirmed:
                self._index.replace(kept)
                if not self._lasting:
                    self._came_out(kept, claim.text)
            elif claim.previous:
                self._index.add(claim.previous)
            else:
                self._index.remove(url)
        if confirmed and self._lasting:
            self._lasting.keep(kept, claim.known, claim.text)
        for wake in claim.waiting:
            wake()

    def _came_out(self, stored: StoredPage, text: bytes | None) -> None:
        if text:
            self._texts.add(stored.page.url, text)
        if stored.unique:
            # It is nobody's copy any more.
            self._register[stored.page.url] = None

    def keep(self, stored: StoredPage, known: StoredPage | None, text: bytes | None) -> None:
        """Record a page that a crawl has kept, which `known` stood for so far. Never blocks on I/O."""
        url = stored.page.url
        fresh = replace(stored, first_seen=known.first_seen if known else stored.first_seen)
        same = known is not None and _same_content(known.page, stored.page) and known.callback in ("", stored.callback)
        with self._lock:
            self._came_out(fresh, text)
            if same and known and stored.last_seen - known.last_seen <= _TOUCH_SECONDS:
                return
            if claim := self._claims.get(url):
                # Of a crawl that decides by this store itself: where that page does not come out, this one stands.
                claim.previous = fresh
            elif len(self._index) < _MOST_UNWRITTEN:
                self._index.add(fresh)

    def _await_claim(self, claim: Claim, callback: Callable[[], object]) -> bool:
        with self._lock:
            if not claim.settled:
                claim.waiting.append(callback)
            return not claim.settled

    # ---- texts

    def keep_texts(self, most: int) -> None:
        """From now on keep the contents of pages that come with one, and of their near-duplicates, while they take less than `most` bytes.

        A store that is full of them keeps no more; `texts_refused` counts those.
        """
        self._texts.most = most

    @property
    def keeps_texts(self) -> bool:
        """Whether contents of pages are kept: see `keep_texts`."""
        return self._texts.most > 0

    @property
    def texts_refused(self) -> int:
        """How many texts found no space since the store was opened."""
        return self._texts.refused

    def text(self, url: str) -> str | None:
        """Return the committed content of a page or of a near-duplicate, a block a line; None where none was kept.

        At most 100,000 characters of it are kept.

        Raises:
            StoreError: the store cannot be read, or the text is damaged.
        """
        packed = self._text(page_key(url))
        return None if packed is None else unpack(packed)

    def _keep_text(self, page: PageFingerprint | Abstention, admission: Admission) -> None:
        if not page.content or admission.waits_for or not (self._lasting or self).keeps_texts:
            return
        if claim := admission.claim:
            # Only this one's: a page that is settled meanwhile goes without.
            claim.text = pack(page.content)
        elif admission.verdict.kind is Kind.NEAR_DUPLICATE:
            (self._lasting or self).keep_text(page.url, pack(page.content))

    def keep_text(self, url: str, packed: bytes) -> None:
        """Let a packed text be written by the next group commit. Never blocks on I/O."""
        with self._lock:
            self._texts.add(url, packed)

    def admit_fingerprint(self, fingerprint: int, max_distance: int = 3) -> Match | None:
        """Return the nearest stored fingerprint within the radius; insert where there is none. One atomic step.

        While nothing can be written fingerprints are inserted in memory, a quarter of a million of them; further ones are only answered.

        Raises:
            ValueError: the fingerprint is wider than the store's, or the radius is negative.
            StoreError: the store cannot be read, or a commit, which is tried every few seconds, failed.
        """
        self._check_fingerprint(fingerprint)
        if max_distance < 0:
            raise ValueError(f"max_distance must be 0 or more, got {max_distance}: what is not found is inserted, and it may be there")
        with self._deciding:
            near, index = self._near(fingerprint, max_distance), self._index
            with self._lock:
                if fresh := index.near(fingerprint, max_distance):
                    near |= fresh
                if not near and index.add_bare(fingerprint, _MOST_BARE_UNWRITTEN):
                    self._hold(fingerprint)
        if index.bare >= _MOST_BARE or monotonic() - self._last_commit >= self.sync_seconds:
            self.try_sync()
        return min((Match(other, apart) for other, apart in near.items()), key=_distance) if near else None

    def load_fingerprints(self, fingerprints: Iterable[int] | NDArray[np.uint64]) -> None:
        """Insert fingerprints without pages, in bulk; those already there have no effect. Durable when it returns.

        Raises:
            ValueError: a fingerprint is wider than the store's.
            StoreError: the store cannot be written.
        """
        bits = self.header.bits
        try:
            loaded = words(fingerprints, bits=bits)
        except OverflowError as exc:
            raise ValueError(f"a fingerprint does not fit into the {bits} bits of the store's") from exc
        if len(loaded) and bits % 64:
            self._check_fingerprint(int(loaded[:, -1].max()) << bits // 64 * 64)
        with self._committing, self._deciding:
            self._load(loaded)

    # ---- queries

    def query(self, page: PageFingerprint | int, max_distance: int | None = None) -> list[Match]:
        """Online query: every stored fingerprint within the radius, nearest first, one match a page. Exact.

        `max_distance`: by default the recipe's.

        Raises:
            ValueError: the fingerprint is wider than the store's.
            StoreError: the store cannot be read.
        """
        fingerprint = self._check_fingerprint(page if isinstance(page, int) else page.fingerprint)
        distance = self._default_rule().max_distance if max_distance is None else max_distance
        with self._view() as view:
            return [
                match
                for found in sorted(view.near(fingerprint, distance).items(), key=lambda item: (item[1], item[0]))
                for match in _matches(view, *found)
            ]

    def query_fingerprint(self, fingerprint: int, max_distance: int = 3) -> list[Match]:
        """Online query without looking at pages: every stored fingerprint within the radius, nearest first. Exact."""
        self._check_fingerprint(fingerprint)
        with self._deciding:
            near = self._near(fingerprint, max_distance)
            with self._lock:
                near |= self._index.near(fingerprint, max_distance)
        return sorted((Match(other, apart) for other, apart in near.items()), key=lambda match: (match.distance, match.fingerprint))

    def batch_query(self, pages: Iterable[PageFingerprint | int], max_distance: int | None = None) -> list[list[Match]]:
        """Answer `query` for many pages, in their order."""
        return [self.query(page, max_distance) for page in pages]

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""
        with self._view() as view:
            return view.page(page_key(url))

    def with_body(self, digest: bytes) -> StoredPage | None:
        """Return one confirmed page with this body digest."""
        with self._view() as view:
            return next((stored for stored in view.with_body(digest) if stored.confirmed), None)

    def duplicate(self, url: str) -> Duplicate | None:
        """Return what the register says of a URL; None where it was not recognised as a copy."""
        url = page_key(url)
        with self._lock:
            fresh = self._register.get(url, _MISSING)
        return self._duplicate(url) if fresh is _MISSING else cast("Duplicate | None", fresh)

    def cluster(self, url: str) -> str | None:
        """Return the URL that stands for the cluster of a page, its own where it is in none; None where nothing is known of it.

        See `simcrawl.store.clusters`. An original that was forgotten is known by its copies alone: ask for the cluster of one of these.

        Raises:
            StoreError: the store cannot be read.
        """
        url = page_key(url)
        if self.duplicate(url) is None and self.page(url) is None:
            return None
        return Representatives(self.duplicate).of(url)

    @contextmanager
    def _view(self) -> Iterator[_Overlay]:
        with self._deciding, self._reader() as reader:
            yield _Overlay(self._index, self._lock, reader)

    @contextmanager
    def _decisions_view(self) -> Iterator[_Overlay | _InCrawl]:
        with ExitStack() as stack:
            own = stack.enter_context(self._view())
            if self._lasting is None:
                yield own
            else:
                yield _InCrawl(own, stack.enter_context(self._loaded._view()) if self._loaded else None, self._lasting)  # noqa: SLF001 - a store, too

    # ---- crawls

    @abstractmethod
    def join(self, name: str | None = None, *, spider: str = "", resume: str | None = None, job: str | None = None) -> Crawl:
        """Return a crawl on this store: a new one, or, by its name, one that is under way. Leave it once.

        `spider`: whose pages are visited. `resume`: the `id` of a crawl that an interrupted run belonged to, which goes on where it still
        exists. `job`: a file that will hold the crawl's `id` as long as this run may be resumed, so that the crawl's pages wait for it.

        Raises:
            SettingError: the name is no name of a crawl.
            StoreError: the store cannot be read or written.
        """

    @abstractmethod
    def join_loaded(self) -> Crawl:
        """Return the crawl that never ends, whose pages are originals for every other one: those that were loaded into the store."""

    @abstractmethod
    def _spaces(self, *, crawls: bool = True) -> AbstractContextManager[Sequence[BaseStore]]:
        """Return the stores that hold pages of this one which can be originals: the loaded ones, and those of each crawl."""

    @abstractmethod
    def last_visits(self, spider: str) -> Visits | None:
        """Return what the last finished crawl of a spider saw; None where there was none, or it is damaged."""

    @abstractmethod
    def keep_visits(self, spider: str, visits: Iterable[tuple[bytes, bytes]]) -> None:
        """Let these, in the order of their keys, be what the last finished crawl of a spider saw, in one step.

        Raises:
            StoreError: the store cannot be written.
        """

    def belong_to(self, lasting: BaseStore) -> None:
        """Let decisions be those of a crawl on another store: see `simcrawl.store.crawls`."""
        self._lasting = lasting

    def see_loaded(self, loaded: Callable[[], BaseStore | None]) -> None:
        """Let the pages of a store be originals, too, which is opened for this one alone; no effect where it has one."""
        if self._loaded is None:
            self._loaded = loaded()

    def known(self, url: str) -> StoredPage | None:
        """Return the page known under the key of a URL; not of the same moment as other answers, and cheaper than `page`."""
        with self._lock:
            fresh = self._index.page(url)
        if fresh:
            return fresh
        with self._reader() as reader:
            return reader.page(url)

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        """Return whether a user said that two pages are no copies of each other."""
        with self._reader() as reader:
            return reader.holds_apart(pairs_of(page, other))

    def are_rejected(self, url: str, other: str) -> bool:
        """Return whether a user said that the pages of two URLs are no copies of each other.

        Raises:
            StoreError: the store cannot be read.
        """
        keys = [url_key(page_key(one), self.header.seed) for one in (url, other)]
        with self._reader() as reader:
            return reader.holds_apart([keys[0] + keys[1]])

    @abstractmethod
    def urls_of(self, keys: Collection[bytes]) -> list[str]:
        """Return the URLs of committed pages whose keys these are: see `simcrawl.store.rejections.url_key`."""

    def visit(self, key: bytes, value: bytes) -> None:
        """Note a visit, to be written by the next group commit. Never blocks on I/O."""
        with self._lock:
            if len(self._visits) < _MOST_UNWRITTEN:
                self._visits[key] = value
            else:
                self.visits_lost = True

    def visited(self, key: bytes) -> bytes | None:
        """Return what was noted under a key."""
        with self._lock:
            fresh = self._visits.get(key)
        return fresh or self._visited(key)

    @abstractmethod
    def _visited(self, key: bytes) -> bytes | None:
        """Return what was committed under a key of a visit."""

    @abstractmethod
    def visits(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the committed visits whose keys begin so, in the order of their keys."""

    # ---- verdicts taken back

    def reject(self, url: str, original: str | None = None) -> Rejection | None:
        """Remember, durably, that a page is no copy of another one: from now on neither is dropped in favour of the other.

        That holds for exact copies, near-duplicates and articles, in every process and in later crawls, and for copies of the two under
        other URLs where the store knows what they held. `original`: by default the page that the register names. The register's line
        is marked, whichever of the two it is of. Returns None where no original is given and the register has no line.

        Raises:
            ValueError: both are the same page.
            StoreError: the store cannot be read or written.
        """
        url = page_key(url)
        self.sync()
        with self._committing, self._deciding:
            line = self._duplicate(url)
            other = page_key(original) if original is not None else line.original if line else None
            if other is None:
                return None
            if other == url:
                raise ValueError(f"{url} is no copy of itself: give the page that it was taken for a copy of")
            rejection = Rejection(url, other, time(), self._content(url, line), self._content(other, self._duplicate(other)))
            self._write_rejection(rejection, self._marked(rejection, rejected=True))
        return rejection

    def _marked(self, rejection: Rejection, *, rejected: bool) -> list[Duplicate]:
        """Return the lines of the register that say what a rejection denies, with their mark set or taken away."""
        pair = {rejection.url, rejection.original}
        lines = [line for line in map(self._duplicate, sorted(pair)) if line is not None]
        return [replace(line, rejected=rejected) for line in lines if {line.url, line.original} == pair]

    def _content(self, url: str, line: Duplicate | None) -> str:
        with self._reader() as reader:
            stored = reader.page(url)
        return content_of(stored.page) if stored else line.content if line else ""

    def unreject(self, url: str, original: str | None = None) -> int:
        """Let a page be a copy again of another one, or of all that it was held apart from; return how many rejections that removes.

        The marks of the register's lines go with them.

        Raises:
            StoreError: the store cannot be read or written.
        """
        sides = {page_key(url)} if original is None else {page_key(url), page_key(original)}
        with self._committing, self._deciding:
            found = [one for one in self.rejections() if sides <= {one.url, one.original}]
            for rejection in found:
                self._erase_rejection(rejection, self._marked(rejection, rejected=False))
        return len(found)

    # ---- writing

    def forget(self, url: str) -> bool:
        """Remove a page, and the line of its URL in the register, durably, here and in every crawl; return whether there was either.

        What else the register says stands: pages that were dropped in favour of this one were dropped.

        Raises:
            StoreError: the store cannot be written.
        """
        with self._spaces() as spaces:
            known = [space.forget(url) for space in spaces]
        return self._forget(page_key(url)) or any(known)

    def _forget(self, url: str) -> bool:
        with self._committing, self._deciding:
            erased = self._erase(url)
            # In one step with the end of the claim: it must not be confirmed in between.
            with self._lock:
                known = self._index.remove(url) is not None
                known = self._register.pop(url, None) is not None or known
                self._texts.remove(url)
                if claim := self._claims.pop(url, None):
                    claim.settled = True
        for wake in claim.waiting if claim else ():
            wake()
        return known or erased

    def expire(self, before: float) -> int:
        """Remove all pages that were last seen before a moment, in seconds since 1970; return how many: see `expiring`."""
        return sum(self.expiring(before))

    def expiring(self, before: float) -> Iterator[int]:
        """Remove pages that were last seen before a moment, step by step; yield how many each step removed.

        A step is one short durable transaction: between two of them, and but for commits during them, others go on. Lines of the
        register from before that moment go with the pages; younger ones stay, also where their original is gone. Pages that were seen
        again and are not yet written stay. Fingerprints without pages have no time and stay. Pages that were loaded before that moment
        are no originals any more.

        Raises:
            StoreError: the store cannot be read or written; what earlier steps removed is gone.
        """
        yield from self._expire(before, self._index)
        with self._spaces(crawls=False) as spaces:
            for space in spaces:
                # Each of them stands here, too, and was counted.
                yield from (0 for _ in space.expiring(before))

    def sync(self) -> None:
        """Commit everything confirmed; where the store has a disk it is on it when this returns.

        Raises:
            StoreError: it cannot be written; nothing is lost, the next commit tries again.
        """
        with self._committing:
            self._last_commit = monotonic()
            with self._lock:
                pages = [claim.previous for claim in self._claims.values() if claim.previous]
                pages += [stored for stored in self._index if stored.confirmed]
                bare, register, texts = self._index.take_bare(), dict(self._register), self._texts.take()
                visits = dict(self._visits)
            if pages or bare or register or visits:
                self._retry_at = monotonic() + _RETRY_SECONDS
                self._write(pages, bare, register, visits)
                self._retry_at = 0.0
                self._forget_written(pages, register)
                self._forget_visits(visits)
            if texts:
                self._sync_texts(texts)

    def _forget_visits(self, visits: Mapping[bytes, bytes]) -> None:
        with self._lock:
            for key, value in visits.items():
                if self._visits.get(key) is value:
                    del self._visits[key]

    def _sync_texts(self, texts: Mapping[str, bytes]) -> None:
        refused = self._write_texts(texts, self._texts.most)
        with self._lock:
            self._texts.written(texts, refused=refused)

    def try_sync(self) -> None:
        """`sync`, unless a commit failed a few seconds ago, or one is under way.

        Raises:
            StoreError: as `sync`.
        """
        if monotonic() >= self._retry_at:
            self.sync()

    def commit_if_due(self) -> None:
        """`try_sync`, where the last commit is `sync_seconds` ago."""
        if monotonic() - self._last_commit >= self.sync_seconds:
            self.try_sync()

    def _forget_written(self, pages: Sequence[StoredPage], register: Mapping[str, Duplicate | None]) -> None:
        # A decision under way may have opened its view of the committed pages before this commit: until it is done, the
        # overlay must still show what was written.
        with self._deciding, self._lock:
            for stored in pages:
                if self._index.page(stored.page.url) is stored:
                    self._index.remove(stored.page.url)
            self._index.drop_taken()
            for url, line in register.items():
                if self._register.get(url, _MISSING) is line:
                    del self._register[url]

    def __enter__(self) -> Self:
        """Return the store; leaving the block closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()


_distance = attrgetter("distance")


def _same_content(known: PageFingerprint | Abstention, page: PageFingerprint | Abstention) -> bool:
    return known.body_digest == page.body_digest and type(known) is type(page)


def _matches(view: _Overlay, fingerprint: int, distance: int) -> list[Match]:
    pages = [
        Match(fingerprint, distance, stored.page)
        for stored in view.with_fingerprint(fingerprint)
        if isinstance(stored.page, PageFingerprint)
    ]
    # Neither: the page that has it is being crawled again, with other content.
    return pages or ([Match(fingerprint, distance)] if view.is_bare(fingerprint) else [])


def _line(page: PageFingerprint | Abstention, verdict: Verdict) -> Duplicate:
    return Duplicate(
        url=page.url,
        original=verdict.original or "",
        kind=verdict.kind.value,
        distance=verdict.distance,
        similarity=verdict.similarity,
        reason=verdict.reason,
        dropped_page=verdict.drop_page,
        dropped_outlinks=verdict.drop_outlinks,
        when=time(),
        content=content_of(page),
        canonical=verdict.canonical,
    )
