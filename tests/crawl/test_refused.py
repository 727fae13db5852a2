"""What a pipeline refuses of an original comes out of its copy, and what lacks its files comes out once more."""

from __future__ import annotations

from time import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from itemadapter import ItemAdapter
from scrapy import Field, Item

from simcrawl.crawl import refused
from simcrawl.crawl.item_values import ItemRead
from simcrawl.crawl.refused import Refused
from tests.crawl.content import hub
from tests.crawl.runner import MODES, crawl
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

SPIDERS = "tests.crawl.refused_spiders"
URL, OTHER, USE = "http://a.test/1", "http://a.test/2", "spider.parse"
ITEM = {"text": "Tea", "price": 3, "sizes": [1, 2]}


class OfScrapy(Item):
    text = Field()
    files = Field()
    file_urls = Field()


# ---- what is known


def _read(item: Any) -> ItemRead:
    return ItemRead(item, ["file_urls"])


def _is_same(first: dict[str, Any], second: dict[str, Any], urls: tuple[str, str] = (URL, OTHER)) -> bool:
    known = Refused()
    known.note(URL, USE, _read(first), urls[0])
    return known.take(URL, USE, _read(second), urls[1])


def test_what_was_refused_is_taken_once_from_a_copy():
    known = Refused()
    assert not known.may_lose(URL, USE)
    known.note(URL, USE, _read(ITEM), URL)
    assert known.may_lose(URL, USE)
    assert not known.take(URL, USE, _read(ITEM | {"price": 4}), OTHER)
    assert not known.take(OTHER, USE, _read(ITEM), OTHER)
    assert not known.take(URL, "spider.other", _read(ITEM), OTHER)
    assert known.take(URL, USE, _read(ITEM), OTHER)
    assert not known.take(URL, USE, _read(ITEM), OTHER)
    assert not known.may_lose(URL, USE)


def test_what_an_item_said_before_a_pipeline_changed_it_counts():
    known, item = Refused(), {"text": "Tea"}
    read = _read(item)
    read.read()
    item["text"] = "Coffee"
    known.note(URL, USE, read, URL)
    assert not known.take(URL, USE, _read(item), OTHER)
    assert known.take(URL, USE, _read({"text": "Tea"}), OTHER)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"url": URL}, {"url": OTHER}),
        ({"download_latency": 0.1, "depth": 1, "retry_times": 0}, {"download_latency": 0.7, "depth": 3, "retry_times": 1}),
        ({"at": "2026-11-28T10:00:07", "timestamp": 1795000007}, {"at": "2026-11-28T10:00:00", "timestamp": 1795000000}),
        ({"made": int(time())}, {"made": int(time()) - 60}),
        ({"id": "550e8400-e29b-41d4-a716-446655440000"}, {"id": "1b4e28ba-2fa1-11d2-883f-0016d3cca427"}),
        ({"section": "green"}, {"section": "black"}),
        ({"file_urls": ["http://a.test/files/tea.pdf"]}, {"file_urls": ["http://b.test/files/tea.pdf"]}),
    ],
)
def test_where_an_item_is_from_and_how_it_was_fetched_says_nothing(first: dict[str, Any], second: dict[str, Any]):
    assert _is_same(ITEM | first, ITEM | second, ("http://a.test/green/1", "http://b.test/black/1"))


@pytest.mark.parametrize("other", [{"price": 4}, {"text": "Teas"}, {"sizes": [1]}, {"new": True}, {"file_urls": ["http://a.test/b.pdf"]}])
def test_what_an_item_says_counts(other: dict[str, Any]):
    item = ITEM | {"file_urls": ["http://a.test/a.pdf"]}
    assert not _is_same(item, item | other)


def test_copies_are_left_out_unseen_again_where_their_items_come_out_in_vain():
    known = Refused()
    known.note(URL, USE, _read(ITEM), URL)
    for _ in range(5):
        assert known.may_lose(URL, USE)
        known.came(USE, in_vain=True)
    assert not known.may_lose(URL, USE)
    known.came(USE, in_vain=False)
    assert known.may_lose(URL, USE)


def test_what_is_no_item_says_nothing():
    known = Refused()
    known.note(URL, USE, _read({}), URL)
    assert not known.take(URL, USE, _read("text"), OTHER)


def test_it_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(refused, "_MOST_ITEMS", 3)
    known = Refused()
    for number in range(5):
        known.note(f"{URL}{number}", USE, _read(ITEM), URL)
    assert [known.may_lose(f"{URL}{number}", USE) for number in range(5)] == [False, False, True, True, True]
    for number in range(2, 100):
        known.note(f"{URL}{number}", USE, _read({"n": number % 7}), URL)
        assert known.may_lose(f"{URL}{number}", USE)
        assert known._held == sum(map(len, known._refused.values())) <= 3
    known.note(URL, USE, _read(ITEM), URL)
    assert known.take(URL, USE, _read(ITEM), URL)
    assert known._held == 2


