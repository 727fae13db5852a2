"""Values that say when, and whether that is now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from simcrawl.crawl.moments import Moments, places_of_now
from simcrawl.crawl.page_text import PageText

USE = "spider.parse"
NOW = datetime.now(UTC)
OTHER = NOW + timedelta(days=40)


def _is_content(value: str, *, before: str | None = None, shown: str = "") -> bool | None:
    moments, page = Moments(), PageText(lambda: [f"<p>{shown or value}</p>"])
    if before is not None:
        moments.is_content(USE, "at", before, PageText(lambda: [f"<p>{before}</p>"]))
    return moments.is_content(USE, "at", value, page)


@pytest.mark.parametrize(
    "value",
    [
        "2019-05-12",
        "12 May 2019",
        "12. Mai 2019, 19:30 Uhr",
        "12 мая 2019 г.",
        "2019年5月12日",
        "5/12/19",
        "Sunday, 12 May 2019",
        "2019-05-12T19:30:00+02:00",
        "20190512T193000Z",
        "{other:%Y-%m-%d}",
        "{other:%d.%m.%Y %H:%M}",
        "Doors open: 12 May 2019, room 7",
        "{now:%B %Y}",
        "{now.year}",
    ],
)
def test_another_day_than_today_says_when_something_takes_place(value: str):
    # In the test: collected a minute later it would be another one.
    now = datetime.now(UTC)
    value = value.format(now=now, other=now + timedelta(days=40))
    assert _is_content(value) is True
    # A spider may write it in its own way.
    assert _is_content(value, shown="nothing") is True


@pytest.mark.parametrize(
    "made",
    [
        "{:%Y-%m-%d}",
        "{:%d %B %Y}",
        "{:%Y-%m-%dT%H:%M:%S.%f+00:00}",
        "{:%Y%m%dT%H%M%SZ}",
        "{:%d.%m.%y, %H:%M}",
        "{:%a, %d %b %Y %H:%M:%S GMT}",
    ],
)
@pytest.mark.parametrize("hours", [-20, 0, 20])
def test_today_in_any_zone_is_when_the_page_was_made(made: str, hours: int):
    value = made.format(NOW + timedelta(hours=hours))
    assert _is_content(value) is False
    # A field that names other days as well is of no visit, also if an item that came out did.
    assert _is_content(value, before="12 May 2019") is True
    moments = Moments()
    moments.note(USE, [("at", "12 May 2019")])
    assert moments.is_content(USE, "at", value, PageText(lambda: [""])) is True


@pytest.mark.parametrize("minutes", [-8, 0, 1])
def test_a_time_of_day_is_now_by_its_minutes(minutes: int):
    now = datetime.now(UTC)
    value = f"{now + timedelta(hours=5, minutes=minutes):%H:%M}"
    assert _is_content(value) is False
    assert _is_content(value, before=f"{now + timedelta(minutes=30):%H:%M}") is True
    assert _is_content(f"{now + timedelta(minutes=30):%H:%M}") is True


@pytest.mark.parametrize(("hours", "is_content"), [(0, False), (12, False), (3, True), (7, True)])
def test_a_time_of_day_is_now_if_it_is_as_far_from_now_as_the_first_one_was(hours: int, is_content: bool):
    moments, now = Moments(), datetime.now(UTC)
    value = f"{now + timedelta(hours=hours):%H:%M}"
    moments.note(USE, [("at", f"{now - timedelta(minutes=3):%H:%M}"), ("of", 5), ("name", "a: b")])
    assert moments.is_content(USE, "at", value, PageText(lambda: [value])) is is_content


def test_a_time_of_day_counts_only_if_it_stands_on_the_page():
    # It may be how long the crawl has lasted.
    assert _is_content(f"{datetime.now(UTC) + timedelta(minutes=30):%H:%M}", shown="nothing") is False


@pytest.mark.parametrize(
    "value", ["Oak table", "12 chairs", "1,250.50", "3 days ago", "77 views", "last changed: 12 May 2019", "", "x" * 70 + " 2019-05-12"]
)
def test_other_values_say_nothing_of_when(value: str):
    assert _is_content(value) is None
    assert Moments().may_say(value) is False


def test_what_is_known_of_fields_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.crawl.moments._MOST_FIELDS", 2)
    moments, page = Moments(), PageText(lambda: [""])
    for key in ("a", "b", "c"):
        assert moments.is_content(USE, key, "12 May 2019", page)
    assert [moments.is_content(USE, key, f"{NOW:%Y-%m-%d}", page) for key in ("a", "b", "c")] == [True, True, False]


@pytest.mark.parametrize(
    ("value", "before", "is_another"),
    [
        ("Last updated 12 May 2019", None, True),
        ("Stand vom 31.12.2024", None, True),
        ("\u622a\u81f32019\u5e7412\u670831\u65e5", None, True),
        (f"Last updated {NOW:%d %B %Y}", None, False),
        (f"Last updated {NOW:%d %B %Y}", "Last updated 12 May 2019", True),
        # What else stands in the field is judged by itself.
        (f"Last updated {NOW:%d %B %Y}", "12 May 2019", False),
        ("Last updated 3 days ago", None, False),
        ("12 May 2019", None, False),
        ("Stand vom 31.12.2024: 1234 Einwohner", None, False),
    ],
)
def test_a_state_is_another_one_unless_it_is_now(value: str, before: str | None, is_another: bool) -> None:
    moments = Moments()
    moments.note(USE, [("at", before)])
    assert moments.is_another_state(USE, "at", value) is is_another


@pytest.mark.parametrize(
    ("line", "is_now"),
    [
        ("it is {now:%H:%M:%S} on {now:%d %B %Y}", True),
        ("{now:%Y-%m-%d}t{now:%H:%M:%S}", True),
        ("{now:%d.%m.%Y %H:%M}", True),
        # In another zone.
        ("{zone:%d.%m.%Y %H:%M}", True),
        # What begins today, and a time of day that is that of a train.
        ("{now:%d %B %Y}", False),
        ("{now:%H:%M}", False),
        ("{later:%d.%m.%Y %H:%M}", False),
        ("{other:%d %B %Y}, {now:%H:%M}", False),
        ("room 7", False),
    ],
)
def test_where_a_line_has_a_clock(line: str, *, is_now: bool) -> None:
    now = datetime.now(UTC)
    line = line.format(now=now, zone=now + timedelta(hours=5), later=now + timedelta(minutes=30), other=now + timedelta(days=40))
    said = "".join(line[start:end] for start, end in places_of_now(line))
    assert {*filter(str.isdigit, said)} == ({*filter(str.isdigit, line)} if is_now else set())
