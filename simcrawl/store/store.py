"""The store: what it promises, and how a decision, a claim and a commit meet.

    page ──► claim ──────► Claims ──────► sync ──────► CommittedPages
             (a decision,  (in memory:    (one group   (memory, or LMDB: pages over an index,
              one at a      claimed,       commit at    register, rejections, texts)
              time)         confirmed)     a time)

Locks, always taken in this order: `_committing` (held during I/O), `CommittedPages.deciding` (held during look-ups), `Claims.lock` (never
held during I/O: `Claim.confirm` is called on event loops).
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from threading import Event, Lock
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from simcrawl.bits import fitting_rows, to_rows
from simcrawl.differences import is_titled_apart, may_be_another
from simcrawl.errors import StoreError, StoreMismatchError
from simcrawl.index.packed import Packer
from simcrawl.page.fingerprint import Abstention, PageFingerprint, page_key
from simcrawl.page.recipes import Recipe, resolve
from simcrawl.rule import Decision, Kind, Match, Rule, StoredPage, Verdict, View
from simcrawl.sealed import seal
from simcrawl.store.claims import NOT_WAITING, Admission, Claim, Claims, Overlay, nearest_first, same_content
from simcrawl.store.clusters import Representatives
from simcrawl.store.dropped import DroppedCopies
from simcrawl.store.header import other_recipe
from simcrawl.store.page_index import PageIndex
from simcrawl.store.register import Duplicate, line_of
from simcrawl.store.rejections import Rejection, content_of, pairs_of, url_key
from simcrawl.store.texts import text_of
from simcrawl.store.titles import Titles
from simcrawl.store.views import Beside, InCrawl, Only

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from simcrawl.index.permutations import Design
    from simcrawl.store.committed import Batch, CommittedPages, Reader, Step
    from simcrawl.store.crawl_note import Home, Joined
    from simcrawl.store.header import Header
    from simcrawl.store.visits import Visits

# Fingerprints without pages are written at the latest when so many wait: 200 bytes of memory each. Those that cannot be written stay, up
# to four times as many; then further ones are answered and not inserted.
_MOST_BARE = 1 << 16
_MOST_BARE_UNWRITTEN = 4 * _MOST_BARE
# A commit that fails costs as much as one that does not, and may be large: the next is not tried at once.
_RETRY_SECONDS = 5.0


class Part(Protocol):
    """One run's part in a crawl on a store: a `simcrawl.store.crawls.Crawl`."""

    own: Store

    def leave(self) -> None:
        """Leave the crawl."""


class Homes(Protocol):
    """Where the crawls on a store meet: see `simcrawl.store.crawls`."""

    def join(self, store: Store, name: str | None, *, spider: str, resume: str | None, job: str | None) -> tuple[Store, Home, Joined]:
        """Return the store of a crawl's own pages, where its runs meet, and what is known of it: see `simcrawl.store.crawls.join_crawl`."""

    def join_loaded(self, store: Store) -> tuple[Store, Home, Joined]:
        """Return the same of the crawl that never ends: see `simcrawl.store.crawls.join_loaded`."""

    def spaces(self, store: Store, *, crawls: bool) -> AbstractContextManager[list[Store]]:
        """Give the stores that hold pages of this one which can be originals: the loaded ones, and those of each crawl."""


class Link(Protocol):
    """What binds a store to others that are one crawl with it: see `simcrawl.store.fleet`. `tell_` never blocks on I/O."""

    @property
    def moment(self) -> int:
        """How many claims and pages of others have been taken over."""

    @property
    def untold(self) -> Collection[str]:
        """URLs of confirmed pages that are not to be written yet: the others do not know them."""

    def attach(self, store: Store, claims: Claims, committed: CommittedPages, writing: Lock) -> None:
        """Take the store, its parts, and what it holds while it writes."""

    def order(self, claim: Claim, since: int, find: Callable[[StoredPage], tuple[StoredPage, Duplicate] | None]) -> Iterable[StoredPage]:
        """Put a claim into the order of all; return the pages that others claimed before it and after the moment `since`."""

    def lose(self, claim: Claim) -> None:
        """Withdraw a claim that came after another one."""

    def flush(self) -> None:
        """Tell what waits to be told.

        Raises:
            StoreError: nobody can be told.
        """

    def bind(self, recipe: str) -> None:
        """Bind all of them to a recipe, unless another one did."""

    def tell_fingerprints(self, rows: NDArray[np.uint64]) -> None:
        """Tell of fingerprints without pages."""

    def tell_rejection(self, rejection: Rejection, lines: Iterable[Duplicate], *, rejected: bool) -> None:
        """Tell that a verdict was taken back, or that it was not, and which lines that marks."""

    def tell_forgotten(self, url: str) -> None:
        """Tell that a page was forgotten."""

    def tell_expired(self, before: float) -> None:
        """Tell that pages from before a moment are being removed."""

    def tell_record(self, record: Mapping[str, Any]) -> None:
        """Tell what became of a crawl."""


