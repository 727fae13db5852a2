"""Whether two pages are called differently, and what else each of them has that the other one has not, by what `names` tells of them.

All of it is told from a few bytes a page, see `simcrawl.page.names_record`. Where two digests differ the texts do. Where they are the same
the texts may differ by chance: two bytes agree for one pair in 32,000.
"""

from __future__ import annotations

import struct
from enum import Enum
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING

from simcrawl.page.names_record import (
    COUNTED_HEADED,
    COUNTED_IN_TITLE,
    HEADED,
    IN_TITLE,
    LATIN,
    LEFT_ALONE,
    MIXED,
    MOST_PICTURES,
    OF_NOTHING,
    PRIME,
    SIXTEENTHS,
    SPEAKS,
    WORD,
    are_others,
    differ,
    has_other,
    read,
    same,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simcrawl.page.names_record import Heading, Read, Second

_LEAST_OF_A_RECORD = 2
_OTHERS_THAT_LACK = 2
_COUNTED = (COUNTED_IN_TITLE, COUNTED_HEADED)


class Naming(Enum):
    """What two pages are called, compared."""

    SAME = "same"
    """Or it does not matter."""
    LONGER = "longer"
    """The one as the other, with words more: the contents of a book, and of its reference."""
    OTHER = "other"


def _of_bytes(say: Callable[[Read, Read], bool]) -> Callable[[bytes, bytes], bool]:
    """Let a comparison of two records take their bytes; False if either is empty."""

    @wraps(say)
    def of_bytes(a: bytes, b: bytes) -> bool:
        return bool(a and b) and say(read(a), read(b))

    return of_bytes


def compare(a: bytes, b: bytes, *, of_one_site: bool = False) -> Naming:
    """Return whether two pages are called differently, and it matters.

    It does where one of them speaks of what its heading is called, or says other things under it, or where the headings have at most half
    of their words in common. That counts on one site, where all pages may have one title. On two, headings may be what the sites are
    called: there the titles must have them as well. Pages of one title are called the same, where the title is not only the site's, and
    so are those of one text below headings in two scripts: one of them is a translation.
    """
    if not a or not b:
        return Naming.SAME
    one, other = read(a), read(b)
    if not one.own.words or not other.own.words or _same_words(one.own, other.own) or _same_title(one, other):
        return Naming.SAME
    if _is_translated(one, other):
        return Naming.SAME
    names, only = (IN_TITLE, HEADED) if of_one_site else (IN_TITLE,), _only(one.own, other.own)
    headed_apart = _are_headed_apart(one.own, other.own) and _stand_as_names(one, other, names)
    other_facts = bool((one.facts ^ other.facts) & ~SPEAKS) or differ(one.second.facts, other.second.facts)
    if headed_apart or (only and one.facts and other.facts and other_facts):
        return Naming.OTHER
    if any(word & SPEAKS for word in only):
        return Naming.LONGER if len({*only} & {*one.own.words}) in (0, len(only)) else Naming.OTHER
    return Naming.LONGER if only and other_facts else Naming.SAME


def compare_outside(a: bytes, b: bytes) -> Naming:
    """Return whether the headings that stand outside the contents of two pages name them differently.

    LONGER: doubtful, for what stands outside may be the site's. OTHER: each of them speaks of a name that the other one has not.
    """
    if not a or not b:
        return Naming.SAME
    one, other = read(a), read(b)
    if not one.outer.words or not other.outer.words or _same_words(one.outer, other.outer) or _same_title(one, other):
        return Naming.SAME
    alone = not one.own.words and not other.own.words
    if alone and _are_headed_apart(one.outer, other.outer) and _stand_as_names(one, other, (IN_TITLE,)):
        return Naming.OTHER
    only = _only(one.outer, other.outer)
    spoken = [word for word in only if word & SPEAKS]
    if 0 < len({*spoken} & {*one.outer.words}) < len(spoken):
        return Naming.OTHER
    return Naming.LONGER if spoken or 0 < len({*only} & {*one.outer.words}) < len(only) else Naming.SAME


@_of_bytes
def show_others(a: Read, b: Read) -> bool:
    """Return whether each of two pages shows a picture that the other one does not: one that is left out says nothing."""
    return _show_others(a, b)


def _show_others(a: Read, b: Read) -> bool:
    if a.pictures == b.pictures and len(a.pictures) < MOST_PICTURES:
        return differ(a.second.pictures, b.second.pictures)
    return all(_shown_alone(a.pictures, b.pictures))


@_of_bytes
def shows_more(a: Read, b: Read) -> bool:
    """Return whether the first of two pages shows a picture that the other one does not. That with more than 16 may show no other ones."""
    return bool(a.pictures) and _shown_alone(a.pictures, b.pictures)[0]


def _shown_alone(a: Sequence[int], b: Sequence[int]) -> tuple[bool, bool]:
    """Return whether each of two pages is known to show a picture that the other one does not."""
    # Of many only those are known that come first.
    last = min((shown[-1] for shown in (a, b) if len(shown) == MOST_PICTURES), default=WORD | SPEAKS)
    known_a, known_b = ({picture for picture in shown if picture <= last} for shown in (a, b))
    return bool(known_a - known_b), bool(known_b - known_a)


def hold_others(a: bytes, b: bytes, *, least: int, share: float, are_short: bool = False) -> bool:
    """Return whether each of two pages has short lines that the other one has not: so many at least, and such a share of its own.

    `are_short`: whether fewer are enough where all else is the same, see `are_records`.
    """
    if not a or not b:
        return False
    one, other = read(a), read(b)
    exchanged, known = _exchanged(one, other)
    if are_short and _are_records(one, other, exchanged):
        return True
    return bool(known) and exchanged >= share * known and exchanged * min(one.values[0], other.values[0]) >= least * known


@_of_bytes
def holds_more(a: Read, b: Read) -> bool:
    """Return whether the first of two pages has a short line that the other one has not, or another name, or other headings.

    Or other paragraphs, or other rows in its tables: then each of them may say more.
    """
    if a.second.standing in (IN_TITLE, HEADED) and not (b.own.words or b.outer.words):
        return True
    if _are_named(a, b) or _are_counted_apart(a, b):
        return True
    return (
        _has_own_lines(a, b)
        or _exchange_rows(a, b)
        or are_others(a.mixed.rows_beside, b.mixed.rows_beside)
        or any(
            has_other(*told)
            for told in (
                (a.second.headings, b.second.headings),
                (a.second.subheadings, b.second.subheadings),
                (a.second.beside, b.second.beside),
                (a.second.paragraphs, b.second.paragraphs),
            )
        )
    )


@_of_bytes
def are_titled_apart(a: Read, b: Read) -> bool:
    """Return whether two pages have titles, and other ones."""
    return differ(a.title & ~SPEAKS, b.title & ~SPEAKS) or differ(a.second.title, b.second.title)


@_of_bytes
def are_titled_by_other_words(a: Read, b: Read) -> bool:
    """Return whether two pages have titles of other words, without numbers and days, are of one language, and are both to be found."""
    if LEFT_ALONE in (a.second.standing, b.second.standing) or a.second.language != b.second.language:
        return False
    if are_others(a.second.uncounted_title, b.second.uncounted_title):
        return True
    # Of hundreds of titles two have the same two bytes. Where no number was left out, two more tell them apart.
    are_whole = all(same(one.second.uncounted_title, one.second.title) for one in (a, b))
    return are_whole and differ(a.title & ~SPEAKS, b.title & ~SPEAKS)


@_of_bytes
def are_records(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs and differ in short lines alone: in two, or in one that may be a record's name."""
    return _are_records(a, b, _exchanged(a, b)[0])


def _are_records(a: Read, b: Read, exchanged: int) -> bool:
    """Return the same. `exchanged`: how many short lines each has that the other one has not."""
    if not _of_one_template(a, b):
        return False
    if exchanged >= _LEAST_OF_A_RECORD or are_others(a.second.headings, b.second.headings):
        return True
    is_exchanged = a.values[0] == b.values[0] and differ(a.second.values, b.second.values)
    return is_exchanged and differ(a.second.first, b.second.first)


@_of_bytes
def exchange_a_line(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs, or none, and other headings that may be their names, or other rows.

    Or as many short lines, and each of them one that the other one has not, or other headings of sections.
    """
    # A list, or a table, has none.
    if not _of_one_template(a, b) and not a.second.paragraphs == b.second.paragraphs == OF_NOTHING:
        return False
    if _are_named(a, b) or _exchange_rows(a, b):
        return True
    return a.values[0] == b.values[0] and (_has_own_lines(a, b) or _have_other_headings(a.second, b.second))


@_of_bytes
def exchange_a_paragraph(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs but for one, in the place of which each has another one, or short lines."""
    own, of_other = _exchanged_paragraphs(a.paragraphs, b.paragraphs)
    if not own and not of_other:
        return False
    return bool(own or _has_own_lines(a, b)) and bool(of_other or _has_own_lines(b, a))


def vary(a: bytes, b: bytes, others: Iterable[bytes]) -> bool:
    """Return whether the first of two pages lacks short lines of the second one that two others lack, too, and all have as many lines.

    What stands on all of them but the first one is a stamp, or the number of a release.
    """
    if not a or not b:
        return False
    one, other = read(a), read(b)
    gone = other.sampled - one.sampled
    if not gone or not _have_as_many(one, other):
        return False
    lacking = (gone.isdisjoint(read(names).sampled) for names in others if names and _have_as_many(other, read(names)))
    return sum(islice(filter(None, lacking), _OTHERS_THAT_LACK)) == _OTHERS_THAT_LACK


def _have_as_many(a: Read, b: Read) -> bool:
    """Return whether two pages have the same number of short lines, all of which are known."""
    return a.values[0] == b.values[0] == len(a.sampled) == len(b.sampled)


def _exchanged_paragraphs(a: list[int], b: list[int]) -> tuple[int, int]:
    """Return (1, 1) where two pages have the same paragraphs but for one each, (1, 0) or (0, 1) where one has one more, otherwise (0, 0).

    By their power sums, of which no more is needed however many paragraphs there are: if p is what the one has and q the other, the sums
    differ by p - q, p^2 - q^2 and p^3 - q^3. The first two tell p and q, and the third whether that is so; by chance it is once in 65,521.
    """
    if not a or not b:
        return 0, 0
    first, second, third = ((x - y) % PRIME for x, y in zip(a[1:], b[1:], strict=True))
    more = a[0] - b[0]
    if not first or abs(more) > 1:
        return 0, 0
    if more:
        first, second, third = (value * more % PRIME for value in (first, second, third))
        is_one = (pow(first, 2, PRIME), pow(first, 3, PRIME)) == (second, third)
        return (int(is_one and more > 0), int(is_one and more < 0))
    together = second * pow(first, -1, PRIME)
    p, q = ((together + sign * first) * pow(2, -1, PRIME) for sign in (1, -1))
    is_one = (p**3 - q**3 - third) % PRIME == 0
    return int(is_one), int(is_one)


@_of_bytes
def exchange_rows(a: Read, b: Read) -> bool:
    """Return whether two pages have other rows in their tables, or lines with labels, whatever the order.

    The same cells may stand beside other ones.
    """
    return _exchange_rows(a, b)


@_of_bytes
def exchange_values(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs, and other rows, see `exchange_rows`, or begin with other short lines."""
    if not _of_one_template(a, b):
        return False
    begin_apart = are_others(a.second.first, b.second.first)
    return _exchange_rows(a, b) or (begin_apart and _has_own_lines(a, b) and _has_own_lines(b, a))


@_of_bytes
def exchange_rows_beside(a: Read, b: Read) -> bool:
    """Return whether two pages have other rows in tables beside their contents, or in boxes with a label: in mirrors these may differ."""
    return are_others(a.mixed.rows_beside, b.mixed.rows_beside) and a.second.end != b.second.end


def _exchange_rows(a: Read, b: Read) -> bool:
    return are_others(a.mixed.rows, b.mixed.rows)


def _has_own_lines(a: Read, b: Read) -> bool:
    """Return whether the first of two pages is known to have a short line that the other one has not."""
    # A set that is no smaller than another one, and not the same, has something for itself.
    if a.values[0] >= b.values[0] and are_others(a.mixed.lines, b.mixed.lines):
        return True
    known, others = _known(a, b)
    return bool(known - others)


@_of_bytes
def exchange_lines_beside(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs, or none, and other lines beside their contents.

    A list of all pages of a site is more than a short page beside which it stands.
    """
    other_lines = differ(a.second.beside, b.second.beside) or are_others(a.mixed.rows_beside, b.mixed.rows_beside)
    of_one_text = same(a.second.paragraphs, b.second.paragraphs) or a.second.paragraphs == b.second.paragraphs == OF_NOTHING
    return of_one_text and other_lines


@_of_bytes
def end_alike(a: Read, b: Read) -> bool:
    """Return whether the addresses of two pages end in the same name, as those of mirrors and releases do."""
    return a.second.end == b.second.end > OF_NOTHING


@_of_bytes
def exchange_names(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs, but for one, below other headings, which their titles have as well."""
    is_one = _of_one_template(a, b) or all(_exchanged_paragraphs(a.paragraphs, b.paragraphs))
    return a.second.standing == b.second.standing == IN_TITLE and is_one and _are_named(a, b)


def exchange_counted_names(a: bytes, b: bytes, *, in_titles: bool = False) -> bool:
    """Return whether two pages have the same paragraphs, or none, below other headings with numbers that differ without these as well.

    `in_titles`: which their titles have, too; there one paragraph may be another one.
    """
    if not a or not b:
        return False
    one, other = read(a), read(b)
    if not _are_counted_apart(one, other):
        return False
    if in_titles and not _stand_as_names(one, other, (IN_TITLE, COUNTED_IN_TITLE)):
        return False
    of_one = in_titles and all(_exchanged_paragraphs(one.paragraphs, other.paragraphs))
    return of_one or _of_one_template(one, other) or one.second.paragraphs == other.second.paragraphs == OF_NOTHING


@_of_bytes
def exchange_pictures(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs, and each shows a picture that the other one does not."""
    return _show_others(a, b) and _of_one_template(a, b)


def _of_one_template(a: Read, b: Read) -> bool:
    """Return whether two pages have the same paragraphs, if need be without what their short lines say."""
    return same(a.second.paragraphs, b.second.paragraphs) or same(a.second.template, b.second.template)


def is_left_alone(names: bytes) -> bool:
    """Return whether a page asks search engines to leave it alone; False where that is not known."""
    return bool(names) and read(names).second.standing == LEFT_ALONE


@_of_bytes
def have_other_titles(a: Read, b: Read) -> bool:
    """Return whether each of two pages has a title, and these are two."""
    return are_others(a.second.title, b.second.title)


@_of_bytes
def are_of_two_addresses(a: Read, b: Read) -> bool:
    """Return whether each of two pages wants to be known by its own address, and these are two."""
    return are_others(a.second.known_as, b.second.known_as)


def units_of_a_word(names: bytes) -> float:
    """Return how many units say what a word does, 1 or more: letters are units where no spaces part words."""
    return max(1.0, read(names).second.units_of_a_word / SIXTEENTHS) if names else 1.0


def _exchanged(a: Read, b: Read) -> tuple[int, int]:
    """Return how many short lines each of two pages has that the other one has not, and of how many that is known."""
    (lines_a, sample_a), (lines_b, sample_b) = a.values, b.values
    if not lines_a or not lines_b:
        return 0, 0
    if sample_a == sample_b and lines_a == lines_b == len(sample_a):
        return int(differ(a.second.values, b.second.values)), lines_a
    known_a, known_b = _known(a, b)
    both, all_a, all_b = len(known_a & known_b), len(known_a), len(known_b)
    return min(all_a, all_b) - both, min(all_a, all_b)


def _known(a: Read, b: Read) -> tuple[frozenset[int], frozenset[int]]:
    """Return of the short lines of two pages those of which it is known whether the other one has them, too."""
    values = (a.values, b.values)
    last = min([sample[-1] for number, sample in values if len(sample) < number], default=None)
    if last is None:
        return a.sampled, b.sampled
    return frozenset([value for value in a.sampled if value <= last]), frozenset([value for value in b.sampled if value <= last])


def pictures(names: bytes) -> bytes:
    """Return what stands for all pictures of a page, b"" where it has none."""
    told = read(names) if names else None
    return struct.pack(f">{len(told.pictures) + len(told.all)}H", *told.pictures, *told.all) if told else b""


def lasting(names: bytes) -> bytes:
    """Return what stands for a page's text without the lines that are other ones at each visit, b"" where it has no such lines."""
    told = read(names).lasting if names else []
    return struct.pack(f">{len(told)}H", *told)


def _is_translated(a: Read, b: Read) -> bool:
    """Return whether the same text stands below headings in two scripts, and the pages are of two languages, or at the end of one address.

    In releases of a manual the same file may have its heading translated, or not yet. Names may be in two scripts, too.
    """
    if MIXED in (a.below, b.below) or a.below ^ b.below != LATIN:
        return False
    one, other = a.second, b.second
    # Addresses that say nothing, or that nobody knows, are no reason against it.
    return one.language != other.language or one.end == other.end


def _have_other_headings(a: Second, b: Second) -> bool:
    """Return whether two pages have other headings, above their first paragraphs or of their sections."""
    return has_other(a.headings, b.headings) or has_other(a.subheadings, b.subheadings)


def _are_headed_apart(a: Heading, b: Heading) -> bool:
    """Return whether two headings are quite different ones."""
    return 2 * len(a.set & b.set) <= min(len(a.set), len(b.set))


def _are_named(a: Read, b: Read) -> bool:
    """Return whether two pages have other headings that may be their names."""
    left, right = (_heading_of(one) for one in (a, b))
    return bool(_only(left, right)) and _stand_as_names(a, b, (IN_TITLE, HEADED))


def _are_counted_apart(a: Read, b: Read) -> bool:
    """Return whether two pages have other headings that may be their names, one of them with a number, and without it they differ, too."""
    if not _stand_as_names(a, b, (IN_TITLE, HEADED, *_COUNTED)) or _stand_as_names(a, b, (IN_TITLE, HEADED)):
        return False
    return are_others(*(one.second.uncounted if one.second.standing in _COUNTED else _heading_of(one).second for one in (a, b)))


def _heading_of(page: Read) -> Heading:
    return page.own if page.own.words else page.outer


def _stand_as_names(a: Read, b: Read, names: Sequence[int]) -> bool:
    return a.second.standing in names and b.second.standing in names


def _same_title(a: Read, b: Read) -> bool:
    """Return whether two pages have one title, and not only their site's."""
    return a.title == b.title and bool(a.title & SPEAKS) and not differ(a.second.title, b.second.title)


def _same_words(a: Heading, b: Heading) -> bool:
    """Return whether two headings are the same, as far as it is known: `_only` would find nothing, and be slower."""
    return a.words == b.words and not differ(a.second, b.second)


def _only(a: Heading, b: Heading) -> list[int]:
    """Return the words that only one of two headings has; all, where two bytes each are the same and the words are not."""
    both, words = a.set & b.set, a.words + b.words
    if a.set == b.set and differ(a.second, b.second):
        return words
    return [word for word in words if word | SPEAKS not in both]
