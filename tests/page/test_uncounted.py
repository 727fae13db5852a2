"""The words of headings and titles without numbers, what they count, and days."""

from __future__ import annotations

import pytest

from simcrawl.page.uncounted import words


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Public holidays in Hamburg (Germany) 2025", "public holidays in hamburg germany"),
        ("Sales assistant (20 h) in Leeds", "sales assistant in leeds"),
        ("Sales assistant 80% in Leeds", "sales assistant in leeds"),
        ("Sales assistant 80 % in Leeds", "sales assistant in leeds"),
        ("Traineeship Leeds 1 August", "traineeship leeds"),
        ("3rd line supporter in Leeds", "line supporter in leeds"),
        ("1st Division Leeds", "division leeds"),
        ("2026 Leeds", "leeds"),
        ("Magic Tour 2026 \u2013 Leeds", "magic tour leeds"),
        ("Yoga in Leeds, 12 May 2026, 20:00", "yoga in leeds"),
        ("5. toukokuuta 2026, Leeds", "leeds"),
        ("3 comments on Leeds", "on leeds"),
        ("Top 10 Leeds pubs", "top leeds pubs"),
        ("A320 manual 2026", "a320 manual"),
        ("\u5317\u4eac 2026", "\u5317\u4eac"),
        ("Leeds | Jobs", "leeds jobs"),
        # No day stands behind a letter, and no month is written so.
        ("Q1 report 2026", "q1 report"),
        ("Q1 Report 2026", "q1 report"),
        ("12 Vase 1920", "vase"),
        # What tells quarters, parts, eras and currencies apart.
        ("Part II", "part ii"),
        ("Chapter Two", "chapter two"),
        ("100 USD", "usd"),
        ("\u4ee4\u548c8\u5e74", "\u4ee4\u548c8\u5e74"),
        ("\u7b2c2\u7ae0", "\u7b2c2\u7ae0"),
        # Comments, in the forms that go with their numbers.
        ("1 koment\u00e1r k Leeds", "k leeds"),
        ("5 koment\u00e1rov k Leeds", "k leeds"),
        ("3 komentarji k Leeds", "k leeds"),
        ("12 comentarii la Leeds", "la leeds"),
        ("5 komentar\u0173", ""),
        ("2 \u043a\u043e\u043c\u0435\u043d\u0442\u0430\u0440\u0430", ""),
        ("3 \u062a\u0639\u0644\u064a\u0642\u0627\u062a", ""),
        # Of a book, they are what it is called.
        ("Komentarji Leeds", "komentarji leeds"),
        # It may be a name, but where it stands in a row of months.
        ("May", ""),
        ("Good morning, Leeds", "good morning leeds"),
    ],
)
def test_numbers_what_they_count_and_days_are_left_out(text: str, left: str) -> None:
    assert " ".join(words(text)) == left


@pytest.mark.parametrize(
    "text",
    [
        "Page 2",
        "May 2026",
        "Toukokuu 2026",
        "\u039c\u03ac\u03c1\u03c4\u03b9\u03bf\u03c2 2026",
        "Summer 2026",
        "2026-05-12",
        "12 results",
        "3 comments",
        "Week 34",
        "Segunda-feira, 5",
        "Yesterday, 12:30",
        "Heute, 12:30",
        "3 days ago",
        "Visitors: 123",
        "120 people are reading",
        "You have 2 things in your cart",
    ],
)
def test_what_has_no_end_has_no_words_left(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize(
    "forms",
    [
        ("1 comment", "2 comments"),
        ("Boats (1 Kommentar)", "Boats (2 Kommentare)"),
        ("Boats: 1 komentarz", "Boats: 2 komentarze", "Boats: 5 komentarzy"),
        (
            "1 \u0434\u0435\u043d\u044c \u043d\u0430\u0437\u0430\u0434",
            "3 \u0434\u043d\u044f \u043d\u0430\u0437\u0430\u0434",
            "5 \u0434\u043d\u0435\u0439 \u043d\u0430\u0437\u0430\u0434",
        ),
        ("vor 1 Tag", "vor 3 Tagen", "vor 2 Stunden"),
        ("Posted 1 hour ago", "Posted 5 minutes ago", "Posted 3 weeks ago"),
        ("Good morning, it is 12 degrees", "Good evening, it is 9 degrees"),
        ("Results 1-10 of 230", "Results 11-20 of 240"),
        ("Boats", "Boats (3)", "Boats, page 2"),
    ],
)
def test_other_forms_with_other_numbers_leave_the_same_words(forms: tuple[str, ...]) -> None:
    assert len({tuple(words(form)) for form in forms}) == 1
