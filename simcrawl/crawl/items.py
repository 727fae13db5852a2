"""The item pipeline: drops items whose text is a copy of an earlier item's, for spiders that yield several items a page."""

from __future__ import annotations

from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem, NotConfigured

from simcrawl.config import Config
from simcrawl.crawl.session import Session
from simcrawl.crawl.workers import Workers
from simcrawl.detector import Detector
from simcrawl.errors import StoreError
from simcrawl.pages import fingerprint_text
from simcrawl.recipes import resolve
from simcrawl.store import open_store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from simcrawl.rule import Verdict


class NearDuplicateItemPipeline:
    """Compares the text field that SIMCRAWL_ITEM_FIELD names with that of every item kept so far in this crawl.

    Items have no identity that lasts: what an item of the last crawl and one of this crawl have in common cannot tell a copy
    from a revisit. So the items' store lives for one crawl, on disk, to bound memory.
    """

    def __init__(self, session: Session, field: str) -> None:
        self._session = session
        self._field = field
        self._numbers = count()
        # One thread: of two copies on one page the first is the original.
        self._workers = Workers(1)
        self._directory = TemporaryDirectory(prefix="simcrawl-items-")
        options = session.config.detector_options
        store = open_store(self._directory.name, bits=resolve(options["recipe"]).bits, seed="random")
        self._detector = Detector(store, **options | {"scope": "all"})

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline of a crawler.

        Raises:
            NotConfigured: SIMCRAWL_ITEM_FIELD is not set.
        """
        field = Config.from_settings(crawler.settings.get).item_field
        if field is None:
            raise NotConfigured
        return cls(Session.of(crawler), field)

    async def process_item(self, item: Any) -> Any:
        """Return the item, or drop it.

        Raises:
            DropItem: its text is a copy of another item's.
        """
        text = ItemAdapter(item).get(self._field)
        if not isinstance(text, str):
            return item
        try:
            verdict = await self._workers.run(self._admit, text)
        except StoreError as exc:
            self._session.fault("store_error", "simcrawl cannot use the store of items; items pass unchecked: %s", exc)
            return item
        if verdict.drop_page:
            self._session.stats.inc_value("simcrawl/items/dropped")
            raise DropItem(f"{self._field}: {verdict.reason} of {verdict.original}", log_level="DEBUG")
        return item

    def _admit(self, text: str) -> Verdict:
        detector = self._detector
        name = f"item {next(self._numbers)}: {text[:60]!r}"
        return detector.admit(fingerprint_text(text, url=name, recipe=detector.recipe, seed=detector.store.header.seed))

    async def close_spider(self) -> None:
        """Remove the store."""
        await self._workers.run(self._remove)
        self._workers.close()

    def _remove(self) -> None:
        try:
            self._detector.store.close()
        finally:
            self._directory.cleanup()
