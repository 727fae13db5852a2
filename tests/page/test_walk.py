from __future__ import annotations

import re
from html import unescape
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st
from lxml import etree, html as lxml_html
from lxml.builder import ElementMaker

from simcrawl.page.blocks import Block, join
from simcrawl.page.walk import layout
from tests.samples import english, site_page, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.html import HtmlElement
from tests.page.layouts import ARTICLE, article_of, layout_of, lines_in, lines_of, prose_of, said_in, text_of

E = ElementMaker(makeelement=lxml_html.html_parser.makeelement)


def test_links_within_a_sentence_are_prose():
    article = article_of(english(20)) + f"<p>{english(1)} <a href='/x'>the lighthouse</a> {english(1, 3)}</p>"
    assert prose_of(site_page(article)) == text_of(article)


def test_an_anchor_without_a_target_is_no_link():
    article = article_of(english(20)) + "<p><a name='boats'>Of seven wooden boats</a></p>"
    assert prose_of(article).endswith("Of seven wooden boats")


def test_an_id_of_several_words_takes_nothing_from_the_class():
    for attributes, around in (("id='the-harbour-menu'", False), ("id='the-harbour-menu' class='menu'", True)):
        page = f"<div>{article_of(english(20))}<div {attributes}>the lighthouse opens</div></div>"
        assert ("the lighthouse opens" not in prose_of(page)) == around


@pytest.mark.parametrize(
    ("page", "around"),
    [
        ("<body><header>{said}</header><div>{article}</div>", True),
        ("<body><div><header>{said}</header></div><div>{article}</div>", True),
        ("<body><article><header>{said}</header>{article}</article>", False),
        ("<body><main><header>{said}</header>{article}</main>", False),
        # Here it has the page's own heading.
        ("<body><div><header><h1>All of it</h1>{said}</header>{article}</div>", False),
        ("<body><div><header><div><h1>All of it</h1></div>{said}</header>{article}</div>", False),
        ("<body><div><header class='masthead'><div><h1>All of it</h1></div>{said}</header>{article}</div>", False),
    ],
)
def test_a_header_is_furniture_where_it_is_that_of_the_site(page: str, around: bool):
    parts = layout_of(page.format(said="<p>the lighthouse opens</p>", article=article_of(english(20)))).parts()
    assert ("the lighthouse opens" in join(parts.around)) == around
    # Where it does not consist of links it may say something all the same.
    assert ("the lighthouse opens" in join(parts.beside)) == around


def test_text_is_cut_at_breaks_and_nowhere_else():
    html = "<p>one <b>bold</b>ly<i> said</i><br>two<img>three</p>four<div>five<span>six</span></div>seven<ul><li>eight<li>nine</ul>ten"
    assert lines_in(html) == ["one boldly said", "twothree", "four", "fivesix", "seven", "eight", "nine", "ten"]


def test_white_space_is_one_space():
    assert lines_in("<p>\n a \t b\u00a0\u3000c&nbsp;</p><p>\u2003</p>") == ["a b c"]


@pytest.mark.parametrize("attribute", ["hidden", "style='display:none'", "aria-hidden='true'", "class='hidden'"])
def test_hidden_text_counts(attribute: str):
    article = article_of(english(20))
    page = f"<html><body><div>{article}<div {attribute}>{english(3, 7)}</div></div></body></html>"
    for text in (text_of(page), *said_in(page)):
        assert english(3, 7) in text


@pytest.mark.parametrize(
    "unseen", ["<script>no</script>", "<style>no</style>", "<noscript><p>no</p></noscript>", "<template>no</template>"]
)
def test_scripts_and_their_like_are_left_out_and_what_follows_them_is_not(unseen: str):
    assert lines_in(f"<div>before {unseen} after<p>and {unseen}{unseen} on</p></div>") == ["before after", "and on"]


def test_what_stands_in_unseen_elements_is_unseen_however_deep():
    html = "<div>a<svg><title>no</title><g><!-- no -->no<text>no</text>no</g>no</svg>b<select><option>no</option>no</select>c</div>"
    assert lines_in(html) == ["abc"]


def test_the_title_of_the_page_is_no_part_of_it():
    assert lines_in("<html><head><title>no</title></head><body>yes</body></html>") == ["yes"]


@pytest.mark.parametrize("inserted", ["<!-- no -->", "<?php no ?>", "<!-- no --><!-- no -->", "<?no?><!-- no -->"])
def test_what_follows_a_comment_or_an_instruction_is_kept(inserted: str):
    marked = "<div>@one @<p>@two @three@</p>@ four <a href='/'>five @six@</a>@ @</div>"
    plain, found = (layout_of(marked.replace("@", instead)) for instead in ("", inserted))
    assert lines_of(found) == ["one", "two three", "four five six"]
    assert found == plain


