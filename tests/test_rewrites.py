from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from simcrawl import Prediction, RewriteRules, rewrites
from simcrawl.rule import Kind, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

SITE = "http://example.org"


def _kept() -> Verdict:
    return Verdict(kind=Kind.ADMITTED)


def _copy_of(original: str) -> Verdict:
    return Verdict(kind=Kind.NEAR_DUPLICATE, original=original, drop_page=True)


def _chapters(number: int, start: int = 0) -> list[str]:
    return [f"chapter-{name}.html" for name in range(start, start + number)]


def _mirrored(rules: RewriteRules, names: Iterable[str], *, here: str = f"{SITE}/mirror/", there: str = f"{SITE}/manual/") -> None:
    """Fetch pages and their copies."""
    for name in names:
        rules.observe(there + name, _kept())
        rules.observe(here + name, _copy_of(there + name))


def _fetch(rules: RewriteRules, names: Iterable[str], *, directory: str = f"{SITE}/manual/") -> None:
    for name in names:
        rules.observe(directory + name, _kept())


# ---- replacements


def test_a_mirror_is_known_by_some_of_its_pages():
    rules = RewriteRules()
    _mirrored(rules, _chapters(30))
    _fetch(rules, ["appendix.html"])
    made = rules.predict(f"{SITE}/mirror/appendix.html")
    assert isinstance(made, Prediction)
    assert (made.original, made.rule, made.support) == (f"{SITE}/manual/appendix.html", "'mirror' stands for 'manual'", 30)
    assert made.probability > 0.8
    assert rules.priority(f"{SITE}/mirror/appendix.html") < 0


def test_it_holds_in_both_directions():
    rules = RewriteRules()
    _mirrored(rules, _chapters(30))
    _fetch(rules, ["appendix.html"], directory=f"{SITE}/mirror/")
    made = rules.predict(f"{SITE}/manual/appendix.html")
    assert made is not None
    assert made.original == f"{SITE}/mirror/appendix.html"


def test_without_a_fetched_twin_nothing_is_predicted():
    rules = RewriteRules()
    _mirrored(rules, _chapters(30))
    assert rules.predict(f"{SITE}/mirror/appendix.html") is None
    assert rules.priority(f"{SITE}/mirror/appendix.html") == 0
    assert rules.priority(f"{SITE}/mirror/appendix.html", found_on=_copy_of(SITE)) == -1


def test_pages_that_differ_speak_against_a_rule():
    probabilities = []
    rules = RewriteRules()
    _mirrored(rules, _chapters(30))
    for name in _chapters(10, 100):
        made = rules.predict(f"{SITE}/mirror/chapter-0.html")
        assert made is not None
        probabilities.append(made.probability)
        _fetch(rules, [name])
        _fetch(rules, [name], directory=f"{SITE}/mirror/")
    assert probabilities[-1] < probabilities[0]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("https://example.org/", "http://example.org/"),
        ("http://www.example.org/", "http://example.org/"),
        ("http://example.org/docs/12/", "http://example.org/docs/11/"),
        ("http://example.org/en/stable/", "http://example.org/en/"),
        ("http://example.org/DOCS/", "http://example.org/docs/"),
        ("http://example.org/index.php?page=", "http://example.org/"),
    ],
)
def test_schemes_hosts_releases_and_what_was_put_in(here: str, there: str):
    rules = RewriteRules()
    _mirrored(rules, _chapters(30), here=here, there=there)
    _fetch(rules, ["appendix.html"], directory=there)
    made = rules.predict(f"{here}appendix.html")
    assert made is not None
    assert made.original == f"{there}appendix.html"


def test_a_parameter_that_may_be_left_out():
    rules = RewriteRules()
    for number in range(30):
        rules.observe(f"{SITE}/a?id={number}", _kept())
        rules.observe(f"{SITE}/a?id={number}&print=1", _copy_of(f"{SITE}/a?id={number}"))
    rules.observe(f"{SITE}/a?id=99", _kept())
    made = rules.predict(f"{SITE}/a?id=99&print=1")
    assert made is not None
    assert (made.original, made.rule) == (f"{SITE}/a?id=99", "'&print=1' may be left out")


