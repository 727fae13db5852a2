"""The command line: `simcrawl COMMAND`, and inside a Scrapy project `scrapy simcrawl COMMAND`, which knows the project's store.

Tables go to a terminal; into a pipe or a file go tab-separated lines, and with --json JSON. Exit codes: 0 success, 1 a negative answer
(no match, not a copy, problems found), 2 usage, 3 the store cannot be used, 4 a page on the web cannot be read.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections import Counter
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simcrawl import __version__
from simcrawl.cli.bulk import COMMANDS
from simcrawl.cli.compare import COMMANDS as COMPARING, match_row, page_row
from simcrawl.cli.dropped import COMMANDS as INSPECTING
from simcrawl.cli.output import (
    APART,
    NEGATIVE,
    as_json_line,
    at_work,
    checked_path as _on_disk,
    complete_file,
    complete_recipe,
    escaped,
    json_option as _json,
    open_existing as _open,
    recipe_option as _recipe,
    show as _show,
    show_values,
    store_argument as _store,
)
from simcrawl.cli.pages import read_page
from simcrawl.cli.report import COMMANDS as REPORTING
from simcrawl.cli.rethink import COMMANDS as RETHINKING
from simcrawl.cli.rules import COMMANDS as TEACHING
from simcrawl.cli.watch import COMMANDS as WATCHING
from simcrawl.detector import Detector
from simcrawl.errors import SettingError, SimcrawlError, StoreError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, fingerprint_page
from simcrawl.page.recipes import resolve
from simcrawl.rule import Rule
from simcrawl.store import compact as compact_store, rebuild as rebuild_store, upgrade as upgrade_store, verify as verify_store
from simcrawl.store.register import COPIES, Share
from simcrawl.tools import calibration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePath

    from simcrawl.page.recipes import Recipe
    from simcrawl.tools.calibration import Calibration, LabelledPair, Measured

STORE_ERROR = 3
_PAIR_FILES = ("pairs.jsonl", "pairs.csv")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__)
def cli() -> None:
    """Look into what simcrawl knows: which pages a crawl kept, and what it dropped as a copy of what.

    STORE is the directory of a store; a Scrapy project's own is .scrapy/simcrawl, and `scrapy simcrawl COMMAND` finds it by itself.
    PAGE is a file, an http(s) URL, or - for standard input.

      simcrawl stats STORE
      simcrawl duplicates STORE --kind near --sort similarity --limit 20
      simcrawl compare https://example.org/a https://example.org/b

    Exit codes: 0 success, 1 a negative answer, 2 wrong usage, 3 the store cannot be used, 4 a page on the web cannot be read.
    """


def main() -> None:
    """Run the command line."""
    try:
        code = run(sys.argv[1:], apart=True)
        sys.stdout.flush()
    except BrokenPipeError:
        # As in `run`. What is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def run(arguments: list[str], program: str = "simcrawl", defaults: dict[str, Any] | None = None, *, apart: bool = False) -> int:
    """Run a command and return its exit code, errors told on standard error. `defaults`: of the options of each command, by its name.

    `apart`: where the command only reads a store, this returns in a copy of this process, too: nothing but to exit may follow.
    """
    stdout = sys.stdout
    try:
        return cli.main(arguments, prog_name=program, standalone_mode=False, default_map=defaults, obj=APART if apart else None) or 0
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except click.ClickException as exc:
        exc.show()
        return exc.exit_code
    except click.Abort:
        click.echo("Aborted.", err=True)
        return NEGATIVE
    except SystemExit:
        # How click ends where whoever read has seen enough: `simcrawl duplicates STORE | head`. It then puts another stdout there.
        if sys.stdout is stdout:
            raise
        return 0
    except SimcrawlError as exc:
        click.echo(f"Error: {escaped(str(exc))}", err=True)
        return STORE_ERROR if isinstance(exc, StoreError) else 2


def store_commands() -> list[str]:
    """Return the commands whose first argument is a store, which a project knows."""
    return [name for name, command in cli.commands.items() if command.params and command.params[0].metavar == "STORE"]


@cli.command()
@_store
@_json
def stats(store: str, as_json: bool) -> None:
    """Say what a store holds.

    Pages, copies of them by kind, and how many of these were dropped; share: of the copies among these and the pages kept. Pages that were
    not fetched, for they are almost certainly copies by their URLs, count on their own and nowhere else. So do verdicts that were taken
    back (rejected), until their pages are kept.

      simcrawl stats STORE
      simcrawl stats STORE --json | jq .share
    """
    with _open(store) as opened, at_work("Reading"):
        header, counts, told = opened.header, opened.counts(), Counter[str]()
        for line in opened.duplicates():
            counted = line.standing
            told.update((counted, *(["dropped"] if line.dropped_page and counted in COPIES else [])))
    copies = sum(told[one] for one in COPIES)
    kinds = {name: told[name] for name in ("exact", "near", "dropped", "not_fetched", "rejected")}
    values = counts | {"duplicates": copies} | kinds | {"share": Share.of(copies, counts["pages"])}
    show_values(values | {"recipe": header.recipe, "bits": header.bits, "tables": len(opened.design.tables)}, as_json=as_json)


@cli.command()
@_store
@click.argument("page", metavar="PAGE", shell_complete=complete_file)
@click.option(
    "--max-distance",
    metavar="BITS",
    type=click.IntRange(0, 128),
    help="How many bits the pages shown may differ in; default: the recipe's.",
)
@click.option(
    "--recipe",
    metavar="NAME",
    shell_complete=complete_recipe,
    help="The store's recipe, as a dotted path, if it is not built in.",
)
@_json
def query(store: str, page: str, max_distance: int | None, recipe: str | None, as_json: bool) -> int:
    """Show the stored pages nearest to PAGE.

      simcrawl query STORE https://example.org/boat
      simcrawl query STORE boat.html --max-distance 16

    The exit code is 1 if none is near.
    """
    with _open(store) as opened:
        detector = Detector(opened, recipe=recipe)
        body, encoding = read_page(page)
        asked = detector.page(body, url=page, encoding=encoding)
        if isinstance(asked, Abstention):
            raise click.ClickException(f"{page} has no fingerprint: {asked.reason.value}")
        matches = opened.query(asked, max_distance)
        rows = [match_row(match.distance, detector.rule.compare(asked, match.page)) | {"url": match.url} for match in matches if match.page]
    _show(rows, as_json=as_json)
    return 0 if rows else NEGATIVE


@cli.command()
@click.argument("pages", metavar="PAGE...", nargs=-1, required=True, shell_complete=complete_file)
@_recipe
@_json
def fingerprint(pages: tuple[str, ...], recipe: str, as_json: bool) -> int:
    """Print the fingerprint of each PAGE, or why it has none.

    They are made with seed 0: compare them with each other, not with those of a store.

      simcrawl fingerprint *.html
      curl -s https://example.org/ | simcrawl fingerprint -
    """
    rows = [page_row(_fingerprint(page, recipe)) for page in pages]
    _show(rows, as_json=as_json)
    return 0 if all(row["fingerprint"] for row in rows) else NEGATIVE


@cli.command()
@_store
@_json
def verify(store: str, as_json: bool) -> int:
    """Look for contradictions in a store.

    Everything is read, by a process of its own, so that damage which ends that process is found as well. The exit code is 1 where there is
    a contradiction.

      simcrawl verify STORE && cp -r STORE backup/
    """
    with at_work("Verifying"):
        problems = verify_store(_on_disk(store))
    if as_json:
        click.echo(as_json_line({"problems": problems}))
    else:
        click.echo("\n".join(map(escaped, problems)) or "No problems found.")
    return NEGATIVE if problems else 0


@cli.command()
@_store
@click.option(
    "--design", metavar="NAME", required=True, help="Tables: 4, 10, 16 or 20 of the paper's, or blocks and chosen blocks such as 5:2."
)
@_json
def rebuild(store: str, design: str, as_json: bool) -> None:
    """Give a store the tables of another design.

    Its loaded pages and stopped crawls get them as well. Pages, verdicts and rejections stay. No crawl may use the store
    meanwhile; reading it is fine.

      simcrawl rebuild STORE --design 10
    """
    try:
        with at_work("Rebuilding"):
            rebuild_store(_on_disk(store), design)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
    with _open(store) as opened:
        counts = opened.counts()
        made = {"fingerprints": counts["fingerprints"], "tables": len(opened.design.tables), "bytes": counts["bytes"]}
    text = f"{made['fingerprints']} fingerprints in {made['tables']} tables, {made['bytes']} bytes."
    click.echo(json.dumps(made) if as_json else text)


@cli.command()
@_store
@_json
def compact(store: str, as_json: bool) -> None:
    """Give back the space that a store does not need.

    No crawl may use the store meanwhile; reading it is fine.

      simcrawl compact STORE
    """
    with at_work("Compacting"):
        given = compact_store(_on_disk(store))
    click.echo(json.dumps({"bytes": given}) if as_json else f"{given} bytes given back.")


@cli.command()
@_store
@click.option(
    "--recipe",
    metavar="NAME",
    shell_complete=complete_recipe,
    help="Go on with this recipe (a name or dotted path), or with that of the next crawl (auto); default: the store's own.",
)
@_json
def upgrade(store: str, recipe: str | None, as_json: bool) -> None:
    """Let this version go on with a store of an older one, or with one of another recipe.

    The register, rejections, texts, the history of crawls, and fingerprints without pages stay. So do pages of format 6 and of the same
    recipe; others stay known by their URLs and bytes, and the next crawl makes them again. No crawl may use the store meanwhile. As much
    free space is needed as the store takes.

      simcrawl upgrade STORE
    """
    with at_work("Upgrading"):
        done = upgrade_store(_on_disk(store), recipe)
    kept = {name: number for name, number in done.items() if name != "format" and number}
    told = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in kept.items())
    if "outdated" in kept:
        told += ". The next crawl, or load, makes outdated pages again"
    click.echo(json.dumps(done) if as_json else f"Format {done['format']} before. {told or 'Nothing had to be done'}.")


@cli.command()
@click.argument("labels", metavar="LABELS", type=click.Path(exists=True, path_type=Path))
@_recipe
@click.option(
    "--plot", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Draw the distances into a .svg or .png file."
)
@_json
def calibrate(labels: Path, recipe: str, plot: Path | None, as_json: bool) -> int:
    """Find the best settings for pages of your own.

    It takes pairs of them that you labelled.

    LABELS is a file of JSON lines, {"a": FILE, "b": FILE, "label": "near"}, or "different", or "grey" for a pair that nobody is sure of;
    with a_html and b_html for HTML instead of the name of a file; or a .csv of the columns a, b and label; or a folder with either as
    pairs.jsonl or pairs.csv. Files are relative to LABELS.

      simcrawl calibrate shop/ --plot distances.svg
      simcrawl reject STORE --labels wrong.jsonl && cat wrong.jsonl >> shop/pairs.jsonl

    The exit code is 1 if no settings keep all the different pairs apart.
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
        found = {"recipe": chosen.identity, "ignored": ignored} | calibration.as_object(result, recipe=recipe) | {"wrong": wrong}
        click.echo(as_json_line(found))
    else:
        _show_calibration(result, recipe, wrong, ignored)
    return 0 if result.choice else NEGATIVE


