"""What pages are called, word by word, and by the verdict on two pages of one text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import combinations, count
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import simcrawl
from simcrawl.page import names
from simcrawl.page.blocks import NO_PARTS
from simcrawl.page.features import Cut, cut_lines
from simcrawl.page.fingerprint import NO_HASHES, PageFingerprint
from simcrawl.page.hashing import hash_units
from simcrawl.page.names import Naming
from tests.samples import chinese, english

if TYPE_CHECKING:
    from collections.abc import Callable

PROSE = "cedar maple willow cedar maple willow birch grow in the north"


def _cut(text: str) -> Cut:
    return Cut(text, seed=1)


def _of(heading: str = "", *, outer: str = "", facts: str = "", title: str = "", prose: str = PROSE, beside: str = "") -> bytes:
    # A heading of the content stands in its prose, and an outer one beside it.
    around = _cut(f"{outer}\n{beside}").hashes
    parts = NO_PARTS._replace(heading=heading)
    return names.of(_cut(names.lines((heading, outer), facts, title)), _cut(f"{heading}\n{prose}"), around, parts)


def _differ(a: bytes, b: bytes) -> bool:
    assert names.compare(a, b) is names.compare(b, a)
    return names.compare(a, b) is not Naming.SAME


def _differ_outside(a: bytes, b: bytes) -> bool:
    assert names.compare_outside(a, b) is names.compare_outside(b, a)
    return names.compare_outside(a, b) is not Naming.SAME


def test_headings_whose_words_come_back_tell_pages_apart():
    assert _differ(_of("The cedar"), _of("The maple"))
    assert _differ(_of("The cedar"), _of("The cedar and willow"))


def test_a_name_with_words_more_is_told_from_another_one():
    assert names.compare(_of("The cedar"), _of("The cedar and willow")) is Naming.LONGER
    assert names.compare(_of("The cedar"), _of("The willow")) is Naming.OTHER
    # What stands under it tells more.
    assert names.compare(_of("The cedar", facts="200 g"), _of("The cedar and willow", facts="300 g")) is Naming.OTHER
    assert names.compare(_of("The cedar", facts="200 g"), _of("The cedar and willow")) is Naming.LONGER


def test_words_that_do_not_come_back_tell_nothing():
    assert not _differ(_of("Arbonet: trees"), _of("Forestia: plants"))
    # But for what stands under them.
    assert _differ(_of("Arbonet: trees", facts="200 g"), _of("Forestia: plants", facts="300 g"))
    assert not _differ(_of("Arbonet: trees", facts="200 g"), _of("Forestia: plants", facts="200 g"))


def test_the_case_of_words_and_their_signs_tell_nothing():
    assert _of("The cedar, the MAPLE") == _of("the CEDAR - the maple")


def test_names_of_the_same_words_in_another_order_are_other_names():
    there, back = (_of(f"From {one} to {other}", title=f"{one} to {other}") for one, other in (("cedar", "birch"), ("birch", "cedar")))
    assert names.compare(there, back) is names.compare(back, there) is Naming.OTHER
    outside = [_of(outer=f"{one} to {other}", beside="cedar birch cedar birch") for one, other in (("cedar", "birch"), ("birch", "cedar"))]
    assert names.compare_outside(*outside) is Naming.OTHER
    # Of words that come again the first place counts: "Terms - Liquid", and with the site's name behind it.
    plain, signed = (_of("From cedar to birch", title=title) for title in ("The cedar - birch", "The cedar - birch - The birch"))
    assert not _differ(plain, signed)
    # And where the page does not speak of them they name nothing.
    assert not _differ(_of("Oak and ash"), _of("Ash and oak"))


@pytest.mark.parametrize("number", ["4.2 ", "4. ", "Chapter 3. ", "Appendix B. ", "IV. ", "A.1 ", "第三章 ", "3节 "])
def test_numbers_in_front_number_a_page(number: str):
    numbered = _of(f"{number}The cedar", outer=f"{number}Maple", title=f"{number}The cedar")
    plain = _of("The cedar", outer="Maple", title="The cedar")
    # The third word is of what stands below, which is with its number here.
    assert (numbered[:4], numbered[6:]) == (plain[:4], plain[6:])


@pytest.mark.parametrize("number", ["\u4e00\u3001", "\u4e8c\uff0e", "\u7b2c\u4e09\u90e8 ", "\u7b2c\u5341\u4e8c\u7bc0"])
def test_han_numerals_with_an_ordinal_or_a_point_number_a_page(number: str):
    assert names._unnumbered(f"{number}\u96ea\u677e") == "\u96ea\u677e"


@pytest.mark.parametrize(
    "name",
    [
        "\u4eba\u4e8b\u90e8",
        "\u4e1a\u52a1\u90e8",
        "\u4e1c\u90e8",
        "\u4e09\u90e8",
        "\u4e03\u7bc7 \u96ea",
        "\u7b2c\u4e09\u90e8",
        "\u4e0a\u7ae0",
    ],
)
def test_departments_are_no_numbers(name: str):
    assert names._unnumbered(name) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0930\u093e\u092e", "\u0930\u0940\u092e\u093e"),
        ("\u0cb0\u0cbe\u0c9c\u0c95\u0cc1\u0cae\u0cbe\u0cb0", "\u0cb0\u0cbe\u0c9c\u0c95\u0cc1\u0cae\u0cbe\u0cb0\u0cbf"),
    ],
)
def test_names_that_differ_in_vowel_signs_are_others(one: str, other: str):
    assert _differ(_of(one, prose=f"{PROSE} {one}"), _of(other, prose=f"{PROSE} {other}"))
    assert names._words_of(f"{one} 12") == {one}
    assert names._squeezed(one) != names._squeezed(other)
    assert names._addressed(f"http://a.test/{one}", f"{one} {other}") == {one}
    assert names._numbers(f"{one} 12") == ["12"]


def test_accents_are_on_their_letters_whichever_way_they_were_written():
    for text in ("Caf\xe9 B\xe4r", "\u1ec7 \u0928\u0929"):
        apart = unicodedata.normalize("NFD", text)
        assert names.lines((apart, apart), apart, apart, f"http://a.test/{apart}") == names.lines(
            (text, text), text, text, f"http://a.test/{text}"
        )
        assert _of(apart) == _of(text)
        assert _with_values([apart, "Oak"]) == _with_values([text, "Oak"]) == _with_values([f"{text[:2]}\xad{text[2:]}", "Oak"])


@pytest.mark.parametrize("words", ["Part of the cedar", "Ivy and cedar", "Chapters of cedar", "A cedar"])
def test_a_word_in_front_is_no_number(words: str):
    assert _of(words) != _of("cedar")
    assert len(_of(words)) == len(_of("cedar")) + 2 * (len(words.split()) - 1)


def test_versions_are_left_out_of_titles_only():
    assert _of("The cedar", title="Cedar 1.2.3") == _of("The cedar", title="Cedar v2.0")
    assert _of("The cedar 1.2.3") != _of("The cedar 2.0")


def test_a_version_that_the_heading_names_too_is_what_a_page_is_about():
    prose = "Django 1.4.14 mends what 1.4.13 left"
    notes = _of("Django 1.4.14 notes", title="Django 1.4.14 notes, Django 4.2", prose=prose)
    assert notes == _of("Django 1.4.14 notes", title="Django 1.4.14 notes, Django 3.2", prose=prose)
    other = _of("Django 1.5.9 notes", title="Django 1.5.9 notes, Django 4.2", prose="Django 1.5.9 mends what 1.5.8 left")
    assert names.compare(notes, other) is Naming.OTHER


def test_pages_of_one_title_are_called_the_same():
    assert not _differ(_of("The cedar", title="On willow"), _of("The maple", title="On willow"))
    # Of a site's name that no prose speaks of that says nothing.
    assert _differ(_of("The cedar", title="Arbonet"), _of("The maple", title="Arbonet"))
    assert _differ(_of("The cedar", title="On willow"), _of("The maple", title="On birch"))


def test_pages_without_a_heading_or_names_are_not_called_differently():
    for other in (b"", _of(), _of(outer="The maple")):
        assert not _differ(_of("The cedar"), other)
        assert not _differ(other, b"")
    assert not _differ_outside(_of(outer="The cedar"), b"")
    assert not _differ_outside(_of(outer="The cedar"), _of("The maple"))


def test_headings_outside_tell_apart_by_words_that_the_prose_speaks_of():
    assert _differ_outside(_of(outer="The cedar"), _of(outer="The maple"))
    assert not _differ_outside(_of(outer="Arbonet"), _of(outer="Arbonet Forestia"))
    assert _differ_outside(_of(outer="Arbonet"), _of(outer="Forestia"))
    assert not _differ_outside(_of(outer="The cedar", title="On willow"), _of(outer="The maple", title="On willow"))
    assert not _differ(_of(outer="The cedar"), _of(outer="The maple"))


def test_what_both_headings_say_is_said_inside():
    assert _of("The cedar", outer="cedar maple") == _of("The cedar", outer="maple")


def test_long_headings_take_bounded_room():
    many = english(60)
    assert len(_of(many, outer=chinese(60), facts=many, title=many)) <= 2 * (3 + 16 + 1 + 16 + 4 + 6)


_words = st.lists(st.sampled_from(["cedar", "maple", "oak", "1.2", "Chapter 3.", "北京", "\n", "\ud800", "!"]), max_size=24).map(" ".join)


@given(_words, _words, _words, _words)
def test_a_page_is_called_as_itself(heading: str, outer: str, facts: str, title: str):
    made = _of(heading, outer=outer, facts=facts, title=title)
    assert not _differ(made, made)
    assert not _differ_outside(made, made)
    lines = names.lines((heading, outer), facts, title)
    assert len(lines.splitlines()) == 6
    # Of a text among others it is the same.
    among = cut_lines(["", "one two", lines, outer], seed=1)
    assert names.of(among[2], _cut(f"{heading}\n{PROSE}"), among[3].hashes, NO_PARTS._replace(heading=heading)) == made


# ---- whether it is to be left alone


def test_a_page_that_asks_search_engines_to_leave_it_alone_says_so_and_others_say_nothing():
    texts = _cut(names.lines(("", ""), "", "")), _cut(PROSE), NO_HASHES, NO_PARTS
    plain, left = (names.of(*texts, noindex=noindex) for noindex in (False, True))
    assert names.is_left_alone(left)
    assert not names.is_left_alone(plain)
    # What older versions wrote is what is written now, and less.
    assert names.of(*texts) == plain
    assert len(plain) < len(left)
    assert not names.is_left_alone(b"")
    assert not _differ(plain, left)


@pytest.mark.parametrize(("units", "known"), [(1.0, 1.0), (1.5, 1.5), (1.98, 2.0), (6.0, 6.0)])
def test_how_many_units_make_a_word_is_known_to_a_sixteenth(units: float, known: float):
    texts = _cut(names.lines(("Oak", ""), "", "")), _cut(PROSE), NO_HASHES, NO_PARTS
    made, plain = names.of(*texts, units_of_a_word=units), names.of(*texts)
    assert names.units_of_a_word(made) == known
    assert (made == plain) == (units == 1)
    assert names.units_of_a_word(b"") == 1
    assert not _differ(made, plain)


# ---- short lines


def _with_values(values: list[str], pictures: tuple[str, ...] = ()) -> bytes:
    parts = NO_PARTS._replace(values=tuple(values), pictures=pictures)
    return names.of(_cut(names.lines(("", ""), "", "")), _cut(PROSE), NO_HASHES, parts)


_ROWS = st.lists(st.integers(0, 40), max_size=24)


@given(_ROWS, _ROWS, st.integers(1, 4), st.sampled_from([0.0, 0.05, 0.15, 0.5]))
def test_lines_that_each_page_has_for_itself(a: list[int], b: list[int], least: int, share: float):
    lines = [[f"Row {number}." for number in rows] for rows in (a, b)]
    # Two bytes each agree by chance now and then: that is of another test.
    distinct = names._values(lines[0]) | names._values(lines[1])
    assume(len(names._digests(names._hashes([distinct], 1)[0])) == len(distinct))
    pages = [_with_values(page) for page in lines]
    # A line that stands there twice is two.
    exchanged = min((Counter(a) - Counter(b)).total(), (Counter(b) - Counter(a)).total())
    expected = bool(a and b) and exchanged >= least and exchanged >= share * min(len(a), len(b))
    assert names.hold_others(*pages, least=least, share=share) == names.hold_others(*pages[::-1], least=least, share=share) == expected


@given(_ROWS, _ROWS)
def test_lines_that_one_page_has_more(a: list[int], b: list[int]):
    lines = [[f"Row {number}." for number in rows] for rows in (a, b)]
    distinct = names._values(lines[0]) | names._values(lines[1])
    assume(len(names._digests(names._hashes([distinct], 1)[0])) == len(distinct))
    assert names.holds_more(*map(_with_values, lines)) == bool(Counter(a) - Counter(b))


def test_lines_are_exchanged_below_the_same_paragraphs():
    def of(*values: str, heading: str = "", paragraph: str = PROSE, below: str = "") -> bytes:
        parts = NO_PARTS._replace(values=values, heading=heading, paragraphs=(paragraph,), subheadings=(below,))
        called = _cut(names.lines((heading, ""), "", heading))
        return names.of(called, _cut(f"{heading}\n{paragraph}"), _cut("").hashes, parts)

    assert names.exchange_a_line(of("Oak", below="Dover"), of("Oak", below="Hull"))
    assert names.holds_more(of("Oak", below="Dover"), of("Oak", below="Hull"))
    assert not names.exchange_a_line(of("Oak", below="Comments (5)"), of("Oak", below="Comments (7)"))
    assert not names.exchange_a_line(of("Oak"), of("Oak", below="Hull"))
    assert names.exchange_a_line(of("Oak", "Red"), of("Oak", "Blue"))
    assert names.exchange_a_line(of("Oak", heading="A chair"), of("Oak", heading="A table"))
    assert not names.exchange_a_line(of("Oak", "Red"), of("Oak", "Red"))
    assert not names.exchange_a_line(of("Oak", "Red"), of("Oak", "Blue", "Print"))
    assert not names.exchange_a_line(of("Oak", "Red"), of("Oak", "Blue", paragraph="Something else."))
    assert not names.exchange_a_line(of("Oak", heading="Page 1"), of("Oak", heading="Page 2"))
    assert not names.exchange_a_line(b"", of("Oak"))


def _with_paragraphs(paragraphs: list[str], *values: str) -> bytes:
    parts = NO_PARTS._replace(paragraphs=tuple(paragraphs), values=values)
    return names.of(_cut(names.lines(("", ""), "", "")), _cut(PROSE), NO_HASHES, parts)


_PARAGRAPHS = st.sets(st.integers(0, 9), min_size=2, max_size=8)


@given(_PARAGRAPHS, _PARAGRAPHS, st.integers(0, 40))
def test_a_paragraph_in_the_place_of_another_one_is_found_however_many_there_are(a: set[int], b: set[int], more: int):
    shared = [f"Paragraph {number} of all." for number in range(more)]
    made = (names._read(_with_paragraphs([*shared, *(f"Paragraph {number}." for number in one)])).paragraphs for one in (a, b))
    own = len(a - b), len(b - a)
    assert names._exchanged_paragraphs(*made) == (own if own in ((1, 1), (1, 0), (0, 1)) else (0, 0))


def test_one_paragraph_is_exchanged_for_another_or_for_a_line():
    one, other, third = ([*map(str, range(3)), text] for text in ("The cedar.", "The birch.", "The maple."))
    assert names.exchange_a_paragraph(*map(_with_paragraphs, (one, other)))
    assert names.exchange_a_paragraph(_with_paragraphs(one), _with_paragraphs(one[:3], "Birch"))
    assert not names.exchange_a_paragraph(_with_paragraphs(one), _with_paragraphs(one[:3]))
    assert not names.exchange_a_paragraph(_with_paragraphs(one), _with_paragraphs(one))
    assert not names.exchange_a_paragraph(_with_paragraphs([*one, "Oak."]), _with_paragraphs([*other[:3], "Elm.", "Ash."]))
    # Of pages of one paragraph nothing is the same.
    assert not names.exchange_a_paragraph(*(_with_paragraphs(text[3:]) for text in (other, third)))
    # Of older versions nobody knows.
    assert not names.exchange_a_paragraph(_before(_with_paragraphs(one)), _with_paragraphs(other))
    assert not names.exchange_a_paragraph(b"", _with_paragraphs(other))


def _with_rows(*rows: tuple[str, ...], values: tuple[str, ...] = (), paragraph: str = PROSE) -> bytes:
    parts = NO_PARTS._replace(rows=rows, paragraphs=(paragraph,), values=values)
    return names.of(_cut(names.lines(("", ""), "", "")), _cut(PROSE), NO_HASHES, parts)


def test_rows_are_exchanged_whatever_their_order():
    yes_and_no = ("Ann", "yes"), ("Bo", "no")
    other = _with_rows(("Ann", "no"), ("Bo", "yes"))
    for exchange in (names.exchange_rows, names.exchange_values, names.exchange_a_line):
        assert exchange(_with_rows(*yes_and_no), other)
        assert not exchange(_with_rows(*yes_and_no), _with_rows(("BO", "no"), ("Ann", "yes")))
        # Who plays at home.
        assert exchange(_with_rows(("Leeds", "York")), _with_rows(("York", "Leeds")))
        # One cell alone is a line, and no table says nothing.
        assert not exchange(_with_rows(("Ann",)), other)
        assert not exchange(b"", other)
    assert not names.exchange_values(_with_rows(*yes_and_no), _with_rows(("Ann", "no"), paragraph="Something else."))
    labelled = [_with_rows(values=(line,)) for line in ("Oak: red", "Oak: blue", "Views: 7", "Views: 8")]
    assert names.exchange_rows(*labelled[:2])
    assert not names.exchange_rows(*labelled[2:])


def test_what_older_versions_did_not_write_says_nothing():
    page = _with_rows(("Ann", "yes"), values=("Oak: red", "wood"))
    older = _with_parts(page, 6)
    assert names._read(older).mixed == names._Mixed()
    assert names._read(older)[:9] == names._read(page)[:9]
    for made in ((page, older), (older, page)):
        assert not names.holds_more(*made)
        assert not names.exchange_a_line(*made)
        assert not names.exchange_values(*made)
        assert not names.exchange_lines_beside(*made)


@pytest.mark.parametrize("kind", ["rows", "lines"])
def test_texts_that_end_alike_do_not_cancel_out(kind: str):
    people = [f"{name} {family}" for family in ("Hay", "Lund", "Moss") for name in ("Ann", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal")]
    made = set()
    for number in range(20):
        votes = [(name, "no" if place in (number, number + 2) else "yes") for place, name in enumerate(people)]
        page = _with_rows(*votes) if kind == "rows" else _with_rows(values=tuple(f"{name}\n{vote}" for name, vote in votes))
        made.add(getattr(names._read(page).mixed, kind))
    assert len(made) == 20


@pytest.mark.parametrize("row", [("Views", "93"), ("93 results", "in all"), ("12", "13", "14"), ("30", "31"), ("Ann",)])
def test_what_has_no_end_is_no_row(row: tuple[str, ...]):
    assert names._rows([row]) == set()


@pytest.mark.parametrize("row", [("12", "13", "15"), ("3", "9" * 5_000), ("Ann", "12"), ("1.08", "USD")])
def test_numbers_are_rows_where_they_are_no_week(row: tuple[str, ...]):
    assert len(names._rows([row])) == 1
    # Rates are others at each visit, and stand beside the contents.
    assert len(names._rows([row], beside=True)) == (0 if "1.08" in row else 1)


@pytest.mark.parametrize(
    ("paragraph", "counts"),
    [
        ("This page was generated in 0.12 seconds.", False),
        ("It took 17 queries.", False),
        ("In total there are 1,093 registered users online.", False),
        ("A boat of 12 tons takes three hands.", True),
        ("1," * 50_000, True),
    ],
)
def test_a_paragraph_that_tells_of_the_visit_is_no_paragraph_of_the_page(paragraph: str, counts: bool):
    made = (names._read(_with_paragraphs(["The cedar.", "The birch.", one])).paragraphs for one in (paragraph, "The maple."))
    assert names._exchanged_paragraphs(*made) == ((1, 1) if counts else (0, 1))


def test_pages_that_begin_with_other_lines_below_the_same_paragraphs_have_other_values():
    assert names.exchange_values(_with_rows(values=("Cedar", "wood")), _with_rows(values=("Birch", "wood")))
    assert not names.exchange_values(_with_rows(values=("a", "wood", "Cedar")), _with_rows(values=("a", "wood", "Birch")))
    assert not names.exchange_values(_with_rows(values=("Cedar",)), _with_rows())


@pytest.mark.parametrize(
    ("urls", "alike"),
    [
        (("/objects/126/view.html", "/objects/127/view.html"), False),
        (("/objects/126/details", "/objects/127/details"), False),
        # The same page of two mirrors, and of two releases.
        (("/amd64/view.html", "/i386/view.html"), True),
        (("/12/harbour.html", "/13/harbour.html"), True),
    ],
)
def test_the_page_of_a_number_ends_with_that(urls: tuple[str, str], alike: bool):
    made = (names.of(_cut(names.lines(("", ""), "", "")), _cut(PROSE), NO_HASHES, NO_PARTS, url=f"http://a.test{url}") for url in urls)
    one, other = (names._read(page).second.end for page in made)
    assert (one == other) is alike


def test_names_are_exchanged_below_the_same_paragraphs():
    def of(heading: str, *values: str, title: str = "{}", paragraph: str = PROSE) -> bytes:
        parts = NO_PARTS._replace(values=values, heading=heading, paragraphs=(paragraph,))
        called = _cut(names.lines((heading, ""), "", title.format(heading)))
        return names.of(called, _cut(f"{heading}\n{paragraph}"), _cut("").hashes, parts)

    for exchanged in (names.exchange_names, names.exchange_a_line):
        assert exchanged(of("A chair", "Red"), of("A table", "Red", "Blue"))
        assert not exchanged(of("A chair"), of("A chair"))
        assert not exchanged(of("A chair"), of("A table", paragraph="Something else."))
        assert not exchanged(b"", of("A chair"))
    assert not names.exchange_names(of("A chair", title="Furniture"), of("A table", title="Furniture"))
    assert not names.exchange_names(of("A chair", "Red"), of("A chair", "Blue"))


@pytest.mark.parametrize(
    ("one", "other", "own"),
    [
        # A value in two rows is two of a page's own, a sentence in two steps is one.
        ("red", "blue", 2),
        ("Choose red first.", "Choose blue first.", 2),
        ("Choose View - Styles.", "Choose View - Styles (F11).", 1),
    ],
)
def test_a_sentence_that_comes_again_counts_once(one: str, other: str, own: int):
    a, b = (_with_values(["Size", "large", line, line]) for line in (one, other))
    assert names._exchanged(names._read(a), names._read(b))[0] == own


@given(st.integers(25, 400), st.integers(0, 20))
def test_of_many_lines_those_with_the_smallest_values_are_compared(many: int, more: int):
    lines = [f"row {number}" for number in range(many)]
    a, b = _with_values(lines), _with_values([*lines, *(f"other row {number}" for number in range(more))])
    # What is left out says nothing.
    assert not names.hold_others(a, b, least=1, share=0)
    others = _with_values([f"{line}, another" for line in lines])
    assert names.hold_others(a, others, least=2, share=0.9)
    assert len(a) <= 2 * (3 + 5 + 1 + 24 + 6 + 2)


def test_lines_that_differ_in_signs_at_their_ends_or_in_case_are_one():
    assert not names.hold_others(_with_values(["Blue #", "Red:"]), _with_values(["blue", "RED"]), least=1, share=0)


_BLUE = ["blue\xb6", "Blue #", "Blue#", "Blue:", "Blue :", "Blue: \xb6", "# Blue", "* Blue", "BLUE.", "Blue *", "#blue", "\xb6 Blue"]


@pytest.mark.parametrize("line", _BLUE)
def test_the_signs_of_generators_are_no_part_of_a_line(line: str):
    assert names._bare(line) == "blue"


_SIGNS = [
    ".-",
    "-.",
    "*",
    "*****",
    "...",
    "C#",
    "C",
    "A*",
    "A",
    ".5",
    "5",
    "*args",
    "**args",
    "args",
    "C#.NET",
    "#",
    "more...",
    "more",
    "??",
]


def test_signs_that_say_something_stay():
    assert len({*map(names._bare, _SIGNS)}) == len(_SIGNS)
    assert names.hold_others(_with_values([".-", "-"]), _with_values(["-.", "-"]), least=1, share=0)
    assert names._bare("\xb6") == names._bare(" ") == ""


def test_pages_without_lines_or_of_an_older_version_hold_no_others():
    blue = _with_values(["Blue"])
    for other in (b"", _with_values([]), _of("The cedar")):
        assert not names.hold_others(blue, other, least=1, share=0)


# ---- texts for which the same two bytes stand


def _alike(standing_for: Callable[[str], int]) -> tuple[str, str]:
    """Return two made-up words that are one for what is given. Of 32,000 values a few hundred words meet."""
    met = dict[int, str]()
    for number in count():
        word = f"tree{''.join(chr(97 + int(digit)) for digit in str(number))}"
        other = met.setdefault(standing_for(word), word)
        if other != word:
            return other, word
    raise AssertionError


def _two_bytes(word: str) -> int:
    return int(_cut(word).hashes[0]) >> 49


def _line_bytes(line: str) -> int:
    return int(hash_units({line}, seed=1)[0]) >> 48


def _fact_bytes(word: str) -> int:
    return int(_cut(word).hashes[0]) >> 1 & 0x7FFF


WORDS, LINES, FACTS = _alike(_two_bytes), _alike(_line_bytes), _alike(_fact_bytes)


def _before(made: bytes) -> bytes:
    """Return what versions wrote that knew no second digests."""
    return _with_parts(made, 5)


def _with_parts(made: bytes, parts: int) -> bytes:
    """Return as many of the parts of what names wrote, behind the three values in front."""
    ends = np.flatnonzero(np.frombuffer(made, ">u2")[3:] == 0) + 3
    return made[: 2 * int(ends[parts - 1])] if len(ends) >= parts else made


def test_headings_whose_words_have_the_same_two_bytes_tell_pages_apart():
    one, other = (_of(f"The {word}", prose=f"{PROSE} {' '.join(WORDS)}") for word in WORDS)
    assert names.compare(one, other) is names.compare(other, one) is Naming.OTHER
    assert not _differ(_before(one), other)
    assert not _differ(_before(one), _before(other))
    # Of which nobody speaks.
    assert not _differ(*(_of(word) for word in WORDS))
    one, other = (_of(outer=f"The {word}", prose=f"{PROSE} {' '.join(WORDS)}") for word in WORDS)
    assert names.compare_outside(one, other) is names.compare_outside(other, one) is Naming.OTHER
    assert not _differ_outside(_before(one), other)
    assert names.compare_outside(*(_of(outer=word) for word in WORDS)) is Naming.LONGER


def test_titles_and_facts_that_have_the_same_two_bytes_are_not_the_same():
    one, other = (f"On {word} and willow" for word in WORDS)
    assert _differ(_of("The cedar", title=one), _of("The maple", title=other))
    assert not _differ(_of("The cedar", title=one), _of("The maple", title=one))
    assert not _differ(_before(_of("The cedar", title=one)), _of("The maple", title=other))
    below = [_of(heading, facts=word) for heading, word in zip(("Arbonet: trees", "Forestia: plants"), FACTS, strict=True)]
    assert _differ(*below)
    assert not _differ(_before(below[0]), below[1])


def test_lines_and_pictures_that_have_the_same_two_bytes_are_not_the_same():
    one, other = (_with_values(["Blue", line]) for line in LINES)
    assert names.hold_others(one, other, least=1, share=0)
    assert not names.hold_others(_before(one), other, least=1, share=0)
    assert not names.hold_others(one, other, least=2, share=0)
    one, other = (_with_values([], pictures=("blue", line)) for line in LINES)
    assert names.show_others(one, other)
    assert names.show_others(other, one)
    assert not names.show_others(_before(one), other)
    # So that no page is told as changed for what this version writes.
    assert names.pictures(_before(one)) == names.pictures(one) == names.pictures(other)


# ---- the verdict


TEXT = english(60)


def _page(heading: str, text: str, number: int, *, url: str = "", language: str = "") -> PageFingerprint:
    paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
    made = simcrawl.fingerprint_page(
        f"<html lang='{language}'><head><title>Manual {heading}</title></head>"
        f"<body><div><h1>{heading}</h1>{paragraphs}</div></body></html>",
        url=url or f"http://example.org/{number}",
    )
    assert isinstance(made, PageFingerprint)
    return made


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Copying slides", "Copying slides", True),
        # Both pages speak of both.
        ("Copying slides", "Moving boats", False),
        ("Copying slides", "스라이드 복사", True),
        ("스라이드 복사", "Copying slides", True),
        # What is in two scripts may share one of them and name another thing in the other one.
        ("Copying slides", "스라이드 slides", False),
        ("스라이드 복사", "보트 이동", False),
        ("Copying slides", "2024", False),
    ],
)
def test_one_text_below_headings_in_two_scripts_is_a_translated_heading(one: str, other: str, same: bool) -> None:
    text = f"{TEXT}\nCopying slides and moving boats since 2024: 스라이드 복사, 보트 이동"
    # Of one file in two releases.
    pages = (_page(heading, text, 0, url=f"http://a.test/{release}/ko/slides.html") for heading, release in ((one, 1), (other, 2)))
    assert simcrawl.compare(*pages).is_near_duplicate == same


_IN_TWO_SCRIPTS = ("Copying slides", "\uc2a4\ub77c\uc774\ub4dc \ubcf5\uc0ac")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/en/a", "/ko/b", True),
        ("/a.en.html", "/b.ko.html", True),
        ("/a.html.en", "/b.html.ko", True),
        ("/?id=1&lang=en_US", "/?id=2&lang=ko", True),
        ("/a", "/korean/b", True),
        ("/zh-hant/a", "/zh-hans/b", True),
        # One file in two releases.
        ("/1/a.html", "/2/a.htm", True),
        ("/1/a/", "/2/a/index.html", True),
        ("/a", "/b", False),
        ("/ko/a", "/ko/b", False),
        ("/?id=1", "/?id=2", True),
        ("/item/a.1.html", "/item/b.2.html", False),
    ],
)
def test_names_in_two_scripts_are_translations_where_addresses_say_so(one: str, other: str, same: bool) -> None:
    text = f"{TEXT}\nCopying slides: \uc2a4\ub77c\uc774\ub4dc \ubcf5\uc0ac"
    pages = [_page(name, text, 0, url=f"http://example.org{url}") for name, url in zip(_IN_TWO_SCRIPTS, (one, other), strict=True)]
    assert simcrawl.compare(*pages).is_near_duplicate == simcrawl.compare(*pages[::-1]).is_near_duplicate == same


@pytest.mark.parametrize(("one", "other", "same"), [("en", "ko", True), ("", "ko", True), ("ko", "ko", False), ("", "", False)])
def test_names_in_two_scripts_are_translations_where_the_pages_say_so(one: str, other: str, same: bool) -> None:
    text = f"{TEXT}\nCopying slides: \uc2a4\ub77c\uc774\ub4dc \ubcf5\uc0ac"
    pages = [_page(name, text, number, language=said) for number, name, said in zip((1, 2), _IN_TWO_SCRIPTS, (one, other), strict=True)]
    assert simcrawl.compare(*pages).is_near_duplicate == same


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://de.example.org/a", "de"),
        ("https://example.de/a", ""),
        ("https://example.org/PT-BR/a.html", "pt-br"),
        ("https://example.org/fr", ""),
        ("https://example.org/a/Deutsch/", "deutsch"),
        ("https://example.org/a.zh_TW.html#en", "zh_tw"),
        ("https://example.org/a?l=en;b=2", "en"),
        ("https://example.org", ""),
        ("", ""),
    ],
)
def test_the_language_of_an_address(url: str, language: str) -> None:
    assert names.language(url) == language
    assert names.language(url, " De-AT") == (language or "de-at")


def test_another_text_below_headings_in_two_scripts_is_another_page() -> None:
    text = f"{TEXT}\nCopying slides and moving boats: 스라이드 복사, 보트 이동"
    one, other = _page("Copying slides", text, 1, language="en"), _page("스라이드 복사", f"{text}, today", 2, language="ko")
    assert not simcrawl.compare(one, other).is_near_duplicate


_LOTS = [("Lot 12", "Lot 13"), ("Article 5", "Article 6"), ("第12条", "第13条"), ("Room 101", "Room 102"), ("Report 1990", "Report 1991")]
_IDENTIFIERS = [("CVE-2024-1000", "CVE-2024-1001"), ("RFC 4000", "RFC 4001"), ("Bug #4711 - No way", "Bug #4712 - No way")]
_HOUSES = [("101 Main Street", "103 Main Street")]


_SIZES = [
    *[
        ("Hex bolt 6 mm", "Hex bolt 8 mm"),
        ("6 mm hex bolt", "8 mm hex bolt"),
        ("16 mm hex bolt", "6 mm hex bolt"),
        ("Bolt 6mm", "Bolt 8mm"),
    ],
    *[
        ("Copper wire 1.5 mm\u00b2", "Copper wire 2.5 mm\u00b2"),
        ("Cast iron pan 24-inch", "Cast iron pan 28-inch"),
        ('Pipe 3/4"', 'Pipe 3/8"'),
    ],
    *[
        ("2 bedroom apartment", "3 bedroom apartment"),
        ("Мука 2 кг", "Мука 5 кг"),
        ("Tent for 2 persons", "Tent for 4 persons"),
        ("Tablets 5 \u00b5g", "Tablets 9 \u00b5g"),
        ("Battery 12 V", "Battery 24 V"),
        ("\u87ba\u6813 6 \u6beb\u7c73", "\u87ba\u6813 8 \u6beb\u7c73"),
    ],
    *[
        ("Host 192.0.2.1 in short", "Host 192.0.2.2 in short"),
        ("E11.9 as a code", "E11.8 as a code"),
        ("HS 8471.30 in short", "HS 8471.41 in short"),
    ],
]


@pytest.mark.parametrize(("one", "other"), [*_LOTS, *_IDENTIFIERS, *_HOUSES, *_SIZES])
def test_pages_that_a_number_names_are_no_copies_of_each_other(one: str, other: str) -> None:
    assert not simcrawl.compare(_page(one, TEXT, 1), _page(other, TEXT, 2)).is_near_duplicate
    # Alone, outside the content, where the text speaks of it, or not.
    assert _differ_outside(*(_of(outer=name, title=f"{name} | Shop") for name in (one, other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Installing Debian 11 for amd64", "Installing Debian 12 for amd64"),
        ("Debian for 64-bit PC", "Debian for 32-bit PC"),
        ("What is new in v12.1 of it", "What is new in v12.2 of it"),
        ("Guide 2024.05 of all", "Guide 2024.11 of all"),
        ("Gallery 5 m ago", "Gallery 7 m ago"),
        ("Vienna 12 \u00b0C today", "Vienna 14 \u00b0C today"),
        ("4. Moving boats", "5. Moving boats"),
        ("Chapter 4", "Chapter 4"),
    ],
)
def test_the_numbers_of_releases_machines_and_chapters_name_no_page(one: str, other: str) -> None:
    assert simcrawl.compare(_page(one, TEXT, 1), _page(other, TEXT, 2)).is_near_duplicate


def test_a_number_that_the_title_does_not_have_names_no_page() -> None:
    one, other = (_of(name, title="Lots", prose=english(3)) for name in ("Lot 12", "Lot 13"))
    assert not _differ(one, other)


def _called(heading: str, url: str, *, title: str = "", more: str = "", last: str = "So it is.") -> PageFingerprint:
    paragraphs = "".join(f"<p>{line}</p>" for line in (*TEXT.splitlines(), last))
    head = f"<head><title>{title or heading} | Arbonet</title>{more}</head>"
    made = simcrawl.fingerprint_page(
        f"<html>{head}<body><div><h1>{heading}</h1>{paragraphs}</div></body></html>", url=f"http://example.org/{url}"
    )
    assert isinstance(made, PageFingerprint)
    return made


def _are_copies(one: PageFingerprint, other: PageFingerprint) -> bool:
    return simcrawl.compare(one, other).is_near_duplicate


@pytest.mark.parametrize(
    ("headings", "titles", "same"),
    [
        (("Walnut chair", "Brass lamp"), (), False),
        # Half of the words are those of a series; more are those of one page, for machines, say.
        (("Walnut chair", "Walnut table"), (), False),
        (("The walnut chair", "The walnut table"), (), True),
        (("Guide for amd64", "Guide for i386"), (), True),
        # One with words more is doubtful.
        (("Walnut chair", "Walnut chair, restored"), (), True),
        # Of pages with numbers, and of days, there is no end.
        (("Page 5", "Page 6"), ("Shop", "Shop"), True),
        (("Monday 3rd November 2026", "Tuesday 1st December 2026"), ("Shop", "Shop"), True),
        (("November 2569", "March 2569"), ("Shop", "Shop"), True),
        (("核桃椅子", "黄铜灯"), (), False),
    ],
)
def test_quite_other_headings_that_the_titles_have_are_names(headings: tuple[str, str], titles: tuple[str, ...], same: bool) -> None:
    pages = [
        _called(heading, f"?{number}", title=title)
        for number, (heading, title) in enumerate(zip(headings, titles or headings, strict=True))
    ]
    assert _are_copies(*pages) == same


def test_quite_other_headings_of_pages_that_search_engines_are_to_leave_alone_are_no_names() -> None:
    noindex = '<meta name="robots" content="noindex">'
    assert _are_copies(*(_called(heading, f"?{heading}", more=noindex) for heading in ("Walnut chair", "Brass lamp")))


@pytest.mark.parametrize(
    "headings",
    [
        [f"Page {number}" for number in range(5, 60)],
        [f"{day} {number}{'st' if number == 1 else 'th'} November" for day in ("Monday", "Friday") for number in (1, 5, 7, 9)],
        [f"{month} {year}" for year in (2026, 2569) for month in ("March", "June", "November")],
    ],
)
def test_the_pages_of_a_sequence_have_no_names_of_their_own(headings: list[str]) -> None:
    made = [_of(heading, title="Shop") for heading in headings]
    assert {names.compare(*pair, of_one_site=True) for pair in combinations(made, 2)} == {Naming.SAME}
    # Those of which the titles have the number as well are told apart by that.
    standing = {names._read(_of(heading, title=heading)).second.standing for heading in headings}
    assert standing.isdisjoint({names._IN_TITLE, names._HEADED})


@pytest.mark.parametrize("title", ["Peking university - site", "Peking university_site", "site_Peking university_news"])
def test_a_heading_is_in_a_title_that_joins_it_to_the_site_s_name(title: str):
    assert names._read(_of("Peking university", title=title)).second.standing == names._IN_TITLE


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("Leeds", "York", "Our new shop in {} is looking for help"),
        ("北京", "上海", "工作地点在{}市区"),
        ("札幌", "那覇", "{}支店でのお仕事です"),
        ("서울", "부산", "새로 문을 연 {}에서 함께 일할 직원"),
        ("Oulu", "Turku", "Myymälä on {}ssa keskustassa"),
        ("เชียงใหม่", "นครราชสีมา", "สาขาที่{}กำลังรับสมัคร"),
    ],
)
def test_a_template_has_no_names_in_whatever_form(one: str, other: str, said: str):
    def template(name: str, *, of: str = "") -> set[str]:
        parts = NO_PARTS._replace(paragraphs=(said.format(of or name), "what all of them say"))
        return names._template(parts._replace(values=(name,))) | names._template(parts._replace(heading=f"Vacancy, {name}"))

    assert template(one) == template(other)
    assert template(one) != template(one, of=other)
    # Nor is a release the one before it.
    assert names._template(NO_PARTS._replace(heading="Release 11", paragraphs=("In release 11",))) == {"in 11"}


def test_of_a_long_name_the_first_and_the_last_words_are_known_one_by_one():
    long = " ".join(f"word{chr(97 + number)}" for number in range(24))
    first, last = names._read(_of(f"alpha {long}")), names._read(_of(f"{long} omega"))
    assert len(first.own.words) == len(last.own.words) == 16
    # What is left out in the middle counts for all together.
    middle = long.replace("wordl", "wordz")
    assert names._read(_of(long)).own.set == names._read(_of(middle)).own.set
    assert names._only(names._read(_of(long)).own, names._read(_of(middle)).own)


@pytest.mark.parametrize("titles", [("Shop", "Shop"), ("Walnut chair", "Shop")])
def test_quite_other_headings_that_the_titles_do_not_have_are_names_on_one_site(titles: tuple[str, str]) -> None:
    chair, lamp = (_called(heading, "?1", title=title) for heading, title in zip(("Walnut chair", "Brass lamp"), titles, strict=True))
    assert not _are_copies(chair, replace(lamp, url="http://www.example.org/?2"))
    # On another site they may be its name.
    assert _are_copies(chair, replace(lamp, url="http://example.com/?2"))


def test_quite_other_headings_outside_the_contents_are_names_where_there_is_no_other() -> None:
    wooden, brass, third = (_of(outer=name, title=f"{name} - Shop") for name in ("Walnut chair", "Brass lamp", "Walnut chair, restored"))
    assert names.compare_outside(wooden, brass) is Naming.OTHER
    assert names.compare_outside(wooden, third) is Naming.SAME
    # Above contents with a heading of their own they are doubtful.
    terms = (_of("Terms of hire", outer=name, title=f"{name} - Shop") for name in ("Walnut chair", "Brass lamp"))
    assert names.compare_outside(*terms) is Naming.LONGER


@pytest.mark.parametrize(
    ("slugs", "same"),
    [
        (("jobs/welder", "jobs/nurse"), False),
        (("jobs/Welder.html", "jobs/Nurse.html"), False),
        (("jobs/welder-wanted/", "jobs/nurse_wanted/"), False),
        (("jobs/w%65lder", "jobs/nurs%65"), False),
        # Directories are those of releases and mirrors, and queries of anything.
        (("welder/1.html", "nurse/1.html"), True),
        (("jobs?welder", "jobs?nurse"), True),
        (("#welder", "#nurse"), True),
        (("", ""), True),
    ],
)
def test_an_address_made_of_the_heading_names_a_page(slugs: tuple[str, str], same: bool) -> None:
    pages = [_called(f"{name} wanted by our company", slug) for name, slug in zip(("Welder", "Nurse"), slugs, strict=True)]
    assert _are_copies(*pages) == same


def test_an_address_counts_only_with_the_title_and_for_pages_that_are_to_be_found() -> None:
    names_alone = [_called(f"{name} wanted by our company", name, title="Jobs") for name in ("welder", "nurse")]
    assert _are_copies(*names_alone)
    noindex = '<meta name="robots" content="noindex">'
    assert _are_copies(*(_called(name, name, more=noindex) for name in ("welder", "nurse")))
    assert not _are_copies(*(_called(name, name) for name in ("welder", "nurse")))


def test_one_name_at_two_addresses_is_one_page() -> None:
    assert _are_copies(_called("Welder wanted", "welder-wanted"), _called("Welder wanted", "welder-wanted-2"))
    assert _are_copies(_called("Welder wanted", "welder-wanted"), _called("Welder wanted", "print"))


@pytest.mark.parametrize(
    ("slugs", "titles", "same"),
    [
        (("api/ByteArray.html", "api/LongArray.html"), ("ByteArray", "LongArray"), False),
        (("api/index.html", "api/index.html?2"), ("ByteArray", "LongArray"), True),
        (("1.2/ByteArray.html", "2.0/ByteArray.html"), ("ByteArray 1.2", "ByteArray 2.0"), True),
        (("api/ByteArray.html", "api/LongArray.html"), ("Arrays", "Arrays"), True),
        # As doxygen, mdBook, texinfo and the C# reference of Berkeley DB write them.
        (("classgr_1_1video__sdl.html", "classgr_1_1fir__filter.html"), ("gr::video_sdl", "gr::fir_filter"), False),
        (("features/map-entry.html", "features/abi-ptx.html"), ("map_entry", "abi_ptx"), False),
        (("Grob_005fpq_005fengraver.html", "Note_005fname_005fengraver.html"), ("Grob_pq_engraver", "Note_name_engraver"), False),
        (("Methods_T_HashCursor.htm", "Methods_T_TreeCursor.htm"), ("HashCursor Methods", "TreeCursor Methods"), False),
        (("logic/index.html", "matrices/"), ("Logic", "Matrices"), False),
        # Three letters may stand in any word.
        (("clogs.html", "cards.html"), ("Log", "Car"), True),
    ],
)
def test_where_all_headings_are_alike_title_and_address_name_a_page(slugs: tuple[str, str], titles: tuple[str, str], same: bool) -> None:
    lasts = ("So it is.", "So it may be.")
    pages = [_called("Methods", slug, title=title, last=last) for slug, title, last in zip(slugs, titles, lasts, strict=True)]
    assert _are_copies(*pages) == same


def _signed(name: str, *, title: str = "") -> bytes:
    lines = names.lines((name, ""), "", title or f"{name} - Arbonet")
    return names.of(_cut(lines), _cut(f"{name} {PROSE}"), NO_HASHES, NO_PARTS._replace(heading=name))


@pytest.mark.parametrize("title", ["{} to {} | Units", "Units"])
def test_there_and_back_are_two_pages(title: str) -> None:
    pages = []
    for one, other in (("Miles", "Furlongs"), ("Furlongs", "Miles")):
        text = "".join(f"<p>{line}</p>" for line in english(80).splitlines())
        head = f"<title>{title.format(one, other)}</title>"
        html = f"<html><head>{head}</head><body><main><h1>{one} to {other}</h1><p>From {one} to {other}.</p>{text}</main></body></html>"
        pages.append(simcrawl.fingerprint_page(html, url=f"http://x.test/{one}-to-{other}"))
    there, back = pages
    assert isinstance(there, PageFingerprint)
    assert isinstance(back, PageFingerprint)
    assert not simcrawl.compare(there, back).is_near_duplicate
    assert simcrawl.compare(there, replace(there, url="http://x.test/print")).is_near_duplicate


def test_a_name_that_is_nothing_but_signs_is_one_where_the_title_has_it() -> None:
    assert names.compare(_signed("+:"), _signed(":+")) is Naming.OTHER
    assert names.compare(_signed("+:"), _signed("+:", title="+: | Forestia")) is Naming.SAME
    assert names.compare(_signed("* * *", title="Arbonet"), _signed("---", title="Arbonet")) is Naming.SAME


def test_headings_outside_that_each_page_speaks_of_make_other_pages() -> None:
    prose = f"{PROSE} arbonet"
    assert names.compare_outside(_of(outer="The cedar"), _of(outer="The maple")) is Naming.OTHER
    assert names.compare_outside(_of(outer="Arbonet", prose=prose), _of(outer="Forestia")) is Naming.LONGER
    assert names.compare_outside(_of(outer="cedar"), _of(outer="cedar maple")) is Naming.LONGER


def test_where_a_table_is_the_contents_what_stands_beside_it_may_speak_of_the_page() -> None:
    spoken = [_of(outer=name, prose=english(3), beside=f"All members of {name}, inherited ones too") for name in ("Button", "Slider")]
    assert names.compare_outside(*spoken) is Naming.OTHER
    # The heading alone says nothing: it may be the site's, as it is where the contents have one of their own.
    assert names.compare_outside(*(_of(outer=name, prose=english(3)) for name in ("Button", "Slider"))) is not Naming.OTHER
    own = [_of("Members", outer=name, prose=english(3), beside=f"All of {name}") for name in ("Button", "Slider")]
    assert names.compare_outside(*own) is not Naming.OTHER


def _boxed(name: str, box: str, number: int, *, more: str = "") -> PageFingerprint:
    rows = "".join(f"<tr><td>{line[:60]}</td><td>inherited</td></tr>" for line in english(700).splitlines())
    about = f"<p>These are all members of {name}.</p>"
    html = f"<title>Arbonet: members</title><body>{more}{box.format(name)}{about}<table>{rows}</table>"
    made = simcrawl.fingerprint_page(html, url=f"http://example.org/{number}")
    assert isinstance(made, PageFingerprint)
    return made


@pytest.mark.parametrize(
    ("box", "same"),
    [
        ("<div class='title'>{}</div>", False),
        ("<div class='page-title big'><span>{}</span></div>", False),
        ("<div class='pageTitle'>{}</div>", False),
        ("<div class='ProductHeading'>{}</div>", False),
        ("<div class='subtitles'>{}</div>", True),
        ("<div class='site-title'>{}</div>", True),
        ("<div>{}</div>", True),
        # A link leads to another page.
        ("<div class='title'><a href='/'>{}</a></div>", True),
    ],
)
def test_a_page_without_an_h1_is_called_what_its_one_box_for_a_title_says(box: str, same: bool) -> None:
    assert _are_copies(_boxed("Button", box, 1), _boxed("Slider", box, 2)) == same
    # Neither where a heading names it, nor where several boxes are called so, as in the rows of a list.
    assert _are_copies(_boxed("Button", box, 1, more="<h1>Members</h1>"), _boxed("Slider", box, 2, more="<h1>Members</h1>"))
    listed = box.format("Members")
    assert _are_copies(_boxed("Button", box, 1, more=listed), _boxed("Slider", box, 2, more=listed))


def _handbook(name: str, number: int, *, title: str) -> PageFingerprint:
    html = f"<title>{title}</title><h1>{name}</h1><p>{english(120)}</p><p>This is {name}</p>"
    made = simcrawl.fingerprint_page(html, url=f"http://x.test/?id={number}")
    assert isinstance(made, PageFingerprint)
    return made


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("C++", "C#"), ("Type A+", "Type A-"), ("Rated AA", "Rated AA+"), ("Notepad", "Notepad++"), ("At -5.5", "At 5.5")],
)
def test_signs_at_a_word_that_heading_and_title_have_make_another_name(one: str, other: str) -> None:
    first, second, again = (_handbook(name, number, title=f"{name} - Handbook") for number, name in enumerate((one, other, one)))
    assert not simcrawl.compare(first, second).is_near_duplicate
    assert simcrawl.compare(first, again).is_near_duplicate


def test_a_sign_that_the_title_does_not_have_is_an_anchor_or_a_star() -> None:
    first, second = (_handbook(name, number, title="Chapter") for number, name in enumerate(("Chapter", "Chapter#")))
    assert simcrawl.compare(first, second).is_near_duplicate


@pytest.mark.parametrize(
    ("url", "end"),
    [
        ("https://a.test/2017/05/boats/?replytocom=12#respond", "boats"),
        ("https://a.test/boats.html?utm_source=b&utm_medium=c", "boats"),
        ("https://a.test/boats.do;jsessionid=AF17", "boats"),
        ("https://a.test/boats.html?id=7&utm_source=b", ""),
        ("https://a.test/boats.do;jsessionid=AF17?id=4711", ""),
        ("https://a.test/boats.php?sid=3fa81c09d23fa81c09d23fa81c09d2aa", ""),
    ],
)
def test_parameters_of_a_visitor_say_nothing_of_where_an_address_ends(url: str, end: str):
    assert names._slug(url) == end
