"""What a robots.txt says of a site's parameters, and what it says in vain."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcrawl.urls.robots import unimportant


def _of(text: str) -> list[tuple[list[str], str]]:
    return [(sorted(names), path) for names, path in unimportant(text.encode())]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("User-agent: *\nDisallow: /a\nClean-param: sid&sort /forum/showthread.php\n", [(["sid", "sort"], "/forum/showthread.php")]),
        ("clean-PARAM :ref", [(["ref"], "")]),
        ("Clean-param: a /b # of old\r\nClean-param: c /d\rClean-param: e", [(["a"], "/b"), (["c"], "/d"), (["e"], "")]),
        ("Clean-param: a /b*.php$\nClean-param: c /d$", [(["a"], "/b"), (["c"], "/d")]),
        ("\ufeffClean-param: a", []),
        ("# Clean-param: a", []),
        ("Clean-param:\nDisallow: /", []),
        ("Clean-param: &&", []),
        ("Clean-params: a", []),
        ("Allow: /Clean-param: a", []),
        ("", []),
        (f"Clean-param: {'a' * 1000}&b", [(["b"], "")]),
        (f"Clean-param: {'&'.join(map(str, range(1000)))}", [(sorted(map(str, range(20))), "")]),
        ("x" * 600_000 + "\nClean-param: a", []),
        (" " * 600_000 + "Clean-param: a", []),
    ],
)
def test_parameters_that_do_not_matter(text: str, said: list[tuple[list[str], str]]):
    assert _of(text) == said


def test_of_directives_a_bounded_number_is_read():
    assert len(_of("\n".join(f"Clean-param: a{number}" for number in range(30_000)))) == 20


@given(st.binary(max_size=300))
def test_nothing_that_it_says_raises(body: bytes):
    unimportant(body)
    unimportant(b"Clean-param: " + body)
