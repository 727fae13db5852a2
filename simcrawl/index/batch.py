"""Batch queries and clusters: many fingerprints against many, in one pass over what is stored.

Pure numpy: no store, no bytes. Manku et al., WWW 2007, section 3.3: the permuted tables are built over the queries, which fit into
memory, and what is stored streams past them in chunks of any size. Fingerprints of up to 64 bits.

A table over the queries is a bitmap of the prefixes that they have, which nearly everything that streams past fails, and their
numbers sorted by prefix, for what passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simcrawl.bits import check_width, distinct_values, words_per_fingerprint
from simcrawl.errors import SettingError
from simcrawl.index.permutations import Design, Table, bit_runs, design, flip_count, flips, gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    Words = NDArray[np.uint64]
    Indices = NDArray[np.intp]

_SLICE = 1 << 16
"""Stored fingerprints that are looked up at a time: their prefixes stay in the cache of a core."""
_PIECE = 1 << 20
"""Pairs that are compared at a time: what bounds the memory however alike the fingerprints are."""

# Prefixes longer than this many bits beyond log2(queries) would make the bitmap larger and let hardly less through.
_SPARE_BITS = 5
_MOST_TABLES = 40
_MOST_FLIPS = 2_000
# Nanoseconds, measured by benchmarks/store/batch.py; only their ratios matter, to choose a design.
_LOOK_UP_NS, _PAIR_NS, _SORT_NS = 12.0, 10.0, 30.0


class Hits(NamedTuple):
    """Answers, three arrays of one length: the number of the query (int64), a stored fingerprint (uint64), the distance (uint8)."""

    queries: NDArray[np.int64]
    fingerprints: Words
    distances: NDArray[np.uint8]


def batch_query(
    queries: ArrayLike,
    chunks: Iterable[Words],
    distance: int = 3,
    *,
    bits: int = 64,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Hits]:
    """Yield every pair of a query and a stored fingerprint within the distance. Exact for every distance.

    `queries`: n fingerprints, n below 2**31; a query that occurs twice is answered twice. `chunks`: the stored ones, any number of
    uint64 arrays of any length, shape (n,) or (n, 1); one that occurs twice is found twice. `progress` is called with the number of
    stored fingerprints that are done. Answers are in the order of the stored ones by and large, and in no order within a chunk.

    Cost: three passes over the queries a table, then one over what is stored, 10 tables for 1e6 queries at k = 3. Memory: 40 bytes a
    query and 13 bytes a query and table, 100 MB beyond, and the caller's chunk, however many answers there are. From k = 5 on the
    time grows with queries times stored.

    Raises:
        ValueError: a query does not fit into `bits`, `bits` is above 64, or the distance is negative.
    """
    asked = _checked(queries, bits)
    if distance < 0:
        raise ValueError(f"the distance is {distance}: use 0 or more")
    unique, inverse = np.unique(asked, return_inverse=True)
    index = _QueryIndex(unique, _cheapest(bits, distance, lambda chosen: _query_cost(chosen, distance, len(unique))), distance)
    numbers = None if len(unique) == len(asked) and np.array_equal(inverse, np.arange(len(asked))) else _Groups.of(inverse, len(unique))
    return _answers(index, numbers, chunks, progress)


def clusters(
    chunks: Iterable[Words], distance: int = 3, *, bits: int = 64, progress: Callable[[float], object] | None = None
) -> Iterator[Words]:
    """Yield the clusters of all fingerprints, largest first: each is joined by steps of at most the distance. Exact.

    A cluster is a sorted array of two or more distinct fingerprints; equal sizes come in the order of their first ones. `progress` is
    called with the share that is done, 0 to 1.

    Cost: a sort of all of them a table, and every pair that shares a prefix. Memory: 40 bytes a fingerprint and 100 MB.

    Raises:
        ValueError: `bits` is above 64, or the distance is negative.
    """
    check_word(bits)
    if distance < 0:
        raise ValueError(f"the distance is {distance}: use 0 or more")
    held = joined(chunks)
    chosen = _cheapest(bits, distance, lambda found: _cluster_cost(found, distance, len(held)))
    components = _Components(len(held))
    for done, table in enumerate(chosen.tables, 1):
        for a, b in _near_pairs(held, table, distance, bits):
            components.join(a, b)
        if progress:
            progress(done / len(chosen.tables))
    return (held[members] for members in components.groups())


def check_word(bits: int) -> int:
    """Return `bits` where a fingerprint of that width is one 64-bit word.

    Raises:
        ValueError: it is no width.
        SettingError: it is above 64.
    """
    if words_per_fingerprint(bits) > 1:
        raise SettingError(
            f"fingerprints of {bits} bits take two words: batches and sorted tables work up to 64 bits, single queries beyond"
        )
    return bits


def joined(chunks: Iterable[Words]) -> Words:
    """Return the fingerprints of all chunks, sorted, each once. Memory: 16 bytes a fingerprint, and 8 more for a moment."""
    return distinct_values(np.concatenate([np.zeros(0, np.uint64), *(np.asarray(chunk, np.uint64).ravel() for chunk in chunks)]))


# ---- the choice of a design


def _cheapest(bits: int, distance: int, cost: Callable[[Design], float]) -> Design:
    """Return the design with the lowest cost; one table without a prefix, which compares everything, is always among them."""
    everything = Design("0", check_width(bits), (), (Table(tuple(range(bits)), 0),))
    names = (f"{blocks}:{chosen}" for blocks in range(2, min(bits, distance + 4) + 1) for chosen in (1, 2, 3) if chosen < blocks)
    return min((everything, *(design(name, bits) for name in names if _table_count(name) <= _MOST_TABLES)), key=cost)


@cache
def _table_count(name: str) -> int:
    blocks, _, chosen = name.partition(":")
    return flip_count(int(blocks), int(chosen)) - flip_count(int(blocks), int(chosen) - 1)


def _key_bits(table: Table, count: int) -> int:
    return min(table.prefix_bits, int(log2(count or 1)) + 1 + _SPARE_BITS)


def _query_cost(chosen: Design, distance: int, count: int) -> float:
    """Return the nanoseconds that one stored fingerprint costs."""
    radius, total = chosen.radius(distance), 0.0
    for table in chosen.tables:
        width = _key_bits(table, count)
        probes = flip_count(width, radius)
        total += probes * (_LOOK_UP_NS * (width > 0) + _PAIR_NS * count * 0.5**width)
        if probes > _MOST_FLIPS:
            return float("inf")
    return total


def _cluster_cost(chosen: Design, distance: int, count: int) -> float:
    if chosen.radius(distance):
        return float("inf")
    return sum(_SORT_NS + _PAIR_NS * count * 0.5 ** (table.prefix_bits + 1) for table in chosen.tables)


# ---- batch queries


def _checked(values: ArrayLike, bits: int) -> Words:
    check_word(bits)
    try:
        found = np.ascontiguousarray(values, np.uint64).ravel()
    except OverflowError as exc:
        raise ValueError(f"a query does not fit into {bits} bits: {exc}") from exc
    if bits < 64 and len(found) and int(found.max()) >> bits:
        raise ValueError(f"query {int(found.max()):#x} does not fit into {bits} bits: give the width that it was made with")
    return found


@dataclass(frozen=True, slots=True)
class _Groups:
    """Which positions of the caller's array hold a value: `order[starts[i] : starts[i + 1]]` for the i-th."""

    order: NDArray[np.uint32]
    starts: NDArray[np.uint32]

    @classmethod
    def of(cls, keys: NDArray[Any], count: int) -> _Groups:
        starts = np.zeros(count + 1, np.uint32)
        np.cumsum(np.bincount(keys, minlength=count), out=starts[1:])
        return cls(np.argsort(keys, kind="stable").astype(np.uint32), starts)

    def pairs(self, keys: Indices) -> Iterator[tuple[Indices, Indices]]:
        """Yield (number in keys, position) of every position of every key, a bounded number at a time."""
        first = self.starts[keys].astype(np.intp)
        counts = self.starts[keys + 1].astype(np.intp) - first
        ends = np.cumsum(counts)
        begins = ends - counts
        for low in range(0, int(ends[-1]) if len(ends) else 0, _PIECE):
            high = min(low + _PIECE, int(ends[-1]))
            span = slice(np.searchsorted(ends, low, "right"), int(np.searchsorted(ends, high, "left")) + 1)
            inside = np.minimum(ends[span], high) - np.maximum(begins[span], low)
            owner = np.repeat(np.arange(span.start, span.stop), inside)
            yield owner, self.order[(first - begins)[owner] + np.arange(low, high)].astype(np.intp)