def _show_calibration(result: Calibration, recipe: str, wrong: list[dict[str, Any]], ignored: int) -> None:
    by_distance, by_similarity = calibration.rows(result, resolve(recipe).max_distance)
    _show(by_distance)
    _show(by_similarity)
    if wrong:
        click.echo(f"\nPairs that {'these settings' if result.choice else 'the recipe'} would get wrong:")
        _show(wrong)
    click.echo("\n".join(("", *calibration.conclusions(result, ignored, recipe=recipe))))


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

    with at_work("Pairs", len(pairs)) as move:
        for number, pair in enumerate(pairs, 1):
            if pair.near is not None:
                yield calibration.measure(page(pair.a, pair.line), page(pair.b, pair.line), line=pair.line, near=pair.near, rule=rule)
            move(number)


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
    body, encoding = read_page(source)
    return fingerprint_page(body, url=source, encoding=encoding, recipe=recipe)


def _with_examples(text: str) -> str:
    """Return a help text whose indented paragraphs click leaves as they are: examples."""
    return "\n\n".join(f"\b\n{part}" if part.startswith("  ") else part for part in cleandoc(text).split("\n\n"))


for _command in (*INSPECTING, *COMPARING, *COMMANDS, *REPORTING, *RETHINKING, *TEACHING, *WATCHING):
    cli.add_command(_command)
for _command in (cli, *cli.commands.values()):
    _command.help = _with_examples(_command.help or "")
