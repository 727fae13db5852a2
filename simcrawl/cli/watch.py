"""The command that shows how far running crawls are, from another process."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event
from time import time
from typing import TYPE_CHECKING, Any

import click

from simcrawl.cli.output import NEGATIVE, escaped, json_option, show, store_argument
from simcrawl.errors import SettingError
from simcrawl.store import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from simcrawl.store.running import Run

_PAGES = "simcrawl/pages/"
_SKIPPED = f"{_PAGES}skipped/"
_PREDICTED = "simcrawl/predicted/"
_KINDS = ("admitted", "revisited", "exact_duplicate", "near_duplicate", "skipped")
_OUTCOMES = ("put_back", "held", "checked", "skipped", "released", "sampled", "right", "wrong")
# A state is written every two seconds. One that is older than this is told to be: the machine is busy, or the crawl hangs.
_OLD = 10.0


@click.command()
@store_argument
@click.option("--once", is_flag=True, help="Print the state once and end. This is the default if the output is not a terminal.")
@click.option("--openmetrics", is_flag=True, help="Print the state as OpenMetrics text, for Prometheus, and end (extra: metrics).")
@click.option("--interval", metavar="SECONDS", default=1.0, show_default=True, type=click.FloatRange(0.1, 3600), help="How often to look.")
@json_option
def watch(store: str, once: bool, openmetrics: bool, interval: float, as_json: bool) -> int:
    """Watch the crawls that are running on a store: how fast they are, what they drop and skip, and why.

    Every two seconds each crawl writes its state to a small file beside the store's data; being watched costs it nothing more. A crawl
    that was killed is shown with its last state until the next one begins. Ctrl-C ends this, and so does the end of the last crawl. Crawls
    of a fleet, or with memory:, cannot be watched.

      simcrawl watch STORE
      simcrawl watch STORE --once --json | jq .pages_per_second
      simcrawl watch STORE --openmetrics > /var/lib/node_exporter/simcrawl.prom
    """
    found = runs(store)
    if openmetrics:
        click.echo(_open_metrics(found), nl=False)
    elif as_json:
        show([_as_object(run) for run in found], as_json=True)
    elif once or not sys.stdout.isatty():
        _print(found)
    elif found:
        _follow(store, found, interval)
    else:
        click.echo("No crawl is running on this store.")
    return 0 if any(run.lives for run in found) else NEGATIVE


def _as_object(run: Run) -> dict[str, Any]:
    return {"state": _state(run)} | run.told


def _state(run: Run) -> str:
    if not run.lives:
        return "killed"
    return "late" if time() - run.told["told"] > _OLD else "running"


def _print(found: list[Run]) -> None:
    for number, run in enumerate(found):
        if number:
            click.echo()
        for name, value in _lines(run):
            click.echo(f"{name}\t{escaped(str(value))}")


def _lines(run: Run) -> Iterator[tuple[str, Any]]:
    """Yield what there is to say of a run: names, and values that may come several times."""
    told, stats = run.told, run.told["stats"]
    yield "spider", told["spider"]
    yield "state", _said(run)
    yield "process", f"{told['pid']} on {told['machine']}"
    yield "pages a second", told["pages_per_second"]
    yield "pages checked", stats.get(f"{_PAGES}checked", 0)
    yield "pages dropped", stats.get(f"{_PAGES}dropped", 0)
    for reason, count in _descending(told["dropped_as"]):
        yield f"dropped: {reason}", count
    if taken_back := stats.get(f"{_PAGES}taken_back", 0):
        yield "dropped, and kept after all", taken_back
    for reason, count in _descending(_below(_SKIPPED, stats)):
        yield f"not compared: {reason}", count
    # A crawl of an older version does not say by which rules.
    for what, counts in (("put back", told.get("put_back_by", {})), ("skipped", told["skipped_by"])):
        number = stats.get(f"{_PREDICTED}{what.replace(' ', '_')}", 0)
        yield f"requests {what}", number
        for rule, count in _descending(counts):
            yield f"{what}: {escaped(rule)}", count
        if counts and number > sum(counts.values()):
            yield f"{what}: by others", number - sum(counts.values())
    queue = told["queue"]
    yield "requests that wait", "unknown" if queue["requests"] is None else queue["requests"]
    yield "requests under way", queue["under_way"]
    yield "pages that are compared", queue["pages"]
    yield "worker processes", told["workers"]
    for host, count, seconds in told["slowest_hosts"]:
        yield f"host: {escaped(host)}", f"{seconds} s for each of {count}"
    yield "items", stats.get("item_scraped_count", 0)
    yield "failures", sum(stats.get(name, 0) for name in ("simcrawl/errors", "simcrawl/store/errors"))


def _said(run: Run) -> str:
    ago, since = time() - run.told["told"], run.told["told"] - run.told["started"]
    lasted = f"{since // 3600:.0f}:{since % 3600 // 60:02.0f}:{since % 60:02.0f}"
    return {
        "running": f"running for {lasted}",
        "late": f"running, but has said nothing for {ago:.0f} s: its machine is busy, or it hangs",
        "killed": f"killed, after {lasted} or a little later: this is what it told last, {ago:.0f} s ago",
    }[_state(run)]


def _below(prefix: str, stats: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in stats.items() if name.startswith(prefix)}


def _descending(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: -item[1])


# ---- on a terminal


def _follow(path: str, found: list[Run], interval: float) -> None:
    from rich.console import Console  # noqa: PLC0415 - scripts do not need it
    from rich.live import Live  # noqa: PLC0415

    with suppress(KeyboardInterrupt), Live(_screen(found), console=Console(), auto_refresh=False) as live:
        while any(run.lives for run in found):
            Event().wait(interval)
            if now := runs(path):
                live.update(_screen(now), refresh=True)
            found = now


def _screen(found: list[Run]) -> RenderableType:
    from rich.console import Group  # noqa: PLC0415 - as above

    return Group(*(_panel(run) for run in found))


def _panel(run: Run) -> RenderableType:
    from rich.console import Group  # noqa: PLC0415 - as above
    from rich.panel import Panel  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(justify="right", overflow="fold")
    for name, value in _lines(run):
        if name not in ("spider", "state", "process") and value != 0:
            table.add_row(Text(name), Text(f"{value:,}" if isinstance(value, int) else escaped(str(value))))
    drops = [
        Text(f"{escaped(url)}\n  {escaped(reason)} of {escaped(original)}", "dim") for url, original, reason in run.told["last_dropped"]
    ]
    title = Text(f"{escaped(run.told['spider'])}: {_said(run)}")
    return Panel(Group(table, *drops), title=title, title_align="left", border_style={"running": "green"}.get(_state(run), "red"))


# ---- for Prometheus


def _open_metrics(found: Iterable[Run]) -> str:
    try:
        from prometheus_client import CollectorRegistry  # noqa: PLC0415 - an extra
        from prometheus_client.openmetrics.exposition import generate_latest  # noqa: PLC0415
    except ImportError as exc:
        raise SettingError("--openmetrics needs prometheus_client: pip install 'simcrawl[metrics]'") from exc
    registry: Any = CollectorRegistry()
    registry.register(_Metrics(list(found)))
    written: Any = generate_latest
    return str(written(registry).decode())


class _Metrics:
    """What runs tell, as Prometheus collects it."""

    def __init__(self, found: list[Run]) -> None:
        self._found = found

    def collect(self) -> Iterator[Any]:
        """Yield the families of metrics."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415 - as above

        families: dict[str, Any] = {}

        def add(kind: Any, name: str, help_: str, value: float | None, run: Run, **labels: str) -> None:
            if value is None:
                return
            labels = {"spider": run.told["spider"], "process": f"{run.told['pid']}@{run.told['machine']}"} | labels
            family = families.setdefault(name, kind(name, help_, labels=list(labels)))
            family.add_metric([escaped(label) for label in labels.values()], value)

        for run in self._found:
            told, stats = run.told, run.told["stats"]
            add(GaugeMetricFamily, "simcrawl_up", "Whether the crawl still runs.", int(run.lives), run)
            add(GaugeMetricFamily, "simcrawl_told_timestamp_seconds", "When it told this.", told["told"], run)
            for kind in _KINDS:
                add(CounterMetricFamily, "simcrawl_pages", "Pages by verdict.", stats.get(f"{_PAGES}{kind}", 0), run, verdict=kind)
            for reason, count in told["dropped_as"].items():
                add(CounterMetricFamily, "simcrawl_pages_dropped", "Pages dropped, by reason.", count, run, reason=reason)
            for reason, count in _below(_SKIPPED, stats).items():
                add(CounterMetricFamily, "simcrawl_pages_not_compared", "Pages not compared, by reason.", count, run, reason=reason)
            for outcome in _OUTCOMES:
                count = stats.get(f"{_PREDICTED}{outcome}", 0)
                add(CounterMetricFamily, "simcrawl_requests", "Requests for likely copies, by outcome.", count, run, outcome=outcome)
            for name, count in told["queue"].items():
                add(GaugeMetricFamily, "simcrawl_queue", "Requests and pages that wait or are under way.", count, run, queue=name)
            add(GaugeMetricFamily, "simcrawl_workers", "Worker processes.", told["workers"], run)
            add(GaugeMetricFamily, "simcrawl_pages_per_second", "Pages checked in a second, of late.", told["pages_per_second"], run)
            for name in ("errors", "store/errors"):
                add(CounterMetricFamily, "simcrawl_failures", "Failures of simcrawl.", stats.get(f"simcrawl/{name}", 0), run, where=name)
        yield from families.values()


COMMANDS = (watch,)
"""What this module adds to the command line."""
