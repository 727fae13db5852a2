from __future__ import annotations

import pytest

from simcrawl.page.blocks import join
from simcrawl.page.furniture import is_furniture, kinds, leads_on, may_be_subject
from tests.page.layouts import article_of, layout_of, prose_of, text_of
from tests.samples import english


@pytest.mark.parametrize(
    ("called", "is_content"),
    [
        ("post-7 hentry category-cookies", True),
        ("node node-newsletter", True),
        ("product product_cat-ads", True),
        # That of no page.
        ("category-cookies", False),
        ("node-newsletter", False),
        ("newsletter", False),
    ],
)
def test_what_a_page_is_about_may_be_said_in_the_classes_of_its_own_box(called: str, *, is_content: bool):
    parts = layout_of(f"<body><main><h1>The harbour</h1><div class='{called}'><p>Salt</p></div><p>{english(20)}</p></main></body>").parts()
    assert ("Salt" in join(parts.prose)) == is_content


@pytest.mark.parametrize("called", ["mw-revision", "printfooter"])
def test_which_version_of_a_page_this_is_says_nothing_of_it(called: str):
    parts = layout_of(f"<body><main><h1>The harbour</h1><p>{english(20)}</p><div class={called}>The one by Ann</div></main></body>").parts()
    assert "Ann" not in join([*parts.content, *parts.beside])


@pytest.mark.parametrize(("name", "own"), [("card-footer", True), ("card__footer", True), ("panel-footer", True), ("page-footer", False)])
def test_the_foot_of_a_card_is_content(name: str, own: bool):
    card = f"<div class=card><h1>Gold</h1><p>{english(20)}</p><div class={name}><p>Symbol</p></div></div>"
    assert [*layout_of(f"<body><main>{card}</main></body>").parts().values] == ["Symbol"] * own


NAMES = {
    "nav navbar menu side-bar sideBar sidebar breadcrumb bread-crumbs foot footer pageFooter masthead banner ad ads advertisement": True,
    "related relatedTopics share-bar social-icons comments cookie popup newsletter pager copyright": True,
    "navy unshared add header headline adage loading shadow upload content body commentary bannerman side": False,
}


@pytest.mark.parametrize(("name", "around"), [(name, around) for names, around in NAMES.items() for name in names.split()])
def test_furniture_is_known_by_its_name_as_a_word_of_its_own(name: str, around: bool):
    for attribute in ("class", "id"):
        page = f"<div>{article_of(english(20))}<div {attribute}='x1 {name}'>the lighthouse opens</div></div>"
        assert ("the lighthouse opens" not in prose_of(page)) == around
        assert "the lighthouse opens" in text_of(page)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("content main", ""),
        ("breadcrumbs", "around trail"),
        ("siteNav", "links"),
        ("related-topics", "links"),
        ("has-sidebar side-bar", "sidebar"),
        ("gmail_quote", "letter"),
        ("post-title", "title"),
        ("site-title", ""),
        ("hentry category-cookies", ""),
        ("category-cookies", "around"),
        ("nav " * 100, "links"),
    ],
)
def test_what_a_box_calls_itself(names: str, found: str):
    told = kinds(names)
    assert " ".join(name for name, is_so in told._asdict().items() if is_so) == found if told else not found


@pytest.mark.parametrize(
    ("names", "may_be"), [("cookie-recipe", True), ("sponsorProfile", True), ("cookie-banner", False), ("cookie", False)]
)
def test_what_a_page_may_be_about_is_more_than_a_name_of_furniture(names: str, may_be: bool):
    assert may_be_subject(names) == may_be


@pytest.mark.parametrize(
    ("line", "leads"),
    [
        ("Related products", True),
        ("Das könnte Sie interessieren", True),
        ("Productos relacionados", True),
        ("相关文章：", True),
        ("4 other products in the same category", True),
        ("The related products", False),
        # Words that only begin so: these boxes are of a page's own.
        ("More PostScript fonts", False),
        ("Read Nextcloud manuals", False),
        ("You might likewise see a lighthouse", False),
        ("Related postscripts", False),
    ],
)
def test_how_a_box_begins_that_leads_to_other_pages(line: str, leads: bool):
    assert leads_on(line) == leads


@pytest.mark.parametrize(
    ("tag", "names", "share", "found"),
    [
        ("div", "breadcrumb", 0.0, True),
        ("p", "breadcrumb", 0.0, True),
        ("div", "sponsor", 0.0, True),
        ("dd", "sponsor", 0.0, False),
        ("p", "sponsor", 0.1, True),
        ("div", "sponsor-profile", 0.4, False),
        ("div", "sponsor-profile", 0.5, True),
        ("div", "comment", 0.4, False),
        ("x-comments", "comments", 0.5, True),
        ("span", "share-class", 0.0, False),
        ("div", "promo-price", 0.0, False),
        # What is offered there may have a price beside its link.
        ("div", "promo", 0.1, True),
        ("ul", "relatedProducts", 0.1, True),
        ("div", "price", 0.9, False),
    ],
)
def test_a_doubtful_name_makes_furniture_of_links_alone(tag: str, names: str, share: float, *, found: bool):
    assert is_furniture(tag, names, "", lambda: share) is is_furniture(tag, "", names, lambda: share) is found


def test_an_id_of_several_words_or_with_points_says_what_one_box_is_about():
    assert is_furniture("div", "", "share-bar", lambda: 0.0)
    assert is_furniture("div", "", "comments", lambda: 1.0)
    assert not is_furniture("div", "", "comments-on-boats", lambda: 1.0)
    assert not is_furniture("div", "", "boats.nav", lambda: 1.0)
