"""The item pipeline: drops items whose text is a copy of an earlier item's, for spiders that yield several items a page."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from simcrawl.config import Config
from simcrawl.crawl.exceptions import NearDuplicateItem
from simcrawl.crawl.session import Session, told_similarity
from simcrawl.crawl.threads import Threads
from simcrawl.crawl.waiting import wait_for_original
from simcrawl.detector import Detector
from simcrawl.errors import StoreError
from simcrawl.page.fingerprint import Abstention, fingerprint_text
from simcrawl.page.recipes import resolve
from simcrawl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

    from simcrawl.page.fingerprint import PageFingerprint
    from simcrawl.rule import Verdict
    from simcrawl.store import Admission, Claim

# Seconds that a copy waits for its original to come out of the pipelines; then it is kept.
_PATIENCE = 5.0
_MOST_OPEN = 10_000


class _Held(NamedTuple):
    """An item on its way through later pipelines, its text, and its claim."""

    item: Any
    text: str
    claim: Claim


class NearDuplicateItemPipeline:
    """Compares the text field that SIMCRAWL_ITEM_FIELD names with that of every item kept so far in this crawl.

    Items have no identity that lasts: what an item of the last crawl and one of this crawl have in common cannot tell a copy
    from a revisit. So the items' store lives for one crawl, on disk, to bound memory. Texts too short to be compared pass: two products
    without a description are not one product.
    """

    def __init__(self, session: Session, field: str) -> None:
        self._session = session
        self._field = field
        self._numbers = count()
        # By the items' identities; held, so that these stay unique.
        self._open: OrderedDict[int, _Held] = OrderedDict()
        # One thread: of two copies on one page the first is the original.
        self._threads = Threads(1)
        options = session.config.detector_options
        # The seed of the crawl's store: one that is to give the same result every time gives it for items, too.
        bits, seed = resolve(options["recipe"]).bits, session.store.header.seed
        # Files that are open outlive their names: the store lasts as long as the process, and even one that is killed leaves nothing.
        with TemporaryDirectory(prefix="simcrawl-items-") as directory:
            store = open_store(directory, bits=bits, seed=seed)
        self._detector = Detector(store, **options | {"scope": "all", "originals": "store"})

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline of a crawler.

        Raises:
            NotConfigured: SIMCRAWL_ITEM_FIELD is not set.
        """
        field = Config.from_settings(crawler.settings.get).item_field
        if field is None:
            raise NotConfigured
        pipeline = cls(Session.of(crawler), field)
        crawler.signals.connect(pipeline.item_scraped, signal=signals.item_scraped)
        for signal in (signals.item_dropped, signals.item_error):
            crawler.signals.connect(pipeline.item_refused, signal=signal)
        return pipeline

    async def process_item(self, item: Any) -> Any:
        """Return the item, or drop it.

        Raises:
            DropItem: its text is a copy of another item's.
        """
        text = self._text(item)
        if text is None:
            return item
        try:
            admission = await self._admit(text)
        except StoreError as exc:
            self._session.fault("store_error", "simcrawl cannot use the store of items; items pass unchecked: %s", exc)
            return item
        if admission and admission.verdict.drop_page:
            self._drop(admission.verdict)
        if admission and admission.claim:
            self._hold(_Held(item, text, admission.claim))
        return item

    def _text(self, item: Any) -> str | None:
        from itemadapter import ItemAdapter  # noqa: PLC0415 - brings all libraries of item types; most crawls do not need this pipeline

        text = ItemAdapter(item).get(self._field) if ItemAdapter.is_item(item) else None
        return text if isinstance(text, str) else None

    async def _admit(self, text: str) -> Admission | None:
        """Return the admission of a text; None where it is too short to be compared."""
        page = await self._threads.run(self._page, text)
        if isinstance(page, Abstention):
            return None
        claim: Callable[..., Awaitable[Admission]] = partial(self._threads.run, self._detector.claim, page)
        return await wait_for_original(await claim(), claim, _PATIENCE)

    def _page(self, text: str) -> PageFingerprint | Abstention:
        name = f"item {next(self._numbers)}: {text[:60]!r}"
        return fingerprint_text(text, url=name, recipe=self._detector.recipe, seed=self._detector.store.header.seed)

    def _drop(self, verdict: Verdict) -> None:
        first = not self._session.stats.get_value("simcrawl/items/near_duplicate")
        self._session.stats.inc_value("simcrawl/items/near_duplicate")
        self._session.stats.inc_value("simcrawl/items/dropped")
        self._session.note_dropped()
        level = "INFO" if first or self._session.config.debug else "DEBUG"
        likeness = f"distance {verdict.distance}, similarity {told_similarity(verdict)}"
        raise NearDuplicateItem(f"{self._field}: {verdict.reason} of {verdict.original} ({likeness})", log_level=level)

    # ---- what becomes of the items after this pipeline

    def _hold(self, held: _Held) -> None:
        self._open[id(held.item)] = held
        # A later pipeline that returns another object with another text hides what became of this one.
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)[1].claim.confirm()

    def _release(self, item: Any) -> _Held | None:
        """Return what was held of an item, or of the one with its text: a later pipeline may have put another object in its place."""
        if held := self._open.pop(id(item), None):
            return held
        if (text := self._text(item)) is None:
            return None
        place = next((place for place, held in self._open.items() if held.text == text), None)
        return None if place is None else self._open.pop(place)

    def item_scraped(self, item: Any) -> None:
        """Let the item be an original from now on."""
        if held := self._release(item):
            held.claim.confirm()

    def item_refused(self, item: Any, exception: BaseException | None = None) -> None:
        """Forget an item that another pipeline dropped or failed on. One that this pipeline drops has the text of one that it holds."""
        if isinstance(exception, NearDuplicateItem):
            return
        if held := self._release(item):
            held.claim.withdraw()

    async def close_spider(self) -> None:
        """Close the store, which ends it."""
        await self._threads.run(self._detector.store.close)
        self._threads.close()
