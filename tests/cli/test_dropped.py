"""The commands for what a crawl dropped: duplicates, clusters, hosts, reject."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import simcrawl
from simcrawl.cli import run
from simcrawl.rule import Rule
from simcrawl.store import PREDICTED, Duplicate, open_store
from tests.cli.test_program import SCRIPT, call, on_terminal
from tests.samples import edited, english, page
from tests.strategies import page as fingerprinted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import Site

DAY = 86_400
A, B = "http://a.test", "http://b.test"
LINES = [
    Duplicate(f"{B}/1", f"{A}/1", "exact_duplicate", 0, 1.0, "identical body", True, True, DAY),
    Duplicate(f"{B}/2", f"{A}/1", "near_duplicate", 5, 0.94, "near-duplicate", True, False, 2 * DAY),
    Duplicate(f"{A}/3", f"{B}/3", "near_duplicate", 2, 0.97, "near-duplicate", False, False, 3 * DAY),
]


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of two pages, and copies of them."""
    with open_store(tmp_path / "store", recipe="terms") as opened:
        for url in (f"{A}/1", f"{B}/3"):
            opened.admit(simcrawl.fingerprint_page(page(english(seed=len(url) + ord(url[-1]))), url=url))
        opened._claims._register.update({line.url: line for line in LINES})
    return str(tmp_path / "store")


def _rows(shown: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in shown.splitlines()]


# ---- duplicates


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", "123"),
        ("--host b.test", "12"),
        ("--url /2", "2"),
        ("--original b.test", "3"),
        ("--kind exact", "1"),
        ("--kind near --dropped nothing", "3"),
        ("--dropped outlinks", "1"),
        ("--not-rejected", "123"),
        ("--rejected", ""),
        ("--min-distance 1 --max-distance 4", "3"),
        ("--max-similarity 0.95", "2"),
        ("--min-similarity 0.95 --sort similarity", "31"),
        ("--since 1970-01-03", "23"),
        ("--until 1970-01-02T12:00", "1"),
        ("--sort when --reverse --limit 2", "32"),
        ("--sort distance", "132"),
        ("--sort original --limit 1", "1"),
        ("--sort host", "312"),
    ],
)
def test_duplicates_are_filtered_and_sorted(options: str, found: str, store: str, out: Any):
    rows = _rows(out("duplicates", store, "--json", *options.split()))
    names = [row["url"][-1] for row in rows]
    assert names == list(found) if "--sort" in options else sorted(names) == list(found)


def test_duplicates_as_comma_separated_lines(store: str, out: Any):
    rows = list(csv.DictReader(io.StringIO(out("duplicates", store, "--csv"))))
    assert {row["url"]: row["similarity"] for row in rows} == {line.url: str(line.similarity) for line in LINES}
    assert [list(row) for row in rows] == [list(row) for row in _rows(out("duplicates", store, "--json"))]


def test_urls_are_those_of_dropped_pages(store: str, out: Any):
    assert sorted(out("duplicates", store, "--urls").splitlines()) == [f"{B}/1", f"{B}/2"]
    assert out("duplicates", store, "--urls", "--dropped", "outlinks") == f"{B}/1\n"
    assert out("duplicates", store, "--urls", "--host", "a.test") == ""


def test_whoever_reads_may_stop_reading(tmp_path: Path):
    with open_store(tmp_path / "store") as opened:
        opened._claims._register.update(
            {f"{A}/{n}": Duplicate(f"{A}/{n}", f"{A}/", "near_duplicate", 1, 1.0, "", True, True, 1.0) for n in range(9_999)}
        )
    done = call("bash", "-c", f"set -o pipefail; {SCRIPT} duplicates {tmp_path}/store --urls | head -n 1")
    assert (done.stdout.startswith(A.encode()), done.stderr, done.returncode) == (True, b"", 0)


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_sees_whole_urls(tmp_path: Path, width: int):
    long = f"{A}/" + "x" * 150
    with open_store(tmp_path / "store") as opened:
        opened._claims._register[long] = Duplicate(long, f"{A}/[red]", "near_duplicate", 1, 0.94, "near-duplicate", True, False, DAY)
    for command in ("duplicates", "clusters --by verdicts"):
        shown = on_terminal(*command.split(), str(tmp_path / "store"), width=width)
        assert long in shown
        assert f"{A}/[red]" in shown
        assert "near-duplicate" in shown


