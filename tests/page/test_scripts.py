from __future__ import annotations

import html
import json
import resource
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from simcrawl.page.extraction import parse
from simcrawl.page.fingerprint import Abstention, fingerprint_page
from simcrawl.page.scripts import given as given_data, in_attributes, is_data, texts
from simcrawl.page.walk import layout

RECIPE = "Cook the lentils for half an hour"
SENTENCE = "The old lighthouse was repaired by hand"
TOKENS = ["d41d8cd98f00b204e9800998ecf8427e", "eyJhbGciOiJIUzI1NiJ9eyJzdWIi", "550e8400-e29b-41d4-a716-446655440000", "null", "True"]
MACHINES = [
    "https://cdn.example.org/a/b.js",
    "/en/recipes/lentils",
    "//example.org/x",
    "#top",
    "2024-05-01T10:00:00Z",
    "Wed, 01 May 2024 10:00:00 GMT",
    "Wed May 01 10:00:00 2024",
    "function (a) { return a + b c }",
    ".box { color: red }",
    "Mozilla/5.0 (X11; Linux x86_64) Gecko",
]


def _data(value: object) -> list[str]:
    return texts(json.dumps(value), data=True)


def _pushed(value: object) -> list[str]:
    """Return what is read of a part that a page streams."""
    return texts(f"self.__next_f.push({json.dumps([1, '5:' + json.dumps(value)])})", data=False)


# ---- which scripts


@pytest.mark.parametrize(
    ("kind", "identity", "data"),
    [
        ("application/json", "", True),
        ("application/ld+json", "", True),
        (" Application/LD+JSON; charset=utf-8", "", True),
        ("", "__NEXT_DATA__", True),
        ("", "", False),
        ("module", "data", False),
        ("application/javascript", "", False),
        ("text/application/json", "", False),
    ],
)
def test_which_scripts_are_json(kind: str, identity: str, data: bool):
    assert is_data(kind, identity) == data


@pytest.mark.parametrize(
    "program",
    [
        "self.__next_f.push([1,{}])",
        "window.__NUXT__={}",
        "window.__INITIAL_STATE__ = {}",
        'window["state"] = {}',
        "globalThis.state = {}",
        "var state = {}",
        "const state = [{}]",
        "let state = JSON.parse({})",
    ],
)
def test_state_that_a_program_assigns_is_read(program: str):
    assert texts(program.format(f'"{SENTENCE}"') if "{}" in program else program, data=False) == [SENTENCE]


@pytest.mark.parametrize("program", ['alert("{}")', 'f(x, "{}")', 'state = "{}"', "", "if (a) {{ show('{}') }}"])
def test_a_program_that_assigns_nothing_is_not_read(program: str):
    assert texts(program.format(SENTENCE), data=False) == []


@pytest.mark.parametrize(
    ("program", "is_read"),
    [
        ('libdoc = {{"doc": "{}"}}', True),
        ('App.page = {{"doc": "{}"}}', True),
        ('App["page"]={{"doc": "{}"}}', True),
        ('ko.applyBindings({{"doc": "{}"}})', True),
        ('render([\n  {{\n    "doc" : "{}"}}])', True),
        # As programs write it, those that count readers, and what is read in any case.
        ('show({{doc: "{}"}})', False),
        ('dataLayer.push({{"doc": "{}"}})', False),
        ('if (a == {{"doc": "{}"}}) b()', False),
        ('var page = {{"doc": "{}"}}', False),
        ('show("{}")', False),
        ('dataLayer = [{{"doc": "{}"}}]', False),
        ('track("page", {{"doc": "{}"}})', False),
        # What else the program says is not given to anybody.
        ('init({{"a": 1}}); alert("{}")', False),
        ('createElement(Page, {{"doc": "{}"}})', True),
        ('x({{"a": 1}}); y({{"doc": "{}"}})', True),
    ],
)
def test_json_that_a_program_is_given_is_read(program: str, is_read: bool):
    assert given_data(program.format(SENTENCE)) == ([SENTENCE] if is_read else [])


ISLAND = html.escape(json.dumps({"product": {"text": SENTENCE, "id": "a 1 b", "title": "Lentils"}}))


@pytest.mark.parametrize(
    ("markup", "read"),
    [
        (f'<div data-react-props="{ISLAND}"></div>', [SENTENCE, "Lentils"]),
        (f'<product-page :product="{ISLAND}"></product-page>', [SENTENCE, "Lentils"]),
        (f'<div wire:snapshot="{ISLAND}"><p> </p></div>', [SENTENCE, "Lentils"]),
        (f'<input type=hidden value="{ISLAND}">', [SENTENCE, "Lentils"]),
        (f"""<div data-page='{{"text": "{SENTENCE}"}}'></div>""", [SENTENCE]),
        (f"""<div data-rows='[["{SENTENCE}", 1]]'></div>""", [SENTENCE]),
        # What counts readers, what is no JSON, and what belongs to another page.
        (f'<div data-gtm-item="{ISLAND}"></div><div data-track-event="{ISLAND}"></div>', []),
        (f'<div :related-products="{ISLAND}"></div>', []),
        (f'<div :event="{ISLAND}"></div>', [SENTENCE, "Lentils"]),
        (f"<div x-data=\"{{ open: false, text: '{SENTENCE}' }}\"></div>", []),
        (f'<a href=/lentils data-props="{ISLAND}"><b data-props="{ISLAND}"></b></a>', []),
    ],
)
def test_json_in_attributes_is_read(markup: str, read: list[str]):
    page = f"<html><body><main><h1>Shop</h1>{markup}</main></body></html>"
    tree = parse(page)
    assert tree is not None
    made = layout(tree)
    assert made.unseen == []
    assert [(block.text, block.element) for block in made.shown] == [(text, 1) for text in read]
    # To look for it in the bytes first must lose nothing.
    assert in_attributes(page.encode()) or not read


