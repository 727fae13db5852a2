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
from simcrawl.store.records import PackedPage, decode, decode_again, encode, encode_again
from tests.documents import ROOT
from tests.samples import english, link_list, site_page
from tests.strategies import RECIPE, abstention, page, pages, widths

if TYPE_CHECKING:
    from simcrawl.page.fingerprint import Abstention

times = st.floats(0, 4e9)


def _decode(record: bytes, bits: int = 64) -> StoredPage:
    return decode(record, recipes=(RECIPE,), seed=0, bits=bits)


@given(st.data(), widths, times, times)
def test_a_record_gives_back_its_page(data: st.DataObject, bits: int, first: float, last: float):
    stored = StoredPage(data.draw(pages(bits)), first, last)
    back = _decode(encode(stored), bits)
    assert back == stored
    assert type(back.page) is type(stored.page)


def test_a_record_that_was_decoded_lately_is_refused_when_it_is_damaged():
    record = encode(StoredPage(page("http://a.test/"), 1.0, 2.0))
    form: dict[str, Any] = {"recipes": (RECIPE,), "seed": 0, "bits": 64}
    assert decode_again(record, **form) == decode_again(bytes([*record]), **form) == _decode(record)
    with pytest.raises(StoreCorruptError):
        decode_again(record[:-1] + b"x", **form)


@given(pages(64), times, times, st.text(max_size=3))
def test_a_record_is_the_same_whether_it_was_encoded_lately_or_not(
    stored: PageFingerprint | Abstention, first: float, last: float, to: str
):
    kept = StoredPage(stored, first, last, callback=to)
    assert encode_again(kept) == encode_again(replace(kept)) == encode(kept)


@pytest.mark.parametrize("change", [{"last_seen": 3.0}, {"first_seen": 0.5}, {"callback": "parse"}])
def test_what_was_encoded_lately_is_not_taken_for_another_record(change: dict[str, Any]):
    kept = StoredPage(page("http://a.test/"), 1.0, 2.0)
    assert encode_again(kept) != encode_again(replace(kept, **change)) == encode(replace(kept, **change))


def test_a_long_url_is_not_kept_with_what_was_encoded_lately():
    kept = StoredPage(page(f"http://a.test/{'a' * 1000}"), 1.0, 2.0)
    assert encode_again(kept) == encode(kept)
    assert encode_again(kept) is not encode_again(kept)


