"""The command line: `simcrawl COMMAND`, and inside a Scrapy project `scrapy simcrawl COMMAND`, which knows the project's store.

Tables go to a terminal; into a pipe or a file go tab-separated lines, and with --json JSON. Exit codes: 0 fine, 1 a negative answer
(no match, not a copy, problems found), 2 usage, 3 the store cannot be used.
"""

from __future__ import annotations

import gzip
import json
import sys
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import click
from rich.console import Console
from rich.progress import track

from simcrawl import __version__, calibration, cli_bulk, cli_report
from simcrawl.cli_output import (
    checked_path as _on_disk,
    json_option as _json,
    open_existing as _open,
    show as _show,
    store_argument as _store,
)
from simcrawl.detector import Detector, compare as compare_pages
from simcrawl.errors import SettingError, SimcrawlError, StoreError
from simcrawl.pages import MAX_PAGE_BYTES, Abstention, PageFingerprint, Reason, fingerprint_page
from simcrawl.recipes import resolve
from simcrawl.rule import Rule
from simcrawl.store import compact as compact_store, rebuild as rebuild_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePath

    from simcrawl.calibration import Calibration, LabelledPair, Measured
    from simcrawl.recipes import Recipe

NEGATIVE = 1
STORE_ERROR = 3
STORE_COMMANDS = (
    *("stats", "query", "duplicates", "verify", "rebuild", "compact", "forget"),
    *("clusters", "load", "export", "import", "report"),
)
"""Commands whose first argument is a store."""

_recipe = click.option("--recipe", default="auto", show_default=True, help="Name of the recipe, or a dotted path to one.")
_FETCH_SECONDS = 30
_PAIR_FILES = ("pairs.jsonl", "pairs.csv")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Look into what simcrawl knows: which pages a crawl kept, and what it dropped as a copy of what.

    STORE is the directory of a store; a Scrapy project's own is .scrapy/simcrawl, and `scrapy simcrawl COMMAND` finds it by itself.
    PAGE is a file, an http(s) URL, or - for standard input.
    """


def main() -> None:
    """Run the command line."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str], program: str = "simcrawl") -> int:
    """Run a command and return its exit code, errors told on standard error."""
    try:
        return cli.main(arguments, prog_name=program, standalone_mode=False) or 0
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except click.ClickException as exc:
        exc.show()
        return exc.exit_code
    except click.Abort:
        click.echo("Aborted.", err=True)
        return NEGATIVE
    except SimcrawlError as exc:
        click.echo(f"Error: {exc}", err=True)
        return STORE_ERROR if isinstance(exc, StoreError) else 2


@cli.command()
@_store
@_json
def stats(store: str, as_json: bool) -> None:
    """Say what a store holds."""
    with _open(store) as opened:
        header = opened.header
        values = opened.counts() | {"recipe": header.recipe, "bits": header.bits, "tables": len(opened.design.tables)}
    _show([values], as_json=as_json) if as_json else _show([{"": name, "value": value} for name, value in values.items()])


@cli.command()
@_store
@click.argument("page", metavar="PAGE")
@click.option("--max-distance", type=click.IntRange(0, 128), help="Differing bits up to which pages are shown; default: the recipe's.")
@click.option("--recipe", help="Dotted path to the recipe of the store, where it is none of simcrawl's own.")
@_json
def query(store: str, page: str, max_distance: int | None, recipe: str | None, as_json: bool) -> int:
    """Show the stored pages nearest to PAGE."""
    with _open(store) as opened:
        detector = Detector(opened, recipe=recipe)
        body, encoding = _read(page)
        asked = detector.page(body, url=page, encoding=encoding)
        if isinstance(asked, Abstention):
            raise click.ClickException(f"{page} has no fingerprint: {asked.reason.value}")
        matches = opened.query(asked, max_distance)
        rows = [
            _match_row(match.distance, detector.rule.compare(asked, match.page)) | {"url": match.url} for match in matches if match.page
        ]
    _show(rows, as_json=as_json)
    return 0 if rows else NEGATIVE


def _match_row(distance: int, comparison: Any) -> dict[str, Any]:
    similarity = comparison.similarity
    return {
        "distance": distance,
        "similarity": None if similarity is None else round(similarity, 3),
        "near-duplicate": comparison.is_near_duplicate,
    }


