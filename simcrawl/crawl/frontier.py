"""The order of a crawl: requests that are likely copies wait, and those that have proved to be copies are left out.

    a spider yields it ──► marked ──► scheduler ──► leaves it: what do the rules say now?
                                        ▲                │
                                        ├── 10 lower ◄───┤ likelier a copy than when it was put there, and not low already
                                        ├── the end ◄────┤ a copy, almost certainly
                                        ├── behind it ◄──┤ the same again, with nothing else left to do: some of each kind are made
                                        │                ├── the same again, and those that were made were copies ──► skipped
                                        │                ▼
                                        │            made, without its mark, as any other request
                                        └─ once a level; a request that leaves the end of the queue is made, or skipped

A sample of what a rule says is fetched in any case, by chance. That misses the last pages of a mirror that goes its own way near its end:
so, before the first one of a kind is skipped, the last that came to wait is fetched, and some of the others.

Nothing is held here: what waits waits in Scrapy's queue, with its marks in `Request.meta`, see `simcrawl.crawl.marks`. So it survives
JOBDIR and other schedulers, and a rule that proves wrong has nothing to give back: whatever it would have had skipped is asked about once
more, at the end.

State of the crawl. It goes one way: in doubt less is lowered, and less is skipped.

    _order   True ──► False     nothing waits any more: the spider wants some requests late, or the scheduler refuses what is put back
    _skip    .95 ──► None       nothing is skipped any more: callbacks may wait for what waits here
    _unseen  grows              callbacks whose pages are not skipped: they may hand requests to the engine, and nobody sees what for
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from functools import partial
from inspect import isgeneratorfunction
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from scrapy import signals as scrapy_signals
from scrapy.core.scheduler import Scheduler
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK
from scrapy.spiders import CrawlSpider, SitemapSpider
from scrapy.utils.misc import load_object

from simcrawl.addresses import of_one_host
from simcrawl.crawl.askers import Askers
from simcrawl.crawl.at_work import AtWork
from simcrawl.crawl.carried import CARRIED, mark_unyielded
from simcrawl.crawl.marks import (
    ASKED,
    ASKER,
    BEHIND,
    HELD,
    LAST,
    LATE,
    MARKS,
    META_KEY,
    MOVED,
    ORDER,
    RETURNED,
    SAMPLED,
    SKIPPED,
    UNYIELDED,
    asked_for,
    forget_marks,
    is_plain,
    is_start,
    mark_late,
    move,
    put_after_all,
    put_back,
    release,
    restore,
    tries,
)
from simcrawl.crawl.signals import request_skipped
from simcrawl.errors import StoreError
from simcrawl.page.fingerprint import digest, page_key
from simcrawl.page.hints import address
from simcrawl.rule import Kind, without_data
from simcrawl.store.register import PREDICTED, Duplicate
from simcrawl.store.rejections import url_key
from simcrawl.urls.outlinks import APART, EXPECTED, Outlinks
from simcrawl.urls.recall import Recalled
from simcrawl.urls.rewrites import RewriteRules
from simcrawl.urls.robots import unimportant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Hashable

    from scrapy import Request
    from scrapy.http import Response

    from simcrawl.crawl.changes import Changes
    from simcrawl.crawl.common import Common
    from simcrawl.crawl.preferred import Preferred
    from simcrawl.page.hints import Hints
    from simcrawl.rule import Verdict
    from simcrawl.urls.outlinks import Foretold
    from simcrawl.urls.rewrites import Outlook, Prediction
    from simcrawl.urls.robots import Unimportant

logger = logging.getLogger(__name__)

# So likely a copy (.7 at least) that it matters no more how much likelier it becomes until it may be skipped. One level earlier, new pages
# are among these, in the order in which they came to wait; to put each back at each further level finds no more.
_LOW = -60
# Requests at the end of the queue; canonical URLs and answers that are remembered; what is skipped together; rules that are told.
_MOST_HELD, _MOST_NAMED, _MOST_ANSWERS = 100_000, 50_000, 50_000
_MOST_KINDS, _MOST_RULES = 10_000, 1_000
# Bytes of an answer.
_MOST_HASHED = 1_000_000
# Steps to the limit of the depth.
_NEAR = 3
# As links on copies come after others: the canonical one may be such a link.
_BEHIND_PREFERRED = -2
_CHECKED = frozenset({0, *(4**power for power in range(1, 9))})
# Each callback has rules of its own, and they take memory.
_MOST_CALLBACKS = 8
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Whose robots.txt is remembered.
_MOST_HOSTS = 200
_REFUSED = (
    "The scheduler has not taken back %s, which was to wait as a likely copy, and it is lost: SCHEDULER ignores dont_filter. From now on "
    "no request waits. SIMCRAWL_ORDER = False lets none wait from the start"
)
_WANTED_LATE = (
    "The spider gives %s a low priority (%d), so that it comes after others: from now on no request waits as a likely copy, and none is "
    "skipped. SIMCRAWL_ORDER = False does so from the start"
)
_UNSEEN = (
    "%s was scheduled although no callback has yielded it. The callbacks that are running now (%s) may have passed it to the engine "
    "themselves, so their pages are no longer skipped. If a middleware has made it: request.replace() keeps simcrawl's marks"
)
_WAITED_FOR = (
    "A callback takes long, or waits for requests that wait for it: no request is skipped any more. SIMCRAWL_SKIP = False skips none from "
    "the start"
)


class _Kind:
    """What is skipped by one rule in one part of a site: how many of the pages were looked at, and which came to wait last."""

    __slots__ = ("last", "seen")

    def __init__(self) -> None:
        self.last, self.seen = "", 0

    def is_checked(self, url: str) -> bool:
        """Return whether a page is fetched before any is skipped: the first, the last, and of many the 5th, the 17th, the 65th ..."""
        number, self.seen = self.seen, self.seen + 1
        return url == self.last or number in _CHECKED


class Links(NamedTuple):
    """What is known of all links of a page: they are many, and so it is found out once.

    `behind`: where the page is a copy, [whose rules, URL of the copy], for `BEHIND`. `on_copy`: whether it is one. `hints`: where the page
    asks robots not to follow links. `foretold`: where the page is a copy, and the links of its original are known, what these make expect.
    """

    behind: list[str] | None
    on_copy: bool
    hints: Hints | None
    foretold: Foretold | None = None


class Frontier:
    """Decides, for one crawler, what becomes of a request when it leaves the scheduler. All of it on the event loop."""

    def __init__(self, common: Common, changes: Changes, preferred: Preferred) -> None:
        self._common, self._crawler, self._stats = common, common.crawler, common.stats
        self._changes, self._preferred = changes, preferred
        config = common.config
        settings = self._crawler.settings
        self._order = config.order
        self._deepest = settings.getint("DEPTH_LIMIT")
        # Only what is dropped as a whole may be left out: with other actions something of a copy comes out, or all of its links are wanted.
        self._skip = config.skip if config.action == "drop" and config.copies_kept == 1 else None
        self._skips_from = 1.0 if self._skip is None else self._skip
        # Where no link of a copy is followed nothing is behind one either.
        self._outlinks = Outlinks() if self._skip is not None and config.outlinks != "drop" else None
        self._recalled: Recalled | None = None
        self._rules: dict[str, RewriteRules] = {}
        # Keys of URLs that other pages name as their canonical ones.
        self._named: OrderedDict[bytes, None] = OrderedDict()
        # Digests of answers that are no pages.
        self._answers: OrderedDict[bytes, None] = OrderedDict()
        # By host, what its robots.txt says of parameters.
        self._said: dict[str, list[Unimportant]] = {}
        self._held = 0
        self._kinds: OrderedDict[Hashable, _Kind] = OrderedDict()
        # Whether nothing but the end of the queue is left, so that it can be checked.
        self._checking = False
        self._at_work, self._askers = AtWork(self._crawler), Askers(self._crawler)
        # Requests that another middleware has yielded; callbacks that may give some to the engine.
        self._passed_on: WeakSet[Request] = WeakSet()
        self._unseen = set[str]()
        self._watches_scheduled = self._told = self._has_copies = False
        is_scrapys = getattr(load_object(settings["SCHEDULER"]), "enqueue_request", None) is Scheduler.enqueue_request
        # Whether some requests may wait lower than they were yielded: those of an earlier run, or of another crawler, nobody here knows.
        self._lowered = bool(settings.get("JOBDIR")) or not is_scrapys
        # Whether the scheduler has not taken back what was put back.
        self._refuses = False
        self.put_back_by = Counter[str]()
        """How many requests were put back by which rule, in words; of a thousand rules."""
        if self._order:
            # Where a redirect stands the middleware sees the page behind it alone.
            self._crawler.signals.connect(self._downloaded, signal=scrapy_signals.response_downloaded)
            # Sent for every link that was found before: Scrapy's own scheduler needs no watching.
            if not is_scrapys:
                self._crawler.signals.connect(self._refused, signal=scrapy_signals.request_dropped)

    # ---- what a spider yields

    def called(self, request: Request) -> None:
        """Note that the callback of a request comes next. Never raises."""
        self._at_work.called(request)
        self._askers.called(request)

    def ended(self, request: Request | None) -> None:
        """Note that the callback of a request has ended, and may have brought others."""
        self._at_work.ended(request)

    def watched(self, response: Response, result: AsyncIterator[Any]) -> tuple[int, AsyncIterator[Any]]:
        """Return a number for the callback of a response, and what it gives, see `simcrawl.crawl.askers`. Never raises."""
        return self._askers.watched(response, result, may_begin=self._order)

    def mark(self, request: Request, page: Request | None, *, may_wait: bool, asker: int = 0) -> None:
        """Mark a request when a spider yields it, with what shows at no other moment: its own `dont_filter`, and whether it may wait.

        `page`: the request that it comes of; `may_wait`: what `lets_wait` says of the response; `asker`: what `watched` says of it.
        """
        meta = request.meta
        wants_late = request.priority < 0 and self._wants_late(request, page)
        # To try again Scrapy's helper sets `dont_filter`: the user has not asked for the page whatever it is, unless for the first one.
        tries_again = tries(request) > tries(page) and not (page and page.meta.get(ASKED))
        if meta:
            forget_marks(meta)
        if wants_late:
            self._keep_spiders_order(request)
        if request.dont_filter and not tries_again:
            meta[ASKED] = True
        elif may_wait and not request.dont_filter and is_plain(request, meta):
            meta[ORDER] = 0
        else:
            # So much that it was seen here.
            meta.setdefault(CARRIED, "")
        if asker and (LATE in meta or ORDER in meta):
            meta[ASKER] = asker

    def _wants_late(self, request: Request, page: Request | None) -> bool:
        """Return whether a spider has lowered the priority of a request itself: below 0, and below that of the page.

        A page may be that low because of its depth, or as it was tried again, and hand that on. What is tried again is lowered, too.
        """
        usual = min(0, page.priority if page else 0, request.meta.get(MOVED, 0))
        return self._common.config.order and request.priority < usual and tries(request) <= tries(page)

    def _keep_spiders_order(self, request: Request) -> None:
        """Let a request come after all others, as its spider wishes; from now on no likely copy waits, for it would come later still."""
        mark_late(request)
        if self._order:
            self._order = False
            url, spider = self._common.known_as(request.url), self._crawler.spider
            logger.info(_WANTED_LATE, url, request.priority, extra={"spider": spider})
            self._at_work.ended(None)

    def has_shown(self, request: Request) -> bool:
        """Return whether the crawl was shown before what a request leads to, as far as that is known."""
        return self._outlinks is not None and self._outlinks.is_shown(asked_for(request))

    def show(self, urls: list[str]) -> None:
        """Note that the crawl was shown what requests lead to, and empty the list. Never raises."""
        try:
            if self._outlinks:
                self._outlinks.show(urls)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the links are followed
            self._common.failed(exc)
        urls.clear()

    def note(self, page: str, links: list[str]) -> None:
        """Note all that a callback has asked for, when it has ended well; of more than `MOST_LINKS` requests, one more. Never raises."""
        try:
            if self._outlinks:
                self._outlinks.note(self._common.known_as(page), links)
        except Exception as exc:  # noqa: BLE001 - as above
            self._common.failed(exc)

    def has_given(self, response: Response) -> None:
        """Note that the callback of a response has given something. Never raises."""
        try:
            if response.request:
                self._common.given.has_given(self._common.callback_of(response.request))
        except Exception as exc:  # noqa: BLE001 - whatever it is, the page is fetched
            self._common.failed(exc)

    def lets_wait(self, response: Response) -> bool:
        """Return whether requests that come of a response may wait.

        Not of a sitemap, whose site names what is to be visited, in order. And not where links are followed to a depth alone, but for those
        at its end: what is behind a page that waits may be found on a longer way meanwhile, and then be too deep for what it links to.
        Never raises.
        """
        try:
            return self._order and self._lets_wait(response)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the links are followed, in the spider's own order
            self._common.failed(exc)
            return False

    def _lets_wait(self, response: Response) -> bool:
        spider: Any = self._crawler.spider
        request = response.request
        is_sitemap = isinstance(spider, SitemapSpider) and request is not None and request.callback == spider._parse_sitemap  # noqa: SLF001 - no other
        return not (is_sitemap or (request is not None and self.must_not_delay(request)))

    def must_not_delay(self, page: Request) -> bool:
        """Return whether the links of a page must not come later than they would: all are followed to a depth, and these not to its end.

        A longer way may be found first, else, and what comes of it be too deep.
        """
        depth: int = page.meta.get("depth", 0)
        return depth + 1 < self._deepest

    def is_near_the_end(self, page: Request) -> bool:
        """Return whether what comes of a page soon is too deep: for a limit that is far away its links may come later."""
        depth: int = page.meta.get("depth", 0)
        return self._deepest - depth <= _NEAR

    def links(self, verdict: Verdict, page: Request | None) -> Links:
        """Return what is known of all links of a page. `page`: the request for it. Never raises."""
        try:
            return self._links(verdict, page)
        except Exception as exc:  # noqa: BLE001 - as above
            self._common.failed(exc)
            return Links(None, verdict.is_duplicate, None)

    def _links(self, verdict: Verdict, page: Request | None) -> Links:
        is_copy = verdict.is_duplicate
        self._has_copies = self._has_copies or is_copy
        behind = [self._name(page), verdict.page.url] if self._order and is_copy and page and verdict.page else None
        hints = verdict.page.hints if verdict.page else None
        foretold = None
        if behind and self._outlinks and verdict.original and not verdict.drop_outlinks:
            foretold = self._outlinks.foretold(behind[1], verdict.original)
        return Links(behind, is_copy, hints if hints and (hints.nofollow or hints.unfollowed) else None, foretold)

    def passes_on(self, request: Request) -> None:
        """Note that a request comes of a page, though no callback has yielded it: so nobody has handed it to the engine unseen."""
        if self._watches_scheduled and request.meta.keys().isdisjoint(MARKS):
            self._passed_on.add(request)

    def found(self, request: Request, links: Links) -> None:
        """Lower a request found on a copy, or on a page that asks robots not to follow it; raise one that another page names as canonical.

        Never raises.
        """
        if not (links.on_copy or links.hints or self._named):
            # Nearly all links of nearly all pages.
            return
        try:
            self._found(request, links)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the link is followed
            self._common.failed(exc)

    def _found(self, request: Request, links: Links) -> None:
        meta = request.meta
        if links.behind:
            meta[BEHIND] = [*links.behind, self._is_apart(request, links.behind, links.foretold)]
        # For what a callback waits for others would go first.
        if ORDER not in meta or self._askers.are_waiting_for(request):
            return
        # On a site without copies the order is the spider's: it may end with the first page that it knows.
        moved = -int(links.on_copy or (self._has_copies and self._is_unwanted(request.url, links.hints)))
        if self._named and self._key(request.url) in self._named:
            moved += 1
        if moved:
            self._lowered = self._lowered or moved < 0
            move(request, moved)

    def _is_apart(self, request: Request, behind: list[str], foretold: Foretold | None) -> bool:
        """Return whether the links of its original do not foretell what a copy asks for, and note it if nothing does."""
        told = foretold.of(asked_for(request)) if foretold else EXPECTED
        if told == APART and (rules := self._rules.get(behind[0])):
            rules.asked_apart(behind[1])
        return told != EXPECTED

    def _is_unwanted(self, url: str, hints: Hints | None) -> bool:
        """Return whether robots are not to follow a page's link."""
        # With its parameters: so it stands in the page.
        return hints is not None and hints.asks_not_to_follow(page_key(url, self._common.store.header.seed))

    # ---- what is learned

    def recall(self) -> int:
        """Learn from what the store knows, before the crawl begins, in any thread; return how many rules are remembered.

        Raises:
            StoreError: the store cannot be read.
        """
        self._recalled = Recalled.of(self._common.crawl, self._new_rules())
        return self._recalled.rules

    def _new_rules(self) -> RewriteRules:
        return RewriteRules(skip=self._skips_from, mirrors=self._common.config.mirrors, seed=self._common.store.header.seed)

    def _rules_of(self, name: str, callback: str) -> RewriteRules | None:
        """Return the rules for the pages of a callback, if there are not too many already."""
        rules = self._rules.get(name)
        if rules is None and len(self._rules) < _MOST_CALLBACKS:
            rules = self._rules[name] = self._recalled.for_callback(callback) if self._recalled else self._new_rules()
            for host, said in self._said.items():
                _suggest(rules, host, said)
        return rules

    def lesson(self, request: Request, url: str, verdict: Verdict) -> Callable[[], None] | None:
        """Return what to call once a copy's verdict is acted on, or a page's content has come out; it does not hold the request."""
        if not self._order:
            return None
        if request.method != "GET":
            return None if verdict.is_duplicate else partial(self._note_found_behind, request.meta.get(BEHIND))
        names = self._name(request), self._common.callback_of(request)
        behind = None if verdict.is_duplicate else request.meta.get(BEHIND)
        return partial(self._learn, names, self._common.known_as(url), verdict, behind)

    def _learn(self, names: tuple[str, str], url: str, verdict: Verdict, behind: list[Any] | None) -> None:
        hints = verdict.page.hints if verdict.page else None
        canonical = self._common.known_as(hints.canonical) if hints else ""
        try:
            if canonical not in ("", url):
                self._name_canonical(url, canonical)
            if rules := self._rules_of(*names):
                rules.observe(url, verdict, canonical)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self._common.fault("error", "simcrawl failed to learn from a page: %r", exc)
        self._note_found_behind(behind)

    def _note_found_behind(self, behind: list[Any] | None) -> None:
        """Note that what a request brought is new, if a copy's link led to it: then that copy was the way to something.

        `behind`: the request's mark `BEHIND`, None where it was found on no copy.
        """
        try:
            if behind and (rules := self._rules.get(behind[0])):
                # A request of an earlier release, in a queue, does not say how it was foretold.
                rules.led_on(behind[1], apart=behind[2:] == [True])
        except Exception as exc:  # noqa: BLE001 - as above
            self._common.fault("error", "simcrawl failed to learn from a page: %r", exc)

    def answered(self, request: Request, response: Response) -> None:
        """Learn from an answer that is no page, a file or what a program is told: a link on a copy may lead to it. Never raises.

        Bytes that an earlier one had are nothing new: each mirror has the same file.
        """
        if not self._order or self._skip is None:
            return
        # Of a film the beginning, and how long it is.
        content = digest(response.body[:_MOST_HASHED], len(response.body))
        is_new = content not in self._answers
        self._answers[content] = None
        if len(self._answers) > _MOST_ANSWERS:
            self._answers.popitem(last=False)
        if is_new:
            self._note_found_behind(request.meta.get(BEHIND))

    def _downloaded(self, request: Request, response: Response) -> None:
        """Learn where a URL leads that is redirected. Never raises."""
        location = response.headers.get("Location") if response.status in _REDIRECTS else None
        if location is None or request.method != "GET" or request.callback is NO_CALLBACK or request.meta.get(META_KEY) is False:
            return
        try:
            target = address(location.decode("utf-8", "replace"), response.url)
            if target and (rules := self._rules_of(self._name(request), self._common.callback_of(request))):
                rules.redirected(self._common.known_as(response.url), self._common.known_as(target))
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self._common.fault("error", "simcrawl failed to learn from a redirect: %r", exc)

    def _refused(self, request: Request) -> None:
        """Put nothing back any more, if the scheduler has not taken what was put back: one of a user's own, that filters by itself."""
        late, level = request.meta.get(LATE, [0])[0], request.meta.get(ORDER)
        if not self._refuses and (late or level not in (None, 0, SKIPPED, RETURNED)):
            self._order, self._refuses = False, True
            self._common.warn("refused", _REFUSED, self._common.known_as(request.url))

    def pass_by(self, response: Response) -> None:
        """Learn from a response that passes through the crawl, if it is a site's robots.txt. Never raises."""
        if not self._order or not response.url.endswith("/robots.txt") or response.status != 200:
            return
        try:
            host, _, path = self._common.known_as(response.url).partition("://")[2].partition("/")
            if path == "robots.txt" and host not in self._said and len(self._said) < _MOST_HOSTS and (said := unimportant(response.body)):
                self._said[host] = said
                for rules in self._rules.values():
                    _suggest(rules, host, said)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the crawl goes on
            self._common.fault("error", "simcrawl failed to learn from a robots.txt: %r", exc)

    def _name_canonical(self, url: str, canonical: str) -> None:
        # One host must not say which pages of another come first.
        if of_one_host(url, canonical):
            self._named[self._key(canonical)] = None
            if len(self._named) > _MOST_NAMED:
                self._named.popitem(last=False)

    def _key(self, url: str) -> bytes:
        return url_key(self._common.known_as(url), self._common.store.header.seed)

    def _name(self, request: Request) -> str:
        name = self._common.callback_of(request)
        # All rules of a CrawlSpider have one callback, which looks up theirs.
        return f"{name}.{request.meta.get('rule')}" if isinstance(self._crawler.spider, CrawlSpider) else name

    def sampled(self, verdict: Verdict) -> None:
        """Count what has become of a page that is almost certainly a copy, and was fetched all the same."""
        if verdict.kind is not Kind.SKIPPED:
            self._inc("right" if verdict.is_duplicate else "wrong")

    # ---- what leaves the scheduler

    async def ask(self, request: Request) -> Request | None:
        """Return None for a request that is to be made now; otherwise the request, which goes back to the engine. Never raises."""
        meta = request.meta
        try:
            if CARRIED not in meta:
                if ORDER in meta or ASKED in meta:
                    meta[CARRIED] = ""
                else:
                    mark_unyielded(request)
                    meta[UNYIELDED] = True
                    self._note_unyielded(request)
                    if request.priority < 0 and is_start(request) and self._common.config.order:
                        self._keep_spiders_order(request)
            if LATE in meta:
                return self._late_turn(request)
            level = meta.get(ORDER)
            return None if level is None else await self._asked(request, level)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the page is fetched
            self._common.fault("error", "simcrawl failed on a request, which is made all the same: %r", exc)
            if ORDER in meta:
                release(request)
            return None

    def _note_unyielded(self, request: Request) -> None:
        """Note which callbacks may have asked for a page without yielding a request: those at work that can wait for an answer."""
        # A spider's first requests need not wait until no callback is at work.
        if request.url.endswith("/robots.txt") or is_start(request):
            return
        if self._order and self._skip is not None and not self._watches_scheduled and request.callback is not NO_CALLBACK:
            # Not before: the signal is sent for every link of every page.
            self._watches_scheduled = True
            self._crawler.signals.connect(self._scheduled, signal=scrapy_signals.request_scheduled)
        for page in self._at_work.pages():
            if not isgeneratorfunction(page.callback or getattr(self._crawler.spider, "parse", None)):
                self._common.elsewhere.downloads(self._common.callback_of(page))

    def _late_turn(self, request: Request) -> Request | None:
        """Return a request that its spider wants late, to be put behind all others, if some of these were put back; None if it is made now.

        Once: what has been behind all others is made when it leaves the queue again.
        """
        if request.meta[LATE][0] or self._refuses or not self._lowered or self._askers.are_waiting_for(request):
            restore(request)
            return None
        return put_after_all(request)

    def _scheduled(self, request: Request) -> None:
        """Note which callbacks may hand requests to the engine themselves, so that nobody knows what pages lead to. Never raises.

        Those at work when one is scheduled that nobody has yielded. Such requests may also come of an idle spider: then none is at work.
        """
        if not request.meta.keys().isdisjoint(MARKS) or request in self._passed_on or is_start(request):
            return
        try:
            # Once: with many requests of that kind, to look at each page each time takes long.
            callbacks = {self._common.callback_of(page) for page in self._at_work.take_called()} - self._unseen
            if callbacks:
                names, spider = ", ".join(sorted(callbacks)), self._crawler.spider
                logger.info(_UNSEEN, self._common.known_as(request.url), names, extra={"spider": spider})
            self._unseen |= callbacks
        except Exception as exc:  # noqa: BLE001 - whatever it is, the request is made
            self._common.failed(exc)

    async def _asked(self, request: Request, level: int) -> Request | None:
        if not self._order or level == RETURNED or self._askers.are_waiting_for(request):
            # Of the last kind one that waits would make its callback wait, and with many pages of such callbacks Scrapy makes no requests.
            if level in (HELD, LAST):
                self._hold(-1)
            release(request)
            return None
        url, name, callback = self._common.known_as(request.url), self._name(request), self._common.callback_of(request)
        rules = self._rules_of(name, callback)
        seen = rules.look(url) if rules and not self._is_original(url) else None
        prediction = self._skippable(request, url, seen)
        kind = self._kind(name, seen.part) if seen and prediction else None
        if level == HELD:
            return await self._check(request, kind)
        if level == LAST:
            return await self._decide(request, prediction)
        self._checking = False
        if kind and self._held < _MOST_HELD:
            self._hold(1)
            kind.last = url
            self._lowered = True
            return put_back(request, HELD)
        now, why = (seen.priority, seen.why) if seen else (0, "")
        if not level and now > _BEHIND_PREFERRED and self._preferred.comes_first(url):
            now, why = _BEHIND_PREFERRED, "the page that it names as the canonical one comes first"
        if now < level and level > _LOW:
            self._inc("put_back")
            self._lowered = True
            if why in self.put_back_by or len(self.put_back_by) < _MOST_RULES:
                self.put_back_by[why] += 1
            return put_back(request, now)
        if seen and seen.prediction and self._skip is not None and seen.prediction.probability >= self._skip:
            self._count_sample(request)
        release(request)
        return None

    def _is_original(self, url: str) -> bool:
        """Return whether the store has a page as an original, which is kept again whatever this crawl has fetched."""
        common = self._common
        try:
            return common.config.originals == "store" and common.pages.known(url) is not None
        except StoreError as exc:
            common.fault("store_error", "simcrawl cannot use its store; pages pass unchecked: %s", exc)
            return True

    def _count_sample(self, request: Request) -> None:
        """Count, and mark, a request that is made although its page is almost certainly a copy."""
        self._inc("sampled")
        request.meta[SAMPLED] = True

    def _skippable(self, request: Request, url: str, seen: Outlook | None) -> Prediction | None:
        """Return what speaks for leaving a request out; None where it has to be made."""
        if seen is None or seen.skip is None or self._skip is None or request.cb_kwargs:
            return None
        # Its callback may be what others wait for that carry the same: the last of three parts yields the item of all.
        if self._common.config.carried_data and request.meta.get(CARRIED):
            return None
        return seen.skip if self._would_drop(url, seen.skip.original, self._common.use_of(request)) else None

    def _would_drop(self, url: str, original: str, callback: str) -> bool:
        """Return whether a page would be dropped as a copy of another one, if it is one: by what the rule of pages asks as well."""
        common = self._common
        if without_data(callback) in self._unseen or not common.detector.rule.may_replace(original, url):
            return False
        try:
            page = common.pages.known(original)
            came_out = page and page.confirmed and page.serves(callback) and common.crawl.has_seen(original)
            loses = common.given.may_lose(original, callback) or common.elsewhere.may_lose(callback)
            loses = loses or common.refused.may_lose(original, callback)
            return bool(came_out) and not loses and not common.store.are_rejected(url, original)
        except StoreError as exc:
            common.fault("store_error", "simcrawl cannot use its store; pages pass unchecked: %s", exc)
            return False

    def _kind(self, name: str, part: Hashable) -> _Kind:
        kind = self._kinds.setdefault((name, part), _Kind())
        if len(self._kinds) > _MOST_KINDS:
            self._kinds.popitem(last=False)
        return kind

    async def _check(self, request: Request, kind: _Kind | None) -> Request | None:
        """Return what becomes of a request at the end of the queue. `kind`: with what it would be skipped, None if it is made."""
        if kind and not self._checking and self._at_work.has_others() and not self._is_stuck():
            # They may bring links, which come first, or prove the rule wrong.
            await self._at_work.wait()
            return put_back(request, HELD)
        if self._skip is None:
            kind = None
        if kind:
            self._checking = True
            if not kind.is_checked(self._common.known_as(request.url)):
                return put_back(request, LAST)
        self._hold(-1)
        if kind:
            self._inc("checked")
            self._count_sample(request)
        else:
            self._inc("released")
        release(request)
        return None

    async def _decide(self, request: Request, prediction: Prediction | None) -> Request | None:
        """Return what becomes of a request when those of its kind that are checked have been made."""
        hidden = self._hidden_behind(request, prediction) if prediction else None
        # What is under way may bring what is hidden, if it was made for that. Pages that hide something else each need not wait for one
        # another: behind a list that could not be had there may be hundreds.
        if prediction and (hidden is None or self._is_sought(hidden)) and self._at_work.has_others() and not self._is_stuck():
            await self._at_work.wait()
            return put_back(request, LAST)
        self._hold(-1)
        if prediction and hidden is None and self._skip is not None:
            return self._left_out(request, prediction)
        if hidden is not None:
            self._seek(request, hidden)
        self._inc("released")
        release(request)
        return None

    def _hidden_behind(self, request: Request, prediction: Prediction) -> str | None:
        """Return what may be behind a page, and no other one has shown; None where there is nothing."""
        return self._outlinks.hidden(self._common.known_as(request.url), prediction.original) if self._outlinks else None

    def _is_sought(self, hidden: str) -> bool:
        return self._outlinks is not None and self._outlinks.is_sought(hidden)

    def _seek(self, request: Request, hidden: str) -> None:
        """Count a request that is made because its page may be the only one that links to another."""
        if self._outlinks:
            self._outlinks.seek(hidden)
        self._inc("fetched_for_links")
        logger.debug("%s is fetched: it may be the only page that links to %s", request, hidden, extra={"spider": self._crawler.spider})

    def _is_stuck(self) -> bool:
        """Return whether callbacks wait, it seems, for requests that are held; then nothing is skipped any more."""
        if self._skip is not None and self._at_work.is_stuck():
            self._skip = None
            self._common.warn("stuck", _WAITED_FOR)
        return self._skip is None

    def _hold(self, more: int) -> None:
        # Of a crawl that is resumed, or one of several with one queue, some wait that nobody here has counted.
        self._held = max(0, self._held + more)
        if more > 0:
            # Only ever more: of how many wait now, a crawler that shares its queue knows nothing.
            self._inc("held")

    # ---- what is left out

    def _left_out(self, request: Request, prediction: Prediction) -> Request:
        """Tell of a request that is skipped, and return it marked: it gets no further than the signal that it was scheduled.

        That is how Scrapy lets a request be dropped without an errback and without an exception that would be counted.
        """
        if not self._told:
            # Not before: the signal is sent for every link of every page.
            self._crawler.signals.connect(self._drop, signal=scrapy_signals.request_scheduled)
        url, common, spider = self._common.known_as(request.url), self._common, self._crawler.spider
        self._inc("skipped")
        self._changes.failed(request)
        common.crawl.lasting.note(_line(url, prediction))
        debug = common.config.debug
        logger.log(
            logging.INFO if debug or not self._told else logging.DEBUG,
            "Skipped %(url)s, almost certainly a copy of %(original)s: %(rule)s%(hint)s",
            {
                "url": url,
                "original": prediction.original,
                "rule": prediction.rule,
                "hint": "" if debug or self._told else " (no more skips will be shown, see SIMCRAWL_DEBUG)",
            },
            extra={"spider": spider},
        )
        self._told = True
        self._crawler.signals.send_catch_log(request_skipped, request=request, prediction=prediction, spider=spider)
        return put_back(request, SKIPPED)

    def _drop(self, request: Request) -> None:
        if request.meta.get(ORDER) == SKIPPED:
            raise IgnoreRequest("almost certainly a copy")

    def _inc(self, name: str) -> None:
        self._stats.inc_value(f"simcrawl/predicted/{name}")


def _suggest(rules: RewriteRules, host: str, said: list[Unimportant]) -> None:
    for names, path in said:
        rules.suggest_parameters(host, names, path)


def _line(url: str, prediction: Prediction) -> Duplicate:
    return Duplicate(
        url=url,
        original=prediction.original,
        kind=PREDICTED,
        distance=None,
        similarity=None,
        reason=PREDICTED,
        dropped_page=True,
        dropped_outlinks=True,
        when=time(),
        rule=prediction.rule,
    )
