"""docs/commands.md against the commands, and the examples in the help of each."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from simcrawl.cli import cli
from tests.commands import examples, page

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_commands_is_what_the_commands_say():
    assert (DOCS / "commands.md").read_text() == page(), "python -m tests.commands > docs/commands.md"


@pytest.mark.parametrize("name", cli.commands)
def test_every_command_teaches_by_an_example(name: str):
    assert [line for command, line in examples() if command == name and f"simcrawl {name} " in line]
    assert all(option.help for option in cli.commands[name].params if isinstance(option, click.Option))


@pytest.mark.parametrize("line", [line for _, line in examples() if "simcrawl " in line])
def test_every_example_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("wrong.jsonl", "crawl-2025.warc.gz", "pages.tables"):
        Path(name).touch()
    for name in ("mirror", "shop"):
        Path(name).mkdir()
    for part in line.replace("&&", "|").split("|"):
        words = shlex.split(part.partition(">")[0])
        if words[0] == "simcrawl":
            command = cli.commands[words[1]]
            command.make_context(words[1], words[2:])
