"""A page that was dropped, and of which another one shows that it is no copy, is fetched again and comes out."""

from __future__ import annotations

import gc
import gzip
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

import pytest
from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simcrawl.crawl.again import Again, DroppedItems
from simcrawl.store import open_store
from tests.crawl.content import hub
from tests.crawl.runner import MODES, crawl
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english

if TYPE_CHECKING:
    from pathlib import Path

    from simcrawl.crawl.common import Common
    from tests.crawl.server import Site

SPIDERS = "tests.crawl.again_spiders"
SPIDER = f"{SPIDERS}.Telling"
FETCHED = {"DOWNLOADER_MIDDLEWARES": {"simcrawl.crawl.HeldPageMiddleware": None}}
LOTS = [f"/lot?id={number}" for number in range(30)]


def _lot(price: str = "", *, more: str = "") -> str:
    row = f"<table><tr><td>Hammer price</td><td>{price}</td></tr></table>" if price else ""
    return f"<html><head><title>Auction</title></head><body><h1>Auction</h1>{row}<p>{english(20, seed=1)}</p>{more}</body></html>"


def _auction(site: Site) -> None:
    """The first lot was not sold, and is met first. On all others the price is all that differs."""
    site.add("/", hub(*LOTS))
    for number, path in enumerate(LOTS):
        site.add(path, _lot(f"{number * 37} EUR" if number else ""))


@pytest.mark.parametrize("mode", MODES)
def test_a_record_without_a_value_takes_no_other_with_it(site: Site, mode: str, tmp_path: Path) -> None:
    _auction(site)
    outcome = crawl(SPIDER, site.url("/"), mode=mode, settings={"CONCURRENT_REQUESTS": 1, "SIMCRAWL_STORE": str(tmp_path / "store")})
    assert set(outcome.paths("kept")) == {"/", *LOTS}
    assert outcome.stats["simcrawl/pages/asked_again"] == 1
    assert outcome.stats["simcrawl/pages/asked_again/not_fetched"] == 1
    assert {site.requests[path] for path in LOTS} == {1}
    assert outcome.stats["simcrawl/pages/dropped"] == 1
    assert outcome.log.count("shows that it is none: it is asked for again") == 1
    # It counts once, as kept.
    assert outcome.stats["simcrawl/pages/taken_back"] == 1
    assert outcome.stats["simcrawl/pages/checked"] == 1 + len(LOTS)
    assert f"None of {1 + len(LOTS)} pages is a copy of another" in outcome.log
    with open_store(str(tmp_path / "store"), readonly=True) as store:
        assert list(store.duplicates()) == []


def test_what_many_requests_at_once_show_is_seen_as_well(site: Site) -> None:
    _auction(site)
    kept = crawl(SPIDER, site.url("/")).paths("kept")
    # Of that without a price, where it comes later, all is said on others.
    assert {"/", *LOTS[1:]} <= set(kept)


def test_rooms_that_differ_in_their_number_come_out(site: Site) -> None:
    rooms = [f"/room?id={number}" for number in range(20)]
    site.add("/", hub(*rooms, *(f"{room}&print=1" for room in rooms[::4])))
    for number, path in enumerate(rooms):
        rows = "".join(f"<tr><th>{label}<td>{value}" for label, value in (("Beds", 2), ("View", "Garden"), ("Room", 101 + number)))
        html = f"<html><head><title>Rooms</title></head><body><h1>Rooms</h1><table>{rows}</table><p>{english(40, seed=1)}</p></body></html>"
        site.add(path, html)
        site.add(f"{path}&print=1", html)
    outcome = crawl(SPIDER, site.url("/"), settings=IN_ORDER | {"SIMCRAWL_ORDER": False})
    assert set(outcome.paths("kept")) == {"/", *rooms}
    assert outcome.stats["simcrawl/pages/asked_again"] == 1


