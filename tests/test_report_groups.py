"""Groups of copies by what tells their URLs from those of their originals."""

from __future__ import annotations

import pytest

from simcrawl.report.groups import Group, Groups, difference
from simcrawl.store import Duplicate


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