def test_a_page_of_which_other_copies_differ_is_less_likely_a_copy():
    rules = RewriteRules()
    machines = ["amd64", "i386", "arm64", "armhf"]
    for name in _chapters(20):
        for machine in machines[:3]:
            url = f"{SITE}/{machine}/en/{name}"
            differs = int(name.removesuffix(".html").split("-")[1]) % 2
            rules.observe(url, _kept() if machine == "amd64" or differs else _copy_of(f"{SITE}/amd64/en/{name}"))
    rules.observe(f"{SITE}/amd64/en/index.html", _kept())
    rules.observe(f"{SITE}/armhf/en/index.html", _copy_of(f"{SITE}/amd64/en/index.html"))
    same, other = (rules.predict(f"{SITE}/armhf/en/chapter-{number}.html") for number in (2, 3))
    assert same is not None
    assert other is not None
    assert same.probability > other.probability


# ---- values that do not matter


def _wiki(rules: RewriteRules, pages: range) -> None:
    """Fetch a page, its login and its history, as a wiki links to them."""
    for number in pages:
        rules.observe(f"{SITE}/w?id={number}&do=history", _kept())
        first = f"{SITE}/w?id=0&do=login"
        rules.observe(f"{SITE}/w?do=login&id={number}", _copy_of(first) if number else _kept())


def test_a_parameter_matters_or_not_by_the_class_of_url():
    rules = RewriteRules()
    _wiki(rules, range(60))
    login = rules.predict(f"{SITE}/w?id=99&do=login")
    history = rules.predict(f"{SITE}/w?id=99&do=history")
    assert login is not None
    assert login.original == f"{SITE}/w?id=0&do=login"
    assert login.rule == "'id' does not matter"
    assert login.probability > 0.8
    assert history is None or history.probability < 0.1


# ---- skipping


def test_strong_evidence_skips_but_for_a_sample_and_a_miss_gives_back_what_it_skipped():
    rules = RewriteRules()
    _mirrored(rules, _chapters(200))
    _fetch(rules, _chapters(100, 1000))
    urls = [f"{SITE}/mirror/{name}" for name in _chapters(100, 1000)]
    skipped = [url for url in urls if rules.skips(url)]
    assert 75 <= len(skipped) < 100
    assert rules.released() == []
    sampled = next(url for url in urls if url not in skipped)
    rules.observe(sampled, _kept())
    assert sorted(rules.released()) == sorted(skipped)
    assert rules.released() == []
    assert not any(map(rules.skips, urls))


def test_a_hit_settles_what_was_skipped_before_it():
    rules = RewriteRules()
    _mirrored(rules, _chapters(200))
    _fetch(rules, _chapters(100, 1000))
    urls = [f"{SITE}/mirror/{name}" for name in _chapters(100, 1000)]
    skipped = {url for url in urls[:50] if rules.skips(url)}
    hit, miss = [url for url in urls if url not in skipped and not rules.skips(url)][:2]
    rules.observe(hit, _copy_of(hit.replace("mirror", "manual")))
    later = {url for url in urls[50:] if url not in {hit, miss} and rules.skips(url)}
    rules.observe(miss, _kept())
    assert later
    assert set(rules.released()) == later


@pytest.mark.parametrize(
    ("here", "mirrors", "skips"),
    [
        ("http://mirror.example.net/manual/", (), False),
        ("http://mirror.example.net/manual/", ("example.org", "mirror.example.net"), True),
        ("http://mirror.example.net/manual/", ("mirror.example.net",), False),
        ("https://www.example.org/manual/", (), True),
    ],
)
def test_rules_that_cross_hosts_only_order(here: str, mirrors: tuple[str, ...], skips: bool):
    rules = RewriteRules(mirrors=mirrors)
    _mirrored(rules, _chapters(200), here=here)
    _fetch(rules, _chapters(30, 1000))
    urls = [here + name for name in _chapters(30, 1000)]
    assert all(rules.priority(url) < 0 for url in urls)
    assert any(map(rules.skips, urls)) == skips


