"""The bytes of a page record."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from simcrawl.errors import StoreCorruptError
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_page
from simcrawl.page.sketch import Part
from simcrawl.rule import StoredPage
from simcrawl.store.records import decode, encode
from tests.documents import ROOT
from tests.samples import english, link_list, site_page
from tests.strategies import RECIPE, abstention, page, pages, widths

if TYPE_CHECKING:
    from simcrawl.page.fingerprint import Abstention

times = st.floats(0, 4e9)


def _decode(record: bytes, bits: int = 64) -> StoredPage:
    return decode(record, recipe=RECIPE, seed=0, bits=bits)


@given(st.data(), widths, times, times)
def test_a_record_gives_back_its_page(data: st.DataObject, bits: int, first: float, last: float):
    stored = StoredPage(data.draw(pages(bits)), first, last)
    back = _decode(encode(stored), bits)
    assert back == stored
    assert type(back.page) is type(stored.page)


def _all_different() -> PageFingerprint:
    """Return a page whose lengths and numbers are all different: none stands where another one belongs."""
    parts: dict[str, Any] = {
        name: Part(10 + length, bytes([length]) * length) for length, name in enumerate(("prose", "links", "around", "beside"), 1)
    }
    digests: dict[str, Any] = {name: bytes([at]) * 16 for at, name in enumerate(("body_digest", "text_digest", "links_digest"), 100)}
    return replace(
        page("http://a.test/"), units=9, content_sketch=b"content", text_length=7, outlinks=8, names=b"called", **parts, **digests
    )


def test_every_part_of_a_page_has_a_place_of_its_own():
    made = _all_different()
    back = _decode(encode(StoredPage(made, 1.0, 2.0, callback="parse"))).page
    assert back == made
    assert asdict(back) == asdict(made)


def test_a_record_is_read_by_the_document_alone():
    made = _all_different()
    record = encode(StoredPage(made, 1.0, 2.0, callback="parse"))
    section = (ROOT / "docs" / "store-format.md").read_text().partition("\n## Page record\n")[2].partition("\n## ")[0]
    found, place = {}, 0
    for name, size in re.findall(r"^(\w[\w ]*?) +(\d+)(?: .*)?$", section, re.MULTILINE):
        found[name] = record[place : place + int(size)]
        place += int(size)
    numbers = {name: int.from_bytes(value, "big") for name, value in found.items()}
    assert numbers["crc32"] == zlib.crc32(record[4:])
    assert (numbers["reason"], numbers["fingerprint"]) == (0, made.fingerprint)
    assert struct.unpack(">dd", found["first seen"] + found["last seen"]) == (1.0, 2.0)
    assert [found[f"{name} digest"] for name in ("body", "text", "links")] == [made.body_digest, made.text_digest, made.links_digest]
    assert (numbers["text length"], numbers["outlinks"]) == (7, 8)
    assert [numbers[f"{name} units"] for name in ("content", "prose", "links", "around", "beside")] == [9, 11, 12, 13, 14]
    assert [numbers[f"{name} size"] for name in ("content", "prose", "links", "around", "beside", "names", "callback")] == [
        7,
        1,
        2,
        3,
        4,
        6,
        5,
    ]
    sketches = (made.content_sketch, made.prose.sketch, made.links.sketch, made.around.sketch, made.beside.sketch)
    assert record[place:] == b"".join(sketches) + made.names + b"parse" + b"http://a.test/"


@pytest.mark.parametrize("name", ["links_digest", "names", "prose", "links", "around", "beside"])
def test_a_record_tells_pages_apart_by_each_part(name: str):
    made = page("http://a.test/")
    changed: dict[str, Any] = {name: b"x" * 16 if name in ("links_digest", "names") else Part(1, b"")}
    other = replace(made, **changed)
    assert encode(StoredPage(made, 1.0, 2.0)) != encode(StoredPage(other, 1.0, 2.0))
    assert _decode(encode(StoredPage(other, 1.0, 2.0))).page == other != made


@pytest.mark.parametrize("recipe", ["content", "main", "layout"])
def test_pages_as_they_are_made_survive(recipe: str):
    html = site_page(f"<h1>The harbour</h1><p>{english(40)}</p>{link_list(4)}<p>12:30</p>")
    made = fingerprint_page(html, url="http://a.test/", recipe=recipe)
    assert isinstance(made, PageFingerprint)
    back = decode(encode(StoredPage(made, 1.0, 2.0)), recipe=made.recipe, seed=0, bits=64)
    assert back.page == made


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
