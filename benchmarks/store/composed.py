"""Fingerprints like those of real pages, by the million: pages composed of paragraphs of real manuals, in eight languages.

    python -m benchmarks.store.composed [--sizes 1e6,1e7] [--recipes content,terms] [--queries 2000] [--packages DIRECTORY]
        [--beside CHECKOUT]

Random fingerprints are 32 bits apart on average and meet no candidate but their copies. Those of real pages are not, and do: pages of a
site share a template, and pages of a language its common words.

A composed page has the lines that a tenth of a manual's pages have, and as many paragraphs as one of the manual's pages has, half of them
from among the two hundred that its site writes about, half from all of the manual. A site has a thousand pages. The fingerprint is that of
the page's features, by the recipe. Of a million pages each is composed so; further ones are pages that say what two of the same site say:
the signs of the sum of their V, for which no text has to be weighed again.

Stored are as many as the row says, distinct. Queries are copies of stored pages with one paragraph exchanged for another one: those whose
fingerprint is within k = 7. Columns: bits between two stored pages, mean; how many times as often as random ones they agree in each block
of 16 bits; candidates within k, mean, median and greatest; the share of queries with more than the rule verifies (256); the share of
queries whose page is among the nearest 256, whatever the order of those at one distance; CPU microseconds a query, and a query and insert,
of the store. Random fingerprints stand beside them, their copies made by flipping up to k bits. Prints Markdown.

`--beside`: the same fingerprints are asked for by the code of another checkout as well, which has to give as many answers. Each code has a
process and a store of its own. The two take turns at a hundred fingerprints; each is a query five times, then a query and insert. Further
columns: CPU microseconds of this code and of the other, and how many times as long the other takes.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, contextmanager
from math import inf
from multiprocessing import Pool
from pathlib import Path
from time import process_time
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.quality.common_words import Source, unpack
from benchmarks.store.compare import row, sizes
from simcrawl.page.cut import Cut
from simcrawl.page.fingerprint import page_texts
from simcrawl.page.recipes import resolve
from simcrawl.page.simhash import project_rounded
from simcrawl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

_GUIDE = "usr/share/doc/installation-guide-amd64"
MANUALS = [
    Source("python3.11-doc"),
    Source("postgresql-doc-15"),
    Source("libreoffice-help-en-us"),
    Source("libreoffice-help-ja"),
    Source("libreoffice-help-zh-cn"),
    Source("libxerces2-java-doc"),
    Source("lilypond-doc-html-ja"),
    *(Source("installation-guide-amd64", f"{_GUIDE}/{language}") for language in ("de", "en", "es", "fr", "ko", "ru")),
]
_EXACT = 10**6
_SITE = 1000
_TOPIC = 200
_MOST_FILES = 400
_LEAST_OF_A_PARAGRAPH = 8
_OF_TEMPLATE = 0.1
_K = 7
# As many candidates as the rule verifies.
_CAP = 256
_TURN, _ROUNDS = 100, 5
# Answers with the code of the checkout that it runs in: of simcrawl it uses what older versions have, too.
_ANSWERS = """
import sys
from math import inf
from time import process_time
import numpy as np
from simcrawl.store import open_store
directory, distance = sys.argv[1], int(sys.argv[2])
copies = np.load(directory + "/copies.npy").tolist()
with open_store(directory + "/" + sys.argv[3], sync_seconds=inf) as store:
    store.load_fingerprints(np.load(directory + "/stored.npy"))
    store.query_fingerprint(0)
    for line in sys.stdin:
        name, first, last = line.split()
        ask = getattr(store, name)
        began = process_time()
        found = [ask(copy, distance) for copy in copies[int(first) : int(last)]]
        taken = process_time() - began
        print(taken, sum(len(one) if isinstance(one, list) else one is not None for one in found), flush=True)
