from __future__ import annotations

import logging
import re
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree, html as lxml_html
from trafilatura.utils import DOCTYPE_TAG, repair_faulty_html

from simcrawl.page import extraction
from simcrawl.page.blocks import NO_PARTS, join
from simcrawl.page.extraction import all_prose, decode, extract, main_text, said_texts, shown_texts
from simcrawl.page.walk import layout
from tests.samples import FOREIGN, chinese, english, link_list, page, python, site_page

CHINESE = page(chinese(), head='<meta charset="{}">')


def _extract(html: str, url: str = "", *, tags: bool = False):
    return extract(html.encode(), "utf-8", url, tags=tags)


def test_links_count_in_all_trees_that_the_parser_makes_of_a_broken_page():
    made = extract(b'</htm\0l><a href="/out" rel="nofollow">out</a>', "utf-8", "https://example.org/", main=False)
    assert made.links == ("https://example.org/out",)
    assert len(made.hints.unfollowed) == 1


@pytest.mark.parametrize("encoding", ["gb18030", "gbk", "utf-8", "big5hkscs"])
def test_the_page_s_own_declaration_is_believed(encoding: str):
    text = "".join(letter for letter in chinese() if letter.encode(encoding, "ignore"))
    body = page(text, head=f'<meta charset="{encoding}">').encode(encoding)
    made = extract(body, None, "")
    assert made.main.replace("\n", "") == text.replace("\n", "")


def test_shift_jis_by_an_old_declaration():
    head = '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">'
    made = extract(page(FOREIGN["ja"], head=head).encode("shift_jis"), None, "")
    assert made.main == FOREIGN["ja"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_byte_order_mark_is_believed(encoding: str):
    assert extract(page(chinese()).encode(encoding), None, "").main == chinese()


def test_the_encoding_that_is_given_wins_over_the_declaration():
    body = page(chinese(), head='<meta charset="shift_jis">').encode("gb18030")
    assert extract(body, "gb18030", "").main == chinese()


@pytest.mark.parametrize("wrong", ["nonsense", "hex", "idna", "a\0b", ""])
def test_a_given_encoding_that_cannot_be_falls_back_to_the_declaration(wrong: str):
    body = page(chinese(), head='<meta charset="gb18030">').encode("gb18030")
    assert extract(body, wrong, "").main == chinese()


def test_a_declared_encoding_that_does_not_exist_falls_back_to_utf_8():
    assert extract(page(chinese(), head='<meta charset="klingon">').encode(), None, "").main == chinese()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "gb18030", "gbk", "shift_jis", "euc-kr", "iso2022_jp", "utf-7"])
def test_bytes_that_do_not_decode_stay_apart(encoding: str):
    assert decode(b"a\xff<p>\xff\xff<b>", encoding) == (encoding, "a\uf7ff<p>\uf7ff\uf7ff<b>")


def test_bytes_that_do_not_decode_are_kept_whatever_a_page_declares():
    assert decode(b"<p>a\x81b\xe9", "cp1252") == ("cp1252", "<p>a\uf781b\xe9")
    assert decode(b'<meta charset="utf-8"><p>\xe9\xea', None) == ("utf-8", '<meta charset="utf-8"><p>\uf7e9\uf7ea')
    assert decode(b"\xef\xbb\xbf<p>\xe9", None) == ("utf-8", "<p>\uf7e9")
    # Half a character at the end.
    assert decode("a\u6771".encode("utf-16-le")[:-1], "utf-16-le") == ("utf-16-le", "aq")
    assert decode(b"a\xed\xa0\x80\xff", "utf-8") == ("utf-8", "a\uf7ed\uf7a0\uf780\uf7ff")


@pytest.mark.parametrize("given_to_us", [None, "utf-16", "UTF-16LE", "utf_32"])
@pytest.mark.parametrize("declared", ['<meta charset="utf-16">', '<?xml version="1.0" encoding="utf-16"?>'])
def test_a_page_of_utf_8_that_calls_itself_utf_16_is_read(declared: str, given_to_us: str | None):
    html = f"{declared}{page(chinese())}"
    assert decode(html.encode(), given_to_us) == ("utf-8", html)
    for wide in ("utf-16", "utf-16-le", "utf-32"):
        assert decode(html.encode(wide), wide)[1].removeprefix("\ufeff") == html


