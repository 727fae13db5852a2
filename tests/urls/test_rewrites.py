from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from simcrawl import Prediction, RewriteRules
from simcrawl.rule import Kind, Verdict
from simcrawl.urls import classes, evidence, names, parameters, redirects as redirecting, replacements, rewrites
from simcrawl.urls.learned import Indifferent, LeftOut, Replaced, mirrors as learned_mirrors

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

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


@pytest.mark.parametrize(
    ("a", "b", "rule"),
    [
        ("10.0.0.1", "192.168.7.5", "'192.168.7.5' stands for '10.0.0.1'"),
        ("10.0.0.1", "10.0.0.2", "'10.0.0.2' stands for '10.0.0.1'"),
        ("127.0.0.1:8001", "127.0.0.1:8002", "'127.0.0.1:8002' stands for '127.0.0.1:8001'"),
        ("10.0.0.1", "example.org", "'example.org' stands for '10.0.0.1'"),
        ("ftp.de.example.org", "mirror.example.co.uk", "'mirror.example.co.uk' stands for 'ftp.de.example.org'"),
        ("de.example.org", "fr.example.org", "'fr' stands for 'de'"),
    ],
)
def test_whole_hosts_stand_for_each_other(a: str, b: str, rule: str):
    names = [host.partition(":")[0] for host in (a, b)]
    rules = RewriteRules(mirrors=names)
    _mirrored(rules, _chapters(60), here=f"http://{b}/manual/", there=f"http://{a}/manual/")
    asked = _chapters(20, 60)
    _fetch(rules, asked, directory=f"http://{a}/manual/")
    (learned,) = rules.rules()
    assert (learned.rule, learned.saves) == (rule, 59)
    # But for a sample.
    assert sum(rules.skips(f"http://{b}/manual/{name}") for name in asked) >= 15
    (mirror,) = learned_mirrors(rules.rules())
    assert {mirror.a, mirror.b} == {a, b}
    # Part of an address is no word that stands for another one elsewhere.
    assert not [
        twin.url for twin in rules._twins(classes.Address(f"http://{a}/manual/chapter-1.html", 0)) if twin.url.startswith(f"http://{a}/")
    ]


def test_long_runs_of_a_path_are_no_rule():
    rules = RewriteRules()
    _mirrored(rules, _chapters(60), here=f"{SITE}/a/b/c/d/e/", there=f"{SITE}/v/w/x/y/z/")
    assert rules.rules() == []


def test_a_release_that_stands_in_two_places_of_a_path_is_a_rule():
    rules = RewriteRules()
    _mirrored(rules, _chapters(30), here=f"{SITE}/new/doc/python3.13/", there=f"{SITE}/old/doc/python3.11/")
    assert [rule.rule for rule in rules.rules()] == ["'new/doc/python3.13' stands for 'old/doc/python3.11'"]


def test_that_translations_differ_does_not_speak_against_another_release():
    rules = RewriteRules()
    for number, name in enumerate(_chapters(80)):
        rules.observe(f"{SITE}/old/en/{name}", _kept())
        # Six pages in ten have changed in the new release; one in forty is not translated.
        rules.observe(f"{SITE}/new/en/{name}", _kept() if number % 10 < 6 else _copy_of(f"{SITE}/old/en/{name}"))
        rules.observe(f"{SITE}/old/de/{name}", _copy_of(f"{SITE}/old/en/{name}") if number % 40 == 0 else _kept())
    _fetch(rules, ["alone.html", "translated.html"], directory=f"{SITE}/old/en/")
    _fetch(rules, ["translated.html"], directory=f"{SITE}/old/de/")
    assert rules.priority(f"{SITE}/new/en/translated.html") == rules.priority(f"{SITE}/new/en/alone.html") < 0


def test_a_page_that_differed_where_others_did_not_comes_sooner_elsewhere():
    rules = RewriteRules()
    for directory in ("en", "de"):
        for number, name in enumerate(_chapters(30)):
            rules.observe(f"{SITE}/old/{directory}/{name}", _kept())
            rules.observe(f"{SITE}/new/{directory}/{name}", _kept() if number == 7 else _copy_of(f"{SITE}/old/{directory}/{name}"))
    _fetch(rules, ["index.html", *_chapters(30)], directory=f"{SITE}/old/fr/")
    rules.observe(f"{SITE}/new/fr/index.html", _copy_of(f"{SITE}/old/fr/index.html"))
    sooner, later = (rules.priority(f"{SITE}/new/fr/chapter-{number}.html") for number in (7, 8))
    assert sooner > later


def test_a_page_waits_for_what_became_of_pages_whose_names_begin_alike():
    rules = RewriteRules()
    changed, equal = ([f"{begin}{number:02}.html" for number in range(12)] for begin in ("array", "basic"))
    for here, there in zip(changed, equal, strict=True):
        _fetch(rules, [here, there], directory=f"{SITE}/old/")
        rules.observe(f"{SITE}/new/{here}", _kept())
        rules.observe(f"{SITE}/new/{there}", _copy_of(f"{SITE}/old/{there}"))
    _fetch(rules, ["array77.html", "basic77.html"], directory=f"{SITE}/old/")
    assert rules.priority(f"{SITE}/new/array77.html") > rules.priority(f"{SITE}/new/basic77.html")


def test_what_names_count_for_is_learned():
    def site(rules: RewriteRules, *, tell: bool) -> None:
        for number, name in enumerate(_chapters(80)):
            for place, directory in enumerate(("en", "de")):
                rules.observe(f"{SITE}/old/{directory}/{name}", _kept())
                # Every other page has changed: in both languages, or in one of them.
                differs = (number + (0 if tell else place)) % 2
                rules.observe(f"{SITE}/new/{directory}/{name}", _kept() if differs else _copy_of(f"{SITE}/old/{directory}/{name}"))

    said = []
    for tell in (True, False):
        rules = RewriteRules()
        site(rules, tell=tell)
        said.append(rules._order._weights[3])
        assert rules.next_crawl()._order._weights == rules._order._weights
    assert said[0] > 1 > said[1]


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


def test_what_pages_name_as_canonical_suggests_a_rule_that_has_to_prove_right():
    rules = RewriteRules()
    rules.observe(f"{SITE}/a", _kept())
    # Its canonical page was not fetched, so this one is no copy of it.
    rules.observe(f"{SITE}/b?print=1", _kept(), canonical=f"{SITE}/b")
    assert rules.predict(f"{SITE}/a?print=1") is None
    rules.observe(f"{SITE}/a?print=1", _copy_of("http://example.com/a"))
    rules.observe(f"{SITE}/c", _kept())
    made = rules.predict(f"{SITE}/c?print=1")
    assert made
    assert (made.original, made.rule) == (f"{SITE}/c", "'?print=1' may be left out")
    for name in _chapters(40):
        rules.observe(f"{SITE}/{name}", _kept())
        rules.observe(f"{SITE}/{name}?print=1", _kept(), canonical=f"{SITE}/{name}")
    assert rules.priority(f"{SITE}/c?print=1") == 0


