"""What becomes of a page: which callback has it, and what a request carries there, which tells pages apart that are equal.

    parse_product   a name, a price  ──►  Request("/delivery?sku=5", parse_delivery, cb_kwargs={"item": item})
    parse_delivery  what it was given and what the page says  ──►  an item

The page on delivery is the same for every product. If it were dropped as a copy, the name and the price would be lost with it, which stood
on another page. So a page is a copy only of one whose callback was given the same. And a page that gave no items is no original for pages
of another callback, which may take some.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from itertools import count
from secrets import token_hex
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any
from weakref import ref

from parsel import Selector
from scrapy.http import Response
from scrapy.spiders import CrawlSpider, Spider

from simcrawl.page.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy import Request

CARRIED = "_simcrawl_carried"
"""Key of `Request.meta`: a digest of what the spider gave the request for its callback."""

# What tells Scrapy, or another component, what to do with a request: https://docs.scrapy.org/en/latest/topics/request-response.html, under
# "Request.meta special keys", and what widespread components read.
_SETTINGS = frozenset(
    """
    allow_offsite autothrottle_dont_adjust_delay bindaddress cached_response cookiejar deltafetch_enabled deltafetch_key depth dont_cache
    dont_filter dont_merge_cookies dont_obey_robotstxt dont_proxy dont_redirect dont_retry download_delay download_fail_on_dataloss
    download_latency download_maxsize download_slot download_timeout download_warnsize ftp_local_filename ftp_password ftp_user
    give_up_log_level handle_httpstatus_all handle_httpstatus_list http_auth_domain http_pass http_user impersonate impersonate_args
    is_start_request max_proxies_to_try max_retry_times priority_adjust proxy redirect_reasons redirect_times
    redirect_ttl redirect_urls referrer_policy retry_times verbatim_url
    """.split()  # noqa: SIM905 - a list of sixty strings is longer, and no clearer
)
# What a CrawlSpider sets itself. Another spider's text of a link is data: it may be all that names a page.
_OF_A_CRAWL_SPIDER = _SETTINGS | {"link_text", "rule"}
_COMPONENTS = (
    "_",
    "autoextract",
    "crawlera",
    "hcf_",
    "playwright",
    "puppeteer",
    "scrapeops",
    "selenium",
    "simcrawl",
    "splash",
    "zyte_",
)
_DEEPEST, _MOST_VALUES, _LONG = 50, 10_000, 1000
# Of this process alone: what waits in a queue, or stands in a store, must not meet the same number again.
_PROCESS, _others = token_hex(8), count(1)
# By its address, an object whose method, or which itself, is a callback, and its number.
_owners: dict[int, tuple[ref[object], str]] = {}


class _OwnError(Exception):
    """Of an object nobody can say whether another one is equal to it."""


def mark_carried(request: Request, shown_by: str) -> None:
    """Note on a request that a spider yields what it carries, before other components add to it."""
    meta = request.meta
    # What was handed on with the meta of a response is not this request's.
    meta.pop(CARRIED, None)
    # Nothing but what is no data: so it is with nearly all links, and there are many.
    callback = request.callback
    is_plain = _settings_for(callback).issuperset(meta) and not request.cb_kwargs
    if is_plain and (callback is None or _is_shared(getattr(callback, "__self__", None))):
        return
    # Noted even where it is none: what other components add is not looked at later.
    meta[CARRIED] = carried(request, shown_by)


def mark_unyielded(request: Request) -> None:
    """Note the same on a request that no spider's callback has yielded, when it leaves the queue.

    Such are the spider's first ones, and those of an errback, a pipeline, another middleware, or of a spider that is idle.
    """
    mark_carried(request, "")
    # Not once more when it is tried again: other components add to it meanwhile.
    request.meta.setdefault(CARRIED, "")


def carried(request: Request, shown_by: str) -> str:
    """Return a digest of what a request carries to its callback: equal for equal data, empty where it carries nothing.

    `shown_by`: the URL of the page that yields it. That alone says where a link was found, not what is behind it. Data of which nobody can
    say whether they are equal are like no others. Costs a look at the names where there is nothing.
    """
    try:
        settings = _settings_for(request.callback)
        own = {key: value for key, value in request.meta.items() if _is_data(key, settings)}
        given = (("cb_kwargs", request.cb_kwargs), ("callback", _bound(request.callback)), ("meta", own))
        told = [part for name, values in given for part in _descriptions(name, values, shown_by)]
    except Exception:  # noqa: BLE001 - a variable without a value, a name that cannot be shown: whatever it is, the page is kept
        told = [unlike_others()]
    return _digest("\n".join(told)) if told else ""


def _bound(callback: Any) -> dict[str, Any]:
    """Return what a callback holds that is no method of the spider: a `partial`, a function or an object made for this request."""
    held: dict[str, Any] = {}
    while isinstance(callback, partial):
        held |= {f"{len(held)} {number}": value for number, value in enumerate(callback.args)} | callback.keywords
        callback = callback.func
    owner = getattr(callback, "__self__", None if isinstance(callback, (FunctionType, type)) else callback)
    if owner is not None:
        held |= {} if _is_shared(owner) else {"owner": _Owner(owner)}
    # One that a decorator has put round a method is called as that method is.
    elif isinstance(callback, FunctionType) and ("<" in callback.__qualname__ or callback.__closure__):
        cells = zip(callback.__code__.co_freevars, callback.__closure__ or (), strict=True)
        held |= {name: cell.cell_contents for name, cell in cells}
        held |= {f"default {number}": value for number, value in enumerate(callback.__defaults__ or ())}
        held |= callback.__kwdefaults__ or {}
    return {name: value for name, value in held.items() if not isinstance(value, Spider)}


def _is_shared(owner: object) -> bool:
    """Return whether all callbacks of a kind have the same owner, which says nothing of any one request."""
    return isinstance(owner, (Spider, type, ModuleType))


class _Owner:
    """An object that is the callback, or whose method is. It is itself, whatever it holds: a helper that counts, say, counts on."""

    def __init__(self, owner: object) -> None:
        self._owner = owner

    def __repr__(self) -> str:
        """Return a number that no other object has, not even one that comes to stand where this one stood."""
        place = id(self._owner)
        known = _owners.get(place)
        if known is None or known[0]() is not self._owner:
            known = _owners[place] = ref(self._owner, partial(_forget_owner, place)), unlike_others()
        return known[1]


def _forget_owner(place: int, gone: ref[object]) -> None:
    # Another object may stand there by now.
    if (known := _owners.get(place)) and known[0] is gone:
        del _owners[place]


def callback_name(request: Request, spider: Any) -> str:
    """Return the name of what will be done with a request's page, in this crawl and in later ones."""
    callback: Any = request.callback or spider.parse
    if isinstance(spider, CrawlSpider) and "rule" in request.meta and getattr(callback, "__func__", None) is CrawlSpider._callback:  # noqa: SLF001
        return f"{spider.name}.{_rule_name(spider, request.meta['rule'])}"
    while isinstance(callback, partial):
        callback = callback.func
    name = getattr(callback, "__name__", "callback")
    if getattr(callback, "__self__", None) is spider and getattr(spider, name, None) != callback:
        # A decorator may forget to hand on the name of what it decorates.
        name = next((known for one in type(spider).__mro__ for known, value in vars(one).items() if value is callback.__func__), name)
    # There may be any number of them, each with another body.
    line = f":{callback.__code__.co_firstlineno}" if name == "<lambda>" and hasattr(callback, "__code__") else ""
    return f"{spider.name}.{_home(callback)}{name}{line}"


