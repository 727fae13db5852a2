"""Settings: parsed once, checked together, frozen. Knows nothing of Scrapy; `SETTINGS` is the complete list.

Every value may arrive as text (`scrapy crawl -s`), and a wrong one is refused with the setting's name, the value and what is
allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from simcrawl.errors import SettingError
from simcrawl.pages import MAX_PAGE_BYTES, MAX_PAGE_SECONDS, MAX_WORKER_BYTES
from simcrawl.recipes import load, resolve

if TYPE_CHECKING:
    from simcrawl.rule import Action, Originals, Scope

Parse = Callable[[Any], Any]


def _boolean(value: Any) -> bool:
    known = {"true": True, "1": True, "false": False, "0": False}
    text = str(value).strip().lower()
    if text not in known:
        raise ValueError("use True or False")
    return known[text]


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("use a non-empty string")
    return value.strip()


def _path(value: Any) -> str:
    return _text(str(value) if isinstance(value, PathLike) else value)


def _recipe(value: Any) -> Any:
    """Accept the name of a recipe that exists and whose extractor is there, or the recipe itself."""
    named = _text(value) if isinstance(value, str) else value
    resolve(named).load_extractor()
    return named


def _extractor(value: Any) -> str:
    path = _text(value)
    if callable(load(path)):
        return path
    raise ValueError("use the dotted path of a callable (body, encoding, url) -> str")


def _one_of(*allowed: str) -> Parse:
    def parse(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"use one of {', '.join(map(repr, allowed))}")
        return str(value)

    return parse


def _number(convert: Callable[[Any], float], low: float, high: float) -> Parse:
    def parse(value: Any) -> float:
        try:
            number = convert(value)
        except (OverflowError, TypeError, ValueError):
            number = low - 1
        cut = isinstance(value, float) and number != value
        if isinstance(value, bool) or cut or not low <= number <= high:
            kind = "a whole number" if convert is int else "a number"
            raise ValueError(f"use {kind} from {low:g} to {high:g}" if high < _MANY else f"use {kind} of {low:g} or more")
        return number

    return parse


_MANY = 10**15
_similarity = _number(float, 0, 1)
_count = _number(int, 0, _MANY)
_seconds = _number(float, 0, _MANY)


def _outlinks(value: Any) -> float | str:
    if value in ("drop", "follow"):
        return str(value)
    try:
        return float(_similarity(value))
    except ValueError:
        raise ValueError("use 'drop', 'follow', or a similarity from 0 to 1 such as 0.98") from None


def _durable_feed(value: Any) -> bool | None:
    try:
        return None if value == "auto" else _boolean(value)
    except ValueError:
        raise ValueError("use 'auto', True or False") from None


def _workers(value: Any) -> int | None:
    return None if value == "auto" else int(_number(int, 0, 64)(value))


_KEPT_TEXT = 100_000_000


def _keep_text(value: Any) -> int:
    try:
        return _KEPT_TEXT if _boolean(value) else 0
    except ValueError:
        pass
    try:
        return int(_number(int, 0, _MANY)(value))
    except ValueError:
        raise ValueError("use True, False, or how many bytes the texts of a store may take") from None


SETTINGS: dict[str, tuple[Parse, Any]] = {
    "SIMCRAWL_ENABLED": (_boolean, True),
    "SIMCRAWL_STORE": (_path, "simcrawl"),
    "SIMCRAWL_ACTION": (_one_of("drop", "drop-items", "drop-links", "observe"), "drop"),
    "SIMCRAWL_MAX_DISTANCE": (_number(int, 0, 128), None),
    "SIMCRAWL_MIN_SIMILARITY": (_similarity, None),
    "SIMCRAWL_SCOPE": (_one_of("all", "site"), "all"),
    "SIMCRAWL_ORIGINALS": (_one_of("crawl", "store"), "crawl"),
    "SIMCRAWL_CRAWL": (_text, None),
    "SIMCRAWL_RESET": (_boolean, False),
    "SIMCRAWL_COPIES_KEPT": (_number(int, 1, _MANY), 1),
    "SIMCRAWL_OUTLINKS": (_outlinks, None),
    "SIMCRAWL_RECIPE": (_recipe, "auto"),
    "SIMCRAWL_EXTRACTOR": (_extractor, None),
    "SIMCRAWL_MIN_FEATURES": (_count, None),
    "SIMCRAWL_MIN_AROUND": (_count, None),
    "SIMCRAWL_MAX_PAGE_BYTES": (_number(int, 1, _MANY), MAX_PAGE_BYTES),
    "SIMCRAWL_MAX_PAGE_SECONDS": (_number(float, 0.001, _MANY), MAX_PAGE_SECONDS),
    "SIMCRAWL_EXPIRE_DAYS": (_seconds, 0),
    "SIMCRAWL_WORKERS": (_workers, "auto"),
    "SIMCRAWL_MAX_WORKER_BYTES": (_number(int, 1, _MANY), MAX_WORKER_BYTES),
    "SIMCRAWL_SYNC_SECONDS": (_seconds, 1.0),
    "SIMCRAWL_DURABLE_FEED": (_durable_feed, "auto"),
    "SIMCRAWL_ITEM_FIELD": (_text, None),
    "SIMCRAWL_KEEP_TEXT": (_keep_text, False),
    "SIMCRAWL_RECRAWL": (_path, None),
    "SIMCRAWL_DEBUG": (_boolean, False),
}
"""Name of each setting: how it is parsed, and its default (None: the recipe's own value, or off)."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of one crawl, parsed. Fields are the settings in lower case without their prefix."""

    enabled: bool
    store: str
    action: Action
    max_distance: int | None
    min_similarity: float | None
    scope: Scope
    originals: Originals
    crawl: str | None
    reset: bool
    copies_kept: int
    outlinks: float | str | None
    recipe: Any
    extractor: str | None
    min_features: int | None
    min_around: int | None
    max_page_bytes: int
    max_page_seconds: float
    expire_days: float
    workers: int | None
    max_worker_bytes: int
    sync_seconds: float
    durable_feed: bool | None
    item_field: str | None
    keep_text: int
    recrawl: str | None
    debug: bool

    @classmethod
    def from_settings(cls, get: Callable[[str], Any]) -> Config:
        """Return the settings that `get(name)` finds; where it finds None the default holds.

        Raises:
            SettingError: a value is wrong, or a SIMCRAWL_RECIPE or SIMCRAWL_EXTRACTOR does not exist.
        """
        values = {name.removeprefix("SIMCRAWL_").lower(): parse(name, get(name)) for name in SETTINGS}
        return cls(**values)

    @property
    def detector_options(self) -> dict[str, Any]:
        """The keyword arguments of `simcrawl.Detector`."""
        names = ("recipe", "max_distance", "min_similarity", "min_features", "min_around", "outlinks", "extractor")
        limits = ("action", "scope", "originals", "copies_kept", "expire_days", "max_page_bytes", "max_page_seconds", "keep_text")
        return {name: getattr(self, name) for name in names + limits}


def parse(name: str, value: Any) -> Any:
    """Return the value of a setting, its default for None.

    Raises:
        SettingError: the value is wrong.
    """
    convert, default = SETTINGS[name]
    if value is None:
        value = default
    if value is None:
        return None
    try:
        return convert(value)
    except ValueError as exc:
        raise SettingError(f"{name} is {cast('object', value)!r}: {exc}") from exc
