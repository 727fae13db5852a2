"""Files of sorted permuted tables: immutable, compressed, searchable without unpacking them. For backups, shipping, batches.

Manku et al., WWW 2007, section 3.2. A table is its permuted fingerprints in order; of each stands only in which bits it differs from
the one before it: the position of the highest of them, in a Huffman code, and the bits below. Blocks of 1024 bytes are decoded one by
one; the last fingerprints of all blocks, in one array, say which. Bytes: `docs/sorted-tables.md`. Fingerprints of up to 64 bits.

Within a block all codes come before all remaining bits, where the paper alternates them: the size is the same, but once the codes are
read every remainder's place is known, and numpy reads them at once.
"""

from __future__ import annotations

import errno
import heapq
import json
import os
import struct
import zlib
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcrawl.bits import hamming_distance
from simcrawl.errors import SettingError, StoreCorruptError, StoreError, StoreFormatError, StoreFullError
from simcrawl.index.batch import check_word, joined
from simcrawl.index.permutations import design as design_by_name, flips, gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    from simcrawl.index.permutations import Design, Table

    Words = NDArray[np.uint64]
    Integers = NDArray[np.int64]

MAGIC = b"simtable"
FORMAT = 2
"""Version of the layout. Readers refuse a higher one."""

BLOCK = 1024
_WORDS = BLOCK // 8
_HEAD_BITS = 128  # checksum, count, bits of codes, first fingerprint
_PAYLOAD_BITS = 8 * BLOCK - _HEAD_BITS
# magic, format, width, fingerprints, offset and bytes and crc32 of the directory; then the crc32 of all that
_HEADER = struct.Struct("<8sHHIQQII")
_BLOCK_HEAD = struct.Struct("<IHHQ")
_CRC = struct.Struct("<I")
_CODE_BITS = 16
"""The longest code, so that one look-up in a list of 65,536 reads several codes at once."""
_SLICE = 1 << 18
_BLOCKS_AT_ONCE = 1024


class Written(NamedTuple):
    """What `write_tables` wrote."""

    fingerprints: int
    tables: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Section:
    """One table in a file: which one of the design, its blocks, its code, and the crc32 of its keys."""

    table: int
    blocks: int
    code: list[int]
    keys_crc32: int


# ---- writing


def write_tables(
    path: str | os.PathLike[str],
    chunks: Iterable[Words],
    *,
    design: str = "4",
    bits: int = 64,
    tables: Sequence[int] | None = None,
    recipe: str | None = None,
    seed: int | None = 0,
    seed_hash: str | None = None,
    mode: int = 0o666,
    progress: Callable[[float], object] | None = None,
) -> Written:
    """Write fingerprints as sorted tables; a fingerprint that occurs twice is written once.

    `chunks`: uint64 arrays, shape (n,) or (n, 1). `tables`: numbers of the design's tables, None for all; one is enough for all uses
    but single queries. `recipe` and `seed`: what the fingerprints mean; None for a seed that the file's readers are not to know, and
    `seed_hash` in its place, to know by it whether others have the same. `mode`: the file's, less what the umask takes. `progress` is
    called with the share that is done, 0 to 1.

    Atomic: the path holds the whole new file, synced, or what it held before. Memory: 24 bytes a fingerprint and 100 MB.

    Raises:
        ValueError: a fingerprint does not fit, or the design does not exist.
        SettingError: the design has no such table, or `bits` is above 64.
        StoreFullError: the disk is full.
        StoreError: the file cannot be written.
    """
    chosen = design_by_name(design, check_word(bits))
    numbers = list(range(len(chosen.tables)) if tables is None else tables)
    if not numbers or not set(numbers) <= set(range(len(chosen.tables))):
        raise SettingError(f"tables {numbers} do not exist: design {design!r} has 0 to {len(chosen.tables) - 1}")
    held = joined(chunks)
    if len(held) and bits < 64 and int(held[-1]) >> bits:
        raise ValueError(f"fingerprint {int(held[-1]):#x} does not fit into {bits} bits")
    target = Path(path)
    with _replacing(target, mode) as file:
        file.write(bytes(BLOCK))
        sections, keys = [], []
        for done, number in enumerate(numbers, 1):
            section, last = _write_table(file, held, chosen.tables[number], number, bits)
            sections.append(asdict(section))
            keys.append(last)
            if progress:
                progress(done / len(numbers))
        file.writelines(last.tobytes() for last in keys)
        meaning = {"design": design, "recipe": recipe, "seed": seed, "seed_hash": seed_hash}
        directory = json.dumps(meaning | {"tables": sections}).encode()
        place = file.tell()
        size = place + file.write(directory)
        header = _HEADER.pack(MAGIC, FORMAT, bits, 0, len(held), place, len(directory), zlib.crc32(directory))
        file.seek(0)
        file.write(header + _CRC.pack(zlib.crc32(header)))
    return Written(len(held), len(numbers), size)


