"""Settings: parsed once, checked together, frozen. Knows nothing of Scrapy; `SETTINGS` is the complete list.

Every value may arrive as text (`scrapy crawl -s`), and a wrong one is refused with the setting's name, the value and what is
allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import MAX_PAGE_BYTES, MAX_PAGE_SECONDS, MAX_WORKER_BYTES
from simcrawl.page.recipes import load, resolve

if TYPE_CHECKING:
    from simcrawl.rule import Action, Originals, Scope

Parse = Callable[[Any], Any]
_PREFIX = "SIMCRAWL_"


class Setting(NamedTuple):
    """How a setting is read (which refuses what is out of bounds, with a ValueError that says what to use), and what it is for.

    `default`: None is the recipe's own value where it has one, else off. `help` is one line of Markdown; `more` goes on where it ends,
    for those who want all of it. `example` stands for a default of None.
    """

    read: Parse
    default: Any
    help: str
    more: str = ""
    example: str | None = None


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


def _skip(value: Any) -> float | None:
    if str(value).strip().lower() == "false":
        return None
    try:
        return float(_number(float, 0.5, 1)(value))
    except ValueError:
        raise ValueError("use a number from 0.5 to 1 such as 0.95, or False") from None


def _hosts(value: Any) -> tuple[str, ...]:
    given = [host for host in value.split(",") if host.strip()] if isinstance(value, str) else value
    hosts = [host.strip().lower() if isinstance(host, str) else host for host in (given if isinstance(given, (list, tuple)) else [given])]
    if wrong := [host for host in hosts if not (isinstance(host, str) and _HOST.fullmatch(host))]:
        raise ValueError(f"{wrong[0]!r} is no host: use names such as 'www.example.org', without a scheme, port or path")
    return tuple(sorted(set(hosts)))


_HOST = re.compile(r"[^\s/:?#@,]+|\[[0-9a-f:.]+\]")
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


SETTINGS: dict[str, Setting] = {
    "SIMCRAWL_ENABLED": Setting(_boolean, True, "`False` switches simcrawl off"),
    "SIMCRAWL_STORE": Setting(
        _path,
        "simcrawl",
        "where pages are remembered: a directory (a relative one is below `.scrapy/`, as `HTTPCACHE_DIR`), `lmdb:///absolute/path`, or "
        "`memory:`",
        " (`memory:?seed=1` gives the same result every time)",
    ),
    "SIMCRAWL_ACTION": Setting(
        _one_of("drop", "drop-items", "drop-links", "observe"),
        "drop",
        'what happens to a copy: `"drop"` (its items, and its outlinks as `SIMCRAWL_OUTLINKS` says); `"drop-items"` (outlinks are always '
        'followed); `"drop-links"` (items kept, links as `SIMCRAWL_OUTLINKS` says); `"observe"` (only count and record)',
    ),
    "SIMCRAWL_MAX_DISTANCE": Setting(_number(int, 0, 128), None, "differing fingerprint bits up to which a stored page is a candidate"),
    "SIMCRAWL_MIN_SIMILARITY": Setting(
        _similarity,
        None,
        "estimated similarity of the contents from which a candidate is a near-duplicate; `0` switches verification off",
        ". Of the prose of an article, twice as much may differ",
    ),
    "SIMCRAWL_SCOPE": Setting(
        _one_of("all", "site"),
        "all",
        'which pages can be an original: `"all"`, or those of the same `"site"` (registrable domain; of an address or `localhost`, the '
        "host)",
    ),
    "SIMCRAWL_ORIGINALS": Setting(
        _one_of("crawl", "store"),
        "crawl",
        'which crawl an original must be of: `"crawl"`, of this one (and pages that were loaded); `"store"`, of any that the store knows: '
        "then only what no crawl ever had comes out",
        ", and a warning says so where most originals are not of this crawl. See [crawls](#crawls)",
    ),
    "SIMCRAWL_CRAWL": Setting(
        _text,
        None,
        "a name: processes and spiders with the same name and store share one crawl as long as one of them lives",
        example="nightly",
    ),
    "SIMCRAWL_RESET": Setting(
        _boolean, False, "forget all that the store holds before the crawl begins", "; refused while another crawl uses the store"
    ),
    "SIMCRAWL_COPIES_KEPT": Setting(_number(int, 1, _MANY), 1, "the first so many pages of a cluster are kept"),
    "SIMCRAWL_PREFER": Setting(
        _one_of("canonical"),
        None,
        'which of several copies is kept: by default the one that comes first; `"canonical"`: the one that others name as canonical, for '
        "which they wait some seconds (without a name: `https` rather than `http`, the shorter URL rather than the longer)",
        ". A page that names another URL as canonical waits where a request for that is under way or in the queue; a page that names none "
        "waits for the same address with `https`, and for the shorter one without `index.html` or a query. For five seconds "
        "(`SIMCRAWL_MAX_PAGE_SECONDS` at most), and half of `CONCURRENT_REQUESTS` pages at a time: with one request at a time none waits. "
        "Then it is judged as ever. Only where copies are dropped, of which one is kept. See [what pages say of "
        "themselves](how-it-works.md#what-pages-say-of-themselves)",
        example="canonical",
    ),
    "SIMCRAWL_OUTLINKS": Setting(
        _outlinks,
        None,
        'outlinks of a dropped page: `"follow"` all; `1.0`: drop them where the text is identical and its links lead to the same '
        'addresses, queries included; a lower similarity: from there on, with the same links; `"drop"` all, as the paper',
    ),
    "SIMCRAWL_ORDER": Setting(
        _boolean,
        True,
        "requests that are likely copies are made after others; `False`: as Scrapy has them, and none is skipped",
        ". See [which requests are made, and when](how-it-works.md#which-requests-are-made-and-when)",
    ),
    "SIMCRAWL_SKIP": Setting(
        _skip,
        0.95,
        "from which cautious estimate on a request is left out, since its page would be a copy: a number from 0.5 to 1, or `False` to "
        "make all of them",
        '. None is left out unless `SIMCRAWL_ACTION` is `"drop"` and `SIMCRAWL_COPIES_KEPT` is 1',
    ),
    "SIMCRAWL_MIRRORS": Setting(
        _hosts,
        (),
        "hosts with equal pages, as a list or with commas between them: requests for pages of one are left out in favour of pages of "
        "another one as within one host",
        ". Of other hosts they only come later, but for `www.` and http or https of one",
    ),
    "SIMCRAWL_RECIPE": Setting(
        _recipe,
        "auto",
        'how pages become fingerprints: `"auto"`, `"content"`, `"main"` (the same with the fingerprint of trafilatura\'s main text), '
        '`"manku2007"` (the paper\'s plain rule), `"resiliparse"` (by that library\'s main text alone; needs the extra `fast`), '
        '`"layout"`, or a dotted path to a `simcrawl.Recipe`',
    ),
    "SIMCRAWL_EXTRACTOR": Setting(
        _extractor,
        None,
        "dotted path to a callable `(body: bytes, encoding: str, url: str) -> str` that gives the main text; pages are then compared by "
        "it alone",
        " (it is not called for pages that are `too_deep`). The recipe's is trafilatura, which `content` does without",
    ),
    "SIMCRAWL_MIN_FEATURES": Setting(_count, None, "pages of fewer words (or unspaced characters) are compared as exact copies only"),
    "SIMCRAWL_MIN_AROUND": Setting(
        _count,
        None,
        "words (or unspaced characters) around an article, on one of two pages, from which equal prose alone makes a copy; `0`: always",
        ". See [how it works](how-it-works.md)",
    ),
    "SIMCRAWL_MAX_PAGE_BYTES": Setting(_number(int, 1, _MANY), MAX_PAGE_BYTES, "larger pages pass, as `too_large`"),
    "SIMCRAWL_MAX_PAGE_SECONDS": Setting(
        _number(float, 0.001, _MANY),
        MAX_PAGE_SECONDS,
        "slower pages pass, as `too_slow`",
        ", and a worker process that is busy with one is killed and replaced; also how long a copy waits for its original to be done with",
    ),
    "SIMCRAWL_EXPIRE_DAYS": Setting(
        _seconds,
        0,
        "pages not seen for so many days are forgotten; `0`: never",
        ". They are no originals any more, are judged like new ones when they come again, and are removed from the store when a crawl "
        "begins, for all who use it (last visits are kept to the hour)",
    ),
    "SIMCRAWL_WORKERS": Setting(
        _workers,
        "auto",
        'worker processes for pages: a number, `0` for threads, or `"auto"`',
        " (as many as there are cores beside the crawl's own, one at least, four at most, and one more where a page holds up the others). "
        "They are started when they are needed. Threads share the crawl's processor time, and a page that hangs in one cannot be stopped. "
        "See [where pages are processed](#where-pages-are-processed)",
    ),
    "SIMCRAWL_MAX_WORKER_BYTES": Setting(
        _number(int, 1, _MANY),
        MAX_WORKER_BYTES,
        "memory of a worker process: a page that needs more passes, as `out_of_memory`",
        ", and a worker that has grown to half of it is replaced",
    ),
    "SIMCRAWL_SYNC_SECONDS": Setting(_seconds, 1.0, "confirmed pages are written and synced in one transaction at most this often"),
    "SIMCRAWL_DURABLE_FEED": Setting(
        _durable_feed,
        "auto",
        "a page is confirmed only when its items have been flushed to the feed's file, so that a hard kill loses nothing that its copies "
        'could have brought back: `"auto"` where that can be done (plain local files), `True` (the same, and a warning where it cannot), '
        "`False` (when its items have left the pipelines)",
        ". It can be done without post-processing or batches, with Scrapy's own exporters or classes derived from them, and a store that "
        'lasts; with `"auto"`, a line in the log says where it cannot. See [what a hard kill costs](howto.md#stop-a-crawl-and-resume-it)',
    ),
    "SIMCRAWL_ITEM_FIELD": Setting(
        _text,
        None,
        "name of a text field: items whose text is a near-duplicate of an earlier item's of this crawl are dropped",
        "; texts under the minimum length pass. For listings, whose pages differ in a few items only, set `SIMCRAWL_ACTION` to "
        '`"drop-links"` beside it',
        example="text",
    ),
    "SIMCRAWL_KEEP_TEXT": Setting(
        _keep_text,
        False,
        "keep the content of pages and of their near-duplicates in the store, compressed, for `simcrawl report` to show what differs: "
        "`True` (100 MB in all), or how many bytes in all",
        ". At most 100,000 characters a page. A store that is full of them keeps no more. Pages whose bytes are known from the store or "
        "from another page are not taken apart again, and so get no text",
    ),
    "SIMCRAWL_RECRAWL": Setting(
        _path,
        None,
        "a file with one URL a line, such as `simcrawl duplicates --urls` prints: any spider starts from these instead of its own start "
        "requests, and their pages are kept whatever they are copies of",
        "; see [below](#taking-a-verdict-back)",
        example="dropped.txt",
    ),
    "SIMCRAWL_DEBUG": Setting(_boolean, False, "log every drop at INFO, not only the first"),
}
"""Every setting by its name. `python -m tests.documents docs/reference.md settings_example.py` tells the documents of a change."""


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
    prefer: str | None
    outlinks: float | str | None
    order: bool
    skip: float | None
    mirrors: tuple[str, ...]
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
        values = {name.removeprefix(_PREFIX).lower(): parse(name, get(name)) for name in SETTINGS}
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
    setting = SETTINGS[name]
    if value is None:
        value = setting.default
    if value is None:
        return None
    try:
        return setting.read(value)
    except ValueError as exc:
        # What stands behind it is of use only where a module could not be imported.
        raise SettingError(f"{name} is {cast('object', value)!r}: {exc}") from exc.__cause__


def unknown(names: Iterable[object]) -> dict[str, str | None]:
    """Return those names that begin as settings do and are none, each with the setting that is probably meant; None where none is near."""
    wrong = sorted(name for name in names if isinstance(name, str) and name.startswith(_PREFIX) and name not in SETTINGS)
    return {name: _nearest(name) for name in wrong}


def _nearest(name: str) -> str | None:
    # Without the prefix, which would make every name near to every other.
    known = [setting.removeprefix(_PREFIX) for setting in SETTINGS]
    given = name.removeprefix(_PREFIX).upper()
    # The same letters first: the matcher may find another name as near.
    near = [setting for setting in known if sorted(setting) == sorted(given)] or get_close_matches(given, known, 1)
    return _PREFIX + near[0] if near else None
