"""Pages made in a process of its own, which can be killed: one that hangs, crashes or takes too much memory takes nothing along.

Not by `multiprocessing`, nor by pools built on it: its children import the parent's main module again, so a script that starts a crawl
without asking for its `__name__` would start it again in each of them. Bodies go in and pages come out, over a private socket: messages are
4 bytes of length, big-endian, and parts that are made likewise. The first one in, after a line with the path, tells the recipe and the
limits of somebody's pages; others may be told later. What is answered to that is empty, or says why no such pages can be made. A question
names what its page is to be like, so that one process serves all crawlers of its parent.

A page comes as the record that a store would have of it, for a process that has taken hostile pages apart should not be believed more than
that: it has to be about the page that was asked for, within bounds, with the body's digest as its parent knows it.

No worker outlives its parent: an idle one sees the end of the socket, a busy one has a timer of the kernel's that ends it.
"""

from __future__ import annotations

import json
import operator
import os
import signal
import struct
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from socket import socket, socketpair
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from simcrawl.errors import WorkerError
from simcrawl.page.fingerprint import MAX_WORKER_BYTES, STAGES, Abstention, Reason, digest, fingerprint_page, has_form, page_key
from simcrawl.page.hints import LONGEST_TITLE, MOST_ALTERNATES, MOST_UNFOLLOWED, Hints
from simcrawl.page.recipes import from_json, to_json
from simcrawl.rule import StoredPage
from simcrawl.store.records import decode, encode
from simcrawl.system import bound_memory, memory, no_dumps, seconds_of
from simcrawl.workers.starting import Starter, path_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from simcrawl.page.fingerprint import PageFingerprint
    from simcrawl.workers.starting import Running

# What leaks in parsers or in a user's extractor is given back.
MAX_PAGES = 10_000
MOST_DEATHS = 2
"""A page during which so many processes died abstains as `crashed`: one death may have been somebody else's kill."""
START_SECONDS = 60.0
"""How long a process may take to be ready for pages: to import what makes them, a user's extractor among it."""
# Bytes of an answer, but for the page's URL: a record has some kilobytes, and so have the places; a text that is kept has 400 at most, and
# the hints 500. What an error says of a recipe that cannot be loaded.
_MOST_ANSWERED, _MOST_OF_A_CHARACTER, _MOST_REFUSED = 1 << 20, 4, 10_000
# Time that is up is a short time-out: none at all would mean that nothing is waited for, ever.
_SHORTEST = 1e-3
# The priority of a process that has only what others leave.
_LAST = 19
# Bytes of an answer that are taken at once.
_RECEIVED = 1 << 20
# What is wanted with a page, or in its place: its content, its main text. Bytes of what is said of a text's cost: a number, or null.
_KEPT, _TEXT = b"kept", b"text"
_LONGEST_COST = 20
# As many seconds as select and setitimer take anywhere.
_LONGEST = 1e6
LENGTH = struct.Struct("!I")
"""What stands before a message: its length."""


class Question(NamedTuple):
    """What is asked of a worker. `digest`: the body's, by who asks: a worker could name any."""

    asker: Asker
    body: bytes
    url: str
    encoding: str | None
    digest: bytes

    def message(self) -> bytes:
        """Return the message that asks for the page, without its length."""
        return self._message(_KEPT if self.asker.wants_content else b"")

    def _message(self, wanted: bytes) -> bytes:
        return _pack(self.asker.told, self.url.encode("utf-8", "surrogatepass"), (self.encoding or "").encode(), wanted, self.body)

    def longest_answer(self) -> int:
        """Return how many bytes an answer may have."""
        return _MOST_ANSWERED + _MOST_OF_A_CHARACTER * len(self.url)

    def message_for_text(self) -> bytes:
        """Return the message that asks for the page's main text in its place."""
        return self._message(_TEXT)

    def longest_text(self) -> int:
        """Return how many bytes the answer to that may have."""
        return _MOST_ANSWERED + _MOST_OF_A_CHARACTER * len(self.body)

    def abstain(self, reason: Reason) -> Abstention:
        """Return the page that no process can make."""
        options = self.asker.options
        return Abstention(url=self.url, recipe=options["recipe"].identity, seed=options["seed"], body_digest=self.digest, reason=reason)


