"""Lines of the register: which page was a copy of which, and what was done about it. Clusters of them: `simcrawl.store.clusters`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from simcrawl.rule import Kind
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


@dataclass(frozen=True, slots=True)
class Duplicate:
    """One line of the register: `url` was a copy of `original`, and what was done about it.

    `content`: digest of what the page held, in hexadecimal. `rejected`: a user took the verdict back. `rule`: of a page that was not
    fetched (its kind is `PREDICTED`), what spoke for it, in words. `canonical`: as a verdict has it.
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


def line_of(page: PageFingerprint | Abstention, verdict: Verdict, when: float) -> Duplicate:
    """Return the line that a verdict on a page makes."""
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
    )
