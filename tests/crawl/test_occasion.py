"""Scrapy's commands in a project: those that look at pages leave the store alone, those that crawl do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simcrawl.store import open_store
from tests.crawl.content import hub, page
from tests.crawl.runner import ROOT
from tests.forked import python

if TYPE_CHECKING:
    from tests.crawl.server import Site

SETTINGS = """
SPIDER_MODULES = ["shop"]
ADDONS = {"simcrawl.Addon": 500}
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS = 1
TELNETCONSOLE_ENABLED = False

import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"
    url = ""

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        '''Yields an item.

        @url URL
        @returns items 1 1
        '''
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""
SCRIPT = """
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

process = CrawlerProcess(get_project_settings())
process.crawl("pages", url="URL")
process.start()
"""
INSPECTING = """
from scrapy.shell import inspect_response
from shop import PagesSpider


class InspectingSpider(PagesSpider):
    name = "inspecting"

    def parse(self, response):
        if response.url.endswith(("/first", "/second")):
            inspect_response(response, self)
        yield from super().parse(response)
"""
COMPONENTS = """
ADDONS = {}
DOWNLOADER_MIDDLEWARES = {"simcrawl.crawl.NearDuplicateDownloaderMiddleware": 10}
SPIDER_MIDDLEWARES = {
    "simcrawl.crawl.NearDuplicateSpiderMiddleware": 0,
    "simcrawl.crawl.CallbackWatchMiddleware": 10_000,
    "simcrawl.crawl.RecrawlMiddleware": 10_001,
}
ITEM_PIPELINES = {"simcrawl.crawl.NearDuplicateItemPipeline": 100}
EXTENSIONS = {"simcrawl.crawl.SimcrawlExtension": 0}
SIMCRAWL_ITEM_FIELD = "url"
SIMCRAWL_RECRAWL = "there is no such list"
"""
# What each prints of the page, where it does.
LOOKS = {
    "fetch": (["fetch", "URL"], "<title>7.4/en/protection"),
    "view": (["view", "URL"], ""),
    "parse": (["parse", "--spider", "pages", "--pipelines", "URL"], "'url': 'URL'"),
    "shell": (["shell", "-c", "response.css('title::text').get()", "URL"], "7.4/en/protection"),
    "check": (["check", "pages"], ""),
    "bench": (["bench", "-s", "CLOSESPIDER_PAGECOUNT=3"], ""),
}


@pytest.fixture
def project(site: Site, tmp_path: Path) -> Path:
    """The least that is a Scrapy project, and two equal pages for it."""
    site.add("/", hub("/first", "/second"))
    for path in ("/first", "/second"):
        site.add(path, page("7.4/en/protection"))
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop\n")
    (tmp_path / "shop.py").write_text(SETTINGS.replace("URL", site.url("/second")))
    return tmp_path


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"BROWSER": "/bin/true"}
    options: dict[str, Any] = {"cwd": project, "env": environment, "capture_output": True, "text": True, "stdin": subprocess.DEVNULL}
    return subprocess.run([*python(), *command], check=False, timeout=120, **options)


def look(project: Path, site: Site, command: str) -> subprocess.CompletedProcess[str]:
    arguments, expected = LOOKS[command]
    done = run(project, "-m", "scrapy", *(argument.replace("URL", site.url("/second")) for argument in arguments))
    assert done.returncode == 0, done.stderr
    assert expected.replace("URL", site.url("/second")) in done.stdout
    if command == "check":
        assert "Ran 1 contract" in done.stderr
    return done


def remembered(project: Path) -> list[str]:
    with open_store(project / ".scrapy" / "simcrawl", create=False) as store:
        return sorted("/" + stored.page.url.rpartition("/")[2] for stored in store.pages())


@pytest.mark.parametrize("command", LOOKS)
def test_a_command_that_looks_at_pages_makes_no_store(site: Site, project: Path, command: str) -> None:
    done = look(project, site, command)
    assert not (project / ".scrapy" / "simcrawl").exists()
    assert not [line for line in done.stderr.splitlines() if "simcrawl" in line and ("WARNING" in line or "ERROR" in line)]


