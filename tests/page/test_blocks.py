from __future__ import annotations

from html import escape
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st
from lxml import html as lxml_html

from simcrawl.page.blocks import NO_PARTS, Block, Layout, join
from simcrawl.page.walk import layout
from tests.samples import chinese, english, link_list, site_page, table

if TYPE_CHECKING:
    from collections.abc import Callable

from tests.page.layouts import ARTICLE, article_of, layout_of, lines_in, prose_of, said_in, text_of


def _content(html: str) -> str:
    return said_in(html)[0]


# ---- the container


ENGLISH = """<html><body><div id="wrapper">
  <div class="navbar"><a class="brand" href="/">The Harbour Times</a> <a href="/news">News</a> <a href="/boats">Boats</a></div>
  <div class="row">{article}<div class="col-3 sidebar"><h3>Most read</h3><ul><li><a href="/1">A captain comes home after a long
  strike</a></li><li><a href="/2">Seven boats sold</a></li></ul><p>Support us: without our readers there is no paper at all in this
  town, and nobody who asks what has become of the copper bells.</p></div></div>
  <footer><p>© 2024 The Harbour Times Limited, registered at the old lighthouse. All rights reserved, everywhere and for ever.</p>
  <a href="/imprint">Imprint</a></footer></div></body></html>"""


CHINESE = """<html><body><div id="header"><ul class="menu"><li><a href="/">首页</a></li><li><a href="/news">新闻中心</a></li></ul></div>
  <div class="main">{article}<div class="sideBar"><h3>热门推荐</h3><ul><li><a href="/1">船长在长期罢工之后回到家乡</a></li></ul>
  <p>欢迎关注我们的公众号，获取更多关于港口、铁路和博物馆的最新消息。</p></div></div>
  <div id="footer"><p>版权所有 © 2024 港口时报有限公司，未经书面授权不得转载本网站的任何内容。京ICP备00000000号</p></div></body></html>"""


FRAMES = [pytest.param(ENGLISH, english(30), id="en"), pytest.param(CHINESE, chinese(30), id="zh")]


@pytest.mark.parametrize(("frame", "text"), FRAMES)
@pytest.mark.parametrize("wrap", ["<article>{}</article>", "<div>{}</div>", "<td>{}</td>", "<div><div><div>{}</div></div></div>"])
def test_content_is_the_article_without_what_stands_around_it(frame: str, text: str, wrap: str):
    page = frame.format(article=wrap.format(article_of(text)))
    content, prose = said_in(page)
    assert content == prose == f"The harbour\n{text}"
    assert len(text_of(page)) > len(content)


@pytest.mark.parametrize(("frame", "text"), FRAMES)
def test_of_a_sidebar_in_the_element_of_the_article_only_running_text_is_prose(frame: str, text: str):
    # In a book a sidebar is a box that belongs to the chapter.
    content, prose = said_in(frame.format(article=article_of(text)))
    assert content.startswith(f"The harbour\n{text}\n")
    assert any(words in content for words in ("Most read", "热门推荐"))
    assert not any(words in content for words in ("Limited", "版权所有", "News", "新闻中心"))
    running = content.splitlines()[-1]
    assert running.startswith(("Support us", "欢迎关注"))
    assert prose == f"The harbour\n{text}\n{running}"
    _, shorter = said_in(frame.format(article=article_of(text)).replace(running.replace(" in this town", " in this\n  town"), running[:20]))
    assert shorter == f"The harbour\n{text}"


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(link_list(60, seed=2), id="links"),
        pytest.param("".join(f"<p>{english(1, seed)}</p>" for seed in range(6)), id="short"),
        pytest.param(f"<aside><p>{english(20, 3)}</p></aside>", id="furniture"),
        pytest.param(f"<p>{english(3, 3)}</p>", id="a little running text"),
    ],
)
def test_what_stands_beside_the_article_and_is_little_running_text_is_no_content(beside: str):
    article = article_of(english(40))
    for parts in (f"<div>{article}</div><div>{beside}</div>", f"<div>{beside}</div><div>{article}</div>"):
        assert said_in(f"<html><body>{parts}</body></html>") == (text_of(article), text_of(article))


def test_running_text_beside_the_article_is_content_if_it_is_more_than_a_tenth():
    for share, inside in ((0.08, False), (0.12, True)):
        page = f"<body><div><h1>A</h1><p>{'a' * 10_000}</p></div><div><p>{'b' * int(10_000 * share / (1 - share))}</p></div></body>"
        assert ("b" in _content(page)) == inside


@pytest.mark.parametrize("part", [table(6), f"<pre>{english(5, 2)}</pre>", link_list(6), "<dl><dt>-v</dt><dd>say more</dd></dl>"])
@pytest.mark.parametrize("place", ["before", "between", "after"])
def test_tables_code_and_lists_of_links_inside_the_container_are_content(part: str, place: str):
    before, after = article_of(english(10)), f"<h2>Boats</h2>{article_of(english(10, 1), 'More')}"
    article = {"before": part + before + after, "between": before + part + after, "after": before + after + part}[place]
    assert _content(site_page(article)) == text_of(article)