class Asker:
    """Who has pages made: what they are to be like (`options`: the keyword arguments of `fingerprint_page`), and what they cost.

    `restarts` counts why processes were ended for its pages, `seconds` the CPU seconds by stage, `refused` what workers had to tell beyond
    that. `max_bytes`: a hard limit on the memory of a process that makes them; one that has grown to half of it is replaced.
    """

    def __init__(self, options: Mapping[str, Any], *, max_bytes: int = MAX_WORKER_BYTES) -> None:
        self.options, self.max_bytes = options, max_bytes
        self.wants_content = bool(options.get("keep_content"))
        """Whether answers come with the page's content, if the options say so: it may change at any time."""
        self.patience = min(options["max_seconds"], _LONGEST)
        self.restarts: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.refused = 0

    @cached_property
    def told(self) -> bytes:
        """What a process has to know of these pages.

        Raises:
            SettingError: their recipe cannot be sent to another process.
        """
        options = {name: value for name, value in self.options.items() if name != "recipe"}
        parts = to_json(self.options["recipe"]), json.dumps(options), json.dumps([self.max_bytes, 2 * self.patience + 1])
        return _pack(*map(str.encode, parts))

    def question(self, body: bytes, url: str, encoding: str | None, body_digest: bytes | None = None) -> Question:
        """Return what asks for a page; `body_digest`: where it is known. A worker is not told the users and passwords of URLs."""
        seed = self.options["seed"]
        return Question(self, body, page_key(url, seed), encoding, body_digest or digest(body, seed))

    def parse(self, answer: bytes, question: Question) -> tuple[PageFingerprint | Abstention, bool]:
        """Return the page of an answer, and whether the process that made it has grown too large.

        Raises:
            EOFError: it is no answer, or one about another URL, or no page of this recipe.
        """
        try:
            made, cost = self._parsed(answer, question)
            seconds = self._counted(cost["seconds"])
            too_large = 2 * cost["memory"] > self.max_bytes
        except Exception as exc:
            # Whatever a process sends that has taken hostile pages apart.
            raise EOFError(f"a worker's answer does not parse: {exc!r}") from exc
        if made.url != question.url:
            raise EOFError(f"a worker's answer is about {made.url}, not {question.url}")
        if not has_form(made, self.options["recipe"]):
            raise EOFError(f"a worker's answer about {made.url} has not the form of a page of {made.recipe}")
        self.seconds.update(seconds)
        return made, too_large

    def _parsed(self, answer: bytes, question: Question) -> tuple[PageFingerprint | Abstention, dict[str, Any]]:
        if len(answer) > question.longest_answer():
            raise ValueError(f"{len(answer)} bytes are too many")
        record, cost, content, places = _unpack(answer)
        recipe = self.options["recipe"]
        made = decode(record, recipes=(recipe.identity,), seed=self.options["seed"], bits=recipe.bits).page
        told = json.loads(cost)
        said = _hints(told.get("hints"))
        return replace(made, body_digest=question.digest, content=content or None, hints=said, places=places), told

    def _counted(self, told: dict[str, Any]) -> dict[str, float]:
        """Return the seconds that are to be counted: of the stages that there are, and no more than the process may have taken."""
        seconds = {stage: float(number) for stage, number in told.items()}
        fine = {stage: number for stage, number in seconds.items() if stage in STAGES and 0 <= number <= 2 * self.patience + 1}
        self.refused += len(seconds) - len(fine)
        return fine


