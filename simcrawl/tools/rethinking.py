"""What another threshold would have done, from what a store holds. Nothing is fetched, and nothing is written.

    register     near-duplicates with distance and similarity   ──► verdicts that would not stand
    pages        of pairs of kept ones the rule itself           ──► kept pages that would have been copies

It starts from what was: two pages that the crawl's own thresholds make copies, and that were both kept, count as kept at any threshold. The
crawl had a reason that two pages do not tell: a third page, another night, a page that was asked for again.

What cannot be known: a page that was dropped has no sketches in the store. So of verdicts that would not stand nobody can say whether the
page is a copy of another page than its original (but for one of the same content), nor which pages would be copies of it; and names that
differ in a word, or few words, ask for more than a similarity says. Nor does a store know the places in a page that tell whether a passage
is new there (`simcrawl.page.sketch.new_passage`), so that a page which is kept for one counts as a copy. Pages that are behind links that
were dropped, and those that were not fetched, are not known at all. SIMCRAWL_TRUSTED_HOSTS is not looked at. All pages count as those of
one crawl, in the order in which they were first seen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from simcrawl.index.batch import batch_query
from simcrawl.page.fingerprint import PageFingerprint, Reason
from simcrawl.page.recipes import resolve
from simcrawl.rule import MOST_CANDIDATES, Rule
from simcrawl.store.register import Share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simcrawl.rule import StoredPage
    from simcrawl.store import Duplicate, Store

# Pairs of fingerprints that are looked at: some seconds. A site whose pages all lie near to each other has more than anybody reads.
_MOST_PAIRS = 1 << 18
# Of a rule what decides about two pages, as the record of a crawl has it.
_OF_PAIRS = ("max_distance", "min_similarity", "min_prose", "min_around", "scope")


class Change(NamedTuple):
    """A page of which another threshold would have made something else: kept as no copy of `original`, or a copy of it."""

    url: str
    original: str
    distance: int | None
    similarity: float | None
    then: Literal["kept", "copy"]

    def as_object(self) -> dict[str, Any]:
        """Return it as JSON has it, the similarity of three digits, as everywhere."""
        return self._asdict() | {"similarity": None if self.similarity is None else round(self.similarity, 3)}


@dataclass(frozen=True, slots=True)
class Rethought:
    """What a threshold would have done. `kept`, `copies`: pages as they were, and `_then` as they would be.

    `fallen`: verdicts that would not stand, least similar first; those pages are kept then, once each content. `joined`: kept pages that
    would have been copies. `moved`: copies whose original is among those; they count as copies still. `complete`: whether all pairs of
    kept pages were looked at, but for those that are `outdated`: an older version or another recipe made them. `excepted`: kept pages that
    are near-duplicates of other kept ones by the crawl's own thresholds, and stay.
    """

    min_similarity: float
    max_distance: int
    kept: int
    copies: int
    fallen: list[Change]
    joined: list[Change]
    contents: int
    moved: int
    complete: bool
    outdated: int = 0
    excepted: int = 0

    @property
    def kept_then(self) -> int:
        """Pages that would be kept."""
        return self.kept + self.contents - len(self.joined)

    @property
    def copies_then(self) -> int:
        """Pages that would be copies."""
        return self.copies - self.contents + len(self.joined)

    def as_object(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "min_similarity": self.min_similarity,
            "max_distance": self.max_distance,
            "kept": self.kept,
            "kept_then": self.kept_then,
            "copies": self.copies,
            "copies_then": self.copies_then,
            "share": Share.of(self.copies, self.kept),
            "share_then": Share.of(self.copies_then, self.kept_then),
            "moved": self.moved,
            "complete": self.complete,
            "outdated": self.outdated,
            "excepted": self.excepted,
            "changes": [change.as_object() for change in (*self.fallen, *self.joined)],
        }


class _Pair(NamedTuple):
    """Two kept pages, the later one first, and how many of the thresholds that are asked for make them copies: those up to there."""

    url: str
    original: str
    distance: int
    similarity: float | None
    thresholds: int


def rule_of(store: Store) -> Rule:
    """Return the rule of a store's last crawl, that of its recipe where no crawl is recorded."""
    told: dict[str, Any] = next((record["rule"] for record in reversed(store.crawls()) if isinstance(record.get("rule"), dict)), {})
    chosen = Rule.of(resolve((store.header.recipe or "auto").partition("/")[0]))
    return replace(chosen, **{name: told[name] for name in _OF_PAIRS if name in told})