@given(
    st.binary(max_size=30),
    st.sampled_from(["utf-8", "ascii", "cp1252", "gbk", "big5", "shift_jis", "euc_jp", "euc-kr", "utf-16", "utf-32"]),
)
def test_what_can_be_decoded_is_what_it_is_and_the_rest_has_no_surrogates(body: bytes, encoding: str):
    kept, replaced = decode(body, encoding)[1], body.decode(encoding, "replace")
    assert kept == replaced or "\ufffd" in replaced
    assert not re.search("[\ud800-\udfff]", kept)


def test_pages_in_another_encoding_than_they_say_keep_their_letters():
    words = "\u0441\u043b\u043e\u0432\u043e", "\u0441\u043b\u0430\u0432\u0430"
    pages = [page("\n".join([" ".join([word] * 20)] * 3)).encode("cp1251") for word in words]
    first, second = (extract(body, "utf-8", "") for body in pages)
    assert first.whole != second.whole
    # trafilatura leaves out what cannot be printed.
    assert first.main == second.main == ""
    assert len(first.whole) == len(extract(pages[0], "cp1251", "").whole)


def test_a_page_says_which_language_it_is_in():
    assert [_extract(f"<html {said}><body><p>a</p></body></html>").language for said in ("lang='de-AT'", "xml:lang='fr'", "")] == [
        "de-AT",
        "fr",
        "",
    ]


@pytest.mark.parametrize("language", FOREIGN)
def test_main_text_in_other_scripts(language: str):
    assert _extract(page("\n".join([FOREIGN[language]] * 3))).whole.count(FOREIGN[language]) == 3
    assert FOREIGN[language] in _extract(page(FOREIGN[language])).main


def test_the_main_text_leaves_out_what_surrounds_it_and_the_whole_text_keeps_it():
    menu = "<nav><ul><li><a href='/x'>Subscribe to newsletter</a></li></ul></nav>"
    html = page(english()).replace("<article>", f"{menu}<article>").replace("</article>", "</article><footer>Imprint of all</footer>")
    made = _extract(html)
    assert made.main == english()
    assert "Subscribe to newsletter" in made.whole
    assert english(5) in made.whole


@pytest.mark.parametrize("end", ["</body></html>", "</html>", "</HTML\n>", "</body></html></body></html>", "</html><html><body>"])
def test_what_follows_an_early_end_of_the_page_is_part_of_it(end: str):
    rest = "<div><p>The rest of it</p><a href='/on'>and a link</a></div></body></html>\n"
    made = _extract(page(english()).replace("</body></html>", f"{end}{rest}"))
    assert made.whole.splitlines()[-2:] == ["The rest of it", "and a link"]
    assert made.links == ("/on",)
    assert _extract(page(english())).whole in made.whole


def test_the_main_text_of_a_page_is_there_for_who_asks():
    body = page(chinese(), head='<meta charset="gb18030">').encode("gb18030")
    assert main_text(body) == main_text(body, "gb18030") == main_text(page(chinese())) == chinese()
    assert main_text(page(chinese(), head='<meta charset="shift_jis">').encode("gb18030"), "gb18030") == chinese()
    for nothing in (b"", "", "\0", "<html><body></body></html>"):
        assert main_text(nothing) == ""


def test_comments_are_no_main_text():
    comments = f"<div id='comments'><p>{english(5, seed=9)}</p></div>"
    assert _extract(page(english()).replace("</body>", f"{comments}</body>")).main == english()


def test_scripts_and_styles_are_no_visible_text():
    made = _extract(page(english(), head="<style>p{colour:red}</style>").replace("</body>", "<script>let hidden = 1</script></body>"))
    assert "hidden" not in made.whole
    assert "colour" not in made.whole