def test_urls_do_nothing_to_a_terminal(tmp_path: Path):
    order, shown = f"{A}/\x1b]0;taken\x07\ud800", f"{A}/\\x1b]0;taken\\x07\\ud800"
    with open_store(tmp_path / "store") as opened:
        opened._claims._register[order] = Duplicate(order, f"{A}/", "near_duplicate", 1, 0.94, "near-duplicate", True, False, DAY)
    for command in ("duplicates", "clusters --by verdicts"):
        assert shown in on_terminal(*command.split(), str(tmp_path / "store"))


# ---- clusters


def test_clusters_of_pages(store: str, out: Any):
    rows = _rows(out("clusters", store, "--json"))
    assert [(row["size"], row["representative"]) for row in rows] == [(3, f"{A}/1"), (2, f"{B}/3")]
    assert [(member["url"], member["distance"]) for member in rows[0]["members"]] == [(f"{B}/1", 0), (f"{B}/2", 5)]
    assert len(_rows(out("clusters", store, "--json", "--min-size", "3"))) == 1
    assert len(_rows(out("clusters", store, "--json", "--limit", "1"))) == 1
    cells = [line.split("\t") for line in out("clusters", store, "--min-size", "3").splitlines()]
    assert [cell[:4] for cell in cells] == [
        ["1", "3", f"{A}/1", "kept"],
        ["1", "3", f"{B}/1", "identical body"],
        ["1", "3", f"{B}/2", "near-duplicate"],
    ]


# ---- hosts


def test_hosts(store: str, out: Any):
    found = json.loads(out("hosts", store, "--json"))
    assert found["hosts"] == [
        {"host": "b.test", "pages": 1, "duplicates": 2, "not_fetched": 0, "share": 0.667},
        {"host": "a.test", "pages": 1, "duplicates": 1, "not_fetched": 0, "share": 0.5},
    ]
    assert found["mirrors"] == []
    assert out("hosts", store).splitlines() == ["b.test\t1\t2\t0\t66.7%", "a.test\t1\t1\t0\t50.0%"]


def test_pages_that_were_not_fetched_count_on_their_own_everywhere(store: str, tmp_path: Path, out: Any):
    with open_store(store) as opened:
        for url in (f"{B}/8", "http://c.test/9"):
            opened.note(Duplicate(url, f"{A}/1", PREDICTED, None, None, PREDICTED, True, True, DAY, rule="'b' stands for 'a'"))
    told = json.loads(out("stats", store, "--json"))
    assert {name: told[name] for name in ("pages", "duplicates", "exact", "near", "dropped", "not_fetched", "share")} == {
        "pages": 2, "duplicates": 3, "exact": 1, "near": 2, "dropped": 2, "not_fetched": 2, "share": 0.6,
    }  # fmt: skip
    rows = json.loads(out("hosts", store, "--json"))["hosts"]
    assert [(row["host"], row["duplicates"], row["not_fetched"], row["share"]) for row in rows] == [
        ("b.test", 2, 1, 0.667),
        ("a.test", 1, 0, 0.5),
        ("c.test", 0, 1, 0.0),
    ]
    report = json.loads(out("report", store, "--json"))
    assert (report["exact"] + report["near"], report["not_fetched"], report["share"]) == (3, 2, 0.6)
    assert {row["reason"] for row in _rows(out("duplicates", store, "--kind", "predicted", "--json"))} == {PREDICTED}


def test_mirrors(tmp_path: Path, out: Any):
    store = str(tmp_path / "mirrored")
    with open_store(store, recipe="terms") as opened:
        for number in range(6):
            for host in (A, B):
                opened.admit(simcrawl.fingerprint_page(page(english(seed=number)), url=f"{host}/{number}", recipe="terms"))
    # The first copy is what shows the rule.
    assert json.loads(out("hosts", store, "--json"))["mirrors"] == [{"a": "a.test", "b": "b.test", "copies": 5, "pages": 5, "share": 1.0}]
    assert json.loads(out("hosts", store, "--json", "--min-copies", "6"))["mirrors"] == []
    assert out("hosts", store).splitlines() == ["b.test\t0\t6\t0\t100.0%", "a.test\t6\t0\t0\t0.0%", "", "a.test\tb.test\t5\t5\t100.0%"]
    assert "= b.test" in on_terminal("hosts", store)


# ---- reject


