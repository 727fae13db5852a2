from __future__ import annotations

import copy
import json
import multiprocessing
import re
import string
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from statistics import mean
from time import thread_time
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import lxml.html
import pytest
from hypothesis import given, strategies as st

from simcrawl.bits import hamming_distance
from simcrawl.errors import SettingError
from simcrawl.page import fingerprint as fingerprint_module
from simcrawl.page.cut import Cut, units
from simcrawl.page.features import Features, fingerprint_features
from simcrawl.page.fingerprint import (
    Abstention,
    PageFingerprint,
    Reason,
    _has_too_many_attributes,
    digest,
    facts,
    fingerprint_and_sketch,
    fingerprint_page,
    fingerprint_text,
    is_whole,
    page_key,
)
from simcrawl.page.hashing import hash_units
from simcrawl.page.recipes import RECIPES, Recipe, fingerprint, resolve
from simcrawl.page.sketch import NO_PART, Part, differing, resemblance, shingles, size_of, sketch
from tests.samples import FOREIGN, chinese, edited, english, extracted, link_list, page, shingle_units, site_page

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT = resolve()
MEGABYTE = 1_000_000
_TAGS = [
    "html",
    "body",
    "p",
    "div",
    "b",
    "table",
    "td",
    "script",
    "style",
    "a href=",
    "frameset",
    "svg",
    "!--",
    "![CDATA[",
    "?xml",
    "meta charset=",
]
fragments = st.one_of(
    st.sampled_from(
        [f"<{tag}" for tag in _TAGS] + [f"</{tag}>" for tag in _TAGS] + [">", '"', "'", "-->", "]]>", "&#0;", "&amp", "&#xD800;"]
    ),
    st.text(max_size=20),
    st.sampled_from([english(8), chinese(8)]),
)


def _found(made: PageFingerprint | Abstention) -> PageFingerprint:
    assert isinstance(made, PageFingerprint), made
    return made


def _abstains(made: PageFingerprint | Abstention) -> Reason:
    assert isinstance(made, Abstention), made
    return made.reason


# ---- fingerprints


def test_a_page_knows_what_it_was_made_from():
    text = english(60)
    made = _found(fingerprint_page(page(text, links=("/a", "/b")), url="http://example.org/x#part", seed=7))
    assert made.url == "http://example.org/x"
    assert (made.recipe, made.seed, made.bits) == ("terms/3", 7, 64)
    assert (made.text_length, made.units, made.outlinks) == (len(text), len(text.split()), 2)
    assert made.hex == f"{made.fingerprint:016x}"
    assert [len(made.body_digest), len(made.text_digest), len(made.links_digest)] == [16, 16, 8]
    assert list(map(len, (made.content_sketch, made.prose.sketch, made.links.sketch, made.around.sketch))) == [204, 102, 26, 26]
    assert len(made.beside.sketch) == 26
    assert made.text is None


@pytest.mark.parametrize("text", [english(), chinese(), *(line * 3 for line in FOREIGN.values())])
def test_text_and_its_utf_8_bytes_are_the_same_page(text: str):
    html = page(text)
    assert _found(fingerprint_page(html)) == fingerprint_page(html.encode(), encoding="utf-8") == fingerprint_page(html.encode())


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "big5hkscs"])
def test_one_text_in_two_encodings_is_one_text_in_two_bodies(encoding: str):
    text = "".join(letter for letter in chinese() if letter.encode(encoding, "ignore"))
    a, b = _found(fingerprint_page(page(text))), _found(fingerprint_page(page(text).encode(encoding), encoding=encoding))
    assert (a.fingerprint, a.text_digest, a.content_sketch) == (b.fingerprint, b.text_digest, b.content_sketch)
    assert a.body_digest != b.body_digest


def test_a_text_page_ignores_what_it_declares():
    html = page(chinese(), head='<meta charset="shift_jis">')
    assert _found(fingerprint_page(html)).fingerprint == _found(fingerprint_page(page(chinese()))).fingerprint


def test_mark_up_does_not_change_the_fingerprint():
    a, b = (_found(fingerprint_page(page(english(), wrap=wrap))) for wrap in ("article", "main"))
    assert a.fingerprint == b.fingerprint
    assert a.text_digest == b.text_digest


@pytest.mark.parametrize("text", [english(60), chinese(60)])
def test_a_small_edit_moves_the_fingerprint_a_little_and_another_text_far(text: str):
    start = _found(fingerprint_page(page(text))).fingerprint
    near = _found(fingerprint_page(page(edited(text, 2)))).fingerprint
    far = _found(fingerprint_page(page(text[::-1]))).fingerprint
    assert hamming_distance(start, near) <= 8
    assert hamming_distance(start, far) > 16


def test_seeds_change_everything_that_stands_for_content():
    a, b = (_found(fingerprint_page(page(english(60)), seed=seed)) for seed in (0, 2**64 - 1))
    for name in ("fingerprint", "body_digest", "text_digest", "links_digest", "content_sketch"):
        assert getattr(a, name) != getattr(b, name)
    assert a.prose.units == b.prose.units
    assert a.prose.sketch != b.prose.sketch


