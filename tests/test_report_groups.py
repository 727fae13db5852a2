"""Groups of copies by what tells their URLs from those of their originals."""

from __future__ import annotations

import pytest

from simcrawl.report.groups import Group, Groups, difference
from simcrawl.store import Duplicate
from simcrawl.urls.learned import LearnedRule, Replaced


@pytest.mark.parametrize(
    ("url", "original", "told"),
    [
        ("http://a.test/print/7", "http://a.test/article/7", ("…/print…", "…/article…")),
        ("http://a.test/7?print=1", "http://a.test/7", ("…?print=*", "…")),
        ("http://a.test/7?a=1&b=2", "http://a.test/7?b=2", ("…?a=*&b=*", "…?b=*")),
        ("http://b.test/7", "http://a.test/7", ("http://b.test…", "http://a.test…")),
        ("http://a.test/news/12.html", "http://a.test/news/345.html", ("…/#.html", "…/#.html")),
        ("http://a.test/amd64/x", "http://a.test/i386/x", ("…/amd64…", "…/i386…")),
        ("http://a.test", "http://a.test/", ("…", "…/")),
        ("not a url", "http://a.test/x", ("not a url", "http://a.test/x")),
    ],
)
def test_what_differs_is_told_by_segments(url: str, original: str, told: tuple[str, str]) -> None:
    assert difference(url, original)[: len(told)] == told


def test_groups_count_what_is_a_copy() -> None:
    groups = Groups()
    for number, kind in enumerate(["near_duplicate", "exact_duplicate", "predicted"]):
        groups.add(Duplicate(f"http://a.test/p/{number}", f"http://a.test/a/{number}", kind, 1, 0.95, "", True, False, 1.0))
    groups.add(Duplicate("http://a.test/p/9", "http://a.test/a/9", "near_duplicate", 1, 0.95, "", True, False, 1.0, rejected=True))
    groups.add(Duplicate("http://a.test/q/9", "http://a.test/a/9", "near_duplicate", 1, 0.95, "", True, False, 1.0))
    assert groups.largest(5) == [Group("…/p…", "…/a…", 1, 1, 1)]


def test_a_group_names_the_rule_that_explains_most_of_it() -> None:
    means = Replaced("http://a.test/", ("http://a.test/",), "p", "a")
    rule = LearnedRule("'p' stands for 'a'", "http://a.test/", 0.9, 30, 29, (("http://a.test/p/1", "http://a.test/a/1"),), means)
    groups = Groups([rule])
    for copy, original in (("/p/1", "/a/1"), ("/p/2", "/a/2"), ("/q/1", "/a/1"), ("/q/2", "/a/2")):
        groups.add(Duplicate(f"http://a.test{copy}", f"http://a.test{original}", "near_duplicate", 1, 0.95, "", True, False, 1.0))
    for host in ("b", "c", "d"):
        groups.add(Duplicate(f"http://{host}.test/p/1", f"http://{host}.test/a/1", "near_duplicate", 1, 0.95, "", True, False, 1.0))
    assert [(group.copy, group.pages, group.rule) for group in groups.largest(5)] == [("…/p…", 5, None), ("…/q…", 2, None)]
    groups.add(Duplicate("http://a.test/p/3", "http://a.test/a/3", "near_duplicate", 1, 0.95, "", True, False, 1.0))
    assert groups.largest(1)[0].rule is rule
