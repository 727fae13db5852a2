"""The front: what a crawl loses, against how many copies it keeps and how many pages it fetches, by text and by threshold.

    python -m benchmarks.quality.front [--markdown] [--figure FILE.svg] [--orders 6] [--pages DIRECTORY] [--site DIRECTORY]

The site and the pairs are those of `benchmarks.quality.search`. Everything but what is varied is the default recipe's. Tables:

    page thresholds       which text decides, by exact Jaccard of its shingles and by the default's sketch: no sketch of that text can do
                          better than the first but by chance
    outlink thresholds    likewise, exact; pages are dropped as by the default
    sketches              what sketches of several sizes cost against exact Jaccard of the default's texts
    errors                how far the estimates are from the Jaccard of the contents, over all pairs of the site's pages and of the
                          labelled ones that the fingerprint takes for candidates; predicted by sqrt(p (1 - p) / m), m values of
                          which the share p agrees: J of a bottom-k sketch; of registers of two bits J + (1 - J) / 3, and what is
                          estimated from them is 1.5 times as far off

A page is fetched, its outlinks are dropped, and a content is lost as in `benchmarks.contents_lost`.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import combinations
from math import hypot, sqrt
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.figures import pyplot, save
from benchmarks.quality.corpus import load
from benchmarks.quality.measure import COLUMNS, Bench
from benchmarks.quality.search import printer
from benchmarks.quality.sketches import BOTTOM, EXACT, REGISTERS, SKETCHERS
from benchmarks.quality.variants import CONTENT, CONTENT_OR_ARTICLE, FAST, LESS, MORE, PROSE, WHOLE, Variant
from simcrawl.bits import hamming_distance
from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.page.recipes import resolve
from simcrawl.page.sketch import size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.quality.measure import Result
    from benchmarks.quality.search import Print

TEXTS = {
    "main text (trafilatura fast)": FAST,
    "whole visible text": WHOLE,
    "both: the less alike": LESS,
    "either: the more alike": MORE,
    "content by blocks": CONTENT,
    "prose by blocks": PROSE,
    "content, or the article (the default)": CONTENT_OR_ARTICLE,
}
PAGE_THRESHOLDS = (0.8, 0.84, 0.88, 0.9, 0.92, 0.93, 0.94, 0.95, 0.96, 0.98, 1.0)
OUTLINK_THRESHOLDS = (0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0)
SHOWN = (0.8, 0.9, 0.92, 0.93, 0.94, 0.96, 0.97, 0.98, 1.0)
SIZES = (102, 204, 408, 816, 1632)
BOTTOM_SIZES = (128, 256, 512)
LEVELS = (0.9, 0.93, 0.95)
_WITHIN = 0.015
_APART = 13


@dataclass(frozen=True, slots=True)
class Point:
    """A threshold and what crawls with it did: the means of the orders, and the most that one of them lost. Shares from 0 to 1."""

    threshold: float
    fetched: float
    lost: float
    worst: float
    kept: float

    @classmethod
    def of(cls, threshold: float, result: Result) -> Point:
        """Return the point of a variant."""
        crawls = result.crawls
        fetched, lost, kept = (mean(getattr(crawl, name) for crawl in crawls) for name in ("fetched", "lost", "kept_per_content"))
        return cls(threshold, fetched, lost, max(crawl.lost for crawl in crawls), kept)

    def __str__(self) -> str:
        return f"{self.fetched:.0%} / {self.lost:.2%} / {self.kept:.2f}"


Curves = dict[str, list[Point]]


class Estimate(NamedTuple):
    """A pair of pages: the Jaccard of the contents, and what a sketch makes of it."""

    jaccard: float
    estimated: float


def main() -> None:
    """Print the tables and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--orders", type=int, default=6)
    for option in ("--pages", "--site", "--figure"):
        parser.add_argument(option, type=Path)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        pages, site = (given or Path(stack.enter_context(tempfile.TemporaryDirectory())) for given in (arguments.pages, arguments.site))
        bench = Bench(load(pages, site), orders=arguments.orders)
    print_all(bench, printer(markdown=arguments.markdown))
    if arguments.figure:
        draw(bench, arguments.figure)