@pytest.mark.parametrize(
    "html",
    [
        f"<p>{english()}</p>",
        f"<div><p>{english()}</p></div>",
        f"<body><p>{english()}</p></body>",
        "\n" * 80 + f"<html><body><p>{english()}</p></body></html>",
        f"<table><tr><td>{english()}</td></tr></table>",
        f"<h1>A title</h1><p>{english()}</p>",
    ],
)
def test_fragments_and_untidy_pages_have_their_text(html: str):
    made = _extract(html)
    for text in (made.main, made.whole):
        assert text.replace("|", " ").split()[-50:] == english().split()[-50:]


@pytest.mark.parametrize(
    ("links", "outlinks"),
    [
        ((), 0),
        (("/a", "/b"), 2),
        (("/a", "a", "../a", "http://example.org/a", "/a#part"), 2),
        (("#top", "", "page", "http://example.org/dir/page"), 0),
        (("https://other.example/", "//other.example/"), 2),
        (("mailto:x@example.org", "javascript:void(0)", "tel:123", "ftp://example.org/"), 0),
        (("http://[broken", " /a ", "/a"), 1),
    ],
)
def test_outlinks_are_distinct_targets_on_the_web(links: tuple[str, ...], outlinks: int):
    assert _extract(page(english(), links=links), "http://example.org/dir/page").outlinks == outlinks


@pytest.mark.parametrize(
    ("links", "found"),
    [
        ((), ()),
        (("/b", "/a", "/b"), ("http://example.org:8080/a", "http://example.org:8080/b")),
        # Queries count, fragments do not.
        (
            ("http://example.org:8080/a?sid=1", "/a?sid=2#part", "/a?sid=1#top"),
            ("http://example.org:8080/a?sid=1", "http://example.org:8080/a?sid=2"),
        ),
        (("?page=2", "#top", ""), ("http://example.org:8080/dir/page", "http://example.org:8080/dir/page?page=2")),
        (("../a", "a", "./a", "/dir/a"), ("http://example.org:8080/a", "http://example.org:8080/dir/a")),
        ((" /a ", "mailto:x@example.org", "http://[broken"), ("http://[broken", "http://example.org:8080/a", "mailto:x@example.org")),
    ],
)
def test_links_are_the_addresses_they_lead_to(links: tuple[str, ...], found: tuple[str, ...]):
    assert _extract(page(english(), links=links), "http://example.org:8080/dir/page").links == found


@pytest.mark.parametrize("url", ["http://[broken", "http://example.org:port/", "no url", ""])
def test_the_links_of_a_page_of_any_url(url: str):
    made = _extract(page(english(), links=("/a", "http://b/?c")), url)
    assert len(made.links) == 2
    assert "http://b/?c" in made.links


_BASES = [
    "http://example.org/x/y.html",
    "https://example.org",
    "http://e.org:8000/a?b",
    "ftp://e.org/y",
    "",
    "http://u@e.org/x",
    "HTTP://E.org/A",
    "//e.org/y",
    "http://e.org/a/b/",
    "http://e.org/a/b/c?d/e",
    "http://e.org/a//b/c",
    "http://e.org/a/../b/c",
    "http://e.org/a;p/b;q",
]
_STARTS = [
    "a",
    "b/",
    "/",
    "//",
    "http://example.org",
    "https://e.org/",
    "HTTP://e.org",
    "http://[::1]/",
    "http://[/",
    "ftp://e.org/",
    "mailto:",
    "",
    "?",
    "http://é.org/",
]
_STEPS = ["/", "a", ".", "..", "/..", "../", "b.html", ";", ":", ":80", "@", "%20", "é", "\t", "\\", " ", "[", "?", "a=b", "&", "#", "#c"]


@given(st.sampled_from(_BASES), st.sampled_from(_STARTS), st.lists(st.sampled_from(_STEPS), max_size=5))
@settings(max_examples=2000)
def test_every_link_leads_where_the_library_for_urls_says(base: str, start: str, steps: list[str]):
    href = "".join((start, *steps)).strip()
    try:
        target = urldefrag(urljoin(base, href)).url
    except ValueError:
        target = href
    made = extract(f'<html><body><a href="{escape(href)}">x</a></body></html>'.encode(), "utf-8", base, main=False)
    assert made.links == (target,)
    assert made.outlinks == _is_outlink(target, base)


