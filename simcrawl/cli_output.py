"""What all commands share: how they find a store, print rows, and show that they are at work."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from simcrawl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.store import Store

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
store_argument = click.argument("store", metavar="STORE")


def open_existing(path: str, *, readonly: bool = True) -> Store:
    """Return the store at a path; none is made. `readonly`: without ever waiting for those who write to it, nor they for it.

    Raises:
        StoreError: there is none.
    """
    return open_store(checked_path(path), create=False, readonly=readonly)


def checked_path(path: str) -> str:
    """Return the path of a store that outlives its process."""
    if path.startswith("memory:"):
        raise click.UsageError("a memory: store ends with its crawl: set SIMCRAWL_STORE to a directory to look into it later")
    return path


@contextmanager
def at_work(title: str, total: float | None = None) -> Iterator[Callable[..., None]]:
    """Give what moves a progress bar on a terminal's standard error to a place, with a remark; elsewhere nothing is shown."""
    console = Console(stderr=True)
    # Not redirected: rich would send what a command prints to the bar's standard error.
    with Progress(console=console, transient=True, redirect_stdout=False, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(title, total=total)

        def move(done: float, remark: str = "") -> None:
            bar.update(task, completed=done, description=f"{title} {remark}".rstrip())

        yield move


def show(rows: Iterable[dict[str, Any]], *, as_json: bool = False) -> None:
    """Print rows as JSON lines, as a table on a terminal, as tab-separated lines elsewhere."""
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
    elif sys.stdout.isatty():
        _print_table(list(rows))
    else:
        for row in rows:
            click.echo("\t".join(map(_cell, row.values())))


def _print_table(rows: list[dict[str, Any]]) -> None:
    table = Table(show_header=bool(rows))
    for name in rows[0] if rows else ():
        table.add_column(name, overflow="fold")
    add: Callable[..., None] = partial(table.add_row)
    for row in rows:
        add(*map(Text, map(_cell, row.values())))  # plain: brackets in a URL are no markup
    if rows:
        Console().print(table)
    else:
        click.echo("Nothing found.")


def _cell(value: Any) -> str:
    return {None: "-", True: "yes", False: "no"}.get(value, str(value)) if value is None or isinstance(value, bool) else str(value)
