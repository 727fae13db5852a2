"""What a page says and what its readers see, as it is read for the items of copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.crawl.item_values import FILLED
from simcrawl.crawl.page_text import PageText
from simcrawl.crawl.reading import readings

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHER = "http://a.test/p/2"
HTML = "<html><body><h1>A <b>ham</b>burger</h1><p>It costs 1,250.50.</p><!-- of the winter menu --><p data-of='2024'>!</p></body></html>"


def _page(*more: str, url: str = "") -> PageText:
    return PageText(lambda: [HTML, *more], url)


# ---- what is read


def test_it_is_read_once_and_only_if_somebody_asks():
    read = list[int]()

    def tell() -> Iterator[str]:
        read.append(1)
        yield HTML

    page = PageText(tell, OTHER)
    assert page.is_addressed("2")
    assert not read
    assert page.has_most({"costs"})
    assert page.shows_most({"costs"})
    assert page.hides("of the winter menu")
    assert read == [1]


@pytest.mark.parametrize("tell", [lambda: None, list, lambda: [HTML, HTML]])
def test_of_no_text_or_too_long_a_one_nothing_is_known(tell: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.page_text._LONGEST_PAGE", len(HTML))
    page = PageText(tell)
    assert page.text is None
    assert not page.has_most({"costs"})
    assert not page.shows_most({"costs"})
    assert not page.shows_number({"1250.5"})
    assert not page.hides("costs")


def test_what_belongs_to_a_page_is_of_its_text():
    page = _page("X-Kitchen: caf%C3%A9", url=OTHER)
    assert page.has_most({"caf\u00e9"})
    assert page.shows_most({"caf\u00e9"})
    assert page.text is not None
    assert page.text.endswith(OTHER)


@pytest.mark.parametrize(("value", "is_addressed"), [("2", True), (2, True), ("P-2", True), ("a.test", True), ("3", False), ("p 3", False)])
def test_a_value_may_be_all_in_the_address(value: Any, *, is_addressed: bool):
    assert _page(url=OTHER).is_addressed(value) == is_addressed


@pytest.mark.parametrize(
    ("value", "is_named"), [(OTHER, True), (2, True), ("%32", True), ("3", False), ("--", False), (False, False), (FILLED, False)]
)
def test_a_value_may_name_the_page(value: Any, *, is_named: bool):
    assert _page(url=OTHER).is_named_by(value) == is_named


def test_a_value_that_is_longer_than_any_name_names_no_page():
    assert not _page(url=OTHER).is_named_by("2 " * 200)


# ---- what readers see


def test_of_few_words_all_are_to_be_there_and_of_many_half():
    page = _page()
    assert page.has_most({"hamburger", "costs"})
    assert not page.has_most({"hamburger", "onions"})
    words = {"hamburger", "costs", "it", "winter"}
    assert page.has_most({*words, "onions", "tomatoes", "salad"})
    assert not page.shows_most({*words, "onions", "tomatoes", "salad"})


def test_a_number_is_seen_however_it_is_written():
    page = _page()
    assert page.shows_number(readings("1250.5"))
    assert page.shows_number(readings("1.250,50"))
    assert not page.shows_number(readings("2024"))
    assert page.hides("2024")


@pytest.mark.parametrize(
    "markup",
    [
        *(
            "<p data-j='%7B%22sku%22%3A%22ab-17%22%7D'>x</p>",
            "<script>p = JSON.parse('\\x7b\\x22sku\\x22:\\x22\\u0061b-17\\x22}')</script>x",
            "<p title='a > b' data-sku='ab-17'>x</p>",
            "<p onclick='()=>f()' data-sku=ab-17>x</p>",
            "<!-- <b>x</b> ab-17 -->x",
            "<style>.ab-17 {}</style>x",
        ),
        *(
            """<p data-j='{"d": "<b>x</b>", "sku": "ab-17"}'>x</p>""",
            "<p data-j='{&quot;d&quot;:&quot;&lt;b&gt;&quot;,&quot;s&quot;:&quot;ab-17&quot;}'>x",
        ),
        "<p>" + "ab-171 " * 99 + "<i data-sku=ab-17></i>",
        "<dl data-sku=ab-17>\n<dt>ab-</dt><dd>17</dd>\n</dl>",
    ],
)
def test_what_no_reader_sees_is_told_by_the_tree_of_a_page(markup: str):
    assert PageText(lambda: [f"<body>{markup}</body>", OTHER]).hides("ab-17")


@pytest.mark.parametrize(
    ("markup", "value"),
    [
        ("<p data-x=ab-17>if x &lt; 5, ab-17</p>", "ab-17"),
        ("<meta content='the red house'><p>The &lt;script&gt; red<em> house</em>. The red\n <em>house</em></p>", "the red house"),
        ("<meta content=hamburger><p><b>ham</b>burger", "hamburger"),
        ("<p data-p=1299.00>1,299.00 EUR", "1299.00"),
        ("<title>ab-17</title><p data-x=ab-17>", "ab-17"),
        ("<p>x", "ab-17"),
        ("<p data-x=ab-17>\nab-<!-- --><i>17</i>\n</p>", "ab-17"),
    ],
)
def test_what_readers_see_is_not_hidden(markup: str, value: str):
    assert not PageText(lambda: [f"<body>{markup}</body>", OTHER]).hides(value)


def test_of_a_page_that_cannot_be_parsed_all_is_hidden():
    assert PageText(lambda: ["ab-17\0", OTHER]).hides("ab-17") is False
    assert PageText(lambda: ["<!-- ab-17", OTHER]).hides("ab-17")


# ---- what it shows of itself


SAYS = """<html><head><title>In the head</title></head><body><p>A <b>ham</b>burger of 1,250.50</p><a href="/">linked</a>
<div class="breadcrumb">the way</div><p>3<i>7</i></p></body></html>"""


@pytest.mark.parametrize(
    ("plain", "says"),
    [
        ("hamburger", True),
        ("a hamburger of 1,250.50", True),
        ("ham burger", True),
        ("37", True),
        ("3 7", True),
        ("ham", True),
        ("amb", False),
        ("linked", False),
        ("the way", False),
        ("in the head", False),
        ("", False),
        ("!", False),
    ],
)
def test_a_page_says_what_is_no_link_and_no_furniture(plain: str, says: bool):
    assert PageText(lambda: [SAYS]).says(plain) == says


def test_it_says_numbers_however_they_are_written():
    page = PageText(lambda: [SAYS, "http://a.test/4711"])
    assert page.says_number(readings("1250.5"))
    assert not page.says_number(readings("4711"))
    assert not PageText(lambda: None).says_number(readings("1250.5"))