@contextmanager
def _replacing(target: Path, mode: int) -> Iterator[BinaryIO]:
    """Give a file that takes the target's place when all is written."""
    part = target.with_name(target.name + ".part")
    try:
        # One that a killed process left may have another mode.
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as exc:
        kind = StoreFullError if exc.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(f"cannot write {target} ({exc}): check the space and the permissions there") from exc
    finally:
        part.unlink(missing_ok=True)


def _write_table(file: BinaryIO, held: Words, table: Table, number: int, bits: int) -> tuple[_Section, Words]:
    permuted = gather(held, table.order, bits)
    permuted.sort()
    code = _code_lengths(_histogram(permuted))
    encoder = _Encoder(code)
    keys = [np.zeros(0, np.uint64)]
    start = 0
    while start < len(permuted):
        part = permuted[start : start + _SLICE]
        blocks, taken = encoder.blocks(part, last=start + len(part) == len(permuted))
        keys.append(permuted[start + taken - 1])
        start += int(taken[-1])
        file.write(_with_checksums(blocks))
    last = np.concatenate(keys)
    return _Section(number, len(last), code, zlib.crc32(last.tobytes())), last


def _with_checksums(blocks: Words) -> bytearray:
    raw = bytearray(blocks.tobytes())
    view = memoryview(raw)
    for start in range(0, len(raw), BLOCK):
        _CRC.pack_into(raw, start, zlib.crc32(view[start + _CRC.size : start + BLOCK]))
    return raw


def _histogram(ordered: Words) -> list[int]:
    counts = np.zeros(64, np.int64)
    for start in range(0, len(ordered), _SLICE):
        part = ordered[start : start + _SLICE + 1]
        counts += np.bincount(_top_bits(part[1:] ^ part[:-1]), minlength=64)
    return counts.tolist()


def _top_bits(values: Words) -> Integers:
    """Return the position of the highest bit of each; none is zero."""
    # Without the bit below the highest: as a float it cannot be rounded up to the next power of two.
    return ((values & ~(values >> np.uint64(1))).astype(np.float64).view(np.int64) >> 52) - 1023