@pytest.mark.parametrize("canonical", ["http://example.com/b", f"{SITE}/b?print=1", "", f"{SITE}/{'b' * 1_000_000}", "http://[b"])
def test_what_no_page_of_a_site_can_say_of_itself_suggests_nothing(canonical: str):
    rules = RewriteRules()
    rules.observe(f"{SITE}/a", _kept())
    rules.observe("http://example.com/a", _kept())
    rules.observe(f"{SITE}/b?print=1", _kept(), canonical=canonical)
    assert not any(rules.predict(url) for url in (f"{SITE}/a?print=1", f"{SITE}/a", "http://example.com/a"))


def test_pages_that_lie_leave_room_for_rules():
    rules = RewriteRules()
    for number in range(1000):
        rules.observe(f"{SITE}/lie-{number}", _kept(), canonical=f"{SITE}/another-{number}-lie")
    _mirrored(rules, _chapters(40))
    _fetch(rules, ["appendix.html"])
    made = rules.predict(f"{SITE}/mirror/appendix.html")
    assert made
    assert made.probability > 0.8


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


@pytest.mark.parametrize("url", ["/show/{}.do;session={:x}", "/show?page={};session={:x}", "/show;session={1:x}?page={0}"])
def test_sessions_behind_a_semicolon_do_not_matter(url: str):
    rules = RewriteRules()
    for number in range(40):
        first, again = (SITE + url.format(number, session) for session in (7919 * number + 1, 7919 * number + 2))
        rules.observe(first, _kept())
        rules.observe(again, _copy_of(first))
    rules.observe(SITE + url.format(99, 5), _kept())
    made = rules.predict(SITE + url.format(99, 6))
    assert made is not None
    assert (made.original, made.rule) == (SITE + url.format(99, 5), "'session' does not matter")
    assert rules.predict(SITE + url.format(100, 7)) is None


def test_parameters_behind_semicolons_are_one_page_in_any_order():
    rules = RewriteRules()
    for number in range(30):
        rules.observe(f"{SITE}/git?p=a;h={number}", _kept())
        rules.observe(f"{SITE}/git?p=a;v=full;h={number}", _copy_of(f"{SITE}/git?p=a;h={number}"))
    rules.observe(f"{SITE}/git?h=99;p=a", _kept())
    made = rules.predict(f"{SITE}/git?p=a;v=full;h=99")
    assert made is not None
    assert (made.original, made.rule) == (f"{SITE}/git?p=a;h=99", "'v=full;' may be left out")


def test_a_list_of_values_between_semicolons_is_one_value():
    one, other = (classes.Address(f"{SITE}/compare?of={values}", 0) for values in ("1;2;3", "1;3;2"))
    assert one.shape == other.shape == ("example.org", 1, ("of",))
    assert one.key != other.key


# ---- skipping


def test_all_of_a_class_may_be_copies_of_one_page_elsewhere():
    rules = RewriteRules()
    login = f"{SITE}/login?from=front"
    rules.observe(login, _kept())
    for number in range(60):
        rules.observe(f"{SITE}/reply?do=new&p={number}", _copy_of(login))
        rules.observe(f"{SITE}/topic/{number}", _kept())
    made = rules.predict(f"{SITE}/reply?do=new&p=99")
    assert made is not None
    assert (made.original, made.rule) == (login, "'p' does not matter")
    assert sum(rules.skips(f"{SITE}/reply?do=new&p={number}") for number in range(100, 200)) > 80


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("url", ["/item?id={}", "/shop/b/item{}"])
def test_what_all_pages_say_for_a_while_makes_nothing_skip(url: str, *, elsewhere: bool):
    # "Down for maintenance": the real pages come later, and another host's say nothing of them.
    rules = RewriteRules()
    wall = SITE + url.format(0)
    rules.observe(wall, _kept())
    for number in range(1, 100):
        rules.observe(SITE + url.replace("/b/", "/a/").format(number), _copy_of(wall))
        rules.observe(SITE + url.format(number), _copy_of(wall))
        if elsewhere:
            rules.observe(f"http://elsewhere.test/{number}", _kept())
    assert not any(rules.skips(SITE + url.format(number)) for number in range(100, 300))


def test_a_class_whose_pages_are_copies_of_many_pages_is_put_off_and_never_skipped():
    rules = RewriteRules()
    for number in range(200):
        rules.observe(f"{SITE}/thread?t={number}", _kept())
        rules.observe(f"{SITE}/post?goto=1&p={number}", _copy_of(f"{SITE}/thread?t={number}"))
    assert rules.priority(f"{SITE}/post?goto=1&p=999") < 0
    assert not any(rules.skips(f"{SITE}/post?goto=1&p={number}") for number in range(1000, 1100))


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


def test_where_a_rule_was_wrong_when_it_was_sure_it_skips_nothing_any_more():
    rules = RewriteRules()
    books = [f"{SITE}/manual/{book}/" for book in ("a", "b", "c")]

    def skips(book: str) -> bool:
        # New chapters each time, of which some are samples.
        _fetch(rules, names := _chapters(40, next(numbers)), directory=book)
        return any(rules.skips(book.replace("manual", "mirror") + name) for name in names)

    def miss(book: str) -> None:
        _fetch(rules, ["new.html"], directory=book)
        rules.observe(book.replace("manual", "mirror") + "new.html", _kept())
        _mirrored(rules, _chapters(200, next(numbers)), here=book.replace("manual", "mirror"), there=book)

    numbers = iter(range(1000, 1_000_000, 1000))
    for book in books:
        _mirrored(rules, _chapters(200), here=book.replace("manual", "mirror"), there=book)
    assert all(map(skips, books))
    miss(books[0])
    assert [skips(book) for book in books] == [False, True, True]
    miss(books[1])
    assert not any(map(skips, books))


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


def test_copies_that_lead_to_new_pages_are_not_skipped():
    rules = RewriteRules()
    _mirrored(rules, _chapters(100))
    _fetch(rules, _chapters(200, 1000))
    asked = [f"{SITE}/mirror/{name}" for name in _chapters(200, 1000)]
    assert any(map(rules.would_skip, asked))
    for name in _chapters(20):
        # Each counts once, however many of its links lead on.
        rules.led_on(f"{SITE}/mirror/{name}")
        rules.led_on(f"{SITE}/mirror/{name}")
    assert any(map(rules.would_skip, asked))
    for name in _chapters(50):
        rules.led_on(f"{SITE}/mirror/{name}")
    assert not any(map(rules.would_skip, asked))
    assert all(rules.priority(url) < 0 for url in asked)


@pytest.mark.parametrize(("led", "asked"), [(1, 0), (0, 10)])
def test_copies_that_ask_for_what_their_originals_do_not_foretell_may_hardly_lead_on(led: int, asked: int):
    rules = RewriteRules()
    _mirrored(rules, _chapters(100))
    _fetch(rules, _chapters(200, 1000))
    pages = [f"{SITE}/mirror/{name}" for name in _chapters(200, 1000)]
    copies = [f"{SITE}/mirror/{name}" for name in _chapters(100)]
    for number in range(max(led, asked)):
        assert any(map(rules.would_skip, pages))
        # Each copy counts once.
        for _ in range(2):
            if number < led:
                rules.led_on(copies[number], apart=True)
            if number < asked:
                rules.asked_apart(copies[number])
    assert not any(map(rules.would_skip, pages))
    assert all(rules.priority(url) < 0 for url in pages)


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


# ---- from one crawl to the next


