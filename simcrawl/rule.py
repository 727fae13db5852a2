"""The rule: when is a page a copy of a stored one, and what follows for it and for its outlinks.

Pure: a rule sees stored pages through a `View` and returns a `Verdict`. Stores call it while they hold off every other decision,
which is what makes a check-and-insert atomic; it must not block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal, Protocol

from simcrawl import differences
from simcrawl.addresses import host_of, is_earlier_state, of_one_site
from simcrawl.bits import hamming_distance
from simcrawl.page import names_compared
from simcrawl.page.fingerprint import Abstention, Page, PageFingerprint, Reason
from simcrawl.page.names_compared import Naming
from simcrawl.page.sketch import differing, own_units, resemblance, resemblances

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from simcrawl.page.hints import Canonical
    from simcrawl.page.recipes import Recipe

Action = Literal["drop", "drop-items", "drop-links", "observe"]
Scope = Literal["all", "site"]
Originals = Literal["crawl", "store"]

_DAY = 86_400
MOST_CANDIDATES = 256
"""A template whose pages share one main text puts any number of pages at distance 0, none of them a copy. To look at more than so many for
one page would slow the crawl down; to stop keeps the page, which is the safe side."""
# So many of pages with equal bodies, which are copies but for the data that callbacks were given with them. There may be any number.
_MOST_EQUAL = 64
# Stands in no name that a spider or a callback has.
_DATA = "\x1f"
# Candidates that are asked whether a page is another record than they are.
_MOST_SIBLINGS = 16
# From so many on their sketches are compared first, all at once.
_MANY = 4
# Of those that are alike by their sketches so many are compared by all the rest, the most alike first: hundreds are below one long text,
# and a page's own copy is more like it than other records are.
_MOST_ALIKE = 64
# Of the article rule, see `Rule._same_article`. A block of prose counts whole where one word of it differs, so prose may differ by
# more than content, whose shingles are five units long; a box of links may come and go. Found on real pages: docs/recipes.md.
_PROSE_MAY_DIFFER, _PROSE_TO_SURROUNDINGS = 2, 0.25
_MOST_LINKS, _STRAY_LINKS = 3, 0.1
# Of an article in other surroundings: units, and a share of what differs around.
_BESIDE_OF_ARTICLE, _BESIDE_TO_AROUND = 15, 0.33
# By how much what differs beside it may be another number than all that differs outside the prose, where that is the same: a share, and
# units. Sketches are estimates. Of articles whose surroundings had changed it was more, but for one in a hundred; of records .29 at most.
_SAME_SHARE, _SAME_UNITS = 0.37, 60
# Of pages whose names differ in a word more, or outside the content: what share of the difference that others may have.
_DOUBTFUL_NAME = 0.35
# By how much more than a copy a record may differ from a page that says less to be of its series.
_NEARLY = 2.0
# An outlink threshold of 1 is for identical text, which no estimate is.
_NOT_IDENTICAL = 0.9999


class Kind(StrEnum):
    """What a page turned out to be."""

    ADMITTED = "admitted"
    REVISITED = "revisited"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a page is and what to do with it.

    `kind`: "admitted" (new content), "revisited" (kept before under this URL), "exact_duplicate", "near_duplicate" or "skipped" (not
    compared). `drop_page`, `drop_outlinks`: whether its items and its links are dropped. `page`: what was judged.

    `original`: URL of the page it is a copy of. `distance`: differing fingerprint bits; `similarity`: 0 to 1, estimated, 1 for
    identical text; both None where they played no part. `reason`: why a page was skipped, or what made it a copy. `canonical`: which of the
    two is the canonical page by what they say: "original", "copy", "translation", "" where they say nothing: see `simcrawl.page.hints`.
    """

    kind: Kind
    original: str | None = None
    distance: int | None = None
    similarity: float | None = None
    drop_page: bool = False
    drop_outlinks: bool = False
    reason: str | None = None
    page: PageFingerprint | Abstention | None = None
    canonical: Canonical = ""

    @property
    def is_duplicate(self) -> bool:
        """Whether the page is a copy, exact or near, whatever is done about it."""
        return self.kind in (Kind.EXACT_DUPLICATE, Kind.NEAR_DUPLICATE)


