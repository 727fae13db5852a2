"""The report's page: one HTML file with its data, styles and script in it, and a policy that forbids it everything else.

What comes from pages (URLs, texts) reaches the page in two ways only: as text that Jinja escapes, or as JSON in a script element that is
not run, whose values the script shows as text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from rich.filesize import decimal

from simcrawl import __version__
from simcrawl.config import SETTINGS, parse, written
from simcrawl.detector import OUTLINKS
from simcrawl.errors import StoreCorruptError
from simcrawl.page.hints import LONGEST_TITLE
from simcrawl.page.recipes import DEFAULT, RECIPES
from simcrawl.report import charts
from simcrawl.report.answers import answers
from simcrawl.report.groups import difference as difference_of_urls
from simcrawl.rule import Kind
from simcrawl.tools.differences import changes, side_by_side

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable

    from markupsafe import Markup

    from simcrawl.report.charts import Drawing
    from simcrawl.report.facts import Cluster, Facts
    from simcrawl.store import Duplicate
    from simcrawl.tools.differences import Row
    from simcrawl.urls.learned import LearnedRule

# Characters of URLs and of differences that a report carries: it must open at once, on a phone too.
_MOST_URLS = 2_500_000
_MOST_OF_MEMBERS, _FEW = 800_000, 5
_MOST_DIFFERENCES, _MOST_COMPARED = 600_000, 200
_MOST_ROWS, _LONGEST_PIECE = 40, 240
_LONGEST_URL = 2_000
_HOSTS_DRAWN = 12
_BITS_SHOWN = 32
_SIZES = ((2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))
_DONE = {
    (True, True): "page, links",
    (True, False): "page",
    (False, True): "links",
    (False, False): "nothing",
}
# Lone surrogates: no browser makes a link of them.
_LINK = re.compile("https?://[^\\s\ud800-\udfff]+\\Z", re.IGNORECASE)
_SKIPPED = "simcrawl/pages/skipped/"
_WORDS = {number: word for word, number in OUTLINKS.items()}
_WHY = {
    "empty": "no text at all",
    "short": "too short: compared as exact copies only",
    "too_large": "too large (SIMCRAWL_MAX_PAGE_BYTES)",
    "too_deep": "nested too deeply to be parsed whole",
    "too_slow": "took too long (SIMCRAWL_MAX_PAGE_SECONDS)",
    "out_of_memory": "took too much memory (SIMCRAWL_MAX_WORKER_BYTES)",
    "crashed": "crashed its worker process twice",
    "not_html": "no HTML",
    "extraction_failed": "could not be parsed",
    "outdated": "made by an older version or another recipe: known by its bytes until it is crawled again",
    "host_over_budget": "pages of its host took too long (SIMCRAWL_MAX_HOST_SECONDS)",
    "waited_too_long": "waited too long for a worker process (SIMCRAWL_MAX_WAIT_SECONDS)",
    "stopping": "the crawl was told to stop",
    "status": "the response was no success",
    "opted_out": "the request opted out",
    "cut_off": "only a part of the page came",
    "store_error": "the store failed",
    "replaced": "the body was exchanged after it was judged",
    "error": "simcrawl failed",
    "not_judged": "never judged",
}


def render(facts: Facts, *, name: str, text_of: Callable[[str], str | None], made: float) -> str:
    """Return the report as HTML.

    `name`: of the store. `text_of` returns the text that was kept of a URL, or None. `made`: seconds since 1970.
    """
    script, style = (_file(name).strip() for name in ("report.js", "report.css"))
    return (
        _templates()
        .get_template("report.html")
        .render(
            facts=facts,
            name=name,
            title=_title(facts) or name,
            made=made,
            version=__version__,
            script=script,
            style=style,
            policy=_policy(script, style),
            charts=_charts(facts),
            data=_data(facts, name, text_of),
            shown=_shown(facts),
            last=facts.crawls[-1] if facts.crawls else None,
            # Of records that other versions wrote there is nothing to tell.
            changes=facts.crawls[-1].get("changes") if facts.crawls else None,
            other_rules=_other_rules(facts),
            answers=answers(facts.crawls[-1]["stats"]) if facts.crawls else [],
            skipped=_skipped(facts),
            taken_back=any(record["stats"].get("simcrawl/pages/taken_back") for record in facts.crawls),
            settings=_settings(facts),
        )
    )


def _templates() -> Environment:
    """Return the templates, which escape whatever they are given."""
    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_file))
    made.filters |= {"count": charts.count, "percent": _percent, "moment": _moment, "size": decimal, "duration": _duration}
    return made


def _file(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _title(facts: Facts) -> str:
    """Return what was crawled, in few words."""
    first, *others = facts.hosts or [""]
    if not others:
        return first
    return f"{first} and {others[0]}" if len(others) == 1 else f"{first} and {len(others):,} other hosts"


def _policy(script: str, style: str) -> str:
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


# ---- how values read


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


# ---- what the script shows


class _Urls:
    """URLs, each once: rows name them by number. A script's or a mail's address is text like any other."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.characters = 0

    def __call__(self, url: str) -> int:
        # Cut ones are no links any more: they would lead elsewhere.
        shown = url if len(url) <= _LONGEST_URL else f"{url[:_LONGEST_URL]}…"
        if shown not in self.numbers:
            self.numbers[shown] = len(self.numbers)
            self.characters += len(shown)
        return self.numbers[shown]


