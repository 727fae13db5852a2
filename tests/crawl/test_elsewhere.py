"""Items of copies that say what stands on no page are not lost with these."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from html import escape
from itertools import product as combined
from time import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from scrapy import Field, Item

from simcrawl.crawl.copied import Copy
from simcrawl.crawl.elsewhere import Elsewhere
from simcrawl.crawl.item_values import ItemRead, texts_in
from tests.crawl.content import hub
from tests.crawl.runner import MODES, crawl
from tests.samples import english, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.server import Site

SPIDERS = "tests.crawl.elsewhere_spiders"
URL, OTHER, USE, LATER = "http://a.test/p/1", "http://a.test/p/2", "spider.parse", "spider.parse_more"
# No page beside that one.
VIEW = "http://a.test/view/2"
NOW = datetime.now(UTC)
HTML = """<html><h1>A <b>ham</b>burger &amp; caf&eacute;</h1><p>It costs 1,250.50 or 1 300, of Wien/Graz.</p><p>北京的博物馆</p>
<script>{"dish": "cr\\u00eape\\nsuz\\u00e9tte"}</script></html>"""


def _page(*more: str) -> Copy:
    return Copy(lambda: [HTML, OTHER, *more])


def _found(value: Any, *, first: Any = "what the original says", identical: bool = True, key: str = "value") -> str | None:
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"url": URL, key: first}))
    return known.find(URL, USE, ItemRead({"url": OTHER, key: value}), _page(), identical=identical)


# ---- what is from elsewhere


@pytest.mark.parametrize(
    "value",
    [
        "Bouillabaisse",
        "two words",
        "red",
        "a hamburger with onions, tomatoes and salad",
        "Лосось",
        "上海的图书馆",
        "see https://a.test/more for this other dish",
        "12345",
        "+43 1 234 56 78",
        "127 EUR",
        1777,
        17.25,
        Decimal("199.90"),
        -4567,
        ["red", "green"],
        {"colour": "red"},
        [{"colour": "red"}],
    ],
)
def test_a_value_that_neither_page_has_is_from_elsewhere(value: Any):
    assert _found(value) in {"value", "value.colour"}


@pytest.mark.parametrize(
    "value",
    [
        "what the original says",
        "A hamburger & café",
        "costs WIEN graz",
        "a.test",
        "博物馆",
        "p 2",
        "https://elsewhere.test/some/other/page",
        "/some/other/page",
        "",
        "17",
        "1250.50",
        "1,300",
        1250.5,
        Decimal("1250.50"),
        1300,
        12,
        0.25,
        float("nan"),
        float("inf"),
        True,
        None,
        b"bytes",
        NOW,
        NOW.date(),
        f"{NOW:%Y-%m-%d}",
        NOW.isoformat(),
        f"{NOW:%Y-%m-%d %H:%M:%S}",
        f"{NOW:%Y%m%dT%H%M%SZ}",
        f"{NOW:%Y%m%d}",
        "20260102",
        20260102,
        f"{NOW:%d.%m.%Y}",
        "03:04",
        "0:00:12.345678",
        f"{NOW:%a, %d %b %Y %H:%M:%S GMT}",
        f"{NOW:%a, %d %b %Y %H:%M:%S} +0100",
        f"{NOW:%B %dth, %Y at 3:04 pm}",
        "d41d8cd98f00b204e9800998ecf8427e",
        "c9bf9e57-1685-4c89-bafb-ff5af830be8a",
        UUID(int=17),
        "urn:uuid:c9bf9e57-1685-4c89-bafb-ff5af830be8a",
        "U2ltY3Jhd2wgZHJvcHM=",
        time(),
        round(time() * 1000),
        str(time()),
        str(round(time())),
        object(),
        [],
        {},
    ],
    # Not by their values: some of them are the time.
    ids=lambda value: type(value).__name__,
)
def test_what_a_page_has_or_what_says_nothing_is_not(value: Any):
    assert _found(value) is None


@pytest.mark.parametrize("key", ["download_latency", "timestamp", "depth", "Index", "item_count", "retry_times", "bytes"])
def test_numbers_of_a_technical_name_are_not(key: str):
    assert _found(1777, key=key) is None
    assert _found("1777", key=key) is None
    assert _found("Bouillabaisse", key=key) == key


@pytest.mark.parametrize("value", [1777, 17.25, "1777", Decimal(1777)])
def test_numbers_are_not_unless_the_pages_are_equal(value: Any):
    assert _found(value, identical=False) is None
    assert _found("Bouillabaisse", identical=False) == "value"


@pytest.mark.parametrize("value", ["Bouillabaisse", 1777])
def test_what_the_original_has_under_the_same_name_is_not(value: Any):
    assert _found(value, first=value) is None
    assert _found([value], first=[{"value": 5}, [value]]) is None
    assert _found({"value": value}, first=value) == "value.value"


def test_what_a_request_brought_along_is_not():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"value": "first"}))
    carried = texts_in({"link_text": "Bouillabaisse", "data": {"price": 1777, "from": ["http://a.test/soups"]}})
    for value in ("bouillabaisse", 1777, "soups"):
        assert known.find(URL, USE, ItemRead({"value": value}), _page(*carried), identical=True) is None
        assert known.find(URL, USE, ItemRead({"value": value}), _page(), identical=True)


def test_a_counter_s_numbers_are_not():
    known = Elsewhere()
    for number in range(90, 100):
        known.note(f"http://a.test/{number}", USE, ItemRead({"n": number}))
    known.note(URL, USE, ItemRead({"n": 100}))
    assert [known.find(URL, USE, ItemRead({"n": number}), _page(), identical=True) for number in range(101, 120, 3)] == [None] * 7
    assert known.find(URL, USE, ItemRead({"n": 5000}), _page(), identical=True) == "n"


@dataclass
class Product:
    name: str
    price: float = 0


class Scrapys(Item):
    name = Field()


@pytest.mark.parametrize("make", [lambda name: {"name": name}, Product, lambda name: Scrapys(name=name)], ids=["dict", "dataclass", "Item"])
def test_items_may_be_of_any_kind(make: Any):
    known = Elsewhere()
    known.note(URL, USE, ItemRead(make("first")))
    assert known.find(URL, USE, ItemRead(make("first")), _page(), identical=True) is None
    assert known.find(URL, USE, ItemRead(make("Bouillabaisse")), _page(), identical=True) == "name"
    assert known.find(URL, USE, ItemRead({"of": [make("Bouillabaisse")]}), _page(), identical=True) == "of.name"


@pytest.mark.parametrize("text", ["ä" * 100_000, "1" * 100_000, "1." * 50_000, "<" * 100_000, "a<b " * 25_000, "://" * 30_000 + " "])
def test_long_values_and_pages_are_looked_at_in_one_pass(text: str):
    # With a pattern that tries each place anew this would take hours.
    for page_text in (text, HTML):
        known = Elsewhere()
        known.note(URL, USE, ItemRead({"value": "first"}))
        page = Copy(partial(list[str], (page_text,)))
        known.find(URL, USE, ItemRead({"value": text}), page, identical=True)
        assert known.find(URL, USE, ItemRead({"value": "Bouillabaisse"}), page, identical=True) == "value"


@pytest.mark.parametrize("item", ["Bouillabaisse", 1777, ["Bouillabaisse"], None])
def test_what_is_no_item_is_not_looked_at(item: Any):
    known = Elsewhere()
    known.note(URL, USE, ItemRead(item))
    assert known.find(URL, USE, ItemRead({"value": "Bouillabaisse"}), _page(), identical=True) is None
    known.note(URL, USE, ItemRead({"value": "first"}))
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) is None


def test_of_pages_that_are_no_text_or_too_long_nothing_is_known(monkeypatch: pytest.MonkeyPatch):
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"value": "first", "price": 5}))
    item = {"value": "Bouillabaisse", "price": 1777}
    assert known.find(URL, USE, ItemRead(item), Copy(lambda: None), identical=True) is None
    monkeypatch.setattr("simcrawl.crawl.page_text._LONGEST_PAGE", len(HTML))
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) is None


def test_a_page_is_read_once_and_only_if_a_value_is_another_one():
    known, read = Elsewhere(), list[int]()

    def tell() -> Iterator[str]:
        read.append(1)
        yield HTML

    told = Copy(tell)
    known.note(URL, USE, ItemRead({"url": URL, "value": "first"}))
    known.find(
        URL,
        USE,
        ItemRead({"url": OTHER, "value": "first", "at": f"{NOW:%Y-%m-%d}", "uid": "d41d8cd98f00b204e9800998ecf8427e"}),
        told,
        identical=True,
    )
    assert not read
    for value in ("Bouillabaisse", "costs", 1777, "red"):
        known.find(URL, USE, ItemRead({"value": value}), told, identical=True)
    assert read == [1]


# ---- what no reader sees

HIDING = """<html><head><title>A hamburger</title><meta name="description" content="With onions &amp; two sauces"></head>
<body class="dish red"><h1 data-number="10442" data-price="12.50">A hamburger</h1><img alt="Four stars" src="p/four_stars.png">
<p class="rating Three">It costs what it costs, of 5, or 1,777 of 2000.</p><!-- of the winter menu --><a href="menu?page=3">more</a>
<script>var dish = {"spice": "very hot", "grams": 350};</script><p>Very good</p>
<b data-time="2026-01-02" data-of="2000">!</b></body></html>"""


def _hidden(value: Any, *, identical: bool = True, key: str = "value") -> str | None:
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"url": URL, key: "what the original says"}))
    return known.find(URL, USE, ItemRead({"url": OTHER, key: value}), Copy(lambda: [HIDING, OTHER]), identical=identical)


@pytest.mark.parametrize(
    "value",
    ["With onions & two sauces", "Four stars", "rating Three", "Three", "red", "of the winter menu", "very hot", "10442", "12.50", "350"],
)
def test_a_value_that_the_copy_has_in_its_mark_up_alone_is_no_part_of_what_readers_see(value: str):
    assert _hidden(value) == "value"
    assert _hidden(value, identical=False) == (None if value[0].isdigit() else "value")


@pytest.mark.parametrize("value", [10442, 12.5, Decimal("12.50"), 350])
def test_numbers_are_looked_for_as_mark_up_has_them(value: Any):
    assert _hidden(value) == "value"
    assert _hidden(value, identical=False) is None


@pytest.mark.parametrize(
    "value",
    [
        *("A hamburger", "hamburger", "costs", "Very", "very good", "5", 5, "1,777", 1777, 2000, "2000"),
        *(
            " ",
            "=",
            "!",
            "p/four_stars.png",
            "four_stars.png",
            "menu?page=3",
            "<p class",
            '{"spice": "very hot"',
            "onion",
            "ree",
            "044",
            3,
        ),
    ],
)
def test_what_readers_see_too_or_what_only_mark_up_says_is_not(value: Any):
    assert _hidden(value) is None


def _spelled(markup: str, value: Any, *, shown: str = "It costs what it costs") -> str | None:
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"value": "what the original says"}))
    page = Copy(lambda: [f"<html><body><h1>A dish</h1><p>{shown}</p>{markup}</body></html>", OTHER], OTHER)
    return known.find(URL, USE, ItemRead({"value": value}), page, identical=True)


JSONS = json.dumps({"name": 'Café crème/Größe \U0001f600 "XL"'}, ensure_ascii=True)


@pytest.mark.parametrize(
    "markup",
    [
        f"<script>p = {JSONS};</script>",
        f"<script>push([1, {json.dumps('5:' + JSONS)}])</script>",
        "<script>p = {}</script>".format(JSONS.replace("/", "\\/")),
        f"<p data-p='{quote(JSONS)}'></p>",
        f"<p data-p='{quote(json.dumps(json.loads(JSONS), ensure_ascii=False))}'></p>",
        f'<p data-p="{escape(JSONS)}"></p>',
        "<script>p = JSON.parse('{}')</script>".format(JSONS.replace('"', "\\x22").replace(" ", "\\x20")),
        "<script>p = {name: 'Caf\\u{e9} cr\\xe8me/Gr\\xf6\\u00dfe \\u{1f600} \\\"XL\\\"'}</script>",
        f"<p data-p='{escape(escape(JSONS))}'></p>",
    ],
)
def test_what_scripts_and_attributes_have_escaped_is_hidden(markup: str):
    name = json.loads(JSONS)["name"]
    assert _spelled(markup, name) == "value"
    # As it is shown it is not, however it is spelled elsewhere.
    assert _spelled(markup, name, shown=escape(name)) is None


@pytest.mark.parametrize(
    ("spelled", "value"),
    [("30,50", 30.5), ("1.234,00", 1234.0), ("1,234.50", 1234.5), ("1'234.50", Decimal("1234.5")), ("46.12345", 46.12345), ("1234", 1234)],
)
def test_numbers_are_hidden_however_they_are_written(spelled: str, value: Any):
    for markup in (f"<p data-price='{spelled}'></p>", f"<script>p = {{price: '{spelled}'}}</script>"):
        for wanted in (value, str(value), f"{value:.5f}"):
            assert _spelled(markup, wanted) == "value"
            assert _spelled(markup, wanted, shown=f"It costs {spelled} EUR") is None
    assert _spelled(f"<p data-price='{spelled}'></p>", value, shown="It has 3050, 12345, and 4612345 of it") == "value"


def test_what_is_put_together_from_mark_up_is_hidden():
    markup = "<p data-brand=Sony data-model=Walkman></p><script>p = {html: '<b>Red<\\/b> house'}</script>"
    for value in ("Sony Walkman", "Red house"):
        assert _spelled(markup, value) == "value"
        assert _spelled(markup, value, shown="A red or blue Walkman of Sony, in a house") is None


@pytest.mark.parametrize("text", ["\\" * 100_000, "\\u" * 50_000, "%" * 100_000, "&amp;" * 20_000, "\\ud800" * 10_000, "\\u{ffffff}"])
def test_what_seems_to_be_escaped_is_read_in_one_pass(text: str):
    assert _spelled(f"<script>{text}</script>", "Bouillabaisse") == "value"
    assert _spelled(f"<script>{text}</script>", text) in {None, "value"}


@pytest.mark.parametrize("key", ["views_count", "product.rank", "data-timestamp"])
def test_numbers_of_mark_up_that_count_are_not(key: str):
    assert _hidden("10442", key=key) is None
    assert _hidden(10442, key=key) is None


# ---- what is known of a content


def test_only_items_of_the_same_callback_are_compared():
    known = Elsewhere()
    item = {"value": "Bouillabaisse"}
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) is None
    known.note(URL, LATER, ItemRead({"value": "first"}))
    known.note(OTHER, USE, ItemRead({"value": "first"}))
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) is None
    known.note(URL, USE, ItemRead({"url": URL}))
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) == "value"


def test_what_is_left_out_unseen_may_lose_items_once_a_copy_has_had_some():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"value": "first"}))
    assert not known.may_lose(USE)
    known.find(URL, USE, ItemRead({"value": "costs"}), _page(), identical=True)
    assert not known.may_lose(USE)
    known.find(URL, USE, ItemRead({"value": "Bouillabaisse"}), _page(), identical=True)
    assert known.may_lose(USE)
    assert not known.may_lose(LATER)


def test_it_remembers_a_bounded_number_of_contents_values_and_callbacks(monkeypatch: pytest.MonkeyPatch):
    for name, most in {"said._MOST_CONTENTS": 4, "said._MOST_VALUES": 2, "elsewhere._MOST_USES": 1}.items():
        monkeypatch.setattr(f"simcrawl.crawl.{name}", most)
    known = Elsewhere()
    for number in range(5):
        known.note(str(number), USE, ItemRead({"value": "first", "number": 5}))
        # One that is seen again and again is not forgotten.
        known.note("0", USE, ItemRead({"value": "first"}))
    found = [known.find(str(number), USE, ItemRead({"value": "Bouillabaisse"}), _page(), identical=True) for number in range(1, 3)]
    assert found == [None, None]
    # The same ones again are no more.
    known.note("4", USE, ItemRead({"value": "first"}))
    assert known.find("4", USE, ItemRead({"value": "Bouillabaisse"}), _page(), identical=True)
    for value in ("second", "first"):
        known.note("4", LATER, ItemRead({"value": value, "number": 5}))
    # Of more it is not known which they are, and what was one of them may come out once more.
    assert known.find("4", LATER, ItemRead({"value": "first"}), _page(), identical=True) == "value"
    known.note(URL, LATER, ItemRead({"value": "first"}))
    assert known.find(URL, LATER, ItemRead({"value": "Bouillabaisse"}), _page(), identical=True)
    assert [known.may_lose(use) for use in (USE, LATER)] == [False, True]


def test_of_a_large_item_as_much_is_known_as_was_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.item_values._MOST_LOOKED_AT", 20)
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"value": "Bouillabaisse", "links": ["http://a.test/"] * 30, "last": "Ratatouille"}))
    same = {"value": "Bouillabaisse", "links": ["http://a.test/"] * 30, "last": "Chowder"}
    assert known.find(URL, USE, ItemRead(same), _page(), identical=True) is None
    # What was not looked at may be new, and fields that were not may have been filled.
    assert known.find(URL, USE, ItemRead({"last": "Ratatouille"}), _page(), identical=True) == "last"
    assert known.find(URL, USE, ItemRead({"more": HTML[:20]}), _page(), identical=True) is None
    known.note(OTHER, USE, ItemRead({"links": ["http://a.test/"] * 17, "value": "first"}))
    assert known.find(OTHER, USE, ItemRead({"value": "Bouillabaisse"}), _page(), identical=True) == "value"
    # And of a copy's item that much is looked at.
    assert known.find(OTHER, USE, ItemRead({"links": ["http://a.test/"] * 20, "value": "Bouillabaisse"}), _page(), identical=True) is None


def test_an_item_that_holds_itself_is_looked_at_for_a_while():
    known = Elsewhere()
    item: dict[str, Any] = {"value": "first"}
    item["self"] = [item, item]
    known.note(URL, USE, ItemRead(item))
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) is None


def test_of_a_content_whose_item_cannot_be_read_any_value_may_be_new():
    class Raising(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError

    known = Elsewhere()
    known.note(URL, USE, ItemRead({"value": "first"}))
    with pytest.raises(RuntimeError):
        known.note(URL, USE, ItemRead(Raising()))
    assert known.find(URL, USE, ItemRead({"value": "Bouillabaisse"}), _page(), identical=True) == "value"


# A page may write "<" as "&lt;", but that of this test says it as items do.
_TEXTS = st.text(st.characters(exclude_characters="&\\", exclude_categories=["Cs"]))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS | st.binary() | st.decimals(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@given(st.dictionaries(st.text(max_size=5), _VALUES, max_size=5), st.dictionaries(st.text(max_size=5), _VALUES, max_size=5), st.text())
def test_whatever_values_there_are(first: dict[str, Any], second: dict[str, Any], text: str):
    known = Elsewhere()
    known.note(URL, USE, ItemRead(first))
    for marked_up in (False, True):
        assert known.find(URL, USE, ItemRead(first), Copy(lambda: [text]), identical=True, marked_up=marked_up) is None
    known.find(URL, USE, ItemRead(second), Copy(lambda: [text]), identical=True)
    assert known.find(URL, USE, ItemRead(second), Copy(lambda: [text, *texts_in(second)]), identical=True) is None
    # Of two copies that say the same, the second one says no more: what it has by its mark-up is known.
    told = [
        known.find(URL, USE, ItemRead(second), Copy(lambda: [text, *texts_in(second)]), identical=True, marked_up=True) for _ in range(2)
    ]
    assert told[1] is None


def test_a_name_of_which_one_word_is_on_the_page_is_from_elsewhere():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"name": "Oak table"}))
    text = "<p>Each chair is delivered by our own lorry, and each table.</p>"
    for name, key in (("Ash chair", "name"), ("chair", None), ("our own chair", None), ("our own ash chair by our own lorry here", None)):
        assert known.find(URL, USE, ItemRead({"name": name}), Copy(lambda: [text]), identical=True) == key


# ---- fields that the original left empty


def test_what_is_false_fills_a_field_of_an_original_and_none_of_a_copy():
    assert _fuller({"is_print": False}, {"is_print": True}) is None
    assert _fuller({}, {"is_print": False}) is None
    assert _fuller({}, {"is_print": True}) == "is_print"


def test_a_number_within_a_short_text_may_be_a_counter_s():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"id": "news-1", "views": "12 views"}))
    assert known.find(URL, USE, ItemRead({"id": "news-2"}), Copy(lambda: ["<p>The news"]), identical=True) is None
    assert known.find(URL, USE, ItemRead({"views": "12345 views"}), Copy(lambda: ["<p>12,345 views"]), identical=True) is None


def _short(first: Any, value: Any, *, key: str = "value", downloads: bool = True, identical: bool = True) -> str | None:
    known = Elsewhere()
    if downloads:
        known.downloads(USE)
    known.note(URL, USE, ItemRead({"url": URL, key: first}))
    return known.find(URL, USE, ItemRead({"url": OTHER, key: value}), Copy(lambda: [HTML, OTHER], OTHER), identical=identical)


SHORT = [
    (True, False),
    (False, True),
    (3, 12),
    (0, 7),
    (date(2024, 1, 3), NOW.date()),
    (f"{NOW - timedelta(days=1):%Y-%m-%d}", f"{NOW:%Y-%m-%d}"),
    (0.5, 1.5),
]


@pytest.mark.parametrize(("first", "value"), SHORT)
def test_short_values_count_where_the_callback_has_downloaded_more(first: Any, value: Any):
    assert _short(first, value) == "value"
    assert _short(first, first) is None
    assert _short(first, value, downloads=False) is None
    assert _short(first, value, identical=False) is None


@pytest.mark.parametrize("key", ["depth", "retried", "item_count", "from_cache", "position"])
def test_short_values_that_speak_of_the_fetch_do_not_count(key: str):
    assert _short(1, 2, key=key) is None
    assert (_short(first=False, value=True, key=key) is None) == (key != "item_count")


def test_days_and_numbers_of_the_address_or_with_the_time_do_not_count():
    assert _short(NOW, NOW + timedelta(minutes=1)) is None
    # The copy is /p/2.
    assert _short(1, 2) is None


def test_a_counter_s_short_numbers_do_not_count():
    known = Elsewhere()
    known.downloads(USE)
    for number in range(10, 20):
        known.note(f"{URL}{number}", USE, ItemRead({"serial": number}))
    assert known.find(f"{URL}10", USE, ItemRead({"serial": 20}), _page(), identical=True) is None


# ---- what the mark-up of one text says


WELCOME = "清华大学开源软件镜像站欢迎您"


def _states(first: list[dict[str, Any]], *pages: list[dict[str, Any]], key: str | None = None, marked_up: bool = True) -> list[list[bool]]:
    """Return which items come out of copies that have one text with their original; each page's items have what `key` names of its URL."""
    known = Elsewhere()
    for item in first:
        known.note(f"{URL}700", USE, ItemRead({key: "700"} | item if key else item))
    found = list[list[bool]]()
    for number, items in enumerate(pages, 701):
        # "True" and "no" stand there to be read.
        page = Copy(
            lambda: [f"<p>Wifi, Pool, free, booked or true: yes or no, 1 2 3 of it {WELCOME} 有货 暂时缺货</p><a href=p/17.html>", OTHER],
            f"http://a.test/p/{number}",
        )
        told = [{key: f"{number}"} | item if key else item for item in items]
        found.append([known.find(f"{URL}700", USE, ItemRead(item), page, identical=True, marked_up=marked_up) is not None for item in told])
        assert known.may_lose(USE) or not any(map(any, found))
    return found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"wifi": True, "pool": False}, {"wifi": False, "pool": False}),
        ({"wifi": True, "pool": False}, {"wifi": True, "pool": True}),
        ({"stars": 2}, {"stars": 3}),
        ({"stars": "2"}, {"stars": "3"}),
        ({"width": 10.5}, {"width": 99}),
        ({"free": [1, 2, 3]}, {"free": [1, 3]}),
        ({"free": [1, 2, 3]}, {"free": [1]}),
        ({"has": ["Wifi", "Pool"]}, {"has": ["Pool"]}),
        ({"has": {"Wifi", "Pool"}}, {"has": {"Pool", "free"}}),
        ({"has": [True, False, True]}, {"has": [True, True, False]}),
        ({"has": [{"name": "Wifi", "is": True}, {"name": "Pool", "is": False}]}, {"has": [{"name": "Wifi", "is": False}]}),
        ({"status": "booked"}, {"status": "free"}),
        ({"status": "有货"}, {"status": "暂时缺货"}),
        # Signs stand in no address.
        ({"rating": "★★★★☆"}, {"rating": "★★☆☆☆"}),
        ({"vegan": "✓"}, {"vegan": "✗"}),
        # Names that have a technical one within.
        ({"sizes": [38, 40, 42]}, {"sizes": [38, 40]}),
        ({"discount": 20}, {"discount": 30}),
        ({"deposit_required": True}, {"deposit_required": False}),
    ],
)
def test_of_one_text_other_states_are_said_by_the_mark_up(first: dict[str, Any], second: dict[str, Any]):
    for key in (None, "id", "url"):
        assert _states([first], [second], [second], [first], key=key) == [[True], [False], [False]]
    assert _states([first], [second], marked_up=False) == [[False]]