class Apart(StrEnum):
    """Why two pages within the distance are no near-duplicates, in words: the first of these that is so."""

    NAMES = "they are called differently, by heading, title or address"
    CONTENTS = "the contents are not alike enough"
    SHORT = "pages of so few words have to be more alike"
    PROSE = "beside a long list of links they say other things"
    LINES = "each has short lines for itself, as records have"
    SENTENCES = "each has a sentence in the place of one of the other's"
    PICTURES = "each shows a picture, or offers a file, that the other one does not"
    BESIDE = "what stands beside the contents differs"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pages by the rule, and the conclusion: `is_near_duplicate`.

    `distance`: differing bits of the fingerprints. `similarity`: 0 to 1, estimated, of what decided; None without sketches.
    `identical_text`: all text, shown or not, is the same; `identical_links`: the links lead to the same addresses. `same_article`: the
    prose decided, not all of the content. `apart`: why they are none, within the distance and where candidates are verified.
    """

    distance: int
    similarity: float | None
    is_near_duplicate: bool
    identical_text: bool = False
    identical_links: bool = False
    same_article: bool = False
    apart: Apart | None = None


def with_data(callback: str, digest: str) -> str:
    """Return the name of a callback together with a digest of what a request gives it besides the page, if it gives it anything.

    What comes of such a page comes of these data, too. So it is a copy only of one for which the same callback was given the same.
    """
    return f"{callback}{_DATA}{digest}" if digest else callback


def without_data(use: str) -> str:
    """Return the callback's name alone: see `with_data`."""
    return use.partition(_DATA)[0]


def kept_for(callback: str, *, items: int) -> str:
    """Return what `StoredPage.callback` is to be, when a callback has taken so many items from a page."""
    return "" if items and _DATA not in callback else callback


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as a store knows it. Times are seconds since 1970; `confirmed` is False while its callback still runs.

    `callback`: empty for a page that gave items; otherwise to whose pages alone it can be an original: of the callback that took none
    from it, or that was given the same data for it (see `with_data`). `unique`: until it is written, whether it was admitted because
    nothing like it was known.
    """

    page: PageFingerprint | Abstention
    first_seen: float
    last_seen: float
    confirmed: bool = True
    callback: str = ""
    unique: bool = field(default=False, compare=False)

    def serves(self, callback: str) -> bool:
        """Return whether a page for a callback can be a copy of this one."""
        if self.callback == callback:
            return True
        # What becomes of a page shows when its callback has ended.
        return not self.callback and (not self.confirmed or _DATA not in callback)

    def sketches(self) -> tuple[bytes, bytes]:
        """Return the sketches of content and prose; empty where there are none."""
        return (self.page.content_sketch, self.page.prose.sketch) if isinstance(self.page, PageFingerprint) else (b"", b"")

    def stored(self) -> StoredPage:
        """Return the page itself: it is a `Candidate`."""
        return self


class Candidate(Protocol):
    """A page within the radius of another one, which is not looked at whole before its sketches were."""

    def sketches(self) -> tuple[bytes, bytes]:
        """Return the sketches of content and prose; empty where there are none."""

    def stored(self) -> StoredPage | None:
        """Return the page; None where another one stands under its URL by now."""


@dataclass(frozen=True, slots=True)
class Match:
    """A stored page within the radius of a query. `distance`: differing bits; `page`: None for a fingerprint loaded without a page."""

    fingerprint: int
    distance: int
    page: PageFingerprint | None = None

    @property
    def url(self) -> str | None:
        """The stored page's URL."""
        return self.page.url if self.page else None


