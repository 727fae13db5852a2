"""One form of values that are written in several ways, and values that are never one."""

from __future__ import annotations

from itertools import combinations

import pytest

from simcrawl.crawl.copied import Copy
from simcrawl.crawl.elsewhere import Elsewhere
from simcrawl.crawl.item_values import ItemRead
from simcrawl.crawl.written import one_form
from tests.crawl.test_otherwise import OTHER, URL, USE

MARCH = [
    *("2026-03-12", "2026/3/12", "12.03.2026", "12. 3. 2026", "12 March 2026", "12th of March, 2026", "12-Mar-2026", "March 12th, 2026"),
    *("Thu, 12 Mar 2026", "12. M\xe4rz 2026", "jeudi 12 mars 2026", "12 de marzo de 2026", "2026\u5e743\u670812\u65e5", "12\xa0MARCH 2026"),
]
PRICES = ["EUR 1299", "1,299.00 \u20ac", "1.299,00 \u20ac", "\u20ac1299.0", "1\xa0299,00\u202f\u20ac", "1'299 EUR"]


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("2026-03-12", MARCH),
        ("2026-03-13", ["13/03/2026", "03/13/2026", "13-03-2026"]),
        ("2026-05-05", ["05/05/2026", "5 May 2026"]),
        ("2026-03-12 14:30", ["12 March 2026, 14:30", "2026-03-12T14:30:00", "Thursday 12 March 2026 2:30 p.m.", "12.03.2026 - 14:30"]),
        ("2026-03-12 00:30:05", ["2026-03-12 00:30:05", "2026-03-12 12:30:05 AM"]),
        ("EUR 1299", PRICES),
        ("EUR 1299000", ["1,299,000 \u20ac", "1299000 EUR"]),
        ("GBP 12.5", ["\xa312.50", "12.5 GBP", "GBP 12,50"]),
        ("$ 12", ["$12", "12.00 $"]),
        ("USD 12", ["US$12", "USD 12.00"]),
        ("1299.50", ["1,299.50", "1.299,50", "1299.50"]),
        ("walnut desk", ["Walnut Desk", "WALNUT DESK", "walnut\xadDesk".replace("t\xadD", "t d"), "Walnut desk.", "Value: Walnut desk"]),
        ('field of "gold" - it\'s', ["\ufb01eld of \u201cgold\u201d \u2013 it\u2019s", "Field  of \xabgold\xbb - it's"]),
        ("12", ["Value: 12", "value : 12", "\uff11\uff12"]),
    ],
)
def test_ways_to_write_one_value(form: str, written: list[str]):
    assert {one_form("of.value", text) for text in written} == {form}
    assert one_form("value", form) == form


@pytest.mark.parametrize(
    "values",
    [
        ["03/04/2026", "04/03/2026", "3 April 2026", "4 March 2026"],
        ["12.03.26", "12 March 2026", "26 March 2012"],
        ["1.299 \u20ac", "1,299 \u20ac", "1299 \u20ac", "\u20ac 1.30"],
        ["1,299", "1.299", "1299", "1299.00"],
        ["$12", "CAD 12", "USD 12", "AUD 12", "\u20ac12", "\xa312", "12", "-12 \u20ac", "$12 USD", "ABC 12", "KR$ 12"],
        ["1.10", "1.1", "1.01"],
        ["1 299.50", "1299.50"],
        ["1,299,500.5", "1.299.5"],
        ["m", "M"],
        ["10 mW", "10 MW"],
        ["Carbon from Co compounds", "Carbon from CO compounds"],
        ["getName of thing", "getname of thing"],
        ["polish", "Polish"],
        ["10\xb2 beds", "102 beds"],
        ["Thursday, 12 March 2026", "Friday, 12 March 2026", "Someday 12 March 2026"],
        [
            "2026-03-12",
            "2026-03-12T14:30",
            "2026-03-12T14:30+01:00",
            "2026-03-12T14:30Z",
            "2026-03-12 2:30",
            "2026-03-12 25:30",
            "2026-03-12 14:30 pm",
        ],
        ["31 February 2026", "3 March 2026", "2026-02-31", "32/13/2026"],
        ["12 listopada 2026", "12 October 2026", "12 November 2026"],
        ["Adults: 2", "Children: 2", "2"],
        ["Really?", "Really!", "Really", "Really..."],
        ["No.", "No"],
        ["Das Ma\xdfe", "Das Masse"],
        ["00 \u20ac", "0 \u20ac"],
    ],
)
def test_two_values_are_never_one(values: list[str]):
    assert [pair for pair in combinations(values, 2) if one_form("value", pair[0]) == one_form("value", pair[1])] == []


def test_a_long_text_is_left():
    text = "WALNUT DESK " * 30
    assert one_form("value", text) is text
    assert one_form("value", f"{'x' * 70} 12.") == f"{'x' * 70} 12."


@pytest.mark.parametrize(
    ("first", "value", "comes_out"),
    [
        ("12 March 2026", "2026-03-12", False),
        ("13 March 2026", "2026-03-12", True),
        ("1,299.00 \u20ac", "EUR 1299", False),
        ("1,299.00 \u20ac", "GBP 1299", True),
        (["12 March 2026", "5 May 2026"], ["2026-03-12", "2026-05-05"], False),
        (["2026-03-12", "2026-05-06"], ["2026-03-12", "2026-05-05"], True),
        (["14:00", "14:30"], ["14:00", "14:50"], True),
    ],
)
def test_a_view_that_writes_a_value_otherwise_says_nothing_new(first: str | list[str], value: str | list[str], comes_out: bool):
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"value": first}))
    shown = "</p><p>".join([value] if isinstance(value, str) else value)
    copy = Copy(lambda: [f"<p>{shown}</p>"], OTHER)
    assert (known.find(URL, USE, ItemRead({"value": value}), copy, identical=False) is not None) == comes_out
