"""Addresses of pages side by side, of views, ways and mirrors."""

from __future__ import annotations

import pytest

from simcrawl.crawl.side_by_side import are_side_by_side


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("/room/7", "/room/8"),
        ("/plant/amber", "/plant/birch"),
        ("/calc?kg=60&m=2", "/calc?kg=80&m=2"),
        ("/in/1984/all", "/in/1985/all"),
        ("/print/room/x7y", "/room/x8y"),
        ("//b.test/room/7", "/room/8"),
        ("/topic/7", "/topic/7?cpage=2"),
        ("/topic/7/", "/topic/7/comment-page-2/"),
        ("/2026/03/31/", "/2026/04/05/"),
        ("/2026/03/31/menu", "/2026/04/05/menu"),
        ("/2026-03-31/menu", "/2026-04-05/menu"),
        ("/cal?y=2026&m=3&d=31", "/cal?y=2026&m=4&d=5"),
        ("/cal?id=7&day=31&month=3&year=2026", "/cal?id=7&day=5&month=4&year=2026"),
    ],
)
def test_pages_side_by_side(url: str, other: str):
    assert are_side_by_side(*(f"http:{'' if path.startswith('//') else '//a.test'}{path}" for path in (url, other)))


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("/room/7", "/room/7"),
        ("/men/pen", "/sale/pen"),
        ("/print/room/7", "/room/7"),
        ("/room/7", "/room/7?print=1"),
        ("/room/7", "/room/7?page=1"),
        ("/room/7/print", "/room/7"),
        ("/room?sid=4f00aa11bb22cc33dd", "/room?sid=a0ff99ee88dd77cc66"),
        ("/room?sid=7", "/room?sid=8"),
        ("/calc?kg=60&m=2", "/calc?kg=80&m=3"),
        ("/calc?kg=60", "/calc?sid=60"),
        ("/2024/manual/intro", "/2025/manual/intro"),
        ("/2026/03/31/menu", "/2026/04/05/news"),
        ("/snapshot/2026-03-31/intro", "/snapshot/2026-04-05/intro"),
        ("/cal?y=2026&m=3&d=31", "/cal?y=2026&m=3&d=31"),
        ("/map?x=2026&m=30&d=31", "/map?x=2027&m=40&d=31"),
        ("/a/amber", "/b/birch"),
        ("/thread/7", "/post/8"),
        ("//b.test/room/7", "/room/7"),
        ("", ""),
        ("", "/"),
    ],
)
def test_views_ways_and_mirrors_are_not(url: str, other: str):
    assert not are_side_by_side(*(f"http:{'' if path.startswith('//') else '//a.test'}{path}" for path in (url, other)))
