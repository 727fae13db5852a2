"""URLs in which upper and lower case are one."""

from __future__ import annotations

import pytest

from simcrawl import RewriteRules
from simcrawl.rule import Kind, Verdict
from simcrawl.urls.learned import Explaining, Respelled, process_links, url_discarder
from simcrawl.urls.spellings import AnyCase, Spellings, differ_in_case

SITE = "http://example.org"
HOST = "example.org"
FORMS = {
    "capitals": ("/Boats/Boat-{}.aspx", "/boats/boat-{}.aspx"),
    "small first": ("/boats/boat-{}.aspx", "/Boats/BOAT-{}.ASPX"),
    "parameters": ("/Show.aspx?ID={}&Lang=en", "/show.aspx?id={}&lang=en"),
    "neither": ("/boatS/Boat-{}", "/Boats/boaT-{}"),
}


def _twice(rules: RewriteRules, form: str, numbers: range, *, host: str = SITE, copies: bool = True) -> None:
    """Fetch pages, and the same URLs in other case."""
    for number in numbers:
        page, other = (f"{host}{url.format(number * 7919)}" for url in FORMS[form])
        rules.observe(page, Verdict(kind=Kind.ADMITTED))
        rules.observe(other, Verdict(kind=Kind.NEAR_DUPLICATE, original=page) if copies else Verdict(kind=Kind.ADMITTED))


def _asked(rules: RewriteRules, form: str, numbers: range, *, host: str = SITE) -> list[str]:
    """Fetch pages; return the URLs in other case."""
    for number in numbers:
        rules.observe(f"{host}{FORMS[form][0].format(number * 7919)}", Verdict(kind=Kind.ADMITTED))
    return [f"{host}{FORMS[form][1].format(number * 7919)}" for number in numbers]


@pytest.mark.parametrize("form", FORMS)
def test_copies_in_other_case_are_skipped_after_sixty(form: str):
    rules = RewriteRules()
    _twice(rules, form, range(50))
    asked = _asked(rules, form, range(100, 150))
    assert all(rules.priority(url) < 0 for url in asked)
    assert not any(map(rules.would_skip, asked))
    _twice(rules, form, range(50, 70))
    found = [made for url in asked if (made := rules.would_skip(url))]
    # But for a sample.
    assert len(found) > 40
    assert {made.original for made in found} <= {f"{SITE}{FORMS[form][0].format(number * 7919)}" for number in range(100, 150)}


def test_where_some_are_pages_of_their_own_none_is_skipped():
    rules = RewriteRules()
    for start in range(0, 200, 40):
        _twice(rules, "capitals", range(start, start + 39))
        _twice(rules, "capitals", range(start + 39, start + 40), copies=False)
    assert not any(map(rules.would_skip, _asked(rules, "capitals", range(300, 350))))


def test_what_holds_in_one_part_of_a_host_need_not_hold_in_another():
    # A wiki has one page of Ada, and another one of ADA.
    rules = RewriteRules()
    _twice(rules, "capitals", range(80))
    for number in range(40):
        rules.observe(f"{SITE}/wiki/Ada{number}", Verdict(kind=Kind.ADMITTED))
    assert not any(rules.would_skip(f"{SITE}/wiki/ADA{number}") for number in range(40))


def test_each_host_reads_case_in_its_own_way():
    rules = RewriteRules()
    _twice(rules, "capitals", range(80))
    asked = _asked(rules, "capitals", range(100, 120), host="http://other.example")
    assert not any(map(rules.predict, asked))


def test_the_next_crawl_knows_the_rule_and_none_of_the_pages():
    rules = RewriteRules()
    _twice(rules, "capitals", range(80))
    rules = rules.next_crawl()
    assert rules.predict(f"{SITE}{FORMS['capitals'][1].format(0)}") is None
    asked = _asked(rules, "capitals", range(100, 150))
    assert all(rules.priority(url) < 0 for url in asked)
    assert not any(map(rules.would_skip, asked))
    # What is remembered weighs as twenty.
    _twice(rules, "capitals", range(200, 240))
    assert sum(rules.would_skip(url) is not None for url in asked) > 40


def test_what_a_page_says_of_its_case_is_tried_before_it_says_anything():
    rules = RewriteRules()
    rules.observe(f"{SITE}/boats/A1", Verdict(kind=Kind.ADMITTED), f"{SITE}/boats/a1")
    rules.observe(f"{SITE}/boats/A2", Verdict(kind=Kind.ADMITTED))
    assert rules.predict(f"{SITE}/boats/a2") is None
    rules.observe(f"{SITE}/boats/a1", Verdict(kind=Kind.NEAR_DUPLICATE, original=f"{SITE}/boats/A1"))
    made = rules.predict(f"{SITE}/boats/a2")
    assert made
    assert (made.original, made.rule) == (f"{SITE}/boats/A2", "upper and lower case are one")