@pytest.mark.parametrize("part", [table(6), f"<pre>{english(5, 2)}</pre>"])
def test_tables_and_code_are_prose_too(part: str):
    article = article_of(english(20)) + part
    assert prose_of(site_page(article)) == text_of(article)


@pytest.mark.parametrize(
    "part",
    [
        link_list(6),
        "<p><a href='/a'>An old captain</a>, <a href='/b'>seven boats</a></p>",
        "<nav><p>In this chapter: all that is known of the lighthouse</p></nav>",
        "<aside><p>All that is known of the lighthouse</p></aside>",
        "<div class='related-posts'><h4>Chapters</h4><p>All that is known of the lighthouse</p></div>",
        "<div id='comments'><p>First! It is all that is known of the lighthouse</p></div>",
        "<div role='navigation'>Up and down</div>",
        "<div class='shareButtons'>Tell your friends</div>",
    ],
)
def test_links_and_furniture_inside_the_container_are_content_and_no_prose(part: str):
    article = f"<h1>The harbour</h1>{part}<p>{english(30)}</p><p>{english(30, 1)}</p>"
    content, prose = said_in(site_page(article))
    assert content == text_of(article)
    assert prose == text_of(article.replace(part, ""))
    assert len(prose) < len(content)


_OTHERS = "<ul><li><a href='/seven'>Seven boats</a></li><li><a href='/night'>The last night</a></li></ul>"


@pytest.mark.parametrize(
    ("box", "lines", "is_content"),
    [
        ("<div class=related><h2>Related products</h2>{}</div>", 30, False),
        ("<section class=up-sells><h2>You may also like</h2>{}</section>", 30, False),
        ("<nav><p>相关文章</p>{}</nav>", 30, False),
        # It may be the page's list, as where nothing says what it is, or where it is long.
        ("<div class=related><h2>Related products</h2>{}</div>", 1, True),
        ("<div class=related><h2>All boats</h2>{}</div>", 30, True),
        ("<div class=boats><h2>Related products</h2>{}</div>", 30, True),
        ("<div class=related><p>Boats</p><h2>Related products</h2>{}</div>", 30, True),
    ],
)
def test_what_says_that_it_leads_to_other_pages_is_no_content_of_a_long_text(box: str, lines: int, *, is_content: bool):
    parts = layout_of(f"<body><main><h1>The harbour</h1><p>{english(lines)}</p>{box.format(_OTHERS)}</main></body>").parts()
    assert ("Seven boats" in join(parts.content)) == is_content
    assert join(parts.around).endswith("The last night") == ("class=boats" not in box)


@pytest.mark.parametrize(
    ("aside", "is_told"),
    [
        ("<aside><h2>Where</h2><p>Town hall of Husum</p></aside>", True),
        ("<aside><h2>Read on</h2><p><a href='/seven'>Seven boats</a> <a href='/night'>The last night</a></p></aside>", False),
        ("<aside class=newsletter><h2>Where</h2><p>Town hall of Husum</p></aside>", False),
        ("<nav><h2>Where</h2><p>Town hall of Husum</p></nav>", False),
    ],
)
def test_an_aside_stands_beside_what_it_belongs_to_unless_it_leads_elsewhere(aside: str, is_told: bool):
    content = f"<main>{article_of(english(40))}</main>"
    for page in (content + aside, aside + content):
        found = layout_of(f"<body>{page}</body>").parts()
        assert [block.text for block in found.beside] == (["Where", "Town hall of Husum"] if is_told else [])
        assert join(found.content) == text_of(content)


@pytest.mark.parametrize(
    ("others", "is_told"),
    [
        ("", True),
        ("<aside><ul><li><a href='/seven'>Seven boats</a></li></ul></aside>", True),
        ("<aside class=newsletter><p>Write to us</p></aside>", True),
        ("<aside><p>Seven boats</p></aside>", False),
    ],
)
@pytest.mark.parametrize("link", ["", "<a href='/seven'>Seven boats</a>"])
def test_the_paragraphs_of_the_only_aside_are_known_if_nothing_in_it_is_a_link(others: str, is_told: bool, link: str):
    said = english(1, 5) + english(1, 6)
    found = layout_of(f"<body><main>{article_of(english(40))}</main><aside><p>{said}</p><p>{link}</p></aside>{others}</body>").parts()
    assert [" ".join(text.split()) for text in found.aside] == ([" ".join(said.split())] if is_told and not link else [])
    assert said not in join(found.beside)


@pytest.mark.parametrize(("frame", "text"), FRAMES)
def test_every_block_is_prose_links_or_surroundings(frame: str, text: str):
    article = f"<article>{article_of(text)}{link_list(3)}<aside>{english(1, 5)}</aside><p>12:30</p>{table(3)}</article>"
    found = layout_of(frame.format(article=article))
    parts = found.parts()
    assert sorted(map(id, parts.prose + parts.links + parts.around)) == sorted(map(id, found.blocks))
    assert join(parts.content) == text_of(article)
    assert join(parts.prose) == text_of(article_of(text) + table(3))
    assert join(parts.links) == text_of(link_list(3))
    inside = [block for block in parts.around if block in parts.content]
    assert join(inside) == text_of(f"<aside>{english(1, 5)}</aside><p>12:30</p>")
    outside = [block for block in found.blocks if block not in parts.content]
    assert [block for block in parts.around if block not in inside] == outside != []


