"""A page in flight: its verdict, its claim, and how far its content has come out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from simcrawl.crawl.again import DroppedItems
from simcrawl.rule import kept_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Response

    from simcrawl.crawl.feeds import HeldClaim
    from simcrawl.crawl.item_values import ItemRead
    from simcrawl.rule import Verdict

# Of one page: items that are held. Some 2 kB each.
_MOST_HELD = 10_000


@dataclass(slots=True)
class Case:
    """A page in flight: its verdict, its claim, and how far its content has come out.

    `body`: what was judged. `callback`: whose page it is, with a digest of what its request carries: see `simcrawl.rule.with_data`.
    `called`, `exhausted`, `failed`: its callback has been called, has given all, or has raised, as an item may have. `dropped_unparsed`: it
    was dropped before its callback. `has_held_up`: it has waited for its original while there was nothing else to do. `taken_back`: it was
    dropped by mistake before, and counted then.

    `items`: what the callback has given; `items_open` of them are in the pipelines, `items_out` have come out, `items_taken` by a feed.
    `links_dropped`: requests of the callback that were dropped.

    `is_taken`: whether somebody has taken an item of it, or its callback has saved what it wants (`saved`). `is_for_later`: whether it may
    be an original in later crawls as well.

    `gives`: of a copy, whether its items come out, since its original gave none; None until an item asks. `kept_as`: the URL under which a
    page that is no copy is known; empty for others, and where items of copies are not dropped. `again`: of a copy that may have been
    dropped by mistake, the request to make then, and `dropped` the items that were dropped with it.

    What is called when the page has ended: `came_out` if its content has come out, or `lost` if not, where it has a claim; `came` if it
    `is_taken`; `has_given` with whether a feed has taken its items; `give_back` where the items of a copy that `gives` have not come out.
    """

    verdict: Verdict
    claim: HeldClaim | None = None
    body: bytes = b""
    callback: str = ""
    called: bool = False
    exhausted: bool = False
    failed: bool = False
    dropped_unparsed: bool = False
    has_held_up: bool = False
    taken_back: bool = False
    items: int = 0
    items_open: int = 0
    items_out: int = 0
    items_taken: int = 0
    links_dropped: int = 0
    is_taken: bool = False
    is_for_later: bool = False
    gives: bool | None = None
    kept_as: str = ""
    came_out: Callable[[], None] | None = None
    came: Callable[[], None] | None = None
    lost: Callable[[], None] | None = None
    has_given: Callable[..., None] | None = None
    give_back: Callable[[], None] | None = None
    again: Request | None = None
    dropped: DroppedItems = field(default_factory=DroppedItems)
    said: dict[int, tuple[Any, ItemRead | int]] = field(default_factory=dict)
    """Items that are in the pipelines, by their identity, and what they said before: see `simcrawl.crawl.refused`."""

    @property
    def url(self) -> str:
        """The URL of the page, as it is stored; empty where there is none."""
        return self.kept_as or (self.verdict.page.url if self.verdict.page else "")

    def hold(self, item: Any, said: ItemRead | int) -> None:
        """Hold an item and what it says until it has left the pipelines."""
        self.said[id(item)] = item, said
        # Where a pipeline puts another item in its place, or a middleware takes it out before, nobody sees it leave. Which ones are still
        # there nobody can tell then, so all are held until the page is done with.
        if len(self.said) > _MOST_HELD:
            del self.said[next(iter(self.said))]

    def item_left(self, *, out: bool, taken: bool = True) -> None:
        """Note that an item has left the pipelines, `out` where it, or one that it is a copy of, was not refused; `taken`: by a feed."""
        self.items_open -= 1
        self.items_out += out
        self.items_taken += out and taken
        self.settle()

    def settle(self) -> None:
        """Settle the claim once the callback is exhausted and every item has left the pipelines."""
        if self.exhausted and not self.items_open:
            self.end()

    def fail(self) -> None:
        """Withdraw the claim: some of the page's content did not come out."""
        self.failed = True
        self.end()

    def end(self) -> None:
        """Settle the claim by what is known: nothing more will come of this page."""
        is_lost = self.failed or not (self.called and self.exhausted) or (self.items > 0 and not self.items_out)
        if self.give_back and (is_lost or (self.items and not self.items_taken)):
            self.give_back()
        # What a spider has asked for again may give more than at first, and has no claim.
        if self.has_given and not is_lost:
            self.has_given(items=bool(self.items_taken))
        if self.came_out and not is_lost:
            # Not when the claim is settled, which may wait for the feed's file: what comes next in the crawl hangs on it, and nothing else.
            self.came_out()
            self.came_out = None
        if self.claim and is_lost:
            self.claim.withdraw()
            self._settled(is_out=False)
        elif self.claim:
            items = self.items_taken if self.is_taken or not self.is_for_later else 0
            self.claim.confirm(kept_for(self.callback, items=items), then=self._settled)
        else:
            self._settled(is_out=not is_lost)

    def _settled(self, *, is_out: bool) -> None:
        """Tell once whether the content has come out, where the feed has it. What has come out before is not lost."""
        (came, self.came), (lost, self.lost) = (self.came, None), (self.lost, None)
        if lost and not is_out:
            lost()
        if came and is_out and self.is_taken:
            came()


# One for all crawlers of a process: `verdict(response)` has no crawler to ask. Holds requests weakly, so it needs no bound.
_cases: WeakKeyDictionary[Request, Case] = WeakKeyDictionary()


def bind(request: Request, case: Case) -> None:
    """Let a case be found by the request of its page, as long as that is there."""
    _cases[request] = case


def verdict(response: Response) -> Verdict | None:
    """Return the verdict on a response inside its callback; None where simcrawl did not look at it."""
    case = case_of(response)
    return case.verdict if case else None


def saved(response: Response) -> None:
    """Say, inside a callback, that it has saved itself what it wants of the page: then the page has come out without an item."""
    if case := case_of(response):
        case.is_taken = True


def case_of(response: Response | None) -> Case | None:
    """Return the case of a response that the engine has handed on."""
    return _cases.get(response.request) if response is not None and response.request else None
