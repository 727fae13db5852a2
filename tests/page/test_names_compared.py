from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, strategies as st

import simcrawl
from simcrawl.page import names, names_compared, names_record
from simcrawl.page.blocks import NO_PARTS
from simcrawl.page.fingerprint import NO_HASHES, PageFingerprint
from simcrawl.page.hashing import hash_units
from simcrawl.page.names_compared import Naming
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Callable
from tests.page.named import (
    PROSE,
    TEXT,
    are_copies,
    called,
    cut,
    differ,
    differ_outside,
    names_of,
    page_of,
    with_paragraphs,
    with_parts,
    with_rows,
    with_values,
)


def test_a_name_with_words_more_is_told_from_another_one():
    assert names_compared.compare(names_of("The cedar"), names_of("The cedar and willow")) is Naming.LONGER
    assert names_compared.compare(names_of("The cedar"), names_of("The willow")) is Naming.OTHER
    # What stands under it tells more.
    assert names_compared.compare(names_of("The cedar", facts="200 g"), names_of("The cedar and willow", facts="300 g")) is Naming.OTHER
    assert names_compared.compare(names_of("The cedar", facts="200 g"), names_of("The cedar and willow")) is Naming.LONGER


def test_names_of_the_same_words_in_another_order_are_other_names():
    there, back = (names_of(f"From {one} to {other}", title=f"{one} to {other}") for one, other in (("cedar", "birch"), ("birch", "cedar")))
    assert names_compared.compare(there, back) is names_compared.compare(back, there) is Naming.OTHER
    outside = [
        names_of(outer=f"{one} to {other}", beside="cedar birch cedar birch") for one, other in (("cedar", "birch"), ("birch", "cedar"))
    ]
    assert names_compared.compare_outside(*outside) is Naming.OTHER
    # Of words that come again the first place counts: "Terms - Liquid", and with the site's name behind it.
    plain, signed = (names_of("From cedar to birch", title=title) for title in ("The cedar - birch", "The cedar - birch - The birch"))
    assert not differ(plain, signed)
    # And where the page does not speak of them they name nothing.
    assert not differ(names_of("Oak and ash"), names_of("Ash and oak"))


def test_pages_of_one_title_are_called_the_same():
    assert not differ(names_of("The cedar", title="On willow"), names_of("The maple", title="On willow"))
    # Of a site's name that no prose speaks of that says nothing.
    assert differ(names_of("The cedar", title="Arbonet"), names_of("The maple", title="Arbonet"))
    assert differ(names_of("The cedar", title="On willow"), names_of("The maple", title="On birch"))


def test_pages_without_a_heading_or_names_are_not_called_differently():
    for other in (b"", names_of(), names_of(outer="The maple")):
        assert not differ(names_of("The cedar"), other)
        assert not differ(other, b"")
    assert not differ_outside(names_of(outer="The cedar"), b"")
    assert not differ_outside(names_of(outer="The cedar"), names_of("The maple"))


def test_headings_outside_tell_apart_by_words_that_the_prose_speaks_of():
    assert differ_outside(names_of(outer="The cedar"), names_of(outer="The maple"))
    assert not differ_outside(names_of(outer="Arbonet"), names_of(outer="Arbonet Forestia"))
    assert differ_outside(names_of(outer="Arbonet"), names_of(outer="Forestia"))
    assert not differ_outside(names_of(outer="The cedar", title="On willow"), names_of(outer="The maple", title="On willow"))
    assert not differ(names_of(outer="The cedar"), names_of(outer="The maple"))


def test_what_both_headings_say_is_said_inside():
    assert names_of("The cedar", outer="cedar maple") == names_of("The cedar", outer="maple")


@pytest.mark.parametrize(("units", "known"), [(1.0, 1.0), (1.5, 1.5), (1.98, 2.0), (6.0, 6.0)])
def test_how_many_units_make_a_word_is_known_to_a_sixteenth(units: float, known: float):
    texts = cut(names.lines(("Oak", ""), "", "")), cut(PROSE), NO_HASHES, NO_PARTS
    made, plain = names.of(*texts, units_of_a_word=units), names.of(*texts)
    assert names_compared.units_of_a_word(made) == known
    assert (made == plain) == (units == 1)
    assert names_compared.units_of_a_word(b"") == 1
    assert not differ(made, plain)