def test_roll_calls_of_one_assembly_come_out(site: Site) -> None:
    names = [f"{name} {family}" for family in ("Hay", "Lund", "Moss") for name in ("Ann", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal")]
    calls = [f"/call?id={number}" for number in range(20)]
    site.add("/", hub(*calls, *(f"{call}&sort=family" for call in calls[::4])))
    for number, path in enumerate(calls):
        votes = [(name, "no" if place in (number, number + 2) else "yes") for place, name in enumerate(names)]
        for address, told in ((path, votes), (f"{path}&sort=family", votes[8:] + votes[:8])):
            rows = "".join(f"<tr><td>{name}<td>{vote}" for name, vote in told)
            text = "".join(f"<p>{line}</p>" for line in english(80, seed=1).splitlines())
            html = f"<html><head><title>Roll call</title></head><body><h1>Roll call</h1><table>{rows}</table>{text}</body></html>"
            site.add(address, html)
    outcome = crawl(SPIDER, site.url("/"), settings=IN_ORDER | {"SIMCRAWL_ORDER": False})
    # Sorted by another column a call is the same one.
    assert set(outcome.paths("kept")) == {"/", *calls}
    assert outcome.stats["simcrawl/pages/asked_again"] == 1


def _print_views(site: Site) -> None:
    copies = [f"/print?id={number}" for number in range(1, 20)]
    site.add("/", hub("/page?id=0", *copies))
    site.add("/page?id=0", _lot())
    for path in copies:
        site.add(path, _lot(more="<p>Print view</p>"))


def test_copies_with_the_same_line_more_stay_copies(site: Site) -> None:
    _print_views(site)
    outcome = crawl(SPIDER, site.url("/"), settings={"CONCURRENT_REQUESTS": 1, "SIMCRAWL_ORDER": False})
    assert outcome.paths("kept") == ["/", "/page?id=0"]
    assert "simcrawl/pages/asked_again" not in outcome.stats


def test_its_request_is_what_it_was(site: Site) -> None:
    _auction(site)
    outcome = crawl(SPIDER, site.url("/"), settings={"CONCURRENT_REQUESTS": 1})
    assert set(outcome.paths("kept")) == {"/", *LOTS}
    told = outcome.stats["test/told"]
    first = told[1]
    # `dont_filter` is gone again: with it a redirect might leave the site.
    assert [entry for entry in told if entry["url"] == first["url"]] == [first, first]
    assert (first["dont_filter"], first["colour"]) == (False, "blue")


@pytest.mark.parametrize("fails", ["", "yes"])
def test_what_a_spider_gives_once_comes_out_when_its_page_is_fetched_again(site: Site, fails: str) -> None:
    _auction(site)
    outcome = crawl("tests.crawl.again_spiders.Remembering", site.url("/"), settings={"CONCURRENT_REQUESTS": 1}, fails=fails)
    assert outcome.paths("kept") == sorted(["/", *LOTS, *LOTS])
    assert outcome.stats["simcrawl/pages/asked_again"] == 1
    assert outcome.stats.get("spider_exceptions/KeyError", 0) == bool(fails)


@pytest.mark.parametrize("fetched", [False, True])
@pytest.mark.parametrize("then", ["gone", "moved", "failed"])
def test_a_link_that_serves_once_is_no_loss(site: Site, then: str, *, fetched: bool) -> None:
    _auction(site)
    pages = {path: site.answers.pop(path).body.decode() for path in LOTS}
    site.add("/login", f"<h1>Please log in</h1><p>{english(40, seed=9)}</p>")

    def trap(path: str) -> str | None:
        if then == "gone":
            site.add(path, "Gone", status=410)
        elif then == "moved":
            site.add(path, "", status=302, Location="/login")
        else:
            site.add(path, "cut off", Content_Length="1000")
        return pages.get(path)

    site.trap = trap
    settings = {"CONCURRENT_REQUESTS": 1, "RETRY_ENABLED": False} | (FETCHED if fetched else {})
    outcome = crawl(SPIDER, site.url("/"), settings=settings)
    assert set(outcome.paths("kept")) == {"/", *LOTS}
    assert sorted(site.requests[path] for path in LOTS) == [1] * 29 + [1 + fetched]
    assert "simcrawl/errors" not in outcome.stats


@pytest.mark.parametrize("signing", [False, True])
@pytest.mark.parametrize("policy", ["", "DummyPolicy", "RFC2616Policy"])
def test_what_is_not_fetched_again_passes_all_middlewares_and_comes_out_as_it_was(
    site: Site, tmp_path: Path, policy: str, *, signing: bool
) -> None:
    _auction(site)
    for path in LOTS:
        site.add(path, gzip.compress(site.answers[path].body), Content_Encoding="gzip", Set_Cookie="a=1", Cache_Control="no-store")
    settings: dict[str, Any] = {"CONCURRENT_REQUESTS": 1, "AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0}
    if policy:
        settings |= {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), "HTTPCACHE_POLICY": f"scrapy.extensions.httpcache.{policy}"}
    if signing:
        settings["DOWNLOADER_MIDDLEWARES"] = {f"{SPIDERS}.Signing": 543}
    outcome = crawl(SPIDER, site.url("/"), settings=settings)
    assert set(outcome.paths("kept")) == {"/", *LOTS}
    assert {site.requests[path] for path in LOTS} == {1}
    # Scrapy's cache has it, too, where it may, and comes first.
    assert outcome.stats.get("simcrawl/pages/asked_again/not_fetched", 0) == (policy != "DummyPolicy")
    assert outcome.stats["downloader/response_count"] == 32
    # What is held is not what the server has sent: it must not get into the cache.
    assert outcome.stats.get("httpcache/firsthand", 31) == 31
    told = outcome.stats["test/told"]
    assert [entry for entry in told if entry["url"] == told[1]["url"]] == [told[1]] * 2
    assert "ERROR" not in outcome.log
    assert "simcrawl/errors" not in outcome.stats


HANDLER = {"DOWNLOAD_HANDLERS": {"http": f"{SPIDERS}.Handler"}}
REFRESHING = {"DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.Refreshing": 543}}
STALE = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy"}
WANTING = {"DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.Wanting": 900}}


