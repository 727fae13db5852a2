"""What all commands share: how they find a store, print rows, and show that they are at work."""

from __future__ import annotations

import csv
import json
import re
import sys
from contextlib import contextmanager
from functools import partial
from threading import Timer
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from simcrawl.config import SETTINGS
from simcrawl.page.recipes import RECIPES
from simcrawl.store import open_store
from simcrawl.store.apart import go_on_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.config import Number
    from simcrawl.store import Store


def threshold_option(setting: str, metavar: str) -> Callable[[Any], Any]:
    """Return the option that stands for a threshold's setting, with its bounds."""
    number = cast("Number", SETTINGS[setting].read)
    kind = click.IntRange if number.kind is int else click.FloatRange
    flag = f"--{setting.removeprefix('SIMCRAWL_').lower().replace('_', '-')}"
    bounds: Any = kind(cast("Any", number.low), cast("Any", number.high))
    return click.option(flag, metavar=metavar, type=bounds, help=f"As {setting}; default: the recipe's.")


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
BAR_AFTER = 1.0
NEGATIVE = 1
"""The exit code of a negative answer."""
IN_PROJECT = "scrapy simcrawl"
"""The program's name inside a Scrapy project, whose store it knows."""
APART = "apart"
"""The object of a click context whose program is all that its process does."""