def _after_a_crawl(**options: Any) -> RewriteRules:
    """Return rules that remember a mirror and the login pages of a wiki."""
    rules = RewriteRules(**options)
    _mirrored(rules, _chapters(200))
    _wiki(rules, range(60))
    return rules.next_crawl()


def test_the_next_crawl_orders_at_once_and_skips_after_twenty_confirmations():
    rules = _after_a_crawl()
    _fetch(rules, _chapters(200))
    assert rules.priority(f"{SITE}/mirror/chapter-0.html") <= -50
    skipping = []
    for name in _chapters(40):
        skipping.append(any(rules.would_skip(f"{SITE}/mirror/{other}") for other in _chapters(20, 100)))
        rules.observe(f"{SITE}/mirror/{name}", _copy_of(f"{SITE}/manual/{name}"))
    assert skipping == [False] * 20 + [True] * 20


def test_an_original_of_an_earlier_crawl_that_comes_after_its_copy_is_no_miss_and_does_not_wait():
    rules = _after_a_crawl()
    for name in _chapters(30):
        rules.observe(f"{SITE}/mirror/{name}", _copy_of(f"{SITE}/manual/{name}"))
        assert rules.priority(f"{SITE}/manual/{name}") == 0
        rules.observe(f"{SITE}/manual/{name}", _kept())
    _fetch(rules, _chapters(20, 100))
    made = rules.would_skip(f"{SITE}/mirror/chapter-101.html")
    assert made is not None
    assert made.original == f"{SITE}/manual/chapter-101.html"
    # Of another page that copy says what it says of any.
    rules.observe(f"{SITE}/mirror/chapter-50.html", _copy_of(f"{SITE}/manual/chapter-51.html"))
    assert rules.priority(f"{SITE}/manual/chapter-50.html") < 0


def test_pages_that_only_an_earlier_crawl_fetched_are_no_twins():
    rules = _after_a_crawl()
    assert rules.predict(f"{SITE}/mirror/chapter-0.html") is None
    assert rules.predict(f"{SITE}/w?do=login&id=7") is None
    rules.observe(f"{SITE}/w?do=login&id=3", _kept())
    made = rules.predict(f"{SITE}/w?do=login&id=7")
    assert made is not None
    assert made.original == f"{SITE}/w?do=login&id=3"
    assert made.probability > 0.8


def test_an_original_that_this_crawl_has_not_fetched_is_no_twin():
    rules = _after_a_crawl()
    rules.observe(f"{SITE}/w?do=login&id=3", _copy_of(f"{SITE}/w?id=0&do=login"))
    assert rules.predict(f"{SITE}/w?do=login&id=7") is None
    rules.observe(f"{SITE}/w?id=0&do=login", _kept())
    rules.observe(f"{SITE}/w?do=login&id=4", _copy_of(f"{SITE}/w?id=0&do=login"))
    assert rules.predict(f"{SITE}/w?do=login&id=7") is not None


def test_the_first_page_of_a_directory_is_not_skipped_and_waits_less():
    rules = RewriteRules()
    for book in range(40):
        _mirrored(rules, _chapters(4), here=f"{SITE}/two/{book}/", there=f"{SITE}/one/{book}/")
    _fetch(rules, _chapters(30), directory=f"{SITE}/one/last/")
    urls = [f"{SITE}/two/last/{name}" for name in _chapters(30)]
    assert not any(map(rules.would_skip, urls))
    first = rules.priority(urls[0])
    for name in _chapters(4):
        assert not any(map(rules.would_skip, urls))
        rules.observe(f"{SITE}/two/last/{name}", _copy_of(f"{SITE}/one/last/{name}"))
    assert sum(map(bool, map(rules.would_skip, urls))) > 20
    assert rules.priority(urls[2]) < first < 0


def test_another_host_cannot_confirm_a_rule_here():
    rules, other = RewriteRules(seed=1), "http://other.example"
    _mirrored(rules, _chapters(1000), here=f"{other}/b/", there=f"{other}/a/")
    _mirrored(rules, _chapters(2), here=f"{SITE}/b/", there=f"{SITE}/a/")
    _fetch(rules, _chapters(400, 2), directory=f"{SITE}/a/")
    assert not any(rules.would_skip(f"{SITE}/b/{name}") for name in _chapters(400, 2))


def test_another_host_cannot_say_which_half_of_the_pages_are_copies():
    rules, other = RewriteRules(seed=1), "http://other.example"
    for number, name in enumerate(_chapters(400)):
        ours, twin = f"{SITE}/b/{name}", f"{SITE}/a/{name}"
        rules.observe(twin, _kept())
        rules.observe(ours, _kept() if number % 2 else _copy_of(twin))
        rules.observe(f"{other}/b/{name}", _copy_of(ours if number % 2 else twin))
    for name in _chapters(400, 400):
        rules.observe(f"{SITE}/a/{name}", _kept())
        rules.observe(f"{other}/b/{name}", _copy_of(f"{SITE}/a/{name}"))
    assert not any(rules.would_skip(f"{SITE}/b/{name}") for name in _chapters(400, 400))


def test_a_copy_of_a_copy_is_skipped_for_the_page_that_was_kept():
    """Of three directories the first two are alike in part; the third is the mirror of the second, and tells nothing of the first."""
    rules = RewriteRules(seed=1)
    for number, name in enumerate(_chapters(60)):
        rules.observe(f"{SITE}/a/{name}", _kept())
        same = number % 2 == 0
        rules.observe(f"{SITE}/b/{name}", _copy_of(f"{SITE}/a/{name}") if same else _kept())
        rules.observe(f"{SITE}/mirror/{name}", _copy_of(f"{SITE}/a/{name}" if same else f"{SITE}/b/{name}"))
    names = _chapters(40, 60)
    for name in names:
        rules.observe(f"{SITE}/a/{name}", _kept())
        rules.observe(f"{SITE}/b/{name}", _copy_of(f"{SITE}/a/{name}"))
    made = [made for name in names if (made := rules.would_skip(f"{SITE}/mirror/{name}"))]
    assert len(made) > 30
    assert {one.original.rpartition("/")[0] for one in made} == {f"{SITE}/a"}


def _three_alike(rules: RewriteRules, names: Iterable[str]) -> None:
    for name in names:
        rules.observe(f"{SITE}/a/{name}", _kept())
        for directory in "bc":
            rules.observe(f"{SITE}/{directory}/{name}", _copy_of(f"{SITE}/a/{name}"))


@pytest.mark.parametrize(("shift", "skips"), [(0, True), (1, False)])
def test_where_chapters_are_numbered_otherwise_nothing_is_skipped(shift: int, *, skips: bool):
    """Of the second manual each chapter is a copy of the next one of the first: who knows how the third one counts."""
    rules = RewriteRules()
    _three_alike(rules, _chapters(200))
    _mirrored(rules, _chapters(40, 500), here=f"{SITE}/c/", there=f"{SITE}/b/")
    first, names = _chapters(41, 1000), _chapters(40, 1000)
    _fetch(rules, first, directory=f"{SITE}/a/")
    for number, name in enumerate(names):
        rules.observe(f"{SITE}/b/{name}", _copy_of(f"{SITE}/a/{first[number + shift]}"))
    assert any(rules.would_skip(f"{SITE}/c/{name}") for name in names) is skips