ARTICLE = f"<h1>The harbour</h1><p>{english(20)}</p><p>{english(20, seed=1)}</p>"


def _units(*texts: str) -> int:
    return sum(len(units(text)) for text in texts)


def test_parts_are_sketched_from_the_blocks_of_that_name():
    plain, linked, dated, around = (
        _found(fingerprint_page(html))
        for html in (
            site_page(ARTICLE),
            site_page(ARTICLE + link_list(12)),
            site_page(f"{ARTICLE}<p>12 May 2024</p>"),
            site_page(ARTICLE, seed=5),
        )
    )
    assert plain.prose == linked.prose == dated.prose == around.prose
    assert plain.prose.units == _units("The harbour", english(20), english(20, seed=1)) == plain.units
    assert plain.links == dated.links == around.links == Part(0, bytes(26))
    assert linked.links.units == linked.units - plain.units == _units(*{english(1, number) for number in range(12)})
    assert plain.around == linked.around
    assert dated.around.units - plain.around.units == dated.units - plain.units == 3
    assert resemblance(plain.around.sketch, around.around.sketch) < 0.5
    assert plain.content_sketch == around.content_sketch
    assert len({made.content_sketch for made in (plain, linked, dated)}) == 3
    assert len({made.fingerprint for made in (plain, linked, dated, around)}) == 1
    assert len({made.text_digest for made in (plain, linked, dated, around)}) == 4


def test_a_block_that_stands_twice_counts_once():
    once, twice = (_found(fingerprint_page(page(text))) for text in (english(40), f"{english(40)}\n{english(5)}"))
    assert english(40).startswith(english(5))
    assert once.prose == twice.prose
    assert twice.units == once.units + _units(english(5))


def test_a_block_counts_for_as_many_units_as_it_has():
    added = _units(english(5, seed=7))
    pages = [page(f"{english(200)}\n{more}") for more in ("", english(5, seed=7))]
    parts = [[_found(fingerprint_page(html, seed=seed)).prose for html in pages] for seed in range(16)]
    assert {b.units - a.units for a, b in parts} == {added}
    # One of them strays by 20.
    assert mean(differing(a, b) for a, b in parts) == pytest.approx(added, abs=4 * 20 / 16**0.5)
    assert mean(resemblance(a.sketch, b.sketch) for a, b in parts) == pytest.approx(parts[0][0].units / parts[0][1].units, abs=0.01)


@pytest.mark.parametrize(("letters", "alone"), [(9, True), (10, False)])
def test_pages_of_a_tenth_of_unspaced_letters_are_sketched_by_letter(letters: int, alone: bool):
    lines = english(30).replace(" ", "").replace(".", "").replace("\n", "")
    text = " ".join(f"北{lines[start : start + letters]}" for start in range(0, 60 * letters, letters))
    made = _found(fingerprint_text(text))
    cut = units(text)
    expected = list("".join(cut)) if alone else cut
    assert made.content_sketch == sketch(shingles(hash_units(expected, seed=0), DEFAULT.shingle), DEFAULT.sketch_registers)
    assert made.units == len(cut) == 120


def test_foreign_words_count_by_their_letters_on_a_page_of_unspaced_ones():
    # The same Chinese around other names: of eleven units one differs, of some fifteen letters five.
    names = english(40).split()[:60]
    letters = chinese(60).replace("。", "").replace("\n", "")
    made = [
        "".join(f"{letters[10 * n : 10 * n + 10]} {name} " for n, name in enumerate(found))
        for found in (names, [name[::-1] for name in names])
    ]
    a, b = (_found(fingerprint_text(text)) for text in made)
    assert a.units == b.units
    by_unit = [sketch(shingles(hash_units(units(text), seed=0), 5), 816) for text in made]
    assert resemblance(a.content_sketch, b.content_sketch) < resemblance(by_unit[0], by_unit[1])


