"""Crawls of small real sites whose pages say what they are: which copy is kept, and what comes first."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.crawl.preferred import _better, _Ways
from simcrawl.page.fingerprint import fingerprint_page
from simcrawl.store import open_store
from tests.crawl.content import hub, page
from tests.crawl.runner import MODES, crawl
from tests.crawl.server import Site
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english

if TYPE_CHECKING:
    from pathlib import Path

PREFER = {"SIMCRAWL_PREFER": "canonical"}
# In the order of the links, and made one after the other: with that a page is made before those behind the one that comes after it.
FOUR = IN_ORDER | {"CONCURRENT_REQUESTS": 4, "SIMCRAWL_WORKERS": 1}
SPIDERS = "tests.crawl.hint_spiders."


def _head(made: str, head: str) -> str:
    return made.replace("</title>", f"</title>{head}")


def _names(canonical: str, made: str) -> str:
    return _head(made, f'<link rel="canonical" href="{canonical}">')


def _late(site: Site, *, copy: str = "/copy", names: str = '<link rel="canonical" href="/canon">') -> Event:
    """Fill a site on which the canonical page comes only when a copy of it has come; return what lets it come."""
    come = Event()
    site.add("/", hub(copy, "/canon", "/filler"))
    site.add(copy, _head(page("7.4/en/protection"), names))
    site.add("/canon", page("7.4/en/protection", more="Updated."), hold=come)
    site.add("/filler", page("7.4/en/autotext", "/second"))
    site.add("/second", page("7.4/en/find-replace", "/come"))
    _set_by(site, come)
    return come


def _set_by(site: Site, come: Event) -> None:
    """Let a page be answered when another one is asked for."""

    def answer(path: str) -> str | None:
        if path != "/come":
            return None
        come.set()
        return page("7.4/en/goal-seek")

    site.trap = answer


OTHERS = ["/come", "/filler", "/second"]


@pytest.mark.parametrize("mode", MODES)
def test_a_page_waits_for_its_canonical_one_which_is_kept(site: Site, mode: str):
    _late(site)
    outcome = crawl("Plain", site.url(), mode=mode, settings=FOUR | PREFER)
    assert outcome.paths("kept") == sorted(["/", "/canon", *OTHERS])
    assert outcome.paths("dropped") == [("/copy", "/canon")]
    assert outcome.stats["simcrawl/canonical/agrees"] == outcome.stats["simcrawl/canonical/waited"] == 1
    assert "simcrawl/canonical/disagrees" not in outcome.stats


def test_without_the_setting_the_first_that_comes_is_kept_and_that_is_counted(site: Site, tmp_path: Path):
    _late(site)
    outcome = crawl("Plain", site.url(), settings=FOUR | {"SIMCRAWL_STORE": str(tmp_path / "store")})
    assert outcome.paths("dropped") == [("/canon", "/copy")]
    assert outcome.stats["simcrawl/canonical/disagrees"] == 1
    assert not {name for name in outcome.stats if name.startswith("simcrawl/canonical/")} - {"simcrawl/canonical/disagrees"}
    with open_store(tmp_path / "store") as store:
        assert [(line.url, line.canonical) for line in store.duplicates()] == [(site.url("/canon"), "copy")]


@pytest.mark.parametrize(
    "way",
    [
        {"names": '<meta property="og:url" content="/canon">'},
        {"copy": "/canon?from=here", "names": ""},
    ],
)
def test_other_ways_to_say_which_page_is_meant(site: Site, way: dict[str, str]):
    _late(site, **way)
    outcome = crawl("Plain", site.url(), settings=FOUR | PREFER)
    assert outcome.paths("dropped") == [(way.get("copy", "/copy"), "/canon")]


def test_a_header_says_it_too(site: Site):
    _late(site, names="")
    site.answers["/copy"].headers["Link"] = '</canon>; rel="canonical"'
    assert crawl("Plain", site.url(), settings=FOUR | PREFER).paths("dropped") == [("/copy", "/canon")]


def test_the_canonical_page_is_kept_night_after_night(site: Site, tmp_path: Path):
    come = _late(site)
    for _ in range(2):
        come.clear()
        outcome = crawl("Plain", site.url(), settings=FOUR | PREFER | {"SIMCRAWL_STORE": str(tmp_path / "store")})
        assert outcome.paths("dropped") == [("/copy", "/canon")]
        assert outcome.stats["simcrawl/canonical/agrees"] == 1


def test_with_threads_as_with_processes(site: Site):
    _late(site)
    outcome = crawl("Plain", site.url(), settings=FOUR | PREFER | {"SIMCRAWL_WORKERS": 0})
    assert outcome.paths("dropped") == [("/copy", "/canon")]


def test_a_canonical_page_that_there_is_not_keeps_nobody(site: Site):
    _late(site)
    site.answers["/canon"].status = 404
    outcome = crawl("Plain", site.url(), settings=FOUR | PREFER)
    assert outcome.paths("kept") == sorted(["/", "/copy", *OTHERS])
    assert outcome.stats["simcrawl/canonical/waited"] == 1


def test_a_canonical_page_that_redirects_is_the_one_that_it_leads_to(site: Site):
    come = _late(site)
    site.add("/moved", site.answers["/canon"].body)
    site.add("/canon", "", status=301, hold=come, Location="/moved")
    assert crawl("Plain", site.url(), settings=FOUR | PREFER).paths("dropped") == [("/copy", "/moved")]


def test_a_page_that_waits_too_long_is_kept(site: Site):
    _late(site)
    # Its callback alone asks for the page that lets the canonical one come.
    site.add("/copy", _names("/canon", page("7.4/en/protection", "/come")))
    site.add("/second", page("7.4/en/find-replace"))
    outcome = crawl("Plain", site.url(), settings=FOUR | PREFER)
    assert outcome.paths("dropped") == [("/canon", "/copy")]
    assert outcome.stats["simcrawl/canonical/waited_in_vain"] == outcome.stats["simcrawl/canonical/disagrees"] == 1


def test_pages_that_name_each_other_do_not_wait_for_each_other(site: Site):
    site.add("/", hub("/a", "/b", "/c"))
    for name, other in ("ab", "bc", "ca"):
        site.add(f"/{name}", _names(f"/{other}", page("7.4/en/protection")))
    outcome = crawl("Plain", site.url(), settings=PREFER)
    assert len(outcome.paths("dropped")) == 2
    assert "simcrawl/canonical/waited_in_vain" not in outcome.stats


def test_requests_wait_for_those_that_lead_to_canonical_pages(site: Site):
    topics = ["protection", "autotext", "find-replace", "goal-seek", "toolbars", "openpgp"]
    site.add("/", hub(*(f"{place}/{topic}" for place in ("/print", "/read") for topic in topics)))
    for topic in topics:
        site.add(f"/print/{topic}", _names(f"/read/{topic}", page(f"7.4/en/{topic}")))
        site.add(f"/read/{topic}", page(f"7.4/en/{topic}"))
    preferring, plain = (crawl("Plain", site.url(), settings=FOUR | more) for more in (PREFER, {}))
    assert len(preferring.paths("kept")) == len(plain.paths("kept")) == 1 + len(topics)
    # The first two teach it, and others are under way by then.
    assert sum("/read/" in path for path in preferring.paths("kept")) >= 3
    assert not any("/read/" in path for path in plain.paths("kept"))
    assert plain.stats["simcrawl/canonical/disagrees"] == len(topics)


@pytest.mark.parametrize(
    ("named", "asked", "better"),
    [
        (("http://x/print/{}", "http://x/read/{}"), "http://x/print/c", ["http://x/read/c"]),
        (("http://x/i386/en/{}", "http://x/amd64/en/{}"), "http://x/i386/de/c", ["http://x/amd64/de/c"]),
        (("http://x/en/{}", "http://x/{}"), "http://x/en/c/d", ["http://x/c/d"]),
        (("http://x/{}?print=1", "http://x/{}"), "http://x/c?print=2", ["http://x/c"]),
        (("http://x/{}?print=1", "http://x/{}"), "http://x/c", []),
        (("http://x/{}", "http://y/{}"), "http://x/c", []),
        (("http://x/{}", "http://x/"), "http://x/c", []),
        (("http://x/{}", "http://x/{}.html"), "http://x/c", []),
    ],
)
def test_how_urls_lead_to_better_ones(named: tuple[str, str], asked: str, better: list[str]):
    ways = _Ways()
    for name in "ab":
        assert not list(ways.better(asked))
        ways.note(*(url.format(name) for url in named))
    assert list(ways.better(asked)) == better


@pytest.mark.parametrize("visited", [True, False])
def test_a_canonical_page_on_another_host_is_waited_for_if_it_is_visited(site: Site, visited: bool):
    with Site("127.0.0.2") as other:
        come = _late(site, names=f'<link rel="canonical" href="{other.url("/canon")}">')
        other.add("/canon", site.answers.pop("/canon").body, hold=come)
        other.add("/hello", page("7.4/en/openpgp", site.url("/more")))
        site.add("/", hub(other.url("/hello") if visited else "/more"))
        site.add("/more", hub("/copy", *([other.url("/canon")] if visited else []), "/filler"))
        outcome = crawl("Plain", site.url(), settings=FOUR | PREFER)
        assert ("/copy" in outcome.paths("kept")) is not visited
        assert outcome.stats.get("simcrawl/canonical/waited", 0) == visited


def test_pages_that_wait_leave_room_for_others(site: Site):
    topics = ["autotext", "find-replace", "goal-seek", "toolbars", "openpgp"]
    paths = [f"/{topic}?{number}" for topic in topics for number in range(4)]
    site.add("/", hub(*paths, "/canon"))
    for path in paths:
        site.add(path, _names("/canon", page(f"7.4/en/{path[1:-2]}")))
    site.add("/canon", page("7.4/en/protection"))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | PREFER | {"CONCURRENT_REQUESTS": 4})
    assert outcome.pages()["checked"] == len(paths) + 2
    assert len(outcome.paths("kept")) == len(topics) + 2


_HOSTILE = {
    "/none": "javascript:alert(1)",
    "/malformed": "http://[::1",
    "/long": "/" + "a" * 1_000_000,
    "/many": '"><link rel="canonical" href="'.join(f"/many-{number}" for number in range(40_000)),
    "/foreign": "https://example.invalid/",
    "/itself": "/itself",
    "/start": "/",
    "/empty": "",
}


def test_what_pages_lie_changes_no_verdict(site: Site):
    site.add("/", hub(*_HOSTILE))
    for path, canonical in _HOSTILE.items():
        # Of one text and one title: that of three pages would tell them apart.
        html = page("7.4/en/protection" if path < "/l" else "7.4/en/autotext")
        site.add(path, _names(canonical, f"{html}<!-- {path} -->"))
    plain, preferring = (crawl("Plain", site.url(), settings=IN_ORDER | {"CONCURRENT_REQUESTS": 2} | more) for more in ({}, PREFER))
    assert plain.pages() == preferring.pages()
    # Two pages are under way at a time: which of two equal ones is first is chance.
    assert len(plain.paths("kept")) == len(preferring.paths("kept")) == 3
    assert "simcrawl/canonical/waited_in_vain" not in preferring.stats
    assert not preferring.stats.get("simcrawl/errors")
    assert "ERROR" not in preferring.log


@pytest.mark.parametrize("settings", [{"SIMCRAWL_ACTION": "observe"}, {"SIMCRAWL_COPIES_KEPT": 2}, {"CONCURRENT_REQUESTS": 1}])
def test_nobody_waits_where_nothing_would_come_of_it(site: Site, settings: dict[str, Any]):
    _late(site).set()
    outcome = crawl("Plain", site.url(), settings=FOUR | PREFER | settings)
    assert outcome.pages()["checked"] == 6
    assert "simcrawl/canonical/waited" not in outcome.stats


@pytest.mark.parametrize(
    ("url", "canonical", "better"),
    [
        ("http://x/a", "http://x/b", ["http://x/b"]),
        ("http://x/a", "http://x/a", []),
        ("http://x/a", "", ["https://x/a"]),
        ("https://x/a?b=1", "", ["https://x/a"]),
        ("https://x/a/index.html", "", ["https://x/a/"]),
        ("https://x/a", "", []),
    ],
)
def test_which_urls_are_better(url: str, canonical: str, better: list[str]):
    made = fingerprint_page(_names(canonical, page()) if canonical else page(), url=url)
    assert made.hints
    assert made.hints.canonical == canonical
    assert list(_better(made)) == better


# ---- order


def _fillers(site: Site) -> list[str]:
    """Add pages to be visited before what stands on those that came before them: when that is asked for, all of it is in the queue."""
    paths = ["/toolbars", "/openpgp"]
    for path in paths:
        site.add(path, page(f"7.4/en{path}"))
    return paths


def _asked(site: Site) -> list[str]:
    return list(site.requests)


def _not_to_follow(site: Site) -> list[str]:
    """Add pages that say in each of the three ways that robots are not to follow their links."""
    site.add("/loose-head", _head(page("7.4/en/protection", "/behind-loose-head"), '<meta name="robots" content="noindex, nofollow">'))
    site.add("/loose-header", page("7.4/en/heading-numbering", "/behind-loose-header"), X_Robots_Tag="none")
    site.add("/loose-link", page("7.4/en/goal-seek", "/behind-loose-link").replace("<a href=", '<a rel="nofollow" href='))
    return ["/loose-head", "/loose-header", "/loose-link"]


def _copies(site: Site) -> list[str]:
    """Add a page and a copy of it."""
    for path in ("/one", "/two"):
        site.add(path, page("7.4/en/regular-expressions"))
    return ["/one", "/two"]


@pytest.mark.parametrize(
    ("spider", "order", "copies", "last"),
    [
        ("Plain", True, True, True),
        ("Plain", False, True, False),
        ("Prioritized", True, True, False),
        # Without copies the order is the spider's: it may end with the first page that it knows.
        ("Plain", True, False, False),
    ],
)
def test_links_that_robots_are_not_to_follow_come_later(site: Site, spider: str, order: bool, copies: bool, last: bool):
    loose = _not_to_follow(site)
    site.add("/", hub(*(_copies(site) if copies else []), *loose, "/plain", *_fillers(site)))
    site.add("/plain", page("7.4/en/autotext", "/behind-plain"))
    for topic, name in zip(("find-replace", "autoformat", "remote-files", "autofilter"), (*loose, "/plain"), strict=True):
        site.add(f"/behind-{name[1:]}", page(f"7.4/en/{topic}"))
    crawl(SPIDERS + spider if spider == "Prioritized" else spider, site.url(), settings=IN_ORDER | {"SIMCRAWL_ORDER": order})
    asked = _asked(site)
    assert [asked.index(f"/behind-{name[1:]}") > asked.index("/behind-plain") for name in loose] == [last] * 3


def test_of_one_page_those_links_come_later_that_robots_are_not_to_follow(site: Site):
    paths, copies = [f"/{number}" for number in range(10)], _copies(site)
    site.add("/", hub(*copies, "/list"))
    site.add("/list", hub(*paths).replace('href="/3"', 'href="/3" rel="nofollow"').replace('href="/5"', 'href="/5" rel="nofollow"'))
    site.add("/0", page("7.4/en/protection", "/5"))
    outcome = crawl("Plain", site.url(), settings=IN_ORDER)
    assert _asked(site) == ["/", *copies, "/list", *(path for path in paths if path not in ("/3", "/5")), "/3", "/5"]
    assert site.requests["/3"] == 1
    assert outcome.stats["finish_reason"] == "finished"


def test_a_page_that_another_one_names_as_canonical_comes_first(site: Site):
    site.add("/", hub("/a", "/b", *_fillers(site)))
    site.add("/a", _names("/canon", page("7.4/en/protection")))
    site.add("/b", page("7.4/en/autotext", "/x", "/canon"))
    site.add("/x", page("7.4/en/find-replace"))
    site.add("/canon", page("7.4/en/goal-seek"))
    crawl("Plain", site.url(), settings=IN_ORDER)
    assert _asked(site)[-2:] == ["/canon", "/x"]


def test_what_a_sitemap_lists_keeps_its_order(site: Site):
    site.add("/robots.txt", f"Sitemap: {site.url('/sitemap.xml')}", Content_Type="text/plain")
    locations = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in ("/a", "/b"))
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    site.add("/sitemap.xml", f'<?xml version="1.0"?><urlset xmlns="{namespace}">{locations}</urlset>', Content_Type="application/xml")
    site.add("/a", page("7.4/en/protection", "/c"))
    site.add("/b", page("7.4/en/autotext"))
    site.add("/c", page("7.4/en/goal-seek"))
    marked = dict(crawl(SPIDERS + "MarkedSitemaps", site.url(), settings=IN_ORDER).paths("marked"))
    assert {path: marked[path] for path in ("/a", "/b", "/c")} == {"/a": False, "/b": False, "/c": True}


# ---- what a robots.txt says


SHOWN = [f"/show?id={number}&sid=a{number}" for number in range(6)]
AGAIN = [f"/show?id={number}&sid=b{number}" for number in range(6)]


def _with_session_ids(site: Site, robots: str) -> list[str]:
    """Fill a site on which no value of a parameter comes twice, and too few come to tell from them that it names nothing."""
    topics = ["protection", "autotext", "find-replace", "goal-seek", "toolbars", "openpgp"]
    others = [f"/other/{number}" for number in range(10)]
    for topic, *paths in zip(topics, SHOWN, AGAIN, strict=True):
        for path in paths:
            site.add(path, page(f"7.4/en/{topic}"))
    for number, path in enumerate(others):
        site.add(path, hub(f"#{number}").replace("Contents", f"Number {number}"))
    site.add("/robots.txt", robots, Content_Type="text/plain")
    site.add("/", hub(*SHOWN, *AGAIN, *others))
    return others


_NAMED = "User-agent: *\nClean-param: other&sid /show\n"


@pytest.mark.parametrize(
    ("mode", "robots", "settings", "later"),
    [
        *((mode, _NAMED, {}, True) for mode in MODES),
        ("asyncio", "User-agent: *\nClean-param: sid /shown\n", {}, False),
        ("asyncio", "Clean-param: sid /show\n", {"SIMCRAWL_ORDER": False}, False),
        *((mode, "Clean-param: sid /show\n", {"ROBOTSTXT_OBEY": False}, False) for mode in MODES),
    ],
)
def test_parameters_that_a_robots_txt_names_are_not_to_matter(site: Site, mode: str, robots: str, settings: dict[str, Any], later: bool):
    others = _with_session_ids(site, robots)
    outcome = crawl("Plain", site.url(), mode=mode, settings=IN_ORDER | {"ROBOTSTXT_OBEY": True} | settings)
    asked = _asked(site)
    assert (asked.index(AGAIN[-1]) > asked.index(others[-1])) is later
    # It orders, and drops nothing.
    assert all(site.requests[path] == 1 for path in (*SHOWN, *AGAIN, *others))
    assert site.requests["/robots.txt"] == ("ROBOTSTXT_OBEY" not in settings)
    assert outcome.paths("dropped") == sorted(zip(AGAIN, SHOWN, strict=True))


@pytest.mark.parametrize(
    "robots",
    [
        b"Clean-param: id\n",
        b"Clean-param: id&sid /\n" * 20_000,
        b"Clean-param:" + b"\xff&" * 300_000,
        b"clean-param" + b" " * 1_000_000,
        b"<html>" * 100_000,
    ],
    ids=["lie", "many", "names", "spaces", "page"],
)
def test_a_hostile_robots_txt_costs_nothing(site: Site, robots: bytes):
    paths = [f"/show?id={number}" for number in range(100)]
    site.add("/robots.txt", robots, Content_Type="text/plain")
    site.add("/", hub(*paths))
    for number, path in enumerate(paths):
        site.add(path, f"<html><body><h1>Number {number}</h1><p>{english(12, seed=number)}</p></body></html>")
    outcome = crawl("Plain", site.url(), settings={"ROBOTSTXT_OBEY": True, "SIMCRAWL_SKIP": 0.5})
    assert outcome.paths("kept") == sorted(["/", *paths])
    assert not [line for line in outcome.log.splitlines() if " ERROR: " in line and "simcrawl" in line]
    assert "simcrawl/errors" not in outcome.stats
