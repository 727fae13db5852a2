"""What documents show of the settings, made of `simcrawl.config.SETTINGS`: the table of the reference, and `settings_example.py`."""

from __future__ import annotations

import json
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from simcrawl.config import SETTINGS
from simcrawl.detector import OUTLINKS
from simcrawl.page.recipes import DEFAULT, RECIPES

if TYPE_CHECKING:
    from pathlib import Path

    from simcrawl.config import Setting

SETTINGS_PAGES = ("docs/reference.md", "settings_example.py")
_HEAD = "| setting | default | meaning |"
_ADDON = 'ADDONS = {"simcrawl.Addon": 500}'
_COLUMNS = 138
_GROUPED = 10_000


def renewed_settings(page: Path) -> list[str]:
    """Return the lines of one of the documents with the settings as they are."""
    lines = page.read_text().splitlines()
    if page.suffix == ".py":
        return [
            *lines[: lines.index(_ADDON) + 1],
            "",
            *_example(bounds=False),
            "",
            "# ---- thresholds and limits",
            "",
            *_example(bounds=True),
        ]
    start = 0
    # Two tables: first what a crawl may want.
    for bounds in (False, True):
        start = lines.index(_HEAD, start) + 2
        lines[start : lines.index("", start)] = [_row(name) for name, setting in SETTINGS.items() if setting.is_bound == bounds]
    return lines


def _row(name: str) -> str:
    setting = SETTINGS[name]
    return f"| `{name}` | {_told_default(name, setting)} | {setting.help}{setting.more} |"


def _told_default(name: str, setting: Setting) -> str:
    if setting.default is not None:
        return f"`{_literal(setting.default)}`"
    value = _recipes_own(name)
    if value is None:
        return "off"
    return f"the recipe's: `{_literal(value)}`" if isinstance(value, str) else f"the recipe's: {_literal(value)}"


def _example(*, bounds: bool) -> list[str]:
    lines: list[str] = []
    for name, setting in SETTINGS.items():
        if setting.is_bound != bounds:
            continue
        lines += [f"# {line}" for line in wrap(_comment(setting), _COLUMNS, break_long_words=False, break_on_hyphens=False)]
        if setting.default is not None:
            lines.append(f"{name} = {_literal(setting.default)}")
        else:
            value = _recipes_own(name)
            lines.append(f"# {name} = {_literal(setting.example if value is None else value)}")
    return lines


def _comment(setting: Setting) -> str:
    plain = setting.help.replace("`", "")
    return f"{plain[0].upper()}{plain[1:]}."


def _recipes_own(name: str) -> Any:
    """Return what stands for a setting in the default recipe, as a setting would say it; None where recipes have no such thing."""
    value = getattr(RECIPES[DEFAULT], name.removeprefix("SIMCRAWL_").lower(), None)
    return next((word for word, number in OUTLINKS.items() if number == value), value) if name == "SIMCRAWL_OUTLINKS" else value


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    return f"{value:_}" if isinstance(value, int) and value >= _GROUPED else repr(value)