@pytest.mark.parametrize(
    "second",
    [
        {"name": "Wifi", "ok": True},
        {"name": "Wifi", "ok": True, "n": 2, "also": None},
        {"ok": True, "n": 2, "tags": ["Pool", "Wifi"]},
        {"name": "Wifi", "ok": True, "n": 2, "link": "/p/5", "rel": "p/17.html", "links": ["http://b.test/"]},
        {"name": "Wifi", "at": f"{NOW:%Y-%m-%dT%H:%M:%S}", "when": NOW},
        {"name": "Wifi", "position": 7, "page": 3, "depth": 2, "last_page": False, "elapsed": 0.7, "retried": True},
        {"name": "Wifi", "uid": "d41d8cd98f00b204e9800998ecf8427e", "stamp": 17, "by": {"http://a.test/": 7}},
        {"name": "Wifi", "text": "yes or no, 1 2 3 of it"},
        {"name": "Wifi", "text": WELCOME},
        {"name": "Wifi", "number": 701, "of": "p"},
    ],
)
def test_what_of_another_mark_up_says_no_more_is_no_state(second: dict[str, Any]):
    first = {"name": "Wifi", "ok": True, "n": 2, "tags": ["Pool", "Wifi"]} | dict.fromkeys(second, "x y") | {"name": "Wifi"}
    first |= {name: second[name] for name in ("ok", "n", "tags") if name in second}
    assert _states([first], [second]) == [[False]]


