"""Worker processes that the event loop speaks to itself: some for all crawlers of a process, which take turns host by host.

Not through threads that wait for them: a thread and the event loop hand the interpreter to each other a dozen times a page, which cost a
crawl more than all that it does for a page now (`docs/decisions/workers.md`).
"""

from __future__ import annotations

from collections import defaultdict
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred, DeferredLock

from simcrawl.addresses import host_of
from simcrawl.crawl.line import Line, UnansweredError, line_over
from simcrawl.crawl.threads import Threads
from simcrawl.errors import SettingError, WorkerError
from simcrawl.page.fingerprint import Reason
from simcrawl.workers.pool import TextPool
from simcrawl.workers.process import MOST_DEATHS, Asker, PageProcess
from simcrawl.workers.starting import Starter
from simcrawl.workers.turns import Spent, Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from simcrawl.page.fingerprint import Abstention, PageFingerprint
    from simcrawl.workers.process import Question

    Page = PageFingerprint | Abstention

_P = ParamSpec("_P")
_T = TypeVar("_T")

# How often it is looked at what waits, and seconds after which a page steps aside.
_LOOK = 0.1
_LONG = 0.2
MOST_TEXTS = 2
"""Processes for main texts: with more than one a page that takes long does not hold up all others."""
# Threads to start processes from: two at a time.
_STARTING = 2
# Seconds of work, by what pages of their hosts took lately, that a process is asked for before it has answered.
_AHEAD = 0.1
# Seconds that a page may still take when its crawl has been told to stop.
_LAST_SECONDS = 1.0


class PassedError(Exception):
    """A page that is not made, so that others are: it passes unchecked. `reason`: the name under which it is counted."""

    def __init__(self, reason: str, host: str) -> None:
        self.reason, self.host = reason, host
        super().__init__(f"a page of {host} is not made: {reason}")


