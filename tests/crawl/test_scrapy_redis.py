"""Requests that wait in Redis, by scrapy-redis: one crawler, one that is stopped and resumed, and two on one queue."""

from __future__ import annotations

import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from simcrawl.store import join_crawl, open_store
from tests.crawl.content import hub
from tests.crawl.runner import crawl
from tests.crawl.test_frontier import WATCHED, WISHFUL, check, contents, fetched, late, pair, predicted, text, wish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

PARTNER = "tests.crawl.frontier_spiders.Partner"
# What waits at the end of the queue; the depth of a page adds to it.
HELD = 1_000_000


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    """A Redis server of the test's own, in memory only."""
    if shutil.which("redis-server") is None:
        pytest.skip("needs a Redis server: apt-get install redis-server")
    for _ in range(10):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            # It ends at once where somebody else has taken the port meanwhile.
            if not any("Ready to accept connections" in line for line in server.stdout):
                continue
            try:
                with Redis(port=port) as client:
                    client.ping()
                    yield client
            finally:
                server.terminate()
            return
    pytest.fail("redis-server does not start")


def shared(redis: Redis, *, persist: bool = True) -> dict[str, Any]:
    """Return the settings with which requests wait in Redis. What is deep comes later, and what is equal in the order of URLs."""
    return {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.PriorityQueue",
        "SCHEDULER_PERSIST": persist,
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_URL": f"redis://127.0.0.1:{redis.get_connection_kwargs()['port']}",
        "DEPTH_PRIORITY": 1,
    }


def waiting(redis: Redis, spider: str, lowest: float = float("-inf")) -> int:
    """Return how many requests are in the queue: a score is a priority, the other way round."""
    return int(redis.zcount(f"{spider}:requests", lowest, float("inf")))


def left(outcome: Outcome) -> int:
    """Return how many requests a crawler has put at the end of the queue and nobody, or somebody else, has taken from there."""
    held, *taken = (outcome.stats.get(f"simcrawl/predicted/{name}", 0) for name in ("held", "checked", "skipped", "released"))
    return int(held - sum(taken))


@pytest.mark.parametrize("persist", [True, False])
def test_copies_wait_in_redis_and_some_are_skipped(site: Site, redis: Redis, persist: bool) -> None:
    pair(site, 150)
    outcome = crawl(WATCHED, site.url(), settings=shared(redis, persist=persist))
    assert len(contents(site, outcome)) == 150
    told = predicted(outcome)
    assert told["put_back"] > 20
    assert told["skipped"] > 50
    assert fetched(site, "/main/") == 150
    assert fetched(site, "/mirror/") == 150 - told["skipped"]
    assert waiting(redis, "watched") == 0
    check(outcome, site)


def test_a_mirror_that_goes_its_own_way_is_fetched(site: Site, redis: Redis) -> None:
    pair(site, 200, same=120)
    outcome = crawl(WATCHED, site.url(), settings=shared(redis))
    assert len(contents(site, outcome)) == 280
    assert predicted(outcome)["released"] > 0
    assert waiting(redis, "watched") == 0
    check(outcome, site)


def test_a_request_that_was_put_back_has_its_own_flags_again(site: Site, redis: Redis) -> None:
    paths = late(site)
    site.add("/elsewhere", text(77_777))
    site.add(paths[0], "", status=302, Location=site.url("/elsewhere").replace("127.0.0.1", "localhost"))
    outcome = wish(site, "plain", SIMCRAWL_SKIP=False, **shared(redis))
    assert all(outcome.paths("scheduled").count(path) > 1 for path in paths)
    # Put back, then redirected off the site.
    assert site.requests["/elsewhere"] == 0
    assert outcome.stats["offsite/filtered"] == 1
    assert {(path, asked) for path, asked, _ in outcome.paths("seen") if path in paths} == {(path, False) for path in paths}
    assert waiting(redis, "wishful") == 0


def stop(site: Site, settings: dict[str, Any]) -> Outcome:
    """Crawl a site until some requests wait at the end of the queue and some do not, and stop."""
    paths = [f"/other/{number}" for number in range(150)]
    # They are found while the late ones already wait at the end of the queue.
    site.add("/late/", hub(*late(site), "/others/"))
    site.add("/others/", hub(*paths))
    for number, path in enumerate(paths):
        site.add(path, text(50_000 + number))
    outcome = crawl(WISHFUL, site.url(), kind="plain", settings=settings | {"CLOSESPIDER_PAGECOUNT": 300})
    assert outcome.stats["finish_reason"] == "closespider_pagecount"
    return outcome


