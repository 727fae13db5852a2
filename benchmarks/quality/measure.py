"""What a variant does: precision and recall on the pairs, contents lost in crawls of the site."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import mean
from typing import TYPE_CHECKING
from urllib.parse import quote

import simcrawl
from benchmarks.contents_lost import ORIGIN, Crawl, crawl as crawl_site
from benchmarks.quality.variants import Pages
from simcrawl.rule import Rule
from tests.quality.score import COLUMNS as PAIR_COLUMNS, Judged, Score, compared

if TYPE_CHECKING:
    from benchmarks.quality.corpus import Corpus
    from benchmarks.quality.variants import Variant

COLUMNS = (*PAIR_COLUMNS[:-1], "fetched", "lost (worst)", "kept per content", "wrong")


@dataclass(frozen=True, slots=True)
class Result:
    """A variant's score on the pairs and its crawls, one for each order of the links."""

    score: Score
    crawls: list[Crawl]

    def cells(self) -> list[str]:
        """Return the values of `COLUMNS`."""
        cells = self.score.cells()[:-1]
        if not self.crawls:
            return cells + ["-"] * 4
        worst = max(crawl.lost for crawl in self.crawls)
        return [
            *cells,
            f"{mean(crawl.fetched for crawl in self.crawls):.1%}",
            f"{mean(crawl.lost for crawl in self.crawls):.2%} ({worst:.2%})",
            f"{mean(crawl.kept_per_content for crawl in self.crawls):.2f}",
            f"{mean(crawl.wrong for crawl in self.crawls):.1f}",
        ]


class Bench:
    """Measures variants on a corpus, each once. `orders`: in how many random orders of the links the site is crawled."""

    def __init__(self, corpus: Corpus, *, orders: int, every: int = 1) -> None:
        self.corpus = corpus
        self._orders = orders
        self._every = every
        self._pages = Pages(corpus.bodies)
        self._results: dict[Variant, Result] = {}

    def measure(self, variant: Variant, *, crawl: bool = True) -> Result:
        """Return what a variant does."""
        unnamed = replace(variant, name="")
        known = self._results.get(unnamed)
        if known is None or (crawl and not known.crawls):
            crawls = self._crawls(variant) if crawl and variant.every == 1 else []
            known = self._results[unnamed] = Result(Score.of(self.judge(variant)), crawls)
        return known if crawl else Result(known.score, [])

    def judge(self, variant: Variant) -> list[Judged]:
        """Return what a variant says of the pairs."""
        rule, make = Rule.of(variant.recipe), self._pages.make
        pairs = self.corpus.pairs[:: self._every * variant.every]
        return [compared(pair, make(pair.a.sha1, variant), make(pair.b.sha1, variant), rule) for pair in pairs]

    def _crawls(self, variant: Variant) -> list[Crawl]:
        made = {key: self._pages.make(key, variant) for key in set(self.corpus.site.values())}
        pages = {path: replace(made[key], url=ORIGIN + quote(path)) for path, key in self.corpus.site.items()}
        detectors = (simcrawl.Detector(simcrawl.open_store("memory:"), recipe=variant.recipe) for _ in range(self._orders))
        return [crawl_site(pages, self.corpus.links, detector, seed) for seed, detector in enumerate(detectors)]
