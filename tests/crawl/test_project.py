"""The way of a user: a project made by Scrapy, the wheel, one line in its settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import lmdb
import pytest

from tests.crawl.runner import ROOT
from tests.crawl.test_crawl import copies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import Site

SPIDER = """
import scrapy

class PagesSpider(scrapy.Spider):
    name = "pages"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, check=False, env=env, timeout=300)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel installs, in a directory of its own that comes before the working tree."""
    target = tmp_path_factory.mktemp("wheel")
    done = run("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(target), str(ROOT), cwd=target)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def project(tmp_path: Path, wheel: Path) -> Path:
    done = run("scrapy", "startproject", "shop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    root = tmp_path / "shop"
    (root / "shop/spiders/pages.py").write_text(SPIDER)
    with (root / "shop/settings.py").open("a") as settings:
        settings.write('\nADDONS = {"simcrawl.Addon": 500}\nCONCURRENT_REQUESTS = 1\n')
    return root


def scrapy(project: Path, wheel: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("scrapy", *arguments, cwd=project, env=os.environ | {"PYTHONPATH": str(wheel)})


def test_one_line_in_a_new_project_drops_duplicates(site: Site, project: Path, wheel: Path) -> None:
    copies(site)
    done = scrapy(project, wheel, "crawl", "pages", "-a", f"url={site.url()}", "-O", "pages.jsonl", "-s", "DOWNLOAD_DELAY=0")
    assert done.returncode == 0, done.stderr
    urls = [json.loads(line)["url"] for line in (project / "pages.jsonl").read_text().splitlines()]
    assert sum(site.url(path) in urls for path in ("/first", "/second", "/near")) == 1
    assert "'simcrawl/pages/dropped': 2" in done.stderr
    listed = scrapy(project, wheel, "simcrawl", "duplicates", "--json")
    assert [json.loads(line)["dropped"] for line in listed.stdout.splitlines()].count("nothing") == 0
    stats = scrapy(project, wheel, "simcrawl", "stats", "--json")
    assert json.loads(stats.stdout)["duplicates"] == 2


def test_the_wheel_is_what_the_project_runs(project: Path, wheel: Path) -> None:
    command = [sys.executable, "-c", "import simcrawl; print(simcrawl.__file__)"]
    done = subprocess.run(command, cwd=project, env=os.environ | {"PYTHONPATH": str(wheel)}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(wheel / "simcrawl" / "__init__.py")


@pytest.mark.parametrize(
    "wrong",
    [
        ("SIMCRAWL_ACTION", "delete", "use one of 'drop', 'drop-items', 'drop-links', 'observe'"),
        ("SIMCRAWL_MIN_SIMILARITY", "95", "use a number from 0 to 1"),
        ("SIMCRAWL_RECIPE", "best", "use auto, terms, content, main, manku2007, resiliparse, layout"),
        ("SIMCRAWL_STORE", "mysql://localhost", "use a directory, lmdb:///absolute/path, redis://host/0 or memory:"),
    ],
)
def test_a_wrong_setting_stops_the_crawl_at_its_start(site: Site, project: Path, wheel: Path, wrong: tuple[str, str, str]) -> None:
    setting, value, cure = wrong
    done = scrapy(project, wheel, "crawl", "pages", "-a", f"url={site.url()}", "-s", f"{setting}={value}")
    assert done.returncode != 0
    assert value in done.stderr
    assert cure in done.stderr
    assert not site.requests


def _foreign(path: Path) -> str:
    with lmdb.open(str(path), max_dbs=2) as env:
        env.open_db(b"somebody else's")
    return "is an LMDB environment of something else"


def _newer(path: Path) -> str:
    from simcrawl.store import open_store

    open_store(path).close()
    with lmdb.open(str(path), max_dbs=20) as env, env.begin(write=True, db=env.open_db(b"meta")) as txn:
        txn.put(b"header", b"simcrawl" + (999).to_bytes(2, "big") + b"{}")
    return "has format 999"


def _other_recipe(path: Path) -> str:
    from simcrawl.store import open_store

    open_store(path, recipe="manku2007").close()
    return "was made with recipe manku2007/4, not terms/3"


def _garbage(path: Path) -> str:
    path.mkdir()
    (path / "data.mdb").write_bytes(b"this is no database" * 1000)
    return "is no LMDB store"


@pytest.mark.parametrize("make", [_foreign, _newer, _other_recipe, _garbage])
def test_a_store_that_does_not_fit_stops_the_crawl_at_its_start(site: Site, project: Path, wheel: Path, tmp_path: Path, make: Any) -> None:
    path = tmp_path / "store"
    message = make(path)
    # Without a recipe a crawl goes on with the store's.
    settings = ("-s", f"SIMCRAWL_STORE={path}", "-s", "SIMCRAWL_RECIPE=terms")
    done = scrapy(project, wheel, "crawl", "pages", "-a", f"url={site.url()}", *settings)
    assert done.returncode != 0
    assert message in done.stderr
    assert not site.requests


def test_a_store_that_cannot_be_made_stops_the_crawl_at_its_start(site: Site, project: Path, wheel: Path) -> None:
    # Not even root may make a directory there.
    done = scrapy(project, wheel, "crawl", "pages", "-a", f"url={site.url()}", "-s", "SIMCRAWL_STORE=/proc/simcrawl")
    assert done.returncode != 0
    assert "cannot use /proc/simcrawl" in done.stderr
    assert not site.requests


def test_the_demonstration_tells_what_it_dropped() -> None:
    done = run("scrapy", "crawl", "demo", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "/25.2/zh/openpgp.html" in done.stdout
    assert "/mirror/25.2/zh/ole-bar.html" in done.stdout
    told = re.search(r"(\d+) pages checked, (\d+) dropped as copies", done.stdout)
    assert told is not None
    checked, dropped = map(int, told.groups())
    # Of 113 pages some of the mirror's are not fetched. The seed of a store says which, and moves one of the copies.
    assert 90 < checked < 113
    assert 41 <= checked - dropped <= 43
    skipped = re.search(r" (\d+) more were not fetched", done.stderr)
    assert skipped is not None
    # A page to which only skipped ones link is never heard of.
    assert 110 <= checked + int(skipped[1]) <= 113