def _is_outlink(target: str, base: str) -> bool:
    try:
        return target != urldefrag(base).url and urlsplit(target).scheme in ("http", "https", "")
    except ValueError:
        return False


def test_links_are_relative_to_the_base_that_a_page_names():
    html = page(english(), links=("next.html",)).replace("<head>", "<head><base href='/two/'>")
    assert _extract(html, "http://example.org/one/page").links == ("http://example.org/two/next.html",)


def test_one_page_in_two_directories_leads_to_other_pages():
    html = page(english(), links=("next.html",))
    a, b = (_extract(html, f"http://example.org/{directory}/index.html") for directory in ("1.0", "2.0"))
    assert (a.links, b.links) == (("http://example.org/1.0/next.html",), ("http://example.org/2.0/next.html",))


def test_areas_of_maps_are_outlinks_and_images_are_none():
    html = page(english()).replace("</body>", '<map><area href="/m"></map><img src="/i"><link href="/l"></body>')
    made = _extract(html, "http://example.org/")
    assert (made.outlinks, made.links) == (1, ("http://example.org/m",))


def test_a_page_without_a_url_counts_relative_links_as_they_stand():
    assert _extract(page(english(), links=("a", "b#x", "b#y", "#z"))).outlinks == 2


def test_tag_paths_are_those_of_all_elements_in_order():
    html = "<html><head><title>x</title></head><body><div><p>a<!-- c --></p><p>b</p></div></body></html>"
    paths = ["", "/head", "/head/title", "/body", "/body/div", "/body/div/p", "/body/div/p"]
    assert _extract(html, tags=True).tags.split() == [f"html{path}" for path in paths]
    assert _extract(html).tags == ""


def test_an_extractor_of_the_user_gets_the_page_as_it_came():
    body = page(chinese()).encode("gb18030")
    made = extract(body, "gb18030", "http://x/", extractor=lambda *call: repr(call))
    assert made.main == repr((body, "gb18030", "http://x/"))
    assert chinese(5) in made.whole


def test_a_user_s_text_is_all_prose():
    made = extract(page(english()).encode(), "utf-8", "", extractor=lambda *_: "one\n\ntwo three")
    assert made.parts == all_prose("one\n\ntwo three")
    assert [join(part) for part in made.parts[:6]] == ["one\n\ntwo three", "one\n\ntwo three", "", "", "", ""]


def test_an_empty_text_has_no_parts():
    assert all_prose("") == NO_PARTS
    assert extract(b"", "utf-8", "", extractor=lambda *_: "a text").parts == all_prose("a text")


def test_the_parts_are_those_of_the_blocks_whoever_asks_for_the_main_text():
    html = site_page(f"<h1>The harbour</h1><p>{english(30)}</p>{link_list(3)}")
    made, without = extract(html.encode(), "utf-8", ""), extract(html.encode(), "utf-8", "", main=False)
    assert english(1) in made.main
    assert without == replace(made, main="")
    tree = lxml_html.document_fromstring(html)
    assert made.parts == layout(tree).parts()
    assert join(made.parts.links) == "\n".join(english(1, number) for number in range(3))


def test_trafilatura_is_not_called_where_nobody_asks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("simcrawl.page.extraction._main", lambda _: pytest.fail("called"))
    assert extract(page(english()).encode(), "utf-8", "", main=False).main == ""
    assert extract(page(english()).encode(), "utf-8", "", extractor=lambda *_: "own").main == "own"


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<!DOCTYPE html>",
        "<!DOCTYPE html><html><p>a",
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://w3.org/x.dtd"><html>\n<p>a</p>',
        '< !doctype a/b><!DOCTYPE c/d>\n<html lang="en" />\n<p>a<br/>',
        "\n\n<html />\n<html/>",
        "\n\n\n\n<html/>",
        "<html>\x00\x0b\t\x1f\x7f\x85\ufffe\uffff\ud800\U0001fffe</html>",
        "\x01<!doc\x02type html/>\n<p>",
        "<p>\ufffe</p>",
    ],
)
def test_a_page_is_mended_as_trafilatura_does(html: str):
    assert extraction._mended(html) == repair_faulty_html(html, html[:50].lower())