@pytest.mark.parametrize("make", [lambda: etree.Comment("no"), lambda: etree.ProcessingInstruction("php", "no")])
def test_nodes_that_are_no_elements_are_passed_over(make: Callable[[], Any]):
    # Parsers differ in what they make of <?php: libxml2 2.14 makes a comment.
    tree = E.div("one", E.a("two", href="/"), " three")
    for inside in (tree, tree[0]):
        node = make()
        node.tail = " and"
        inside.insert(0, node)
    assert layout(tree).blocks == [Block("one andtwo and three", 1, 6)]


def test_links_count_whatever_stands_in_them():
    (block,) = layout_of("<p>one <a href='/'>two <b>three <i>four</i></b><!-- no --> five</a> six</p>").blocks
    assert block == Block("one two three four five six", 3, len("twothreefourfive"))


def test_a_tree_without_a_break_is_one_block():
    assert layout(E.span("one ", E.b("two"), " three")).blocks == [Block("one two three", 0, 0)]


def test_only_the_tree_that_is_given_is_walked():
    tree = lxml_html.document_fromstring("<!-- no --><html><body><div id='a'>one</div>two</body></html><!-- no -->")
    assert join(layout(tree).blocks) == "one\ntwo"


def test_a_page_is_left_as_it_was():
    tree = lxml_html.document_fromstring(site_page(article_of(english(20)) + table(5)))
    before = etree.tostring(tree)
    assert layout(tree) == layout(tree)
    assert layout(tree).parts() == layout(tree).parts()
    assert etree.tostring(tree) == before


def test_blocks_know_their_element_and_their_links():
    found = layout_of("<html><body><p>a <a href='/'>b c</a></p><div>d</div></body></html>")
    assert found.blocks == [Block("a b c", 3, 2), Block("d", 5, 0)]
    assert found.parents == [0, 0, 1, 2, 3, 2]


MANY = 100_000


def _nest(inside: HtmlElement, tag: str) -> None:
    """Put an article deep into an element."""
    # Parsers stop at a depth of 2,048. Inside out and in pieces: appending costs as much as there is above.
    nested = [E.h1("The harbour"), E.p(english(20))]
    for _ in range(MANY // 500):
        piece = [E(tag)]
        for _ in range(499):
            piece.append(etree.SubElement(piece[-1], tag))
        piece[-1].extend(nested)
        nested = piece[:1]
    inside.append(nested[0])


@given(st.lists(st.sampled_from(["<div>", "</div>", "<p>a", "<b>b", "</b>", "<ul><li>c", "</ul>", "<nav>d", "<script>"]), max_size=40))
def test_an_element_ends_behind_all_that_stand_in_it(pieces: list[str]):
    found = layout_of("".join(["<html><body>e", *pieces]))
    number = len(found.parents)
    last = list(range(number))
    for element in range(number - 1, 0, -1):
        last[found.parents[element]] = max(last[found.parents[element]], last[element])
    assert found.ends == [element + 1 for element in last]


@pytest.mark.parametrize("tag", ["div", "span", "nav"])
def test_very_deep_nesting(tag: str):
    tree = E.body(E.p("Imprint"), E.div())
    _nest(tree[1], tag)
    found = layout(tree)
    assert len(found.parents) > MANY
    parts = found.parts()
    content = join(parts.content)
    assert parts.content == parts.prose
    assert content.split() == f"The harbour {english(20)}".split()


def test_very_deep_nesting_of_what_is_not_seen():
    tree = E.div(E.p("seen"), E.svg(), "too")
    _nest(tree[1], "g")
    assert lines_of(layout(tree)) == ["seen", "too"]


@pytest.mark.parametrize(
    ("sibling", "lines"),
    [
        ("<p>a captain</p>", ["a captain"] * MANY),
        ("<br>", []),
        ("a<br>", ["a"] * MANY),
        ("<b>x</b>", ["x" * MANY]),
        ("<!-- no -->x", ["x" * MANY]),
        ("<i></i>", []),
    ],
)
def test_very_many_siblings(sibling: str, lines: list[str]):
    found = layout_of(f"<html><body><div>{sibling * MANY}</div><div>{article_of(english(20))}</div></body></html>")
    assert lines_of(found) == [*lines, "The harbour", *english(20).splitlines()]
    parts = found.parts()
    assert parts.content[-5:] == parts.prose[-5:] == found.blocks[-5:]
    assert sorted(map(id, parts.prose + parts.links + parts.around)) == sorted(map(id, found.blocks))


_SEEN = ["div", "p", "span", "a", "b", "li", "table", "td", "h2", "nav", "aside", "main", "br"]


_UNSEEN = ["script", "template", "svg", "select", "noscript"]


_trees: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([*_SEEN, *_UNSEEN, "!"]).map(lambda tag: (tag, [])),
    lambda children: st.tuples(st.sampled_from(_SEEN * 2 + _UNSEEN), st.lists(children, max_size=4)),
    max_leaves=25,
)