def test_links_outside_the_container_are_surroundings():
    parts = layout_of(f"<html><body><div>{link_list(4)}</div><article>{article_of(english(30))}</article></body></html>").parts()
    assert join(parts.around) == text_of(link_list(4))
    assert parts.links == []


@pytest.mark.parametrize("tag", ["form", "label"])
def test_what_is_filled_in_is_furniture_unless_it_is_half_of_the_page(tag: str):
    article = article_of(english(20))
    parts = layout_of(site_page(f"{article}<{tag}>Your name and your harbour</{tag}>")).parts()
    assert join(parts.prose) == text_of(article)
    assert "Your name and your harbour" in join(parts.around)
    # Some systems put the whole page into a form.
    assert prose_of(f"<html><body><{tag}>{article}</{tag}><footer>Imprint</footer></body></html>") == text_of(article)


@pytest.mark.parametrize(
    ("box", "is_furniture"),
    [
        ("<div class=sponsor-profile><h1>Acme</h1><p>Salt and more of it</p></div>", False),
        ("<div class=sponsor-profile><h1>Acme</h1><p><a href=/1>One of them</a> <a href=/2>Another</a></p></div>", True),
        ("<div class=sponsor-profile><h1><a href=/>Acme</a></h1><p>Salt and more of it</p></div>", True),
        ("<div class=sponsor><h1>Acme</h1><p>Salt and more of it</p></div>", True),
        ("<div class=sponsor-profile><h1>Acme</h1><p>Salt and more of it</p></div><h1>Boats</h1>", True),
        ("<nav class=sponsor-profile><h1>Acme</h1><p>Salt and more of it</p></nav>", True),
    ],
)
def test_a_box_that_holds_the_only_name_may_be_furniture(box: str, *, is_furniture: bool):
    parts = layout_of(f"<body><main>{box}<p>{english(20)}</p></main></body>").parts()
    assert ("Acme" not in join(parts.prose)) == is_furniture


@pytest.mark.parametrize(
    ("lines", "of_content"),
    [
        ("<p>77 views</p><p>Hits: 12</p>", 0),
        # Several are data, as those in tables are.
        ("<p>77 views</p><p>78 views</p><p>79 views</p>", 3),
        ("<table><tr><td>77 views</td><td>Hits: 12</td></tr></table>", 2),
        ("<h2>77 views</h2>", 1),
        ("<table><tr><td>Page rendered in 12 ms</td></tr></table>", 0),
        ("<table><tr><td>Page rendered in 12 ms</td></tr><tr><td>Page rendered in 13 ms</td></tr></table>", 2),
    ],
)
def test_counters_of_readers_are_data_in_tables_and_where_there_are_several(lines: str, of_content: int):
    parts = layout_of(f"<body><main><h1>The harbour</h1><p>{english(20)}</p>{lines}</main></body>").parts()
    assert len(parts.content) - 2 == of_content


@pytest.mark.parametrize(("filler", "around"), [("a" * 53, True), ("a" * 54, False), ("港" * 17, True), ("港" * 18, False)])
def test_a_line_of_60_letters_is_no_dateline(filler: str, around: bool):
    parts = layout_of(f"<div>{article_of(english(20))}<p>{filler} 12:30</p></div>").parts()
    assert bool(parts.around) == around
    assert join(parts.prose).endswith("12:30") != around


@pytest.mark.parametrize("tag", ["h1", "h2", "h3", "h4", "h5", "h6", "pre", "th", "td", "dt", "dd"])
@pytest.mark.parametrize("line", ["12:30", "<b>12 May</b> 2024", "<code>2024年</code>"])
def test_dates_in_tables_code_and_headings_are_prose(tag: str, line: str):
    inside = f"<{tag}>{line}</{tag}>"
    wrapped = f"<table><tr>{inside}</tr></table>" if tag in ("td", "th") else f"<dl>{inside}</dl>" if tag in ("dt", "dd") else inside
    parts = layout_of(f"<div><h1>Tides</h1><p>{english(20)}</p>{wrapped}</div>").parts()
    assert lines_in(f"<p>{line}</p>")[0] in join(parts.prose)
    assert parts.around == []


@pytest.mark.parametrize(
    ("lines", "around"),
    [
        (["1998: Following", "2000: Memento", "2002: Insomnia"], False),
        (["10:45 Oslo, calling at Hamar", "11:10 Bergen", "12:30 Stavanger"], False),
        (["1998: Following", "2000: Memento"], False),
        (["12:30 Oslo", "14:10 Bergen"], True),
        # How often it was read, and when, and no more.
        (["5 comments", "120 views", "12:30"], True),
        (["10:45 Oslo", "5 comments", "12:30 Stavanger"], True),
    ],
)
def test_several_dates_in_a_row_with_what_was_then_are_a_list(lines: list[str], around: bool):
    entries = "".join(f"<li>{line}</li>" for line in lines)
    parts = layout_of(f"<div><h1>Films</h1><ul>{entries}</ul><p>{english(20)}</p></div>").parts()
    assert [block.text for block in parts.around] == (lines if around else [])
    assert [*parts.values] == ([] if around else lines)