def test_rows_whose_values_stand_in_other_rows_come_out():
    rows = [{"day": str(day), "status": status} for day in (1, 2, 3) for status in ("free", "booked")]
    first = [rows[0], rows[3], rows[4]]
    # What tells of no page comes out once.
    assert _states(first, first, [rows[0], rows[2], rows[4]], rows) == [
        [False] * 3,
        [False, True, False],
        [False, True, False, False, False, True],
    ]


def test_of_rows_that_name_their_page_all_come_out_from_the_new_one_on():
    rows = [{"day": str(day), "status": status} for day in (1, 2, 3) for status in ("free", "booked")]
    a, b, both = [rows[0], rows[3], rows[4]], [rows[0], rows[2], rows[5]], [rows[0], rows[2], rows[4]]
    expected = [[False] * 3, [False, True, True], [False] * 3, [False] * 3, [False, False, True], [False] * 3]
    assert _states(a, a, b, b, a, both, both, key="flat") == expected


def test_what_says_nothing_itself_waits_for_the_first_new_one_of_its_page_as_well():
    known = Elsewhere()
    known.note(f"{URL}700", USE, ItemRead({"flat": "700", "day": "Monday", "free": True}))
    page = Copy(lambda: ["<p>Monday or Tuesday", OTHER], "http://a.test/p/701")
    items: list[dict[str, Any]] = [{"flat": "701"}, {"flat": "701", "day": "Monday", "free": True}, {"flat": "701", "free": False}]
    for item in items[:2]:
        assert known.find(f"{URL}700", USE, ItemRead(item), page, identical=True, marked_up=True) is None
        assert page.before
        page.alike.append(item)
    assert known.find(f"{URL}700", USE, ItemRead(items[2]), page, identical=True, marked_up=True) == "free"
    assert page.take_left() == items[:2]