@cli.command()
@click.argument("page_a", metavar="PAGE")
@click.argument("page_b", metavar="PAGE")
@_recipe
@_json
def compare(page_a: str, page_b: str, recipe: str, as_json: bool) -> int:
    """Say whether two pages are copies of each other, by the rule that a crawl goes by."""
    pages = [_fingerprint(page, recipe) for page in (page_a, page_b)]
    rows = [_page_row(page) for page in pages]
    a, b = pages
    if isinstance(a, PageFingerprint) and isinstance(b, PageFingerprint):
        result = compare_pages(a, b, rule=Rule.of(resolve(recipe)))
        answer = _match_row(result.distance, result)
    else:
        same = a.body_digest == b.body_digest and getattr(a, "reason", None) is not Reason.EMPTY
        answer = {"distance": None, "similarity": 1.0 if same else None, "near-duplicate": same}
    if as_json:
        click.echo(json.dumps(answer | {"pages": rows}, ensure_ascii=False))
    else:
        _show(rows)
        _show([answer])
    return 0 if answer["near-duplicate"] else NEGATIVE


@cli.command()
@click.argument("pages", metavar="PAGE...", nargs=-1, required=True)
@_recipe
@_json
def fingerprint(pages: tuple[str, ...], recipe: str, as_json: bool) -> int:
    """Print the fingerprint of each PAGE, or why it has none. Seed 0: comparable among themselves, not with a store's."""
    rows = [_page_row(_fingerprint(page, recipe)) for page in pages]
    _show(rows, as_json=as_json)
    return 0 if all(row["fingerprint"] for row in rows) else NEGATIVE


@cli.command()
@_store
@_json
def duplicates(store: str, as_json: bool) -> None:
    """List what was recognised as a copy: of what, why, when, and what was done about it."""
    with _open(store) as opened:
        _show((_duplicate_row(line) for line in opened.duplicates()), as_json=as_json)


def _duplicate_row(line: Any) -> dict[str, Any]:
    done = [name for name, dropped in (("page", line.dropped_page), ("outlinks", line.dropped_outlinks)) if dropped]
    return {
        "url": line.url,
        "original": line.original,
        "reason": line.reason,
        "distance": line.distance,
        "similarity": None if line.similarity is None else round(line.similarity, 3),
        "dropped": " and ".join(done) or "nothing",
        "when": datetime.fromtimestamp(line.when, UTC).isoformat(timespec="seconds"),
    }


@cli.command()
@_store
@_json
def verify(store: str, as_json: bool) -> int:
    """Read a whole store and report every contradiction in it."""
    with _open(store) as opened:
        problems = opened.verify()
    if as_json:
        click.echo(json.dumps({"problems": problems}))
    else:
        click.echo("\n".join(problems) or "No problems found.")
    return NEGATIVE if problems else 0


@cli.command()
@_store
@click.option("--design", required=True, help="Tables: 4, 10, 16 or 20 of the paper's, or blocks and chosen blocks such as 5:2.")
def rebuild(store: str, design: str) -> None:
    """Give a store the tables of another design, without crawling again. Nobody may have it open."""
    try:
        rebuild_store(_on_disk(store), design)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
    with _open(store) as opened:
        counts = opened.counts()
        click.echo(f"{counts['fingerprints']} fingerprints in {len(opened.design.tables)} tables, {counts['bytes']} bytes.")


@cli.command()
@_store
def compact(store: str) -> None:
    """Give back the space that a store does not need any more. Nobody may have it open."""
    click.echo(f"{compact_store(_on_disk(store))} bytes given back.")


