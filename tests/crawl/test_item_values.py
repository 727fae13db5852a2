from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from scrapy import Field, Item

from simcrawl.crawl.item_values import FILLED, by_field, class_of, files_in, rows_of, texts_in, values_in


class Boat(Item):
    name = Field()
    crew = Field()


def test_values_have_the_names_under_which_they_stand() -> None:
    beside: list[tuple[str, Any]] = []
    item = {
        "name": "Ann",
        "crew": [{"age": 30}, {"age": 31}],
        "url": "//a.test",
        "sold": False,
        "old": True,
        "day": date(2026, 5, 1),
    }
    values, all_seen = values_in(item, beside)
    assert values == [("name", "Ann"), ("crew.age", 30), ("crew.age", 31)]
    assert beside == [("url", "//a.test"), ("sold", False), ("old", FILLED), ("day", "2026-05-01")]
    assert all_seen
    assert by_field(values, beside) == {"name": ["Ann"], "crew.age": [30, 31], "sold": [False], "old": [FILLED], "day": ["2026-05-01"]}


def test_of_a_long_item_the_first_values_are_seen() -> None:
    values, all_seen = values_in({"rows": list(range(1_000))}, [])
    assert len(values) < 1_000
    assert not all_seen


@pytest.mark.parametrize(("item", "rows"), [({"a": 1, "b": "", "c": None}, 1), ({"a": [{"x": 1}, {"x": 2}], "b": ["p", "q"]}, 3)])
def test_how_much_an_item_lists(item: dict[str, Any], rows: int) -> None:
    assert rows_of(item) == rows


def test_an_item_of_a_class_is_read_as_a_dictionary_is_and_has_its_class() -> None:
    boat = Boat(name="Ann", crew=[1, 2])
    assert texts_in(boat) == ["Ann", "1", "2"]
    assert rows_of(boat) == 2
    assert class_of({}) == []
    assert class_of(boat) == [("class tests:crawl:test_item_values:Boat", FILLED)]


def test_files_are_called_by_their_names_and_not_by_where_they_are() -> None:
    one, other = ({"file_urls": [f"https://{host}.test/files/plan.pdf?v=1"]} for host in "ab")
    assert files_in(one, ["file_urls"]) == files_in(other, ["file_urls"]) != []
    assert files_in({"file_urls": "https://a.test/x.pdf", "other": []}, ["file_urls", "other"]) != []
