"""What a crawl tells of itself: a line every minute, a summary where the log goes to a terminal, and what to do next."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider, signals

from simcrawl.crawl.extension import SimcrawlExtension
from simcrawl.crawl.refusal import _ask
from simcrawl.crawl.session import Session
from simcrawl.errors import SettingError
from tests.crawl.content import hub, page
from tests.crawl.runner import crawl
from tests.crawl.test_crawl import IN_ORDER, copies
from tests.forked import python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.server import Site

SETTINGS = """
SPIDER_MODULES = ["simcrawl.crawl.spiders"]
ADDONS = {"simcrawl.Addon": 500}
DOWNLOAD_DELAY = 0
"""
LINE = re.compile(
    r"INFO: Checked (\d+) pages \(at \d+ pages/min\): (\d+) exact and (\d+) near-duplicates, (\d+) dropped \(([\d.]+%)\); "
    r"the store holds (\d+) pages"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The least that is a Scrapy project."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop\n")
    (tmp_path / "shop.py").write_text(SETTINGS + "".join(f"{name} = {value!r}\n" for name, value in IN_ORDER.items()))
    return tmp_path


def in_terminal(project: Path, *arguments: str) -> Iterator[str]:
    """Run Scrapy with a terminal for its standard error, and yield what it shows line by line."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*python(), "-m", "scrapy", *arguments], cwd=project, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    with os.fdopen(ours, errors="replace") as terminal, process, suppress(OSError):  # how Linux says that the other end is closed
        yield from terminal
    assert process.returncode == 0


def in_pipe(project: Path, *arguments: str) -> str:
    command = [*python(), "-m", "scrapy", *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=True, timeout=120).stderr


def _hold_the_last(site: Site) -> Event:
    """Hold back the page that is asked for last until the event is set that this returns.

    Which one that is depends on how fast links come out of copies. It has no links, or it would not be the last: it is none of the copies.
    """
    told_all = Event()
    leaves = {path: site.answers.pop(path).body.decode() for path in list(site.answers) if path.startswith("/behind")}
    pages = len(site.answers) + len(leaves)

    def answer(path: str) -> str | None:
        # One is asked for at a time.
        if path in leaves and site.requests.total() == pages:
            told_all.wait(120)
        return leaves.get(path)

    site.trap = answer
    return told_all