@pytest.mark.parametrize("registers", [1, 2, 3, 7, 8, 512])
def test_any_number_of_registers_makes_a_page(registers: int):
    recipe = replace(DEFAULT, sketch_registers=registers)
    made = _found(fingerprint_page(site_page(ARTICLE + link_list(5)), recipe=recipe))
    assert len(made.content_sketch) == size_of(registers)
    sizes = [len(part.sketch) for part in (made.prose, made.links, made.around)]
    assert sizes == [size_of(-(-registers // share)) for share in (2, 8, 8)]


_mixed = st.lists(
    st.text(st.sampled_from("aé_7 .，’北京大学々かナ한ไ\ud800\uffff\u0338ΑΣ\U0001f600") | st.characters(), max_size=30)
    | st.sampled_from(["", chinese(2), english(2), *FOREIGN.values(), "北京大学" * 70, "\U00020000 北京"]),
    max_size=6,
).map("\n".join)


@given(_mixed, st.sampled_from(["unit", "tf", "log-tf", "prose-tf"]), st.sampled_from([16, 64]), st.integers(0, 2))
def test_a_text_has_the_fingerprint_of_its_features_and_the_sketch_of_its_units(text: str, weighting: Any, bits: int, seed: int):
    recipe = replace(DEFAULT, features=Features(weighting=weighting), bits=bits, min_features=1)
    made = fingerprint_text(text, recipe=recipe, seed=seed)
    weighed = recipe.features.weigh(text)
    if not weighed:
        assert _abstains(made) == Reason.EMPTY
        return
    found = _found(made)
    assert found.fingerprint == fingerprint_features(weighed, seed=seed, bits=bits)
    assert fingerprint_and_sketch(text, recipe=recipe, seed=seed) == (found.fingerprint, found.content_sketch)
    hashes = hash_units(shingle_units(units(text)), seed=seed)
    assert found.content_sketch == sketch(shingles(hashes, recipe.shingle), recipe.sketch_registers)
    assert found.prose.units == sum(len(cut) for cut in {tuple(units(line)) for line in text.splitlines()})


def test_a_text_without_features_has_no_fingerprint_and_sketch():
    with pytest.raises(ValueError, match="nothing to fingerprint"):
        fingerprint_and_sketch("...")


def test_a_sketch_of_today_is_the_one_of_yesterday():
    # As with fingerprints.
    made = _found(fingerprint_text(f"{english(40)}\n{chinese(10)}", seed=1))
    sketches = made.content_sketch + made.prose.sketch
    assert blake2b(sketches, digest_size=8).hexdigest() == "9a2c44f05a3a6e3d"


@pytest.mark.parametrize("features", [Features(stop_words=frozenset({"a"})), Features(weights=(("a", 0),)), Features("ngrams", 2)])
def test_other_features_make_the_fingerprint_too(features: Features):
    recipe = replace(DEFAULT, features=features, min_features=1)
    assert _found(fingerprint_text("a b c\na 北京大学", recipe=recipe)).fingerprint == fingerprint("a b c\na 北京大学", recipe=recipe)


def test_a_block_is_its_units_in_their_order():
    lines = ["one two three", "three two one", "one two four", "one two", "one Two, three!"]
    recipe = replace(DEFAULT, min_features=1)
    made = [_found(fingerprint_text(line, recipe=recipe)).prose.sketch for line in lines]
    assert made[0] == made[4]
    assert len(set(made)) == 4


def test_without_registers_there_are_no_sketches():
    made = _found(fingerprint_page(page(english()), recipe="manku2007"))
    assert (made.content_sketch, made.prose, made.links, made.around) == (b"", NO_PART, NO_PART, NO_PART)


def test_the_digest_of_the_links_is_of_their_targets():
    plain, other, session = (
        _found(fingerprint_page(page(english(), links=links), url="http://example.org/x"))
        for links in (("/a", "/b"), ("/a", "/c"), ("/b", "http://example.org/a#part", "/a"))
    )
    assert plain.text_digest == other.text_digest == session.text_digest
    assert plain.links_digest == session.links_digest != other.links_digest
    assert plain.links_digest == digest(b"http://example.org/a\nhttp://example.org/b", 0)[:8]


@pytest.mark.parametrize("number", [0, 49])
def test_where_there_is_next_to_no_prose_the_content_is_fingerprinted(number: int):
    prose = " ".join(english(60, seed=1).split()[:number])
    html = f"<html><body><p>{prose}</p>{link_list(12)}</body></html>"
    made = _found(fingerprint_page(html))
    content = "\n".join([prose, *(english(1, number) for number in range(12))]).strip()
    assert (made.prose.units, made.units) == (number, _units(content))
    assert made.fingerprint == fingerprint(content)
    assert made.text_length == len(content)


def test_the_fingerprint_moves_from_content_to_prose_without_a_leap():
    words = english(60, seed=1).split()
    made = []
    for number in range(40, 240, 5):
        page_of = f"<html><body><h1>Calls</h1><p>{' '.join(words[:number])}</p>{link_list(30)}</body></html>"
        made.append(_found(fingerprint_page(page_of)).fingerprint)
    steps = [(a ^ b).bit_count() for a, b in pairwise(made)]
    assert max(steps) <= 7
    assert (made[0] ^ made[-1]).bit_count() > 7


@pytest.mark.parametrize(("found", "used"), [(0, False), (49, False), (50, True)])
@pytest.mark.parametrize("recipe", ["main", "manku2007"])
def test_where_next_to_no_main_text_is_found_the_content_is_fingerprinted(
    recipe: str, found: int, used: bool, monkeypatch: pytest.MonkeyPatch
):
    main = " ".join(english(60, seed=1).split()[:found])
    monkeypatch.setattr("simcrawl.page.extraction._main", lambda tree: main)
    made = _found(fingerprint_page(page(english(60)), recipe=replace(RECIPES[recipe], min_features=50)))
    source = main if used else english(60)
    assert made.fingerprint == fingerprint(source, recipe=recipe)
    assert (made.text_length, made.units) == (len(source), len(english(60).split()))


def test_trafilatura_runs_only_where_its_text_is_wanted(monkeypatch: pytest.MonkeyPatch):
    calls: list[object] = []

    def main_text(tree: object) -> str:
        calls.append(tree)
        return english(60, seed=1)

    monkeypatch.setattr("simcrawl.page.extraction._main", main_text)
    plain = _found(fingerprint_page(page(english())))
    layouts = fingerprint_page(page(english(300)), recipe="layout")
    assert (calls, plain.fingerprint) == ([], fingerprint(english()))
    assert isinstance(layouts, PageFingerprint)
    kept = _found(fingerprint_page(page(english()), keep_text=True))
    assert (len(calls), kept.text) == (1, english(60, seed=1))
    assert kept == plain
    by_main = _found(fingerprint_page(page(english()), recipe="main"))
    assert (len(calls), by_main.text) == (2, None)
    assert by_main.fingerprint == fingerprint(english(60, seed=1), recipe="content")
    assert (by_main.content_sketch, by_main.prose) == (plain.content_sketch, plain.prose)


def test_the_text_is_kept_on_request():
    assert _found(fingerprint_page(page(english()), keep_text=True)).text == english()
    short = fingerprint_page(page("two words"), keep_text=True)
    assert (_abstains(short), short.text) == (Reason.SHORT, "two words")


def test_a_layout_is_the_page_without_its_text():
    a, b = (_found(fingerprint_page(page(english(300, seed), wrap="div"), recipe="layout")) for seed in (1, 2))
    assert a.fingerprint == b.fingerprint
    assert a.units == 60 + len(["html", "head", "title", "body", "div"])
    assert a.content_sketch == b.content_sketch
    for made in (a, b):
        assert made.prose == Part(0, bytes(102))
        assert made.links == made.around == Part(0, bytes(26))


def test_seconds_are_added_up_by_stage():
    seconds = {"extract": 100.0}
    fingerprint_page(page(english(200)), seconds=seconds)
    assert seconds.keys() == {"extract", "fingerprint"}
    assert seconds["extract"] > 100
    assert seconds["fingerprint"] > 0


def test_an_extractor_of_the_user_makes_the_main_text():
    extracted.clear()
    recipe = replace(DEFAULT, extractor="tests.samples.counting_extractor")
    made = _found(fingerprint_page(page(english()), url="http://x/", recipe=recipe, keep_text=True))
    assert extracted == ["http://x/"]
    assert made.text == page(english())
    assert made.recipe.startswith("terms/3+")
    alone = _found(fingerprint_text(page(english())))
    assert (made.fingerprint, made.content_sketch, made.units) == (alone.fingerprint, alone.content_sketch, alone.units)


def test_an_extractor_gets_no_page_that_is_nested_too_deeply():
    extracted.clear()
    recipe = replace(DEFAULT, extractor="tests.samples.counting_extractor")
    made = [fingerprint_page(f"{page(english())}{'<div>' * depth}", url=f"http://x/{depth}", recipe=recipe) for depth in (100, 300)]
    assert isinstance(made[0], PageFingerprint)
    assert _abstains(made[1]) == Reason.TOO_DEEP
    assert extracted == ["http://x/100"]


def test_an_extractor_that_does_not_exist_is_a_mistake_and_no_property_of_the_page():
    with pytest.raises(SettingError, match=r"tests\.samples\.absent"):
        fingerprint_page(page(english()), recipe=replace(DEFAULT, extractor="tests.samples.absent"))


def test_pages_cross_processes():
    pages = [page(english()), page("short"), "", page(chinese())]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(fingerprint_page, pages)) == [fingerprint_page(html) for html in pages]


@pytest.mark.parametrize("html", [page(english()), ""])
def test_pages_are_values(html: str):
    made = fingerprint_page(html, url="http://x/")
    assert copy.copy(made) == copy.deepcopy(made) == made
    assert hash(copy.copy(made)) == hash(made)
    with pytest.raises(AttributeError):
        made.url = "http://y/"  # type: ignore[misc]  # that is the point


# ---- abstentions


@pytest.mark.parametrize(
    ("reason", "html", "options"),
    [
        (Reason.EMPTY, "", {}),
        (Reason.EMPTY, " \n\t ", {}),
        (Reason.EMPTY, "<html><head><script>document.write('hello')</script></head><body></body></html>", {}),
        (Reason.EMPTY, "<html><body><div id='app'></div><script src='/app.js'></script></body></html>", {}),
        # What a program puts into a page, and says nothing of which.
        (Reason.EMPTY, "<span>In stock</span><b>10.99</b>", {}),
        (Reason.SHORT, "<title>17</title><span>In stock</span><b>10.99</b>", {}),
        (Reason.SHORT, f"<span>In stock</span><b>10.99</b>{' ' * 500}", {}),
        (Reason.SHORT, page("hello world"), {}),
        (Reason.SHORT, page(english(4)), {}),
        (Reason.TOO_LARGE, page(english()), {"max_bytes": 100}),
        (Reason.TOO_LARGE, "<p>x" * 200_001, {}),
        (Reason.TOO_DEEP, f"{page(english())}{'<div>' * 300}unseen", {}),
        (Reason.OUT_OF_MEMORY, page(english()), {"recipe": replace(DEFAULT, extractor="tests.samples.hungry_extractor")}),
        (Reason.TOO_SLOW, page(english()), {"max_seconds": -1}),
        (Reason.NOT_HTML, "plain text without a tag", {}),
        (Reason.NOT_HTML, b"%PDF-1.7 <</Type /Catalog>>", {}),
        (Reason.NOT_HTML, b"\x89PNG\r\n\x1a\n<", {}),
        (Reason.NOT_HTML, '\n {"html": "<p>x</p>"}', {}),
        (Reason.NOT_HTML, '["<p>x</p>"]', {}),
        (Reason.EXTRACTION_FAILED, page(english()), {"recipe": replace(DEFAULT, extractor="tests.samples.failing_extractor")}),
    ],
)
def test_every_reason_is_reached(reason: Reason, html: str | bytes, options: dict[str, Any]):
    made = fingerprint_page(html, url="http://x/#y", seed=3, **options)
    assert _abstains(made) == reason
    assert made.body_digest == digest(html.encode() if isinstance(html, str) else html, 3)
    assert (made.url, made.seed) == ("http://x/", 3)


_BANNER = f"<div class='consent'><p>{english(12)}</p></div>"
_HEAD = f"<title>The shop of the harbour</title><meta name='description' content='{' '.join(english(3).split())}'>"


@pytest.mark.parametrize(
    "shell",
    [
        "<div id='root'></div>",
        "<div id='app'><div class='spinner'>Loading the shop ...</div></div>",
        "<app-root>Please wait</app-root>",
        "<shop-app></shop-app><noscript>You need to enable JavaScript to run this app.</noscript>",
    ],
)
def test_a_shell_is_not_compared_by_what_all_pages_of_its_site_show(shell: str):
    html = f"<html><head>{_HEAD}</head><body>{shell}{_BANNER}<script src='/main.js'></script></body></html>"
    assert _abstains(fingerprint_page(html, url="http://x/")) == Reason.EMPTY


def test_a_shell_is_compared_by_the_data_that_it_brings():
    data = json.dumps({"product": {"name": "A boat", "description": " ".join(english(8).split())}})
    html = f"<html><body><div id='root'></div>{_BANNER}<script type='application/json'>{data}</script></body></html>"
    same, other = (fingerprint_page(html.replace("A boat", name), url="http://x/") for name in ("A boat", "The red lantern of Ystad"))
    assert isinstance(same, PageFingerprint)
    assert isinstance(other, PageFingerprint)
    assert same.text_digest != other.text_digest


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_attributes_are_counted_in_wide_encodings_too(encoding: str):
    html = f"<html><body><p {_attributes('a%d=1 ')}>{english()}"
    assert _abstains(fingerprint_page(html.encode(encoding), encoding=encoding)) == Reason.TOO_LARGE


_PIECES = ["<", "<a", "<b", " ", "=", '"', "'", ">", "x", "y", "z", "/", '="', "='", '" ', "' ", " q", " w", "<!--", "</a>", "\n", "\0"]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
def test_tags_beyond_doubt_need_no_look(html: str):
    with patch.multiple(fingerprint_module, _LONG_TAG=12, _MAX_ATTRIBUTES=3, _LONG=re.compile(rb"<[A-Za-z][^>]{11,}+>?")):
        assert _has_too_many_attributes(html.encode()) == _has_a_long_tag(html.replace("\0", "").encode())


def _has_a_long_tag(body: bytes) -> bool:
    """Return what the guard does, by a look at all tags, one after the other."""
    end = 0
    while tag := fingerprint_module._TAG.match(body, fingerprint_module._PLAIN.match(body, end).end()):  # type: ignore[union-attr]
        start, end = tag.span()
        if end - start > 12 and len({*fingerprint_module._ATTRIBUTES.findall(body, tag.end("name"), end)}) > 3:
            return True
    return False


def _attributes(form: str, count: int = 3_000) -> str:
    return "".join(form % number for number in range(count))


@pytest.mark.parametrize(
    "attributes",
    [
        _attributes("a%d=1 "),
        _attributes("a%d "),
        _attributes("a%d/"),
        _attributes("a%d='>' "),
        _attributes('a%d="x>"'),
        _attributes('a%d = ">"\n'),
        _attributes("a%d<b "),
        _attributes('a%d"b" '),
        f'" a=">" {_attributes("a%d ")}"',
        f'= "{_attributes("a%d ")}"',
        f'a = = "{_attributes("a%d ")}"',
        f"a=b'{_attributes('a%d ')}'",
        f"b='\"' c='>' {_attributes('a%d ')}",
    ],
)
def test_tags_of_many_attributes_are_seen_where_the_parser_sees_them(attributes: str):
    html = f"<html><body><p {attributes}>{english()}"
    most = max(len(element.attrib) for element in lxml.html.fromstring(html).iter())
    assert most >= 3_000
    assert _abstains(fingerprint_page(html)) == Reason.TOO_LARGE


@pytest.mark.parametrize(
    "attributes",
    [
        "title='" + "x" * 20_000 + "'",
        "a=1 " * 30_000,
        _attributes("a%d=1 ", 900),
        f'data-page="{english(500)}"',
        f"data-page='{_attributes('a%d>b ', 3_000)}'",
    ],
)
def test_one_long_attribute_or_some_are_not_too_many(attributes: str):
    _found(fingerprint_page(page(english()).replace("<article>", f"<article {attributes}>")))


@given(st.lists(st.sampled_from(["<a", "<", ">", "=", '"', "'", " ", "/", "x", "b=", 'c="', "d='>'", "\n", "\0", "!--"]), max_size=60))
def test_the_two_ways_to_look_for_attributes_agree(pieces: list[str]):
    body = "".join(pieces).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simcrawl.page.fingerprint._LONG_TAG", 0)
        patch.setattr("simcrawl.page.fingerprint._MAX_ATTRIBUTES", 2)
        found = _has_too_many_attributes(body)
        patch.setattr("simcrawl.page.fingerprint._PLAIN", re.compile(rb"(?>(?:[^<]++|<(?![A-Za-z]))*)"))
        assert _has_too_many_attributes(body) == found


@pytest.mark.parametrize("piece", ["<a", "<a b=", "<a b='", '<a b="x "', "<a b ", "<a<a<a b='c", '<a b="c>"', "= ", "<!--", '="'])
def test_looking_for_attributes_takes_no_longer_a_byte_on_long_pages(piece: str):
    def seconds(size: int) -> float:
        body = piece.encode() * (size // len(piece))
        started = thread_time()
        assert not _has_too_many_attributes(body)
        return thread_time() - started

    # Quadratic, the second would take sixteen minutes for the longest of them.
    seconds(10_000)
    assert seconds(3_000_000) < 20


def test_a_page_that_the_parser_cuts_off_is_compared_by_its_bytes_only():
    # libxml2 leaves out what comes after 255 elements in one another, so two such pages would look the same.
    deep = [fingerprint_page(f"{page(english())[:-14]}{'<div>' * 300}{english(5, seed)}") for seed in (1, 2)]
    assert [made.reason for made in deep if isinstance(made, Abstention)] == [Reason.TOO_DEEP] * 2
    _found(fingerprint_page(f"{page(english())[:-14]}{'<div>' * 200}{english(5)}"))


def test_a_page_is_short_below_the_recipe_s_number_of_units():
    words = english().split()
    for number, found in ((49, False), (50, True)):
        assert isinstance(fingerprint_page(page(" ".join(words[:number]))), PageFingerprint) == found


def test_short_pages_count_characters_of_unspaced_scripts():
    assert isinstance(fingerprint_page(page(chinese(4))), PageFingerprint)


@pytest.mark.parametrize(
    "features",
    [Features(stop_words=frozenset(["one", "two"])), Features(kind="ngrams", size=3), Features(weights=(("one", 0), ("two", 0)))],
)
def test_words_without_a_feature_are_too_short(features: Features):
    recipe = Recipe("own", 1, features, min_features=1)
    assert _abstains(fingerprint_page(page("one two"), recipe=recipe)) == Reason.SHORT
    assert _abstains(fingerprint_text("one two", recipe=recipe)) == Reason.SHORT


def test_frames_have_no_text_of_their_own():
    html = "<html><frameset cols='1,2'><frame src='/a'><frame src='/b'></frameset></html>"
    assert _abstains(fingerprint_page(html)) == Reason.EMPTY


# ---- hostile pages


@pytest.mark.parametrize(
    "make",
    [
        lambda: "<html><body>" + "<div>" * 99_000 + english(),
        lambda: "<html><body>" + "<b><p></b>" * 10_000 + english(),
        lambda: "<html><body>" + "</p></div></b>" * 20_000 + english(),
        lambda: f"<html><body><p>{english()}" + "\0" * 10_000 + f"{english()}</p>",
        lambda: f"<html><body><p>{english()}\ud800\udfff{chinese()}</p>",
        lambda: "<html><body><p>" + "a" * 3 * MEGABYTE,
        lambda: "<html><body><p>" + "a" * 10 * MEGABYTE,
        lambda: "<html><body><p>" + "的" * 100_000,
        lambda: "<html><body><p>" + "&amp;&#x4e00;&#1114112;&#xD800;&nosuch;" * 20_000,
        lambda: "<html><body>" + "<a href='x'>" * 20_000,
        lambda: "<html><body><table>" + "<tr><td>" * 10_000,
        lambda: "<html><body>" + "<!--" * 50_000,
        lambda: "<html><body>" + "<script>" * 50_000,
        lambda: "<?xml version='1.0' encoding='utf-16'?><html><body>" + page(english()),
        lambda: "<!DOCTYPE html [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><html><body>&b;" + page(english()),
        lambda: "<" * 150_000,
        lambda: "<html><body>" + "\x1b[31m\x08\x7f\u202e\ufffe\U0010ffff" * 1000,
    ],
)
@pytest.mark.parametrize("recipe", ["terms", "content", "layout"])
def test_hostile_pages_end_as_a_fingerprint_or_a_reason(make: Callable[[], str], recipe: str):
    html = make()
    made = fingerprint_page(html, recipe=recipe)
    assert isinstance(made, PageFingerprint | Abstention)
    assert made.body_digest == digest(html.encode("utf-8", "surrogatepass"), 0)


@given(st.binary(max_size=2000), st.sampled_from([None, "utf-8", "gb18030", "utf-16", "nonsense"]))
def test_any_bytes_end_as_a_fingerprint_or_a_reason(body: bytes, encoding: str | None):
    made = fingerprint_page(body, encoding=encoding)
    assert isinstance(made, PageFingerprint | Abstention)
    assert made == fingerprint_page(body, encoding=encoding)


@given(st.lists(fragments, max_size=30).map("".join), st.sampled_from(list(RECIPES)))
def test_any_tag_soup_ends_as_a_fingerprint_or_a_reason(html: str, recipe: str):
    made = fingerprint_page("<html><body>" + html, recipe=recipe)
    assert isinstance(made, PageFingerprint) or made.reason in (Reason.EMPTY, Reason.SHORT)


@given(st.text())
def test_any_text_ends_as_a_fingerprint_or_a_reason(text: str):
    made = fingerprint_text(text, recipe="manku2007")
    assert isinstance(made, PageFingerprint) or made.reason in (Reason.EMPTY, Reason.SHORT)


# ---- texts without pages, keys, digests


def test_a_text_without_a_page_follows_the_same_rules():
    a, b = _found(fingerprint_text(english(), url="item 1")), _found(fingerprint_page(page(english())))
    assert (a.fingerprint, a.content_sketch, a.units) == (b.fingerprint, b.content_sketch, b.units)
    assert (a.url, a.outlinks) == ("item 1", 0)
    assert _abstains(fingerprint_text("too short")) == Reason.SHORT
    assert _abstains(fingerprint_text("")) == Reason.EMPTY


@pytest.mark.parametrize(
    ("url", "key"),
    [("http://x/a#b", "http://x/a"), ("http://x/a?q=1#b", "http://x/a?q=1"), ("http://x/a", "http://x/a"), ("", ""), ("#b", "")],
)
def test_a_page_is_known_by_its_url_without_the_fragment(url: str, key: str):
    assert page_key(url, 0) == key


SECRET = "anna:s%3Acret"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("http://", "x/a?b@d"),
        ("https://", "x:8080/"),
        ("ftp://", "x"),
        ("POST http://", "x/a"),
        ("http://", "[::1]/"),
        ("GET https://", "x?@"),
    ],
)
def test_a_page_is_known_without_user_and_password_and_apart_from_other_users_pages(before: str, after: str):
    key = page_key(f"{before}{SECRET}@{after}#f", 7)
    assert re.fullmatch(re.escape(before) + "user-[0-9a-f]{16}@" + re.escape(after), key)
    others = {page_key(f"{before}{one}{after}", 7) for one in ("", "anna@", "anna:other@", "@", "anna:s%3Acret@anna:s%3Acret@")}
    assert len(others | {key, page_key(f"{before}{SECRET}@{after}", 8)}) == 7
    # What is shown names the page as well.
    assert page_key(key, 7) == page_key(key, 8) == key


@pytest.mark.parametrize("url", ["http://x/@", "http://x?a@b", "mailto:a@b", "/a@b", "a@b", "item 3: 'ask http://a:b@c'"])
def test_what_is_no_user_of_a_url_stays(url: str):
    assert page_key(url, 0) == url


def test_nothing_of_a_page_has_the_user_of_its_url():
    html = page(english(), head='<link rel="canonical" href="other">')
    for made in (fingerprint_page(html, url=f"http://{SECRET}@x/a"), fingerprint_page(html, url=f"http://{SECRET}@x/a", max_bytes=1)):
        assert "cret" not in repr(made) + str(made.hints)


NAMES = frozenset({"token", "key"})


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("http://x/?token=s3cret", r"http://x/\?token=redacted-[0-9a-f]{16}"),
        ("POST http://x/a?b=1&TOKEN=s3cret&c=2#f", r"POST http://x/a\?b=1&TOKEN=redacted-[0-9a-f]{16}&c=2"),
        ("http://x/?t%6Fken=s3cret", r"http://x/\?t%6Fken=redacted-[0-9a-f]{16}"),
        ("http://x/?b=1;key=s3cret;d=s3cret", r"http://x/\?b=1;key=redacted-[0-9a-f]{16}"),
        ("http://x/?b=1?key=s3cret=s3cret", r"http://x/\?b=1\?key=redacted-[0-9a-f]{16}"),
        ("http://a:s3cret@x/?key=s3cret", r"http://user-[0-9a-f]{16}@x/\?key=redacted-[0-9a-f]{16}"),
        ("http://x/?key=", r"http://x/\?key=redacted-[0-9a-f]{16}"),
        ("http://x/?tokens=1&keys=2&=3&&key", r"http://x/\?tokens=1&keys=2&=3&&key"),
        ("http://x/token=1", "http://x/token=1"),
    ],
)
def test_values_of_named_parameters_are_digests_in_the_url_under_which_a_page_is_known(url: str, known: str):
    key = page_key(url, 7, NAMES)
    assert re.fullmatch(known, key)
    assert page_key(key, 8, NAMES) == page_key(key, 8) == key
    assert is_whole(key) is (re.search("(user|redacted)-", key) is None)
    assert is_whole(url)