def test_reject_list_and_undo(store: str, out: Any):
    (row,) = _rows(out("reject", store, f"{B}/2", "--json"))
    assert (row["url"], row["original"]) == (f"{B}/2", f"{A}/1")
    assert _rows(out("reject", store, "--json")) == [row]
    assert [one["url"] for one in _rows(out("duplicates", store, "--rejected", "--json"))] == [f"{B}/2"]
    assert dict(line.split("\t") for line in out("stats", store).splitlines())["rejected"] == "1"
    assert len(_rows(out("clusters", store, "--json"))[0]["members"]) == 1
    assert out("verify", store) == "No problems found.\n"
    assert _rows(out("reject", store, "--undo", f"{B}/2", "--json")) == [{"url": f"{B}/2", "removed": 1}]
    assert out("reject", store, "--undo", f"{B}/2", code=1) == f"{B}/2\t0\n"
    assert out("reject", store) == ""


def test_all_agree_on_what_is_a_copy_before_and_after_a_verdict_is_taken_back(tmp_path: Path, out: Any):
    store, rule = str(tmp_path / "agreed"), Rule(max_distance=3, min_similarity=0, outlinks=1)
    with open_store(store, recipe="manku2007") as opened:
        for directory in "xy":
            for number in range(4):
                apart = 1 if directory == "y" and number > 1 else 0
                made = fingerprinted(f"{A}/{directory}/{number}", (0xFFFF << 16 * number) ^ apart, text=f"{number} {apart}")
                # One of the copies is kept as well.
                opened.admit(made, replace(rule, copies_kept=2 if number == 1 else 1))
    copies = {f"{A}/y/{number}" for number in range(4)}
    _check_copies(store, copies, 0, tmp_path, out)
    out("reject", store, f"{A}/y/1")
    _check_copies(store, copies - {f"{A}/y/1"}, 1, tmp_path, out)
    out("reject", store, "--undo", f"{A}/y/1")
    _check_copies(store, copies, 0, tmp_path, out)


def _check_copies(store: str, copies: set[str], rejected: int, tmp_path: Path, out: Any) -> None:
    """Check what all say who tell of copies: their URLs, or their number and share, and that of verdicts taken back."""
    stats = json.loads(out("stats", store, "--json"))
    report = json.loads(out("report", store, "--json"))
    (host,) = json.loads(out("hosts", store, "--json"))["hosts"]
    directories = {row["host"]: row for row in json.loads(out("hosts", store, "--json", "--depth", "1"))["hosts"]}
    places = {f"a.test{row['place']}": row for row in report["places"]}
    kinds = {"exact": stats["exact"], "near": stats["near"]}
    share = len(copies) / (5 + len(copies))
    assert kinds == {"exact": report["exact"], "near": report["near"]} == {"exact": 2 - rejected, "near": 2}
    assert stats["duplicates"] == host["duplicates"] == sum(row["duplicates"] for row in directories.values()) == len(copies)
    assert [one["share"] for one in (stats, host, report)] == pytest.approx([share] * 3, abs=1e-3)
    assert {name: (row["pages"], row["duplicates"]) for name, row in directories.items()} == {
        name: (row["kept"], row["exact"] + row["near"]) for name, row in places.items()
    }
    assert stats["rejected"] == report["rejected"] == rejected
    assert sum(row["saves"] for row in _rows(out("rules", store, "--json"))) == len(copies) - 1
    lines = list(csv.DictReader(io.StringIO(out("duplicates", store, "--csv"))))
    clusters = _rows(out("clusters", store, "--by", "verdicts", "--json"))
    exported = {row["url"]: row["cluster"] for row in _rows(out("export", store, "-", "--format", "jsonl"))}
    assert {row["url"] for row in lines if row["rejected"] == "False"} == copies
    assert {row["url"] for row in _rows(out("duplicates", store, "--json", "--not-rejected"))} == copies
    assert {member["url"] for row in clusters for member in row["members"]} == copies
    assert {url for row in report["clusters"] for url in row["examples"]} == copies
    assert {url for url, cluster in exported.items() if url != cluster} == copies & exported.keys()


def test_reject_of_pages_from_standard_input_and_of_any_pair(store: str, out: Any):
    done = call(SCRIPT, "reject", store, "-", "--json", stdin=f"{B}/1\n\n{B}/2\n".encode())
    assert (done.returncode, [row["url"] for row in _rows(done.stdout.decode())]) == (0, [f"{B}/1", f"{B}/2"])
    out("reject", store, f"{A}/1", "--original", f"{B}/3")
    assert len(_rows(out("reject", store, "--json"))) == 3
    assert "is no copy of" in on_terminal("reject", store)


