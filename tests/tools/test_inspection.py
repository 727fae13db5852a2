from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.store import PREDICTED, Duplicate
from simcrawl.tools.inspection import SORT_KEYS, Host, Wanted, hosts, place_of

if TYPE_CHECKING:
    from simcrawl.store.register import Standing


def line(url: str, original: str = "http://o.test/", **values: Any) -> Duplicate:
    known: dict[str, Any] = {"kind": "near_duplicate", "distance": 2, "similarity": 0.95, "reason": "near-duplicate", "when": 100.0}
    known |= {"url": url, "original": original, "dropped_page": True, "dropped_outlinks": False}
    return Duplicate(**known | values)


@pytest.mark.parametrize(
    ("kind", "counted"),
    [("exact_duplicate", "exact"), ("near_duplicate", "near"), (PREDICTED, "not_fetched"), ("of another version", "near")],
)
def test_what_a_line_counts_as(kind: str, counted: Standing):
    assert line("http://a/", kind=kind).standing == counted
    assert line("http://a/", kind=kind, rejected=True).standing == "rejected"


# ---- filters


@pytest.mark.parametrize(
    ("wanted", "matching", "other"),
    [
        ({"host": "a.test"}, "http://a.test/x", "http://aa.test/x"),
        ({"host": "a.test"}, "https://www.A.test:8080/", "http://a.test.org/"),
        ({"host": "a.test:8080"}, "http://a.test:8080/", "http://a.test/"),
        ({"host": "a.test"}, "POST http://a.test/", "POST http://b.test/"),
        ({"url": "/en/"}, "http://a.test/en/1", "http://a.test/de/1"),
    ],
)
def test_lines_by_their_page(wanted: dict[str, Any], matching: str, other: str):
    assert Wanted(**wanted).matches(line(matching))
    assert not Wanted(**wanted).matches(line(other))


@pytest.mark.parametrize(
    ("wanted", "matching", "other"),
    [
        ({"original": "/a/"}, {"original": "http://o/a/"}, {"original": "http://o/b/"}),
        ({"kind": "exact"}, {"kind": "exact_duplicate"}, {}),
        ({"dropped": "page"}, {}, {"dropped_page": False}),
        ({"dropped": "outlinks"}, {"dropped_outlinks": True}, {}),
        ({"dropped": "anything"}, {"dropped_page": False, "dropped_outlinks": True}, {"dropped_page": False}),
        ({"dropped": "nothing"}, {"dropped_page": False}, {}),
        ({"rejected": True}, {"rejected": True}, {}),
        ({"rejected": False}, {}, {"rejected": True}),
        ({"min_distance": 2}, {"distance": 2}, {"distance": 1}),
        ({"max_distance": 2}, {"distance": 2}, {"distance": 3}),
        ({"max_distance": 2}, {"distance": 0}, {"distance": None}),
        ({"min_similarity": 0.95}, {"similarity": 0.95}, {"similarity": 0.9499}),
        ({"max_similarity": 0.95}, {"similarity": 0.95}, {"similarity": None}),
        ({"since": 100.0}, {"when": 100.0}, {"when": 99.0}),
        ({"until": 100.0}, {"when": 100.0}, {"when": 101.0}),
    ],
)
def test_lines_by_their_verdict(wanted: dict[str, Any], matching: dict[str, Any], other: dict[str, Any]):
    assert Wanted(**wanted).matches(line("http://a.test/", **matching))
    assert not Wanted(**wanted).matches(line("http://a.test/", **other))
    assert Wanted().matches(line("http://a.test/", **other))


def test_every_order_takes_lines_without_a_distance():
    lines = [line("http://b/", distance=None, similarity=None), line("http://a/", "http://z/", when=1.0)]
    firsts = {name: min(lines, key=key).url for name, key in SORT_KEYS.items()}
    assert firsts == {name: "http://b/" if name in ("distance", "similarity", "original") else "http://a/" for name in SORT_KEYS}


# ---- hosts


@pytest.mark.parametrize(
    ("url", "depth", "host"),
    [
        ("http://user:pw@A.test:80/x/y/z.html", 0, "a.test:80"),
        ("http://a.test/x/y/z.html", 1, "a.test/x"),
        ("http://a.test/x/y/z.html", 9, "a.test/x/y"),
        ("http://a.test", 1, "a.test"),
        ("POST http://a.test/x/y", 1, "a.test/x"),
        ("http://a.test?x=/y/z", 1, "a.test"),
        ("http://[broken/x/", 0, "[broken"),
        ("mailto:a@a.test", 1, ""),
    ],
)
def test_the_place_of_a_url(url: str, depth: int, host: str):
    assert place_of(url, depth) == host


def test_hosts():
    kept = [f"http://a.test/{name}" for name in "123456"] + ["http://b.test/7", "http://b.test/8"]
    lines = [line(f"http://b.test/{name}", f"http://a.test/{name}") for name in "123"] + [line("http://a.test/8", "http://b.test/8")]
    lines += [line("http://a.test/x", "http://a.test/1"), line("http://c.test/", "http://a.test/1", rejected=True)]
    # A copy that is kept is both, as in a store's own counts.
    lines.append(line("http://b.test/7", "http://a.test/6"))
    lines.append(line("http://b.test/x", "http://a.test/6", kind=PREDICTED))
    found = hosts(kept, lines)
    assert found == [Host("b.test", 2, 4, 1), Host("a.test", 6, 2)]
    assert [host.share for host in found] == [0.667, 0.25]


def test_directories_count_as_hosts():
    lines = [line(f"http://a.test/v2/{name}", f"http://a.test/v1/{name}") for name in "123"]
    found = hosts([f"http://a.test/v1/{name}" for name in "123456"], lines, depth=1)
    assert {host.host: (host.pages, host.duplicates) for host in found} == {"a.test/v1": (6, 0), "a.test/v2": (0, 3)}
