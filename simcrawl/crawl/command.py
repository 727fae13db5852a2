"""`scrapy simcrawl COMMAND`: the command line with the project's own store filled in.

Scrapy imports this module for every `scrapy` invocation: nothing heavy at its top.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.utils.project import inside_project

if TYPE_CHECKING:
    import argparse


class SimcrawlCommand(ScrapyCommand):
    """Hands its arguments on to `simcrawl.cli`, after the store where the command wants one."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Return the usage line's tail."""
        return "COMMAND [arguments]"

    def short_desc(self) -> str:
        """Return the line of `scrapy --help`."""
        return "Look into the project's simcrawl store (scrapy simcrawl --help)"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002 - Scrapy passes it
        """Run the sub-command and take over its exit code."""
        from simcrawl.cli import STORE_COMMANDS, run  # noqa: PLC0415
        from simcrawl.config import Config  # noqa: PLC0415
        from simcrawl.crawl.session import store_path  # noqa: PLC0415
        from simcrawl.errors import SettingError  # noqa: PLC0415

        # Requires_project is not enforced for commands that come from an entry point.
        if not inside_project():
            raise UsageError("no Scrapy project here: use `simcrawl COMMAND STORE` instead")
        arguments = list(args)
        if arguments and arguments[0] in STORE_COMMANDS and "--help" not in arguments:
            try:
                config = Config.from_settings(self.settings.get)  # type: ignore[union-attr]  # Scrapy sets it before
            except SettingError as exc:
                raise UsageError(str(exc)) from exc
            arguments.insert(1, store_path(config.store))
        self.exitcode = run(arguments or ["--help"], program="scrapy simcrawl")
        sys.stdout.flush()
