"""PageProcess processes alone: what they make, what ends them, and that nothing else does."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from socket import SHUT_WR, socketpair
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from simcrawl.crawl.line import Line
from simcrawl.crawl.processes import Crawling, Processes, _Process
from simcrawl.errors import WorkerError
from simcrawl.page.fingerprint import MAX_WORKER_BYTES, Abstention, PageFingerprint, fingerprint_page
from simcrawl.page.hints import Hints
from simcrawl.page.kept import expanded
from simcrawl.page.recipes import Recipe, resolve
from simcrawl.page.sketch import Part
from simcrawl.rule import StoredPage
from simcrawl.store.records import encode
from simcrawl.workers import process as worker_module
from simcrawl.workers.process import LENGTH, MAX_PAGES, Asker, PageProcess
from tests.crawl.runner import ROOT
from tests.processes import offspring, runs
from tests.samples import chinese, english, page, python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BODY = page(english()).encode()
MISBEHAVING = replace(resolve("terms"), extractor="tests.extractors.misbehaving")


def _options(recipe: Recipe | str = MISBEHAVING, *, max_seconds: float = 20.0) -> dict[str, Any]:
    return {"recipe": resolve(recipe), "seed": 7, "max_bytes": 4_000_000, "max_seconds": max_seconds}


class Asked:
    """A worker that an event loop of its own asks for pages, as a crawl's does."""

    def __init__(self, options: dict[str, Any], *, max_pages: int = MAX_PAGES, max_bytes: int = MAX_WORKER_BYTES) -> None:
        self.loop, self.max_pages = asyncio.new_event_loop(), max_pages
        self.processes = Processes(1, at_once=1, held_up=60)
        self.crawling = Crawling(options, max_bytes=max_bytes)

    @property
    def restarts(self) -> dict[str, int]:
        return dict(self.crawling.restarts)

    @property
    def pid(self) -> int | None:
        return next(iter(self.processes.pids), None)

    def page(
        self, body: bytes, *, url: str = "", encoding: str | None = None, crawling: Crawling | None = None
    ) -> PageFingerprint | Abstention:
        made: PageFingerprint | Abstention = self.loop.run_until_complete(self._page(body, url, encoding, crawling))
        return made

    async def _page(self, body: bytes, url: str, encoding: str | None = None, crawling: Crawling | None = None) -> Any:
        asking = asyncio.ensure_future(self.processes.page(crawling or self.crawling, body, url, encoding))
        await asyncio.sleep(0)
        for process in self.processes._all:
            process.worker._max_pages = self.max_pages
        return await asking

    def all_pages(self, *names: str) -> dict[str, str]:
        """Return what became of pages that are asked for at the same time: "fine", or why not."""

        async def ask() -> Any:
            return await asyncio.gather(*(self._page(BODY, f"http://x/{name}") for name in names))

        made: list[PageFingerprint | Abstention] = self.loop.run_until_complete(ask())
        assert [page.url for page in made] == [f"http://x/{name}" for name in names]
        return {name: getattr(page, "reason", "fine") for name, page in zip(names, made, strict=True)}

    def close(self) -> None:
        self.processes.close()

    def end(self) -> None:
        if self.loop.is_closed():
            return
        self.close()
        self.loop.run_until_complete(self._ended())
        self.loop.close()

    async def _ended(self) -> None:
        # As a crawl does: for another page a process may still be starting, or stopping.
        await self.processes.ended()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)


@pytest.fixture
def asked() -> Iterator[Callable[..., Asked]]:
    """What makes workers, which end with the test."""
    with ExitStack() as stack:

        def make(options: dict[str, Any], **limits: int) -> Asked:
            worker = Asked(options, **limits)
            stack.callback(worker.end)
            return worker

        yield make


@pytest.fixture
def worker(asked: Callable[..., Asked]) -> Asked:
    return asked(_options(), max_bytes=400_000_000)


def _is_fine(worker: Asked) -> bool:
    return isinstance(worker.page(BODY, url="http://x/fine"), PageFingerprint)


def _reason(worker: Asked, name: str) -> str:
    made = worker.page(BODY, url=f"http://x/{name}")
    assert isinstance(made, Abstention)
    assert made.body_digest == fingerprint_page(BODY, seed=7).body_digest
    return made.reason.value