def test_the_rule_is_told_and_written_for_nobody_else():
    rules = RewriteRules()
    _twice(rules, "neither", range(30))
    (rule,) = rules.rules()
    assert rule.means == Respelled(f"{SITE}/boats/")
    assert (rule.rule, rule.where, rule.support, rule.saves) == ("upper and lower case are one", f"{SITE}/boats/", 29, 29)
    explaining = Explaining([rule])
    assert explaining.rule_of(f"{SITE}/Boats/b?c=D", f"{SITE}/boats/B?c=d") is rule
    assert explaining.rule_of(f"{SITE}/Boats/b", f"{SITE}/boats/c") is None
    assert explaining.rule_of(f"{SITE}/A/b", f"{SITE}/a/b") is None
    assert explaining.rule_of("http://other.example/boats/A", "http://other.example/boats/a") is None
    assert url_discarder([rule]) == "[]"
    assert "cannot be written like this: 1." in process_links([rule])


@pytest.mark.parametrize(
    ("url", "other", "expected"),
    [
        ("http://a/B", "http://a/b", True),
        ("http://a/%C3%A9?Q=1", "http://a/%c3%a9?q=1", True),
        ("http://a/%C3%A9", "http://a/%c3%a9", False),
        ("http://a/b", "http://a/b", False),
        ("http://a/B", "http://a/b/", False),
    ],
)
def test_urls_that_differ_in_case(url: str, other: str, expected: bool):
    assert differ_in_case(url, other) is expected


def test_the_first_of_the_pages_is_the_twin_of_the_others():
    spellings = Spellings(seed=0)
    spellings.add(f"{SITE}/lost")
    assert spellings.learn(HOST, [f"{SITE}/Boats?a=1&b=2", f"{SITE}/boats?b=2&a=1", "http://other.example/X"])
    assert not spellings.learn(HOST, [])
    assert spellings.twin(f"{SITE}/BOATS?b=2&a=1") == f"{SITE}/Boats?a=1&b=2"
    # Itself, with its parameters in another order.
    assert spellings.twin(f"{SITE}/Boats?b=2&a=1") is None
    assert spellings.twin(f"{SITE}/Lost") is None
    assert spellings.twin("http://other.example/x") is None


def test_spellings_are_bounded():
    spellings = Spellings(seed=0)
    for number in range(300):
        spellings.learn(f"{number}.test", [])
    assert len(spellings._hosts) == 200
    for number in range(100_000):
        spellings.add(f"http://199.test/a{number}")
    spellings.add(f"http://199.test/{'b' * 300}")
    assert len(spellings._pages) + len(spellings._older) <= 40_000
    assert spellings.twin("http://199.test/a99999") is None
    assert spellings.twin("http://199.test/A99999") == "http://199.test/a99999"
    assert spellings.twin(f"http://199.test/{'B' * 300}") is None
    # Those that came first stay: each new one would be tried on the latest pages again.
    spellings.add("http://299.test/a")
    assert spellings.twin("http://299.test/A") is None


def test_a_host_is_tried_on_its_own_pages():
    rules = RewriteRules()
    _twice(rules, "capitals", range(80))
    _twice(rules, "capitals", range(1), host="http://other.example")
    assert rules._counters.get(AnyCase("other.example")) == [1, 1]
    assert rules._counters.get(("name", f"{SITE}/boats/boat-0.aspx")) == [1, 1]


def test_paths_in_any_case_say_nothing_of_values():
    rules = RewriteRules()
    for number in range(80):
        page = f"{SITE}/Shop/Show.aspx?id={number * 7919}"
        rules.observe(page, Verdict(kind=Kind.ADMITTED))
        rules.observe(page.lower(), Verdict(kind=Kind.NEAR_DUPLICATE, original=page))
    for name in ("ab", "cd", "ef", "gh", "ij", "kl", "mn"):
        rules.observe(f"{SITE}/Shop/Show.aspx?id={name}", Verdict(kind=Kind.ADMITTED))
        assert rules.would_skip(f"{SITE}/Shop/Show.aspx?id={name.upper()}") is None
    assert any(rules.would_skip(f"{SITE}/shop/show.aspx?id={name}") for name in ("ab", "cd", "ef", "gh", "ij", "kl", "mn"))


def test_directories_that_differ_in_case_are_replaced_like_others():
    rules = RewriteRules()
    for number in range(40):
        rules.observe(f"{SITE}/en/{number}.html", Verdict(kind=Kind.ADMITTED))
        rules.observe(f"{SITE}/EN/{number}.html", Verdict(kind=Kind.NEAR_DUPLICATE, original=f"{SITE}/en/{number}.html"))
    for number in range(40, 60):
        rules.observe(f"{SITE}/en/{number}.html", Verdict(kind=Kind.ADMITTED))
    assert sum(rules.would_skip(f"{SITE}/EN/{number}.html") is not None for number in range(40, 60)) > 14