def _home(callback: Any) -> str:
    """Return where a callback stands that is no method of the spider, with a dot behind it: each section of a site may have its `parse`."""
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, Spider):
        return ""
    # A class, where it is its own method; and that of an object which is the callback.
    kind = owner if isinstance(owner, type) else None if hasattr(callback, "__qualname__") else type(callback)
    path = kind.__qualname__.split(".") if kind else callback.__qualname__.split(".")[:-1]
    return ".".join([getattr(kind or callback, "__module__", None) or "", *path, ""]).replace("<locals>.", "")


def _rule_name(spider: CrawlSpider, number: Any) -> str:
    """Return the name of what a rule does with its pages: all rules have one callback, which looks up theirs."""
    try:
        rule = spider.rules[number]
    except (IndexError, TypeError):
        return "_callback"
    if not rule.callback:
        return "followed"
    # What a rule gives its callback is not on the request.
    if rule.cb_kwargs:
        return f"rule {number}"
    if isinstance(rule.callback, str):
        return rule.callback
    return f"{_home(rule.callback)}{getattr(rule.callback, '__name__', 'callback')}"


def _settings_for(callback: Any) -> frozenset[str]:
    """Return the keys of `Request.meta` that are no data for a callback."""
    return _OF_A_CRAWL_SPIDER if isinstance(getattr(callback, "__self__", None), CrawlSpider) else _SETTINGS


