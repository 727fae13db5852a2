"""Commands for what a crawl dropped: which pages, in which clusters, on which hosts, and how to take a verdict back."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from simcrawl.cli.output import (
    NEGATIVE,
    as_json_line,
    as_line,
    at_work,
    escaped,
    json_option,
    open_existing,
    show,
    show_entries,
    store_argument,
)
from simcrawl.cli.pages import is_web, read_page
from simcrawl.page.fingerprint import is_whole
from simcrawl.store.clusters import clusters
from simcrawl.store.register import Share
from simcrawl.tools import inspection
from simcrawl.tools.inspection import DROPPED, SORT_KEYS, Wanted
from simcrawl.urls.learned import MIRROR_COPIES, MIRROR_SHARE, mirrors
from simcrawl.urls.recall import learned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simcrawl.store import Store
    from simcrawl.store.clusters import Cluster
    from simcrawl.store.register import Duplicate
    from simcrawl.store.rejections import Rejection
    from simcrawl.tools.inspection import Host
    from simcrawl.urls.learned import Mirror

_similarity = click.FloatRange(0, 1)
_bits = click.IntRange(0, 128)
_date = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])
csv_option = click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated lines with a header.")
limit_option = click.option("--limit", metavar="N", type=click.IntRange(1), help="Only the first N.")


# ---- duplicates


@click.command()
@store_argument
@click.option("--host", metavar="HOST", help="Only pages of this host and its subdomains.")
@click.option("--url", metavar="TEXT", help="Only pages with this text in their URL.")
@click.option("--original", metavar="TEXT", help="Only copies of pages with this text in their URL.")
@click.option("--kind", type=click.Choice(["exact", "near", "predicted"]), help="Only exact or near copies, or pages not fetched.")
@click.option("--dropped", type=click.Choice(DROPPED), help="Only pages by what of them was dropped.")
@click.option("--rejected/--not-rejected", default=None, help="Only verdicts that were taken back, or only those that were not.")
@click.option("--min-distance", metavar="BITS", type=_bits, help="Only with at least that many differing bits.")
@click.option("--max-distance", metavar="BITS", type=_bits, help="Only with at most that many differing bits.")
@click.option("--min-similarity", metavar="0..1", type=_similarity, help="Only if at least that similar.")
@click.option("--max-similarity", metavar="0..1", type=_similarity, help="Only if at most that similar.")
@click.option("--since", metavar="DATE", type=_date, help="Only since this moment: 2026-11-21, or 2026-11-21T13:30 (UTC).")
@click.option("--until", metavar="DATE", type=_date, help="Only before this moment (UTC).")
@click.option("--sort", type=click.Choice(list(SORT_KEYS)), help="Sort by this; default: in the order of the store.")
@click.option("--reverse", is_flag=True, help="With --sort: in reverse order.")
@limit_option
@click.option("--urls", is_flag=True, help="Print the URLs of dropped pages, one per line, to crawl them again.")
@csv_option
@json_option
def duplicates(
    *, store: str, sort: str | None, reverse: bool, limit: int | None, urls: bool, as_csv: bool, as_json: bool, **filters: Any
) -> None:
    """List what was recognised as a copy, and of what.

    Also why, when, and what was done about it.

    The verdicts most worth a look are the least certain ones:

      simcrawl duplicates STORE --kind near --sort similarity --limit 20
      simcrawl duplicates STORE --host example.org --since 2026-11-21 --csv > copies.csv

    If a verdict is wrong, take it back, and crawl the dropped pages again:

      simcrawl reject STORE https://example.org/boat-xl
      simcrawl duplicates STORE --urls > dropped.txt
      scrapy crawl site -a urls=dropped.txt

    URLs with a secret part, which no store has, are named on standard error instead.
    """
    if reverse and not sort:
        raise click.UsageError("--reverse is of no use without --sort: name what to sort by")
    if sum((urls, as_csv, as_json)) > 1:
        raise click.UsageError("--urls, --csv and --json exclude each other: give one of them")
    for what in ("distance", "similarity"):
        low, high = filters[f"min_{what}"], filters[f"max_{what}"]
        if low is not None and high is not None and low > high:
            raise click.UsageError(f"--min-{what} {low:g} is more than --max-{what} {high:g}: nothing is of both")
    if filters["since"] and filters["until"] and filters["since"] >= filters["until"]:
        raise click.UsageError("--since is not before --until: nothing is of both")
    if urls:
        filters["dropped"] = filters["dropped"] or "anything"
    with open_existing(store) as opened:
        lines = _lines(opened, _wanted(filters), sort, limit, reverse=reverse)
        if urls:
            for line in lines:
                # Whoever reads the list fetches what it names.
                secret = not is_whole(line.url)
                click.echo(as_line(line.url) + (": cannot be fetched, a part of it is secret" if secret else ""), err=secret)
        else:
            rows = map(_duplicate_row, lines)
            show(rows, as_json=as_json, as_csv=as_csv) if as_json or as_csv else show_entries(rows, _duplicate_entry)


def _wanted(filters: dict[str, Any]) -> Wanted:
    times = {name: filters[name] and filters[name].replace(tzinfo=UTC).timestamp() for name in ("since", "until")}
    return Wanted(**filters | times)


def _lines(store: Store, wanted: Wanted, sort: str | None, limit: int | None, *, reverse: bool) -> Iterable[Duplicate]:
    found: Iterable[Duplicate] = (line for line in store.duplicates() if wanted.matches(line))
    return islice(sorted(found, key=SORT_KEYS[sort], reverse=reverse) if sort else found, limit)


def _duplicate_row(line: Duplicate) -> dict[str, Any]:
    return {
        "url": line.url,
        "original": line.original,
        "reason": line.reason,
        "distance": line.distance,
        "similarity": None if line.similarity is None else round(line.similarity, 3),
        "dropped": _done(line),
        "when": _moment(line.when),
        "rejected": line.rejected,
        "canonical": line.canonical,
    }


def _done(line: Duplicate) -> str:
    return (
        " and ".join(name for name, dropped in (("page", line.dropped_page), ("outlinks", line.dropped_outlinks)) if dropped) or "nothing"
    )


def _moment(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def _duplicate_entry(row: dict[str, Any]) -> Text:
    """Return a page, what it is a copy of, and why, on a line each."""
    told = (*_alike(row), *_SAID.get(row["canonical"], ()), f"{row['dropped']} dropped", row["when"][:16].replace("T", " ") + " UTC")
    entry = Text(row["url"], "bold").append("\n  = ", "not bold").append(row["original"], "not bold")
    return entry.append(f"\n  {', '.join(told)}", "not bold dim").append(", rejected" if row["rejected"] else "", "red")


# What the two pages say of each other.
_SAID = {
    "original": ("names it as canonical",),
    "copy": ("is named by it as canonical",),
    "translation": ("calls it a translation",),
}


def _alike(row: dict[str, Any]) -> Iterator[str]:
    yield row["reason"] or "copy"
    if row["distance"] is not None:
        yield f"{row['distance']} bit{'' if row['distance'] == 1 else 's'}"
    if row["similarity"] is not None:
        yield f"{row['similarity']:.3f} alike"


# ---- clusters of the register


def show_clusters(store: Store, *, min_size: int, limit: int | None, as_json: bool) -> None:
    """Print the clusters of pages that the register speaks of."""
    found = clusters(store, min_size=min_size, most=limit)
    if as_json:
        show(({"size": one.size, "representative": one.representative, "members": _members(one)} for one in found), as_json=True)
    else:
        show_entries((row for number, one in enumerate(found, 1) for row in _cluster_rows(number, one)), _cluster_entry)


def _members(cluster: Cluster) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in _duplicate_row(line).items() if name not in ("rejected", "canonical")} for line in cluster.members
    ]


def _cluster_rows(number: int, cluster: Cluster) -> Iterator[dict[str, Any]]:
    first = {"cluster": number, "size": cluster.size}
    yield first | {"url": cluster.representative, "reason": "kept", "distance": None, "similarity": None}
    for row in _members(cluster):
        yield first | {name: row[name] for name in ("url", "reason", "distance", "similarity")}


def _cluster_entry(row: dict[str, Any]) -> Text:
    if row["reason"] == "kept":
        return Text(f"{row['size']:,} pages  {row['url']}", "bold")
    similarity = "" if row["similarity"] is None else f"{row['similarity']:.3f}"
    bits = "" if row["distance"] is None else f"{row['distance']} bit" + (" " if row["distance"] == 1 else "s")
    return Text(f"  {row['reason']:<14}  {bits:>7}  {similarity:>5}  ", "dim").append(row["url"], "not dim")


# ---- hosts


@click.command()
@store_argument
@click.option("--depth", metavar="N", type=click.IntRange(0), default=0, help="How many directories of the path count as part of the host.")
@click.option(
    "--min-copies",
    metavar="N",
    type=click.IntRange(1),
    default=MIRROR_COPIES,
    show_default=True,
    help="Least number of copies in a mirror.",
)
@click.option(
    "--min-share",
    metavar="0..1",
    type=_similarity,
    default=MIRROR_SHARE,
    show_default=True,
    help="Least share of copies among the pages of a mirror.",
)
@limit_option
@json_option
def hosts(*, store: str, depth: int, min_copies: int, min_share: float, limit: int | None, as_json: bool) -> None:
    """Count pages, copies and pages not fetched by host, and find mirrors.

    Two hosts or directories are mirrors if a rule (see the command rules) lets one stand for the other in URLs, and enough of the pages
    that were found in both are copies. With --depth 1 the counts are of https://example.org/v1/ and https://example.org/v2/:

      simcrawl hosts STORE --depth 1
    """
    with open_existing(store) as opened, at_work("Reading", opened.counts()["pages"]) as move:
        found = inspection.hosts(_urls(opened, move), opened.duplicates(), depth=depth)
        places = mirrors(learned(opened), min_copies=min_copies, min_share=min_share)
    if as_json:
        everything = {"hosts": list(map(_host_row, found[:limit])), "mirrors": list(map(_mirror_row, places[:limit]))}
        click.echo(as_json_line(everything))
        return
    show(_host_row(host) | {"host": host.host or None} for host in found[:limit])
    if places:
        if not sys.stdout.isatty():
            click.echo()
        show(map(_mirror_row, places[:limit]), view=_mirror_view, title="Mirrors: hosts and directories with copies of each other")


def _urls(store: Store, move: Callable[..., None]) -> Iterator[str]:
    for number, stored in enumerate(store.pages(), 1):
        move(number)
        yield stored.page.url


def _host_row(host: Host) -> dict[str, Any]:
    return host._asdict() | {"share": host.share}


def _mirror_row(mirror: Mirror) -> dict[str, Any]:
    return mirror._asdict() | {"share": Share.of(mirror.copies, mirror.pages - mirror.copies)}


def _mirror_view(row: dict[str, Any]) -> dict[str, Any]:
    return {"mirrors a and b": Text(f"{row.pop('a')}\n= {row.pop('b')}"), **row}


# ---- reject


@click.command()
@store_argument
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option("--original", metavar="URL", help="The page that it is not a copy of; default: the one in the register.")
@click.option("--undo", is_flag=True, help="Take the rejection back: the pages may be copies again.")
@click.option("--labels", metavar="FILE", type=click.Path(dir_okay=False, writable=True), help="Add the pairs to a calibration set.")
@json_option
def reject(*, store: str, urls: tuple[str, ...], original: str | None, undo: bool, labels: str | None, as_json: bool) -> int:
    """Take verdicts back: those pages are not copies.

    A page and what it was taken for a copy of are remembered as a pair. From now on neither is dropped in favour of the other, whichever
    comes first, in this crawl or a later one. Without a URL: list what was rejected. - reads URLs from standard input.

      simcrawl reject STORE https://example.org/boat-xl
      simcrawl duplicates STORE --max-similarity 0.94 --urls | simcrawl reject STORE -
      simcrawl reject STORE --undo https://example.org/boat-xl

    --labels fetches both pages of each pair and adds them to a file of labelled pairs, as "different", from which to find better settings:

      simcrawl reject STORE --labels wrong.jsonl
      cat wrong.jsonl >> shop/pairs.jsonl && simcrawl calibrate shop/
    """
    named = _named(urls)
    if original is not None and len(named) != 1:
        raise click.UsageError(f"--original is of one page, {len(named)} are given: give one URL")
    if undo and not named:
        raise click.UsageError("--undo needs the URL of a page whose verdict was rejected: simcrawl reject STORE lists them")
    with open_existing(store, readonly=not named) as opened:
        if undo:
            return _undo(opened, named, original, as_json=as_json)
        known = list(opened.rejections())
        found, unknown = _rejected(opened, named, original) if named else (known, [])
    rows = map(_rejection_row, found)
    show(rows, as_json=True) if as_json else show_entries(rows, _rejection_entry)
    for url in unknown:
        click.echo(
            f"Error: the store has no verdict on {escaped(url)}: see simcrawl duplicates, or name the other page with --original", err=True
        )
    missing = _label(found, labels) if labels else 0
    return NEGATIVE if unknown or missing else 0


def _named(urls: tuple[str, ...]) -> list[str]:
    read = [line.strip() for line in sys.stdin if line.strip()] if "-" in urls else []
    return [*(url for url in urls if url != "-"), *read]


def _rejected(store: Store, urls: list[str], original: str | None) -> tuple[list[Rejection], list[str]]:
    found, unknown = [], []
    for url in urls:
        try:
            rejection = store.reject(url, original)
        except ValueError as exc:
            raise click.UsageError(str(exc)) from exc
        if rejection:
            found.append(rejection)
        else:
            unknown.append(url)
    return found, unknown


def _undo(store: Store, urls: list[str], original: str | None, *, as_json: bool) -> int:
    removed = {url: store.unreject(url, original) for url in urls}
    show(({"url": url, "removed": count} for url, count in removed.items()), as_json=as_json)
    unknown = [url for url, count in removed.items() if not count]
    for url in unknown:
        click.echo(f"Error: no verdict on {escaped(url)} was taken back: see simcrawl reject without a URL", err=True)
    return NEGATIVE if unknown else 0


def _rejection_row(rejection: Rejection) -> dict[str, Any]:
    return {"url": rejection.url, "original": rejection.original, "when": _moment(rejection.when)}


def _rejection_entry(row: dict[str, Any]) -> Text:
    return Text(row["url"], "bold").append("\n  is no copy of ", "not bold dim").append(row["original"], "not bold")


def _label(found: list[Rejection], labels: str) -> int:
    """Add pairs that are not yet in a file of labelled pairs; return how many could not be fetched."""
    missing, known = 0, _labelled(labels)
    new = [one for one in found if (one.url, one.original) not in known]
    with at_work("Fetching", len(new)) as move, _appended(labels) as file:
        for number, rejection in enumerate(new, 1):
            try:
                pages = {name: _html(url) for name, url in (("a", rejection.url), ("b", rejection.original))}
            except click.ClickException as exc:
                missing += 1
                click.echo(f"Error: {exc.message}; the pair is held apart, but not in {labels}", err=True)
            else:
                row = {"a_url": rejection.url, "b_url": rejection.original, "label": "different"}
                file.write(json.dumps(row | {f"{name}_html": html for name, html in pages.items()}, ensure_ascii=True) + "\n")
            move(number)
    return missing


def _labelled(labels: str) -> set[tuple[str, str]]:
    """Return the pairs that a file of labelled pairs has by their URLs."""
    try:
        with open(labels, encoding="utf-8") as lines:  # noqa: PTH123 - a name as click gives it
            rows = [json.loads(line) for line in lines if line.strip()]
        return {(row.get("a_url", ""), row.get("b_url", "")) for row in rows}
    except FileNotFoundError:
        return set()
    except (OSError, ValueError, AttributeError) as exc:
        raise click.UsageError(f"{labels} is no file of labelled pairs ({exc}): name another one") from exc


def _appended(labels: str) -> Any:
    try:
        return open(labels, "a", encoding="utf-8")  # noqa: PTH123 - the caller closes it
    except OSError as exc:
        raise click.UsageError(f"cannot write {labels}: {exc}") from exc


def _html(url: str) -> str:
    from simcrawl.page.extraction import decode  # noqa: PLC0415 - other commands work without it

    if not is_web(url):
        raise click.UsageError(f"{url} is not on the web")
    return decode(*read_page(url))[1]


COMMANDS = (duplicates, hosts, reject)
"""What this module adds to the command line."""
