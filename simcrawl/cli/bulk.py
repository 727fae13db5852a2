"""Commands for many at once: batch queries, clusters, bulk load, export and import."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click
import numpy as np

from simcrawl.bits import from_hex, to_hex
from simcrawl.cli.dropped import limit_option, show_clusters
from simcrawl.cli.output import (
    NEGATIVE,
    StoreArgument,
    at_work,
    checked_path,
    complete_directory,
    complete_file,
    complete_recipe,
    json_option,
    open_existing,
    show,
    show_values,
    store_argument,
)
from simcrawl.detector import Detector
from simcrawl.errors import SettingError, StoreFormatError, StoreMismatchError
from simcrawl.index import batch as batches
from simcrawl.index.sorted_tables import MAGIC, SortedTables, write_tables
from simcrawl.page.fingerprint import PageFingerprint, hash_of_seed
from simcrawl.page.recipes import resolve
from simcrawl.store import open_store, reset
from simcrawl.store.files import PRIVATE
from simcrawl.tools.bulk import Broken, Loaded, load_pages, make_pages, read_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from simcrawl.rule import StoredPage
    from simcrawl.store import Store

    Words = NDArray[np.uint64]

_DISTANCE = 3
_workers = click.option(
    "--workers", metavar="N", type=click.IntRange(0, 1024), help="How many processes extract pages; default: one per core."
)


class _Held(NamedTuple):
    """Fingerprints of a store or a file, and what they mean. `seed`: a hash of it. `total`: about how many."""

    chunks: Callable[[], Iterator[Words]]
    bits: int
    seed: str
    recipe: str | None
    total: int
    store: Store | None = None
    tables: SortedTables | None = None


class _Asked(NamedTuple):
    """Queries and the names under which they are answered; None for their fingerprints."""

    fingerprints: Words
    names: list[str] | None


@click.command()
@click.argument("queries", metavar="QUERIES", shell_complete=complete_file)
@click.argument("stored", metavar="STORED", shell_complete=complete_file)
@click.option(
    "--max-distance",
    metavar="BITS",
    type=click.IntRange(0, 64),
    default=_DISTANCE,
    show_default=True,
    help="How many bits matching fingerprints may differ in.",
)
@_workers
@json_option
def batch(queries: str, stored: str, max_distance: int, workers: int | None, as_json: bool) -> int:
    """Find all stored fingerprints near any of many.

    QUERIES and STORED are stores, or files that `simcrawl export --format tables` wrote. QUERIES can also be a file of fingerprints, one
    a line or as `simcrawl export --format jsonl` writes them, or pages as for `simcrawl load`.

      simcrawl batch new.jsonl STORE
      simcrawl batch january.simcrawl february.simcrawl --max-distance 0 --json

    The exit code is 1 if nothing is near.
    """
    with _held(stored) as held:
        asked = _read_queries(queries, held, workers)
        with at_work("Comparing", held.total) as move:
            # All of them before any is told: a store that is being read for long cannot reuse the space in its file.
            hits = list(batches.batch_query(asked.fingerprints, held.chunks(), max_distance, bits=held.bits, progress=move))
        show((row for hit in hits for row in _hit_rows(hit, asked, held)), as_json=as_json)
    return 0 if hits else NEGATIVE


def _hit_rows(hit: batches.Hits, asked: _Asked, held: _Held) -> Iterator[dict[str, Any]]:
    for query, fingerprint, distance in zip(*(column.tolist() for column in hit), strict=True):
        name = asked.names[query] if asked.names else to_hex(int(asked.fingerprints[query]), bits=held.bits)
        for url in _urls(held, fingerprint) or [None]:
            yield {"query": name, "distance": distance, "fingerprint": to_hex(fingerprint, bits=held.bits), "url": url}


def _urls(held: _Held, fingerprint: int) -> list[str | None]:
    """Return the URLs of the stored pages that have a fingerprint."""
    return [match.url for match in held.store.query(fingerprint, 0) if match.page] if held.store else []


@click.command()
@click.argument("stored", metavar="STORE", cls=StoreArgument, shell_complete=complete_directory)
@click.option("--by", type=click.Choice(["verdicts", "fingerprints"]), help="What joins pages; default: verdicts, if the store has pages.")
@click.option(
    "--min-size", metavar="N", type=click.IntRange(2), default=2, show_default=True, help="Only clusters of at least that many pages."
)
@click.option(
    "--max-distance", metavar="BITS", type=click.IntRange(0, 64), help="How many bits joined fingerprints may differ in; default: 3."
)
@limit_option
@json_option
def clusters(*, stored: str, by: str | None, min_size: int, max_distance: int | None, limit: int | None, as_json: bool) -> None:
    """List clusters of pages, largest first.

    Each with its size, its representative, the page that was kept, and its members: the copies of it, and copies of these. A pair whose
    verdict was taken back (see the command reject) is none, and a page alone is no cluster. Pages that were not fetched are members, too,
    with "predicted" as their reason.

      simcrawl clusters STORE --min-size 5 --limit 10
      simcrawl clusters STORE --json | jq -r .representative

    By fingerprints, two pages are in one cluster when steps of at most the distance lead from one to the other; the pages themselves are
    not compared. That is also for stores of bare fingerprints, and for files of sorted tables in the place of STORE:

      simcrawl clusters STORE --by fingerprints --max-distance 1
    """
    if by == "verdicts" and max_distance is not None:
        raise click.UsageError(f"--max-distance {max_distance} is for fingerprints: leave it out, or give --by fingerprints")
    with _held(stored) as held:
        if (by or _usual(held, max_distance)) == "verdicts":
            if held.store is None:
                raise click.UsageError(f"{stored} holds fingerprints alone, there are no verdicts: leave out --by")
            show_clusters(held.store, min_size=min_size, limit=limit, as_json=as_json)
            return
        with at_work("Comparing", 1) as move:
            distance = _DISTANCE if max_distance is None else max_distance
            found = batches.clusters(held.chunks(), distance, bits=held.bits, progress=move)
        groups = islice((one for one in (_cluster(members.tolist(), held) for members in found) if one["size"] >= min_size), limit)
        if as_json:
            show(groups, as_json=True)
        else:
            show({"cluster": number} | page for number, group in enumerate(groups, 1) for page in group["members"])


def _usual(held: _Held, max_distance: int | None) -> str:
    return "verdicts" if held.store and held.store.size()["pages"] and max_distance is None else "fingerprints"


def _cluster(members: list[int], held: _Held) -> dict[str, Any]:
    pages = [
        {"fingerprint": to_hex(fingerprint, bits=held.bits), "url": url}
        for fingerprint in members
        for url in _urls(held, fingerprint) or [None]
    ]
    representative = next((page["url"] for page in pages if page["url"]), pages[0]["fingerprint"])
    return {"size": len(pages), "representative": representative, "members": pages}


@click.command()
@store_argument
@click.argument("corpus", metavar="CORPUS...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--base-url", metavar="URL", help="URL of the folder; default: file: URLs.")
@click.option("--recipe", metavar="NAME", shell_complete=complete_recipe, help="Recipe of a new store; default: auto.")
@_workers
@click.option("--redact", metavar="NAME", multiple=True, help="A query parameter whose values are secret, as in SIMCRAWL_REDACT.")
@click.option("--skip-broken", is_flag=True, help="Skip lines and records that cannot be read; count them, and name the first.")
@json_option
def load(
    *,
    store: str,
    corpus: tuple[Path, ...],
    base_url: str | None,
    recipe: str | None,
    workers: int | None,
    redact: tuple[str, ...],
    skip_broken: bool,
    as_json: bool,
) -> None:
    """Load pages that were crawled before into a store.

    A crawl with that store drops copies of them. STORE is made if there is none.

    CORPUS is a WARC file, a file of JSON lines with url and html (or body), or a folder of HTML files. A load that was interrupted goes on
    where it stopped when it is run again.

    A line or record that is damaged, cut off or too long, or whose URL has control characters, ends the load. What came before it stays
    loaded.

      simcrawl load STORE crawl-2025.warc.gz
      simcrawl load STORE mirror/ --base-url https://example.org/
    """
    if recipe:
        # Before a store is made for it.
        resolve(recipe).load_extractor()
    broken = Broken(skip=skip_broken)
    sources = [read_pages(path, base_url=base_url, broken=broken) for path in corpus]
    total = Loaded()
    with open_store(checked_path(store), seed="random") as opened, at_work("Loading") as move:
        detector = Detector(opened, recipe=recipe, redact=redact)
        pages = (page for source in sources for page in source)
        total = load_pages(
            detector, pages, workers=workers, progress=lambda loaded: move(0, f"{loaded.read} pages, {loaded.copies} copies")
        )
    passed_over = {"broken": broken.count, "first_broken": broken.first or None} if skip_broken else {}
    show_values(total.as_object() | passed_over, as_json=as_json)


@click.command()
@store_argument
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--format", "kind", type=click.Choice(["tables", "jsonl"]), default="tables", show_default=True, help="What to write.")
@click.option(
    "--table", metavar="N", type=click.IntRange(0), multiple=True, help="Only this table. One is enough for everything but single queries."
)
@click.option("--with-seed", is_flag=True, help="With the store's secret seed, in a file that only you can read.")
@json_option
def export(*, store: str, file: Path, kind: str, table: tuple[int, ...], with_seed: bool, as_json: bool) -> None:
    """Write the fingerprints of a store to FILE.

    As compressed sorted tables, or with URLs as JSON lines.

      simcrawl export STORE pages.tables
      simcrawl export STORE - --format jsonl | jq -r .url

    - is standard output, for JSON lines.

    Tables without the seed can be compared with fingerprints of the same seed, and be imported into a store that has it. To make a new
    store of them, or to compare them with new pages, the seed is needed: --with-seed. Whoever knows it can write pages that take the place
    of others.
    """
    if kind != "tables" and (table or with_seed):
        raise click.UsageError(f"{'--table' if table else '--with-seed'} is for tables, the format is {kind}")
    with open_existing(store) as opened:
        written = _export_tables(opened, file, table, with_seed=with_seed) if kind == "tables" else _export_lines(opened, file)
    if str(file) != "-":
        show_values(written, as_json=as_json)


def _export_tables(store: Store, file: Path, tables: tuple[int, ...], *, with_seed: bool) -> dict[str, Any]:
    if str(file) == "-":
        raise click.UsageError("sorted tables cannot go to standard output: name a file")
    header = store.header
    with at_work("Writing", 1) as move:
        written = write_tables(
            file,
            store.fingerprint_chunks(),
            design=store.design.name,
            bits=header.bits,
            tables=tables or None,
            recipe=header.recipe,
            seed=header.seed if with_seed else None,
            seed_hash=hash_of_seed(header.seed),
            mode=PRIVATE if with_seed else 0o666,
            progress=move,
        )
    return {"file": str(file), **written._asdict()}


def _export_lines(store: Store, file: Path) -> dict[str, Any]:
    count = 0
    try:
        with ExitStack() as stack:
            out = sys.stdout if str(file) == "-" else stack.enter_context(file.open("w", encoding="utf-8"))
            move = stack.enter_context(at_work("Writing", store.size()["pages"]))
            for count, stored in enumerate(store.pages(), 1):
                out.write(json.dumps(_as_object(stored, store), ensure_ascii=True) + "\n")
                move(count)
    except OSError as exc:
        raise click.UsageError(f"cannot write {file}: {exc}") from exc
    return {"file": str(file), "pages": count}


def _as_object(stored: StoredPage, store: Store) -> dict[str, Any]:
    page = stored.page
    found = page if isinstance(page, PageFingerprint) else None
    return {
        "url": page.url,
        "fingerprint": found.hex if found else None,
        "abstains": None if isinstance(page, PageFingerprint) else page.reason.value,
        "characters": page.text_length,
        "first_seen": stored.first_seen,
        "last_seen": stored.last_seen,
        "body_digest": page.body_digest.hex(),
        "cluster": store.cluster(page.url),
    }


@click.command("import")
@store_argument
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def import_(store: str, file: Path, as_json: bool) -> None:
    """Read fingerprints from FILE into a store.

    FILE is one that `simcrawl export` wrote. STORE is made if there is none (from tables, only if they were exported --with-seed).

    Only fingerprints are imported, not pages: they answer queries by fingerprint and batches. To drop copies of pages, load the pages.

      simcrawl import new.simcrawl pages.tables
    """
    tables = SortedTables(file) if _is_tables(file) else None
    with _open_like(tables, checked_path(store)) as opened:
        header = opened.header
        if tables:
            _check_same(tables.recipe, _seed_of(tables), header.recipe, hash_of_seed(header.seed), f"{file} and {store}")
            chunks: Iterable[Words] = tables.fingerprint_chunks()
        else:
            chunks = [_read_fingerprints(file, header.bits).fingerprints]
        read = 0
        with at_work("Reading", len(tables) if tables else None) as move:
            for chunk in chunks:
                opened.load_fingerprints(chunk)
                read += len(chunk)
                move(read)
    show_values({"read": read}, as_json=as_json)


@click.command()
@store_argument
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option("--older-than", metavar="DAYS", type=click.FloatRange(0), help="Forget all pages that were not seen for that many days.")
@click.option("--force", is_flag=True, help="With --older-than: even if more than half of the pages go.")
@click.option("--all", "everything", is_flag=True, help="Forget everything in the store, including rejections and history, to begin anew.")
@json_option
def forget(*, store: str, urls: tuple[str, ...], older_than: float | None, force: bool, everything: bool, as_json: bool) -> int:
    """Remove pages from a store, by URL or by age, or all of it.

    Their lines in the register of duplicates go with them; verdicts that were taken back stay taken back. Crawls may go on meanwhile; only
    --all is refused then.

      simcrawl forget STORE https://example.org/boat
      simcrawl forget STORE --older-than 90
      simcrawl forget STORE --all

    A wrong clock makes every page old. So more than half of a store is forgotten by age only with --force.

    What remains is reused; `simcrawl compact` gives the space back.
    """
    given = [bool(urls), older_than is not None, everything].count(True)
    if given > 1:
        raise click.UsageError("URLs, --older-than and --all exclude each other: give one of them")
    if not given:
        raise click.UsageError("name the URLs of pages, or --older-than DAYS, or --all")
    if force and older_than is None:
        raise click.UsageError("--force is of no use without --older-than")
    if everything:
        reset(checked_path(store))
        show_values({"forgotten": "all"}, as_json=as_json)
        return 0
    with open_existing(store, readonly=False) as opened:
        forgotten = sum(map(opened.forget, urls)) if older_than is None else _forget_old(opened, older_than, force=force)
    show_values({"forgotten": forgotten}, as_json=as_json)
    return 0 if forgotten or not urls else NEGATIVE


def _forget_old(store: Store, days: float, *, force: bool) -> int:
    forgotten, before = 0, time() - days * 86_400
    if not force:
        _check_clock(store, days, before)
    with at_work("Forgetting") as move:
        for removed in store.expiring(before):
            forgotten += removed
            move(0, f"{forgotten} pages")
    return forgotten


def _check_clock(store: Store, days: float, before: float) -> None:
    old, pages = sum(store.counting_old(before)), store.size()["pages"]
    if 2 * old > pages:
        raise click.ClickException(
            f"{old} of {pages} pages were not seen for {days:g} days, more than half, and none is forgotten: look whether the clock is "
            f"right (it is {datetime.now(UTC).isoformat(' ', 'minutes')}), and give --force to forget them"
        )


def _open_like(tables: SortedTables | None, where: str) -> Store:
    """Return a store for the fingerprints of a file, made where there is none."""
    if tables is None:
        return open_store(where)
    if tables.seed is not None:
        return open_store(where, **_made_like(tables))
    try:
        return open_store(where, create=False, **_made_like(tables))
    except StoreFormatError as exc:
        if (Path(where) / "data.mdb").exists():
            raise
        raise _no_seed(tables, f"a new store at {where} needs it: name a store that has the seed") from exc


def _no_seed(tables: SortedTables, why: str) -> StoreMismatchError:
    return StoreMismatchError(f"{tables.path} does not hold the seed of its fingerprints, and {why}, or export it again with --with-seed")


def _seed_of(tables: SortedTables) -> str:
    """Return the hash of the seed of a file's fingerprints."""
    return tables.seed_hash or ("" if tables.seed is None else hash_of_seed(tables.seed))


