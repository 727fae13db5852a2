"""What the default recipe does with pages that are no articles: see docs/special-pages.md, which says why."""

from __future__ import annotations

import html
import json
from random import Random
from typing import Any

import pytest

import simcrawl
from simcrawl import Verdict
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason, fingerprint_page
from simcrawl.rule import Kind
from tests.samples import chinese, edited, english, link_list, site_page

HOST = "https://www.example.org"


def admit(*bodies: str, **settings: Any) -> list[Verdict]:
    """Return the verdicts on pages that a crawl meets one after the other."""
    detector = simcrawl.Detector(simcrawl.open_store("memory:"), **settings)
    return [detector.admit(detector.page(body, url=f"{HOST}/{number}")) for number, body in enumerate(bodies)]


def second(a: str, b: str, **settings: Any) -> Verdict:
    """Return the verdict on a page after another one."""
    return admit(a, b, **settings)[1]


# ---- pages of common products


def nginx_404() -> str:
    return (
        "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n"
        "<hr><center>nginx/1.24.0 (Ubuntu)</center>\r\n</body>\r\n</html>\r\n"
    )


def apache_404(path: str) -> str:
    return (
        '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>404 Not Found</title>\n</head><body>\n<h1>Not '
        "Found</h1>\n"
        f"<p>The requested URL {path} was not found on this server.</p>\n<hr>\n"
        "<address>Apache/2.4.10 (Debian) Server at www.example.org Port 443</address>\n</body></html>\n"
    )


def tomcat_404(path: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><title>HTTP Status 404 – Not Found</title><style type="text/css">body {font-family:Tahoma}'
        '</style></head><body><h1>HTTP Status 404 – Not Found</h1><hr class="line" /><p><b>Type</b> Status Report</p><p><b>Message</b> '
        f"The requested resource [{path}] is not available</p><p><b>Description</b> The origin server did not find a current "
        "representation "
        'for the target resource or is not willing to disclose that one exists.</p><hr class="line" /><h3>Apache Tomcat/10.1.34</h3></body>'
        "</html>"
    )


_POSTS = "".join(f'<li><a href="/2024/{n:02}/post-{n}/">{english(1, 900 + n).rstrip(".")}</a></li>' for n in range(5))
_ARCHIVES = "".join(f'<li><a href="/2024/{n:02}/">{month} 2024</a></li>' for n, month in enumerate(("May", "April", "March", "February")))
_MENU = "".join(f'<li class="menu-item"><a href="/{name.lower()}/">{name}</a></li>' for name in ("Home", "About", "Recipes", "Contact"))


def wordpress(main: str, *, title: str = "Page not found", body_class: str = "error404") -> str:
    """Return a page of a WordPress site with the theme Twenty Nineteen's mark-up, shortened."""
    return f"""<!doctype html>
<html lang="en-US"><head><meta charset="UTF-8" /><title>{title} &#8211; The Harbour Kitchen</title>
<link rel="stylesheet" href="/wp-content/themes/twentynineteen/style.css?ver=2.7" media="all" /></head>
<body class="{body_class} wp-embed-responsive hfeed image-filters-enabled"><div id="page" class="site">
<a class="skip-link screen-reader-text" href="#content">Skip to content</a>
<header id="masthead" class="site-header"><p class="site-title"><a href="/" rel="home">The Harbour Kitchen</a></p>
<p class="site-description">Cooking by the sea</p>
<nav id="site-navigation" class="main-navigation" aria-label="Top Menu"><ul id="menu-main" class="main-menu">{_MENU}</ul></nav></header>
<div id="content" class="site-content"><div id="primary" class="content-area"><main id="main" class="site-main">{main}</main></div></div>
<footer id="colophon" class="site-footer"><aside class="widget-area" role="complementary" aria-label="Footer">
<section class="widget widget_recent_entries"><h2 class="widget-title">Recent Posts</h2><ul>{_POSTS}</ul></section>
<section class="widget widget_archive"><h2 class="widget-title">Archives</h2><ul>{_ARCHIVES}</ul></section></aside>
<div class="site-info"><a class="site-name" href="/" rel="home">The Harbour Kitchen</a>, <a href="https://wordpress.org/"
class="imprint">Proudly powered by WordPress.</a></div></footer></div></body></html>"""


