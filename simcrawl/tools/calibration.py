"""Calibration: how well every radius and similarity threshold tells copies from other pages on a user's own labelled pairs.

Pure: labels, pages and values in, values out. Whoever calls it reads the files and prints the results. That a pair is found is always what
the detector's own rule says of it.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby
from math import sqrt
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simcrawl.rule import Rule

DISTANCES = range(13)
THRESHOLDS = tuple(percent / 100 for percent in range(50, 100))
PLOT_FORMATS = ("svg", "png")
_LABELS = {"near": True, "different": False, "diff": False, "grey": None, "gray": None, "unsure": None}
_NORMAL_95 = 1.959964
_COLUMNS = ("a", "b", "label")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two pages, each a path or HTML itself, and whether they are near-duplicates; None where the label says that nobody knows."""

    line: int
    a: PurePath | str
    b: PurePath | str
    near: bool | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What the rule makes of a labelled pair.

    `distance` is None where a page abstains. `identical`: an exact copy, which every setting finds. `strictest`: the highest of
    `THRESHOLDS` that verification lets pass, 0 where it is none.
    """

    line: int
    near: bool
    distance: int | None
    identical: bool
    similarity: float | None = None
    strictest: float = 0.0

    def found(self, max_distance: int, threshold: float = 0.0) -> bool:
        """Return whether the pair is taken for near-duplicates; threshold 0 is no verification."""
        return self.identical or (self.distance is not None and self.distance <= max_distance and self.strictest >= threshold)


class Share(NamedTuple):
    """`cases` of `total`, as an estimate of how it is in general."""

    cases: int
    total: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.cases / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval: Wilson's, which holds for few cases and for shares of 0 and 1 too."""
        if not self.total:
            return 0.0, 1.0
        share, z2 = self.cases / self.total, _NORMAL_95**2 / self.total
        middle, half = share + z2 / 2, sqrt(z2 * share * (1 - share) + z2 * z2 / 4)
        # Without the share itself rounding would take the ends past it, where it is 0 or 1.
        return max(0.0, min(share, (middle - half) / (1 + z2))), min(1.0, max(share, (middle + half) / (1 + z2)))


class Tally(NamedTuple):
    """How many of the near and of the different pairs a setting takes for near-duplicates."""

    near_found: int
    near: int
    different_found: int
    different: int

    @property
    def precision(self) -> Share:
        """The share of near pairs among the pairs found."""
        return Share(self.near_found, self.near_found + self.different_found)

    @property
    def recall(self) -> Share:
        """The share of the near pairs that is found."""
        return Share(self.near_found, self.near)

    @property
    def false_duplicates(self) -> Share:
        """The share of the different pairs that is found: content that a crawl would lose."""
        return Share(self.different_found, self.different)


class Choice(NamedTuple):
    """The settings to use. `equally_from`: the lowest threshold that does as well on these pairs."""

    max_distance: int
    min_similarity: float
    equally_from: float
    tally: Tally


@dataclass(frozen=True, slots=True)
class Calibration:
    """What labelled pairs say about the settings.

    `by_distance` is without verification, `by_similarity` at the recipe's radius (empty for a recipe without sketches).
    `abstaining` tells apart the pairs of which a page abstains: found are its exact copies. `choice` is None where every setting takes a
    different pair for a copy; exact copies labelled different, `mislabelled`, do not count, for no setting keeps them apart.
    """

    by_distance: dict[int, Tally]
    by_similarity: dict[float, Tally]
    abstaining: Tally
    mislabelled: list[int]
    choice: Choice | None


def read_pairs(lines: Iterable[str], *, name: str, columns: bool = False) -> Iterator[LabelledPair]:
    """Return the pairs of a file of JSON lines, or of comma-separated lines under a header.

    Raises:
        SettingError: a line cannot be understood; the message names it and says what is expected.
    """
    for number, row in _columns(lines, name) if columns else _objects(lines, name):
        where = f"{name}, line {number}"
        yield LabelledPair(number, _source(row, "a", where), _source(row, "b", where), _label(row, where))