def test_where_text_stands_the_data_of_an_element_stand_too():
    tree = parse(f'<html><body><main data-props="{ISLAND}"><p>{RECIPE}</p></main></body></html>')
    assert tree is not None
    made = layout(tree)
    assert {block.element for block in made.shown} == {made.parents[made.blocks[0].element]} != {1}


def test_no_more_than_some_elements_are_looked_through_for_text():
    depth = 200
    opened = f'<div data-props="{ISLAND}">'
    tree = parse(f"<html><body>{opened * depth}{'</div>' * depth}</body></html>")
    assert tree is not None
    shown = layout(tree).shown
    assert len(shown) == 2 * depth
    # The body is the first one.
    assert sum(block.element == 1 for block in shown) == 2 * 50


def test_of_very_many_elements_with_data_the_first_ones_are_read():
    tree = parse(f"""<html><body>{f"<b data-props='[{json.dumps(SENTENCE)}]'></b>" * 1200}</body></html>""")
    assert tree is not None
    assert len(layout(tree).shown) == 1000


@pytest.mark.parametrize("name", ["data-page", "data-config", ":messages", "data-i18n"])
def test_a_shell_is_no_copy_for_what_stands_in_its_attributes(name: str):
    """Settings, translations and what the reader has agreed to are the same on each page, and page data may differ in a number alone."""
    words = html.escape(json.dumps({f"message {number}": f"The {number} chairs are sold out today" for number in range(20)}))
    assert isinstance(fingerprint_page(f'<html><body><div id=app {name}="{words}"></div></body></html>'), Abstention)


@pytest.mark.parametrize("indent", ["\n  ", "\r\n\t", "  "])
@pytest.mark.parametrize("quote", ["&quot;", "&#34;", "&#x22;", "&#034;"])
def test_json_in_attributes_is_found_however_it_is_written(indent: str, quote: str):
    assert in_attributes(f'<b data-x="{{{indent}{quote}a{quote}: 1}}">'.encode())
    assert in_attributes(f"<b data-x='{indent}[1]'>".encode())
    assert not in_attributes(b'<b data-x="1" onclick=\'a()\'>He said: &quot;no&quot;</b><script>a = {"b": 1}</script>')


def test_what_a_program_is_given_is_no_content_of_a_page_that_shows_nothing():
    """What all pages of an application are called and say may stand there."""
    words = {f"message {number}": f"The {number} chairs are sold out today" for number in range(20)}
    shell = "<html><head><title>Shop</title></head><body><div id=root></div><script>{}({})</script></body></html>"
    assert isinstance(fingerprint_page(shell.format("translate", json.dumps(words))), Abstention)
    assert not isinstance(fingerprint_page(shell.format("window.state = ", json.dumps(words))), Abstention)


def test_scripts_of_a_page_are_its_unseen_text():
    page = f"""<html><body><p>seen</p><script type="application/ld+json">{{"text": "{SENTENCE}"}}</script>
    <script id="__NEXT_DATA__">{{"text": "{RECIPE}"}}</script><script>show("never of these {SENTENCE}")</script></body></html>"""
    tree = parse(page)
    assert tree is not None
    assert [block.text for block in layout(tree).unseen] == [SENTENCE, RECIPE]


# ---- which values


@pytest.mark.parametrize("read", [_data, _pushed])
def test_values_of_words_are_taken_in_order_a_sentence_each(read: object):
    value = {"a": f"{RECIPE}. {SENTENCE}!", "b": [{"c": "Salt them late\nand not before"}]}
    assert callable(read)
    assert read(value) == [f"{RECIPE}.", f"{SENTENCE}!", "Salt them late", "and not before"]


@pytest.mark.parametrize("key", ["name", "title", "price", "sku", "street", "productName", "product_name", "og:title", "isbn"])
def test_a_short_value_is_taken_under_a_key_that_speaks_of_content(key: str):
    assert _data({key: "X1"}) == _pushed({key: "X1"}) == ["X1"]
    assert _data({key: 12.5}) == ["12.5"]


@pytest.mark.parametrize("key", ["x", "unit", "names", "priceless", "n" * 100 + "name"])
def test_a_short_value_is_left_out_under_any_other(key: str):
    assert _data({key: "X1", "y": "two words"}) == _data({key: 12.5}) == []
    # One of words is not.
    assert _data({key: SENTENCE}) == [SENTENCE]


