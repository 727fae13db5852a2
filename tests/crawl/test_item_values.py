from __future__ import annotations

from copy import deepcopy
from datetime import date
from gc import collect
from typing import Any
from weakref import ref

import pytest
from itemadapter import ItemAdapter
from itemadapter.adapter import DictAdapter
from scrapy import Field, Item

from simcrawl.crawl.item_values import FILLED, ItemRead, texts_in


class Boat(Item):
    name = Field()
    crew = Field()


class Counted(dict[str, Any]):
    """How often its fields are walked through, or that this fails."""

    times, fails = 0, False

    def items(self) -> Any:
        if self.fails:
            raise RuntimeError
        self.times += 1
        return super().items()


def _read(item: Any, *files: str) -> ItemRead:
    read = ItemRead(item, files)
    read.read()
    return read


def test_values_have_the_names_under_which_they_stand() -> None:
    item = {
        "name": "Ann",
        "crew": [{"age": 30}, {"age": 31}],
        "url": "//a.test",
        "sold": False,
        "old": True,
        "day": date(2026, 5, 1),
    }
    read = _read(item)
    assert read.is_item
    assert read.values == [("name", "Ann"), ("crew.age", 30), ("crew.age", 31)]
    assert read.beside == [("url", "//a.test"), ("sold", False), ("old", FILLED), ("day", "2026-05-01")]
    assert read.facts == read.beside[1:]
    assert read.all_seen
    assert read.by_field() == {"name": ["Ann"], "crew.age": [30, 31], "sold": [False], "old": [FILLED], "day": ["2026-05-01"]}


@pytest.mark.parametrize("most", [197, 198, 199, 200, 201, 1_000])
def test_of_a_long_item_the_first_values_are_seen(most: int) -> None:
    # The item is one, and its list.
    read = _read({"rows": list(range(most))})
    assert read.values == [("rows", number) for number in range(min(most, 198))]
    assert read.all_seen == (most <= 198)


def test_an_item_that_holds_itself_is_seen_in_part() -> None:
    item: dict[str, Any] = {"name": "Ann"}
    item["self"] = [item, item]
    read = _read(item)
    assert {value for _, value in read.values} == {"Ann"}
    assert not read.all_seen


@pytest.mark.parametrize(("item", "rows"), [({"a": 1, "b": "", "c": None}, 1), ({"a": [{"x": 1}, {"x": 2}], "b": ["p", "q"]}, 3)])
def test_how_much_an_item_lists(item: dict[str, Any], rows: int) -> None:
    assert _read(item).rows == rows


def test_an_item_of_a_class_is_read_as_a_dictionary_is_and_has_its_class() -> None:
    boat = Boat(name="Ann", crew=[1, 2])
    assert texts_in(boat) == ["Ann", "1", "2"]
    read = _read(boat)
    assert read.rows == 2
    assert read.beside == [("class tests:crawl:test_item_values:Boat", FILLED)]
    assert _read({}).beside == []


def test_files_are_called_by_their_names_and_not_by_where_they_are() -> None:
    one, other = ({"file_urls": [f"https://{host}.test/files/plan.pdf?v=1"]} for host in "ab")
    assert _read(one, "file_urls").files == _read(other, "file_urls").files != []
    assert _read({"file_urls": "https://a.test/x.pdf", "other": []}, "file_urls", "other").files != []


@pytest.mark.parametrize("value", ["Ann", 7, None, True, ["Ann"], {"Ann"}, b"Ann"])
def test_what_is_no_item_is_not_read(value: Any) -> None:
    read = _read(value)
    assert not read.is_item
    assert not hasattr(read, "values")


def test_an_item_is_read_once_and_only_if_somebody_asks() -> None:
    item = Counted(name="Ann", file_urls=["http://a.test/1.pdf"])
    read = ItemRead(item, ["file_urls"])
    assert item.times == 0
    read.read()
    read.read()
    assert item.times == 1


def test_an_item_says_what_it_said_when_it_was_read() -> None:
    crew = [{"age": 30}]
    item = {"name": "Ann", "crew": crew, "sold": False, "file_urls": ["http://a.test/1.pdf"]}
    read, before = _read(item, "file_urls"), _read(deepcopy(item), "file_urls")
    item["name"], item["sold"], item["file_urls"], item["files"] = "Bea", True, [], ["1.pdf"]
    crew.append({"age": 31})
    read.read()
    for name in ("values", "beside", "facts", "files", "rows", "all_seen"):
        assert getattr(read, name) == getattr(before, name)
    assert read.by_field() == before.by_field()


def test_an_item_that_is_read_is_held_no_longer() -> None:
    boat = Boat(name="Ann")
    gone, read = ref(boat), _read(boat)
    del boat
    collect()
    assert gone() is None
    assert read.values == [("name", "Ann")]


def test_an_item_that_cannot_be_read_is_read_anew_for_the_next_one_that_asks() -> None:
    item = Counted(name="Ann")
    item.fails = True
    read = ItemRead(item)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            read.read()
    item.fails = False
    read.read()
    assert read.values == [("name", "Ann")]


class OfOneKind(DictAdapter):
    """An adapter of a project's own, which looks at what only its own items have."""

    @classmethod
    def is_item(cls, item: Any) -> bool:
        return bool(item.kind)


def test_what_raises_when_it_is_asked_for_raises_only_where_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """There it is caught; a spider may yield what simcrawl knows nothing of."""
    monkeypatch.setattr(ItemAdapter, "ADAPTER_CLASSES", [OfOneKind])
    read = ItemRead(object())
    with pytest.raises(AttributeError, match="kind"):
        read.read()
    with pytest.raises(AttributeError, match="kind"):
        assert read.is_item