ROWS = [
    "<div><div>{}</div><div>{}</div></div>",
    "<div><p>{}:</p><p>{}</p></div>",
    "<p>{}: {}</p>",
    "<li><b>{}:</b> {}</li>",
    "{}: {}<br>",
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize(
    ("rows", "around"),
    [
        ([("From", "Oslo"), ("Departure", "06:05"), ("Arrival", "07:00")], []),
        ([("Born", "14 March 1879"), ("Parish", "Ulm"), ("Died", "1955")], []),
        ([("出发", "06:05"), ("到达", "07:00"), ("星期", "一")], []),
        ([("Departure", "06:05"), ("Arrival", "07:00")], ["06:05", "07:00"]),
        ([("From", "Oslo"), ("Departure", "06:05"), ("Views", "7 views")], ["7 views"]),
        # What has no label parts the rows.
        ([("From", "Oslo"), ("Departure", "06:05"), ("12", "12:30"), ("Arrival", "07:00")], ["06:05", "12:30", "07:00"]),
    ],
)
def test_when_something_is_in_rows_with_labels_is_content(row: str, rows: list[tuple[str, str]], around: list[str]):
    written = "".join(row.format(*pair) for pair in rows)
    parts = layout_of(f"<div><h1>Flights</h1><div>{written}</div><p>{english(20)}</p></div>").parts()
    assert [block.text.rpartition(": ")[2] for block in parts.around] == around
    values = [value for _, value in rows if value not in around]
    assert [text.rpartition(": ")[2] for text in parts.values if text.rpartition(": ")[2] in values] == values


@pytest.mark.parametrize(
    ("markup", "rows"),
    [
        ("<table><tr><th>Ann<td>yes<tr><th>Bo<td>no</table>", [("Ann", "yes"), ("Bo", "no")]),
        # A paragraph in a cell, and a link beside its label.
        ("<table><tr><td><p>Warning</p><td><a href=#end>line 80</a></table>", [("Warning", "line 80")]),
        ("<table><tr><td><a href=/a>Ann</a><td><a href=/b>Bo</a></table>", []),
        ("<dl><dt>Born</dt><dd>1843</dd><dt>Died</dt><dd>1907</dd><dd>in Hull</dd></dl>", [("Born", "1843"), ("Died", "1907", "in Hull")]),
        ("<ul><li>Ann<li>yes</ul>", []),
        # The whole page in a table, and a box of lines.
        (f"<table><tr><td>By Ann<p>{english(5)}</p><td>Home</table>", []),
        ("<table><tr><td>Ann<td><p>One<p>Two<p>Three<p>Four<p>Five</table>", []),
    ],
)
def test_what_stands_together_in_a_table_or_a_list_of_terms(markup: str, rows: list[tuple[str, ...]]):
    parts = layout_of(f"<div><h1>Votes</h1>{markup}<p>{english(20)}</p></div>").parts()
    assert [*parts.rows] == rows
    # Above the box that holds the only long text.
    above = layout_of(f"<body>{markup}<div><h2>Votes</h2><p>{english(20)}</p></div></body>").parts()
    if "By Ann" not in markup:
        assert [*chain(*above.tables_beside)] == [row for row in rows if row[-1] != "line 80"] + [("Warning",)] * ("Warning" in markup)


@pytest.mark.parametrize(
    ("lines", "is_one"),
    [
        (("Earnings", "$40,000"), True),
        (("U+0600", "Code point"), True),
        (("Earnings", "high"), False),
        (("4711", "4712"), False),
        (("Guests online", "17 users online"), False),
        (("Your cart", "3"), False),
        (("It took 12 ms", "Done"), False),
        (("Port", "8080", "TCP"), False),
    ],
)
def test_a_box_with_a_label_and_a_value_beside_the_contents_is_a_row(lines: tuple[str, ...], is_one: bool):
    box = "".join(f"<p>{line}</p>" for line in lines)
    parts = layout_of(f"<body><div>{box}</div><div><h2>Votes</h2><p>{english(20)}</p></div></body>").parts()
    assert parts.tables_beside == (((lines,),) if is_one else ())
    # In a table the cells are the row already.
    cells = "".join(f"<td>{line}</td>" for line in lines)
    parts = layout_of(f"<body><table><tr>{cells}</table><div><h2>Votes</h2><p>{english(20)}</p></div></body>").parts()
    assert [*chain(*parts.tables_beside)] == [lines]


def test_rows_beside_the_contents_stand_together_by_their_table():
    tables = "".join(f"<table><tr><td>{one}<td>1<tr><td>{one}<td>2</table>" for one in ("Ann", "Bo"))
    parts = layout_of(f"<body>{tables}<h3>Votes of 1843</h3><div><h2>Votes</h2><p>{english(20)}</p></div></body>").parts()
    assert parts.tables_beside == tuple([((one, "1"), (one, "2")) for one in ("Ann", "Bo")])
    assert parts.headings_beside == ("Votes of 1843",)


@pytest.mark.parametrize(("tag", "own"), [("article", True), ("section", True), ("main", True), ("div", False)])
def test_the_footer_of_a_part_of_a_page_is_content_and_that_of_the_page_is_not(tag: str, own: bool):
    parts = layout_of(f"<body><{tag}><h1>Gold</h1><p>{english(20)}</p><footer><p>Symbol</p><p>Au</p></footer></{tag}></body>").parts()
    assert [*parts.values] == (["Symbol", "Au"] if own else [])
    assert join(parts.content).endswith("Au") is own


@pytest.mark.parametrize(
    ("above", "heading"),
    [
        ("<h1><a href='/3'>Leeds at Bath</a></h1>", "Leeds at Bath"),
        ("<h1><a href='/3'>Leeds at Bath</a></h1><h2>The match</h2>", "The match"),
        ("<h1><a href='/'>Cup</a></h1><h1><a href='/3'>Leeds at Bath</a></h1>", ""),
        # Without an h1 of the site's, as in blogs.
        ("<h2><a href='/3'>Leeds at Bath</a></h2>", "Leeds at Bath"),
        ("<h2><a href='/3'>Leeds at Bath</a></h2><h3>Leave a reply</h3>", "Leeds at Bath"),
        ("<h2><a href='/3'>Leeds at Bath</a></h2><h2>The match</h2>", "The match"),
        ("<h2><a href='/3'>Leeds at Bath</a></h2><h2><a href='/4'>Hull at Ely</a></h2>", ""),
        ("<h2>The match</h2><h3><a href='#a'>Leeds at Bath</a></h3>", "The match"),
    ],
)
def test_the_one_highest_heading_of_a_page_names_it_though_it_is_a_link(above: str, heading: str):
    assert layout_of(f"<body><main>{above}<p>{english(40)}</p></main></body>").parts().heading == heading


@pytest.mark.parametrize(
    ("above", "below", "values"),
    [
        ("<p>by <a href=/o/7>Ann Miller</a></p>", "", ["by Ann Miller"]),
        ("<a href=/o/7>Ann Miller</a> <a href=/o/8>Bath</a>", "", ["Ann Miller Bath"]),
        ("<p>Place: <a href=/o/7>Bath</a></p>", "", ["Place: Bath"]),
        # Contents of the page, lists, and what leads to other pages.
        ("<p><a href=#a>1.2. Gold</a></p>", "", []),
        ("".join(f"<p><a href=/o/{number}>Bath</a></p>" for number in range(4)), "", []),
        ("", "<p><a href=/o/7>Next: Silver</a></p>", []),
        ("", "<a href=/o/7>Next</a>", []),
        ("<h2><a href=/o/7>Silver</a></h2>", "", []),
    ],
)
def test_a_few_links_above_the_text_may_say_what_the_page_is_about(above: str, below: str, values: list[str]):
    main = f"<main><h1>Gold</h1>{above}<p>{english(20)}</p>{below}</main>"
    assert [*layout_of(f"<body>{main}</body>").parts().values] == values


def test_a_date_that_is_a_link_is_a_link():
    parts = layout_of(f"<div><h1>Tides</h1><p>{english(20)}</p><p><a href='/'>12 May 2024</a></p></div>").parts()
    assert (join(parts.links), parts.around) == ("12 May 2024", [])


@pytest.mark.parametrize(("linked", "is_links"), [("1234", False), ("12345", True), ("123 45", True), ("1 2 3 4", False)])
def test_half_a_text_of_links_is_links(linked: str, is_links: bool):
    (block,) = layout_of(f"<p><a href='/'>{linked}</a> {'0' * (10 - len(linked.replace(' ', '')))}</p>").blocks
    assert block.is_links == is_links


THEMES = ["class='sidebar'", "id='nav'", "class='content widget'", "class='has-sidebar sidebar-left'", "role='complementary'"]


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("text", [english(30), chinese(30)])
def test_what_is_named_like_furniture_but_holds_most_of_the_page_is_none(name: str, text: str):
    article = article_of(text)
    page = f"<html><body><div {name}><div id='a'>{article}</div></div><footer>{english(2)}</footer></body></html>"
    assert said_in(page) == (text_of(article), text_of(article))


@pytest.mark.parametrize("element", ["html", "body"])
def test_page_and_body_are_never_furniture(element: str):
    article = article_of(english(30))
    page = f"<html><body>{article}</body></html>".replace(f"<{element}>", f"<{element} class='nav sidebar' role='dialog'>")
    assert prose_of(page) == text_of(article)


@pytest.mark.parametrize("number", [49, 50])
def test_half_of_the_page_is_too_much_for_furniture(number: int):
    filled = f"<div><div class='menu'><p>{'a' * number}</p></div><p>{'b' * (100 - number)}</p></div>"
    assert ("a" * number in prose_of(filled)) == (number == 50)


@pytest.mark.parametrize(
    ("box", "around"),
    [
        ("<form><textarea>{said}</textarea></form>", True),
        ("<form><p>{said}</p></form>", False),
        ("<div><textarea>{said}</textarea></div>", False),
        ("<div><textarea>&lt;iframe src='https://www.example.org/player' title='{said}'&gt;&lt;/iframe&gt;</textarea></div>", True),
        ("<div><textarea>&lt;!doctype html&gt;&lt;iframe src='here' title='{said}'&gt;&lt;/iframe&gt;</textarea></div>", False),
        ("<div><p>&lt;iframe src='https://www.example.org/player' title='{said}'&gt;&lt;/iframe&gt;</p></div>", False),
    ],
)
def test_what_is_to_be_sent_or_to_be_embedded_is_beside(box: str, around: bool):
    said = "the lighthouse opens on the first of May, " * 4
    parts = layout_of(f"<body><div>{article_of(english(10))}{box.format(said=said)}</div>").parts()
    assert ("the lighthouse opens" not in join(parts.prose)) == around
    assert ("the lighthouse opens" in join(parts.around)) == around
    assert ("the lighthouse opens" in join(parts.beside)) == around
    assert "the lighthouse opens" in join(parts.content)


# ---- pages without this or that


_LOGIN = "http://wiki.example/doku.php?id=tools:hammer&do=login"


def _echoed(line: str, *, heading: str = "<h1>Log in</h1>", noindex: bool = True) -> bool:
    """Return whether a line of an application's page counts as surroundings, and nothing else."""
    page = layout_of(f"<html><head><title>tools:hammer</title></head><body>{heading}<p>{english(40)}</p>{line}</body></html>")
    parts = page.parts(_LOGIN, noindex=noindex)
    said = lxml_html.fragment_fromstring(line).text_content()
    around, content = (said in join(blocks).splitlines() for blocks in (parts.around, parts.content))
    assert around or content
    return around and not content and said not in join(parts.beside).splitlines()


_CHANGED = "<div>tools/hammer.txt · Last modified: 2026/01/14 22:13 by keeper</div>"


@pytest.mark.parametrize("line", ["<div>tools:hammer</div>", _CHANGED])
def test_a_line_that_only_repeats_the_address_is_surroundings_where_nobody_is_to_find_the_page(line: str):
    assert _echoed(line)
    assert not _echoed(line, noindex=False)


@pytest.mark.parametrize("heading", ["<h1>Log in</h1><h4>tools hammer</h4>", "<h1>Tools, hammer</h1>", ""])
def test_what_a_page_is_called_by_its_address_is_content(heading: str):
    assert not _echoed("<div>tools:hammer</div>", heading=heading)


@pytest.mark.parametrize(
    "line",
    [
        "<td>tools:hammer</td>",
        "<pre>tools:hammer</pre>",
        "<div><a href=/x>tools:hammer</a></div>",
        _CHANGED.replace("modified", "modified by a keeper who is known for the length of his names and titles"),
    ],
)
def test_cells_code_links_and_paragraphs_that_repeat_the_address_are_what_they_are(line: str):
    assert not _echoed(f"<table><tr>{line}</tr></table>" if "td" in line else line)


@pytest.mark.parametrize(
    "name", ["class=breadcrumbs", "id=bread-crumb", "class=mw-revision", "class=printfooter", 'class="page-breadcrumb"']
)
def test_the_trail_to_a_page_is_no_content(name: str):
    assert _content(f"<body><main><div {name}>Home, then tools</div>{article_of(english(60))}</main></body>") == _content(
        f"<body><main>{article_of(english(60))}</main></body>"
    )


@pytest.mark.parametrize("text", [english(30), chinese(30)])
def test_a_page_without_headings_has_its_running_text_for_content(text: str):
    paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
    page = f"<html><body><div class='top'><a href='/'>Home</a></div><div>{paragraphs}</div><div>Imprint</div></body></html>"
    assert said_in(page) == (text, text)


def test_headings_of_furniture_are_no_headings_of_the_page():
    paragraphs = f"<div>{article_of(english(30)).removeprefix('<h1>The harbour</h1>')}</div>"
    sidebar = f"<div class='sidebar'><h3>Popular</h3>{link_list(3)}</div>"
    assert _content(f"<html><body><div>{sidebar}{paragraphs}</div><footer><h2>Us</h2></footer></body></html>") == english(30)


def test_a_heading_beside_the_running_text_widens_the_container():
    paragraphs = f"<div>{article_of(english(30)).removeprefix('<h1>The harbour</h1>')}</div>"
    page = f"<html><body><nav><h2>Menu</h2></nav><div><div><h1>The harbour</h1></div>{paragraphs}</div><p>Imprint</p></body></html>"
    assert _content(page) == f"The harbour\n{english(30)}"


_SUMMARY = "<div><h1>Package java.time</h1></div><p>The main API for dates.</p>"


_SECTION = "<section><h2>Description</h2>" + "".join(f"<p>{line}</p>" for line in english(30).splitlines()) + "</section>"


@pytest.mark.parametrize("main", ["<main>%s</main>", "<div role='main'>%s</div>", "<main><div><div>%s</div></div></main>"])
def test_a_long_section_belongs_to_the_name_above_it_in_the_pages_main_part(main: str):
    page = "<html><body><p>Home</p>" + main % (_SUMMARY + _SECTION) + "<p>Imprint</p></body></html>"
    assert _content(page) == f"Package java.time\nThe main API for dates.\nDescription\n{english(30)}"


@pytest.mark.parametrize(
    "frame",
    [
        # No element says where the page's main part is.
        "<div>%(summary)s%(section)s</div>",
        # The name stands outside it.
        "%(summary)s<main>%(section)s</main>",
        # It stands below the section.
        "<main>%(section)s%(summary)s</main>",
        "<main><div class='sidebar'>%(summary)s</div>%(section)s</main>",
        # What is as long as a paragraph is no name.
        "<main><h1>%(long)s</h1>%(section)s</main>",
    ],
)
def test_a_long_section_stands_alone_without_such_a_name(frame: str):
    parts = {"summary": _SUMMARY, "section": _SECTION, "long": " ".join(english(2).split())}
    assert _content(f"<html><body>{frame % parts}<p>Imprint</p></body></html>") == f"Description\n{english(30)}"


def test_a_section_with_a_name_of_its_own_stands_alone():
    section = _SECTION.replace("h2", "h1")
    assert _content(f"<html><body><main>{_SUMMARY}{section}</main></body></html>") == f"Description\n{english(30)}"


def test_one_long_paragraph_is_found_with_its_heading():
    text = " ".join(english(30).split())
    page = f"<html><body><p>Home</p><div><h2>Boats</h2><p>{text}</p></div><footer><h2>Us</h2></footer></body></html>"
    assert _content(page) == f"Boats\n{text}"


@pytest.mark.parametrize(
    "html", ["<html></html>", "<html><body></body></html>", "<html><body><div><p> \n </p></div><script>x</script></body>"]
)
def test_a_page_without_text_has_no_content(html: str):
    assert layout_of(html).blocks == []
    assert said_in(html) == ("", "")


def test_an_empty_layout_has_no_content():
    assert Layout().parts() == NO_PARTS
    assert join([]) == ""


@pytest.mark.parametrize("html", [link_list(30), table(30), "<p>two words</p>", f"<nav>{link_list(10)}</nav>"])
def test_a_page_without_running_text_keeps_all_its_text(html: str):
    assert _content(f"<html><body>{html}</body></html>") == text_of(html) != ""


def test_a_page_of_two_equal_articles_keeps_both():
    page = f"<html><body><div><article>{article_of(english(9))}</article><article>{article_of(chinese(9))}</article></div></body></html>"
    assert _content(page) == text_of(page)


# ---- the walk


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("港口", 6), ("a港口é", 8), ("𠀀", 3), ("한국", 6), ("", 0), ("й ю", 3)])
def test_a_wide_character_is_as_wide_as_three_letters(text: str, width: int):
    assert Block(text, 0, 0).width == width