def _data(facts: Facts, name: str, text_of: Callable[[str], str | None]) -> Markup:
    urls = _Urls()
    clusters = [_cluster(one, urls) for one in facts.clusters]
    slowest = [[urls(url), seconds] for seconds, url in facts.crawls[-1]["slowest"]] if facts.crawls else []
    differences = _Differences(text_of)
    groups = {(group.copy, group.original): number for number, group in enumerate(facts.groups)}
    tried = facts.thresholds
    titles: dict[str, int] = {}
    changes = [
        [urls(c.url), urls(c.original), c.distance, None if c.similarity is None else round(c.similarity, 3), c.then, *ends]
        for c, *ends in (tried.changes if tried else ())
    ]
    lines = []
    for line in facts.lines:
        if urls.characters > _MOST_URLS:
            break
        row = _line(line, urls, differences)
        lines.append([*row[:10], groups.get(difference_of_urls(line.url, line.original)), *_titled(row[10], titles)])
    data = {
        "tables": {
            "duplicates": lines,
            "clusters": clusters,
            "groups": [
                [g.copy, g.original, g.pages, g.exact, g.near, g.not_fetched, number, g.rule and _rule(g.rule)]
                for number, g in enumerate(facts.groups)
            ],
            "changes": changes,
            "places": [[t.place, t.total, t.kept, t.exact, t.near, t.share] for t in facts.tallies],
            "mirrors": [[m.a, m.b, m.copies, m.pages, m.share] for m in facts.mirrors],
            "rules": [[*_rule(rule), *map(urls, rule.examples[0])] for rule in _other_rules(facts)],
            "slowest": slowest,
        },
        "thresholds": tried and tried.as_object(),
        "store": name,
        "differences": differences.found,
        "titles": list(titles),
        "urls": list(urls.numbers),
        "links": [int(bool(_LINK.match(url)) and not url.endswith("…")) for url in urls.numbers],
        "done": list(_DONE.values()),
        "lines": facts.copies + facts.not_fetched + facts.rejected,
        "place": "Directory" if facts.by_directory else "Host",
    }
    return htmlsafe_json_dumps(data, separators=(",", ":"))


def _rule(rule: LearnedRule) -> list[Any]:
    return [rule.rule, rule.where, rule.saves, rule.support, rule.confidence]


def _other_rules(facts: Facts) -> list[LearnedRule]:
    """Return the rules that no group of copies is explained by: the others stand beside theirs."""
    shown = {group.rule for group in facts.groups}
    return [rule for rule in facts.rules if rule not in shown]


def _cluster(cluster: Cluster, urls: _Urls) -> list[Any]:
    original, few = urls(cluster.original), urls.characters > _MOST_OF_MEMBERS
    members = list(map(urls, cluster.examples[:_FEW] if few else cluster.examples))
    return [original, cluster.copies + 1, cluster.exact, cluster.near, members, cluster.not_fetched]


def _titled(said: list[Any], titles: dict[str, int]) -> list[Any]:
    """Return what a page says of itself, with numbers for titles, each of which is there once."""
    # What is cut in a store does not say so there.
    shown = [f"{title}…" if title and len(title) >= LONGEST_TITLE else title for title in said[:2]]
    return [titles.setdefault(title, len(titles)) if title else None for title in shown] + said[2:]