@pytest.mark.parametrize(("settings", "answered"), [(FETCHED, 0), (HANDLER, 0), (REFRESHING, 0), (STALE, 0), (WANTING, 1)])
def test_what_may_not_be_the_same_without_a_download_is_fetched(
    site: Site, tmp_path: Path, settings: dict[str, Any], answered: int
) -> None:
    _auction(site)
    for path in LOTS:
        site.answers[path].headers |= {"Set-Cookie": "a=1", "Cache-Control": "max-age=0", "ETag": '"1"'}
    outcome = crawl(SPIDER, site.url("/"), settings={"CONCURRENT_REQUESTS": 1, "HTTPCACHE_DIR": str(tmp_path)} | settings)
    assert set(outcome.paths("kept")) == {"/", *LOTS}
    assert outcome.stats["simcrawl/pages/asked_again"] == 1
    assert outcome.stats.get("simcrawl/pages/asked_again/not_fetched", 0) == answered
    assert sorted(site.requests[path] for path in LOTS) == [1] * 29 + [2]
    assert not any(entry["marks"] for entry in outcome.stats["test/told"])


def test_a_class_of_requests_with_a_constructor_of_its_own_is_no_loss(site: Site) -> None:
    _auction(site)
    outcome = crawl("tests.crawl.again_spiders.OfOwnRequests", site.url("/"), settings={"CONCURRENT_REQUESTS": 1})
    assert set(outcome.paths("kept")) == {"/", *LOTS}
    assert outcome.stats["simcrawl/pages/asked_again"] == 1
    assert "simcrawl/errors" not in outcome.stats


