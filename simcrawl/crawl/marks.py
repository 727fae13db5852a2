"""What is written on a request, in its `meta`: how long it has waited, for whom, and what the spider itself has asked for.

Before it is made, its priority and its `dont_filter` become again what they were:

    ORDER   0 ──► -2 ... -80 ──► made            by how much its priority is lowered
              └─► HELD ──► LAST ──► SKIPPED      at the end of the queue; behind those of its kind that are checked; on its way out
                   └─► made  └─► made
            RETURNED ──► made                    its page was dropped by mistake: nothing is asked any more
            none                                 it does not wait: the spider has wishes of its own for it, or has not yielded it
    LATE    0 ──► AFTER_ALL ──► made             the spider itself wants it after all others

So a request's priority differs from its own by ORDER, MOVED and LATE together. That all stands in `meta`, which goes wherever the request
goes: into JOBDIR, or to another process. It goes to another request as well, where a callback hands it on: PUT tells that one.
"""

from __future__ import annotations

import re
from copy import copy
from typing import TYPE_CHECKING, Any

from scrapy.http.request import NO_CALLBACK

from simcrawl.crawl.carried import CARRIED, unlike_others
from simcrawl.page.fingerprint import digest

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers

META_KEY = "simcrawl"
"""Key of `Request.meta`, a user's own: False for a page that is not to be looked at."""
ORDER = "_simcrawl_order"
"""Key of `Request.meta`: by how much the request's priority was lowered so far. There as long as it may be lowered further."""
ASKED = "_simcrawl_asked"
"""Key of `Request.meta`: the spider itself has set `dont_filter`, which Scrapy sets, too, where it tries again."""
SAMPLED = "_simcrawl_sampled"
"""Key of `Request.meta`: the page is almost certainly a copy, and was fetched all the same."""
UNYIELDED = "_simcrawl_unyielded"
"""Key of `Request.meta`: no callback has yielded it, so its own may never be called: a callback may have downloaded its page itself."""
YIELDED = "_simcrawl_yielded"
"""Key of `Request.meta`: a spider has yielded the request. Not by the signal that it was scheduled: that is sent for every link."""
AGAIN = "_simcrawl_again"
"""Key of `Request.meta`: its page was dropped by mistake, and is kept now whatever it is."""
ANSWERED = "_simcrawl_answered"
"""Key of `Request.meta`, besides AGAIN: it was answered once with the page that is held, without a download."""
JUDGED_AGAIN = "_simcrawl_judged_again"
"""Key of `Request.meta`: its page was dropped before the crawl was stopped, and is judged once more."""
BEHIND = "_simcrawl_behind"
"""Key of `Request.meta`, of a link on a copy: [whose rules, URL of the copy, whether its original's links did not foretell the link].

To learn what is behind copies.
"""
MOVED = "_simcrawl_moved"
"""Key of `Request.meta`: by how much its priority was changed besides: for what the page says that links to it, or as it is made again."""
ASKER = "_simcrawl_asker"
"""Key of `Request.meta`: the number of the callback that has asked for it, where that may wait for its answer, or for what comes of it."""
LATE = "_simcrawl_late"
"""Key of `Request.meta`, where the spider itself wants it after others: [by how much it is lowered so far, its own `dont_filter`]."""
PUT = "_simcrawl_put"
"""Key of `Request.meta`: the priority with which the request waits. One with another priority has only borrowed the `meta`."""

MARKS = frozenset({ORDER, ASKED, CARRIED})
"""A request that a callback has yielded, or that has left the queue before, has one of these."""

_OF_ONE_REQUEST = (ORDER, ASKED, BEHIND, AGAIN, ANSWERED, JUDGED_AGAIN, MOVED, ASKER, LATE, PUT)

# Headers of browsers, of proxies, and of programs that count what they ask for.
_OF_WHO_ASKS = re.compile(
    r"referer|origin|user-agent|accept(?:-\w+)?|connection|cache-control|pragma|dnt|te|upgrade-insecure-requests|priority"
    r"|sec-[\w-]+|x-forwarded-\w+|x-real-ip|forwarded|via|x-request-id|x-correlation-id|traceparent"
)

HELD, LAST, SKIPPED = -1_000_000, -2_000_000, -3_000_000
"""What the mark says of a request at the end of the queue, see above."""
AFTER_ALL = -20_000_000
"""By how much what the spider wants after others is lowered: below all of these, and below pages that are judged again."""
RETURNED = 1
"""What the mark says of a request that is made once more, since its page was dropped by mistake."""


def unshared(request: Request) -> Request:
    """Return a request that a spider yields, or a copy as it was, where this object is on its way already.

    A spider may yield one object many times, or copies of it, and let Scrapy filter them. What waits has `dont_filter` set: it must
    not be looked at as what the spider has asked for, and not be touched either, for it may be put back at any moment.

    Raises:
        Exception: whatever a class of the user's own raises when it is copied.
    """
    meta = request.meta
    if ORDER not in meta and CARRIED not in meta:
        return request
    made = copied(request)
    if meta.get(PUT) == made.priority:
        restore(made)
    made.meta.pop(CARRIED, None)
    return made


