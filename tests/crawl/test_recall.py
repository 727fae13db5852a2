"""Night after night on one store: what the first crawl learned orders the second from its first page, and costs it no content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.store import open_store
from tests.crawl.content import hub
from tests.crawl.runner import crawl
from tests.crawl.server import Site
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.runner import Outcome

PAGES = 120


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


def build(site: Site, folders: tuple[str, ...] = ("mirror", "manual"), *, differ: int = PAGES, pages: int = PAGES) -> None:
    """Let every content stand in two folders; from page `differ` on the first folder has contents of its own."""
    site.answers.clear()
    # The start page links to both by turns, so that nothing but URLs tells what to fetch first; to a copy some pages after its original.
    links = [f"/{folder}/{(number - place * 15) % pages}" for number in range(pages) for place, folder in enumerate(folders)]
    site.add("/", hub(*links))
    for number in range(pages):
        for place, folder in enumerate(folders):
            own = place == 0 and number >= differ
            text = english(60, seed=number + (10_000 if own else 0))
            site.add(f"/{folder}/{number}", f"<html><title>{number}{' again' if own else ''}</title><body><p>{text}</p></body></html>")


def night(site: Site, store: Path | str, **options: Any) -> Outcome:
    # One request at a time: which page is fetched when is the order's doing alone.
    return crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_STORE": str(store), "LOG_LEVEL": "INFO"} | options)


def contents(site: Site, outcome: Outcome) -> set[str]:
    return {re.findall(r"<title>(.*?)</title>|$", site.answers[path].body.decode())[0] for path in outcome.paths("kept")} - {""}


def predicted(outcome: Outcome, name: str) -> int:
    return int(outcome.stats.get(f"simcrawl/predicted/{name}", 0))


def test_the_second_night_orders_from_its_first_page_and_skips_after_twenty_confirmations(site: Site, tmp_path: Path) -> None:
    build(site)
    first = night(site, tmp_path / "store", SIMCRAWL_SKIP=False)
    assert predicted(first, "remembered") == 0
    limit = {"CLOSESPIDER_PAGECOUNT": 1 + PAGES // 2}
    short, alone = night(site, tmp_path / "store", **limit), night(site, "memory:", **limit)
    assert predicted(short, "remembered") >= 1
    # From the first page on a content is fetched once; alone it takes some pages to see that.
    assert len(contents(site, short)) >= PAGES // 2 - 3
    assert len(contents(site, alone)) < len(contents(site, short))
    second = night(site, tmp_path / "store")
    assert len(contents(site, second)) == PAGES
    copies = PAGES - predicted(second, "skipped")
    assert 20 <= copies <= 20 + PAGES // 3
    assert second.pages()["dropped"] == copies


@pytest.mark.parametrize("differ", [0, PAGES // 2, PAGES - 20])
def test_a_site_that_has_changed_since_loses_nothing(site: Site, tmp_path: Path, differ: int) -> None:
    build(site)
    night(site, tmp_path / "store")
    build(site, differ=differ)
    second = night(site, tmp_path / "store")
    assert predicted(second, "remembered") >= 1
    assert len(contents(site, second)) == 2 * PAGES - differ


def test_originals_that_are_gone_take_no_copy_along(site: Site, tmp_path: Path) -> None:
    build(site)
    night(site, tmp_path / "store")
    for number in range(0, PAGES, 2):
        del site.answers[f"/manual/{number}"]
    second = night(site, tmp_path / "store")
    assert len(contents(site, second)) == PAGES


def test_what_was_skipped_is_no_evidence(site: Site, tmp_path: Path) -> None:
    build(site)
    night(site, tmp_path / "store")
    second = night(site, tmp_path / "store")
    third = night(site, tmp_path / "store")
    assert predicted(second, "skipped")
    assert predicted(third, "remembered") >= 1
    assert len(contents(site, third)) == PAGES


def test_a_crawl_that_is_resumed_takes_its_own_pages_for_originals(site: Site, tmp_path: Path) -> None:
    build(site)
    settings = {"JOBDIR": str(tmp_path / "job")}
    # All originals have come out by then.
    first = night(site, tmp_path / "store", **settings, CLOSESPIDER_PAGECOUNT=PAGES + 10)
    second = night(site, tmp_path / "store", **settings)
    assert len(contents(site, first)) == PAGES
    assert contents(site, second) == set()
    # What they link to is known to the process that fetched them: it was stopped.
    assert not predicted(second, "skipped")
    assert predicted(second, "fetched_for_links") >= PAGES // 2


@pytest.mark.parametrize("mode", ["epoll", "reactorless"])
def test_rules_are_recalled_whatever_the_event_loop(site: Site, tmp_path: Path, mode: str) -> None:
    build(site, pages=30)
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store")}
    crawl("Plain", site.url(), settings=settings, mode=mode)
    assert predicted(crawl("Plain", site.url(), settings=settings, mode=mode), "remembered") >= 1


def test_without_order_nothing_is_recalled(site: Site, tmp_path: Path) -> None:
    build(site, pages=30)
    night(site, tmp_path / "store")
    assert "simcrawl/predicted/remembered" not in night(site, tmp_path / "store", SIMCRAWL_ORDER=False).stats


def test_a_store_that_cannot_be_read_for_rules_stops_no_crawl(site: Site, tmp_path: Path) -> None:
    build(site, pages=5)
    night(site, tmp_path / "store")
    with open_store(tmp_path / "store") as store:
        files = store._committed._files  # type: ignore[attr-defined]
        with files.env.begin(write=True) as txn:
            txn.put((1 << 40).to_bytes(8, "big"), b"damaged", db=files.databases.pages)
    second = night(site, tmp_path / "store")
    assert "simcrawl cannot learn from its store; this crawl learns anew" in second.log
    assert len(contents(site, second)) == 5