def _line(line: Duplicate, urls: _Urls, differences: _Differences) -> list[Any]:
    counted = line.standing
    similarity = None if line.similarity is None else round(line.similarity, 3)
    done = list(_DONE).index((line.dropped_page, line.dropped_outlinks))
    shown = [urls(line.url), urls(line.original), line.reason or "", line.distance, similarity, done, int(line.when)]
    # Of a verdict that was taken back, too: what differs is why.
    compared = counted == "near" or (counted == "rejected" and line.kind == Kind.NEAR_DUPLICATE)
    said = [line.title, line.original_title, urls(line.names) if line.names else None, int(line.noindex)]
    return [*shown, differences.between(line.original, line.url) if compared else None, line.rule, counted, said]


class _Differences:
    """What differs between pairs of kept texts, as far as there is space for it."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self.found: list[list[dict[str, Any]]] = []
        self._text_of = text_of
        self._characters = 0

    def between(self, original: str, url: str) -> int | None:
        """Return the number of the difference, None where there is none to show."""
        if len(self.found) >= _MOST_COMPARED or self._characters > _MOST_DIFFERENCES:
            return None
        # What is damaged is shown by `verify`, and no reason to have no report.
        old, new = (_unless_damaged(self._text_of, page) for page in (original, url))
        if old is None or new is None:
            return None
        self.found.append(difference(old, new))
        self._characters += sum(len(text) for row in self.found[-1] for side in ("a", "b") for text, _ in row.get(side) or ())
        return len(self.found) - 1


def difference(a: str, b: str) -> list[dict[str, Any]]:
    """Return what differs between two texts of a block a line, for the script; at most 40 rows.

    A row is {"skipped": number of equal blocks} or {"a": pieces, "b": pieces}, of equal blocks {"a": pieces} alone. A piece is
    (text, whether it is changed); None instead of pieces: there is no such block. {"more": True} comes last where that is not all.
    """
    rows = side_by_side(changes(a.splitlines(), b.splitlines()))
    shown = [_difference_row(row) for row in islice(rows, _MOST_ROWS)]
    return [*shown, {"more": True}] if next(rows, None) else shown


def _difference_row(row: Row) -> dict[str, Any]:
    if row.skipped:
        return {"skipped": row.skipped}
    a, b = (pieces and [(_cut(text), changed) for text, changed in pieces] for pieces in (row.a, row.b))
    return {"a": a, "b": b} if row.is_changed else {"a": a}


def _cut(text: str) -> str:
    """Return a text, without its middle if it is long."""
    half = _LONGEST_PIECE // 2
    return text if len(text) <= _LONGEST_PIECE else f"{text[:half]} … {text[-half:]}"


def _unless_damaged(text_of: Callable[[str], str | None], url: str) -> str | None:
    try:
        return text_of(url)
    except StoreCorruptError:
        return None


def _shown(facts: Facts) -> dict[str, Any]:
    """Return sums that the store does not hold, but the records of its crawls do."""
    stats = [record["stats"] for record in facts.crawls]
    sums = {name: sum(held.get(f"simcrawl/{name}", 0) for held in stats) for name in ("bytes/duplicate", "outlinks/dropped")}
    return {"bytes": sums["bytes/duplicate"], "outlinks": sums["outlinks/dropped"], "recorded": bool(stats)}


def _skipped(facts: Facts) -> list[tuple[str, str, int]]:
    """Return (reason, what it means, pages): of all recorded crawls, or where none is recorded of the pages in the store."""
    counts = dict(facts.abstentions)
    if facts.crawls:
        names: Iterable[str] = {name for record in facts.crawls for name in record["stats"] if name.startswith(_SKIPPED)}
        counts = {name.removeprefix(_SKIPPED): sum(record["stats"].get(name, 0) for record in facts.crawls) for name in names}
    return sorted(((reason, _WHY.get(reason, ""), count) for reason, count in counts.items()), key=lambda row: (-row[2], row[0]))


def _settings(facts: Facts) -> list[tuple[str, str, bool]]:
    """Return (setting, value, whether it is not the default) of the last crawl."""
    if not facts.crawls:
        return []
    told, rule = facts.crawls[-1]["settings"], facts.crawls[-1]["rule"]
    return [_setting(name, told[name], rule) for name in SETTINGS if name in told]


def _setting(name: str, told: Any, rule: dict[str, Any]) -> tuple[str, str, bool]:
    # As older records say it.
    value, field = (() if told == "()" else told), name.removeprefix("SIMCRAWL_").lower()
    text = written(name, value)
    changed = text != written(name, parse(name, None))
    if value is None and field in rule:
        number = rule[field]
        text = written(name, _WORDS.get(number, number) if name == "SIMCRAWL_OUTLINKS" else number)
    no_text = "the recipe's" if hasattr(RECIPES[DEFAULT], field) else "off" if value is None else "none"
    return name, text or no_text, changed


# ---- charts


def _charts(facts: Facts) -> dict[str, Drawing | None]:
    """Return the charts, None for one that has nothing to show."""
    return {
        "time": _time_chart(facts),
        "distances": _distance_chart(facts),
        "similarities": _similarity_chart(facts),
        "sizes": _size_chart(facts),
        "places": _place_chart(facts),
        "ones": _ones_chart(facts),
    }


def _time_chart(facts: Facts) -> Drawing | None:
    if not facts.copies + facts.kept:
        return None
    counts, labels, _ = charts.over_time(facts.times)
    return charts.stacked(charts.Bars(counts, labels), every=max(1, len(labels) // 4))


def _distance_chart(facts: Facts) -> Drawing | None:
    if not facts.distances and not facts.nearest:
        return None
    last = max([_BITS_SHOWN, *facts.distances])
    series = {"copies": _shares(facts.distances, last), "kept pages": _shares(facts.nearest, last)}
    limit = _threshold(facts, "max_distance")
    bars = charts.Bars(series, [str(bits) for bits in range(last + 1)], None if limit is None else limit + 1)
    return charts.beside(bars, every=4, told=_per_cent)


def _per_cent(share: float) -> str:
    return f"{share:.0f}%" if share >= 10 or not share else f"{share:.1f}%"


def _shares(counts: Counter[int], last: int) -> list[float]:
    total = max(1, counts.total())
    # What is farther apart is as good as unrelated.
    return [100 * counts[bits] / total for bits in range(last)] + [100 * sum(n for bits, n in counts.items() if bits >= last) / total]


def _threshold(facts: Facts, name: str) -> float | None:
    found = facts.crawls[-1]["rule"].get(name) if facts.crawls else None
    return float(found) if isinstance(found, (int, float)) else None


def _similarity_chart(facts: Facts) -> Drawing | None:
    if not facts.similarities:
        return None
    threshold = _threshold(facts, "min_similarity")
    first = min([*facts.similarities, *([int(threshold * 200 + 1e-9)] if threshold else [])])
    first -= first % 4
    counts = [facts.similarities[at] for at in range(first, 201)]
    limit = threshold * 200 - first if threshold else None
    return charts.stacked(charts.Bars({"near": counts}, [f"{at / 200:.3g}" for at in range(first, 201)], limit), every=4)


def _size_chart(facts: Facts) -> Drawing | None:
    if not facts.cluster_sizes:
        return None
    counts = [sum(n for size, n in facts.cluster_sizes.items() if low <= size <= (high or size)) for low, high in _SIZES]
    names = [f"{low}" if low == high else f"{low}–{high}" if high else f">{low - 1}" for low, high in _SIZES]
    while not counts[-1]:
        counts.pop()
    return charts.stacked(charts.Bars({"clusters": counts}, names[: len(counts)]))


def _place_chart(facts: Facts) -> Drawing | None:
    drawn = facts.tallies[:_HOSTS_DRAWN]
    if not drawn:
        return None
    return charts.across(charts.Bars({kind: [getattr(tally, kind) for tally in drawn] for kind in facts.times}, [t.place for t in drawn]))


def _ones_chart(facts: Facts) -> Drawing | None:
    if not facts.ones:
        return None
    bars = charts.Bars({"ones": [100 * share for share in facts.ones]}, [str(bit) for bit in range(len(facts.ones))])
    return charts.stacked(bars, every=8, most=100, told=_per_cent)
