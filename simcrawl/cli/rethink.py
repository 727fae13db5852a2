"""The command that says what another threshold would have done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from simcrawl.cli.dropped import limit_option
from simcrawl.cli.output import as_json_line, at_work, json_option, open_existing, show, store_argument

if TYPE_CHECKING:
    from simcrawl.tools.rethinking import Rethought


@click.command()
@store_argument
@click.option("--min-similarity", metavar="0..1", type=click.FloatRange(0, 1), help="SIMCRAWL_MIN_SIMILARITY; default: the last crawl's.")
@click.option("--max-distance", metavar="BITS", type=click.IntRange(0, 64), help="SIMCRAWL_MAX_DISTANCE; default: the last crawl's.")
@limit_option
@json_option
def rethink(*, store: str, min_similarity: float | None, max_distance: int | None, limit: int | None, as_json: bool) -> None:
    """Say what other thresholds would have done, without a crawl.

    Lists the dropped pages that would have been kept, and the kept ones that would have been copies. Kept pages are compared by the rule
    itself, from what was: two that the crawl kept against its own thresholds stay. Of dropped pages the register only has distance and
    similarity, so a page that is listed as kept may still be a copy of another one, and a few more pages would be kept for their names.
    Nothing is known of pages that were not fetched.

      simcrawl rethink STORE --min-similarity .9
      simcrawl rethink STORE --max-distance 10 --json
    """
    # Loaded on use: other commands do not compare.
    from simcrawl.tools.rethinking import Rethinking, rule_of  # noqa: PLC0415

    with open_existing(store) as opened, at_work("Comparing", opened.counts()["pages"]) as move:
        rule = rule_of(opened)
        asked = rule.min_similarity if min_similarity is None else min_similarity
        found = Rethinking(opened, rule, [asked], move, max_distance=max_distance).at(asked)
    if as_json:
        click.echo(as_json_line(found.as_object()))
        return
    show(_sums(found))
    changes = [change.as_object() for change in (*found.fallen, *found.joined)]
    if changes:
        if not sys.stdout.isatty():
            click.echo()
        show(changes[:limit], title="Pages whose verdict would have changed")
    if not found.complete:
        click.echo("Only some pairs of kept pages were looked at: there are too many within so many bits.", err=True)
    if found.excepted:
        click.echo(_excepted(found.excepted), err=True)
    if found.outdated:
        click.echo(f"Outdated pages, which were not compared: {found.outdated}. The next crawl, or load, makes them again.", err=True)


def _excepted(count: int) -> str:
    """Return what is said of kept pages that the crawl's own thresholds would make copies, one pair at a time."""
    are = "1 kept page is" if count == 1 else f"{count} kept pages are"
    return f"{are} near another kept page by the crawl's own thresholds, and kept for other reasons: that stays so at any threshold."


def _sums(found: Rethought) -> list[dict[str, Any]]:
    told = found.as_object()
    rows = [{"": name, "was": told[name], "would be": told[f"{name}_then"]} for name in ("kept", "copies", "share")]
    return [*rows, {"": "verdicts that would not stand", "was": None, "would be": len(found.fallen)}]


COMMANDS = (rethink,)
"""What this module adds to the command line."""
