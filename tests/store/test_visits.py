"""What a crawl saw: found again in the file, in one step, and never believed where the file is damaged."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from simcrawl.store.visits import KEPT, SEEN, VisitsInMemory, read_visits, spider_key, write_visits

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = st.binary(min_size=16, max_size=16)
VALUES = st.builds(lambda letter, digest: letter + digest, st.sampled_from([KEPT, b"c", SEEN]), KEYS)


@given(st.dictionaries(KEYS, VALUES, max_size=60), st.lists(KEYS, max_size=5))
def test_what_was_written_is_found_and_nothing_else(rows: dict[bytes, bytes], others: list[bytes]):
    with TemporaryDirectory() as folder:
        path = Path(folder, "spiders", "a.visits")
        write_visits(path, sorted(rows.items()))
        in_file, in_memory = read_visits(path), VisitsInMemory(sorted(rows.items()))
        assert in_file is not None
        assert list(in_file) == list(in_memory) == sorted(rows.items())
        for key in [*rows, *others]:
            assert in_file.get(key) == in_memory.get(key) == rows.get(key)


ROWS = [(bytes([number]) * 16, KEPT + bytes(16)) for number in range(5)]


@given(st.integers(0, 184), st.integers(1, 255))
def test_a_flipped_byte_makes_all_of_it_unknown(place: int, bits: int):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.visits")
        write_visits(path, ROWS)
        data = bytearray(path.read_bytes())
        data[place % len(data)] ^= bits
        path.write_bytes(data)
        assert read_visits(path) is None


@pytest.mark.parametrize("size", [0, 1, 16, 19, 40, 184])
def test_a_file_that_was_cut_is_unknown(tmp_path: Path, size: int):
    path = tmp_path / "a.visits"
    write_visits(path, ROWS)
    assert path.stat().st_size == 185
    path.write_bytes(path.read_bytes()[:size])
    assert read_visits(path) is None


def test_no_file_is_no_last_crawl(tmp_path: Path):
    assert read_visits(tmp_path / "a.visits") is None


def test_who_reads_the_old_file_goes_on_with_it(tmp_path: Path):
    path = tmp_path / "a.visits"
    write_visits(path, ROWS)
    old = read_visits(path)
    write_visits(path, [])
    assert old
    assert len(list(old)) == 5
    assert list(read_visits(path) or [None]) == []


def test_writing_that_fails_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.visits"
    write_visits(path, ROWS)

    def torn() -> Iterator[tuple[bytes, bytes]]:
        yield ROWS[0]
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        write_visits(path, torn())
    assert list(read_visits(path) or []) == ROWS


def test_spiders_and_seeds_have_keys_of_their_own():
    assert len({spider_key(spider, seed) for spider in ("", "a", "b", "\ud800") for seed in (0, 1)}) == 8
    assert len(spider_key("a", 1)) == 8
