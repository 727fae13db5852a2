from __future__ import annotations

import re

import pytest

from simcrawl.page.blocks import join
from simcrawl.page.common_words import factors
from simcrawl.page.datelines import full_dates, has_a_state, has_other_words, is_counter, is_dateline, is_of_an_event, is_of_the_page
from tests.page.layouts import article_of, layout_of, text_of
from tests.samples import english

DATELINES = [
    "12 May 2024",
    "Published 1999-12-31",
    "Monday, 9:05",
    "Time:12:30",
    "Open 9:05-17:30",
    "12:30:45",
    "It was 12:30.",
    "Updated at 23:59 by the harbour master",
    "3 minutes ago",
    "1 min ago",
    "2 HOURS ago",
    "14 days ago",
    "5 years ago",
    "128 comments",
    "1 Comment",
    "77 views",
    "Viewed 1,033 times",
    "This page has been accessed 77 times.",
    "Page views: 1033",
    "17 people are looking at this now",
    "24 users currently online",
    "Users browsing this forum: Ivy, Cy and 85 guests",
    "Currently active users viewing this thread: 3",
    "12/05/2024-17h30",
    "12.05.2024/17h30",
    "\xa9 2019-24 Harbour Ltd",
    "3 items in your shopping basket",
    "77 Aufrufe",
    "1033 \u043f\u0440\u043e\u0441\u043c\u043e\u0442\u0440\u043e\u0432",
    "\u9605\u8bfb\u91cf\uff1a1033",
    "\u95b2\u89a7\u6570: 1033",
    "3 shares",
    "12likes",
    "4 replies",
    "发布时间：2024年5月",
    "更新于2024年",
    "2024年",
    "1998-2004",
    "Updated 2024",
    "Spring 2026",
    "Leeds, 12 mars 2024",
    "Monday, the 3rd of August, 2024",
    # In languages that the vocabulary does not have, by their shape.
    "Sivua on muutettu 5. toukokuuta 2026",
    "\u03a3\u03ae\u03bc\u03b5\u03c1\u03b1: 5 \u039c\u03b1\u0390\u03bf\u03c5 2026",
    "2026. m\xe1jus 5.",
    "5 th\xe1ng 5 n\u0103m 2026",
    "2026\ub144 5\uc6d4 12\uc77c",
    "5 \u0e1e\u0e24\u0e29\u0e20\u0e32\u0e04\u0e21 2569",
    "5 \u092e\u0908 2026",
    "5. Ma\u0308rz 2026",
    "Alle Rechte vorbehalten 2024",
    "Stand: 05/2026",
    "2024 年5月",
    "5月12日",
    "5 月 12 日",
    "© 2024 The Harbour Times",
    "2024.05.12",
    "2019 m. kovo 5 d.",
    "5. maj 2019 g.",
    "From 9:05 until 24:00",
    "May 2024, kmart",
    "1033 visualizaciones",
    "21 просмотр",
    "访问次数：1033",
    # What a museum has is numbered by words that these begin with.
    "Catalan evening, 12 May 2026",
    "Inventors' evening, 12 May 2026",
]


