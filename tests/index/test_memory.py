from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, strategies as st

from simcrawl.bits import hamming_distance
from simcrawl.index.memory import MemoryIndex
from simcrawl.index.packed import Packer
from tests.strategies import crowded, designs

if TYPE_CHECKING:
    from simcrawl.index.permutations import Design


@given(designs(), st.data())
def test_it_finds_what_brute_force_finds(design: Design, data: st.DataObject):
    distance = data.draw(st.integers(0, design.bits))
    given_ = data.draw(crowded(design.bits, distance))
    index, held = MemoryIndex(Packer(design)), set[int]()
    for fingerprint in given_:
        assert index.insert(fingerprint) == (fingerprint not in held)
        held.add(fingerprint)
    for fingerprint in data.draw(st.lists(st.sampled_from(given_), max_size=5)):
        assert index.remove(fingerprint) == (fingerprint in held)
        held.discard(fingerprint)
    for asked in given_:
        assert index.within(asked, distance) == {one: apart for one in held if (apart := hamming_distance(one, asked)) <= distance}
        assert (asked in index) == (asked in held)
    found = [int.from_bytes(row.tobytes(), "little") for chunk in index.chunks(7) for row in chunk]
    assert sorted(found) == sorted(held)
    assert len(index) == len(held)