def _objects(lines: Iterable[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as exc:
            raise SettingError(f"{name}, line {number}: this is no JSON ({exc}): write one object a line") from None
        if not isinstance(row, dict):
            raise SettingError(f'{name}, line {number}: expected an object such as {{"a": "1.html", "b": "2.html", "label": "near"}}')
        yield number, row


def _columns(lines: Iterable[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(lines)
    try:
        if missing := set(_COLUMNS) - set(reader.fieldnames or ()):
            raise SettingError(f"{name}, line 1: no column {', '.join(sorted(missing))}: the first line must be a,b,label")
        for row in reader:
            yield reader.line_num, row
    except csv.Error as exc:
        raise SettingError(f"{name}, line {reader.line_num + 1}: {exc}: expected three columns a,b,label, with names of files") from None


def _source(row: dict[str, Any], side: str, where: str) -> PurePath | str:
    html, path = row.get(f"{side}_html"), row.get(side)
    if isinstance(html, str):
        return html
    if isinstance(path, str) and path:
        return PurePath(path)
    raise SettingError(f"{where}: no page {side}: give its file as {side}, or its HTML as {side}_html")


def _label(row: dict[str, Any], where: str) -> bool | None:
    label = row.get("label")
    if not isinstance(label, str) or label.strip() not in _LABELS:
        raise SettingError(f"{where}: label {label!r} is none: use near, different, or grey for a pair that nobody is sure of")
    return _LABELS[label.strip()]


def measure(a: PageFingerprint | Abstention, b: PageFingerprint | Abstention, *, line: int, near: bool, rule: Rule) -> Measured:
    """Return what a rule, under every radius and threshold, makes of two pages."""
    if isinstance(a, Abstention) or isinstance(b, Abstention):
        empty = Reason.EMPTY in (getattr(a, "reason", None), getattr(b, "reason", None))
        return Measured(line, near, None, identical=a.body_digest == b.body_digest and not empty)
    anywhere = replace(rule, max_distance=a.bits, min_similarity=0.0)
    comparison = anywhere.compare(a, b)
    passed = (t for t in reversed(THRESHOLDS) if replace(anywhere, min_similarity=t).compare(a, b).is_near_duplicate)
    return Measured(line, near, comparison.distance, comparison.identical_text, comparison.similarity, next(passed, 0.0))


def tally(pairs: Iterable[Measured], max_distance: int, threshold: float = 0.0) -> Tally:
    """Return how many pairs of each label a setting takes for near-duplicates."""
    counts = Counter((pair.near, pair.found(max_distance, threshold)) for pair in pairs)
    near, different = counts[True, True], counts[False, True]
    return Tally(near, near + counts[True, False], different, different + counts[False, False])


def calibrate(pairs: Sequence[Measured], *, max_distance: int, verified: bool = True) -> Calibration:
    """Return what measured pairs say about the settings. `max_distance` is the recipe's, `verified` whether it has sketches.

    Raises:
        SettingError: no pair with that label has two pages that can be compared.
    """
    compared = [pair for pair in pairs if pair.distance is not None]
    for near, name in ((True, "near"), (False, "different")):
        if not any(pair.near is near for pair in compared):
            raise SettingError(f"no pair labelled {name} has two pages with fingerprints: label some, both the near and the different")
    thresholds = THRESHOLDS if verified else ()
    distances = sorted({*DISTANCES, max_distance})
    telling = [pair for pair in compared if pair.near or not pair.identical]
    return Calibration(
        by_distance={distance: tally(compared, distance) for distance in distances},
        by_similarity={threshold: tally(compared, max_distance, threshold) for threshold in thresholds},
        abstaining=tally((pair for pair in pairs if pair.distance is None), max_distance),
        mislabelled=[pair.line for pair in pairs if pair.identical and not pair.near],
        choice=choose(telling, max_distance, distances, thresholds or (0.0,)),
    )


def choose(pairs: Sequence[Measured], max_distance: int, distances: Iterable[int], thresholds: Sequence[float]) -> Choice | None:
    """Return the setting with the best recall among those without a false duplicate; None if there is none.

    Where several are as good: the radius nearest to `max_distance`, larger before smaller, for under verification a radius costs time
    only (without it, the smallest); and then the strictest threshold, for what is not among the pairs is more safely kept than lost.
    """
    settings = [(k, threshold, tally(pairs, k, threshold)) for k in distances for threshold in thresholds]
    harmless = [setting for setting in settings if not setting[2].different_found]
    if not harmless:
        return None
    best = max(found.near_found for _, _, found in harmless)
    equal = [setting for setting in harmless if setting[2].near_found == best]
    k = min((k for k, _, _ in equal), key=lambda k: (k < max_distance, abs(k - max_distance)) if any(thresholds) else (False, k))
    same = {threshold: found for distance, threshold, found in equal if distance == k}
    return Choice(k, max(same), min(same), same[max(same)])


class Setting(Protocol):
    """What has a radius and a threshold: a choice, a recipe or a rule."""

    @property
    def max_distance(self) -> int:
        """The radius."""

    @property
    def min_similarity(self) -> float:
        """The threshold."""


def wrong_pairs(measured: Iterable[Measured], pairs: Iterable[LabelledPair], setting: Setting) -> list[dict[str, Any]]:
    """Return rows of the pairs of two fingerprints that a setting gets wrong, those that would lose content first."""
    named = {pair.line: pair for pair in pairs}
    wrong = [
        pair for pair in measured if pair.distance is not None and pair.near != pair.found(setting.max_distance, setting.min_similarity)
    ]
    return [
        {
            "line": pair.line,
            "label": "near" if pair.near else "different",
            "a": _name(named[pair.line].a),
            "b": _name(named[pair.line].b),
            "distance": pair.distance,
            "similarity": None if pair.similarity is None else round(pair.similarity, 3),
        }
        for pair in sorted(wrong, key=lambda pair: pair.near)
    ]


def _name(source: PurePath | str) -> str | None:
    return None if isinstance(source, str) else str(source)


def as_object(result: Calibration, *, recipe: str = "auto") -> dict[str, Any]:
    """Return all that a calibration found, as JSON has it. `recipe`: as SIMCRAWL_RECIPE names it."""
    choice = result.choice and {
        "SIMCRAWL_RECIPE": recipe,
        "SIMCRAWL_MAX_DISTANCE": result.choice.max_distance,
        "SIMCRAWL_MIN_SIMILARITY": result.choice.min_similarity,
        "equally_from": result.choice.equally_from,
        **_tally_object(result.choice.tally),
    }
    return {
        "by_distance": [{"max_distance": k, **_tally_object(counts)} for k, counts in result.by_distance.items()],
        "by_similarity": [{"min_similarity": t, **_tally_object(counts)} for t, counts in result.by_similarity.items()],
        "abstaining": result.abstaining._asdict(),
        "mislabelled": result.mislabelled,
        "choice": choice,
    }


def _tally_object(counts: Tally) -> dict[str, Any]:
    shares = {name: getattr(counts, name) for name in ("precision", "recall", "false_duplicates")}
    return counts._asdict() | {
        name: {"value": share.value, "low": share.interval[0], "high": share.interval[1]} for name, share in shares.items()
    }


def rows(result: Calibration, max_distance: int) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return a table by radius and one by threshold, where thresholds that do the same share a row."""
    by_distance = [{"settings": f"distance up to {k}, not verified", **_cells(counts)} for k, counts in result.by_distance.items()]
    same = (([t for t, _ in group], counts) for counts, group in groupby(result.by_similarity.items(), key=itemgetter(1)))
    by_similarity = [
        {"settings": f"distance up to {max_distance}, similarity from {_span(thresholds)}", **_cells(counts)} for thresholds, counts in same
    ]
    return by_distance, by_similarity


def _span(thresholds: list[float]) -> str:
    low, high = thresholds[0], thresholds[-1]
    return f"{low:.2f}" if low == high else f"{low:.2f}-{high:.2f}"


def _cells(counts: Tally) -> dict[str, str]:
    return {
        "near pairs found": f"{counts.near_found} of {counts.near}",
        "false duplicates": f"{counts.different_found} of {counts.different}",
        "precision": _with_interval(counts.precision),
        "recall": _with_interval(counts.recall),
    }


def _with_interval(share: Share) -> str:
    return "-" if share.value is None else "{:.3f} ({:.3f} to {:.3f})".format(share.value, *share.interval)


def conclusions(result: Calibration, ignored: int, *, recipe: str = "auto") -> Iterator[str]:
    """Return what to make of a calibration, in sentences; `ignored` pairs were labelled grey. `recipe`: as SIMCRAWL_RECIPE names it."""
    abstaining = result.abstaining
    if ignored:
        yield f"Left out: {ignored} pairs labelled grey."
    if abstaining.near + abstaining.different:
        yield (
            f"Counted apart: of {abstaining.near} near and {abstaining.different} different pairs a page has no fingerprint. "
            f"Such pages can only be exact copies, as {abstaining.near_found} and {abstaining.different_found} of these pairs are."
        )
    if result.mislabelled:
        yield f"Labelled different, but exact copies, which no setting keeps apart: lines {', '.join(map(str, result.mislabelled))}."
    yield from _advice(result.choice, recipe) if result.choice else _NO_ADVICE


_NO_ADVICE = (
    "No settings keep all the different pairs apart. Are the labels of the pairs above right? If they are: the default recipe verifies",
    'candidates, if this one does not, and with SIMCRAWL_ACTION = "observe" a crawl drops nothing and says what it would drop.',
)


def _advice(choice: Choice, recipe: str) -> Iterator[str]:
    counts = choice.tally
    if recipe != "auto":
        # With another one these thresholds mean something else.
        yield f'SIMCRAWL_RECIPE = "{recipe}"'
    yield f"SIMCRAWL_MAX_DISTANCE = {choice.max_distance}"
    yield f"SIMCRAWL_MIN_SIMILARITY = {choice.min_similarity:g}"
    if choice.equally_from < choice.min_similarity:
        yield f"({choice.equally_from:g} would do as well on these pairs; the strictest threshold is the safest for other pages.)"
    yield f"Finds {counts.near_found} of {counts.near} near pairs: recall {_with_interval(counts.recall)}."
    yield f"Takes none of {counts.different} different pairs for copies."
    yield f"By so many, up to {counts.false_duplicates.interval[1]:.1%} of such pairs may still be taken for copies (95 % confidence)."
    yield "Few pairs say little: to know that it is less than 1 % takes 381 different pairs, less than 0.3 % takes 1277."


def draw(pairs: Iterable[Measured], max_distance: int, *, file_format: str = "svg") -> bytes:
    """Return a picture of the Hamming distances of near and of different pairs, and of a radius.

    Raises:
        SettingError: as `check_plot`.
    """
    check_plot(file_format)
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    figure = _figure(list(pairs), max_distance)
    out = BytesIO()
    # The same pairs give the same bytes.
    with rc_context({"svg.hashsalt": "simcrawl"}):
        figure.savefig(out, format=file_format, dpi=150, metadata={"Date": None} if file_format == "svg" else None)
    return out.getvalue()


def check_plot(file_format: str) -> None:
    """Find out whether a picture can be drawn.

    Raises:
        SettingError: matplotlib is not installed, or the format is none of `PLOT_FORMATS`.
    """
    if file_format not in PLOT_FORMATS:
        raise SettingError(f"a plot is no {file_format!r} file: use a name that ends in .{' or .'.join(PLOT_FORMATS)}")
    try:
        import matplotlib as mpl  # noqa: F401, PLC0415 - an extra
    except ImportError as exc:
        raise SettingError('a plot needs matplotlib, which is not installed: pip install "simcrawl[plot]"') from exc


def _figure(pairs: list[Measured], max_distance: int) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra; without pyplot, which wants a display and keeps state

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    known = [(pair.near, pair.distance) for pair in pairs if pair.distance is not None]
    edges = [distance - 0.5 for distance in range(max([max_distance, *(distance for _, distance in known)]) + 2)]
    for is_near, name, colour in ((True, "near", "#0072b2"), (False, "different", "#d55e00")):
        distances = [distance for near, distance in known if near is is_near]
        axes.hist(distances, bins=edges, color=colour, alpha=0.6, label=f"{name}: {len(distances)} pairs")
    axes.axvline(max_distance + 0.5, color="black", linestyle="--", linewidth=1, label=f"candidates: up to {max_distance} bits")
    axes.set(xlabel="differing bits of the fingerprints", ylabel="pairs", title="Hamming distances of labelled pairs")
    axes.legend()
    return figure
