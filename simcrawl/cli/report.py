"""The command that writes the report."""

from __future__ import annotations

from pathlib import Path
from time import time

import click
from rich.filesize import decimal

from simcrawl.cli.output import (
    as_json_line,
    at_work,
    json_option,
    open_existing,
    store_argument,
)


@click.command()
@store_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the report goes; default: report.html, or with --json the output.",
)
@json_option
def report(store: str, output: Path | None, as_json: bool) -> None:
    """Write what a store knows as one HTML file, to open or to send.

    It needs no network. It shows what was dropped as a copy of what, clusters, mirrors, charts and settings, and if texts were kept
    (SIMCRAWL_KEEP_TEXT), what differs between a near-duplicate and its original. With --json its tables are printed instead.

      simcrawl report STORE -o report.html
    """
    # Loaded on use: other commands need neither charts nor templates.
    from simcrawl.report import gather, render  # noqa: PLC0415

    with open_existing(store) as opened:
        counts = opened.counts()
        with at_work("Reading", counts["pages"] + counts["duplicates"]) as move:
            facts = gather(opened, move=move)
        if as_json:
            line = as_json_line(facts.as_object())
            _write(output, f"{line}\n") if output else click.echo(line)
            return
        html = render(facts, name=Path(store).name, text_of=opened.text, made=time())
    output = output or Path("report.html")
    _write(output, html)
    click.echo(f"{output}: {facts.copies} copies of {facts.kept} pages, {decimal(output.stat().st_size)}.")


def _write(output: Path, text: str) -> None:
    try:
        output.write_bytes(text.encode("utf-8", "replace"))
    except OSError as exc:
        raise click.UsageError(f"cannot write {output}: {exc}") from exc


COMMANDS = (report,)
"""What this module adds to the command line."""
