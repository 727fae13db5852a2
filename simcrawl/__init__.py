"""simcrawl: a crawl keeps each content once.

`import simcrawl` loads neither Scrapy nor trafilatura: names resolve when they are first used (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simcrawl.bits import hamming_distance
    from simcrawl.crawl import Addon, NearDuplicate, NearDuplicateItem, recrawl_requests, saved, signals, verdict
    from simcrawl.detector import Detector, compare
    from simcrawl.errors import SettingError, SimcrawlError, StoreError
    from simcrawl.page.extraction import main_text
    from simcrawl.page.features import Features
    from simcrawl.page.fingerprint import Abstention, PageFingerprint, fingerprint_page
    from simcrawl.page.recipes import Recipe, fingerprint
    from simcrawl.page.simhash import simhash
    from simcrawl.rule import Comparison, Kind, Match, Rule, Verdict
    from simcrawl.store import open_store
    from simcrawl.urls.rewrites import Outlook, Prediction, RewriteRules

__version__ = "0.1.0"

_HOMES = {
    "Abstention": "page.fingerprint",
    "Addon": "crawl",
    "Comparison": "rule",
    "Detector": "detector",
    "Features": "page.features",
    "Kind": "rule",
    "Match": "rule",
    "NearDuplicate": "crawl",
    "NearDuplicateItem": "crawl",
    "Outlook": "urls.rewrites",
    "PageFingerprint": "page.fingerprint",
    "Prediction": "urls.rewrites",
    "Recipe": "page.recipes",
    "RewriteRules": "urls.rewrites",
    "Rule": "rule",
    "SettingError": "errors",
    "SimcrawlError": "errors",
    "StoreError": "errors",
    "Verdict": "rule",
    "compare": "detector",
    "fingerprint": "page.recipes",
    "fingerprint_page": "page.fingerprint",
    "hamming_distance": "bits",
    "main_text": "page.extraction",
    "open_store": "store",
    "recrawl_requests": "crawl",
    "saved": "crawl",
    "signals": "crawl",
    "simhash": "page.simhash",
    "verdict": "crawl",
}

__all__ = [
    "Abstention",
    "Addon",
    "Comparison",
    "Detector",
    "Features",
    "Kind",
    "Match",
    "NearDuplicate",
    "NearDuplicateItem",
    "Outlook",
    "PageFingerprint",
    "Prediction",
    "Recipe",
    "RewriteRules",
    "Rule",
    "SettingError",
    "SimcrawlError",
    "StoreError",
    "Verdict",
    "compare",
    "fingerprint",
    "fingerprint_page",
    "hamming_distance",
    "main_text",
    "open_store",
    "recrawl_requests",
    "saved",
    "signals",
    "simhash",
    "verdict",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
