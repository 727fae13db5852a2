"""Chinese has no spaces between its words: jieba's dictionary says where they are.

The Rust port `rjieba` does the work where it is installed, with the same words. Nothing of jieba is loaded before a text has Chinese.
"""

from __future__ import annotations

import hashlib
import warnings
from functools import cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from simcrawl.page.alphabets import HAN, HAS_HAN, singles, spaced_run
from simcrawl.page.characters import normalize
from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# jieba's time grows faster than a run's length (24 s for one of 100,000 characters), and real sentences end long before this.
LONGEST_RUN = 256
HAN_RUN = late(f"[{HAN}]{{1,{LONGEST_RUN}}}")
_WORD = late(lambda: f"[{HAN}]{{1,{LONGEST_RUN}}}|[{singles()}]|{spaced_run()}")
_LONG_RUN = late(rf"([{HAN}]{{{LONGEST_RUN}}})(?=[{HAN}])")
# Releases of rjieba, and the digest of jieba's dictionary that each has in it.
_SAME_DICTIONARY = {("0.2.2", "7197c3211ddd98962b036cdf40324d1ea2bfaa12bd028e68faa70111a88e12a8")}
# TextRank is quadratic in the words of a page.
_TEXTRANK_CHARACTERS = 20_000


def segment(line: str) -> list[str]:
    """Return jieba's words of a line's runs of Han characters, unknown ones as single characters, and its other units.

    jieba's guesses at unknown words (its hidden Markov model) stay off: they differ between its ports. Where the Rust port `rjieba` is
    installed it does the work, ten times as fast, with the same words.
    """
    found = [(run, HAS_HAN.match(run)) for run in _WORD.findall(line)]
    # One call for all runs of a line: a call costs as much as cutting a dozen characters.
    cut = iter(cut_runs(" ".join(run for run, is_han in found if is_han)))
    return [word for run, is_han in found for word in (takewhile(" ".__ne__, cut) if is_han else (run,))]


def cut_runs(runs: str) -> Iterable[str]:
    """Return the words of runs of Han characters, none longer than `LONGEST_RUN`, and the single spaces that stand between the runs."""
    return _segmenter()(runs)


@cache
def _segmenter() -> Callable[[str], Iterable[str]]:
    """Return what cuts a run of Han characters: rjieba where it is installed, otherwise jieba."""
    try:
        from rjieba import Jieba  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        return partial(_jieba().cut, HMM=False)
    return partial(Jieba().cut, hmm=False) if _knows_dictionary() else _taught(Jieba)


def _knows_dictionary() -> bool:
    """Return whether the dictionary that this rjieba has in it is jieba's: to teach it takes three times as long as to load it."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - here alone

    try:
        release = version("rjieba")
    except PackageNotFoundError:
        return False
    with _jieba_module().Tokenizer().get_dict_file() as file:
        return (release, hashlib.file_digest(file, "sha256").hexdigest()) in _SAME_DICTIONARY


def _taught(port: Any) -> Callable[[str], Iterable[str]]:
    """Return the cutter of an rjieba that knows jieba's dictionary: its own may become another one with any release."""
    frequencies, total = _dictionary()
    taught = port.empty()
    for word, frequency in frequencies.items():
        taught.add_word(word, frequency, None)
    # Of the other words, which no run of Han characters holds, only their share in the total matters.
    taught.add_word("-", total - sum(frequencies.values()), None)
    return partial(taught.cut, hmm=False)


def _dictionary() -> tuple[dict[str, int], int]:
    """Return the words of jieba's dictionary that begin with a Han character, and the sum of all words' frequencies."""
    frequencies, total = {}, 0
    with _jieba_module().Tokenizer().get_dict_file() as file:
        for line in file:
            word, frequency, _ = line.decode().split(" ")
            total += int(frequency)
            if HAS_HAN.match(word):
                frequencies[word] = int(frequency)
    return frequencies, total


@cache
def _jieba_module() -> Any:
    """Return jieba without what it has to say of setuptools, which no user can change: its last release asks `pkg_resources` for files."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"(?s).*pkg_resources")
        import jieba  # noqa: PLC0415 - slow to load, and pages without Chinese never need it

    return jieba


@cache
def _jieba() -> Any:
    """Return a segmenter of our own: words that the user adds to jieba's global one must not change stored fingerprints."""
    tokenizer = _jieba_module().Tokenizer()
    # Not initialize(): that reads a cache file with marshal from a predictable name in the shared temporary directory.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


def tfidf(text: str, most: int) -> list[tuple[str, float]]:
    """Return jieba's best keywords of a text by TF-IDF with their weights, best first."""
    found: list[tuple[str, float]] = _tfidf().extract_tags(_bounded(text), topK=most, withWeight=True)
    return found


def textrank(text: str, most: int) -> list[tuple[str, float]]:
    """Return jieba's best keywords by TextRank with their weights, best first, of the first 20,000 characters of a text."""
    found: list[tuple[str, float]] = _textrank().textrank(_bounded(text[:_TEXTRANK_CHARACTERS]), topK=most, withWeight=True)
    return found


def _bounded(text: str) -> str:
    return _LONG_RUN.sub(r"\1 ", normalize(text))


@cache
def _tfidf() -> Any:
    from jieba.analyse import TFIDF  # noqa: PLC0415 - loads a second dictionary

    extractor = TFIDF()
    extractor.tokenizer = _jieba()
    return extractor


@cache
def _textrank() -> Any:
    from jieba.analyse import TextRank  # noqa: PLC0415 - loads a third dictionary
    from jieba.posseg import POSTokenizer  # noqa: PLC0415

    extractor = TextRank()
    extractor.tokenizer = POSTokenizer(_jieba())
    return extractor
