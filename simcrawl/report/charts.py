"""Charts as SVG, drawn by pygal, coloured by the page's own style sheet so that they follow its light and dark."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import pygal
from pygal.etree import etree
from pygal.style import Style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# It puts a finder for its former maps into every later import of the process; Python 3.11 warns of one without find_spec.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != pygal.__name__]

WIDTH, HEIGHT = 460, 240
_FONT = "sans-serif"
_STYLE = Style(
    **{f"{part}font_family": _FONT for part in ("", "label_", "major_label_", "legend_", "title_", "tooltip_", "value_")},
    label_font_size=12,
    major_label_font_size=12,
    legend_font_size=12,
)
_COMMON: dict[str, Any] = {
    "css": [],
    "js": [],
    "disable_xml_declaration": True,
    "height": HEIGHT,
    "margin": 4,
    "no_prefix": True,
    "show_legend": False,
    "spacing": 6,
    "style": _STYLE,
    "truncate_label": -1,
    "width": WIDTH,
    "y_labels_major_count": 3,
    "show_minor_y_labels": False,
}
_LEFT_OUT = ("defs", "title")
_OVERLAYS = ("plot overlay", "plot text-overlay", "plot tooltip-overlay")
_MOST_STEPS = 48
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400)
_DAY = 86_400


class Bars(NamedTuple):
    """What a chart shows: values by series, and a name for every bar. `limit`: the bar before which a line is drawn, counted from 0."""

    series: Mapping[str, Sequence[float]]
    labels: Sequence[str]
    limit: float | None = None


def stacked(bars: Bars, *, every: int = 1, **options: Any) -> str:
    """Return a chart of stacked bars. `every`: how many bars a label."""
    return _draw(pygal.StackedBar, bars, options | _labelled(bars, every))


def beside(bars: Bars, *, every: int = 1, **options: Any) -> str:
    """Return a chart of bars side by side."""
    return _draw(pygal.Bar, bars, options | _labelled(bars, every))


def across(bars: Bars) -> str:
    """Return a chart of stacked bars from left to right, the first on top."""
    turned = Bars({name: values[::-1] for name, values in bars.series.items()}, bars.labels[::-1])
    options: dict[str, Any] = {"height": 36 + 26 * len(bars.labels), "truncate_label": 26, "show_minor_y_labels": True}
    return _draw(pygal.HorizontalStackedBar, turned, options | {"y_labels_major_count": None})


def _labelled(bars: Bars, every: int) -> dict[str, Any]:
    return {"x_labels_major": bars.labels[::every], "show_minor_x_labels": False} if every > 1 else {}


def _draw(kind: Any, bars: Bars, options: dict[str, Any]) -> str:
    chart = kind(**_COMMON | options)
    chart.x_labels = bars.labels
    for name, values in bars.series.items():
        chart.add(name, list(values))
    chart.add_xml_filter(lambda root: _cleaned(root, bars))
    svg: str = chart.render(is_unicode=True)
    return svg


def _cleaned(root: Any, bars: Bars) -> Any:
    """Leave the drawing alone: no scripts, no styles, no comments; what a bar stands for becomes its title."""
    for element in list(root.iter()):
        if not isinstance(element.tag, str) or element.tag.rpartition("}")[2] in _LEFT_OUT or element.get("class") in _OVERLAYS:
            _remove(element)
    for number, name in enumerate(bars.series):
        for bar in root.iterfind(f".//g[@class='series serie-{number} color-{number}']//g"):
            _entitle(bar, name if len(bars.series) > 1 else "")
    if bars.limit is not None:
        _mark(root, bars.limit, len(bars.labels))
    root.attrib.pop("id", None)
    root.set("aria-hidden", "true")
    return root


def _remove(element: Any) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _entitle(bar: Any, name: str) -> None:
    told = {element.get("class"): element.text or "" for element in bar.iterfind("desc")}
    for element in bar.findall("desc"):
        bar.remove(element)
    etree.SubElement(bar, "title").text = " · ".join(filter(None, (told.get("x_label", ""), name, told.get("value", ""))))


def _mark(root: Any, limit: float, count: int) -> None:
    """Draw a line before the bar number `limit`, counted from 0."""
    plot = root.find(".//g[@class='plot']")
    area = plot.find("rect")
    width, height = float(area.get("width")), float(area.get("height"))
    # pygal leaves a fiftieth of the width free on both sides.
    margin = width / 52
    x = margin + (width - 2 * margin) * limit / count
    etree.SubElement(plot, "line", {"class": "limit", "x1": f"{x:.1f}", "x2": f"{x:.1f}", "y1": "0", "y2": f"{height:.1f}"})


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
