"""What a variant does: precision and recall on the pairs, contents lost in crawls of the site."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import mean
from typing import TYPE_CHECKING
from urllib.parse import quote

import simcrawl
from benchmarks.contents_lost import Crawl, crawl as crawl_site
from benchmarks.quality.sketches import estimating
from benchmarks.quality.variants import Pages
from tests.quality.score import COLUMNS as PAIR_COLUMNS, Judged, Score, compared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.corpus import Corpus
    from benchmarks.quality.variants import Variant
    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from tests.quality.pairs import Pair

COLUMNS = (*PAIR_COLUMNS[:-1], "fetched", "lost (worst)", "kept per content", "wrong")


@dataclass(frozen=True, slots=True)
class Result:
    """A variant's score on the pairs and its crawls, one for each order of the links."""

    score: Score
    crawls: list[Crawl]

    def cells(self) -> list[str]:
        """Return the values of `COLUMNS`."""
        return self.score.cells()[:-1] + (self.crawl_cells() if self.crawls else ["-"] * 4)

    def crawl_cells(self) -> list[str]:
        """Return what the crawls did, the last four of `COLUMNS`."""
        worst = max(crawl.lost for crawl in self.crawls)
        return [
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
        self.pages = Pages(corpus.bodies)
        self._results: dict[Variant, Result] = {}

    def measure(self, variant: Variant, *, crawl: bool = True) -> Result:
        """Return what a variant does."""
        unnamed = replace(variant, name="")
        known = self._results.get(unnamed)
        if known is None or (crawl and not known.crawls):
            crawls = self._crawls(variant) if crawl and variant.every == 1 else []
            known = self._results[unnamed] = Result(Score.of(self.judge(variant)), crawls)
        return known if crawl else Result(known.score, [])

    def judge(self, variant: Variant, pairs: Sequence[Pair] | None = None) -> list[Judged]:
        """Return what a variant says of the pairs, by default of those of the corpus. Two manuals are on two hosts."""
        chosen = (self.corpus.pairs if pairs is None else pairs)[:: self._every * variant.every]
        with estimating(variant.resemble):
            return [compared(pair, *self._both(pair, variant), variant.rule) for pair in chosen]

    def _both(self, pair: Pair, variant: Variant) -> tuple[PageFingerprint | Abstention, PageFingerprint | Abstention]:
        first, *others = pair.source.split(" x ")
        a, b = (self.pages.make(source.sha1, variant) for source in pair.sources)
        return replace(a, url=f"http://{first}/a"), replace(b, url=f"http://{(others or [first])[0]}/b")

    def _crawls(self, variant: Variant) -> list[Crawl]:
        made = {key: self.pages.make(key, variant) for key in set(self.corpus.site.values())}
        pages = {path: replace(made[key], url=url_of(path)) for path, key in self.corpus.site.items()}
        with estimating(variant.resemble):
            return [crawl_site(pages, self.corpus.links, _detector(variant), seed) for seed in range(self._orders)]


def url_of(path: str) -> str:
    """Return the URL of a page of the site: its guides, one for each machine, are on hosts of their own."""
    return f"http://{path.split('/')[1]}.example{quote(path)}"


def _detector(variant: Variant) -> simcrawl.Detector:
    detector = simcrawl.Detector(simcrawl.open_store("memory:", bits=variant.recipe.bits), recipe=variant.recipe)
    detector.rule = variant.rule
    return detector
