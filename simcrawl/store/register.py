"""Lines of the register: which page was a copy of which, and what was done about it. Clusters of them: `simcrawl.store.clusters`."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, Self

from simcrawl.errors import StoreCorruptError
from simcrawl.page.hints import NO_HINTS
from simcrawl.rule import Kind
from simcrawl.sealed import is_whole, seal, unseal
from simcrawl.store.rejections import content_of

if TYPE_CHECKING:
    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from simcrawl.page.hints import Canonical
    from simcrawl.rule import Verdict

PREDICTED = "predicted"
"""Kind and reason of a line of the register whose page was not fetched."""
Standing = Literal["exact", "near", "not_fetched", "rejected"]
"""What a line of the register counts as."""
COPIES: frozenset[Standing] = frozenset({"exact", "near"})
"""What counts as a copy that was seen."""


class Share(float):
    """A share of copies as everything tells it: a number of three digits, in words 59.2%."""

    @classmethod
    def of(cls, copies: int, kept: int) -> Self:
        """Return the share of copies among pages that were kept or were copies; 0 where there are none.

        Nothing else counts: no page that was not fetched, that did not answer with success, or whose verdict was taken back.
        """
        return cls(round(copies / max(1, copies + kept), 3))

    def __str__(self) -> str:
        """Return it in per cent."""
        return f"{float(self):.1%}"


# What few pages have takes no bytes of others.
_SAID = {"title", "original_title", "names", "noindex"}
_LONGEST_NAMED = 300
_WHEN = re.compile(rb'[,{] ?"when": ?([0-9.]+)[,}]')


@dataclass(frozen=True, slots=True)
class Duplicate:
    """One line of the register: `url` was a copy of `original`, and what was done about it.

    `content`: digest of what the page held, in hexadecimal. `rejected`: a user took the verdict back. `rule`: of a page that was not
    fetched (its kind is `PREDICTED`), what spoke for it, in words. `canonical`: as a verdict has it.
    `title`, `original_title`: of 120 characters at most, where they are known. `names`: the URL that
    the page names as its canonical one, where that is another one. `noindex`: whether it asks robots to leave it out.
    """

    url: str
    original: str
    kind: str
    distance: int | None
    similarity: float | None
    reason: str | None
    dropped_page: bool
    dropped_outlinks: bool
    when: float
    content: str = ""
    rejected: bool = False
    rule: str = ""
    canonical: Canonical = ""
    title: str = ""
    original_title: str = ""
    names: str = ""
    noindex: bool = False

    @property
    def standing(self) -> Standing:
        """What the line counts as, wherever lines are counted.

        An "exact" or "near" copy; a page that was "not_fetched", since by its URL it is almost certainly a copy; or "rejected": a user took
        the verdict back, whatever it was, and the page is no copy.
        """
        if self.rejected:
            return "rejected"
        if self.kind == PREDICTED:
            return "not_fetched"
        return "exact" if self.kind == Kind.EXACT_DUPLICATE else "near"


def line_of(page: PageFingerprint | Abstention, verdict: Verdict, when: float, original_title: str = "") -> Duplicate:
    """Return the line that a verdict on a page makes."""
    hints = page.hints or NO_HINTS
    return Duplicate(
        url=page.url,
        original=verdict.original or "",
        kind=verdict.kind.value,
        distance=verdict.distance,
        similarity=verdict.similarity,
        reason=verdict.reason,
        dropped_page=verdict.drop_page,
        dropped_outlinks=verdict.drop_outlinks,
        when=when,
        content=content_of(page),
        canonical=verdict.canonical,
        title=hints.title,
        original_title=original_title,
        names=hints.canonical[:_LONGEST_NAMED] if hints.canonical != page.url else "",
        noindex=hints.noindex,
    )


def format_line(line: Duplicate) -> bytes:
    """Return the bytes of a line, sealed."""
    told = {name: value for name, value in asdict(line).items() if value or name not in _SAID}
    return seal(json.dumps(told).encode())


def parse_line(value: bytes | memoryview) -> Duplicate:
    """Return the line that `format_line` wrote.

    Raises:
        StoreCorruptError: it fails its checksum, or does not parse.
    """
    whole = unseal(value, "a line of the register", "crawl its page again, or restore the store from a backup")
    try:
        return Duplicate(**json.loads(whole))
    except (ValueError, TypeError) as exc:
        raise StoreCorruptError(f"a line of the register does not parse ({exc}): it was not written by this version of simcrawl") from exc


def quick_when(value: bytes | memoryview) -> float:
    """Return the time of a line without parsing it; of one that is damaged, of all times the last.

    So a damaged line is among the latest ones, where it is looked at and told. With one flipped digit of its time it would be an old line,
    and missing without a word.
    """
    if not is_whole(value):
        return inf
    # Within a text of JSON quotes are escaped, and the checksum before it is too short to look like a time.
    found = _WHEN.search(value)
    try:
        return float(found[1]) if found else parse_line(value).when
    except (StoreCorruptError, ValueError):
        return inf