def ends(pid: int, within: float = 20) -> bool:
    """Wait for the end of a process that is nobody's child here; return whether it came."""
    deadline = monotonic() + within
    while runs(pid) and monotonic() < deadline:
        Event().wait(0.01)
    return not runs(pid)


@pytest.mark.parametrize("recipe", ["terms", "content", "manku2007"])
def test_a_worker_makes_the_same_pages(asked: Callable[..., Asked], recipe: str):
    worker = asked(_options(recipe))
    assert worker.pid is None
    for body, encoding in ((BODY, "utf-8"), (page(chinese()).encode("gb18030"), "gb18030"), (b"", None), (b"%PDF", None)):
        expected = fingerprint_page(body, url="http://x/a#b", encoding=encoding, recipe=recipe, seed=7)
        made = worker.page(body, url="http://x/a#b", encoding=encoding)
        assert (made, made.places) == (expected, expected.places)
    assert worker.crawling.seconds.keys() == {"extract", "fingerprint"}
    assert not worker.restarts


def test_a_worker_that_was_killed_is_replaced_and_its_page_made(worker: Asked):
    assert _is_fine(worker)
    first = worker.pid
    assert first
    os.kill(first, signal.SIGKILL)
    assert _is_fine(worker)
    assert worker.pid != first
    assert worker.restarts == {"died": 1}


@pytest.mark.parametrize("name", ["die", "exit"])
def test_a_page_that_kills_its_worker_twice_abstains(worker: Asked, name: str):
    assert _reason(worker, name) == "crashed"
    assert worker.restarts == {"died": 2}
    assert _is_fine(worker)


@pytest.mark.parametrize("name", ["loop", "hold"])
def test_a_page_that_hangs_abstains_and_its_worker_is_gone(asked: Callable[..., Asked], name: str):
    worker = asked(_options(max_seconds=2.0))
    assert _is_fine(worker)
    first = worker.pid
    assert first
    assert _reason(worker, name) == "too_slow"
    assert not runs(first)
    assert _is_fine(worker)
    assert worker.restarts == {"too_slow": 1}


def test_a_page_that_needs_too_much_memory_abstains(worker: Asked):
    assert _reason(worker, "eat") == "out_of_memory"
    assert _is_fine(worker)
    assert worker.restarts == {"memory": 1}


def test_a_worker_that_grows_is_replaced_before_it_is_too_large(worker: Asked):
    for number in range(10):
        assert isinstance(worker.page(BODY, url=f"http://x/leak{number}"), PageFingerprint)
    assert worker.restarts.keys() == {"memory"}
    assert 1 <= worker.restarts["memory"] <= 5


def test_a_worker_is_replaced_after_so_many_pages(asked: Callable[..., Asked]):
    worker = asked(_options(), max_pages=2)
    pids = set()
    for _ in range(5):
        assert _is_fine(worker)
        pids.add(worker.pid)
    assert worker.restarts == {"recycled": 2}
    assert len(pids - {None}) == 3


def _answer(cost: bytes = b'{"seconds": {}, "memory": 0}', content: bytes = b"") -> bytes:
    options = _options("terms")
    record = worker_module._unpack(worker_module._made([b"http://x/a", b"", b"", BODY], options))[0]
    return worker_module._pack(record, cost, content, b"")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no answer",
        b"\0\0\0\1x" * 3,
        b"\0\0\0\0" * 3,
        _answer()[:-1],
        _answer(cost=b"{"),
        _answer(cost=b"[]"),
        _answer(cost=b"{}"),
        _answer(cost=b'{"seconds": {"extract": "long"}, "memory": 0}'),
        _answer(cost=b'{"seconds": {}, "memory": null}'),
        _answer(cost=b'{"seconds": 1, "memory": 0}'),
        _answer(cost=b"[" * 100_000),
    ],
)
def test_an_answer_that_does_not_parse_is_the_end_of_the_worker(answer: bytes):
    asker = Asker(_options("terms"))
    asker.seconds["extract"] = 1
    with pytest.raises(EOFError, match="a worker's answer does not parse"):
        PageProcess().answered(answer, asker.question(BODY, "http://x/a", None))


