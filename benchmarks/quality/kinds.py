"""What the default recipe loses and finds on sites of kinds that it was not made with: see `tests.sites.kinds`.

    python -m benchmarks.quality.kinds [--site NAME ...] [--roots DIRECTORY] [--orders 6] [--json FILE]
    python -m benchmarks.quality.kinds --compare BEFORE.json AFTER.json

Every page of a site is admitted to an empty store, in several random orders, and each verdict is judged by an oracle that shares no code
with simcrawl: the exact Jaccard of the 5-shingles of all that the pages show, see `benchmarks.quality.oracle`. Columns, means over orders:

    dropped           pages
    wrong             of these, pages whose visible text resembles their original's by less than .85; in brackets pairs, over all orders
    everything        the same by all text there is: title, attributes, what is not shown
    container         the same by the text of the container of what a page says
    copies            pages of which an earlier one resembles the visible text by .95
    recall            the share of these that was dropped
    not byte by byte  the same of those that no earlier page equals byte by byte
    lost              of the contents (pages connected by resemblances of .9 of their containers) the share of which no page was kept
    kept per content  1.00: every copy was found

The wrong drops follow, the least alike first. `--compare` says of which pages two files differ. The directory keeps
the sites, and what the oracle needs of them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import chain, pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import numpy as np
from rich.console import Console
from rich.table import Table

import simcrawl
from benchmarks.quality import oracle
from benchmarks.quality.oracle import alike, jaccard, shingles, texts
from tests.sites import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

ORIGIN = "http://site.example/"
ORACLE = Path(oracle.__file__)
WRONG_BELOW, COPY_FROM, CONTENT_FROM, FEWEST = 0.85, 0.95, 0.9, 20
BINS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
_SHOWN = 10


Alike = tuple[float, float, float]


class Seen(NamedTuple):
    """A page: what simcrawl makes of it, a digest of its bytes, and the oracle's shingles of its texts."""

    page: simcrawl.PageFingerprint | simcrawl.Abstention
    body: bytes
    visible: NDArray[np.uint64]
    everything: NDArray[np.uint64]
    main: NDArray[np.uint64]


class Drop(NamedTuple):
    """A dropped page, its original, how alike their texts are, what the rule said of them, and in how many orders."""

    url: str
    original: str
    visible: float
    everything: float
    main: float
    reason: str
    similarity: float | None
    distance: int | None
    orders: int


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a site. Shares from 0 to 1, means over the orders; `drops` and `missed` of any order.

    `missed`: (page, the earlier page most like it, how alike) of pages that were kept although an earlier one resembles them.
    `orders`: {dropped page: original} of each order.
    """

    pages: int
    abstained: int
    dropped: float
    wrong: float
    wrong_everything: float
    wrong_main: float
    copies: float
    recall: float
    recall_near: float
    lost: float
    kept_per_content: float
    histogram: dict[str, int]
    drops: list[Drop]
    missed: list[tuple[str, str, float]]
    orders: list[dict[str, str]] = field(repr=False)

    @property
    def wrong_drops(self) -> list[Drop]:
        """The drops of pages that are not alike, the least alike first."""
        return [drop for drop in self.drops if drop.visible < WRONG_BELOW]


class Site:
    """The pages of a document root and what the oracle says of them."""

    def __init__(self, pages: dict[str, Seen]) -> None:
        self.pages = pages
        self.groups = _groups({url: seen.visible for url, seen in pages.items()})
        self.near: dict[int, list[tuple[int, float]]] = {number: [(number, 1.0)] for number in range(len(self.groups))}
        for (i, j), value in alike([pages[group[0]].visible for group in self.groups], COPY_FROM).items():
            self.near[i].append((j, value))
            self.near[j].append((i, value))
        self.contents = _contents({url: seen.main for url, seen in pages.items() if len(seen.main) >= FEWEST})
        self.jaccard = partial(_resemblance, pages, {})

    @classmethod
    def read(cls, root: Path, container: str, *, processes: int = 2, memo: Path | None = None) -> Site:
        """Return the site of a document root. `memo`: a file (.npz) that keeps what the oracle needs, half of the work."""
        files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.html")) if path.is_file()}
        with ProcessPoolExecutor(processes, get_context("forkserver")) as pool:
            pages = list(pool.map(_fingerprinted, files.values(), files, chunksize=50))
            key = blake2b(b"".join(body for _, body in pages) + f"{container} {ORACLE.read_text()}".encode()).digest()
            sets = _remembered(memo, key) if memo else None
            if sets is None:
                sets = list(chain.from_iterable(pool.map(partial(_shingled, container=container), files.values(), chunksize=50)))
                if memo:
                    _remember(memo, key, sets)
        return cls({url: Seen(*page, *texts) for url, page, texts in zip(files, pages, zip(*[iter(sets)] * 3, strict=True), strict=True)})

    def copies(self, order: Sequence[str]) -> dict[str, tuple[str, float]]:
        """Return the pages which an earlier one of an order resembles, with the one that does so most, and by how much."""
        place = {url: number for number, url in enumerate(order)}
        firsts = [min(group, key=place.__getitem__) for group in self.groups]
        found = {}
        for number, group in enumerate(self.groups):
            for url in group:
                earlier = [(value, firsts[other]) for other, value in self.near[number] if place[firsts[other]] < place[url]]
                if earlier:
                    value, original = max(earlier)
                    found[url] = original, value
        return found


def _groups(sets: dict[str, NDArray[np.uint64]]) -> list[list[str]]:
    """Return the pages of equal sets together; none of an empty one."""
    groups: dict[bytes, list[str]] = defaultdict(list)
    for url, made in sets.items():
        if len(made):
            groups[blake2b(made.tobytes()).digest()].append(url)
    return list(groups.values())


def _contents(sets: dict[str, NDArray[np.uint64]]) -> dict[str, int]:
    """Return the number of each page's content."""
    groups = _groups(sets)
    numbers = _connected(len(groups), alike([sets[group[0]] for group in groups], CONTENT_FROM))
    return {url: numbers[number] for number, group in enumerate(groups) for url in group}


