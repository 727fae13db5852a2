"""What pages are called, word by word, and by the verdict on two pages of one text."""

from __future__ import annotations

import unicodedata
from itertools import combinations
from urllib.parse import quote

import pytest
from hypothesis import given, strategies as st

import simcrawl
from simcrawl.page import names, names_compared, names_record
from simcrawl.page.blocks import NO_PARTS
from simcrawl.page.cut import cut_lines
from simcrawl.page.fingerprint import NO_HASHES, PageFingerprint
from simcrawl.page.names_compared import Naming
from tests.page.named import PROSE, TEXT, are_copies, called, cut, differ, differ_outside, names_of, page_of, with_paragraphs, with_values
from tests.samples import chinese, english


def test_headings_whose_words_come_back_tell_pages_apart():
    assert differ(names_of("The cedar"), names_of("The maple"))
    assert differ(names_of("The cedar"), names_of("The cedar and willow"))


def test_words_that_do_not_come_back_tell_nothing():
    assert not differ(names_of("Arbonet: trees"), names_of("Forestia: plants"))
    # But for what stands under them.
    assert differ(names_of("Arbonet: trees", facts="200 g"), names_of("Forestia: plants", facts="300 g"))
    assert not differ(names_of("Arbonet: trees", facts="200 g"), names_of("Forestia: plants", facts="200 g"))


def test_the_case_of_words_and_their_signs_tell_nothing():
    assert names_of("The cedar, the MAPLE") == names_of("the CEDAR - the maple")


@pytest.mark.parametrize("number", ["4.2 ", "4. ", "Chapter 3. ", "Appendix B. ", "IV. ", "A.1 ", "第三章 ", "3节 "])
def test_numbers_in_front_number_a_page(number: str):
    numbered = names_of(f"{number}The cedar", outer=f"{number}Maple", title=f"{number}The cedar")
    plain = names_of("The cedar", outer="Maple", title="The cedar")
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
    assert differ(names_of(one, prose=f"{PROSE} {one}"), names_of(other, prose=f"{PROSE} {other}"))
    assert names._words_of(f"{one} 12") == {one}
    assert names._squeezed(one) != names._squeezed(other)
    assert names._addressed(f"http://a.test/{one}", f"{one} {other}", "") == {one}
    assert names._numbers(f"{one} 12") == ["12"]


def test_accents_are_on_their_letters_whichever_way_they_were_written():
    for text in ("Caf\xe9 B\xe4r", "\u1ec7 \u0928\u0929"):
        apart = unicodedata.normalize("NFD", text)
        assert names.lines((apart, apart), apart, apart, f"http://a.test/{apart}") == names.lines(
            (text, text), text, text, f"http://a.test/{text}"
        )
        assert names_of(apart) == names_of(text)
        assert with_values([apart, "Oak"]) == with_values([text, "Oak"]) == with_values([f"{text[:2]}\xad{text[2:]}", "Oak"])


@pytest.mark.parametrize("words", ["Part of the cedar", "Ivy and cedar", "Chapters of cedar", "A cedar"])
def test_a_word_in_front_is_no_number(words: str):
    assert names_of(words) != names_of("cedar")
    assert len(names_of(words)) == len(names_of("cedar")) + 2 * (len(words.split()) - 1)


def test_versions_are_left_out_of_titles_only():
    assert names_of("The cedar", title="Cedar 1.2.3") == names_of("The cedar", title="Cedar v2.0")
    assert names_of("The cedar 1.2.3") != names_of("The cedar 2.0")


def test_a_version_that_the_heading_names_too_is_what_a_page_is_about():
    prose = "Django 1.4.14 mends what 1.4.13 left"
    notes = names_of("Django 1.4.14 notes", title="Django 1.4.14 notes, Django 4.2", prose=prose)
    assert notes == names_of("Django 1.4.14 notes", title="Django 1.4.14 notes, Django 3.2", prose=prose)
    other = names_of("Django 1.5.9 notes", title="Django 1.5.9 notes, Django 4.2", prose="Django 1.5.9 mends what 1.5.8 left")
    assert names_compared.compare(notes, other) is Naming.OTHER


def test_long_headings_take_bounded_room():
    many = english(60)
    assert len(names_of(many, outer=chinese(60), facts=many, title=many)) <= 2 * (3 + 16 + 1 + 16 + 4 + 20)


_words = st.lists(st.sampled_from(["cedar", "maple", "oak", "1.2", "Chapter 3.", "北京", "\n", "\ud800", "!"]), max_size=24).map(" ".join)