def wordpress_404(sentence: str = "It looks like nothing was found at this location. Maybe try a search?") -> str:
    form = (
        '<form role="search" method="get" class="search-form" action="/"><label><span class="screen-reader-text">Search for:</span><input '
        'type="search" class="search-field" placeholder="Search &hellip;" value="" name="s" /></label><input type="submit" '
        'value="Search" />'
        "</form>"
    )
    return wordpress(
        '<div class="error-404 not-found"><header class="page-header"><h1 class="page-title">Oops! That page can&rsquo;t be found.</h1>'
        f'</header><div class="page-content"><p>{sentence}</p>{form}</div></div>'
    )


_HELP = (
    "The page may have been moved, renamed or removed when we rearranged our web site. Please check the address for spelling "
    "mistakes, go back "
    "to the page you came from, start again at the front page, or use the search at the top of every page. If you think that "
    "something should be "
    "here and is not, please write to our webmaster, who reads every letter and answers most of them within a week or so. We are "
    "sorry for the "
    "inconvenience and hope that you will soon find what you were looking for."
)


def soft_404(path: str = "") -> str:
    """Return a page of a shop that is answered with status 200 and says what was not found."""
    return wordpress(f"<article><h1>Page not found</h1><p>We could not find {path or 'this page'}.</p><p>{_HELP}</p></article>")


def article(text: str, *, extra: str = "") -> str:
    paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
    title = f'<header class="entry-header"><h1 class="entry-title">{text[:40]}</h1></header>'
    entry = f'<article class="post type-post">{title}{paragraphs}</article>'
    return wordpress(entry, title=text[:40], body_class="single-post").replace('<div id="page"', f'{extra}<div id="page"')


def keycloak_login(session: str) -> str:
    action = f"https://sso.example.org/realms/press/login-actions/authenticate?session_code={session}&amp;client_id=reader&amp;tab_id=x"
    return f"""<!DOCTYPE html><html class="login-pf" lang="en"><head><meta charset="utf-8"><title>Sign in to press</title></head><body>
<div class="login-pf-page"><div id="kc-header" class="login-pf-page-header"><div id="kc-header-wrapper">press</div></div>
<div class="card-pf"><header class="login-pf-header"><h1 id="kc-page-title">Sign in to your account</h1></header><div id="kc-content">
<form id="kc-form-login" action="{action}" method="post"><div class="form-group"><label for="username">Username or email</label>
<input id="username" name="username" type="text" autofocus></div><div class="form-group"><label for="password">Password</label>
<input id="password" name="password" type="password"></div><div class="checkbox"><label><input type="checkbox"> Remember me</label></div>
<span><a href="/realms/press/login-actions/reset-credentials?tab_id={session}">Forgot Password?</a></span>
<input type="submit" value="Sign In"></form></div><div id="kc-info"><span>New user? <a
href="/register">Register</a></span></div></div></div>
</body></html>"""


def wordpress_login(path: str) -> str:
    return f"""<!DOCTYPE html><html lang="en-US"><head><title>Log In &lsaquo; The Harbour Kitchen &#8212; WordPress</title></head>
<body class="login no-js login-action-login wp-core-ui locale-en-us"><div id="login"><h1 class="wp-login-logo"><a
href="https://wordpress.org/">
Powered by WordPress</a></h1><form name="loginform" id="loginform" action="/wp-login.php" method="post"><p><label
for="user_login">Username or
Email Address</label><input type="text" name="log" id="user_login"></p><div class="user-pass-wrap"><label for="user_pass">Password</label>
<input type="password" name="pwd"></div><p class="forgetmenot"><input name="rememberme" type="checkbox"><label>Remember Me</label></p>
<p class="submit"><input type="submit" value="Log In" /><input type="hidden" name="redirect_to" value="{path}" /></p></form>
<p id="nav"><a class="wp-login-lost-password" href="/wp-login.php?action=lostpassword">Lost your password?</a></p>
<p id="backtoblog"><a href="/">&larr; Go to The Harbour Kitchen</a></p></div></body></html>"""


