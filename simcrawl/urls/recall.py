"""Rewrite rules that last: what the register and the pages of a store teach, so that a crawl begins with what earlier ones learned.

    pages ─────┐   the latest of them,    ┌── all ──► rules.observe ──► rules.next_crawl(): they order at once, and have to be
               ├── in the order of time ──┤                             confirmed before they skip
    register ──┘                          └── those of this crawl, where it is resumed ──► observed once more, as fetched in it

Derived at every start, and never stored: what a user rejects, forgets or lets expire is gone from the rules as well, another version learns
other rules from the same store, and nothing can contradict the register. Of pages that were not fetched the register has lines, too: what
a rule skipped is no evidence for it.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.rule import Kind, Verdict
from simcrawl.store.register import COPIES
from simcrawl.urls.rewrites import RewriteRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simcrawl.store import Crawl, Store
    from simcrawl.urls.learned import LearnedRule

MOST_LESSONS = 50_000
"""So many pages teach, and so many lines of the register: the latest ones."""
# So many of its own pages a crawl that is resumed looks at again, for each callback, on the event loop.
_MOST_OWN = 10_000
_KEPT = Verdict(kind=Kind.ADMITTED)


class Lesson(NamedTuple):
    """A page, and of which one it was a copy: of none where `original` is empty.

    `callback`: to whose pages alone it can be an original, as `simcrawl.rule.StoredPage` has it.
    """

    url: str
    original: str
    when: float
    callback: str = ""


def lessons(store: Store, *, most: int = MOST_LESSONS) -> list[Lesson]:
    """Return what a store teaches, in the order of time, each original before its copies.

    Verdicts that were taken back teach nothing, nor do pages of a few words that nothing is a copy of: they are kept whatever they are.

    Raises:
        StoreError: the store cannot be read.
    """
    lines = [Lesson(line.url, line.original, line.when) for line in store.duplicates(latest=most) if line.standing in COPIES]
    copies = {lesson.url for lesson in lines}
    originals = {lesson.original for lesson in lines}
    kept = dict[str, Lesson]()
    for stored in store.pages(latest=most):
        url = stored.page.url
        if url not in copies and (url in originals or isinstance(stored.page, PageFingerprint)):
            kept[url] = Lesson(url, "", stored.last_seen, stored.callback)
    ordered = []
    for lesson in sorted([*kept.values(), *lines], key=attrgetter("when")):
        # A page that was seen again has the time of that.
        if first := kept.pop(lesson.original or lesson.url, None):
            ordered.append(first)
        if lesson.original:
            ordered.append(lesson)
    return ordered


def replay(rules: RewriteRules, taught: Iterable[Lesson]) -> RewriteRules:
    """Let rules observe what was found in other crawls, or earlier in this one; return them."""
    for lesson in taught:
        rules.observe(lesson.url, Verdict(kind=Kind.NEAR_DUPLICATE, original=lesson.original) if lesson.original else _KEPT)
    return rules


def learned(store: Store, *, most: int = MOST_LESSONS) -> list[LearnedRule]:
    """Return the rules that a store teaches, those that save most fetches first: see `RewriteRules.rules`.

    Raises:
        StoreError: the store cannot be read.
    """
    return replay(RewriteRules(seed=store.header.seed), lessons(store, most=most)).rules()


class Recalled:
    """What a crawl knows of URLs when it begins. `rules`: how many rules are remembered."""

    def __init__(self, learned: RewriteRules, own: Iterable[Lesson] = ()) -> None:
        self._learned, self._own = learned, list(own)[-_MOST_OWN:]
        self.rules = len(learned.rules())

    @classmethod
    def of(cls, crawl: Crawl, rules: RewriteRules, *, most: int = MOST_LESSONS) -> Recalled:
        """Return what a crawl's store teaches. `rules`: new ones, of the crawl's settings.

        What has come out in this very crawl, which was interrupted or is shared, counts as fetched in it.

        Raises:
            StoreError: the store cannot be read.
        """
        taught = lessons(crawl.lasting, most=most)
        return cls(replay(rules, taught), _own(crawl, taught) if crawl.pages else ())

    def for_callback(self, callback: str) -> RewriteRules:
        """Return rules for the pages of one callback."""
        return replay(self._learned.next_crawl(), (lesson for lesson in self._own if lesson.callback in ("", callback)))


def _own(crawl: Crawl, taught: Iterable[Lesson]) -> Iterator[Lesson]:
    """Yield what happened in a crawl: its pages, and copies of them."""
    for lesson in taught:
        # A page that was known before may have kept the time of then, and the callback.
        if (not lesson.original or lesson.when >= crawl.started) and (own := crawl.own.known(lesson.original or lesson.url)):
            yield lesson._replace(callback="" if lesson.original else own.callback)
