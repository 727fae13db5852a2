"""A fleet's log in Redis: one stream, and a header beside it. The only module that knows Redis.

    {NAME}:header    what the fleet's store was made with: whoever comes first sets it
    {NAME}:log       a Redis Stream; each entry is one event, in the field "e"

The braces keep both in one slot of a cluster. One script does all that must be one step: it says what has come since an id, and appends.
Entries are bytes here: `fleet_events` knows what they say.

Calls take a second at most, and are made once: to ask again is up to the caller, who has other things to do meanwhile. What the client
library would do, ten tries with pauses between them, would hold up a crawl.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from simcrawl.errors import SettingError, StoreError
from simcrawl.page.fingerprint import without_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

logger = logging.getLogger(__name__)

SCHEMES = ("redis", "rediss", "unix")
START = (0, 0)
# Seconds. A read that waits for news waits less, so that silence is no failure.
_PATIENCE, _NEWS = 1.0, 0.5
_REPLAYED_AT_ONCE = 1000
_LOST, _CUT = "SIMCRAWL the header is gone", "SIMCRAWL the log is cut"
# A tail that begins with an entry that is known has to have it.
_ASK = f"""
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return redis.error_reply('{_LOST}') end
local tail = redis.call('XRANGE', KEYS[1], ARGV[2], '+')
if string.sub(ARGV[2], 1, 1) ~= '(' then
  if not tail[1] or tail[1][1] ~= ARGV[2] then return redis.error_reply('{_CUT}') end
  table.remove(tail, 1)
