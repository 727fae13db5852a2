"""What another threshold would have done: the same as a second crawl with that threshold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import simcrawl
from simcrawl.cli import run
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason
from simcrawl.rule import Rule
from simcrawl.store import open_store
from simcrawl.store.register import Duplicate
from simcrawl.tools.rethinking import Rethinking, rule_of
from tests.cli.conftest import out
from tests.crawl.runner import crawl
from tests.samples import english, page
from tests.strategies import page as fingerprinted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import Site

__all__ = ["out"]
_ARTICLES, _VERSIONS = 6, 5


def _fill(site: Site) -> None:
    """Fill a site with articles and versions of them, each farther from the article than the one before, and from the other versions."""
    paths = []
    for article in range(_ARTICLES):
        sentences = english(120, article).split(". ")
        for version in range(_VERSIONS):
            changed = list(sentences)
            for number in range(version * (article + 1)):
                changed[(version * 23 + number * 3) % len(changed)] = english(1, 1_000 + 100 * article + 10 * version + number).rstrip(". ")
            # They do not end alike: of pages that do, a new passage counts as well, of which a store knows nothing.
            paths.append(f"/{version}-{article}")
            site.add(paths[-1], page(". ".join(changed)))
    site.add("/", page(english(60, 77), links=tuple(sorted(paths))))


def _crawl(site: Site, store: Path, **settings: Any) -> str:
    open_store(str(store), seed=1).close()
    chosen = {"SIMCRAWL_STORE": str(store), "CONCURRENT_REQUESTS": 1, "SIMCRAWL_SKIP": False, "SIMCRAWL_ORDER": False}
    crawl("SiteSpider", site.url(), settings=chosen | settings)
    return str(store)


def _kept(store: str) -> set[str]:
    with open_store(store, create=False, readonly=True) as opened:
        return {stored.page.url for stored in opened.pages()}


@pytest.mark.parametrize("threshold", [0.8, 0.87, 0.96, 1])
def test_it_says_what_a_second_crawl_does(site: Site, tmp_path: Path, out: Any, threshold: float) -> None:
    _fill(site)
    first = _crawl(site, tmp_path / "first")
    told = json.loads(out("rethink", first, "--min-similarity", str(threshold), "--json"))
    second = _kept(_crawl(site, tmp_path / "second", SIMCRAWL_MIN_SIMILARITY=threshold))
    was = _kept(first)
    changed = {then: {row["url"] for row in told["changes"] if row["then"] == then} for then in ("kept", "copy")}
    assert was != second
    assert (was | changed["kept"]) - changed["copy"] == second
    assert (told["kept"], told["kept_then"]) == (len(was), len(second))
    assert told["kept"] + told["copies"] == told["kept_then"] + told["copies_then"] == 1 + _ARTICLES * _VERSIONS
    assert told["complete"]


def test_the_last_crawl_s_thresholds_change_nothing(site: Site, tmp_path: Path, out: Any) -> None:
    _fill(site)
    store = _crawl(site, tmp_path / "store", SIMCRAWL_MIN_SIMILARITY=0.9, SIMCRAWL_MAX_DISTANCE=9)
    with open_store(store, create=False, readonly=True) as opened:
        rule = rule_of(opened)
    assert (rule.min_similarity, rule.max_distance) == (0.9, 9)
    told = json.loads(out("rethink", store, "--json"))
    assert (told["changes"], told["kept_then"], told["share"]) == ([], told["kept"], told["share_then"])
    assert out("rethink", store).splitlines()[-1] == "verdicts that would not stand\t-\t0"


def test_a_smaller_radius_finds_fewer_and_a_larger_one_more(tmp_path: Path, out: Any) -> None:
    store = str(tmp_path / "store")
    rule = Rule(max_distance=3, min_similarity=0, outlinks=1)
    with open_store(store, recipe="manku2007") as opened:
        for url, fingerprint in (("a", 0), ("b", 0b111), ("c", 0b11111 << 20), ("d", (1 << 40) - 1)):
            opened.admit(fingerprinted(f"http://a.test/{url}", fingerprint), rule)
    less = json.loads(out("rethink", store, "--max-distance", "2", "--json"))
    more = json.loads(out("rethink", store, "--max-distance", "5", "--json"))
    assert [(row["url"], row["distance"], row["then"]) for row in less["changes"]] == [("http://a.test/b", 3, "kept")]
    assert [(row["url"], row["original"], row["then"]) for row in more["changes"]] == [("http://a.test/c", "http://a.test/a", "copy")]
    assert "http://a.test/c\thttp://a.test/a\t5\t-\tcopy" in out("rethink", store, "--max-distance", "5")


def test_what_is_no_original_makes_no_copies_at_any_threshold(tmp_path: Path) -> None:
    a, b, c = (
        simcrawl.fingerprint_page(page(english(40, 1) + english(3, seed)), url=f"http://{seed}.test/", recipe="terms") for seed in (2, 3, 4)
    )
    with open_store(str(tmp_path / "store"), recipe="terms") as opened:
        strict = replace(rule_of(opened), min_similarity=0.999)
        for one in (a, b, c):
            opened.admit(one, strict)
        opened.sync()
        loose = Rethinking(opened, strict, [0.5]).at(0.5)
        assert [(change.url, change.original) for change in loose.joined] == [(b.url, a.url), (c.url, a.url)]
        opened.reject(b.url, a.url)
        opened.reject(c.url, b.url)
        loose = Rethinking(opened, strict, [0.5]).at(0.5)
        assert [(change.url, change.original) for change in loose.joined] == [(c.url, a.url)]
        trusted = replace(strict, trusted_hosts=frozenset({"4.test"}))
        assert Rethinking(opened, trusted, [0.5]).at(0.5).joined == []


def test_pages_that_the_crawl_kept_against_its_own_thresholds_stay(tmp_path: Path) -> None:
    a, b, c = (
        simcrawl.fingerprint_page(page(english(60, 1) + english(words, seed)), url=f"http://{seed}.test/", recipe="terms")
        for seed, words in ((2, 1), (3, 1), (4, 8))
    )
    with open_store(str(tmp_path / "store"), recipe="terms") as opened:
        rule = rule_of(opened)
        for one in (a, b, c):
            claim = opened.claim(one, rule, never_drop=True, taken_back=True).claim
            assert claim
            claim.confirm()
        opened.sync()
        assert isinstance(a, PageFingerprint)
        assert isinstance(b, PageFingerprint)
        assert rule.copy_of(b, a)
        as_was, loose = Rethinking(opened, rule, [0.5, rule.min_similarity]), Rethinking(opened, rule, [0.5])
        found = as_was.at(rule.min_similarity)
        assert (found.kept_then, found.joined, found.excepted) == (3, [], 1)
        # What another threshold changes is told all the same.
        assert [(change.url, change.original) for change in loose.at(0.5).joined] == [(c.url, a.url)]


def test_what_would_be_lost_with_a_copy_is_none_at_any_threshold(tmp_path: Path) -> None:
    less, more = (page(english(200, 1) + "".join(f"<p>{english(12, 50 + number)}</p>" for number in range(added))) for added in (0, 5))
    pages = [simcrawl.fingerprint_page(html, url=f"http://a.test/{number}") for number, html in enumerate((less, more))]
    with open_store(str(tmp_path / "store"), recipe=pages[0].recipe.partition("/")[0]) as opened:
        rule = replace(rule_of(opened), min_similarity=0.5)
        assert rule.compare(*(one for one in pages if isinstance(one, PageFingerprint))).is_near_duplicate
        assert [opened.admit(one, rule).is_duplicate for one in pages] == [False, False]
        opened.sync()
        assert Rethinking(opened, rule, [0.4, 0.5]).at(0.4).joined == []


def test_pages_of_an_older_version_are_not_compared_which_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "store")
    with open_store(store, recipe="terms") as opened:
        made: dict[str, Any] = {
            "recipe": opened.header.recipe or "",
            "seed": opened.header.seed,
            "body_digest": bytes(16),
            "text_length": 0,
            "outlinks": 0,
        }
        opened.admit(Abstention(url="http://a.test/", reason=Reason.OUTDATED, **made))
    assert run(["rethink", store, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["outdated"], told["kept"], told["changes"]) == (1, 1, [])
    assert run(["rethink", store]) == 0
    assert "Outdated pages, which were not compared: 1" in capsys.readouterr().err


def test_equal_contents_are_kept_once(tmp_path: Path) -> None:
    near = ("near_duplicate", 3, 0.94, "near-duplicate", True, False, 1.0)
    with open_store(str(tmp_path / "store"), recipe="terms") as opened:
        for url, content in (("b", "1" * 32), ("c", "1" * 32), ("d", "2" * 32)):
            opened.note(Duplicate(f"http://a.test/{url}", "http://a.test/a", *near, content))
        opened.sync()
        found = Rethinking(opened, rule_of(opened), [0.95]).at(0.95)
    assert (len(found.fallen), found.contents, found.kept_then, found.copies_then) == (3, 2, 2, 1)