_CONSENT = (
    "We value your privacy. We and our 842 partners store and access information on a device, such as unique identifiers in "
    "cookies, to process "
    "personal data. You may accept or manage your choices by clicking below, including your right to object where legitimate "
    "interest is used, or "
    "at any time in the privacy policy page. These choices will be signaled to our partners and will not affect browsing data. We "
    "and our partners "
    "process data to provide: use precise geolocation data, actively scan device characteristics for identification, store and "
    "access information "
    "on a device, personalised advertising and content, advertising and content measurement, audience research and services development."
)
BANNERS = {
    "OneTrust": '<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" class="otFlat bottom" role="dialog" '
    'aria-label="Cookie banner">'
    '<div id="onetrust-policy"><h2 id="onetrust-policy-title">This site uses cookies</h2><div '
    f'id="onetrust-policy-text"><p>{_CONSENT}</p></div>'
    "</div><button>Accept All Cookies</button></div></div>",
    "Cookiebot": '<div id="CybotCookiebotDialog" role="dialog" name="CybotCookiebotDialog"><div '
    'id="CybotCookiebotDialogBodyContent"><h2>This '
    f'website uses cookies</h2><div id="CybotCookiebotDialogBodyContentText"><p>{_CONSENT}</p></div></div><a href="#">Show '
    "details</a></div>",
    "Quantcast": '<div class="qc-cmp2-container" id="qc-cmp2-container"><div class="qc-cmp2-main" id="qc-cmp2-main"><div id="qc-cmp2-ui" '
    'role="dialog" aria-modal="true"><h2>We value your privacy</h2><div '
    f'class="qc-cmp2-consent-info"><p>{_CONSENT}</p></div></div></div></div>',
    "a plugin": f'<div id="cookie-law-info-bar"><span>{_CONSENT} <a role="button">Accept</a></span></div>',
    "none of these": f'<div class="b-overlay"><div class="b-overlay-in"><h2>Your choice</h2><p>{_CONSENT}</p></div></div>',
}


def hub(links: list[int], *, paragraph: str = "", where: str = "amd64") -> str:
    """Return a table of contents: one paragraph, and links to chapters."""
    chapters = "".join(f'<li><a href="/{where}/ch{n}.html">{english(1, 700 + n).rstrip(".")}</a></li>' for n in links)
    text = paragraph or english(8, 42)
    book = f"<div class='book'><h1>Guide</h1><p>{text}</p><ul>{chapters}</ul></div>"
    return f"<!DOCTYPE html><html><head><title>Guide</title></head><body>{book}</body></html>"


def listing(number: int, per_page: int = 20) -> str:
    """Return a page of a shop's category: an introduction that all pages share, and other products on each."""
    random = Random(number)
    items = "".join(
        f'<li class="product"><a href="/p/{number}-{n}"><h2>{english(1, 100 * number + n).rstrip(".")}</h2></a><span class="price">'
        f"{random.randint(5, 500)}.99 €</span></li>"
        for n in range(per_page)
    )
    pages = "".join(f'<a class="page-numbers" href="/shop/page/{n}/">{n}</a>' for n in range(1, 9))
    top = f'<h1>Boats</h1><div class="term-description"><p>{english(8, 5)}</p></div>'
    return wordpress(f'{top}<ul class="products">{items}</ul><nav class="pager">{pages}</nav>', title="Boats", body_class="archive")


