"""The detector: a store, a recipe and a rule, put together. Everything that a crawl or a tool decides goes through it."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import replace
from functools import lru_cache, partial
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from simcrawl.config import parse
from simcrawl.errors import SettingError
from simcrawl.page import hints
from simcrawl.page.fingerprint import (
    MAX_PAGE_BYTES,
    MAX_PAGE_SECONDS,
    UNKNOWN,
    Abstention,
    PageFingerprint,
    Reason,
    digest,
    encode,
    fingerprint_page,
    page_key,
)
from simcrawl.page.recipes import DROP_OUTLINKS, FOLLOW_OUTLINKS, IDENTICAL_TEXT, RECIPES, Recipe, resolve
from simcrawl.rule import Comparison, Kind, Rule, Verdict
from simcrawl.store.crawls import Crawl, join_crawl

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from simcrawl.rule import Action, Originals, Scope
    from simcrawl.store import Admission, Store

# What stopped these pages may not stop them another time.
_OF_THE_MOMENT = {Reason.TOO_LARGE, Reason.TOO_SLOW, Reason.OUT_OF_MEMORY, Reason.CRASHED, Reason.EXTRACTION_FAILED, Reason.OUTDATED}
_SHORT = {Reason.EMPTY, Reason.SHORT}
# Some kilobyte each.
_MOST_RECENT = 200
_LONGEST_CACHED = 500

OUTLINKS = {"drop": DROP_OUTLINKS, "follow": FOLLOW_OUTLINKS}


class Detector:
    """Decides about pages by one rule, against one store. Thread-safe.

    Each detector is a crawl of its own: a page is a copy only of pages that this detector has kept, or that were loaded into the
    store. Detectors that name the same `crawl`, in any process, are one crawl as long as one of them is open. With `originals="store"` a
    page is a copy of whatever page the store knows. A crawl begins with its first decision and ends with `close`, at the latest when the
    store is closed.

    Keyword arguments are the settings in lower case, without their prefix; where one is left out the recipe's own value holds.
    `keep_text`: how many bytes of texts the store may keep; pages are then made with their content. `redact`: names of query parameters
    whose values pages are not known by: see `known_as`.
    Making a detector binds a new store to its recipe.

    Raises:
        SettingError: a value cannot work.
        StoreMismatchError: the store was made with another recipe.
    """

    def __init__(
        self,
        store: Store,
        *,
        recipe: str | Recipe | None = None,
        max_distance: int | None = None,
        min_similarity: float | None = None,
        min_features: int | None = None,
        min_around: int | None = None,
        outlinks: float | str | None = None,
        extractor: str | None = None,
        action: Action = "drop",
        scope: Scope = "all",
        trusted_hosts: Collection[str] = (),
        copies_kept: int = 1,
        expire_days: float = 0,
        max_page_bytes: int = MAX_PAGE_BYTES,
        max_page_seconds: float = MAX_PAGE_SECONDS,
        keep_text: int = 0,
        originals: Originals = "crawl",
        crawl: str | Crawl | None = None,
        redact: Collection[str] = (),
    ) -> None:
        overrides = _checked(
            max_distance=max_distance,
            min_similarity=min_similarity,
            min_features=min_features,
            min_around=min_around,
            outlinks=outlinks,
            extractor=extractor,
        )
        overrides |= {"outlinks": OUTLINKS[outlinks]} if outlinks in OUTLINKS else {}
        # A crawl without a word about it goes on with the store's, whatever the default is by now.
        chosen = resolve(_recipe_of(store, overrides) if recipe in (None, "auto") else recipe)
        self.store = store
        self.recipe = _with(chosen, overrides)
        self.rule = replace(Rule.of(self.recipe), **_checked(action=action, scope=scope, copies_kept=copies_kept, expire_days=expire_days))
        self.rule = replace(self.rule, trusted_hosts=frozenset(parse("SIMCRAWL_TRUSTED_HOSTS", trusted_hosts)))
        limits = _checked(max_page_bytes=max_page_bytes, max_page_seconds=max_page_seconds)
        self._limits = {"max_bytes": limits["max_page_bytes"], "max_seconds": limits["max_page_seconds"]}
        self._keeps_content = keep_text > 0
        if keep_text:
            store.keep_texts(keep_text)
        self.seconds = {"recall": 0.0, "extract": 0.0, "fingerprint": 0.0, "store": 0.0}
        self.cascade: Counter[str] = Counter()
        """How many pages were `extracted`, and how many were not, since a stored or a recent page has their body."""
        self._recent: OrderedDict[bytes, PageFingerprint | Abstention] = OrderedDict()
        self._named = hints.Named()
        self._redact = frozenset(parse("SIMCRAWL_REDACT", redact))
        # Of each page it is asked eight times.
        self._known_as = lru_cache(maxsize=_MOST_RECENT)(partial(page_key, seed=store.header.seed, redact=self._redact))
        self._lock = Lock()
        self._originals = parse("SIMCRAWL_ORIGINALS", originals)
        self._name = None if isinstance(crawl, Crawl) else parse("SIMCRAWL_CRAWL", crawl)
        self._crawl = crawl if isinstance(crawl, Crawl) else None
        self._joining = Lock()
        store.bind(self.recipe)

    def page(
        self, html: bytes | str, *, url: str = "", encoding: str | None = None, keep_text: bool = False
    ) -> PageFingerprint | Abstention:
        """Return a page made with the store's recipe and seed.

        A body that a recent page has too is not extracted again: its fingerprint is known.

        Raises:
            StoreError: the store cannot be read.
        """
        known = self.recall(html, url=url, encoding=encoding)
        # What a store recalls may know too little to be dropped, and nobody here knows what will be decided.
        if known and (known.places or isinstance(known, Abstention)):
            return known
        return self.remember(self.extract(html, url=url, encoding=encoding, keep_text=keep_text))

    def recall(
        self, html: bytes | str, *, url: str = "", encoding: str | None = None, body_digest: bytes | None = None
    ) -> PageFingerprint | Abstention | None:
        """Return a page whose body a stored or a recent page has too; None where its content has yet to be extracted.

        `body_digest`: where it is known.

        Raises:
            StoreError: the store cannot be read.
        """
        started = monotonic()
        body = body_digest or digest(encode(html), self.store.header.seed)
        with self._lock:
            known = self._recent.get(body)
            if known:
                self._recent.move_to_end(body)
        stage = "body_recent" if known else "body_stored"
        url = self.known_as(url)
        known = self._under(known or self._stored(body), url)
        if known and known.hints is None:
            # No store keeps them: they are of use while the page is in flight.
            known = replace(known, hints=hints.of_body(encode(html), "utf-8" if isinstance(html, str) else encoding, url))
        self._count(stage if known else "extracted", "recall", monotonic() - started)
        return known

    def _under(self, known: PageFingerprint | Abstention | None, url: str) -> PageFingerprint | Abstention | None:
        """Return a page under the URL that has its body now; None where that has to be extracted."""
        if known is None or (known.url == url and not (self._compares_links and getattr(known, "links_digest", None) == UNKNOWN)):
            return known
        # Relative links lead elsewhere from another URL, and whether a short page has any is all that is known of it.
        if self._compares_links or getattr(known, "reason", None) in _SHORT:
            return None
        return replace(known, url=url) if isinstance(known, Abstention) else replace(known, url=url, links_digest=UNKNOWN)

    @property
    def _compares_links(self) -> bool:
        return DROP_OUTLINKS < self.rule.outlinks <= IDENTICAL_TEXT

    def _stored(self, body: bytes) -> PageFingerprint | Abstention | None:
        found = self.store.with_body(body)
        fits = found and found.page.recipe == self.recipe.identity and getattr(found.page, "reason", None) not in _OF_THE_MOMENT
        return found.page if found and fits else None

    def _count(self, stage: str, timed: str, seconds: float) -> None:
        with self._lock:
            self.cascade[stage] += 1
            self.seconds[timed] += seconds

    def remember(self, page: PageFingerprint | Abstention) -> PageFingerprint | Abstention:
        """Return the page, which `recall` now knows without asking the store, for as long as its body is among the last few."""
        with self._lock:
            # A copy takes longer than all the rest here, and most pages have neither.
            self._recent[page.body_digest] = replace(page, text=None, content=None) if page.text or page.content else page
            if len(self._recent) > _MOST_RECENT:
                self._recent.popitem(last=False)
        return page

    def extract(
        self, html: bytes | str, *, url: str = "", encoding: str | None = None, keep_text: bool = False
    ) -> PageFingerprint | Abstention:
        """Return a page made with the store's recipe and seed, without a look into the store."""
        options = self.page_options
        return fingerprint_page(html, url=self.known_as(url), encoding=encoding, keep_text=keep_text, seconds=self.seconds, **options)

    def known_as(self, url: str) -> str:
        """Return what a URL is stored and told as: without fragment, user, password, and the values of parameters to redact."""
        return self._known_as(url) if len(url) <= _LONGEST_CACHED else self._known_as.__wrapped__(url)

    @property
    def page_options(self) -> dict[str, Any]:
        """The keyword arguments of `fingerprint_page` that make this detector's pages, for other processes."""
        return self._limits | {"recipe": self.recipe, "seed": self.store.header.seed, "keep_content": self.keeps_content}

    @property
    def keeps_content(self) -> bool:
        """Whether pages are made with their content: as long as the store has space for it."""
        return self._keeps_content and self.store.wants_texts

    def admit(self, page: PageFingerprint | Abstention) -> Verdict:
        """Decide about a page and, unless it is a copy, insert it: one atomic step.

        Raises:
            StoreMismatchError: the page was made with another recipe or seed.
            StoreError: the store cannot be read or written.
        """
        page = self._with_names(page)
        verdict = self.crawl.admit(page, self.rule) if self._originals == "crawl" else self.store.admit(page, self.rule)
        if not verdict.is_duplicate:
            self._named.note(page.url, page.hints)
        return verdict

    def _with_names(self, page: PageFingerprint | Abstention) -> PageFingerprint | Abstention:
        """Return a page that knows which others name it as their canonical one."""
        page = self.without_secrets(page)
        named_by = self._named.by(page.url)
        return replace(page, hints=(page.hints or hints.NO_HINTS)._replace(named_by=named_by)) if named_by else page

    def without_secrets(self, page: PageFingerprint | Abstention) -> PageFingerprint | Abstention:
        """Return a page whose hints name others as they are known."""
        if page.hints and (self._redact or "@" in page.hints.canonical):
            return replace(page, hints=page.hints.known_as(self.known_as))
        return page

    def claim(
        self, page: PageFingerprint | Abstention, *, never_drop: bool = False, taken_back: bool = False, callback: str = ""
    ) -> Admission:
        """Decide about a page and, unless it is a copy, claim it until its content came out: see `Store.claim`.

        Raises:
            StoreMismatchError: the page was made with another recipe or seed.
            StoreFullError: too many confirmed pages could not be written.
            StoreError: the store cannot be read.
        """
        started = monotonic()
        pages = self.crawl if self._originals == "crawl" else self.store
        page = self._with_names(page)
        try:
            admission = pages.claim(page, self._rule_for(page), never_drop=never_drop, taken_back=taken_back, callback=callback)
        finally:
            self.seconds["store"] += monotonic() - started
        if admission.claim:
            self._named.note(page.url, page.hints)
        return admission

    def _rule_for(self, page: PageFingerprint | Abstention) -> Rule:
        """Return the rule for a page: where it says something else than in the spider's last crawl, earlier crawls have no say in that."""
        if self._originals == "crawl" or self._crawl is None or not isinstance(page, PageFingerprint):
            return self.rule
        return replace(self.rule, has_found=self._crawl.has_found) if self._crawl.has_changed(page) else self.rule

    @property
    def falls_behind(self) -> bool:
        """Whether so many pages wait to be written that a claim would try to write them first."""
        return (self._crawl or self.store).falls_behind

    @property
    def asks_others(self) -> bool:
        """Whether a claim may ask another machine: never to be done on an event loop."""
        return self.store.asks_others

    @property
    def crawl(self) -> Crawl:
        """The crawl whose pages this detector compares. It begins, or is joined, on first use.

        Raises:
            StoreError: the store cannot be written.
        """
        with self._joining:
            if self._crawl is None:
                self._crawl = join_crawl(self.store, self._name)
            return self._crawl

    def close(self) -> None:
        """Leave the crawl, which the last one ends; the store stays open. Without it the crawl lasts as long as the store is open.

        Raises:
            StoreError: the store cannot be written.
        """
        if self._crawl:
            self._crawl.leave()