# ---- deep and broad pages


# ---- properties


_LONG = {"en": f"<h1>The harbour</h1><p>{english(60)}</p>{table(5)}{link_list(3)}<p>{english(20, 1)}</p>"}


_LONG["zh"] = f"<h1>北方的港口</h1><p>{chinese(60)}</p>{table(5)}{link_list(3)}<p>{chinese(20, 1)}</p>"


_words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=120) | st.sampled_from([english(2), chinese(2)])


_FURNITURE = [
    "<nav>{}</nav>",
    "<div class='side-bar'><h3>{}</h3></div>",
    "<aside><a href='/'>{}</a></aside>",
    "<div id='footer'><p>{}</p></div>",
]


_furniture = st.tuples(st.sampled_from(_FURNITURE), _words).map(lambda part: part[0].format(escape(part[1])))


_around = st.lists(_furniture, max_size=4).map("".join)


@pytest.mark.parametrize("language", _LONG)
@given(before=_around, after=_around, title=_words)
def test_furniture_changes_nothing_about_the_content(language: str, before: str, after: str, title: str):
    article = _LONG[language]
    found = said_in(f"<html><body>{before}<p>{escape(title[:40])}</p><div>{article}</div>{after}</body></html>")
    assert found == said_in(f"<html><body><div>{article}</div></body></html>")
    assert found[0] == text_of(article)