def test_a_counter_s_numbers_are_no_states():
    rows = [[{"serial": number}] for number in range(20, 50)]
    out = _states([{"serial": number} for number in range(10, 20)], *rows)
    assert not any(map(any, out))


def test_of_items_with_very_many_states_none_is_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_STATES", 40)
    first = [{"day": str(day), "ok": True} for day in range(20)]
    assert _states(first, [{"day": "3", "ok": False}]) == [[False]]
    # Those of copies are remembered as far as there is room.
    pages = [[{"day": str(day), "ok": False}] for day in range(20)]
    assert _states(first[:1], *pages) == [[True]] * 20
    assert _states(first[:1], *pages, pages[0], pages[-1])[-2:] == [[False], [True]]


def test_states_of_a_content_that_was_forgotten_are_read_anew(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_CONTENTS", 2)
    known, copy = Elsewhere(), Copy(lambda: ["<p>x"], OTHER)
    known.note(URL, USE, ItemRead({"ok": True, "n": 5}))
    assert known.find(URL, USE, ItemRead({"ok": True, "n": 5}), copy, identical=True, marked_up=True) is None
    for other in "abc":
        known.note(f"{URL}{other}", USE, ItemRead({"ok": True}))
    known.note(URL, USE, ItemRead({"ok": False, "n": 5}))
    assert known.find(URL, USE, ItemRead({"ok": False, "n": 5}), copy, identical=True, marked_up=True) is None
    assert known.find(URL, USE, ItemRead({"ok": True, "n": 5}), copy, identical=True, marked_up=True) == "ok"


def _rows(*values: Any) -> dict[str, Any]:
    return {"name": "hamburger", "rows": [{"value": value} for value in values]}


def _longer(first: list[dict[str, Any]], second: list[dict[str, Any]], *, identical: bool = True) -> list[str | None]:
    known, copy = Elsewhere(), Copy(lambda: [HTML, VIEW], VIEW)
    for item in first:
        known.note(URL, USE, ItemRead(item))
    return [known.find(URL, USE, ItemRead(item), copy, identical=identical) for item in second]


def test_a_copy_of_the_same_text_that_gives_more_rows_comes_out():
    assert _longer([_rows("ham")], [_rows("ham", "burger", "wien")]) == ["rows.value"]
    assert _longer([_rows("ham")], [_rows("ham", 1250)]) == ["rows.value"]
    # The text is another one: each may have a line of its own.
    assert _longer([_rows("ham")], [_rows("ham", "burger", "wien")], identical=False) == [None]


@pytest.mark.parametrize(
    "more",
    [
        _rows("ham"),
        _rows("burger", "wien"),
        _rows("ham", "burger", "ham"),
        _rows("ham", "burger", "12.05.2024"),
        _rows("ham", "burger", "2"),
    ],
)
def test_rows_that_are_as_many_or_say_no_more_are_no_reason(more: dict[str, Any]):
    assert _longer([_rows("ham", "burger")], [more]) == [None]


def test_a_longer_way_to_a_page_is_no_reason():
    first, second = ({"name": "hamburger", "way": way} for way in (["ham"], ["ham", "burger", "wien"]))
    assert _longer([first], [second]) == [None]


def test_more_items_of_a_copy_come_out_from_the_first_new_one_on():
    rows = [{"value": word} for word in ("ham", "burger", "wien", "graz")]
    assert _longer(rows[:2], rows) == [None, None, "value", "value"]
    assert _longer(rows, rows) == [None] * 4


def test_a_long_list_counts_though_not_all_of_it_is_looked_at():
    first, second = (_rows(*(f"word {number}" for number in range(most))) for most in (150, 200))
    assert _longer([first], [first]) == [None]
    assert _longer([first], [second]) == ["name"]


def test_of_an_original_with_very_many_values_more_rows_are_new():
    # All of them stand on the page.
    rows = [{"value": f"of {number} costs"} for number in range(6000)]
    text = " ".join(row["value"] for row in rows)
    known, copy = Elsewhere(), Copy(lambda: [text, OTHER], OTHER)
    for item in rows[:5000]:
        known.note(URL, USE, ItemRead(item))
    found = [known.find(URL, USE, ItemRead(item), copy, identical=True) for item in rows]
    assert found == [None] * 5000 + ["value"] * 1000


def test_what_a_longer_copy_gives_is_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_KNOWN", 100)
    known, copy = Elsewhere(), Copy(lambda: [HTML], OTHER)
    known.note(URL, USE, ItemRead({"value": "ham"}))
    for number in range(100):
        known.find(URL, USE, ItemRead({"value": f"word {number}"}), copy, identical=True)
    # The older half goes when the other one is full: of two more contents at the latest.
    for other in "ab":
        known.note(f"{URL}{other}", USE, ItemRead({"value": "ham"}))
    known.note(f"{URL}c", USE, ItemRead({"value": "ham"}))
    assert len(known._memory._said) <= 3


def test_a_longer_copy_says_nothing_of_fields_of_others():
    known, copy = Elsewhere(), Copy(lambda: [HTML], OTHER)
    known.note(URL, USE, ItemRead({"name": "ham"}))
    assert [known.find(URL, USE, ItemRead({"name": name}), copy, identical=True) for name in ("ham", "burger", "wien")] == [
        None,
        "name",
        "name",
    ]
    assert known.find("http://a.test/of-another-process", USE, ItemRead({"name": "graz"}), _page(), identical=True) is None


@pytest.mark.parametrize("item", [{"ok": True, "sold": False, "day": date(2024, 1, 3)}, Scrapys(name="ham")])
def test_that_a_callback_downloads_may_be_known_later(item: Any):
    known = Elsewhere()
    known.note(URL, USE, ItemRead(item))
    known.downloads(USE)
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) is None


