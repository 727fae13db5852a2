from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, strategies as st

from simcrawl import addresses
from simcrawl.addresses import (
    are_of_two,
    are_pages_of_list,
    host_of,
    is_arrangement,
    is_earlier_state,
    is_release,
    is_view,
    of_one_host,
    site,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org/a", "example.org"),
        ("https://www.shop.example.org:8443/a?b", "example.org"),
        ("http://news.example.co.uk/", "example.co.uk"),
        ("http://WWW.Example.ORG/", "example.org"),
        ("http://a.example.github.io/", "example.github.io"),
        ("http://example.blogspot.com/", "example.blogspot.com"),
        ("http://github.io/", "github.io"),
        ("http://192.168.1.10/x", "192.168.1.10"),
        ("http://localhost/x", "localhost"),
        ("http://例え.テスト.jp/", "テスト.jp"),
        ("no url", ""),
        ("", ""),
    ],
)
def test_the_site_of_a_url(url: str, expected: str):
    assert site(url) == expected


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://Example.ORG:8080/a", "example.org"),
        ("https://user:secret@www.example.org?q=http://elsewhere/", "www.example.org"),
        ("http://[::1]:80#fragment", "::1"),
        ("//example.org", "example.org"),
        ("POST http://example.org:80/a b", "example.org"),
        ("http://[broken/a", ""),
        ("/a//b", ""),
        ("mailto:somebody", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_url(url: str, host: str):
    assert host_of(url) == host


def test_www_and_the_scheme_make_no_other_host():
    assert of_one_host("http://www.example.org/", "https://example.org/a")
    assert not of_one_host("http://example.org/", "http://mirror.example.org/")
    assert not of_one_host("POST http://example.org/", "POST http://example.net/")
    assert site("POST http://a.example.org/") == site("http://example.org/") != site("POST http://example.net/")


@pytest.mark.parametrize(
    ("path", "other", "are_of_list"),
    [
        ("/topic/7", "/topic/7?page=2", True),
        ("/topic/7/", "/topic/7/?cpage=2", True),
        ("/topic/7/", "/topic/7/comment-page-2/", True),
        ("/topic?id=7", "/topic?id=7&p=2", True),
        ("/topic/7?page=1", "/topic/7?page=2", True),
        ("/boats", "/boats/page/2", True),
        ("/boats/page/3", "/boats/page/2", True),
        ("/boats.html", "/boats.html?pageNo=2", True),
        ("", "/?page=2", True),
        ("/boats", "/boats?offset=20", True),
        ("/boats?start=20", "/boats?start=140", True),
        # The first one, in another way; another page; how it is shown; what is no number of a page.
        ("/boats", "/boats?page=1", False),
        ("/boats", "/boats?offset=0", False),
        ("/boats?page=2", "/boats/page/2", False),
        ("/boats?page=2", "/cars?page=2", False),
        ("/boats?page=2", "/cars?page=3", False),
        ("/boats", "/boats?print=2", False),
        ("/boats", "/boats?p=1204", False),
        ("/boats", "/boats?page=2&print=1", False),
        ("/boats/7", "/boats/8", False),
    ],
)
def test_pages_of_one_list_or_thread_are_no_views_of_each_other(path: str, other: str, *, are_of_list: bool):
    url, other = f"http://a.test{path}", f"http://a.test{other}"
    assert are_pages_of_list(url, other) is are_pages_of_list(other, url) is are_of_list
    assert not (are_of_list and is_view(url, other))


def test_addresses_of_any_length_are_compared_in_no_time():
    url = "http://a.test/quiz"
    assert are_pages_of_list(url, f"{url}?page=2")
    assert not are_pages_of_list(url, f"{url}{'?page=' * 50_000}2")
    assert not is_view(url, f"{url}?{'a1' * 50_000}333")
    assert is_view(f"{url}?{'a1' * 50_000}", url)


@pytest.mark.parametrize(
    ("url", "other", "are_two"),
    [
        ("http://a.test/leeds/contact", "http://a.test/york/contact", True),
        ("http://leeds.a.test/contact.html", "http://york.a.test/contact.html", True),
        ("http://a.test/users/1204/profile", "http://a.test/users/1311/profile", True),
        ("http://a.test/2026/05/12/yoga", "http://a.test/2026/05/19/yoga", True),
        ("http://a.test/on/2026-05-12/yoga", "http://a.test/on/2026-05-19/yoga", True),
        ("http://a.test/2026/5/9/yoga", "http://a.test/2026/5/12/yoga", True),
        ("http://a.test/20260509/yoga", "http://a.test/20260512/yoga", True),
        # Of builds.
        ("http://a.test/nightly/2026-05-12/yoga", "http://a.test/nightly/2026-05-19/yoga", False),
        ("http://a.test/2026-05-12/html/yoga", "http://a.test/2026-05-19/html/yoga", False),
        # As they are read, not as they are sent.
        ("http://a.test/k%C3%B6ln/kontakt", "http://a.test/d%C3%BCsseldorf/kontakt", True),
        ("http://a.test/%E5%8C%97%E4%BA%AC/contact", "http://a.test/%E4%B8%8A%E6%B5%B7/contact", True),
        ("http://a.test/k%C3%B6ln/kontakt", "http://a.test/k%c3%b6ln/kontakt", False),
        ("http://a.test/fran%C3%A7ais/kontakt", "http://a.test/espa%C3%B1ol/kontakt", False),
        ("http://xn--kln-sna.a.test/kontakt", "http://xn--mnchen-3ya.a.test/kontakt", True),
        # A part of a page, its state of a year, its language, a view of it.
        ("http://a.test/r/101/1", "http://a.test/r/102/1", True),
        ("http://a.test/album/101/0/", "http://a.test/album/102/0/", True),
        ("http://a.test/word/cedar/2026", "http://a.test/word/maple/2026", True),
        ("http://a.test/word/cedar/en.html", "http://a.test/word/maple/en.html", True),
        ("http://a.test/word/cedar/pt-br", "http://a.test/word/maple/pt-br", True),
        ("http://a.test/cedar/print", "http://a.test/maple/print", True),
        ("http://a.test/cedar/page/2", "http://a.test/maple/page/2", True),
        ("http://a.test/leeds/contact/en", "http://a.test/york/contact/en", True),
        ("http://leeds.a.test/en", "http://york.a.test/en", True),
        ("http://a.test/leeds/2026?utm_source=a", "http://a.test/york/2026?utm_source=b", True),
        ("http://a.test/new%20york/contact", "http://a.test/los%20angeles/contact", True),
        # One product in two categories, two releases by their names, a program in both.
        ("http://a.test/shoes/7", "http://a.test/boots/7", False),
        ("http://a.test/bookworm/en/", "http://a.test/trixie/en/", False),
        ("http://a.test/armel/2", "http://a.test/armhf/2", False),
        ("http://a.test/leeds/ls/1", "http://a.test/york/ls/1", False),
        ("http://a.test/2026/05/12/en", "http://a.test/2026/05/19/en", True),
        ("http://a.test/nightly/2026-05-12/1", "http://a.test/nightly/2026-05-19/1", False),
        ("http://a.test/mirror/1", "http://a.test/copy/1", False),
        ("http://a.test/german/1", "http://a.test/english/1", False),
        ("http://a.test/de/1", "http://a.test/fr/1", False),
        ("http://a.test/de-at/1", "http://a.test/de-ch/1", False),
        ("http://a.test/i386/en", "http://a.test/amd64/en", False),
        ("http://a.test/2.4/1", "http://a.test/2.5/1", False),
        ("http://a.test/v101/word", "http://a.test/v102/word", False),
        ("http://a.test/11/1", "http://a.test/12/1", False),
        ("http://a.test/2025/1", "http://a.test/2026/1", False),
        ("http://a.test/cedar/1.2", "http://a.test/maple/1.2", False),
        ("http://a.test/leeds/chapter/1", "http://a.test/york/chapter/1", False),
        # What has a long number is one product in two categories.
        ("http://a.test/boots/4711", "http://a.test/shoes/4711", False),
        ("http://a.de/1", "http://b.de/1", False),
        # Releases, languages, mirrors, years; another end; another depth.
        ("http://a.test/latest/contact", "http://a.test/stable/contact", False),
        ("http://a.test/de/contact", "http://a.test/fr/contact", False),
        ("http://a.test/2024/contact", "http://a.test/2025/contact", False),
        ("http://a.test/leeds/chapter", "http://a.test/york/chapter", False),
        ("http://a.test/leeds/contact", "http://a.test/leeds/about", False),
        ("http://a.test/leeds/contact", "http://a.test/leeds/north/contact", False),
        ("http://a.test/contact", "http://a.test/contact", False),
    ],
)
def test_addresses_that_end_alike_may_be_those_of_two_pages(url: str, other: str, are_two: bool):
    assert are_of_two(url, other) == are_of_two(other, url) == are_two


@pytest.mark.parametrize(
    ("name", "is_one"), [("latest", True), ("devel", True), ("german", True), ("linked_list", False), ("mainland", False)]
)
def test_directories_of_releases_mirrors_and_languages(name: str, is_one: bool):
    assert is_release(name) == is_one


@pytest.mark.parametrize(
    ("url", "other", "is_one"),
    [
        ("http://a.test/list?sort=name", "http://a.test/list?sort=date", True),
        ("http://a.test/list?id=7&sort=name&dir=asc", "http://a.test/list?dir=desc&sort=date&id=7", True),
        ("http://a.test/story?id=7&from=sport", "http://a.test/story?id=7&from=local", True),
        ("http://a.test/story?id=7&lang=de", "http://a.test/story?id=7", True),
        ("http://a.test/story?id=7", "http://a.test/story?id=8", False),
        ("http://a.test/story?id=7&sort=name", "http://a.test/story?id=8&sort=date", False),
        ("http://a.test/a?sort=name", "http://a.test/b?sort=date", False),
        ("http://a.test/list?sort=name", "http://a.test/list?sort=name", False),
        ("http://a.test/list", "http://a.test/list", False),
        ("http://a.test/story?sess_id=4ac1", "http://a.test/story?sess_id=77b0", True),
        ("http://a.test/story?id=7&_=1732860000", "http://a.test/story?id=7&_=1732861111", True),
        ("http://a.test/debate?sessno=7", "http://a.test/debate?sessno=8", False),
        ("http://a.test/story?MYSESSID=4ac19f", "http://a.test/story?MYSESSID=77b08e", True),
        ("http://a.test/story?phpsessid=4ac1", "http://a.test/story", True),
        ("http://a.test/story?rnd=0.4711", "http://a.test/story?rnd=0.0815", True),
        ("http://a.test/story?random=82371", "http://a.test/story?random=5120937", True),
        ("http://a.test/story?random=41", "http://a.test/story?random=42", False),
        ("http://a.test/league?rnd=3", "http://a.test/league?rnd=4", False),
        ("http://a.test/course?course_session_id=41", "http://a.test/course?course_session_id=42", False),
        ("http://a.test/course?course_session_id=104233", "http://a.test/course?course_session_id=104234", False),
        ("http://a.test/course?session=7", "http://a.test/course?session=8", False),
        ("http://a.test/course?sess=spring", "http://a.test/course?sess=autumn", False),
        ("http://a.test/story?assessment=7", "http://a.test/story?assessment=8", False),
        ("http://a.test/story?token=usdt", "http://a.test/story?token=usdc", False),
    ],
)
def test_one_page_in_other_arrangements(url: str, other: str, is_one: bool) -> None:
    assert is_arrangement(url, other) is is_arrangement(other, url) is is_one


PARTS = [*"/.?&;=7a\n", "//", "id", "12", "123", "print", "html", ".html", "sort", "name", "boats", "index", "utm_x"]
ADDRESSES = st.lists(st.sampled_from(PARTS), max_size=6).map(lambda parts: f"http://a.test/{''.join(parts)}")


@given(ADDRESSES, ADDRESSES | st.lists(st.sampled_from(PARTS), max_size=3).map("".join))
def test_views_are_what_they_are_though_most_are_told_by_a_glance(url: str, other: str):
    for one in (other, f"{url}{other}"):
        shorter, longer = sorted((url.rstrip("/"), one.rstrip("/")), key=len)
        shorter = re.sub(r"\.\w{1,5}$", "", shorter)
        more = longer[len(shorter) :]
        is_one = longer.startswith(shorter) and addresses._VIEW.match(more) and not re.search(r"\d{3}", more)
        assert is_view(url, one) is bool(is_one)
        (path, a), (other_path, b) = ((at.path, {*parse_qsl(at.query)}) for at in map(urlsplit, (url, one)))
        is_one = path == other_path and a != b and all(addresses._ARRANGED.match(key) for key, _ in a ^ b)
        assert is_arrangement(url, one) is is_one


@pytest.mark.parametrize(
    ("path", "other", "is_one"),
    [
        ("?title=A&oldid=5", "?title=A", True),
        ("?title=A&action=edit&oldid=5", "?title=A&action=edit", True),
        ("?id=a&rev=1700000000&do=edit", "?do=edit&id=a", True),
        ("A?version=3", "A", True),
        ("?title=A", "?title=A&oldid=5", False),
        ("?title=A&oldid=5", "?title=A&oldid=6", False),
        ("?title=A&oldid=5", "?title=B", False),
        ("?title=A&action=edit&oldid=5", "?title=A", False),
        ("A?sort=5", "A", False),
        ("A?version=3", "B", False),
        ("A", "A", False),
    ],
)
def test_what_a_wiki_said_before_has_the_number_of_a_state_more(path: str, other: str, *, is_one: bool):
    assert is_earlier_state(f"http://a.test/w/{path}", f"http://a.test/w/{other}") == is_one