def _text_of(answer: bytes, **options: Any) -> tuple[str | None, str | None]:
    """Return what is made of an answer to the question for a main text; the process ends after it."""
    ours, theirs = socketpair()
    with ours, theirs:
        theirs.sendall(answer)
        theirs.shutdown(SHUT_WR)
        return PageProcess(**options).text(ours, Asker(_options("terms")).question(b"<p>", "http://x/a", None))


def _packed(*parts: bytes) -> bytes:
    return worker_module._pack(worker_module._pack(*parts))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        LENGTH.pack(0),
        _packed(b"text"),
        _packed(b"text", b""),
        _packed(b"text", b"{"),
        _packed(b"text", b'"1"'),
        _packed(b"text", b"NaN"),
        _packed(b"text", b" " * 100 + b"1"),
        _packed(b"text", b"1", b""),
        worker_module._pack(LENGTH.pack(9) + b"text"),
        # Says that more comes than a text may have.
        LENGTH.pack(1 << 30),
    ],
)
def test_an_answer_without_a_text_is_the_end_of_the_worker(answer: bytes):
    with pytest.raises(EOFError):
        _text_of(answer)


def test_a_worker_that_grows_is_replaced_after_a_text_and_so_is_an_old_one():
    small, large = (_packed(b"caf\xc3\xa9\xff", b"%d" % size) for size in (1, MAX_WORKER_BYTES))
    assert _text_of(small) == ("café\ufffd", None)
    assert _text_of(large) == ("café\ufffd", "memory")
    assert _text_of(_packed(b"", b"null")) == (None, "memory")
    assert _text_of(small, max_pages=1) == ("café\ufffd", "recycled")


def test_an_empty_answer_to_a_page_is_the_end_of_the_worker_and_no_lack_of_time():
    ours, theirs = socketpair()
    with ours, theirs:
        theirs.sendall(LENGTH.pack(0))
        with pytest.raises(EOFError, match="does not parse"):
            PageProcess().make(ours, Asker(_options("terms")).question(BODY, "http://x/a", None))


def _page_like(**changes: Any) -> bytes:
    """Return an answer about a page that has been changed."""
    made = fingerprint_page(BODY, url="http://x/a", seed=7)
    record = encode(StoredPage(replace(made, **changes), 0, 0))
    return worker_module._pack(record, b'{"seconds": {}, "memory": 0}', b"", b"")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (_page_like(content_sketch=b"12"), "form"),
        (_page_like(around=Part(3, b"1234")), "form"),
        (_answer(content=b"a" * (1 << 20)), "too many"),
    ],
)
def test_a_page_that_none_could_be_compared_with_is_no_answer(answer: bytes, why: str):
    with pytest.raises(EOFError, match=why):
        PageProcess().answered(answer, Asker(_options("terms")).question(BODY, "http://x/a", None))


def test_the_digest_of_a_body_is_its_parents_own():
    forged = _page_like(body_digest=fingerprint_page(b"<p>the victim", seed=7).body_digest)
    made, _ = PageProcess().answered(forged, Asker(_options("terms")).question(BODY, "http://x/a", None))
    assert made == fingerprint_page(BODY, url="http://x/a", seed=7)


def test_a_worker_counts_nothing_but_its_seconds():
    asker = Asker(_options("content", max_seconds=2))
    cost = b'{"seconds": {"extract": 1, "../../pages/dropped": 1, "fingerprint": 1e9, "extract ": NaN}, "memory": 0}'
    PageProcess().answered(_answer(cost=cost), asker.question(BODY, "http://x/a", None))
    assert (asker.seconds, asker.refused) == ({"extract": 1}, 3)


class _Broken:
    """The other end of a line, at which somebody says what a worker would not."""

    def __init__(self) -> None:
        self.written, self.aborted = 0, False

    def write(self, data: bytes) -> None:
        self.written += len(data)

    def abort(self) -> None:
        self.aborted = True


