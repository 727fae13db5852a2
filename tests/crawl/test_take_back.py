"""A verdict taken back: rejected pairs in later crawls, and dropped pages crawled again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.cli import run
from simcrawl.store import open_store
from tests.crawl.content import hub, page
from tests.crawl.runner import crawl, start
from tests.crawl.test_crawl import IN_ORDER, copies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

# Everything with a fingerprint is a copy of the first page that has one, and its outlinks go with it.
CARELESS = IN_ORDER | {"SIMCRAWL_MIN_SIMILARITY": 0, "SIMCRAWL_MAX_DISTANCE": 64, "SIMCRAWL_OUTLINKS": "drop"}


def _run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == code
    return capsys.readouterr().out


@pytest.mark.parametrize("swapped", [False, True])
def test_a_false_duplicate_that_is_rejected_is_kept_from_then_on(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, swapped: bool
) -> None:
    store = str(tmp_path / "store")
    settings = CARELESS | {"SIMCRAWL_STORE": store}
    site.add("/", hub("/boat", "/train"))
    site.add("/boat", page("7.4/en/protection"))
    site.add("/train", page("7.4/en/autotext", "/station"))
    site.add("/station", hub())
    first = crawl("Plain", site.url(), settings=settings)
    assert first.paths("dropped") == [("/train", "/boat")]
    assert not site.requests["/station"]

    rejected = json.loads(_run(capsys, "reject", store, site.url("/train"), "--json"))
    assert rejected["original"] == site.url("/boat")
    assert json.loads(_run(capsys, "duplicates", store, "--json"))["rejected"]
    if swapped:
        # The other one comes first, and neither is known from the crawl before.
        site.add("/", hub("/train", "/boat"))
        with open_store(store) as opened:
            opened.forget(site.url("/boat"))
    second = crawl("Plain", site.url(), settings=settings)
    assert second.paths("kept") == ["/", "/boat", "/station", "/train"]
    assert second.paths("dropped") == []
    assert _run(capsys, "duplicates", store) == ""
    assert _run(capsys, "verify", store) == "No problems found.\n"


def _dropped(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    """Crawl a site with copies; return the settings, and the name of the list of dropped pages."""
    copies(site)
    settings: dict[str, Any] = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_OUTLINKS": "drop"}
    crawl("Plain", site.url(), settings=settings)
    listed = tmp_path / "dropped.txt"
    listed.write_text("# dropped\n\n" + _run(capsys, "duplicates", settings["SIMCRAWL_STORE"], "--urls"))
    site.requests.clear()
    return settings, str(listed)


def _is_recrawled(outcome: Outcome, site: Site) -> None:
    assert outcome.paths("kept") == ["/behind-near", "/behind?page=second", "/near", "/second"]
    assert outcome.paths("dropped") == []
    assert set(site.requests) == {"/near", "/second", "/behind-near", "/behind?page=second"}


def test_any_spider_crawls_dropped_pages_again_and_what_is_behind_them(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, listed = _dropped(site, tmp_path, capsys)
    _is_recrawled(crawl("Plain", site.url(), settings=settings | {"SIMCRAWL_RECRAWL": listed}), site)
    # Later crawls decide anew: what is wanted for good is rejected.
    assert not {"/near", "/second"} & set(crawl("Plain", site.url(), settings=settings).paths("kept"))


def test_the_site_spider_takes_a_list(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings, listed = _dropped(site, tmp_path, capsys)
    feed = tmp_path / "items.jsonl"
    crawl("SiteSpider", "", urls=listed, settings=settings | {"FEEDS": {str(feed): {"format": "jsonlines"}}})
    kept = [json.loads(line)["url"] for line in feed.read_text().splitlines()]
    assert sorted(kept) == sorted(map(site.url, ("/near", "/second", "/behind-near", "/behind?page=second")))


def test_the_site_spider_stays_on_the_hosts_of_a_list_that_a_setting_names(site: Site, tmp_path: Path) -> None:
    elsewhere = site.url("/elsewhere").replace("127.0.0.1", "localhost")
    site.add("/near", page("7.4/en/protection", "/behind", elsewhere))
    site.add("/behind", hub())
    listed = tmp_path / "dropped.txt"
    listed.write_text(site.url("/near"))
    crawl("SiteSpider", "", settings={"SIMCRAWL_RECRAWL": str(listed)})
    assert set(site.requests) == {"/near", "/behind"}


@pytest.mark.parametrize(
    ("content", "told"), [(None, "cannot read the list of URLs"), ("http://a.test/\n/path\n", "line 2: '/path' is no http(s) URL")]
)
def test_a_list_that_is_wrong_stops_the_crawl_at_its_start(site: Site, tmp_path: Path, content: str | None, told: str) -> None:
    listed = tmp_path / "dropped.txt"
    if content:
        listed.write_text(content)
    job = {"spider": "Plain", "arguments": {"url": site.url()}}
    done = start([job], settings={"SIMCRAWL_RECRAWL": str(listed)})
    assert told in done.stderr
    assert not site.requests


def test_a_crawl_of_a_list_is_not_what_the_next_night_is_compared_with(site: Site, tmp_path: Path) -> None:
    copies(site)
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store")}
    listed = tmp_path / "listed.txt"
    listed.write_text(f"{site.url('/near')}\n")
    crawl("Plain", site.url(), settings=settings)
    for _ in range(2):
        again = crawl("Plain", site.url(), settings=settings | {"SIMCRAWL_RECRAWL": str(listed)})
        assert "/near" in again.paths("kept")
        # Nor is it compared with a night, of which it sees a part, or with another such crawl.
        assert "simcrawl/changes/gone" not in again.stats
        assert "Since this spider's last finished crawl" not in again.log
    night = crawl("Plain", site.url(), settings=settings)
    told = {name: night.stats.get(f"simcrawl/changes/{name}", 0) for name in ("new", "changed", "gone", "not_met")}
    assert told == {"new": 0, "changed": 0, "gone": 0, "not_met": 0}
    assert night.stats["simcrawl/changes/unchanged"] > 1