NO_DATELINES = [
    "Q2 report 2026",
    "Price: 1950 K\u010d",
    "Price: 2050.50 EUR",
    "Rent \xa3 1950",
    "Rent \xa31950 a month",
    "Riesling 2019, dry, \xa312",
    "Merlot 2016, 12 \u20ac",
    "Elevation: 1987 m",
    "Area 2012 m\xb2",
    "Kiel 31:28 Berlin",
    "Scale 1:20000",
    "Odds of 25:10",
    "CVE-2024-1234",
    "GHSA-2024-07",
    "No. 2024-00017",
    # Numbers of a museum, a file and a season: no month is called so.
    "Inventory 1920.44.4",
    "Inv. no.: 1920.4.4",
    "File 2024/117",
    "Season 2024/25",
    "After reading this section, in 12 minutes, you tie a bowline",
    "2 rules for viewing this page",
    "Twelve boats",
    "The year 20245",
    "A 1850 map",
    "Boats 2124",
    "12 boats",
    "ago",
    "5 ships ago",
    "123:4",
    "viewers 12",
    "12 viewers",
    "Room for 12 people",
    "12 items",
    "Members: 12",
    "Viewed from 3 sides",
    "五月",
    "5月",
    "版本20241",
    # What is numbered by years.
    "[2020] EWCA Civ 11",
    "Resolution 11 (2020)",
    "S/RES/2011(2008)",
    "2020 c. 11",
    "Drucksache 20/2011",
    "Az. VIII ZR 11/2021",
    "Ref. 11/2024",
    "2011 Main Street",
    "Course code 2011",
    "Riesling Sp\xe4tlese, 2011",
    "Shelf mark 2011 b 7",
    "Case C-11/2023",
    "Fiscal year 2011",
    "出版：2014年",
    "NGC 2014",
    "Lot 2014",
    "Built 2004",
    "Oil on canvas, 1998",
    "Lot 12 Vase 1920",
    "Sleeps 4 guests 1450",
    "Catalogue 1920.4.4",
    "Inventarnummer 1920.4.4",
    # Words that only begin as those of counters do: programs that show something, films that were seen, a browser, rights, a link.
    "3 visualizadores",
    "5 просмотрщиков",
    "12 просмотренных фильмов",
    "浏览器 3",
    "访问权限: 7",
    "点击下载 12",
    "阅读全文 2",
    # A zone of time, a lap, and a part of an address.
    "UTC+05:30",
    "GMT-4:45",
    "Offset: \u221203:30",
    "Best lap 1:23.456",
    "3f:12:30:9a:00:11",
    "12:30:45:50:00:11",
]


# Of the datelines, those that are of no page whatever.
OF_VISITS = {
    "77 views",
    "Viewed 1,033 times",
    "Page views: 1033",
    "Users browsing this forum: Ivy, Cy and 85 guests",
    "77 Aufrufe",
    "1033 visualizaciones",
    "21 просмотр",
    "1033 просмотров",
    "阅读量：1033",
    "閲覧数: 1033",
}


# Of the common words of all languages those that say of a dateline that it speaks of the page.
SAID_OF_PAGES = """
    actualización aggiornamento aktualisiert atualização changed copyright currently czas datum fecha generated gewijzigd geändert heure
    hora modification modificato modified modifié tijd updated zmian zmiana zmiany zugriff änderung время дата изменение изменения
    обновления 作成 修改 更新 现在 現在 編集 수정
""".split()  # noqa: SIM905 - as a list it would take fifty lines


@pytest.mark.parametrize(("line", "around"), [(line, True) for line in DATELINES] + [(line, False) for line in NO_DATELINES])
def test_dates_ages_and_counters_are_surroundings_and_content(line: str, around: bool):
    article = f"<h1>The harbour</h1><p>{line}</p>" + article_of(english(20)).removeprefix("<h1>The harbour</h1>")
    parts = layout_of(article).parts()
    assert join(parts.content) == text_of(article.replace(f"<p>{line}</p>", "") if line in OF_VISITS else article)
    assert join(parts.around) == (line if around else "")
    assert (line in join(parts.prose)) != around


@pytest.mark.parametrize("line", DATELINES)
def test_a_dateline_has_a_date_a_time_an_age_or_a_counter(line: str):
    assert is_dateline(line)


@pytest.mark.parametrize("line", NO_DATELINES)
def test_no_other_line_is_one(line: str):
    assert not is_dateline(line)


@pytest.mark.parametrize(
    ("line", "how_often", "what"),
    [
        ("12 May 2024", False, True),
        ("2024-05-12", False, False),
        ("9:05", False, False),
        ("77 views", True, False),
        ("3 minutes ago", True, False),
        ("Launch of the ferry, 1999", False, True),
    ],
)
def test_what_a_dateline_says_besides(line: str, how_often: bool, what: bool):
    assert is_counter(line) == how_often
    assert has_other_words(line) == what