def _told(*pieces: bytes) -> tuple[Any, Line, _Broken]:
    """Return what comes of a question to which these pieces are said, the line, and its other end."""

    async def ask() -> tuple[Any, Line, _Broken]:
        process, asker = PageProcess(), Asker(_options("terms"))
        process._ready.add(asker.told)
        line, end = Line(process), _Broken()
        line.makeConnection(end)  # type: ignore[no-untyped-call]  # Twisted has no types for it
        asking = asyncio.ensure_future(line.ask(asker.question(BODY, "http://x/a", None)))
        await asyncio.sleep(0)
        for piece in pieces:
            line.dataReceived(piece)
        (answer,) = await asyncio.gather(asking, return_exceptions=True)
        line.close()
        return answer, line, end

    return asyncio.run(ask())


def test_an_answer_may_come_in_any_pieces():
    message = worker_module._pack(_answer())
    ((made, why), _), _, _ = _told(*(message[at : at + 1] for at in range(len(message))))
    assert (made, why) == (fingerprint_page(BODY, url="http://x/a", seed=7), None)


def test_a_worker_that_says_too_much_is_not_listened_to():
    answer, line, end = _told(LENGTH.pack(1 << 26), *[b"x" * 50] * 1000)
    assert isinstance(answer, EOFError)
    assert end.aborted
    # Nothing of it is kept.
    assert not line._received


def test_a_worker_that_speaks_unasked_is_not_listened_to():
    message = worker_module._pack(_answer())
    answer, line, end = _told(message + message)
    assert answer[0][0].url == "http://x/a"
    assert (line.lost, end.aborted) == (True, True)


ENVIRONED = """
import os
def told(body, encoding, url):
    return " ".join(f"{name} word" for name in sorted(os.environ)) + " descriptors" * len(os.listdir("/proc/self/fd"))
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the descriptors of a process can be seen on Linux only")
def test_a_worker_gets_what_it_needs_of_environment_and_descriptors(
    asked: Callable[..., Asked], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "environed.py").write_text(ENVIRONED)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("AWS_SECRET_ACCESS_KEY", "SCRAPY_PROXY", "SIMCRAWL_OWN"):
        monkeypatch.setenv(name, "secret")
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        made = asked(_options(replace(resolve("main"), extractor="environed.told")) | {"keep_content": True}).page(BODY)
    assert made.content
    names = expanded(made.content).split()
    assert "SIMCRAWL_OWN" in names
    assert not {"AWS_SECRET_ACCESS_KEY", "SCRAPY_PROXY"} & {*names}
    # Three standard ones, the socket, and the folder that is being listed.
    assert names.count("descriptors") == 5


@pytest.mark.parametrize("body", [BODY, b"<p>" + b"word " * 150_000], ids=["small", "large"])
def test_a_page_is_not_too_slow_because_something_holds_up_the_event_loop(asked: Callable[..., Asked], body: bytes):
    worker = asked(_options(max_seconds=1.0))
    assert _is_fine(worker)
    # A callback that takes its time.
    worker.loop.call_soon(partial(worker.loop.call_soon, Event().wait, 1.5))
    assert isinstance(worker.page(body, url="http://x/fine"), PageFingerprint)
    assert not worker.restarts


REACTOR = """
import sys
from threading import Event
from twisted.internet import epollreactor
epollreactor.install()
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred
from simcrawl.crawl.processes import Crawling, Processes
from simcrawl.workers.process import MAX_PAGES, Asker, PageProcess
from tests.workers.test_process import BODY, _options

async def ask():
    crawling = Crawling(_options(max_seconds=1.0), max_bytes=10**9)
    processes = Processes(1, at_once=1, held_up=60)
    await processes.page(crawling, BODY, "http://x/fine", None)
    reactor.callLater(0, Event().wait, 1.5)
    made = await processes.page(crawling, BODY, "http://x/fine", None)
    print(type(made).__name__, dict(crawling.restarts))
    processes.close()
    reactor.stop()

