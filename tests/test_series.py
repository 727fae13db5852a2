"""Series of pages below one text, each with little of its own, of kinds that were lost: one page of a series may be, no more."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from benchmarks.quality.series import lost
from tests.samples import chinese, english, foreign

PAGES = 16
CITIES = (
    "Leeds",
    "York",
    "Bristol",
    "Derby",
    "Exeter",
    "Luton",
    "Oxford",
    "Bath",
    "Hull",
    "Poole",
    "Wells",
    "Truro",
    "Ripon",
    "Ely",
    "Durham",
    "Crewe",
)
IN_CHINESE = "北京 上海 广州 深圳 成都 武汉 西安 南京 杭州 重庆 天津 苏州 青岛 大连 厦门 昆明".split()  # noqa: SIM905 - no clearer as a list
IN_KOREAN = "서울 부산 대구 인천 광주 대전 울산 수원 청주 전주 포항 제주 원주 강릉 목포 경주".split()  # noqa: SIM905 - as above


def _paragraphs(text: str, lines: int = 1) -> str:
    listed = text.splitlines()
    return "".join(f"<p>{' '.join(listed[start : start + lines])}</p>" for start in range(0, len(listed), lines))


SHARED = {
    "en": _paragraphs(english(45, seed=5)),
    "zh": _paragraphs(chinese(90, seed=5), 3),
    "ko": _paragraphs(foreign("ko", 90, seed=5), 3),
}


def _page(body: str, *, title: str = "Branches", beside: str = "", around: str = "") -> str:
    menu = "".join(f"<li><a href='/menu/{word}'>{word}</a></li>" for word in english(6, seed=1).split())
    return (
        f"<html><head><title>{title}</title></head><body><nav><ul>{menu}</ul></nav>{beside}<main>{body}</main>{around}"
        "<footer>Imprint and terms of use</footer></body></html>"
    )


def _related(seed: int, links: int) -> str:
    """Return a box of links that is another one on each page."""
    chance, words = Random(seed), sorted({*english(400, seed=9).split()})
    listed = (chance.sample(words, 3) for _ in range(links))
    items = "".join(f"<li><a href='/r/{'-'.join(name)}'>{' '.join(name)}</a></li>" for name in listed)
    return f"<aside class='related'><h2>Related</h2><ul>{items}</ul></aside>"


def _check(pages: list[str], most: int = 0) -> None:
    for seed in (1, 2):
        order = list(enumerate(pages))
        Random(seed).shuffle(order)
        assert lost({f"https://site.example/item.php?id={number + 7}": body for number, body in order}, seed)[0] <= most


@pytest.mark.parametrize(
    ("heading", "names", "language"),
    [
        ("全国普通高等学校招生统一考试成绩查询 {}", IN_CHINESE, "zh"),
        ("关于公开招聘事业单位工作人员笔试成绩的公示（{}）", IN_CHINESE, "zh"),
        ("국민건강보험공단 민원서류 발급 안내 {}", IN_KOREAN, "ko"),
        ("The opening hours and the services of all of our many branches in the town of {}", CITIES, "en"),
    ],
)
def test_a_long_heading_whose_last_word_is_its_own_names_a_page(heading: str, names: tuple[str, ...], language: str) -> None:
    called = [heading.format(name) for name in names]
    _check([_page(f"<h1>{name}</h1>{SHARED[language]}", title=f"{name} - Site") for name in called])


@pytest.mark.parametrize("line", ["{}路12号大剧院", "2019年{}大会堂音乐会"])
def test_a_line_without_spaces_is_more_than_its_digits(line: str) -> None:
    _check([_page(SHARED["zh"], beside=f"<div>{line.format(name)}</div>") for name in IN_CHINESE])
    _check([_page(f"<p>{line.format(name)}</p>{SHARED['zh']}") for name in IN_CHINESE])


def test_a_record_may_say_its_name_in_two_paragraphs() -> None:
    first, second, rest = SHARED["en"].split("</p>", 2)
    said = "in our new shop in {}"
    body = f"<h1>Vacancy in {{}}</h1>{first} {said}, {first[3:]}</p>{second} {said}, {second[3:]}</p>{rest}"
    _check([_page(body.replace("{}", name), title="Vacancy") for name in CITIES])


@pytest.mark.parametrize(
    "own",
    [
        "<img src='/photos/{0}.jpg' width=800 height=600>",
        "<audio src='/audio/{0}.mp3' controls></audio>",
        "<a href='/files/{0}.pdf'>Download</a>",
        "<blockquote>There is no place like {0}, and nobody who has been there says so twice in a year.</blockquote>",
    ],
)
def test_what_is_a_page_s_own_counts_beside_related_links_that_change(own: str) -> None:
    _check(
        [_page(f"<h1>Gallery</h1>{own.format(name)}{SHARED['en']}", around=_related(number, 30)) for number, name in enumerate(CITIES)],
        most=1,
    )


@pytest.mark.parametrize("lines", [12, 110])
def test_the_one_heading_of_a_page_names_it_though_it_is_a_link(lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    called = [
        (f"{name} music school", f"<h2><a href='/archives/{number}'>{name} music school</a></h2>") for number, name in enumerate(CITIES)
    ]
    _check([_page(f"{heading}{text}<h3>Leave a reply</h3>", title=f"{title} - Site") for title, heading in called])


@pytest.mark.parametrize("lines", [8, 60])
@pytest.mark.parametrize("own", ["<p><a href='/o/{0}'>{0} music school</a></p>", "<div class=by>by <a href='/o/{0}'>{0} Miller</a></div>"])
def test_the_one_link_above_a_text_may_say_whose_it_is(own: str, lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    _check([_page(f"<h1>Museum</h1>{own.format(name)}{text}", title=f"{name} - Museum") for name in CITIES])


@pytest.mark.parametrize("lines", [110, 300])
def test_a_heading_below_that_of_the_site_names_a_page(lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    _check([_page(f"<h1>The schools of the county</h1><h2>{name} music school</h2>{text}", title="Schools") for name in CITIES], most=1)


def _lot(number: int, text: str) -> str:
    chance = Random(number)
    things, lots, states = ("Oak chair", "Pine table", "Brass lamp", "Tin box"), range(1, 40), ("sold", "unsold", "withdrawn")
    lot, price = f"{chance.choice(things)} {chance.choice(lots)}", f"{chance.choice(range(20, 400, 10))} EUR, {states[number % 3]}"
    return f"<table><tr><th>Lot</th><td>{lot}</td></tr><tr><th>Price</th><td>{price}</td></tr></table>{text}"


def _reworded(number: int) -> str:
    """Return a text of some six hundred words in two paragraphs of which a word is another one."""
    words = [*TERMS]
    for place in Random(f"places {number}").sample(range(len(words)), 2):
        words[place] = Random(f"{number} {place}").choice(CITIES)
    return "".join(f"<p>{' '.join(words[start : start + 60])}.</p>" for start in range(0, len(words), 60))


TERMS = english(80, seed=7).split()


@pytest.mark.parametrize("from_the", [0, 40], ids=["all", "the-last-ones"])
def test_records_of_two_values_are_kept_below_a_text_in_which_a_word_is_another_one(from_the: int) -> None:
    same = _reworded(0)
    texts = [_reworded(number) if number >= from_the else same for number in range(1, 61)]
    site = {f"http://example.org/lots/{number}": _page(_lot(number, text), title="Lots") for number, text in enumerate(texts, 1)}
    gone, _ = lost(site, 3)
    assert gone == 0
    # What says the same above such a text stays a copy.
    copies = {f"http://example.org/copies/{number}b": _page(_lot(number, _reworded(-number)), title="Lots") for number in range(1, 21)}
    assert lost(site | copies, 3)[0] >= 14


def test_three_releases_of_a_page_are_no_records_for_two_lines_and_a_word() -> None:
    releases = {}
    for place, (release, month) in enumerate([("7", "May"), ("8", "July"), ("9", "March")]):
        rows = f"<table><tr><th>Release</th><td>no. {release}</td></tr><tr><th>Made in</th><td>{month}</td></tr></table>"
        text = _reworded(0).replace("</p>", f" {CITIES[place]}.</p>", 1)
        releases[f"http://example.org/{release}.0/sorting.html"] = _page(f"<h1>Sorting</h1>{rows}{text}")
    assert lost(releases, 3) == (2, 0)


@pytest.mark.parametrize(("text", "seed"), [(5, 20), (9, 3), (9, 11), (9, 22), (10, 1)])
def test_records_that_were_kept_by_a_hair_are_of_the_series(text: int, seed: int) -> None:
    """With these seeds a few lots are estimated to be like the one that was not sold, and those before them not to be."""
    words = " ".join(english(8, seed=text).split()[:60])
    rows = ["", *(f"<table><tr><td>Hammer price</td><td>{number * 37} EUR</td></tr></table>" for number in range(1, 20))]
    heading = "<html><head><title>Auction</title></head><body><h1>Auction</h1>"
    pages = {f"https://a.example/lot?id={number}": f"{heading}{row}<p>{words}</p></body></html>" for number, row in enumerate(rows)}
    assert lost(pages, seed)[0] == 0


_ABOUT = "<section><h2>About us</h2>{}</section>"


@pytest.mark.parametrize("lines", [8, 60])
@pytest.mark.parametrize("heading", ["h1", "h2"])
@pytest.mark.parametrize(
    "called", ["post-7 post category-cookies", "node node-newsletter", "sponsor-profile", "cookie-recipe", "ads-detail"]
)
def test_a_box_with_the_page_s_name_is_no_furniture_by_what_the_page_is_about(called: str, heading: str, lines: int) -> None:
    about = _ABOUT.format(_paragraphs(english(lines, seed=5)))
    own = [f"<{heading}>{name} oats</{heading}>{_paragraphs(english(4, seed=place))}" for place, name in enumerate(CITIES, 70)]
    _check(
        [_page(f"<div class='{called}'>{body}</div>{about}", title=f"{name} oats - Site") for body, name in zip(own, CITIES, strict=True)]
    )


@pytest.mark.parametrize("lines", [8, 60])
@pytest.mark.parametrize(
    "own",
    [
        "<p>Case No. 2:24-cv-010{1}</p>",
        "<p>Case 2:24-cr-0010{1}, {0}</p>",
        "<p>1:{1} scale model</p>",
        "<p>Scale 1:{1}</p>",
        "<p>NGC 20{1}</p>",
        "<p>Lot 20{1}</p>",
        "<p>1{1}0 years ago</p>",
    ],
)
def test_a_case_a_scale_and_a_number_of_a_catalogue_tell_pages_apart(own: str, lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    _check([_page(f"<h1>Details</h1>{own.format(name, place)}{text}") for place, name in enumerate(CITIES, 11)])


@pytest.mark.parametrize("lines", [8, 60])
@pytest.mark.parametrize("name", ["{}. Smith", "{}. nigra", "{}. O\u2019Neil"])
def test_an_initial_belongs_to_a_name(name: str, lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    names = [name.format(letter) for letter in "ABCDEFGHIJKLMNOP"]
    _check([_page(f"<h1>{one}</h1>{text}", title=f"{one} | Acme") for one in names])


@pytest.mark.parametrize("name", ["iPhone {} case", "Cable with {} poles"])
def test_a_small_number_among_the_words_of_a_heading_tells_three_pages_apart(name: str) -> None:
    text = _paragraphs(english(30, seed=5))
    names = [name.format(number) for number in range(4, 20)]
    _check([_page(f"<h1>{one}</h1>{text}", title=f"{one} | Acme") for one in names])


@pytest.mark.parametrize("name", ["Boats of the north ({})", "Boats, page {} of boats", "Boats on {} May", "Week {} of the year"])
def test_the_number_of_a_page_of_a_list_and_of_a_day_tells_nothing_apart(name: str) -> None:
    text = _paragraphs(english(30, seed=5))
    names = [name.format(number) for number in range(4, 20)]
    pages = {f"https://site.example/?at={one}": _page(f"<h1>{one}</h1>{text}", title=f"{one} | Acme") for one in names}
    assert lost(pages, 1)[0] == len(pages) - 1


@pytest.mark.parametrize("lines", [12, 60])
@pytest.mark.parametrize(
    ("heading", "address"),
    [
        ("Accidents in {}", "accidents/{}"),
        ("Chateau Margaux {}", "wine/margaux/{}"),
        ("{}", "archive/{}"),
        ("Room {}", "rooms/{}"),
        ("Lost: chapter {}", "chapter/{}/index.html"),
        ("Road Traffic Act \xa7 {}", "act/{}.html"),
        ("Question {}", "quiz/question-{}"),
        ("Draw {}", "draw?id={}"),
    ],
)
def test_a_number_that_heading_and_address_have_tells_three_pages_of_one_title_apart(heading: str, address: str, lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    first = 1990 if "acc" in address or "wine" in address else 4
    pages = {
        f"https://site.example/{address.format(number)}": _page(f"<h1>{heading.format(number)}</h1>{text}", title="Acme")
        for number in range(first, first + PAGES)
    }
    assert [lost(pages, seed)[0] for seed in (1, 2)] == [0, 0]
    # Of two, one may be the next release of the other one.
    assert lost(dict([*pages.items()][:2]), 1) == (1, 0)


@pytest.mark.parametrize(
    "heading",
    [
        "Boats, page {}",
        "Seite {}",
        "Boats ({})",
        "Week {}",
        "Vecka {}",
        "Boats on {} May",
        "Results 1-{} of 99",
        "{} comments on boats",
        "You have {} things in your cart",
    ],
)
def test_the_number_of_a_page_of_a_list_and_of_a_day_tells_nothing_apart_though_the_address_has_it(heading: str) -> None:
    text = _paragraphs(english(30, seed=5))
    pages = {
        f"https://site.example/boats/{number}": _page(f"<h1>{heading.format(number)}</h1>{text}", title="Acme") for number in range(4, 10)
    }
    assert lost(pages, 1)[0] == len(pages) - 1


@pytest.mark.parametrize("row", ["<div class=row><div>{}</div><div>{}</div></div>", "<div class=card><h4>{}</h4><p>{}</p></div>"])
def test_facts_in_a_grid_of_boxes_are_rows(row: str) -> None:
    facts, text = english(3, seed=3).split()[:12], _paragraphs(english(60, seed=5))
    grids = [
        "".join(row.format(fact, Random(seed * 99 + place).choice(("Yes", "No"))) for place, fact in enumerate(facts)) for seed in range(16)
    ]
    _check([_page(f"<h1>Flat</h1><div>{grid}</div>{text}") for grid in grids])


@pytest.mark.parametrize(
    "address",
    [
        "site.example/branches/{}/contact/",
        "site.example/{}/contact.html",
        "{}.example.com/contact",
        "site.example/item/47{}/overview",
        "site.example/2026-05-{}/report",
        "site.example/story.47{}.html",
        "site.example/a.47{}",
        "site.example/{}/2026",
        "site.example/album/47{}/0",
        "site.example/word/{}/2026",
        "site.example/word/{}/en.html",
        "site.example/{}/print",
    ],
)
@pytest.mark.parametrize(
    ("own", "beside"),
    [
        ("<p>You find us in {} next to the old brewery, two minutes from the station; please ring the lower bell.</p>", ""),
        ("", "<div>Acme {}</div>"),
    ],
)
def test_addresses_that_end_in_what_a_page_is_of_may_be_of_many_branches(address: str, own: str, beside: str) -> None:
    text = _paragraphs(english(40, seed=5))
    pages = {
        f"https://{address.format(place if '47' in address or '05-' in address else name.lower())}": _page(
            f"<h1>Contact</h1>{own.format(name)}{text}", title="Contact", beside=beside.format(name)
        )
        for place, name in enumerate(CITIES, 11)
    }
    assert len(pages) == PAGES
    assert lost(pages, 1)[0] == 0


@pytest.mark.parametrize(
    "address",
    [
        "9.{}/contact",
        "{}/red-boot",
        "{}/stool",
        "mirror-{}/contact",
        "2{}/page.de.html",
        "harbour.{}.html",
        "9.{}/1",
        "v{}/2026",
        "{}/stool/2",
    ],
)
def test_releases_mirrors_and_categories_stay_copies_whatever_stands_beside(address: str) -> None:
    text = _paragraphs(english(40, seed=5))
    pages = {
        f"https://site.example/{address.format(name.lower() if '/red' in address or 'stool' in address else number)}": _page(
            f"<h1>Contact</h1>{text}", title="Contact", beside=f"<div>Acme {name}</div>"
        )
        for number, name in enumerate(CITIES)
    }
    assert lost(pages, 1)[0] == len(pages) - 1


def test_boxes_that_ask_for_consent_or_a_subscription_are_furniture_with_a_heading_of_their_own() -> None:
    text = _paragraphs(english(40, seed=5))
    for called in ("cookie-consent", "newsletter-box", "footer", "navbar", "site-footer", "category-sidebar pagination"):
        box = f"<div class='{called}'><h1>Notes</h1><p>As you are in {{}}, we need your consent.</p></div>"
        pages = {f"https://site.example/?at={name}": _page(f"<div><h2>Harbour</h2>{text}</div>{box.format(name)}") for name in CITIES}
        assert lost(pages, 1)[0] == len(pages) - 1, called


def test_what_is_related_is_what_a_page_has_where_no_shop_or_blog_says_so() -> None:
    text = _paragraphs(english(8, seed=5))
    words = sorted({*english(400, seed=9).split()})
    for seed, head in enumerate(("Related substances", "Related topics", "More about it")):
        lists = [Random(seed * 99 + number).sample(words, 8) for number in range(PAGES)]
        boxes = ["".join(f"<li><a href='/s/{word}'>{word}</a></li>" for word in listed) for listed in lists]
        _check([_page(f"<h1>Sheet</h1>{text}<div class=related><h2>{head}</h2><ul>{box}</ul></div>") for box in boxes])


def test_a_short_page_is_no_copy_beside_a_long_menu() -> None:
    words = sorted({*english(400, seed=9).split()})
    menu = "".join(f"<li><a href='/{one}'>{one} {other}</a></li>" for one in words[:20] for other in words[20:35])
    pages = [
        _page(f"<h1>Note</h1><p>The {name} branch is closed today.</p>", around=f"<nav><h2>All notes</h2><ul>{menu}</ul></nav>")
        for name in CITIES
    ]
    _check(pages)


def test_a_page_with_other_links_to_its_neighbours_stays_a_copy() -> None:
    text = _paragraphs(english(60, seed=5))
    around = [f"<a href='/a/{one}'>{one}</a> <a href='/a/{other}'>{other}</a>" for one, other in pairwise(CITIES)]
    pages = {f"https://site.example/{place}/a/7": _page(f"<h1>Gold</h1>{text}{links}") for place, links in enumerate(around)}
    assert lost(pages, 1) == (len(pages) - 1, 0)


def test_views_of_one_page_in_other_surroundings_stay_copies() -> None:
    """Three of them do not prove that they are three pages, whatever picture stands beside the article."""
    views = ("", "&view=print", "&session=ab12", "&from=list")
    pages = {
        f"https://site.example/item.php?id=7{view}": _page(
            f"<h1>Gallery</h1><img src=/photos/a.jpg width=800>{SHARED['en']}", around=_related(number, 30)
        )
        for number, view in enumerate(views)
    }
    for seed in (1, 2):
        assert lost(pages, seed) == (3, 0)


def _in_an_aside(number: int, aside: str) -> str:
    chance = Random(number)
    told = {
        "quotation": english(1, seed=number + 900).strip()[:70] + " said somebody who had never been there, and meant it.",
        "loan": f"For a loan of {number}5,000 EUR you pay {number * 7}.20 EUR a month to the bank, the last time in ten years from now.",
        "sequence": "".join(chance.choice("ACGT") for _ in range(240)),
    }
    return aside.format(number=number, **told)


_TOLD_IN_AN_ASIDE = (
    "<aside><blockquote>{quotation}</blockquote></aside>",
    "<aside class=result><h2>Result</h2><p>{loan}</p></aside>",
    "<aside class='promoter ad'><p>{sequence}</p></aside>",
    "<aside class='quote widget'><blockquote>{quotation}</blockquote></aside>",
    # The offers of a site of coupons, a quotation that is all of its page.
    "<aside class=promo><p>{loan}</p></aside>",
    "<aside><div class=ad-box><p>{loan}</p></div></aside>",
    "<aside class=teaser><p>{quotation}</p></aside>",
    "<aside class=random-quote><blockquote>{quotation}</blockquote></aside>",
    "<aside><pre>{sequence}</pre></aside><aside><ul><li><a href='/more'>More about the harbour</a></li></ul></aside>",
)


@pytest.mark.parametrize("lines", [12, 60])
@pytest.mark.parametrize("aside", _TOLD_IN_AN_ASIDE)
def test_a_paragraph_in_the_only_aside_tells_three_pages_apart(aside: str, lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    _check([_page(f"<article><h1>Result</h1>{text}</article>{_in_an_aside(number, aside)}") for number in range(11, 27)])


@pytest.mark.parametrize(
    ("address", "aside"),
    [
        # Teasers.
        ("at/{}", "<aside><h3><a href='/r'>Read this</a></h3><p>{quotation}</p></aside>"),
        ("at/{}", "<aside><p>{quotation}</p></aside><aside><p>{loan}</p></aside>"),
        # How often a page was read.
        (
            "at/{}",
            "<aside><p>All of this was seen by 1{number} visitors of the harbour, who came on many days of this long year.</p></aside>",
        ),
        # Visits: advertisements, too.
        ("fire?sessid={}", "<aside class=ad-slot><p>{quotation}</p></aside>"),
        ("{}/fire.html", "<aside><div class='promo-box'><p>{quotation}</p></div></aside>"),
        ("fire?sessid={}", _TOLD_IN_AN_ASIDE[0]),
        ("fire?id=7&_={}", _TOLD_IN_AN_ASIDE[0]),
        # Mirrors.
        ("{}/fire.html", _TOLD_IN_AN_ASIDE[0]),
    ],
)
def test_paragraphs_in_asides_that_change_tell_no_copies_apart(address: str, aside: str) -> None:
    text = _paragraphs(english(30, seed=5))
    pages = {
        f"https://site.example/{address.format(number)}": _page(f"<article><h1>Fire</h1>{text}</article>{_in_an_aside(number, aside)}")
        for number in range(11, 17)
    }
    assert lost(pages, 1) == (len(pages) - 1, 0)


@pytest.mark.parametrize("line", ["Mirror state of {} 2026", "Last synchronised: {} 2026", "Stand der Daten: {} 2026"])
def test_pages_that_differ_in_the_state_of_a_mirror_are_copies(line: str) -> None:
    body = f"<article><h1>Fire</h1>{SHARED['en']}</article>"
    days = (
        ("3. Oktober", "28. September", "7. November", "1. August") if line.startswith("Stand") else ("3 October", "28 September", "1 July")
    )
    pages = {f"https://site.example/m{day[-3:]}/{day[:2].strip('. ')}x.html": _page(f"{body}<p>{line.format(day)}</p>") for day in days}
    assert lost(pages, 1) == (len(days) - 1, 0)


def test_views_of_a_page_with_another_quotation_in_its_aside_are_copies() -> None:
    body = f"<article><h1>Fire</h1>{SHARED['en']}</article>"
    pages = {
        f"https://site.example/fire{view}": _page(f"{body}{_in_an_aside(number, _TOLD_IN_AN_ASIDE[0])}")
        for number, view in enumerate(("", "?print=1", "/print"))
    }
    assert lost(pages, 1) == (2, 0)


def _beside_an_introduction(body: str, title: str = "Reference") -> str:
    intro = f"<div class=jumbotron><h1>Reference</h1><p>{english(100, seed=5)}</p></div>"
    return f"<html><head><title>{title}</title></head><body>{intro}<div class=container>{body}</div></body></html>"


NUMBERS = [53 * number + 103 for number in range(PAGES)]


@pytest.mark.parametrize(
    ("body", "title", "address"),
    [
        ("<h2>Port {}</h2><p>Assigned by us</p>", "Port {} - Reference", "r/port-{}"),
        ("<p>Port {}</p><p>Assigned by us</p><p>Open</p>", "Port {} - Reference", "r?port={}"),
        ("<h2>Port {}</h2><p>Assigned by us</p>", "Port {} - Reference", "r/opaque-{:c}"),
        ("<h3>{}/tcp</h3><p>Assigned by us</p>", "Reference", "r/opaque-{:c}"),
        ("<h3>{:.2}.3</h3><p>Done</p>", "Reference", "r/opaque-{:c}"),
        ("<p>{:c}</p><p>Click to copy</p><p>Done</p>", "Reference", "r/opaque-{:c}"),
        ("<p>U+{:04X}</p><p>Click to copy</p><p>Done</p>", "Reference", "r/opaque-{:c}"),
        ("<div class=card><h5>Decimal</h5><p>{}</p></div><p>Done</p>", "Reference", "r/opaque-{:c}"),
        ("<div class=card><p>$40,{}</p><p>Earnings</p></div><p>Done</p>", "Reference", "r/opaque-{:c}"),
        ("<table><tr><th>Country<td>Norway<tr><th>Town<td>Hamar<tr><th>Latitude<td>60.{}</table>", "Reference", "r/opaque-{:c}"),
        ("<table><tr><th>Latitude<td>60.79{}<tr><th>Longitude<td>11.06{}</table>", "Reference", "r/opaque-{:c}"),
        ("<p><b>Offset:</b> UTC+{:.2}:30</p><p>Source: IANA</p>", "Reference", "r/opaque-{:c}"),
    ],
)
def test_a_number_of_its_own_tells_a_record_beside_an_introduction(body: str, title: str, address: str) -> None:
    made = {
        f"https://site.example/{address.format(0x1F400 + number)}"
        if ":c" in address
        else f"https://site.example/{address.format(number)}": number
        for number in NUMBERS
    }

    def told(number: int) -> str:
        # The hours of a time zone, or a letter of Braille.
        if ":.2" in body:
            return body.format(f"{NUMBERS.index(number):02}")
        return body.format(*[0x2800 + NUMBERS.index(number) if ":c" in body else number] * 2)

    pages = {url: _beside_an_introduction(told(number), title.format(number)) for url, number in made.items()}
    assert [lost(pages, seed)[0] for seed in (1, 2)] == [0, 0]


@pytest.mark.parametrize(
    "body",
    [
        "<p>{}</p><p>Done</p><p>Open</p>",
        "<p>{} hits</p><p>Done</p>",
        "<h3>Comments ({})</h3><p>Done</p>",
        "<h3>{} results</h3><p>Done</p>",
        "<div class=card><h5>Visitors</h5><p>{}</p></div>",
        "<div class=card><h5>Your cart</h5><p>{}</p></div>",
        "<table><tr><th>Currency<th>Rate<tr><td>USD<td>1.0{}<tr><td>GBP<td>0.8{}</table>",
        "<table><tr><td>Today<td>{} \xb0C<tr><td>Rain<td>{} %</table>",
        "<p>It took {}ms</p><p>Done</p>",
    ],
)
def test_counters_and_rates_beside_an_introduction_tell_no_copies_apart(body: str) -> None:
    pages = {
        f"https://site.example/opaque-{0x1F400 + number:c}": _beside_an_introduction(body.format(number, number)) for number in NUMBERS
    }
    assert lost(pages, 1)[0] == len(pages) - 1


def test_figures_in_a_board_tell_pages_apart_though_most_of_what_stands_there_is_beside() -> None:
    boxes = "".join(
        f"<div class=row><div class=card><p>{label}</p><p>{{{place}}}</p></div></div>"
        for place, label in enumerate(("Earnings by month", "Earnings by year", "Orders", "Shops", "Boats", "Debts", "Towns", "Ports"))
    )
    menu = "".join(f"<p>{line}</p>" for line in english(14, seed=3).splitlines())
    text = f"<div><h1>Notes</h1><p>{english(100, seed=5)}</p></div><div class=sidebar><h2>Latest</h2>{menu}</div>"
    boards = [
        f"<body><h2>Board</h2><div>{boxes}</div>{text}".format(*[f"${Random(n * 9 + m).randint(10, 999)},{n + 100}" for m in range(8)])
        for n in range(40)
    ]
    pages = {f"https://site.example/branch/{number + 100}": board for number, board in enumerate(boards)}
    assert [lost(pages, seed)[0] for seed in (1, 2)] == [0, 0]


def _beside(record: str, number: int, *, links: int) -> str:
    """Return a page whose long text is that of all pages, and whose record stands in a column of a class that may be furniture."""
    intro = _paragraphs(english(14, seed=5))
    column = f"<div class='col-4 sidebar'><div class=card><blockquote>{record}</blockquote></div></div>"
    around = _related(number, links) if links else ""
    return _page(f"<div class=row><div class='col-8'><h1>Record</h1>{intro}</div>{column}</div>", title="Lexicon", around=around)


def test_records_beside_one_text_are_no_article() -> None:
    """Of whatever length they are."""
    entries = [english(2 + number % 3 * 5, seed=100 + number) for number in range(32)]
    pages = {f"https://site.example/entry-{number}": _beside(entry, number, links=0) for number, entry in enumerate(entries)}
    assert lost(pages, 1)[0] == 0


def test_records_among_changing_links_are_told_apart_by_canonical_addresses() -> None:
    pages = {f"https://site.example/entry-{number}": _beside(english(2, seed=100 + number), number, links=30) for number in range(16)}
    named = {url: page.replace("<head>", f"<head><link rel=canonical href='{url}'>") for url, page in pages.items()}
    assert lost(named, 1)[0] == 0
    # To whoever asks for more than is there.
    of_one = {url: page.replace("<head>", "<head><link rel=canonical href='https://site.example/entry-1'>") for url, page in pages.items()}
    assert lost(of_one, 1) == lost(pages, 1)


@pytest.mark.parametrize("addresses", [("story/{}", "story/{}?print=1"), ("stable/{}", "latest/{}"), ("2023/{}", "2024/{}")])
def test_an_article_with_other_counters_beside_stays_one(addresses: tuple[str, str]) -> None:
    pages = dict[str, str]()
    for number in range(6):
        text = _paragraphs(english(14, seed=number))
        for address in addresses:
            box = f"<div class=box>Visitor {len(pages) * 37 + 12345}</div><div class=box>You have {len(pages) + 12} new messages</div>"
            column = f"<div class='col-4 sidebar'>{box}</div>"
            body = f"<div class=row><div class='col-8'><h1>Report {number}</h1>{text}</div>{column}</div>"
            pages[f"https://site.example/{address.format(number + 1000)}"] = _page(body, title=f"Report {number}", around=_related(0, 60))
    assert lost(pages, 1)[0] == 6


@pytest.mark.parametrize(
    "address", ["story.php?from={}", "harbour-fire?session=a{}", "{}/harbour-fire", "a{}/harbour-fire.html", "harbour-fire/print?{}"]
)
def test_an_article_with_other_teasers_at_many_addresses_stays_one(address: str) -> None:
    """Also where the teasers are no links, but texts of their own."""
    entries = [english(2, seed=100 + number) for number in range(12)]
    pages = {f"https://site.example/{address.format(number)}": _beside(entry, number, links=30) for number, entry in enumerate(entries)}
    assert lost(pages, 1) == (len(pages) - 1, 0)


def test_an_article_with_other_links_around_at_many_addresses_stays_one() -> None:
    text = _paragraphs(english(30, seed=5))
    pages = {
        f"https://site.example/{name.lower()}/{number}": _page(f"<h1>Fire</h1>{text}", around=_related(number, 50))
        for number, name in enumerate(CITIES)
    }
    assert lost(pages, 1)[0] == len(pages) - 1


_COUNTED = (
    "Public holidays in {} (Germany) 2025",
    "Sales assistant (20 h) in {}",
    "Sales assistant 80% in {}",
    "Traineeship {} 1 August",
    "3rd line supporter in {}",
    "{} 2026",
    "Magic Tour 2026 \u2013 {}",
    "{} (3 comments)",
)


@pytest.mark.parametrize("lines", [12, 60])
@pytest.mark.parametrize("title", ["{} | Acme", "Acme"])
@pytest.mark.parametrize("name", _COUNTED)
def test_a_heading_with_a_number_names_a_page_by_its_other_words(name: str, title: str, lines: int) -> None:
    text = _paragraphs(english(lines, seed=5))
    _check([_page(f"<h1>{name.format(city)}</h1>{text}", title=title.format(name.format(city))) for city in CITIES])


def test_such_a_heading_names_an_article_among_related_links_that_change() -> None:
    names = [f"Magic Tour 2026 \u2013 {city}" for city in CITIES]
    _check(
        [_page(f"<h1>{name}</h1>{SHARED['en']}", title=f"{name} | Acme", around=_related(number, 30)) for number, name in enumerate(names)],
        most=1,
    )


@pytest.mark.parametrize(
    "heading",
    [
        "Page {0}",
        "{1} 2026",
        "{0} results found",
        "Results 1-{0} of 230",
        "Boats ({0} comments)",
        "Week {0}",
        "{2} 1{0}:30",
    ],
)
def test_a_heading_of_numbers_and_days_names_no_page(heading: str) -> None:
    text = _paragraphs(english(30, seed=5))
    told = zip(
        range(4, 10),
        ("March", "April", "May", "June", "July", "August"),
        ("Today", "Yesterday", "Monday", "Tuesday", "Friday", "Sunday"),
        strict=True,
    )
    pages = {f"https://site.example/?at={one[0]}": _page(f"<h1>{heading.format(*one)}</h1>{text}", title="Boats") for one in told}
    assert lost(pages, 1)[0] == len(pages) - 1


def test_releases_below_headings_with_numbers_stay_copies_where_their_addresses_end_alike() -> None:
    text = _paragraphs(english(30, seed=5))
    names = ("amd64", "i386", "armhf", "arm64")
    called = {name: f"Installing Arbonet 12 for {name}" for name in names}
    pages = {f"https://site.example/{name}/en/pr01.html": _page(f"<h1>{one}</h1>{text}", title=one) for name, one in called.items()}
    assert lost(pages, 1)[0] == len(pages) - 1


@pytest.mark.parametrize("heading", ["Q{} report 2026", "Q{} Report 2026", "Sales in Q{} of 2026", "Part {}", "Chapter {}"])
def test_quarters_and_numbers_that_are_no_digits_name_pages(heading: str) -> None:
    numbers = {"Part {}": ("I", "II", "III", "IV"), "Chapter {}": ("One", "Two", "Three", "Four")}.get(heading, tuple("1234"))
    names = [heading.format(number) for number in numbers]
    pages = {f"https://site.example/?at={number}": _page(f"<h1>{one}</h1>{SHARED['en']}", title=one) for number, one in enumerate(names)}
    assert lost(pages, 1)[0] == 0
    pages = {f"https://site.example/?at={number}": _page(f"<p>{one}</p>{SHARED['en']}", title=one) for number, one in enumerate(names)}
    assert lost(pages, 1)[0] == 0


def test_comments_that_are_counted_in_a_title_make_no_pages() -> None:
    titles = ["Fire: 1 koment\u00e1r", "Fire: 2 koment\u00e1re", "Fire: 5 koment\u00e1rov", "Fire: 12 koment\u00e1rov"]
    pages = {f"https://site.example/at/{number}": _page(f"<h1>Fire</h1>{SHARED['en']}", title=one) for number, one in enumerate(titles, 20)}
    assert lost(pages, 1) == (len(pages) - 1, 0)


def test_a_word_that_comes_again_in_a_heading_counts() -> None:
    verses = [f"<sup>{number}</sup> {line}" for number, line in enumerate(english(16, seed=5).splitlines(), 1)]
    for name in ("Genesis 4:{} in context", "Level 4-{}"):
        pages = {
            f"https://site.example/gen-4-{own}.html": _page(
                f"<h1>{name.format(own)}</h1>{''.join(f'<p>{verse}</p>' for verse in verses)}", title=name.format(own)
            )
            for own in range(1, 17)
        }
        assert lost(pages, 1)[0] == 0


@pytest.mark.parametrize("title", ["Sales assistant in {}", "Sales assistant in {} - Acme", "{}: Sales assistant 20 h | Jobs 2026"])
def test_pages_of_one_text_that_only_their_titles_name_are_pages_from_the_third_on(title: str) -> None:
    pages = [_page(f"<h1>Sales assistant</h1>{SHARED['en']}", title=title.format(city)) for city in CITIES]
    _check(pages)
    assert lost({f"https://site.example/job-{number + 10}": page for number, page in enumerate(pages[:2])}, 1) == (1, 0)
    # At a second address each of them is a copy.
    twice = {f"https://site.example/{where}-{number + 10}": page for where in ("a", "b") for number, page in enumerate(pages)}
    assert lost(twice, 1)[0] == len(pages)


@pytest.mark.parametrize(
    ("address", "title"),
    [
        # Mirrors, releases and sections.
        ("{0}/guide.html", "Guide for {0}"),
        ("{0}/fire-123", "Fire | {0}"),
        # What has no end.
        ("at/{1}", "Fire, page {1}"),
        ("at/{1}", "({1}) Fire"),
        ("at/{1}", "Fire, {2} 2026"),
        ("at/{1}", "Fire, {2}"),
        # Views.
        ("list?sort={0}", "Sorted by {0}"),
        ("story/7?from={0}", "Fire | {0}"),
        ("story/7?id=7&lang={0}", "Fire {0}"),
    ],
)
def test_pages_of_one_text_stay_copies_where_titles_or_addresses_are_those_of_views(address: str, title: str) -> None:
    told = list(zip(("amd64", "i386", "armhf", "arm64"), range(11, 15), ("May", "June", "July", "August"), strict=True))
    pages = {
        f"https://site.example/{address.format(*one)}": _page(f"<h1>Fire</h1>{SHARED['en']}", title=title.format(*one)) for one in told
    }
    assert len(pages) == len(told)
    assert lost(pages, 1) == (len(pages) - 1, 0)


@pytest.mark.parametrize("head", ["<link rel=canonical href='https://site.example/at/1'>", "<meta name=robots content=noindex>"])
def test_a_title_is_no_name_where_the_page_says_that_it_is_another_one_s(head: str) -> None:
    body = f"<h1>Fire</h1>{SHARED['en']}"
    pages = {
        f"https://site.example/at/{number}": _page(body, title=f"Fire in {city}").replace("<head>", f"<head>{head}")
        for number, city in enumerate(CITIES, 20)
    }
    assert lost(pages, 1) == (len(pages) - 1, 0)


def test_titles_in_other_languages_and_on_other_sites_are_no_names() -> None:
    body = f"<h1>Fire</h1>{SHARED['en']}"
    languages = {"en": "Fire at the harbour", "de": "Brand im Hafen", "fr": "Feu au port", "es": "Fuego en el puerto"}
    pages = {
        f"https://site.example/story/{number}": _page(body, title=title).replace("<html>", f"<html lang={language}>")
        for number, (language, title) in enumerate(languages.items(), 20)
    }
    assert lost(pages, 1) == (len(pages) - 1, 0)
    pages = {f"https://{city.lower()}.example/at/{number}": _page(body, title=f"Fire in {city}") for number, city in enumerate(CITIES, 20)}
    assert lost(pages, 1) == (len(pages) - 1, 0)


@pytest.mark.parametrize(
    "headings",
    [
        ("The House of the Dead", "The Art of the Deal"),
        ("Jobs in sales in Leeds", "Jobs in care in York"),
        ("A walnut and a chair", "A lamp and a table"),
        ("Le port de la ville de Lyon", "Le parc de la ville de Nice"),
    ],
)
def test_small_words_that_come_again_make_two_headings_no_more_alike(headings: tuple[str, str]) -> None:
    pages = {f"https://site.example/a/{number + 71}": _page(f"<h1>{heading}</h1>{SHARED['en']}") for number, heading in enumerate(headings)}
    assert lost(pages, 1)[0] == 0


def test_a_number_that_comes_again_counts() -> None:
    headings = [f"Level 3-{number}" for number in range(3, 7)]
    pages = {
        f"https://site.example/p{number + 7}": _page(f"<h1>{name}</h1>{SHARED['en']}", title=name) for number, name in enumerate(headings)
    }
    assert lost(pages, 1)[0] == 0


@pytest.mark.parametrize("heading", ["Vineri-{} ianuarie 2026", "Class-{} syllabus 2026"])
def test_a_day_or_a_class_behind_a_hyphen_names_pages(heading: str) -> None:
    text, names = _paragraphs(english(30, seed=5)), [heading.format(number) for number in range(1, 13)]
    letters = "abcdefghijkl"
    pages = {
        f"https://site.example/zi/b{letter}b": _page(f"<h1>{one}</h1>{text}", title=f"{one} - Harbour")
        for letter, one in zip(letters, names, strict=True)
    }
    assert lost(pages, 1)[0] == 0


@pytest.mark.parametrize(
    ("heading", "address"), [("{:02}/2026", "cal/2026/{:02}"), ("2026-{:02}", "cal/2026/{:02}"), ("Part {} of 40", "part/{}")]
)
def test_a_month_of_a_calendar_and_a_place_among_as_many_name_no_page(heading: str, address: str) -> None:
    text = _paragraphs(english(30, seed=5))
    pages = {
        f"https://site.example/{address.format(number)}": _page(f"<h1>{heading.format(number)}</h1>{text}", title="Acme")
        for number in range(3, 12)
    }
    assert lost(pages, 1)[0] == len(pages) - 1


@pytest.mark.parametrize(
    ("heading", "address"),
    [
        ("Sida {}", "nyheter/sida/{}"),
        ("Nyheter \u2013 sida {}", "nyheter/sida/{}"),
        ("\u0421\u0442\u043e\u0440\u0456\u043d\u043a\u0430 {}", "novyny/{}"),
        ("Post {} does not exist", "posts/{}"),
        ("Beitrag {} existiert nicht", "beitrag/{}"),
        ("Le sujet {} n\u2019existe pas", "sujet/{}"),
    ],
)
def test_pages_of_lists_and_what_is_not_there_are_copies_at_any_number(heading: str, address: str) -> None:
    text = _paragraphs(english(30, seed=5))
    pages = {
        f"https://site.example/{address.format(number)}": _page(f"<h1>{heading.format(number)}</h1>{text}", title="Acme")
        for number in range(3, 12)
    }
    assert lost(pages, 1)[0] == len(pages) - 1


@pytest.mark.parametrize(
    "heading", ["House {} does not exist", "Haltepunkt {} existiert nicht", "\u9519\u8bef {} \u6587\u4ef6\u4e0d\u5b58\u5728"]
)
def test_records_of_what_is_not_there_are_kept_where_the_address_has_no_such_number(heading: str) -> None:
    text = _paragraphs(english(12, seed=5))
    pages = {
        f"https://site.example/houses/{name}/": _page(f"<h1>{heading.format(4041 + 7 * number)}</h1>{text}", title="Valley")
        for number, name in enumerate(("aldby", "borrow", "canton", "dunley", "elmwick"))
    }
    assert lost(pages, 1)[0] == 0


@pytest.mark.parametrize(
    ("heading", "language", "is_one"),
    [
        ("文章{}不存在", "zh", True),
        ("抱歉，没有找到商品{}", "zh", True),
        ("게시물 {}을 찾을 수 없습니다", "ko", True),
        ("{}호선에는 급행 열차가 없습니다", "ko", False),
        ("{}号公共汽车不见了", "zh", False),
        ("房间{}", "zh", False),
        ("{}번 방", "ko", False),
    ],
)
def test_numbers_that_touch_words_name_a_page_unless_it_is_not_there(heading: str, language: str, *, is_one: bool):
    site = {f"http://a.test/p/{number}": _page(f"<h1>{heading.format(number)}</h1>{SHARED[language]}") for number in range(11, 11 + PAGES)}
    dropped, _ = lost(site, 3)
    assert (dropped >= PAGES - 1) if is_one else (dropped <= 1)


def test_the_day_of_a_page_may_be_one_number_in_its_address():
    days = [(day, month) for month in (3, 4) for day in range(11, 19)]
    site = {
        f"http://a.test/archive/2026{month:02}{day}.html": _page(f"<h1>Canteen</h1>{SHARED['en']}<p>{day}.{month:02}.2026</p>")
        for day, month in days
    }
    assert lost(site, 3)[0] <= 1
