"""Users and passwords in URLs, of proxies and of stores: nothing that simcrawl writes or says has them."""

from __future__ import annotations

import json
from shutil import copytree
from traceback import format_exception
from typing import TYPE_CHECKING

import pytest

import simcrawl
from simcrawl.cli import run
from simcrawl.errors import SettingError, StoreError
from tests.crawl.runner import crawl
from tests.crawl.server import Site
from tests.samples import edited, english, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.runner import Outcome

SECRETS = ("hunter2", "swordfish", "opensesame", "letmein", "qwertyuiop")
ANNA, BERT = "http://anna:hunter2@example.org", "http://bert:swordfish@example.org"
COMMANDS = (
    ["duplicates"],
    ["duplicates", "--urls"],
    ["duplicates", "--json"],
    ["hosts"],
    ["clusters"],
    ["rules"],
    ["stats"],
)


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
            "REDIS_URL": "redis://anna:letmein@127.0.0.1/0",
            "FEEDS": {str(tmp_path / "pages.jsonl"): {"format": "jsonlines"}},
            "SIMCRAWL_DURABLE_FEED": True,
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
        copytree(store, tmp_path / "first")
        # What is new, changed and not met again since the last crawl is told by URL.
        site.add(f"{ANNA}/own", page(english(150, 7)))
        site.add(f"{ANNA}/", page(texts["start"], links=("relative", "new", f"{ANNA}/copy", f"{ANNA}/own")))
        site.add(f"{ANNA}/new", page(english(150, 8)))
        again = crawl("Plain", f"{ANNA}/", settings=settings)
        # It refuses the connection: nothing is stored there, and Scrapy says so.
        refused = {"FEEDS": {"ftp://anna:qwertyuiop@127.0.0.1:1/pages.jsonl": {"format": "jsonlines"}}}
        in_vain = crawl("Plain", f"{ANNA}/", settings=settings | refused)
    assert outcome.stats["simcrawl/pages/dropped"] == 2
    assert len(outcome.stats["test/kept"]) == 3
    assert all(again.stats[f"simcrawl/changes/{change}"] for change in ("new", "changed", "not_met"))
    assert "A feed could not be stored" in in_vain.log
    return store, _said(outcome) + _said(again) + _said(in_vain)


def _said(outcome: Outcome) -> str:
    """Return what simcrawl said of a crawl: Scrapy's own log has URLs as they are."""
    stats = {name: value for name, value in outcome.stats.items() if name.startswith("simcrawl/")}
    lines = [line for line in outcome.log.splitlines() if "[scrapy" not in line]
    assert any("[simcrawl" in line for line in lines)
    return "\n".join([*lines, json.dumps(stats, default=str)])