def test_a_terminal_shows_how_far_the_crawl_is_and_at_its_end_a_summary_and_what_to_do_next(site: Site, project: Path) -> None:
    copies(site)
    told_all = _hold_the_last(site)
    lines = []
    for line in in_terminal(project, "crawl", "site", "-a", f"url={site.url()}", "-s", "LOGSTATS_INTERVAL=0.2"):
        lines.append(line)
        if (told := LINE.search(line)) and told.groups() == ("8", "1", "1", "2", "25.0%", "6"):
            told_all.set()
    assert told_all.is_set()
    screen = "".join(lines)
    for row in (
        "pages checked *│ *9 ",
        "new *│ *6 ",
        "exact duplicates *│ *1 *│ 11.1%",
        "not compared *│ *1 *│ short 1",
        "pages dropped *│ *2 *│ 22.2%",
    ):
        assert re.search(row, screen), row
    assert "known by their URL" not in screen
    assert (
        screen.index("Dumping Scrapy stats")
        < screen.index("pages checked")
        < screen.index("2 of 9 pages are copies (22.2%), 2 were dropped.")
    )
    command = lines[-1].strip().rpartition("Which, why, and as copies of what: ")[2]
    assert command == "scrapy simcrawl duplicates"
    listed = subprocess.run([*python(), "-m", *command.split()], cwd=project, capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 2


def test_a_pipe_gets_no_table_and_a_store_of_another_place_is_named(site: Site, project: Path) -> None:
    copies(site)
    log = in_pipe(project, "crawl", "site", "-a", f"url={site.url()}", "-s", "SIMCRAWL_STORE=of mine")
    assert "│" not in log
    command = log.splitlines()[-1].rpartition(": ")[2]
    assert command == f"simcrawl duplicates '{project}/.scrapy/of mine'"


@pytest.mark.parametrize("quiet", ["LOG_FILE=log.txt", "LOG_LEVEL=WARNING"])
def test_who_wants_no_log_on_the_terminal_gets_no_summary_there(site: Site, project: Path, quiet: str) -> None:
    site.add("/", page("7.4/en/openpgp"))
    assert list(in_terminal(project, "crawl", "site", "-a", f"url={site.url()}", "-s", quiet)) == []
    if quiet.startswith("LOG_FILE"):
        log = (project / "log.txt").read_text()
        assert "None of 1 pages is a copy of another" in log
        assert "│" not in log


@pytest.mark.parametrize("mode", ["epoll", "reactorless"])
def test_the_line_comes_as_often_as_scrapy_s_own(site: Site, mode: str) -> None:
    copies(site)
    told = crawl("Reported", site.url(), mode=mode, settings=IN_ORDER | {"LOGSTATS_INTERVAL": 0.05, "LOG_LEVEL": "INFO"})
    assert LINE.search(told.log)
    assert "To see them afterwards, set SIMCRAWL_STORE to a directory" in told.log
    assert not any(word in told.log for word in ("Traceback", "ERROR"))


def test_where_scrapy_s_line_is_off_so_is_ours(site: Site) -> None:
    copies(site)
    silent = crawl("Plain", site.url(), settings=IN_ORDER | {"LOGSTATS_INTERVAL": 0, "LOG_LEVEL": "INFO"})
    assert "Checked" not in silent.log
    assert "2 of 9 pages are copies" in silent.log


def test_a_store_whose_size_cannot_be_read_hinders_nobody(site: Site, tmp_path: Path) -> None:
    site.add("/", hub("/first"))
    site.add("/first", page("7.4/en/protection"))
    settings = {"SIMCRAWL_STORE": str(tmp_path / "store"), "LOGSTATS_INTERVAL": 0.05, "LOG_LEVEL": "INFO"}
    outcome = crawl("Unmeasurable", site.url(), settings=settings)
    assert outcome.log.count("simcrawl cannot read the size of its store") == 1
    assert LINE.search(outcome.log)
    assert outcome.paths("kept") == ["/", "/first"]


def test_every_drop_is_told_with_its_original_its_distance_and_its_similarity(site: Site) -> None:
    copies(site)
    log = crawl("Plain", site.url(), settings=IN_ORDER | {"LOG_LEVEL": "DEBUG", "SIMCRAWL_OUTLINKS": "drop"}).log
    drops = re.findall(
        r"(INFO|DEBUG): Dropped (page.*) of \S+(/\S+): (\S+ ?\S*) of http://[^/]+(/\S+) \(distance (\d+), similarity ([\d.]+)\)", log
    )
    assert [drop[:5] for drop in drops] == [
        ("INFO", "page and outlinks (1)", "/second", "identical text", "/first"),
        ("DEBUG", "page and outlinks (1)", "/near", "near-duplicate", "/first"),
    ]
    assert (drops[0][5:], drops[1][5] in "01234567", 0.93 <= float(drops[1][6]) < 1) == (("0", "1.000"), True, True)


def test_a_relative_store_of_a_project_without_a_directory_stops_the_crawl(site: Site, project: Path) -> None:
    # As Scrapyd runs projects: the settings are importable, and there is no scrapy.cfg.
    (project / "scrapy.cfg").unlink()
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url()}"]
    env = os.environ | {"SCRAPY_SETTINGS_MODULE": "shop", "PYTHONPATH": str(project)}
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode != 0
    assert "SIMCRAWL_STORE is 'simcrawl', and no scrapy.cfg says to what that is relative: give an absolute path" in done.stderr
    assert not site.requests
    subprocess.run([*command, "-s", f"SIMCRAWL_STORE={project}/store"], cwd=project, env=env, check=True, timeout=120)
    assert site.requests["/"] == 1