@pytest.mark.parametrize(
    "change",
    [
        lambda html: html.replace("<td>-x</td>", "<td>-y</td>"),
        lambda html: html.replace("<td>-o1</td>", "<td></td>"),
        lambda html: html.replace(english(1, 0), "an old captain"),
        lambda html: html.replace("lighthouse", "light-house", 1).replace("灯塔", "塔", 1),
        lambda html: html.replace("<h1>", "<h1>On "),
    ],
)
@pytest.mark.parametrize("language", _LONG)
def test_what_changes_the_article_changes_the_content(language: str, change: Callable[[str], str]):
    article = _LONG[language]
    assert change(article) != article
    for seed in (1, 2):
        assert said_in(site_page(change(article), seed=seed)) == said_in(change(article))
        assert all(a != b for a, b in zip(said_in(site_page(change(article), seed=seed)), said_in(site_page(article)), strict=True))


# ---- beside the content, and unseen


def _beside(html: str) -> list[str]:
    return [block.text for block in layout_of(f"<body><div><article>{ARTICLE}</article></div>{html}</body>").parts().beside]


def test_a_box_outside_the_content_may_be_content_all_the_same():
    assert _beside("<div>Price: 12 crowns</div>") == ["Price: 12 crowns"]
    assert _beside("<div class='widget'><p>Price: 12 crowns</p></div>") == ["Price: 12 crowns"]