_ROWS = st.lists(st.integers(0, 40), max_size=24)


@given(_ROWS, _ROWS, st.integers(1, 4), st.sampled_from([0.0, 0.05, 0.15, 0.5]))
def test_lines_that_each_page_has_for_itself(a: list[int], b: list[int], least: int, share: float):
    lines = [[f"Row {number}." for number in rows] for rows in (a, b)]
    # Two bytes each agree by chance now and then: that is of another test.
    distinct = names._values(lines[0]) | names._values(lines[1])
    assume(len(names._digests(names._hashes([distinct], 1)[0])) == len(distinct))
    pages = [with_values(page) for page in lines]
    # A line that stands there twice is two.
    exchanged = min((Counter(a) - Counter(b)).total(), (Counter(b) - Counter(a)).total())
    expected = bool(a and b) and exchanged >= least and exchanged >= share * min(len(a), len(b))
    assert (
        names_compared.hold_others(*pages, least=least, share=share)
        == names_compared.hold_others(*pages[::-1], least=least, share=share)
        == expected
    )


@given(_ROWS, _ROWS)
def test_lines_that_one_page_has_more(a: list[int], b: list[int]):
    lines = [[f"Row {number}." for number in rows] for rows in (a, b)]
    distinct = names._values(lines[0]) | names._values(lines[1])
    assume(len(names._digests(names._hashes([distinct], 1)[0])) == len(distinct))
    assert names_compared.holds_more(*map(with_values, lines)) == bool(Counter(a) - Counter(b))


def test_lines_are_exchanged_below_the_same_paragraphs():
    def of(*values: str, heading: str = "", paragraph: str = PROSE, below: str = "") -> bytes:
        parts = NO_PARTS._replace(values=values, heading=heading, paragraphs=(paragraph,), subheadings=(below,))
        called = cut(names.lines((heading, ""), "", heading))
        return names.of(called, cut(f"{heading}\n{paragraph}"), cut("").hashes, parts)

    assert names_compared.exchange_a_line(of("Oak", below="Dover"), of("Oak", below="Hull"))
    assert names_compared.holds_more(of("Oak", below="Dover"), of("Oak", below="Hull"))
    assert not names_compared.exchange_a_line(of("Oak", below="Comments (5)"), of("Oak", below="Comments (7)"))
    assert not names_compared.exchange_a_line(of("Oak"), of("Oak", below="Hull"))
    assert names_compared.exchange_a_line(of("Oak", "Red"), of("Oak", "Blue"))
    assert names_compared.exchange_a_line(of("Oak", heading="A chair"), of("Oak", heading="A table"))
    assert not names_compared.exchange_a_line(of("Oak", "Red"), of("Oak", "Red"))
    assert not names_compared.exchange_a_line(of("Oak", "Red"), of("Oak", "Blue", "Print"))
    assert not names_compared.exchange_a_line(of("Oak", "Red"), of("Oak", "Blue", paragraph="Something else."))
    assert not names_compared.exchange_a_line(of("Oak", heading="Page 1"), of("Oak", heading="Page 2"))
    assert not names_compared.exchange_a_line(b"", of("Oak"))


_PARAGRAPHS = st.sets(st.integers(0, 9), min_size=2, max_size=8)


@given(_PARAGRAPHS, _PARAGRAPHS, st.integers(0, 40))
def test_a_paragraph_in_the_place_of_another_one_is_found_however_many_there_are(a: set[int], b: set[int], more: int):
    shared = [f"Paragraph {number} of all." for number in range(more)]
    made = (names_record.read(with_paragraphs([*shared, *(f"Paragraph {number}." for number in one)])).paragraphs for one in (a, b))
    own = len(a - b), len(b - a)
    assert names_compared._exchanged_paragraphs(*made) == (own if own in ((1, 1), (1, 0), (0, 1)) else (0, 0))