@pytest.mark.parametrize("command", LOOKS)
def test_a_command_that_looks_at_pages_does_not_open_the_store(site: Site, project: Path, command: str) -> None:
    # A crawl would refuse this one, and wrong settings, too.
    store = project / ".scrapy" / "simcrawl"
    store.mkdir(parents=True)
    (store / "data.mdb").write_bytes(b"this is no database" * 1000)
    with (project / "shop.py").open("a") as settings:
        settings.write('\nSIMCRAWL_ACTION = "delete"\n')
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in store.iterdir()}
    look(project, site, command)
    assert {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in store.iterdir()} == before


@pytest.mark.parametrize("command", ["fetch", "parse", "shell", "check"])
def test_components_without_the_add_on_leave_the_store_alone_as_well(site: Site, project: Path, command: str) -> None:
    with (project / "shop.py").open("a") as settings:
        settings.write(COMPONENTS)
    done = look(project, site, command)
    assert not (project / ".scrapy" / "simcrawl").exists()
    assert not [line for line in done.stderr.splitlines() if "simcrawl" in line and ("WARNING" in line or "ERROR" in line)]


@pytest.mark.parametrize("command", ["crawl", "runspider", "script", "inspecting"])
def test_what_crawls_remembers_its_pages(site: Site, project: Path, command: str) -> None:
    (project / "script.py").write_text(SCRIPT.replace("URL", site.url()))
    (project / "spider.py").write_text(INSPECTING.replace("inspect_response(response, self)", "pass"))
    (project / "inspecting.py").write_text(INSPECTING)
    url = ["-a", f"url={site.url()}"]
    done = {
        "crawl": lambda: run(project, "-m", "scrapy", "crawl", "pages", *url),
        "runspider": lambda: run(project, "-m", "scrapy", "runspider", "spider.py", *url),
        "script": lambda: run(project, "script.py"),
        "inspecting": lambda: run(project, "-m", "scrapy", "runspider", "inspecting.py", *url),
    }[command]()
    assert done.returncode == 0, done.stderr
    assert "'simcrawl/pages/dropped': 1" in done.stderr
    assert remembered(project) in (["/", "/first"], ["/", "/second"])
    assert ("Available Scrapy objects" in done.stderr) == (command == "inspecting")


FAILING = """
import asyncio, gc, os, sys
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.reactor import install_reactor

install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
from twisted.internet import reactor

from simcrawl.crawl.session import _sessions
from tests.processes import offspring


class Pages(Spider):
    name = "pages"

    async def start(self):
        yield Request(sys.argv[1])

    def parse(self, response):
        yield {}


class Broken:
    @classmethod
    def from_crawler(cls, crawler):
        raise ValueError("it cannot be made")


async def crawl(*extensions):
    own = {"ADDONS": {"simcrawl.Addon": 500}, "SIMCRAWL_STORE": sys.argv[2], "LOG_ENABLED": False}
    try:
        await AsyncCrawlerRunner(own | {"EXTENSIONS": dict.fromkeys(extensions, 9999)}).crawl(Pages)
    except ValueError:
        print("failed", end=" ")


async def crawls():
    for extensions in ([Broken], [Broken], []):
        await crawl(*extensions)
    gc.collect()
    open_files = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    print(len(_sessions), len(offspring()), sum(name.startswith(sys.argv[2]) for name in open_files))
    reactor.stop()


reactor.callWhenRunning(lambda: asyncio.ensure_future(crawls()))
reactor.run()
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files and children of a process can be seen on Linux only")
def test_crawls_that_fail_before_they_begin_leave_nothing_open_in_a_process_that_goes_on(site: Site, tmp_path: Path) -> None:
    site.add("/", page())
    (tmp_path / "failing.py").write_text(FAILING)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "failing.py", site.url(), str(tmp_path / "store")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("failed failed 0 0 0\n", "")