reactor.callWhenRunning(lambda: ensureDeferred(ask()))
reactor.run()
"""


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="only Linux has this reactor")
def test_nor_on_a_reactor_whose_timers_come_before_what_it_reads():
    assert python(REACTOR, PYTHONPATH=str(ROOT)) == "PageFingerprint {}"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the children of a process can be seen on Linux only")
@pytest.mark.parametrize("turns", range(6))
def test_pages_that_nobody_waits_for_any_more_hold_up_no_other(worker: Asked, turns: int):
    async def call_off() -> None:
        asking = [asyncio.create_task(worker._page(BODY, f"http://x/fine{number}")) for number in range(6)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    template = worker.processes._starter._template
    assert template
    # Those of other tests' fixtures.
    others = offspring() - {template.pid}
    # While the process starts, and when it runs.
    for _ in range(2):
        worker.loop.run_until_complete(call_off())
        assert _is_fine(worker)
        # None was started twice: there is what they are forked from, and one.
        assert offspring() - others == {template.pid, worker.pid}
    assert not worker.restarts


FINE = [f"fine{number}" for number in range(6)]


@pytest.mark.parametrize("at", [0, 1, 2, 6])
@pytest.mark.parametrize(("name", "reason", "restarts"), [("die", "crashed", {"died": 2}), ("hold", "too_slow", {"too_slow": 1})])
def test_a_page_takes_no_other_along_that_is_in_line(
    asked: Callable[..., Asked], name: str, reason: str, restarts: dict[str, int], at: int
):
    worker = asked(_options(max_seconds=2.0))
    names = [*FINE[:at], name, *FINE[at:]]
    assert worker.all_pages(*names) == dict.fromkeys(FINE, "fine") | {name: reason}
    assert worker.restarts == restarts


def test_pages_in_line_come_although_the_worker_is_replaced(asked: Callable[..., Asked]):
    worker = asked(_options(), max_pages=1)
    assert worker.all_pages(*FINE) == dict.fromkeys(FINE, "fine")
    assert worker.restarts == {"recycled": 6}


def test_pages_in_line_come_although_the_worker_is_killed_meanwhile(worker: Asked):
    assert _is_fine(worker)
    for _ in range(3):
        assert worker.pid
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.all_pages(*FINE) == dict.fromkeys(FINE, "fine")
    assert worker.restarts == {"died": 3}


@pytest.mark.parametrize(("name", "why"), [("eat", "memory"), ("hold", "too_slow")])
def test_why_a_worker_was_replaced_is_known_although_the_next_page_comes_first(asked: Callable[..., Asked], name: str, why: str):
    worker, stop = asked(_options(max_seconds=2.0), max_bytes=500_000_000), _Process._stop

    async def late(*args: Any) -> None:
        assert isinstance(await worker._page(BODY, "http://x/fine"), PageFingerprint)
        await stop(*args)

    with patch.object(_Process, "_stop", late):
        assert isinstance(worker.page(BODY, url=f"http://x/{name}"), Abstention)
    assert worker.restarts == {why: 1}


def test_an_answer_to_another_question_is_none():
    answer = _answer()
    asker = Asker(_options("terms"))
    made, why = PageProcess().answered(answer, asker.question(BODY, "http://x/a#part", None))
    assert (made, why) == (fingerprint_page(BODY, url="http://x/a", seed=7), None)
    with pytest.raises(EOFError, match="is about http://x/a, not http://x/b"):
        PageProcess().answered(answer, asker.question(BODY, "http://x/b", None))


def test_the_content_of_a_page_comes_with_it_on_request(asked: Callable[..., Asked]):
    made = asked(_options("terms") | {"keep_content": True}).page(BODY)
    assert made.content
    assert made.content == fingerprint_page(BODY, seed=7, keep_content=True).content


def test_whoever_has_no_space_for_it_any_more_gets_no_content(asked: Callable[..., Asked]):
    worker = asked(_options("terms") | {"keep_content": True})
    assert worker.page(BODY).content
    worker.crawling.wants_content = False
    made = worker.page(BODY)
    assert isinstance(made, PageFingerprint)
    assert made.content is None
    assert not worker.restarts


def test_the_hints_of_a_page_come_with_it(asked: Callable[..., Asked]):
    head = '<link rel="canonical" href="/boat"><link rel="alternate" hreflang="de" href="/boot">'
    body = page(english() + '<a rel="nofollow" href="/cart">a</a>', head=head).encode()
    made = asked(_options("terms")).page(body, url="http://x/a")
    assert made.hints
    assert made.hints == fingerprint_page(body, url="http://x/a", seed=7).hints
    assert made.hints == Hints("http://x/boat", ("http://x/boot",), unfollowed=made.hints.unfollowed, title=made.hints.title)
    assert made.hints.asks_not_to_follow("http://x/cart")


def test_a_body_that_no_buffer_holds_goes_through(worker: Asked):
    body = b"<p>" + b"word " * 700_000
    assert worker.page(body, url="http://x/\udc80") == fingerprint_page(body, url="http://x/\udc80", recipe=MISBEHAVING, seed=7)


def test_what_an_extractor_prints_does_no_harm(worker: Asked):
    assert isinstance(worker.page(BODY, url="http://x/print"), PageFingerprint)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_does_not_mind_the_signals_that_its_parent_gets(worker: Asked, number: int):
    assert _is_fine(worker)
    assert worker.pid
    os.kill(worker.pid, number)
    assert _is_fine(worker)
    assert not worker.restarts


class _Own(Recipe):
    pass


LIMITED = """
import resource
from simcrawl.page.fingerprint import MAX_WORKER_BYTES
from tests.workers.test_process import BODY, Asked, _options

