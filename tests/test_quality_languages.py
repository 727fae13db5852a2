"""The quality gate for Korean, Thai, Khmer, Arabic, Persian and mixed pages, and the oracle that labelled them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from benchmarks.quality.label import MOST, Labelled, Taken, chosen, container_text, native_share, pairs_of, shingles, tokens
from tests.quality import floors, pairs
from tests.quality.pairs import LANGUAGES, Source
from tests.quality.score import ALL, by_language, judge, table

if TYPE_CHECKING:
    from pathlib import Path


def test_the_default_stays_above_its_floors(tmp_path: Path) -> None:
    try:
        whole = pairs.build(tmp_path, LANGUAGES)
    except pairs.UnavailableError as exc:
        pytest.skip(f"the labelled pairs cannot be rebuilt: {exc}")
    judged = judge(whole, tmp_path)
    scores = by_language(judged)
    print(f"{len(whole)} of {len(pairs.index(LANGUAGES))} pairs can be had")
    Console(width=120).print(table({"auto": scores}))
    print(*(one for one in judged if one.is_wrong), sep="\n")
    assert floors.below(scores, floors.stored(LANGUAGES)) == []


def test_every_language_has_pairs_of_every_label_and_a_floor() -> None:
    index = pairs.index(LANGUAGES)
    languages = {"ar", "fa", "km", "ko", "mixed", "th"}
    assert {(pair.lang, pair.label) for pair in index} == {(lang, label) for lang in languages for label in MOST}
    assert floors.stored(LANGUAGES).keys() == {*languages, ALL}
    assert all(pair.label == ("near" if pair.jaccard5 >= 0.9 else "diff" if pair.jaccard5 < 0.5 else "grey") for pair in index)


def test_no_pair_is_in_the_index_twice() -> None:
    index = pairs.index(LANGUAGES)
    assert len({frozenset(source.sha1 for source in pair.sources) for pair in index}) == len(index) == len({pair.id for pair in index})


def test_words_are_cut_at_spaces_and_other_scripts_into_characters() -> None:
    assert tokens("Ａrabic: كِتاب جديد!", spaced=True) == ["arabic", "كِتاب", "جديد"]
    assert tokens("ที่ A1", spaced=False) == ["ท", "ี", "่", "a", "1"]


def test_the_share_of_a_script_counts_letters_only() -> None:
    assert native_share("한국어 is 12, ...", "ko") == pytest.approx(3 / 5)
    assert native_share("", "ko") == 0


def test_the_containers_text_has_breaks_at_blocks_and_no_furniture() -> None:
    body = """<html><head><meta charset="utf-8"><title>t</title></head><body><p>Outside</p><div id="DisplayArea"><p>One <b>w</b>ord</p>next
    <ul><li>a</li><li>b</li></ul><div class="navfooter">furniture</div><script>code</script></div></body></html>"""
    assert container_text(body.encode()).split() == ["One", "word", "next", "a", "b"]


def test_a_page_in_its_own_encoding_is_read_as_such() -> None:
    body = '<html><head><meta http-equiv="Content-Type" content="text/html; charset=EUC-KR"></head><body>한국어</body></html>'
    assert container_text(body.encode("euc-kr")) == "한국어"


def _page(number: int, text: str, *, page: str, lang: str = "ar", share: float = 0.9) -> Taken:
    return Taken(Source("p", "1", page, str(number)), "manual", lang, page, shingles(text.split()), share)


def test_pairs_are_versions_of_a_page_its_likest_other_one_and_chance() -> None:
    words = [f"w{i}" for i in range(200)]
    old = _page(1, " ".join(words), page="a")
    new = _page(2, " ".join([*words[:-2], "x", "y"]), page="a")
    like = _page(3, " ".join([*words[:150], *(f"v{i}" for i in range(50))]), page="b")
    other = _page(4, " ".join(f"u{i}" for i in range(200)), page="c")
    found = {(pair.a.source.sha1, pair.b.source.sha1): pair for pair in reversed(list(pairs_of([old, new, like, other])))}
    assert (found["1", "2"].kind, found["1", "2"].label) == ("same-page-other-version", "near")
    assert (found["3", "1"].kind, found["3", "1"].label) == ("same-site-hard", "grey")
    assert all(pair.label == "diff" for pair in found.values() if other in (pair.a, pair.b))


def test_so_many_pairs_of_a_label_are_chosen_and_few_identical_ones() -> None:
    pages = [_page(number, "w", page=str(number), share=0.3 if number % 2 else 0.9) for number in range(400)]
    near = [
        Labelled(a, b, "kind", 1.0 if number < 50 else 0.95) for number, (a, b) in enumerate(zip(pages[:100], pages[100:], strict=False))
    ]
    made = chosen([*near, *near, Labelled(pages[0], pages[2], "kind", 0.1)])
    assert {pair.label for pair in made} == {"near", "diff"}
    assert len(made) == len({(pair.a, pair.b) for pair in made})
    assert {pair.lang for pair in made} == {"ar", "mixed"}
    for lang in ("ar", "mixed"):
        identical = [pair.jaccard == 1 for pair in made if pair.lang == lang and pair.label == "near"]
        assert len(identical) == MOST["near"]
        assert sum(identical) <= 8