def test_little_evidence_skips_nothing():
    rules = RewriteRules()
    _mirrored(rules, _chapters(10))
    _fetch(rules, _chapters(100, 1000))
    assert not any(rules.skips(f"{SITE}/mirror/{name}") for name in _chapters(100, 1000))


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rewrites, "_MOST_HELD", 10)
    rules = RewriteRules()
    _mirrored(rules, _chapters(200))
    _fetch(rules, _chapters(100, 1000))
    assert sum(rules.skips(f"{SITE}/mirror/{name}") for name in _chapters(100, 1000)) == 10


# ---- whatever comes

_URLS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(["http://", "e.org", "/", "a", "b", "?", "&", "=", "x=1", "..", "é", "\ud800", "#", "-", "1", "//"]), max_size=14
    ).map("".join),
)


@given(st.lists(st.tuples(_URLS, st.none() | _URLS | st.just("")), max_size=30), st.lists(_URLS, max_size=5))
@settings(max_examples=300)
def test_any_url_and_any_history(history: list[tuple[str, str | None]], asked: list[str]):
    rules = RewriteRules()
    skipped = set()
    for url, original in history:
        rules.observe(url, _kept() if original is None else _copy_of(original))
        skipped |= {url for url in asked if rules.skips(url)}
        assert set(rules.released()) <= skipped
    for url in [*asked, *(url for url, _ in history)]:
        made = rules.predict(url)
        assert made is None or (0 <= made.probability <= 1 and made.original != url)
        assert rules.priority(url) % 10 == 0
        assert -90 <= rules.priority(url) <= 0


def test_pages_that_say_nothing_teach_nothing():
    rules = RewriteRules()
    _mirrored(rules, _chapters(30))
    before = rules.predict(f"{SITE}/mirror/chapter-0.html")
    for name in _chapters(30, 50):
        _fetch(rules, [name])
        rules.observe(f"{SITE}/mirror/{name}", Verdict(kind=Kind.SKIPPED, reason="empty"))
    assert rules.predict(f"{SITE}/mirror/chapter-0.html") == before


def test_a_crafted_site_fills_nothing_beyond_its_bounds(monkeypatch: pytest.MonkeyPatch):
    for name, most in (("_MOST_KNOWN", 200), ("_MOST_COUNTERS", 200), ("_MOST_FIRSTS", 100), ("_MOST_RECENT", 50), ("_MOST_SHAPES", 20)):
        monkeypatch.setattr(rewrites, name, most)
    rules = RewriteRules()
    draw = random.Random(7)
    for number in range(3000):
        words = ["".join(draw.choices("abcd", k=3)) for _ in range(draw.randrange(1, 12))]
        url = f"{SITE}/{'/'.join(words)}?{'&'.join(f'p{draw.randrange(9)}={number}' for _ in range(draw.randrange(4)))}"
        original = url.replace(words[0], "".join(draw.choices("efgh", k=3)), 1)
        rules.observe(url, _copy_of(original) if number % 2 else _kept())
    replacements, indifferent, counters = rules._replacements, rules._indifferent, rules._counters
    assert len(rules._known._pages) + len(rules._known._older) <= 200
    assert len(counters._counts) + len(counters._older) <= 200
    assert (len(rules._recent), len(indifferent._firsts) <= 100, len(indifferent._kinds)) == (50, True, 20)
    assert len(replacements._partners) <= 400
    assert len(replacements._inserted) <= 64
    assert all(len(runs) <= 8 for runs in replacements._runs.values())
    assert all(len(partners) <= 20 for partners in replacements._partners.values())


def test_endless_urls_are_left_alone():
    rules = RewriteRules()
    url = f"{SITE}/{'a/' * 2000}"
    rules.observe(url, _copy_of(SITE))
    assert rules.predict(url) is None
    assert rules.priority(url) == 0
    assert not rules.skips(url)
