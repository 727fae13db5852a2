"""Where crawls run: projects that cannot be written to, scripts without a project, Scrapyd; and where their stores are."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest

from simcrawl.store import open_store
from tests.crawl.content import hub, page
from tests.crawl.runner import ROOT
from tests.crawl.test_crawl import IN_ORDER, copies
from tests.forked import python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.server import Site

SETTINGS = """
SPIDER_MODULES = ["simcrawl.crawl.spiders"]
ADDONS = {"simcrawl.Addon": 500}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The least that is a Scrapy project."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop\n")
    (tmp_path / "shop.py").write_text(SETTINGS + "".join(f"{name} = {value!r}\n" for name, value in IN_ORDER.items()))
    return tmp_path


def run(directory: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command, env = [*python(), *arguments], os.environ | environment
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=False, timeout=120)


def pages_in(store: Path) -> int:
    with open_store(store, create=False, readonly=True) as opened:
        return int(opened.size()["pages"])


def test_a_project_where_nothing_can_be_written_says_what_to_set(site: Site, project: Path) -> None:
    site.add("/", page())
    # A place where nobody may make anything, root neither.
    (project / ".scrapy").symlink_to("/proc/simcrawl")
    crawl = ("-m", "scrapy", "crawl", "site", "-a", f"url={site.url()}", "-L", "ERROR")
    done = run(project, *crawl)
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert "SIMCRAWL_STORE is 'simcrawl', relative to a directory that cannot be made" in told
    assert "give an absolute path, to where files may be written" in told
    asked = run(project, "-m", "scrapy", "simcrawl", "stats")
    assert asked.returncode == 2
    assert "SIMCRAWL_STORE is 'simcrawl'" in asked.stderr
    assert not site.requests
    # As containers have it: the project is part of the image, the store is on a volume.
    assert run(project, *crawl, "-s", f"SIMCRAWL_STORE={project}/volume/store").returncode == 0
    assert pages_in(project / "volume" / "store") == 1


def test_a_store_that_cannot_be_written_says_what_to_set(site: Site, project: Path) -> None:
    (project / ".scrapy").mkdir()
    (project / ".scrapy" / "simcrawl").symlink_to("/proc/simcrawl")
    done = run(project, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url()}", "-L", "ERROR")
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert "point SIMCRAWL_STORE to a directory that may" in told
    assert not site.requests


def test_the_directory_of_data_that_scrapy_cfg_names_has_the_store(site: Site, project: Path) -> None:
    site.add("/", page())
    (project / "scrapy.cfg").write_text(f"[settings]\ndefault = shop\n\n[datadir]\ndefault = {project}/data\n")
    assert run(project, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url()}").returncode == 0
    assert pages_in(project / "data" / "simcrawl") == 1
    assert json.loads(run(project, "-m", "scrapy", "simcrawl", "stats", "--json").stdout)["pages"] == 1


