"""What items have said, in a file, as long as a crawl may be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from simcrawl.crawl.copied import Copy
from simcrawl.crawl.elsewhere import Elsewhere
from simcrawl.crawl.item_values import ItemRead
from simcrawl.crawl.said import Memory, Said
from simcrawl.crawl.said_file import NAME, SaidFile, packed, read
from simcrawl.errors import StoreCorruptError

if TYPE_CHECKING:
    from pathlib import Path

URL, OTHER, USE = "http://a.test/p/1", "http://a.test/p/2", "spider.parse"


def _told(said: Said) -> tuple[object, ...]:
    return said.content, said.rows, said.fields, said.values, said.states


def _begun(path: Path, *, resumed: bool = False) -> tuple[SaidFile, Elsewhere]:
    elsewhere = Elsewhere()
    file = SaidFile(path / NAME, elsewhere)
    file.begin(resumed=resumed)
    return file, elsewhere


def _find(elsewhere: Elsewhere, day: str) -> str | None:
    copy = Copy(lambda: ["<p>12 May 2019</p><p>19 May 2019</p>"], OTHER)
    return elsewhere.find(URL, USE, ItemRead({"day": day}), copy, identical=False)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("job") / NAME


_ITEMS = st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=9), st.integers(), st.booleans(), st.none()), max_size=5)
_BATCHES = st.lists(st.tuples(st.lists(st.tuples(st.integers(0, 5), _ITEMS), max_size=6), st.sets(st.integers(0, 5))), max_size=4)


@given(_BATCHES)
@settings(max_examples=60, deadline=None)
def test_what_is_read_is_what_was_known_last(file: Path, batches: list[tuple[list[tuple[int, dict[str, object]]], set[int]]]):
    memory = Memory()
    memory.changes()
    data = packed({}, [])
    for items, unknown in batches:
        for content, item in items:
            memory.note(f"{URL}{content}", USE, ItemRead(item))
        for content in unknown:
            if said := memory.of(f"{URL}{content}", USE):
                memory.note_values(said, [("n", number) for number in range(5_000)], 0)
        data += packed({USE: [["a"], []]}, memory.changes())
    file.write_bytes(data)
    told, contents = read(file)
    assert told == ({USE: [["a"], []]} if batches else {})
    assert sorted(map(_told, contents)) == sorted(map(_told, memory.all()))


def test_nothing_is_known_where_nothing_was_written_or_by_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / NAME
    assert read(file) == ({}, [])
    file.write_bytes(packed({USE: [[], []]}, [Said(7)]))
    assert len(read(file)[1]) == 1
    monkeypatch.setattr("simcrawl.crawl.said_file._VERSION", 99)
    assert read(file) == ({}, [])


@pytest.mark.parametrize("at", [4, 9, -1])
def test_what_is_damaged_is_not_believed(tmp_path: Path, at: int):
    file, data = tmp_path / NAME, bytearray(packed({}, [Said(7)]))
    data[at] ^= 1
    file.write_bytes(data + packed({}, []))
    with pytest.raises(StoreCorruptError):
        read(file)
    broken = SaidFile(file, Elsewhere())
    with pytest.raises(StoreCorruptError):
        broken.begin(resumed=True)
    # It is written anew.
    assert read(file) == ({}, [])


def test_of_a_batch_that_was_cut_off_nothing_is_known(tmp_path: Path):
    file, whole, last = tmp_path / NAME, packed({}, [Said(7)]), packed({}, [Said(8)])
    for size in range(len(last)):
        file.write_bytes(whole + last[:size])
        assert [said.content for said in read(file)[1]] == [7]


def test_copies_are_compared_with_what_was_said_in_another_run(tmp_path: Path):
    file, before = _begun(tmp_path)
    before.note(URL, USE, ItemRead({"day": "5 May 2019"}))
    file.due()()
    assert _find(before, "12 May 2019") == "day"
    file.due()()
    # Whatever comes now is lost with the process.
    assert _find(before, "19 May 2019") == "day"
    _, after = _begun(tmp_path, resumed=True)
    assert [_find(after, day) for day in ("5 May 2019", "12 May 2019", "19 May 2019")] == [None, None, "day"]
    # Another crawl knows nothing of it.
    _, other = _begun(tmp_path)
    assert _find(other, "12 May 2019") is None
    assert read(tmp_path / NAME) == ({}, [])


def test_for_which_callbacks_nothing_is_skipped_is_known_in_another_run(tmp_path: Path):
    file, before = _begun(tmp_path)
    before.note(URL, USE, ItemRead({"dish": "Soup"}))
    file.due()()
    assert before.find(URL, USE, ItemRead({"dish": "Bouillabaisse"}), Copy(lambda: ["<p>Menu</p>"], OTHER), identical=True)
    file.due()()
    _, after = _begun(tmp_path, resumed=True)
    assert after.may_lose(USE)
    assert not after.may_lose("spider.parse_more")


def test_nothing_is_written_where_nothing_is_new_and_a_large_file_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file, elsewhere = _begun(tmp_path)
    size = (tmp_path / NAME).stat().st_size
    file.due()()
    assert (tmp_path / NAME).stat().st_size == size
    elsewhere.note(URL, USE, ItemRead({"day": "5 May 2019"}))
    file.due()()
    once = (tmp_path / NAME).stat().st_size
    for _ in range(20):
        elsewhere.note(URL, USE, ItemRead({"day": "5 May 2019"}))
        file.due()()
    grown = (tmp_path / NAME).stat().st_size
    assert grown > 5 * once
    monkeypatch.setattr("simcrawl.crawl.said_file._MOST_BYTES", once)
    file.due()()
    assert (tmp_path / NAME).stat().st_size < grown / 3
    assert len(read(tmp_path / NAME)[1]) == 1
    file.remove()
    file.remove()
    assert not (tmp_path / NAME).exists()
