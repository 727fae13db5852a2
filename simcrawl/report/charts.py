"""Charts: where bars, labels and lines stand. All are bars; `templates/bars.svg` draws them, and the page's style sheet colours them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import accumulate
from math import ceil, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

WIDTH, HEIGHT = 460, 240
_TOP, _RIGHT, _BOTTOM = 8, 14, 22
# Of a letter of twelve pixels, about.
_LETTER = 6.6
_ROW = 26
_LONGEST_NAME = 26
# What of its place a bar fills.
_FILLED = 0.84
_MOST_STEPS = 48
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400)
_DAY = 86_400


class Bars(NamedTuple):
    """What a chart shows: values by series, and a name for every bar. `limit`: the bar before which a line is drawn, counted from 0."""

    series: Mapping[str, Sequence[float]]
    labels: Sequence[str]
    limit: float | None = None


class Bar(NamedTuple):
    """A rectangle. `series`: its number; `title`: what it stands for."""

    x: float
    y: float
    width: float
    height: float
    series: int
    title: str


class Tick(NamedTuple):
    """A text beside an axis, at so many pixels along it."""

    at: float
    text: str


class Drawing(NamedTuple):
    """A chart in pixels. The bars stand within `left`, `top`, `right`, `bottom`; `across`: they lie, and their names stand to the left.

    `limit`: where a line goes from top to bottom.
    """

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float
    bars: list[Bar]
    names: list[Tick]
    values: list[Tick]
    limit: float | None = None
    across: bool = False


class _Span(NamedTuple):
    """A bar before it is turned: from where to where along the names (0 to 1), and along the values."""

    start: float
    end: float
    low: float
    high: float
    series: int
    title: str


def count(number: float) -> str:
    """Return a number with its thousands parted."""
    return f"{number:,.0f}"


def stacked(bars: Bars, *, every: int = 1, most: float = 0, told: Callable[[float], str] = count) -> Drawing:
    """Return a chart of stacked bars. `every`: how many bars a label; `most`: what the axis reaches at least; `told`: how values read."""
    return _upright(bars, _stack(bars, told), every, most, told)


def beside(bars: Bars, *, every: int = 1, told: Callable[[float], str] = count) -> Drawing:
    """Return a chart of bars side by side."""
    many = len(bars.series)
    width = _FILLED / len(bars.labels) / many
    spans = [
        _Span(start, start + width, 0, value, number, _title(bars, at, name, told(value)))
        for number, (name, values) in enumerate(bars.series.items())
        for at, value in enumerate(values)
        for start in [(at + (1 - _FILLED) / 2) / len(bars.labels) + number * width]
    ]
    return _upright(bars, spans, every, 0, told)


def across(bars: Bars) -> Drawing:
    """Return a chart of stacked bars from left to right, the first on top."""
    spans = _stack(bars, count)
    names = [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in bars.labels]
    left, top, right, bottom = _margin(names), 2, WIDTH - _RIGHT, 2 + _ROW * len(names)
    ticks = _ticks(max(span.high for span in spans), whole=True)
    wide, high = (right - left) / ticks[-1], bottom - top
    return Drawing(
        *(WIDTH, bottom + _BOTTOM, left, top, right, bottom),
        [
            Bar(left + a.low * wide, top + a.start * high, (a.high - a.low) * wide, (a.end - a.start) * high, a.series, a.title)
            for a in spans
            if a.high > a.low
        ],
        [Tick(top + (at + 0.5) * _ROW, name) for at, name in enumerate(names)],
        [Tick(left + value * wide, count(value)) for value in ticks],
        across=True,
    )


def _upright(bars: Bars, spans: list[_Span], every: int, most: float, told: Callable[[float], str]) -> Drawing:
    ticks = _ticks(max(most, *(span.high for span in spans)), whole=told is count)
    texts = [told(value) for value in ticks]
    left, top, right, bottom = _margin(texts), _TOP, WIDTH - _RIGHT, HEIGHT - _BOTTOM
    wide, high = right - left, (bottom - top) / ticks[-1]
    number = len(bars.labels)
    return Drawing(
        *(WIDTH, HEIGHT, left, top, right, bottom),
        [
            Bar(
                left + span.start * wide,
                bottom - span.high * high,
                (span.end - span.start) * wide,
                (span.high - span.low) * high,
                *span[4:],
            )
            for span in spans
            if span.high > span.low
        ],
        [Tick(left + wide * (at + 0.5) / number, name) for at, name in enumerate(bars.labels) if not at % every],
        [Tick(bottom - value * high, text) for value, text in zip(ticks, texts, strict=True)],
        None if bars.limit is None else left + wide * bars.limit / number,
    )


def _stack(bars: Bars, told: Callable[[float], str]) -> list[_Span]:
    spans = []
    number = len(bars.labels)
    for at, column in enumerate(zip(*bars.series.values(), strict=True)):
        start, end = (at + (1 - _FILLED) / 2) / number, (at + (1 + _FILLED) / 2) / number
        ends = list(accumulate(column, initial=0.0))
        spans += [
            _Span(start, end, ends[series], ends[series + 1], series, _title(bars, at, name, told(column[series])))
            for series, name in enumerate(bars.series)
        ]
    return spans


def _title(bars: Bars, at: int, name: str, value: str) -> str:
    return " · ".join(filter(None, (bars.labels[at], name if len(bars.series) > 1 else "", value)))


def _margin(texts: Iterable[str]) -> float:
    return 10 + _LETTER * max(map(len, texts))


def _ticks(most: float, *, whole: bool) -> list[float]:
    """Return round values from 0 to the largest one or beyond, in four steps at most. `whole`: there is nothing between two numbers."""
    most = most or 1
    size = 10.0 ** (ceil(log10(most)) - 1)
    step = next(size * factor for factor in (0.5, 1, 2, 5) if size * factor * 4 >= most)
    step = max(step, 1.0) if whole else step
    # Rounding must not add a step.
    return [step * number for number in range(ceil(most / step - 1e-9) + 1)]


def over_time(times: Mapping[str, Iterable[float]]) -> tuple[dict[str, list[int]], list[str], int]:
    """Return how many of each kind fall into each of up to 48 equal stretches of time, their names, and their seconds."""
    held = {kind: list(values) for kind, values in times.items()}
    everything = [moment for values in held.values() for moment in values]
    first, last = (min(everything), max(everything)) if everything else (0.0, 0.0)
    step = next((step for step in _STEPS if (last - first) / step < _MOST_STEPS), None)
    if step is None:
        step = (int((last - first) / _DAY) // _MOST_STEPS + 1) * _DAY
    start = int(first // step) * step
    count = int((last - start) // step) + 1
    counts = {kind: [0] * count for kind in held}
    for kind, values in held.items():
        for moment in values:
            counts[kind][int((moment - start) // step)] += 1
    shape = "%Y-%m-%d" if step >= _DAY else "%d %b %H:%M" if step * count > _DAY else "%H:%M" if step >= 60 else "%H:%M:%S"
    return counts, [datetime.fromtimestamp(start + step * number, UTC).strftime(shape) for number in range(count)], step