class View(Protocol):
    """What a rule can ask of a store. Every answer is exact and belongs to one moment."""

    def page(self, url: str) -> StoredPage | None:
        """Return the page known under a URL."""

    def with_body(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this body digest."""

    def with_text(self, digest: bytes) -> Iterable[StoredPage]:
        """Return the pages with this digest of the whole visible text."""

    def within(self, fingerprint: int, distance: int) -> Iterable[tuple[int, Candidate]]:
        """Return (distance, candidate) of every page within the radius, nearest first."""

    def is_rejected(self, page: PageFingerprint | Abstention, other: PageFingerprint | Abstention) -> bool:
        """Return whether a user said that two pages are no copies of each other."""

    def earlier(self, url: str) -> StoredPage | None:
        """Return the page that only an earlier crawl had under a URL: no original, but no new page either."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, the stored page it judges the page a copy of, and whether the page is to be recorded.

    `candidates`: how many pages within the radius were looked at, `MOST_CANDIDATES` at most; None where none had to be looked for.
    `stopped`: whether there were more of them than may be looked at, or compared in full.
    `others`: URLs of pages that it is near, and yet no copy of: what was dropped as copies of them says something else.
    """

    verdict: Verdict
    original: StoredPage | None = None
    record: bool = True
    candidates: int | None = None
    others: tuple[str, ...] = ()
    stopped: bool = False


def _none(_url: str) -> Iterable[PageFingerprint]:
    return ()


@dataclass(frozen=True, slots=True)
class _Copy:
    stored: StoredPage
    reason: str
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The thresholds and policies of a crawl; `of` takes a recipe's.

    Candidates within `max_distance` bits are copies where their contents resemble each other by `min_similarity`. Of pages with
    `min_prose` units of prose, one of them with `min_around` units around it, the prose decides as well. `outlinks` is a similarity, see
    `simcrawl.page.recipes`. `has_found`: whether this crawl has found a stored page to be as it is stored; one that it has not found so is
    an original only for those that say no more than it did. None where that plays no part.
    """

    max_distance: int
    min_similarity: float
    min_prose: int = 100
    min_around: int = 120
    outlinks: float
    action: Action = "drop"
    scope: Scope = "all"
    trusted_hosts: frozenset[str] = frozenset()
    copies_kept: int = 1
    expire_days: float = 0
    has_found: Callable[[PageFingerprint | Abstention], bool] | None = field(default=None, compare=False)

    @classmethod
    def of(cls, recipe: Recipe) -> Rule:
        """Return the rule of a recipe's own thresholds."""
        names = ("max_distance", "min_similarity", "min_prose", "min_around", "outlinks")
        return cls(**{name: getattr(recipe, name) for name in names})

    def compare(self, a: PageFingerprint, b: PageFingerprint) -> Comparison:
        """Compare two pages.

        Similarity is that of the contents, with tables and lists of links: they are often all that differs between two pages of one
        template. Where much stands around an article the article decides: see `_same_article`.
        """
        if a.text_digest == b.text_digest:
            return self._of_one_text(a, b)
        return self._of_two_texts(a, b, differences.compare_names(a, b))

    def _of_two_texts(self, a: PageFingerprint, b: PageFingerprint, called: tuple[Naming, Naming]) -> Comparison:
        distance = hamming_distance(a.fingerprint, b.fingerprint)
        links = differences.same_links(a, b)
        similarity = resemblance(a.content_sketch, b.content_sketch) if a.content_sketch else None
        if distance > self.max_distance or self.min_similarity <= 0 or similarity is None:
            near = distance <= self.max_distance and self.min_similarity <= 0
            return Comparison(distance, similarity, is_near_duplicate=near, identical_links=links)
        apart = self._apart(a, b, similarity, called)
        if not apart or apart is Apart.NAMES:
            return Comparison(distance, similarity, is_near_duplicate=not apart, identical_links=links, apart=apart)
        if prose := self._same_article(a, b, called[1]):
            return Comparison(distance, prose, is_near_duplicate=True, same_article=True, identical_links=links)
        return Comparison(distance, similarity, is_near_duplicate=False, identical_links=links, apart=apart)

    def _of_one_text(self, a: PageFingerprint, b: PageFingerprint) -> Comparison:
        distance, links = hamming_distance(a.fingerprint, b.fingerprint), differences.same_links(a, b)
        pictures = Apart.PICTURES if differences.show_others(a, b) else None
        return Comparison(distance, 1.0, is_near_duplicate=not pictures, identical_text=True, identical_links=links, apart=pictures)

    def _apart(self, a: PageFingerprint, b: PageFingerprint, similarity: float, called: tuple[Naming, Naming]) -> Apart | None:
        """Return what tells the contents of two pages apart, None where they are the same."""
        doubtful, differ, may_differ = Naming.LONGER in called, 1 - similarity, 1 - self.min_similarity
        apart: Apart | None = None
        if Naming.OTHER in called or (doubtful and differ > _DOUBTFUL_NAME * may_differ):
            apart = Apart.NAMES
        elif differ > may_differ:
            apart = Apart.CONTENTS
        elif differ > differences.of_short_pages(may_differ, a, b):
            apart = Apart.SHORT
        elif differences.is_other_prose(a, b):
            apart = Apart.PROSE
        elif differences.has_other_values(a, b):
            apart = Apart.LINES
        elif differences.has_other_sentences(a, b):
            apart = Apart.SENTENCES
        elif differences.show_others(a, b):
            apart = Apart.PICTURES
        elif not differences.same_beside(a, b):
            apart = Apart.BESIDE
        return apart

    def allows(self, similarity: float, *, same_article: bool = False) -> bool:
        """Return whether so much likeness, of contents or of the prose of an article, can make a copy: it must, and need not do."""
        may_differ = 1 - self.min_similarity
        return self.min_similarity <= 0 or 1 - similarity <= (_PROSE_MAY_DIFFER * may_differ if same_article else may_differ)

    def _same_article(self, a: PageFingerprint, b: PageFingerprint, outside: Naming) -> float:
        """Return by how much two pages' prose is the same, where that makes them one article in other surroundings; else 0.

        What differs outside the prose is furniture only if there is much of it, if links do not far outweigh the prose (a list of links is
        its page's content), and if links differ by little more than what stands around: the surroundings of a manual's pages hardly
        change, so a link that does is content. And prose may differ by a fraction only of what differs outside it. `outside`: how the
        headings outside the contents name them.
        """
        pages = (a, b)
        if outside is not Naming.SAME:
            return 0
        # Beside teasers that change from page to page two records of one site are two records still.
        if self._are_records_of_one_site(a, b):
            return 0
        much = max(page.around.units for page in pages) >= self.min_around and min(page.prose.units for page in pages) >= self.min_prose
        if not much or any(page.links.units > _MOST_LINKS * page.prose.units for page in pages):
            return 0
        prose = resemblance(a.prose.sketch, b.prose.sketch)
        links, around = differing(a.links, b.links), differing(a.around, b.around)
        # In the same surroundings a picture is another page's, and so are rows, or lines with a label: only their order may be another one.
        if links + around < self.min_around and differences.are_other_facts(a, b):
            return 0
        same = (
            1 - prose <= _PROSE_MAY_DIFFER * (1 - self.min_similarity)
            and differing(a.prose, b.prose) <= _PROSE_TO_SURROUNDINGS * (links + around)
            and links <= around + _STRAY_LINKS * min(page.prose.units for page in pages)
            and min(own_units(a.beside, b.beside)) <= max(_BESIDE_OF_ARTICLE, _BESIDE_TO_AROUND * self._around_alone(a, b, around))
            and not self._are_records(a, b, links + around)
        )
        return prose if same else 0

    @staticmethod
    def _around_alone(a: PageFingerprint, b: PageFingerprint, around: float) -> float:
        """Return how many units differ in what surrounds the prose and whatever stands beside it.

        Where two pages have other lines beside the same short prose these are no surroundings that excuse them: the text in a form, say.
        """
        if not differences.are_forms(a, b):
            return around
        return max(0.0, around - differing(a.beside, b.beside))

    @staticmethod
    def _are_records_of_one_site(a: PageFingerprint, b: PageFingerprint) -> bool:
        """Return whether two pages have values of their own, so that neither their contents nor their prose make them one page."""
        return of_one_site(a.url, b.url) and differences.are_records_beside(a, b)

    @staticmethod
    def _are_records(a: PageFingerprint, b: PageFingerprint, outside: float) -> bool:
        """Return whether the surroundings of two pages are the same, but for what stands beside their prose: two records below one text.

        `outside`: how many units differ outside the prose.
        """
        furniture = abs(outside - differing(a.beside, b.beside))
        is_same = furniture < min(_SAME_UNITS, _SAME_SHARE * outside)
        return is_same and differences.exchange_beside(a, b) and differences.say_other_things_beside(a, b)

    def decide(
        self,
        page: PageFingerprint | Abstention,
        view: View,
        *,
        now: float,
        never_drop: bool = False,
        taken_back: bool = False,
        callback: str = "",
        dropped: Callable[[str], Iterable[PageFingerprint]] = _none,
    ) -> Decision:
        """Return the verdict on a page, and what follows for the store.

        `never_drop`: the page is kept whatever it is (start requests and the like); the verdict still says what it is. `taken_back`: it is
        kept and no copy, whatever it is near to, for another page has shown that it was dropped by mistake. `callback`: names what will be
        done with the page. `dropped`: gives some pages that were dropped as copies of that of a URL.
        """
        # What a crawl has kept it keeps, even where it has meanwhile become a copy of another page.
        known = view.page(page.url)
        if known and not self._is_expired(known, now):
            return Decision(_not_a_copy(page, Kind.REVISITED))
        others: dict[str, None] = {}
        copies, candidates, stopped = self._copies(page, view, now, callback, dropped=dropped, others=others)
        if not copies or taken_back:
            earlier = view.earlier(page.url)
            kind = Kind.REVISITED if earlier and not self._is_expired(earlier, now) else Kind.ADMITTED
            shown = () if copies else tuple(others)
            return Decision(_not_a_copy(page, kind), candidates=candidates, others=shown, stopped=stopped)
        best = max(copies, key=lambda copy: (copy.comparison.similarity or 0, -copy.comparison.distance, -copy.stored.first_seen))
        keep = never_drop or len(copies) < self.copies_kept
        return Decision(self._copy_verdict(page, best, keep=keep), best.stored, record=keep, candidates=candidates, stopped=stopped)

    def _copies(
        self,
        page: PageFingerprint | Abstention,
        view: View,
        now: float,
        callback: str,
        *,
        dropped: Callable[[str], Iterable[PageFingerprint]],
        others: dict[str, None],
    ) -> tuple[list[_Copy], int | None, bool]:
        """Return the copies found by the cheapest stages that find enough to decide; `Decision.candidates`; and `Decision.stopped`.

        To `others` come the URLs of pages that it is near, and no copy of: see `Decision`.
        """
        found: dict[str, _Copy] = {}
        near: list[Candidate] = []

        @cache
        def of_text() -> list[StoredPage]:
            return [*islice(view.with_text(page.text_digest), _MOST_SIBLINGS)] if isinstance(page, PageFingerprint) else []

        def found_enough(copies: Iterable[_Copy]) -> bool:
            for copy in copies:
                url = copy.stored.page.url
                allowed = copy.stored.serves(callback) and self._can_be_original(copy.stored, page, now)
                allowed = allowed and not self._says_more_than_before(page, copy)
                # One of the same text is near as well.
                if not allowed or url in others or view.is_rejected(page, copy.stored.page):
                    continue
                if self._is_another(page, copy, dropped(url), near) or self._is_titled_as_another(
                    page, copy, dropped(url), of_text, others
                ):
                    others[url] = None
                else:
                    found.setdefault(url, copy)
            return len(found) >= self.copies_kept

        candidates, stopped = None, False
        equal = self._same_body(page, view)
        enough = found_enough(islice(equal, max(_MOST_EQUAL, self.copies_kept)))
        if not enough and not found and next(equal, None):
            # None of them serves: callbacks were given other data with each, say. The next stages would meet the same pages again.
            return [], candidates, stopped
        enough = enough or found_enough(self._same_text(page, view, callback))
        if isinstance(page, PageFingerprint) and not enough:
            within = [candidate for _, candidate in islice(view.within(page.fingerprint, self.max_distance), MOST_CANDIDATES)]
            candidates = len(within)
            alike, most_alike = self._alike(page, within)
            near += most_alike
            serving = self._serving(page, alike, now, callback)
            found_enough(self._near(page, islice(serving, _MOST_ALIKE if self.copies_kept == 1 else MOST_CANDIDATES)))
            stopped = candidates == MOST_CANDIDATES or next(serving, None) is not None
        return list(found.values()), candidates, stopped

    def _same_body(self, page: PageFingerprint | Abstention, view: View) -> Iterator[_Copy]:
        # A page without any visible text is what a script fills later: equal shells say nothing of what they will show.
        if isinstance(page, Abstention) and page.reason is Reason.EMPTY:
            return
        for stored in view.with_body(page.body_digest):
            yield _Copy(stored, "identical body", _identical(page, stored.page))

    def _same_text(self, page: PageFingerprint | Abstention, view: View, callback: str) -> Iterator[_Copy]:
        if isinstance(page, PageFingerprint):
            for stored in islice(view.with_text(page.text_digest), MOST_CANDIDATES):
                if not isinstance(stored.page, PageFingerprint) or not stored.serves(callback):
                    continue
                if comparison := self.copy_of(page, stored.page):
                    yield _Copy(stored, "identical text", comparison)

    def _serving(
        self, page: PageFingerprint, candidates: Iterable[Candidate], now: float, callback: str
    ) -> Iterator[tuple[StoredPage, PageFingerprint]]:
        """Yield the candidates that may be a page's original, if it is a copy of them, but for those of its text."""
        for candidate in candidates:
            stored = candidate.stored()
            if stored is None or not isinstance(stored.page, PageFingerprint) or not stored.serves(callback):
                continue
            # Those of its text were looked at before.
            if stored.page.text_digest != page.text_digest and self._can_be_original(stored, page, now):
                yield stored, stored.page

    def _near(self, page: PageFingerprint, candidates: Iterable[tuple[StoredPage, PageFingerprint]]) -> Iterator[_Copy]:
        for stored, original in candidates:
            if comparison := self.copy_of(page, original):
                yield _Copy(stored, "same article" if comparison.same_article else "near-duplicate", comparison)

    def _alike(self, page: PageFingerprint, candidates: Sequence[Candidate]) -> tuple[Iterable[Candidate], Iterable[Candidate]]:
        """Return the candidates that `compare` may find to be copies, and some to ask as siblings, most alike first.

        By what is asked of content and prose most others end here. Those that are left come nearest first; very many come most alike first,
        for not all of them are compared. Of siblings the nearest would not do: pages below one long text are all at distance 0, and the
        first of them may be of another template, and say nothing of this one.
        """
        own = page.content_sketch, page.prose.sketch
        sketches = [candidate.sketches() for candidate in candidates]
        # Those of another recipe's form, too, are for `compare` to refuse.
        comparable = all(own) and all(len(made) == len(mine) for pair in sketches for made, mine in zip(pair, own, strict=True))
        if len(candidates) < _MANY or self.min_similarity <= 0 or not comparable:
            return candidates, candidates[:_MOST_SIBLINGS]
        content, prose = (1 - resemblances(mine, made) for mine, made in zip(own, zip(*sketches, strict=True), strict=True))
        may_differ = 1 - self.min_similarity
        chosen = content <= may_differ
        if page.prose.units >= self.min_prose:
            chosen |= prose <= _PROSE_MAY_DIFFER * may_differ
        places = range(len(candidates)) if chosen.sum() <= _MOST_ALIKE else (content + prose).argsort(kind="stable").tolist()
        siblings = content.argsort(kind="stable")[:_MOST_SIBLINGS].tolist()
        return [candidates[place] for place in places if chosen[place]], [candidates[place] for place in siblings]

    def copy_of(self, page: PageFingerprint, original: PageFingerprint) -> Comparison | None:
        """Return the comparison where a page is a copy of one that was there before it; None where it is none, or would be lost."""
        if page.text_digest == original.text_digest:
            comparison = self._of_one_text(page, original)
        else:
            called = differences.compare_names(page, original)
            # Of records of one template most end here, hundreds a page. `compare` would say the same, with figures that nobody asks for.
            if self.min_similarity > 0 and (Naming.OTHER in called or self._are_records_of_one_site(page, original)):
                return None
            comparison = self._of_two_texts(page, original, called)
        return comparison if comparison.is_near_duplicate and not self.loses(page, original, comparison) else None

    def loses(self, page: PageFingerprint, original: PageFingerprint, comparison: Comparison) -> bool:
        """Return whether much would be lost with a page that is near its original: it shows or says more, or is the page itself.

        An old version, a preview or a page for printing asks search engines to leave it alone. The page that they are to find may say a
        sentence more, and is never dropped in favour of such a one, but where they say the same. Nor is what a wiki says now for what it
        said before, by their addresses: of forms for editing both ask for that.
        The other way round nothing is: a bare difference is a copy of the page that has the message, too. A picture or a file is lost that
        the original does not show: the first page of a site that has none would else take all others with it.
        What surrounds an article on another site is no loss, and where fingerprints alone decide nothing else does. On one site an
        article's surroundings are those of all its pages, so what else stands there belongs to it: the introduction of a chapter that is
        also there by itself. Where both pages want to be known by their own addresses, and these are two, a line that the original has not
        is a loss, and so is another title.
        """
        if self.min_similarity <= 0:
            return False
        on_one_site = of_one_site(page.url, original.url)
        # One article in other surroundings may stand with another picture.
        if on_one_site and not comparison.same_article and names_compared.shows_more(page.names, original.names):
            return True
        is_known_apart = on_one_site and differences.are_known_apart(page, original)
        # A program fills in the rest, which nobody sees here.
        if is_known_apart and names_compared.have_other_titles(page.names, original.names):
            return True
        if comparison.identical_text:
            return False
        surrounds_itself = on_one_site or not comparison.same_article
        return (
            (names_compared.is_left_alone(original.names) and not names_compared.is_left_alone(page.names))
            or is_earlier_state(original.url, page.url)
            or (surrounds_itself and differences.adds_beside(page, original))
            or (on_one_site and (differences.adds_paragraphs(page, original) or differences.adds_content(page, original)))
            # Of an article in other surroundings these are in its contents, too.
            or (on_one_site and not comparison.same_article and differences.adds_a_passage(page, original))
            or (is_known_apart and differences.may_be_another(page, original))
        )

    def _is_another(
        self,
        page: PageFingerprint | Abstention,
        copy: _Copy,
        dropped: Iterable[PageFingerprint],
        near: Iterable[Candidate],
    ) -> bool:
        """Return whether a page that is near its original says more, and something else than other pages say that are near it as well.

        What only one of two pages says makes no two pages of them: a print view shows its address. So a record without a value takes in the
        first one that has one. It is not to take all the others with it, of which each has another value. `dropped`: some that were dropped
        as copies of the original; `near`: the candidates most like the page, among which may be such as were kept.
        """
        original, comparison = copy.stored.page, copy.comparison
        if comparison.identical_text or self.min_similarity <= 0:
            return False
        if (
            not isinstance(page, PageFingerprint)
            or not isinstance(original, PageFingerprint)
            or not differences.may_be_another(page, original)
        ):
            return False
        kept = _others_of(near, page, original)
        if comparison.same_article:
            # In other surroundings other lines and sentences are those of the surroundings.
            return any(differences.are_three_articles(page, other, original) for other in chain(dropped, kept))
        if not differences.says_more(page, original):
            return False
        if any(differences.says_other(page, other, original) for other in dropped) or any(
            differences.says_other(page, other, original)
            and differences.says_more(other, original)
            and (self._is_of_its_kind(page, other, original) or differences.are_three_records(page, other, original))
            for other in kept
        ):
            return True
        is_one = names_compared.holds_more(original.names, page.names) and differences.is_one_of_a_series(page, kept)
        return is_one or differences.has_values_that_vary(page, original, kept)

    def _is_titled_as_another(
        self,
        page: PageFingerprint | Abstention,
        copy: _Copy,
        dropped: Iterable[PageFingerprint],
        of_text: Callable[[], Iterable[StoredPage]],
        others: Collection[str],
    ) -> bool:
        """Return whether a page, its original of the same text and a third one are three pages by their titles, which alone name them.

        `of_text`: gives pages of this text that were kept; `others`: those that it is no copy of already, which are enough of a third page.
        """
        original = copy.stored.page
        if self.min_similarity <= 0 or not copy.comparison.identical_text or not isinstance(page, PageFingerprint):
            return False
        if not isinstance(original, PageFingerprint) or not differences.is_titled_apart(page, original):
            return False
        if others:
            return True
        kept = _others_of(of_text(), page, original)
        return any(differences.are_three_titles(page, other, original) for other in chain(dropped, kept))

    def _is_of_its_kind(self, page: PageFingerprint, other: PageFingerprint, original: PageFingerprint) -> bool:
        """Return whether another page would be a copy of the original, or is told apart by nothing but what stands beside its content.

        Or whether it is nearly a copy, and another record than the page. Estimates of short records vary: one that had to be kept by a hair
        is of the series all the same.
        """
        comparison = self.compare(other, original)
        if comparison.apart is Apart.BESIDE or (comparison.is_near_duplicate and not self.loses(other, original, comparison)):
            return True
        differs = 1 - (comparison.similarity or 0.0)
        is_nearly = comparison.apart in (Apart.CONTENTS, Apart.SHORT) and differs <= _NEARLY * (1 - self.min_similarity)
        return is_nearly and names_compared.exchange_a_line(page.names, other.names)

    def _can_be_original(self, stored: StoredPage, page: Page, now: float) -> bool:
        return stored.page.url != page.url and not self._is_expired(stored, now) and self.may_replace(stored.page.url, page.url)

    def _says_more_than_before(self, page: Page, copy: _Copy) -> bool:
        """Return whether a page says something that its original, which only an earlier crawl has fetched, did not say."""
        original = copy.stored
        # By what the crawl has met, not by when: a clock may have been ahead, and a page that is seen twice an hour is stored once. One
        # that is not confirmed is in flight now.
        if self.has_found is None or copy.comparison.identical_text or not original.confirmed:
            return False
        return differences.may_be_another(page, original.page) and not self.has_found(original.page)

    def may_replace(self, original: str, url: str) -> bool:
        """Return whether the page of one URL may be dropped in favour of that of another one, by where they are."""
        if self.trusted_hosts and host_of(url) in self.trusted_hosts and host_of(original) not in self.trusted_hosts:
            return False
        return self.scope == "all" or of_one_site(original, url)

    def _is_expired(self, stored: StoredPage, now: float) -> bool:
        # As if it were removed: whether that has been done already must not make a difference.
        return self.expire_days > 0 and now - stored.last_seen > self.expire_days * _DAY

    def _copy_verdict(self, page: PageFingerprint | Abstention, copy: _Copy, *, keep: bool) -> Verdict:
        comparison = copy.comparison
        acts = not keep and self.action != "observe"
        return Verdict(
            kind=Kind.EXACT_DUPLICATE if comparison.identical_text else Kind.NEAR_DUPLICATE,
            original=copy.stored.page.url,
            distance=comparison.distance,
            similarity=comparison.similarity,
            drop_page=acts and self.action != "drop-links",
            drop_outlinks=acts and self.action != "drop-items" and not _is_shell(page) and self._drops_outlinks(comparison),
            reason=copy.reason,
            page=page,
            canonical=page.hints.speak_of(copy.stored.page.url) if page.hints else "",
        )

    def _drops_outlinks(self, comparison: Comparison) -> bool:
        if self.outlinks <= 0:
            return True
        # One article in other surroundings: that its prose agrees says nothing of its links.
        alike = 1.0 if comparison.identical_text else 0.0 if comparison.same_article else min(comparison.similarity or 0.0, _NOT_IDENTICAL)
        return alike >= self.outlinks and comparison.identical_links


def _others_of(near: Iterable[Candidate], *pages: PageFingerprint) -> list[PageFingerprint]:
    """Return those of some candidates that are compared and are none of these pages."""
    stored = (other.page for candidate in near if (other := candidate.stored()))
    urls = {page.url for page in pages}
    return [other for other in stored if isinstance(other, PageFingerprint) and other.url not in urls]


def _is_shell(page: PageFingerprint | Abstention) -> bool:
    """Return whether a page has next to no text and no link: what requests it leads to its URL or a script decides, not its bytes."""
    return isinstance(page, Abstention) and not page.outlinks


def _identical(page: Page, other: Page) -> Comparison:
    """Return what is to be said of two pages of the same bytes: relative links lead elsewhere from another address."""
    links = isinstance(page, PageFingerprint) and isinstance(other, PageFingerprint) and differences.same_links(page, other)
    return Comparison(0, 1.0, is_near_duplicate=True, identical_text=True, identical_links=links)


def _not_a_copy(page: PageFingerprint | Abstention, kind: Kind) -> Verdict:
    if isinstance(page, Abstention):
        return Verdict(kind=Kind.SKIPPED, reason=page.reason.value, page=page)
    return Verdict(kind=kind, page=page)
