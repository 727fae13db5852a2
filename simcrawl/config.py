"""Settings: parsed once, checked together, frozen. Knows nothing of Scrapy; `SETTINGS` is the complete list.

Every value may arrive as text (`scrapy crawl -s`), and a wrong one is refused with the setting's name, the value and what is
allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import MAX_PAGE_BYTES, MAX_PAGE_SECONDS, MAX_WORKER_BYTES
from simcrawl.page.recipes import load, resolve
from simcrawl.system import checked_mode

if TYPE_CHECKING:
    from simcrawl.rule import Action, Originals, Scope

Parse = Callable[[Any], Any]
_PREFIX = "SIMCRAWL_"


class Setting(NamedTuple):
    """How a setting is read (which refuses what is out of bounds, with a ValueError that says what to use), and what it is for.

    `default`: None is the recipe's own value where it has one, else off. `help` is one line of Markdown; `more` goes on where it ends,
    for those who want all of it. `example` stands for a default of None. `detector`: it is an argument of `simcrawl.Detector`, too.
    `is_bound`: it is a threshold, a limit or a switch of the inner works, whose default few need to change.
    """

    read: Parse
    default: Any
    help: str
    more: str = ""
    example: str | None = None
    detector: bool = False
    is_bound: bool = False


def _setting(*given: Any, **more: Any) -> Any:
    return field(metadata={"setting": Setting(*given, **more)})


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


def _prefer(value: Any) -> str:
    if value == "canonical":
        return "canonical"
    raise ValueError("use 'canonical', or leave it out: then the copy is kept that comes first")


@dataclass(frozen=True, slots=True)
class Number:
    """Reads a number within bounds; `high`: None where there is none to speak of."""

    kind: type[int | float]
    low: float
    high: float | None = None

    def __call__(self, value: Any) -> float:
        """Return the number."""
        high = _MANY if self.high is None else self.high
        try:
            number: float = self.kind(value)
        except (OverflowError, TypeError, ValueError):
            number = self.low - 1
        cut = isinstance(value, float) and number != value
        if isinstance(value, bool) or cut or not self.low <= number <= high:
            kind = "a whole number" if self.kind is int else "a number"
            raise ValueError(f"use {kind} of {self.low:g} or more" if self.high is None else f"use {kind} from {self.low:g} to {high:g}")
        return number


_MANY = 10**15
_similarity = Number(float, 0, 1)
_count = Number(int, 0)
_seconds = Number(float, 0)


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
    try:
        return None if value == "auto" else int(Number(int, 0, 64)(value))
    except ValueError as exc:
        raise ValueError(f"{exc}, or 'auto'") from None


def _mode(value: Any) -> int:
    try:
        if isinstance(value, str):
            return checked_mode(int(value, 8))
    except ValueError:
        pass
    raise ValueError("use octal text from '0600', the owner's alone, to '0666', such as '0660'")


def _skip(value: Any) -> float | None:
    if str(value).strip().lower() == "false":
        return None
    try:
        return float(Number(float, 0.5, 1)(value))
    except ValueError:
        raise ValueError("use a number from 0.5 to 1 such as 0.95, or False") from None


def _hosts(value: Any) -> tuple[str, ...]:
    given: Any = [host for host in value.split(",") if host.strip()] if isinstance(value, str) else value
    many: Any = given if isinstance(given, (list, tuple, set, frozenset)) else [given]
    hosts = [host.strip().lower() if isinstance(host, str) else host for host in many]
    if wrong := [host for host in hosts if not (isinstance(host, str) and _HOST.fullmatch(host))]:
        raise ValueError(f"{wrong[0]!r} is no host: use names such as 'www.example.org', without a scheme, port or path")
    return tuple(sorted(set(hosts)))


def _names(value: Any) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value
    names = list(given) if isinstance(given, (list, tuple, set, frozenset)) else [given]
    if wrong := [name for name in names if not isinstance(name, str) or set(name) & set("=&?#;,")]:
        raise ValueError(f"{wrong[0]!r} is no name of a parameter: use a list of names such as 'token'")
    return tuple(sorted({name.strip().lower() for name in names if name.strip()}))


_HOST = re.compile(r"[^\s/:?#@,*]+|\[[0-9a-f:.]+\]")
_HOST_SECONDS, _WAIT_SECONDS = 0.25, 60.0
_KEPT_TEXT = 100_000_000


def _keep_text(value: Any) -> int | None:
    if value == "auto":
        return None
    try:
        return _KEPT_TEXT if _boolean(value) else 0
    except ValueError:
        pass
    try:
        return int(Number(int, 0)(value))
    except ValueError:
        raise ValueError('use "auto", True, False, or how many bytes the texts of a store may take') from None


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of one crawl, parsed, and the one place where each stands. Fields are the settings in lower case without their prefix.

    `python -m tests.documents docs/reference.md settings_example.py` tells the documents of a change.
    """

    enabled: bool = _setting(
        _boolean,
        True,
        "`False` switches simcrawl off",
    )
    store: str = _setting(
        _path,
        "simcrawl",
        "where the store is: a directory (if relative, below `.scrapy/`, like `HTTPCACHE_DIR`; `~` is your home), "
        "`lmdb:///absolute/path`, `memory:`, or `redis://host/0`",
        ". `memory:?seed=1` gives the same result every time. With `redis://`, many machines [are one crawl](fleet.md)",
    )
    store_mode: int = _setting(
        _mode,
        "0600",
        'who may use the files of a new store, as octal text: `"0600"`, only the user who made it; `"0660"`, their group as well',
        ". The files hold URLs, and the seed, which people who publish pages must not know. Directories get the same rights. A store that "
        "exists already keeps its rights; `chmod` changes them. See [sharing a store](howto.md#let-a-group-share-a-store)",
        is_bound=True,
    )
    action: Action = _setting(
        _one_of("drop", "drop-items", "drop-links", "observe"),
        "drop",
        'what happens to a copy. `"drop"`: its items are dropped, and its outlinks as `SIMCRAWL_OUTLINKS` says; `"drop-items"`: its items '
        'are dropped and its outlinks followed; `"drop-links"`: its items are kept, its outlinks treated as `SIMCRAWL_OUTLINKS` says; '
        '`"observe"`: copies are only counted and recorded',
        detector=True,
    )
    max_distance: int | None = _setting(
        Number(int, 0, 128),
        None,
        "how many bits of two fingerprints may differ, at most, for the stored page to be a candidate",
        detector=True,
        is_bound=True,
    )
    min_similarity: float | None = _setting(
        _similarity,
        None,
        "how similar the contents must be (0 to 1, estimated) for a candidate to be a near-duplicate; `0` switches verification off",
        ". In an article's prose twice as much may differ",
        detector=True,
        is_bound=True,
    )
    scope: Scope = _setting(
        _one_of("all", "site"),
        "all",
        'which pages can be originals: `"all"`, or only those of the same `"site"` (the registrable domain; for an IP address or '
        "`localhost`, the host)",
        detector=True,
    )
    trusted_hosts: tuple[str, ...] = _setting(
        _hosts,
        (),
        "hosts whose pages are never dropped in favour of a page of a host that is not in the list: a list, or names separated by commas",
        ". So their pages cannot be displaced by a copy that is crawled first. Each name is one host: `www.example.org` is not "
        "`example.org`. A copy elsewhere that comes first is kept as well. See "
        "[who can do what](threats.md#somebody-copies-another-sites-pages)",
        detector=True,
    )
    originals: Originals = _setting(
        _one_of("crawl", "store"),
        "crawl",
        'from which crawl an original may come. `"crawl"`: only from this one (or it was loaded); `"store"`: from any crawl that the store '
        "knows, so that what an earlier crawl had at another address does not come out again",
        ". A page that is crawled again at its own address always comes out. A warning tells you if most originals are from other crawls. "
        "See [crawls](#crawls)",
        detector=True,
    )
    crawl: str | None = _setting(
        _text,
        None,
        "a name. Processes and spiders with the same name and store are one crawl, as long as one of them is running",
        example="nightly",
    )
    reset: bool = _setting(
        _boolean,
        False,
        "forget all that the store holds before the crawl begins",
        "; refused while another crawl uses the store",
    )
    copies_kept: int = _setting(
        Number(int, 1),
        1,
        "how many pages of a cluster are kept (the first ones)",
        detector=True,
    )
    prefer: str | None = _setting(
        _prefer,
        None,
        'which of several copies is kept. By default the one that comes first; `"canonical"`: the one that the others name as canonical, '
        "for "
        "which they wait some seconds (if none is named: `https` rather than `http`, and the shorter URL)",
        ". A page that names another URL as canonical waits for that one, if a request for it is under way or in the queue. A page that "
        "names none waits for the same address with `https`, and for the shorter one without `index.html` or a query. It waits five "
        "seconds (at most `SIMCRAWL_MAX_PAGE_SECONDS`), then it is judged as usual. At most half of `CONCURRENT_REQUESTS` pages wait at a "
        "time, so none does if there is only one request at a time. It has an effect only if copies are dropped and one page of each "
        "cluster is kept. See [what pages say of "
        "themselves](how-it-works.md#what-pages-say-of-themselves)",
        example="canonical",
    )
    outlinks: float | str | None = _setting(
        _outlinks,
        None,
        'what happens to the outlinks of a dropped page. `"follow"`: all are followed; `"drop"`: none is, as in the paper; a similarity: '
        "they are dropped if the two pages are at least that similar and link to the same addresses (`1.0`: if the text is identical)",
        detector=True,
    )
    order: bool = _setting(
        _boolean,
        True,
        "requests for likely copies are made after the others, as long as the spider gives no priority below 0; `False`: all are made, in "
        "Scrapy's order",
        ". See [which requests are made, and when](how-it-works.md#which-requests-are-made-and-when)",
    )
    skip: float | None = _setting(
        _skip,
        0.95,
        "how likely a page must be a copy, by a cautious estimate, for its request to be skipped: a number from 0.5 to 1, or `False` to "
        "make all requests",
        '. No request is skipped unless `SIMCRAWL_ACTION` is `"drop"` and `SIMCRAWL_COPIES_KEPT` is 1',
    )
    carried_data: bool = _setting(
        _boolean,
        True,
        "data that requests carry to their callback (`cb_kwargs`, and `meta` but for the settings of components) tell pages apart that are "
        "equal: what comes of such a page comes of the data, too; `False`: they do not matter",
        ". See [data that requests carry](how-it-works.md#data-that-requests-carry)",
        is_bound=True,
    )
    mirrors: tuple[str, ...] = _setting(
        _hosts,
        (),
        "hosts that have the same pages: a list, or names separated by commas. Learned rules that lead from one of them to another may "
        "skip requests, like rules within one host",
        ". Rules between other hosts only change the order of requests. `www.`, `http` and `https` of one name count as one host",
    )
    redact: tuple[str, ...] = _setting(
        _names,
        (),
        "names of query parameters whose values are secret: a list, or names separated by commas. Wherever a URL is stored or shown, a "
        "keyed digest stands in place of the value",
        ". Upper and lower case are the same. URLs with two values are two pages, as without this setting. Pages are known by these URLs, "
        "so set it before the first crawl on a store. Lists of pages to crawl again leave such URLs out. Scrapy's own log and queues show "
        "URLs as they are. See [who can read a store](threats.md#who-can-read-a-store)",
        detector=True,
    )
    recipe: Any = _setting(
        _recipe,
        "auto",
        'how pages become fingerprints: `"auto"` (as in the store; in a new one `"terms"`), `"terms"`, '
        '`"content"` (the same with all words weighing alike in the fingerprint), '
        '`"main"` (that with the fingerprint of trafilatura\'s main text), '
        '`"manku2007"` (the paper\'s plain rule), `"resiliparse"` (by that library\'s main text alone; needs the extra `fast`), '
        '`"layout"`, or a dotted path to a `simcrawl.Recipe`',
        detector=True,
        is_bound=True,
    )
    extractor: str | None = _setting(
        _extractor,
        None,
        "dotted path to a callable `(body: bytes, encoding: str, url: str) -> str` that returns the main text; pages are then compared by "
        "it alone",
        ". It is not called for pages that are `too_deep`. Recipes that need a main text use trafilatura's; `content` needs none",
        detector=True,
        is_bound=True,
    )
    min_features: int | None = _setting(
        _count,
        None,
        "pages of fewer words (or characters of scripts without spaces) can only be exact copies",
        detector=True,
        is_bound=True,
    )
    min_around: int | None = _setting(
        _count,
        None,
        "how many words (or characters of scripts without spaces) must stand around the article on at least one of two pages, so that "
        "equal prose alone makes them copies; `0`: any number will do",
        ". See [how it works](how-it-works.md)",
        detector=True,
        is_bound=True,
    )
    max_page_bytes: int = _setting(
        Number(int, 1),
        MAX_PAGE_BYTES,
        "larger pages are kept without being compared: `too_large`",
        detector=True,
        is_bound=True,
    )
    max_page_seconds: float = _setting(
        Number(float, 0.001),
        MAX_PAGE_SECONDS,
        "pages that take longer are kept without being compared: `too_slow`",
        ". The worker process that is busy with such a page is killed and replaced. A copy also waits that long for the callback and the "
        "items of its original while the process is busy, or the crawl closes; otherwise for five seconds, and less where others have "
        "waited in vain",
        detector=True,
        is_bound=True,
    )
    max_host_seconds: float = _setting(
        Number(float, 0.001),
        _HOST_SECONDS,
        "how many worker seconds a page of one host may take on average if other hosts are crawled as well. Some pages of a host that "
        "takes more are kept without being compared: `host_over_budget`",
        ". Each host may take five seconds more than that. A page of ten kilobytes takes some hundredths of a second. A crawl of one host "
        "has no such limit",
        is_bound=True,
    )
    max_wait_seconds: float = _setting(
        _seconds,
        _WAIT_SECONDS,
        "a page that has waited that long for a free worker process is kept without being compared: `waited_too_long`",
        is_bound=True,
    )
    expire_days: float = _setting(
        _seconds,
        0,
        "pages that no crawl has seen for that many days are forgotten; `0`: never",
        ". They are no longer originals, and new when they are crawled again. They are removed when a crawl begins, for everybody who uses "
        "the store. Visits are remembered to the hour",
        detector=True,
    )
    workers: int | None = _setting(
        _workers,
        "auto",
        'worker processes for pages: a number up to 64, `0` for threads, or `"auto"`',
        " (one for each core but the crawl's own, at least one and at most four, and one more while a page holds up the others). "
        "They are started when they are needed. Threads share the crawl's processor time, and a page that hangs in a thread cannot be "
        "stopped. "
        "See [where pages are processed](#where-pages-are-processed)",
        is_bound=True,
    )
    max_worker_bytes: int = _setting(
        Number(int, 1),
        MAX_WORKER_BYTES,
        "how much memory a worker process may take; a page that needs more is kept without being compared: `out_of_memory`",
        ". A worker that has grown to half of it is replaced",
        is_bound=True,
    )
    sync_seconds: float = _setting(
        _seconds,
        1.0,
        "least seconds between two commits; confirmed pages are written and synced together",
        is_bound=True,
    )
    durable_feed: bool | None = _setting(
        _durable_feed,
        "auto",
        "whether a page counts as stored only when its items are in the feed's file, so that after a hard kill no copy is dropped for a "
        "page "
        'that was lost. `"auto"`: if that is possible (plain local files); `True`: the same, with a warning if it is not; `False`: a page '
        "counts when its items have left the pipelines",
        ". It is possible for feeds without post-processing or batches, with Scrapy's own exporters or classes derived from them, and with "
        'a store that lasts, or with JOBDIR; with `"auto"`, a line in the log tells you if it is not. '
        "See [what a hard kill costs](howto.md#stop-a-crawl-and-resume-it)",
        is_bound=True,
    )
    item_field: str | None = _setting(
        _text,
        None,
        "name of a text field; items whose text is a near-duplicate of an earlier item's text in this crawl are dropped",
        ". Texts under the minimum length are kept. For listings, whose pages differ in only a few items, set `SIMCRAWL_ACTION` to "
        '`"drop-links"` as well',
        example="text",
    )
    keep_text: int | None = _setting(
        _keep_text,
        "auto",
        "keep the content of pages and of their near-duplicates in the store, compressed, so that `simcrawl report` shows what differs: "
        '`"auto"` (20 MB in all, in a store on this machine\'s disk), `True` (100 MB), `False`, or how many bytes in all',
        ". At most 100,000 characters are kept of a page, and none once the store is full of them. Pages whose bytes are known from the "
        "store or from another page are not parsed again, so they get no text",
    )
    recrawl: str | None = _setting(
        _path,
        None,
        "a file with one URL per line, such as `simcrawl duplicates --urls` prints. Any spider then starts from these URLs instead of its "
        "own start requests, and keeps their pages, whatever they are copies of",
        "; see [below](#taking-a-verdict-back)",
        example="dropped.txt",
    )
    debug: bool = _setting(
        _boolean,
        False,
        "log every drop at INFO, not only the first",
    )

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
        names = [made.name for made in fields(self) if made.metadata["setting"].detector]
        return {name: getattr(self, name) for name in names}


SETTINGS: dict[str, Setting] = {f"{_PREFIX}{made.name.upper()}": made.metadata["setting"] for made in fields(Config)}
"""Every setting by its name."""


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


def written(name: str, value: Any) -> str:
    """Return a value that `parse` gave, or that the record of a crawl has, as a settings file would say it.

    "" stands for no names, and for None where that is the recipe's own value, or off.
    """
    setting = SETTINGS[name]
    if value is None:
        # Where there is another default, None is what was said instead of it.
        return "" if setting.default is None else "auto" if setting.default == "auto" else "False"
    if isinstance(value, (tuple, list)):
        return ", ".join(value)
    if setting.read is _mode:
        return f"{value:04o}"
    return "False" if setting.read is _keep_text and not value else str(value)


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