@pytest.mark.parametrize(("different", "skips"), [(0, True), (60, False)])
def test_a_copy_says_no_more_of_a_page_than_its_original_does(different: int, *, skips: bool):
    """What differs from the original was fetched before the mirror, whose pages come last: its own rule has never been wrong."""
    rules = RewriteRules()
    for name in _chapters(different):
        rules.observe(f"{SITE}/a/{name}", _kept())
        rules.observe(f"{SITE}/c/{name}", _kept())
    _three_alike(rules, _chapters(100, 100))
    _mirrored(rules, _chapters(40, 700), here=f"{SITE}/c/", there=f"{SITE}/b/")
    names = _chapters(40, 1000)
    _mirrored(rules, names, here=f"{SITE}/b/", there=f"{SITE}/a/")
    assert any(rules.would_skip(f"{SITE}/c/{name}") for name in names) is skips
    # The copy is the likelier twin; what is missing is the proof of the original's rule.
    assert all(made.probability > 0.95 for name in names if (made := rules.predict(f"{SITE}/c/{name}")))


@pytest.mark.parametrize(("farther", "skips"), [("b", True), ("a", False)])
def test_nothing_is_skipped_that_is_rather_a_copy_of_another_page(farther: str, *, skips: bool):
    """The mirror repeats what is in `a`, and `b` has something else there: from which of them has `c` differed more often?"""
    rules = RewriteRules()
    for directory in ("a", "b"):
        different = _chapters(20 if directory == farther else 10, 2000 if directory == "a" else 2100)
        for there in (directory, "c"):
            _fetch(rules, different, directory=f"{SITE}/{there}/")
    for name in _chapters(300):
        rules.observe(f"{SITE}/a/{name}", _kept())
        for directory in ("b", "mirror", "c"):
            rules.observe(f"{SITE}/{directory}/{name}", _copy_of(f"{SITE}/a/{name}"))
    for number, directory in enumerate(("b", "mirror")):
        _mirrored(rules, _chapters(60, 1000 + 100 * number), here=f"{SITE}/c/", there=f"{SITE}/{directory}/")
    names = _chapters(40, 3000)
    for name in names:
        rules.observe(f"{SITE}/a/{name}", _kept())
        rules.observe(f"{SITE}/b/{name}", _kept())
        rules.observe(f"{SITE}/mirror/{name}", _copy_of(f"{SITE}/a/{name}"))
    assert any(rules.would_skip(f"{SITE}/c/{name}") for name in names) is skips
    assert all(made.rule == "'c' stands for 'mirror'" for name in names if (made := rules.predict(f"{SITE}/c/{name}")))


@pytest.mark.parametrize(("variants", "skips"), [(rewrites._VARIANTS, False), (99, True)])
def test_where_there_are_three_different_pages_already_a_fourth_may_be_one(variants: int, monkeypatch: pytest.MonkeyPatch, *, skips: bool):
    monkeypatch.setattr(rewrites, "_VARIANTS", variants)
    rules = RewriteRules()
    for number, directory in enumerate("abd"):
        _mirrored(rules, _chapters(200, 200 * number), here=f"{SITE}/c/en/", there=f"{SITE}/{directory}/en/")
    names = [f"{word}.html" for word in ("disks", "network", "keyboard", "printers", "sound", "screens", "paper", "memory")]
    for name in names:
        for directory in ("a/en", "b/en", "d/en", "a/de", "b/de", "d/de", "a/it", "b/it", "d/it"):
            rules.observe(f"{SITE}/{directory}/{name}", _kept())
        rules.observe(f"{SITE}/a/fr/{name}", _kept())
        for directory in "bdc":
            rules.observe(f"{SITE}/{directory}/fr/{name}", _copy_of(f"{SITE}/a/fr/{name}"))
    assert any(rules.would_skip(f"{SITE}/c/en/{name}") for name in names) is skips


def test_what_one_part_of_a_site_confirms_skips_nothing_in_another():
    rules = RewriteRules()
    for part in ("docs", "api"):
        _mirrored(rules, _chapters(100), here=f"{SITE}/{part}/2/", there=f"{SITE}/{part}/1/")
    rules = rules.next_crawl()
    for part in ("docs", "api"):
        _fetch(rules, _chapters(100), directory=f"{SITE}/{part}/1/")
    _mirrored(rules, _chapters(60), here=f"{SITE}/docs/2/", there=f"{SITE}/docs/1/")
    assert any(rules.would_skip(f"{SITE}/docs/2/{name}") for name in _chapters(30, 60))
    assert not any(rules.would_skip(f"{SITE}/api/2/{name}") for name in _chapters(30, 60))
    assert all(rules.priority(f"{SITE}/api/2/{name}") < 0 for name in _chapters(30, 60))


def test_what_follows_a_name_is_confirmed_by_other_names():
    rules = RewriteRules()

    def printed(numbers: Iterable[int]) -> None:
        for number in numbers:
            rules.observe(f"{SITE}/shop/a?id={number}", _kept())
            rules.observe(f"{SITE}/shop/a?id={number}&print=1", _copy_of(f"{SITE}/shop/a?id={number}"))

    printed(range(100))
    rules = rules.next_crawl()
    printed(range(100, 160))
    for number in range(30):
        rules.observe(f"{SITE}/shop/a?id={number}", _kept())
    assert any(rules.would_skip(f"{SITE}/shop/a?id={number}&print=1") for number in range(30))


_VIEWS = [
    ("/a/{}/", "/a/{}/print/"),
    ("/a/{}", "/a/{}/amp"),
    ("/a/{}", "/a/{}/"),
    ("/a/{}/", "/a/{}/index.html"),
    ("/a/{}.html", "/a/{}-print.html"),
    ("/a/{}.html", "/a/{}.print.html"),
    ("/a/{}", "/a/{}?print=1"),
    ("/show?id={}", "/show?id={}&view=print"),
    ("/show?id={}&view=full", "/show?id={}&view=print"),
    ("/git?p=boats;a=diff;h={};hb={}", "/git?p=boats;a=diff;h={};hb={};ds=inline"),
    ("/a/{}/", "/a/{}/?reply={}"),
    ("/show?id={}", "/show?source=feed&id={}&campaign={}"),
]


def _viewed(rules: RewriteRules, names: Iterable[str], page: str, view: str, *, other: Iterable[str] = ()) -> None:
    """Fetch pages, and a view of each; those of `other` are pages of their own."""
    for name in names:
        original = SITE + page.replace("{}", name)
        rules.observe(original, _kept())
        rules.observe(SITE + view.replace("{}", name), _kept() if name in other else _copy_of(original))


@pytest.mark.parametrize(("page", "view"), _VIEWS)
def test_a_view_of_each_page_is_skipped_once_sixty_were_copies(page: str, view: str):
    rules = RewriteRules()
    asked = [f"boat{number * 7919}" for number in range(200)]
    _viewed(rules, asked[:55], page, view)
    for name in asked[100:]:
        rules.observe(SITE + page.replace("{}", name), _kept())
    assert not any(rules.would_skip(SITE + view.replace("{}", name)) for name in asked[100:])
    _viewed(rules, asked[55:65], page, view)
    found = [(rules.would_skip(SITE + view.replace("{}", name)), name) for name in asked[100:]]
    skipped = [(prediction.original, name) for prediction, name in found if prediction]
    assert len(skipped) > 80
    assert all(original == SITE + page.replace("{}", name) for original, name in skipped)


