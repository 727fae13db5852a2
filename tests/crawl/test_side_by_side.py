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
        ("/room/7/print", "/room/7"),
        ("/room?sid=4f00aa11bb22cc33dd", "/room?sid=a0ff99ee88dd77cc66"),
        ("/room?sid=7", "/room?sid=8"),
        ("/calc?kg=60&m=2", "/calc?kg=80&m=3"),
        ("/calc?kg=60", "/calc?sid=60"),
        ("/2024/manual/intro", "/2025/manual/intro"),
        ("/a/amber", "/b/birch"),
        ("/thread/7", "/post/8"),
        ("//b.test/room/7", "/room/7"),
        ("", ""),
        ("", "/"),
    ],
)
def test_views_ways_and_mirrors_are_not(url: str, other: str):
    assert not are_side_by_side(*(f"http:{'' if path.startswith('//') else '//a.test'}{path}" for path in (url, other)))
