"""What a report costs: seconds to make, bytes, and seconds to its first paint in Chromium.

    python -m benchmarks.report [STORE] [--pages 10000] [--copies 100000]

Without STORE it makes one: pages of 20 hosts, and copies of them, exact and near. The first paint needs
Chromium (Debian: chromium) and Playwright; without them it is left out. It is from navigation to the first contentful paint in a fresh
tab, the median of five.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from random import Random
from time import monotonic, process_time, time

from simcrawl.page.fingerprint import PageFingerprint, digest
from simcrawl.report import gather, render
from simcrawl.rule import Rule
from simcrawl.store import Store, open_store
from tests.browser import Browser, UnavailableError, open_browser

_HOSTS = 20
_RULE = Rule(max_distance=7, min_similarity=0, outlinks=1)


def fill(store: Store, pages: int, copies: int) -> None:
    """Fill a store with pages of random fingerprints and copies of them, half of them near."""
    random = Random(1)
    fingerprints = [random.getrandbits(64) for _ in range(pages)]
    for number, fingerprint in enumerate(fingerprints):
        store.admit(_page(number, "page", fingerprint, f"text {number}"), _RULE)
    for number in range(copies):
        if not number % 5_000:
            # A register of more lines than may wait for a commit would lose some.
            store.sync()
        of = min(int(random.expovariate(5 / pages)), pages - 1)
        near = number % 2
        flipped = sum(1 << bit for bit in random.sample(range(64), random.randint(0, 7))) if near else 0
        store.admit(_page(number, "copy", fingerprints[of] ^ flipped, f"copy {number}" if near else f"text {of}"), _RULE)
    store.sync()


def _page(number: int, kind: str, fingerprint: int, text: str) -> PageFingerprint:
    return PageFingerprint(
        url=f"https://host{number % _HOSTS}.example.org/{kind}/section-{number % 97}/a-page-with-a-name-of-usual-length-{number}.html",
        recipe="content/1",
        seed=0,
        body_digest=digest(f"{kind} {number}".encode(), 0),
        text_digest=digest(text.encode(), 0),
        links_digest=bytes(8),
        fingerprint=fingerprint,
        bits=64,
        units=100,
        content_sketch=b"",
    )


def measure(path: str, report: Path) -> None:
    """Make a store's report and print what it cost."""
    started, worked = monotonic(), process_time()
    with open_store(path, create=False) as store:
        facts = gather(store)
        html = render(facts, name=Path(path).name, text_of=store.text, made=time())
    report.write_bytes(html.encode("utf-8", "replace"))
    took = f"{monotonic() - started:.2f} s, {process_time() - worked:.2f} s of processor time"
    print(f"{facts.kept:,} pages, {facts.copies:,} copies: {took}, {report.stat().st_size / 1e6:.2f} MB", end="")
    try:
        with open_browser() as browser:
            paints = [_first_paint(browser, report) for _ in range(5)]
    except UnavailableError as exc:
        print(f"; no first paint: {exc}")
    else:
        print(f"; first paint after {statistics.median(paints):.2f} s")


def _first_paint(browser: Browser, report: Path) -> float:
    with browser.open(report) as tab:
        return tab.first_paint()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="?")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--copies", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = options.store or str(Path(directory, "store"))
        if not options.store:
            with open_store(path, sync_seconds=5) as store:
                fill(store, options.pages, options.copies)
        measure(path, Path(directory, "report.html"))


if __name__ == "__main__":
    main()