@pytest.mark.parametrize(("page", "view"), _VIEWS)
def test_no_view_is_skipped_where_one_in_forty_is_a_page(page: str, view: str):
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(160)]
    _viewed(rules, names, page, view, other=names[20::40])
    rules.observe(SITE + page.replace("{}", "heron9"), _kept())
    assert rules.would_skip(SITE + view.replace("{}", "heron9")) is None


def test_a_second_page_is_not_skipped_though_there_was_none_so_far():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(200)]
    _viewed(rules, names[:100], "/list?of={}&page=1", "/list?of={}&page=2")
    for name in names[100:]:
        rules.observe(f"{SITE}/list?of={name}&page=1", _kept())
    assert not any(rules.would_skip(f"{SITE}/list?of={name}&page=2") for name in names[100:])


def test_a_view_in_another_directory_has_to_prove_right_there():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(200)]
    _viewed(rules, names[:100], "/boats/a/{}/", "/boats/a/{}/print/")
    for name in names[100:]:
        for kind in ("boats", "ships"):
            rules.observe(f"{SITE}/{kind}/a/{name}/", _kept())
    assert sum(rules.would_skip(f"{SITE}/boats/a/{name}/print/") is not None for name in names[100:]) > 80
    assert not any(rules.would_skip(f"{SITE}/ships/a/{name}/print/") for name in names[100:])


@pytest.mark.parametrize("view", ["print/", "?reply=1{}"])
def test_dates_that_stand_before_a_name_are_one_directory(view: str):
    rules = RewriteRules()
    for day in range(100):
        _viewed(rules, [f"boat{day}"], f"/news/2024/{day % 12}/{day}/{{}}/", f"/news/2024/{day % 12}/{day}/{{}}/{view}")
    asked = [f"{SITE}/news/2025/{day % 12}/{day}/heron{day}/" for day in range(50)]
    for url in asked:
        rules.observe(url, _kept())
    assert sum(rules.would_skip(url + view.replace("{}", str(place))) is not None for place, url in enumerate(asked)) > 40


def test_parameters_of_few_values_have_to_prove_right_each_on_its_own():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(200)]
    for number, name in enumerate(names[:100]):
        _viewed(rules, [name], "/a/{}", f"/a/{{}}?view={'print' if number % 12 else number // 12}")
    for name in names[100:]:
        rules.observe(f"{SITE}/a/{name}", _kept())
    assert any(rules.would_skip(f"{SITE}/a/{name}?view=print") for name in names[100:])
    assert not any(rules.predict(f"{SITE}/a/{name}?view=map") for name in names[100:])


def test_runs_with_one_value_of_a_spare_parameter_take_no_place_of_others():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(650)]
    _viewed(rules, names[:500], "/a/{}", "/a/{}?reply={}")
    _viewed(rules, names[500:600], "/a/{}", "/a/{}?print=1")
    for name in names[600:]:
        rules.observe(f"{SITE}/a/{name}", _kept())
    assert sum(rules.would_skip(f"{SITE}/a/{name}?print=1") is not None for name in names[600:]) > 40


def test_what_was_skipped_for_one_value_comes_back_where_its_rule_is_gone():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(250)]
    _viewed(rules, names[:70], "/a/{}", "/a/{}?view=print")
    for name in names[70:120]:
        rules.observe(f"{SITE}/a/{name}", _kept())
    skipped = [url for name in names[70:120] if rules.skips(url := f"{SITE}/a/{name}?view=print")]
    assert len(skipped) > 40
    _viewed(rules, names[120:], "/a/{}", "/a/{}?view={}")
    assert sorted(rules.released()) == sorted(skipped)
    assert rules.released() == []


def test_a_parameter_among_many_others_is_learned():
    spare = parameters.SpareParameters()
    found = [spare.learn(SITE, (("reply" if number % 30 == 0 else f"p{number}", str(number)),)) for number in range(1000)]
    assert [is_new for _, is_new in found].count(True) == 1


def test_spare_parameters_are_remembered():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(200)]
    _viewed(rules, names[:100], "/a/{}/", "/a/{}/?reply={}")
    rules = rules.next_crawl()
    for name in names[100:]:
        rules.observe(f"{SITE}/a/{name}/", _kept())
    assert all(rules.priority(f"{SITE}/a/{name}/?reply=9") < 0 for name in names[100:])
    assert not any(rules.would_skip(f"{SITE}/a/{name}/?reply=9") for name in names[100:])
    _viewed(rules, names[100:150], "/a/{}/", "/a/{}/?reply={}")
    assert any(rules.would_skip(f"{SITE}/a/{name}/?reply=9") for name in names[150:])


def test_what_a_page_says_of_its_parameters_is_tried():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(60)]
    for name in names[:20]:
        rules.observe(f"{SITE}/a/{name}/?reply={name}", _kept(), f"{SITE}/a/{name}/")
    rules.observe(f"{SITE}/a/heron/", _kept())
    assert rules.priority(f"{SITE}/a/heron/?reply=5") == 0
    _viewed(rules, names[20:40], "/a/{}/", "/a/{}/?reply={}")
    assert rules.priority(f"{SITE}/a/heron/?reply=5") < 0


@pytest.mark.parametrize(
    ("url", "other", "expected"),
    [
        ("/a?b=1", "/a", (("b", "1"),)),
        ("/a?b=1&c=2", "/a?c=2", (("b", "1"),)),
        ("/a?c=2&b=1&a=", "/a?c=2", (("a", ""), ("b", "1"))),
        ("/a?b", "/a", (("b", ""),)),
        ("/a", "/a?b=1", None),
        ("/a?b=1", "/a?b=2", None),
        ("/a?b=1&b=2", "/a?b=1", None),
        ("/a?b=1&b=2", "/a", None),
        ("/a?b=1&c=2", "/a?c=3", None),
        ("/a?b=1", "/b", None),
        ("/a?=1", "/a", None),
        ("/a?a=1&b=1&c=1&d=1&e=1&f=1", "/a", None),
    ],
)
def test_parameters_that_are_left_out(url: str, other: str, expected: parameters.Pairs | None):
    assert parameters.left_out(url, other) == expected
    if expected:
        assert parameters.without(url, tuple((name, None) for name, _ in expected)) == other


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/a?b=1&c=2", "/a"),
        ("/a?c=2&d=3&b=7", "/a?d=3"),
        ("/a?b=1&c=3", None),
        ("/a?b=1", None),
        ("/a?b=1&b=2", None),
        ("/a?b=1&b=2&c=2", None),
        ("/a", None),
    ],
)
def test_a_url_without_parameters(url: str, expected: str | None):
    assert parameters.without(url, (("b", None), ("c", "2"))) == expected