@cli.command()
@click.argument("labels", metavar="LABELS", type=click.Path(exists=True, path_type=Path))
@_recipe
@click.option("--plot", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Draw the distances, as .svg or .png.")
@_json
def calibrate(labels: Path, recipe: str, plot: Path | None, as_json: bool) -> int:
    """Find the best settings for pages of your own, by pairs of them that you labelled.

    LABELS is a file of JSON lines, {"a": FILE, "b": FILE, "label": "near"}, or "different", or "grey" for a pair that nobody is sure of;
    with a_html and b_html for HTML instead of the name of a file; or a .csv of the columns a, b and label; or a folder with either as
    pairs.jsonl or pairs.csv. Files are relative to LABELS.
    """
    chosen = resolve(recipe)
    if plot:
        calibration.check_plot(plot.suffix[1:])
    file = _pairs_file(labels)
    pairs = list(_labelled(file))
    measured = list(_measured(pairs, file, chosen))
    result = calibration.calibrate(measured, max_distance=chosen.max_distance, verified=chosen.sketch_registers > 0)
    if plot:
        radius = (result.choice or chosen).max_distance
        _write(plot, calibration.draw(measured, radius, file_format=plot.suffix[1:]))
    wrong = calibration.wrong_pairs(measured, pairs, result.choice or chosen)
    ignored = len(pairs) - len(measured)
    if as_json:
        found = {"recipe": chosen.identity, "ignored": ignored} | calibration.as_object(result) | {"wrong": wrong}
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        _show_calibration(result, chosen, wrong, ignored)
    return 0 if result.choice else NEGATIVE


def _show_calibration(result: Calibration, recipe: Recipe, wrong: list[dict[str, Any]], ignored: int) -> None:
    by_distance, by_similarity = calibration.rows(result, recipe.max_distance)
    _show(by_distance)
    _show(by_similarity)
    if wrong:
        click.echo(f"\nPairs that {'these settings' if result.choice else 'the recipe'} would get wrong:")
        _show(wrong)
    click.echo("\n".join(("", *calibration.conclusions(result, ignored))))


def _pairs_file(labels: Path) -> Path:
    if not labels.is_dir():
        return labels
    found = [labels / name for name in _PAIR_FILES if (labels / name).is_file()]
    if len(found) != 1:
        raise click.UsageError(f"{labels} must hold one list of pairs, {' or '.join(_PAIR_FILES)}; it holds {len(found)}")
    return found[0]


def _labelled(file: Path) -> Iterator[LabelledPair]:
    columns = ".csv" in file.suffixes
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8-sig", newline="") as lines:
            yield from calibration.read_pairs(lines, name=str(file), columns=columns)
    except SettingError:
        raise
    except (OSError, ValueError, EOFError) as exc:
        raise click.UsageError(f"cannot read {file}: {exc}") from exc


def _measured(pairs: list[LabelledPair], file: Path, recipe: Recipe) -> Iterator[Measured]:
    rule, known = Rule.of(recipe), dict[Path, PageFingerprint | Abstention]()

    def page(source: PurePath | str, line: int) -> PageFingerprint | Abstention:
        if isinstance(source, str):
            return fingerprint_page(source, recipe=recipe)
        path = file.parent / source
        return known.get(path) or known.setdefault(path, fingerprint_page(_listed(path, f"{file}, line {line}"), recipe=recipe))

    for pair in track(pairs, "Pairs", console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()):
        if pair.near is not None:
            yield calibration.measure(page(pair.a, pair.line), page(pair.b, pair.line), line=pair.line, near=pair.near, rule=rule)


def _listed(path: Path, where: str) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as exc:
        raise click.UsageError(f"{where}: cannot read {path}: {exc}; names are relative to the list of pairs") from exc


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as exc:
        raise click.UsageError(f"cannot write {file}: {exc}") from exc


def _fingerprint(source: str, recipe: str) -> PageFingerprint | Abstention:
    body, encoding = _read(source)
    return fingerprint_page(body, url=source, encoding=encoding, recipe=recipe)


def _read(source: str) -> tuple[bytes, str | None]:
    """Return a page's bytes and the encoding that its server declares."""
    try:
        if source.startswith(("http://", "https://")):
            return _fetch(source)
        return (sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()), None
    except (OSError, HTTPException, ValueError) as exc:
        raise click.UsageError(f"cannot read {source}: {exc}") from exc


def _fetch(url: str) -> tuple[bytes, str | None]:
    request = Request(url, headers={"User-Agent": f"simcrawl/{__version__}"})  # noqa: S310 - the caller looked at the scheme
    with urlopen(request, timeout=_FETCH_SECONDS) as response:  # noqa: S310
        return response.read(MAX_PAGE_BYTES + 1), response.headers.get_content_charset()


def _page_row(page: PageFingerprint | Abstention) -> dict[str, Any]:
    found = isinstance(page, PageFingerprint)
    return {
        "page": page.url,
        "fingerprint": page.hex if isinstance(page, PageFingerprint) else None,
        "characters": page.text_length,
        "abstains": None if found else page.reason.value,  # type: ignore[union-attr]  # found tells which it is
    }


for _command in (*cli_bulk.COMMANDS, *cli_report.COMMANDS):
    cli.add_command(_command)