class _QueryTable:
    """One permuted table over the queries."""

    def __init__(self, queries: Words, table: Table, radius: int, bits: int) -> None:
        width = _key_bits(table, len(queries))
        self.bits = bits
        self.order = table.order[:width]
        self.runs = bit_runs(self.order, bits)
        self.mask = np.uint64(sum(1 << (bits - 1 - position) for position in self.order))
        self.flips = flips(width, radius)
        self._coarse = max(0, width - int(log2(len(queries) or 1)) - 1)
        keys = gather(queries, self.order, bits).astype(np.int64)
        present = np.zeros(max(8, 1 << width), np.bool_)
        present[keys] = True
        self._bitmap = np.packbits(present, bitorder="little")
        self._groups = _Groups.of(keys >> self._coarse, 1 << (width - self._coarse))

    def key(self, parts: _Parts) -> NDArray[np.int64]:
        """Return the keys of stored fingerprints."""
        if not self.runs:
            return np.zeros(len(parts.values), np.int64)
        (shift, width), *rest = self.runs
        key = parts.of(shift, width)
        for run in rest:
            key = key << run[1] | parts.of(*run)
        return key

    def pairs(self, keys: NDArray[np.int64]) -> Iterator[tuple[Indices, Indices]]:
        """Yield (number of the key, number of a query) of every query that may have a key."""
        known = self._bitmap.take(keys >> 3) >> (keys & 7).astype(np.uint8)
        passed = np.flatnonzero(known & np.uint8(1))
        for owner, found in self._groups.pairs(keys[passed] >> self._coarse):
            yield passed[owner], found