def test_spare_parameters_are_bounded():
    spare = parameters.SpareParameters()
    found = [spare.learn(SITE, ((f"p{name}", str(value)),)) for name in range(300) for value in range(13)]
    assert [is_new for _, is_new in found].count(True) == 40
    assert len([*spare.twins(f"{SITE}/a?" + "&".join(f"p{name}=1" for name in range(300)))]) == 40
    for number in range(10_000):
        spare.learn(f"http://{number % 700}.test/", ((f"p{number % 700}", str(number)),))
    assert len(spare._seen) <= 500
    assert len(spare._rules) <= 200
    one = parameters.SpareParameters()
    for number in range(1000):
        one.learn(SITE, (("p", str(number % 500)), ("q", "1")))
    assert max(len(values.known) for values in one._seen[SITE.removeprefix("http://"), "p", "q"]) <= 100


def test_a_parameter_of_few_values_beside_one_of_many_belongs_to_the_rule():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(200)]
    _viewed(rules, names[:100], "/a/{}", "/a/{}?sid={}&view=print")
    for name in names[100:]:
        rules.observe(f"{SITE}/a/{name}", _kept())
    assert sum(rules.would_skip(f"{SITE}/a/{name}?sid={name}&view=print") is not None for name in names[100:]) > 80
    assert not any(rules.predict(f"{SITE}/a/{name}?sid={name}&view=map") for name in names[100:])


def test_the_number_of_a_page_is_no_spare_parameter():
    rules = RewriteRules()
    for number in range(400):
        # Few lists are long.
        page = number // 20 if number % 20 == 0 else number % 5
        _viewed(rules, [f"boat{number * 7919}"], "/a/{}", f"/a/{{}}?page={page}")
    rules.observe(f"{SITE}/a/heron", _kept())
    assert rules.would_skip(f"{SITE}/a/heron?page=31") is None
    assert not any(isinstance(rule.means, LeftOut) for rule in rules.rules())


def test_each_host_has_spare_parameters_of_its_own():
    rules = RewriteRules()
    _viewed(rules, [f"boat{number * 7919}" for number in range(100)], "/a/{}", "/a/{}?reply={}")
    rules.observe("http://other.example/a/heron", _kept())
    assert rules.predict("http://other.example/a/heron?reply=7") is None


def test_spare_parameters_are_learned_where_the_page_itself_comes_second():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(200)]
    _viewed(rules, names[:50], "/a/{}?reply={}", "/a/{}")
    _viewed(rules, names[50:150], "/a/{}", "/a/{}?print=1")
    for name in names[150:]:
        rules.observe(f"{SITE}/a/{name}", _kept())
    assert sum(rules.would_skip(f"{SITE}/a/{name}?print=1") is not None for name in names[150:]) > 40


def test_a_rule_that_recent_pages_have_tried_is_believed_whoever_suggests_it():
    rules = RewriteRules()
    names = [f"boat{number * 7919}" for number in range(60)]
    for name in names:
        rules.observe(f"{SITE}/m/i386/{name}", _kept())
        rules.observe(f"{SITE}/m/amd64/{name}", _copy_of(f"http://a.example/{name}"))
    rules.observe(f"{SITE}/m/i386/heron", _kept())
    rules.observe(f"{SITE}/m/amd64/keel", _kept(), f"{SITE}/m/i386/keel")
    assert rules.priority(f"{SITE}/m/amd64/heron") < 0


@pytest.mark.parametrize(
    ("prefix", "suffix", "runs", "expected"),
    [
        (f"{SITE}/a/heron/", "", ("print/", ""), (f"{SITE}/a/*/", "heron")),
        (f"{SITE}/heron", "", ("?print=1", ""), (f"{SITE}/*", "heron")),
        (f"{SITE}/heron", ".html", ("-print", ""), (f"{SITE}/*", "heron")),
        (f"{SITE}/heron.", "html", ("print.", ""), (f"{SITE}/*.", "heron")),
        (f"{SITE}/a?id=heron", "", ("&print=1", ""), (f"{SITE}/a?id=*", "heron")),
        (f"{SITE}/a?do=show&id=7&of=heron", "", ("&print=1", ""), (f"{SITE}/a?do=show&id=*&of=*", "heron")),
        (f"{SITE}/heron?view=", "", ("print", "full"), (f"{SITE}/*?view=", "heron")),
        (f"{SITE}/news/2024/01/31/heron/", "", ("print/", ""), (f"{SITE}/news/*/*/*/*/", "heron")),
        # A host may be a number.
        ("http://2130706433/7/heron/", "", ("print/", ""), ("http://2130706433/*/*/", "heron")),
        # There is none, or it stands behind.
        (f"{SITE}/", "", ("print/", ""), (f"{SITE}/", "")),
        ("http://", "", ("a.example", "b.example"), ("http://", "")),
        (f"{SITE}/print-", "heron.html", ("x", ""), (f"{SITE}/print-", "")),
        (f"{SITE}/heron/", "keel.html", ("print/", ""), (f"{SITE}/heron/", "")),
        (f"{SITE}/heron?page=", "", ("2", "1"), (f"{SITE}/heron?page=", "")),
    ],
)
def test_the_name_that_stands_before_a_run(prefix: str, suffix: str, runs: tuple[str, str], expected: tuple[str, str]):
    assert replacements.name_before(prefix, suffix, runs) == expected


def test_a_rule_that_has_become_wrong_is_soon_forgotten():
    rules = _after_a_crawl()
    _fetch(rules, _chapters(200))
    before = rules.priority(f"{SITE}/mirror/chapter-199.html")
    _fetch(rules, _chapters(30), directory=f"{SITE}/mirror/")
    assert before <= -50
    assert rules.priority(f"{SITE}/mirror/chapter-199.html") >= -40


def test_what_is_remembered_is_remembered_again_and_settings_stay():
    rules = _after_a_crawl(skip=0.99, mirrors=("a.example",), seed=3).next_crawl()
    _fetch(rules, ["chapter-0.html"])
    assert rules.priority(f"{SITE}/mirror/chapter-0.html") < 0
    assert (rules._skip, rules._mirrors, rules._seed) == (0.99, frozenset({"a.example"}), 3)


def test_two_that_remember_the_same_learn_apart():
    first = RewriteRules()
    _mirrored(first, _chapters(200))
    one, other = first.next_crawl(), first.next_crawl()
    _mirrored(one, _chapters(5), here=f"{SITE}/copy/")
    for rules in (one, other):
        _fetch(rules, ["chapter-9.html"])
    assert one.predict(f"{SITE}/copy/chapter-9.html") is not None
    assert other.predict(f"{SITE}/copy/chapter-9.html") is None


# ---- what was learned


def test_rules_are_listed_with_what_they_rest_on_and_save():
    rules = RewriteRules()
    _mirrored(rules, _chapters(100))
    _wiki(rules, range(60))
    for number in range(30):
        rules.observe(f"{SITE}/a?id={number}", _kept())
        rules.observe(f"{SITE}/a?id={number}&print=1", _copy_of(f"{SITE}/a?id={number}"))
    mirror, login, printed = rules.rules()
    assert (mirror.rule, mirror.where, mirror.support, mirror.saves) == ("'mirror' stands for 'manual'", f"{SITE}/", 99, 99)
    assert mirror.confidence > 0.95
    assert mirror.examples[0] == (f"{SITE}/mirror/chapter-1.html", f"{SITE}/manual/chapter-1.html")
    assert len(mirror.examples) == 3
    assert mirror.means == Replaced(f"{SITE}/", (f"{SITE}/",), "mirror", "manual")
    assert (login.rule, login.where) == ("'id' does not matter", "example.org/w?do=login&id=*")
    assert login.means == Indifferent("example.org", ("do", "id"), ("w", "login", None), (2,))
    assert (printed.rule, printed.where) == ("'&print=1' may be left out", f"{SITE}/")
    assert printed.means == Replaced(f"{SITE}/", (), "&print=1", "")


