from __future__ import annotations

import zlib

import pytest
from hypothesis import given, strategies as st

from simcrawl.errors import StoreCorruptError
from simcrawl.sealed import CRC_BYTES, is_whole, seal, unseal


@given(st.binary())
def test_a_sealed_value_comes_back(value: bytes):
    sealed = seal(value)
    assert sealed == zlib.crc32(value).to_bytes(4, "big") + value
    assert is_whole(sealed)
    assert unseal(sealed, "it") == unseal(memoryview(sealed), "it") == value
    assert len(sealed) - len(value) == CRC_BYTES


@given(st.binary(min_size=1, max_size=50), st.data())
def test_any_flipped_bit_is_seen(value: bytes, data: st.DataObject):
    sealed = bytearray(seal(value))
    bit = data.draw(st.integers(0, 8 * len(sealed) - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    assert not is_whole(sealed)
    with pytest.raises(StoreCorruptError, match="fails its checksum"):
        unseal(bytes(sealed), "it")


@pytest.mark.parametrize("size", range(CRC_BYTES))
def test_what_is_too_short_says_what_it_is_and_what_to_do(size: int):
    with pytest.raises(StoreCorruptError, match=rf"^a letter of {size} bytes fails its checksum: write it again$"):
        unseal(bytes(size), "a letter", "write it again")
