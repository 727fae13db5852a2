"""Whether anything is behind a page that only that page shows."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcrawl.urls.outlinks import APART, EXPECTED, SIMILAR, Outlinks

MAIN, MIRROR = "https://a.example/main/", "https://a.example/mirror/"


def of(**links: str) -> Outlinks:
    """Return the links of pages of the main directory, and that they have shown them."""
    outlinks = Outlinks()
    for page, names in links.items():
        outlinks.note(MAIN + page, [MAIN + name for name in names.split()])
        outlinks.show(MAIN + name for name in names.split())
    return outlinks


def test_a_page_whose_links_were_all_shown_hides_nothing() -> None:
    outlinks = of(a="b c")
    outlinks.show([MIRROR + "b", MIRROR + "c#there"])
    assert outlinks.hidden(MIRROR + "a", MAIN + "a") is None


def test_a_page_hides_what_nobody_has_shown() -> None:
    outlinks = of(a="b c a")
    outlinks.show([MIRROR + "b"])
    assert outlinks.hidden(MIRROR + "a", MAIN + "a") == MIRROR + "c"


def test_links_elsewhere_are_the_same_on_a_copy() -> None:
    outlinks = Outlinks()
    outlinks.note(MAIN + "a", ["https://a.example/about", "https://b.example/main/", "https://a.example/mainly"])
    assert outlinks.hidden(MIRROR + "a", MAIN + "a") is None


def test_a_parameter_that_stands_before_others_does_not_make_addresses_of_words() -> None:
    outlinks = Outlinks()
    outlinks.note("https://a.example/x?id=7", ["https://a.example/xylophone", "https://a.example/x?id=8"])
    seek = "https://a.example/x?print=1&id=8"
    assert outlinks.hidden("https://a.example/x?print=1&id=7", "https://a.example/x?id=7") == seek


@pytest.mark.parametrize("view", ["?print=1", "/print/", "-print.html"])
def test_views_of_a_page_have_no_other_links_than_the_page(view: str) -> None:
    outlinks = Outlinks()
    page = "https://a.example/x" + ".html" * view.endswith(".html")
    outlinks.note(page, ["https://a.example/xylophone", f"https://a.example/x{view}", f"{page}?page=2", "https://a.example/y"])
    assert outlinks.hidden(f"https://a.example/x{view}", page) is None


def test_what_other_pages_ought_to_show_and_do_not_is_given_up() -> None:
    outlinks = of(a="b", c="b", d="b", e="b")
    for page in "acd":
        assert outlinks.hidden(MIRROR + page, MAIN + page) == MIRROR + "b"
        outlinks.seek(MIRROR + "b")
        assert outlinks.is_sought(MIRROR + "b")
    assert outlinks.hidden(MIRROR + "e", MAIN + "e") is None


def test_to_ask_what_is_hidden_changes_nothing() -> None:
    outlinks = of(a="b")
    assert {outlinks.hidden(MIRROR + "a", MAIN + "a") for _ in range(9)} == {MIRROR + "b"}
    assert not outlinks.is_sought(MIRROR + "b")


def test_a_page_is_fetched_where_the_links_of_its_original_are_not_known_or_were_forgotten() -> None:
    outlinks = Outlinks(most_bytes=800_000)
    assert outlinks.hidden(MIRROR + "a", MAIN + "a") == MIRROR + "a"
    for number in range(1000):
        outlinks.note(f"{MAIN}{number}", [f"{MAIN}{number}-{part}" for part in range(9)])
    assert outlinks.hidden(MIRROR + "0", MAIN + "0") == MIRROR + "0"
    outlinks.show(f"{MIRROR}999-{part}" for part in range(9))
    assert outlinks.hidden(MIRROR + "999", MAIN + "999") is None


def test_a_page_of_very_many_links_is_fetched() -> None:
    outlinks = of(a=" ".join(map(str, range(10_001))))
    assert outlinks.hidden(MIRROR + "a", MAIN + "a") == MIRROR + "a"


@pytest.mark.parametrize(
    ("link", "told"),
    [
        (MIRROR + "a", EXPECTED),
        (MIRROR + "b#there", EXPECTED),
        (MAIN + "b", EXPECTED),
        ("https://a.example/shown", EXPECTED),
        ("https://a.example/offer?store=mirror&id=a", SIMILAR),
        ("https://a.example/share?of=https%3A%2F%2Fa.example%2Fmirror%2Fa", SIMILAR),
        (MIRROR + "z", APART),
        ("https://a.example/reviews?pid=5007", APART),
        ("https://a.example/api POST 5007", APART),
    ],
)
def test_what_a_copy_asks_for_is_foretold_by_what_its_original_did(link: str, told: int) -> None:
    outlinks = of(a="b")
    others = ("offer?store=main&id=a", "share?of=https%3A%2F%2Fa.example%2Fmain%2Fa", "reviews?pid=1007", "api POST 1007")
    outlinks.note(MAIN + "a", [MAIN + "b", *(f"https://a.example/{other}" for other in others)])
    outlinks.show(["https://a.example/shown"])
    foretold = outlinks.foretold(MIRROR + "a", MAIN + "a")
    assert foretold
    assert foretold.of(link) == told


@pytest.mark.parametrize(("link", "told"), [("list?page=3&sort=up", EXPECTED), ("list?page=9&sort=up", APART), ("up/3", APART)])
def test_views_of_a_page_are_foretold_to_lead_to_views(link: str, told: int) -> None:
    outlinks, page = Outlinks(), "https://a.example/list?page=two"
    outlinks.note(page, ["https://a.example/list?page=3"])
    foretold = outlinks.foretold(f"{page}&sort=up", page)
    assert foretold
    assert foretold.of(f"https://a.example/{link}") == told


def test_what_a_copy_asks_for_is_apart_where_it_is_too_much_to_look_at() -> None:
    outlinks = of(a="b")
    link = "https://a.example/offer?id=a&store="
    outlinks.note(MAIN + "a", [MAIN + "b", link + "main"])
    foretold = outlinks.foretold(MIRROR + "a", MAIN + "a")
    assert foretold
    asked = [foretold.of(f"{link}mirror") for _ in range(10_000)]
    assert asked[:1000] == [SIMILAR] * 1000
    assert asked[5000:] == [APART] * 5000
    assert foretold.of(MIRROR + "b") == EXPECTED
    foretold = outlinks.foretold(MIRROR + "a", MAIN + "a")
    assert foretold
    assert foretold.of(f"{link}mirror{'-' * 200_000}") == APART


def test_of_a_copy_nothing_is_foretold_where_the_links_of_its_original_are_not_known() -> None:
    assert Outlinks().foretold(MIRROR + "a", MAIN + "a") is None


@given(
    st.lists(st.text("abm/?=-.", max_size=9), max_size=9),
    st.sampled_from(["mirror/a", "m/a", "", "main/a/print", "main/a?p=1", "x/main/a"]),
)
def test_a_copy_is_foretold_to_link_to_what_it_would_hide(ends: list[str], place: str) -> None:
    outlinks, url = Outlinks(), "https://a.example/" + place
    outlinks.note(MAIN + "a", [MAIN + end for end in ends])
    foretold = outlinks.foretold(url, MAIN + "a")
    assert foretold
    while (hidden := outlinks.hidden(url, MAIN + "a")) is not None:
        assert foretold.of(hidden) == EXPECTED
        outlinks.show([hidden])


NAMES = "abcdefgh"
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES)), min_size=1)


@given(GRAPHS, st.sets(st.sampled_from(NAMES)), st.sampled_from(NAMES))
def test_a_page_is_left_out_exactly_if_all_that_it_links_to_was_shown(links: dict[str, set[str]], shown: set[str], page: str) -> None:
    outlinks = of(**{name: " ".join(links.get(name, ())) for name in NAMES})
    outlinks.show(MIRROR + name for name in shown)
    hidden = outlinks.hidden(MIRROR + page, MAIN + page)
    lost = {MIRROR + name for name in links.get(page, set()) - {page} - shown}
    assert hidden in lost if lost else hidden is None