class Crawling(Asker):
    """A crawler that has pages made.

    `per_host`: worker seconds that pages of one host may take on average; `most_behind`: how many pages of a host may wait behind one of it
    that takes long; `patience_in_line`: seconds that a page waits for a worker.
    `is_ending`: whether the crawl was told to stop.
    """

    def __init__(
        self,
        options: dict[str, Any],
        *,
        max_bytes: int,
        per_host: float = float("inf"),
        most_behind: int = 1 << 30,
        patience_in_line: float = float("inf"),
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(options, max_bytes=max_bytes)
        self.per_host, self.patience_in_line, self.is_ending = per_host, patience_in_line, is_ending
        self.most_behind = most_behind
        self.seconds_in_queue = 0.0
        self.refusal = ""
        """Why no process makes its pages."""

    def check(self) -> None:
        """Raise a `WorkerError` where no process can be told what the pages are to be like."""
        try:
            self.told  # noqa: B018 - made once
        except SettingError as exc:
            raise WorkerError(f"no worker process can be started: {exc}") from exc


# What a page is counted and queued by: who asks for it, and its host.
_Key = tuple[Crawling, str]


async def _to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what a coroutine returns, which goes on to its end even where nobody waits for it any more."""
    done: Deferred[_T] = Deferred()
    deferred_from_coro(work).chainDeferred(done)
    return await maybe_deferred_to_future(done)


class _Process:
    """A worker and the line to it."""

    def __init__(self, worker: PageProcess, threads: Threads, *, is_aside: bool = False) -> None:
        self.worker = worker
        self.pages = 0
        """Pages that are asked of it at this moment."""
        self.ahead = 0.0
        """How many seconds they will take, as is expected."""
        self.is_aside = False
        """Whether it is for pages that take long."""
        self._threads = threads
        self._line: Line | None = None
        # One starts or stops it at a time.
        self._changing = DeferredLock()
        if is_aside:
            self.step_aside()

    async def page(self, question: Question) -> tuple[Page | None, Spent]:
        """Return the page, None where the process dies of it, and what it took.

        Raises:
            WorkerError: no process can be started, or it cannot make such pages.
            UnansweredError: it is to be asked for elsewhere.
        """
        line = await self._connected(question.asker)
        started = monotonic()
        try:
            answer, spent = await line.ask(question)
        except EOFError:
            await self._stop(line, question.asker)
            took = monotonic() - started
            return None, Spent(took, took)
        made, why = answer or (question.abstain(Reason.TOO_SLOW), line.why)
        if why:
            await self._stop(line, question.asker)
        return made, spent

    def take(self, expected: float) -> None:
        """Count a page that is asked of it."""
        self.pages += 1
        self.ahead += expected

    def give_back(self, expected: float) -> None:
        """Count it no more."""
        self.pages -= 1
        # What is left of a sum of floats when all of them were taken away.
        self.ahead = max(0.0, self.ahead - expected) if self.pages else 0.0

    @property
    def line(self) -> Line | None:
        """The line, where there is one that works."""
        return self._line if self._line and not self._line.lost else None

    @property
    def at_work(self) -> tuple[Question, float] | None:
        """What it is making, if somebody waits for it, and for how many seconds."""
        return self.line.at_work if self.line else None

    @property
    def host(self) -> _Key | None:
        """Whose page it is making, if somebody waits for it."""
        at_work = self.at_work
        return (cast("Crawling", at_work[0].asker), host_of(at_work[0].url)) if at_work else None

    @property
    def spent(self) -> Spent:
        """What that which it is making has taken so far."""
        return self.line.spent if self.line else Spent()

    async def _connected(self, asker: Asker) -> Line:
        line = self.line
        if line is None:
            line = await _to_the_end(self._connect(asker))
        return line

    async def _connect(self, asker: Asker) -> Line:
        await maybe_deferred_to_future(self._changing.acquire())
        try:
            if self._line and self._line.lost:
                await self._end(asker)
            line = self._line
            if line is None:
                line = self._line = await line_over(await self._run(self.worker.start, asker), self.worker)
            return line
        finally:
            self._changing.release()

    def step_aside(self) -> None:
        """Be for pages that take long from now on."""
        self.is_aside = True
        self.worker.step_aside()

    async def _stop(self, line: Line, asker: Asker) -> None:
        """Stop the process at the other end of a line, unless somebody did."""
        await _to_the_end(self._stop_once(line, asker))

    async def _stop_once(self, line: Line, asker: Asker) -> None:
        await maybe_deferred_to_future(self._changing.acquire())
        try:
            if self._line is line:
                await self._end(asker)
        finally:
            self._changing.release()

    async def _end(self, asker: Asker) -> None:
        line, self._line = self._line, None
        if line:
            line.close()
            asker.restarts[line.why] += 1
        await self._run(self.worker.stop)

    async def _run(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return await self._threads.run(function, *args, **kwargs)
        except RuntimeError as exc:
            # There are no threads any more.
            raise WorkerError("no worker process can be started: it is closed") from exc

    def close(self) -> None:
        """End the process, and start no more."""
        self.worker.close()
        if self._line:
            self._line.close()

    async def ended(self) -> None:
        """Return when nobody is starting or stopping it."""
        await maybe_deferred_to_future(self._changing.acquire())
        self._changing.release()


class _Turn:
    """What a page waits for that no process is free for."""

    def __init__(self, since: float, expected: float) -> None:
        self.since, self.expected = since, expected
        self.process: _Process | None = None
        self._given: Deferred[_Process] = Deferred()

    def give(self, process: _Process) -> None:
        self.process = process
        self._given.callback(process)

    def refuse(self, exc: PassedError) -> None:
        self._given.errback(exc)

    async def wait(self) -> _Process:
        return await maybe_deferred_to_future(self._given)


class Processes:
    """Worker processes, each started when a page comes and no other is free. For the event loop only.

    Pages of a crawler and a host take turns with those of others. What they cost is bounded: where a host has taken more than its crawler's
    `per_host` seconds a page, beside a few to begin with, and others are there, its pages pass.

    Fair turns alone would not do: a page that takes two seconds keeps a process that long from pages of a hundredth. So one that takes long
    where pages of other hosts are there steps aside, with its process, which has only what the others leave of the cores from then on; and
    pages of hosts that are known as slow, or whose pages are very large, go there at once:

        page -- of a host that is not slow ---> the process that is free first, of `most`
          |                                        | takes long
          |                                        v
          +---- of a slow one --------------> the process aside, one in all; a few wait for it, the others pass

    Where nobody else has come for a while, slow hosts may have the other processes as well, but for the last.
    """

    def __init__(self, most: int, *, at_once: int, held_up: float) -> None:
        """Take how many processes there may be, beside the one aside.

        `at_once`: how many are started at once; further ones when a page has waited for `held_up` seconds.
        """
        self._most, self._held_up = most, held_up
        self._at_once = min(at_once, most)
        self._threads = Threads(_STARTING)
        self._starter = Starter()
        self._text_pools: dict[tuple[float, int], TextPool] = {}
        self._all: list[_Process] = []
        self._turns: Turns[_Key, _Turn] = Turns()
        self._crawlings: set[Crawling] = set()
        self._looking: Any = None
        self._quick_came = 0.0
        self._closed = False
        self._starter.begin()

    def join(self, crawling: Crawling) -> None:
        """Note somebody who may ask for pages."""
        self._crawlings.add(crawling)

    def also(self, most: int, at_once: int) -> None:
        """Let there be as many processes as somebody else wants."""
        self._most = max(self._most, most)
        self._at_once = max(self._at_once, min(at_once, most))

    def leave(self, crawling: Crawling) -> bool:
        """Forget somebody who asks no more; return whether nobody is left."""
        self._crawlings.discard(crawling)
        self._turns.forget(lambda key: key[0] is crawling)
        return not self._crawlings

    def text_pool(self, crawling: Crawling) -> TextPool:
        """Return processes for main texts: those of all crawlers with the same limits."""
        limits = crawling.patience, crawling.max_bytes
        if limits not in self._text_pools:
            self._text_pools[limits] = TextPool(MOST_TEXTS, self._starter, max_seconds=limits[0], max_bytes=limits[1])
        return self._text_pools[limits]

    @property
    def count(self) -> int:
        """How many there are, whether they run or not."""
        return len(self._all)

    @property
    def pids(self) -> list[int | None]:
        """The numbers of the processes."""
        return [process.worker.pid for process in self._all]

    async def page(self, crawling: Crawling, body: bytes, url: str, encoding: str | None, body_digest: bytes | None = None) -> Page:
        """Return a page made by the next worker that is free. One that kills its worker twice abstains as `crashed`.

        The first time it may have been somebody else's kill.

        Raises:
            PassedError: it is not made, so that others are.
            WorkerError: no process can be started.
        """
        question = crawling.question(body, url, encoding, body_digest)
        key = crawling, host_of(url)
        self._turns.arrived(key, len(body))
        try:
            return await self._made(key, question, monotonic())
        finally:
            self._turns.settled(key, len(body))

    async def _made(self, key: _Key, question: Question, started: float) -> Page:
        crawling, deaths = key[0], 0
        while deaths < MOST_DEATHS:
            expected = self._turns.expected(key, len(question.body))
            process = await self._take(key, started, expected)
            crawling.seconds_in_queue += monotonic() - started
            try:
                made, spent = await self._page_of(process, crawling, question)
                self._turns.charge(key, spent)
            except UnansweredError:
                continue
            finally:
                started = monotonic()
                self._give_back(process, expected)
            if made:
                return made
            deaths += 1
        return question.abstain(Reason.CRASHED)

    async def _page_of(self, process: _Process, crawling: Crawling, question: Question) -> tuple[Page | None, Spent]:
        # Those that waited need not try it again, one after the other.
        if crawling.refusal:
            raise WorkerError(crawling.refusal)
        try:
            crawling.check()
            return await process.page(question)
        except WorkerError as exc:
            crawling.refusal = str(exc)
            raise

    async def _take(self, key: _Key, since: float, expected: float) -> _Process:
        busy = self._busy()
        if why := self._why_not(key, busy, since):
            raise PassedError(why, key[1])
        self._look_soon()
        is_slow = self._goes_aside(key, busy)
        if self._has_room(is_slow):
            return self._room(expected, is_slow=is_slow)
        turn = _Turn(since, expected)
        self._turns.add(key, turn)
        try:
            return await turn.wait()
        except PassedError:
            raise
        except BaseException:
            # Nobody waits for it any more.
            if turn.process:
                self._give_back(turn.process, expected)
            else:
                self._turns.remove(key, turn)
            raise

    def _why_not(self, key: _Key, busy: Mapping[_Key, Spent], since: float) -> str:
        """Return why a page is not to be made; "" where it is."""
        crawling = key[0]
        if crawling.is_ending():
            return "stopping"
        if self._turns.is_over_budget(key, busy, crawling.per_host) or self._is_crowd(key, busy):
            return "host_over_budget"
        return "waited_too_long" if monotonic() - since > crawling.patience_in_line else ""

    def _goes_aside(self, key: _Key, busy: Mapping[_Key, Spent]) -> bool:
        """Return whether pages of a host go aside: those of a slow one, and of one while a page of it is there, which nobody knows yet."""
        return self._turns.is_slow(key, busy) or bool(self._aside and self._aside.host == key)

    def _is_crowd(self, key: _Key, busy: Mapping[_Key, Spent]) -> bool:
        """Return whether so many pages of a slow host wait that those of others could not even be fetched."""
        return self._turns.waiting(key) > key[0].most_behind and self._turns.is_slow(key, busy)

    def _busy(self) -> Mapping[_Key, Spent]:
        """Return what the pages that are being made have taken so far, by host; nothing where no other host is there to be held up."""
        busy: defaultdict[_Key, Spent] = defaultdict(Spent)
        if not self._turns.are_several:
            return busy
        for process in self._all:
            if key := process.host:
                (seconds, of_core), more = busy[key], process.spent
                busy[key] = Spent(seconds + more.seconds, of_core + more.of_core)
        return busy

    @property
    def _quick(self) -> list[_Process]:
        return [process for process in self._all if not process.is_aside]

    @property
    def _aside(self) -> _Process | None:
        return next((process for process in self._all if process.is_aside), None)

    def _has_room(self, is_slow: bool) -> bool:
        """Return whether a process is free, or may be started, for one page more."""
        if is_slow:
            return not (self._aside and self._aside.pages) or self._may_lend()
        return len(self._quick) < self._at_once or any(map(self._takes_more, self._quick))

    def _may_lend(self) -> bool:
        """Return whether a slow host may have a process that is not aside: there was no other for long, and one more is left for it."""
        free = sum(not process.pages for process in self._quick) + self._most - len(self._quick)
        return free > 1 and monotonic() - self._quick_came > self._held_up

    def _takes_more(self, process: _Process) -> bool:
        if not process.pages:
            return True
        # One alone is asked for a second page whatever the first one is: it would else wait whenever the event loop is busy.
        is_near_end = process.ahead < _AHEAD or (self._at_once == 1 and process.pages == 1)
        return is_near_end and not self._is_held_up(process)

    def _room(self, expected: float, *, is_slow: bool) -> _Process:
        """Return the process that is to make the next page, where there is room."""
        if is_slow and not (self._aside and self._aside.pages):
            free = self._aside
        elif is_slow:
            free, is_slow = next((process for process in self._quick if not process.pages), None), False
        else:
            self._quick_came = monotonic()
            # The first that has nothing to do: no more are started than pages are in work at a time.
            free = min(filter(self._takes_more, self._quick), key=lambda process: process.ahead, default=None)
            if free and free.pages and len(self._quick) < self._at_once:
                free = None
        process = free or self._new(is_slow)
        process.take(expected)
        return process

    def _is_held_up(self, process: _Process, seconds: float | None = None) -> bool:
        at_work = process.at_work
        return bool(at_work and at_work[1] >= (self._held_up if seconds is None else seconds))

    def _new(self, is_slow: bool) -> _Process:
        process = _Process(PageProcess(self._starter), self._threads, is_aside=is_slow)
        self._all.append(process)
        return process

    def _give_back(self, process: _Process, expected: float) -> None:
        process.give_back(expected)
        self._serve()

    def _serve(self) -> None:
        """Give processes that are free to those whose turn it is."""
        for is_slow in (False, True):
            while self._turns and self._has_room(is_slow) and (turn := self._next(is_slow)):
                turn.give(self._room(turn.expected, is_slow=is_slow))

    def _next(self, is_slow: bool) -> _Turn | None:
        busy = self._busy()
        return self._turns.next(busy, lambda key: self._goes_aside(key, busy) == is_slow)

    # ---- what is looked at now and then

    def _look_soon(self) -> None:
        if not self._looking and not self._closed:
            self._looking = call_later(min(_LOOK, self._held_up), self._look)

    def _look(self) -> None:
        self._looking = None
        self._step_aside()
        self._pass_some()
        if self._most > 1 or self._aside:
            self._let_go()
        self._start_more()
        self._serve()
        self._end_soon()
        if self._turns or any(process.pages for process in self._all):
            self._look_soon()

    def _pass_some(self) -> None:
        busy = self._busy()
        for key, turn in self._turns:
            if why := self._why_not(key, busy, turn.since):
                self._turns.remove(key, turn)
                turn.refuse(PassedError(why, key[1]))

    def _step_aside(self) -> None:
        """Let the page that takes longest go on aside, if it takes long, and others are there."""
        if self._aside or not self._turns.are_several:
            return
        if slow := [process for process in self._quick if self._is_held_up(process, min(_LONG, self._held_up))]:
            longest = max(slow, key=lambda process: process.at_work[1] if process.at_work else 0.0)
            longest.step_aside()

    def _let_go(self) -> None:
        """Let pages that stand in line behind one that takes long go to another process."""
        for process in self._all:
            if process.pages > 1 and process.line and (process.is_aside or self._is_held_up(process)):
                process.line.let_go()
            elif process.line and process.line.is_wasted(self._held_up):
                # It went elsewhere, and takes long here, too. The next page starts another process.
                process.line.close("too_slow")

    def _start_more(self) -> None:
        if self._has_room(False) or len(self._quick) >= self._most:
            return
        now = monotonic()
        waits_long = self._are_blocked() or any(now - turn.since >= self._held_up for _, turn in self._turns)
        if waits_long and (turn := self._next(False)):
            process = self._new(False)
            process.take(turn.expected)
            turn.give(process)

    def _are_blocked(self) -> bool:
        """Return whether pages wait because every process makes one that takes long of another host."""
        busy = self._busy()
        return all(map(self._is_held_up, self._quick)) and any(key not in busy for key, _ in self._turns)

    def _end_soon(self) -> None:
        """Let pages of crawls that were told to stop end soon."""
        for process in self._all:
            if process.line and (at_work := process.at_work) and cast("Crawling", at_work[0].asker).is_ending():
                process.line.hurry(_LAST_SECONDS)

    # ---- the end

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        if self._looking:
            self._looking.cancel()
        self._threads.close()
        self._starter.close()
        for pool in self._text_pools.values():
            pool.close()
        for process in self._all:
            process.close()

    async def ended(self) -> None:
        """Return when nobody is starting or stopping a process any more; to be called after `close`, which makes that short."""
        for process in self._all:
            await process.ended()


_shared: Processes | None = None


def shared(crawling: Crawling, most: int, *, at_once: int, held_up: float) -> Processes:
    """Return the processes of all crawlers of this process, which somebody joins."""
    global _shared  # noqa: PLW0603 - there is one, as there is one event loop
    if _shared is None:
        _shared = Processes(most, at_once=at_once, held_up=held_up)
    _shared.also(most, at_once)
    _shared.join(crawling)
    return _shared


async def leave(processes: Processes, crawling: Crawling) -> None:
    """Leave processes; the last one ends them, and waits for those only that are starting, which end at once."""
    if abandon(processes, crawling):
        await processes.ended()


def abandon(processes: Processes, crawling: Crawling) -> bool:
    """Leave processes, and wait for nothing; return whether nobody is left, and they end."""
    global _shared  # noqa: PLW0603 - as above
    if not processes.leave(crawling):
        return False
    if _shared is processes:
        _shared = None
    processes.close()
    return True