resource.setrlimit(resource.RLIMIT_DATA, (MAX_WORKER_BYTES // 2, MAX_WORKER_BYTES // 2))
worker = Asked(_options("auto"))
print(type(worker.page(BODY)).__name__)
worker.end()
"""


def test_a_limit_of_memory_that_the_user_has_set_holds_for_workers_too():
    done = subprocess.run([sys.executable, "-c", LIMITED], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.returncode) == ("PageFingerprint", 0), done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (_options(replace(MISBEHAVING, extractor="tests.extractors.absent")), "tests.extractors.absent"),
        (_options(_Own("own", 1)), "'own' cannot be sent to another process"),
    ],
)
def test_a_worker_that_cannot_make_pages_says_why(asked: Callable[..., Asked], options: dict[str, Any], why: str):
    worker = asked(options)
    with pytest.raises(WorkerError, match=f"no worker process can be started.*{why}"):
        worker.page(BODY)
    assert worker.pid is None


def test_a_worker_looks_for_modules_where_its_parent_does(asked: Callable[..., Asked], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    own = tmp_path / "ünusual"
    own.mkdir()
    (own / "found_there.py").write_text("def text(body, encoding, url): return url * 99")
    # More than fits into an argument of a command, and what an import does not mind.
    longest = [f"{own}/{'没有' * 20}{number}" for number in range(2_000)]
    monkeypatch.setattr(sys, "path", [b"/tmp", None, own, *longest, "/\udcff", str(own), *sys.path])
    worker = asked(_options(replace(resolve("main"), name="own", extractor="found_there.text")))
    assert isinstance(worker.page(BODY, url="http://x/fine"), PageFingerprint)


def test_a_program_that_is_no_python_is_an_error(asked: Callable[..., Asked], monkeypatch: pytest.MonkeyPatch):
    for program in ("/bin/false", "/no/such/program"):
        monkeypatch.setattr(sys, "executable", program)
        with pytest.raises(WorkerError, match="no worker process can be started"):
            asked(_options()).page(BODY)


def test_where_no_process_starts_pages_in_line_do_not_try_again(asked: Callable[..., Asked], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    worker = asked(_options())
    with patch.object(PageProcess, "start", autospec=True, side_effect=PageProcess.start) as start:
        with pytest.raises(WorkerError, match="no worker process can be started"):
            worker.all_pages(*FINE)
        # Before the program is one that starts again.
        worker.end()
    assert 1 <= start.call_count <= 2


def test_a_closed_worker_starts_no_other(worker: Asked):
    assert _is_fine(worker)
    pid = worker.pid
    assert pid
    worker.close()
    assert not runs(pid)
    with pytest.raises(WorkerError, match="it is closed"):
        worker.page(BODY)


_PARENT = """
import os, signal
from tests.workers.test_process import *
from tests.workers.test_process import _options
worker = Asked(_options(max_seconds=1.0))
worker.page(BODY, url="http://x/fine")
print(worker.pid, flush=True)
worker.page(BODY, url="http://x/{name}")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", ["fine", "orphan-loop", "orphan-hold"])
def test_a_worker_does_not_outlive_its_parent(name: str):
    command = [sys.executable, "-c", _PARENT.format(name=name)]
    parent = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False, timeout=60)
    assert parent.returncode == -signal.SIGKILL
    assert ends(int(parent.stdout))
