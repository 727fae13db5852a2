"""What pages and responses say of themselves, and what they say in vain."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcrawl.page import hints
from simcrawl.page.extraction import extract
from simcrawl.page.fingerprint import Abstention, PageFingerprint, fingerprint_page
from simcrawl.page.hints import LONGEST_URL, MOST_ALTERNATES, MOST_UNFOLLOWED, NO_HINTS, Hints
from tests.samples import english, page

URL = "https://example.org/shop/boat?ref=7"


def _of(head: str, url: str = URL) -> Hints:
    """Return the hints of a page by both ways to them, which agree."""
    body = page(english(), head=head).encode()
    made = extract(body, "utf-8", url).hints
    # What seems to end the head ends it for the one that does not parse the page: the title may come later.
    assert hints.of_body(body, "utf-8", url)._replace(title="") == made._replace(title="")
    return made


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="https://example.org/shop/boat">', "https://example.org/shop/boat"),
        ('<link rel="canonical" href="boat#top">', "https://example.org/shop/boat"),
        ('<link rel="canonical" href=" //www.example.org ">', "https://www.example.org/"),
        ('<LINK REL="nofollow CANONICAL" HREF="/boat">', "https://example.org/boat"),
        ('<base href="https://example.org/de/"><link rel="canonical" href="boot">', "https://example.org/de/boot"),
        ('<link rel="canonical" href="/b\u00f6t">', "https://example.org/b%C3%B6t"),
        ('<meta property="og:url" content="https://example.org/boat">', "https://example.org/boat"),
        ('<meta property="og:url" content="/og"><link rel="canonical" href="/boat">', "https://example.org/boat"),
        ('<link rel="canonical" href="/boat"><link rel="canonical" href="https://example.org/boat">', "https://example.org/boat"),
        ('<link rel="canonical" href="/boat"><link rel="canonical" href="/ship">', ""),
        ('<link rel="canonical" href="javascript:alert(1)">', ""),
        ('<link rel="canonical" href="mailto:a@example.org">', ""),
        ('<link rel="canonical" href="http://[broken">', ""),
        ('<link rel="canonical" href="http:///boat">', ""),
        ('<link rel="canonical">', ""),
        ('<link rel="canonical" href="?ref=7">', URL),
        (f'<link rel="canonical" href="/{"a" * 1_000_000}">', ""),
        (f'<link rel="canonical" href="/{"ö" * (LONGEST_URL - 100)}">', ""),
        ("".join(f'<link rel="canonical" href="/{number}">' for number in range(10_000)), ""),
        ('<link rel="stylesheet" href="/boat.css">', ""),
    ],
)
def test_the_canonical_url(head: str, canonical: str):
    assert _of(head).canonical == canonical


def test_what_stands_in_the_body_counts_for_nothing():
    body = page('<link rel="canonical" href="/boat"><meta name="robots" content="none">' + english()).encode()
    assert extract(body, "utf-8", URL).hints._replace(title="") == hints.of_body(body, "utf-8", URL)._replace(title="") == NO_HINTS


def test_translations_are_named_once_and_a_bounded_number_of_them():
    some = _of('<link rel="alternate" hreflang="de" href="/de">' * 3 + '<link rel="alternate" href="/feed" type="application/rss+xml">')
    assert some.alternates == ("https://example.org/de",)
    many = _of("".join(f'<link rel="alternate" hreflang="l{number}" href="/{number}">' for number in range(1000)))
    assert len(many.alternates) == MOST_ALTERNATES


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("noindex", (True, False)),
        ("NoFollow, NoArchive", (False, True)),
        ("noindex,nofollow", (True, True)),
        ("none", (True, True)),
        ("index, follow", (False, False)),
        ("", (False, False)),
        ("nofollow " * 100_000, (False, False)),
    ],
)
def test_what_robots_are_asked(content: str, asked: tuple[bool, bool]):
    assert _of(f'<meta name="ROBOTS" content="{content}">')[2:4] == asked
    assert hints.of_headers([], [content], URL)[2:4] == asked


@pytest.mark.parametrize(
    ("robots", "asked"),
    [("otherbot: noindex, nofollow", False), ("max-snippet: 5, nofollow", True), ("unavailable_after: 25 Jun 2027, nofollow", True)],
)
def test_what_another_robot_is_asked_does_not_count(robots: str, asked: bool):
    assert hints.of_headers([], [robots], URL).nofollow is asked


@pytest.mark.parametrize(
    ("header", "canonical"),
    [
        ('<https://example.org/boat>; rel="canonical"', "https://example.org/boat"),
        ('</style.css>; rel=preload; as=style, </boat>; title="a"; rel=canonical', "https://example.org/boat"),
        ('</de>; rel="alternate"; hreflang=de', ""),
        ("<javascript:1>; rel=canonical", ""),
        ("<" * 1_000_000, ""),
        ("rel=canonical", ""),
    ],
)
def test_the_link_header(header: str, canonical: str):
    assert hints.of_headers([header], [], URL).canonical == canonical


def test_headers_add_to_what_the_page_says():
    told = Hints("https://example.org/boat", ("https://example.org/de",))
    assert told.also(Hints("https://example.org/ship", (), nofollow=True)) == told._replace(nofollow=True)
    assert NO_HINTS.also(told) == told


@pytest.mark.parametrize("text", [english(), "short"])
def test_pages_carry_their_hints(text: str):
    made = fingerprint_page(page(text, head='<meta name="robots" content="nofollow">'), url=URL)
    assert isinstance(made, PageFingerprint if text != "short" else Abstention)
    assert made.hints == Hints(nofollow=True, title="t")


def _links(*anchors: str) -> Hints:
    """Return the hints of a page with these links."""
    return extract(page(english() + "".join(anchors)).encode(), "utf-8", URL).hints


@pytest.mark.parametrize(
    ("anchor", "url"),
    [
        ('<a rel="nofollow" href="boat#top">a</a>', "https://example.org/shop/boat"),
        ('<a rel="noopener NoFollow ugc" href=" /b?c=1&amp;d=2 ">a</a>', "https://example.org/b?c=1&d=2"),
        ('<A REL=NOFOLLOW HREF="//other.example/x">a</A>', "https://other.example/x"),
        ('<a rel="nofollow" href="/b\u00f6t |">a</a>', "https://example.org/b%C3%B6t%20%7C"),
        ('<map><area rel="nofollow" href="/b"></map>', "https://example.org/b"),
    ],
)
def test_a_link_that_robots_are_not_to_follow(anchor: str, url: str):
    made = _links(anchor, '<a href="/other">b</a>')
    assert not made.nofollow
    assert made.asks_not_to_follow(url)
    assert made.asks_not_to_follow(f"{url}#below")
    assert not made.asks_not_to_follow("https://example.org/other")


@pytest.mark.parametrize(
    "anchors",
    [
        ['<a href="/b">a</a>'],
        ['<a rel="noopener" href="/b">nofollow</a>'],
        ['<a rel="nofollower" href="/b">a</a>'],
        # With and without: one that may be followed leads there.
        ['<a rel="nofollow" href="/b">a</a>', '<a href="/b">a</a>'],
        ['<a rel="nofollow" href="/b">a</a>', '<a href="../b#top">a</a>'],
        ['<a rel="nofollow">a</a>', '<link rel="nofollow" href="/b">'],
    ],
)
def test_a_link_that_robots_may_follow(anchors: list[str]):
    assert not _links(*anchors).asks_not_to_follow("https://example.org/b")


def test_a_page_that_robots_are_not_to_follow_has_no_link_that_they_are():
    assert Hints(nofollow=True).asks_not_to_follow(URL)


def test_of_links_that_robots_are_not_to_follow_a_bounded_number_is_known():
    made = _links(*(f'<a rel="nofollow" href="/{number}">a</a>' for number in range(3000)))
    assert len(made.unfollowed) == MOST_UNFOLLOWED


def test_headers_take_nothing_from_single_links():
    made = _links('<a rel="nofollow" href="/b">a</a>')
    assert made.also(Hints("https://example.org/ship")).asks_not_to_follow("https://example.org/b")


@pytest.mark.parametrize(
    "href", ["http://[broken", "javascript:alert(1)", "", " ", "&#0;", "/" + "a" * 1_000_000, "&#xd800;", "data:,a", "//"]
)
def test_no_link_is_too_broken(href: str):
    assert len(_links(f'<a rel="nofollow" href="{href}">a</a>').unfollowed) <= 1


@given(st.text(max_size=300), st.text(max_size=50))
def test_nothing_that_a_page_says_raises(target: str, url: str):
    assert not hints.address(target, url) or hints.address(target, url).startswith(("http://", "https://"))
    assert hints.of_headers([f"<{target}>; rel=canonical", target], [target], url).alternates == ()
    hints.of_body(f'<link rel=canonical href="{target}">{target}'.encode("utf-8", "surrogatepass"), None, url)


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>  A boat \n for sale </title>", "A boat for sale"),
        ("<title>safe\u202eelas\x07</title>", "safe elas"),
        (f"<title>{'long ' * 100}</title>", ("long " * 100)[: hints.LONGEST_TITLE]),
        ("<title></title>", ""),
        ("", ""),
        ("<title>&lt;b&gt;one</title><title>two</title>", "<b>one"),
    ],
)
def test_the_title_is_one_line_that_shows_what_it_says(head: str, title: str) -> None:
    html = f"<!DOCTYPE html><html><head>{head}</head><body><svg><title>a drawing</title></svg><p>text</p></body></html>"
    assert hints.of_body(html.encode(), "utf-8", URL).title == title


@pytest.mark.parametrize(
    ("url", "canonical", "own"),
    [
        ("https://a.test/one/", "https://a.test/one", "/one?[]"),
        ("https://a.test/one?sid=1", "https://a.test/one", "/one?[]"),
        ("https://a.test/w?sid=1&id=7", "https://a.test/w?id=7", "/w?[('id', '7')]"),
        ("http://example.org/k%F6ln", "https://www.example.org/k%F6ln", "/köln?[]"),
        ("https://a.test/", "https://a.test/", "?[]"),
        # Of another page, on another site, or of what was not asked for.
        ("https://a.test/one", "https://a.test/two", ""),
        ("https://a.test/one", "https://b.test/one", ""),
        ("https://a.test/one", "https://a.test/one?id=7", ""),
        ("https://a.test/one", "", ""),
    ],
)
def test_a_page_s_own_address_is_its_canonical_one_without_what_that_lacks(url: str, canonical: str, own: str) -> None:
    assert Hints(canonical=canonical).own_address(url) == own
