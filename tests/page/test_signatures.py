"""Lines that say how a function is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simcrawl import compare
from simcrawl.page.signatures import signature
from tests.judged import page_of
from tests.samples import english, page

if TYPE_CHECKING:
    from simcrawl.page.fingerprint import PageFingerprint


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("f", "def f(a, b, c=None)"),
        ("f", "f()"),
        ("array_map", "array_map(?callable $callback, array $array, array ...$arrays): array"),
        ("std::vector<T,Allocator>::push_back", "constexpr void push_back( const T& value );"),
        ("Array.prototype.map()", "map(callbackFn, thisArg)"),
        ("numpy.linspace", "numpy.linspace(start, stop, num=50, dtype=None)[source]#"),
        ("strtol", "long int strtol (const char *restrict string, int base)"),
        ("class datetime.timedelta", "class datetime.timedelta(days=0, seconds=0)"),
    ],
)
def test_a_line_with_the_name_and_its_parameters_is_a_signature(heading: str, line: str):
    assert signature(heading, ["Some text.", line]) == signature(heading, [line]) != ""


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("", "f(a)"),
        ("7", "7(a)"),
        ("ls(1)", "ls(1)"),
        ("f", "Call f(a, b) first, and then look at what it returns."),
        ("f", "If it rains. f(a)"),
        ("f", "g(f)"),
        ("f", "af(b)"),
        ("f", "f"),
        ("f", f"f({'a, ' * 2000})"),
    ],
)
def test_other_lines_are_none(heading: str, line: str):
    assert not signature(heading, [line])


def test_what_stands_behind_and_how_it_is_broken_says_nothing():
    assert signature("f", ["f(a, b)[source]\xb6"]) == signature("f", ["f(a,  b)"])


def test_the_first_one_counts():
    assert signature("f", ["f(a)", "f(b)"]) == signature("f", ["f(a)"]) != signature("f", ["f(b)"])


def test_a_long_line_takes_no_time():
    assert not signature("f", ["a " * 195, f"f{'(' * 390}", "f(" + "a -> " * 70])


def _page(signature: str, path: str) -> PageFingerprint:
    return page_of(
        f"<html><head><title>f</title></head><body><h1>f</h1><pre>{signature}</pre>{page(english(400))}</body></html>",
        f"http://a.test/{path}",
    )


def test_another_parameter_makes_another_page_in_the_next_release():
    pages = [_page(*of) for of in (("def f(a, b)", "1.0/f.html"), ("def f(a, b, c=None)", "1.1/f.html"), ("def f(a, b)", "1.2/f.html"))]
    assert not compare(*pages[:2]).is_near_duplicate
    assert compare(*pages[::2]).is_near_duplicate