def asked_for(request: Request) -> str:
    """Return by what `Outlinks` knows a request: its URL, and of another one than a plain GET what else it asks by.

    That is its method, its body, its own cookies or a session of its own, and headers that its spider has set. What cannot be told is like
    no other. Never raises: the callback's other requests would be lost.
    """
    is_plain_get = request.method == "GET" and not request.body
    try:
        asks = _asks(request)
        told = "\0".join(map(str, asks)).encode("utf-8", "surrogatepass")
    except Exception:  # noqa: BLE001 - a cookie or a session may be any object of a user's own
        return f"{request.url} {unlike_others()}"
    if is_plain_get and not asks:
        return request.url
    return f"{request.url.partition('#')[0]} {request.method} {digest(request.body + told, 0).hex()}"


def _asks(request: Request) -> list[Any]:
    """Return the cookies, the session and the headers that a request asks by, if there are any."""
    # Each link of each page comes here, and what a request has none of is made and kept when somebody asks for it.
    headers, cookies, meta = request._headers, request._cookies, request._meta  # noqa: SLF001
    asks: list[Any] = _told_by(headers) if headers else []
    if cookies:
        asks.append(cookies)
    if meta and "cookiejar" in meta:
        asks.append(meta["cookiejar"])
    return asks


def _told_by(headers: Headers) -> list[Any]:
    """Return headers but for those that say who asks, and from where: many spiders change these with each request."""
    if len(headers) == 1 and "Referer" in headers:
        return []
    named = ((name.decode("latin-1").lower(), values) for name, values in headers.items())
    return sorted((name, values) for name, values in named if not _OF_WHO_ASKS.fullmatch(name))


def copied(request: Request) -> Request:
    """Return a copy of a request, with a `meta` of its own.

    Raises:
        Exception: whatever a class of the user's own raises.
    """
    try:
        return request.replace()
    except Exception:  # noqa: BLE001 - such a class may have a constructor of its own
        made = copy(request)
        made._meta = {**request.meta}  # noqa: SLF001 - there is no other way
        return made


def forget_marks(meta: dict[str, Any]) -> None:
    """Take away what was handed on with the meta of a response: it is not what is to be said of a request of its callback."""
    for key in _OF_ONE_REQUEST:
        meta.pop(key, None)


def tries(request: Request | None) -> int:
    """Return how often a request was tried again."""
    return request.meta.get("retry_times", 0) if request else 0


def is_plain(request: Request, meta: dict[str, Any]) -> bool:
    """Return whether a spider has no wishes of its own for a request, whose `meta` is at hand: to ask for it takes a call."""
    plain = request.method == "GET" and not request.priority and request.callback is not NO_CALLBACK
    return plain and meta.get(META_KEY) is not False


def is_start(request: Request) -> bool:
    """Return whether a request is one of a spider's first. The mark travels with the meta; the depth tells who is one."""
    return bool(request.meta.get("is_start_request")) and not request.meta.get("depth")


def put_back(request: Request, level: int) -> Request:
    """Return the request itself, which is to wait at a level: a spider may know it by the object, as the key of a dictionary."""
    request.priority += level - request.meta[ORDER]
    request.meta.update({ORDER: level, PUT: request.priority})
    # Scrapy's filter of requests has let it pass before.
    request.dont_filter = True
    return request


def mark_late(request: Request) -> None:
    """Mark a request that the spider itself wants after all others."""
    request.meta[LATE] = [0, request.dont_filter]


def put_after_all(request: Request) -> Request:
    """Return a request that is marked so, itself: it is to wait behind all others."""
    request.priority += AFTER_ALL
    request.meta.update({LATE: [AFTER_ALL, request.meta[LATE][1]], PUT: request.priority})
    request.dont_filter = True
    return request


def move(request: Request, by: int) -> None:
    """Let a request that a spider yields come before others, or after them, for what its page says."""
    request.priority += by
    request.meta[MOVED] = by


def release(request: Request) -> None:
    """Give a request back what it was yielded with, before anybody else sees it: with `dont_filter` a redirect might leave the site."""
    restore(request)
    request.dont_filter = False


def restore(request: Request) -> None:
    """Take the marks from a request, and from its priority what they stand for."""
    meta = request.meta
    level = meta.pop(ORDER, 0)
    request.priority -= meta.pop(MOVED, 0)
    late, own = meta.pop(LATE, (0, request.dont_filter))
    request.priority -= late
    request.dont_filter = own
    meta.pop(PUT, None)
    if level < 0:
        request.priority -= level
        request.dont_filter = False