_TEXT = "<h1>The harbour</h1><p>The harbour is open by day, and by night as well.</p>"


@pytest.mark.parametrize(
    "html",
    [
        f"<!doctype html><title>T</title><main>{_TEXT}</main>",
        f"<!doctype html><html lang=en><meta charset=utf-8><title>T</title><ARTICLE class=a>{_TEXT}</ARTICLE>",
        f"<html><head><title>T</title><header>{_TEXT}</header><p>More</p></html>",
        f"<html><title>T</title><my-page>{_TEXT}</my-page>",
        f"<html><title>T</title><body class=a><main>{_TEXT}</main></body></html>",
        f"<html><title>T</title><BODY><main>{_TEXT}</main>",
        f"<html><title>T</title><div><main>{_TEXT}</main></div>",
    ],
)
@pytest.mark.parametrize("plain", [True, False])
def test_a_body_whose_tag_is_left_out_begins_where_it_does_in_a_browser(html: str, *, plain: bool):
    tree = extraction.parse(html, plain=plain)
    assert tree is not None
    assert [element.tag for element in tree] == ["head", "body"]
    assert [element.tag for element in tree[0]] in (["title"], ["meta", "title"])
    assert tree.findtext(".//body//h1") == "The harbour"


_PIECES = ["<!DOCTYPE html", "<html", "/", ">", "/>", " ", "\n", "\r", "\x0c", "\x00", "\uffff", "a", "<p>"]


# Before 2.3 it takes more of such a line away, as the ">" after "<!DOCTYPE html/>": nothing of a page depends on it.
@pytest.mark.skipif(DOCTYPE_TAG.pattern != extraction._DOCTYPE_WITH_SLASH.pattern, reason="an older trafilatura mends otherwise")
@given(st.lists(st.sampled_from(_PIECES)).map("".join))
def test_any_page_is_mended_as_trafilatura_does(html: str):
    assert extraction._mended(html) == repair_faulty_html(html, html[:50].lower())


def test_a_whole_page_needs_no_trafilatura():
    code = """
import sys
from simcrawl.page.fingerprint import fingerprint_page
fingerprint_page("<!DOCTYPE html><html><body><p>A page of some words.</p></body></html>")
print("trafilatura" in sys.modules)
"""
    assert python(code) == "False"


_IN_FRONT = [
    '<?xml version="1.0"?>',
    '<?xml version="1.0" encoding="iso-8859-1"?>\n',
    "<!-- by a program -->",
    "<!DOCTYPE html>",
    "\ufeff",
    "a",
]
_OF_A_PAGE = ["<html>", "<head>", "</head>", "<title>T</title>", "<body>", "</body>", "<frameset>", "<p>\xe9", "<br/>", "\ud800", "</html>"]


@given(st.lists(st.sampled_from(_IN_FRONT), max_size=2), st.lists(st.sampled_from(_OF_A_PAGE), min_size=1))
def test_a_plain_tree_is_that_of_trafilatura(front: list[str], rest: list[str]):
    html = "".join(front + rest)
    plain, other = (extraction.parse(html, plain=plain) for plain in (True, False))
    assert _told(plain) == _told(other)


def _told(tree: Any) -> list[Any]:
    return [] if tree is None else [(one.tag, dict(one.attrib), one.text, one.tail) for one in tree.iter()]


def test_a_page_with_something_in_front_needs_no_trafilatura():
    code = """
import sys
from simcrawl.page.fingerprint import fingerprint_page
page = "<html><head><title>A page</title></head><body><p>A page of some words.</p></body></html>"
fingerprint_page('<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>' + page)
fingerprint_page("<!-- made by a program -->" + page)
print("trafilatura" in sys.modules)
"""
    assert python(code) == "False"