@pytest.mark.parametrize(
    "box",
    [
        "<nav>Harbours of the north</nav>",
        "<div class='footer'>Harbours of the north</div>",
        "<div role='dialog'>Harbours of the north</div>",
        "<button>Buy it now</button>",
        "<div>12 May 2024, 10:30</div>",
        "<div><a href='/'>Harbours of the north</a></div>",
        "<div class='widget'><p><a href='/'>Harbours</a> north</p></div>",
    ],
)
def test_furniture_buttons_datelines_and_links_are_nothing_beside(box: str):
    assert _beside(box) == []


def test_heading_facts_and_outer_heading():
    parts = layout_of(
        f"<body><div><h1>Outside</h1></div><div><h2>Inside</h2><p>200 g</p><p>2 kg</p><p>{english(20)}</p></div></body>"
    ).parts()
    assert (parts.heading, parts.facts, parts.outer_heading) == ("Inside", "200 g\n2 kg", "Outside")


@pytest.mark.parametrize(
    ("boxes", "title"),
    [
        ("<div class=title>Boats</div>", "Boats"),
        ("<header><div class='page-title'>Boats</div></header><div class=widget-title>Near you</div>", "Boats"),
        ("<div class=title>Boats</div><div class=title>Trains</div><div class='title sub'>Since 1990</div>", "Since 1990"),
        (f"<div class=title>{english(3)}</div>", ""),
        (f"<p>{english(3)}</p><div class=title>See also</div>", ""),
        ("<div class=title><a href=/>Boats</a></div>", ""),
        ("<div class=title>Boats</div><nav><h1>Arbonet</h1></nav>", ""),
    ],
)
def test_what_a_page_without_an_h1_calls_its_title_is_its_outer_heading(boxes: str, title: str):
    assert layout_of(f"<body>{boxes}<div><h2>Inside</h2><p>{english(20)}</p></div></body>").parts().outer_heading == title


