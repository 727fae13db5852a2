from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jieba
import pytest

import simcrawl
from simcrawl.page.cut import words
from simcrawl.page.features import Features
from tests.samples import chinese, python

if TYPE_CHECKING:
    from pathlib import Path

# jieba does not close its idf.txt.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*jieba:ResourceWarning")

TEXT = "自然语言处理是计算机科学领域与人工智能领域中的一个重要方向。它研究人与计算机之间用自然语言进行通信的各种方法。"


@pytest.fixture
def original() -> Any:
    """jieba's own keywords by its own global segmenter: what ours are compared with."""
    from jieba import analyse

    jieba.setLogLevel("ERROR")
    jieba.initialize()
    return analyse


@pytest.mark.parametrize("character", "的中龘")
def test_a_run_of_a_hundred_thousand_characters_keeps_each_of_them(character: str):
    # 24 s in jieba when given in one piece.
    assert "".join(words(character * 100_000)) == character * 100_000


@pytest.mark.parametrize("kind", ["tfidf", "textrank"])
def test_keywords_of_an_endless_run_end(kind: str):
    assert len(Features(kind=kind, size=5).weigh("学习" * 10_000)) <= 5  # type: ignore[arg-type]  # one of the two


def test_words_our_user_teaches_jieba_change_nothing(original: Any):
    text = "清华大学的船长测量了北方的桥梁"
    before = words(text), simcrawl.fingerprint(text)
    jieba.add_word("船长测量了", 1_000_000)
    try:
        assert "船长测量了" in jieba.lcut(text)
        assert (words(text), simcrawl.fingerprint(text)) == before
    finally:
        jieba.del_word("船长测量了")


def test_no_cache_file_is_read_or_written(tmp_path: Path):
    code = """
import tempfile
tempfile.tempdir = {path!r}
import simcrawl
for kind in ("words", "tfidf", "textrank"):
    assert simcrawl.Features(kind=kind, size=3).weigh("清华大学的学生研究自然语言处理")
"""
    (tmp_path / "jieba.cache").write_bytes(b"not a dictionary")
    python(code.format(path=str(tmp_path)))
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.cache"]
    assert (tmp_path / "jieba.cache").read_bytes() == b"not a dictionary"


def test_keywords_are_those_of_jieba_with_its_weights(original: Any):
    for text in (TEXT, chinese(20)):
        assert list(Features(kind="tfidf", size=7).weigh(text).items()) == original.extract_tags(text, topK=7, withWeight=True)


def test_textrank_is_that_of_jieba_with_its_weights(original: Any):
    assert list(Features(kind="textrank", size=5).weigh(TEXT).items()) == original.textrank(TEXT, topK=5, withWeight=True)