def test_a_copy_of_a_longer_copy_says_no_more():
    known = Elsewhere()
    known.note(URL, USE, ItemRead(_rows("ham")))
    found = [known.find(URL, USE, ItemRead(_rows("ham", "burger")), Copy(lambda: [HTML], OTHER), identical=True) for _ in range(2)]
    assert found == ["rows.value", None]
    assert known.may_lose(USE)


def test_a_date_of_its_address_makes_no_copy_fuller():
    assert _fuller({}, {"day": date(2026, 1, 2)}, url="http://a.test/2026/01/02/p") is None


def _fuller(first: dict[str, Any], second: dict[str, Any], *, url: str = OTHER) -> str | None:
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"url": URL, "title": "A hamburger"} | first))
    return known.find(URL, USE, ItemRead({"url": OTHER, "title": "A hamburger"} | second), Copy(lambda: [HTML], url), identical=False)


@pytest.mark.parametrize("empty", [{}, {"price": None}, {"price": ""}, {"price": []}, {"price": {}}])
@pytest.mark.parametrize(
    "value",
    [
        "8,350.50",
        8350.5,
        Decimal("8350.50"),
        ["Wien", "Graz"],
        f"{NOW:%Y-%m-%d}",
        NOW.date(),
        NOW,
        UUID(int=5),
        True,
        b"abc",
        "http://www.shop.test/",
        ["/1.png"],
    ],
)
def test_a_field_that_the_original_left_empty_is_one_that_the_copy_has_more(empty: dict[str, Any], value: Any):
    assert _fuller(empty, {"price": value}) == "price"
    assert _fuller({"price": "1,300"}, {"price": value}, url=VIEW) is None
    assert _fuller({"price": value}, empty) is None


