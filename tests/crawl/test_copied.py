"""How far the items of a copy have been compared."""

from __future__ import annotations

from array import array

from simcrawl.crawl.copied import Copy

URL = "http://a.test/p/2"


def _copy() -> Copy:
    copy = Copy(lambda: ["<p>x"], URL)
    copy.waiting, copy.alike = ["waiting"], ["alike"]
    return copy


def test_what_was_dropped_before_is_left_until_the_copy_proves_to_say_more():
    copy = _copy()
    assert copy.take_left() == []
    copy.longer = "rows"
    assert copy.take_left() == ["waiting"]
    assert copy.take_left() == []
    assert copy.alike == ["alike"]


def test_all_of_it_comes_of_a_copy_that_says_something_else():
    copy = _copy()
    copy.differs = "free"
    assert copy.take_left() == ["alike", "waiting"]
    assert copy.take_left() == []


def test_it_is_fuller_by_a_field_or_by_more_entries():
    assert not Copy(lambda: None).is_fuller
    for name in ("fuller", "longer"):
        copy = Copy(lambda: None)
        setattr(copy, name, "rows")
        assert copy.is_fuller
    copy = Copy(lambda: None)
    copy.differs = "free"
    assert not copy.is_fuller


def test_its_page_and_its_number_are_those_of_its_address():
    copy = _copy()
    assert copy.page.is_addressed("2")
    assert copy.number == Copy(lambda: None, URL).number != Copy(lambda: None, f"{URL}1").number


def test_the_values_of_its_original_are_a_set_that_is_made_anew_where_there_are_more():
    copy, values = _copy(), array("I", [1, 2])
    assert copy.knows(None) == frozenset()
    known = copy.knows(values)
    assert known == {1, 2}
    assert copy.knows(values) is known
    values.append(3)
    assert copy.knows(values) == {1, 2, 3}
    assert copy.knows(array("I", [7, 8, 9])) == {7, 8, 9}
