"""What learned rules say to others: mirrors, and files for other programs, which read them here."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

import pytest
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
from hypothesis import given, strategies as st
from scrapy.link import Link

from simcrawl import RewriteRules
from simcrawl.rule import Kind, Verdict
from simcrawl.urls.learned import Explaining, LearnedRule, Mirror, Replaced, mirrors, process_links, url_discarder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SITE = "http://example.org"


def learned(*pairs: tuple[str, str], number: int = 30) -> list[LearnedRule]:
    """Return the rules of a crawl of originals and their copies, in whose URLs {} is a number."""
    rules = RewriteRules()
    for copy, original in pairs:
        for name in range(100, 100 + number):
            rules.observe(original.format(name), Verdict(kind=Kind.ADMITTED))
            rules.observe(copy.format(name), Verdict(kind=Kind.NEAR_DUPLICATE, original=original.format(name)))
    return rules.rules()


def wiki() -> list[LearnedRule]:
    """Return the rules of a wiki whose login pages are one, and whose histories are not."""
    rules, first = RewriteRules(), ""
    for name in range(40):
        rules.observe(f"{SITE}/w?do=history&id={name}", Verdict(kind=Kind.ADMITTED))
        login = f"{SITE}/w?do=login&id={name}"
        rules.observe(login, Verdict(kind=Kind.NEAR_DUPLICATE, original=first) if first else Verdict(kind=Kind.ADMITTED))
        first = first or login
    return rules.rules()


# ---- mirrors


@pytest.mark.parametrize(
    ("copy", "original", "a", "b"),
    [
        (f"{SITE}/mirror/{{}}.html", f"{SITE}/manual/{{}}.html", "example.org/manual", "example.org/mirror"),
        (f"{SITE}/mirror/en/{{}}.html", f"{SITE}/en/{{}}.html", "example.org", "example.org/mirror"),
        (f"{SITE}/docs/12/{{}}.html", f"{SITE}/docs/11/{{}}.html", "example.org/docs/11", "example.org/docs/12"),
        ("http://mirror.example.net/a/{}", f"{SITE}/a/{{}}", "example.org", "mirror.example.net"),
        ("http://www.example.org/a/{}", f"{SITE}/a/{{}}", "example.org", "www.example.org"),
        # The mirror was met first.
        (f"{SITE}/{{}}", f"{SITE}/mirror/{{}}", "example.org/mirror", "example.org"),
        (f"{SITE}/en/{{}}.html", f"{SITE}/mirror/en/{{}}.html", "example.org/mirror", "example.org"),
        (f"{SITE}/a/{{}}", "http://www.example.org/a/{}", "www.example.org", "example.org"),
        ("http://a.test/{}", "http://b.test/{}", "b.test", "a.test"),
        ("https://example.org/a/{}", f"{SITE}/a/{{}}", "http://example.org", "https://example.org"),
        ("http://example.org:8000/a/{}", "http://example.org:9000/a/{}", "example.org:9000", "example.org:8000"),
    ],
)
def test_hosts_and_directories_that_stand_for_each_other_are_mirrors(copy: str, original: str, a: str, b: str):
    (mirror,) = mirrors(learned((copy, original)))
    assert mirror == Mirror(a, b, 29, 29)
    assert mirror.share == 1.0


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        (f"{SITE}/a/{{}}.htm", f"{SITE}/a/{{}}.html"),
        (f"{SITE}/{{}}-en/a", f"{SITE}/{{}}-de/a"),
        (f"{SITE}/a?id={{}}&print=1", f"{SITE}/a?id={{}}"),
        (f"{SITE}/a?in=b/c/{{}}", f"{SITE}/a?in=d/c/{{}}"),
    ],
)
def test_other_rules_are_no_mirrors(copy: str, original: str):
    rules = learned((copy, original))
    assert rules
    assert mirrors(rules) == []


def test_a_mirror_has_some_copies_and_most_of_its_pages():
    rules = learned((f"{SITE}/mirror/{{}}", f"{SITE}/manual/{{}}"), number=4)
    assert len(mirrors(rules)) == 1
    assert mirrors(rules, min_copies=4) == []
    halves = [rule._replace(support=7) for rule in rules]
    assert mirrors(halves) == []
    assert len(mirrors(halves, min_share=0.4)) == 1


# ---- what explains a pair


def test_the_rule_that_leads_from_a_copy_to_its_original_is_found():
    pairs = [("mirror/{}.html", "manual/{}.html"), ("a?id={}&print=1", "a?id={}"), ("b/{0}/?reply={0}", "b/{0}/")]
    rules = learned(*((f"{SITE}/{copy}", f"{SITE}/{original}") for copy, original in pairs))
    explaining = Explaining(rules + wiki())
    told = {
        (f"{SITE}/mirror/7.html", f"{SITE}/manual/7.html"): "'mirror' stands for 'manual'",
        (f"{SITE}/manual/7.html", f"{SITE}/mirror/7.html"): "'mirror' stands for 'manual'",
        (f"{SITE}/a?id=7&print=1", f"{SITE}/a?id=7"): "'&print=1' may be left out",
        (f"{SITE}/b/7/?reply=1", f"{SITE}/b/7/"): "'reply=*' may be left out",
        (f"{SITE}/b/7/", f"{SITE}/b/7/?reply=1"): "'reply=*' may be left out",
        (f"{SITE}/b/7/?reply=1", f"{SITE}/b/8/"): None,
        (f"{SITE}/c/7/?reply=1", f"{SITE}/c/7/"): None,
        (f"{SITE}/w?do=login&id=7", f"{SITE}/w?do=login&id=9"): "'id' does not matter",
        (f"{SITE}/w?do=login&id=7", f"{SITE}/login"): "'id' does not matter",
        (f"{SITE}/w?do=history&id=7", f"{SITE}/w?do=history&id=9"): None,
        (f"{SITE}/w?do=login&id=7", f"{SITE}/w?do=history&id=7"): None,
        (f"{SITE}/mirror/7.html", f"{SITE}/manual/8.html"): None,
        ("http://a.test/mirror/7.html", "http://a.test/manual/7.html"): None,
        ("no url", "neither"): None,
    }
    found = {pair: explaining.rule_of(*pair) for pair in told}
    assert {pair: rule and rule.rule.removeprefix("segment 1, ") for pair, rule in found.items()} == told


def test_every_rule_explains_its_examples():
    pairs = [("mirror/{}.html", "manual/{}.html"), ("x/{}?print=1", "x/{}"), ("y/{}", "y/first/{}"), ("z/{0}?a={0}", "z/{0}")]
    rules = learned(*((f"{SITE}/{copy}", f"{SITE}/{original}") for copy, original in pairs)) + wiki()
    explaining = Explaining(rules)
    assert len(rules) == 5
    assert all(explaining.rule_of(*pair) is rule for rule in rules for pair in rule.examples)


# ---- duplicate-url-discarder


@pytest.fixture
def canonical(tmp_path: Path) -> Callable[[list[LearnedRule], str], str]:
    def canonical(rules: list[LearnedRule], url: str) -> str:
        file = tmp_path / "rules.json"
        file.write_text(url_discarder(rules))
        return str(UrlCanonicalizer([file]).process_url(url))

    return canonical


@pytest.mark.parametrize(
    ("copy", "original", "others"),
    [
        (f"{SITE}/a?id={{}}&print=1", f"{SITE}/a?id={{}}", [f"{SITE}/a?id=1&print=2", f"{SITE}/a?id=1&page=1"]),
        (f"{SITE}/docs/{{}}?print=1", f"{SITE}/docs/{{}}", [f"{SITE}/other/1?print=1", "http://example.net/docs/1?print=1"]),
        (f"{SITE}/a?print=1&id={{}}", f"{SITE}/a?id={{}}", [f"{SITE}/b?print=1&id=3"]),
        (f"{SITE}/en/stable/{{}}", f"{SITE}/en/{{}}", [f"{SITE}/de/stable/1", f"{SITE}/en/testing/1"]),
        (f"{SITE}/mirror/{{}}", f"{SITE}/{{}}", [f"{SITE}/mirrors/1"]),
        (f"{SITE}/docs/{{0}}?reply={{0}}", f"{SITE}/docs/{{0}}", [f"{SITE}/docs/1?print=1", f"{SITE}/other/1?reply=1"]),
        (f"{SITE}/a?by={{0}}&id={{0}}&of=1", f"{SITE}/a?id={{0}}", [f"{SITE}/a?by=7&id=3&of=2", "http://example.net/a?by=7&id=3&of=1"]),
    ],
)
def test_the_library_leaves_out_what_may_be_left_out(canonical: Any, copy: str, original: str, others: list[str]):
    rules = learned((copy, original))
    assert canonical(rules, copy.format(500)) == canonical(rules, original.format(500)) == original.format(500)
    assert [canonical(rules, url) for url in others] == others
    assert "SWAPS = [\n]" in process_links(rules)


def test_the_library_leaves_out_values_that_do_not_matter_in_their_class_alone(canonical: Any):
    rules = wiki()
    assert canonical(rules, f"{SITE}/w?do=login&id=500") == canonical(rules, f"{SITE}/w?id=7&do=login") == f"{SITE}/w?do=login"
    others = [f"{SITE}/w?do=history&id=500", f"{SITE}/w?do=login", f"{SITE}/w/x?do=login&id=5"]
    assert [canonical(rules, url) for url in others] == others


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        (f"{SITE}/mirror/{{}}", f"{SITE}/manual/{{}}"),
        (f"{SITE}/a/{{}}/", f"{SITE}/a/{{}}"),
        (f"{SITE}/{{}}", f"{SITE}/mirror/{{}}"),
        ("http://b.test/x/{}", "http://c.test/x/{}"),
        (f"{SITE}/a?id={{}}&v=*1", f"{SITE}/a?id={{}}"),
        (f"{SITE}/a/{{0}}?v*={{0}}", f"{SITE}/a/{{0}}"),
    ],
)
def test_what_the_library_cannot_say_it_is_not_told(copy: str, original: str):
    rules = learned((copy, original))
    assert rules
    assert json.loads(url_discarder(rules)) == []


# ---- process_links


def rewritten(rules: list[LearnedRule], *urls: str) -> list[str]:
    """Return what the written function makes of links."""
    names: dict[str, Any] = {}
    exec(process_links(rules), names)
    return [link.url for link in names["process_links"]([Link(url) for url in urls])]


@pytest.mark.parametrize(
    ("copy", "original", "others"),
    [
        (f"{SITE}/mirror/{{}}", f"{SITE}/manual/{{}}", [f"{SITE}/mirrors/1", f"{SITE}/a/mirror/1", "http://a.test/mirror/1"]),
        (f"{SITE}/docs/12/{{}}", f"{SITE}/docs/11/{{}}", [f"{SITE}/docs/123/1", f"{SITE}/docs/1"]),
        (f"{SITE}/docs/{{}}/", f"{SITE}/docs/{{}}", [f"{SITE}/docs/", f"{SITE}/other/1/"]),
        (f"{SITE}/docs/{{}}.htm", f"{SITE}/docs/{{}}.html", [f"{SITE}/docs/1.xhtm", f"{SITE}/docs/1.htm/2"]),
        ("http://www.example.org/a/{}", f"{SITE}/a/{{}}", ["http://www.example.net/a/1"]),
        ("http://example.org/a/{}", "https://example.org/a/{}", ["http://example.net/a/1"]),
        (f"{SITE}/a/{{}}", "http://www.example.org/a/{}", ["http://example.net/a/1"]),
    ],
)
def test_the_function_leads_links_from_copies_to_their_originals(copy: str, original: str, others: list[str]):
    rules = learned((copy, original))
    assert rewritten(rules, copy.format(500), original.format(500)) == [original.format(500)] * 2
    assert rewritten(rules, *others) == others


def test_a_rule_that_leads_both_ways_is_told_in_the_direction_of_most():
    rules = RewriteRules()
    for name in range(100, 150):
        pair = (f"{SITE}/{name}", f"{SITE}/mirror/{name}")
        copy, original = pair if name % 5 else pair[::-1]
        rules.observe(original, Verdict(kind=Kind.ADMITTED))
        rules.observe(copy, Verdict(kind=Kind.NEAR_DUPLICATE, original=original))
    (rule,) = rules.rules()
    assert rule.rule == "'mirror/' may be put in"
    assert set(rule.examples) <= {(f"{SITE}/{name}", f"{SITE}/mirror/{name}") for name in range(100, 150)}
    assert [(mirror.a, mirror.b) for mirror in mirrors([rule])] == [("example.org/mirror", "example.org")]


def test_the_function_leads_no_link_to_another_host():
    rules = learned(("http://a.test/x/{}", "http://b.test/x/{}"))
    assert rewritten(rules, "http://a.test/x/1") == ["http://a.test/x/1"]
    assert "Rules that cannot be written like this: 1." in process_links(rules)


_NASTY = st.text(st.sampled_from("'\"\\\n\r\u2028{}[]#\ud800 a/?&=")) | st.text()


@given(_NASTY, _NASTY, _NASTY, st.booleans())
def test_whatever_urls_say_is_text_in_the_function(start: str, run: str, other: str, many: bool):
    part = f"{SITE}/{start}"
    pair = f"{part}{run}", f"{part}{other}"
    rule = LearnedRule(f"{run!r} stands for {other!r}", part, 0.99, 50, 50, (pair,), Replaced(part, () if many else (part,), run, other))
    written = process_links([rule]).encode("utf-8", "strict").decode()
    tree = ast.parse(written)
    kinds = {type(node) for node in tree.body}
    assert kinds == {ast.Expr, ast.Assign, ast.FunctionDef}
    assert len(tree.body) == 6
    tables = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]
    assert sum(map(len, tables)) <= 1
    exec(written, {})