_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def calendar(month: int, *, introduction: str = "") -> str:
    """Return a month without events of an endless calendar."""
    year, name = 2031 + month // 12, _MONTHS[month % 12]
    days = "".join(f'<td><a href="/events/{year}-{month % 12 + 1:02}-{day:02}/">{day}</a></td>' for day in range(1, 31))
    heads = "".join(f"<th>{day}</th>" for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
    before, after = _MONTHS[(month - 1) % 12], _MONTHS[(month + 1) % 12]
    links = f'<p><a href="/events/{month - 1}/">&laquo; {before}</a> <a href="/events/{month + 1}/">{after} &raquo;</a></p>'
    table = f"<table class='tribe-events-calendar'><caption>Calendar of Events</caption><tr>{heads}</tr><tr>{days}</tr></table>"
    text = f"<p>{introduction}</p>" if introduction else ""
    return wordpress(f"<h1>Events for {name} {year}</h1>{text}<p>There are no events this month.</p>{table}{links}", title=f"{name} {year}")


def gallery(pictures: list[int]) -> str:
    """Return a page of a gallery: the same words on each, and other pictures."""
    images = "".join(f'<a href="/picture/{n}"><img src="/thumb/{n}.jpg"></a>' for n in pictures)
    return wordpress(f"<article><h1>Gallery</h1><p>{english(8, 77)}</p><div class='tiles'>{images}</div></article>", title="Gallery")


SPA = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8" /><title>Shop</title><script defer="defer"
src="/static/js/main.3f2a.js">
</script></head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"""
NOSCRIPT = f"""<!DOCTYPE html><html><head><title>Shop</title></head><body><noscript><h1>Please enable
JavaScript</h1><p>{_HELP}</p></noscript>
<div id="app"></div><script src="/app.js"></script></body></html>"""


def _kept(verdict: Verdict) -> bool:
    return not verdict.is_duplicate and not verdict.drop_page and not verdict.drop_outlinks


# ---- error pages


def test_error_pages_of_servers_are_short():
    for body in (nginx_404(), apache_404("/a"), tomcat_404("/a")):
        made = fingerprint_page(body)
        assert isinstance(made, Abstention)
        assert made.reason is Reason.SHORT


def test_equal_error_pages_are_exact_copies_and_take_nothing_with_them():
    verdict = second(nginx_404(), nginx_404())
    assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.EXACT_DUPLICATE, True, False)


@pytest.mark.parametrize("make", [apache_404, tomcat_404])
def test_error_pages_that_name_the_address_are_kept(make: Any):
    verdict = second(make("/boats/old.html"), make("/harbour/1998/"))
    assert (verdict.kind, verdict.reason) == (Kind.SKIPPED, "short")


def test_different_error_pages_are_no_copies_of_each_other():
    assert all(map(_kept, admit(nginx_404(), apache_404("/a"), tomcat_404("/a"), wordpress_404())))


# ---- soft 404s


def test_soft_404s_that_are_equal_are_exact_copies():
    for body in (wordpress_404(), soft_404()):
        verdict = second(body, body)
        assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.EXACT_DUPLICATE, True, False)


def test_soft_404s_that_say_what_was_not_found_are_kept_by_default():
    assert _kept(second(soft_404("/boats/old.html"), soft_404("/harbour/1998/")))


def test_soft_404s_that_say_what_was_not_found_are_kept_at_a_lower_similarity_too():
    assert _kept(second(soft_404("/boats/old.html"), soft_404("/harbour/1998/"), min_similarity=0.85))


PATHS = ("/boats/old.html", "/harbour/1998/")


@pytest.mark.parametrize(("sentences", "kept"), [(5, True), (18, True), (21, False)])
def test_a_soft_404_under_300_words_is_kept(sentences: int, kept: bool):
    pages = [soft_404(path).replace("</article>", f"<p>{english(sentences, 3)}</p></article>") for path in PATHS]
    made = fingerprint_page(pages[0])
    assert isinstance(made, PageFingerprint)
    assert (made.units < 300, made.around.units < 120) == (kept, True)
    assert _kept(second(*pages)) == kept


@pytest.mark.parametrize("words", [80, 150])
def test_a_soft_404_is_kept_though_all_of_its_120_words_around_are_equal(words: int):
    text = " ".join(english(20, 3).split()[:words])
    pages = [site_page(f"<h1>Page not found</h1><p>We could not find {path}.</p><p>{text}</p>") for path in PATHS]
    made = fingerprint_page(pages[0])
    assert isinstance(made, PageFingerprint)
    assert made.around.units >= 120
    assert _kept(second(*pages))


def test_a_soft_404_of_many_words_is_a_copy_though_it_says_what_was_not_found():
    long = [soft_404(path).replace("</article>", f"<p>{english(60, 3)}</p></article>") for path in ("/boats/old.html", "/harbour/1998/")]
    assert second(*long).kind is Kind.NEAR_DUPLICATE


def test_no_article_is_a_copy_of_its_site_s_soft_404():
    assert all(map(_kept, admit(wordpress_404(), soft_404(), article(english(8, 1)), article(english(40, 2)), article(chinese(40, 3)))))


# ---- logins


def test_logins_with_a_session_or_a_return_address_are_kept_as_short():
    for pages in ((keycloak_login("Ab3"), keycloak_login("x9Q")), (wordpress_login("/a"), wordpress_login("/b"))):
        assert [verdict.reason for verdict in admit(*pages)] == ["short", "short"]


def test_equal_logins_are_exact_copies():
    verdict = second(keycloak_login("Ab3"), keycloak_login("Ab3"))
    assert (verdict.kind, verdict.drop_page) == (Kind.EXACT_DUPLICATE, True)


# ---- cookie walls and banners


@pytest.mark.parametrize("banner", BANNERS)
@pytest.mark.parametrize("sentences", [3, 6, 10, 40, 100])
@pytest.mark.parametrize("text", [english, chinese])
def test_articles_behind_one_cookie_wall_stay_apart(text: Any, sentences: int, banner: str):
    wall = BANNERS[banner]
    assert all(map(_kept, admit(*(article(text(sentences, seed), extra=wall) for seed in range(1, 5)))))


@pytest.mark.parametrize("banner", BANNERS)
def test_short_articles_behind_a_long_wall_stay_apart(banner: str):
    wall = BANNERS[banner].replace(_CONSENT, f"{_CONSENT} {english(50, 9)}")
    assert all(map(_kept, admit(*(article(english(8, seed), extra=wall) for seed in range(1, 5)))))


def test_an_article_of_less_than_a_tenth_of_its_page_stands_out_from_the_wall():
    wall = BANNERS["OneTrust"].replace(_CONSENT, f"{_CONSENT} {english(50, 9)}")
    for sentences, is_more in ((4, False), (8, True)):
        pages = [article(english(sentences, seed), extra=wall) for seed in (1, 2)]
        share = len(english(sentences, 1).split()) / len(f"{_CONSENT} {english(50, 9)} {english(sentences, 1)}".split())
        assert (share > 0.1) == is_more
        assert _kept(second(*pages))


@pytest.mark.parametrize("banner", [name for name in BANNERS if name != "none of these"])
@pytest.mark.parametrize("text", [english, chinese])
def test_an_article_is_a_copy_of_itself_under_a_cookie_banner(text: Any, banner: str):
    plain, under = article(text(60, 1)), article(text(60, 1), extra=BANNERS[banner])
    for pages in ((plain, under), (under, plain)):
        verdict = second(*pages)
        assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, True, False)


def test_a_banner_that_does_not_call_itself_one_counts_as_content():
    assert _kept(second(article(english(60, 1)), article(english(60, 1), extra=BANNERS["none of these"])))


def test_a_banner_longer_than_the_article_counts_as_content():
    assert _kept(second(article(english(10, 1)), article(english(10, 1), extra=BANNERS["OneTrust"])))


def test_walls_that_are_sent_in_place_of_articles_are_copies():
    walls = [wordpress(BANNERS["OneTrust"], title=title) for title in ("One story", "Another story")]
    verdict = second(*walls)
    assert (verdict.kind, verdict.reason, verdict.drop_outlinks) == (Kind.EXACT_DUPLICATE, "identical text", False)


# ---- hubs and listings


@pytest.mark.parametrize("sentences", [2, 8, 60])
@pytest.mark.parametrize("links", [[*range(40)], [*range(1, 41)], [*range(39)], [*range(39), 99], [*range(20), *range(60, 80)]])
def test_a_hub_never_takes_its_links_away_unless_its_text_is_identical(sentences: int, links: list[int]):
    original, other = (hub(numbers, paragraph=english(sentences)) for numbers in ([*range(40)], links))
    assert not second(original, other).drop_outlinks
    assert second(original, other, outlinks=1.0).drop_outlinks == (original == other)


def test_hubs_with_other_links_under_one_paragraph_are_kept():
    assert _kept(second(hub([*range(12)]), hub([*range(20, 32)])))


def _book(links: range, sentences: int, *, seed: int) -> str:
    """Return a hub among menus and sidebars, which depend on the seed."""
    body = hub([*links], paragraph=english(sentences))
    return site_page(body[body.index("<div class='book'>") : body.index("</body>")], seed=seed)


@pytest.mark.parametrize("sentences", [8, 20, 60])
def test_hubs_with_other_links_under_any_amount_of_prose_are_kept(sentences: int):
    assert _kept(second(_book(range(12), sentences, seed=1), _book(range(20, 32), sentences, seed=1)))
    assert _kept(second(hub([*range(12)], paragraph=english(sentences)), hub([*range(20, 32)], paragraph=english(sentences))))


@pytest.mark.parametrize(("links", "kept"), [(8, False), (40, True)])
def test_hubs_whose_links_change_by_no_more_than_what_stands_around_are_copies(links: int, kept: bool):
    verdict = second(_book(range(links), 60, seed=1), _book(range(links, 2 * links), 60, seed=2))
    assert (_kept(verdict), verdict.drop_page, verdict.drop_outlinks) == (kept, not kept, False)


def test_a_hub_with_one_link_more_is_dropped_and_its_links_are_followed():
    verdict = second(hub([*range(40)]), hub([*range(41)]))
    assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.NEAR_DUPLICATE, True, False)


def test_pages_of_a_listing_are_kept():
    assert all(map(_kept, admit(*(listing(number) for number in range(1, 7)), listing(7, 3))))


def test_pages_of_a_gallery_do_not_take_each_other_s_links_away():
    verdict = second(gallery([1, 2, 3]), gallery([4, 5, 6]))
    assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.EXACT_DUPLICATE, True, False)
    same = second(gallery([1, 2, 3]), gallery([1, 2, 3]).replace("<article>", "<article lang='en'>"), outlinks=1.0)
    assert (same.reason, same.drop_page) == ("identical text", True)


def test_hubs_of_one_text_and_other_targets_do_not_take_each_other_s_links_away():
    verdict = second(hub([*range(40)]), hub([*range(40)], where="i386"))
    assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.EXACT_DUPLICATE, True, False)
    same = second(hub([*range(40)]), hub([*range(40)]).replace("<body>", "<body class='i386'>"), outlinks=1.0)
    assert (same.reason, same.drop_outlinks) == ("identical text", True)


@pytest.mark.parametrize(("outlinks", "dropped"), [(1.0, False), ("follow", False), (0.98, False), ("drop", True)])
def test_links_that_differ_under_one_text_follow_the_setting(outlinks: float | str, dropped: bool):
    assert second(gallery([1, 2, 3]), gallery([4, 5, 6]), outlinks=outlinks).drop_outlinks == dropped


# ---- articles


def _teased(sentences: int, *, seed: int) -> str:
    """Return an article with a date and a box of links, among menus and sidebars; all but the article depend on the seed."""
    paragraphs = "".join(f"<p>{line}</p>" for line in english(sentences).splitlines())
    box = f"<h3>More</h3>{link_list(6, seed=seed)}"
    return site_page(f"<h1>The harbour</h1><p>{seed} May 2024, {10 + seed}:30</p>{paragraphs}{box}", seed=seed)


@pytest.mark.parametrize(("sentences", "kept"), [(8, True), (12, False), (60, False)])
def test_an_article_of_100_words_in_other_surroundings_is_a_copy_and_its_links_are_followed(sentences: int, kept: bool):
    verdict = second(_teased(sentences, seed=1), _teased(sentences, seed=2))
    assert (_kept(verdict), verdict.drop_page, verdict.drop_outlinks) == (kept, not kept, False)
    assert verdict.reason == (None if kept else "same article")


def test_a_setting_judges_articles_by_all_of_their_content():
    assert _kept(second(_teased(60, seed=1), _teased(60, seed=2), min_around=1000))


# ---- traps


def test_months_without_events_are_kept_like_all_pages_of_few_words():
    assert all(map(_kept, admit(*map(calendar, range(4)))))


def test_months_without_events_on_a_page_of_many_words_are_dropped_and_their_links_followed():
    months = [calendar(month, introduction=english(60)) for month in range(3)]
    assert [(verdict.drop_page, verdict.drop_outlinks) for verdict in admit(*months)] == [(False, False), (True, False), (True, False)]


@pytest.mark.parametrize(("outlinks", "ends"), [(0.95, False), ("drop", True)])
def test_a_setting_ends_a_calendar(outlinks: float | str, ends: bool):
    months = [calendar(month, introduction=english(60)) for month in range(2)]
    assert second(*months, outlinks=outlinks).drop_outlinks == ends


def test_addresses_without_end_of_one_page_end_at_the_first():
    plain = article(english(40))
    for links in (plain.replace('/" ', '/?session={}" ').replace('/">', '/?session={}">'), plain.replace('href="/', 'class="s{}" href="')):
        verdict = second(*(links.replace("{}", str(number)) for number in range(2)))
        assert links.count("{}") > 10
        assert (verdict.kind, verdict.drop_page) == (Kind.EXACT_DUPLICATE, True)
        assert not verdict.drop_outlinks


@pytest.mark.parametrize(("outlinks", "ends"), [(None, False), (0.98, False), ("drop", True)])
def test_a_session_in_the_path_of_every_link_is_ended_by_a_setting_only(outlinks: float | str | None, ends: bool):
    pages = [article(english(40)).replace('href="/', f'href="/session-{number}/') for number in range(2)]
    verdict = second(*pages, outlinks=outlinks)
    assert (verdict.kind, verdict.drop_page, verdict.drop_outlinks) == (Kind.EXACT_DUPLICATE, True, ends)


# ---- letters

ASKED = english(30, 77).splitlines()


def letter(*said: str, quoted: list[str], menu: str = "") -> str:
    text = "\n".join((*said, *(f"&gt; {line}" for line in quoted)))
    return f"<html><head><title>[boats] Ropes</title></head><body>{menu}<h1>[boats] Ropes</h1><pre>{text}</pre></body></html>"


def test_answers_with_a_long_quotation_are_neither_copies_of_it_nor_of_each_other():
    answers = ("+1", "I agree.", "No, these break in the cold.", "Thanks.", "See below.")
    verdicts = admit(letter(*ASKED, quoted=[]), *(letter(answer, quoted=ASKED) for answer in answers))
    assert all(_kept(verdict) for verdict in verdicts)


def test_a_long_letter_with_its_quotation_is_known_in_an_archive_with_other_menus():
    menu = "<nav>" + "".join(f"<a href='/{number}'>By {number}</a> " for number in range(9)) + "</nav>"
    answer = english(12, 78).splitlines()
    verdict = second(letter(*answer, quoted=ASKED), letter(*answer, quoted=ASKED, menu=menu))
    assert (verdict.kind, verdict.drop_page) == (Kind.NEAR_DUPLICATE, True)
    other = second(letter(*answer, quoted=ASKED), letter(*answer, quoted=english(30, 79).splitlines()))
    assert _kept(other)


# ---- empty pages


@pytest.mark.parametrize("body", ["", " \n", SPA, NOSCRIPT], ids=["nothing", "blank", "single-page application", "noscript"])
def test_empty_pages_are_kept_even_with_equal_bytes(body: str):
    assert [(verdict.kind, verdict.reason) for verdict in admit(body, body)] == [(Kind.SKIPPED, "empty")] * 2


def test_short_pages_are_copies_by_their_bytes_only():
    short = english(3)
    assert second(article_only(short), article_only(short)).kind is Kind.EXACT_DUPLICATE
    assert _kept(second(article_only(short), article_only(edited(short, 1))))
    assert _kept(second(article_only(short), article_only(short, attribute=" lang='en'")))


def test_a_lower_minimum_compares_short_pages_too():
    pages = article_only(english(3)), article_only(english(3), attribute=" lang='en'")
    assert second(*pages, min_features=10).kind is Kind.EXACT_DUPLICATE


def article_only(text: str, *, attribute: str = "") -> str:
    return f"<!DOCTYPE html><html{attribute}><head><title>t</title></head><body><p>{text}</p></body></html>"


# ---- what components are drawn from

ISLANDS = {
    "react-rails": '<div data-react-class="Product" data-react-props="{}"></div>',
    "astro": '<astro-island component-url="/_astro/P.js" props="{}" client="only"></astro-island>',
    "livewire": '<div wire:snapshot="{}" wire:effects="[]"></div>',
    "vue": '<product-page :product="{}"></product-page>',
    "alpine": '<div x-data="{}"><h2 x-text="name"></h2></div>',
    "stimulus": '<div data-controller="product" data-product-item-value="{}"></div>',
    "hidden": '<input type="hidden" id="state" value="{}">',
    "call": '<div id="p"></div><script>show({})</script>',
    "undeclared": '<div id="p"></div><script>page.product = {}</script>',
    "table": '<table id="t"></table><script>$("#t").DataTable({{data: [["{0}", 7], ["Bo", 8]]}})</script>',
}


@pytest.mark.parametrize("island", ISLANDS)
def test_products_that_a_component_draws_are_kept_and_copies_of_them_are_not(island: str):
    def page(number: int) -> str:
        product = json.dumps({"id": number, "product": {"title": english(1, number), "text": english(8, number)}})
        drawn = english(2, number) if island == "table" else product if "script" in ISLANDS[island] else html.escape(product)
        return site_page(f"<main>{ISLANDS[island].format(drawn)}</main><footer>{english(20)}</footer>")

    verdicts = admit(*map(page, (1, 2, 3, 1)))
    assert [verdict.is_duplicate for verdict in verdicts] == [False, False, False, True]