def test_one_paragraph_is_exchanged_for_another_or_for_a_line():
    one, other, third = ([*map(str, range(3)), text] for text in ("The cedar.", "The birch.", "The maple."))
    assert names_compared.exchange_a_paragraph(*map(with_paragraphs, (one, other)))
    assert names_compared.exchange_a_paragraph(with_paragraphs(one), with_paragraphs(one[:3], "Birch"))
    assert not names_compared.exchange_a_paragraph(with_paragraphs(one), with_paragraphs(one[:3]))
    assert not names_compared.exchange_a_paragraph(with_paragraphs(one), with_paragraphs(one))
    assert not names_compared.exchange_a_paragraph(with_paragraphs([*one, "Oak."]), with_paragraphs([*other[:3], "Elm.", "Ash."]))
    # Of pages of one paragraph nothing is the same.
    assert not names_compared.exchange_a_paragraph(*(with_paragraphs(text[3:]) for text in (other, third)))
    # Of older versions nobody knows.
    assert not names_compared.exchange_a_paragraph(_before(with_paragraphs(one)), with_paragraphs(other))
    assert not names_compared.exchange_a_paragraph(b"", with_paragraphs(other))


def test_rows_are_exchanged_whatever_their_order():
    yes_and_no = ("Ann", "yes"), ("Bo", "no")
    other = with_rows(("Ann", "no"), ("Bo", "yes"))
    for exchange in (names_compared.exchange_rows, names_compared.exchange_values, names_compared.exchange_a_line):
        assert exchange(with_rows(*yes_and_no), other)
        assert not exchange(with_rows(*yes_and_no), with_rows(("BO", "no"), ("Ann", "yes")))
        # Who plays at home.
        assert exchange(with_rows(("Leeds", "York")), with_rows(("York", "Leeds")))
        # One cell alone is a line, and no table says nothing.
        assert not exchange(with_rows(("Ann",)), other)
        assert not exchange(b"", other)
    assert not names_compared.exchange_values(with_rows(*yes_and_no), with_rows(("Ann", "no"), paragraph="Something else."))
    labelled = [with_rows(values=(line,)) for line in ("Oak: red", "Oak: blue", "Views: 7", "Views: 8")]
    assert names_compared.exchange_rows(*labelled[:2])
    assert not names_compared.exchange_rows(*labelled[2:])


