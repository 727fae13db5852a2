"""What the components of one crawler share: configuration, store, detector, workers, and the verdicts on pages in flight."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary, finalize

from scrapy import signals as scrapy_signals
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.job import job_dir

from simcrawl.config import Config, unknown
from simcrawl.crawl.again import Again
from simcrawl.crawl.case import Case, bind, case_of
from simcrawl.crawl.changes import Changes
from simcrawl.crawl.common import Common
from simcrawl.crawl.exceptions import NearDuplicateItem
from simcrawl.crawl.exported import Exported
from simcrawl.crawl.feeds import Feeds
from simcrawl.crawl.frontier import Frontier
from simcrawl.crawl.history import History
from simcrawl.crawl.lag import LoopLag
from simcrawl.crawl.links import DroppedLinks
from simcrawl.crawl.no_item_limits import NoItemLimits
from simcrawl.crawl.occasion import is_crawl
from simcrawl.crawl.patience import Patience
from simcrawl.crawl.places import Places
from simcrawl.crawl.preferred import Preferred
from simcrawl.crawl.processes import PassedError
from simcrawl.crawl.refusal import told_in_one_line
from simcrawl.crawl.run import MOST_ARE_FOREIGN, ForeignOriginals, mend_queue, moment
from simcrawl.crawl.said_file import NAME, SaidFile
from simcrawl.crawl.signals import page_dropped
from simcrawl.crawl.taken import Taken
from simcrawl.crawl.threads import Threads
from simcrawl.crawl.waiting import wait_for_original
from simcrawl.crawl.workers import PageWorkers
from simcrawl.errors import StoreError
from simcrawl.page.fingerprint import Abstention, Reason
from simcrawl.page.hints import NO_HINTS, Hints, of_headers
from simcrawl.rule import Kind, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from simcrawl.crawl.copied import Copy
    from simcrawl.crawl.item_values import ItemRead
    from simcrawl.page.fingerprint import PageFingerprint
    from simcrawl.store import Admission

logger = logging.getLogger(__name__)

# How long a page waits for the page that it is a copy of to be done with. Then it is kept.
_UNSURE_WAIT = 1.0
# So many pages wait in vain that may be downloads inside callbacks. What such a page is claimed by is given back by nobody, so others that
# are equal to it would stand in line, a second each.
_MOST_IN_VAIN = 4
# Seconds that hold nothing up.
_SHORT_WAIT = 0.1
_LIMITS = {
    Reason.TOO_SLOW: "%s took too long to process and passes unchecked",
    Reason.OUT_OF_MEMORY: "%s took too much memory to process and passes unchecked",
    Reason.CRASHED: "%s crashed its worker process twice and passes unchecked",
}
_TOO_MANY = (
    "The %d pages that were not seen for SIMCRAWL_EXPIRE_DAYS are kept: they are more than half of the store's %d. If that is right "
    "(%g days, and it is %s now), remove them with: simcrawl forget %s --older-than %g --force"
)
_GIVES = "Items of %s come out: it is a copy of %s, of which none have come for its callback (no more such copies will be shown)"
_FROM_ELSEWHERE = (
    "An item of %s comes out: it is a copy of %s, but what it has as %r is in no item of that page, or not beside its other "
    "values (no more such items will be shown)"
)
_GONE = "%s was removed, moved or replaced: this crawl goes on as before, and the next one knows nothing of it"
_IN_VAIN = "Callbacks and item pipelines take so long that copies stop waiting before their originals have come out: some are kept"
_NO_TEXT = "The main text of %s cannot be made: it takes more than %g seconds, or its process died of it. Its item has none"
_NOT_SAID = (
    "simcrawl cannot keep in JOBDIR what items have said: of pages from before a stop, items of copies may come out once more, "
    "or be missing where they differ in a day or a number (%r)"
)
_NOT_EXPORTED = (
    "A feed could not take an item of %s, see the error above: pages with such items become no originals, so that their copies come out"
)
_NOT_STORED = (
    "A feed could not be stored, see the error above. So this crawl does not count as the spider's last finished one: what is new or "
    "changed in it will be so in the next crawl, too"
)
_MOST_HOSTS_TOLD = 1000
_PASSED = {
    "host_over_budget": "Pages of %s take so long to process that those of other hosts would wait: some of them pass unchecked "
    "(SIMCRAWL_MAX_HOST_SECONDS)",
    "waited_too_long": "Pages of %s waited too long for a worker process and pass unchecked (SIMCRAWL_MAX_WAIT_SECONDS, SIMCRAWL_WORKERS)",
}
# Whether the page that is kept is the canonical one.
_AGREEMENT = {"original": "agrees", "copy": "disagrees"}
# Of the same text, and marked up in another way.
_MARKED_UP = "identical text"
_OF_BYTES = "identical body"
_STAGES = {Kind.REVISITED.value: "url", _OF_BYTES: "body", _MARKED_UP: "text"}


_sessions: WeakKeyDictionary[Crawler, Session] = WeakKeyDictionary()


class Session(Common):
    """The shared state of one crawler. Everything but `judge` runs on the event loop and returns at once."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.changes = Changes(self.crawl, self.stats, self.known_as, self.detector.rule)
        self.foreign = ForeignOriginals(self.crawl, self.config.originals)
        self.history = History()
        self.links = DroppedLinks()
        # A store in memory dies with the crawl: the feed could be behind of nothing, but of the copies that Scrapy has in JOBDIR as seen.
        nothing_lasts = self.config.store.startswith("memory:") and not crawler.settings.get("JOBDIR")
        durable = False if nothing_lasts else self.config.durable_feed
        self.feeds = Feeds(crawler, wanted=durable, fault=self.fault)
        at_once = crawler.settings.getint("CONCURRENT_REQUESTS")
        self.workers = PageWorkers(self.detector, self.config, at_once=at_once, is_ending=lambda: not crawler.crawling)
        self.preferred = Preferred(crawler, self.config, self.known_as)
        self.frontier = Frontier(self, self.changes, self.preferred)
        self.again = Again(self)
        self.taken, self.exported, self._no_items = Taken(self.failed), Exported(self.failed), NoItemLimits()
        self._held_up: set[tuple[str, str]] = set()
        self._in_vain = self._waits = 0
        self.lag = LoopLag()
        self._patience = Patience(self._is_closing, self._has_work)
        self._places = Places(self.crawler)
        # Apart from the pages: commits must not wait for a page that takes long.
        self._store_threads = Threads(2)
        self._abandoned: deque[Case] = deque()
        self._drops_items = self.config.action not in {"observe", "drop-links"}
        directory = self._job_dir()
        self._said_file = SaidFile(directory / NAME, self.elsewhere) if directory else None
        self._has_told_given = self._has_told_elsewhere = self._told = self._syncing = self._closed = self._ending = False
        # Not in tests of components, whose crawler never crawls.
        self._is_to_begin = crawler.crawling
        self._expiring: Deferred[None] | None = None
        self._closing = Lock()
        self._connect(crawler)

    @classmethod
    @told_in_one_line()
    def of(cls, crawler: Crawler) -> Session:
        """Return the crawler's session, opened on first use.

        Raises:
            NotConfigured: SIMCRAWL_ENABLED is False, or the crawler does not crawl (see `simcrawl.crawl.occasion`).
            SettingError: a setting has a wrong value.
            StoreError: the store cannot be used.
        """
        if crawler not in _sessions:
            if not is_crawl(crawler):
                raise NotConfigured  # without a reason, which Scrapy would log as a warning
            if not Config.from_settings(crawler.settings.get).enabled:
                raise NotConfigured("SIMCRAWL_ENABLED is False")
            _warn_of_unknown(crawler)
            _abandon_failed()
            _sessions[crawler] = cls(crawler)
            # Before the scheduler looks for requests.
            mend_queue(crawler.settings)
        return _sessions[crawler]

    def _connect(self, crawler: Crawler) -> None:
        for handler, signal in (
            (self._item_dropped, scrapy_signals.item_dropped),
            (self._item_failed, scrapy_signals.item_error),
            (self._begin, scrapy_signals.spider_opened),
            (self.close, scrapy_signals.spider_closed),
        ):
            crawler.signals.connect(handler, signal=signal)

    def _job_dir(self) -> Path | None:
        try:
            directory = job_dir(self.crawler.settings)
        except OSError:
            # Scrapy itself tells of it.
            return None
        return Path(directory) if directory else None

    def _begin(self) -> None:
        self._is_to_begin = False
        # Not before: Scrapy's feed exporter is to be called first, wherever among the extensions it stands. See `simcrawl.crawl.exported`.
        self.crawler.signals.connect(self._item_scraped, signal=scrapy_signals.item_scraped)
        try:
            self.taken.watch(self.crawler)
            self.exported.watch(self.crawler)
            self.refused.watch(self.crawler.engine.scraper.itemproc.middlewares)
            self._no_items.watch(self.crawler)
        except Exception as exc:  # noqa: BLE001 - an exporter of the user's own may do anything
            self.failed(exc)

    @property
    def has_failed(self) -> bool:
        """Whether its crawl was over before it began: another component cannot be made, or a setting of Scrapy's is wrong."""
        return self._is_to_begin and not self.crawler.crawling

    def abandon(self) -> None:
        """Give back what a crawl has opened that has failed before it began. Never raises for a store."""
        self.workers.abandon()
        self._store_threads.close()
        try:
            self.crawl.leave(finished=False)
            self.store.close()
        except StoreError as exc:
            self.fault("store_error", "simcrawl could not write the end of its store: %s", exc)

    # ---- verdicts

    async def judge(self, request: Request, response: Response, *, never_drop: bool, yielded: bool, taken_back: bool = False) -> Verdict:
        """Find the verdict on a page and bind it to its request. Never raises for a page or a store.

        `never_drop`, `taken_back`: see `simcrawl.rule.Rule.decide`.
        """
        self._end_abandoned()
        started = monotonic()
        self.preferred.redirected(request.meta.get("redirect_urls", ()), response.url)
        try:
            case = await self._case(request, response, never_drop=never_drop, taken_back=taken_back, sure=yielded)
        except StoreError as exc:
            case = self._unchecked("store_error", "simcrawl cannot use its store; pages pass unchecked: %s", exc)
        except PassedError as exc:
            case = self._passed(exc)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self.failed(exc)
            case = Case(Verdict(kind=Kind.SKIPPED, reason="error"))
        self.preferred.arrived(response.url)
        self.history.held(self.known_as(response.url), started)
        is_new = case.claim is not None or self._is_revisited_first(case.verdict)
        self._note_visit(request, response, case.verdict)
        case.body = response.body
        bind(request, case)
        if is_new and not case.verdict.is_duplicate:
            # The case must not hold its request, as whose end its own is known.
            case.came_out = self.frontier.lesson(request, response.url, case.verdict)
        kept = case.verdict.page.url if case.verdict.page else self.known_as(response.url)
        if case.claim or case.verdict.kind is Kind.REVISITED:
            case.has_given = partial(self.given.kept, kept, case.callback)
        if owed := self.changes.owed_by(request):
            case.came = partial(self.changes.came, owed)
        if case.claim:
            case.kept_as, case.is_for_later = kept if self._drops_items else "", self.config.originals == "store"
            case.lost = partial(self.changes.lost, kept)
            # Not settled there and then: garbage is collected in any thread, at any moment, with any lock held.
            finalize(request, self._abandoned.append, case).atexit = False
        return case.verdict

    async def text_of(self, response: Response) -> str | None:
        """Return a page's main text; None where it cannot be made, which is counted and told."""
        text = await self.workers.text(response.body, getattr(response, "encoding", None))
        if text is None:
            self.stats.inc_value("simcrawl/errors")
            self.warn("no_text", _NO_TEXT, self.known_as(response.url), self.config.max_page_seconds)
        return text

    def gives(self, case: Case) -> bool:
        """Return whether items of a copy come out, since its original gave none to its callback: see `simcrawl.crawl.given`."""
        if case.gives is None:
            original = case.verdict.original or ""
            self._recall_given(original)
            case.gives = self.given.take(original, case.callback)
            if case.gives:
                case.give_back = partial(self.given.give_back, original, case.callback)
                if not self._has_told_given:
                    self._has_told_given = True
                    logger.info(_GIVES, case.verdict.page.url if case.verdict.page else "a page", original, extra=self._extra)
        return case.gives

    def note_item(self, case: Case, item: Any) -> None:
        """Remember what an item says that comes out, for the items of copies. Never raises for an item."""
        content = case.verdict.original if case.gives else case.kept_as
        if content:
            try:
                read = self.read(item)
                self.elsewhere.note(content, case.callback, read)
                if self.refused.is_possible and read.is_item and not case.verdict.drop_page:
                    case.hold(item, self.refused.held(read, case.url))
            except Exception as exc:  # noqa: BLE001 - an item of the user's own may do anything
                self.failed(exc)

    def note_dropped(self) -> None:
        """Note that an item of a copy is dropped. Never raises."""
        try:
            self._no_items.dropped()
        except Exception as exc:  # noqa: BLE001 - an extension of the user's own may take the place of Scrapy's
            self.failed(exc)

    def was_refused(self, case: Case, item: Any, read: ItemRead) -> bool:
        """Return whether an item of a copy comes out, since its original's was refused: see `simcrawl.crawl.refused`. Never raises."""
        try:
            was_refused = self.refused.take(case.verdict.original or "", case.callback, read, case.url)
            if was_refused:
                case.hold(item, self.refused.held(read, case.url))
        except Exception as exc:  # noqa: BLE001 - as above
            self.failed(exc)
            return False
        return was_refused

    def _note_left(self, case: Case, item: Any, *, was_dropped: bool) -> None:
        """Note whether a pipeline dropped an item that has left them, or it has come out without its files. Never raises for an item."""
        _, read = case.said.pop(id(item), (None, None))
        if read is None:
            return
        try:
            is_refused = was_dropped or self.refused.lacks_files(item)
            if case.verdict.drop_page:
                self.refused.came(case.callback, in_vain=is_refused)
            # What has come out of a copy without its files does not come out of the next one again: they may be nowhere.
            if is_refused and (was_dropped or case.kept_as):
                self.refused.note(case.kept_as or case.verdict.original or "", case.callback, read, case.url)
        except Exception as exc:  # noqa: BLE001 - as above
            self.failed(exc)

    def is_from_elsewhere(self, case: Case, item: ItemRead, copy: Copy) -> bool:
        """Return whether an item of a copy comes out, for what it says: see `simcrawl.crawl.elsewhere`. Never raises for an item."""
        verdict = case.verdict
        original, kind = verdict.original or "", {"marked_up": verdict.reason == _MARKED_UP, "of_bytes": verdict.reason == _OF_BYTES}
        try:
            key = self.elsewhere.find(original, case.callback, item, copy, identical=any(kind.values()), **kind)
        except Exception as exc:  # noqa: BLE001 - as above
            self.failed(exc)
            return False
        if key is not None and not self._has_told_elsewhere:
            self._has_told_elsewhere = True
            logger.info(_FROM_ELSEWHERE, verdict.page.url if verdict.page else "a page", original, key, extra=self._extra)
        return key is not None

    def _recall_given(self, original: str) -> None:
        """Look up whether an original gave items that came out before this run, or in another process."""
        if self.given.knows(original):
            return
        try:
            page = self.pages.known(original)
        except StoreError as exc:
            self.fault("store_error", "simcrawl cannot use its store; pages pass unchecked: %s", exc)
            return
        # The store has the name of a callback only where that took none.
        if page and page.confirmed and page.callback:
            self.given.kept(original, page.callback, items=False)

    def _is_revisited_first(self, verdict: Verdict) -> bool:
        """Return whether a page that the store has kept is met in this crawl for the first time: only then does it teach anything."""
        if verdict.kind is not Kind.REVISITED or verdict.page is None:
            return False
        try:
            return not self.crawl.has_seen(verdict.page.url)
        except StoreError as exc:
            self.fault("store_error", "simcrawl cannot use its store; pages pass unchecked: %s", exc)
            return False

    def _note_visit(self, request: Request, response: Response, verdict: Verdict) -> None:
        """Note that the page was fetched, tell its callback what has changed, and look where its original comes from."""
        try:
            self.changes.judged(request, response.url, verdict)
            if self.foreign.note(verdict):
                self._tell_foreign()
        except StoreError as exc:
            self.fault("store_error", "simcrawl cannot use its store; pages pass unchecked: %s", exc)
        except Exception as exc:  # noqa: BLE001 - the verdict stands, and its claim has to be settled
            self.failed(exc)

    def _tell_foreign(self) -> None:
        self.warn("foreign", MOST_ARE_FOREIGN, self.foreign.copies, self.foreign.count)

    async def _case(self, request: Request, response: Response, *, never_drop: bool, taken_back: bool, sure: bool) -> Case:
        # Other methods than GET may answer anything under a URL: they must not pass for what GET answers there.
        known_as = self.known_as(response.url)
        url = known_as if request.method == "GET" else f"{request.method} {known_as}"
        encoding = getattr(response, "encoding", None)
        callback = self.use_of(request)
        if callback != self.callback_of(request):
            self.stats.inc_value("simcrawl/pages/with_data")
        claim = partial(self.detector.claim, taken_back=taken_back, callback=callback)
        hints = _header_hints(response, known_as)
        # A page that is kept whatever it is, or for which its own callback may be waiting, waits for none.
        may_wait = sure and not never_drop

        def claim_at_once(page: PageFingerprint | Abstention) -> Admission | None:
            page = self.detector.without_secrets(_with_hints(hints, page))
            return None if may_wait and self.preferred.waits(page) else claim(page, never_drop=never_drop)

        made, first = await self.workers.judge(response.body, url=url, encoding=encoding, claim=claim_at_once)
        page = self.detector.without_secrets(_with_hints(hints, made))
        self.preferred.note(page)
        if first is None and may_wait:
            await self.preferred.wait(page)
        if isinstance(page, Abstention) and page.reason in _LIMITS:
            self.warn(page.reason, _LIMITS[page.reason], page.url)
        again = partial(self._store_threads.run, claim, page)
        admission = first or await again(never_drop=never_drop)
        has_held_up = False
        if admission.waits_for:
            began = monotonic()
            self._waits += 1
            try:
                with self._places.lent(response):
                    admission = await self._wait(request, admission, again, sure=sure, never_drop=never_drop)
                has_held_up = monotonic() - began > _SHORT_WAIT and not self._has_others()
            finally:
                self._waits -= 1
        self.again.ask(admission.mistaken, page.url)
        self._count_stage(admission.verdict, page)
        verdict = admission.verdict if admission.verdict.page is page else replace(admission.verdict, page=page)
        once_more = self.again.copied(request) if admission.may_be_mistaken else None
        claimed = self.feeds.hold(admission.claim)
        return Case(verdict, claimed, callback=callback, again=once_more, has_held_up=has_held_up, taken_back=taken_back)

    async def _wait(
        self, request: Request, admission: Admission, again: Callable[..., Awaitable[Admission]], *, sure: bool, never_drop: bool
    ) -> Admission:
        """Return an admission that waits for no other page, see `wait_for_original`."""
        if sure:
            most, kept = self.config.max_page_seconds, self._kept_in_vain
            if self.frontier.must_not_delay(request) and self.frontier.is_near_the_end(request):
                return await wait_for_original(admission, again, min(most, _SHORT_WAIT), never_drop=never_drop, kept=kept)
            return await wait_for_original(admission, again, most, never_drop=never_drop, patience=self._patience, kept=kept)
        started = monotonic()
        waited = await wait_for_original(admission, again, self._unsure_wait, never_drop=never_drop)
        if monotonic() - started >= _UNSURE_WAIT:
            self._in_vain += 1
        return waited

    def _is_closing(self) -> bool:
        engine: Any = self.crawler.engine
        # Nothing public tells of it: the signal comes when the crawl has closed.
        slot = engine and engine._slot  # noqa: SLF001
        return not self.crawler.crawling or bool(slot and slot.closing)

    def _has_work(self) -> bool:
        self._end_abandoned()
        engine: Any = self.crawler.engine
        at_work = engine and engine.scraper.slot
        return bool(at_work and at_work.active)

    def _has_others(self) -> bool:
        """Return whether anything is being downloaded, or left to be, but for the pages that wait. Never raises."""
        engine: Any = self.crawler.engine
        slot = engine and engine._slot  # noqa: SLF001 - as above
        try:
            return not slot or len(engine.downloader.active) > self._waits or slot.scheduler.has_pending_requests()
        except Exception as exc:  # noqa: BLE001 - a scheduler of the user's own may do anything
            self.failed(exc)
            return True

    def has_asked_for(self, case: Case, request: Request) -> None:
        """Note that the callback of a page has asked for something. Never raises.

        If that is new, and the page has waited while there was nothing else to do, the crawl has stood still for as long.
        """
        if case.has_held_up and not self.frontier.has_shown(request):
            case.has_held_up = False
            self._patience.was_costly()

    def _kept_in_vain(self) -> None:
        self.stats.inc_value("simcrawl/pages/waited_in_vain")
        self.warn("waited_in_vain", _IN_VAIN)

    @property
    def _unsure_wait(self) -> float:
        return _UNSURE_WAIT if self._in_vain < _MOST_IN_VAIN else 0.0

    def _count_stage(self, verdict: Verdict, page: PageFingerprint | Abstention) -> None:
        """Count which stage of the decision was the last: the cheaper ones save the later ones."""
        stage = _STAGES.get(verdict.reason or verdict.kind.value, "body" if isinstance(page, Abstention) else "tables")
        self.stats.inc_value(f"simcrawl/cascade/decided_by_{stage}")

    def _end_abandoned(self) -> None:
        """Settle the claims of requests that are gone: never called back, or with items that another component took out."""
        while self._abandoned:
            self._abandoned.popleft().end()

    def _passed(self, exc: PassedError) -> Case:
        """Say once a host that its pages pass, and return the case of such a page."""
        # A crawl may meet any number of hosts. All are counted.
        if exc.reason in _PASSED and len(self._held_up) < _MOST_HOSTS_TOLD:
            self._held_up.add((exc.reason, exc.host))
            self.warn(f"{exc.reason} {exc.host}", _PASSED[exc.reason], exc.host)
        return Case(Verdict(kind=Kind.SKIPPED, reason=exc.reason))

    def _unchecked(self, reason: str, message: str, exc: Exception) -> Case:
        """Tell of a failure, and return the case of a page that passes unchecked."""
        self.fault(reason, message, exc)
        return Case(Verdict(kind=Kind.SKIPPED, reason=reason))

    def replaced(self, case: Case, response: Response) -> Case:
        """Return the case of a page whose body was exchanged after it was judged: nothing is known of it."""
        case.fail()
        self.warn(
            "replaced",
            "%s was changed after simcrawl judged it: move the component that does so above position 10",
            self.known_as(response.url),
        )
        fresh = Case(Verdict(kind=Kind.SKIPPED, reason="replaced"))
        if response.request:
            bind(response.request, fresh)
        return fresh

    def learn(self, response: Response, verdict: Verdict) -> None:
        """Learn from a copy: its verdict is acted on."""
        if response.request and (lesson := self.frontier.lesson(response.request, response.url, verdict)):
            lesson()

    # ---- the content of a page coming out

    def _item_scraped(self, item: Any, response: Response | None) -> None:
        taken = self.taken.takes(item)
        is_lost = self.exported.has_lost_item()
        if is_lost:
            self.stats.inc_value("simcrawl/items/not_exported")
            self.warn("not_exported", _NOT_EXPORTED, self.known_as(response.url) if response else "a page")
        saves = not is_lost and self.taken.saves(taken=taken)
        if not (case := case_of(response)):
            # No page, but maybe the last of several of which an item is made.
            if saves and response and response.request:
                self.changes.came(self.changes.owed_by(response.request))
            return
        if is_lost:
            # As an item on which a pipeline fails.
            case.said.pop(id(item), None)
            case.fail()
            return
        self._note_left(case, item, was_dropped=False)
        case.is_taken |= saves
        case.item_left(out=True, taken=taken)

    def _item_dropped(self, item: Any, response: Response | None, exception: DropItem) -> None:
        if not (case := case_of(response)):
            return
        is_copy = isinstance(exception, NearDuplicateItem)
        self._note_left(case, item, was_dropped=not is_copy)
        case.is_taken |= is_copy and self.taken.saves()
        case.item_left(out=is_copy)

    def _item_failed(self, item: Any, response: Response | None) -> None:
        if case := case_of(response):
            case.said.pop(id(item), None)
            case.fail()

    # ---- what is told

    def count(self, verdict: Verdict, *, size: int = 0, taken_back: bool = False) -> None:
        """Count a verdict in the stats; `size`: bytes of the page's body. A page whose verdict is taken back has been counted before."""
        if taken_back:
            self.stats.inc_value("simcrawl/pages/taken_back")
            return
        self.stats.inc_value("simcrawl/pages/checked")
        self.stats.inc_value(f"simcrawl/pages/{verdict.kind.value}")
        if verdict.kind is Kind.SKIPPED:
            self.stats.inc_value(f"simcrawl/pages/skipped/{verdict.reason}")
        if verdict.is_duplicate:
            self.stats.inc_value("simcrawl/bytes/duplicate", size)
        if verdict.kind is Kind.NEAR_DUPLICATE:
            self.stats.inc_value(f"simcrawl/distance/{verdict.distance}")
        if verdict.drop_page:
            self.stats.inc_value("simcrawl/pages/dropped")
        if verdict.canonical in _AGREEMENT:
            self.stats.inc_value(f"simcrawl/canonical/{_AGREEMENT[verdict.canonical]}")

    def tell(self, response: Response, verdict: Verdict, *, links: int = 0) -> None:
        """Log a drop and send the signal. `links`: how many are dropped with the page now; the first page with some is always shown."""
        url = self.known_as(response.url)
        first = self.links.add(url, links) or not self._told
        level = logging.INFO if self.config.debug or first else logging.DEBUG
        hint = " (no more drops will be shown, see SIMCRAWL_DEBUG)" if first and not self.config.debug else ""
        self._told = True
        logger.log(
            level,
            "Dropped %(what)s of %(url)s: %(reason)s of %(original)s (distance %(distance)s, similarity %(similarity)s)%(hint)s",
            {
                "what": _dropped_parts(verdict) + (f" ({links})" if links else ""),
                "url": url,
                "reason": verdict.reason,
                "original": verdict.original,
                "distance": verdict.distance,
                "similarity": told_similarity(verdict),
                "hint": hint,
            },
            extra=self._extra,
        )
        if (case := case_of(response)) and case.again and verdict.page:
            self.again.hold(verdict.page.url, case.again, response, case.dropped)
        self.crawler.signals.send_catch_log(
            page_dropped, request=response.request, response=response, verdict=verdict, spider=self.crawler.spider
        )

    def tell_links(self, response: Response, links: int) -> None:
        """Log how many of a parsed page's links were dropped, if any: the first time always."""
        url = self.known_as(response.url)
        first = self.links.add(url, links)
        if links:
            level = logging.INFO if self.config.debug or first else logging.DEBUG
            logger.log(level, "Dropped the links behind %s: %d", url, links, extra=self._extra)

    @property
    def _extra(self) -> dict[str, Any]:
        return {"spider": self.crawler.spider}

    async def recall(self) -> None:
        """Let this run begin with what that knew which it resumes, and what earlier crawls learned, off the event loop. Never raises."""
        if self._said_file:
            await self._store_threads.run(self._try_said, partial(self._said_file.begin, resumed=self.crawl.resumed))
        if not self.config.order:
            return
        try:
            self.stats.set_value("simcrawl/predicted/remembered", await self._store_threads.run(self.frontier.recall))
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self.fault("store_error", "simcrawl cannot learn from its store; this crawl learns anew: %s", exc)

    def _try_said(self, do: Callable[[], None]) -> None:
        """Do something with the file that has what items said. Never raises."""
        try:
            do()
        except Exception as exc:  # noqa: BLE001 - a file that somebody has changed may hold anything
            self.stats.inc_value("simcrawl/errors")
            self.warn("said", _NOT_SAID, exc)

    async def measure(self) -> None:
        """Set the stats of the store's size. Never raises for a store."""
        try:
            size = await self._store_threads.run(self._size)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self.fault("store_error", "simcrawl cannot read the size of its store: %s", exc)
        else:
            for name, value in size.items():
                self.stats.set_value(f"simcrawl/store/{name}", value)

    def _size(self) -> dict[str, int]:
        # Not while another thread closes it.
        with self._closing:
            return {} if self._closed else self.store.size()

    # ---- end

    def sync_soon(self) -> None:
        """Start writing what is confirmed, off the event loop, unless that is still going on."""
        self._end_abandoned()
        self.feeds.flush()
        if not self._syncing:
            self._syncing = True
            deferred_from_coro(self._sync(self._said_file.due() if self._said_file else None))

    async def _sync(self, said: Callable[[], None] | None) -> None:
        try:
            await self._store_threads.run(self._write, said)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self.fault("store_error", "simcrawl cannot write its store; it tries again later: %s", exc)
        finally:
            self._syncing = False

    def _write(self, said: Callable[[], None] | None) -> None:
        self._tell_if_gone()
        # First: a page that is known after a kill has what its items said.
        if said:
            self._try_said(said)
        self.crawl.try_sync()

    def _tell_if_gone(self) -> None:
        """Tell that the store was removed, which nobody else would notice: LMDB goes on with files that are at no path any more."""
        if self.store.path and self.store.is_gone:
            self.stats.set_value("simcrawl/store/gone", 1)
            self.warn("gone", _GONE, self.store.path)

    def expire_soon(self) -> None:
        """Start removing expired pages, off the event loop, in short steps between which the crawl's own look-ups take their turn."""
        if self.config.expire_days:
            self._expiring = deferred_from_coro(self._expire(time() - self.config.expire_days * 86_400))

    async def _expire(self, before: float) -> None:
        steps = self.store.expiring(before)
        try:
            if await self._would_take_most(before):
                return
            while not self._ending and (removed := await self._store_threads.run(next, steps, None)) is not None:
                self.stats.inc_value("simcrawl/store/expired", removed)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self.fault("store_error", "simcrawl cannot remove expired pages; the next crawl tries again: %s", exc)

    async def _would_take_most(self, before: float) -> bool:
        """Return whether more than half of the store's pages are from before a moment, and say so: a clock may be wrong."""
        old, steps = 0, self.store.counting_old(before)
        while not self._ending and (more := await self._store_threads.run(next, steps, None)) is not None:
            old += more
        pages = (await self._store_threads.run(self._size)).get("pages", 0)
        if 2 * old <= pages:
            return False
        self.stats.set_value("simcrawl/store/not_expired", old)
        self.warn("not_expired", _TOO_MANY, old, pages, self.config.expire_days, moment(time()), self.store.path, self.config.expire_days)
        return True

    async def close(self, reason: str = "") -> None:
        """Write what is confirmed, set the final stats, and give back the store."""
        self._ending = True
        self._end_abandoned()
        if reason != "finished":
            self.again.save()
        if self.foreign.are_most:
            self._tell_foreign()
        self.feeds.flush()
        if self._expiring:
            await maybe_deferred_to_future(self._expiring)
        self.lag.stop()
        await self.workers.close()
        # Where it did not finish it is none to be compared with anyway.
        is_stored = reason != "finished" or await self._feeds_are_stored()
        try:
            await self._store_threads.run(self._close_store, reason, is_stored=is_stored)
        except Exception as exc:  # noqa: BLE001 - as above
            self.fault("store_error", "simcrawl could not write the end of its store: %s", exc)
        self._tell_cost()
        self._store_threads.close()
        _sessions.pop(self.crawler, None)

    async def _feeds_are_stored(self) -> bool:
        """Return whether every feed could be stored, once that is known, and say so if not. Never raises."""
        try:
            if self.exported.is_closing:
                # An upload may take minutes, and the timers that write are stopped.
                await self._sync(None)
            is_stored = await self.exported.are_stored()
        except Exception as exc:  # noqa: BLE001 - exporters and stats of the user's own may do anything
            self.failed(exc)
            return True
        if not is_stored:
            self.warn("not_stored", _NOT_STORED)
        return is_stored

    def _tell_cost(self) -> None:
        late = self.store.late_duplicates + self.crawl.own.late_duplicates
        numbers: dict[str, float] = {"store/late_duplicates": late} | self.workers.stats() | self.feeds.stats() | self.preferred.stats
        candidates = self.store.candidates + self.crawl.own.candidates
        numbers |= {f"candidates/{name}": candidates[name] for name in ("decisions", "compared", "at_cap")}
        numbers |= {f"cascade/{stage}": count for stage, count in self.detector.cascade.items()}
        numbers |= {f"loop/lag_p{percent}": round(self.lag.percentile(percent / 100), 4) for percent in (50, 99)}
        for name, number in numbers.items():
            self.stats.set_value(f"simcrawl/{name}", number)

    def _close_store(self, reason: str, *, is_stored: bool) -> None:
        try:
            self._tell_if_gone()
            if self._said_file:
                self._try_said(self._said_file.remove if reason == "finished" else self._said_file.due())
            self._leave_crawl(reason, is_stored=is_stored)
            self.store.sync()
            counts = self.store.size()
            self.stats.set_value("simcrawl/store/pages", counts["pages"])
            self.stats.set_value("simcrawl/store/bytes", counts["bytes"])
            if self.store.keeps_texts:
                self.stats.set_value("simcrawl/store/texts_refused", self.store.texts_refused)
            spider: Any = self.crawler.spider
            crawl = {"spider": spider.name, "reason": reason, "recipe": self.detector.recipe.identity}
            record = self.history.record(crawl, self.stats.get_stats(), self.config, self.detector.rule)
            self.store.note_crawl(record | {"changes": self.changes.record()})
        finally:
            with self._closing:
                self._closed = True
                self.store.close()

    def _leave_crawl(self, reason: str, *, is_stored: bool) -> None:
        try:
            self.crawl.leave(finished=reason == "finished", stored=is_stored)
        except StoreError as exc:
            self.fault("store_error", "simcrawl could not write the end of its crawl: %s", exc)
        self.changes.end()


