"""scrapy-zyte-api beside simcrawl, with an API of the tests' own: pages, browsers, countries, and products that cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.content import hub, page, topic
from tests.crawl.runner import crawl
from tests.crawl.test_crawl import IN_ORDER, copies
from tests.crawl.test_frontier import WATCHED, check, contents, fetched, pair, predicted
from tests.crawl.zyte_api import ZyteApi

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

pytest.importorskip("scrapy_zyte_api", reason="needs what pip install -e '.[dev]' installs")

SPIDERS = "tests.crawl.beside_spiders"
POET = "scrapy_poet.Addon"
RULE = {"order": 100, "urlPattern": {"include": []}, "processor": "queryRemoval", "args": ["visit"]}
SAME = {("/near", "/first"), ("/second", "/first")}


def run(spider: str, site: Site, settings: dict[str, Any]) -> Outcome:
    outcome = crawl(f"{SPIDERS}.{spider}", site.url(), settings=IN_ORDER | settings)
    assert outcome.stats["finish_reason"] == "finished"
    assert " ERROR: " not in outcome.log
    return outcome


def test_pages_from_the_api_are_compared_as_those_from_their_site(site: Site) -> None:
    copies(site)
    with ZyteApi(site) as api:
        outcome = crawl("Plain", site.url(), settings=IN_ORDER | api.settings())
    assert outcome.stats["scrapy-zyte-api/success"] == len(site.requests)
    assert set(outcome.paths("dropped")) == SAME
    assert max(site.requests.values()) == 1


def test_what_the_browser_shows_is_compared(site: Site) -> None:
    # One shell for all pages, which the browser fills.
    site.add("/", hub("/autotext", "/goal-seek", "/copy/autotext"))
    for path in ("/autotext", "/goal-seek", "/copy/autotext"):
        site.add(path, f"<html><body><div id='{path.rpartition('/')[2]}'></div></body></html>")

    def render(html: str) -> str:
        name = html.partition("id='")[2].partition("'")[0]
        return html.replace("</div>", topic(f"7.4/en/{name}") + "</div>") if name else html

    with ZyteApi(site, render) as api:
        outcome = run("Browsed", site, api.settings())
    assert outcome.paths("kept") == ["/", "/autotext", "/goal-seek"]
    assert outcome.paths("dropped") == [("/copy/autotext", "/autotext")]


def test_one_page_from_two_countries_comes_out_twice(site: Site) -> None:
    site.add("/", hub("/first"))
    site.add("/first", page())
    with ZyteApi(site) as api:
        outcome = run("Countries", site, api.settings())
    assert sorted(outcome.stats["test/countries"]) == ["DE", "US"]
    assert api.asked["/first", "geolocation"] == 2


def products(api: ZyteApi) -> list[str]:
    return sorted(path for path, name in api.asked if name == "product")


def test_a_product_beside_a_page_is_asked_for_before_the_page_is_judged(site: Site) -> None:
    copies(site)
    with ZyteApi(site) as api:
        outcome = run("Products", site, api.settings(POET))
    assert set(outcome.paths("dropped")) == SAME
    assert outcome.paths("kept") == ["/first", "/other"]
    assert products(api) == ["/first", "/near", "/other", "/second"]


def test_a_product_of_a_page_that_is_kept_is_all_that_has_to_be_paid(site: Site) -> None:
    copies(site)
    with ZyteApi(site) as api:
        outcome = run("ProductsOfKept", site, api.settings(POET))
    assert outcome.paths("kept") == ["/first", "/other"]
    assert products(api) == ["/first", "/other"]


def test_requests_for_likely_copies_wait_and_are_skipped(site: Site) -> None:
    pair(site, 150)
    with ZyteApi(site) as api:
        outcome = crawl(WATCHED, site.url(), settings=api.settings())
    assert len(contents(site, outcome)) == 150
    assert predicted(outcome)["skipped"] > 50
    assert fetched(site, "/mirror/") == 150 - predicted(outcome)["skipped"]
    check(outcome, site)


def test_fingerprints_of_requests_are_made_by_all_that_have_a_say(site: Site, tmp_path: Path) -> None:
    site.add("/", hub("/first", "/first?visit=7"))
    site.add("/first", page())
    site.add("/first?visit=7", page())
    (tmp_path / "rules.json").write_text(json.dumps([RULE]))
    with ZyteApi(site) as api:
        settings = api.settings(POET)
        settings["ADDONS"]["duplicate_url_discarder.Addon"] = 600
        rules = {"DUD_LOAD_RULE_PATHS": [str(tmp_path / "rules.json")]}
        outcome = run("Countries", site, settings | rules)
        plain = run("Products", site, settings | rules)
    assert sorted(outcome.stats["test/countries"]) == ["DE", "US"]
    assert plain.paths("kept") == ["/first"]
    assert site.requests["/first?visit=7"] == 0
