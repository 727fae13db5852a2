"""The command that lists what a store teaches of URLs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.link import Link

import simcrawl
from simcrawl.store import open_store
from tests.cli.test_program import on_terminal

if TYPE_CHECKING:
    from pathlib import Path

SITE = "http://example.org"
PAGES = 60


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of a manual, its mirror, and the first few of its pages to print."""
    with open_store(tmp_path / "store") as opened:
        detector = simcrawl.Detector(opened)
        for number in range(PAGES):
            urls = [f"{SITE}/manual/{number}", f"{SITE}/mirror/{number}", f"{SITE}/manual/{number}?print=1"]
            for url in urls if number < 20 else urls[:2]:
                detector.admit(detector.page(f"<h1>page {number}</h1>", url=url))
    return str(tmp_path / "store")


def test_rules_are_listed_those_that_save_most_first(store: str, out: Any):
    mirror, printed = (line.split("\t") for line in out("rules", store).splitlines())
    assert mirror[:2] == ["59", "59"]
    assert mirror[3:] == ["'mirror' stands for 'manual'", f"{SITE}/", f"{SITE}/mirror/1", f"{SITE}/manual/1"]
    assert (printed[0], printed[3]) == ("19", "'?print=1' may be left out")
    assert 0.85 < float(printed[2]) < float(mirror[2]) < 1
    shown = on_terminal("rules", store)
    assert "'mirror' stands for 'manual'  in http://example.org/" in shown
    assert "saves 59 of 59, confidence 0.9" in shown
    assert f"= {SITE}/manual/1" in shown


def test_rules_as_json(store: str, out: Any):
    mirror, _ = map(json.loads, out("rules", store, "--json").splitlines())
    assert list(mirror) == ["rule", "where", "confidence", "support", "saves", "examples"]
    assert mirror["examples"][0] == [f"{SITE}/mirror/1", f"{SITE}/manual/1"]


@pytest.mark.parametrize(
    ("options", "number"),
    [(["--limit", "1"], 1), (["--min-saves", "30"], 1), (["--min-confidence", "0.95"], 1), (["--min-confidence", "1"], 0)],
)
def test_few_of_them(store: str, out: Any, options: list[str], number: int):
    assert len(out("rules", store, *options).splitlines()) == number


def test_rules_for_other_programs(store: str, out: Any):
    assert json.loads(out("rules", store, "--format", "duplicate-url-discarder")) == []
    (made,) = json.loads(out("rules", store, "--format", "duplicate-url-discarder", "--min-confidence", "0.5"))
    assert (made["processor"], made["args"], made["urlPattern"]) == ("queryRemoval", ["print"], {"include": [f"{SITE}/manual/?print=1"]})
    names: dict[str, Any] = {}
    exec(out("rules", store, "--format", "python"), names)
    links = names["process_links"]([Link(f"{SITE}/mirror/5"), Link(f"{SITE}/manual/5?print=1")])
    assert [link.url for link in links] == [f"{SITE}/manual/5", f"{SITE}/manual/5?print=1"]


def test_parameters_behind_semicolons_are_none_of_the_library(tmp_path: Path, out: Any):
    with open_store(tmp_path / "store") as opened:
        detector = simcrawl.Detector(opened)
        for number in range(30):
            for url in (f"{SITE}/{number}", f"{SITE}/{number}?a=1;print=1"):
                detector.admit(detector.page(f"<h1>page {number}</h1>", url=url))
    store = str(tmp_path / "store")
    assert "'?a=1;print=1' may be left out" in out("rules", store)
    assert json.loads(out("rules", store, "--format", "duplicate-url-discarder", "--min-confidence", "0.1")) == []


def test_a_store_that_teaches_nothing(tmp_path: Path, out: Any):
    open_store(tmp_path / "empty").close()
    store = str(tmp_path / "empty")
    assert out("rules", store) == out("rules", store, "--json") == ""
    assert "Nothing found." in on_terminal("rules", store)
    assert json.loads(out("rules", store, "--format", "duplicate-url-discarder")) == []
    assert "SWAPS = [\n]" in out("rules", store, "--format", "python")


def test_what_urls_say_does_nothing_to_a_terminal(tmp_path: Path):
    with open_store(tmp_path / "store") as opened:
        detector = simcrawl.Detector(opened)
        for number in range(6):
            for folder in ("a", "\x1b]0;taken\x07"):
                detector.admit(detector.page(f"<h1>page {number}</h1>", url=f"{SITE}/{folder}/{number}"))
    shown = on_terminal("rules", str(tmp_path / "store"))
    assert "]0;taken" in shown
    assert "\x1b]" not in shown
