"""Crawls of sites with pages that are made to hurt: they end, each page is counted, and the other pages fare as without them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.crawl.content import hub, page
from tests.crawl.runner import crawl
from tests.crawl.test_crawl import IN_ORDER, KINDS, check_sums, copies
from tests.hostile_pages import PAGES, bomb
from tests.samples import english

if TYPE_CHECKING:
    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

ORDINARY = ("/first", "/second", "/near", "/other")
# No page is to be too slow because the machine is: the tests of what takes too long say how long that is.
# Scrapy's own search for redirects in meta fails where an encoding or a base is none.
SETTINGS: dict[str, Any] = IN_ORDER | {"SIMCRAWL_MAX_PAGE_SECONDS": 300, "SIMCRAWL_WORKERS": 1, "METAREFRESH_ENABLED": False}


def _of_others(outcome: Outcome) -> tuple[list[Any], ...]:
    """Return what was dropped, and the verdicts, of the pages that are neither hostile nor the front page, which names those."""
    return tuple([one for one in outcome.paths(name) if "/hostile/" not in str(one) and one[0] != "/"] for name in ("dropped", "verdicts"))


def _add_hostile(site: Site) -> Counter[str]:
    """Put hostile pages between the site's others, and return how many of them are to end how."""
    expected: Counter[str] = Counter()
    for number, hostile in enumerate(PAGES.values()):
        kind = f"text/html; charset={hostile.encoding}" if hostile.encoding else "text/html"
        site.add(f"/hostile/{number}", hostile.make(), Content_Type=kind)
        expected[hostile.ends] += 1
    for megabytes, inside, reason in ((100, " ", "too_large"), (3, "<p>word ", "too_large"), (2, "word ", "page")):
        site.add(f"/hostile/bomb-{megabytes}", bomb(megabytes, inside), Content_Encoding="gzip")
        expected[reason] += 1
    paths = [path for path in site.answers if path.startswith("/hostile/")]
    quarter = len(paths) // 3
    order = [[one, *paths[quarter * at : quarter * (at + 1) if at < 3 else None]] for at, one in enumerate(ORDINARY)]
    site.add("/", hub(*(link for links in order for link in links)))
    return expected


def test_hostile_pages_are_counted_under_their_reasons_and_the_others_fare_as_without_them(site: Site) -> None:
    copies(site)
    without = crawl("Front", site.url(), settings=SETTINGS)
    expected = _add_hostile(site)
    outcome = crawl("Front", site.url(), settings=SETTINGS)
    assert outcome.stats["finish_reason"] == "finished"
    assert "ERROR" not in outcome.log
    assert all(site.requests[path] == 1 for path in site.answers if path.startswith("/hostile/"))
    pages = outcome.pages()
    compared = expected.pop("page")
    assert {name.removeprefix("skipped/"): count for name, count in pages.items() if "skipped/" in name} == expected
    # The front page, too: it has grown.
    assert sum(pages.get(kind, 0) - without.pages().get(kind, 0) for kind in KINDS[:-1]) == compared + 1
    check_sums(outcome)
    assert _of_others(outcome) == _of_others(without)


@pytest.mark.parametrize(
    ("workers", "ends"),
    [
        (1, {"raises": "extraction_failed", "hangs": "too_slow", "dies": "crashed", "grows": "out_of_memory"}),
        (0, {"raises": "extraction_failed", "hangs": "too_slow"}),
    ],
)
def test_an_extractor_that_fails_takes_nothing_but_its_page_along(site: Site, workers: int, ends: dict[str, str]) -> None:
    settings = SETTINGS | {"SIMCRAWL_WORKERS": workers, "SIMCRAWL_EXTRACTOR": "tests.hostile_pages.extractor"}
    copies(site)
    without = crawl("Front", site.url(), settings=settings)
    for name in ends:
        site.add(f"/hostile/{name}", page("7.4/en/toolbars", note=name))
    hostile = [f"/hostile/{name}" for name in ends]
    site.add("/", hub("/first", *hostile, *ORDINARY[1:]))
    outcome = crawl("Front", site.url(), settings=settings | {"SIMCRAWL_MAX_PAGE_SECONDS": 8})
    assert outcome.stats["finish_reason"] == "finished"
    assert "ERROR" not in outcome.log
    assert {path: reason for path, _, reason, _ in outcome.paths("verdicts") if path in hostile} == {
        f"/hostile/{name}": reason for name, reason in ends.items()
    }
    assert _of_others(outcome) == _of_others(without)
    check_sums(outcome)


# ---- traps

TEXT = "".join(f"<p>{line}</p>" for line in english(40).splitlines())


def _by_query(path: str) -> str | None:
    """Return one page under all session numbers; its links carry two new ones."""
    parts = urlsplit(path)
    number = int(parse_qs(parts.query).get("session", ["1"])[0])
    links = "".join(f'<a href="/shop?session={more}">more</a> ' for more in (2 * number, 2 * number + 1))
    return f"<html><body><h1>Shop</h1>{TEXT}{links}</body></html>" if parts.path == "/shop" else None


def _by_path(path: str) -> str | None:
    """Return one page under all addresses below `/shop/`, with two more of them."""
    number = int(path.removeprefix("/shop/")) if path.startswith("/shop/") else 0
    links = "".join(f'<a href="/shop/{more}">more</a> ' for more in (2 * number, 2 * number + 1))
    return f"<html><body><h1>Shop</h1>{TEXT}{links}</body></html>" if number else None


def _calendar(path: str) -> str | None:
    """Return a month without events below an introduction, and its links to two others."""
    number = int(path.removeprefix("/month/")) if path.startswith("/month/") else 0
    links = "".join(f'<a href="/month/{more}">next</a> ' for more in (number + 1, number + 12))
    return f"<html><body><h1>Month {number % 12 + 1} of {number // 12}</h1>{TEXT}{links}</body></html>" if number else None


@pytest.mark.parametrize(
    ("trap", "start"),
    [
        (_by_query, "/shop?session=1"),
        (_by_path, "/shop/1"),
        (_calendar, "/month/1"),
    ],
)
def test_one_text_under_a_million_addresses_ends_where_links_are_dropped(site: Site, trap: Any, start: str) -> None:
    site.trap = trap
    site.add("/", hub(start, "/other"))
    site.add("/other", page("7.4/en/autotext"))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_OUTLINKS": "drop", "CLOSESPIDER_PAGECOUNT": 100})
    assert outcome.stats["finish_reason"] == "finished"
    # The first, its links, and nothing behind those.
    assert outcome.paths("kept") == sorted(["/", "/other", start])
    assert len(outcome.paths("dropped")) == 2
    assert site.requests.total() == 5
    check_sums(outcome)


@pytest.mark.parametrize(("trap", "start"), [(_by_path, "/shop/1"), (_calendar, "/month/1")])
def test_a_trap_that_is_followed_is_bounded_by_the_spider_s_limit_and_gives_one_page(site: Site, trap: Any, start: str) -> None:
    site.trap = trap
    site.add("/", hub(start, "/other"))
    site.add("/other", page("7.4/en/autotext"))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"CLOSESPIDER_PAGECOUNT": 100})
    assert outcome.stats["finish_reason"] == "closespider_pagecount"
    assert outcome.paths("kept") == sorted(["/", "/other", start])
    assert outcome.pages()["dropped"] == outcome.pages()["checked"] - 3 >= 90
    check_sums(outcome)