def print_all(bench: Bench, print_table: Print) -> None:
    """Print the tables."""
    for sketcher in (EXACT, REGISTERS):
        print_table(f"Page thresholds: fetched / lost / kept per content, {_named(sketcher)}", *_grid(by_page(bench, sketcher)))
    print_table(f"Outlink thresholds: fetched / lost / kept per content, {EXACT}", *_grid(by_outlinks(bench, EXACT)))
    print_table("Sketches", ("sketch", "bytes a page", *COLUMNS), _costs(bench))
    header = ("sketch", *(f"error at {level:.2f}, measured (predicted)" for level in LEVELS), "pairs")
    print_table("Errors", header, _errors(bench))


def _named(sketcher: str) -> str:
    return f"{resolve().sketch_registers} registers" if sketcher == REGISTERS else sketcher


def _grid(curves: Curves) -> tuple[Sequence[str], Iterable[list[str]]]:
    thresholds = [point.threshold for point in next(iter(curves.values()))]
    rows = ([f"{threshold:.2f}", *(str(points[number]) for points in curves.values())] for number, threshold in enumerate(thresholds))
    return ("similarity >=", *curves), rows


def by_page(bench: Bench, sketcher: str) -> Curves:
    """Return the points of all page thresholds for each text."""
    return {name: page_curve(bench, Variant("", resolve(), judged=text, sketcher=sketcher)) for name, text in TEXTS.items()}


def page_curve(bench: Bench, variant: Variant) -> list[Point]:
    """Return the points of all page thresholds."""
    return [
        Point.of(threshold, bench.measure(replace(variant, recipe=replace(variant.recipe, min_similarity=threshold))))
        for threshold in PAGE_THRESHOLDS
    ]


def by_outlinks(bench: Bench, sketcher: str) -> Curves:
    """Return the points of all outlink thresholds for each text that says how alike two pages are."""
    return {
        name: [
            Point.of(threshold, bench.measure(Variant("", replace(resolve(), outlinks=threshold), judged=text, sketcher=sketcher)))
            for threshold in OUTLINK_THRESHOLDS
        ]
        for name, text in TEXTS.items()
    }


def sketches() -> Iterator[tuple[str, str, Variant]]:
    """Yield (name, bytes a page, variant)."""
    yield EXACT, "-", Variant("", resolve(), sketcher=EXACT)
    for size in SIZES:
        recipe = replace(resolve(), sketch_registers=size)
        yield f"{size} two-bit registers", str(sum(map(size_of, _parts(size)))), Variant("", recipe, sketcher=REGISTERS)
    for size in BOTTOM_SIZES:
        recipe = replace(resolve(), sketch_registers=size)
        # Four bytes of a hash are enough to tell a page's shingles apart.
        yield f"bottom {size}", str(4 * sum(_parts(size))), Variant("", recipe, sketcher=BOTTOM)


