"""Permuted tables: which bits of a fingerprint each table sorts by, and why a few probes find everything within k.

Pure: no store, no bytes. Manku et al., WWW 2007, section 3.1; probes with flipped bits as in Norouzi, Punjani, Fleet, *Fast
search in Hamming space with multi-index hashing*, CVPR 2012.

A table holds every fingerprint under a permutation of its bits that brings `prefix_bits` chosen bits to the front. The
tables of a design come from cutting the f bits into r blocks and bringing every choice of c blocks to the front of one
table; the rest can be cut again (the paper's recursion). If two fingerprints differ in k bits, then in some table at most
`Design.radius(k)` of those fall into the prefix: the pigeonhole principle. A probe that looks up the prefix, and all
prefixes within that radius of it, misses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from math import comb, prod
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np

from simcrawl.bits import check_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

Levels = tuple[tuple[int, int], ...]
"""Per level of the recursion: into how many blocks the bits are cut, and how many of them come to the front."""

PAPER: dict[str, Levels] = {
    "4": ((4, 1),),
    "10": ((5, 2),),
    "16": ((4, 1), (4, 1)),
    "20": ((6, 3),),
}
"""The paper's designs for k = 3, by number of tables (section 3.1 and its example of 20)."""

DEFAULT = "4"
_MOST_TABLES = 100


@dataclass(frozen=True, slots=True)
class Table:
    """One permutation: `order` lists bit positions (0 = most significant), the first `prefix_bits` of them are the prefix."""

    order: tuple[int, ...]
    prefix_bits: int

    def permute(self, fingerprint: int) -> int:
        """Return the fingerprint with its bits in this table's order."""
        return self._gather(fingerprint, len(self.order))

    def restore(self, permuted: int) -> int:
        """Return the fingerprint that `permute` was given."""
        bits = len(self.order)
        return sum(1 << (bits - 1 - where) for i, where in enumerate(self.order) if permuted >> (bits - 1 - i) & 1)

    def prefix(self, fingerprint: int) -> int:
        """Return the chosen bits: the key under which this table keeps the fingerprint."""
        return self._gather(fingerprint, self.prefix_bits)

    @property
    def key_bytes(self) -> int:
        """How many bytes hold a prefix."""
        return (self.prefix_bits + 7) // 8

    def prefixes(self, words: NDArray[np.uint64]) -> NDArray[Any]:
        """Return the prefixes of fingerprints given as words, shape (n,): uint64, or int objects for prefixes above 64 bits."""
        if self.prefix_bits > 64:
            return np.array([self.prefix(int.from_bytes(row.tobytes(), "little")) for row in words], object)
        values = np.zeros(len(words), np.uint64)
        for shift, width in self._runs(self.prefix_bits):
            word, low = divmod(shift, 64)
            part = words[:, word] >> np.uint64(low)
            if low + width > 64:
                part = part | words[:, word + 1] << np.uint64(64 - low)
            values = values << np.uint64(width) if width < 64 else np.zeros_like(values)
            values |= part & np.uint64((1 << width) - 1)
        return values

    def _runs(self, count: int) -> tuple[tuple[int, int], ...]:
        return bit_runs(self.order[:count], len(self.order))

    def _gather(self, fingerprint: int, count: int) -> int:
        value = 0
        for shift, width in self._runs(count):
            value = value << width | fingerprint >> shift & ((1 << width) - 1)
        return value