def _all_different() -> PageFingerprint:
    """Return a page whose lengths and numbers are all different: none stands where another one belongs."""
    parts: dict[str, Any] = {
        name: Part(10 + length, bytes([length]) * 2 * length) for length, name in enumerate(("prose", "links", "around", "beside"), 1)
    }
    sizes = {"body_digest": 16, "text_digest": 16, "links_digest": 8}
    digests: dict[str, Any] = {name: bytes([at]) * size for at, (name, size) in enumerate(sizes.items(), 100)}
    return replace(
        page("http://a.test/"), units=9, content_sketch=b"contents", text_length=300, outlinks=8, names=b"called", **parts, **digests
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
    lines = re.findall(r"^[+ ] (\w[\w ]*?) +(\d+|n|=)(?: .*)?$", section, re.MULTILINE)
    found: dict[str, bytes] = {}
    numbers: dict[str, int] = {}
    place = 0
    for name, size in lines:
        length = (
            int(size) if size.isdigit() else _varint_size(record[place:]) if size == "n" else _length(name, numbers, len(record) - place)
        )
        found[name] = record[place : place + length]
        numbers[name] = _varint(found[name]) if size == "n" else int.from_bytes(found[name], "big")
        place += length
    assert place == len(record)
    assert numbers["crc32"] == zlib.crc32(record[4:])
    assert (numbers["reason"], numbers["recipe"], numbers["fingerprint"]) == (0, 0, made.fingerprint)
    assert struct.unpack(">d", found["last seen"]) == (2.0,)
    assert [found[f"{name} digest"] for name in ("body", "text", "links")] == [made.body_digest, made.text_digest, made.links_digest]
    assert [numbers[name] for name in ("text length", "outlinks", "beginning")] == [300, 8, 1]
    assert struct.pack(">Q", numbers["since"] ^ int.from_bytes(found["last seen"], "big")) == struct.pack(">d", 1.0)
    assert [numbers[f"{name} units"] for name in ("content", "prose", "links", "around", "beside")] == [9, 11, 12, 13, 14]
    assert found["content"] == made.content_sketch
    assert [found[name] for name in ("prose", "links", "around", "beside")] == [
        part.sketch for part in (made.prose, made.links, made.around, made.beside)
    ]
    assert [found[name] for name in ("names", "callback", "URL")] == [made.names, b"parse", b"a.test/"]


def _varint_size(data: bytes) -> int:
    return next(place for place, byte in enumerate(data) if byte < 128) + 1


def _varint(data: bytes) -> int:
    return sum((byte & 127) << 7 * place for place, byte in enumerate(data))


def _length(name: str, numbers: dict[str, int], rest: int) -> int:
    """Return how long a part is, by the numbers before it."""
    if f"{name} half" in numbers:
        return 2 * numbers[f"{name} half"]
    if f"{name} form" in numbers:
        return numbers[f"{name} form"] - 1 if numbers[f"{name} form"] % 2 else 0
    return numbers.get(f"{name} size", rest)


@pytest.mark.parametrize("name", ["links_digest", "names", "prose", "links", "around", "beside"])
def test_a_record_tells_pages_apart_by_each_part(name: str):
    made = page("http://a.test/")
    changed: dict[str, Any] = {name: b"x" * 8 if name in ("links_digest", "names") else Part(1, b"")}
    other = replace(made, **changed)
    assert encode(StoredPage(made, 1.0, 2.0)) != encode(StoredPage(other, 1.0, 2.0))
    assert _decode(encode(StoredPage(other, 1.0, 2.0))).page == other != made


@pytest.mark.parametrize("recipe", ["content", "main", "layout"])
def test_pages_as_they_are_made_survive(recipe: str):
    html = site_page(f"<h1>The harbour</h1><p>{english(40)}</p>{link_list(4)}<p>12:30</p>")
    made = fingerprint_page(html, url="http://a.test/", recipe=recipe)
    assert isinstance(made, PageFingerprint)
    back = decode(encode(StoredPage(made, 1.0, 2.0)), recipes=(made.recipe,), seed=0, bits=64)
    assert back.page == made


@pytest.mark.parametrize("written", [page("http://a.test/\udc80", 2**64 - 1), abstention("http://a.test/\ud800x")])
def test_lone_surrogates_in_a_url_survive(written: PageFingerprint | Abstention):
    assert _decode(encode(StoredPage(written, 1.0, 2.0))).page == written


@pytest.mark.parametrize("url", ["", "http://", "https://www.a.test/", "http://www", "httpx://a.test/", "POST http://a.test/"])
def test_a_url_may_begin_in_any_way(url: str):
    made = replace(page("http://a.test/"), url=url)
    assert _decode(encode(StoredPage(made, 1.0, 2.0))).page == made


def test_a_page_of_every_kind_of_text_takes_no_more_than_544_bytes_beside_its_url():
    html = site_page(f"<h1>The harbour</h1><p>{english(400)}</p>{link_list(40)}<p>12:30</p>")
    made = fingerprint_page(html, url="http://a.test/")
    assert len(encode(StoredPage(made, 1.0, 2.0))) <= 544


@given(st.data(), widths)
def test_the_sketches_of_a_record_are_those_of_its_page(data: st.DataObject, bits: int):
    stored = StoredPage(data.draw(pages(bits)), 1.0, 2.0)
    packed = PackedPage(encode(stored), bits, lambda record: _decode(bytes(record), bits))
    assert packed.sketches() == stored.sketches()
    assert packed.stored() == stored


@given(st.data())
def test_the_sketches_of_a_damaged_record_are_some_or_none(data: st.DataObject):
    record = encode(StoredPage(data.draw(pages()), 1.0, 2.0))
    cut = record[: data.draw(st.integers(0, len(record) - 1))]
    for damaged in (cut, cut + b"\xff" * data.draw(st.integers(0, 9))):
        assert len(PackedPage(damaged, 64, lambda record: _decode(bytes(record))).sketches()) == 2


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