def _made_like(tables: SortedTables) -> dict[str, Any]:
    """Return what a store is to be made with that takes a file's fingerprints, and is checked against one that is there."""
    # A recipe of the user's own has no name that could be looked up; the first crawl then binds the store.
    name = (tables.recipe or "").partition("/")[0]
    known = {"recipe": name} if name and "+" not in (tables.recipe or "") else {}
    return {"bits": tables.bits, "seed": tables.seed} | known


# ---- where fingerprints come from


@contextmanager
def _held(path: str) -> Iterator[_Held]:
    """Give the fingerprints of a store or of a file of sorted tables."""
    if _is_tables(Path(path)):
        tables = SortedTables(path)
        yield _Held(tables.fingerprint_chunks, tables.bits, _seed_of(tables), tables.recipe, len(tables), tables=tables)
        return
    with open_existing(path) as store:
        header = store.header
        seed, total = hash_of_seed(header.seed), store.size()["pages"]
        yield _Held(store.fingerprint_chunks, header.bits, seed, header.recipe, total, store)


def _is_tables(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _read_queries(source: str, held: _Held, workers: int | None) -> _Asked:
    path = Path(source)
    if _is_tables(path) or (path / "data.mdb").exists() or ":" in source.partition("/")[0]:
        with _held(source) as asked:
            _check_same(asked.recipe, asked.seed, held.recipe, held.seed, f"{source} and what is stored")
            return _Asked(batches.joined(asked.chunks()), None)
    if not path.exists():
        raise click.UsageError(f"{source} does not exist: give a store, a file of fingerprints, or pages")
    if path.is_dir() or not _has_fingerprints(path):
        return _read_pages(path, held, workers)
    return _read_fingerprints(path, held.bits)


def _check_same(recipe: str | None, seed: str, other_recipe: str | None, other_seed: str, what: str) -> None:
    """Refuse to compare fingerprints of two recipes or, by their hashes, of two seeds."""
    if recipe and other_recipe and recipe != other_recipe:
        raise StoreMismatchError(f"{what} cannot be compared: one was made with {recipe}, the other with {other_recipe}")
    if seed != other_seed:
        raise StoreMismatchError(
            f"{what} cannot be compared: they have different seeds. Load the pages of both into one store, or take exports of one"
        )


def _has_fingerprints(path: Path) -> bool:
    if {suffix.lower() for suffix in path.suffixes} & {".warc", ".gz"}:
        return False
    first = next(_lines(path), (1, ""))[1]
    return '"fingerprint"' in first or not first.startswith("{")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from ((number, line.strip()) for number, line in enumerate(file, 1) if line.strip())
    except (OSError, UnicodeDecodeError) as exc:
        raise click.UsageError(f"cannot read {path}: {exc}") from exc


def _read_fingerprints(path: Path, bits: int) -> _Asked:
    """Read hexadecimal lines, or JSON lines with a fingerprint and perhaps a url."""
    batches.check_word(bits)
    names, found = list[str](), list[int]()
    for number, line in _lines(path):
        try:
            row = json.loads(line) if line.startswith("{") else {"fingerprint": line}
            if row["fingerprint"] is not None:
                found.append(_narrow(from_hex(row["fingerprint"]), bits))
                names.append(row.get("url") or row["fingerprint"])
        except (ValueError, KeyError, TypeError) as exc:
            raise SettingError(f"{path}, line {number}: {line[:80]!r} has no fingerprint of {bits} bits ({exc})") from exc
    return _Asked(np.array(found, np.uint64), names)


def _narrow(fingerprint: int, bits: int) -> int:
    if fingerprint >> bits:
        raise ValueError(f"it has more than {bits} bits")
    return fingerprint


@contextmanager
def _detector(held: _Held, path: Path) -> Iterator[Detector]:
    """Give what makes pages as those were made that are held."""
    tables = held.tables
    if tables is None:
        yield Detector(cast("Store", held.store))
        return
    if tables.seed is None:
        raise _no_seed(tables, f"the pages of {path} cannot be compared without: name the store itself")
    with open_store("memory:", **_made_like(tables)) as store:
        detector = Detector(store)
        _check_same(tables.recipe or "no recipe", held.seed, store.header.recipe, held.seed, f"{tables.path} and pages")
        yield detector


def _read_pages(path: Path, held: _Held, workers: int | None) -> _Asked:
    names, found = list[str](), list[int]()
    with _detector(held, path) as detector, at_work("Extracting") as move:
        for page in make_pages(read_pages(path), detector.page_options, workers=workers):
            if isinstance(page, PageFingerprint):
                names.append(page.url)
                found.append(page.fingerprint)
            move(0, f"{len(found)} pages")
    return _Asked(np.array(found, np.uint64), names)


COMMANDS = (batch, clusters, load, export, import_, forget)
"""What this module adds to the command line."""
