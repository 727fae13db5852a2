"""Each kind of damage to a table is found, at each key that has some, whatever the shape of the keys."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import lmdb
import pytest

from simcrawl.index.packed import Packer
from simcrawl.index.permutations import design
from simcrawl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Damage = Callable[[bytes, bytes, bytes], tuple[bytes, bytes]]

# (key, what it has, a fingerprint that belongs elsewhere) -> the same, damaged.
DAMAGES: dict[str, Damage] = {
    "a stranger alone": lambda key, packed, other: (key, other),
    "a stranger after": lambda key, packed, other: (key, packed + other),
    "a stranger before": lambda key, packed, other: (key, other + packed),
    "part of one": lambda key, packed, other: (key, packed + other[:3]),
    "too little": lambda key, packed, other: (key, packed[:-1]),
    "nothing": lambda key, packed, other: (key, b""),
    "a longer key": lambda key, packed, other: (key + b"\1", packed),
    "a much longer key": lambda key, packed, other: (key + bytes(range(1, 20)), packed),
    "a shorter key": lambda key, packed, other: (key[:-1], packed),
}
# Of whole bytes; of some bits of the last one; of more bits than a word has.
SHAPES = [("4", 64), ("10", 64), ("5:1", 64), ("3:2", 128)]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("name", "bits"), SHAPES)
def test_what_does_not_belong_under_a_key_is_found_there_alone(tmp_path: Path, name: str, bits: int, damage: str):
    noise, made = Random(7), design(name, bits)
    table, packer = made.tables[-1], Packer(made)
    with open_store(tmp_path / "store", bits=bits, design=name, memory=0) as store:
        # The first ones are moved to the tables when the second ones come.
        for _ in range(2):
            store.load_fingerprints([noise.getrandbits(bits) for _ in range(300)])
        assert store.verify() == []
    stranger = noise.getrandbits(bits)
    with lmdb.open(str(tmp_path / "store"), max_dbs=20) as env, env.begin(write=True) as txn:
        database = env.open_db(f"table{len(made.tables) - 1}".encode(), txn)
        held = dict(txn.cursor(database))
        assert len(held) > 50
        damaged = noise.sample(sorted(held), 3)
        wrong = []
        for key in damaged:
            assert table.prefix(stranger) != int.from_bytes(key) >> -table.prefix_bits % 8
            txn.delete(key, db=database)
            changed, packed = DAMAGES[damage](key, held[key], packer.pack(stranger))
            txn.put(changed, packed, db=database)
            wrong.append(changed)
    with open_store(tmp_path / "store", readonly=True) as store:
        found = [line for line in store.verify() if "belongs there" in line]
    assert found == [f"table {len(made.tables) - 1}: not everything under the prefix {key.hex()} belongs there" for key in sorted(wrong)]


def test_a_key_with_bits_beyond_its_prefix_is_found(tmp_path: Path):
    made, noise = design("5:1", 64), Random(3)
    assert made.tables[0].prefix_bits % 8
    with open_store(tmp_path / "store", design="5:1", memory=0) as store:
        for _ in range(2):
            store.load_fingerprints([noise.getrandbits(64) for _ in range(300)])
    with lmdb.open(str(tmp_path / "store"), max_dbs=20) as env, env.begin(write=True) as txn:
        database = env.open_db(b"table0", txn)
        key, packed = list(txn.cursor(database))[40]
        txn.delete(key, db=database)
        txn.put(key[:-1] + bytes([key[-1] | 1]), packed, db=database)
    with open_store(tmp_path / "store", readonly=True) as store:
        assert sum("belongs there" in line for line in store.verify()) == 1