def _build(spec: tuple[str, list[Any]], seen: list[str], *, visible: bool = True) -> Any:
    """Return a tree in which every text and tail is another word; those that are visible are added to `seen`, in order."""
    tag, children = spec
    if tag == "!":
        return etree.Comment("unseen")
    element = E(tag, {"href": "/", "class": "menu" if len(children) == 3 else "x"})
    visible = visible and tag not in _UNSEEN

    def word() -> str:
        made = f" w{len(seen)} " if visible else " unseen "
        if visible:
            seen.append(made.strip())
        return made

    element.text = word()
    for child in children:
        element.append(_build(child, seen, visible=visible))
        element[-1].tail = word()
    return element


@given(_trees)
def test_every_visible_word_stands_once_and_in_order_in_the_whole_text(spec: tuple[str, list[Any]]):
    words: list[str] = []
    tree = E.html(_build(("div", [spec]), words))
    found = layout(tree)
    assert join(found.blocks).split() == words
    content, *parts = found.parts()[:4]
    start = found.blocks.index(content[0])
    assert found.blocks[start : start + len(content)] == content
    # Every text is another one: no block is in two parts, none is missing, all stand in order.
    assert sorted(chain(*parts), key=found.blocks.index) == found.blocks
    assert all(part == sorted(part, key=found.blocks.index) for part in parts)
    prose, links, _ = parts
    assert all(block in content and block.is_links == (block in links) for block in prose + links)
    assert all(parent < number for number, parent in enumerate(found.parents) if number)
    assert all(block.text == " ".join(block.text.split()) != "" for block in found.blocks)
    assert all(0 <= block.link_characters <= len(block.text.replace(" ", "")) for block in found.blocks)


@given(_trees, st.integers(0, 3))
def test_an_element_around_everything_changes_nothing(spec: tuple[str, list[Any]], depth: int):
    plain, wrapped = E.body(_build(spec, [])), _build(spec, [])
    for _ in range(depth):
        wrapped = E.div(wrapped)
    a, b = layout(plain), layout(E.body(wrapped))
    assert join(a.blocks) == join(b.blocks)
    assert [join(part) for part in a.parts()[:6]] == [join(part) for part in b.parts()[:6]]


@pytest.mark.parametrize(
    ("html", "unseen"),
    [
        ("<noscript>the picture of a ship</noscript>", ["the picture of a ship"]),
        ("<template><p>one</p><p>two</p></template>", ["one", "two"]),
        ("<svg><text>January 12</text><g><text>March</text></g></svg>", ["January 12", "March"]),
        ("<select><option>red<option>blue</select>", ["red", "blue"]),
        ("<img alt='A ship in the harbour at dawn'>", ["a picture shows here: A ship in the harbour at dawn"]),
        ("<img alt='A ship'>", []),
        ("<a href='/x'><img alt='A ship in the harbour at dawn'></a>", []),
        ("<input value='twelve'><input type='hidden' value='x17'>", ["twelve"]),
        ("<iframe src='/map?at=12'></iframe>", ["embedded iframe to show here, in the place of words of the page's own: /map?at=12"]),
        ("<iframe src='/ads/12'></iframe><iframe src='/x' width=1></iframe><iframe></iframe>", []),
        ("<p>.-- .... .- -</p>", ["2ex 2dx 2dx   2ex 2ex 2ex 2ex   2ex 2dx   2dx"]),
        ("<p>wait... what?</p>", []),
        ("<style>.x{}</style><script>f()</script>", []),
    ],
)
def test_what_a_browser_does_not_show_as_text_is_unseen(html: str, unseen: list[str]):
    found = layout_of(f"<body><div>{ARTICLE}{html}</div></body>")
    assert [block.text.split() for block in found.parts().unseen] == [text.split() for text in unseen]


