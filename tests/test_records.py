"""The bytes of a page record."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from simcrawl.errors import StoreCorruptError
from simcrawl.rule import StoredPage
from simcrawl.store.records import decode, encode
from tests.strategies import RECIPE, abstention, page, pages, widths

if TYPE_CHECKING:
    from simcrawl.pages import Abstention, PageFingerprint

times = st.floats(0, 4e9)


def _decode(record: bytes, bits: int = 64) -> StoredPage:
    return decode(record, recipe=RECIPE, seed=0, bits=bits)


@given(st.data(), widths, times, times)
def test_a_record_gives_back_its_page(data: st.DataObject, bits: int, first: float, last: float):
    stored = StoredPage(data.draw(pages(bits)), first, last)
    back = _decode(encode(stored), bits)
    assert back == stored
    assert type(back.page) is type(stored.page)


@pytest.mark.parametrize("written", [page("http://a.test/\udc80", 2**64 - 1), abstention("http://a.test/\ud800x")])
def test_lone_surrogates_in_a_url_survive(written: PageFingerprint | Abstention):
    assert _decode(encode(StoredPage(written, 1.0, 2.0))).page == written


def test_numbers_beyond_32_bits_are_capped_not_refused():
    huge = replace(page("http://a.test/"), text_length=2**40, outlinks=2**33)
    back = _decode(encode(StoredPage(huge, 0, 0))).page
    assert (back.text_length, back.outlinks) == (2**32 - 1, 2**32 - 1)


@given(st.data())
def test_any_flipped_bit_is_found(data: st.DataObject):
    record = bytearray(encode(StoredPage(data.draw(pages()), 1.0, 2.0)))
    record[data.draw(st.integers(0, len(record) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(StoreCorruptError, match=f"record of {len(record)} bytes fails its checksum"):
        _decode(bytes(record))


@given(st.data())
def test_any_missing_end_is_found(data: st.DataObject):
    record = encode(StoredPage(data.draw(pages()), 1.0, 2.0))
    with pytest.raises(StoreCorruptError, match="fails its checksum"):
        _decode(record[: data.draw(st.integers(0, len(record) - 1))])


@given(st.binary(max_size=200))
def test_bytes_that_are_no_record_are_refused(garbage: bytes):
    with pytest.raises(StoreCorruptError):
        _decode(garbage)


@pytest.mark.parametrize(("where", "value"), [(4, b"\x63"), (-1, b"\xff")], ids=["unknown reason", "URL that is not UTF-8"])
def test_a_record_with_a_good_checksum_and_bad_content_is_refused(where: int, value: bytes):
    record = bytearray(encode(StoredPage(page("http://a.test/"), 1.0, 2.0)))
    record[where : where + 1 or None] = value
    record[:4] = struct.pack(">I", zlib.crc32(record[4:]))
    with pytest.raises(StoreCorruptError, match="does not parse"):
        _decode(bytes(record))