def test_a_field_may_stand_in_another_one():
    assert _fuller({"facts": {"city": "Wien"}}, {"facts": {"city": "Wien", "next": "Graz"}}) == "facts.next"


@pytest.mark.parametrize(
    "more",
    [
        # What is no content, or of the address or the request.
        {"address": OTHER},
        {"is_new": False},
        {"raw": b""},
        {"number": "2"},
        {"number": 2},
        {"session": "P-2"},
        {"retry_times": 1},
        {"redirected": "Wien"},
        {"flags": ["Wien"]},
        {"referer_title": "Graz"},
        # Names that were made up for this page.
        {"seen": {"2026-11-26T02:18:17": "Wien"}},
        {"by": {"http://a.test/p/2": "Wien"}},
        {"by": {"what is this": "Wien"}},
    ],
)
def test_what_is_no_content_makes_no_copy_fuller(more: dict[str, Any]):
    assert _fuller({}, more) is None


def test_items_of_another_class_come_out_of_one_copy():
    @dataclass
    class Offer:
        title: str

    class Past(dict[str, Any]):
        """A dictionary, but of a class that a feed may take alone."""

    known, here = Elsewhere(), f"{Offer.__module__}:{Offer.__qualname__}".replace(".", ":").removesuffix("Offer")
    known.note(URL, USE, ItemRead({"title": "A hamburger"}))
    for item, name in ((Offer("A hamburger"), f"class {here}Offer"), (Past(title="A hamburger"), f"class {here}Past")):
        page = Copy(lambda: [HTML], OTHER)
        assert [known.find(URL, USE, ItemRead(item), page, identical=False) for _ in range(2)] == [name, name]
        assert known.find(URL, USE, ItemRead(item), Copy(lambda: [HTML], OTHER), identical=False) is None
    assert known.find(URL, USE, ItemRead({"title": "A hamburger"}), Copy(lambda: [HTML], OTHER), identical=False) is None


def test_all_items_of_a_fuller_copy_come_out_and_none_of_the_next_one():
    known, first, second = Elsewhere(), _page(), _page()
    known.note(URL, USE, ItemRead({"title": "A hamburger"}))
    burger, other = {"title": "A hamburger"}, {"title": "café"}
    items = [burger, burger | {"price": "1,300"}, other | {"price": "1,250.50"}, other]
    assert [known.find(URL, USE, ItemRead(item), first, identical=False) for item in items] == [None, "price", "price", "price"]
    assert [known.find(URL, USE, ItemRead(item), second, identical=False) for item in items] == [None] * 4
    assert known.may_lose(USE)


def test_of_an_original_that_nobody_knows_fields_count_for_which_others_came_out():
    known = Elsewhere()
    item = {"title": "A hamburger", "dish": "Bouillabaisse", "price": "1,300"}
    assert known.find("http://a.test/early", USE, ItemRead(item), _page(), identical=True) is None
    known.note(URL, USE, ItemRead({"title": "A hamburger", "dish": "Lasagne"}))
    assert known.find(URL, USE, ItemRead(item | {"price": None}), _page(), identical=True) == "dish"
    assert known.find("http://a.test/early", USE, ItemRead(item), _page(), identical=True) == "dish"
    assert known.find("http://a.test/early", USE, ItemRead(item | {"dish": "caf\u00e9"}), _page(), identical=True) is None
    assert known.find(URL, USE, ItemRead(item), _page(), identical=True) == "price"
    assert known.find("http://a.test/early", USE, ItemRead(item | {"dish": "caf\u00e9"}), _page(), identical=True) == "price"
    assert known.find("http://a.test/early", LATER, ItemRead(item), _page(), identical=True) is None
    assert known.find("http://a.test/early", USE, ItemRead({"title": "Lasagne"}), _page(), identical=True) is None


def test_fields_of_all_items_of_a_content_count():
    known = Elsewhere()
    for item in ({"title": "A hamburger"}, {"price": "1,300"}):
        known.note(URL, USE, ItemRead(item))
    assert known.find(URL, USE, ItemRead({"title": "A hamburger", "price": "8,350.50"}), _page(), identical=False) is None


def test_of_an_original_with_very_many_values_the_fields_are_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_VALUES", 40)
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"rows": [f"row {number}" for number in range(50)]}))
    assert known.find(URL, USE, ItemRead({"rows": [HTML[:20]]}), _page(), identical=True) is None
    assert known.find(URL, USE, ItemRead({"rows": ["Bouillabaisse"], "price": "1,300"}), _page(), identical=True) == "price"


def test_a_list_of_a_hundred_items_is_known():
    known, page = Elsewhere(), _page()
    items = [{f"field {field}": f"{_name(number)} {_name(field)}" for field in range(20)} for number in range(100)]
    for item in items:
        known.note(URL, USE, ItemRead(item))
    assert not any(known.find(URL, USE, ItemRead(item), page, identical=True) for item in items)
    assert known.find(URL, USE, ItemRead(items[0] | {"field 7": "Bouillabaisse"}), page, identical=True) == "field 7"


def _filed(item: dict[str, Any]) -> ItemRead:
    return ItemRead(item, ["file_urls"])


def test_a_file_that_only_the_copy_s_item_asks_for_is_no_part_of_the_original():
    known = Elsewhere()
    known.note(URL, USE, _filed({"file_urls": ["http://a.test/en/handbook.pdf", "http://a.test/download?edition=5"], "title": HTML[:20]}))
    for urls in (["http://b.test/files/handbook.pdf"], "http://b.test/get/download?edition=5", [], None):
        assert known.find(URL, USE, _filed({"file_urls": urls}), _page(), identical=True) is None
    assert known.find(URL, USE, _filed({"file_urls": ["http://a.test/download?edition=6"]}), _page(), identical=True) == "file_urls"
    known.note(URL, USE, _filed({"links": ["http://a.test/"]}))
    assert known.find(URL, USE, _filed({"links": ["http://a.test/download?edition=7"]}), _page(), identical=True) is None
    # A pipeline that comes later reads what can be read once only.
    once = iter(["http://a.test/download?edition=8"])
    known.note(OTHER, USE, _filed({"file_urls": once}))
    assert known.find(URL, USE, _filed({"file_urls": once, "title": HTML[:20]}), _page(), identical=True) is None
    assert list(once) == ["http://a.test/download?edition=8"]


def test_of_an_original_with_very_many_fields_nothing_is_known():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({f"field {number}": "x" for number in range(65)}))
    assert known.find(URL, USE, ItemRead({"price": "1,300"}), _page(), identical=True) is None


# ---- crawls


def _products(site: Site, number: int) -> None:
    """Add pages that have one text, and an API that has a product for each."""
    text = page(english(150))
    paths = [f"/p/{product}" for product in range(number)]
    site.add("/", hub(*paths))
    for product, path in enumerate(paths):
        site.add(path, text)
        answer = {"name": f"{_name(product)} {_name(product + 7)}", "price": product * 7.5 + 100}
        site.add(f"/api/{product}", json.dumps(answer), Content_Type="application/json")