def test_what_came_out_of_a_page_that_was_dropped_does_not_come_out_twice(site: Site) -> None:
    _auction(site)
    outcome = crawl("tests.crawl.again_spiders.OfPrices", site.url("/"), settings={"CONCURRENT_REQUESTS": 1})
    assert sorted(outcome.paths("kept")) == sorted(["/", *LOTS])
    assert outcome.stats["simcrawl/pages/dropped"] == 1
    assert "simcrawl/pages/asked_again" not in outcome.stats


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcrawl.crawl.again._MOST", 3)
    monkeypatch.setattr("simcrawl.crawl.again._MOST_BYTES", 25)
    asked = list[Request]()
    engine = SimpleNamespace(crawl=asked.append)
    common = SimpleNamespace(stats=SimpleNamespace(inc_value=lambda _: None), crawler=SimpleNamespace(engine=engine, spider=None))
    again, items = Again(cast("Common", common)), [DroppedItems() for _ in range(6)]
    for number in range(6):
        for _ in range(2):
            again.hold(str(number), Request(f"http://a.test/{number}"), HtmlResponse("http://a.test/", body=b"x" * 10), items[number])
    # The oldest ones went, and with them their pages; not all of the newer ones had space.
    again.ask(map(str, range(6)), "http://a.test/7")
    assert [request.url for request in asked] == [f"http://a.test/{number}" for number in (3, 4, 5)]
    held = [page is not None for page in map(again.page, asked)]
    assert 1 <= sum(held) <= 2
    assert [again.left(str(number)) for number in range(6)] == [None, None, None, *items[3:]]
    assert again._bytes == 0
    again.hold("8", Request("http://a.test/8"), HtmlResponse("http://a.test/", body=b"x" * 20), items[0])
    again.ask("8", "http://a.test/7")
    assert again.page(asked[-1])