"""


class Text(NamedTuple):
    """The hashes of features, and of those on lines that do not end as sentences do."""

    features: NDArray[np.uint64]
    loose: NDArray[np.uint64]


class Manual(NamedTuple):
    """The template, the paragraphs, and how many of these its pages have."""

    template: Text
    paragraphs: list[Text]
    numbers: list[int]


class Composed(NamedTuple):
    """The sums V of pages, and of copies of some of them: the first ones."""

    pages: NDArray[np.float32]
    copies: NDArray[np.float32]


class Beside(NamedTuple):
    """CPU microseconds of this code and of another one: a query, and a query and insert."""

    query: tuple[float, float]
    admit: tuple[float, float]


def manuals(root: Path, recipe: str) -> list[Manual]:
    """Return the manuals of which pages are composed, downloaded unless the directory has them."""
    unpack(root, (source.package for source in MANUALS))
    with Pool() as pool:
        return pool.starmap(_manual, [(root, source, recipe) for source in MANUALS])


def compose(manual: Manual, recipe: str, count: int, copies: int, seed: int) -> Composed:
    """Return `count` pages of a manual in sites, and copies of the first ones."""
    rnd = random.Random(seed)
    made, copied = np.empty((count, 64), np.float32), np.empty((min(copies, count), 64), np.float32)
    topic: list[int] = []
    for number in range(count):
        if number % _SITE == 0:
            first = rnd.randrange(max(1, len(manual.paragraphs) - _TOPIC))
            topic = list(range(first, min(first + _TOPIC, len(manual.paragraphs))))
        chosen = [
            rnd.choice(topic) if rnd.random() < 0.5 else rnd.randrange(len(manual.paragraphs)) for _ in range(rnd.choice(manual.numbers))
        ]
        made[number] = _sums(manual, chosen, recipe)
        if number < len(copied):
            chosen[rnd.randrange(len(chosen))] = rnd.randrange(len(manual.paragraphs))
            copied[number] = _sums(manual, chosen, recipe)
    return Composed(made, copied)


def signs(sums: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return fingerprints."""
    packed: NDArray[np.uint64] = np.packbits(sums > 0, axis=1).view(">u8").astype(np.uint64).ravel()
    return packed


