"""`scrapy simcrawl COMMAND`: the command line with the project's own store filled in.

Scrapy imports this module for every `scrapy` invocation: nothing heavy at its top.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.utils.project import inside_project

if TYPE_CHECKING:
    import argparse

    from simcrawl.config import Config


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

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's own options, and leave --help to the sub-command."""
        super().add_options(parser)
        parser.add_argument("-h", "--help", action="store_true", dest="help_wanted", help="show the help of a sub-command and exit")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the sub-command and take over its exit code."""
        from simcrawl.cli import IN_PROJECT, run, store_commands  # noqa: PLC0415
        from simcrawl.config import Config  # noqa: PLC0415
        from simcrawl.crawl.common import store_path  # noqa: PLC0415
        from simcrawl.errors import SettingError  # noqa: PLC0415

        # Requires_project is not enforced for commands that come from an entry point.
        if not inside_project():
            raise UsageError("no Scrapy project here: use `simcrawl COMMAND STORE` instead")
        arguments = [*args, "--help"] if opts.help_wanted or not args else list(args)
        if "--help" in arguments:
            self.exitcode = run(arguments, program=IN_PROJECT)
            return
        try:
            config = Config.from_settings(self.settings.get)  # type: ignore[union-attr]  # Scrapy sets it before
            store = store_path(config.store)
        except SettingError as exc:
            raise UsageError(str(exc)) from exc
        if arguments[0] in store_commands():
            arguments.insert(1, store)
        self.exitcode = run(arguments, program=IN_PROJECT, defaults=_defaults(config, store), apart=True)
        sys.stdout.flush()


def _defaults(config: Config, store: str) -> dict[str, Any]:
    """Return what the project's settings mean for the options of commands."""
    recipe = {"recipe": config.recipe} if isinstance(config.recipe, str) else {}
    thresholds = {name: getattr(config, name) for name in ("max_distance", "min_similarity", "min_around")}
    # As the crawl compared them, and with their texts.
    known = {"store": store, "fetch": True} if _directory(store).joinpath("data.mdb").exists() else {}
    return {"batch": {"stored": store}, "compare": recipe | thresholds | known, "fingerprint": recipe, "calibrate": recipe}


def _directory(store: str) -> Path:
    return Path(unquote(urlsplit(store).path) if store.startswith("lmdb://") else store)