class ClosedEarly(Spider):
    """Is closed while simcrawl recalls what it knows. Notes afterwards how many timers of simcrawl's run."""

    name = "closed-early"
    url = ""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signal=signals.spider_opened)
        crawler.signals.connect(spider.starts, signal=signals.engine_started)
        return spider

    def opened(self) -> None:
        vars(Session.of(self.crawler))["recall"] = self.close_early

    async def close_early(self) -> None:
        self.crawler.signals.connect(self.closes, signal=signals.spider_closed)
        await self.crawler.engine.close_spider_async(reason="early")

    def closes(self) -> None:
        session: Any = Session.of(self.crawler)
        self.lag = session.lag

    def starts(self) -> None:
        extension: Any = self.crawler.get_extension(SimcrawlExtension)
        running = sum(timer.running for timer in extension._timers) + (self.lag._timer is not None)
        self.crawler.stats.set_value("test/timers", running)


@pytest.mark.parametrize("mode", ["asyncio", "epoll", "reactorless"])
def test_no_timer_starts_once_the_spider_is_closed(site: Site, mode: str) -> None:
    stats = crawl("tests.crawl.test_extension.ClosedEarly", site.url(), mode=mode).stats
    assert stats["finish_reason"] == "early"
    assert stats["test/timers"] == 0
    assert "simcrawl/errors" not in stats


# ---- settings that are wrong

UNKNOWN = re.compile(r"WARNING: There is no setting (\w+)(?:: is (\w+) meant\?|, nor one of a name like it)$", re.MULTILINE)


def test_a_setting_that_does_not_exist_is_told_wherever_it_was_given(site: Site, project: Path) -> None:
    site.add("/", page("7.4/en/openpgp"))
    with (project / "shop.py").open("a") as file:
        file.write('SIMCRAWL_ACTOIN = "observe"\nSIMCRAWLER = 1\n')
    (project / "one.py").write_text(
        """
from simcrawl.crawl.spiders.site import SiteSpider

class One(SiteSpider):
    name = "one"
    custom_settings = {"SIMCRAWL_SCOPES": "site", "SIMCRAWL_SCOPE": "site"}
"""
    )
    command = ("runspider", "one.py", "-a", f"url={site.url()}", "-s", "SIMCRAWL_TELEMETRY=0")
    told = [("SIMCRAWL_ACTOIN", "SIMCRAWL_ACTION"), ("SIMCRAWL_SCOPES", "SIMCRAWL_SCOPE"), ("SIMCRAWL_TELEMETRY", "")]
    log = in_pipe(project, *command)
    assert UNKNOWN.findall(log) == told
    assert "None of 1 pages is a copy of another" in log
    assert "There is no setting" not in in_pipe(project, *command, "-s", "SIMCRAWL_ENABLED=False")


def test_it_is_told_without_the_add_on_too(site: Site) -> None:
    site.add("/", page("7.4/en/openpgp"))
    by_hand = {"ADDONS": {}, "EXTENSIONS": {"simcrawl.crawl.SimcrawlExtension": 0}, "SIMCRAWL_STROE": "x"}
    assert UNKNOWN.findall(crawl("Plain", site.url(), settings=by_hand).log) == [("SIMCRAWL_STROE", "SIMCRAWL_STORE")]
    assert "There is no setting" not in crawl("Plain", site.url(), settings=by_hand | {"EXTENSIONS": {}}).log


SKIP = ("SIMCRAWL_SKIP=maybe", "SIMCRAWL_SKIP is 'maybe': use a number from 0.5 to 1 such as 0.95, or False")

STORE = ("SIMCRAWL_STORE=mysql://a", "no store has the URL 'mysql://a': use a directory, lmdb:///absolute/path, redis://host/0 or memory:")
# How Scrapy may hold a crawl: as a task in the loop of a reactor, or as a Deferred, or as a task without a reactor.
MODES = (
    "",
    " -s TWISTED_REACTOR=twisted.internet.selectreactor.SelectReactor",
    " -s FORCE_CRAWLER_PROCESS=True",
    " -s TWISTED_REACTOR_ENABLED=False",
)