@cache
def bit_runs(positions: tuple[int, ...], bits: int) -> tuple[tuple[int, int], ...]:
    """Return positions, 0 the most significant of `bits`, as (right shift, width) of contiguous runs, so that a block costs one shift."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and runs[-1][0] + runs[-1][1] == position:
            runs[-1][1] += 1
        else:
            runs.append([position, 1])
    return tuple((bits - start - width, width) for start, width in runs)


def gather(values: NDArray[np.uint64], order: tuple[int, ...], bits: int) -> NDArray[np.uint64]:
    """Return the bits of every value at the positions of `order` (0 = most significant of `bits`), the first one most significant."""
    result = np.zeros_like(values)
    for shift, width in bit_runs(order, bits):
        result <<= np.uint64(width)
        result |= values >> np.uint64(shift) & np.uint64((1 << width) - 1)
    return result


@dataclass(frozen=True, slots=True)
class Design:
    """A set of tables over fingerprints of `bits` bits; `name` and `bits` are all that a store's header needs to keep."""

    name: str
    bits: int
    levels: Levels
    tables: tuple[Table, ...]

    def radius(self, distance: int) -> int:
        """Return how many prefix bits may differ in the best table, at worst, for fingerprints that far apart."""
        remaining, inside = distance, 0
        for blocks, chosen in self.levels:
            # The worst case spreads the differing bits evenly; the best table's blocks are those with the fewest.
            share, extra = divmod(remaining, blocks)
            fewest = chosen * share + max(0, extra - (blocks - chosen))
            inside, remaining = inside + fewest, remaining - fewest
        return inside

    def radii(self, distance: int) -> tuple[int, ...]:
        """Return for each table how many prefix bits to flip, -1 for a table that need not be looked at, so that nothing is missed.

        Tables of one block each share the differing bits out among them: with more than r_i of them in the prefix of every table i
        there would be sum(r_i + 1) at least. So radii that sum to `distance` + 1 - tables do, and small ones cost less (Norouzi et
        al., section 3.2). Other designs look at every table with `radius`.
        """
        count = len(self.tables)
        if len(self.levels) > 1 or self.levels[0][1] > 1:
            return (self.radius(distance),) * count
        share, extra = divmod(distance + 1, count)
        return (share,) * extra + (share - 1,) * (count - extra)

    def probes(self, distance: int) -> int:
        """Return how many look-ups an online query of this radius costs."""
        return sum(flip_count(table.prefix_bits, radius) for table, radius in zip(self.tables, self.radii(distance), strict=True))

    def prefix_keys(self) -> Callable[[int], Sequence[bytes]]:
        """Return the function from a fingerprint to its prefix in every table, left-aligned in as few bytes as hold it."""
        size, shapes = self.bits // 8, [bit_runs(table.order[: table.prefix_bits], self.bits) for table in self.tables]
        blocks = [position for table in self.tables for position in table.order[: table.prefix_bits]]
        if blocks == list(range(self.bits)) and not any(table.prefix_bits % 8 for table in self.tables):
            # One whole number of bytes a table, all in order, as in the default design.
            whole = Struct("".join(f"{table.key_bytes}s" for table in self.tables))
            return lambda fingerprint: whole.unpack(fingerprint.to_bytes(size, "big"))
        lengths = [table.key_bytes for table in self.tables]

        def gather(fingerprint: int) -> list[bytes]:
            keys = []
            for runs, length in zip(shapes, lengths, strict=True):
                value, room = 0, 8 * length
                for shift, width in runs:
                    room -= width
                    value |= (fingerprint >> shift & ((1 << width) - 1)) << room
                keys.append(value.to_bytes(length, "big"))
            return keys

        return gather


def flip_count(width: int, radius: int) -> int:
    """Return how many values of `width` bits lie within `radius` of a given one; none for a radius below 0."""
    return sum(comb(width, i) for i in range(min(radius, width) + 1))


@cache
def flips(width: int, radius: int) -> tuple[int, ...]:
    """Return the masks with at most `radius` of `width` bits set: XOR with a prefix gives the prefixes to look up."""
    return tuple(
        sum(1 << position for position in chosen) for size in range(min(radius, width) + 1) for chosen in combinations(range(width), size)
    )


@cache
def design(name: str = DEFAULT, bits: int = 64) -> Design:
    """Return a design by name: one of the paper's ("4", "10", "16", "20"), or levels such as "6:3" or "4:1,4:1".

    Raises:
        ValueError: the name is unknown, or the levels do not fit the bits.
    """
    levels = PAPER.get(name) or _parse(name)
    if (count := prod(comb(blocks, chosen) for blocks, chosen in levels)) > _MOST_TABLES:
        raise ValueError(f"{name!r} makes {count} tables, more than {_MOST_TABLES}: use fewer blocks or levels")
    tables = tuple(Table(order, prefix) for order, prefix in _tables(tuple(range(check_width(bits))), levels))
    return Design(name, bits, levels, tables)


