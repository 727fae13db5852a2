"""What tells two near-duplicates apart all the same, by their names, and by what only one of them has: records, series, articles.

Found on real pages, and so are the thresholds: docs/recipes.md. What only one of two pages says makes no two pages of them, for a print
view shows its address. Where each has something in the place of what the other one has they are two, and three are a series.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING

from simcrawl.addresses import are_of_two, are_pages_of_list, is_arrangement, is_view, of_one_site, site
from simcrawl.page import names_compared
from simcrawl.page.fingerprint import UNKNOWN, Page, PageFingerprint
from simcrawl.page.names_compared import Naming
from simcrawl.page.sketch import Part, differing, new_passage, own_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Of equal content, see `same_beside`: units, a share of the content, and units at most: some paragraphs are content on any page.
_BESIDE_EXCHANGED, _EXCHANGED_TO_CONTENT, _MOST_EXCHANGED = 8, 0.03, 40
# Of comments below one article: more than a sentence of the day, or the names of who is online.
_COMMENTS = 16
_BESIDE_ADDED, _ADDED_TO_CONTENT, _MOST_ADDED = 60, 0.2, 200
# Of what the page that is dropped has beside, or in its prose, and its original has not: a commit's message above its difference, a
# paragraph. A paragraph in which a word differs is one that each of them has, so there the original may have so much of that for itself.
_MOST_LOST, _EXCHANGED_TO_ADDED = 40, 0.25
# The same in proportion to what it has more; and of a page that is mostly a list units, and a share of the page.
_EXCHANGED_TO_MORE, _LEAST_ROWS, _ROWS_TO_LIST = 0.33, 12, 0.02
# Of a few lines beside a list of links so many times as long: what share of them, in all, two pages may differ in. A shorter list would let
# their likeness show that they differ.
_LONG_LIST, _EXCHANGED_PROSE = 15, 0.2
# Units of a line that three pages have beside their contents, each another one.
_A_LINE = 2
# A page of fewer units may differ by less, in proportion, and what differs around it counts as half of that in it.
_SHORT_PAGE, _AROUND_SHORT = 75, 0.5
# Of short lines beside equal paragraphs: so many, and such a share of them, make two records of pages of fewer than so many units. Two
# releases of one page exchange fewer, but where they are as short. (Units, not words, as they were measured on releases in Chinese, too.)
_RECORDS = ((300, 1, 0.04), (450, 2, 0.05), (inf, 3, 0.15))
# Where all paragraphs are equal, of so many words at most: two pages, and three of which each has another line than the others.
_LONGEST_RECORD, _LONGEST_OF_THREE = 1000, 5000
# The same of pages whose surroundings differ, from so many words of prose on: an article may have a teaser or two among its lines.
_ARTICLE, _LINES_OF_ARTICLE, _SHARE_OF_LINES = 500, 3, 0.34
# Of a page of fewer units than the first: a block of so many words in the place of another one is a sentence of the page's own, unless the
# contents show that less than such a share of it was exchanged: a word or two in it.
_SHORT_OF_SENTENCES, _SENTENCE, _EXCHANGED_TO_BLOCKS = 600, 8, 0.6


def same_links(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether the links of both pages are known to lead to the same addresses."""
    return a.links_digest == b.links_digest != UNKNOWN


def of_short_pages(may_differ: float, a: PageFingerprint, b: PageFingerprint) -> float:
    """Return by how much the contents of two pages may differ, less where they are short.

    Of a few lines one word may be all that tells them apart, and even what stands around them is a good part of the page.
    """
    units = min(a.units, b.units)
    if units >= _SHORT_PAGE:
        return may_differ
    return max(0.0, may_differ * units / _SHORT_PAGE - _AROUND_SHORT * differing(a.around, b.around) / max(1, units))