def knows_too_little(page: PageFingerprint | Abstention, admission: Admission | None) -> bool:
    """Return whether a page that a store recalled has to be made anew before it is dropped: no store has what may prove it no copy.

    `admission`: None where the decision waits for another page. What it will be then nobody knows.
    """
    may_be_near = admission is None or admission.verdict.kind is Kind.NEAR_DUPLICATE
    return may_be_near and isinstance(page, PageFingerprint) and not page.places


def _checked(**options: Any) -> dict[str, Any]:
    """Return the options that are given, parsed as the settings of that name are."""
    return {name: parse(f"SIMCRAWL_{name.upper()}", value) for name, value in options.items() if value is not None}


def _with(recipe: Recipe, overrides: Mapping[str, Any]) -> Recipe:
    """Return a recipe with other thresholds.

    Raises:
        SettingError: it cannot have one of them. Names the setting, which is of a kind that is right for other recipes.
    """
    try:
        return replace(recipe, **overrides)
    except SettingError as exc:
        wrong = [f"SIMCRAWL_{name.upper()} is {value!r}" for name, value in overrides.items() if str(exc).startswith(f"{name} ")]
        raise SettingError(f"{', '.join(wrong)}: {exc}") from exc


def _recipe_of(store: Store, overrides: Mapping[str, Any]) -> str:
    """Return the name of the recipe that a store is bound to, perhaps with these overrides; "auto" for a new one."""
    identity = store.header.recipe
    name = (identity or "auto").partition("/")[0]
    if identity and (name not in RECIPES or ("+" in identity and _with(RECIPES[name], overrides).identity != identity)):
        raise SettingError(
            f"the store was made with {identity}, which is not built in: name that recipe (and extractor) as the crawl does; if an older "
            f"simcrawl made it, run `simcrawl upgrade {store.path or 'STORE'} --recipe auto`"
        )
    return name


def compare(page_a: PageFingerprint, page_b: PageFingerprint, *, rule: Rule | None = None) -> Comparison:
    """Compare two pages by the detector's own rule; by default that of the recipe both were made with.

    Raises:
        ValueError: the pages were made with different recipes or seeds.
    """
    if (page_a.recipe, page_a.seed) != (page_b.recipe, page_b.seed):
        raise ValueError(
            f"pages made with {page_a.recipe} and {page_b.recipe}, of {'one seed' if page_a.seed == page_b.seed else 'two seeds'}, "
            "cannot be compared: make both with the same recipe and seed"
        )
    return (rule or Rule.of(resolve(page_a.recipe.partition("/")[0]))).compare(page_a, page_b)
