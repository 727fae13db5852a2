from __future__ import annotations

import pytest

from simcrawl.addresses import are_of_two, host_of, is_release, is_view, of_one_host, site


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


def test_addresses_of_any_length_are_compared_in_no_time():
    url = "http://a.test/quiz"
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
