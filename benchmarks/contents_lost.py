"""What a crawl fetches, loses and keeps under different rules, on real pages with labels.

    python -m benchmarks.contents_lost [--orders 6] [--site DIRECTORY] [--seed 0]

The site is the Debian installation guide (see tests/sites/installguide.py; downloaded unless --site names a copy). It is crawled
breadth-first over its files, without a network, the links of a page in random order; every page goes through `fingerprint_page` and
`Detector.admit`. Means over the orders:

    fetched            share of the site's pages
    lost               share of its distinct contents of which no page was kept; the worst order in brackets
    kept per content   1.00: every copy was found
    wrong              pages dropped in favour of a page of another content

Left out: the effects of concurrency, which the crawls of tests/crawl/test_installguide.py have.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import deque
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from lxml import html
from rich.console import Console
from rich.table import Table

import simcrawl
from tests.sites import installguide

ORIGIN = "http://site.example"
START = "/index.html"
RULES: dict[str, dict[str, Any]] = {
    "the default": {},
    "the default, outlinks always dropped": {"outlinks": "drop"},
    "the default, no verification": {"min_similarity": 0},
    "manku2007: the paper's plain rule": {"recipe": "manku2007"},
    "manku2007, outlinks followed": {"recipe": "manku2007", "outlinks": "follow"},
}


class Crawl(NamedTuple):
    """What one crawl did."""

    fetched: float
    lost: float
    kept_per_content: float
    wrong: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=int, default=6)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="the store's, of all hashes: real stores have random ones")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        root = arguments.site or Path(work)
        if not arguments.site:
            installguide.build(root)
        files = {"/" + str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.html"))}
    links = {path: sorted(links_of(path, body, files)) for path, body in files.items()}
    table = Table("rule", "fetched", "lost (worst)", "kept per content", "wrong")
    for name, options in RULES.items():
        table.add_row(name, *_row(files, links, options, arguments.orders, arguments.seed))
    Console(width=120).print(table)


def links_of(path: str, body: bytes, files: dict[str, bytes]) -> list[str]:
    """Return the files of the site that a page links to, each once, in the order of their first links."""
    hrefs = html.fromstring(body).xpath("//a/@href")
    targets = (urlsplit(urldefrag(urljoin(ORIGIN + quote(path), href.strip())).url) for href in hrefs)
    paths = (unquote(target.path) for target in targets if f"{target.scheme}://{target.netloc}" == ORIGIN)
    return list(dict.fromkeys(path for path in paths if path in files))


def _row(files: dict[str, bytes], links: dict[str, list[str]], options: dict[str, Any], orders: int, seed: int) -> list[str]:
    recipe = options.get("recipe", "auto")
    pages = {path: simcrawl.fingerprint_page(body, url=ORIGIN + quote(path), recipe=recipe, seed=seed) for path, body in files.items()}
    detectors = (simcrawl.Detector(simcrawl.open_store("memory:", seed=seed), **options) for _ in range(orders))
    crawls = [crawl(pages, links, detector, order) for order, detector in enumerate(detectors)]
    worst = max(crawl.lost for crawl in crawls)
    return [
        f"{mean(crawl.fetched for crawl in crawls):.1%}",
        f"{mean(crawl.lost for crawl in crawls):.2%} ({worst:.2%})",
        f"{mean(crawl.kept_per_content for crawl in crawls):.2f}",
        f"{mean(crawl.wrong for crawl in crawls):.1f}",
    ]


def crawl(pages: dict[str, Any], links: dict[str, list[str]], detector: simcrawl.Detector, seed: int) -> Crawl:
    """Crawl the site breadth-first from its start, the new links of a page in random order."""
    shuffled, seen, queue = random.Random(seed), {START}, deque([START])
    kept: list[str] = []
    dropped: dict[str, str] = {}
    while queue:
        path = queue.popleft()
        verdict = detector.admit(pages[path]) if path != START else None
        if verdict and verdict.drop_page:
            dropped[path] = verdict.original or ""
        else:
            kept.append(path)
        if not (verdict and verdict.drop_page and verdict.drop_outlinks):
            new = [target for target in links[path] if target not in seen]
            shuffled.shuffle(new)
            seen.update(new)
            queue.extend(new)
    judgement = installguide.Labels().judge(kept, dropped)
    return Crawl((len(seen) - 1) / (len(pages) - 1), judgement.lost, judgement.kept_per_content, judgement.wrong)


if __name__ == "__main__":
    main()