class Rethinking:
    """What thresholds would have done to the pages of a store: reads it once, and answers for each of `thresholds`.

    `rule`: what was in force, see `rule_of`. `max_distance`: the radius that is asked for, that of the rule if None. Memory: the lines of
    near-duplicates, and pages that have another one within the radius.

    Raises:
        StoreError: the store cannot be read.
    """

    def __init__(
        self,
        store: Store,
        rule: Rule,
        thresholds: Sequence[float],
        move: Callable[[float, str], object] = lambda _done, _what: None,
        *,
        max_distance: int | None = None,
    ) -> None:
        self._was, self._both_kept = rule, set[str]()
        self.rule = rule if max_distance is None else replace(rule, max_distance=max_distance)
        self.thresholds, self.complete = sorted(thresholds), True
        self._kept, self._copies, self._outdated, known = 0, 0, 0, set[str]()
        self._near: list[Duplicate] = []
        self._of: dict[str, int] = defaultdict(int)
        for line in store.duplicates():
            if line.standing not in ("exact", "near"):
                continue
            self._copies += 1
            self._of[line.original] += 1
            if line.standing == "near":
                self._near.append(line)
            if not line.dropped_page:
                known.add(line.url)
        self._near.sort(key=lambda line: (-1 if line.similarity is None else line.similarity, line.url))
        held = self._held(store, known)
        self._pairs = list(self._compared(store, held, move))

    @property
    def excepted(self) -> int:
        """How many kept pages are near-duplicates of other kept ones by the crawl's own thresholds, and stay."""
        return len(self._both_kept)

    def at(self, min_similarity: float) -> Rethought:
        """Return what one of the thresholds would have done."""
        number = self.thresholds.index(min_similarity)
        rule = replace(self.rule, min_similarity=min_similarity)
        lines = [line for line in self._near if not _stands(line, rule)]
        dropped = dict[str, _Pair]()
        for pair in self._pairs:
            if pair.thresholds > number and pair.url not in dropped and pair.original not in dropped:
                dropped[pair.url] = pair
        return Rethought(
            min_similarity,
            rule.max_distance,
            self._kept,
            self._copies,
            [Change(line.url, line.original, line.distance, line.similarity, "kept") for line in lines],
            [Change(*pair[:4], "copy") for pair in dropped.values()],
            len({line.content or line.url for line in lines}),
            sum(self._of[url] for url in dropped),
            self.complete,
            self._outdated,
            self.excepted,
        )

    def _held(self, store: Store, known: set[str]) -> dict[int, list[StoredPage]]:
        """Return the kept pages that have another one within the radius by their fingerprints, and note which these are.

        `known`: copies that were kept; they are copies already.
        """
        asked = np.concatenate([np.empty((0, store.header.bits // 64 or 1), np.uint64), *store.fingerprint_chunks()])
        self._beside: dict[int, list[tuple[int, int]]] = defaultdict(list)
        pairs = 0
        # Wider fingerprints no batch takes.
        for hit in batch_query(asked[:, 0], [asked], self.rule.max_distance) if asked.shape[1] == 1 else ():
            values = asked[hit.queries, 0]
            for value, other, distance in zip(values.tolist(), hit.fingerprints.tolist(), hit.distances.tolist(), strict=True):
                if value != other:
                    self._beside[value].append((distance, other))
            pairs += len(values)
            if pairs - len(asked) > 2 * _MOST_PAIRS:
                self.complete = False
                break
        for found in self._beside.values():
            found.sort()
        held: dict[int, list[StoredPage]] = defaultdict(list)
        counts: dict[int, int] = defaultdict(int)
        for stored in store.pages():
            self._kept += 1
            if isinstance(stored.page, PageFingerprint):
                counts[stored.page.fingerprint] += 1
            else:
                self._outdated += stored.page.reason is Reason.OUTDATED
        for stored in store.pages():
            page = stored.page
            if (
                isinstance(page, PageFingerprint)
                and page.url not in known
                and (page.fingerprint in self._beside or counts[page.fingerprint] > 1)
            ):
                held[page.fingerprint].append(stored)
        return held

    def _compared(self, store: Store, held: dict[int, list[StoredPage]], move: Callable[[float, str], object]) -> Iterator[_Pair]:
        """Yield the pairs that some threshold makes copies, of the later pages first those that were seen first, then the most similar."""
        order = sorted((stored for same in held.values() for stored in same), key=lambda stored: (stored.first_seen, stored.page.url))
        places = {stored.page.url: place for place, stored in enumerate(order)}
        pairs = 0
        for place, stored in enumerate(order):
            move(place, "pairs of kept pages")
            page: Any = stored.page
            near = [(0, page.fingerprint), *self._beside.get(page.fingerprint, ())]
            others = [other for _, value in near for other in held.get(value, ()) if places[other.page.url] < place][:MOST_CANDIDATES]
            pairs += len(others)
            if pairs > _MOST_PAIRS:
                self.complete = False
                return
            found = (self._pair(store, stored, other) for other in others)
            yield from sorted(filter(None, found), key=lambda pair: (-(pair.similarity or 0), pair.distance))

    def _pair(self, store: Store, later: StoredPage, earlier: StoredPage) -> _Pair | None:
        a: Any = later.page
        b: Any = earlier.page
        loosest = replace(self.rule, min_similarity=self.thresholds[0])
        compared = loosest.copy_of(a, b)
        # Whose callback it was is known of pages that gave nothing only.
        allowed = earlier.serves(later.callback) and self.rule.may_replace(b.url, a.url)
        if not compared or not allowed or store.is_rejected(a, b):
            return None
        if self._was.copy_of(a, b):
            self._both_kept.add(a.url)
            return None
        # The rule itself says so for each threshold: the looser one is, the more are copies.
        holds = bisect_right(self.thresholds, 0, key=lambda t: not replace(self.rule, min_similarity=t).copy_of(a, b))
        return _Pair(a.url, b.url, compared.distance, compared.similarity, holds)


def _stands(line: Duplicate, rule: Rule) -> bool:
    """Return whether the verdict of a line may stand by a rule: by what the register knows of it."""
    if line.reason not in ("near-duplicate", "same article"):
        return True
    if line.distance is not None and line.distance > rule.max_distance:
        return False
    return line.similarity is None or rule.allows(line.similarity, same_article=line.reason == "same article")
