"""Numbers and signs that may name a page."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcrawl.page import numerals
from simcrawl.page.common_words import factors
from simcrawl.page.vocabulary import words


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("Port 8080 - Arbonet", ["8080"]),
        ("47.3704, -8.5400", ["47.3704", "-8.5400"]),
        ("UTC+05:30", ["+05:30"]),
        ("978-0-123", ["978", "0", "123"]),
        ("Product 4711", ["4711"]),
        ("Boats, page 2 of 17: 1912", ["1912"]),
        ("Boats (2)", []),
        ("93 results", []),
        ("5 May 2026, room 512", ["512"]),
        ("A320, 64-bit, 5G", []),
        ("Boats", []),
    ],
)
def test_the_numbers_of_a_title_but_for_those_of_lists_and_days(title: str, told: list[str]):
    assert numerals.in_title(title) == told


@pytest.mark.parametrize(
    ("url", "numbers"),
    [
        ("http://a.test/12/port-8080", {"8080"}),
        ("http://a.test/r/12.50", {"12.50"}),
        ("http://a.test/r/%2D47.37_08.54/", {"47.37", "8.54"}),
        ("http://a.test/r?port=0080&page=7;v=3", {"80"}),
        ("http://1.test:8080/a", set()),
        ("", set()),
    ],
)
def test_the_numbers_of_an_address_are_those_of_its_end_and_of_its_query(url: str, numbers: set[str]):
    assert numerals.in_address(url, "") == numbers


@pytest.mark.parametrize(
    "line",
    [
        *["A320", "pkcs12", "#FF8800", "#008800", "U+0600", "C6H12O6", "SW1A 2AA", "x86_64", "1:23.456", "utc-3:30"],
        *["10.1.2.3", "3f:12:30:9a", "978-0-123-45678-9", "+44 20 7123 4567", "47.37041", "45\xb0 12' N"],
    ],
)
def test_what_has_letters_with_its_digits_or_is_written_as_a_code_is_one(line: str):
    assert numerals.codes(line.casefold())
    assert numerals.codes(f"It is {line} here.".casefold())


def test_a_number_of_a_request_is_a_code_only_where_the_page_is_called_by_it():
    for token in ("550e8400-e29b-41d4", "9f8e7d6c5b4a", "x7Kd93hfQpLm2Vz8"):
        assert not numerals.codes(f"request {token}".casefold(), "boats /r/17")
        assert numerals.codes(f"request {token}".casefold(), f"boats /r/{token}".casefold())
    for line in ("your address is 203.0.113.7", "served by cache-fra12345-fra", "posted by web07"):
        assert not numerals.codes(line)


@pytest.mark.parametrize(
    "heading", ["10:23", "12 Nov", "12.11.", "12.11", "17.3.", "17.03", "12/1", "-40%", "12°C", "345 Kommentare", "Join 4711 subscribers"]
)
def test_headings_of_times_shares_and_counters_are_no_names(heading: str):
    assert numerals.changes(heading)
    assert not numerals.may_be_a_name(heading)


@pytest.mark.parametrize("label", ["Likes", "In stock", "Aufrufe", "Просмотров", "Nov", "购物车", "Visitors"])
def test_boxes_that_count_are_no_label_and_number(label: str):
    assert not numerals.are_label_and_number(label, "123")
    assert numerals.are_label_and_number("Decimal", "123")


@pytest.mark.parametrize(
    "line",
    [
        *["4711", "12,400", "3.5", "3rd", "12k", "1.2M", "10pm", "5min", "v2", "v1.2.3", "1.2.3", "12:30", "0:45:12", "12/05/2026"],
        *["2026-05-12", "12-05-2026", "2026-05-12T10:00:00Z", "20260512T1000Z", "10-20", "80 %", "12 \xb0C", "Views: 93"],
    ],
)
def test_counters_measures_times_and_releases_are_no_codes(line: str):
    assert numerals.codes(f"It is {line} here.".casefold()) == []


def test_signs_are_symbols_but_for_punctuation():
    assert all(map(numerals.is_a_symbol, ["\U0001f400", "\u2605\u2605\u2606", "\u2801", " \u2592"]))
    assert not any(map(numerals.is_a_symbol, ["\xbb", "\u2026", "+", "*", "\u2605 4", "Ann \u2605", ""]))


@pytest.mark.parametrize(
    ("heading", "may_be"),
    [
        *[("8080/tcp", True), ("3\u20132", True), ("45\xb0 12' N", True), ("\u20ac 12.50", True), ("UTC+05:30", True)],
        *[("17.3", True), ("30.5 kg", True), ("Boats 12", False), ("2026", False), ("5 hits", False)],
        *[("C#", False), ("3 in your cart", False)],
    ],
)
def test_a_heading_that_is_a_number_may_be_a_name(heading: str, may_be: bool):
    assert numerals.may_be_a_name(heading) is may_be


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        ([("USD", "1.08"), ("GBP", "0.85")], 0),
        ([("Currency", "Rate"), ("USD", "1.0837"), ("GBP", "0.85")], 1),
        ([("Today", "12 \xb0C"), ("Rain", "80 %")], 0),
        ([("Country", "Norway"), ("Region", "7"), ("Latitude", "59.91"), ("Longitude", "10.75")], 4),
        ([("Latitude", "59.91273"), ("Longitude", "10.74609")], 2),
        ([("Price", "12.50"), ("State", "new")], 2),
        ([("Host", "10.1.2.3"), ("Release", "1.2.3"), ("Earned", "$40,000"), ("At", "45\xb0 12'")], 4),
        ([], 0),
    ],
)
def test_of_a_table_of_rates_its_head_alone_is_left(table: list[tuple[str, ...]], kept: int):
    assert len([*numerals.but_for_rates(table)]) == kept


@given(st.text(st.sampled_from("019.-+:,_# aZ\xb0\u4e00\U0001f400"), max_size=60))
def test_any_text_can_be_asked(text: str):
    own = numerals.plain(numerals.in_title(text))
    assert {*numerals.plain(numerals.said_in(text, own))} <= own
    assert numerals.replaced(text, {}) == text
    numerals.codes(text)
    numerals.in_address(f"http://a.test/{text}", text)


def test_no_common_word_is_of_a_list_but_those_of_the_vocabulary():
    """A stem or a single Han letter would be: "文件" is a file, and no piece."""
    assert [word for word in factors() if numerals.IN_A_LIST.search(word) and word not in words("of a list")] == []


@pytest.mark.parametrize(
    "heading",
    [
        *(
            "Page 7",
            "News \u2013 page 7 of 12",
            "Sida 7",
            "Seite 7",
            "Seite 7 von 12",
            "\u0421\u0442\u0440\u0430\u043d\u0438\u0446\u0430 7",
        ),
        *("Sayfa 7", "7. oldal", "\u7b2c7\u9875", "\u30da\u30fc\u30b8 7", "\u0e2b\u0e19\u0e49\u0e32 7", "\u0635\u0641\u062d\u0629 7"),
        *("Post 7 does not exist", "Log in to see topic 7", "Beitrag 7 existiert nicht", "Le sujet 7 n\u2019existe pas"),
        *("\u0422\u0435\u043c\u0430 7 \u043d\u0435 \u043d\u0430\u0439\u0434\u0435\u043d\u0430", "\u5e16\u5b507\u4e0d\u5b58\u5728"),
        "\u0e44\u0e21\u0e48\u0e1e\u0e1a\u0e2b\u0e31\u0e27\u0e02\u0e49\u0e2d 7",
    ],
)
def test_pages_of_lists_and_what_is_not_there_have_no_number_of_their_own(heading: str) -> None:
    assert numerals.is_of_no_page(heading, "https://a.test/posts/7")


@pytest.mark.parametrize(
    ("heading", "url", "is_of_none"),
    [
        ("House 4041 does not exist", "https://a.test/houses/aldby/", False),
        ("House 4041 does not exist", "https://a.test/houses/4041/", True),
        ("House 4,041 does not exist", "https://a.test/houses/4041/view", True),
        ("Tile 7 (no longer available)", "https://a7.test/tiles/amber", False),
        ("Post 7 does not exist", "https://a.test/forum?t=007", True),
        ("Page 7", "https://a.test/list", True),
    ],
)
def test_a_number_of_what_is_not_there_is_a_name_unless_the_address_has_it(heading: str, url: str, is_of_none: bool) -> None:
    assert numerals.is_of_no_page(heading, url) is is_of_none


@pytest.mark.parametrize(
    ("heading", "apart"),
    [
        ("\u6587\u7ae07\u4e0d\u5b58\u5728", "\u6587\u7ae0 7 \u4e0d\u5b58\u5728"),
        ("\u62b1\u6b49\uff0c\u6ca1\u6709\u627e\u5230\u5546\u54c17", "\u62b1\u6b49\uff0c\u6ca1\u6709\u627e\u5230\u5546\u54c1 7 "),
        ("\u8a18\u4e8b17\u306f\u5b58\u5728\u3057\u307e\u305b\u3093", "\u8a18\u4e8b 17 \u306f\u5b58\u5728\u3057\u307e\u305b\u3093"),
        ("\uae00 7\uc744 \ucc3e\uc744 \uc218 \uc5c6\uc2b5\ub2c8\ub2e4", "\uae00  7  \ucc3e\uc744 \uc218 \uc5c6\uc2b5\ub2c8\ub2e4"),
        *((heading, heading) for heading in ("\u623f\u95f47", "7\ubc88 \ubc29", "\u90e8\u5c4b7", "Post 7 not found")),
    ],
)
def test_numbers_that_touch_words_are_set_apart_where_something_is_not_there(heading: str, apart: str):
    assert numerals.apart(heading, "https://a.test/posts?id=7&of=17") == apart
    assert numerals.apart(heading, "https://a.test/posts/a") == heading


@pytest.mark.parametrize(
    "heading",
    [
        *("Room 7", "Lot 512", "Homepage 7", "Page Street 7", "Sidan 7 meter bred", "Page seven", "Login node 7", "Petition 7 denied"),
        *(
            "Theorem 7: such a group does not exist",
            "Exercise 7. Prove that it does not exist",
            "Platform 7 is closed",
            "House 7 no longer exists",
            "How to log in to node 7",
            "Lost and found 7",
        ),
        # What a place has not, and what cannot be done there.
        *("7番出口にエレベーターはありません", "7号車には車椅子スペースがありません", "7호선에는 급행 열차가 없습니다"),
        *("7층 회의실은 주말에 사용할 수 없습니다", "7号公共汽车不见了", "問7の答えは一つではありません"),
    ],
)
def test_other_headings_with_a_number_may_be_names(heading: str) -> None:
    assert not numerals.is_of_no_page(heading, "https://a.test/posts/7")


def test_what_a_number_is_of_stays_a_word_where_they_touch() -> None:
    for heading, made in (
        ("게시물 7을 찾을 수 없습니다", "게시물  7  찾을 수 없습니다"),
        ("7동은 찾을 수 없습니다", " 7 동은 찾을 수 없습니다"),
    ):
        assert numerals.apart(heading, "https://a.test/posts/7") == made
