"""A copy waits for its original to come out, and claims again when that is settled."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from simcrawl.crawl.feeds import hurry
from simcrawl.crawl.threads import Wake

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from simcrawl.crawl.patience import Patience
    from simcrawl.store import Admission

# Seconds that a copy which has waited in vain waits for another copy that has claimed their page meanwhile.
_SECOND_WAIT = 1.0


async def wait_for_original(
    admission: Admission,
    claim: Callable[..., Awaitable[Admission]],
    most: float,
    *,
    never_drop: bool = False,
    patience: Patience | None = None,
    kept: Callable[[], None] = lambda: None,
) -> Admission:
    """Return an admission that waits for no other page: claim again when that is settled, or `most` seconds have passed in all.

    `patience`: what may end a wait before that. A page that has waited in vain for two others is kept; `kept` is called for each page that
    has waited in vain, and is no copy of what has come out by then.
    """
    until = monotonic() + most
    in_vain = 0
    while original := admission.waits_for:
        left = until - monotonic()
        if left <= 0 or in_vain > 1:
            in_vain += 1
            admission = await claim(never_drop=True)
            break
        wake = Wake()
        original.when_settled(wake)
        hurry(original)
        await (patience.wait(wake, until) if patience else wake.wait(left))
        if not original.settled:
            # Not again for the next copy of it; and this one is kept, unless its original has come out by now. Or unless another copy was
            # waiting, too, and has claimed first: it deserves a wait of its own, else both would be kept.
            in_vain += 1
            original.withdraw()
            until = min(until, monotonic() + _SECOND_WAIT)
        admission = await claim(never_drop=never_drop)
    if in_vain and admission.claim:
        kept()
    return admission