class PageProcess:
    """A process that makes pages as `fingerprint_page` does, one at a time, for any `Asker`.

    It is to be stopped, and started again for the next page, when it dies, when a page takes longer than its asker's patience, when it has
    grown too large, and after `max_pages` pages. `starter`: what starts it, where others have it start theirs, too.
    """

    def __init__(self, starter: Starter | None = None, *, max_pages: int = MAX_PAGES) -> None:
        self._max_pages = max_pages
        self._starter, self._is_own = starter or Starter(), starter is None
        self._process: Running | None = None
        self._ready: set[bytes] = set()
        self._pages = 0
        self._closed = self._is_aside = False

    @property
    def pid(self) -> int | None:
        """The process's number; None where none runs."""
        return self._process.pid if self._process else None

    def seconds(self) -> float | None:
        """Return the CPU seconds that the process has taken; None where none runs, or the system does not say."""
        process = self._process
        return seconds_of(process.pid) if process else None

    def start(self, asker: Asker) -> socket:
        """Start the process for somebody's pages and return the socket to it; takes some milliseconds, the first one half a second.

        Raises:
            WorkerError: no process can be started, or it cannot make such pages.
        """
        refusal: str | None = None
        for _ in range(2):
            if self._closed:
                break
            ours, theirs = socketpair()
            try:
                with theirs:
                    told = path_line() + _pack(preparation(asker))
                    self._spawn(theirs.fileno())
                refusal = _greet(ours, told)
            except Exception as exc:  # noqa: BLE001 - no such program, no more processes, a recipe that cannot be sent, somebody's kill
                refusal = repr(exc)
            if refusal is None and not self._closed:
                self._ready.add(asker.told)
                if self._is_aside:
                    # Not sooner: on a busy machine it would never be ready.
                    self.step_aside()
                return ours
            ours.close()
            self.stop()
        raise WorkerError(f"no worker process can be started: {'it is closed' if self._closed else refusal}")

    def _spawn(self, handle: int) -> None:
        self._pages = 0
        self._ready.clear()
        self._process = self._starter.start(handle)

    def is_ready(self, asker: Asker) -> bool:
        """Return whether the process has been told what these pages are to be like."""
        return asker.told in self._ready

    def prepared(self, asker: Asker, answer: bytes) -> None:
        """Take the answer to `preparation(asker)`.

        Raises:
            WorkerError: the process cannot make such pages.
        """
        if answer:
            raise WorkerError(f"no worker process can make such pages: {answer[:_MOST_REFUSED].decode('utf-8', 'replace')}")
        self._ready.add(asker.told)

    def make(self, line: socket, question: Question) -> tuple[PageFingerprint | Abstention, str | None]:
        """Ask for a page and wait for it; return it, and why the process is to be stopped before the next one.

        A page that takes too long abstains as such. `line`: what `start` returned for the same asker, with nothing else asked.

        Raises:
            EOFError: the process is gone.
        """
        answer = _ask(line, question.message(), question.asker.patience, question.longest_answer())
        return (question.abstain(Reason.TOO_SLOW), "too_slow") if answer is None else self.answered(answer, question)

    def text(self, line: socket, question: Question) -> tuple[str | None, str | None]:
        """Ask for a page's main text and wait for it, as for a page; None for one that takes too long, or too much memory.

        Raises:
            EOFError: the process is gone.
        """
        answer = _ask(line, question.message_for_text(), question.asker.patience, question.longest_text())
        if answer is None:
            return None, "too_slow"
        try:
            text, used = _text_of(answer)
        except Exception as exc:
            # Whatever a process sends that has taken hostile pages apart.
            raise EOFError(f"a worker's answer does not parse: {exc!r}") from exc
        return text, self._why_stop(too_large=text is None or 2 * used > question.asker.max_bytes)

    def answered(self, answer: bytes, question: Question) -> tuple[PageFingerprint | Abstention, str | None]:
        """Return the page of an answer, and why the process is to be stopped before the next one.

        Raises:
            EOFError: it is no answer to this question.
        """
        made, too_large = question.asker.parse(answer, question)
        return made, self._why_stop(too_large=too_large or getattr(made, "reason", None) is Reason.OUT_OF_MEMORY)

    def _why_stop(self, *, too_large: bool) -> str | None:
        """Count a page, and return why the process is to be stopped before the next one."""
        self._pages += 1
        if too_large:
            return "memory"
        return "recycled" if self._pages >= self._max_pages else None

    def step_aside(self) -> None:
        """Let the process, and all that replace it, have only what others leave of the cores: only a superuser could take that back."""
        self._is_aside = True
        if process := self._process:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, _LAST)

    def stop(self) -> None:
        """End the process; the next `start` starts another one."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the process, which holds nothing that is worth keeping, and start no more. From any thread."""
        self._closed = True
        if self._is_own:
            self._starter.close()
        if process := self._process:
            process.kill()
            process.wait()