def _name(number: int) -> str:
    return "".join("bcdfghklmn"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{number:03}").title()


@pytest.mark.parametrize("mode", MODES)
def test_items_that_an_api_gives_come_out(site: Site, mode: str) -> None:
    _products(site, 60)
    outcome = crawl(f"{SPIDERS}.OfApi", site.url("/"), mode=mode)
    assert len(outcome.paths("kept")) == 60
    assert outcome.stats["simcrawl/items/from_elsewhere"] == 59
    assert outcome.stats["simcrawl/pages/dropped"] == 59
    assert outcome.stats["finish_reason"] == "finished"
    assert outcome.log.count("but what it has as 'product.name' is in no item of that page") == 1
    assert not {"simcrawl/items/dropped", "simcrawl/errors", "log_count/WARNING", "log_count/ERROR"} & outcome.stats.keys()


def test_items_that_differ_in_a_number_alone_come_out(site: Site) -> None:
    _products(site, 60)
    assert len(crawl(f"{SPIDERS}.OfPrices", site.url("/")).paths("kept")) == 60


@pytest.mark.parametrize("asks", ["plainly", "with meta", "by replacing", "without callback"])
@pytest.mark.parametrize("kind", ["bool", "number", "date", "text"])
def test_short_values_that_an_api_gives_come_out(site: Site, kind: str, asks: str) -> None:
    paths = [f"/{branch}/p/{product}" for branch in ("north", "south") for product in range(20)]
    site.add("/", hub(*paths))
    for path in paths:
        site.add(path, page(english(150, seed=int(path.rpartition("/")[2]))))
        left = -1 if path.startswith("/north") else 29
        site.add(f"/api/{path.strip('/')}", json.dumps({"left": left}), Content_Type="application/json")
    outcome = crawl(f"{SPIDERS}.OfStock", site.url("/"), settings={"KIND": kind, "ASKS": asks})
    assert len(outcome.paths("kept")) == 40
    assert outcome.stats["simcrawl/pages/dropped"] == 20


def test_pages_that_are_likely_copies_are_not_skipped_then(site: Site) -> None:
    # By rules all but some twenty of the mirror's would not be fetched.
    paths = [f"/{folder}/p/{product}" for folder in ("a", "b") for product in range(80)]
    for path in paths:
        product = int(path.rpartition("/")[2])
        site.add(path, page(english(150, seed=product)))
    site.add("/", hub(*paths))
    skipped = crawl("Plain", site.url("/")).stats["simcrawl/predicted/skipped"]
    assert skipped > 20
    outcome = crawl(f"{SPIDERS}.OfMirrors", site.url("/"))
    assert len(outcome.paths("kept")) == 160
    assert "simcrawl/predicted/skipped" not in outcome.stats


def test_a_request_that_carries_data_is_not_skipped(site: Site) -> None:
    # A page that is left out would never be counted by a spider that yields one item of three pages, all with the same data.
    paths = [f"/{folder}/p/{product}" for folder in ("a", "b") for product in range(80)]
    for path in paths:
        site.add(path, page(english(150, seed=int(path.rpartition("/")[2]))))
    site.add("/", hub(*paths))
    carries = crawl(f"{SPIDERS}.OfMirrorsWithData", site.url("/"))
    assert len(site.requests) == 161
    assert len(carries.paths("kept")) == 80
    assert "simcrawl/predicted/skipped" not in carries.stats
    says_nothing = crawl(f"{SPIDERS}.OfMirrorsWithData", site.url("/"), settings={"SIMCRAWL_CARRIED_DATA": False})
    assert says_nothing.stats["simcrawl/predicted/skipped"] > 20


@pytest.mark.parametrize("takes", ["link_text", "cookiejar"])
def test_items_that_say_what_a_link_or_a_cookie_jar_is_called_come_out(site: Site, takes: str) -> None:
    links = "".join(f"<p><a href=/p/{number}>{_name(number)} {_name(number + 7)}</a></p>" for number in range(40))
    site.add("/", f"<html><body>{links}</body></html>")
    for number in range(40):
        site.add(f"/p/{number}", page(english(150)))
    outcome = crawl(f"{SPIDERS}.OfLinks", site.url("/"), settings={"OF_LINKS_TAKES": takes})
    assert len(outcome.paths("kept")) == 40
    assert outcome.stats["simcrawl/items/from_elsewhere"] == 39


def test_items_come_out_whole_where_a_page_for_printing_came_first(site: Site, tmp_path: Path) -> None:
    for number in range(40):
        text = f"<h1>{_name(number)}</h1>{english(60, seed=number)}"
        site.add(f"/print/{number}", page(f"{text}\n<p>It costs {number + 100} EUR"))
        for folder in ("p", "mirror"):
            site.add(f"/{folder}/{number}", page(f"{text}\n<p>It costs <b class=price>{number + 100} EUR</b>"))
    # The mirror only when there are pages to be copies of.
    site.add("/", hub(*[f"/print/{number}" for number in range(40)], "/more/1"))
    site.add("/more/1", f"<p>1</p>{hub(*[f'/p/{number}' for number in range(40)], '/more/2')}")
    site.add("/more/2", f"<p>2</p>{hub(*[f'/mirror/{number}' for number in range(40)])}")
    feed = tmp_path / "items.json"
    outcome = crawl(f"{SPIDERS}.OfShop", site.url("/"), settings={"SIMCRAWL_SKIP": False, "FEEDS": {str(feed): {"format": "json"}}})
    prices = [item["price"] for item in json.loads(feed.read_text()) if item["price"]]
    assert sorted(prices) == sorted(f"{number + 100} EUR" for number in range(40))
    # Some pages may have come before their views for printing.
    assert outcome.stats["simcrawl/items/fuller"] >= 10
    assert outcome.stats["simcrawl/items/dropped"] + outcome.stats["simcrawl/items/fuller"] == 80
    assert "but what it has as 'price' is in no item of that page" in outcome.log


@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("spider", ["OfTables", "OfRows"])
def test_tables_that_a_page_for_printing_gives_in_part_come_out_whole(site: Site, tmp_path: Path, spider: str, place: int) -> None:
    """`place`: which row the page for printing gives."""
    rows = {number: [f"{_name(number)} {_name(100 * row + number)}" for row in range(5)] for number in range(20)}
    for number, listed in rows.items():
        text = f"<h1>{_name(number)}</h1><p>{english(120, seed=number)}</p>"
        marked = ["<p class=row>" if at == place else "<p>" for at in range(5)]
        site.add(f"/print/{number}", page(text + "".join(f"{mark}{row}</p>" for mark, row in zip(marked, listed, strict=True))))
        site.add(f"/p/{number}", page(text + "".join(f"<p class=row>{row}</p>" for row in listed)))
    site.add("/", hub(*(f"/{folder}/{number}" for folder in ("print", "p") for number in rows)))
    feed = tmp_path / "rows.json"
    outcome = crawl(f"{SPIDERS}.{spider}", site.url("/"), settings={"FEEDS": {str(feed): {"format": "json"}}})
    items = json.loads(feed.read_text())
    assert {row["row"] for item in items for row in item.get("rows", [item])} == {row for listed in rows.values() for row in listed}
    assert len(items) == {"OfTables": 40, "OfRows": 100}[spider]
    assert outcome.stats["simcrawl/items/fuller"] == {"OfTables": 20, "OfRows": 80}[spider]


def test_items_that_say_what_no_reader_sees_come_out(site: Site) -> None:
    for number in range(40):
        rating = ("one", "two", "three", "four")[number % 4]
        text = page(f"<p class='stars {rating}' data-number='{number + 10_000}'>{english(150)}</p>")
        site.add(f"/p/{number}", text)
        site.add(f"/mirror/{number}", text)
    site.add("/", hub(*[f"/p/{number}" for number in range(40)], "/more"))
    site.add("/more", f"<p>1</p>{hub(*[f'/mirror/{number}' for number in range(40)])}")
    outcome = crawl(f"{SPIDERS}.OfAttributes", site.url("/"))
    assert len({path.rpartition("/")[2] for path in outcome.paths("kept")}) == 40
    assert outcome.stats["simcrawl/items/from_elsewhere"] >= 39
    assert "but what it has as 'sku' is in no item of that page" in outcome.log


@pytest.mark.parametrize("kind", ["lists", "rows"])
def test_states_that_the_mark_up_of_one_text_says_come_out_once(site: Site, tmp_path: Path, kind: str) -> None:
    # The mirror's pages have another body each, and say the same.
    flats = {flat: [(flat >> day & 1) ^ (day % 2) for day in range(12)] for flat in range(0, 4000, 100)}
    for flat, days in flats.items():
        cells = " ".join(f"<i class={('booked', 'free')[is_free]}>{day + 1}</i>" for day, is_free in enumerate(days))
        for folder in ("months", "mirror"):
            site.add(f"/{folder}?flat={flat}", page(f"<p class={folder}>{cells}</p>{english(150)}"))
    site.add("/", hub(*[f"/months?flat={flat}" for flat in flats], "/more"))
    site.add("/more", f"<p>1</p>{hub(*[f'/mirror?flat={flat}' for flat in flats])}")
    feed = tmp_path / "items.json"
    outcome = crawl(f"{SPIDERS}.OfStates", site.url("/"), settings={"KIND": kind, "FEEDS": {str(feed): {"format": "json"}}})
    items = json.loads(feed.read_text())
    places = {(int(item["flat"]), day): day in item["free"] for item in items if "free" in item for day in range(1, 13)}
    places |= {(int(item["flat"]), int(item["day"])): item["status"] == "free" for item in items if "day" in item}
    assert places == {(flat, day): bool(is_free) for flat, days in flats.items() for day, is_free in enumerate(days, 1)}
    # A page and its mirror may be looked at together.
    assert len(items) <= {"lists": 1, "rows": 12}[kind] * len(flats) * 1.2
    assert outcome.stats["simcrawl/items/from_elsewhere"] >= len(flats) - 1
    assert "log_count/ERROR" not in outcome.stats


def test_items_that_are_joined_on_the_spider_come_out(site: Site) -> None:
    titles = [f"{_name(number)} {_name(number + 7)} {_name(number + 13)}" for number in range(60)]
    for number, title in enumerate(titles):
        variants = [f"/v/{number}/{colour}" for colour in ("red", "blue")]
        site.add(f"/q/{number}", page(f"{english(150, seed=number)}<h1>{title}</h1>", links=tuple(variants)))
        for place, path in enumerate(variants):
            size = (2 * number + place) % 5
            site.add(path, page(f"<h2>size {size}</h2>{english(150, seed=1000 + size)}"))
    site.add("/", hub(*[f"/q/{number}" for number in range(60)]))
    outcome = crawl(f"{SPIDERS}.OfVariants", site.url("/"))
    assert outcome.paths("kept") == sorted(f"product:{title}" for title in titles)
    assert outcome.stats["simcrawl/items/from_elsewhere"] >= 50
    assert "simcrawl/items/dropped" not in outcome.stats


PLACES = ("Leeds old town", "York city walls", "Hull marina side")
VARIANTS = {
    str(4000 + 10 * place): {
        "colour": colour,
        "size": size,
        "note": f"The {colour} one in {size} is made of {_name(place)}",
        "leaves": f"{place + 8:02}:{place * 7 + 3:02}",
        "day": f"2026-0{place + 1}-1{place}",
        "stock": 137 + 31 * place,
        "start": PLACES[place // 3],
        "end": f"{PLACES[place % 3]} station",
    }
    for place, (colour, size) in enumerate(combined(("red", "blue", "green"), ("XS", "S", "XL")))
}


@pytest.mark.parametrize("kind", ["colour size", "colour size note", "note", "leaves", "day", "stock", "start end"])
def test_rows_of_one_page_that_its_addresses_name_come_out_once_each(site: Site, tmp_path: Path, kind: str) -> None:
    """Two values may be those of two other rows, and only together be those of this one."""
    rows = "".join(
        f"<tr id=v{number}>{''.join(f'<td class={name}>{text}</td>' for name, text in variant.items())}</tr>"
        for number, variant in VARIANTS.items()
    )
    paths = [f"/{shirt}?variant={number}" for shirt in ("shirt", "coat") for number in VARIANTS]
    site.add("/", hub(*paths, *[f"/again{path}" for path in paths]))
    for path in paths:
        body = page(f"<table>{rows}</table>{english(150, seed=len(path.partition('?')[0]))}")
        site.add(path, body)
        site.add(f"/again{path}", body)
    feed = tmp_path / "items.json"
    outcome = crawl(f"{SPIDERS}.OfVariantsShown", site.url("/"), settings={"KIND": kind, "FEEDS": {str(feed): {"format": "json"}}})
    names = kind.split()
    items = [tuple(item[name] for name in names) for item in json.loads(feed.read_text()) if names[0] in item]
    assert {*items} == {tuple(variant[name] for name in names) for variant in VARIANTS.values()}
    # Pages in work at one moment may not know of each other.
    assert len(items) < 1.5 * 2 * len(VARIANTS)
    assert "log_count/ERROR" not in outcome.stats


def test_items_that_say_how_they_were_fetched_are_dropped(site: Site) -> None:
    _products(site, 250)
    outcome = crawl(f"{SPIDERS}.Noting", site.url("/"))
    assert len(outcome.paths("kept")) == 1
    assert "simcrawl/items/from_elsewhere" not in outcome.stats


def test_items_that_cannot_be_read_are_dropped(site: Site) -> None:
    _products(site, 20)
    outcome = crawl(f"{SPIDERS}.Unreadable", site.url("/"))
    assert len(outcome.paths("kept")) == 1
    assert outcome.stats["simcrawl/items/dropped"] == 19
    assert outcome.stats["simcrawl/errors"] >= 1
    assert outcome.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("action", ["observe", "drop-links"])
def test_where_no_items_are_dropped_none_are_remembered(site: Site, action: str) -> None:
    _products(site, 20)
    outcome = crawl(f"{SPIDERS}.Unreadable", site.url("/"), settings={"SIMCRAWL_ACTION": action})
    assert len(outcome.paths("kept")) == 20
    assert "simcrawl/errors" not in outcome.stats