def _is_data(key: object, settings: frozenset[str]) -> bool:
    return not isinstance(key, str) or (key not in settings and not key.startswith(_COMPONENTS))


def _descriptions(name: str, values: Mapping[Any, Any], shown_by: str) -> Iterator[str]:
    for key in sorted(values, key=repr):
        value = values[key]
        if value is None or (isinstance(value, str) and value == shown_by):
            continue
        try:
            yield f"{name} {key!r} {_Description().of(value)}"
        except Exception:  # noqa: BLE001 - it is the user's own code that describes the value: whatever it is, the page is kept
            yield unlike_others()


def unlike_others() -> str:
    """Return a text that no other call returns, in this process or another."""
    return f"{_PROCESS} {next(_others)}"


class _Description:
    """Describes values, equal ones equally. Objects that cannot be compared, and too many values, have no description."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def of(self, value: Any, depth: int = 0) -> str:
        """Return a description.

        Raises:
            Exception: there is none.
        """
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise _OwnError
        if isinstance(value, dict):
            return "{" + ",".join(sorted(f"{self.of(key, depth + 1)}:{self.of(one, depth + 1)}" for key, one in value.items())) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ",".join(self.of(one, depth + 1) for one in value) + "]"
        if isinstance(value, (set, frozenset)):
            return "{" + ",".join(sorted(self.of(one, depth + 1) for one in value)) + "}"
        # To escape a whole document for each of a page's links would take milliseconds.
        if isinstance(value, str) and len(value) > _LONG:
            return f"long {_digest(value)}"
        if isinstance(value, (str, bytes, _Owner)):
            return f"{type(value).__name__} {value!r}"
        return self._of_object(value, depth + 1)

    def _of_object(self, value: Any, depth: int) -> str:
        if isinstance(value, Selector):
            # It shows the beginning alone.
            return self.of(value.get(), depth)
        if isinstance(value, Response):
            return self.of([value.url, value.status, digest(value.body, 0).hex()], depth)
        if isinstance(value, (FunctionType, MethodType)):
            return f"{value.__module__}.{value.__qualname__} {self.of(_bound(value), depth)}"
        if isinstance(value, Spider):
            return "spider"
        shown = repr(value)
        # An address in memory: another object has it next.
        if " at 0x" in shown:
            raise _OwnError
        # A class of the user's own may show no more than its name, or leave out what is long.
        held = {} if isinstance(value, (type, ModuleType)) else getattr(value, "__dict__", {}) | _in_slots(value)
        return f"{type(value).__name__} {shown} {self.of(held, depth)}" if held else f"{type(value).__name__} {shown}"


def _in_slots(value: object) -> dict[str, Any]:
    """Return what an object holds in slots. Not of Python's own classes: these show all, and may keep what they have worked out."""
    held = dict[str, Any]()
    for kind in type(value).__mro__:
        if (kind.__module__ or "").partition(".")[0] in sys.stdlib_module_names:
            continue
        for name, slot in vars(kind).items():
            # By the slot itself: of an empty one `getattr` would ask the user's own code, which may work something out.
            if isinstance(slot, MemberDescriptorType):
                with suppress(AttributeError):
                    held[name] = slot.__get__(value, kind)
    return held


def _digest(text: str) -> str:
    return digest(text.encode("utf-8", "surrogatepass"), 0).hex()
