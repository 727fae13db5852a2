"""A bit of a store's file is another one: what is read then, and whether `verify` knows. More: `python -m benchmarks.store.flips`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.store import flips

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    flips.make(tmp_path / "store")
    return tmp_path / "store"


def test_a_flipped_bit_gives_no_wrong_line_and_none_is_lost_without_a_word(path: Path):
    whole = (path / "data.mdb").read_bytes()
    # Most of the file is zeros, where nothing stands.
    result = flips.flip(path, 40, seed=3, within=lambda place: whole[place] > 0)
    assert (result.wrong, result.silent, result.unnamed) == ([], [], [])
    assert result.flips == 40
    assert result.named > 5
