"""`simcrawl compare`: two pages, by the rule that a crawl goes by, and what tells them apart."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simcrawl.cli.output import (
    NEGATIVE,
    as_json_line,
    complete_directory,
    complete_file,
    open_existing,
    printable,
    recipe_option,
    show,
    threshold_option,
)
from simcrawl.cli.pages import read_page
from simcrawl.detector import Detector
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason, fingerprint_page, page_texts
from simcrawl.page.recipes import resolve
from simcrawl.page.sketch import resemblance
from simcrawl.rule import Apart, Rule
from simcrawl.tools import differences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcrawl.page.recipes import Recipe
    from simcrawl.rule import Comparison
    from simcrawl.tools.differences import Change, Pull

_KEPT = (
    "; yet the second page is kept after the first one, which asks search engines to leave it alone, or says or shows less, "
    "or is titled otherwise and has another canonical URL"
)
_PARTS = ("prose", "links", "around")
_STRONGEST, _IN_JSON = 12, 100


@dataclass(frozen=True, slots=True)
class _Side:
    """A page to compare. `source`: the text of its features, `text`: the visible one, or what a store kept; None where not known."""

    page: PageFingerprint | Abstention
    source: str | None = None
    text: str | None = None


@click.command()
@click.argument("page_a", metavar="PAGE", shell_complete=complete_file)
@click.argument("page_b", metavar="PAGE", shell_complete=complete_file)
@click.option("--store", metavar="STORE", shell_complete=complete_directory, help="Compare with the recipe and seed of this store.")
@click.option("--fetch/--no-fetch", help="Fetch pages anew that the store knows, for their texts; or take them from the store.")
@recipe_option
@threshold_option("SIMCRAWL_MAX_DISTANCE", "BITS")
@threshold_option("SIMCRAWL_MIN_SIMILARITY", "0..1")
@threshold_option("SIMCRAWL_MIN_AROUND", "N")
@click.option(
    "--context",
    metavar="N",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="How many equal blocks are shown around each difference.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(0), default=60, show_default=True, help="How many differing blocks are shown; 0: none."
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def compare(
    *,
    page_a: str,
    page_b: str,
    store: str | None,
    fetch: bool,
    recipe: str,
    context: int,
    limit: int,
    as_json: bool,
    **thresholds: Any,
) -> int:
    """Compare two pages by the rule that a crawl goes by.

    It says whether they are copies, and what tells them apart. On a terminal: the differing bits of the fingerprints, the features
    that pull them apart, and the texts side by side.

      simcrawl compare a.html b.html
      simcrawl compare https://example.org/boat https://example.org/boat-xl --min-similarity 0.97
      simcrawl compare --store STORE --fetch https://example.org/boat https://example.org/boat-xl

    Without --store the seed is not that of a crawl, so distances and similarities differ a little from those that the crawl found. A page
    that the store knows is compared as it was when it was crawled; --fetch reads it anew, for its text, of which stores keep as
    many as SIMCRAWL_KEEP_TEXT says.

    The exit code is 0 for copies and 1 for others.
    """
    chosen = resolve(recipe)
    with ExitStack() as stack:
        detector = Detector(stack.enter_context(open_existing(store)), recipe=None if recipe == "auto" else recipe) if store else None
        chosen = detector.recipe if detector else chosen
        a, b = (_side(source, chosen, detector, fetch=fetch) for source in (page_a, page_b))
    rule = replace(Rule.of(chosen), **{name: value for name, value in thresholds.items() if value is not None})
    answer = _answer(a, b, rule)
    pull = _pull(a, b, chosen)
    changes = differences.changes(a.text.splitlines(), b.text.splitlines()) if a.text is not None and b.text is not None else None
    if as_json:
        click.echo(as_json_line(answer | {"pages": [_page_row(one) for one in (a, b)]} | _details(a, b, pull, changes)))
    else:
        show(map(_page_row, (a, b)))
        show([answer])
        if sys.stdout.isatty():
            _show_details(a, b, pull, changes, context=context, limit=limit)
    return 0 if answer["near-duplicate"] else NEGATIVE


def _side(source: str, recipe: Recipe, detector: Detector | None, *, fetch: bool) -> _Side:
    known = detector.store.page(source) if detector and not fetch else None
    if detector and known:
        return _Side(known.page, text=detector.store.text(source))
    body, encoding = read_page(source)
    page = detector.extract(body, url=source, encoding=encoding) if detector else None
    page = page or fingerprint_page(body, url=source, encoding=encoding, recipe=recipe)
    features, whole = page_texts(body, url=source, encoding=encoding, recipe=recipe)
    return _Side(page, features, whole)


def _answer(a: _Side, b: _Side, rule: Rule) -> dict[str, Any]:
    if isinstance(a.page, PageFingerprint) and isinstance(b.page, PageFingerprint):
        result = rule.compare(a.page, b.page)
        kept = _KEPT if result.is_near_duplicate and rule.loses(b.page, a.page, result) else ""
        return match_row(result.distance, result) | {"why": _why(result, rule) + kept}
    same = a.page.body_digest == b.page.body_digest and getattr(a.page, "reason", None) is not Reason.EMPTY
    why = "identical bodies" if same else "a page without a fingerprint is an exact copy or none"
    return {"distance": None, "similarity": 1.0 if same else None, "near-duplicate": same, "why": why}


def match_row(distance: int, comparison: Comparison) -> dict[str, Any]:
    """Return what a comparison says."""
    similarity = comparison.similarity
    return {
        "distance": distance,
        "similarity": None if similarity is None else round(similarity, 3),
        "near-duplicate": comparison.is_near_duplicate,
    }


def _why(result: Comparison, rule: Rule) -> str:
    reasons = (
        (result.apart not in (None, Apart.CONTENTS), str(result.apart)),
        (result.identical_text, "identical text"),
        (result.distance > rule.max_distance, f"more than {rule.max_distance} bits differ"),
        (result.same_article, "same article in other surroundings"),
        (rule.min_similarity <= 0, f"{rule.max_distance} bits or fewer differ"),
        (result.is_near_duplicate, f"the contents are alike by {rule.min_similarity:g} or more"),
        (True, f"the contents are alike by less than {rule.min_similarity:g}"),
    )
    return next(reason for holds, reason in reasons if holds)


def page_row(page: PageFingerprint | Abstention) -> dict[str, Any]:
    """Return what is printed of a page."""
    found = isinstance(page, PageFingerprint)
    return {
        "page": page.url,
        "fingerprint": page.hex if isinstance(page, PageFingerprint) else None,
        "characters": page.text_length,
        "abstains": None if found else page.reason.value,  # type: ignore[union-attr]  # found tells which it is
    }


def _page_row(side: _Side) -> dict[str, Any]:
    return page_row(side.page)


def _pull(a: _Side, b: _Side, recipe: Recipe) -> Pull | None:
    """Return what pulls the fingerprints apart; None where that cannot be known, or nothing does."""
    if not (isinstance(a.page, PageFingerprint) and isinstance(b.page, PageFingerprint) and a.source and b.source):
        return None
    weights = [recipe.features.weigh(side.source or "") for side in (a, b)]
    return differences.pull_apart(*weights, seed=a.page.seed, bits=a.page.bits) if all(weights) else None


def _parts(a: _Side, b: _Side) -> Iterator[dict[str, Any]]:
    """Yield how much of each part of the pages is alike, and how many words each has of it."""
    if not (isinstance(a.page, PageFingerprint) and isinstance(b.page, PageFingerprint) and a.page.content_sketch):
        return
    content = resemblance(a.page.content_sketch, b.page.content_sketch)
    yield {"part": "content", "alike": round(content, 3), "words_a": a.page.units, "words_b": b.page.units}
    for name in _PARTS:
        one, other = getattr(a.page, name), getattr(b.page, name)
        alike = round(resemblance(one.sketch, other.sketch), 3) if one.units and other.units else None
        yield {"part": name, "alike": alike, "words_a": one.units, "words_b": other.units}


# ---- everything


def _details(a: _Side, b: _Side, pull: Pull | None, changes: list[Change] | None) -> dict[str, Any]:
    both = [side.page for side in (a, b) if isinstance(side.page, PageFingerprint)]
    return {
        "differing_bits": differences.differing_bits(both[0].fingerprint, both[1].fingerprint, both[0].bits) if len(both) == 2 else None,
        "parts": list(_parts(a, b)),
        "bits": [one._asdict() for one in pull.bits] if pull else None,
        "features": [one._asdict() for one in pull.features[:_IN_JSON]] if pull else None,
        "texts": None if changes is None else [one._asdict() for one in changes],
    }


# ---- a terminal


def _show_details(a: _Side, b: _Side, pull: Pull | None, changes: list[Change] | None, *, context: int, limit: int) -> None:
    console = Console()
    if isinstance(a.page, PageFingerprint) and isinstance(b.page, PageFingerprint):
        console.print(_bits_line(a.page, b.page))
    show(_parts(a, b), title="Parts of the pages")
    if pull and pull.bits:
        show(map(_bit_row, pull.bits), title="Differing bits, and the features that pull them from the first page to the second")
    if pull and pull.features:
        rows = [
            {"feature": _name(one.name), "weight_a": one.weight_a, "weight_b": one.weight_b, "pulls": one.pulls} for one in pull.features
        ]
        shown = [{name: round(value, 2) if isinstance(value, float) else value for name, value in row.items()} for row in rows[:_STRONGEST]]
        title = f"Features of different weight: {len(rows):,}, of which the strongest {len(shown)}" if len(rows) > len(shown) else None
        show(shown, title=title or "Features of different weight")
    if changes is None:
        console.print("The store has no texts of these pages (see SIMCRAWL_KEEP_TEXT): give --fetch to see where they differ.", style="dim")
    elif limit:
        console.print(*_texts(changes, context, limit))


def _bits_line(a: PageFingerprint, b: PageFingerprint) -> Text:
    """Return two fingerprints in binary below each other, the differing bits marked."""
    apart = set(differences.differing_bits(a.fingerprint, b.fingerprint, a.bits))
    text = Text()
    for page in (a, b):
        digits = f"{page.fingerprint:0{a.bits}b}"
        for at, digit in enumerate(digits):
            text.append(" " if at and not at % 8 else "").append(digit, "bold red" if at in apart else "dim")
        text.append("\n")
    return text.append(
        "".join((" " if at and not at % 8 else "") + ("^" if at in apart else " ") for at in range(a.bits)).rstrip(), "bold red"
    )


def _bit_row(bit: differences.Bit) -> dict[str, Any]:
    return {
        "bit": bit.position,
        "sum_a": round(bit.sum_a, 2),
        "sum_b": round(bit.sum_b, 2),
        "features": ", ".join(map(_name, bit.features)),
    }


def _name(feature: str) -> str:
    return feature.replace("\x1f", " ")


def _texts(changes: list[Change], context: int, limit: int) -> Iterator[Any]:
    table = Table(title="Texts", title_justify="left", title_style="bold", expand=True, show_lines=True)
    for name in ("a", "b"):
        table.add_column(name, ratio=1, overflow="fold")
    changed, shown = differences.count_changed(changes), 0
    for row in differences.side_by_side(changes, context=context):
        shown += row.is_changed
        if shown > limit:
            break
        if row.skipped:
            table.add_row(*[Text(f"... {row.skipped:,} equal block{'s' if row.skipped > 1 else ''} ...", "dim")] * 2)
        else:
            table.add_row(_block(row.a, "red", changed=row.is_changed), _block(row.b, "green", changed=row.is_changed))
    yield table if changed else Text("The visible texts are the same.")
    if changed > limit:
        yield Text(f"\n{changed - limit:,} more differing blocks: --limit {changed}, or --json.")


def _block(pieces: list[tuple[str, bool]] | None, colour: str, *, changed: bool) -> Text:
    text = Text(style="" if changed else "dim")
    for piece, differs in pieces or ():
        # Underlined, too: colours may be off, and not everybody sees them.
        text.append(printable(piece), f"bold underline {colour}" if differs else "")
    return text


COMMANDS = (compare,)
"""What this module adds to the command line."""
