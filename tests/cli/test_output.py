"""What commands print of what strangers have written: nothing of it is obeyed, by a terminal, a spreadsheet, or who reads lines."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import simcrawl
from simcrawl.cli import run
from simcrawl.cli.output import as_json_line, as_line, escaped, show
from tests.samples import english, page

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "http://user:secret@a.test/\nhttp://b.test/\t\x1b]0;title\x07\x9b31m\u202egpj.\u2028\udc80"
OBEYED = "\n\t\x1b\x07\x9b\u202e\u2028\udc80"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store that knows a page, and a copy of it, under names that are made to hurt."""
    with simcrawl.open_store(tmp_path / "store") as opened:
        detector = simcrawl.Detector(opened)
        for url in (HOSTILE + "/original", HOSTILE + "/copy", "=cmd|'/c calc'!A1"):
            detector.admit(detector.page(page(english(100)), url=url))
        opened.sync()
    return str(tmp_path / "store")


COMMANDS = [("duplicates",), ("clusters",), ("duplicates", "--csv"), ("duplicates", "--urls"), ("hosts", "--depth", "1"), ("stats",)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_a_pipe_gets_has_nothing_to_obey(command: tuple[str, ...], store: str, capsys: pytest.CaptureFixture[str]):
    assert run([command[0], store, *command[1:]]) == 0
    text = capsys.readouterr().out
    assert not set(OBEYED) - set("\n\t") & set(text)
    # Each page has one line.
    assert not any(line.startswith("http://b.test/") for line in text.splitlines())
    assert "secret" not in text


@pytest.mark.parametrize("command", [("duplicates", "--json"), ("clusters", "--json")], ids=" ".join)
def test_json_is_as_safe_and_says_the_same(command: tuple[str, ...], store: str, capsys: pytest.CaptureFixture[str]):
    assert run([command[0], store, *command[1:]]) == 0
    text = capsys.readouterr().out
    assert not set(OBEYED) - {"\n"} & set(text)
    assert "secret" not in text
    told = json.loads(text.splitlines()[0])
    original = told.get("original") or told["representative"]
    # A store holds no password: the page has a name of its own for it.
    assert re.sub("user-[0-9a-f]{16}@", "user:secret@", original) == HOSTILE + "/original"


def test_a_url_that_is_printed_to_be_crawled_leads_to_the_same_page():
    line = as_line("http://user:secret@a.test/x\ny?q=\x1b[1m&ü=\u202e")
    assert line == "http://a.test/x%0Ay?q=%1B[1m&ü=%E2%80%AE"
    assert as_line("https://a.test/@me?mail=a@b") == "https://a.test/@me?mail=a@b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://a.test/@user:name@b", "http://a.test/@user:name@b"),
        ("ftp://me:p@ss@a.test/", "ftp://me:***@a.test/"),
        ("see https://:token@a.test and http://b:c@d", "see https://:***@a.test and http://b:***@d"),
        ("mail me@example.org: now", "mail me@example.org: now"),
        ("a\\n\n\u202e", "a\\n\\n\\u202e"),
    ],
)
def test_a_cell_is_one_line_without_passwords(text: str, shown: str):
    assert escaped(text) == shown


def test_a_json_string_is_the_text_itself_but_for_passwords():
    value = {"url": "a\u202e\x9b\n", "deep": [{"http://a:b@c": ("http://a:b@c/", 1, None)}]}
    assert json.loads(as_json_line(value)) == {"url": "a\u202e\x9b\n", "deep": [{"http://a:***@c": ["http://a:***@c/", 1, None]}]}


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_takes_no_cell_for_a_formula(cell: str, capsys: pytest.CaptureFixture[str]):
    show([{"url": cell, "number": -1, "other": "a=b"}], as_csv=True)
    (_, (text, number, other)) = csv.reader(io.StringIO(capsys.readouterr().out))
    assert text.startswith("'")
    assert (number, other) == ("-1", "a=b")


def test_a_terminal_gets_nothing_to_obey(store: str):
    script = "import sys; from simcrawl.cli import main; sys.argv[0] = 'simcrawl'; main()"
    for command in ("duplicates", "clusters", "hosts"):
        ours, theirs = pty.openpty()
        environment = os.environ | {"TERM": "dumb", "COLUMNS": "200", "NO_COLOR": "1"}
        with subprocess.Popen([sys.executable, "-c", script, command, store], stdout=theirs, stderr=theirs, env=environment) as running:
            os.close(theirs)
            text = b""
            try:
                while more := os.read(ours, 1 << 16):
                    text += more
            except OSError:
                # The other end is closed.
                pass
        os.close(ours)
        assert running.returncode == 0
        assert not (set(OBEYED) - {"\n"}) & set(text.decode())
        assert "secret" not in text.decode()
