"""What stands beside simcrawl in real projects: scrapy-poet, scrapy-playwright, Spidermon, items of every kind."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.content import hub, topic
from tests.crawl.runner import crawl
from tests.crawl.test_crawl import IN_ORDER, copies

if TYPE_CHECKING:
    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

SPIDERS = "tests.crawl.ecosystem_spiders"
POET = {"ADDONS": {"simcrawl.Addon": 500, "scrapy_poet.Addon": 300}}
CHROMIUM = shutil.which("chromium")
BROWSER = {
    "DOWNLOAD_HANDLERS": {"http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"},
    "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": CHROMIUM, "args": ["--no-sandbox"]},
}
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")
SAME = {("/near", "/first"), ("/second", "/first")}


def run(spider: str, site: Site, settings: dict[str, Any], **arguments: Any) -> Outcome:
    outcome = crawl(f"{SPIDERS}.{spider}", site.url(), settings=IN_ORDER | settings, **arguments)
    assert outcome.stats["finish_reason"] == "finished"
    assert "ERROR" not in outcome.log
    return outcome


def test_page_objects_of_pages_that_are_kept_are_injected(site: Site) -> None:
    copies(site)
    outcome = run("Poet", site, POET)
    assert set(outcome.paths("dropped")) == SAME
    # What is dropped in part only is parsed, for its links: its items go, its page objects come.
    behind = ["/behind-near", "/behind-other", "/behind?page=first", "/behind?page=second"]
    assert outcome.paths("kept") == ["/", *behind, "/first", "/other"]


def test_a_download_of_a_page_object_always_arrives(site: Site) -> None:
    copies(site)
    outcome = run("PoetDownloads", site, POET)
    assert outcome.stats["test/size"] == [len(site.answers["/second"].body)]
    assert outcome.paths("kept") == ["/first"]


def test_callbacks_that_want_no_response_get_their_page_objects(site: Site) -> None:
    copies(site)
    assert run("PoetDummy", site, POET).paths("kept") == ["/first", "/second"]


@needs_chromium
def test_the_browser_pages_of_dropped_pages_are_closed_by_their_errback(site: Site) -> None:
    copies(site)
    outcome = run("Browser", site, BROWSER | {"SIMCRAWL_OUTLINKS": "drop"})
    assert set(outcome.paths("dropped")) == SAME
    assert outcome.paths("failed") == [("/near", "NearDuplicate"), ("/second", "NearDuplicate")]
    assert outcome.paths("kept") == ["/first", "/other"]
    assert outcome.stats["test/open"] == [0]


@needs_chromium
def test_pages_whose_browser_page_nobody_would_close_are_not_dropped(site: Site) -> None:
    copies(site)
    outcome = run("Browser", site, BROWSER, errbacks="")
    assert outcome.paths("kept") == ["/first", "/near", "/other", "/second"]
    assert outcome.stats["test/open"] == [0]
    assert (outcome.pages()["exact_duplicate"], outcome.pages()["near_duplicate"]) == (1, 1)


@needs_chromium
def test_what_a_browser_shows_is_compared_not_what_the_server_sent(site: Site) -> None:
    # One shell for all pages: the script fills it by the address.
    texts = {name: topic(f"7.4/en/{name}") for name in ("autotext", "goal-seek")}
    for name, text in texts.items():
        site.add(f"/text/{name}", text)
    script = "fetch('/text' + location.pathname.replace('/copy', '')).then(a => a.text()).then(t => {document.body.innerHTML = t})"
    site.add("/", hub("/autotext", "/goal-seek", "/copy/autotext"))
    for path in ("/autotext", "/goal-seek", "/copy/autotext"):
        site.add(path, f"<html><body><script>{script}</script></body></html>")
    outcome = run("Rendered", site, BROWSER)
    assert outcome.paths("kept") == ["/", "/autotext", "/goal-seek"]
    assert outcome.paths("dropped") == [("/copy/autotext", "/autotext")]


def test_items_of_every_kind_are_compared_by_their_field(site: Site) -> None:
    topics = {"dict": "protection", "DataItem": "autotext", "AttrsItem": "goal-seek", "PydanticItem": "openpgp", "ScrapyItem": "toolbars"}
    site.add("/", hub(*topics))
    for kind, name in topics.items():
        text = topic(f"7.4/en/{name}")
        site.add(f"/{kind}", f"<section>{text}</section><section>{text}<p>One more sentence.</p></section>")
    outcome = run("Items", site, {"SIMCRAWL_ITEM_FIELD": "text"})
    assert outcome.paths("kept") == sorted(f"/{kind}#0" for kind in topics)
    assert outcome.stats["simcrawl/items/near_duplicate"] == len(topics)


def test_items_of_every_kind_of_a_dropped_page_are_dropped(site: Site) -> None:
    site.add("/", hub("/first", "/near"))
    site.add("/first", f"<section>{topic()}</section>")
    site.add("/near", f"<section>{topic()}<p>Updated.</p></section>")
    outcome = run("Items", site, {})
    assert outcome.paths("dropped") == [("/near", "/first")]
    assert outcome.stats["simcrawl/items/dropped"] == 5
    assert [url.split("#")[0] for url in outcome.paths("kept")] == ["/first"] * 5
