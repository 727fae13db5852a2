"""A crawl on a store: which pages may be originals, and what has changed since the crawl before.

A page is dropped only in favour of one that came out *in the same crawl*, or that was loaded. What a store knows from earlier crawls makes
no page vanish: the page it would be a copy of may be gone by now, or say something else, and its item is in no feed of tonight.

So each crawl has a store of its own for the time that it lasts, and decides by that alone:

    a page ──► decision ──► the crawl's own pages ── as long as the crawl lasts
                  │   ▲                │
                  │   └── loaded pages │ what came out, what was a copy
                  ▼                    ▼
               verdict          the lasting store ── records, register, history: for tools, and for bodies seen before

    begun ──join──► shared ──the last run of it leaves──► ended: its own pages are removed
                      │                                     ▲
                      └─ interrupted, a job may resume it ──┘

Nothing that an earlier crawl left, and nothing that another crawl does meanwhile, is in the first row, but for two things that users said
themselves: pages that they loaded, and verdicts that they took back. That the verdicts of a crawl are those of the same crawl on an empty
store need therefore not be proved case by case; a test does it all the same.

A filter of one shared index by membership would save the second write of a page. It was not taken: a URL that two crawls fetch with two
contents needs two records then, every query pays for all that earlier crawls left within its radius, and the end of a crawl has to be
written page by page instead of removed.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from simcrawl.differences import says_more
from simcrawl.errors import StoreError
from simcrawl.page.fingerprint import PageFingerprint, page_key
from simcrawl.store import rejections
from simcrawl.store.register import COPIES
from simcrawl.store.rejections import url_key
from simcrawl.store.views import Only
from simcrawl.store.visits import CAME, COPY, GONE, KEPT, NOTHING, NOTHING_OF_COPY, SEEN, spider_key, to_keep

if TYPE_CHECKING:
    from simcrawl.page.fingerprint import Abstention
    from simcrawl.rule import Rule, Verdict
    from simcrawl.store.claims import Admission
    from simcrawl.store.crawl_note import Home, Joined, Note
    from simcrawl.store.store import Store
    from simcrawl.store.visits import Visits

Change = Literal["new", "unchanged", "changed"]
MOST_GONE = 200
"""How many of the pages that are gone, or that were not met again, can be named."""


_ARE_KEPT = frozenset({KEPT, NOTHING})
# Of what nothing has come, and what becomes of it when something does.
_ONCE_COME = {NOTHING: KEPT, NOTHING_OF_COPY: COPY}

# Behind the name of a spider whose run looks at some of its pages only. No name of a spider ends so.
_IN_PART = "\n"


class Since(NamedTuple):
    """What has become of a page since the last finished crawl: by what it says, and what its callback is told.

    They differ where nothing has come of the page. Its callback gave nothing, maybe by mistake, so it is told that the page has changed.
    """

    change: Change
    told: Change


def content_of(page: PageFingerprint | Abstention) -> bytes:
    """Return the 16 bytes that stand for what a page says: see `Crawl.visit`."""
    return page.says if isinstance(page, PageFingerprint) else page.body_digest


def join_crawl(
    store: Store,
    name: str | None = None,
    *,
    spider: str = "",
    in_part: bool = False,
    resume: str | None = None,
    job: str | None = None,
) -> Crawl:
    """Return a crawl on a store: a new one, or, by its name, one that is under way. Leave it once.

    `spider`: whose pages are visited; `in_part`: some of them only, so that nothing is compared with this run. `resume`: the `id` of a
    crawl that an interrupted run belonged to, which goes on where it still exists. `job`: a file that will hold the crawl's `id` as long as
    this run may be resumed, so that the crawl's pages wait for it.

    Raises:
        SettingError: the name is no name of a crawl.
        StoreError: the store cannot be read or written.
    """
    spider += _IN_PART * in_part
    own, home, joined = store.homes.join(store, name, spider=spider, resume=resume, job=job)
    return Crawl(store, own, home, joined, spider=spider, job=job)


def join_loaded(store: Store) -> Crawl:
    """Return the crawl that never ends, whose pages are originals for every other one: those that were loaded into the store.

    Raises:
        StoreError: the store cannot be read or written.
    """
    return Crawl(store, *store.homes.join_loaded(store))


class Crawl:
    """One run's part in a crawl on a store: see the module. Made by `join_crawl`; leave it once. Thread-safe.

    `own` holds the pages that have come out in this crawl, `lasting` all that its runs leave behind.
    """

    def __init__(self, lasting: Store, own: Store, home: Home, joined: Joined, *, spider: str = "", job: str | None = None) -> None:
        self.lasting, self.own = lasting, own
        self.id, self.name, self.started = joined.note.id, joined.note.name, joined.note.started
        self.joined_others, self.resumed = joined.others, joined.resumed
        self._home, self._spider, self._job = home, spider, job
        self._key = spider_key(spider, lasting.header.seed)
        self._last: Visits | None = lasting.last_visits(spider)
        self._left = self._closed = False
        self.gone: int | None = None
        """How many pages are gone, by what their servers say, once the crawl has been left; None where that is unknown."""
        self.not_met: int | None = None
        """How many were not met again: nothing links to them any more, or the spider did not ask for them. None as above."""
        self.gone_urls: list[str] = []
        self.not_met_urls: list[str] = []
        """The URLs of the first `MOST_GONE` of each, where the lasting store still knows them."""
        lasting.joined.append(self)

    # ---- decisions

    def claim(
        self, page: PageFingerprint | Abstention, rule: Rule, *, never_drop: bool = False, taken_back: bool = False, callback: str = ""
    ) -> Admission:
        """Decide about a page among those of this crawl, and claim it unless it is a copy: see `Store.claim`."""
        self.lasting.write_ahead()
        return self.own.claim(page, rule, never_drop=never_drop, taken_back=taken_back, callback=callback)

    def admit(self, page: PageFingerprint | Abstention, rule: Rule) -> Verdict:
        """Decide about a page among those of this crawl, and insert it unless it is a copy: see `Store.admit`."""
        verdict = self.own.admit(page, rule)
        self.lasting.commit_if_due()
        return verdict

    @property
    def pages(self) -> int:
        """How many pages have come out in this crawl, as far as they are written."""
        return self.own.size()["pages"]

    def try_sync(self) -> None:
        """Commit what came out, here and in the lasting store: see `Store.try_sync`."""
        try:
            self.own.try_sync()
        finally:
            self.lasting.try_sync()

    @property
    def falls_behind(self) -> bool:
        """Whether so many pages wait to be written that a claim would try to write them first."""
        return self.own.falls_behind or self.lasting.falls_behind

    # ---- what has changed

    @property
    def knows_a_last_crawl(self) -> bool:
        """Whether the spider has finished a crawl on this store before."""
        return self._last is not None

    def has_changed(self, page: PageFingerprint | Abstention) -> bool:
        """Return whether this address said something else when the spider's last finished crawl looked at it.

        Of one that it has not met, when the page was last called a copy: nothing may have linked to it for a night.

        Raises:
            StoreError: the store cannot be read.
        """
        if self._last is None:
            return False
        before = self._last.get(self._key_of(page.url))
        if before is not None and before[:1] != SEEN:
            return before[1:] != content_of(page)
        line = self.lasting.duplicate(page.url)
        return line is not None and line.standing in COPIES and line.content != rejections.content_of(page)

    def since(self, url: str, content: bytes) -> Since:
        """Return what has become of a page since the spider's last finished crawl. `content`: the 16 bytes that stand for what it says.

        Without a last crawl every page is new.
        """
        before = self._last.get(self._key_of(url)) if self._last else None
        if before is None or before[:1] == SEEN:
            return Since("new", "new")
        change: Change = "unchanged" if before[1:] == content else "changed"
        return Since(change, "changed" if before[:1] in _ONCE_COME else change)

    def visit(self, url: str, content: bytes | None = None, *, kept: bool = False, owed: bool = False, again: bool = False) -> None:
        """Note that the spider has fetched a URL.

        `content`: as for `since`; None where the page was not looked at. `kept`: whether it is no copy. `owed`: whether it is yet to be
        seen that something comes of the page; `came` is to be called then. `again`: whether the crawl may have visited it before, so that
        something may have come of it.

        Raises:
            StoreError: the store cannot be read, which it is for what is visited `again`.
        """
        key = self._key_of(url)
        if content is None:
            self._see(self._key + key)
        elif kept:
            comes = not owed or (again and self.own.visited(self._key + key) == KEPT + content)
            self.own.visit(self._key + key, (KEPT if comes else NOTHING) + content)
        else:
            before = self._last.get(key) if self._last else None
            as_copy = CAME if before in (KEPT + content, CAME + content) else NOTHING_OF_COPY if owed else COPY
            self.own.visit(self._key + key, as_copy + content)

    def _see(self, key: bytes) -> None:
        # A page that was looked at is not forgotten for a failure later on. Where the store cannot tell, nothing is called gone.
        known = None
        with suppress(StoreError):
            known = self.own.visited(key)
        if known is None:
            self.own.visit(key, SEEN + bytes(16))

    def came(self, url: str, content: bytes) -> None:
        """Note that something has come of a page, if it was `owed`, and is not lost.

        Raises:
            StoreError: the store cannot be read.
        """
        key = self._key + self._key_of(url)
        found = self.own.visited(key)
        if found and found[:1] in _ONCE_COME and found[1:] == content:
            self.own.visit(key, _ONCE_COME[found[:1]] + content)

    def lost(self, url: str) -> None:
        """Note that nothing has come of a page that was to be kept: the next crawl is to find of it what this one found."""
        # See `to_keep`. A row as that of the last crawl would say that this one has found the page to be the same.
        self.own.visit(self._key + self._key_of(url), SEEN + bytes(16))

    def kept_as(self, page: PageFingerprint | Abstention, rule: Rule, original: str | None = None) -> str | None:
        """Return the URL under which what a page says was kept in the spider's last finished crawl: that of the page it was a copy of then.

        Or before that, as itself. `original`: the URL of what it is a copy of in this crawl; it must say what it said then.
        By the rule of today: where it would be a copy of that page no more, or says more than it, or nobody can tell, it did not.

        Raises:
            StoreError: the store cannot be read.
        """
        if self._last is None:
            return None
        if self._letter(page.url) == CAME:
            return page.url
        if original is None:
            line = self.lasting.duplicate(page.url)
            original = line.original if line else None
        elif self.own.visited(self._key + self._key_of(original)) != self._last.get(self._key_of(original)):
            return None
        known = self.lasting.known(original) if original else None
        if known is None or not self.was_kept(known.page.url) or self.lasting.is_rejected(page, known.page):
            return None
        is_copy = rule.decide(page, Only(known), now=time(), never_drop=True, callback=known.callback).original is not None
        says_it = page.body_digest == known.page.body_digest or not says_more(page, known.page)
        return known.page.url if is_copy and says_it else None

    def is_owed(self, url: str) -> bool:
        """Return whether nothing has come of what the spider's last finished crawl found under a URL."""
        return self._letter(url) in _ONCE_COME

    def _key_of(self, url: str) -> bytes:
        return url_key(page_key(url, self.lasting.header.seed), self.lasting.header.seed)

    def no_such_page(self, url: str) -> None:
        """Note that there is no page under a URL, as far as this crawl has not met one there."""
        key = self._key + self._key_of(url)
        known: bytes | None = SEEN
        with suppress(StoreError):
            known = self.own.visited(key)
        if known is None:
            self.own.visit(key, GONE + bytes(16))

    def was_kept(self, url: str) -> bool | None:
        """Return whether the spider's last finished crawl kept the page of a URL; None where it judged none."""
        letter = self._letter(url)
        return None if letter in (None, SEEN) else letter in _ARE_KEPT

    def _letter(self, url: str) -> bytes | None:
        before = self._last.get(self._key_of(url)) if self._last else None
        return before and before[:1]

    def has_seen(self, url: str) -> bool:
        """Return whether the spider has fetched a URL in this crawl.

        Raises:
            StoreError: the store cannot be read.
        """
        seen = self.own.visited(self._key + self._key_of(url))
        return seen is not None and seen[:1] != GONE

    def has_found(self, page: PageFingerprint | Abstention) -> bool:
        """Return whether the spider has looked at a page in this crawl, and it said what it says here.

        Raises:
            StoreError: the store cannot be read.
        """
        found = self.own.visited(self._key + self._key_of(page.url))
        return found is not None and found[:1] not in (SEEN, GONE) and found[1:] == content_of(page)

    def _missing(self) -> tuple[list[bytes], list[bytes], int, int]:
        """Return the keys of URLs that the last finished crawl kept and that are gone, or were not met again, the first ones; how many."""
        gone, not_met = list[bytes](), list[bytes]()
        numbers = Counter[bool]()
        for key, value in self._last or ():
            seen = self.own.visited(self._key + key) if value[:1] in _ARE_KEPT else value
            if seen is None or seen[:1] == GONE:
                keys = not_met if seen is None else gone
                numbers[seen is None] += 1
                if len(keys) < MOST_GONE:
                    keys.append(key)
        return gone, not_met, numbers[False], numbers[True]

    # ---- end

    def leave(self, *, finished: bool = False, stored: bool = True) -> None:
        """Write what came out, and leave the crawl; the last run ends it. No effect the second time.

        `finished`: whether the run came to its own end. Where all runs of a spider did, what they saw is what the next crawl is compared
        with; only then is it known what is gone. `stored`: whether all that came out is where it belongs; if not, the run has ended, and
        its job with it, but it counts as one that has not come to its end.

        Raises:
            StoreError: something cannot be written; the crawl is left all the same.
        """
        if self._left:
            return
        self._left = True
        self.lasting.joined.remove(self)
        try:
            self.own.sync()
            self.lasting.sync()
        except StoreError:
            self.own.visits_lost = True
            raise
        finally:
            self._home.leave(lambda note: note.finish(self._spider, self._job, stored=stored) if finished else None, self._end, self._close)

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            self.own.close()

    def _end(self, note: Note) -> None:
        if note.finished(self._spider) and self._last is not None and not self.own.visits_lost:
            gone, not_met, self.gone, self.not_met = self._missing()
            self.gone_urls, self.not_met_urls = self.lasting.urls_of(gone), self.lasting.urls_of(not_met)
        for spider in note.runs:
            if note.finished(spider) and not spider.endswith(_IN_PART) and not self.own.visits_lost:
                prefix = spider_key(spider, self.lasting.header.seed)
                rows = ((key[len(prefix) :], value) for key, value in self.own.visits(prefix))
                last = self._last if spider == self._spider else self.lasting.last_visits(spider)
                self.lasting.keep_visits(spider, to_keep(rows, last))
