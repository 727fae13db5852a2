"""docs/commands.md, from the commands themselves: `python -m tests.commands > docs/commands.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from simcrawl.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """\
# Commands

`simcrawl COMMAND --help` shows the same. In a Scrapy project `scrapy simcrawl COMMAND` fills in the project's `STORE`, and what the
project's settings say of a recipe and its thresholds. `--json` prints JSON; tables go to a terminal only, tab-separated lines elsewhere.

Written by `python -m tests.commands > docs/commands.md`; a test compares.

## Completion

The shell completes commands, options, recipes, files and stores. For bash, in `~/.bashrc`:

    eval "$(_SIMCRAWL_COMPLETE=bash_source simcrawl)"

For zsh, in `~/.zshrc`, with `zsh_source` in the place of `bash_source`. For fish:

    _SIMCRAWL_COMPLETE=fish_source simcrawl > ~/.config/fish/completions/simcrawl.fish
"""


def page() -> str:
    """Return the page."""
    return "\n".join(
        (_HEAD, _described("simcrawl", cli), *(_described(f"simcrawl {name}", cli.commands[name]) for name in sorted(cli.commands)))
    )


def _described(name: str, command: click.Command) -> str:
    arguments = [parameter.make_metavar(click.Context(command)) for parameter in command.params if isinstance(parameter, click.Argument)]
    tail = ["COMMAND"] if isinstance(command, click.Group) else arguments
    usage = " ".join((name, "[OPTIONS]", *tail))
    return "\n".join((f"## {name}\n", f"    {usage}\n", *map(_paragraph, (command.help or "").split("\n\n")), *_options(command)))


def _paragraph(text: str) -> str:
    if text.startswith("\b\n"):
        return "\n".join(f"  {line}" for line in text.strip("\b\n").splitlines()) + "\n"
    return text.strip() + "\n"


def _options(command: click.Command) -> Iterator[str]:
    options = [
        parameter for parameter in command.params if isinstance(parameter, click.Option) and parameter.help and not parameter.is_eager
    ]
    if options:
        yield "| option | |\n| --- | --- |"
        yield from map(_option, options)
        yield ""


def _option(option: click.Option) -> str:
    names = ", ".join((*option.opts, *option.secondary_opts))
    choices = "\\|".join(option.type.choices) if isinstance(option.type, click.Choice) else ""
    value = "" if option.is_flag else f" {choices or option.metavar or option.type.name.upper()}"
    default = f" Default: {option.default}." if option.show_default and option.default is not None else ""
    return f"| `{names}{value}` | {option.help}{default} |"


def examples() -> Iterator[tuple[str, str]]:
    """Yield (name of the command, line) of every example."""
    for name, command in {"": cli, **cli.commands}.items():
        for part in (command.help or "").split("\n\n"):
            if part.startswith("\b\n"):
                yield from ((name, line.strip()) for line in part.splitlines()[1:] if line.strip())


if __name__ == "__main__":
    sys.stdout.write(page())