def _resemblance(pages: dict[str, Seen], known: dict[tuple[str, str], Alike], a: str, b: str) -> Alike:
    """Return how alike two pages are, by each of their texts."""
    key = min(a, b), max(a, b)
    if key not in known:
        one, other = pages[a], pages[b]
        known[key] = jaccard(one.visible, other.visible), jaccard(one.everything, other.everything), jaccard(one.main, other.main)
    return known[key]


def _fingerprinted(path: Path, name: str) -> tuple[simcrawl.PageFingerprint | simcrawl.Abstention, bytes]:
    body = path.read_bytes()
    # However long it takes: a loaded machine must not measure something else.
    page = simcrawl.fingerprint_page(body, url=ORIGIN + quote(name), max_seconds=math.inf)
    return page, blake2b(body, digest_size=16).digest()


def _shingled(path: Path, container: str) -> list[NDArray[np.uint64]]:
    return [shingles(text) for text in texts(path.read_bytes(), container)]


def _remember(memo: Path, key: bytes, sets: list[NDArray[np.uint64]]) -> None:
    # Under a name of its own first: another run may read it now.
    with tempfile.TemporaryDirectory(dir=memo.parent) as work:
        written = Path(work, memo.name)
        np.savez(written, key=np.frombuffer(key, np.uint8), lengths=[len(one) for one in sets], shingles=np.concatenate(sets))
        written.replace(memo)


def _remembered(memo: Path, key: bytes) -> list[NDArray[np.uint64]] | None:
    """Return the shingles that a file keeps; None where they are of other pages, or another oracle's."""
    if not memo.exists():
        return None
    with np.load(memo) as kept:
        return np.split(kept["shingles"], np.cumsum(kept["lengths"])[:-1]) if kept["key"].tobytes() == key else None


