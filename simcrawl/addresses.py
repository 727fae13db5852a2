"""What addresses say of pages: of which host and site they are, and whether two of them are views, mirrors or releases of one page."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from tldextract import TLDExtract

# Pages of other methods than GET are known as "POST http://...".
_ORIGIN = re.compile(r"(?:[^/?#: ]++ )?([^/?#]*//[^/?#]*)")
# The end of an address, and what the address of a view has in the place of that: what views are called, or a query.
_EXTENSION, _LONG_NUMBER = re.compile(r"\.\w{1,5}$"), re.compile(r"\d{3}")
# With a line feed behind it.
_LONGEST_EXTENSION = 7
# Ends of addresses that say of what kind a page is, and names that say of whom, of what or of when it is. Not two letters, which are
# languages, no numbers of releases, no stamps, and no years.
_KIND_OF_PAGE = re.compile(
    r"(?:contacts?|about(?:us)?|profile|overview|report|reviews?|details?|info|home|hours|opening|directions|location|map|menu|gallery|photos?|team|staff"
    r"|people|jobs|careers|vacancies|events?|news|services|prices?|products?|faq|summary|results?|schedule|timetable|fixtures|programme?|agenda|minutes"
    r"|biography|bio|discography|lyrics|statistics|stats|history|forecast|weather|bookings?|rooms|rates|courses|members|visit|visiting|kontakt"
    r"|impressum|anfahrt|profil|steckbrief|bericht|leistungen|preise|veranstaltungen|ergebnisse|contacto|contato|contatti|accueil|horaires|avis|tarifs"
    r"|horarios|orari|story|article|entry|item|view|show|record)(?:\.\w{1,5})?$"
)
# What stands behind the name of a page: its state of a year, or what a view is called; at its very end its language, and behind a number
# its first part. Behind a word a small number may be what is called so: one product in two categories, `/shoes/7` and `/boots/7`.
_PART_OF_PAGE = re.compile(r"(?:(?:19|20)\d\d|pages?|print\w*|amp|mobile|text|txt|plain|raw|pdf|embed|preview)(?:\.[a-z]\w{0,4})?$")
_LANGUAGE_OF_PAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?(?:\.[a-z]\w{0,4})?$")
_FEW_DIGITS, _NUMBER_OF_PAGE = re.compile(r"\d{1,2}(?:\.[a-z]\w{0,4})?$"), re.compile(r"(?:\d{3,}|pages?|part|p)$")
# Of two letters in other writing than Latin, for these are no languages; and hosts are written as "xn--".
_LETTER = r"[a-z\x80-\U0010ffff]"
_WHICH = re.compile(
    rf"(?:(?![a-z]{{2}}(?:[-_](?:[a-z]{{2}}|[a-z]{{4}}))?$){_LETTER}{{2,}}(?:[-_ +']{_LETTER}+)*|xn--[a-z\d-]+"
    r"|(?!(?:19|20)\d\d$)\d{3,7}|\d{4}-\d\d-\d\d)$"
)
_RELEASE = re.compile(
    r"(?:builds?|snapshots?|daily|releases?|dist|latest|stable|devel\w*|current|main|master|trunk|head|next|nightly|alpha|beta|old|new|archive|mirror|backup|copy|www|web|mobile|amp|print|preview"
    r"|draft|test|testing|unstable|experimental|sid|jessie|stretch|buster|bullseye|bookworm|trixie|forky|bionic|focal|jammy|noble|armel|armhf|staging|static|cache|docs?|manual|html|english|german|french|spanish|italian|deutsch|fran\xe7ais|espa\xf1ol|italiano)$"
)
_DAY, _DAYS = re.compile(r"(?:19|20)\d\d-\d\d?-\d\d?|(?:19|20)\d{6}"), re.compile(r"(?<![^/])((?:19|20)\d\d)/(\d\d?)/(\d\d?)(?![^/])")
# Parameters that say how a page is shown, and from where a reader came to it.
_ARRANGED = re.compile(
    r"(?:sort\w*|order\w*|dir(?:ection)?|asc|desc|view|mode|layout|format|style|theme|skin|print\w*|lang(?:uage)?|locale|hl|from|via|ref(?:err?er)?"
    r"|src|source|back|return\w*|next|redirect\w*|continue|sid|session\w+|sess_?id|phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|zenid|oscsid|cfid"
    r"|cftoken|utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|_|no_?cache|cache_?bust(?:er)?|currency|tab)$",
    re.IGNORECASE,
)
# And those that say it where their value is one of chance. A small number is what the page is about: session 41 of a course, round 3.
_ARRANGED_BY_CHANCE = re.compile(
    r"(?:(?:session|sess|\w+sess(?:ion)?_?id)=(?:\d{9,}|(?=\D*\d)(?=[\d_-]*[a-z])[\w-]{6,})|(?:rnd|rand|random)=(?:\d{5,}|\d*[.,]\d+|(?=\D*\d)[\w-]{6,}))$",
    re.IGNORECASE,
)
# Parameters that say which state of a page is shown: of MediaWiki, DokuWiki, MoinMoin, Trac, XWiki and others.
_STATE = re.compile(r"(?:old_?id|rev|rev_?id|revision(?:_?id)?|old_?rev(?:ision)?|version(?:_?id)?|ver|as_?of)$", re.IGNORECASE)
_VIEW = re.compile(r"[?&;]|[/.](?:print\w*|amp|mobile|text|txt|plain|raw|pdf|embed|preview|index|x?html?|php)(?![\w-])", re.IGNORECASE)

# Which page of a list or a thread an address is of, at its very end: a number of the page, or of how many entries are before it.
_PAGE_OF_LIST = re.compile(
    r"[?&;/](?:(?:(?:[a-z]{0,8}[_-]?page(?:[_-]?(?:no|num|number|index))?|cp|paged|pg|p)=|(?:comment-?)?pages?[/-])(?P<page>\d{1,2})"
    r"|(?:offset|start|skip)=(?P<before>\d{1,4}))$",
    re.IGNORECASE,
)
_LONGEST_PAGE_OF_LIST = 40


def site(url: str) -> str:
    """Return the registrable domain of a URL ("example.co.uk"), or its host where it has none (an address, localhost).

    Domains under which a company lets others have their sites are public suffixes, too: `a.github.io` and `b.github.io` are two sites.
    """
    return _registrable_domain(host_of(url))


def of_one_site(url: str, other: str) -> bool:
    """Return whether two URLs are of one `site`."""
    # Asked of each two pages that are compared, and nearly all of them are of one host.
    return url.split("/", 3)[:3] == other.split("/", 3)[:3] or site(url) == site(other)


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, without user and port; "" where it has none. A method may stand before it."""
    found = _ORIGIN.match(url)
    return _host_in(found[1]) if found else ""


