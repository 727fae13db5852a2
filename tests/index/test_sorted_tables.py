from __future__ import annotations

import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from simcrawl.errors import StoreCorruptError, StoreError, StoreFormatError, StoreFullError
from simcrawl.index import sorted_tables
from simcrawl.index.sorted_tables import BLOCK, SortedTables, write_tables
from tests.strategies import crowded, design_names

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

WORD_WIDTHS = st.integers(1, 8).map(lambda octets: 8 * octets)


@st.composite
def contents(draw: DrawFn) -> tuple[int, list[int]]:
    """Return (bits, fingerprints): close together, far apart, consecutive."""
    bits = draw(WORD_WIDTHS)
    start = draw(st.integers(0, (1 << bits) - 1))
    row = [(start + number) % (1 << bits) for number in range(draw(st.sampled_from([0, 1, 2, 300])))]
    return bits, draw(crowded(bits, 3, size=30)) + row


def _random(count: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 1 << 64, count, dtype=np.uint64)


def _held(tables: SortedTables, size: int = 1 << 20) -> list[int]:
    return [value for chunk in tables.fingerprint_chunks(size) for value in chunk.ravel().tolist()]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "made.tables"
    write_tables(path, [_random(3_000)], recipe="content/4", seed=7)
    return path


# ---- what is written is read


@given(contents(), design_names, st.integers(2, 40), st.integers(1, 400))
@example((64, [0]), "4", 2, 1)
@example((64, []), "4", 2, 1)
@example((8, list(range(256))), "4", 100, 10)
def test_what_is_written_is_read_in_the_order_of_each_table(content: tuple[int, list[int]], design: str, slice_size: int, chunk: int):
    bits, values = content
    with TemporaryDirectory() as directory, patch.object(sorted_tables, "_SLICE", slice_size):
        path = Path(directory) / "x.tables"
        written = write_tables(path, [np.array(part, np.uint64) for part in (values[:3], values[3:])], design=design, bits=bits)
        tables = SortedTables(path)
        assert written == (len(set(values)), len(tables.design.tables), path.stat().st_size)
        assert sorted(_held(tables, chunk)) == sorted(set(values))
        assert (len(tables), tables.bits, tables.design.name) == (len(set(values)), bits, design)
        for table in tables.tables:
            held = [value for part in table.chunks(chunk) for value in part.tolist()]
            assert held == sorted(set(values), key=table.table.permute)
        assert tables.verify() == []


@given(contents(), st.sampled_from(["4", "10", "2:1", "4:1,4:1"]), st.integers(0, 4), st.data())
def test_every_fingerprint_within_the_radius_is_found_and_no_other(content: tuple[int, list[int]], design: str, distance: int, data: Any):
    bits, values = content
    with TemporaryDirectory() as directory:
        path = Path(directory) / "x.tables"
        write_tables(path, [np.array(values, np.uint64)], design=design, bits=bits)
        tables = SortedTables(path)
        for query in data.draw(st.lists(st.sampled_from(values) | st.integers(0, (1 << bits) - 1), max_size=3)):
            truth = {value: (value ^ query).bit_count() for value in values if (value ^ query).bit_count() <= distance}
            assert tables.within(query, distance) == truth


def test_real_sizes(tmp_path: Path):
    values = _random(100_000)
    path = tmp_path / "x.tables"
    written = write_tables(path, np.array_split(values, 3), tables=[1])
    assert np.array_equal(np.sort(_held(SortedTables(path))), np.sort(values))
    # The information in a set of n fingerprints of 64 bits is about 64 - log2(n) + 1.44 bits each: 48.8 here.
    assert 48.8 < 8 * written.bytes / len(values) < 53


def test_a_skewed_set_is_searched_and_counted_exactly(tmp_path: Path):
    values = np.concatenate([_random(2_000), _random(2_000) >> np.uint64(44), (1 << 63) + np.arange(3_000, dtype=np.uint64)])
    write_tables(tmp_path / "x.tables", [values])
    tables = SortedTables(tmp_path / "x.tables")
    for query in values[::500].tolist():
        near = values[np.bitwise_count(values ^ np.uint64(query)) <= 3]
        assert tables.within(query, 3) == {int(value): (int(value) ^ query).bit_count() for value in near}


def test_one_search_decodes_few_blocks(tmp_path: Path):
    write_tables(tmp_path / "x.tables", [_random(200_000)])
    tables = SortedTables(tmp_path / "x.tables")
    with patch.object(sorted_tables._Decoder, "decode", autospec=True, side_effect=sorted_tables._Decoder.decode) as decode:
        tables.within(12345, 3)
    assert decode.call_count <= 2 * len(tables.tables)


def test_what_the_fingerprints_mean_is_kept(made: Path):
    tables = SortedTables(made)
    assert (tables.recipe, tables.seed, tables.design.name, len(tables.tables)) == ("content/4", 7, "4", 4)


def test_progress_ends_with_everything(tmp_path: Path):
    told: list[float] = []
    write_tables(tmp_path / "x.tables", [_random(10)], progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1]


def test_one_table_serves_no_single_query(tmp_path: Path):
    write_tables(tmp_path / "x.tables", [_random(10)], tables=[2])
    with pytest.raises(ValueError, match="1 of 4 tables: export all"):
        SortedTables(tmp_path / "x.tables").within(5, 3)


# ---- codes


