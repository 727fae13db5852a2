"""What items have said, in a file, from a stop until the crawl goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from simcrawl.crawl import said_file
from simcrawl.crawl.copied import Copy
from simcrawl.crawl.elsewhere import Elsewhere
from simcrawl.crawl.item_values import ItemRead
from simcrawl.crawl.said import Memory, Said
from simcrawl.errors import StoreCorruptError

if TYPE_CHECKING:
    from pathlib import Path

URL, OTHER, USE = "http://a.test/p/1", "http://a.test/p/2", "spider.parse"


def _told(said: Said) -> tuple[object, ...]:
    return said.rows, said.fields, said.values, said.states


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("job") / said_file.NAME


_ITEMS = st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=9), st.integers(), st.booleans(), st.none()), max_size=5)


@given(st.lists(st.tuples(st.integers(0, 5), _ITEMS), max_size=12), st.sets(st.integers(0, 5)))
@settings(max_examples=60, deadline=None)
def test_what_is_read_is_what_was_written(file: Path, items: list[tuple[int, dict[str, object]]], unknown: set[int]):
    memory = Memory()
    for content, item in items:
        memory.note(f"{URL}{content}", USE, ItemRead(item))
    for content in unknown:
        if said := memory.of(f"{URL}{content}", USE):
            said.values = said.fields = said.states = None
    told = {USE: [["a"], []]}
    said_file.write(file, told, memory.all())
    read, contents = said_file.read(file)
    assert read == told
    assert [(number, _told(said)) for number, said in contents] == [(number, _told(said)) for number, said in memory.all()]


def test_nothing_is_known_where_nothing_was_written_or_by_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / said_file.NAME
    assert said_file.read(file) == ({}, [])
    said_file.write(file, {USE: [[], []]}, [(7, Said())])
    assert len(said_file.read(file)[1]) == 1
    monkeypatch.setattr("simcrawl.crawl.said_file._VERSION", 2)
    assert said_file.read(file) == ({}, [])


@pytest.mark.parametrize("at", [0, 5, -1])
def test_what_is_damaged_is_not_believed(tmp_path: Path, at: int):
    file = tmp_path / said_file.NAME
    said_file.write(file, {}, [(7, Said())])
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    for damaged in (data, data[:3], data[:-4], b""):
        file.write_bytes(damaged)
        with pytest.raises(StoreCorruptError):
            said_file.read(file)


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path):
    file = tmp_path / said_file.NAME
    said_file.write(file, {}, [(7, Said())])
    before = file.read_bytes()
    (tmp_path / f"{said_file.NAME}.new").mkdir()
    with pytest.raises(IsADirectoryError):
        said_file.write(file, {}, [])
    assert file.read_bytes() == before


def test_copies_are_compared_with_what_was_said_before_a_stop(tmp_path: Path):
    before, after = Elsewhere(), Elsewhere()
    before.note(URL, USE, ItemRead({"day": "5 May 2019"}))
    copy = Copy(lambda: ["<p>12 May 2019</p>"], OTHER)
    assert after.find(URL, USE, ItemRead({"day": "12 May 2019"}), copy, identical=False) is None
    before.save(tmp_path / said_file.NAME)
    after.restore(tmp_path / said_file.NAME)
    assert after.find(URL, USE, ItemRead({"day": "5 May 2019"}), copy, identical=False) is None
    assert after.find(URL, USE, ItemRead({"day": "12 May 2019"}), copy, identical=False) == "day"


def test_for_which_callbacks_nothing_is_skipped_is_known_after_a_stop(tmp_path: Path):
    before, after = Elsewhere(), Elsewhere()
    before.note(URL, USE, ItemRead({"dish": "Soup"}))
    assert before.find(URL, USE, ItemRead({"dish": "Bouillabaisse"}), Copy(lambda: ["<p>Menu</p>"], OTHER), identical=True)
    before.save(tmp_path / said_file.NAME)
    after.restore(tmp_path / said_file.NAME)
    assert after.may_lose(USE)
    assert not after.may_lose("spider.parse_more")