@given(_words, _words, _words, _words)
def test_a_page_is_called_as_itself(heading: str, outer: str, facts: str, title: str):
    made = names_of(heading, outer=outer, facts=facts, title=title)
    assert not differ(made, made)
    assert not differ_outside(made, made)
    lines = names.lines((heading, outer), facts, title)
    assert len(lines.splitlines()) == 8
    # Of a text among others it is the same.
    among = cut_lines(["", "one two", lines, outer], seed=1)
    assert names.of(among[2], cut(f"{heading}\n{PROSE}"), among[3].hashes, NO_PARTS._replace(heading=heading)) == made


# ---- whether it is to be left alone


def test_a_page_that_asks_search_engines_to_leave_it_alone_says_so_and_others_say_nothing():
    texts = cut(names.lines(("", ""), "", "")), cut(PROSE), NO_HASHES, NO_PARTS
    plain, left = (names.of(*texts, noindex=noindex) for noindex in (False, True))
    assert names_compared.is_left_alone(left)
    assert not names_compared.is_left_alone(plain)
    # What older versions wrote is what is written now, and less.
    assert names.of(*texts) == plain
    assert len(plain) < len(left)
    assert not names_compared.is_left_alone(b"")
    assert not differ(plain, left)


# ---- short lines


@pytest.mark.parametrize("row", [("Views", "93"), ("93 results", "in all"), ("12", "13", "14"), ("30", "31"), ("Ann",)])
def test_what_has_no_end_is_no_row(row: tuple[str, ...]):
    assert names._rows([row]) == set()


_OF_LISTS = [
    ("共 12 页", "3"),
    ("第12页", "a"),
    ("共 12 条记录", "a"),
    ("页码", "3"),
    ("页：3", "a"),
    ("12 个条目", "a"),
    ("Ergebnisse", "3"),
    ("страницам", "3"),
]


@pytest.mark.parametrize("row", _OF_LISTS)
def test_what_lists_say_of_themselves_is_no_row(row: tuple[str, ...]):
    assert names._rows([row]) == set()


# Words in which those of lists are: "file", "software", "condition", "web page", a law's article, a report of results.
_WITHIN_OTHERS = ["文件", "软件 512", "3 条件", "网页", "3 页面", "刑法 第512条", "第 512 条", "Ergebnisbericht 512"]


@pytest.mark.parametrize("cell", _WITHIN_OTHERS)
def test_words_that_have_those_of_lists_in_them_are_rows(cell: str):
    assert len(names._rows([(cell, "ext4")])) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("软件 512", "软件 513"), ("刑法 第512条", "刑法 第513条"), ("Ergebnisbericht 512", "Ergebnisbericht 513")]
)
def test_a_number_in_a_heading_is_the_pages_own_beside_such_words(one: str, other: str):
    assert names._has_its_own_number(one, "")
    assert names._has_its_own_number(other, "")


@pytest.mark.parametrize("row", [("12", "13", "15"), ("3", "9" * 5_000), ("Ann", "12"), ("1.08", "USD")])
def test_numbers_are_rows_where_they_are_no_week(row: tuple[str, ...]):
    assert len(names._rows([row])) == 1


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
    made = (names_record.read(with_paragraphs(["The cedar.", "The birch.", one])).paragraphs for one in (paragraph, "The maple."))
    assert names_compared._exchanged_paragraphs(*made) == ((1, 1) if counts else (0, 1))


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
    a, b = (with_values(["Size", "large", line, line]) for line in (one, other))
    assert names_compared._exchanged(names_record.read(a), names_record.read(b))[0] == own


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
    assert names_compared.hold_others(with_values([".-", "-"]), with_values(["-.", "-"]), least=1, share=0)
    assert names._bare("\xb6") == names._bare(" ") == ""


# ---- texts for which the same two bytes stand


# ---- the verdict


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
    assert not simcrawl.compare(page_of(one, TEXT, 1), page_of(other, TEXT, 2)).is_near_duplicate
    # Alone, outside the content, where the text speaks of it, or not.
    assert differ_outside(*(names_of(outer=name, title=f"{name} | Shop") for name in (one, other)))


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
    assert simcrawl.compare(page_of(one, TEXT, 1), page_of(other, TEXT, 2)).is_near_duplicate


