"""The command line, one file a group of commands; `program` puts them together."""

from __future__ import annotations

from simcrawl.cli.program import cli, main, run, store_commands

__all__ = ["cli", "main", "run", "store_commands"]