@given(st.text("tokenTOKEN=&;?%6f ab", max_size=40), st.text(string.ascii_letters + string.digits, min_size=1))
def test_no_value_of_a_named_parameter_is_in_the_url_under_which_a_page_is_known(before: str, secret: str):
    secret = f"<{secret}>"
    key = page_key(f"http://x/?{before}&token={secret}", 7, NAMES)
    assert secret not in key
    assert page_key(f"http://x/?{before}&token={secret}2", 7, NAMES) != key
    assert page_key(key, 7, NAMES) == key


def test_digests_depend_on_content_and_seed():
    made = {digest(data, seed) for data in (b"", b"a", b"b") for seed in (0, 1, 2**64 - 1)}
    assert len(made) == 9
    assert set(map(len, made)) == {16}


# ---- beside the content


def _lines(*lines: str) -> str:
    return "\n".join(lines)


def _weights(text: str, *shown: str) -> int:
    return len(facts(Cut(text, seed=0), [Cut(part, seed=0).hashes for part in shown]))


def test_a_fact_weighs_as_much_as_some_words():
    assert _weights("12") == _weights("a b c d e") == 5
    assert _weights("a b c d e f") == 6
    assert _weights(_lines("12", "12", "13")) == 10
    assert _weights("") == _weights("...") == 0


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("north", 0),
        ("in north", 5),
        ("the north", 0),
        ("grow in the north", 0),
        ("the north in grow", 5),
        ("maple", 5),
        # Three of its four runs are shown, and two of three.
        ("willows grow in the north of", 0),
        ("grow in the north of", 5),
        ("they say willows grow in", 5),
    ],
)
def test_a_line_that_is_shown_elsewhere_does_not_count(text: str, weight: int):
    shown = ("many willows grow in the north", "a cedar")
    assert _weights(text, *shown) == weight
    # Beside others it is as if alone, and with nothing shown it counts.
    assert _weights(_lines("birch one two three", text, "seven"), *shown) == 10 + weight
    assert _weights(text, "") == _weights(text) > 0


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=7), max_size=6), st.lists(st.sampled_from("abc"), max_size=30))
def test_lines_are_looked_for_by_runs(lines: list[list[str]], shown: list[str]):
    def is_shown(line: list[str]) -> bool:
        size = min(3, len(line))
        runs = [shown[at : at + size] for at in range(len(shown) - size + 1)]
        own = [line[at : at + size] for at in range(len(line) - size + 1)]
        return sum(run in runs for run in own) >= 0.75 * len(own)

    new = {tuple(line) for line in lines if not is_shown(line)}
    assert _weights(_lines(*map(" ".join, lines)), " ".join(shown)) == sum(max(5, len(line)) for line in new)