def test_what_is_unseen_in_furniture_does_not_count():
    hidden = "<noscript>the picture of a ship</noscript><img alt='A ship in the harbour at dawn'>"
    assert layout_of(f"<body><div>{ARTICLE}</div><nav>menu {hidden}</nav></body>").parts().unseen == []


def test_a_page_without_content_that_a_program_draws_is_a_shell():
    drawn = layout_of(f"<body><div id='root'>{ARTICLE}</div></body>")
    shell = layout_of(f"<body><div id='root'></div><p>{english(2)}</p></body>")
    assert (drawn.is_drawn, drawn.is_shell) == (True, False)
    assert (shell.is_drawn, shell.is_shell) == (True, True)


@pytest.mark.parametrize("mount", ["<div id='app'>%s</div>", "<app-root><p>%s</p></app-root>", "<shop-app><div>%s</div></shop-app>"])
def test_a_shell_says_at_most_that_it_loads(mount: str):
    loading, drawn = (layout_of(f"<body>{mount % text}<p>{english(9)}</p></body>") for text in ("Loading, please wait ...", english(3)))
    assert (loading.is_drawn, loading.is_shell) == (True, True)
    assert (drawn.is_drawn, drawn.is_shell) == (True, False)


@pytest.mark.parametrize("tag", ["wrapper-box", "approach-text", "x-grassroots"])
def test_not_every_component_is_where_a_program_draws(tag: str):
    assert not layout_of(f"<body><{tag}></{tag}><p>{english(9)}</p></body>").is_drawn
    assert not layout_of(f"<body><div>{ARTICLE}</div></body>").is_drawn


_LETTER = [english(1, seed=number) for number in range(50, 56)]


_MARKED = "".join(f"\n&gt; {line}" for line in _LETTER)


_QUOTING = {
    "lines": f"<pre>I agree.\n{_MARKED}\nSo do they.</pre>",
    "marked lines": f"<pre>I agree.\n<span class=q>{_MARKED}</span>\nSo do they.</pre>",
    "addresses": f"<pre>I agree.\nOn Monday &lt;<a href='mailto:a@b.test'>a at b.test</a>&gt; wrote:{_MARKED}\nSo do they.</pre>",
    "breaks": f"<div>I agree.{_MARKED.replace(chr(10), '<br>' + chr(10))}<br>So do they.</div>",
    "cited": f"<p>I agree.</p><blockquote type=cite>{'<br>'.join(_LETTER)}</blockquote><p>So do they.</p>",
    "gmail": f"<p>I agree.</p><div class=gmail_quote>{'<br>'.join(_LETTER)}</div><p>So do they.</p>",
    "hidden": f"<p>I agree.</p><div class=quoted-text>{'<br>'.join(_LETTER)}</div><p>So do they.</p>",
}


def _said(html: str) -> str:
    return " ".join(html.replace(">", " ").split())


@pytest.mark.parametrize("form", _QUOTING)
def test_what_a_letter_quotes_stands_beside_it(form: str):
    parts = layout_of(f"<body><div><h1>Re: boats</h1>{_QUOTING[form]}</div></body>").parts()
    content, beside = (_said(join(blocks)) for blocks in (parts.content, parts.beside))
    assert "I agree." in content
    assert content.endswith("So do they.")
    assert not any(_said(line) in content for line in _LETTER)
    assert all(_said(line) in beside for line in _LETTER)


@pytest.mark.parametrize(
    "text",
    [
        f"<pre>{chr(10).join(f'&gt;&gt;&gt; f({line})' for line in _LETTER)}</pre>",
        "<pre>See\n&gt; ls -l here</pre>",
        f"<p>{_LETTER[0]} &gt; {_LETTER[1]}</p>",
        f"<p>&gt; {_LETTER[0]}</p><p>{_LETTER[1]}</p><p>&gt;{_LETTER[2]}</p>",
        "<p>&gt; <a href='/'>Boats of the north that sail</a></p>",
        "<p>&gt; Boats</p>",
        f"<blockquote>{_LETTER[0]}</blockquote>",
    ],
)
def test_prompts_comparisons_and_other_quotations_are_content(text: str):
    html = f"<body><div><h1>Boats</h1><p>{english(9)}</p>{text}</div></body>"
    assert not any(block.is_quoted for block in layout_of(html).blocks)
    assert join(layout_of(html).parts().content) == text_of(html)


def test_a_letter_keeps_all_its_words():
    for html in _QUOTING.values():
        words = unescape(re.sub("<[^>]*>", " ", html))
        assert sorted(re.findall(r"\w+", text_of(html))) == sorted(re.findall(r"\w+", words))
