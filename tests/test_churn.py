"""What the benchmark of changing surroundings exchanges on hand-written pages: furniture only, or the article only."""

from __future__ import annotations

import random

import pytest

from benchmarks.quality.churn import Article, cases, churned, swapped
from benchmarks.quality.surgery import Pool, at_another_time, blocks, body, dissect, parse

SENTENCE = (
    "The {0} council met on a long {1} evening to speak about {0} and {1}, and nobody left the hall before {2} had been said about {0}."
)
TOPICS = {
    "harbour": ("harbour", "winter", "everything"),
    "library": ("library", "summer", "something"),
    "railway": ("railway", "autumn", "the word"),
    "theatre": ("theatre", "spring", "the truth"),
}


def _page(topic: str, *, site: str = "paper.example") -> str:
    words = TOPICS[topic]
    paragraphs = "".join(f"<p>{number}. {SENTENCE.format(*words)} It was {topic} night number {number * 7}.</p>" for number in range(9))
    return f"""<!DOCTYPE html><html><head><title>News of the {topic} council</title><link rel="canonical" href="https://{site}/{topic}"></head><body>
        <nav><ul><li><a href="/">Home of {topic}</a></li><li><a href="/sport">Sport</a></li></ul></nav>
        <div class="layout"><article><h1>News of the {topic} council</h1><p class="date">3 March 2021</p>
        {paragraphs}<h2>What the {topic} says</h2><ul class="related"><li><a href="/x">Another {topic} story that nobody reads</a></li></ul>
        </article><aside><h3>Most read</h3><ul><li><a href="/1">Seven things that {topic} people like best</a></li></ul></aside></div>
        <footer>Copyright of the {topic} company, 12 Main Street</footer></body></html>"""


PAGES = [Article(topic, "en", "hand-written", _page(topic)) for topic in TOPICS]


def _article(html: str) -> list[str]:
    found = dissect(html)
    assert found
    return [block.text for block in found.article]


def _furniture(html: str) -> list[str]:
    found = dissect(html)
    assert found
    return [block.text for block in found.furniture]


def _texts(html: str) -> list[str]:
    return [block.text for block in blocks(body(parse(html)))]


def test_article_and_furniture_are_told_apart():
    article, furniture = _article(_page("harbour")), _furniture(_page("harbour"))
    assert article[0] == "News of the harbour council"
    assert article[-1] == "What the harbour says"
    assert len(article) == 11
    assert furniture == [
        "Home of harbour",
        "Sport",
        "3 March 2021",
        "Another harbour story that nobody reads",
        "Most read",
        "Seven things that harbour people like best",
        "Copyright of the harbour company, 12 Main Street",
    ]


def test_a_page_without_an_article_has_no_anatomy():
    assert dissect("<html><body><ul><li><a href='/'>Home</a></li><li><a href='/b'>Other</a></li></ul></body></html>") is None
    assert dissect("") is None


@pytest.mark.parametrize("kind", ["mild", "full"])
def test_churn_leaves_the_article_word_for_word(kind: str):
    made = [case for case in cases(PAGES) if case.kind == kind]
    assert len(made) == len(PAGES)
    for case in made:
        article = _article(case.html_a)
        assert [text for text in _texts(case.html_b) if text in article] == article


@pytest.mark.parametrize("kind", ["mild", "full"])
def test_churn_exchanges_dates_and_links(kind: str):
    for case in cases(PAGES):
        if case.kind == kind:
            gone = {f"Seven things that {case.id.split()[0]} people like best", "3 March 2021"}
            assert gone & set(_texts(case.html_a)) == gone
            # The same date, or the very link, may be drawn again: not both on every page.
            assert not gone <= set(_texts(case.html_b))


def test_only_full_churn_exchanges_navigation_and_footer():
    for case in cases(PAGES):
        topic = case.id.split()[0]
        kept = {f"Home of {topic}", f"Copyright of the {topic} company, 12 Main Street"} & set(_texts(case.html_b))
        assert len(kept) == {"mild": 2, "full": 0, "swap": 2}[case.kind]


def test_a_swap_exchanges_the_article_and_nothing_else():
    made = [case for case in cases(PAGES) if case.kind == "swap"]
    assert len(made) == len(PAGES)
    for case in made:
        assert _furniture(case.html_b) == _furniture(case.html_a)
        assert not set(_article(case.html_a)) & set(_article(case.html_b))
        assert _article(case.html_b) in [_article(page.html) for page in PAGES]


def test_a_shorter_and_a_longer_article_fit_too():
    long, short = dissect(_page("harbour")), dissect(_page("library").replace("<p>", "<div><p>", 1).replace("</p>", "</p></div>", 1))
    assert long
    assert short
    short.article[:] = short.article[:4]
    swapped_in = swapped(_page("harbour"), short)
    assert swapped_in
    assert [text for text in _texts(swapped_in) if "harbour" in text] == _only_furniture("harbour")
    assert [text for text in _texts(swapped_in) if "library" in text] == [block.text for block in short.article]


def _only_furniture(topic: str) -> list[str]:
    return [text for text in _furniture(_page(topic)) if topic in text]


def test_without_furniture_to_exchange_only_numbers_and_own_modules_come():
    after = churned(_page("harbour"), Pool([], [], []), None, "en", random.Random(1))
    assert after
    assert [text for text in _texts(after) if text in _article(_page("harbour"))] == _article(_page("harbour"))


def test_cases_are_the_same_for_a_seed_and_others_for_another():
    assert cases(PAGES, 1) == cases(PAGES, 1)
    assert cases(PAGES, 1) != cases(PAGES, 2)


def test_one_page_alone_cannot_be_exchanged():
    assert cases(PAGES[:1]) == []


def test_versions_of_one_article_are_not_exchanged():
    again = Article("harbour again", "en", "hand-written", _page("harbour").replace("Sport", "Sports"))
    assert cases([PAGES[0], again]) == []


@pytest.mark.parametrize("seed", range(50))
def test_another_time_is_a_time(seed: int):
    day, month, year, hour, minute = map(int, at_another_time("3 5 2021 9 45", random.Random(seed)).split())
    assert 1 <= day <= 12
    assert 1 <= month <= 12
    assert year in (2020, 2021)
    assert 1 <= hour <= 12
    assert 29 <= minute <= 59
