"""What is remembered of the items of contents."""

from __future__ import annotations

from typing import Any

import pytest

from simcrawl.crawl.item_values import FILLED, ItemRead
from simcrawl.crawl.said import Memory, Said, Together, field_digest, page_number, state_digest, tells_apart, value_digest

URL, OTHER, USE, LATER = "http://a.test/p/1", "http://a.test/p/2", "spider.parse", "spider.parse_more"


def _of(memory: Memory, url: str = URL, use: str = USE) -> Said:
    said = memory.of(url, use)
    assert said
    return said


def _values(said: Said) -> list[int]:
    assert said.values is not None
    return sorted(said.values)


def _memory(*items: dict[str, Any]) -> Memory:
    memory = Memory()
    for item in items:
        memory.note(URL, USE, ItemRead(item, ["file_urls"]))
    return memory


def test_values_fields_rows_and_states_are_known_by_content_and_callback():
    memory = _memory({"name": "Ann", "age": 30, "url": URL, "sold": False}, {"name": "Ann", "age": 31})
    said = _of(memory)
    assert memory.of(OTHER, USE) is None
    assert memory.of(URL, LATER) is None
    assert _values(said) == sorted(
        {value_digest("name", "Ann"), value_digest("age", 30), value_digest("age", 31), value_digest("sold", value=False)}
    )
    assert said.filled() == {field_digest(key) for key in ("name", "age", "url", "sold")}
    assert said.rows == 6
    assert said.states is not None
    states = [state_digest("name", ["Ann"]), state_digest("age", [30]), state_digest("sold", [False])]
    assert said.states.tolist() == [1, *states, 0, 1, states[0], state_digest("age", [31]), 0]


def test_each_value_is_held_once_whichever_contents_come_between(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_SETS", 2)
    memory = Memory()
    for _ in range(3):
        for content in range(4):
            for value in range(5):
                memory.note(f"{URL}{content}", USE, ItemRead({"value": value, "of": content}))
    for content in range(4):
        said = _of(memory, f"{URL}{content}")
        assert _values(said) == sorted([value_digest("of", content), *(value_digest("value", value) for value in range(5))])
    assert len(memory._sets) <= 2
    assert memory._held == sum(said.size() for said in memory._said.values())


def test_what_a_copy_says_is_held_once_as_well():
    memory = _memory({"value": 1})
    said = _of(memory)
    for _ in range(2):
        memory.note_values(said, [("value", 1), ("value", 2)], 5)
        memory.note(URL, USE, ItemRead({"value": 2}))
    assert _values(said) == sorted([value_digest("value", 1), value_digest("value", 2)])
    # One at first, five of the copy, and two more.
    assert said.rows == 7
    memory.note_fields(said, ["price"])
    assert said.filled() == {field_digest("value"), field_digest("price")}
    memory.note_states(said, page_number(OTHER), [{"value": [2]}])
    assert said.states is not None
    assert said.states.tolist()[-3:] == [page_number(OTHER), state_digest("value", [2]), 0]
    assert memory._held == said.size()


def test_of_a_content_whose_item_cannot_be_read_nothing_is_known():
    class Raising(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError

    memory = _memory({"value": "first"})
    with pytest.raises(RuntimeError):
        memory.note(URL, USE, ItemRead(Raising()))
    said = _of(memory)
    assert (said.values, said.fields, said.states) == (None, None, None)


def test_contents_are_bounded_and_one_that_is_asked_for_again_stays(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_CONTENTS", 4)
    memory = Memory()
    for number in range(5):
        memory.note(str(number), USE, ItemRead({"value": "first"}))
        memory.note("0", USE, ItemRead({"value": "first"}))
    assert [memory.of(str(number), USE) is not None for number in range(5)] == [True, False, False, True, True]
    assert len(memory._said) + len(memory._older) <= 4


def test_values_of_one_content_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_VALUES", 2)
    memory = _memory({"value": 1}, {"value": 2})
    assert len(_values(_of(memory))) == 2
    memory.note(URL, USE, ItemRead({"value": 3}))
    assert _of(memory).values is None
    assert not memory._sets


def test_what_is_known_of_all_contents_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.said._MOST_KNOWN", 100)
    memory = Memory()
    for number in range(40):
        memory.note(str(number), USE, ItemRead({"rows": [f"row {row}" for row in range(10)]}))
        held = [said.values or () for said in (*memory._said.values(), *memory._older.values())]
        assert sum(map(len, held)) <= 120


def test_which_items_have_all_of_some_fields_and_of_which_pages_they_are():
    memory, together = _memory({"day": 1, "free": True}, {"day": 2, "free": False}), Together()
    said, other = _of(memory), page_number(OTHER)
    memory.note_states(said, other, [{"day": [1], "free": [False]}])
    assert said.states is not None
    for _ in range(2):
        together.read(said.states)
        first, no = together.items_with(state_digest("day", [1])), together.items_with(state_digest("free", [False]))
        assert (first, no, first & no) == (0b101, 0b110, 0b100)
        assert together.items_with(state_digest("day", [3])) == 0
        assert together.pages_with(first & no, None) == {other}
        assert together.pages_with(first, {1}) == {1}
    memory.note(URL, USE, ItemRead({"day": 1}))
    together.read(said.states)
    assert together.items_with(state_digest("day", [1])) == 0b1101


def test_of_tags_the_order_says_nothing_and_of_others_it_does():
    assert state_digest("tags", ["red", "big", "new"]) == state_digest("tags", ["new", "red", "big"])
    assert state_digest("way", ["a", "b"]) != state_digest("way", ["b", "a"])
    assert state_digest("way", [1, 2, 3]) != state_digest("way", [3, 2, 1])


@pytest.mark.parametrize("value", ["red", False, FILLED, 5, "two words", "of 5"])
def test_what_may_be_told_apart_by(value: Any):
    assert tells_apart("state", value)


@pytest.mark.parametrize(
    "value", ["x " * 200, "img/red.png", "d41d8cd98f00b204e9800998ecf8427e", "2026-01-02 10:00", "of http://a.test/1", float("nan")]
)
def test_what_says_nothing_or_too_much(value: Any):
    assert not tells_apart("state", value)