def _parts(size: int) -> list[int]:
    """Return how many values the sketches of a page have: of content, prose, links, surroundings, and what stands beside the content."""
    return [-(-size // share) for share in (1, 2, 8, 8, 8)]


def _predicted(sketcher: str, level: float, size: int) -> float:
    agree, factor = (level + (1 - level) / 3, 1.5) if sketcher == REGISTERS else (level, 1.0)
    return factor * sqrt(agree * (1 - agree) / size)


def _costs(bench: Bench) -> Iterator[list[str]]:
    for name, size, variant in sketches():
        yield [name, size, *bench.measure(variant).cells()]


def _errors(bench: Bench) -> Iterator[list[str]]:
    pairs = candidates(bench)
    for name, _, variant in sketches():
        if variant.sketcher != EXACT:
            estimates = list(_estimates(bench, pairs, variant))
            around = [[one for one in estimates if abs(one.jaccard - level) <= _WITHIN] for level in LEVELS]
            size = variant.recipe.sketch_registers
            cells = (
                f"{error(found):.3f} ({_predicted(variant.sketcher, level, size):.3f})" for level, found in zip(LEVELS, around, strict=True)
            )
            yield [name, *cells, " / ".join(str(len(found)) for found in around)]


def error(estimates: Sequence[Estimate]) -> float:
    """Return the root of the mean squared error; 0 of none."""
    return sqrt(mean((one.estimated - one.jaccard) ** 2 for one in estimates)) if estimates else 0.0


def candidates(bench: Bench) -> list[tuple[str, str]]:
    """Return the pairs of different pages, those of the site and the labelled ones, that the default's fingerprint takes for candidates."""
    default, corpus = Variant("", resolve()), bench.corpus
    made = {key: bench.pages.make(key, default) for key in sorted(corpus.bodies)}
    site = [(key, made[key]) for key in sorted(set(corpus.site.values()))]
    couples = [
        *combinations(site, 2),
        *([(source.sha1, made[source.sha1]) for source in pair.sources] for pair in (*corpus.pairs, *corpus.languages)),
    ]
    return [
        (a, b)
        for (a, first), (b, second) in couples
        if isinstance(first, PageFingerprint)
        and isinstance(second, PageFingerprint)
        and hamming_distance(first.fingerprint, second.fingerprint) <= resolve().max_distance
    ]


def _estimates(bench: Bench, pairs: list[tuple[str, str]], variant: Variant) -> Iterator[Estimate]:
    for a, b in pairs:
        jaccard, estimated = (
            _resemblance(bench, a, b, replace(variant, judged=CONTENT, sketcher=name)) for name in (EXACT, variant.sketcher)
        )
        yield Estimate(jaccard, estimated)


def _resemblance(bench: Bench, a: str, b: str, variant: Variant) -> float:
    size = variant.recipe.sketch_registers
    sketches = (bench.pages.sketch(key, CONTENT, size, variant.shingling, variant.sketcher) for key in (a, b))
    return SKETCHERS[variant.sketcher].resemble(*sketches)


def draw(bench: Bench, path: Path) -> None:
    """Write the figure as SVG; needs matplotlib."""
    figure, axes = pyplot().subplots(2, 2, figsize=(11, 8.5))
    (exact, sketched), (outlinks, sizes) = axes
    _draw_pages(exact, by_page(bench, EXACT), "page thresholds .80 to 1, exact Jaccard")
    _draw_pages(sketched, by_page(bench, REGISTERS), f"the same with sketches of {resolve().sketch_registers} registers")
    _draw_outlinks(outlinks, by_outlinks(bench, EXACT))
    kinds = ((name, variant) for name, _, variant in sketches() if variant.sketcher != BOTTOM)
    _draw_pages(sizes, {name: page_curve(bench, variant) for name, variant in kinds}, "the default's texts, by size of the sketch")
    sizes.legend(fontsize=7, loc="upper right")
    handles, labels = exact.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, fontsize=8)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    save(figure, path)


def _draw_pages(axes: Any, curves: Curves, title: str) -> None:
    axes.set(title=title, xlabel="pages kept per content (1: every copy found)")
    _draw_curves(axes, {name: [(point.threshold, point.kept, point.lost) for point in points] for name, points in curves.items()})


def _draw_outlinks(axes: Any, curves: Curves) -> None:
    axes.set(
        title=f"outlink thresholds .90 to 1, pages from {resolve().min_similarity:.2f}, exact Jaccard", xlabel="fetched, % of the pages"
    )
    _draw_curves(axes, {name: [(point.threshold, 100 * point.fetched, point.lost) for point in points] for name, points in curves.items()})


def _draw_curves(axes: Any, curves: dict[str, list[tuple[float, float, float]]]) -> None:
    for number, (name, points) in enumerate(curves.items()):
        bold = "default" in name or name == EXACT
        style = {"marker": "osD^vPX"[number % 7], "markersize": 4, "linewidth": 2.2 if bold else 1.1, "zorder": 3 if bold else 2}
        axes.plot([x for _, x, _ in points], [100 * lost for _, _, lost in points], label=name, alpha=0.9, **style)
    # Linear up to one content in 400, so that nothing lost has a place on the axis.
    axes.set_yscale("symlog", linthresh=0.25)
    axes.set(ylabel="contents lost, %", yticks=(0, 0.25, 0.5, 1, 2, 5, 10, 20), ylim=(-0.03, 25))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(alpha=0.3)
    _label_thresholds(axes, curves)


def _label_thresholds(axes: Any, curves: dict[str, list[tuple[float, float, float]]]) -> None:
    """Write thresholds beside their points, none upon another."""
    taken: list[tuple[float, float]] = []
    for line, points in zip(axes.get_lines(), curves.values(), strict=True):
        for threshold, x, lost in points:
            left, top = axes.transData.transform((x, 100 * lost))
            if threshold in SHOWN and all(hypot(left - a, top - b) > _APART for a, b in taken):
                taken.append((left, top))
                text = f"{threshold:.2f}".removeprefix("0")
                axes.annotate(text, (x, 100 * lost), (3, 3), textcoords="offset points", fontsize=6.5, color=line.get_color())


if __name__ == "__main__":
    main()
