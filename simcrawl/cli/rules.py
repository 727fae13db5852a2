"""The command for what a store teaches of URLs: which of them lead to copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from simcrawl.cli.output import at_work, json_option, open_existing, show, show_entries, store_argument
from simcrawl.urls.learned import process_links, url_discarder
from simcrawl.urls.recall import learned

if TYPE_CHECKING:
    from simcrawl.urls.learned import LearnedRule

_FORMATS = {"duplicate-url-discarder": url_discarder, "python": process_links}
# From which lower bound on a crawl skips by default.
_SURE = 0.95


@click.command()
@store_argument
@click.option(
    "--min-confidence",
    metavar="0..1",
    type=click.FloatRange(0, 1),
    help="Only rules of at least that confidence; default: all, or .95 with --format.",
)
@click.option(
    "--min-saves",
    metavar="N",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Only rules that save at least that many fetches.",
)
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Only the first N.")
@click.option("--format", "as_format", type=click.Choice(list(_FORMATS)), help="Print them for another program instead.")
@json_option
def rules(*, store: str, min_confidence: float | None, min_saves: int, limit: int | None, as_format: str | None, as_json: bool) -> None:
    """List the rules that a store teaches: which URLs lead to copies.

    Those that save most fetches first: pages that were copies by the rule, of those that it was tried on (support). The confidence is a
    lower bound of that share. "*" stands for what does not matter in a URL, "{}" for what names the page. Crawls on the store follow these
    rules by themselves; --format is for other crawlers.

    duplicate-url-discarder is a library that keeps Scrapy from asking twice; python is a process_links function for a CrawlSpider, of the
    rules that the library does not understand. Both trust a rule without looking, and hold rules within one host only.

      simcrawl rules STORE --json | jq .rule
      simcrawl rules STORE --format python > links.py
    """
    if as_format and as_json:
        raise click.UsageError("--format and --json exclude each other: give one of them")
    least = min_confidence if min_confidence is not None else _SURE if as_format else 0.0
    with open_existing(store) as opened, at_work("Reading"):
        found = [rule for rule in learned(opened) if rule.confidence >= least and rule.saves >= min_saves][:limit]
    if as_format:
        click.echo(_FORMATS[as_format](found))
    elif as_json:
        show(map(_object, found), as_json=True)
    else:
        show_entries(map(_row, found), _entry)


def _row(rule: LearnedRule) -> dict[str, Any]:
    copy, original = rule.examples[0]
    values = {"saves": rule.saves, "support": rule.support, "confidence": round(rule.confidence, 3)}
    return {**values, "rule": rule.rule, "where": rule.where, "copy": copy, "original": original}


def _object(rule: LearnedRule) -> dict[str, Any]:
    row = _row(rule)
    return {name: row[name] for name in ("rule", "where", "confidence", "support", "saves")} | {"examples": rule.examples}


def _entry(row: dict[str, Any]) -> Text:
    figures = f"  saves {row['saves']:,} of {row['support']:,}, confidence {row['confidence']:.3f}\n"
    return Text(f"{row['rule']}  in {row['where']}\n", "bold").append(f"{figures}  {row['copy']}\n  = {row['original']}", "not bold dim")


COMMANDS = (rules,)
"""What this module adds to the command line."""