def _code_lengths(counts: list[int]) -> list[int]:
    """Return the lengths of a Huffman code, none above `_CODE_BITS`; 0 for what does not occur."""
    lengths = [0] * len(counts)
    heap = [(count, symbol, [symbol]) for symbol, count in enumerate(counts) if count]
    if len(heap) == 1:
        lengths[heap[0][1]] = 1
    heapq.heapify(heap)
    while len(heap) > 1:
        (a, tie, left), (b, _, right) = heapq.heappop(heap), heapq.heappop(heap)
        for symbol in left + right:
            lengths[symbol] += 1
        heapq.heappush(heap, (a + b, tie, left + right))
    # As bzip2 does: flatter counts give a flatter code.
    return lengths if max(lengths) <= _CODE_BITS else _code_lengths([(count + 1) // 2 for count in counts])


def _codes(lengths: list[int]) -> list[int]:
    """Return the canonical code of every symbol, its first bit lowest."""
    codes, code, previous = [0] * len(lengths), 0, 0
    for length, symbol in sorted((length, symbol) for symbol, length in enumerate(lengths) if length):
        code <<= length - previous
        codes[symbol] = int(f"{code:0{length}b}"[::-1], 2)
        code, previous = code + 1, length
    return codes


class _Encoder:
    """Cuts sorted fingerprints into blocks."""

    def __init__(self, code: list[int]) -> None:
        self._lengths = np.array(code, np.int64)
        self._codes = np.array(_codes(code), np.uint64)

    def blocks(self, ordered: Words, *, last: bool) -> tuple[Words, Integers]:
        """Return full blocks as rows of words, and how many fingerprints are in them, summed up; `last`: the rest makes a block too."""
        differing = ordered[1:] ^ ordered[:-1]
        top = _top_bits(differing)
        code_ends, rest_ends = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (self._lengths[top], top))
        starts, ends = _cut(code_ends + rest_ends, last=last)
        inner = np.repeat(np.arange(len(starts)), ends - starts - 1)
        item = np.arange(len(inner)) + inner + 1  # every fingerprint but the first of each block
        code_bits = code_ends[ends - 1] - code_ends[starts]
        words = np.zeros(len(starts) * _WORDS + 1, np.uint64)
        base = 8 * BLOCK * inner + _HEAD_BITS
        symbol = top[item - 1]
        _put(words, base + code_ends[item - 1] - code_ends[starts][inner], self._codes[symbol])
        below = differing[item - 1] ^ np.uint64(1) << symbol.astype(np.uint64)
        _put(words, base + code_bits[inner] + rest_ends[item - 1] - rest_ends[starts][inner], below)
        blocks = words[:-1].reshape(-1, _WORDS)
        blocks[:, 0] = (ends - starts) << 32 | code_bits << 48
        blocks[:, 1] = ordered[starts]
        return blocks, ends


def _cut(bit_ends: Integers, *, last: bool) -> tuple[Integers, Integers]:
    """Return where blocks start and end, as many fingerprints in each as fit."""
    edges = [0]
    while edges[-1] < len(bit_ends):
        near = bit_ends[edges[-1] : edges[-1] + _PAYLOAD_BITS + 2]
        edges.append(edges[-1] + int(near.searchsorted(near[0] + _PAYLOAD_BITS, "right")))
    if not last and len(edges) > 2:
        edges.pop()
    return np.array(edges[:-1]), np.array(edges[1:])


def _put(words: Words, places: Integers, values: Words) -> None:
    """Set bits: each value from its place on, lowest bit first. Places ascend and values do not overlap."""
    if not len(places):
        return
    word, shift = places >> 6, (places & 63).astype(np.uint64)
    first = np.flatnonzero(np.diff(word, prepend=-1))
    words[word[first]] += np.add.reduceat(values << shift, first)
    words[word[first] + 1] += np.add.reduceat(values >> (np.uint64(64) - shift), first)


# ---- reading


class SortedTables:
    """A file of sorted tables, mapped into memory. Immutable and thread-safe.

    Opening reads the header and the directory; every block is checked when it is decoded.

    Raises:
        StoreFormatError: the file is something else, or of a newer simcrawl.
        StoreCorruptError: its header or directory is damaged, or it was cut short.
        StoreError: it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._bytes = self._map()
        header = self._bytes[:BLOCK].tobytes()
        self._check_magic(header)
        if len(header) < BLOCK or _CRC.unpack_from(header, _HEADER.size)[0] != zlib.crc32(header[: _HEADER.size]):
            raise self._damaged("the header")
        self._count: int
        _, _, bits, _, self._count, place, size, crc = _HEADER.unpack_from(header)
        raw = self._bytes[place : place + size].tobytes()
        if len(raw) != size or zlib.crc32(raw) != crc:
            raise self._damaged("the directory")
        try:
            directory = json.loads(raw)
            self.recipe: str | None = directory["recipe"]
            self.seed: int | None = directory["seed"]
            # Format 1 had the seed always.
            self.seed_hash: str | None = directory.get("seed_hash")
            self.design: Design = design_by_name(directory["design"], check_word(bits))
            self.tables = self._open_tables([_Section(**section) for section in directory["tables"]])
        except (ValueError, KeyError, TypeError, IndexError) as exc:
            raise self._damaged("the directory", f" ({exc!r})") from exc

    def _map(self) -> NDArray[np.uint8]:
        try:
            empty = not self.path.stat().st_size
            # As a plain array: every slice of a memmap object costs a microsecond.
            return np.zeros(0, np.uint8) if empty else np.memmap(self.path, np.uint8, "r").view(np.ndarray)
        except (OSError, ValueError) as exc:
            raise StoreError(f"cannot read {self.path}: {exc}") from exc

    def _check_magic(self, header: bytes) -> None:
        if not header.startswith(MAGIC):
            raise StoreFormatError(f"{self.path} is no file of sorted tables: `simcrawl export --format tables` makes one")
        version = int.from_bytes(header[8:10], "little")
        if version > FORMAT:
            raise StoreFormatError(f"{self.path} has format {version}, this simcrawl reads up to {FORMAT}: upgrade simcrawl")

    def _damaged(self, what: str, why: str = "") -> StoreCorruptError:
        return StoreCorruptError(f"{what} of {self.path} is damaged{why}: take another copy of the file, or export it again")

    def _open_tables(self, sections: list[_Section]) -> list[SortedTable]:
        if not sections:
            raise ValueError("no tables")
        blocks_at, keys_at = BLOCK, BLOCK + BLOCK * sum(section.blocks for section in sections)
        tables = []
        for section in sections:
            blocks = self._bytes[blocks_at : blocks_at + BLOCK * section.blocks].view("<u8").reshape(section.blocks, _WORDS)
            raw = self._bytes[keys_at : keys_at + 8 * section.blocks]
            if zlib.crc32(raw.data) != section.keys_crc32:
                raise self._damaged(f"the list of keys of table {section.table}")
            tables.append(SortedTable(self, section, blocks, raw.view("<u8")))
            blocks_at += BLOCK * section.blocks
            keys_at += 8 * section.blocks
        return tables

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return self._count

    @property
    def bits(self) -> int:
        """The width of the fingerprints."""
        return self.design.bits

    def fingerprint_chunks(self, size: int = 1 << 20) -> Iterator[Words]:
        """Yield every fingerprint once, in chunks of about `size`, shape (n, 1), as a store does.

        Raises:
            StoreCorruptError: a block is damaged; its number is told.
        """
        for chunk in self.tables[0].chunks(size):
            yield chunk.reshape(-1, 1)

    def within(self, fingerprint: int, distance: int) -> dict[int, int]:
        """Return {fingerprint: distance} of all that lie within the radius. Exact; decodes only the blocks that can hold some.

        Raises:
            ValueError: the file does not have all tables of its design, or the fingerprint is too wide.
            StoreCorruptError: a block is damaged; its number is told.
        """
        if not 0 <= fingerprint < 1 << self.bits:
            raise ValueError(f"{fingerprint} is no {self.bits}-bit fingerprint, which is what {self.path} holds")
        if len({table.number for table in self.tables}) < len(self.design.tables):
            raise ValueError(f"{self.path} has {len(self.tables)} of {len(self.design.tables)} tables: export all of them, or use a batch")
        radius, found = self.design.radius(distance), dict[int, int]()
        for table in self.tables:
            for flip in flips(table.table.prefix_bits, radius):
                found |= table.within(fingerprint, flip, distance)
        return found

    def verify(self) -> list[str]:
        """Return what is wrong, one line a problem. Decodes everything."""
        return [problem for table in self.tables for problem in table.problems()]


class SortedTable:
    """One table of a file: `blocks` as rows of words, `keys` the last fingerprint of each, both permuted."""

    def __init__(self, file: SortedTables, section: _Section, blocks: Words, keys: Words) -> None:
        self._file = file
        self._blocks = blocks
        self._keys = keys
        self.number = section.table
        self.table = file.design.tables[section.table]
        self._code = _checked_code(section.code)
        self._inverse = tuple(np.argsort(self.table.order).tolist())

    @cached_property
    def _decoder(self) -> _Decoder:
        return _Decoder(self._code)

    def chunks(self, size: int) -> Iterator[Words]:
        """Yield the fingerprints, in the order of the table, their bits back in place."""
        at_once = max(1, min(_BLOCKS_AT_ONCE, size * len(self._blocks) // max(1, len(self._file))))
        for start in range(0, len(self._blocks), at_once):
            permuted, _ = self._decoded(start, min(start + at_once, len(self._blocks)))
            yield gather(permuted, self._inverse, self._file.bits)

    def within(self, fingerprint: int, flip: int, distance: int) -> dict[int, int]:
        """Return what lies within the distance and differs from the fingerprint by `flip` in the prefix."""
        bits, table = self._file.bits, self.table
        low = (table.prefix(fingerprint) ^ flip) << (bits - table.prefix_bits)
        high = low + (1 << (bits - table.prefix_bits)) - 1
        query = np.uint64(table.permute(fingerprint))
        found = {}
        for block in range(self._block_of(low), len(self._blocks)):
            permuted, _ = self._decoded(block, block + 1)
            near = permuted[np.bitwise_count(permuted ^ query) <= distance]
            for other in gather(near, self._inverse, bits).tolist():
                found[other] = hamming_distance(other, fingerprint)
            if int(self._keys[block]) >= high:
                break
        return found

    def _block_of(self, wanted: int) -> int:
        """Return the first block whose key is not below: interpolation search, every other step a bisection against skew."""
        low, high, below, above, bisect = 0, len(self._keys), 0, 1 << self._file.bits, False
        while low < high:
            guess = (low + high) // 2 if bisect else low + (wanted - below) * (high - low) // (above - below)
            guess = min(max(guess, low), high - 1)
            key = int(self._keys[guess])
            if key < wanted:
                low, below = guess + 1, key
            else:
                high, above = guess, max(key, wanted + 1)
            bisect = not bisect
        return low

    def problems(self) -> Iterator[str]:
        """Yield a line for every damaged block."""
        count = 0
        before = np.uint64(0)
        for block in range(len(self._blocks)):
            try:
                permuted, _ = self._decoded(block, block + 1)
            except StoreCorruptError as exc:
                yield str(exc)
                return
            if (count and permuted[0] <= before) or np.any(permuted[1:] <= permuted[:-1]):
                yield f"block {block} of table {self.number} of {self._file.path} is out of order"
            count, before = count + len(permuted), permuted[-1]
        if count != len(self._file):
            yield f"table {self.number} of {self._file.path} has {count} fingerprints where there should be {len(self._file)}"

    def _decoded(self, start: int, end: int) -> tuple[Words, Integers]:
        """Return the permuted fingerprints of blocks, and at which of them each block ends."""
        blocks = self._blocks[start:end]
        for number, raw in enumerate(blocks.view(np.uint8).reshape(-1, BLOCK), start):
            if zlib.crc32(raw[_CRC.size :].data) != int(blocks[number - start, 0]) & 0xFFFFFFFF:
                raise self._damaged(number)
        before = int(self._keys[start - 1]) if start else 0
        previous = np.concatenate([np.array([before], np.uint64), self._keys[start : end - 1]])
        try:
            permuted, ends = self._decoder.decode(blocks, previous)
        except _BrokenBlockError as exc:
            raise self._damaged(start + exc.args[0]) from None
        # What a checksum cannot tell: a whole block in another one's place.
        wrong = np.flatnonzero(permuted[ends - 1] != self._keys[start:end])
        if len(wrong):
            raise self._damaged(start + int(wrong[0]))
        return permuted, ends

    def _damaged(self, block: int) -> StoreCorruptError:
        return self._file._damaged(f"block {block} of table {self.number}")  # noqa: SLF001 - the file's own other half


class _BrokenBlockError(Exception):
    """Args: which of the blocks does not decode."""


def _checked_code(lengths: list[int]) -> list[int]:
    sound = len(lengths) == 64 and all(type(length) is int and 0 <= length <= _CODE_BITS for length in lengths)
    if not sound or sum(2.0**-length for length in lengths if length) > 1:
        raise ValueError(f"{lengths} are no lengths of a code")
    return lengths


class _Decoder:
    """Decodes blocks of one table. Its lists say of each 16 bits which whole codes they start with."""

    def __init__(self, code: list[int]) -> None:
        single, sizes = np.zeros(1 << _CODE_BITS, np.uint8), np.zeros(1 << _CODE_BITS, np.int64)
        for symbol, (length, bits) in enumerate(zip(code, _codes(code), strict=True)):
            if length:
                single[bits :: 1 << length], sizes[bits :: 1 << length] = symbol, length
        windows = np.arange(1 << _CODE_BITS)
        self._symbols = np.zeros((len(windows), _CODE_BITS), np.uint8)
        self._used, self._counts = np.zeros_like(windows), np.zeros_like(windows)
        for place in range(_CODE_BITS):
            left = windows >> self._used
            whole = (sizes[left] > 0) & (self._used + sizes[left] <= _CODE_BITS) & (self._counts == place)
            self._symbols[whole, place] = single[left[whole]]
            self._counts += whole
            self._used += sizes[left] * whole

    @cached_property
    def _lists(self) -> tuple[list[int], list[int]]:
        # For one block after another, in which a list answers ten times faster than an array.
        return self._used.tolist(), self._counts.tolist()

    def decode(self, blocks: Words, previous: Words) -> tuple[Words, Integers]:
        """Return the fingerprints of consecutive blocks, and where each block ends; `previous`: the one before each block."""
        wanted = (blocks[:, 0] >> np.uint64(32) & np.uint64(0xFFFF)).astype(np.int64) - 1
        code_bits = (blocks[:, 0] >> np.uint64(48)).astype(np.int64)
        if np.any(wrong := (wanted < 0) | (code_bits > _PAYLOAD_BITS)):
            raise _BrokenBlockError(int(wrong.argmax()))
        top = self._one(blocks[0], int(wanted[0]), int(code_bits[0])) if len(blocks) == 1 else self._many(blocks, wanted, code_bits)
        ends = np.cumsum(wanted + 1)
        fingerprints = np.empty(int(ends[-1]), np.uint64)
        inner = np.ones(len(fingerprints), np.bool_)
        inner[ends - wanted - 1] = False
        fingerprints[~inner] = blocks[:, 1] ^ previous
        fingerprints[inner] = self._differing(blocks, top, wanted, code_bits)
        fingerprints[0] ^= previous[0]
        # One running XOR for all blocks: each starts with what leads there from the end of the one before.
        np.bitwise_xor.accumulate(fingerprints, out=fingerprints)
        return fingerprints, ends

    def _one(self, block: Words, wanted: int, code_bits: int) -> Integers:
        """Return the highest differing bits of one block."""
        used, counts = self._lists
        codes = int.from_bytes(block[2:].tobytes()[: code_bits // 8 + 1], "little")
        windows, found = [], 0
        while found < wanted:
            window = codes & 0xFFFF
            if not used[window]:
                raise _BrokenBlockError(0)
            windows.append(window)
            found += counts[window]
            codes >>= used[window]
        whole = np.array(windows, np.intp)
        return self._symbols[whole][np.arange(_CODE_BITS) < self._counts[whole][:, None]][:wanted].astype(np.int64)

    def _many(self, blocks: Words, wanted: Integers, code_bits: Integers) -> Integers:
        """Return the highest differing bits of many blocks: the codes of all in step."""
        symbols = np.zeros((len(blocks), int(wanted.max()) + _CODE_BITS), np.uint8)
        place, found = np.full(len(blocks), _HEAD_BITS), np.zeros(len(blocks), np.int64)
        slots = np.arange(_CODE_BITS)
        while len(open_ := np.flatnonzero(found < wanted)):
            window = _take(blocks, open_, place[open_]) & np.uint64(0xFFFF)
            window = window.astype(np.intp)
            if np.any(stuck := (self._used[window] == 0) | (place[open_] > _HEAD_BITS + code_bits[open_])):
                raise _BrokenBlockError(int(open_[stuck.argmax()]))
            symbols[open_[:, None], found[open_][:, None] + slots] = self._symbols[window]
            found[open_] += self._counts[window]
            place[open_] += self._used[window]
        return symbols[:, : symbols.shape[1] - _CODE_BITS][np.arange(int(wanted.max())) < wanted[:, None]].astype(np.int64)

    def _differing(self, blocks: Words, top: Integers, wanted: Integers, code_bits: Integers) -> Words:
        """Return by what each fingerprint differs from the one before it."""
        row = np.repeat(np.arange(len(blocks)), wanted)
        ends = np.concatenate([[0], np.cumsum(top)])
        firsts = ends[np.cumsum(wanted) - wanted]
        place = ends[:-1] - firsts[row] + _HEAD_BITS + code_bits[row]
        if np.any(over := place + top > 8 * BLOCK):
            raise _BrokenBlockError(int(row[over.argmax()]))
        leading = np.uint64(1) << top.astype(np.uint64)
        below: Words = _take(blocks, row, place) & (leading - np.uint64(1))
        below |= leading
        return below


def _take(blocks: Words, row: NDArray[np.intp], place: Integers) -> Words:
    """Return 64 bits from a place in a block on; what lies beyond the block's end is of no meaning."""
    flat, index = blocks.ravel(), row * _WORDS + (place >> 6)
    shift = (place & 63).astype(np.uint64)
    beyond: Words = flat.take(index + 1, mode="clip")
    return flat[index] >> shift | beyond << (np.uint64(64) - shift)