def test_a_verdict_that_nobody_gave(store: str, capsys: pytest.CaptureFixture[str]):
    assert run(["reject", store, f"{A}/unknown", f"{B}/1", "--json"]) == 1
    shown = capsys.readouterr()
    assert f"no verdict on {A}/unknown" in shown.err
    assert [row["url"] for row in _rows(shown.out)] == [f"{B}/1"]


def test_rejected_pairs_become_a_calibration_set(site: Site, tmp_path: Path, out: Any, capsys: pytest.CaptureFixture[str]):
    store, labels = str(tmp_path / "store"), str(tmp_path / "pairs.jsonl")
    site.add("/a", page(english(150)).encode("utf-16"), Content_Type="text/html; charset=utf-16")
    site.add("/b", page(edited(english(150), 60)))
    open_store(store).close()
    out("reject", store, site.url("/b"), "--original", site.url("/a"), "--labels", labels)
    out("reject", store, "--labels", labels)
    (row,) = _rows((tmp_path / "pairs.jsonl").read_text())
    assert (row["a_url"], row["b_url"], row["label"]) == (site.url("/b"), site.url("/a"), "different")
    with (tmp_path / "pairs.jsonl").open("a") as file:
        file.write(json.dumps({"a_html": page(english()), "b_html": page(english()), "label": "near"}) + "\n")
    (found,) = _rows(out("calibrate", labels, "--json"))
    assert found["by_similarity"][0]["different"] == found["by_similarity"][0]["near"] == 1
    assert found["choice"]
    assert run(["reject", store, "http://127.0.0.1:1/x", "--original", site.url("/a"), "--labels", labels]) == 1
    assert "the pair is held apart, but not in" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["query", "{store}", "{page}"], ["compare", "{page}", "{page}"], ["fingerprint", "{page}"]])
@pytest.mark.parametrize("page", ["http://127.0.0.1:1/x", "{site}"])
def test_a_page_that_cannot_be_fetched_is_no_wrong_use(
    arguments: list[str], page: str, store: str, site: Site, capsys: pytest.CaptureFixture[str]
):
    named = page.format(site=site.url("/absent"))
    assert run([argument.format(store=store, page=named) for argument in arguments]) == 4
    told = capsys.readouterr().err
    assert f"Error: cannot read {named}: " in told
    assert "Usage" not in told


def test_what_was_not_taken_back_cannot_be_given_back(store: str, capsys: pytest.CaptureFixture[str]):
    assert run(["reject", store, "--undo", "http://a.test/unknown"]) == 1
    assert "no verdict on http://a.test/unknown was taken back" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["duplicates", "{store}", "--reverse"], "--sort"),
        (["duplicates", "{store}", "--json", "--urls"], "exclude each other"),
        (["duplicates", "{store}", "--since", "yesterday"], "yesterday"),
        (["duplicates", "{store}", "--min-distance", "9", "--max-distance", "3"], "--min-distance 9 is more than --max-distance 3"),
        (["duplicates", "{store}", "--since", "2026-11-21", "--until", "2026-11-21"], "--since is not before --until"),
        (["rules", "{store}", "--format", "python", "--json"], "exclude each other"),
        (["forget", "{store}", "http://a.test/", "--all"], "exclude each other"),
        (["query", "{store}", "ftp://a.test/1"], "ftp://a.test/1 is no page"),
        (["duplicates", "{store}", "--min-similarity", "95"], "95"),
        (["duplicates", "{store}", "--sort", "size"], "'size' is not one of"),
        (["clusters", "{store}", "--by", "verdicts", "--max-distance", "1"], "for fingerprints"),
        (["clusters", "{store}", "--min-size", "1"], "1"),
        (["hosts", "{store}", "--depth", "-1"], "-1"),
        (["reject", "{store}", "--undo"], "--undo needs"),
        (["reject", "{store}", "--original", "http://a.test/"], "0 are given"),
        (["reject", "{store}", "http://a.test/", "--original", "http://a.test/"], "no copy of itself"),
        (["reject", "{store}", "http://b.test/1", "--labels", "{store}/data.mdb"], "no file of labelled pairs"),
        (["reject", "{store}", "http://b.test/1", "--labels", "/no/such/folder/file"], "/no/such/folder/file"),
    ],
)
def test_wrong_use(arguments: list[str], named: str, store: str, capsys: pytest.CaptureFixture[str]):
    assert run([argument.format(store=store) for argument in arguments]) == 2
    assert named in capsys.readouterr().err