class Store:
    """Pages, what was a copy of what, and the decisions that lead to it. Use `simcrawl.open_store`. Thread-safe.

    Guarantees: every stored fingerprint within the radius of a query is found and none beyond it; admission is atomic among the threads of
    a process; what `sync` returned for is on disk (where the store has one), so that a crash at any moment leaves a store that opens and
    passes `verify`.

    `committed`: where pages are kept. `homes`: where crawls meet. `path`: the directory of a store on disk. `release`: called with the
    store and with what shuts it, when a user closes it; it shuts the store if that was the last one. `link`: where the store is part of a
    fleet, what binds it to that: see `simcrawl.store.fleet`.
    """

    def __init__(
        self,
        committed: CommittedPages,
        homes: Homes,
        *,
        sync_seconds: float = 1.0,
        path: Path | None = None,
        release: Callable[[Store, Callable[[], None]], object] = lambda _, shut: shut(),
        link: Link | None = None,
    ) -> None:
        self.sync_seconds = sync_seconds
        self.path = path
        self.late_duplicates = 0
        """How many pages were committed as unique while another process committed what they are copies of."""
        self.candidates: Counter[str] = Counter()
        """Of decisions that needed candidates: how many there were, how many candidates these looked at, and how many ended at the cap."""
        self.joined: list[Part] = []
        """The crawls that were joined by way of this object and not yet left."""
        self._committed, self.homes, self._release = committed, homes, release
        self._claims = Claims(Packer(committed.header.design_of_tables), searches_bare=committed.searches_bare)
        self._beyond = 1 << committed.header.bits
        self._recipe: Recipe | None = None
        # The last decision's: what is found late is decided by it, too.
        self._rule: Rule | None = None
        self._titles, self._dropped = Titles(), DroppedCopies()
        self._lasting: Store | None = None
        self._loaded: Store | None = None
        self._committing = Lock()
        self._last_commit = monotonic()
        self._retry_at = 0.0
        self._link = link
        if link:
            link.attach(self, self._claims, committed, self._committing)

    @property
    def header(self) -> Header:
        """What the store was made with."""
        return self._committed.header

    @property
    def design(self) -> Design:
        """The design of the store's tables."""
        return self._committed.header.design_of_tables

    @property
    def readonly(self) -> bool:
        """Whether the store was opened to be read only."""
        return self._committed.readonly

    @property
    def is_gone(self) -> bool:
        """Whether somebody has removed or replaced the store's files: all goes on, and what is written is lost when it is closed."""
        return self._committed.is_gone

    @property
    def asks_others(self) -> bool:
        """Whether a claim may ask another machine, and wait up to a second: never to be done on an event loop."""
        return self._link is not None

    def __enter__(self) -> Self:
        """Return the store; leaving the block closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Leave the crawls that were joined, commit what is confirmed, and release the store.

        Open claims are lost, which is what a crash would do to them. Of a directory that several users of this process have open the last
        one to close it does so.

        Raises:
            StoreError: what is confirmed cannot be written. The store is closed all the same.
        """
        self._release(self, self._shut)

    def _shut(self) -> None:
        try:
            self.leave_crawls()
            self.sync()
        finally:
            self._committed.close()
            if self._loaded:
                self._loaded.close()

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
        bound = self._committed.header.recipe
        if bound is None:
            (self._link or self._committed).bind(identity)
            bound = self._committed.header.recipe
        if bound != identity:
            raise StoreMismatchError(other_recipe(bound or "", identity, self.path))

    def _check(self, page: PageFingerprint | Abstention) -> None:
        self.header.check_page(page)
        self._bind_identity(page.recipe)

    def _check_fingerprint(self, fingerprint: int) -> int:
        if not 0 <= fingerprint < self._beyond:
            raise ValueError(f"{fingerprint} is no {self.header.bits}-bit fingerprint, which is what the store holds")
        return fingerprint

    # ---- decisions

    def admit(self, page: PageFingerprint | Abstention, rule: Rule | None = None) -> Verdict:
        """Decide about a page and, unless it is a copy, insert it: one atomic step. The page counts as confirmed.

        `rule`: by default the one of the recipe that the store is bound to.

        Raises:
            StoreMismatchError: the page was made with another recipe or seed.
            StoreError: the store cannot be read or written.
        """
        self._check(page)
        self.write_ahead()
        if self._link:
            admission = self._admit_in_fleet(page, rule or self._default_rule())
        else:
            with self._ordered() as view:
                admission = self._decide(page, rule, view)
                # Within the decision: to the next one the page is not a claim that could yet be withdrawn.
                if admission.claim:
                    admission.claim.confirm()
        self.commit_if_due()
        return admission.verdict

    def _admit_in_fleet(self, page: PageFingerprint | Abstention, rule: Rule) -> Admission:
        while True:
            admission = self._claim_in_order(page, rule, brief=True)
            if admission.claim:
                admission.claim.confirm()
            # A brief one is of another thread that admits a page just now; one that was settled meanwhile is no answer.
            if not (admission.waits_for and (admission.waits_for.brief or admission.waits_for.settled)):
                return admission
            settled = Event()
            admission.waits_for.when_settled(settled.set)
            settled.wait()

    def claim(
        self,
        page: PageFingerprint | Abstention,
        rule: Rule | None = None,
        *,
        never_drop: bool = False,
        taken_back: bool = False,
        callback: str = "",
    ) -> Admission:
        """Decide about a page and, unless it is a copy, claim it: one atomic step.

        Where the page would be dropped in favour of one that is itself still claimed, nothing is recorded: wait for `waits_for` to settle
        and ask again. `never_drop`, `taken_back`: see `Rule.decide`.

        Raises:
            StoreMismatchError: the page was made with another recipe or seed.
            StoreFullError: too many confirmed pages could not be written.
            StoreError: the store cannot be read.
        """
        self._check(page)
        self.write_ahead()
        rule = rule or self._default_rule()
        admission = self._claim_in_order(page, rule, never_drop=never_drop, taken_back=taken_back, callback=callback)
        self._keep_text(page, admission)
        return admission

    def _claim_in_order(
        self,
        page: PageFingerprint | Abstention,
        rule: Rule,
        *,
        never_drop: bool = False,
        taken_back: bool = False,
        callback: str = "",
        brief: bool = False,
    ) -> Admission:
        """Decide among the threads of this process and, where the page is claimed, put the claim into the order of the fleet."""
        while True:
            since = self._link.moment if self._link else 0
            with self._ordered() as view:
                admission = self._decide(page, rule, view, never_drop=never_drop, taken_back=taken_back, callback=callback)
                if admission.claim:
                    admission.claim.brief = brief
            if admission.claim is None or self._is_first(page, admission.claim, since, rule, callback):
                return admission

    def _is_first(self, page: PageFingerprint | Abstention, claim: Claim, since: int, rule: Rule, callback: str) -> bool:
        """Return whether a claim stands; where an earlier one of another process matters it is withdrawn."""
        if (link := self._link) is None:
            return True
        earlier = link.order(claim, since, lambda stored: self._copy_of_known(stored, rule, callback))
        matters = claim.settled
        for stored in earlier:
            decision = rule.decide(page, Only(stored), now=time(), never_drop=True, callback=callback)
            matters = matters or decision.original is not None
        if matters:
            link.lose(claim)
        return not matters

    def _copy_of_known(self, stored: StoredPage, rule: Rule, callback: str) -> tuple[StoredPage, Duplicate] | None:
        """Return a page that a claimed one is a copy of, and the line that says so: both were claimed before either was known."""
        with self._ordered() as view:
            decision = rule.decide(
                stored.page, Beside(view, stored.page.url), now=time(), never_drop=True, callback=callback, dropped=self._dropped.of
            )
        if decision.original is None:
            return None
        return decision.original, replace(line_of(stored.page, decision.verdict, time()), dropped_outlinks=False)

    @contextmanager
    def _ordered(self) -> Iterator[Overlay | InCrawl]:
        """Give what a decision sees, while no other is made: the one place where the decisions of a process have an order.

        Processes that share a directory each have their own, and find at the next commit what both have kept: `late_duplicates`. In a fleet
        the claim that a decision leads to is put into the order of all: `_is_first`.
        """
        with ExitStack() as stack:
            own = stack.enter_context(self._view())
            if self._lasting is None:
                yield own
            else:
                yield InCrawl(own, stack.enter_context(self._loaded._view()) if self._loaded else None, self._lasting)  # noqa: SLF001 - a store, too

    @contextmanager
    def _view(self) -> Iterator[Overlay]:
        with self._committed.deciding, self._committed.reading() as reader:
            yield Overlay(self._claims.pages, self._claims.lock, reader)

    def _decide(
        self,
        page: PageFingerprint | Abstention,
        rule: Rule | None,
        view: View,
        *,
        never_drop: bool = False,
        taken_back: bool = False,
        callback: str = "",
    ) -> Admission:
        self._rule = rule or self._default_rule()
        how = {"never_drop": never_drop, "taken_back": taken_back}
        decision = self._rule.decide(page, view, now=time(), **how, callback=callback, dropped=self._dropped.of)
        if decision.candidates is not None:
            self.candidates += Counter(decisions=1, compared=decision.candidates, at_cap=decision.stopped)
        # A page of which nothing is dropped has nothing to wait for.
        drops = decision.verdict.drop_page or decision.verdict.drop_outlinks
        if drops and decision.original and not decision.original.confirmed:
            return Admission(decision.verdict, waits_for=self._claims.open_claim(decision.original))
        if decision.original:
            self.note(line_of(page, decision.verdict, time(), self._titles.of(decision.original.page.url)))
        if decision.record:
            self._titles.note(page)
        unique = decision.original is None
        claim = self._claim(page, view, unique=unique, callback=callback) if decision.record else None
        return self._beside_copies(Admission(decision.verdict, claim), page, decision)

    def _beside_copies(self, admission: Admission, page: PageFingerprint | Abstention, decision: Decision) -> Admission:
        """Return an admission that tells which pages were dropped by mistake, as this one shows, or whether this one may be."""
        original, dropped = decision.original, self._dropped
        if not isinstance(page, PageFingerprint):
            return admission
        if original is None:
            return admission._replace(mistaken=tuple(url for other in decision.others for url in dropped.contradict(other, page)))
        if decision.record:
            return admission
        is_one = may_be_another if decision.verdict.kind is Kind.NEAR_DUPLICATE else is_titled_apart
        return admission._replace(may_be_mistaken=is_one(page, original.page) and dropped.hold(page, original.page.url))

    def _claim(self, page: PageFingerprint | Abstention, view: View, *, unique: bool, callback: str) -> Claim | None:
        known, now = view.page(page.url), time()
        if known and (not known.confirmed or (same_content(known.page, page) and known.serves(callback))):
            self._claims.touch(known, now)
            return None
        # Now, for to confirm a claim must not wait for a look into a store; and first, for that may fail.
        earlier = view.earlier(page.url)
        claim = self._claims.claim(page, known, now, unique=unique)
        claim.known = earlier
        return claim

    def _default_rule(self) -> Rule:
        return Rule.of(self._recipe or resolve((self.header.recipe or "auto").partition("/")[0]))

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
        committed, claims = self._committed, self._claims
        with committed.deciding:
            near = committed.near(fingerprint, max_distance)
            if claims.near_or_insert(fingerprint, max_distance, near, _MOST_BARE_UNWRITTEN):
                committed.hold(fingerprint)
                if self._link:
                    self._link.tell_fingerprints(to_rows([fingerprint], bits=self.header.bits))
        if claims.pages.bare >= _MOST_BARE or monotonic() - self._last_commit >= self.sync_seconds:
            self.try_sync()
        return Match(nearest := min(near, key=near.__getitem__), near[nearest]) if near else None

    def load_fingerprints(self, fingerprints: Iterable[int] | NDArray[np.uint64]) -> None:
        """Insert fingerprints without pages, in bulk; those already there have no effect. Durable when it returns.

        Raises:
            ValueError: a fingerprint is wider than the store's.
            StoreError: the store cannot be written.
        """
        loaded = fitting_rows(fingerprints, bits=self.header.bits)
        with self._committing, self._committed.deciding:
            self._committed.load(loaded)
        if self._link:
            self._link.tell_fingerprints(loaded)
            self._link.flush()

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
            near = view.near(fingerprint, distance)
            return [match for other in nearest_first(near) for match in _matches(view, other, near[other])]

    def query_fingerprint(self, fingerprint: int, max_distance: int = 3) -> list[Match]:
        """Online query without looking at pages: every stored fingerprint within the radius, nearest first. Exact.

        Raises:
            ValueError: the fingerprint is wider than the store's.
            StoreError: the store cannot be read.
        """
        self._check_fingerprint(fingerprint)
        with self._committed.deciding:
            near = self._committed.near(fingerprint, max_distance)
            with self._claims.lock:
                near |= self._claims.pages.near(fingerprint, max_distance)
        return [Match(other, near[other]) for other in nearest_first(near)]

    def batch_query(self, pages: Iterable[PageFingerprint | int], max_distance: int | None = None) -> list[list[Match]]:
        """Answer `query` for many pages, in their order.

        Raises:
            ValueError: a fingerprint is wider than the store's.
            StoreError: the store cannot be read.
        """
        return [self.query(page, max_distance) for page in pages]

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL, with when it was first and last seen; None where there is none.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._view() as view:
            return view.page(page_key(url, self.header.seed))

    def known(self, url: str) -> StoredPage | None:
        """Return the page known under the key of a URL; not of the same moment as other answers, and cheaper than `page`."""
        if fresh := self._claims.page(url):
            return fresh
        with self._committed.reading() as reader:
            return reader.page(url)

    def with_body(self, digest: bytes) -> StoredPage | None:
        """Return one confirmed page with this body digest."""
        with self._view() as view:
            return next((stored for stored in view.with_body(digest) if stored.confirmed), None)

    def pages(self, *, latest: int | None = None) -> Iterator[StoredPage]:
        """Yield the committed pages. `latest`: only so many, those last seen last.

        The view is of one moment; take it in one go, a long read keeps a store on disk from reusing space.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._committed.reading() as reader:
            yield from reader.pages(latest)

    def fingerprint_chunks(self, size: int = 1 << 20) -> Iterator[NDArray[np.uint64]]:
        """Yield every distinct committed fingerprint once, as rows, shape (up to about `size`, words): see `simcrawl.bits.to_rows`.

        All are of one moment, in no order; memory is that of two chunks. Take them in one go: a long read of a store on disk keeps
        the file from reusing space.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._committed.reading() as reader:
            yield from reader.chunks(size)

    def counts(self) -> dict[str, int]:
        """Return the committed numbers: `pages`, `fingerprints`, `duplicates`, and `bytes` in use.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._committed.reading() as reader:
            return reader.counts()

    def size(self) -> dict[str, int]:
        """Return the committed pages and bytes: the part of `counts` that costs nothing."""
        return self._committed.size()

    def verify(self) -> list[str]:
        """Return what is wrong with the committed pages: one line a problem, none where all is well. Reads everything.

        Raises:
            StoreError: the store cannot be read.
        """
        return self._committed.problems()

    # ---- the register

    def note(self, line: Duplicate) -> None:
        """Put a line into the register, to be written by the next group commit. Never blocks on I/O."""
        (self._lasting or self)._claims.note(line)  # noqa: SLF001 - a store, too

    def duplicate(self, url: str) -> Duplicate | None:
        """Return what the register says of a URL; None where it was not recognised as a copy.

        Raises:
            StoreError: the store cannot be read.
        """
        url = page_key(url, self.header.seed)
        fresh = self._claims.line(url)
        return self._committed_line(url) if fresh is NOT_WAITING else cast("Duplicate | None", fresh)

    def _committed_line(self, url: str) -> Duplicate | None:
        with self._committed.reading() as reader:
            return reader.duplicate(url)

    def duplicates(self, *, latest: int | None = None) -> Iterator[Duplicate]:
        """Yield the committed register of duplicates, the latest line of each URL. `latest`: only so many, the latest of all.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._committed.reading() as reader:
            yield from reader.duplicates(latest)

    def cluster(self, url: str) -> str | None:
        """Return the URL that stands for the cluster of a page, its own where it is in none; None where nothing is known of it.

        See `simcrawl.store.clusters`. An original that was forgotten is known by its copies alone: ask for the cluster of one of these.

        Raises:
            StoreError: the store cannot be read.
        """
        url = page_key(url, self.header.seed)
        if self.duplicate(url) is None and self.page(url) is None:
            return None
        return Representatives(self.duplicate).of(url)

    def rejections(self) -> Iterator[Rejection]:
        """Yield the verdicts that were taken back.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._committed.reading() as reader:
            yield from reader.rejections()

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        """Return whether a user said that two pages are no copies of each other."""
        with self._committed.reading() as reader:
            return reader.holds_apart(pairs_of(page, other))

    def has_rejections(self) -> bool:
        """Return whether a user said so of any pages.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._committed.reading() as reader:
            return reader.holds_any_apart()

    def are_rejected(self, url: str, other: str) -> bool:
        """Return whether a user said that the pages of two URLs are no copies of each other.

        Raises:
            StoreError: the store cannot be read.
        """
        keys = [url_key(page_key(one, self.header.seed), self.header.seed) for one in (url, other)]
        with self._committed.reading() as reader:
            return reader.holds_apart([keys[0] + keys[1]])

    def reject(self, url: str, original: str | None = None) -> Rejection | None:
        """Remember, durably, that a page is no copy of another one: from now on neither is dropped in favour of the other.

        That holds for exact copies, near-duplicates and articles, in every process and in later crawls, and for copies of the two under
        other URLs where the store knows what they held. `original`: by default the page that the register names. The register's line
        is marked, whichever of the two it is of. Returns None where no original is given and the register has no line.

        Raises:
            ValueError: both are the same page.
            StoreError: the store cannot be read or written.
        """
        url = page_key(url, self.header.seed)
        self.sync()
        with self._committing, self._committed.deciding:
            line = self._committed_line(url)
            other = page_key(original, self.header.seed) if original is not None else line.original if line else None
            if other is None:
                return None
            if other == url:
                raise ValueError(f"{url} is no copy of itself: give the page that it was taken for a copy of")
            rejection = Rejection(url, other, time(), self._content(url, line), self._content(other, self._committed_line(other)))
            marked = self._marked(rejection, rejected=True)
            self._committed.write_rejection(rejection, marked)
        if self._link:
            self._link.tell_rejection(rejection, marked, rejected=True)
            self._link.flush()
        return rejection

    def unreject(self, url: str, original: str | None = None) -> int:
        """Let a page be a copy again of another one, or of all that it was held apart from; return how many rejections that removes.

        The marks of the register's lines go with them.

        Raises:
            StoreError: the store cannot be read or written.
        """
        sides = {page_key(one, self.header.seed) for one in (url, original) if one is not None}
        # Lines of pages that came out since must go first.
        self.sync()
        with self._committing, self._committed.deciding:
            found = [one for one in self.rejections() if sides <= {one.url, one.original}]
            for rejection in found:
                marked = self._marked(rejection, rejected=False)
                self._committed.erase_rejection(rejection, marked)
                if self._link:
                    self._link.tell_rejection(rejection, marked, rejected=False)
        if self._link:
            self._link.flush()
        return len(found)

    def _marked(self, rejection: Rejection, *, rejected: bool) -> list[Duplicate]:
        """Return the lines of the register that say what a rejection denies, with their mark set or taken away."""
        pair = {rejection.url, rejection.original}
        lines = [line for line in map(self._committed_line, sorted(pair)) if line is not None]
        return [replace(line, rejected=rejected) for line in lines if {line.url, line.original} == pair]

    def _content(self, url: str, line: Duplicate | None) -> str:
        with self._committed.reading() as reader:
            stored = reader.page(url)
        return content_of(stored.page) if stored else line.content if line else ""

    # ---- texts

    def keep_texts(self, most: int) -> None:
        """From now on keep the contents of pages that come with one, and of their near-duplicates, while they take less than `most` bytes.

        A store that is full of them keeps no more; `texts_refused` counts those.
        """
        self._claims.texts.most = most

    @property
    def keeps_texts(self) -> bool:
        """Whether contents of pages are kept: see `keep_texts`."""
        return self._claims.texts.most > 0

    @property
    def wants_texts(self) -> bool:
        """Whether there is space for more of them, as far as the last commits know."""
        return self.keeps_texts and not self._claims.texts.full

    @property
    def texts_refused(self) -> int:
        """How many texts found no space since the store was opened: of those that it was given."""
        return self._claims.texts.refused

    def text(self, url: str) -> str | None:
        """Return the committed content of a page or of a near-duplicate, a block a line; None where none was kept.

        At most 100,000 characters of it are kept.

        Raises:
            StoreError: the store cannot be read, or the text is damaged.
        """
        with self._committed.reading() as reader:
            packed = reader.text(page_key(url, self.header.seed))
        return None if packed is None else text_of(packed)

    def _keep_text(self, page: PageFingerprint | Abstention, admission: Admission) -> None:
        keeper = self._lasting or self
        if not page.content or admission.waits_for or not keeper.wants_texts:
            return
        if claim := admission.claim:
            # Only this one's: a page that is settled meanwhile goes without.
            claim.text = seal(page.content)
        elif admission.verdict.kind is Kind.NEAR_DUPLICATE:
            keeper._claims.keep_text(page.url, seal(page.content))  # noqa: SLF001 - a store, too

    # ---- writing

    @property
    def falls_behind(self) -> bool:
        """Whether so many pages wait to be written that a claim would try to write them first."""
        return self._claims.falls_behind

    def write_ahead(self) -> None:
        """Try to write, where so much waits to be written that it would outgrow the memory."""
        # Commits are somebody else's business, but what waits for them must not outgrow the memory.
        if self.falls_behind:
            with suppress(StoreError):
                self.try_sync()

    def sync(self) -> None:
        """Commit everything confirmed; where the store has a disk it is on it when this returns, and a fleet has been told.

        Raises:
            StoreError: it cannot be written; nothing is lost, the next commit tries again.
        """
        try:
            if self._link:
                # First, for what nobody was told is not written to a disk.
                self._link.flush()
        finally:
            self.commit()

    def commit(self) -> None:
        """`sync`, without a fleet.

        Raises:
            StoreError: as `sync`.
        """
        with self._committing:
            self._last_commit = monotonic()
            batch, texts = self._claims.take()
            if self._link and (untold := self._link.untold):
                batch = replace(batch, pages=[stored for stored in batch.pages if stored.page.url not in untold])
                texts = {url: text for url, text in texts.items() if url not in untold}
            if batch:
                self._retry_at = monotonic() + _RETRY_SECONDS
                self._write(batch)
                self._retry_at = 0.0
            if texts:
                refused = self._committed.write_texts(texts, self._claims.texts.most)
                self._claims.texts_written(texts, refused=refused)

    def _write(self, batch: Batch) -> None:
        # What a fleet has kept twice its log tells.
        late = [] if self._link else list(self._late(batch.pages))
        noted = batch.register
        if self._lasting:
            for line in late:
                self.note(line)
        else:
            batch = replace(batch, register=noted | {line.url: line for line in late})
        self._committed.write(batch)
        self.late_duplicates += len(late)
        # A decision under way may have opened its view of the committed pages before this commit: until it is done, the claims must still
        # show what was written.
        with self._committed.deciding:
            self._claims.written(replace(batch, register=noted))

    def _late(self, pages: Iterable[StoredPage]) -> Iterator[Duplicate]:
        """Yield lines for pages that are copies of what others committed since they were decided about. Both are kept.

        A page at a time, for decisions wait meanwhile. Costs nothing where nobody else wrote.
        """
        for stored in pages:
            with self._committed.deciding, self._committed.reading() as reader:
                if not reader.others_wrote:
                    return
                if stored.unique and self._rule and (line := self._late_line(stored, self._rule, reader)):
                    yield line

    def _late_line(self, stored: StoredPage, rule: Rule, committed: Reader) -> Duplicate | None:
        alone = Overlay(PageIndex(Packer(self.design), searches_bare=False), Lock(), committed)
        view: View = InCrawl(alone, None, self._lasting) if self._lasting else alone
        decision = rule.decide(stored.page, view, now=time(), never_drop=True, callback=stored.callback, dropped=self._dropped.of)
        # What this process has under that URL by now it has compared with already.
        is_late = decision.original is not None and self._claims.page(decision.original.page.url) is None
        return replace(line_of(stored.page, decision.verdict, time()), dropped_outlinks=False) if is_late else None

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

    def forget(self, url: str) -> bool:
        """Remove a page, and the line of its URL in the register, durably, here and in every crawl; return whether there was either.

        What else the register says stands: pages that were dropped in favour of this one were dropped.

        Raises:
            StoreError: the store cannot be written.
        """
        with self.homes.spaces(self, crawls=True) as spaces:
            known = [space.forget(url) for space in spaces]
        url = page_key(url, self.header.seed)
        with self._committing, self._committed.deciding:
            # In one step with the end of the claim: it must not be confirmed in between.
            erased = self._committed.erase(url)
            waited, claim = self._claims.forget(url)
        if self._link:
            self._link.tell_forgotten(url)
        if claim:
            claim.wake()
        return waited or erased or any(known)

    def counting_old(self, before: float) -> Iterator[int]:
        """Count pages that were last seen before a moment, as `expiring` would remove them; yield how many each short step found.

        Raises:
            StoreError: the store cannot be read.
        """
        step: Step | None = None
        while True:
            count, step = self._committed.count_old(before, step)
            yield count
            if step is None:
                return

    def expire(self, before: float) -> int:
        """Remove all pages that were last seen before a moment, in seconds since 1970; return how many: see `expiring`.

        Raises:
            StoreError: the store cannot be read or written; what was removed until then is gone.
        """
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
        if self._link:
            # What waits stays, and the others do not know what waits here.
            self.commit()
            self._link.tell_expired(before)
        yield from self.expiring_here(before)
        with self.homes.spaces(self, crawls=False) as spaces:
            for space in spaces:
                # Each of them stands here, too, and was counted.
                yield from (0 for _ in space.expiring(before))

    def expiring_here(self, before: float) -> Iterator[int]:
        """`expiring`, without a fleet, and without pages that were loaded."""
        step: Step | None = None
        while True:
            with self._committing:
                removed, step = self._committed.expire(before, self._claims.pages, step)
            yield removed
            if step is None:
                return

    # ---- crawls

    def leave_crawls(self) -> None:
        """Leave the crawls that were joined by way of this object."""
        while self.joined:
            self.joined[-1].leave()

    def belong_to(self, lasting: Store) -> None:
        """Let decisions be those of a crawl on another store: see `simcrawl.store.crawls`."""
        self._lasting = lasting
        self._claims.came_out = lambda claim, kept: lasting._claims.keep(kept, claim.known, claim.text)

    def see_loaded(self, loaded: Callable[[], Store | None]) -> None:
        """Let the pages of a store be originals, too, which is opened for this one alone; no effect where it has one."""
        if self._loaded is None:
            self._loaded = loaded()

    @property
    def visits_lost(self) -> bool:
        """Whether visits found no space, so that some are missing."""
        return self._claims.visits_lost

    @visits_lost.setter
    def visits_lost(self, lost: bool) -> None:
        self._claims.visits_lost = lost

    def visit(self, key: bytes, value: bytes) -> None:
        """Note a visit, to be written by the next group commit. Never blocks on I/O."""
        self._claims.visit(key, value)

    def visited(self, key: bytes) -> bytes | None:
        """Return what was noted under a key."""
        if fresh := self._claims.visited(key):
            return fresh
        with self._committed.reading() as reader:
            return reader.visit(key)

    def visits(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the committed visits whose keys begin so, in the order of their keys."""
        with self._committed.reading() as reader:
            yield from reader.visits(prefix)

    def urls_of(self, keys: Collection[bytes]) -> list[str]:
        """Return the URLs of committed pages whose keys these are: see `simcrawl.store.rejections.url_key`."""
        with self._committed.reading() as reader:
            return reader.urls_of(keys)

    def last_visits(self, spider: str) -> Visits | None:
        """Return what the last finished crawl of a spider saw; None where there was none, or it is damaged."""
        return self._committed.last_visits(spider)

    def keep_visits(self, spider: str, visits: Iterable[tuple[bytes, bytes]]) -> None:
        """Let these, in the order of their keys, be what the last finished crawl of a spider saw, in one step.

        Raises:
            StoreError: the store cannot be written.
        """
        self._committed.keep_visits(spider, visits)

    def note_crawl(self, record: Mapping[str, Any]) -> None:
        """Record what became of a crawl, durably, as a JSON object; the last 20 records are kept.

        Raises:
            StoreError: the store cannot be written.
        """
        self._committed.note_crawl(record)
        if self._link:
            self._link.tell_record(record)

    def crawls(self) -> list[dict[str, Any]]:
        """Return the records of crawls, the latest last."""
        with self._committed.reading() as reader:
            return reader.crawls()


def _matches(view: Overlay, fingerprint: int, distance: int) -> list[Match]:
    pages = [
        Match(fingerprint, distance, stored.page)
        for stored in view.with_fingerprint(fingerprint)
        if isinstance(stored.page, PageFingerprint)
    ]
    # Neither: the page that has it is being crawled again, with other content.
    return pages or ([Match(fingerprint, distance)] if view.is_bare(fingerprint) else [])
