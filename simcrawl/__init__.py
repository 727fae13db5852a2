"""simcrawl: a crawl keeps each content once.

`import simcrawl` loads neither Scrapy nor trafilatura: names resolve when they are first used (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simcrawl.crawl import Addon, signals, verdict
    from simcrawl.detector import Detector, compare
    from simcrawl.extraction import main_text
    from simcrawl.features import Features
    from simcrawl.pages import Abstention, PageFingerprint, fingerprint_page
    from simcrawl.recipes import Recipe, fingerprint
    from simcrawl.rewrites import Prediction, RewriteRules
    from simcrawl.rule import Comparison, Match, Rule, Verdict
    from simcrawl.simhash import hamming_distance, simhash
    from simcrawl.store import open_store

__version__ = "0.1.0"

_HOMES = {
    "Abstention": "pages",
    "Addon": "crawl",
    "Comparison": "rule",
    "Detector": "detector",
    "Features": "features",
    "Match": "rule",
    "PageFingerprint": "pages",
    "Prediction": "rewrites",
    "Recipe": "recipes",
    "RewriteRules": "rewrites",
    "Rule": "rule",
    "Verdict": "rule",
    "compare": "detector",
    "fingerprint": "recipes",
    "fingerprint_page": "pages",
    "hamming_distance": "simhash",
    "main_text": "extraction",
    "open_store": "store",
    "signals": "crawl",
    "simhash": "simhash",
    "verdict": "crawl",
}

__all__ = [
    "Abstention",
    "Addon",
    "Comparison",
    "Detector",
    "Features",
    "Match",
    "PageFingerprint",
    "Prediction",
    "Recipe",
    "RewriteRules",
    "Rule",
    "Verdict",
    "compare",
    "fingerprint",
    "fingerprint_page",
    "hamming_distance",
    "main_text",
    "open_store",
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