@pytest.mark.parametrize(
    "line",
    [
        "Public hearing held in Leeds: 11 May 2026",
        "Printmaking workshop in Leeds: 11 May 2026",
        "Archived football final in Leeds: 11 May 2026",
        "Edited volume launch: 11 May 2026",
        "Login workshop for seniors: 11 May 2026",
        "Webinar: 11 May 2026, 15:00 UTC",
        "Start of the session 11 May 2026, 15:00 GMT in the main hall",
        "Postgraduate open day in Leeds: 11 May 2026",
        "Creative writing course in Leeds: 11 May 2026",
        "Editorial board meeting: 11 May 2026",
        "Review lecture on Kant: 11 May 2026",
        "Members evening with Anna: 11 May 2026",
        "Active ageing walk: 11 May 2026",
        "Father and son walk: 11 May 2026",
        "Visit to the lighthouse: 11 May 2026",
        "Data science evening: 11 May 2026",
        "Data publishing workshop in Leeds: 11 May 2026",
        "Departures from Leeds 12:30",
        "Arrivée à Lyon 12:30",
        "Finishers of the race 3:12",
        "浏览器大会：2026年5月11日",
        "Consultation in the town hall: 11 May 2026",
        "Modern building tour: 11 May 2026",
        "Stand-up comedy: 11 May 2026, 20:00",
        "会议时间：2026年5月11日",
        "Born 11 May 1951",
        "Room 12, 11 May 2026",
        "Joined the team in Leeds: 3 May 2026",
        "Barn build with Anna: 3 May 2026",
        "Last train to Leeds: 21:10",
        "Written exam in history: 12 May 2026",
        "3 May 2026 members meeting in Leeds",
    ],
)
def test_a_dateline_that_says_what_takes_place_is_of_an_event(line: str):
    assert is_dateline(line)
    assert is_of_an_event(line, words_of(line))


@pytest.mark.parametrize(
    "line",
    [
        "Last updated by the harbour master on 11 May 2026",
        "Page printed for Anna Berg on 11 May 2026",
        "Date: 11 May 2026",
        "Review date: 11 May 2026",
        "Published by Anna Berg in Leeds, 11 May 2026",
        "Data di pubblicazione: 11 maggio 2026",
        "28 November 2026, 19:21 Pacific Standard Time",
        "Sat, 28 Nov 2026 19:21:36 UTC",
        "Posted Monday, 11 May 2026, in the news of Leeds",
        "Archived from the original on 11 May 2026",
        "Publié le lundi 11 mai 2026 à Paris par Anna",
        "Login: 11 May 2026 10:00",
        "Data publikacji: 11 maja 2026",
        "访问时间：2026年5月11日",
        # A stem of "departs" is in it.
        "Departmental clock 12:30",
        "Zuletzt bearbeitet von Anna Berg am 11. Mai 2026",
        "Stand: 11. Mai 2026, 12:30 Uhr",
        "Dernière mise à jour par Anna le 11 mai 2026",
        "Son güncelleme: 11 Mayıs 2026",
        "Это страница изменена: 11 мая 2026",
        "发布时间：2026年5月11日",
        "Version 3 of this page, 11 May 2026",
        "Author: Anna Berg of Leeds, 11 May 2026",
        "77 views since 11 May 2026 by readers",
        "11 May 2026",
        "Friday, 11 May 2026",
        "Aktualisierungsdatum: 11. Mai 2026",
        "Last edit by Anna Berg of Leeds: 11 May 2026",
        "Viimeksi muutettu Leedsissä 5. toukokuuta 2026",
    ],
)
def test_other_datelines_speak_of_the_page(line: str):
    assert not is_of_an_event(line, words_of(line))


def test_no_common_word_of_contents_speaks_of_the_page():
    """A stem that stands in the words of contents would hide what takes place there: "printmaking", "consultation"."""
    said = {word for word in factors() if is_of_an_event(f"harbour bell {word} evening: 11 May 2026", ["harbour", "bell", "evening"])}
    assert sorted({*factors()} - said) == SAID_OF_PAGES