@pytest.mark.parametrize(
    ("command", "given", "line"),
    [
        *((f"{command}{mode}", *SKIP) for command in ("crawl site", "crawl plain", "runspider one.py") for mode in MODES),
        ("crawl plain", *STORE),
        (f"crawl plain{MODES[1]}", *STORE),
        ("crawl plain", "SIMCRAWL_STORE=/proc/simcrawl", "cannot use /proc/simcrawl"),
        ("crawl plain", "SIMCRAWL_RECRAWL=absent.txt", "cannot read the list of URLs absent.txt"),
        *((f"crawl site -a url={mode}", "SIMCRAWL_DEBUG=1", "the site spider needs a url: scrapy crawl site -a") for mode in MODES),
        ("crawl site -a urls=absent.txt", "SIMCRAWL_DEBUG=1", "cannot read the list of URLs absent.txt"),
    ],
)
def test_a_crawl_that_cannot_begin_says_why_in_one_line(site: Site, project: Path, command: str, given: str, line: str) -> None:
    (project / "one.py").write_text(
        f"from scrapy import Spider\n\nclass Plain(Spider):\n    name, start_urls = 'plain', [{site.url()!r}]\n"
    )
    (project / "shop.py").write_text((project / "shop.py").read_text().replace('.spiders"]', '.spiders", "one"]'))
    name, spider, *options = command.split()
    # Of the reactors that are not asyncio's Scrapy itself has something to warn.
    arguments = [name, spider, "-a", f"url={site.url()}", *options, "-s", given, "-L", "ERROR"]
    done = subprocess.run([*python(), "-m", "scrapy", *arguments], cwd=project, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert line in told
    assert "ERROR" in told
    assert not site.requests


def test_what_else_ends_the_crawl_is_reported_as_asyncio_would() -> None:
    async def fail(error: Exception) -> None:
        raise error

    async def reported(error: Exception, told: SettingError) -> list[BaseException]:
        loop, found = asyncio.get_running_loop(), []
        loop.set_exception_handler(lambda _, context: found.append(context["exception"]))
        task = loop.create_task(fail(error))
        task.add_done_callback(partial(_ask, told))
        await asyncio.wait([task])
        await asyncio.sleep(0)
        return found

    told, other = SettingError("told"), OSError("another")
    assert asyncio.run(reported(told, told)) == []
    assert asyncio.run(reported(other, told)) == [other]


UNASKED = """
from twisted.internet import defer
from simcrawl.crawl.refusal import told_in_one_line
from simcrawl.errors import SettingError

@told_in_one_line()
def refuse():
    raise SettingError("refused")

def fail():
    raise OSError("another")

for raises in (refuse, fail):
    defer.maybeDeferred(raises)
"""


def test_what_else_ends_a_deferred_is_reported_as_twisted_would() -> None:
    done = subprocess.run([sys.executable, "-c", UNASKED], capture_output=True, text=True, check=True, timeout=60)
    first, second, *others = done.stderr.splitlines()
    assert first == "refused"
    assert second == "Unhandled error in Deferred:"
    assert others[-2:] == ["builtins.OSError: another", ""]


ASKS = """
import asyncio
from scrapy.crawler import AsyncCrawlerRunner, Crawler, CrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.reactor import install_reactor

install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
from twisted.internet.defer import Deferred
from twisted.internet.task import react
from simcrawl.crawl.spiders.site import SiteSpider
from simcrawl.errors import SettingError

SETTINGS = {"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_STORE": "memory:", "SIMCRAWL_SKIP": "maybe"}

async def main():
    for crawl in (
        lambda: CrawlerRunner(SETTINGS).crawl(SiteSpider).asFuture(asyncio.get_running_loop()),
        lambda: AsyncCrawlerRunner(SETTINGS).crawl(SiteSpider),
        lambda: Crawler(SiteSpider, Settings(SETTINGS)).crawl_async(),
    ):
        try:
            await crawl()
        except SettingError as exc:
            print(exc)

react(lambda _: Deferred.fromFuture(asyncio.ensure_future(main())))
"""


def test_scripts_get_the_error_itself(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(ASKS)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.splitlines() == [SKIP[1]] * 3, done.stderr
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