def _connected(number: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    parents = list(range(number))

    def top(one: int) -> int:
        while parents[one] != one:
            parents[one] = parents[parents[one]]
            one = parents[one]
        return one

    for i, j in pairs:
        parents[top(i)] = top(j)
    return [top(one) for one in range(number)]


def judge(site: Site, orders: int = 6) -> Result:
    """Admit a site's pages in several orders, and judge what is dropped."""
    contents = site.contents
    crawls = [_Crawl.of(site, seed) for seed in range(orders)]
    drops = _drops(site, crawls)
    wrong = [drop for drop in drops if drop.visible < WRONG_BELOW]
    missed = {url: crawl.copies[url] for crawl in crawls for url in crawl.copies.keys() - crawl.dropped.keys()}
    kept = [Counter(contents[url] for url in contents.keys() - crawl.dropped.keys()) for crawl in crawls]
    number = len(set(contents.values()))
    return Result(
        pages=len(site.pages),
        abstained=sum(isinstance(seen.page, simcrawl.Abstention) for seen in site.pages.values()),
        dropped=mean(len(crawl.dropped) for crawl in crawls),
        wrong=sum(drop.orders for drop in wrong) / orders,
        wrong_everything=sum(drop.orders for drop in drops if drop.everything < WRONG_BELOW) / orders,
        wrong_main=sum(drop.orders for drop in drops if drop.main < WRONG_BELOW) / orders,
        copies=mean(len(crawl.copies) for crawl in crawls),
        recall=mean(crawl.recall(crawl.copies) for crawl in crawls),
        recall_near=mean(crawl.recall(crawl.copies.keys() - crawl.bodies) for crawl in crawls),
        lost=mean(1 - len(one) / max(1, number) for one in kept),
        kept_per_content=mean(one.total() / max(1, len(one)) for one in kept),
        histogram=_histogram(drops),
        drops=drops,
        missed=sorted(((url, *copy) for url, copy in missed.items()), key=lambda row: -row[2]),
        orders=[crawl.dropped for crawl in crawls],
    )


@dataclass(frozen=True, slots=True)
class _Crawl:
    """What one order dropped, with its verdicts; which pages were copies; and of these, the ones equal byte by byte."""

    dropped: dict[str, str]
    verdicts: dict[str, Any]
    copies: dict[str, tuple[str, float]]
    bodies: set[str]

    @classmethod
    def of(cls, site: Site, seed: int) -> _Crawl:
        order = sorted(site.pages)
        random.Random(seed).shuffle(order)
        detector = simcrawl.Detector(simcrawl.open_store("memory:", seed=0))
        verdicts = {url: verdict for url in order if (verdict := detector.admit(site.pages[url].page)).drop_page}
        dropped = {url: unquote(urlsplit(verdict.original or "").path)[1:] for url, verdict in verdicts.items()}
        seen: set[bytes] = set()
        bodies = {url for url in order if (body := site.pages[url].body) in seen or seen.add(body)}  # type: ignore[func-returns-value]
        return cls(dropped, verdicts, site.copies(order), bodies)

    def recall(self, copies: Iterable[str]) -> float:
        found = [url in self.dropped for url in copies]
        return mean(found) if found else 1.0


def _drops(site: Site, crawls: list[_Crawl]) -> list[Drop]:
    times = Counter(pair for crawl in crawls for pair in crawl.dropped.items())
    verdicts = {(url, original): crawl.verdicts[url] for crawl in crawls for url, original in crawl.dropped.items()}
    return sorted(
        (
            Drop(*pair, *site.jaccard(*pair), verdict.reason or "", verdict.similarity, verdict.distance, times[pair])
            for pair, verdict in verdicts.items()
        ),
        key=lambda drop: (drop.visible, drop.url),
    )


def _histogram(drops: list[Drop]) -> dict[str, int]:
    edges = (0.0, *BINS)
    made = {f"{low:.2f}-{high:.2f}": sum(low <= drop.visible < high for drop in drops) for low, high in pairwise(edges)}
    return made | {"1.00": sum(drop.visible == 1 for drop in drops)}


def table(results: dict[str, Result]) -> Table:
    """Return the results, a site a row."""
    made = Table(
        "site",
        "pages",
        "abstain",
        "dropped",
        "wrong",
        "everything",
        "container",
        "copies",
        "recall",
        "not byte by byte",
        "lost",
        "kept per content",
    )
    for name, result in results.items():
        made.add_row(
            name,
            str(result.pages),
            str(result.abstained),
            f"{result.dropped:.1f}",
            f"{result.wrong:.1f} ({len(result.wrong_drops)})",
            f"{result.wrong_everything:.1f}",
            f"{result.wrong_main:.1f}",
            f"{result.copies:.1f}",
            f"{result.recall:.4f}",
            f"{result.recall_near:.4f}",
            f"{result.lost:.3%}",
            f"{result.kept_per_content:.3f}",
        )
    return made


def compared(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a line for each figure, and for each page that is dropped in one of two files only, with how alike it is to its original."""
    lines = []
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        figures = ("dropped", "wrong", "wrong_everything", "wrong_main", "recall", "recall_near", "lost", "kept_per_content")
        lines += [f"{name}: {figure} {old[figure]:.4f} -> {new[figure]:.4f}" for figure in figures]
        for told, one, other in (("newly dropped", new, old), ("newly kept", old, new)):
            lines += [f"  {told} {value:.3f} {times}x {pair}" for pair, value, times in _only(one, other)]
    return lines


def _only(one: dict[str, Any], other: dict[str, Any]) -> list[tuple[str, float, int]]:
    alike = {(url, original): visible for url, original, visible, *_ in one["drops"]}
    times = Counter(
        pair for mine, theirs in zip(one["orders"], other["orders"], strict=False) for pair in mine.items() if pair[0] not in theirs
    )
    return sorted(((" ".join(pair), alike[pair], count) for pair, count in times.items()), key=lambda row: row[1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", action="append", choices=kinds.KINDS)
    parser.add_argument("--roots", type=Path)
    parser.add_argument("--orders", type=int, default=6)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--compare", type=Path, nargs=2)
    arguments = parser.parse_args()
    if arguments.compare:
        print(*compared(*(json.loads(path.read_text()) for path in arguments.compare)), sep="\n")
        return
    results = {}
    with ExitStack() as stack:
        roots = arguments.roots or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sites = {name: kinds.KINDS[name] for name in arguments.site or kinds.KINDS}
        kinds.build({name: kind for name, kind in sites.items() if not (roots / name).exists()}, roots)
        for name, kind in sites.items():
            results[name] = judge(Site.read(roots / name, kind.container, memo=roots / f"{name}.npz"), arguments.orders)
            if arguments.json:
                arguments.json.write_text(json.dumps({site: asdict(result) for site, result in results.items()}))
    print_all(results)


def print_all(results: dict[str, Result]) -> None:
    """Print the table, the histograms and the worst drops."""
    console = Console(width=140)
    console.print(table(results))
    for name, result in results.items():
        console.print(f"\n{name}: drops by how alike what they show is:", result.histogram)
        for drop in result.wrong_drops[:_SHOWN]:
            alike_by = f"{drop.visible:.3f} (everything {drop.everything:.3f}, container {drop.main:.3f})"
            console.print(f"  {alike_by} {drop.reason} {drop.similarity} {drop.orders}x", style="bold")
            console.print(f"    {drop.url}\n    {drop.original}", soft_wrap=True)


if __name__ == "__main__":
    main()