def of_one_host(url: str, other: str) -> bool:
    """Return whether two URLs are of one host, but for "www." and the scheme."""
    return host_of(url).removeprefix("www.") == host_of(other).removeprefix("www.")


# Rules about URLs ask for the same few hosts all the time.
@lru_cache(maxsize=10_000)
def _host_in(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


@lru_cache(maxsize=10_000)
def _registrable_domain(host: str) -> str:
    extracted = _public_suffixes()(host)
    return extracted.top_domain_under_public_suffix or host


@lru_cache(maxsize=1)
def _public_suffixes() -> TLDExtract:
    # The list that comes with the package: a crawl must not depend on fetching a newer one.
    from tldextract import TLDExtract  # noqa: PLC0415 - loaded for SIMCRAWL_SCOPE="site" only

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def is_view(url: str, other: str) -> bool:
    """Return whether one address is the other one with a query more, or what a view is called: `?id=7&print=1`, `/boats/7/print`.

    A number of three digits or more names a page there, or a day: `?date=2025-05-12`. So does a word that no view is called, and a number
    of a page: `?page=2`.
    """
    more = _more_of(url, other)
    return bool(_VIEW.match(more)) and not _LONG_NUMBER.search(more) and not are_pages_of_list(url, other)


def are_pages_of_list(url: str, other: str) -> bool:
    """Return whether two addresses are of two pages of one list or thread: `/topic/7` and `/topic/7?page=2`, `/boats/page/2` and `/3`.

    The first one may have a number as well: `?page=1`.
    """
    url, other = url.rstrip("/"), other.rstrip("/")
    # A page may be compared with hundreds, and most of them end here.
    if not (url[-1:].isdigit() or other[-1:].isdigit()):
        return False
    (of_list, number), (of_other, other_number) = _place_in_list(url), _place_in_list(other)
    return of_list == of_other and number != other_number


def _place_in_list(url: str) -> tuple[str, int]:
    """Return the address of a list, and which of its pages an address is of."""
    found = _PAGE_OF_LIST.search(url, max(0, len(url) - _LONGEST_PAGE_OF_LIST))
    if not found:
        return url, 0
    page, before = found["page"], found["before"]
    return url[: found.start()].rstrip("/"), max(0, int(page) - 1) if page else int(before)


def _more_of(url: str, other: str) -> str:
    """Return what one of two addresses has behind the other one, an extension of that left out; "" where it does not begin with it."""
    url, other = url.rstrip("/"), other.rstrip("/")
    shorter, longer = (url, other) if len(url) <= len(other) else (other, url)
    # A page may be compared with hundreds, and most of them end here.
    if not longer.startswith(shorter[:-_LONGEST_EXTENSION]):
        return ""
    shorter = _EXTENSION.sub("", shorter)
    return longer[len(shorter) :] if longer.startswith(shorter) else ""


def is_arrangement(url: str, other: str) -> bool:
    """Return whether two addresses differ in nothing but how a page is arranged or where a reader came from: `?sort=name`, `?sort=date`."""
    path, _, query = url.partition("#")[0].partition("?")
    other_path, _, other_query = other.partition("#")[0].partition("?")
    # Of one text there may be hundreds of pages, each at a path of its own.
    if path.partition("://")[2].partition("/")[2] != other_path.partition("://")[2].partition("/")[2]:
        return False
    a, b = ({*parse_qsl(one)} for one in (query, other_query))
    return a != b and all(_ARRANGED.match(key) or _ARRANGED_BY_CHANCE.match(f"{key}={value}") for key, value in a ^ b)


def is_earlier_state(url: str, other: str) -> bool:
    """Return whether one address is that of an earlier state of the page at the other one: `?title=A&oldid=5` and `?title=A`."""
    path, _, query = url.partition("#")[0].partition("?")
    other_path, _, other_query = other.partition("#")[0].partition("?")
    if path != other_path or not query:
        return False
    of_page, of_other = parse_qsl(query, keep_blank_values=True), parse_qsl(other_query, keep_blank_values=True)
    of_state = [pair for pair in of_page if _STATE.match(pair[0])]
    return bool(of_state) and sorted(of_other) == sorted(pair for pair in of_page if pair not in of_state)


def is_release(name: str) -> bool:
    """Return whether a directory, in lower case, is called as releases, mirrors, views and languages are."""
    return bool(_RELEASE.match(name))


def are_of_two(url: str, other: str) -> bool:
    """Return whether two addresses that end alike are those of two pages, and not of one page in two mirrors or releases.

    The end of `/leeds/contact` and `/york/contact` says of what kind a page is, and what differs before it is a name or a long number, and
    no name of releases or mirrors. Likewise `/leeds/2026` and `/york/2026`, where the name itself stands before a year, a language or a
    view, or a longer number before a small one. And `/2026/05/12/yoga` is of another day than `/2026/05/19/yoga`.
    """
    (host, a), (other_host, b) = (_parts_of(one) for one in (url, other))
    if len(host) != len(other_host) or len(a) != len(b) or a[-1] != b[-1]:
        return False
    ends = [_LANGUAGE_OF_PAGE, _PART_OF_PAGE]
    while a and a[-1] == b[-1] and (any(end.match(a[-1]) for end in ends) or (_is_first_part(a) and _is_first_part(b))):
        del a[-1], b[-1]
        ends = [_PART_OF_PAGE]
    differing = [pair for pair in zip([*host, *a], [*other_host, *b], strict=True) if pair[0] != pair[1]]
    if a[:-2] == b[:-2] and all(map(_DAY.fullmatch, chain.from_iterable(differing))):
        # Of builds and snapshots each day has one.
        return bool(differing) and not any(map(is_release, urlsplit(url).path.casefold().split("/")))
    # What is left of the address of a host's own page is nothing.
    is_named = not a or a[-1] != b[-1] or _KIND_OF_PAGE.match(a[-1])
    return bool(differing and is_named) and all(_WHICH.match(name) and not is_release(name) for pair in differing for name in pair)


def _is_first_part(path: list[str]) -> bool:
    """Return whether a path ends in a small number behind a longer one, or behind "page": `/album/101/2`."""
    return bool(_FEW_DIGITS.match(path[-1]) and len(path) > 1 and _NUMBER_OF_PAGE.match(path[-2]))


def _parts_of(url: str) -> tuple[list[str], list[str]]:
    """Return the parts of an address' host, and those of its path, as they are read."""
    host, _, path = url.partition("://")[2].partition("#")[0].partition("?")[0].rstrip("/").partition("/")
    return host.casefold().split("."), [unquote(part).casefold() for part in _DAYS.sub(r"\1-\2-\3", path).split("/")]
