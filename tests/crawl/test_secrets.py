"""Users and passwords in URLs, of proxies and of stores: nothing that simcrawl writes or says has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import simcrawl
from simcrawl.cli import run
from simcrawl.errors import SettingError
from tests.crawl.runner import crawl
from tests.crawl.server import Site
from tests.samples import edited, english, page

if TYPE_CHECKING:
    from pathlib import Path

SECRETS = ("hunter2", "swordfish", "opensesame")
ANNA, BERT = "http://anna:hunter2@example.org", "http://bert:swordfish@example.org"
COMMANDS = (["duplicates"], ["duplicates", "--urls"], ["duplicates", "--json"], ["hosts"], ["clusters"], ["rules"], ["stats"], ["report"])


@pytest.fixture
def through_proxy(tmp_path: Path) -> tuple[Path, str]:
    """A store, and what a crawl said that went through a proxy with a password to pages of two users under the same URLs."""
    texts = {name: english(150, place) for place, name in enumerate(("start", "anna", "bert"))}
    with Site() as site:
        # The last one is asked for first.
        links = ("relative", f"{ANNA}/copy", f"{BERT}/own", f"{ANNA}/own")
        site.add(f"{ANNA}/", page(texts["start"], links=links, head='<link rel="canonical" href="other">'))
        site.add(f"{ANNA}/own", page(texts["anna"]))
        site.add(f"{BERT}/own", page(texts["bert"]))
        site.add(f"{ANNA}/copy", page(edited(texts["anna"], 1)))
        site.add(f"{ANNA}/relative", page(texts["bert"], wrap="main"))
        store = tmp_path / "store"
        settings = {
            "SIMCRAWL_STORE": str(store),
            "SIMCRAWL_DEBUG": True,
            "SIMCRAWL_KEEP_TEXT": True,
            "CONCURRENT_REQUESTS": 1,
            "LOG_LEVEL": "INFO",
            "STATS_DUMP": False,
            "DOWNLOADER_MIDDLEWARES": {"tests.crawl.test_secrets.Proxy": 100},
            "TEST_PROXY": site.url("").replace("://", "://simcrawl:opensesame@"),
        }
        outcome = crawl("Plain", f"{ANNA}/", settings=settings)
    assert outcome.stats["simcrawl/pages/dropped"] == 2
    assert len(outcome.stats["test/kept"]) == 3
    stats = {name: value for name, value in outcome.stats.items() if name.startswith("simcrawl/")}
    return store, outcome.log + json.dumps(stats, default=str)


class Proxy:
    """Sends all requests through the proxy of the test, as Scrapy's own middleware does for the variables of the environment."""

    @classmethod
    def from_crawler(cls, crawler: object) -> Proxy:
        made = cls()
        made.proxy = crawler.settings["TEST_PROXY"]  # type: ignore[attr-defined]
        return made

    proxy = ""

    def process_request(self, request: object) -> None:
        request.meta["proxy"] = self.proxy  # type: ignore[attr-defined]


def test_no_user_or_password_of_a_url_is_kept_or_told(through_proxy: tuple[Path, str], capfd: pytest.CaptureFixture[str]):
    store, told = through_proxy
    for command in COMMANDS:
        report = ["-o", str(store.parent / "report.html")] if command == ["report"] else []
        assert run([command[0], str(store), *command[1:], *report]) in {0, 1}
    told += "".join(capfd.readouterr()) + (store.parent / "report.html").read_text()
    with simcrawl.open_store(store) as opened:
        told += repr(list(opened.pages())) + repr(list(opened.duplicates())) + json.dumps(list(opened.crawls()))
    for secret in SECRETS:
        assert secret not in told
        for file in store.rglob("*"):
            assert file.is_dir() or secret.encode() not in file.read_bytes(), file


def test_two_users_pages_of_one_url_are_two_pages(through_proxy: tuple[Path, str]):
    with simcrawl.open_store(through_proxy[0]) as opened:
        urls = {stored.page.url for stored in opened.pages()}
        assert len(urls) == 3
        assert sorted(url.rpartition("@")[2] for url in urls) == ["example.org/", "example.org/own", "example.org/own"]
        copy = opened.duplicate(f"{ANNA}/copy")
        assert copy is not None
        # By what is shown the page is found as well.
        assert opened.duplicate(copy.url) == copy
        assert copy.original in urls
        assert opened.cluster(f"{ANNA}/copy") == opened.cluster(f"{ANNA}/own") != opened.cluster(f"{BERT}/own")


@pytest.mark.parametrize(
    "where", ["redis://:hunter2@host/0", "redis://anna:hunter2@host", "lmdb://anna:hunter2@host/path", "lmdb://anna:hunter2@/path"]
)
def test_a_store_that_cannot_be_is_told_without_its_password(where: str):
    with pytest.raises(SettingError, match=r"no store has the URL .*://\*\*\*@") as refused:
        simcrawl.open_store(where)
    assert "hunter2" not in str(refused.value)