@pytest.mark.parametrize("headers", [{f"X-{number}": ["y"] for number in range(5)}, {"X": ["y"] * 5}])
def test_of_pages_that_are_held_headers_count_as_well(
    headers: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("simcrawl.crawl.again._MOST_BYTES", 2_000)
    asked = list[Request]()
    crawler: Any = get_crawler(settings_dict={"JOBDIR": str(tmp_path)})
    crawler.spider, crawler.engine = Spider("any"), SimpleNamespace(crawl=asked.append)
    common = cast("Common", SimpleNamespace(stats=crawler.stats, crawler=crawler))
    again, small, large = Again(common), HtmlResponse("http://a.test/", body=b"x"), HtmlResponse("http://a.test/", headers=headers)
    for number, response in enumerate((large, large, small)):
        again.hold(str(number), Request(f"http://a.test/{number}"), response, DroppedItems())
    again.save()
    again.ask(["0", "1", "2"], "http://a.test/3")
    assert [again.page(request) is not None for request in asked] == [True, False, True]
    # Of what a crawl has held that was stopped, half as much: none of the large ones.
    asked.clear()
    resumed = Again(common)
    resumed.restore()
    assert {request.url[-1]: resumed.page(request) is not None for request in asked} == {"0": False, "1": False, "2": True}
    assert not any(resumed.page(request, of_this_run=True) for request in asked)


def test_a_held_page_takes_no_more_than_its_bytes_and_has_no_cookies() -> None:
    asked = list[Request]()
    engine = SimpleNamespace(crawl=asked.append)
    common = SimpleNamespace(stats=SimpleNamespace(inc_value=lambda _: None), crawler=SimpleNamespace(engine=engine, spider=None))
    again, headers = Again(cast("Common", common)), {"Set-Cookie": ["a=1", "b=2"], "X-Own": "yes"}
    response = HtmlResponse("http://a.test/", body=b"<p>page", headers=headers, request=Request("http://a.test/"))
    again.hold("1", Request("http://a.test/"), response, DroppedItems())
    tree = ref(response.selector.root)
    again.ask(["1"], "http://a.test/2")
    held = again.page(asked[0])
    assert isinstance(held, HtmlResponse)
    assert held.request is asked[0]
    assert (held.body, [*held.headers.items()]) == (response.body, [(b"X-Own", [b"yes"])])
    del response
    gc.collect()
    assert tree() is None


def test_items_of_the_first_callback_come_out_whichever_callback_ends_first() -> None:
    early, late, given = DroppedItems(), DroppedItems(), DroppedItems()
    assert [early.lets_pass(number) for number in range(40)] == [False] * 40
    assert early.instead(given=0) == list(range(32))
    assert early.instead(given=0) == []
    assert late.instead(given=0) == []
    assert late.lets_pass("an item")
    assert not given.lets_pass("an item")
    assert given.instead(given=1) == []
    assert not given.lets_pass("another one")


def test_what_another_process_asks_for_again_is_kept(site: Site) -> None:
    _print_views(site)
    outcome = crawl("tests.crawl.again_spiders.Resumed", site.url("/"), settings={"CONCURRENT_REQUESTS": 1, "SIMCRAWL_ORDER": False})
    assert outcome.paths("kept") == ["/", "/page?id=0", "/print?id=7"]
    # The marks are gone when the callback has it.
    told = next(entry for entry in outcome.stats["test/told"] if entry["url"].endswith("/print?id=7"))
    assert told["marks"] == []


def test_what_was_dropped_by_mistake_one_night_is_new_the_next(site: Site, tmp_path: Path) -> None:
    _auction(site)
    settings = IN_ORDER | {"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_ORDER": False}
    site.add("/", hub(*LOTS[:2]))
    assert crawl("Changing", site.url("/"), settings=settings).paths("kept") == ["/", LOTS[0]]
    site.add("/", hub(LOTS[0], LOTS[2], LOTS[1]))
    second = crawl("Changing", site.url("/"), settings=settings)
    assert second.paths("kept") == ["/", *LOTS[:3]]
    assert tuple(dict(second.paths("changes"))[lot] for lot in LOTS[:2]) == ("unchanged", "new")


def test_a_page_that_is_asked_for_by_no_callback_is_fetched_again_too(site: Site) -> None:
    _auction(site)
    outcome = crawl("tests.crawl.again_spiders.Idle", site.url("/"), settings={"CONCURRENT_REQUESTS": 1}, paths=" ".join(LOTS[:5]))
    assert outcome.paths("kept") == ["/", *LOTS[:5]]
    assert outcome.stats["simcrawl/pages/asked_again"] == 1


@pytest.mark.parametrize("disk_queue", ["scrapy.squeues.PickleFifoDiskQueue", "scrapy.squeues.MarshalLifoDiskQueue"])
def test_what_was_dropped_before_a_stop_is_judged_again(site: Site, tmp_path: Path, disk_queue: str) -> None:
    _auction(site)
    settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": str(tmp_path / "job"), "SIMCRAWL_STORE": str(tmp_path / "store")}
    settings |= {"SCHEDULER_DISK_QUEUE": disk_queue}
    # The start page, the lot without a price, and the first one with a price.
    first = crawl(SPIDER, site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 3})
    assert first.stats["simcrawl/pages/dropped"] == 1
    assert (tmp_path / "job" / "simcrawl.again").exists()
    second = crawl(SPIDER, site.url("/"), settings=settings)
    assert set(first.paths("kept")) | set(second.paths("kept")) == {"/", *LOTS}
    assert second.stats["simcrawl/pages/judged_again"] == 1
    assert second.stats["finish_reason"] == "finished"
    assert not (tmp_path / "job" / "simcrawl.again").exists()
    third = crawl(SPIDER, site.url("/"), settings=settings)
    assert "simcrawl/pages/judged_again" not in third.stats


@pytest.mark.parametrize("stops", [(3,), (3, 2), (3, 28)])
@pytest.mark.parametrize("disk_queue", ["scrapy.squeues.PickleLifoDiskQueue", "scrapy.squeues.MarshalFifoDiskQueue"])
def test_what_was_dropped_before_a_stop_comes_out_of_a_spider_that_remembers(
    site: Site, tmp_path: Path, disk_queue: str, stops: tuple[int, ...]
) -> None:
    _auction(site)
    settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": str(tmp_path / "job"), "SIMCRAWL_STORE": str(tmp_path / "store")}
    settings |= {"SCHEDULER_DISK_QUEUE": disk_queue}
    kept = list[str]()
    for pages in (*stops, 0):
        outcome = crawl("tests.crawl.again_spiders.RememberingForLong", site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": pages})
        kept += outcome.paths("kept")
        assert "simcrawl/errors" not in outcome.stats
    assert sorted(path for path in kept if path != "/") == sorted(LOTS)


def test_a_link_that_serves_once_is_no_loss_over_a_stop(site: Site, tmp_path: Path) -> None:
    _auction(site)
    pages = {path: site.answers.pop(path).body.decode() for path in LOTS}

    def trap(path: str) -> str | None:
        site.add(path, "Gone", status=410)
        return pages.get(path)

    site.trap = trap
    settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": str(tmp_path / "job"), "SIMCRAWL_STORE": str(tmp_path / "store")}
    first = crawl(SPIDER, site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 3})
    second = crawl(SPIDER, site.url("/"), settings=settings)
    assert set(first.paths("kept")) | set(second.paths("kept")) == {"/", *LOTS}
    assert second.stats["simcrawl/pages/judged_again"] == 1