class _Parts:
    """Blocks of bits of stored fingerprints; several tables have the same ones in their prefixes."""

    def __init__(self, values: Words) -> None:
        self.values = values
        self._known: dict[tuple[int, int], NDArray[np.int64]] = {}

    def of(self, shift: int, width: int) -> NDArray[np.int64]:
        """Return the bits at a place."""
        if (shift, width) not in self._known:
            found = self.values >> np.uint64(shift) & np.uint64((1 << width) - 1)
            self._known[shift, width] = found.view(np.int64)
        return self._known[shift, width]


class _QueryIndex:
    """All permuted tables over distinct queries."""

    def __init__(self, queries: Words, chosen: Design, distance: int) -> None:
        self._queries = queries
        self._distance = distance
        self._radius = chosen.radius(distance)
        self._tables = [_QueryTable(queries, table, self._radius, chosen.bits) for table in chosen.tables]

    def hits(self, stored: Words) -> Iterator[tuple[Indices, Words, NDArray[np.uint8]]]:
        """Yield (numbers of queries, stored fingerprints, distances); every pair once."""
        parts = _Parts(stored)
        for number, table in enumerate(self._tables):
            keys = table.key(parts)
            for flip in table.flips:
                for owner, query in table.pairs(keys ^ flip):
                    yield self._within(stored[owner], query, number, flip)

    def _within(self, stored: Words, query: Indices, number: int, flip: int) -> tuple[Indices, Words, NDArray[np.uint8]]:
        differing = self._queries[query] ^ stored
        apart = np.bitwise_count(differing)
        near = np.flatnonzero(apart <= self._distance)
        near = near[self._is_first(differing[near], number, flip)]
        return query[near], stored[near], apart[near]

    def _is_first(self, differing: Words, number: int, flip: int) -> NDArray[np.bool_]:
        """Return which pairs no earlier table and no other flip finds: so none has to be remembered to be told once."""
        table = self._tables[number]
        first = np.equal(gather(differing, table.order, table.bits), flip)
        for earlier in self._tables[:number]:
            first &= np.bitwise_count(differing & earlier.mask) > self._radius
        return first