end
local ids = {{}}
for i = 3, #ARGV do ids[i - 2] = redis.call('XADD', KEYS[1], '*', 'e', ARGV[i]) end
return {{tail, ids}}
"""

Place = tuple[int, int]
"""An id of the stream: later entries have larger ones."""


class Entry(NamedTuple):
    """An entry of the log."""

    place: Place
    data: bytes


class LogLostError(StoreError):
    """The server has forgotten the log: it was flushed, or started again without what it had."""


class LogCutError(LogLostError):
    """The log lacks the last entry that was read of it: its server has gone back to an older state."""


def _cause(exc: Exception) -> str:
    """Return what kind of failure it is, and what the system says of it. What a message of the client holds of the URL is not shown."""
    inner: BaseException | None = exc
    while inner and not (isinstance(inner, OSError) and inner.strerror):
        inner = inner.__cause__ or inner.__context__
    return f"{type(exc).__name__}: {inner.strerror}" if isinstance(inner, OSError) else type(exc).__name__


class RedisLog:
    """The log of one fleet. Thread-safe.

    Raises, from whatever asks the server:
        StoreError: it does not answer within a second, or refuses. What was to be appended may have been, or not.
    """

    def __init__(self, url: str) -> None:
        """Take a URL of Redis; `name` in its query names the fleet, by default simcrawl, and `local` a directory: see `fleet_local`.

        Raises:
            SettingError: the URL cannot be, or redis-py is missing.
        """
        try:
            import redis  # noqa: PLC0415 - an extra
        except ImportError as exc:
            raise SettingError(f"{without_user(url)} needs the client of Redis: pip install 'simcrawl[redis]'") from exc
        self._redis = redis
        self.shown = without_user(url)
        """The URL without user and password."""
        self.local: Path | None
        """The directory that the URL names for this process."""
        self._connections = self._checked = 0
        bare, name, self.local = _split(url)
        self._has_answered = False
        self._keys = [f"{{{name}}}:log", f"{{{name}}}:header"]
        try:
            # Read only what RESP2 has: the same answers from every version of the client.
            self._client = redis.Redis.from_url(
                bare,
                socket_timeout=_PATIENCE,
                socket_connect_timeout=_PATIENCE,
                retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),
                protocol=2,
                redis_connect_func=self._connect,
            )
        except (ValueError, TypeError) as exc:
            raise SettingError(
                f"{self.shown} is no URL of a Redis server ({type(exc).__name__}): use redis://host:6379/0?name=NAME"
            ) from exc
        self._ask = self._client.register_script(_ASK)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        redis = self._redis
        try:
            yield
        except redis.exceptions.ResponseError as exc:
            if _LOST in str(exc):
                raise LogLostError(f"{self.shown} has forgotten its log") from exc
            if _CUT in str(exc):
                raise self._cut() from exc
            raise self._failed(f"{self.shown} refuses ({exc})") from exc
        except (redis.exceptions.RedisError, OSError) as exc:
            if "CERTIFICATE_VERIFY_FAILED" in str(exc):
                cure = f"{self.shown}{'&' if '?' in self.shown else '?'}ssl_ca_certs=/path/to/ca.pem"
                raise StoreError(f"nobody here trusts the certificate of {self.shown}: name who signed it, as {cure}") from exc
            raise self._failed(f"{self.shown} does not answer ({_cause(exc)})") from exc
        self._has_answered = True

    def _failed(self, what: str) -> StoreError:
        """Return the error to raise, with the cure: before the first answer a crawl cannot begin, and a command has nothing to read."""
        if self._has_answered:
            return StoreError(f"{what}: a crawl goes on by itself, and tries again")
        return StoreError(f"{what}: start the server, or correct the URL in SIMCRAWL_STORE")

    def _connect(self, connection: Any) -> None:
        # The client connects again by itself, and to what may be another server's state.
        self._connections += 1
        connection.on_connect()

    def _cut(self) -> LogCutError:
        return LogCutError(f"{self.shown} has lost the end of its log")

    def header(self, fresh: bytes | None, *, anew: bool = False) -> bytes | None:
        """Return the header, which is `fresh` where there was none, or `anew`; None where there is none and none is given."""
        with self._asking():
            if fresh is not None:
                self._client.set(self._keys[1], fresh, nx=not anew)
            found: Any = self._client.get(self._keys[1])
        return None if found is None else bytes(found)

    def append(self, header: bytes, after: Place, events: Sequence[bytes]) -> tuple[list[Entry], list[Entry]]:
        """Append events; return what came after a place and before them, and their own entries. One step.

        Raises:
            LogCutError: the log does not have the entry of that place.
            LogLostError: the log has another header, or none.
        """
        with self._asking():
            since = _text(after) if after != START else f"({_text(after)}"
            tail, ids = self._ask(keys=self._keys, args=[header, since, *events])
        return _entries(tail), [Entry(_place(one), event) for one, event in zip(ids, events, strict=True)]

    def news(self, after: Place) -> list[Entry]:
        """Return what came after a place; where nothing has, wait for half a second.

        Raises:
            LogCutError: the log does not have the entry of that place.
        """
        with self._asking():
            answer: Any = self._client.xread({self._keys[0]: _text(after)}, count=_REPLAYED_AT_ONCE, block=int(1000 * _NEWS))
            if (connections := self._connections) != self._checked and after != START:
                if not self._client.xrange(self._keys[0], _text(after), _text(after)):
                    raise self._cut()
                self._checked = connections
        return _entries(answer[0][1]) if answer else []

    def replay(self, after: Place) -> Iterator[list[Entry]]:
        """Yield what came after a place, up to the end, some at a time."""
        while True:
            with self._asking():
                chunk: Any = self._client.xrange(self._keys[0], f"({_text(after)}", "+", count=_REPLAYED_AT_ONCE)
            if not chunk:
                return
            entries = _entries(chunk)
            yield entries
            after = entries[-1].place

    def has(self, place: Place) -> bool:
        """Return whether there is an entry at a place."""
        with self._asking():
            return bool(self._client.xrange(self._keys[0], _text(place), _text(place)))

    def is_trimmed(self) -> bool:
        """Return whether somebody has removed the beginning of the log. Redis before 7 does not say."""
        with self._asking():
            if not self._client.exists(self._keys[0]):
                return False
            told: Any = self._client.xinfo_stream(self._keys[0])
        # What was deleted in the middle is another matter.
        return bool(told.get("entries-added", 0) > told["length"] and told.get("max-deleted-entry-id") in (b"0-0", "0-0"))

    def now(self) -> int:
        """Return the server's time in milliseconds, which the first part of a place is."""
        with self._asking():
            seconds, micros = self._client.time()
        return int(seconds * 1000 + micros // 1000)

    def forgets(self) -> str | None:
        """Return the policy by which the server would drop the log when its memory is full; None where it keeps it, or does not say."""
        policy = ""
        # Hosted servers know no CONFIG.
        with suppress(self._redis.exceptions.RedisError, OSError):
            told: Any = self._client.config_get("maxmemory-policy")
            policy = str(told.get("maxmemory-policy", ""))
        # The volatile ones drop what has a time to live, and the log has none.
        return policy if policy.startswith("allkeys") else None

    def close(self) -> None:
        """Release the connections."""
        self._client.close()


def _split(url: str) -> tuple[str, str, Path | None]:
    """Return a URL that the client understands, the name of the fleet, and the local directory."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if secret := {"username", "password"} & set(options):
        raise SettingError(f"{sorted(secret)} in the query of SIMCRAWL_STORE would be shown: use redis://user:password@host")
    name = options.pop("name", "simcrawl")
    if not name or set("{}") & set(name):
        raise SettingError(f"the name of a fleet is {name!r}: use some letters, without braces")
    local = options.pop("local", None)
    if local is not None and not Path(local).is_absolute():
        raise SettingError(f"the local directory of a fleet is {local!r}: give an absolute path, as local=/var/lib/shop")
    # Not by way of `urlunsplit`, which takes a socket's slashes away.
    where, query = url.partition("?")[0], urlencode(options)
    return f"{where}?{query}" if query else where, name, None if local is None else Path(local)


def _text(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


def _place(text: bytes) -> Place:
    milliseconds, _, number = bytes(text).partition(b"-")
    return int(milliseconds), int(number)


def _entries(raw: Any) -> list[Entry]:
    # As a reply of the client's own commands, or of a script.
    return [Entry(_place(place), fields[b"e"] if isinstance(fields, dict) else fields[1]) for place, fields in raw]