def test_a_rule_is_told_in_the_direction_that_most_copies_went():
    rules = RewriteRules()
    _mirrored(rules, _chapters(5), here=f"{SITE}/manual/", there=f"{SITE}/mirror/")
    _mirrored(rules, _chapters(20, 10))
    (rule,) = rules.rules()
    assert rule.means == Replaced(f"{SITE}/", (f"{SITE}/",), "mirror", "manual")


def test_a_rule_that_says_nothing_is_not_listed():
    rules = RewriteRules()
    _mirrored(rules, _chapters(5))
    for name in _chapters(60, 10):
        _fetch(rules, [name])
        _fetch(rules, [name], directory=f"{SITE}/mirror/")
    assert rules.rules() == []


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
    assert all(0 <= rule.confidence <= 1 and rule.saves <= rule.support for rule in rules.rules())
    later = rules.next_crawl()
    assert all(later.predict(url) is None and not later.skips(url) for url in asked)


def test_pages_that_say_nothing_teach_nothing():
    rules = RewriteRules()
    _mirrored(rules, _chapters(30))
    before = rules.predict(f"{SITE}/mirror/chapter-0.html")
    for name in _chapters(30, 50):
        _fetch(rules, [name])
        rules.observe(f"{SITE}/mirror/{name}", Verdict(kind=Kind.SKIPPED, reason="empty"))
    assert rules.predict(f"{SITE}/mirror/chapter-0.html") == before


def test_a_crafted_site_fills_nothing_beyond_its_bounds(monkeypatch: pytest.MonkeyPatch):
    bounds: dict[ModuleType, dict[str, int]] = {
        evidence: {"KNOWN": 200, "COUNTERS": 200, "REMEMBERED": 40},
        classes: {"FIRSTS": 100, "SHAPES": 20},
        names: {"NAMES": 200},
        rewrites: {"RECENT": 50, "TRIED": 30},
    }
    for module, most in bounds.items():
        for name, number in most.items():
            monkeypatch.setattr(module, f"_MOST_{name}", number)
    first = RewriteRules()
    _mirrored(first, _chapters(300))
    rules = first.next_crawl()
    draw = random.Random(7)
    for number in range(3000):
        words = ["".join(draw.choices("abcd", k=3)) for _ in range(draw.randrange(1, 12))]
        url = f"{SITE}/{'/'.join(words)}?{'&'.join(f'p{draw.randrange(9)}={number}' for _ in range(draw.randrange(4)))}"
        original = url.replace(words[0], "".join(draw.choices("efgh", k=3)), 1)
        rules.observe(url, _copy_of(original) if number % 2 else _kept())
    replacements, known, counters = rules._replacements, rules._classes, rules._counters
    assert len(rules._known._pages) + len(rules._known._older) <= 200
    assert len(counters._counts) + len(counters._older) <= 200
    assert len(counters._remembered) <= 40
    assert 100 <= len(rules._order._sums) + len(rules._order._older) <= 200
    assert len(rules.next_crawl()._order._older) <= 200
    for number in range(60):
        _mirrored(rules, _chapters(3), here=f"{SITE}/{number}/mirror/", there=f"{SITE}/{number}/manual/")
    assert len(rules._tried) == 30
    assert (len(rules._recent), len(known._firsts) <= 100, len(known._kinds)) == (50, True, 20)
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


# ---- redirects


def _redirected(rules: RewriteRules, names: Iterable[str], *, there: str = f"{SITE}/new/") -> None:
    """Fetch pages, and be led to them from elsewhere."""
    for name in names:
        rules.observe(there + name, _kept())
        rules.redirected(f"{SITE}/old/{name}", there + name)


def test_a_url_comes_later_where_others_like_it_were_redirected_to_pages_that_were_kept():
    rules = RewriteRules()
    _redirected(rules, _chapters(10))
    _fetch(rules, ["appendix.html"], directory=f"{SITE}/new/")
    assert rules.priority(f"{SITE}/old/appendix.html") == -20
    # Its page was not fetched: what it leads to may be new.
    assert rules.priority(f"{SITE}/old/unknown.html") == 0
    # A host speaks of itself.
    assert rules.priority("http://example.com/old/appendix.html") == 0


def test_nothing_is_skipped_or_told_for_redirects():
    rules = RewriteRules(skip=0.5)
    _redirected(rules, _chapters(300))
    for name in _chapters(300):
        url = f"{SITE}/old/{name}"
        assert rules.look(url) == rewrites.Outlook(None, None, -20, why=rewrites._OF_OTHERS)
        assert not rules.skips(url)
    assert rules.rules() == []
    assert rules.next_crawl().look(f"{SITE}/old/chapter-0.html").priority == 0


def test_redirects_make_nothing_likelier_that_copies_have_taught():
    twice = []
    for redirects in (False, True):
        rules = RewriteRules()
        _mirrored(rules, _chapters(30))
        _fetch(rules, _chapters(40, 100))
        for name in _chapters(40, 100) if redirects else ():
            rules.redirected(f"{SITE}/mirror/{name}", f"{SITE}/manual/{name}")
        _fetch(rules, ["appendix.html"])
        twice.append(rules.look(f"{SITE}/mirror/appendix.html"))
    assert twice[0].prediction
    assert twice[0] == twice[1]


def test_pages_that_were_fetched_under_their_own_url_speak_against_a_redirect():
    rules = RewriteRules()
    _redirected(rules, _chapters(10))
    for name in _chapters(30, 100):
        _fetch(rules, [name], directory=f"{SITE}/new/")
        _fetch(rules, [name], directory=f"{SITE}/old/")
    _fetch(rules, ["appendix.html"], directory=f"{SITE}/new/")
    assert rules.priority(f"{SITE}/old/appendix.html") == 0


def test_redirects_to_other_pages_speak_against_a_redirect():
    rules = RewriteRules()
    _redirected(rules, _chapters(10))
    _fetch(rules, _chapters(30, 100), directory=f"{SITE}/new/")
    for name in _chapters(29, 100):
        rules.redirected(f"{SITE}/old/{name}", f"{SITE}/login")
    assert rules.priority(f"{SITE}/old/chapter-129.html") == 0


@pytest.mark.parametrize("target", ["/login", "/", "/login?next=/page/{}", "/login?next=%2Fpage%2F{}", "/page/0", "/show?id=0"])
def test_what_leads_to_one_page_or_to_the_way_back_from_a_form_is_no_rule(target: str):
    rules = RewriteRules()
    for number in range(100):
        rules.observe(SITE + target.format(number), _kept() if not number else _copy_of(SITE + target.format(0)))
        rules.redirected(f"{SITE}/page/{number}", SITE + target.format(number))
    assert not rules._redirects
    for number in range(200):
        assert rules.look(f"{SITE}/page/{number}") == rewrites._NOTHING


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (f"{SITE}/old/{{}}", "http://example.com/new/{}"),
        (f"{SITE}/old/{{}}", f"{SITE}/old/{{}}"),
        (f"{SITE}/old/{{}}", f"{SITE}/{'b' * 3000}{{}}"),
        (f"{SITE}/old/{{}}", "http://[b/{}"),
        (f"{SITE}/old/{{}}", "{}"),
        (f"{SITE}/{{}}/a/b/c/d/e/f/g", f"{SITE}/x/y/z/{{}}"),
    ],
)
def test_a_redirect_that_leads_elsewhere_or_nowhere_teaches_nothing(url: str, target: str):
    rules = RewriteRules()
    for number in range(20):
        rules.observe(target.format(number), _kept())
        rules.redirected(url.format(number), target.format(number))
    assert rules.priority(url.format(19)) == 0