@given(st.lists(st.integers(0, 10**12), min_size=64, max_size=64).filter(any))
@example([1 << number for number in range(64)])
def test_codes_are_short_and_no_code_starts_another(counts: list[int]):
    lengths = sorted_tables._code_lengths(counts)
    assert max(lengths) <= 16
    assert [length > 0 for length in lengths] == [count > 0 for count in counts]
    codes = [f"{code:0{length}b}"[::-1] for code, length in zip(sorted_tables._codes(lengths), lengths, strict=True) if length]
    assert not [(a, b) for a in codes for b in codes if a is not b and b.startswith(a)]


def test_frequent_bits_have_short_codes():
    lengths = sorted_tables._code_lengths([8, 4, 2, 1, 1] + [0] * 59)
    assert lengths[:5] == [1, 2, 3, 4, 4]


@given(st.lists(st.integers(1, (1 << 64) - 1), min_size=1))
@example([(1 << number) - 1 for number in range(1, 65)])
def test_the_highest_bit_of_any_number(values: list[int]):
    assert sorted_tables._top_bits(np.array(values, np.uint64)).tolist() == [value.bit_length() - 1 for value in values]


# ---- damage


def _use(path: Path) -> None:
    tables = SortedTables(path)
    for table in tables.tables:
        for _ in table.chunks(1 << 20):
            pass


def test_no_flipped_bit_goes_unnoticed(made: Path):
    whole = made.read_bytes()
    random = np.random.default_rng(0)
    # The rest of the header's block is padding.
    for place in [*range(44), *random.integers(BLOCK, len(whole), 300).tolist()]:
        made.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << int(random.integers(0, 8))]) + whole[place + 1 :])
        with pytest.raises((StoreCorruptError, StoreFormatError), match=str(made)):
            _use(made)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.5, 0.99, 0.99999])
def test_no_file_cut_short_goes_unnoticed(made: Path, share: float):
    whole = made.read_bytes()
    made.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(StoreCorruptError, match="damaged"):
        _use(made)


def _damage(path: Path, block: int) -> None:
    whole = bytearray(path.read_bytes())
    whole[BLOCK * (1 + block) + 500] ^= 4
    path.write_bytes(whole)


def test_a_damaged_block_is_named_and_the_others_still_answer(made: Path):
    _damage(made, 5)
    tables = SortedTables(made)
    with pytest.raises(StoreCorruptError, match=r"block 5 of table 0 of .* is damaged: take another copy"):
        next(tables.fingerprint_chunks())
    first = next(tables.tables[1].chunks(100))
    assert len(tables.within(int(first[0]), 0)) == 1
    (problem,) = tables.verify()
    assert "block 5 of table 0" in problem


def test_a_block_in_another_one_s_place_is_noticed(made: Path):
    whole = bytearray(made.read_bytes())
    whole[BLOCK : 2 * BLOCK], whole[2 * BLOCK : 3 * BLOCK] = whole[2 * BLOCK : 3 * BLOCK], whole[BLOCK : 2 * BLOCK]
    made.write_bytes(whole)
    with pytest.raises(StoreCorruptError, match="block 0 of table 0"):
        _use(made)


@given(st.binary(min_size=BLOCK - 4, max_size=BLOCK - 4), st.booleans())
@example(bytes(BLOCK - 4), False)
@example(b"\xff" * (BLOCK - 4), True)
def test_a_block_of_anything_with_the_right_checksum_is_damaged_or_wrong_but_never_a_crash(content: bytes, alone: bool):
    with TemporaryDirectory() as directory:
        path = Path(directory) / "x.tables"
        write_tables(path, [_random(1_000)], tables=[0])
        whole = bytearray(path.read_bytes())
        whole[2 * BLOCK : 3 * BLOCK] = zlib.crc32(content).to_bytes(4, "little") + content
        path.write_bytes(whole)
        table = SortedTables(path).tables[0]
        with pytest.raises(StoreCorruptError, match="block 1 of table 0"):
            table._decoded(1, 2) if alone else table._decoded(0, 4)


@pytest.mark.parametrize(("content", "kind", "named"), [
    (b"", StoreFormatError, "no file of sorted tables"),
    (b"something else", StoreFormatError, "no file of sorted tables"),
    (sorted_tables.MAGIC + (3).to_bytes(2, "little") + bytes(BLOCK), StoreFormatError, "format 3"),
    (sorted_tables.MAGIC + (1).to_bytes(2, "little") + bytes(BLOCK), StoreCorruptError, "the header"),
    (None, StoreError, "No such file"),
])  # fmt: skip
def test_what_is_no_file_of_tables(content: bytes | None, kind: type[Exception], named: str, tmp_path: Path):
    path = tmp_path / "x.tables"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(kind, match=named):
        SortedTables(path)


# ---- writing that fails


@pytest.mark.parametrize(
    ("values", "options", "named"),
    [([256], {"bits": 8}, "0x100"), ([1], {"bits": 72}, "72"), ([1], {"tables": [4]}, "0 to 3"), ([1], {"tables": []}, "0 to 3")],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_made(values: list[int], options: dict[str, Any], named: str, tmp_path: Path):
    with pytest.raises(ValueError, match=named):
        write_tables(tmp_path / "x.tables", [np.array(values, np.uint64)], **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "kind"), [(28, StoreFullError), (5, StoreError)])
def test_a_failed_write_leaves_the_old_file(number: int, kind: type[Exception], made: Path):
    before = made.read_bytes()
    with patch("os.fsync", side_effect=OSError(number, "so it is")), pytest.raises(kind, match="so it is"):
        write_tables(made, [_random(10)])
    assert made.read_bytes() == before
    assert list(made.parent.iterdir()) == [made]