@pytest.mark.parametrize(
    ("one", "other", "address"),
    [
        ("Port 80", "Port 443", "/r/port-{}"),
        ("980", "443", "/r/{}.html"),
        ("At 47.37, 8.54", "At 47.37, 8.55", "/r/{}"),
        ("ISBN 978-0-1", "ISBN 978-0-2", "/books/{}/"),
        ("Offset UTC+05:30", "Offset UTC+05:45", "/r/{}"),
        ("3/4", "4/3", "/r/{}"),
        ("Port 80", "Port 443", "/r?port={}"),
        ("Product 80", "Product 443", "/shop.php?utm_source=a&id={}"),
    ],
)
def test_a_number_that_title_and_address_have_names_a_page_below_the_heading_of_its_site(one: str, other: str, address: str) -> None:
    made = [
        _below_the_site(name, address.format(quote(name.removeprefix("Port ").removeprefix("Product "), safe=""))) for name in (one, other)
    ]
    assert not are_copies(*made)
    assert are_copies(made[0], _below_the_site(one, "/other"))


@pytest.mark.parametrize(
    ("one", "other", "address"),
    [
        ("Boats, page 2", "Boats, page 3", "/boats/{}"),
        ("Boats (2)", "Boats (3)", "/boats/{}"),
        ("2 results", "3 results", "/boats/{}"),
        ("Boats on 2 May", "Boats on 3 May", "/boats/{}"),
        ("Boats 2", "Boats 3", "/boats?page={}"),
        ("Boats 2.1", "Boats 2.2", "/boats?version={}"),
        ("Manual 2", "Manual 3", "/manual/{}/boats"),
        ("Boats for 2-bit", "Boats for 3-bit", "/boats/{}"),
    ],
)
def test_the_number_of_a_page_of_a_list_a_day_or_a_release_in_an_address_names_no_page(one: str, other: str, address: str) -> None:
    made = [_below_the_site(name, address.format("".join(sign for sign in name if sign.isdigit() or sign == "."))) for name in (one, other)]
    assert are_copies(*made)


def _below_the_site(name: str, address: str) -> PageFingerprint:
    paragraphs = "".join(f"<p>{line}</p>" for line in TEXT.splitlines())
    html = f"<title>{name} - Arbonet</title><body><div><h1>Arbonet</h1>{paragraphs}</div><div>{name}: assigned</div>"
    made = simcrawl.fingerprint_page(html, url=f"http://example.org{address}")
    assert isinstance(made, PageFingerprint)
    return made


def test_a_number_that_the_title_does_not_have_names_no_page() -> None:
    one, other = (names_of(name, title="Lots", prose=english(3)) for name in ("Lot 12", "Lot 13"))
    assert not differ(one, other)


@pytest.mark.parametrize(
    "headings",
    [
        [f"Page {number}" for number in range(5, 60)],
        [f"{day} {number}{'st' if number == 1 else 'th'} November" for day in ("Monday", "Friday") for number in (1, 5, 7, 9)],
        [f"{month} {year}" for year in (2026, 2569) for month in ("March", "June", "November")],
    ],
)
def test_the_pages_of_a_sequence_have_no_names_of_their_own(headings: list[str]) -> None:
    made = [names_of(heading, title="Shop") for heading in headings]
    assert {names_compared.compare(*pair, of_one_site=True) for pair in combinations(made, 2)} == {Naming.SAME}
    # Those of which the titles have the number as well are told apart by that.
    standing = {names_record.read(names_of(heading, title=heading)).second.standing for heading in headings}
    assert standing <= {0, names_record.OF_NOTHING}


@pytest.mark.parametrize("title", ["Peking university - site", "Peking university_site", "site_Peking university_news"])
def test_a_heading_is_in_a_title_that_joins_it_to_the_site_s_name(title: str):
    assert names_record.read(names_of("Peking university", title=title)).second.standing == names_record.IN_TITLE


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
    first, last = names_record.read(names_of(f"alpha {long}")), names_record.read(names_of(f"{long} omega"))
    assert len(first.own.words) == len(last.own.words) == 16
    # What is left out in the middle counts for all together.
    middle = long.replace("wordl", "wordz")
    assert names_record.read(names_of(long)).own.set == names_record.read(names_of(middle)).own.set
    assert names_compared._only(names_record.read(names_of(long)).own, names_record.read(names_of(middle)).own)


@pytest.mark.parametrize(
    ("slugs", "same"),
    [
        (("jobs/welder", "jobs/nurse"), False),
        (("jobs/Welder.html", "jobs/Nurse.html"), False),
        (("jobs/welder-wanted/", "jobs/nurse_wanted/"), False),
        (("jobs/w%65lder", "jobs/nurs%65"), False),
        # Other directories are those of releases and mirrors, and queries of anything.
        (("welder/1.html", "nurse/1.html"), False),
        (("we/1.html", "nu/1.html"), True),
        (("jobs?welder", "jobs?nurse"), True),
        (("#welder", "#nurse"), True),
        (("", ""), True),
    ],
)
def test_an_address_made_of_the_heading_names_a_page(slugs: tuple[str, str], same: bool) -> None:
    pages = [called(f"{name} wanted by our company", slug) for name, slug in zip(("Welder", "Nurse"), slugs, strict=True)]
    assert are_copies(*pages) == same