def test_redirects_between_mirrors_order():
    for mirrors, priority in (((), 0), (("example.org", "mirror.example"), -20)):
        rules = RewriteRules(mirrors=mirrors)
        for name in _chapters(10):
            rules.observe(f"http://mirror.example/{name}", _kept())
            rules.redirected(f"{SITE}/{name}", f"http://mirror.example/{name}")
        rules.observe("http://mirror.example/appendix.html", _kept())
        assert rules.priority(f"{SITE}/appendix.html") == priority


def test_hostile_redirects_are_bounded():
    rules = RewriteRules()
    for number in range(6000):
        for page in ("a", "b"):
            rules.redirected(f"{SITE}/x{number}/{page}", f"{SITE}/y{number}/{page}")
    redirects = rules._redirects
    assert len(redirects._kinds) <= redirecting._MOST_KINDS
    assert redirects._rules <= redirecting._MOST_RULES


# ---- what a host says of its parameters


def _shown(number: int, sort: str) -> str:
    return f"{SITE}/show?id={number}&sort={sort}"


def test_a_parameter_that_a_host_names_suggests_a_rule_that_has_to_prove_right():
    rules = RewriteRules()
    rules.suggest_parameters("example.org", ["sort"])
    rules.observe(_shown(0, "asc"), _kept())
    assert rules.look(_shown(0, "desc")) == rewrites._NOTHING
    for number in range(60):
        rules.observe(_shown(number, "asc"), _kept())
        rules.observe(_shown(number, "desc"), _copy_of(_shown(number, "asc")))
    rules.observe(_shown(99, "asc"), _kept())
    made = [one for one in (rules.predict(_shown(99, "desc")),) if one]
    assert made
    assert made[0].original == _shown(99, "asc")
    assert "'sort' does not matter" in {twin.rule for twin in rules._twins(classes.Address(_shown(99, "desc"), 0))}


def test_each_value_of_a_parameter_with_few_has_to_prove_on_its_own_that_it_does_not_matter():
    rules = RewriteRules(skip=0.9)
    rules.suggest_parameters("example.org", ["view"])
    names = {}
    for number in range(300):
        url = f"{SITE}/show?id={number}&view=full"
        rules.observe(url, _kept())
        rules.observe(f"{SITE}/show?id={number}&view=print", _copy_of(url))
        names[number] = url
    skipped = [number for number in range(300) if rules.would_skip(f"{SITE}/show?id={number}&view=comments")]
    assert not skipped
    assert rules.priority(f"{SITE}/show?id=7&view=comments") >= -20
    # Nor is it told as a rule for all values.
    assert not [rule for rule in rules.rules() if isinstance(rule.means, Indifferent)]


def test_a_parameter_that_matters_is_soon_left_alone():
    rules = RewriteRules()
    rules.suggest_parameters("example.org", ["id"])
    for number in range(200):
        url = f"{SITE}/show?id={number}&x=1"
        assert rules.would_skip(url) is None
        assert rules.priority(url) == 0
        rules.observe(url, _kept())


@pytest.mark.parametrize(
    ("host", "names", "path"),
    [("example.com", ["sort"], ""), ("example.org", ["sort"], "/other"), ("example.org", ["other"], ""), ("example.org", [], "")],
)
def test_a_host_speaks_of_itself_and_of_one_path(host: str, names: list[str], path: str):
    rules = RewriteRules()
    rules.suggest_parameters(host, names, path)
    rules.observe(_shown(0, "asc"), _kept())
    assert rules._classes._rules == {}
    assert not rules._suggested


def test_what_hosts_say_is_bounded():
    rules = RewriteRules()
    for number in range(1000):
        rules.suggest_parameters(f"{number}.example.org", ["sort"])
        rules.suggest_parameters("example.org", [f"sort{number}"])
    rules.suggest_parameters("example.org", ["sort"])
    said = rules._classes._said
    assert len(said) <= classes._MOST_HOSTS
    assert all(len(one) <= classes._MOST_SAID for one in said.values())


def test_a_page_of_a_class_that_gave_nothing_new_comes_later_and_is_never_skipped_for_that():
    rules = RewriteRules()
    for number in range(60):
        rules.observe(f"{SITE}/show?id={number}&tab=text", _kept())
        # Copies of pages to which no rule leads, and pages of a few words.
        rules.observe(f"{SITE}/show?id={number}&tab=print", _copy_of(f"http://elsewhere.example.net/{number * 7919}"))
        rules.observe(f"{SITE}/show?id={number}&tab=empty", Verdict(kind=Kind.SKIPPED, reason="too_short"))
    text, printed, empty = (f"{SITE}/show?id=999&tab={tab}" for tab in ("text", "print", "empty"))
    assert rules.priority(text) == 0
    assert rules.priority(printed) < 0
    assert rules.priority(empty) < 0
    assert not any(map(rules.skips, (text, printed, empty)))


def _two_books_in_two_languages(rules: RewriteRules) -> None:
    """Fetch German pages of one mirror, English ones of another, and those of the first, which are copies of the latter."""
    # Two pages that nobody has translated, from which the rule of languages is learned.
    for name in ("licence.html", "index-of-tables.html"):
        rules.observe(f"{SITE}/b/de/{name}", _kept())
        rules.observe(f"{SITE}/b/en/{name}", _copy_of(f"{SITE}/b/de/{name}"))
    names = _chapters(60)
    _fetch(rules, [*names, "alone.html"], directory=f"{SITE}/b/de/")
    _mirrored(rules, names, here=f"{SITE}/b/en/", there=f"{SITE}/a/en/")


@pytest.mark.parametrize("share", [None, 0.0])
def test_a_page_is_no_copy_of_what_its_likes_were_no_copies_of(share: float | None, monkeypatch: pytest.MonkeyPatch):
    if share is not None:
        monkeypatch.setattr(rewrites, "_LEAST_LED", share)
    monkeypatch.setattr(rewrites, "_SAMPLED", 10**9)
    rules = RewriteRules()
    _two_books_in_two_languages(rules)
    # Each English page of this mirror was a copy, and had a German twin; of this one nothing but that twin is known.
    found = rules.would_skip(f"{SITE}/b/en/alone.html")
    assert (found is None) == (share is None)
    _fetch(rules, ["both.html"], directory=f"{SITE}/b/de/")
    _fetch(rules, ["both.html"], directory=f"{SITE}/a/en/")
    found = rules.would_skip(f"{SITE}/b/en/both.html")
    assert found is not None
    if share is None:
        assert found.original == f"{SITE}/a/en/both.html"