def _parse(name: str) -> Levels:
    try:
        levels = tuple((int(blocks), int(chosen)) for blocks, _, chosen in (level.partition(":") for level in name.split(",")))
    except ValueError:
        levels = ()
    if not levels or any(not 0 < chosen < blocks for blocks, chosen in levels):
        raise ValueError(f"{name!r} is no design: use one of {', '.join(PAPER)}, or levels such as '5:2' or '4:1,4:1'")
    return levels


def _tables(positions: tuple[int, ...], levels: Levels) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield (order, prefix length) for every choice of blocks at every level."""
    if not levels:
        yield positions, 0
        return
    (blocks, chosen), rest = levels[0], levels[1:]
    cut = _cut(positions, blocks)
    for front in combinations(range(blocks), chosen):
        head = tuple(p for i in front for p in cut[i])
        tail = tuple(p for i in range(blocks) if i not in front for p in cut[i])
        for order, prefix in _tables(tail, rest):
            yield head + order, len(head) + prefix


def _cut(positions: tuple[int, ...], blocks: int) -> list[tuple[int, ...]]:
    """Cut into blocks whose sizes differ by at most one, the larger first, as the paper's 13,13,13,13,12."""
    if blocks > len(positions):
        raise ValueError(f"{len(positions)} bits cannot be cut into {blocks} blocks: use fewer blocks or more bits")
    size, extra = divmod(len(positions), blocks)
    edges = [i * size + min(i, extra) for i in range(blocks + 1)]
    return [positions[start:end] for start, end in pairwise(edges)]


# Microseconds, from Python: a probe; a look-up among so many entries of all tables; a candidate. An insert into a table costs so many
# look-ups, its share of the commit included: more where prefixes are long, for then a fingerprint rarely shares a place with another.
# Fitted to the designs in docs/benchmarks.md.
_PROBE, _CANDIDATE = 3.9, 0.004
_ENTRIES, _LOOK_UPS = (4e5, 4e6, 4e7, 1.2e8, 4e8), (0.84, 1.16, 1.7, 1.75, 3.0)
_INSERT, _INSERT_LONG = 0.86, 2.7
_LONG = 16
_MOST_BLOCKS = 12


def page_cost(tables: Design, distance: int, pages: int) -> float:
    """Return the modelled microseconds for an online query of this radius and an insert, with so many pages stored."""
    look_up = float(np.interp(pages * len(tables.tables), _ENTRIES, _LOOK_UPS))
    radii = tables.radii(distance)
    shares = [flip_count(table.prefix_bits, radius) / (1 << table.prefix_bits) for table, radius in zip(tables.tables, radii, strict=True)]
    query: float = _PROBE + tables.probes(distance) * look_up + pages * sum(shares) * _CANDIDATE
    return query + look_up * sum(_INSERT_LONG if table.prefix_bits > _LONG else _INSERT for table in tables.tables)


@cache
def choose_design(bits: int, distance: int, expected_pages: int) -> str:
    """Return the name of the design with the least `page_cost`: one of the paper's, or one block a table.

    Raises:
        ValueError: fingerprints of so many bits do not exist, or the number of pages is negative.
    """
    if expected_pages < 0:
        raise ValueError(f"expected_pages must be 0 or more, got {expected_pages}")
    names = [*PAPER, *(f"{blocks}:1" for blocks in range(2, min(check_width(bits), _MOST_BLOCKS) + 1) if blocks != PAPER["4"][0][0])]
    return min(names, key=lambda name: page_cost(design(name, bits), distance, expected_pages))


@cache
def cheapest_levels(bits: int, distance: int, log2_pages: int, log2_candidates: int) -> tuple[int, Levels]:
    """Return the fewest tables, and their levels, for which a probe of 2**log2_pages pages meets few candidates.

    The paper's recursion (section 3.1.2): X(f, k, d) = 1 where d < tau, else the minimum over r > k of
    C(r, k) * X(f k / r, k, d - (r - k) f / r).
    """
    if log2_pages <= log2_candidates:
        return 1, ()
    best: tuple[int, Levels] | None = None
    for blocks in range(distance + 1, min(bits, 2 * distance + 4) + 1):
        left = bits * distance // blocks
        count, rest = cheapest_levels(left, distance, log2_pages - (bits - left), log2_candidates) if left > distance else (1, ())
        found = comb(blocks, distance) * count, ((blocks, blocks - distance), *rest)
        best = min(best, found) if best else found
    return best or (1, ())