def test_of_a_long_list_all_that_is_refused_is_known():
    known, items = Refused(), [{"text": f"Tea {number}"} for number in range(3_000)]
    for item in items:
        known.note(URL, USE, _read(item), URL)
    assert all(known.take(URL, USE, _read(item), OTHER) for item in items)


@pytest.mark.parametrize("kind", [dict, OfScrapy])
@pytest.mark.parametrize(("came", "lacks"), [(["a", "b"], False), (["a"], True), ([], True), (None, False)])
def test_files_are_missing_where_fewer_came_than_were_asked_for(kind: Any, came: list[str] | None, lacks: bool):
    known = Refused()
    known.watch([SimpleNamespace(), SimpleNamespace(files_urls_field="file_urls", files_result_field="files")])
    item = kind(file_urls=["http://a.test/a", "http://a.test/b"])
    if came is not None:
        ItemAdapter(item)["files"] = came
    assert known.lacks_files(item) == lacks
    assert not Refused().lacks_files(item)
    assert not known.lacks_files("text")


@pytest.mark.parametrize("characters", [10, 100_000])
def test_of_a_large_item_nothing_is_held_but_what_it_is_known_by(characters: int):
    """A pipeline may have taken out its text to be rid of it."""
    item, known = ITEM | {"html": "x y " * (characters // 4)}, Refused()
    held = known.held(_read(item), URL)
    assert isinstance(held, int) == (characters > 10_000)
    known.note(URL, USE, held, URL)
    assert known.take(URL, USE, _read(item), OTHER)


# ---- crawls


def _mirrors(site: Site, lines: list[str], *, copies: int = 1, gone: str = "/first") -> None:
    """Add a list of texts at `/first` and at its mirrors, each text with a file, which is gone at one of them."""
    names = ["first", *(f"mirror{number}" for number in range(copies))]
    site.add("/", hub(*(f"/{name}/list" for name in names)))
    text = english(150, seed=3)
    for name in names:
        rows = "".join(
            f'<p>{line} <a href="/{name}/{line.replace(" ", "-").lower()}.pdf">file</a></p>' for number, line in enumerate(lines)
        )
        site.add(
            f"/{name}/list", f"<html><head><title>All</title></head><body><main><h1>All</h1><div>{text}</div>{rows}</main></body></html>"
        )
        for number, line in enumerate(lines):
            there = not (f"/{name}" == gone and number % 2)
            site.add(
                f"/{name}/{line.replace(' ', '-').lower()}.pdf",
                f"%PDF {number}",
                status=200 if there else 404,
                Content_Type="application/pdf",
            )


def _crawled(site: Site, pipeline: str, tmp_path: Path, *, mode: str = "asyncio") -> Outcome:
    settings = {
        "ITEM_PIPELINES": {pipeline: 300},
        "FILES_STORE": str(tmp_path / "files"),
        "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
    }
    return crawl(f"{SPIDERS}.Filed", site.url(), mode=mode, settings=IN_ORDER | settings)


LINES = ["Tea of the day", "Refuse first coffee", "Cake with cream", "Refuse everywhere juice"]


@pytest.mark.parametrize("mode", MODES)
def test_an_item_that_was_refused_comes_out_of_a_copy_unless_it_is_refused_there_too(site: Site, tmp_path: Path, mode: str):
    _mirrors(site, LINES, copies=2)
    outcome = _crawled(site, f"{SPIDERS}.RefusesOdd", tmp_path, mode=mode)
    assert sorted(text.strip() for text in outcome.stats["test/words"]) == sorted(LINES[:3])
    # The juice is offered by each mirror.
    assert outcome.stats["simcrawl/items/refused_before"] == 3
    assert outcome.pages()["dropped"] == 2


def test_an_item_without_a_file_is_refused_by_a_pipeline_and_comes_out_of_the_mirror_that_has_it(site: Site, tmp_path: Path):
    _mirrors(site, LINES)
    outcome = _crawled(site, f"{SPIDERS}.NeedsFiles", tmp_path)
    assert sorted(text.strip() for text in outcome.stats["test/words"]) == sorted(LINES)
    assert outcome.stats["simcrawl/items/refused_before"] == 2


def test_an_item_that_lacks_its_file_comes_out_once_more(site: Site, tmp_path: Path):
    # At the other mirrors the files are there: they come once.
    _mirrors(site, LINES, copies=3)
    outcome = _crawled(site, "scrapy.pipelines.files.FilesPipeline", tmp_path)
    assert len(outcome.stats["test/words"]) == len(LINES) + 2
    assert len({path.read_bytes() for path in (tmp_path / "files").glob("full/*")}) == len(LINES)
    assert outcome.stats["simcrawl/items/refused_before"] == 2