def test_trafilatura_says_nothing(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]):
    for html in ("<p>", "<html></html>", "<html><body><script>x</script>", page("a")):
        _extract(html)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("trafilatura").level == logging.CRITICAL


def test_a_level_that_the_user_set_for_trafilatura_stays():
    code = """
import logging
logging.getLogger("trafilatura").setLevel(logging.INFO)
import simcrawl.page.extraction
print(logging.getLogger("trafilatura").level == logging.INFO)
"""
    assert python(code) == "True"


def test_texts_that_readers_see_are_those_between_tags_and_the_title():
    html = "<title>One</title><style>p {}</style><p data-x=no>two <b>three</b> four<!-- no --> five<script>no</script> six"
    assert "".join(shown_texts(html)).split() == ["One", "two", "three", "four", "five", "six"]
    assert shown_texts("") == shown_texts("<!-- no") == []


def test_words_end_with_their_block_and_with_no_script():
    html = "<table><tr><td>A</td><td>12</td></tr></table>one <b>li</b>ne<script>no</script>s\nare one"
    assert [line for line in "".join(shown_texts(html)).splitlines() if line] == ["A", "12", "one lines are one"]


def test_what_a_page_says_of_itself_is_no_link_no_form_and_no_furniture():
    html = (
        "<html><head><title>T</title></head><body><nav>menu</nav>a<a href=x>link <b>of it</b></a>b<!-- c -->d<?e f?>g"
        "<div class='breadcrumb'>x <b>y</b></div>h<h2>n</h2><p>i <b>j</b> k</p>"
        "<select><option>1</select><button>go</button><footer>z</footer>l<script>s</script>m</body></html>"
    )
    assert "".join(said_texts(html, headings=False)).split() == ["abdg", "h", "i", "j", "k", "l", "m"]
    assert "".join(said_texts(html, headings=True)).split() == ["abdg", "h", "n", "i", "j", "k", "l", "m"]
    assert said_texts("", headings=True) == said_texts("<!-- no", headings=True) == []


def test_what_a_page_says_without_the_tags_that_html_lets_it_leave_out():
    html = "<!doctype html><title>n</title><main><h1>h</h1><p>text</main><aside>Hall <b>7</b></aside>"
    assert "".join(said_texts(html, headings=True)).split() == ["h", "text", "Hall", "7"]
    assert "".join(shown_texts(html)).split() == ["n", "h", "text", "Hall", "7"]


def test_what_stands_in_boxes_with_doubtful_names_is_said_unless_most_of_it_is_links():
    html = (
        "<div class=promo-price>12 <b>EUR</b> <a href=/vat>and VAT</a></div><div class=comment><a href=/anna>Anna</a> likes it"
        "<script>var none</script></div><div class=comment><a href=/ben>Ben was here, too</a> yes</div><dl><dd class=sponsor>Carl</dd></dl>"
        "<p class=widget>Dora</p><p class=widget-value>Edda</p><div class=sponsor>Emil</div>"
        "<div class=related><a href=/x>Fay</a> costs 17 EUR and no more</div><span class=share-count>1043</span>"
    )
    assert "".join(said_texts(html, headings=True)).split() == ["12", "EUR", "likes", "it", "Carl", "Edda"]


def test_of_a_page_of_boxes_with_doubtful_names_in_one_another_the_links_are_measured_once(monkeypatch: pytest.MonkeyPatch):
    walks, iterwalk = [], etree.iterwalk

    def walk(tree: Any, **options: Any) -> Any:
        walks.append(tree)
        return iterwalk(tree, **options)

    monkeypatch.setattr("simcrawl.page.extraction.etree.iterwalk", walk)
    assert "".join(said_texts("<div class=comment>" * 200 + "<a href=/x>x</a>text", headings=True)).split() == ["text"]
    assert len(walks) == 2


def test_a_deep_page_is_looked_at_for_what_it_says():
    assert said_texts("<div>" * 5_000 + "text", headings=True)[:1] in ([], ["text"])