def test_an_address_counts_only_with_the_title_and_for_pages_that_are_to_be_found() -> None:
    names_alone = [called(f"{name} wanted by our company", name, title="Jobs") for name in ("welder", "nurse")]
    assert are_copies(*names_alone)
    noindex = '<meta name="robots" content="noindex">'
    assert are_copies(*(called(name, name, more=noindex) for name in ("welder", "nurse")))
    assert not are_copies(*(called(name, name) for name in ("welder", "nurse")))


def test_one_name_at_two_addresses_is_one_page() -> None:
    assert are_copies(called("Welder wanted", "welder-wanted"), called("Welder wanted", "welder-wanted-2"))
    assert are_copies(called("Welder wanted", "welder-wanted"), called("Welder wanted", "print"))


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
        # A name of several parts is one: no part of it is in the one alone.
        (("Locale/it_IT.html", "Locale/it_CH.html"), ("Locale::it_IT - dates", "Locale::it_CH - dates"), False),
        (("Locale/es_419.html", "Locale/es.html"), ("Locale::es_419 - dates", "Locale::es - dates"), False),
        (("Locale/hu_HU.html", "Locale/hu.html"), ("Locale::hu_HU - dates", "Locale::hu - dates"), False),
        # A directory that the title has as well, but for those of releases.
        (("linked_list/struct.html", "binary_heap/struct.html"), ("Struct in linked_list", "Struct in binary_heap"), False),
        (("%C3%A9l%C3%A9ment/struct.html", "tableau/struct.html"), ("Struct in élément", "Struct in tableau"), False),
        (
            ("%D1%81%D0%BF%D0%B8%D1%81%D0%BE%D0%BA/struct", "%D0%BE%D1%87%D0%B5%D1%80%D0%B5%D0%B4%D1%8C/struct"),
            ("В список", "В очередь"),
            False,
        ),
        (("f32/consts/", "f64/consts/index.html"), ("Consts of f32", "Consts of f64"), False),
        (("latest/struct.html", "stable/struct.html"), ("Struct, latest", "Struct, stable"), True),
        # Three letters may stand in any word.
        (("clogs.html", "cards.html"), ("Log", "Car"), True),
    ],
)
def test_where_all_headings_are_alike_title_and_address_name_a_page(slugs: tuple[str, str], titles: tuple[str, str], same: bool) -> None:
    lasts = ("So it is.", "So it may be.")
    pages = [called("Methods", slug, title=title, last=last) for slug, title, last in zip(slugs, titles, lasts, strict=True)]
    assert are_copies(*pages) == same


def _signed(name: str, *, title: str = "") -> bytes:
    lines = names.lines((name, ""), "", title or f"{name} - Arbonet")
    return names.of(cut(lines), cut(f"{name} {PROSE}"), NO_HASHES, NO_PARTS._replace(heading=name))


def test_a_name_that_is_nothing_but_signs_is_one_where_the_title_has_it() -> None:
    assert names_compared.compare(_signed("+:"), _signed(":+")) is Naming.OTHER
    assert names_compared.compare(_signed("+:"), _signed("+:", title="+: | Forestia")) is Naming.SAME
    assert names_compared.compare(_signed("* * *", title="Arbonet"), _signed("---", title="Arbonet")) is Naming.SAME


def test_where_a_table_is_the_contents_what_stands_beside_it_may_speak_of_the_page() -> None:
    spoken = [names_of(outer=name, prose=english(3), beside=f"All members of {name}, inherited ones too") for name in ("Button", "Slider")]
    assert names_compared.compare_outside(*spoken) is Naming.OTHER
    # The heading alone says nothing: it may be the site's, as it is where the contents have one of their own.
    assert names_compared.compare_outside(*(names_of(outer=name, prose=english(3)) for name in ("Button", "Slider"))) is not Naming.OTHER
    own = [names_of("Members", outer=name, prose=english(3), beside=f"All of {name}") for name in ("Button", "Slider")]
    assert names_compared.compare_outside(*own) is not Naming.OTHER


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
    assert are_copies(_boxed("Button", box, 1), _boxed("Slider", box, 2)) == same
    # Neither where a heading names it, nor where several boxes are called so, as in the rows of a list.
    assert are_copies(_boxed("Button", box, 1, more="<h1>Members</h1>"), _boxed("Slider", box, 2, more="<h1>Members</h1>"))
    listed = box.format("Members")
    assert are_copies(_boxed("Button", box, 1, more=listed), _boxed("Slider", box, 2, more=listed))


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