@pytest.mark.parametrize("kind", ["rows", "lines"])
def test_texts_that_end_alike_do_not_cancel_out(kind: str):
    people = [f"{name} {family}" for family in ("Hay", "Lund", "Moss") for name in ("Ann", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal")]
    made = set()
    for number in range(20):
        votes = [(name, "no" if place in (number, number + 2) else "yes") for place, name in enumerate(people)]
        page = with_rows(*votes) if kind == "rows" else with_rows(values=tuple(f"{name}\n{vote}" for name, vote in votes))
        made.add(getattr(names_record.read(page).mixed, kind))
    assert len(made) == 20


def test_pages_that_begin_with_other_lines_below_the_same_paragraphs_have_other_values():
    assert names_compared.exchange_values(with_rows(values=("Cedar", "wood")), with_rows(values=("Birch", "wood")))
    assert not names_compared.exchange_values(with_rows(values=("a", "wood", "Cedar")), with_rows(values=("a", "wood", "Birch")))
    assert not names_compared.exchange_values(with_rows(values=("Cedar",)), with_rows())


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
    made = (names.of(cut(names.lines(("", ""), "", "")), cut(PROSE), NO_HASHES, NO_PARTS, url=f"http://a.test{url}") for url in urls)
    one, other = (names_record.read(page).second.end for page in made)
    assert (one == other) is alike


def test_names_are_exchanged_below_the_same_paragraphs():
    def of(heading: str, *values: str, title: str = "{}", paragraph: str = PROSE) -> bytes:
        parts = NO_PARTS._replace(values=values, heading=heading, paragraphs=(paragraph,))
        called = cut(names.lines((heading, ""), "", title.format(heading)))
        return names.of(called, cut(f"{heading}\n{paragraph}"), cut("").hashes, parts)

    for exchanged in (names_compared.exchange_names, names_compared.exchange_a_line):
        assert exchanged(of("A chair", "Red"), of("A table", "Red", "Blue"))
        assert not exchanged(of("A chair"), of("A chair"))
        assert not exchanged(of("A chair"), of("A table", paragraph="Something else."))
        assert not exchanged(b"", of("A chair"))
    assert not names_compared.exchange_names(of("A chair", title="Furniture"), of("A table", title="Furniture"))
    assert not names_compared.exchange_names(of("A chair", "Red"), of("A chair", "Blue"))


@given(st.integers(25, 400), st.integers(0, 20))
def test_of_many_lines_those_with_the_smallest_values_are_compared(many: int, more: int):
    lines = [f"row {number}" for number in range(many)]
    a, b = with_values(lines), with_values([*lines, *(f"other row {number}" for number in range(more))])
    # What is left out says nothing.
    assert not names_compared.hold_others(a, b, least=1, share=0)
    others = with_values([f"{line}, another" for line in lines])
    assert names_compared.hold_others(a, others, least=2, share=0.9)
    assert len(a) <= 2 * (3 + 5 + 1 + 24 + 6 + 2)


def test_lines_that_differ_in_signs_at_their_ends_or_in_case_are_one():
    assert not names_compared.hold_others(with_values(["Blue #", "Red:"]), with_values(["blue", "RED"]), least=1, share=0)


def test_pages_without_lines_or_of_an_older_version_hold_no_others():
    blue = with_values(["Blue"])
    for other in (b"", with_values([]), names_of("The cedar")):
        assert not names_compared.hold_others(blue, other, least=1, share=0)


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
    return int(cut(word).hashes[0]) >> 49


def _line_bytes(line: str) -> int:
    return int(hash_units({line}, seed=1)[0]) >> 48


def _fact_bytes(word: str) -> int:
    return int(cut(word).hashes[0]) >> 1 & 0x7FFF


WORDS, LINES, FACTS = _alike(_two_bytes), _alike(_line_bytes), _alike(_fact_bytes)


def _before(made: bytes) -> bytes:
    """Return what versions wrote that knew no second digests."""
    return with_parts(made, 5)


def test_headings_whose_words_have_the_same_two_bytes_tell_pages_apart():
    one, other = (names_of(f"The {word}", prose=f"{PROSE} {' '.join(WORDS)}") for word in WORDS)
    assert names_compared.compare(one, other) is names_compared.compare(other, one) is Naming.OTHER
    assert not differ(_before(one), other)
    assert not differ(_before(one), _before(other))
    # Of which nobody speaks.
    assert not differ(*(names_of(word) for word in WORDS))
    one, other = (names_of(outer=f"The {word}", prose=f"{PROSE} {' '.join(WORDS)}") for word in WORDS)
    assert names_compared.compare_outside(one, other) is names_compared.compare_outside(other, one) is Naming.OTHER
    assert not differ_outside(_before(one), other)
    assert names_compared.compare_outside(*(names_of(outer=word) for word in WORDS)) is Naming.LONGER


def test_titles_and_facts_that_have_the_same_two_bytes_are_not_the_same():
    one, other = (f"On {word} and willow" for word in WORDS)
    assert differ(names_of("The cedar", title=one), names_of("The maple", title=other))
    assert not differ(names_of("The cedar", title=one), names_of("The maple", title=one))
    assert not differ(_before(names_of("The cedar", title=one)), names_of("The maple", title=other))
    below = [names_of(heading, facts=word) for heading, word in zip(("Arbonet: trees", "Forestia: plants"), FACTS, strict=True)]
    assert differ(*below)
    assert not differ(_before(below[0]), below[1])


def test_lines_and_pictures_that_have_the_same_two_bytes_are_not_the_same():
    one, other = (with_values(["Blue", line]) for line in LINES)
    assert names_compared.hold_others(one, other, least=1, share=0)
    assert not names_compared.hold_others(_before(one), other, least=1, share=0)
    assert not names_compared.hold_others(one, other, least=2, share=0)
    one, other = (with_values([], pictures=("blue", line)) for line in LINES)
    assert names_compared.show_others(one, other)
    assert names_compared.show_others(other, one)
    assert not names_compared.show_others(_before(one), other)
    # So that no page is told as changed for what this version writes.
    assert names_compared.pictures(_before(one)) == names_compared.pictures(one) == names_compared.pictures(other)


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
    pages = (page_of(heading, text, 0, url=f"http://a.test/{release}/ko/slides.html") for heading, release in ((one, 1), (other, 2)))
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
    pages = [page_of(name, text, 0, url=f"http://example.org{url}") for name, url in zip(_IN_TWO_SCRIPTS, (one, other), strict=True)]
    assert simcrawl.compare(*pages).is_near_duplicate == simcrawl.compare(*pages[::-1]).is_near_duplicate == same


@pytest.mark.parametrize(("one", "other", "same"), [("en", "ko", True), ("", "ko", True), ("ko", "ko", False), ("", "", False)])
def test_names_in_two_scripts_are_translations_where_the_pages_say_so(one: str, other: str, same: bool) -> None:
    text = f"{TEXT}\nCopying slides: \uc2a4\ub77c\uc774\ub4dc \ubcf5\uc0ac"
    pages = [page_of(name, text, number, language=said) for number, name, said in zip((1, 2), _IN_TWO_SCRIPTS, (one, other), strict=True)]
    assert simcrawl.compare(*pages).is_near_duplicate == same


def test_another_text_below_headings_in_two_scripts_is_another_page() -> None:
    text = f"{TEXT}\nCopying slides and moving boats: 스라이드 복사, 보트 이동"
    one, other = page_of("Copying slides", text, 1, language="en"), page_of("스라이드 복사", f"{text}, today", 2, language="ko")
    assert not simcrawl.compare(one, other).is_near_duplicate


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
        called(heading, f"?{number}", title=title) for number, (heading, title) in enumerate(zip(headings, titles or headings, strict=True))
    ]
    assert are_copies(*pages) == same


def test_quite_other_headings_of_pages_that_search_engines_are_to_leave_alone_are_no_names() -> None:
    noindex = '<meta name="robots" content="noindex">'
    assert are_copies(*(called(heading, f"?{heading}", more=noindex) for heading in ("Walnut chair", "Brass lamp")))


@pytest.mark.parametrize("titles", [("Shop", "Shop"), ("Walnut chair", "Shop")])
def test_quite_other_headings_that_the_titles_do_not_have_are_names_on_one_site(titles: tuple[str, str]) -> None:
    chair, lamp = (called(heading, "?1", title=title) for heading, title in zip(("Walnut chair", "Brass lamp"), titles, strict=True))
    assert not are_copies(chair, replace(lamp, url="http://www.example.org/?2"))
    # On another site they may be its name.
    assert are_copies(chair, replace(lamp, url="http://example.com/?2"))


def test_quite_other_headings_outside_the_contents_are_names_where_there_is_no_other() -> None:
    wooden, brass, third = (
        names_of(outer=name, title=f"{name} - Shop") for name in ("Walnut chair", "Brass lamp", "Walnut chair, restored")
    )
    assert names_compared.compare_outside(wooden, brass) is Naming.OTHER
    assert names_compared.compare_outside(wooden, third) is Naming.SAME
    # Above contents with a heading of their own they are doubtful.
    terms = (names_of("Terms of hire", outer=name, title=f"{name} - Shop") for name in ("Walnut chair", "Brass lamp"))
    assert names_compared.compare_outside(*terms) is Naming.LONGER


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


def test_headings_outside_that_each_page_speaks_of_make_other_pages() -> None:
    prose = f"{PROSE} arbonet"
    assert names_compared.compare_outside(names_of(outer="The cedar"), names_of(outer="The maple")) is Naming.OTHER
    assert names_compared.compare_outside(names_of(outer="Arbonet", prose=prose), names_of(outer="Forestia")) is Naming.LONGER
    assert names_compared.compare_outside(names_of(outer="cedar"), names_of(outer="cedar maple")) is Naming.LONGER
