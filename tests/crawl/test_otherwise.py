"""What items of copies say in sight, and no item of their original does."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.crawl.copied import Copy
from simcrawl.crawl.elsewhere import Elsewhere
from simcrawl.crawl.item_values import ItemRead
from tests.crawl.content import hub
from tests.crawl.runner import MODES, crawl
from tests.samples import english, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crawl.server import Site

SPIDERS = "tests.crawl.elsewhere_spiders"
URL, OTHER, USE = "http://a.test/p/1", "http://a.test/view/2", "spider.parse"
NOW = datetime.now(UTC)
LATER = f"{NOW + timedelta(minutes=30):%H:%M}"
HTML = f"""<html><head><title>A hidden title</title></head><body><nav>Ways of menus</nav><div class="breadcrumb">Home / Sale</div>
<h1>Headed by words</h1><p>A <b>ham</b>burger of ours</p><p>It costs <i>1,250.50</i> and 3 : 1, on 12 May 2019 at {LATER}. Mind
the <a href="/x">linked words</a>.</p>
<p><span>3</span><span>17</span><span>44</span> of all</p><p>135/90</p><p>Made in 0.12 s, ends in 03:21:07</p>
<p>Mirror state of 12 May 2019</p><p>Last synchronised: 12 May 2019</p><p>Date: 12 May 2019</p>
<ul class="related-products"><li><a href="/y">Fish</a> with chips</li></ul><div class="promo-price">17.90 EUR</div>
<div class="comment"><a href="/z">Anna</a> <i>would have it with sauce</i></div><dl><dd class="sponsor">Acme</dd></dl>
<footer>Served by host seven</footer></body></html>"""


def _at_present(text: str) -> str:
    """Return a text with the present time, and one a while later. When it is collected a test is of another minute, or day."""
    now = datetime.now(UTC)
    return text.format(now=now, later=now + timedelta(minutes=30))


def _found(first: Any, value: Any, *, key: str = "value", identical: bool = False) -> str | None:
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"url": URL, key: first}))
    return known.find(URL, USE, ItemRead({"url": OTHER, key: value}), Copy(lambda: [HTML, OTHER], OTHER), identical=identical)


@pytest.mark.parametrize(
    ("first", "value"),
    [
        ("fishburger", "hamburger"),
        ("1,300.00", "1,250.50"),
        (1300.0, 1250.5),
        ("0 : 0", "3 : 1"),
        ("5 May 2019", "12 May 2019"),
        pytest.param("18:00", LATER, id="a time of day"),
        ("3 17 43", "3 17 44"),
        ("130/85", "135/90"),
        (["3", "17", "43"], ["3", "17", "44"]),
        ("a hamburger, cold", "A hamburger"),
        ("Date: 5 May 2019", "Date: 12 May 2019"),
        ("18.90 EUR", "17.90 EUR"),
        ("would have it cold", "would have it with sauce"),
        ("Borg", "Acme"),
    ],
)
def test_a_short_value_that_the_page_shows_counts(first: Any, value: Any):
    assert _found(first, value) == "value"
    assert _found(value, value) is None
    # Between pages of one text what the copy shows its original shows as well.
    assert _found(first, value, identical=True) is None


@pytest.mark.parametrize(
    ("first", "value"),
    [
        ("Home / Shoes", "Home / Sale"),
        ("other words", "linked words"),
        ("Soup", "Fish"),
        ("with sauce", "with chips"),
        ("Served by host six", "Served by host seven"),
        ("Ways of all", "Ways of menus"),
        ("Another title", "A hidden title"),
        ("Headed by others", "Headed by words"),
        ("view 1", "view 2"),
        (12, 17),
        ("Made in 0.15 s", "Made in 0.12 s"),
        ("ends in 03:21:17", "ends in 03:21:07"),
        ("Mirror state of 5 May 2019", "Mirror state of 12 May 2019"),
        ("Last synchronised: 5 May 2019", "Last synchronised: 12 May 2019"),
        (["ham", "cheese"], ["ham", "costs"]),
        (True, False),
        ("", "!"),
    ],
)
def test_links_furniture_small_numbers_lists_of_texts_and_the_address_do_not(first: Any, value: Any):
    assert _found(first, value) is None


@pytest.mark.parametrize(
    ("original", "url", "tells"),
    [
        ("http://a.test/room/3", "http://a.test/room/4", True),
        ("http://a.test/room?id=3", "http://a.test/room?id=4", True),
        ("http://a.test/12/room/3", "http://a.test/13/room/4", False),
        ("http://a.test/room/3", "http://b.test/room/4", False),
    ],
)
def test_a_heading_counts_where_both_pages_are_in_one_directory(original: str, url: str, tells: bool):
    known = Elsewhere()
    known.note(original, USE, ItemRead({"room": "Chamber 11", "at": 1011}))
    for field in ({"room": "Chamber 12"}, {"at": 1012}):
        copy = Copy(lambda: ["<h1>Chamber 12</h1><h2>At 1012</h2><p>Two beds</p>"], url)
        assert (known.find(original, USE, ItemRead(field), copy, identical=False) is not None) == tells


def test_a_long_text_may_be_another_one_in_a_near_copy():
    words = english(40).replace(".", "")
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"text": f"{words} as well"}))
    assert known.find(URL, USE, ItemRead({"text": words}), Copy(lambda: [f"<p>{words}</p>"]), identical=False) is None


_LONG = english(40).replace(".", "")
_SENTENCE = f"On the 7 of the month {english(20).lower()}"[:200]


@pytest.mark.parametrize(
    ("first", "html", "value"),
    [
        ("1", "<p>Room 2</p>", "2"),
        (["Anna", "Ben"], "<p><b>Anna</b> <b>Carl</b></p>", ["Anna", "Carl"]),
        (_SENTENCE, f"<p>{_SENTENCE.replace('7', '9')}</p>", _SENTENCE.replace("7", "9")),
        (f"{_LONG} It is 17.3 here", f"<p>{_LONG}</p><p>It is <b>18.4</b> here</p>", f"{_LONG} It is 18.4 here"),
        (f"{_LONG} 1 June 2019", f"<p>{_LONG}</p><p>1 July 2019</p>", f"{_LONG} 1 July 2019"),
        ("Last updated 5 May 2019", "<p>Last updated 12 May 2019</p>", "Last updated 12 May 2019"),
        ("Stand vom 5.12.2024", "<p>Stand vom 9.12.2024</p>", "Stand vom 9.12.2024"),
        ("Birch", "<ol class=breadcrumb><li><a href=/>Home</a><li>Cedar</ol>", "Cedar"),
        ("Birch", "<nav><ol class=breadcrumb><li><a href=/>Home</a><li>Cedar</ol></nav>", "Cedar"),
    ],
)
def test_of_pages_side_by_side_more_counts(first: Any, html: str, value: Any):
    for original, url, tells in (("room/1", "room/2", True), ("way/to/x", "to/x", False)):
        known = Elsewhere()
        known.note(f"http://a.test/{original}", USE, ItemRead({"value": first}))
        copy = Copy(partial(list[str], (html,)), f"http://a.test/{url}")
        found = known.find(f"http://a.test/{original}", USE, ItemRead({"value": value}), copy, identical=False)
        assert (found is not None) == (tells or value == "2")
        assert known.find(f"http://a.test/{original}", USE, ItemRead({"value": value}), copy, identical=False) is None


@pytest.mark.parametrize(
    ("original", "url", "value", "tells"),
    [
        ("week/7", "week/8", "Week 8", True),
        ("book?page=7", "book?page=8", "Page 8", True),
        ("2019/05/31/", "2019/06/02/", "2019/06/02", True),
        ("2019/03/04/", "2019/04/03/", "2019/04/03", True),
        ("plant/amber", "plant/birch", "Birch", False),
        ("print/week/8", "week/8", "Week 8", False),
    ],
)
def test_what_has_the_number_by_which_addresses_differ_echoes_none(original: str, url: str, value: str, *, tells: bool):
    known, original = Elsewhere(), f"http://a.test/{original}"
    known.note(original, USE, ItemRead({"value": "Another one"}))
    copy = Copy(partial(list[str], (f"<p>{value}</p>",)), f"http://a.test/{url}")
    assert (known.find(original, USE, ItemRead({"value": value}), copy, identical=False) is not None) == tells


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<p>1043 views</p>", "1043 views"),
        (f"<p>{NOW:%d %B %Y}</p>", f"{NOW:%d %B %Y}"),
        ("<p>Made in 0.12 s</p>", "Made in 0.12 s"),
        ("<p>Last modified: 12 May 2019</p>", "Last modified: 12 May 2019"),
        ("<p>Your address is 10.1.3.7</p>", "Your address is 10.1.3.7"),
        ("<p><a href=/>Pens 17</a></p>", "Pens 17"),
        (f"<p>{_LONG} and 1043 pens</p>", "and 1043 pens"),
        ("<div class=share>Tweet 1043</div>", "Tweet 1043"),
    ],
)
def test_a_long_texts_numbers_of_the_visit_links_and_paragraphs_do_not_count(html: str, said: str):
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"text": _LONG}))
    copy = Copy(lambda: [f"<p>{_LONG}</p>{html}"], "http://a.test/p/2")
    assert known.find(URL, USE, ItemRead({"text": f"{_LONG} {said}"}), copy, identical=False) is None


@pytest.mark.parametrize("rows", [20, 130])
def test_very_many_numbers_in_long_texts_take_no_room_of_fields(rows: int):
    known, copy = Elsewhere(), Copy(lambda: [f"<p>18.13 kg</p><p>{_LONG}</p><p>and 1043 pens</p>"], "http://a.test/p/2")
    known.note(URL, USE, ItemRead({"result": "17.03 kg"}))
    for row in range(rows):
        known.note(URL, USE, ItemRead({"text": " ".join(f"beech {row * 100 + place}" for place in range(64))}))
    # Numbers that there was no room for are new.
    assert known.find(URL, USE, ItemRead({"text": f"{_LONG} and 1043 pens"}), copy, identical=False) == "text"
    assert known.find(URL, USE, ItemRead({"result": "18.13 kg"}), copy, identical=False) == "result"


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ("It is {now:%H:%M:%S} on {now:%d %B %Y}", False),
        ("{now:%Y-%m-%dT%H:%M:%S}", False),
        ("It is {now:%H:%M:%S} on {now:%d %B %Y} in room 17", True),
        ("It was {now:%H:%M:%S} on 12 May 2019", True),
        ("Doors open on {now:%d %B %Y} at {later:%H:%M}", True),
    ],
)
def test_a_clock_in_a_long_text_says_nothing_although_other_lines_said_other_moments(line: str, *, tells: bool):
    known, line = Elsewhere(), _at_present(line)
    known.note(URL, USE, ItemRead({"text": _LONG}))
    found = list[str | None]()
    for number, said in enumerate(("Founded on 12 May 1987", line), 2):
        copy = Copy(partial(list[str], (f"<p>{_LONG}</p><p>{said}</p>",)), f"http://a.test/p/{number}")
        found.append(known.find(URL, USE, ItemRead({"text": f"{_LONG} {said}"}), copy, identical=False))
    assert [one is not None for one in found] == [True, tells]


_PARAGRAPH = english(20)


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ("Anna", True),
        ("Released 12 May 2019", True),
        ("Page generated in 0.12 seconds", False),
        ("It is {now:%H:%M:%S} on {now:%d %B %Y}", False),
        ("Your address is 10.1.3.7", False),
    ],
)
@pytest.mark.parametrize("before", ["Founded on 12 May 1987", "Ben"])
def test_a_long_paragraph_does_not_silence_a_list(before: str, line: str, *, tells: bool):
    assert len(_PARAGRAPH) > 300
    known, line = Elsewhere(), _at_present(line)
    known.note(URL, USE, ItemRead({"lines": ["Hall", _PARAGRAPH, "Carl"]}))
    found = list[str | None]()
    for number, said in enumerate((before, line, line), 2):
        # One word of it is another one, as in any near-copy.
        lines = ["Hall", f"{_PARAGRAPH} {number}", said]
        copy = Copy(partial(list[str], ("".join(f"<p>{one}</p>" for one in lines),)), f"http://a.test/p/{number}")
        found.append(known.find(URL, USE, ItemRead({"lines": lines}), copy, identical=False))
    assert [one is not None for one in found] == [True, tells, False]


def test_a_list_that_differs_in_a_long_paragraph_alone_says_nothing():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"lines": ["Hall", _PARAGRAPH, "Carl"]}))
    copy = Copy(lambda: [f"<p>Hall</p><p>{_PARAGRAPH} of ours</p><p>Carl</p>"], "http://a.test/p/2")
    assert known.find(URL, USE, ItemRead({"lines": ["Hall", f"{_PARAGRAPH} of ours", "Carl"]}), copy, identical=False) is None


def test_copies_with_many_numbers_do_not_silence_later_ones():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"text": _LONG}))
    many = " ".join(f"beech {number}" for number in range(2000, 2062))
    for number in range(2, 40):
        said = f"{_LONG} {many} and {number * 1000 + 7} pens"
        copy = Copy(partial(list[str], (f"<p>{_LONG} {many}</p><p>and {number * 1000 + 7} pens</p>",)), f"http://a.test/p/{number}")
        assert known.find(URL, USE, ItemRead({"text": said}), copy, identical=False) == "text"


def test_a_number_in_both_addresses_of_pages_side_by_side_echoes_none():
    known = Elsewhere()
    known.note("http://a.test/calc?m=107&kg=60", USE, ItemRead({"result": "607"}))
    copy = Copy(lambda: ["<p>107</p>"], "http://a.test/calc?m=107&kg=80")
    assert known.find("http://a.test/calc?m=107&kg=60", USE, ItemRead({"result": "107"}), copy, identical=False) == "result"


def test_a_host_of_numbers_echoes_none():
    known = Elsewhere()
    known.note("http://127.0.0.1:8017/a", USE, ItemRead({"room": "Room 7"}))
    for room, tells in (("Room 1", True), ("Room 8017", True), ("127.0.0.1", False), ("b", False)):
        copy = Copy(partial(list[str], (f"<p>{room}</p>",)), "http://127.0.0.1:8017/b")
        assert (known.find("http://127.0.0.1:8017/a", USE, ItemRead({"room": room}), copy, identical=False) is not None) == tells


@pytest.mark.parametrize("key", ["updated_at", "lastModified", "scraped", "dateModified", "views", "page_views", "likes", "retry_times"])
def test_names_of_when_a_page_was_made_and_who_looks_at_it_do_not(key: str):
    assert _found("5 May 2019", "12 May 2019", key=key) is None
    assert _found("1,300.00", "1,250.50", key=key) is None


def test_today_is_no_other_day():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"day": "Not known yet"}))
    html = f"<p>{NOW:%d %B %Y}</p>"
    assert known.find(URL, USE, ItemRead({"day": f"{NOW:%d %B %Y}"}), Copy(lambda: [html]), identical=False) is None


@pytest.mark.parametrize(
    ("first", "value"),
    [
        ("No state known", "Last updated: {now:%d %B %Y}"),
        ("No state known", "Mirror state of {now:%d %B %Y, %H:%M}"),
        ("Last updated 2 days ago", "Last updated 3 days ago"),
    ],
)
def test_the_present_state_of_a_page_side_by_side_is_no_other_one(first: str, value: str):
    known, original, value = Elsewhere(), "http://a.test/room/1", _at_present(value)
    known.note(original, USE, ItemRead({"state": first}))
    copy = Copy(partial(list[str], (f"<p>{value}</p>",)), "http://a.test/room/2")
    assert known.find(original, USE, ItemRead({"state": value}), copy, identical=False) is None


def test_an_item_may_say_known_values_that_no_item_of_its_original_says_together():
    known = Elsewhere()
    for room, day in (("Hall", "5 May 2019"), ("Attic", "12 May 2019")):
        known.note(URL, USE, ItemRead({"room": room, "day": day}))
    copy = Copy(lambda: ["<p>Hall</p><p>Attic</p><p>5 May 2019</p><p>12 May 2019</p>"], OTHER)
    assert known.find(URL, USE, ItemRead({"room": "Hall", "day": "5 May 2019"}), copy, identical=False) is None
    assert known.find(URL, USE, ItemRead({"room": "Hall", "day": "12 May 2019"}), copy, identical=False) == "room"
    # What the page does not say tells nothing.
    known.note(URL, USE, ItemRead({"room": "Attic", "links": 1777}))
    assert known.find(URL, USE, ItemRead({"room": "Hall", "links": 1777}), copy, identical=False) is None
    # What has come out once does not come out again, nor does what it says in part.
    for item in ({"room": "Hall", "day": "12 May 2019"}, {"room": "Hall"}):
        assert known.find(URL, USE, ItemRead(item), copy, identical=False) is None


def test_a_copy_of_a_copy_that_came_out_says_nothing_more():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"day": "5 May 2019"}))
    told = [
        known.find(URL, USE, ItemRead({"day": "12 May 2019"}), Copy(lambda: [HTML], url), identical=False)
        for url in (OTHER, URL + "?print")
    ]
    assert told == ["day", None]


def test_a_few_pages_that_differ_are_no_reason_to_fetch_all_copies():
    known = Elsewhere()
    known.note(URL, USE, ItemRead({"name": "fishburger"}))
    may_lose = []
    for number in range(3):
        copy = Copy(partial(list[str], (f"<p>Burger {number}</p>",)), f"{OTHER}/{number}")
        assert known.find(URL, USE, ItemRead({"name": f"Burger {number}"}), copy, identical=False)
        may_lose.append(known.may_lose(USE))
    assert may_lose == [False, False, True]


@pytest.mark.parametrize(
    ("names", "says"),
    [(["Home", "Anna", "Ben"], "names"), (["Home", "Sale", "Pen"], None), (["Home", "Anna", "Sale"], None)],
)
def test_a_list_of_texts_counts_side_by_side_if_no_part_of_it_is_a_link(names: list[str], says: str | None):
    known = Elsewhere()
    known.note("http://a.test/pen?cid=1", USE, ItemRead({"names": ["Home", "Men", "Pen"]}))
    html = "<p>Home</p><ol class=way><li><a href=/sale>Sale</a><li>Pen</ol><p>Anna</p><p>Ben</p>"
    copy = Copy(lambda: [html], "http://a.test/pen?cid=2")
    assert known.find("http://a.test/pen?cid=1", USE, ItemRead({"names": names}), copy, identical=False) == says


# ---- over HTTP

_TEXT = english(150)
KINDS: dict[str, Callable[[int], str]] = {
    "a day": lambda number: f"<p class=said>{number % 27 + 1} {('May', 'June')[number // 27]} 2019</p>",
    "a day in a tag": lambda number: f"<time class=said>2019-{number // 27 + 5:02}-{number % 27 + 1:02}</time>",
    "a time of day": lambda number: f"<p class=said>{number % 24:02}:{(number * 7) % 60:02}</p>",
    "a result": lambda number: f"<div class=col><p>Your result is <b class=said>{17 + number}.5</b>.</p></div>",
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_one_text_that_differ_in_what_the_spider_takes_come_out_once(site: Site, tmp_path: Path, kind: str, mode: str) -> None:
    said = {number: KINDS[kind](number) for number in range(30)}
    for number, line in said.items():
        html = page(f"<h1>Our weekly seminar</h1><p>{_TEXT}</p>{line}")
        for folder in ("p", "print"):
            site.add(f"/{folder}/x{number}y", html)
    site.add("/", hub(*(f"/{folder}/x{number}y" for folder in ("p", "print") for number in said)))
    feed = tmp_path / "said.json"
    crawl(f"{SPIDERS}.OfWhatIsSaid", site.url("/"), mode=mode, settings={"FEEDS": {str(feed): {"format": "json"}}})
    items = json.loads(feed.read_text())
    assert len({item["said"] for item in items}) == 30
    # Some pages are kept for what the rule finds, and a copy's copy may be compared with another original.
    assert len(items) <= 36


def _days(site: Site, tmp_path: Path) -> dict[str, Any]:
    for number in range(30):
        site.add(f"/p/x{number}y", page(f"<h1>Our weekly seminar</h1><p>{_TEXT}</p>{KINDS['a day'](number)}"))
    site.add("/", hub(*(f"/p/x{number}y" for number in range(30))))
    settings = {"FEEDS": {str(tmp_path / "said.jsonl"): {"format": "jsonlines", "overwrite": False}}, "CONCURRENT_REQUESTS": 1}
    return settings | {"JOBDIR": str(tmp_path / "job"), "SIMCRAWL_STORE": str(tmp_path / "store")}


def test_what_pages_from_before_a_stop_say_is_known_after_it(site: Site, tmp_path: Path) -> None:
    settings, file = _days(site, tmp_path), tmp_path / "job" / "simcrawl.said"
    crawl(f"{SPIDERS}.OfWhatIsSaid", site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 12})
    assert file.exists()
    outcome = crawl(f"{SPIDERS}.OfWhatIsSaid", site.url("/"), settings=settings)
    assert outcome.stats["finish_reason"] == "finished"
    assert not file.exists()
    items = [json.loads(line) for line in (tmp_path / "said.jsonl").read_text().splitlines()]
    assert len({item["said"] for item in items}) == len(items) == 30


def test_a_damaged_file_of_what_was_said_is_told_of_and_not_believed(site: Site, tmp_path: Path) -> None:
    site.add("/", hub("/p/1", "/p/2"))
    for number in (1, 2):
        site.add(f"/p/{number}", page(f"<p>{_TEXT}</p>{KINDS['a day'](number)}"))
    settings = {"JOBDIR": str(tmp_path / "job"), "SIMCRAWL_STORE": str(tmp_path / "store"), "CONCURRENT_REQUESTS": 1}
    crawl(f"{SPIDERS}.OfWhatIsSaid", site.url("/"), settings=settings | {"CLOSESPIDER_PAGECOUNT": 1})
    file = tmp_path / "job" / "simcrawl.said"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    outcome = crawl(f"{SPIDERS}.OfWhatIsSaid", site.url("/"), settings=settings)
    assert "simcrawl cannot keep in JOBDIR what items have said" in outcome.log
    assert outcome.stats["simcrawl/errors"] == 1
    assert outcome.stats["finish_reason"] == "finished"
    # Of what the item of the first page said nothing is known any more.
    assert "simcrawl/items/dropped" not in outcome.stats