def is_other_prose(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether two pages share little but a long list of links: a site's contents stand beside a few lines on each of its pages."""
    whole = a.prose.units + b.prose.units
    if min(a.links.units, b.links.units) <= _LONG_LIST * max(a.prose.units, b.prose.units):
        return False
    return differing(a.prose, b.prose) > max(_BESIDE_EXCHANGED, _EXCHANGED_PROSE * whole)


def may_be_another(page: Page, original: Page) -> bool:
    """Return whether a page says something that its original does not, or shows a picture more: a third page may prove it."""
    if says_more(page, original):
        return True
    return (
        isinstance(page, PageFingerprint)
        and isinstance(original, PageFingerprint)
        and names_compared.shows_more(page.names, original.names)
    )


def says_more(page: Page, original: Page) -> bool:
    """Return whether a page says something that its original does not: in lines, rows, headings, paragraphs, or beside its content."""
    if not isinstance(page, PageFingerprint) or not isinstance(original, PageFingerprint):
        return False
    return (
        names_compared.holds_more(page.names, original.names) or _has_sentences_more(page, original) or _has_more_of_its_own(page, original)
    )


def _has_more_of_its_own(page: PageFingerprint, original: PageFingerprint) -> bool:
    """Return whether a page with another title says more than its original: a line beside what counts as content, or a sentence in it."""
    if not names_compared.are_titled_apart(page.names, original.names):
        return False
    if own_units(page.beside, original.beside)[0] >= _A_LINE:
        return True
    return bool(page.prose.sketch and original.prose.sketch) and _words(page, own_units(page.prose, original.prose)[0]) >= _SENTENCE


def _has_sentences_more(page: PageFingerprint, original: PageFingerprint) -> bool:
    # Of a longer page, or of fewer words, sketches tell no more than chance does.
    if min(page.units, original.units) >= _SHORT_OF_SENTENCES or not (page.prose.sketch and original.prose.sketch):
        return False
    return _words(page, own_units(page.prose, original.prose)[0]) >= _SENTENCE


def says_other(page: PageFingerprint, other: PageFingerprint, original: PageFingerprint) -> bool:
    """Return whether a page says more than its original, and there something else than another page says."""
    if names_compared.holds_more(page.names, original.names) and (
        _is_called_differently(page, other) or has_other_values(page, other) or are_three_records(page, other, original)
    ):
        return True
    if all(_has_more_of_its_own(*pair) for pair in ((page, original), (page, other), (other, page))):
        return True
    return _has_sentences_more(page, original) and has_other_sentences(page, other)


def are_three_records(*pages: PageFingerprint) -> bool:
    """Return whether of three pages of one site each has a value or a paragraph of its own in one place, where all else is the same.

    Of two such pages one may be the other one with a counter, or a release with its number. Three of them are rooms, sizes or days. And
    where each has nearly as many values as make two records, a word of the text below them may be another one.
    """
    if not _are_short_and_of_one_site(pages):
        return False
    pairs = [*combinations(pages, 2)]
    return all(_differ_in_one_place(a, b) for a, b in pairs) or all(_have_values_of_three(a, b) for a, b in pairs)


def _differ_in_one_place(a: PageFingerprint, b: PageFingerprint) -> bool:
    return names_compared.exchange_a_line(a.names, b.names) or _exchange_more_of_pages(a, b) or say_other_things_beside(a, b)


def _exchange_more_of_pages(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether each of two pages has what mirrors and releases have, too: another paragraph, a heading with a number."""
    ways = (names_compared.exchange_a_paragraph, names_compared.exchange_counted_names)
    return any(way(a.names, b.names) for way in ways) and not _may_be_mirrors(a, b)


def _have_values_of_three(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether each of two pages has nearly as many short lines of its own as make records of two alone, whatever the paragraphs."""
    return has_other_values(a, b, fewer=1) and not (_may_be_mirrors(a, b) or is_view(a.url, b.url) or is_arrangement(a.url, b.url))


def say_other_things_beside(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether each of two pages of a site has a line beside its contents that the other one has not, and neither is a view."""
    if not of_one_site(a.url, b.url):
        return False
    return names_compared.exchange_lines_beside(a.names, b.names) and not (
        _may_be_mirrors(a, b) or is_view(a.url, b.url) or is_arrangement(a.url, b.url)
    )


def are_forms(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether two pages have other lines beside the same prose, which is shorter than an article's: what is typed in a form."""
    return _fewest_words(a, a.prose.units, b, b.prose.units) < _ARTICLE and say_other_things_beside(a, b)


def is_one_of_a_series(page: PageFingerprint, others: Iterable[PageFingerprint]) -> bool:
    """Return whether a page and two others are three records that differ in one place, see `are_three_records`."""
    of_it = [other for other in others if _are_short_and_of_one_site((page, other)) and _differ_in_one_place(page, other)]
    return any(_differ_in_one_place(*pair) for pair in combinations(of_it, 2))


def has_values_that_vary(page: PageFingerprint, original: PageFingerprint, others: Iterable[PageFingerprint]) -> bool:
    """Return whether a page has another value than its original in a place where two others have other ones, too, whatever the paragraphs.

    The values of a record may all stand on other pages as well, each beside other ones.
    """
    if not _are_short_and_of_one_site((page, original)) or _may_be_mirrors(page, original):
        return False
    if is_view(page.url, original.url) or is_arrangement(page.url, original.url):
        return False
    return names_compared.vary(page.names, original.names, (other.names for other in others if of_one_site(other.url, original.url)))


def _are_short_and_of_one_site(pages: Sequence[PageFingerprint]) -> bool:
    return len({site(page.url) for page in pages}) == 1 and min(_words(page, page.units) for page in pages) < _LONGEST_OF_THREE


def are_three_articles(*pages: PageFingerprint) -> bool:
    """Return whether three pages of one site have the same paragraphs, whatever surrounds them, and yet each has something for itself.

    A heading that its title has as well, rows in its tables or behind its labels, a picture, or one paragraph in the place of the others'.
    """
    if len({site(page.url) for page in pages}) != 1:
        return False
    pairs = [(a.names, b.names) for a, b in combinations(pages, 2)]
    if any(all(way(*pair) for pair in pairs) for way in (names_compared.exchange_names, names_compared.exchange_values)):
        return True
    counted = partial(names_compared.exchange_counted_names, in_titles=True)
    ways = (names_compared.exchange_pictures, names_compared.exchange_a_paragraph, counted)
    is_one = any(all(way(*pair) for pair in pairs) for way in ways)
    return is_one and not any(_may_be_mirrors(a, b) for a, b in combinations(pages, 2))


def is_titled_apart(page: Page, other: Page) -> bool:
    """Return whether two pages have the same text, and titles that may be their names: a third page may prove it.

    Not where their bytes are the same: a title is among these.
    """
    if not isinstance(page, PageFingerprint) or not isinstance(other, PageFingerprint):
        return False
    if page.body_digest == other.body_digest or page.text_digest != other.text_digest:
        return False
    if not names_compared.are_titled_by_other_words(page.names, other.names) or not of_one_site(page.url, other.url):
        return False
    return not (_may_be_mirrors(page, other) or is_view(page.url, other.url) or is_arrangement(page.url, other.url))


def are_three_titles(*pages: PageFingerprint) -> bool:
    """Return whether three pages have one text, and each a title of its own, see `is_titled_apart`."""
    return all(is_titled_apart(a, b) for a, b in combinations(pages, 2))


def _may_be_mirrors(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether the addresses of two pages end alike, as in mirrors and releases, which have lines and pictures of their own.

    Of two releases one may say that it is not the latest.
    """
    return names_compared.end_alike(a.names, b.names) and not are_of_two(a.url, b.url)


def _is_called_differently(a: PageFingerprint, b: PageFingerprint) -> bool:
    return Naming.OTHER in compare_names(a, b)


def compare_names(a: PageFingerprint, b: PageFingerprint) -> tuple[Naming, Naming]:
    """Return how two pages are called, compared: by the headings of their contents, and by those outside."""
    return names_compared.compare(a.names, b.names, of_one_site=of_one_site(a.url, b.url)), names_compared.compare_outside(a.names, b.names)


def show_others(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether each of two pages of one site shows a picture of its own: on two sites an article may stand with two photographs."""
    return names_compared.show_others(a.names, b.names) and of_one_site(a.url, b.url)


def are_other_facts(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether two pages have other pictures on one site, or other rows in their tables, or on one site beside them."""
    if show_others(a, b) or names_compared.exchange_rows(a.names, b.names):
        return True
    return names_compared.exchange_rows_beside(a.names, b.names) and of_one_site(a.url, b.url)


def has_other_values(a: PageFingerprint, b: PageFingerprint, *, fewer: int = 0) -> bool:
    """Return whether each of two pages has values of its own among its short lines: two records below one long text.

    `fewer`: how many fewer are enough, but one at least.
    """
    units = min(a.units, b.units)
    # Asked of each two pages that are compared. So there is no loop, and what is the same for both is asked once.
    least, share = _RECORDS[0 if units < _RECORDS[0][0] else 1 if units < _RECORDS[1][0] else 2][1:]
    # Of terms of a thousand words the county is a detail.
    are_short = _fewest_words(a, a.units, b, b.units) < _LONGEST_RECORD
    return names_compared.hold_others(a.names, b.names, least=max(1, least - fewer), share=share, are_short=are_short)


def has_other_sentences(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether of two short pages each has a block of prose in the place of one of the other's, and not only a word or two of it."""
    if min(a.units, b.units) >= _SHORT_OF_SENTENCES or not (a.prose.sketch and a.content_sketch):
        return False
    blocks = min(own_units(a.prose, b.prose))
    if min(_words(page, blocks) for page in (a, b)) < _SENTENCE:
        return False
    contents = (Part(one.units, one.content_sketch) for one in (a, b))
    return min(own_units(*contents)) >= _EXCHANGED_TO_BLOCKS * blocks


def are_records_beside(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether two pages whose surroundings differ have values of their own among their short lines, or other comments."""
    if _are_pages_of_a_thread(a, b):
        return True
    if _fewest_words(a, a.prose.units, b, b.prose.units) < _ARTICLE:
        return has_other_values(a, b)
    return names_compared.hold_others(a.names, b.names, least=_LINES_OF_ARTICLE, share=_SHARE_OF_LINES)


def _words(page: PageFingerprint, units: float) -> float:
    """Return how many words so many units of a page are: a page in Thai is no longer than the same one in English."""
    return units / names_compared.units_of_a_word(page.names)


def _fewest_words(a: PageFingerprint, units_a: float, b: PageFingerprint, units_b: float) -> float:
    return min(_words(a, units_a), _words(b, units_b))


def are_known_apart(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether each of two pages names its own address as the canonical one, and these are two."""
    return names_compared.are_of_two_addresses(a.names, b.names)


def same_beside(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether two pages differ by no more beside their contents than chance changes: a counter, a version, a caption.

    The container may have been a long box that many pages share, with the facts around it, or in a script.
    """
    added = max(_BESIDE_ADDED, min(_MOST_ADDED, _ADDED_TO_CONTENT * _content(a, b)))
    return not exchange_beside(a, b) and max(own_units(a.beside, b.beside)) <= added


def exchange_beside(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether each of two pages has something beside its contents that the other one has not, and more than chance changes."""
    exchanged = max(_BESIDE_EXCHANGED, min(_MOST_EXCHANGED, _EXCHANGED_TO_CONTENT * _content(a, b)))
    return min(own_units(a.beside, b.beside)) > exchanged or _are_pages_of_a_thread(a, b)


def _are_pages_of_a_thread(a: PageFingerprint, b: PageFingerprint) -> bool:
    """Return whether two pages are of one thread by their addresses, and each has other comments below the same article."""
    if min(a.beside.units, b.beside.units) < _COMMENTS or not are_pages_of_list(a.url, b.url):
        return False
    return min(own_units(a.beside, b.beside)) >= _COMMENTS


def _content(a: PageFingerprint, b: PageFingerprint) -> int:
    # A contents list in a frame may be longer than any page, and says nothing of how much of a page is its own.
    return max(0, min(page.units - page.links.units for page in (a, b)))


def adds_beside(page: PageFingerprint, original: PageFingerprint) -> bool:
    """Return whether a page has more beside its content than another one."""
    return own_units(page.beside, original.beside)[0] > _MOST_LOST


def adds_paragraphs(page: PageFingerprint, original: PageFingerprint) -> bool:
    """Return whether a page says all that another one says, and paragraphs more."""
    if not (page.prose.sketch and original.prose.sketch):
        return False
    added, exchanged = own_units(page.prose, original.prose)
    return added > _MOST_LOST and exchanged <= _EXCHANGED_TO_ADDED * added


def adds_content(page: PageFingerprint, original: PageFingerprint) -> bool:
    """Return whether a page has all that another one of its site has, and more within its blocks, or in a list.

    Of one long block, such as a table's cell or a listing, a word is enough to make it another one, so blocks do not tell what was added to
    it. The number of units does, and shingles, whether anything else is different.
    """
    more = page.units - original.units
    least = _MOST_LOST if 2 * page.prose.units >= page.units else max(_LEAST_ROWS, _ROWS_TO_LIST * page.units)
    if more <= least or not (page.content_sketch and original.content_sketch):
        return False
    contents = (Part(one.units, one.content_sketch) for one in (original, page))
    return own_units(*contents)[0] <= _EXCHANGED_TO_MORE * more


def adds_a_passage(page: PageFingerprint, original: PageFingerprint) -> bool:
    """Return whether a page of another release, or mirror, has a passage that its original has not, whatever else differs between them.

    A new section, or a paragraph: of a release beside another one a word is exchanged in many paragraphs as well. Only where the addresses
    end alike, and ask for nothing: of views, and of states of a wiki's page, there are as many as links to them.
    """
    if "?" in page.url or "?" in original.url or not _may_be_mirrors(page, original):
        return False
    return _words(page, new_passage(page.content_sketch, page.places, original.content_sketch)) >= _MOST_LOST