def preparation(asker: Asker) -> bytes:
    """Return the message that tells a running process what somebody's pages are to be like, without its length."""
    return _pack(asker.told)


def _greet(ours: socket, told: bytes) -> str | None:
    """Tell a new process what it is to do; return why it cannot, None where it is ready."""
    ours.settimeout(START_SECONDS)
    try:
        ours.sendall(told)
        with ours.makefile("rb") as answers:
            refusal = _read(answers)
    except TimeoutError:
        return f"not ready after {START_SECONDS:g} seconds"
    return "it ended before it was ready" if refusal is None else refusal.decode() or None


def _text_of(answer: bytes) -> tuple[str | None, int]:
    """Return the text of an answer, None where there was no memory for it, and the bytes that its process has."""
    # Two parts, and no search for more: whoever was taken over may send millions.
    start = LENGTH.size + LENGTH.unpack_from(answer)[0] + LENGTH.size
    if start + LENGTH.unpack_from(answer, start - LENGTH.size)[0] != len(answer) or len(answer) - start > _LONGEST_COST:
        raise ValueError(f"{len(answer)} bytes are no text and its cost")
    used = json.loads(answer[start:])
    text = answer[LENGTH.size : start - LENGTH.size].decode("utf-8", "replace")
    return (None, 0) if used is None else (text, operator.index(used))


def _ask(line: socket, message: bytes, patience: float, longest: int) -> bytes | None:
    """Send a message and return the answer to it, within so many seconds; None where none came.

    Raises:
        EOFError: the process is gone, or answers at too great a length.
    """
    line.settimeout(patience)
    try:
        line.sendall(_pack(message))
        answer = _answer(line, monotonic() + patience, longest)
    except TimeoutError:
        return None
    except OSError as exc:
        raise EOFError(f"the worker is gone: {exc!r}") from exc
    if answer is None:
        raise EOFError("the worker is gone")
    return answer


def _answer(line: socket, due: float, longest: int) -> bytes | None:
    """Return the next message, until a moment; None at the end, or where it has more than so many bytes."""
    received, wanted = bytearray(), LENGTH.size
    while len(received) < wanted:
        line.settimeout(max(_SHORTEST, due - monotonic()))
        if not (more := line.recv(min(_RECEIVED, wanted - len(received)))):
            return None
        received += more
        if len(received) == LENGTH.size:
            wanted += LENGTH.unpack(received)[0]
            if wanted > LENGTH.size + longest:
                return None
    return bytes(received[LENGTH.size :])


def _pack(*parts: bytes) -> bytes:
    return b"".join([piece for part in parts for piece in (LENGTH.pack(len(part)), part)])


def _unpack(data: bytes) -> list[bytes]:
    parts, start = [], 0
    while start < len(data):
        end = start + LENGTH.size + LENGTH.unpack_from(data, start)[0]
        parts.append(data[start + LENGTH.size : end])
        start = end
    return parts


