"""What all parts of one crawler's session stand on: settings, stats, the store and this crawl's part of it, and where failures are told."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path

from simcrawl.config import Config
from simcrawl.crawl.carried import CARRIED, callback_name
from simcrawl.crawl.elsewhere import Elsewhere
from simcrawl.crawl.given import Given
from simcrawl.crawl.item_values import ItemRead
from simcrawl.crawl.refused import Refused
from simcrawl.crawl.run import begin_crawl, start_anew
from simcrawl.detector import Detector
from simcrawl.errors import SettingError, StoreError
from simcrawl.page.recipes import resolve
from simcrawl.rule import with_data
from simcrawl.store import open_store

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# Some ten thousand pages' texts.
_TEXTS = 20_000_000


class Common:
    """Opens the store. Whoever needs no more than this takes it, and not the session."""

    def __init__(self, crawler: Crawler) -> None:
        self.config = Config.from_settings(crawler.settings.get)
        self.stats: Any = crawler.stats
        self.crawler = crawler
        where, bits = store_path(self.config.store), resolve(self.config.recipe).bits
        if self.config.reset:
            start_anew(where)
        options: dict[str, Any] = {"sync_seconds": self.config.sync_seconds, "mode": self.config.store_mode}
        self.store = open_store(where, bits=bits, seed="random", **options)
        with ExitStack() as opened:
            opened.callback(self.store.close)
            self.crawl = begin_crawl(self.store, self.config.crawl, crawler, in_part=self.config.recrawl is not None)
            opened.callback(self.crawl.leave)
            # Where nobody has said how many: none in memory, or on other machines.
            by_default = 0 if self.store.path is None else _TEXTS
            keep_text = by_default if self.config.keep_text is None else self.config.keep_text
            self.detector = Detector(self.store, crawl=self.crawl, keep_text=keep_text, **self.config.detector_options)
            opened.pop_all()
        self.pages = self.crawl.own if self.config.originals == "crawl" else self.store
        """Where the pages that have come out are, among which it is decided."""
        self.given = Given()
        named = {crawler.settings.get(setting) for setting in ("FILES_URLS_FIELD", "IMAGES_URLS_FIELD")} - {None, ""}
        self._fields_of_files = tuple({"file_urls", "image_urls"} | named)
        self.elsewhere, self.refused = Elsewhere(), Refused()
        self._warned: set[str] = set()

    def known_as(self, url: str) -> str:
        """Return what a URL is stored and told as: without user, password, and the values of parameters to redact."""
        return self.detector.known_as(url)

    def callback_of(self, request: Request) -> str:
        """Return the name of what will be done with a request's page."""
        return callback_name(request, self.crawler.spider)

    def use_of(self, request: Request) -> str:
        """Return the name of what will be done with a request's page, and of what the request gives it besides."""
        return with_data(self.callback_of(request), request.meta.get(CARRIED, "") if self.config.carried_data else "")

    def read(self, item: Any) -> ItemRead:
        """Return what is to be known of an item, which is read when the first one asks."""
        return ItemRead(item, self._fields_of_files)

    def fault(self, reason: str, message: str, exc: Exception) -> None:
        """Count a failure, and tell of the first one."""
        self.stats.inc_value("simcrawl/store/errors" if reason == "store_error" else "simcrawl/errors")
        self.warn(reason, message, exc, exc_info=not isinstance(exc, StoreError))

    def failed(self, exc: Exception) -> None:
        """Count a failure of simcrawl's own, and tell of the first one: what was at hand goes on as without simcrawl."""
        self.fault("error", "simcrawl failed on a page, which passes unchecked: %r", exc)

    def warn(self, kind: str, message: str, *args: Any, exc_info: bool = False) -> None:
        """Log a warning, the first of its kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            message += " (no more such warnings will be shown)"
            logger.warning(message, *args, exc_info=exc_info, extra={"spider": self.crawler.spider})


def store_path(store: str) -> str:
    """Return where the store is: as HTTPCACHE_DIR, a relative directory is below the project's .scrapy, and ~ is the user's home.

    Raises:
        SettingError: it is relative, and the project's directory is unknown, as under Scrapyd, or cannot be made; or there is no home.
    """
    if "://" in store or store.startswith("memory:"):
        return store
    try:
        return data_path(Path(store).expanduser())
    except NotConfigured as exc:
        # Scrapy would switch off what raises this, and the crawl would go on without simcrawl.
        raise SettingError(f"SIMCRAWL_STORE is {store!r}, and no scrapy.cfg says to what that is relative: give an absolute path") from exc
    except OSError as exc:
        raise SettingError(
            f"SIMCRAWL_STORE is {store!r}, relative to a directory that cannot be made ({exc}): "
            "give an absolute path, to where files may be written"
        ) from exc
    except RuntimeError as exc:
        raise SettingError(f"SIMCRAWL_STORE is {store!r}, and this user has no home: give an absolute path") from exc
