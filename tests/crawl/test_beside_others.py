"""Spidermon's own monitors, and duplicate-url-discarder with rules that simcrawl has learned, beside simcrawl."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.content import hub, topic
from tests.crawl.runner import crawl
from tests.crawl.test_crawl import IN_ORDER, copies
from tests.crawl.test_frontier import FIRST_FIRST, WATCHED, contents, fetched, pair, predicted, text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

# ---- Spidermon

MONITORED: dict[str, Any] = {
    "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
    "SPIDERMON_ENABLED": True,
    "SPIDERMON_SPIDER_CLOSE_MONITORS": ["spidermon.contrib.scrapy.monitors.SpiderCloseMonitorSuite"],
    "SPIDERMON_MAX_ERRORS": 0,
    "SPIDERMON_MAX_WARNINGS": 0,
    "SPIDERMON_MAX_DOWNLOADER_EXCEPTIONS": 0,
    "SPIDERMON_MAX_RETRIES": 0,
    "SPIDERMON_MAX_ITEM_VALIDATION_ERRORS": 0,
    "SPIDERMON_MIN_SUCCESSFUL_REQUESTS": 1,
    "SPIDERMON_MAX_REQUESTS_ALLOWED": 10_000,
    "SPIDERMON_ADD_FIELD_COVERAGE": True,
    "SPIDERMON_FIELD_COVERAGE_RULES": {"dict/url": 1},
}


def failing(outcome: Outcome) -> list[str]:
    """Return the monitors that are not content."""
    told = dict(re.findall(r"\[Spidermon\] (\w.*)/.*\.\.\. (\w+)", outcome.log))
    assert len(told) == 11
    # What is skipped has nothing to count.
    return sorted(name for name, verdict in told.items() if verdict not in ("OK", "SKIPPED"))


@pytest.mark.parametrize("outlinks", ["follow", "drop"])
def test_monitors_see_no_fault_in_pages_that_are_dropped(site: Site, outlinks: str) -> None:
    copies(site)
    settings = IN_ORDER | MONITORED | {"SPIDERMON_MIN_ITEMS": 3, "SIMCRAWL_OUTLINKS": outlinks}
    outcome = crawl("Errback", site.url(), settings=settings)
    assert len(outcome.paths("dropped")) == 2
    assert failing(outcome) == []


def test_monitors_see_no_fault_in_items_that_are_dropped(site: Site) -> None:
    site.add("/", f"<section>{topic()}</section><section>{topic()}<p>One more sentence.</p></section>")
    settings = IN_ORDER | MONITORED | {"SPIDERMON_MIN_ITEMS": 1, "SIMCRAWL_ITEM_FIELD": "text"}
    outcome = crawl("Sections", site.url(), settings=settings)
    assert outcome.stats["simcrawl/items/near_duplicate"] == 1
    assert failing(outcome) == []


def test_monitors_see_no_fault_in_requests_that_are_skipped(site: Site) -> None:
    pair(site, 150)
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | MONITORED | {"SPIDERMON_MIN_ITEMS": 150})
    assert predicted(outcome)["skipped"] > 50
    assert failing(outcome) == []


# ---- duplicate-url-discarder

PAGES = 60


def visits(site: Site) -> None:
    """Fill a site whose pages have two addresses each, one with the number of a visit."""
    names = [f"/page{number}" for number in range(PAGES)]
    site.add("/", hub(*names, "/visited"))
    site.add("/visited", hub(*(f"{name}?visit=7" for name in names)))
    for number, name in enumerate(names):
        site.add(name, text(number))
        site.add(f"{name}?visit=7", text(number))


def discarding(rules: Path, *others: str) -> dict[str, Any]:
    addons = {"simcrawl.Addon": 500, "duplicate_url_discarder.Addon": 600} | dict.fromkeys(others, 300)
    return {"ADDONS": addons, "DUD_LOAD_RULE_PATHS": [str(rules)]}


@pytest.mark.parametrize(("spider", "others"), [("Plain", ()), ("tests.crawl.ecosystem_spiders.Poet", ("scrapy_poet.Addon",))])
def test_what_one_crawl_has_learned_the_next_one_s_filter_of_requests_knows(
    site: Site, tmp_path: Path, spider: str, others: tuple[str, ...]
) -> None:
    visits(site)
    store, rules = tmp_path / "store", tmp_path / "rules.json"
    rules.write_text("[]")
    settings = FIRST_FIRST | discarding(rules, *others)
    first = crawl(spider, site.url(), settings=settings | {"SIMCRAWL_STORE": str(store), "SIMCRAWL_SKIP": False})
    assert len(contents(site, first)) == PAGES
    assert fetched(site, "/page") == 2 * PAGES
    command = [sys.executable, "-c", "from simcrawl.cli import main; main()", "rules", str(store), "--format", "duplicate-url-discarder"]
    rules.write_text(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)
    site.requests.clear()
    # A store of its own: what is left out now is left out by the rules of the filter.
    second = crawl(spider, site.url(), settings=settings)
    assert len(contents(site, second)) == PAGES
    assert fetched(site, "/page") == PAGES
    assert second.pages().get("exact_duplicate", 0) == 0


def test_requests_that_were_put_back_pass_the_filter_of_requests(site: Site, tmp_path: Path) -> None:
    pair(site, 150)
    (tmp_path / "rules.json").write_text("[]")
    outcome = crawl(WATCHED, site.url(), settings=FIRST_FIRST | discarding(tmp_path / "rules.json"))
    assert len(contents(site, outcome)) == 150
    assert predicted(outcome)["skipped"] > 50
    assert fetched(site, "/mirror/") == 150 - predicted(outcome)["skipped"]
