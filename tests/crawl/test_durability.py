"""What a crash, a full disk or a damaged file does to a crawl: never an end to it, never a page lost."""

from __future__ import annotations

import json
import resource
import signal
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING

import pytest

from simcrawl.cli import run
from simcrawl.store import open_store
from simcrawl.store.committed import Batch
from tests.crawl.content import hub, page
from tests.crawl.runner import crawl, start
from tests.crawl.test_beside_watch import crawling, held, told
from tests.crawl.test_crawl import IN_ORDER, check_sums, copies
from tests.samples import english

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import DirectorySite, Site


_OWN_METHODS = [
    f"simcrawl.{method}"
    for method in (
        "crawl.changes.Changes.judged",
        "crawl.changes.Changes.fetched",
        "crawl.frontier.Frontier.lesson",
        "crawl.frontier.Frontier.mark",
        "crawl.frontier.Frontier._found",
        "crawl.frontier.Frontier._lets_wait",
        "crawl.frontier.Frontier._links",
        "crawl.frontier.Frontier._asked",
        "crawl.history.History.held",
        "crawl.preferred.Preferred.arrived",
        "crawl.preferred.Preferred.redirected",
        "crawl.session.Session._case",
        "crawl.session.Session.count",
        "crawl.session.Session.tell",
        "crawl.session.Session.tell_links",
        "urls.outlinks.Outlinks.note",
        "urls.outlinks.Outlinks.show",
        "urls.rewrites.RewriteRules.look",
        "urls.rewrites.RewriteRules.observe",
    )
]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_store_that_is_taken_away_is_told_of_while_the_crawl_goes_on(site: Site, tmp_path: Path) -> None:
    end, store = held(site), tmp_path / "store"
    with crawling(site, store) as process:
        told(process, store, 5)
        store.rename(tmp_path / "elsewhere")
        assert process.stdout
        for line in process.stdout:
            if "was removed, moved or replaced" in line:
                assert str(store) in line
                break
        end.set()
        *log, stats = process.stdout
    assert json.loads(stats)[0]["simcrawl/store/gone"] == 1
    kept = {url.rpartition("/")[2] for url in json.loads(stats)[0]["test/kept"]}
    assert {"", "first", "other", "last"} <= kept
    assert not any("was removed" in line for line in log)


def test_after_a_kill_every_dropped_page_has_an_original_whose_item_came_out(installguide_site: DirectorySite, tmp_path: Path) -> None:
    items = tmp_path / "items"
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "SIMCRAWL_STORE": str(tmp_path / "store"),
        "SIMCRAWL_SYNC_SECONDS": 0.2,
        # Copies that wait at the queue's end die with Scrapy's queue in a kill; here they are to be dropped before it.
        "SIMCRAWL_ORDER": False,
        "LOG_LEVEL": "INFO",
    }
    ends = []
    for after in (100, 130, 0):
        arguments = {"url": installguide_site.url("/en.html"), "path": str(items), "after": str(after)}
        ends.append(start([{"spider": "Suicidal", "arguments": arguments}], settings=settings).returncode)
        with open_store(tmp_path / "store", create=False) as store:
            assert store.verify() == []
            assert {stored.page.url for stored in store.pages()} <= set(_lines(items))
    # Scrapy forgets its queue in a kill and remembers what it has seen: a later run may end before its turn to be killed.
    assert ends[0] == -signal.SIGKILL
    assert ends[-1] == 0
    dropped = [line.split() for line in _lines(tmp_path / "items.dropped")]
    # How many depends on when the kills come; there are eight hundred copies.
    assert len(dropped) > 10
    assert {original for _, original in dropped} <= set(_lines(items))


def _fill_nothing_more() -> None:
    # What a full disk does, for files of this process only: writes past 150 KB fail.
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))


def _many(site: Site) -> None:
    names = [f"/{number}" for number in range(300)]
    site.add("/", hub(*names))
    for number, name in enumerate(names):
        site.add(name, f"<html><body><h1>Number {number}</h1><p>{english(80, number)}</p></body></html>")


def test_a_crawl_goes_on_when_the_disk_is_full(site: Site, tmp_path: Path) -> None:
    _many(site)
    # The last link: a copy.
    site.add("/", hub(*(f"/{number}" for number in range(300)), "/copy"))
    site.answers["/copy"] = site.answers["/0"]
    settings = {"SIMCRAWL_STORE": str(tmp_path / "store"), "LOG_LEVEL": "INFO", "SIMCRAWL_SYNC_SECONDS": 0.2}
    outcome = crawl("Plain", site.url(), settings=settings, preexec=_fill_nothing_more)
    assert outcome.stats["finish_reason"] == "finished"
    assert outcome.stats["simcrawl/store/errors"] >= 1
    assert outcome.log.count("simcrawl cannot") == 1
    assert (outcome.pages()["admitted"], outcome.pages()["dropped"]) == (301, 1)
    assert "1 were dropped. The store has failed, so it does not list all of them. Which, why," in outcome.log
    check_sums(outcome)


def test_a_crawl_goes_on_when_the_map_is_full(site: Site, tmp_path: Path) -> None:
    _many(site)
    settings = {"SIMCRAWL_STORE": str(tmp_path / "store"), "LOG_LEVEL": "INFO", "SIMCRAWL_SYNC_SECONDS": 0.2, "TEST_MAP_SIZE": 200_000}
    outcome = crawl("Plain", site.url(), settings=settings)
    assert outcome.stats["finish_reason"] == "finished"
    assert outcome.stats["simcrawl/store/errors"] >= 1
    assert outcome.log.count("simcrawl cannot") == 1
    assert "larger map_size" in outcome.log
    assert outcome.pages()["admitted"] == 301
    check_sums(outcome)
    with open_store(tmp_path / "store", create=False) as store:
        assert store.verify() == []