def test_a_page_is_judged_again_once_and_when_nothing_else_is_left(site: Site, tmp_path: Path) -> None:
    _auction(site)
    # Of one price alone nobody can tell.
    for path in LOTS[1:]:
        site.add(path, _lot("37 EUR"))
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "JOBDIR": str(tmp_path / "job"),
        "SIMCRAWL_STORE": str(tmp_path / "store"),
        "SIMCRAWL_ORDER": False,
    }
    crawl(SPIDER, site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 3})
    (dropped,) = {*site.requests} - {"/", LOTS[0]}
    site.requests.clear()
    second = crawl(SPIDER, site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 4})
    assert not site.requests[dropped]
    crawl(SPIDER, site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 26})
    last = crawl(SPIDER, site.url("/"), settings=settings)
    assert last.stats["finish_reason"] == "finished"
    assert second.stats["simcrawl/pages/judged_again"] == 1
    assert site.requests[dropped] == 1


@pytest.mark.parametrize("disk_queue", ["PickleLifoDiskQueue", "MarshalLifoDiskQueue"])
def test_items_that_no_queue_can_keep_take_no_page_with_them(site: Site, tmp_path: Path, disk_queue: str) -> None:
    _auction(site)
    settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": str(tmp_path / "job"), "SCHEDULER_DISK_QUEUE": f"scrapy.squeues.{disk_queue}"}
    settings["SIMCRAWL_STORE"] = str(tmp_path / "store")
    spider = "tests.crawl.again_spiders.OfUnreadableItems"
    first = crawl(spider, site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 3})
    second = crawl(spider, site.url("/"), settings=settings)
    assert set(first.paths("kept")) | set(second.paths("kept")) == {"/", *LOTS}
    assert second.stats["simcrawl/pages/judged_again"] == 1
    told = first if disk_queue.startswith("Marshal") else second
    assert told.stats["simcrawl/errors"] == 1
    assert ("cannot keep all that was dropped" in first.log) is (told is first)
    assert ("cannot read which dropped pages" in second.log) is (told is second)


def test_what_cannot_be_kept_is_told(site: Site, tmp_path: Path) -> None:
    _auction(site)
    settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": str(tmp_path / "job"), "SIMCRAWL_CARRIED_DATA": False}
    first = crawl("tests.crawl.again_spiders.Unwritable", site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 3})
    assert first.stats["finish_reason"] == "closespider_pagecount"
    assert "which dropped pages may be no copies: 1 are not judged once more" in first.log
    assert first.stats["simcrawl/errors"] == 1


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_what_cannot_be_read_is_told_once(site: Site, tmp_path: Path, content: bytes | None) -> None:
    _auction(site)
    file = tmp_path / "job" / "simcrawl.again"
    file.parent.mkdir()
    if content is None:
        (file / "broken").mkdir(parents=True)
    else:
        file.write_bytes(content)
    settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": str(tmp_path / "job"), "CLOSESPIDER_PAGECOUNT": 3}
    outcome = crawl(SPIDER, site.url("/"), settings=settings)
    assert outcome.stats["finish_reason"] == "closespider_pagecount"
    assert "cannot read which dropped pages may be no copies" in outcome.log
    # What is to be kept now has the place.
    assert outcome.stats["simcrawl/errors"] == 1
    assert file.is_file()
