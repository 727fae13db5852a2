"""A copy waits for its original, but not for ever."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from simcrawl.crawl.patience import Patience
from simcrawl.crawl.threads import Wake
from simcrawl.crawl.waiting import wait_for_original
from simcrawl.rule import Kind, Rule
from simcrawl.store import Store, open_store
from tests.strategies import page

if TYPE_CHECKING:
    from simcrawl.store import Admission

NEAR = Rule(max_distance=3, min_similarity=0, outlinks=0)
A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def waited(store: Store, *, meanwhile: str, told: list[str]) -> Admission:
    """Return what becomes of a copy that has waited too long; `meanwhile` comes out just when it no longer waits."""

    async def again(*, never_drop: bool) -> Admission:
        if meanwhile:
            store.admit(page(meanwhile, 1), NEAR)
        return store.claim(page(B, 1), NEAR, never_drop=never_drop)

    async def wait() -> Admission:
        return await wait_for_original(store.claim(page(B, 1), NEAR), again, 0.001, kept=lambda: told.append(B))

    return asyncio.run(wait())


def test_a_copy_that_has_waited_too_long_is_kept_and_told_of():
    told = list[str]()
    with open_store("memory:") as store:
        assert store.claim(page(A, 1), NEAR).claim
        assert waited(store, meanwhile="", told=told).claim
    assert told == [B]


def test_a_copy_that_has_waited_too_long_is_dropped_where_its_original_has_come_out_just_then():
    told = list[str]()
    with open_store("memory:") as store:
        assert store.claim(page(A, 1), NEAR).claim
        admission = waited(store, meanwhile=C, told=told)
        assert (admission.claim, admission.verdict.kind, admission.verdict.original) == (None, Kind.NEAR_DUPLICATE, C)
    assert told == []


def test_a_copy_waits_no_longer_for_many_than_for_one():
    with open_store("memory:") as store:
        claimed = [store.claim(page(A, 1), NEAR)]

        async def again(*, never_drop: bool) -> Admission:
            return store.claim(page(B, 1), NEAR, never_drop=never_drop)

        async def wait() -> tuple[Admission, float]:
            asyncio.get_running_loop().call_later(0.02, other_comes)
            return await wait_for_original(store.claim(page(B, 1), NEAR), again, 0.2), monotonic() - started

        def other_comes() -> None:
            # The first one fails, and the next is there already.
            claim = claimed[-1].claim
            assert claim
            claim.withdraw()
            claimed.append(store.claim(page(C, 1), NEAR))
            asyncio.get_running_loop().call_later(0.02, other_comes)

        started = monotonic()
        admission, seconds = asyncio.run(wait())
        assert admission.claim
        assert seconds < 0.5


@pytest.mark.parametrize("others", [0, 20])
def test_of_two_copies_of_a_page_that_never_comes_out_one_is_kept(others: int):
    with open_store("memory:") as store:
        assert store.claim(page(A, 1), NEAR).claim
        patience = Patience(used=lambda: 0.0)
        patience.seconds = 0.1

        async def outcome(url: str) -> Admission:
            async def again(*, never_drop: bool) -> Admission:
                # The first one to have waited in vain wakes the other, which may claim before it.
                await asyncio.sleep(0.005 if url == B else 0)
                return store.claim(page(url, 1), NEAR, never_drop=never_drop)

            admission = await wait_for_original(store.claim(page(url, 1), NEAR), again, 9, patience=patience)
            if admission.claim:
                asyncio.get_running_loop().call_later(0.03, admission.claim.confirm)
            return admission

        async def both() -> tuple[Admission, Admission]:
            # Others wait for what else the one that never comes had claimed.
            meanwhile = asyncio.gather(*(patience.wait(Wake(), monotonic() + 9) for _ in range(others)))
            admissions = await asyncio.gather(outcome(B), outcome(C))
            await meanwhile
            return admissions

        kept = [admission for admission in asyncio.run(both()) if admission.claim]
        assert len(kept) == 1