@pytest.mark.parametrize(
    "key",
    [
        "class",
        "className",
        "style",
        "href",
        "src",
        "pageUrl",
        "slug",
        "id",
        "buildId",
        "nonce",
        "csrfToken",
        "dateModified",
        "updatedAt",
        "views",
    ],
)
def test_what_stands_under_a_key_of_machines_is_left_out_whatever_it_is(key: str):
    assert _data({key: SENTENCE}) == _pushed({key: SENTENCE}) == []


@pytest.mark.parametrize("value", TOKENS + MACHINES)
@pytest.mark.parametrize("key", ["text", "x"])
def test_tokens_dates_and_addresses_are_left_out_under_every_key(key: str, value: str):
    assert _data({key: value}) == []


@pytest.mark.parametrize("key", ["recommended", "relatedArticles", "similar_items", "trendingNow", "upsell", "crossSell", "i18n"])
@pytest.mark.parametrize("value", [[{"title": SENTENCE, "all": [{}]}], {"text": [SENTENCE, "]"]}, SENTENCE])
def test_lists_of_other_pages_are_left_out_and_what_follows_is_not(key: str, value: object):
    assert _data({key: value, "text": RECIPE}) == _pushed({key: value, "text": RECIPE}) == [RECIPE]


def test_a_key_of_other_pages_that_no_list_follows_takes_nothing_along():
    assert texts(f'window.x = {{related: y, text: "{RECIPE}", z: ["{SENTENCE}"]}}', data=False) == [RECIPE, SENTENCE]


def test_pages_that_differ_in_a_build_say_the_same():
    one, two = (
        {"buildId": build, "props": {"token": token, "date": date, "src": f"/{build}.js", "text": RECIPE}, "n": number}
        for build, token, date, number in [("Kx81kd02", TOKENS[0], "2024-01-01", 1), ("Lm77aa31", TOKENS[1], "2025-02-02", 2)]
    )
    assert _data(one) == _data(two) == [RECIPE]


@given(st.permutations(["a", "text", "buildId", "price", "related"]))
def test_the_order_of_keys_changes_the_order_of_texts_only(keys: list[str]):
    values = {"a": SENTENCE, "text": RECIPE, "buildId": "x", "price": 7, "related": [{"name": "none"}]}
    assert sorted(_data({key: values[key] for key in keys})) == sorted(["7", SENTENCE, RECIPE])


def test_escapes_entities_and_markup_are_read_as_what_they_stand_for():
    assert texts(r'{"text": "<p>Fish &amp; chips<\/p><p>caf\u00e9 \"Nord\"<\/p>"}', data=True) == ["Fish & chips", 'café "Nord"']


def test_wide_text_needs_no_spaces():
    assert _data({"x": "清华大学的船长", "y": "清华"}) == ["清华大学的船长"]


def test_json_in_a_string_is_read_to_a_depth():
    value: object = {"text": RECIPE}
    for _ in range(3):
        value = {"state": json.dumps(value)}
    assert _data(value) == [RECIPE]
    assert _data({"state": json.dumps(value)}) != [RECIPE]


def test_there_is_an_end_to_what_is_read():
    assert len(_data([f"{SENTENCE} {number}" for number in range(6000)])) == 5000


# ---- hostile scripts

_pieces = st.sampled_from(
    ['"', "\\", "[", "]", "{", "}", ":", ",", "a", "related", "text", "var x=", "1", " ", "\n", "<", "&#", "\\u12", "北京大学"]
)
_scripts = st.text() | st.lists(_pieces, max_size=60).map("".join)


@given(_scripts, st.booleans())
def test_any_text_gives_lines(script: str, data: bool):
    for source in (script, f"var x={{{script}"):
        for text in texts(source, data=data):
            assert text == " ".join(text.split()) != ""


# Hard stops: half a megabyte takes a second at most, and hours where time grows with its square.
_CPU_SECONDS = 20
UNITS = [
    '"',
    "\\",
    "[{",
    "a:",
    "related: ",
    '"related":',
    "related:[",
    '"\n',
    '\\"[',
    '"[\\"',
    "var ",
    "self.",
    '"a<',
    '"a b &#',
    "__a",
    "a  ",
    '".  ',
    "x ",
    "={[",
    '=[{"a',
    '({"a"',
]


@pytest.mark.parametrize("unit", UNITS)
def test_half_a_megabyte_of_anything_takes_time_by_its_length(unit: str):
    made = f"from simcrawl.page.scripts import given, in_attributes, json_in, texts; s = {unit!r} * {500_000 // len(unit)}"
    code = f"{made}; texts('var x=[' + s + ']', data=False), texts(s, data=True)"
    code = f"{code}, given(s), json_in([('a', '[[' + s)]), in_attributes(s.encode())"
    limit = (_CPU_SECONDS, _CPU_SECONDS)
    done = subprocess.run([sys.executable, "-c", code], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit), check=False)
    assert done.returncode == 0