def check_all(site: Site, redis: Redis, outcomes: list[Outcome]) -> None:
    """Check that what was begun and stopped has come to its end, and nothing is lost."""
    assert all(outcome.stats["finish_reason"] == "finished" for outcome in outcomes[1:])
    assert not any(" ERROR: " in outcome.log for outcome in outcomes)
    assert waiting(redis, "wishful") == 0
    # Who has put a request at the end of the queue need not be who has taken it from there.
    assert sum(map(left, outcomes)) == 0
    skipped = {path for outcome in outcomes for path, _ in outcome.paths("skipped")}
    # Start requests are made again.
    assert all(site.requests[path] + (path in skipped) == 1 for path in site.answers if path not in ("/", "/late/"))
    assert len(set.union(*(contents(site, outcome) for outcome in outcomes))) == 280


@pytest.mark.parametrize("job", [True, False])
def test_what_waits_in_redis_survives_a_stop(site: Site, redis: Redis, tmp_path: Path, job: bool) -> None:
    # Requests and filter are in Redis. With a directory for the job, both runs are one crawl to simcrawl.
    settings = shared(redis) | {"SIMCRAWL_STORE": str(tmp_path / "store")} | ({"JOBDIR": str(tmp_path / "job")} if job else {})
    first = stop(site, settings)
    assert waiting(redis, "wishful", HELD) == left(first) > 0
    assert waiting(redis, "wishful") > waiting(redis, "wishful", HELD)
    second = crawl(WISHFUL, site.url(), kind="plain", settings=settings)
    # Only what came out in the same crawl makes a page one that need not be fetched, and only if this process knows what that links to.
    assert second.stats["simcrawl/predicted/released"] > 0
    assert ("simcrawl/predicted/fetched_for_links" in second.stats) == job
    check_all(site, redis, [first, second])


def both_run(spider: str, site: Site, settings: dict[str, Any], **arguments: Any) -> list[Outcome]:
    """Let two processes crawl a site side by side."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(lambda _: crawl(spider, site.url(), settings=settings, **arguments), range(2)))


class Second(Event):
    """Is set when a second one waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self._places = count(1)

    def wait(self, timeout: float | None = None) -> bool:
        if next(self._places) == 2:
            self.set()
        return super().wait(timeout)


def test_two_crawlers_go_on_with_one_queue(site: Site, redis: Redis, tmp_path: Path) -> None:
    settings = shared(redis) | {"SIMCRAWL_STORE": str(tmp_path / "store"), "SIMCRAWL_CRAWL": "one"}
    # The crawl lasts as long as anybody takes part in it.
    with open_store(tmp_path / "store") as store:
        join_crawl(store, "one")
        first = stop(site, settings)
        assert waiting(redis, "wishful", HELD) == left(first) > 0
        gate = Second()
        for path, answer in site.answers.items():
            answer.hold = gate if path.startswith("/other/") else None
        # One request at a time, so that a second one is of the other crawler: neither is done before the other has begun.
        both = both_run(WISHFUL, site, settings | {"CONCURRENT_REQUESTS": 1}, kind="plain")
    assert all(any(path.startswith("/other/") for path in outcome.paths("kept")) for outcome in both)
    # Of the pages that the first one has fetched neither knows the links.
    assert sum(outcome.stats.get("simcrawl/predicted/fetched_for_links", 0) for outcome in both) > 0
    check_all(site, redis, [first, *both])


@pytest.mark.parametrize("fleet", [False, True])
def test_two_crawlers_share_a_queue_from_the_start(site: Site, redis: Redis, tmp_path: Path, fleet: bool) -> None:
    pair(site, 200)
    # Neither begins without the other, and each asks for every page.
    site.add("/", hub("/mirror/", *(f"/main/{number}.html" for number in range(200))), hold=Second())
    del site.answers["/main/"]
    settings = shared(redis)
    settings |= {"SIMCRAWL_STORE": f"{settings['REDIS_URL']}/0" if fleet else str(tmp_path / "store"), "SIMCRAWL_CRAWL": "both"}
    outcomes = both_run(PARTNER, site, settings)
    for outcome in outcomes:
        assert outcome.stats["finish_reason"] == "finished"
        assert " ERROR: " not in outcome.log
        assert outcome.paths("kept")
    assert len(set.union(*(contents(site, outcome) for outcome in outcomes))) == 200
    assert waiting(redis, "partner") == 0
    assert sum(map(left, outcomes)) == 0
    # Each learns from its own pages only: here there may be too few to skip any.
    skipped = [path for outcome in outcomes for path, _ in outcome.paths("skipped")]
    assert len(skipped) == len(set(skipped))
    assert fetched(site, "/main/") == 200
    assert fetched(site, "/mirror/") == 200 - len(skipped)
    assert max(count for path, count in site.requests.items() if path != "/") == 1
