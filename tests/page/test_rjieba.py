"""rjieba, the Rust port of jieba (extra `fast`), cuts every run of Han characters as jieba does: fingerprints do not depend on it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, strategies as st

import simcrawl
from simcrawl.page import alphabets, chinese as segmentation, cut
from simcrawl.page.characters import normalize
from simcrawl.page.chinese import segment
from simcrawl.page.extraction import main_text
from tests.samples import chinese, python

if TYPE_CHECKING:
    from tests.crawl.server import DirectorySite

pytest.importorskip("rjieba", reason='the Rust port of jieba is not installed: pip install "simcrawl[fast]"')

_RUNS = re.compile(f"[{alphabets.HAN}]+")
_DEMO = Path(simcrawl.__file__).parent / "crawl" / "demo_site"
_WORDS = list(segmentation._dictionary()[0])


def _plain(run: str) -> list[str]:
    """Return what jieba itself makes of a run."""
    size = segmentation.LONGEST_RUN
    return [word for start in range(0, len(run), size) for word in segmentation._jieba().cut(run[start : start + size], HMM=False)]


def _disagreements(texts: list[str]) -> tuple[int, list[str]]:
    """Return the number of Han characters in texts, and the runs that are not cut as jieba cuts them."""
    runs = {run for text in texts for run in _RUNS.findall(normalize(text))}
    return sum(map(len, runs)), [run for run in runs if segment(run) != _plain(run)]


def test_it_is_used():
    assert "builtins.Jieba" in repr(segmentation._segmenter())


def test_it_knows_the_same_words():
    assert len(_WORDS) > 340_000
    unknown = [word for word in _WORDS[::50] if _RUNS.fullmatch(word) and segment(word) != _plain(word)]
    assert unknown == []


def test_it_has_the_same_words_in_it_or_is_taught_them(monkeypatch: pytest.MonkeyPatch):
    from rjieba import Jieba

    assert segmentation._knows_dictionary()
    own = Jieba()
    # Of another release nobody knows that.
    monkeypatch.setattr(segmentation, "_SAME_DICTIONARY", frozenset())
    cut: Any = segmentation._segmenter.__wrapped__()
    taught = cut.func.__self__
    assert [word for word in _WORDS if own.suggest_freq(word) != taught.suggest_freq(word)] == []
    for text in ("".join(_WORDS[start::9_973]) for start in range(100)):
        assert taught.cut(text, hmm=False) == own.cut(text, hmm=False) == list(cut(text))


def test_chinese_documentation_is_cut_alike():
    characters, different = _disagreements([main_text(file.read_bytes()) for file in sorted(_DEMO.glob("*/zh/*.html"))])
    assert characters > 4_000
    assert different == []


def test_a_book_is_cut_alike(installguide_site: DirectorySite):
    chapters = sorted((installguide_site.root / "amd64" / "zh_CN").rglob("*.html"))
    characters, different = _disagreements([main_text(file.read_bytes()) for file in chapters])
    assert characters > 50_000
    assert different == []


han = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)
# Inside the range of jieba's own expression for Chinese, and the Han characters that it leaves out.
anything = han | st.sampled_from("々〇㐀䶿鿖鿿豈﫿\U00020000\U0003ffff")
words = st.integers(0, len(_WORDS) - 1).map(_WORDS.__getitem__).filter(_RUNS.fullmatch)
# Words that begin or end in the middle of others are what makes a cut ambiguous.
halves = st.builds(lambda word, at: word[at % len(word) :], words, st.integers(0, 9))


@given(st.lists(words | halves | anything, min_size=1, max_size=40).map("".join))
@example("一一一十位㐀")
def test_runs_of_words_and_halves_of_words_are_cut_alike(run: str):
    # "一 一一" and "一一 一" have the same probability, but for the last bit of a sum: then the words are the same in another order.
    assert sorted(segment(run)) == sorted(_plain(run))


@given(st.text(han, min_size=1, max_size=300))
def test_random_han_strings_are_cut_alike(run: str):
    assert segment(run) == _plain(run)


def test_every_han_character_is_cut_alike():
    every = "".join(character for character in map(chr, range(0x3000, 0x40000)) if _RUNS.fullmatch(character))
    assert len(every) > 90_000
    assert segment(every) == _plain(every)


@pytest.mark.parametrize("character", "的中龘")
def test_endless_runs_are_cut_alike(character: str):
    assert segment(character * 3_000) == _plain(character * 3_000)


def test_threads_cut_alike():
    texts = [chinese(20, seed) for seed in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(cut.words, texts)) == list(map(cut.words, texts))


_FINGERPRINTS = """
import sys
if {blocked}:
    sys.modules["rjieba"] = None  # as where it is not installed
import simcrawl
from tests.samples import chinese
print(*(simcrawl.fingerprint(chinese(20, seed), recipe=recipe) for seed in range(20) for recipe in ("auto", "manku2007")))
assert ("rjieba.rjieba" in sys.modules) != {blocked}
"""


def test_fingerprints_with_and_without_it_are_the_same():
    run = partial(python, PYTHONPATH=str(Path(__file__).parents[2]))
    with_it, without_it = (run(_FINGERPRINTS.format(blocked=blocked)) for blocked in (False, True))
    assert with_it == without_it
    assert len(with_it.split()) == 40


@given(st.lists(words | st.sampled_from(["a", "7", "한", "x" * 300, "中" * 300]), max_size=12))
def test_the_runs_of_a_line_are_cut_each_for_itself(runs: list[str]):
    cut = [word for run in runs for word in (_plain(run) if _RUNS.fullmatch(run) else [run])]
    assert segment(", ".join(runs)) == cut