def test_no_common_word_counts_readers_or_numbers_things_but_these():
    """A stem would: "12 visualizadores", "浏览器 3", "Catalan 12 May"."""
    counted = [word for word in factors() if is_counter(f"3 {word}")]
    assert sorted(counted) == ["comment", "like", "share", "view", "visualización", "visualização", "просмотр", "просмотра"]
    assert sorted(word for word in factors() if is_counter(f"{word} 3")) == ["点击", "访问", "阅读"]
    assert [word for word in factors() if not is_dateline(f"{word} 12 May 2026")] == []


def test_no_common_word_makes_an_event_of_an_hour_or_a_number_but_these():
    numbered = [word for word in factors() if is_of_an_event(f"{word} 12, 2026-05-11 9:05", [])]
    assert sorted(numbered) == ["case", "extension", "line", "model", "part"]
    timed = [word for word in factors() if is_of_an_event(f"{word} 12:30", [])]
    assert sorted({*timed} - {*numbered}) == ["durée", "salida"]


def words_of(line: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", line)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Yoga, 12 May 2026, and 19. Mai 2026", ["12 may 2026", "19. mai 2026"]),
        ("May  12th, 2026", ["may 12th, 2026"]),
        ("2026-05-12 and 12/05/2026", ["2026-05-12", "12/05/2026"]),
        ("4 de mayo de 2026", ["4 de mayo de 2026"]),
        ("2026年5月12日", ["2026年5月12日"]),
        ("Sunnuntai 5. toukokuuta 2026", ["5. toukokuuta 2026"]),
        ("5-May-2026", ["5-may-2026"]),
        ("May 2026, spring 2026, 2026, 12:30, 12 May", []),
    ],
)
def test_the_days_in_a_line(line: str, found: list[str]):
    assert full_dates(line) == found


@pytest.mark.parametrize(
    "line",
    [
        *(
            "Mirror state of 3 October 2026",
            "Last synchronised: 3 October 2026",
            "Last sync: 3 October 2026",
            "Snapshot taken on 3 October 2026",
        ),
        *("Stand der Daten: 3. Oktober 2026", "Zuletzt synchronisiert: 3. Oktober 2026"),
        "Derni\xe8re synchronisation : 3 octobre 2026",
        *("Stan na dzie\u0144 3 pa\u017adziernika 2026", "\u540c\u6b65\u65f6\u95f4\uff1a2026\u5e7410\u67083\u65e5"),
        "\u0414\u0430\u043d\u043d\u044b\u0435 \u043d\u0430 3 \u043e\u043a\u0442\u044f\u0431\u0440\u044f 2026",
    ],
)
def test_the_state_of_a_mirror_is_of_the_page(line: str):
    assert is_dateline(line)
    assert is_of_the_page(line)
    assert has_a_state(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "State visit of 3 October 2026",
            "State of the Union: 3 October 2026",
            "Mirror maze opens 3 October 2026",
            "\xc9tat civil : 3 octobre 2026",
        ),
        *(
            "Stan Smith: 3 October 2026",
            "Snapshot exhibition: 3 October 2026",
            "Data protection day: 3 October 2026",
            "Stato civile: 3 ottobre 2026",
        ),
    ],
)
def test_what_only_begins_so_is_not(line: str):
    assert not is_of_the_page(line)
    assert not has_a_state(line)


@pytest.mark.parametrize(
    "line",
    [
        "Stand vom 31.12.2024: 1234 Einwohner",
        "Datos a 1 de enero de 2022: 1234 habitantes",
        "Sync: 17 ms, 3 May 2025",
        "As at 30 June 2025: 17 of 20",
        "Snapshot from 3 May 2025 by Anna Meyer",
        "\u540c\u671f\uff1a1234 2025\u5e7412\u670831\u65e5",
        "State of May 2019",
    ],
)
def test_what_says_how_much_there_was_then_is_no_state_of_the_page(line: str):
    assert not is_of_the_page(line)
    assert not has_a_state(line)
