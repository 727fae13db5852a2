"""Figures, as SVG that a diff can show."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def pyplot() -> Any:
    """Return matplotlib's functions; it must be installed."""
    # By name: it is an extra, and the types of everything else must not depend on whether it is installed.
    mpl: Any = import_module("matplotlib")
    mpl.use("svg")
    # Text as text, names that do not change from run to run: a new figure shows in a diff what became different.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "simcrawl", "font.size": 9}
    return import_module("matplotlib.pyplot")


def save(figure: Any, path: Path) -> None:
    """Write a figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