def test_a_crawl_goes_on_when_the_store_is_damaged_under_it(site: Site, tmp_path: Path) -> None:
    copies(site)
    site.add("/", hub("/first", "/sabotage"))
    site.add("/first", page("7.4/en/protection", "/behind-first"))
    site.add("/sabotage", page("7.4/en/toolbars", "/second", "/other"))
    store = tmp_path / "store"
    settings = IN_ORDER | {
        "SIMCRAWL_STORE": str(store),
        "SIMCRAWL_SYNC_SECONDS": 0,
        "TEST_STORE_FILE": str(store / "data.mdb"),
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.spiders.Sabotage": 900},
    }
    crawl("Plain", site.url(), settings=settings | {"DOWNLOADER_MIDDLEWARES": {}})
    outcome = crawl("Plain", site.url(), settings=settings)
    assert outcome.stats["finish_reason"] == "finished"
    assert {"/second", "/other"} <= set(outcome.paths("kept"))
    assert outcome.pages()["skipped/store_error"] >= 2
    assert outcome.log.count("simcrawl cannot") == 1
    check_sums(outcome)


@pytest.mark.parametrize("method", _OWN_METHODS)
def test_a_mistake_of_simcrawl_s_own_loses_nothing(site: Site, method: str) -> None:
    copies(site)
    site.add("/", hub("/first", "/second", "/near", "/other", "/missing"))
    broken = {"TEST_BROKEN": method, "DOWNLOADER_MIDDLEWARES": {"tests.crawl.spiders.Breaking": 900}}
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | broken)
    assert outcome.stats["finish_reason"] == "finished"
    assert {"/first", "/other", "/behind?page=first", "/behind-other"} <= set(outcome.paths("kept"))
    assert not [name for name in outcome.stats if name.startswith(("spider_exceptions", "downloader/exception"))]
    assert "Traceback" not in outcome.log.replace("Traceback", "", 1)
    assert outcome.stats["simcrawl/errors"] >= 1
    assert outcome.log.count("(no more such warnings will be shown)") == 1


def test_stored_pages_are_revisited_and_their_changes_noticed(site: Site, tmp_path: Path) -> None:
    copies(site)
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store")}
    first = crawl("Plain", site.url(), settings=settings)
    site.add("/other", page("7.4/en/openpgp", "/new"))
    site.add("/new", page("7.4/en/autotext"))
    second = crawl("Plain", site.url(), settings=settings)
    assert set(first.paths("kept")) - {"/behind-other"} <= set(second.paths("kept"))
    # What /other used to say may come back elsewhere: it is nobody's copy any more.
    assert "/new" in second.paths("kept")
    with open_store(tmp_path / "store", create=False) as store:
        assert store.verify() == []


def test_a_crawl_removes_expired_pages_and_no_others(site: Site, tmp_path: Path) -> None:
    copies(site)
    path = tmp_path / "store"
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(path)}
    first = crawl("Plain", site.url(), settings=settings)
    with open_store(path) as store:
        known = [stored.page.url for stored in store.pages()]
        then = time() - 3 * 86_400
        gone = [replace(stored, last_seen=then, page=replace(stored.page, url=f"{stored.page.url}/gone")) for stored in store.pages()]
        store._committed.write(Batch(gone))
    second = crawl("Plain", site.url(), settings=settings | {"SIMCRAWL_EXPIRE_DAYS": 2})
    assert second.stats["simcrawl/store/expired"] == len(gone)
    assert second.pages()["revisited"] == first.pages()["admitted"]
    with open_store(path, create=False) as store:
        assert {stored.page.url for stored in store.pages()} == set(known)
        assert store.verify() == []


def test_a_clock_that_jumped_expires_no_store(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copies(site)
    path = tmp_path / "store"
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(path)}
    crawl("Plain", site.url(), settings=settings)
    with open_store(path) as store:
        pages = list(store.pages())
        # As if the clock were ten days ahead now. One page less than these were seen since.
        then = time() - 10 * 86_400
        old = [replace(stored, last_seen=then, page=replace(stored.page, url=f"{stored.page.url}/old")) for stored in pages]
        more = replace(old[0], page=replace(old[0].page, url=f"{site.url()}one/more"))
        store._committed.write(Batch([*old, more]))
    second = crawl("Plain", site.url(), settings=settings | {"SIMCRAWL_EXPIRE_DAYS": 5})
    assert "simcrawl/store/expired" not in second.stats
    assert second.stats["simcrawl/store/not_expired"] == len(old) + 1
    assert second.log.count("--force") == 1
    cure = second.log.partition("remove them with: simcrawl ")[2].partition(" (no more")[0].split()
    assert cure == ["forget", str(path), "--older-than", "5", "--force"]
    for days in ("5", "0"):
        assert run(["forget", str(path), "--older-than", days]) == 1
        assert "look whether the clock is right" in capsys.readouterr().err
    with open_store(path) as store:
        assert store.size()["pages"] == len(old) + len(pages) + 1
    assert run(cure) == 0
    with open_store(path) as store:
        assert store.size()["pages"] == len(pages)
        assert store.verify() == []


def test_a_crawl_without_trouble_says_nothing_of_any(site: Site) -> None:
    copies(site)
    outcome = crawl("Plain", site.url(), settings=IN_ORDER)
    assert not any(word in outcome.log for word in ("Traceback", "WARNING", "ERROR"))
    assert "simcrawl/store/errors" not in outcome.stats