def _answers(
    index: _QueryIndex, numbers: _Groups | None, chunks: Iterable[Words], progress: Callable[[int], object] | None
) -> Iterator[Hits]:
    done = 0
    for chunk in chunks:
        values = np.ascontiguousarray(chunk, np.uint64).ravel()
        found = (index.hits(values[start : start + _SLICE]) for start in range(0, len(values), _SLICE))
        for query, stored, apart in chain.from_iterable(found):
            if len(query):
                yield from _numbered(numbers, query, stored, apart)
        done += len(values)
        if progress:
            progress(done)


def _numbered(numbers: _Groups | None, query: Indices, stored: Words, apart: NDArray[np.uint8]) -> Iterator[Hits]:
    """Yield hits under the caller's numbers of the queries."""
    if numbers is None:
        yield Hits(query.astype(np.int64), stored, apart)
        return
    for owner, asked in numbers.pairs(query):
        yield Hits(asked.astype(np.int64), stored[owner], apart[owner])


# ---- clusters


def _near_pairs(held: Words, table: Table, distance: int, bits: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs within the distance among those with equal prefixes, as numbers in `held`, which is sorted."""
    inverse = tuple(np.argsort(table.order).tolist())
    permuted = gather(held, table.order, bits)
    permuted.sort()
    shift = np.uint64(bits - table.prefix_bits)
    for low in range(0, len(permuted), _PIECE):
        left = np.arange(low, min(low + _PIECE, len(permuted)))
        step = 1
        # Each with the one that is `step` places on, as long as any of them still shares its prefix.
        while len(left := left[: np.searchsorted(left, len(permuted) - step)]):
            differing = permuted[left] ^ permuted[left + step]
            together = differing >> shift == 0
            left, differing = left[together], differing[together]
            near = left[np.bitwise_count(differing) <= distance]
            if len(near):
                pair = (gather(permuted[where], inverse, bits) for where in (near, near + step))
                a, b = (np.searchsorted(held, fingerprints) for fingerprints in pair)
                yield a, b
            step += 1


class _Components:
    """Union-find over numbers from 0, whole arrays at a time. The smallest number of a component is its root."""

    def __init__(self, count: int) -> None:
        self._parent = np.arange(count)

    def join(self, a: Indices, b: Indices) -> None:
        """Put every a[i] and b[i] into one component."""
        while len(a):
            a, b = self._roots(a), self._roots(b)
            apart = a != b
            a, b = a[apart], b[apart]
            # Of several roots that one is to hang from the smallest wins; the others find it in the next round.
            np.minimum.at(self._parent, np.maximum(a, b), np.minimum(a, b))

    def _roots(self, which: Indices) -> Indices:
        roots = self._parent[which]
        while not np.array_equal(above := self._parent[roots], roots):
            roots = above
        self._parent[which] = roots
        return roots

    def groups(self) -> Iterator[Indices]:
        """Yield the members of every component of two or more, largest first."""
        count = np.arange(len(self._parent))
        moved = np.flatnonzero(self._parent != count)
        roots = self._roots(moved)
        members = np.union1d(moved, roots)
        members = members[np.argsort(self._parent[members], kind="stable")]
        starts = np.flatnonzero(np.diff(self._parent[members], prepend=-1))
        sizes = np.diff(starts, append=len(members))
        for group in np.argsort(-sizes, kind="stable"):
            yield members[starts[group] : starts[group] + sizes[group]]