@pytest.mark.parametrize(
    ("body", "heading", "values"),
    [
        # A heading names the page, wherever it stands; a box that calls itself a title does; else its first line.
        ("<h2>Boats</h2><p>Blue</p><p>Red</p>", "Boats", ("Blue", "Red")),
        ("<p>Blue</p><h2>Boats</h2><p>Red</p>", "Boats", ("Blue", "Red")),
        ("<div class=title>Boats</div><p>Blue</p>", "", ("Boats", "Blue")),
        ("<div>Boats</div><p>Blue</p>", "Boats", ("Boats", "Blue")),
        ("<table><tr><th>Colour<td>Blue</table>", "Colour", ("Colour", "Blue")),
        (f"<p>{english(2)}</p><p>Blue</p>", "", ("Blue",)),
    ],
)
def test_short_lines_and_the_first_of_them(body: str, heading: str, values: tuple[str, ...]):
    text = "".join(f"<p>{english(9, seed)}</p>" for seed in range(3))
    parts = layout_of(f"<body><div>{body}{text}<p><a href=/>Home</a></p><p>12 May 2024</p></div></body>").parts()
    assert (parts.heading, parts.values) == (heading, values)


def test_the_contents_of_a_manual_beside_a_page_do_not_hide_its_few_lines():
    entries = "".join(f"<li><a href=/{number}>1.{number} A thing of some name</a></li>" for number in range(400))
    manual = f"<div id=toc><h4><a href=/>The manual</a></h4><ul>{entries}</ul></div>"
    html = f"<body><div id=main><h3>1.7 <code>music-event</code></h3><p>Not accepted by any engraver.</p></div>{manual}</body>"
    parts = layout(lxml_html.document_fromstring(html)).parts()
    assert parts.heading == "1.7 music-event"
    assert [block.text for block in parts.prose] == ["1.7 music-event", "Not accepted by any engraver."]
    # Where all headings are links, as on a page of news, they hold the content.
    assert layout(lxml_html.document_fromstring(f"<body>{manual}</body>")).parts().links


def test_a_box_with_a_doubtful_name_that_holds_the_main_part_is_no_furniture():
    # As the theme of Read the Docs has it: a page of a few lines below a trail of links, beside the contents of a manual.
    entries = "".join(f"<li><a href=/{number}>A thing of some name {number}</a></li>" for number in range(60))
    body = "<div role=main><h1>Cards</h1><table><tr><td>A-LINK DTU</td><td>05e3:f170</td></tr></table></div>"
    wrapped = f"<div class=nav-content><ul><li><a href=/>Home of the whole manual</a></li><li>Cards</li></ul>{body}</div>"
    html = f"<body><nav class=side><ul>{entries}</ul></nav><section>{wrapped}</section></body>"
    assert "05e3:f170" in join(layout_of(html).parts().content)
    assert "05e3:f170" not in join(layout_of(html.replace(" role=main", "")).parts().prose)