def _product(price: str, script: str = "", head: str = "") -> PageFingerprint:
    return _found(fingerprint_page(f"<body>{head}<article><h1>Cedar</h1><p>{english(60)}</p>{script}</article><div>{price}</div></body>"))


def test_a_price_stands_beside_the_content():
    one, two = _product("12 crowns"), _product("13 crowns")
    assert one.content_sketch == two.content_sketch
    assert (one.beside.units, two.beside.units) == (5, 5)
    assert one.beside != two.beside
    assert one.text_digest != two.text_digest


def test_what_a_script_alone_says_stands_beside_and_what_the_page_shows_does_not():
    def script(text: str) -> str:
        return f'<script type="application/ld+json">{{"description": "{text}"}}</script>'

    plain, repeated = _product("12 crowns"), _product("12 crowns", script(english(60).split("\n")[0]))
    other = _product("12 crowns", script("none of this stands in any text of that page"))
    assert repeated.beside == plain.beside
    assert other.beside.units == plain.beside.units + 10
    assert other.content_sketch == plain.content_sketch


def test_a_shell_is_compared_by_what_its_scripts_and_its_head_say():
    def shell(text: str) -> PageFingerprint | Abstention:
        return fingerprint_page(f'<title>Cedar</title><body><div id="root"></div><script>window.x = {{"text": "{text}"}}</script></body>')

    one, two = _found(shell(english(40).replace("\n", " "))), _found(shell(english(40, 1).replace("\n", " ")))
    assert resemblance(one.content_sketch, two.content_sketch) < 0.3
    assert one.fingerprint != two.fingerprint
    assert _abstains(shell("")) is Reason.EMPTY
