"""What a store remembers of a crawl, while the crawl is still ending."""

from __future__ import annotations

import sys
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from simcrawl.config import Config
from simcrawl.crawl.history import History
from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that take turns all the time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("impatient")
def test_other_components_set_their_last_stats_meanwhile() -> None:
    stats, ended = {f"simcrawl/{number}": number for number in range(50)}, Event()

    def others() -> None:
        while not ended.is_set():
            for number in range(3_000):
                stats[f"other/{number}"] = number
            for number in range(3_000):
                del stats[f"other/{number}"]

    thread = Thread(target=others)
    thread.start()
    try:
        for _ in range(1_000):
            record = History().record({}, stats, Config.from_settings(lambda _: None), Rule.of(resolve()))
            assert len(record["stats"]) == 50
    finally:
        ended.set()
        thread.join()


def test_answers_are_counted_by_status_whatever_a_server_makes_up() -> None:
    made_up = {f"downloader/response_status_count/{number}": 1 for number in range(100, 2_000)}
    stats = made_up | {"downloader/response_status_count/200": 7, "downloader/response_status_count/404": 2}
    kept = History().record({}, stats, Config.from_settings(lambda _: None), Rule.of(resolve()))["stats"]
    assert list(kept.values())[:2] == [7, 2]
    assert len(kept) == 30
    assert all(len(name.rpartition("/")[2]) == 3 for name in kept)
