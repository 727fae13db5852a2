"""Hosts take turns by the time that their pages take."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, strategies as st

from simcrawl.workers import turns as module
from simcrawl.workers.turns import Spent, Turns

_HOSTS = "abcd"
_costs = st.sampled_from([0.0, 0.01, 0.5, 2.0, 9.0])


def _spent(seconds: float) -> Spent:
    return Spent(seconds, seconds)


def _all(_: str) -> bool:
    return True


def _arrive(turns: Turns[str, str], names: list[str]) -> None:
    for name in names:
        turns.arrived(name[0])
        turns.add(name[0], name)


def test_slow_pages_of_one_host_come_between_those_of_others_no_more_than_their_time_allows():
    turns: Turns[str, str] = Turns()
    _arrive(turns, [f"slow {number}" for number in range(24)] + [f"fine {number}" for number in range(300)])
    order = []
    while one := turns.next({}, _all):
        order.append(one)
        turns.charge(one[0], _spent(2.0 if one[0] == "s" else 0.01))
    # One slow page in the time of two hundred others.
    assert sum(one[0] == "s" for one in order[:300]) <= 2
    assert [one for one in order if one[0] == "f"] == [f"fine {number}" for number in range(300)]


@given(st.lists(st.tuples(st.sampled_from(_HOSTS), _costs), max_size=60))
def test_hosts_that_wait_have_had_equal_time_but_for_a_page(pages: list[tuple[str, float]]):
    turns: Turns[str, tuple[str, float]] = Turns()
    for page in pages:
        turns.arrived(page[0])
        turns.add(page[0], page)
    left, used = Counter(host for host, _ in pages), dict.fromkeys(_HOSTS, 0.0)
    while one := turns.next({}, _all):
        host, cost = one
        # All have waited from the beginning: none that waits has had less.
        assert used[host] == min(used[one] for one in _HOSTS if left[one])
        left[host] -= 1
        used[host] += cost
        turns.charge(host, _spent(cost))
    assert not left.total()
    assert not len(turns)


def test_who_comes_late_neither_jumps_the_queue_nor_pays_for_what_was():
    turns: Turns[str, str] = Turns()
    for number in range(100):
        _arrive(turns, [f"a{number}"])
        assert turns.next({}, _all) == f"a{number}"
        turns.charge("a", _spent(1.0))
    _arrive(turns, ["a again", "a once more", *(f"b{number}" for number in range(5))])
    order = []
    while one := turns.next({}, _all):
        order.append(one)
        turns.charge(one[0], _spent(1.0))
    # Not all of the newcomer's first, and not last.
    assert "a once more" in order[:5]
    assert order[0][0] == "b"


def test_time_of_work_under_way_counts():
    turns: Turns[str, str] = Turns()
    _arrive(turns, ["a", "b"])
    assert turns.next({"a": _spent(3.0)}, _all) == "b"
    assert turns.next({"a": _spent(3.0)}, lambda key: key != "a") is None
    assert turns.next({"a": _spent(3.0)}, _all) == "a"


def test_a_budget_is_of_all_pages_of_a_host_and_binds_where_there_are_others():
    turns: Turns[str, str] = Turns()
    turns.arrived("a")
    turns.charge("a", _spent(100.0))
    assert not turns.is_over_budget("a", {}, 0.25)
    turns.arrived("b")
    assert turns.is_over_budget("a", {}, 0.25)
    assert not turns.is_over_budget("b", {}, 0.25)
    assert turns.is_over_budget("b", {"b": _spent(6.0)}, 0.25)
    for _ in range(400):
        turns.arrived("a")
    assert not turns.is_over_budget("a", {}, 0.25)


def test_a_host_is_slow_by_what_its_pages_take_and_before_that_by_their_size():
    turns: Turns[str, str] = Turns()
    turns.arrived("a", 10**7)
    # There is nobody whom it could hold up.
    assert not turns.is_slow("a", {})
    turns.arrived("b", 10**4)
    assert turns.is_slow("a", {})
    assert not turns.is_slow("b", {})
    # It did not take as long as that.
    turns.charge("a", _spent(0.5))
    turns.settled("a", 10**7)
    assert not turns.is_slow("a", {})
    assert turns.is_slow("a", {"a": _spent(0.6)})
    turns.charge("a", _spent(0.9))
    assert turns.is_slow("a", {})
    # One page that took long is not what the others are like; but that is known of those alone that were made.
    for _ in range(10):
        turns.arrived("a")
    assert turns.is_slow("a", {})
    for _ in range(10):
        turns.charge("a", _spent(0.01))
    assert not turns.is_slow("a", {})
    turns.settled("gone", 1)


def test_who_waited_for_a_core_is_not_slow_but_kept_a_process():
    turns: Turns[str, str] = Turns()
    _arrive(turns, ["a", "b"])
    turns.charge("a", Spent(100.0, 0.1))
    assert not turns.is_slow("a", {"a": Spent(100.0, 0.1)})
    assert turns.is_over_budget("a", {}, 0.25)
    assert turns.next({}, _all) == "b"


def test_hosts_that_are_remembered_are_bounded():
    turns: Turns[str, str] = Turns()
    _arrive(turns, ["waiting"])
    for number in range(module._MOST_HOSTS + 10):
        turns.arrived(f"host {number}")
    assert len(turns._hosts) == module._MOST_HOSTS
    assert turns.next({}, _all) == "waiting"
    turns.forget(lambda _: True)
    assert not turns._hosts


def test_what_waits_no_longer_is_nobodys_turn():
    turns: Turns[str, str] = Turns()
    _arrive(turns, ["a1", "a2"])
    turns.remove("a", "a1")
    assert [*turns] == [("a", "a2")]
    assert (turns.next({}, _all), turns.next({}, _all)) == ("a2", None)


def test_what_a_page_will_take_is_known_by_those_of_its_host_that_were_made_lately():
    turns: Turns[str, str] = Turns()
    turns.arrived("a")
    long = turns.expected("a", 10_000)
    # One that takes long, a dictionary say, and quick ones after it.
    for seconds in (2.0, 0.002, 0.002):
        assert turns.expected("a", 10_000) == long
        turns.charge("a", _spent(seconds))
    known = turns.expected("a", 10_000)
    assert 0.002 < known < 2.0
    for _ in range(60):
        turns.charge("a", _spent(0.002))
    assert 0.002 < turns.expected("a", 10_000) < 0.003
    # A page a hundred times as large as others takes longer than they do.
    assert turns.expected("a", 4_000_000) > 0.1
    for _ in range(3):
        turns.charge("a", _spent(3.0))
    assert turns.expected("a", 10_000) > 0.5
    assert turns.expected("b", 10_000) == long
