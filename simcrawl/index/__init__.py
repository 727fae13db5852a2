"""Exact search by Hamming distance: which fingerprints lie within k bits of this one? In memory or on disk, and nothing of pages.

    with open_index("photos.index") as index:
        index.insert(0x9f3b_0042_ffee_1234)
        index.within(0x9f3b_0042_ffee_1235, 3)      # {0x9f3b_0042_ffee_1234: 1}

`open_index` is the door; `docs/hamming-index.md` shows it at work. Stores of pages use the parts behind it.

**Why a few look-ups are enough.** A fingerprint of 64 bits is cut into blocks, four by default. If two fingerprints differ in at most three
bits, one of the blocks is the same in both. So there are four tables, one a block: under each value of the block all fingerprints that have
it, packed. A query reads one place of each table and counts differing bits of what it finds there, which is all that can be near. A wider
radius looks at more places. `permutations` has the arithmetic; it is the paper's (Manku et al., WWW 2007, section 3), in which a table is
sorted by permuted fingerprints.

**Why there is a log.** A fingerprint belongs to four random places of a file. To write them at once would write four pages of 4,096 bytes
for 8 bytes each. So a commit writes its fingerprints one after the other, to a *log*; and moves into the tables, a *slice* of a table at a
time, what has gathered there. A slice is a sixty-fourth of a table's keys, so that what is moved lies close together.

    insert ──► held ───commit───► logged ───fold of its slice, table by table───► folded
               in memory          in the log on disk                              in the table on disk
                  │                   │
                  └──► the delta ◄────┘        the delta: in memory, what the tables do not have yet
                           │
    within ──► delta + tables ──► candidates ──► those within k

A fingerprint goes this way once for each table, for each has its own slices. In each table it is in one state at a time:

    state     on disk                            in the delta             ends with
    held      nowhere                            yes, of this process     the commit
    logged    in a record behind the slice's     yes, of every process    the fold of its slice
              mark
    folded    in the table                       no, but see *resident*   removal
    removed   in a record "removed"; cut out     no                       the fold of all slices: the log forgets it
              of the tables by the same commit

A *mark* says of each slice up to which record of the log it was folded; each commit folds the slices that waited longest, so many that all
have had a turn once the log has grown by its limit. Records that no slice needs are deleted. Log, marks, tables and counters change in one
transaction, so a crash leaves the state before or after it.

**How processes agree.** Each has a delta of its own, and remembers the last commit that it knows. Before a look-up it compares that with
what its transaction sees. If another process has committed, it *catches up*: it reads the end of the log, and takes out of its delta the
slices whose marks have moved. A fingerprint that this process holds and another one has stored meanwhile is *covered*: it leaves the delta,
where it would be found twice, and is not written again. After a commit of its own a process need not read: it *adopts* what it wrote.

**Resident.** While there is memory for it, the delta holds all of the first tables, not only what the log has for them. Then a look-up asks
LMDB for nothing. A store that outgrows its memory gives up one table after the other; what is found is the same.

**Loading.** Many fingerprints at once are sorted, and merged into the tables one table after the other; those of a large index go to the
log in parts, and are folded in transactions of bounded size, by a delta that answers no look-ups.

    permutations      which bits each table sorts by, and what a query of radius k has to look up
    packed            bytes: packed fingerprints, keys, slices; the distances of packed candidates
    memory            an index in dictionaries
    delta             the delta
    log               log, marks and counters on disk
    disk_tables       tables on disk
    durable           the index on disk: all of the above, put together
    verification      what is wrong with one
    environment       LMDB environments, and the only import of lmdb
    standalone        `open_index`
    batch             many queries against many fingerprints in one pass; clusters
    sorted_tables     files of sorted tables, compressed, for shipping
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simcrawl.index.standalone import HammingIndex, open_index

__all__ = ["HammingIndex", "open_index"]


def __getattr__(name: str) -> Any:
    # An index in memory needs no lmdb, and permutations need neither.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.standalone"), name)