class OfSession:
    """What the middlewares have in common: the session of their crawler."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of a crawler.

        Raises:
            SettingError: a setting has a wrong value.
            StoreError: the store cannot be used.
        """
        return cls(Session.of(crawler))


def _abandon_failed() -> None:
    """Close what crawls have left open that failed before they began: Scrapy has no signal for that.

    By the next crawl of the process, for where there is none the process ends.
    """
    for crawler, session in list(_sessions.items()):
        if session.has_failed:
            del _sessions[crawler]
            session.abandon()


def _warn_of_unknown(crawler: Crawler) -> None:
    """Say which settings look like simcrawl's and are none: what they should do is not done."""
    for name, meant in unknown(crawler.settings).items():
        if meant:
            logger.warning("There is no setting %s: is %s meant?", name, meant, extra={"spider": crawler.spider})
        else:
            logger.warning("There is no setting %s, nor one of a name like it", name, extra={"spider": crawler.spider})


def _header_hints(response: Response, url: str) -> Hints:
    """Return what a response's headers say of its page."""
    links, robots = ([value.decode("latin-1") for value in response.headers.getlist(name)] for name in ("Link", "X-Robots-Tag"))
    return of_headers(links, robots, url) if links or robots else NO_HINTS


def _with_hints(told: Hints, page: PageFingerprint | Abstention) -> PageFingerprint | Abstention:
    return page if told == NO_HINTS else replace(page, hints=(page.hints or NO_HINTS).also(told))


def _dropped_parts(verdict: Verdict) -> str:
    if verdict.drop_page and verdict.drop_outlinks:
        return "page and outlinks"
    return "page" if verdict.drop_page else "outlinks"


def told_similarity(verdict: Verdict) -> str:
    """Return a similarity as logs have it."""
    return "unknown" if verdict.similarity is None else f"{verdict.similarity:.3f}"