def _told(store: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """Return all that commands say of a store, and what is in it."""
    report, lines = store.parent / "report.html", store.parent / "lines.jsonl"
    for command in (*COMMANDS, ["report", "-o", str(report)], ["export", str(lines), "--format", "jsonl"]):
        assert run([command[0], str(store), *command[1:]]) in {0, 1}
    told = "".join(capfd.readouterr()) + report.read_text() + lines.read_text()
    with simcrawl.open_store(store) as opened:
        return told + repr(list(opened.pages())) + repr(list(opened.duplicates())) + json.dumps(list(opened.crawls()))


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
    _knows_no_secret(store, told + _told(store, capfd))


def _knows_no_secret(store: Path, told: str) -> None:
    for secret in SECRETS:
        assert secret not in told
        for file in store.rglob("*"):
            assert file.is_dir() or secret.encode() not in file.read_bytes(), file


def test_two_users_pages_of_one_url_are_two_pages(through_proxy: tuple[Path, str]):
    with simcrawl.open_store(through_proxy[0].parent / "first") as opened:
        urls = {stored.page.url for stored in opened.pages()}
        assert len(urls) == 3
        assert sorted(url.rpartition("@")[2] for url in urls) == ["example.org/", "example.org/own", "example.org/own"]
        copy = opened.duplicate(f"{ANNA}/copy")
        assert copy is not None
        # By what is shown the page is found as well.
        assert opened.duplicate(copy.url) == copy
        assert copy.original in urls
        assert opened.cluster(f"{ANNA}/copy") == opened.cluster(f"{ANNA}/own") != opened.cluster(f"{BERT}/own")


def test_no_value_of_a_parameter_to_redact_is_kept_or_told_and_a_recrawl_names_what_it_cannot_fetch(
    site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    text, store = english(150), tmp_path / "store"
    # The last one is asked for first.
    links = ("/two", "/copy?token=hunter2", "/own?Token=swordfish&b=1", "/own?token=hunter2")
    site.add("/?token=hunter2", page(english(150, 1), links=links))
    site.add("/own?token=hunter2", page(text, head=f'<link rel="canonical" href="{site.url("/own?token=hunter2")}">'))
    site.add("/own?Token=swordfish&b=1", page(english(150, 2)))
    site.add("/copy?token=hunter2", page(edited(text, 1), head='<link rel="canonical" href="/own?token=hunter2">'))
    site.add("/two", page(text, wrap="main"))
    settings = {
        "SIMCRAWL_STORE": str(store),
        "SIMCRAWL_DEBUG": True,
        "SIMCRAWL_KEEP_TEXT": True,
        "SIMCRAWL_PREFER": "canonical",
        "SIMCRAWL_REDACT": ["token"],
        "CONCURRENT_REQUESTS": 1,
        "LOG_LEVEL": "INFO",
        "STATS_DUMP": False,
    }
    first, second = (crawl("Plain", site.url("/?token=hunter2"), settings=settings) for _ in range(2))
    assert first.pages()["dropped"] == 2
    assert second.stats["simcrawl/changes/unchanged"] == 5
    assert "simcrawl/canonical/waited_in_vain" not in first.stats
    told = _said(first) + _said(second)
    with simcrawl.open_store(store) as opened:
        assert len(list(opened.pages())) == 3
        copies = {line.url: line for line in opened.duplicates()}
        copy = next(line for url, line in copies.items() if "/copy?token=redacted-" in url)
        assert copy.original.startswith(site.url("/own?token=redacted-"))
        # The store need not know the value to see which of the two is the canonical page.
        assert copy.canonical == "original"
        detector = simcrawl.Detector(opened, redact=["token"])
        assert detector.known_as(site.url("/copy?token=hunter2")) == copy.url

    assert run(["duplicates", str(store), "--urls"]) == 0
    listed, missing = capfd.readouterr()
    assert listed.split() == [site.url("/two")]
    assert copy.url in missing
    wanted = tmp_path / "dropped.txt"
    wanted.write_text("\n".join(copies))
    site.requests.clear()
    third = crawl("Plain", site.url("/?token=hunter2"), settings=settings | {"SIMCRAWL_RECRAWL": str(wanted)})
    assert set(site.requests) == {"/two"}
    assert f"{copy.url} cannot be crawled again" in third.log
    _knows_no_secret(store, told + _said(third) + _told(store, capfd))


def test_pages_that_are_loaded_are_redacted(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    lines, store = tmp_path / "pages.jsonl", tmp_path / "store"
    urls = [f"http://x/{place}?token=hunter2" for place in range(2)]
    lines.write_text("\n".join(json.dumps({"url": url, "html": page(english(150))}) for url in urls))
    for known in (0, 1):
        assert run(["load", str(store), str(lines), "--redact", "token", "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["known"] == known
    told = _told(store, capfd)
    assert "http://x/1?token=redacted-" in told
    _knows_no_secret(store, told)


@pytest.mark.parametrize("where", ["lmdb://anna:hunter2@host/path", "lmdb://anna:hunter2@/path"])
def test_a_store_that_cannot_be_is_told_without_its_password(where: str):
    with pytest.raises(SettingError, match=r"no store has the URL .*://\*\*\*@") as refused:
        simcrawl.open_store(where)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("where", ["redis://:hunter2@127.0.0.1:1/0", "rediss://anna:hunter2@127.0.0.1:1", "unix://anna:hunter2@/no/socket"])
def test_a_fleet_s_server_that_cannot_be_reached_is_told_without_its_password(where: str):
    with pytest.raises(StoreError, match=r"://\*\*\*@.* does not answer .*start the server, or correct the URL") as refused:
        simcrawl.open_store(where)
    assert "hunter2" not in "".join(format_exception(refused.value))


def test_a_password_that_would_be_shown_is_refused():
    with pytest.raises(SettingError, match="use redis://user:password@host") as refused:
        simcrawl.open_store("redis://host/0?password=hunter2")
    assert "hunter2" not in str(refused.value)