# What a terminal would obey (&#27; is ESC), what ends a line or a cell, what no encoding has, and what turns the direction of a text about,
# so that it seems to be another one. A page or a URL may hold any of it.
_NO_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_BUT_LAYOUT = re.compile(_NO_TEXT.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_PASSWORD = re.compile(r"(?P<user>\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:]*):[^\s/?#@]*(?:@[^\s/?#@]*)*@")
_USER = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#]*@")
# What a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    """Return a text of lines that a terminal shows and does not obey: control characters and lone surrogates replaced."""
    return _BUT_LAYOUT.sub("\ufffd", text)


def escaped(text: str) -> str:
    """Return a text as one cell of one line: what a terminal, or whoever reads lines, would obey is written as Python does.

    Passwords in URLs are left out.
    """
    return _NO_TEXT.sub(_escape, hide_password(text))


def hide_password(text: str) -> str:
    """Return a text whose URLs have no passwords."""
    return _PASSWORD.sub(r"\g<user>:***@", text) if "@" in text else text


def as_line(url: str) -> str:
    """Return a URL as one line that leads to the same page: what ends a line, or a terminal obeys, as `%0A`; no user and password."""
    return _NO_TEXT.sub(lambda found: quote(found[0].encode("utf-8", "surrogatepass")), _USER.sub(r"\1", url))


def as_json_line(value: Any) -> str:
    """Return a value as a line of JSON that may be shown on a terminal; without passwords of URLs."""
    return _NO_TEXT.sub(_json_escape, json.dumps(_without_passwords(value), ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _json_escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _without_passwords(value: Any) -> Any:
    if isinstance(value, str):
        return hide_password(value)
    if isinstance(value, dict):
        return {_without_passwords(name): _without_passwords(one) for name, one in value.items()}
    return [_without_passwords(one) for one in value] if isinstance(value, list | tuple) else value


def complete_directory(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's
    """Let the shell complete a store."""
    return [CompletionItem(incomplete, type="dir")]


def complete_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - as above
    """Let the shell complete a page, which may be a file."""
    return [CompletionItem(incomplete, type="file")]


def complete_recipe(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - as above
    """Return the built-in recipes that begin so."""
    return [CompletionItem(name) for name in ("auto", *RECIPES) if name.startswith(incomplete)]


class StoreArgument(click.Argument):
    """The store of a command, which inside a project is not named."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return what stands for it in the usage line."""
        return [] if ctx.find_root().info_name == IN_PROJECT else super().get_usage_pieces(ctx)


store_argument = click.argument("store", metavar="STORE", cls=StoreArgument, shell_complete=complete_directory)
recipe_option = click.option(
    "--recipe",
    default="auto",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_recipe,
    help="A recipe by its name or dotted path.",
)


def open_existing(path: str, *, readonly: bool = True) -> Store:
    """Return the store at a path; none is made. `readonly`: without ever waiting for those who write to it, nor they for it.

    A program that only reads goes on in a copy of itself, which damage may end: see `simcrawl.store.apart`.

    Raises:
        StoreError: there is none, or reading it ended that copy.
        click.exceptions.Exit: the copy has done the rest.
    """
    where, context = checked_path(path), click.get_current_context(silent=True)
    if readonly and context and context.obj == APART:
        # Once: a copy must not go on with a store that was opened before it was made.
        context.obj = None
        if (code := go_on_apart(where)) is not None:
            raise click.exceptions.Exit(code)
    return open_store(where, create=False, readonly=readonly)


def checked_path(path: str) -> str:
    """Return the path of a store that outlives its process."""
    if path.startswith("memory:"):
        raise click.UsageError("a memory: store ends with its crawl: set SIMCRAWL_STORE to a directory to look into it later")
    return path


@contextmanager
def at_work(title: str, total: float | None = None) -> Iterator[Callable[..., None]]:
    """Give what moves a progress bar on a terminal's standard error to a place, with a remark; elsewhere nothing is shown.

    Nor where the work is done within `BAR_AFTER` seconds.
    """
    # Not redirected: rich would send what a command prints to the bar's standard error.
    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False, disable=not sys.stderr.isatty())
    task = bar.add_task(title, total=total)

    def move(done: float, remark: str = "") -> None:
        bar.update(task, completed=done, description=f"{title} {remark}".rstrip())

    timer = Timer(BAR_AFTER, bar.start)
    timer.start()
    try:
        yield move
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def show(
    rows: Iterable[dict[str, Any]],
    *,
    as_json: bool = False,
    as_csv: bool = False,
    view: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    title: str | None = None,
) -> None:
    """Print rows as JSON lines, as comma-separated lines, as a table on a terminal, as tab-separated lines elsewhere.

    `view`: makes the row of a terminal's table, whose cells may be rich's `Text`. `title`: a line above that table.
    """
    if as_json:
        for row in rows:
            click.echo(as_json_line(row))
    elif as_csv:
        _write_csv(rows)
    elif sys.stdout.isatty():
        if title:
            Console().print(Text(f"\n{title}", "bold"), soft_wrap=True)
        plain = map(_printable_row, rows)
        _print_table([view(row) for row in plain] if view else list(plain))
    else:
        for row in rows:
            click.echo("\t".join(escaped(_cell(value)) for value in row.values()))


def show_values(values: dict[str, Any], *, as_json: bool) -> None:
    """Print one thing's values: one a line, or as one JSON object."""
    show([values], as_json=True) if as_json else show({"": name, "value": value} for name, value in values.items())


def _write_csv(rows: Iterable[dict[str, Any]]) -> None:
    writer: Any = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(sys.stdout, row.keys(), lineterminator="\n")
            writer.writeheader()
        writer.writerow({name: _csv_cell(value) for name, value in row.items()})


def _csv_cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # An apostrophe: spreadsheets then take it for text.
    return f"'{escaped(value)}" if value.startswith(_FORMULA) else escaped(value)


def show_entries(rows: Iterable[dict[str, Any]], entry: Callable[[dict[str, Any]], Text]) -> None:
    """Print rows whose URLs are longer than a column of a table: as text that the terminal breaks, tab-separated lines elsewhere."""
    if not sys.stdout.isatty():
        show(rows)
        return
    console, empty = Console(), True
    for row in rows:
        empty = False
        console.print(entry(_printable_row(row)), soft_wrap=True)
    if empty:
        click.echo("Nothing found.")


def _printable_row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: escaped(value) if isinstance(value, str) else value for name, value in row.items()}


def _print_table(rows: list[dict[str, Any]]) -> None:
    if not rows:
        click.echo("Nothing found.")
        return
    table = Table()
    for name in rows[0]:
        numbers = all(_is_number(row.get(name)) for row in rows) and any(row.get(name) is not None for row in rows)
        table.add_column(name.replace("_", " "), overflow="fold", justify="right" if numbers else "left")
    add: Callable[..., None] = partial(table.add_row)
    for row in rows:
        add(*map(_terminal_cell, row.values()))
    Console().print(table)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _terminal_cell(value: Any) -> Text:
    # Plain: brackets in a URL are no markup.
    if isinstance(value, Text):
        return value
    return Text({int: "{:,}", float: "{:.3f}"}[type(value)].format(value) if type(value) in (int, float) else _cell(value))


def _cell(value: Any) -> str:
    return {None: "-", True: "yes", False: "no"}.get(value, str(value)) if value is None or isinstance(value, bool) else str(value)