def test_a_tilde_is_the_user_s_home(site: Site, project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    site.add("/", page())
    home = tmp_path_factory.mktemp("home")
    crawl = ("-m", "scrapy", "crawl", "site", "-a", f"url={site.url()}", "-L", "ERROR")
    assert run(project, *crawl, "-s", "SIMCRAWL_STORE=~/crawls/store", HOME=str(home)).returncode == 0
    assert pages_in(home / "crawls" / "store") == 1
    told = run(project, *crawl, "-s", "SIMCRAWL_STORE=~nobody-of-this-name/store")
    assert told.returncode == 1
    assert "SIMCRAWL_STORE is '~nobody-of-this-name/store', and this user has no home: give an absolute path" in told.stderr


SCRIPT = """
import sys
from scrapy.crawler import {process}
from simcrawl.crawl.spiders.site import SiteSpider

process = {process}({{"ADDONS": {{"simcrawl.Addon": 500}}, "LOG_LEVEL": "INFO"}})
process.crawl(SiteSpider, url=sys.argv[1])
process.start()
"""


@pytest.mark.parametrize("process", ["CrawlerProcess", "AsyncCrawlerProcess"])
def test_a_script_without_a_project_has_its_store_where_it_runs_and_says_how_to_look_into_it(
    site: Site, tmp_path: Path, process: str
) -> None:
    copies(site)
    (tmp_path / "script.py").write_text(SCRIPT.format(process=process))
    done = run(tmp_path, "script.py", site.url())
    assert done.returncode == 0, done.stderr
    assert pages_in(tmp_path / ".scrapy" / "simcrawl") == 7
    program, *arguments = done.stderr.splitlines()[-1].rpartition("copies of what: ")[2].split()
    assert program == "simcrawl"
    listed = run(tmp_path, "-c", "from simcrawl.cli import main; main()", *arguments)
    assert len(listed.stdout.splitlines()) == 2


# ---- containers

EXAMPLE = ROOT / "docs" / "examples" / "container"


def test_the_example_of_a_container_leaves_everything_on_its_volume(site: Site, tmp_path: Path) -> None:
    copies(site)
    dockerfile = (EXAMPLE / "Dockerfile").read_text()
    (named,) = re.findall(r"^COPY (.+) \./$", dockerfile, re.MULTILINE)
    project, volume = tmp_path / "project", tmp_path / "volume"
    project.mkdir()
    for name in named.split():
        (project / name).write_text((EXAMPLE / name).read_text())
    (place,) = re.findall('"CRAWLS", "(.+)"', (project / "settings.py").read_text())
    assert f"VOLUME {place}\n" in dockerfile
    before = {*project.rglob("*")}
    surroundings = {"CRAWLS": str(volume), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = run(project, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url()}", **surroundings)
    assert done.returncode == 0, done.stderr
    assert pages_in(volume / "simcrawl") == 7
    assert len((volume / "site.jsonl").read_text().splitlines()) == 7
    assert len(run(project, "-m", "scrapy", "simcrawl", "duplicates", **surroundings).stdout.splitlines()) == 2
    assert {*project.rglob("*")} == before


# ---- Scrapyd

SHOP = """
import scrapy


class ShopSpider(scrapy.Spider):
    name = "shop"
    url = ""

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""


def egg(directory: Path, settings: str) -> bytes:
    """Return a project as Scrapyd takes it."""
    files = {
        "shop/__init__.py": "",
        "shop/settings.py": settings,
        "shop/spiders.py": SHOP,
        # Workers find it as well.
        "shop/texts.py": "def text(body, encoding, url):\n    return body.decode(encoding or 'utf-8')\n",
        "EGG-INFO/PKG-INFO": "Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n",
        "EGG-INFO/entry_points.txt": "[scrapy]\nsettings = shop.settings\n",
    }
    with zipfile.ZipFile(directory / "shop.egg", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return (directory / "shop.egg").read_bytes()


class Scrapyd:
    """A Scrapyd with a project in it."""

    def __init__(self, process: subprocess.Popen[str], port: int, directory: Path) -> None:
        self._process, self._url, self.directory = process, f"http://127.0.0.1:{port}", directory

    def ask(self, command: str, **fields: str | bytes) -> dict[str, Any]:
        """Return what it answers."""
        body = b"".join(
            b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
            % (name.encode(), value.encode() if isinstance(value, str) else value)
            for name, value in fields.items()
        )
        request = Request(f"{self._url}/{command}.json", body + b"--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"})
        with urlopen(request, timeout=60) as answer:
            told = json.load(answer)
        assert told["status"] == "ok", told
        return dict(told)

    def logs(self, jobs: list[str]) -> list[str]:
        """Return the logs of jobs when all of them have ended."""
        ended = set[str]()
        assert self._process.stdout
        while ended < set(jobs):
            line = self._process.stdout.readline()
            assert line, "scrapyd has ended"
            ended |= {job for job in jobs if re.search(rf"Process (finished|died).*{job}", line)}
        return [(self.directory / "logs" / "shop" / "shop" / f"{job}.log").read_text() for job in jobs]


@contextmanager
def scrapyd(directory: Path) -> Iterator[Scrapyd]:
    for _ in range(10):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        (directory / "scrapyd.conf").write_text(
            f"[scrapyd]\nhttp_port = {port}\npoll_interval = 0.1\nitems_dir = {directory}/items\nlogs_dir = {directory}/logs\n"
        )
        command = [sys.executable, "-W", "ignore", "-m", "scrapyd", "--pidfile="]
        with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            assert process.stdout
            # It ends at once where somebody else has taken the port meanwhile.
            if not any("Starting factory" in line for line in process.stdout):
                continue
            try:
                yield Scrapyd(process, port, directory)
            finally:
                process.terminate()
                process.communicate(timeout=60)
            return
    pytest.fail("scrapyd does not start")


def test_jobs_of_scrapyd_share_a_store_and_one_without_an_absolute_path_says_so(site: Site, tmp_path: Path) -> None:
    pytest.importorskip("scrapyd", reason="needs what pip install -e '.[dev]' installs")
    copies(site)
    site.add("/", hub("/first", "/second", "/other"))
    store = tmp_path / "stores" / "shop"
    settings = 'SPIDER_MODULES = ["shop.spiders"]\nADDONS = {"simcrawl.Addon": 500}\nSIMCRAWL_EXTRACTOR = "shop.texts.text"\n'
    with scrapyd(tmp_path) as running:
        assert running.ask("addversion", project="shop", version="1", egg=egg(tmp_path, settings))["spiders"] == 1
        wanted = {"project": "shop", "spider": "shop", "url": site.url()}
        (log,) = running.logs([running.ask("schedule", **wanted)["jobid"]])
        assert "SIMCRAWL_STORE is 'simcrawl', and no scrapy.cfg says to what that is relative: give an absolute path" in log
        assert not site.requests
        wanted["setting"] = f"SIMCRAWL_STORE={store}"
        jobs = [running.ask("schedule", **wanted)["jobid"] for _ in range(2)]
        logs = running.logs(jobs)
    for job, log in zip(jobs, logs, strict=True):
        assert "'finish_reason': 'finished'" in log
        assert " ERROR: " not in log
        # Crawls do not take pages from each other.
        kept = [json.loads(line)["url"] for line in (tmp_path / "items" / "shop" / "shop" / f"{job}.jl").read_text().splitlines()]
        assert len(kept) == 6
    with open_store(store, create=False, readonly=True) as opened:
        assert len(list(opened.crawls())) == 2