def fingerprints(root: Path, recipe: str, count: int, copies: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the fingerprints of so many composed pages, and of pairs of a page and its copy."""
    of_manuals = manuals(root, recipe)
    each = min(count, _EXACT) // len(of_manuals) + 1
    share = copies // len(of_manuals) + 1
    with Pool() as pool:
        made = pool.starmap(compose, [(manual, recipe, each, share, seed) for seed, manual in enumerate(of_manuals)])
    exact = [signs(one.pages) for one in made]
    rest = list(_joined([one.pages for one in made], count - sum(map(len, exact))))
    originals = np.concatenate([signs(one.pages[: len(one.copies)]) for one in made])
    return np.concatenate([*exact, *rest]), originals, np.concatenate([signs(one.copies) for one in made])


def _joined(pages: Sequence[NDArray[np.float32]], count: int) -> Iterator[NDArray[np.uint64]]:
    """Yield the fingerprints of pages that say what two pages of one site say."""
    noise = np.random.default_rng(0)
    while count > 0:
        for sums in pages:
            number = min(len(sums), count)
            one = noise.integers(0, len(sums), number)
            other = one // _SITE * _SITE + noise.integers(0, _SITE, number)
            yield signs(sums[one] + sums[np.minimum(other, len(sums) - 1)])
            count -= number


def _manual(root: Path, source: Source, recipe: str) -> Manual:
    files = sorted((root / source.package / source.folder).rglob("*.html"))
    random.Random(0).shuffle(files)
    texts = [page_texts(path.read_bytes(), recipe=recipe)[0].splitlines() for path in files[:_MOST_FILES]]
    pages = [lines for lines in texts if lines]
    common = Counter(line for lines in pages for line in set(lines))
    template = [line for line, number in common.items() if number > _OF_TEMPLATE * len(pages)]
    bodies = [[line for line in lines if common[line] <= _OF_TEMPLATE * len(pages)] for lines in pages]
    made = [_text(line, recipe) for lines in bodies for line in lines]
    paragraphs = [text for text in made if len(text.features) >= _LEAST_OF_A_PARAGRAPH]
    numbers = [sum(len(Cut(line, seed=0).hashes) >= _LEAST_OF_A_PARAGRAPH for line in lines) for lines in bodies]
    return Manual(_text("\n".join(template), recipe), paragraphs, [min(number, 100) for number in numbers if number > 2])


def _text(text: str, recipe: str) -> Text:
    return Text(*Cut(text, seed=0).standing(resolve(recipe).features.kind))


def _sums(manual: Manual, chosen: Iterable[int], recipe: str) -> NDArray[np.float64]:
    features, loose = zip(manual.template, *(manual.paragraphs[place] for place in chosen), strict=True)
    distinct, weights = resolve(recipe).features.weigh_hashes(np.concatenate(features), np.concatenate(loose))
    return project_rounded(distinct.astype(">u8").view(np.uint8).reshape(-1, 8), weights)


def _random(count: int, copies: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    noise = np.random.default_rng(1)
    made = noise.integers(0, 2**64, count, dtype=np.uint64)
    flips = [sum(1 << bit for bit in random.Random(number).sample(range(64), number % (_K + 1))) for number in range(copies)]
    return made, made[:copies], made[:copies] ^ np.array(flips, np.uint64)


def _measure(stored: NDArray[np.uint64], originals: NDArray[np.uint64], copies: NDArray[np.uint64], other: Path | None) -> Iterator[str]:
    some = np.random.default_rng(2).choice(stored, min(20_000, len(stored)), replace=False)
    half = len(some) // 2
    mean = np.bitwise_count(some[:half] ^ some[half : 2 * half]).mean()
    blocks = [_agreement(stored >> np.uint64(shift) & np.uint64(0xFFFF)) for shift in (0, 16, 32, 48)]
    yield from (f"{len(stored):.1e}", f"{mean:.1f}", " ".join(f"{times:.1f}" for times in blocks))
    near = np.bitwise_count(originals ^ copies) <= _K
    originals, copies = originals[near], copies[near]
    with tempfile.TemporaryDirectory() as directory, open_store(Path(directory, "store"), sync_seconds=inf) as store:
        store.load_fingerprints(stored)
        store.query_fingerprint(0)
        began = process_time()
        found = [store.query_fingerprint(int(copy), _K) for copy in copies]
        query = (process_time() - began) / len(copies) * 1e6
        began = process_time()
        for copy in copies.tolist():
            store.admit_fingerprint(copy, _K)
        insert = (process_time() - began) / len(copies) * 1e6
    numbers = np.array([len(candidates) for candidates in found])
    apart = np.bitwise_count(originals ^ copies)
    told = [sum(match.distance <= own for match in candidates) for candidates, own in zip(found, apart, strict=True)]
    yield from (f"{numbers.mean():.1f}", f"{np.median(numbers):.0f}", f"{numbers.max()}", f"{(numbers > _CAP).mean():.4f}")
    yield from (f"{(np.array(told) <= _CAP).mean():.4f}", f"{query:.0f}", f"{insert:.0f}", str(len(copies)))
    if other:
        for ours, theirs in beside(other, stored, copies):
            yield from (f"{ours:.1f}, {theirs:.1f}", f"{theirs / ours:.2f}")


def beside(checkout: Path, stored: NDArray[np.uint64], copies: NDArray[np.uint64]) -> Beside:
    """Return what copies cost to ask for with this code and with that of another checkout, in turns.

    Raises:
        ValueError: the other code finds more or less.
    """
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        np.save(Path(directory, "stored.npy"), stored)
        np.save(Path(directory, "copies.npy"), copies)
        here = Path(__file__).resolve().parents[2]
        both = [stack.enter_context(_answering(one, directory, name)) for one, name in ((here, "here"), (checkout, "there"))]
        turns = [f"{first} {min(first + _TURN, len(copies))}" for first in range(0, len(copies), _TURN)]
        return Beside(
            _in_turns(both, "query_fingerprint", turns * _ROUNDS, len(copies) * _ROUNDS),
            _in_turns(both, "admit_fingerprint", turns, len(copies)),
        )


@contextmanager
def _answering(checkout: Path, directory: str, name: str) -> Iterator[subprocess.Popen[str]]:
    # What -c runs is looked for in the working directory first.
    command = [sys.executable, "-c", _ANSWERS, directory, str(_K), name]
    with subprocess.Popen(
        command, cwd=checkout, env={"PYTHONPATH": str(checkout)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        _stream(process.stdin).close()


def _in_turns(both: Sequence[subprocess.Popen[str]], name: str, turns: Sequence[str], asked: int) -> tuple[float, float]:
    seconds = [0.0, 0.0]
    for number, turn in enumerate(turns):
        found = {}
        for place in (0, 1) if number % 2 else (1, 0):
            print(name, turn, file=_stream(both[place].stdin), flush=True)
            taken, found[place] = _stream(both[place].stdout).readline().split()
            seconds[place] += float(taken)
        if found[0] != found[1]:
            raise ValueError(f"{name} {turn}: {found[0]} answers here, {found[1]} there")
    return seconds[0] / asked * 1e6, seconds[1] / asked * 1e6


def _stream(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise TypeError("a process without pipes")
    return pipe


def _agreement(values: NDArray[np.uint64]) -> float:
    counts = np.bincount(values.astype(np.intp), minlength=2**16).astype(float)
    return float((counts * (counts - 1)).sum() / (len(values) * (len(values) - 1)) * 2**16)


def main() -> None:
    """Compose, store, and ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=sizes, default=sizes("1e6"))
    parser.add_argument("--recipes", type=lambda text: [name for name in text.split(",") if name], default=["content", "terms"])
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--beside", type=Path)
    options = parser.parse_args()
    columns = ["stored", "bits apart", "blocks", "candidates", "median", "greatest", "over the cap"]
    columns += ["found at the cap", "query us", "admit us", "queries"]
    columns += ["query us, here and there", "there / here", "admit us, here and there", "there / here"] if options.beside else []
    row("fingerprints", *columns)
    row("---", *["---:"] * len(columns))
    with ExitStack() as stack:
        root = options.packages or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        root.mkdir(parents=True, exist_ok=True)
        for size in options.sizes:
            row("random", *_measure(*_random(size, options.queries), options.beside))
            for recipe in options.recipes:
                stored, originals, copies = fingerprints(root, recipe, size, options.queries)
                row(recipe, *_measure(np.unique(stored), originals, copies, options.beside))


if __name__ == "__main__":
    main()