def _hints(told: list[Any] | None) -> Hints | None:
    if told is None:
        return None
    canonical, alternates, noindex, nofollow, _, unfollowed, title = told
    return Hints(
        str(canonical),
        tuple(map(str, alternates[:MOST_ALTERNATES])),
        bool(noindex),
        bool(nofollow),
        unfollowed=frozenset(map(int, unfollowed[:MOST_UNFOLLOWED])),
        title=str(title)[:LONGEST_TITLE],
    )


def _read(line: BinaryIO) -> bytes | None:
    """Return the next message; None at the end, whatever part of a message stands before it."""
    head = line.read(LENGTH.size)
    size = LENGTH.unpack(head)[0] if len(head) == LENGTH.size else 0
    message = line.read(size)
    return message if len(head) + len(message) == LENGTH.size + size else None


# ---- the process


def warm_up() -> None:
    """Make a page, whatever it is, so that workers find what a process makes once, such as tables of characters."""
    html = '<html><title>é</title><p>What every page needs, and <a href="/">what a link does</a>.'
    fingerprint_page(html, url="http://a.test/")


def serve(line: socket, questions: BinaryIO) -> None:
    """Make pages for the process at the other end of a socket, until that is gone."""
    # They would hold pages and the seed.
    no_dumps()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with suppress(OSError):
        makers: dict[bytes, _Maker] = {}
        while (question := _read(questions)) is not None:
            told, *asked = _unpack(question)
            line.sendall(_pack(_make(asked, makers[told]) if asked else _prepare(told, makers)))


def _prepare(told: bytes, makers: dict[bytes, _Maker]) -> bytes:
    """Make ready for pages of some kind; return why that cannot be, or nothing."""
    try:
        makers[told] = _Maker(told)
    except Exception as exc:  # noqa: BLE001 - of a recipe or an extractor anything can be the matter
        return repr(exc)[:_MOST_REFUSED].encode("utf-8", "backslashreplace")[:_MOST_REFUSED]
    return b""


def _make(asked: list[bytes], maker: _Maker) -> bytes:
    maker.bound()
    # Kills, and needs no Python to run: whoever asked may be gone.
    signal.setitimer(signal.ITIMER_REAL, maker.patience)
    answer = _made(asked, maker.options)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return answer


def _made(asked: list[bytes], options: Mapping[str, Any]) -> bytes:
    address, encoding, wanted, body = asked
    if wanted == _TEXT:
        return _text(body, encoding.decode() or None)
    options = {**options, "keep_content": wanted == _KEPT and options.get("keep_content", False)}
    url, seconds = address.decode("utf-8", "surrogatepass"), dict[str, float]()
    made = fingerprint_page(body, url=url, encoding=encoding.decode() or None, seconds=seconds, **options)
    cost = json.dumps({"seconds": seconds, "memory": memory(), "hints": made.hints}, default=list).encode()
    return _pack(encode(StoredPage(made, 0, 0)), cost, made.content or b"", made.places)


def _text(body: bytes, encoding: str | None) -> bytes:
    from simcrawl.page.extraction import main_text_within_memory  # noqa: PLC0415 - loaded by `_Maker`

    try:
        return _pack(main_text_within_memory(body, encoding).encode("utf-8", "replace"), json.dumps(memory()).encode())
    except MemoryError:
        return _pack(b"", b"null")


class _Maker:
    """What pages of one kind need, loaded before the first one's time runs."""

    def __init__(self, told: bytes) -> None:
        from simcrawl.page.extraction import main_text  # noqa: PLC0415 - loaded here: it takes longer than pages do

        recipe, options, bounds = _unpack(told)
        self._max_bytes, self.patience = json.loads(bounds)
        self.bound()
        made = from_json(recipe.decode())
        made.load_extractor()
        self.options: dict[str, Any] = json.loads(options) | {"recipe": made}
        if self.options.pop("texts", False):
            # trafilatura is loaded by its first page.
            main_text("<p>What every text needs.")

    def bound(self) -> None:
        """Bound the memory of the process to what pages of this kind may take."""
        bound_memory(self._max_bytes)
